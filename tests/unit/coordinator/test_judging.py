"""What became of a worker, by what its process shows; and when it is once too often."""

from __future__ import annotations

import signal

import pytest

from tests.ledger import RUN, at
from tether.coordinator import judging
from tether.coordinator.jobs.model import Look, Report, StepResult
from tether.coordinator.limits import Limits
from tether.coordinator.state import AUDITOR, DEVELOPER, ActiveAgent, State, Tally

LIMITS = Limits(checkpoint_ms=5 * 60_000, stall_checkpoints=3, grace_seconds=10)
ALLOWED_MS = 15 * 60_000
OK = StepResult("worker", 0, None, False, 1.0)


def worker(**more: str) -> ActiveAgent:
    return ActiveAgent(DEVELOPER, "T1", at(0), **more)  # type: ignore[arg-type]


def ended(*results: StepResult, stopped: bool = False) -> Look:
    return Look("ended", Report(results, at(1), stopped))


def fate(look: Look, minutes: float = 1, agent: ActiveAgent | None = None) -> str:
    found = judging.judge(agent or worker(), look, at(minutes), ALLOWED_MS, LIMITS)
    return found.fate


# By its report


@pytest.mark.parametrize(
    ("look", "word"),
    [
        (ended(OK), "done"),
        (ended(OK, OK), "done"),
        (ended(), "failed"),
        (ended(OK, stopped=True), "stopped"),
        (ended(OK._replace(exit_code=1)), "failed"),
        (ended(OK, OK._replace(exit_code=None, signal=9)), "gone"),
        (ended(OK, OK._replace(exit_code=None, signal=11)), "failed"),
        (ended(OK._replace(timed_out=True)), "timeout"),
        (ended(OK._replace(exit_code=1, timed_out=True), stopped=True), "stopped"),
    ],
)
def test_a_report_decides(look: Look, word: str) -> None:
    assert fate(look) == word
    assert fate(look, minutes=1000) == word, "however late it is looked at"


def test_what_failed_is_said_in_words() -> None:
    report = Report(
        (
            OK,
            StepResult("criterion 1", 2, None, False, 1.0),
            StepResult("criterion 2", None, signal.SIGKILL, False, 1.0),
            StepResult("criterion 3", None, 250, False, 1.0),
            StepResult("auditor", None, signal.SIGTERM, True, 1.0),
        ),
        at(1),
        False,
    )
    assert judging.failures(report) == (
        "criterion 1 ended with status 2; criterion 2 was ended by SIGKILL;"
        " criterion 3 was ended by signal 250; auditor took too long"
    )


def test_a_report_of_nothing_says_so() -> None:
    assert judging.failures(Report((), at(1), False)) == "it left no result"


# Without one


def test_one_whose_process_is_gone_is_gone() -> None:
    assert fate(Look("gone")) == "gone"


@pytest.mark.parametrize(("minutes", "word"), [(0.5, "working"), (1, "working"), (1.001, "gone")])
def test_one_that_does_not_start_is_given_up_after_a_minute(minutes: float, word: str) -> None:
    assert fate(Look("starting"), minutes) == word


@pytest.mark.parametrize(
    ("minutes", "word"), [(16 + 10 / 60, "working"), (16 + 10.1 / 60, "timeout")]
)
def test_a_wrapper_that_does_not_end_its_command_is_ended(minutes: float, word: str) -> None:
    """15 minutes allowed, 10 seconds of grace, one minute for the wrapper itself."""
    told = worker(last_checkpoint_time=at(15))
    assert fate(Look("running"), minutes, told) == word


@pytest.mark.parametrize(
    ("minutes", "word"), [(0, "working"), (14.999, "working"), (15, "stalled")]
)
def test_three_missed_checkpoints_are_a_stall(minutes: float, word: str) -> None:
    assert fate(Look("running"), minutes) == word


def test_a_checkpoint_starts_the_count_anew() -> None:
    told = worker(last_checkpoint_time=at(10))
    assert fate(Look("running"), 15, told) == "working"
    assert judging.missed_checkpoints(told, at(15), LIMITS) == 1


def test_a_clock_that_went_back_misses_nothing() -> None:
    assert judging.missed_checkpoints(worker(), at(-60), LIMITS) == 0
    assert fate(Look("starting"), -60) == "working"


def test_auditors_leave_no_checkpoints() -> None:
    auditor = ActiveAgent(AUDITOR, "T1", at(0))
    assert fate(Look("running"), 15.5, auditor) == "working"


# Once too often


@pytest.mark.parametrize(
    ("tally", "why"),
    [
        (Tally(), ""),
        (Tally(attempts=99), ""),
        (Tally(incomplete=2, audit_failures=2, timeouts=2, deaths=9), ""),
        (Tally(incomplete=3), "its worker gave up 3 times"),
        (Tally(audit_failures=3), "it did not pass its audit 3 times"),
        (Tally(timeouts=4), "it took too long or left no checkpoints 4 times"),
        (Tally(deaths=10), "its worker vanished 10 times"),
    ],
)
def test_a_person_decides_after_three(tally: Tally, why: str) -> None:
    state = State(RUN, tallies={"T1": tally})
    assert judging.is_once_too_often(state, "T1", LIMITS) == why


def test_a_task_that_nobody_tried_may_be_tried() -> None:
    assert judging.is_once_too_often(State(RUN), "T1", LIMITS) == ""
