"""What edges say against a task, for who looks for dropped work: rows that the vacuum reads."""

from __future__ import annotations

import os
import sqlite3

from tether.git import Oid
from tether.lineage.edges import view
from tether.store import sql

_SQL = sql.Queries("flags", os.path.dirname(__file__))
_CLEAR = "DELETE FROM lineage_flags WHERE scope = ?"
_FLAG = "INSERT OR IGNORE INTO lineage_flags VALUES (?, ?, ?, ?, ?, ?)"


def derive(
    connection: sqlite3.Connection, scope: str, commit: Oid, wrong: frozenset[view.Content]
) -> None:
    """Write the flags of one checkout anew, without what only other branches say."""
    seen = view.View(
        connection, scopes=("", scope), as_of=view.AsOf(commit=str(commit)), wrong=wrong
    )
    rows = seen.rows(_SQL.flags)
    connection.execute(_CLEAR, (scope,))
    connection.executemany(_FLAG, [(scope, *row) for row in rows])
