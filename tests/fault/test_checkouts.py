"""A coordinator that is killed before any of its calls of git begins again and loses nothing."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import scale
from tether import git
from tether.coordinator import checkouts
from tether.git import checkouts as places
from tether.git import merging, process

MAIN = "refs/heads/main"
ANNA = git.Identity("Anna", "anna@example.org")
_KILLED = 9
_DRIVER = "import sys; from tests.fault import test_checkouts as t; t.drive(*sys.argv[1:])"
# A full proof kills before every call, any other one before each third.
_STRIDE = 1 if scale.SCALE >= 1 else 7
Prepared = checkouts.Checkout | checkouts.Conflict | checkouts.Dirty


def branch(task_id: str) -> str:
    return checkouts.branch_of("run", task_id)


def finished(repo: git.Git, task_id: str) -> None:
    merging.create_branch(repo, branch(task_id), repo.resolve("main"), ANNA)
    repo.commit_paths(branch(task_id), {task_id: b"done\n"}, task_id, ANNA)


def prepare(repo: git.Git, *needs: str) -> Prepared:
    dependencies = [(need, branch(need)) for need in needs]
    base = repo.resolve("main")
    return checkouts.prepare(repo, str(repo.directory), "run", "task", base, dependencies)


def begun(place: Path) -> git.Git:
    repo = git.init(place)
    repo.commit_paths(MAIN, {"base": b"base\n", "deep/base": b"base\n"}, "base", ANNA)
    for task_id in ("a", "b"):
        finished(repo, task_id)
    return repo


def resumed(place: Path) -> git.Git:
    """A worker has committed something before it stopped."""
    repo = begun(place)
    found = prepare(repo)
    assert isinstance(found, checkouts.Checkout)
    Path(found.path, "half").write_bytes(b"done\n")
    git.Git(found.path).commit_paths(found.branch, {"half": b"done\n"}, "half", ANNA)
    return repo


def removed(place: Path) -> git.Git:
    """Somebody has removed its checkout since."""
    repo = resumed(place)
    shutil.rmtree(place / ".tether")
    return repo


SCENES: dict[str, Callable[[Path], git.Git]] = {
    each.__name__: each for each in (begun, resumed, removed)
}


class Report(NamedTuple):
    """What came of one scene."""

    kills: int
    broken: list[int]
    """The calls before which a kill was not made good by another call."""


def drive(directory: str, scene: str, plant: str) -> None:
    """Prepare a task again and again, each time killed some calls later; forks, so it is alone."""
    place, template = Path(directory, "scene"), Path(directory, "template")
    SCENES[scene](place).head()
    place.rename(template)
    broken: list[int] = []
    for kills, number in enumerate(itertools.count(1, _STRIDE)):
        # In the same place: Git keeps absolute paths.
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(template, place, symlinks=True)
        if not _is_killed(git.Git(place), number, plant):
            json.dump(Report(kills, broken), sys.stdout)
            return
        if not is_whole(place, FILES[scene]):
            broken.append(number)


def _is_killed(repo: git.Git, number: int, plant: str) -> bool:
    child = os.fork()
    if child == 0:
        _die_at(number)
        if plant:
            _move_the_branch_first(repo)
        prepare(repo, "a", "b")
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == _KILLED


def _die_at(number: int) -> None:
    counter = itertools.count(1)
    real = process.run

    def run(*arguments: object) -> process.Answer:
        if next(counter) == number:
            os._exit(_KILLED)  # as from SIGKILL: nothing is cleaned up
        return real(*arguments)  # type: ignore[arg-type]

    process.run = run  # type: ignore[assignment]


def _move_the_branch_first(repo: git.Git) -> None:
    """What the comment in `_resume` warns of."""
    real = places.advance_worktree

    def late(there: git.Git, old: git.Oid, new: git.Oid) -> tuple[str, ...]:
        merging.move_branch(repo, branch("task"), new, old, ANNA)
        return real(there, old, new)

    places.advance_worktree = late  # type: ignore[assignment]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user with no configuration."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def kill(directory: Path, scene: str, *, plant: str = "") -> Report:
    words = [sys.executable, "-c", _DRIVER, str(directory), scene, plant]
    root = Path(__file__).parents[2]
    return Report(*json.loads(subprocess.run(words, check=True, cwd=root, stdout=-1).stdout))


def is_whole(place: Path, expected: set[str]) -> bool:
    """Does another call make what an undisturbed one would have made?"""
    found = prepare(git.Git(place), "a", "b")
    if not isinstance(found, checkouts.Checkout):
        return False
    tip = git.Git(place).tip(branch("task"))
    return (
        found.head == tip
        and {entry.path for entry in git.Git(place).tree(found.head)} == expected
        and {p.name for p in Path(found.path).iterdir()} - {".git", "deep"} == expected - {DEEP}
        and checkouts.left_behind(git.Git(found.path)) == ()
        and prepare(git.Git(place), "a", "b") == found._replace(is_new=False)
    )


DEEP = "deep/base"
FILES = {"begun": {"base", DEEP, "a", "b"}, "resumed": {"base", DEEP, "a", "b", "half"}}
FILES["removed"] = FILES["resumed"]


@pytest.mark.parametrize("scene", SCENES)
def test_whoever_was_killed_can_begin_again(tmp_path: Path, scene: str) -> None:
    report = kill(tmp_path, scene)
    assert report.kills > 20 // _STRIDE
    assert report.broken == []


def test_a_branch_that_moves_before_its_files_is_found(tmp_path: Path) -> None:
    """The control."""
    assert kill(tmp_path, "resumed", plant="yes").broken
