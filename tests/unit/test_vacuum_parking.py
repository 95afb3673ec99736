"""What has time: parked tracks, paused projects, deferrals, and what the lists themselves say."""

from __future__ import annotations

import pytest

from tether import clock, ids
from tether.tasks import model as tasks
from tether.tasks.sources import finding
from tether.tasks.sources import model as lists
from tether.vacuum import deferring, model, parking, subjects

NOW_MS = clock.parse("2026-11-30T12:00:00.000Z")
LIMITS = model.Limits()


def ago(days: float) -> str:
    return clock.text(NOW_MS - round(days * model.DAY_MS))


NOW = ago(0)

# Parked tracks and paused projects


def track(last_at: str, open_: int = 5, *, has_live_claim: bool = False) -> parking.Track:
    return parking.Track("track", "H", "TRACK-H", 3, 9, open_, last_at, has_live_claim)


def is_parked(one: parking.Track, limits: model.Limits = LIMITS) -> bool:
    return parking.is_parked(one, NOW, limits)


def test_a_track_that_nobody_ever_worked_on_is_parked() -> None:
    assert is_parked(track(""))


def test_a_track_that_is_silent_for_a_month_is_parked() -> None:
    assert not is_parked(track(ago(30)))
    assert is_parked(track(ago(30.01)))


def test_a_track_is_not_parked_while_somebody_alive_has_a_task_of_it() -> None:
    assert not is_parked(track("", has_live_claim=True))
    assert not is_parked(track(ago(300), has_live_claim=True))


def test_a_track_without_open_tasks_is_done_and_not_parked() -> None:
    assert not is_parked(track(ago(300), 0))


def test_a_touch_in_the_future_parks_nothing() -> None:
    assert not is_parked(track(ago(-300)))


def test_how_long_a_track_may_be_silent_is_a_setting() -> None:
    assert is_parked(track(ago(11)), LIMITS._replace(parked_ms=10 * model.DAY_MS))


@pytest.mark.parametrize(("done", "total", "percent"), [(0, 0, 0), (1, 3, 33), (3, 3, 100)])
def test_how_much_of_a_track_is_done(done: int, total: int, percent: int) -> None:
    assert track("")._replace(done=done, total=total).percent == percent


def test_a_project_of_which_nothing_was_heard_for_a_week_is_paused() -> None:
    def is_paused(at: str, *, has_live_claim: bool = False) -> bool:
        return parking.is_paused(at, NOW, LIMITS, has_live_claim=has_live_claim)

    assert not is_paused(ago(7))
    assert is_paused(ago(7.01))
    assert not is_paused(ago(100), has_live_claim=True)
    assert not is_paused(""), "of a project that was never touched nothing is known"


def test_of_what_is_parked_only_the_certain_and_the_done_are_told() -> None:
    def found(kind: str, percent: int) -> model.Finding:
        grade = "certain" if percent == 100 else "suspect"
        return model.Finding(kind, grade, percent, ("why",), ())

    certain = found("dead_claim", 100)
    done, proofless, long = found("done_unmarked", 90), found("done_unproven", 50), found(
        "long_claim", 45
    )  # fmt: skip
    dropped = [found(kind, 90) for kind in model.ORPHANED]
    assert parking.folded([certain, *dropped, done, long, proofless]) == (
        certain,
        done,
        long,
        proofless,
    )


# Deferrals


def task(track: str = "H", source: str = "track", put_off: str = "") -> model.Subject:
    key = ids.TaskKey(source, "H.1.1")
    return model.Subject(key, "A house", "new", track, put_off=put_off)


def deferral(scope: str = "task", source: str = "track", name: str = "H.1.1") -> model.Deferral:
    return model.Deferral(scope, source, name, ago(3), "ada")


def test_a_deferral_counts_until_its_day_comes() -> None:
    until = deferral()._replace(until=ago(-1))
    assert deferring.why_ended(until, "", NOW) == ""
    assert deferring.why_ended(until, "", ago(-0.9)) == ""
    assert deferring.why_ended(until, "", ago(-1)) == "its day has come"


def test_a_deferral_counts_until_somebody_touches_it() -> None:
    assert deferring.why_ended(deferral(), "", NOW) == ""
    assert deferring.why_ended(deferral(), ago(4), NOW) == ""
    assert deferring.why_ended(deferral(), ago(3), NOW) == "", "who deferred it touched it, too"
    assert deferring.why_ended(deferral(), ago(2), NOW) == "it was touched"


@pytest.mark.parametrize(
    ("one", "is_covered"),
    [
        (deferral("task", "track", "H.1.1"), True),
        (deferral("task", "track", "H.1"), False),  # its section
        (deferral("task", "track", "H.1.10"), False),
        (deferral("task", "jira", "H.1.1"), False),  # another one of this name
        (deferral("track", "track", "H"), True),
        (deferral("track", "track", "A"), False),
        (deferral("track", "jira", "H"), False),
        (deferral("project", "", "house"), True),
        (deferral("project", "", "garden"), True),  # a store has one project
    ],
)
def test_a_deferral_covers_a_task_a_track_or_a_project(
    one: model.Deferral, *, is_covered: bool
) -> None:
    assert deferring.covers(one, task()) is is_covered


def test_the_first_deferral_that_counts_applies() -> None:
    over, other = deferral()._replace(until=ago(1)), deferral("task", "track", "H.1.2")
    wide = deferral("track", "track", "H")

    def applying(*ones: model.Deferral, touched_at: str = "") -> model.Deferral | None:
        return deferring.applying(ones, task(), touched_at, NOW)

    assert applying(over, other, wide) == wide
    assert applying(deferral(), wide) == deferral()
    assert applying(over, other) is None
    assert applying(wide, touched_at=ago(1)) is None


def test_what_a_list_puts_off_has_time() -> None:
    assert not deferring.is_put_off(task(), "")
    assert deferring.is_put_off(task(put_off="deferred"), ago(0))
    assert deferring.is_put_off(task(put_off="deferred 2026-11-20"), "")


@pytest.mark.parametrize(
    ("touched_at", "has_time"),
    [
        ("2026-10-01T00:00:00.000Z", True),
        ("2026-11-20T23:59:59.000Z", True),
        ("2026-11-21T23:59:59.999Z", True),  # still that day somewhere on Earth
        ("2026-11-22T00:00:00.000Z", False),
        ("2026-11-29T00:00:00.000Z", False),
    ],
)
def test_what_was_touched_after_it_was_put_off_has_no_time(
    touched_at: str, *, has_time: bool
) -> None:
    assert deferring.is_put_off(task(put_off="deferred 2026-11-20"), touched_at) is has_time


@pytest.mark.parametrize("remark", ["deferred 2026-13-45", "deferred 0000-00-00"])
def test_a_day_of_no_calendar_is_no_day(remark: str) -> None:
    assert deferring.is_put_off(task(put_off=remark), NOW)


# What the lists say


def item(
    task_id: str = "H.1.1", state: str = "new", text: str = "A house", **more: object
) -> lists.Item:
    made = lists.Item("track", task_id, "plans/TRACK-H.md", 7, state, text, track="H")
    return made._replace(**more)  # type: ignore[arg-type]


def read(*items: lists.Item, **more: object) -> subjects.Subjects:
    listed = finding.Lists()
    listing = lists.Listing(items)._replace(**more)  # type: ignore[arg-type]
    listed.add("track", listing)
    return subjects.read([], listed)


def of(found: subjects.Subjects, task_id: str = "H.1.1") -> model.Subject:
    return found.tasks[ids.TaskKey("track", task_id)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A house *(deferred 2026-10-22)*", "deferred 2026-10-22"),
        ("A house (Deferred)", "Deferred"),
        ("A house (postponed until spring)", "postponed until spring"),
        ("A house (on hold: no bricks)", "on hold: no bricks"),
        ("A house (parked)", "parked"),
        ("A house (someday)", "someday"),
        ("A deferred house", ""),
        ("A house (not deferred)", ""),
        ("A house (deferredly built)", ""),
        ("A house (deferred " + "x" * 61 + ")", ""),
        ("A house (deferred (again))", ""),
        ("", ""),
    ],
)
def test_a_remark_behind_a_task_puts_it_off(text: str, said: str) -> None:
    assert subjects.put_off(item(text=text)) == said


@pytest.mark.parametrize(
    ("status", "is_off"),
    [
        ("deferred", True),
        ("Deferred", True),
        ("On Hold", True),
        ("on_hold", True),
        ("on-hold", True),
        (" Icebox ", True),
        ("To Do", False),
        ("held", False),
        ("", False),
    ],
)
def test_a_status_puts_a_task_off(status: str, *, is_off: bool) -> None:
    assert subjects.put_off(item(status=status)) == (status if is_off else "")
    assert of(read(item(status=status))).put_off == (status if is_off else "")


def test_a_task_is_what_its_list_says() -> None:
    full = item(
        state="in_progress",
        owner="ada",
        priority="high",
        section="Walls",
        created_at="2026-10-01T00:00:00.000Z",
    )
    assert of(read(full)) == model.Subject(
        ids.TaskKey("track", "H.1.1"),
        "A house",
        "in_progress",
        "H",
        "Walls",
        "ada",
        "high",
        "plans/TRACK-H.md:7",
        created_at="2026-10-01T00:00:00.000Z",
    )


def test_the_parts_of_a_task_are_its_boxes_its_children_and_its_criteria() -> None:
    found = read(
        item(parts_done=1, parts_total=2, acceptance=((True, "warm"), (False, "dry"))),
        item("H.1.1.1", "done", parent="H.1.1"),
        item("H.1.1.2", "new", parent="H.1.1"),
        item("H.1.1.3", "cancelled", parent="H.1.1"),
        item("H.1.2", "done", parent="H.1"),
    )
    assert (of(found).parts_done, of(found).parts_total) == (3, 6)
    parent, children = ids.TaskKey("track", "H.1.1"), ("H.1.1.1", "H.1.1.2", "H.1.1.3")
    assert found.families == {parent: tuple(ids.TaskKey("track", each) for each in children)}
    assert (of(found, "H.1.2").parts_done, of(found, "H.1.2").parts_total) == (0, 0)


def test_a_task_has_the_ids_that_it_had_before() -> None:
    found = read(item(), item("H.1.2"), aliases=(("A.7", "H.1.1"), ("A.8", "A.7"), ("A.9", "A.10")))
    assert of(found).aliases == ("A.7", "A.8")
    assert of(found, "H.1.2").aliases == ()
    assert len(found.tasks) == 2


def test_a_task_with_a_file_is_one_of_the_own_track() -> None:
    fields = {"title": "A door", "status": "in_progress", "agent": "ada", "priority": "high"}
    one = tasks.task("T-1", "work/assigned/ada/T-1.yaml", "assigned", "ada", fields)
    found = subjects.read([one], finding.Lists())
    [subject] = found.tasks.values()
    assert subject == model.Subject(
        ids.TaskKey("work", "T-1"),
        "A door",
        one.state,
        "work",
        owner="ada",
        priority="high",
        where="work/assigned/ada/T-1.yaml",
    )
    assert found.tracks == (subjects.Track("work", "work", "the task files", 0, 1),)


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"state": "archived"}, "done"),
        ({"state": "done"}, "done"),
        ({"state": "new", "is_cancelled": True}, "cancelled"),
        ({"state": "archived", "is_cancelled": True}, "cancelled"),
        ({"state": "error"}, "error"),
    ],
)
def test_the_state_of_a_file_is_one_that_rules_know(changes: dict[str, object], state: str) -> None:
    one = tasks.Task("T-1", "work/inbox/T-1.yaml", "inbox")._replace(**changes)  # type: ignore[arg-type]
    subject = subjects.of_file(one)
    assert subject is not None
    assert subject.state == state


def test_files_that_cannot_be_read_are_left_out() -> None:
    fine = tasks.Task("T-1", "work/inbox/T-1.yaml", "inbox")
    broken = tasks.Task("T-2", "work/inbox/T-2.yaml", "inbox", problem="no YAML")
    nameless = tasks.Task("T 3", "work/inbox/T 3.yaml", "inbox")
    found = subjects.read([fine, broken, nameless], finding.Lists())
    assert [each.id for each in found.tasks] == ["T-1"]
    assert found.tracks[0].total == 1


def test_open_tasks_are_counted() -> None:
    found = read(
        item("H.1", "new"), item("H.2", "in_progress"), item("H.3", "done"), item("H.4", "error"),
        item("H.5", "cancelled"),
    )  # fmt: skip
    assert found.unchecked == 3


def test_a_track_is_counted_without_what_is_cancelled() -> None:
    found = read(item("H.1"), item("H.2", "done"), item("H.3", "cancelled"))
    assert found.tracks == (subjects.Track("track", "H", "H", 1, 2),)


def test_a_track_that_counts_itself_is_believed() -> None:
    whole = lists.Progress("track", "H", "", "plans/TRACK-H-HOUSE.md", 1, 20, 40)
    part = whole._replace(section="Walls", done=1, total=2)
    found = read(item("H.1"), item("A.1", track="A"), progress=(part, whole))
    assert found.tracks == (
        subjects.Track("track", "H", "TRACK-H-HOUSE", 20, 40),
        subjects.Track("track", "A", "A", 0, 1),
    )


def test_a_checkout_without_tasks_has_none() -> None:
    assert subjects.read([], finding.Lists()) == ({}, (), {})
