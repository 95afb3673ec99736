"""How much a silence says: its length, what went on around it, and what does not break it."""

from __future__ import annotations

import pytest

from tether import clock, ids
from tether.vacuum import model, moments, silence

NOW_MS = clock.parse("2026-11-30T12:00:00.000Z")
LIMITS = model.Limits()
MINUTE, HOUR, DAY = 60_000, model.HOUR_MS, model.DAY_MS


def key(number: int) -> ids.TaskKey:
    return ids.TaskKey("track", f"H.1.{number}")


TASK = key(1)


def stated(ago_ms: int, number: int = 1, session: str = "s1") -> moments.Touch:
    return moments.Touch(NOW_MS - ago_ms, key(number), session)


def worked(ago_ms: int, number: int = 1, session: str = "s1") -> moments.Touch:
    return moments.Touch(NOW_MS - ago_ms, key(number), session, is_work=True)


def bulk(ago_ms: int, tasks: int, apart_ms: int = 0) -> list[moments.Touch]:
    """Something is declared of so many tasks, one after the other."""
    return [stated(ago_ms - number * apart_ms, number + 1) for number in range(tasks)]


def quiet(touches: list[moments.Touch], created_ms: int = 0) -> model.Quiet:
    found = moments.Moments(touches).quiet(TASK, NOW_MS, created_ms)
    assert found is not None
    return found


# The probability


@pytest.mark.parametrize(
    ("hours", "percent"),
    [(0, 41), (12, 45), (24, 48), (72, 62), (120, 74), (168, 84), (240, 92), (336, 93), (9999, 93)],
)
def test_the_longer_the_silence_the_likelier_a_task_was_dropped(hours: float, percent: int) -> None:
    assert silence.percent(model.Quiet(hours, hours), LIMITS) == percent


def test_a_task_of_which_nothing_is_known_is_not_silent() -> None:
    assert silence.percent(None, LIMITS) == 0
    assert silence.reasons(None) == []


def test_patience_is_a_setting() -> None:
    patient = LIMITS._replace(stale_ms=14 * DAY)
    two_weeks, week = model.Quiet(336, 336), model.Quiet(168, 168)
    assert silence.percent(two_weeks, patient) == silence.percent(week, LIMITS) == 84


def test_a_silence_of_a_century_is_a_number_too() -> None:
    assert silence.probability(model.Quiet(1e9, 1e9), stale_hours=0.001) == 0.93


def test_a_touch_in_the_future_is_no_silence() -> None:
    assert silence.silence_hours(model.Quiet(-5, -5)) == 0


def test_any_touch_is_believed_for_half_a_day() -> None:
    assert silence.silence_hours(model.Quiet(12, 500)) == 12
    assert silence.silence_hours(model.Quiet(12.1, 500)) == 500


def test_silence_says_more_where_nothing_shows_work() -> None:
    assert silence.silence_hours(model.Quiet(100, 100, has_work=False)) == 150


def test_silence_says_more_in_a_busy_project() -> None:
    assert silence.silence_hours(model.Quiet(100, 100, project_touches=149)) == 100
    assert silence.silence_hours(model.Quiet(100, 100, project_touches=150)) == 150


def test_two_reasons_do_not_multiply() -> None:
    both = model.Quiet(100, 100, has_work=False, project_touches=500)
    assert silence.silence_hours(both) == 150


def test_reasons_are_told_in_words() -> None:
    assert silence.reasons(model.Quiet(1, 1)) == []
    told = silence.reasons(model.Quiet(1, 1, False, 6, 150))
    assert told == [
        "its last touch was a change of 6 tasks at once",
        "no trace of work on it",
        "others were touched 150 times in a week",
    ]


# When a task was last touched


def test_a_task_that_nobody_touched_has_no_silence() -> None:
    assert moments.Moments([]).quiet(TASK, NOW_MS) is None
    assert moments.Moments([stated(HOUR, 2)]).quiet(TASK, NOW_MS) is None


def test_silence_begins_with_the_last_touch() -> None:
    found = quiet([worked(5 * HOUR), stated(3 * HOUR), worked(4 * HOUR), worked(HOUR, 2)])
    assert (found.touched_hours, found.alone_hours) == (3, 3)
    assert (found.has_work, found.touched_together) == (True, 1)


def test_what_comes_later_does_not_count_yet() -> None:
    found = quiet([stated(5 * HOUR), worked(-HOUR)])
    assert (found.touched_hours, found.has_work) == (5, False)
    assert moments.Moments([worked(-HOUR)]).quiet(TASK, NOW_MS) is None


def test_the_last_touch_of_every_task_and_of_all_is_known() -> None:
    found = moments.Moments([worked(HOUR), stated(3 * HOUR), stated(2 * HOUR, 2, "s2")])
    assert found.last_at == {TASK: NOW_MS - HOUR, key(2): NOW_MS - 2 * HOUR}
    assert found.by == {TASK: "s1", key(2): "s2"}
    assert found.project_ms == NOW_MS - HOUR
    assert moments.Moments([]).project_ms == 0


def test_a_trace_of_work_is_no_mere_statement() -> None:
    found = moments.Moments([worked(HOUR), stated(HOUR, 2)])
    assert found.has_work(TASK)
    assert not found.has_work(key(2))
    assert not found.has_work(key(3))


# Many at once


def test_a_statement_about_many_tasks_at_once_breaks_no_silence() -> None:
    found = quiet([stated(100 * HOUR), *bulk(24 * HOUR, 6)])
    assert (found.touched_hours, found.alone_hours, found.touched_together) == (24, 100, 6)


def test_hands_change_up_to_five() -> None:
    found = quiet([stated(100 * HOUR), *bulk(24 * HOUR, 5)])
    assert (found.alone_hours, found.touched_together) == (24, 1)


def test_statements_a_minute_apart_belong_together() -> None:
    others = [stated(24 * HOUR - MINUTE, number) for number in range(2, 7)]
    assert quiet([stated(100 * HOUR), stated(24 * HOUR), *others]).alone_hours == 100
    later = [each._replace(at_ms=each.at_ms + 1) for each in others]
    assert quiet([stated(100 * HOUR), stated(24 * HOUR), *later]).alone_hours == 24


def test_one_task_that_is_stated_six_times_is_no_bulk() -> None:
    again = [stated(24 * HOUR - number * 1000) for number in range(6)]
    found = quiet([stated(100 * HOUR), *again])
    assert (found.touched_together, round(found.alone_hours)) == (1, 24)


def test_the_largest_of_several_sweeping_changes_is_told() -> None:
    found = quiet([stated(100 * HOUR), *bulk(50 * HOUR, 9), *bulk(24 * HOUR, 7)])
    assert (found.alone_hours, found.touched_together) == (100, 9)


def test_work_never_counts_as_bulk() -> None:
    crowd = [worked(24 * HOUR, number) for number in range(1, 20)]
    found = quiet([stated(100 * HOUR), *crowd])
    assert (found.alone_hours, found.touched_together) == (24, 1)
    among = quiet([stated(100 * HOUR), *bulk(24 * HOUR, 20), worked(24 * HOUR)])
    assert among.alone_hours == 24


def test_the_work_of_others_makes_no_bulk_of_a_statement() -> None:
    crowd = [worked(24 * HOUR, number) for number in range(2, 20)]
    assert quiet([stated(100 * HOUR), stated(24 * HOUR), *crowd]).alone_hours == 24


def test_a_task_that_was_only_ever_touched_in_bulk_is_silent_since_it_was_written() -> None:
    touches = [*bulk(100 * HOUR, 6), *bulk(24 * HOUR, 6)]
    assert quiet(touches).alone_hours == 100, "or since it is known"
    assert quiet(touches, NOW_MS - 60 * HOUR).alone_hours == 60


def test_a_bulk_that_is_yet_to_come_is_none() -> None:
    """What is judged as of a moment knows nothing of the minute after it."""
    others = [stated(-30_000, number) for number in range(2, 9)]
    assert quiet([stated(100 * HOUR), stated(0), *others]).alone_hours == 0


# Before it was written down


def test_what_was_touched_before_a_task_was_written_was_another_one() -> None:
    found = quiet([worked(500 * HOUR)], NOW_MS - 24 * HOUR)
    assert (found.touched_hours, found.alone_hours, found.has_work) == (24, 24, False)


def test_work_since_a_task_was_written_is_its_own() -> None:
    found = quiet([worked(500 * HOUR), worked(10 * HOUR)], NOW_MS - 24 * HOUR)
    assert (found.touched_hours, found.has_work) == (10, True)


# A busy project


def test_each_task_counts_once_an_hour() -> None:
    start = 3 * HOUR  # NOW is a full hour
    touches = [worked(start - number * MINUTE) for number in range(60)]
    assert quiet(touches).project_touches == 1
    assert quiet([*touches, worked(start, 2)]).project_touches == 2
    assert quiet([*touches, worked(start - 60 * MINUTE)]).project_touches == 2


def test_touches_of_the_last_week_count() -> None:
    touches = [worked(24 * number * HOUR) for number in range(10)]
    assert quiet(touches).project_touches == 8, "today and seven days before"


def test_what_comes_later_makes_no_project_busy() -> None:
    assert quiet([worked(HOUR), *(worked(-HOUR, number) for number in range(50))]) == quiet(
        [worked(HOUR)]
    )


def test_a_busy_project_makes_silence_telling() -> None:
    busy = [worked(number * HOUR, 2) for number in range(160)]
    found = quiet([worked(120 * HOUR), *busy])
    assert found.project_touches >= silence.BUSY_TOUCHES
    assert silence.percent(found, LIMITS) > silence.percent(model.Quiet(120, 120), LIMITS)
    assert silence.silence_hours(found) == 180
