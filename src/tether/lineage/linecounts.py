"""How many lines came and went between two texts."""

from __future__ import annotations

from collections import Counter

from tether.hints import NamedTuple
from tether.lineage import edits


class Counts(NamedTuple):
    added: int
    removed: int


NONE = Counts(0, 0)


def between(before: bytes, after: bytes) -> Counts:
    """Lines that stand in one of the texts only; those that only went elsewhere count as both.

    What both begin and end with is left out first, so a change of a large file costs little.
    """
    if before == after:
        return NONE
    first = edits.alike(before, after)
    start = before.rfind(b"\n", 0, first) + 1
    room = min(len(before), len(after)) - start
    last = edits.alike_at_end(before, after, room)
    olds, news = _cut(before, start, last), _cut(after, start, last)
    both = (Counter(olds) & Counter(news)).total()
    added, removed = len(news) - both, len(olds) - both
    if not added and not removed:
        moved = sum(one != other for one, other in zip(olds, news, strict=True))
        return Counts(moved, moved)
    return Counts(added, removed)


def _cut(text: bytes, start: int, last: int) -> list[bytes]:
    """The lines of what is left, whole ones only. The end of the last one begins no other."""
    found = text.find(b"\n", len(text) - last) if last else -1
    if found < 0:
        if start == len(text):
            return []
        found = len(text) - text.endswith(b"\n")
    return text[start:found].split(b"\n")
