"""What must be done before a task: met by `done` in this checkout, and by nothing else. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tether.hints import NamedTuple
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
    came_from = dict.fromkeys(depends_on, task_id)
    waiting = list(came_from)
    while waiting:
        here = waiting.pop()
        if here == task_id:
            break
        for each in dependencies_of(here):
            if each not in came_from:
                came_from[each] = here
                waiting.append(each)
    if task_id not in came_from:
        return []
    trail = [task_id]
    while len(trail) == 1 or trail[-1] != task_id:
        trail.append(came_from[trail[-1]])
    return trail[::-1]
