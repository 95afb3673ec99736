"""Whose an uncommitted file is: the task's, nobody knows whose, or another task's.

A claim says who was there and when, a transcript what was edited, a reservation what was meant to
be; the file itself says when it was last changed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType

from tether import clock
from tether.agents import paths
from tether.hints import NamedTuple

# Files have finer times than claims, and other clocks on other disks.
_SLACK_MS = 2000


class Files(NamedTuple):
    """Whose the files of a checkout are, as far as is known; paths are from its top."""

    touched: frozenset[str] = frozenset()
    """Edited or committed for the task."""
    theirs: Mapping[str, str] = MappingProxyType({})
    """Edited under the claims of other tasks, and when last."""
    reserved: tuple[str, ...] = ()
    their_reserved: tuple[str, ...] = ()
    is_all_own: bool = False
    since: str = ""
    until: str = "9"
    """What was changed before or after may be of another task."""


def is_own(path: str, at: str, files: Files) -> bool | None:
    """Is a file, changed last at a time, the task's? None for that of another one."""
    is_touched = path in files.touched
    is_reserved, is_theirs = (
        any(paths.overlap(pattern, path) for pattern in patterns)
        for patterns in (files.reserved, files.their_reserved)
    )
    their_at = files.theirs.get(path, "")
    # Edited for another task since, or before and left as it was.
    is_left = bool(at) and _is_by(at, their_at)
    is_edited = bool(their_at) and (their_at >= files.since or is_left)
    if is_edited or (is_theirs and not is_touched):
        return False if is_touched or is_reserved else None
    if at and not _is_by(at, files.until):
        return False
    if at and _is_by(at, files.since, -_SLACK_MS):
        return is_touched
    return is_touched or is_reserved or files.is_all_own


def _is_by(at: str, end: str, slack_ms: int = _SLACK_MS) -> bool:
    """Is a time not later than another one, or hardly? One of them may be none."""
    return at <= (clock.text(clock.parse(end) + slack_ms) if end not in ("", "9") else end)


def changed_at(path: str) -> str:
    """When a file was last changed, give or take; empty if it is not there."""
    try:
        return clock.text(os.lstat(path).st_mtime_ns // 1_000_000)
    except (OSError, ValueError):
        return ""
