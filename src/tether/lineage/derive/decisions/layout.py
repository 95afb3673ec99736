"""The parts of a decision file: what stands under which heading or behind which label.

People write the same thing as a heading (`## Status`), as a label (`**Status:** …`, `- Status: …`,
`**Context.** …`) or as a row of a table. Here all of them become parts with one key. What a part
says is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tether.hints import NamedTuple
from tether.tasks.sources import markdown

# The level of a part that begins with a label; headings have 1 to 6, what is before them 0.
LABEL = 7
_HEADERS = {
    "status": "status|decision status|adr status|status note|status update",
    "date": "date|decision date|date decided|decided|decided on|recorded|accepted|accepted at"
    "|accepted on|approved|created|created at|date of decision",
    "supersedes": "supersedes|supercedes|replaces|obsoletes|overrides|supersede",
    "superseded_by": "superseded by|superceded by|replaced by|obsoleted by|overridden by"
    "|supersededby",
    "superseded_in_part": "superseded in part by|partially superseded by|partly superseded by"
    "|replaced in part by",
    "extends": "amends|refines|extends|builds on|clarifies|modifies|revises|narrows",
    "extended_by": "amended by|refined by|extended by|clarified by|modified by|revised by"
    "|narrowed by|updated by",
    "governs": "governs|paths|path|applies to|code anchors|code anchor|affects|affected files"
    "|affected paths|affected code|files|governed paths|governed files",
    "scope": "scope",
    "motivated_by": "motivated by|task|tasks|issue|issues|ticket|tickets|tracking issue"
    "|technical story|origin task|originating task",
    "related": "related|related tasks|related decisions|related adrs|relates to|references"
    "|see also|depends on|links|related to|cross references|related adr|task references",
    "title": "title",
    "meta": "metadata|meta|document control|header",
}
_CONTENTS = {
    "decision": "decision|decisions|the decision|our decision|decision outcome|outcome|resolution"
    "|decision taken|decision made|proposal|the proposal|what was decided|what we decided"
    "|we decided|chosen option|chosen solution|solution|ruling|decision summary|proposed decision",
    "context": "context|context and problem statement|context & problem statement|problem"
    "|problem statement|background|motivation|the issue|situation|question|summary|abstract"
    "|overview|introduction|purpose|problem context|context and problem|tl;dr|tldr",
    "consequences": "consequences|consequence|positive consequences|negative consequences|impact"
    "|implications|results|trade offs|tradeoffs|more information|notes|note|rationale|why"
    "|confirmation|validation|cost|costs|test cases|further discussions",
    "history": "changelog|change log|history|revision history|revisions|document history",
    "options": "options|considered options|options considered|alternatives|alternative"
    "|alternatives considered|considered alternatives|rejected alternatives|rejected options"
    "|pros and cons of the options|options analysis|alternatives rejected|what we rejected",
}
KEYS: dict[str, str] = {
    word: key
    for table in (_HEADERS, _CONTENTS)
    for key, words in table.items()
    for word in words.split("|")
}
CONTENTS = frozenset(_CONTENTS)
_RELATIONS = frozenset(
    ("supersedes", "superseded_by", "superseded_in_part", "extends", "extended_by")
)
# Said anywhere in a decision, with emphasis, these are about the decision and not about an option.
_ANYWHERE = _RELATIONS | {"governs", "motivated_by"}

_MARKS = re.compile(r"\*\*|__|[`*]")
_PARENTHESES = re.compile(r"\([^()]{0,80}\)")
_NUMBERING = re.compile(r"[^A-Za-z]{0,12}")
_LABEL = re.compile(r"([A-Za-z][A-Za-z _()/&-]{1,48}?)[ ]{0,2}[:：][ ]{0,8}")
# `**Context.** …`, and the further ones in `**Date:** … · **Status:** …`.
_STRONG = re.compile(
    r"(?:\*\*|__)([A-Za-z][^*:\n]{0,48}?)(?:[:.](?:\*\*|__)|(?:\*\*|__)[ ]{0,2}[:.])"
)
_PLAIN = frozenset(("Context", "Decision", "Consequences"))
_DOTTED = re.compile(r"(Context|Decision|Consequences)\.(?:[ ]|$)")
_ANY_LABEL = re.compile(r"[*_]{0,3}[A-Z][A-Za-z /()'-]{1,40}[*_]{0,3}:")
_CELLS = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"=+|-{2,}")


class Line(NamedTuple):
    """A line without the marks in front of it."""

    number: int
    indent: int
    text: str
    is_item: bool


class Part(NamedTuple):
    """What stands under a heading or behind a label."""

    key: str
    """Of `KEYS`; empty if what it is called means nothing here."""
    title: str
    level: int
    line: int
    lines: list[Line]
    under: str = ""
    """The key of the nearest heading around it that has one."""

    @property
    def place(self) -> str:
        return self.key or self.under


class Chunk(NamedTuple):
    """A paragraph or a list item, on one line."""

    line: int
    text: str
    is_item: bool


def key_of(title: str) -> str:
    """What a heading or label is, however it is numbered and written."""
    bare = _PARENTHESES.sub("", _MARKS.sub("", title[:120]))
    bare = bare.replace("_", " ").replace("-", " ").lower()
    numbering = _NUMBERING.match(bare)
    words = bare[numbering.end() if numbering else 0 :].split()
    return KEYS.get(" ".join(words).strip(" :.?!"), "")


def headed(text: str, skip: int) -> list[Part]:
    """The parts of a text by its headings; the first one is what stands before them."""
    parts = [Part("", "", 0, skip + 1, [])]
    for kind, number, indent, _box, content in markdown.scan(text, skip):
        if kind == markdown.HEADING:
            parts.append(Part(key_of(content), content, indent, number, []))
            continue
        lines = parts[-1].lines
        if kind == markdown.TEXT and _is_underline(content, number, lines):
            title = lines.pop()
            level = 1 if content[0] == "=" else 2
            parts.append(Part(key_of(title.text), title.text, level, title.number, []))
            continue
        is_item = kind in (markdown.BOX, markdown.BULLET)
        bare = content if is_item else content.lstrip("> ")
        if bare:
            lines.append(Line(number, indent, bare, is_item))
    return [_valued(part) for part in parts]


def _is_underline(content: str, number: int, lines: list[Line]) -> bool:
    return (
        _RULE.fullmatch(content) is not None
        and bool(lines)
        and lines[-1].number == number - 1
        and not lines[-1].is_item
        and not lines[-1].text.startswith("|")
    )


def _valued(part: Part) -> Part:
    """`## Status: accepted` as a heading and what stands below it."""
    name, colon, value = part.title.partition(":")
    if part.key or not colon or not value.strip() or KEYS.get(name.strip().lower()) != "status":
        return part
    first = Line(part.line, 0, value.strip(), False)
    return part._replace(key="status", lines=[first, *part.lines])


def labelled(parts: Iterable[Part]) -> list[Part]:
    """The parts of one decision, with labels as parts of their own."""
    found: list[Part] = []
    around: list[tuple[int, str]] = []
    top = -1
    for part in parts:
        top = part.level if top < 0 else top
        while around and around[-1][0] >= part.level:
            around.pop()
        under = next((key for _, key in reversed(around) if key), "")
        around.append((part.level, part.key))
        is_header = part.level <= max(top, 1) or (part.key not in CONTENTS and part.key != "")
        found += _split(part._replace(under=under), is_header)
    return found


def _split(part: Part, is_header: bool) -> Iterator[Part]:
    """A headed part without its labels, and a part for each of them."""
    own = part._replace(lines=[])
    labels: list[Part] = []
    current: Part | None = None
    first = Line(0, 0, "", False)
    for line in part.lines:
        values = list(_labels(line, part, is_header))
        if values:
            labels += values
            current, first = values[-1], line
        elif current is not None and _goes_on(current, first, line):
            current.lines.append(line)
        else:
            current = None
            own.lines.append(line)
    yield own
    yield from labels


def _labels(line: Line, part: Part, is_header: bool) -> Iterator[Part]:
    """The labels that a line begins with, each with what it says there."""
    for name, value in _pairs(line.text):
        key = key_of(name)
        if not key or (key == "scope" and not is_header):
            continue
        is_strong = line.text[0] in "*_"
        if key in CONTENTS:
            # `Note: …` in a paragraph is a part of it.
            is_plain = name in _PLAIN and is_header
            is_label = is_strong or is_plain or (line.is_item and is_header)
        else:
            is_label = is_header or (is_strong and key in _ANYWHERE and part.place != "options")
        if is_label:
            lines = [line._replace(text=value)] if value else []
            yield Part(key, name, LABEL, line.number, lines, part.place)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """What a line gives names to: `Status: x`, `**Date:** x · **Status:** y`, `| Status | x |`."""
    if text.startswith("|"):
        cells = [cell.strip() for cell in _CELLS.split(text[1:].rstrip("|"), maxsplit=20)]
        if len(cells) >= 2 and cells[0]:
            yield cells[0], cells[1]
        return
    strong = list(_STRONG.finditer(text)) if text[0] in "*_" else []
    if strong and strong[0].start() == 0:
        strong = [strong[0], *(each for each in strong[1:] if key_of(each[1]))]
        ends = [each.start() for each in strong[1:]] + [len(text)]
        for each, end in zip(strong, ends, strict=True):
            yield each[1], text[each.end() : end].strip(" ·|,;")
        return
    if dotted := _DOTTED.match(text):
        yield dotted[1], text[dotted.end() :]
        return
    plain = text[:64].replace("*", "").replace("__", "").lstrip("_")
    found = _LABEL.match(plain)
    if found:
        after = text.find(":" if ":" in found[0] else "：") + 1
        yield found[1], text[after:].strip(" *_")


def _goes_on(label: Part, first: Line, line: Line) -> bool:
    """Whether a line is still said behind a label."""
    if label.key in CONTENTS:
        is_next = first.is_item and line.is_item and line.indent <= first.indent
        return not (is_next or (first.is_item and not line.is_item and line.indent < 1))
    if line.is_item and first.is_item:
        return line.indent > first.indent
    if line.is_item:
        # A list belongs to a label that says nothing itself.
        return all(each.number != label.line for each in label.lines)
    last = label.lines[-1] if label.lines else first
    return line.number == last.number + 1 and _ANY_LABEL.match(line.text) is None


def chunks(lines: Iterable[Line]) -> Iterator[Chunk]:
    """Paragraphs and list items, without the rows of tables."""
    waiting: list[Line] = []
    for line in lines:
        if line.text.startswith("|"):
            continue
        if waiting and (line.is_item or line.number != waiting[-1].number + 1):
            yield _joined(waiting)
            waiting = []
        waiting.append(line)
    if waiting:
        yield _joined(waiting)


def _joined(lines: list[Line]) -> Chunk:
    return Chunk(lines[0].number, " ".join(each.text for each in lines), lines[0].is_item)
