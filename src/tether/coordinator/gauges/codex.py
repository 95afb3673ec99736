"""What a rollout of Codex says of the context and of the limits: with every count of tokens."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Iterator

from tether import ids
from tether.coordinator.gauges import model
from tether.evidence.transcripts import codex_records
from tether.hints import Any, NamedTuple

SOURCE = "codex:rollout"
# Mostly the last lines tell; but tools may have printed megabytes since.
TAIL_BYTES = 8 * 1024 * 1024
_COUNT = "token_count"
_COMPACTED = "compacted"
_NEEDLES = (b'"token_count"', b'"compacted"')
_WINDOWS = ("primary", "secondary")
# Who has gone on with one session for longer than a year has no gauge.
_MAX_DAYS = 366
_MAX_TOKENS = 10**12


class _Line(NamedTuple):
    """A line that tells of tokens, or that they are counted anew."""

    kind: str
    at: str | None
    payload: dict[str, Any]


# Where it stands


def rollouts(bases: Iterable[str], session: ids.SessionId | None) -> Iterator[str]:
    """The rollouts of a session, or of all, newest first; days are opened as they are needed."""
    end = f"-{session}.jsonl" if session else ".jsonl"
    days = itertools.chain.from_iterable(_days(os.path.join(base, "sessions")) for base in bases)
    for day in itertools.islice(days, _MAX_DAYS):
        for name in _names(day):
            if name.startswith("rollout-") and name.endswith(end):
                yield os.path.join(day, name)


def _days(sessions: str) -> Iterator[str]:
    """`<sessions>/YYYY/MM/DD`, newest first."""
    level = iter([sessions])
    for _ in range(3):
        level = (
            os.path.join(above, name) for above in level for name in _names(above) if name.isdigit()
        )
    return level


def _names(directory: str) -> list[str]:
    """What is in a directory, from the last name to the first; nothing if it cannot be read."""
    try:
        return sorted(os.listdir(directory), reverse=True)
    except OSError:
        return []


# What it says


def context(lines: Iterable[bytes]) -> model.Context | None:
    """How much room the last turn left; `lines` come last one first."""
    for line in _telling(lines):
        if line.kind == _COMPACTED:
            return None  # what was counted before it is true no longer
        info = line.payload.get("info")
        window = _tokens(codex_records.at(info, "model_context_window"))
        used = _tokens(codex_records.at(info, "last_token_usage", "total_tokens"))
        if window and used is not None:
            left = 100.0 * max(0, window - used) / window
            return model.Context(left, SOURCE, line.at)
    return None


def usage(lines: Iterable[bytes], now_ms: int) -> model.Usage | None:
    """How much the account may still use; `lines` come last one first."""
    for line in _telling(lines):
        limits = line.payload.get("rate_limits")
        windows = [window for name in _WINDOWS if (window := _window(limits, name))]
        reached = codex_records.limit(codex_records.Payload(type=_COUNT, rate_limits=limits))
        if reached is not None:
            # Whatever the percentages say: nothing more is answered until then.
            windows.append(model.Window(100.0, model.moment(reached)))
        found = model.tightest(windows, SOURCE, line.at, now_ms)
        if found:
            return found
    return None


def _window(limits: object, name: str) -> model.Window | None:
    used = model.percent(codex_records.at(limits, name, "used_percent"))
    if used is None:
        return None
    return model.Window(used, model.moment(codex_records.at(limits, name, "resets_at")))


def _telling(lines: Iterable[bytes]) -> Iterator[_Line]:
    for raw in lines:
        if any(needle in raw for needle in _NEEDLES):
            line = _decoded(raw)
            if line is not None:
                yield line


def _decoded(raw: bytes) -> _Line | None:
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    payload = codex_records.at(record, "payload")
    if not isinstance(payload, dict):
        return None
    at = model.moment(record.get("timestamp"))
    if record.get("type") == _COMPACTED:
        return _Line(_COMPACTED, at, {})
    is_count = record.get("type") == "event_msg" and payload.get("type") == _COUNT
    return _Line(_COUNT, at, payload) if is_count else None


def _tokens(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MAX_TOKENS else None
