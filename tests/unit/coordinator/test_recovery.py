"""What was completed so shortly before a run stopped that it is looked at again."""

from __future__ import annotations

import pytest

from tests.ledger import RUN, Ledger, at, plan, task
from tether.coordinator import recovery
from tether.coordinator.state import Completion, State
from tether.store import run_events

HOUR_MS = 60 * 60_000


def stopped(minutes: float, **completed: float) -> State:
    """A run whose last event was then, and when its tasks were completed."""
    done = {task_id: Completion(at(when)) for task_id, when in completed.items()}
    return State(RUN, completed=done, last_event_at=at(minutes))


@pytest.mark.parametrize(
    ("completed", "is_recent"), [(40, True), (0, True), (-0.001, False), (-60, False), (60, True)]
)
def test_the_window_is_measured_from_the_last_event(completed: float, is_recent: bool) -> None:
    found = recovery.recent(stopped(60, T1=completed), HOUR_MS, again=False)
    assert found == (["T1"] if is_recent else [])


def test_how_long_ago_that_is_does_not_matter() -> None:
    """There is no clock in it: a run that stopped last year has the same window."""
    assert recovery.recent(stopped(0, T1=-30), HOUR_MS, again=False) == ["T1"]


def test_a_run_without_events_has_nothing_recent() -> None:
    assert recovery.recent(State(RUN), HOUR_MS, again=True) == []


def test_a_window_of_nothing_has_what_the_last_event_completed() -> None:
    assert recovery.recent(stopped(60, T1=59, T2=60), 0, again=False) == ["T2"]


def test_what_has_passed_again_is_left_alone_unless_asked() -> None:
    state = stopped(60, T1=50, T2=55)
    state.completed["T1"].validated_at = at(58)
    assert recovery.recent(state, HOUR_MS, again=False) == ["T2"]
    assert recovery.recent(state, HOUR_MS, again=True) == ["T1", "T2"]


@pytest.mark.parametrize("again", [True, False])
def test_what_waits_for_it_already_is_not_asked_for_twice(again: bool) -> None:
    ledger = Ledger(plan(task("T1"), task("T2")))
    ledger.complete("T1", "T2")
    ledger.tell(run_events.TASK_REVERIFICATION_REQUIRED)
    assert recovery.recent(ledger.state, HOUR_MS, again=again) == ["T2"]
