"""What claims, reservations and conflicts promise, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path

import pytest

from tests import agency, crowd
from tests.agency import begin, key, silence, spot
from tether import errors, host, ids
from tether.agents import claims, conflicts, messages, model, registry, sweep
from tether.store import events, port, sql

TASK = key("T-1")
OTHER_TASK = key("T-2")
HERE = model.Place("/home/ada/tree", "topic", "abc123")
FAR_AWAY = host.Process("another-host", "another-boot", "pid:[1]", 42, 7)
NOW_MS = sql.Query("now_ms", "", "SELECT tether_now_ms() AS ms")
INSERT = sql.Query(
    "insert",
    "",
    "INSERT INTO claims (source, task, epoch, session_id, agent_name, claimed_at, lease_until)"
    " VALUES (:source, :task, :epoch, :session_id, 'x', tether_now(0), tether_now(0))",
)
WAITING = sql.Query(
    "waiting",
    "",
    "SELECT pid FROM pg_stat_activity"
    " WHERE wait_event_type = 'Lock' AND application_name = 'tether claim'",
)
EXPIRE = sql.Query("expire", "", "UPDATE messages SET expires_at = tether_now(-1000)")


@pytest.fixture(params=["sqlite", "postgres"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[agency.OpenStore]:
    yield from agency.closing(agency.opener_of(request.param, tmp_path, request))


@pytest.fixture
def store(opener: agency.OpenStore) -> port.Store:
    """A store with two sessions, `s1` and `s2`."""
    store = opener()
    begin(store, "s1")
    begin(store, "s2")
    return store


@pytest.fixture
def in_postgres(postgres_url: str) -> Iterator[agency.OpenStore]:
    yield from agency.closing(agency.postgres_opener(postgres_url))


def take(
    store: port.Store, session_id: str, task: ids.TaskKey = TASK, *patterns: str
) -> claims.Claimed:
    answer = claims.take(store, spot(), session_id, task, patterns=patterns)
    assert isinstance(answer, claims.Claimed)
    return answer


def ask(store: port.Store, session_id: str, task: ids.TaskKey = TASK) -> claims.Refused:
    answer = claims.take(store, spot(), session_id, task)
    assert isinstance(answer, claims.Refused)
    return answer


def let_go(store: port.Store, claim: model.Claim, outcome: str = claims.RELEASED) -> model.Claim:
    closed = claims.close(store, spot(), claim.session_id, claim.key, claim.epoch, outcome)
    assert isinstance(closed, model.Claim)
    return closed


def work_on(store: port.Store, session_id: str, task: ids.TaskKey = TASK) -> None:
    registry.beat(store, spot(), session_id, registry.News(key=task))


def fall_silent(store: port.Store, session_id: str) -> None:
    """Be taken for dead: silent for too long, and no process is known."""
    silence(store, session_id, 400)
    sweep.sweep(store, spot(), sweep.Rules())
    assert agency.agent(store, session_id).status == "stale"


def said(store: port.Store, kind: events.EventType) -> list[events.Event]:
    return [event for event in events.after(store, 0, 10_000) if event.type == kind.name]


def inbox(store: port.Store, session_id: str) -> list[messages.Message]:
    return messages.unread(store, agency.agent(store, session_id), 100)


# Taking


def test_a_free_task_is_taken(store: port.Store) -> None:
    answer = take(store, "s1")
    claim = answer.claim
    assert answer.is_new
    assert (answer.previous, answer.is_adopted, answer.overlaps) == (None, False, ())
    assert (claim.key, claim.session_id, claim.agent_name) == (TASK, "s1", "agent-s1")
    assert claim.claimed_at < claim.lease_until
    assert (claim.closed_at, claim.outcome, claim.closed_by) == (None, None, None)
    assert claims.open_of(store.rows, TASK) == claim
    assert agency.agent(store, "s1").key == TASK


def test_a_claim_is_told(store: port.Store) -> None:
    claim = take(store, "s1", TASK, "src/b.py", "src/a.py").claim
    [event] = said(store, events.CLAIM_TAKEN)
    assert (event.actor, event.session, event.source, event.task) == ("agent-s1", "s1", *TASK)
    reserved = ["src/a.py", "src/b.py"]
    assert event.data == {"epoch": claim.epoch, "paths": reserved, "head": claim.head}


def test_the_first_epoch_is_the_time(store: port.Store) -> None:
    [before] = store.rows(NOW_MS)
    epoch = take(store, "s1").claim.epoch
    [after] = store.rows(NOW_MS)
    assert before["ms"] <= epoch <= after["ms"]


def test_every_later_epoch_of_a_task_is_one_more(store: port.Store) -> None:
    first = take(store, "s1").claim
    let_go(store, first)
    second = take(store, "s2").claim
    let_go(store, second)
    third = take(store, "s2").claim
    assert [second.epoch, third.epoch] == [first.epoch + 1, first.epoch + 2]
    history = [claim.epoch for claim in claims.history(store.rows, TASK)]
    assert history == [third.epoch, second.epoch, first.epoch]


def test_a_claim_that_waited_for_the_first_one_to_end_comes_after_it(
    in_postgres: agency.OpenStore,
) -> None:
    """`s2` sees no claim and takes the time for its epoch; meanwhile `s1` was first and is done."""
    first, second, watch = in_postgres(), in_postgres(), in_postgres()
    for session_id in ("s1", "s2"):
        begin(first, session_id)
    with futures.ThreadPoolExecutor(1) as thread:

        def come_and_go(transaction: port.Transaction) -> futures.Future[claims.Claimed]:
            given = claims.give(transaction, spot(), agency.agent(first, "s1"), TASK)
            assert given is not None
            other = thread.submit(take, second, "s2")
            while not (watch.rows(WAITING) or other.done()):
                pass
            claims.close_one(transaction, "s1", TASK, given.epoch, claims.DONE)
            return other

        answer = first.write("come and go", come_and_go).result()
    [last, before] = claims.history(first.rows, TASK)
    assert (last, last.epoch) == (answer.claim, before.epoch + 1)
    assert (answer.previous, before.outcome) == (before, claims.DONE)


def test_who_takes_a_task_sees_the_claim_before(store: port.Store) -> None:
    closed = let_go(store, take(store, "s1").claim, claims.FAILED)
    answer = take(store, "s2")
    assert (answer.previous, answer.is_adopted) == (closed, False)


def test_asking_twice_does_no_harm(store: port.Store) -> None:
    first = take(store, "s1", TASK, "src")
    again = take(store, "s1", TASK, "src")
    assert not again.is_new
    assert again.claim.epoch == first.claim.epoch
    assert len(claims.history(store.rows, TASK)) == 1
    assert len(said(store, events.CLAIM_TAKEN)) == 1


def test_asking_twice_renews_the_lease(store: port.Store) -> None:
    first = take(store, "s1").claim
    again = claims.take(store, spot(lease_ms=3_600_000), "s1", TASK)
    held = claims.open_of(store.rows, TASK)
    assert isinstance(again, claims.Claimed)
    assert held is not None
    assert first.lease_until < again.claim.lease_until <= held.lease_until


def test_one_session_may_hold_many_tasks(store: port.Store) -> None:
    first = take(store, "s1", TASK).claim
    second = take(store, "s1", OTHER_TASK).claim
    others = take(store, "s2", key("T-3")).claim
    assert set(claims.open_ones(store.rows, "s1")) == {
        claims.open_of(store.rows, first.key),
        second,
    }
    assert claims.open_ones(store.rows, "s2") == [others]
    assert len(claims.open_ones(store.rows)) == 3


def test_closed_claims_are_listed_only_on_demand(store: port.Store) -> None:
    let_go(store, take(store, "s1", TASK).claim)
    take(store, "s1", OTHER_TASK)
    take(store, "s2", key("T-3"))
    assert [claim.key for claim in claims.open_ones(store.rows, "s1")] == [OTHER_TASK]
    assert {claim.key for claim in claims.all_ones(store.rows, 10, "s1")} == {TASK, OTHER_TASK}
    assert len(claims.all_ones(store.rows, 10)) == 3
    assert len(claims.all_ones(store.rows, 2)) == 2


def test_two_sources_with_the_same_id_are_two_tasks(store: port.Store) -> None:
    own, theirs = key("A-1"), key("jira:A-1")
    take(store, "s1", own)
    take(store, "s2", theirs)
    assert ask(store, "s2", own).key == own
    assert ask(store, "s1", theirs).key == theirs
    assert [claim.source for claim in claims.history(store.rows, theirs)] == ["jira"]


def test_an_unknown_session_cannot_take(store: port.Store) -> None:
    with pytest.raises(errors.NotFound):
        claims.take(store, spot(), "nobody", TASK)
    assert claims.history(store.rows, TASK) == []


def test_an_ended_session_cannot_take(store: port.Store) -> None:
    registry.end(store, "s1")
    with pytest.raises(errors.NotAllowed):
        claims.take(store, spot(), "s1", TASK)
    assert claims.history(store.rows, TASK) == []


def test_a_stale_session_cannot_take(store: port.Store) -> None:
    fall_silent(store, "s1")
    with pytest.raises(errors.NotAllowed):
        claims.take(store, spot(), "s1", TASK, takes_over=True)
    assert agency.agent(store, "s1").status == "stale"
    assert claims.history(store.rows, TASK) == []
    registry.beat(store, spot(), "s1")
    assert take(store, "s1").is_new


def test_a_bad_path_takes_nothing(store: port.Store) -> None:
    with pytest.raises(errors.UsageError):
        claims.take(store, spot(), "s1", TASK, patterns=["src", "../secrets"])
    assert claims.history(store.rows, TASK) == []


def test_the_database_takes_no_second_open_claim(store: port.Store) -> None:
    held = take(store, "s1").claim

    def work(transaction: port.Transaction) -> None:
        transaction.rows(INSERT, source="work", task="T-1", epoch=held.epoch + 1, session_id="s2")

    with pytest.raises(port.RowRefused):
        store.write("test", work)
    let_go(store, held)
    store.write("test", work)


def test_of_many_processes_that_ask_at_once_one_gets_the_task(opener: agency.OpenStore) -> None:
    store = opener()
    for number in range(4):
        begin(store, f"s{number}")
    tasks = [key(f"T-{number}") for number in range(5)]

    def work(number: int) -> list[bool]:
        own = opener()
        answers = [claims.take(own, spot(), f"s{number}", task) for task in tasks]
        own.close()
        return [isinstance(answer, claims.Claimed) for answer in answers]

    answers = crowd.run(4, work)
    assert [sum(column) for column in zip(*answers, strict=True)] == [1] * len(tasks)
    assert len(said(store, events.CLAIM_TAKEN)) == len(tasks)


# Refused


def test_a_held_task_is_refused_with_who_has_it(store: port.Store) -> None:
    held = take(store, "s1").claim
    answer = ask(store, "s2")
    assert answer.is_held
    assert (answer.key, answer.last) == (TASK, held)
    assert answer.holder is not None
    assert (answer.holder.session_id, answer.verdict) == ("s1", "alive")
    assert answer.reason
    assert claims.open_of(store.rows, TASK) == held
    assert agency.agent(store, "s2").key is None


def test_a_lost_race_leaves_one_claim_in_the_log(store: port.Store) -> None:
    take(store, "s1")
    ask(store, "s2")
    [event] = said(store, events.CLAIM_TAKEN)
    assert event.session == "s1"
    assert len(claims.history(store.rows, TASK)) == 1


def test_a_refusal_reserves_nothing(store: port.Store) -> None:
    held = take(store, "s1", TASK, "src").claim
    claims.take(store, spot(), "s2", TASK, patterns=["docs"])
    assert claims.reserved(store.rows, held) == ["src"]
    assert conflicts.all_ones(store.rows, 10) == []


def test_a_refusal_is_told_once_for_each_claim_and_asker(store: port.Store) -> None:
    begin(store, "s3")
    held = take(store, "s1").claim
    for _ in range(3):
        ask(store, "s2")
    ask(store, "s3")
    ask(store, "s2")
    first, second = said(store, events.CLAIM_REFUSED)
    assert [first.session, second.session] == ["s2", "s3"]
    assert first.data == {"holder_session": "s1", "holder": "agent-s1", "epoch": held.epoch}
    let_go(store, held)
    again = take(store, "s1").claim
    ask(store, "s2")
    ask(store, "s2")
    last = said(store, events.CLAIM_REFUSED)[2:]
    assert [(event.session, event.data["epoch"]) for event in last] == [("s2", again.epoch)]


# Renewing


def test_a_holder_renews_its_lease(store: port.Store) -> None:
    held = take(store, "s1").claim
    answer = claims.renew(store, spot(lease_ms=3_600_000), "s1", TASK, held.epoch)
    assert isinstance(answer, claims.Claimed)
    assert answer.claim.lease_until > held.lease_until
    assert answer.claim == claims.open_of(store.rows, TASK)


def test_nobody_else_renews_a_lease(store: port.Store) -> None:
    held = take(store, "s1").claim
    for session_id, epoch in (("s2", held.epoch), ("s1", held.epoch + 1), ("nobody", held.epoch)):
        answer = claims.renew(store, spot(lease_ms=3_600_000), session_id, TASK, epoch)
        assert isinstance(answer, claims.Refused)
        assert answer.last == held
    assert claims.open_of(store.rows, TASK) == held


def test_a_closed_claim_is_not_renewed(store: port.Store) -> None:
    closed = let_go(store, take(store, "s1").claim)
    answer = claims.renew(store, spot(), "s1", TASK, closed.epoch)
    assert isinstance(answer, claims.Refused)
    assert (answer.is_held, answer.last) == (False, closed)


def test_what_was_never_taken_has_no_holder(store: port.Store) -> None:
    answer = claims.renew(store, spot(), "s1", TASK, 1)
    assert isinstance(answer, claims.Refused)
    assert (answer.is_held, answer.last, answer.holder) == (False, None, None)


# Closing


@pytest.mark.parametrize("outcome", [claims.DONE, claims.FAILED, claims.RELEASED, "parked"])
def test_a_claim_is_closed_with_its_outcome(store: port.Store, outcome: str) -> None:
    held = take(store, "s1").claim
    closed = claims.close(store, spot(), "s1", TASK, held.epoch, outcome, HERE)
    assert isinstance(closed, model.Claim)
    assert (closed.outcome, closed.closed_by) == (outcome, "s1")
    assert closed.closed_at is not None
    assert closed.closed_at >= held.claimed_at
    assert (closed.worktree, closed.branch, closed.head) == HERE
    assert closed.session_id == "s1", "who had it stays known"
    assert claims.history(store.rows, TASK) == [closed]
    assert claims.open_of(store.rows, TASK) is None
    assert agency.agent(store, "s1").key is None
    [event] = said(store, events.CLAIM_CLOSED)
    assert (event.actor, event.session, event.source, event.task) == ("agent-s1", "s1", *TASK)
    assert event.data == {"epoch": held.epoch, "outcome": outcome, "by": "s1"}


def test_work_may_lie_about_of_everybody_since_it_was_done(store: port.Store) -> None:
    for session_id, outcome in (("s1", "done"), ("s2", "released"), ("s1", "failed")):
        held = take(store, session_id).claim
        claims.close(store, spot(), session_id, TASK, held.epoch, outcome)
    now = take(store, "s2").claim
    found = claims.unfinished_before(store.rows, now)
    assert [(each.session_id, each.outcome) for each in found] == [
        ("s1", "failed"),
        ("s2", "released"),
    ]


def test_an_outcome_is_a_word(store: port.Store) -> None:
    held = take(store, "s1").claim
    for outcome in ("", "Not a word", "done\n", "x" * 41):
        with pytest.raises(errors.InvalidId):
            claims.close(store, spot(), "s1", TASK, held.epoch, outcome)
    assert claims.open_of(store.rows, TASK) == held


def test_closing_leaves_the_current_task_if_it_is_another(store: port.Store) -> None:
    first = take(store, "s1", TASK).claim
    take(store, "s1", OTHER_TASK)
    let_go(store, first)
    assert agency.agent(store, "s1").key == OTHER_TASK


def test_only_the_holder_closes_a_claim(store: port.Store) -> None:
    held = take(store, "s1").claim
    answer = claims.close(store, spot(), "s2", TASK, held.epoch, claims.DONE)
    assert isinstance(answer, claims.Refused)
    assert answer.last == held
    with pytest.raises(errors.NotFound):
        claims.close(store, spot(), "nobody", TASK, held.epoch, claims.DONE)
    assert claims.open_of(store.rows, TASK) == held
    assert said(store, events.CLAIM_CLOSED) == []


def test_a_claim_is_closed_once(store: port.Store) -> None:
    closed = let_go(store, take(store, "s1").claim, claims.DONE)
    answer = claims.close(store, spot(), "s1", TASK, closed.epoch, claims.FAILED)
    assert isinstance(answer, claims.Refused)
    assert (answer.is_held, answer.last) == (False, closed)
    assert claims.history(store.rows, TASK) == [closed]
    assert len(said(store, events.CLAIM_CLOSED)) == 1


def test_a_task_that_was_never_taken_is_not_closed(store: port.Store) -> None:
    answer = claims.close(store, spot(), "s1", TASK, 1, claims.DONE)
    assert isinstance(answer, claims.Refused)
    assert (answer.is_held, answer.last) == (False, None)


def test_an_old_epoch_changes_nothing_and_tells_who_has_the_task(store: port.Store) -> None:
    old = let_go(store, take(store, "s1").claim)
    now = take(store, "s2").claim
    for answer in (
        claims.renew(store, spot(), "s1", TASK, old.epoch),
        claims.close(store, spot(), "s1", TASK, old.epoch, claims.DONE),
    ):
        assert isinstance(answer, claims.Refused)
        assert answer.is_held
        assert answer.last == now
        assert answer.holder is not None
        assert answer.holder.session_id == "s2"
    assert claims.history(store.rows, TASK) == [now, old]


def test_an_old_epoch_of_the_same_session_changes_nothing(store: port.Store) -> None:
    old = let_go(store, take(store, "s1").claim)
    now = take(store, "s1").claim
    answer = claims.close(store, spot(), "s1", TASK, old.epoch, claims.DONE)
    assert isinstance(answer, claims.Refused)
    assert answer.last == now
    assert claims.open_of(store.rows, TASK) == now


# Adopting


def test_a_task_of_a_dead_process_is_adopted(store: port.Store) -> None:
    process = agency.sleeper()
    begin(store, "s1", pid=process.pid)
    held = take(store, "s1").claim
    assert ask(store, "s2").verdict == "alive"
    agency.end(process)
    answer = take(store, "s2")
    assert (answer.is_new, answer.is_adopted) == (True, True)
    assert answer.claim.epoch == held.epoch + 1
    assert answer.previous is not None
    assert (answer.previous.epoch, answer.previous.session_id) == (held.epoch, "s1")
    assert (answer.previous.outcome, answer.previous.closed_by) == (claims.ADOPTED, "s2")
    [event] = said(store, events.CLAIM_ADOPTED)
    assert (event.actor, event.session, event.task) == ("agent-s2", "s2", "T-1")
    assert event.data == {
        "epoch": answer.claim.epoch,
        "paths": [],
        "head": None,
        "from_session": "s1",
        "from_agent": "agent-s1",
        "reason": answer.reason,
    }
    assert answer.reason.startswith("dead: ")
    [closed] = said(store, events.CLAIM_CLOSED)
    assert (closed.session, closed.data["outcome"]) == ("s1", claims.ADOPTED)


def test_a_living_process_keeps_its_task_however_silent_it_is(store: port.Store) -> None:
    process = agency.sleeper()
    try:
        begin(store, "s1", pid=process.pid)
        held = take(store, "s1").claim
        silence(store, "s1", 100_000)
        assert ask(store, "s2").verdict == "alive"
        assert claims.open_of(store.rows, TASK) == held
    finally:
        agency.end(process)


def test_a_task_of_an_expired_session_is_adopted(store: port.Store) -> None:
    take(store, "s1")
    silence(store, "s1", 200)
    assert ask(store, "s2").verdict == "alive"
    silence(store, "s1", 300)
    answer = take(store, "s2")
    assert answer.is_adopted
    assert answer.previous is not None
    assert answer.previous.outcome == claims.ADOPTED


@pytest.mark.parametrize(
    ("seconds", "verdict"), [(0, "alive"), (800, "alive"), (1000, "suspect"), (1700, "suspect")]
)
def test_an_agent_far_away_keeps_its_task_as_long_as_it_may_live(
    store: port.Store, seconds: float, verdict: str
) -> None:
    begin(store, "s1", process=FAR_AWAY)
    held = take(store, "s1").claim
    silence(store, "s1", seconds)
    assert ask(store, "s2").verdict == verdict
    assert claims.open_of(store.rows, TASK) == held


def test_a_task_of_an_expired_agent_far_away_is_adopted(store: port.Store) -> None:
    begin(store, "s1", process=FAR_AWAY)
    take(store, "s1")
    silence(store, "s1", 1800)
    assert take(store, "s2").is_adopted


def test_a_person_may_take_from_the_living(store: port.Store) -> None:
    held = take(store, "s1").claim
    answer = claims.take(store, spot(), "s2", TASK, takes_over=True)
    assert isinstance(answer, claims.Claimed)
    assert answer.is_adopted
    assert answer.claim.epoch == held.epoch + 1
    for late in (
        claims.close(store, spot(), "s1", TASK, held.epoch, claims.DONE),
        claims.renew(store, spot(), "s1", TASK, held.epoch),
    ):
        assert isinstance(late, claims.Refused)
        assert (late.is_held, late.last) == (True, answer.claim)
    assert claims.open_of(store.rows, TASK) == answer.claim


def test_a_task_that_is_free_is_taken_and_not_adopted(store: port.Store) -> None:
    let_go(store, take(store, "s1").claim)
    answer = claims.take(store, spot(), "s2", TASK, takes_over=True)
    assert isinstance(answer, claims.Claimed)
    assert not answer.is_adopted
    assert said(store, events.CLAIM_ADOPTED) == []


def test_a_swept_task_is_free_and_its_owner_cannot_finish_it(store: port.Store) -> None:
    held = take(store, "s1").claim
    fall_silent(store, "s1")
    answer = take(store, "s2")
    assert not answer.is_adopted
    assert answer.previous is not None
    assert (answer.previous.outcome, answer.previous.closed_by) == ("released_stale", None)
    registry.beat(store, spot(), "s1")
    late = claims.close(store, spot(), "s1", TASK, held.epoch, claims.DONE)
    assert isinstance(late, claims.Refused)
    assert late.last == answer.claim


@pytest.mark.parametrize("way", ["adopted", "released_stale", "released_end"])
def test_what_an_owner_left_stands_on_its_closed_claim(store: port.Store, way: str) -> None:
    session = registry.Session(
        ids.SessionId("s1"), ids.AgentName("agent-s1"), transcript="/t.jsonl"
    )
    registry.register(store, spot(), session)
    take(store, "s1")
    registry.beat(store, spot(beat_ms=0), "s1", registry.News("Half of it.", TASK, place=HERE))
    if way == "released_end":
        registry.end(store, "s1")
    elif way == "released_stale":
        fall_silent(store, "s1")
    else:
        silence(store, "s1", 400)
    left = take(store, "s2").previous
    assert left is not None
    assert left.outcome == way
    assert (left.worktree, left.branch, left.head) == HERE
    assert (left.checkpoint, left.transcript) == ("Half of it.", "/t.jsonl")
    assert left.checkpoint_at is not None


def test_progress_on_another_task_is_no_checkpoint(store: port.Store) -> None:
    take(store, "s1", TASK)
    take(store, "s1", OTHER_TASK)
    registry.beat(store, spot(), "s1", registry.News("About the second."))
    checkpoints = {claim.key: claim.checkpoint for claim in claims.open_ones(store.rows)}
    assert checkpoints == {TASK: None, OTHER_TASK: "About the second."}


# Reservations


def test_a_claim_names_its_paths_in_one_form(store: port.Store) -> None:
    claim = take(store, "s1", TASK, "./src//b/", "src/b", "docs/*.md").claim
    assert claims.reserved(store.rows, claim) == ["docs/*.md", "src/b"]


def test_asking_again_adds_paths(store: port.Store) -> None:
    take(store, "s1", TASK, "src")
    claim = take(store, "s1", TASK, "docs").claim
    assert claims.reserved(store.rows, claim) == ["docs", "src"]


def test_an_overlap_with_a_live_agent_is_reported(store: port.Store) -> None:
    take(store, "s1", TASK, "src/core")
    answer = take(store, "s2", OTHER_TASK, "docs", "src/**/api.py")
    expected = conflicts.Overlap("work", "T-1", "s1", "agent-s1", "src/**/api.py", "src/core")
    assert answer.overlaps == (expected,)
    [conflict] = conflicts.open_ones(store.rows)
    assert (conflict.kind, conflict.session_id, conflict.other_session_id) == ("paths", "s2", "s1")
    assert (conflict.task, conflict.other_task) == ("T-2", "T-1")
    assert "src/**/api.py" in conflict.detail


def test_paths_apart_are_no_overlap(store: port.Store) -> None:
    take(store, "s1", TASK, "src/core")
    assert take(store, "s2", OTHER_TASK, "src/cores", "docs").overlaps == ()
    assert conflicts.all_ones(store.rows, 10) == []


def test_a_claim_without_paths_overlaps_nothing(store: port.Store) -> None:
    take(store, "s1", TASK, "**")
    assert take(store, "s2", OTHER_TASK).overlaps == ()


def test_a_session_is_not_in_its_own_way(store: port.Store) -> None:
    take(store, "s1", TASK, "src")
    assert take(store, "s1", OTHER_TASK, "src").overlaps == ()
    assert conflicts.all_ones(store.rows, 10) == []


def test_the_paths_of_the_dead_are_free(store: port.Store) -> None:
    process = agency.sleeper()
    begin(store, "s1", pid=process.pid)
    take(store, "s1", TASK, "src")
    agency.end(process)
    assert take(store, "s2", OTHER_TASK, "src").overlaps == ()
    assert conflicts.all_ones(store.rows, 10) == []


def test_the_paths_of_a_suspect_are_not_free(store: port.Store) -> None:
    begin(store, "s1", process=FAR_AWAY)
    take(store, "s1", TASK, "src")
    silence(store, "s1", 1000)
    assert len(take(store, "s2", OTHER_TASK, "src").overlaps) == 1


def test_the_paths_of_a_closed_claim_are_free(store: port.Store) -> None:
    let_go(store, take(store, "s1", TASK, "src").claim)
    assert take(store, "s2", OTHER_TASK, "src").overlaps == ()


def test_a_conflict_is_raised_once_and_told_to_both(store: port.Store) -> None:
    take(store, "s1", TASK, "src", "docs")
    for _ in range(3):
        assert len(take(store, "s2", OTHER_TASK, "src", "docs").overlaps) == 2
    [conflict] = conflicts.open_ones(store.rows)
    for session_id in ("s1", "s2"):
        [message] = inbox(store, session_id)
        assert (message.type, message.priority) == ("task_conflict", messages.HIGH)
        assert (message.to_session, message.sender_session) == (session_id, None)
        assert message.body == conflict.detail
    [event] = said(store, events.CONFLICT_RAISED)
    assert (event.session, event.task) == ("s2", "T-2")
    assert event.data == {
        "conflict": conflict.id,
        "kind": "paths",
        "other_session": "s1",
        "other_task": "T-1",
        "detail": conflict.detail,
    }


def test_overlaps_with_several_claims_are_several_conflicts(store: port.Store) -> None:
    begin(store, "s3")
    take(store, "s1", TASK, "src")
    take(store, "s2", OTHER_TASK, "docs")
    take(store, "s3", key("jira:T-1"), "**")
    found = {(one.other_session_id, one.other_task) for one in conflicts.open_ones(store.rows)}
    assert found == {("s1", "T-1"), ("s2", "T-2")}
    assert len(conflicts.open_ones(store.rows, "s1")) == 1
    assert len(conflicts.open_ones(store.rows, "s3")) == 2
    assert len(inbox(store, "s3")) == 2


def test_of_two_that_reserve_the_same_path_at_once_one_hears_of_it(
    in_postgres: agency.OpenStore,
) -> None:
    """While `s1` looks at who else is there, `s2` reserves: SQLite lets only one write anyway."""
    first, second, watch = in_postgres(), in_postgres(), in_postgres()
    for session_id in ("s1", "s2", "s3"):
        begin(first, session_id, pid=os.getpid())
    take(first, "s3", key("T-3"), "src")
    others: list[futures.Future[claims.Claimed]] = []
    with futures.ThreadPoolExecutor(1) as thread:

        def look(pid: int) -> host.Sighting:
            if not others:
                others.append(thread.submit(take, second, "s2", OTHER_TASK, "src"))
            while not (watch.rows(WAITING) or others[0].done()):
                pass
            return host.observe(pid)

        claims.take(first, spot(observe=look), "s1", TASK, patterns=["src"])
    overlaps = others[0].result().overlaps
    assert {overlap.session_id for overlap in overlaps} == {"s1", "s3"}


# Working on a task that another has


def test_work_on_a_task_of_another_is_a_conflict(store: port.Store) -> None:
    take(store, "s1")
    work_on(store, "s2")
    [conflict] = conflicts.open_ones(store.rows)
    assert (conflict.kind, conflict.session_id, conflict.other_session_id) == ("work", "s2", "s1")
    assert (conflict.task, conflict.other_task) == ("T-1", "T-1")
    assert "refused" not in conflict.detail
    assert [message.type for message in inbox(store, "s1")] == ["task_conflict"]
    assert [message.type for message in inbox(store, "s2")] == ["task_conflict"]


def test_work_on_a_task_that_was_refused_says_so(store: port.Store) -> None:
    take(store, "s1")
    ask(store, "s2")
    assert conflicts.open_ones(store.rows) == [], "to ask is no conflict"
    work_on(store, "s2")
    [conflict] = conflicts.open_ones(store.rows)
    assert "refused" in conflict.detail


def test_a_refusal_of_an_earlier_claim_is_no_refusal_of_this_one(store: port.Store) -> None:
    held = take(store, "s1").claim
    ask(store, "s2")
    let_go(store, held)
    take(store, "s1")
    work_on(store, "s2")
    [conflict] = conflicts.open_ones(store.rows)
    assert "refused" not in conflict.detail


def test_going_on_with_the_work_raises_no_second_conflict(store: port.Store) -> None:
    take(store, "s1")
    work_on(store, "s2")
    for progress in ("Reading.", "Writing."):
        registry.beat(store, spot(beat_ms=0), "s2", registry.News(progress, TASK))
    assert len(conflicts.all_ones(store.rows, 10)) == 1
    assert len(inbox(store, "s1")) == 1


def test_who_was_there_first_and_did_not_ask_is_noticed_later(store: port.Store) -> None:
    work_on(store, "s2")
    take(store, "s1")
    registry.beat(store, spot(beat_ms=0), "s2")
    [conflict] = conflicts.open_ones(store.rows)
    assert (conflict.session_id, conflict.other_session_id) == ("s2", "s1")


def test_the_owner_of_a_task_that_was_taken_over_is_in_conflict_if_it_goes_on(
    store: port.Store,
) -> None:
    take(store, "s1")
    claims.take(store, spot(), "s2", TASK, takes_over=True)
    registry.beat(store, spot(beat_ms=0), "s1", registry.News("Still at it."))
    assert conflicts.open_ones(store.rows) == [], "it may just not have read its message"
    registry.beat(store, spot(beat_ms=0), "s1", registry.News("Still at it.", TASK))
    [conflict] = conflicts.open_ones(store.rows)
    assert (conflict.kind, conflict.session_id, conflict.other_session_id) == ("work", "s1", "s2")


def test_work_on_a_task_of_the_dead_is_no_conflict(store: port.Store) -> None:
    process = agency.sleeper()
    begin(store, "s1", pid=process.pid)
    take(store, "s1")
    agency.end(process)
    work_on(store, "s2")
    assert conflicts.all_ones(store.rows, 10) == []


def test_work_on_the_same_id_of_another_source_is_no_conflict(store: port.Store) -> None:
    take(store, "s1", key("A-1"))
    work_on(store, "s2", key("jira:A-1"))
    assert conflicts.all_ones(store.rows, 10) == []


def test_work_on_a_free_task_or_on_ones_own_is_no_conflict(store: port.Store) -> None:
    take(store, "s1")
    work_on(store, "s1")
    work_on(store, "s2", OTHER_TASK)
    assert conflicts.all_ones(store.rows, 10) == []


# Resolving

Scene = Callable[[port.Store], model.Claim]
Step = Callable[[port.Store, model.Claim], object]


def overlapping(store: port.Store) -> model.Claim:
    """`s2` claims paths that `s1` has; what `s1` has."""
    held = take(store, "s1", TASK, "src").claim
    take(store, "s2", OTHER_TASK, "src")
    assert len(conflicts.open_ones(store.rows)) == 1
    return held


def intruding(store: port.Store) -> model.Claim:
    """`s2` works on what `s1` has."""
    held = take(store, "s1").claim
    work_on(store, "s2")
    assert len(conflicts.open_ones(store.rows)) == 1
    return held


def the_holder_is_done(store: port.Store, held: model.Claim) -> None:
    let_go(store, held, claims.DONE)


def the_holder_lets_go(store: port.Store, held: model.Claim) -> None:
    let_go(store, held, claims.RELEASED)


def the_holder_ends(store: port.Store, _held: model.Claim) -> None:
    registry.end(store, "s1")


def the_holder_falls_silent(store: port.Store, _held: model.Claim) -> None:
    fall_silent(store, "s1")


def the_holder_is_relieved(store: port.Store, _held: model.Claim) -> None:
    begin(store, "s3")
    claims.take(store, spot(), "s3", TASK, takes_over=True)


def the_other_ends(store: port.Store, _held: model.Claim) -> None:
    registry.end(store, "s2")


def the_other_falls_silent(store: port.Store, _held: model.Claim) -> None:
    fall_silent(store, "s2")


def the_other_lets_go(store: port.Store, _held: model.Claim) -> None:
    claim = claims.open_of(store.rows, OTHER_TASK)
    assert claim is not None
    let_go(store, claim)


def the_other_works_on_something_else(store: port.Store, _held: model.Claim) -> None:
    work_on(store, "s2", OTHER_TASK)


def the_other_takes_something_else(store: port.Store, _held: model.Claim) -> None:
    take(store, "s2", key("T-9"))


def the_other_rests(store: port.Store, _held: model.Claim) -> None:
    registry.rest(store, spot(), "s2")


def the_other_takes_over(store: port.Store, _held: model.Claim) -> None:
    claims.take(store, spot(), "s2", TASK, takes_over=True)


def the_holder_works_on_something_else(store: port.Store, _held: model.Claim) -> None:
    work_on(store, "s1", key("T-9"))


def the_holder_rests(store: port.Store, _held: model.Claim) -> None:
    registry.rest(store, spot(), "s1")


def both_read_of_it(store: port.Store, _held: model.Claim) -> None:
    for session_id in ("s1", "s2"):
        reader = agency.agent(store, session_id)
        messages.mark(store, reader, inbox(store, session_id), as_read=True)
        assert inbox(store, session_id) == []


def the_messages_expire(store: port.Store, _held: model.Claim) -> None:
    store.write("test", lambda transaction: transaction.rows(EXPIRE))
    assert inbox(store, "s1") == []


def the_other_beats(store: port.Store, _held: model.Claim) -> None:
    registry.beat(store, spot(beat_ms=0), "s2")


@pytest.mark.parametrize(
    ("scene", "step", "resolution"),
    [
        (overlapping, the_holder_is_done, "finished"),
        (overlapping, the_holder_lets_go, "let_go"),
        (overlapping, the_holder_ends, "let_go"),
        (overlapping, the_holder_falls_silent, "let_go"),
        (overlapping, the_holder_is_relieved, "let_go"),
        (overlapping, the_other_lets_go, "let_go"),
        (overlapping, the_other_ends, "let_go"),
        (overlapping, the_other_falls_silent, "let_go"),
        (intruding, the_holder_is_done, "finished"),
        (intruding, the_holder_lets_go, "let_go"),
        (intruding, the_holder_ends, "let_go"),
        (intruding, the_holder_falls_silent, "let_go"),
        (intruding, the_holder_is_relieved, "let_go"),
        (intruding, the_other_ends, "let_go"),
        (intruding, the_other_falls_silent, "let_go"),
        (intruding, the_other_works_on_something_else, "let_go"),
        (intruding, the_other_takes_something_else, "let_go"),
        (intruding, the_other_rests, "let_go"),
        (intruding, the_other_takes_over, "let_go"),
    ],
)
def test_a_conflict_is_resolved_when_the_task_is_done_or_a_party_lets_go(
    store: port.Store, scene: Scene, step: Step, resolution: str
) -> None:
    held = scene(store)
    [raised] = conflicts.open_ones(store.rows)
    step(store, held)
    assert conflicts.open_ones(store.rows) == []
    [conflict] = conflicts.all_ones(store.rows, 10)
    assert conflict.resolved_at is not None
    assert conflict.resolution == resolution
    [event] = said(store, events.CONFLICT_RESOLVED)
    assert (event.session, event.task) == (raised.session_id, raised.task)
    assert event.data == {"conflict": raised.id, "resolution": resolution}


@pytest.mark.parametrize(
    ("scene", "step"),
    [
        (overlapping, both_read_of_it),
        (overlapping, the_messages_expire),
        (overlapping, the_other_works_on_something_else),
        (overlapping, the_other_rests),
        (overlapping, the_holder_rests),
        (overlapping, the_holder_works_on_something_else),
        (intruding, both_read_of_it),
        (intruding, the_messages_expire),
        (intruding, the_other_beats),
        (intruding, the_holder_rests),
        (intruding, the_holder_works_on_something_else),
    ],
)
def test_a_conflict_stays_open_as_long_as_both_have_what_it_is_about(
    store: port.Store, scene: Scene, step: Step
) -> None:
    held = scene(store)
    before = conflicts.open_ones(store.rows)
    step(store, held)
    assert conflicts.open_ones(store.rows) == before
    assert said(store, events.CONFLICT_RESOLVED) == []


def test_a_conflict_of_others_is_not_resolved_with_this_one(store: port.Store) -> None:
    for session_id in ("s3", "s4"):
        begin(store, session_id)
    intruding(store)
    take(store, "s3", OTHER_TASK)
    work_on(store, "s4", OTHER_TASK)
    registry.end(store, "s2")
    assert [one.session_id for one in conflicts.open_ones(store.rows)] == ["s4"]


def test_what_was_resolved_can_be_a_conflict_again(store: port.Store) -> None:
    intruding(store)
    registry.rest(store, spot(), "s2")
    work_on(store, "s2")
    assert len(conflicts.open_ones(store.rows)) == 1
    assert len(conflicts.all_ones(store.rows, 10)) == 2
    assert len(inbox(store, "s1")) == 2
