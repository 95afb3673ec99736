"""Where a task's file belongs, and what it must say there. Pure.

One decision for the verbs, for `validate --fix` and for `restore`: who repairs a file and who works
on it must not disagree.
"""

from __future__ import annotations

from collections.abc import Mapping

from tether import ids
from tether.hints import Any, NamedTuple
from tether.tasks import model, states


class Home(NamedTuple):
    """A directory, and the fields that do not agree with it yet."""

    place: str
    folder: str
    changes: Mapping[str, str]


def home(task: model.Task, fields: Mapping[str, Any], holder: str = "") -> Home:
    """Where a task belongs, by its file and by who holds its open claim.

    A move that died between content and rename is carried through; otherwise a person's `mv`
    counts. A word for a state that nobody knows stays until a verb or a person sets another one.
    """
    standing = task.standing(is_claimed=bool(holder))
    changes: dict[str, str] = {}
    is_known = states.known_status(task.status) is not None or not task.status
    if standing.state in states.RANK and task.status != standing.state and is_known:
        changes["status"] = standing.state
    if standing.place != task.place:
        return Home(standing.place, _folder(standing.place, task, fields), changes)
    folder = task.folder
    if task.place == states.ASSIGNED and task.agent != task.owner:
        if holder and task.agent == holder and ids.AgentName.is_valid(holder):
            folder = holder  # given to another one, who has it by now
        else:
            changes["agent"] = task.owner
    return Home(task.place, folder, changes)


def month_of(task: model.Task, fields: Mapping[str, Any]) -> str:
    """The directory of the archive that a task belongs in: when it ended, or else began."""
    cancelled = fields.get("cancelled")
    ended = model.stamp(cancelled.get("at")) if isinstance(cancelled, dict) else ""
    at = ended or task.completed_at or task.created_at or task.assigned_at
    return at[:7] if at else "undated"


def _folder(place: str, task: model.Task, fields: Mapping[str, Any]) -> str:
    if place == states.ASSIGNED:
        return ids.AgentName(task.agent)
    return month_of(task, fields) if place == states.ARCHIVE else ""
