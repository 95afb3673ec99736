"""The directory of one job: its files, and the lock that tells whether its wrapper lives."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator

from tether import errors, files, host, ids
from tether.coordinator.jobs import model, records
from tether.files import system

ABOVE = "agents"
JOB = "job.json"
LOCK = "lock"
START = "start.json"
OUTPUT = "output.log"
EXIT = "exit.json"
ABANDONED = "abandoned"
WRAPPER_LOG = "wrapper.log"

# Every process of a job has these in its environment. The directory is the one that finds it again:
# no other job on this machine has it, while two clones may well give the same id to an agent.
SESSION_VARIABLE = "TETHER_SESSION"
DIRECTORY_VARIABLE = "TETHER_JOB_DIR"

_MAX_RECORD_BYTES = 4 * 1024 * 1024
# Nothing is there, or something that we never put there.
_NOT_OURS = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENXIO)


class Folder:
    """The directory of one job."""

    def __init__(self, root: files.Root, agent_id: str) -> None:
        self.agent_id = ids.SessionId(agent_id)
        self._root = root
        # However the root is called, its jobs are found under one name.
        self.path = f"{os.path.realpath(root.path)}/{ABOVE}/{self.agent_id}"
        self._files = files.Root(self.path)

    @classmethod
    def at(cls, path: str) -> Folder:
        """The one that is there."""
        above, agent_id = os.path.split(path)
        return cls(files.Root(os.path.dirname(above)), agent_id)

    @property
    def lock_path(self) -> str:
        return f"{self.path}/{LOCK}"

    @property
    def variables(self) -> dict[str, str]:
        """By which the processes of this job are known."""
        return {SESSION_VARIABLE: self.agent_id, DIRECTORY_VARIABLE: self.path}

    def make(self) -> None:
        self._root.make_directories(f"{ABOVE}/{self.agent_id}")

    def exists(self, name: str) -> bool:
        """Whether anything has this name, be it ours or not."""
        try:
            os.lstat(f"{self.path}/{name}")
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise system.explained(problem, name, reading=True) from problem
        return True

    def write(self, name: str, data: bytes, *, replace: bool = True) -> None:
        self._files.write_atomic(name, data, replace=replace)

    def job(self) -> model.Job | None:
        data = self._read(JOB)
        return None if data is None else records.decode_job(data, self.agent_id)

    def process(self) -> host.Process | None:
        """The wrapper that was started here, if it has said which process it is."""
        data = self._read(START)
        return None if data is None else records.decode_start(data, self.agent_id)

    def report(self) -> model.Report | None:
        data = self._read(EXIT)
        return None if data is None else records.decode_report(data, self.agent_id)

    def _read(self, name: str) -> bytes | None:
        """A file of ours. What the disk refuses to tell is an error, not an absence."""
        try:
            return self._files.read_bytes(name, _MAX_RECORD_BYTES)
        except errors.FileTooLarge:
            return None
        except errors.TetherError as problem:
            cause = problem.__cause__
            if isinstance(cause, OSError) and cause.errno in _NOT_OURS:
                return None
            raise

    def open_log(self, name: str) -> int:
        """A descriptor that adds to a file, for programs that write it themselves."""
        fd = self._open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.set_blocking(fd, True)
        return fd

    @contextlib.contextmanager
    def sharing_lock(self, *, creates: bool = False) -> Iterator[bool]:
        """Whether there is no wrapper. If so, none gets past its start as long as this lasts.

        Only a wrapper ever locks alone, so those who look never stand in each other's way. One that
        starts at this very moment waits for the end of the look.
        """
        fd = self._open(LOCK, os.O_RDWR | os.O_CREAT if creates else os.O_RDONLY)
        try:
            yield _shares(fd)
        finally:
            os.close(fd)

    def _open(self, name: str, flags: int) -> int:
        with system.opened(self.path, [], name) as dir_fd:
            like = os.fstat(dir_fd)
            fd = system.open_regular(name, dir_fd, flags, files.mode_like(like))
            if flags & os.O_CREAT and os.fstat(fd).st_size == 0:
                system.dress(fd, like, files.mode_like(like))
            return fd


def _shares(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
