"""What the questions of lineage answer to programs."""

from __future__ import annotations

from collections.abc import Mapping

from tether import text
from tether.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tether.lineage import feedback, naming, targets
    from tether.lineage.biography import model as story
    from tether.lineage.closures import features, reversals
    from tether.lineage.edges import reading


def edge(each: reading.Edge) -> dict[str, Any]:
    """An edge: subject, verb, object."""
    return {
        "edge": each.ref,
        "subject": text.clean(each.subject),
        "type": each.type,
        "object": text.clean(each.object),
        "confidence": each.confidence,
        "at": each.at or None,
        "source": each.source,
        "derived_at": each.derived_at,
        "pointer": text.clean(each.pointer),
    }


def evidence(each: reading.Evidence) -> dict[str, Any]:
    return {
        "pointer": text.clean(each.pointer),
        "confidence": each.confidence,
        "at": each.at or None,
        "detail": _clean(each.detail),
        "deriver": each.deriver,
        "input": text.clean(each.input),
    }


def feature(found: features.Feature) -> dict[str, Any]:
    """The tasks of some code, and the edges among them."""
    return {
        "tasks": [
            {
                "task": text.clean(each.key),
                "at": each.at or None,
                "confidence": each.confidence,
                "attributions": [
                    {
                        **edge(one.edge),
                        "evidence": [evidence(proof) for proof in one.evidence],
                        "evidence_count": one.evidence_count,
                    }
                    for one in each.attributions
                ],
            }
            for each in found.tasks
        ],
        "edges": [edge(each) for each in found.edges],
        "truncated": found.is_truncated,
    }


def nodes(names: Mapping[str, naming.Name]) -> dict[str, Any]:
    """What nodes are called, by their keys."""
    return {
        text.clean(key): {
            "kind": each.kind,
            "name": text.clean(each.label),
            "title": text.clean(each.title) or None,
            "status": text.clean(each.status) or None,
            "place": text.clean(each.place) or None,
            "gone": each.is_gone,
        }
        for key, each in names.items()
    }


def commits(found: Mapping[str, story.Commit]) -> dict[str, Any]:
    """What Git says of commits, by their hashes."""
    return {
        oid: {
            "subject": text.clean(each.subject),
            "author": text.clean(each.author),
            "at": each.at or None,
        }
        for oid, each in found.items()
    }


def undone(each: reversals.Undone) -> dict[str, Any]:
    """A commit that took back another one."""
    return {
        "commit": each.by,
        "undoes": each.of,
        "confidence": each.confidence,
        "at": each.at or None,
    }


def verdict(said: feedback.Verdict) -> dict[str, Any]:
    return {
        "verdict": said.word,
        "at": said.at,
        "by": text.clean(said.by),
        "why": text.clean(said.why),
    }


def target(found: targets.Target) -> dict[str, Any]:
    """The code that a selector means."""
    return {
        "selector": text.clean(found.selector),
        "kind": found.kind,
        "name": text.clean(found.name),
        "place": text.clean(found.place),
        "node": found.key or None,
        "gone": found.is_gone,
        "fallback": found.fallback or None,
    }


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return text.clean(value)
    if isinstance(value, dict):
        return {str(name): _clean(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_clean(each) for each in value]
    return value
