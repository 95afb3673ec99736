"""Committing what a verb did, and nothing else: a private index, and a compare-and-swap."""

from __future__ import annotations

from collections.abc import Iterable

from tether import errors, git, text, workspace
from tether.tasks import desk, workdir


def require_branch(place: workspace.Workspace) -> str:
    """The branch to commit to; asked before a verb acts."""
    branch = git.Git(place.place).branch()
    if branch is None:
        raise errors.NotAllowed(
            "HEAD is detached, so there is no branch to commit to. Nothing was changed.",
            hint="Check a branch out, or leave --commit away.",
        )
    return branch


def commit(at: desk.Desk, moved: desk.Moved) -> str | None:
    """Commit the files that a verb touched; the commit, or None if there was nothing new."""
    title = text.one_line(moved.task.title, 60)
    subject = f"tasks: {moved.verb} {moved.task.id}" + (f": {title}" if title else "")
    # The lock was free since the verb: nobody may move the task while its files are read.
    with desk.locked(at, moved.task.id):
        if not at.work.files.exists(moved.task.path):
            raise errors.RefMoved(
                f"{moved.task.id} was moved on before it could be committed. The verb itself is"
                " done; nothing was committed.",
                hint="Whoever moved it can commit it.",
            )
        # Also if an earlier call has done it all: who says --commit wants it committed.
        paths = dict.fromkeys([*moved.touched, moved.task.path, *_left_behind(at, moved.task.id)])
        # Left untracked in two checkouts they would stand in the way of a merge.
        paths |= dict.fromkeys(at.work.keeps())
        try:
            return commit_paths(at, paths, f"{subject}\n\nTask: {moved.task.id}\n")
        except (errors.GitError, errors.RefMoved) as problem:
            problem.message += f" {moved.task.id} was moved; repeat the command to commit it."
            raise


def _left_behind(at: desk.Desk, task_id: str) -> list[str]:
    """Where the branch still has the task's file, though verbs without --commit have moved it."""
    repository = git.Git(at.place.place)
    tip = repository.head()
    if tip is None:
        return []
    found = [
        workdir.located(entry.path, at.work.root)
        for entry in repository.tree(tip, paths=[at.work.root])
    ]
    return [
        each.path
        for each in found
        if each is not None and each.task_id == task_id and not at.work.files.exists(each.path)
    ]


def commit_paths(at: desk.Desk, paths: Iterable[str], message: str) -> str | None:
    """Commit these files as they are now, and those that are gone as gone."""
    branch = require_branch(at.place)
    repository = git.Git(at.place.place)
    edits: dict[str, bytes | None] = {}
    for path in paths:
        edits[path] = at.work.files.read_bytes(path) if at.work.files.exists(path) else None
    if not edits:
        return None
    identity = repository.user_identity() or git.Identity(at.caller.name, "")
    done = repository.commit_paths(branch, edits, message, identity)
    return done.oid if done.is_new else None
