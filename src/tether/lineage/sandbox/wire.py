"""What goes between the two processes: frames of MessagePack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # msgspec looks at it

import msgspec

from tether import errors

_HEADER_BYTES = 8
# More than any answer; a header that says more is none.
_MAX_BYTES = 1 << 32


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
