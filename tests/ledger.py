"""What tests of the room `coordinator` share: small plans, events by hand, and what follows."""

from __future__ import annotations

from typing import Any

from tether import clock
from tether.coordinator import applying
from tether.coordinator.plans import model, reading
from tether.coordinator.state import Outlook, State
from tether.store import events, run_events
from tether.store.events import EventType

RUN = "house"
START = "2026-11-16T09:00:00.000Z"
# What a field of an event says if a test does not care.
_USUAL: dict[str, Any] = {
    "plan_file": "plan.md", "total_tasks": 0, "plan_digest": "", "base": None,
    "reason": "usage_limit", "remaining_percent": None, "resets_at": None, "resume_count": 1,
    "tasks_to_revalidate": [], "by": "ada", "compaction_number": 1, "context_remaining": 9.0,
    "full_reload": False, "utilisation": 50.0, "remaining": 50.0, "added": [], "removed": [],
    "changed": [], "criteria_changed": [], "compactions": 0, "session_resumes": 0, "last_state": {},
    "task_id": "T1", "agent_id": "a1", "blocked_by": [], "resumed": False, "status": "testing",
    "checkpoint": "half of it", "files_modified": [], "blocker": "no idea", "attempt_number": 1,
    "escalate": False, "timeout_ms": 900_000, "missed_checkpoints": 3, "previous_status": "x",
    "files_to_audit": [], "evidence_summary": "seen", "commit_sha": None, "branch": None,
    "failures": "it fails", "required_fixes": "mend it", "completed_at": START,
    "time_since_completion_minutes": 5, "question": "Which?", "options": [], "context": "",
    "response": "retry", "orphaned_agents": 0, "events_reconciled": 0, "type": "developer",
    "event_type": "task_complete", "last_applied_event": 0, "state": {},
}  # fmt: skip


def at(minutes: float) -> str:
    """A moment some minutes after the start."""
    return clock.text(clock.parse(START) + round(minutes * 60_000))


def task(task_id: str, *blocked_by: str, **more: Any) -> model.PlanTask:
    return model.PlanTask(task_id, f"Do {task_id}", blocked_by=blocked_by, **more)


def plan(*tasks: model.PlanTask, file: str = "plan.md") -> model.Plan:
    return model.Plan(file, "House", tasks)


DIAMOND = plan(task("T1"), task("T2", "T1"), task("T3", "T1"), task("T4", "T2", "T3"))


class Ledger:
    """A log and its plans in memory, and the state that follows: one minute for each event."""

    def __init__(self, *plans: model.Plan, begins: bool = True) -> None:
        self.plans = {reading.digest(each): each for each in plans}
        self.log: list[events.Event] = []
        self.fold = self.empty()
        if begins:
            self.tell(run_events.SESSION_START, plan_digest=next(iter(self.plans)))

    @property
    def state(self) -> State:
        return self.fold.state

    def empty(self, state: State | None = None) -> applying.Fold:
        """A fold that knows the plans, and nothing of what happened unless that is given."""
        return applying.Fold(state or State(RUN), lambda digest: Outlook(self.plans[digest]))

    def tell(self, kind: EventType, **data: Any) -> events.Event:
        """Log an event and take it into account."""
        said = {name: data.pop(name, _USUAL[name]) for name in kind.fields}
        assert not data, f"{kind.name} has no {list(data)}"
        return self.add(kind.name, said)

    def add(self, name: str, data: dict[str, Any]) -> events.Event:
        number = len(self.log) + 1
        event = events.Event(
            number, at(number - 1), name, "coordinator", "s1", RUN, None, RUN, data
        )
        self.log.append(event)
        self.fold.apply(event)
        return event

    def change_plan(self, new: model.Plan) -> None:
        digest = reading.digest(new)
        self.plans[digest] = new
        self.tell(run_events.PLAN_CHANGED, plan_digest=digest)

    # What happens often

    def work(self, task_id: str, agent_id: str, **more: Any) -> None:
        """A worker is given a task."""
        self.tell(run_events.DEVELOPER_DISPATCHED, task_id=task_id, agent_id=agent_id, **more)

    def audit(self, task_id: str, agent_id: str) -> None:
        self.tell(run_events.AUDITOR_DISPATCHED, task_id=task_id, agent_id=agent_id)

    def ready(self, task_id: str, agent_id: str) -> None:
        data = {"task_id": task_id, "agent_id": agent_id}
        self.tell(run_events.DEVELOPER_READY_FOR_REVIEW, **data)

    def complete(self, *task_ids: str, agent_id: str | None = None) -> None:
        for task_id in task_ids:
            self.tell(run_events.TASK_COMPLETE, task_id=task_id, agent_id=agent_id)

    def ask(self, task_id: str, **more: Any) -> int:
        """A question about a task; its number."""
        more = {"agent_id": None, **more}
        return self.tell(run_events.AGENT_SEEKS_GUIDANCE, task_id=task_id, **more).id

    def answer(self, question: int, response: str) -> None:
        asked = self.state.questions[question]
        data = {"question": question, "task_id": asked.task_id, "response": response}
        self.tell(run_events.DIVINE_RESPONSE_RECEIVED, **data)

    def where(self, *task_ids: str) -> list[str | None]:
        return [self.state.position(each) for each in task_ids]
