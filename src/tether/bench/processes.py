"""Whole processes, measured against the floor of start-up: who runs them, and what they cost."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping

from tether import text
from tether.bench import startup
from tether.hints import NamedTuple

FLOOR = (sys.executable, "-I", "-S", "-c", "import sqlite3, json")
WAIT_SECONDS = 900.0


class Failed(Exception):
    """A command did not do what it was measured for."""


class Pair(NamedTuple):
    """One run, and the run of the floor before it."""

    floor: startup.Cost
    own: startup.Cost


class Ground(NamedTuple):
    """Where commands are run."""

    place: str
    environ: Mapping[str, str]
    wait_seconds: float = WAIT_SECONDS


def run(ground: Ground, words: Iterable[str]) -> startup.Cost:
    """One process from start to end. Whoever does not end well has failed."""
    with tempfile.TemporaryFile() as said:
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        process = subprocess.Popen(
            list(words),
            cwd=ground.place,
            env=ground.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
        )
        # A wait with a limit looks every now and then only, which would be measured too.
        limit = threading.Timer(ground.wait_seconds, _end, [process])
        limit.start()
        try:
            code = process.wait()
        finally:
            limit.cancel()
            _end(process)
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if wall > ground.wait_seconds:
            raise Failed(f"took more than {ground.wait_seconds:.0f} s")
        if code:
            said.seek(0)
            why = text.one_line(said.read(2000).decode("utf-8", "replace"), 200)
            raise Failed(f"exit code {code}: {why or 'without a word'}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return startup.Cost(cpu * 1000, wall * 1000)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what still runs, with what it has started: it must not outlive its directory."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def told(pairs: list[Pair]) -> dict[str, float]:
    """Medians. A ratio is taken of each pair: what slows the machine for a while slows both."""
    return {
        "cpu_ratio": round(statistics.median(own.cpu / floor.cpu for floor, own in pairs), 2),
        "wall_ratio": round(statistics.median(own.wall / floor.wall for floor, own in pairs), 2),
        "cpu_ms": round(statistics.median(pair.own.cpu for pair in pairs), 1),
        "wall_ms": round(statistics.median(pair.own.wall for pair in pairs), 1),
    }
