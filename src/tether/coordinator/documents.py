"""The state of a run as a document with the field names of seed 004, and back again.

Its sets are lists there, a task in progress carries its last checkpoint, and a checksum says
whether the document is whole.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import Any, TypeVar

import msgspec

from tether import errors
from tether.coordinator.state import (
    ActiveAgent,
    Checkpoint,
    Completion,
    Question,
    State,
    Tally,
    Usage,
)

VERSION = 1
_HEAD = b'{"checksum":"'
T = TypeVar("T")
REQUIRED = ("session_id", "saved_at", "completed_tasks", "available_tasks")
_PLAIN = (
    "plan_file",
    "plan_digest",
    "total_tasks",
    "base",
    "session_started_at",
    "session_resume_count",
    "compaction_count",
    "is_compacting",
    "assignments_paused_at",
    "pause_reason",
    "resets_at",
    "pause_requested",
    "resume_requested",
    "ended",
    "ended_at",
    "compacted_at",
    "last_applied_event",
    "last_event_at",
    "skipped_events",
)


class SnapshotDamaged(errors.FileError):
    """The snapshot of the run cannot be used."""

    code = "snapshot_damaged"


def plain(state: State) -> dict[str, Any]:
    """The document as lists, dictionaries, texts and numbers alone."""
    found: dict[str, Any] = msgspec.to_builtins(document(state))
    return found


def document(state: State) -> dict[str, Any]:
    """What the state says, in the words of the seed."""
    return {
        **{name: getattr(state, name) for name in _PLAIN},
        "run": str(state.run),
        "paused_at": state.paused_at or None,
        "completed_tasks": list(state.completed),
        "in_progress_tasks": [
            _in_progress(state, task_id, agent_id)
            for task_id, agent_id in state.in_progress.items()
        ],
        "pending_audit": list(state.pending_audit),
        "available_tasks": list(state.available),
        "blocked_tasks": {task_id: list(each) for task_id, each in state.blocked.items()},
        "failed_tasks": state.failed,
        "removed_tasks": list(state.removed),
        "pending_validation": list(state.pending_validation),
        "restored_tasks": list(state.restored),
        "active_agents": state.active_agents,
        "checkpoints": state.checkpoints,
        "task_attempts": state.tallies,
        "task_commits": state.completed,
        "required_fixes": state.fixes,
        "guidance": state.guidance,
        "pending_divine_questions": list(state.questions.values()),
        **asdict(state.usage),
    }


def encode(state: State, *, session_id: str, saved_at: str, reason: str) -> bytes:
    """The snapshot: the document, who saved it when, and a checksum over it all."""
    body = {
        "version": VERSION,
        "session_id": str(session_id),
        "saved_at": saved_at,
        "save_reason": reason,
        **document(state),
    }
    return _sealed(msgspec.json.encode(body))


def _sealed(body: bytes) -> bytes:
    """The body with its checksum in front, so that what it covers is simply the rest."""
    return _HEAD + hashlib.sha256(body).hexdigest().encode() + b'",' + body[1:] + b"\n"


def decode(raw: bytes, run: str) -> tuple[State, dict[str, Any]]:
    """The state of a snapshot and the document itself; SnapshotDamaged for what is not whole."""
    rest = b"{" + raw[len(_HEAD) + 66 : -1]
    if _sealed(rest) != raw:
        raise SnapshotDamaged("The snapshot of the run is not whole.")
    try:
        found = msgspec.json.decode(rest)
        if not isinstance(found, dict) or any(name not in found for name in REQUIRED):
            raise ValueError("fields are missing")
        if (found.get("version"), found.get("run")) != (VERSION, run):
            raise ValueError("of another version, or of another run")
        return state_of(found, run), found
    except (
        *(ValueError, TypeError, KeyError, AttributeError, RecursionError, msgspec.MsgspecError),
    ) as problem:
        raise SnapshotDamaged("The snapshot of the run cannot be read.") from problem


def state_of(found: dict[str, Any], run: str) -> State:
    """The state that a document tells of, also one of a Tether with other fields."""
    completed = {key: _made(Completion, each) for key, each in found["task_commits"].items()}
    return State(
        run=run,
        **{name: found[name] for name in _PLAIN if name in found},
        paused_at=found["paused_at"] or "",
        completed={task_id: completed[task_id] for task_id in found["completed_tasks"]},
        in_progress={each["task_id"]: each["agent_id"] for each in found["in_progress_tasks"]},
        pending_audit=dict.fromkeys(found["pending_audit"]),
        available=dict.fromkeys(found["available_tasks"]),
        blocked={key: dict.fromkeys(each) for key, each in found["blocked_tasks"].items()},
        failed=dict(found["failed_tasks"]),
        removed=dict.fromkeys(found["removed_tasks"]),
        pending_validation=dict.fromkeys(found["pending_validation"]),
        restored=dict.fromkeys(found["restored_tasks"]),
        active_agents={
            key: _made(ActiveAgent, each) for key, each in found["active_agents"].items()
        },
        checkpoints={key: _made(Checkpoint, each) for key, each in found["checkpoints"].items()},
        tallies={key: _made(Tally, each) for key, each in found["task_attempts"].items()},
        fixes=dict(found["required_fixes"]),
        guidance=dict(found.get("guidance", {})),
        questions={each["id"]: _made(Question, each) for each in found["pending_divine_questions"]},
        usage=_made(Usage, found),
    )


def _made(kind: type[T], found: dict[str, Any]) -> T:
    """A record from those of its fields that are told."""
    known: dict[str, Any] = kind.__dataclass_fields__  # type: ignore[attr-defined]
    return kind(**{name: value for name, value in found.items() if name in known})


def _in_progress(state: State, task_id: str, agent_id: str) -> dict[str, Any]:
    agent, said = state.active_agents.get(agent_id), state.checkpoints.get(task_id)
    return {
        "task_id": task_id,
        "agent_id": agent_id,
        "status": (said.status if said else "") or "implementing",
        "dispatched_at": agent.dispatched_at if agent else "",
        "last_checkpoint": said.text if said else None,
        "last_checkpoint_time": said.at if said else None,
    }
