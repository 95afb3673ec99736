"""What a checkout has that no commit has, and what was stashed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tether import git as tether_git
from tether import workspace
from tether.agents import leftovers, model

Call = Callable[..., str]


def claim(worktree: Path, branch: str = "main") -> model.Claim:
    nothing = {**dict.fromkeys(model.Claim._fields), "claimed_at": "2020-01-01T00:00:00.000Z"}
    return model.Claim(**{**nothing, "worktree": str(worktree), "branch": branch})  # type: ignore[arg-type]


def test_a_clean_checkout_has_nothing(repo: Path) -> None:
    found = tether_git.Git(repo)
    assert found.uncommitted() == ((), (), (), ())
    assert found.stashes() == []


def test_each_kind_of_change_is_told_apart(repo: Path, git: Call) -> None:
    for name in ("kept", "changed", "gone", "staged"):
        (repo / name).write_text("old\n")
    git("add", ".", cwd=repo)
    git("commit", "-qm", "Files", cwd=repo)
    (repo / "changed").write_text("new\n")
    (repo / "gone").unlink()
    (repo / "staged").write_text("new\n")
    git("add", "staged", cwd=repo)
    (repo / "néw file").write_text("new\n")
    (repo / ".gitignore").write_text("ignored\n")
    (repo / "ignored").write_text("new\n")
    found = tether_git.Git(repo).uncommitted()
    assert found.staged == ("staged",)
    assert found.changed == ("changed",)
    assert found.deleted == ("gone",)
    assert found.untracked == (".gitignore", "néw file")


def test_on_an_unborn_branch_everything_in_the_index_is_staged(tmp_path: Path, git: Call) -> None:
    git("init", "-q", "new", cwd=tmp_path)
    (tmp_path / "new" / "a").write_text("a\n")
    git("add", "a", cwd=tmp_path / "new")
    assert tether_git.Git(tmp_path / "new").uncommitted().staged == ("a",)


def test_a_stash_tells_its_branch_and_its_text(repo: Path, git: Call) -> None:
    (repo / "README.md").write_text("Half.\n")
    git("stash", "push", "-qm", "half of it", cwd=repo)
    git("checkout", "-qb", "feature/x", cwd=repo)
    (repo / "README.md").write_text("Other half.\n")
    git("stash", "-q", cwd=repo)
    newest, oldest = tether_git.Git(repo).stashes()
    assert (newest.branch, oldest.branch) == ("feature/x", "main")
    assert oldest.text == "On main: half of it"
    assert newest.oid == git("rev-parse", "stash@{0}", cwd=repo)


@pytest.mark.parametrize("time", ["x +0000", "", "-5 +0000", "9" * 40 + " +0000"])
def test_a_stash_without_a_time_that_can_be_read_is_told(repo: Path, git: Call, time: str) -> None:
    tip, tree = git("rev-parse", "HEAD", cwd=repo), git("rev-parse", "HEAD^{tree}", cwd=repo)
    who = "A <a@example.com>"
    (repo / "object").write_text(
        f"tree {tree}\nparent {tip}\nparent {tip}\n"
        f"author {who} 1 +0000\ncommitter {who} {time}\n\nOn main: half\n"
    )
    words = ("hash-object", "-t", "commit", "-w", "--literally", "object")
    oid = git(*words, cwd=repo)
    (repo / ".git/logs/refs").mkdir(parents=True, exist_ok=True)
    (repo / ".git/logs/refs/stash").write_text(f"{'0' * 40} {oid} {who} 5 +0000\tOn main: half\n")
    (repo / ".git/refs/stash").write_text(f"{oid}\n")
    [found] = tether_git.Git(repo).stashes()
    assert found == (oid, 0, "main", "On main: half")


def test_looking_runs_nothing_of_the_repository(repo: Path, git: Call, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    (repo / ".gitattributes").write_text("* filter=evil diff=evil\n")
    (repo / "file").write_text("old\n")
    git("add", ".", cwd=repo)
    git("commit", "-qm", "Attributes", cwd=repo)
    for setting in ("filter.evil.clean", "filter.evil.process", "diff.evil.command",
                    "diff.evil.textconv", "core.fsmonitor"):  # fmt: skip
        git("config", setting, f"touch {canary}; cat", cwd=repo)
    (repo / "file").write_text("new\n")
    assert tether_git.Git(repo).uncommitted().changed == ("file",)
    assert not canary.exists()
    git("status", cwd=repo)
    assert canary.exists(), "the control: git itself does run them"


def test_a_repository_cannot_point_at_another_directory(
    repo: Path, git: Call, tmp_path: Path
) -> None:
    (tmp_path / "home" / "private").write_text("x\n")
    git("config", "core.worktree", str(tmp_path / "home"), cwd=repo)
    assert tether_git.Git(repo).uncommitted().untracked == ()


def test_leftovers_are_those_of_the_worktree_and_its_branch(
    repo: Path, git: Call, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    git("worktree", "add", "-q", str(there), "-b", "feature", cwd=repo)
    (there / "README.md").write_text("Stashed.\n")
    git("stash", "-q", cwd=there)
    (there / "README.md").write_text("Changed.\n")
    (there / "new").write_text("new\n")
    (repo / "README.md").write_text("Somebody else's.\n")
    git("stash", "-q", cwd=repo)
    found = leftovers.read(workspace.find(str(repo)), claim(there, "feature"))
    assert found.why_not == ""
    assert (found.changed, found.untracked) == (("README.md",), ("new",))
    assert [stash.branch for stash in found.stashes] == ["feature"]
    assert not found.is_empty
    over = claim(there, "feature")._replace(closed_at="2020-01-02T00:00:00.000Z")
    assert leftovers.read(workspace.find(str(repo)), over).stashes == (), "made after it was closed"


@pytest.mark.parametrize("place", ["gone", "plain", "other"])
def test_a_place_that_is_no_worktree_of_this_repository_is_left_alone(
    repo: Path, git: Call, tmp_path: Path, place: str
) -> None:
    (tmp_path / "plain").mkdir()
    git("init", "-q", "other", cwd=tmp_path)
    found = leftovers.read(workspace.find(str(repo)), claim(tmp_path / place))
    assert found.why_not
    assert not any(found[1:])
