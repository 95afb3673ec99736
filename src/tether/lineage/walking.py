"""A part of the graph: what can be reached from some nodes, and the edges among all that."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping

from tether.hints import NamedTuple
from tether.lineage import naming, portable
from tether.lineage.biography import records
from tether.lineage.edges import model, nodes, reading, view
from tether.store import sql

_SQL = sql.Queries("walking", os.path.dirname(__file__))
# A node may be met again on every step.
_MOST_TIMES = 8
_EVIDENCE_EACH = 20


class Part(NamedTuple):
    """Some nodes, those that were asked for first, and all edges among them."""

    keys: tuple[model.Key, ...]
    edges: tuple[reading.Edge, ...]
    is_truncated: bool


def around(seen: view.View, start: Iterable[int], *, depth: int, limit: int) -> Part:
    """What can be reached from some nodes."""
    some = list(start)
    most = limit * _MOST_TIMES + len(some)
    rows = seen.rows(_SQL.reached, nodes=json.dumps(some), depth=depth, most=most, rows=limit + 1)
    met = rows[0][1] if rows else 0
    return _part(seen, [node for node, _ in rows[:limit]], len(rows) > limit or met >= most)


def everything(seen: view.View, *, limit: int) -> Part:
    """All that has edges."""
    rows = seen.rows(_SQL.every_node, rows=limit + 1)
    return _part(seen, [node for node, _ in rows[:limit]], len(rows) > limit)


def _part(seen: view.View, chosen: list[int], is_truncated: bool) -> Part:
    some = json.dumps(chosen)
    edges = reading.told(seen, [number for (number,) in seen.rows(_SQL.between, nodes=some)])
    code = [number for (number,) in seen.rows(_SQL.between_code, nodes=some)]
    edges += reading.told_of_code(seen, code)
    keys = nodes.keys(seen.connection, chosen)
    return Part(tuple(keys[each] for each in chosen), tuple(edges), is_truncated)


def document(
    seen: view.View,
    part: Part,
    names: Mapping[model.Key, naming.Name],
    *,
    commit: str,
    workspace_id: str | None,
) -> portable.Document:
    """A part with what its edges stand on, as other clones understand it."""
    proofs = _proofs(seen, part.edges)
    written = records.read(seen.connection, seen.scopes, part.keys)
    return portable.Document(
        portable.VERSION,
        workspace_id,
        commit,
        [_node(names[key], written.get(key)) for key in part.keys],
        [_edge(each, proofs[each.ref]) for each in part.edges],
        part.is_truncated,
    )


def _node(name: naming.Name, record: object) -> portable.Node:
    agent = getattr(record, "agent", "")
    created_at = getattr(record, "created_at", "")
    return portable.Node(
        name.key, name.kind, name.label, name.title, name.status, agent, created_at, name.place
    )


def _edge(each: reading.Edge, proofs: list[reading.Evidence]) -> portable.Edge:
    return portable.Edge(
        each.subject,
        each.type,
        each.object,
        each.source,
        each.confidence,
        each.at,
        [
            portable.Evidence(
                one.pointer, one.confidence, one.at, portable.plain_detail(one.detail), one.deriver
            )
            for one in proofs
        ],
    )


def _proofs(seen: view.View, edges: Iterable[reading.Edge]) -> dict[str, list[reading.Evidence]]:
    """What edges stand on, by what they are called."""
    numbers: dict[str, list[int]] = {"t": [], "c": []}
    for each in edges:
        numbers[each.ref[0]].append(each.number)
    found: dict[str, list[reading.Evidence]] = defaultdict(list)
    for prefix, query in (("t", _SQL.proofs), ("c", _SQL.code_proofs)):
        rows = seen.rows(query, edges=json.dumps(numbers[prefix]), each=_EVIDENCE_EACH)
        for number, *rest in rows:
            found[f"{prefix}{number}"].append(reading.as_evidence(*rest))
    return found
