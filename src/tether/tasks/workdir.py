"""The task files of one checkout: found by id, listed, read, written and moved.

Layout: `inbox/`, `assigned/<agent>/`, `done/` and `archive/<month>/` below the work directory, each
with a `.gitkeep`: without it Git takes an emptied directory for a renamed one, and a merge would
carry unstarted tasks to `done/`. Directories of a team's own below these are read too. What a move
means is not known here.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from functools import cached_property

from tether import config, errors, files, ids
from tether.hints import NamedTuple
from tether.tasks import document, model, states

SUFFIX = ".yaml"
SUFFIXES = (SUFFIX, ".yml")
KEEP = ".gitkeep"
VANISHED = "it has just vanished"
TOO_LARGE = f"it has more than {document.MAX_BYTES // 1024} KiB"
_MAX_DEPTH = 4


class Found(NamedTuple):
    """A name that looks like a task's file."""

    path: str
    place: str
    folder: str
    name: str
    seen: os.stat_result | None
    """None for what is no regular file: a link, a pipe."""

    @property
    def task_id(self) -> str:
        return self.name[: self.name.rindex(".")]


class Loaded(NamedTuple):
    """A task with the text that it was read from."""

    task: model.Task
    document: document.Document


class Workdir:
    """Where a checkout keeps its tasks."""

    def __init__(self, top: str, root: str = "work", leave_out: Iterable[str] = ()) -> None:
        self.top = top
        self.root = root
        self.leave_out = frozenset(leave_out)
        self.files = files.Root(top)
        self.changes = 0
        """How often a file of a task was changed."""

    @property
    def exists(self) -> bool:
        """Does this checkout keep tasks here?"""
        return any(os.path.isdir(os.path.join(self.top, self.root, p)) for p in states.PLACES)

    # Finding

    def find(self, task_id: str) -> list[Found]:
        """Every file of a task, without listing the others."""
        wanted = ids.TaskId(task_id)
        found = []
        for place in states.PLACES:
            for folder in ("", *self._folders(place)):
                for suffix in SUFFIXES:
                    each = self._look(place, folder, wanted + suffix)
                    if each is not None:
                        found.append(each)
        return found

    def scan(self, places: Iterable[str] = tuple(states.PLACES)) -> Iterator[Found]:
        """Every file in these places, in no order."""
        regular, odd = self.look(places)
        for path, seen in regular.items():
            found = located(path, self.root)
            if found is not None:
                yield found._replace(seen=seen)
        yield from odd

    def look(self, places: Iterable[str]) -> tuple[dict[str, os.stat_result], list[Found]]:
        """Every regular file in these places by its path, and what only looks like one."""
        regular: dict[str, os.stat_result] = {}
        odd: list[Found] = []
        for place in places:
            if not self.is_linked(place):
                self._look_at(place, "", 0, regular, odd)
        return regular, odd

    def _look_at(
        self,
        place: str,
        folder: str,
        depth: int,
        regular: dict[str, os.stat_result],
        odd: list[Found],
    ) -> None:
        prefix = f"{self.directory(place, folder)}/"
        inner = []
        with self._opened(place, folder) as entries:
            for entry in entries:
                name = entry.name
                if not name.endswith(SUFFIXES):
                    # A link to a directory is not followed: it could lead anywhere.
                    if self._is_read(name, depth) and entry.is_dir(follow_symlinks=False):
                        inner.append(f"{folder}/{name}" if folder else name)
                elif entry.is_file(follow_symlinks=False):
                    try:
                        regular[prefix + name] = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                else:
                    odd.append(Found(prefix + name, place, folder, name, None))
        for each in inner:
            self._look_at(place, each, depth + 1, regular, odd)

    def strays(self) -> Iterator[Found]:
        """The YAML files beside the places, but for directories that are left out."""
        with self._opened("", "") as entries:
            inner = [
                entry.name
                for entry in entries
                if entry.name not in states.PLACES
                and (entry.name.endswith(SUFFIXES) or self._is_read(entry.name, 0))
            ]
        for name in inner:
            found = self._look("", "", name)
            if name.endswith(SUFFIXES) and found is not None:
                yield found
            elif os.path.isdir(os.path.join(self.top, self.root, name)):
                regular: dict[str, os.stat_result] = {}
                self._look_at("", name, 1, regular, [])
                for path in regular:
                    yield Found(path, "", name, os.path.basename(path), None)

    def is_linked(self, place: str) -> bool:
        """Does a link stand where the directory should be? It is not followed."""
        path = self.top
        for part in (*self.root.split("/"), place):
            path = os.path.join(path, part)
            if os.path.islink(path):
                return True
        return False

    @contextlib.contextmanager
    def _opened(self, place: str, folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        """What is in a directory; nothing if it is not there."""
        directory = self.directory(place, folder)
        try:
            entries = os.scandir(os.path.join(self.top, directory))
        except (FileNotFoundError, NotADirectoryError):
            yield iter(())
            return
        except OSError as problem:
            raise errors.FileError(
                f"The directory {directory} cannot be listed: {problem.strerror}."
            ) from problem
        with entries:
            yield entries

    def twin(self, task_id: str) -> str:
        """A task whose id differs in case only; empty if there is none."""
        wanted = [(task_id + suffix).lower() for suffix in SUFFIXES]
        for place in states.PLACES:
            for folder in ("", *self._folders(place)):
                with self._opened(place, folder) as entries:
                    for entry in entries:
                        if entry.name.lower() in wanted:
                            return entry.name[: entry.name.rindex(".")]
        return ""

    def leaves_out(self, found: Found) -> bool:
        """Is it in a directory that holds no tasks?"""
        return any(not self._is_read(part, 0) for part in found.folder.split("/") if part)

    def _is_read(self, name: str, depth: int) -> bool:
        return name[0] != "." and name not in self.leave_out and depth < _MAX_DEPTH

    def folders(self, place: str) -> list[str]:
        """The directories below a place, sorted: agents, months."""
        return sorted(self._folders(place))

    def _folders(self, place: str, folder: str = "", depth: int = 0) -> Iterator[str]:
        path = os.path.join(self.top, self.directory(place, folder))
        try:
            # A place with ten thousand files and no directory need not be listed to know that.
            if depth >= _MAX_DEPTH or (self._counts_links and os.stat(path).st_nlink == 2):
                return
            with os.scandir(path) as entries:
                names = [
                    entry.name
                    for entry in entries
                    if not entry.name.endswith(SUFFIXES) and entry.is_dir(follow_symlinks=False)
                ]
        except OSError:
            return
        for name in names:
            if name[0] != "." and name not in self.leave_out:
                below = f"{folder}/{name}" if folder else name
                yield below
                yield from self._folders(place, below, depth + 1)

    @cached_property
    def _counts_links(self) -> bool:
        """Does the file system count a directory's own directories among its links?

        Most do; on one that does not, the work directory itself, which has several, shows it.
        """
        try:
            return os.stat(os.path.join(self.top, self.root)).st_nlink > 2
        except OSError:
            return False

    def _look(self, place: str, folder: str, name: str) -> Found | None:
        path = f"{self.directory(place, folder)}/{name}"
        try:
            seen = os.stat(os.path.join(self.top, path), follow_symlinks=False)
        except OSError:
            return None
        return Found(path, place, folder, name, seen if stat.S_ISREG(seen.st_mode) else None)

    # Reading

    def raw(self, found: Found) -> bytes:
        """The content of a file."""
        return self.files.read_bytes(found.path, document.MAX_BYTES)

    def load(self, found: Found) -> Loaded:
        """Read a file. What is wrong with it is the task's problem, not an error."""
        try:
            raw = self.raw(found)
        except errors.FileTooLarge:
            return broken(found, TOO_LARGE)
        except errors.LinkRefused:
            return broken(found, "it is a link, or stands behind one")
        except errors.NotFound:
            return broken(found, VANISHED)
        except errors.FileError as problem:
            return broken(found, f"it cannot be read ({problem.code})")
        return parsed(found, raw)

    def read(self, found: Found) -> model.Task:
        return self.load(found).task

    # Writing

    def prepare(self) -> list[str]:
        """Make the directories that are missing; what was made."""
        made = []
        for place in states.PLACES:
            made += self.make_place(place)
        return made

    def make_place(self, place: str, folder: str = "") -> list[str]:
        """Make one directory, with the `.gitkeep` that keeps Git from renaming it in merges."""
        name = self.directory(place, folder)
        keep = f"{name}/{KEEP}"
        if self.files.exists(keep):
            return []
        self.files.make_directories(name)
        try:
            self.files.write_atomic(keep, b"", replace=False)
        except errors.AlreadyThere:
            return []
        return [keep]

    def keeps(self) -> list[str]:
        """The `.gitkeep` files that are there."""
        wanted = [(place, "") for place in states.PLACES]
        wanted += [(states.ASSIGNED, folder) for folder in self.folders(states.ASSIGNED)]
        paths = [f"{self.directory(place, folder)}/{KEEP}" for place, folder in wanted]
        return [path for path in paths if os.path.isfile(os.path.join(self.top, path))]

    def path_of(self, task_id: str, place: str, folder: str = "") -> str:
        return f"{self.directory(place, folder)}/{ids.TaskId(task_id)}{SUFFIX}"

    def write(self, path: str, content: bytes) -> None:
        """Give an existing file other content."""
        self.files.write_atomic(path, content)
        self.changes += 1

    def create(
        self, task_id: str, content: bytes, place: str = states.INBOX, folder: str = ""
    ) -> str:
        """Write a new file; its path."""
        self.make_place(place, folder)
        path = self.path_of(task_id, place, folder)
        self.files.write_atomic(path, content, replace=False)
        self.changes += 1
        return path

    def move(self, path: str, task_id: str, place: str, folder: str = "") -> str:
        """Carry a file to another directory; its new path."""
        target = self.path_of(task_id, place, folder)
        if target != path:
            self.make_place(place, folder)
            self.files.relink(path, target)
            self.changes += 1
        return target

    def directory(self, place: str, folder: str = "") -> str:
        """The path of a place, from the top of the checkout."""
        return "/".join(part for part in (self.root, place, folder) if part)


def of(top: str, settings: config.Settings) -> Workdir:
    """The work directory that the settings name."""
    leave_out = [name.strip() for name in settings.text("tasks.leave_out").split(",")]
    return Workdir(
        top, settings.text("tasks.root").strip("/"), [name for name in leave_out if name]
    )


def parsed(found: Found, raw: bytes) -> Loaded:
    """A task from bytes, wherever they come from: the disk, Git, a pack."""
    read = document.read(raw)
    task_id = found.task_id
    if not ids.TaskId.is_valid(task_id):
        problem = "its name is not a valid id"
        return Loaded(_task(found, read.fields)._replace(problem=problem), read)
    if read.problem:
        broken = model.Task(task_id, found.path, found.place, found.folder)
        return Loaded(broken._replace(problem=read.problem, line=read.line), read)
    return Loaded(_task(found, read.fields), read)


def located(path: str, root: str) -> Found | None:
    """What a path, from the top of a checkout, is among the tasks; None if it is no task's file."""
    inside = path.removeprefix(f"{root}/") if path.startswith(f"{root}/") else ""
    place, _, rest = inside.partition("/")
    folder, _, name = rest.rpartition("/")
    if place not in states.PLACES or not name.endswith(SUFFIXES):
        return None
    return Found(path, place, folder, name, None)


def is_ours(path: str, root: str) -> bool:
    """Is a path, from the top of a checkout, a task's file or the `.gitkeep` beside them?"""
    is_keep = path.startswith(f"{root}/") and path.endswith(f"/{KEEP}")
    return is_keep or located(path, root) is not None


def _task(found: Found, fields: dict[str, object]) -> model.Task:
    return model.task(found.task_id, found.path, found.place, found.folder, fields)


def broken(found: Found, problem: str) -> Loaded:
    """A task of which no more is known than where it should be, and why."""
    task = model.Task(found.task_id, found.path, found.place, found.folder, problem=problem)
    return Loaded(task, document.Document("", {}, problem))
