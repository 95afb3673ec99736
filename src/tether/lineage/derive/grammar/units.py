"""Where one statement of a text ends and the next begins. Pure, and linear in the text.

A statement is a sentence, an item of a list, a heading or a cell of a table: a verb in one of them
says nothing of an id in another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tether.hints import NamedTuple
from tether.lineage.derive.grammar.blanking import FILL, ITEM, Span, lines

_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]{1,20}(?=[^ \t])")
_LABEL = re.compile(r"[ \t]{0,40}[*_]{0,3}[A-Z][A-Za-z -]{1,40}[*_]{0,3}:[*_]{0,3}(?=[ \t]|$)")
_ENDS = re.compile(r"[.!?;](?=[\s\0)\]*_\"'”’]|$)")
_ABBREVIATIONS = frozenset(
    (
        "e.g", "i.e", "eg", "ie", "cf", "vs", "resp", "approx", "incl", "excl", "no", "nr", "fig",
        "sec", "ca", "mr", "ms", "dr", "viz",
    )
)  # fmt: skip
_DOUBTFUL = re.compile(
    r"\b(?:alternatives?|options?|out of scope|non-?goals?|open questions?|questions|ideas?"
    r"|rejected|considered|future|later|examples?|not done|not planned|maybe)\b"
)
_MAX_LEAD = 48
_MAX_HEADING = 200


class Unit(NamedTuple):
    """A statement: a sentence, a heading, a cell of a table."""

    start: int
    end: int
    lead: Span | None = None
    """What stands above or before it like a label: `Supersedes:` above a list of ids."""
    is_doubtful: bool = False
    """Whether a heading says that nothing below it is done: alternatives, out of scope."""


def units(text: str) -> Iterator[Unit]:
    """The statements of a text that was blanked."""
    return _Layout(text).walk()


class _Layout:
    """Where a pass over the lines stands."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._block: Span | None = None
        self._is_item = False
        self._is_doubtful = False
        self._heading: Span | None = None
        self._label: Span | None = None

    def walk(self) -> Iterator[Unit]:
        for start, end in lines(self._text):
            line = self._text[start:end]
            bare = line.strip(" \t\r" + FILL)
            if heading := _HEADING.match(line):
                yield from self._flushed()
                yield from self._head(start + heading.end(), start + len(line.rstrip()))
            elif bare.startswith("|"):
                yield from self._flushed()
                yield from self._cells(start, end)
            elif not bare:
                yield from self._flushed()
            elif item := ITEM.match(line):
                yield from self._flushed()
                self._begin(start + item.end(), end, is_item=True)
            elif self._block is None or _LABEL.match(line):
                yield from self._flushed()
                self._begin(start, end, is_item=False)
            else:
                self._block = (self._block[0], end)
        yield from self._flushed()

    def _begin(self, start: int, end: int, *, is_item: bool) -> None:
        self._block = (start, end)
        self._is_item = is_item

    def _flushed(self) -> Iterator[Unit]:
        if self._block is None:
            return
        start, end = self._block
        self._block = None
        label = self._label if self._is_item else None
        yield from self._sentences(start, end, label or self._heading)
        shown = self._text[start : min(end, start + _MAX_LEAD)].strip(" \t\r\n*_")
        is_label = shown.endswith(":") and end - start < _MAX_LEAD
        if is_label or not self._is_item:
            self._label = (start, end) if is_label else None

    def _head(self, start: int, end: int) -> Iterator[Unit]:
        self._label = None
        self._is_doubtful = False
        yield from self._sentences(start, end, None)
        shown = self._text[start : min(end, start + _MAX_HEADING)].lower()
        self._is_doubtful = _DOUBTFUL.search(shown) is not None
        self._heading = (start, end) if end - start < _MAX_LEAD else None

    def _cells(self, start: int, end: int) -> Iterator[Unit]:
        bars = [at for at in range(start, end) if self._text[at] == "|"]
        cells = [(a + 1, b) for a, b in zip(bars, [*bars[1:], end], strict=True)]
        filled = [cell for cell in cells if self._text[slice(*cell)].strip()]
        is_pair = len(filled) == 2 and filled[0][1] - filled[0][0] < _MAX_LEAD
        for number, cell in enumerate(filled):
            yield from self._sentences(*cell, filled[0] if is_pair and number else None)

    def _sentences(self, start: int, end: int, lead: Span | None) -> Iterator[Unit]:
        at = start
        for match in _ENDS.finditer(self._text, start, end):
            if match[0] != "." or not self._is_abbreviation(at, match.start()):
                yield Unit(at, match.end(), lead, self._is_doubtful)
                at, lead = match.end(), None
        if at < end:
            yield Unit(at, end, lead, self._is_doubtful)

    def _is_abbreviation(self, start: int, end: int) -> bool:
        words = self._text[max(start, end - 12) : end].lower().split()
        return bool(words) and words[-1].lstrip("(\"'") in _ABBREVIATIONS
