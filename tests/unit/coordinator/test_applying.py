"""What each event does to the state of a run."""

from __future__ import annotations

import copy

import pytest

from tests.ledger import DIAMOND, RUN, Ledger, at, plan, task
from tether.coordinator import applying, documents, integrity
from tether.coordinator.state import State
from tether.store import run_events
from tether.store.events import EventType


@pytest.fixture
def ledger() -> Ledger:
    """A run of four tasks: T1 before T2 and T3, these before T4."""
    return Ledger(DIAMOND)


def frozen(state: State) -> State:
    return copy.deepcopy(state)


# The table itself


def test_every_type_of_event_has_a_handler() -> None:
    assert {kind.name for kind in run_events.TYPES} == applying._HANDLERS.keys()


def test_an_unknown_event_is_counted_and_skipped(ledger: Ledger) -> None:
    before = frozen(ledger.state)
    ledger.add("task_praised", {"task_id": "T1"})
    before.skipped_events, before.last_applied_event, before.last_event_at = 1, 2, at(1)
    assert ledger.state == before


def test_an_event_counts_once_however_often_it_is_read(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    before = frozen(ledger.state)
    assert not any(ledger.fold.apply(event) for event in ledger.log)
    assert ledger.state == before


def test_the_log_alone_gives_the_same_state(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.ready("T1", "a1")
    ledger.complete("T1")
    again = ledger.empty()
    for event in ledger.log:
        again.apply(event)
    assert again.state == ledger.state


# Beginning, and the plan


@pytest.mark.parametrize(("base", "kept"), [("0123abcd", "0123abcd"), (None, "")])
def test_a_run_keeps_what_its_branches_start_from(base: str | None, kept: str) -> None:
    ledger = Ledger(DIAMOND, begins=False)
    ledger.tell(run_events.SESSION_START, plan_digest=next(iter(ledger.plans)), base=base)
    assert ledger.state.base == kept


def test_a_run_of_a_tether_without_bases_has_none() -> None:
    ledger = Ledger(DIAMOND, begins=False)
    digest = next(iter(ledger.plans))
    ledger.add("session_start", {"plan_file": "plan.md", "plan_digest": digest, "total_tasks": 4})
    assert ledger.state.base == ""


def test_a_run_begins_with_what_waits_for_nothing(ledger: Ledger) -> None:
    state = ledger.state
    assert ledger.where("T1", "T2", "T3", "T4") == ["available", "blocked", "blocked", "blocked"]
    assert state.blocked["T4"].keys() == {"T2", "T3"}
    assert (state.total_tasks, state.session_started_at) == (4, at(0))


def test_new_tasks_of_a_changed_plan_are_there(ledger: Ledger) -> None:
    ledger.complete("T1")
    ledger.change_plan(plan(*DIAMOND.tasks, task("T5", "T1"), task("T6", "T5")))
    assert ledger.where("T5", "T6") == ["available", "blocked"]
    assert ledger.state.total_tasks == 6


def test_what_a_changed_plan_lacks_is_removed(ledger: Ledger) -> None:
    ledger.change_plan(plan(*DIAMOND.tasks[:2]))
    assert ledger.where("T2", "T3", "T4") == ["blocked", "removed", "removed"]
    assert ledger.state.total_tasks == 2


def test_a_removed_task_that_comes_back_waits_again(ledger: Ledger) -> None:
    ledger.change_plan(plan(DIAMOND.tasks[0]))
    ledger.change_plan(DIAMOND)
    assert ledger.where("T1", "T2", "T3", "T4") == ["available", "blocked", "blocked", "blocked"]


def test_a_completed_task_stays_completed_in_a_plan_without_it(ledger: Ledger) -> None:
    ledger.complete("T1")
    ledger.change_plan(plan(task("T2"), task("T3")))
    assert ledger.where("T1", "T2", "T3", "T4") == [
        "completed", "available", "available", "removed"
    ]  # fmt: skip
    assert ledger.state.total_tasks == 3


def test_what_waits_for_something_new_is_blocked_again(ledger: Ledger) -> None:
    ledger.change_plan(plan(task("T0"), task("T1", "T0"), *DIAMOND.tasks[1:]))
    assert ledger.where("T0", "T1") == ["available", "blocked"]


def test_who_is_at_work_goes_on_in_a_changed_plan(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.change_plan(plan(task("T0"), task("T1", "T0"), *DIAMOND.tasks[1:]))
    assert ledger.where("T1") == ["in_progress"]


def test_a_worker_of_a_removed_task_ends_with_it(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.change_plan(plan(task("T2")))
    ledger.ready("T1", "a1")
    assert ledger.where("T1") == ["removed"]
    assert not ledger.state.active_agents


def test_what_is_available_stands_in_the_order_of_the_plan(ledger: Ledger) -> None:
    ledger.change_plan(plan(task("T9"), task("T3"), task("T1")))
    assert list(ledger.state.available) == ["T9", "T3", "T1"]


def test_a_failed_task_that_the_plan_drops_is_removed(ledger: Ledger) -> None:
    ledger.tell(run_events.TASK_FAILED, task_id="T1")
    ledger.change_plan(plan(task("T2")))
    assert ledger.where("T1") == ["removed"]


# Pausing, compacting, ending


def test_a_pause_says_why_and_until_when(ledger: Ledger) -> None:
    ledger.tell(run_events.PAUSE_REQUESTED)
    ledger.tell(run_events.SESSION_PAUSE, reason="usage_limit", resets_at=at(300))
    state = ledger.state
    assert (state.paused_at, state.pause_reason, state.resets_at) == (at(2), "usage_limit", at(300))
    assert not state.pause_requested


def test_resuming_clears_the_pause_and_counts(ledger: Ledger) -> None:
    ledger.tell(run_events.ASSIGNMENTS_PAUSED)
    ledger.tell(run_events.SESSION_PAUSE, resets_at=at(300))
    ledger.tell(run_events.RESUME_REQUESTED)
    assert ledger.state.resume_requested
    ledger.tell(run_events.SESSION_RESUME, resume_count=3)
    state = ledger.state
    assert (state.paused_at, state.pause_reason, state.resets_at) == ("", "", None)
    assert (state.session_resume_count, state.resume_requested) == (3, False)
    assert not state.assignments_paused_at


def test_a_paused_run_is_not_asked_to_pause_nor_a_working_one_to_resume(ledger: Ledger) -> None:
    ledger.tell(run_events.RESUME_REQUESTED)
    assert not ledger.state.resume_requested
    ledger.tell(run_events.SESSION_PAUSE)
    ledger.tell(run_events.PAUSE_REQUESTED)
    assert not ledger.state.pause_requested


def test_assignments_pause_and_go_on(ledger: Ledger) -> None:
    ledger.tell(run_events.ASSIGNMENTS_PAUSED)
    assert ledger.state.assignments_paused_at == at(1)
    ledger.tell(run_events.ASSIGNMENTS_RESUMED)
    assert not ledger.state.assignments_paused_at


def test_a_compaction_has_its_number_until_it_is_over(ledger: Ledger) -> None:
    ledger.tell(run_events.COMPACTION_START, compaction_number=4)
    state = ledger.state
    assert (state.compaction_count, state.is_compacting) == (4, True)
    assert state.assignments_paused_at == at(1)
    ledger.tell(run_events.COMPACTION_COMPLETE, compaction_number=4)
    assert (state.compaction_count, state.is_compacting) == (4, False)
    assert not state.assignments_paused_at


def test_a_compaction_that_a_pause_interrupts_can_still_be_given_up(ledger: Ledger) -> None:
    """The loop waits for whoever compacts as long as the time of its beginning is known."""
    ledger.tell(run_events.COMPACTION_START)
    ledger.tell(run_events.SESSION_PAUSE)
    ledger.tell(run_events.SESSION_RESUME)
    assert bool(ledger.state.is_compacting) == bool(ledger.state.assignments_paused_at)


def test_the_usage_that_was_last_known_is_kept(ledger: Ledger) -> None:
    ledger.tell(run_events.USAGE_CHECK, utilisation=91.0, remaining=9.0, resets_at=at(60))
    usage = ledger.state.usage
    assert (usage.session_utilisation, usage.session_remaining) == (91.0, 9.0)
    assert (usage.session_resets_at, usage.last_usage_check) == (at(60), at(1))


@pytest.mark.parametrize(
    ("kind", "word"),
    [(run_events.WORKFLOW_COMPLETE, "complete"), (run_events.WORKFLOW_FAILED, "failed")],
)
def test_a_run_ends(ledger: Ledger, kind: EventType, word: str) -> None:
    ledger.tell(kind)
    assert (ledger.state.ended, ledger.state.ended_at) == (word, at(1))


def test_a_failed_run_that_goes_on_tries_again_what_failed(ledger: Ledger) -> None:
    failing(ledger)
    ledger.tell(run_events.TASK_FAILED, task_id="T2", reason="3 times")
    ledger.tell(run_events.WORKFLOW_FAILED)
    ledger.tell(run_events.SESSION_RESUME)
    state = ledger.state
    assert (state.ended, state.ended_at, state.failed) == ("", "", {})
    assert ledger.where("T1", "T2") == ["available", "blocked"]
    assert (state.tallies["T1"].incomplete, state.tallies["T1"].attempts) == (0, 3)


def test_what_failed_in_a_run_that_was_only_paused_still_waits_for_a_person(
    ledger: Ledger,
) -> None:
    failing(ledger)
    ledger.tell(run_events.SESSION_PAUSE)
    ledger.tell(run_events.SESSION_RESUME)
    assert ledger.where("T1") == ["failed"]


def test_a_complete_run_stays_so(ledger: Ledger) -> None:
    ledger.tell(run_events.WORKFLOW_COMPLETE)
    ledger.tell(run_events.SESSION_RESUME)
    assert ledger.state.ended == "complete"


# Workers


def test_a_dispatched_task_is_in_progress(ledger: Ledger) -> None:
    ledger.work("T1", "a1", resumed=True)
    state = ledger.state
    assert state.in_progress == {"T1": "a1"}
    assert (state.active_agents["a1"].type, state.active_agents["a1"].resumed) == (
        "developer", True
    )  # fmt: skip
    assert state.tallies["T1"].attempts == 1


@pytest.mark.parametrize("task_id", ["T2", "T9"])
def test_what_is_not_available_cannot_be_given_out(ledger: Ledger, task_id: str) -> None:
    ledger.work(task_id, "a1")
    assert not ledger.state.active_agents
    assert not ledger.state.in_progress


def test_a_task_is_given_to_one_worker(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.work("T1", "a2")
    assert ledger.state.in_progress == {"T1": "a1"}
    assert ledger.state.active_agents.keys() == {"a1"}


def test_an_agent_has_one_task() -> None:
    ledger = Ledger(plan(task("T1"), task("T2")))
    ledger.work("T1", "a1")
    ledger.work("T2", "a1")
    assert ledger.where("T1", "T2") == ["in_progress", "available"]
    assert integrity.problems(ledger.state, ledger.fold.outlook) == []


def test_a_checkpoint_is_kept_with_its_task(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.tell(run_events.CHECKPOINT_REQUESTED)
    ledger.tell(run_events.DEVELOPER_CHECKPOINT, checkpoint="two of three")
    said, agent = ledger.state.checkpoints["T1"], ledger.state.active_agents["a1"]
    assert (said.text, said.at, said.status) == ("two of three", at(3), "testing")
    assert (agent.checkpoint_count, agent.last_checkpoint_time) == (1, at(3))
    assert agent.checkpoint_requested_at == at(2)


def test_a_checkpoint_of_another_task_is_not_one(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.tell(run_events.DEVELOPER_CHECKPOINT, task_id="T2")
    assert not ledger.state.checkpoints


def test_a_worker_that_is_ready_waits_for_its_audit(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.ready("T1", "a1")
    assert ledger.where("T1") == ["pending_audit"]
    assert not ledger.state.active_agents


def test_a_worker_that_gave_up_says_why_to_the_next(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.tell(run_events.DEVELOPER_INCOMPLETE, blocker="no disk")
    assert ledger.where("T1") == ["available"]
    assert ledger.state.fixes["T1"] == "no disk"
    assert ledger.state.tallies["T1"].incomplete == 1


@pytest.mark.parametrize("kind", [run_events.AGENT_TIMEOUT, run_events.AGENT_STALLED])
def test_a_worker_that_took_too_long_loses_its_task(ledger: Ledger, kind: EventType) -> None:
    ledger.work("T1", "a1")
    ledger.tell(kind)
    assert ledger.where("T1") == ["available"]
    assert ledger.state.tallies["T1"].timeouts == 1


GIVEN_UP = [
    run_events.DEVELOPER_CHECKPOINT,
    run_events.CHECKPOINT_REQUESTED,
    run_events.DEVELOPER_READY_FOR_REVIEW,
    run_events.DEVELOPER_INCOMPLETE,
    run_events.AGENT_TIMEOUT,
    run_events.AGENT_STALLED,
    run_events.TASK_RESTARTED_ON_RESUME,
    run_events.ORPHAN_AGENT_DETECTED,
    run_events.AUDITOR_FAIL,
    run_events.TASK_COMPLETE,
]


@pytest.mark.parametrize("kind", GIVEN_UP, ids=lambda kind: kind.name)
def test_an_agent_that_was_given_up_changes_nothing(ledger: Ledger, kind: EventType) -> None:
    ledger.work("T1", "a1")
    ledger.tell(run_events.ORPHAN_AGENT_DETECTED)
    ledger.work("T1", "a2")
    before = frozen(ledger.state)
    last = ledger.tell(kind, task_id="T1", agent_id="a1")
    before.last_applied_event, before.last_event_at = last.id, last.at
    assert ledger.state == before


def test_an_auditor_that_was_given_up_validates_nothing(ledger: Ledger) -> None:
    ledger.complete("T1")
    ledger.tell(run_events.TASK_REVERIFICATION_REQUIRED)
    ledger.audit("T1", "a1")
    ledger.tell(run_events.AGENT_TIMEOUT)
    ledger.audit("T1", "a2")
    ledger.tell(run_events.TASK_REVERIFIED, agent_id="a1")
    assert "T1" in ledger.state.pending_validation
    assert ledger.state.active_agents.keys() == {"a2"}


# Orphans, and what a pause ended


def test_the_task_of_an_orphaned_worker_is_available_with_its_checkpoint(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.tell(run_events.DEVELOPER_CHECKPOINT, checkpoint="half")
    ledger.tell(run_events.ORPHAN_AGENT_DETECTED)
    assert ledger.where("T1") == ["available"]
    assert "T1" in ledger.state.restored
    assert ledger.state.checkpoints["T1"].text == "half"
    assert ledger.state.tallies["T1"].deaths == 1


def test_the_task_of_an_orphaned_auditor_still_waits_for_its_audit(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.ready("T1", "a1")
    ledger.audit("T1", "a2")
    ledger.tell(run_events.ORPHAN_AGENT_DETECTED, agent_id="a2", type="auditor")
    assert ledger.where("T1") == ["pending_audit"]
    assert not ledger.state.active_agents
    assert "T1" not in ledger.state.restored


def test_an_orphan_is_put_back_once(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.tell(run_events.ORPHAN_AGENT_DETECTED)
    ledger.tell(run_events.ORPHAN_AGENT_DETECTED)
    assert ledger.state.tallies["T1"].deaths == 1
    assert list(ledger.state.available) == ["T1"]


def test_a_checkpoint_forgives_earlier_deaths(ledger: Ledger) -> None:
    for agent_id in ("a1", "a2"):
        ledger.work("T1", agent_id)
        ledger.tell(run_events.ORPHAN_AGENT_DETECTED, agent_id=agent_id)
    ledger.work("T1", "a3")
    ledger.tell(run_events.DEVELOPER_CHECKPOINT, agent_id="a3")
    assert ledger.state.tallies["T1"].deaths == 0


def test_what_a_pause_ended_is_restored_without_blame(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.tell(run_events.TASK_RESTARTED_ON_RESUME)
    assert ledger.where("T1") == ["available"]
    assert "T1" in ledger.state.restored
    assert ledger.state.tallies["T1"].deaths == 0


def test_an_audit_that_a_pause_ended_is_not_work_to_restore(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.ready("T1", "a1")
    ledger.audit("T1", "a2")
    ledger.tell(run_events.TASK_RESTARTED_ON_RESUME, agent_id="a2")
    assert ledger.where("T1") == ["pending_audit"]
    assert "T1" not in ledger.state.restored


def test_restored_work_that_was_given_out_is_restored_no_more(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.tell(run_events.ORPHAN_AGENT_DETECTED)
    ledger.work("T1", "a2")
    assert not ledger.state.restored


# Audits


def test_an_auditor_is_given_what_waits_for_an_audit(ledger: Ledger) -> None:
    ledger.audit("T1", "a1")
    assert not ledger.state.active_agents, "nobody has worked on it"
    ledger.work("T1", "a1")
    ledger.ready("T1", "a1")
    ledger.audit("T1", "a2")
    assert (ledger.state.active_agents["a2"].type, ledger.where("T1")) == (
        "auditor", ["pending_audit"]
    )  # fmt: skip


def test_a_completed_task_unblocks_what_waited_for_it(ledger: Ledger) -> None:
    ledger.complete("T1")
    assert ledger.where("T1", "T2", "T3", "T4") == [
        "completed", "available", "available", "blocked"
    ]  # fmt: skip
    ledger.complete("T2")
    assert ledger.state.blocked == {"T4": {"T3": None}}
    ledger.complete("T3")
    assert ledger.where("T4") == ["available"]


def test_a_completion_says_when_and_where(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.ready("T1", "a1")
    ledger.audit("T1", "a2")
    ledger.tell(run_events.TASK_COMPLETE, agent_id="a2", commit_sha="abc", branch="run/house/T1")
    done = ledger.state.completed["T1"]
    assert (done.completed_at, done.commit_sha, done.branch) == (
        at(4), "abc", "run/house/T1"
    )  # fmt: skip
    assert (done.evidence_summary, done.agent_id) == ("seen", "a2")
    assert not ledger.state.active_agents


def test_a_task_is_completed_once(ledger: Ledger) -> None:
    ledger.complete("T1")
    ledger.complete("T1")
    assert ledger.state.completed["T1"].completed_at == at(1)


def test_a_task_that_the_run_does_not_have_is_not_completed(ledger: Ledger) -> None:
    ledger.complete("T9")
    assert not ledger.state.completed


def test_a_failed_audit_puts_the_task_back_with_its_fixes(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.ready("T1", "a1")
    ledger.audit("T1", "a2")
    ledger.tell(run_events.AUDITOR_FAIL, agent_id="a2", required_fixes="no tests")
    assert ledger.where("T1") == ["available"]
    assert ledger.state.fixes["T1"] == "no tests"
    assert ledger.state.tallies["T1"].audit_failures == 1
    assert not ledger.state.active_agents


def test_what_was_to_be_fixed_is_forgotten_once_it_passes(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.tell(run_events.DEVELOPER_INCOMPLETE)
    ledger.complete("T1")
    assert not ledger.state.fixes


def test_an_auditor_fails_only_what_it_was_given() -> None:
    ledger = Ledger(plan(task("T1"), task("T2"), task("T3")))
    for task_id, agent_id in (("T1", "a1"), ("T2", "a2")):
        ledger.work(task_id, agent_id)
        ledger.ready(task_id, agent_id)
    ledger.audit("T1", "a3")
    ledger.tell(run_events.AUDITOR_FAIL, task_id="T2", agent_id="a3")
    assert ledger.where("T1", "T2") == ["pending_audit", "pending_audit"]


@pytest.mark.parametrize("kind", [run_events.AUDITOR_FAIL, run_events.TASK_REVERIFIED])
def test_the_end_of_an_audit_is_not_that_of_a_worker(ledger: Ledger, kind: EventType) -> None:
    ledger.complete("T1")
    ledger.work("T2", "a2")
    ledger.tell(kind, task_id="T1", agent_id="a2")
    assert integrity.problems(ledger.state, ledger.fold.outlook) == []
    assert ledger.where("T1", "T2") == ["completed", "in_progress"]


# Looking again at what is completed


def validating(ledger: Ledger) -> Ledger:
    """T1 and T2 are completed, and T1 is looked at again by `v1`."""
    ledger.complete("T1", "T2")
    ledger.tell(run_events.TASK_REVERIFICATION_REQUIRED)
    ledger.audit("T1", "v1")
    return ledger


def test_only_completed_tasks_are_looked_at_again(ledger: Ledger) -> None:
    ledger.tell(run_events.TASK_REVERIFICATION_REQUIRED)
    assert not ledger.state.pending_validation


def test_an_auditor_of_a_completed_task_validates(ledger: Ledger) -> None:
    state = validating(ledger).state
    assert state.active_agents["v1"].validates
    assert list(state.pending_validation) == ["T1"]
    assert ledger.where("T1") == ["completed"]


def test_what_still_passes_is_left_alone(ledger: Ledger) -> None:
    state = validating(ledger).state
    last = ledger.tell(run_events.TASK_REVERIFIED, agent_id="v1")
    assert not state.pending_validation
    assert not state.active_agents
    assert state.completed["T1"].validated_at == last.at


def test_what_fails_blocks_what_has_not_begun(ledger: Ledger) -> None:
    validating(ledger).tell(run_events.AUDITOR_FAIL, agent_id="v1")
    assert ledger.where("T1", "T2", "T3", "T4") == [
        "available", "completed", "blocked", "blocked"
    ]  # fmt: skip
    assert ledger.state.blocked["T3"] == {"T1": None}
    assert not ledger.state.pending_validation


def test_what_fails_stops_nobody_who_has_begun(ledger: Ledger) -> None:
    validating(ledger).work("T3", "a3")
    ledger.tell(run_events.AUDITOR_FAIL, agent_id="v1")
    assert ledger.where("T3") == ["in_progress"]
    ledger.ready("T3", "a3")
    assert ledger.where("T3") == ["blocked"], "what it stood on is gone"


def test_an_orphaned_validation_is_still_to_be_done(ledger: Ledger) -> None:
    validating(ledger).tell(run_events.ORPHAN_AGENT_DETECTED, agent_id="v1")
    assert list(ledger.state.pending_validation) == ["T1"]
    assert ledger.where("T1") == ["completed"]


def test_what_can_never_be_validated_fails_like_anything_else(ledger: Ledger) -> None:
    """Otherwise it would be tried for ever, and nothing else begins before that is over."""
    validating(ledger).tell(run_events.AGENT_TIMEOUT, agent_id="v1")
    ledger.tell(run_events.TASK_FAILED, reason="it took too long 3 times")
    assert ledger.where("T1", "T2", "T3") == ["failed", "completed", "blocked"]
    assert not ledger.state.pending_validation


# Failing, and people


@pytest.mark.parametrize("task_id", ["T1", "T2"])
def test_a_task_fails_and_a_person_decides(ledger: Ledger, task_id: str) -> None:
    ledger.tell(run_events.TASK_FAILED, task_id=task_id, reason="3 times")
    assert ledger.state.failed == {task_id: "3 times"}


def test_what_is_in_progress_or_completed_does_not_fail(ledger: Ledger) -> None:
    ledger.complete("T1")
    ledger.work("T2", "a2")
    for task_id in ("T1", "T2", "T9"):
        ledger.tell(run_events.TASK_FAILED, task_id=task_id)
    assert not ledger.state.failed


def failing(ledger: Ledger) -> int:
    """T1 has failed three times; the question about it."""
    for number in range(3):
        ledger.work("T1", f"a{number}")
        ledger.tell(run_events.DEVELOPER_INCOMPLETE, agent_id=f"a{number}")
    ledger.tell(run_events.TASK_FAILED)
    return ledger.ask("T1", question="And now?", options=["retry", "skip", "complete"])


def test_a_question_is_kept_with_all_that_it_says(ledger: Ledger) -> None:
    number = ledger.ask("T1", agent_id="a1", question="Which?", options=["A", "B"], context="x")
    asked = ledger.state.questions[number]
    assert (asked.id, asked.task_id, asked.agent_id) == (number, "T1", "a1")
    assert (asked.question, asked.options, asked.context) == ("Which?", ["A", "B"], "x")
    assert (asked.timestamp, asked.response) == (at(1), None)
    assert ledger.state.waiting() == {"T1"}


def test_retry_puts_the_task_back_and_forgets_what_went_wrong(ledger: Ledger) -> None:
    ledger.answer(failing(ledger), "retry")
    assert ledger.where("T1") == ["available"]
    assert (ledger.state.tallies["T1"].incomplete, ledger.state.tallies["T1"].attempts) == (0, 3)
    assert "retry" not in ledger.state.fixes["T1"]


def test_skip_leaves_the_task_out(ledger: Ledger) -> None:
    ledger.answer(failing(ledger), "skip")
    assert ledger.state.failed == {"T1": "a person left it out"}
    assert not ledger.state.open_questions


def test_complete_puts_it_where_it_can_be_completed(ledger: Ledger) -> None:
    ledger.answer(failing(ledger), "complete")
    assert ledger.where("T1") == ["available"]


def test_any_other_answer_is_told_to_the_next_worker(ledger: Ledger) -> None:
    ledger.answer(failing(ledger), "Use the old parser.")
    assert ledger.where("T1") == ["available"]
    assert ledger.state.guidance == {"T1": "Use the old parser."}
    assert ledger.state.fixes == {"T1": "no idea"}, "why it failed is still why it failed"


@pytest.mark.parametrize("word", ["retry", "complete", "skip", "accept", "keep"])
def test_a_decision_about_a_task_is_no_guidance(ledger: Ledger, word: str) -> None:
    ledger.answer(failing(ledger), word)
    assert ledger.state.guidance == {}


def test_guidance_is_forgotten_once_the_task_is_completed(ledger: Ledger) -> None:
    ledger.answer(failing(ledger), "Use the old parser.")
    ledger.complete("T1")
    assert ledger.state.guidance == {}


@pytest.mark.parametrize("task_id", ["T1", "T2"])
def test_what_has_not_begun_can_be_left_out_too(ledger: Ledger, task_id: str) -> None:
    """A task that is new in the plan, whose commands nobody wants to run."""
    ledger.answer(ledger.ask(task_id, options=["accept", "skip"]), "skip")
    assert ledger.state.failed == {task_id: "a person left it out"}


def test_what_is_being_worked_on_is_not_left_out(ledger: Ledger) -> None:
    number = ledger.ask("T1", options=["retry", "skip"])
    ledger.work("T1", "a1")
    ledger.answer(number, "skip")
    assert ledger.where("T1") == ["in_progress"]


def test_the_first_answer_counts(ledger: Ledger) -> None:
    number = failing(ledger)
    ledger.answer(number, "skip")
    ledger.answer(number, "retry")
    assert ledger.state.questions[number].response == "skip"
    assert ledger.where("T1") == ["failed"]


def test_an_answer_to_nothing_changes_nothing(ledger: Ledger) -> None:
    before = frozen(ledger.state)
    last = ledger.tell(run_events.DIVINE_RESPONSE_RECEIVED, question=99)
    before.last_applied_event, before.last_event_at = last.id, last.at
    assert ledger.state == before


@pytest.mark.parametrize("word", ["retry", "skip", "complete", "accept", "keep", "blue"])
def test_a_worker_is_told_the_answer_to_its_own_question(ledger: Ledger, word: str) -> None:
    """Its options are its own: they decide nothing here."""
    ledger.answer(ledger.ask("T1", agent_id="a1", options=["retry", "skip", "complete"]), word)
    assert ledger.state.guidance == {"T1": word}
    assert ledger.where("T1") == ["available"]


def test_a_question_about_the_plan_is_answered_too(ledger: Ledger) -> None:
    number = ledger.ask("")
    ledger.answer(number, "yes")
    assert ledger.state.questions[number].response == "yes"
    assert not ledger.state.tallies


# Recovery


@pytest.mark.parametrize(
    "kind",
    [
        run_events.COORDINATOR_RECOVERED,
        run_events.STATE_RECONCILED,
        run_events.EVENT_LOG_RECONSTRUCTED,
    ],
)
def test_what_only_tells_of_a_recovery_changes_nothing(ledger: Ledger, kind: EventType) -> None:
    before = frozen(ledger.state)
    last = ledger.tell(kind)
    before.last_applied_event, before.last_event_at = last.id, last.at
    assert ledger.state == before


def test_a_log_may_begin_with_a_whole_state(ledger: Ledger) -> None:
    ledger.work("T1", "a1")
    ledger.ask("T2")
    new = Ledger(DIAMOND, begins=False)
    new.tell(run_events.STATE_CHECKPOINT, state=documents.plain(ledger.state))
    new.tell(run_events.DEVELOPER_READY_FOR_REVIEW)
    assert new.where("T1") == ["pending_audit"]
    assert new.state.questions == ledger.state.questions
    assert new.state.last_applied_event == 2
    assert new.state.run == RUN


def test_a_question_of_a_new_log_does_not_replace_one_of_the_old(ledger: Ledger) -> None:
    """Numbers of events begin anew with the log, and questions are called by them."""
    number = ledger.ask("T1", question="The old one?")
    assert number == 2
    new = Ledger(DIAMOND, begins=False)
    new.tell(run_events.STATE_CHECKPOINT, state=documents.plain(ledger.state))
    new.ask("T1", question="The new one?")
    assert [each.question for each in new.state.open_questions] == ["The old one?", "The new one?"]


def test_a_task_that_waits_for_its_audit_and_leaves_the_plan_is_not_completed() -> None:
    """Without its criteria there is nothing to verify it by."""
    ledger = Ledger(DIAMOND)
    ledger.work("T1", "a1")
    ledger.ready("T1", "a1")
    assert ledger.state.position("T1") == "pending_audit"
    ledger.change_plan(plan(task("T2")))
    assert ledger.state.position("T1") == "removed"
