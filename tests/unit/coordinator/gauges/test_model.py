"""What is decided on the numbers, wherever they come from."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether import clock
from tether.coordinator.gauges import model

NOON = "2026-11-15T12:00:00.000Z"
NOW_MS = clock.parse(NOON)


def later(hours: float) -> str:
    return clock.text(NOW_MS + round(hours * 3_600_000))


def usage(*windows: model.Window, at: str | None = NOON) -> model.Usage | None:
    return model.tightest(windows, "test", at, NOW_MS)


@pytest.mark.parametrize(
    ("remaining", "expected"), [(9.99, True), (10, True), (10.01, False), (0, True), (100, False)]
)
def test_low_is_at_or_under_the_threshold(remaining: float, expected: bool) -> None:
    assert model.is_low(remaining, 10) is expected


def test_the_window_with_the_least_left_decides() -> None:
    found = usage(model.Window(42, later(1)), model.Window(91, later(50)))
    assert found == model.Usage(9.0, 91, later(50), "test", NOON)


def test_of_two_that_are_equally_full_the_later_end_counts() -> None:
    for windows in ([later(1), later(9)], [later(9), later(1)], [None, later(9)]):
        found = usage(*(model.Window(100, end) for end in windows))
        assert found
        assert found.resets_at == later(9)


def test_a_window_that_has_ended_is_unused_again() -> None:
    assert usage(model.Window(100, NOON)) == model.Usage(100.0, 0.0, None, "test", NOON)
    found = usage(model.Window(100, later(-1)), model.Window(30, later(1)))
    assert found == model.Usage(70.0, 30, later(1), "test", NOON)


def test_a_window_of_unknown_end_counts_for_the_length_of_the_shortest() -> None:
    full = model.Window(100, None)
    assert not model.has_ended(full, later(-4.9), NOW_MS)
    assert model.has_ended(full, later(-5), NOW_MS)
    assert not model.has_ended(full, None, NOW_MS)


def test_without_windows_nothing_is_known() -> None:
    assert usage() is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [(42, 42.0), (37.5, 37.5), (130, 100.0), (-3, 0.0), (10**400, 100.0)],
)
def test_percentages_are_cut_to_what_they_can_mean(value: float, expected: float) -> None:
    assert model.percent(value) == expected


@pytest.mark.parametrize("value", [None, True, "42", math.nan, math.inf, -math.inf, [], {}])
def test_what_is_no_number_is_no_percentage(value: object) -> None:
    assert model.percent(value) is None


@pytest.mark.parametrize("value", [None, True, "", "soon", math.nan, 10**30, [], {}])
def test_what_is_no_time_is_no_moment(value: object) -> None:
    assert model.moment(value) is None


def test_a_moment_may_be_seconds_or_text() -> None:
    assert model.moment(1794730555) == "2026-11-15T08:15:55.000Z"
    assert model.moment("2026-11-15T09:15:55+01:00") == "2026-11-15T08:15:55.000Z"


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(-(10**9), 10**9))))
def test_what_is_left_is_never_more_than_any_running_window_has(
    windows: list[tuple[float, int]],
) -> None:
    made = [model.Window(used, clock.text(NOW_MS + ms)) for used, ms in windows]
    found = usage(*made)
    running = [each.used for each in made if not model.has_ended(each, NOON, NOW_MS)]
    assert (found is None) == (not made)
    if found:
        assert found.remaining == 100 - max(running, default=0)
        assert found.resets_at is None or clock.parse(found.resets_at) > NOW_MS
