"""All tasks of a checkout at once, read through the index.

Of ten thousand tasks a few are shown, so every task is first a few words to choose by; the rest of
it is read when it is asked for.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from tether import __version__, errors, index, text, workspace
from tether.hints import Any
from tether.tasks import model, states, workdir

# Another version, or other fields, make every file be read again; change the number with what
# `model.task` makes of a file.
_PARSER = f"2-{zlib.crc32(' '.join([__version__, *model.Task._fields]).encode()):08x}"
OPEN_PLACES = (states.INBOX, states.ASSIGNED)
# What a name says of its file need not be kept.
_NAMED = 4
_LISTS = [model.Task._fields.index(name) - _NAMED for name in ("depends_on", "artefacts")]

UNDATED = "~"
"""The time of a task that has none: it sorts behind all others."""
Item = tuple[str, str, str, str, str]
"""State, priority, time of creation, id and path of a task: enough to choose and to order it."""


class Listing:
    """The tasks in some places of a checkout."""

    def __init__(
        self,
        place: workspace.Workspace,
        work: workdir.Workdir,
        places: Iterable[str] = OPEN_PLACES,
    ) -> None:
        self._work = work
        wanted = list(places)
        regular, odd = work.look(wanted)
        # What is no text cannot be a row of the index.
        odd += [self._found(path) for path in regular if not _is_text(path)]
        self._odd = {each.path: work.read(each) for each in odd}
        self._index = index.Index(place.store_dir)
        self._parsed = index.Parsed(
            self._index,
            work.top,
            [work.directory(name) for name in wanted],
            {path: index.stamp(seen) for path, seen in regular.items() if path not in self._odd},
            index.Reader(_PARSER, self._fetch, self._parse),
        )

    def items(self) -> Iterator[Item]:
        """Every task, in no order; unreadable ones too."""
        for path, kept in self._parsed.facts.items():
            # A damaged index is not asked twice.
            facts = kept if kept.count(" ") == 2 else self._parsed.read(path).facts
            state, priority, created_at = facts.split(" ")
            name = path[path.rindex("/") + 1 : path.rindex(".")]
            yield state, priority, created_at, name, path
        for path, task in self._odd.items():
            yield states.UNREADABLE, task.priority, UNDATED, task.id, path

    def task(self, path: str) -> model.Task:
        """One of them, in full."""
        if path in self._odd:
            return self._odd[path]
        values = list(self._parsed.values(path))
        if len(values) != len(model.Task._fields) - _NAMED:  # a damaged index
            values = list(self._parsed.read(path).values)
        for number in _LISTS:
            values[number] = tuple(values[number])
        found = self._found(path)
        return model.Task(found.task_id, path, found.place, found.folder, *values)

    def tasks(self) -> list[model.Task]:
        """All of them, in full and in no order."""
        return [self.task(path) for path in (*self._parsed.facts, *self._odd)]

    def close(self) -> None:
        self._index.close()

    def _fetch(self, path: str) -> bytes | None:
        try:
            return self._work.raw(self._found(path))
        except (errors.FileError, errors.NotFound):
            return None

    def _parse(self, path: str, content: bytes | None) -> index.Record:
        found = self._found(path)
        task = self._work.read(found) if content is None else workdir.parsed(found, content).task
        state = states.UNREADABLE if task.problem else task.state
        values: list[Any] = list(task[_NAMED:])
        return index.Record(f"{state} {task.priority} {task.created_at or UNDATED}", values)

    def _found(self, path: str) -> workdir.Found:
        found = workdir.located(path, self._work.root)
        if found is None:
            raise ValueError(f"not below {self._work.root}: {path}")
        return found


def _is_text(path: str) -> bool:
    return path.isascii() or text.storable(path) == path


def tasks(
    place: workspace.Workspace, work: workdir.Workdir, places: Iterable[str] = OPEN_PLACES
) -> list[model.Task]:
    """The tasks in these places, in full and in no order; unreadable ones too."""
    listed = Listing(place, work, places)
    try:
        return listed.tasks()
    finally:
        listed.close()
