"""What decisions say, as edges: to other decisions, to tasks, to the places that they govern."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tether import ids
from tether.lineage.derive.decisions import model, naming, trees
from tether.lineage.edges import model as graph

STATED = 0.95
"""Said in a header line."""
AMENDED = 0.9
PARTLY = 0.6
"""To replace a part is not to replace: never told as if it were."""
PROPOSED = 0.5
"""What is only proposed has replaced nothing yet, and governs nothing."""
MENTIONED = 0.6
MOTIVATED = 0.9
# A place that holds so many files says little about each of them.
_MANY_FILES = 25
_MOST_FILES = 200
# Each pattern is held against all files.
_MAX_PATTERNS = 30
_WIDE = 0.6
_ALONE = 0.5


def edges(
    decision: model.Decision, register: naming.Register, meant: Callable[[str], trees.Meant]
) -> list[graph.Edge]:
    """Everything that one decision, under the name that `named` gave it, says of others.

    `meant` tells what the name of a place stands for.
    """
    found = [
        *_of_decisions(decision, register),
        *_of_tasks(decision),
        *_of_places(decision, meant),
    ]
    best: dict[tuple[str, str, str, str], graph.Edge] = {}
    for each in found:
        key = (each.subject, each.type, each.object, str(each.detail.get("name", "")))
        if key not in best or best[key].confidence < each.confidence:
            best[key] = each
    return list(best.values())


def _of_decisions(decision: model.Decision, register: naming.Register) -> Iterator[graph.Edge]:
    """To other decisions; who is only mentioned and otherwise related is not mentioned again."""
    own = graph.decision_key(decision.name)
    told: set[str] = set()
    for verb, names in _relations(decision):
        for name in names:
            other = register.find(name, decision)
            if other is None or (verb == "references" and other.name in told):
                continue
            told.add(other.name)
            # What was refused replaces nothing, whatever it meant to.
            is_void = decision.status == "rejected" and verb in ("supersedes", "extends")
            stated = "references" if is_void else verb
            subject, kind, target = graph.stored(own, stated, graph.decision_key(other.name))
            later = decision if subject == own else other
            yield graph.Edge(
                subject,
                kind,
                target,
                _confidence(stated, decision.status, is_partial=name.is_partial),
                later.date or name.at,
                _pointer(decision, name.line),
                {"words": name.words[:200], **({"partial": True} if name.is_partial else {})},
            )


def _relations(
    decision: model.Decision,
) -> Iterable[tuple[str, tuple[model.Named, ...]]]:
    return (
        ("supersedes", decision.supersedes),
        ("superseded_by", decision.superseded_by),
        ("extends", decision.amends),
        ("extended_by", decision.amended_by),
        ("references", decision.mentions),
    )


def _confidence(verb: str, status: str, *, is_partial: bool) -> float:
    if status == "proposed" and verb in ("supersedes", "extends"):
        return PROPOSED
    if is_partial:
        return PARTLY
    if verb in ("supersedes", "superseded_by"):
        return STATED
    return AMENDED if verb in ("extends", "extended_by") else MENTIONED


def _of_tasks(decision: model.Decision) -> Iterator[graph.Edge]:
    """To tasks, or from them: a task can have led to a decision, or have put an end to it."""
    own = graph.decision_key(decision.name)
    for each in decision.tasks:
        task = graph.task_key(ids.TaskKey(each.source, each.id))
        subject, kind, target = graph.stored(task, each.verb, own)
        confidence = (
            MOTIVATED
            if each.verb == "motivates"
            else MENTIONED
            if each.verb == "referenced_by"
            else _confidence(each.verb, "", is_partial=each.is_partial)
        )
        # When a task ended a decision, the decision's own day does not say.
        at = "" if each.verb in ("supersedes", "extends") else decision.date
        detail = {"partial": True} if each.is_partial else {}
        yield graph.Edge(
            subject, kind, target, confidence, at, _pointer(decision, each.line), detail
        )


def _of_places(
    decision: model.Decision, find: Callable[[str], trees.Meant]
) -> Iterator[graph.Edge]:
    """To files, and to a directory as a whole if one is named."""
    own = graph.decision_key(decision.name)
    if decision.status == "rejected":
        return
    patterns = 0
    for place in decision.governs:
        patterns += trees.is_pattern(place.pattern)
        if trees.is_pattern(place.pattern) and patterns > _MAX_PATTERNS:
            continue
        meant = find(place.pattern)
        is_bare = "/" not in place.pattern and place.where != "header"
        sure = min(place.confidence, _ALONE) if is_bare else place.confidence
        sure = min(sure, PROPOSED) if decision.status == "proposed" else sure
        paths = [meant.folder] if meant.folder else []
        if len(meant.paths) > _MANY_FILES and place.where != "header":
            sure = min(sure, _WIDE)
        # A directory named in passing is no statement about each file in it.
        most = _MANY_FILES if place.where == "elsewhere" else _MOST_FILES
        if len(meant.paths) <= most and not (meant.folder and place.where == "elsewhere"):
            paths += meant.paths
        detail = {"pattern": place.pattern, "where": place.where}
        if place.name:
            detail["name"] = place.name
        for path in paths:
            if path == decision.path:
                continue
            yield graph.Edge(
                own,
                "governs",
                graph.path_key(path),
                sure,
                decision.date,
                _pointer(decision, place.line),
                detail,
            )


def _pointer(decision: model.Decision, line: int) -> str:
    return f"file:{decision.path}#line={line}"
