"""Which task comes first: priorities that grow with age. Pure."""

from __future__ import annotations

import heapq
import operator
from collections.abc import Iterable, Iterator

from tether import clock
from tether.tasks import listing, model

_DAY_MS = 86_400_000
_AGE = operator.itemgetter(2, 3)
"""When a task was created, and its id."""


def urgency(priority: str, waited_ms: int, ageing_days: int) -> float:
    """The smaller, the sooner. Waiting lifts a task by one priority per `ageing_days`.

    It never passes what is critical: that word is for what cannot wait for anything.
    """
    rank = float(model.rank(priority))
    if rank == 0 or not ageing_days:
        return rank
    aged = rank - max(0, waited_ms) / (ageing_days * _DAY_MS)
    # Among those that have aged to the top, who waited longer still comes first.
    return aged if aged > 1 else 1 / (2 - aged)


def ordered(items: Iterable[listing.Item], now_ms: int, ageing_days: int) -> Iterator[listing.Item]:
    """The most urgent first; equal ones by age, then by id."""
    groups: dict[str, list[listing.Item]] = {}
    for item in items:
        groups.setdefault(item[1], []).append(item)
    # Within one priority the oldest is the most urgent, so only the heads need be compared: to
    # work out the urgency of ten thousand tasks takes longer than all the rest.
    for group in groups.values():
        group.sort(key=_AGE)

    def key(item: listing.Item) -> tuple[float, str, str]:
        priority, created_at = item[1], item[2]
        waited_ms = now_ms - clock.parse(created_at) if created_at != listing.UNDATED else 0
        return urgency(priority, waited_ms, ageing_days), *_AGE(item)

    return heapq.merge(*groups.values(), key=key)
