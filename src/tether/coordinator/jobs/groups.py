"""The process group of one step: started, watched, and ended as a whole."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

from tether import host
from tether.hints import Any

# A killed process is gone in a moment, unless it waits for a disk that does not answer.
KILL_SECONDS = 5.0
_POLL_SECONDS = 0.05
_UNCATCHABLE = {signal.SIGKILL, signal.SIGSTOP}


class Bell:
    """Wakes whoever waits when a child ends or somebody asks this process to stop.

    Ctrl-C on a terminal, or its closing, is not meant for a worker and does nothing.
    """

    def __init__(self) -> None:
        self.is_stopping = False
        self._heard, rung = os.pipe()
        os.set_blocking(self._heard, False)
        os.set_blocking(rung, False)
        signal.set_wakeup_fd(rung, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._stop)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, _nothing)
        # Whoever started this may have had its reasons to block some.
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    def wait(self, seconds: float) -> None:
        """Until something happens, or this time is over."""
        # What rang before this call is still in the pipe: nothing is missed in between.
        if select.select([self._heard], [], [], seconds)[0]:
            os.read(self._heard, 4096)

    def _stop(self, *_: Any) -> None:
        self.is_stopping = True


def _nothing(*_: Any) -> None:
    """Unlike a signal that is ignored, one that is caught is not passed on to children."""


class Group:
    """What one step has started and that has not left its process group.

    The leader is not reaped before the last signal is sent. Until then no other process can get its
    number, and no other group can be hit.
    """

    def __init__(self, argv: tuple[str, ...], log: int, stdin: str = "") -> None:
        self._leader = os.posix_spawnp(
            argv[0],
            argv,
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, stdin or os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, log, 1),
                (os.POSIX_SPAWN_DUP2, log, 2),
            ],
            setpgroup=0,
            setsigmask=(),
            setsigdef=signal.valid_signals() - _UNCATCHABLE,
        )

    def has_leader_ended(self) -> bool:
        if sys.platform == "linux":
            options = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self._leader, options) is not None
        return host.observe(self._leader).state == "zombie"

    def end(self, bell: Bell, grace_seconds: float) -> int:
        """Ask all of it to end, kill what does not, and return the leader's wait status.

        Nothing happens to a leader that has ended by itself; those that it left in its group get
        the same grace. What is not in the group any more is left alone.
        """
        for number, seconds in ((signal.SIGTERM, grace_seconds), (signal.SIGKILL, KILL_SECONDS)):
            if self._is_over():
                break
            self._send(number)
            # One that is stopped could not even end.
            self._send(signal.SIGCONT)
            deadline = time.monotonic() + seconds
            while not self._is_over() and time.monotonic() < deadline:
                bell.wait(_POLL_SECONDS)
        # For what came to be while we looked: the kernel misses nobody.
        self._send(signal.SIGKILL)
        return os.waitpid(self._leader, 0)[1]

    def _is_over(self) -> bool:
        return self.has_leader_ended() and not self._has_others()

    def _has_others(self) -> bool:
        # Where pids cannot be seen, the last signal ends whoever is there, without grace.
        return any(
            pid != self._leader
            and _group_of(pid) == self._leader
            and host.observe(pid).state != "zombie"
            for pid in host.pids() or ()
        )

    def _send(self, number: int) -> None:
        # macOS does not permit it when only the zombie is left.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._leader, number)


def _group_of(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0
