"""Which tracks, or whether the whole project, were put aside. Pure.

Parking is somebody's decision and no accident: where a whole track is silent, its tasks are not
fifty orphans but one thing to know.
"""

from __future__ import annotations

from collections.abc import Iterable

from tether import clock
from tether.hints import NamedTuple
from tether.vacuum import model


class Track(NamedTuple):
    """A list of tasks, and what goes on in it."""

    source: str
    name: str
    title: str
    done: int
    total: int
    open: int
    last_at: str = ""
    """When anything in it was last touched; empty if never."""
    has_live_claim: bool = False
    begun: int = 0
    """How many open tasks somebody began."""
    born_at: str = ""
    """When the youngest of its open tasks was written down; empty if nobody knows."""

    @property
    def percent(self) -> int:
        return 100 * self.done // self.total if self.total else 0


def is_parked(track: Track, now: str, limits: model.Limits) -> bool:
    """(Never worked on, or silent for a month) and nobody alive has anything of it."""
    if not track.open or track.has_live_claim:
        return False
    # What has just been written down is a plan, and not put aside.
    at = max(track.last_at, track.born_at)
    return not at or _age_ms(at, now) > limits.parked_ms


def is_paused(project_at: str, now: str, limits: model.Limits, *, has_live_claim: bool) -> bool:
    """Did the project as a whole stop? Then the silence of a task says nothing about that task."""
    if not project_at or has_live_claim:
        return False
    return _age_ms(project_at, now) > limits.stale_ms


def folded(findings: Iterable[model.Finding]) -> tuple[model.Finding, ...]:
    """What remains to be said of a task whose track or project is parked: what is certain."""
    return tuple(
        each for each in findings if each.grade == model.CERTAIN or each.type not in model.ORPHANED
    )


def _age_ms(at: str, now: str) -> int:
    return max(0, clock.parse(now) - clock.parse(at))
