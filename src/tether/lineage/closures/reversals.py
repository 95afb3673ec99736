"""Where work was undone, replaced or contradicted, and how that went on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence

from tether import clock
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


class Undone(NamedTuple):
    """A commit that took back another one, whether or not they are work on tasks."""

    by: str
    of: str
    confidence: float
    at: str


class Reversal(NamedTuple):
    """The chains around some work, the one that began first comes first."""

    chains: tuple[Chain, ...]
    commits: tuple[Undone, ...]
    is_truncated: bool


def reversal(
    seen: view.View,
    node_ids: Sequence[int] = (),
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
    commits = undone(seen, node_ids, [] if number is None else [number], limit=limit + 1)
    return Reversal(
        _chains(found), commits[:limit], is_cut or len(rows) > limit or len(commits) > limit
    )


def undone(
    seen: view.View, node_ids: Iterable[int], tasks: Iterable[int] = (), *, limit: int
) -> tuple[Undone, ...]:
    """The commits that took back others in some code, or of some tasks; the first one first."""
    rows = seen.rows(
        _SQL.undone, nodes=json.dumps(list(node_ids)), tasks=json.dumps(list(tasks)), rows=limit
    )
    return tuple(Undone(by, of, sure, clock.text(at_ms)) for by, of, sure, at_ms in rows)


def _chains(edges: Iterable[reading.Edge]) -> tuple[Chain, ...]:
    """Edges that have an end in common, directly or by others, belong together."""
    leads_to: dict[model.Key, model.Key] = {}

    def first(key: model.Key) -> model.Key:
        while leads_to.setdefault(key, key) != key:
            leads_to[key] = key = leads_to[leads_to[key]]
        return key

    every = list(edges)
    for edge in every:
        leads_to[first(edge.subject)] = first(edge.object)
    groups: dict[model.Key, list[reading.Edge]] = {}
    for edge in every:
        groups.setdefault(first(edge.subject), []).append(edge)
    chains = map(_chain, groups.values())
    return tuple(sorted(chains, key=lambda chain: reading.order(chain.edges[0])))


def _chain(group: list[reading.Edge]) -> Chain:
    edges = tuple(sorted(group, key=reading.order))
    return Chain(
        tuple(dict.fromkeys(key for each in edges for key in (each.object, each.subject))), edges
    )
