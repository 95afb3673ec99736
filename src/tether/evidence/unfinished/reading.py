"""What a task has left unmerged, uncommitted or stashed. Read now, from Git.

A file in a checkout does not say for which task it was changed. So three are told apart: those that
are the task's, those of which nobody knows, and those of other tasks, which are not told.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from tether import clock, errors, git, workspace
from tether.evidence import places
from tether.evidence.unfinished import branches, ownership
from tether.git import reach, reflog
from tether.hints import NamedTuple

_MAX_CHECKOUTS = 6
_MAX_FILES = 5000
_MAX_STASHES = 1000
# Commits whose paths are asked for.
_MAX_COMMITS = 1000
# What Git writes itself names the last commit, not what is stashed.
_MESSAGE = re.compile(r"On [^:\n]{1,250}: (?P<message>.{0,2000})", re.DOTALL)


class Stay(NamedTuple):
    """Where and when somebody was at work."""

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
    holds: tuple[Stay, ...] = ()
    """Its claims since it was last done, the last one first."""
    stays: tuple[Stay, ...] = ()
    """Of the sessions that worked on it, the last one first."""
    commits: tuple[str, ...] = ()
    """Its own, the last one first."""
    edited: tuple[str, ...] = ()
    """Absolute paths."""
    committed: tuple[str, ...] = ()
    """Paths from the top of any checkout."""
    reserved: tuple[str, ...] = ()
    """Patterns of its last claim."""
    is_shared: bool = False
    """Was anybody else at work in its checkout since it was claimed?"""
    others: tuple[Stay, ...] = ()
    """The claims of other tasks: in its checkout since then, and those that are open now."""
    theirs: Mapping[str, str] = MappingProxyType({})
    """Absolute paths and when each was last edited for another task."""
    their_reserved: tuple[tuple[str, str], ...] = ()
    """(checkout, pattern) of those."""
    leaves_out: Callable[[str], bool] = lambda _: False
    """Is a path from the top bookkeeping, not work?"""
    is_some_task: Callable[[str], bool] = lambda _: False
    """Does a text name any task at all?"""

    @property
    def since(self) -> str:
        """When it came to its checkout."""
        return min((h.since for h in self.holds if h.directory == self.checkout), default="")

    @property
    def until(self) -> str:
        """When its last claim was let go."""
        return self.holds[0].until if self.holds else "9"


class Checkout(NamedTuple):
    """A checkout with something in it that no commit has."""

    path: str
    branch: str
    is_own: bool
    """Was it the task's own? Then all counts that is not known to be of others."""
    own: git.Uncommitted
    rest: git.Uncommitted
    """What is there as well, for whatever task."""
    dirty: frozenset[str] = frozenset()
    """All paths, bookkeeping included."""
    is_complete: bool = True
    is_claimed: bool = False
    """Was its claim here? Then what it touched is its own, whoever else was here."""


class Stashed(NamedTuple):
    """A stash, and whether it is the task's for sure or may be that of another one."""

    stash: git.Stash
    is_own: bool


class Unfinished(NamedTuple):
    """Everything that a clean-up of the repository would lose, or a release would lack."""

    branches: tuple[branches.Branch, ...] = ()
    checkouts: tuple[Checkout, ...] = ()
    """All that were looked at, also those with nothing in them."""
    stashes: tuple[Stashed, ...] = ()
    tips: tuple[git.Oid, ...] = ()
    """Whatever any branch, checkout or stash has can be reached from these."""
    problems: tuple[str, ...] = ()
    is_branched: bool = False
    """Is there a branch called by its id, merged or not?"""
    knows_main: bool = True
    """Is it known which branch is the main one?"""
    more: tuple[str, ...] = ()
    """What there is besides and was not looked at, in words."""

    @property
    def dirty(self) -> list[str]:
        """The task's own files that no commit has: elsewhere they may be of another one."""
        own = [each.own for each in self.checkouts if each.is_own or each.is_claimed]
        return [path for found in own for paths in found for path in paths]


class _Chosen(NamedTuple):
    """A checkout to look into, and what of it counts."""

    tree: git.Worktree
    is_own: bool
    tells_rest: bool


def read(here: workspace.Workspace, wanted: Wanted) -> Unfinished:
    """Look for the branches, checkouts and stashes of a task, and into no others."""
    repository = git.Git(here.place)
    try:
        worktrees = [each for each in repository.worktrees() if not each.is_bare]
        refs = [*repository.refs("refs/heads"), *repository.refs("refs/remotes")]
        main = branches.main_branch(repository, wanted.is_some_task)
        asked = branches.Asked(wanted.is_named, wanted.branch, wanted.commits)
        found = branches.unmerged(repository, main, asked) if main else branches.Unmerged()
        wanted = wanted._replace(committed=_committed(repository, wanted))
        stashes = repository.stashes(_MAX_STASHES)
    except errors.GitError as problem:
        return Unfinished(problems=(f"{here.place}: {problem.message}",))
    names = {each.name for each in found.branches} - {main}
    problems: list[str] = []
    checkouts = []
    every = chosen(worktrees, wanted, names)
    for each in every[:_MAX_CHECKOUTS]:
        try:
            checkouts.append(_looked(each, wanted))
        except errors.TetherError as problem:
            problems.append(f"{each.tree.path}: {problem.message}")
    heads = {oid for _, oid in refs}
    tips = {*heads, *(each.head for each in worktrees if each.head), *(s.oid for s in stashes)}
    kept = [
        Stashed(each, own) for each in stashes if (own := is_of(each, wanted, names)) is not None
    ]
    return Unfinished(
        found.branches,
        tuple(checkouts),
        tuple(kept),
        tuple(sorted(tips)),
        tuple(problems),
        any(wanted.is_named(branches.short(ref)) for ref, _ in refs),
        bool(main) or not refs,
        tuple(_more(found.more, len(every) - _MAX_CHECKOUTS, len(stashes))),
    )


def _more(unmerged: int, unseen: int, stashes: int) -> Iterable[str]:
    if unmerged > 0:
        yield f"and {unmerged} more branches with its name or its commits, not merged"
    if unseen > 0:
        yield f"and {unseen} more checkouts where it was worked on, not looked into"
    if stashes >= _MAX_STASHES:
        yield f"and perhaps more stashes: the newest {_MAX_STASHES} were looked at"


def _committed(repository: git.Git, wanted: Wanted) -> tuple[str, ...]:
    """What its commits changed: all of it, of which the timeline has the first few."""
    oids = [git.Oid(each) for each in wanted.commits[:_MAX_COMMITS] if git.Oid.is_valid(each)]
    here = set(oids) - repository.missing(oids) if oids else set()
    return tuple(sorted({*wanted.committed, *reach.changed(repository, here)}))


def chosen(worktrees: Iterable[git.Worktree], wanted: Wanted, names: set[str]) -> list[_Chosen]:
    """The checkouts to look into, the surest first."""
    there = {each.path: each for each in worktrees if os.path.isdir(each.path)}
    on = {path: branches.short(tree.branch or "") for path, tree in there.items()}
    taken = {each.directory for each in wanted.others}
    sure = [path for path in there if path == wanted.checkout and not wanted.is_shared]
    sure += [path for path in there if wanted.is_named(on[path]) and path not in taken]
    known = [path for path in there if path == wanted.checkout or wanted.is_named(on[path])]
    # A branch with work of the task may have work of others.
    maybe = [path for path in there if on[path] in names]
    maybe += [top_of(path, there) for path in wanted.edited]
    # A directory that is gone may have been a checkout of its own inside of this one.
    maybe += [top_of(s.directory, there) for s in wanted.stays if os.path.isdir(s.directory)]
    made = [] if wanted.holds else [p for p in there if p not in taken and _was_made(p, wanted)]
    # Where there was a claim, the others of another checkout are somebody else's.
    rests = {*known, *(() if wanted.checkout else maybe)}
    paths = [each for each in dict.fromkeys([*sure, *known, *maybe, *made]) if each]
    return [_Chosen(there[path], path in sure, path in rests) for path in paths]


def _was_made(checkout: str, wanted: Wanted) -> bool:
    """Was one of its commits made in a checkout, by Git's log of it?"""
    commits = set(wanted.commits)
    try:
        git_dir = workspace.find(checkout).git_dir if commits else ""
    except errors.TetherError:
        return False
    return bool(git_dir) and any(each.oid in commits for each in reflog.made(git_dir))


def top_of(path: str, roots: Iterable[str]) -> str:
    """The checkout that a path is in, of several the innermost; empty if in none."""
    inside = (root for root in roots if places.is_inside(path, [root]))
    return max(inside, key=len, default="")


def _looked(chosen: _Chosen, wanted: Wanted) -> Checkout:
    top = chosen.tree.path
    found = git.Git(top).uncommitted(_MAX_FILES)
    prefix = f"{top}/"
    mine = {path.removeprefix(prefix) for path in wanted.edited if path.startswith(prefix)}
    theirs = {
        path.removeprefix(prefix): at
        for path, at in wanted.theirs.items()
        if path.startswith(prefix)
    }
    is_claimed = top == wanted.checkout
    files = ownership.Files(
        frozenset(mine | set(wanted.committed)),
        theirs,
        wanted.reserved if is_claimed else (),
        tuple(pattern for where, pattern in wanted.their_reserved if where == top),
        chosen.is_own,
        wanted.since if is_claimed else "",
        wanted.until if is_claimed and wanted.is_shared else "9",
    )

    def whose(path: str) -> bool | None:
        own = (
            None
            if wanted.leaves_out(path)
            else ownership.is_own(path, ownership.changed_at(prefix + path), files)
        )
        return own if own or chosen.tells_rest else None

    own, rest = (
        git.Uncommitted(*(tuple(p for p in paths if whose(p) is which) for paths in found))
        for which in (True, False)
    )
    return Checkout(
        top,
        branches.short(chosen.tree.branch or ""),
        chosen.is_own,
        own,
        rest,
        frozenset(path for paths in found for path in paths),
        all(len(paths) < _MAX_FILES for paths in found),
        is_claimed,
    )


def is_of(stash: git.Stash, wanted: Wanted, names: set[str]) -> bool | None:
    """Is a stash the task's: for sure, perhaps (False), or not at all (None)?"""
    message = _MESSAGE.match(stash.text)
    if wanted.is_named(stash.branch) or (message and wanted.is_named(message["message"])):
        return True
    if not stash.branch:
        return None
    if _was_there(stash, wanted.holds):
        return not _was_there(stash, wanted.others)
    return False if stash.branch in names or _was_there(stash, wanted.stays) else None


def _was_there(stash: git.Stash, stays: Iterable[Stay]) -> bool:
    """Was somebody at work on its branch when it was made? It bears no more than a second."""
    at = clock.text(stash.at_ms)
    return any(s.branch == stash.branch and s.since[:19] <= at <= s.until for s in stays)
