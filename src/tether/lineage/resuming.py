"""What is kept of identities, for who goes on from there: the state of any commit that is known."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import msgspec

from tether import index
from tether.git import Oid, objects
from tether.lineage import forwards, graves, kept, shelves

_GRAVES = "SELECT life, event FROM identity_graves WHERE path = ? AND commit_no = ?"
_MOVES = (
    "SELECT change FROM identity_events"
    " WHERE node = (SELECT id FROM lineage_nodes WHERE key = ?) AND kinds LIKE 'move%'"
)
_PARENT = "SELECT parent FROM identity_parents WHERE child = ? AND place = ?"


class Kept:
    """What was found out before, for who goes on from there."""

    def __init__(self, known: index.Index) -> None:
        self._index = known

    def state(self, commit: Oid) -> forwards.State | None:
        """What stands at a commit; None if it was not followed."""
        number = self._index.read(lambda c: kept.number_of(c, commit))
        if number is None:
            return None
        line = kept.Line(number)
        return forwards.State(
            shelves.Shelf(lambda path: self._index.read(lambda c: _file(c, line, path))),
            shelves.Shelf(lambda path: self._index.read(lambda c: _yard(c, line, path))),
        )

    def former(self, node: str) -> Iterable[str]:
        """The paths that a file had before it was moved."""
        return self._index.read(lambda c: _former(c, node)) or []


def step_out(step: forwards.Step) -> tuple[str, int, int | None, bytes]:
    """What is kept of a step besides its path and commit."""
    file = step.file
    if file is None:
        return "", step.taken, None, b"\x90"
    versions = msgspec.msgpack.encode([each.event for each in file.versions])
    return file.oid, step.taken, file.own.event, versions


def _file(connection: sqlite3.Connection, line: kept.Line, path: str) -> forwards.File | None:
    placed = line.placed(connection, path)
    if placed is None:
        return None
    nodes = kept.nodes_of(connection, (placed.file, *placed.versions))
    own, *versions = (
        forwards.Version(nodes[each], each) for each in (placed.file, *placed.versions)
    )
    return forwards.File(placed.oid, own, tuple(versions))


def _yard(connection: sqlite3.Connection, line: kept.Line, path: str) -> graves.Yard | None:
    """What was deleted from a path, on its own way to a commit."""
    gone: list[tuple[int, dict[bytes, int]]] = []
    steps = 0
    way = line
    while steps < graves.MAX_STEPS:
        step = way.step(connection, path)
        if step is None or step.taken < 0:
            break
        if not step.taken:
            rows = connection.execute(_GRAVES, (objects.path_bytes(path), step.commit_no))
            gone.append((steps, dict(rows.fetchall())))
            steps += 1
        row = connection.execute(_PARENT, (step.commit_no, step.taken)).fetchone()
        if row is None:
            break
        way = way.before(connection, row[0]) if not step.taken else kept.Line(row[0])
    nodes = kept.nodes_of(connection, (event for _, each in gone for event in each.values()))
    found: dict[bytes, graves.Grave] = {}
    for back, each in gone:
        for life, event in each.items():
            found.setdefault(life, graves.Grave(nodes[event], event, -back))
    return graves.Yard(0, found) if found else None


def _former(connection: sqlite3.Connection, node: str) -> list[str]:
    found: dict[str, None] = {}
    for (raw,) in connection.execute(_MOVES, (node,)):
        change, _ = kept.change_in(Oid("0" * 40), "move", raw)
        if change.before is not None:
            found[change.before.path] = None
    return list(found)
