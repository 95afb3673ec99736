"""How much of the code has a story, how good its edges are, and who reads them.

A story is told by a task that made or changed the code, and is as sure as a biography wants it. A
line counts for the innermost symbol that it stands in.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from tether import clock
from tether.git import objects
from tether.hints import NamedTuple
from tether.lineage import cache, feedback, kept, languages, symbols, usage
from tether.lineage.edges import model, view
from tether.store import sql

_SQL = sql.Queries("statistics", os.path.dirname(__file__))
_VERSIONS = msgspec.msgpack.Decoder(list[int])
_OUTLINES = "SELECT blob, outline FROM outlines WHERE blob IN (SELECT value FROM json_each(?))"
# Tasks that changed more files than this say little about each of them.
_MOST_FILES = 50
_AT_ONCE = 500
_DAY_MS = 86_400_000


class Share(NamedTuple):
    """How much of the code of one language has a story."""

    language: str
    symbols: int
    told: int
    lines: int
    """Within symbols."""
    told_lines: int


class Hot(NamedTuple):
    """Code that many tasks changed."""

    node: model.Key
    is_file: bool
    tasks: int
    weight: float


class Standing(NamedTuple):
    """What stands at a commit, and what is known of it."""

    shares: tuple[Share, ...]
    hot: tuple[Hot, ...]
    stories: int
    incomplete: int
    """Stories of which something is not known, as where a shallow clone ends."""


class Deriver(NamedTuple):
    """What one deriver says in edges of one type, and what people say of that."""

    name: str
    type: str
    edges: int
    right: int
    wrong: int

    @property
    def precision(self) -> float | None:
        """The share that is right of what was judged; None if nothing was."""
        judged = self.right + self.wrong
        return self.right / judged if judged else None


class Week(NamedTuple):
    """How often stories were shown and opened."""

    monday: str
    shown: int
    expanded: int


class _File(NamedTuple):
    """A file that stands at a commit, with the last events of its symbols."""

    path: str
    oid: str
    event: int
    versions: tuple[int, ...]


def standing(seen: view.View, commit_no: int, *, limit: int = 10) -> Standing:
    """What stands at a commit; `seen` is as sure as a story is to be."""
    files = list(_files(seen, commit_no))
    events = [event for each in files for event in (each.event, *each.versions)]
    node_of = kept.node_numbers(seen.connection, events)
    explained = {node for (node,) in seen.rows(_SQL.explained)}
    told = {event for event, node in node_of.items() if node in explained}
    versions = {event for each in files for event in each.versions}
    stories = {node_of[event] for event in versions & told if event in node_of}
    with_holes = {node for (node,) in seen.rows(_SQL.with_holes)}
    shares = _shares(seen.connection, files, told)
    hot = tuple(_hot(seen, set(node_of.values()), limit))
    return Standing(shares, hot, len(stories), len(stories & with_holes))


def derivers(everything: view.View, said: Iterable[feedback.Verdict]) -> tuple[Deriver, ...]:
    """What each deriver says, in how many edges, and how many of them are judged."""
    counts = {(name, kind): edges for name, kind, edges in everything.rows(_SQL.derived)}
    judged: Counter[tuple[str, str, str]] = Counter(
        (each.content.source, each.content.type, each.word) for each in said
    )
    pairs = sorted(counts.keys() | {(name, kind) for name, kind, _ in judged})
    return tuple(
        Deriver(
            name,
            kind,
            counts.get((name, kind), 0),
            judged[name, kind, "right"],
            judged[name, kind, "wrong"],
        )
        for name, kind in pairs
    )


def weeks(used: Iterable[usage.Used]) -> tuple[Week, ...]:
    """What was counted by days, by weeks; the first one first."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for each in used:
        found[_monday(each.day)][each.what] += each.times
    return tuple(
        Week(monday, counted[usage.SHOWN], counted[usage.EXPANDED])
        for monday, counted in sorted(found.items())
    )


def counts(everything: view.View) -> dict[str, int]:
    """How many nodes, commits, events, edges and inputs the index has."""
    return dict(everything.connection.execute(_SQL.counts.text).fetchall())


def _monday(day: str) -> str:
    """The first day of the week of a day."""
    days = clock.parse(f"{day}T00:00:00Z") // _DAY_MS
    # The first day of all was a Thursday.
    return clock.text((days - (days + 3) % 7) * _DAY_MS)[:10]


def _files(seen: view.View, commit_no: int) -> Iterator[_File]:
    for path, oid, event, versions, _ in seen.connection.execute(
        _SQL.standing.text, {"commit_no": commit_no}
    ):
        if oid:
            yield _File(objects.as_path(path), oid, event or 0, tuple(_VERSIONS.decode(versions)))


def _hot(seen: view.View, standing_: set[int], limit: int) -> Iterator[Hot]:
    nodes = json.dumps(sorted(standing_))
    for is_file in (True, False):
        rows = seen.rows(
            _SQL.hot, standing=nodes, is_file=is_file, most_files=_MOST_FILES, rows=limit
        )
        for key, tasks, weight in rows:
            yield Hot(key, is_file, tasks, weight)


def _shares(
    connection: sqlite3.Connection, files: Iterable[_File], told: set[int]
) -> tuple[Share, ...]:
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    with_symbols = [each for each in files if each.versions]
    for first in range(0, len(with_symbols), _AT_ONCE):
        some = with_symbols[first : first + _AT_ONCE]
        outlines = _outlines(connection, some)
        for each in some:
            language = languages.of_path(each.path)
            sums = found[language.name if language else "other"]
            is_told = [event in told for event in each.versions]
            sums[0] += len(is_told)
            sums[1] += sum(is_told)
            outline = outlines.get(each.oid)
            if outline is not None and len(outline.symbols) == len(is_told):
                lines, told_lines = lines_of(outline.symbols, is_told)
                sums[2] += lines
                sums[3] += told_lines
    shares = (Share(name, *sums) for name, sums in found.items())
    return tuple(sorted(shares, key=lambda each: (-each.symbols, each.language)))


def _outlines(
    connection: sqlite3.Connection, files: Iterable[_File]
) -> Mapping[str, symbols.Outline]:
    rows = connection.execute(_OUTLINES, (json.dumps([each.oid for each in files]),))
    return {blob: outline for blob, raw in rows if (outline := cache.decoded(raw)) is not None}


def lines_of(found: Iterable[symbols.Symbol], is_told: Iterable[bool]) -> tuple[int, int]:
    """How many lines are in symbols, and how many of them in one that has a story."""
    some = list(found)
    marks = bytearray(max((each.end_line for each in some), default=0) + 1)
    # What stands in another one comes after it, and so has its own lines.
    for each, told in zip(some, is_told, strict=True):
        size = each.end_line - each.line + 1
        marks[each.line : each.end_line + 1] = (b"\2" if told else b"\1") * size
    return len(marks) - marks.count(0), marks.count(2)
