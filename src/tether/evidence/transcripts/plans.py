"""The lists of steps that agents keep for themselves, and the tasks that they name.

A list is written again and again, mostly unchanged: only a step that has moved states something.
What was last known of it is in the state that is kept from one reading to the next.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from tether.evidence import mentions, model
from tether.evidence.transcripts import notes
from tether.hints import Any
from tether.tasks.sources import patterns

_UNDER_WAY = ("in_progress", "completed")
_STATUSES = (*_UNDER_WAY, "pending", "deleted", "cancelled", "blocked")


def moved(
    origin: notes.Origin,
    finder: patterns.Finder,
    state: dict[str, Any],
    steps: Iterable[tuple[object, object]],
) -> Iterator[model.Activity]:
    """What a whole list states: (content, status) of every step."""
    before: dict[str, str] = state.get("steps", {})
    now: dict[str, str] = {}
    for content, status in steps:
        if not isinstance(content, str) or status not in _STATUSES:
            continue
        found = _about(finder, content)
        if found:
            key = hashlib.blake2b(content.encode("utf-8", "replace"), digest_size=8).hexdigest()
            now[key] = str(status)
            if status in _UNDER_WAY and before.get(key) != status:
                yield from _stated(origin, content, found, f"status {status}")
    if now:
        state["steps"] = now


def planned(
    origin: notes.Origin, finder: patterns.Finder, subject: object, description: object
) -> Iterator[model.Activity]:
    """What a new step states."""
    for value in (subject, description):
        if isinstance(value, str):
            yield from _stated(origin, value, _about(finder, value), "planned")


def learn(
    finder: patterns.Finder,
    state: dict[str, Any],
    number: str,
    subject: object,
    description: object,
) -> None:
    """Remember which tasks the step with this number is about."""
    found: list[mentions.Mention] = []
    words = ""
    if isinstance(subject, str):
        found, words = _about(finder, subject), mentions.excerpt(subject)
    if not found and isinstance(description, str):
        # A description names other tasks too; the one that it begins with is meant.
        found = [each for each in _about(finder, description) if not each.start]
        words = words or mentions.excerpt(description)
    if found and number:
        step = state.setdefault("tasks", {}).setdefault(number, {"status": ""})
        step.update(tasks=[[each.source, each.id] for each in found], words=words)


def updated(
    origin: notes.Origin, state: dict[str, Any], number: str, status: object
) -> Iterator[model.Activity]:
    """What a new status of the step with this number states."""
    step = state.get("tasks", {}).get(number)
    if step is None or status not in _STATUSES or step["status"] == status:
        return
    step["status"] = status
    for source, task_id in step["tasks"]:
        yield origin.shows(model.STATED, f"status {status}", step["words"], task=(source, task_id))


def _about(finder: patterns.Finder, value: str) -> list[mentions.Mention]:
    return [each for each in mentions.read(finder, value) if each.kind == model.MENTIONED]


def _stated(
    origin: notes.Origin, value: str, found: list[mentions.Mention], what: str
) -> Iterator[model.Activity]:
    for each in found:
        words = notes.excerpt(value, each.start, each.id)
        yield origin.shows(model.STATED, what, words, task=(each.source, each.id))
