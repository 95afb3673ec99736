"""Before and after the coordinator's own context is compacted (seed 004).

Persisting and resuming are two calls, because between them lies the agent's `/compact`, which only
the agent can run. Both may be repeated.
"""

from __future__ import annotations

from typing import NamedTuple

from tether import errors
from tether.coordinator import checkpoints, crew, integrity, runs
from tether.coordinator.gauges import model as gauges
from tether.coordinator.limits import Limits
from tether.coordinator.state import State
from tether.store import run_events


class Reloaded(NamedTuple):
    """What the coordinator has again after a compaction."""

    number: int
    is_full: bool
    verified: int
    """Completed tasks that the plan knows."""
    problems: tuple[str, ...]


def is_full_reload(compaction_count: int, every: int) -> bool:
    """Is this one after which the whole plan is read again?"""
    return compaction_count % every == 0


def is_needed(context: gauges.Context | None, state: State, limits: Limits) -> bool:
    """Is little context left? What was measured before the last compaction says nothing. Pure."""
    return (
        context is not None
        and gauges.is_low(context.remaining, limits.context_percent)
        and (context.at is None or context.at > state.compacted_at)
    )


def persist(hands: crew.Crew, context_remaining: float | None) -> State:
    """Save everything before the context goes: nothing new is given out from here on."""
    run = hands.run
    if not run.state.is_compacting:
        run.log(run_events.ASSIGNMENTS_PAUSED, reason="compaction")
        # Helpers of the agent that calls cannot answer while it waits for this.
        wait_ms = hands.limits.checkpoint_wait_ms if hands.options.worker else 0
        checkpoints.collect(hands, wait_ms)
        run.log(
            run_events.COMPACTION_START,
            compaction_number=run.state.compaction_count + 1,
            context_remaining=context_remaining,
        )
    _save_if_alone(run)
    return run.state


def resume(run: runs.Run, limits: Limits) -> Reloaded:
    """Find everything again, and go on."""
    state = run.state
    if not state.is_compacting:
        raise errors.NotAllowed(
            "No compaction of this run has begun. Nothing was changed.",
            hint="`tether run status` shows where it is; `tether run compact` begins one.",
        )
    number = state.compaction_count
    is_full = is_full_reload(number, limits.reload_compactions)
    found: tuple[str, ...] = ()
    if is_full:
        run.forget_plan()
        found = tuple(integrity.problems(state, run.outlook))
    run.log(run_events.COMPACTION_COMPLETE, compaction_number=number, full_reload=is_full)
    _save_if_alone(run)
    return Reloaded(number, is_full, integrity.verified(run.state, run.outlook), found)


def _save_if_alone(run: runs.Run) -> None:
    """Save the snapshot, unless a coordinator is at work: then it does, with what we wrote."""
    lock = run.lock()
    try:
        lock.acquire()
    except errors.LockBusy:
        return
    try:
        run.save("compaction")
    finally:
        lock.release()
