"""The commits that a merge brought in: those that only its other parents lead to. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence

_MAX_WALKED = 5000


def lines(parents: Callable[[int], Sequence[int]], merge: int) -> list[list[int]]:
    """What each branch that a merge brought in had of its own, the newest first.

    That is its line of first parents: what a merge on it took in belongs to that merge. Of branches
    that were made upon each other, each has what is after the one before.
    """
    theirs = set(by_merge(parents, merge))
    _, *others = parents(merge) or (0,)
    found = {other: list(_line(parents, other, theirs)) for other in others}
    for other in sorted(found, key=lambda each: len(found[each])):
        found[other] = [each for each in found[other] if each in theirs]
        theirs.difference_update(found[other])
    return [found[other] for other in others]


def _line(parents: Callable[[int], Sequence[int]], number: int, theirs: set[int]) -> Iterator[int]:
    while number in theirs:
        yield number
        number = next(iter(parents(number)), 0)


def by_merge(parents: Callable[[int], Sequence[int]], merge: int) -> list[int]:
    """Their numbers, the newest first; nothing if there are too many to tell.

    Commits have greater numbers than their parents.
    """
    ours, *others = parents(merge) or (0,)
    if not others:
        return []
    is_ours: dict[int, bool] = {}
    waiting: list[int] = []
    open_theirs = 0

    def add(number: int, *, has: bool) -> None:
        nonlocal open_theirs
        if number not in is_ours:
            is_ours[number] = has
            heapq.heappush(waiting, -number)
            open_theirs += not has
        elif has and not is_ours[number]:
            is_ours[number] = True
            open_theirs -= 1

    add(ours, has=True)
    for other in others:
        add(other, has=False)
    found: list[int] = []
    for _ in range(_MAX_WALKED):
        if not open_theirs:
            return found
        number = -heapq.heappop(waiting)
        has = is_ours[number]
        if not has:
            open_theirs -= 1
            found.append(number)
        for parent in parents(number):
            add(parent, has=has)
    return []
