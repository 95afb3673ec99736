"""What a run says at its turning points, as seed 004 words it. Pure."""

from __future__ import annotations

from typing import NamedTuple

from tether.coordinator.state import SYSTEM_ERROR, USAGE_LIMIT, USER_STOP, State

_REASONS = {
    USAGE_LIMIT: "Usage limit",
    USER_STOP: "User stop",
    SYSTEM_ERROR: "System error",
}


class Recovery(NamedTuple):
    """What a recovery found and did."""

    state_file: str
    saved_at: str
    events_reconciled: int
    orphaned: tuple[tuple[str, str, str], ...]
    """Agent, task and type of each."""
    to_validate: tuple[str, ...]
    taken_over: tuple[str, ...]
    """Agents that are still at work, or whose result was found."""
    set_aside: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()
    is_repeat: bool = False
    """There was nothing to recover."""


def before_compaction(state: State, percent: float, state_file: str) -> str:
    return (
        f"AUTO-COMPACTION #{state.compaction_count} - Context at {round(percent, 1):g}%\n\n"
        f"State persisted to: {state_file}"
    )


def after_compaction(state: State, *, full_reload: bool) -> str:
    number = state.compaction_count
    counts = [
        f"Completed: {_progress(state)} tasks",
        f"Restoring: {len(state.in_progress)} in-progress tasks",
        f"Pending audit: {len(state.pending_audit)} tasks",
    ]
    if not full_reload:
        return "\n".join([f"RESUMED - Compaction #{number} complete", "", *counts])
    return "\n".join(
        [
            f"RESUMED - Compaction #{number} complete (full plan reload)",
            "",
            f"Plan reloaded: {state.plan_file}",
            f"Total tasks: {state.total_tasks}",
            *counts,
            f"Blocked graph rebuilt: {_relationships(state)} relationships",
        ]
    )


def plan_reload(state: State, verified: int) -> str:
    return "\n".join(
        [
            f"FULL PLAN RELOAD - Compaction #{state.compaction_count}",
            "",
            f"Plan: {state.plan_file}",
            f"Total tasks: {state.total_tasks}",
            f"Completed: {verified} (verified against plan)",
            f"Remaining: {state.total_tasks - verified}",
            f"Blocked graph rebuilt: {_relationships(state)} blocking relationships",
        ]
    )


def paused(state: State, state_file: str, resumes_at: str) -> str:
    usage = state.usage
    known = usage.session_remaining
    remaining = "unknown" if known is None else f"{known:g}%"
    lines = [
        f"SESSION PAUSED - {_REASONS.get(state.pause_reason, state.pause_reason)}",
        "",
        f"State persisted to: {state_file}",
        f"Progress: {_progress(state)} tasks complete",
        f"In progress: {len(state.in_progress)} tasks",
        f"Pending audit: {len(state.pending_audit)} tasks",
        f"Compactions this session: {state.compaction_count}",
        "",
        f"Session remaining: {remaining}",
        f"Session resets at: {state.resets_at or 'unknown'}",
    ]
    if resumes_at:
        lines.append(f"Auto-resuming at: {resumes_at}")
    else:
        lines.append("To go on: tether run resume")
    return "\n".join(lines)


def resumed(state: State) -> str:
    if state.pause_reason == USAGE_LIMIT:
        return "SESSION RESUMED - Reset complete"
    return "SESSION RESUMED"


def recovered(found: Recovery, state: State) -> str:
    lines = [
        "COORDINATOR RECOVERY",
        "",
        f"Prior state found: {found.state_file}",
        f"Saved at: {found.saved_at or 'never: rebuilt from the events and the plan'}",
        *(f"Set aside: {name}" for name in found.set_aside),
        f"Events to reconcile: {found.events_reconciled}",
        f"Orphaned agents: {len(found.orphaned)}",
        *(f"  {agent} ({kind}) had {task}" for agent, task, kind in found.orphaned),
        f"Taken over: {len(found.taken_over)}",
        f"Recent completions to validate: {len(found.to_validate)}",
        *(f"Contradiction: {each}" for each in found.contradictions),
        "",
        "Recovery complete. Resuming normal operation.",
        "",
        f"Progress: {_progress(state)} tasks complete",
        f"Available: {len(state.available)} tasks",
        f"Blocked: {len(state.blocked)} tasks",
    ]
    return "\n".join(lines)


def _progress(state: State) -> str:
    return f"{len(state.completed)}/{state.total_tasks}"


def _relationships(state: State) -> int:
    return sum(len(each) for each in state.blocked.values())
