"""What became of the parts: what was split from a symbol, and what went into one.

After it is known who is whose partner, the rest is new or gone. What is new may have been taken out
of symbols that live on, and what is gone may live on inside others. A call tells: the symbol that
lost some lines calls the new one instead, or called the one whose lines it has now.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tether.hints import NamedTuple
from tether.lineage import (
    calls,
    changes,
    evidence,
    heirs,
    history,
    likeness,
    mapping,
    matching,
    places,
    sources,
)

_ONE_OF_SEVERAL = "one of several copies"
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
    """A function that is there before and after, as seen from one side of the commit."""

    here: matching.Ref
    there: matching.Ref
    name: bytes
    has_only: list[bytes]
    """The statements that are on this side only."""
    lacks: list[bytes]
    """The statements that are on the other side only."""


def matches(matcher: matching.Matcher) -> list[history.Match]:
    """Everything that is to be told about the symbols of a commit."""
    found = [_same(matcher, partners) for partners in matcher.by_after.values()]
    told = [each for each in found if each.kinds]
    for new in matcher.left_after():
        here = places.place(matcher.after[new[0]], new[1])
        told.append(history.Match(None, here, "same", ("introduced",), 1.0, "not there before"))
    for old in matcher.left_before():
        there = places.place(matcher.before[old[0]], old[1])
        told.append(history.Match(there, None, "same", ("deleted",), 1.0, "not there any more"))
    return [*told, *links(matcher)]


def links(matcher: matching.Matcher) -> Iterator[history.Match]:
    """What was split from others, and what went into them."""
    line = heirs.Heirs(matcher)
    survivors = list(_survivors(matcher))
    copies = _Copies(matcher)
    side = _Side(matcher.after, matcher.left_after(), survivors)
    for new in matcher.left_after():
        for part in _once(_sources_of(new, side, line, copies)):
            here = places.place(matcher.after[new[0]], new[1])
            whole = places.place(matcher.before[part.whole[0]], part.whole[1])
            yield _link(whole, here, part, "introduced")
    side = _Side(matcher.before, matcher.left_before(), [_other_way(each) for each in survivors])
    for old in matcher.left_before():
        for part in _once(_takers_of(old, side, line, copies)):
            there = places.place(matcher.before[old[0]], old[1])
            whole = places.place(matcher.after[part.whole[0]], part.whole[1])
            yield _link(there, whole, part, "deleted")


def _same(matcher: matching.Matcher, partners: matching.Partners) -> history.Match:
    (old_file, old), (new_file, new) = partners.before, partners.after
    before, after = matcher.before[old_file], matcher.after[new_file]
    return history.Match(
        places.place(before, old),
        places.place(after, new),
        "same",
        changes.kinds(before, old, after, new, keeps_container=partners.keeps_container),
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
    """The functions that changed, as seen from after."""
    for partners in matcher.by_after.values():
        (old_file, old), (new_file, new) = partners.before, partners.after
        before, after = matcher.before[old_file], matcher.after[new_file]
        if not _is_function(after, new) or before.text(old) == after.text(new):
            continue
        if before.body(old) != after.body(new):
            olds = calls.statements(before.own_code(old))
            news = calls.statements(after.own_code(new))
            yield _Survivor(
                partners.after,
                partners.before,
                after.symbols[new].name.encode(),
                has_only=_without(news, olds),
                lacks=_without(olds, news),
            )


def _without(some: list[bytes], others: list[bytes]) -> list[bytes]:
    known = set(others)
    return [each for each in some if each not in known]


def _other_way(each: _Survivor) -> _Survivor:
    return _Survivor(each.there, each.here, each.name, each.lacks, each.has_only)


class _Side:
    """One side of a commit: what is only there, and the survivors that may call it."""

    def __init__(
        self,
        files: Sequence[sources.Source],
        left: list[matching.Ref],
        survivors: list[_Survivor],
    ) -> None:
        self._files = files
        self._left: dict[tuple[int, bytes], list[bytes]] = defaultdict(list)
        for file, number in left:
            if _is_function(files[file], number):
                name = files[file].symbols[number].name.encode()
                self._left[file, name] += calls.statements(files[file].own_body(number))
        self._by_word: dict[bytes, list[_Survivor]] = defaultdict(list)
        # Who has the content of another and is not called is of its name or stands beside it.
        self._by_name: dict[bytes, list[_Survivor]] = defaultdict(list)
        self._by_file: dict[int, list[_Survivor]] = defaultdict(list)
        for each in survivors:
            calling = each._replace(has_only=self._reaching(each))
            for word in {word for line in calling.has_only for word in calls.words(line)}:
                self._by_word[word].append(calling)
            self._by_name[each.name].append(each)
            if len(each.lacks) > 1:
                self._by_file[each.here[0]].append(each)

    def wholes(self, ref: matching.Ref) -> Iterator[tuple[matching.Ref, float]]:
        """The survivors that have on the other side what is a function of its own on this one."""
        source = self._files[ref[0]]
        # What stands in something without a name is called by nobody that knows it.
        if not _is_function(source, ref[1]) or "<" in source.symbols[ref[1]].container:
            return
        part = mapping.Part(source, ref[1])
        found: dict[matching.Ref, float] = {}
        calling_it = self._by_word.get(part.name, ())
        named_so = self._by_name.get(part.name, ())
        near = self._by_file.get(ref[0], ())
        if not calling_it and not named_so and not near:
            return
        for each in calling_it:
            is_near = each.here[0] == ref[0]
            calling = [line for line in each.has_only if not self._is_of_another(line, part, each)]
            score = part.found_in(each.lacks, calling, is_near=is_near)
            if part.is_long and score < _MOST:
                # Word for word it says more than its calls do.
                content = part.content_in(each.lacks)
                score = content if content >= _MOST else score
            is_sure = score >= _MOST and part.is_long
            is_enough = score >= _ENOUGH
            if is_sure or (is_enough and part.is_meant(self._files[each.here[0]], calling)):
                found[each.there] = score
        beside = near if part.is_telling else ()
        for each in (*named_so, *beside):
            score = part.content_in(each.lacks)
            # Of few statements all must be there.
            if score >= (_MOST if part.is_long or each.name == part.name else 1.0):
                found[each.there] = max(score, found.get(each.there, 0.0))
        yield from found.items()

    def _is_of_another(self, statement: bytes, part: mapping.Part, each: _Survivor) -> bool:
        """Whether a statement calls functions of a part's name, but says that they are others."""
        told = calls.receivers(statement, part.name) if part.name in statement else []
        bases = heirs.bases(self._files[each.here[0]], each.here[1]) if b"super" in told else ()
        return bool(told) and all(
            not part.around.intersection(bases)
            if word == b"super"
            else (word, part.name) in self._members and word not in part.around
            for word in told
        )

    @functools.cached_property
    def _members(self) -> set[tuple[bytes, bytes]]:
        """The names of all functions, with those of the classes that they stand in."""
        return {
            (symbol.container.rpartition(".")[2].encode(), symbol.name.encode())
            for source in self._files
            for symbol in source.symbols
            if symbol.container and symbol.kind in ("function", "method")
        }

    def _reaching(self, each: _Survivor) -> list[bytes]:
        """What calls from a survivor lead to: its statements, and those of what only is there."""
        found = list(each.has_only)
        seen: set[bytes] = set()
        for statement in found:  # which grows
            for word in calls.words(statement):
                if word not in seen and (each.here[0], word) in self._left:
                    seen.add(word)
                    found += self._left[each.here[0], word]
        return found


def _is_function(source: sources.Source, number: int) -> bool:
    return source.symbols[number].kind in ("function", "method")


def _once(parts: Iterable[_Part]) -> Iterable[_Part]:
    """The first that is said of each whole."""
    found: dict[matching.Ref, _Part] = {}
    for part in parts:
        found.setdefault(part.whole, part)
    return found.values()


class _Copies:
    """Those that did not simply keep their name, of which others may be copies."""

    def __init__(self, matcher: matching.Matcher) -> None:
        self._matcher = matcher
        self._befores: dict[str, list[matching.Ref]] = defaultdict(list)
        self._afters: dict[str, list[matching.Ref]] = defaultdict(list)
        self._renamed: dict[int, list[matching.Ref]] = defaultdict(list)
        for partners in matcher.by_after.values():
            if partners.evidence != matching.SAME_NAME:
                (old_file, old), (new_file, new) = partners.before, partners.after
                was = matcher.before[old_file].symbols[old].name
                now = matcher.after[new_file].symbols[new].name
                self._befores[was].append(partners.before)
                self._afters[now].append(partners.after)
                if was != now and _is_function(matcher.after[new_file], new):
                    self._renamed[old_file].append(partners.after)

    def of_new(self, new: matching.Ref) -> Iterator[_Part]:
        """What something new is a copy of that had its name."""
        symbol = self._matcher.after[new[0]].symbols[new[1]]
        for old in self._befores.get(symbol.name, ()) if symbol.kind != "class" else ():
            score = self._matcher.likeness(old, new)
            if score >= _MOST:
                yield _Part(old, "split_from", score, _ONE_OF_SEVERAL)

    def of_old(self, old: matching.Ref) -> Iterator[_Part]:
        """What something that is gone was a copy of: that has its name, or got one for several."""
        source = self._matcher.before[old[0]]
        symbol = source.symbols[old[1]]
        for new in self._afters.get(symbol.name, ()) if symbol.kind != "class" else ():
            score = self._matcher.likeness(old, new)
            if score >= _MOST:
                yield _Part(new, "merged_into", score, _ONE_OF_SEVERAL)
        bag = source.bag(old[1])
        is_long = _is_function(source, old[1]) and bag.total() >= evidence.FEW_WORDS
        for new in self._renamed.get(old[0], ()) if is_long else ():
            held = likeness.shared(bag, self._matcher.after[new[0]].bag(new[1])) / bag.total()
            if held >= _MOST:
                yield _Part(new, "merged_into", held, "its words are in one that got another name")


def _sources_of(
    new: matching.Ref, side: _Side, line: heirs.Heirs, copies: _Copies
) -> Iterator[_Part]:
    """The symbols that something new was taken out of."""
    for whole, score in side.wholes(new):
        told = "lines of it were there, and it is called there now"
        yield _Part(whole, "split_from", 0.5 + score / 2, told)
    for above in line.below(new):
        yield _Part(above, "split_from", _MOST, "what its class is built on had it")
    yield from copies.of_new(new)


def _takers_of(
    old: matching.Ref, side: _Side, line: heirs.Heirs, copies: _Copies
) -> Iterator[_Part]:
    """The symbols that have taken up what is gone."""
    for whole, score in side.wholes(old):
        told = "it was called there, and lines of it are there now"
        yield _Part(whole, "inlined_into", 0.5 + score / 2, told)
    for above in line.above(old):
        yield _Part(above, "merged_into", _MOST, "what its class is built on has it now")
    yield from copies.of_old(old)
