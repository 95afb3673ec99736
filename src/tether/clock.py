"""Time: RFC 3339 in UTC with milliseconds and `Z`, made and read in one place.

Such texts have one width, so they sort as they happened in both stores. Inside, a moment is a
number of milliseconds since 1970. Only `SystemClock` looks at the machine's clock.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta, timezone

from tether.hints import Protocol

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
# Years 0001 to 9999: what the text form can carry.
_MIN_MS = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MILLISECOND
_MAX_MS = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MILLISECOND


class Clock(Protocol):
    """Says what time it is."""

    def now_ms(self) -> int: ...


class SystemClock:
    """The clock of this machine."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


class FakeClock:
    """A clock that moves only when it is told to, for tests and replays."""

    def __init__(self, start: str = "2026-01-01T00:00:00.000Z") -> None:
        self._now_ms = parse(start)

    def now_ms(self) -> int:
        return self._now_ms

    def advance(self, seconds: float) -> None:
        """Move by this many seconds; negative ones go back, as real clocks do."""
        self._now_ms += round(seconds * 1000)


def text(ms: int) -> str:
    """`2026-11-15T08:30:00.123Z`"""
    moment = _EPOCH + timedelta(milliseconds=max(_MIN_MS, min(_MAX_MS, ms)))
    # strftime does not pad years before 1000 everywhere.
    seconds = moment.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    return f"{seconds}.{moment.microsecond // 1000:03}Z"


def now_text(clock: Clock) -> str:
    return text(clock.now_ms())


# One linear pattern for the shapes found in task files, transcripts, logs and Git:
# a date, then perhaps a time after `T` or blanks, a fraction, and a zone.
_STAMP = re.compile(
    r"(?P<year>[0-9]{4})[-/](?P<month>[0-9]{1,2})[-/](?P<day>[0-9]{1,2})"
    r"(?:[Tt ] {0,3}(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})"
    r"(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
    r" {0,3}(?P<zone>[Zz]|UTC|GMT|[+-][0-9]{2}:?[0-5][0-9]|[+-][0-9]{2})?)?"
)
_COMPACT = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})[Tt-]?([0-9]{2})([0-9]{2})([0-9]{2})([Zz])?")
_EPOCH_NUMBER = re.compile(r"-?[0-9]{1,16}(?:\.[0-9]{1,9})?")
_MAX_STAMP_CHARS = 64
# More than the microseconds of any year that can be written.
_MAX_EPOCH = 10**18


def parse(value: str | int | float) -> int:
    """Milliseconds since 1970 of a time as found in the wild.

    Takes RFC 3339 and its relatives (blank for `T`, comma fractions, `UTC`, `+0200`, no seconds, a
    bare date), `20261115T083000Z`, and epoch numbers in seconds, milliseconds or microseconds, told
    apart by size. A time without a zone is UTC. Raises ValueError for anything else.
    """
    if type(value) is str and len(value) == 24 and value[23] == "Z" and value[10::9] == "T.":
        ours = _from_ours(value)
        if ours is not None:
            return ours
    if isinstance(value, bool):
        raise ValueError("not a time")
    if isinstance(value, (int, float)):
        # Compared before it becomes a float: JSON knows numbers that no float can hold.
        if not -_MAX_EPOCH <= value <= _MAX_EPOCH:
            raise ValueError("not a time")
        return _from_number(float(value))
    stamp = value.strip()
    if len(stamp) > _MAX_STAMP_CHARS:
        raise ValueError("not a time")
    if match := _STAMP.fullmatch(stamp):
        return _from_fields(match)
    if match := _COMPACT.fullmatch(stamp):
        year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
        return _to_ms(datetime(year, month, day, hour, minute, second, tzinfo=UTC))
    if _EPOCH_NUMBER.fullmatch(stamp):
        return _from_number(float(stamp))
    raise ValueError("not a time")


def _from_ours(value: str) -> int | None:
    """The time in a text of our own form, by far the most frequent; None if it is not quite one."""
    if value[4:8:3] != "--" or value[13:17:3] != "::":
        return None
    try:
        return (datetime.fromisoformat(value) - _EPOCH) // _MILLISECOND
    except ValueError:
        return None  # a leap second, or no time at all


_DURATION = re.compile(
    r"([0-9]{1,6}) ?(?:(s|secs?|seconds?)|(m|mins?|minutes?)|(h|hours?)|(d|days?)|(w|weeks?)"
    r"|(y|years?))"
)
# In the order of the groups of the pattern. Months have no length, and `m` is short for minutes.
_UNITS_MS = (1000, 60_000, 3_600_000, 86_400_000, 604_800_000, 31_536_000_000)


def duration(value: str) -> int:
    """Milliseconds of `90s`, `30m`, `2h`, `30d`, `4w` or `1y`. Raises ValueError otherwise."""
    match = _DURATION.fullmatch(value.strip().lower())
    if match is None:
        raise ValueError("not a duration")
    return int(match[1]) * _UNITS_MS[(match.lastindex or 2) - 2]


def _from_fields(match: re.Match[str]) -> int:
    second = int(match["second"] or 0)
    # A leap second is the last instant of its minute; Python has no 60th second.
    leap = second == 60
    microsecond = int((match["fraction"] or "0")[:6].ljust(6, "0"))
    moment = datetime(
        int(match["year"]),
        int(match["month"]),
        int(match["day"]),
        int(match["hour"] or 0),
        int(match["minute"] or 0),
        59 if leap else second,
        999_000 if leap else microsecond,
        tzinfo=_zone(match["zone"]),
    )
    return _to_ms(moment)


def _zone(name: str | None) -> timezone:
    if name is None or name in ("Z", "z", "UTC", "GMT"):
        return UTC
    digits = name[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if name[0] == "-" else offset)


def _to_ms(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND


def _from_number(number: float) -> int:
    # Seconds until the year 5138, milliseconds until 5138, microseconds beyond: no real record is
    # ambiguous, because 1e11 ms was March 1973.
    size = abs(number)
    if size < 1e11:
        number *= 1000
    elif size >= 1e14:
        number /= 1000
    if not _MIN_MS <= number <= _MAX_MS:
        raise ValueError("not a time")
    return round(number)
