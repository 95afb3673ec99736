"""What can be reached from where: branches that are not merged, and when a path was last committed.

Nothing here walks further than it is asked to, and paths and branches are looked for together: a
repository may have thousands of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from tether.git import arguments, objects, repository
from tether.git.objects import Oid

_BRANCHES = ("for-each-ref", "--sort=-committerdate", "--format=%(refname)%00%(objectname)")
# No path begins with a slash, so none can be taken for a time.
_QUIET = (
    *("--no-color", "--no-notes", "--no-follow"),
    *(option for option in arguments.RAW if option != "--raw"),
)
_TOUCHED = (
    *("log", "--stdin", "-z", "--name-only", "--format=tformat:/%ct", "--diff-merges=combined"),
    *("--full-history", *_QUIET),
)


def unmerged(git: repository.Git, into: Iterable[Oid]) -> list[tuple[str, Oid]]:
    """The branches, here and of remotes, that none of these commits has; the newest first."""
    bases = [f"--no-merged={Oid(oid)}" for oid in into]
    listing = git.runner.call(*_BRANCHES, *bases, "refs/heads", "refs/remotes")
    pairs = (line.split(b"\0") for line in listing.splitlines())
    found = [(objects.as_path(name), Oid(objects.as_line(oid))) for name, oid in pairs]
    # A remote's HEAD stands for one of its branches.
    return [each for each in found if not each[0].endswith("/HEAD")]


def holding(
    git: repository.Git, tips: Iterable[Oid], base: Iterable[Oid], oids: Iterable[Oid]
) -> set[Oid]:
    """Those of the tips that one of the commits, which no base has, is reached from.

    One walk for all: `--contains` would take one for each commit and branch.
    """
    tips = {Oid(oid) for oid in tips}
    having: set[str] = set(oids)
    if not tips or not having:
        return set()
    feed = [*(f"{oid}\n" for oid in tips), *(f"^{Oid(oid)}\n" for oid in base)]
    words = ("rev-list", "--parents", "--topo-order", "--reverse", "--stdin")
    with git.runner.stream(*words, feed="".join(feed)) as output:
        for line in output:
            oid, *parents = objects.as_line(line).split(" ")
            if not having.isdisjoint(parents):
                having.add(oid)
    return tips & having


def merge_base(git: repository.Git, one: Oid, other: Oid) -> Oid | None:
    """Where two commits parted; of several such places any one, None if there is none."""
    answer = git.runner.ask("merge-base", Oid(one), Oid(other))
    return Oid(objects.as_line(answer.stdout)) if answer.returncode == 0 else None


def differing(git: repository.Git, one: Oid, other: Oid) -> objects.Entries:
    """What the other commit has at each path that differs; None for no file."""
    words = ("diff-tree", "-r", "-z", *arguments.RAW, Oid(one), Oid(other), "--")
    tokens = git.runner.call(*words).split(b"\0")[:-1]
    found: objects.Entries = {}
    for about, path in zip(tokens[::2], tokens[1::2], strict=True):
        _, mode, _, oid, status = objects.as_line(about).split(" ")
        is_there = status != "D"
        found[objects.as_path(path)] = objects.Entry(mode, Oid(oid)) if is_there else None
    return found


def is_picked(git: repository.Git, tip: Oid, base: Oid, *, limit: int) -> bool:
    """Has the base every change of the commits that lead to a tip, each as a commit of its own?

    False as well where the base has gone on for more commits than that: each is compared.
    """
    count = ("rev-list", "--count", f"--max-count={limit + 1:d}", Oid(base), f"^{Oid(tip)}", "--")
    if int(objects.as_line(git.runner.call(*count))) > limit:
        return False
    words = ("rev-list", "--cherry-pick", "--right-only", "--no-merges", "--max-count=1")
    return not git.runner.call(*words, f"{Oid(base)}...{Oid(tip)}", "--")


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
            # A commit may have any date, or none.
            at_ms = int(word[1:]) * 1000 if word[1:].isdigit() else 0
        elif word:
            path = objects.as_path(word)
            found[path] = max(at_ms, found.get(path, 0))
    return found


def changed(git: repository.Git, oids: Iterable[Oid]) -> set[str]:
    """Every path that one of the commits, which must be here, changed. A merge changes none."""
    feed = "".join(f"{Oid(oid)}\n" for oid in oids).encode()
    if not feed:
        return set()
    words = ("log", "--stdin", "-z", "--no-walk=unsorted", "--name-only", "--format=tformat:/")
    options = (*_QUIET, "--diff-merges=off")
    tokens = git.runner.call(*words, *options, "--", feed=feed).split(b"\0")
    paths = (token.removeprefix(b"\n") for token in tokens)
    return {objects.as_path(path) for path in paths if path and not path.startswith(b"/")}
