"""What is written of tasks and decisions, kept in the index word for word."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping

from tether.lineage.biography import model
from tether.lineage.edges import model as graph
from tether.lineage.edges import nodes

_READ = """
SELECT n.key, r.record FROM lineage_records AS r JOIN lineage_nodes AS n ON n.id = r.node
WHERE n.key IN (SELECT value FROM json_each(?)) AND r.scope IN (SELECT value FROM json_each(?))
ORDER BY r.scope
"""
_KEEP = "INSERT OR REPLACE INTO lineage_records VALUES (?, ?, ?)"
_FORGET = "DELETE FROM lineage_records WHERE scope = ? AND node = ?"
_OF_KIND = (
    "SELECT n.key FROM lineage_records AS r JOIN lineage_nodes AS n ON n.id = r.node"
    " WHERE r.scope = ? AND n.kind = ?"
)


def read(
    connection: sqlite3.Connection, scopes: Iterable[str], keys: Iterable[str]
) -> dict[str, model.Record]:
    """The records of some tasks and decisions, as far as there are any.

    What a checkout says counts more than what is of none, as imports are.
    """
    wanted = (json.dumps(sorted(set(keys))), json.dumps(list(scopes)))
    found = {}
    for key, raw in connection.execute(_READ, wanted):
        values = json.loads(raw)
        values["notes"] = tuple(values.get("notes", ()))
        found[key] = model.Record(**values)
    return found


def keep(connection: sqlite3.Connection, scope: str, records: Mapping[str, model.Record]) -> None:
    """Write records down, in the place of those that were there."""
    kinds: dict[graph.Key, graph.Kind] = {
        key: "decision" if key.startswith("decision:") else "task" for key in records
    }
    numbers = nodes.numbers(connection, kinds)
    rows = [
        (scope, numbers[key], json.dumps(each._asdict(), ensure_ascii=True))
        for key, each in records.items()
    ]
    connection.executemany(_KEEP, rows)


def forget(connection: sqlite3.Connection, scope: str, keys: Iterable[str]) -> None:
    """Records of what is gone."""
    found = nodes.find(connection, keys)
    connection.executemany(_FORGET, [(scope, number) for number in found.values()])


def keys(connection: sqlite3.Connection, scope: str, kind: graph.Kind) -> set[str]:
    """Of which tasks or decisions a checkout has records."""
    return {key for (key,) in connection.execute(_OF_KIND, (scope, kind))}
