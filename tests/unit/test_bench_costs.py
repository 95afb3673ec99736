"""What benchmarks of lineage make of seconds: shares, ratios, and a part of a list."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tether.bench import processes, startup
from tether.bench.lineage import asking, costs, news


@pytest.mark.parametrize(
    ("seconds", "p50", "p95"),
    [
        ([], 0.0, 0.0),
        ([0.5], 500.0, 500.0),
        ([0.003, 0.001], 1.0, 3.0),
        ([n / 1000 for n in range(100, 0, -1)], 50.0, 95.0),
        ([n / 1000 for n in range(1, 21)], 10.0, 19.0),
    ],
)
def test_the_middle_and_nearly_all(seconds: list[float], p50: float, p95: float) -> None:
    assert costs.milliseconds(seconds) == {"p50_ms": p50, "p95_ms": p95}


def test_work_costs_what_its_children_cost() -> None:
    def work() -> str:
        subprocess.run([sys.executable, "-I", "-S", "-c", "0"], check=True)
        return "done"

    done, cost = costs.of(work)
    assert done == "done"
    assert cost.cpu_seconds > 0
    assert min(cost.wall_seconds, cost.peak_mb, cost.children_peak_mb) > 0


def test_nothing_is_divided_by_nothing() -> None:
    assert costs.ratio({"cpu_seconds": 3.0}, {"cpu_seconds": 1.5}) == 2.0
    assert costs.ratio({"cpu_seconds": 0.5}, {"cpu_seconds": 0.0}) == 500.0
    assert news.against_floor([]) == {"count": 0}


def test_processes_are_told_as_many_times_the_floor() -> None:
    pairs = [
        processes.Pair(startup.Cost(10.0, floor), startup.Cost(own, own))
        for floor, own in ((20.0, 40.0), (10.0, 60.0), (20.0, 200.0))
    ]
    found = news.against_floor(pairs)
    assert (found["count"], found["floor_ms"], found["cpu_ratio"]) == (3, 20.0, 6.0)
    assert (found["p50_ms"], found["p50_ratio"], found["p95_ratio"]) == (60.0, 3.0, 10.0)


@pytest.mark.parametrize(
    ("count", "found"), [(0, "a"), (1, "a"), (2, "ad"), (3, "ace"), (9, "abcde")]
)
def test_a_part_of_a_list_is_from_all_over_it(count: int, found: str) -> None:
    assert asking.spread(list("abcde"), count) == list(found)
    assert asking.spread([], count) == []
