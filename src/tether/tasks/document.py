"""The text of a task file, and what it says.

Read with ryaml, a fast parser of YAML 1.2 that refuses duplicate keys and alias bombs. What is
wrong with a text is a value here, with the line that it is about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tether import text
from tether.hints import Any, NamedTuple
from tether.tasks import model

MAX_BYTES = 256 * 1024
# Deeper than any task, even if the brackets in its texts are counted; ten thousand would keep the
# parser busy for seconds.
_MAX_DEPTH = 1000
# Seven, or eight where both sides of a merge renamed the file.
_CONFLICT = re.compile(r"^<{7,} ", re.MULTILINE)
REMOVE = object()
"""As a change of a field: it goes."""


class Document(NamedTuple):
    """A file's text and what it says; without fields and with a problem if it cannot be read."""

    text: str
    fields: dict[str, Any]
    problem: str = ""
    line: int = 0


def read(raw: bytes) -> Document:
    """What a file says."""
    try:
        content = raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = raw.count(b"\n", 0, problem.start) + 1
        return Document("", {}, "it is not UTF-8 text", line)
    if "<<<<<<<" in content and (marker := _CONFLICT.search(content)):
        line = _line(content, marker.start())
        return Document(content, {}, "it has the conflict markers of a merge", line)
    if _is_bomb(content):
        return Document(content, {}, "its aliases (`*name`) repeat too much")
    if _is_deep(content):
        return Document(content, {}, "it is nested too deeply")
    return _parsed(content)


def _parsed(content: str) -> Document:
    import ryaml

    try:
        fields = ryaml.loads(content.removeprefix("\ufeff"))
    except ValueError as problem:
        return Document(content, {}, *_explained(content, str(problem)))
    if fields is None:
        return Document(content, {}, "it is empty", 1)
    if not isinstance(fields, dict):
        return Document(content, {}, "it is not a list of fields (`name: value`)", 1)
    return Document(content, fields)


def compose(fields: Mapping[str, Any]) -> bytes:
    """The text of a new file."""
    known = [name for name in model.FIELDS if name in fields]
    names = [*known, *(name for name in fields if name not in known)]
    from tether.tasks import scalars

    return "".join(scalars.entry(name, fields[name]) for name in names).encode()


def _line(content: str, position: int) -> int:
    return content.count("\n", 0, position) + 1


def _is_bomb(content: str) -> bool:
    """Could its aliases, each in the worst place, make it larger than we would read?

    The parser's own limit counts jumps, not what they copy: ten kilobytes became gigabytes.
    """
    names = set(re.findall(r"&([^\s,\[\]{}]+)", content)) if "*" in content else set()
    uses = sum(1 for name in re.findall(r"\*([^\s,\[\]{}]+)", content) if name in names)
    return uses > 60 or len(content) * 3 ** (uses / 3) > 32 * 1024 * 1024


def _is_deep(content: str) -> bool:
    """More open brackets at once than any task has: parsers take long to refuse them."""
    if content.count("[") + content.count("{") <= _MAX_DEPTH:
        return False
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", content):
        depth = depth + 1 if bracket in "[{" else max(0, depth - 1)
        if depth > _MAX_DEPTH:
            return True
    return False


def _second_line(content: str, name: str, first: int, margin: int) -> int:
    """The line on which a field of the mapping that begins there is written again."""
    again = re.compile(rf"[ \t-]{{{margin}}}[\"']?{re.escape(name)}[\"']?[ \t]*:")
    lines = content.removeprefix("\ufeff").split("\n")
    found = [n for n in range(first, len(lines) + 1) if again.match(lines[n - 1])]
    return found[1] if len(found) > 1 else 0


def _explained(content: str, said: str) -> tuple[str, int]:
    """A parser's complaint as a reason, and the line that it is about."""
    if "more than one document" in said:
        second = re.search(r"(?<=\n)---[ \t]*(?=\r?\n|$)", content[3:])
        line = _line(content, second.start() + 3) if second else 0
        return "a second `---` begins another document", line
    twice = re.search(r'duplicate entry with key "([^"]*)"(?: at line (\d+) column (\d+))?', said)
    if twice:
        name, first, column = twice[1], int(twice[2] or 1), int(twice[3] or 1)
        line = _second_line(content, name, first, column - 1)
        return f"the field '{text.one_line(name, 40)}' is there twice", line
    if found := re.search(r"at position (\d+)", said):
        position = len(content.encode()[: int(found[1])].decode("utf-8", "replace"))
        return text.one_line(said[: found.start()], 120).rstrip(" ,"), _line(content, position)
    found = re.search(r"at line (\d+)", said)
    reason = re.sub(r" ?at line \d+ column \d+", "", said)
    return text.one_line(reason, 120).rstrip(" ,"), int(found[1]) if found else 0
