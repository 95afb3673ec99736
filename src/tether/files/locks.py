"""Locks between processes: bounded, gone with their process, and naming their holder."""

from __future__ import annotations

import _thread
import contextlib
import errno
import fcntl
import json
import os
import re
import sys
import time

from tether import clock, errors, host
from tether.files import system
from tether.hints import ClassVar, NamedTuple

WAIT_SECONDS = 10.0


class Holder(NamedTuple):
    """Who holds a lock."""

    pid: int
    purpose: str
    since: str
    state: host.State


class Lock:
    """A lock between processes that ends with its process and names its holder.

    It does not nest: a second one on the same path waits, also in the same process. The lock file
    is never deleted, because somebody may be waiting on it.
    """

    def __init__(self, path: str, purpose: str, wait_seconds: float = WAIT_SECONDS) -> None:
        self.path = path
        self.purpose = purpose
        self.wait_seconds = wait_seconds
        self._fd = -1
        self._pid = -1

    def acquire(self) -> None:
        """Take the lock, or raise LockBusy after `wait_seconds`."""
        directory, leaf = os.path.split(self.path)
        with system.opened(directory or ".", [], leaf) as dir_fd:
            try:
                fd = open_locked(leaf, dir_fd, 0, os.fstat(dir_fd), self.wait_seconds)
            except TimeoutError as problem:
                raise errors.LockBusy(_busy_message(holder(self.path))) from problem
        self._fd, self._pid = fd, os.getpid()
        _leave_note(fd, self.purpose)

    def release(self) -> None:
        """Give the lock back; nothing happens when it is not held."""
        fd, self._fd = self._fd, -1
        if fd < 0:
            return
        # A child that was forked meanwhile shares the lock. It may not let go of what its parent
        # holds, and the parent's closing alone would leave the lock with the child.
        if self._pid == os.getpid():
            with contextlib.suppress(OSError):
                os.ftruncate(fd, 0)
            with contextlib.suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_UN)
        os.close(fd)

    def __enter__(self) -> Lock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


_NOTE_WORDS = re.compile(r"[a-z][a-z0-9_ -]{0,39}")
_NOTE_TIME = re.compile(r"[0-9TZ:.-]{24}")


def holder(path: str) -> Holder | None:
    """Who holds a lock now, as far as its note names a process that is still there."""
    try:
        fd = os.open(path, os.O_RDONLY | system.FILE_FLAGS)
    except OSError:
        return None
    try:
        note = json.loads(os.read(fd, 1024))
        pid, ticks, purpose, since = (note[k] for k in ("pid", "start_ticks", "purpose", "since"))
        # Whoever may write here could have written anything.
        if not (_NOTE_WORDS.fullmatch(purpose) and _NOTE_TIME.fullmatch(since)):
            return None
        sighting = host.observe(pid)
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None
    finally:
        os.close(fd)
    is_same = sighting.outcome == "seen" and ticks in (None, sighting.start_ticks)
    if not is_same or sighting.state == "zombie":
        return None
    return Holder(pid, purpose, since, sighting.state)


def _leave_note(fd: int, purpose: str) -> None:
    pid = os.getpid()
    # On macOS the ticks would cost every command the import of psutil (37 ms).
    ticks = None if sys.platform == "darwin" else host.observe(pid).start_ticks
    note = {
        "pid": pid,
        "start_ticks": ticks,
        "purpose": purpose,
        "since": clock.now_text(clock.SystemClock()),
    }
    # The lock is ours all the same: a full disk must not keep anybody from letting go of work.
    with contextlib.suppress(OSError):
        os.ftruncate(fd, 0)
        os.pwrite(fd, json.dumps(note).encode(), 0)


def _busy_message(current: Holder | None) -> str:
    if current is None:
        return "The lock is held by a process that cannot be named from here. Nothing was changed."
    stopped = ", which is stopped" if current.state == "stopped" else ""
    return (
        f"The lock is held by process {current.pid}{stopped} for {current.purpose!r} since"
        f" {current.since}. Nothing was changed."
    )


def open_locked(
    leaf: str, dir_fd: int, flags: int, model: os.stat_result, wait_seconds: float
) -> int:
    """Open, or make, a file and lock it; again if its name has come to mean another file."""
    deadline = time.monotonic() + wait_seconds
    while True:
        fd = system.open_regular(
            leaf, dir_fd, os.O_RDWR | os.O_CREAT | flags, system.mode_like(model)
        )
        try:
            _flock(fd, deadline)
            here, there = os.fstat(fd), system.look(leaf, dir_fd)
            if there is not None and os.path.samestat(here, there):
                if here.st_size == 0:
                    system.dress(fd, model, system.mode_like(model))
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _flock(fd: int, deadline: float) -> None:
    """Lock a file, or raise TimeoutError."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _Waiter(fd).wait(deadline - time.monotonic())


class _Waiter:
    """Waits for a lock in a thread: the kernel queues waiters in order but cannot time out.

    Polling was measured with 32 processes: its longest wait was three to nine times as long.
    """

    # Those that still wait for what nobody wants any more. A long-lived process whose locks are all
    # held by a stopped one must not collect threads without end.
    abandoned: ClassVar[set[_Waiter]] = set()
    max_abandoned = 16

    def __init__(self, fd: int) -> None:
        if len(self.abandoned) >= self.max_abandoned:
            raise TimeoutError(errno.ETIMEDOUT, "locked")
        # The lock belongs to the open file, which lives on under this number if we stop waiting.
        self._fd = os.dup(fd)
        self._done = _thread.allocate_lock()
        self._done.acquire()
        self._decision = _thread.allocate_lock()
        self._is_over = False
        self._problem: OSError | None = None

    def wait(self, seconds: float) -> None:
        _thread.start_new_thread(self._take, ())
        try:
            self._done.acquire(timeout=max(seconds, 0))
        finally:
            with self._decision:
                in_time, self._is_over = self._is_over, True
                if not in_time:
                    self.abandoned.add(self)
        if not in_time:
            raise TimeoutError(errno.ETIMEDOUT, "locked")
        if self._problem:
            raise self._problem

    def _take(self) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX)
        except OSError as problem:
            self._problem = problem
        with self._decision:
            too_late, self._is_over = self._is_over, True
            if too_late:
                self.abandoned.discard(self)
                fcntl.flock(self._fd, fcntl.LOCK_UN)
            os.close(self._fd)
        self._done.release()
