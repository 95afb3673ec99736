"""What was committed in which checkout, by Git's own logs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tether.git import objects, reflog

Git = Callable[..., str]


def commit(git: Git, where: Path, message: str, *words: str) -> str:
    git("commit", "-q", "--allow-empty", *words, "-m", message, cwd=where)
    return git("rev-parse", "HEAD", cwd=where)


def made(git_dir: Path) -> list[str]:
    return [each.oid for each in reflog.made(str(git_dir))]


def test_commits_are_told_oldest_first_with_their_time(repo: Path, git: Git) -> None:
    first = git("rev-parse", "HEAD", cwd=repo)
    second = commit(git, repo, "Go on")
    found = reflog.made(str(repo / ".git"))
    assert [each.oid for each in found] == [first, second]
    assert found[1].at_ms == int(git("log", "-1", "--format=%ct", cwd=repo)) * 1000


def test_what_was_amended_or_thrown_away_was_made_all_the_same(repo: Path, git: Git) -> None:
    before = commit(git, repo, "Go on")
    after = commit(git, repo, "Go on, better", "--amend")
    git("reset", "-q", "--hard", "HEAD~1", cwd=repo)
    assert made(repo / ".git")[1:] == [before, after]


def test_moving_to_a_commit_does_not_make_it(repo: Path, git: Git) -> None:
    git("checkout", "-q", "-b", "side", cwd=repo)
    aside = commit(git, repo, "Aside")
    linked = repo.parent / "linked"
    git("worktree", "add", "-q", "--detach", str(linked), "side", cwd=repo)
    git("checkout", "-q", "--detach", "main", cwd=linked)
    git("reset", "-q", "--hard", aside, cwd=linked)
    assert made(repo / ".git" / "worktrees" / "linked") == []


def test_each_checkout_has_a_log_of_its_own(repo: Path, git: Git) -> None:
    linked = repo.parent / "linked"
    git("worktree", "add", "-q", "-b", "side", str(linked), cwd=repo)
    there = commit(git, linked, "There")
    here = commit(git, repo, "Here")
    assert made(repo / ".git" / "worktrees" / "linked") == [there]
    assert made(repo / ".git")[1:] == [here]


def test_merges_picks_reverts_and_rebases_make_commits(repo: Path, git: Git) -> None:
    (repo / "a.py").write_text("")
    git("add", ".", cwd=repo)
    commit(git, repo, "Add a")
    git("checkout", "-q", "-b", "side", "HEAD~1", cwd=repo)
    (repo / "b.py").write_text("")
    git("add", ".", cwd=repo)
    commit(git, repo, "Add b")
    expected = []
    git("cherry-pick", "main", cwd=repo)
    expected.append(git("rev-parse", "HEAD", cwd=repo))
    git("revert", "--no-edit", "HEAD", cwd=repo)
    expected.append(git("rev-parse", "HEAD", cwd=repo))
    git("checkout", "-q", "main", cwd=repo)
    git("merge", "-q", "--no-ff", "--no-edit", "side", cwd=repo)
    expected.append(git("rev-parse", "HEAD", cwd=repo))
    git("checkout", "-q", "-b", "other", "main~1", cwd=repo)
    (repo / "c.py").write_text("")
    git("add", ".", cwd=repo)
    commit(git, repo, "Add c")
    git("rebase", "-q", "main", cwd=repo)
    expected.append(git("rev-parse", "HEAD", cwd=repo))
    assert [oid for oid in made(repo / ".git") if oid in expected][:3] == expected[:3]
    assert expected[3] in made(repo / ".git")


def test_what_was_only_taken_over_was_not_made_here(repo: Path, git: Git) -> None:
    linked = repo.parent / "linked"
    git("worktree", "add", "-q", "-b", "side", str(linked), cwd=repo)
    there = commit(git, linked, "There")
    git("merge", "-q", "--ff-only", "side", cwd=repo)
    assert there not in made(repo / ".git"), "merged"
    clone = repo.parent / "clone"
    git("clone", "-q", str(repo), str(clone), cwd=repo)
    later = commit(git, repo, "Later")
    git("pull", "-q", "--ff-only", cwd=clone)
    assert later not in made(clone / ".git"), "pulled"
    (clone / "a.py").write_text("")
    git("add", ".", cwd=clone)
    own = commit(git, clone, "Own")
    last = commit(git, repo, "Last")
    git("pull", "-q", "--rebase", cwd=clone)
    rebased = git("rev-parse", "HEAD", cwd=clone)
    found = made(clone / ".git")
    assert last not in found, "what a rebase begins from"
    assert found[0] == own
    assert set(found[1:]) == {rebased}


def test_names_and_messages_of_any_kind_do_no_harm(repo: Path, git: Git) -> None:
    log = repo / ".git" / "logs" / "HEAD"
    oid = git("rev-parse", "HEAD", cwd=repo)
    zero = "0" * 40
    log.write_bytes(
        b"\n".join(
            [
                b"garbage",
                f"{zero} {oid} A > B <a@b> 100 +0000\tcommit: > 200 +0000\tcommit: x".encode(),
                f"{zero} {oid} \xff <a@b> 300 -0130\tcommit (amend): x".encode("latin-1"),
                f"{zero} {oid[:39]} A <a@b> 400 +0000\tcommit: short".encode(),
                f"{zero} {oid}0 A <a@b> 400 +0000\tcommit: 41 digits".encode(),
                f"{zero} {oid} A <a@b> 500 +0000\tcheckout: commit".encode(),
                f"{zero} {oid} A <a@b> 600 +0000".encode(),
                f"{zero} {oid} A <a@b> 700 +0000\tcommit: torn".encode(),
            ]
        )
    )
    assert [each.at_ms for each in reflog.made(str(repo / ".git"))] == [100_000, 300_000, 700_000]


@pytest.mark.parametrize("name", ["", "logs", "logs/HEAD"])
def test_without_a_log_nothing_was_made(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir(parents=True, exist_ok=True)
    assert reflog.made(str(tmp_path)) == []


def test_what_was_made_at_once_stands_upon_what_was_there() -> None:
    a, b, c, d, e = (f"{number}" * 40 for number in range(1, 6))
    entries = [
        reflog.Made(objects.Oid(b), 5000, a),  # before: what was there is made by it
        reflog.Made(objects.Oid(c), 5000, b),
        reflog.Made(objects.Oid(d), 5000, c),
        reflog.Made(objects.Oid(e), 6000, d),  # another second
    ]
    assert reflog.upon(entries, b, 5000) == {c, d}
    assert reflog.upon(entries[::-1], b, 5000) == {c, d}
    assert reflog.upon(entries, d, 5000) == set()
    assert reflog.upon(entries, "", 5000) == set()
