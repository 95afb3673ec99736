"""How many lines came and went between two texts. Pure."""

from __future__ import annotations

from collections import Counter

from tether.hints import NamedTuple
from tether.lineage import edits


class Counts(NamedTuple):
    added: int
    removed: int


NONE = Counts(0, 0)
_MOST_PAIRS = 200_000_000


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
    """How many lines stand in both, in one order: as many as can be.

    The rows of the table of longest common subsequences, of which only where each grows is kept, as
    the zeros of a number (Hyyrö, 2004): a whole row is one addition.
    """
    places: dict[bytes, int] = {}
    shared = set(news)
    count = 0
    for line in olds:
        if line in shared:
            places[line] = places.get(line, 0) | 1 << count
            count += 1
    if count * len(news) > _MOST_PAIRS:
        # Nobody reads all of that one by one, whatever their order is.
        return (Counter(olds) & Counter(news)).total()
    row = whole = (1 << count) - 1
    for line in news:
        grows = row & places.get(line, 0)
        if grows:
            row = row + grows | row - grows
    return count - (row & whole).bit_count()
