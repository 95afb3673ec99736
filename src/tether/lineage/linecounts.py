"""How many lines came and went between two texts. Pure."""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tether.hints import NamedTuple
from tether.lineage import edits


class Counts(NamedTuple):
    added: int
    removed: int


NONE = Counts(0, 0)
_MOST_PAIRS = 200_000_000


def between(before: bytes, after: bytes) -> Counts:
    """What a diff tells of two texts: a line that only went elsewhere came and went."""
    if before == after:
        return NONE
    _, olds, news = _differing(before, after)
    both = _kept(olds, news)
    return Counts(len(news) - both, len(olds) - both)


def own(befores: Sequence[bytes], after: bytes) -> Counts | None:
    """What a merge of some texts has that none of them has, and lost that all of them had.

    None if it did nothing itself: each place is as in one of them. Where one has other lines right
    beside those where another one has, Git could not have put them together. That is what its
    combined diff shows; only of texts too large to be compared line by line nothing is said.
    """
    found: list[_Hunk] = []
    for parent, before in enumerate(befores):
        hunks = _hunks(parent, before, after)
        if not hunks:
            return None
        found += hunks
    groups = [each for each in _touching(found) if len({h.parent for h in each}) == len(befores)]
    if not groups:
        return None
    counts = [_own(group, len(befores)) for group in groups]
    return Counts(sum(each.added for each in counts), sum(each.removed for each in counts))


class _Hunk(NamedTuple):
    """Lines of a text that are not in one that it was made of, and what stood in their place."""

    start: int
    end: int
    parent: int
    lost: list[bytes]


def _hunks(parent: int, before: bytes, after: bytes) -> list[_Hunk]:
    """Where two texts differ, with at least one line between; nothing if they are too large."""
    if before == after:
        return []
    start, olds, news = _differing(before, after)
    common = _common(olds, news)
    if common is None:
        return []
    first = after.count(b"\n", 0, start)
    found: list[_Hunk] = []
    old = new = 0
    for next_old, next_new in [*common, (len(olds), len(news))]:
        if (old, new) != (next_old, next_new):
            found.append(_Hunk(first + new, first + next_new, parent, olds[old:next_old]))
        old, new = next_old + 1, next_new + 1
    return found


def _touching(hunks: Iterable[_Hunk]) -> Iterator[list[_Hunk]]:
    """Hunks between which no line is as in all texts."""
    group: list[_Hunk] = []
    end = -1
    for hunk in sorted(hunks):
        if hunk.start > end and group:
            yield group
            group = []
        group.append(hunk)
        end = max(end, hunk.end)
    if group:
        yield group


def _own(hunks: Sequence[_Hunk], parents: int) -> Counts:
    """The lines that all have in the same place, and those that all of them had."""
    lines = Counter(line for hunk in hunks for line in range(hunk.start, hunk.end))
    lost = [Counter[bytes]() for _ in range(parents)]
    for hunk in hunks:
        lost[hunk.parent].update(hunk.lost)
    added = sum(count == parents for count in lines.values())
    return Counts(added, functools.reduce(operator.and_, lost).total())


def _differing(before: bytes, after: bytes) -> tuple[int, list[bytes], list[bytes]]:
    """The lines of two texts without what both begin and end with, and where they begin.

    So a change of a large file costs little.
    """
    first = edits.alike(before, after)
    start = before.rfind(b"\n", 0, first) + 1
    room = min(len(before), len(after)) - start
    last = edits.alike_at_end(before, after, room)
    return start, _cut(before, start, last), _cut(after, start, last)


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
    places, shared = _places(olds, news)
    count = len(shared)
    if count * len(news) > _MOST_PAIRS:
        # Nobody reads all of that one by one, whatever their order is.
        return (Counter(olds) & Counter(news)).total()
    row = whole = (1 << count) - 1
    for line in news:
        grows = row & places.get(line, 0)
        if grows:
            row = row + grows | row - grows
    return count - (row & whole).bit_count()


def _common(olds: list[bytes], news: list[bytes]) -> list[tuple[int, int]] | None:
    """The numbers of those lines in both; None if there are too many. What came, came late."""
    places, shared = _places(olds, news)
    if len(shared) * len(news) > _MOST_PAIRS:
        return None
    rows = [(1 << len(shared)) - 1]
    for line in news:
        grows = rows[-1] & places.get(line, 0)
        rows.append(rows[-1] + grows | rows[-1] - grows)
    found: list[tuple[int, int]] = []
    old, new = len(shared), len(news)
    while old and new:
        bit = 1 << old - 1
        if rows[new] & bit:
            old -= 1
        elif not rows[new - 1] & bit:
            new -= 1
        else:
            old, new = old - 1, new - 1
            found.append((shared[old], new))
    return found[::-1]


def _places(olds: list[bytes], news: list[bytes]) -> tuple[dict[bytes, int], list[int]]:
    """Where each line stands of those that stand in both, as bits, and the numbers of these."""
    places: dict[bytes, int] = {}
    both = set(news)
    shared: list[int] = []
    for number, line in enumerate(olds):
        if line in both:
            places[line] = places.get(line, 0) | 1 << len(shared)
            shared.append(number)
    return places, shared
