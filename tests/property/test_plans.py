"""What holds for every plan: nothing raises, copies are exact, and cycles are found."""

from __future__ import annotations

import itertools

import hypothesis
from hypothesis import strategies as st

from tests import scale
from tether import ids
from tether.coordinator.plans import changes, graph, model, reading, vague

many = hypothesis.settings(max_examples=scale.count(2_000, 60))

# Texts that look like plans in places, and are none in others.
PIECES = st.sampled_from(
    [
        "## Task T1: One", "#### Task T2 - Two", "### Phase 1", "# Plan", "## Task ü: x", "Task",
        "**Work**:", "**Acceptance Criteria**:", "- **Blocked By**: T1, T2", "Blocked By: none",
        "**Files**: src/a.py, `b`", "**Required Reading**: ../x, [a](b)", "Priority: P1", "---",
        "- [ ] run: `make`", "- run: echo \x1b[0m", "  - [x] works correctly", "1. `run: x", "```",
        "~~~", "<!--", "-->", "a <!-- b", "", "  text", "\t- x", "tasks:", "  - id: T1",
        "    acceptance:", "      - run: make", "    blocked_by: [T1]", "  - id: 1.10",
        "title: &a x", "x: *a", "{", "]", "\ufeff", "\r", "\u2028", "**", "__x__:", "- ", "|", "'",
    ]
)  # fmt: skip
PLANLIKE = st.lists(PIECES | st.text(max_size=20), max_size=25).map("\n".join)
CONTENTS = (PLANLIKE | st.text()).map(lambda said: said.encode("utf-8", "replace")) | st.binary()
NAMES = st.sampled_from(["p.md", "p.yaml"])

task_ids = st.from_regex(ids.TaskId.pattern, fullmatch=True).filter(ids.TaskId.is_valid)
lines = st.integers(0, 10**6)
texts = st.lists(st.text(max_size=10), max_size=3).map(tuple)
criteria = st.builds(model.Criterion, st.text(max_size=10), st.text(max_size=10), lines)
tasks = st.builds(
    model.PlanTask,
    task_ids,
    st.text(max_size=10),
    st.text(max_size=10),
    st.lists(criteria, max_size=3).map(tuple),
    st.lists(task_ids, max_size=3).map(tuple),
    texts,
    texts,
    st.text(max_size=10),
    st.text(max_size=10),
    st.text(max_size=10),
    lines,
    st.text(max_size=10),
    lines,
)
plans = st.builds(
    model.Plan, st.text(max_size=10), st.text(max_size=10), st.lists(tasks, max_size=5).map(tuple)
)
# Few names, so that many graphs have cycles and many have none.
blockers = st.lists(st.lists(st.integers(0, 6), max_size=3), max_size=7)


def planned(waits: list[list[int]]) -> list[model.PlanTask]:
    return [
        model.PlanTask(f"T{n}", blocked_by=tuple(f"T{each}" for each in some))
        for n, some in enumerate(waits)
    ]


@many
@hypothesis.given(NAMES, CONTENTS)
def test_whatever_a_file_says_it_is_told_in_problems(name: str, content: bytes) -> None:
    plan, problems = reading.parse(name, content)
    found = reading.together(plan, problems, "/nonexistent")
    last = content.count(b"\n") + 1
    assert all(0 <= each.line <= last for each in found)
    assert all(each.message.isprintable() for each in found)
    assert all(map(ids.TaskId.is_valid, (each.task_id for each in found if each.task_id)))
    assert all(map(ids.TaskId.is_valid, (n for t in plan.tasks for n in (t.id, *t.blocked_by))))
    assert all(command.isprintable() for task in plan.tasks for command in task.commands)
    assert plan.tasks or any(each.is_error for each in found)
    assert reading.decode(reading.encode(plan)) == plan


@many
@hypothesis.given(plans)
def test_a_copy_is_exact_and_its_digest_knows_no_lines(plan: model.Plan) -> None:
    assert reading.decode(reading.encode(plan)) == plan
    moved = plan._replace(tasks=tuple(t._replace(line=t.line + 1) for t in plan.tasks))
    assert reading.digest(moved) == reading.digest(plan)
    assert not changes.compare(plan, moved)


@many
@hypothesis.given(plans)
def test_any_plan_can_be_checked(plan: model.Plan) -> None:
    assert all(each.message for each in reading.check(plan, "/nonexistent"))


@many
@hypothesis.given(plans, plans)
def test_tasks_are_added_removed_changed_or_the_same(old: model.Plan, new: model.Plan) -> None:
    found = changes.compare(old, new)
    before, after = set(old.by_id), set(new.by_id)
    assert (set(found.added), set(found.removed)) == (after - before, before - after)
    assert set(found.criteria_changed) <= set(found.changed) <= before & after


def reachable(of: graph.Graph, start: str) -> set[str]:
    """What a task waits for in the end, as slowly as can be."""
    found: set[str] = set()
    for _ in of.ids:
        found |= {n for each in (*found, start) for n in of.blockers[each]}
    return found


@many
@hypothesis.given(blockers)
def test_cycles_are_found_as_by_trying_everything(waits: list[list[int]]) -> None:
    of = graph.graph(planned(waits))
    behind = {name: reachable(of, name) for name in of.ids}
    knotted = {name for name in of.ids if name in behind[name]}
    knots = {frozenset(o for o in knotted if o in behind[n] and n in behind[o]) for n in knotted}
    ways = graph.cycles(of)
    assert len(ways) == len(knots)
    assert {knot for knot in knots for way in ways if way[0] in knot} == knots
    for way in ways:
        assert way[0] == way[-1]
        assert len(set(way)) == len(way) - 1
        assert all(after in of.blockers[name] for name, after in itertools.pairwise(way))


@many
@hypothesis.given(blockers)
def test_order_levels_and_counts_agree_with_the_graph(waits: list[list[int]]) -> None:
    of = graph.graph(planned(waits))
    order, levels = graph.order(of), graph.level_of(of)
    behind = {name: reachable(of, name) for name in of.ids}
    is_free = {name: not any(n in behind[n] for n in (name, *behind[name])) for name in of.ids}
    assert sorted(order) == sorted(name for name in of.ids if is_free[name])
    for name in order:
        assert all(order.index(each) < order.index(name) for each in of.blockers[name])
        assert levels[name] == max((levels[e] + 1 for e in of.blockers[name]), default=0)
    counts = graph.dependent_counts(of)
    for name in order:
        assert counts[name] == sum(name in behind[other] for other in order)
    chain = graph.critical_path(of)
    assert len(chain) == len(graph.levels(of))
    assert all(name in of.blockers[after] for name, after in itertools.pairwise(chain))


@many
@hypothesis.given(st.text())
def test_any_criterion_can_be_judged(said: str) -> None:
    found = vague.judge(said)
    assert found is None or found.phrase.isprintable()
