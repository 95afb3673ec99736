"""What is written is read back; what is torn, foreign or wrong is None and never a traceback."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tether import host
from tether.coordinator.jobs import model, records

AGENT = "agent-1"
JOB = model.Job(
    AGENT,
    "/work",
    {"A": "b=c", "EMPTY": "", "BYTES": "\udcff"},
    (model.Step("first", ("echo", "ä", ""), 1.5, True), model.Step("second", ("true",))),
    3,
)
PROCESS = host.Process("host", "boot", "pid:[1]", 77, 4711)
REPORT = model.Report(
    (
        model.StepResult("first", 0, None, False, 1.25),
        model.StepResult("second", None, 9, True, 0.0),
    ),
    "2026-11-15T08:30:00.123Z",
    True,
)


def test_a_job_is_read_as_it_was_written() -> None:
    assert records.decode_job(records.encode_job(JOB), AGENT) == JOB


def test_a_start_is_read_as_it_was_written() -> None:
    data = records.encode_start(AGENT, PROCESS, "2026-11-15T08:30:00.123Z")
    assert records.decode_start(data, AGENT) == PROCESS


def test_a_report_is_read_as_it_was_written() -> None:
    assert records.decode_report(records.encode_report(AGENT, REPORT), AGENT) == REPORT


WRITTEN = {
    "job": records.encode_job(JOB),
    "start": records.encode_start(AGENT, PROCESS, "2026-11-15T08:30:00.123Z"),
    "report": records.encode_report(AGENT, REPORT),
}
DECODE: dict[str, Any] = {
    "job": records.decode_job,
    "start": records.decode_start,
    "report": records.decode_report,
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_what_is_of_another_job_is_nothing(kind: str) -> None:
    assert DECODE[kind](WRITTEN[kind], "agent-2") is None


@pytest.mark.parametrize("kind", WRITTEN)
def test_what_is_torn_anywhere_is_nothing(kind: str) -> None:
    whole = WRITTEN[kind].rstrip()
    assert [end for end in range(len(whole)) if DECODE[kind](whole[:end], AGENT)] == []


ODD: tuple[Any, ...] = (
    *(None, True, -1, 1.5, 10**400, "", "x", "a\0b", "\ud800", [], [None], [[]], {}),
    *({"a": 1}, {"": "x"}, {"a=b": "c"}, [{"name": 1}], float("nan"), float("inf"), 1e300),
)
# Where an odd value is a good one after all.
FINE: dict[str, tuple[Any, ...]] = {
    "environment": ({},),
    "grace_seconds": (1.5,),
    "host_id": ("", "x"),
    "boot_id": ("", "x"),
    "pid_namespace": ("", "x"),
    "results": ([],),
    "stopped": (True,),
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_what_has_a_wrong_type_is_nothing(kind: str) -> None:
    whole = json.loads(WRITTEN[kind])
    read = set(whole) - {"started_at"}  # for people

    accepted = [
        (name, odd)
        for name in read
        for odd in ODD
        if DECODE[kind](json.dumps({**whole, name: odd}).encode(), AGENT) is not None
    ]

    assert {(name, repr(odd)) for name, odd in accepted} == {
        (name, repr(odd)) for name in read for odd in FINE.get(name, ())
    }


@pytest.mark.parametrize("kind", WRITTEN)
def test_what_lacks_something_is_nothing(kind: str) -> None:
    whole = json.loads(WRITTEN[kind])
    for name in set(whole) - {"started_at"}:
        rest = {key: value for key, value in whole.items() if key != name}
        assert DECODE[kind](json.dumps(rest).encode(), AGENT) is None, name


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"\0" * 100,
        b"[" * 200_000,
        b'{"agent_id":' * 100_000,
        b"9" * 5000,
        b"null",
    ],
)
@pytest.mark.parametrize("kind", WRITTEN)
def test_what_is_foreign_is_nothing(kind: str, data: bytes) -> None:
    assert DECODE[kind](data, AGENT) is None


@pytest.mark.parametrize(
    "result",
    [
        {"exit_code": None, "signal": None},
        {"exit_code": 0, "signal": 9},
        {"exit_code": 256, "signal": None},
        {"exit_code": -9, "signal": None},
    ],
)
def test_a_step_ends_in_one_way(result: dict[str, Any]) -> None:
    whole = json.loads(WRITTEN["report"])
    whole["results"][0].update(result)

    assert records.decode_report(json.dumps(whole).encode(), AGENT) is None


@pytest.mark.parametrize(
    "step",
    [
        model.Step("", ("true",)),
        model.Step("two\nlines", ("true",)),
        model.Step("no program", ()),
        model.Step("empty program", ("",)),
        model.Step("nul", ("a\0b",)),
        model.Step("before", ("true",), -1),
    ],
)
def test_what_could_not_be_read_back_is_not_written(step: model.Step) -> None:
    with pytest.raises(ValueError, match="not a job"):
        records.encode_job(JOB._replace(steps=(step,)))


@pytest.mark.parametrize("directory", ["", "relative", "a/b"])
def test_a_job_needs_an_absolute_directory(directory: str) -> None:
    with pytest.raises(ValueError, match="not a job"):
        records.encode_job(JOB._replace(directory=directory))


def test_only_a_report_of_steps_that_all_went_well_is_a_success() -> None:
    good = model.StepResult("a", 0, None, False, 0.0)
    at = REPORT.ended_at

    assert model.Report((good, good), at, False).is_success
    assert not model.Report((good,), at, True).is_success
    assert not model.Report((), at, False).is_success
    for bad in (good._replace(exit_code=1), good._replace(timed_out=True)):
        assert not model.Report((bad, good), at, False).is_success
