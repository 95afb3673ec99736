"""What can be reached from where: branches that are not merged, and when a path was last committed.

Nothing here walks further than it is asked to, and paths are looked for together.
"""

from __future__ import annotations

from collections.abc import Iterable

from tether.git import arguments, objects, repository
from tether.git.objects import Oid

_BRANCHES = ("for-each-ref", "--sort=-committerdate", "--format=%(refname)%00%(objectname)")
# No path begins with a slash, so none can be taken for a time.
_TOUCHED = (
    *("log", "--stdin", "-z", "--name-only", "--format=tformat:/%ct", "--diff-merges=combined"),
    *("--full-history", "--no-color", "--no-notes", "--no-follow"),
    *(option for option in arguments.RAW if option != "--raw"),
)


def unmerged(
    git: repository.Git, into: Iterable[Oid], holding: Iterable[Oid] = (), *, limit: int
) -> list[tuple[str, Oid]]:
    """The branches, here and of remotes, that none of these commits has; the newest first.

    All of them, or those that hold one of some commits.
    """
    bases = [f"--no-merged={Oid(oid)}" for oid in into]
    commits = [f"--contains={Oid(oid)}" for oid in holding]
    words = (*_BRANCHES, f"--count={limit:d}", *bases, *commits)
    listing = git.runner.call(*words, "refs/heads", "refs/remotes")
    pairs = (line.split(b"\0") for line in listing.splitlines())
    found = [(objects.as_path(name), Oid(objects.as_line(oid))) for name, oid in pairs]
    # A remote's HEAD stands for one of its branches.
    return [each for each in found if not each[0].endswith("/HEAD")]


def lacking(git: repository.Git, base: Iterable[Oid], oids: Iterable[Oid]) -> list[Oid]:
    """Those of the commits that none of the base has, and that are here at all."""
    wanted = [Oid(oid) for oid in oids]
    feed = [*(f"{oid}\n" for oid in wanted), *(f"^{Oid(oid)}\n" for oid in base)]
    words = ("rev-list", "--ignore-missing", "--stdin")
    listing = git.runner.call(*words, feed="".join(feed).encode()) if wanted else b""
    found = set(objects.as_line(listing).split("\n"))
    return [oid for oid in wanted if oid in found]


def among(
    git: repository.Git, tip: Oid, base: Iterable[Oid], oids: Iterable[Oid], *, limit: int = 10_000
) -> set[Oid]:
    """Those of the commits that lead to one and that none of the base has."""
    feed = [f"{Oid(tip)}\n", *(f"^{Oid(oid)}\n" for oid in base)]
    words = ("rev-list", f"--max-count={limit:d}", "--ignore-missing", "--stdin")
    listing = git.runner.call(*words, feed="".join(feed).encode())
    found = set(objects.as_line(listing).split("\n"))
    return {Oid(oid) for oid in oids if oid in found}


def touched(
    git: repository.Git, tips: Iterable[Oid], paths: Iterable[str], since_ms: int
) -> dict[str, int]:
    """When each of these paths was last committed since a time; a stash is a commit, too.

    A merge counts for what it has otherwise than all that it merges.
    """
    feed = "".join(f"{Oid(tip)}\n" for tip in tips).encode()
    wanted = arguments.path_arguments(paths)
    if not feed or not wanted:
        return {}
    since = f"--max-age={max(0, since_ms // 1000):d}"
    found: dict[str, int] = {}
    at_ms = 0
    for token in git.runner.call(*_TOUCHED, since, "--", *wanted, feed=feed).split(b"\0"):
        word = token.removeprefix(b"\n")
        if word.startswith(b"/"):
            at_ms = int(word[1:]) * 1000
        elif word:
            path = objects.as_path(word)
            found[path] = max(at_ms, found.get(path, 0))
    return found
