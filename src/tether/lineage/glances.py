"""Whether a symbol stands untouched in another version of its file, seen without parsing that.

Its text must be there once, with the same lines around it, after the same declarations of what it
stands in, and between those and it nothing may be left open or be closed. Everything else is for
the parser.
"""

from __future__ import annotations

import re

from tether.hints import NamedTuple
from tether.lineage import sources

_BRACES = b"{}"
_NO_BRACES = bytes(byte for byte in range(256) if byte not in _BRACES)
_INDENTATION = re.compile(rb"^([ \t]*)[^\s]", re.MULTILINE)
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

    @property
    def end(self) -> int:
        symbol = self.source.symbols[self.number]
        return self.start + symbol.end - symbol.start


def at(source: sources.Source, number: int) -> Glance:
    return Glance(source, number, source.data, source.symbols[number].start)


def before(glance: Glance, data: bytes, language: str) -> Glance | None:
    """The same symbol in an earlier version, if it is untouched there; None if that is unsure."""
    nesting = _NESTING.get(language)
    text = glance.source.text(glance.number)
    start = data.find(text)
    if nesting is None or start < 0 or data.find(text, start + 1) >= 0:
        return None
    earlier = glance._replace(data=data, start=start)
    if not _is_same_around(glance, earlier):
        return None
    inside = 0
    for declaration in _declarations(glance):
        place = data.find(declaration, inside, start)
        if place < 0 or data.find(declaration, place + 1, start) >= 0:
            return None
        if nesting == "braces" and not _is_balanced(data[inside:place]):
            return None
        inside = place + len(declaration) + 1
    if nesting == "braces":
        return earlier if _is_balanced(data[inside:start]) else None
    is_inside = _is_indented(data[inside:start], _column(data, start))
    return earlier if is_inside and _ends_there(earlier) else None


def _declarations(glance: Glance) -> list[bytes]:
    """How what it stands in is declared, from the outside in, up to where its body begins."""
    found = []
    source, around = glance.source, glance.source.symbols[glance.number].parent
    while around >= 0:
        outer = source.symbols[around]
        found.append(source.data[outer.head : outer.body])
        around = outer.parent
    return found[::-1]


def _is_same_around(one: Glance, other: Glance) -> bool:
    """Whether the line before and the line after are the same."""
    lines = []
    for data, first, last in ((one.data, one.start, one.end), (other.data, other.start, other.end)):
        above = data.rfind(b"\n", 0, max(0, data.rfind(b"\n", 0, first)))
        below = data.find(b"\n", data.find(b"\n", last) + 1)
        lines.append((data[above + 1 : first], data[last : below if below >= 0 else None]))
    return lines[0] == lines[1]


def _is_balanced(part: bytes) -> bool:
    """Whether every brace that is opened is closed, and none is closed that was open before."""
    braces = part.translate(None, _NO_BRACES)
    while _BRACES in braces:
        braces = braces.replace(_BRACES, b"")
    return not braces


def _column(data: bytes, start: int) -> int:
    return start - (data.rfind(b"\n", 0, start) + 1)


def _is_indented(part: bytes, column: int) -> bool:
    """Whether no line is less indented than the symbol, so that none can be around it."""
    lines = part[part.find(b"\n") + 1 :] if column else b""
    return all(len(blank) >= column for blank in _INDENTATION.findall(lines))


def _ends_there(glance: Glance) -> bool:
    """Whether the next line that says something is outside the symbol."""
    newline = glance.data.find(b"\n", glance.end)
    following = _INDENTATION.search(glance.data, newline + 1) if newline >= 0 else None
    return following is None or len(following[1]) <= _column(glance.data, glance.start)
