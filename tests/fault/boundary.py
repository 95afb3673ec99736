"""The calls that change a disk, counted and disturbed where Python meets the system.

Only for processes of their own: what is disturbed here is disturbed for the whole process.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tether import errors
from tether.files import system

CALLS = (
    *("open", "mkdir", "write", "pwrite", "ftruncate", "fsync"),
    *("rename", "replace", "link", "unlink", "fchmod", "fchown"),
)
ERRORS = {"EIO": errno.EIO, "ENOSPC": errno.ENOSPC, "EINTR": errno.EINTR}
MODES = (
    *("kill before", "kill after", "EIO", "ENOSPC", "EINTR", "short"),
    *("EIO ever after", "ENOSPC ever after"),
)


class Fault(NamedTuple):
    """What happens at the nth call."""

    at: int
    mode: str


class Outcome(NamedTuple):
    """How an action ended: `ok`, `killed`, or the code and message of its error."""

    word: str
    message: str
    calls: list[str]


class Boundary:
    """Stands between this process and the system."""

    def __init__(self, fault: Fault | None = None) -> None:
        self.calls: list[str] = []
        self._fault = fault

    def install(self) -> None:
        for name in CALLS:
            setattr(os, name, self._disturbed(name, getattr(os, name)))
        # The one system call that `os` does not have.
        wrapped = self._disturbed("renameat2", system.rename_exclusive)
        setattr(system, "rename_exclusive", wrapped)  # noqa: B010 - it is a stand-in on purpose

    def _disturbed(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **keywords: Any) -> Any:
            mode = self._next(name)
            if mode == "kill before":
                os.kill(os.getpid(), signal.SIGKILL)
            if mode in ERRORS:
                raise OSError(ERRORS[mode], os.strerror(ERRORS[mode]))
            if mode == "short" and name == "write":
                return real(args[0], args[1][: max(1, len(args[1]) // 2)])
            result = real(*args, **keywords)
            if mode == "kill after":
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return call

    def _next(self, name: str) -> str:
        number = len(self.calls)
        self.calls.append(name)
        if self._fault is None or number < self._fault.at:
            return ""
        mode, _, ever_after = self._fault.mode.partition(" ever ")
        return mode if ever_after or number == self._fault.at else ""


def in_child(
    action: Callable[[], None],
    fault: Fault | None = None,
    stand: Callable[[Fault | None], Boundary] = Boundary,
) -> Outcome:
    """Do something in a fork of this process, at whose boundary the fault waits."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        real_write = os.write
        boundary = stand(fault)
        boundary.install()
        word, message = "ok", ""
        try:
            action()
        except errors.TetherError as problem:
            word, message = problem.code, problem.message
        except BaseException as problem:  # noqa: BLE001 - whatever it is, the parent must hear of it
            word, message = type(problem).__name__, str(problem)
        real_write(write, json.dumps([word, message, boundary.calls]).encode())
        os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        report = pipe.read()
    os.waitpid(child, 0)
    return Outcome(*json.loads(report)) if report else Outcome("killed", "", [])


def run_alone(module: str, *arguments: str) -> dict[str, Any]:
    """What a harness found, run as the only thing in its process."""
    done = subprocess.run(
        [sys.executable, "-m", f"tests.fault.{module}", *arguments],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report
