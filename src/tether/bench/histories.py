"""Histories of real projects with labels, as files have them: what happened, and what it was.

Each is two files with one JSON object a line, which may be packed with gzip. Of the labels nothing
is taken but the task, the time, how its tracker shows it then, and what the future showed.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterator

from tether import clock, errors
from tether.hints import Any, NamedTuple

_HINT = "Give files with one JSON object a line: `tether bench orphans --help` says which fields."
_MAX_LINE_BYTES = 1 << 24


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
    for line in _lines(timeline):
        tasks[line.text("task")] = _task(line)
        name = name or str(line.row.get("corpus") or "")
    rows = []
    for line in _lines(labels):
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


class _Line(NamedTuple):
    """One line of a file, read field by field."""

    path: str
    number: int
    row: dict[str, Any]

    def wrong(self, what: str) -> errors.FileError:
        where = f"Line {self.number} of {os.path.basename(self.path)}"
        return errors.FileError(f"{where} {what}. Nothing was measured.", hint=_HINT)

    def text(self, field: str) -> str:
        value = self.row.get(field)
        if not isinstance(value, str) or not value:
            raise self.wrong(f"has no `{field}`")
        return value

    def time(self, field: str) -> int:
        try:
            return clock.parse(self.text(field))
        except ValueError:
            raise self.wrong(f"has a time in `{field}` that is none") from None


def _lines(path: str) -> Iterator[_Line]:
    try:
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
            for number, raw in enumerate(iter(lambda: file.readline(_MAX_LINE_BYTES), b""), 1):
                if raw.strip():
                    yield _line(path, number, raw)
    except (OSError, EOFError, zlib.error) as problem:
        why = (isinstance(problem, OSError) and problem.strerror) or "it is damaged"
        raise errors.FileError(
            f"{os.path.basename(path)} cannot be read: {why}. Nothing was measured.",
            hint="Name files that are there, as they are or packed with gzip (.gz).",
        ) from problem


def _line(path: str, number: int, raw: bytes) -> _Line:
    try:
        row = json.loads(raw)
    except (ValueError, RecursionError):
        raise _Line(path, number, {}).wrong("is not JSON") from None
    if not isinstance(row, dict):
        raise _Line(path, number, {}).wrong("is not a JSON object")
    return _Line(path, number, row)


def _task(line: _Line) -> Task:
    told = line.row.get("events")
    if not isinstance(told, list) or not all(isinstance(each, dict) for each in told):
        raise line.wrong("has no list of `events`")
    events = sorted((_event(line._replace(row=each)) for each in told), key=lambda e: e.at_ms)
    return Task(line.time("created"), tuple(events))


def _event(line: _Line) -> Event:
    status = str(line.row.get("status") or "").lower().replace(" ", "_").replace("-", "_")
    counts = [line.row.get(field) for field in ("checked", "total")]
    ticked, parts = (each if type(each) is int else 0 for each in counts)
    return Event(line.time("t"), line.text("kind"), status, ticked, parts)


def _stem(path: str) -> str:
    name = os.path.basename(path).removesuffix(".gz").removesuffix(".jsonl")
    return name.removeprefix("timeline_")
