"""Who worked on a piece of code, in which order, and how that work hangs together."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable

from tether.hints import NamedTuple
from tether.lineage.edges import model, reading, view
from tether.store import sql

_SQL = sql.Queries("closures", os.path.dirname(__file__))
_BETWEEN = ("supersedes", "extends", "reverts", "motivates")
_MOST_EDGES = 2_000
_EVIDENCE_EACH = 10


class Attribution(NamedTuple):
    """One way in which a task has to do with the code."""

    edge: reading.Edge
    evidence: tuple[reading.Evidence, ...]
    """The best of it, what happened first comes first."""
    evidence_count: int


class Task(NamedTuple):
    """A task that has to do with the code."""

    key: model.Key
    at: str
    """When it first did; empty if nobody knows."""
    confidence: float
    attributions: tuple[Attribution, ...]


class Feature(NamedTuple):
    """All tasks of some code, the first one first, and the edges among them."""

    tasks: tuple[Task, ...]
    edges: tuple[reading.Edge, ...]
    is_truncated: bool


def feature(seen: view.View, node_ids: Iterable[int], *, limit: int = 200) -> Feature:
    """The story of some code; of too many tasks those that made it are kept, and the newest."""
    code = json.dumps(list(node_ids))
    rows = seen.rows(_SQL.attributed, nodes=code, rows=limit + 1)
    some = json.dumps([number for number, *_ in rows[:limit]])
    found = seen.rows(_SQL.attributions, nodes=code, tasks=some, rows=_MOST_EDGES + 1)
    edges = reading.told_of_code(seen, [number for (number,) in found[:_MOST_EDGES]])
    between = seen.rows(_SQL.among, tasks=some, types=json.dumps(_BETWEEN), rows=_MOST_EDGES + 1)
    return Feature(
        _tasks(_attributions(seen, edges)),
        tuple(reading.told(seen, [number for (number,) in between[:_MOST_EDGES]])),
        len(rows) > limit or max(len(found), len(between)) > _MOST_EDGES,
    )


def _attributions(seen: view.View, edges: list[reading.Edge]) -> list[Attribution]:
    numbers = [each.number for each in edges]
    proofs: dict[int, list[reading.Evidence]] = defaultdict(list)
    counts: dict[int, int] = {}
    for edge, count, *rest in seen.rows(
        _SQL.proofs, edges=json.dumps(numbers), each=_EVIDENCE_EACH
    ):
        proofs[edge].append(reading.as_evidence(*rest))
        counts[edge] = count
    return [
        Attribution(each, tuple(proofs[each.number]), counts.get(each.number, 0)) for each in edges
    ]


def _tasks(attributions: list[Attribution]) -> tuple[Task, ...]:
    """Attributions that are in order, by task: the tasks are in the order of their first."""
    by_task: dict[model.Key, list[Attribution]] = defaultdict(list)
    for each in attributions:
        by_task[each.edge.subject].append(each)
    return tuple(
        Task(key, some[0].edge.at, max(each.edge.confidence for each in some), tuple(some))
        for key, some in by_task.items()
    )
