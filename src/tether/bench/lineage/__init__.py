"""What lineage costs on real repositories, against parsing their contents once.

Each is copied first (`scene`), so neither it nor its store is touched.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable

from tether import index
from tether.bench.lineage import asking, costs, crowd, killing, news, samples, scene, steps
from tether.hints import Any

SYMBOLS, FILES = 200, 50
_TIMES = 2
_FLOORS = ("read", "parse", "outline")
_COUNTS = """
SELECT 'commits', count(*) FROM identity_commits
UNION ALL SELECT 'events', count(*) FROM identity_events
UNION ALL SELECT 'nodes', count(*) FROM lineage_nodes
UNION ALL SELECT 'task_edges', count(*) FROM task_edges
UNION ALL SELECT 'code_edges', count(*) FROM task_code_edges
UNION ALL SELECT 'task_evidence', count(*) FROM task_evidence
UNION ALL SELECT 'code_evidence', count(*) FROM code_evidence
"""
Tell = Callable[[str], None]


def measure(
    repositories: Iterable[str],
    rounds: int,
    *,
    edges: int = 0,
    templates: Iterable[str] = (),
    seed: int = 1,
    tell: Tell = lambda _: None,
) -> dict[str, Any]:
    """The figures of some repositories; with `edges` also of their indexes with so many."""
    named = tuple(templates)
    found = []
    for repository in repositories:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            tell("copying a repository")
            here = scene.make(directory, repository, named)
            found.append(_measured(here, directory, rounds, edges, seed, tell))
    return {
        "rounds": rounds,
        "times": _TIMES,
        "floor": "python -I -S -c 'import sqlite3, json'",
        "repositories": found,
    }


def _measured(
    here: scene.Scene, directory: str, rounds: int, edges: int, seed: int, tell: Tell
) -> dict[str, Any]:
    first = _first(here, directory, tell)
    tell(f"{here.name}: a first index that is killed")
    killed = killing.measure(
        here.ground, os.path.join(directory, "killed"), first["identities"], seed
    )
    killed["is_same"] = killed.pop("digest") == first.pop("digest")
    tell(f"{here.name}: questions")
    sample = samples.draw(here.place, here.store_dir, SYMBOLS, FILES, seed)
    why = asking.measure(here, sample, 4 * rounds)
    tell(f"{here.name}: new commits")
    new = news.measure(here, rounds, seed)
    crowded = None
    if edges:
        tell(f"{here.name}: {edges} edges")
        there = crowd.fill(here.store_dir, edges, seed)
        crowded = {
            "edges": there,
            **asking.measure(here, sample, 4 * rounds, with_closures=True),
        }
    return {"name": here.name, **first, "kill": killed, "why": why, "new_commit": new,
            "crowded": crowded}  # fmt: skip


def _first(here: scene.Scene, directory: str, tell: Tell) -> dict[str, Any]:
    """A first index against the floors, the best of some times; the last index stays."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in (*_FLOORS, "identities", "edges")}
    for number in range(_TIMES):
        is_last = number == _TIMES - 1
        store_dir = here.store_dir if is_last else os.path.join(directory, f"store{number}")
        os.makedirs(store_dir, exist_ok=True)
        for name, each in runs.items():
            tell(f"{here.name}: {name}, {number + 1} of {_TIMES}")
            each.append(steps.run(here.ground, name, store_dir))
    best = {name: min(each, key=lambda run: run["cpu_seconds"]) for name, each in runs.items()}
    floors = {name: best[name] for name in _FLOORS}
    whole = {
        "cpu_seconds": best["identities"]["cpu_seconds"] + best["edges"]["cpu_seconds"],
        "wall_seconds": best["identities"]["wall_seconds"] + best["edges"]["wall_seconds"],
    }
    return {
        "blobs": floors["parse"]["blobs"],
        "bytes": floors["parse"]["bytes"],
        "contents_missing": floors["parse"]["contents"] - floors["parse"]["blobs"],
        "floors": {name: costs.told(each) for name, each in floors.items()},
        "identities": _against(best["identities"], floors),
        "edges": _against(best["edges"], floors),
        "both": _against(whole, floors),
        **counts(here.store_dir),
        "digest": steps.run(here.ground, "digest", here.store_dir)["digest"],
    }


def _against(cost: dict[str, Any], floors: dict[str, dict[str, Any]]) -> dict[str, Any]:
    ratios = {name: costs.ratio(cost, floors[name]) for name in ("parse", "outline")}
    return {**costs.told(cost), "ratios": ratios}


def counts(store_dir: str) -> dict[str, Any]:
    """How much an index has, and how large it is."""
    path = os.path.join(store_dir, index.FILE_NAME)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        found = dict(connection.execute(_COUNTS).fetchall())
    return {"counts": found, "index_bytes": os.path.getsize(path)}
