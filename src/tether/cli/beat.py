"""`tether beat`: a session says that it is at work."""

from __future__ import annotations

from tether import ids
from tether.agents import model, registry
from tether.cli import answers, context, verbs


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    key = ids.TaskKey.parse(values["task"]) if values["task"] is not None else None
    acting = call.acting(values["session"])
    news = call.news(acting)._replace(progress=values["progress"], key=key)
    beat = registry.beat(call.store, call.spot, acting.session_id, news)
    agent, back = beat.agent, beat
    if call.recovery is not None and call.recovery.agent.session_id == agent.session_id:
        back = call.recovery  # it came back by calling, before this
    value = {
        "session_id": agent.session_id,
        "agent_name": agent.agent_name,
        "status": agent.status,
        "task": agent.key.label if agent.key else None,
        "written": beat.is_written or back.is_written,
        "recovered": back.has_recovered,
        "lost": [key.label for key in back.lost],
        "last_beat_at": agent.last_beat_at,
    }
    return answers.Answer("beat", value, lambda: _line(agent, beat))


def _line(agent: model.Agent, beat: registry.Beat) -> str:
    task = f", on {agent.key.label}" if agent.key else ""
    if not beat.is_written:
        return f"{agent.agent_name} is {agent.status}{task}. Nothing new to write yet."
    return f"{agent.agent_name} is {agent.status}{task}."


VERB = verbs.Verb(
    name="beat",
    help="Say that this session is at work, and on what.",
    notes="Every other call of an agent is a heartbeat too; one is written at most every"
    " agents.beat_seconds (15).",
    options=(
        verbs.Option("--task", "The task that the session works on.", "ID"),
        verbs.Option("--progress", "How far it is, in a few words; kept as its history.", "TEXT"),
        verbs.Option("--session", "Another session than the caller's.", "ID"),
    ),
    run=_run,
)
