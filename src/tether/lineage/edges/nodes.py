"""The nodes of the graph in the index: every key has a small number, which it keeps.

Numbers are of one index and mean nothing elsewhere: what is told or kept outside names keys.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping

from tether.lineage.edges import model

_ADD = "INSERT INTO lineage_nodes (key, kind) VALUES (?, ?) ON CONFLICT (key) DO NOTHING"
_NUMBERS = "SELECT key, id FROM lineage_nodes WHERE key IN (SELECT value FROM json_each(?))"
_KEYS = "SELECT id, key FROM lineage_nodes WHERE id IN (SELECT value FROM json_each(?))"


def number(connection: sqlite3.Connection, key: model.Key, kind: model.Kind) -> int:
    """The number of a node, a new one if it has none."""
    return numbers(connection, {key: kind})[key]


def numbers(
    connection: sqlite3.Connection, wanted: Mapping[model.Key, model.Kind]
) -> dict[model.Key, int]:
    """The numbers of many nodes; a node that is there already keeps its kind."""
    known = find(connection, wanted)
    new = [(kept(key), kind) for key, kind in wanted.items() if key not in known]
    if new:
        connection.executemany(_ADD, new)
        known |= find(connection, [key for key in wanted if key not in known])
    return known


def find(connection: sqlite3.Connection, keys: Iterable[model.Key]) -> dict[model.Key, int]:
    """The numbers of those that have one."""
    by_kept = {kept(each): each for each in keys}
    rows = connection.execute(_NUMBERS, (json.dumps(list(by_kept)),))
    return {by_kept[key]: found for key, found in rows}


def key(connection: sqlite3.Connection, number: int) -> model.Key | None:
    """The key of a node; None if there is none of that number."""
    return keys(connection, [number]).get(number)


def keys(connection: sqlite3.Connection, some: Iterable[int]) -> dict[int, model.Key]:
    """The keys of many nodes."""
    return dict(connection.execute(_KEYS, (json.dumps(list(some)),)).fetchall())


def kept(text: str) -> str:
    """A text as the index can keep it: paths may have bytes that are no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()
