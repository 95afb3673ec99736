"""What somebody left behind in a checkout: read when their task is taken up again.

The sweep only notes what the store knows. Files and stashes are looked at here, later, because the
dead leave them where they are and nobody deletes a worktree.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from tether import clock, errors, git, workspace
from tether.agents import model
from tether.hints import NamedTuple


class Leftovers(NamedTuple):
    """What a worktree has that no commit has, and what was stashed on its branch."""

    why_not: str = ""
    """Why nobody could look; empty if somebody could."""
    staged: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    stashes: tuple[git.Stash, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not any(self)


def read(
    here: workspace.Workspace,
    claim: model.Claim,
    leaves_out: Callable[[str], bool] = lambda _: False,
) -> Leftovers:
    """Look into the worktree of a closed claim, if it is one of this repository's here.

    The paths from its top that are bookkeeping, not work, are left out.
    """
    reason = why_not(here, claim)
    if reason or not claim.worktree:
        return Leftovers(reason)
    try:
        repository = git.Git(claim.worktree)
        found = repository.uncommitted()
        stashes = [each for each in repository.stashes() if _is_of(each, claim)]
    except (errors.NotARepository, errors.GitError, errors.FileError) as problem:
        return Leftovers(f"Git could not say ({problem.code})")
    staged, changed, deleted, untracked = (
        tuple(path for path in paths if not leaves_out(path)) for paths in found
    )
    return Leftovers("", staged, changed, deleted, untracked, tuple(stashes))


def _is_of(stash: git.Stash, claim: model.Claim) -> bool:
    """Was a stash made on the branch of a claim while it was held? It bears the second only."""
    at = clock.text(stash.at_ms)
    is_then = claim.claimed_at[:19] <= at and (claim.closed_at is None or at <= claim.closed_at)
    return stash.branch == (claim.branch or "") and is_then


def why_not(here: workspace.Workspace, claim: model.Claim) -> str:
    """Why nobody can look where a claim was; empty if somebody can."""
    if not claim.worktree:
        return "it is not known where the work was done"
    if not os.path.isdir(claim.worktree):
        return "this directory is not on this machine, or gone"
    try:
        there = workspace.find(claim.worktree)
    except (errors.NotARepository, errors.GitError, errors.FileError) as problem:
        return f"Git could not say ({problem.code})"
    # The row may come from another machine: the same path can be another repository here.
    if there.root != claim.worktree or there.common_dir != here.common_dir:
        return "this directory is not a worktree of this repository"
    return ""
