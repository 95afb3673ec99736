"""Which ids are looked for: those of the task lists of all checkouts, and of all that Git has.

A branch may have other lists than the next one. If each checkout looked for its own ids only,
everything would have to be read again whenever another one asks, or one is switched to a branch.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable

from tether import ids, text
from tether.evidence import ledger
from tether.tasks.sources import dialects, patterns

_ORDER = (ids.OWN_SOURCE, *dialects.NAMES)
_KNOWN = "SELECT path, kinds FROM checkouts"
# The top, where most lists begin, and what is above the first `*` of each place.
_DIRECTORIES = (
    "",
    *dict.fromkeys(
        place.partition("*")[0].rpartition("/")[0]
        for places in dialects.PLACES.values()
        for place in places
    ),
)


def of_all(
    connection: sqlite3.Connection,
    own: tuple[str, patterns.Kinds],
    roots: Iterable[str],
    look: Callable[[str], patterns.Kinds],
) -> list[patterns.Kinds]:
    """The kinds of ids of all checkouts, that of the one that asks first, with its top.

    The others count as they were when one last asked from there, or as they look now if anything
    has come or gone where lists are.
    """
    known = dict(connection.execute(_KNOWN).fetchall())
    top, mine = own
    now = {top: _written(mine, top)} if top else {}
    for root in roots:
        if root not in now and os.path.isdir(root):
            before = known.get(root, "")
            is_same = before and json.loads(before)[-1] == _look_of(root)
            now[root] = before if is_same else _written(look(root), root)
    kept = {root: kinds for root, kinds in now.items() if text.storable(root) == root}
    if kept != known:
        with ledger.transaction(connection):
            connection.execute("DELETE FROM checkouts")
            connection.executemany("INSERT INTO checkouts VALUES (?, ?)", sorted(kept.items()))
    return [mine, *map(_read, now.values())]


def together(found: Iterable[patterns.Kinds], only: Collection[str] = ()) -> patterns.Kinds:
    """All of them, the same whoever asks; of some lists only, if a team has chosen."""
    found = list(found)
    named = {source for each in found for source in each.sources}
    named &= {ids.OWN_SOURCE, *only} if only else named
    return patterns.Kinds(
        tuple(source for source in _ORDER if source in named),
        tuple(sorted({each for kinds in found for each in kinds.templates})),
        tuple(sorted({pair for kinds in found for pair in kinds.prefixes if pair[0] in named})),
    )


def _look_of(root: str) -> str:
    """What changes when a list comes or goes: the directories that lists are in."""
    stamps = []
    for directory in _DIRECTORIES:
        try:
            stamps.append(str(os.stat(os.path.join(root, directory)).st_mtime_ns))
        except OSError:
            stamps.append("-")
    return " ".join(stamps)


def _written(kinds: patterns.Kinds, root: str) -> str:
    return json.dumps([kinds.sources, kinds.templates, kinds.prefixes, _look_of(root)])


def _read(written: str) -> patterns.Kinds:
    sources, templates, prefixes, _ = json.loads(written)
    pairs = tuple((source, each) for source, each in prefixes)
    return patterns.Kinds(tuple(sources), tuple(templates), pairs)
