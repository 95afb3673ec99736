"""Sessions as wholes: what their transcripts tell, when they were last heard, what they were at."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable

from tether import clock, ids
from tether.evidence import model, readers, timeline
from tether.hints import NamedTuple

_FILES = (
    "SELECT id, path, facts FROM evidence_files WHERE facts <> '' AND is_ours = 1"
    " AND source IN ('claude:transcript', 'codex:rollout', 'gemini:session', 'gemini:whole',"
    " 'cursor:transcript') ORDER BY path"
)
_TOLD = (
    "SELECT task_source, task, MAX(at) AS last FROM activities"
    " WHERE file IN ({}) AND task <> '' AND kind IN ({}) GROUP BY task_source, task"
    " ORDER BY last DESC, task_source, task LIMIT {}"
)
_MAX_TASKS = 3


class Trace(NamedTuple):
    """What the transcripts of a session tell of it as a whole."""

    facts: model.Session
    heard_at: str
    """When anything was last written to them."""
    files: tuple[int, ...] = ()
    """Their numbers in the index, with those of its subagents."""


def traces(connection: sqlite3.Connection) -> list[Trace]:
    """The sessions that have transcripts here; those of subagents count for who started them."""
    own: dict[str, list[model.Session]] = {}
    files: dict[str, list[int]] = {}
    heard: dict[str, str] = {}
    for number, path, stored in connection.execute(_FILES).fetchall():
        facts = readers.from_json(stored)
        if facts is None or not facts.session:
            continue
        name = facts.parent or facts.session
        files.setdefault(name, []).append(number)
        heard[name] = max(heard.get(name, ""), facts.last_at, _written_at(path))
        if not facts.parent:
            own.setdefault(name, []).append(facts)
    return [
        Trace(timeline.merged(parts), heard[name], tuple(files[name]))
        for name, parts in own.items()
    ]


def _written_at(path: str) -> str:
    try:
        return clock.text(os.stat(path).st_mtime_ns // 1_000_000)
    except OSError:
        return ""


def told(connection: sqlite3.Connection, files: Iterable[int]) -> tuple[ids.TaskKey, ...]:
    """The tasks that some files tell of last: that were worked on, or else that were named."""
    numbers = ", ".join(map(str, files))
    for kinds in (model.MOVING, (model.MENTIONED,)):
        names = ", ".join(f"'{kind}'" for kind in kinds)
        rows = connection.execute(_TOLD.format(numbers, names, _MAX_TASKS)).fetchall()
        if rows:
            return tuple(ids.TaskKey(source, task) for source, task, _ in rows)
    return ()
