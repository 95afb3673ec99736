"""What is given out next."""

from __future__ import annotations

import pytest

from tests.ledger import DIAMOND, Ledger, plan, task
from tether.coordinator import choosing
from tether.coordinator.choosing import Offer
from tether.coordinator.plans import graph
from tether.coordinator.state import AUDITOR, DEVELOPER
from tether.store import run_events
from tether.store.events import EventType


def chosen(ledger: Ledger, slots: int = 5, *held: str) -> list[Offer]:
    outlook = ledger.fold.outlook
    weights = graph.dependent_counts(graph.graph(outlook.plan.tasks))
    return choosing.choose(ledger.state, outlook, weights, slots, held)


def work(*task_ids: str) -> list[Offer]:
    return [Offer(DEVELOPER, each) for each in task_ids]


def audits(*task_ids: str) -> list[Offer]:
    return [Offer(AUDITOR, each) for each in task_ids]


def wide(count: int = 6) -> Ledger:
    """A run of tasks that wait for nothing."""
    return Ledger(plan(*(task(f"T{number}") for number in range(1, count + 1))))


def finished(ledger: Ledger, *task_ids: str) -> None:
    """Let workers be ready for their audit."""
    for task_id in task_ids:
        ledger.work(task_id, f"w-{task_id}")
        ledger.ready(task_id, f"w-{task_id}")


# How many


def test_as_many_as_there_are_slots() -> None:
    assert chosen(wide(), 3) == work("T1", "T2", "T3")


def test_workers_and_auditors_share_the_slots() -> None:
    ledger = wide()
    finished(ledger, "T1")
    ledger.audit("T1", "v1")
    ledger.work("T2", "a2")
    assert chosen(ledger, 3) == work("T3")
    assert chosen(ledger, 2) == chosen(ledger, 1) == []


@pytest.mark.parametrize(
    "kind",
    [
        run_events.SESSION_PAUSE,
        run_events.PAUSE_REQUESTED,
        run_events.ASSIGNMENTS_PAUSED,
        run_events.COMPACTION_START,
        run_events.WORKFLOW_FAILED,
    ],
    ids=lambda kind: kind.name,
)
def test_nothing_begins_while(kind: EventType) -> None:
    ledger = wide()
    ledger.tell(kind)
    assert chosen(ledger) == []


# In which order


def test_validations_come_first_and_alone() -> None:
    ledger = wide()
    ledger.complete("T1", "T2")
    finished(ledger, "T3")
    for task_id in ("T1", "T2"):
        ledger.tell(run_events.TASK_REVERIFICATION_REQUIRED, task_id=task_id)
    assert chosen(ledger) == audits("T1", "T2")
    assert chosen(ledger, 1) == audits("T1")
    ledger.audit("T1", "v1")
    ledger.audit("T2", "v2")
    assert chosen(ledger) == [], "until they are over"


def test_restored_work_then_audits_then_new_work() -> None:
    ledger = wide(4)
    finished(ledger, "T1")
    ledger.work("T3", "a3")
    ledger.tell(run_events.ORPHAN_AGENT_DETECTED, task_id="T3", agent_id="a3")
    assert chosen(ledger) == [*work("T3"), *audits("T1"), *work("T2", "T4")]


def test_restored_work_gets_its_files_before_anybody_else() -> None:
    same = {"files": ("src/a.py",)}
    ledger = Ledger(plan(task("T1", priority="high", **same), task("T2", **same), task("T3")))
    ledger.work("T2", "a2")
    ledger.tell(run_events.ORPHAN_AGENT_DETECTED, task_id="T2", agent_id="a2")
    assert chosen(ledger) == work("T2", "T3")


def test_what_is_being_audited_is_not_audited_twice() -> None:
    ledger = wide(2)
    finished(ledger, "T1", "T2")
    ledger.audit("T1", "v1")
    assert chosen(ledger) == audits("T2")


def test_what_most_depends_on_comes_first() -> None:
    """Contradiction 13 of the seed: there it came last."""
    ledger = Ledger(plan(task("T1"), *DIAMOND.tasks[1:], task("T5"), task("T6", "T5")))
    assert chosen(ledger) == work("T1", "T5")
    ledger = Ledger(plan(task("T9"), *DIAMOND.tasks))
    assert chosen(ledger) == work("T1", "T9")


def test_then_what_is_more_urgent_then_what_was_written_first() -> None:
    ledger = Ledger(plan(task("T1"), task("T2", priority="high"), task("T3", priority="high")))
    assert chosen(ledger) == work("T2", "T3", "T1")


def test_the_order_is_that_of_the_plan_not_of_the_ids() -> None:
    assert chosen(Ledger(plan(task("b"), task("a")))) == work("b", "a")


# What is left out


def test_a_question_holds_up_only_its_own() -> None:
    """Contradiction 12 of the seed: there it held up everything."""
    ledger = wide(3)
    finished(ledger, "T1")
    ledger.ask("T1")
    question = ledger.ask("T2")
    assert chosen(ledger) == work("T3")
    ledger.answer(question, "retry")
    assert chosen(ledger) == work("T2", "T3")


def test_a_question_about_the_plan_holds_up_nothing() -> None:
    ledger = wide(1)
    ledger.ask("")
    assert chosen(ledger) == work("T1")


def test_what_somebody_else_holds_is_left_out() -> None:
    assert chosen(wide(2), 5, "T1") == work("T2")


def test_two_tasks_with_a_common_file_are_not_worked_on_at_once() -> None:
    ledger = Ledger(
        plan(
            task("T1", files=("src/a.py",)),
            task("T2", files=("src",)),
            task("T3", files=("src/*.py",)),
            task("T4", files=("docs",)),
            task("T5"),
        )
    )
    assert chosen(ledger) == work("T1", "T4", "T5")


@pytest.mark.parametrize("until", ["in_progress", "pending_audit"])
def test_files_are_locked_until_the_audit_has_passed(until: str) -> None:
    ledger = Ledger(plan(task("T1", files=("a",)), task("T2", files=("a",))))
    ledger.work("T1", "a1")
    if until == "pending_audit":
        ledger.ready("T1", "a1")
        ledger.audit("T1", "v1")
    assert ledger.where("T1") == [until]
    assert chosen(ledger) == []
    ledger.complete("T1")
    assert chosen(ledger) == work("T2")


# Whether it is over


def test_a_run_is_complete_when_nothing_is_left() -> None:
    ledger = wide(1)
    assert not choosing.is_complete(ledger.state)
    ledger.complete("T1")
    assert choosing.is_complete(ledger.state)
    ledger.tell(run_events.TASK_REVERIFICATION_REQUIRED)
    assert not choosing.is_complete(ledger.state)


def test_a_run_is_stuck_when_what_is_left_has_failed_or_waits_for_it() -> None:
    ledger = Ledger(DIAMOND)
    assert not choosing.is_stuck(ledger.state)
    ledger.tell(run_events.TASK_FAILED)
    assert choosing.is_stuck(ledger.state)
    ledger.ask("T1")
    assert not choosing.is_stuck(ledger.state), "a person may still answer"


def test_a_run_with_somebody_at_work_is_not_stuck() -> None:
    ledger = wide(1)
    ledger.work("T1", "a1")
    assert not choosing.is_stuck(ledger.state)
    assert not choosing.is_complete(ledger.state)
