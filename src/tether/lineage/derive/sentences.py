"""What tasks say of one another in plain text: edges, each from one statement. Pure.

Most mentions are no more than that. A verb makes an edge of a type only if it is bound to an id in
its own sentence, list item, heading or cell, in the author's own words, and neither denied, asked,
wished nor made to depend on anything. How often each rule is right is measured on labelled texts
(`tests/data/lineage-text-edges.jsonl`, `scripts/lineage_text.py`); one that is right less than 85
times in 100 stays below what a biography tells.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Callable, Iterator

from tether import ids
from tether.hints import NamedTuple
from tether.lineage.derive.grammar import binding, blanking, statements, units, vocabulary
from tether.lineage.edges.model import Key, task_key
from tether.tasks.sources import patterns

RULES = {
    # `Supersedes: X`, on a line, above a list, in a table.
    "header": 0.9,
    # `This supersedes X`, `Y reverts X`, `Builds on X`.
    "supersedes": 0.9,
    "reverts": 0.9,
    "extends": 0.9,
    # `X was replaced by Y`, `Reverted in Y`.
    "passive": 0.8,
    # `A follow-up to X`, `Rollback of X`.
    "noun": 0.8,
    # `Reverts the loop that X added`.
    "part": 0.8,
    # `Extends the sweep (X)`: too few were seen.
    "apposition": 0.5,
    # `Motivated by X`, `X led to this task`.
    "motivates": 0.8,
    # `Found while working on X`, `Came out of X`.
    "source": 0.8,
    # Words alone never make a contradiction more than possible.
    "contradicts": 0.5,
    # A review names X.
    "citation": 0.8,
    # Any other mention.
    "mention": 0.4,
}
"""How far each rule is trusted."""

MAX_TEXT = 200
_WORD = re.compile(r"['’]s\b|[^\W\d_]+(?:['’][^\W\d_]{1,3})?|[0-9]+|\0+|[^\w\s\1]")
_ORNAMENTS = frozenset("*_[]`\"'#@~{}<>“”‘’«»")
_CLOSING = frozenset(" \t\r\n\0)]*_\"'”’")
_DASHES = frozenset("-–—―")
_JOINTS = frozenset((",", ", and", "and", "&"))
_LOOKS = " \t\r\n*_`#"


class Said(NamedTuple):
    """An edge that a statement makes."""

    subject: Key
    type: str
    object: Key
    confidence: float
    verb: str
    """As it stands there, in small letters; empty for a mere mention."""
    line: int
    """Counted from 1."""
    start: int
    """Where the id begins that it is about."""
    text: str
    """The statement, cut to what stands around the id."""
    rule: str
    """The one of `RULES` that found it."""


class _Place(NamedTuple):
    """An id where it stands."""

    start: int
    end: int
    key: Key


def read(
    text: str, find: Callable[[str], list[patterns.Found]], own: Key, field: str
) -> list[Said]:
    """The edges of a text of `own`, in the order of their places.

    `field` is description, plan, result, commit, review or merge: what reviews mention is cited.
    """
    places = [_Place(found.start, found.start + len(found.id), _key(found)) for found in find(text)]
    shown = blanking.blank(text, [(each.start, each.end) for each in places])
    places = [each for each in places if shown[each.start] == text[each.start]]
    best: dict[tuple[Key, str, Key], Said] = {}
    reader = _Reader(text, shown, own, is_review=field in ("review", "merge"))
    for said in reader.all(places):
        known = best.get(said[:3])
        if known is None or said.confidence > known.confidence:
            best[said[:3]] = said
    typed = {frozenset((each.subject, each.object)) for each in best.values() if each.verb}
    kept = [
        each
        for each in best.values()
        if each.verb or frozenset((each.subject, each.object)) not in typed
    ]
    return sorted(kept, key=lambda each: (each.start, each.subject, each.type, each.object))


def _key(found: patterns.Found) -> Key:
    return task_key(ids.TaskKey(found.source, found.id))


class _Reader:
    """A text, and whose it is."""

    def __init__(self, text: str, shown: str, own: Key, *, is_review: bool) -> None:
        self._text = text
        self._shown = shown
        self._own = own
        self._is_review = is_review
        self._lines = [-1, *(match.start() for match in re.finditer("\n", text))]

    def all(self, places: list[_Place]) -> Iterator[Said]:
        """What every statement says, the same edge more than once."""
        starts = [each.start for each in places]
        for unit in units.units(self._shown):
            low = bisect.bisect_left(starts, unit.start)
            high = bisect.bisect_left(starts, unit.end, low)
            if low < high:
                yield from self._of(unit, places[low:high])

    def _of(self, unit: units.Unit, places: list[_Place]) -> Iterator[Said]:
        for place in places:
            if place.key != self._own:
                yield self._mention(unit, place)
        if unit.is_doubtful or self._is_question(unit):
            return
        words, at = self._words(unit, places)
        keys = {number: each.key for number, each in at.items()}
        for each in binding.bind(statements.Statement(words, keys, self._own)):
            yield self._said(
                unit, at[each.at].start, each.subject, each.type, each.object, each.rule, each.verb
            )

    def _is_question(self, unit: units.Unit) -> bool:
        end = unit.end
        while end > unit.start and self._shown[end - 1] in _CLOSING:
            end -= 1
        return self._shown[end - 1] == "?"

    def _mention(self, unit: units.Unit, place: _Place) -> Said:
        if self._is_review:
            return self._said(
                unit, place.start, place.key, "cited-in-review", self._own, "citation"
            )
        return self._said(unit, place.start, self._own, "references", place.key, "mention")

    def _said(
        self,
        unit: units.Unit,
        start: int,
        subject: Key,
        name: str,
        target: Key,
        rule: str,
        verb: str = "",
    ) -> Said:
        first = max(unit.start, min(start - MAX_TEXT // 2, unit.end - MAX_TEXT))
        shown = " ".join(self._text[first : min(unit.end, first + MAX_TEXT)].split())
        line = bisect.bisect_left(self._lines, start)
        return Said(subject, name, target, RULES[rule], verb, line, start, shown, rule)

    def _words(self, unit: units.Unit, places: list[_Place]) -> tuple[list[str], dict[int, _Place]]:
        """A statement as words, with what stands before it like a label."""
        words: list[str] = []
        if unit.lead and self._shown[unit.start : places[0].start].strip(" \t*_[`#") == "":
            words += [*self._split(*unit.lead), ":"]
            words = words[:-1] if words[-2:] == [":", ":"] else words
        at: dict[int, _Place] = {}
        start = unit.start
        joined = self._joined(unit, places)
        for number, place in enumerate(places):
            words += ["&"] if number in joined else self._split(start, place.start)
            at[len(words)] = place
            words.append(vocabulary.ID)
            start = place.end
        return [*words, *self._split(start, unit.end)], at

    def _joined(self, unit: units.Unit, places: list[_Place]) -> set[int]:
        """The places that brackets bind to the one before: `[X, Y] replace Z`."""
        found: set[int] = set()
        first: int | None = None
        ends = [unit.start, *(each.end for each in places)]
        starts = [*(each.start for each in places), unit.end]
        gaps = [self._between(*span) for span in zip(ends, starts, strict=True)]
        for number, (before, behind) in enumerate(itertools.pairwise(gaps)):
            if before.endswith("["):
                first = number
            elif " ".join(before.split()) not in _JOINTS:
                first = None
            if first is not None and behind.startswith("]"):
                found.update(range(first + 1, number + 1))
        return found

    def _between(self, start: int, end: int) -> str:
        """What stands between two ids, but for how it looks."""
        return self._shown[start:end].strip(_LOOKS)

    def _split(self, start: int, end: int) -> Iterator[str]:
        for match in _WORD.finditer(self._shown, start, end):
            word = match[0]
            if word in _DASHES:
                if dash := self._dash(match.start()):
                    yield dash
            elif word not in _ORNAMENTS:
                yield word.lower().replace("’", "'")

    def _dash(self, at: int) -> str:
        """A break between clauses, what joins an id to a word, or nothing in a word."""
        before, behind = self._shown[at - 1 : at], self._shown[at + 1 : at + 2]
        if before.isalpha() and behind.isalpha():
            return ""
        return "-" if before.isalnum() and behind.isalnum() else "—"
