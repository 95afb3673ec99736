"""From a file's bytes to its outline, by a grammar and a query.

This runs in a process of its own (`parsing`): a grammar is native code that may hang or crash.
What a language has is said in its row and query (`grammars` has the words of a query); here is only
what they have in common. Of what the query matches there are only the places (`reading`): the rest
is read from the bytes, because every question to a node costs as much as parsing a line.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import accumulate

from tether.hints import TYPE_CHECKING, NamedTuple
from tether.lineage import grammars, languages, reading, symbols

if TYPE_CHECKING:
    from tether.lineage.reading import Parts

    Found = tuple[int, int, int, int, Parts]
    """Where it starts, where its body does, where it ends; its pattern, and what that has."""
    Mark = tuple[int, int, bool]
    """What may stand before a definition and belong to it, and whether it is an annotation."""

_CLASSES = frozenset(("class", "scope", "anonymous"))
_CLOSED = frozenset(("function", "method", "constant"))
# Nobody looks further for a comment, and nobody nests names deeper than that, only data.
_LONGEST_GAP = 1000
_LONGEST_NAMES = 500
_NOTHING = (b"", b";")
# What may be called by a text, as tests are in JavaScript.
_QUOTED = frozenset(("class", "function"))
_QUOTES = "'\""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_INDENT = b" \t\r\f" + _BYTE_ORDER_MARK
_SEPARATOR = re.compile(r"::|\\")


class _Open(NamedTuple):
    """A definition or scope that has not ended yet."""

    start: int
    end: int
    role: str
    names: str
    number: int
    """Of the innermost symbol here."""


class _Gathered:
    """What the query found, by what it is."""

    def __init__(
        self, grammar: grammars.Grammar, source: bytes, matches: Iterable[reading.Match]
    ) -> None:
        self.grammar = grammar
        self.comments: list[symbols.Span] = []
        self.annotations: list[symbols.Span] = []
        self.wrappers: dict[int, tuple[int, symbols.Span]] = {}
        self.definitions: dict[symbols.Span, tuple[int, Parts]] = {}
        roles = grammar.roles
        for pattern, _, _, parts in matches:
            role = roles[pattern]
            if role == "comment":
                self.comments += parts["comment"]
            elif role == "annotation":
                self.annotations += parts["annotation"]
            elif role == "wrapper":
                self._wrap(parts, source)
            else:
                span = parts[role][0]
                known = self.definitions.get(span)
                if known is None or _is_better(pattern, parts, known):
                    self.definitions[span] = pattern, parts
        self.comments.sort()

    def _wrap(self, parts: Parts, source: bytes) -> None:
        start, end = parts["wrapped"][0]
        first, last = parts["wrapper"][0]
        if first < start:
            is_last = source[end:last].strip() in _NOTHING
            self.wrappers[start] = end, (first, last if is_last else end)

    def placed(self) -> list[Found]:
        """The definitions and scopes, with what is wrapped around them, in their order."""
        roles, wrappers = self.grammar.roles, self.wrappers
        placed = []
        for (start, end), (pattern, parts) in self.definitions.items():
            if roles[pattern] == "omitted":
                continue
            first, last = start, end
            while first in wrappers:
                wrapped_end, around = wrappers[first]
                first, last = around[0], around[1] if last == wrapped_end else last
            body = parts["body"][0][0] if "body" in parts else last
            placed.append((first, body, last, pattern, parts))
        placed.sort(key=lambda each: (each[0], -each[2]))
        return placed

    def marks(self) -> list[Mark]:
        """Comments and annotations by their places, without those inside of others."""
        marks = [(start, end, False) for start, end in self.comments]
        if not self.annotations:
            return marks
        marks += [(start, end, True) for start, end in self.annotations]
        marks.sort()
        reached = accumulate((end for _, end, _ in marks), max, initial=0)
        return [mark for mark, before in zip(marks, reached, strict=False) if mark[0] >= before]


def extract(
    language: languages.Language, source: bytes, read: reading.Reading | None = None
) -> symbols.Outline:
    """Every symbol of a file; of broken code, what can be made out. It may be read already."""
    grammar = grammars.load(language)
    read = read or reading.read(language, source)
    gathered = _Gathered(grammar, source, read.matches)
    placed = gathered.placed()
    if any(grammar.levels):
        placed = _extended(placed, grammar.levels, len(source))
    page = _Page(grammar, source, gathered.marks())
    return symbols.Outline(tuple(page.read(placed)), tuple(gathered.comments), read.is_broken)


def _is_better(pattern: int, parts: Parts, than: tuple[int, Parts]) -> bool:
    return pattern < than[0] or (pattern == than[0] and len(parts) > len(than[1]))


def _extended(placed: list[Found], levels: tuple[str | None, ...], end: int) -> list[Found]:
    """The same, where what has a level goes on to the next of its level or a lower one."""
    following = [("", end)]
    extended = []
    for start, body, own_end, pattern, parts in reversed(placed):
        last, level = own_end, levels[pattern]
        if level is not None:
            while following[-1][0] > level:
                following.pop()
            last = following[-1][1]
            following.append((level, start))
        extended.append((start, body, last, pattern, parts))
    return extended[::-1]


class _Page:
    """A file that is read from its beginning to its end."""

    def __init__(self, grammar: grammars.Grammar, source: bytes, marks: list[Mark]) -> None:
        self.grammar = grammar
        self.source = source
        self.marks = marks
        self.at = 0
        """How many marks start before the definition that is read."""
        self.line_ends = list(accumulate(map(len, BytesIO(source))))
        self.seen: dict[tuple[str, str, str, str], int] = {}

    def read(self, placed: Iterable[Found]) -> Iterator[symbols.Symbol]:
        """The symbols with what they stand in."""
        around = [_Open(0, len(self.source) + 1, "", "", -1)]
        number = 0
        for each in placed:
            start, _, end, pattern, parts = each
            floor = 0
            while around[-1].end <= start:
                floor = around.pop().end
            within = around[-1]
            role = self.grammar.roles[pattern]
            name = self._name(role, pattern, parts)
            container = (
                self._container(parts, within.names) if "receiver" in parts else within.names
            )
            names = f"{container}.{name}" if container and name else container or name
            if len(names) > _LONGEST_NAMES:
                names = container
            if role in grammars.SCOPES or not name:
                around.append(_Open(start, end, role, names, within.number))
            elif role != "constant" or within.role not in _CLOSED:
                if role == "function" and (within.role in _CLASSES or "receiver" in parts):
                    role = "method"
                around.append(_Open(start, end, role, names, number))
                for one in (name, *map(self._words, parts.get("also", ()))):
                    yield self._symbol(each, (role, container, one), within, floor)
                    number += 1

    def _symbol(
        self, found: Found, identity: tuple[str, str, str], within: _Open, floor: int
    ) -> symbols.Symbol:
        start, body, end, _, parts = found
        kind, container, name = identity
        head = start
        documentation: tuple[symbols.Span, ...] = ()
        annotations: tuple[symbols.Span, ...] = ()
        if self.marks:
            limit = parts["name"][0][0] if "name" in parts else body
            start, head, own = self._leading(start, limit, max(floor, within.start))
            if own:
                documentation = tuple([each[:2] for each in own if not each[2] and each[0] < head])
                annotations = tuple([each[:2] for each in own if each[2]])
        if "documentation" in parts:
            documentation += tuple(parts["documentation"])
        signature = self._signature(parts["parameters"][0]) if "parameters" in parts else ""
        key = kind, container, name, signature
        ordinal = self.seen[key] = self.seen.get(key, 0) + 1
        ends = self.line_ends
        return symbols.Symbol(
            kind,  # type: ignore[arg-type]  # other roles do not come here
            name,
            container,
            signature,
            ordinal,
            within.number,
            start,
            head,
            max(body, head),
            end,
            bisect_right(ends, start) + 1,
            bisect_right(ends, head) + 1,
            bisect_right(ends, max(end - 1, start)) + 1,
            documentation,
            annotations,
        )

    def _leading(self, start: int, limit: int, floor: int) -> tuple[int, int, list[Mark]]:
        """Where a definition and its declaration begin, and the marks that belong to it."""
        marks = self.marks
        while self.at < len(marks) and marks[self.at][0] < start:
            self.at += 1
        first = last = self.at
        begin = head = start
        while first and self._leads(first - 1, begin, floor):
            first -= 1
            begin = marks[first][0]
        while last < len(marks) and marks[last][0] < limit:
            if marks[last][0] == head:
                rest = self.source[marks[last][1] : limit]
                head = limit - len(rest.lstrip())
            last += 1
        return begin, head, marks[first:last]

    def _leads(self, number: int, start: int, floor: int) -> bool:
        """Whether a comment or annotation is about what starts there."""
        first, last, is_annotation = self.marks[number]
        if first < floor or start - last > _LONGEST_GAP or self._is_shebang(first):
            return False
        between = self.source[last:start]
        if between.strip():
            return False
        # Some grammars count the end of the line to a comment.
        lines = between.count(b"\n") + self.source.endswith(b"\n", first, last)
        if is_annotation or not lines:
            return True
        return lines == 1 and not self._ends_a_line_of_code(number)

    def _is_shebang(self, start: int) -> bool:
        """Whether a comment says what runs the file: that is about all of it."""
        return start <= len(_BYTE_ORDER_MARK) and self.source.startswith(b"#!", start)

    def _ends_a_line_of_code(self, number: int) -> bool:
        """Whether a comment stands behind something else than an annotation."""
        start = self.marks[number][0]
        begin = self.source.rfind(b"\n", 0, start) + 1
        if number and self.marks[number - 1][2]:
            begin = max(begin, self.marks[number - 1][1])
        return bool(self.source[begin:start].strip(_INDENT))

    def _name(self, role: str, pattern: int, parts: Parts) -> str:
        if "name" not in parts:
            return self.grammar.names[pattern] or ""
        name = self._words(parts["name"][-1])
        if role in _QUOTED and len(name) > 1 and name[0] in _QUOTES and name[0] == name[-1]:
            name = name[1:-1]
        if "as" in parts:
            return f"<{name} as {self._words(parts['as'][0])}>"
        if role == "anonymous":
            return f"<{name.partition('<')[0]}>"
        if role == "namespace":
            return _SEPARATOR.sub(".", name)
        return _without_closing(name) if role == "section" else name

    def _container(self, parts: Parts, names: str) -> str:
        """The names around it: of what it stands in, and of what it says that it belongs to."""
        owners = [self._words(each).partition("<")[0].rstrip() for each in parts["receiver"]]
        return _SEPARATOR.sub(".", ".".join([names, *owners] if names else owners))

    def _words(self, span: symbols.Span) -> str:
        start, end = span
        return " ".join(self.source[start:end].decode("utf-8", "replace").split())

    def _signature(self, span: symbols.Span) -> str:
        """The parameters, the same however they are laid out."""
        start, end = span
        text = self.source[start:end]
        if self.at < len(self.marks) and self.marks[self.at][0] < end:
            text = self._without_comments(start, end)
        words = " ".join(text.decode("utf-8", "replace").split())
        words = words.replace("( ", "(").replace(" )", ")").replace(" ,", ",")
        if words.endswith(",)"):
            words = f"{words[:-2]})"
        return words if words.startswith(("(", "[", "<")) else f"({words})"

    def _without_comments(self, start: int, end: int) -> bytes:
        kept = []
        number = bisect_left(self.marks, (start,), self.at)
        while number < len(self.marks) and self.marks[number][0] < end:
            first, last, is_annotation = self.marks[number]
            if not is_annotation:
                kept.append(self.source[start:first])
                start = last
            number += 1
        return b" ".join([*kept, self.source[start:end]])


def _without_closing(heading: str) -> str:
    """A heading without the marks that may stand at its end, too: `## Install ##`."""
    bare = heading.rstrip("#")
    return bare.rstrip() if bare != heading and (not bare or bare[-1].isspace()) else heading
