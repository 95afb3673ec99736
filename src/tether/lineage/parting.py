"""What became of the parts: what was split from a symbol, and what went into one.

After it is known who is whose partner, the rest is new or gone. What is new may have been taken out
of symbols that live on, and what is gone may live on inside others. A call tells: the symbol that
lost some lines calls the new one instead, or called the one whose lines it has now.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from tether.hints import NamedTuple
from tether.lineage import calls, changes, history, likeness, matching, places, sources

_WORD = re.compile(rb"[\w$\x80-\xff]+")
_ONE_OF_SEVERAL = "one of several copies"
# So much of a statement must be found in one that was taken away for it to be the same.
_SAME_STATEMENT = 0.75
# So much of a function, by its words, must be such statements.
_ENOUGH = 0.1
_MOST = 0.75


class _Part(NamedTuple):
    """Something that is new or gone, and a symbol that it came from or went to."""

    whole: matching.Ref
    relation: history.Relation
    score: float
    evidence: str


class _Survivor(NamedTuple):
    """A function that is there before and after, with the statements that it lost and gained."""

    partners: matching.Partners
    lost: list[bytes]
    gained: list[bytes]


def matches(matcher: matching.Matcher) -> list[history.Match]:
    """Everything that is to be told about the symbols of a commit."""
    found = [_same(matcher, partners) for partners in matcher.by_after.values()]
    told = [each for each in found if each.kinds]
    survivors = list(_survivors(matcher))
    for new in matcher.left_after():
        here = places.place(matcher.after[new[0]], new[1])
        told.append(history.Match(None, here, "same", ("introduced",), 1.0, "not there before"))
        for part in _sources_of(matcher, new, survivors):
            whole = places.place(matcher.before[part.whole[0]], part.whole[1])
            told.append(_link(whole, here, part, "introduced"))
    for old in matcher.left_before():
        there = places.place(matcher.before[old[0]], old[1])
        told.append(history.Match(there, None, "same", ("deleted",), 1.0, "not there any more"))
        for part in _takers_of(matcher, old, survivors):
            whole = places.place(matcher.after[part.whole[0]], part.whole[1])
            told.append(_link(there, whole, part, "deleted"))
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


def _link(
    before: history.Place, after: history.Place, part: _Part, kind: history.ChangeKind
) -> history.Match:
    return history.Match(
        before, after, part.relation, (kind,), round(min(0.95, part.score), 2), part.evidence
    )


def _survivors(matcher: matching.Matcher) -> Iterator[_Survivor]:
    for partners in matcher.by_after.values():
        (old_file, old), (new_file, new) = partners.before, partners.after
        before, after = matcher.before[old_file], matcher.after[new_file]
        if _is_function(after, new) and before.body(old) != after.body(new):
            olds = calls.statements(before.own_code(old))
            news = calls.statements(after.own_code(new))
            lost = [each for each in olds if each not in set(news)]
            yield _Survivor(partners, lost, [each for each in news if each not in set(olds)])


def _body(source: sources.Source, number: int) -> bytes:
    symbol = source.symbols[number]
    return source.own_code(number)[symbol.body - symbol.head :]


def _is_function(source: sources.Source, number: int) -> bool:
    return source.symbols[number].kind in ("function", "method")


def _sources_of(
    matcher: matching.Matcher, new: matching.Ref, survivors: list[_Survivor]
) -> Iterator[_Part]:
    """The symbols that something new was taken out of."""
    source = matcher.after[new[0]]
    if not _is_function(source, new[1]):
        return
    for each in survivors:
        score = _moved(source, new[1], each.lost, each.gained)
        if score >= _ENOUGH:
            told = "lines of it were there, and it is called there now"
            yield _Part(each.partners.before, "split_from", 0.5 + score / 2, told)
    for partners in matcher.by_before.values():
        if partners.evidence != matching.SAME_NAME and _is_namesake(matcher, partners.before, new):
            score = matcher.likeness(partners.before, new)
            if score >= _MOST:
                yield _Part(partners.before, "split_from", score, _ONE_OF_SEVERAL)


def _takers_of(
    matcher: matching.Matcher, old: matching.Ref, survivors: list[_Survivor]
) -> Iterator[_Part]:
    """The symbols that have taken up what is gone."""
    source = matcher.before[old[0]]
    if not _is_function(source, old[1]):
        return
    for each in survivors:
        score = _moved(source, old[1], each.gained, each.lost)
        if score >= _ENOUGH:
            told = "it was called there, and lines of it are there now"
            yield _Part(each.partners.after, "inlined_into", 0.5 + score / 2, told)
    for partners in matcher.by_after.values():
        if partners.evidence != matching.SAME_NAME and _is_namesake(matcher, old, partners.after):
            score = matcher.likeness(old, partners.after)
            if score >= _MOST:
                yield _Part(partners.after, "merged_into", score, _ONE_OF_SEVERAL)


def _moved(
    source: sources.Source, number: int, instead: list[bytes], calling: list[bytes]
) -> float:
    """How much of a function stands in some statements in place of others that call it.

    Its body is read as it would be there, with the arguments of the call for its parameters.
    """
    symbol = source.symbols[number]
    name = symbol.name.encode()
    if not any(name in each for each in calling) or not instead:
        return 0.0
    places = [Counter(_WORD.findall(each)) for each in instead]
    names = calls.parameters(symbol.signature.encode())
    best = 0.0
    for values in ([], *calls.arguments(b"\n".join(calling), name)):
        body = calls.applied(_body(source, number), names, values)
        best = max(best, _found_in(calls.statements(body), places))
    return best


def _found_in(statements: list[bytes], places: list[Counter[bytes]]) -> float:
    """The share of words that are in statements which stand in one of some places."""
    total = found = 0
    for statement in statements:
        words = Counter(word for word in _WORD.findall(statement) if word != b"return")
        size = words.total()
        total += size
        if size > 1 and any(
            likeness.shared(words, place) >= _SAME_STATEMENT * size for place in places
        ):
            found += size
    return found / total if total else 0.0


def _is_namesake(matcher: matching.Matcher, old: matching.Ref, new: matching.Ref) -> bool:
    was = matcher.before[old[0]].symbols[old[1]]
    now = matcher.after[new[0]].symbols[new[1]]
    return was.name == now.name and was.kind != "class"
