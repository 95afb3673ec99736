"""Where files went that are not at their paths any more, on the way to one commit."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator

from tether import errors, text
from tether.git import Oid, objects
from tether.hints import NamedTuple
from tether.lineage import kept, selecting

_MOVED = (
    "SELECT e.node, e.kinds, e.change FROM identity_events AS e"
    " JOIN lineage_nodes AS n ON n.id = e.node AND n.kind = 'file'"
    " WHERE e.commit_no = ? AND e.kinds LIKE 'move%'"
)
_BELOW = "SELECT DISTINCT path FROM identity_steps WHERE path >= ? AND path < ? AND commit_no <= ?"
_MAX_FILES = 20_000
_MAX_PLACES = 3


class Went(NamedTuple):
    """Where a file is last met."""

    path: str
    node: int | None
    """The number of its node; None if it did not go from where it was looked for."""


class Whereabouts:
    """Of the files on a line that leads to a commit."""

    def __init__(self, connection: sqlite3.Connection, line: kept.Line, commit: Oid) -> None:
        self._connection, self._line, self._commit = connection, line, commit
        self._moves: dict[int, dict[str, Went]] = {}

    def step(self, path: str) -> kept.Placed | None:
        """The last step of a path that is not there any more."""
        return self._line.step(self._connection, path)

    def went(self, path: str) -> Went:
        """Where a file is last met that is not at its path any more, on the way to this commit.

        Others may have come to places where it was, and have gone from there.
        """
        found = Went(path, None)
        seen = {path}
        while True:
            step = self.step(found.path)
            to = self._move(found.path, step.commit_no) if step and not step.oid else None
            if to is None or to.path in seen or found.node not in (None, to.node):
                return found
            found = to
            seen.add(to.path)

    def standing(self, went: Went) -> kept.Placed | None:
        """What stands where a file went, if it is that file."""
        placed = self._line.placed(self._connection, went.path)
        return placed if placed and self.is_of(went, placed.file) else None

    def is_of(self, went: Went, event: int) -> bool:
        """Whether an event is of a file that went."""
        known = kept.node_numbers(self._connection, [event]).get(event)
        return went.node is None or known == went.node

    def _move(self, path: str, commit_no: int) -> Went | None:
        """Where a commit moved a file to."""
        if commit_no not in self._moves:
            rows = self._connection.execute(_MOVED, (commit_no,)).fetchall()
            changes = [(node, kept.change_in(self._commit, *rest)[0]) for node, *rest in rows]
            self._moves[commit_no] = {
                each.before.path: Went(each.after.path, node)
                for node, each in reversed(changes)
                if each.before and each.after
            }
        return self._moves[commit_no].get(path)

    def left(self, path: str) -> errors.NotFound | None:
        """What to say of a directory that is gone; None if there was none."""
        here = self.below(path) if path else ()
        were = [each for each in here if self.step(each) is not None]
        if not were:
            return None
        went = Counter(
            _went(path, each, to.path)
            for each in were
            if (to := self.went(each)).path != each and self.standing(to)
        )
        places = [place for place, _ in went.most_common(_MAX_PLACES)]
        shown = {each: "the top" if each == "." else text.one_line(each, 100) for each in places}
        counts = (f"{went[each]} went to {shown[each]}" for each in places)
        what = ", ".join(counts) or "none is left"
        return errors.NotFound(
            f"Nothing stands in {text.one_line(path, 200)} any more in commit {self._commit[:12]}:"
            f" of {text.counted(len(were), 'file')} {what}.",
            hint=f"Name it as {selecting.typed(f'dir:{places[0]}')}."
            if places
            else "Name one of them: `tether why PATH` tells of files that are gone, too.",
        )

    def below(self, path: str) -> Iterator[str]:
        first = objects.path_bytes(f"{path}/") if path not in ("", ".") else b""
        last = first[:-1] + b"0" if first else b"\xff" * 8
        rows = self._connection.execute(_BELOW, (first, last, self._line.number))
        for count, (raw,) in enumerate(rows.fetchall()):
            if count >= _MAX_FILES:
                raise errors.UsageError(
                    f"More than {_MAX_FILES} files were below {text.one_line(path, 200)}.",
                    hint="Name a directory further down.",
                )
            yield objects.as_path(raw)


def _went(directory: str, path: str, to: str) -> str:
    """Where a file of a directory went: as far up as the way to it is the same."""
    *was, _ = path.removeprefix(f"{directory}/").split("/")
    *now, _ = to.split("/")
    while was and now and was[-1] == now[-1]:
        del was[-1], now[-1]
    return "/".join(now) or "."
