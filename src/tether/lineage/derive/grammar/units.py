"""Where one statement of a text ends and the next begins. Pure, and linear in the text.

A statement is a sentence, an item of a list, a heading or a cell of a table: a verb in one of them
says nothing of an id in another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

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
# `Out of scope (for now): …`; but no `docs(examples): …`.
_INLINE = re.compile(
    r"[\s*_\"'“‘(\[]{0,20}([A-Za-z][A-Za-z ,'’&/-]{1,47}(?: \([^()\n:]{0,30}\))?)"
    r"[*_\])]{0,3}:(?=[\s*_]|$)"
)
# The room of a commit in its title.
_ROOM = re.compile(r"(?:examples?|options?|ideas?|questions|future)")
_DOUBTFUL = re.compile(
    r"\b(?:alternatives?|options?|out of scope|non-?goals?|open questions?|questions|ideas?"
    r"|rejected|considered|future|later|examples?|not done|not planned|maybe)\b"
)
# A label says so with its first words: `Parse options:` and `Two weeks later:` do not.
_RULES_OUT = re.compile(
    r"(?!for example)(?:(?:the|our|some|other|more|further|possible|explicitly|deliberately|clearly"
    r"|still|also|currently|work|left|for) ){0,3}"
    r"(?:(?:alternatives?|out of scope|non-?goals?|open questions?|rejected|considered|not done"
    r"|not planned|maybe)\b|(?:options?|ideas?|questions|examples?|future|later)(?=$|,| \("
    r"| (?:for|to|on|and|or|considered|rejected|work|plans?|ideas?|steps?|tasks?|changes?)\b))"
)
_MAX_LEAD = 48
_MAX_HEADING = 200
_NO_ITEM = -1
"""How far a paragraph is indented: less than every item."""


class Unit(NamedTuple):
    """A statement: a sentence, a heading, a cell of a table."""

    start: int
    end: int
    lead: Span | None = None
    """What stands above or before it like a label: `Supersedes:` above a list of ids."""
    is_doubtful: bool = False
    """Whether a heading or a label says that none of it is done: alternatives, out of scope."""


def units(text: str) -> Iterator[Unit]:
    """The statements of a text that was blanked."""
    return _Layout(text).walk()


class _Layout:
    """Where a pass over the lines stands."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._block: Span | None = None
        self._indent = _NO_ITEM
        self._is_doubtful = False
        # How far a label is indented that says so of what is below it.
        self._ruled_out: int | None = None
        self._is_below_label = False
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
                indent = len(line) - len(line.lstrip(" \t"))
                self._begin(start + item.end(), end, indent)
            elif self._block is None or _LABEL.match(line):
                yield from self._flushed()
                self._begin(start, end, _NO_ITEM)
            else:
                self._block = (self._block[0], end)
        yield from self._flushed()

    def _begin(self, start: int, end: int, indent: int) -> None:
        self._block = (start, end)
        self._indent = indent

    def _flushed(self) -> Iterator[Unit]:
        if self._block is None:
            return
        start, end = self._block
        self._block = None
        is_item = self._indent != _NO_ITEM
        label = self._label if is_item else None
        sentences = list(self._spans(start, end))
        is_ruled_out = self._is_ruled_out(start, end)
        yield from self._units(sentences, label or self._heading, is_ruled_out)
        shown = self._text[start : min(end, start + _MAX_LEAD)].strip(" \t\r\n*_")
        is_label = shown.endswith(":") and end - start < _MAX_LEAD
        if is_label or not is_item:
            self._label = (start, end) if is_label else None
        self._rule_out(*sentences[-1], is_ruled_out=is_ruled_out)

    def _is_ruled_out(self, start: int, end: int) -> bool:
        """Whether a label above says so of a block: the list below it, or one paragraph."""
        if self._ruled_out is None:
            return False
        if self._indent != _NO_ITEM:
            return self._indent > self._ruled_out
        return self._is_below_label and not _INLINE.match(self._text, start, end)

    def _rule_out(self, start: int, end: int, *, is_ruled_out: bool) -> None:
        """What the last sentence of a block, if it is a label, says of what comes below."""
        shown = self._text[start : min(end, start + _MAX_HEADING)].strip()
        self._is_below_label = shown.rstrip("*_").endswith(":") and len(shown) < _MAX_LEAD
        if is_ruled_out and self._indent != _NO_ITEM:
            return
        says_so = self._is_below_label and _rules_out(shown)
        self._ruled_out = self._indent if says_so else None

    def _head(self, start: int, end: int) -> Iterator[Unit]:
        self._label = self._ruled_out = None
        self._is_doubtful = False
        yield from self._units(self._spans(start, end), None)
        shown = self._text[start : min(end, start + _MAX_HEADING)].lower()
        self._is_doubtful = _DOUBTFUL.search(shown) is not None
        self._heading = (start, end) if end - start < _MAX_LEAD else None

    def _cells(self, start: int, end: int) -> Iterator[Unit]:
        self._is_below_label = False
        bars = [at for at in range(start, end) if self._text[at] == "|"]
        cells = [(a + 1, b) for a, b in zip(bars, [*bars[1:], end], strict=True)]
        filled = [cell for cell in cells if self._text[slice(*cell)].strip()]
        is_pair = len(filled) == 2 and filled[0][1] - filled[0][0] < _MAX_LEAD
        is_ruled_out = self._ruled_out is not None or (
            is_pair and _rules_out(self._text[slice(*filled[0])])
        )
        for number, cell in enumerate(filled):
            lead = filled[0] if is_pair and number else None
            yield from self._units(self._spans(*cell), lead, is_ruled_out)

    def _units(
        self, sentences: Iterable[Span], lead: Span | None, is_ruled_out: bool = False
    ) -> Iterator[Unit]:
        is_denied = False
        for start, end in sentences:
            if label := _INLINE.match(self._text, start, end):
                is_denied = not _ROOM.fullmatch(label[1]) and _rules_out(label[1])
            yield Unit(start, end, lead, self._is_doubtful or is_ruled_out or is_denied)
            is_denied = is_denied and self._text[end - 1] == ";"
            lead = None

    def _spans(self, start: int, end: int) -> Iterator[Span]:
        """Where each sentence begins and ends."""
        at = start
        for match in _ENDS.finditer(self._text, start, end):
            if match[0] != "." or not self._is_abbreviation(at, match.start()):
                yield at, match.end()
                at = match.end()
        if at < end:
            yield at, end

    def _is_abbreviation(self, start: int, end: int) -> bool:
        words = self._text[max(start, end - 12) : end].lower().split()
        return bool(words) and words[-1].lstrip("(\"'") in _ABBREVIATIONS


def _rules_out(label: str) -> bool:
    """Whether nothing is done of what a label is about."""
    return _RULES_OUT.match(label.strip(" \t\r\n*_:\"'“‘([").lower()) is not None
