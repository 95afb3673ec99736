"""Many processes commit to one branch of one worktree: nothing is lost and the index follows.

Once as they are, taking turns, and once all at the same time, when only comparing and swapping
keeps them apart. The controls do the same with `git add` and `git commit`, and with a swap that
does not compare: the same check must catch both.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import crowd
from tests.figures import Figures
from tests.scale import count
from tether import errors, git
from tether.git import commits

MAIN = "refs/heads/main"
ANNA = git.Identity("Anna", "anna@example.org")
PROCESSES = 8
EACH = 50


class Told(NamedTuple):
    """What one commit reported: its file, how it went, and how many swaps it took."""

    path: str
    outcome: str
    swaps: int


class Counting(commits.Committer):
    """Counts how often the branch was swapped or found moved."""

    swaps = 0

    def _swap(
        self, ref: str, new: git.Oid, old: git.Oid | None, person: Mapping[str, str]
    ) -> errors.GitError | None:
        self.swaps += 1
        return super()._swap(ref, new, old, person)


class Impatient(Counting):
    """Does not wait for its turn, as git's own commands do not."""

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        yield


class Careless(Impatient):
    """Puts the branch where it wants it, whatever happened meanwhile."""

    def _swap(
        self, ref: str, new: git.Oid, old: git.Oid | None, person: Mapping[str, str]
    ) -> errors.GitError | None:
        del old
        return super()._swap(ref, new, self._git.tip(ref), person)


def in_turns(top: Path, path: str) -> Told:
    return _through(Counting(git.Git(top)), path)


def all_at_once(top: Path, path: str) -> Told:
    return _through(Impatient(git.Git(top)), path)


def without_comparing(top: Path, path: str) -> Told:
    return _through(Careless(git.Git(top)), path)


def _through(repo: Counting, path: str) -> Told:
    try:
        done = repo.commit_paths(MAIN, {path: path.encode()}, path, ANNA, attempts=200)
    except errors.RefMoved:
        return Told(path, "given up", repo.swaps)
    return Told(path, done.index_state, repo.swaps)


def with_add_and_commit(top: Path, path: str) -> Told:
    (top / path).parent.mkdir(exist_ok=True)
    (top / path).write_text(path)
    try:
        plain(top, "add", path)
        plain(top, "commit", "--quiet", "--message", path)
    except subprocess.CalledProcessError:
        return Told(path, "failed", 1)
    return Told(path, "current", 1)


Commit = Callable[[Path, str], Told]


def plain(top: Path, *arguments: str) -> str:
    """Git as a user would run it."""
    names = {f"GIT_{role}_NAME": "Anna" for role in ("AUTHOR", "COMMITTER")}
    emails = {f"GIT_{role}_EMAIL": "anna@example.org" for role in ("AUTHOR", "COMMITTER")}
    return subprocess.run(
        ["git", *arguments],
        cwd=top,
        env={**os.environ, **names, **emails, "GIT_CONFIG_GLOBAL": "/dev/null"},
        capture_output=True,
        check=True,
        text=True,
    ).stdout


def run(top: Path, commit: Commit, processes: int, each: int) -> list[Told]:
    """Let the processes loose on a repository; what they were told."""

    def work(number: int) -> list[Told]:
        return [commit(top, f"work/{number}-{n}.yaml") for n in range(each)]

    return [told for answers in crowd.run(processes, work) for told in answers]


def faults(top: Path, told: list[Told]) -> list[str]:
    """Everything that is wrong with what is in the repository after such a run."""
    repo = git.Git(top)
    tip = repo.resolve("main")
    subjects = [commit.subject for commit in repo.log([tip])]
    files = {entry.path for entry in repo.tree(tip)}
    found = [f"{t.path}: {t.outcome}" for t in told if t.outcome != "current"]
    found += [f"{t.path}: {subjects.count(t.path)} commits" for t in told if t.path not in subjects]
    found += [f"{t.path}: file lost" for t in told if t.path not in files]
    found += plain(top, "fsck", "--strict", "--no-dangling").splitlines()
    found += plain(top, "diff", "--cached", "--name-only").splitlines()
    found += [f"left behind: {lock.name}" for lock in (top / ".git").rglob("*.lock")]
    return found


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository with one commit."""
    repo = git.init(tmp_path / "repo")
    repo.commit_paths(MAIN, {"README": b"x"}, "first", ANNA)
    return repo.directory


@pytest.mark.proof(room="git")
@pytest.mark.parametrize("commit", [in_turns, all_at_once])
def test_every_commit_of_every_process_is_there(
    top: Path, commit: Commit, figures: Figures
) -> None:
    processes, each = count(PROCESSES, at_least=4), count(EACH, at_least=8)
    told = run(top, commit, processes, each)
    assert faults(top, told) == []
    assert len(list(git.Git(top).log([git.Git(top).resolve("main")]))) == processes * each + 1
    retries = sum(t.swaps - 1 for t in told)
    assert retries <= 5 * len(told)
    figures.add(
        f"commits to one branch, {commit.__name__.replace('_', ' ')}",
        processes=processes,
        commits=len(told),
        lost=0,
        retries=retries,
        most_swaps_of_one_commit=max(t.swaps for t in told),
    )


@pytest.mark.proof(room="git")
@pytest.mark.parametrize("careless", [with_add_and_commit, without_comparing])
def test_the_check_catches_commits_that_get_lost(
    top: Path, careless: Commit, figures: Figures
) -> None:
    """The control."""
    told = run(top, careless, count(PROCESSES, at_least=4), count(EACH, at_least=8))
    found = faults(top, told)
    assert found
    words = careless.__name__.replace("_", " ")
    figures.add(f"control {words}", commits=len(told), faults_found=len(found))


@pytest.mark.proof(room="git")
def test_processes_that_change_one_file_take_turns_and_the_index_ends_at_the_last(
    top: Path, figures: Figures
) -> None:
    each = count(EACH, at_least=8)
    told = run(top, _bump, 4, each)
    repo = git.Git(top)
    done = sum(t.outcome != "given up" for t in told)
    assert repo.read_file(repo.resolve("main"), "counter") == b"%d" % done
    assert plain(top, "diff", "--cached", "--name-only") == ""
    figures.add("changes of one file", tried=len(told), done=done)


def _bump(top: Path, path: str) -> Told:
    """Add one to a number that everybody changes; a lost race leaves it as it is."""
    repo = git.Git(top)
    committer = Counting(repo)
    base = repo.resolve("main")
    after = b"%d" % (int(repo.read_file(base, "counter") or b"0") + 1)
    try:
        done = committer.commit_paths(MAIN, {"counter": after}, path, ANNA, base=base)
    except errors.RefMoved:
        return Told(path, "given up", committer.swaps)
    return Told(path, done.index_state, committer.swaps)
