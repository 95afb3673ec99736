"""Histories of real projects with labels, as files have them: what happened, and what it was.

Each is two files with one JSON object a line, which may be packed with gzip. Of the labels nothing
is taken but the task, the time, how its tracker shows it then, and what the future showed.
"""

from __future__ import annotations

import os

from tether import errors
from tether.bench import lines
from tether.hints import NamedTuple

_HINT = "Give files with one JSON object a line: `tether bench orphans --help` says which fields."


class Event(NamedTuple):
    """Something that happened to a task."""

    at_ms: int
    kind: str
    status: str = ""
    """The task's status from then on; empty if this says nothing about it."""
    ticked: int = 0
    parts: int = 0


class Task(NamedTuple):
    """A task, and what happened to it in order."""

    created_ms: int
    events: tuple[Event, ...]

    def until(self, at_ms: int) -> tuple[Event, ...]:
        return tuple(each for each in self.events if each.at_ms <= at_ms)


class Row(NamedTuple):
    """A task at a time, with what the future showed."""

    task: str
    at_ms: int
    population: str
    label: str


class Project(NamedTuple):
    """A history."""

    name: str
    tasks: dict[str, Task]
    rows: tuple[Row, ...]


def read(timeline: str, labels: str) -> Project:
    """A history from its two files, which may be packed with gzip."""
    tasks: dict[str, Task] = {}
    name = ""
    for line in lines.read(timeline, _HINT):
        tasks[line.text("task")] = _task(line)
        name = name or str(line.row.get("corpus") or "")
    rows = []
    for line in lines.read(labels, _HINT):
        # The rest of it tells of the future, or repeats the timeline.
        row = Row(line.text("task"), line.time("T"), line.text("population"), line.text("label"))
        if row.task not in tasks:
            raise line.wrong("is about a task that is not in its timeline")
        rows.append(row)
    if not rows:
        raise errors.FileError(
            f"There is nothing in {os.path.basename(labels)}. Nothing was measured.", hint=_HINT
        )
    return Project(name or _stem(timeline), tasks, tuple(rows))


def _task(line: lines.Line) -> Task:
    told = line.row.get("events")
    if not isinstance(told, list) or not all(isinstance(each, dict) for each in told):
        raise line.wrong("has no list of `events`")
    events = sorted((_event(line._replace(row=each)) for each in told), key=lambda e: e.at_ms)
    return Task(line.time("created"), tuple(events))


def _event(line: lines.Line) -> Event:
    status = str(line.row.get("status") or "").lower().replace(" ", "_").replace("-", "_")
    counts = [line.row.get(field) for field in ("checked", "total")]
    ticked, parts = (each if type(each) is int else 0 for each in counts)
    return Event(line.time("t"), line.text("kind"), status, ticked, parts)


def _stem(path: str) -> str:
    name = os.path.basename(path).removesuffix(".gz").removesuffix(".jsonl")
    return name.removeprefix("timeline_")
