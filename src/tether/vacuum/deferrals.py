"""What somebody put off, in the store."""

from __future__ import annotations

from collections.abc import Mapping

from tether import ids
from tether.hints import TYPE_CHECKING
from tether.store import events, port, sql
from tether.vacuum import deferring, model, quick, reports

if TYPE_CHECKING:
    from tether.vacuum import subjects

_SQL = sql.Queries("vacuum")
_STORE = sql.Queries("store")


def put_off(
    transaction: port.Transaction,
    wanted: model.Deferral,
    session: str | None = None,
) -> list[reports.Report]:
    """Let a task, a track or the project have time; the findings that are settled by it."""
    [counter] = transaction.rows(_STORE.count_up, name="deferrals", amount=1)
    named = {"scope": wanted.scope, "source": wanted.source, "name": wanted.name}
    transaction.rows(
        _SQL.put_off,
        id=counter["value"],
        **named,
        now=wanted.deferred_at,
        deferred_by=wanted.deferred_by,
        until=wanted.until or None,
        why=wanted.why,
    )
    is_task = wanted.scope == deferring.TASK
    transaction.event(
        events.WORK_DEFERRED,
        actor=wanted.deferred_by,
        session=session,
        source=wanted.source if is_task else None,
        task=wanted.name if is_task else None,
        data={
            "scope": wanted.scope,
            "name": wanted.name,
            "until": wanted.until or None,
            "why": wanted.why,
        },
    )
    how = (model.DEFERRED, wanted.deferred_at, wanted.deferred_by, wanted.why)
    if is_task:
        return reports.settle(transaction, ids.TaskKey(wanted.source, wanted.name), *how)
    if wanted.scope == deferring.TRACK:
        return reports.settle_track(transaction, wanted.source, wanted.name, *how)
    return reports.settle_all(transaction, *how)


def end(
    transaction: port.Transaction, deferral: model.Deferral, now: str, by: str, why: str
) -> bool:
    """Say that a deferral has ended; False if there was none."""
    named = {"scope": deferral.scope, "source": deferral.source, "name": deferral.name}
    if not transaction.rows(_SQL.end_deferral, **named, now=now, why=why):
        return False
    is_task = deferral.scope == deferring.TASK
    transaction.event(
        events.DEFERRAL_ENDED,
        actor=by,
        source=deferral.source if is_task else None,
        task=deferral.name if is_task else None,
        data={"scope": deferral.scope, "name": deferral.name, "why": why},
    )
    return True


def end_over(
    store: port.Store,
    known: subjects.Subjects,
    touched: Mapping[ids.TaskKey, str],
    now: str,
    by: str,
) -> int:
    """End what is over: its day came, or somebody touched it; how many that were."""
    over = []
    for deferral in quick.deferrals(store):
        last = max(
            (
                touched.get(key, "")
                for key, subject in known.tasks.items()
                if deferring.covers(deferral, subject)
            ),
            default="",
        )
        if why := deferring.why_ended(deferral, last, now):
            over.append((deferral, why))
    if not over:
        return 0

    def work(transaction: port.Transaction) -> int:
        return sum(end(transaction, each, now, by, why) for each, why in over)

    return store.write("vacuum", work)
