"""What is not where it should be in the end: unmerged, uncommitted, stashed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tether import git as tether_git
from tether import workspace
from tether.evidence import unfinished

Git = Callable[..., str]


def commit(git: Git, where: Path, message: str, *names: str) -> str:
    for name in names:
        (where / name).write_text(message)
    git("add", "-A", cwd=where)
    git("commit", "-q", "--allow-empty", "-m", message, cwd=where)
    return git("rev-parse", "HEAD", cwd=where)


def read(where: Path) -> unfinished.Unfinished:
    return unfinished.read(workspace.find(str(where)))


def test_where_everything_is_done_there_is_nothing(repo: Path, git: Git) -> None:
    git("branch", "merged", cwd=repo)
    commit(git, repo, "Go on")
    assert read(repo) == unfinished.Unfinished("main", (), (), ())


def test_an_unmerged_branch_is_told(repo: Path, git: Git) -> None:
    git("checkout", "-q", "-b", "feat/H.1.1", cwd=repo)
    commit(git, repo, "One", "a.py", "b.py")
    head = commit(git, repo, "Two", "b.py", "c.py")
    git("checkout", "-q", "main", cwd=repo)
    commit(git, repo, "Go on", "d.py")
    [branch] = read(repo).branches
    assert branch._replace(last_at="") == unfinished.Branch(
        "feat/H.1.1", head, 2, "", ("Two", "One"), ("b.py", "c.py", "a.py")
    )
    git("merge", "-q", "--no-edit", "feat/H.1.1", cwd=repo)
    assert read(repo).branches == ()


def test_one_branch_may_be_asked_for(repo: Path, git: Git) -> None:
    for name in ("one", "two"):
        git("checkout", "-q", "-b", name, "main", cwd=repo)
        commit(git, repo, f"On {name}")
    repository = tether_git.Git(str(repo))
    assert [each.name for each in unfinished.unmerged(repository, "main")] == ["one", "two"]
    assert [each.name for each in unfinished.unmerged(repository, "main", "two")] == ["two"]
    assert unfinished.unmerged(repository, "no-such-branch") == []


@pytest.mark.parametrize(
    ("branches", "expected"),
    [
        (("main", "master"), "main"),
        (("master", "topic"), "master"),
        (("trunk", "topic"), "trunk"),
        (("only",), "only"),
        (("one", "two"), ""),
    ],
)
def test_which_branch_is_the_main_one(
    tmp_path: Path, git: Git, branches: tuple[str, ...], expected: str
) -> None:
    git("init", "-q", "-b", branches[0], cwd=tmp_path)
    commit(git, tmp_path, "Begin")
    for name in branches[1:]:
        git("branch", name, cwd=tmp_path)
    assert unfinished.main_branch(tether_git.Git(str(tmp_path))) == expected


def test_the_remote_says_which_branch_is_the_main_one(repo: Path, git: Git) -> None:
    git("branch", "develop", cwd=repo)
    clone = repo.parent / "clone"
    git("clone", "-q", "-b", "main", str(repo), str(clone), cwd=repo)
    git("branch", "-q", "develop", "origin/develop", cwd=clone)
    git("remote", "set-head", "origin", "develop", cwd=clone)
    assert unfinished.main_branch(tether_git.Git(str(clone))) == "develop"


def test_without_a_main_branch_nothing_is_compared(tmp_path: Path, git: Git) -> None:
    git("init", "-q", "-b", "one", cwd=tmp_path)
    assert read(tmp_path).main == ""
    commit(git, tmp_path, "Begin")
    git("checkout", "-q", "-b", "two", cwd=tmp_path)
    commit(git, tmp_path, "Aside")
    assert (read(tmp_path).main, read(tmp_path).branches) == ("", ())


def test_uncommitted_work_of_every_checkout_is_told(repo: Path, git: Git) -> None:
    linked = repo.parent / "linked"
    git("worktree", "add", "-q", "-b", "side", str(linked), cwd=repo)
    (linked / "new.py").write_text("")
    (linked / "README.md").write_text("changed\n")
    clean = repo.parent / "clean"
    git("worktree", "add", "-q", "-b", "third", str(clean), cwd=repo)
    [checkout] = read(repo).checkouts
    assert (checkout.path, checkout.branch) == (str(linked), "side")
    assert (checkout.found.changed, checkout.found.untracked) == (("README.md",), ("new.py",))
    assert read(linked).checkouts == (checkout,), "seen from anywhere"


def test_a_checkout_that_is_gone_is_passed_over(repo: Path, git: Git) -> None:
    linked = repo.parent / "linked"
    git("worktree", "add", "-q", "-b", "side", str(linked), cwd=repo)
    for path in sorted(linked.rglob("*"), reverse=True):
        path.unlink()
    linked.rmdir()
    found = read(repo)
    assert (found.checkouts, found.problems) == ((), ())


def test_a_checkout_that_cannot_be_read_is_a_problem(repo: Path, git: Git) -> None:
    linked = repo.parent / "linked"
    git("worktree", "add", "-q", "-b", "side", str(linked), cwd=repo)
    (repo / ".git" / "worktrees" / "linked" / "index").write_bytes(b"garbage")
    (repo / "new.py").write_text("")
    found = read(repo)
    assert [each.path for each in found.checkouts] == [str(repo)]
    [problem] = found.problems
    assert problem.startswith(f"{linked}: ")


def test_stashes_are_told(repo: Path, git: Git) -> None:
    (repo / "README.md").write_text("changed\n")
    git("stash", "push", "-qm", "Half a wall", cwd=repo)
    [stash] = read(repo).stashes
    assert (stash.text, stash.branch) == ("On main: Half a wall", "main")


def test_a_bare_repository_has_no_checkout(repo: Path, git: Git) -> None:
    bare = repo.parent / "bare.git"
    git("clone", "-q", "--bare", str(repo), str(bare), cwd=repo)
    assert read(bare) == unfinished.Unfinished("main", (), (), ())
