"""Backlog.md: a Markdown file for each task, its fields in front. Pure."""

from __future__ import annotations

import re

from tether import ids, text
from tether.hints import Any, NamedTuple
from tether.tasks import document, states
from tether.tasks import model as tasks_model
from tether.tasks.sources import markdown, model, notes, patterns, statuses
from tether.tasks.sources.dialects import BACKLOG

MAX_DESCRIPTION_CHARS = 4000
# `task-265.10 - Extend-the-suite.md`
_FILE_NAME = re.compile(
    r"([A-Za-z][A-Za-z0-9_-]{0,31}-[0-9]{1,6}(?:\.[0-9]{1,4}){0,4})(?: - (.{1,240}))?"
)
_FIELD = re.compile(r"(id|title|status|priority|parent_task_id):[ \t]{1,20}(.{1,1000})")
# Names of people are written with an `@` that YAML does not allow to begin a value.
_AT = re.compile(
    r"^((?:assignee|reporter):[ \t]{1,20}\[?|[ \t]{0,20}-[ \t]{1,20})(@[^\s,\]\"']{1,64})",
    re.MULTILINE,
)
STATUS = re.compile(r"status:(?=[ \t\r]|$)")
_NUMBER = re.compile(r"#[0-9]{1,4}[ \t]{1,4}")


class Head(NamedTuple):
    """What stands in front of a task."""

    fields: dict[str, Any]
    id: str
    state: str
    status: str
    problems: tuple[tuple[int, str], ...]


def parse(content: str, path: str) -> model.Listing:
    """What the file of a task says; nothing if it is not one."""
    yaml, skip = markdown.front(content)
    head = _head(yaml, path)
    problems = tuple(model.Problem(path, line, message) for line, message in head.problems)
    if not ids.TaskId.is_valid(head.id):
        if yaml:
            problems += (model.Problem(path, 1, "it has no id that can be used"),)
        return model.Listing((), problems=problems)
    fields, body = head.fields, _Body(content, skip)
    item = model.Item(
        source=BACKLOG,
        id=head.id,
        path=path,
        line=status_line(yaml) or 1,
        state=head.state,
        text=notes.title(_text(fields.get("title")) or _named(path)[1]),
        owner=next(iter(tasks_model.words(fields.get("assignee"))), "").lstrip("@"),
        priority=tasks_model.known_priority(_text(fields.get("priority"))) or "normal",
        parent=_parent(head),
        track=text.one_line(_text(fields.get("milestone"))[:100]) or BACKLOG,
        parts_done=body.parts_done,
        parts_total=body.parts_total,
        depends_on=tuple(map(_canonical, tasks_model.words(fields.get("dependencies")))),
        created_at=tasks_model.stamp(_text(fields.get("created_date"))),
        updated_at=tasks_model.stamp(_text(fields.get("updated_date"))),
        acceptance=tuple(body.acceptance),
        description=text.clean("\n".join(body.description)[:MAX_DESCRIPTION_CHARS]),
        status=head.status,
    )
    return model.Listing((item,), problems=problems)


def states_in(content: str, path: str) -> dict[str, str]:
    """The state of the task, as `parse` has it."""
    head = _head(markdown.front(content)[0], path)
    return {head.id: head.state} if ids.TaskId.is_valid(head.id) else {}


def status_line(yaml: str) -> int:
    """The line of the file on which the status stands; 0 if there is none."""
    lines = yaml.split("\n")
    return next((n for n, line in enumerate(lines, 2) if STATUS.match(line)), 0)


def _head(yaml: str, path: str) -> Head:
    problems = []
    read = _read(yaml) if yaml else document.Document("", {})
    fields = read.fields
    if read.problem:
        problems.append((read.line + 1, f"its fields cannot be read: {read.problem}"))
        fields = _plain(yaml)
    status = text.one_line(_text(fields.get("status"))[:100])
    state = statuses.state_of(status) or states.NEW
    if status and statuses.state_of(status) is None:
        problems.append((status_line(yaml) or 1, "its status is unknown; it counts as open"))
    if "/archive/" in path and state != states.DONE:
        state = model.CANCELLED
    task_id = _canonical(_text(fields.get("id")) or _named(path)[0])
    return Head(fields, task_id, state, status, tuple(problems))


def _read(yaml: str) -> document.Document:
    read = document.read(yaml.encode("utf-8", "replace"))
    if read.problem and "@" in yaml:
        again = document.read(_AT.sub(r'\1"\2"', yaml).encode("utf-8", "replace"))
        return read if again.problem else again
    return read


def _plain(yaml: str) -> dict[str, Any]:
    """The fields of what is not quite YAML, as far as they stand on lines of their own."""
    found: dict[str, Any] = {}
    for line in yaml.split("\n"):
        match = _FIELD.match(line)
        if match:
            found.setdefault(match[1], match[2].strip().strip("'\""))
    return found


def _named(path: str) -> tuple[str, str]:
    """The id and the title that the name of a file tells."""
    found = _FILE_NAME.fullmatch(path.rpartition("/")[2].removesuffix(".md"))
    return (found[1], (found[2] or "").replace("-", " ")) if found else ("", "")


def _parent(head: Head) -> str:
    written = _canonical(_text(head.fields.get("parent_task_id")))
    return written or head.id.rpartition(".")[0]


def _canonical(task_id: str) -> str:
    return patterns.canonical(BACKLOG, task_id)


def _text(value: object) -> str:
    """A scalar as text: an id may look like a number."""
    if isinstance(value, list):
        value = value[0] if value else ""
    return str(value).strip() if isinstance(value, (str, int, float)) else ""


def parts_done(content: str) -> int:
    """How many criteria and other parts of a task are ticked."""
    body = _Body(content, markdown.front(content)[1])
    return body.parts_done + sum(is_met for is_met, _ in body.acceptance)


def _as_written(kind: int, level: int, rest: str) -> str:
    """A line with its mark in front."""
    if kind == markdown.HEADING:
        return f"{'#' * level} {rest}"
    return f"- {rest}" if kind == markdown.BULLET else rest


class _Body:
    """The sections of a task."""

    def __init__(self, content: str, skip: int) -> None:
        self.acceptance: list[tuple[bool, str]] = []
        self.description: list[str] = []
        self.parts_done = self.parts_total = 0
        section = ""
        before = 0
        for kind, number, level, mark, rest in markdown.scan(content, skip):
            is_apart, before = number > before + 1, number
            if kind == markdown.HEADING and level <= 2:
                section = rest.lower()
            elif section.startswith("acceptance") and kind == markdown.BOX:
                said = notes.title(_NUMBER.sub("", rest, count=1))
                self.acceptance.append((mark in ("x", "X"), said))
            elif section.startswith("description"):
                self.description += [""] if is_apart and self.description else []
                self.description.append(_as_written(kind, level, rest))
            elif kind == markdown.BOX:
                self.parts_done += mark in ("x", "X")
                self.parts_total += mark != "-"
