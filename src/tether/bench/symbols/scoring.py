"""How answers about histories are counted: pure, over plain values.

Strict excuses nothing. Core leaves out, on both sides, commits that changed nothing but
documentation, comments or layout. An oracle of classes has only what changes their structure, so
what is said about bodies is left out where it asks.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Sequence

from tether.bench import counting
from tether.bench.counting import Count
from tether.bench.symbols import oracle, said
from tether.hints import Any, NamedTuple

_QUIET_TYPES = frozenset({"doc", "format"})
_QUIET_KINDS = frozenset({"documentation", "comment", "formatting"})
_NO_STRUCTURE = _QUIET_KINDS | {"body"}
_MOVES = frozenset({"rename", "file_move", "method_move"})
FIGURES = ("precision", "recall", "f1")
_LINE_NUMBER = re.compile(r"\(\d{1,9}\)$")
_NOT_IN_NAMES = re.compile(r"[^\w$]")


class Sets(NamedTuple):
    """The commits that are expected and those that are said, as far as they are asked for."""

    expected: frozenset[str]
    said: frozenset[str]

    @property
    def counted(self) -> Count:
        return Count(
            len(self.expected & self.said),
            len(self.said - self.expected),
            len(self.expected - self.said),
        )

    @property
    def is_exact(self) -> bool:
        return self.expected == self.said


class Found(NamedTuple):
    """So many of so many."""

    found: int = 0
    of: int = 0

    def plus(self, other: Found) -> Found:
        return Found(self.found + other.found, self.of + other.of)

    @property
    def figures(self) -> dict[str, Any]:
        return {**self._asdict(), "share": round(self.found / self.of, 4) if self.of else 0.0}


def strict(question: oracle.Question, changes: Iterable[said.Change]) -> Sets:
    """All of them."""
    return Sets(
        frozenset(each.commit for each in question.expected),
        frozenset(kinds_said(question, changes)),
    )


def core(question: oracle.Question, changes: Iterable[said.Change]) -> Sets:
    """Without those that changed only documentation or layout."""
    types = types_expected(question)
    quiet = {commit for commit, found in types.items() if found <= _QUIET_TYPES}
    kinds = kinds_said(question, changes)
    # A docstring is a statement: an oracle of Python counts it, and leaves out comments and layout.
    unheard = _QUIET_KINDS - ({"documentation"} if question.path.endswith(".py") else set())
    loud = {commit for commit, found in kinds.items() if not found or found - unheard}
    return Sets(frozenset(types.keys() - quiet), frozenset(loud - quiet))


def types_expected(question: oracle.Question) -> dict[str, frozenset[str]]:
    """How each commit is expected to have changed the symbol."""
    found: dict[str, frozenset[str]] = {}
    for each in question.expected:
        found[each.commit] = found.get(each.commit, frozenset()) | each.types
    return found


def kinds_said(
    question: oracle.Question, changes: Iterable[said.Change]
) -> dict[str, frozenset[str]]:
    """How each commit is said to have changed the symbol."""
    found: dict[str, frozenset[str]] = {}
    for each in changes:
        found[each.commit] = found.get(each.commit, frozenset()) | each.kinds
    if question.is_class:
        found = {key: kinds for key, kinds in found.items() if not kinds or kinds - _NO_STRUCTURE}
    return found


def origin(question: oracle.Question, changes: Iterable[said.Change]) -> Found:
    """Is the commit that introduced it said to have done so? Git says no kinds: it lists it."""
    wanted = {each.commit for each in question.expected if "introduced" in each.types}
    there = {each.commit for each in changes if not each.kinds or "introduced" in each.kinds}
    return Found(len(wanted & there), len(wanted))


def moves(question: oracle.Question, changes: Iterable[said.Change]) -> Found:
    """The commits that renamed or moved it."""
    wanted = {each.commit for each in question.expected if each.types & _MOVES}
    there = {each.commit for each in changes}
    return Found(len(wanted & there), len(wanted))


def moves_with_places(question: oracle.Question, changes: Sequence[said.Change]) -> Found:
    """The same, where files and names are given and have to agree."""
    wanted = [each for each in question.expected if each.types & _MOVES and any(each[2:])]
    found = sum(
        any(told.commit == each.commit and _agrees(each, told) for told in changes)
        for each in wanted
    )
    return Found(found, len(wanted))


def _agrees(expected: oracle.Expected, told: said.Change) -> bool:
    sides = (
        (expected.file_before, expected.name_before, told.before),
        (expected.file_after, expected.name_after, told.after),
    )
    return all(_is_at(path, name, spot) for path, name, spot in sides)


def _is_at(path: str, name: str, spot: said.Spot | None) -> bool:
    if not path and not name:
        return True
    if spot is None:
        return False
    return (not path or spot.path == path) and (not name or spot.name == last_name(name))


def last_name(name: str) -> str:
    """The name alone: `src/java/org.x.(public)(final)Outer(65)` and `Outer` are the same."""
    return _NOT_IN_NAMES.split(_LINE_NUMBER.sub("", name))[-1] or name


# Figures


def figures(found: Sequence[Sets]) -> dict[str, Any]:
    """The scores of questions."""
    counts = [each.counted for each in found]
    return {
        **count_figures(counting.total(counts)),
        "exact": sum(each.is_exact for each in found),
        "questions": len(found),
        "intervals": counting.intervals(counts, "question", FIGURES),
    }


def count_figures(count: Count) -> dict[str, Any]:
    """What was counted, and what follows."""
    return {
        **{name: round(getattr(count, name), 4) for name in FIGURES},
        "tp": count.tp,
        "fp": count.fp,
        "fn": count.fn,
    }


def all_found(each: Iterable[Found]) -> Found:
    """All of them together."""
    total = Found()
    for one in each:
        total = total.plus(one)
    return total


def median(values: Sequence[float]) -> float | None:
    """The middle one, to a tenth of a millisecond; None of nothing."""
    return round(statistics.median(values), 4) if values else None


def p90(values: Sequence[float]) -> float | None:
    """What nine in ten do not exceed; None of nothing."""
    return round(sorted(values)[math.ceil(len(values) * 0.9) - 1], 4) if values else None
