"""A line of a transcript as typed values, whatever stands in it.

Only the fields that are needed are decoded, which is far faster than decoding all. A line that is
not as expected is decoded once more, slowly, and keeps what is. What a line means is not known
here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from tether import clock, ids, redaction, text
from tether.evidence import mentions
from tether.hints import Any, TypeVar

NOT_JSON = "line is not JSON"
NOT_A_RECORD = "line is JSON, but not a record"
_MOMENT = re.compile(
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z"
)
# What the agents' own programs make, and no secret is.
_GIVEN = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
    r"|(?:call|ctc|fc|fco|msg|rs)_[0-9A-Za-z-]{8,64}"
)
T = TypeVar("T")


def decode(
    decoder: Callable[[bytes], T], kind: type[T], parts: dict[str, Any], raw: bytes
) -> T | str:
    """A record, or why the line is none.

    `parts` has the types of the fields that are records themselves, in a list if they hold several.
    """
    try:
        return decoder(raw)
    except (ValueError, RecursionError):
        pass
    try:
        # Half a character, written by a program that cuts texts anywhere, is no reason to pass.
        value = json.loads(raw.decode("utf-8", "replace"))
        return _filled(kind, value, parts) if isinstance(value, dict) else NOT_A_RECORD
    except (ValueError, RecursionError):
        return NOT_JSON


def _filled(kind: type[T], value: dict[str, Any], parts: dict[str, Any]) -> T:
    """A record of those fields that have the right type."""
    struct: Any = kind
    names = zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True)
    found: T = struct(
        **{
            field: _part(parts.get(field), value[name], parts)
            for field, name in names
            if name in value
        }
    )
    return found


def _part(kind: Any, value: Any, parts: dict[str, Any]) -> Any:
    if kind is None:
        return value
    if not isinstance(kind, list):
        return _filled(kind, value, parts) if isinstance(value, dict) else None
    if isinstance(value, list):
        return [_filled(kind[0], each, parts) for each in value if isinstance(each, dict)]
    return value if isinstance(value, str) else None


def whole_lines(piece: bytes) -> list[bytes]:
    """The lines of a piece. What follows the last line end is still being written."""
    return [line for line in piece.split(b"\n")[:-1] if line.strip()]


def moment(value: object) -> str:
    """A time as Tether writes it; empty if it is none."""
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        return value
    try:
        return clock.text(clock.parse(value)) if isinstance(value, (str, int, float)) else ""
    except (ValueError, OverflowError):
        return ""


def name(value: object) -> str:
    """An id that another program has given; empty if it cannot be one."""
    if not isinstance(value, str):
        return ""
    if _GIVEN.fullmatch(value):
        return value
    is_safe = ids.SessionId.is_valid(value) and redaction.redact(value) == value
    return value if is_safe else ""


def path(value: object) -> str:
    """A path, for facts about a session: without secrets, but whole."""
    return redaction.redact(text.one_line(value)) if isinstance(value, str) else ""


def words(value: object) -> str:
    """A short text, for facts about a session."""
    return mentions.excerpt(value) if isinstance(value, str) else ""
