"""An index with very many edges: made-up tasks that did what commits of the history did.

So the edges are as crowded as the history is: a file that is changed again and again has hundreds.
"""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections.abc import Iterable, Iterator

from tether import clock, ids, index
from tether.bench import processes
from tether.hints import NamedTuple
from tether.lineage.biography import model as story
from tether.lineage.biography import records
from tether.lineage.derive import crediting
from tether.lineage.edges import ledger, model, nodes

# Nobody takes back what stands in the scope of all checkouts and is of no commit.
_DERIVER, _SCOPE = "external", ""
_COMMITS_EACH = 4
_CODE_EACH = 30
_AT_ONCE = 200
_BETWEEN = ("references", "references", "extends", "supersedes", "motivates", "blocks", "reverts")
_RECENT = 40
_COUNT = "SELECT (SELECT count(*) FROM task_edges) + (SELECT count(*) FROM task_code_edges)"
_COMMITS = (
    "SELECT number, oid, at FROM identity_commits"
    " WHERE number IN (SELECT commit_no FROM identity_events WHERE kinds <> '') ORDER BY number"
)
_EVENTS = (
    "SELECT n.key, n.kind, e.kinds FROM identity_events AS e"
    " JOIN lineage_nodes AS n ON n.id = e.node WHERE e.commit_no = ? AND e.kinds <> '' LIMIT ?"
)
_GIVE = "INSERT OR REPLACE INTO commit_tasks VALUES (?, ?, ?, 'named', 0)"
_WAIT_SECONDS = 60.0


class _Made(NamedTuple):
    """A task with what it did."""

    key: model.Key
    commits: tuple[int, ...]
    edges: tuple[model.Edge, ...]
    record: story.Record


def fill(store_dir: str, count: int, seed: int) -> int:
    """Add edges until there are so many; how many there are."""
    known = index.Index(store_dir)
    with contextlib.closing(known):
        while (there := _counted(known)) < count:
            if not known.write(
                lambda into, there=there: _add(into, count - there, there + seed),  # type: ignore[misc]
                wait_seconds=_WAIT_SECONDS,
            ):
                raise processes.Failed("the index could not be written")
            if _counted(known) == there:
                raise processes.Failed("the history has no changes that edges could be made of")
    return there


def _counted(known: index.Index) -> int:
    [(count,)] = known.rows(_COUNT)
    return int(count)


def _add(connection: sqlite3.Connection, wanted: int, seed: int) -> None:
    """Some more tasks, up to so many edges."""
    chance = random.Random(seed)  # noqa: S311 (chance that can be repeated)
    commits = connection.execute(_COMMITS).fetchall()
    kinds: dict[model.Key, model.Kind] = {}
    made: list[_Made] = []
    for number in range(_AT_ONCE if commits else 0):
        first = chance.randrange(len(commits))
        some = commits[first : first + 1 + chance.randrange(_COMMITS_EACH)]
        task = _task(connection, f"X{seed}-{number}", some, kinds)
        others = [each.key for each in made[-_RECENT:]]
        between = tuple(_between(task, others, chance))
        task = task._replace(edges=(*task.edges, *between)[:wanted])
        wanted -= len(task.edges)
        made.append(task)
        if wanted <= 0:
            break
    _write(connection, made, kinds)


def _task(
    connection: sqlite3.Connection,
    name: str,
    commits: list[tuple[int, str, int]],
    kinds: dict[model.Key, model.Kind],
) -> _Made:
    key = model.task_key(ids.TaskKey(ids.OWN_SOURCE, name))
    edges: dict[tuple[str, str], model.Edge] = {}
    for number, oid, at_ms in commits:
        for node, kind, words in connection.execute(_EVENTS, (number, _CODE_EACH)):
            kinds[node] = kind
            verb = crediting.edge_type(words.split())
            pointer, detail = f"commit:{oid}", {"how": "named"}
            edges[verb, node] = model.Edge(
                key, verb, node, crediting.NAMED, clock.text(at_ms), pointer, detail
            )
    at = clock.text(commits[-1][2])
    record = story.Record(
        key,
        name,
        f"Let station {name} ring when it freezes",
        "done",
        "ada",
        at,
        at,
        "The freezer must ring before the food is lost.",
        "plan",
        (),
        f"file:work/done/{name}.yaml",
    )
    return _Made(key, tuple(number for number, *_ in commits), tuple(edges.values()), record)


def _between(task: _Made, others: list[model.Key], chance: random.Random) -> Iterator[model.Edge]:
    """About one edge to another task for ten to code."""
    for other in chance.sample(others, min(len(others), len(task.edges) // 10 + 1)):
        kind = chance.choice(_BETWEEN)
        detail = {"verb": kind, "line": 7}
        pointer = f"{task.record.pointer}#line=7"
        yield model.Edge(task.key, kind, other, 0.8, task.record.created_at, pointer, detail)


def _write(
    connection: sqlite3.Connection, made: Iterable[_Made], kinds: dict[model.Key, model.Kind]
) -> None:
    by_key = {each.key: each for each in made}
    said = [ledger.Said(key, "1", each.edges) for key, each in by_key.items()]
    now = clock.now_text(clock.SystemClock())
    ledger.replace_all(connection, _DERIVER, _SCOPE, said, now, kinds)
    tasks: dict[model.Key, model.Kind] = dict.fromkeys(by_key, "task")
    numbers = nodes.numbers(connection, tasks)
    connection.executemany(
        _GIVE,
        [
            (commit, numbers[key], crediting.NAMED)
            for key, each in by_key.items()
            for commit in each.commits
        ],
    )
    records.keep(connection, _SCOPE, {key: each.record for key, each in by_key.items()})
