"""What happened, in lines that people read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ledger import DIAMOND, Ledger
from tether.coordinator import narrating
from tether.coordinator.state import Question
from tether.store import run_events
from tether.store.events import EventType


def line(kind: EventType, **data: Any) -> str:
    """What is said of one event, at a minute past nine."""
    ledger = Ledger(DIAMOND)
    [said] = narrating.lines([ledger.tell(kind, **data)])
    assert said.startswith("09:01:00 ")
    return said.removeprefix("09:01:00 ")


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        (run_events.DEVELOPER_DISPATCHED, {}, "T1 is given out"),
        (run_events.DEVELOPER_DISPATCHED, {"resumed": True}, "T1 is given out again"),
        (run_events.DEVELOPER_READY_FOR_REVIEW, {}, "T1 is ready for its audit"),
        (
            run_events.DEVELOPER_INCOMPLETE,
            {"blocker": "no disk\nmore"},
            "T1 was not finished (try 1): no disk",
        ),
        (run_events.DEVELOPER_CHECKPOINT, {}, "T1: half of it"),
        (run_events.AGENT_TIMEOUT, {}, "T1 took too long"),
        (run_events.AGENT_STALLED, {}, "T1 stalled: 3 checkpoints missed"),
        (run_events.ORPHAN_AGENT_DETECTED, {}, "T1: its developer is gone"),
        (run_events.AUDITOR_FAIL, {}, "T1 did not pass: it fails"),
        (run_events.TASK_COMPLETE, {}, "T1 is completed: seen"),
        (run_events.TASK_REVERIFICATION_REQUIRED, {}, "T1 is validated again"),
        (run_events.TASK_REVERIFIED, {}, "T1 still passes"),
        (run_events.TASK_FAILED, {"reason": "3 times"}, "T1 failed: 3 times"),
        (run_events.AGENT_SEEKS_GUIDANCE, {}, "T1 has question 2: Which?"),
        (run_events.DIVINE_RESPONSE_RECEIVED, {"question": 2}, "question 2 was answered"),
        (run_events.COMPACTION_START, {}, "compaction 1 began"),
        (run_events.COMPACTION_COMPLETE, {}, "compaction 1 is over"),
    ],
)
def test_each_event_that_people_want_to_know_of(
    kind: EventType, data: dict[str, Any], said: str
) -> None:
    assert line(kind, **data) == said


def test_what_only_machines_want_to_know_is_not_said() -> None:
    ledger = Ledger(DIAMOND)
    ledger.tell(run_events.USAGE_CHECK)
    ledger.change_plan(DIAMOND)  # whoever follows the plan has told of it
    ledger.add("task_praised", {})
    assert list(narrating.lines(ledger.log)) == []


def test_only_known_events_are_told() -> None:
    assert narrating._SAID.keys() <= {kind.name for kind in run_events.TYPES}


def test_what_others_wrote_is_one_line_without_controls() -> None:
    said = line(run_events.DEVELOPER_CHECKPOINT, checkpoint="a\x1b[2J\nSESSION PAUSED" + "x" * 999)
    assert said.startswith("T1: a SESSION PAUSED")
    assert "\n" not in said
    assert len(said) <= 200


def test_a_question_says_how_to_answer_it() -> None:
    asked = Question(7, "T1", "a1", "Which\none?", ["A", "B"], "", "")
    assert narrating.question(asked) == (
        "QUESTION 7 about T1: Which one? [A, B]\n  tether run answer 7 ANSWER"
    )
    free = Question(8, "", "", "Why?", [], "", "")
    assert narrating.question(free) == "QUESTION 8: Why?\n  tether run answer 8 ANSWER"
