"""How well and at what cost sweeps find orphans, on a workload that has its truth beside it.

The workload is made twice: once with a table of the processes at its moment, once without a word
about processes. What a sweep says is held against the fates that truth tells; what it costs is
measured in a process of its own for every step, after everything was read once.
"""

from __future__ import annotations

import collections
import gc
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator

from tether import clock, host, ids, index, workspace
from tether.agents import claims, lookout, registry
from tether.bench import processes, startup
from tether.bench.workload import model as workload
from tether.bench.workload import processes as tables
from tether.bench.workload import writing
from tether.evidence import places, witness
from tether.hints import Any, NamedTuple
from tether.store import port, sqlite
from tether.tasks.sources import finding, patterns
from tether.vacuum import deferring, model, presence, subjects, sweeps

NOW = clock.text(workload.NOW)
_HOSTS = ("host-0", "host-1")
# How a sweep calls what truth calls otherwise.
_CLASSES = {workload.STALE: model.STALE_IN_PROGRESS, workload.PARTIAL: model.PARTIALLY_COMPLETED}
CLASSES = tuple(_CLASSES.get(fate, fate) for fate in workload.ORPHANS)
_SILENT = (model.STALE_IN_PROGRESS, model.PARTIALLY_COMPLETED)
# What may rightly be said of a task of each fate; who died has lost the context too, and so on.
_RIGHT = {
    workload.DEAD_CLAIM: (model.DEAD_CLAIM, model.CONTEXT_LOST, *_SILENT, model.LONG_CLAIM),
    workload.CONFLICT_ABANDONED: (model.CONFLICT_ABANDONED, *_SILENT),
    workload.CONTEXT_LOST: (model.CONTEXT_LOST, *_SILENT),
    workload.STALE: _SILENT,
    workload.PARTIAL: _SILENT,
    workload.DONE_UNMARKED: (model.DONE_UNMARKED,),
    workload.BULK_CLOSED: (model.DONE_UNPROVEN,),
    workload.ACTIVE: (model.LONG_CLAIM,),
}
_Said = list[tuple[str, model.Finding]]
_HOLDERS = 32
_GONE = 2


class Truth(NamedTuple):
    """What became of the tasks and tracks of a project."""

    fates: dict[str, dict[str, Any]]
    parked: frozenset[str]


def measure(scale: float, rounds: int) -> dict[str, Any]:
    """What sweeps say of a workload with and without liveness, and what they cost."""
    with tempfile.TemporaryDirectory(prefix="tether-bench-") as base:
        places_of = {name: os.path.join(base, name) for name in ("liveness", "no_liveness")}
        made = {
            name: writing.make(place, scale, has_liveness=name == "liveness")
            for name, place in places_of.items()
        }
        stores = {name: os.path.join(base, f"store of {name}") for name in places_of}
        for store_dir in stores.values():
            os.mkdir(store_dir)
        scores = {name: _step("score", places_of[name], stores[name]) for name in places_of}
        directory, store_dir = places_of["liveness"], os.path.join(base, "store")
        os.mkdir(store_dir)
        return {
            "scale": scale,
            "rounds": rounds,
            "counts": made["liveness"]["counts"],
            **scores,
            **_costs(directory, store_dir, rounds),
        }


def _costs(directory: str, store_dir: str, rounds: int) -> dict[str, Any]:
    costs: dict[str, Any] = {"first_read": _step("read", directory, store_dir)}
    is_same = True
    for name in (model.STANDARD, model.DEEP):
        runs = [_step(name, directory, store_dir) for _ in range(max(2, rounds))]
        is_same &= len({each.pop("digest") for each in runs}) == 1
        costs[name] = min(runs, key=lambda run: float(run["cpu_seconds"]))
    # Last, because those who hold something grow old in real time.
    _step("hold", directory, store_dir)
    costs["quick"] = _quick(directory, store_dir, rounds)
    _step("lose", directory, store_dir)
    costs["quick_finding"] = _quick(directory, store_dir, rounds)
    return {"cost": costs, "identical": is_same}


def _quick(directory: str, store_dir: str, rounds: int) -> dict[str, float]:
    """`tether vacuum --quick` as people start it, against the floor of start-up."""
    kept = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR")
    environ = {name: os.environ[name] for name in kept if name in os.environ}
    environ |= {"HOME": os.path.join(directory, "home"), "TETHER_STORE_DIR": store_dir}
    ground = processes.Ground(os.path.join(directory, workload.MAIN), environ)
    words = (*startup.console_script(), "vacuum", "--quick", "--json")
    processes.run(ground, words)
    return processes.told(
        [
            processes.Pair(processes.run(ground, processes.FLOOR), processes.run(ground, words))
            for _ in range(5 * rounds)
        ]
    )


def _step(name: str, directory: str, store_dir: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tether.bench.vacuum", name, directory, store_dir],
        check=True,
        capture_output=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# A sweep of a workload


def sweep(
    directory: str,
    project: str,
    store_dir: str,
    sweep_type: str = model.DEEP,
    *,
    look: presence.Processes | None = None,
    limits: model.Limits | None = None,
) -> sweeps.Swept:
    """Sweep one project of a workload, as of its moment."""
    order = sweeps.Order(sweep_type, NOW, "bench", project, limits or model.Limits())
    store, own = _opened(directory, project, store_dir)
    listed = finding.read(own.here.root or "", own.kinds.sources, index.Index(own.here.store_dir))
    scene = sweeps.Scene(
        own.witness(store),
        store,
        presence.Presence(store, lookout.Lookout(host.here()), look or process_table(directory)),
        subjects.read((), listed),
        (os.path.join(own.home, ".claude"),),
    )
    return sweeps.sweep(scene, order)


class _Ground(NamedTuple):
    """Where the project of a workload and its traces are."""

    here: workspace.Workspace
    home: str
    kinds: patterns.Kinds

    def witness(self, store: port.Store) -> witness.Witness:
        names = ("claude", "codex", "gemini", "cursor", "coditect-data")
        return witness.Witness(
            self.here,
            store,
            places.Places._make((os.path.join(self.home, f".{name}"),) for name in names),
            self.kinds,
            work_root="work",
            host_id=host.here().host_id,
            keeps_excerpts=True,
        )


def _opened(directory: str, project: str, store_dir: str) -> tuple[port.Store, _Ground]:
    here = workspace.find(os.path.join(directory, project), store_dir=store_dir)
    kinds = patterns.Kinds(tuple(each.name for each in finding.detect(here.root or "")))
    store = sqlite.SqliteStore(here, wait_seconds=10)
    store.ensure_writable()
    return store, _Ground(here, os.path.join(os.path.realpath(directory), "home"), kinds)


def process_table(directory: str) -> presence.Processes:
    """The processes at the moment of a workload; nobody can look if it has no table."""
    try:
        with open(os.path.join(directory, tables.FILE_NAME), encoding="ascii") as file:
            rows = json.load(file)["processes"]
    except FileNotFoundError:
        return lambda *_: presence.Seen("unknown")
    answers = {(row["host"], row["pid"]): row for row in rows}

    def look(name: str, pid: int) -> presence.Seen:
        for each in (name,) if name else _HOSTS:
            if row := answers.get((each, pid)):
                if row["answer"] == "eperm":
                    return presence.Seen("unreadable")
                return presence.Seen("seen", clock.parse(row["started_at"]))
        return presence.Seen("gone")

    return look


def digest(swept: sweeps.Swept) -> str:
    """A short form of everything that a sweep says, to the byte."""
    told = (swept.judged, swept.folded, swept.parked, swept.active, swept.counts, swept.unchecked)
    return hashlib.sha256(repr(told).encode()).hexdigest()


# Against the truth


def truth(rows: Iterable[dict[str, Any]], project: str) -> Truth:
    """What the lines of a file of truth say of a project."""
    own = [row for row in rows if row.get("project") == project]
    return Truth(
        {row["id"]: _told(row) for row in own if "fate" in row},
        frozenset(row["parked"] for row in own if "parked" in row),
    )


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """A fate; a box that says all the time that somebody began it, with no trace, is stale."""
    if row["fate"] == workload.NEVER_STARTED and row.get("box") == workload.STARTED_BOX:
        return {**row, "fate": workload.STALE, "orphan": True}
    return row


def score(swept: sweeps.Swept, true: Truth) -> dict[str, Any]:
    """What a sweep found of what there is, and what it said wrongly."""
    said = [(each.subject.key.id, finding) for each in swept.judged for finding in each.findings]
    wrong = [
        (name, each) for name, each in said if each.type not in _RIGHT.get(_fate(true, name), ())
    ]
    parked = _parked(swept, true)
    missed = list(_missed(true, said, parked))
    return {
        "classes": {name: _class(name, true, missed, said, wrong) for name in CLASSES},
        "parked": {
            "said": len(parked),
            "of": len(true.parked),
            "missed": sorted(true.parked - parked),
            "wrong": sorted(parked - true.parked),
        },
        "certain": sum(each.grade == model.CERTAIN for _, each in said),
        "certain_wrong": sum(each.grade == model.CERTAIN for _, each in wrong),
        "wrong": sorted(f"{name}: {each.type} for {_fate(true, name)}" for name, each in wrong),
        "missed": sorted(f"{name}: {_class_of(true, name)}" for name in missed),
        "confusion": _confusion(swept, true),
    }


def _fate(true: Truth, name: str) -> str:
    return str(true.fates[name]["fate"]) if name in true.fates else ""


def _class_of(true: Truth, name: str) -> str:
    """How a sweep would call an orphan of truth."""
    fate = _fate(true, name)
    return _CLASSES.get(fate, fate)


def _parked(swept: sweeps.Swept, true: Truth) -> frozenset[str]:
    if any(each.source == deferring.PROJECT for each in swept.parked):
        return frozenset(str(row["track"]) for row in true.fates.values())
    return frozenset(each.name for each in swept.parked)


def _missed(true: Truth, said: _Said, parked: frozenset[str]) -> Iterator[str]:
    """Orphans that are not called what they are, nor told with a track that is parked."""
    found = {(name, each.type) for name, each in said}
    for name, row in true.fates.items():
        is_folded = row["track"] in true.parked and row["track"] in parked
        if row["orphan"] and not is_folded and (name, _class_of(true, name)) not in found:
            yield name


def _class(name: str, true: Truth, missed: list[str], said: _Said, wrong: _Said) -> dict[str, Any]:
    count = sum(row["orphan"] and _class_of(true, task) == name for task, row in true.fates.items())
    missing = sum(_class_of(true, task) == name for task in missed)
    told = sum(each.type == name for _, each in said)
    false = sum(each.type == name for _, each in wrong)
    return {
        "found": count - missing,
        "of": count,
        "recall": round((count - missing) / count, 4) if count else 1.0,
        "wrong": false,
        "said": told,
        "fdr": round(false / told, 4) if told else 0.0,
    }


def _confusion(swept: sweeps.Swept, true: Truth) -> dict[str, dict[str, int]]:
    """By fate, what is said first of the tasks of which something is said."""
    found: dict[str, collections.Counter[str]] = {}
    for each in swept.judged:
        fate = _fate(true, each.subject.key.id)
        found.setdefault(fate, collections.Counter())[each.findings[0].type] += 1
    return {fate: dict(sorted(counts.items())) for fate, counts in sorted(found.items())}


# What the processes do


def _read(directory: str, store_dir: str) -> dict[str, Any]:
    """Everything once, so that later steps find nothing new."""
    store, own = _opened(directory, workload.MAIN, store_dir)
    seen = own.witness(store)
    seen.ask(lambda _: None)
    return {"files": seen.looked.files, "commits": seen.looked.commits}


def _score(directory: str, store_dir: str) -> dict[str, Any]:
    with open(os.path.join(directory, "truth.jsonl"), encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if '"project"' in line]
    swept = sweep(directory, workload.MAIN, store_dir)
    other_dir = os.path.join(store_dir, "second")
    os.makedirs(other_dir, exist_ok=True)
    second = sweep(directory, workload.SECOND_PROJECT, other_dir)
    paused = score(second, truth(rows, workload.SECOND_PROJECT))
    return {
        **score(swept, truth(rows, workload.MAIN)),
        "paused_project": {"parked": paused["parked"], "said": len(second.judged)},
    }


def _swept(sweep_type: str) -> Callable[[str, str], dict[str, Any]]:
    def work(directory: str, store_dir: str) -> dict[str, Any]:
        swept = sweep(directory, workload.MAIN, store_dir, sweep_type)
        return {"judged": len(swept.judged), "digest": digest(swept)}

    return work


def _hold(directory: str, store_dir: str) -> dict[str, Any]:
    """Sessions that hold a task each and are at work."""
    return _claim(directory, store_dir, range(_HOLDERS), None)


def _lose(directory: str, store_dir: str) -> dict[str, Any]:
    """Sessions of a process that is gone as soon as this one ends."""
    here, pid = host.here(), os.getpid()
    ticks = host.observe(pid).start_ticks or 0
    own = host.Process(here.host_id, here.boot_id, here.pid_namespace, pid, ticks)
    return _claim(directory, store_dir, range(_HOLDERS, _HOLDERS + _GONE), own)


def _claim(
    directory: str, store_dir: str, numbers: range, process: host.Process | None
) -> dict[str, Any]:
    store, own = _opened(directory, workload.MAIN, store_dir)
    spot = lookout.Lookout(host.here())
    items = finding.read(own.here.root or "", own.kinds.sources).items
    opened = [key for key, item in items.items() if item.state == "new"]
    for number in numbers:
        session = ids.SessionId(f"session-{number}")
        name = ids.AgentName(f"agent-{number}")
        registry.register(store, spot, registry.Session(session, name, process=process))
        claims.take(store, spot, session, opened[number])
    return {"claims": len(numbers)}


_STEPS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "read": _read,
    "score": _score,
    "hold": _hold,
    "lose": _lose,
    model.STANDARD: _swept(model.STANDARD),
    model.DEEP: _swept(model.DEEP),
}


def main() -> None:
    """One step, in this process: what it did, and what it cost."""
    name, directory, store_dir = sys.argv[1:]
    gc.set_threshold(200_000)  # as the command line does
    start = time.process_time()
    found = _STEPS[name](directory, store_dir)
    found["cpu_seconds"] = round(time.process_time() - start, 3)
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
