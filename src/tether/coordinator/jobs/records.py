"""Jobs, starts and reports as JSON. What is torn, foreign or of a wrong type reads as None."""

from __future__ import annotations

import json
import os

from tether import clock, host, ids
from tether.coordinator.jobs import model
from tether.hints import Any, TypeVar

T = TypeVar("T")

_MAX_SECONDS = 1e9
_MAX_PID = 1 << 22
_MAX_TICKS = 1 << 63
_WRONG = (ValueError, RecursionError)


class _Fields:
    """The members of one JSON object; one that is missing or of another type is a ValueError."""

    def __init__(self, value: object) -> None:
        self._values: dict[str, Any] = _exactly(value, dict)

    def text(self, name: str) -> str:
        return _text(self._values.get(name))

    def flag(self, name: str) -> bool:
        return _exactly(self._values.get(name), bool)

    def integer(self, name: str, most: int) -> int:
        value = _exactly(self._values.get(name), int)
        if not 0 <= value <= most:
            raise ValueError(name)
        return value

    def perhaps(self, name: str, most: int) -> int | None:
        return None if self._values.get(name) is None else self.integer(name, most)

    def seconds(self, name: str) -> float:
        value: object = self._values.get(name)
        # Compared before it becomes a float: JSON knows numbers that no float can hold.
        if type(value) is bool or not isinstance(value, (int, float)):
            raise ValueError(name)
        if not 0 <= value <= _MAX_SECONDS:
            raise ValueError(name)
        return float(value)

    def time(self, name: str) -> str:
        return clock.text(clock.parse(self.text(name)))

    def texts(self, name: str) -> tuple[str, ...]:
        values = _exactly(self._values.get(name), list)
        return tuple(_text(value) for value in values)

    def objects(self, name: str) -> list[_Fields]:
        values = _exactly(self._values.get(name), list)
        return [_Fields(value) for value in values]

    def mapping(self, name: str) -> dict[str, str]:
        values = _exactly(self._values.get(name), dict)
        return {_text(key): _text(value) for key, value in values.items()}


def _exactly(value: object, kind: type[T]) -> T:
    # Not isinstance: True is an int.
    if type(value) is not kind:
        raise ValueError("of another type")
    return value


def _text(value: object) -> str:
    text = _exactly(value, str)
    if b"\0" in os.fsencode(text):
        raise ValueError("no program can be given this")
    return text


def _parse(data: bytes, agent_id: str) -> _Fields:
    fields = _Fields(json.loads(data, parse_constant=_refuse))
    if fields.text("agent_id") != agent_id:
        raise ValueError("of another job")
    return fields


def _refuse(constant: str) -> object:
    raise ValueError(constant)


def _bytes(values: dict[str, Any]) -> bytes:
    return json.dumps(values, indent=1).encode() + b"\n"


# What to do


def encode_job(job: model.Job) -> bytes:
    """The bytes of a job; ValueError for one that its wrapper could not read back."""
    data = _bytes({**job._asdict(), "steps": [step._asdict() for step in job.steps]})
    if decode_job(data, job.agent_id) != job:
        raise ValueError("this is not a job that can be done")
    return data


def decode_job(data: bytes, agent_id: str) -> model.Job | None:
    try:
        fields = _parse(data, agent_id)
        environment = fields.mapping("environment")
        steps = tuple(_step(each) for each in fields.objects("steps"))
        directory = fields.text("directory")
        if not steps or not directory.startswith("/") or not all(map(_is_name, environment)):
            return None
        grace_seconds = fields.seconds("grace_seconds")
        return model.Job(ids.SessionId(agent_id), directory, environment, steps, grace_seconds)
    except _WRONG:
        return None


def _step(fields: _Fields) -> model.Step:
    name, argv = fields.text("name"), fields.texts("argv")
    # The name goes into the log, where it must not look like anything else.
    if not (name and name.isprintable() and argv and argv[0]):
        raise ValueError("not a step")
    seconds, goes_on = fields.seconds("timeout_seconds"), fields.flag("goes_on")
    return model.Step(name, argv, seconds, goes_on, fields.text("stdin"))


def _is_name(variable: str) -> bool:
    return variable != "" and "=" not in variable


# Who does it


def encode_start(agent_id: str, process: host.Process, started_at: str) -> bytes:
    return _bytes({"agent_id": agent_id, **process._asdict(), "started_at": started_at})


def decode_start(data: bytes, agent_id: str) -> host.Process | None:
    try:
        fields = _parse(data, agent_id)
        return host.Process(
            fields.text("host_id"),
            fields.text("boot_id"),
            fields.text("pid_namespace"),
            fields.integer("pid", _MAX_PID),
            fields.integer("start_ticks", _MAX_TICKS),
        )
    except _WRONG:
        return None


# What became of it


def encode_report(agent_id: str, report: model.Report) -> bytes:
    results = [result._asdict() for result in report.results]
    return _bytes({"agent_id": agent_id, **report._asdict(), "results": results})


def decode_report(data: bytes, agent_id: str) -> model.Report | None:
    try:
        fields = _parse(data, agent_id)
        results = tuple(_result(each) for each in fields.objects("results"))
        return model.Report(results, fields.time("ended_at"), fields.flag("stopped"))
    except _WRONG:
        return None


def _result(fields: _Fields) -> model.StepResult:
    code, number = fields.perhaps("exit_code", 255), fields.perhaps("signal", 255)
    if (code is None) == (number is None):
        raise ValueError("ended in no way or in two")
    name, timed_out = fields.text("name"), fields.flag("timed_out")
    return model.StepResult(name, code, number, timed_out, fields.seconds("seconds"))
