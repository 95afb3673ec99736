"""Which task comes first: priorities that grow with age. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

from tether import clock
from tether.tasks import model

_DAY_MS = 86_400_000


def urgency(priority: str, waited_ms: int, ageing_days: int) -> float:
    """The smaller, the sooner. Waiting lifts a task by one priority per `ageing_days`.

    It never passes what is critical: that word is for what cannot wait for anything.
    """
    rank = float(model.PRIORITIES.index(priority))
    if rank == 0 or not ageing_days:
        return rank
    aged = rank - max(0, waited_ms) / (ageing_days * _DAY_MS)
    # Among those that have aged to the top, who waited longer still comes first.
    return aged if aged > 1 else 1 / (2 - aged)


def ordered(tasks: Iterable[model.Task], now_ms: int, ageing_days: int) -> Iterator[model.Task]:
    """The most urgent first; equal ones by age, then by id."""
    groups: dict[str, list[model.Task]] = {}
    for task in tasks:
        groups.setdefault(task.priority, []).append(task)
    # Within one priority the oldest is the most urgent, so only the heads need be compared: to
    # work out the urgency of ten thousand tasks takes longer than all the rest.
    for group in groups.values():
        group.sort(key=_age)

    def key(task: model.Task) -> tuple[float, tuple[str, str]]:
        waited_ms = now_ms - clock.parse(task.created_at) if task.created_at else 0
        return urgency(task.priority, waited_ms, ageing_days), _age(task)

    return heapq.merge(*groups.values(), key=key)


def _age(task: model.Task) -> tuple[str, str]:
    return task.created_at or "9", task.id
