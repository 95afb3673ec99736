"""What one question sees of the index: which checkout asks, how sure, as of when, and what not.

Statements that are asked through a view read from `shown_edges`, `shown_code_edges`, the evidence
of both, and `shown_events`. These stand for the tables with everything left out that does not count
for the question, so no reader minds that itself.
"""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
from collections.abc import Iterable

from tether import clock, errors
from tether.hints import Any, NamedTuple
from tether.lineage.edges import model, nodes
from tether.store import sql

_SQL = sql.Queries("view", os.path.dirname(__file__))
_QUESTIONS = itertools.count(1)
_WITH = "WITH RECURSIVE"
# After every time that there is.
_ALWAYS = "~"


class AsOf(NamedTuple):
    """The time that a question is about."""

    commit: str = ""
    """What it can be reached from counts, and it itself; empty: what was committed until then."""
    at: str = ""
    """What was not committed counts if it was said until then, RFC 3339 in UTC; empty: all of it.
    What nobody knows the time of counts always."""


NOW = AsOf()


class Content(NamedTuple):
    """What an edge says, and who says so: it is the same edge in every index."""

    subject: model.Key
    type: str
    object: model.Key
    source: str


class View:
    """One question. The connection is not to be written to while it is asked.

    What it notes on the way is in the connection's own temporary tables: whoever asks within a
    transaction and rolls it back leaves nothing there.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        scopes: Iterable[str] = ("",),
        min_confidence: float = model.DEFAULT_CONFIDENCE,
        as_of: AsOf = NOW,
        wrong: frozenset[Content] = frozenset(),
    ) -> None:
        self.connection = connection
        self.scopes = tuple(scopes)
        self.until = as_of.at or _ALWAYS
        """What is of a later time, as RFC 3339, was not said yet."""
        self._own: dict[str, Any] = {
            "scopes": json.dumps(self.scopes),
            "min_confidence": min_confidence,
            "until": self.until,
        }
        for query in (_SQL.wrong_edges, _SQL.wrong_code_edges):
            found = _wrong(connection, query, wrong) if wrong else []
            self._own[query.name.partition(".")[2]] = json.dumps(found)
        self._shown = _SQL.now if self._is_everything(as_of) else self._then(as_of)

    def rows(self, query: sql.Query, **parameters: Any) -> list[tuple[Any, ...]]:
        """Ask something."""
        bound = {**self._own, **parameters}
        return self.connection.execute(self.statement(query), bound).fetchall()

    def statement(self, query: sql.Query) -> str:
        """A statement as it is asked: after the tables that the question sees."""
        own = query.text.removeprefix(_WITH)
        return "".join((self._shown.text, "" if own == query.text else ",", "\n", own))

    def number(self, key: model.Key) -> int | None:
        """The number of a node; None if nobody spoke of it."""
        return nodes.find(self.connection, [key]).get(key)

    def counted(self, commits: Iterable[int]) -> set[int]:
        """Those of some commits that count for the question."""
        wanted = set(commits)
        if "question" not in self._own:
            return wanted
        bound = {"question": self._own["question"], "commits": json.dumps(sorted(wanted))}
        rows = self.connection.execute(_SQL.which_count.text, bound)
        return {number for (number,) in rows}

    def _is_everything(self, as_of: AsOf) -> bool:
        """Whether all commits count, and all that was said."""
        if as_of == NOW:
            return True
        heads = self.connection.execute(_SQL.heads.text).fetchall()
        return not as_of.at and heads == [(as_of.commit,)]

    def _then(self, as_of: AsOf) -> sql.Query:
        """The tables as of a time. Which commits count then is noted."""
        self._own["question"] = next(_QUESTIONS)
        self.connection.execute(_SQL.make_room.text)
        query = _SQL.count_ancestors if as_of.commit else _SQL.count_until
        until_ms = clock.parse(as_of.at) if as_of.at else None
        bound = {**self._own, "commit": as_of.commit, "until_ms": until_ms}
        counted = self.connection.execute(query.text, bound).rowcount
        if as_of.commit and not counted:
            raise errors.NotFound(
                "The index does not know this commit yet. What it knows of others is unharmed.",
                hint="Run `tether lineage rebuild`, then ask again.",
            )
        return _SQL.then


def _wrong(
    connection: sqlite3.Connection, query: sql.Query, wrong: frozenset[Content]
) -> list[int]:
    said = []
    for subject, name, target, source in wrong:
        stored = model.stored(nodes.kept(subject), name, nodes.kept(target))
        said.append([*stored, source])
    return [number for (number,) in connection.execute(query.text, {"wrong": json.dumps(said)})]
