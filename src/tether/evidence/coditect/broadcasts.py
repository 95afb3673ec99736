"""What a message between sessions says of the tasks that it names. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from tether.evidence import mentions, model
from tether.hints import Any
from tether.tasks.sources import patterns

_STATED = ("started", "completed", "error", "task_broadcast", "task_conflict")
# Sent every few seconds, whether anything happens or not.
_LISTED = ("heartbeat", "state")
_LIFECYCLE = "session_lifecycle"
_KIND_NAMES = ("message_type", "type", "event", "action", "status")
_TASK_NAMES = ("task_id", "task", "taskId", "track_task_id")


def kind_of(told: str, channel: str, payload: Any) -> str:
    """What kind of message it is: by its type, by what it carries, or by its channel."""
    told, channel = told.lower(), channel.lower()
    if _LIFECYCLE in (told, channel):
        # That a session starts or ends says nothing about the task that it names.
        return _LIFECYCLE
    if channel in _LISTED:
        return channel
    if not told and isinstance(payload, dict):
        values = (payload.get(name) for name in _KIND_NAMES)
        words = (each.lower() for each in values if isinstance(each, str))
        told = next((each for each in words if each in _STATED), "")
    return told or channel


def named(payload: Any) -> str:
    """The task that a message names as its own; empty if it names none."""
    if not isinstance(payload, dict):
        return ""
    values = (payload.get(name) for name in _TASK_NAMES)
    return next((each for each in values if isinstance(each, str) and each), "")


def judged(finder: patterns.Finder, kind: str, task: str, said: str) -> Iterator[mentions.Mention]:
    """The tasks that it names, as its own or in its text, each with what it says of them."""
    own = {(each.source, each.id) for each in finder.find(task)}
    for each in mentions.read(finder, f"{task}\n{said}"):
        judgement = each.kind
        is_about = (each.source, each.id) in own if own else judgement == model.MENTIONED
        if kind in _LISTED:
            judgement = model.LISTED
        elif is_about and kind in _STATED:
            judgement = model.STATED
        yield each._replace(kind=judgement, start=max(0, each.start - len(task) - 1))


def word(kind: str) -> str:
    """The kind as the word of an activity. Whatever else they send is a message."""
    if kind == "task_conflict":
        return "conflict"
    return kind if kind in _STATED or kind in _LISTED else "messaged"
