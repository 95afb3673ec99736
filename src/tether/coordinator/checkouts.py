"""The branch and the checkout of each task: what its dependencies made, put together for a worker.

Nothing here is reset, forced, overwritten or removed, and whoever was killed can begin again. What
cannot be put together without a decision is a value for somebody to decide on; the last merge, into
the branch that people work on, is theirs in any case.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Sequence

from tether import errors, files
from tether import git as tether_git
from tether.git import checkouts, merging
from tether.hints import Literal, NamedTuple

_HOME = ".tether"
_NOBODY = tether_git.Identity("Tether", "tether@localhost")
_MAX_COMPONENT = 64
# Also a sign that must not come first, and a dot after another one.
_UNREADABLE = re.compile(r"[^A-Za-z0-9._-]|^[-.]|(?<=\.)\.")
_PLAIN = re.compile(r"[a-z0-9_][a-z0-9._-]{0,63}")


class Checkout(NamedTuple):
    """Where a worker works."""

    path: str
    branch: str
    """The full name of the ref."""
    head: tether_git.Oid
    is_new: bool
    """Was the checkout made by this call? Its branch may be older."""


class Conflict(NamedTuple):
    """The branch of a dependency that cannot be merged without somebody's decision."""

    task_id: str
    branch: str
    paths: tuple[str, ...]
    why: Literal["conflict", "unrelated", "missing"] = "conflict"
    """Beside a conflict: it has no commit in common with the others, or it is not there."""


class Dirty(NamedTuple):
    """A checkout that must be looked at before anything is merged into it, or done in it."""

    path: str
    paths: tuple[str, ...]
    stands_on: str = ""
    """The branch or commit that it has instead of the task's branch; empty if it has that."""


Dependency = tuple[str, str]
"""The id of a task and the full name of its branch."""


def branch_of(run: str, task_id: str) -> str:
    """The full name of a task's branch."""
    return f"refs/heads/tether/{component(run)}/{component(task_id)}"


def component(name: str) -> str:
    """A name as a part of a ref and of a path: legal, readable, and no other name's.

    Not even on a disk that does not tell capitals from small letters. A plain name stays as it is;
    any other gets a mark that no plain name has.
    """
    if _PLAIN.fullmatch(name) and ".." not in name and not name.endswith((".", ".lock")):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    readable = _UNREADABLE.sub("_", name[:_MAX_COMPONENT])
    return f"{readable}+{digest}"


def prepare(
    git: tether_git.Git,
    top: str,
    run: str,
    task_id: str,
    base: tether_git.Oid,
    dependencies: Sequence[Dependency],
    *,
    when_ms: int | None = None,
) -> Checkout | Conflict | Dirty:
    """A checkout of the task's branch with the branches of its dependencies merged in, in order.

    A new branch starts at the base. One that is there keeps what it has, and gets what its
    dependencies have beyond that.
    """
    if git.runner.facts.is_bare:
        raise errors.UsageError(
            "A bare repository has no working tree to make checkouts in. Nothing was changed.",
            hint="Start the run in a checkout of it.",
        )
    branch = branch_of(run, task_id)
    merge = _Merge(git, task_id, git.user_identity() or _NOBODY, when_ms)
    tip = git.tip(branch)
    if tip is not None:
        return _resume(merge, top, branch, tip, dependencies)
    head = merge.all_into(base, dependencies)
    if isinstance(head, Conflict):
        return head
    merging.create_branch(git, branch, head, merge.identity)
    return _place(git, top, branch, head)


def left_behind(git: tether_git.Git, limit: int = 50) -> tuple[str, ...]:
    """What a worker's checkout has that no commit has, but for ignored files; cut to a limit."""
    found = {path for paths in git.uncommitted(limit) for path in paths}
    return tuple(sorted(found)[:limit])


def is_there(git: tether_git.Git, branch: str, oid: tether_git.Oid) -> bool:
    """Is there such a branch, and does it have this commit?"""
    tip = git.tip(branch)
    return tip is not None and merging.is_ancestor(git, oid, tip)


def _resume(
    merge: _Merge,
    top: str,
    branch: str,
    tip: tether_git.Oid,
    dependencies: Sequence[Dependency],
) -> Checkout | Conflict | Dirty:
    """The checkout first, so that whatever was left in it is seen before anything is merged."""
    place = _place(merge.git, top, branch, tip)
    if isinstance(place, Dirty):
        return place
    head = merge.all_into(tip, dependencies)
    if isinstance(head, Conflict):
        return head
    if head == tip:
        return place
    # The branch last: with the files of the merge and the old commit a checkout shows what it got
    # as staged, and this goes on from there. The other way round it would show, and whoever works
    # there would commit, the merge taken back.
    in_the_way = checkouts.advance_worktree(tether_git.Git(place.path), tip, head)
    if in_the_way:
        return Dirty(place.path, in_the_way)
    merging.move_branch(merge.git, branch, head, tip, merge.identity)
    return place._replace(head=head)


class _Merge(NamedTuple):
    """How the branches of dependencies are merged for a task."""

    git: tether_git.Git
    task_id: str
    identity: tether_git.Identity
    when_ms: int | None

    def all_into(
        self, head: tether_git.Oid, dependencies: Sequence[Dependency]
    ) -> tether_git.Oid | Conflict:
        """A commit that has this one and all of the branches, as far as it has not."""
        for task_id, branch in dependencies:
            found = self._into(head, task_id, branch)
            if isinstance(found, Conflict):
                return found
            head = found
        return head

    def _into(self, head: tether_git.Oid, task_id: str, branch: str) -> tether_git.Oid | Conflict:
        theirs = self.git.tip(branch)
        if theirs is None:
            return Conflict(task_id, branch, (), "missing")
        merged = merging.merge(self.git, head, theirs)
        if merged.is_contained:
            return head
        if merged.is_fast_forward:
            return theirs
        if merged.tree is None:
            why = merged.outcome if merged.outcome == "unrelated" else "conflict"
            return Conflict(task_id, branch, merged.conflicts, why)
        message = f"Merge {branch.removeprefix('refs/heads/')} for {self.task_id}\n"
        return merging.commit_tree(
            self.git, merged.tree, (head, theirs), message, self.identity, self.when_ms
        )


def _place(git: tether_git.Git, top: str, branch: str, head: tether_git.Oid) -> Checkout | Dirty:
    """The checkout of a branch: where it is already, or in a place of its own."""
    path = checkouts.find(git, branch) or _make_place(top, branch)
    placed = checkouts.add_worktree(git, path, branch)
    if placed.in_the_way or placed.stands_on:
        return Dirty(path, placed.in_the_way, placed.stands_on)
    return Checkout(path, branch, head, placed.is_new)


def _make_place(top: str, branch: str) -> str:
    """An empty directory below the working tree, which Git does not see there."""
    root = files.Root(top)
    name = f"{_HOME}/worktrees/{branch.removeprefix('refs/heads/tether/')}"
    root.make_directories(_HOME)
    if not root.exists(f"{_HOME}/.gitignore"):
        with contextlib.suppress(errors.AlreadyThere):
            root.write_atomic(f"{_HOME}/.gitignore", b"*\n", replace=False)
    root.make_directories(name)
    return os.path.join(top, name)
