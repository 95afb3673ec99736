"""What a checkout stands on, read without starting git, and compared with what git itself says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tether import workspace

Git = Callable[..., str]


def head(path: Path) -> workspace.Head:
    return workspace.head(workspace.find(str(path)))


def as_git_says(path: Path, git: Git) -> workspace.Head:
    """The same by git, for a branch that has a commit."""
    return workspace.Head(
        git("symbolic-ref", "--short", "HEAD", cwd=path), git("rev-parse", "HEAD", cwd=path)
    )


def test_on_a_branch(repo: Path, git: Git) -> None:
    assert head(repo) == as_git_says(repo, git)
    assert head(repo).branch == "main"


def test_on_a_branch_with_slashes_seen_from_below(repo: Path, git: Git) -> None:
    git("checkout", "-qb", "feature/one/two", cwd=repo)
    below = repo / "below"
    below.mkdir()
    assert head(below) == as_git_says(repo, git)


def test_detached(repo: Path, git: Git) -> None:
    git("checkout", "-q", "--detach", cwd=repo)
    assert head(repo) == workspace.Head(None, git("rev-parse", "HEAD", cwd=repo))


def test_a_branch_without_a_commit(tmp_path: Path, git: Git) -> None:
    git("init", "-q", "-b", "unborn", cwd=tmp_path)
    assert head(tmp_path) == workspace.Head("unborn", None)


def test_packed_refs(repo: Path, git: Git) -> None:
    for other in ("a-main", "main-b", "x/main"):
        git("branch", other, cwd=repo)
    git("pack-refs", "--all", cwd=repo)
    assert not (repo / ".git" / "refs" / "heads" / "main").exists()
    assert head(repo) == as_git_says(repo, git)


def test_a_commit_after_packing_is_the_newer_one(repo: Path, git: Git) -> None:
    git("pack-refs", "--all", cwd=repo)
    git("commit", "-q", "--allow-empty", "-m", "Go on", cwd=repo)
    assert head(repo) == as_git_says(repo, git)


def test_a_name_that_only_ends_alike_is_not_taken(repo: Path, git: Git) -> None:
    git("branch", "x/main", cwd=repo)
    git("pack-refs", "--all", cwd=repo)
    git("symbolic-ref", "HEAD", "refs/heads/ain", cwd=repo)
    assert head(repo) == workspace.Head("ain", None)


def test_a_linked_worktree_stands_on_its_own(repo: Path, git: Git) -> None:
    linked = repo.parent / "linked"
    git("worktree", "add", "-q", "-b", "side", str(linked), cwd=repo)
    git("commit", "-q", "--allow-empty", "-m", "Aside", cwd=linked)
    assert head(linked) == as_git_says(linked, git)
    assert (head(linked).branch, head(repo).branch) == ("side", "main")
    git("pack-refs", "--all", cwd=linked)
    assert head(linked) == as_git_says(linked, git)


def test_a_bare_repository(tmp_path: Path, repo: Path, git: Git) -> None:
    git("clone", "-q", "--bare", str(repo), "bare.git", cwd=tmp_path)
    assert head(tmp_path / "bare.git") == head(repo)


def test_ids_of_64_digits(tmp_path: Path, git: Git) -> None:
    git("init", "-q", "-b", "main", "--object-format=sha256", cwd=tmp_path)
    git("commit", "-q", "--allow-empty", "-m", "Begin", cwd=tmp_path)
    assert head(tmp_path) == as_git_says(tmp_path, git)
    assert len(head(tmp_path).commit or "") == 64
    git("pack-refs", "--all", cwd=tmp_path)
    assert head(tmp_path) == as_git_says(tmp_path, git)


def test_refs_in_tables_are_not_read(tmp_path: Path, git: Git) -> None:
    version = git("version", cwd=tmp_path).split()[2]
    if tuple(map(int, version.split(".")[:2])) < (2, 45):
        pytest.skip("needs a git with reftable (2.45)")
    git("init", "-q", "-b", "main", "--ref-format=reftable", cwd=tmp_path)
    git("commit", "-q", "--allow-empty", "-m", "Begin", cwd=tmp_path)
    assert head(tmp_path) == workspace.Head(None, None)


@pytest.mark.parametrize(
    "content",
    [
        "ref: refs/heads/.invalid\n",  # what git leaves there when refs are in tables
        "ref: refs/remotes/origin/main\n",
        "ref: refs/heads/../../secret\n",
    ],
)
def test_what_is_no_branch_here_is_not_followed(repo: Path, content: str) -> None:
    (repo / ".git" / "secret").write_text("0" * 40 + "\n")
    (repo / ".git" / "HEAD").write_text(content)
    assert head(repo) == workspace.Head(None, None)


def test_a_damaged_ref_is_no_commit(repo: Path) -> None:
    (repo / ".git" / "refs" / "heads" / "main").write_text("nonsense\n")
    (repo / ".git" / "packed-refs").write_text("nonsense refs/heads/main\n")
    assert head(repo) == workspace.Head("main", None)
