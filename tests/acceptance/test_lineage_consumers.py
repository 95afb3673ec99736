"""Who uses lineage without asking for it: new tasks, and the search for what was dropped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Tether
from tether.tasks import document

GitCall = Callable[..., str]
WORDS = ("alpha", "beta", "gamma", "delta")


class Scene:
    """A repository whose alarm and sensor were always changed together."""

    def __init__(self, path: Path, git: GitCall, tether: Tether) -> None:
        self.path, self._git, self._tether = path, git, tether

    def git(self, *words: str) -> str:
        return self._git(*words, cwd=self.path)

    def do(self, *words: str) -> Any:
        ended = self._tether(*words, "--json", cwd=self.path)
        assert ended.code == 0, ended.out + ended.err
        return ended.json

    def write(self, name: str, content: str) -> None:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)

    def commit(self, message: str, **files: str) -> None:
        for name, content in files.items():
            self.write(f"src/{name}.py", content)
        self.git("add", "-A")
        self.git("commit", "-qm", message)

    def fields(self, task: str) -> dict[str, Any]:
        return document.read((self.path / f"work/inbox/{task}.yaml").read_bytes()).fields


@pytest.fixture
def scene(repo: Path, git: GitCall, tether: Tether) -> Scene:
    made = Scene(repo, git, tether)
    made.do("init", "--yes")
    for number, word in enumerate(WORDS):
        made.commit(
            f"[T2026010{number + 1}-aaaaa{number}] Ring {word}",
            alarm=f"def ring():\n    return {word!r}\n",
            sensor=f"def sense():\n    return {word!r}, 1\n",
        )
    made.commit("Add a page", page="def show():\n    return 'page'\n")
    return made


# Writing a task down


def test_a_new_task_is_told_what_was_changed_together_with_its_files(scene: Scene) -> None:
    scene.do("lineage", "rebuild")
    made = scene.do("task", "new", "Ring louder", "--id", "louder", "--context", "src/alarm.py")
    notes = " ".join(made["notes"])
    assert "src/sensor.py" in notes
    assert "T20260104-aaaaa3" in notes
    assert "src/page.py" not in notes


def test_what_was_suggested_is_recorded_with_the_task(scene: Scene) -> None:
    scene.do("lineage", "rebuild")
    scene.do("task", "new", "Ring louder", "--id", "louder", "--context", "src/alarm.py")
    seed = scene.fields("louder")["lineage_seed"]
    assert seed["from"] == ["src/alarm.py"]
    assert seed["context_files"] == ["src/sensor.py"]
    assert seed["commit"] == scene.git("rev-parse", "HEAD")
    assert scene.do("validate")["ok"]


def test_without_an_index_or_files_nothing_is_suggested(scene: Scene) -> None:
    made = scene.do("task", "new", "Ring louder", "--id", "one", "--context", "src/alarm.py")
    assert made["notes"] == []
    scene.do("lineage", "rebuild")
    scene.do("task", "new", "Ring louder", "--id", "two")
    assert "lineage_seed" not in {**scene.fields("one"), **scene.fields("two")}


# What others have overtaken


def test_an_open_task_that_another_one_replaced_is_flagged(scene: Scene) -> None:
    scene.do("task", "new", "Ring with a bell", "--id", "T20260201-bbbbbb")
    scene.do(
        *("task", "new", "Ring with a horn", "--id", "T20260202-cccccc"),
        *("--description", "It rings with a horn. This supersedes T20260201-bbbbbb."),
    )
    assert scene.do("vacuum")["vacuum"]["flags"] == []
    scene.do("lineage", "rebuild")
    [flag] = scene.do("vacuum")["vacuum"]["flags"]
    assert (flag["key"], flag["flag"]) == ("T20260201-bbbbbb", "superseded")
    assert flag["by"] == "T20260202-cccccc"
    shown = scene._tether("vacuum", cwd=scene.path).out
    assert "T20260201-bbbbbb is superseded by T20260202-cccccc" in shown


def test_a_flag_goes_with_the_words_that_it_stood_on(scene: Scene) -> None:
    scene.do("task", "new", "Ring with a bell", "--id", "T20260201-bbbbbb")
    scene.do(
        *("task", "new", "Ring with a horn", "--id", "T20260202-cccccc"),
        *("--description", "This supersedes T20260201-bbbbbb."),
    )
    scene.do("lineage", "rebuild")
    assert scene.do("vacuum")["vacuum"]["flags"]
    scene.do("task", "edit", "T20260202-cccccc", "--description", "It rings with a horn.")
    scene.do("lineage", "rebuild")
    assert scene.do("vacuum")["vacuum"]["flags"] == []


def test_a_task_that_is_over_is_not_flagged(scene: Scene) -> None:
    scene.do("task", "new", "Ring with a bell", "--id", "T20260201-bbbbbb")
    scene.do("task", "cancel", "T20260201-bbbbbb", "--why", "no bells")
    scene.do(
        *("task", "new", "Ring with a horn", "--id", "T20260202-cccccc"),
        *("--description", "This supersedes T20260201-bbbbbb."),
    )
    scene.do("lineage", "rebuild")
    assert scene.do("vacuum")["vacuum"]["flags"] == []
