"""When a paused run goes on by itself."""

from __future__ import annotations

import pytest

from tests.ledger import RUN, at
from tether.coordinator import pausing
from tether.coordinator.limits import Limits
from tether.coordinator.state import SYSTEM_ERROR, USAGE_LIMIT, USER_STOP, State

LIMITS = Limits(resume_ms=5 * 60_000)


def paused(reason: str, resets_at: str | None = None) -> State:
    return State(RUN, paused_at=at(0), pause_reason=reason, resets_at=resets_at)


def test_it_waits_five_minutes_longer_than_the_limit() -> None:
    assert pausing.resumes_at(paused(USAGE_LIMIT, at(120)), LIMITS) == at(125)


def test_a_reset_in_the_past_is_no_reason_to_wait() -> None:
    assert pausing.resumes_at(paused(USAGE_LIMIT, at(-60)), LIMITS) == at(-55)


def test_without_a_known_reset_it_looks_again_after_five_minutes() -> None:
    assert pausing.resumes_at(paused(USAGE_LIMIT), LIMITS) == at(5)


@pytest.mark.parametrize("reason", [USER_STOP, SYSTEM_ERROR])
def test_after_a_stop_or_an_error_a_person_decides(reason: str) -> None:
    assert pausing.resumes_at(paused(reason, at(120)), LIMITS) == ""


def test_another_zone_is_the_same_moment() -> None:
    resets_at = "2026-11-16T12:00:00+02:00"
    assert pausing.resumes_at(paused(USAGE_LIMIT, resets_at), LIMITS) == at(65)
