"""What it hangs on what a text means: the places, names and tasks that it speaks of, as words.

Who reads a text notes them. When one of them comes to mean something else, the text is read again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

from tether.git import objects
from tether.hints import NamedTuple
from tether.lineage.derive import decisions, ground
from tether.lineage.edges import ledger, model

Stale = frozenset[tuple[str, str]]
"""Inputs, each a deriver and a name."""

_MARK = "SELECT cursor FROM derivation_cursors WHERE deriver = ?"
_KEEP_MARK = "INSERT OR REPLACE INTO derivation_cursors VALUES (?, ?)"
_PARENT = "SELECT parent FROM identity_parents WHERE child = ? AND place = 0"
_STEPPED = "SELECT path FROM identity_steps WHERE commit_no = ?"
_OF_SCOPE = "SELECT deriver, name FROM lineage_inputs WHERE scope = ?"
_MAX_COMMITS = 300
_MAX_PATHS = 3000


class Mark(NamedTuple):
    """What a checkout was read at last."""

    commit_no: int
    tasks: tuple[str, ...]
    """Their keys, in order."""


class Notes:
    """Collects the words of one input after the other."""

    def __init__(self) -> None:
        self._words: set[str] = set()

    def path(self, path: str) -> None:
        """What stands at one path."""
        self._words.add(_of_path(path))

    def pattern(self, pattern: str) -> None:
        """Which paths there are, of those that a pattern or the end of a path may stand for."""
        self._words.update(map(_of_part, decisions.parts_of(pattern)))

    def name(self, name: str) -> None:
        """What is called so, wherever it stands."""
        self._words.add(_of_name(ground.short(name)))

    def task(self, label: str) -> None:
        """Which tasks are called so."""
        self._words.add(_of_task(label))

    def taken(self) -> frozenset[str]:
        """All words since this was asked last."""
        found = frozenset(self._words)
        self._words.clear()
        return found


def _of_path(path: str) -> str:
    return f"path:{path}"


def _of_part(part: str) -> str:
    return f"part:{part}"


def _of_name(name: str) -> str:
    return f"name:{name}"


def _of_task(label: str) -> str:
    return f"task:{label}"


def stale(connection: sqlite3.Connection, scope: str, mark: Mark) -> Stale:
    """The inputs of a checkout that may mean something else than when they were read."""
    [raw] = connection.execute(_MARK, (_name(scope),)).fetchall() or [None]
    before = Mark(*json.loads(raw[0])) if raw else None
    words = None if before is None else _changed(connection, before, mark)
    if words is None:
        return frozenset(connection.execute(_OF_SCOPE, (scope,)).fetchall())
    return ledger.hanging(connection, scope, words)


def keep(connection: sqlite3.Connection, scope: str, mark: Mark) -> None:
    """Write down what a checkout was read at."""
    connection.execute(_KEEP_MARK, (_name(scope), json.dumps(mark)))


def _name(scope: str) -> str:
    return f"read:{scope}"


def _changed(connection: sqlite3.Connection, before: Mark, after: Mark) -> set[str] | None:
    """The words that mean something else now; None if there are too many to look at."""
    others = set(before.tasks) ^ set(after.tasks)
    words = {_of_task(model.label(key)) for key in others}
    commits = _between(connection, before.commit_no, after.commit_no)
    if commits is None:
        return None
    paths = {
        objects.as_path(raw)
        for number in commits
        for (raw,) in connection.execute(_STEPPED, (number,))
    }
    if len(paths) > _MAX_PATHS:
        return None
    grounds = [ground.Ground(connection, each.commit_no) for each in (before, after)]
    for path in paths:
        words.update(_of_change(path, *grounds))
    return words


def _between(connection: sqlite3.Connection, one: int, other: int) -> set[int] | None:
    """The commits on the way of first parents to one of two, and not to the other."""
    found: set[int] = set()
    while one != other:
        # A parent has a lower number: the higher one cannot be before the other.
        high, low = max(one, other), min(one, other)
        found.add(high)
        if len(found) > _MAX_COMMITS:
            return None
        row = connection.execute(_PARENT, (high,)).fetchone()
        one, other = (row[0] if row else 0), low
    return found


def _of_change(path: str, before: ground.Ground, after: ground.Ground) -> Iterator[str]:
    """The words for which it counts what stands at a path."""
    yield _of_path(path)
    names = [each.names(path) for each in (before, after)]
    if (names[0] is None) != (names[1] is None):
        yield from map(_of_part, ("", *path.split("/")))
    for each in names:
        yield from (_of_name(ground.short(name)) for name in each or ())
