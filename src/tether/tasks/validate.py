"""The rules that a task file should keep, as pure functions over its place and its fields.

The seed's five groups (directory and status, required fields, status values, timestamps, ownership)
can be read in several ways; `literal`, `full` and `lenient` are the readings of the project that it
comes from, and `tether` is ours, which also looks at what the seed forgot.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping

from tether import ids
from tether.hints import Any, NamedTuple
from tether.tasks import model, states

PARSE = "parse"
DIRECTORY = "directory_status"
REQUIRED = "required_fields"
STATUS = "status_value"
TIMES = "timestamps"
OWNER = "ownership"
ORDER = "timestamp_order"
ID = "id"
PRIORITY = "priority"
NAME = "file_name"
DUPLICATE = "duplicate_id"
CASE = "id_case"
DEPENDENCY = "dependency"
NO_FILE = "no_file"
CANCELLED = "cancelled"
KEEP = "gitkeep"
PLACE = "place"
LINK = "link"
RULES = {
    PARSE: "The file can be read as YAML.",
    DIRECTORY: "The status agrees with the directory.",
    REQUIRED: "`id`, `agent`, `status` and `artefacts` are there.",
    STATUS: "The status is one of the five states.",
    TIMES: "In progress needs `started_at`, done needs `completed_at`; times are times.",
    OWNER: "A task in `assigned/<agent>/` has this agent.",
    ORDER: "Created, assigned, started, completed: in this order.",
    ID: "`id` is the name of the file.",
    PRIORITY: "The priority is critical, high, normal or low.",
    NAME: "The file is `<id>.yaml`, and the id is valid.",
    DUPLICATE: "A task has one file.",
    CASE: "No two ids differ in case only.",
    DEPENDENCY: "What a task names as parent or dependency exists, and no dependency leads back.",
    NO_FILE: "A task that somebody holds in this checkout has a file.",
    CANCELLED: "A cancelled task is in the archive, with when, by whom and why.",
    PLACE: "A file that looks like a task is in a directory of the lifecycle.",
    KEEP: "Every directory has its `.gitkeep`.",
    LINK: "No directory of the work directory is a link.",
}
_REQUIRED = ("id", "agent", "status", "artefacts")
_TIMES = ("created_at", "assigned_at", "started_at", "completed_at")
_SEVEN = (*states.STATES, "inbox", "blocked")
# The state that each directory is for, as rule 1 is written: it speaks of `assigned/` only.
_LITERAL = {states.ASSIGNED: (states.ASSIGNED, states.IN_PROGRESS)}


class Reading(NamedTuple):
    """One way to read the seed's rules."""

    name: str
    places: Mapping[str, tuple[str, ...]]
    statuses: tuple[str, ...]
    is_lenient: bool
    """Does `artifacts` count as `artefacts`, and `result.completed_at` as `completed_at`?"""
    is_ours: bool = False
    """Are the rules looked at that the seed does not have?"""


READINGS = {
    reading.name: reading
    for reading in (
        Reading("literal", _LITERAL, states.STATES, is_lenient=False),
        Reading("full", states.PLACES, states.STATES, is_lenient=False),
        Reading("lenient", states.PLACES, _SEVEN, is_lenient=True),
        Reading("tether", states.PLACES, states.STATES, is_lenient=True, is_ours=True),
    )
}
OURS = READINGS["tether"]


class Finding(NamedTuple):
    """One rule that one file breaks."""

    rule: str
    task: str
    path: str
    detail: str
    """What is wrong, in a few words; a value from the file may be among them."""
    grade: str = "wrong"
    """For a state: `skipped` one, or `backwards`, or `unknown`."""
    line: int = 0
    can_be_fixed: bool = False


class Subject(NamedTuple):
    """One file as the rules see it."""

    task_id: str
    path: str
    place: str
    """A directory of the lifecycle, or any other word for a file outside of them."""
    folder: str
    fields: Mapping[str, Any]
    problem: str = ""
    line: int = 0


def judge(subject: Subject, reading: Reading = OURS) -> list[Finding]:
    """What is wrong with one file, by itself."""
    if subject.problem:
        return [_finding(subject, PARSE, subject.problem)._replace(line=subject.line)]
    found = [
        *_directory(subject, reading),
        *_required(subject, reading),
        *_status(subject, reading),
        *_times(subject, reading),
        *_owner(subject, reading),
    ]
    if reading.is_ours:
        found += [*_order(subject), *_names(subject), *_priority(subject), *_cancelled(subject)]
    return found


def judge_together(subjects: Iterable[Subject], packed: Collection[str] = ()) -> list[Finding]:
    """What is wrong with files because of each other; `packed` are the ids in packs."""
    found: list[Finding] = []
    by_id: dict[str, list[Subject]] = {}
    by_fold: dict[str, set[str]] = {}
    for subject in subjects:
        by_id.setdefault(subject.task_id, []).append(subject)
        by_fold.setdefault(subject.task_id.lower(), set()).add(subject.task_id)
    for same in by_id.values():
        if len(same) > 1:
            others = ", ".join(sorted(each.path for each in same))
            found += [_finding(each, DUPLICATE, f"{len(same)} files: {others}") for each in same]
    for twins in by_fold.values():
        if len(twins) > 1:
            names = ", ".join(sorted(twins))
            found += [_finding(by_id[twin][0], CASE, names) for twin in sorted(twins)]
    waits = {
        task_id: model.words(same[0].fields.get("depends_on")) for task_id, same in by_id.items()
    }
    for task_id, same in by_id.items():
        found += _references(same[0], task_id, waits, packed)
    return found


def _references(
    subject: Subject,
    task_id: str,
    waits: Mapping[str, tuple[str, ...]],
    packed: Collection[str],
) -> list[Finding]:
    from tether.tasks import dependencies

    named = [("depends_on", each) for each in waits[task_id]]
    parent = subject.fields.get("parent")
    if isinstance(parent, str) and parent:
        named.append(("parent", parent))
    found = [
        _finding(subject, DEPENDENCY, f"{field} names {each}, which is not here")
        for field, each in named
        if each not in waits and each not in packed
    ]
    trail = dependencies.cycle(task_id, waits[task_id], lambda each: waits.get(each, ()))
    if trail:
        found.append(_finding(subject, DEPENDENCY, f"a circle: {' → '.join(trail)}"))
    return found


def _directory(subject: Subject, reading: Reading) -> list[Finding]:
    allowed = reading.places.get(subject.place)
    status = _written(subject)
    if allowed is None or status in allowed:
        return []
    if reading.is_ours and subject.place == states.ARCHIVE and subject.fields.get("cancelled"):
        return []
    grade = states.grade(subject.place, status)
    return [_finding(subject, DIRECTORY, f"{subject.place}:{status}", grade)]


def _required(subject: Subject, reading: Reading) -> list[Finding]:
    found = []
    for name in _REQUIRED:
        value = subject.fields.get(name)
        if value is None and name == "artefacts" and reading.is_lenient:
            value = subject.fields.get("artifacts")
        is_missing = value is None
        if reading.is_ours and name == "agent":
            # Nobody has it yet, or nobody ever had; anywhere else an empty name is none.
            is_free = subject.place == states.INBOX or bool(subject.fields.get("cancelled"))
            is_missing = not value and not is_free
        if is_missing:
            found.append(_finding(subject, REQUIRED, name))
    if reading.is_ours and "artifacts" in subject.fields:
        found.append(_finding(subject, REQUIRED, "artefacts is spelt artifacts"))
    return found


def _status(subject: Subject, reading: Reading) -> list[Finding]:
    status = _written(subject)
    return [] if status in reading.statuses else [_finding(subject, STATUS, status, "unknown")]


def _times(subject: Subject, reading: Reading) -> list[Finding]:
    fields, status = subject.fields, _written(subject)
    found = []
    if status == states.IN_PROGRESS and not fields.get("started_at"):
        found.append(_finding(subject, TIMES, "started_at"))
    if status == states.DONE and not fields.get("completed_at"):
        result = fields.get("result")
        is_inside = isinstance(result, dict) and bool(result.get("completed_at"))
        if not (reading.is_lenient and is_inside):
            found.append(_finding(subject, TIMES, "completed_at"))
    if reading.is_ours:
        found += [
            _finding(subject, TIMES, f"{name} is no time")
            for name in (*_TIMES, "timeout_at")
            if fields.get(name) and not model.stamp(fields[name])
        ]
    return found


def _owner(subject: Subject, reading: Reading) -> list[Finding]:
    if subject.place != states.ASSIGNED:
        return []
    folder = subject.folder.partition("/")[0]
    agent = subject.fields.get("agent")
    if not folder:
        return [_finding(subject, OWNER, "in no agent's directory")] if reading.is_ours else []
    if agent == folder:
        return []
    return [_finding(subject, OWNER, f"dir={folder} agent={agent}")]


def _order(subject: Subject) -> list[Finding]:
    result = subject.fields.get("result")
    inside = result.get("completed_at") if isinstance(result, dict) else None
    times = [(name, model.stamp(subject.fields.get(name))) for name in _TIMES]
    times[-1] = (times[-1][0], times[-1][1] or model.stamp(inside))
    known = [(name, at) for name, at in times if at]
    return [
        _finding(subject, ORDER, f"{later[0]} is before {earlier[0]}")
        for earlier, later in itertools.pairwise(known)
        if later[1] < earlier[1]
    ]


def _names(subject: Subject) -> list[Finding]:
    found = []
    written = subject.fields.get("id")
    if written is not None and str(written) != subject.task_id:
        found.append(_finding(subject, ID, f"id is {written}"))
    if "task_id" in subject.fields:
        found.append(_finding(subject, ID, "id is spelt task_id"))
    if not subject.path.endswith(".yaml"):
        found.append(_finding(subject, NAME, "the suffix is not .yaml"))
    if not ids.TaskId.is_valid(subject.task_id):
        found.append(_finding(subject, NAME, _why_invalid(subject.task_id)))
    return found


def _why_invalid(name: str) -> str:
    if len(name) > 64:
        return f"the name has {len(name)} characters, and an id has at most 64"
    return "the name is not a valid id"


def _priority(subject: Subject) -> list[Finding]:
    written = subject.fields.get("priority")
    known = (*model.PRIORITIES, *model.PRIORITY_ALIASES)
    if written is None or (isinstance(written, str) and written in known):
        return []
    return [_finding(subject, PRIORITY, str(written))]


def _cancelled(subject: Subject) -> list[Finding]:
    cancelled = subject.fields.get("cancelled")
    if not cancelled:
        return []
    if subject.place != states.ARCHIVE:
        return [_finding(subject, CANCELLED, f"it is in {subject.place}", "skipped")]
    known = cancelled if isinstance(cancelled, dict) else {}
    missing = [name for name in ("at", "by", "why") if not known.get(name)]
    return [_finding(subject, CANCELLED, f"without {', '.join(missing)}")] if missing else []


def _written(subject: Subject) -> str:
    return str(subject.fields.get("status"))


def _finding(subject: Subject, rule: str, detail: str, grade: str = "wrong") -> Finding:
    return Finding(rule, subject.task_id, subject.path, detail, grade)
