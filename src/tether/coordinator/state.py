"""The state of a run: where each task is, who works on it, and what waits for a person.

It is what follows from the events and the plan (`applying`), and nothing else; so it can always be
made again. A task is in exactly one position.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Literal

from tether.coordinator.plans import model

Position = Literal[
    "blocked", "available", "in_progress", "pending_audit", "completed", "failed", "removed"
]
DEVELOPER = "developer"
AUDITOR = "auditor"
USAGE_LIMIT = "usage_limit"
USER_STOP = "user_stop"
SYSTEM_ERROR = "system_error"
COMPLETE = "complete"
FAILED = "failed"


@dataclass(slots=True)
class Checkpoint:
    """How far somebody said to have come."""

    text: str
    at: str
    status: str = ""


@dataclass(slots=True)
class ActiveAgent:
    """A worker or auditor that was given a task and has not been heard the last of."""

    type: str
    task_id: str
    dispatched_at: str
    resumed: bool = False
    checkpoint_count: int = 0
    last_checkpoint_time: str = ""
    checkpoint_requested_at: str = ""
    validates: bool = False
    """An auditor that looks again at a task that is completed."""


@dataclass(slots=True)
class Completion:
    """When and how a task was completed."""

    completed_at: str
    evidence_summary: str = ""
    commit_sha: str = ""
    branch: str = ""
    agent_id: str = ""
    validated_at: str = ""
    """When it was last looked at again, after the run had stopped."""


@dataclass(slots=True)
class Question:
    """Something that only a person can decide."""

    id: int
    task_id: str
    agent_id: str
    question: str
    options: list[str]
    context: str
    timestamp: str
    response: str | None = None


@dataclass(slots=True)
class Tally:
    """How often something went wrong with a task. Counters survive restarts."""

    attempts: int = 0
    incomplete: int = 0
    audit_failures: int = 0
    timeouts: int = 0
    deaths: int = 0
    """Workers that vanished without a result, since the last checkpoint."""
    gave_up_at: str = ""


@dataclass(slots=True)
class Usage:
    """What was last known of the usage limit, in percent."""

    last_usage_check: str = ""
    session_utilisation: float | None = None
    session_remaining: float | None = None
    session_resets_at: str | None = None


@dataclass(slots=True)
class State:
    """Everything that a run knows. Dictionaries keep the order in which tasks came."""

    run: str
    plan_file: str = ""
    plan_digest: str = ""
    total_tasks: int = 0
    base: str = ""
    """The commit that the branches of the tasks start from; empty if they have none."""
    session_started_at: str = ""
    session_resume_count: int = 0
    compaction_count: int = 0
    is_compacting: bool = False
    assignments_paused_at: str = ""
    paused_at: str = ""
    pause_reason: str = ""
    resets_at: str | None = None
    pause_requested: bool = False
    resume_requested: bool = False
    ended: str = ""
    """`complete` or `failed`, once it is over."""
    ended_at: str = ""
    compacted_at: str = ""
    """When the last compaction was over."""
    completed: dict[str, Completion] = field(default_factory=dict)
    in_progress: dict[str, str] = field(default_factory=dict)
    """The agent that has each task."""
    pending_audit: dict[str, None] = field(default_factory=dict)
    available: dict[str, None] = field(default_factory=dict)
    blocked: dict[str, dict[str, None]] = field(default_factory=dict)
    """What each task still waits for."""
    failed: dict[str, str] = field(default_factory=dict)
    removed: dict[str, None] = field(default_factory=dict)
    """Tasks that are no longer in the plan and were not completed."""
    pending_validation: dict[str, None] = field(default_factory=dict)
    restored: dict[str, None] = field(default_factory=dict)
    """Tasks whose worker was lost, which are given out again first."""
    active_agents: dict[str, ActiveAgent] = field(default_factory=dict)
    checkpoints: dict[str, Checkpoint] = field(default_factory=dict)
    tallies: dict[str, Tally] = field(default_factory=dict)
    fixes: dict[str, str] = field(default_factory=dict)
    """What the next worker of a task is told: why it did not pass."""
    guidance: dict[str, str] = field(default_factory=dict)
    """What a person answered about a task, which its next worker is told."""
    questions: dict[int, Question] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    last_applied_event: int = 0
    last_event_at: str = ""
    skipped_events: int = 0
    """Events of a newer Tether, which this one keeps and does not understand."""

    @property
    def open_questions(self) -> list[Question]:
        return [each for each in self.questions.values() if each.response is None]

    def waiting(self) -> set[str]:
        """The tasks that wait for an answer."""
        return {each.task_id for each in self.open_questions}

    def position(self, task_id: str) -> Position | None:
        """Where a task is; None if the run does not have it."""
        places: tuple[tuple[Position, Container[str]], ...] = (
            ("completed", self.completed),
            ("in_progress", self.in_progress),
            ("pending_audit", self.pending_audit),
            ("available", self.available),
            ("blocked", self.blocked),
            ("failed", self.failed),
            ("removed", self.removed),
        )
        return next((name for name, tasks in places if task_id in tasks), None)

    def counts(self) -> dict[str, int]:
        """How many tasks are in each position."""
        return {
            "completed": len(self.completed),
            "in_progress": len(self.in_progress),
            "pending_audit": len(self.pending_audit),
            "available": len(self.available),
            "blocked": len(self.blocked),
            "failed": len(self.failed),
        }

    def tally(self, task_id: str) -> Tally:
        return self.tallies.setdefault(task_id, Tally())

    def take_out(self, task_id: str) -> None:
        """Take a task out of whatever position it has, so that it can be put into one."""
        for place in (self.available, self.pending_audit, self.pending_validation):
            place.pop(task_id, None)
        self.in_progress.pop(task_id, None)
        self.completed.pop(task_id, None)
        self.blocked.pop(task_id, None)
        self.failed.pop(task_id, None)
        self.removed.pop(task_id, None)


class Outlook:
    """What a plan says of its tasks, looked up often: who waits for whom."""

    def __init__(self, plan: model.Plan) -> None:
        self.plan = plan
        self.tasks = plan.by_id
        self.dependents: dict[str, list[str]] = {task.id: [] for task in plan.tasks}
        for task in plan.tasks:
            for blocker in task.blocked_by:
                self.dependents.setdefault(blocker, []).append(task.id)

    def blockers(self, task_id: str, completed: Iterable[str]) -> dict[str, None]:
        """What a task still waits for."""
        done = completed if isinstance(completed, dict) else set(completed)
        task = self.tasks.get(task_id)
        return {each: None for each in task.blocked_by if each not in done} if task else {}
