"""What is different between two versions of a plan. Pure."""

from __future__ import annotations

from typing import NamedTuple

from tether.coordinator.plans import model


class Changes(NamedTuple):
    """Ids of tasks, in the order of the plan: of the old one for what was removed."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    criteria_changed: tuple[str, ...] = ()
    """Those of `changed` that are done when something else is true: for started ones, a person
    must agree."""

    def __bool__(self) -> bool:
        return any(self)


def compare(old: model.Plan, new: model.Plan) -> Changes:
    """What became of the tasks. That they stand on other lines, or in another order, is nothing."""
    before, after = old.by_id, new.by_id
    changed = [name for name in after if name in before and _differ(before[name], after[name])]
    return Changes(
        added=tuple(name for name in after if name not in before),
        removed=tuple(name for name in before if name not in after),
        changed=tuple(changed),
        criteria_changed=tuple(n for n in changed if _criteria(before[n]) != _criteria(after[n])),
    )


def _differ(one: model.PlanTask, other: model.PlanTask) -> bool:
    return _without_lines(one) != _without_lines(other)


def _without_lines(task: model.PlanTask) -> model.PlanTask:
    criteria = tuple(each._replace(line=0) for each in task.criteria)
    return task._replace(line=0, blocked_by_line=0, criteria=criteria)


def _criteria(task: model.PlanTask) -> list[tuple[str, str]]:
    return [(each.text, each.command) for each in task.criteria]
