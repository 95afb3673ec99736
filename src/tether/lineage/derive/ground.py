"""The code as it stands at a commit, for those who name it: paths and symbols to nodes."""

from __future__ import annotations

import functools
import json
import sqlite3

from tether import clock
from tether.git import Oid, objects
from tether.hints import NamedTuple
from tether.lineage import cache, kept, symbols
from tether.lineage.edges import model

_OUTLINE = "SELECT outline FROM outlines WHERE blob = ?"
_NODE = (
    "SELECT n.key, n.kind FROM identity_events AS e JOIN lineage_nodes AS n ON n.id = e.node"
    " WHERE e.number = ?"
)
_CALLED = "SELECT DISTINCT node FROM identity_events WHERE name = ? LIMIT ?"
_CHANGES = "SELECT kinds, change FROM identity_events WHERE node = ?"
_NAMED = "SELECT node, commit_no, kinds, change FROM identity_events WHERE name = ? LIMIT ?"
_PATHS = "SELECT DISTINCT path FROM identity_steps"
_OF_NODE = (
    "SELECT n.key, n.kind FROM identity_events AS e JOIN lineage_nodes AS n ON n.id = e.node"
    " WHERE e.number IN (SELECT value FROM json_each(?)) AND e.node = ? LIMIT 1"
)
_MADE = "SELECT at FROM identity_commits WHERE oid >= ? AND oid < ? || 'g' LIMIT 2"
_NUMBER = "SELECT id FROM lineage_nodes WHERE key = ?"
# A name that more than this have had, on any branch, is not looked up.
_MOST = 2000


class Node(NamedTuple):
    """A file, symbol or section that stands there."""

    key: model.Key
    kind: model.Kind


class Ground:
    """What stands at a commit that was followed."""

    def __init__(self, connection: sqlite3.Connection, number: int) -> None:
        self._connection = connection
        self.line = kept.Line(number)
        self._outlines: dict[Oid, symbols.Outline | None] = {}

    def file(self, path: str) -> Node | None:
        """The file at a path."""
        placed = self.line.placed(self._connection, path)
        return self._file(placed) if placed else None

    def symbol(self, path: str, name: str) -> Node | None:
        """The only symbol of a file that is called so, or whose name ends so."""
        placed = self.line.placed(self._connection, path)
        return self._symbol(placed, name) if placed else None

    def last(self, path: str, name: str) -> Node | None:
        """What stands at a path or did so last: the symbol, else the file."""
        placed = self.line.last(self._connection, path)
        found = self._symbol(placed, name) if placed and name else None
        found = found or (self.gone(path, name) if name else None)
        return found or (self._file(placed) if placed else None)

    def gone(self, path: str, name: str) -> Node | None:
        """What stood at a path under a name and was deleted last; without a name, the file."""
        for event, change in kept.buried(self._connection, self.line, path):
            before = change.before
            if before is None or (before.kind == "file") == bool(name):
                continue
            if not name or kept.is_called(before, name):
                key = kept.nodes_of(self._connection, [event])[event]
                return Node(key, "file" if not name else "symbol")
        return None

    @functools.cached_property
    def _past(self) -> frozenset[int]:
        return kept.past(self._connection, self.line.number)

    def since(self, node: Node) -> str:
        """When something was first seen, RFC 3339 in UTC; empty if nobody saw it."""
        born = kept.born(self._connection, node.key, self._past.__contains__)
        return clock.text(born.at_ms) if born else ""

    def made(self, commit: str) -> str:
        """When a commit was made, by the beginning of its hash; empty if it is not known here."""
        rows = self._connection.execute(_MADE, (commit, commit)).fetchall()
        return clock.text(rows[0][0]) if len(rows) == 1 else ""

    def names(self, path: str) -> tuple[str, ...] | None:
        """What the symbols at a path are called; None if nothing stands there."""
        placed = self.line.placed(self._connection, path)
        return self._names(placed) if placed else None

    def section(self, path: str, line: int) -> Node | None:
        """The section of a document that has a line; the document, if it has no sections there."""
        placed = self.line.placed(self._connection, path)
        outline = self._outline(placed.oid) if placed else None
        number = symbols.innermost(outline, line, line) if outline else None
        if placed is None or outline is None or number is None:
            return self.file(path)
        return self._version(placed, number) or self.file(path)

    def called(self, name: str) -> list[Node]:
        """The symbols that are called so, wherever they stand."""
        rows = self._connection.execute(_CALLED, (short(name), _MOST + 1)).fetchall()
        if len(rows) > _MOST:
            return []
        paths = {path for (node,) in rows for path in self._paths(node)}
        found: dict[model.Key, Node] = {}
        for path in sorted(paths):
            placed = self.line.placed(self._connection, path)
            for number in self._numbers(placed, name) if placed else ():
                node = self._version(placed, number) if placed else None
                if node is not None and node.kind == "symbol":
                    found[node.key] = node
        return list(found.values())

    def once(self, name: str, path: str = "") -> list[Node]:
        """The symbols that were called so, at a path if one is given, and have another name now."""
        rows = self._connection.execute(_NAMED, (short(name), _MOST + 1)).fetchall()
        if len(rows) > _MOST:
            return []
        found = set()
        for node, commit_no, kinds, raw in rows:
            place = kept.change_in(_NOBODY, kinds, raw)[0].after
            if place is not None and commit_no in self._past and kept.is_called(place, name):
                found.add(node)
        standing = (self._standing(each) for each in found if not path or path in self._paths(each))
        return sorted(each for each in standing if each is not None)

    def paths(self) -> set[str]:
        """Where a file stood at any time, on any line."""
        return {objects.as_path(raw) for (raw,) in self._connection.execute(_PATHS)}

    def moved(self, path: str) -> Node | None:
        """The file that stood at a path last, if it stands elsewhere now."""
        placed = self.line.last(self._connection, path)
        node = self._file(placed) if placed else None
        rows = self._connection.execute(_NUMBER, (node.key,)).fetchall() if node else []
        return self._standing(rows[0][0]) if rows else None

    def _standing(self, node: int) -> Node | None:
        """A node, if it stands somewhere."""
        for path in sorted(self._paths(node)):
            placed = self.line.placed(self._connection, path)
            if placed is not None:
                events = json.dumps([placed.file, *placed.versions])
                rows = self._connection.execute(_OF_NODE, (events, node)).fetchall()
                if rows:
                    return Node(*rows[0])
        return None

    def _paths(self, node: int) -> set[str]:
        """Where something stood at any time, on any line."""
        rows = self._connection.execute(_CHANGES, (node,)).fetchall()
        places = [kept.change_in(_NOBODY, kinds, raw)[0].after for kinds, raw in rows]
        return {place.path for place in places if place is not None}

    def _file(self, placed: kept.Placed) -> Node | None:
        if not placed.file:
            return None
        return Node(kept.nodes_of(self._connection, [placed.file])[placed.file], "file")

    def _symbol(self, placed: kept.Placed, name: str) -> Node | None:
        found = self._numbers(placed, name)
        return self._version(placed, found[0]) if len(found) == 1 else None

    def _numbers(self, placed: kept.Placed, name: str) -> list[int]:
        """Which symbols of a file are called so; if none is, those whose names end so."""
        plain = _plain(name)
        names = self._names(placed)
        found = [n for n, each in enumerate(names) if each == plain]
        return found or [n for n, each in enumerate(names) if each.endswith(f".{plain}")]

    def _names(self, placed: kept.Placed) -> tuple[str, ...]:
        outline = self._outline(placed.oid)
        if outline is not None:
            return tuple(symbol.qualified for symbol in outline.symbols)
        # Outlines may be dropped from the index; what happened to symbols never is.
        changes = (kept.change_of(self._connection, event) for event in placed.versions)
        return tuple(each.after.qualified if each.after else "" for each in changes)

    def _outline(self, oid: Oid) -> symbols.Outline | None:
        if oid not in self._outlines:
            rows = self._connection.execute(_OUTLINE, (oid,)).fetchall()
            known = [each for (raw,) in rows if (each := cache.decoded(raw)) is not None]
            self._outlines[oid] = known[0] if known else None
        return self._outlines[oid]

    def _version(self, placed: kept.Placed, number: int) -> Node | None:
        if number >= len(placed.versions):
            return None
        event = placed.versions[number]
        [(key, kind)] = self._connection.execute(_NODE, (event,)).fetchall()
        return Node(key, kind)


def short(name: str) -> str:
    """The last part of a name."""
    return _plain(name).rpartition(".")[2]


def _plain(name: str) -> str:
    return name.replace("::", ".")


_NOBODY = Oid("0" * 40)
