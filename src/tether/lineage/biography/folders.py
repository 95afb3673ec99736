"""The story of a directory: what happened to the files in it, and to it as a whole.

It was moved if one commit moved all files that it had to where nothing was. A file that went is a
change of it, and what happened to a file before it came is told as that.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tether.git import Git, Oid, objects
from tether.hints import NamedTuple
from tether.lineage import filesteps, history, kept
from tether.lineage.biography import model, stepping
from tether.lineage.edges import model as graph

_DELETED = """
SELECT e.number, e.commit_no FROM identity_graves AS g
JOIN identity_events AS e ON e.number = g.event
JOIN lineage_nodes AS n ON n.id = e.node AND n.kind = 'file'
WHERE g.path >= ? AND g.path < ?
"""
_EMPTIED = "SELECT DISTINCT commit_no FROM identity_steps WHERE path >= ? AND path < ? AND oid = ''"
_MOVED = """
SELECT e.number, e.kinds, e.change FROM identity_events AS e
JOIN lineage_nodes AS n ON n.id = e.node AND n.kind = 'file'
WHERE e.commit_no = ? AND e.kinds LIKE 'move%'
"""
_PARENT = (
    "SELECT c.oid FROM identity_parents AS p JOIN identity_commits AS c ON c.number = p.parent"
    " WHERE p.child = ? AND p.place = 0"
)


class Move(NamedTuple):
    """What a commit did to a directory, if that was a move."""

    commit_no: int
    commit: Oid
    before: str
    after: str


class Folder(NamedTuple):
    """What is known of a directory as a whole."""

    moves: tuple[Move, ...]
    """The newest first."""
    created: str
    """The commit that put the first files into it; empty if nobody knows."""


NOWHERE = Folder((), "")
"""Where files were before they came."""


class Parted(NamedTuple):
    """What happened to files that are or were in a directory."""

    inside: tuple[kept.Event, ...]
    outside: tuple[kept.Event, ...]
    """Before they came, or after they went."""
    folder: Folder


def gone(connection: sqlite3.Connection, line: kept.Line, path: str) -> list[int]:
    """The events that took files out of a directory, by which they were deleted or moved."""
    folder = _plain(path)
    if not folder:
        return []
    below = (objects.path_bytes(f"{folder}/"), objects.path_bytes(f"{folder}0"))
    past = kept.past(connection, line.number)
    rows = connection.execute(_DELETED, below).fetchall()
    found = [number for number, commit_no in rows if commit_no in past]
    for (commit_no,) in connection.execute(_EMPTIED, below).fetchall():
        if commit_no in past:
            moved = _moved(connection, commit_no)
            found += [number for number, before, _ in moved if is_below(before, folder)]
    return list(dict.fromkeys(found))


def parted(
    connection: sqlite3.Connection, git: Git, path: str, events: Sequence[kept.Event]
) -> Parted:
    """Events, the newest first, by whether their files were in a directory then."""
    folder = _plain(path)
    moves = tuple(_moves(connection, git, folder, events))
    inside = tuple(each for each in events if _is_inside(connection, folder, moves, each))
    met = {each.number for each in inside}
    outside = tuple(each for each in events if each.number not in met)
    name = moves[-1].before if moves else folder
    created = _created(connection, git, name, inside)
    return Parted(inside, outside, Folder(moves, created))


def summed(
    steps: Iterable[model.Step], facts: stepping.Known, folder: Folder
) -> Iterator[model.Step]:
    """What each commit did to all files of a directory, as one step."""
    by_commit: dict[str, list[model.Step]] = {}
    for step in steps:
        by_commit.setdefault(step.commit.oid, []).append(step)
    moves = {str(each.commit): each for each in folder.moves}
    for oid, some in by_commit.items():
        move = moves.get(oid)
        kinds = {kind for each in some for kind in each.kinds}
        yield some[0]._replace(
            kinds=_kinds(kinds, is_first=_is_first(oid, kinds, folder), is_moved=move is not None),
            tasks=_best(some),
            before=move.before or "." if move else "",
            after=move.after or "." if move else "",
            added=sum(each.added for each in some),
            removed=sum(each.removed for each in some),
            undoes=_all_undone(oid, by_commit, facts),
            origin="",
        )


def is_below(path: str, folder: str) -> bool:
    """Whether a file is in a directory; everything is in the one without a name."""
    return not folder or path.startswith(f"{folder}/")


def way(before: str, after: str, folder: str) -> str | None:
    """The directory that a file came from, if its way below that is as it was; None if not."""
    if not is_below(after, folder):
        return None
    rest = after.removeprefix(f"{folder}/") if folder else after
    if before == rest:
        return ""
    return before.removesuffix(f"/{rest}") if before.endswith(f"/{rest}") else None


def is_whole(were: Iterable[str], moved: Mapping[str, str], folder: str) -> bool:
    """Whether all files that a directory had were moved to another one."""
    had = list(were)
    return bool(had) and all(each in moved and is_below(moved[each], folder) for each in had)


def _plain(path: str) -> str:
    return "" if path == "." else path.rstrip("/")


def _moves(
    connection: sqlite3.Connection, git: Git, folder: str, events: Sequence[kept.Event]
) -> Iterator[Move]:
    """The moves of a directory, the newest first; before each it is called otherwise."""
    name = folder
    for commit_no, group in itertools.groupby(events, key=lambda each: each.commit_no):
        changes = [each.change for each in group]
        origin = _origin(changes, name) if name else None
        if origin is not None and _is_moved(connection, git, commit_no, origin, name):
            yield Move(commit_no, changes[0].commit, origin, name)
            name = origin


def _origin(changes: Iterable[history.Change], folder: str) -> str | None:
    """The directory from which a commit brought files, if it is one and nothing was here."""
    found = set()
    for each in changes:
        if each.before is not None and is_below(each.before.path, folder):
            return None
        if each.before is not None and each.after is not None:
            found.add(way(each.before.path, each.after.path, folder))
    ways = found - {None}
    return ways.pop() if len(ways) == 1 else None


def _is_moved(
    connection: sqlite3.Connection, git: Git, commit_no: int, before: str, after: str
) -> bool:
    parent = _parent(connection, commit_no)
    if parent is None or any(_files(git, parent, after)):
        return False
    moved = {was: now for _, was, now in _moved(connection, commit_no)}
    return is_whole(_files(git, parent, before), moved, after)


def _is_inside(
    connection: sqlite3.Connection, folder: str, moves: Sequence[Move], event: kept.Event
) -> bool:
    """Whether an event is of a file that was in the directory before it or after it."""
    places = [each.path for each in (event.change.before, event.change.after) if each is not None]
    ends: tuple[Move | None, ...] = (None, *moves)
    begins: tuple[Move | None, ...] = (*moves, None)
    names = (folder, *(each.before for each in moves))
    for name, began, ended in zip(names, begins, ends, strict=True):
        if not any(is_below(each, name) for each in places):
            continue
        if began is not None and event.commit_no < began.commit_no:
            continue
        # What a branch did that did not know of the move was done to it, too.
        if (
            ended is None
            or event.commit_no <= ended.commit_no
            or not kept.is_before(connection, ended.commit_no, event.commit_no)
        ):
            return True
    return False


def _created(
    connection: sqlite3.Connection, git: Git, folder: str, inside: Sequence[kept.Event]
) -> str:
    if not inside:
        return ""
    first = inside[-1]
    parent = _parent(connection, first.commit_no)
    if parent is not None and any(_files(git, parent, folder)):
        return ""
    same = (each.change for each in inside if each.commit_no == first.commit_no)
    is_old = any(each.before is not None and is_below(each.before.path, folder) for each in same)
    return "" if is_old else str(first.change.commit)


def _moved(connection: sqlite3.Connection, commit_no: int) -> Iterator[tuple[int, str, str]]:
    """The files that a commit moved: their events, from where, and to where."""
    for number, kinds, raw in connection.execute(_MOVED, (commit_no,)).fetchall():
        change, _ = kept.change_in(Oid("0" * 40), kinds, raw)
        if change.before is not None and change.after is not None:
            yield number, change.before.path, change.after.path


def _parent(connection: sqlite3.Connection, commit_no: int) -> Oid | None:
    row = connection.execute(_PARENT, (commit_no,)).fetchone()
    return None if row is None else Oid(row[0])


def _files(git: Git, commit: Oid, folder: str) -> Iterator[str]:
    for each in git.tree(commit, paths=[folder] if folder else []):
        if filesteps.is_there(each.mode):
            yield each.path


def _is_first(oid: str, kinds: set[str], folder: Folder) -> bool:
    """Whether a commit made it; elsewhere each that only made files did so."""
    return kinds == {"introduced"} if folder == NOWHERE else oid == folder.created


def _kinds(kinds: set[str], *, is_first: bool, is_moved: bool) -> tuple[str, ...]:
    if is_first:
        return ("introduced",)
    if is_moved:
        return ("move",) if kinds == {"move"} else ("move", "body")
    return ("body",)


def _best(some: Iterable[model.Step]) -> tuple[tuple[graph.Key, float], ...]:
    """The tasks of several steps of one commit, each as sure as in the surest of them."""
    best: dict[graph.Key, float] = {}
    for key, sure in (pair for step in some for pair in step.tasks):
        best[key] = max(sure, best.get(key, 0.0))
    return tuple(sorted(best.items(), key=lambda each: (-each[1], each[0])))


def _all_undone(
    oid: str, by_commit: Mapping[str, list[model.Step]], facts: stepping.Known
) -> tuple[str, ...]:
    """The commits that one took back as a whole, of those that did something to a directory."""
    return tuple(
        of
        for (by, of), sure in facts.undone.items()
        if by == oid and of in by_commit and sure >= graph.SURE
    )
