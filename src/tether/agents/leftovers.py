"""What somebody left behind in a checkout: read when their task is taken up again.

The sweep only notes what the store knows. Files and stashes are looked at here, later, because the
dead leave them where they are and nobody deletes a worktree.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from tether import errors, git, workspace
from tether.agents import model


class Leftovers(NamedTuple):
    """What a worktree has that no commit has, and what was stashed on its branch."""

    worktree: str
    staged: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]
    untracked: tuple[str, ...]
    stashes: tuple[git.Stash, ...]

    @property
    def is_empty(self) -> bool:
        return not any(self[1:])


def read(here: workspace.Workspace, claim: model.Claim) -> Leftovers | None:
    """Look into the worktree of a closed claim; None if it is not one of this repository's here."""
    if not claim.worktree or not os.path.isdir(claim.worktree):
        return None
    try:
        there = workspace.find(claim.worktree)
        # The row may come from another machine: the same path can be another repository here.
        if there.root != claim.worktree or there.common_dir != here.common_dir:
            return None
        repository = git.Git(claim.worktree)
        found = repository.uncommitted()
        stashes = [each for each in repository.stashes() if each.branch == (claim.branch or "")]
    except (errors.NotARepository, errors.GitError, errors.FileError):
        return None
    return Leftovers(claim.worktree, *found, tuple(stashes))
