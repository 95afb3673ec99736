"""Has a task time? Pure: a deferral counts until its day comes, or until somebody touches it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tether import clock
from tether.vacuum import model

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
TASK, TRACK, PROJECT = "task", "track", "project"
SCOPES = (TASK, TRACK, PROJECT)


def why_ended(deferral: model.Deferral, touched_at: str, now: str) -> str:
    """Why a deferral is over; empty while it counts."""
    if deferral.until and now >= deferral.until:
        return "its day has come"
    return "it was touched" if touched_at > deferral.deferred_at else ""


def covers(deferral: model.Deferral, subject: model.Subject) -> bool:
    """Is a task, or the track or project that it is of, put off by this?

    A store belongs to one project, whatever the directories of its checkouts are called.
    """
    if deferral.scope == TASK:
        return (deferral.source, deferral.name) == subject.key
    if deferral.scope == TRACK:
        return (deferral.source, deferral.name) == (subject.key.source, subject.track)
    return deferral.scope == PROJECT


def applying(
    deferrals: Iterable[model.Deferral],
    subject: model.Subject,
    touched_at: str,
    now: str,
) -> model.Deferral | None:
    """The deferral that lets a task have time now."""
    for each in deferrals:
        if covers(each, subject) and not why_ended(each, touched_at, now):
            return each
    return None


def is_put_off(subject: model.Subject, touched_at: str) -> bool:
    """Does its list say that it has time, and did nobody touch it since?"""
    if not subject.put_off:
        return False
    said = _DATE.search(subject.put_off)
    if said is None or not touched_at:
        return True
    try:
        day_ms = clock.parse(f"{said[0]}T00:00:00Z")
    except ValueError:
        return True  # no day of any calendar
    # The whole of that day counts, wherever on Earth it was written down.
    return clock.parse(touched_at) < day_ms + 2 * model.DAY_MS
