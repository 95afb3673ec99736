"""What measures lineage: what it asks about, makes up and kills, and that a lost event is seen."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests import chronicles
from tether import index
from tether.bench import processes
from tether.bench.lineage import (
    asking,
    counts,
    crowd,
    killing,
    samples,
    scene,
    steps,
)
from tether.cli import bench_lineage
from tether.git import Git
from tether.lineage.edges import ledger

CODE = """\
def ring(times):
    return times + 7


def show(name):
    return f"{name}_8 0.5"


class Bell:
    def ring(self):
        return 3


class Bell:
    def ring(self):
        return 4
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small history; half of its commits name a task."""
    place = tmp_path_factory.mktemp("source").resolve()
    with contextlib.closing(chronicles.World(place)) as world:
        world.write("README.md", "# Read\n\nIt rings.\n")
        world.write("caf\n.py", "def odd():\n    return 1\n")
        world.change("T-1: begin", bell=CODE)
        world.change("Ring more", bell=CODE.replace("times + 7", "times + 9"))
    return world.repo


@pytest.fixture(scope="module")
def here(source: Path, tmp_path_factory: pytest.TempPathFactory) -> scene.Scene:
    """A copy of it that has an index."""
    made = scene.make(str(tmp_path_factory.mktemp("scene")), str(source), ("T-#",))
    for name in ("identities", "edges"):
        steps.run(made.ground, name, made.store_dir)
    return made


@pytest.fixture
def store_dir(here: scene.Scene, tmp_path: Path) -> str:
    """An index of one's own."""
    shutil.copy(os.path.join(here.store_dir, index.FILE_NAME), tmp_path)
    return str(tmp_path)


def change(store_dir: str, statement: str) -> int:
    with contextlib.closing(sqlite3.connect(os.path.join(store_dir, index.FILE_NAME))) as known:
        count = known.execute(statement).rowcount
        known.commit()
    return count


# Samples


def test_what_is_asked_about_can_be_drawn_again(here: scene.Scene) -> None:
    first = samples.draw(here.place, here.store_dir, 99, 99, 1)
    assert first == samples.draw(here.place, here.store_dir, 99, 99, 1)
    assert set(first.files) == {".gitignore", "README.md", "bell.py"}
    named = {each for each in first.symbols if "#" in each}
    assert named == {"bell.py#ring", "bell.py#show"}
    assert {each for each in first.symbols if each not in named} == {
        "README.md:1", "bell.py:9", "bell.py:10", "bell.py:14", "bell.py:15",
    }  # fmt: skip
    few = samples.draw(here.place, here.store_dir, 2, 1, 1)
    assert (len(few.symbols), len(few.files)) == (2, 1)


def test_everything_that_is_asked_about_is_found(here: scene.Scene) -> None:
    sample = samples.draw(here.place, here.store_dir, 99, 99, 1)
    with scene.opened(here.place, here.ground.environ) as opened:
        asker = asking.Asker(opened)
        for each in (*sample.symbols, *sample.files):
            assert asker.why(each)
            assert asker.feature(each)
            assert asker.risk(each)
        [task] = asker.tasks()
        assert task == "task:work:T-1"
        assert asker.closure(task)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x = 7", b"x = 8"),
        (b"x = 9", b"x = 0"),
        (b"x_1 = 0.5 + v2 - 10", b"x_1 = 0.5 + v2 - 10"),
        (b"f(1, 2)", b"f(2, 2)"),
    ],
)
def test_another_number_parses_as_before(before: bytes, after: bytes) -> None:
    assert samples.changed(before, 0, len(before)) == after


def test_only_what_is_within_a_function_is_changed(here: scene.Scene) -> None:
    assert samples.changed(b"1 2 3", 2, 3) == b"1 3 3"
    [edit] = samples.edits(here.place, here.store_dir, 1)
    assert edit.path == "bell.py"
    before = CODE.replace("times + 7", "times + 9").splitlines()
    lines = edit.content.decode().splitlines()
    [(old, new)] = [pair for pair in zip(before, lines, strict=True) if pair[0] != pair[1]]
    assert "return" in old
    assert old[:-1] == new[:-1]


# A crowd


def test_an_index_is_filled_up_to_so_many_edges(store_dir: str) -> None:
    there = counts(store_dir)["counts"]
    wanted = there["task_edges"] + there["code_edges"] + 300
    assert crowd.fill(store_dir, wanted, 1) == wanted
    full = counts(store_dir)["counts"]
    assert full["task_edges"] + full["code_edges"] == wanted
    assert full["task_edges"] > there["task_edges"]
    assert full["events"] == there["events"]
    assert crowd.fill(store_dir, 5, 1) == wanted, "it has more already"


def test_a_history_without_changes_makes_no_crowd(store_dir: str) -> None:
    change(store_dir, "DELETE FROM identity_events")
    with pytest.raises(processes.Failed, match="no changes"):
        crowd.fill(store_dir, 10_000, 1)


def test_made_up_tasks_outlive_what_is_derived(store_dir: str) -> None:
    crowd.fill(store_dir, 60, 1)
    with contextlib.closing(sqlite3.connect(os.path.join(store_dir, index.FILE_NAME))) as known:
        before = known.execute("SELECT count(*) FROM task_code_edges").fetchone()
        ledger.forget_scope(known, [])
        assert known.execute("SELECT count(*) FROM task_code_edges").fetchone() == before


# A kill


def digest(here: scene.Scene, store_dir: str) -> str:
    return str(steps.STEPS["digest"](here.place, store_dir)["digest"])


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM identity_events WHERE number = (SELECT max(number) FROM identity_events)",
        "UPDATE identity_events SET kinds = 'move' WHERE number = 1",
        "UPDATE identity_events SET added = added + 1 WHERE number = 1",
        "UPDATE identity_events SET digest = 7 WHERE number = 1",
        "UPDATE identity_events SET node = node % 3 + 1",
        "UPDATE identity_commits SET oid = 'f' || substr(oid, 2) WHERE number = 2",
        "DELETE FROM identity_steps",
        "DELETE FROM identity_parents",
    ],
)
def test_the_control_what_a_kill_may_lose_is_noticed(
    here: scene.Scene, store_dir: str, statement: str
) -> None:
    before = digest(here, store_dir)
    assert change(store_dir, statement) > 0
    assert digest(here, store_dir) != before


def test_an_index_that_was_made_another_time_is_the_same(here: scene.Scene, tmp_path: Path) -> None:
    steps.run(here.ground, "identities", str(tmp_path))
    assert digest(here, str(tmp_path)) == digest(here, here.store_dir)


def test_a_killed_index_goes_on_to_the_same(here: scene.Scene, tmp_path: Path) -> None:
    whole = {"cpu_seconds": 1.0, "wall_seconds": 0.05}
    found = killing.measure(here.ground, str(tmp_path), whole, 1)
    assert found["digest"] == digest(here, here.store_dir)
    assert 0 <= found["commits_left"] <= 3


def test_who_is_always_too_late_to_kill_says_so(
    here: scene.Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(killing, "_MAX_ATTEMPTS", 1)
    with pytest.raises(processes.Failed, match="before it could be killed"):
        killing.measure(here.ground, str(tmp_path), {"wall_seconds": 600.0}, 1)


def test_an_index_that_fails_of_itself_was_not_killed(here: scene.Scene, tmp_path: Path) -> None:
    broken = here.ground._replace(place=str(tmp_path / "nowhere"))
    with pytest.raises(processes.Failed, match="exit code"):
        killing.measure(broken, str(tmp_path), {"wall_seconds": 600.0}, 1)


def test_going_on_is_held_against_what_was_left() -> None:
    whole, continued = {"cpu_seconds": 10.0}, {"cpu_seconds": 7.0, "commits": 5}
    found = killing.told(whole, 4.0, continued)
    assert found["continued_share"] == 0.7
    assert (found["spent_share"], found["of_what_was_left"]) == (0.4, round(7 / 6, 3))
    assert (found["more_than_without"], found["commits_left"]) == (0.1, 5)
    unknown = killing.told(whole, None, continued)
    assert (unknown["spent_share"], unknown["more_than_without"]) == (None, None)


@pytest.mark.parametrize(("is_same", "words"), [(True, "to the same,"), (False, "NOT the same")])
def test_people_are_told_that_something_was_lost(is_same: bool, words: str) -> None:
    kill = {"after_share_of_time": 0.5, "is_same": is_same, "more_than_without": 0.1}
    assert words in bench_lineage._killed(kill)


# The scene


def test_the_repository_itself_is_only_read(source: Path, here: scene.Scene) -> None:
    assert Git(str(source)).resolve("HEAD") == here.tip
    assert not (source / "tether.toml").exists()
    assert (Path(here.place) / "bell.py").read_text() == (source / "bell.py").read_text()
    assert here.ground.environ["HOME"] != os.environ.get("HOME")


@pytest.mark.parametrize(
    ("path", "name"),
    [("x/owner+na+me/repo", "owner/na+me"), ("x/y/repo", "repo"), ("a+b/work/.git", "work")],
)
def test_figures_name_no_directory_of_a_machine(tmp_path: Path, path: str, name: str) -> None:
    assert scene.name_of(str(tmp_path / path)) == name


def test_a_step_that_fails_is_told_in_a_line(here: scene.Scene, tmp_path: Path) -> None:
    broken = here.ground._replace(place=str(tmp_path / "nowhere"))
    with pytest.raises(processes.Failed, match=r"^parse: exit code 1") as caught:
        steps.run(broken, "parse", str(tmp_path))
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


def test_every_content_of_code_is_parsed_once(here: scene.Scene) -> None:
    git = Git(here.place)
    assert sorted(steps.contents(git, here.tip).values()) == [
        "README.md", "bell.py", "bell.py", "caf\n.py",
    ]  # fmt: skip
    found = steps.STEPS["parse"](here.place, here.store_dir)
    assert (found["contents"], found["blobs"]) == (4, 4)
