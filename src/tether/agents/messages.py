"""What agents and people tell each other: to one session, to an agent by name, or to all.

A message is pending until it was put before its reader (delivered) and until the reader asked for
it (read). A time to live takes it out of the inbox, never out of the log. A message to a name is
read once one session of that name has read it; a broadcast is read by each for itself, and those
who come later do not get it.
"""

from __future__ import annotations

from collections.abc import Iterable

from tether import errors, ids, redaction, text
from tether.agents import model, roll
from tether.hints import NamedTuple, Protocol
from tether.store import events, port, sql

_SQL = sql.Queries("messages")
_STORE = sql.Queries("store")

TYPES = {
    "task_broadcast": "What somebody is doing, for all to know.",
    "task_conflict": "Two sessions are in each other's way.",
    "handoff": "What the next one on a task should know.",
    "question": "An answer is wanted.",
    "session_lifecycle": "A session that you started ended or died.",
    "note": "Anything else.",
}
ROUTINE, NORMAL, HIGH, CRITICAL = range(4)
_MAX_BODY_CHARS = 16_384
_MAX_INBOX = 100_000
_MAX_TTL_MS = 100 * 366 * 86_400_000


class Message(NamedTuple):
    """One message, as one reader or its sender sees it."""

    id: int
    at: str
    type: str
    priority: int
    sender: str
    sender_session: str | None
    to_session: str | None
    to_name: str | None
    source: str | None
    task: str | None
    body: str
    expires_at: str | None
    delivered_at: str | None = None
    read_at: str | None = None

    @property
    def state(self) -> str:
        if self.read_at:
            return "read"
        return "delivered" if self.delivered_at else "pending"


class Reader(Protocol):
    """Who reads: an agent that is registered, or one that is not yet."""

    @property
    def session_id(self) -> str: ...

    @property
    def agent_name(self) -> str: ...

    @property
    def inbox_from(self) -> int: ...


class Stranger(NamedTuple):
    """A reader who was never here: what waits for its name is its own, no broadcast is."""

    session_id: str
    agent_name: str
    inbox_from: int = 1 << 62


class To(NamedTuple):
    """Who gets a message: one session, everybody of a name, or with neither all."""

    session: str | None = None
    name: str | None = None

    @property
    def label(self) -> str:
        return self.session or self.name or model.EVERYBODY


ALL = To()


class Draft(NamedTuple):
    """A message that is not sent yet."""

    body: str
    type: str = "note"
    priority: int = NORMAL
    key: ids.TaskKey | None = None
    ttl_ms: int | None = None


def send(store: port.Store, sender: model.Agent, to: str, draft: Draft) -> Message:
    """Send to a session, to a name, or to `all`; NotFound for somebody who was never here."""
    check(draft)

    def work(transaction: port.Transaction) -> Message:
        found = find(transaction.rows, to)
        return post(transaction, sender.agent_name, sender.session_id, found, draft)

    return store.write("send", work)


def post(
    transaction: port.Transaction, sender: str, session: str | None, to: To, draft: Draft
) -> Message:
    """Write a message as part of something larger."""
    [counter] = transaction.rows(_STORE.count_up, name="messages", amount=1)
    key = draft.key
    [row] = transaction.rows(
        _SQL.post,
        id=counter["value"],
        type=draft.type,
        priority=draft.priority,
        sender=sender,
        sender_session=session,
        to_session=to.session,
        to_name=to.name,
        source=key.source if key else None,
        task=key.id if key else None,
        body=text.storable(redaction.redact(draft.body)),
        ttl_ms=draft.ttl_ms,
    )
    transaction.event(
        events.MESSAGE_SENT,
        actor=sender,
        session=session,
        source=key.source if key else None,
        task=key.id if key else None,
        data={
            "message": row["id"],
            "type": draft.type,
            "to": to.label,
            "priority": draft.priority,
        },
    )
    return _message(row)


def unread(store: port.Store, reader: Reader, limit: int) -> list[Message]:
    """The inbox: urgent ones first, then as they came. Changes nothing."""
    found = unread_after(store, reader, 0, _MAX_INBOX)
    return sorted(found, key=lambda message: (-message.priority, message.id))[:limit]


def unread_after(store: port.Store, reader: Reader, message_id: int, limit: int) -> list[Message]:
    """Unread messages that came after one, as they came: ids are in the order of commits."""
    found = store.rows(_SQL.unread, after=message_id, limit=limit, **_reader(reader))
    return [_message(row) for row in found]


def newest(store: port.Store) -> int:
    """The id of the last message, whoever it was for: all before it are there."""
    [row] = store.rows(_STORE.counted, name="messages")
    return int(row["value"])


def received(store: port.Store, reader: Reader, limit: int) -> list[Message]:
    """Everything that was sent to this reader, oldest of the newest first."""
    found = store.rows(_SQL.received, limit=limit, **_reader(reader))
    return [_message(row) for row in reversed(found)]


def sent(store: port.Store, sender: Reader, limit: int) -> list[Message]:
    """What somebody sent and the furthest that anybody is with it, oldest of the newest first."""
    found = store.rows(_SQL.sent, session_id=sender.session_id, limit=limit)
    return [_message(row) for row in reversed(found)]


def mark(store: port.Store, reader: Reader, messages: Iterable[Message], *, as_read: bool) -> None:
    """These were put before the reader, or the reader asked for them."""
    wanted = [message.id for message in messages if as_read or message.delivered_at is None]
    if not wanted:
        return

    def work(transaction: port.Transaction) -> None:
        for number in wanted:
            receipt = {"message_id": number, "session_id": reader.session_id}
            transaction.rows(_SQL.deliver, **receipt)
            if as_read:
                transaction.rows(_SQL.read, **receipt)

    store.write("inbox", work)


def check(draft: Draft) -> None:
    """Raise UsageError for what cannot be sent."""
    if not draft.body.strip():
        raise errors.UsageError("The message is empty. Nothing was sent.")
    if len(draft.body) > _MAX_BODY_CHARS:
        raise errors.UsageError(
            f"A message has at most {_MAX_BODY_CHARS} characters. Nothing was sent.",
            hint="Put the long text into a file and send its path.",
        )
    if not ROUTINE <= draft.priority <= CRITICAL:
        raise errors.UsageError(
            "A priority is 0 (routine), 1 (normal), 2 (high) or 3 (critical). Nothing was sent."
        )
    if draft.ttl_ms is not None and not 0 <= draft.ttl_ms <= _MAX_TTL_MS:
        raise errors.UsageError("A time to live is from a moment to a century. Nothing was sent.")
    # Free types are welcome, as long as they are words.
    ids.MessageType(draft.type)


def find(rows: roll.Rows, to: str) -> To:
    """Who is meant: a session, a name, or `all`."""
    if to == model.EVERYBODY:
        return ALL
    if ids.SessionId.is_valid(to):
        if roll.get(rows, to) is not None:
            return To(session=to)
        if roll.by_name(rows, to):
            return To(name=to)
    raise errors.NotFound(
        "There is no session and no agent of that name. Nothing was sent.",
        hint="See who is here with `tether agent list`, or send to `all`.",
    )


def _reader(reader: Reader) -> dict[str, object]:
    return {
        "session_id": reader.session_id,
        "agent_name": reader.agent_name,
        "inbox_from": reader.inbox_from,
    }


def _message(row: port.Row) -> Message:
    # A message that was just written has no receipts to tell of.
    return Message(*(row[name] for name in Message._fields if name in row))
