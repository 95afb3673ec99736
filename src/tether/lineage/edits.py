"""What was changed from one text to another, as few edits. Pure.

It costs little more than reading both texts. A line that stands once in each of them is taken for
the same; where such lines changed places the edits are larger than they need be, and as right.
"""

from __future__ import annotations

from collections import Counter

from tether.hints import NamedTuple

# Of less it is not worth it to look at single lines, and of more it takes too long.
_SMALL, _LARGE = 200, 1_000_000
_MANY = 100


class Edit(NamedTuple):
    """A part of the old text, and what stands in its place in the new one."""

    start: int
    end: int
    new_start: int
    new_end: int


def between(old: bytes, new: bytes) -> list[Edit]:
    """What makes the new text of the old one, in order; nothing if they are the same."""
    first = alike(old, new)
    if first == len(old) == len(new):
        return []
    last = alike_at_end(old, new, min(len(old), len(new)) - first)
    whole = Edit(first, len(old) - last, first, len(new) - last)
    sizes = whole.end - first, whole.new_end - first
    if min(sizes) < _SMALL or max(sizes) > _LARGE:
        return [whole]
    found = _by_lines(old[first : whole.end], new[first : whole.new_end])
    if len(found) > _MANY:
        return [whole]
    return [Edit(*(first + each for each in edit)) for edit in found]


def alike(one: bytes, other: bytes) -> int:
    """How many bytes two texts begin with together."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def alike_at_end(one: bytes, other: bytes, most: int) -> int:
    """How many bytes two texts end with together, of so many at most."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        ours = one[len(one) - middle : len(one) - low]
        if ours == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _by_lines(old: bytes, new: bytes) -> list[Edit]:
    """The same for texts of several lines, between those that both have once."""
    olds, news = old.splitlines(keepends=True), new.splitlines(keepends=True)
    places: dict[bytes, int] = {}
    for number, line in enumerate(olds):
        places[line] = -1 if line in places else number
    counts = Counter(news)
    found: list[Edit] = []
    # Up to where both are done: as lines, and as bytes.
    row = new_row = at = new_at = 0
    for new_number, line in enumerate(news):
        if new_number < new_row:
            continue
        number = places.get(line, -1) if counts[line] == 1 else -1
        if new_number == new_row and row < len(olds) and olds[row] == line:
            number = row
        if number < row:
            continue
        first, new_first = number, new_number
        while first > row and new_first > new_row and olds[first - 1] == news[new_first - 1]:
            first, new_first = first - 1, new_first - 1
        start = at + sum(map(len, olds[row:first]))
        new_start = new_at + sum(map(len, news[new_row:new_first]))
        if (start, new_start) != (at, new_at):
            found.append(Edit(at, start, new_at, new_start))
        same = sum(map(len, olds[first : number + 1]))
        row, new_row = number + 1, new_number + 1
        at, new_at = start + same, new_start + same
    if at < len(old) or new_at < len(new):
        found.append(Edit(at, len(old), new_at, len(new)))
    return found
