"""The events of a run. Their names and fields are those of session management (seed 004)."""

from __future__ import annotations

from tether.store.events import EventType

# The run as a whole

SESSION_START = EventType(
    "session_start",
    ("plan_file", "total_tasks", "plan_digest", "base"),
    "A run began; `plan_digest` names the copy of the plan that it keeps, `base` the commit that"
    " branches start from, if each task has one.",
)
SESSION_PAUSE = EventType(
    "session_pause",
    ("reason", "remaining_percent", "resets_at"),
    "A run paused: `usage_limit`, `user_stop` or `system_error`.",
)
SESSION_RESUME = EventType(
    "session_resume",
    ("resume_count", "tasks_to_revalidate"),
    "A paused run goes on, and first looks again at what was completed last.",
)
PAUSE_REQUESTED = EventType(
    "pause_requested", ("by",), "Somebody asked a running coordinator to pause."
)
RESUME_REQUESTED = EventType(
    "resume_requested", ("by",), "Somebody asked a paused coordinator to go on at once."
)
ASSIGNMENTS_PAUSED = EventType(
    "assignments_paused", ("reason",), "Nothing new is given out while the state is being saved."
)
ASSIGNMENTS_RESUMED = EventType(
    "assignments_resumed", ("reason",), "Whoever was saving the state did not come back."
)
COMPACTION_START = EventType(
    "compaction_start",
    ("compaction_number", "context_remaining"),
    "The coordinator's context is nearly full: the state was saved, no new work is given out.",
)
COMPACTION_COMPLETE = EventType(
    "compaction_complete",
    ("compaction_number", "full_reload"),
    "The coordinator has its state again; with `full_reload` the whole plan too.",
)
USAGE_CHECK = EventType(
    "usage_check",
    ("utilisation", "remaining", "resets_at"),
    "How much of the usage limit is left, in percent; written when it has changed.",
)
PLAN_CHANGED = EventType(
    "plan_changed",
    ("plan_digest", "added", "removed", "changed", "criteria_changed"),
    "The plan's file says something else now; criteria of started tasks wait for a person.",
)
WORKFLOW_COMPLETE = EventType(
    "workflow_complete",
    ("total_tasks", "compactions", "session_resumes"),
    "Every task of the run is completed.",
)
WORKFLOW_FAILED = EventType(
    "workflow_failed",
    ("reason", "last_state"),
    "Nothing of the run can go on any more; `last_state` counts tasks by position.",
)

# Workers

DEVELOPER_DISPATCHED = EventType(
    "developer_dispatched",
    ("task_id", "agent_id", "blocked_by", "resumed"),
    "A task was given to a worker; `resumed` if there is earlier work on it.",
)
CHECKPOINT_REQUESTED = EventType(
    "checkpoint_requested", ("task_id", "agent_id"), "A worker was asked how far it has come."
)
DEVELOPER_CHECKPOINT = EventType(
    "developer_checkpoint",
    ("task_id", "agent_id", "status", "checkpoint"),
    "A worker said how far it has come; whoever takes the task up again is told.",
)
DEVELOPER_READY_FOR_REVIEW = EventType(
    "developer_ready_for_review",
    ("task_id", "agent_id", "files_modified"),
    "A worker says that it is done.",
)
DEVELOPER_INCOMPLETE = EventType(
    "developer_incomplete",
    ("task_id", "agent_id", "blocker", "attempt_number", "escalate"),
    "A worker gave up; `escalate` if that was once too often.",
)
AGENT_TIMEOUT = EventType(
    "agent_timeout",
    ("task_id", "agent_id", "timeout_ms", "attempt_number"),
    "A worker or auditor took too long and was ended.",
)
AGENT_STALLED = EventType(
    "agent_stalled",
    ("task_id", "agent_id", "missed_checkpoints"),
    "A worker left out so many checkpoints that it was ended.",
)
TASK_RESTARTED_ON_RESUME = EventType(
    "task_restarted_on_resume",
    ("task_id", "agent_id", "previous_status", "reason"),
    "The pause ended a worker or auditor; its task is given out again.",
)

# Audits

AUDITOR_DISPATCHED = EventType(
    "auditor_dispatched",
    ("task_id", "agent_id", "files_to_audit"),
    "A task's criteria are being run, and its auditor if there is one.",
)
TASK_COMPLETE = EventType(
    "task_complete",
    ("task_id", "agent_id", "evidence_summary", "commit_sha", "branch"),
    "A task is completed: the only event that says so.",
)
AUDITOR_FAIL = EventType(
    "auditor_fail",
    ("task_id", "agent_id", "failures", "required_fixes"),
    "A task did not pass, and why.",
)
TASK_FAILED = EventType(
    "task_failed",
    ("task_id", "failures", "reason"),
    "A task failed as often as it may; a person decides.",
)
TASK_REVERIFICATION_REQUIRED = EventType(
    "task_reverification_required",
    ("task_id", "completed_at", "time_since_completion_minutes"),
    "A task was completed shortly before the run stopped, and is looked at again.",
)
TASK_REVERIFIED = EventType(
    "task_reverified",
    ("task_id", "agent_id", "evidence_summary"),
    "Such a task still passes.",
)

# Questions

AGENT_SEEKS_GUIDANCE = EventType(
    "agent_seeks_guidance",
    ("task_id", "agent_id", "question", "options", "context"),
    "Something only a person can decide; it holds up what depends on it, nothing else.",
)
DIVINE_RESPONSE_RECEIVED = EventType(
    "divine_response_received",
    ("question", "task_id", "response"),
    "A person answered; `question` is the id of the event that asked.",
)

# Recovery

COORDINATOR_RECOVERED = EventType(
    "coordinator_recovered",
    ("orphaned_agents", "events_reconciled"),
    "A coordinator took over from one that died.",
)
ORPHAN_AGENT_DETECTED = EventType(
    "orphan_agent_detected",
    ("agent_id", "task_id", "type"),
    "A worker or auditor is gone without a result; its task is put back.",
)
STATE_RECONCILED = EventType(
    "state_reconciled",
    ("event_type", "task_id"),
    "An event that the snapshot did not have yet was applied in a recovery.",
)
EVENT_LOG_RECONSTRUCTED = EventType(
    "event_log_reconstructed",
    ("reason", "last_applied_event"),
    "The log lacks what the snapshot has; the next event carries the whole state.",
)
STATE_CHECKPOINT = EventType("state_checkpoint", ("state",), "The whole state of a run.")

TYPES = (
    SESSION_START,
    SESSION_PAUSE,
    SESSION_RESUME,
    PAUSE_REQUESTED,
    RESUME_REQUESTED,
    ASSIGNMENTS_PAUSED,
    ASSIGNMENTS_RESUMED,
    COMPACTION_START,
    COMPACTION_COMPLETE,
    USAGE_CHECK,
    PLAN_CHANGED,
    WORKFLOW_COMPLETE,
    WORKFLOW_FAILED,
    DEVELOPER_DISPATCHED,
    CHECKPOINT_REQUESTED,
    DEVELOPER_CHECKPOINT,
    DEVELOPER_READY_FOR_REVIEW,
    DEVELOPER_INCOMPLETE,
    AGENT_TIMEOUT,
    AGENT_STALLED,
    TASK_RESTARTED_ON_RESUME,
    AUDITOR_DISPATCHED,
    TASK_COMPLETE,
    AUDITOR_FAIL,
    TASK_FAILED,
    TASK_REVERIFICATION_REQUIRED,
    TASK_REVERIFIED,
    AGENT_SEEKS_GUIDANCE,
    DIVINE_RESPONSE_RECEIVED,
    COORDINATOR_RECOVERED,
    ORPHAN_AGENT_DETECTED,
    STATE_RECONCILED,
    EVENT_LOG_RECONSTRUCTED,
    STATE_CHECKPOINT,
)
