"""What a decision governs, who works on it, and what became of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from tether.hints import NamedTuple
from tether.lineage.edges import model, nodes, reading, view
from tether.store import sql

_SQL = sql.Queries("closures", os.path.dirname(__file__))
_MOST_STEPS = 30
_MOST_WAYS = 5_000
_MOST_EDGES = 500
_GOVERNS = "governs"
_OTHERS = tuple(
    name for name in (*model.TYPES, *model.INVERSES) if model.INVERSES.get(name, name) != _GOVERNS
)


class Decision(NamedTuple):
    """A decision with everything around it."""

    key: model.Key
    governed: tuple[reading.Edge, ...]
    """The code that it is about."""
    tasks: tuple[reading.Side, ...]
    """Who mentions it, came from it, or replaced it, as it reads from the decision."""
    decisions: tuple[reading.Side, ...]
    """Other decisions, likewise."""
    newer: tuple[model.Key, ...]
    """What replaced it, and what replaced that; the next one first."""
    older: tuple[model.Key, ...]
    """What it replaced, and what that had replaced."""
    chain: tuple[reading.Edge, ...]
    """The edges between all of these."""
    is_truncated: bool


def decision(seen: view.View, key: model.Key, *, limit: int = 200) -> Decision:
    """A decision, by its key."""
    number = seen.number(key)
    if number is None:
        return Decision(key, (), (), (), (), (), (), is_truncated=False)
    governed = reading.around(seen, key, types=(_GOVERNS,), limit=limit)
    others = reading.around(seen, key, types=_OTHERS, limit=limit)
    rows = seen.rows(_SQL.succession, node=number, depth=_MOST_STEPS, most=_MOST_WAYS)
    keys = nodes.keys(seen.connection, [node for node, *_ in rows])
    steps = [(step, keys[node]) for node, step, _ in rows]
    some, types = json.dumps(list(keys)), '["supersedes"]'
    edges = seen.rows(_SQL.among, tasks=some, types=types, rows=_MOST_EDGES + 1)
    return Decision(
        key,
        tuple(each.edge for each in governed.sides),
        tuple(each for each in others.sides if model.task_of(each.other)),
        tuple(each for each in others.sides if each.other.startswith("decision:")),
        _nearest_first((step, other) for step, other in steps if step > 0),
        _nearest_first((-step, other) for step, other in steps if step < 0),
        tuple(reading.told(seen, [each for (each,) in edges[:_MOST_EDGES]])),
        governed.is_truncated
        or others.is_truncated
        or len(edges) > _MOST_EDGES
        or any(is_cut or abs(step) >= _MOST_STEPS for _, step, is_cut in rows),
    )


def _nearest_first(steps: Iterable[tuple[int, model.Key]]) -> tuple[model.Key, ...]:
    return tuple(other for _, other in sorted(steps))
