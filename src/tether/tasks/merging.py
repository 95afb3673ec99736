"""What a merge left: two sides in one file, or two files of one task. Pure.

The further state wins: done, error, in_progress, assigned, new; then the later time. The text of
the other one goes into the winner's history, so nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tether.tasks import document, model, states

_OURS = re.compile(r"<{7}(?: |\r?\n|$)")
_BASE = re.compile(r"\|{7}(?: |\r?\n|$)")
_THEIRS = re.compile(r"={7}\r?\n?$")
_END = re.compile(r">{7}(?: |\r?\n|$)")


class Version(NamedTuple):
    """One of several texts of a task, and where it stands."""

    text: str
    document: document.Document
    task: model.Task


def sides(content: str) -> tuple[str, str] | None:
    """Both sides of a text with conflict markers; None if the markers do not match up."""
    ours: list[str] = []
    theirs: list[str] = []
    side = "both"
    for line in content.splitlines(keepends=True):
        marker = _marker(line)
        if marker:
            if side not in _BEFORE[marker]:
                return None
            side = marker if marker != "end" else "both"
        elif side != "base":
            if side in ("both", "ours"):
                ours.append(line)
            if side in ("both", "theirs"):
                theirs.append(line)
    return ("".join(ours), "".join(theirs)) if side == "both" else None


_BEFORE = {"ours": ("both",), "base": ("ours",), "theirs": ("ours", "base"), "end": ("theirs",)}


def _marker(line: str) -> str:
    for name, pattern in (("ours", _OURS), ("base", _BASE), ("theirs", _THEIRS), ("end", _END)):
        if pattern.match(line):
            return name
    return ""


def settle(versions: Sequence[Version]) -> tuple[Version, list[Version]]:
    """The version that counts, and the others."""
    ranked = sorted(versions, key=_rank, reverse=True)
    return ranked[0], ranked[1:]


def _rank(version: Version) -> tuple[int, int, str]:
    task = version.task
    put_away = task.standing().state == states.ARCHIVED
    status = states.known_status(task.status) or states.NEW
    state = task.standing().state if task.standing().state in states.RANK else status
    latest = max(task.completed_at, task.started_at, task.assigned_at, task.created_at)
    return states.RANK[state], int(put_away), latest


def entries(
    winner: Version, losers: Sequence[Version], now: str, by: str
) -> list[Mapping[str, Any]]:
    """What goes into the winner's history: the text of those that say something else."""
    return [
        {
            "at": now,
            "by": by,
            "what": "merged",
            "path": loser.task.path,
            "state": loser.task.state,
            "text": loser.text,
        }
        for loser in losers
        if loser.text != winner.text
    ]
