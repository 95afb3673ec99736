"""What the tests of jobs share: real jobs in a directory of their own, and waiting for them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from tether import files, host, ids
from tether.coordinator.jobs import folder, looking, model, starting, stopping

T = TypeVar("T")
LINUX = sys.platform == "linux"
PATIENCE_SECONDS = 60.0
ENVIRON = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}


def until(happens: Callable[[], T | None], seconds: float = PATIENCE_SECONDS) -> T:
    """What a question answers as soon as it does; an error if it never does."""
    deadline = time.monotonic() + seconds
    while not (answer := happens()):
        assert time.monotonic() < deadline, "this did not happen in time"
        time.sleep(0.002)
    return answer


def shell(name: str, script: str, timeout_seconds: float = 0, goes_on: bool = False) -> model.Step:
    return model.Step(name, ("/bin/sh", "-c", script), timeout_seconds, goes_on)


def python(name: str, script: str, timeout_seconds: float = 0) -> model.Step:
    return model.Step(name, (sys.executable, "-I", "-S", "-c", script), timeout_seconds)


class Workshop:
    """A root for jobs, and a directory `desk` in which their steps run."""

    def __init__(self, base: Path) -> None:
        self.root = files.Root(str(base / "run"))
        self.desk = base / "desk"
        os.makedirs(self.root.path, exist_ok=True)
        self.desk.mkdir(exist_ok=True)
        self.agents: list[str] = []

    def job(self, *steps: model.Step, grace_seconds: float = 20, **environment: str) -> model.Job:
        """One with an id that no other has; the directory `desk` is in its environment."""
        self.agents.append(ids.SessionId(f"agent-{ids.random_base32(8)}"))
        return model.Job(self.agents[-1], str(self.desk), environment, steps, grace_seconds)

    def start(self, job: model.Job) -> folder.Folder:
        starting.start(self.root, job, ENVIRON)
        return self.folder(job.agent_id)

    def run(
        self, *steps: model.Step, grace_seconds: float = 20, **environment: str
    ) -> model.Report:
        """What becomes of a job, from its start to its end."""
        job = self.job(*steps, grace_seconds=grace_seconds, **environment)
        self.start(job)
        return self.report(job.agent_id)

    def prepare(self, job: model.Job) -> folder.Folder:
        """Everything that a start does but for the process."""
        from tether.coordinator.jobs import records

        place = self.folder(job.agent_id)
        place.make()
        place.write(folder.JOB, records.encode_job(job), replace=False)
        return place

    def folder(self, agent_id: str) -> folder.Folder:
        return folder.Folder(self.root, agent_id)

    def look(self, agent_id: str) -> model.Look:
        return looking.look(self.root, agent_id)

    def until(self, agent_id: str, state: model.State) -> model.Look:
        def found() -> model.Look | None:
            seen = self.look(agent_id)
            return seen if seen.state == state else None

        return until(found)

    def report(self, agent_id: str) -> model.Report:
        report = self.until(agent_id, "ended").report
        assert report is not None
        return report

    def output(self, agent_id: str | None = None) -> str:
        """What the steps of a job, or of the last one, have said, without our own lines."""
        text = self.log(agent_id)
        return "\n".join(line for line in text.splitlines() if line and not line.startswith("==="))

    def log(self, agent_id: str | None = None) -> str:
        place = self.folder(agent_id or self.agents[-1])
        return Path(place.path, folder.OUTPUT).read_text()

    def read(self, name: str) -> str:
        """What a step has written to its desk, as soon as it is a whole line."""
        path = self.desk / name
        until(lambda: path.exists() and path.read_text().endswith("\n"))
        return path.read_text().strip()

    def close(self) -> None:
        for agent_id in self.agents:
            stopping.sweep_processes(self.root, agent_id)
        until(lambda: starting.reap() == 0)


@contextlib.contextmanager
def opened(base: Path) -> Iterator[Workshop]:
    """A workshop that leaves no process behind."""
    place = Workshop(base)
    try:
        yield place
    finally:
        place.close()


def wrapper(place: folder.Folder) -> subprocess.Popen[Any]:
    """A wrapper that somebody starts by hand."""
    command = [sys.executable, "-I", "-m", "tether.coordinator.jobs.wrapper", place.path]
    return subprocess.Popen(command, env={**ENVIRON, **place.variables}, start_new_session=True)


def kill_wrapper(seen: model.Look) -> None:
    """As the system does when memory is short."""
    assert seen.process is not None
    os.kill(seen.process.pid, signal.SIGKILL)


def is_alive(pid: int) -> bool:
    return host.identify(pid) is not None
