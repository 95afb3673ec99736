"""Which symbol before a commit is which one after it: the decision that lineage stands on.

Pure: files with their outlines in, partners out. What has kept its place and name is itself, and
that is settled first. What is left is compared by its words, and the pairs that are most alike
become partners, under a threshold that depends on what else speaks for them: the same name, the
same container, the same file. So the question for one symbol that kept its name needs its own file
only, and every other question needs the files of its commit.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from tether.hints import NamedTuple
from tether.lineage import languages, likeness, sources, symbols

Ref = tuple[int, int]
"""A file and a symbol of it, by their numbers."""

SAME_NAME = "same name"
# Symbols with fewer words than this look like many others.
_FEW_WORDS = 12
# A line that stands in more places than this says nothing about where something came from.
_COMMON_LINE = 20


class Partners(NamedTuple):
    """A symbol before and the same one after, and how that is known."""

    before: Ref
    after: Ref
    confidence: float
    evidence: str


class Matcher:
    """The symbols of files before and after, and who is whose partner so far."""

    def __init__(
        self,
        before: Sequence[sources.Source],
        after: Sequence[sources.Source],
        pairs: Iterable[tuple[int, int]],
    ) -> None:
        """Pairs are of files: the same path, or the path that a file was renamed to."""
        self.before = before
        self.after = after
        self.file_of = dict(pairs)
        self.by_before: dict[Ref, Partners] = {}
        self.by_after: dict[Ref, Partners] = {}

    def run(self) -> None:
        self.match_names()
        self._match_left(("class", "section"))
        self._match_left(("function", "method", "constant"))

    def match_names(self) -> None:
        """Settle what kept its place and name."""
        for old, new in self.file_of.items():
            self._match_inside((old, -1), (new, -1))

    def left_before(self) -> list[Ref]:
        return _left(self.before, self.by_before)

    def left_after(self) -> list[Ref]:
        return _left(self.after, self.by_after)

    def likeness(self, old: Ref, new: Ref) -> float:
        return likeness.of_symbols(self.before[old[0]], old[1], self.after[new[0]], new[1])

    def partner(self, old: Ref, new: Ref, confidence: float, evidence: str) -> None:
        found = Partners(old, new, confidence, evidence)
        self.by_before[old] = self.by_after[new] = found

    def _match_inside(self, old: Ref, new: Ref) -> None:
        """Settle what stands in two containers that are partners, by name."""
        before, after = self.before[old[0]], self.after[new[0]]
        for number in after.children.get(new[1], ()):
            key = (symbols.family(after.symbols[number].kind), after.local_name(number))
            if (new[0], number) not in self.by_after:
                olds = before.named.get((old[1], *key), ())
                news = after.named[(new[1], *key)]
                self._match_namesakes(
                    old[0],
                    [each for each in olds if (old[0], each) not in self.by_before],
                    new[0],
                    [each for each in news if (new[0], each) not in self.by_after],
                )
        self._match_only_class(old, new)
        for number in after.children.get(new[1], ()):
            found = self.by_after.get((new[0], number))
            if found is not None and found.before[0] == old[0]:
                self._match_inside(found.before, found.after)

    def _match_only_class(self, old: Ref, new: Ref) -> None:
        """The one class that is left on each side of a container, if they are alike."""
        olds = [
            (old[0], each)
            for each in self.before[old[0]].children.get(old[1], ())
            if (old[0], each) not in self.by_before
            and self.before[old[0]].symbols[each].kind == "class"
        ]
        news = [
            (new[0], each)
            for each in self.after[new[0]].children.get(new[1], ())
            if (new[0], each) not in self.by_after
            and self.after[new[0]].symbols[each].kind == "class"
        ]
        if len(olds) == len(news) == 1 and (score := self.likeness(olds[0], news[0])) >= 0.5:
            self.partner(olds[0], news[0], round(score, 2), "the only class that was renamed")

    def _match_namesakes(self, old: int, olds: list[int], new: int, news: list[int]) -> None:
        """Tell apart those that have one name: by signature, by content, by what is most alike."""
        if not olds:
            return
        if len(olds) == len(news) == 1:
            self._match_only((old, olds[0]), (new, news[0]))
            return
        before, after = self.before[old], self.after[new]
        free_olds, free_news = list(olds), list(news)
        tests = (
            lambda b, a: before.text(b) == after.text(a),
            lambda b, a: before.symbols[b].signature == after.symbols[a].signature
            and (_is_alone(before, b, olds) and _is_alone(after, a, news)),
            lambda b, a: before.body(b) == after.body(a),
        )
        for test in tests:
            for b in list(free_olds):
                a = next((a for a in free_news if test(b, a)), None)
                if a is not None:
                    self.partner((old, b), (new, a), 1.0, SAME_NAME)
                    free_olds.remove(b)
                    free_news.remove(a)
        scored = sorted(
            (-self._overload_likeness((old, b), (new, a)), abs(i - j), b, a)
            for i, b in enumerate(free_olds)
            for j, a in enumerate(free_news)
        )
        for score, _, b, a in scored:
            is_free = (old, b) not in self.by_before and (new, a) not in self.by_after
            if is_free:
                self.partner((old, b), (new, a), _sure(-score), "same name, another signature")

    def _match_only(self, old: Ref, new: Ref) -> None:
        """Two that alone have their name in their places."""
        was, now = self._symbol_before(old), self._symbol_after(new)
        if was.signature == now.signature:
            self.partner(old, new, 1.0, SAME_NAME)
        else:
            score = self._overload_likeness(old, new)
            self.partner(old, new, _sure(score), "same name, another signature")

    def _overload_likeness(self, old: Ref, new: Ref) -> float:
        """How alike two overloads are: their content, and their parameters as much as they count."""
        was, now = self._symbol_before(old).signature, self._symbol_after(new).signature
        return 0.7 * self.likeness(old, new) + 0.3 * likeness.of_names(was, now)

    def _match_left(self, families: tuple[str, ...]) -> None:
        """Partners among those that did not keep place and name: the most alike come first."""
        candidates = []
        pairs = self._candidates(families)
        lonely = self._lonely(families) if pairs else set()
        for old, new in pairs:
            score, rank, evidence = self._judge(old, new, lonely)
            if evidence:
                candidates.append((-rank, -score, old, new, evidence))
        for _, score, old, new, evidence in sorted(candidates):
            if old not in self.by_before and new not in self.by_after:
                self.partner(old, new, min(0.99, max(0.5, -score)), evidence)
                self._match_inside(old, new)

    def _judge(self, old: Ref, new: Ref, lonely: set[Ref]) -> tuple[float, float, str]:
        """How alike, how much speaks for it, and in what words; no words if it is not enough."""
        was, now = self._symbol_before(old), self._symbol_after(new)
        sizes = sorted(self._sizes(old, new))
        if 2 * sizes[0] < 0.1 * sum(sizes):
            return 0.0, 0.0, ""  # so different in size that there is no need to compare
        score = self.likeness(old, new)
        is_namesake = was.name == now.name
        is_same_file = self.file_of.get(old[0]) == new[0]
        is_same_place = is_same_file and self._is_same_place(old, new)
        names = likeness.of_names(was.name, now.name)
        rank = score + 0.2 * is_namesake + 0.15 * is_same_place + 0.05 * is_same_file + 0.1 * names
        if is_namesake:
            is_only = old in lonely and new in lonely
            needed, evidence = self._needed_of_namesakes(old, new, is_only), "same name elsewhere"
        elif is_same_place:
            needed = 0.7 - 0.2 * names - 0.15 * (self._signatures(old, new) > 0.85)
            evidence = "another name, same place"
        else:
            needed, evidence = 0.8 - 0.1 * names, "another name and place"
        if sizes[0] < _FEW_WORDS:
            needed = max(needed, 0.85) if is_namesake or is_same_place else 2.0
        return score, rank, evidence if score >= needed else ""

    def _sizes(self, old: Ref, new: Ref) -> tuple[int, int]:
        before, after = self.before[old[0]], self.after[new[0]]
        return before.bag(old[1]).total(), after.bag(new[1]).total()

    def _needed_of_namesakes(self, old: Ref, new: Ref, is_only: bool) -> float:
        """How alike two of one name must be: less, if the name says much and no other has it."""
        is_same_file = self.file_of.get(old[0]) == new[0]
        needed = 0.4 if is_same_file else 0.5
        if not is_only:
            return needed
        # Implementations of one interface have the same name and parameters in many files.
        words = likeness.words_in(self._symbol_before(old).name)
        needed -= 0.1 * max(0, min(2, words - 2))
        needed -= 0.4 * self._signatures(old, new) if is_same_file else 0
        return max(0.1, needed)

    def _signatures(self, old: Ref, new: Ref) -> float:
        """How alike the parameters are; nothing, if there are none to compare."""
        was, now = self._symbol_before(old).signature, self._symbol_after(new).signature
        return likeness.of_names(was, now) if len(was) > 2 and len(now) > 2 else 0.0

    def _is_same_place(self, old: Ref, new: Ref) -> bool:
        return self._place_now(old) == (new[0], self._symbol_after(new).parent)

    def _lonely(self, families: tuple[str, ...]) -> set[Ref]:
        """Those left that have a name that no other one left has."""
        found: set[Ref] = set()
        for files, refs in ((self.before, self.left_before()), (self.after, self.left_after())):
            by_name: dict[str, list[Ref]] = defaultdict(list)
            for ref in refs:
                symbol = files[ref[0]].symbols[ref[1]]
                if symbol.kind in families:
                    by_name[symbol.name].append(ref)
            found |= {refs[0] for refs in by_name.values() if len(refs) == 1}
        return found

    def _candidates(self, families: tuple[str, ...]) -> list[tuple[Ref, Ref]]:
        """Pairs that could be partners: they share a name, a place or many lines."""
        olds = [ref for ref in self.left_before() if self._symbol_before(ref).kind in families]
        news = [ref for ref in self.left_after() if self._symbol_after(ref).kind in families]
        if not olds or not news:
            return []
        by_name: dict[str, list[Ref]] = defaultdict(list)
        by_place: dict[Ref, list[Ref]] = defaultdict(list)
        by_line: dict[bytes, list[Ref]] = defaultdict(list)
        for old in olds:
            symbol = self._symbol_before(old)
            by_name[symbol.name].append(old)
            by_place[self._place_now(old)].append(old)
            for line in set(self.before[old[0]].lines(old[1])):
                by_line[line].append(old)
        found: list[tuple[Ref, Ref]] = []
        for new in news:
            symbol = self._symbol_after(new)
            near = by_place.get((new[0], symbol.parent), ())
            lines = set(self.after[new[0]].lines(new[1]))
            sharing = Counter(old for line in lines for old in _few(by_line.get(line, ())))
            many = [old for old, count in sharing.items() if count >= enough_lines(len(lines))]
            found += [
                (old, new)
                for old in dict.fromkeys((*by_name.get(symbol.name, ()), *near, *many))
                if self._is_same_sort(old, new)
            ]
        return found

    def _is_same_sort(self, old: Ref, new: Ref) -> bool:
        """Whether one could become the other at all."""
        was, now = self._symbol_before(old).kind, self._symbol_after(new).kind
        before, after = self.before[old[0]].path, self.after[new[0]].path
        return symbols.family(was) == symbols.family(now) and (
            before == after or languages.family(before) == languages.family(after)
        )

    def _place_now(self, old: Ref) -> Ref:
        """What a symbol stands in, as it is after; nowhere, if that is gone."""
        around = self._symbol_before(old).parent
        if around < 0:
            return (self.file_of.get(old[0], -1), -1)
        found = self.by_before.get((old[0], around))
        return found.after if found is not None else (-1, -1)

    def _symbol_before(self, ref: Ref) -> symbols.Symbol:
        return self.before[ref[0]].symbols[ref[1]]

    def _symbol_after(self, ref: Ref) -> symbols.Symbol:
        return self.after[ref[0]].symbols[ref[1]]


def in_file(before: sources.Source, after: sources.Source, number: int) -> Partners | None:
    """The partner of a symbol by place and name alone, which its own file decides."""
    found = unmistakable(before, after, number)
    if found is not None:
        return Partners((0, found), (0, number), 1.0, SAME_NAME)
    matcher = Matcher([before], [after], [(0, 0)])
    matcher.match_names()
    return matcher.by_after.get((0, number))


def unmistakable(before: sources.Source, after: sources.Source, number: int) -> int | None:
    """The one that alone has the same name and signature in the same place, before and after.

    As the matcher would say, without a look at the rest of the file.
    """
    symbol = after.symbols[number]
    around = -1
    if symbol.parent >= 0:
        found = unmistakable(before, after, symbol.parent)
        if found is None:
            return None
        around = found
    key = (symbols.family(symbol.kind), after.local_name(number))
    olds = [
        each
        for each in before.named.get((around, *key), ())
        if before.symbols[each].signature == symbol.signature
    ]
    is_alone = len(olds) == 1 and _is_alone(after, number, after.named[(symbol.parent, *key)])
    return olds[0] if is_alone else None


def enough_lines(count: int) -> int:
    """How many lines of so many two symbols must share to be compared without further reason."""
    return max(1, math.ceil(count / 4))


def _few(refs: Sequence[Ref]) -> Sequence[Ref]:
    return refs if len(refs) <= _COMMON_LINE else ()


def _sure(score: float) -> float:
    """How sure one can be of those that kept their name but not their signature."""
    return round(min(0.95, 0.6 + 0.4 * score), 2)


def _is_alone(source: sources.Source, number: int, among: list[int]) -> bool:
    signature = source.symbols[number].signature
    return sum(source.symbols[each].signature == signature for each in among) == 1


def _left(files: Sequence[sources.Source], taken: dict[Ref, Partners]) -> list[Ref]:
    return [
        (file, number)
        for file, source in enumerate(files)
        for number in range(len(source.symbols))
        if (file, number) not in taken
    ]
