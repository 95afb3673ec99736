"""What a merge left: two sides in one file, or two files of one task. Pure.

The further state wins: done, error, in_progress, assigned, new; then the later time. The text of
the other one goes into the winner's history, so nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tether import errors
from tether.hints import Any, NamedTuple
from tether.tasks import document, model, splicing, states

# Seven of them, or more: eight where both sides renamed the file, and its name then stands behind.
_MARKER = re.compile(r"(<{7,40}|\|{7,40}|={7,40}|>{7,40})(?: ([^\r\n]{0,300}))?\r?\n?$")
_NAMES = {"<": "ours", "|": "base", "=": "theirs", ">": "end"}


class Version(NamedTuple):
    """One of several texts of a task, and where it stands."""

    text: str
    document: document.Document
    task: model.Task


class Sides(NamedTuple):
    """Both sides of a text with conflict markers, and their paths if the markers name them."""

    ours: str
    theirs: str
    our_path: str = ""
    their_path: str = ""


def sides(content: str) -> Sides | None:
    """Both sides of a text with conflict markers; None if the markers do not match up."""
    ours: list[str] = []
    theirs: list[str] = []
    side, size = "both", 0
    paths = {"ours": "", "end": ""}
    for line in content.splitlines(keepends=True):
        found = _MARKER.match(line)
        name = _NAMES[found[1][0]] if found else ""
        if found and side == "both":
            if name != "ours":
                return None
            size = len(found[1])
        # A marker of another size is of a merge within the merge.
        if found and len(found[1]) == size:
            if side not in _BEFORE[name]:
                return None
            if name in paths:
                paths[name] = (found[2] or "").rpartition(":")[2]
            side = name if name != "end" else "both"
        elif side != "base":
            if side in ("both", "ours"):
                ours.append(line)
            if side in ("both", "theirs"):
                theirs.append(line)
    if side != "both":
        return None
    return Sides("".join(ours), "".join(theirs), paths["ours"], paths["end"])


_BEFORE = {"ours": ("both",), "base": ("ours",), "theirs": ("ours", "base"), "end": ("theirs",)}


def settle(versions: Sequence[Version]) -> tuple[Version, list[Version]]:
    """The version that counts, and the others."""
    ranked = sorted(versions, key=_rank, reverse=True)
    return ranked[0], ranked[1:]


# What a verb writes when it leads to a state. A status alone may have come from the other side,
# where Git merged the lines around a conflict.
_SHOWN_BY = {states.DONE: "result", states.ERROR: "error"}


def _rank(version: Version) -> tuple[int, bool, int, str]:
    task, standing = version.task, version.task.standing()
    is_away = standing.state == states.ARCHIVED
    status = states.known_status(task.status) or states.NEW
    state = status if is_away else standing.state
    is_shown = _SHOWN_BY.get(state, "status") in version.document.fields
    # Where one side has put a file away and the other has gone on with it, Git may leave the words
    # of the other in both files: then only what is over belongs in the archive.
    is_over = task.is_cancelled or status == states.DONE
    away = (1 if is_over else -1) if is_away else 0
    latest = max(task.completed_at, task.started_at, task.assigned_at, task.created_at)
    return states.RANK[state], is_shown, away, latest


def entries(
    winner: Version, losers: Sequence[Version], now: str, by: str
) -> list[Mapping[str, Any]]:
    """What goes into the winner's history: the text of those that say something else.

    Once: a repair that died before the loser was removed has written it down already.
    """
    history = winner.document.fields.get("history")
    merged = history if isinstance(history, list) else []
    kept = [e.get("text") for e in merged if isinstance(e, dict) and e.get("what") == "merged"]
    told = [(loser, _without_shared(loser, winner)) for loser in losers]
    return [
        {
            "at": now,
            "by": by,
            "what": "merged",
            "path": loser.task.path,
            "state": loser.task.state,
            "text": text,
        }
        for loser, text in told
        if loser.text != winner.text and text not in kept
    ]


def _without_shared(loser: Version, winner: Version) -> str:
    """A text without the history that the winner has too.

    Otherwise every merge would put all earlier ones into the file once more, and it would double.
    """
    old, kept = loser.document.fields.get("history"), winner.document.fields.get("history")
    if not isinstance(old, list) or not isinstance(kept, list):
        return loser.text
    own = [entry for entry in old if entry not in kept]
    if len(own) == len(old):
        return loser.text
    try:
        return splicing.edit(loser.document, {"history": own or document.REMOVE}).decode()
    except errors.TaskUneditable:
        return loser.text
