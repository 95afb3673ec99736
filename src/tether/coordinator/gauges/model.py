"""What a gauge shows, as plain values, and the decisions on them.

Percentages are what is left, from 0 to 100. Who wrote them down is not known here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from tether import clock
from tether.hints import NamedTuple

# No window is shorter. One whose end is unknown counts as ended after this: the worst that can
# come of it is one attempt that is refused.
_SHORTEST_WINDOW_MS = 5 * 3_600_000


class Usage(NamedTuple):
    """How much an account may still use."""

    remaining: float
    utilisation: float | None
    resets_at: str | None
    source: str
    at: str | None
    """When this was true."""


class Context(NamedTuple):
    """How much room is left in the context of a session."""

    remaining: float
    source: str
    at: str | None


class Window(NamedTuple):
    """One of the limits that an account has, as an agent writes it down."""

    used: float
    resets_at: str | None


def is_low(remaining: float, threshold: float) -> bool:
    """Is so little left that something must be done? At the threshold it is."""
    return remaining <= threshold


def has_ended(window: Window, at: str | None, now_ms: int) -> bool:
    """Has a window ended since it was told of?"""
    if window.resets_at is not None:
        return clock.parse(window.resets_at) <= now_ms
    return at is not None and clock.parse(at) + _SHORTEST_WINDOW_MS <= now_ms


def tightest(windows: Iterable[Window], source: str, at: str | None, now_ms: int) -> Usage | None:
    """The window with the least left decides; one that has ended is unused again."""
    now = [Window(0.0, None) if has_ended(each, at, now_ms) else each for each in windows]
    if not now:
        return None
    # Of two that are equally full the later end counts: after the earlier one nothing is free.
    fullest = max(now, key=lambda each: (each.used, each.resets_at or ""))
    return Usage(100.0 - fullest.used, fullest.used, fullest.resets_at, source, at)


def percent(value: object) -> float | None:
    """A percentage as an agent writes it, cut to what it can mean; None if it is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return float(max(0, min(100, value)))


def moment(value: object) -> str | None:
    """A time as Tether writes it; None if it is none."""
    if not isinstance(value, (str, int, float)):
        return None
    try:
        return clock.text(clock.parse(value))
    except (ValueError, OverflowError):
        return None
