"""The system calls that files are made of, and the one place that explains their errors.

Everything takes a name and the descriptor of its directory, so nothing can be swapped for a link
between a look and the act.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator

from tether import errors

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Opening a pipe that stands in a file's place must not block.
FILE_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_SUCH_CALL = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
_FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)
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


@contextlib.contextmanager
def opened(root: str, above: list[str], name: str, *, reading: bool = False) -> Iterator[int]:
    """A directory below a root. What fails while it is open is explained by `name`."""
    fd = -1
    try:
        fd = os.open(root, _DIRECTORY)
        for part in above:
            below = open_directory(part, fd)
            os.close(fd)
            fd = below
        yield fd
    except OSError as problem:
        raise explained(problem, name, reading=reading) from problem
    finally:
        if fd >= 0:
            os.close(fd)


def parts(name: str) -> list[str]:
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


def shown(name: str) -> str:
    text = ascii(name)
    return text if len(text) <= 100 else text[:97] + "..."


def explained(problem: OSError, name: str, *, reading: bool = False) -> errors.TetherError:
    """The one place where the system's errors become ours."""
    number = problem.errno or 0
    words = _WORDS.get(number, (errors.FileError, "{} could not be read or written ({})."))
    kind, message = _UNREADABLE if reading and words is _FORBIDDEN else words
    message = message.format(shown(name), errno.errorcode.get(number, "unknown"))
    if kind in (errors.FileError, errors.NotWritable, errors.DiskFull):
        message += " The old content is unchanged."
    return kind(message)


def confirm(dir_fd: int, name: str) -> None:
    """Make a changed name durable; from here on "unchanged" would be untrue."""
    try:
        sync(dir_fd)
    except OSError as problem:
        raise errors.FileError(
            f"{shown(name)} was changed, but the disk did not confirm it."
            " A power failure may undo the change."
        ) from problem


def open_directory(part: str, dir_fd: int) -> int:
    try:
        return os.open(part, _DIRECTORY | os.O_NOFOLLOW, dir_fd=dir_fd)
    except NotADirectoryError:
        # This is how Linux refuses a link here; only a look tells it from a file.
        look(part, dir_fd)
        raise


def look(leaf: str, dir_fd: int) -> os.stat_result | None:
    """What is there, or None; a link is refused."""
    try:
        found = os.stat(leaf, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, "link")
    return found


def open_regular(leaf: str, dir_fd: int, flags: int, mode: int = 0o600) -> int:
    fd = os.open(leaf, flags | FILE_FLAGS, mode, dir_fd=dir_fd)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EISDIR, "not a regular file")
    return fd


def mode_like(model: os.stat_result, *, is_directory: bool = False) -> int:
    """The mode of what is new, from the directory that it is to be like."""
    return stat.S_IMODE(model.st_mode) & (0o7777 if is_directory else 0o666)


def dress(fd: int, model: os.stat_result, mode: int) -> None:
    """Owner and mode come from a model, not from who writes or from the umask, as far as we may."""
    now = os.fstat(fd)
    if (now.st_uid, now.st_gid) != (model.st_uid, model.st_gid):
        # It may not be our group, or an owner that this user namespace does not know.
        with contextlib.suppress(OSError):
            os.fchown(fd, model.st_uid if os.geteuid() == 0 else -1, model.st_gid)
    if stat.S_IMODE(now.st_mode) != mode or now.st_uid != model.st_uid:
        with contextlib.suppress(PermissionError):
            os.fchmod(fd, mode)


def write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def read_at_most(fd: int, max_bytes: int) -> bytes:
    chunks = []
    while max_bytes > 0 and (chunk := os.read(fd, min(max_bytes, 1 << 20))):
        chunks.append(chunk)
        max_bytes -= len(chunk)
    return b"".join(chunks)


def sync(fd: int) -> None:
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


Move = Callable[[str, int, str, int], None]


def relink(source: str, source_fd: int, target: str, target_fd: int) -> None:
    """Rename unless the target is there, by a second name: a crash in between leaves both.

    For those who can tell which one counts: `move` has to load a library for its system call, which
    takes a hot command three milliseconds.
    """
    try:
        os.link(source, target, src_dir_fd=source_fd, dst_dir_fd=target_fd, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        # No second names here: another file system, or too many of them.
        move(source, source_fd, target, target_fd)
        return
    # After a power failure there may be two names, never none.
    sync(target_fd)
    os.unlink(source, dir_fd=source_fd)


def move(source: str, source_fd: int, target: str, target_fd: int) -> None:
    """Rename unless the target is there."""
    try:
        rename_exclusive(source, source_fd, target, target_fd)
    except OSError as problem:
        if problem.errno not in _NO_SUCH_CALL:
            raise
        # Not atomic: a crash in between leaves both names, never none and never another's file.
        os.link(source, target, src_dir_fd=source_fd, dst_dir_fd=target_fd, follow_symlinks=False)
        if not unlink_quietly(source, source_fd):
            raise errors.FileError(
                f"{shown(target)} is there under both names: the old one could not be removed."
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


def unlink_quietly(leaf: str, dir_fd: int) -> bool:
    try:
        os.unlink(leaf, dir_fd=dir_fd)
    except OSError:
        return False
    return True


def age(leaf: str, dir_fd: int) -> float:
    try:
        return time.time() - os.stat(leaf, dir_fd=dir_fd, follow_symlinks=False).st_mtime
    except OSError:
        return -1.0
