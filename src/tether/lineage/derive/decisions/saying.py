"""What the header of a decision says of other decisions and tasks.

Only structured lines are read here: a status, a label, an item of a list of links. The voice counts
(`supersedes` is not `superseded by`), what is denied or to come does not, and whom a verb is about
stands right behind it, in one list: what follows other words is only mentioned.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from tether.hints import Any, NamedTuple
from tether.lineage.derive.decisions import dates, model, places, prose

SUPERSEDES, SUPERSEDED = "supersedes", "superseded_by"
EXTENDS, EXTENDED = "extends", "extended_by"
RELATED, MOTIVATED = "references", "motivated_by"
# How a task stands to a decision that says this of it.
_SEEN_FROM_TASK = {
    SUPERSEDES: SUPERSEDED,
    SUPERSEDED: SUPERSEDES,
    EXTENDS: EXTENDED,
    EXTENDED: EXTENDS,
    MOTIVATED: "motivates",
    RELATED: "referenced_by",
}
_PART = (
    r"(?:[ ]\(?(?:in part|partially|partly|entirely|fully|wholly)\)?)?"
    r"(?:,?[ ]\(?(?:on[ ])?[0-9][0-9/-]{3,12}\)?,?)?"
)
_BY = rf"{_PART}[ ](?:by|with|in favou?r of)\b"
VERBS = (
    (SUPERSEDED, re.compile(
        rf"\b(?:super[sc]ee?ded|replaced|obsoleted|overridden|overruled|retired|deprecated|removed"
        rf"|reversed|withdrawn){_BY}|\bsuper[sc]eded[ ]?(?:→|->|=>|:[ ]?see|\(see|; see|, see|:)",
        re.IGNORECASE)),
    (SUPERSEDES, re.compile(
        r"\b(?:super[sc]edes|superseding|replaces|obsoletes|overrides|overrules)\b",
        re.IGNORECASE)),
    (EXTENDED, re.compile(
        rf"\b(?:amended|refined|extended|clarified|modified|revised|narrowed|expanded|updated"
        rf"|complemented){_BY}", re.IGNORECASE)),
    (EXTENDS, re.compile(
        r"\b(?:amends|refines|extends|clarifies|modifies|revises|narrows|expands"
        r"|builds on|builds upon|complements)\b", re.IGNORECASE)),
)  # fmt: skip
_NEGATED = re.compile(
    r"\b(?:not|never|isn't|doesn't|don't|may|might|could|can|will|would|should|to|until|unless|if"
    r"|when|once)(?:[ ](?:be|yet|been|is|it|this))?[ ]$",
    re.IGNORECASE,
)
_PARTLY = re.compile(r"\b(?:part|parts|partially|partly|portion|portions|some)\b", re.IGNORECASE)
# Before a verb these say nothing of what it is about; any other word is a part of the decision.
_WHOLE = frozenset(
    (
        "accepted", "approved", "adopted", "proposed", "draft", "deprecated", "superseded",
        "rejected", "implemented", "active", "archived", "retired", "obsolete", "historical",
        "replaced", "closed", "done", "note", "update", "updated", "status", "adr", "decision",
        "record", "this", "it",
        "the", "is", "was", "now", "has", "been", "fully", "entirely", "wholly", "and", "but",
        "then", "later", "since", "on", "by", "as", "of", "jan", "january", "feb", "february",
        "mar", "march", "apr", "april", "may", "jun", "june", "jul", "july", "aug", "august", "sep",
        "september", "oct", "october", "nov", "november", "dec", "december",
    )
)  # fmt: skip
# Between a name and a verb: the verb is about what is named.
_COPULAS = frozenset(("", "is", "was", "are", "has been", "is now"))
_ABOUT = frozenset(
    (
        "for", "regarding", "concerning", "except", "only", "where", "as", "in", "on",
    )
)  # fmt: skip
_JOINING = frozenset(
    (
        "and", "or", "plus", "also", "the", "adr", "adrs", "decision", "decisions", "record",
        "records", "see",
    )
)  # fmt: skip
_ID = (
    r"(?<![\w./#-])(?:[A-Z]{1,8}(?:-[A-Z]{1,6})?|[Aa]drs?|ADRs|[Dd]ecisions?|Dec)[- _]?[0-9]{1,5}"
    r"(?![\w]|-[0-9]|\.[0-9])"
)
ID = re.compile(_ID)
_TOKEN = re.compile(
    rf"(?P<id>{_ID})"
    r"|(?P<file>(?<![\w./-])[\w./-]{0,120}[0-9]{3,8}-[a-z][\w-]{1,120}(?:\.md)?)"
    r"|(?P<number>(?<![\w.#-])[0-9]{1,5}(?![\w-]|[.:][0-9]))"
    r"|(?P<word>[^\W\d_][\w'’-]{0,60})"
    r"|(?P<stop>[.;·|!?](?=\s|$)|·|;|\|)"
    r"|(?P<dash>[–—]|(?<=\s)-{1,2}(?=\s))"
    r"|(?P<open>\()|(?P<close>\))"
)
_AT = re.compile(r"[ ]?(?:\(|on |, |since |as of )[ ]?")
# `supersedes ADR-7 §3`, `ADR-7's queue`: not all of it.
_ONE_PART = re.compile(
    r"(?:['’]s\b|,?[ ]\(?(?:§|(?:sections?|points?|parts?|paragraphs?|items?|steps?|clauses?"
    r"|in its|in part|in one|in some)\b))",
    re.IGNORECASE,
)
_FAR = 8
_DIGITS = re.compile(r"[0-9]{1,5}")
_BLOB = re.compile(r"https?://[^/\s]{1,100}/[^\s#?]{1,200}?/(?:blob|tree)/[^/\s]{1,100}/")


class Place(NamedTuple):
    """Where something is said."""

    path: str
    line: int
    find: Any
    """`patterns.Finder.find`."""


class Sayings(NamedTuple):
    """What a value says: each name with what the decision is to it."""

    named: list[tuple[str, model.Named]]
    tasks: list[model.Mentioned]


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int
    thing: Any = None
    """Of a name: Named, or what the finder found."""


def read(value: str, place: Place, verb: str = "") -> Sayings:
    """The decisions and tasks that a value names, and how; `verb` is what its label says."""
    said = Sayings([], [])
    reader = _Reader(value, place, said, verb)
    for token in _tokens(value, place):
        reader.take(token)
    return said


class _Reader:
    """Goes through the tokens of one value."""

    def __init__(self, value: str, place: Place, said: Sayings, verb: str) -> None:
        self._value, self._place, self._said = value, place, said
        self._verb = verb
        self._has_label = bool(verb)
        self._is_partial = False
        self._count = 0
        """How many names the verb has."""
        self._gap = 0
        self._depth = 0
        self._clause = 0
        self._width = 0
        self._behind = 0
        """Where the last name ends."""
        self._last: tuple[list[Any], int] | None = None

    def take(self, token: _Token) -> None:
        kind = token.kind
        if kind in (SUPERSEDED, SUPERSEDES, EXTENDED, EXTENDS):
            self._begin(token)
        elif kind in ("named", "task"):
            self._name(token)
        elif kind == "number":
            self._number(token)
        elif kind == "stop":
            self._end()
            self._clause = token.end
        elif kind == "dash" and self._count:
            self._end()
        elif kind == "open":
            self._depth += 1
        elif kind == "close":
            self._depth = max(0, self._depth - 1)
        elif kind == "word":
            self._word(token.text.lower())

    def _begin(self, token: _Token) -> None:
        before = self._value[max(self._clause, token.start - 200) : token.start]
        gap = self._value[self._behind : token.start].strip().lower() if self._behind else None
        if _NEGATED.search(before[-40:]) or gap in _COPULAS:
            self._end()
            return
        words = re.findall(r"[a-z]+", prose.linked(before).lower())
        subject = [each for each in words if each not in _WHOLE]
        around = f"{before} {token.text}"
        self._is_partial = _PARTLY.search(around) is not None or bool(subject)
        self._verb, self._count, self._gap = token.kind, 0, 0

    def _end(self) -> None:
        self._verb, self._count, self._gap, self._is_partial = "", 0, 0, False

    def _word(self, word: str) -> None:
        if word in _JOINING:
            return
        if self._count and not self._depth:
            if word in _ABOUT and self._last is not None:
                self._mark_partial(word)
            self._end()
        elif not self._count:
            self._gap += 1
            if self._gap > _FAR and self._verb != RELATED:
                self._end()

    def _mark_partial(self, word: str) -> None:
        """`superseded by ADR-7 for the queue`: not all of it was."""
        things, place = self._last or ([], 0)
        if word in ("in", "on", "as") or not things:
            return
        item = things[place]
        if isinstance(item, model.Mentioned):
            things[place] = item._replace(is_partial=True)
        else:
            things[place] = (item[0], item[1]._replace(is_partial=True))

    def _name(self, token: _Token) -> None:
        is_inside = self._depth > 0 and self._count > 0
        verb = self._verb if self._verb and not is_inside else RELATED
        line = self._place.line
        if token.kind == "task":
            found = token.thing
            seen = _SEEN_FROM_TASK[verb]
            self._said.tasks.append(
                model.Mentioned(found.source, found.id, line, seen, self._is_partial)
            )
            self._last = (self._said.tasks, len(self._said.tasks) - 1)
        else:
            at = _day_behind(self._value, token.end) if verb != RELATED else ""
            is_partial = self._is_partial or _ONE_PART.match(self._value, token.end) is not None
            named = token.thing._replace(at=at, is_partial=is_partial and verb != RELATED)
            self._said.named.append((verb, named))
            self._last = (self._said.named, len(self._said.named) - 1)
        if verb == self._verb and not is_inside:
            self._count += 1
        self._behind = token.end
        digits = _DIGITS.search(token.text[::-1])
        self._width = len(digits[0]) if digits else 0

    def _number(self, token: _Token) -> None:
        """A bare number: the next one of a list, or one that begins with a zero."""
        if not self._verb or (self._depth and self._count):
            return
        is_next = self._count > 0 and len(token.text) == self._width
        is_whole = self._has_label and not self._value.strip("0123456789,; []")
        if is_next or is_whole or (token.text[0] == "0" and len(token.text) > 2):
            named = model.Named(token.text, line=self._place.line)
            self._name(token._replace(kind="named", thing=named))


def _tokens(value: str, place: Place) -> list[_Token]:
    """Verbs, names and what holds them together, in the order in which they stand there."""
    taken: list[_Token] = []
    for each in place.find(value):
        end = each.start + len(each.id)
        taken.append(_Token("task", each.id, each.start, end, each))
    taken += _links(value, place, taken)
    for kind, pattern in VERBS:
        taken += [_Token(kind, m[0], m.start(), m.end()) for m in pattern.finditer(value)]
    taken.sort(key=lambda each: (each.start, -each.end))
    return list(_between(value, place, taken))


def _links(value: str, place: Place, tasks: list[_Token]) -> Iterator[_Token]:
    inside = {each.start for each in tasks}
    for match in prose.LINK.finditer(value):
        path, anchor = target(place.path, match[2])
        is_task = any(at in inside for at in range(match.start(1), match.end(1)))
        if is_task and not places.is_decision_file(path):
            continue  # the task that it shows is what is meant
        if path or anchor:
            named = model.Named(match[1], path, anchor, place.line)
            yield _Token("named", match[1], match.start(), match.end(), named)
        else:
            yield _Token("skip", match[0], match.start(), match.end())


def _between(value: str, place: Place, taken: list[_Token]) -> Iterator[_Token]:
    """The tokens that were taken, without those inside others, and what stands between them."""
    at = 0
    for each in [*taken, _Token("skip", "", len(value), len(value))]:
        if each.start < at:
            continue
        for match in _TOKEN.finditer(value, at, each.start):
            yield _plain(match, place)
        if each.kind != "skip":
            yield each
        at = each.end


def _plain(match: re.Match[str], place: Place) -> _Token:
    kind = match.lastgroup or ""
    if kind in ("id", "file"):
        path = target(place.path, match[0])[0] if "/" in match[0] else ""
        named = model.Named(match[0], path, line=place.line)
        return _Token("named", match[0], match.start(), match.end(), named)
    return _Token(kind, match[0], match.start(), match.end())


def target(path: str, link: str) -> tuple[str, str]:
    """The file in the repository that a link in a file leads to, and the heading; empty if none."""
    local = _BLOB.sub("/", link, count=1)
    file, _, anchor = local.partition("#")
    if "://" in file or file.startswith(("mailto:", "//")):
        return "", ""
    if not file:
        return (path, anchor) if anchor else ("", "")
    file = file.partition("?")[0].replace("%20", " ")
    folder = "" if file.startswith("/") else posixpath.dirname(path)
    whole = posixpath.normpath(posixpath.join(folder, file.lstrip("/")))
    return ("", "") if whole.startswith("..") or whole == "." else (whole, anchor)


def _day_behind(value: str, end: int) -> str:
    """The day that stands right behind a name: `ADR-7 (2026-05-14)`."""
    found = _AT.match(value, end)
    return dates.at_begin(value[found.end() : found.end() + 24]) if found else ""


def ids_in(value: str, place: Place, prefix: str) -> Iterator[model.Named]:
    """Other decisions that a text names in passing: by their ids, or with links to their files."""
    tasks = {each.start: each for each in place.find(value)}
    for match in prose.LINK.finditer(value):
        path, anchor = target(place.path, match[2])
        is_inside = path == place.path and bool(anchor)
        if is_inside or (path and places.is_decision_file(path)):
            yield model.Named(match[1], path, anchor, place.line)
    known = ("ADR", "DECISION", "DEC", prefix.upper() or "ADR")
    for match in ID.finditer(value):
        letters = match[0].rstrip("0123456789").rstrip("- _").upper()
        is_known = letters in known or letters.removesuffix("S") in known
        if is_known and match.start() not in tasks:
            yield model.Named(match[0], line=place.line)
