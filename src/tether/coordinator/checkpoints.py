"""Collecting how far workers have come: from what they say, beat by beat, or leave in a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from tether import clock, redaction, text
from tether.agents import claims, messages, roll
from tether.coordinator import crew, runs
from tether.coordinator.state import DEVELOPER, ActiveAgent
from tether.store import port, run_events

_MAX_CHARS = 8000
_PAUSE_SECONDS = 0.2


def checked(said: str) -> str:
    """A checkpoint as it is kept: without secrets, and not endless."""
    return text.storable(redaction.redact(said.strip()))[:_MAX_CHARS]


def note(run: runs.Run, task_id: str, agent_id: str, said: str, status: str = "") -> None:
    """Write down how far somebody has come."""
    run.log(
        run_events.DEVELOPER_CHECKPOINT,
        task_id=task_id,
        agent_id=agent_id,
        status=status or "implementing",
        checkpoint=checked(said),
    )


def gather(hands: crew.Crew) -> int:
    """Write down what workers have left since it was last looked for; how many did."""
    found = 0
    for agent_id, agent in _developers(hands.run):
        said = _news(hands, agent_id, agent)
        if said:
            note(hands.run, agent.task_id, agent_id, said)
            found += 1
    return found


def _news(hands: crew.Crew, agent_id: str, agent: ActiveAgent) -> str:
    """What a worker said in its file or with a beat, if the log does not have it yet."""
    known = hands.run.state.checkpoints.get(agent.task_id)
    is_of_this_agent = bool(agent.last_checkpoint_time)
    left = hands.checkpoint_left(agent_id)
    held = claims.open_of(hands.run.store.rows, hands.run.key(agent.task_id))
    said = [left] if left else []
    if held is not None and held.session_id == agent_id and held.checkpoint:
        said.append((held.checkpoint, clock.parse(held.checkpoint_at or held.claimed_at)))
    if not said:
        return ""
    newest = checked(max(said, key=lambda each: each[1])[0])
    is_known = is_of_this_agent and known is not None and known.text == newest
    return "" if is_known else newest


def collect(
    hands: crew.Crew,
    wait_ms: int,
    is_over: Callable[[], bool] = lambda: False,
) -> int:
    """Ask every worker for a checkpoint and wait for them, but no longer than that; how many came.

    A worker that ends meanwhile, or says nothing, is not waited for any longer than the others.
    """
    asked = _developers(hands.run)
    if not asked:
        return 0
    hands.run.write(lambda transaction: _request(transaction, hands, asked))
    before = {key: agent.checkpoint_count for key, agent in _developers(hands.run)}
    deadline = time.monotonic() + wait_ms / 1000
    while True:
        gather(hands)
        hands.run.catch_up()
        waiting = [key for key in before if _is_awaited(hands, key, before[key])]
        if not waiting or time.monotonic() >= deadline or is_over():
            return len(before) - len(waiting)
        time.sleep(_PAUSE_SECONDS)


def _is_awaited(hands: crew.Crew, agent_id: str, count: int) -> bool:
    agent = hands.run.state.active_agents.get(agent_id)
    if agent is None or agent.checkpoint_count > count:
        return False
    return hands.look(agent_id).state in ("running", "starting")


def _request(
    transaction: port.Transaction, hands: crew.Crew, asked: Iterable[tuple[str, ActiveAgent]]
) -> None:
    for agent_id, agent in asked:
        hands.run.event(
            transaction, run_events.CHECKPOINT_REQUESTED, task_id=agent.task_id, agent_id=agent_id
        )
        known = roll.get(transaction.rows, agent_id)
        if known is not None and known.is_here:
            draft = messages.Draft(
                "Leave a checkpoint now: `tether run checkpoint` with what is done and left.",
                "checkpoint_requested",
                messages.HIGH,
            )
            to = messages.To(session=agent_id)
            messages.post(transaction, hands.run.actor, hands.run.session_id or None, to, draft)


def _developers(run: runs.Run) -> list[tuple[str, ActiveAgent]]:
    return [(k, a) for k, a in run.state.active_agents.items() if a.type == DEVELOPER]
