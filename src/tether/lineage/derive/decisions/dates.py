"""Days as people write them in documents."""

from __future__ import annotations

import re

from tether import clock

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME = f"({'|'.join(_MONTHS)})[a-z]{{0,6}}"
_DAYS = tuple(
    (re.compile(pattern, re.IGNORECASE), order)
    for pattern, order in (
        (r"(?<![\w-])([12][0-9]{3})[-/]([01][0-9])[-/]([0-3][0-9])(?![0-9-])", "ymd"),
        (rf"(?<!\w)([0-3]?[0-9])(?:st|nd|rd|th)?\.? {_NAME}\.?,? ([12][0-9]{{3}})(?!\w)", "dmy"),
        (rf"(?<!\w){_NAME}\.? ([0-3]?[0-9])(?:st|nd|rd|th)?,? ([12][0-9]{{3}})(?!\w)", "mdy"),
        (rf"(?<!\w)([12][0-9]{{3}}) {_NAME}\.? ([0-3]?[0-9])(?!\w)", "ymd"),
    )
)


def first(value: str) -> str:
    """The first day in a text as RFC 3339 in UTC; empty if there is none. A month is no day."""
    found = _found(value)
    return min(found)[1] if found else ""


def at_begin(value: str) -> str:
    """The day that a text begins with; empty if it begins otherwise."""
    return next((stamp for start, stamp in _found(value) if start == 0), "")


def _found(value: str) -> list[tuple[int, str]]:
    """The first day in each way of writing it, with where it begins."""
    return [
        (match.start(), stamp)
        for pattern, order in _DAYS
        for match in [pattern.search(value)]
        if match and (stamp := _stamp(dict(zip(order, match.groups(), strict=True))))
    ]


def _stamp(parts: dict[str, str]) -> str:
    month = parts["m"][:3].lower()
    number = str(_MONTHS.index(month) + 1) if month in _MONTHS else parts["m"]
    try:
        return clock.text(clock.parse(f"{parts['y']}-{number:0>2}-{parts['d']:0>2}"))
    except ValueError:
        return ""
