"""What to read beside the files that a new task names, and which tasks worked there before.

Files that the same commits changed, weighted by rarity: who changes everything says nothing. Who
writes a task down is told, and what was suggested is recorded with it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from tether.hints import NamedTuple
from tether.lineage import kept
from tether.lineage.edges import model

_MAX_FILES, _MAX_TASKS = 5, 5
# Of commits with more files than this, and files with more tasks, nothing follows.
_MOST_FILES, _MOST_TASKS = 30, 25
# What is less than so much of the best is no suggestion any more: its returns diminish.
_SHARE, _LEAST_TIMES = 0.25, 2
_TOGETHER = """
WITH seeds AS (SELECT value AS node FROM json_each(:seeds)),
own AS (
    SELECT DISTINCT e.commit_no, c.files FROM seeds JOIN identity_events AS e USING (node)
    JOIN identity_commits AS c ON c.number = e.commit_no
    WHERE e.kinds <> '' AND c.files BETWEEN 2 AND :most ORDER BY e.commit_no DESC LIMIT 300
),
near AS (
    SELECT e.node, sum(1.0 / (own.files - 1)) AS weight, count(*) AS times
    FROM own JOIN identity_events AS e USING (commit_no)
    JOIN lineage_nodes AS n ON n.id = e.node AND n.kind = 'file'
    WHERE e.kinds <> '' AND e.node NOT IN (SELECT node FROM seeds)
    GROUP BY e.node HAVING times >= :least ORDER BY weight DESC LIMIT 60
)
SELECT near.node, near.times,
       near.weight / (1 + (SELECT count(*) FROM identity_events AS o WHERE o.node = near.node)),
       (SELECT max(number) FROM identity_events AS l WHERE l.node = near.node)
FROM near ORDER BY 3 DESC, 1
"""
_TASKS = """
SELECT t.key, max(c.at), sum(c.confidence / (
    SELECT count(DISTINCT from_id) FROM task_code_edges AS o WHERE o.node_id = c.node_id
)) AS weight
FROM json_each(:seeds) AS s JOIN task_code_edges AS c ON c.node_id = s.value
JOIN lineage_nodes AS t ON t.id = c.from_id AND t.kind = 'task'
WHERE c.edge_type IN ('touched', 'created') AND c.confidence >= 0.7
  AND c.scope IN (SELECT value FROM json_each(:scopes))
  AND (SELECT count(DISTINCT from_id) FROM task_code_edges AS o WHERE o.node_id = c.node_id)
      <= :most
GROUP BY t.key ORDER BY weight DESC, 2 DESC, t.key LIMIT 40
"""


class File(NamedTuple):
    """A file that may be worth reading."""

    path: str
    weight: float
    times: int
    """How often it changed together with those that were named."""


class Task(NamedTuple):
    """A task that worked on the files that were named."""

    key: model.Key
    weight: float
    at: str
    """When it last did."""


class Suggested(NamedTuple):
    """What to look at before a task is begun."""

    files: tuple[File, ...]
    tasks: tuple[Task, ...]


def suggest(
    connection: sqlite3.Connection, line: kept.Line, paths: Iterable[str], scopes: Iterable[str]
) -> Suggested:
    """What goes with some files that stand at the end of a line."""
    named = list(paths)
    placed = [found for path in named if (found := line.placed(connection, path))]
    seeds = json.dumps(list(kept.node_numbers(connection, [e.file for e in placed]).values()))
    bound = {"seeds": seeds, "most": _MOST_FILES, "least": _LEAST_TIMES}
    files = []
    for _, times, weight, last in connection.execute(_TOGETHER, bound).fetchall():
        path = _standing(connection, line, last)
        if path and path not in named:
            files.append(File(path, round(weight, 4), times))
    bound = {"seeds": seeds, "most": _MOST_TASKS, "scopes": json.dumps(list(scopes))}
    rows = connection.execute(_TASKS, bound).fetchall()
    tasks = [Task(key, round(weight, 4), at) for key, at, weight in rows]
    return Suggested(
        tuple(e for e in files[:_MAX_FILES] if e.weight >= _SHARE * files[0].weight),
        tuple(e for e in tasks[:_MAX_TASKS] if e.weight >= _SHARE * tasks[0].weight),
    )


def _standing(connection: sqlite3.Connection, line: kept.Line, event: int) -> str:
    """The path at which a file stands now; empty if it does not."""
    place = kept.change_of(connection, event).after
    placed = line.placed(connection, place.path) if place else None
    if place is None or placed is None:
        return ""
    nodes = kept.nodes_of(connection, [placed.file, event])
    return place.path if nodes.get(placed.file) == nodes.get(event) else ""
