"""What must be done before a task: met by `done` in this checkout, and by nothing else. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from tether.tasks import states


class Dependency(NamedTuple):
    """A task that another one waits for."""

    id: str
    state: str
    """Its state in this checkout; `none` if it has no file here."""
    is_cancelled: bool = False
    note: str = ""
    """Where it is done, if not here."""

    @property
    def is_met(self) -> bool:
        return self.state == states.DONE or (
            self.state == states.ARCHIVED and not self.is_cancelled
        )


def cycle(
    task_id: str, depends_on: Iterable[str], dependencies_of: Callable[[str], Iterable[str]]
) -> list[str]:
    """A way from a task back to itself if it depended on these; empty if there is none."""
    trails: list[list[str]] = [[task_id, each] for each in dict.fromkeys(depends_on)]
    seen: set[str] = set()
    while trails:
        trail = trails.pop()
        here = trail[-1]
        if here == task_id:
            return trail
        if here in seen:
            continue
        seen.add(here)
        trails += [[*trail, each] for each in dependencies_of(here)]
    return []
