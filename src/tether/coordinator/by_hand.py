"""A run whose coordinator is an agent itself: it gives tasks to its own helpers.

The state, the log, claims and audits are the same as in the loop; only the workers are not
processes of ours, so nobody but the coordinator can say that one is done.
"""

from __future__ import annotations

import time

from tether import errors, host
from tether.coordinator import asking, choosing, crew, judging
from tether.coordinator.settling import Settler

_POLL_SECONDS = 0.1


def assign(
    hands: crew.Crew, task_id: str, process: host.Process | None
) -> crew.Assigned | asking.Asked:
    """Give a task out; what its worker is told, or what a person must be asked first.

    The worker lives as long as the process of its coordinator.
    """
    state = hands.run.state
    position = state.position(task_id)
    if not choosing.is_giving_out(state):
        raise errors.NotAllowed(
            "Nothing is given out now: the run is being compacted or paused. Nothing was changed.",
            hint="`tether run resume --once` goes on.",
        )
    if position != "available" or task_id in state.waiting():
        why = "waits for an answer" if task_id in state.waiting() else f"is {position}"
        raise errors.NotAllowed(
            f"{task_id} {why.replace('_', ' ')}, so it cannot be given out. Nothing was changed.",
            hint="See what is available with `tether run status`.",
        )
    try:
        given = hands.assign(task_id)
        if process is not None and isinstance(given, crew.Assigned):
            hands.introduce(given.agent_id, process, given.place)
        return given
    except crew.Held:
        raise errors.Taken(
            f"Somebody else has {task_id}. Nothing was changed.",
            hint="See who with `tether claims`.",
        ) from None


def finish(settler: Settler, task_id: str) -> bool:
    """A worker says that it is done: run the criteria and the auditor; did it pass?"""
    run = settler.run
    agent_id = run.state.in_progress.get(task_id, "")
    if agent_id:
        settler.settle(agent_id, run.state.active_agents[agent_id], judging.Verdict("done"))
        if run.state.position(task_id) != "pending_audit":
            return False  # what is missing is among its fixes
    if run.state.position(task_id) != "pending_audit":
        raise errors.NotAllowed(
            f"{task_id} is not being worked on, so it cannot be done. Nothing was changed.",
            hint=f"Give it out first, with `tether run assign {task_id}`.",
        )
    _audit(settler, task_id)
    return run.state.position(task_id) == "completed"


def validate(settler: Settler) -> list[str]:
    """Look again at what was completed before the run stopped; what did not pass."""
    state = settler.run.state
    wanted = list(state.pending_validation)
    for task_id in wanted:
        _audit(settler, task_id)
    return [task_id for task_id in wanted if state.position(task_id) != "completed"]


def give_up(settler: Settler, task_id: str, reason: str) -> None:
    """A worker gave up; the task is available again, or a person is asked."""
    agent_id = settler.run.state.in_progress.get(task_id, "")
    if not agent_id:
        raise errors.NotAllowed(f"{task_id} is not being worked on. Nothing was changed.")
    agent = settler.run.state.active_agents[agent_id]
    settler.settle(agent_id, agent, judging.Verdict("failed", reason))


def _audit(settler: Settler, task_id: str) -> None:
    auditor = settler.crew.give_to_auditor(task_id)
    if isinstance(auditor, asking.Asked):
        settler.ask(task_id, auditor)
        return
    if settler.crew.has_audit(task_id):
        _wait(settler, auditor)
    else:
        agent = settler.run.state.active_agents[auditor]
        settler.settle(auditor, agent, judging.Verdict("done"))


def _wait(settler: Settler, agent_id: str) -> None:
    """Wait for an auditor, which its own limits end."""
    run, hands = settler.run, settler.crew
    while agent_id in run.state.active_agents:
        agent = run.state.active_agents[agent_id]
        look, allowed_ms = hands.look(agent_id), hands.allowed_ms(agent)
        verdict = judging.judge(agent, look, run.now(), allowed_ms, hands.limits)
        if verdict.fate == "working":
            time.sleep(_POLL_SECONDS)
        else:
            settler.settle(agent_id, agent, verdict)
