"""A file's content with its outline, and what is asked of each symbol: its words, its lines.

Everything is derived once and when it is asked for. What is alike is decided in `likeness`.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections import Counter

from tether.lineage import symbols

# What is written inside quotation marks on one line is one token, blanks and all. A comma before a
# closing bracket is none: that is layout.
_TOKEN = re.compile(
    rb"""[\w$\x80-\xff]+|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|,(?!\s*[])}])|[^\s\w$\x80-\xff,]"""
)
_WORD = re.compile(rb"[\w$\x80-\xff]+")


class Source:
    """One file as it was in one commit."""

    def __init__(self, path: str, data: bytes, outline: symbols.Outline) -> None:
        self.path = path
        self.data = data
        self.outline = outline
        self.symbols = outline.symbols
        self._bare: dict[int, bytes] = {}
        self._bags: dict[int, Counter[bytes]] = {}
        self._bodies: dict[int, bytes] = {}
        self._children: dict[int, list[int]] | None = None
        self._named: dict[tuple[int, str, str], list[int]] | None = None
        self._starts: list[int] | None = None
        self._local_names: list[str] | None = None

    def __repr__(self) -> str:
        return f"<Source {self.path}: {len(self.symbols)} symbols>"

    @property
    def children(self) -> dict[int, list[int]]:
        """The numbers of the symbols right inside each symbol; those at the top under -1."""
        if self._children is None:
            self._children = {}
            for number, symbol in enumerate(self.symbols):
                self._children.setdefault(symbol.parent, []).append(number)
        return self._children

    def text(self, number: int) -> bytes:
        """The symbol as it is written, with all that belongs to it."""
        symbol = self.symbols[number]
        return self.data[symbol.start : symbol.end]

    def own_text(self, number: int) -> bytes:
        """The same without the symbols inside, if it is a class or a section."""
        symbol = self.symbols[number]
        return self._cut(symbol.start, symbol.end, self._inside(number))

    def own_lines(self, number: int) -> bytes:
        """The same with what its first line is indented by: all of it is whole lines."""
        start = self.symbols[number].start
        indent = self.data[self.data.rfind(b"\n", 0, start) + 1 : start]
        own = self.own_text(number)
        return own if indent.strip() else indent + own

    def local_name(self, number: int) -> str:
        """Its name as seen from the symbol around it."""
        if self._local_names is None:
            names = [each.qualified for each in self.symbols]
            self._local_names = [
                name if each.parent < 0 else name[len(names[each.parent]) + 1 :]
                for each, name in zip(self.symbols, names, strict=True)
            ]
        return self._local_names[number]

    def declaration(self, number: int) -> list[bytes]:
        """The tokens of its declaration without annotations."""
        symbol = self.symbols[number]
        spans = [*self._comments(symbol.head, symbol.body), *symbol.annotations]
        return _TOKEN.findall(self._cut(symbol.head, symbol.body, spans))

    def head(self, number: int) -> bytes:
        """The same without its name and its owner's name."""
        tokens = self.declaration(number)
        for name in self._names(number):
            # It may be a text: the name of a test, or of a method that is no word.
            written = next((each for each in tokens if each in _quoted(name)), None)
            if written is not None:
                tokens.remove(written)
        return b" ".join(tokens)

    def body(self, number: int) -> bytes:
        """The tokens of its body without comments; of a class, without the symbols inside."""
        known = self._bodies.get(number)
        if known is None:
            symbol = self.symbols[number]
            spans = [*self._comments(symbol.body, symbol.end), *symbol.documentation]
            spans += self._inside(number)
            tokens = _TOKEN.findall(self._cut(symbol.body, symbol.end, spans))
            self._bodies[number] = known = b" ".join(tokens)
        return known

    def documentation(self, number: int) -> bytes:
        """The words of its documentation."""
        spans = self.symbols[number].documentation
        return b" ".join(b" ".join(self.data[a:z].split()) for a, z in spans)

    def comments(self, number: int) -> bytes:
        """The words of the comments inside; of a class, without those of the symbols inside."""
        symbol = self.symbols[number]
        spans = self._comments(symbol.head, symbol.end)
        if inside := sorted(self._inside(number)) if spans else []:
            starts = [start for start, _ in inside]
            # How far those reach that start before.
            ends = [symbol.start, *itertools.accumulate((end for _, end in inside), max)]
            spans = [each for each in spans if ends[bisect.bisect(starts, each[0])] <= each[0]]
        return b" ".join(b" ".join(self.data[a:z].split()) for a, z in spans)

    def annotations(self, number: int) -> bytes:
        spans = self.symbols[number].annotations
        return b" ".join(b" ".join(_TOKEN.findall(self.data[a:z])) for a, z in spans)

    def code(self, number: int) -> bytes:
        """All of it without comments and documentation; of a class, with the symbols inside."""
        known = self._bare.get(number)
        if known is None:
            symbol = self.symbols[number]
            spans = [*self._comments(symbol.head, symbol.end), *symbol.documentation]
            self._bare[number] = known = self._cut(symbol.head, symbol.end, spans)
        return known

    def words(self, number: int) -> list[bytes]:
        """Its words, but not its name and its owner's."""
        names = self._names(number)
        return [word for word in _WORD.findall(self.code(number)) if word not in names]

    def bag(self, number: int) -> Counter[bytes]:
        """Its words and which word follows which."""
        known = self._bags.get(number)
        if known is None:
            words = self.words(number)
            known = Counter(words)
            known.update(map(b" ".join, itertools.pairwise(words)))
            self._bags[number] = known
        return known

    def own_code(self, number: int) -> bytes:
        """Its code without the symbols inside."""
        return self._own(number, self.symbols[number].head)

    def own_body(self, number: int) -> bytes:
        """The same without its head."""
        return self._own(number, self.symbols[number].body)

    def whole_body(self, number: int) -> bytes:
        """Its code without its head, with the symbols inside."""
        symbol = self.symbols[number]
        spans = [*self._comments(symbol.body, symbol.end), *symbol.documentation]
        return self._cut(symbol.body, symbol.end, spans)

    def _own(self, number: int, start: int) -> bytes:
        symbol = self.symbols[number]
        inside = [self.symbols[child] for child in self.children.get(number, ())]
        spans = [(one.start, one.end) for one in inside]
        spans += [*self._comments(start, symbol.end), *symbol.documentation]
        return self._cut(start, symbol.end, spans)

    def lines(self, number: int) -> list[bytes]:
        """The lines of its code that say something, without their indentation."""
        return [line for line in map(bytes.strip, self.code(number).split(b"\n")) if len(line) > 5]

    @property
    def named(self) -> dict[tuple[int, str, str], list[int]]:
        """The symbols inside a symbol that have a name, by its number, their kind and that name."""
        if self._named is None:
            self._named = {}
            for number, symbol in enumerate(self.symbols):
                key = (symbol.parent, symbols.family(symbol.kind), self.local_name(number))
                self._named.setdefault(key, []).append(number)
        return self._named

    def _names(self, number: int) -> list[bytes]:
        """Its name, and that of what it belongs to but does not stand in, as methods in Go do."""
        symbol = self.symbols[number]
        owner = symbol.container.rpartition(".")[2] if symbol.parent < 0 else ""
        return [name.encode() for name in (symbol.name, owner) if name]

    def _inside(self, number: int) -> list[symbols.Span]:
        """Where the symbols inside a class or section are, which have changes of their own."""
        if self.symbols[number].kind not in ("class", "section"):
            return []
        inside = [self.symbols[child] for child in self.children.get(number, ())]
        return [(one.start, one.end) for one in inside]

    def _comments(self, start: int, end: int) -> list[symbols.Span]:
        comments = self.outline.comments
        if self._starts is None:
            self._starts = [first for first, _ in comments]
        first = bisect.bisect_left(self._starts, start)
        last = bisect.bisect_left(self._starts, end)
        return list(comments[first:last])

    def _cut(self, start: int, end: int, spans: list[symbols.Span]) -> bytes:
        """A part of the file without these spans."""
        if not spans:
            return self.data[start:end]
        kept = []
        for first, last in sorted(spans):
            if last > start and first < end:
                kept.append(self.data[start : max(start, first)])
                start = max(start, last)
        kept.append(self.data[start:end])
        return b" ".join(kept)


def _quoted(name: bytes) -> tuple[bytes, ...]:
    return name, b"'%b'" % name, b'"%b"' % name
