"""What tests of edges share: an index with commits, tasks, decisions and code, made by hand."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable

from tether import clock
from tether.index import database
from tether.lineage.edges import ledger, model, nodes, view

DERIVED_AT = "2026-11-20T08:00:00.000Z"
BEGUN_MS = clock.parse("2026-03-02T09:00:00.000Z")
# What statements may never read from one end to the other.
LARGE = frozenset(
    ("task_edges", "task_code_edges", "task_evidence", "code_evidence", "identity_events")
)
_TABLES = ("lineage_inputs", "task_edges", "task_code_edges", "task_evidence", "code_evidence")


def task(number: int) -> model.Key:
    return f"task:work:T20260302-{number:06}"


def decision(number: int) -> model.Key:
    return f"decision:{number:04}"


def code(name: str) -> model.Key:
    """`a.py` is a file, `a.py#run` a function, `README.md#Usage` a section."""
    return f"node:{hashlib.blake2b(name.encode(), digest_size=12).hexdigest()}"


def kind(name: str) -> model.Kind:
    if "#" not in name:
        return "file"
    return "section" if ".md#" in name else "symbol"


def oid(name: str) -> str:
    return hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()


def day(number: int) -> str:
    """The time of that day, counted from the beginning."""
    return clock.text(BEGUN_MS + number * 86_400_000)


class Web:
    """An index in memory, and what may be put into it."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.executescript(database._SCHEMA)
        self.kinds: dict[model.Key, model.Kind] = {}
        self._commits: dict[str, int] = {}
        self._events = 0

    def code(self, *names: str) -> list[int]:
        """The numbers of some code."""
        return [nodes.number(self.connection, self.name(each), kind(each)) for each in names]

    def name(self, code_name: str) -> model.Key:
        key = code(code_name)
        self.kinds[key] = kind(code_name)
        return key

    def commit(
        self, name: str, *parents: str, day_number: int = 0, changed: Iterable[str] = ()
    ) -> str:
        """A commit that changed some code; its pointer."""
        number = self._commits[name] = len(self._commits) + 1
        changed = list(changed)
        files = {each.partition("#")[0] for each in changed}
        at = BEGUN_MS + day_number * 86_400_000
        row = (number, oid(name), at, len(files))
        self.connection.execute("INSERT INTO identity_commits VALUES (?, ?, ?, ?)", row)
        for place, parent in enumerate(parents):
            link = (number, place, self._commits[parent])
            self.connection.execute("INSERT INTO identity_parents VALUES (?, ?, ?)", link)
        for each in changed:
            self.change(name, each)
        return f"commit:{oid(name)}"

    def change(self, commit: str, name: str, *, is_deleted: bool = False) -> None:
        """What a commit did to a file or a symbol."""
        [node] = self.code(name)
        self._events += 1
        number = self._commits[commit]
        kinds, digest = ("deleted", None) if is_deleted else ("body", self._events)
        row = (self._events, node, number, kinds, digest)
        self.connection.execute(
            "INSERT INTO identity_events"
            " (number, node, commit_no, kinds, added, removed, digest, change)"
            " VALUES (?, ?, ?, ?, 3, 1, ?, x'')",
            row,
        )

    def say(
        self,
        name: str,
        *edges: model.Edge,
        deriver: str = "task-text",
        scope: str = "",
        stamp: str = "1",
        derived_at: str = DERIVED_AT,
    ) -> None:
        """What an input says, in the place of what it said before."""
        ledger.replace(self.connection, deriver, scope, name, stamp, edges, derived_at, self.kinds)

    def edge(
        self,
        subject: model.Key,
        type_name: str,
        target: model.Key,
        confidence: float = 0.8,
        at: str = "",
        pointer: str = "file:work/done/T1.yaml#line=7",
        **detail: object,
    ) -> model.Edge:
        return model.Edge(subject, type_name, target, confidence, at, pointer, detail)

    def touch(self, number: int, *names: str, verb: str = "touched", day_number: int = 0) -> None:
        """A task changed some code with a commit of its own that the index does not have."""
        pointer = f"commit:{oid(f'{number} {verb} {names}')}"
        at = day(day_number)
        self.say(
            pointer,
            *(self.edge(task(number), verb, self.name(each), 0.9, at, pointer) for each in names),
            deriver="kg-attribution",
        )

    def view(
        self,
        *,
        scopes: tuple[str, ...] = ("",),
        min_confidence: float = model.DEFAULT_CONFIDENCE,
        as_of: view.AsOf = view.NOW,
        wrong: frozenset[view.Content] = frozenset(),
    ) -> view.View:
        return view.View(
            self.connection,
            scopes=scopes,
            min_confidence=min_confidence,
            as_of=as_of,
            wrong=wrong,
        )


def dump(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Everything that the ledger wrote, with its numbers."""
    return {
        table: sorted(connection.execute(f"SELECT * FROM {table}"), key=repr)  # noqa: S608
        for table in _TABLES
    }


def scanned(connection: sqlite3.Connection, statement: str) -> set[str]:
    """The tables that a statement reads from one end to the other, as its program says."""
    roots = dict(connection.execute("SELECT rootpage, tbl_name FROM sqlite_schema").fetchall())
    bound = dict.fromkeys(re.findall(r":([a-z_]+)", statement), "[]")
    program = connection.execute(f"EXPLAIN {statement}", bound).fetchall()
    opened = {
        first: roots[second]
        for _, name, first, second, third, *_ in program
        # In the main database, whose number is 0; the temporary one has other pages.
        if name in ("OpenRead", "OpenWrite") and third == 0
    }
    ways = ("Rewind", "Last", "Count")
    return {opened[first] for _, name, first, *_ in program if name in ways and first in opened}
