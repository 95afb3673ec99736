"""A function's body as it reads at a place where it is called: with arguments for parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORD = re.compile(rb"[\w$\x80-\xff]+")
_OPENING = {b"(": b")", b"[": b"]", b"{": b"}"}
_BRACKET = re.compile(rb"[()\[\]{},]")
_CONTINUING = (b".", b"?", b":", b"+", b"&&", b"||", b"=")
_SELF = frozenset((b"self", b"cls", b"this"))
_FEW_CALLS = 4


def parameters(signature: bytes) -> list[bytes]:
    """The names of parameters, from how they are written in any of the languages."""
    inside = signature.strip()
    if inside.startswith(b"("):
        inside = inside[1:-1]
    return [name for name in map(_name, split(inside)) if name and name not in _SELF]


def arguments(text: bytes, name: bytes) -> Iterator[list[bytes]]:
    """What a function is called with, for the first few calls of it in a text."""
    count = 0
    for found in re.finditer(rb"(?<![\w$])" + re.escape(name) + rb"\s*\(", text):
        inside = _up_to_closing(text, found.end())
        if inside is not None:
            yield split(inside)
            count += 1
        if count == _FEW_CALLS:
            return


def applied(body: bytes, names: list[bytes], values: list[bytes]) -> bytes:
    """A body with the names of parameters replaced."""
    known = {name: value for name, value in zip(names, values, strict=False) if name != value}
    if not known:
        return body
    return _WORD.sub(lambda word: known.get(word[0], word[0]), body)


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
        if found and (depth > 0 or line.startswith(_CONTINUING)):
            found[-1] += b" " + line
        elif line:
            found.append(line)
        depth = max(0, depth + _depth(line))
    return found


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
