"""Which ids are looked for: those of the task lists of all checkouts together.

A branch may have other lists than the next one. If each checkout looked for its own ids only,
everything would have to be read again whenever another one asks.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable

from tether import ids
from tether.evidence import ledger
from tether.tasks.sources import dialects, patterns

_ORDER = (ids.OWN_SOURCE, *dialects.NAMES)


def of_all(
    connection: sqlite3.Connection,
    own: tuple[str, patterns.Kinds],
    roots: Iterable[str],
    look: Callable[[str], patterns.Kinds],
) -> patterns.Kinds:
    """The kinds of ids of all checkouts.

    The one that asks, with its top, says its own. The others count as they were when one last asked
    from there; those from which nobody ever did are looked at.
    """
    known = dict(connection.execute("SELECT path, kinds FROM checkouts").fetchall())
    top, mine = own
    now = {top: _written(mine)} if top else {}
    for root in roots:
        if root not in now and os.path.isdir(root):
            now[root] = known[root] if root in known else _written(look(root))
    if now != known:
        with ledger.transaction(connection):
            connection.execute("DELETE FROM checkouts")
            connection.executemany("INSERT INTO checkouts VALUES (?, ?)", sorted(now.items()))
    return together([mine, *map(_read, now.values())])


def together(found: list[patterns.Kinds]) -> patterns.Kinds:
    """All of them, the same whoever asks; a team's own templates are those of the first."""
    first = found[0]
    sources = first.sources
    if any(each.sources != sources for each in found):
        named = {source for each in found for source in each.sources}
        sources = tuple(source for source in _ORDER if source in named)
    prefixes = {prefix for each in found for prefix in each.prefixes}
    return patterns.Kinds(sources, first.templates, tuple(sorted(prefixes)))


def _written(kinds: patterns.Kinds) -> str:
    return json.dumps([kinds.sources, kinds.prefixes])


def _read(written: str) -> patterns.Kinds:
    sources, prefixes = json.loads(written)
    return patterns.Kinds(tuple(sources), (), tuple((source, each) for source, each in prefixes))
