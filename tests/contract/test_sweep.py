"""What every sweep promises, on each store: who is swept, what is freed, told and forgotten."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import agency, crowd
from tests.agency import OpenStore
from tether import clock, host, ids, workspace
from tether.agents import claims, lookout, messages, model, registry, roll, sweep
from tether.store import events, port, sql, sqlite, transfer

HOUR = 3600
DAY = 24 * HOUR
WEEK = 7 * DAY
LEASE, GRACE, NAMESPACE_GRACE = 900, 900, DAY
SOURCE = "issues"
NEVER_A_PID = 4294967

RULES = sweep.Rules()
_AGE_EVENTS = sql.Query(
    "age_events", "", "UPDATE events SET at = tether_now(:ago_ms) WHERE session = :session_id"
)
_AGE_HEARTBEATS = sql.Query(
    "age_heartbeats",
    "",
    "UPDATE heartbeats SET at = tether_now(:ago_ms) WHERE progress = :progress",
)
_HEARTBEATS = sql.Query("heartbeats", "", "SELECT progress FROM heartbeats ORDER BY id")
_MANY_HEARTBEATS = sql.Query(
    "many_heartbeats",
    "",
    "WITH RECURSIVE numbers (n) AS"
    " (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < CAST(:many AS BIGINT))"
    " INSERT INTO heartbeats (id, session_id, at, progress)"
    " SELECT n, CAST(:session_id AS TEXT), tether_now(:ago_ms), 'many' FROM numbers",
)
_DAMAGE_BEAT = sql.Query(
    "damage_beat", "", "UPDATE agents SET last_beat_at = :value WHERE session_id = :session_id"
)
_DAMAGE_SEEN = sql.Query(
    "damage_seen", "", "UPDATE agents SET last_seen_at = :value WHERE session_id = :session_id"
)
_FORGET_BOOT = sql.Query(
    "forget_boot", "", "UPDATE agents SET beat_boot_id = '' WHERE session_id = :session_id"
)


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    yield from agency.closing(agency.opener_of(request.param, tmp_path, request))


@pytest.fixture
def store(opened: OpenStore) -> port.Store:
    return opened()


def do(store: port.Store, query: sql.Query, **params: object) -> None:
    store.write("test", lambda transaction: transaction.rows(query, **params))


def begin(
    store: port.Store,
    session_id: str,
    silent_seconds: float = 0,
    *,
    pid: int | None = None,
    process: host.Process | None = None,
    kind: str = "other",
    parent: str | None = None,
    tasks: tuple[str, ...] = (),
) -> None:
    """A session with claims that was last heard from so long ago."""
    agency.begin(store, session_id, pid=pid, process=process, kind=kind, parent=parent)
    for task in tasks:
        take(store, session_id, task)
    agency.silence(store, session_id, silent_seconds)


def take(store: port.Store, session_id: str, task: str) -> model.Claim:
    answer = claims.take(store, agency.spot(), session_id, agency.key(f"{SOURCE}:{task}"))
    assert isinstance(answer, claims.Claimed)
    return answer.claim


def tell(store: port.Store, session_id: str, progress: str) -> None:
    """A progress text, however soon after the last one."""
    news = registry.News(progress=progress)
    registry.beat(store, agency.spot(beat_ms=0), session_id, news)


def run(
    store: port.Store, rules: sweep.Rules = RULES, at: lookout.Lookout | None = None
) -> sweep.Swept:
    return sweep.sweep(store, at or agency.spot(), rules)


def stale(swept: sweep.Swept) -> list[str]:
    return [agent.session_id for agent in swept.stale_agents]


def status(store: port.Store, session_id: str) -> str:
    return agency.agent(store, session_id).status


def told(store: port.Store, *kinds: events.EventType) -> list[events.Event]:
    names = [kind.name for kind in kinds]
    return [event for event in events.after(store, 0, 10_000) if event.type in names]


def exported(store: port.Store) -> list[bytes]:
    lines: list[bytes] = []
    transfer.export(store, None, lines.append)
    return lines


def elsewhere(pid: int = 1) -> host.Process:
    """A process on another host, which has another boot and may have the same pids."""
    return host.Process("another-host", "another-boot", "pid:[4026531836]", pid, 1)


def neighbour(pid: int = 1) -> host.Process:
    """A process in another pid namespace of this host."""
    here = host.here()
    return host.Process(here.host_id, here.boot_id, "pid:[1234567890]", pid, 1)


def gone() -> host.Process:
    """A process of this place that has ended."""
    return host.Process(*host.here(), NEVER_A_PID, 1)


# The cases of the seed


def test_01_without_a_pid_a_silent_session_is_over(store: port.Store) -> None:
    begin(store, "a", 300)

    [candidate] = sweep.look(store, agency.spot(), RULES)

    assert (candidate.pid, candidate.verdict) == (None, "expired")


def test_02_our_own_pid_is_alive(store: port.Store) -> None:
    begin(store, "a", DAY, pid=os.getpid())

    [candidate] = sweep.look(store, agency.spot(), RULES)

    assert (candidate.pid, candidate.verdict) == (os.getpid(), "alive")


def test_03_a_pid_that_cannot_be_is_dead(store: port.Store) -> None:
    begin(store, "a", 300, process=gone())

    [candidate] = sweep.look(store, agency.spot(), RULES)

    assert (candidate.pid, candidate.verdict) == (NEVER_A_PID, "dead")


def test_04_a_silent_session_becomes_stale_and_is_listed(store: port.Store) -> None:
    begin(store, "a", 600)

    swept = run(store)

    assert swept.stale_agents == (sweep.Stale("a", "agent-a", ()),)
    assert status(store, "a") == "stale"


def test_05_its_claim_is_free_and_listed(store: port.Store) -> None:
    begin(store, "a", 600, tasks=("one",))
    key = agency.key(f"{SOURCE}:one")

    [swept] = run(store).stale_agents

    assert swept.released_items == (f"{SOURCE}:one",)
    assert claims.open_of(store.rows, key) is None
    agency.begin(store, "b")
    assert take(store, "b", "one").session_id == "b"


def test_06_agent_stale_tells_who_and_why(store: port.Store) -> None:
    begin(store, "a", 600, process=gone())
    last_seen_at = agency.agent(store, "a").last_seen_at

    run(store)

    [event] = told(store, events.AGENT_STALE)
    assert (event.actor, event.session, event.task) == ("tether", "a", None)
    assert event.data == {
        "agent": "agent-a",
        "pid": NEVER_A_PID,
        "last_seen_at": last_seen_at,
        "verdict": "dead",
        "reason": f"there is no process {NEVER_A_PID} any more",
    }


def test_07_stale_locks_released_tells_what_is_free(store: port.Store) -> None:
    begin(store, "a", 600, tasks=("one", "two"))
    begin(store, "b", 600)

    run(store)

    [event] = told(store, events.STALE_LOCKS_RELEASED)
    assert (event.actor, event.session) == ("tether", "a")
    assert event.data == {"agent": "agent-a", "released": [f"{SOURCE}:one", f"{SOURCE}:two"]}


def test_08_a_live_process_is_noted_as_seen_and_not_as_heard_from(store: port.Store) -> None:
    begin(store, "a", DAY, pid=os.getpid(), tasks=("one",))
    before = agency.agent(store, "a")

    swept = run(store)

    after = agency.agent(store, "a")
    assert (stale(swept), swept.pids_verified) == ([], ("a",))
    assert after.status == "active"
    assert after.last_seen_at > before.last_seen_at
    assert after.last_beat_at == before.last_beat_at
    assert claims.open_of(store.rows, agency.key(f"{SOURCE}:one")) is not None
    assert run(store).pids_verified == (), "it was just seen"


def test_09_old_progress_is_forgotten_and_new_progress_is_not(store: port.Store) -> None:
    begin(store, "a")
    for progress in ("old", "old too", "fresh"):
        tell(store, "a", progress)
    for progress in ("old", "old too"):
        do(store, _AGE_HEARTBEATS, progress=progress, ago_ms=-8 * sweep.DAY_MS)

    assert run(store).heartbeats_pruned == 2
    assert [row["progress"] for row in store.rows(_HEARTBEATS)] == ["fresh"]


def test_10_no_pid_alone_does_not_end_a_session_that_is_heard_from(store: port.Store) -> None:
    begin(store, "heard", 200)
    begin(store, "silent", 400)

    assert stale(run(store)) == ["silent"]


def test_11_with_no_candidates_nothing_happens(store: port.Store) -> None:
    assert run(store) == sweep.Swept((), (), (), (), 0, 0)
    assert sweep.look(store, agency.spot(), RULES) == []
    assert events.latest(store, 10) == []


def test_12_a_session_that_was_just_heard_from_is_not_touched(store: port.Store) -> None:
    begin(store, "a", 290, tasks=("one",))
    begin(store, "b", 0, process=gone())
    before = exported(store)

    assert run(store) == sweep.Swept((), (), (), (), 0, 0)
    assert exported(store) == before


def test_13_sessions_that_are_over_are_no_candidates(store: port.Store) -> None:
    begin(store, "ended", 600)
    begin(store, "stale", 600)
    registry.end(store, "ended")
    agency.silence(store, "ended", 600)
    assert stale(run(store)) == ["stale"]
    said = events.after(store, 0, 100)

    assert run(store) == sweep.Swept((), (), (), (), 0, 0)
    assert run(store, sweep.Rules(stale_ms=0)) == sweep.Swept((), (), (), (), 0, 0)
    assert sweep.look(store, agency.spot(), sweep.Rules(stale_ms=0)) == []
    assert events.after(store, 0, 100) == said


def test_16_a_look_lists_candidates_and_leaves_them_active(store: port.Store) -> None:
    begin(store, "a", 600)
    last_seen_at = agency.agent(store, "a").last_seen_at

    [candidate] = sweep.look(store, agency.spot(), RULES)

    assert candidate == sweep.Candidate(
        "a",
        "agent-a",
        None,
        last_seen_at,
        "expired",
        "silent for 10 min, and no process is known",
        (),
    )
    assert status(store, "a") == "active"


def test_17_a_threshold_of_5_s_catches_a_session_that_is_silent_for_10_s(store: port.Store) -> None:
    begin(store, "a", 10)

    assert stale(run(store)) == []
    assert stale(run(store, sweep.Rules(stale_ms=5000))) == ["a"]


# What is released


def test_a_released_claim_keeps_what_is_known_of_the_work(store: port.Store) -> None:
    place = model.Place("/home/ada/tree", "feature", "0" * 40)
    session = registry.Session(
        ids.SessionId("a"), ids.AgentName("agent-a"), transcript="/logs/a.jsonl"
    )
    registry.register(store, agency.spot(), session, place)
    taken = take(store, "a", "one")
    news = registry.News(progress="half done", key=taken.key)
    registry.beat(store, agency.spot(), "a", news)
    moved = registry.News(place=place._replace(head="1" * 40))
    registry.beat(store, agency.spot(beat_ms=0), "a", moved)
    agency.silence(store, "a", 600)

    run(store)

    [claim] = claims.history(store.rows, taken.key)
    assert claim.closed_at is not None
    assert claim[:6] == taken[:6]
    assert (claim.outcome, claim.closed_by) == ("released_stale", None)
    assert (claim.worktree, claim.branch, claim.head) == ("/home/ada/tree", "feature", "1" * 40)
    assert (claim.checkpoint, claim.transcript) == ("half done", "/logs/a.jsonl")


def test_only_the_claims_of_the_dead_are_released(store: port.Store) -> None:
    begin(store, "a", 600, tasks=("one", "two"))
    begin(store, "b", 0, tasks=("three",))
    begin(store, "c", 600, pid=os.getpid(), tasks=("four",))

    run(store)

    assert [claim.task for claim in claims.open_ones(store.rows)] == ["three", "four"]


def test_claims_that_were_closed_before_stay_as_they_were(store: port.Store) -> None:
    agency.begin(store, "a")
    done = take(store, "a", "one")
    closed = claims.close(store, agency.spot(), "a", done.key, done.epoch, claims.DONE)
    agency.silence(store, "a", 600)

    [swept] = run(store).stale_agents

    assert swept.released_items == ()
    assert claims.history(store.rows, done.key) == [closed]
    assert told(store, events.STALE_LOCKS_RELEASED) == []


def test_an_idle_session_is_swept_with_its_claims(store: port.Store) -> None:
    agency.begin(store, "a")
    take(store, "a", "one")
    registry.rest(store, agency.spot(), "a")
    agency.silence(store, "a", 600)

    assert run(store).stale_agents == (sweep.Stale("a", "agent-a", (f"{SOURCE}:one",)),)


def test_a_stale_session_works_on_nothing_and_has_an_end(store: port.Store) -> None:
    begin(store, "a", 600, tasks=("one",))

    run(store)

    after = agency.agent(store, "a")
    assert (after.status, after.key) == ("stale", None)
    assert after.ended_at is not None


def test_each_claim_is_told_as_closed(store: port.Store) -> None:
    begin(store, "a", 600, tasks=("one", "two"))

    run(store)

    closed = told(store, events.CLAIM_CLOSED)
    assert [(event.session, event.task) for event in closed] == [("a", "one"), ("a", "two")]
    assert {event.data["outcome"] for event in closed} == {"released_stale"}


def test_a_parent_is_told_of_the_end_of_its_child(store: port.Store) -> None:
    agency.begin(store, "parent")
    begin(store, "child", 600, parent="parent", tasks=("one",))

    run(store)

    [message] = messages.unread(store, agency.agent(store, "parent"), 10)
    assert (message.type, message.sender) == ("session_lifecycle", "agent-child")
    assert message.body == (
        f"agent-child is over: silent for 10 min, and no process is known. It held {SOURCE}:one."
    )


@pytest.mark.parametrize("parent", [None, "nobody", "parent"])
def test_a_parent_that_is_not_there_is_not_told(store: port.Store, parent: str | None) -> None:
    agency.begin(store, "parent")
    registry.end(store, "parent")
    begin(store, "child", 600, parent=parent)

    assert stale(run(store)) == ["child"]
    assert told(store, events.MESSAGE_SENT) == []


def test_a_session_that_comes_back_learns_what_it_lost(store: port.Store) -> None:
    begin(store, "a", 600, tasks=("one",))
    run(store)

    beat = registry.beat(store, agency.spot(), "a")

    assert beat.has_recovered
    assert [key.label for key in beat.lost] == [f"{SOURCE}:one"]
    assert stale(run(store)) == []


# Evidence is looked at again


class Once:
    """Eyes, or a clock, that let something happen the first time they are used."""

    def __init__(self, happens: Callable[[], object], at: int = 1) -> None:
        self._happens = happens
        self._left = at

    def _count(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._happens()

    def observe(self, pid: int) -> host.Sighting:
        self._count()
        return host.observe(pid)

    def monotonic_ms(self) -> int:
        self._count()
        return host.monotonic_ms()


def test_a_beat_between_the_look_and_the_mark_wins(store: port.Store) -> None:
    begin(store, "a", 600, process=gone(), tasks=("one",))
    eyes = Once(lambda: registry.beat(store, agency.spot(), "a"))

    swept = run(store, at=agency.spot(observe=eyes.observe))

    assert swept == sweep.Swept((), (), (), (), 0, 0)
    assert status(store, "a") == "active"
    assert claims.open_of(store.rows, agency.key(f"{SOURCE}:one")) is not None
    assert told(store, events.AGENT_STALE, events.AGENT_RECOVERED) == []


def test_a_beat_of_a_session_without_a_pid_wins_too(store: port.Store) -> None:
    begin(store, "a", 600, tasks=("one",))
    watch = Once(lambda: registry.beat(store, agency.spot(), "a"))

    swept = run(store, at=agency.spot(monotonic_ms=watch.monotonic_ms))

    assert stale(swept) == []
    assert status(store, "a") == "active"


def test_an_end_between_the_look_and_the_mark_wins(store: port.Store) -> None:
    begin(store, "a", 600, process=gone())
    eyes = Once(lambda: registry.end(store, "a"))

    assert stale(run(store, at=agency.spot(observe=eyes.observe))) == []
    assert status(store, "a") == "ended"
    assert told(store, events.AGENT_STALE) == []


def test_another_sweep_between_the_look_and_the_mark_wins(store: port.Store) -> None:
    begin(store, "a", 600, process=gone(), tasks=("one",))
    eyes = Once(lambda: run(store))

    assert stale(run(store, at=agency.spot(observe=eyes.observe))) == []
    assert len(told(store, events.AGENT_STALE)) == 1
    assert len(told(store, events.STALE_LOCKS_RELEASED)) == 1


@pytest.mark.parametrize("opened", ["postgres"], indirect=True)
def test_a_beat_in_the_middle_of_the_marking_wins(opened: OpenStore) -> None:
    # SQLite has one writer at a time: nobody beats there while a session is marked.
    store, other = opened(), opened()
    begin(store, "a", 600, process=gone(), tasks=("one",))
    eyes = Once(lambda: registry.beat(other, agency.spot(), "a"), at=2)

    assert stale(run(store, at=agency.spot(observe=eyes.observe))) == []
    assert status(store, "a") == "active"
    assert told(store, events.AGENT_STALE, events.CLAIM_CLOSED) == []


def test_a_live_one_that_is_heard_from_meanwhile_keeps_its_beat(store: port.Store) -> None:
    begin(store, "a", 600, pid=os.getpid())
    eyes = Once(lambda: registry.beat(store, agency.spot(), "a"))

    swept = run(store, at=agency.spot(observe=eyes.observe))

    assert swept.pids_verified == ()
    assert status(store, "a") == "active"


def test_sweeps_at_once_give_one_set_of_events(opened: OpenStore) -> None:
    store = opened()
    sessions = [f"s{number}" for number in range(8)]
    for session_id in sessions:
        begin(store, session_id, 600, tasks=(f"of-{session_id}",))

    def work(_: int) -> list[str]:
        own = opened()
        found = stale(run(own))
        own.close()
        return found

    found = [session_id for answer in crowd.run(4, work) for session_id in answer]

    assert sorted(found) == sessions
    for kind in (events.AGENT_STALE, events.STALE_LOCKS_RELEASED, events.CLAIM_CLOSED):
        assert sorted(event.session or "" for event in told(store, kind)) == sessions
    assert claims.open_ones(store.rows) == []


def test_sweeps_and_a_beat_at_once_agree_on_what_happened(opened: OpenStore) -> None:
    store = opened()
    begin(store, "a")
    for _ in range(5):
        agency.silence(store, "a", 600)

        def work(number: int) -> list[str]:
            own = opened()
            if number == 0:
                registry.beat(own, agency.spot(), "a")
            found = stale(run(own)) if number else []
            own.close()
            return found

        answers = crowd.run(3, work)

        marked = sum(len(answer) for answer in answers)
        said = told(store, events.AGENT_STALE, events.AGENT_RECOVERED)
        assert status(store, "a") == "active" or said[-1].type == "agent_stale"
        assert marked <= 1
        registry.beat(store, agency.spot(), "a")
    kinds = [event.type for event in told(store, events.AGENT_STALE, events.AGENT_RECOVERED)]
    assert kinds == ["agent_stale", "agent_recovered"] * (len(kinds) // 2)


# One damaged row


@pytest.mark.parametrize("value", ["nonsense", "", "2026-13-01T00:00:00.000Z"])
@pytest.mark.parametrize("kind", ["other", "human"])
def test_a_damaged_beat_keeps_no_other_from_being_swept(
    store: port.Store, value: str, kind: str
) -> None:
    for session_id in ("a", "b", "c"):
        begin(store, session_id, 2 * WEEK, kind=kind, tasks=(f"of-{session_id}",))
    do(store, _DAMAGE_BEAT, session_id="b", value=value)

    swept = run(store)

    assert stale(swept) == ["a", "c"]
    [problem] = swept.problems
    assert (problem.session_id, problem.code) == ("b", "failed")
    assert "row is not right" in problem.message
    assert status(store, "b") == "active"
    assert [claim.session_id for claim in claims.open_ones(store.rows)] == ["b"]


@pytest.mark.parametrize("value", ["nonsense", "", "2026-13-01T00:00:00.000Z"])
@pytest.mark.parametrize("kind", ["other", "human"])
def test_a_damaged_sighting_keeps_no_other_from_being_swept(
    store: port.Store, value: str, kind: str
) -> None:
    for session_id in ("a", "b", "c"):
        begin(store, session_id, 2 * WEEK, kind=kind)
    do(store, _DAMAGE_SEEN, session_id="b", value=value)

    swept = run(store)

    # Its last beat is whole: it may be swept, or named as a problem.
    assert set(stale(swept)) - {"b"} == {"a", "c"}
    assert {problem.session_id for problem in swept.problems} <= {"b"}


def test_a_damaged_row_does_not_stop_the_pruning(store: port.Store) -> None:
    begin(store, "a", 600)
    tell(store, "a", "old")
    do(store, _AGE_HEARTBEATS, progress="old", ago_ms=-8 * sweep.DAY_MS)
    agency.silence(store, "a", 600)
    do(store, _DAMAGE_BEAT, session_id="a", value="nonsense")

    swept = run(store)

    assert (len(swept.problems), swept.heartbeats_pruned) == (1, 1)


def test_a_look_gets_past_a_damaged_row(store: port.Store) -> None:
    for session_id in ("a", "b"):
        begin(store, session_id, 600)
    do(store, _DAMAGE_BEAT, session_id="a", value="nonsense")

    found = sweep.look(store, agency.spot(), RULES)
    assert {one.session_id: one.verdict for one in found} == {"a": "damaged", "b": "expired"}


# Thresholds


def test_a_threshold_of_0_means_all_but_live_processes_are_only_verified(
    store: port.Store,
) -> None:
    begin(store, "a")
    begin(store, "b", pid=os.getpid())
    begin(store, "c", process=gone())
    begin(store, "d", kind="human")
    begin(store, "e", process=elsewhere())

    swept = run(store, sweep.Rules(stale_ms=0))

    assert stale(swept) == ["a", "c", "d"]
    assert swept.pids_verified == ("b",)
    assert [status(store, session_id) for session_id in "abcde"] == [
        "stale",
        "active",
        "stale",
        "stale",
        "active",
    ]


def test_a_threshold_replaces_the_usual_patience_in_both_directions(store: port.Store) -> None:
    begin(store, "a", 400)
    begin(store, "b", 100)
    begin(store, "c", 400, kind="human")

    assert stale(run(store, sweep.Rules(stale_ms=500_000))) == []
    assert sorted(stale(run(store, sweep.Rules(stale_ms=200_000)))) == ["a", "c"]
    assert status(store, "b") == "active"


def test_the_usual_patience_is_that_of_the_lookout(store: port.Store) -> None:
    begin(store, "a", 100)
    spot = agency.spot()
    short = spot._replace(limits=spot.limits._replace(stale_ms=50_000))

    assert stale(run(store)) == []
    assert stale(run(store, at=short)) == ["a"]


def test_people_have_a_week(store: port.Store) -> None:
    begin(store, "a", WEEK - HOUR, kind="human")
    begin(store, "b", WEEK, kind="human")
    begin(store, "c", 300)

    assert {found.session_id for found in sweep.look(store, agency.spot(), RULES)} == {"b", "c"}
    assert sorted(stale(run(store))) == ["b", "c"]


def test_how_long_people_have_can_be_set(store: port.Store) -> None:
    begin(store, "a", HOUR, kind="human")

    assert stale(run(store, at=agency.spot(human_stale_ms=HOUR * 1000))) == ["a"]


# Looking


def test_a_look_changes_nothing_and_tells_what_would_be_released(store: port.Store) -> None:
    agency.begin(store, "parent")
    begin(store, "a", 600, parent="parent", tasks=("one", "two"))
    begin(store, "b", 600, pid=os.getpid(), tasks=("three",))
    begin(store, "c", LEASE + 60, process=elsewhere(), tasks=("four",))
    tell(store, "parent", "old")
    do(store, _AGE_HEARTBEATS, progress="old", ago_ms=-8 * sweep.DAY_MS)
    before = exported(store)

    found = sweep.look(store, agency.spot(), RULES)

    assert exported(store) == before
    assert {one.session_id: (one.verdict, one.would_release) for one in found} == {
        "a": ("expired", (f"{SOURCE}:one", f"{SOURCE}:two")),
        "b": ("alive", ()),
        "c": ("suspect", ()),
    }


def test_a_look_finds_what_the_sweep_then_does(store: port.Store) -> None:
    begin(store, "a", 600, tasks=("one",))
    begin(store, "b", 700, process=gone(), tasks=("two", "three"))
    begin(store, "c", 800, pid=os.getpid())

    found = sweep.look(store, agency.spot(), RULES)
    swept = run(store)

    over = [one for one in found if one.verdict in ("dead", "expired")]
    assert [(one.session_id, one.would_release) for one in over] == [
        (one.session_id, one.released_items) for one in swept.stale_agents
    ]


def test_a_look_at_a_store_that_is_not_there_makes_none(store: port.Store) -> None:
    assert sweep.look(store, agency.spot(), RULES) == []
    assert not store.exists()


# Other places


@pytest.mark.parametrize(
    ("silent_seconds", "verdict"),
    [
        (LEASE - 60, "alive"),
        (LEASE, "suspect"),
        (LEASE + GRACE - 60, "suspect"),
        (LEASE + GRACE, "expired"),
    ],
)
def test_a_session_on_another_host_is_judged_by_its_lease(
    store: port.Store, silent_seconds: float, verdict: str
) -> None:
    begin(store, "a", silent_seconds, process=elsewhere(os.getpid()), tasks=("one",))

    [candidate] = sweep.look(store, agency.spot(), RULES)
    swept = run(store)

    assert candidate.verdict == verdict
    assert stale(swept) == (["a"] if verdict == "expired" else [])
    assert [one.session_id for one in swept.suspects] == (["a"] if verdict == "suspect" else [])
    assert swept.pids_verified == ()


@pytest.mark.parametrize(
    ("silent_seconds", "verdict"),
    [
        (LEASE - 60, "alive"),
        (LEASE + GRACE, "suspect"),
        (LEASE + NAMESPACE_GRACE - 60, "suspect"),
        (LEASE + NAMESPACE_GRACE, "expired"),
    ],
)
def test_a_session_in_another_namespace_of_this_host_has_a_day_of_grace(
    store: port.Store, silent_seconds: float, verdict: str
) -> None:
    begin(store, "a", silent_seconds, process=neighbour(os.getpid()), tasks=("one",))

    [candidate] = sweep.look(store, agency.spot(), RULES)

    assert candidate.verdict == verdict
    assert stale(run(store)) == (["a"] if verdict == "expired" else [])


def test_suspects_are_shown_and_not_swept(store: port.Store) -> None:
    begin(store, "a", LEASE + 60, process=elsewhere(), tasks=("one",))
    before = exported(store)

    [suspect] = run(store).suspects

    assert (suspect.session_id, suspect.verdict) == ("a", "suspect")
    assert suspect.reason == "on another host, lease over for 60 s"
    assert exported(store) == before


def test_what_a_hosts_own_sweep_saw_counts_for_the_others(store: port.Store) -> None:
    """A long build: silent for longer than lease and grace, but its own host sees it."""
    here = host.here()
    other = agency.spot(here=host.Here("another-host", "another-boot", here.pid_namespace))
    agency.begin(store, "s1", pid=os.getpid())
    agency.silence(store, "s1", 40 * 60)
    assert other.verdict(agency.agent(store, "s1")).state == "expired"
    run(store)
    assert other.verdict(agency.agent(store, "s1")).state == "alive"
    assert sweep.sweep(store, other, RULES).stale_agents == ()


def test_a_hosts_own_sweep_publishes_a_certain_death_at_once(store: port.Store) -> None:
    # Elsewhere its lease would still run; here its process is known to be gone.
    begin(store, "a", 300, process=gone(), tasks=("one",))
    here = host.here()
    other = agency.spot(here=host.Here("another-host", "another-boot", here.pid_namespace))

    assert run(store, at=other).stale_agents == ()
    assert stale(run(store)) == ["a"]
    assert [event.data["verdict"] for event in told(store, events.AGENT_STALE)] == ["dead"]


def test_the_lease_is_as_long_as_the_last_beat_promised(store: port.Store) -> None:
    patient = agency.spot(lease_ms=2 * HOUR * 1000)
    agency.begin(store, "a", process=elsewhere(), at=patient)
    lease_ms = clock.parse(agency.agent(store, "a").lease_until) - clock.parse(
        agency.agent(store, "a").last_beat_at
    )

    assert abs(lease_ms - 2 * HOUR * 1000) < 1000


# Pruning


def test_how_long_progress_is_kept_can_be_set(store: port.Store) -> None:
    begin(store, "a")
    for days in (1, 3, 6):
        tell(store, "a", f"{days} days")
        do(store, _AGE_HEARTBEATS, progress=f"{days} days", ago_ms=-days * sweep.DAY_MS)

    assert run(store).heartbeats_pruned == 0
    assert run(store, sweep.Rules(keep_heartbeats_days=5)).heartbeats_pruned == 1
    assert run(store, sweep.Rules(keep_heartbeats_days=2)).heartbeats_pruned == 1
    assert [row["progress"] for row in store.rows(_HEARTBEATS)] == ["1 days"]


def test_old_chatter_is_forgotten_and_what_tells_of_work_is_not(store: port.Store) -> None:
    begin(store, "a")
    taken = take(store, "a", "one")
    tell(store, "a", "working")
    claims.close(store, agency.spot(), "a", taken.key, taken.epoch, claims.DONE)
    do(store, _AGE_EVENTS, session_id="a", ago_ms=-31 * sweep.DAY_MS)
    said = [event.type for event in events.after(store, 0, 100)]
    assert "heartbeat_received" in said

    swept = run(store)

    assert swept.events_pruned == 1
    assert [event.type for event in events.after(store, 0, 100)] == [
        kind for kind in said if kind != "heartbeat_received"
    ]
    assert status(store, "a") == "active"
    assert len(claims.history(store.rows, taken.key)) == 1


def test_every_type_that_is_chatter_is_pruned_and_no_other(store: port.Store) -> None:
    begin(store, "a")

    def say_everything(transaction: port.Transaction) -> None:
        for kind in events.REGISTRY:
            data = dict.fromkeys(kind.fields)
            transaction.event(kind, actor="tester", session="a", data=data)

    store.write("test", say_everything)
    do(store, _AGE_EVENTS, session_id="a", ago_ms=-31 * sweep.DAY_MS)

    assert run(store).events_pruned == sum(kind.is_chatter for kind in events.REGISTRY)
    left = {event.type for event in events.after(store, 0, 100)}
    assert left == {kind.name for kind in events.REGISTRY if not kind.is_chatter}


def test_how_long_chatter_is_kept_can_be_set(store: port.Store) -> None:
    begin(store, "a")
    tell(store, "a", "working")
    do(store, _AGE_EVENTS, session_id="a", ago_ms=-3 * sweep.DAY_MS)

    assert run(store).events_pruned == 0
    assert run(store, sweep.Rules(keep_chatter_days=4)).events_pruned == 0
    assert run(store, sweep.Rules(keep_chatter_days=2)).events_pruned == 1


def test_identities_and_claims_are_kept_for_ever(store: port.Store) -> None:
    begin(store, "a", 3650 * DAY, tasks=("one",))
    run(store)
    do(store, _AGE_EVENTS, session_id="a", ago_ms=-3650 * sweep.DAY_MS)

    run(store, sweep.Rules(keep_heartbeats_days=0, keep_chatter_days=0))

    assert status(store, "a") == "stale"
    assert len(claims.history(store.rows, agency.key(f"{SOURCE}:one"))) == 1
    assert len(told(store, events.AGENT_STALE, events.STALE_LOCKS_RELEASED)) == 2


def test_ids_of_events_are_not_given_again_after_pruning(store: port.Store) -> None:
    begin(store, "a")
    tell(store, "a", "working")
    last = events.latest(store, 1)[0].id
    do(store, _AGE_EVENTS, session_id="a", ago_ms=-31 * sweep.DAY_MS)
    run(store)

    agency.begin(store, "b")

    assert events.latest(store, 1)[0].id == last + 1


def test_much_that_is_old_is_forgotten_in_batches(store: port.Store) -> None:
    begin(store, "a")
    do(store, _MANY_HEARTBEATS, session_id="a", many=2500, ago_ms=-8 * sweep.DAY_MS)

    assert run(store, sweep.Rules(max_batches=0)).heartbeats_pruned == 0
    assert run(store, sweep.Rules(max_batches=1)).heartbeats_pruned == 1000
    assert run(store).heartbeats_pruned == 1500
    assert store.rows(_HEARTBEATS) == []


# Beats from the future


def test_a_beat_from_the_future_counts_from_now_and_later_expires(store: port.Store) -> None:
    begin(store, "a", -HOUR, tasks=("one",))
    do(store, _FORGET_BOOT, session_id="a")

    assert stale(run(store)) == []

    after = agency.agent(store, "a")
    # Each column reads the clock: they may be a millisecond apart.
    assert after.last_beat_at <= after.last_seen_at <= after.read_at
    assert clock.parse(after.last_seen_at) - clock.parse(after.last_beat_at) < 1000
    lease_ms = clock.parse(after.lease_until) - clock.parse(after.last_beat_at)
    assert abs(lease_ms - LEASE * 1000) < 1000
    agency.silence(store, "a", 300)
    assert stale(run(store)) == ["a"]


def test_a_clock_that_runs_a_little_fast_is_left_alone(store: port.Store) -> None:
    begin(store, "a", -30)
    do(store, _FORGET_BOOT, session_id="a")
    before = exported(store)

    run(store)

    assert exported(store) == before


def test_a_person_from_the_future_counts_from_now_too(store: port.Store) -> None:
    begin(store, "a", -HOUR, kind="human")
    do(store, _FORGET_BOOT, session_id="a")

    run(store)

    after = agency.agent(store, "a")
    assert after.last_seen_at <= after.read_at
    assert status(store, "a") == "active"


def test_a_dead_process_is_dead_although_its_beat_lies_in_the_future(store: port.Store) -> None:
    begin(store, "a", -HOUR, process=gone(), tasks=("one",))

    assert stale(run(store)) == ["a"]


# Clocks that jump: SQLite's clock is the machine's, and a test can move it


class World:
    """A store whose clock and whose running time are moved by hand."""

    def __init__(self, path: Path) -> None:
        self.clock = clock.FakeClock()
        self.running_ms = 5_000_000
        place = workspace.Workspace(None, str(path), str(path), str(path / "tether"))
        self.store = sqlite.SqliteStore(place, wait_seconds=60, time=self.clock)
        self.spot = agency.spot(monotonic_ms=lambda: self.running_ms)

    def begin(
        self, session_id: str, pid: int | None = None, process: host.Process | None = None
    ) -> None:
        agency.begin(self.store, session_id, pid=pid, process=process, at=self.spot)
        key = agency.key(f"{SOURCE}:of-{session_id}")
        claims.take(self.store, self.spot, session_id, key)

    def pass_ms(self, ms: int) -> None:
        """Time passes, by both clocks."""
        self.clock.advance(ms / 1000)
        self.running_ms += ms

    def jump(self, seconds: float) -> None:
        """Somebody sets the clock."""
        self.clock.advance(seconds)

    def beat(self, session_id: str) -> None:
        registry.beat(self.store, self.spot, session_id)

    def sweep(self, rules: sweep.Rules = RULES) -> list[str]:
        swept = run(self.store, rules, self.spot)
        assert swept.problems == ()
        return stale(swept)

    def verdict(self, session_id: str) -> str:
        return self.spot.verdict(agency.agent(self.store, session_id)).state


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.store.close()


JUMPS = [sign * size for sign in (1, -1) for size in (1, 59, 61, HOUR, DAY, 3650 * DAY)]


def test_a_session_is_stale_exactly_at_the_limit(world: World) -> None:
    world.begin("a")

    world.pass_ms(299_999)
    assert world.sweep() == []
    world.pass_ms(1)
    assert world.sweep() == ["a"]


def test_a_sweep_after_a_sweep_does_nothing(world: World) -> None:
    world.begin("a")
    world.pass_ms(300_000)
    world.sweep()
    before = exported(world.store)

    assert world.sweep() == []
    assert exported(world.store) == before


@pytest.mark.parametrize(
    ("process", "grace_ms"),
    [(elsewhere(), GRACE * 1000), (neighbour(), NAMESPACE_GRACE * 1000)],
    ids=["another host", "another namespace"],
)
def test_a_lease_is_over_exactly_at_its_end(
    world: World, process: host.Process, grace_ms: int
) -> None:
    world.begin("a", process=process)
    states = []
    for ms in (LEASE * 1000 - 1, 1, grace_ms - 1):
        world.pass_ms(ms)
        states.append(world.verdict("a"))
        assert world.sweep() == []
    world.pass_ms(1)

    assert states == ["alive", "suspect", "suspect"]
    assert world.sweep() == ["a"]


@pytest.mark.parametrize("seconds", JUMPS)
def test_a_jump_of_the_clock_ends_nobody(world: World, seconds: float) -> None:
    world.begin("beats")
    world.begin("runs", pid=os.getpid())
    world.begin("next-door", process=neighbour())
    world.pass_ms(200_000)
    world.jump(seconds)

    assert world.sweep() == []
    assert world.sweep(sweep.Rules(stale_ms=201_000)) == []
    world.beat("beats")
    world.pass_ms(299_999)
    assert world.sweep() == []


@pytest.mark.parametrize("seconds", JUMPS)
def test_a_jump_of_the_clock_gives_no_time_to_the_silent(world: World, seconds: float) -> None:
    world.begin("a")
    world.pass_ms(200_000)
    world.jump(seconds)
    world.sweep()
    world.pass_ms(99_999)
    assert world.sweep() == []
    world.pass_ms(1)

    assert world.sweep() == ["a"]


@pytest.mark.parametrize("seconds", JUMPS)
def test_what_is_over_is_over_whatever_the_clock_says_then(world: World, seconds: float) -> None:
    world.begin("a")
    world.pass_ms(300_000)
    world.jump(seconds)

    assert world.verdict("a") == "expired"
    assert world.sweep() == ["a"]


@pytest.mark.parametrize("seconds", JUMPS)
def test_no_jump_brings_a_stale_session_or_its_claim_back(world: World, seconds: float) -> None:
    world.begin("a")
    world.pass_ms(300_000)
    world.sweep()
    world.jump(seconds)

    assert world.sweep() == []
    assert status(world.store, "a") == "stale"
    assert claims.open_ones(world.store.rows) == []


@pytest.mark.parametrize("seconds", JUMPS)
def test_a_dead_process_is_found_after_a_jump(world: World, seconds: float) -> None:
    world.begin("a", process=gone())
    world.jump(seconds)
    found = world.sweep()
    # A clock that went back by less than a minute may delay the look by as much.
    world.pass_ms(360_000)

    assert [*found, *world.sweep()] == ["a"]


@pytest.mark.parametrize("seconds", JUMPS)
def test_a_threshold_of_0_means_all_after_a_jump_too(world: World, seconds: float) -> None:
    world.begin("a")
    world.begin("b", process=gone())
    world.jump(seconds)

    assert sorted(world.sweep(sweep.Rules(stale_ms=0))) == ["a", "b"]


def test_a_clock_that_stands_still_does_not_keep_the_silent(world: World) -> None:
    world.begin("a")
    world.running_ms += 300_000

    assert world.sweep() == ["a"]


def test_everybody_who_was_here_is_still_known(world: World) -> None:
    for session_id in ("a", "b"):
        world.begin(session_id)
    world.pass_ms(300_000)
    world.sweep()

    assert {agent.session_id for agent in roll.here(world.store.rows, everyone=True)} == {"a", "b"}
