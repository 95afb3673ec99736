"""`tether maintain`, as real processes: what is due is done once, and nothing holds up the rest."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests import agency, trails
from tests.conftest import Tether
from tests.scenes import PERSON, Git, Scene, agent
from tether.store import port
from tether.vacuum import reports

DONE = """\
id: T-1
title: Write the parser
agent: builder
status: done
completed_at: 2020-03-05T00:00:00Z
"""


@pytest.fixture
def scene(repo: Path, environ: dict[str, str], git: Git, tether: Tether) -> Scene:
    scene = Scene(repo, environ, git, tether)
    scene.plan()
    scene.make_store()
    return scene


def steps(scene: Scene, *words: str, **settings: str) -> dict[str, dict[str, Any]]:
    value = scene.done("maintain", "--json", *words, who={**PERSON, **settings}).json
    return {each["name"]: each for each in value["steps"]}


def states(scene: Scene, *words: str, **settings: str) -> dict[str, str]:
    return {name: each["state"] for name, each in steps(scene, *words, **settings).items()}


def sweeps(scene: Scene) -> list[reports.Sweep]:
    store: port.Store = trails.store_of(scene.repo)
    try:
        return reports.sweeps(store, 10)
    finally:
        store.close()


def test_twice_in_a_row_the_vacuum_is_run_once(scene: Scene) -> None:
    first = scene.done("maintain").out.splitlines()
    assert [line.split()[0] for line in first] == ["sweep", "archive", "deep", "vacuum"]
    assert states(scene)["deep"] == "not_due"
    assert [each.sweep_type for each in sweeps(scene)] == ["deep"]


def test_a_setting_says_how_often(scene: Scene) -> None:
    never = {"TETHER_MAINTAIN_DEEP_DAYS": "0"}
    assert states(scene, **never)["vacuum"] == "done"
    assert states(scene, **never)["vacuum"] == "not_due"
    assert [each.sweep_type for each in sweeps(scene)] == ["standard"]
    assert states(scene)["deep"] == "done"
    neither = {**never, "TETHER_MAINTAIN_VACUUM_DAYS": "0"}
    assert steps(scene, **neither)["vacuum"]["said"] == "maintain.vacuum_days is 0"


def test_a_dry_run_says_what_is_due_and_changes_nothing(scene: Scene) -> None:
    found = steps(scene, "--dry-run")
    assert found["deep"]["said"] == "due: never done yet"
    assert (found["deep"]["state"], found["vacuum"]["state"]) == ("due", "not_due")
    assert sweeps(scene) == []


def test_the_dead_are_swept(scene: Scene) -> None:
    process = agency.sleeper()
    scene.done("claim", "track:H.1.1", who=agent(TETHER_PID=str(process.pid)))
    agency.end(process)
    store = trails.store_of(scene.repo)
    agency.silence(store, agent()["TETHER_SESSION"], 400)
    store.close()
    assert steps(scene, "--dry-run")["sweep"]["gone"] == [agent()["TETHER_SESSION"]]
    found = steps(scene)
    assert found["sweep"]["released"] == ["track:H.1.1"]
    assert found["deep"]["counts"]["dead_claim"] == 1


def test_tracked_files_are_moved_only_if_a_setting_says_so(scene: Scene) -> None:
    path = scene.write("work/done/T-1.yaml", DONE)
    told = steps(scene)["archive"]
    assert (told["state"], told["due"]) == ("due", ["T-1"])
    assert "`tether task archive`" in told["said"]
    assert path.exists()
    allowed = {"TETHER_MAINTAIN_ARCHIVE": "1"}
    assert steps(scene, "--dry-run", **allowed)["archive"]["state"] == "due"
    assert path.exists()
    assert steps(scene, **allowed)["archive"]["archived"] == ["T-1"]
    assert not path.exists()
    assert states(scene, **allowed)["archive"] == "not_due"


def test_reports_are_saved_where_the_setting_says(scene: Scene) -> None:
    saved = steps(scene, TETHER_VACUUM_SAVE_DIR="reports")["deep"]["saved"]
    assert (scene.repo / saved).read_text().startswith("#")


def test_a_step_that_fails_does_not_stop_those_after_it(scene: Scene) -> None:
    """Planted: an agent that names no session, which may move no task."""
    scene.write("work/done/T-1.yaml", DONE)
    nobody = {"CLAUDECODE": "1"}
    ended = scene.run("maintain", "--json", who=nobody, TETHER_MAINTAIN_ARCHIVE="1")
    assert (ended.code, ended.json["ok"], ended.json["error"]["code"]) == (1, False, "failed")
    found = {each["name"]: (each["state"], each.get("code")) for each in ended.json["steps"]}
    assert found == {
        "sweep": ("done", None),
        "archive": ("failed", "not_allowed"),
        "deep": ("done", None),
        "vacuum": ("not_due", None),
    }


def test_what_failed_is_told_in_its_line(scene: Scene) -> None:
    """Planted: a setting that no sweep for orphans can work with."""
    ended = scene.run("maintain", TETHER_TASKS_SOURCES="nonsense")
    assert (ended.code, len(ended.out.splitlines())) == (1, 4)
    assert "deep     failed: tasks.sources: there is no kind of list 'nonsense'." in ended.out
    assert ended.out.splitlines()[-1] == "vacuum   failed as deep did"
    assert "Not everything was done: deep, vacuum. The rest was." in ended.err
    assert states(scene)["deep"] == "done"


def test_without_a_store_there_is_nothing_to_keep(repo: Path, tether: Tether) -> None:
    ended = tether("maintain", cwd=repo)
    assert ended.code == 0
    assert ended.out.count("there is no store yet") == 3
    assert not os.path.exists(repo / ".git" / "tether" / "tether.db")


def test_outside_of_a_repository_it_fails_as_every_command_does(
    tmp_path: Path, tether: Tether
) -> None:
    ended = tether("maintain", cwd=tmp_path)
    assert (ended.code, ended.out) == (5, "")
    assert ended.err.count("not inside a Git repository") == 1
    assert tether("maintain", "--json", cwd=tmp_path).json["error"]["code"] == "not_a_repository"


def test_a_setting_that_cannot_be_read_is_told_once(scene: Scene) -> None:
    ended = scene.run("maintain", TETHER_MAINTAIN_DEEP_DAYS="often")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.count("maintain.deep_days must be a whole number") == 1
    assert "The rest was" not in ended.err


def test_what_keeps_several_steps_from_being_done_is_told_once(scene: Scene) -> None:
    """Planted: a store that is none."""
    (scene.repo / ".git/tether/tether.db").write_bytes(b"no store at all" * 100)
    ended = scene.run("maintain")
    assert ended.code == 1
    assert ended.out.count("failed: ") == 1
    assert ended.out.count("failed as sweep did") == 2
    assert "Not everything was done: sweep, deep, vacuum. The rest was." in ended.err
