"""What waits for what."""

from __future__ import annotations

import pytest

from tether.coordinator.plans import graph, model


def tasks(**blockers: str) -> list[model.PlanTask]:
    """`tasks(a="", b="a")`: b is blocked by a."""
    return [model.PlanTask(name, blocked_by=tuple(by.split())) for name, by in blockers.items()]


def of(**blockers: str) -> graph.Graph:
    return graph.graph(tasks(**blockers))


DIAMOND = of(a="", b="a", c="a", d="b c", e="")


def test_every_task_comes_after_its_blockers_in_the_order_of_the_plan() -> None:
    assert graph.order(of(c="a", b="", a="", d="")) == ("b", "a", "c", "d")
    assert graph.order(DIAMOND) == ("a", "b", "c", "d", "e")


def test_levels_say_what_could_be_done_side_by_side() -> None:
    assert graph.levels(DIAMOND) == (("a", "e"), ("b", "c"), ("d",))
    assert graph.width(DIAMOND) == 2
    assert graph.level_of(DIAMOND) == {"a": 0, "b": 1, "c": 1, "d": 2, "e": 0}


def test_the_longest_chain() -> None:
    assert graph.critical_path(DIAMOND) == ("a", "b", "d")
    assert graph.critical_path(of(a="", b="a", x="", y="x", z="y", w="z b")) == ("x", "y", "z", "w")


def test_those_that_wait_are_counted_once() -> None:
    assert graph.dependent_counts(DIAMOND) == {"a": 3, "b": 1, "c": 1, "d": 0, "e": 0}
    assert DIAMOND.dependents["a"] == ("b", "c")


def test_nothing_at_all() -> None:
    empty = of()
    assert (graph.levels(empty), graph.width(empty), graph.critical_path(empty)) == ((), 0, ())
    assert (graph.cycles(empty), graph.order(empty), graph.dependent_counts(empty)) == ([], (), {})


@pytest.mark.parametrize(
    ("blockers", "ways"),
    [
        ({"a": "b", "b": "a"}, [("a", "b", "a")]),
        ({"a": "", "b": "d", "c": "b a", "d": "c"}, [("b", "d", "c", "b")]),
        ({"a": "b", "b": "a", "c": "d", "d": "c a"}, [("a", "b", "a"), ("c", "d", "c")]),
        ({"a": "b c", "b": "c", "c": "a"}, [("a", "c", "a")]),
        ({"a": "a"}, []),
        ({"a": "x"}, []),
    ],
)
def test_a_cycle_is_told_as_the_whole_way(
    blockers: dict[str, str], ways: list[tuple[str, ...]]
) -> None:
    assert graph.cycles(of(**blockers)) == ways


def test_what_waits_for_a_cycle_has_no_place() -> None:
    knotted = of(a="", b="c", c="b", d="c", e="a")
    assert graph.order(knotted) == ("a", "e")
    assert graph.levels(knotted) == (("a",), ("e",))
    assert graph.dependent_counts(knotted) == {"a": 1, "b": 0, "c": 0, "d": 0, "e": 0}


def test_unknown_and_own_blockers_are_left_out_of_the_graph() -> None:
    some = tasks(a="x a b", b="y")
    assert graph.graph(some).blockers == {"a": ("b",), "b": ()}
    assert [(task.id, name) for task, name in graph.unknown(some)] == [("a", "x"), ("b", "y")]


def test_ids_are_equal_whatever_their_case() -> None:
    some = [
        model.PlanTask("T1", line=1),
        model.PlanTask("t1", line=2),
        model.PlanTask("T1", line=3),
    ]
    assert [(task.line, known.line) for task, known in graph.duplicates(some)] == [(2, 1), (3, 1)]


def test_a_chain_of_ten_thousand_is_no_recursion() -> None:
    number = 10_000
    ring = [model.PlanTask(f"T{n}", blocked_by=(f"T{(n + 1) % number}",)) for n in range(number)]
    [way] = graph.cycles(graph.graph(ring))
    assert len(way) == number + 1
    chain = graph.graph([ring[0]._replace(blocked_by=()), *ring[1:-1], ring[-1]])
    assert len(graph.critical_path(chain)) == number
