"""What other checkouts and branches say of a task: looked up where its last claim ended.

A verb never commits, so the worktree itself is asked first, as long as it is on that branch; then
the tip of the branch.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from tether import errors, workspace
from tether.agents import lookout, roll
from tether.agents import model as agents
from tether.tasks import effective, model, states, workdir

# What an outcome says of a file that cannot be looked at.
_SAID = {
    "done": states.DONE,
    "failed": states.ERROR,
    effective.CANCELLED: effective.CANCELLED,
}


class Elsewhere:
    """Looks into the other checkouts and branches of a repository, each at most once."""

    def __init__(
        self,
        here: workspace.Workspace,
        work: workdir.Workdir,
        is_remote: Callable[[agents.Claim], bool] = lambda _: False,
    ) -> None:
        self._here = here
        self._work = work
        self._is_remote = is_remote
        """Was a claim last heard of on another machine?"""
        self._branch = workspace.head(here).branch
        self._worktrees: dict[str, workspace.Workspace | None] = {}
        self._trees: dict[str, dict[str, list[workdir.Found]]] = {}

    def is_here(self, claim: agents.Claim) -> bool:
        """Did this claim end on the branch of this checkout?"""
        if self._is_foreign(claim):
            return False
        if claim.branch is not None and self._branch is not None:
            return claim.branch == self._branch
        return claim.worktree == self._here.root

    def state(self, claim: agents.Claim, *, asks_git: bool = True) -> str:
        """The state of the task's file where a claim ended."""
        if self._is_foreign(claim):
            # Another clone's files cannot be looked at, and its branches have names like ours.
            return _SAID.get(claim.outcome or "", effective.ABSENT)
        found = self._in_worktree(claim)
        if found in (states.DONE, effective.CANCELLED):
            return found  # also if the worktree has gone on to another branch with it
        on_branch = self._on_branch(claim) if asks_git and claim.branch else effective.ABSENT
        is_there = found != effective.ABSENT and self._is_still_on(claim)
        return found if is_there else on_branch

    def _is_foreign(self, claim: agents.Claim) -> bool:
        """Is it of another clone: on this machine a directory that is not of this repository?"""
        path = claim.worktree
        if not path or path == self._here.root:
            return False
        if not os.path.isdir(path):
            return self._is_remote(claim)
        return self._opened(path) is None

    def _in_worktree(self, claim: agents.Claim) -> str:
        path = claim.worktree
        if not path or path == self._here.root:
            return effective.ABSENT
        if self._opened(path) is None:
            return effective.ABSENT
        work = workdir.Workdir(path, self._work.root, self._work.leave_out)
        return _best([work.read(each) for each in work.find(claim.task)])

    def _is_still_on(self, claim: agents.Claim) -> bool:
        there = self._opened(claim.worktree or "")
        return there is not None and workspace.head(there).branch == claim.branch

    def _opened(self, path: str) -> workspace.Workspace | None:
        """Another worktree of this repository; None if it is none, or none any more."""
        if path not in self._worktrees:
            self._worktrees[path] = self._found(path)
        return self._worktrees[path]

    def _found(self, path: str) -> workspace.Workspace | None:
        if not os.path.isdir(path):
            return None
        try:
            there = workspace.find(path)
        except errors.TetherError:
            return None
        is_ours = there.root == path and there.common_dir == self._here.common_dir
        return there if is_ours else None

    def _on_branch(self, claim: agents.Claim) -> str:
        branch = claim.branch or ""
        if branch not in self._trees:
            self._trees[branch] = self._listed(branch)
        places = [each.place for each in self._trees[branch].get(claim.task, [])]
        if claim.outcome == effective.CANCELLED and states.ARCHIVE in places:
            return effective.CANCELLED
        if states.DONE in places or states.ARCHIVE in places:
            return states.DONE
        if states.ASSIGNED in places and claim.outcome == "failed":
            return states.ERROR
        return states.PLACES[places[0]][0] if places else effective.ABSENT

    def _listed(self, branch: str) -> dict[str, list[workdir.Found]]:
        """The task files at the tip of a branch, by id; none if there is no such branch."""
        from tether import git

        found: dict[str, list[workdir.Found]] = {}
        try:
            repository = git.Git(self._here.place)
            tip = repository.tip(f"refs/heads/{branch}")
            if tip is None:
                return found
            for entry in repository.tree(tip, paths=[self._work.root]):
                each = workdir.located(entry.path, self._work.root)
                if each is not None:
                    found.setdefault(each.task_id, []).append(each)
        except errors.TetherError:
            # A name that is no branch, or a Git that cannot be asked: nothing is known of it.
            return {}
        return found


def _best(tasks: list[model.Task]) -> str:
    """The state that counts among the files of one task."""
    readable = [task for task in tasks if not task.problem]
    if not readable:
        return effective.ABSENT
    best = max(readable, key=lambda task: states.RANK.get(task.state, 5))
    if best.is_cancelled:
        return effective.CANCELLED
    return states.DONE if best.state == states.ARCHIVED else best.state


def is_remote(rows: roll.Rows, spot: lookout.Lookout) -> Callable[[agents.Claim], bool]:
    """Asks the registry on which machine a claim's session was last heard of."""

    def ask(claim: agents.Claim) -> bool:
        holder = roll.get(rows, claim.session_id)
        return holder is not None and holder.host_name != spot.host_name

    return ask
