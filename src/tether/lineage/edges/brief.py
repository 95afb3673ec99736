"""The edges of one task, for who shows the task: from what the index has, with one look at it.

Whoever shows a task is called often, so nothing is brought forward here and little is imported.
"""

from __future__ import annotations

from collections.abc import Iterable

from tether import index
from tether.hints import NamedTuple
from tether.lineage.edges import model

MOST = 50
_EDGES = """
SELECT 0, e.edge_type, o.key, max(e.confidence), e.source, e.at
FROM lineage_nodes AS n
CROSS JOIN task_edges AS e ON e.from_id = n.id
CROSS JOIN lineage_nodes AS o ON o.id = e.to_id
WHERE n.key = ?1 AND e.scope IN ('', ?2) AND e.confidence >= ?3
GROUP BY e.edge_type, o.key, e.source
UNION ALL
SELECT 1, e.edge_type, o.key, max(e.confidence), e.source, e.at
FROM lineage_nodes AS n
CROSS JOIN task_edges AS e ON e.to_id = n.id
CROSS JOIN lineage_nodes AS o ON o.id = e.from_id
WHERE n.key = ?1 AND e.scope IN ('', ?2) AND e.confidence >= ?3
GROUP BY e.edge_type, o.key, e.source
ORDER BY 4 DESC, 2, 3, 5 LIMIT ?4
"""


class Brief(NamedTuple):
    """An edge as it reads from the task."""

    type: str
    other: model.Key
    confidence: float
    source: str
    at: str
    content: tuple[str, str, str, str]
    """Subject, type, object and deriver: what feedback names."""


def edges(
    known: index.Index, scope: str, key: model.Key, least: float = model.DEFAULT_CONFIDENCE
) -> tuple[Brief, ...]:
    """The edges of a task, the surest first; nothing if there is no index."""
    rows = known.rows(_EDGES, (key, scope, least, MOST))
    return tuple(_brief(key, *row) for row in rows)


def _brief(
    key: model.Key, is_inward: int, name: str, other: str, sure: float, source: str, at: str
) -> Brief:
    if is_inward:
        inverse = model.TYPES[name].inverse
        return Brief(inverse, other, sure, source, at, (other, name, key, source))
    return Brief(name, other, sure, source, at, (key, name, other, source))


def without(
    found: Iterable[Brief], wrong: Iterable[tuple[str, str, str, str]]
) -> tuple[Brief, ...]:
    """Those that nobody judged wrong."""
    left_out = set(wrong)
    return tuple(each for each in found if each.content not in left_out)


def line(found: Iterable[Brief], most: int = 8) -> str:
    """`supersedes T1, extended_by T4`."""
    said = dict.fromkeys(f"{each.type} {model.label(each.other)}" for each in found)
    more = f", and {len(said) - most} more" if len(said) > most else ""
    return f"{', '.join(list(said)[:most])}{more}"
