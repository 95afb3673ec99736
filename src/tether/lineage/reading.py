"""What the query of a language matches in a file; of a file much like the one before, only anew
what changed.

The parser takes from a tree what its edits leave alone, and so is done here with matches: a match
is the same as long as nothing is edited within the node that it begins with, and every pattern
captures that (`@_root`, if nothing else does). It comes to the same as without. Only of broken code
the parser may guess otherwise then, so that is parsed as a whole.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from tether.hints import TYPE_CHECKING, NamedTuple
from tether.lineage import edits, grammars, languages

if TYPE_CHECKING:
    import tree_sitter

    Span = tuple[int, int]
    Point = tuple[int, int]
    Parts = dict[str, list[Span]]
    Match = tuple[int, int, int, Parts]
    """A pattern, where what it matches starts and ends, and where what it captures does."""

# A file of which more than this share is new is read as a whole.
_MOSTLY = 0.7
_MANY_RANGES = 20
_WHOLE = 0, 0xFFFFFFFF


class Reading(NamedTuple):
    """What is in a file."""

    matches: list[Match]
    is_broken: bool


def read(language: languages.Language, source: bytes) -> Reading:
    """A file by itself."""
    grammar = grammars.load(language)
    root = grammar.parser.parse(source).root_node
    return Reading(_sorted(_matches(grammar, root)), root.has_error)


class _Before(NamedTuple):
    """The file before."""

    language: str
    source: bytes
    tree: tree_sitter.Tree
    matches: list[Match]


class Reader:
    """Reads files in their turn; those of one path come best one after another."""

    def __init__(self) -> None:
        self._before: _Before | None = None

    def read(self, language: languages.Language, source: bytes) -> Reading:
        """The next file."""
        before, self._before = self._before, None
        made = None
        if before is not None and before.language == language.name:
            made = _again(grammars.load(language), before, source)
        if made is None:
            grammar = grammars.load(language)
            tree = grammar.parser.parse(source)
            made = tree, _sorted(_matches(grammar, tree.root_node))
        tree, matches = made
        is_broken = tree.root_node.has_error
        if not is_broken:
            self._before = _Before(language.name, source, tree, matches)
        return Reading(matches, is_broken)


def _again(
    grammar: grammars.Grammar, before: _Before, source: bytes
) -> tuple[tree_sitter.Tree, list[Match]] | None:
    """A file by what is known of the one before; None if that is of no use."""
    changed = edits.between(before.source, source)
    if sum(each.new_end - each.new_start for each in changed) > _MOSTLY * len(source):
        return None
    _edit(before, source, changed)
    tree = grammar.parser.parse(source, before.tree)
    root = tree.root_node
    if root.has_error:
        return None
    ranges = _ranges(changed, before.tree.changed_ranges(tree))
    if len(ranges.starts) > _MANY_RANGES:
        return tree, _sorted(_matches(grammar, root))
    kept = _kept(before.matches, changed, ranges)
    return tree, _sorted(itertools.chain(kept, _in_ranges(grammar, root, ranges)))


def _edit(before: _Before, source: bytes, changed: Sequence[edits.Edit]) -> None:
    """Tell a tree what is otherwise now.

    From the last to the first, so that the places of those before stay what they were.
    """
    for each in reversed(changed):
        start = _point(before.source, each.start)
        before.tree.edit(
            each.start,
            each.end,
            each.start + each.new_end - each.new_start,
            start,
            _point(before.source, each.end),
            _after(start, source[each.new_start : each.new_end]),
        )


def _point(source: bytes, at: int) -> Point:
    """The row of a place, and where in it that is."""
    return source.count(b"\n", 0, at), at - source.rfind(b"\n", 0, at) - 1


def _after(start: Point, text: bytes) -> Point:
    """Where a text ends that starts there."""
    row, column = _point(text, len(text))
    return start[0] + row, column if row else start[1] + column


class _Ranges(NamedTuple):
    """Parts of a file in their order; none touches another."""

    starts: list[int]
    ends: list[int]

    def first(self, start: int, end: int) -> int:
        """The number of the first one that has something of a part of the file; -1 if none has."""
        number = bisect_right(self.ends, start)
        return number if number < len(self.ends) and self.starts[number] < end else -1


def _ranges(changed: Iterable[edits.Edit], rebuilt: Iterable[tree_sitter.Range]) -> _Ranges:
    """Where a file may match otherwise than before: with what stands right beside that."""
    some = [(each.new_start - 1, each.new_end + 1) for each in changed]
    some += [(each.start_byte - 1, each.end_byte + 1) for each in rebuilt]
    found = _Ranges([], [])
    for start, end in sorted(some):
        if found.ends and start <= found.ends[-1]:
            found.ends[-1] = max(found.ends[-1], end)
        else:
            found.starts.append(max(0, start))
            found.ends.append(end)
    return found


def _kept(
    matches: Iterable[Match], changed: Sequence[edits.Edit], ranges: _Ranges
) -> Iterator[Match]:
    """The matches that are the same, where they are now."""
    was = _Ranges([each.start - 1 for each in changed], [each.end + 1 for each in changed])
    moves = [0, *(each.new_end - each.end for each in changed)]
    for match in matches:
        pattern, start, end, parts = match
        if was.first(start, end) >= 0:
            continue
        by = moves[bisect_right(was.ends, start)]
        if ranges.first(start + by, end + by) < 0:
            yield (pattern, start + by, end + by, _moved(parts, by)) if by else match


def _moved(parts: Parts, by: int) -> Parts:
    return {name: [(start + by, end + by) for start, end in spans] for name, spans in parts.items()}


def _in_ranges(
    grammar: grammars.Grammar, root: tree_sitter.Node, ranges: _Ranges
) -> Iterator[Match]:
    """The matches that have something of some parts of a file, each once."""
    try:
        for number, span in enumerate(zip(ranges.starts, ranges.ends, strict=True)):
            grammar.cursor.set_byte_range(*span)
            for match in _matches(grammar, root):
                if ranges.first(match[1], match[2]) == number:
                    yield match
    finally:
        grammar.cursor.set_byte_range(*_WHOLE)


def _matches(grammar: grammars.Grammar, root: tree_sitter.Node) -> Iterator[Match]:
    for pattern, nodes in grammar.cursor.matches(root):
        parts = {name: [node.byte_range for node in some] for name, some in nodes.items()}
        spans = [span for some in parts.values() for span in some]
        yield pattern, min(spans)[0], max([end for _, end in spans]), parts


def _sorted(matches: Iterable[Match]) -> list[Match]:
    """In an order that does not depend on what was known before."""
    return sorted(matches, key=lambda each: (each[1], -each[2], each[0]))
