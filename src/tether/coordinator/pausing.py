"""Pausing a run and taking it up again (seed 004)."""

from __future__ import annotations

from collections.abc import Callable

from tether import clock
from tether.coordinator import checkpoints, crew, integrity, recovery
from tether.coordinator.gauges import model as gauges
from tether.coordinator.limits import Limits
from tether.coordinator.settling import Settler
from tether.coordinator.state import SYSTEM_ERROR, USAGE_LIMIT, State
from tether.store import port, run_events


def resumes_at(state: State, limits: Limits) -> str:
    """When a paused run goes on by itself; empty if a person decides. Pure."""
    if state.pause_reason != USAGE_LIMIT:
        return ""
    if not state.resets_at:
        # Nobody knows when: it looks again after as long as it would wait on top.
        return clock.text(clock.parse(state.paused_at) + limits.resume_ms)
    return clock.text(clock.parse(state.resets_at) + limits.resume_ms)


def pause(
    settler: Settler,
    reason: str,
    usage: gauges.Usage | None = None,
    is_over: Callable[[], bool] = lambda: False,
) -> None:
    """Stop giving out work, save how far everybody is, and say so.

    Workers are ended after their checkpoint: one that went on would use up what is left of the
    limit, or change files while a person believes that nothing moves. After an error they go on,
    and whoever resumes takes them over.
    """
    run, hands = settler.run, settler.crew
    if run.state.paused_at:
        return
    if reason != SYSTEM_ERROR:
        run.log(run_events.ASSIGNMENTS_PAUSED, reason=reason)
        checkpoints.collect(hands, hands.limits.checkpoint_wait_ms, is_over)
        for agent_id in list(run.state.active_agents):
            hands.stop(agent_id, at_once=is_over())
        # Nobody works on these now, and nobody is to think that somebody died.
        run.write(lambda transaction: _dismiss_all(transaction, hands))
    run.save("session_pause")
    run.log(
        run_events.SESSION_PAUSE,
        reason=reason,
        remaining_percent=usage.remaining if usage else None,
        resets_at=usage.resets_at if usage else None,
    )
    run.save("session_pause")


def _dismiss_all(transaction: port.Transaction, hands: crew.Crew) -> None:
    for agent_id in hands.run.state.active_agents:
        hands.dismiss(transaction, agent_id)


def resume(settler: Settler) -> list[str]:
    """Take a paused run up again; what is wrong with its state, if anything."""
    run, limits = settler.run, settler.crew.limits
    to_validate = recovery.recent(run.state, limits.recent_ms, again=True)

    def work(transaction: port.Transaction) -> None:
        run.event(
            transaction,
            run_events.SESSION_RESUME,
            resume_count=run.state.session_resume_count + 1,
            tasks_to_revalidate=to_validate,
        )
        recovery.require_validation(transaction, run, to_validate)

    found = integrity.problems(run.state, run.outlook)
    run.write(work)
    for agent_id, agent in list(run.state.active_agents.items()):
        look = settler.crew.look(agent_id)
        if look.state in ("starting", "gone"):
            look = settler.crew.give_up(agent_id)
        if look.state == "gone" or (look.report is not None and look.report.stopped):
            settler.restart(agent_id, agent, "the run was paused")
    run.save("session_resume")
    return found
