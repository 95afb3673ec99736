"""What a text says of the tasks that it names. Pure.

A text about a task is a mention. A text that goes through many of them, as a dashboard or a list of
what comes next does, says nothing about any one; and what stands in a code block was pasted.
"""

from __future__ import annotations

import re

# Made by the hundred thousand, and quicker so than those of `hints`.
from typing import NamedTuple

from tether import redaction, text
from tether.evidence import model
from tether.tasks.sources import patterns

# From this many different tasks on, a text is a list.
MANY = 5
# A list of everything is not evidence about anything, and is not written down.
MAX_LISTED = 50
_FENCE = re.compile(r"^[ \t]{0,3}(?:`{3,}|~{3,})", re.MULTILINE)
# Long enough that a secret that the cut goes through is recognised.
_WINDOW_CHARS = model.EXCERPT_CHARS + 300
_MARGIN_CHARS = 200
_BEFORE_CHARS = 60


class Mention(NamedTuple):
    """A task that a text names."""

    source: str
    id: str
    kind: str
    start: int


def read(finder: patterns.Finder, value: str) -> list[Mention]:
    """The tasks that a text names, each once, with what it says of them: mentioned or listed."""
    found = finder.find(value)
    if not found:
        return []
    fenced = _fenced(value) if "```" in value or "~~~" in value else []
    first: dict[tuple[str, str], Mention] = {}
    for each in found:
        is_pasted = any(start <= each.start < end for start, end in fenced)
        kind = model.LISTED if is_pasted else model.MENTIONED
        known = first.get((each.source, each.id))
        if known is None or (known.kind == model.LISTED and kind == model.MENTIONED):
            first[each.source, each.id] = Mention(each.source, each.id, kind, each.start)
    if len(first) > MAX_LISTED:
        return []
    if len(first) >= MANY:
        return [each._replace(kind=model.LISTED) for each in first.values()]
    return list(first.values())


def excerpt(value: str, start: int = 0, around: str = "") -> str:
    """A piece of a text around what stands at a place, on one line, without secrets."""
    # Redacted with what stands around it, then cut: half a secret would not be recognised. Not from
    # before its line, where the end of a key may stand whose beginning is far away.
    line = max(value.rfind("\n", 0, start) + 1, start - _BEFORE_CHARS - _MARGIN_CHARS)
    if line and not value[line - 1].isspace():
        line = _next_word(value, line, start)
    piece = value[line : start + _WINDOW_CHARS]
    if len(value) > start + _WINDOW_CHARS:
        # Nor a word that the cut goes through: it may be a line of a key.
        whole = piece.rsplit(None, 1)[0]
        piece = whole if len(whole) > start - line + len(around) else piece
    window = redaction.redact(text.clean(piece))
    at = window.find(around) if around else 0
    return text.one_line(window[max(0, at - _BEFORE_CHARS) :], model.EXCERPT_CHARS)


def _next_word(value: str, begin: int, end: int) -> int:
    """Where a word begins, so that no word is cut: behind its beginning a secret is none."""
    for at in range(begin, end):
        if value[at].isspace():
            return at
    return end


def _fenced(value: str) -> list[tuple[int, int]]:
    """Where the code blocks are; one that is not closed goes on to the end."""
    marks = [match.start() for match in _FENCE.finditer(value)]
    ends = [*marks[1::2], len(value)]
    return list(zip(marks[::2], ends, strict=False))
