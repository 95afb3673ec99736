"""Files with one JSON object a line, which may be packed with gzip, read field by field."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterator

from tether import clock, errors
from tether.git import Oid
from tether.hints import Any, NamedTuple

_MAX_LINE_BYTES = 1 << 24


class Line(NamedTuple):
    """One line of a file; what is wrong with it is said with its number."""

    path: str
    number: int
    row: dict[str, Any]
    hint: str

    def wrong(self, what: str) -> errors.FileError:
        where = f"Line {self.number} of {os.path.basename(self.path)}"
        return errors.FileError(f"{where} {what}. Nothing was measured.", hint=self.hint)

    def text(self, field: str) -> str:
        value = self.row.get(field)
        if not isinstance(value, str) or not value:
            raise self.wrong(f"has no `{field}`")
        return value

    def perhaps(self, field: str) -> str:
        value = self.row.get(field)
        if value is not None and not isinstance(value, str):
            raise self.wrong(f"has a `{field}` that is no text")
        return value or ""

    def line_number(self, field: str) -> int:
        value = self.row.get(field)
        if type(value) is not int or value < 1:
            raise self.wrong(f"has no `{field}` that is a number of a line")
        return value

    def time(self, field: str) -> int:
        try:
            return clock.parse(self.text(field))
        except ValueError:
            raise self.wrong(f"has a time in `{field}` that is none") from None

    def oid(self, field: str) -> Oid:
        value = self.text(field)
        if not Oid.is_valid(value):
            raise self.wrong(f"has a `{field}` that is no commit")
        return Oid(value)


def read(path: str, hint: str) -> Iterator[Line]:
    """The lines of a file that say something; the hint is for whoever gave it."""
    try:
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
            for number, raw in enumerate(iter(lambda: file.readline(_MAX_LINE_BYTES), b""), 1):
                if raw.strip():
                    yield _line(path, number, raw, hint)
    except (OSError, EOFError, zlib.error) as problem:
        why = (isinstance(problem, OSError) and problem.strerror) or "it is damaged"
        raise errors.FileError(
            f"{os.path.basename(path)} cannot be read: {why}. Nothing was measured.",
            hint="Name files that are there, as they are or packed with gzip (.gz).",
        ) from problem


def _line(path: str, number: int, raw: bytes, hint: str) -> Line:
    try:
        row = json.loads(raw)
    except (ValueError, RecursionError):
        raise Line(path, number, {}, hint).wrong("is not JSON") from None
    if not isinstance(row, dict):
        raise Line(path, number, {}, hint).wrong("is not a JSON object")
    return Line(path, number, row, hint)
