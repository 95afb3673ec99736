"""What a merge has of a symbol: from which parents, and what it did to it itself.

A merge takes a symbol's text from one parent and its place from another, where one branch changed
what the other moved. So both are asked for one by one: what some parent has is no change of the
merge, and what no parent has is.
"""

from __future__ import annotations

from tether.git import Oid
from tether.hints import NamedTuple
from tether.lineage import changes, commits, history, languages, library, matching, sources

_OF_PLACE = frozenset({"move", "rename", "container"})


class Way(NamedTuple):
    """A symbol as a parent of a merge has it."""

    parent: int
    """Its number among the parents."""
    before: sources.Source
    partners: matching.Partners
    kinds: tuple[history.ChangeKind, ...]
    """What differs between it and the merge."""

    @property
    def differs(self) -> frozenset[str]:
        """Whether its place does, and whether its text does."""
        return frozenset("place" if kind in _OF_PLACE else "text" for kind in self.kinds)


class Merge:
    """A merge, and those of its parents that are here."""

    def __init__(self, files: library.Library, commit: Oid, parents: list[Oid]) -> None:
        self._files = files
        self._commit = commit
        self._parents = parents
        self._sources: dict[tuple[Oid, str], sources.Source | None] = {}
        self._comparisons: dict[tuple[Oid, str], commits.Comparison] = {}

    def ways(self, after: sources.Source, number: int) -> list[Way]:
        """The one parent that has it as the merge has, or all that have it.

        It is looked for in other files only if the first parent does not have it in its own.
        """
        found: list[Way | None] = []
        for parent in range(len(self._parents)):
            way = self._in_its_file(parent, after, number)
            if way is not None and not way.kinds:
                return [way]
            found.append(way)
        if found and found[0] is not None:
            # Where the first parent has it in its file, a branch without that file brought its own
            # text along: that is what the merge did to it.
            return [way for way in found if way is not None]
        every = (way or self._elsewhere(n, after, number) for n, way in enumerate(found))
        return [way for way in every if way is not None]

    def _in_its_file(self, parent: int, after: sources.Source, number: int) -> Way | None:
        key = (self._parents[parent], after.path)
        if key not in self._sources:
            self._sources[key] = self._files.at(*key)
        before = self._sources[key]
        partners = matching.in_file(before, after, number) if before else None
        return _way(parent, before, after, partners) if before and partners else None

    def _elsewhere(self, parent: int, after: sources.Source, number: int) -> Way | None:
        comparison = self._comparison(parent, languages.family(after.path))
        renamed = comparison.namesake(after.path)
        before = self._files.source(*renamed) if renamed else None
        partners = matching.in_file(before, after, number) if before else None
        if partners is None:
            origin = comparison.origin(after, number)
            before = self._files.source(origin.path, origin.oid) if origin else None
            if origin is not None:
                partners = matching.Partners((0, origin.number), (0, number), *origin[3:])
        return _way(parent, before, after, partners) if before and partners else None

    def _comparison(self, parent: int, family: str) -> commits.Comparison:
        key = (self._parents[parent], family)
        if key not in self._comparisons:
            self._comparisons[key] = commits.Comparison(self._files, key[0], self._commit, family)
        return self._comparisons[key]


def own_change(ways: list[Way]) -> Way | None:
    """The parent against which it is seen what the merge itself did; None if it did nothing."""
    if not ways or not frozenset.intersection(*(way.differs for way in ways)):
        return None
    return min(ways, key=lambda way: len(way.differs))


def _way(
    parent: int, before: sources.Source, after: sources.Source, partners: matching.Partners
) -> Way:
    (_, old), (_, new) = partners.before, partners.after
    kinds = changes.kinds(before, old, after, new, keeps_container=partners.keeps_container)
    return Way(parent, before, partners, kinds)
