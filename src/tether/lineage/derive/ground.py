"""The code as it stands at a commit, for those who name it: paths and symbols to nodes."""

from __future__ import annotations

import sqlite3

from tether.git import Oid
from tether.hints import NamedTuple
from tether.lineage import cache, history, kept, symbols
from tether.lineage.edges import model

_OUTLINE = "SELECT outline FROM outlines WHERE blob = ?"
_CALLED = "SELECT DISTINCT node FROM identity_events WHERE name = ? AND commit_no <= ? LIMIT 20"
_LAST = (
    "SELECT e.number, e.kinds, e.change, n.key, n.kind FROM identity_events AS e"
    " JOIN lineage_nodes AS n ON n.id = e.node WHERE e.node = ? ORDER BY e.number DESC LIMIT 1"
)


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
        if placed is None or not placed.file:
            return None
        return Node(kept.nodes_of(self._connection, [placed.file])[placed.file], "file")

    def symbol(self, path: str, name: str) -> Node | None:
        """The only symbol of a file that is called so, or whose name ends so."""
        placed = self.line.placed(self._connection, path)
        outline = self._outline(placed.oid) if placed else None
        if placed is None or outline is None:
            return None
        plain = name.replace("::", ".")
        names = [symbol.qualified for symbol in outline.symbols]
        found = [n for n, each in enumerate(names) if each == plain]
        found = found or [n for n, each in enumerate(names) if each.endswith(f".{plain}")]
        return self._version(placed, outline, found[0]) if len(found) == 1 else None

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

    def section(self, path: str, line: int) -> Node | None:
        """The section of a document that has a line; the document, if it has no sections there."""
        placed = self.line.placed(self._connection, path)
        outline = self._outline(placed.oid) if placed else None
        number = symbols.innermost(outline, line, line) if outline else None
        if placed is None or outline is None or number is None:
            return self.file(path)
        return self._version(placed, outline, number) or self.file(path)

    def called(self, name: str) -> list[tuple[Node, history.Place]]:
        """The symbols that are called so now, wherever they stand."""
        short = name.replace("::", ".").rpartition(".")[2]
        found = []
        for (node,) in self._connection.execute(_CALLED, (short, self.line.number)).fetchall():
            row = self._connection.execute(_LAST, (node,)).fetchone()
            _, kinds, raw, key, kind = row
            change, _ = kept.change_in(_NOBODY, kinds, raw)
            place = change.after
            if place is None or kind != "symbol":
                continue
            if kept.is_called(place, name):
                found.append((Node(key, kind), place))
        return found

    def _outline(self, oid: Oid) -> symbols.Outline | None:
        if oid not in self._outlines:
            rows = self._connection.execute(_OUTLINE, (oid,)).fetchall()
            known = [each for (raw,) in rows if (each := cache.decoded(raw)) is not None]
            self._outlines[oid] = known[0] if known else None
        return self._outlines[oid]

    def _version(self, placed: kept.Placed, outline: symbols.Outline, number: int) -> Node | None:
        if number >= len(placed.versions):
            return None
        event = placed.versions[number]
        kind: model.Kind = "section" if outline.symbols[number].kind == "section" else "symbol"
        return Node(kept.nodes_of(self._connection, [event])[event], kind)


_NOBODY = Oid("0" * 40)
