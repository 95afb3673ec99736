"""Which symbols are worth a comparison: they share a name, a place, members or rare lines.

Pure, and never all with all: a sign that many share brings nobody together.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

from tether.lineage import likeness, sources, symbols

Ref = tuple[int, int]
"""A file and a symbol of it, by their numbers."""

Gap = tuple[Ref | None, Ref | None]
"""The neighbours before and after; None at the beginning and at the end."""
_NOWHERE: Gap = (None, None)

# A line or a name that stands in more places than this says nothing about where something was.
_COMMON = 20
# Two of the first members of a class tell it; what is so small is told by all of its words.
_MEMBERS = 8
_SMALL_BYTES = 400


class Left:
    """The symbols before and after that have no partners yet."""

    def __init__(
        self,
        before: Sequence[sources.Source],
        after: Sequence[sources.Source],
        olds: Mapping[Ref, Ref],
        news: Sequence[Ref],
        file_of: Mapping[int, int],
        settled: Mapping[Ref, Ref],
    ) -> None:
        """Those before come with what they stand in, as it is after.

        Settled are all that have partners, before and after.
        """
        self._before, self._after = before, after
        self._olds, self._news, self._file_of = olds, news, file_of
        names = [
            _grouped((before[ref[0]].symbols[ref[1]].name, ref) for ref in olds),
            _grouped((after[ref[0]].symbols[ref[1]].name, ref) for ref in news),
        ]
        # Where several with one name become one, as methods that go up into a common class, each
        # of them may be the one.
        becoming = [refs for name, refs in names[0].items() if len(names[1].get(name, ())) == 1]
        self._lonely_olds = _single(names[0]) | set(itertools.chain(*becoming))
        self._lonely_news = _single(names[1])
        self._only_olds = _single(_grouped((self._place_before(ref), ref) for ref in olds))
        self._only_news = _single(_grouped((self._place_after(ref), ref) for ref in news))
        self._gaps_before = _gaps(before, olds, settled)
        self._gaps_after = _gaps(after, news, {new: new for new in settled.values()})
        self._alone_olds = _single(_grouped((self._gap_before(ref), ref) for ref in olds))
        self._alone_news = _single(_grouped((self._gap_after(ref), ref) for ref in news))

    def is_lonely(self, old: Ref, new: Ref) -> bool:
        """Whether no other one left has the name of the one or of the other."""
        return old in self._lonely_olds and new in self._lonely_news

    def is_only(self, old: Ref, new: Ref) -> bool:
        """Whether each is the only one left of its kind in its place."""
        return old in self._only_olds and new in self._only_news

    def is_between_same(self, old: Ref, new: Ref) -> bool:
        """Whether both stand in the same place between the same neighbours."""
        gap = self._gaps_before.get(old)
        is_gap = gap is not None and gap != _NOWHERE
        return is_gap and self._gap_before(old) == self._gap_after(new)

    def is_alone(self, old: Ref, new: Ref) -> bool:
        """Whether each is the only one left of its kind between its neighbours."""
        return old in self._alone_olds and new in self._alone_news

    def pairs(self) -> Iterator[tuple[Ref, Ref]]:
        """Those that are worth a comparison."""
        if not self._olds or not self._news:
            return
        by_place = _grouped((place, ref) for ref, place in self._olds.items())
        by_sign = _grouped(
            (sign, old)
            for old in self._olds
            for sign in _signs(self._before[old[0]], old, self._file_of.get(old[0], -1))
        )
        by_line = _grouped(
            (line, old) for old in self._olds for line in set(self._before[old[0]].lines(old[1]))
        )
        for new in self._news:
            source = self._after[new[0]]
            near = by_place.get((new[0], source.symbols[new[1]].parent), [])
            alike = [_few(by_sign.get(sign)) for sign in _signs(source, new, new[0])]
            lines = set(source.lines(new[1]))
            sharing = Counter(old for line in lines for old in _few(by_line.get(line)))
            many = [old for old, count in sharing.items() if count >= enough_lines(len(lines))]
            yield from ((old, new) for old in dict.fromkeys(itertools.chain(near, *alike, many)))

    def _place_before(self, ref: Ref) -> Hashable:
        return self._olds[ref], symbols.family(self._before[ref[0]].symbols[ref[1]].kind)

    def _place_after(self, ref: Ref) -> Hashable:
        symbol = self._after[ref[0]].symbols[ref[1]]
        return (ref[0], symbol.parent), symbols.family(symbol.kind)

    def _gap_before(self, ref: Ref) -> Hashable:
        return self._place_before(ref), self._gaps_before.get(ref)

    def _gap_after(self, ref: Ref) -> Hashable:
        return self._place_after(ref), self._gaps_after.get(ref)


def _gaps(
    files: Sequence[sources.Source], left: Iterable[Ref], settled: Mapping[Ref, Ref]
) -> dict[Ref, Gap]:
    """The neighbours with partners between which each of these stands, as they are after."""
    found: dict[Ref, Gap] = {}
    for file, around in {(file, files[file].symbols[number].parent) for file, number in left}:
        previous: Ref | None = None
        waiting: list[Ref] = []
        for number in files[file].children[around]:
            following = settled.get((file, number))
            if following is None:
                waiting.append((file, number))
                continue
            found.update((ref, (previous, following)) for ref in waiting)
            previous, waiting = following, []
        found.update((ref, (previous, None)) for ref in waiting)
    return found


def enough_lines(count: int) -> int:
    """How many lines of so many two symbols must share to be compared without further reason."""
    return max(1, math.ceil(count / 4))


def sharing(bags: Mapping[Ref, likeness.Bag]) -> Callable[[likeness.Bag], list[Ref]]:
    """Of some symbols, those that share rare words with another one; all, if they are few."""
    if len(bags) <= _COMMON:
        return lambda _: list(bags)
    by_word = _grouped((word, ref) for ref, bag in bags.items() for word in bag)
    return lambda bag: sorted({ref for word in bag for ref in _few(by_word.get(word))})


def _signs(source: sources.Source, ref: Ref, file_after: int) -> list[Hashable]:
    """What makes two symbols worth a comparison, beside their place and their lines."""
    number = ref[1]
    symbol = source.symbols[number]
    words = list(likeness.parts(symbol.name))
    signs: list[Hashable] = [frozenset(words), ("file", file_after)]
    signs += [(file_after, *pair) for pair in itertools.pairwise(words)]
    if symbol.kind == "class":
        inside = {source.local_name(each) for each in source.children.get(number, ())}
        signs += itertools.combinations(sorted(inside - {symbol.name})[:_MEMBERS], 2)
    if len(source.code(number)) < _SMALL_BYTES:
        # It may have no line without its name in it.
        signs.append(frozenset(source.bag(number).items()))
    return signs


def _few(refs: list[Ref] | None) -> list[Ref]:
    return refs if refs and len(refs) <= _COMMON else []


def _single(groups: Mapping[Hashable, list[Ref]]) -> set[Ref]:
    return {refs[0] for refs in groups.values() if len(refs) == 1}


def _grouped(pairs: Iterable[tuple[Hashable, Ref]]) -> dict[Hashable, list[Ref]]:
    found: dict[Hashable, list[Ref]] = defaultdict(list)
    for key, ref in pairs:
        found[key].append(ref)
    return found
