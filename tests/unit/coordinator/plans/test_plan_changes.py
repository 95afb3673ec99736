"""What is different between two versions of a plan."""

from __future__ import annotations

from typing import Any

import pytest

from tether.coordinator.plans import changes, model

ONE = model.PlanTask("T1", "One", criteria=(model.Criterion("run: make", "make", 3),), line=1)
TWO = model.PlanTask("T2", "Two", line=5)


def plan(*tasks: model.PlanTask) -> model.Plan:
    return model.Plan("plan.md", "", tasks)


def test_the_same_plan_has_not_changed() -> None:
    assert not changes.compare(plan(ONE, TWO), plan(ONE, TWO))


def test_other_lines_and_another_order_are_no_change() -> None:
    moved = ONE._replace(line=9, blocked_by_line=8, criteria=(ONE.criteria[0]._replace(line=7),))
    assert not changes.compare(plan(ONE, TWO), plan(TWO, moved))


def test_tasks_come_and_go() -> None:
    found = changes.compare(plan(ONE), plan(TWO))
    assert (found.added, found.removed, found.changed, bool(found)) == (("T2",), ("T1",), (), True)


@pytest.mark.parametrize("change", [{"title": "x"}, {"blocked_by": ("T2",)}, {"files": ("a",)}])
def test_a_change_of_the_work_is_not_one_of_the_criteria(change: dict[str, Any]) -> None:
    found = changes.compare(plan(ONE, TWO), plan(ONE._replace(**change), TWO))
    assert (found.changed, found.criteria_changed) == (("T1",), ())


@pytest.mark.parametrize(
    "criteria",
    [
        (),
        (model.Criterion("run: make all", "make all"),),
        (model.Criterion("make", "make"),),
        (model.Criterion("run: make", ""),),
        (*ONE.criteria, *ONE.criteria),
    ],
)
def test_a_change_of_the_criteria_is_told_apart(criteria: tuple[model.Criterion, ...]) -> None:
    found = changes.compare(plan(ONE, TWO), plan(ONE._replace(criteria=criteria), TWO))
    assert (found.changed, found.criteria_changed) == (("T1",), ("T1",))
