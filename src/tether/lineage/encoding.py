"""What is told of symbols as plain tuples, for another process and for the index.

The types of this house are tuples that name their fields, so they are written as they are; reading
checks every field. Paths may hold any byte and go as bytes.
"""

from __future__ import annotations

import os
from typing import Any  # msgspec looks at it

from tether.git import Oid
from tether.lineage import history

_Place = tuple[bytes, str, str, str, str, int, int, int]
_Match = tuple[_Place | None, _Place | None, str, tuple[str, ...], float, str]
_Change = tuple[str, tuple[str, ...], _Place | None, _Place | None, float, str, tuple[_Match, ...]]
PlaceWire = _Place
ChangeWire = _Change
MatchWire = _Match
HistoryWire = tuple[tuple[_Change, ...], tuple[bytes, ...], str]


def path_out(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def path_in(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def place_out(place: history.Place) -> object:
    """A file is called after its path, which may hold any byte; a symbol may not."""
    names = ("", "") if place.kind == "file" else (place.name, place.qualified)
    return (path_out(place.path), place.kind, *names, *place[4:])


def place_in(raw: PlaceWire) -> history.Place:
    path, kind, name, qualified, *rest = raw
    place = path_in(path)
    if kind == "file":
        name, qualified = os.path.basename(place), place
    return history.Place(place, kind, name, qualified, *_any(rest))


def match_out(match: history.Match) -> object:
    return (*map(_out, match[:2]), *match[2:])


def match_in(raw: MatchWire) -> history.Match:
    before, after, *rest = raw
    return history.Match(_in(before), _in(after), *_any(rest))


def change_out(change: history.Change) -> object:
    places = (_out(change.before), _out(change.after))
    related = [match_out(match) for match in change.related]
    rest = (change.confidence, change.evidence, related)
    return (str(change.commit), change.kinds, *places, *rest)


def change_in(raw: ChangeWire) -> history.Change:
    commit, kinds, before, after, confidence, evidence, related = raw
    matches = tuple(map(match_in, related))
    rest = (_in(before), _in(after), confidence, evidence, matches)
    return history.Change(Oid(commit), _any(kinds), *rest)


def history_out(told: history.History) -> object:
    changes = [change_out(each) for each in told.changes]
    return changes, [path_out(each) for each in told.unknown], told.node


def history_in(raw: HistoryWire) -> history.History:
    changes, unknown, node = raw
    return history.History(tuple(map(change_in, changes)), tuple(map(path_in, unknown)), node)


def _out(place: history.Place | None) -> object:
    return None if place is None else place_out(place)


def _in(raw: PlaceWire | None) -> history.Place | None:
    return None if raw is None else place_in(raw)


def _any(value: Any) -> Any:
    """Words that our own code made on the other side."""
    return value
