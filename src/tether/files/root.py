"""A directory that nothing leaves: reading, writing, appending and moving files in it."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

from tether import errors, ids
from tether.files import locks, system

MAX_READ_BYTES = 16 * 1024 * 1024
# A writer that takes longer than this between creating and renaming a file is not coming back.
LEFTOVER_SECONDS = 3600.0
TEMP_PREFIX = ".tmp-"
_CHUNK_BYTES = 1 << 16


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
            fd = system.open_regular(leaf, dir_fd, os.O_RDONLY)
            try:
                content = system.read_at_most(fd, max_bytes + 1)
            finally:
                os.close(fd)
        if len(content) > max_bytes:
            raise errors.FileTooLarge(
                f"{system.shown(name)} has more than {max_bytes} bytes. It was left alone."
            )
        return content

    def write_atomic(
        self, name: str, data: bytes, *, replace: bool = True, keeps: str = ""
    ) -> None:
        """Give a file this content, durably; a reader sees all of it or the old content.

        `keeps` is the name, in the same directory, that the old content has from then on.
        """
        with self._parent_of(name) as (leaf, dir_fd):
            old = system.look(leaf, dir_fd)
            temp = TEMP_PREFIX + ids.random_base32(16)
            try:
                self._write_temp(temp, dir_fd, data, old)
                if keeps and old is not None:
                    _keep(leaf, keeps, dir_fd)
                if replace:
                    os.rename(temp, leaf, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
                else:
                    system.move(temp, dir_fd, leaf, dir_fd)
            except BaseException:
                system.unlink_quietly(temp, dir_fd)
                raise
            system.confirm(dir_fd, name)

    def append(self, name: str, record: bytes, wait_seconds: float = locks.WAIT_SECONDS) -> None:
        """Add one line, durably. A torn line at the end is first moved to `<name>.torn`."""
        if record.count(b"\n") != 1 or not record.endswith(b"\n"):
            raise ValueError("a record is one line and ends with its newline")
        model = self._model()
        with self._parent_of(name) as (leaf, dir_fd):
            fd = locks.open_locked(leaf, dir_fd, os.O_APPEND, model, wait_seconds)
            try:
                if os.fstat(fd).st_size == 0:
                    # Before the first record, so that whoever finds one need not sync the name.
                    system.sync(dir_fd)
                end = _repair(fd, leaf, dir_fd, model)
                _append_or_undo(fd, end, record, name)
            finally:
                os.close(fd)

    def rename_noreplace(self, source: str, target: str) -> None:
        """Move a file, durably, unless there is already something of the new name."""
        self._rename(source, target, system.move)

    def relink(self, source: str, target: str) -> None:
        """The same for those who can tell which one counts if a crash leaves both names."""
        self._rename(source, target, system.relink)

    def _rename(self, source: str, target: str, move: system.Move) -> None:
        with self._parent_of(target) as new, self._parent_of(source) as old:
            if system.look(*old) is None:
                raise FileNotFoundError(errno.ENOENT, "no source")
            try:
                move(*old, *new)
            except FileExistsError as problem:
                raise system.explained(problem, target) from problem
            # The new name first: after a power failure there may be two, never none.
            system.confirm(new[1], target)
            system.confirm(old[1], source)

    def make_directories(self, name: str) -> None:
        """Make a directory and those above it, as far as they are missing."""
        parts = system.parts(name)
        for depth, part in enumerate(parts):
            with system.opened(self.path, parts[:depth], name) as parent:
                try:
                    os.close(system.open_directory(part, parent))
                except FileNotFoundError:
                    self._make_directory(part, parent)

    def remove(self, name: str) -> bool:
        """Remove a file, durably. False if there was none."""
        with contextlib.suppress(errors.NotFound), self._parent_of(name) as (leaf, dir_fd):
            if system.look(leaf, dir_fd) is not None:
                os.unlink(leaf, dir_fd=dir_fd)
                system.confirm(dir_fd, name)
                return True
        return False

    def make_executable(self, name: str) -> None:
        """Let whoever may read a file run it."""
        with self._parent_of(name) as (leaf, dir_fd):
            fd = os.open(leaf, os.O_RDONLY | system.FILE_FLAGS, dir_fd=dir_fd)
            try:
                mode = os.fstat(fd).st_mode
                os.fchmod(fd, mode | (mode & 0o444) >> 2)
                os.fsync(fd)
            finally:
                os.close(fd)

    def exists(self, name: str) -> bool:
        """Whether there is a file or directory of this name."""
        with contextlib.suppress(errors.NotFound), self._parent_of(name, reading=True) as at:
            return system.look(*at) is not None
        return False

    def names(self, name: str = "") -> list[str]:
        """What is in a directory, sorted, without files that are still being written."""
        with self._directory(name) as fd:
            return sorted(leaf for leaf in os.listdir(fd) if not leaf.startswith(TEMP_PREFIX))

    def remove_leftovers(self, name: str = "", min_age_seconds: float = LEFTOVER_SECONDS) -> int:
        """Remove from one directory what dead writers have left, and count it."""
        with self._directory(name) as fd:
            return sum(system.unlink_quietly(t, fd) for t in _leftovers(fd, min_age_seconds))

    def count_leftovers(self, name: str = "", min_age_seconds: float = LEFTOVER_SECONDS) -> int:
        """How many files `remove_leftovers` would remove."""
        with self._directory(name) as fd:
            return len(_leftovers(fd, min_age_seconds))

    @contextlib.contextmanager
    def _parent_of(self, name: str, *, reading: bool = False) -> Iterator[tuple[str, int]]:
        *above, leaf = system.parts(name)
        with system.opened(self.path, above, name, reading=reading) as dir_fd:
            yield leaf, dir_fd

    def _directory(self, name: str) -> contextlib.AbstractContextManager[int]:
        return system.opened(self.path, system.parts(name) if name else [], name, reading=True)

    def _model(self) -> os.stat_result:
        try:
            return os.stat(self.like)
        except OSError as problem:
            raise system.explained(problem, os.path.basename(self.like)) from problem

    def _write_temp(self, temp: str, dir_fd: int, data: bytes, old: os.stat_result | None) -> None:
        fd = os.open(
            temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.FILE_FLAGS, 0o600, dir_fd=dir_fd
        )
        try:
            if old is not None:
                system.dress(fd, old, stat.S_IMODE(old.st_mode))
            else:
                model = self._model()
                system.dress(fd, model, system.mode_like(model))
            system.write_all(fd, data)
            system.sync(fd)
        finally:
            os.close(fd)

    def _make_directory(self, part: str, parent: int) -> None:
        model = self._model()
        mode = system.mode_like(model, is_directory=True)
        try:
            os.mkdir(part, mode & 0o777, dir_fd=parent)
        except FileExistsError:
            # Another process was first, and gives it its mode.
            return
        fd = system.open_directory(part, parent)
        try:
            system.dress(fd, model, mode)
        finally:
            os.close(fd)
        system.sync(parent)


def _keep(leaf: str, keeps: str, dir_fd: int) -> None:
    """Give what a file holds a second name; the first one stays all the time."""
    [name] = system.parts(keeps)
    temp = TEMP_PREFIX + ids.random_base32(16)
    os.link(leaf, temp, src_dir_fd=dir_fd, dst_dir_fd=dir_fd, follow_symlinks=False)
    try:
        os.rename(temp, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except BaseException:
        system.unlink_quietly(temp, dir_fd)
        raise


def _leftovers(fd: int, min_age_seconds: float) -> list[str]:
    temps = [leaf for leaf in os.listdir(fd) if leaf.startswith(TEMP_PREFIX)]
    return [temp for temp in temps if system.age(temp, fd) >= min_age_seconds]


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
        fd = os.open(path, os.O_RDONLY | system.FILE_FLAGS)
        try:
            is_directory = stat.S_ISDIR(os.fstat(fd).st_mode)
            system.dress(fd, model, system.mode_like(model, is_directory=is_directory))
        finally:
            os.close(fd)
    except OSError as problem:
        raise system.explained(problem, os.path.basename(path)) from problem


def _repair(fd: int, leaf: str, dir_fd: int, model: os.stat_result) -> int:
    """Keep a torn tail aside, cut it off, and return where the next record starts."""
    size = os.fstat(fd).st_size
    end = _end_of_last_line(fd, size)
    if end == size:
        return end
    aside = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    torn = system.open_regular(leaf + ".torn", dir_fd, aside, system.mode_like(model))
    try:
        system.dress(torn, model, system.mode_like(model))
        for start in range(end, size, _CHUNK_BYTES):
            system.write_all(torn, os.pread(fd, min(_CHUNK_BYTES, size - start), start))
        system.write_all(torn, b"\n")
        system.sync(torn)
    finally:
        os.close(torn)
    system.sync(dir_fd)
    os.ftruncate(fd, end)
    # So that the next record only ever lengthens what is on the disk.
    system.sync(fd)
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
        system.write_all(fd, record)
        system.sync(fd)
    except BaseException:
        try:
            os.ftruncate(fd, end)
        except OSError as problem:
            raise errors.FileError(
                f"A record for {system.shown(name)} could be neither written nor taken back:"
                " some of it may be there. Earlier records are unchanged."
            ) from problem
        raise
