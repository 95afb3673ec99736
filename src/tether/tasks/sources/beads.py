"""Beads: a line of JSON for each issue. Pure.

Clones export what they know, so an issue may be there twice: the line that was updated last counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tether import ids, text
from tether.hints import Any, NamedTuple
from tether.tasks import model as tasks_model
from tether.tasks import states
from tether.tasks.sources import model, notes, statuses
from tether.tasks.sources.dialects import BEADS

MAX_PROBLEMS = 100
MAX_DESCRIPTION_CHARS = 4000
_PRIORITIES = ("critical", "high", "normal", "low", "low")
_WAITS_FOR = ("blocks", "conditional-blocks", "waits-for")
_CRITERION = re.compile(r"(?:(?:[-*+]|[0-9]{1,4}[.)])[ \t]{1,4})?(?:\[([ xX~-])\][ \t]{1,4})?(.*)")


class Said(NamedTuple):
    """The few words of a line that decide."""

    id: str
    state: str
    updated_at: str
    problem: str = ""


def parse(content: str, path: str) -> model.Listing:
    """What an export says."""
    counts: dict[str, tuple[Said, int, dict[str, Any]]] = {}
    problems: list[model.Problem] = []
    for number, line in _lines(content):
        issue = _decoded(line)
        said = _said(issue)
        if said.problem and len(problems) < MAX_PROBLEMS:
            problems.append(model.Problem(path, number, said.problem))
        known = counts.get(said.id)
        if said.id and (known is None or known[0].updated_at <= said.updated_at):
            counts[said.id] = (said, number, issue or {})
    items = (_item(path, *each) for each in counts.values())
    return model.Listing(tuple(items), problems=tuple(problems))


class Export:
    """Versions of an export, one after the other: what a line said is known from the last one."""

    def __init__(self) -> None:
        self._known: dict[str, Said] = {}
        self._last: tuple[str, dict[str, str]] = ("", {})

    def states_in(self, content: str) -> dict[str, str]:
        """The state of every issue, as `parse` has it."""
        if content == self._last[0]:
            return self._last[1]
        counts: dict[str, Said] = {}
        lines: dict[str, Said] = {}
        for _, line in _lines(content):
            said = lines[line] = self._known.get(line) or _said(_decoded(line))
            before = counts.get(said.id)
            if said.id and (before is None or before.updated_at <= said.updated_at):
                counts[said.id] = said
        self._known = lines
        self._last = (content, {said.id: said.state for said in counts.values()})
        return self._last[1]


def _lines(content: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(content.removeprefix("\ufeff").split("\n"), 1):
        bare = line.strip()
        if bare:
            yield number, bare


def _decoded(line: str) -> dict[str, Any] | None:
    if line[0] != "{":
        return None
    try:
        issue: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return issue


def _said(issue: dict[str, Any] | None) -> Said:
    if issue is None:
        return Said("", "", "", "this line is no JSON object")
    if issue.get("_type", "issue") != "issue":
        return Said("", "", "")
    task_id = issue.get("id")
    if not isinstance(task_id, str) or not ids.TaskId.is_valid(task_id):
        return Said("", "", "", "it has no id that can be used")
    status = issue.get("status") or "open"
    state = statuses.state_of(status) if isinstance(status, str) else None
    problem = "" if state else "its status is unknown; it counts as open"
    return Said(task_id, state or states.NEW, tasks_model.stamp(issue.get("updated_at")), problem)


def _item(path: str, said: Said, line: int, issue: dict[str, Any]) -> model.Item:
    parent, depends_on = _relations(issue.get("dependencies"))
    return model.Item(
        source=BEADS,
        id=said.id,
        path=path,
        line=line,
        state=said.state,
        text=notes.title(_text(issue.get("title"))),
        owner=text.one_line(_text(issue.get("assignee"))[:100]),
        priority=_priority(issue.get("priority")),
        parent=parent or said.id.rpartition(".")[0],
        track=BEADS,
        depends_on=depends_on,
        created_at=tasks_model.stamp(issue.get("created_at")),
        updated_at=said.updated_at,
        acceptance=_acceptance(_text(issue.get("acceptance_criteria"))),
        description=text.clean(_text(issue.get("description"))[:MAX_DESCRIPTION_CHARS]),
        status=text.one_line(_text(issue.get("status"))[:100]),
    )


def _relations(written: object) -> tuple[str, tuple[str, ...]]:
    """The issue that this one is a part of, and those that it waits for."""
    parent = ""
    waits: dict[str, None] = {}
    for each in written if isinstance(written, list) else []:
        if not isinstance(each, dict):
            continue
        other, kind = _text(each.get("depends_on_id")), each.get("type", each.get("dep_type"))
        if kind == "parent-child":
            parent = parent or other
        elif other and kind in _WAITS_FOR:
            waits[other] = None
    return parent, tuple(waits)


def _priority(value: object) -> str:
    if isinstance(value, int) and 0 <= value < len(_PRIORITIES):
        return _PRIORITIES[value]
    return tasks_model.known_priority(value) or "normal" if isinstance(value, str) else "normal"


def _acceptance(written: str) -> tuple[tuple[bool, str], ...]:
    found = []
    for line in written[:MAX_DESCRIPTION_CHARS].split("\n"):
        match = _CRITERION.fullmatch(line.strip())
        said = notes.title(match[2]) if match else ""
        if match and said:
            found.append((match[1] in ("x", "X"), said))
    return tuple(found)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
