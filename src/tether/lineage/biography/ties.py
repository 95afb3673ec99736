"""What a task had to do with other tasks and with decisions, as words of its own line. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from tether.hints import NamedTuple
from tether.lineage.biography.model import Relation, Source
from tether.lineage.biography.naming import Names, evidence, is_decision
from tether.lineage.edges import model as edges

# The later one tells, and that is mostly the subject.
_LATER_IS_OBJECT = frozenset(("motivates", "blocks", "runtime-parent"))
_CLAUSES = ("supersedes", "reverts", "extends", "follows-up", "motivates")
_TURNS = frozenset(("supersedes", "reverts"))
_STRONG = frozenset(("supersedes", "reverts", "contradicts"))


class Tie(NamedTuple):
    """Words, and what they stand on."""

    text: str
    sources: tuple[Source, ...]
    key: str = ""
    """Of a decision."""


class Ties(NamedTuple):
    """What is said of one task."""

    clauses: tuple[Tie, ...] = ()
    """What it did: `built on T1`."""
    sentences: tuple[Tie, ...] = ()
    """What else must be said of it: `T2 was replaced by T9.`"""
    asides: tuple[Tie, ...] = ()
    """What may be left out."""
    under: tuple[Tie, ...] = ()
    """The decisions that governed it."""


def by_task(
    relations: Iterable[Relation], told: Collection[str], undone: Collection[tuple[str, str]]
) -> dict[str, list[Relation]]:
    """The relations by the task whose line has them; the other end leaves it at that.

    `undone` are pairs of tasks of which commits show that one undid the change of the other.
    """
    found: dict[str, list[Relation]] = {}
    for each in relations:
        if each.type == "governs":
            tellers = [end for end in (each.subject, each.object) if end in told]
        elif each.type == "reverts" and (each.subject, each.object) in undone:
            tellers = []
        else:
            tellers = [_teller(each, told)]
        for teller in filter(None, tellers):
            found.setdefault(teller, []).append(each)
    return found


def of(task: str, relations: Sequence[Relation], told: Collection[str], names: Names) -> Ties:
    """What the line of a task says of its relations."""
    groups: dict[tuple[str, bool], list[Relation]] = {}
    for each in relations:
        if each.type != "governs":
            groups.setdefault((each.type, each.subject == task), []).append(each)
    clauses: list[Tie] = []
    sentences: list[Tie] = []
    asides: list[Tie] = []
    for (kind, is_subject), group in sorted(groups.items(), key=_order):
        others = _others(group, is_subject)
        sources = (*evidence(group), *(s for each in others for s in names.sources(each)))
        is_later = is_subject != (kind in _LATER_IS_OBJECT)
        if kind in _CLAUSES and is_later:
            clauses.append(Tie(_clause(kind, others, told, names), sources))
        else:
            said = Tie(_sentence(kind, is_subject, task, others, names), sources)
            (sentences if kind in _STRONG else asides).append(said)
    under = decisions(relations, names)
    return Ties(tuple(clauses), tuple(sentences), tuple(asides), under)


def decisions(governing: Iterable[Relation], names: Names) -> tuple[Tie, ...]:
    """`decision 0021 “The same function”`, for each that governs."""
    found: dict[str, list[Relation]] = {}
    for each in governing:
        key = each.subject if is_decision(each.subject) else each.object
        if each.type == "governs" and is_decision(key):
            found.setdefault(key, []).append(each)
    return tuple(
        Tie(names.standing(key), (*evidence(group), *names.sources(key)), key)
        for key, group in found.items()
    )


def is_turn(relations: Iterable[Relation]) -> bool:
    """Whether one of them says that something was undone or replaced."""
    return any(each.type in _TURNS for each in relations)


def superseding(relations: Iterable[Relation], told: Collection[str]) -> frozenset[str]:
    """The tasks that replaced what another task of the story, or a decision, had brought."""
    return frozenset(
        each.subject
        for each in relations
        if each.type == "supersedes"
        and each.subject != each.object
        and (each.object in told or is_decision(each.object))
    )


def _teller(relation: Relation, told: Collection[str]) -> str:
    """Which of the two has it in its line; empty if nobody."""
    known = edges.TYPES.get(relation.type)
    if known is None or known.name in edges.OF_CODE or relation.subject == relation.object:
        return ""
    ends = [relation.subject, relation.object]
    if known.name in _LATER_IS_OBJECT:
        ends.reverse()
    return next((each for each in ends if each in told), "")


def _order(item: tuple[tuple[str, bool], object]) -> tuple[int, str, bool]:
    kind, is_subject = item[0]
    place = _CLAUSES.index(kind) if kind in _CLAUSES else len(_CLAUSES)
    return place, kind, not is_subject


def _others(group: Iterable[Relation], is_subject: bool) -> list[str]:
    return list(dict.fromkeys(each.object if is_subject else each.subject for each in group))


def _clause(kind: str, others: Sequence[str], told: Collection[str], names: Names) -> str:
    said = names.all_called(others)
    if kind == "motivates":
        return f"came from {said}"
    if kind == "follows-up":
        return f"followed up {said}"
    if kind == "extends" or any(map(is_decision, others)):
        return f"{edges.TYPES[kind].verb} {said}"
    thing = "approach" if kind == "supersedes" else "change"
    verb = "replaced" if kind == "supersedes" else "undid part of"
    if len(others) == 1 and others[0] in told:
        return f"{verb} {said}'s {thing}"
    return f"{verb} the {thing} of {said}"


def _sentence(kind: str, is_subject: bool, task: str, others: Sequence[str], names: Names) -> str:
    known = edges.TYPES[kind]
    verb = known.verb if is_subject else known.passive
    return f"{names.bare(task)} {verb} {names.all_called(others)}."
