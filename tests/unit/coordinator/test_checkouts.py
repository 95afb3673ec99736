"""The branch and the checkout of a task: its base and its dependencies, and nothing ever lost."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest

from tether import errors, git
from tether.coordinator import checkouts
from tether.git import arguments, merging
from tether.git import checkouts as places

MAIN = "refs/heads/main"
ANNA = git.Identity("Anna", "anna@example.org")
BOB = git.Identity("Bob", "bob@example.org")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with a name, and no patience."""
    directory = tmp_path / "home"
    directory.mkdir()
    (directory / ".gitconfig").write_text("[user]\nname = Anna\nemail = anna@example.org\n")
    monkeypatch.setenv("HOME", str(directory))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(places, "_PATIENCE_SECONDS", 0.0)
    return directory


@pytest.fixture
def repo(tmp_path: Path) -> git.Git:
    return begun(git.init(tmp_path / "my repö"))


def begun(repo: git.Git) -> git.Git:
    """A checkout of one commit."""
    (repo.directory / "base").write_text("base\n")
    plain(repo.directory, "add", ".")
    plain(repo.directory, "commit", "-qm", "base")
    return repo


def plain(directory: Path | str, *words: str) -> str:
    """Git as a user would run it."""
    done = subprocess.run(["git", *words], cwd=directory, check=True, capture_output=True)
    return done.stdout.decode().strip()


def branch(task_id: str) -> str:
    return checkouts.branch_of("run", task_id)


def attempt(
    repo: git.Git, task_id: str, *needs: str, base: git.Oid | None = None
) -> checkouts.Checkout | checkouts.Conflict | checkouts.Dirty:
    dependencies = [(need, branch(need)) for need in needs]
    base = base or repo.resolve("main")
    return checkouts.prepare(repo, str(repo.directory), "run", task_id, base, dependencies)


def prepare(
    repo: git.Git, task_id: str, *needs: str, base: git.Oid | None = None
) -> checkouts.Checkout:
    found = attempt(repo, task_id, *needs, base=base)
    assert isinstance(found, checkouts.Checkout), found
    assert plain(found.path, "rev-parse", "HEAD") == found.head == repo.tip(found.branch)
    return found


def work(place: checkouts.Checkout, name: str, text: str = "done\n") -> git.Oid:
    """What a worker does: a file and a commit."""
    target = Path(place.path, name)
    target.parent.mkdir(exist_ok=True)
    target.write_text(text)
    plain(place.path, "add", "--all")
    plain(place.path, "commit", "-qm", f"Work on {name}")
    return git.Git(place.path).resolve("HEAD")


def done(repo: git.Git, task_id: str, *needs: str, base: git.Oid | None = None) -> git.Oid:
    """A task that a worker has finished, with a file of its own name."""
    return work(prepare(repo, task_id, *needs, base=base), task_id)


def names(path: str) -> set[str]:
    return {p.name for p in Path(path).iterdir()} - {".git", "base"}


# A new branch


def test_a_task_that_needs_nothing_starts_at_the_base(repo: git.Git) -> None:
    found = prepare(repo, "a")
    assert found == (
        f"{repo.directory}/.tether/worktrees/run/a",
        "refs/heads/tether/run/a",
        repo.resolve("main"),
        True,
    )
    assert (Path(found.path) / "base").read_text() == "base\n"


def test_the_main_checkout_does_not_see_the_others(repo: git.Git) -> None:
    done(repo, "a")
    assert plain(repo.directory, "status", "--porcelain") == ""
    assert (repo.directory / ".tether/.gitignore").read_text() == "*\n"


def test_a_gitignore_that_is_there_stays(repo: git.Git) -> None:
    (repo.directory / ".tether").mkdir()
    (repo.directory / ".tether/.gitignore").write_text("worktrees\n")
    prepare(repo, "a")
    assert (repo.directory / ".tether/.gitignore").read_text() == "worktrees\n"


def test_one_dependency_is_followed_without_a_merge(repo: git.Git) -> None:
    tip = done(repo, "a")
    assert prepare(repo, "b", "a").head == tip


def test_three_dependencies_are_merged_in_their_order(repo: git.Git) -> None:
    tips = [done(repo, task_id) for task_id in ("a", "b", "c")]
    found = prepare(repo, "d", "a", "b", "c")
    assert names(found.path) == {"a", "b", "c"}
    last, first = repo.log([found.head], exclude=tips)
    assert first.parents == (tips[0], tips[1])
    assert last.parents == (first.oid, tips[2])
    assert first.subject == "Merge tether/run/b for d"
    assert last.subject == "Merge tether/run/c for d"
    assert (last.author_name, last.author_email) == ANNA


def test_a_user_without_a_name_merges_as_tether(repo: git.Git, home: Path) -> None:
    done(repo, "a")
    done(repo, "b")
    (home / ".gitconfig").unlink()
    [merge] = repo.log([prepare(repo, "c", "a", "b").head], max_count=1)
    assert (merge.author_name, merge.author_email) == ("Tether", "tether@localhost")


def test_a_diamond_is_closed_by_one_merge(repo: git.Git) -> None:
    done(repo, "a")
    tips = [done(repo, "b", "a"), done(repo, "c", "a")]
    found = prepare(repo, "d", "a", "b", "c")
    assert names(found.path) == {"a", "b", "c"}
    [merge] = repo.log([found.head], exclude=tips)
    assert merge.parents == tuple(tips)


def test_a_base_that_moved_meanwhile_is_merged_with_the_dependency(repo: git.Git) -> None:
    tip = done(repo, "a")
    (repo.directory / "later").write_text("later\n")
    plain(repo.directory, "add", "later")
    plain(repo.directory, "commit", "-qm", "later")
    found = prepare(repo, "b", "a")
    assert names(found.path) == {"a", "later"}
    [merge] = repo.log([found.head], max_count=1)
    assert merge.parents == (repo.resolve("main"), tip)


def test_a_conflict_names_the_dependency_and_leaves_no_branch(repo: git.Git) -> None:
    work(prepare(repo, "a"), "né w", "one\n")
    work(prepare(repo, "b"), "né w", "two\n")
    assert attempt(repo, "c", "a", "b") == checkouts.Conflict("b", branch("b"), ("né w",))
    assert repo.tip(branch("c")) is None
    assert len(repo.worktrees()) == 3


def test_a_conflict_that_was_settled_in_the_dependency_is_none(repo: git.Git) -> None:
    work(prepare(repo, "a"), "file", "one\n")
    there = prepare(repo, "b")
    work(there, "file", "two\n")
    assert isinstance(attempt(repo, "c", "a", "b"), checkouts.Conflict)
    plain(there.path, "merge", "-q", "-X", "ours", "tether/run/a")
    found = prepare(repo, "c", "a", "b")
    assert (Path(found.path) / "file").read_text() == "two\n"


def test_a_dependency_without_a_branch_or_a_common_commit_is_a_question(repo: git.Git) -> None:
    assert attempt(repo, "b", "a") == checkouts.Conflict("a", branch("a"), (), "missing")
    repo.commit_paths(branch("a"), {"x": b"x"}, "alien", ANNA)
    assert attempt(repo, "b", "a") == checkouts.Conflict("a", branch("a"), (), "unrelated")


def test_it_works_with_longer_ids_of_objects(tmp_path: Path) -> None:
    repo = begun(git.init(tmp_path / "sha256", is_sha256=True))
    done(repo, "a")
    done(repo, "b")
    found = prepare(repo, "c", "a", "b")
    assert len(found.head) == 64
    assert names(found.path) == {"a", "b"}


def test_it_works_from_a_linked_checkout(repo: git.Git, tmp_path: Path) -> None:
    plain(repo.directory, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "linked")
    found = prepare(git.Git(tmp_path / "linked"), "a")
    assert found.path == f"{tmp_path}/linked/.tether/worktrees/run/a"


def test_a_bare_repository_is_refused(repo: git.Git, tmp_path: Path) -> None:
    plain(tmp_path, "clone", "-q", "--bare", str(repo.directory), "bare")
    bare = git.Git(tmp_path / "bare")
    with pytest.raises(errors.UsageError, match="bare"):
        attempt(bare, "a")
    assert bare.tip(branch("a")) is None


def test_a_branch_named_tether_is_left_alone(repo: git.Git) -> None:
    plain(repo.directory, "branch", "tether")
    with pytest.raises(errors.GitError):
        attempt(repo, "a")
    assert repo.tip("refs/heads/tether") == repo.resolve("main")


# A branch that is there


def test_a_resumed_task_keeps_its_commits_and_its_files(repo: git.Git) -> None:
    place = prepare(repo, "a")
    tip = work(place, "half")
    (Path(place.path) / "other half").write_text("not yet\n")
    (Path(place.path) / "half").write_text("changed\n")
    found = prepare(repo, "a")
    assert found == (place.path, place.branch, tip, False)
    assert (Path(place.path) / "other half").read_text() == "not yet\n"
    assert (Path(place.path) / "half").read_text() == "changed\n"


def test_a_resumed_task_gets_what_its_dependencies_made_since(repo: git.Git) -> None:
    place = prepare(repo, "b")
    mine = work(place, "half")
    theirs = done(repo, "a")
    found = prepare(repo, "b", "a")
    assert names(found.path) == {"half", "a"}
    [merge] = repo.log([found.head], max_count=1)
    assert merge.parents == (mine, theirs)
    assert plain(found.path, "status", "--porcelain") == ""
    assert prepare(repo, "b", "a").head == found.head


def test_a_resumed_task_is_not_merged_into_what_is_not_committed(repo: git.Git) -> None:
    place = prepare(repo, "b")
    (Path(place.path) / "base").write_text("changed\n")
    done(repo, "a")
    assert attempt(repo, "b", "a") == checkouts.Dirty(place.path, ("base",))
    assert repo.tip(place.branch) == place.head
    assert (Path(place.path) / "base").read_text() == "changed\n"
    plain(place.path, "checkout", "base")
    assert names(prepare(repo, "b", "a").path) == {"a"}


def test_files_of_nobody_matter_only_in_the_way(repo: git.Git) -> None:
    place = prepare(repo, "b")
    (Path(place.path) / "notes").write_text("mine\n")
    done(repo, "a")
    assert names(prepare(repo, "b", "a").path) == {"a", "notes"}
    (Path(place.path) / "c").write_text("mine\n")
    done(repo, "c")
    assert attempt(repo, "b", "a", "c") == checkouts.Dirty(place.path, ("c",))
    assert (Path(place.path) / "c").read_text() == "mine\n"


def test_a_resumed_task_in_conflict_stays_as_it_is(repo: git.Git) -> None:
    place = prepare(repo, "b")
    tip = work(place, "file", "mine\n")
    work(prepare(repo, "a"), "file", "theirs\n")
    assert attempt(repo, "b", "a") == checkouts.Conflict("a", branch("a"), ("file",))
    assert repo.tip(place.branch) == tip
    assert plain(place.path, "status", "--porcelain") == ""


def test_a_checkout_elsewhere_is_used(repo: git.Git, tmp_path: Path) -> None:
    merging.create_branch(repo, branch("a"), repo.resolve("main"), ANNA)
    there = tmp_path / "elsewhere"
    plain(repo.directory, "worktree", "add", "-q", str(there), "tether/run/a")
    assert prepare(repo, "a").path == str(there)
    assert not (repo.directory / ".tether").exists()


def test_a_worker_that_left_its_branch_is_a_question(repo: git.Git) -> None:
    place = prepare(repo, "a")
    plain(place.path, "switch", "-q", "-c", "own")
    tip = work(place, "half")
    assert attempt(repo, "a") == checkouts.Dirty(place.path, (), "refs/heads/own")
    assert repo.tip("refs/heads/own") == tip


def test_a_removed_checkout_comes_back_with_the_commits(repo: git.Git) -> None:
    place = prepare(repo, "a")
    tip = work(place, "half")
    shutil.rmtree(place.path)
    assert prepare(repo, "a").head == tip
    assert names(place.path) == {"half"}
    shutil.rmtree(place.path)
    plain(repo.directory, "worktree", "prune")
    assert prepare(repo, "a") == (place.path, place.branch, tip, True)
    assert names(place.path) == {"half"}


def test_a_removed_checkout_comes_back_and_gets_what_is_new(repo: git.Git) -> None:
    place = prepare(repo, "b")
    work(place, "half")
    shutil.rmtree(place.path)
    done(repo, "a")
    assert names(prepare(repo, "b", "a").path) == {"half", "a"}


def test_somebody_else_who_moves_the_branch_first_is_not_overruled(
    repo: git.Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = prepare(repo, "b")
    done(repo, "a")
    real = places.advance_worktree

    def late(there: git.Git, old: git.Oid, new: git.Oid) -> tuple[str, ...]:
        repo.commit_paths(place.branch, {"theirs": b"1"}, "theirs", BOB)
        return real(there, old, new)

    monkeypatch.setattr(places, "advance_worktree", late)
    with pytest.raises(errors.RefMoved):
        attempt(repo, "b", "a")
    [tip] = repo.log([git.Oid(plain(place.path, "rev-parse", "HEAD"))], max_count=1)
    assert tip.subject == "theirs"


# What is left, and what is there


def test_what_was_left_behind_is_told(repo: git.Git) -> None:
    place = prepare(repo, "a")
    there = git.Git(place.path)
    assert checkouts.left_behind(there) == ()
    work(place, "ok")
    assert checkouts.left_behind(there) == ()
    for name in ("base", "c", "b", "né w"):
        (there.directory / name).write_text("x\n")
    plain(place.path, "add", "c")
    (there.directory / "ok").unlink()
    assert checkouts.left_behind(there) == ("b", "base", "c", "né w", "ok")
    assert checkouts.left_behind(there, limit=2) == ("b", "base")


def test_whether_a_commit_is_there_is_told(repo: git.Git) -> None:
    place = prepare(repo, "a")
    first = work(place, "one")
    work(place, "two")
    assert checkouts.is_there(repo, place.branch, first)
    assert not checkouts.is_there(repo, branch("b"), first)
    assert not checkouts.is_there(repo, place.branch, git.Oid("a" * 40))
    plain(place.path, "reset", "-q", "--hard", "HEAD~2")
    assert not checkouts.is_there(repo, place.branch, first)


# Names

ODD = [
    *("a..b", "a.lock", "a.", "a...", ".a", "-a", "A", "a", "Aa", "aA", "AA", "a b", "a_b", "a/b"),
    *("a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a@{1}", "@", "", "é", "\ud800", "x" * 65),
    *("a\n", "a\0b", "a.Lock", "HEAD", "..", ".", "a+b", "a.lock.b", "x" * 64, "X" * 300, "a.b"),
]


@pytest.mark.parametrize("name", ODD)
def test_any_id_makes_a_ref_that_git_takes(name: str) -> None:
    part = checkouts.component(name)
    arguments.checked_ref(f"refs/heads/tether/run/{part}")
    ref = ["git", "check-ref-format", f"refs/heads/{part}"]
    assert subprocess.run(ref, check=False).returncode == 0
    assert len(part) < 80
    assert part.isascii()
    assert "/" not in part


def test_no_two_ids_share_a_ref_even_without_capitals() -> None:
    variants = ["".join(v) for v in itertools.product("aA", "bB", ".-", "cC")]
    names = {*ODD, *variants, *map(checkouts.component, [*ODD, *variants])}
    parts = {checkouts.component(name).lower() for name in names}
    assert len(parts) == len(names)


def test_plain_ids_stay_readable() -> None:
    for name in ("task-1", "a.1.2", "0", "fix_the_door"):
        assert checkouts.component(name) == name
    assert checkouts.component("T1.2").startswith("T1.2+")
    assert checkouts.component("a..b").startswith("a._b+")


@pytest.mark.parametrize("task_id", ["T-1", "a..b", "x.lock"])
def test_a_task_with_an_odd_id_has_a_checkout(repo: git.Git, task_id: str) -> None:
    done(repo, "dep")
    assert names(prepare(repo, task_id, "dep").path) == {"dep"}
