"""The lines of a session log: its headings, their times, and which lines list what is to be done.

Pure. What an entry says of tasks is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tether.evidence import records
from tether.hints import NamedTuple

_HEADING = re.compile(r"(#{1,6})[ \t]{1,8}(.*)")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})(.*)")
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?"
_STAMP = re.compile(
    rf"[\[(*`]{{0,3}}(?:(?P<day>{_DATE})(?:[Tt ,]{{1,3}}(?P<daytime>{_CLOCK}{_ZONE}))?"
    rf"|(?P<time>{_CLOCK}(?: ?(?P<half>[AaPp][Mm])\b)?(?P<zone>{_ZONE})))"
    r"[\])*`]{0,3}(?:[ \t]{0,4}[-–—:|][ \t]{1,4}|[ \t]{1,4}|$)(?P<rest>.*)"
)
# What stands before a title without being one: pictures, marks, a slash.
_TITLE = re.compile(r"[^A-Za-z0-9\n]{0,12}(.*)", re.DOTALL)
_DASHBOARD = re.compile(
    r"(?i:(?:auto[- ]?)?session[- ]status|active (?:sessions?|claims?)|task claims?|claimed tasks"
    r"|session (?:dashboard|registry|stats|lifecycle)|file locks?|unread messages?|stale alerts?"
    r"|message bus status|dashboard)\b"
)
_PLAN_WORDS = (
    r"(?i:next(?: (?:steps?|up|actions?|tasks?|session|priorit(?:y|ies)))?|to-?dos?"
    r"|remaining(?: (?:work|tasks?|items?|steps?))?|pending(?: (?:work|tasks?|items?))?|upcoming"
    r"|still open|backlog|follow-?ups?)"
)
_PLANS = re.compile(rf"{_PLAN_WORDS}(?:[ \t]{{0,4}}(?:[:(–—-]|\b(?:for|on|in)\b)|[ \t]{{0,4}}$)")
_PLAN_LABEL = re.compile(
    rf"(?P<indent>[ \t]{{0,16}})(?P<bullet>[-*+][ \t]{{1,4}})?(?:\*\*|__)?{_PLAN_WORDS}"
    r"(?:\*\*|__)?[ \t]{0,2}:(?:\*\*|__)?(?P<rest>.*)"
)
_LABEL = re.compile(
    r"[ \t]{0,16}(?:[-*+][ \t]{1,4})?(?:\*\*|__)[^*_\n]{1,60}(?::(?:\*\*|__)|(?:\*\*|__):)"
)
_ITEM = re.compile(r"([ \t]{0,40})(?:[-*+]|[0-9]{1,4}[.)])[ \t]")


class Heading(NamedTuple):
    level: int
    text: str


class Line(NamedTuple):
    """One line."""

    text: str
    heading: Heading | None = None
    is_listed: bool = False
    """In a table, a dashboard, or a list of what comes next."""
    is_code: bool = False


class Stamp(NamedTuple):
    """When a heading says that its entry was written, and what else it says."""

    is_there: bool
    at: str = ""
    day: str = ""
    """As it is written there; empty if it has only a time, or none."""
    rest: str = ""


def read(text: str) -> Iterator[Line]:
    """Every line, with what it is a part of."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    code = _code(lines)
    region = _Region()
    for number, line in enumerate(lines):
        if number in code:
            yield Line(line, None, region.is_open, is_code=True)
            continue
        match = _HEADING.match(line)
        heading = Heading(len(match[1]), match[2].strip(" \t#")) if match else None
        is_listed = region.take(line, heading)
        yield Line(line, heading, is_listed or line.lstrip()[:1] == "|")


def is_dashboard(title: str) -> bool:
    """Is that the title of what /session-status appends?"""
    match = _TITLE.match(title)
    return match is not None and _DASHBOARD.match(match[1]) is not None


def is_of_plans(title: str) -> bool:
    """Does that begin like a list of what comes next?"""
    match = _TITLE.match(title)
    return match is not None and _PLANS.match(match[1]) is not None


def start_of(day: str) -> str:
    return records.moment(day)


def stamp(title: str, day: str) -> Stamp:
    """The time at the beginning of a heading; a mere time of the day is one of `day`."""
    match = _STAMP.match(title)
    if match is None:
        return Stamp(False, rest=title)
    rest = match["rest"].strip()
    if match["day"]:
        time = f"T{match['daytime']}" if match["daytime"] else ""
        at = records.moment(f"{match['day']}{time}")
        return Stamp(True, at, match["day"], rest) if at else Stamp(False, rest=title)
    time = _of_the_day(match)
    if not records.moment(f"2000-01-01T{time}"):
        return Stamp(False, rest=title)
    return Stamp(True, records.moment(f"{day}T{time}"), "", rest)


def _of_the_day(match: re.Match[str]) -> str:
    """A time with its hours as numbers up to 24."""
    hours, _, more = match["time"].partition(":")
    if match["half"]:
        more = more[: -len(match["half"]) - len(match["zone"])].rstrip() + match["zone"]
        hours = str(int(hours) % 12 + (12 if match["half"].lower() == "pm" else 0))
    return f"{hours.zfill(2)}:{more}"


def _code(lines: list[str]) -> set[int]:
    """The lines of code blocks. One that is never closed ends with its entry."""
    inside: set[int] = set()
    begin, mark = -1, ""
    for number, line in enumerate(lines):
        match = _FENCE.match(line)
        if match is None:
            continue
        if not mark:
            begin, mark = number, match[1]
        elif match[1].startswith(mark) and not match[2].strip():
            inside.update(range(begin, number + 1))
            mark = ""
    if mark:
        inside.update(range(begin, _end_of_entry(lines, begin)))
    return inside


def _end_of_entry(lines: list[str], begin: int) -> int:
    for number in range(begin, len(lines)):
        match = _HEADING.match(lines[number])
        if match and _STAMP.match(match[2]):
            return number
    return len(lines)


class _Region:
    """The list that the next line may be a part of."""

    def __init__(self) -> None:
        self._level = 0  # of the heading that opened it; 0 if a label did, or none
        self._indent = -1  # of the label that opened it; -1 if a heading did, or none
        self._is_loose = False  # items beside the label belong to it: it says nothing itself
        self._was_blank = False

    @property
    def is_open(self) -> bool:
        return self._level > 0 or self._indent >= 0

    def take(self, line: str, heading: Heading | None) -> bool:
        """Is a line in a list?"""
        if heading is not None:
            self._take_heading(heading)
        elif label := _PLAN_LABEL.match(line):
            self._indent = len(label["indent"])
            self._is_loose = not label["rest"].strip()
        elif self._indent >= 0 and not self._goes_on(line):
            self._indent = -1
        self._was_blank = not line.strip()
        return self.is_open

    def _take_heading(self, heading: Heading) -> None:
        self._indent = -1
        found = stamp(heading.text, "")
        # An entry of its own may follow a dashboard at any level.
        if self._level and heading.level > self._level and not found.is_there:
            return
        is_list = is_dashboard(found.rest) or is_of_plans(found.rest)
        self._level = heading.level if is_list else 0

    def _goes_on(self, line: str) -> bool:
        """Does a label still speak for a line?"""
        if not line.strip():
            return True
        indent = len(line) - len(line.lstrip(" \t"))
        if indent > self._indent:
            return True
        if _LABEL.match(line):
            return False
        is_item = _ITEM.match(line) is not None
        return self._is_loose if is_item else not self._was_blank
