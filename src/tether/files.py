"""The only writer of files: atomic, durable, inside its root, and never through a link.

`Root` is a directory that nothing leaves; `Lock` is a lock that dies with its process and says who
holds it. What the bytes mean is not known here. After any crash a file is exactly an old or a new
version; a line that was being appended may be torn, and the next append sets the torn bytes aside.
"""

from __future__ import annotations

import _thread
import contextlib
import errno
import fcntl
import json
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from tether import clock, errors, host, ids

MAX_READ_BYTES = 16 * 1024 * 1024
WAIT_SECONDS = 10.0
# A writer that takes longer than this between creating and renaming a file is not coming back.
LEFTOVER_SECONDS = 3600.0
TEMP_PREFIX = ".tmp-"
_CHUNK_BYTES = 1 << 16

# Opening a pipe that stands in a file's place must not block.
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NO_SUCH_CALL = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
_FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)


class Root:
    """A directory that nothing leaves.

    Names are relative, with `/` between their parts. The root's own path is its owner's choice and
    may lead through links; below it every part is opened by itself and links are refused. New files
    and directories get the owner and mode of the directory `like`, whatever the umask.
    """

    def __init__(self, path: str, like: str | None = None) -> None:
        self.path = path
        self.like = path if like is None else like

    def read_bytes(self, name: str, max_bytes: int = MAX_READ_BYTES) -> bytes:
        """The whole content of a file."""
        with self._parent_of(name, reading=True) as (leaf, dir_fd):
            fd = _open_regular(leaf, dir_fd, os.O_RDONLY)
            try:
                content = _read_at_most(fd, max_bytes + 1)
            finally:
                os.close(fd)
        if len(content) > max_bytes:
            raise errors.FileTooLarge(
                f"{_shown(name)} has more than {max_bytes} bytes. It was left alone."
            )
        return content

    def write_atomic(self, name: str, data: bytes, *, replace: bool = True) -> None:
        """Give a file this content, durably; a reader sees all of it or the old content."""
        with self._parent_of(name) as (leaf, dir_fd):
            old = _look(leaf, dir_fd)
            temp = TEMP_PREFIX + ids.random_base32(16)
            try:
                self._write_temp(temp, dir_fd, data, old)
                if replace:
                    os.rename(temp, leaf, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
                else:
                    _move(temp, dir_fd, leaf, dir_fd)
            except BaseException:
                _unlink_quietly(temp, dir_fd)
                raise
            _confirm(dir_fd, name)

    def append(self, name: str, record: bytes, wait_seconds: float = WAIT_SECONDS) -> None:
        """Add one line, durably. A torn line at the end is first moved to `<name>.torn`."""
        if record.count(b"\n") != 1 or not record.endswith(b"\n"):
            raise ValueError("a record is one line and ends with its newline")
        model = self._model()
        with self._parent_of(name) as (leaf, dir_fd):
            fd = _open_locked(leaf, dir_fd, os.O_APPEND, model, wait_seconds)
            try:
                if os.fstat(fd).st_size == 0:
                    # Before the first record, so that whoever finds one need not sync the name.
                    _sync(dir_fd)
                end = _repair(fd, leaf, dir_fd, model)
                _append_or_undo(fd, end, record, name)
            finally:
                os.close(fd)

    def rename_noreplace(self, source: str, target: str) -> None:
        """Move a file, durably, unless there is already something of the new name."""
        with self._parent_of(target) as new, self._parent_of(source) as old:
            if _look(*old) is None:
                raise FileNotFoundError(errno.ENOENT, "no source")
            try:
                _move(*old, *new)
            except FileExistsError as problem:
                raise _explained(problem, target) from problem
            # The new name first: after a power failure there may be two, never none.
            _confirm(new[1], target)
            _confirm(old[1], source)

    def make_directories(self, name: str) -> None:
        """Make a directory and those above it, as far as they are missing."""
        parts = _parts(name)
        for depth, part in enumerate(parts):
            with _opened(self.path, parts[:depth], name) as parent:
                try:
                    os.close(_open_directory(part, parent))
                except FileNotFoundError:
                    self._make_directory(part, parent)

    def remove(self, name: str) -> bool:
        """Remove a file, durably. False if there was none."""
        with contextlib.suppress(errors.NotFound), self._parent_of(name) as (leaf, dir_fd):
            if _look(leaf, dir_fd) is not None:
                os.unlink(leaf, dir_fd=dir_fd)
                _confirm(dir_fd, name)
                return True
        return False

    def exists(self, name: str) -> bool:
        """Whether there is a file or directory of this name."""
        with contextlib.suppress(errors.NotFound), self._parent_of(name, reading=True) as at:
            return _look(*at) is not None
        return False

    def names(self, name: str = "") -> list[str]:
        """What is in a directory, sorted, without files that are still being written."""
        with self._directory(name) as fd:
            return sorted(leaf for leaf in os.listdir(fd) if not leaf.startswith(TEMP_PREFIX))

    def remove_leftovers(self, name: str = "", min_age_seconds: float = LEFTOVER_SECONDS) -> int:
        """Remove from one directory what dead writers have left, and count it."""
        with self._directory(name) as fd:
            temps = [leaf for leaf in os.listdir(fd) if leaf.startswith(TEMP_PREFIX)]
            return sum(_unlink_quietly(t, fd) for t in temps if _age(t, fd) >= min_age_seconds)

    @contextlib.contextmanager
    def _parent_of(self, name: str, *, reading: bool = False) -> Iterator[tuple[str, int]]:
        *above, leaf = _parts(name)
        with _opened(self.path, above, name, reading=reading) as dir_fd:
            yield leaf, dir_fd

    def _directory(self, name: str) -> contextlib.AbstractContextManager[int]:
        return _opened(self.path, _parts(name) if name else [], name, reading=True)

    def _model(self) -> os.stat_result:
        try:
            return os.stat(self.like)
        except OSError as problem:
            raise _explained(problem, os.path.basename(self.like)) from problem

    def _write_temp(self, temp: str, dir_fd: int, data: bytes, old: os.stat_result | None) -> None:
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE, 0o600, dir_fd=dir_fd)
        try:
            if old is not None:
                _dress(fd, old, stat.S_IMODE(old.st_mode))
            else:
                model = self._model()
                _dress(fd, model, mode_like(model))
            _write_all(fd, data)
            _sync(fd)
        finally:
            os.close(fd)

    def _make_directory(self, part: str, parent: int) -> None:
        model = self._model()
        mode = mode_like(model, is_directory=True)
        try:
            os.mkdir(part, mode & 0o777, dir_fd=parent)
        except FileExistsError:
            # Another process was first, and gives it its mode.
            return
        fd = _open_directory(part, parent)
        try:
            _dress(fd, model, mode)
        finally:
            os.close(fd)
        _sync(parent)


def make_directory_like(path: str, like: str) -> None:
    """Make a directory, and what is missing above it, with the owner and mode of another."""
    above, name = os.path.split(os.path.abspath(path))
    while not os.path.isdir(above):
        above, part = os.path.split(above)
        name = f"{part}/{name}"
    Root(above, like).make_directories(name)


def dress_like(path: str, like: str) -> None:
    """Give a file or directory the owner and mode of a directory, as far as we may."""
    try:
        model = os.stat(like)
        fd = os.open(path, os.O_RDONLY | _FILE)
        try:
            is_directory = stat.S_ISDIR(os.fstat(fd).st_mode)
            _dress(fd, model, mode_like(model, is_directory=is_directory))
        finally:
            os.close(fd)
    except OSError as problem:
        raise _explained(problem, os.path.basename(path)) from problem


def mode_like(model: os.stat_result, *, is_directory: bool = False) -> int:
    """The mode of what is new, from the directory that it is to be like."""
    return stat.S_IMODE(model.st_mode) & (0o7777 if is_directory else 0o666)


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

    def acquire(self) -> None:
        """Take the lock, or raise LockBusy after `wait_seconds`."""
        directory, leaf = os.path.split(self.path)
        with _opened(directory or ".", [], leaf) as dir_fd:
            try:
                fd = _open_locked(leaf, dir_fd, 0, os.fstat(dir_fd), self.wait_seconds)
            except TimeoutError as problem:
                raise errors.LockBusy(_busy_message(holder(self.path))) from problem
        self._fd = fd
        _leave_note(fd, self.purpose)

    def release(self) -> None:
        """Give the lock back; nothing happens when it is not held."""
        fd, self._fd = self._fd, -1
        if fd < 0:
            return
        with contextlib.suppress(OSError):
            os.ftruncate(fd, 0)
        # A child that was forked meanwhile shares the lock: closing alone would leave it there.
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
        fd = os.open(path, os.O_RDONLY | _FILE)
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


@contextlib.contextmanager
def _opened(root: str, above: list[str], name: str, *, reading: bool = False) -> Iterator[int]:
    """A directory below a root. What fails while it is open is explained by `name`."""
    fd = -1
    try:
        fd = os.open(root, _DIRECTORY)
        for part in above:
            below = _open_directory(part, fd)
            os.close(fd)
            fd = below
        yield fd
    except OSError as problem:
        raise _explained(problem, name, reading=reading) from problem
    finally:
        if fd >= 0:
            os.close(fd)


def _parts(name: str) -> list[str]:
    parts = name.split("/")
    if "\0" in name or any(part in ("", ".", "..") for part in parts):
        raise errors.OutsideRoot
    try:
        os.fsencode(name)
    except UnicodeEncodeError as problem:
        raise errors.OutsideRoot(
            "No file can have this name. Nothing was read or written."
        ) from problem
    return parts


_NO_ROOM = (errors.DiskFull, "There is no room on the disk for {}.")
_FORBIDDEN = (errors.NotWritable, "{} is not writable from here ({}).")
_UNREADABLE = (errors.FileError, "{} may not be read from here ({}).")
_WORDS: dict[int, tuple[type[errors.TetherError], str]] = {
    errno.ENOENT: (errors.NotFound, "There is no {} here."),
    errno.EEXIST: (errors.AlreadyThere, "There is already a {}. It was not replaced."),
    errno.ELOOP: (errors.LinkRefused, "A link stands in the way of {}. It was not followed."),
    errno.ETIMEDOUT: (errors.LockBusy, "Another process keeps {} locked. Nothing was changed."),
    errno.ENOSPC: _NO_ROOM,
    errno.EDQUOT: _NO_ROOM,
    errno.EFBIG: _NO_ROOM,
    errno.EROFS: _FORBIDDEN,
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
}


def _shown(name: str) -> str:
    text = ascii(name)
    return text if len(text) <= 100 else text[:97] + "..."


def _explained(problem: OSError, name: str, *, reading: bool = False) -> errors.TetherError:
    """The one place where the system's errors become ours."""
    number = problem.errno or 0
    words = _WORDS.get(number, (errors.FileError, "{} could not be read or written ({})."))
    kind, message = _UNREADABLE if reading and words is _FORBIDDEN else words
    message = message.format(_shown(name), errno.errorcode.get(number, "unknown"))
    if kind in (errors.FileError, errors.NotWritable, errors.DiskFull):
        message += " The old content is unchanged."
    return kind(message)


def _confirm(dir_fd: int, name: str) -> None:
    """Make a changed name durable; from here on "unchanged" would be untrue."""
    try:
        _sync(dir_fd)
    except OSError as problem:
        raise errors.FileError(
            f"{_shown(name)} was changed, but the disk did not confirm it."
            " A power failure may undo the change."
        ) from problem


def _open_directory(part: str, dir_fd: int) -> int:
    try:
        return os.open(part, _DIRECTORY | os.O_NOFOLLOW, dir_fd=dir_fd)
    except NotADirectoryError:
        # This is how Linux refuses a link here; only a look tells it from a file.
        _look(part, dir_fd)
        raise


def _look(leaf: str, dir_fd: int) -> os.stat_result | None:
    """What is there, or None; a link is refused."""
    try:
        found = os.stat(leaf, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, "link")
    return found


def _open_regular(leaf: str, dir_fd: int, flags: int, mode: int = 0o600) -> int:
    fd = os.open(leaf, flags | _FILE, mode, dir_fd=dir_fd)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EISDIR, "not a regular file")
    return fd


def _dress(fd: int, model: os.stat_result, mode: int) -> None:
    """Owner and mode come from a model, not from who writes or from the umask, as far as we may."""
    now = os.fstat(fd)
    if (now.st_uid, now.st_gid) != (model.st_uid, model.st_gid):
        # It may not be our group, or an owner that this user namespace does not know.
        with contextlib.suppress(OSError):
            os.fchown(fd, model.st_uid if os.geteuid() == 0 else -1, model.st_gid)
    if stat.S_IMODE(now.st_mode) != mode or now.st_uid != model.st_uid:
        with contextlib.suppress(PermissionError):
            os.fchmod(fd, mode)


def _open_locked(
    leaf: str, dir_fd: int, flags: int, model: os.stat_result, wait_seconds: float
) -> int:
    """Open, or make, a file and lock it; again if its name has come to mean another file."""
    deadline = time.monotonic() + wait_seconds
    while True:
        fd = _open_regular(leaf, dir_fd, os.O_RDWR | os.O_CREAT | flags, mode_like(model))
        try:
            _flock(fd, deadline)
            here, there = os.fstat(fd), _look(leaf, dir_fd)
            if there is not None and os.path.samestat(here, there):
                if here.st_size == 0:
                    _dress(fd, model, mode_like(model))
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


def _repair(fd: int, leaf: str, dir_fd: int, model: os.stat_result) -> int:
    """Keep a torn tail aside, cut it off, and return where the next record starts."""
    size = os.fstat(fd).st_size
    end = _end_of_last_line(fd, size)
    if end == size:
        return end
    aside = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    torn = _open_regular(leaf + ".torn", dir_fd, aside, mode_like(model))
    try:
        _dress(torn, model, mode_like(model))
        for start in range(end, size, _CHUNK_BYTES):
            _write_all(torn, os.pread(fd, min(_CHUNK_BYTES, size - start), start))
        _write_all(torn, b"\n")
        _sync(torn)
    finally:
        os.close(torn)
    _sync(dir_fd)
    os.ftruncate(fd, end)
    # So that the next record only ever lengthens what is on the disk.
    _sync(fd)
    return end


def _end_of_last_line(fd: int, size: int) -> int:
    end = size
    while end > 0:
        start = max(0, end - _CHUNK_BYTES)
        newline = os.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def _append_or_undo(fd: int, end: int, record: bytes, name: str) -> None:
    try:
        _write_all(fd, record)
        _sync(fd)
    except BaseException:
        try:
            os.ftruncate(fd, end)
        except OSError as problem:
            raise errors.FileError(
                f"A record for {_shown(name)} could be neither written nor taken back: some of it"
                " may be there. Earlier records are unchanged."
            ) from problem
        raise


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _read_at_most(fd: int, max_bytes: int) -> bytes:
    chunks = []
    while max_bytes > 0 and (chunk := os.read(fd, min(max_bytes, 1 << 20))):
        chunks.append(chunk)
        max_bytes -= len(chunk)
    return b"".join(chunks)


def _sync(fd: int) -> None:
    if _FULL_SYNC is not None:
        # On macOS fsync leaves the data in the drive's cache.
        try:
            fcntl.fcntl(fd, _FULL_SYNC)
        except OSError as problem:
            if problem.errno not in _NO_SUCH_CALL:
                raise
        else:
            return
    os.fsync(fd)


def _move(source: str, source_fd: int, target: str, target_fd: int) -> None:
    """Rename unless the target is there."""
    try:
        rename_exclusive(source, source_fd, target, target_fd)
    except OSError as problem:
        if problem.errno not in _NO_SUCH_CALL:
            raise
        # Not atomic: a crash in between leaves both names, never none and never another's file.
        os.link(source, target, src_dir_fd=source_fd, dst_dir_fd=target_fd, follow_symlinks=False)
        if not _unlink_quietly(source, source_fd):
            raise errors.FileError(
                f"{_shown(target)} is there under both names: the old one could not be removed."
            ) from problem


def rename_exclusive(source: str, source_fd: int, target: str, target_fd: int) -> None:
    """The system call that Python's os has no name for; ENOSYS where the system has none either."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    name, flag = ("renameatx_np", 4) if sys.platform == "darwin" else ("renameat2", 1)
    call = getattr(libc, name, None)
    if call is None:
        raise OSError(errno.ENOSYS, name)
    old, new = os.fsencode(source), os.fsencode(target)
    if call(source_fd, old, target_fd, new, ctypes.c_uint(flag)) != 0:
        raise OSError(ctypes.get_errno(), name)


def _unlink_quietly(leaf: str, dir_fd: int) -> bool:
    try:
        os.unlink(leaf, dir_fd=dir_fd)
    except OSError:
        return False
    return True


def _age(leaf: str, dir_fd: int) -> float:
    try:
        return time.time() - os.stat(leaf, dir_fd=dir_fd, follow_symlinks=False).st_mtime
    except OSError:
        return -1.0
