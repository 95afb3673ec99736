"""What the questions of lineage answer to programs."""

from __future__ import annotations

from tether import text
from tether.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tether.lineage.closures import features
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


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return text.clean(value)
    if isinstance(value, dict):
        return {str(name): _clean(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_clean(each) for each in value]
    return value
