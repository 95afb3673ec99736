"""Which commits changed each file of HEAD, as Git tells it: over renames, and beyond its birth.

One walk for all files, which says the same as `git log --follow` of each, but that Git then also
takes a file for another one that it was copied from. Like Git's it knows one name at a time: what a
branch did to the old name after another one had renamed it is not seen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tether import errors
from tether.git import Change, Commit, Git, Oid, objects
from tether.hints import NamedTuple

# Half of it is still there: what Git asks for if nothing else is said.
_RENAMES = (
    *("diff-tree", "--stdin", "-r", "-z", "--root", "--raw", "--no-abbrev", "--no-ext-diff"),
    *("--no-textconv", "-M50%", "-l0"),
)
_FILES = ("100", "120")


class Step(NamedTuple):
    """A commit that changed a file."""

    commit: Oid
    path: str
    """What the file was called there."""
    renames: int
    """How often it was renamed since."""
    births: int
    """How often something was added there since that was nothing before: other lives came later."""


class Trails(NamedTuple):
    """What Git tells of all files of a commit."""

    steps: dict[str, list[Step]]
    """By the paths that they have there, the newest first."""
    plain: dict[str, set[Oid]]
    """What a log of each path has that follows nothing."""
    unread: int
    """Commits with contents that are not here: of these only renames of unchanged files count."""


Where = dict[str, dict[str, tuple[int, int]]]
"""By a path of some time the files of HEAD that it is of, with renames and births since."""


def of(git: Git, tip: Oid) -> Trails:
    """The trails of all files that stand at a commit."""
    paths = [each.path for each in git.tree(tip) if each.mode.startswith(_FILES)]
    commits = list(git.log([tip]))
    wanted = [each for each in commits if {"A", "D"} <= {change.status for change in each.changes}]
    renamed, unread = _renamed(git, wanted)
    return Trails(walk(paths, commits, renamed), plain(paths, commits), unread)


def walk(
    paths: Iterable[str], commits: Iterable[Commit], renamed: Mapping[Oid, Mapping[str, str]]
) -> dict[str, list[Step]]:
    """The trails, from commits in Git's order and the renames of each. Pure."""
    found: dict[str, list[Step]] = {path: [] for path in paths}
    where: Where = {path: {path: (0, 0)} for path in found}
    for commit in commits:
        before = renamed.get(commit.oid, {})
        moved: Where = defaultdict(dict)
        for change in commit.changes:
            here = where.get(change.path, {})
            for path, (renames, births) in here.items():
                found[path].append(Step(commit.oid, change.path, renames, births))
            if change.path in before:
                old = before[change.path]
                moved[old] |= {path: (n + 1, births) for path, (n, births) in here.items()}
                where.pop(change.path, None)
            elif change.status == "A":
                where[change.path] = {path: (n, births + 1) for path, (n, births) in here.items()}
        for old, files in moved.items():
            where[old] = {**files, **where.get(old, {})}
    return found


def plain(paths: Iterable[str], commits: Iterable[Commit]) -> dict[str, set[Oid]]:
    """The commits that changed each path, whatever was called so then. Pure."""
    found: dict[str, set[Oid]] = {path: set() for path in paths}
    for commit in commits:
        for change in commit.changes:
            if change.path in found:
                found[change.path].add(commit.oid)
    return found


def follow(git: Git, tip: Oid, path: str) -> list[Oid] | None:
    """What Git itself says of one file; None if it dies of contents that are not here."""
    words = ("log", "--follow", "--format=%H", "--no-color", "--end-of-options", tip, "--", path)
    try:
        return [Oid(line) for line in objects.as_text(git.runner.call(*words)).split()]
    except errors.GitError:
        return None


def _renamed(git: Git, commits: Sequence[Commit]) -> tuple[dict[Oid, dict[str, str]], int]:
    """The renames of commits, new path to old; and how many of them Git could not compare."""
    found: dict[Oid, dict[str, str]] = {}
    unread = start = 0
    while start < len(commits):
        count = 0
        try:
            for oid, pairs in _told(git, commits[start:]):
                count += 1
                found[oid] = pairs
        except errors.GitError:
            if not count:
                # It dies of the first one: what is not here cannot be compared.
                found[commits[start].oid] = unchanged(commits[start].changes)
                unread, count = unread + 1, 1
        start += max(count, 1)
    return found, unread


def _told(git: Git, commits: Sequence[Commit]) -> Iterator[tuple[Oid, dict[str, str]]]:
    """What Git says of each commit, as far as it comes."""
    feed = "".join(f"{each.oid}\n" for each in commits)
    oid: Oid | None = None
    pairs: dict[str, str] = {}
    with git.runner.stream(*_RENAMES, feed=feed) as output:
        tokens = objects.tokens(output)
        for token in tokens:
            if not token.startswith(b":"):
                if oid is not None:
                    yield oid, pairs
                oid, pairs = Oid(objects.as_line(token)), {}
                continue
            path = objects.as_path(next(tokens, b""))
            if token.rpartition(b" ")[2].startswith((b"R", b"C")):
                pairs[objects.as_path(next(tokens, b""))] = path
    if oid is not None:
        yield oid, pairs


def unchanged(changes: Iterable[Change]) -> dict[str, str]:
    """Files that were renamed and nothing else, where that is plain. Pure."""
    every = list(changes)
    added = Counter(each.new_oid for each in every if each.status == "A")
    deleted = Counter(each.old_oid for each in every if each.status == "D")
    olds = {each.old_oid: each.path for each in every if each.status == "D"}
    return {
        each.path: olds[each.new_oid]
        for each in every
        if each.status == "A" and added[each.new_oid] == deleted[each.new_oid] == 1
    }
