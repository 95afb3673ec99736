"""On which lines the keys and the entries of lists stand in a YAML text. Pure.

The parser is fast and does not tell. Within a list whose entries begin in one column, only they
have a dash in it: what is inside them, text too, stands further in. A list on one line, or another
number of entries than the parser found, has no positions, and errors name the line above it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_KEY = re.compile(r"[\"']?([A-Za-z_-]{1,40})[\"']?[ \t]{0,4}:(?:[ \t]|$)")


def split(content: str) -> list[str]:
    return content.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")


def keys(lines: Sequence[str], first: int, last: int, margin: int) -> dict[str, int]:
    """The lines on which the keys of the mapping at this margin stand, by their usual form."""
    found: dict[str, int] = {}
    for number in range(first, last + 1):
        line = lines[number - 1]
        match = _KEY.match(line, margin) if column(line) == margin else None
        if match:
            found.setdefault(usual(match[1]), number)
    return found


def usual(key: str) -> str:
    """A key as most people write it: `Blocked-By` is `blocked_by`."""
    return key.replace("-", "_").lower()


def entries(lines: Sequence[str], above: int, last: int, expected: int) -> list[int]:
    """The lines on which the entries of the list under a key begin; all 0 if they cannot be told.

    `last` is the last line that may belong to it.
    """
    found: list[int] = []
    dash = -1
    for number in range(above + 1, last + 1) if above else ():
        line = lines[number - 1]
        indent = len(line) - len(line.lstrip(" "))
        bare = line[indent:]
        if not bare or bare[0] == "#":
            continue
        is_entry = bare[0] == "-" and bare[1:2] in ("", " ")
        dash = indent if dash < 0 and is_entry else dash
        if indent < dash or dash < 0 or (indent == dash and not is_entry):
            break
        if indent == dash:
            found.append(number)
    return found if len(found) == expected else [0] * expected


def column(line: str) -> int:
    """Where the first key stands, behind the dashes of lists."""
    bare = line.lstrip(" ")
    while bare.startswith("- "):
        bare = bare[2:].lstrip(" ")
    return len(line) - len(bare)
