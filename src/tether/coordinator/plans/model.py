"""A plan as plain values: read once at the border, then trusted."""

from __future__ import annotations

from typing import NamedTuple

from tether import ids


class Criterion(NamedTuple):
    """When a task counts as done: in words, or as a command that must succeed."""

    text: str
    """As it is written, without the box."""
    command: str = ""
    """What follows `run:`; only this is ever executed."""
    line: int = 0


class PlanTask(NamedTuple):
    """One task of a plan."""

    id: str
    title: str = ""
    work: str = ""
    criteria: tuple[Criterion, ...] = ()
    blocked_by: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()
    """Paths to read before the work."""
    files: tuple[str, ...] = ()
    """Paths that it will change: two tasks with a common one are never worked on at once."""
    environment: str = ""
    phase: str = ""
    priority: str = "normal"
    line: int = 0
    source: str = ""
    """The list of the workspace that it comes from; empty for one that stands only in the plan."""
    blocked_by_line: int = 0
    """Where it says what it is blocked by, if that is known."""

    @property
    def commands(self) -> tuple[str, ...]:
        return tuple(each.command for each in self.criteria if each.command)


class Plan(NamedTuple):
    """What is to be done in a run, in the order in which it is written."""

    file: str
    """From the top of the checkout; `work` for the tasks of the workspace."""
    title: str
    tasks: tuple[PlanTask, ...]

    @property
    def by_id(self) -> dict[str, PlanTask]:
        return {task.id: task for task in self.tasks}


class Problem(NamedTuple):
    """Something about a plan that is wrong, or that should be looked at."""

    line: int
    message: str
    task_id: str = ""
    is_error: bool = True


def key_of(task: PlanTask, run: str) -> ids.TaskKey:
    """How claims, events and evidence call a task of a run."""
    return ids.TaskKey(task.source or run, task.id)
