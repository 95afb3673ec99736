"""Reading the registry: one session, all that are here, those of a name, a family."""

from __future__ import annotations

import json
from collections.abc import Callable

from tether import errors, ids
from tether.agents import model
from tether.store import port, sql

_SQL = sql.Queries("agents")

Rows = Callable[..., list[port.Row]]
"""`store.rows`, or `transaction.rows` for what must hold until it commits."""


def get(rows: Rows, session_id: str) -> model.Agent | None:
    found = rows(_SQL.get, session_id=session_id)
    return model.agent(found[0]) if found else None


def require(rows: Rows, session_id: str) -> model.Agent:
    agent = get(rows, session_id)
    if agent is None:
        raise errors.NotFound(
            "There is no such session. Nothing was changed.",
            hint="See who was here with `tether agent list --all`.",
        )
    return agent


def find(rows: Rows, who: str) -> model.Agent:
    """A session by its id, or by a name that only one session here has."""
    known = get(rows, ids.SessionId(who))
    if known is not None:
        return known
    named = by_name(rows, who)
    here_now = [each for each in named if each.is_here] or named
    if len(here_now) > 1:
        sessions = ", ".join(each.session_id for each in here_now[:5])
        raise errors.UsageError(
            f"{len(here_now)} sessions have this name: {sessions}. Nothing was changed.",
            hint="Name one of them.",
        )
    return here_now[0] if here_now else require(rows, who)


def is_below(rows: Rows, agent: model.Agent, session_id: str) -> bool:
    """Was this agent started by that session, or by one that it started?"""
    seen: set[str] = set()
    parent = agent.parent_id
    while parent is not None and parent not in seen:
        if parent == session_id:
            return True
        seen.add(parent)
        above = get(rows, parent)
        parent = above.parent_id if above else None
    return False


def by_name(rows: Rows, agent_name: str) -> list[model.Agent]:
    """The sessions of an agent, newest first."""
    return [model.agent(row) for row in rows(_SQL.by_name, agent_name=agent_name)]


def here(rows: Rows, *, everyone: bool = False) -> list[model.Agent]:
    """Who is active or idle, or has ever been here; the last seen first."""
    return [model.agent(row) for row in rows(_SQL.here, everyone=int(everyone))]


def retired(rows: Rows, session_id: str) -> tuple[str, str]:
    """The verdict and the reason of the sweep that retired a session."""
    found = rows(_SQL.retired, session_id=session_id)
    if not found:
        return "expired", "a sweep found it gone"
    data = json.loads(found[0]["data"])
    return str(data.get("verdict", "expired")), str(data.get("reason", ""))


def family(rows: Rows, session_id: str) -> list[model.Agent]:
    """A session, its parents and everybody below them, in the order in which they came."""
    return [model.agent(row) for row in rows(_SQL.family, session_id=session_id)]


def progress(rows: Rows, session_id: str, limit: int) -> list[port.Row]:
    """What a session told of its work, oldest of the newest first."""
    return rows(_SQL.progress, session_id=session_id, limit=limit)[::-1]
