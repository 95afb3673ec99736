"""Which symbol before a commit is which one after it: the decision that lineage stands on.

Pure: files with their outlines in, partners out. What has kept its place and name is itself, and
that is settled first. What is left is compared by its words, and the pairs that are most alike
become partners, under a threshold that depends on what else speaks for them: the same name, the
same container, the same file. So the question for one symbol that kept its name needs its own file
only, and every other question needs the files of its commit.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from tether.hints import NamedTuple
from tether.lineage import (
    calls,
    candidates,
    evidence,
    languages,
    likeness,
    namesakes,
    sources,
    symbols,
)

Ref = candidates.Ref
_Bag = likeness.Bag

SAME_NAME = "same name"
_ANOTHER_SIGNATURE = "same name, another signature"
# So much alike must another one be that has the content of who kept only its name.
_VERY_ALIKE = 0.75
_NAME = re.compile(r"\w+|\W")


class Partners(NamedTuple):
    """A symbol before and the same one after, and how that is known."""

    before: Ref
    after: Ref
    confidence: float
    evidence: str
    keeps_container: bool = False
    """Whether what it stands in is the same, though it may have another name."""


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
        self._by_name: dict[Ref, Partners] = {}
        self._called: dict[int, frozenset[tuple[str, str]]] = {}

    def run(self) -> None:
        self.match_names()
        self._by_name = dict(self.by_after)
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
        keeps = self._keeps_container(old, new)
        found = Partners(old, new, round(confidence, 2), evidence, keeps)
        self.by_before[old] = self.by_after[new] = found

    def _keeps_container(self, old: Ref, new: Ref) -> bool:
        was, now = self._symbol_before(old), self._symbol_after(new)
        if was.container == now.container:
            return True
        if was.parent >= 0 and now.parent >= 0:
            found = self.by_before.get((old[0], was.parent))
            return found is not None and found.after == (new[0], now.parent)
        # What it belongs to does not stand around it, as in Go, and may be in another file.
        names = [_NAME.findall(each.container) for each in (was, now)]
        return len(names[0]) == len(names[1]) and all(
            one == other or self._is_renamed_class(one, other)
            for one, other in zip(*names, strict=True)
        )

    def _is_renamed_class(self, old: str, new: str) -> bool:
        """Whether a class that was called so is called otherwise now."""
        found = (self.by_before.get(ref) for ref in self._classes.get(old, ()))
        return any(
            each is not None and self._symbol_after(each.after).name == new for each in found
        )

    @functools.cached_property
    def _classes(self) -> dict[str, list[Ref]]:
        """The classes before, by their names."""
        classes: dict[str, list[Ref]] = {}
        for file, source in enumerate(self.before):
            for number, symbol in enumerate(source.symbols):
                if symbol.kind == "class":
                    classes.setdefault(symbol.name, []).append((file, number))
        return classes

    def _match_inside(self, old: Ref, new: Ref) -> None:
        """Settle what stands in two containers that are partners, by name."""
        before, after = self.before[old[0]], self.after[new[0]]
        inside = after.children.get(new[1], ())
        if not inside and old[1] not in before.children:
            return
        for number in inside:
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
        self._match_displaced(old, new)
        self._match_other_kind(old, new)
        self._match_classes(old, new)
        for number in inside:
            found = self.by_after.get((new[0], number))
            if found is None or found.before[0] != old[0]:
                continue
            if number in after.children or found.before[1] in before.children:
                self._match_inside(found.before, found.after)

    def _match_displaced(self, old: Ref, new: Ref) -> None:
        """Those whose name another one has now: their content under a new name next to it."""
        while scored := self._displaced(old, new):
            for score, was, now, found in scored:
                is_still = self.by_before.get(found.before) == found
                is_free = was not in self.by_before or now not in self.by_after
                if is_still and is_free:
                    del self.by_before[found.before], self.by_after[found.after]
                if was not in self.by_before and now not in self.by_after:
                    self.partner(was, now, _sure(-score), "its name went to another")

    def _displaced(self, old: Ref, new: Ref) -> list[tuple[float, Ref, Ref, Partners]]:
        """Who is clearly more alike than those that have the name: the most alike come first."""
        olds, news = self._free_inside(old, new)
        if not olds and not news:
            return []
        near_olds = candidates.sharing({ref: self._bag_before(ref) for ref in olds})
        near_news = candidates.sharing({ref: self._bag_after(ref) for ref in news})
        scored = []
        for number in self.after[new[0]].children.get(new[1], ()):
            found = self.by_after.get((new[0], number))
            if found is None or not self._is_doubtful(found):
                continue
            is_same = found.evidence == SAME_NAME
            alike = self.likeness if is_same else self._overload_likeness
            kept = alike(found.before, found.after) + namesakes.CLEARLY
            needed = max(namesakes.UNTOUCHED if is_same else _VERY_ALIKE, kept)
            others = [(found.before, each) for each in near_news(self._bag_before(found.before))]
            if not is_same:  # what takes over a name with its signature goes on under it
                others += [(each, found.after) for each in near_olds(self._bag_after(found.after))]
            for was, now in others:
                if is_same and self._is_namesake(was, now):
                    continue  # of overloads, the one that kept the signature is the same
                if self._is_same_sort(was, now) and not self._is_delegating(found, was, now):
                    score = alike(was, now)
                    if score >= needed:
                        scored.append((-score, was, now, found))
        return sorted(scored)

    def _is_doubtful(self, found: Partners) -> bool:
        """Whether a name may have gone to another one."""
        if found.evidence == _ANOTHER_SIGNATURE:
            return True
        (old_file, old), (new_file, new) = found.before, found.after
        is_kept = found.evidence == SAME_NAME
        after = self.after[new_file]
        return is_kept and namesakes.is_left(self.before[old_file], old, after, new)

    def _is_delegating(self, found: Partners, was: Ref, now: Ref) -> bool:
        """Whether the one that has the name calls the one that has the content: it was split.

        Not if it has other parameters and does much else: then it calls this as any one may.
        """
        if was == found.before:
            source, number = self.after[found.after[0]], found.after[1]
            content, wanted = self.before[was[0]].bag(was[1]), self._symbol_after(now).name
        else:
            source, number = self.before[found.before[0]], found.before[1]
            content, wanted = self.after[now[0]].bag(now[1]), self._symbol_before(was).name
        bag = source.bag(number)
        has_others = self._signatures(found.before, found.after) < 0.5 < self._signatures(was, now)
        does_much = 2 * bag.total() > content.total()
        return wanted.encode() in bag and not (has_others and does_much)

    def _free_inside(self, old: Ref, new: Ref) -> tuple[list[Ref], list[Ref]]:
        """The functions without partners right inside of two containers."""
        sides = []
        for (file, around), files, taken in (
            (old, self.before, self.by_before),
            (new, self.after, self.by_after),
        ):
            source = files[file]
            sides.append(
                [
                    (file, each)
                    for each in source.children.get(around, ())
                    if (file, each) not in taken
                    and symbols.family(source.symbols[each].kind) == "function"
                ]
            )
        return sides[0], sides[1]

    def _match_other_kind(self, old: Ref, new: Ref) -> None:
        """What kept its name and became something else: a constant a function, that a class."""
        sides: list[dict[str, list[Ref]]] = [{}, {}]
        for side, (file, around), files, taken in (
            (sides[0], old, self.before, self.by_before),
            (sides[1], new, self.after, self.by_after),
        ):
            for each in files[file].children.get(around, ()):
                if (file, each) not in taken:
                    side.setdefault(files[file].local_name(each), []).append((file, each))
        for name, news in sides[1].items():
            olds = sides[0].get(name, [])
            if len(olds) == len(news) == 1:
                self.partner(olds[0], news[0], 0.9, "same name, another kind")

    def _match_classes(self, old: Ref, new: Ref) -> None:
        """Classes that were renamed in their place: by their members, or as the only ones."""
        olds, news = (
            [
                (file, each)
                for each in files[file].children.get(around, ())
                if (file, each) not in taken and files[file].symbols[each].kind == "class"
            ]
            for (file, around), files, taken in (
                (old, self.before, self.by_before),
                (new, self.after, self.by_after),
            )
        )
        if len(olds) == len(news) == 1:
            score = self.likeness(olds[0], news[0])
            if score >= 0.5:
                self.partner(olds[0], news[0], score, "the only class that was renamed")
        was_in, is_in = _owners(self.before, olds), _owners(self.after, news)
        kept = Counter(
            (was_in[name][0], is_in[name][0])
            for name in was_in.keys() & is_in.keys()
            if self._is_kept(*was_in[name], *is_in[name])
        )
        for (was, now), count in sorted(kept.items(), key=lambda each: (-each[1], each[0])):
            sizes = [len(self.before[was[0]].children[was[1]])]
            sizes += [len(self.after[now[0]].children[now[1]])]
            is_free = was not in self.by_before and now not in self.by_after
            if is_free and 2 * count > min(sizes):
                self.partner(was, now, 0.9, "its members are there")

    def _is_kept(self, old: Ref, member: int, new: Ref, other: int) -> bool:
        """Whether a member is nearly the same in another class, and says enough."""
        before, after = self.before[old[0]], self.after[new[0]]
        is_long = before.bag(member).total() >= evidence.FEW_WORDS
        return is_long and likeness.of_symbols(before, member, after, other) >= _VERY_ALIKE

    def _match_namesakes(self, old: int, olds: list[int], new: int, news: list[int]) -> None:
        """Tell apart those that have one name: by signature, by content, by what is most alike."""
        if not olds:
            return
        if len(olds) == len(news) == 1:
            self._match_only((old, olds[0]), (new, news[0]))
            return
        group = namesakes.Group(self.before[old], olds, self.after[new], news)
        for b, a in group.settled():
            self.partner((old, b), (new, a), 1.0, SAME_NAME)
        left = group._replace(
            olds=[each for each in olds if (old, each) not in self.by_before],
            news=[each for each in news if (new, each) not in self.by_after],
        )
        for score, b, a in left.ranked():
            if (old, b) not in self.by_before and (new, a) not in self.by_after:
                self.partner((old, b), (new, a), _sure(score), _ANOTHER_SIGNATURE)

    def _match_only(self, old: Ref, new: Ref) -> None:
        """Two that alone have their name in their places."""
        was, now = self._symbol_before(old), self._symbol_after(new)
        if was.signature == now.signature:
            self.partner(old, new, 1.0, SAME_NAME)
        else:
            score = self._overload_likeness(old, new)
            self.partner(old, new, _sure(score), _ANOTHER_SIGNATURE)

    def _overload_likeness(self, old: Ref, new: Ref) -> float:
        return namesakes.alike(self.before[old[0]], old[1], self.after[new[0]], new[1])

    def _match_left(self, families: tuple[symbols.Kind, ...]) -> None:
        """Partners among those that did not keep place and name: the most alike come first."""
        left = self.left(families)
        found = []
        for old, new in left.pairs():
            if self._is_same_sort(old, new):
                verdict = self._judge(old, new, left)
                if verdict.evidence:
                    found.append((-verdict.rank, old, new, verdict))
        for _, old, new, verdict in sorted(found):
            if old not in self.by_before and new not in self.by_after:
                self.partner(old, new, min(0.99, max(0.5, verdict.score)), verdict.evidence)
                self._match_inside(old, new)

    def left(self, families: tuple[symbols.Kind, ...]) -> candidates.Left:
        """The symbols of some kinds that have no partners yet."""
        olds = [ref for ref in self.left_before() if self._symbol_before(ref).kind in families]
        news = [ref for ref in self.left_after() if self._symbol_after(ref).kind in families]
        places = {old: self._place_now(old) for old in olds}
        settled = {old: found.after for old, found in self.by_before.items()}
        return candidates.Left(self.before, self.after, places, news, self.file_of, settled)

    def _judge(self, old: Ref, new: Ref, left: candidates.Left) -> evidence.Verdict:
        was, now = self._symbol_before(old), self._symbol_after(new)
        sizes = self._sizes(old, new)
        if 2 * min(sizes) < 0.1 * sum(sizes):
            return evidence.NONE  # so different in size that there is no need to compare
        is_same_file = self.file_of.get(old[0]) == new[0]
        return evidence.judge(
            evidence.Facts(
                likeness=self.likeness(old, new),
                names=likeness.of_names(was.name, now.name),
                signatures=self._signatures(old, new),
                words=min(sizes),
                name_words=likeness.words_in(was.name),
                is_class=now.kind == "class",
                is_namesake=was.name == now.name,
                is_lonely=left.is_lonely(old, new),
                is_same_file=is_same_file,
                is_same_place=self._is_same_place(old, new),
                is_only=left.is_only(old, new),
                is_between_same=left.is_between_same(old, new),
                is_alone=left.is_alone(old, new),
                # Where several classes become one, its name stands where all of theirs stood.
                is_called_anew=now.kind != "class" and self._is_called_anew(old, new),
            )
        )

    def _is_called_anew(self, old: Ref, new: Ref) -> bool:
        """Whether something in their files called the one and calls the other in its place."""
        names = (self._symbol_before(old).name, self._symbol_after(new).name)
        return names in self._new_calls(new[0]) or (
            old[0] in self.file_of and names in self._new_calls(self.file_of[old[0]])
        )

    def _new_calls(self, new: int) -> frozenset[tuple[str, str]]:
        """The names that took the place of others in what stayed of a file."""
        if new not in self._called:
            self._called[new] = calls.replaced(
                (self.before[found.before[0]], found.before[1], self.after[new], found.after[1])
                for number in range(len(self.after[new].symbols))
                if (found := self._by_name.get((new, number))) is not None
            )
        return self._called[new]

    def _sizes(self, old: Ref, new: Ref) -> tuple[int, int]:
        before, after = self.before[old[0]], self.after[new[0]]
        return before.bag(old[1]).total(), after.bag(new[1]).total()

    def _signatures(self, old: Ref, new: Ref) -> float:
        """How alike the parameters are; nothing, if there are none to compare."""
        was, now = self._symbol_before(old).signature, self._symbol_after(new).signature
        return likeness.of_names(was, now) if len(was) > 2 and len(now) > 2 else 0.0

    def _is_same_place(self, old: Ref, new: Ref) -> bool:
        return self._place_now(old) == (new[0], self._symbol_after(new).parent)

    def _bag_before(self, ref: Ref) -> _Bag:
        return self.before[ref[0]].bag(ref[1])

    def _bag_after(self, ref: Ref) -> _Bag:
        return self.after[ref[0]].bag(ref[1])

    def _is_namesake(self, old: Ref, new: Ref) -> bool:
        return self._symbol_before(old).name == self._symbol_after(new).name

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
    found = namesakes.unmistakable(before, after, number)
    if found is not None:
        return Partners((0, found), (0, number), 1.0, SAME_NAME, keeps_container=True)
    matcher = Matcher([before], [after], [(0, 0)])
    matcher.match_names()
    return matcher.by_after.get((0, number))


def _owners(files: Sequence[sources.Source], classes: Iterable[Ref]) -> dict[str, tuple[Ref, int]]:
    """Which one of some classes has a member of a name, and that member, if it is only one."""
    found: dict[str, list[tuple[Ref, int]]] = {}
    for file, number in classes:
        for each in files[file].children.get(number, ()):
            name = files[file].local_name(each)
            found.setdefault(name, []).append(((file, number), each))
    return {name: owners[0] for name, owners in found.items() if len(owners) == 1}


def _sure(score: float) -> float:
    """How sure one can be of those that kept their name but not their signature."""
    return min(0.95, 0.6 + 0.4 * score)


def _left(files: Sequence[sources.Source], taken: dict[Ref, Partners]) -> list[Ref]:
    return [
        (file, number)
        for file, source in enumerate(files)
        for number in range(len(source.symbols))
        if (file, number) not in taken
    ]
