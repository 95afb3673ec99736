"""What sweeps found, in the store: one open row for each task and type, first and last seen."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping

from tether import clock, ids
from tether.agents import claims
from tether.hints import Any, NamedTuple
from tether.store import events, port, sql
from tether.vacuum import model

_SQL = sql.Queries("vacuum")
_STORE = sql.Queries("store")
# A transaction of this many rows holds up nobody for long.
_BATCH = 200


class Report(NamedTuple):
    """One finding as the store has it."""

    id: int
    sweep_type: str
    """The least sweep that sees it."""
    created_at: str
    last_seen_at: str
    source: str
    task_id: str
    orphan_type: str
    grade: str
    percent: int
    last_activity: str | None
    last_session_id: str | None
    track: str | None
    project: str
    evidence: dict[str, Any]
    resolution: str | None
    resolved_at: str | None
    resolved_by: str | None

    @property
    def key(self) -> ids.TaskKey:
        return ids.TaskKey(self.source, self.task_id)


class Row(NamedTuple):
    """A finding that is to be written down."""

    key: ids.TaskKey
    finding: model.Finding
    track: str
    last_activity: str
    last_session_id: str
    evidence: dict[str, Any]

    @property
    def name(self) -> tuple[str, str, str]:
        return (*self.key, self.finding.type)


class Sweep(NamedTuple):
    """What one sweep came to."""

    id: int
    sweep_type: str
    started_at: str
    finished_at: str | None
    swept_by: str
    host_id: str
    project: str
    unchecked: int
    counts: dict[str, int]


class Recorded(NamedTuple):
    """How the findings changed."""

    new: int = 0
    settled: int = 0


def evidence_of(known: model.Evidence, finding: model.Finding) -> dict[str, Any]:
    """What is kept with a finding: the seed's four, reasons and pointers."""

    def at(sign: model.Sign | None) -> str | None:
        return sign.at if sign is not None else None

    return {
        "claim_at": known.claimed_at or None,
        "broadcast_at": at(known.broadcast),
        "log_mention": at(known.logged),
        "commit": known.committed.pointer.partition(":")[2] if known.committed else None,
        "priority": known.subject.priority,
        "reasons": list(finding.reasons),
        "pointers": list(finding.pointers),
    }


def rows_of(judged: Iterable[model.Judged]) -> list[Row]:
    """The rows of judged tasks."""
    return [
        Row(
            each.subject.key,
            finding,
            each.subject.track,
            each.evidence.last_at,
            each.evidence.last_session,
            evidence_of(each.evidence, finding),
        )
        for each in judged
        for finding in each.findings
    ]


def begin(
    store: port.Store, sweep_type: str, now: str, by: str, project: str, host_id: str = ""
) -> int:
    """Write down that a sweep begins; its number. One that never ends was interrupted."""

    def work(transaction: port.Transaction) -> int:
        [counter] = transaction.rows(_STORE.count_up, name="vacuum_sweeps", amount=1)
        named = {"sweep_type": sweep_type, "started_at": now, "swept_by": by, "project": project}
        where = {"host_id": host_id, "unchecked": 0}
        transaction.rows(_SQL.add_sweep, id=counter["value"], **named, **where)
        return int(counter["value"])

    return store.write("vacuum", work)


def ending(began_at: str, by: clock.Clock) -> str:
    """When a sweep ends that began at a time: now, and never before that."""
    return max(began_at, clock.now_text(by))


def end(
    store: port.Store,
    sweep: int,
    sweep_type: str,
    now: str,
    by: str,
    unchecked: int,
    counts: Mapping[str, int],
    recorded: Recorded,
) -> None:
    """Write down what a sweep came to."""
    told = json.dumps(dict(counts), sort_keys=True)

    def work(transaction: port.Transaction) -> None:
        transaction.rows(
            _SQL.end_sweep, id=sweep, finished_at=now, unchecked=unchecked, counts=told
        )
        transaction.event(
            events.VACUUM_SWEPT,
            actor=by,
            data={
                "sweep_type": sweep_type,
                "counts": {kind: count for kind, count in counts.items() if count},
                "new": recorded.new,
                "settled": recorded.settled,
            },
        )

    store.write("vacuum", work)


def record(
    store: port.Store,
    sweep_type: str,
    rows: Iterable[Row],
    now: str,
    by: str,
    project: str,
    *,
    judged: Callable[[Report], bool] = lambda _: True,
    is_done: Callable[[ids.TaskKey], bool] = lambda _: False,
) -> Recorded:
    """Write down what was found, and settle what does not hold any more.

    In small transactions, each of which may be repeated: who is interrupted goes on next time.
    `judged` says of which findings this sweep can tell that they do not hold any more.
    """
    found = {row.name: row for row in rows}
    known = {(r.source, r.task_id, r.orphan_type): r for r in open_ones(store)}
    wanted = sorted(found)
    for begin_at in range(0, len(wanted), _BATCH):
        some = [found[name] for name in wanted[begin_at : begin_at + _BATCH]]
        store.write("vacuum", functools.partial(_see, sweep_type, some, now, project))
    gone = [
        report
        for name, report in known.items()
        if name not in found and _may_settle(report, sweep_type, judged, is_done)
    ]
    for begin_at in range(0, len(gone), _BATCH):
        chosen = gone[begin_at : begin_at + _BATCH]
        store.write("vacuum", functools.partial(_clear, chosen, now, by, is_done))
    return Recorded(sum(name not in known for name in found), len(gone))


def since(store: port.Store, at: str) -> Recorded:
    """How many findings are new since a time, and how many were settled, by whomever."""
    [row] = store.rows(_SQL.changed_since, at=at)
    return Recorded(row["new_ones"], row["settled_ones"])


def _may_settle(
    report: Report,
    sweep_type: str,
    judged: Callable[[Report], bool],
    is_done: Callable[[ids.TaskKey], bool],
) -> bool:
    """Can this sweep tell that a finding does not hold any more?"""
    if sweep_type == model.QUICK:
        return report.sweep_type == model.QUICK
    if report.orphan_type == model.DONE_UNPROVEN and sweep_type != model.DEEP:
        return False
    return is_done(report.key) or judged(report)


def _see(
    sweep_type: str, rows: list[Row], now: str, project: str, transaction: port.Transaction
) -> None:
    [counter] = transaction.rows(_STORE.count_up, name="vacuum_reports", amount=len(rows))
    first = counter["value"] - len(rows) + 1
    transaction.many(
        _SQL.see,
        [
            {
                "id": first + number,
                "sweep_type": model.QUICK if _is_of_store(row) else sweep_type,
                "now": now,
                "source": row.key.source,
                "task_id": row.key.id,
                "orphan_type": row.finding.type,
                "grade": row.finding.grade,
                "percent": row.finding.percent,
                "last_activity": row.last_activity or None,
                "last_session_id": row.last_session_id or None,
                "track": row.track or None,
                "project": project,
                "evidence": json.dumps(row.evidence, sort_keys=True),
            }
            for number, row in enumerate(rows)
        ],
    )


def _is_of_store(row: Row) -> bool:
    """Would a quick sweep have seen it, too?"""
    own = ("claim:", "conflict:")
    return row.finding.type in model.OF_STORE and any(
        p.startswith(own) for p in row.finding.pointers
    )


def _clear(
    chosen: list[Report],
    now: str,
    by: str,
    is_done: Callable[[ids.TaskKey], bool],
    transaction: port.Transaction,
) -> None:
    for report in chosen:
        resolution, who = model.CLEARED, by
        if is_done(report.key):
            resolution = model.COMPLETED
        elif adopter := _adopter(transaction, report):
            resolution, who = model.ADOPTED, adopter
        settled = transaction.rows(
            _SQL.settle, id=report.id, resolution=resolution, now=now, resolved_by=who
        )
        if settled:
            _tell(transaction, report, resolution, who, "")


def _adopter(transaction: port.Transaction, report: Report) -> str:
    """Who took a task up after a finding was last seen, and has it; empty if nobody did."""
    held = claims.open_of(transaction.rows, report.key)
    return held.agent_name if held is not None and held.claimed_at > report.last_seen_at else ""


def settle(
    transaction: port.Transaction, key: ids.TaskKey, resolution: str, now: str, by: str, why: str
) -> list[Report]:
    """Settle every open finding of a task; those that were."""
    named = {"source": key.source, "task_id": key.id}
    rows = transaction.rows(
        _SQL.settle_task, **named, resolution=resolution, now=now, resolved_by=by
    )
    return _settled(transaction, rows, resolution, by, why)


def settle_track(
    transaction: port.Transaction,
    source: str,
    track: str,
    resolution: str,
    now: str,
    by: str,
    why: str,
) -> list[Report]:
    """The same for a whole track."""
    how = {"resolution": resolution, "now": now, "resolved_by": by}
    rows = transaction.rows(_SQL.settle_track, source=source, track=track, **how)
    return _settled(transaction, rows, resolution, by, why)


def settle_all(
    transaction: port.Transaction, resolution: str, now: str, by: str, why: str
) -> list[Report]:
    """The same for everything."""
    how = {"resolution": resolution, "now": now, "resolved_by": by}
    return _settled(transaction, transaction.rows(_SQL.settle_all, **how), resolution, by, why)


def _settled(
    transaction: port.Transaction, rows: list[port.Row], resolution: str, by: str, why: str
) -> list[Report]:
    settled = [_report(row) for row in rows]
    for report in settled:
        _tell(transaction, report, resolution, by, why)
    return settled


def _tell(
    transaction: port.Transaction, report: Report, resolution: str, by: str, why: str
) -> None:
    transaction.event(
        events.ORPHAN_RESOLVED,
        actor=by,
        source=report.source,
        task=report.task_id,
        data={
            "report": report.id,
            "type": report.orphan_type,
            "resolution": resolution,
            "why": why,
        },
    )


def open_ones(store: port.Store) -> list[Report]:
    """Findings that nobody has settled, oldest first."""
    return [_report(row) for row in store.rows(_SQL.open_reports)]


def open_of(store: port.Store, key: ids.TaskKey) -> list[Report]:
    """Those of one task."""
    rows = store.rows(_SQL.open_of_task, source=key.source, task_id=key.id)
    return [_report(row) for row in rows]


def of_task(store: port.Store, key: ids.TaskKey) -> list[Report]:
    """Every finding of a task, settled or not, newest first."""
    return [_report(row) for row in store.rows(_SQL.of_task, source=key.source, task_id=key.id)]


def sweeps(store: port.Store, limit: int) -> list[Sweep]:
    """The newest sweeps, newest first."""
    return [_sweep(row) for row in store.rows(_SQL.sweeps, limit=limit)]


def last_sweep(store: port.Store, sweep_type: str) -> Sweep | None:
    """The newest sweep of a kind, ended or not."""
    rows = store.rows(_SQL.last_sweep, sweep_type=sweep_type)
    return _sweep(rows[0]) if rows else None


def last_finished(store: port.Store, types: Iterable[str], host_id: str = "") -> str:
    """When a sweep of one of these types last came to its end on a machine; empty if never.

    Each machine has transcripts and processes that no other one sees.
    """
    found = [
        store.rows(_SQL.last_finished, sweep_type=each, host_id=host_id)[0]["at"] for each in types
    ]
    return max((at for at in found if at), default="")


def _sweep(row: port.Row) -> Sweep:
    values = {name: row[name] for name in Sweep._fields}
    return Sweep(**{**values, "counts": json.loads(row["counts"])})


def _report(row: port.Row) -> Report:
    values = {name: row[name] for name in Report._fields}
    return Report(**{**values, "evidence": json.loads(row["evidence"])})
