"""Where a text is its author's own word: everything else is blanked, and all places stay. Pure.

Code, quotes, addresses, paths, comments and struck text are not what the author says. What the
words mean is not known here. Every search is bounded, so the time is in proportion to the text.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Sequence

FILL = "\0"
"""Stands for each character that is not the author's word."""
ITEM = re.compile(
    r"[ \t]{0,40}(?:[-*+•]|[0-9]{1,4}[.)])[ \t]{1,20}(?:\[[ xX~-]\][ \t]{1,20})?(?=[^ \t])"
)
"""Where an item of a list begins."""

Span = tuple[int, int]

_FENCE = re.compile(r"(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]{1,20})?(`{3,}|~{3,})([^\n]*)")
_TICKS = re.compile(r"`+")
_QUOTE = re.compile("[\"“«'‘]")
_APOSTROPHE_ENDS = re.compile(r"['’](?![^\W_])")
_CLOSES = {'"': '"', "“": "”", "«": "»"}
_WORD = re.compile(r"\S+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://")
_EXTENSION = re.compile(r"\.[a-z][a-z0-9]{0,5}$")
_VISIBLE = re.compile(r"[^\r\n]")
_INDENTED = re.compile(r" {4}| {0,3}\t")
_MAX_QUOTE = 300
_MAX_CODE = 1000
_MAX_LINK = 500
_MAX_COMMENT = 20_000


def blank(text: str, ids: Sequence[Span]) -> str:
    """The text, as long as it was, with only what its author states in plain words.

    An id alone in backticks is written so for its looks, and stays.
    """
    text = _filled(text, _blocks(text))
    text = _filled(text, _between(text, "<!--", "-->", _MAX_COMMENT))
    text = _filled(text, _targets(text), " ")
    text = _filled(text, _code(text, ids))
    struck = _between(text, "~~", "~~", _MAX_QUOTE)
    text = _filled(text, (each for each in struck if _is_one_piece(text, *each, _MAX_QUOTE)))
    quoted, reverted = _quotes(text, ids)
    text = _filled(_filled(text, quoted), reverted, " ")
    return _filled(text, _paths(text, ids))


def _filled(text: str, spans: Iterable[Span], fill: str = FILL) -> str:
    """The text without what stands in spans, which are in order and do not meet."""
    parts = []
    at = 0
    for start, end in spans:
        parts += [text[at:start], _VISIBLE.sub(fill, text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def lines(text: str) -> Iterator[Span]:
    """Where each line begins and ends."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _blocks(text: str) -> Iterator[Span]:
    """Lines of code, and lines that quote somebody else."""
    fence = ""
    is_list = is_code = False
    was_blank = True
    for start, end in lines(text):
        line = text[start:end]
        bare = line.strip()
        is_indented = bool(bare) and _INDENTED.match(line) is not None
        is_code = is_indented and not is_list and (was_blank or is_code)
        opened = None if fence else _FENCE.match(bare)
        if fence:
            yield start, end
            fence = "" if bare.startswith(fence) and not bare.strip(fence[0]) else fence
        elif opened and not (opened[1][0] == "`" and "`" in opened[2]):
            yield start, end
            fence = opened[1]
        elif is_code or bare.startswith(">"):
            yield start, end
        elif bare and not line[0].isspace():
            is_list = ITEM.match(line) is not None
        was_blank = not bare


def _between(text: str, opening: str, closing: str, longest: int) -> Iterator[Span]:
    at = text.find(opening)
    end = 0
    while at >= 0:
        behind = at + len(opening)
        end = text.find(closing, behind) if end < behind else end
        if end < 0:
            return
        if end - at < longest:
            behind = end + len(closing)
            yield at, behind
        at = text.find(opening, behind)


def _targets(text: str) -> Iterator[Span]:
    """Where links lead: behind the text that they show."""
    at = text.find("](")
    while at >= 0:
        end = text.find(")", at, at + _MAX_LINK)
        if end >= 0 and "\n" not in text[at:end]:
            yield at + 1, end + 1
        at = text.find("](", at + 2 if end < 0 else max(end, at + 2))


def _code(text: str, ids: Sequence[Span]) -> Iterator[Span]:
    """Spans between backticks, as many behind as before."""
    runs = [match.span() for match in _TICKS.finditer(text)]
    following: dict[int, int] = {}
    partner = [0] * len(runs)
    for number in range(len(runs) - 1, -1, -1):
        length = runs[number][1] - runs[number][0]
        partner[number] = following.get(length, 0)
        following[length] = number
    known = set(ids)
    number = 0
    while number < len(runs):
        end = partner[number]
        inner = (runs[number][1], runs[end][0])
        if not end or not _is_one_piece(text, *inner, _MAX_CODE):
            number += 1
            continue
        if _trimmed(text, *inner) not in known:
            yield runs[number][0], runs[end][1]
        number = end + 1


def _is_one_piece(text: str, start: int, end: int, longest: int) -> bool:
    """Whether it stays in one paragraph, and on two lines."""
    if not start < end <= start + longest:
        return False
    _, newline, rest = text[start:end].partition("\n")
    return not newline or ("\n" not in rest and bool(rest.strip()) and not ITEM.match(rest))


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start] in " [(#":
        start += 1
    while start < end and text[end - 1] in " ])":
        end -= 1
    return start, end


def _quotes(text: str, ids: Sequence[Span]) -> tuple[list[Span], list[Span]]:
    """What is quoted; and what stands around the id in a title that Git says it reverts."""
    quoted: list[Span] = []
    reverted: list[Span] = []
    starts = [start for start, _ in ids]
    at = 0
    for match in _QUOTE.finditer(text):
        start = match.start()
        end = _quote_end(text, start) if start >= at else 0
        if not end or not _is_one_piece(text, start + 1, end, _MAX_QUOTE):
            continue
        at = end + 1
        inside = ids[bisect.bisect_left(starts, start) : bisect.bisect_left(starts, end)]
        head = _leading(text, start, inside)
        if head:
            reverted += [(start, head[0]), (head[1], end + 1)]
        elif not inside or any(character.isspace() for character in text[start:end]):
            quoted.append((start, end + 1))
    return quoted, reverted


def _quote_end(text: str, start: int) -> int:
    """Where a quote ends that begins here; 0 if none does."""
    mark = text[start]
    before = text[start - 1 : start]
    if text[start + 1 : start + 2].isspace() or before.isalnum():
        return 0
    limit = start + _MAX_QUOTE
    if mark in _CLOSES:
        return max(0, text.find(_CLOSES[mark], start + 1, limit))
    if before and not before.isspace() and before not in "([:—":
        return 0
    found = _APOSTROPHE_ENDS.search(text, start + 2, min(limit, len(text)))
    return found.start() if found else 0


def _leading(text: str, start: int, inside: Sequence[Span]) -> Span | None:
    """The id that leads a title after `Revert`, as Git writes it: `Revert "feat(H.3.2): …"`."""
    begin = text.rfind("\n", max(0, start - 8), start) + 1
    if not inside or text[max(begin, start - 8) : start] != "Revert ":
        return None
    if begin == 0 and start != 7:
        return None
    prefix = text[start + 1 : inside[0][0]]
    return inside[0] if not prefix or (prefix[-1] in "[(" and " " not in prefix) else None


def _paths(text: str, ids: Sequence[Span]) -> Iterator[Span]:
    """Addresses and paths. `feature/PROJ-12-retry` is a branch, and `PROJ-12/PROJ-13` are two."""
    starts = [start for start, _ in ids]
    for match in _WORD.finditer(text):
        word = match[0]
        if "/" not in word and "." not in word:
            continue
        scheme = _SCHEME.search(word)
        bare = word.rstrip(").,;:!?\"'*_]>")
        lead = len(bare) - len(bare.lstrip("([<\"'*_"))
        span = (match.start() + (scheme.start() if scheme else lead), match.start() + len(bare))
        low, high = (bisect.bisect_left(starts, each) for each in span)
        if scheme or _is_path(text, span, ids[low:high]):
            yield span


def _is_path(text: str, span: Span, inside: Sequence[Span]) -> bool:
    start, end = span
    last = text.rfind("/", start, end) + 1
    # What ends like an id is one: `H.3.2`, and no file with the extension `2`.
    has_extension = _EXTENSION.search(text, max(last, start, end - 8), end) is not None
    if last <= 0:
        return has_extension and (bool(inside) or end - start > 4)
    if has_extension or text[start] in "/~." or last == end:
        return True
    if not inside or "." in text[start : text.find("/", start)]:
        return bool(inside) and not _is_list(text, span, inside)
    return inside[-1][0] != last and not _is_list(text, span, inside)


def _is_list(text: str, span: Span, inside: Sequence[Span]) -> bool:
    return text.count("/", *span) == len(inside) - 1
