"""Edits of a task file that leave the rest of it as it is.

An edit is spliced into the lines where the text is plain, and made by ruamel.yaml otherwise. Either
way the result is read again and must say exactly what was meant; if not, nothing is written.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping

from tether import errors, text
from tether.hints import Any, NamedTuple
from tether.tasks import model, scalars
from tether.tasks.document import REMOVE, Document, read

_KEY = re.compile(
    r"""(?:([A-Za-z_][\w-]{0,99})|"([A-Za-z_][\w-]{0,99})"|'([A-Za-z_][\w-]{0,99})')"""
    r"""[ \t]{0,20}:(?=\s|$)"""
)
_ITEM = re.compile(r"( {0,99})-(?=[ \r\n]|$)")
# A value that stands on its key's line, and the comment behind it.
_VALUE = re.compile(
    r"""([ \t]*)("(?:[^"\\\r\n]|\\[^\r\n])*"|'(?:[^'\r\n]|'')*'|(?:[^\s"'#\[{&*!|>%@`]"""
    r"""(?:[^\s#]|[ \t]+(?!#|\s)|(?<=\S)\#)*)?)([ \t]*|[ \t]+\#[^\r\n]*)"""
)

_COMMENT = re.compile(r"(?:^|(?<=\s))(#[^\r\n]*)", re.MULTILINE)


def edit(document: Document, changes: Mapping[str, Any]) -> bytes:
    """The text with other fields, everything else as it was."""
    changes = {n: v if v is REMOVE else _storable(v) for n, v in changes.items()}
    wanted = {name: value for name, value in document.fields.items() if name not in changes}
    wanted |= {name: value for name, value in changes.items() if value is not REMOVE}
    for attempt in (_splice, _splice_anew, _round_trip):
        edited = attempt(document, changes)
        if edited is not None and _says(edited, wanted):
            return edited.encode()
    raise errors.TaskUneditable


def _says(content: str, wanted: dict[str, Any]) -> bool:
    found = read(content.encode("utf-8", "surrogatepass"))
    return not found.problem and _is_same(found.fields, wanted)


def _is_same(one: Any, other: Any) -> bool:
    """Equality for which a number that is none equals itself."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return bool(one == other) or (one != one and other != other)  # noqa: PLR0124 (NaN)


def _storable(value: Any) -> Any:
    """A value as every reader takes it."""
    if isinstance(value, str):
        return text.storable(value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {_storable(name): _storable(item) for name, item in value.items()}
    return value


# Splicing


class _Entry(NamedTuple):
    """The lines of one field at the top level, without what only stands behind it."""

    name: str
    start: int
    end: int


def _entries(lines: list[str]) -> list[_Entry] | None:
    """The top-level fields; None if the text has anything but plain fields at its margin."""
    entries: list[_Entry] = []
    start, name, last = -1, "", -1
    for number, line in enumerate(lines):
        bare = line.removeprefix("\ufeff") if number == 0 else line
        if not bare.strip() or bare.startswith("#"):
            continue
        is_inner = bare[0] in " \t" or (_ITEM.match(bare) and not bare.startswith("---"))
        if is_inner:
            if start < 0:
                return None
            last = number
            continue
        if start >= 0:
            entries.append(_Entry(name, start, last + 1))
            start = -1
        if bare.startswith(("---", "...", "%")):
            # Something may stand behind the marker.
            if bare.rstrip() not in ("---", "...") and not bare.startswith("%"):
                return None
            continue
        # What is no plain field is left as it is; the result is read again anyway.
        found = _KEY.match(bare)
        start, last = number, number
        name = (found[1] or found[2] or found[3]) if found else ""
    if start >= 0:
        entries.append(_Entry(name, start, last + 1))
    return entries


def _splice_anew(document: Document, changes: Mapping[str, Any]) -> str | None:
    """With nothing behind the last line: it may be of a text, which would get an end."""
    return _splice(document, changes, appends=False)


def _splice(document: Document, changes: Mapping[str, Any], *, appends: bool = True) -> str | None:
    lines = document.text.splitlines(keepends=True)
    if any("\r" in line[:-2] for line in lines):
        return None
    newline = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    for name, value in changes.items():
        entries = _entries(lines)
        if entries is None:
            return None
        here = next((entry for entry in entries if entry.name == name), None)
        if here is None:
            if value is not REMOVE:
                _insert(lines, entries, name, value, newline, appends=appends)
            continue
        old = document.fields.get(name) if appends else None
        lines[here.start : here.end] = _replaced(
            lines[here.start : here.end], here.name, old, value, newline
        )
    return "".join(lines)


def _insert(
    lines: list[str],
    entries: list[_Entry],
    name: str,
    value: Any,
    newline: str,
    *,
    appends: bool,
) -> None:
    """A new field behind those that come before it in the usual order."""
    order = {field: number for number, field in enumerate(model.FIELDS)}
    rank = order.get(name, len(order))
    before = [
        entry for entry in entries if order.get(entry.name, -1) < rank and entry.name in order
    ]
    at = before[-1].end if before else (entries[-1].end if entries else len(lines))
    if not appends and entries and at == len(lines):
        at = entries[-1].start
    if at and not lines[at - 1].endswith("\n"):
        lines[at - 1] += newline
    lines[at:at] = _lines(scalars.entry(name, value), newline)


def _replaced(block: list[str], name: str, old: Any, new: Any, newline: str) -> list[str]:
    """The lines of a field with another value, as like the old ones as can be."""
    if new is REMOVE:
        return []
    if isinstance(old, list) and old and isinstance(new, list) and new[: len(old)] == old:
        item = _ITEM.match(block[1]) if len(block) > 1 else None
        if item:
            if not block[-1].endswith("\n"):
                block[-1] += newline
            return [*block, *_lines(scalars.items(new[len(old) :], len(item[1])), newline)]
    head = _KEY.match(block[0].removeprefix("\ufeff"))
    if len(block) == 1 and head and not isinstance(new, (dict, list)):
        start = head.end() + len(block[0]) - len(block[0].removeprefix("\ufeff"))
        end = len(block[0].rstrip("\r\n"))
        value = _VALUE.fullmatch(block[0], start, end)
        if value and "\n" not in str(new):
            written = scalars.like(value[2], new)
            comment = value[3] if value[3].strip() else ""
            return [
                f"{block[0][:start]}{value[1] or ' '}{written}{comment}{block[0][end:] or newline}"
            ]
    first, *rest = _lines(scalars.entry(name, new), newline)
    mark = "\ufeff" if block[0].startswith("\ufeff") else ""
    return [mark + first, *rest]


def _lines(content: str, newline: str) -> list[str]:
    return content.replace("\n", newline).splitlines(keepends=True)


# Where splicing is not enough


def _round_trip(document: Document, changes: Mapping[str, Any]) -> str | None:
    import io
    import warnings

    import ruamel.yaml
    from ruamel.yaml.error import YAMLError

    editor = ruamel.yaml.YAML(typ="rt")
    editor.preserve_quotes = True
    editor.width = 4096
    editor.indent(mapping=2, sequence=4, offset=2)
    out = io.StringIO()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            comments = _comments(document.text, editor.compose(document.text), changes)
            fields = editor.load(document.text)
            for name, value in changes.items():
                if value is REMOVE:
                    fields.pop(name, None)
                else:
                    fields[name] = value
            editor.dump(fields, out)
    except (YAMLError, ValueError, TypeError, AttributeError, RecursionError):
        return None
    edited = out.getvalue()
    # ruamel.yaml drops those inside of [brackets].
    left = {found[1] for found in _COMMENT.finditer(edited)}
    return edited if left.issuperset(comments) else None


def _comments(content: str, fields: Any, changes: Mapping[str, Any]) -> list[str]:
    """The comments of a text, but for those of fields that are to change."""
    spans: list[tuple[int, int]] = []
    waiting = []
    for key, value in fields.value:
        if isinstance(key.value, str) and key.value in changes:
            line_end = content.find("\n", value.end_mark.index)
            spans.append((key.start_mark.index, line_end if line_end >= 0 else len(content)))
        else:
            waiting += [key, value]
    seen = set()
    for node in waiting:  # which grows
        if id(node) in seen:  # an anchor may stand for itself
            continue
        seen.add(id(node))
        if isinstance(node.value, str):
            spans.append((node.start_mark.index, node.end_mark.index))
        else:
            pairs = node.value if node.id == "mapping" else [node.value]
            waiting += [each for pair in pairs for each in pair]
    spans.sort()
    found = []
    for comment in _COMMENT.finditer(content):
        before = bisect.bisect_right(spans, (comment.start(1), len(content)))
        if not before or comment.start(1) >= spans[before - 1][1]:
            found.append(comment[1])
    return found
