"""A machine that slept, or a clock that was set, makes nobody late."""

from __future__ import annotations

from tether import clock
from tether.coordinator import stopwatch

START_MS = clock.parse("2026-11-16T12:00:00.000Z")
HOUR_MS = 3_600_000


def at(ms: int) -> str:
    return clock.text(START_MS + ms)


def test_what_the_clock_jumped_does_not_count() -> None:
    watch = stopwatch.Stopwatch()
    watch.tick(at(0), 0)
    watch.tick(at(1000 + HOUR_MS), 1000)
    assert watch.now_since(at(0), at(1000 + HOUR_MS)) == at(1000)


def test_a_clock_that_was_set_back_makes_nobody_late() -> None:
    watch = stopwatch.Stopwatch()
    watch.tick(at(0), 0)
    watch.tick(at(1000 - HOUR_MS), 1000)
    assert watch.now_since(at(-10), at(1000 - HOUR_MS)) <= at(1000)


def test_time_that_passed_counts() -> None:
    watch = stopwatch.Stopwatch()
    watch.tick(at(0), 0)
    watch.tick(at(HOUR_MS), HOUR_MS)
    assert watch.now_since(at(0), at(HOUR_MS)) == at(HOUR_MS)


def test_a_jump_before_it_began_is_no_matter() -> None:
    watch = stopwatch.Stopwatch()
    watch.tick(at(0), 0)
    watch.tick(at(HOUR_MS), 0)
    assert watch.now_since(at(HOUR_MS + 1), at(HOUR_MS + 5)) == at(HOUR_MS + 5)
