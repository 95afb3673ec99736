"""Runs with real workers, as tests start them: plans, scripts that work, and what came of it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.conftest import Ended, Tether
from tether import host
from tether.coordinator.jobs import folder

PATIENCE_SECONDS = 60.0
# It does what files beside it say (`fail-T` holds how often T still fails), and leaves there what
# it was told: in the checkout is only its work.
WORKER = """\
#!/bin/sh
desk=$(dirname "$0")
cat > "$desk/prompt-$TETHER_TASK-$$"
echo "$TETHER_TASK" >> "$desk/started"
left=$(cat "$desk/fail-$TETHER_TASK" 2>/dev/null || echo 0)
if [ "$left" -gt 0 ]; then
  echo $((left - 1)) > "$desk/fail-$TETHER_TASK"
  echo "cannot do $TETHER_TASK"
  exit 1
fi
if [ -f "$desk/ask-$TETHER_TASK" ]; then
  tether run ask "red or blue?" --option red --option blue && rm "$desk/ask-$TETHER_TASK"
  exit 3
fi
echo "half of $TETHER_TASK" > "$TETHER_CHECKPOINT_FILE"
while [ -f "$desk/hold-$TETHER_TASK" ]; do sleep 0.05; done
mkdir -p out
echo done > "out/$TETHER_TASK"
if [ -n "$COMMITS" ]; then
  [ -n "$SAME" ] && echo "$TETHER_TASK" > same.txt
  git add out same.txt 2>/dev/null || git add out
  git commit -qm "work on $TETHER_TASK"
fi
exit 0
"""


class Place:
    """A repository with a plan and a worker. Whoever makes one closes it."""

    def __init__(self, top: Path, environ: dict[str, str], tether: Tether) -> None:
        self.top = top
        # Its workers leave a checkpoint when they begin, and none when they are asked.
        self.environ = {**environ, "TETHER_RUN_CHECKPOINT_WAIT_SECONDS": "0"}
        self._tether = tether
        self._begun: list[subprocess.Popen[str]] = []
        self.desk = top.parent / "desk"
        self.desk.mkdir()
        self.worker = self.script("worker", WORKER)

    # What there is

    def script(self, name: str, content: str) -> Path:
        """A program of a test, outside of the checkout."""
        path = self.desk / f"{name}.sh"
        path.write_text(content)
        path.chmod(0o755)
        return path

    def plan(self, blocked_by: Mapping[str, Iterable[str]], name: str = "plan.md") -> Path:
        """A plan whose tasks each make a file of their name."""
        path = self.top / name
        path.write_text("# Plan\n\n" + "\n".join(task(t, b) for t, b in blocked_by.items()))
        return path

    def fails(self, task_id: str, times: int = 1) -> None:
        """Let the next workers of a task give up."""
        (self.desk / f"fail-{task_id}").write_text(str(times))

    def asks(self, task_id: str) -> None:
        """Let the next worker of a task ask a person."""
        (self.desk / f"ask-{task_id}").touch()

    def hold(self, task_id: str) -> Callable[[], None]:
        """Let the worker of a task wait, until what this gives is called."""
        path = self.desk / f"hold-{task_id}"
        path.touch()
        return path.unlink

    # What is called

    def call(self, *words: str, env: Mapping[str, str] | None = None) -> Ended:
        return self._tether(*words, cwd=self.top, env={**self.environ, **(env or {})})

    def done(self, *words: str, env: Mapping[str, str] | None = None) -> Ended:
        ended = self.call(*words, env=env)
        assert ended.code == 0, ended
        return ended

    def begin(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Coordinate in a process of its own: work through the plan, unless something is said."""
        said = words or ("start", "plan.md")
        if said[0] == "start" and "--worker" not in said:
            said = (*said, "--worker", str(self.worker))
        process = subprocess.Popen(
            [sys.executable, "-m", "tether", "run", *said],
            cwd=self.top,
            env={**self.environ, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._begun.append(process)
        return process

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> Ended:
        """Work through the plan, and come back when that is over."""
        return ended(self.begin("start", "plan.md", *words, env=env))

    def resume(self, *words: str, env: Mapping[str, str] | None = None) -> Ended:
        return ended(self.begin("resume", *words, env=env))

    # What came of it

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.done("run", "status", "--json").json["run"]
        return found

    def until(self, is_true: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Wait until the run is as wanted; what it is then."""
        found: list[dict[str, Any]] = []

        def look() -> bool:
            ended = self.call("run", "status", "--json")
            found[:] = [ended.json["run"]] if ended.code == 0 else []
            return bool(found and is_true(found[0]))

        until(look, lambda: json.dumps(found, indent=1))
        return found[0]

    def events(self, *types: str) -> list[dict[str, Any]]:
        told = self.done("events", "--limit", "100000", "--json").json["events"]
        return [each for each in told if each["run"] and (not types or each["type"] in types)]

    def started(self) -> list[str]:
        """The tasks whose workers began, in that order."""
        return (self.desk / "started").read_text().split()

    def prompts(self, task_id: str) -> list[str]:
        """What the workers of a task were told, one after the other."""
        found = self.desk.glob(f"prompt-{task_id}-*")
        return [p.read_text() for p in sorted(found, key=lambda path: path.stat().st_mtime_ns)]

    def journal(self) -> str:
        """What the run's own log for people says."""
        path = self.directory / "WORKFLOW_LOG.md"
        return path.read_text() if path.exists() else ""

    @property
    def directory(self) -> Path:
        return self.top / ".git" / "tether" / "runs" / "plan"

    def close(self) -> None:
        """End everybody who is still at work, coordinators first."""
        for process in self._begun:
            if process.poll() is None:
                process.kill()
            if process.stdout is not None and not process.stdout.closed:
                process.communicate()
        until(lambda: not _killed(str(self.top.resolve())))


def _killed(top: str) -> list[int]:
    """Kill the workers of all runs below a directory; which there were."""
    variable = folder.DIRECTORY_VARIABLE
    found = [
        pid
        for pid in host.pids() or ()
        if host.environment_value(pid, variable).startswith(f"{top}/")
    ]
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return found


def until(is_true: Callable[[], bool], describe: Callable[[], str] = str) -> None:
    """Wait for something, but not for ever."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_true():
        assert time.monotonic() < deadline, f"it never came to be: {describe()}"
        time.sleep(0.02)


def open_questions(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [each for each in run["pending_divine_questions"] if each["response"] is None]


def task(task_id: str, blocked_by: Iterable[str] = (), command: str = "", more: str = "") -> str:
    """A task of a plan in Markdown."""
    return (
        f"#### Task {task_id}: Make {task_id}\n"
        f"**Work**: make out/{task_id}\n"
        f"**Acceptance Criteria**\n- [ ] run: `{command or f'test -f out/{task_id}'}`\n"
        f"**Blocked By**: {', '.join(blocked_by) or 'none'}\n{more}"
    )


def ended(process: subprocess.Popen[str]) -> Ended:
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert "Traceback" not in err, err
    return Ended(process.returncode, out, err)


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE_SECONDS)
