"""What a task has left unmerged, uncommitted or stashed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tether import clock, workspace
from tether import git as tether_git
from tether.brief import traces
from tether.evidence.unfinished import branches
from tether.evidence.unfinished import reading as unfinished
from tether.tasks.sources import patterns

Git = Callable[..., str]
NOW = clock.SystemClock().now_ms()
NOTHING = tether_git.Uncommitted((), (), (), ())


def commit(git: Git, where: Path, message: str, *names: str) -> str:
    for name in names:
        (where / name).write_text(message)
    git("add", "-A", cwd=where)
    git("commit", "-q", "--allow-empty", "-m", message, cwd=where)
    return git("rev-parse", "HEAD", cwd=where)


def linked(git: Git, repo: Path, branch: str = "side") -> Path:
    path = repo.parent / branch.replace("/", "-")
    git("worktree", "add", "-q", "-b", branch, str(path), cwd=repo)
    return path


def names_it(text: str) -> bool:
    """As a finder does it, for H.1.1 and in the names of these tests."""
    return "H.1.1" in text and "H.1.10" not in text


def wanted(**more: Any) -> unfinished.Wanted:
    return unfinished.Wanted(names_it, **more)


def read(where: Path, **more: Any) -> unfinished.Unfinished:
    return unfinished.read(workspace.find(str(where)), wanted(**more))


def stay(directory: Path, branch: str = "main", since: int = -60, until: int = 60) -> Any:
    begin, end = (clock.text(NOW + seconds * 1000) for seconds in (since, until))
    return unfinished.Stay(str(directory), branch, begin, end)


# Branches


def test_where_everything_is_done_there_is_nothing(repo: Path, git: Git) -> None:
    git("branch", "feat/H.1.1", cwd=repo)
    head = commit(git, repo, "Go on")
    tips = {head, git("rev-parse", "feat/H.1.1", cwd=repo)}
    assert read(repo)._replace(tips=()) == unfinished.Unfinished(is_branched=True)
    assert set(read(repo).tips) == tips


def test_a_branch_called_by_the_id_is_told_while_it_is_not_merged(repo: Path, git: Git) -> None:
    git("checkout", "-q", "-b", "feat/H.1.1", cwd=repo)
    commit(git, repo, "One", "a.py", "b.py")
    head = commit(git, repo, "Two", "b.py", "c.py")
    git("checkout", "-q", "-b", "feat/H.1.10", "main", cwd=repo)
    commit(git, repo, "Another task")
    git("checkout", "-q", "main", cwd=repo)
    commit(git, repo, "Go on", "d.py")
    [branch] = read(repo).branches
    assert branch._replace(last_at="") == branches.Branch("feat/H.1.1", head, 2, "", ("Two", "One"))
    git("merge", "-q", "--no-edit", "feat/H.1.1", cwd=repo)
    assert read(repo).branches == ()


def test_a_branch_that_holds_a_commit_of_the_task_is_told(repo: Path, git: Git) -> None:
    merged = commit(git, repo, "Merged")
    git("checkout", "-q", "-b", "one", cwd=repo)
    held = commit(git, repo, "Held")
    commit(git, repo, "More")
    git("checkout", "-q", "-b", "two", "main", cwd=repo)
    commit(git, repo, "Of somebody else")
    git("checkout", "-q", "main", cwd=repo)
    assert read(repo).branches == ()
    assert read(repo, commits=(merged,)).branches == ()
    gone = "0123456789" * 4
    [branch] = read(repo, commits=(gone, held, merged, "none")).branches
    assert (branch.name, branch.ahead) == ("one", 2)


def test_of_branches_at_one_commit_the_one_called_by_the_id_is_told(repo: Path, git: Git) -> None:
    git("checkout", "-q", "-b", "feat/H.1.1", cwd=repo)
    held = commit(git, repo, "Held")
    for name in ("a", "z"):
        git("branch", "-q", name, cwd=repo)
    assert [each.name for each in read(repo, commits=(held,)).branches] == ["feat/H.1.1"]


def test_the_branch_of_the_claim_is_told(repo: Path, git: Git) -> None:
    for name in ("one", "two"):
        git("checkout", "-q", "-b", name, "main", cwd=repo)
        commit(git, repo, f"On {name}")
    assert [each.name for each in read(repo, branch="two").branches] == ["two"]
    assert read(repo, branch="no-such-branch").branches == ()


def test_a_branch_that_only_a_remote_has_is_told(repo: Path, git: Git) -> None:
    clone = repo.parent / "clone"
    git("clone", "-q", str(repo), str(clone), cwd=repo)
    git("checkout", "-q", "-b", "feat/H.1.1", cwd=clone)
    commit(git, clone, "One")
    git("push", "-q", "origin", "feat/H.1.1", cwd=clone)
    assert [each.name for each in read(clone).branches] == ["feat/H.1.1"], "once, by its own name"
    git("checkout", "-q", "main", cwd=clone)
    git("branch", "-q", "-D", "feat/H.1.1", cwd=clone)
    assert [each.name for each in read(clone).branches] == ["origin/feat/H.1.1"]
    # Merged there, and not fetched into the own main branch yet.
    git("merge", "-q", "feat/H.1.1", cwd=repo)
    git("fetch", "-q", "origin", cwd=clone)
    assert read(clone).branches == ()


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("main", "master"), "main"),
        (("master", "topic"), "master"),
        (("trunk", "topic"), "trunk"),
        (("develop", "topic"), "develop"),
        (("main", "develop"), "main"),
        (("only",), "only"),
        (("feature/H.1.1",), ""),
        (("feature/h.1.1",), ""),
        (("one", "two"), ""),
    ],
)
def test_which_branch_is_the_main_one(
    tmp_path: Path, git: Git, names: tuple[str, ...], expected: str
) -> None:
    git("init", "-q", "-b", names[0], cwd=tmp_path)
    commit(git, tmp_path, "Begin")
    for name in names[1:]:
        git("branch", name, cwd=tmp_path)
    is_of_task = traces.naming_any(patterns.Finder(patterns.Kinds(("track",))))
    assert branches.main_branch(tether_git.Git(str(tmp_path)), is_of_task) == expected


def test_the_users_own_name_for_it_is_the_main_one(
    tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitconfig").write_text("[init]\n\tdefaultBranch = stem\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    where = tmp_path / "repo"
    where.mkdir()
    git("init", "-q", "-b", "stem", cwd=where)
    commit(git, where, "Begin")
    git("branch", "topic", cwd=where)
    assert branches.main_branch(tether_git.Git(str(where))) == "stem"


def test_what_only_the_remote_has_may_be_the_main_one(repo: Path, git: Git) -> None:
    git("branch", "-q", "-m", "main", "develop", cwd=repo)
    git("branch", "-q", "feature/H.1.1", cwd=repo)
    clone = repo.parent / "clone"
    git("clone", "-q", "-b", "feature/H.1.1", str(repo), str(clone), cwd=repo)
    assert branches.main_branch(tether_git.Git(str(clone))) == "develop"
    assert read(clone).branches == ()
    commit(git, clone, "One", "a.py")
    assert [each.name for each in read(clone).branches] == ["feature/H.1.1"]
    git("remote", "set-head", "origin", "-d", cwd=clone)
    assert branches.main_branch(tether_git.Git(str(clone))) == "develop", "by its name"


def test_the_remote_says_which_branch_is_the_main_one(repo: Path, git: Git) -> None:
    git("branch", "develop", cwd=repo)
    clone = repo.parent / "clone"
    git("clone", "-q", "-b", "main", str(repo), str(clone), cwd=repo)
    git("branch", "-q", "develop", "origin/develop", cwd=clone)
    git("remote", "set-head", "origin", "develop", cwd=clone)
    assert branches.main_branch(tether_git.Git(str(clone))) == "develop"


def test_without_a_main_branch_nothing_is_compared(tmp_path: Path, git: Git) -> None:
    git("init", "-q", "-b", "one", cwd=tmp_path)
    assert read(tmp_path) == unfinished.Unfinished()
    commit(git, tmp_path, "Begin")
    git("checkout", "-q", "-b", "feat/H.1.1", cwd=tmp_path)
    commit(git, tmp_path, "Aside")
    found = read(tmp_path)
    assert (found.branches, found.knows_main) == ((), False)


def test_what_was_squashed_is_merged(repo: Path, git: Git) -> None:
    git("checkout", "-q", "-b", "feat/H.1.1", cwd=repo)
    commit(git, repo, "One", "a.py", "b.py")
    commit(git, repo, "Two", "b.py")
    git("rm", "-q", "README.md", cwd=repo)
    commit(git, repo, "Three")
    git("checkout", "-q", "main", cwd=repo)
    commit(git, repo, "Go on", "z.py")
    assert len(read(repo).branches) == 1
    git("merge", "-q", "--squash", "feat/H.1.1", cwd=repo)
    commit(git, repo, "All of it")
    found = read(repo)
    assert (found.branches, found.is_branched) == ((), True)
    commit(git, repo, "Later", "b.py")
    assert read(repo).branches == (), "whatever became of it since"
    git("checkout", "-q", "feat/H.1.1", cwd=repo)
    commit(git, repo, "And more", "a.py")
    assert [each.ahead for each in read(repo).branches] == [4]


def test_what_was_rebased_is_merged(repo: Path, git: Git) -> None:
    lines = "".join(f"{number}\n" for number in range(20))
    (repo / "a.py").write_text(lines)
    commit(git, repo, "Begin")
    git("checkout", "-q", "-b", "feat/H.1.1", cwd=repo)
    (repo / "a.py").write_text(f"{lines}end\n")
    held = commit(git, repo, "One")
    git("checkout", "-q", "main", cwd=repo)
    (repo / "a.py").write_text(f"begin\n{lines}")
    commit(git, repo, "Of somebody else")
    assert len(read(repo).branches) == 1
    git("cherry-pick", held, cwd=repo)
    assert read(repo, commits=(held,)).branches == ()


def test_a_branch_with_other_content_at_the_same_paths_is_not_merged(repo: Path, git: Git) -> None:
    git("checkout", "-q", "-b", "feat/H.1.1", cwd=repo)
    commit(git, repo, "One", "a.py")
    git("checkout", "-q", "main", cwd=repo)
    commit(git, repo, "Another", "a.py")
    assert len(read(repo).branches) == 1


def test_the_main_branch_is_nobodys_however_far_another_remote_is(repo: Path, git: Git) -> None:
    git("branch", "-q", "side", cwd=repo)
    upstream = repo.parent / "upstream"
    git("clone", "-q", str(repo), str(upstream), cwd=repo)
    held = commit(git, upstream, "Ahead", "a.py")
    git("remote", "add", "upstream", str(upstream), cwd=repo)
    git("fetch", "-q", "upstream", cwd=repo)
    assert read(repo, branch="main", commits=(held,)).branches == ()
    git("checkout", "-q", "side", cwd=repo)
    commit(git, repo, "Aside", "b.py")
    assert [each.name for each in read(repo, branch="side").branches] == ["side"], "the control"


def test_more_branches_than_are_told_are_counted(repo: Path, git: Git) -> None:
    git("checkout", "-q", "-b", "feat/H.1.1-0", cwd=repo)
    for number in range(1, 14):
        commit(git, repo, f"Step {number}", "a.py")
        git("checkout", "-q", "-b", f"feat/H.1.1-{number}", cwd=repo)
    commit(git, repo, "Last", "a.py")
    found = read(repo)
    assert len(found.branches) == 10
    assert found.more == ("and 4 more branches with its name or its commits, not merged",)


# Checkouts


def test_only_checkouts_of_the_task_are_looked_into(repo: Path, git: Git) -> None:
    claimed, named, other = (linked(git, repo, name) for name in ("one", "feat/H.1.1", "two"))
    for place in (repo, claimed, named, other):
        (place / "new.py").write_text("")
    found = read(repo, checkout=str(claimed))
    assert [(each.path, each.branch, each.is_own) for each in found.checkouts] == [
        (str(claimed), "one", True),
        (str(named), "feat/H.1.1", True),
    ]
    assert [each.own.untracked for each in found.checkouts] == [("new.py",)] * 2
    assert found.dirty == ["new.py"] * 2
    assert read(other, checkout=str(claimed)).checkouts == found.checkouts, "seen from anywhere"


def test_a_branch_with_work_of_the_task_may_have_that_of_others(repo: Path, git: Git) -> None:
    side = linked(git, repo)
    held = commit(git, side, "Held", "house.py")
    for name in ("house.py", "other.py"):
        (side / name).write_text("half\n")
    found = read(repo, commits=(held,), committed=("house.py",))
    [checkout] = found.checkouts
    assert (checkout.own.changed, checkout.rest.untracked) == (("house.py",), ("other.py",))
    assert (checkout.is_own, found.dirty) == (False, [])


def test_where_a_session_worked_own_files_are_told_apart(repo: Path, git: Git) -> None:
    side = linked(git, repo)
    (side / "deep").mkdir()
    for name in ("edited.py", "committed.py", "other.py", "work.yaml"):
        (side / name).write_text("")
    (repo / "not-told.py").write_text("")
    found = read(
        repo,
        stays=(stay(side / "deep", "side"),),
        edited=(f"{side}/edited.py", f"{repo}x/other.py"),
        committed=("committed.py",),
        leaves_out=lambda path: path == "work.yaml",
    )
    [checkout] = found.checkouts
    assert (checkout.path, checkout.is_own) == (str(side), False)
    assert checkout.own == NOTHING._replace(untracked=("committed.py", "edited.py"))
    assert checkout.rest == NOTHING._replace(untracked=("other.py",))
    assert checkout.dirty == {"edited.py", "committed.py", "other.py", "work.yaml"}
    assert found.dirty == [], "nothing says that it is this task's"


def test_with_a_claim_the_files_of_other_checkouts_are_not_told(repo: Path, git: Git) -> None:
    side = linked(git, repo)
    for name in ("edited.py", "other.py"):
        (repo / name).write_text("")
    found = read(repo, checkout=str(side), stays=(stay(repo),), edited=(f"{repo}/edited.py",))
    claimed, main = found.checkouts
    assert (claimed.path, claimed.own) == (str(side), NOTHING)
    assert (main.own.untracked, main.rest) == (("edited.py",), NOTHING)


def test_the_innermost_checkout_counts(repo: Path, git: Git) -> None:
    inner = repo / "trees" / "inner"
    git("worktree", "add", "-q", "-b", "inner", str(inner), cwd=repo)
    (inner / "new.py").write_text("")
    found = read(repo, stays=(stay(inner, "inner"),))
    assert [each.path for each in found.checkouts] == [str(inner)]
    shutil.rmtree(inner)
    assert read(repo, stays=(stay(inner, "inner"),)).checkouts == (), "and not the one around it"


def test_a_repository_within_is_another_one(repo: Path, git: Git) -> None:
    (repo / "vendor").mkdir()
    git("init", "-q", "vendor", cwd=repo)
    assert read(repo, stays=(stay(repo / "vendor"),)).checkouts == ()
    assert read(repo, stays=(stay(repo.parent),)).checkouts == ()


def test_only_so_many_checkouts_are_looked_into(repo: Path, git: Git) -> None:
    paths = [linked(git, repo, f"side-{number}") for number in range(8)]
    found = read(repo, stays=tuple(map(stay, paths)))
    assert [each.path for each in found.checkouts] == [str(path) for path in paths[:6]]
    assert found.more == ("and 2 more checkouts where it was worked on, not looked into",)


def test_a_checkout_that_cannot_be_read_is_a_problem(repo: Path, git: Git) -> None:
    side = linked(git, repo)
    (repo / ".git" / "worktrees" / "side" / "index").write_bytes(b"garbage")
    (repo / "new.py").write_text("")
    found = read(repo, stays=(stay(side), stay(repo)))
    assert [each.path for each in found.checkouts] == [str(repo)]
    [problem] = found.problems
    assert problem.startswith(f"{side}: ")


def test_a_bare_repository_has_no_checkout(repo: Path, git: Git) -> None:
    bare = repo.parent / "bare.git"
    git("clone", "-q", "--bare", str(repo), str(bare), cwd=repo)
    assert read(bare, stays=(stay(bare),))._replace(tips=()) == unfinished.Unfinished()


# Stashes


def stash(text: str, branch: str = "main", seconds: int = 0) -> tether_git.Stash:
    return tether_git.Stash(tether_git.Oid("a" * 40), NOW + seconds * 1000, branch, text)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (stash("On main: Half of H.1.1"), True),
        (stash("On main: Half of H.1.10"), None),
        (stash("On main: Half a wall"), None),
        (stash("WIP on feat/H.1.1: abcdef0 Begin", "feat/H.1.1"), True),
        (stash("WIP on feat/H.1.10: abcdef0 Begin", "feat/H.1.10"), None),
        # What was committed last says nothing of what is stashed.
        (stash("WIP on main: abcdef0 feat(H.1.1): Build"), None),
        # Such a branch may have the work of others as well.
        (stash("WIP on held: abcdef0 Begin", "held"), False),
        (stash("made by hand", ""), None),
    ],
)
def test_whose_a_stash_is(found: tether_git.Stash, expected: bool | None) -> None:
    assert unfinished.is_of(found, wanted(), {"held"}) is expected


def test_a_stash_on_the_branch_of_the_claim_counts_while_it_was_held() -> None:
    held = wanted(holds=(stay(Path("/repo"), "side"),))
    found = stash("WIP on side: abcdef0 Begin", "side")
    assert unfinished.is_of(found, held, set()) is True
    for seconds in (-65, 65):
        aside = found._replace(at_ms=NOW + seconds * 1000)
        assert unfinished.is_of(aside, held, set()) is None
    assert unfinished.is_of(stash("by hand", ""), held, set()) is None


def test_a_stash_made_while_another_task_was_held_there_too_may_be_either() -> None:
    both = wanted(
        holds=(stay(Path("/repo"), "side"),), others=(stay(Path("/repo"), "side", until=10),)
    )
    found = stash("WIP on side: abcdef0 Begin", "side")
    assert unfinished.is_of(found, both, set()) is False
    assert unfinished.is_of(found._replace(at_ms=NOW + 20_000), both, set()) is True


@pytest.mark.parametrize(
    ("seconds", "branch", "expected"),
    [(0, "main", False), (-90, "main", None), (90, "main", None), (0, "side", None)],
)
def test_a_stash_made_while_a_session_worked_may_be_the_tasks(
    seconds: int, branch: str, expected: bool | None
) -> None:
    found = stash(f"WIP on {branch}: abcdef0 Begin", branch, seconds)
    told = unfinished.is_of(found, wanted(stays=(stay(Path("/repo")),)), set())
    assert told is expected


def test_stashes_of_the_task_are_read(repo: Path, git: Git) -> None:
    for message in ("Half of H.1.1", "Something else"):
        (repo / "README.md").write_text(f"{message}\n")
        git("stash", "push", "-qm", message, cwd=repo)
    [found] = read(repo).stashes
    assert (found.stash.text, found.is_own) == ("On main: Half of H.1.1", True)
    assert set(git("log", "-g", "--format=%H", "refs/stash", cwd=repo).split()) < set(
        read(repo).tips
    )
