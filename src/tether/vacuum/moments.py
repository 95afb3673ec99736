"""When anything was done about any task: who did it, and how many tasks at once.

One pass over the index says of every task when it was last touched, and lets a silence be compared
with what went on around it.
"""

from __future__ import annotations

import bisect
import sqlite3
from collections.abc import Iterable, Mapping

from tether import clock, ids
from tether.evidence import model as evidence
from tether.hints import NamedTuple
from tether.store import port, sql
from tether.vacuum import model, silence

_SQL = sql.Queries("vacuum")
_STATED = (
    "SELECT at, task_source, task, session, what IN ('claimed', 'started', 'adopted', 'locked')"
    " FROM activities WHERE task <> '' AND kind = 'stated' AND at <> '' AND at <= ?"
)
# The last of each hour: that somebody worked on it a hundred times within one says no more.
_WORKED = (
    "SELECT MAX(at), task_source, task, session, 0 FROM activities"
    " WHERE task <> '' AND kind = 'worked' AND at <> '' AND at <= ?"
    " GROUP BY task, task_source, substr(at, 1, 13)"
)
_FILES = "SELECT path FROM evidence_files"
_LISTED = (
    "SELECT MIN(at), task_source, task FROM activities"
    " WHERE file = (SELECT id FROM evidence_files WHERE path = 'git:list') AND kind = 'listed'"
    " AND task <> '' AND at <> '' GROUP BY task_source, task"
)
_COMMITTED = (
    "SELECT MAX(start) FROM activities"
    " WHERE file = (SELECT id FROM evidence_files WHERE path = 'git:commit') AND start <= ?"
)
_TICKED = (
    "SELECT record, COUNT(DISTINCT task_source || ':' || task) FROM activities"
    " WHERE file = (SELECT id FROM evidence_files WHERE path = 'git:list')"
    " AND task <> '' AND what = 'ticked' GROUP BY record HAVING COUNT(*) > 1"
)
# Statements of one command, one commit or one export bear nearly the same time.
_TOGETHER_MS = 60_000
_WEEK_MS = 7 * model.DAY_MS


class Touch(NamedTuple):
    """Somebody did or declared something about a task."""

    at_ms: int
    key: ids.TaskKey
    session: str = ""
    is_work: bool = False
    """False for what was only declared: a state, an owner, a claim."""
    is_claim: bool = False


class Moments:
    """All touches of a project, in order."""

    def __init__(
        self,
        touches: Iterable[Touch],
        listed_at: Mapping[ids.TaskKey, int] | None = None,
        committed_ms: int = 0,
    ) -> None:
        ordered = sorted(touches)
        self.listed_at: Mapping[ids.TaskKey, int] = listed_at or {}
        """When Git first saw each task on its list."""
        self._committed_ms = committed_ms
        self.last_at: dict[ids.TaskKey, int] = {}
        """When each task was last touched."""
        self.by: dict[ids.TaskKey, str] = {}
        """The last session that is known to have touched it."""
        self.taken_at: dict[ids.TaskKey, int] = {}
        """When somebody last worked on each task, or claimed it: more than a remark about it."""
        self._of_task: dict[ids.TaskKey, list[Touch]] = {}
        for each in ordered:
            self.last_at[each.key] = each.at_ms
            if each.session:
                self.by[each.key] = each.session
            if each.is_work or each.is_claim:
                self.taken_at[each.key] = each.at_ms
            self._of_task.setdefault(each.key, []).append(each)
        self._stated = [each for each in ordered if not each.is_work]
        self._stated_at = [each.at_ms for each in self._stated]
        # An agent touches its task every few seconds: each task counts once an hour.
        hours = {(each.at_ms // model.HOUR_MS, each.key) for each in ordered}
        self._hours = sorted(hour for hour, _ in hours)

    @property
    def project_ms(self) -> int:
        """When anything at all was last done: a task touched, or a commit made for none."""
        return max([self._committed_ms, *self.last_at.values()])

    def has_work(self, key: ids.TaskKey) -> bool:
        """Is there any trace of work on a task itself?"""
        return any(each.is_work for each in self._of_task.get(key, ()))

    def quiet(self, key: ids.TaskKey, now_ms: int, created_ms: int = 0) -> model.Quiet | None:
        """How silent it is about a task; None if nobody ever touched it."""
        touches = [each for each in self._of_task.get(key, ()) if each.at_ms <= now_ms]
        if not touches:
            return None
        touched_ms = max(touches[-1].at_ms, created_ms)
        alone_ms, together = self._alone(touches, now_ms)
        alone_ms = max(alone_ms or created_ms or touches[0].at_ms, created_ms)
        return model.Quiet(
            (now_ms - touched_ms) / model.HOUR_MS,
            (now_ms - alone_ms) / model.HOUR_MS,
            any(each.is_work and each.at_ms >= created_ms for each in touches),
            together,
            self._touches_before(now_ms),
        )

    def _alone(self, touches: list[Touch], now_ms: int) -> tuple[int, int]:
        """When a task was last touched by itself, and with how many others it was since."""
        most = 1
        for each in reversed(touches):
            together = 1 if each.is_work else self._together(each.at_ms, now_ms)
            if together < silence.BULK_TASKS:
                return each.at_ms, most
            most = max(most, together)
        return 0, most

    def _together(self, at_ms: int, now_ms: int) -> int:
        """About how many tasks something was stated in that minute."""
        begin = bisect.bisect_left(self._stated_at, at_ms - _TOGETHER_MS)
        end = bisect.bisect_right(self._stated_at, min(now_ms, at_ms + _TOGETHER_MS))
        return len({each.key for each in self._stated[begin:end]})

    def _touches_before(self, now_ms: int) -> int:
        begin = bisect.bisect_left(self._hours, (now_ms - _WEEK_MS) // model.HOUR_MS)
        return bisect.bisect_right(self._hours, now_ms // model.HOUR_MS) - begin


def read(
    connection: sqlite3.Connection,
    store: port.Store,
    until: str,
    names: Mapping[ids.TaskKey, ids.TaskKey],
    also: Iterable[evidence.Activity] = (),
) -> Moments:
    """All touches up to a time that index and store know of, with what was found otherwise.

    `names` says which task an id means today that was consolidated or renumbered.
    """
    found = [
        Touch(clock.parse(at), ids.TaskKey(source, task), session, is_work, bool(is_claim))
        for statement, is_work in ((_STATED, False), (_WORKED, True))
        for at, source, task, session, is_claim in connection.execute(statement, (until,))
    ]
    found += [
        Touch(
            clock.parse(each.at),
            ids.TaskKey(each.task_source, each.task),
            each.session,
            each.kind == evidence.WORKED,
        )
        for each in also
        if each.at and each.at <= until
    ]
    here = {path for (path,) in connection.execute(_FILES)}
    for row in store.rows(_SQL.kept_files):
        if row["file"] not in here:
            found += _kept(store, row["host_id"], row["file"], until)
    for row in store.rows(_SQL.told, until=until):
        key = ids.TaskKey(row["source"], row["task"])
        found.append(Touch(clock.parse(row["at"]), key, is_claim=bool(row["is_claim"])))
    touches = [each._replace(key=names[each.key]) if each.key in names else each for each in found]
    listed = {
        ids.TaskKey(source, task): clock.parse(at)
        for at, source, task in connection.execute(_LISTED)
    }
    [(committed_ms,)] = connection.execute(_COMMITTED, (clock.parse(until),)).fetchall()
    return Moments(touches, listed, committed_ms or 0)


def _kept(store: port.Store, host_id: str, file: str, until: str) -> list[Touch]:
    return [
        Touch(
            clock.parse(row["at"]),
            ids.TaskKey(row["task_source"], row["task"]),
            row["session"],
            row["kind"] == "worked",
        )
        for row in store.rows(_SQL.kept_of_file, host_id=host_id, file=file)
        if row["at"] <= until
    ]


def ticked_together(connection: sqlite3.Connection) -> dict[str, int]:
    """How many boxes a commit ticked at once, for those that ticked several."""
    return dict(connection.execute(_TICKED).fetchall())
