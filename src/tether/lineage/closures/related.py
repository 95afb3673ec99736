"""What has to do with a task, however remotely: the closure that context is chosen from.

Rings are drawn around the task: over its edges to tasks and decisions, and over code that few
others changed. A way is as sure as the product of its steps, and each step further counts less.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable

from tether.hints import Literal, NamedTuple
from tether.lineage.closures import shared
from tether.lineage.edges import model, nodes, view
from tether.store import sql

Stop = Literal["exhausted", "depth", "diminishing"]

_SQL = sql.Queries("closures", os.path.dirname(__file__))
_MOST_DEPTH = 6
# What bounds the walk. Measured at 107,000 edges to code: 30 ms, p95 43; as of a time 76 and 107.
_WALK = {
    "common": shared.COMMON,
    "decay": 0.7,  # what a step further costs
    "faint": 0.02,  # a score below this is not worth showing
    "width": 100,  # of a ring
    "walked": 10,  # how many of a ring are gone on from
    "most_code": 20,  # how much code of each of them is looked at, and how many others are met
    "most_met": 50,  # over it; ten times that of the task itself
}
_FILES_EACH = 10
# A file that more tasks than this changed weighs no less than one that so many did.
_MANY = 10


class Step(NamedTuple):
    """A step of the way to a task."""

    type: str
    """As it reads from where one comes: `supersedes`, `superseded_by`, `co-touches-symbol`."""
    over: model.Key
    """The code that both changed; empty if it is an edge between tasks or decisions."""
    node: model.Key
    """Where it leads."""


class Weighted(NamedTuple):
    """A file, and how much it matters."""

    node: model.Key
    weight: float


class Related(NamedTuple):
    """A task that was reached."""

    task: model.Key
    score: float
    path: tuple[Step, ...]
    """The best way there."""
    files: tuple[Weighted, ...]
    """What it changed, what few others changed first."""


class Closure(NamedTuple):
    """What has to do with a task, the best first."""

    seed: model.Key
    tasks: tuple[Related, ...]
    stop: Stop
    """Why it goes no further: nothing is left, it was not to, or the last ring added too little."""
    is_truncated: bool


class _Found(NamedTuple):
    """A node as a ring found it."""

    node: int
    score: float
    before: int | None
    how: str
    """An edge's type, after `<` if it is walked against its direction; or what is shared."""
    over: int | None
    ring: int


def closure(
    seen: view.View,
    task: model.Key,
    depth: int = 3,
    since: str | None = None,
    limit: int = 50,
    *,
    least: float = 0.1,
) -> Closure:
    """Tasks around a task.

    Steps from before `since` are not taken, those of an unknown time are. A ring that adds less
    than `least` of the score so far is the last one.
    """
    seed = seen.number(task)
    if seed is None:
        return Closure(task, (), "exhausted", is_truncated=False)
    depth = min(depth, _MOST_DEPTH)
    [(ring, raw)] = seen.rows(
        _SQL.closure, task=seed, depth=depth, since=since or "", least=least, **_WALK
    )
    found = [_Found(*each) for each in json.loads(raw)]
    keys = nodes.keys(seen.connection, {each.node for each in found} | _code(found))
    best = [each for each in _best(found) if model.task_of(keys[each.node]) and each.ring]
    files = _files(seen, [each.node for each in best[:limit]])
    related = [
        Related(keys[each.node], each.score, _path(each, found, keys), tuple(files[each.node]))
        for each in best[:limit]
    ]
    sizes = [sum(each.ring == number for each in found) for number in range(ring + 1)]
    is_truncated = len(best) > limit or max(sizes) >= _WALK["width"]
    return Closure(task, tuple(related), _stop(sizes, depth), is_truncated)


def files(found: Closure) -> tuple[Weighted, ...]:
    """The files of all tasks of a closure, those that matter most first."""
    weights: dict[model.Key, float] = defaultdict(float)
    for related in found.tasks:
        for each in related.files:
            weights[each.node] += related.score * each.weight
    every = (Weighted(node, weight) for node, weight in weights.items())
    return tuple(sorted(every, key=lambda each: (-each.weight, each.node)))


def _code(found: Iterable[_Found]) -> set[int]:
    return {each.over for each in found if each.over is not None}


def _best(found: Iterable[_Found]) -> list[_Found]:
    """The best way to each node, the best of all first."""
    best: dict[int, _Found] = {}
    for each in found:
        if each.node not in best or each.score > best[each.node].score:
            best[each.node] = each
    return sorted(best.values(), key=lambda each: (-each.score, each.ring, each.node))


def _path(last: _Found, found: Iterable[_Found], keys: dict[int, model.Key]) -> tuple[Step, ...]:
    """The way from the task; each ring was reached from the one before it."""
    by_ring = {(each.node, each.ring): each for each in found}
    steps = []
    while last.before is not None:
        over = "" if last.over is None else keys[last.over]
        steps.append(Step(_as_read(last.how), over, keys[last.node]))
        last = by_ring[last.before, last.ring - 1]
    return tuple(reversed(steps))


def _as_read(how: str) -> str:
    return model.TYPES[how[1:]].inverse if how.startswith("<") else how


def _stop(sizes: list[int], depth: int) -> Stop:
    if not sizes[-1]:
        return "exhausted"
    return "depth" if len(sizes) > depth else "diminishing"


def _files(seen: view.View, tasks: list[int]) -> dict[int, list[Weighted]]:
    found: dict[int, list[Weighted]] = defaultdict(list)
    rows = seen.rows(
        _SQL.files,
        tasks=json.dumps(tasks),
        common=_MANY,
        most_code=_WALK["most_code"],
        each=_FILES_EACH,
    )
    for task, key, weight in rows:
        found[task].append(Weighted(key, weight))
    return found
