"""Records that others wrote, taken as they come: JSON, times, names. Nothing here raises.

What is of no use is empty; what is kept is one line without secrets.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable

import msgspec

from tether.evidence import mentions, model
from tether.evidence.transcripts import decoding
from tether.hints import Any

# More paths than these are a list of everything.
MAX_FILES = 100


def decode(raw: bytes | str) -> Any:
    """What a piece of JSON says; None if it is none."""
    try:
        return msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        pass
    try:
        # Takes what the other does not: halves of characters, and numbers beyond any float.
        return json.loads(raw if isinstance(raw, str) else raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def moment(value: object) -> str:
    """A time in any shape as Tether writes it; empty if it is none. Without a zone it is UTC."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return decoding.moment(value) if value and not isinstance(value, bool) else ""


def plain(value: object) -> str:
    """A value of a database or of JSON as text; empty if it is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if is_number else ""


@functools.lru_cache(maxsize=4096)
def label(value: str) -> str:
    """A name from outside, such as a session's: one line, without secrets."""
    return mentions.excerpt(value)


def paths(values: Iterable[str]) -> tuple[str, ...]:
    """Paths as they are written, each once. One that would have to be cut is none."""
    kept: dict[str, None] = {}
    for value in values:
        if value and len(value) <= model.EXCERPT_CHARS and len(kept) < MAX_FILES:
            kept[label(value)] = None
    return tuple(kept)


def digest(*parts: object) -> str:
    """A short name for what these say together."""
    joined = "\0".join(map(str, parts)).encode("utf-8", "replace")
    return hashlib.blake2b(joined, digest_size=12).hexdigest()
