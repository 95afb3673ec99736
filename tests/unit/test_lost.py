"""Edits that Git shows nowhere: what is said of them, and above all what is not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tether import clock, workspace
from tether.evidence import model
from tether.evidence.unfinished import lost
from tether.evidence.unfinished import reading as unfinished

Git = Callable[..., str]
NOW = clock.SystemClock().now_ms()


def at(seconds: int) -> str:
    return clock.text(NOW + seconds * 1000)


def activity(
    what: str, *files: str, seconds: int = 0, text: str = "", session: str = "s1"
) -> model.Activity:
    return model.Activity(
        *("claude:transcript", "file:t", f"r{seconds}", at(seconds), model.WORKED, what),
        *("H.1.1", "track", session, text, files),
    )


def edit(path: str = "house.py", root: str = "/repo", seconds: int = 0) -> lost.Edit:
    return lost.Edit(root, path, at(seconds))


# Which edits there are


def test_the_last_edit_of_each_file_counts() -> None:
    activities = [
        activity("edited", "/repo/a.py", seconds=1),
        activity("edited", "/repo/b.py", seconds=2),
        activity("edited", "/repo/a.py", seconds=3),
        activity("committed", "c.py", seconds=4),
    ]
    found = lost.edits(activities, {}, ["/repo"])
    assert found == [edit("a.py", seconds=3), edit("b.py", seconds=2)]


def test_paths_are_taken_from_where_the_session_was() -> None:
    activities = [activity("edited", "../a.py", "/repo/b/../c.py", "/else/d.py")]
    found = lost.edits(activities, {"s1": "/repo/deep"}, ["/repo"])
    assert {each.path for each in found} == {"a.py", "c.py"}
    assert lost.edits([activity("edited", "a.py")], {}, ["/repo"]) == [], "nobody knows from where"


def test_the_innermost_checkout_has_the_file() -> None:
    activities = [activity("edited", "/repo/trees/gone/a.py")]
    found = lost.edits(activities, {}, ["/repo", "/repo/trees/gone"])
    assert found == [edit("a.py", "/repo/trees/gone")]


def test_only_so_many_files_are_asked_for() -> None:
    activities = [activity("edited", f"/repo/{n}.py", seconds=n) for n in range(80)]
    found = lost.edits(activities, {}, ["/repo"])
    assert (len(found), found[0].path) == (lost.MAX_FILES, "79.py")


@pytest.mark.parametrize(
    ("failure", "is_made"),
    [
        (activity("failed", text="<tool_use_error>String to replace not found", seconds=1), False),
        (activity("failed", text="Exit code 2 2 tests failed", seconds=1), True),
        (activity("failed", text="File does not exist", seconds=600), True),
        (activity("failed", text="File does not exist", seconds=1, session="s2"), True),
        (activity("said", seconds=1), True),
    ],
)
def test_an_edit_that_was_refused_is_none(failure: model.Activity, is_made: bool) -> None:
    edits = [activity("edited", "/repo/a.py"), activity("edited", "/repo/b.py")]
    assert lost.made([*edits, failure]) == (edits if is_made else [])


# What is decided


@pytest.mark.parametrize(
    ("touched_seconds", "is_lost"), [(None, True), (-60, True), (-5, False), (0, False), (9, False)]
)
def test_an_edit_is_lost_unless_a_commit_has_its_file_since(
    touched_seconds: int | None, is_lost: bool
) -> None:
    touched = {} if touched_seconds is None else {"house.py": NOW + touched_seconds * 1000}
    assert lost.decide([edit()], touched) == ([edit()] if is_lost else [])


# What Git says


def left(where: Path) -> unfinished.Unfinished:
    stay = unfinished.Stay(str(where), "main", "", "")
    wanted = unfinished.Wanted(lambda _: False, stays=(stay,))
    return unfinished.read(workspace.find(str(where)), wanted)


def told(repo: Path, *edits: lost.Edit, where: Path | None = None) -> list[tuple[str, bool]]:
    found = left(where or repo)
    rest = lost.candidates(edits, found, lambda path: path.startswith("work/"))
    return [(each.path, each.is_there) for each in lost.read(str(repo), rest, found)]


@pytest.fixture
def house(repo: Path, git: Git, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a file that was committed a day ago."""
    (repo / "house.py").write_text("walls = 4\n")
    git("add", "-A", cwd=repo)
    monkeypatch.setitem(environ, "GIT_COMMITTER_DATE", f"@{NOW // 1000 - 86400} +0000")
    git("commit", "-qm", "Build", cwd=repo)
    monkeypatch.delitem(environ, "GIT_COMMITTER_DATE")
    return repo


def commit(git: Git, where: Path, *words: str) -> None:
    with (where / "house.py").open("a") as file:
        file.write("roof = 1\n")
    git("add", "-A", cwd=where)
    git("commit", "-qm", "Roof", *words, cwd=where)


def test_an_edit_that_is_nowhere_is_lost(house: Path) -> None:
    assert told(house, edit(root=str(house))) == [("house.py", True)]


def test_an_edit_that_is_uncommitted_is_not_lost(house: Path, git: Git) -> None:
    (house / "house.py").write_text("walls = 5\n")
    assert told(house, edit(root=str(house))) == []
    git("add", "house.py", cwd=house)
    assert told(house, edit(root=str(house))) == []
    (house / "house.py").unlink()
    assert told(house, edit(root=str(house))) == []


def test_an_edit_that_is_committed_is_not_lost(house: Path, git: Git) -> None:
    commit(git, house)
    assert told(house, edit(root=str(house))) == []
    git("revert", "--no-edit", "HEAD", cwd=house)
    assert told(house, edit(root=str(house))) == []
    later = edit(root=str(house), seconds=3600)
    assert told(house, later) == [("house.py", True)], "the control"


def test_a_commit_on_any_branch_or_in_any_checkout_counts(house: Path, git: Git) -> None:
    side = house.parent / "side"
    git("worktree", "add", "-q", "--detach", str(side), cwd=house)
    commit(git, side)
    assert told(house, edit(root=str(house))) == []
    git("reset", "-q", "--hard", "main", cwd=side)
    assert told(house, edit(root=str(house))) == [("house.py", True)]
    git("checkout", "-q", "-b", "other", cwd=house)
    commit(git, house)
    git("checkout", "-q", "main", cwd=house)
    assert told(house, edit(root=str(house))) == []
    git("branch", "-q", "-D", "other", cwd=house)
    assert told(house, edit(root=str(house))) == [("house.py", True)], "the branch is gone"


@pytest.mark.parametrize("is_staged", [True, False])
def test_what_is_stashed_is_not_lost(house: Path, git: Git, is_staged: bool) -> None:
    (house / "house.py").write_text("walls = 5\n")
    (house / "new.py").write_text("")
    if is_staged:
        git("add", "-A", cwd=house)
    git("stash", "-qu", cwd=house)
    edits = (edit(root=str(house)), edit("new.py", str(house)))
    assert told(house, *edits) == []
    git("stash", "drop", "-q", cwd=house)
    assert told(house, *edits) == [("house.py", True), ("new.py", False)]


def test_what_a_merge_settles_is_not_lost(house: Path, git: Git) -> None:
    git("checkout", "-q", "-b", "side", cwd=house)
    (house / "house.py").write_text("walls = 6\n")
    git("commit", "-qam", "Six", cwd=house)
    git("checkout", "-q", "main", cwd=house)
    (house / "house.py").write_text("walls = 8\n")
    git("commit", "-qam", "Eight", cwd=house)
    git("merge", "-q", "-s", "ours", "--no-commit", "side", cwd=house)
    (house / "house.py").write_text("walls = 7\n")
    git("commit", "-qam", "Merge", cwd=house)
    assert told(house, edit(root=str(house))) == []


def test_an_ignored_file_is_not_lost(house: Path) -> None:
    (house / ".gitignore").write_text("*.log\nbuild/\n")
    (house / "build").mkdir()
    edits = (edit("run.log", str(house)), edit("build/out.py", str(house)))
    assert told(house, *edits) == []


def test_bookkeeping_is_not_lost(house: Path) -> None:
    (house / "work").mkdir()
    assert told(house, edit("work/T-1.yaml", str(house))) == []


def test_below_a_directory_that_is_gone_nobody_knows(house: Path) -> None:
    assert told(house, edit("trees/gone/house.py", str(house))) == []


def test_a_file_of_a_checkout_that_is_gone_is_lost_unless_committed(house: Path, git: Git) -> None:
    side = house.parent / "side"
    git("worktree", "add", "-q", "-b", "side", str(side), cwd=house)
    shutil.rmtree(side)
    assert told(house, edit(root=str(side))) == [("house.py", False)]
    commit(git, house)
    assert told(house, edit(root=str(side))) == []


def test_a_checkout_that_was_not_looked_into_says_nothing(house: Path, git: Git) -> None:
    side = house.parent / "side"
    git("worktree", "add", "-q", "-b", "side", str(side), cwd=house)
    assert told(house, edit(root=str(side))) == []
    assert told(house, edit(root=str(side)), where=side) == [("house.py", True)]


def test_a_repository_that_cannot_be_asked_says_nothing(house: Path) -> None:
    found = left(house)
    shutil.rmtree(house / ".git" / "objects")
    assert lost.read(str(house), [edit(root=str(house))], found) == []
    assert lost.read(str(house), [], found) == []


def test_asking_runs_nothing_of_the_repository(house: Path, git: Git, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    (house / ".gitattributes").write_text("* filter=evil diff=evil\n")
    for setting in ("filter.evil.clean", "filter.evil.process", "diff.evil.command",
                    "diff.evil.textconv", "core.fsmonitor"):  # fmt: skip
        git("config", setting, f"touch {canary}; cat", cwd=house)
    assert told(house, edit(root=str(house))) == [("house.py", True)]
    assert not canary.exists()
