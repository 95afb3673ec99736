"""What "as of" means: a date, a commit, or the time at which a task was written down."""

from __future__ import annotations

import re
import sqlite3

from tether import clock, errors, ids, text
from tether.git import Git, Oid
from tether.hints import NamedTuple
from tether.lineage.biography import records
from tether.lineage.edges import model, nodes, view

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ][0-9:.]{4,15}(?:Z|[+-]\d{2}:?\d{2})?)?")
_BEFORE = """
WITH RECURSIVE line (number) AS (
    SELECT ? UNION ALL
    SELECT p.parent FROM line CROSS JOIN identity_parents AS p ON p.child = number AND p.place = 0
)
SELECT c.oid FROM line CROSS JOIN identity_commits AS c USING (number) WHERE c.at <= ? LIMIT 1
"""
_FIRST = (
    "SELECT min(c.at) FROM commit_tasks AS t JOIN identity_commits AS c ON c.number = t.commit_no"
    " WHERE t.task = ?"
)
_TASKS = "SELECT key FROM lineage_nodes WHERE kind = 'task' AND key LIKE ? ESCAPE '\\' LIMIT 20"
_DAY_MS = 24 * 3_600_000
FORMS = "Name a date (2026-03-01), a commit, or a task."


class Moment(NamedTuple):
    """The time that a question is about, and the commit that stood then."""

    words: str
    commit: Oid
    at: str

    @property
    def as_of(self) -> view.AsOf:
        return view.AsOf(self.commit, self.at)


def find(
    connection: sqlite3.Connection, git: Git, tip: Oid, number: int, words: str, scopes: list[str]
) -> Moment:
    """The moment that words name, on the way to a commit."""
    if _DATE.fullmatch(words):
        return _at(connection, tip, number, words, _time(words))
    task = _task(connection, words)
    if task is not None:
        begun = _begun(connection, task, scopes)
        if begun is None:
            raise errors.NotFound(
                f"Nobody wrote down when {text.one_line(words, 80)} began.", hint=FORMS
            )
        return _at(connection, tip, number, words, begun)
    try:
        commit = git.resolve(words)
    except errors.NotFound as problem:
        raise errors.NotFound(
            f"{text.one_line(words, 80)} is no date, no task that is known here, and no commit.",
            hint=FORMS,
        ) from problem
    [found] = git.commits([commit])
    return Moment(words, commit, clock.text(found.committed_ms))


def _time(words: str) -> int:
    """The end of a day, or a time."""
    try:
        if len(words) == 10:
            return clock.parse(f"{words}T00:00:00Z") + _DAY_MS - 1
        return clock.parse(words.replace(" ", "T", 1))
    except (ValueError, OverflowError):
        raise errors.UsageError(f"{text.one_line(words, 40)} is no date.", hint=FORMS) from None


def _at(connection: sqlite3.Connection, tip: Oid, number: int, words: str, at_ms: int) -> Moment:
    """The last commit that stood at a time."""
    for (oid,) in connection.execute(_BEFORE, (number, at_ms)):
        return Moment(words, Oid(oid), clock.text(at_ms))
    raise errors.NotFound(
        f"There was no commit yet as of {text.one_line(words, 40)}, before {tip[:12]}.", hint=FORMS
    )


def _task(connection: sqlite3.Connection, words: str) -> model.Key | None:
    """The only task that is called so."""
    source, colon, rest = words.rpartition(":")
    task_id = rest if colon else words
    if not ids.TaskId.is_valid(task_id):
        return None
    pattern = f"task:{source or '%'}:{task_id}".replace("\\", "").replace("_", "\\_")
    found = [key for (key,) in connection.execute(_TASKS, (pattern,))]
    exact = [key for key in found if model.label(key) == task_id]
    return exact[0] if len(exact) == 1 else None


def _begun(connection: sqlite3.Connection, task: model.Key, scopes: list[str]) -> int | None:
    """When a task was written down, or else first worked on."""
    record = records.read(connection, scopes, [task]).get(task)
    if record is not None and record.created_at:
        return clock.parse(record.created_at)
    node = nodes.find(connection, [task]).get(task)
    [(first,)] = connection.execute(_FIRST, (node,)).fetchall()
    return None if first is None else int(first)
