"""Open tasks that another one replaced or contradicts: rows that lineage wrote into the index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

from tether import ids
from tether.hints import NamedTuple
from tether.vacuum import model

_FLAGS = """
SELECT task, flag, other, max(confidence), min(at) FROM lineage_flags
WHERE scope = ? GROUP BY task, flag, other ORDER BY flag DESC, task, 4 DESC, other
"""


class Flag(NamedTuple):
    """What another task says against one."""

    subject: model.Subject
    flag: str
    """`superseded` or `contradicted`."""
    other: ids.TaskKey
    percent: int
    at: str


def read(
    connection: sqlite3.Connection, scope: str, tasks: Mapping[ids.TaskKey, model.Subject]
) -> tuple[Flag, ...]:
    """The flags of the open tasks of a checkout."""
    return tuple(_read(connection, scope, tasks))


def _read(
    connection: sqlite3.Connection, scope: str, tasks: Mapping[ids.TaskKey, model.Subject]
) -> Iterator[Flag]:
    for task, flag, other, confidence, at in connection.execute(_FLAGS, (scope,)):
        key, by = _key(task), _key(other)
        subject = tasks.get(key) if key is not None else None
        if subject is not None and by is not None and subject.state in model.OPEN:
            yield Flag(subject, flag, by, round(100 * confidence), at)


def _key(node: str) -> ids.TaskKey | None:
    """The task that a node of lineage is."""
    kind, source, task_id = (*node.split(":", 2), "", "")[:3]
    return ids.TaskKey(source, task_id) if kind == "task" and task_id else None
