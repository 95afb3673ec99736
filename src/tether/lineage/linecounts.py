"""How many lines came and went between two texts. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

from tether.hints import NamedTuple
from tether.lineage import edits


class Counts(NamedTuple):
    added: int
    removed: int


NONE = Counts(0, 0)
_MOST_PAIRS = 100_000


def between(before: bytes, after: bytes) -> Counts:
    """What a diff tells of two texts: a line that only went elsewhere came and went.

    What both begin and end with is left out first, so a change of a large file costs little.
    """
    if before == after:
        return NONE
    first = edits.alike(before, after)
    start = before.rfind(b"\n", 0, first) + 1
    room = min(len(before), len(after)) - start
    last = edits.alike_at_end(before, after, room)
    olds, news = _cut(before, start, last), _cut(after, start, last)
    both = _kept(olds, news)
    return Counts(len(news) - both, len(olds) - both)


def _cut(text: bytes, start: int, last: int) -> list[bytes]:
    """The lines of what is left, whole ones only. The end of the last one begins no other."""
    found = text.find(b"\n", len(text) - last) if last else -1
    if found < 0:
        if start == len(text):
            return []
        found = len(text) - text.endswith(b"\n")
    return text[start:found].split(b"\n")


def _kept(olds: list[bytes], news: list[bytes]) -> int:
    """How many lines stand in both, in one order: as many as can be."""
    places: dict[bytes, list[int]] = {}
    for number, line in enumerate(olds):
        places.setdefault(line, []).append(number)
    if sum(len(places.get(line, ())) for line in news) > _MOST_PAIRS:
        # Nobody reads all of that one by one, whatever their order is.
        return (Counter(olds) & Counter(news)).total()
    # Where the shortest way ends that keeps so many lines.
    ends: list[int] = []
    for line in news:
        for number in reversed(places.get(line, ())):
            place = bisect_left(ends, number)
            ends[place : place + 1] = [number]
    return len(ends)
