"""What the index has kept of identities: what stood where at a commit, and what came before.

What stands at a path at a commit is the last step on the way of first parents to that commit.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator

import msgspec

from tether.git import Oid, objects
from tether.hints import NamedTuple
from tether.lineage import encoding, history

_VERSIONS = msgspec.msgpack.Decoder(list[int])
_CHANGE = msgspec.msgpack.Decoder(
    tuple[
        encoding.PlaceWire | None,
        encoding.PlaceWire | None,
        tuple[int, int] | None,
        float,
        str,
        tuple[encoding.MatchWire, ...],
        tuple[bytes, ...],
    ]
)
# Another number makes everybody follow all symbols anew, because they come out otherwise.
ENGINE_VERSION = 6
_STATE = "SELECT engine, boundary FROM identity_state"
_NUMBER = "SELECT number FROM identity_commits WHERE oid = ?"
_LINE = """
WITH RECURSIVE line (number) AS (
    SELECT ? UNION ALL
    SELECT parent FROM line JOIN identity_parents ON child = number AND place = 0
)
SELECT number FROM line LIMIT ?
"""
_AT_ONCE = 500
_STEPS = (
    "SELECT commit_no, oid, taken, file, versions FROM identity_steps"
    " WHERE path = ? AND commit_no <= ? ORDER BY commit_no DESC"
)
_BURIED = (
    "SELECT commit_no, event FROM identity_graves WHERE path = ? ORDER BY commit_no DESC, event"
)
_CHANGE_OF = (
    "SELECT c.oid, e.kinds, e.change FROM identity_events AS e"
    " JOIN identity_commits AS c ON c.number = e.commit_no WHERE e.number = ?"
)
_NODES = (
    "SELECT e.number, n.key FROM identity_events AS e JOIN lineage_nodes AS n ON n.id = e.node"
    " WHERE e.number IN (SELECT value FROM json_each(?))"
)
_NODE_NUMBERS = (
    "SELECT number, node FROM identity_events WHERE number IN (SELECT value FROM json_each(?))"
)
_LAST_OF = (
    "SELECT max(number) FROM identity_events"
    " WHERE node = (SELECT id FROM lineage_nodes WHERE key = ?)"
)
_BORN = (
    "SELECT c.number, c.at FROM identity_events AS e JOIN identity_commits AS c"
    " ON c.number = e.commit_no WHERE e.node = (SELECT id FROM lineage_nodes WHERE key = ?)"
    " ORDER BY e.number"
)
_PAST = """
WITH RECURSIVE past (number) AS (
    SELECT ? UNION SELECT p.parent FROM past CROSS JOIN identity_parents AS p ON p.child = number
)
SELECT number FROM past
"""
_IS_BEFORE = """
WITH RECURSIVE past (number) AS (
    SELECT :later UNION
    SELECT p.parent FROM past CROSS JOIN identity_parents AS p ON p.child = number
    WHERE p.parent >= :earlier
)
SELECT 1 FROM past WHERE number = :earlier
"""
CHAIN = """
WITH RECURSIVE chain (number) AS (
    SELECT ?
    UNION
    SELECT e.previous FROM chain JOIN identity_events AS e USING (number)
    WHERE e.previous IS NOT NULL
    UNION
    SELECT j.previous FROM chain JOIN identity_joins AS j ON j.event = chain.number
)
SELECT e.number, e.kinds, e.added, e.removed, e.digest, e.change, c.oid, c.at, c.files, n.key,
       e.commit_no
FROM chain JOIN identity_events AS e USING (number)
JOIN identity_commits AS c ON c.number = e.commit_no
JOIN lineage_nodes AS n ON n.id = e.node
ORDER BY e.number DESC
"""


class Event(NamedTuple):
    """What a commit did to a node, as it is kept."""

    number: int
    node: str
    change: history.Change
    unknown: tuple[str, ...]
    added: int
    removed: int
    digest: int | None
    commit_no: int
    at_ms: int
    files: int
    """How many its commit changed."""


class Placed(NamedTuple):
    """What stands at a path: the last events of the file and of its symbols."""

    commit_no: int
    oid: Oid
    taken: int
    file: int
    versions: tuple[int, ...]


class Line:
    """The way of first parents that leads to a commit."""

    def __init__(self, number: int) -> None:
        self._known = {number}
        self._last = number
        self.number = number

    def has(self, connection: sqlite3.Connection, number: int) -> bool:
        """Whether a commit is on it. Numbers only fall on the way back."""
        while self._last > number:
            rows = connection.execute(_LINE, (self._last, _AT_ONCE)).fetchall()
            self._known.update(parent for (parent,) in rows)
            self._last = rows[-1][0] if len(rows) == _AT_ONCE else 0
        return number in self._known

    def before(self, connection: sqlite3.Connection, number: int) -> Line:
        """The part of it up to one of its commits."""
        part = Line(number)
        if self.has(connection, number):
            part._known, part._last = self._known, min(self._last, number)
        return part

    def placed(self, connection: sqlite3.Connection, path: str) -> Placed | None:
        """What stands at a path; None if nothing does."""
        found = self.step(connection, path)
        return found if found and found.oid else None

    def step(self, connection: sqlite3.Connection, path: str) -> Placed | None:
        """The last step of a path, which may have been its end."""
        return next(self._steps(connection, path), None)

    def last(self, connection: sqlite3.Connection, path: str) -> Placed | None:
        """What stands at a path, or else what did so last; None if nothing ever did."""
        return next((each for each in self._steps(connection, path) if each.oid), None)

    def _steps(self, connection: sqlite3.Connection, path: str) -> Iterator[Placed]:
        """All steps of a path, the last one first."""
        rows = connection.execute(_STEPS, (objects.path_bytes(path), self.number)).fetchall()
        for number, oid, taken, file, versions in rows:
            if self.has(connection, number):
                yield Placed(number, oid, taken, file or 0, tuple(_VERSIONS.decode(versions)))


def boundary_of(commits: Iterable[str]) -> str:
    """Where the history ends that is here, in a few letters: nothing, if it is whole."""
    found = sorted(commits)
    if not found:
        return ""
    return hashlib.blake2b(" ".join(found).encode(), digest_size=12).hexdigest()


def is_known(connection: sqlite3.Connection, commit: Oid, boundary: str) -> bool:
    """Whether everything is known up to a commit: as found by this engine, if not by its grammars.

    Who follows more looks at those too.
    """
    for engine, was in connection.execute(_STATE).fetchall():
        if engine.startswith(f"{ENGINE_VERSION}:") and was == boundary:
            return number_of(connection, commit) is not None
    return False


def number_of(connection: sqlite3.Connection, commit: Oid) -> int | None:
    """The number of a commit that was followed."""
    row = connection.execute(_NUMBER, (commit,)).fetchone()
    return None if row is None else int(row[0])


def change_out(change: history.Change, unknown: Iterable[str]) -> bytes:
    """A change without what has a column of its own; of the place before only what differs."""
    before, after = change.before, change.after
    lines = None
    if before and after and before._replace(line=after.line, end_line=after.end_line) == after:
        lines = (before.line, before.end_line)
        before = None
    wire = (
        encoding.place_out(after) if after else None,
        encoding.place_out(before) if before else None,
        lines,
        change.confidence,
        change.evidence,
        [encoding.match_out(each) for each in change.related],
        [encoding.path_out(each) for each in unknown],
    )
    return msgspec.msgpack.encode(wire)


def change_in(commit: Oid, kinds: str, raw: bytes) -> tuple[history.Change, tuple[str, ...]]:
    """A change, and why there may be more before it."""
    there, was, lines, confidence, evidence, related, unknown = _CHANGE.decode(raw)
    after = encoding.place_in(there) if there else None
    before = encoding.place_in(was) if was else None
    if lines is not None and after is not None:
        before = after._replace(line=lines[0], end_line=lines[1])
    told = history.Change(
        commit,
        tuple(kinds.split()),  # type: ignore[arg-type]  # words that our own code wrote
        before,
        after,
        confidence,
        evidence,
        tuple(map(encoding.match_in, related)),
    )
    return told, tuple(map(encoding.path_in, unknown))


def chain(connection: sqlite3.Connection, event: int) -> Iterator[Event]:
    """An event and all that came before it, the newest first."""
    for row in connection.execute(CHAIN, (event,)):
        number, kinds, added, removed, digest, raw, oid, at_ms, files, node, commit_no = row
        change, unknown = change_in(Oid(oid), kinds, raw)
        yield Event(
            *(number, node, change, unknown, added, removed, digest, commit_no, at_ms, files)
        )


def buried(
    connection: sqlite3.Connection, line: Line, path: str
) -> Iterator[tuple[int, history.Change]]:
    """What was deleted from a path on a line, the last one first, by events."""
    for commit_no, event in connection.execute(_BURIED, (objects.path_bytes(path),)).fetchall():
        if line.has(connection, commit_no):
            yield event, change_of(connection, event)


class Birth(NamedTuple):
    """When a node was first seen."""

    commit_no: int
    at_ms: int


def born(connection: sqlite3.Connection, node: str, counts: Callable[[int], bool]) -> Birth | None:
    """The birth of a node, of those commits that count; None if it was not there yet."""
    rows = connection.execute(_BORN, (node,))
    return next((Birth(*row) for row in rows if counts(row[0])), None)


def past(connection: sqlite3.Connection, number: int) -> frozenset[int]:
    """A commit and all that it can be reached from."""
    return frozenset(each for (each,) in connection.execute(_PAST, (number,)))


def is_before(connection: sqlite3.Connection, earlier: int, later: int) -> bool:
    """Whether a commit can be reached from another one."""
    bound = {"earlier": earlier, "later": later}
    return earlier <= later and connection.execute(_IS_BEFORE, bound).fetchone() is not None


def change_of(connection: sqlite3.Connection, event: int) -> history.Change:
    """What an event is of."""
    [(oid, kinds, raw)] = connection.execute(_CHANGE_OF, (event,)).fetchall()
    return change_in(Oid(oid), kinds, raw)[0]


def is_called(place: history.Place, name: str) -> bool:
    """Whether a symbol has a name, or one that ends so."""
    plain = name.replace("::", ".")
    return place.qualified == plain or place.qualified.endswith(f".{plain}")


def history_of_node(connection: sqlite3.Connection, node: str) -> history.History | None:
    """What happened to a node, also if it is gone; None if there is no such node."""
    [(last,)] = connection.execute(_LAST_OF, (node,)).fetchall()
    if last is None:
        return None
    events = list(chain(connection, last))
    unknown = dict.fromkeys(why for each in events for why in each.unknown)
    told = tuple(each.change for each in events if each.change.kinds)
    return history.History(told, tuple(unknown), node)


def nodes_of(connection: sqlite3.Connection, events: Iterable[int]) -> dict[int, str]:
    """Which node each event is of."""
    wanted = json.dumps(sorted(set(events)))
    return dict(connection.execute(_NODES, (wanted,)).fetchall())


def node_numbers(connection: sqlite3.Connection, events: Iterable[int]) -> dict[int, int]:
    """The number of the node that each event is of."""
    wanted = json.dumps(sorted(set(events)))
    return dict(connection.execute(_NODE_NUMBERS, (wanted,)).fetchall())
