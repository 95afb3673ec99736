"""The lines of a Markdown plan: what is structure, what is code, and nothing that is hidden.

A comment does not show where Markdown is rendered, so it must not reach a worker either: people
would have agreed to another text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tether.tasks.sources import markdown

CODE = 5
BLANK = 6
_FENCE = re.compile(r"(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]{1,20})?(`{3,}|~{3,})")


class Line(NamedTuple):
    """One line of a plan."""

    kind: int
    """HEADING, BOX, BULLET or TEXT of `markdown`, CODE or BLANK."""
    number: int
    indent: int
    """Of a heading: its level."""
    rest: str
    """Without the marks in front."""
    text: str
    """As it is shown to a worker."""


def walk(content: str) -> Iterator[Line]:
    """Every line but comments and what stands in front."""
    content = content.removeprefix("\ufeff").replace("\r\n", "\n")
    _, skip = markdown.front(content)
    structure = markdown.scan(content, skip)
    following = next(structure, None)
    hidden = _Hidden()
    for number, raw in enumerate(content.split("\n"), 1):
        if following is not None and following[1] == number:
            hidden.restart(raw)
            yield _line(following, raw)
            following = next(structure, None)
        elif number > skip and (kind := hidden.kind(raw.strip())):
            yield Line(kind, number, 0, "", raw.rstrip())


def _line(found: markdown.Line, raw: str) -> Line:
    kind, number, indent, mark, rest = found
    shown = raw.rstrip()
    if "<!--" in raw:
        lead = {markdown.BOX: f"- [{mark or ' '}] ", markdown.BULLET: "- "}.get(kind, "")
        shown = f"{' ' * indent}{lead}{rest}"
    return Line(kind, number, indent, rest, shown)


class _Hidden:
    """Tells code from comments among the lines that are no structure."""

    def __init__(self) -> None:
        self._fence = ""
        self._in_comment = False

    def restart(self, raw: str) -> None:
        """A line of structure: code has ended, and a comment may begin at its end."""
        self._fence = ""
        self._in_comment = raw.rfind("<!--") > raw.rfind("-->")

    def kind(self, bare: str) -> int:
        """CODE or BLANK; 0 for a comment."""
        if self._fence:
            if bare.startswith(self._fence) and not bare.strip(self._fence[0]):
                self._fence = ""
            return CODE if bare else BLANK
        if self._in_comment or "<!--" in bare:
            self._in_comment = bare.rfind("-->") <= bare.rfind("<!--")
            return 0
        if found := _FENCE.match(bare):
            self._fence = found[1]
            return CODE
        return 0 if bare else BLANK
