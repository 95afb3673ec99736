"""The sentences of a text that is Markdown, more or less: no code, no headings, no tables. Pure.

Blanks are made one; nothing else is changed. Everything is read once, line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tether import text
from tether.hints import NamedTuple

# What comes after that says little about the whole.
_MAX_CHARS, _MAX_LINE = 20_000, 2_000
_MAX_HEADING = 60

_FENCE = re.compile(r"[ \t]{0,8}(`{3}|~{3})")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}(?:[ \t]|$)")
_BOLD = re.compile(r"\*\*[^*]{1,80}\*\*:?|__[^_]{1,80}__:?")
_RULE = re.compile(r"=+|-+|(?:[-*_][ \t]?){3,80}")
_NO_PROSE = re.compile(r"[|>]|</?[A-Za-z]")
_SALUTATION = re.compile(r"(?:hi|hello|hey|dear)\b[^.?]{0,40}[,!]", re.IGNORECASE)
_ITEM = re.compile(r"[ \t]{0,40}(?:[-*+•]|[0-9]{1,3}[.)])[ \t]+")
_BOX = re.compile(r"\[([ xX~-])\](?:[ \t]+|$)")
_INDENTED = re.compile(r" {4}|\t")

# A stop, what closes with it, a blank, and something that can begin a sentence.
_STOP = re.compile(r"[.!?…]{1,3}[)\]\"'”’`*_]{0,3} (?=[(\[\"'“‘`*_]{0,3}[A-Z0-9À-ÖØ-ÞА-Я])")
_SHORTENED = re.compile(
    r"(?:^|[ (\[\"'“‘])(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|fig|no|mrs?|ms|dr|st|[A-Za-z])$",
    re.IGNORECASE,
)
_LONGEST_SHORTENED = 12
_WIDE_STOP = re.compile(r"(?<=[。！？])")


class Block(NamedTuple):
    """Sentences that stand together: a paragraph, or an item of a list."""

    text: str
    heading: str = ""
    """What it stands under."""
    is_item: bool = False
    box: str = ""
    """The mark of an item of a checklist: a blank if it is open."""

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(_sentences(self.text))


def blocks(value: str) -> list[Block]:
    """The paragraphs and items of a text."""
    reader = _Reader()
    for line in text.clean(value[:_MAX_CHARS]).split("\n"):
        reader.read(line[:_MAX_LINE].rstrip())
    reader.end()
    return reader.blocks


class _Reader:
    """Reads a text line by line."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._open: Block | None = None
        self._heading = ""
        self._fence = ""
        self._is_comment = False
        self._is_in_list = False

    def read(self, line: str) -> None:
        words = line.strip()
        fence = _FENCE.match(line)
        if self._is_comment or words.startswith("<!--"):
            self._is_comment = "-->" not in words
            self.end()
        elif self._fence or fence:
            self._fence = _fenced(self._fence, fence[1] if fence else "")
            self.end()
        elif not words:
            self.end()
        elif _RULE.fullmatch(words):
            self._underline(words)
        elif _is_heading(line, words):
            self.end()
            self._heading, self._is_in_list = words.strip("#*_: \t"), False
        elif _NO_PROSE.match(words) or _SALUTATION.fullmatch(words):
            self.end()
        else:
            self._prose(line, words)

    def end(self) -> None:
        """Nothing more belongs to what was read last."""
        if self._open is not None and self._open.text:
            self.blocks.append(self._open)
        self._open = None

    def _prose(self, line: str, words: str) -> None:
        item = _ITEM.match(line)
        if item:
            self.end()
            said = line[item.end() :]
            box = _BOX.match(said)
            said = said[box.end() :] if box else said
            self._open = Block(_spaced(said), self._heading, True, box[1] if box else "")
            self._is_in_list = True
        elif self._open is not None:
            self._open = self._open._replace(text=f"{self._open.text} {_spaced(words)}".strip())
        elif not _INDENTED.match(line):
            self._open, self._is_in_list = Block(_spaced(words), self._heading), False
        elif self._is_in_list:
            self._open = Block(_spaced(words), self._heading, True)

    def _underline(self, words: str) -> None:
        """A line under a single one makes that a heading; alone it parts what is around it."""
        if self._open is not None and not self._open.is_item and words[0] in "=-":
            self._heading, self._open = self._open.text, None
        self.end()


def _fenced(opened: str, mark: str) -> str:
    """The fence that is open after a line."""
    if not opened:
        return mark
    return "" if mark == opened else opened


def _is_heading(line: str, words: str) -> bool:
    if _HEADING.match(line) or _BOLD.fullmatch(words):
        return True
    is_label = words.endswith(":") and len(words) <= _MAX_HEADING and ". " not in words
    return is_label and not _ITEM.match(line)


def _spaced(words: str) -> str:
    return " ".join(words.split())


def _sentences(value: str) -> Iterator[str]:
    start = 0
    for found in _STOP.finditer(value):
        before = value[max(start, found.start() - _LONGEST_SHORTENED) : found.start()]
        if not (found[0].startswith(".") and _SHORTENED.search(before)):
            yield from _parts(value[start : found.end()])
            start = found.end()
    yield from _parts(value[start:])


def _parts(value: str) -> Iterator[str]:
    """Scripts without blanks have none after a stop either."""
    return filter(None, map(str.strip, _WIDE_STOP.split(value)))
