"""What each event does to the state of a run. Pure: no clock, no disk, no SQL.

Replay goes by the event's id, so an event counts once however often it is read. An event of an
agent counts only while that agent has the task: whoever was given up changes nothing any more.
"""

from __future__ import annotations

from collections.abc import Callable

from tether.coordinator import documents
from tether.coordinator.state import (
    AUDITOR,
    COMPLETE,
    DEVELOPER,
    FAILED,
    ActiveAgent,
    Checkpoint,
    Completion,
    Outlook,
    Question,
    State,
    Tally,
)
from tether.store import events, run_events
from tether.store.events import EventType

LoadPlan = Callable[[str], Outlook]
"""The run's own copy of its plan, by digest."""
SKIP = "skip"
_NO_GUIDANCE = ("retry", "complete", SKIP, "accept", "keep")


class Fold:
    """A state and the plan that it is about, taken forward event by event."""

    def __init__(self, state: State, load_plan: LoadPlan, outlook: Outlook | None = None) -> None:
        self.state = state
        self._load_plan = load_plan
        self._outlook = outlook

    @property
    def outlook(self) -> Outlook:
        """What the plan that counts now says."""
        if self._outlook is None:
            self._outlook = self._load_plan(self.state.plan_digest)
        return self._outlook

    def apply(self, event: events.Event) -> bool:
        """Take one event into account; False if that was done before."""
        if event.id <= self.state.last_applied_event:
            return False
        handler = _HANDLERS.get(event.type)
        if handler is None or not _NEEDED[event.type] <= event.data.keys():
            self.state.skipped_events += 1
        else:
            handler(self, event)
        self.state.last_applied_event = event.id
        self.state.last_event_at = event.at
        return True

    def use_plan(self, digest: str) -> Outlook:
        self.state.plan_digest = digest
        self._outlook = self._load_plan(digest)
        return self._outlook

    def replace(self, state: State) -> None:
        self.state, self._outlook = state, None

    def put_back(self, task_id: str) -> None:
        """A task waits again, for a worker or for what blocks it."""
        state = self.state
        state.take_out(task_id)
        if task_id not in self.outlook.tasks:
            state.removed[task_id] = None
        elif blockers := self.outlook.blockers(task_id, state.completed):
            state.blocked[task_id] = blockers
        else:
            state.available[task_id] = None

    def let_go(self, agent_id: str) -> ActiveAgent | None:
        """Forget an agent; None if it has nothing any more."""
        agent = self.state.active_agents.pop(agent_id, None)
        if agent is not None and self.state.in_progress.get(agent.task_id) == agent_id:
            self.put_back(agent.task_id)
        return agent


Handler = Callable[[Fold, events.Event], None]


# The run as a whole


def _session_start(fold: Fold, event: events.Event) -> None:
    state = fold.state
    if state.session_started_at:
        return
    state.plan_file = str(event.data["plan_file"])
    state.base = str(event.data.get("base") or "")
    state.session_started_at = event.at
    outlook = fold.use_plan(str(event.data["plan_digest"]))
    state.total_tasks = len(outlook.tasks)
    for task_id in outlook.tasks:
        fold.put_back(task_id)


def _plan_changed(fold: Fold, event: events.Event) -> None:
    state = fold.state
    outlook = fold.use_plan(str(event.data["plan_digest"]))
    waiting = [*state.available, *state.blocked, *state.removed]
    # What failed or waits for its audit stays so, unless nobody wants it any more: without the
    # plan there would be nothing to verify it by.
    begun = (*state.failed, *state.pending_audit)
    dropped = [task_id for task_id in begun if task_id not in outlook.tasks]
    new = [task_id for task_id in outlook.tasks if state.position(task_id) is None]
    for task_id in (*waiting, *dropped, *new):
        fold.put_back(task_id)
    # In the order of the plan, whatever was taken out and put back.
    state.available = {t: None for t in outlook.tasks if t in state.available}
    state.total_tasks = len(outlook.tasks.keys() | state.completed.keys())


def _session_pause(fold: Fold, event: events.Event) -> None:
    state, data = fold.state, event.data
    state.paused_at, state.pause_reason = event.at, str(data["reason"])
    state.resets_at = data["resets_at"]
    state.pause_requested = state.resume_requested = False


def _session_resume(fold: Fold, event: events.Event) -> None:
    state = fold.state
    state.paused_at = state.pause_reason = ""
    state.resets_at = None
    # Whoever compacts is waited for anew, but not for ever.
    state.assignments_paused_at = event.at if state.is_compacting else ""
    state.pause_requested = state.resume_requested = False
    state.session_resume_count = int(event.data["resume_count"])
    if state.ended == FAILED:
        # Who goes on with a run that failed wants what failed tried again.
        state.ended = state.ended_at = ""
        for task_id in list(state.failed):
            state.tallies[task_id] = Tally(attempts=state.tally(task_id).attempts)
            fold.put_back(task_id)


def _pause_requested(fold: Fold, _: events.Event) -> None:
    fold.state.pause_requested = not fold.state.paused_at


def _resume_requested(fold: Fold, _: events.Event) -> None:
    fold.state.resume_requested = bool(fold.state.paused_at)


def _assignments_paused(fold: Fold, event: events.Event) -> None:
    fold.state.assignments_paused_at = event.at


def _assignments_resumed(fold: Fold, _: events.Event) -> None:
    fold.state.assignments_paused_at = ""


def _compaction_start(fold: Fold, event: events.Event) -> None:
    state = fold.state
    state.compaction_count = int(event.data["compaction_number"])
    state.is_compacting = True
    state.assignments_paused_at = event.at


def _compaction_complete(fold: Fold, event: events.Event) -> None:
    fold.state.compacted_at = event.at
    fold.state.is_compacting = False
    fold.state.assignments_paused_at = ""


def _usage_check(fold: Fold, event: events.Event) -> None:
    usage, data = fold.state.usage, event.data
    usage.last_usage_check = event.at
    usage.session_utilisation = data["utilisation"]
    usage.session_remaining = data["remaining"]
    usage.session_resets_at = data["resets_at"]


def _workflow_complete(fold: Fold, event: events.Event) -> None:
    fold.state.ended, fold.state.ended_at = COMPLETE, event.at


def _workflow_failed(fold: Fold, event: events.Event) -> None:
    fold.state.ended, fold.state.ended_at = FAILED, event.at


# Workers


def _dispatched(fold: Fold, event: events.Event) -> None:
    state, task_id = fold.state, str(event.data["task_id"])
    agent_id = str(event.data["agent_id"])
    if task_id not in state.available or agent_id in state.active_agents:
        return
    state.take_out(task_id)
    state.restored.pop(task_id, None)
    state.in_progress[task_id] = agent_id
    state.active_agents[agent_id] = ActiveAgent(
        DEVELOPER, task_id, event.at, resumed=bool(event.data["resumed"])
    )
    state.tally(task_id).attempts += 1


def _checkpoint_requested(fold: Fold, event: events.Event) -> None:
    agent = fold.state.active_agents.get(str(event.data["agent_id"]))
    if agent is not None:
        agent.checkpoint_requested_at = event.at


def _checkpoint(fold: Fold, event: events.Event) -> None:
    state, data = fold.state, event.data
    agent = state.active_agents.get(str(data["agent_id"]))
    if agent is None or agent.task_id != data["task_id"]:
        return
    said = Checkpoint(str(data["checkpoint"]), event.at, str(data["status"]))
    state.checkpoints[agent.task_id] = said
    state.tally(agent.task_id).deaths = 0
    agent.checkpoint_count += 1
    agent.last_checkpoint_time = event.at


def _ready(fold: Fold, event: events.Event) -> None:
    agent = fold.let_go(str(event.data["agent_id"]))
    if agent is not None and agent.task_id in fold.state.available:
        fold.state.take_out(agent.task_id)
        fold.state.pending_audit[agent.task_id] = None


def _incomplete(fold: Fold, event: events.Event) -> None:
    agent = fold.let_go(str(event.data["agent_id"]))
    if agent is not None:
        tally = fold.state.tally(agent.task_id)
        tally.incomplete += 1
        tally.gave_up_at = event.at
        fold.state.fixes[agent.task_id] = str(event.data["blocker"])


def _timeout(fold: Fold, event: events.Event) -> None:
    agent = fold.let_go(str(event.data["agent_id"]))
    if agent is not None:
        fold.state.tally(agent.task_id).timeouts += 1


def _restarted(fold: Fold, event: events.Event) -> None:
    agent = fold.let_go(str(event.data["agent_id"]))
    if agent is not None and agent.type == DEVELOPER:
        fold.state.restored[agent.task_id] = None


def _orphaned(fold: Fold, event: events.Event) -> None:
    agent = fold.let_go(str(event.data["agent_id"]))
    if agent is not None:
        fold.state.tally(agent.task_id).deaths += 1
        if agent.type == DEVELOPER:
            fold.state.restored[agent.task_id] = None


# Audits


def _auditor_dispatched(fold: Fold, event: events.Event) -> None:
    state, task_id = fold.state, str(event.data["task_id"])
    agent_id, validates = str(event.data["agent_id"]), task_id in state.completed
    if agent_id not in state.active_agents and (validates or task_id in state.pending_audit):
        state.active_agents[agent_id] = ActiveAgent(AUDITOR, task_id, event.at, validates=validates)


def _is_auditor(state: State, agent_id: object, task_id: str) -> bool:
    """Has this agent been given the audit of this task, and not been given up?"""
    agent = state.active_agents.get(str(agent_id))
    return agent is not None and (agent.type, agent.task_id) == (AUDITOR, task_id)


def _task_complete(fold: Fold, event: events.Event) -> None:
    state, data = fold.state, event.data
    task_id = str(data["task_id"])
    if task_id in state.completed or state.position(task_id) is None:
        return
    if data["agent_id"] and not _is_auditor(state, data["agent_id"], task_id):
        return
    for agent_id in [a for a, each in state.active_agents.items() if each.task_id == task_id]:
        del state.active_agents[agent_id]
    state.take_out(task_id)
    state.completed[task_id] = Completion(
        event.at,
        str(data["evidence_summary"]),
        str(data["commit_sha"] or ""),
        str(data["branch"] or ""),
        str(data["agent_id"] or ""),
    )
    state.fixes.pop(task_id, None)
    state.guidance.pop(task_id, None)
    for dependent in fold.outlook.dependents.get(task_id, ()):
        blockers = state.blocked.get(dependent)
        if blockers is not None:
            blockers.pop(task_id, None)
            if not blockers:
                del state.blocked[dependent]
                state.available[dependent] = None


def _auditor_fail(fold: Fold, event: events.Event) -> None:
    state, data = fold.state, event.data
    task_id = str(data["task_id"])
    if not _is_auditor(state, data["agent_id"], task_id):
        return
    del state.active_agents[str(data["agent_id"])]
    if state.position(task_id) not in ("pending_audit", "completed"):
        return
    state.tally(task_id).audit_failures += 1
    state.fixes[task_id] = str(data["required_fixes"])
    was_completed = task_id in state.completed
    fold.put_back(task_id)
    if was_completed:
        _block_again(fold, task_id)


def _block_again(fold: Fold, task_id: str) -> None:
    """Who is at work on what a task unblocked goes on; who has not begun waits again."""
    for dependent in fold.outlook.dependents.get(task_id, ()):
        if fold.state.position(dependent) in ("available", "blocked"):
            fold.put_back(dependent)


def _task_failed(fold: Fold, event: events.Event) -> None:
    state, task_id = fold.state, str(event.data["task_id"])
    was_completed = task_id in state.pending_validation
    if was_completed or state.position(task_id) in ("available", "blocked", "pending_audit"):
        state.take_out(task_id)
        state.failed[task_id] = str(event.data["reason"])
    if was_completed:
        _block_again(fold, task_id)


def _reverification_required(fold: Fold, event: events.Event) -> None:
    task_id = str(event.data["task_id"])
    if task_id in fold.state.completed:
        fold.state.pending_validation[task_id] = None


def _reverified(fold: Fold, event: events.Event) -> None:
    state, task_id, agent_id = fold.state, str(event.data["task_id"]), event.data["agent_id"]
    if agent_id and not _is_auditor(state, agent_id, task_id):
        return
    state.active_agents.pop(str(agent_id), None)
    state.pending_validation.pop(task_id, None)
    if task_id in state.completed:
        state.completed[task_id].validated_at = event.at


# Questions


def _seeks_guidance(fold: Fold, event: events.Event) -> None:
    data, questions = event.data, fold.state.questions
    # Its event's, unless a log that was made anew counts from the start again.
    number = max(event.id, max(questions, default=0) + 1)
    questions[number] = Question(
        number,
        str(data["task_id"] or ""),
        str(data["agent_id"] or ""),
        str(data["question"]),
        [str(each) for each in data["options"]],
        str(data["context"] or ""),
        event.at,
    )


def _response(fold: Fold, event: events.Event) -> None:
    state = fold.state
    question = state.questions.get(int(event.data["question"]))
    if question is None or question.response is not None:
        return
    question.response = str(event.data["response"])
    task_id = question.task_id
    if state.position(task_id) is None:
        return
    # Only what the coordinator asked has answers that it knows; a worker's options are its own.
    decision = "" if question.agent_id else question.response
    if decision == SKIP:
        _leave_out(state, task_id)
        return
    # A person has looked: what went wrong before does not count any more.
    state.tallies[task_id] = Tally(attempts=state.tally(task_id).attempts)
    if decision not in _NO_GUIDANCE:
        state.guidance[task_id] = question.response
    if task_id in state.failed:
        fold.put_back(task_id)


def _leave_out(state: State, task_id: str) -> None:
    if state.position(task_id) in ("available", "blocked", "pending_audit", "failed"):
        state.take_out(task_id)
        state.failed[task_id] = "a person left it out"


# Recovery


def _nothing(_fold: Fold, _event: events.Event) -> None:
    """What only tells of a recovery: the events that it is about are in the log themselves."""


def _state_checkpoint(fold: Fold, event: events.Event) -> None:
    fold.replace(documents.state_of(event.data["state"], fold.state.run))


_TABLE: dict[EventType, Handler] = {
    run_events.SESSION_START: _session_start,
    run_events.SESSION_PAUSE: _session_pause,
    run_events.SESSION_RESUME: _session_resume,
    run_events.PAUSE_REQUESTED: _pause_requested,
    run_events.RESUME_REQUESTED: _resume_requested,
    run_events.ASSIGNMENTS_PAUSED: _assignments_paused,
    run_events.ASSIGNMENTS_RESUMED: _assignments_resumed,
    run_events.COMPACTION_START: _compaction_start,
    run_events.COMPACTION_COMPLETE: _compaction_complete,
    run_events.USAGE_CHECK: _usage_check,
    run_events.PLAN_CHANGED: _plan_changed,
    run_events.WORKFLOW_COMPLETE: _workflow_complete,
    run_events.WORKFLOW_FAILED: _workflow_failed,
    run_events.DEVELOPER_DISPATCHED: _dispatched,
    run_events.CHECKPOINT_REQUESTED: _checkpoint_requested,
    run_events.DEVELOPER_CHECKPOINT: _checkpoint,
    run_events.DEVELOPER_READY_FOR_REVIEW: _ready,
    run_events.DEVELOPER_INCOMPLETE: _incomplete,
    run_events.AGENT_TIMEOUT: _timeout,
    run_events.AGENT_STALLED: _timeout,
    run_events.TASK_RESTARTED_ON_RESUME: _restarted,
    run_events.AUDITOR_DISPATCHED: _auditor_dispatched,
    run_events.TASK_COMPLETE: _task_complete,
    run_events.AUDITOR_FAIL: _auditor_fail,
    run_events.TASK_FAILED: _task_failed,
    run_events.TASK_REVERIFICATION_REQUIRED: _reverification_required,
    run_events.TASK_REVERIFIED: _reverified,
    run_events.AGENT_SEEKS_GUIDANCE: _seeks_guidance,
    run_events.DIVINE_RESPONSE_RECEIVED: _response,
    run_events.COORDINATOR_RECOVERED: _nothing,
    run_events.ORPHAN_AGENT_DETECTED: _orphaned,
    run_events.STATE_RECONCILED: _nothing,
    run_events.EVENT_LOG_RECONSTRUCTED: _nothing,
    run_events.STATE_CHECKPOINT: _state_checkpoint,
}
_HANDLERS = {kind.name: handler for kind, handler in _TABLE.items()}
# What came later is not in older logs.
_LATER = {"base"}
_NEEDED = {kind.name: set(kind.fields) - _LATER for kind in _TABLE}
