"""A plan as bytes: the copy that a run keeps of what it was started with, and its digest.

Fields that have their usual value are left out, so a plan from before a field was thought of has
the digest that it always had.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, get_type_hints

import msgspec

from tether import errors, ids
from tether.coordinator.plans import model

_VERSION = 1
_LINES = ("line", "blocked_by_line")


def encode(plan: model.Plan) -> bytes:
    """A plan as canonical JSON."""
    return _canonical({"version": _VERSION, **_value(plan, ())})


def digest(plan: model.Plan) -> str:
    """The same for plans that say the same, wherever on their lines."""
    return hashlib.sha256(_canonical(_value(plan, _LINES))).hexdigest()


def decode(raw: bytes, known: str = "") -> model.Plan:
    """The plan that was encoded; FileError for all else, and for another digest than `known`."""
    try:
        value = json.loads(raw.decode("utf-8"))
        if not isinstance(value, dict) or value.pop("version", None) != _VERSION:
            raise ValueError("another version")
        found = msgspec.convert(value, _PLAN)
    except (ValueError, TypeError, RecursionError) as problem:
        raise _refusal() from problem
    # What was encoded is canonical: without the lines it is what the digest is of.
    if known and hashlib.sha256(_canonical(_without_lines(value))).hexdigest() != known:
        raise _refusal()
    plan = _plan(found)
    if not all(map(ids.TaskId.is_valid, set(_ids(plan)))):
        raise _refusal()
    return plan


def _without_lines(value: dict[str, Any]) -> dict[str, Any]:
    """A plan or a part of it, as JSON has it, but for where it stands."""
    found = value.copy()
    for name in _LINES:
        found.pop(name, None)
    for name in _INNER:
        if name in found:
            found[name] = [_without_lines(each) for each in found[name]]
    return found


def _refusal() -> errors.FileError:
    return errors.FileError("This is no copy of a plan that Tether has written. It was left alone.")


def _ids(plan: model.Plan) -> list[str]:
    return [name for task in plan.tasks for name in (task.id, *task.blocked_by)]


def _canonical(value: Any) -> bytes:
    # ASCII, so that any text can be written, also half a character.
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def _value(record: Any, without: tuple[str, ...]) -> dict[str, Any]:
    """A record as JSON has it: only fields that differ from what is usual."""
    usual = record._field_defaults
    found = {
        name: value
        for name, value in zip(record._fields, record, strict=True)
        if (name not in usual or usual[name] != value) and name not in without
    }
    for name in _INNER:
        if name in found:
            found[name] = [_value(each, without) for each in found[name]]
    return found


_INNER = ("tasks", "criteria")


def _checked(kind: type[Any], **inner: Any) -> type[Any]:
    """A type of the same fields that `msgspec` makes of a JSON object, checking every value."""
    hints = {**get_type_hints(kind), **inner}
    usual = kind._field_defaults
    fields = [(n, hints[n], usual[n]) if n in usual else (n, hints[n]) for n in kind._fields]
    return msgspec.defstruct(kind.__name__, fields, forbid_unknown_fields=True, gc=False)


_CRITERION = _checked(model.Criterion)
_TASK = _checked(model.PlanTask, criteria=tuple[_CRITERION, ...])  # type: ignore[valid-type]
_PLAN = _checked(model.Plan, tasks=tuple[_TASK, ...])  # type: ignore[valid-type]


def _plan(found: Any) -> model.Plan:
    """What was checked, as named tuples: the same fields in the same order."""
    for task in found.tasks:
        task.criteria = tuple(
            model.Criterion(each.text, each.command, each.line) for each in task.criteria
        )
    tasks = tuple(model.PlanTask._make(msgspec.structs.astuple(task)) for task in found.tasks)
    return model.Plan(found.file, found.title, tasks)
