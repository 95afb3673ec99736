"""Which tasks, side by side, say that they will change the same files. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tether.agents import paths
from tether.coordinator.plans import model

# Paths with wildcards are compared one by one, in a time that goes with the product of their
# lengths. So much is compared at most, in about a second; a run reserves paths all the same.
_MAX_COMPARED = 10_000_000


class Overlap(NamedTuple):
    """Two tasks, and the path of the first that the second one changes too."""

    task: model.PlanTask
    other: model.PlanTask
    path: str


def overlaps(levels: Iterable[Iterable[model.PlanTask]]) -> Iterator[Overlap]:
    """For each task the first one before it, on its level, that it has a path in common with."""
    compared = 0
    for tasks in levels:
        seen = _Seen(compared)
        for task in tasks:
            met = (
                Overlap(task, other, each) for each in task.files for other in seen.meeting(each)
            )
            if (overlap := next(met, None)) is not None:
                yield overlap
            for path in task.files:
                seen.add(path, task)
        compared = seen.compared


class _Seen:
    """The paths so far. Those without wildcards are looked up: most plans have no others."""

    def __init__(self, compared: int) -> None:
        self._owners: dict[str, model.PlanTask] = {}
        self._below: dict[str, model.PlanTask] = {}
        """For each directory, a task that changes something in it."""
        self._globs: list[tuple[str, model.PlanTask]] = []
        self.compared = compared

    def add(self, path: str, task: model.PlanTask) -> None:
        if _is_glob(path):
            self._globs.append((path, task))
            return
        self._owners.setdefault(path.lower(), task)
        for above in _above(path.lower()):
            self._below.setdefault(above, task)

    def meeting(self, path: str) -> Iterator[model.PlanTask]:
        """Those that have a path in common with this one."""
        if _is_glob(path):
            candidates = [*self._owners.items(), *self._globs]
        else:
            name = path.lower()
            same = (self._owners.get(each) for each in (name, *_above(name)))
            yield from (task for task in (*same, self._below.get(name)) if task is not None)
            candidates = self._globs
        for other, task in candidates:
            self.compared += len(path) * len(other)
            if self.compared > _MAX_COMPARED:
                return
            if paths.overlap(path, other):
                yield task


def _is_glob(path: str) -> bool:
    return any(char in path for char in "*?[")


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]
