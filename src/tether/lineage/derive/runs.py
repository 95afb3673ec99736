"""Runs and sessions to edges: whose work started whose (`runtime-link`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tether import ids
from tether.hints import NamedTuple
from tether.lineage.edges import ledger, model
from tether.store import port, sql

DERIVER = "runtime-link"
_SQL = sql.Queries("lineage")
_MAX_ROWS = 100_000


class _Started(NamedTuple):
    """A task that was begun by a session other than its own."""

    task: ids.TaskKey
    by: str
    """The session."""
    at: str
    pointer: str


def said(store: port.Store) -> list[ledger.Said]:
    """What every task that was started by another one's work says; each is an input."""
    found: dict[ids.TaskKey, dict[tuple[str, str], model.Edge]] = {}
    for each in (*_of_runs(store), *_of_sessions(store)):
        edges = found.setdefault(each.task, {})
        for row in store.rows(_SQL.held_at, session=each.by, at=each.at):
            parent = ids.TaskKey(row["source"], row["task"])
            if parent != each.task:
                subject, target = model.task_key(parent), model.task_key(each.task)
                edge = model.Edge(subject, "runtime-parent", target, 1.0, each.at, each.pointer)
                edges.setdefault((subject, target), edge)
    return [
        ledger.Said(f"{key.source}:{key.id}", _stamp(edges.values()), tuple(edges.values()))
        for key, edges in found.items()
        if edges
    ]


def _stamp(edges: Iterable[model.Edge]) -> str:
    return str(sorted((each.subject, each.pointer) for each in edges))


def _of_runs(store: port.Store) -> Iterator[_Started]:
    """What coordinators gave out: begun by whoever coordinates."""
    for row in store.rows(_SQL.dispatched, after=0, limit=_MAX_ROWS):
        if row["session"]:
            key = ids.TaskKey(row["source"], row["task"])
            yield _Started(key, row["session"], row["at"], f"event:{row['id']}")


def _of_sessions(store: port.Store) -> Iterator[_Started]:
    """What sub-agents took: begun by the session that started them."""
    for row in store.rows(_SQL.started_below):
        key = ids.TaskKey(row["source"], row["task"])
        pointer = f"claim:{key.label}#epoch={row['epoch']}"
        yield _Started(key, row["parent"], row["claimed_at"], pointer)
