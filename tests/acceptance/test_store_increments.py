"""Many processes write to one store: nothing is lost, nothing happens twice.

Each increment takes one number and logs one event in one transaction. In the end the numbers that
the processes were told, the counter and the log must agree. The control reads first and writes
later, unguarded: the same check must catch it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import crowd
from tests.figures import Figures
from tests.scale import count
from tether import ids, workspace
from tether.store import events, port, postgres, sql, sqlite

PROCESSES = 32
EACH = 2000

TAKEN = events.EventType("test_taken", ("worker", "number"), "A worker took a number.")
ADD_COUNTER = sql.Query("add", "", "INSERT INTO counters (name, value) VALUES ('proof', 0)")
INCREMENT = sql.Query(
    "increment", "", "UPDATE counters SET value = value + 1 WHERE name = 'proof' RETURNING value"
)
READ = sql.Query("read", "", "SELECT value FROM counters WHERE name = 'proof'")
OVERWRITE = sql.Query(
    "overwrite", "", "UPDATE counters SET value = :value WHERE name = 'proof' RETURNING value"
)

OpenStore = Callable[[], port.Store]
Increment = Callable[[port.Store, int], int]


def guarded(store: port.Store, worker: int) -> int:
    def work(transaction: port.Transaction) -> int:
        [row] = transaction.rows(INCREMENT)
        _log(transaction, worker, row["value"])
        return int(row["value"])

    return store.write("increment", work)


def unguarded(store: port.Store, worker: int) -> int:
    [seen] = store.rows(READ)
    crowd.dawdle()

    def work(transaction: port.Transaction) -> int:
        [row] = transaction.rows(OVERWRITE, value=seen["value"] + 1)
        _log(transaction, worker, row["value"])
        return int(row["value"])

    return store.write("increment", work)


def _log(transaction: port.Transaction, worker: int, number: int) -> None:
    data = {"worker": worker, "number": number}
    transaction.event(TAKEN, actor=f"worker-{worker}", data=data)


class Outcome(NamedTuple):
    """The numbers that the processes were told, and how long each write took."""

    told: list[int]
    seconds: list[float]


def run(open_: OpenStore, increment: Increment, processes: int, each: int) -> Outcome:
    """Let the processes loose."""
    first = open_()
    first.write("prepare", lambda transaction: transaction.rows(ADD_COUNTER))
    first.close()

    def work(worker: int) -> tuple[list[int], list[float]]:
        store = open_()
        numbers, times = [], []
        for _ in range(each):
            start = time.perf_counter()
            numbers.append(increment(store, worker))
            times.append(time.perf_counter() - start)
        store.close()
        return numbers, times

    answers = crowd.run(processes, work)
    return Outcome(
        told=[number for numbers, _ in answers for number in numbers],
        seconds=sorted(seconds for _, times in answers for seconds in times),
    )


def faults(store: port.Store, told: list[int], wanted: int) -> list[str]:
    """What is lost or doubled, in words; empty if nothing is."""
    found = []
    [row] = store.rows(READ)
    if row["value"] != wanted:
        found.append(f"the counter is {row['value']}, not {wanted}")
    doubled = sum(times - 1 for times in Counter(told).values())
    if doubled:
        found.append(f"{doubled} numbers were given twice")
    logged = [e for e in events.after(store, 0, wanted * 2) if e.type == TAKEN.name]
    if Counter(event.data["number"] for event in logged) != Counter(told):
        found.append("the log is not what the workers were told")
    if [event.id for event in logged] != list(range(1, wanted + 1)):
        found.append("the ids of the log have gaps")
    return found


def sqlite_opener(path: Path) -> OpenStore:
    place = workspace.Workspace(None, str(path), str(path), str(path / "tether"))
    return lambda: sqlite.SqliteStore(place, wait_seconds=60)


def postgres_opener(url: str) -> OpenStore:
    workspace_id = ids.WorkspaceId.generate()
    return lambda: postgres.PostgresStore(url, workspace_id, wait_seconds=60)


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def opener(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> OpenStore:
    if kind == "sqlite":
        return sqlite_opener(tmp_path)
    return postgres_opener(request.getfixturevalue("postgres_url"))


@pytest.mark.proof(room="store")
def test_32_processes_lose_and_double_nothing(
    opener: OpenStore, kind: str, figures: Figures
) -> None:
    each = count(EACH, at_least=10)
    start = time.perf_counter()
    result = run(opener, guarded, PROCESSES, each)
    seconds = time.perf_counter() - start
    store = opener()
    found = faults(store, result.told, PROCESSES * each)
    store.close()
    figures.add(
        f"guarded increments on {kind}",
        processes=PROCESSES,
        each=each,
        faults=len(found),
        per_second=round(PROCESSES * each / seconds),
        p50_ms=round(result.seconds[len(result.seconds) // 2] * 1000, 1),
        p99_ms=round(result.seconds[int(len(result.seconds) * 0.99)] * 1000, 1),
    )
    assert found == []


@pytest.mark.proof(room="store")
def test_the_check_catches_unguarded_increments(
    opener: OpenStore, kind: str, figures: Figures
) -> None:
    processes, each = 8, count(EACH // 4, at_least=25)
    result = run(opener, unguarded, processes, each)
    store = opener()
    found = faults(store, result.told, processes * each)
    store.close()
    figures.add(
        f"control: unguarded increments on {kind}",
        processes=processes,
        each=each,
        faults=len(found),
        caught="; ".join(found),
    )
    assert found
