"""What a symbol is: a place in a file that has a name. Plain values, no parser and no Git."""

from __future__ import annotations

from tether.hints import Literal, NamedTuple

Kind = Literal["class", "function", "method", "constant", "section"]
Span = tuple[int, int]
"""From this byte up to that one."""


class Symbol(NamedTuple):
    """One function, method, class, constant or section of a document."""

    kind: Kind
    name: str
    container: str
    """The names of what it stands in, with dots between; empty at the top of a file."""
    signature: str
    """Its parameters as they are written, with their types where there are any."""
    ordinal: int
    """Counts those that are alike in kind, names and signature, from 1."""
    parent: int
    """The number of the symbol around it in its file; -1 if there is none."""
    start: int
    """Where it begins, in bytes: its documentation and decorators are part of it."""
    head: int
    """Where its declaration begins, after documentation and decorators."""
    body: int
    """Where its body begins; its end, if it has none."""
    end: int
    line: int
    """Counted from 1, like the next three."""
    head_line: int
    end_line: int
    documentation: tuple[Span, ...] = ()
    annotations: tuple[Span, ...] = ()

    @property
    def qualified(self) -> str:
        return f"{self.container}.{self.name}" if self.container else self.name


class Outline(NamedTuple):
    """What a parser found in one file."""

    symbols: tuple[Symbol, ...] = ()
    """In the order of their places; what stands around others comes before them."""
    comments: tuple[Span, ...] = ()
    is_broken: bool = False
    """Whether a part could not be read; the rest is here all the same."""


def family(kind: Kind) -> str:
    """Kinds that one symbol can have in turn: a function that moves into a class is a method."""
    return "function" if kind == "method" else kind


def innermost(outline: Outline, first_line: int, last_line: int) -> int | None:
    """The number of the smallest symbol that has all of these lines."""
    found = None
    for number, symbol in enumerate(outline.symbols):
        if (
            symbol.line <= first_line
            and last_line <= symbol.end_line
            and (found is None or _size(symbol) <= _size(outline.symbols[found]))
        ):
            found = number
    return found


def _size(symbol: Symbol) -> int:
    return symbol.end - symbol.start
