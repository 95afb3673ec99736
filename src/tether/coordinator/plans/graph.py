"""What waits for what: cycles, order, levels, the longest chain. Pure, and near linear.

A graph has the tasks that a plan has, each once, and of their blockers those that are in the plan:
what is wrong with the others is said by `checking`. Everything is told in the order of the plan
where the graph leaves a choice, so the same plan always gives the same answer.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tether.coordinator.plans import model


class Graph(NamedTuple):
    """Who waits for whom."""

    ids: tuple[str, ...]
    blockers: dict[str, tuple[str, ...]]
    dependents: dict[str, tuple[str, ...]]
    """Those that wait for a task itself, not for another one in between."""


def graph(tasks: Iterable[model.PlanTask]) -> Graph:
    """The graph of some tasks; of two with one id the first one counts."""
    first: dict[str, model.PlanTask] = {}
    for task in tasks:
        first.setdefault(task.id, task)
    blockers: dict[str, tuple[str, ...]] = {}
    dependents: dict[str, list[str]] = {name: [] for name in first}
    for name, task in first.items():
        known = [each for each in dict.fromkeys(task.blocked_by) if each in first and each != name]
        blockers[name] = tuple(known)
        for each in known:
            dependents[each].append(name)
    return Graph(tuple(first), blockers, {name: tuple(all_) for name, all_ in dependents.items()})


# What is wrong


def duplicates(tasks: Iterable[model.PlanTask]) -> list[tuple[model.PlanTask, model.PlanTask]]:
    """Tasks whose id one before them has, with that one.

    Upper and lower case are the same: ids name files, and many disks do not tell them apart.
    """
    first: dict[str, model.PlanTask] = {}
    pairs = [(task, first.setdefault(task.id.lower(), task)) for task in tasks]
    return [(task, known) for task, known in pairs if task is not known]


def unknown(tasks: Sequence[model.PlanTask]) -> list[tuple[model.PlanTask, str]]:
    """Blockers that are no tasks of the plan, with the task that names them."""
    known = {task.id for task in tasks}
    return [(task, name) for task in tasks for name in task.blocked_by if name not in known]


def cycles(of: Graph) -> list[tuple[str, ...]]:
    """A shortest way from a task back to itself, each step to a blocker: one for each knot.

    A knot is a set of tasks that all wait for each other.
    """
    return [_way_back(of, knot) for knot in _knots(of)]


def _knots(of: Graph) -> list[list[str]]:
    """The components of more than one task, after Kosaraju, in the order of the plan."""
    place = {name: n for n, name in enumerate(of.ids)}
    left = set(of.ids)
    found = []
    for root in reversed(_finished(of)):
        if root not in left:
            continue
        left.remove(root)
        knot = [root]
        for name in knot:  # grows while it is read
            more = [each for each in of.dependents[name] if each in left]
            left.difference_update(more)
            knot += more
        if len(knot) > 1:
            found.append(sorted(knot, key=place.__getitem__))
    return sorted(found, key=lambda knot: place[knot[0]])


def _finished(of: Graph) -> list[str]:
    """The tasks in the order in which a walk along the blockers is done with them."""
    seen: set[str] = set()
    done = []
    for root in of.ids:
        if root in seen:
            continue
        seen.add(root)
        trail = [(root, iter(of.blockers[root]))]
        while trail:
            name, rest = trail[-1]
            step = next((each for each in rest if each not in seen), None)
            if step is None:
                done.append(name)
                trail.pop()
            else:
                seen.add(step)
                trail.append((step, iter(of.blockers[step])))
    return done


def _way_back(of: Graph, knot: list[str]) -> tuple[str, ...]:
    start, inside = knot[0], set(knot)
    came_from: dict[str, str] = {}
    waiting = deque([start])
    while start not in came_from:
        here = waiting.popleft()
        for each in of.blockers[here]:
            if each in inside and each not in came_from:
                came_from[each] = here
                waiting.append(each)
    trail = [start, came_from[start]]
    while trail[-1] != start:
        trail.append(came_from[trail[-1]])
    return tuple(reversed(trail))


# What it means for a run


def order(of: Graph) -> tuple[str, ...]:
    """Every task after its blockers; without those that are in a cycle or wait for one."""
    place = {name: n for n, name in enumerate(of.ids)}
    missing = {name: len(of.blockers[name]) for name in of.ids}
    free = [n for n, name in enumerate(of.ids) if not missing[name]]
    done = []
    while free:
        name = of.ids[heapq.heappop(free)]
        done.append(name)
        for each in of.dependents[name]:
            missing[each] -= 1
            if not missing[each]:
                heapq.heappush(free, place[each])
    return tuple(done)


def level_of(of: Graph) -> dict[str, int]:
    """How many tasks stand in a row before each one at least; without those that cannot begin."""
    levels: dict[str, int] = {}
    for name in order(of):
        levels[name] = 1 + max((levels[each] for each in of.blockers[name]), default=-1)
    return levels


def levels(of: Graph) -> tuple[tuple[str, ...], ...]:
    """The tasks by level, each in the order of the plan: what could be done side by side."""
    found = level_of(of)
    rows: list[list[str]] = [[] for _ in range(max(found.values(), default=-1) + 1)]
    for name in of.ids:
        if name in found:
            rows[found[name]].append(name)
    return tuple(map(tuple, rows))


def width(of: Graph) -> int:
    """How many tasks could run at once, if each began when it can and all took equally long."""
    return max(Counter(level_of(of).values()).values(), default=0)


def critical_path(of: Graph) -> tuple[str, ...]:
    """The longest chain of tasks that wait for each other, the first one first."""
    found = level_of(of)
    last = max(found, key=found.__getitem__, default="")
    chain = [last] if last else []
    while chain and found[chain[-1]]:
        chain.append(next(e for e in of.blockers[chain[-1]] if found[e] == found[chain[-1]] - 1))
    return tuple(reversed(chain))


def dependent_counts(of: Graph) -> dict[str, int]:
    """How many tasks wait for each one, directly or through others.

    Sets of ten thousand tasks as bits of one number: an OR is a microsecond. Tasks that are in a
    cycle or wait for one are not counted.
    """
    place = {name: n for n, name in enumerate(of.ids)}
    waiting: dict[str, int] = {}
    counts = dict.fromkeys(of.ids, 0)
    for name in reversed(order(of)):
        behind = 0
        for each in of.dependents[name]:
            if each in waiting:
                behind |= waiting[each] | 1 << place[each]
        waiting[name] = behind
        counts[name] = behind.bit_count()
    return counts
