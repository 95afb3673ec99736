"""What sweeps write down, on SQLite and on PostgreSQL: findings, sweeps, and what was put off."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests import agency, trails
from tether import clock, ids
from tether.agents import claims
from tether.agents import model as agents
from tether.evidence import witness
from tether.store import events, port, sql, transfer
from tether.tasks.sources import finding
from tether.vacuum import (
    deferrals,
    deferring,
    model,
    moments,
    presence,
    quick,
    reports,
    subjects,
    sweeps,
)

T = TypeVar("T")
START_MS = clock.parse("2026-11-01T00:00:00.000Z")
TASK = ids.TaskKey("track", "H.1.1")
OTHER = ids.TaskKey("track", "H.1.2")
REPORTS = sql.Query("reports", "", "SELECT * FROM vacuum_reports ORDER BY id")
SWEEPS = sql.Query("sweeps", "", "SELECT * FROM vacuum_sweeps ORDER BY id")
DEFERRALS = sql.Query("deferrals", "", "SELECT * FROM deferrals ORDER BY id")
COLUMNS = {
    "sqlite": sql.Query("columns", "", "SELECT name FROM pragma_table_info('vacuum_reports')"),
    "postgres": sql.Query(
        "columns",
        "",
        "SELECT column_name AS name FROM information_schema.columns"
        " WHERE table_schema = current_schema() AND table_name = 'vacuum_reports'",
    ),
}
INDEXES = {
    "sqlite": sql.Query(
        "indexes",
        "",
        "SELECT name, sql AS definition FROM sqlite_master"
        " WHERE type = 'index' AND tbl_name = 'vacuum_reports' AND sql IS NOT NULL",
    ),
    "postgres": sql.Query(
        "indexes",
        "",
        "SELECT indexname AS name, indexdef AS definition FROM pg_indexes"
        " WHERE schemaname = current_schema() AND tablename = 'vacuum_reports'",
    ),
}


# Each of these asks the store something that no other one does: they run on both databases.
ON_BOTH = {
    "test_a_finding_is_written_down_with_all_that_the_seed_names",
    "test_what_is_not_known_is_null",
    "test_a_finding_that_is_seen_again_is_the_same_one",
    "test_the_database_takes_no_second_open_row",
    "test_many_findings_are_written_down_in_batches",
    "test_what_changed_since_a_time_is_counted_whoever_changed_it",
    "test_a_finding_of_a_task_that_is_done_is_completed",
    "test_a_finding_of_what_somebody_took_up_since_is_adopted",
    "test_a_claim_that_was_there_before_adopts_nothing",
    "test_what_a_lesser_sweep_sees_too_it_may_clear",
    "test_all_findings_of_a_track_are_settled_at_once",
    "test_the_last_sweep_of_a_kind_is_known",
    "test_what_was_interrupted_and_is_repeated_comes_to_the_same",
    "test_putting_off_again_replaces",
    "test_putting_off_a_project_settles_everything",
    "test_putting_off_a_list_that_has_no_name_settles_no_other_list",
    "test_a_deferral_is_ended_once",
    "test_a_sweep_that_is_repeated_changes_nothing_but_when_it_was_seen",
    "test_touches_are_remembered_when_their_file_is_gone",
    "test_the_columns_are_those_of_the_seed_and_more",
    "test_the_three_indexes_are_those_of_the_seed",
    "test_an_export_keeps_findings_sweeps_and_deferrals",
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


def day(number: float) -> str:
    return clock.text(START_MS + round(number * model.DAY_MS))


def row(
    key: ids.TaskKey = TASK,
    kind: str = "stale_in_progress",
    percent: int = 90,
    pointers: tuple[str, ...] = ("file:x",),
    **more: Any,
) -> reports.Row:
    grade = model.CERTAIN if percent == 100 else model.SUSPECT
    found = model.Finding(kind, grade, percent, ("it is so",), pointers)
    evidence = {
        "claim_at": day(0), "broadcast_at": None, "log_mention": None, "commit": None,
        "reasons": ["it is so"], "pointers": list(pointers),
    }  # fmt: skip
    return reports.Row(key, found, "H", day(0), "s1", evidence)._replace(**more)


def record(
    store: port.Store,
    number: float,
    *rows: reports.Row,
    how: str = model.STANDARD,
    done: tuple[ids.TaskKey, ...] = (),
    judged: Callable[[reports.Report], bool] = lambda _: True,
) -> reports.Recorded:
    return reports.record(
        store, how, rows, day(number), "ada", "house", judged=judged, is_done=done.__contains__
    )


def open_names(store: port.Store) -> list[tuple[str, str]]:
    return [(each.task_id, each.orphan_type) for each in reports.open_ones(store)]


def settled(store: port.Store) -> list[tuple[str, str, str | None]]:
    return [
        (each["task_id"], each["orphan_type"], each["resolution"])
        for each in store.rows(REPORTS)
        if each["resolution"]
    ]


def told(store: port.Store, kind: events.EventType) -> list[events.Event]:
    return [event for event in events.after(store, 0, 10_000) if event.type == kind.name]


# Writing down what was found


def test_a_finding_is_written_down_with_all_that_the_seed_names(store: port.Store) -> None:
    assert record(store, 1, row()) == reports.Recorded(new=1, settled=0)
    [report] = reports.open_ones(store)
    assert report == reports.Report(
        1,
        "standard",
        day(1),
        day(1),
        "track",
        "H.1.1",
        "stale_in_progress",
        "suspect",
        90,
        day(0),
        "s1",
        "H",
        "house",
        row().evidence,
        None,
        None,
        None,
    )
    assert report.key == TASK


def test_what_is_not_known_is_null(store: port.Store) -> None:
    record(store, 1, row(last_activity="", last_session_id="", track=""))
    [kept] = store.rows(REPORTS)
    assert (kept["last_activity"], kept["last_session_id"], kept["track"]) == (None, None, None)


def test_a_finding_that_is_seen_again_is_the_same_one(store: port.Store) -> None:
    record(store, 1, row(percent=84))
    again = row(percent=92, last_activity=day(0.5), last_session_id="s2", track="J")
    assert record(store, 2, again) == reports.Recorded(new=0, settled=0)
    [report] = reports.open_ones(store)
    assert (report.created_at, report.last_seen_at) == (day(1), day(2))
    assert (report.percent, report.last_activity) == (92, day(0.5))
    assert (report.last_session_id, report.track) == ("s2", "J")


def test_a_suspicion_may_become_certain(store: port.Store) -> None:
    record(store, 1, row(kind="dead_claim", percent=90))
    record(store, 2, row(kind="dead_claim", percent=100))
    [report] = reports.open_ones(store)
    assert (report.grade, report.percent) == ("certain", 100)


def test_there_is_one_open_row_for_each_task_and_type(store: port.Store) -> None:
    found = [row(), row(kind="dead_claim"), row(OTHER), row(ids.TaskKey("jira", "H.1.1"))]
    assert record(store, 1, *found, row()).new == 4
    assert record(store, 2, *found).new == 0
    assert len(store.rows(REPORTS)) == 4


def test_the_database_takes_no_second_open_row(store: port.Store) -> None:
    record(store, 1, row())
    copy = sql.Query(
        "copy",
        "",
        "INSERT INTO vacuum_reports (id, sweep_type, created_at, last_seen_at, source, task_id,"
        " orphan_type, grade, percent, project, evidence)"
        " SELECT 99, sweep_type, created_at, last_seen_at, source, task_id, orphan_type, grade,"
        " percent, project, evidence FROM vacuum_reports WHERE id = 1",
    )
    with pytest.raises(port.RowRefused):
        store.write("test", lambda transaction: transaction.rows(copy))


def test_a_finding_that_comes_back_is_a_new_one(store: port.Store) -> None:
    record(store, 1, row())
    record(store, 2)
    assert record(store, 3, row()) == reports.Recorded(new=1, settled=0)
    newest, oldest = reports.of_task(store, TASK)
    assert (oldest.created_at, oldest.resolution) == (day(1), "cleared")
    assert (newest.created_at, newest.resolution) == (day(3), None)
    assert reports.open_of(store, TASK) == [newest]
    assert reports.open_of(store, OTHER) == []


def test_many_findings_are_written_down_in_batches(store: port.Store) -> None:
    many = [row(ids.TaskKey("track", f"H.1.{number}")) for number in range(450)]
    assert record(store, 1, *many) == reports.Recorded(new=450)
    assert record(store, 2, *many[:10]) == reports.Recorded(new=0, settled=440)
    assert len(reports.open_ones(store)) == 10
    assert len(told(store, events.ORPHAN_RESOLVED)) == 440


def test_the_evidence_of_a_finding_has_what_the_seed_names() -> None:
    subject = model.Subject(TASK, "A house", "in_progress", "H")
    commit = model.Sign(day(3), "committed (git)", "commit:abc123")
    known = model.Evidence(
        subject,
        day(9),
        hold=model.Hold("s9", "ada", day(1)),
        last=commit,
        committed=commit,
        broadcast=model.Sign(day(2), "started (coditect)", "db:1"),
        logged=model.Sign(day(4), "logged (coditect)", "log:1"),
        claimed_at=day(1),
    )
    stale = model.Finding("stale_in_progress", "suspect", 90, ("so",), ("commit:abc123",))
    [made] = reports.rows_of([model.Judged(known, (stale,))])
    assert made.evidence == {
        "claim_at": day(1),
        "broadcast_at": day(2),
        "log_mention": day(4),
        "commit": "abc123",
        "priority": "normal",
        "reasons": ["so"],
        "pointers": ["commit:abc123"],
    }
    assert (made.key, made.track, made.last_activity) == (TASK, "H", day(3))
    assert made.last_session_id == "s9"
    bare = reports.evidence_of(model.Evidence(subject, day(9)), stale)
    assert [bare[name] for name in ("claim_at", "broadcast_at", "log_mention", "commit")] == [
        None, None, None, None,
    ]  # fmt: skip


def test_the_last_session_is_the_last_that_did_something() -> None:
    visits = tuple(model.Visit(name, day(1), day(2)) for name in ("s1", "s2"))
    subject = model.Subject(TASK, "A house", "in_progress")
    known = model.Evidence(subject, day(9), model.Hold("s9", "ada", day(1)), visits)
    dead = model.Finding("dead_claim", "certain", 100, (), ())
    [made] = reports.rows_of([model.Judged(known, (dead,))])
    assert made.last_session_id == "s2"
    [alone] = reports.rows_of([model.Judged(model.Evidence(subject, day(9)), (dead,))])
    assert alone.last_session_id == ""


# What does not hold any more


def test_a_finding_that_no_longer_holds_is_cleared(store: port.Store) -> None:
    record(store, 1, row(), row(OTHER))
    assert record(store, 2, row(OTHER)) == reports.Recorded(new=0, settled=1)
    [report] = reports.of_task(store, TASK)
    assert (report.resolution, report.resolved_at, report.resolved_by) == ("cleared", day(2), "ada")
    assert report.last_seen_at == day(1)
    [event] = told(store, events.ORPHAN_RESOLVED)
    assert (event.actor, event.source, event.task) == ("ada", *TASK)
    assert event.data == {
        "report": report.id,
        "type": "stale_in_progress",
        "resolution": "cleared",
        "why": "",
    }


def test_a_finding_of_a_task_that_is_done_is_completed(store: port.Store) -> None:
    record(store, 1, row(), row(OTHER))
    record(store, 2, done=(TASK,))
    assert settled(store) == [
        ("H.1.1", "stale_in_progress", "completed"),
        ("H.1.2", "stale_in_progress", "cleared"),
    ]


TAKEN_AT = sql.Query("taken_at", "", "UPDATE claims SET claimed_at = :at")


def take(store: port.Store, number: float) -> agents.Claim:
    """Have a session take the task up on a day."""
    agency.begin(store, "s2")
    answer = claims.take(store, agency.spot(), "s2", TASK)
    assert isinstance(answer, claims.Claimed)
    store.write("test", lambda transaction: transaction.rows(TAKEN_AT, at=day(number)))
    return answer.claim


@pytest.mark.parametrize("how", [model.QUICK, model.STANDARD])
def test_a_finding_of_what_somebody_took_up_since_is_adopted(store: port.Store, how: str) -> None:
    """Whoever is the first to write that down: the one who has it, or another one's sweep."""
    dead = row(kind="dead_claim", pointers=("claim:H.1.1/7",))
    record(store, 1, dead, row(OTHER, "dead_claim", pointers=("claim:H.1.2/7",)))
    take(store, 1.5)
    assert record(store, 2, how=how) == reports.Recorded(settled=2)
    [report] = reports.of_task(store, TASK)
    assert (report.resolution, report.resolved_at) == ("adopted", day(2))
    assert report.resolved_by == "agent-s2"
    [other] = reports.of_task(store, OTHER)
    assert (other.resolution, other.resolved_by) == ("cleared", "ada")
    adopted, cleared = told(store, events.ORPHAN_RESOLVED)
    assert (adopted.actor, adopted.data["resolution"]) == ("agent-s2", "adopted")
    assert (cleared.actor, cleared.data["resolution"]) == ("ada", "cleared")


def test_a_claim_that_was_there_before_adopts_nothing(store: port.Store) -> None:
    take(store, 0.5)
    record(store, 1, row())
    record(store, 2)
    [report] = reports.of_task(store, TASK)
    assert (report.resolution, report.resolved_by) == ("cleared", "ada")


def test_what_somebody_took_up_and_gave_back_is_cleared(store: port.Store) -> None:
    record(store, 1, row())
    taken = take(store, 1.5)
    claims.close(store, agency.spot(), taken.session_id, TASK, taken.epoch, claims.RELEASED)
    record(store, 2)
    assert settled(store) == [("H.1.1", "stale_in_progress", "cleared")]


def test_what_is_done_is_completed_whoever_took_it_up(store: port.Store) -> None:
    record(store, 1, row())
    take(store, 1.5)
    record(store, 2, done=(TASK,))
    assert settled(store) == [("H.1.1", "stale_in_progress", "completed")]


def test_what_was_settled_is_not_settled_again(store: port.Store) -> None:
    record(store, 1, row())
    record(store, 2)
    assert record(store, 3) == reports.Recorded()
    [report] = reports.of_task(store, TASK)
    assert report.resolved_at == day(2)
    assert len(told(store, events.ORPHAN_RESOLVED)) == 1


def test_a_task_that_was_not_looked_at_keeps_its_findings(store: port.Store) -> None:
    record(store, 1, row(), row(OTHER))
    record(store, 2, judged=lambda report: report.key == OTHER)
    assert open_names(store) == [("H.1.1", "stale_in_progress")]


@pytest.mark.parametrize("kind", ["stale_in_progress", "context_lost", "dead_claim", "long_claim"])
def test_a_quick_sweep_does_not_clear_what_a_standard_one_found(
    store: port.Store, kind: str
) -> None:
    record(store, 1, row(kind=kind))
    assert record(store, 2, how=model.QUICK) == reports.Recorded()
    assert open_names(store) == [("H.1.1", kind)]
    record(store, 3, how=model.STANDARD)
    assert open_names(store) == []


def test_a_standard_sweep_clears_what_it_judged_but_for_what_it_cannot_see(
    store: port.Store,
) -> None:
    record(store, 1, row(), row(kind="done_unproven"), how=model.DEEP)
    record(store, 2, how=model.STANDARD, judged=lambda _: False)
    assert len(open_names(store)) == 2
    record(store, 2, how=model.STANDARD)
    assert open_names(store) == [("H.1.1", "done_unproven")]
    record(store, 3, how=model.DEEP)
    assert open_names(store) == []


@pytest.mark.parametrize("how", model.SWEEPS)
@pytest.mark.parametrize(
    ("kind", "pointer"),
    [
        ("dead_claim", "claim:H.1.1/7"),
        ("long_claim", "claim:H.1.1/7"),
        ("conflict_abandoned", "conflict:4"),
    ],
)
def test_what_the_store_alone_tells_every_sweep_clears(
    store: port.Store, kind: str, pointer: str, how: str
) -> None:
    record(store, 1, row(kind=kind, pointers=(pointer,)), how=model.DEEP)
    [report] = reports.open_ones(store)
    assert report.sweep_type == "quick", "the least sweep that sees it"
    record(store, 2, how=how)
    assert open_names(store) == []


def test_what_a_lesser_sweep_sees_too_it_may_clear(store: port.Store) -> None:
    record(store, 1, row(), how=model.DEEP)
    record(store, 2, row(), how=model.STANDARD)
    [report] = reports.open_ones(store)
    assert report.sweep_type == "standard", "the least sweep that sees it"
    record(store, 3, how=model.STANDARD)
    assert open_names(store) == []


def test_a_deeper_sweep_that_sees_it_too_takes_nothing_from_a_lesser_one(store: port.Store) -> None:
    record(store, 1, row(), how=model.STANDARD)
    record(store, 2, row(), how=model.DEEP)
    [report] = reports.open_ones(store)
    assert report.sweep_type == "standard"


@pytest.mark.parametrize("how", [model.STANDARD, model.DEEP])
def test_every_sweep_sees_that_a_task_is_done(store: port.Store, how: str) -> None:
    record(store, 1, row(), row(kind="done_unmarked"), how=model.DEEP)
    record(store, 2, how=how, done=(TASK,))
    assert {resolution for _, _, resolution in settled(store)} == {"completed"}
    assert open_names(store) == []


def test_a_quick_sweep_does_not_believe_the_list_of_one_checkout(store: port.Store) -> None:
    record(store, 1, row())
    record(store, 2, how=model.QUICK, done=(TASK,))
    assert open_names(store) == [("H.1.1", "stale_in_progress")]


def test_only_a_deep_sweep_finds_the_proof_of_what_is_done(store: port.Store) -> None:
    record(store, 1, row(kind="done_unproven"), how=model.DEEP)
    record(store, 2, how=model.STANDARD, done=(TASK,))
    assert open_names(store) == [("H.1.1", "done_unproven")]
    record(store, 3, how=model.DEEP, done=(TASK,))
    assert open_names(store) == []


# Settling by decision


def settle(store: port.Store, key: ids.TaskKey, resolution: str) -> list[reports.Report]:
    return store.write(
        "test",
        lambda transaction: reports.settle(transaction, key, resolution, day(5), "bo", "because"),
    )


@pytest.mark.parametrize("resolution", ["adopted", "completed", "deferred", "cancelled"])
def test_all_findings_of_a_task_are_settled_at_once(store: port.Store, resolution: str) -> None:
    record(store, 1, row(), row(kind="dead_claim"), row(OTHER))
    assert {each.orphan_type for each in settle(store, TASK, resolution)} == {
        "stale_in_progress",
        "dead_claim",
    }
    assert open_names(store) == [("H.1.2", "stale_in_progress")]
    for report in reports.of_task(store, TASK):
        assert (report.resolution, report.resolved_at) == (resolution, day(5))
        assert report.resolved_by == "bo"
    told_of = [
        (event.task, event.data["resolution"], event.data["why"])
        for event in told(store, events.ORPHAN_RESOLVED)
    ]
    assert told_of == [("H.1.1", resolution, "because")] * 2


def test_where_nothing_is_wrong_nothing_is_settled(store: port.Store) -> None:
    record(store, 1, row())
    assert settle(store, OTHER, "adopted") == []
    assert settle(store, ids.TaskKey("jira", "H.1.1"), "adopted") == []
    assert settle(store, TASK, "adopted") != []
    assert settle(store, TASK, "cancelled") == []
    assert told(store, events.ORPHAN_RESOLVED)[-1].data["resolution"] == "adopted"


def test_a_resolution_is_one_of_the_known_ones(store: port.Store) -> None:
    record(store, 1, row())
    with pytest.raises(port.RowRefused):
        settle(store, TASK, "forgotten")
    assert len(open_names(store)) == 1


def test_all_findings_of_a_track_are_settled_at_once(store: port.Store) -> None:
    parked = row(ids.TaskKey("track", "H"), "parked_project", 100)
    record(
        store, 1, row(), row(OTHER), parked, row(ids.TaskKey("track", "A.1.1"), track="A"),
        row(ids.TaskKey("jira", "X-1")),
    )  # fmt: skip

    def work(transaction: port.Transaction) -> list[reports.Report]:
        how = (model.DEFERRED, day(5), "bo", "")
        return reports.settle_track(transaction, "track", "H", *how)

    assert {each.task_id for each in store.write("test", work)} == {"H", "H.1.1", "H.1.2"}
    assert {name for name, _ in open_names(store)} == {"A.1.1", "X-1"}
    assert len(told(store, events.ORPHAN_RESOLVED)) == 3


# Sweeps


def test_a_sweep_is_written_down_from_its_begin_to_its_end(store: port.Store) -> None:
    number = reports.begin(store, model.STANDARD, day(1), "ada", "house")
    [begun] = reports.sweeps(store, 10)
    assert begun == (number, "standard", day(1), None, "ada", "", "house", 0, {})
    counts = {"dead_claim": 2, "never_started": 1216, "stale_in_progress": 0}
    recorded = reports.Recorded(3, 1)
    reports.end(store, number, model.STANDARD, day(1.1), "ada", 1300, counts, recorded)
    [ended] = reports.sweeps(store, 10)
    assert (ended.finished_at, ended.unchecked, ended.counts) == (day(1.1), 1300, counts)
    [event] = told(store, events.VACUUM_SWEPT)
    assert event.actor == "ada"
    assert event.data == {
        "sweep_type": "standard",
        "counts": {"dead_claim": 2, "never_started": 1216},
        "new": 3,
        "settled": 1,
    }


def test_a_sweep_ends_when_it_ends_and_never_before_it_began() -> None:
    at = clock.FakeClock(day(1))
    assert reports.ending(day(1), at) == day(1)
    at.advance(90)
    assert reports.ending(day(1), at) == clock.text(clock.parse(day(1)) + 90_000)
    at.advance(-3600)
    assert reports.ending(day(1), at) == day(1), "somebody set the clock back"


def test_sweeps_are_told_newest_first(store: port.Store) -> None:
    numbers = [reports.begin(store, how, day(1), "ada", "house") for how in model.SWEEPS]
    assert numbers == [1, 2, 3]
    assert [each.sweep_type for each in reports.sweeps(store, 2)] == ["deep", "standard"]


def test_a_sweep_that_was_interrupted_has_no_end(store: port.Store) -> None:
    reports.begin(store, model.DEEP, day(1), "ada", "house")
    second = reports.begin(store, model.DEEP, day(2), "ada", "house")
    reports.end(store, second, model.DEEP, day(2), "ada", 0, {}, reports.Recorded())
    assert [each.finished_at for each in reports.sweeps(store, 10)] == [day(2), None]
    assert len(told(store, events.VACUUM_SWEPT)) == 1


def test_the_last_sweep_of_a_kind_is_known(store: port.Store) -> None:
    assert reports.last_sweep(store, model.DEEP) is None
    assert reports.last_finished(store, model.SWEEPS) == ""
    for number, how in enumerate((model.STANDARD, model.DEEP, model.STANDARD)):
        begun = reports.begin(store, how, day(number), "ada", "house")
        if number < 2:
            recorded = reports.Recorded()
            reports.end(store, begun, how, day(number), "ada", 0, {}, recorded)
    last = reports.last_sweep(store, model.STANDARD)
    assert last is not None
    assert (last.started_at, last.finished_at) == (day(2), None)
    assert reports.last_finished(store, [model.STANDARD]) == day(0)
    assert reports.last_finished(store, model.SWEEPS) == day(1)
    assert reports.last_finished(store, [model.QUICK]) == ""


# Interrupted


class Interrupted(Exception):
    """The machine went down."""


class Failing:
    """A store that goes down in the middle of its n-th write: before it, or before its end."""

    def __init__(self, store: port.Store, on: int, *, is_late: bool) -> None:
        self._store = store
        self._left = on
        self._is_late = is_late

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def write(self, purpose: str, work: Callable[[port.Transaction], T]) -> T:
        self._left -= 1
        if self._left:
            return self._store.write(purpose, work)
        if not self._is_late:
            raise Interrupted

        def half(transaction: port.Transaction) -> T:
            work(transaction)
            raise Interrupted

        return self._store.write(purpose, half)


def contents(store: port.Store) -> list[dict[str, Any]]:
    """All rows, but for their numbers."""
    rows = [{**each, "id": 0} for each in store.rows(REPORTS)]
    return sorted(rows, key=lambda each: (each["source"], each["task_id"], each["orphan_type"]))


@pytest.mark.parametrize("is_late", [False, True], ids=["before", "within"])
def test_what_was_interrupted_and_is_repeated_comes_to_the_same(
    store: port.Store, request: pytest.FixtureRequest, tmp_path: Path, *, is_late: bool
) -> None:
    before = [row(ids.TaskKey("track", f"H.1.{number}")) for number in range(250)]
    after = [row(ids.TaskKey("track", f"H.2.{number}")) for number in range(250)]
    kept, lost = before[:10], tuple(each.key for each in before[10:20])

    def look(through: port.Store) -> None:
        record(through, 2, *kept, *after, done=lost)

    (tmp_path / "straight").mkdir()
    straight = agency.sqlite_opener(tmp_path / "straight")()
    record(straight, 1, *before)
    look(straight)
    wanted = contents(straight)
    straight.close()
    record(store, 1, *before)
    interruptions = 0
    for number in range(1, 10):
        try:
            look(Failing(store, number, is_late=is_late))
        except Interrupted:
            interruptions += 1
        else:
            break
    assert interruptions == 4, "two batches are written down, and two are settled"
    assert contents(store) == wanted
    look(store)
    assert contents(store) == wanted
    assert len(told(store, events.ORPHAN_RESOLVED)) == 240, "each is told once"


# Deferrals


def deferral(
    scope: str = deferring.TASK, name: str = "H.1.1", number: float = 1, **more: str
) -> model.Deferral:
    source = "" if scope == deferring.PROJECT else "track"
    return model.Deferral(scope, source, name, day(number), "ada")._replace(**more)


def put_off(store: port.Store, wanted: model.Deferral) -> list[reports.Report]:
    return store.write(
        "test", lambda transaction: deferrals.put_off(transaction, wanted, session="s1")
    )


def end(store: port.Store, one: model.Deferral, number: float = 5) -> bool:
    return store.write(
        "test", lambda transaction: deferrals.end(transaction, one, day(number), "bo", "so")
    )


def test_a_task_that_is_put_off_has_time(store: port.Store) -> None:
    wanted = deferral(until=day(30), why="No bricks.")
    assert put_off(store, wanted) == []
    assert quick.deferrals(store) == [wanted]
    [event] = told(store, events.WORK_DEFERRED)
    assert (event.actor, event.session, event.source, event.task) == ("ada", "s1", *TASK)
    assert event.data == {
        "scope": "task",
        "name": "H.1.1",
        "until": day(30),
        "why": "No bricks.",
    }


@pytest.mark.parametrize(("scope", "name"), [("track", "H"), ("project", "house")])
def test_a_track_and_a_project_can_be_put_off(store: port.Store, scope: str, name: str) -> None:
    wanted = deferral(scope, name)
    put_off(store, wanted)
    assert quick.deferrals(store) == [wanted]
    [event] = told(store, events.WORK_DEFERRED)
    assert (event.source, event.task) == (None, None)


def test_putting_off_again_replaces(store: port.Store) -> None:
    put_off(store, deferral(until=day(30), why="No bricks."))
    again = deferral(number=2, deferred_by="bo", why="No mortar.")
    put_off(store, again)
    assert quick.deferrals(store) == [again]
    assert len(store.rows(DEFERRALS)) == 1


def test_deferrals_are_told_oldest_first(store: port.Store) -> None:
    wanted = [deferral(name="H.1.2"), deferral("track", "H"), deferral("project", "house")]
    for each in wanted:
        put_off(store, each)
    assert quick.deferrals(store) == wanted


def test_putting_off_a_task_settles_its_findings(store: port.Store) -> None:
    record(store, 1, row(), row(kind="dead_claim"), row(OTHER))
    found = put_off(store, deferral(why="No bricks."))
    assert {each.orphan_type for each in found} == {"stale_in_progress", "dead_claim"}
    assert {each.resolution for each in found} == {"deferred"}
    assert open_names(store) == [("H.1.2", "stale_in_progress")]
    assert {e.data["why"] for e in told(store, events.ORPHAN_RESOLVED)} == {"No bricks."}


def test_putting_off_a_track_settles_the_findings_of_all_its_tasks(store: port.Store) -> None:
    other = row(ids.TaskKey("track", "A.1.1"), track="A")
    record(store, 1, row(), row(OTHER), other, row(ids.TaskKey("jira", "X-1")))
    assert len(put_off(store, deferral("track", "H"))) == 2
    assert {name for name, _ in open_names(store)} == {"A.1.1", "X-1"}


def test_putting_off_a_project_settles_everything(store: port.Store) -> None:
    record(store, 1, row(), row(OTHER, track=""), row(ids.TaskKey("jira", "X-1")))
    assert len(put_off(store, deferral("project", "house"))) == 3
    assert open_names(store) == []


def test_putting_off_a_list_that_has_no_name_settles_no_other_list(store: port.Store) -> None:
    record(store, 1, row(track=""), row(OTHER), row(ids.TaskKey("jira", "X-1"), track=""))
    put_off(store, deferral("track", ""))
    assert {name for name, _ in open_names(store)} == {"H.1.2", "X-1"}


def test_a_deferral_is_ended_once(store: port.Store) -> None:
    put_off(store, deferral())
    assert end(store, deferral())
    assert quick.deferrals(store) == []
    assert not end(store, deferral(), 6)
    [kept] = store.rows(DEFERRALS)
    assert (kept["ended_at"], kept["ended_why"]) == (day(5), "so")
    [event] = told(store, events.DEFERRAL_ENDED)
    assert (event.actor, event.source, event.task) == ("bo", *TASK)
    assert event.data == {"scope": "task", "name": "H.1.1", "why": "so"}


def test_what_was_ended_can_be_put_off_again(store: port.Store) -> None:
    put_off(store, deferral())
    end(store, deferral())
    put_off(store, deferral(number=6))
    assert quick.deferrals(store) == [deferral(number=6)]
    assert len(store.rows(DEFERRALS)) == 2


def known() -> subjects.Subjects:
    """Two tasks of track H, and one of track A."""
    keys = {TASK: "H", OTHER: "H", ids.TaskKey("track", "A.1.1"): "A"}
    tasks = {key: model.Subject(key, "", "new", track) for key, track in keys.items()}
    return subjects.Subjects(tasks, (), {})


def end_over(
    store: port.Store, number: float, touched: dict[ids.TaskKey, str] | None = None
) -> int:
    return deferrals.end_over(store, known(), touched or {}, day(number), "ada")


def why(store: port.Store) -> list[tuple[str, str | None]]:
    return [(each["name"], each["ended_why"]) for each in store.rows(DEFERRALS)]


def test_a_deferral_ends_when_its_day_comes(store: port.Store) -> None:
    put_off(store, deferral(until=day(3)))
    put_off(store, deferral(name="H.1.2"))
    assert end_over(store, 2.9) == 0
    assert end_over(store, 3) == 1
    assert end_over(store, 4) == 0
    assert why(store) == [("H.1.1", "its day has come"), ("H.1.2", None)]


@pytest.mark.parametrize(
    ("one", "touched", "is_over"),
    [
        (deferral(), TASK, True),
        (deferral(), OTHER, False),
        (deferral("track", "H"), OTHER, True),
        (deferral("track", "H"), ids.TaskKey("track", "A.1.1"), False),
        (deferral("project", "house"), ids.TaskKey("track", "A.1.1"), True),
    ],
)
def test_a_deferral_ends_when_what_it_covers_is_touched(
    store: port.Store, one: model.Deferral, touched: ids.TaskKey, *, is_over: bool
) -> None:
    put_off(store, one)
    assert end_over(store, 3, {touched: day(0.5)}) == 0, "that was before"
    assert end_over(store, 3, {touched: day(2)}) == int(is_over)
    assert why(store) == [(one.name, "it was touched" if is_over else None)]


# Whole sweeps


class World:
    """A repository with a track of two tasks, and a session that works on them."""

    def __init__(self, repo: Path, home: Path, store: port.Store) -> None:
        self.repo, self.home, self.store = repo, home, store
        self.file = trails.claude_file(home, repo)
        self._talk = trails.Transcript(repo)
        (repo / "plans").mkdir()
        (repo / "plans" / "TRACK-H-HOUSE.md").write_text(
            "# H\n\n- [ ] H.1.1 Wall\n- [ ] H.1.2 Roof\n"
        )

    def work(self, task: str, number: float) -> None:
        line = json.loads(self._talk.tool("Bash", command="make", description=f"{task}: Make"))
        with self.file.open("a") as out:
            out.write(json.dumps({**line, "timestamp": day(number)}) + "\n")

    def sweep(self, number: float, how: str = model.STANDARD, **more: Any) -> sweeps.Swept:
        known = presence.Presence(self.store, agency.spot())
        found = subjects.read([], finding.read(str(self.repo), ["track"]))
        scene = sweeps.Scene(self.witness(), self.store, known, found)._replace(**more)
        return sweeps.sweep(scene, sweeps.Order(how, day(number), "ada", "house"))

    def witness(self, index: Path | None = None) -> witness.Witness:
        return trails.witness_of(self.repo, self.home, self.store, store_dir=index)


@pytest.fixture
def world(repo: Path, environ: dict[str, str], store: port.Store) -> World:
    return World(repo, Path(environ["HOME"]), store)


def test_a_finding_does_not_end_because_it_grows_older_than_the_window(world: World) -> None:
    """A standard sweep does not look at what is older, so it cannot tell that it ended."""
    world.work("H.1.1", 0)
    world.work("H.1.2", 13)
    world.sweep(14)
    assert ("H.1.1", "stale_in_progress") in open_names(world.store)
    world.work("H.1.2", 33)
    swept = world.sweep(34)
    assert len(swept.older) == 1
    assert ("H.1.1", "stale_in_progress") in open_names(world.store)


def test_a_finding_ends_when_somebody_goes_on_with_it(world: World) -> None:
    world.work("H.1.1", 0)
    world.work("H.1.2", 13)
    world.sweep(14)
    world.work("H.1.1", 14.9)
    world.sweep(15)
    assert ("H.1.1", "stale_in_progress", "cleared") in settled(world.store)


def test_what_is_done_on_another_branch_is_completed(world: World) -> None:
    world.work("H.1.1", 0)
    world.work("H.1.2", 13)
    world.sweep(14)
    world.sweep(15, state_of=lambda each: "done" if each.key == TASK else each.state)
    assert {each.resolution for each in reports.of_task(world.store, TASK)} == {"completed"}


def test_a_sweep_that_is_repeated_changes_nothing_but_when_it_was_seen(world: World) -> None:
    world.work("H.1.1", 0)
    world.work("H.1.2", 13)
    first = world.sweep(14, model.DEEP)
    before = world.store.rows(REPORTS)
    again = world.sweep(14, model.DEEP)
    assert world.store.rows(REPORTS) == before != []
    for name in ("judged", "folded", "parked", "active", "counts", "taken"):
        assert getattr(again, name) == getattr(first, name)
    assert again.recorded == reports.Recorded()


def test_touches_are_remembered_when_their_file_is_gone(world: World, tmp_path: Path) -> None:
    world.work("H.1.1", 0)
    world.work("H.1.1", 0.5)
    world.work("H.1.2", 9)

    def read(index: Path | None = None) -> moments.Moments:
        asked = world.witness(index)
        return asked.ask(lambda connection: moments.read(connection, world.store, day(5), {}))

    before = read()
    assert before.last_at == {TASK: START_MS + model.DAY_MS // 2}, "what came later is not known"
    assert before.has_work(TASK)
    assert before.by == {TASK: trails.SESSION}
    world.file.unlink()
    (tmp_path / "new").mkdir()
    after = read(tmp_path / "new")
    assert (after.last_at, after.by) == (before.last_at, before.by)
    assert after.has_work(TASK)


def test_a_sweep_that_ends_a_deferral_does_not_tell_of_it_any_more(world: World) -> None:
    put_off(world.store, deferral("track", "H", 13.5))
    put_off(world.store, deferral("track", "A", 13.5))
    world.work("H.1.1", 13)
    assert world.sweep(14).deferred == ("track H", "track A")
    world.work("H.1.1", 14.5)
    assert world.sweep(15).deferred == ("track A",)


# The tables themselves


def test_the_columns_are_those_of_the_seed_and_more(store: port.Store) -> None:
    columns = {each["name"] for each in store.rows(COLUMNS[store.kind])}
    seed = {
        "id", "sweep_type", "created_at", "task_id", "orphan_type", "last_activity",
        "last_session_id", "track", "evidence", "resolution", "resolved_at", "resolved_by",
    }  # fmt: skip
    assert columns == seed | {"last_seen_at", "source", "grade", "percent", "project"}


def test_the_three_indexes_are_those_of_the_seed(store: port.Store) -> None:
    found = {each["name"]: each["definition"] for each in store.rows(INDEXES[store.kind])}
    for name, column in [
        ("idx_vacuum_task", "(task_id)"),
        ("idx_vacuum_orphan", "(orphan_type)"),
        ("idx_vacuum_unresolved", "(resolution)"),
    ]:
        assert column in found[name]
        assert "UNIQUE" not in found[name]
    assert "resolution IS NULL" in found["idx_vacuum_unresolved"]
    assert "WHERE" not in found["idx_vacuum_task"] + found["idx_vacuum_orphan"]


@pytest.mark.parametrize("target", ["sqlite", "postgres"])
def test_an_export_keeps_findings_sweeps_and_deferrals(
    store: port.Store, target: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    number = reports.begin(store, model.DEEP, day(1), "ada", "house")
    record(store, 1, row(), row(OTHER), row(kind="dead_claim", percent=100))
    record(store, 2, row(), done=(OTHER,))
    recorded = reports.Recorded(3, 2)
    reports.end(store, number, model.DEEP, day(1), "ada", 7, {"orphans": 2}, recorded)
    put_off(store, deferral(until=day(30), why="No bricks."))
    put_off(store, deferral("project", "house"))
    end(store, deferral())
    lines: list[bytes] = []
    transfer.export(store, None, lines.append)
    (tmp_path / "other").mkdir()
    other = agency.opener_of(target, tmp_path / "other", request)()
    transfer.import_(other, lambda: lines)
    for query in (REPORTS, SWEEPS, DEFERRALS):
        assert other.rows(query) == store.rows(query) != []
    again: list[bytes] = []
    transfer.export(other, None, again.append)
    assert again == lines
    assert record(other, 3, row()).new == 1, "numbers go on"
    assert put_off(other, deferral(number=3)) != []
    assert reports.begin(other, model.QUICK, day(4), "ada", "house") == number + 1
    other.close()


def test_what_changed_since_a_time_is_counted_whoever_changed_it(store: port.Store) -> None:
    record(store, 1, row(), row(kind="dead_claim"))
    assert reports.since(store, day(1)) == reports.Recorded()
    record(store, 2, row(OTHER), how=model.QUICK)
    assert reports.since(store, day(1)) == reports.Recorded(new=1)
    assert len(settle(store, TASK, "adopted")) == 2
    assert reports.since(store, day(1)) == reports.Recorded(new=1, settled=2)
    assert reports.since(store, day(4)) == reports.Recorded(settled=2)
    assert reports.since(store, day(5)) == reports.Recorded()


def test_a_sweep_tells_what_changed_since_the_one_before(world: World) -> None:
    """Also what a quick sweep has written down in between."""
    world.work("H.1.2", 13)
    world.sweep(14)
    record(world.store, 14.5, row(OTHER, "dead_claim"), how=model.QUICK)
    told = world.sweep(14.6).recorded
    assert told is not None
    assert told.new == 1
