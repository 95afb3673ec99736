"""What may go wrong with a change of some code, as far as its past tells."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping

from tether.hints import NamedTuple
from tether.lineage.closures import reversals
from tether.lineage.edges import model, nodes, reading, view
from tether.store import sql

_SQL = sql.Queries("closures", os.path.dirname(__file__))
# Commits that changed more files than this say little about any two of them.
_MOST_FILES = 50
_MOST_COMMITS = 200
_MOST_CANDIDATES = 200


class CoChanged(NamedTuple):
    """A symbol or section that the same commits changed."""

    node: model.Key
    weight: float
    """More for small commits, and for what seldom changes without this code."""
    times: int
    """How often it changed together with the code, of how many changes."""
    changes: int
    pointer: str
    """The last such commit."""


class Undone(NamedTuple):
    """Work on the code, or on what changes with it, that was undone."""

    node: model.Key
    edge: reading.Edge


class Dropped(NamedTuple):
    """A task that nobody carries on, and what it has to do with the code."""

    task: model.Key
    node: model.Key
    type: str
    finding: str


class Risk(NamedTuple):
    """What to look at before some code is changed."""

    co_changed: tuple[CoChanged, ...]
    undone: tuple[Undone, ...]
    commits: tuple[reversals.Undone, ...]
    """Those that took back others in the code itself."""
    dropped: tuple[Dropped, ...]
    described: tuple[reading.Edge, ...]
    """Documents that describe the code."""
    is_truncated: bool


def risk(
    seen: view.View,
    node_ids: Iterable[int],
    orphans: Mapping[model.Key, str],
    *,
    limit: int = 20,
) -> Risk:
    """What a change of some code should mind.

    Of a file, its symbols should be among the nodes: else they are said to change with it.
    `orphans` are tasks with an open finding of the vacuum, and what that is.
    """
    code = list(node_ids)
    changed = seen.rows(
        _SQL.co_changed,
        nodes=json.dumps(code),
        most_files=_MOST_FILES,
        most_commits=_MOST_COMMITS,
        most=_MOST_CANDIDATES,
        rows=limit + 1,
    )
    around = json.dumps([*code, *(number for number, *_ in changed[:limit])])
    undone = seen.rows(_SQL.reverted, nodes=around, rows=limit + 1)
    held = _held(seen, code, orphans, limit + 1)
    commits = reversals.undone(seen, code, limit=limit + 1)
    described = seen.rows(_SQL.of_type, nodes=json.dumps(code), type="describes", rows=limit + 1)
    return Risk(
        tuple(_co_changed(*each) for each in changed[:limit]),
        tuple(_undone(seen, undone[:limit])),
        commits[:limit],
        tuple(held[:limit]),
        tuple(reading.told_of_code(seen, [number for (number,) in described[:limit]])),
        max(map(len, (changed, undone, commits, held, described))) > limit,
    )


def _co_changed(
    _: int, key: model.Key, weight: float, times: int, changes: int, oid: str
) -> CoChanged:
    return CoChanged(key, weight, times, changes, f"commit:{oid}")


def _undone(seen: view.View, rows: list[tuple[model.Key, int]]) -> list[Undone]:
    edges = {each.number: each for each in reading.told(seen, {number for _, number in rows})}
    return [Undone(key, edges[number]) for key, number in rows]


def _held(
    seen: view.View, code: list[int], orphans: Mapping[model.Key, str], rows: int
) -> list[Dropped]:
    """The orphans that have to do with the code."""
    known = nodes.find(seen.connection, orphans)
    by_number = {number: key for key, number in known.items()}
    found = seen.rows(
        _SQL.held, nodes=json.dumps(code), tasks=json.dumps(list(by_number)), rows=rows
    )
    return [
        Dropped(by_number[task], key, name, orphans[by_number[task]]) for task, key, name in found
    ]
