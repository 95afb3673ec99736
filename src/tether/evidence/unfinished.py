"""What is not where it should be in the end: unmerged, uncommitted, stashed. Read now, from Git."""

from __future__ import annotations

import os

from tether import clock, errors, git, workspace
from tether.hints import NamedTuple

_MAX_COMMITS = 200
_MAX_BRANCHES = 200


class Branch(NamedTuple):
    """A branch with commits that the main one does not have."""

    name: str
    head: str
    ahead: int
    """At most 200 are counted."""
    last_at: str
    subjects: tuple[str, ...]
    """Of its newest commits."""
    files: tuple[str, ...]


class Checkout(NamedTuple):
    """A checkout with something in it that no commit has."""

    path: str
    branch: str
    found: git.Uncommitted


class Unfinished(NamedTuple):
    """Everything that a clean-up of the repository would lose, or a release would lack."""

    main: str
    """The branch that the others are compared with; empty if it is not clear which."""
    branches: tuple[Branch, ...]
    checkouts: tuple[Checkout, ...]
    stashes: tuple[git.Stash, ...]
    problems: tuple[str, ...] = ()


def read(here: workspace.Workspace) -> Unfinished:
    """Look through all branches, checkouts and stashes."""
    repository = git.Git(here.place)
    main = main_branch(repository)
    problems: list[str] = []
    return Unfinished(
        main,
        tuple(unmerged(repository, main)) if main else (),
        tuple(_checkouts(repository, problems)),
        tuple(repository.stashes()),
        tuple(problems),
    )


def main_branch(repository: git.Git) -> str:
    """The branch that work is merged into: what the remote says, or the usual names."""
    heads = dict(repository.refs("refs/heads"))
    told = repository.symbolic("refs/remotes/origin/HEAD") or ""
    for name in (told.removeprefix("refs/remotes/origin/"), "main", "master", "trunk"):
        if f"refs/heads/{name}" in heads:
            return name
    return next(iter(heads)).removeprefix("refs/heads/") if len(heads) == 1 else ""


def unmerged(repository: git.Git, main: str, only: str = "") -> list[Branch]:
    """The branches, or one of them, that have what the main one lacks."""
    tips = dict(repository.refs("refs/heads"))
    base = tips.get(f"refs/heads/{main}")
    found = []
    for ref, tip in list(tips.items())[:_MAX_BRANCHES]:
        name = ref.removeprefix("refs/heads/")
        if base is None or name == main or tip == base or (only and name != only):
            continue
        commits = list(repository.log([tip], exclude=[base], max_count=_MAX_COMMITS))
        if commits:
            files = dict.fromkeys(change.path for each in commits for change in each.changes)
            found.append(
                Branch(
                    name,
                    tip,
                    len(commits),
                    clock.text(commits[0].committed_ms),
                    tuple(each.subject for each in commits[:10]),
                    tuple(files),
                )
            )
    return found


def _checkouts(repository: git.Git, problems: list[str]) -> list[Checkout]:
    found = []
    for each in repository.worktrees():
        if each.is_bare or not os.path.isdir(each.path):
            continue
        try:
            dirty = git.Git(each.path).uncommitted()
        except errors.TetherError as problem:
            problems.append(f"{each.path}: {problem.message}")
            continue
        if any(dirty):
            branch = (each.branch or "").removeprefix("refs/heads/")
            found.append(Checkout(each.path, branch, dirty))
    return found
