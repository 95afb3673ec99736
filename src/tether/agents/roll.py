"""Reading the registry: one session, all that are here, those of a name, a family."""

from __future__ import annotations

from collections.abc import Callable

from tether import errors
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
            hint="Begin it with `tether agent register`; `tether agent list --all` shows all.",
        )
    return agent


def by_name(rows: Rows, agent_name: str) -> list[model.Agent]:
    """The sessions of an agent, newest first."""
    return [model.agent(row) for row in rows(_SQL.by_name, agent_name=agent_name)]


def here(rows: Rows, *, everyone: bool = False) -> list[model.Agent]:
    """Who is active or idle, or has ever been here; the last seen first."""
    return [model.agent(row) for row in rows(_SQL.here, everyone=int(everyone))]


def family(rows: Rows, session_id: str) -> list[model.Agent]:
    """A session, its parents and everybody below them, in the order in which they came."""
    return [model.agent(row) for row in rows(_SQL.family, session_id=session_id)]


def progress(rows: Rows, session_id: str, limit: int) -> list[port.Row]:
    """What a session told of its work, oldest of the newest first."""
    return rows(_SQL.progress, session_id=session_id, limit=limit)[::-1]
