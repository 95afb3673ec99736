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
    found = reach.unmerged(repository, [base])
    assert {name for name, _ in found} == {"refs/heads/side", "refs/heads/other"}
    tips = [tip for _, tip in found]
    assert reach.holding(repository, tips, [base], [held]) == {top}
    assert reach.holding(repository, tips, [base], [top]) == {top}
    assert reach.holding(repository, tips, [base], []) == set()


def test_what_a_merge_brought_is_held(repo: Path, git: Call) -> None:
    base = commit(git, repo, "Base")
    git("checkout", "-q", "-b", "side", cwd=repo)
    held = commit(git, repo, "Held", "a")
    git("checkout", "-q", "-b", "other", "main", cwd=repo)
    commit(git, repo, "Other", "b")
    git("merge", "-q", "--no-edit", "side", cwd=repo)
    top = commit(git, repo, "Top")
    git("checkout", "-q", "-b", "third", "main", cwd=repo)
    third = commit(git, repo, "Third")
    assert reach.holding(tether_git.Git(repo), [top, held, third], [base], [held]) == {top, held}


def test_what_commits_changed_is_told_by_any_name(repo: Path, git: Call) -> None:
    first = commit(git, repo, "First", *ODD)
    second = commit(git, repo, "Second", "x")
    commit(git, repo, "Third", "y")
    repository = tether_git.Git(repo)
    assert reach.changed(repository, [first, second]) == {*ODD, "x"}
    assert reach.changed(repository, []) == set()


def test_a_commit_without_a_date_was_made_at_no_time(repo: Path, git: Call) -> None:
    commit(git, repo, "Begin", "a")
    raw = git("cat-file", "commit", "HEAD", cwd=repo)
    lines = [
        line.rpartition("> ")[0] + "> x" if line.startswith("committer ") else line
        for line in raw.split("\n")
    ]
    path = repo.parent / "odd"
    path.write_text("\n".join(lines) + "\n")
    words = ("hash-object", "-t", "commit", "-w", "--literally", str(path))
    odd = tether_git.Oid(git(*words, cwd=repo))
    assert set(reach.touched(tether_git.Git(repo), [odd], ["a"], 0).values()) <= {0}


def test_commits_that_a_base_lacks(repo: Path, git: Call) -> None:
    base = commit(git, repo, "Base")
    held = commit(git, repo, "Held")
    gone = tether_git.Oid("0123456789" * 4)
    repository = tether_git.Git(repo)
    assert reach.lacking(repository, [base], [gone, held, base]) == [held]
    assert reach.lacking(repository, [base], [gone]) == []
    assert reach.lacking(repository, [base], []) == []
