"""A piece of code with what stands in it: of a file its symbols, of a class its methods."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from tether.lineage import kept, targets

_MAX_FILES = 2_000


def whole(connection: sqlite3.Connection, line: kept.Line, target: targets.Target) -> list[int]:
    """The nodes of a target and of all that stands in it, by their numbers."""
    events = list(_inside(connection, line, target))
    inside = kept.node_numbers(connection, events)
    return list(dict.fromkeys((*target.nodes, *(inside[each] for each in events))))


def _inside(
    connection: sqlite3.Connection, line: kept.Line, target: targets.Target
) -> Iterator[int]:
    """The last events of the symbols in a target."""
    if target.is_gone:
        return
    for path in _paths(connection, target):
        placed = line.placed(connection, path)
        for event in placed.versions if placed else ():
            if target.kind != "symbol" or _is_member(connection, event, target):
                yield event


def _paths(connection: sqlite3.Connection, target: targets.Target) -> Iterator[str]:
    if target.kind != "dir":
        yield target.path
        return
    for event in target.events[:_MAX_FILES]:
        place = kept.change_of(connection, event).after
        if place is not None:
            yield place.path


def _is_member(connection: sqlite3.Connection, event: int, target: targets.Target) -> bool:
    place = kept.change_of(connection, event).after
    if place is None or place.qualified == place.name:
        return False
    # Names may have dots, too: what stands around it is what is left without its own.
    around, owner = place.qualified[: -len(place.name)], target.name.partition(" ")[2]
    return around.startswith(f"{owner}.")
