"""What Claude Code tells its status line, kept for those who ask later.

One small file for each session, `statusline/<session>.json` in the store directory: the numbers,
and nothing else of what a status line is told. It is made again with the next response, so it may
vanish at any time and damage counts as absence.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping

from tether import clock, errors, files, ids
from tether.coordinator.gauges import model
from tether.hints import Any, NamedTuple

SOURCE = "claude:statusline"
DIRECTORY = "statusline"
# Not those of single models: a run need not stop because one that it does not use is used up.
WINDOWS = ("five_hour", "seven_day")
_MAX_FILE_BYTES = 8 * 1024
# A status line is drawn several times a second, and a disk is not written to as often.
_LEAST_CHANGE = 1.0
_REFRESH_MS = 60_000
_KEPT_MS = 86_400_000


class Record(NamedTuple):
    """What is kept of a session."""

    session: ids.SessionId
    at: str
    context_remaining: float | None
    windows: dict[str, model.Window]


class Seen(NamedTuple):
    """What one call tells."""

    record: Record
    directory: str
    """Where the session works; empty if that is not told. Never kept."""


# What Claude Code tells


def read(raw: bytes, now_ms: int) -> Seen | None:
    """What stands on the input of a status line; None if it is no such record."""
    told = _decoded(raw)
    session = told.get("session_id")
    if not isinstance(session, str) or not ids.SessionId.is_valid(session):
        return None
    record = Record(
        ids.SessionId(session),
        clock.text(now_ms),
        _context(_object(told.get("context_window"))),
        _windows(_object(told.get("rate_limits")), "used_percentage"),
    )
    return Seen(record, _directory(told))


def _context(window: Mapping[str, Any]) -> float | None:
    left = model.percent(window.get("remaining_percentage"))
    used = model.percent(window.get("used_percentage"))
    return 100.0 - used if left is None and used is not None else left


def _directory(told: Mapping[str, Any]) -> str:
    inner = _object(told.get("workspace")).get("current_dir")
    found = inner if isinstance(inner, str) else told.get("cwd")
    return found if isinstance(found, str) else ""


# What is kept


def keep(store_dir: str, record: Record) -> bool:
    """Write a record down unless the last one says the same; whether it was written."""
    root = files.Root(store_dir)
    last = _load(root, _name(record.session))
    if last is not None and not _is_news(record, last):
        return False
    if last is None:
        # Once in the life of each session is often enough to clean up after the others.
        root.make_directories(DIRECTORY)
        _remove_old(root, clock.parse(record.at))
    windows = {name: window._asdict() for name, window in record.windows.items()}
    content = json.dumps({**record._asdict(), "windows": windows})
    root.write_atomic(_name(record.session), content.encode())
    return True


def _is_news(record: Record, last: Record) -> bool:
    """Has something changed, or time passed? A clock that was set back counts as either."""
    if abs(clock.parse(record.at) - clock.parse(last.at)) >= _REFRESH_MS:
        return True
    return (
        record.windows.keys() != last.windows.keys()
        or _has_moved(record.context_remaining, last.context_remaining)
        or any(_has_moved(each.used, last.windows[n].used) for n, each in record.windows.items())
    )


def _has_moved(new: float | None, old: float | None) -> bool:
    if new is None or old is None:
        return new is not old
    return abs(new - old) >= _LEAST_CHANGE


def _remove_old(root: files.Root, now_ms: int) -> None:
    root.remove_leftovers(DIRECTORY)
    for name in root.names(DIRECTORY):
        found = _load(root, f"{DIRECTORY}/{name}")
        if found is None or now_ms - clock.parse(found.at) > _KEPT_MS:
            # What is no file stands in nobody's way.
            with contextlib.suppress(errors.TetherError):
                root.remove(f"{DIRECTORY}/{name}")


def _name(session: ids.SessionId) -> str:
    return f"{DIRECTORY}/{session}.json"


def _load(root: files.Root, name: str) -> Record | None:
    """A record that was kept; None if there is none, or none that can be read."""
    try:
        found = _decoded(root.read_bytes(name, _MAX_FILE_BYTES))
        session = ids.SessionId(str(found.get("session")))
    except errors.TetherError:
        return None
    at = model.moment(found.get("at"))
    windows = _windows(_object(found.get("windows")), "used")
    left = model.percent(found.get("context_remaining"))
    return Record(session, at, left, windows) if at else None


# What is asked for


def context(store_dir: str, session: ids.SessionId) -> model.Context | None:
    """How much room a session had left when its status line was last drawn."""
    record = _load(files.Root(store_dir), _name(session))
    if record is None or record.context_remaining is None:
        return None
    return model.Context(record.context_remaining, SOURCE, record.at)


def usage(store_dir: str, session: ids.SessionId | None, now_ms: int) -> model.Usage | None:
    """What a session was told of its account's limits; without a session, whoever was last."""
    root = files.Root(store_dir)
    record = _newest(root) if session is None else _load(root, _name(session))
    if record is None:
        return None
    return model.tightest(record.windows.values(), SOURCE, record.at, now_ms)


def _newest(root: files.Root) -> Record | None:
    try:
        names = root.names(DIRECTORY)
    except errors.TetherError:
        return None
    records = [_load(root, f"{DIRECTORY}/{name}") for name in names]
    telling = [each for each in records if each and each.windows]
    return max(telling, key=lambda each: each.at, default=None)


# JSON of others


def _decoded(raw: bytes) -> dict[str, Any]:
    try:
        return _object(json.loads(raw))
    except (ValueError, RecursionError):
        return {}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _windows(told: Mapping[str, Any], used: str) -> dict[str, model.Window]:
    """The windows that say how full they are, by name."""
    windows = {}
    for name in WINDOWS:
        each = _object(told.get(name))
        full = model.percent(each.get(used))
        if full is not None:
            windows[name] = model.Window(full, model.moment(each.get("resets_at")))
    return windows
