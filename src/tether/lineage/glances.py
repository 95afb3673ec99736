"""Whether a symbol stands untouched in another version of its file, seen without parsing that.

Its text must be there once, the lines around it must be the same, and what changed elsewhere must
be such that it cannot have opened or closed anything around it. Everything else is for the parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tether.hints import NamedTuple
from tether.lineage import sources, symbols

_BRACE = re.compile(rb"[{}]")
_LINE = re.compile(rb"^([ \t]*)\S", re.MULTILINE)
# How nesting is written in a language; files of others are parsed.
_NESTING = {
    **dict.fromkeys(
        ("c", "cpp", "c_sharp", "go", "java", "javascript", "kotlin", "php", "rust"), "braces"
    ),
    **dict.fromkeys(("tsx", "typescript"), "braces"),
    "python": "indentation",
}


class Glance(NamedTuple):
    """Where a symbol is in a version of its file that may not have been parsed."""

    source: sources.Source
    """The last version that was parsed: the symbol has the same text and names in it."""
    number: int
    data: bytes
    start: int
    end: int
    heads: tuple[symbols.Span, ...]
    """Where what is around it is declared, from the outside in."""


def at(source: sources.Source, number: int) -> Glance:
    symbol = source.symbols[number]
    heads = []
    around = symbol.parent
    while around >= 0:
        outer = source.symbols[around]
        heads.append((outer.start, outer.body))
        around = outer.parent
    return Glance(source, number, source.data, symbol.start, symbol.end, tuple(reversed(heads)))


def before(glance: Glance, data: bytes, language: str) -> Glance | None:
    """The same symbol in an earlier version, if it is untouched there; None if that is unsure."""
    nesting = _NESTING.get(language)
    text = glance.data[glance.start : glance.end]
    start = data.find(text)
    if nesting is None or start < 0 or data.find(text, start + 1) >= 0:
        return None
    if glance.data.find(text) != glance.start or glance.data.find(text, glance.start + 1) >= 0:
        return None
    end = start + len(text)
    if not _is_same_around(glance, data, start, end):
        return None
    first, last, old_last = _difference(glance.data[: glance.start], data[:start])
    heads = []
    for head, body in glance.heads:
        if body <= first:
            heads.append((head, body))
        elif head >= last:
            heads.append((head + start - glance.start, body + start - glance.start))
        else:
            return None
    if nesting == "braces":
        is_closed = _is_balanced(glance.data[first:last]) and _is_balanced(data[first:old_last])
    else:
        first = data.rfind(b"\n", 0, first) + 1
        changed = (glance.data[first:last], data[first:old_last])
        indentation = _indentation(data, start)
        is_closed = all(_is_deep(part, indentation) for part in changed)
        is_closed = is_closed and _ends_there(data, end, indentation)
    return Glance(glance.source, glance.number, data, start, end, tuple(heads)) if is_closed else None


def _is_same_around(glance: Glance, data: bytes, start: int, end: int) -> bool:
    """Whether the line before and the line after are the same."""
    lines = []
    for text, first, last in ((glance.data, glance.start, glance.end), (data, start, end)):
        above = text.rfind(b"\n", 0, max(0, text.rfind(b"\n", 0, first)))
        below = text.find(b"\n", text.find(b"\n", last) + 1)
        lines.append((text[above + 1 : first], text[last : below if below >= 0 else None]))
    return lines[0] == lines[1]


def _difference(one: bytes, other: bytes) -> tuple[int, int, int]:
    """Where two texts begin to differ, and where in each of them they are the same again."""
    shorter = min(len(one), len(other))
    first = _common(shorter, lambda size: one[:size] == other[:size])
    tail = _common(shorter - first, lambda size: one[len(one) - size :] == other[len(other) - size :])
    return first, len(one) - tail, len(other) - tail


def _common(most: int, is_same: Callable[[int], bool]) -> int:
    """The largest size up to a limit for which something holds, that holds for all below."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if is_same(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _is_balanced(part: bytes) -> bool:
    """Whether every brace that is opened is closed, and none is closed that was open before."""
    depth = 0
    for brace in _BRACE.findall(part):
        depth += 1 if brace == b"{" else -1
        if depth < 0:
            return False
    return depth == 0


def _indentation(data: bytes, start: int) -> int:
    return start - (data.rfind(b"\n", 0, start) + 1)


def _is_deep(part: bytes, indentation: int) -> bool:
    """Whether no line is less indented than the symbol, so that none can be around it."""
    if indentation == 0:
        return True
    return all(len(blank) >= indentation for blank in _LINE.findall(part))


def _ends_there(data: bytes, end: int, indentation: int) -> bool:
    """Whether the next line that says something is outside the symbol."""
    following = _LINE.search(data, data.find(b"\n", end) + 1 if data.find(b"\n", end) >= 0 else end)
    return following is None or len(following[1]) <= indentation
