"""Merges and checkouts in a repository written by an enemy: nothing runs, nothing gets out."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.security import test_git_hostile as hostile
from tether import errors, git
from tether.coordinator import checkouts
from tether.git import checkouts as places
from tether.git import merging

MAIN = "refs/heads/main"
ANNA = git.Identity("Anna", "anna@example.org")
LINES = b"".join(b"line %d\n" % n for n in range(1, 21))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user with no configuration."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def canaries(tmp_path: Path) -> Path:
    """Where every program that the enemy gets to run leaves its name."""
    directory = tmp_path / "canaries"
    directory.mkdir()
    return directory


@pytest.fixture
def repo(tmp_path: Path, canaries: Path) -> git.Git:
    """Finished tasks `a` and `b` that changed one file, and a canary behind every setting."""
    repo = git.init(tmp_path / "hostile")
    attributes = b"* filter=evil diff=evil merge=evil\nother filter=own\n"
    first = {"file": LINES, "other": b"1\n", ".gitattributes": attributes}
    base = repo.commit_paths(MAIN, first, "one", ANNA).oid
    for task_id, edit in (("a", b"first\n" + LINES), ("b", LINES + b"last\n")):
        merging.create_branch(repo, branch(task_id), base, ANNA)
        repo.commit_paths(branch(task_id), {"file": edit}, task_id, ANNA)
    hostile.plain(repo.directory, "read-tree", "-m", "-u", "HEAD")
    hostile.plant_hooks(repo.directory / ".git/hooks", canaries)
    hostile.plant_settings(repo.directory, tmp_path, canaries)
    with (repo.directory / ".git/config").open("a") as file:
        file.write(
            "[merge]\n renormalize = true\n default = evil\n"
            '[merge "evil"]\n recursive = evil\n[filter "evil"]\n required = true\n'
            "[worktree]\n guessRemote = true\n[checkout]\n defaultRemote = origin\n"
            "[core]\n repositoryFormatVersion = 1\n splitIndex = true\n"
            "[extensions]\n worktreeConfig = true\n"
        )
    (repo.directory / ".git/config.worktree").write_text(
        f'[filter "own"]\n smudge = {hostile.canary(canaries, "own.smudge")}\n'
        f" clean = {hostile.canary(canaries, 'own.clean')}\n"
    )
    return repo


def branch(task_id: str) -> str:
    return checkouts.branch_of("run", task_id)


def prepare(repo: git.Git, task_id: str, *needs: str) -> checkouts.Checkout:
    dependencies = [(need, branch(need)) for need in needs]
    found = checkouts.prepare(
        repo, str(repo.directory), "run", task_id, repo.resolve("main"), dependencies
    )
    assert isinstance(found, checkouts.Checkout), found
    return found


# Each ability, as a sentence of what it does to a repository.
def merge_two_dependencies(repo: git.Git) -> None:
    found = prepare(repo, "c", "a", "b")
    merged = Path(found.path, "file").read_bytes()
    assert merged == b"first\n" + LINES + b"last\n"


def resume_with_a_merge(repo: git.Git) -> None:
    prepare(repo, "c", "a")
    found = prepare(repo, "c", "a", "b")
    assert Path(found.path, "file").read_bytes().endswith(b"last\n")
    assert checkouts.left_behind(git.Git(found.path)) == ()


def bring_back_a_removed_checkout(repo: git.Git) -> None:
    found = prepare(repo, "c", "a")
    shutil.rmtree(found.path)
    assert Path(prepare(repo, "c", "a").path, "other").read_bytes() == b"1\n"


def refuse_what_is_in_the_way(repo: git.Git) -> None:
    found = prepare(repo, "c", "a")
    Path(found.path, "file").write_bytes(b"mine\n")
    assert checkouts.left_behind(git.Git(found.path)) == ("file",)
    again = checkouts.prepare(
        repo, str(repo.directory), "run", "c", repo.resolve("main"), [("b", branch("b"))]
    )
    assert again == checkouts.Dirty(found.path, ("file",))


@pytest.mark.parametrize(
    "act",
    [
        merge_two_dependencies,
        resume_with_a_merge,
        bring_back_a_removed_checkout,
        refuse_what_is_in_the_way,
    ],
)
def test_nothing_that_a_repository_names_is_run(
    repo: git.Git, canaries: Path, act: Callable[[git.Git], None]
) -> None:
    act(repo)
    assert hostile.names(canaries) == set()


def test_plain_git_runs_what_the_same_repository_names(
    repo: git.Git, canaries: Path, tmp_path: Path
) -> None:
    """The control: these canaries sing when they are heard."""
    one, other = (branch(task_id).removeprefix("refs/heads/") for task_id in ("a", "b"))
    merge = ("merge-tree", "--write-tree", one, other)
    hostile.plain(repo.directory, *merge, check=False)
    assert hostile.names(canaries) == {"filter.evil.process"}
    hostile.plain(repo.directory, "-c", "merge.renormalize=false", *merge, check=False)
    assert "merge.evil.driver" in hostile.names(canaries)
    there = str(tmp_path / "there")
    hostile.plain(repo.directory, "worktree", "add", there, one, check=False)
    assert "included" in hostile.names(canaries)


def test_hooks_and_filters_of_a_checkout_are_run_by_plain_git_alone(
    tmp_path: Path, canaries: Path
) -> None:
    """With the settings of above plain Git does not get that far."""
    repo = git.init(tmp_path / "hooked")
    repo.commit_paths(MAIN, {"file": LINES}, "one", ANNA)
    hostile.plant_hooks(repo.directory / ".git/hooks", canaries)
    prepare(repo, "a")
    assert hostile.names(canaries) == set()
    hostile.plain(
        repo.directory, "config", "filter.evil.smudge", hostile.canary(canaries, "smudge")
    )
    (repo.directory / ".git/info").mkdir()
    (repo.directory / ".git/info/attributes").write_text("* filter=evil\n")
    prepare(repo, "b")
    assert hostile.names(canaries) == set()
    hostile.plain(repo.directory, "worktree", "add", str(tmp_path / "there"), "-b", "there")
    sung = {"hook-post-checkout", "hook-reference-transaction", "smudge"}
    assert hostile.names(canaries) >= sung


def test_a_link_in_the_place_of_checkouts_is_not_followed(tmp_path: Path) -> None:
    repo = git.init(tmp_path / "linked")
    repo.commit_paths(MAIN, {"file": LINES}, "one", ANNA)
    outside = tmp_path / "outside"
    for name in (
        ".tether",
        ".tether/worktrees",
        ".tether/worktrees/run",
        ".tether/worktrees/run/a",
    ):
        outside.mkdir()
        link = repo.directory / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(outside)
        with pytest.raises(errors.LinkRefused):
            prepare(repo, "a")
        link.unlink()
        assert os.listdir(outside) == []
        outside.rmdir()


def test_a_missing_object_is_not_fetched_by_a_program(tmp_path: Path, canaries: Path) -> None:
    origin = git.init(tmp_path / "origin")
    origin.commit_paths(MAIN, {"file": LINES}, "one", ANNA)
    hostile.plain(origin.directory, "config", "uploadpack.allowFilter", "true")
    url = f"file://{origin.directory}"
    clone = ("clone", "--quiet", "--no-checkout", "--filter=blob:none", url, "starved")
    hostile.plain(tmp_path, *clone)
    starved = git.Git(tmp_path / "starved")
    program = hostile.canary(canaries, "remote", then="exit 1").replace(" ", "% ")
    hostile.plain(starved.directory, "config", "remote.origin.url", f"ext::{program}")
    hostile.plain(starved.directory, "config", "protocol.ext.allow", "always")
    base = starved.resolve("main")
    for task_id, edit in (("a", b"first\n" + LINES), ("b", LINES + b"last\n")):
        merging.create_branch(starved, branch(task_id), base, ANNA)
        starved.commit_paths(branch(task_id), {"file": edit}, task_id, ANNA)
    for needs in ((), ("a", "b")):
        with pytest.raises(errors.GitError):
            prepare(starved, "c" + "".join(needs), *needs)
        assert starved.tip(branch("cab")) is None
    assert hostile.names(canaries) == set()


def test_attributes_of_a_tree_that_leads_outside_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    repo = git.init(tmp_path / "repo")
    base = repo.commit_paths(MAIN, {".gitattributes": b"x -merge\n"}, "one", ANNA).oid
    blob = repo.entries(base, [".gitattributes"])[".gitattributes"]
    assert blob is not None
    inner = b"100644 .gitattributes\0" + bytes.fromhex(blob.oid)
    tree = raw_tree(repo, b"40000 ..\0" + bytes.fromhex(raw_tree(repo, inner)))
    assert "../.gitattributes" in [entry.path for entry in repo.tree(tree)]
    ours = merging.commit_tree(repo, tree, [base], "evil", ANNA)
    theirs = repo.commit_paths(MAIN, {"new": b"1"}, "two", ANNA).oid
    with contextlib.suppress(errors.GitError):  # what Git makes of such a tree is its own affair
        merging.merge(repo, ours, theirs)
    assert os.listdir(tmp_path / "temporary") == []


def raw_tree(repo: git.Git, content: bytes) -> git.Oid:
    words = ["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"]
    done = subprocess.run(words, cwd=repo.directory, input=content, check=True, capture_output=True)
    return git.Oid(done.stdout.decode().strip())


@pytest.mark.parametrize("name", ["--force", "--detach", "-b"])
def test_a_path_is_no_option(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = git.init(tmp_path / "repo")
    oid = repo.commit_paths(MAIN, {"file": LINES}, "one", ANNA).oid
    merging.create_branch(repo, branch("a"), oid, ANNA)
    there = repo.directory / name
    monkeypatch.chdir(repo.directory)
    places.add_worktree(repo, str(there), branch("a"))
    assert (there / "file").read_bytes() == LINES
