"""The repository, the store and the files around a run that is to survive."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tests.fault.survival import checks, plan
from tether import files, host, workspace
from tether.coordinator import copies, documents, runs, snapshots
from tether.coordinator.jobs import folder
from tether.coordinator.state import Outlook, State
from tether.store import events, port, sql, sqlite

T = TypeVar("T")
RUN = runs.RunId("plan")
WORKER = Path(__file__).with_name("worker.py")
PATIENCE_SECONDS = 120.0
# Small, so that what hangs is found out and what is paused goes on within seconds.
LIMITS = {
    "SLOTS": 4,
    "CHECKPOINT_SECONDS": 1,
    "CHECKPOINT_WAIT_SECONDS": 1,
    "GRACE_SECONDS": 1,
    "USAGE_SECONDS": 1,
    "RESUME_MINUTES": 0,
    "COMPACTION_MINUTES": 1,
}
_OPEN_CLAIMS = sql.Query(
    "open_claims", "", "SELECT task FROM claims WHERE source = :source AND closed_at IS NULL"
)


class Site:
    """One run's surroundings. `disk` may be a small disk of its own."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.repo = base / "repo"
        self.disk = base / "disk"
        self.files = base / "site"
        self.out = self.repo / "out"

    def make(self, tasks: int, seed: int) -> None:
        """A repository with a plan, and workers who know what to do."""
        dice = random.Random(seed)  # noqa: S311 (the same plan again when it finds something)
        for path in (self.out, self.disk, self.base / "home"):
            path.mkdir(parents=True, exist_ok=True)
        for name in ("ledger", "locks", "collisions"):
            (self.files / name).mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        (self.repo / "plan.md").write_text(plan.markdown(plan.blockers(tasks, dice)))
        self.git("add", ".")
        self.git("commit", "-qm", "Begin")
        (self.files / "table.json").write_text(json.dumps(plan.script(tasks, dice)))
        self.open_gate(0)
        self.say_usage(80, 0)
        self.tasks = plan.task_ids(tasks)

    # What the workers and the usage command read

    def open_gate(self, made: int) -> None:
        """So many tasks may be made by now."""
        self._replace("gate", str(made))

    def say_usage(self, remaining: float, resets_in_seconds: float) -> None:
        at = time.time() + resets_in_seconds
        self._replace("usage.json", json.dumps({"remaining": remaining, "resets_at": at}))

    def _replace(self, name: str, content: str) -> None:
        new = self.files / f"{name}.new"
        new.write_text(content)
        new.replace(self.files / name)

    # Processes

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "HOME": str(self.base / "home"),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Test",
            "GIT_AUTHOR_EMAIL": "test@example.com",
            "GIT_COMMITTER_NAME": "Test",
            "GIT_COMMITTER_EMAIL": "test@example.com",
            "TETHER_STORE_DIR": str(self.store_dir),
            **{f"TETHER_RUN_{name}": str(value) for name, value in LIMITS.items()},
        }

    @property
    def store_dir(self) -> Path:
        return self.disk / "store"

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.repo, env=self.environ, check=True)

    def command(self, verb: str) -> list[str]:
        """`tether run start` or `resume`, which says nothing about how the run was started."""
        words = [sys.executable, "-m", "tether", "run", verb]
        if verb == "start":
            python = f"{sys.executable} -I -S"
            words += ["plan.md", "--worker", f"{python} {WORKER} {self.files}"]
            words += ["--usage", f"/bin/cat {self.files}/usage.json"]
        return words

    def tether(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Another command, as a person calls it."""
        return subprocess.run(
            [sys.executable, "-m", "tether", *words],
            cwd=self.repo,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
        )

    def processes(self) -> list[int]:
        """What is alive of the run's jobs."""
        above = f"{os.path.realpath(self.root.path)}/{folder.ABOVE}/"
        return [
            pid
            for pid in host.pids() or ()
            if host.environment_value(pid, folder.DIRECTORY_VARIABLE).startswith(above)
        ]

    # The run

    @property
    def place(self) -> workspace.Workspace:
        return workspace.find(str(self.repo), store_dir=str(self.store_dir))

    def open_store(self) -> port.Store:
        return sqlite.SqliteStore(self.place, wait_seconds=PATIENCE_SECONDS)

    @property
    def root(self) -> files.Root:
        return files.Root(runs.directory(self.place, RUN))

    @property
    def lock(self) -> str:
        return f"{self.root.path}/lock"

    def load_plan(self, digest: str) -> Outlook:
        """The run's own copy of its plan."""
        return copies.load(self.root, self.place, State(RUN), digest)

    def snapshot(self, name: str = snapshots.STATE_FILE) -> checks.Document | None:
        """What a snapshot says; None if it is not there, or not whole."""
        try:
            state, _ = documents.decode((Path(self.root.path) / name).read_bytes(), RUN)
        except (OSError, documents.SnapshotDamaged):
            return None
        return documents.plain(state)

    def evidence(self, store: port.Store, found: list[checks.Document]) -> checks.Evidence:
        """What the run has left, once it is over."""
        last = self.snapshot()
        ledger = self.files / "ledger"
        return checks.Evidence(
            RUN,
            events.of_run(store, RUN, 0),
            self.load_plan,
            [*found, *([last] if last else [])],
            {t: (ledger / t).read_text().split() for t in self.tasks if (ledger / t).exists()},
            sorted(os.listdir(self.files / "collisions")),
            [each for each in self.tasks if not self._is_met(each)],
            [str(row["task"]) for row in store.rows(_OPEN_CLAIMS, source=str(RUN))],
            self.processes(),
        )

    def _is_met(self, task_id: str) -> bool:
        done = subprocess.run(plan.command(task_id), shell=True, cwd=self.repo, check=False)  # noqa: S602
        return done.returncode == 0


def until(happens: Callable[[], T | None], what: str, seconds: float = PATIENCE_SECONDS) -> T:
    """What a question answers as soon as it does; an error if it never does."""
    deadline = time.monotonic() + seconds
    while not (answer := happens()):
        assert time.monotonic() < deadline, f"this did not happen in time: {what}"
        time.sleep(0.002)
    return answer


def parent(pid: int) -> int:
    """The process that started another one; 0 if that has gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[1])


def said(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


def value(raw: str) -> Any:
    """The answer that a command gave as JSON."""
    return json.loads(raw)
