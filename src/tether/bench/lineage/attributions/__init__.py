"""How many of the attributions of files to tasks are found that a public history implies.

The truth is Git's own: the commits that changed a file, over its renames, and the ids in their
messages. Lineage is asked what it has of the same files.
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
from collections.abc import Callable, Iterable

from tether.bench.lineage import scene, steps
from tether.bench.lineage.attributions import judging, lookup, trails
from tether.evidence import kinds
from tether.evidence.history import commit_messages, commits
from tether.git import Commit, Git, Oid
from tether.hints import Any
from tether.ids import TaskKey
from tether.lineage.edges import model
from tether.tasks.sources import patterns

_FOLLOWED = 60
Tell = Callable[[str], None]


def measure(
    repositories: Iterable[str],
    *,
    templates: Iterable[str] = (),
    examples: int = 0,
    seed: int = 1,
    tell: Tell = lambda _: None,
) -> dict[str, Any]:
    """The figures of some repositories, each with so many examples of what is amiss."""
    named = tuple(templates)
    found = []
    for repository in repositories:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            tell("copying a repository")
            here = scene.make(directory, repository, named)
            for name in ("identities", "edges"):
                tell(f"{here.name}: {name}")
                steps.run(here.ground, name, here.store_dir)
            found.append(judged(here, examples, seed, tell))
    return {"least": model.DEFAULT_CONFIDENCE, "repositories": found}


def judged(
    here: scene.Scene, examples: int, seed: int, tell: Tell = lambda _: None
) -> dict[str, Any]:
    """What is said of a repository that has an index."""
    git = Git(here.place)
    tip = git.resolve("HEAD")
    tell(f"{here.name}: following all files with Git")
    told = trails.of(git, tip)
    with scene.opened(here.place, here.ground.environ) as opened:
        finder = opened.who.ask(lambda connection: _finder(connection, opened.kinds))
        names = _names(git.log([tip]), finder)
        wanted = judging.expected(told, names)
        tell(f"{here.name}: asking the index")
        edges, reasons = opened.who.ask(
            lambda connection: _looked(lookup.Lookup(connection, tip), told, wanted)
        )
    chance = random.Random(seed)  # noqa: S311 (chance that can be repeated)
    tell(f"{here.name}: git log --follow")
    result = {
        "name": here.name,
        "files": len(told.steps),
        "commits_naming_tasks": len(names),
        "tasks": len({task for _, task in wanted}),
        "commits_unread": told.unread,
        **judging.figures(wanted, edges, reasons, model.DEFAULT_CONFIDENCE),
        "follow": _followed(git, tip, told, names, edges, chance),
    }
    if examples:
        result["examples"] = _examples(wanted, edges, reasons, examples, chance)
    return result


def _finder(connection: sqlite3.Connection, own: patterns.Kinds) -> patterns.Finder:
    """Who finds the ids of all lists that Git has, or had."""
    return patterns.Finder(kinds.together((own, commits.kinds_of_lists(connection))))


def named(commit: Commit, finder: patterns.Finder) -> judging.Named:
    """The tasks that a commit names."""
    subject = {_key(each.source, each.id) for each in finder.find(commit.subject)}
    subject |= {_key(*each) for each in commit_messages.trailers(finder, commit.body)}
    body = {_key(each.source, each.id) for each in finder.find(commit.body)}
    return judging.Named(frozenset(subject), frozenset(body - subject))


def _key(source: str, task_id: str) -> str:
    return model.task_key(TaskKey(source, task_id))


def _names(every: Iterable[Commit], finder: patterns.Finder) -> dict[Oid, judging.Named]:
    found = ((each.oid, named(each, finder)) for each in every)
    return {oid: each for oid, each in found if each.subject or each.body}


def _looked(
    index: lookup.Lookup, told: trails.Trails, wanted: dict[judging.Pair, judging.Expected]
) -> tuple[dict[judging.Pair, judging.Edge], dict[judging.Pair, judging.Reason]]:
    """What the index has, and why it lacks the rest."""
    nodes = {each.path: each.node for each in index.standing(told.steps)}
    edges = {
        pair: edge
        for path, node in nodes.items()
        for pair, edge in index.edges(lookup.Standing(path, node))
    }
    reasons = {}
    for pair, one in wanted.items():
        edge = edges.get(pair)
        if edge is None or edge.confidence < model.DEFAULT_CONFIDENCE:
            facts = [index.fact(step, pair[1], nodes.get(pair[0])) for step in one.steps]
            reasons[pair] = judging.reason(one, edge, facts)
    return edges, reasons


def _followed(
    git: Git,
    tip: Oid,
    told: trails.Trails,
    names: dict[Oid, judging.Named],
    edges: dict[judging.Pair, judging.Edge],
    chance: random.Random,
) -> dict[str, Any]:
    """A sample of files, each followed by Git itself: the oracle's check, and a second measure."""
    paths = sorted(path for path, each in told.steps.items() if each)
    counts = dict.fromkeys(("files", "died", "walk", "both", "git", "found"), 0)
    for path in chance.sample(paths, min(_FOLLOWED, len(paths))):
        changed_by = trails.follow(git, tip, path)
        if changed_by is None:
            counts["died"] += 1
            continue
        git_says = _tasks(changed_by, names)
        ours = _tasks((each.commit for each in told.steps[path]), names)
        sure = {task for task in git_says if _is_sure(edges.get((path, task)))}
        counts["files"] += 1
        counts["walk"] += len(ours)
        counts["git"] += len(git_says)
        counts["both"] += len(git_says & ours)
        counts["found"] += len(sure)
    return counts


def _tasks(some: Iterable[Oid], names: dict[Oid, judging.Named]) -> set[str]:
    said = (names.get(oid, judging.Named()) for oid in some)
    return {task for each in said for task in each.subject | each.body}


def _is_sure(edge: judging.Edge | None) -> bool:
    return edge is not None and edge.confidence >= model.DEFAULT_CONFIDENCE


def _examples(
    wanted: dict[judging.Pair, judging.Expected],
    edges: dict[judging.Pair, judging.Edge],
    reasons: dict[judging.Pair, judging.Reason],
    count: int,
    chance: random.Random,
) -> dict[str, list[dict[str, Any]]]:
    """Some of what was missed, of each reason, and of what Git does not have."""
    missed: list[dict[str, Any]] = []
    for why in sorted(set(reasons.values())):
        some = sorted(pair for pair, each in reasons.items() if each == why)
        for pair in chance.sample(some, min(count, len(some))):
            found = [each._asdict() for each in wanted[pair].steps[:3]]
            edge = edges.get(pair)
            sure = edge.confidence if edge else 0.0
            missed.append(
                {"path": pair[0], "task": pair[1], "why": why, "sure": sure, "steps": found}
            )
    more = sorted(pair for pair, each in edges.items() if pair not in wanted and _is_sure(each))
    extra = [
        {
            "path": pair[0],
            "task": pair[1],
            "hows": sorted(edges[pair].hows),
            "commits": sorted(edges[pair].commits)[:3],
        }
        for pair in chance.sample(more, min(count, len(more)))
    ]
    return {"missed": missed, "more": extra}
