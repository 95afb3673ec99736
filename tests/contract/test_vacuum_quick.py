"""The quick sweep, on SQLite and on PostgreSQL: what the store alone tells of dropped tasks."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import agency
from tests.agency import begin, key, spot
from tether import clock, ids
from tether.agents import claims, conflicts, model, registry, sweep
from tether.store import events, port, sql
from tether.vacuum import deferrals, deferring, quick, reports
from tether.vacuum import model as vacuum

TASK = key("track:H.1.1")
LIMITS = vacuum.Limits()
NOW_MS = sql.Query("now_ms", "", "SELECT tether_now_ms() AS ms")
AGE = sql.Query(
    "age",
    "",
    "UPDATE claims SET claimed_at = tether_now(-120000),"
    " closed_at = CASE WHEN closed_at IS NULL THEN NULL ELSE tether_now(-60000) END",
)
Sleeper = Callable[[], subprocess.Popen[bytes]]


# Each of these asks the store something that no other one does: they run on both databases.
ON_BOTH = {
    "test_an_open_claim_of_a_dead_process_is_dead_for_certain",
    "test_what_a_sweep_took_from_a_dead_process_stays_certain",
    "test_a_task_that_was_moved_since_is_no_dead_claim",
    "test_a_conflict_stays_abandoned_when_both_were_swept_away",
    "test_what_was_put_off_has_time_until_its_day",
    "test_what_was_found_is_written_down_and_cleared_by_quick_sweeps_alone",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    agency.on_databases(metafunc, ON_BOTH)


@pytest.fixture
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[agency.OpenStore]:
    yield from agency.closing(agency.opener_of(request.param, tmp_path, request))


@pytest.fixture
def store(opener: agency.OpenStore) -> port.Store:
    store = opener()
    store.ensure_writable()
    return store


@pytest.fixture
def sleeper() -> Iterator[Sleeper]:
    """Processes that live until they are killed, or until the test ends."""
    made: list[subprocess.Popen[bytes]] = []

    def make() -> subprocess.Popen[bytes]:
        made.append(agency.sleeper())
        return made[-1]

    yield make
    for process in made:
        agency.end(process)


def take(store: port.Store, session: str, task: ids.TaskKey = TASK, *paths: str) -> model.Claim:
    answer = claims.take(store, spot(), session, task, patterns=paths)
    assert isinstance(answer, claims.Claimed)
    return answer.claim


def let_go(store: port.Store, claim: model.Claim, outcome: str = claims.RELEASED) -> None:
    claims.close(store, spot(), claim.session_id, claim.key, claim.epoch, outcome)


def work_on(store: port.Store, session: str, task: ids.TaskKey = TASK) -> None:
    registry.beat(store, spot(), session, registry.News(key=task))


def retire(store: port.Store, *sessions: str) -> None:
    """Let a sweep of agents take what these sessions have."""
    for session in sessions:
        agency.silence(store, session, 600)
    sweep.sweep(store, spot(), sweep.Rules())
    for session in sessions:
        assert agency.agent(store, session).status == "stale"


def age(store: port.Store) -> None:
    """Let all that was claimed and let go have been so a minute ago."""
    store.write("test", lambda transaction: transaction.rows(AGE))


def move(store: port.Store, task: ids.TaskKey = TASK) -> None:
    """Somebody moves the task's file."""
    data = {"verb": "return", "from": "in_progress", "to": "new", "branch": None, "why": ""}
    store.write(
        "test",
        lambda transaction: transaction.event(
            events.TASK_MOVED, actor="bo", source=task.source, task=task.id, data=data
        ),
    )


def after(store: port.Store, hours: float) -> str:
    [row] = store.rows(NOW_MS)
    return clock.text(row["ms"] + round(hours * vacuum.HOUR_MS))


def look(
    store: port.Store, hours: float = 0, is_over: Callable[[ids.TaskKey], bool] = lambda _: False
) -> list[quick.Found]:
    """What a quick sweep finds so many hours from now."""
    found = quick.sweep(store, spot(), after(store, hours), LIMITS)
    done = vacuum.Subject(TASK, "", "done")
    return quick.standing_here(found, lambda task: done if is_over(task) else None)


def told(found: list[quick.Found]) -> list[tuple[str, str, str]]:
    return [(each.key.label, each.finding.type, each.finding.grade) for each in found]


DEAD = ("track:H.1.1", "dead_claim", "certain")
ABANDONED = ("track:H.1.1", "conflict_abandoned", "certain")


def test_an_empty_store_has_no_orphans(store: port.Store) -> None:
    assert look(store, 1000) == []


# Claims


def test_a_claim_of_a_living_process_is_fine(store: port.Store) -> None:
    begin(store, "s1", pid=os.getpid())
    take(store, "s1")
    assert look(store) == []


def test_an_open_claim_of_a_dead_process_is_dead_for_certain(
    store: port.Store, sleeper: Sleeper
) -> None:
    process = sleeper()
    begin(store, "s1", pid=process.pid)
    claim = take(store, "s1")
    agency.end(process)
    [found] = look(store)
    assert told([found]) == [DEAD]
    assert found.finding.pointers == (f"claim:track:H.1.1/{claim.epoch}",)
    [reason] = found.finding.reasons
    assert reason.startswith("agent-s1 has it since")
    assert reason.endswith(f"there is no process {process.pid} any more")
    assert found.evidence.claimed_at == claim.claimed_at


def test_an_open_claim_of_a_session_that_fell_silent_is_only_suspect(store: port.Store) -> None:
    begin(store, "s1")
    take(store, "s1")
    agency.silence(store, "s1", 600)
    assert told(look(store)) == [("track:H.1.1", "dead_claim", "suspect")]


def test_what_a_sweep_took_from_a_dead_process_stays_certain(
    store: port.Store, sleeper: Sleeper
) -> None:
    """The seed's cleanup deletes such a claim before anybody can find it."""
    process = sleeper()
    begin(store, "s1", pid=process.pid)
    take(store, "s1")
    agency.end(process)
    retire(store, "s1")
    assert claims.open_of(store.rows, TASK) is None
    [found] = look(store)
    assert told([found]) == [DEAD]
    [reason] = found.finding.reasons
    assert reason.startswith("agent-s1 had it until")
    assert reason.endswith(f"there is no process {process.pid} any more")


def test_what_a_sweep_took_from_a_silent_session_stays_suspect(store: port.Store) -> None:
    begin(store, "s1")
    take(store, "s1")
    retire(store, "s1")
    assert told(look(store)) == [("track:H.1.1", "dead_claim", "suspect")]


def test_a_task_that_was_claimed_again_is_in_new_hands(store: port.Store) -> None:
    begin(store, "s1")
    take(store, "s1")
    retire(store, "s1")
    begin(store, "s2", pid=os.getpid())
    claim = take(store, "s2")
    assert look(store) == []
    let_go(store, claim)
    assert look(store) == [], "and was given back by them"


def test_a_task_that_was_moved_since_is_no_dead_claim(store: port.Store) -> None:
    begin(store, "s1")
    take(store, "s1")
    retire(store, "s1")
    age(store)
    move(store, key("track:H.1.10"))
    assert len(look(store)) == 1, "that was another one"
    move(store)
    assert look(store) == []


def test_a_move_of_before_does_not_save_a_dead_claim(store: port.Store) -> None:
    begin(store, "s1")
    take(store, "s1")
    move(store)
    retire(store, "s1")
    assert len(look(store)) == 1


@pytest.mark.parametrize("outcome", [claims.DONE, claims.FAILED, claims.RELEASED, "parked"])
def test_a_task_that_its_owner_let_go_is_fine(store: port.Store, outcome: str) -> None:
    begin(store, "s1")
    let_go(store, take(store, "s1"), outcome)
    retire(store, "s1")
    assert look(store, 1000) == []


def test_an_owner_that_came_back_is_no_dead_one(store: port.Store) -> None:
    begin(store, "s1")
    take(store, "s1")
    retire(store, "s1")
    registry.beat(store, spot(), "s1")
    assert look(store) == []


def test_a_claim_of_more_than_a_day_is_long(store: port.Store) -> None:
    begin(store, "s1", pid=os.getpid())
    take(store, "s1")
    assert look(store, 23.9) == []
    [found] = look(store, 25)
    assert told([found]) == [("track:H.1.1", "long_claim", "suspect")]
    assert found.finding.reasons[0].startswith("agent-s1 has had it for 25 h (alive:")


def test_patience_with_a_claim_is_a_setting(store: port.Store) -> None:
    begin(store, "s1", pid=os.getpid())
    take(store, "s1")
    hasty = LIMITS._replace(long_claim_ms=vacuum.HOUR_MS)
    assert len(quick.sweep(store, spot(), after(store, 2), hasty)) == 1


def test_what_is_less_probable_is_found_and_not_told(store: port.Store) -> None:
    """But a long claim is no orphan, however sure it is."""
    begin(store, "s1")
    take(store, "s1")
    agency.silence(store, "s1", 1200)
    begin(store, "s2", pid=os.getpid())
    take(store, "s2", key("track:H.1.2"))
    found = look(store, 25)
    kinds = {each.key.id: each.finding for each in quick.alerting(found, LIMITS)}
    assert {each.key.id for each in found} == {"H.1.1", "H.1.2"}
    assert [(name, each.type) for name, each in kinds.items()] == [("H.1.2", "long_claim")]
    [dead, long] = [each.finding.percent for each in found]
    assert max(dead, long) < LIMITS.alert_percent
    assert quick.alerting(found, LIMITS._replace(alert_percent=dead)) == found
    assert quick.alerting(found, LIMITS._replace(alert_percent=dead + 1)) != found


def test_silence_alone_is_not_for_a_quick_sweep(store: port.Store) -> None:
    begin(store, "s1")
    take(store, "s1")
    retire(store, "s1")
    assert {each.finding.type for each in look(store, 10_000)} == {"dead_claim"}


# Conflicts


@pytest.fixture
def clash(store: port.Store, sleeper: Sleeper) -> dict[str, subprocess.Popen[bytes]]:
    """`s1` has the task, and `s2` works on it."""
    processes = {session: sleeper() for session in ("s1", "s2")}
    for session, process in processes.items():
        begin(store, session, pid=process.pid)
    take(store, "s1")
    work_on(store, "s2")
    assert len(conflicts.open_ones(store.rows)) == 1
    return processes


Clash = dict[str, subprocess.Popen[bytes]]


def test_a_conflict_of_two_who_are_at_work_is_theirs(store: port.Store, clash: Clash) -> None:
    assert look(store, 2) == []


def test_a_conflict_of_two_who_are_gone_is_abandoned(store: port.Store, clash: Clash) -> None:
    for process in clash.values():
        agency.end(process)
    found = look(store, 2)
    assert told(found) == [DEAD, ABANDONED]
    assert found[1].finding.pointers == ("conflict:1",)
    assert "agent-s2 and agent-s1 both wanted it" in found[1].finding.reasons[0]


def test_a_conflict_stays_abandoned_when_both_were_swept_away(
    store: port.Store, clash: Clash
) -> None:
    for process in clash.values():
        agency.end(process)
    retire(store, "s1", "s2")
    assert conflicts.open_ones(store.rows) == []
    assert told(look(store, 2)) == [DEAD, ABANDONED]


def test_a_conflict_whose_holder_is_at_work_is_not_abandoned(
    store: port.Store, clash: Clash
) -> None:
    agency.end(clash["s2"])
    assert look(store, 2) == []
    retire(store, "s2")
    assert look(store, 2) == []


def test_a_conflict_of_the_dead_is_not_waited_for(store: port.Store, clash: Clash) -> None:
    for process in clash.values():
        agency.end(process)
    assert told(look(store, 0.5)) == [DEAD, ABANDONED]


@pytest.mark.parametrize("outcome", [claims.DONE, claims.FAILED])
def test_a_conflict_over_what_was_finished_is_over(
    store: port.Store, clash: Clash, outcome: str
) -> None:
    held = claims.open_of(store.rows, TASK)
    assert held is not None
    let_go(store, held, outcome)
    for process in clash.values():
        agency.end(process)
    assert look(store, 2) == []


def test_a_conflict_is_over_when_somebody_took_the_task_up_again(
    store: port.Store, clash: Clash
) -> None:
    for process in clash.values():
        agency.end(process)
    retire(store, "s1", "s2")
    age(store)
    begin(store, "s3", pid=os.getpid())
    let_go(store, take(store, "s3"))
    assert look(store, 2) == []


def test_two_who_sorted_it_out_and_are_at_work_are_no_finding(
    store: port.Store, clash: Clash
) -> None:
    """`s1` let `s2` have it, and both live."""
    held = claims.open_of(store.rows, TASK)
    assert held is not None
    let_go(store, held)
    assert conflicts.open_ones(store.rows) == []
    assert look(store, 2) == []


def test_a_task_that_was_given_back_is_not_abandoned_for_the_paths_that_it_shared(
    store: port.Store,
) -> None:
    """Two tasks with paths in common: nobody else wanted the second one."""
    for session in ("s1", "s2"):
        begin(store, session, pid=os.getpid())
    take(store, "s1", key("track:H.1.2"), "src")
    let_go(store, take(store, "s2", TASK, "src/a.py"))
    assert [each.kind for each in conflicts.all_ones(store.rows, 10)] == ["paths"]
    assert look(store, 2) == []


# What has time, and what is over


def defer(store: port.Store, **more: str) -> None:
    now = after(store, 0)
    wanted = vacuum.Deferral(deferring.TASK, *TASK, now, "ada")._replace(**more)
    store.write("test", lambda transaction: deferrals.put_off(transaction, wanted))


@pytest.fixture
def dropped(store: port.Store) -> None:
    begin(store, "s1")
    take(store, "s1")
    retire(store, "s1")
    age(store)


@pytest.mark.usefixtures("dropped")
def test_what_was_put_off_has_time(store: port.Store) -> None:
    defer(store)
    assert look(store, 1000) == []


@pytest.mark.usefixtures("dropped")
def test_what_was_put_off_has_time_until_its_day(store: port.Store) -> None:
    defer(store, until=after(store, 48))
    assert look(store, 47) == []
    assert len(look(store, 48)) == 1


@pytest.mark.usefixtures("dropped")
def test_another_task_that_was_put_off_changes_nothing(store: port.Store) -> None:
    defer(store, name="H.1.10")
    defer(store, source="jira")
    assert len(look(store)) == 1


@pytest.mark.usefixtures("dropped")
def test_a_deferral_that_was_ended_gives_no_time(store: port.Store) -> None:
    defer(store)
    [one] = quick.deferrals(store)
    now = after(store, 0)
    store.write("test", lambda transaction: deferrals.end(transaction, one, now, "ada", "so"))
    assert len(look(store)) == 1


def test_what_was_claimed_after_it_was_put_off_has_no_time(store: port.Store) -> None:
    begin(store, "s1")
    defer(store, deferred_at=after(store, -1))
    take(store, "s1")
    retire(store, "s1")
    assert len(look(store)) == 1


def test_a_conflict_that_came_after_a_deferral_is_told(store: port.Store, clash: Clash) -> None:
    for process in clash.values():
        agency.end(process)
    retire(store, "s1", "s2")
    defer(store, deferred_at=after(store, -1))
    assert told(look(store, 2)) == [DEAD, ABANDONED]


@pytest.mark.usefixtures("dropped")
def test_who_asks_may_know_that_a_task_is_over(store: port.Store) -> None:
    assert look(store, is_over=lambda key: key == TASK) == []
    assert len(look(store, is_over=lambda key: key.source == "jira")) == 1


def test_only_the_few_tasks_that_come_up_are_asked_about(store: port.Store) -> None:
    asked: list[ids.TaskKey] = []

    def is_over(task: ids.TaskKey) -> bool:
        asked.append(task)
        return False

    begin(store, "alive", pid=os.getpid())
    for number in range(5):
        take(store, "alive", key(f"track:H.2.{number}"))
    begin(store, "s1")
    take(store, "s1")
    agency.silence(store, "s1", 600)
    look(store, is_over=is_over)
    assert asked == [TASK]


# Order, and what becomes of it


def test_the_most_urgent_comes_first(store: port.Store, sleeper: Sleeper) -> None:
    process = sleeper()
    begin(store, "long", pid=os.getpid())
    take(store, "long", key("track:A.1"))
    begin(store, "silent")
    take(store, "silent", key("track:B.1"))
    agency.silence(store, "silent", 600)
    begin(store, "dead", pid=process.pid)
    for name in ("D.1", "C.1"):
        take(store, "dead", key(f"track:{name}"))
    agency.end(process)
    assert [(each.key.id, each.finding.type) for each in look(store, 30)] == [
        ("C.1", "dead_claim"),
        ("D.1", "dead_claim"),
        ("B.1", "dead_claim"),
        ("A.1", "long_claim"),
    ]


def test_the_same_store_gives_the_same_answer(store: port.Store, clash: Clash) -> None:
    for process in clash.values():
        agency.end(process)
    now = after(store, 2)
    first = quick.sweep(store, spot(), now, LIMITS)
    assert first == quick.sweep(store, spot(), now, LIMITS)


def test_what_was_found_is_written_down_and_cleared_by_quick_sweeps_alone(
    store: port.Store, sleeper: Sleeper
) -> None:
    process = sleeper()
    begin(store, "s1", pid=process.pid)
    take(store, "s1")
    agency.end(process)

    def note() -> reports.Recorded:
        found = look(store)
        judged = [vacuum.Judged(each.evidence, (each.finding,)) for each in found]
        rows = reports.rows_of(judged)
        return reports.record(store, vacuum.QUICK, rows, after(store, 0), "ada", "house")

    assert note() == reports.Recorded(new=1)
    assert quick.known(store) == {("track", "H.1.1", "dead_claim")} == {e.name for e in look(store)}
    assert note() == reports.Recorded()
    begin(store, "s2", pid=os.getpid())
    let_go(store, take(store, "s2"))
    assert note() == reports.Recorded(settled=1)
    [report] = reports.of_task(store, TASK)
    assert (report.orphan_type, report.resolution) == ("dead_claim", "cleared")
    assert (report.last_session_id, report.evidence["claim_at"] is not None) == ("s1", True)
