"""`tether beat`: a session says that it is at work."""

from __future__ import annotations

from tether import errors, ids
from tether.agents import model, registry
from tether.cli import answers, context, verbs


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    word = values["task"]
    asked = ids.TaskKey.parse(word) if word is not None else None
    acting = call.acting(values["session"])
    key = _meant(call, acting, asked) if asked is not None and ":" not in word else asked
    news = call.news(acting)._replace(progress=values["progress"], key=key)
    beat = registry.beat(call.store, call.spot, acting.session_id, news)
    agent, back = beat.agent, beat
    if call.recovery is not None and call.recovery.agent.session_id == agent.session_id:
        back = call.recovery  # it came back by calling, before this
    held = _held_by_other(call, agent)
    value = {
        "session_id": agent.session_id,
        "agent_name": agent.agent_name,
        "status": agent.status,
        "task": agent.key.label if agent.key else None,
        "written": beat.is_written or back.is_written,
        "recovered": back.has_recovered,
        "lost": [key.label for key in back.lost],
        "held_by": held.agent_name if held else None,
        "last_beat_at": agent.last_beat_at,
    }
    return answers.Answer("beat", value, lambda: _line(agent, held))


def _meant(call: context.Context, acting: model.Agent, asked: ids.TaskKey) -> ids.TaskKey:
    """The task that a bare id means: one that the session has, or that is found like any other.

    Who only says what it works on is not refused: a name that nobody knows stays one.
    """
    from tether.agents import claims

    mine = [c.key for c in claims.open_ones(call.store.rows, acting.session_id)]
    held = [key for key in mine if key.id == asked.id]
    if len(held) == 1:
        return held[0]
    from tether.cli.task import shown

    try:
        return shown.key_of(call, asked.id)
    except (errors.NotFound, errors.UsageError):
        return asked


def _held_by_other(call: context.Context, agent: model.Agent) -> model.Claim | None:
    """The claim of somebody else on the task that this session works on."""
    if agent.key is None:
        return None
    from tether.agents import claims

    held = claims.open_of(call.store.rows, agent.key)
    return held if held is not None and held.session_id != agent.session_id else None


def _line(agent: model.Agent, held: model.Claim | None) -> str:
    task = f", on {agent.key.label}" if agent.key else ""
    line = f"{agent.agent_name} is {agent.status}{task}."
    if held is not None:
        line += (
            f"\n{held.key.label} is held by {held.agent_name}; you both have a message about it."
        )
    return line


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
