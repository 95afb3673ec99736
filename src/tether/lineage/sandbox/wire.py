"""What goes between the two processes: frames of MessagePack, and plain tuples in them.

The types of this house are tuples that name their fields, so they are written as they are; reading
checks every field. Paths may hold any byte and go as bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # msgspec looks at it

import msgspec

from tether import errors
from tether.git import Oid
from tether.lineage import history

_HEADER_BYTES = 8
# More than any answer; a header that says more is none.
_MAX_BYTES = 1 << 32

_Place = tuple[bytes, str, str, str, int, int, int]
_Match = tuple[_Place | None, _Place | None, str, tuple[str, ...], float, str]
_Change = tuple[str, tuple[str, ...], _Place | None, _Place | None, float, str, tuple[_Match, ...]]
PlaceWire = _Place
MatchWire = _Match
HistoryWire = tuple[tuple[_Change, ...], tuple[bytes, ...], str]


class Problem(msgspec.Struct, array_like=True):
    """An error on its way to the other process."""

    name: str
    """Of one of our errors; empty for one that nobody expected."""
    message: str
    hint: str = ""
    details: dict[str, Any] = {}


class Answer(msgspec.Struct, array_like=True):
    """What a job came to."""

    result: bytes = b""
    problem: Problem | None = None
    failed: list[tuple[str, str, bytes, str]] = []
    """Files that could not be parsed, though the process survived that."""


def send(write: Callable[[bytes], object], content: bytes) -> None:
    write(len(content).to_bytes(_HEADER_BYTES, "big") + content)


def receive(read: Callable[[int], bytes]) -> bytes | None:
    """The next frame; None if there is no whole one."""
    header = read(_HEADER_BYTES)
    size = int.from_bytes(header, "big")
    if len(header) < _HEADER_BYTES or size > _MAX_BYTES:
        return None
    content = read(size)
    return content if len(content) == size else None


def path_out(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def path_in(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def problem_of(error: BaseException) -> Problem:
    if isinstance(error, errors.TetherError):
        return Problem(type(error).__name__, error.message, error.hint, error.details)
    import traceback

    told = "".join(traceback.format_exception(error))
    return Problem("", f"{type(error).__name__} in the process that parses\n{told}")


def raise_problem(problem: Problem) -> None:
    """The same error on this side."""
    kind = getattr(errors, problem.name, None) if problem.name else None
    if isinstance(kind, type) and issubclass(kind, errors.TetherError):
        raise kind(problem.message, hint=problem.hint, details=problem.details)
    raise RuntimeError(problem.message)


def place_out(place: history.Place) -> object:
    return place._replace(path=path_out(place.path))  # type: ignore[arg-type]  # on its way


def place_in(raw: PlaceWire) -> history.Place:
    path, *rest = raw
    return history.Place(path_in(path), *_any(rest))


def match_out(match: history.Match) -> object:
    return (*map(_out, match[:2]), *match[2:])


def match_in(raw: MatchWire) -> history.Match:
    before, after, *rest = raw
    return history.Match(_in(before), _in(after), *_any(rest))


def history_out(told: history.History) -> object:
    changes = [
        (str(each.commit), each.kinds, _out(each.before), _out(each.after), *each[4:6],
         [match_out(match) for match in each.related])
        for each in told.changes
    ]  # fmt: skip
    return changes, [path_out(each) for each in told.unknown], told.node


def history_in(raw: HistoryWire) -> history.History:
    changes = []
    for commit, kinds, before, after, confidence, evidence, related in raw[0]:
        places = (_in(before), _in(after))
        matches = tuple(map(match_in, related))
        rest = (*places, confidence, evidence, matches)
        changes.append(history.Change(Oid(commit), _any(kinds), *rest))
    return history.History(tuple(changes), tuple(map(path_in, raw[1])), raw[2])


def _out(place: history.Place | None) -> object:
    return None if place is None else place_out(place)


def _in(raw: PlaceWire | None) -> history.Place | None:
    return None if raw is None else place_in(raw)


def _any(value: Any) -> Any:
    """Words that our own code made on the other side."""
    return value
