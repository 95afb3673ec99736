"""How the timeline asks the index."""

from __future__ import annotations

import sqlite3

from tether.evidence import timeline
from tether.index import database


def test_the_activities_of_a_task_are_found_by_an_index() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(database._SCHEMA)
    plan = connection.execute(f"EXPLAIN QUERY PLAN {timeline._OF_TASK}", ("H.1", "track"))
    assert any("activities_by_task" in row[-1] for row in plan.fetchall())
    connection.close()
