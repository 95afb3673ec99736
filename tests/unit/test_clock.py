"""Times as they are written and as they are found."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tether import clock

MOMENT = "2026-11-15T08:30:00.000Z"
CORPORA = Path(os.environ.get("TETHER_CORPORA", Path(__file__).parents[3] / "shared/corpora"))


def read(value: str | float) -> str:
    return clock.text(clock.parse(value))


# Writing


def test_a_moment_is_written_in_utc_with_milliseconds() -> None:
    assert clock.text(0) == "1970-01-01T00:00:00.000Z"
    assert clock.text(1) == "1970-01-01T00:00:00.001Z"
    assert clock.text(-1) == "1969-12-31T23:59:59.999Z"
    assert clock.text(1_794_731_400_123) == "2026-11-15T08:30:00.123Z"


@pytest.mark.parametrize(
    "stamp",
    [
        "0001-01-01T00:00:00.000Z",
        "0001-12-31T23:59:59.999Z",
        "0099-06-05T04:03:02.001Z",
        "0999-12-31T23:59:59.999Z",
        "1582-10-15T00:00:00.000Z",
        "1969-12-31T23:59:59.999Z",
        "2000-02-29T12:00:00.500Z",
        "2038-01-19T03:14:08.000Z",
        "9999-12-31T23:59:59.999Z",
    ],
)
def test_what_is_written_reads_as_the_same_moment(stamp: str) -> None:
    assert read(stamp) == stamp


@pytest.mark.parametrize(
    ("ms", "stamp"),
    [
        (10**30, "9999-12-31T23:59:59.999Z"),
        (-(10**30), "0001-01-01T00:00:00.000Z"),
        (253_402_300_800_000, "9999-12-31T23:59:59.999Z"),
        (-62_135_596_800_001, "0001-01-01T00:00:00.000Z"),
    ],
)
def test_a_moment_that_no_text_can_carry_is_the_nearest_that_can(ms: int, stamp: str) -> None:
    assert clock.text(ms) == stamp


# Reading


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-11-15T08:30:00.000Z",
        "2026-11-15T08:30:00Z",
        "2026-11-15t08:30:00z",
        "2026-11-15T08:30Z",
        "2026-11-15T08:30",
        "2026-11-15T08:30:00",
        "2026-11-15 08:30:00",
        "2026-11-15 08:30",
        "2026-11-15 8:30",
        "2026-11-15   8:30:00",
        "2026/11/15 08:30:00",
        "2026-11-15 08:30:00 UTC",
        "2026-11-15 08:30:00 GMT",
        "2026-11-15 08:30:00UTC",
        "2026-11-15T08:30:00,000",
        "2026-11-15T08:30:00.0Z",
        "2026-11-15T08:30:00.000000000Z",
        "2026-11-15T08:30:00+00:00",
        "2026-11-15T08:30:00-00:00",
        "2026-11-15T10:30:00+02:00",
        "2026-11-15T10:30:00+0200",
        "2026-11-15T10:30:00+02",
        "2026-11-15 10:30:00 +0200",
        "2026-11-15 00:30:00 -0800",
        "2026-11-15T14:00:00+05:30",
        "2026-11-14T20:30:00-12:00",
        "2026-11-15T22:30:00+14:00",
        "20261115T083000Z",
        "20261115T083000",
        "20261115-083000",
        "20261115083000",
        "20261115t083000z",
        " 2026-11-15T08:30:00Z\n",
        "1794731400",
        "1794731400.0",
        "1794731400.000000",
        "1794731400000",
        "1794731400000000",
        "1794731400000.0",
    ],
)
def test_one_moment_in_many_shapes(stamp: str) -> None:
    assert read(stamp) == MOMENT


@pytest.mark.parametrize(
    "number",
    [1_794_731_400, 1_794_731_400.0, 1_794_731_400_000, 1_794_731_400_000.0, 1_794_731_400_000_000],
)
def test_numbers_are_told_apart_by_size(number: float) -> None:
    assert read(number) == MOMENT


def test_a_bare_date_is_its_midnight() -> None:
    assert read("2026-11-15") == "2026-11-15T00:00:00.000Z"
    assert read("2026/1/5") == "2026-01-05T00:00:00.000Z"


@pytest.mark.parametrize(
    ("stamp", "milliseconds"),
    [
        ("2026-11-15T08:30:00.1Z", 100),
        ("2026-11-15T08:30:00,12", 120),
        ("2026-11-15T08:30:00.1239Z", 123),
        ("2026-11-15T08:30:00.999999999Z", 999),
        ("1794731400.5", 500),
        ("1794731400123", 123),
        ("1794731400123456", 123),
    ],
)
def test_fractions_are_kept_to_the_millisecond(stamp: str, milliseconds: int) -> None:
    assert clock.parse(stamp) == clock.parse(MOMENT) + milliseconds


@pytest.mark.parametrize("stamp", ["1969-12-31T23:59:59.5Z", "-0.5", "-86400", "1900-01-01"])
def test_moments_before_1970_are_negative(stamp: str) -> None:
    assert clock.parse(stamp) < 0


def test_a_leap_second_is_the_last_instant_of_its_minute() -> None:
    assert read("2016-12-31T23:59:60Z") == "2016-12-31T23:59:59.999Z"
    assert read("2016-12-31T23:59:60.7Z") == "2016-12-31T23:59:59.999Z"
    assert clock.parse("2016-12-31T23:59:60Z") < clock.parse("2017-01-01T00:00:00Z")


@pytest.mark.parametrize("stamp", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_zone_at_the_end_of_time_gives_a_moment_that_can_be_written(stamp: str) -> None:
    assert read(stamp) in ("0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z")


WRONG = [
    "", " ", "\n", "now", "yesterday", "nan", "NaN", "inf", "-inf", "Infinity", "null", "None",
    "true", "2026-", "2026-11", "2026-13-01", "2026-00-10", "2026-02-30", "2025-02-29",
    "2026-11-00", "0000-01-01", "10000-01-01", "-2026-11-15", "2026-11-15T", "2026-11-15T24:00:00",
    "2026-11-15T8", "2026-11-15T08:60", "2026-11-15T08:30:61", "2026-11-15T08:30:00.Z",
    "2026-11-15T08:30:00.", "2026-11-15T08:30:00+2", "2026-11-15T08:30:00+24:00",
    "2026-11-15T08:30:00+99:99", "2026-11-15T08:30:00+02:60", "2026-11-15T08:30:00 CET",
    "2026-11-15T08:30:00ZZ", "2026-11-15Z", "2026-11-15T08:30:00.1234567890Z",
    "2026-11-15T08:30:00Z\0", "2026-11-15T08:30:00Z; rm", "2026-11-15\n08:30:00",
    "20261315T083000Z", "20261115T253000Z", "15.11.2026", "11/15/2026",
    "\u0662\u0660\u0662\u0666-11-15", "２０２６-11-15", "1e9", "0x10", "1_000", "1,5", "--1", "+1",
    "1.", ".5", "99999999999999999", "1" * 100_000, "2026-11-15T08:30:00." + "1" * 100_000,
    " " * 100_000 + "x", "-" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("value", WRONG, ids=lambda value: ascii(value[:30]))
def test_what_is_not_a_time_is_a_value_error(value: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (the promise is the type alone)
        clock.parse(value)


@pytest.mark.parametrize(
    "value",
    [
        *(True, False, float("nan"), float("inf"), float("-inf"), 1e300, -1e300, 10**18, -(10**18)),
        *(10**400, -(10**400), 10**100_000),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_number_that_is_no_time_is_a_value_error(value: float) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (the promise is the type alone)
        clock.parse(value)


# Clocks


def test_a_fake_clock_moves_only_when_it_is_told_to() -> None:
    fake = clock.FakeClock()
    assert clock.now_text(fake) == "2026-01-01T00:00:00.000Z"
    assert fake.now_ms() == fake.now_ms()
    fake.advance(90.5)
    assert clock.now_text(fake) == "2026-01-01T00:01:30.500Z"


def test_a_fake_clock_can_go_back() -> None:
    fake = clock.FakeClock("2026-11-15T08:30:00Z")
    before = fake.now_ms()
    fake.advance(-3600)
    assert fake.now_ms() == before - 3_600_000
    assert clock.now_text(fake) == "2026-11-15T07:30:00.000Z"
    fake.advance(-0.001)
    assert fake.now_ms() == before - 3_600_001


def test_a_fake_clock_does_not_start_at_nonsense() -> None:
    with pytest.raises(ValueError, match="not a time"):
        clock.FakeClock("soon")


def test_the_system_clock_is_that_of_the_machine() -> None:
    before = time.time_ns() // 1_000_000
    now = clock.SystemClock().now_ms()
    assert before <= now <= time.time_ns() // 1_000_000


# Times that agents wrote


def times(record: Any) -> Iterator[tuple[str, str | float]]:
    if isinstance(record, list):
        for item in record:
            yield from times(item)
    elif isinstance(record, dict):
        for key, value in record.items():
            is_time = re.fullmatch(
                r".*_at|.*_at_ms|.*[a-z]At|timestamp|.*[sp]Time|create_time", key
            )
            if is_time and isinstance(value, (str, int, float)) and value:
                yield key, value
            yield from times(value)


def records(path: Path) -> Iterator[Any]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        yield json.loads(text)
        return
    for line in text.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue  # a line that a killed process left half written


def test_every_time_in_real_transcripts_is_understood() -> None:
    directory = CORPORA / "agents"
    if not directory.is_dir():
        pytest.skip("needs the corpus of agents' records (TETHER_CORPORA)")
    found = [
        (key, value)
        for path in sorted([*directory.glob("*.jsonl"), *directory.glob("*.json")])
        for record in records(path)
        for key, value in times(record)
    ]
    assert len(found) > 200
    assert {type(value) for _, value in found} == {str, int, float}
    strange = [
        (key, value)
        for key, value in found
        if not "2026-01-01" < clock.text(clock.parse(value)) < "2027-12-31"
    ]
    assert strange == []
