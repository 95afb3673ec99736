"""What one new commit costs that changes one function: until its edges are there to be asked.

Half of them are read by a process that goes on, as an editor's or a server's would, and half by one
that is started for it.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterator

from tether import clock
from tether.bench import processes
from tether.bench.lineage import costs, samples, scene
from tether.git import Git, Oid
from tether.hints import Any

_TASK = (
    "SELECT key FROM lineage_nodes WHERE kind = 'task'"
    " AND id IN (SELECT task FROM commit_tasks) LIMIT 1"
)


def measure(here: scene.Scene, rounds: int, seed: int) -> dict[str, Any]:
    """Make commits one by one, and bring the index forward after each."""
    edits = samples.edits(here.place, here.store_dir, seed)
    with scene.opened(here.place, here.ground.environ) as opened:
        task = opened.who.ask(lambda connection: connection.execute(_TASK).fetchone())
        subject = f"{str(task[0]).rpartition(':')[2]}: " if task else ""
        commits = _commits(here, edits, subject)
        warm = _warm(opened, itertools.islice(commits, rounds + 1))
    if not warm:
        return {"commits": 0}
    return {
        "commits": len(warm),
        "names_a_task": bool(task),
        "warm": costs.milliseconds(warm),
        "process": _cold(here, itertools.islice(commits, rounds + 1)),
    }


def _commits(here: scene.Scene, edits: Iterator[samples.Edit], subject: str) -> Iterator[Oid]:
    """Commits on top of each other, as long as there are functions to change."""
    git = Git(here.place)
    now_ms = clock.SystemClock().now_ms()
    for number, edit in enumerate(edits):
        said = f"{subject}Change a number ({number})"
        made = git.commit_paths(
            scene.BRANCH, {edit.path: edit.content}, said, scene.IDENTITY, when_ms=now_ms
        )
        if made.is_new:
            yield made.oid


def _warm(opened: scene.Opened, commits: Iterator[Oid]) -> list[float]:
    """Seconds for each, by a process that goes on."""
    found = []
    for oid in commits:
        start = time.perf_counter()
        if not opened.who.refresh(oid):
            raise processes.Failed("a commit on top of the last one could not be followed")
        found.append(time.perf_counter() - start)
    # The first one fills the caches.
    return found[1:]


def _cold(here: scene.Scene, commits: Iterator[Oid]) -> dict[str, Any]:
    """The same by `tether lineage rebuild`, each time anew."""
    pairs = []
    for _ in commits:
        floor = processes.run(here.ground, processes.FLOOR)
        pairs.append(processes.Pair(floor, here.tether("lineage", "rebuild")))
    return against_floor(pairs[1:])


def against_floor(pairs: list[processes.Pair]) -> dict[str, Any]:
    """How long processes took, and how many times as long as the floor of start-up."""
    if not pairs:
        return {"count": 0}
    floor = statistics.median(pair.floor.wall for pair in pairs)
    found = costs.milliseconds([pair.own.wall / 1000 for pair in pairs])
    ratios = {name.replace("_ms", "_ratio"): round(ms / floor, 2) for name, ms in found.items()}
    cpu = processes.told(pairs)["cpu_ratio"]
    return {"count": len(pairs), **found, **ratios, "cpu_ratio": cpu, "floor_ms": round(floor, 1)}
