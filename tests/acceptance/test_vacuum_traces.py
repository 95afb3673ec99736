"""`tether vacuum` sees work of which the ids alone tell nothing: plain parts, and words as ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_vacuum_cli import ago
from tests.conftest import Tether
from tests.scenes import Git, Scene

TRACK = "plans/TRACK-H.md"
BACKLOG = "backlog/tasks/task-7 - Seven.md"


@pytest.fixture
def scene(repo: Path, environ: dict[str, str], git: Git, tether: Tether) -> Scene:
    scene = Scene(repo, environ, git, tether)
    scene.make_store()
    return scene


def write(scene: Scene, path: str, content: str, days: float, message: str = "Edit") -> None:
    scene.write(path, content)
    scene.commit(message, at_ms=ago(days))


def findings(scene: Scene, *words: str) -> dict[str, set[str]]:
    """What is found of each task."""
    value = scene.done("vacuum", "--all", "--json", *words).json["vacuum"]
    every = [*value["orphans"], *value["done_unmarked"], *value["others"]]
    return {each["id"]: {finding["type"] for finding in each["findings"]} for each in every}


def counts(scene: Scene) -> dict[str, Any]:
    found: dict[str, Any] = scene.done("vacuum", "--json").json["vacuum"]["counts"]
    return found


def parts(*marks: str) -> str:
    below = "".join(f"  - [{mark}] part {number}\n" for number, mark in enumerate(marks))
    return f"# Track H\n\n- [ ] H.1.1 Build it\n{below}- [ ] H.1.2 Test it\n"


def touch(scene: Scene) -> None:
    """Somebody is at work, so the project is not paused."""
    scene.commit("Tidy up", "README.md", at_ms=ago(0.5))


def test_parts_without_an_id_that_were_ticked_and_then_nothing(scene: Scene) -> None:
    write(scene, TRACK, parts(" ", " "), 14)
    write(scene, TRACK, parts("x", " "), 12)
    touch(scene)
    assert findings(scene) == {"H.1.1": {"stale_in_progress", "partially_completed"}}
    assert counts(scene)["never_started"] == 1
    [told] = [each for each in scene.told("H.1.1", "git:list") if each["what"] == "ticked a part"]
    assert told["kind"] == "worked"


def test_all_parts_ticked_and_not_the_task(scene: Scene) -> None:
    write(scene, TRACK, parts(" ", " "), 14)
    write(scene, TRACK, parts("x", "x"), 12)
    touch(scene)
    assert "done_unmarked" in findings(scene)["H.1.1"]


def test_who_ticks_part_after_part_is_at_work(scene: Scene) -> None:
    write(scene, TRACK, parts(" ", " ", " "), 14)
    write(scene, TRACK, parts("x", " ", " "), 12)
    write(scene, TRACK, parts("x", "x", " "), 1)
    touch(scene)
    assert "stale_in_progress" not in findings(scene).get("H.1.1", set())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(parts("x", " "), parts("x", " ", " "), id="a new part"),
        pytest.param(parts("x", "x"), parts("x", " "), id="a part is open again"),
        pytest.param(parts("x", " "), parts("x", " ").replace("part 1", "other"), id="words"),
        pytest.param(parts("x", " "), parts("x", " ").replace("# T", "# A t"), id="elsewhere"),
        pytest.param(parts("x", " ", "x"), parts("x", " ", "x", "x"), id="a part that is done"),
        pytest.param(
            parts(" ", " ") + "- [x] done\n",
            parts(" ", " ").replace("- [ ] H.1.2", "  - [x] done\n- [ ] H.1.2"),
            id="moved below it",
        ),
    ],
)
def test_other_changes_of_parts_are_no_work(scene: Scene, before: str, after: str) -> None:
    write(scene, TRACK, before, 14)
    write(scene, TRACK, after, 12)
    touch(scene)
    assert findings(scene) == {}
    assert counts(scene)["never_started"] == 1, "the other has a part that is done"


def test_a_part_that_is_ticked_while_its_list_is_renamed_is_work(scene: Scene) -> None:
    write(scene, TRACK, parts(" ", " "), 14)
    (scene.repo / TRACK).unlink()
    write(scene, "plans/TRACK-H-NEW.md", parts("x", " "), 12)
    touch(scene)
    assert "partially_completed" in findings(scene)["H.1.1"]


def test_criteria_of_a_task_with_a_file_of_its_own_are_parts(scene: Scene) -> None:
    head = "---\nid: task-7\ntitle: Seven\nstatus: To Do\n---\n\n## Acceptance Criteria\n"
    write(scene, BACKLOG, f"{head}- [ ] #1 One\n- [ ] #2 Two\n", 14)
    write(scene, BACKLOG, f"{head}- [x] #1 One\n- [ ] #2 Two\n", 12)
    touch(scene)
    assert "partially_completed" in findings(scene)["TASK-7"]
    (scene.repo / BACKLOG).unlink()
    write(scene, BACKLOG.replace("Seven", "7"), f"{head}- [x] #1 One\n- [x] #2 Two\n", 10)
    assert "done_unmarked" in findings(scene)["TASK-7"]


# Words as ids


def own(scene: Scene, name: str, days: float) -> None:
    task = f"id: {name}\ntitle: Do it\nagent: ''\nstatus: new\n"
    write(scene, f"work/inbox/{name}.yaml", task, days, f"plan({name}): write it down")


@pytest.mark.parametrize("name", ["frost-alarm", "T1", "T-ETA"])
def test_a_commit_that_names_a_word_shows_work(scene: Scene, name: str) -> None:
    own(scene, name, 14)
    own(scene, "other", 14)
    scene.commit(f"feat({name}): ring", "src/ring.py", at_ms=ago(10))
    touch(scene)
    assert findings(scene) == {name: {"done_unmarked"}}
    assert counts(scene)["never_started"] == 1
    assert scene.done("next", "--json", "--limit", "5").json["tasks"][0]["id"] == "other"


@pytest.mark.parametrize(
    ("name", "subject"),
    [("2", "Fix 2 bugs"), ("v2", "Move to v2"), ("e2e", "Speed up e2e runs"), ("test", "test: it")],
)
def test_what_any_sentence_may_have_is_no_id(scene: Scene, name: str, subject: str) -> None:
    own(scene, name, 14)
    scene.commit(subject, "src/ring.py", at_ms=ago(10))
    touch(scene)
    assert findings(scene) == {}
    scene.commit(f"feat({name}): this one", "src/ring.py", at_ms=ago(9))
    assert findings(scene) == {name: {"done_unmarked"}}


@pytest.mark.parametrize(
    ("path", "task", "subject"),
    [
        (".kiro/specs/login/tasks.md", "- [ ] 1. One\n", "feat(login.1): x"),
        ("openspec/changes/add-y/tasks.md", "- [ ] 1.1 One\n", "add-y.1.1: x"),
        ("specs/001-x/tasks.md", "- [ ] T001 One\n", "feat(001-x.T001): x"),
        ("specs/001-x/tasks.md", "- [ ] T001 One\n", "T001: x"),
    ],
)
def test_ids_that_are_made_of_a_name_and_a_number(
    scene: Scene, path: str, task: str, subject: str
) -> None:
    write(scene, path, task, 14)
    scene.commit(subject, "src/ring.py", at_ms=ago(10))
    touch(scene)
    [found] = findings(scene).values()
    assert found == {"done_unmarked"}


@pytest.mark.parametrize(
    "subject", ["Write about the frost-alarm", "feat(frost): ring", "feat(frost-alarm-2): ring"]
)
def test_a_word_that_is_no_label_names_no_task(scene: Scene, subject: str) -> None:
    own(scene, "frost-alarm", 14)
    scene.commit(subject, "src/ring.py", at_ms=ago(10))
    touch(scene)
    assert findings(scene) == {}
    assert counts(scene)["never_started"] == 1


def test_to_write_a_task_down_in_its_name_begins_nothing(scene: Scene) -> None:
    own(scene, "frost-alarm", 10)
    touch(scene)
    assert findings(scene) == {}
