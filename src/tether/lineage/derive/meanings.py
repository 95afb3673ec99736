"""What the words of a checkout mean: paths, patterns, links and names as what they stand for.

What is there now comes first. If nothing is called so any more, what was called so counts as long
as it lives on elsewhere or under another name: who renames code seldom renames it in every text.
Whatever a meaning hangs on is noted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection

from tether.hints import NamedTuple
from tether.lineage.derive import decisions, documents, ground, hinges

_MOST_FORMER = 100


class Meant(NamedTuple):
    """What a document means by a name."""

    node: ground.Node
    is_former: bool = False
    """Whether it was called so, and is not any more."""


class Meanings:
    """Of the words of one checkout."""

    def __init__(
        self, standing: ground.Ground, paths: Collection[str], notes: hinges.Notes
    ) -> None:
        self._ground = standing
        self._paths = frozenset(paths)
        self._notes = notes

    def places(self, pattern: str) -> decisions.Meant:
        """The files and the directory that a path, the end of one, or a pattern stands for."""
        found = self._tree.meant(pattern)
        if found.paths or found.folder:
            return found
        former = self._former.meant(pattern).paths
        if len(former) > _MOST_FORMER:
            return decisions.Meant(())
        return decisions.Meant(tuple(path for path in former if self._ground.moved(path)))

    def files(self, pattern: str) -> list[str]:
        """The same, as files; and that it hangs on what there is."""
        self._notes.pattern(pattern)
        return list(self.places(pattern).paths)

    def last(self, path: str, name: str = "") -> ground.Node | None:
        """What stands at a path or did so last: the symbol, else the file."""
        self._notes.path(path)
        return self._ground.last(path, name)

    def named(self, name: documents.Name, path: str) -> Meant | None:
        """What a document at a path means by a name, if only one thing is called so, or was."""
        if not name.is_path:
            self._notes.name(name.words)
            return _only(self._ground.called(name.words), lambda: self._ground.once(name.words))
        words, _, symbol = name.words.partition("#")
        found = self._linked(words, path) if name.is_link else self.files(words)
        return self._at(found[0], symbol) if len(found) == 1 else None

    def _at(self, place: str, symbol: str) -> Meant | None:
        """A file, or the symbol in it; where there is no such symbol, the file."""
        self._notes.path(place)
        if place not in self._paths:
            node = self._ground.last(place, symbol)
            return Meant(node, is_former=True) if node else None
        if symbol:
            here = self._ground.symbol(place, symbol)
            meant = _only([here] if here else [], lambda: self._ground.once(symbol, place))
            if meant is not None:
                return meant
        file = self._ground.file(place)
        return Meant(file) if file else None

    def _linked(self, link: str, path: str) -> list[str]:
        """The file that a link leads to; from the top, if nothing is there from the document."""
        for place in filter(None, (documents.target(link, path), link)):
            self._notes.path(place)
            if place in self._paths or self._ground.moved(place):
                return [place]
        return []

    @functools.cached_property
    def _tree(self) -> decisions.Tree:
        return decisions.Tree(self._paths)

    @functools.cached_property
    def _former(self) -> decisions.Tree:
        """Where something stood at any time, and nothing does now."""
        return decisions.Tree(self._ground.paths() - self._paths)


def _only(called: list[ground.Node], once: Callable[[], list[ground.Node]]) -> Meant | None:
    """The only thing that is called so, or that was if nothing is."""
    found = called or once()
    return Meant(found[0], is_former=not called) if len(found) == 1 else None
