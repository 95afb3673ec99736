"""How alike two symbols are: pure arithmetic over their words."""

from __future__ import annotations

from collections import Counter

from tether.lineage import sources

Bag = Counter[bytes]


def of_bags(one: Bag, other: Bag) -> float:
    """Twice what they share, of all that they have: 1 for the same, 0 for nothing in common."""
    total = one.total() + other.total()
    return 2 * shared(one, other) / total if total else 1.0


def shared(one: Bag, other: Bag) -> int:
    if len(other) < len(one):
        one, other = other, one
    return sum(min(count, other[word]) for word, count in one.items() if word in other)


def of_names(one: str, other: str) -> float:
    """How much of their words two names share: `loadUser` and `load_user` all of them."""
    if one == other:
        return 1.0
    return of_bags(_parts(one), _parts(other))


def words_in(name: str) -> int:
    """How many words a name is made of."""
    return _parts(name).total()


def of_symbols(one: sources.Source, number: int, other: sources.Source, other_number: int) -> float:
    return of_bags(one.bag(number), other.bag(other_number))


def _parts(name: str) -> Counter[bytes]:
    """The words that a name is made of."""
    parts: list[str] = []
    previous = ""
    for letter in name:
        is_new = not letter.isalnum() or (letter.isupper() and not previous.isupper())
        if is_new or not parts:
            parts.append("")
        if letter.isalnum():
            parts[-1] += letter.lower()
        previous = letter
    return Counter(part.encode() for part in parts if part)
