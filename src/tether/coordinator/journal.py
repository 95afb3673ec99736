"""WORKFLOW_LOG.md of a run: what a person reads to see where it stands, written each cycle."""

from __future__ import annotations

from tether import clock, files, text
from tether.coordinator import judging
from tether.coordinator.limits import Limits
from tether.coordinator.state import DEVELOPER, State

NAME = "WORKFLOW_LOG.md"
_MAX_LINES = 200


def stalled(state: State, now: str, limits: Limits) -> list[tuple[str, str, int]]:
    """Workers that have missed a checkpoint: task, agent, and how many. Pure."""
    found = []
    for agent_id, agent in state.active_agents.items():
        missed = judging.missed_checkpoints(agent, now, limits)
        if agent.type == DEVELOPER and missed:
            found.append((agent.task_id, agent_id, missed))
    return found


def page(state: State, now: str, limits: Limits, lines: list[str]) -> str:
    """The log as Markdown. Pure."""
    counts = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in state.counts().items() if n)
    progress = f"{len(state.completed)} of {state.total_tasks} tasks are completed"
    parts = [
        f"# Run {state.run}",
        f"{progress} ({counts or 'no tasks'}). Written {now}.",
        _section("In progress", [_working(state, t, a, now) for t, a in state.in_progress.items()]),
        _section(
            "Stalled",
            [f"{task}: {agent} missed {n}" for task, agent, n in stalled(state, now, limits)],
        ),
        _section(
            "Waiting for a person",
            [f"{q.id} ({q.task_id}): {text.one_line(q.question)}" for q in state.open_questions],
        ),
        _section("Failed", [f"{task}: {why}" for task, why in state.failed.items()]),
        _section("Log", lines[-_MAX_LINES:]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def write(root: files.Root, content: str) -> None:
    root.write_atomic(NAME, content.encode("utf-8", "replace"))


def _section(title: str, lines: list[str]) -> str:
    return f"## {title}\n\n" + "\n".join(f"- {each}" for each in lines) if lines else ""


def _working(state: State, task_id: str, agent_id: str, now: str) -> str:
    agent = state.active_agents.get(agent_id)
    minutes = (clock.parse(now) - clock.parse(agent.dispatched_at)) // 60_000 if agent else 0
    said = state.checkpoints.get(task_id)
    last = f": {text.one_line(said.text, 200)}" if said else ""
    return f"{task_id}, {agent_id}, {minutes} min{last}"
