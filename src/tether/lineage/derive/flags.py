"""What edges say against a task, for who looks for dropped work: rows that the vacuum reads."""

from __future__ import annotations

import sqlite3

_CLEAR = "DELETE FROM lineage_flags WHERE scope = ?"
# What somebody declared or wrote plainly counts; so does a contradiction in a text, which is never
# sure, and is shown as what it is.
_FLAG = """
INSERT OR IGNORE INTO lineage_flags (scope, task, flag, other, confidence, at)
SELECT :scope, t.key, CASE e.edge_type WHEN 'supersedes' THEN 'superseded' ELSE 'contradicted' END,
       o.key, e.confidence, e.at
FROM task_edges AS e
JOIN lineage_nodes AS t ON t.id = e.to_id AND t.kind = 'task'
JOIN lineage_nodes AS o ON o.id = e.from_id
WHERE e.scope IN ('', :scope)
  AND ((e.edge_type = 'supersedes' AND e.confidence >= 0.7)
    OR (e.edge_type = 'contradicts' AND e.confidence >= 0.5))
ORDER BY e.confidence DESC
"""


def derive(connection: sqlite3.Connection, scope: str) -> None:
    """Write the flags of one checkout anew."""
    connection.execute(_CLEAR, (scope,))
    connection.execute(_FLAG, {"scope": scope})
