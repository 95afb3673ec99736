"""Whether a symbol stands untouched in another version of its file, seen without parsing that.

Its text must be there once in its place: after the same declarations of what it stands in, with
nothing left open or closed between those and it, and nothing around it that it may take in.
Everything else is for the parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tether.hints import NamedTuple
from tether.lineage import sources, symbols

_BRACES = b"{}"
_NO_BRACES = bytes(byte for byte in range(256) if byte not in _BRACES)
_BRACE = re.compile(rb"[{}]")
_SAID = re.compile(rb"\S")
# Where a declaration stands so often, it is a common one.
_MANY = 16
# Nobody leaves more blanks between two definitions, in bytes.
_FAR = 2000
_COMMENT_STARTS = (b"//", b"/*", b"*", b"#")
_LONG_QUOTES = (b'"""', b"'''")
_ENDS = (b";", b"}", b")", b"]", b'"', b"'")
_ANNOTATION_STARTS = (b"@", b"[", b"#[")
_PAIRS = ((b"(", b")"), (b"[", b"]"))
_NAMESPACE = re.compile(rb"\b(?:namespace|package|module|mod|impl|trait|extension)\b[^\n{]*")
_INDENTATION = re.compile(rb"^([ \t]*)[^\s]", re.MULTILINE)


Parse = Callable[[bytes], symbols.Outline | None]


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

    @property
    def rest(self) -> bytes:
        """The file without the symbol."""
        return self.data[: self.start] + self.data[self.end :]

    def in_file(self, path: str) -> Glance:
        """The same in a file of another name."""
        if path == self.source.path:
            return self
        source = sources.Source(path, self.source.data, self.source.outline)
        return self._replace(source=source)


def at(source: sources.Source, number: int) -> Glance:
    return Glance(source, number, source.data, source.symbols[number].start)


def before(glance: Glance, data: bytes, nesting: str) -> Glance | None:
    """The same symbol in an earlier version, if it is untouched there; None if that is unsure."""
    if nesting == "words":
        return None
    places = _own_places(glance, data, nesting)
    # Of twins inside of the same, it is not seen which one was there.
    if len(places) != 1 or len(_own_places(glance, glance.data, nesting)) != 1:
        return None
    [start] = places
    earlier = glance._replace(data=data, start=start)
    if not _is_cut_alike(glance, earlier) or not _is_right_inside(glance, data, start, nesting):
        return None
    return earlier if nesting == "braces" or _ends_there(earlier) else None


def changed(glance: Glance, data: bytes, nesting: str, parse: Parse) -> Glance | None:
    """The symbol in an earlier version that has it otherwise, if its own lines say enough.

    It must have the same declaration, once in the same place. What lies between the lines around
    it, or up to where it is closed, is parsed, and must begin with it; others may follow.
    """
    symbol = glance.source.symbols[glance.number]
    declaration = glance.source.data[symbol.head : symbol.body]
    opening, closing = _around_it(glance, nesting)
    if nesting == "words" or not declaration.strip() or opening is None:
        return None
    spans = [
        (start, end)
        for place in _places(declaration, data)
        if (start := _start(glance, data, place)) >= 0
        and (end := _end(glance, data, place + len(declaration), nesting)) >= 0
        and _is_right_inside(glance, data, start, nesting)
    ]
    if len(spans) != 1:
        return None
    [(start, end)] = spans
    part = opening + data[start:end] + closing
    outline = parse(part)
    if outline is None or outline.is_broken:
        return None
    source = sources.Source(glance.source.path, part, outline)
    for number, found in enumerate(outline.symbols):
        if found.start == len(opening) and found.qualified == symbol.qualified:
            return Glance(source, number, data, start)
    return None


def _places(text: bytes, data: bytes) -> list[int]:
    """Where some text stands; nowhere, if in so many places that none is meant."""
    found: list[int] = []
    place = data.find(text)
    while place >= 0 and len(found) <= _MANY:
        found.append(place)
        place = data.find(text, place + 1)
    return found if len(found) <= _MANY else []


def _own_places(glance: Glance, data: bytes, nesting: str) -> list[int]:
    """Where the symbol's text stands; of several places, those that are inside of the same."""
    places = _places(glance.source.text(glance.number), data)
    if len(places) < 2:
        return places
    return [each for each in places if _is_right_inside(glance, data, each, nesting)]


def _is_cut_alike(glance: Glance, earlier: Glance) -> bool:
    """Whether what is around the symbol leaves it as it is in both versions."""
    if _below(glance.data, glance.end) != _below(earlier.data, earlier.end):
        return False
    above = [_above(each.data, each.start) for each in (glance, earlier)]
    return above[0] == above[1] or all(map(_is_apart, above))


def _is_apart(above: bytes) -> bool:
    """Whether what is above ends something, with a blank line behind it and no comment.

    An annotation would belong to the symbol, also one that goes over several lines.
    """
    line, _, rest = above.partition(b"\n")
    line = line.strip()
    is_whole = all(line.count(opening) == line.count(closing) for opening, closing in _PAIRS)
    is_last = is_whole and line.endswith(_ENDS) and not line.startswith(_ANNOTATION_STARTS)
    return is_last and b"\n" in rest and not rest.strip()


def _around_it(glance: Glance, nesting: str) -> tuple[bytes | None, bytes]:
    """What has to stand before and behind a symbol that is parsed without the rest of its file."""
    opening, closing = b"", b""
    for outer in _declarations(glance):
        if nesting == "braces":
            opening += outer + b"{\n"
            closing += b"\n}"
            continue
        # A statement, so that comments before the first one do not belong to the symbol.
        indentation = outer[outer.rfind(b"\n") + 1 :]
        if indentation.strip():
            return None, b""
        opening += outer + b"pass\n" + indentation
    return opening, closing


def _start(glance: Glance, data: bytes, place: int) -> int:
    """Where a symbol begins in another version, by what is above it; -1 if that is not there."""
    above = _above(glance.data, glance.start)
    if not above.strip():
        return len(above) if data.startswith(above) else -1
    found = data.rfind(above, 0, place)
    return found + len(above) if found >= 0 else -1


def _end(glance: Glance, data: bytes, place: int, nesting: str) -> int:
    """Where it ends, by the line below it or by its braces; -1 if these are not there."""
    below = _below(glance.data, glance.end)
    if not below.strip():
        return len(data.rstrip())
    end = data.find(below, place)
    if end >= 0:
        return end
    return _dedent(glance, data, place) if nesting == "indentation" else _closed(data, place)


def _dedent(glance: Glance, data: bytes, place: int) -> int:
    """Where a body ends by its indentation; -1 if a comment stands there, which may be outside."""
    column = _column(glance.data, glance.start)
    for line in _INDENTATION.finditer(data, data.find(b"\n", place) + 1):
        if len(line[1]) <= column and data[line.end() - 1 : line.end()] != b"#":
            end = len(data[place : line.start()].rstrip()) + place
            last = data[data.rfind(b"\n", 0, end) + 1 : end].lstrip()
            return -1 if last.startswith(b"#") else end
    return -1


def _closed(data: bytes, place: int) -> int:
    """Where a brace is closed that is opened there."""
    if data[place : place + 1] != b"{":
        return -1
    depth = 0
    for brace in _BRACE.finditer(data, place):
        depth += 1 if brace[0] == b"{" else -1
        if not depth:
            # What follows on its line may belong to it, as a semicolon does.
            newline = data.find(b"\n", brace.end())
            rest = data[brace.end() : newline if newline >= 0 else None]
            return -1 if rest.strip() else brace.end()
    return -1


def _is_right_inside(glance: Glance, data: bytes, start: int, nesting: str) -> bool:
    """Whether a place in another version is right inside what the symbol stands in."""
    between = _between(glance, data, start)
    if between is None or not _is_alike_before(glance, data, start, nesting):
        return False
    if nesting == "indentation":
        return all(map(_is_indented, between))
    left = [_unbalanced(part) for part in between]
    is_plain = not _outermost(glance).container
    if is_plain and not any(left):
        return True
    # Braces in texts and comments, and those of namespaces: they count as long as they are the
    # same in both versions.
    known = _between(glance, glance.data, glance.start) or []
    symbol = glance.source.symbols[glance.number]
    is_told = not any(left) or symbol.container == _around(glance)
    return is_told and [_unbalanced(part) for part in known] == left


def _is_alike_before(glance: Glance, data: bytes, start: int, nesting: str) -> bool:
    """Whether texts, comments and namespaces that go on to a symbol do so in both versions."""
    sides = (glance.data[: glance.start], data[:start])
    if _left_open(sides[0], nesting) != _left_open(sides[1], nesting):
        return False
    if not _outermost(glance).container:
        return True
    return _NAMESPACE.findall(sides[0]) == _NAMESPACE.findall(sides[1])


def _left_open(data: bytes, nesting: str) -> list[int]:
    """Whether long texts or comments are open at the end of something."""
    if nesting == "indentation":
        return [data.count(mark) % 2 for mark in _LONG_QUOTES]
    return [int(data.rfind(b"/*") > data.rfind(b"*/"))]


def _between(glance: Glance, data: bytes, start: int) -> list[bytes] | None:
    """What stands before and between the declarations around a symbol, and before itself."""
    parts = []
    inside = 0
    for declaration in _declarations(glance):
        place = data.find(declaration, inside, start)
        if place < 0 or data.find(declaration, place + 1, start) >= 0:
            return None
        parts.append(data[inside:place])
        inside = place + len(declaration) + 1
    return [*parts, data[inside:start]]


def _around(glance: Glance) -> str:
    parent = glance.source.symbols[glance.number].parent
    return glance.source.symbols[parent].qualified if parent >= 0 else ""


def _outermost(glance: Glance) -> symbols.Symbol:
    symbol = glance.source.symbols[glance.number]
    while symbol.parent >= 0:
        symbol = glance.source.symbols[symbol.parent]
    return symbol


def _declarations(glance: Glance) -> list[bytes]:
    """How what it stands in is declared, from the outside in, up to where its body begins."""
    found = []
    source, around = glance.source, glance.source.symbols[glance.number].parent
    while around >= 0:
        outer = source.symbols[around]
        found.append(source.data[outer.head : outer.body])
        around = outer.parent
    return found[::-1]


def _above(data: bytes, start: int) -> bytes:
    """The last line before a place that says something, and all that follows it.

    Comments are not enough: what they belong to depends on what is before them.
    """
    first = end = start
    while first:
        said = len(data[max(0, end - _FAR) : end].rstrip()) + max(0, end - _FAR)
        first = end = data.rfind(b"\n", 0, said) + 1
        line = data[first:said].strip()
        if not line.startswith(_COMMENT_STARTS) and not line.endswith(b"*/"):
            break
    return data[first:start]


def _below(data: bytes, end: int) -> bytes:
    """What follows a place up to the end of the first line that says something."""
    said = _SAID.search(data, end)
    below = data.find(b"\n", said.start()) if said else -1
    return data[end : below if below >= 0 else None]


def _unbalanced(part: bytes) -> bytes:
    """The braces that are left when all pairs are taken out: none, where all is closed."""
    braces = part.translate(None, _NO_BRACES)
    while _BRACES in braces:
        braces = braces.replace(_BRACES, b"")
    return braces


def _column(data: bytes, start: int) -> int:
    return start - (data.rfind(b"\n", 0, start) + 1)


def _is_indented(part: bytes) -> bool:
    """Whether no line is less indented than what follows, so that none can be around that."""
    column = len(part) - (part.rfind(b"\n") + 1)
    lines = part[part.find(b"\n") + 1 :] if column else b""
    return all(len(blank) >= column for blank in _INDENTATION.findall(lines))


def _ends_there(glance: Glance) -> bool:
    """Whether the next line that says something is outside the symbol."""
    newline = glance.data.find(b"\n", glance.end)
    following = _INDENTATION.search(glance.data, newline + 1) if newline >= 0 else None
    return following is None or len(following[1]) <= _column(glance.data, glance.start)
