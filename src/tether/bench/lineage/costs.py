"""What work costs: processor time of a process and of its children, the clock, memory."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence

from tether.hints import Any, NamedTuple, TypeVar

T = TypeVar("T")
# Linux counts in kilobytes.
_KB_IN_MB = 1024


class Cost(NamedTuple):
    """Of one piece of work; processes that it started and waited for are counted."""

    cpu_seconds: float
    wall_seconds: float
    peak_mb: int
    """Of this process, up to now."""
    children_peak_mb: int
    """Of the largest of its children, up to now."""


def of(work: Callable[[], T]) -> tuple[T, Cost]:
    """The result of some work, and its cost."""
    before, start = cpu_seconds(), time.perf_counter()
    done = work()
    wall = time.perf_counter() - start
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    cost = Cost(cpu_seconds() - before, wall, own // _KB_IN_MB, children // _KB_IN_MB)
    return done, cost


def cpu_seconds() -> float:
    """What this process and its children have used, as a user and in the system."""
    every = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in every)


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """How long it took in the middle, and in nineteen of twenty cases at most."""
    ordered = sorted(seconds)
    if not ordered:
        return {"p50_ms": 0.0, "p95_ms": 0.0}
    return {f"p{part}_ms": round(1000 * _part(ordered, part), 2) for part in (50, 95)}


def _part(ordered: Sequence[float], percent: int) -> float:
    """The value that so many of a hundred do not exceed."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def told(cost: dict[str, Any]) -> dict[str, Any]:
    """A cost to be kept, without more digits than it has."""
    return {name: round(value, 3) for name, value in cost.items()}


def ratio(cost: dict[str, Any], floor: dict[str, Any]) -> float:
    """Of processor time; the clock says what others do on this machine."""
    return round(float(cost["cpu_seconds"]) / max(float(floor["cpu_seconds"]), 0.001), 2)
