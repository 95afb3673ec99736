"""What reading evidence costs: a whole workload at once, what is new, and nothing new.

Each step is a process of its own, so that neither its memory nor its caches are those of another.
The floor reads the same bytes in the same run and parses only the lines in which an id stands; once
line by line, as one would write it down, and once with the quickest search that Tether itself uses.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable

from tether import host, ids, workspace
from tether.bench.workload import writing
from tether.evidence import keeping, ledger, places, witness
from tether.evidence.history import commits
from tether.hints import Any
from tether.store import sqlite
from tether.tasks.sources import finding, patterns

# As the ids of tracks look in bytes: the floor's own pattern.
_ID = re.compile(rb"(?<![A-Za-z0-9.])[A-Z]{1,2}(?:\.[1-9][0-9]*){1,4}(?![A-Za-z0-9])(?!\.[0-9])")
_NEW_SESSION_LINES = 512


def measure(scale: float, rounds: int) -> dict[str, Any]:
    """Make a workload, read it, and say what that costs."""
    with tempfile.TemporaryDirectory(prefix="tether-bench-") as base:
        directory = os.path.join(base, "workload")
        counts = writing.make(directory, scale)["counts"]
        # Once for nothing: the files are in the cache of the system then, for everybody.
        _step("floor_by_line", directory, base)
        runs = [_round(directory, base) for _ in range(rounds)]
        best = min(runs, key=lambda run: float(run["read"]["cpu_seconds"]))
        return {"scale": scale, "rounds": rounds, "counts": counts, **best}


def _round(directory: str, base: str) -> dict[str, Any]:
    store_dir = os.path.join(base, "store")
    shutil.rmtree(store_dir, ignore_errors=True)
    os.mkdir(store_dir)
    floors = {
        name: _step(name, directory, store_dir) for name in ("floor_by_line", "floor_by_file")
    }
    read = _step("read", directory, store_dir)
    again = _step("again", directory, store_dir)
    _add_session(directory)
    new = _step("again", directory, store_dir)
    timeline = _step("timeline", directory, store_dir)
    for cost in (read, new):
        cost["ratios"] = {
            name: round(cost["files_cpu_seconds"] / floor["cpu_seconds"], 2)
            for name, floor in floors.items()
        }
    return {
        "floors": floors,
        "read": read,
        "nothing_new": again,
        "new_session": new,
        "timeline": timeline,
    }


def _step(name: str, directory: str, store_dir: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tether.bench.evidence", name, directory, store_dir],
        check=True,
        capture_output=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _add_session(directory: str) -> None:
    """A session of usual length that was not there before."""
    repo = os.path.join(os.path.realpath(directory), "repo")
    project = os.path.join(directory, "home", ".claude", "projects", places.slug(repo))
    names = sorted(name for name in os.listdir(project) if name.endswith(".jsonl"))
    source = next(
        path
        for path in (os.path.join(project, name) for name in names)
        if _count_lines(path) >= _NEW_SESSION_LINES
    )
    session = str(uuid.uuid5(uuid.NAMESPACE_OID, str(time.time_ns())))
    old = os.path.basename(source).removesuffix(".jsonl")
    with open(source, encoding="utf-8") as file:
        lines = [next(file).replace(old, session) for _ in range(_NEW_SESSION_LINES)]
    with open(os.path.join(project, f"{session}.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(lines)


def _count_lines(path: str) -> int:
    with open(path, "rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


# What the processes do


class _Ground:
    """A workload as the processes find it."""

    def __init__(self, directory: str, store_dir: str) -> None:
        self.here = workspace.find(os.path.join(directory, "repo"), store_dir=store_dir)
        root = self.here.root or ""
        home = os.path.join(os.path.realpath(directory), "home")
        names = ("claude", "codex", "gemini", "cursor", "coditect-data")
        self.places = places.Places._make((os.path.join(home, f".{name}"),) for name in names)
        self.kinds = patterns.Kinds(tuple(each.name for each in finding.detect(root)))
        self.search = places.Search(self.places, (root,))

    def witness(self) -> witness.Witness:
        store = sqlite.SqliteStore(self.here, wait_seconds=10)
        store.ensure_writable()
        return witness.Witness(
            self.here,
            store,
            self.places,
            self.kinds,
            work_root="work",
            host_id=host.here().host_id,
            keeps_excerpts=True,
        )


def _floor_by_line(ground: _Ground) -> dict[str, Any]:
    files = read_bytes = parsed = 0
    for found in ground.search.files():
        files += 1
        with open(found.path, "rb") as file:
            for line in file:
                read_bytes += len(line)
                if _ID.search(line):
                    parsed += _parse(line)
    return {"files": files, "bytes": read_bytes, "parsed": parsed}


def _floor_by_file(ground: _Ground) -> dict[str, Any]:
    finder = patterns.Finder(ground.kinds)
    files = read_bytes = parsed = 0
    for found in ground.search.files():
        files += 1
        with open(found.path, "rb") as file:
            content = file.read()
        read_bytes += len(content)
        for pattern in finder.raw:
            match = pattern.search(content)
            while match:
                end = content.find(b"\n", match.start())
                end = len(content) if end < 0 else end
                parsed += _parse(content[content.rfind(b"\n", 0, match.start()) + 1 : end])
                match = pattern.search(content, end)
    return {"files": files, "bytes": read_bytes, "parsed": parsed}


def _parse(line: bytes) -> int:
    try:
        json.loads(line)
    except ValueError:
        return 0
    return 1


def _read(ground: _Ground) -> dict[str, Any]:
    """Everything that a command does before it answers, with its parts apart."""
    parts: dict[str, float] = {}
    ledger.Ledger.look = _timed(ledger.Ledger.look, "files", parts)  # type: ignore[method-assign]
    commits.History.look = _timed(commits.History.look, "git", parts)  # type: ignore[method-assign]
    keeping.keep = _timed(keeping.keep, "store", parts)
    own = ground.witness()
    own.ask(lambda _: None)
    looked = own.looked
    return {
        "files": looked.files,
        "read": looked.read,
        "bytes": looked.read_bytes,
        "commits": looked.commits,
        **{f"{name}_cpu_seconds": round(seconds, 3) for name, seconds in parts.items()},
    }


def _timed(work: Callable[..., Any], name: str, parts: dict[str, float]) -> Callable[..., Any]:
    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.process_time()
        try:
            return work(*args, **kwargs)
        finally:
            parts[name] = time.process_time() - start

    return timed


def _timeline(ground: _Ground) -> dict[str, Any]:
    own = ground.witness()
    items = finding.read(ground.here.root or "", ground.kinds.sources).items
    key = next(iter(items), ids.TaskKey("track", "A.1.1"))
    return {"activities": len(own.timeline(key).activities)}


_STEPS = {
    "floor_by_line": _floor_by_line,
    "floor_by_file": _floor_by_file,
    "read": _read,
    "again": _read,
    "timeline": _timeline,
}


def main() -> None:
    """One step, in this process: what it did, and what it cost."""
    name, directory, store_dir = sys.argv[1:]
    ground = _Ground(directory, store_dir)
    start = time.process_time()
    found = _STEPS[name](ground)
    found["cpu_seconds"] = round(time.process_time() - start, 3)
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
