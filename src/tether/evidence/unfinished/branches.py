"""The branches with a task's work that the main one lacks. Read now, from Git."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tether import clock, git
from tether.git import objects, reach
from tether.hints import NamedTuple

USUAL = ("main", "master", "trunk", "develop")
_HEADS = "refs/heads/"
_REMOTES = "refs/remotes/"
_ORIGIN_HEAD = "refs/remotes/origin/HEAD"
_MAX_COMMITS = 200
# How many branches are told; of how many it is looked whether their content is merged.
_MAX_TOLD = 10
_MAX_LOOKED = 15
_MAX_HELD = 10_000
# Of the main branch's commits since a branch parted from it.
_MAX_MAIN = 5_000
_MAX_PATHS = 200


class Branch(NamedTuple):
    """A branch with commits that the main one does not have."""

    name: str
    head: str
    ahead: int
    """At most 200 are counted."""
    last_at: str
    subjects: tuple[str, ...]
    """Of its newest commits."""


class Asked(NamedTuple):
    """By what the branches of one task are recognised."""

    is_named: Callable[[str], bool]
    claimed: str = ""
    """The branch of its claim."""
    commits: tuple[str, ...] = ()
    """Its own, the last one first."""


class Unmerged(NamedTuple):
    """The branches, and how many more there are than are told."""

    branches: tuple[Branch, ...] = ()
    more: int = 0


def main_branch(repository: git.Git, is_of_task: Callable[[str], bool] = lambda _: False) -> str:
    """The branch that work is merged into: what the remote says, or the usual names.

    Empty if nobody knows. The only branch is the main one, unless some task's id is in its name.
    """
    heads = {ref.removeprefix(_HEADS) for ref, _ in repository.refs("refs/heads")}
    told = repository.symbolic(_ORIGIN_HEAD) or ""
    of_origin = f"{_REMOTES}origin/"
    there = {ref.removeprefix(of_origin) for ref, _ in repository.refs(of_origin.rstrip("/"))}
    name = told.removeprefix(of_origin)
    if told and name in heads | there:
        return name
    for known in (heads, there):
        for name in USUAL:
            if name in known:
                return name
    name = repository.user_setting("init.defaultBranch") if heads | there else ""
    if name in heads | there:
        return name
    only = next(iter(heads)) if len(heads) == 1 and not told and not there else ""
    return "" if is_of_task(only) else only


def bases(repository: git.Git, main: str) -> list[git.Oid]:
    """Where the main branch is, here and on every remote: what one of them has is merged."""
    refs = [*repository.refs("refs/heads"), *repository.refs("refs/remotes")]
    return list(dict.fromkeys(oid for ref, oid in refs if main and _is_called(ref, main)))


def unmerged(repository: git.Git, main: str, asked: Asked) -> Unmerged:
    """The task's branches that have what the main one lacks: called by its id, or with its work."""
    into = bases(repository, main)
    found = reach.unmerged(repository, into) if into else []
    if not found:
        return Unmerged()
    claimed = asked._replace(claimed="") if asked.claimed == main else asked
    named = [each for each in found if _is_own(each[0], claimed)]
    oids = [git.Oid(each) for each in asked.commits[:_MAX_HELD] if git.Oid.is_valid(each)]
    held = reach.lacking(repository, into, oids)
    tips = reach.holding(repository, [tip for _, tip in found], into, held)
    told: dict[git.Oid, str] = {}
    for some in (named, [each for each in found if each[1] in tips]):
        # What is pushed is one branch with what it was pushed from.
        for ref, tip in sorted(some, key=lambda each: each[0].startswith(_REMOTES)):
            told.setdefault(tip, short(ref))
    looked = list(told.items())[:_MAX_LOOKED]
    kept = [(tip, name) for tip, name in looked if not _is_absorbed(repository, tip, into)]
    branches = [_branch(repository, name, tip, into) for tip, name in kept[:_MAX_TOLD]]
    return Unmerged(tuple(branches), len(kept) - len(branches) + len(told) - len(looked))


def short(ref: str) -> str:
    """A branch as people call it."""
    return ref.removeprefix(_HEADS).removeprefix(_REMOTES)


def _is_called(ref: str, name: str) -> bool:
    """That of a remote is also called so without it."""
    if ref.startswith(_REMOTES):
        return ref.removeprefix(_REMOTES).partition("/")[2] == name
    return ref.removeprefix(_HEADS) == name


def _is_own(ref: str, asked: Asked) -> bool:
    is_claimed = asked.claimed != "" and _is_called(ref, asked.claimed)
    return is_claimed or asked.is_named(short(ref))


def _branch(repository: git.Git, name: str, tip: git.Oid, into: list[git.Oid]) -> Branch:
    commits = list(repository.log([tip], exclude=into, max_count=_MAX_COMMITS))
    last_at = clock.text(commits[0].committed_ms) if commits else ""
    return Branch(name, tip, len(commits), last_at, tuple(each.subject for each in commits[:10]))


def _is_absorbed(repository: git.Git, tip: git.Oid, into: Iterable[git.Oid]) -> bool:
    """Has a main branch the content of another one, though not its commits?"""
    return any(_has_content(repository, tip, main) for main in into)


def _has_content(repository: git.Git, tip: git.Oid, main: git.Oid) -> bool:
    """A squash leaves the content in one commit, a rebase every change in a commit of its own."""
    parted = reach.merge_base(repository, tip, main)
    if parted is None:
        return False
    wanted = reach.differing(repository, parted, tip)
    if not wanted:
        return False  # nothing shows that anybody took it
    others, seen = set(wanted), set()
    for commit in repository.log(
        [main],
        exclude=[parted],
        paths=wanted if len(wanted) <= _MAX_PATHS else (),
        first_parent=True,
        parents_first=True,
        max_count=_MAX_MAIN,
    ):
        for change in commit.changes:
            if change.path in wanted:
                seen.add(change.path)
                entry = objects.entry_or_none(change.new_mode, change.new_oid)
                is_same = entry == wanted[change.path]
                (others.discard if is_same else others.add)(change.path)
        if not others:
            return True
    # To compare every change takes long, and is in vain where a file was never changed.
    return seen == set(wanted) and reach.is_picked(repository, tip, main, limit=_MAX_MAIN)
