"""Which lines of a list of checkboxes are tasks, and what their ids are. Pure.

A full reading and a quick look at the states of an old version both stand on `walk`, so that they
cannot disagree.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator

from tether.tasks import states
from tether.tasks.sources import markdown, notes
from tether.tasks.sources.dialects import Dialect, short_hash, slug, subject

LOG = 5
"""The kind of a line that tells of ids that were given up."""
# A line as `markdown` has it, but what it says is without the id; then the id of a box that is a
# task, and the task that it is indented below.
Step = tuple[int, int, int, str, str, str, str]


def walk(content: str, dialect: Dialect, about: str, skip: int = 0) -> Iterator[Step]:
    """The lines of a list after the first few, each box with its id if it is a task."""
    name = _Naming(dialect, about)
    frames: list[tuple[int, str]] = []
    log_level = 0
    for kind, number, indent, mark, said in markdown.scan(content, skip):
        rest, task_id, parent = said, "", ""
        if kind == markdown.HEADING:
            frames.clear()
            if not log_level or indent <= log_level:
                log_level = indent if dialect.log and dialect.log.search(rest) else 0
            yield kind, number, indent, mark, rest, "", ""
        elif log_level:
            yield LOG, number, indent, mark, rest, "", ""
        elif kind == markdown.TEXT:
            yield kind, number, indent, mark, rest, "", _innermost(frames, indent)
        else:
            while frames and frames[-1][0] >= indent:
                frames.pop()
            if frames:
                parent = frames[-1][1]
            if kind == markdown.BOX:
                task_id, rest = name(mark, said, parent)
            frames.append((indent, task_id or parent))
            yield kind, number, indent, mark, rest, task_id, parent


def _innermost(frames: list[tuple[int, str]], indent: int) -> str:
    """The task that a text of this indentation belongs to."""
    at = bisect.bisect_left(frames, (indent, ""))
    return frames[at - 1][1] if at else ""


class _Naming:
    """The ids of the boxes of one file."""

    def __init__(self, dialect: Dialect, about: str) -> None:
        self._dialect = dialect
        self._prefix = "" if dialect.has_own_ids else f"{slug(about)}."
        self._seen: dict[str, int] = {}

    def __call__(self, mark: str, rest: str, parent: str) -> tuple[str, str]:
        """The id of a box and the text behind it; no id if it is a part, or no task."""
        pattern = self._dialect.id
        if pattern is None:
            return self._hashed(mark, rest, parent)
        found = pattern.match(rest)
        if found is None:
            return "", rest
        after = rest[found.end() :]
        if found[1] and "**" in found[1] and "**" not in found[0][found.end(2) :]:
            # The emphasis goes on into the text: its end would stand there alone.
            after = after.replace("**", "", 1)
        return self._prefix + found[2], after

    def _hashed(self, mark: str, rest: str, parent: str) -> tuple[str, str]:
        """An id made of the text, the same when its box or its commit changes."""
        noise = self._dialect.noise
        found = noise.match(rest) if noise else None
        rest = notes.without_commit(rest[found.end() :] if found else rest, is_bare=True)
        if parent or not rest or not is_box(mark, self._dialect):
            return "", rest
        key = short_hash(" ".join(rest.casefold().split()))
        count = self._seen[key] = self._seen.get(key, 0) + 1
        return f"{self._prefix}{key}{f'-{count}' if count > 1 else ''}", rest


def is_box(mark: str, dialect: Dialect) -> bool:
    """Is it a box, or only a letter in brackets?"""
    return mark in dialect.marks or not mark.isalnum()


def states_in(content: str, dialect: Dialect, path: str) -> dict[str, str]:
    """The state of every task of a list, as a full reading has it, and nothing else."""
    found: dict[str, str] = {}
    skip = markdown.front(content)[1]
    about = subject(dialect.name, path)
    for _, _, _, mark, _, task_id, _ in walk(content, dialect, about, skip):
        if task_id and task_id not in found:
            found[task_id] = dialect.marks.get(mark, states.NEW)
    return found


Parts = dict[str, list[tuple[str, bool]]]
"""Of each task, what its boxes without an id say, and whether they are ticked."""


def parts_in(content: str, dialect: Dialect, path: str) -> Parts:
    """The boxes below each task of a list that have no id of their own."""
    found: Parts = {}
    skip = markdown.front(content)[1]
    about = subject(dialect.name, path)
    for kind, _, _, mark, said, task_id, parent in walk(content, dialect, about, skip):
        if kind == markdown.BOX and parent and not task_id:
            is_done = dialect.marks.get(mark) == states.DONE
            found.setdefault(parent, []).append((" ".join(said.split()), is_done))
    return found


def is_furthered(before: list[tuple[str, bool]], after: list[tuple[str, bool]]) -> bool:
    """Was a part ticked? One that came from elsewhere, ticked already, was not.

    A part that was open and is ticked; or as many parts as before, of which more are ticked.
    """
    was_open = {said for said, is_done in before if not is_done}
    now_done = {said for said, is_done in after if is_done}
    if was_open & now_done - {said for said, is_done in before if is_done}:
        return True
    counts = [sum(is_done for _, is_done in each) for each in (before, after)]
    return len(before) == len(after) and counts[0] < counts[1]


def has_ticked_part(content: str, dialect: Dialect, path: str) -> bool:
    """Is there a ticked box without an id? Asked of some lines of a list."""
    about = subject(dialect.name, path)
    return any(
        kind == markdown.BOX and not task_id and dialect.marks.get(mark) == states.DONE
        for kind, _, _, mark, _, task_id, _ in walk(content, dialect, about)
    )
