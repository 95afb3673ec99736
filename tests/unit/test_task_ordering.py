"""Which task comes first, what leads back to itself, and how long things take."""

from __future__ import annotations

import itertools
import random

import pytest

from tests import scale
from tether import clock
from tether.tasks import dependencies, listing, model, ordering

DAY = 86_400_000
WEEK = 7 * DAY
NOW = clock.parse("2026-06-01T00:00:00Z")
CRITICAL, HIGH, NORMAL, LOW = "critical", "high", "normal", "low"


def task(task_id: str, priority: str = NORMAL, age_ms: int | None = 0) -> listing.Item:
    created = clock.text(NOW - age_ms) if age_ms is not None else listing.UNDATED
    return "new", priority, created, task_id, f"work/inbox/{task_id}.yaml"


def names(tasks: list[listing.Item], ageing_days: int = 7) -> list[str]:
    return [task_id for *_, task_id, _ in ordering.ordered(tasks, NOW, ageing_days)]


# Urgency


def test_fresh_tasks_come_by_priority() -> None:
    given = [task("l", LOW), task("c", CRITICAL), task("n", NORMAL), task("h", HIGH)]
    assert names(given) == ["c", "h", "n", "l"]


@pytest.mark.parametrize(
    ("old", "fresh"), [(LOW, NORMAL), (NORMAL, HIGH)]
)  # fmt: skip
def test_a_period_of_waiting_lifts_by_one_priority(old: str, fresh: str) -> None:
    lifted = ordering.urgency(old, WEEK, 7)
    assert lifted == pytest.approx(ordering.urgency(fresh, 0, 7))
    assert ordering.urgency(old, WEEK - DAY, 7) > ordering.urgency(fresh, 0, 7)
    assert ordering.urgency(old, WEEK + DAY, 7) < ordering.urgency(fresh, 0, 7)


def test_two_periods_lift_by_two_priorities() -> None:
    assert ordering.urgency(LOW, 2 * WEEK, 7) == pytest.approx(ordering.urgency(HIGH, 0, 7))


@pytest.mark.parametrize("priority", [HIGH, NORMAL, LOW])
@pytest.mark.parametrize("periods", [1, 2, 3, 10, 1000, 10**6])
def test_no_wait_passes_what_is_critical(priority: str, periods: int) -> None:
    waited = ordering.urgency(priority, periods * WEEK, 7)
    assert waited > ordering.urgency(CRITICAL, 0, 7)


@pytest.mark.parametrize("priority", [HIGH, NORMAL, LOW])
def test_who_waited_longer_is_never_less_urgent(priority: str) -> None:
    waits = [ordering.urgency(priority, days * DAY, 7) for days in range(200)]
    assert all(later < earlier for earlier, later in itertools.pairwise(waits))


def test_what_is_critical_does_not_age() -> None:
    assert {ordering.urgency(CRITICAL, days * DAY, 7) for days in (0, 7, 700)} == {0}


@pytest.mark.parametrize("priority", model.PRIORITIES)
def test_without_ageing_only_the_priority_counts(priority: str) -> None:
    rank = model.PRIORITIES.index(priority)
    assert {ordering.urgency(priority, days * DAY, 0) for days in (0, 7, 700)} == {rank}


@pytest.mark.parametrize("priority", model.PRIORITIES)
def test_a_task_from_the_future_is_as_urgent_as_a_fresh_one(priority: str) -> None:
    assert ordering.urgency(priority, -WEEK, 7) == ordering.urgency(priority, 0, 7)


# Order


def test_equals_come_by_age_then_by_id() -> None:
    given = [task("b"), task("a"), task("old", age_ms=DAY), task("undated", age_ms=None)]
    assert names(given) == ["old", "a", "b", "undated"]


def test_an_old_task_overtakes_a_fresh_one_that_is_more_important() -> None:
    given = [task("fresh", HIGH), task("old", NORMAL, 8 * DAY)]
    assert names(given) == ["old", "fresh"]
    assert names(given, ageing_days=0) == ["fresh", "old"]


def test_nothing_comes_of_nothing() -> None:
    assert names([]) == []


def sorted_plainly(tasks: list[listing.Item], ageing_days: int) -> list[str]:
    def key(each: listing.Item) -> tuple[float, str, str]:
        _, priority, created_at, task_id, _ = each
        waited = NOW - clock.parse(created_at) if created_at != listing.UNDATED else 0
        return ordering.urgency(priority, waited, ageing_days), created_at, task_id

    return [task_id for *_, task_id, _ in sorted(tasks, key=key)]


@pytest.mark.parametrize("seed", range(scale.count(1000, at_least=40)))
def test_the_order_is_that_of_a_plain_sort(seed: int) -> None:
    """Only the heads of each priority are compared, which must not show."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    # Few different ages, so that there are ties; some lie ahead, some are missing.
    ages = [None, -WEEK, 0, 1, DAY, WEEK, 2 * WEEK, 3 * WEEK, 400 * DAY]
    given = [
        task(f"T{number}", chance.choice(model.PRIORITIES), chance.choice(ages))
        for number in chance.sample(range(1000), chance.randrange(60))
    ]
    for ageing_days in (0, 1, 7, 30):
        wanted = sorted_plainly(given, ageing_days)
        assert names(given, ageing_days) == wanted
        assert names(given[::-1], ageing_days) == wanted


def test_a_sort_that_forgets_ageing_is_caught() -> None:
    """The control."""
    given = [task("fresh", HIGH), task("old", NORMAL, 8 * DAY)]
    assert sorted_plainly(given, 0) != names(given, 7)


# Dependencies

Graph = dict[str, list[str]]


def way_back(graph: Graph, start: str) -> list[str]:
    return dependencies.cycle(start, graph[start], lambda each: graph.get(each, []))


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_a_circle_is_found_from_each_of_its_tasks(length: int) -> None:
    ring = [f"T{number}" for number in range(length)]
    graph = {here: [ring[(number + 1) % length]] for number, here in enumerate(ring)}
    for start in ring:
        trail = way_back(graph, start)
        assert trail[0] == trail[-1] == start
        assert len(trail) == length + 1
        assert all(later in graph[earlier] for earlier, later in itertools.pairwise(trail))


def test_a_circle_that_a_task_only_leads_to_is_not_its_own() -> None:
    graph = {"a": ["b"], "b": ["c"], "c": ["b"]}
    assert way_back(graph, "a") == []
    assert way_back(graph, "b") == ["b", "c", "b"]


def test_a_diamond_is_no_circle() -> None:
    graph: Graph = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}
    assert [way_back(graph, each) for each in graph] == [[], [], [], []]


def test_duplicates_are_harmless() -> None:
    graph: Graph = {"a": ["b", "b", "b"], "b": ["c", "c"], "c": []}
    assert way_back(graph, "a") == []
    graph["c"] = ["a", "a"]
    assert way_back(graph, "a") == ["a", "b", "c", "a"]


def test_what_is_not_there_leads_nowhere() -> None:
    assert way_back({"a": ["nobody"]}, "a") == []
    assert way_back({"a": []}, "a") == []


def test_many_ways_to_the_same_tasks_are_walked_once() -> None:
    """Each of forty tasks depends on both of the next level: 2^20 ways, if each were walked."""
    asked: list[str] = []

    def levels(each: str) -> list[str]:
        asked.append(each)
        level = int(each[1:])
        return [f"l{level + 1}", f"r{level + 1}"] if level < 20 else []

    assert dependencies.cycle("l0", ["l1", "r1"], levels) == []
    assert len(asked) == len(set(asked)) == 40


def test_a_long_chain_is_followed_to_its_end() -> None:
    length = 2_000
    ahead = {f"T{number}": [f"T{(number + 1) % length}"] for number in range(length)}
    assert len(way_back(ahead, "T0")) == length + 1


@pytest.mark.parametrize(
    ("state", "is_cancelled", "is_met"),
    [("done", False, True), ("archived", False, True), ("archived", True, False),
     ("new", False, False), ("assigned", False, False), ("in_progress", False, False),
     ("error", False, False), ("none", False, False), ("unreadable", False, False)],
)  # fmt: skip
def test_a_dependency_is_met_only_by_done(state: str, is_cancelled: bool, is_met: bool) -> None:
    assert dependencies.Dependency("T1", state, is_cancelled).is_met is is_met


# Durations


@pytest.mark.parametrize(
    ("written", "ms"),
    [("90s", 90_000), ("30m", 1_800_000), ("2h", 7_200_000), ("30d", 30 * DAY), ("4w", 28 * DAY),
     ("1y", 365 * DAY), ("0s", 0), (" 2H ", 7_200_000), ("2 hours", 7_200_000), ("1day", DAY),
     ("10 min", 600_000), ("999999s", 999_999_000)],
)  # fmt: skip
def test_a_duration_is_read(written: str, ms: int) -> None:
    assert clock.duration(written) == ms


@pytest.mark.parametrize(
    "written",
    ["", "2", "h", "-2h", "2.5h", "2h30m", "1e3s", "two hours", "2x", "2 h 3", "1000000s",
     "2h\nrm", "٣h", "²h", "0x2h", "9" * 10_000 + "s"],
)  # fmt: skip
def test_what_is_no_duration_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        clock.duration(written)


@pytest.mark.parametrize("written", ["6months", "1 month", "6mo", "1 decade", "2 ms", "3 hamst"])
def test_a_unit_is_not_told_by_its_first_letter_alone(written: str) -> None:
    """What is purged after six months must not go after six minutes."""
    with pytest.raises(ValueError, match="not a duration"):
        clock.duration(written)
