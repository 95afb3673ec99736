"""Functions that went up to what their class is built on, or down to what is built on it.

Inside they may be written anew. Their name and the number of their parameters tell them, because
who calls them does not see the difference. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from tether.lineage import calls, matching, sources


def bases(source: sources.Source, number: int) -> frozenset[bytes]:
    """The names in the head of the class that a symbol stands in: what it is built on is there."""
    around = source.symbols[number].parent
    return frozenset(calls.words(source.head(around))) if around >= 0 else frozenset()


class Heirs:
    """The functions that came into a class or left one in a commit."""

    def __init__(self, matcher: matching.Matcher) -> None:
        self._matcher = matcher
        self._came = _by_name(matcher.after, matcher.by_after)
        self._left = _by_name(matcher.before, matcher.by_before)

    def above(self, old: matching.Ref) -> list[matching.Ref]:
        """Those that came where a function went up to that is gone from its class."""
        around = self._matcher.before[old[0]].symbols[old[1]].parent
        owner = self._matcher.by_before.get((old[0], around))
        if around < 0 or owner is None:
            return []
        file, number = owner.after
        head = frozenset(calls.words(self._matcher.after[file].head(number)))
        return self._alike(self._matcher.before[old[0]], old[1], self._came, head)

    def below(self, new: matching.Ref) -> list[matching.Ref]:
        """Those that left where a function came down from that is new in its class."""
        source = self._matcher.after[new[0]]
        return self._alike(source, new[1], self._left, bases(source, new[1]))

    def _alike(
        self,
        source: sources.Source,
        number: int,
        others: Mapping[str, list[tuple[sources.Source, matching.Ref]]],
        classes: frozenset[bytes],
    ) -> list[matching.Ref]:
        """Those in some classes that are called as one is."""
        wanted = _parameters(source, number)
        return [
            ref
            for other, ref in others.get(source.symbols[number].name, ())
            if _class_of(other, ref[1]) in classes and _parameters(other, ref[1]) == wanted
        ]


def _by_name(
    files: Sequence[sources.Source], partners: Mapping[matching.Ref, matching.Partners]
) -> dict[str, list[tuple[sources.Source, matching.Ref]]]:
    """The methods that are not on both sides in the same class."""
    found: dict[str, list[tuple[sources.Source, matching.Ref]]] = defaultdict(list)
    for file, source in enumerate(files):
        for number, symbol in enumerate(source.symbols):
            partner = partners.get((file, number))
            if symbol.kind == "method" and (partner is None or not partner.keeps_container):
                found[symbol.name].append((source, (file, number)))
    return found


def _class_of(source: sources.Source, number: int) -> bytes:
    return source.symbols[number].container.rpartition(".")[2].encode()


def _parameters(source: sources.Source, number: int) -> int:
    return len(calls.parameters(source.symbols[number].signature.encode()))
