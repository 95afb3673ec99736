"""What a task has left unmerged, uncommitted or stashed. Read now, from Git.

A file in a checkout does not say for which task it was changed. So it is told apart: a checkout
that was the task's own, by its claim or by its branch's name, and one where it was worked on, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from tether import clock, errors, git, workspace
from tether.evidence import places
from tether.git import reach
from tether.hints import NamedTuple

_MAX_COMMITS = 200
# How many unmerged branches are looked through, and how many are told.
_MAX_BRANCHES = 1000
_MAX_TOLD = 10
# Of a task's own commits the newest are looked for in branches.
_MAX_HELD = 50
_MAX_CHECKOUTS = 6
_MAX_FILES = 5000
# What Git writes itself names the last commit, not what is stashed.
_MESSAGE = re.compile(r"On [^:\n]{1,250}: (?P<message>.{0,2000})", re.DOTALL)


_NOTHING = git.Uncommitted((), (), (), ())


class Stay(NamedTuple):
    """Where and when a session was at work."""

    directory: str
    branch: str
    since: str
    until: str


class Wanted(NamedTuple):
    """By what the work of one task is recognised."""

    is_named: Callable[[str], bool]
    """Does a text, such as the name of a branch, name the task?"""
    checkout: str = ""
    """Where its last claim was; empty if nobody claimed it, or nobody knows."""
    branch: str = ""
    claimed_at: str = ""
    stays: tuple[Stay, ...] = ()
    """Of the sessions that worked on it, the last one first."""
    commits: tuple[str, ...] = ()
    """Its own, the last one first."""
    edited: tuple[str, ...] = ()
    """Absolute paths."""
    committed: tuple[str, ...] = ()
    """Paths from the top of any checkout."""
    leaves_out: Callable[[str], bool] = lambda _: False
    """Is a path from the top bookkeeping, not work?"""


class Branch(NamedTuple):
    """A branch with commits that the main one does not have."""

    name: str
    head: str
    ahead: int
    """At most 200 are counted."""
    last_at: str
    subjects: tuple[str, ...]
    """Of its newest commits."""


class Checkout(NamedTuple):
    """A checkout with something in it that no commit has."""

    path: str
    branch: str
    is_own: bool
    """Was it the task's own? Then all that is in it counts."""
    own: git.Uncommitted
    rest: git.Uncommitted
    """What is there as well, for whatever task."""
    dirty: frozenset[str] = frozenset()
    """All paths, bookkeeping included."""
    is_complete: bool = True


class Stashed(NamedTuple):
    """A stash, and whether it is the task's for sure or was made while a session worked on it."""

    stash: git.Stash
    is_own: bool


class Unfinished(NamedTuple):
    """Everything that a clean-up of the repository would lose, or a release would lack."""

    branches: tuple[Branch, ...] = ()
    checkouts: tuple[Checkout, ...] = ()
    """All that were looked at, also those with nothing in them."""
    stashes: tuple[Stashed, ...] = ()
    tips: tuple[git.Oid, ...] = ()
    """Whatever any branch, checkout or stash has can be reached from these."""
    problems: tuple[str, ...] = ()

    @property
    def dirty(self) -> list[str]:
        """What no commit has in the task's own checkouts: elsewhere it may be of another one."""
        own = [each.own for each in self.checkouts if each.is_own]
        return [path for found in own for paths in found for path in paths]


def read(here: workspace.Workspace, wanted: Wanted) -> Unfinished:
    """Look for the branches, checkouts and stashes of a task, and into no others."""
    repository = git.Git(here.place)
    try:
        worktrees = [each for each in repository.worktrees() if not each.is_bare]
        heads = [
            oid for under in ("heads", "remotes") for _, oid in repository.refs(f"refs/{under}")
        ]
        main = main_branch(repository)
        branches = unmerged(repository, main, wanted) if main else []
        stashes = repository.stashes()
    except errors.GitError as problem:
        return Unfinished(problems=(f"{here.place}: {problem.message}",))
    names = {each.name for each in branches} - {main}
    problems: list[str] = []
    checkouts = []
    for tree, is_own in chosen(worktrees, wanted, names):
        try:
            checkouts.append(_looked(tree, wanted, is_own=is_own))
        except errors.TetherError as problem:
            problems.append(f"{tree.path}: {problem.message}")
    tips = {*heads, *(each.head for each in worktrees if each.head), *(s.oid for s in stashes)}
    kept = [
        Stashed(each, own) for each in stashes if (own := is_of(each, wanted, names)) is not None
    ]
    return Unfinished(
        tuple(branches), tuple(checkouts), tuple(kept), tuple(sorted(tips)), tuple(problems)
    )


def main_branch(repository: git.Git) -> str:
    """The branch that work is merged into: what the remote says, or the usual names."""
    heads = dict(repository.refs("refs/heads"))
    told = repository.symbolic("refs/remotes/origin/HEAD") or ""
    for name in (told.removeprefix("refs/remotes/origin/"), "main", "master", "trunk"):
        if f"refs/heads/{name}" in heads:
            return name
    return next(iter(heads)).removeprefix("refs/heads/") if len(heads) == 1 else ""


def unmerged(repository: git.Git, main: str, wanted: Wanted) -> list[Branch]:
    """The task's branches that have what the main one lacks: called by its id, or with its work."""
    mains = [repository.tip(f"refs/{at}/{main}") for at in ("heads", "remotes/origin")]
    bases = [oid for oid in mains if oid is not None]
    if not bases:
        return []
    found = reach.unmerged(repository, bases, limit=_MAX_BRANCHES)
    named = [each for each in found if _is_own(each[0], wanted)]
    oids = [git.Oid(each) for each in wanted.commits[:_MAX_HELD] if git.Oid.is_valid(each)]
    held = reach.lacking(repository, bases, oids) if found else []
    holding = reach.unmerged(repository, bases, held, limit=_MAX_TOLD) if held else []
    told: dict[git.Oid, str] = {}
    for some in (named, holding):
        # What is pushed is one branch with what it was pushed from.
        for ref, tip in sorted(some, key=lambda each: each[0].startswith("refs/remotes/")):
            told.setdefault(tip, _short(ref))
    return [_branch(repository, name, tip, bases) for tip, name in list(told.items())[:_MAX_TOLD]]


def _is_own(ref: str, wanted: Wanted) -> bool:
    name = _short(ref)
    # That of a remote is also called so without it.
    names = (name, name.partition("/")[2] if ref.startswith("refs/remotes/") else name)
    return wanted.is_named(name) or (wanted.branch != "" and wanted.branch in names)


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")


def _branch(repository: git.Git, name: str, tip: git.Oid, bases: list[git.Oid]) -> Branch:
    commits = list(repository.log([tip], exclude=bases, max_count=_MAX_COMMITS))
    last_at = clock.text(commits[0].committed_ms) if commits else ""
    return Branch(name, tip, len(commits), last_at, tuple(each.subject for each in commits[:10]))


def chosen(
    worktrees: Iterable[git.Worktree], wanted: Wanted, names: set[str]
) -> list[tuple[git.Worktree, bool]]:
    """The checkouts to look into, and whether each was the task's own: the surest first."""
    there = {each.path: each for each in worktrees if os.path.isdir(each.path)}
    branches = {path: _short(tree.branch or "") for path, tree in there.items()}
    sure = [path for path in there if path == wanted.checkout]
    sure += [path for path, branch in branches.items() if wanted.is_named(branch)]
    # A branch with work of the task may have work of others.
    maybe = [path for path, branch in branches.items() if branch in names]
    maybe += [top_of(path, there) for path in wanted.edited]
    # A directory that is gone may have been a checkout of its own inside of this one.
    maybe += [top_of(s.directory, there) for s in wanted.stays if os.path.isdir(s.directory)]
    paths = [each for each in dict.fromkeys([*sure, *maybe]) if each]
    return [(there[path], path in sure) for path in paths[:_MAX_CHECKOUTS]]


def top_of(path: str, roots: Iterable[str]) -> str:
    """The checkout that a path is in, of several the innermost; empty if in none."""
    inside = (root for root in roots if places.is_inside(path, [root]))
    return max(inside, key=len, default="")


def _looked(tree: git.Worktree, wanted: Wanted, *, is_own: bool) -> Checkout:
    found = git.Git(tree.path).uncommitted(_MAX_FILES)
    prefix = f"{tree.path}/"
    mine = {path.removeprefix(prefix) for path in wanted.edited if path.startswith(prefix)}
    mine |= set(wanted.committed)
    own, rest = split(found, mine, wanted.leaves_out)
    if is_own:
        own = git.Uncommitted(*(first + others for first, others in zip(own, rest, strict=True)))
    if is_own or wanted.checkout:
        # Where there was a claim, the others of another checkout are somebody else's.
        rest = _NOTHING
    return Checkout(
        tree.path,
        _short(tree.branch or ""),
        is_own,
        own,
        rest,
        frozenset(path for paths in found for path in paths),
        all(len(paths) < _MAX_FILES for paths in found),
    )


def split(
    found: git.Uncommitted, mine: set[str], leaves_out: Callable[[str], bool]
) -> tuple[git.Uncommitted, git.Uncommitted]:
    """The files that the task touched, and the others; without bookkeeping."""
    kept = [[path for path in paths if not leaves_out(path)] for paths in found]
    own = (tuple(path for path in paths if path in mine) for paths in kept)
    rest = (tuple(path for path in paths if path not in mine) for paths in kept)
    return git.Uncommitted(*own), git.Uncommitted(*rest)


def is_of(stash: git.Stash, wanted: Wanted, names: set[str]) -> bool | None:
    """Is a stash the task's: for sure, perhaps (False), or not at all (None)?"""
    message = _MESSAGE.match(stash.text)
    if wanted.is_named(stash.branch) or (message and wanted.is_named(message["message"])):
        return True
    at = clock.text(stash.at_ms)
    if stash.branch and stash.branch == wanted.branch and at >= wanted.claimed_at[:19]:
        return True
    if stash.branch in names:
        return True
    was_there = any(
        stash.branch == stay.branch and stay.since[:19] <= at <= stay.until for stay in wanted.stays
    )
    return False if was_there and stash.branch else None
