"""What taking over a run costs: many tasks, a long log, a coordinator and agents that are gone.

The commands are whole processes against the floor of start-up, each from the same moment: the store
and the snapshots are put back before each. What a recovery finds and leaves is held against what
was planted, and against the state that the log alone gives when it is replayed from its start.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping

from tether import config, demo, host, ids
from tether.agents import lookout, registry
from tether.bench import long_run, processes, startup
from tether.coordinator import (
    applying,
    choosing,
    copies,
    crew,
    documents,
    loop,
    options,
    runs,
    settling,
    snapshots,
    taskfiles,
)
from tether.coordinator.jobs import folder as folders
from tether.coordinator.limits import Limits
from tether.coordinator.notifying import Notifier
from tether.coordinator.plans import graph
from tether.coordinator.state import State
from tether.hints import Any, NamedTuple
from tether.store import events
from tether.tasks.sources import finding

FLOOR = "python -I -S -c 'import sqlite3, json'"
CURRENT = "run recover"
FAR = "run recover, far behind"
DAMAGED = "run recover, damaged"
NOTHING = "run recover, no snapshot"
STATUS = "run status --json"
_RECOVER = ("run", "recover")
_WHO = {"TETHER_AGENT": "grace"}
_CYCLES = 20
_TIMES = 3
_LONG_MS = 1 << 50


class Case(NamedTuple):
    """A command, and the snapshots that it finds."""

    words: tuple[str, ...]
    state: bytes | None
    previous: bytes | None
    set_aside: int = 0
    """How many of them are damaged."""


class Scene(NamedTuple):
    """A repository with a run, and its store as it was."""

    ground: processes.Ground
    kept: str
    made: long_run.Made

    @property
    def store_dir(self) -> str:
        return os.path.join(self.ground.place, ".git", "tether")

    def cases(self) -> dict[str, Case]:
        state, previous = self.made.near
        middle = len(state) // 2
        torn = state[:middle] + b"?" + state[middle + 1 :]
        return {
            CURRENT: Case(_RECOVER, state, previous),
            FAR: Case(_RECOVER, *self.made.far),
            DAMAGED: Case(_RECOVER, torn, previous, 1),
            NOTHING: Case(_RECOVER, None, None),
            STATUS: Case(("run", "status", "--json"), state, previous),
        }

    def put_back(self, case: Case) -> None:
        """Everything as it was, with the snapshots of a case."""
        shutil.rmtree(self.store_dir)
        shutil.copytree(self.kept, self.store_dir)
        at = os.path.join(self.store_dir, "runs", long_run.NAME)
        names = {snapshots.STATE_FILE: case.state, snapshots.PREVIOUS_FILE: case.previous}
        for name, content in names.items():
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(at, name))
            if content is not None:
                with open(os.path.join(at, name), "wb") as file:
                    file.write(content)


def measure(tasks: int, count: int, rounds: int) -> dict[str, Any]:
    """The figures of a run, of shorter ones, and of one with fewer tasks."""
    wanted = ((tasks, count), (tasks, count // 2), (tasks, count // 10), (tasks // 10, count))
    sizes = [_measured(*each, rounds) for each in wanted]
    whole, half = (size["commands"] for size in sizes[:2])
    return {
        "rounds": rounds,
        "floor": FLOOR,
        "sizes": sizes,
        # Against half as many events with as many tasks completed: what is flat stays at 1.
        "growth": {name: _growth(whole[name], half[name]) for name in whole if name != "floor"},
    }


def _growth(whole: Mapping[str, float], half: Mapping[str, float]) -> float:
    return round(whole["cpu_ratio"] / half["cpu_ratio"], 2)


def _measured(tasks: int, count: int, rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        scene = make(directory, tasks, count)
        cases = scene.cases()
        for name, case in cases.items():
            scene.put_back(case)
            check(scene, name, told(scene, case))
        pairs: dict[str, list[processes.Pair]] = {name: [] for name in cases}
        for _ in range(rounds):
            for name, case in cases.items():
                scene.put_back(case)
                floor = processes.run(scene.ground, processes.FLOOR)
                own = processes.run(scene.ground, _tether(case.words))
                pairs[name].append(processes.Pair(floor, own))
        floors = [pair.floor for each in pairs.values() for pair in each]
        floor_ms = statistics.median(each.cpu for each in floors)
        scene.put_back(cases[CURRENT])
        commands = {"floor": [processes.Pair(each, each) for each in floors], **pairs}
        return {
            "tasks": tasks,
            "events": count,
            "store_events": scene.made.store_events,
            "completed": scene.made.completed,
            "orphans": len(scene.made.orphans),
            "snapshot_bytes": len(scene.made.near[0]),
            "commands": {name: processes.told(each) for name, each in commands.items()},
            "inside": {
                name: {"cpu_ratio": round(cost["cpu_ms"] / floor_ms, 3), **cost}
                for name, cost in _inside(scene).items()
            },
        }


def make(directory: str, tasks: int, count: int) -> Scene:
    """A repository with a run that nobody coordinates any more."""
    home = os.path.join(directory, "home")
    os.mkdir(home)
    kept = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR")
    environ = {name: os.environ[name] for name in kept if name in os.environ}
    place = os.path.join(directory, "repository")
    ground = processes.Ground(place, {**environ, **_WHO, "HOME": home})
    demo.make_repository(place)
    processes.run(ground, _tether(("init", "--yes")))
    scene = Scene(ground, os.path.join(directory, "kept"), long_run.make(place, tasks, count))
    shutil.copytree(scene.store_dir, scene.kept)
    return scene


def _tether(words: tuple[str, ...]) -> list[str]:
    return [*startup.console_script(), *words]


# Is it right?


def told(scene: Scene, case: Case) -> dict[str, Any]:
    """What a command says, for programs."""
    words = [word for word in case.words if word != "--json"]
    done = subprocess.run(
        _tether((*words, "--json")),
        cwd=scene.ground.place,
        env=scene.ground.environ,
        check=True,
        capture_output=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check(scene: Scene, name: str, said: Mapping[str, Any]) -> None:
    """Raise if a command missed what was planted, or left another state than the log gives."""
    case, made = scene.cases()[name], scene.made
    found = said["run"] if name == STATUS else said["recovery"]
    if len(found["contradictions"]) != 1 or made.contradicted not in found["contradictions"][0]:
        raise processes.Failed(f"{name}: one completed task has no commit, and this is not said")
    if name == STATUS:
        return
    if {each["agent_id"] for each in found["orphaned"]} != made.orphans:
        raise processes.Failed(f"{name}: those who are gone are not those that were found")
    if len(found["set_aside"]) != case.set_aside or bool(found["saved_at"]) == (name == NOTHING):
        raise processes.Failed(f"{name}: another snapshot was used than the newest whole one")
    left, replayed = states(scene.ground.place)
    if left != replayed:
        raise processes.Failed(f"{name}: the state is not the one that the log gives")


def states(place: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The state that was saved last, and the one that the log gives from its start."""
    with long_run.opened(place) as run:
        saved = snapshots.load(run.root, run.name, run.now(), tidies=False).state
        run.catch_up()
        return documents.plain(saved or State(run.name)), documents.plain(run.state)


# In the coordinator itself


def _inside(scene: Scene) -> dict[str, dict[str, float]]:
    done = subprocess.run(
        [sys.executable, "-m", "tether.bench.coordinator", scene.ground.place],
        env=scene.ground.environ,
        check=True,
        capture_output=True,
    )
    found: dict[str, dict[str, float]] = json.loads(done.stdout)
    return found


class _Enough(Exception):
    """So many cycles were wanted."""


def _work(place: str) -> dict[str, dict[str, float]]:
    """One coordinator: its cycles while everybody is at work, and the parts that cost most."""
    with long_run.opened(place) as run, contextlib.ExitStack() as held:
        run.session_id = "run-bench"
        spot = lookout.Lookout(host.here())
        session = registry.Session(ids.SessionId(run.session_id), ids.AgentName("bench"))
        registry.register(run.store, spot, session)
        costs = {"open": [_timed(lambda: run.open(tidies=True))]}
        for agent_id in run.state.active_agents:
            held.enter_context(_alive(run, agent_id))
        settings = config.load(run.place, os.environ)
        keeper = taskfiles.Keeper(run.store, spot, settings, lambda top: finding.read(top, ()))
        chosen = options.Options(worker="true", slots=len(run.state.active_agents))
        hands = crew.Crew(run, chosen, _patient(), spot, os.environ, keeper)
        cycles = _cycles(settling.Settler(hands))
        costs |= {"first cycle": cycles[:1], "idle cycle": cycles[1:]}
        costs["save"] = [_timed(run.save) for _ in range(_TIMES)]
        costs |= _choices(run)
        return {name: _summary(each) for name, each in costs.items()}


@contextlib.contextmanager
def _alive(run: runs.Run, agent_id: str) -> Iterator[None]:
    """An agent that seems to be at work: somebody holds the lock of its job."""
    folder = folders.Folder(run.root, agent_id)
    folder.make()
    folder.write(folders.START, b"")
    with open(folder.lock_path, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _patient() -> Limits:
    """Nobody takes too long."""
    return Limits(worker_ms=_LONG_MS, audit_ms=_LONG_MS, checkpoint_ms=_LONG_MS)


def _cycles(settler: settling.Settler) -> list[startup.Cost]:
    costs: list[startup.Cost] = []
    marks = [_mark()]

    def wait(_: float) -> None:
        marks.append(_mark())
        costs.append(_between(marks[-2], marks[-1]))
        if len(costs) > _CYCLES:
            raise _Enough

    world = loop.World(
        wait=wait,
        is_stopping=lambda: False,
        is_impatient=lambda: False,
        usage=lambda: None,
        context=lambda: None,
        tell=lambda _: None,
        show=lambda: None,
        sweep=lambda: None,
        notifier=Notifier("", os.environ, settler.run.place.place),
    )
    with contextlib.suppress(_Enough):
        loop.Loop(settler, world).work()
    return costs


def _choices(run: runs.Run) -> dict[str, list[startup.Cost]]:
    """What is given out next: now, and when the run began and nothing was done yet."""
    weights = graph.dependent_counts(graph.graph(run.outlook.plan.tasks))
    begun = applying.Fold(
        State(run.name), lambda digest: copies.load(run.root, run.place, run.state, digest)
    )
    for event in events.of_run(run.store, run.name, 0, limit=1):
        begun.apply(event)

    def choose(fold: applying.Fold) -> Callable[[], object]:
        slots = len(fold.state.active_agents) + 1
        return lambda: choosing.choose(fold.state, fold.outlook, weights, slots)

    return {
        "choice": [_timed(choose(run.fold)) for _ in range(_TIMES)],
        "first choice": [_timed(choose(begun)) for _ in range(_TIMES)],
    }


def _timed(act: Callable[[], object]) -> startup.Cost:
    start = _mark()
    act()
    return _between(start, _mark())


def _mark() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


def _between(start: tuple[float, float], end: tuple[float, float]) -> startup.Cost:
    return startup.Cost((end[0] - start[0]) * 1000, (end[1] - start[1]) * 1000)


def _summary(costs: list[startup.Cost]) -> dict[str, float]:
    return {
        "cpu_ms": round(statistics.median(each.cpu for each in costs), 3),
        "wall_ms": round(statistics.median(each.wall for each in costs), 3),
    }


def main() -> None:
    """The coordinator, in this process: what its parts cost."""
    gc.set_threshold(200_000)  # as the command line does
    json.dump(_work(sys.argv[1]), sys.stdout)


if __name__ == "__main__":
    main()
