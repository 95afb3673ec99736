"""A line of JSON with other values for a few members, everything else as it is written. Pure."""

from __future__ import annotations

import json

from tether import errors
from tether.hints import NamedTuple
from tether.tasks import model, states

STATUSES = {states.NEW: "open", states.IN_PROGRESS: "in_progress", states.DONE: "closed"}
_BLANKS = " \t\r\n"


class _Member(NamedTuple):
    """Where a member of an object stands."""

    key_start: int
    key_end: int
    start: int
    end: int


def edited(line: str, status: str, moment: str) -> str:
    """An issue with another status, updated now, and closed now if it is closed."""
    members = _members(line)
    issue = json.loads(line.removeprefix("\ufeff"))
    # A clock that is behind must not make an older line of the same issue count.
    now = max(moment, model.stamp(issue.get("updated_at")))
    values = {"status": status, "updated_at": now}
    if status == "closed":
        values["closed_at"] = now
    changes = {name: json.dumps(value) for name, value in values.items()}
    if status != "closed" and issue.get("closed_at") is not None:
        changes["closed_at"] = "null"
    return _with(line, members, changes)


def _with(line: str, members: dict[str, _Member], changes: dict[str, str]) -> str:
    first = min(members.values())
    last = max(member.end for member in members.values())
    colon = line[first.key_end : first.start]
    at = _behind(line, first.end)
    comma = line[first.end : _behind(line, at + 1)] if line[at] == "," else ", "
    added = [f'{comma}"{name}"{colon}{v}' for name, v in changes.items() if name not in members]
    edits = [(members[name], value) for name, value in changes.items() if name in members]
    line = line[:last] + "".join(added) + line[last:]
    for member, value in sorted(edits, reverse=True):
        line = line[: member.start] + value + line[member.end :]
    return line


def _members(line: str) -> dict[str, _Member]:
    """Where the members of an object stand; of two with one name the last, as readers have it."""
    decoder = json.JSONDecoder()
    found: dict[str, _Member] = {}
    at = _behind(line, line.find("{") + 1)
    try:
        while line[at] != "}":
            key_start = at
            name, key_end = decoder.raw_decode(line, at)
            start = _behind(line, _behind(line, key_end) + 1)
            _, end = decoder.raw_decode(line, start)
            found.pop(name, None)
            found[name] = _Member(key_start, key_end, start, end)
            at = _behind(line, end)
            at = _behind(line, at + 1) if line[at] == "," else at
    except (ValueError, IndexError, TypeError, RecursionError) as problem:
        raise errors.TaskUneditable from problem
    if not found:
        raise errors.TaskUneditable
    return found


def _behind(line: str, at: int) -> int:
    """The next place that is not blank."""
    while line[at : at + 1] and line[at] in _BLANKS:
        at += 1
    return at
