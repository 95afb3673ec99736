"""Published answers about symbols, as files have them: one JSON object a line, perhaps in gzip.

There are two kinds of lines. A question of history asks which commits changed a symbol; one of
pairs says what a single commit did to two symbols. Every line is checked before anything is run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from tether import errors
from tether.bench import lines
from tether.git import Oid
from tether.hints import NamedTuple

_HINT = "Give files with one JSON object a line: `tether bench symbols --help` says which fields."
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")


class Expected(NamedTuple):
    """A commit that changed the symbol, and how."""

    commit: str
    types: frozenset[str]
    file_before: str = ""
    file_after: str = ""
    name_before: str = ""
    name_after: str = ""


class Question(NamedTuple):
    """Which commits changed what stands in these lines?"""

    id: str
    repo: str
    commit: Oid
    path: str
    first_line: int
    last_line: int
    is_class: bool
    expected: tuple[Expected, ...]


class Side(NamedTuple):
    """A symbol as a row of pairs names it: before the commit or after it."""

    name: str
    container: str = ""
    """With its package or module, as in `org.x.Outer`; for a class this is the class itself."""
    signature: str = ""
    path: str = ""
    line: int = 0


class Pair(NamedTuple):
    """What somebody says that a commit did."""

    repo: str
    commit: Oid
    parent: Oid | None
    language: str
    type: str
    is_identity: bool
    is_right: bool
    """Whether it was found to be so; else it is a known mistake."""
    description: str
    before: Side | None = None
    after: Side | None = None


class Oracle(NamedTuple):
    """What the files have."""

    questions: tuple[Question, ...]
    pairs: tuple[Pair, ...]


def read(paths: Iterable[str]) -> Oracle:
    """Everything from these files, which may be packed with gzip."""
    questions: list[Question] = []
    pairs: list[Pair] = []
    for path in paths:
        count = len(questions) + len(pairs)
        for line in lines.read(path, _HINT):
            if "expected" in line.row:
                questions.append(_question(line))
            else:
                pairs.append(_pair(line))
        if count == len(questions) + len(pairs):
            name = os.path.basename(path)
            raise errors.FileError(f"There is nothing in {name}. Nothing was measured.", hint=_HINT)
    return Oracle(tuple(questions), tuple(pairs))


def _repo(line: lines.Line) -> str:
    value = line.text("repo")
    parts = value.split("/")
    if len(parts) != 2 or not all(map(_NAME.fullmatch, parts)):
        raise line.wrong("has a `repo` that is not like owner/name")
    return value


def _question(line: lines.Line) -> Question:
    told = line.row["expected"]
    if not isinstance(told, list) or not all(isinstance(each, dict) for each in told):
        raise line.wrong("has no list of `expected`")
    first, last = line.line_number("start_line"), line.line_number("end_line")
    if last < first:
        raise line.wrong("has an `end_line` before its `start_line`")
    return Question(
        id=line.text("id"),
        repo=_repo(line),
        commit=line.oid("start_commit"),
        path=line.text("file"),
        first_line=first,
        last_line=last,
        is_class=line.text("kind") == "class",
        expected=tuple(_expected(line._replace(row=each)) for each in told),
    )


def _expected(line: lines.Line) -> Expected:
    types = line.row.get("change_types")
    if not isinstance(types, list) or not types or not all(isinstance(one, str) for one in types):
        raise line.wrong("has something `expected` without `change_types`")
    places = [
        line.perhaps(field) for field in ("file_before", "file_after", "name_before", "name_after")
    ]
    return Expected(line.oid("commit"), frozenset(types), *places)


def _pair(line: lines.Line) -> Pair:
    return Pair(
        repo=_repo(line),
        commit=line.oid("commit"),
        parent=line.oid("parent") if line.perhaps("parent") else None,
        language=line.text("language"),
        type=line.text("type"),
        # A rename that the author of the commit states has no validation: it is right.
        is_identity=line.row.get("identity", True) is True,
        is_right=(line.perhaps("validation") or "TP") in ("TP", "CTP"),
        description=line.perhaps("description") or line.perhaps("message"),
        before=_side(line, "before"),
        after=_side(line, "after"),
    )


def _side(line: lines.Line, which: str) -> Side | None:
    name = line.perhaps(f"name_{which}")
    if not name:
        return None
    return Side(
        name=name,
        container=line.perhaps(f"class_{which}"),
        signature=line.perhaps(f"sig_{which}"),
        path=line.perhaps(f"file_{which}"),
        line=line.line_number(f"line_{which}") if line.row.get(f"line_{which}") is not None else 0,
    )
