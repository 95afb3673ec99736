"""What it costs to start: a hot command against the interpreter with what it cannot do without.

The floor is `python -I -S -c "import sqlite3, json"`. The design wants hot commands near twice
that. Runs alternate, so that a busy machine slows both alike; the ratio is of medians.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from tether import demo
from tether.hints import Any, NamedTuple

# The last words of the commands that agents call; the others are a person's.
_BY_AN_AGENT = ("beat", "T1")


class Cost(NamedTuple):
    """Milliseconds of one run."""

    cpu: float
    wall: float


def measure(rounds: int) -> dict[str, Any]:
    """The ratios, with the times that they come from."""
    with tempfile.TemporaryDirectory() as directory:
        place = os.path.join(directory, "repository")
        demo.make_repository(place)
        commands = _commands()
        _run([*console_script(), "init", "--yes"], place)
        costs: dict[str, list[Cost]] = {name: [] for name in commands}
        for round_number in range(rounds + 1):
            for name, words in commands.items():
                cost = _run(words, place)
                if round_number:  # the first round warms the caches
                    costs[name].append(cost)
    return _summary(costs, rounds)


def console_script() -> list[str]:
    """The console script if it is installed beside the interpreter, as users start it."""
    script = os.path.join(os.path.dirname(sys.executable), "tether")
    return [script] if os.path.exists(script) else [sys.executable, "-m", "tether"]


def _commands() -> dict[str, list[str]]:
    return {
        "floor": [sys.executable, "-I", "-S", "-c", "import sqlite3, json"],
        "python": [sys.executable, "-c", "pass"],
        "events --json": [*console_script(), "events", "--json"],
        "beat": [*console_script(), "beat"],
        "claim": [*console_script(), "claim", "T1"],
        "--version": [*console_script(), "--version"],
        "doctor --json": [*console_script(), "doctor", "--json"],
    }


def _run(words: list[str], place: str) -> Cost:
    # Bytecode must be read and written as in a user's shell.
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "TETHER_"))}
    if words[-1] in _BY_AN_AGENT:
        environ["TETHER_SESSION"] = "bench"
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, cwd=place, env=environ, check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu * 1000, wall * 1000)


def _summary(costs: dict[str, list[Cost]], rounds: int) -> dict[str, Any]:
    medians = {
        name: Cost(
            statistics.median(cost.cpu for cost in runs),
            statistics.median(cost.wall for cost in runs),
        )
        for name, runs in costs.items()
    }
    floor = medians["floor"]
    return {
        "rounds": rounds,
        "floor": "python -I -S -c 'import sqlite3, json'",
        "commands": {
            name: {
                "cpu_ratio": round(cost.cpu / floor.cpu, 2),
                "wall_ratio": round(cost.wall / floor.wall, 2),
                "cpu_ms": round(cost.cpu, 1),
                "wall_ms": round(cost.wall, 1),
            }
            for name, cost in medians.items()
        },
    }
