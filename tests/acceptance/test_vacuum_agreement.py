"""What quick sweeps, full sweeps, `orient` and `next` say of one thing: the same, and once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_vacuum_cli import ago, drop, rows, silent, tick
from tests.conftest import Tether
from tests.scenes import TRACK, Git, Scene


@pytest.fixture
def scene(repo: Path, environ: dict[str, str], git: Git, tether: Tether) -> Scene:
    scene = Scene(repo, environ, git, tether)
    scene.plan("- [ ] H.1.1 One", "- [ ] H.1.2 Two", "- [ ] H.1.3 Three")
    scene.make_store()
    return scene


def orphans(scene: Scene) -> dict[str, int]:
    """How many orphans each of them counts."""
    quick = scene.done("vacuum", "--quick", "--compact").out
    full = scene.done("vacuum", "--compact").out
    return {
        "orient": scene.done("orient", "--json").json["orient"]["orphans"]["total"],
        "quick": int(quick.split()[2]),
        "full": int(full.split()[2]),
    }


def resolutions(scene: Scene) -> list[tuple[str, str | None]]:
    return [(each["task_id"], each["resolution"]) for each in rows(scene)]


def test_a_claim_of_what_is_done_is_written_down_no_more(scene: Scene) -> None:
    drop(scene, "H.1.1")
    assert orphans(scene) == {"orient": 1, "quick": 1, "full": 1}
    tick(scene, "H.1.1")
    for _ in range(3):
        assert orphans(scene) == {"orient": 0, "quick": 0, "full": 0}
    assert resolutions(scene) == [("H.1.1", "completed")]
    tick_back = scene.repo / TRACK
    tick_back.write_text(tick_back.read_text().replace("[x] H.1.1", "[ ] H.1.1"))
    assert orphans(scene) == {"orient": 1, "quick": 1, "full": 1}, "and back when it is open again"


def test_a_quick_sweep_leaves_open_what_is_open_elsewhere(scene: Scene, git: Git) -> None:
    """Two checkouts, one list ticked: neither opens or closes the row of the other."""
    drop(scene, "H.1.1")
    other = scene.repo.parent / "other"
    git("worktree", "add", "-q", str(other), "-b", "other", cwd=scene.repo)
    scene.done("orient")
    path = other / TRACK
    path.write_text(path.read_text().replace("[ ] H.1.1", "[x] H.1.1"))
    for _ in range(2):
        scene.done("orient", cwd=other)
        scene.done("orient")
    assert resolutions(scene) == [("H.1.1", None)]


def test_what_was_taken_off_its_list_is_told_by_all_and_can_be_settled(scene: Scene) -> None:
    drop(scene, "H.1.2")
    scene.plan("- [ ] H.1.1 One", "- [ ] H.1.3 Three")
    assert orphans(scene) == {"orient": 1, "quick": 1, "full": 1}
    assert "on no list of this checkout" in scene.done("vacuum").out
    for verb in ("cancel", "complete"):
        ended = scene.run("vacuum", verb, "track:H.1.2", "--json")
        assert ended.code == 5
        assert "is on no list of this checkout" in ended.json["error"]["message"]
        assert "tether vacuum defer track:H.1.2" in ended.json["error"]["hint"]
    scene.done("vacuum", "defer", "track:H.1.2")
    assert orphans(scene) == {"orient": 0, "quick": 0, "full": 0}


def test_to_complete_a_task_completes_its_findings(scene: Scene) -> None:
    scene.done("task", "new", "A task", "--id", "T1")
    drop(scene, "T1")
    scene.done("vacuum")
    scene.done("task", "complete", "T1", "--summary", "It stands.")
    scene.done("vacuum", "--quick")
    assert {each for _, each in resolutions(scene)} == {"completed"}


def test_to_edit_a_task_does_not_begin_it(scene: Scene) -> None:
    path = scene.repo / TRACK
    path.write_text(path.read_text().replace("One", "One more"))
    scene.commit("H.1.1: describe", at_ms=ago(3))
    counts: dict[str, Any] = scene.done("vacuum", "--json").json["vacuum"]["counts"]
    assert counts["never_started"] == 3


def test_what_is_less_probable_is_shown_and_not_counted(scene: Scene) -> None:
    """Somebody without a process was silent for a while: in whatever way one asks."""
    silent(scene, "H.1.1")
    assert orphans(scene) == {"orient": 0, "quick": 0, "full": 0}
    everything = scene.done("vacuum", "--all").out
    assert "H.1.1" in everything
    assert "Summary: 0 orphans" in everything
    assert scene.done("vacuum", "--all", "--compact").out == "Orphaned Tasks: 0\n"
    assert scene.run("vacuum", "--all", "--fail-on", "any").code == 0
