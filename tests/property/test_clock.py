"""What holds for every moment, and for every text that might be one."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import example, given
from hypothesis import strategies as st

from tether import clock

MIN_MS = clock.parse("0001-01-01T00:00:00.000Z")
MAX_MS = clock.parse("9999-12-31T23:59:59.999Z")
MOMENTS = st.integers(MIN_MS, MAX_MS)
STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
NEARLY = st.lists(
    st.sampled_from([*"0123456789TtZz:.,+-/ \n\0\u0661", "2026", "11", "15", "-", "UTC"]),
    max_size=40,
).map("".join)


@given(ms=MOMENTS)
@example(ms=MIN_MS)
@example(ms=MAX_MS)
@example(ms=-1)
def test_every_moment_survives_being_written(ms: int) -> None:
    assert clock.parse(clock.text(ms)) == ms


@given(ms=st.integers())
def test_every_number_is_written_in_one_width(ms: int) -> None:
    assert STAMP.fullmatch(clock.text(ms))


@given(one=MOMENTS, other=MOMENTS)
def test_texts_sort_as_the_moments_do(one: int, other: int) -> None:
    assert (clock.text(one) < clock.text(other)) == (one < other)


@given(
    moment=st.datetimes(
        min_value=datetime(2, 1, 1),  # noqa: DTZ001 (hypothesis adds the zone)
        max_value=datetime(9998, 12, 31),  # noqa: DTZ001 (as above)
        timezones=st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m))),
    )
)
def test_what_python_writes_is_read_as_the_same_moment(moment: datetime) -> None:
    expected = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    for separator in "T ":
        assert clock.parse(moment.isoformat(separator)) == expected


@given(ms=st.integers(100_000_000_000, 4_102_444_800_000))
def test_seconds_milliseconds_and_microseconds_mean_the_same(ms: int) -> None:
    assert clock.parse(ms) == ms
    assert clock.parse(str(ms)) == ms
    assert clock.parse(ms * 1000) == ms
    assert clock.parse(ms // 1000) == ms // 1000 * 1000
    assert clock.parse(ms / 1000) == ms


@given(value=st.one_of(NEARLY, st.text(st.characters(exclude_categories=())), st.floats()))
@example(value="2026-11-15T08:30:00+23:59")
@example(value="0001-01-01T00:00:00+14")
def test_anything_is_a_time_that_can_be_written_or_a_value_error(value: str | float) -> None:
    try:
        ms = clock.parse(value)
    except ValueError:
        return
    assert isinstance(ms, int)
    assert STAMP.fullmatch(clock.text(ms))


@given(value=st.integers())
@example(value=10**309)
@example(value=-(10**400))
def test_any_whole_number_is_a_time_or_a_value_error(value: int) -> None:
    try:
        ms = clock.parse(value)
    except ValueError:
        return
    assert MIN_MS <= ms <= MAX_MS


@given(steps=st.lists(st.integers(-(10**9), 10**9)))
def test_a_fake_clock_is_where_its_steps_lead(steps: list[int]) -> None:
    fake = clock.FakeClock("2026-11-15T08:30:00.000Z")
    for step_ms in steps:
        fake.advance(step_ms / 1000)
    assert fake.now_ms() == clock.parse("2026-11-15T08:30:00.000Z") + sum(steps)
