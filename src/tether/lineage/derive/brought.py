"""The commits that a merge brought in: those that only its other parents lead to. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

_MAX_WALKED = 5000


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
