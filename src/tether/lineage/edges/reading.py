"""Plain reading of edges: those of a node, those there are, and what one stands on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from tether.hints import Any, NamedTuple
from tether.lineage.edges import model, nodes, view
from tether.store import sql

_SQL = sql.Queries("reading", os.path.dirname(__file__))
_OF_TASKS, _OF_CODE = "t", "c"


class Edge(NamedTuple):
    """An edge as it is stored: subject, verb, object."""

    ref: str
    """What it is called in this index: `t12`, or `c7` if it is an edge to code."""
    subject: model.Key
    type: str
    object: model.Key
    confidence: float
    at: str
    source: str
    """The deriver."""
    derived_at: str
    scope: str
    pointer: str
    """What opens the best of its evidence."""

    @property
    def number(self) -> int:
        return int(self.ref[1:])

    @property
    def content(self) -> view.Content:
        """What feedback names."""
        return view.Content(self.subject, self.type, self.object, self.source)


class Side(NamedTuple):
    """An edge as it reads from one of its ends."""

    type: str
    """`supersedes` from the one, `superseded_by` from the other."""
    other: model.Key
    edge: Edge


class Sides(NamedTuple):
    """The edges of a node, those that happened first come first."""

    sides: tuple[Side, ...]
    is_truncated: bool


class Page(NamedTuple):
    """Some edges."""

    edges: tuple[Edge, ...]
    is_truncated: bool


class Evidence(NamedTuple):
    """One thing that an edge stands on."""

    pointer: str
    confidence: float
    at: str
    detail: dict[str, Any]
    deriver: str
    input: str
    """The name of what says so."""


class Proofs(NamedTuple):
    """What an edge stands on, the strongest first."""

    evidence: tuple[Evidence, ...]
    is_truncated: bool


def around(
    seen: view.View,
    key: model.Key,
    *,
    types: Iterable[str] = (),
    source: str = "",
    limit: int = 200,
) -> Sides:
    """The edges of a node in both directions; types are named as they read from it."""
    node = seen.number(key)
    if node is None:
        return Sides((), is_truncated=False)
    asked = tuple(types) or (*model.TYPES, *model.INVERSES)
    outward = [name for name in asked if name in model.TYPES]
    inward = [model.INVERSES[name] for name in asked if name in model.INVERSES]
    rows = seen.rows(
        _SQL.around,
        node=node,
        outward=json.dumps(outward),
        inward=json.dumps(inward),
        source=source,
        rows=limit + 1,
    )
    found = _told(seen, [(bool(is_code), number) for is_code, number in rows[:limit]])
    return Sides(tuple(_side(nodes.kept(key), each) for each in found), len(rows) > limit)


def edge(seen: view.View, ref: str) -> Edge | None:
    """The edge of that name, if the question sees it."""
    number = _number(ref)
    found = _told(seen, [(ref.startswith(_OF_CODE), number)]) if number is not None else []
    return found[0] if found else None


def evidence(seen: view.View, ref: str, *, limit: int = 50) -> Proofs:
    """What an edge stands on."""
    number = _number(ref)
    if number is None:
        return Proofs((), is_truncated=False)
    query = _SQL.code_evidence if ref.startswith(_OF_CODE) else _SQL.evidence
    rows = seen.rows(query, edge=number, rows=limit + 1)
    return Proofs(tuple(as_evidence(*each) for each in rows[:limit]), len(rows) > limit)


def raw(seen: view.View, *, types: Iterable[str] = (), source: str = "", limit: int = 200) -> Page:
    """Edges as they lie there, those between tasks first; an inverse names the type it is of."""
    asked = tuple(types) or tuple(model.TYPES)
    filters = {
        "types": json.dumps([model.INVERSES.get(name, name) for name in asked]),
        "source": source,
    }
    found = [(False, number) for (number,) in seen.rows(_SQL.every_edge, **filters, rows=limit + 1)]
    left = limit + 1 - len(found)
    if left:
        rows = seen.rows(_SQL.every_code_edge, **filters, rows=left)
        found += [(True, number) for (number,) in rows]
    return Page(tuple(_told(seen, found[:limit])), len(found) > limit)


def told(seen: view.View, numbers: Iterable[int]) -> list[Edge]:
    """Edges between tasks and decisions by their numbers, those that happened first come first."""
    return sorted(_told(seen, [(False, each) for each in numbers]), key=order)


def told_of_code(seen: view.View, numbers: Iterable[int]) -> list[Edge]:
    """The same of edges to code."""
    return sorted(_told(seen, [(True, each) for each in numbers]), key=order)


def as_evidence(
    pointer: str, confidence: float, at: str, detail: str, deriver: str, name: str
) -> Evidence:
    """A row of evidence."""
    return Evidence(pointer, confidence, at, json.loads(detail), deriver, name)


def order(edge: Edge) -> tuple[object, ...]:
    """What happened first comes first, and what nobody knows the time of comes last."""
    return not edge.at, edge.at, *edge.content, edge.scope


def _told(seen: view.View, asked: list[tuple[bool, int]]) -> list[Edge]:
    """Edges in the order in which they are asked for."""
    found: dict[tuple[bool, int], Edge] = {}
    for is_code, query, prefix in (
        (False, _SQL.edges, _OF_TASKS),
        (True, _SQL.code_edges, _OF_CODE),
    ):
        numbers = [number for is_of_code, number in asked if is_of_code is is_code]
        rows = seen.rows(query, edges=json.dumps(numbers)) if numbers else []
        for number, *rest in rows:
            found[is_code, number] = Edge(f"{prefix}{number}", *rest)
    return _merged(found[each] for each in asked if each in found)


def _merged(edges: Iterable[Edge]) -> list[Edge]:
    """Each edge once, the surest: a checkout may say what Git says, too."""
    found: dict[view.Content, Edge] = {}
    for each in edges:
        known = found.get(each.content)
        if known is None or known.confidence < each.confidence:
            found[each.content] = each
    return list(found.values())


def _side(key: model.Key, edge: Edge) -> Side:
    if edge.subject == key:
        return Side(edge.type, edge.object, edge)
    return Side(model.TYPES[edge.type].inverse, edge.subject, edge)


def _number(ref: str) -> int | None:
    """The number in an edge's name; None if it is no such name."""
    digits = ref[1:]
    is_one = ref[:1] in (_OF_TASKS, _OF_CODE) and digits.isascii() and digits.isdecimal()
    return int(digits) if is_one and len(digits) < 19 else None
