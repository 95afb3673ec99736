"""The log of what happened: its types, how one is written, how they are read.

Append-only. Ids are gapless and in commit order, because the counter is the last thing that a
transaction takes. Types that a newer Tether wrote are kept and shown, never refused.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from tether import clock, errors
from tether.store import port, sql

_SQL = sql.Queries("events")


class EventType(NamedTuple):
    """A kind of event, with the fields that its data has."""

    name: str
    fields: tuple[str, ...]
    meaning: str
    is_chatter: bool = False
    """Chatter is pruned after a while; what tells of tasks, claims, agents and runs is not."""


WORKSPACE_INITIALISED = EventType(
    "workspace_initialised",
    ("workspace_id", "created"),
    "`tether init` set up this repository; `created` lists what it made.",
)

REGISTRY = (WORKSPACE_INITIALISED,)


class Event(NamedTuple):
    """One thing that happened."""

    id: int
    at: str
    type: str
    actor: str
    session: str | None
    source: str | None
    task: str | None
    run: str | None
    data: dict[str, Any]


class Filter(NamedTuple):
    """Which events are wanted; None means all."""

    task: str | None = None
    session: str | None = None


_ALL = Filter()


def after(store: port.Store, event_id: int, limit: int, wanted: Filter = _ALL) -> list[Event]:
    """What came after one event, oldest first."""
    found = store.rows(_SQL.after, after=event_id, limit=limit, **wanted._asdict())
    return [_event(row) for row in found]


def latest(store: port.Store, limit: int, wanted: Filter = _ALL) -> list[Event]:
    """The newest events, oldest of them first."""
    found = store.rows(_SQL.latest, limit=limit, **wanted._asdict())
    return [_event(row) for row in reversed(found)]


def is_readable(row: port.Row) -> bool:
    """Would this row, from an export, be an event again?"""
    try:
        clock.parse(str(row.get("at", "")))
        # SQLite would choose an id where there is none.
        return type(row.get("id")) is int and isinstance(json.loads(row.get("data", "")), dict)
    except (ValueError, TypeError, RecursionError):
        return False


def _event(row: port.Row) -> Event:
    try:
        data = json.loads(row["data"])
        if not isinstance(data, dict):
            raise ValueError("not an object")
        return Event(**{**row, "data": data})
    except (ValueError, TypeError) as problem:
        raise errors.StoreCorrupt(
            f"Event {row['id']} cannot be read: the store's file is damaged."
        ) from problem
