"""What messages promise, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import agency
from tests.agency import begin, key, spot
from tether import errors, ids
from tether.agents import messages, model, registry
from tether.store import events, port, sql

LIMIT = 100
PASS = sql.Query(
    "pass", "", "UPDATE messages SET expires_at = tether_now(:ms) WHERE expires_at IS NOT NULL"
)
INSERT = sql.Query(
    "insert",
    "",
    "INSERT INTO messages (id, at, type, priority, sender, body)"
    " VALUES (1000, tether_now(0), 'note', 4, 'x', 'x')",
)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[port.Store]:
    for opener in agency.closing(agency.opener_of(request.param, tmp_path, request)):
        yield opener()


@pytest.fixture
def alice(store: port.Store) -> model.Agent:
    return begin(store, "alice")


@pytest.fixture
def bob(store: port.Store) -> model.Agent:
    return begin(store, "bob")


@pytest.fixture
def carol(store: port.Store) -> model.Agent:
    return begin(store, "carol")


def session_of(store: port.Store, session_id: str, agent_name: str) -> model.Agent:
    session = registry.Session(ids.SessionId(session_id), ids.AgentName(agent_name))
    return registry.register(store, spot(), session).agent


def send(store: port.Store, sender: model.Agent, to: str, body: str = "Hello.") -> messages.Message:
    return messages.send(store, sender, to, messages.Draft(body))


def inbox(store: port.Store, reader: model.Agent) -> list[str]:
    return [message.body for message in messages.unread(store, reader, LIMIT)]


def log(store: port.Store, reader: model.Agent) -> list[str]:
    return [message.body for message in messages.received(store, reader, LIMIT)]


def put_before(store: port.Store, reader: model.Agent) -> None:
    messages.mark(store, reader, messages.unread(store, reader, LIMIT), as_read=False)


def read(store: port.Store, reader: model.Agent) -> list[str]:
    found = messages.unread(store, reader, LIMIT)
    messages.mark(store, reader, found, as_read=True)
    return [message.body for message in found]


def state(found: list[messages.Message]) -> str:
    [message] = found
    return message.state


# To whom


def test_a_message_to_a_session_reaches_only_that_one(
    store: port.Store, alice: model.Agent, bob: model.Agent, carol: model.Agent
) -> None:
    sent = send(store, alice, "bob")
    assert (sent.sender, sent.sender_session) == ("agent-alice", "alice")
    assert (sent.to_session, sent.to_name) == ("bob", None)
    assert messages.unread(store, bob, LIMIT) == [sent]
    assert log(store, alice) == log(store, carol) == []


def test_a_message_to_a_name_reaches_every_session_of_that_name(
    store: port.Store, alice: model.Agent, carol: model.Agent
) -> None:
    first, second = session_of(store, "b1", "bob"), session_of(store, "b2", "bob")
    sent = send(store, alice, "bob")
    assert (sent.to_session, sent.to_name) == (None, "bob")
    assert inbox(store, first) == inbox(store, second) == ["Hello."]
    assert log(store, alice) == log(store, carol) == []


def test_a_session_goes_before_a_name(store: port.Store, alice: model.Agent) -> None:
    session = session_of(store, "bob", "robert")
    named = session_of(store, "b2", "bob")
    assert send(store, alice, "bob").to_session == "bob"
    assert inbox(store, session) == ["Hello."]
    assert inbox(store, named) == []


def test_a_broadcast_reaches_everybody_but_its_sender(
    store: port.Store, alice: model.Agent, bob: model.Agent, carol: model.Agent
) -> None:
    sent = send(store, alice, "all")
    assert (sent.to_session, sent.to_name) == (None, None)
    assert inbox(store, bob) == inbox(store, carol) == ["Hello."]
    assert log(store, alice) == []


def test_a_broadcast_is_read_by_each_for_itself(
    store: port.Store, alice: model.Agent, bob: model.Agent, carol: model.Agent
) -> None:
    send(store, alice, "all")
    assert read(store, bob) == ["Hello."]
    assert read(store, bob) == []
    assert read(store, carol) == ["Hello."]


def test_who_joins_later_gets_no_old_broadcast(
    store: port.Store, alice: model.Agent, bob: model.Agent
) -> None:
    send(store, alice, "all", "Before.")
    late = begin(store, "late")
    assert log(store, late) == []
    send(store, alice, "all", "After.")
    assert inbox(store, late) == ["After."]
    assert inbox(store, bob) == ["Before.", "After."]


def test_registering_again_loses_no_broadcast(
    store: port.Store, alice: model.Agent, bob: model.Agent
) -> None:
    send(store, alice, "all")
    again = begin(store, "bob")
    assert inbox(store, again) == ["Hello."]


def test_a_message_to_a_name_survives_into_a_new_session_and_is_read_once(
    store: port.Store, alice: model.Agent
) -> None:
    first = session_of(store, "b1", "bob")
    send(store, alice, "bob")
    registry.end(store, "b1")
    second = session_of(store, "b2", "bob")
    assert read(store, second) == ["Hello."]
    third = session_of(store, "b3", "bob")
    assert inbox(store, first) == inbox(store, second) == inbox(store, third) == []
    assert state(messages.received(store, third, LIMIT)) == "read"


def test_a_message_to_a_session_does_not_pass_to_the_next_one(
    store: port.Store, alice: model.Agent
) -> None:
    session_of(store, "b1", "bob")
    send(store, alice, "b1")
    assert inbox(store, session_of(store, "b2", "bob")) == []


@pytest.mark.parametrize("to", ["nobody", "", "no such id", "../etc", "x" * 500, "al\0l", "ALL"])
def test_a_message_to_somebody_who_was_never_here_is_not_sent(
    store: port.Store, alice: model.Agent, to: str
) -> None:
    with pytest.raises(errors.NotFound):
        send(store, alice, to)
    assert messages.sent(store, alice, LIMIT) == []


def test_a_message_waits_for_who_is_over(
    store: port.Store, alice: model.Agent, bob: model.Agent
) -> None:
    registry.end(store, "bob")
    send(store, alice, "bob")
    assert inbox(store, begin(store, "bob")) == ["Hello."]


# What it carries


def test_a_message_carries_its_draft(
    store: port.Store, alice: model.Agent, bob: model.Agent
) -> None:
    body = "Zeile 1\nZeile 2 – ü 🙂 '; DROP TABLE messages; -- %s :body"
    draft = messages.Draft(body, "handoff", messages.CRITICAL, key("jira:A-1"))
    messages.send(store, alice, "bob", draft)
    [message] = messages.unread(store, bob, LIMIT)
    assert (message.body, message.type, message.priority) == (body, "handoff", 3)
    assert (message.source, message.task, message.expires_at) == ("jira", "A-1", None)


def test_a_message_is_told_without_its_body(
    store: port.Store, alice: model.Agent, bob: model.Agent
) -> None:
    draft = messages.Draft("Only for you.", "question", messages.HIGH, key("T-1"))
    sent = messages.send(store, alice, "bob", draft)
    [event] = [one for one in events.latest(store, 10) if one.type == events.MESSAGE_SENT.name]
    assert (event.actor, event.session, event.task) == ("agent-alice", "alice", "T-1")
    assert event.data == {"message": sent.id, "type": "question", "to": "bob", "priority": 2}


def test_ids_count_up_without_gaps(store: port.Store, alice: model.Agent, bob: model.Agent) -> None:
    first = send(store, alice, "bob")
    with pytest.raises(errors.NotFound):
        send(store, alice, "nobody")
    second, third = send(store, bob, "all"), send(store, alice, "bob")
    assert [second.id, third.id] == [first.id + 1, first.id + 2]


@pytest.mark.parametrize("kind", [*messages.TYPES, "x", "my_own_type", "a2", "x" * 40])
def test_known_and_free_types_are_welcome(
    store: port.Store, alice: model.Agent, bob: model.Agent, kind: str
) -> None:
    assert messages.send(store, alice, "bob", messages.Draft("Hello.", kind)).type == kind


@pytest.mark.parametrize(
    "draft",
    [
        messages.Draft(""),
        messages.Draft(" \n\t "),
        messages.Draft("x" * 16_385),
        messages.Draft("Hello.", priority=4),
        messages.Draft("Hello.", priority=-1),
        messages.Draft("Hello.", ""),
        messages.Draft("Hello.", "Two words"),
        messages.Draft("Hello.", "Upper"),
        messages.Draft("Hello.", "note\n"),
        messages.Draft("Hello.", "x" * 41),
    ],
)
def test_a_bad_draft_is_not_sent(
    store: port.Store, alice: model.Agent, bob: model.Agent, draft: messages.Draft
) -> None:
    with pytest.raises(errors.UsageError):
        messages.send(store, alice, "bob", draft)
    assert messages.sent(store, alice, LIMIT) == []
    assert log(store, bob) == []


def test_the_longest_message_is_sent_whole(
    store: port.Store, alice: model.Agent, bob: model.Agent
) -> None:
    send(store, alice, "bob", "ü" * 16_384)
    assert inbox(store, bob) == ["ü" * 16_384]


def test_the_database_takes_no_other_priority(store: port.Store, alice: model.Agent) -> None:
    with pytest.raises(port.RowRefused):
        store.write("test", lambda transaction: transaction.rows(INSERT))


# Order


def test_urgent_messages_come_first_then_as_they_were_sent(
    store: port.Store, alice: model.Agent, bob: model.Agent
) -> None:
    for body, priority in (("a", 1), ("b", 0), ("c", 3), ("d", 1), ("e", 2), ("f", 3)):
        messages.send(store, alice, "bob", messages.Draft(body, priority=priority))
    assert inbox(store, bob) == ["c", "f", "e", "a", "d", "b"]
    assert log(store, bob) == ["a", "b", "c", "d", "e", "f"]
    urgent = messages.unread(store, bob, 2)
    assert [message.body for message in urgent] == ["c", "f"]
    newest = messages.received(store, bob, 2)
    assert [message.body for message in newest] == ["e", "f"]
    assert [message.body for message in messages.sent(store, alice, 2)] == ["e", "f"]


# Pending, delivered, read


def test_a_message_is_pending_then_delivered_then_read(
    store: port.Store, alice: model.Agent, bob: model.Agent
) -> None:
    sent = send(store, alice, "bob")
    states = [(sent.state, state(messages.received(store, bob, LIMIT)))]
    for step in (put_before, read):
        step(store, bob)
        states.append(
            (
                state(messages.sent(store, alice, LIMIT)),
                state(messages.received(store, bob, LIMIT)),
            )
        )
    assert states == [("pending", "pending"), ("delivered", "delivered"), ("read", "read")]
    assert inbox(store, bob) == []
    assert log(store, bob) == ["Hello."]


def test_looking_changes_nothing(store: port.Store, alice: model.Agent, bob: model.Agent) -> None:
    send(store, alice, "bob")
    for _ in range(2):
        assert state(messages.unread(store, bob, LIMIT)) == "pending"
    assert state(messages.sent(store, alice, LIMIT)) == "pending"


def test_a_delivered_message_stays_in_the_inbox(
    store: port.Store, alice: model.Agent, bob: model.Agent
) -> None:
    send(store, alice, "bob")
    put_before(store, bob)
    first = messages.unread(store, bob, LIMIT)
    assert state(first) == "delivered"
    put_before(store, bob)
    assert messages.unread(store, bob, LIMIT) == first


def test_a_message_can_be_read_at_once(
    store: port.Store, alice: model.Agent, bob: model.Agent
) -> None:
    send(store, alice, "bob")
    read(store, bob)
    [message] = messages.received(store, bob, LIMIT)
    assert message.state == "read"
    assert message.delivered_at is not None


def test_reading_again_changes_nothing(
    store: port.Store, alice: model.Agent, bob: model.Agent
) -> None:
    send(store, alice, "bob")
    read(store, bob)
    before = messages.received(store, bob, LIMIT)
    messages.mark(store, bob, before, as_read=True)
    messages.mark(store, bob, before, as_read=False)
    assert messages.received(store, bob, LIMIT) == before


def test_the_sender_of_a_broadcast_sees_the_furthest_reader(
    store: port.Store, alice: model.Agent, bob: model.Agent, carol: model.Agent
) -> None:
    send(store, alice, "all")
    put_before(store, bob)
    assert state(messages.sent(store, alice, LIMIT)) == "delivered"
    assert state(messages.received(store, carol, LIMIT)) == "pending"
    read(store, carol)
    assert state(messages.sent(store, alice, LIMIT)) == "read"
    assert state(messages.received(store, bob, LIMIT)) == "delivered"


def test_a_message_to_a_name_is_delivered_once_for_all_its_sessions(
    store: port.Store, alice: model.Agent
) -> None:
    first, second = session_of(store, "b1", "bob"), session_of(store, "b2", "bob")
    send(store, alice, "bob")
    put_before(store, first)
    assert state(messages.unread(store, second, LIMIT)) == "delivered"
    assert read(store, second) == ["Hello."]
    assert inbox(store, first) == []
    assert state(messages.sent(store, alice, LIMIT)) == "read"


# Time to live


def test_an_expired_message_leaves_the_inbox_but_not_the_log(
    store: port.Store, alice: model.Agent, bob: model.Agent
) -> None:
    messages.send(store, alice, "bob", messages.Draft("Soon.", ttl_ms=3_600_000))
    send(store, alice, "bob", "Always.")
    assert inbox(store, bob) == ["Soon.", "Always."]
    store.write("test", lambda transaction: transaction.rows(PASS, ms=-1))
    assert inbox(store, bob) == ["Always."]
    assert log(store, bob) == ["Soon.", "Always."]
    sent = messages.sent(store, alice, LIMIT)
    assert [(message.body, message.state) for message in sent] == [
        ("Soon.", "pending"),
        ("Always.", "pending"),
    ]


@pytest.mark.parametrize("to", ["bob", "agent-bob", "all"])
def test_every_kind_of_message_expires(
    store: port.Store, alice: model.Agent, bob: model.Agent, to: str
) -> None:
    sent = messages.send(store, alice, to, messages.Draft("Hello.", ttl_ms=0))
    assert sent.expires_at is not None
    assert inbox(store, bob) == []
    assert log(store, bob) == ["Hello."]


def test_a_message_expires_by_the_clock_of_the_store(
    store: port.Store, alice: model.Agent, bob: model.Agent
) -> None:
    messages.send(store, alice, "bob", messages.Draft("Hello.", ttl_ms=20))
    while inbox(store, bob):
        pass
    assert log(store, bob) == ["Hello."]


@pytest.mark.parametrize("ttl_ms", [-1, 10**15, 2**63])
def test_a_time_to_live_that_no_clock_can_tell_is_refused(store: port.Store, ttl_ms: int) -> None:
    sender = agency.begin(store, "a")
    with pytest.raises(errors.UsageError):
        messages.send(store, sender, "all", messages.Draft("hello", ttl_ms=ttl_ms))


def test_a_body_that_no_database_holds_is_sent_as_far_as_it_is_text(store: port.Store) -> None:
    sender, reader = agency.begin(store, "a"), agency.begin(store, "b")
    messages.send(store, sender, "b", messages.Draft("a\0b \ud800"))
    assert [found.body for found in messages.unread(store, reader, 10)] == ["a\ufffdb ?"]
