"""What the registry of sessions promises, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent import futures
from pathlib import Path

import pytest

from tests import agency, crowd
from tests.agency import begin, key, silence, spot
from tether import errors, host, ids
from tether.agents import claims, messages, model, registry, roll, sweep
from tether.store import events, port, sql

SILENT_SECONDS = 400
HERE = model.Place("/home/ada/tree", "topic", "abc123")
AGENTS = sql.Queries("agents")
WAITING = sql.Query(
    "waiting",
    "",
    "SELECT pid FROM pg_stat_activity"
    " WHERE wait_event_type = 'Lock' AND application_name = 'tether idle'",
)


@pytest.fixture(params=["sqlite", "postgres"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[agency.OpenStore]:
    yield from agency.closing(agency.opener_of(request.param, tmp_path, request))


@pytest.fixture
def store(opener: agency.OpenStore) -> port.Store:
    return opener()


def said(store: port.Store, kind: events.EventType) -> list[events.Event]:
    return [event for event in events.after(store, 0, 10_000) if event.type == kind.name]


def told(store: port.Store, session_id: str) -> list[str]:
    return [str(row["progress"]) for row in roll.progress(store.rows, session_id, 100)]


def take(store: port.Store, session_id: str, label: str) -> model.Claim:
    answer = claims.take(store, spot(), session_id, key(label))
    assert isinstance(answer, claims.Claimed)
    return answer.claim


def fall_silent(store: port.Store, session_id: str) -> None:
    """Be taken for dead: silent for too long, and no process is known."""
    silence(store, session_id, SILENT_SECONDS)
    sweep.sweep(store, spot(), sweep.Rules())
    assert agency.agent(store, session_id).status == "stale"


def family(store: port.Store, session_id: str) -> list[str]:
    return [agent.session_id for agent in roll.family(store.rows, session_id)]


# Registering


def test_a_session_that_registers_is_here(store: port.Store) -> None:
    agent = begin(store, "s1", kind="claude")
    assert (agent.session_id, agent.agent_name, agent.kind) == ("s1", "agent-s1", "claude")
    assert agent.status == "active"
    assert agent.ended_at is None
    assert [one.session_id for one in roll.here(store.rows)] == ["s1"]
    [event] = said(store, events.AGENT_REGISTERED)
    assert (event.actor, event.session) == ("agent-s1", "s1")
    assert event.data == {"kind": "claude", "parent": None, "pid": None}


def test_a_beat_promises_the_lease_by_the_clock_of_the_store(store: port.Store) -> None:
    agent = begin(store, "s1")
    assert agent.started_at <= agent.last_beat_at <= agent.last_seen_at < agent.lease_until


def test_registering_twice_gives_one_session_and_one_event(store: port.Store) -> None:
    first = begin(store, "s1")
    again = begin(store, "s1")
    assert again.started_at == first.started_at
    assert len(roll.here(store.rows, everyone=True)) == 1
    assert len(said(store, events.AGENT_REGISTERED)) == 1


def test_registering_again_takes_the_new_name_and_kind(store: port.Store) -> None:
    begin(store, "s1")
    again = registry.Session(ids.SessionId("s1"), ids.AgentName("other-name"), "codex")
    registry.register(store, spot(), again)
    agent = agency.agent(store, "s1")
    assert (agent.agent_name, agent.kind) == ("other-name", "codex")


def test_registering_again_keeps_what_is_not_said_anew(store: port.Store) -> None:
    process = host.Process("host", "boot", "pid:[1]", 42, 7)
    session = registry.Session(
        ids.SessionId("s2"), ids.AgentName("a"), "other", ids.SessionId("s1"), process, "/t.jsonl"
    )
    begin(store, "s1")
    registry.register(store, spot(), session, HERE)
    bare = registry.Session(ids.SessionId("s2"), ids.AgentName("a"))
    registry.register(store, spot(), bare)
    agent = agency.agent(store, "s2")
    assert agent.parent_id == "s1"
    assert agent.process == process
    assert agent.transcript == "/t.jsonl"
    assert agent.place == HERE


def test_registering_again_replaces_the_process(store: port.Store) -> None:
    begin(store, "s1", process=host.Process("host", "boot", "pid:[1]", 42, 7))
    newer = host.Process("host", "boot 2", "pid:[1]", 43, 8)
    assert begin(store, "s1", process=newer).process == newer


def test_registering_again_from_another_place_replaces_all_of_it(store: port.Store) -> None:
    session = registry.Session(ids.SessionId("s1"), ids.AgentName("a"))
    registry.register(store, spot(), session, HERE)
    detached = model.Place("/other/tree", None, None)
    assert registry.register(store, spot(), session, detached).agent.place == detached


def test_registering_again_renews_the_leases_of_claims(store: port.Store) -> None:
    begin(store, "s1")
    before = take(store, "s1", "T-1")
    begin(store, "s1", at=spot(lease_ms=3_600_000))
    [after] = claims.open_ones(store.rows, "s1")
    assert after.lease_until > before.lease_until


def test_a_session_is_not_its_own_parent(store: port.Store) -> None:
    with pytest.raises(errors.UsageError):
        begin(store, "s1", parent="s1")
    assert roll.here(store.rows, everyone=True) == []


def test_processes_that_register_the_same_session_at_once_begin_it_once(
    opener: agency.OpenStore,
) -> None:
    rounds = [f"s{number}" for number in range(5)]

    def work(_number: int) -> None:
        store = opener()
        for session_id in rounds:
            begin(store, session_id)
        store.close()

    crowd.run(4, work)
    began = [event.session for event in said(opener(), events.AGENT_REGISTERED)]
    assert sorted(map(str, began)) == rounds


# Reading


def test_an_unknown_session_is_not_found(store: port.Store) -> None:
    begin(store, "s1")
    with pytest.raises(errors.NotFound):
        roll.require(store.rows, "s2")
    with pytest.raises(errors.NotFound):
        registry.beat(store, spot(), "s2")
    with pytest.raises(errors.NotFound):
        registry.rest(store, spot(), "s2")
    with pytest.raises(errors.NotFound):
        registry.end(store, "s2")
    assert roll.get(store.rows, "s2") is None
    assert roll.family(store.rows, "s2") == []


def test_those_who_are_over_are_listed_only_on_demand(store: port.Store) -> None:
    for session_id in ("active", "idle", "over", "gone"):
        begin(store, session_id)
    registry.rest(store, spot(), "idle")
    registry.end(store, "over")
    fall_silent(store, "gone")
    assert {one.session_id for one in roll.here(store.rows)} == {"active", "idle"}
    statuses = {one.session_id: one.status for one in roll.here(store.rows, everyone=True)}
    assert statuses == {"active": "active", "idle": "idle", "over": "ended", "gone": "stale"}


def test_the_last_seen_is_listed_first(store: port.Store) -> None:
    for session_id, seconds in (("s1", 20), ("s2", 10), ("s3", 30)):
        begin(store, session_id)
        silence(store, session_id, seconds)
    assert [one.session_id for one in roll.here(store.rows)] == ["s2", "s1", "s3"]


def test_the_sessions_of_a_name_are_found(store: port.Store) -> None:
    for session_id in ("s1", "s2"):
        session = registry.Session(ids.SessionId(session_id), ids.AgentName("same"))
        registry.register(store, spot(), session)
    begin(store, "s3")
    assert {one.session_id for one in roll.by_name(store.rows, "same")} == {"s1", "s2"}
    assert roll.by_name(store.rows, "nobody") == []


# Families


def test_a_family_is_everybody_below_the_topmost_parent(store: port.Store) -> None:
    for session_id, parent in (("s1", None), ("s2", "s1"), ("s3", "s1"), ("s4", "s2")):
        begin(store, session_id, parent=parent)
    begin(store, "stranger")
    everybody = ["s1", "s2", "s3", "s4"]
    for session_id in everybody:
        assert family(store, session_id) == everybody
    assert family(store, "stranger") == ["stranger"]


def test_a_parent_that_never_registered_is_no_obstacle(store: port.Store) -> None:
    begin(store, "s1", parent="unknown")
    assert agency.agent(store, "s1").parent_id == "unknown"
    assert family(store, "s1") == ["s1"]


def test_a_family_that_is_its_own_ancestor_is_still_told(store: port.Store) -> None:
    begin(store, "s1")
    begin(store, "s2", parent="s1")
    begin(store, "s1", parent="s2")
    begin(store, "s3", parent="s2")
    for session_id in ("s1", "s2", "s3"):
        assert family(store, session_id) == ["s1", "s2", "s3"]


# Beats


def test_a_beat_right_after_another_is_not_written(store: port.Store) -> None:
    before = begin(store, "s1")
    beat = registry.beat(store, spot(), "s1")
    assert not beat.is_written
    assert agency.agent(store, "s1").version == before.version


def test_a_beat_after_some_silence_is_written(store: port.Store) -> None:
    begin(store, "s1")
    silence(store, "s1", 15)
    silent = agency.agent(store, "s1")
    assert registry.beat(store, spot(), "s1").is_written
    heard = agency.agent(store, "s1")
    assert heard.last_beat_at > silent.last_beat_at
    assert heard.last_seen_at > silent.last_seen_at
    assert heard.lease_until > silent.lease_until
    assert not registry.beat(store, spot(), "s1").is_written


def test_the_pause_between_beats_can_be_set(store: port.Store) -> None:
    begin(store, "s1")
    silence(store, "s1", 20)
    assert not registry.beat(store, spot(beat_ms=3_600_000), "s1").is_written
    assert registry.beat(store, spot(beat_ms=0), "s1").is_written


def test_a_beat_renews_the_leases_of_claims(store: port.Store) -> None:
    begin(store, "s1")
    before = take(store, "s1", "T-1")
    registry.beat(store, spot(beat_ms=0, lease_ms=3_600_000), "s1")
    [after] = claims.open_ones(store.rows, "s1")
    assert after.lease_until > before.lease_until
    assert after.epoch == before.epoch


def test_a_beat_without_progress_leaves_no_history(store: port.Store) -> None:
    begin(store, "s1")
    for progress in (None, "", "  \n"):
        registry.beat(store, spot(beat_ms=0), "s1", registry.News(progress))
    assert told(store, "s1") == []
    assert said(store, events.HEARTBEAT_RECEIVED) == []


def test_progress_is_kept_with_its_task(store: port.Store) -> None:
    begin(store, "s1")
    registry.beat(store, spot(), "s1", registry.News("Reading.", key("jira:A-1")))
    agent = agency.agent(store, "s1")
    assert (agent.progress, agent.key) == ("Reading.", key("jira:A-1"))
    [row] = roll.progress(store.rows, "s1", 10)
    assert (row["progress"], row["source"], row["task"]) == ("Reading.", "jira", "A-1")
    [event] = said(store, events.HEARTBEAT_RECEIVED)
    assert (event.session, event.source, event.task) == ("s1", "jira", "A-1")
    assert event.data == {"progress": "Reading."}


def test_the_first_progress_is_kept_even_right_after_a_beat(store: port.Store) -> None:
    begin(store, "s1")
    assert registry.beat(store, spot(), "s1", registry.News("Reading.")).is_written
    assert told(store, "s1") == ["Reading."]


def test_progress_that_comes_too_soon_is_not_kept(store: port.Store) -> None:
    begin(store, "s1")
    registry.beat(store, spot(), "s1", registry.News("Reading."))
    assert not registry.beat(store, spot(), "s1", registry.News("Writing.")).is_written
    assert told(store, "s1") == ["Reading."]
    assert agency.agent(store, "s1").progress == "Reading."


def test_progress_at_its_pace_is_all_kept_in_order(store: port.Store) -> None:
    begin(store, "s1")
    for progress in ("Reading.", "Writing.", "Testing."):
        registry.beat(store, spot(beat_ms=0), "s1", registry.News(progress))
    assert told(store, "s1") == ["Reading.", "Writing.", "Testing."]
    newest = roll.progress(store.rows, "s1", 2)
    assert [row["progress"] for row in newest] == ["Writing.", "Testing."]
    assert agency.agent(store, "s1").progress == "Testing."


def test_a_long_progress_is_cut(store: port.Store) -> None:
    begin(store, "s1")
    registry.beat(store, spot(), "s1", registry.News("x" * 100_000))
    assert told(store, "s1") == ["x" * 2000]


def test_a_new_current_task_is_always_written(store: port.Store) -> None:
    begin(store, "s1")
    for label in ("T-1", "T-2", "jira:T-2"):
        assert registry.beat(store, spot(), "s1", registry.News(key=key(label))).is_written
        assert agency.agent(store, "s1").key == key(label)
    assert not registry.beat(store, spot(), "s1", registry.News(key=key("jira:T-2"))).is_written


def test_a_new_task_is_written_though_its_progress_comes_too_soon(store: port.Store) -> None:
    begin(store, "s1")
    registry.beat(store, spot(), "s1", registry.News("Reading.", key("T-1")))
    registry.beat(store, spot(), "s1", registry.News("Writing.", key("T-2")))
    assert agency.agent(store, "s1").key == key("T-2")
    assert told(store, "s1") == ["Reading."]


def test_a_new_process_is_always_written(store: port.Store) -> None:
    begin(store, "s1")
    process = host.Process("host", "boot", "pid:[1]", 42, 7)
    assert registry.beat(store, spot(), "s1", registry.News(process=process)).is_written
    assert agency.agent(store, "s1").process == process
    assert not registry.beat(store, spot(), "s1", registry.News(process=process)).is_written


def test_a_beat_without_a_task_keeps_the_current_one(store: port.Store) -> None:
    begin(store, "s1")
    registry.beat(store, spot(), "s1", registry.News(key=key("T-1"), place=HERE))
    registry.beat(store, spot(beat_ms=0), "s1")
    agent = agency.agent(store, "s1")
    assert (agent.key, agent.place) == (key("T-1"), HERE)


# Idle


def test_an_idle_session_has_no_current_task_and_keeps_its_claims(store: port.Store) -> None:
    begin(store, "s1")
    held = take(store, "s1", "T-1")
    agent = registry.rest(store, spot(), "s1")
    assert (agent.status, agent.key) == ("idle", None)
    assert [claim.epoch for claim in claims.open_ones(store.rows, "s1")] == [held.epoch]
    assert registry.rest(store, spot(), "s1").status == "idle"


def test_an_idle_session_is_active_again_with_its_next_beat(store: port.Store) -> None:
    begin(store, "s1")
    registry.rest(store, spot(), "s1")
    beat = registry.beat(store, spot(), "s1")
    assert (beat.is_written, beat.has_recovered) == (True, False)
    assert agency.agent(store, "s1").status == "active"


def test_an_idle_session_is_active_again_when_it_registers(store: port.Store) -> None:
    begin(store, "s1")
    registry.rest(store, spot(), "s1")
    assert begin(store, "s1").status == "active"
    assert agency.agent(store, "s1").status == "active"
    assert len(said(store, events.AGENT_REGISTERED)) == 1


def test_an_idle_session_is_active_again_when_it_takes_a_task(store: port.Store) -> None:
    begin(store, "s1")
    registry.rest(store, spot(), "s1")
    take(store, "s1", "T-1")
    agent = agency.agent(store, "s1")
    assert (agent.status, agent.key) == ("active", key("T-1"))


def test_a_stale_session_that_rests_has_recovered(store: port.Store) -> None:
    begin(store, "s1")
    fall_silent(store, "s1")
    agent = registry.rest(store, spot(), "s1")
    assert (agent.status, agent.ended_at) == ("idle", None)
    assert len(said(store, events.AGENT_RECOVERED)) == 1


def test_an_ended_session_cannot_rest(store: port.Store) -> None:
    begin(store, "s1")
    registry.end(store, "s1")
    with pytest.raises(errors.NotAllowed):
        registry.rest(store, spot(), "s1")
    assert agency.agent(store, "s1").status == "ended"


@pytest.fixture
def in_postgres(postgres_url: str) -> Iterator[agency.OpenStore]:
    yield from agency.closing(agency.postgres_opener(postgres_url))


def rest_during(
    opener: agency.OpenStore, query: sql.Query, **params: object
) -> futures.Future[model.Agent]:
    """Let `s1` go idle while another transaction changes it: the later one waits for the row."""
    other, own, watch = opener(), opener(), opener()
    with futures.ThreadPoolExecutor(1) as thread:

        def work(transaction: port.Transaction) -> futures.Future[model.Agent]:
            transaction.rows(query, session_id="s1", **params)
            resting = thread.submit(registry.rest, own, spot(), "s1")
            while not (watch.rows(WAITING) or resting.done()):
                pass
            return resting

        return other.write("test", work)


def test_a_session_that_ends_while_it_goes_idle_has_ended(in_postgres: agency.OpenStore) -> None:
    begin(in_postgres(), "s1")
    resting = rest_during(in_postgres, AGENTS.end)
    with pytest.raises(errors.NotAllowed):
        resting.result()
    assert agency.agent(in_postgres(), "s1").status == "ended"


def test_a_session_that_is_taken_for_dead_while_it_goes_idle_has_recovered(
    in_postgres: agency.OpenStore,
) -> None:
    version = begin(in_postgres(), "s1").version
    resting = rest_during(in_postgres, AGENTS.mark_stale, version=version)
    assert (resting.result().status, resting.result().ended_at) == ("idle", None)
    assert len(said(in_postgres(), events.AGENT_RECOVERED)) == 1


# Ending


def test_an_end_releases_every_claim(store: port.Store) -> None:
    begin(store, "s1")
    begin(store, "s2")
    for label in ("T-1", "jira:A-1"):
        take(store, "s1", label)
    others = take(store, "s2", "T-2")
    agent, released = registry.end(store, "s1")
    assert (agent.status, agent.key) == ("ended", None)
    assert agent.ended_at is not None
    assert {claim.key.label for claim in released} == {"T-1", "jira:A-1"}
    assert {(claim.outcome, claim.closed_by) for claim in released} == {("released_end", "s1")}
    assert [claim.key for claim in claims.open_ones(store.rows)] == [others.key]
    [event] = said(store, events.AGENT_ENDED)
    assert set(event.data["released"]) == {"T-1", "jira:A-1"}
    closed = said(store, events.CLAIM_CLOSED)
    assert {event.data["outcome"] for event in closed} == {"released_end"}
    assert len(closed) == 2


def test_an_end_says_where_the_work_was_left(store: port.Store) -> None:
    begin(store, "s1")
    take(store, "s1", "T-1")
    _, [claim] = registry.end(store, "s1", HERE)
    assert (claim.worktree, claim.branch, claim.head) == HERE


def test_an_end_without_a_place_leaves_the_last_known_one(store: port.Store) -> None:
    begin(store, "s1")
    take(store, "s1", "T-1")
    registry.beat(store, spot(beat_ms=0), "s1", registry.News(place=HERE))
    _, [claim] = registry.end(store, "s1")
    assert (claim.worktree, claim.branch, claim.head) == HERE


def test_ending_twice_does_no_harm(store: port.Store) -> None:
    begin(store, "s1")
    first, _ = registry.end(store, "s1")
    second, released = registry.end(store, "s1")
    assert released == []
    assert second.ended_at == first.ended_at
    assert len(said(store, events.AGENT_ENDED)) == 1


def test_a_stale_session_can_still_end(store: port.Store) -> None:
    begin(store, "s1")
    fall_silent(store, "s1")
    agent, released = registry.end(store, "s1")
    assert (agent.status, released) == ("ended", [])
    assert said(store, events.AGENT_RECOVERED) == []


def test_an_ended_session_can_neither_beat_nor_claim(store: port.Store) -> None:
    begin(store, "s1")
    registry.end(store, "s1")
    with pytest.raises(errors.NotAllowed):
        registry.beat(store, spot(beat_ms=0), "s1", registry.News("Still here."))
    with pytest.raises(errors.NotAllowed):
        claims.take(store, spot(), "s1", key("T-1"))
    assert agency.agent(store, "s1").status == "ended"
    assert claims.history(store.rows, key("T-1")) == []


def test_an_ended_session_begins_again_by_registering(store: port.Store) -> None:
    begin(store, "s1")
    take(store, "s1", "T-1")
    registry.end(store, "s1")
    agent = begin(store, "s1")
    assert (agent.status, agent.ended_at) == ("active", None)
    assert claims.open_ones(store.rows) == [], "what it had is not its own again"
    assert len(said(store, events.AGENT_REGISTERED)) == 2
    assert said(store, events.AGENT_RECOVERED) == []
    take(store, "s1", "T-1")


def test_a_parent_is_told_of_the_end_once(store: port.Store) -> None:
    parent = begin(store, "s1")
    begin(store, "s2", parent="s1")
    registry.end(store, "s2")
    registry.end(store, "s2")
    [message] = messages.unread(store, parent, 10)
    assert (message.type, message.sender) == ("session_lifecycle", "agent-s2")
    assert (message.sender_session, message.to_session) == ("s2", "s1")
    assert "agent-s2" in message.body


def test_a_parent_is_told_of_a_death(store: port.Store) -> None:
    parent = begin(store, "s1")
    begin(store, "s2", parent="s1")
    take(store, "s2", "T-1")
    fall_silent(store, "s2")
    [message] = messages.unread(store, parent, 10)
    assert message.type == "session_lifecycle"
    assert "T-1" in message.body


def test_a_parent_that_is_over_is_told_nothing(store: port.Store) -> None:
    parent = begin(store, "s1")
    begin(store, "s2", parent="s1")
    registry.end(store, "s1")
    registry.end(store, "s2")
    assert messages.received(store, parent, 10) == []


def test_the_end_of_a_parent_leaves_its_children(store: port.Store) -> None:
    begin(store, "s1")
    begin(store, "s2", parent="s1")
    held = take(store, "s2", "T-1")
    registry.end(store, "s1")
    assert agency.agent(store, "s2").status == "active"
    assert claims.open_of(store.rows, key("T-1")) == held


# Coming back


def test_a_stale_session_comes_back_with_its_next_beat(store: port.Store) -> None:
    begin(store, "s1")
    for label in ("T-1", "jira:A-1"):
        take(store, "s1", label)
    fall_silent(store, "s1")
    stale_since = agency.agent(store, "s1").ended_at
    beat = registry.beat(store, spot(), "s1")
    assert (beat.is_written, beat.has_recovered) == (True, True)
    assert set(beat.lost) == {key("T-1"), key("jira:A-1")}
    agent = agency.agent(store, "s1")
    assert (agent.status, agent.ended_at) == ("active", None)
    assert claims.open_ones(store.rows) == []
    [event] = said(store, events.AGENT_RECOVERED)
    assert (event.actor, event.session) == ("agent-s1", "s1")
    assert event.data["stale_since"] == stale_since
    assert set(event.data["lost"]) == {"T-1", "jira:A-1"}


def test_a_stale_session_comes_back_by_registering(store: port.Store) -> None:
    begin(store, "s1")
    take(store, "s1", "T-1")
    fall_silent(store, "s1")
    session = registry.Session(ids.SessionId("s1"), ids.AgentName("agent-s1"))
    beat = registry.register(store, spot(), session)
    assert (beat.has_recovered, beat.lost) == (True, (key("T-1"),))
    assert agency.agent(store, "s1").status == "active"
    [event] = said(store, events.AGENT_RECOVERED)
    assert event.data["lost"] == ["T-1"]
    assert len(said(store, events.AGENT_REGISTERED)) == 1


def test_a_return_is_told_once(store: port.Store) -> None:
    begin(store, "s1")
    fall_silent(store, "s1")
    for _ in range(3):
        registry.beat(store, spot(beat_ms=0), "s1")
        begin(store, "s1")
    assert len(said(store, events.AGENT_RECOVERED)) == 1


def test_processes_that_come_back_at_once_tell_it_once(opener: agency.OpenStore) -> None:
    store = opener()
    begin(store, "s1")
    fall_silent(store, "s1")

    def work(number: int) -> None:
        own = opener()
        if number % 2:
            registry.beat(own, spot(beat_ms=0), "s1")
        else:
            begin(own, "s1")
        own.close()

    crowd.run(4, work)
    assert len(said(store, events.AGENT_RECOVERED)) == 1


def test_a_second_death_tells_only_what_was_lost_by_it(store: port.Store) -> None:
    begin(store, "s1")
    take(store, "s1", "T-1")
    fall_silent(store, "s1")
    registry.beat(store, spot(), "s1")
    take(store, "s1", "T-2")
    fall_silent(store, "s1")
    assert registry.beat(store, spot(), "s1").lost == (key("T-2"),)


def test_a_stale_session_gets_back_what_nobody_took(store: port.Store) -> None:
    begin(store, "s1")
    before = take(store, "s1", "T-1")
    fall_silent(store, "s1")
    registry.beat(store, spot(), "s1")
    assert take(store, "s1", "T-1").epoch == before.epoch + 1


# Text that no database holds


def test_text_that_no_database_holds_is_kept_as_far_as_it_is_text(store: port.Store) -> None:
    """A path need not be text, and a progress may come from anywhere."""
    agency.begin(store, "a")
    news = registry.News(
        progress="half\0way \ud800", place=model.Place("/home/\udcff", "b\udcff", None)
    )
    registry.beat(store, agency.spot(beat_ms=0), "a", news)
    after = agency.agent(store, "a")
    assert after.progress == "half\ufffdway ?"
    assert (after.worktree, after.branch) == ("/home/?", "b?")


@pytest.mark.parametrize("name", ["session", "agent"])
def test_nobody_is_called_all(store: port.Store, name: str) -> None:
    own = registry.Session(
        ids.SessionId("all" if name == "session" else "a"),
        ids.AgentName("all" if name == "agent" else "b"),
    )
    with pytest.raises(errors.UsageError):
        registry.register(store, agency.spot(), own)
