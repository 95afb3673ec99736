"""Edits that are in no commit and in no checkout any more, by what Git shows now.

A transcript says that a file was edited, and not what became of it. Git is asked; where it cannot
say for sure that an edit is nowhere (the file is ignored, of another repository, or was changed in
some commit since), nothing is said.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from tether import clock, errors, git
from tether.evidence import model
from tether.evidence.unfinished import reading
from tether.git import reach, worktree
from tether.hints import NamedTuple

MAX_FILES = 50
# Commits have whole seconds, and an edit is written down a little before or after it is made.
_SLACK_MS = 10_000
_REFUSED_MS = 60_000


class Edit(NamedTuple):
    """The last edit of a file in a checkout."""

    root: str
    path: str
    """From the top of the checkout."""
    at: str


class Lost(NamedTuple):
    """An edit that Git shows nowhere."""

    path: str
    at: str
    is_there: bool
    """Is the file there, as it was before?"""


def absolute(activity: model.Activity, directories: dict[str, str]) -> list[str]:
    """The paths of an activity: one that is written from a directory, from its session's."""
    base = directories.get(activity.session, "")
    joined = (os.path.normpath(os.path.join(base, path)) for path in activity.files)
    return [path for path in joined if os.path.isabs(path)]


def made(activities: Iterable[model.Activity]) -> list[model.Activity]:
    """The edits that were made: not those that a tool has refused, as far as that is told."""
    found: list[model.Activity] = []
    waiting: dict[str, list[model.Activity]] = {}
    for each in activities:
        if each.what == "edited" and each.kind == model.WORKED and each.at:
            waiting.setdefault(each.session, []).append(each)
            continue
        before = waiting.pop(each.session, [])
        # A command that fails has a code; a tool that refuses has only words, and soon.
        if each.what == "failed" and each.at and not each.text.startswith("Exit code"):
            soon = clock.text(clock.parse(each.at) - _REFUSED_MS)
            before = [edit for edit in before if edit.at < soon]
        found += before
    return [*found, *(each for edits in waiting.values() for each in edits)]


def edits(
    activities: Iterable[model.Activity], directories: dict[str, str], roots: Iterable[str]
) -> list[Edit]:
    """The last edit of each file in a checkout, one that is gone included; the newest first."""
    roots = tuple(roots)
    last: dict[tuple[str, str], str] = {}
    for each in made(activities):
        for path in absolute(each, directories):
            root = reading.top_of(path, roots)
            if root and path != root:
                name = (root, path.removeprefix(f"{root}/"))
                last[name] = max(last.get(name, ""), each.at)
    ordered = sorted(last.items(), key=lambda item: (item[1], item[0]), reverse=True)
    return [Edit(*name, at) for name, at in ordered[:MAX_FILES]]


def candidates(
    found: Iterable[Edit], left: reading.Unfinished, leaves_out: Callable[[str], bool]
) -> list[Edit]:
    """The edits that are not in a checkout now. One that was not looked into is passed over."""
    looked = {each.path for each in left.checkouts if each.is_complete}
    dirty = {path for each in left.checkouts for path in each.dirty}
    kept = []
    for edit in found:
        if edit.path in dirty or leaves_out(edit.path):
            continue
        place = os.path.dirname(os.path.join(edit.root, edit.path))
        # Below a directory that is gone there may have been another checkout.
        is_looked_at = edit.root in looked and os.path.isdir(place)
        if is_looked_at or not os.path.lexists(edit.root):
            kept.append(edit)
    return kept


def decide(found: Iterable[Edit], touched: dict[str, int]) -> list[Edit]:
    """The edits after which no commit has changed their file."""
    return [e for e in found if touched.get(e.path, -1) < clock.parse(e.at) - _SLACK_MS]


def read(place: str, found: list[Edit], left: reading.Unfinished) -> list[Lost]:
    """Ask Git for what became of edits that are in no checkout."""
    if not found:
        return []
    since = min(clock.parse(each.at) for each in found) - _SLACK_MS
    repository = git.Git(place)
    try:
        touched = reach.touched(repository, left.tips, {each.path for each in found}, since)
        rest = decide(found, touched)
        ignored = _ignored(rest, place)
    except errors.TetherError:
        return []  # who cannot ask has nothing to say
    return [
        Lost(each.path, each.at, os.path.lexists(os.path.join(each.root, each.path)))
        for each in rest
        if (each.root, each.path) not in ignored
    ]


def _ignored(found: list[Edit], place: str) -> set[tuple[str, str]]:
    """Those that Git is told to leave out, as their own checkout says while it is there."""
    by_root: dict[str, list[str]] = {}
    for each in found:
        by_root.setdefault(each.root, []).append(each.path)
    return {
        (root, path)
        for root, paths in by_root.items()
        for path in worktree.ignored(git.Git(root if os.path.isdir(root) else place), paths)
    }
