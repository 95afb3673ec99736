"""What lineage has of files and tasks, read from its index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator

from tether.bench.lineage.attributions import judging, trails
from tether.git import Oid, objects
from tether.hints import NamedTuple
from tether.lineage import kept

_OF_NODE = (
    "SELECT n.key, e.confidence, v.pointer, v.detail FROM task_code_edges AS e"
    " JOIN lineage_nodes AS n ON n.id = e.from_id AND n.kind = 'task'"
    " JOIN code_evidence AS v ON v.edge = e.id"
    " WHERE e.node_id = ? AND e.scope = '' AND e.edge_type IN ('touched', 'created', 'deleted')"
)
_CREDITED = (
    "SELECT n.key FROM commit_tasks AS t JOIN lineage_nodes AS n ON n.id = t.task"
    " WHERE t.commit_no = ?"
)
_STEP = "SELECT file FROM identity_steps WHERE path = ? AND commit_no = ?"
_OWN = "SELECT node FROM identity_events WHERE number = ? AND commit_no = ?"


class Standing(NamedTuple):
    """A file of HEAD, and the number of its node."""

    path: str
    node: int


class Lookup:
    """Reads one index, of what stood at one commit."""

    def __init__(self, connection: sqlite3.Connection, tip: Oid) -> None:
        self._connection = connection
        self._line = kept.Line(kept.number_of(connection, tip) or 0)
        self._credited: dict[int, frozenset[str]] = {}

    def standing(self, paths: Iterable[str]) -> Iterator[Standing]:
        """The nodes of files, as far as they are known."""
        for path in paths:
            placed = self._line.placed(self._connection, path)
            if placed is not None and placed.file:
                numbers = kept.node_numbers(self._connection, [placed.file])
                yield Standing(path, numbers[placed.file])

    def edges(self, one: Standing) -> Iterator[tuple[judging.Pair, judging.Edge]]:
        """The tasks that have to do with a file."""
        found: dict[str, list[tuple[float, str, str]]] = {}
        for key, *rest in self._connection.execute(_OF_NODE, (one.node,)):
            found.setdefault(key, []).append((rest[0], rest[1], rest[2]))
        for key, rows in found.items():
            yield (
                (one.path, key),
                judging.Edge(
                    max(confidence for confidence, *_ in rows),
                    frozenset(str(json.loads(detail).get("how", "")) for *_, detail in rows),
                    frozenset(pointer.removeprefix("commit:") for _, pointer, _ in rows),
                ),
            )

    def fact(self, step: trails.Step, task: str, node: int | None) -> judging.Fact:
        """What became of a commit that should have led from a task to a file."""
        number = kept.number_of(self._connection, step.commit)
        if number is None:
            return judging.Fact(is_known=False, is_credited=False, node="none")
        if number not in self._credited:
            rows = self._connection.execute(_CREDITED, (number,))
            self._credited[number] = frozenset(str(key) for (key,) in rows)
        nodes = set(self._changed(step.path, number))
        whose = "same" if node in nodes else "other" if nodes else "none"
        return judging.Fact(
            is_known=True,
            is_credited=task in self._credited[number],
            node=whose,  # type: ignore[arg-type]  # one of the three
        )

    def _changed(self, path: str, number: int) -> Iterator[int]:
        """The nodes that a commit changed at a path."""
        rows = self._connection.execute(_STEP, (objects.path_bytes(path), number)).fetchall()
        for (event,) in rows:
            if event is None:
                continue
            for (node,) in self._connection.execute(_OWN, (event, number)):
                yield int(node)
