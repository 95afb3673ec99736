"""The lines of a Markdown text that matter to a list of tasks: headings, boxes, bullets.

What stands in a code block or in an HTML comment is not part of the list. Everything is one pass
over the lines; what a line means to a team is not known here.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator

HEADING = 1
BOX = 2
BULLET = 3
TEXT = 4

# Longer lines are data. What a list says of a task stands at the beginning.
MAX_LINE_CHARS = 4000
_TAB_COLUMNS = 4
_MARGIN = 3
"""How far a block may be indented in its container and still be one."""

_BULLET = re.compile(
    r"(?:[-*+]|[0-9]{1,9}[.)])(?:([ \t]{1,20})(\[([^\[\]]{0,3})\]\*?(?![^ \t]))?[ \t]{0,20}|$)"
)
_HEADING = re.compile(r"(#{1,6})(?:[ \t]{1,20}|$)")
_FENCE = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")
_FRONT_END = re.compile(r"^(?:---|\.\.\.)[ \t]{0,20}\r?$", re.MULTILINE)


# Kind, number counted from 1, columns before it (of a heading: its level), what stands in the box,
# and what the line says without the marks in front. A plain tuple: lists have thousands of lines.
Line = tuple[int, int, int, str, str]


def front(text: str) -> tuple[str, int]:
    """The YAML in front of a text, and how many lines it takes up; nothing if there is none."""
    first, newline, _ = text[:40].partition("\n")
    if not newline or first.removeprefix("\ufeff").rstrip() != "---":
        return "", 0
    end = _FRONT_END.search(text, len(first) + 1)
    if end is None:
        return "", 0
    yaml = text[len(first) + 1 : end.start()]
    return yaml, yaml.count("\n") + 2


def scan(text: str, skip: int = 0) -> Iterator[Line]:
    """The lines after the first few, without blank ones."""
    return _Scanner(text).lines(skip)


class _Scanner:
    """Where a pass over the lines stands."""

    def __init__(self, text: str) -> None:
        self._text = text.removeprefix("\ufeff")
        self._contents: list[int] = []
        """The columns at which the content of the open list items begins."""
        self._fence = ""
        self._fence_content = 0
        self._in_comment = False
        self._last_close = -1

    def lines(self, skip: int) -> Iterator[Line]:
        was_blank = False
        for number, line in enumerate(self._text.split("\n"), 1):
            if number <= skip:
                continue
            bare = line.lstrip(" \t")
            indent = len(line) - len(bare)
            if indent and "\t" in line[:indent]:
                indent = len(line[:indent].expandtabs(_TAB_COLUMNS))
            bare = bare.rstrip()
            if not bare:
                was_blank = True
                continue
            if self._in_comment:
                self._read_comment(bare)
                continue
            if self._fence and self._is_code(bare, indent):
                continue
            if "<!--" in bare and not (bare := self._uncommented(bare, number)):
                continue
            found = self._line(number, indent, bare[:MAX_LINE_CHARS], was_blank)
            was_blank = False
            if found is not None:
                yield found

    def _line(self, number: int, indent: int, bare: str, was_blank: bool) -> Line | None:
        first = bare[0]
        if first in "-*+0123456789" and (found := _BULLET.match(bare)):
            return self._item(number, indent, bare, found)
        if first in "`~" and self._opens(bare, indent):
            return None
        if first == "#" and indent <= _MARGIN and (found := _HEADING.match(bare)):
            self._contents.clear()
            title = bare[found.end() :].rstrip("#").rstrip()
            return (HEADING, number, len(found[1]), "", title)
        if was_blank:
            # A paragraph of its own ends the items that it does not belong to.
            while self._contents and self._contents[-1] > indent:
                self._contents.pop()
        return (TEXT, number, indent, "", bare)

    def _item(self, number: int, indent: int, bare: str, found: re.Match[str]) -> Line | None:
        while self._contents and self._contents[-1] > indent:
            self._contents.pop()
        self._contents.append(indent + (found.end(1) if found[1] else 2))
        rest = bare[found.end() :]
        if found[2] is not None:
            return (BOX, number, indent, found[3].strip() or found[3][:1], rest)
        if rest[:1] in ("`", "~") and self._opens(rest, self._contents[-1]):
            return None
        return (BULLET, number, indent, "", rest)

    # Code

    def _opens(self, bare: str, indent: int) -> bool:
        """Does a code block begin here?"""
        at = bisect.bisect_right(self._contents, indent)
        content = self._contents[at - 1] if at else 0
        found = _FENCE.match(bare) if indent - content <= _MARGIN else None
        if found is None:
            return False
        self._fence, self._fence_content = found[0], content
        return True

    def _is_code(self, bare: str, indent: int) -> bool:
        if indent < self._fence_content:
            # Its list item has ended, and the block with it.
            self._fence = ""
            return False
        if bare.startswith(self._fence) and not bare.strip(self._fence[0]):
            self._fence = ""
        return True

    # Comments

    def _read_comment(self, bare: str) -> None:
        close = bare.rfind("-->")
        self._in_comment = close < 0 or bare.find("<!--", close) >= 0

    def _uncommented(self, bare: str, number: int) -> str:
        """A line without its comments; nothing if it begins with one, as Markdown has it."""
        parts, at, ticks = [], 0, 0
        while (start := bare.find("<!--", at)) >= 0:
            ticks += bare.count("`", at, start)
            if ticks % 2:
                # Somebody writes about comments.
                parts.append(bare[at : start + 4])
                at = start + 4
                continue
            parts.append(bare[at:start])
            end = bare.find("-->", start + 4)
            if end < 0:
                # One that begins within a line and never ends is none.
                self._in_comment = start == 0 or number < self._closes()
                at = len(bare) if self._in_comment else start
                break
            at = end + 3
        if bare.startswith("<!--"):
            return ""
        return ("".join(parts) + bare[at:]).rstrip()

    def _closes(self) -> int:
        """The last line on which a comment ends."""
        if self._last_close < 0:
            last = self._text.rfind("-->")
            self._last_close = 0 if last < 0 else self._text.count("\n", 0, last) + 1
        return self._last_close
