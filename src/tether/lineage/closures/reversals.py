"""Where work was undone, replaced or contradicted, and how that went on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from tether.hints import NamedTuple
from tether.lineage.edges import model, reading, view
from tether.store import sql

_SQL = sql.Queries("closures", os.path.dirname(__file__))
_MOST_NODES = 1_000


class Chain(NamedTuple):
    """Tasks and decisions that hang together by such edges."""

    nodes: tuple[model.Key, ...]
    edges: tuple[reading.Edge, ...]
    """What happened first comes first."""


class Reversal(NamedTuple):
    """The chains around some work, the one that began first comes first."""

    chains: tuple[Chain, ...]
    is_truncated: bool


def reversal(
    seen: view.View,
    node_ids: Iterable[int] = (),
    task: model.Key | None = None,
    *,
    limit: int = 200,
) -> Reversal:
    """The chains of reverts, replacements and contradictions around some code, or around a task."""
    number = seen.number(task) if task is not None else None
    rows = seen.rows(
        _SQL.reversal,
        nodes=json.dumps(list(node_ids)),
        tasks=json.dumps([number] if number is not None else []),
        most=_MOST_NODES,
        rows=limit + 1,
    )
    found = reading.told(seen, [edge for edge, _ in rows[:limit]])
    is_cut = any(reached >= _MOST_NODES for _, reached in rows)
    return Reversal(_chains(found), is_cut or len(rows) > limit)


def _chains(edges: Iterable[reading.Edge]) -> tuple[Chain, ...]:
    """Edges that have an end in common, directly or by others, belong together."""
    groups: list[list[reading.Edge]] = []
    for edge in edges:
        ends = {edge.subject, edge.object}
        joined = [group for group in groups if ends & _ends(group)]
        groups = [group for group in groups if group not in joined]
        groups.append([*(each for group in joined for each in group), edge])
    chains = [_chain(group) for group in groups]
    return tuple(sorted(chains, key=lambda chain: reading.order(chain.edges[0])))


def _chain(group: list[reading.Edge]) -> Chain:
    edges = tuple(sorted(group, key=reading.order))
    return Chain(
        tuple(dict.fromkeys(key for each in edges for key in (each.object, each.subject))), edges
    )


def _ends(group: Iterable[reading.Edge]) -> set[model.Key]:
    return {key for each in group for key in (each.subject, each.object)}
