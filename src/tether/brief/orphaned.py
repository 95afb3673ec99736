"""The tasks that somebody should take up again: what the store says now, and what sweeps found.

Hot: it asks the store alone, and takes as long however much there is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from tether import ids
from tether.hints import NamedTuple
from tether.store import port, sql
from tether.tasks import model as tasks
from tether.vacuum import model, quick

_SQL = sql.Queries("vacuum")
MAX_OFFERED = 50


class Orphan(NamedTuple):
    """A task that was dropped, with the most urgent of what is wrong with it."""

    key: ids.TaskKey
    type: str
    grade: str
    percent: int
    reason: str
    last_at: str = ""
    priority: str = "normal"

    @property
    def rank(self) -> tuple[object, ...]:
        return model.TYPES.index(self.type), -self.percent, tasks.rank(self.priority)


class Orphaned(NamedTuple):
    """The most urgent of them, and how many there are of each kind."""

    some: tuple[Orphan, ...]
    counts: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


NONE = Orphaned((), {})


def look(
    store: port.Store,
    found: Iterable[quick.Found],
    limits: model.Limits,
    limit: int = MAX_OFFERED,
) -> Orphaned:
    """What the quick sweep has just found, and what is open of earlier sweeps."""
    least = limits.alert_percent
    now = {e.key: _of_found(e) for e in reversed(list(found)) if _is_orphan(e, least)}
    rows = store.rows(_SQL.orphans, percent=limits.alert_percent, limit=limit + len(now))
    kept: dict[ids.TaskKey, Orphan] = {}
    gone: dict[ids.TaskKey, str] = {}
    for row in rows:
        key = ids.TaskKey(row["source"], row["task_id"])
        if row["sweep_type"] == model.QUICK and key not in now:
            # The store said so once, and does not any more.
            gone.setdefault(key, row["orphan_type"])
        elif key not in kept:
            kept[key] = _of_row(row)
    # The store alone does not know how urgent a task is; a sweep of its list did.
    now = {k: o._replace(priority=kept[k].priority) if k in kept else o for k, o in now.items()}
    merged = {**kept, **now}
    counted = store.rows(_SQL.count_orphans, percent=limits.alert_percent)
    counts = {model.ORPHANED[row["orphan_rank"]]: row["number"] for row in counted}
    for key, orphan in now.items():
        if key not in kept and key not in gone:
            counts[orphan.type] = counts.get(orphan.type, 0) + 1
    for key, kind in gone.items():
        if key not in merged:
            counts[kind] = counts.get(kind, 0) - 1
    ordered = {kind: counts[kind] for kind in model.ORPHANED if counts.get(kind, 0) > 0}
    # The order of the rows is that of the store; what is new goes among them by its rank.
    some = sorted(merged.values(), key=lambda each: each.rank)
    return Orphaned(tuple(some[:limit]), ordered)


def standing(found: Orphaned, is_open: Callable[[ids.TaskKey], bool]) -> Orphaned:
    """Those that still have to be done here: asked of the most urgent ones."""
    counts = dict(found.counts)
    some = []
    for each in found.some:
        if is_open(each.key):
            some.append(each)
        else:
            counts[each.type] = counts.get(each.type, 0) - 1
    return Orphaned(tuple(some), {kind: count for kind, count in counts.items() if count > 0})


def _is_orphan(found: quick.Found, percent: int) -> bool:
    return found.finding.type in model.ORPHANED and found.finding.percent >= percent


def _of_found(found: quick.Found) -> Orphan:
    finding = found.finding
    return Orphan(
        found.key,
        finding.type,
        finding.grade,
        finding.percent,
        finding.reasons[0],
        found.evidence.claimed_at,
    )


def _of_row(row: port.Row) -> Orphan:
    evidence = json.loads(row["evidence"])
    reasons = evidence.get("reasons") or [""]
    return Orphan(
        ids.TaskKey(row["source"], row["task_id"]),
        row["orphan_type"],
        row["grade"],
        row["percent"],
        str(reasons[0]),
        row["last_activity"] or "",
        str(evidence.get("priority", "normal")),
    )
