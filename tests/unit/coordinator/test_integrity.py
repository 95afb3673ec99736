"""Is a state whole, and does it agree with its plan?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ledger import DIAMOND, Ledger, plan, task
from tether import git as git_module
from tether.coordinator import integrity
from tether.coordinator.state import Completion, State

Git = Callable[..., str]


@pytest.fixture
def ledger() -> Ledger:
    """T1 is completed, T2 in progress, T3 available, T4 blocked."""
    ledger = Ledger(DIAMOND)
    ledger.complete("T1")
    ledger.work("T2", "a2")
    return ledger


def problems(ledger: Ledger) -> list[str]:
    return integrity.problems(ledger.state, ledger.fold.outlook)


def test_a_state_that_followed_from_events_is_whole(ledger: Ledger) -> None:
    assert problems(ledger) == []


@pytest.mark.parametrize(
    ("break_", "said"),
    [
        (lambda s: s.available.update(T2=None), "T2 is in 2 positions"),
        (lambda s: s.available.pop("T3"), "T3 is in no position"),
        (lambda s: s.active_agents.clear(), "T2 is in progress without a worker"),
        (lambda s: s.blocked["T4"].pop("T2"), "T4 waits for something else than the plan says"),
        (lambda s: s.blocked.update(T3={}), "T3 is in 2 positions"),
    ],
)
def test_what_is_wrong_is_said(ledger: Ledger, break_: Callable[[State], None], said: str) -> None:
    break_(ledger.state)
    assert said in problems(ledger)


def test_the_blocked_graph_is_rebuilt_from_the_plan(ledger: Ledger) -> None:
    state, outlook = ledger.state, ledger.fold.outlook
    assert integrity.rebuild_blocked(state, outlook) == {"T4": {"T2": None, "T3": None}}
    state.blocked.clear()
    assert integrity.rebuild_blocked(state, outlook) == {"T4": {"T2": None, "T3": None}}


def test_completed_tasks_that_the_plan_knows_are_counted(ledger: Ledger) -> None:
    ledger.state.completed["T9"] = Completion("")
    assert integrity.verified(ledger.state, ledger.fold.outlook) == 1


# What Git says against it


def contradictions(state: State, repo: Path) -> list[str]:
    outlook = Ledger(plan(task("T1", files=("src/a.py", "docs/*.md")), task("T2"))).fold.outlook
    return integrity.contradictions(state, outlook, git_module.Git(str(repo)), str(repo))


def test_a_commit_that_is_here_contradicts_nothing(repo: Path, git: Git) -> None:
    head = git("rev-parse", "HEAD", cwd=repo)
    done = {"T2": Completion("", commit_sha=head, branch="main")}
    assert contradictions(State("house", completed=done), repo) == []


def test_a_missing_commit_is_shown(repo: Path) -> None:
    done = {"T2": Completion("", commit_sha="0123456789" * 4)}
    assert contradictions(State("house", completed=done), repo) == [
        "T2 is completed, but its commit 012345678901 is not here"
    ]


def done_on(branch: str, repo: Path, git: Git) -> State:
    """T2 was completed with a commit on a branch; what is checked out is `main`, without it."""
    git("checkout", "-qb", branch, cwd=repo)
    git("commit", "-q", "--allow-empty", "-m", "T2", cwd=repo)
    head = git("rev-parse", "HEAD", cwd=repo)
    git("checkout", "-q", "main", cwd=repo)
    return State("house", completed={"T2": Completion("", commit_sha=head, branch=branch)})


def test_a_branch_that_went_back_is_shown(repo: Path, git: Git) -> None:
    state = done_on("topic", repo, git)
    assert contradictions(state, repo) == []
    git("branch", "-qf", "topic", "main", cwd=repo)
    sha = state.completed["T2"].commit_sha[:12]
    assert contradictions(state, repo) == [f"T2 is completed, but topic does not have {sha}"]


def test_a_branch_may_go_once_it_is_merged(repo: Path, git: Git) -> None:
    state = done_on("topic", repo, git)
    git("merge", "-q", "--no-ff", "-m", "Merge", "topic", cwd=repo)
    git("branch", "-qd", "topic", cwd=repo)
    assert contradictions(state, repo) == []


def test_a_missing_file_is_shown_unless_a_branch_has_it(repo: Path) -> None:
    done = {"T1": Completion("")}
    assert contradictions(State("house", completed=done), repo) == [
        "T1 is completed, but src/a.py is not here"
    ]
    done = {"T1": Completion("", branch="x")}
    assert contradictions(State("house", completed=done), repo) == []
