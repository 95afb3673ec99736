"""What the store acknowledged survives a kill, and the log stays without gaps.

A child writes and tells each number after its write has returned; the parent kills it at a random
moment, opens the store and compares. The control tells first and writes later.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.figures import Figures
from tests.scale import count
from tether import workspace
from tether.store import events, port, sql, sqlite

COUNT = sql.Query("count", "", "SELECT count(*) AS n FROM events")
WROTE = events.EventType("test_wrote", ("n",), "A number was written.")
Loop = Callable[[port.Store, int, int], None]


def open_store(path: Path) -> sqlite.SqliteStore:
    place = workspace.Workspace(None, str(path), str(path), str(path / "tether"))
    return sqlite.SqliteStore(place, wait_seconds=10)


def write(store: port.Store, n: int) -> None:
    store.write("test", lambda t: t.event(WROTE, actor="child", data={"n": n}))


def write_then_tell(store: port.Store, start: int, pipe: int) -> None:
    for n in range(start, start + 10_000):
        write(store, n)
        os.write(pipe, n.to_bytes(4, "big"))


def tell_then_write(store: port.Store, start: int, pipe: int) -> None:
    for n in range(start, start + 10_000):
        os.write(pipe, n.to_bytes(4, "big"))
        write(store, n)


def one_kill(path: Path, loop: Loop, start: int, seconds: float) -> list[int]:
    """Let a child write for a moment and kill it; the numbers that it told."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        loop(open_store(path), start, writing)
        os._exit(0)
    os.close(writing)
    time.sleep(seconds)  # not to wait for anything: the moment of the kill is the point
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    return [int.from_bytes(told[i : i + 4], "big") for i in range(0, len(told) // 4 * 4, 4)]


def kills(path: Path, loop: Loop, rounds: int) -> tuple[list[str], int]:
    """Kill again and again; what was found wrong, and how many numbers were told."""
    dice = random.Random(7)  # noqa: S311 (the same moments in every run)
    told_before = seen = 0
    found: list[str] = []
    for _ in range(rounds):
        told = one_kill(path, loop, told_before * 2 + 1_000, dice.uniform(0.001, 0.03))
        told_before += len(told)
        store = open_store(path)
        new = events.after(store, seen, 100_000)
        if not {event.data["n"] for event in new}.issuperset(told):
            found.append("acknowledged numbers are lost")
        if [event.id for event in new] != list(range(seen + 1, seen + len(new) + 1)):
            found.append("the log has gaps")
        seen += len(new)
        if store.rows(COUNT) != [{"n": seen}]:
            found.append("an earlier event is lost")
        if store.exists() and store.describe()["integrity"] != "ok":
            found.append("the file is damaged")
        store.close()
    return found, told_before


@pytest.mark.proof(room="store")
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path, figures: Figures) -> None:
    rounds = count(2000, at_least=20)
    found, told = kills(tmp_path, write_then_tell, rounds)
    figures.add("kills of a writer on sqlite", kills=rounds, acknowledged=told, lost=len(found))
    assert found == []
    assert told > 0


def test_the_check_catches_a_writer_that_tells_too_early(tmp_path: Path) -> None:
    """The control."""
    found, _ = kills(tmp_path, tell_then_write, 20)
    assert any("lost" in fault for fault in found)
