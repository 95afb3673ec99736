"""What a call of a tool of Claude Code's shows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tether.evidence import model
from tether.evidence.transcripts import claude_records, decoding, notes, plans
from tether.hints import Any
from tether.tasks.sources import patterns

_EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_DELEGATES = ("Agent", "Task")
_LISTS = ("TaskCreate", "TaskUpdate", "TodoWrite")
# A new step matters only with an id, and then its line is given anyway.
NEEDLE = re.compile(rb'"name": ?"(?:Edit|Write|MultiEdit|NotebookEdit|TaskUpdate)"')


def used(
    origin: notes.Origin,
    block: claude_records.Block,
    finder: patterns.Finder,
    state: dict[str, Any],
) -> list[model.Activity]:
    """What a tool was called for."""
    given: dict[str, Any] = block.input if isinstance(block.input, dict) else {}
    found: list[model.Activity] = []
    path = given.get("file_path") or given.get("notebook_path")
    files = (path,) if isinstance(path, str) else ()
    if block.name in _EDITS and files:
        found.append(origin.shows(model.WORKED, "edited", str(block.name), files=files))
    command = given.get("command")
    if isinstance(command, str):
        found += notes.committed(origin, command)
    what = "delegated" if block.name in _DELEGATES else "ran"
    found += notes.led(origin, finder, given.get("description"), what, files)
    if block.name in _LISTS:
        found += _listed(origin, block.name, given, finder, state)
    return found + notes.named(origin, finder, notes.strings(block.input), "ran")


def _listed(
    origin: notes.Origin,
    tool: object,
    given: dict[str, Any],
    finder: patterns.Finder,
    state: dict[str, Any],
) -> Iterator[model.Activity]:
    """What a change of the agent's own list states."""
    subject, description = given.get("subject"), given.get("description")
    if tool == "TaskCreate":
        return plans.planned(origin, finder, subject, description)
    if tool == "TaskUpdate":
        number = decoding.name(given.get("taskId"))
        plans.learn(finder, state, number, subject, description)
        return plans.updated(origin, state, number, given.get("status"))
    steps = given.get("todos")
    pairs = [
        (each.get("content"), each.get("status"))
        for each in (steps if isinstance(steps, list) else ())
        if isinstance(each, dict)
    ]
    return plans.moved(origin, finder, state, pairs)


def answered(raw: bytes, finder: patterns.Finder, state: dict[str, Any]) -> None:
    """Remember the number that a new step of the agent's own list has got."""
    step = claude_records.step(raw)
    if step is not None:
        plans.learn(finder, state, decoding.name(step.id), step.subject, step.description)
