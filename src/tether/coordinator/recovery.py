"""Taking a run over from a coordinator that is gone: the six steps of seed 004.

What it decides is written in one transaction, so a recovery that is killed inside has happened or
has not, and a second one finds nothing left to do.
"""

from __future__ import annotations

from collections.abc import Iterable

from tether import clock
from tether.coordinator import integrity, runs
from tether.coordinator.outputs import Recovery
from tether.coordinator.settling import Settler
from tether.coordinator.state import ActiveAgent, State
from tether.store import events, port, run_events

# What a recovery writes itself is not reconciled by the next one.
_OWN = frozenset(
    each.name
    for each in (
        run_events.COORDINATOR_RECOVERED,
        run_events.ORPHAN_AGENT_DETECTED,
        run_events.STATE_RECONCILED,
        run_events.TASK_REVERIFICATION_REQUIRED,
        run_events.ASSIGNMENTS_RESUMED,
        run_events.EVENT_LOG_RECONSTRUCTED,
        run_events.STATE_CHECKPOINT,
    )
)
_RECOVERED = run_events.COORDINATOR_RECOVERED.name
# Without a snapshot everything is reconciled, and telling of each event would double the log.
_MAX_TOLD = 100


def recent(state: State, window_ms: int, *, again: bool) -> list[str]:
    """What was completed so shortly before the run stopped that it should be looked at again. Pure.

    Measured from the last event: after that nothing was completed. Unless `again`, what has passed
    once more since it was completed is left alone, so that one crash after another cannot keep a
    run from getting on.
    """
    if not state.last_event_at:
        return []
    since = clock.parse(state.last_event_at) - window_ms
    return [
        task_id
        for task_id, each in state.completed.items()
        if clock.parse(each.completed_at) >= since
        and (again or not each.validated_at)
        and task_id not in state.pending_validation
    ]


def recover(settler: Settler, *, takes_over: bool) -> Recovery:
    """Recover a run that was opened; its lock is held.

    `takes_over` says that whoever calls goes on to coordinate, which the log is told in any case.
    """
    run, crew = settler.run, settler.crew
    # Step 1 and 2, loading and reconciling, were done by opening it.
    told = _untold(run.reconciled)
    active = list(run.state.active_agents.items())
    orphaned = [(key, agent) for key, agent in active if _is_orphaned(settler, key)]
    gone = {key for key, _ in orphaned}
    to_validate = recent(run.state, crew.limits.recent_ms, again=False)
    is_repeat = not (told or orphaned or to_validate or _is_held_up(run.state))
    if takes_over or not is_repeat:
        run.write(lambda transaction: _write(transaction, settler, orphaned, to_validate, told))
    run.save("recovery")
    return Recovery(
        run.state_file,
        run.loaded.saved_at,
        len(told),
        tuple((agent_id, agent.task_id, agent.type) for agent_id, agent in orphaned),
        tuple(to_validate),
        tuple(key for key, _ in active if key not in gone),
        run.loaded.set_aside,
        tuple(integrity.contradictions(run.state, run.outlook, crew.git, run.place.root)),
        is_repeat,
    )


def _untold(reconciled: list[events.Event]) -> list[events.Event]:
    """What the snapshot lacked, but for what a recovery that was killed after its commit told."""
    marks = [n for n, e in enumerate(reconciled, 1) if e.type == _RECOVERED]
    return [event for event in reconciled[max(marks, default=0) :] if event.type not in _OWN]


def _is_held_up(state: State) -> bool:
    """Did whoever is gone die while it paused the run? A compaction is somebody else's to end."""
    return bool(state.assignments_paused_at) and not state.is_compacting


def _is_orphaned(settler: Settler, agent_id: str) -> bool:
    """By its process and by the log together: no result, and nobody left to bring one."""
    look = settler.crew.look(agent_id)
    # One that has not begun: its coordinator died before it started it, or right after.
    if look.state in ("starting", "gone"):
        look = settler.crew.give_up(agent_id)
    return look.state == "gone"


def _write(
    transaction: port.Transaction,
    settler: Settler,
    orphaned: Iterable[tuple[str, ActiveAgent]],
    to_validate: Iterable[str],
    told: list[events.Event],
) -> None:
    run = settler.run
    gone = list(orphaned)
    for agent_id, agent in gone:
        settler.put_back(transaction, agent_id, agent)
    for event in told[:_MAX_TOLD]:
        task_id = event.data.get("task_id") or event.task
        run.event(transaction, run_events.STATE_RECONCILED, event_type=event.type, task_id=task_id)
    require_validation(transaction, run, to_validate)
    if _is_held_up(run.state):
        reason = "whoever paused them is gone"
        run.event(transaction, run_events.ASSIGNMENTS_RESUMED, reason=reason)
    run.event(
        transaction,
        run_events.COORDINATOR_RECOVERED,
        orphaned_agents=len(gone),
        events_reconciled=len(told),
    )


def require_validation(
    transaction: port.Transaction, run: runs.Run, task_ids: Iterable[str]
) -> None:
    """Say that completed tasks are to be looked at again."""
    now_ms = clock.parse(run.now())
    for task_id in task_ids:
        completed_at = run.state.completed[task_id].completed_at
        run.event(
            transaction,
            run_events.TASK_REVERIFICATION_REQUIRED,
            task_id=task_id,
            completed_at=completed_at,
            time_since_completion_minutes=max(0, now_ms - clock.parse(completed_at)) // 60_000,
        )
