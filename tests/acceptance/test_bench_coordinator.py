"""`tether bench coordinator`: a run in order, and a harness that sees what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Tether
from tether.bench import coordinator as harness
from tether.bench import long_run, processes, run_story
from tether.coordinator import integrity
from tether.store import events


@pytest.fixture
def scene(tmp_path: Path) -> harness.Scene:
    return harness.make(str(tmp_path), 120, 1500)


def told(scene: harness.Scene) -> dict[str, Any]:
    case = scene.cases()[harness.CURRENT]
    scene.put_back(case)
    return harness.told(scene, case)


def test_every_way_to_take_a_run_over_is_measured(tmp_path: Path, tether: Tether) -> None:
    ended = tether(
        "bench", "coordinator", "--tasks", "100", "--events", "1000", "--rounds", "1", "--json",
        cwd=tmp_path,
    )  # fmt: skip
    found = ended.json["coordinator"]
    sizes = found["sizes"]
    assert [(size["tasks"], size["events"]) for size in sizes] == [
        (100, 1000), (100, 500), (100, 100), (10, 1000),
    ]  # fmt: skip
    assert all(size["commands"]["floor"]["cpu_ratio"] == 1.0 for size in sizes)
    assert all(cost["cpu_ms"] > 0 for size in sizes for cost in size["inside"].values())
    done = 100 * run_story.DONE_SHARE
    assert [abs(size["completed"] - done) < 5 for size in sizes] == [True, True, False, False]
    assert set(found["growth"]) == set(sizes[0]["commands"]) - {"floor"}


def test_the_run_that_is_measured_is_in_order(scene: harness.Scene) -> None:
    with long_run.opened(scene.ground.place) as run:
        run.open()
        assert integrity.problems(run.state, run.outlook) == []
        assert (run.state.skipped_events, len(run.reconciled)) == (0, long_run.BEHIND)
        assert set(run.state.active_agents) == scene.made.orphans != set()
        log = events.of_run(run.store, run.name, 0)
    assert len(log) == 1500
    assert len({event.type for event in log}) > 15
    assert scene.made.store_events > 2 * len(log)


def test_an_orphan_that_is_not_found_is_noticed(scene: harness.Scene) -> None:
    found = told(scene)
    harness.check(scene, harness.CURRENT, found)
    found["recovery"]["orphaned"].pop()
    with pytest.raises(processes.Failed, match="those who are gone"):
        harness.check(scene, harness.CURRENT, found)


def test_a_contradiction_that_is_not_told_is_noticed(scene: harness.Scene) -> None:
    found = told(scene)
    found["recovery"]["contradictions"].clear()
    with pytest.raises(processes.Failed, match="no commit"):
        harness.check(scene, harness.CURRENT, found)


def test_a_state_that_the_log_does_not_give_is_noticed(scene: harness.Scene) -> None:
    found = told(scene)
    with long_run.opened(scene.ground.place) as run:
        run.open()
        run.state.completed.popitem()
        run.save()
    with pytest.raises(processes.Failed, match="not the one that the log gives"):
        harness.check(scene, harness.CURRENT, found)


def test_the_wrong_snapshot_is_noticed(scene: harness.Scene) -> None:
    found = told(scene)
    with pytest.raises(processes.Failed, match="another snapshot"):
        harness.check(scene, harness.NOTHING, found)
