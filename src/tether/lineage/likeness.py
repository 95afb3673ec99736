"""How alike two symbols are: pure arithmetic over their words."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence

from tether.lineage import sources

Bag = Counter[bytes]
# So many letters tell words apart, but not `select` from `selection`.
_STEM = 5


def of_bags(one: Bag, other: Bag) -> float:
    """Twice what they share, of all that they have: 1 for the same, 0 for nothing in common."""
    total = one.total() + other.total()
    return 2 * shared(one, other) / total if total else 1.0


def shared(one: Bag, other: Bag) -> int:
    if len(other) < len(one):
        one, other = other, one
    return sum(min(count, other[word]) for word, count in one.items() if word in other)


def may_stand_in(words: Sequence[bytes], text: bytes, needed: float) -> bool:
    """Whether something in a text may be so much alike to these words; if not, that is sure.

    What lacks a word lacks a pair of words with it.
    """
    allowed = 1 + 2 * len(words) * (1 - needed) / needed
    for word in set(words):
        allowed -= word not in text
        if allowed < 0:
            return False
    return True


def of_lines(one: bytes, other: bytes) -> float:
    """How much of their lines two texts share."""
    lines, others = set(one.split(b"\n")), set(other.split(b"\n"))
    return 2 * len(lines & others) / (len(lines) + len(others))


def of_names(one: str, other: str) -> float:
    """How much of their words two names share: `loadUser` and `load_users` all of them."""
    if one == other:
        return 1.0
    return of_bags(parts(one), parts(other))


def words_in(name: str) -> int:
    """How many words a name is made of."""
    return parts(name).total()


def of_symbols(one: sources.Source, number: int, other: sources.Source, other_number: int) -> float:
    return of_bags(one.bag(number), other.bag(other_number))


@functools.lru_cache(maxsize=8192)
def parts(name: str) -> Counter[bytes]:
    """The words that a name is made of, by their first letters."""
    found: list[str] = []
    previous = ""
    for letter in name:
        is_new = not letter.isalnum() or (letter.isupper() and not previous.isupper())
        is_new = is_new or (letter.isdigit() and not previous.isdigit())
        if is_new or not found:
            found.append("")
        if letter.isalnum():
            found[-1] += letter.lower()
        previous = letter
    return Counter(part[:_STEM].encode() for part in found if part)
