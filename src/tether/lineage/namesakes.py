"""Symbols that have one name in one place before and after: which is which. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator

from tether.hints import NamedTuple
from tether.lineage import evidence, likeness, sources, symbols

# About so many pairs are compared by their words; of more, those that stand next to each other.
MAX_PAIRS = 20_000
# So much more than the one that has the name now must another one be alike.
CLEARLY = 0.2
# Where the signature stayed with the name, the content must be nearly untouched in the other one.
UNTOUCHED = 0.95


class Group(NamedTuple):
    """Those that have one name in two files, by their numbers."""

    before: sources.Source
    olds: list[int]
    after: sources.Source
    news: list[int]

    def settled(self) -> list[tuple[int, int]]:
        """Who surely is who: by the same text, a signature of its own, or the same body."""
        before, after = self.before, self.after
        found: dict[int, int] = {}
        taken: set[int] = set()
        alone = [_alone(before, self.olds), _alone(after, self.news)]
        for keys in (
            (before.text, after.text),
            (alone[0].get, alone[1].get),
            (before.body, after.body),
        ):
            waiting: dict[object, deque[int]] = defaultdict(deque)
            for new in self.news:
                if new not in taken and (key := keys[1](new)) is not None:
                    waiting[key].append(new)
            for old in self.olds:
                if old not in found and waiting.get(keys[0](old)):
                    found[old] = waiting[keys[0](old)].popleft()
                    taken.add(found[old])
        return list(found.items())

    def ranked(self) -> Iterator[tuple[float, int, int]]:
        """How alike the others are, the most alike first, and of those the nearest in order."""
        many = max(len(self.olds), len(self.news), 1)
        reach = max(1, MAX_PAIRS // (2 * many))
        scored = [
            (-self._alike(old, new), abs(i - j), old, new)
            for i, old in enumerate(self.olds)
            for j, new in enumerate(self.news[max(0, i - reach) : i + reach], max(0, i - reach))
        ]
        for score, _, old, new in sorted(scored):
            yield -score, old, new

    def _alike(self, old: int, new: int) -> float:
        return alike(self.before, old, self.after, new)


def alike(before: sources.Source, old: int, after: sources.Source, new: int) -> float:
    """How alike two overloads are: their content, and less so their parameters."""
    was, now = before.symbols[old].signature, after.symbols[new].signature
    content = likeness.of_symbols(before, old, after, new)
    return 0.7 * content + 0.3 * likeness.of_names(was, now)


def _alone(source: sources.Source, numbers: list[int]) -> dict[int, str]:
    """The signatures that only one of them has."""
    counted = Counter(source.symbols[each].signature for each in numbers)
    signatures = {each: source.symbols[each].signature for each in numbers}
    return {each: said for each, said in signatures.items() if counted[said] == 1}


def unmistakable(
    before: sources.Source, after: sources.Source, number: int, rest: bytes | None = None
) -> int | None:
    """The one that alone has the same name and signature in the same place, before and after.

    As the matcher would say, without a look at the symbols in the rest of the file.
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
    if not is_alone or is_left(before, olds[0], after, number, rest):
        return None
    return olds[0]


def is_left(
    before: sources.Source,
    old: int,
    after: sources.Source,
    new: int,
    rest: bytes | None = None,
) -> bool:
    """Whether a function was rewritten, and what it was may go on in the rest of its file.

    The rest is given if the symbol was read from another version of the file.
    """
    was, now = before.text(old), after.text(new)
    if was == now or symbols.family(after.symbols[new].kind) != "function":
        return False
    # Most edits are small, and words take longer to count than lines.
    if likeness.of_lines(was, now) > 1 - CLEARLY / 2:
        return False
    words = before.words(old)
    if 2 * len(words) <= evidence.FEW_WORDS:
        return False
    if likeness.of_symbols(before, old, after, new) > 1 - CLEARLY:
        return False
    rest = _rest(after, new) if rest is None else rest
    return likeness.may_stand_in(words, rest, UNTOUCHED)


def _rest(source: sources.Source, number: int) -> bytes:
    """The file without a symbol."""
    symbol = source.symbols[number]
    return source.data[: symbol.start] + source.data[symbol.end :]


def _is_alone(source: sources.Source, number: int, among: list[int]) -> bool:
    signature = source.symbols[number].signature
    return sum(source.symbols[each].signature == signature for each in among) == 1
