"""What can be done in the sandbox: functions with typed arguments and results."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tether.git import Oid
from tether.hints import Any, NamedTuple
from tether.lineage import (
    cache,
    commits,
    encoding,
    history,
    identities,
    languages,
    library,
    parting,
    places,
    relating,
    selecting,
    tracing,
)


class Limits(msgspec.Struct, frozen=True, array_like=True):
    """How long and how much; a time of 0 is no limit."""

    parse_seconds: float = 5.0
    """Of a processor, for one file."""
    stall_seconds: float = 300.0
    """Without any progress, for what is not parsing."""
    memory_bytes: int = 1_500_000_000
    """While a file is parsed, in all."""
    max_blamed: int = 20
    """Files that one job may lose to their grammars."""


class Request(msgspec.Struct, array_like=True):
    """A job for the child."""

    job: str
    arguments: bytes
    directory: bytes
    store_dir: bytes
    quarantined: set[tuple[str, str]]
    limits: Limits


class Trace(msgspec.Struct, array_like=True):
    """The symbol that has some lines of a file in a commit."""

    commit: str
    path: bytes
    first_line: int
    last_line: int


class Compare(msgspec.Struct, array_like=True):
    """Commits, each with a parent, or with none."""

    pairs: list[tuple[str, str | None]]


class Outlines(msgspec.Struct, array_like=True):
    """Blobs, each with a path that says its language."""

    blobs: list[tuple[str, bytes]]


class Select(msgspec.Struct, array_like=True):
    """A symbol as a person names it, in a directory of a commit."""

    commit: str
    selector: bytes
    below: bytes
    is_everywhere: bool = False
    """Whether what is related is looked for at every change."""


class Identify(msgspec.Struct, array_like=True):
    """Everything up to a commit, in the index of a store directory."""

    tip: str
    store_dir: bytes
    is_anew: bool
    at_most: int | None = None
    """New commits."""


class Told(NamedTuple):
    """A symbol as it is in a commit, and its history up to there."""

    symbol: history.Place
    history: history.History


def _trace(files: library.Library, wanted: Trace) -> object:
    commit, path = Oid(wanted.commit), encoding.path_in(wanted.path)
    finder = selecting.Finder(files, commit)
    found = finder.at_lines(path, wanted.first_line, wanted.last_line)
    return encoding.history_out(tracing.follow(files, commit, *found))


def _compare(files: library.Library, wanted: Compare) -> object:
    found = []
    for commit, parent in wanted.pairs:
        comparison = commits.Comparison(files, Oid(parent) if parent else None, Oid(commit))
        matches = parting.matches(comparison.matched().matcher)
        found.append([encoding.match_out(match) for match in matches])
    return found


def _outlines(files: library.Library, wanted: Outlines) -> object:
    blobs = [(encoding.path_in(path), Oid(oid)) for oid, path in wanted.blobs]
    found: list[object] = []
    for first in range(0, len(blobs), _AHEAD):
        some = blobs[first : first + _AHEAD]
        files.expect(some)
        for path, oid in some:
            source = files.source(path, oid)
            why_not = "" if source else _why_not(files, path)
            found.append((cache.encoded(source.outline) if source else b"", why_not))
    return found


def _history(files: library.Library, wanted: Select) -> object:
    commit = Oid(wanted.commit)
    finder = selecting.Finder(files, commit, encoding.path_in(wanted.below))
    found = finder.find(encoding.path_in(wanted.selector))
    # What was looked at to find the symbol says nothing of its history.
    files.unknown.clear()
    told = relating.related(
        files, tracing.follow(files, commit, *found), everywhere=wanted.is_everywhere
    )
    return encoding.place_out(places.place(*found)), encoding.history_out(told)


def _identify(files: library.Library, wanted: Identify) -> object:
    known = identities.Identities(encoding.path_in(wanted.store_dir))
    try:
        built = known.bring(files, Oid(wanted.tip), anew=wanted.is_anew, at_most=wanted.at_most)
    finally:
        known.close()
    return (str(built.commit), *built[1:])


def _prepare(files: library.Library, wanted: Outlines) -> object:
    blobs = [(encoding.path_in(path), Oid(oid)) for oid, path in wanted.blobs]
    files.expect(blobs)
    return sum(files.source(path, oid) is not None for path, oid in blobs)


# As many files as are read from git at once.
_AHEAD = 256


class Job(NamedTuple):
    arguments: Any
    do: Callable[[library.Library, Any], object]


TABLE = {
    "trace": Job(Trace, _trace),
    "compare": Job(Compare, _compare),
    "outlines": Job(Outlines, _outlines),
    "prepare": Job(Outlines, _prepare),
    "history": Job(Select, _history),
    "identify": Job(Identify, _identify),
}


def _why_not(files: library.Library, path: str) -> str:
    return files.unknown.get(path, "missing") if languages.of_path(path) else "no grammar"
