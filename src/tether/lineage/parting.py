"""What became of the parts: what was split from a symbol, and what went into one.

After it is known who is whose partner, the rest is new or gone. What is new may have been taken out
of a symbol that lives on, and what is gone may live on inside another one.
"""

from __future__ import annotations

from collections import Counter

from tether.hints import NamedTuple
from tether.lineage import changes, history, likeness, matching, places

_MOST = 0.75
_HALF = 0.5


class _Part(NamedTuple):
    """Something that is new or gone, and the symbol that it came from or went to."""

    of: matching.Ref
    relation: history.Relation
    score: float
    evidence: str


def matches(matcher: matching.Matcher) -> list[history.Match]:
    """Everything that is to be told about the symbols of a commit."""
    found = [_same(matcher, partners) for partners in matcher.by_after.values()]
    told = [each for each in found if each.kinds]
    survivors = _survivors(matcher)
    for new in matcher.left_after():
        told += _of_new(matcher, new, survivors)
    for old in matcher.left_before():
        told += _of_gone(matcher, old, survivors)
    return told


def _same(matcher: matching.Matcher, partners: matching.Partners) -> history.Match:
    (old_file, old), (new_file, new) = partners.before, partners.after
    before, after = matcher.before[old_file], matcher.after[new_file]
    return history.Match(
        places.place(before, old),
        places.place(after, new),
        "same",
        changes.kinds(before, old, after, new),
        partners.confidence,
        partners.evidence,
    )


class _Survivor(NamedTuple):
    """A function that is there before and after, with what it lost and what it gained."""

    partners: matching.Partners
    before: Counter[bytes]
    after: Counter[bytes]
    lost: Counter[bytes]
    gained: Counter[bytes]


def _survivors(matcher: matching.Matcher) -> list[_Survivor]:
    found = []
    for partners in matcher.by_after.values():
        (old_file, old), (new_file, new) = partners.before, partners.after
        before, after = matcher.before[old_file], matcher.after[new_file]
        if after.symbols[new].kind == "class" or before.body(old) == after.body(new):
            continue
        one, other = before.bag(old), after.bag(new)
        found.append(_Survivor(partners, one, other, one - other, other - one))
    return found


def _of_new(
    matcher: matching.Matcher, new: matching.Ref, survivors: list[_Survivor]
) -> list[history.Match]:
    source = matcher.after[new[0]]
    here = places.place(source, new[1])
    introduced = history.Match(None, here, "same", ("introduced",), 1.0, "not there before")
    if source.symbols[new[1]].kind in ("class", "constant"):
        return [introduced]
    bag, name = source.bag(new[1]), source.symbols[new[1]].name.encode()
    parts = [_copied(matcher, new)]
    for each in survivors:
        is_called = each.after[name] > each.before[name]
        score = likeness.shared(bag, each.lost) / max(1, bag.total())
        if score >= (_HALF if is_called else _MOST) and bag.total() > 3:
            told = "taken out of it and called by it" if is_called else "its lines were there"
            parts.append(_Part(each.partners.before, "split_from", score + is_called, told))
    best = max((part for part in parts if part), key=lambda part: part.score, default=None)
    if best is None:
        return [introduced]
    whole = places.place(matcher.before[best.of[0]], best.of[1])
    told = history.Match(
        whole, here, "split_from", ("introduced",), min(0.95, best.score), best.evidence
    )
    return [introduced, told]


def _copied(matcher: matching.Matcher, new: matching.Ref) -> _Part | None:
    """One of several that have taken the place of one: pushed down into each subclass, say."""
    symbol = matcher.after[new[0]].symbols[new[1]]
    for partners in matcher.by_before.values():
        if partners.evidence != matching.SAME_NAME:
            was = matcher.before[partners.before[0]].symbols[partners.before[1]]
            if was.name == symbol.name and was.kind != "class":
                score = matcher.likeness(partners.before, new)
                if score >= _MOST:
                    return _Part(partners.before, "split_from", score, "one of several copies")
    return None


def _of_gone(
    matcher: matching.Matcher, old: matching.Ref, survivors: list[_Survivor]
) -> list[history.Match]:
    source = matcher.before[old[0]]
    there = places.place(source, old[1])
    gone = history.Match(there, None, "same", ("deleted",), 1.0, "not there any more")
    if source.symbols[old[1]].kind in ("class", "constant"):
        return [gone]
    bag, name = source.bag(old[1]), source.symbols[old[1]].name.encode()
    parts = [_united(matcher, old)]
    for each in survivors:
        was_called = each.before[name] > each.after[name]
        score = likeness.shared(bag, each.gained) / max(1, bag.total())
        if score >= (_HALF if was_called else _MOST) and bag.total() > 3:
            relation: history.Relation = "inlined_into" if was_called else "merged_into"
            told = "was called by it, and its lines are there now"
            parts.append(_Part(each.partners.after, relation, score + was_called, told))
    best = max((part for part in parts if part), key=lambda part: part.score, default=None)
    if best is None:
        return [gone]
    survivor = places.place(matcher.after[best.of[0]], best.of[1])
    told_so = history.Match(
        there, survivor, best.relation, ("deleted",), min(0.95, best.score), best.evidence
    )
    return [gone, told_so]


def _united(matcher: matching.Matcher, old: matching.Ref) -> _Part | None:
    """One of several whose place one has taken: pulled up from each subclass, say."""
    symbol = matcher.before[old[0]].symbols[old[1]]
    for partners in matcher.by_after.values():
        if partners.evidence != matching.SAME_NAME:
            now = matcher.after[partners.after[0]].symbols[partners.after[1]]
            if now.name == symbol.name and now.kind != "class":
                score = matcher.likeness(old, partners.after)
                if score >= _MOST:
                    return _Part(partners.after, "merged_into", score, "one of several copies")
    return None
