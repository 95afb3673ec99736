"""The log of what happened: its types, how one is written, how they are read.

Append-only. Ids are gapless and in commit order, because the counter is the last thing that a
transaction takes. Types that a newer Tether wrote are kept and shown, never refused.
"""

from __future__ import annotations

import json
import operator
import time
from collections.abc import Callable, Iterator

from tether import clock, errors
from tether.hints import Any, NamedTuple
from tether.store import port, sql

_SQL = sql.Queries("events")
_STORE = sql.Queries("store")
_FOLLOW_LIMIT = 500
_POLL_SECONDS = 1.0


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

AGENT_REGISTERED = EventType(
    "agent_registered",
    ("kind", "parent", "pid"),
    "A session began, or one that had ended began again.",
)
AGENT_RECOVERED = EventType(
    "agent_recovered",
    ("stale_since", "lost"),
    "A session that was taken for dead came back; `lost` lists the claims that it had.",
)
AGENT_ENDED = EventType(
    "agent_ended",
    ("released",),
    "A session said that it is over; `released` lists the claims that it still had.",
)
AGENT_STALE = EventType(
    "agent_stale",
    ("agent", "pid", "last_seen_at", "verdict", "reason"),
    "A sweep found that a session is over; `verdict` is dead (certain) or expired.",
)
STALE_LOCKS_RELEASED = EventType(
    "stale_locks_released",
    ("agent", "released"),
    "The claims of such a session, which others may take now.",
)
HEARTBEAT_RECEIVED = EventType(
    "heartbeat_received",
    ("progress",),
    "A session told what it is doing.",
    is_chatter=True,
)
CLAIM_TAKEN = EventType(
    "claim_taken",
    ("epoch", "paths", "head"),
    "A session took a task; `paths` are those that it reserved, `head` what was checked out.",
)
CLAIM_ADOPTED = EventType(
    "claim_adopted",
    ("epoch", "paths", "head", "from_session", "from_agent", "reason"),
    "A session took a task over from another one, because of `reason`.",
)
CLAIM_REFUSED = EventType(
    "claim_refused",
    ("holder_session", "holder", "epoch"),
    "A session asked for a task that another one has.",
    is_chatter=True,
)
CLAIM_CLOSED = EventType(
    "claim_closed",
    ("epoch", "outcome", "by"),
    "A claim ended: its holder let go, or the session `by` took it; a sweep has no session.",
)
CONFLICT_RAISED = EventType(
    "conflict_raised",
    ("conflict", "kind", "other_session", "other_task", "detail"),
    "Two sessions are in each other's way: on the same paths, or on the same task.",
)
CONFLICT_RESOLVED = EventType(
    "conflict_resolved",
    ("conflict", "resolution"),
    "The task of a conflict is finished, or one of the two let go.",
)
MESSAGE_SENT = EventType(
    "message_sent",
    ("message", "type", "to", "priority"),
    "Somebody wrote to a session, to an agent or to all.",
)

TASK_MOVED = EventType(
    "task_moved",
    ("verb", "from", "to", "branch", "why"),
    "A verb moved a task's file in a checkout from one state to another.",
)
TASK_EDITED = EventType(
    "task_edited",
    ("fields", "branch"),
    "Fields of a task's file were changed, or something was noted there.",
)
HANDOFF_LEFT = EventType(
    "handoff_left",
    ("note",),
    "Somebody left a note for whoever takes up a task next.",
)
VACUUM_SWEPT = EventType(
    "vacuum_swept",
    ("sweep_type", "counts", "new", "settled"),
    "A sweep looked for orphans; `counts` says how many tasks there are of each kind.",
)
ORPHAN_RESOLVED = EventType(
    "orphan_resolved",
    ("report", "type", "resolution", "why"),
    "A finding was settled: adopted, completed, deferred, cancelled, or cleared as it ended.",
)
WORK_DEFERRED = EventType(
    "work_deferred",
    ("scope", "name", "until", "why"),
    "Somebody decided that a task, a track or the project has time.",
)
DEFERRAL_ENDED = EventType(
    "deferral_ended",
    ("scope", "name", "why"),
    "A deferral has ended: its day came, it was touched, or somebody said so.",
)

REGISTRY = (
    WORKSPACE_INITIALISED,
    AGENT_REGISTERED,
    AGENT_RECOVERED,
    AGENT_ENDED,
    AGENT_STALE,
    STALE_LOCKS_RELEASED,
    HEARTBEAT_RECEIVED,
    CLAIM_TAKEN,
    CLAIM_ADOPTED,
    CLAIM_REFUSED,
    CLAIM_CLOSED,
    CONFLICT_RAISED,
    CONFLICT_RESOLVED,
    MESSAGE_SENT,
    TASK_MOVED,
    TASK_EDITED,
    HANDOFF_LEFT,
    VACUUM_SWEPT,
    ORPHAN_RESOLVED,
    WORK_DEFERRED,
    DEFERRAL_ENDED,
)


def all_types() -> tuple[EventType, ...]:
    """Every type there is; those of runs are many, and hot commands do without them."""
    from tether.store import run_events

    return (*REGISTRY, *run_events.TYPES)


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
    source: str | None = None
    run: str | None = None


_ALL = Filter()


def after(store: port.Store, event_id: int, limit: int, wanted: Filter = _ALL) -> list[Event]:
    """What came after one event, oldest first."""
    found = store.rows(_SQL.after, after=event_id, limit=limit, **wanted._asdict())
    return [_event(row) for row in found]


def latest(store: port.Store, limit: int, wanted: Filter = _ALL) -> list[Event]:
    """The newest events, oldest of them first."""
    found = store.rows(_SQL.latest, limit=limit, **wanted._asdict())
    return [_event(row) for row in reversed(found)]


def of_run(store: port.Store, run: str, event_id: int, limit: int = 1_000_000) -> list[Event]:
    """What a run did after an event, oldest first."""
    # Without a snapshot that is all of it; this room's callers have loaded what is quicker.
    import msgspec

    quick = msgspec.json.Decoder().decode

    def decode(raw: str) -> Any:
        try:
            return quick(raw)
        except msgspec.DecodeError:
            return _decode(raw)  # it takes more: half characters, numbers that are none

    found = store.rows(_SQL.of_run, run=run, after=event_id, limit=limit)
    return [_event(row, decode) for row in found]


def runs(store: port.Store) -> list[str]:
    """The runs that the log tells of; the one that did something last comes last."""
    return [row["run"] for row in store.rows(_SQL.runs)]


def ended_runs(store: port.Store) -> set[str]:
    """The runs that have come to their end, and were not taken up again."""
    last = {row["run"]: row["type"] for row in store.rows(_SQL.endings)}
    return {run for run, kind in last.items() if kind != "session_resume"}


def newest_id(store: port.Store) -> int:
    """The id of the last event that was ever written here."""
    [counted] = store.rows(_STORE.counted, name="events")
    return int(counted["value"])


def follow(
    store: port.Store,
    event_id: int,
    wanted: Filter = _ALL,
    pause: Callable[[float], object] = time.sleep,
) -> Iterator[list[Event]]:
    """What comes after one event, for ever: ids are in commit order, so none can come late."""
    while True:
        # Asked first: what is not wanted up to there need not be looked at again.
        newest = newest_id(store)
        found = after(store, event_id, _FOLLOW_LIMIT, wanted)
        if found:
            event_id = found[-1].id
            yield found
        if len(found) < _FOLLOW_LIMIT:
            event_id = max(event_id, newest)
            pause(_POLL_SECONDS)


def last_of(
    rows: Callable[..., list[port.Row]], kind: EventType, session: str, source: str, task: str
) -> Event | None:
    """The newest event of one kind that tells of this session and this task."""
    found = rows(_SQL.last_of, type=kind.name, session=session, source=source, task=task)
    return _event(found[0]) if found else None


def prune(transaction: port.Transaction, before_ms: int, limit: int) -> int:
    """Forget chatter older than this, oldest first, at most `limit` of each type; how many."""
    return sum(
        len(transaction.rows(_SQL.prune, type=kind.name, since_ms=-before_ms, limit=limit))
        for kind in REGISTRY
        if kind.is_chatter
    )


def is_readable(row: port.Row) -> bool:
    """Would this row, from an export, be an event again?"""
    try:
        clock.parse(str(row.get("at", "")))
        # SQLite would choose an id where there is none.
        return type(row.get("id")) is int and isinstance(json.loads(row.get("data", "")), dict)
    except (ValueError, TypeError, RecursionError):
        return False


_columns = operator.itemgetter("id", "at", "type", "actor", "session", "source", "task", "run")
_decode = json.JSONDecoder().decode


def _event(row: port.Row, decode: Callable[[str], Any] = _decode) -> Event:
    try:
        data = decode(row["data"])
        if not isinstance(data, dict):
            raise ValueError("not an object")
        return Event._make((*_columns(row), data))
    except (ValueError, TypeError) as problem:
        raise errors.StoreCorrupt(
            f"Event {row['id']} cannot be read: the store's file is damaged."
        ) from problem
