"""With which tasks a task shares code. Computed when asked: there are too many pairs to keep."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from tether.hints import NamedTuple
from tether.lineage.edges import model, nodes, view
from tether.store import sql

COMMON = 25
"""What more tasks than this changed says nothing about any two of them."""
_SQL = sql.Queries("closures", os.path.dirname(__file__))
_MOST_CODE = 1_000
_SHOWN = 5
_TYPES = ("co-touches", "co-touches-symbol")


class CoTouch(NamedTuple):
    """A task that changed the same code."""

    type: str
    """`co-touches` if it is files, `co-touches-symbol` if it is symbols or sections."""
    task: model.Key
    weight: float
    """More, the more they share, and the fewer others changed that."""
    shared: int
    """How many files, or symbols and sections."""
    nodes: tuple[model.Key, ...]
    """What weighs most of it."""


class CoTouches(NamedTuple):
    """Tasks that share code with a task, those that share most first."""

    found: tuple[CoTouch, ...]
    is_truncated: bool


def co_touches(
    seen: view.View, task: model.Key, *, types: Iterable[str] = _TYPES, limit: int = 50
) -> CoTouches:
    """The tasks that changed the same files, and those that changed the same symbols."""
    number = seen.number(task)
    if number is None:
        return CoTouches((), is_truncated=False)
    wanted = json.dumps([_TYPES.index(each) for each in types])
    rows = seen.rows(
        _SQL.co_touches,
        task=number,
        common=COMMON,
        most_code=_MOST_CODE,
        are_symbols=wanted,
        rows=limit + 1,
    )
    best = [_heaviest(raw) for *_, raw in rows[:limit]]
    keys = nodes.keys(seen.connection, {node for some in best for node in some})
    found = [
        CoTouch(
            _TYPES[is_symbol],
            key,
            weight,
            count,
            tuple(keys[node] for node in some),
        )
        for (key, is_symbol, weight, count, _), some in zip(rows, best, strict=False)
    ]
    return CoTouches(tuple(found), len(rows) > limit)


def _heaviest(raw: str) -> list[int]:
    """Some of what is shared, from pairs of its weight and its number."""
    pairs: list[tuple[float, int]] = [(weight, node) for weight, node in json.loads(raw)]
    return [node for _, node in sorted(pairs, key=lambda each: (-each[0], each[1]))[:_SHOWN]]
