"""Values as YAML text that every reader takes for the same.

A text is written bare only where YAML 1.1 and 1.2 agree that it is one: `no`, `12:30`, `010` and
times are in quotes. Several lines become a literal block.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from tether import text
from tether.hints import Any

_BARE = re.compile(r"[A-Za-z_/](?:[A-Za-z0-9 _./@+()-]{0,500}[A-Za-z0-9_./@+()])?")
# Words that some reader takes for something else than text.
_RESERVED = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"])


def entry(name: str, value: Any, indent: int = 0) -> str:
    """`name: value` and its line end, with the lines below it if it has any."""
    return " " * indent + f"{scalar(name)}:" + _behind(value, indent)


def items(values: Iterable[Any], indent: int) -> str:
    """The lines of a list's items."""
    return "".join(" " * indent + "-" + _item(value, indent) for value in values)


def scalar(value: Any) -> str:
    """A value on one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return json.dumps(value)
    content = text.storable(str(value))
    is_bare = _BARE.fullmatch(content) and content.lower() not in _RESERVED
    return content if is_bare else quoted(content)


def like(written: str, value: Any) -> str:
    """A value on one line, in quotes if what it replaces was."""
    content = scalar(value)
    if not isinstance(value, str):
        return content
    if written.startswith('"') and written != '""':
        return quoted(value)
    if written.startswith("'") and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return content


def quoted(value: str) -> str:
    """A text in double quotes, on one line."""
    escaped = json.dumps(text.storable(value), ensure_ascii=False)
    if escaped.isprintable():
        return escaped
    # What YAML does not print, and more than that: an escape is always right.
    return "".join(char if char.isprintable() else _escape(char) for char in escaped)


def _escape(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _behind(value: Any, indent: int) -> str:
    """What follows `name:`."""
    if isinstance(value, Mapping) and value:
        return "\n" + "".join(entry(str(k), v, indent + 2) for k, v in value.items())
    if isinstance(value, (list, tuple)) and value:
        return "\n" + items(value, indent + 2)
    if isinstance(value, (list, tuple, Mapping)):
        return " {}\n" if isinstance(value, Mapping) else " []\n"
    if isinstance(value, str) and (block := _block(value, indent + 2)):
        return f" {block}"
    return f" {scalar(value)}\n"


def _item(value: Any, indent: int) -> str:
    """What follows `-`."""
    if isinstance(value, Mapping) and value:
        inner = "".join(entry(str(k), v, indent + 2) for k, v in value.items())
        return " " + inner[indent + 2 :]
    if isinstance(value, (list, tuple)) and value:
        inner = items(value, indent + 2)
        return " " + inner[indent + 2 :]
    return _behind(value, indent)


def _block(value: str, indent: int) -> str:
    """A text of several lines as a literal block; empty if it cannot be one."""
    body = value.rstrip("\n")
    if "\n" not in value or not body or body[0] in " \n" or not _is_plain(value):
        return ""
    ends = len(value) - len(body)
    if ends > 1:
        # Blank lines that count would be lost on whoever writes a field behind them.
        return ""
    lines = [" " * indent + line if line else "" for line in body.split("\n")]
    return f"|{'' if ends else '-'}\n" + "\n".join(lines) + "\n"


def _is_plain(value: str) -> bool:
    """Lines that every reader prints as they are."""
    return value.replace("\n", "").isprintable()
