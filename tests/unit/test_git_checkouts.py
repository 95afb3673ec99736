"""Checkouts that are made, brought to their end, and moved on, with nothing lost."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tether import errors, git
from tether.git import checkouts, merging

MAIN = "refs/heads/main"
SIDE = "refs/heads/side"
ANNA = git.Identity("Anna", "anna@example.org")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user with no configuration, and no patience."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(checkouts, "_PATIENCE_SECONDS", 0.0)


@pytest.fixture
def repo(tmp_path: Path) -> git.Git:
    """A repository whose main branch is not checked out, and another branch at its tip."""
    repo = git.init(tmp_path / "repo")
    oid = commit(repo, MAIN, {"file": b"one\n", "deep/file": b"two\n", ".gitignore": b"ignored\n"})
    merging.create_branch(repo, SIDE, oid, ANNA)
    return repo


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return tmp_path / "the re"


def commit(repo: git.Git, ref: str, edits: dict[str, bytes | None]) -> git.Oid:
    return repo.commit_paths(ref, edits, "change", ANNA).oid


def plain(directory: Path, *words: str) -> str:
    """Git as a user would run it."""
    done = subprocess.run(["git", *words], cwd=directory, check=True, capture_output=True)
    return done.stdout.decode().strip()


def git_dir(there: Path) -> Path:
    return Path(plain(there, "rev-parse", "--absolute-git-dir"))


def made(repo: git.Git, there: Path) -> git.Git:
    assert checkouts.add_worktree(repo, str(there), SIDE) == (True, (), "")
    return git.Git(there)


def assert_whole(there: Path) -> None:
    assert plain(there, "status", "--porcelain") == ""
    assert plain(there, "symbolic-ref", "HEAD") == SIDE
    assert (there / "deep/file").read_bytes() == b"two\n"


# Making


def test_a_checkout_has_the_branch_and_its_files(repo: git.Git, there: Path) -> None:
    made(repo, there)
    assert_whole(there)
    assert checkouts.find(repo, SIDE) == str(there)
    assert checkouts.find(repo, "refs/heads/none") is None
    assert sorted(path.name for path in git_dir(there).iterdir()) == [
        *("HEAD", "commondir", "gitdir", "index", "logs")
    ]


def test_a_second_call_finds_it_done(repo: git.Git, there: Path) -> None:
    made(repo, there)
    (there / "file").write_text("changed\n")
    assert checkouts.add_worktree(repo, str(there), SIDE) == (False, (), "")
    assert (there / "file").read_text() == "changed\n"


def test_files_that_are_no_checkout_are_left_alone(repo: git.Git, there: Path) -> None:
    there.mkdir()
    (there / "file").write_text("mine\n")
    with pytest.raises(errors.AlreadyThere):
        checkouts.add_worktree(repo, str(there), SIDE)
    assert os.listdir(there) == ["file"]
    assert len(repo.worktrees()) == 1


def test_a_branch_that_is_not_there_is_not_found(repo: git.Git, there: Path) -> None:
    with pytest.raises(errors.GitError):
        checkouts.add_worktree(repo, str(there), "refs/heads/none")


def test_a_checkout_that_stands_on_something_else_says_so(repo: git.Git, there: Path) -> None:
    made(repo, there)
    plain(there, "switch", "-q", "-c", "other")
    assert checkouts.add_worktree(repo, str(there), SIDE).stands_on == "refs/heads/other"
    plain(there, "switch", "-q", "--detach")
    assert checkouts.add_worktree(repo, str(there), SIDE).stands_on == repo.tip(SIDE)


def test_another_repository_in_its_place_is_left_alone(repo: git.Git, there: Path) -> None:
    made(repo, there)
    (there / ".git").unlink()
    git.init(there)
    with pytest.raises(errors.GitError, match="Another repository"):
        checkouts.add_worktree(repo, str(there), SIDE)


def test_a_branch_whose_directory_is_gone_can_be_checked_out_elsewhere(
    repo: git.Git, there: Path, tmp_path: Path
) -> None:
    made(repo, tmp_path / "gone")
    shutil.rmtree(tmp_path / "gone")
    assert checkouts.find(repo, SIDE) is None
    made(repo, there)
    assert_whole(there)
    assert checkouts.find(repo, SIDE) == str(there)


def test_a_locked_checkout_that_is_away_keeps_its_branch(
    repo: git.Git, there: Path, tmp_path: Path
) -> None:
    made(repo, tmp_path / "away")
    plain(repo.directory, "worktree", "lock", str(tmp_path / "away"))
    (tmp_path / "away").rename(tmp_path / "unplugged")
    with pytest.raises(errors.GitError):
        checkouts.add_worktree(repo, str(there), SIDE)
    assert not there.exists()


def test_files_that_a_sparse_checkout_leaves_out_are_left_out(repo: git.Git, there: Path) -> None:
    plain(repo.directory, "read-tree", "-m", "-u", "HEAD")
    plain(repo.directory, "sparse-checkout", "set", "nothing")
    made(repo, there)
    assert sorted(os.listdir(there)) == [".git", ".gitignore", "file"]
    assert plain(there, "status", "--porcelain") == ""


def test_a_submodule_is_an_empty_directory(repo: git.Git, there: Path) -> None:
    tip = repo.tip(SIDE)
    assert tip is not None
    plain(repo.directory, "update-index", "--add", "--cacheinfo", f"160000,{tip},sub")
    tree = git.Oid(plain(repo.directory, "write-tree"))
    new = merging.commit_tree(repo, tree, [tip], "submodule", ANNA)
    merging.move_branch(repo, SIDE, new, tip, ANNA)
    made(repo, there)
    assert os.listdir(there / "sub") == []


# Going on after a kill


def test_a_checkout_without_an_index_is_finished(repo: git.Git, there: Path) -> None:
    plain(repo.directory, "worktree", "add", "-q", "--no-checkout", str(there), "side")
    (there / "deep").mkdir()
    (there / "deep/file").write_text("two\n")
    (there / "unknown").write_text("mine\n")
    assert checkouts.find(repo, SIDE) == str(there)
    assert checkouts.add_worktree(repo, str(there), SIDE) == (True, (), "")
    (there / "unknown").unlink()
    assert_whole(there)


def test_nothing_in_the_way_is_overwritten(repo: git.Git, there: Path) -> None:
    plain(repo.directory, "worktree", "add", "-q", "--no-checkout", str(there), "side")
    (there / "file").write_text("mine\n")
    (there / "deep").write_text("mine\n")
    placed = checkouts.add_worktree(repo, str(there), SIDE)
    assert placed == (False, ("deep/file", "file"), "")
    assert (there / "file").read_text() == (there / "deep").read_text() == "mine\n"
    for name in ("file", "deep"):
        (there / name).unlink()
    made(repo, there)
    assert_whole(there)


def test_a_checkout_without_a_head_gets_one(repo: git.Git, there: Path) -> None:
    plain(repo.directory, "worktree", "add", "-q", "--no-checkout", str(there), "side")
    (git_dir(there) / "HEAD").write_text("0" * 40 + "\n")
    made(repo, there)
    assert_whole(there)


def test_a_removed_directory_comes_back_with_what_was_staged(repo: git.Git, there: Path) -> None:
    made(repo, there)
    (there / "staged").write_text("staged\n")
    plain(there, "add", "staged")
    shutil.rmtree(there)
    assert checkouts.add_worktree(repo, str(there), SIDE) == (False, (), "")
    assert plain(there, "status", "--porcelain") == "A  staged"
    assert (there / "staged").read_text() == "staged\n"


def test_a_removed_pointer_comes_back_and_changes_stay(repo: git.Git, there: Path) -> None:
    made(repo, there)
    (there / "file").write_text("changed\n")
    (there / ".git").unlink()
    checkouts.add_worktree(repo, str(there), SIDE)
    assert plain(there, "status", "--porcelain") == "M file"
    assert (there / "file").read_text() == "changed\n"


# Moving on


def test_a_clean_checkout_is_moved_on_twice_as_well_as_once(repo: git.Git, there: Path) -> None:
    place = made(repo, there)
    old, new = place.resolve("HEAD"), commit(repo, MAIN, {"file": b"new\n", "deep/file": None})
    for _ in range(2):
        assert checkouts.advance_worktree(place, old, new) == ()
        assert (there / "file").read_bytes() == b"new\n"
        assert not (there / "deep").exists()
    merging.move_branch(repo, SIDE, new, old, ANNA)
    assert plain(there, "status", "--porcelain") == ""
    assert checkouts.advance_worktree(place, old, new) == ()


def test_a_file_that_is_not_in_the_way_stays(repo: git.Git, there: Path) -> None:
    place = made(repo, there)
    (there / "unknown").write_text("mine\n")
    (there / "ignored").write_text("mine\n")
    old, new = place.resolve("HEAD"), commit(repo, MAIN, {"file": b"new\n"})
    assert checkouts.advance_worktree(place, old, new) == ()
    assert (there / "unknown").read_text() == (there / "ignored").read_text() == "mine\n"


@pytest.mark.parametrize("change", ["changed", "deleted", "staged", "untracked", "ignored", "above",
                                    "below", "unmerged"])  # fmt: skip
def test_what_would_be_lost_is_told_and_stays(repo: git.Git, there: Path, change: str) -> None:
    place = made(repo, there)
    edits: dict[str, bytes | None] = {"file": b"new\n"}
    expected = "file"
    if change == "deleted":
        (there / "file").unlink()
    elif change == "unmerged":
        stages = "".join(f"100644 {'a' * 40} {n}\tfile\n" for n in (1, 2, 3))
        feed = ["git", "update-index", "--index-info"]
        subprocess.run(feed, cwd=there, input=stages.encode(), check=True)
    elif change in ("changed", "staged"):
        (there / "file").write_text("mine\n")
        plain(there, *(["add", "file"] if change == "staged" else ["status"]))
    elif change == "above":
        (there / "above").write_text("mine\n")
        edits, expected = {"above/new": b"new\n"}, "above"
    elif change == "below":
        (there / "below").mkdir()
        (there / "below/ignored").write_text("mine\n")
        edits, expected = {"below": b"new\n"}, "below/ignored"
    else:
        (there / change).write_text("mine\n")
        edits, expected = {change: b"new\n"}, change
    before = {p: p.read_bytes() for p in there.rglob("*") if p.is_file()}
    old, new = place.resolve("HEAD"), commit(repo, MAIN, edits)
    assert checkouts.advance_worktree(place, old, new) == (expected,)
    assert {p: p.read_bytes() for p in there.rglob("*") if p.is_file()} == before


def test_an_index_that_somebody_writes_is_an_error_and_nothing_moves(
    repo: git.Git, there: Path
) -> None:
    place = made(repo, there)
    old, new = place.resolve("HEAD"), commit(repo, MAIN, {"file": b"new\n"})
    lock = git_dir(there) / "index.lock"
    lock.touch()
    with pytest.raises(errors.GitError, match=r"index\.lock"):
        checkouts.advance_worktree(place, old, new)
    assert (there / "file").read_bytes() == b"one\n"
    lock.unlink()
    assert checkouts.advance_worktree(place, old, new) == ()
