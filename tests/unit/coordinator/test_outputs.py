"""What a run says at its turning points, line by line as seed 004 words it.

The blocks below are the seed's own; what stands in braces or brackets there is filled in here.
"""

from __future__ import annotations

import pytest

from tests.ledger import RUN, at
from tether.coordinator import outputs
from tether.coordinator.state import (
    SYSTEM_ERROR,
    USAGE_LIMIT,
    USER_STOP,
    Completion,
    State,
    Usage,
)

FILE = "/repo/.git/tether/runs/house/state.json"


@pytest.fixture
def state() -> State:
    """3 of 12 tasks are complete, 2 in progress, 1 waits for its audit, 2 for 3 others."""
    return State(
        RUN,
        plan_file="plan.md",
        total_tasks=12,
        compaction_count=4,
        completed={each: Completion("") for each in ("T1", "T2", "T3")},
        in_progress={"T4": "a4", "T5": "a5"},
        pending_audit={"T6": None},
        available=dict.fromkeys(["T9", "T10", "T11", "T12"]),
        blocked={"T7": {"T4": None}, "T8": {"T4": None, "T5": None}},
        usage=Usage("", 91.5, 8.5, None),
        resets_at=at(60),
        pause_reason=USAGE_LIMIT,
    )


def test_before_a_compaction(state: State) -> None:
    assert (
        outputs.before_compaction(state, 10.0, FILE)
        == f"""\
AUTO-COMPACTION #4 - Context at 10%

State persisted to: {FILE}"""
    )


def test_after_an_odd_compaction(state: State) -> None:
    state.compaction_count = 3
    assert (
        outputs.after_compaction(state, full_reload=False)
        == """\
RESUMED - Compaction #3 complete

Completed: 3/12 tasks
Restoring: 2 in-progress tasks
Pending audit: 1 tasks"""
    )


def test_after_an_even_compaction(state: State) -> None:
    assert (
        outputs.after_compaction(state, full_reload=True)
        == """\
RESUMED - Compaction #4 complete (full plan reload)

Plan reloaded: plan.md
Total tasks: 12
Completed: 3/12 tasks
Restoring: 2 in-progress tasks
Pending audit: 1 tasks
Blocked graph rebuilt: 3 relationships"""
    )


def test_a_full_plan_reload(state: State) -> None:
    assert (
        outputs.plan_reload(state, 3)
        == """\
FULL PLAN RELOAD - Compaction #4

Plan: plan.md
Total tasks: 12
Completed: 3 (verified against plan)
Remaining: 9
Blocked graph rebuilt: 3 blocking relationships"""
    )


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (USAGE_LIMIT, "Usage limit"),
        (USER_STOP, "User stop"),
        (SYSTEM_ERROR, "System error"),
    ],
)
def test_a_pause(state: State, reason: str, words: str) -> None:
    state.pause_reason = reason
    assert (
        outputs.paused(state, FILE, at(65))
        == f"""\
SESSION PAUSED - {words}

State persisted to: {FILE}
Progress: 3/12 tasks complete
In progress: 2 tasks
Pending audit: 1 tasks
Compactions this session: 4

Session remaining: 8.5%
Session resets at: {at(60)}
Auto-resuming at: {at(65)}"""
    )


def test_a_pause_that_a_person_ends_says_how(state: State) -> None:
    state.usage, state.resets_at = Usage(), None
    said = outputs.paused(state, FILE, "")
    assert said.endswith("""
Session remaining: unknown
Session resets at: unknown
To go on: tether run resume""")


def test_after_the_wait(state: State) -> None:
    assert outputs.resumed(state) == "SESSION RESUMED - Reset complete"


def test_after_a_stop(state: State) -> None:
    state.pause_reason = USER_STOP
    assert outputs.resumed(state) == "SESSION RESUMED"


SEEDS_RECOVERY = f"""\
COORDINATOR RECOVERY

Prior state found: {FILE}
Saved at: {at(7)}
Events to reconcile: 3
Orphaned agents: 1
Recent completions to validate: 2

Recovery complete. Resuming normal operation.

Progress: 3/12 tasks complete
Available: 4 tasks
Blocked: 2 tasks"""


def test_a_recovery_has_the_lines_of_the_seed_in_their_order(state: State) -> None:
    found = outputs.Recovery(
        FILE, at(7), 3, (("a4", "T4", "developer"),), ("T1", "T2"), ("a5",), ("state.x.json",)
    )
    said = outputs.recovered(found, state).split("\n")
    own = ["Set aside: state.x.json", "  a4 (developer) had T4", "Taken over: 1"]
    assert [line for line in said if line not in own] == SEEDS_RECOVERY.split("\n")
    assert set(own) <= set(said)


def test_a_recovery_without_a_snapshot_says_so(state: State) -> None:
    found = outputs.Recovery(FILE, "", 0, (), (), (), contradictions=("T1 has no commit",))
    said = outputs.recovered(found, state)
    assert "Saved at: never: rebuilt from the events and the plan\n" in said
    assert "Contradiction: T1 has no commit\n" in said
