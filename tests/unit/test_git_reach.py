"""What can be reached from where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tether import git as tether_git
from tether.git import reach, worktree

Call = Callable[..., str]
ODD = ("1793000000", ":(top)x", "a b", "-x", "é\n.py", "*")


def commit(git: Call, repo: Path, message: str, *names: str) -> tether_git.Oid:
    for name in names:
        (repo / name).write_text(message)
    git("add", "-A", cwd=repo)
    git("commit", "-q", "--allow-empty", "-m", message, cwd=repo)
    return tether_git.Oid(git("rev-parse", "HEAD", cwd=repo))


def test_paths_of_any_name_are_found_exactly(repo: Path, git: Call) -> None:
    head = commit(git, repo, "Odd names", *ODD, "not-asked")
    repository = tether_git.Git(repo)
    [seconds] = {int(git("log", "-1", "--format=%ct", cwd=repo)) * 1000}
    found = reach.touched(repository, [head], [*ODD, "none"], 0)
    assert found == dict.fromkeys(ODD, seconds)
    assert reach.touched(repository, [head], ODD, seconds + 60_000) == {}
    assert reach.touched(repository, [], ODD, 0) == {}
    assert reach.touched(repository, [head], [], 0) == {}


def test_ignored_paths_of_any_name_are_found_exactly(repo: Path) -> None:
    (repo / ".gitignore").write_text("\\*\n:(top)x\n1793000000\n-x\n")
    repository = tether_git.Git(repo)
    assert worktree.ignored(repository, ODD) == {"1793000000", ":(top)x", "-x", "*"}
    assert worktree.ignored(repository, ["README.md"]) == set()


def test_unmerged_branches_are_told_the_newest_first(repo: Path, git: Call) -> None:
    base = commit(git, repo, "Base")
    git("branch", "merged", cwd=repo)
    git("checkout", "-q", "-b", "side", cwd=repo)
    held = commit(git, repo, "Held")
    top = commit(git, repo, "Top")
    git("checkout", "-q", "-b", "other", "main", cwd=repo)
    commit(git, repo, "Other")
    repository = tether_git.Git(repo)
    found = reach.unmerged(repository, [base], limit=10)
    assert {name for name, _ in found} == {"refs/heads/side", "refs/heads/other"}
    assert reach.unmerged(repository, [base], [held], limit=10) == [("refs/heads/side", top)]
    assert len(reach.unmerged(repository, [base], limit=1)) == 1


def test_commits_that_a_base_lacks(repo: Path, git: Call) -> None:
    base = commit(git, repo, "Base")
    held = commit(git, repo, "Held")
    gone = tether_git.Oid("0123456789" * 4)
    repository = tether_git.Git(repo)
    assert reach.lacking(repository, [base], [gone, held, base]) == [held]
    assert reach.lacking(repository, [base], [gone]) == []
    assert reach.lacking(repository, [base], []) == []
