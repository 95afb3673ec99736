"""A function's body as it reads at a place where it is called: with arguments for parameters."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator

from tether.lineage import sources

_WORD = re.compile(rb"[\w$\x80-\xff]+")
_VARIABLE = re.compile(rb"(?<![\w$\x80-\xff.])[\w$\x80-\xff]+")
_OPENING = {b"(": b")", b"[": b"]", b"{": b"}"}
_BRACKET = re.compile(rb"[()\[\]{},]")
# Commas between the types of a type are not commas between parameters.
_GENERIC = re.compile(rb"<[^<>]*>")
_CONTINUING = (b".", b"?", b":", b"+", b"&&", b"||", b"=")
_CONTINUED = (b"=", b"+", b"&&", b"||", b"->", b",", b"\\", b" ?")
_IN_NAMES = bytes(byte for byte in range(256) if _WORD.match(bytes([byte])))
_LINK = re.compile(rb"\.\s*[\w$]+")
_SELF = frozenset((b"self", b"cls", b"this"))
_NEAR = 200
_FEW_CALLS = 4


def words(code: bytes) -> list[bytes]:
    return _WORD.findall(code)


def replaced(
    pairs: Iterable[tuple[sources.Source, int, sources.Source, int]],
) -> frozenset[tuple[str, str]]:
    """Names that stand where other names stood, in what is otherwise the same statement.

    Of functions before and after. Whoever renames something renames it where it is used.
    """
    found: set[tuple[str, str]] = set()
    for before, old, after, new in pairs:
        is_function = after.symbols[new].kind in ("function", "method")
        if is_function and before.body(old) != after.body(new):
            olds, news = statements(before.own_body(old)), statements(after.own_body(new))
            lost = {tuple(_WORD.findall(each)) for each in {*olds} - {*news}}
            gained = {tuple(_WORD.findall(each)) for each in {*news} - {*olds}}
            found |= _replaced(lost, gained)
    return frozenset(found)


def _replaced(lost: set[tuple[bytes, ...]], gained: set[tuple[bytes, ...]]) -> set[tuple[str, str]]:
    """The words in which statements differ that differ in one word only, wherever it stands."""
    by_rest: dict[tuple[tuple[bytes, ...], ...], set[bytes]] = {}
    for words in lost:
        for word in set(words):
            by_rest.setdefault(_around(words, word), set()).add(word)
    return {
        (old.decode(errors="replace"), word.decode(errors="replace"))
        for words in gained
        for word in set(words)
        for old in by_rest.get(_around(words, word), ())
    }


def _around(words: tuple[bytes, ...], word: bytes) -> tuple[tuple[bytes, ...], ...]:
    return tuple(() if each == word else (each,) for each in words)


def parameters(signature: bytes) -> list[bytes]:
    """The names of parameters, from how they are written in any of the languages."""
    inside = signature.strip()
    if inside.startswith(b"("):
        inside = inside[1:-1]
    while (bare := _GENERIC.sub(b"", inside)) != inside:
        inside = bare
    return [name for name in map(_name, split(inside)) if name and name not in _SELF]


def arguments(text: bytes, name: bytes) -> Iterator[list[bytes]]:
    """What a function is called with, for the first few calls of it in a text."""
    count = 0
    for found in _call(name).finditer(text):
        inside = _up_to_closing(text, found.end())
        if inside is not None:
            yield split(inside)
            count += 1
        if count == _FEW_CALLS:
            return


def around(text: bytes, name: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """What stands before a call, in its brackets and after it, for the first few calls.

    What it is called on belongs to the call. What is called on its result may, too: both are told.
    """
    for count, found in enumerate(_call(name).finditer(text)):
        inside = _up_to_closing(text, found.end())
        if inside is None or count == _FEW_CALLS:
            return
        end = found.end() + len(inside) + 1
        before = text[: _receiver(text, found.start())]
        yield before, inside, text[end:]
        if (last := _last_link(text, end)) > end:
            yield before, inside, text[last:]


def receivers(text: bytes, name: bytes) -> list[bytes]:
    """The names that each call of a function is made on: `b` for `a.b.name()`; empty for none."""
    starts = (each.start() for each in _call(name).finditer(text))
    return [_made_on(text[max(0, start - _NEAR) : start].rstrip()) for start in starts]


def _made_on(before: bytes) -> bytes:
    """The name that a call is made on, from what stands before it: `b` for `a.b().`."""
    sign = next((each for each in (b"::", b".") if before.endswith(each)), None)
    if sign is None:
        return b""
    before = before.removesuffix(sign).rstrip()
    if before.endswith(b")"):
        inside = before[before.rfind(b"(") + 1 : -1]
        if b")" in inside or len(inside) + 1 == len(before):
            return b""
        before = before[: -len(inside) - 2].rstrip()
    word = _WORD.match(before[::-1])
    return word[0][::-1] if word else b""


@functools.lru_cache(maxsize=256)
def _call(name: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w$])" + re.escape(name) + rb"\s*\(")


def _receiver(text: bytes, start: int) -> int:
    """Where the expression begins that something is called on: `a.b(c)` before `.name(`."""
    while (before := text[:start].rstrip()).endswith(b"."):
        before = before[:-1].rstrip()
        while before.endswith((b")", b"]")):
            opening = _opening(before)
            if opening is None:
                return start
            before = before[:opening].rstrip()
        start = len(before.rstrip(_IN_NAMES))
        if start == len(before):
            break
    made = text[:start].rstrip()
    return len(made) - 3 if made.endswith(b"new") else start


def _opening(text: bytes) -> int | None:
    """Where the bracket was opened that the last character closes."""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        if text[place] in b")]}":
            depth += 1
        elif text[place] in b"([{":
            depth -= 1
            if not depth:
                return place
    return None


def _last_link(text: bytes, end: int) -> int:
    """Where a chain of calls ends: `.b(c).d()`."""
    while found := _LINK.match(text, _after_blanks(text, end)):
        end = found.end()
        opening = _after_blanks(text, end)
        if text[opening : opening + 1] == b"(":
            inside = _up_to_closing(text, opening + 1)
            if inside is None:
                return end
            end = opening + len(inside) + 2
    return end


def _after_blanks(text: bytes, start: int) -> int:
    while text[start : start + 1].isspace():
        start += 1
    return start


def applied(body: bytes, names: list[bytes], values: list[bytes]) -> bytes:
    """A body with the names of parameters replaced, but not those of members: `this.name`."""
    known = {name: value for name, value in zip(names, values, strict=False) if name != value}
    if not known:
        return body
    return _VARIABLE.sub(lambda word: known.get(word[0], word[0]), body)


def split(text: bytes) -> list[bytes]:
    """The parts between the commas that are not inside of brackets."""
    parts, depth, begun = [], 0, 0
    for found in _BRACKET.finditer(text):
        mark = found[0]
        if mark in _OPENING:
            depth += 1
        elif mark != b",":
            depth -= 1
        elif depth == 0:
            parts.append(text[begun : found.start()].strip())
            begun = found.end()
    return [part for part in (*parts, text[begun:].strip()) if part]


def statements(code: bytes) -> list[bytes]:
    """The lines of some code, with what goes on over several lines on one."""
    found: list[bytes] = []
    depth = 0
    for line in map(bytes.strip, code.split(b"\n")):
        is_going_on = depth > 0 or line.startswith(_CONTINUING)
        if found and (is_going_on or _is_continued(found[-1])):
            found[-1] += b" " + line
        elif line:
            found.append(line)
        depth = max(0, depth + _depth(line))
    return found


def _is_continued(line: bytes) -> bool:
    return line.endswith(_CONTINUED) or (line.endswith(b":") and b"? " in line)


def _depth(line: bytes) -> int:
    opened = line.count(b"(") + line.count(b"[")
    return opened - line.count(b")") - line.count(b"]")


def _up_to_closing(text: bytes, start: int) -> bytes | None:
    depth = 1
    for found in _BRACKET.finditer(text, start):
        if found[0] in _OPENING:
            depth += 1
        elif found[0] != b",":
            depth -= 1
        if depth == 0:
            return text[start : found.start()]
    return None


def _name(parameter: bytes) -> bytes:
    """`int x`, `x: int = 3`, `x`, `final List<T> x`, `*x` and `x int` all mean x."""
    written = parameter.partition(b"=")[0]
    before, colon, _ = written.partition(b":")
    words = _WORD.findall(before if colon else written)
    return words[-1] if words else b""
