"""Attributions that Git implies against those that lineage has. Pure, over plain values.

A task has to do with a file of HEAD if a commit names the task that changed the file, whatever it
was called then. Lineage has it if an edge runs from the task to the file's node that is at least as
sure as questions ask for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from tether.bench import counting
from tether.bench.lineage.attributions import trails
from tether.git import Oid
from tether.hints import Any, Literal, NamedTuple

Pair = tuple[str, str]
"""A path of HEAD, and the key of a task."""
Place = Literal["subject", "body"]
Reason = Literal[
    "too unsure", "not credited", "added again", "another file", "no change", "not there"
]
BY_COMMITS = frozenset(("named", "body", "listed"))


class Named(NamedTuple):
    """The tasks that a commit names, by their keys."""

    subject: frozenset[str] = frozenset()
    """Or in its trailers."""
    body: frozenset[str] = frozenset()
    """And there only."""


class Expected(NamedTuple):
    """What Git implies of a file and a task."""

    place: Place
    renames: int
    """Over how many at least one has to go to a commit that says so."""
    births: int
    """The same of times at which something else began at that path."""
    steps: tuple[trails.Step, ...]
    is_plain: bool
    """Whether a log finds it that follows nothing."""


class Edge(NamedTuple):
    """What lineage says of a file and a task."""

    confidence: float
    hows: frozenset[str]
    commits: frozenset[str]


class Fact(NamedTuple):
    """What lineage made of a commit that names a task and changed a file, which it missed."""

    is_known: bool
    is_credited: bool
    node: Literal["same", "other", "none"]
    """Whose change it was, if it was one."""


def expected(told: trails.Trails, names: Mapping[Oid, Named]) -> dict[Pair, Expected]:
    """All attributions that Git implies."""
    found: dict[Pair, Expected] = {}
    for path, steps in told.steps.items():
        by_task: dict[str, list[trails.Step]] = {}
        for step in steps:
            named = names.get(step.commit, Named())
            for task in named.subject | named.body:
                by_task.setdefault(task, []).append(step)
        for task, some in by_task.items():
            is_subject = any(task in names[each.commit].subject for each in some)
            found[path, task] = Expected(
                "subject" if is_subject else "body",
                min(each.renames for each in some),
                min(each.births for each in some),
                tuple(some),
                any(each.commit in told.plain.get(path, ()) for each in some),
            )
    return found


def reason(one: Expected, edge: Edge | None, facts: Iterable[Fact]) -> Reason:
    """Why an attribution was missed."""
    if edge is not None:
        return "too unsure"
    known = [each for each in facts if each.is_known]
    if not known:
        return "not there"
    credited = [each for each in known if each.is_credited]
    if not credited:
        return "not credited"
    if one.births:
        return "added again"
    return "another file" if any(each.node == "other" for each in credited) else "no change"


def figures(
    wanted: Mapping[Pair, Expected],
    edges: Mapping[Pair, Edge],
    reasons: Mapping[Pair, Reason],
    least: float,
) -> dict[str, Any]:
    """How many were found, of which kinds, and what else is said."""
    ours = {pair for pair, edge in edges.items() if edge.confidence >= least}
    sure = wanted.keys() & ours
    groups = {
        "all": set(wanted),
        "named in subject or trailer": _those(wanted, lambda e: e.place == "subject"),
        "named in the body only": _those(wanted, lambda e: e.place == "body"),
        "without a rename": _those(wanted, lambda e: not e.renames),
        "beyond a rename": _those(wanted, lambda e: bool(e.renames)),
        "of the present life": _those(wanted, lambda e: not e.births),
        "before it was added again": _those(wanted, lambda e: bool(e.births)),
    }
    plain = _those(wanted, lambda e: e.is_plain)
    extra = ours - wanted.keys()
    by_commits = {pair for pair in ours if edges[pair].hows & BY_COMMITS}
    return {
        **{name: _share(some & sure, some) for name, some in groups.items()},
        "without following renames": _share(plain, set(wanted)),
        "missed": dict(Counter(reasons[pair] for pair in wanted.keys() - sure).most_common()),
        "said": len(ours),
        "said_by_commits": _share(by_commits & wanted.keys(), by_commits),
        "more": dict(Counter(_how(edges[pair]) for pair in extra).most_common()),
    }


def _those(wanted: Mapping[Pair, Expected], is_one: Any) -> set[Pair]:
    return {pair for pair, each in wanted.items() if is_one(each)}


def _share(some: set[Pair], of: set[Pair]) -> dict[str, Any]:
    return {
        "found": len(some),
        "of": len(of),
        "share": round(counting.share(len(some), len(of) - len(some)), 4),
    }


def _how(edge: Edge) -> str:
    """By what lineage has it: by a commit that names it, if there is one."""
    if edge.hows & BY_COMMITS:
        return "commit"
    return next(iter(sorted(edge.hows)), "other")
