"""A plan as bytes: the copy that a run keeps of what it was started with, and its digest.

Fields that have their usual value are left out, so a plan from before a field was thought of has
the digest that it always had.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

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


def decode(raw: bytes) -> model.Plan:
    """The plan that was encoded; FileError if these bytes are none."""
    try:
        value = json.loads(raw.decode("utf-8"))
        if not isinstance(value, dict) or value.pop("version", None) != _VERSION:
            raise ValueError("another version")
        plan = msgspec.convert(_made(model.Plan, value), model.Plan)
    except (ValueError, TypeError, RecursionError) as problem:
        raise _refusal() from problem
    if not all(map(ids.TaskId.is_valid, _ids(plan))):
        raise _refusal()
    return plan


def _refusal() -> errors.FileError:
    return errors.FileError("This is no copy of a plan that Tether has written. It was left alone.")


def _ids(plan: model.Plan) -> list[str]:
    return [name for task in plan.tasks for name in (task.id, *task.blocked_by)]


def _canonical(value: Any) -> bytes:
    # ASCII, so that any text can be written, also half a character.
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def _value(record: Any, without: tuple[str, ...]) -> Any:
    """A record as JSON has it: only fields that differ from what is usual."""
    if not hasattr(record, "_fields"):
        is_list = isinstance(record, tuple)
        return [_value(each, without) for each in record] if is_list else record
    usual = record._field_defaults
    return {
        name: _value(value, without)
        for name, value in zip(record._fields, record, strict=True)
        if name not in without and (name not in usual or usual[name] != value)
    }


_INNER: dict[str, type[Any]] = {"tasks": model.PlanTask, "criteria": model.Criterion}


def _made(kind: type[Any], value: Any) -> list[Any]:
    """The fields of a record in their order, as `msgspec` takes named tuples."""
    if not isinstance(value, dict) or not value.keys() <= set(kind._fields):
        raise ValueError("not the fields of a record")
    if missing := set(kind._fields) - value.keys() - kind._field_defaults.keys():
        raise ValueError(f"fields are missing: {sorted(missing)}")
    return [_field(name, value.get(name, kind._field_defaults.get(name))) for name in kind._fields]


def _field(name: str, value: Any) -> Any:
    inner = _INNER.get(name)
    if inner is None:
        return value
    if not isinstance(value, (list, tuple)):
        raise ValueError("not a list of records")
    return [_made(inner, each) for each in value]
