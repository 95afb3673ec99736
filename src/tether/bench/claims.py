"""What coordination costs: a claim alone and among 32 processes, a heartbeat, a sweep not due.

Everything is also told as a ratio to the smallest durable write of the same store in the same run.
If waiters are served in turn, a claim among 32 processes takes 32 times as long as alone; the ratio
of its p99 to that says how fair the turns are.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import statistics
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator

from tether import host, ids, workspace
from tether.agents import claims, lookout, registry, upkeep
from tether.hints import Any, NamedTuple
from tether.store import port, sql, sqlite

AGENTS = 1000
_STORE = sql.Queries("store")
_DAY_SECONDS = 86_400
_WAIT_SECONDS = 120.0
_WORKSPACE_ID = ids.WorkspaceId("benchmark")

OpenStore = Callable[[], port.Store]


class Setting(NamedTuple):
    """A store to measure on, and how."""

    open_store: OpenStore
    place: workspace.Workspace
    rounds: int
    processes: int


def measure(rounds: int, processes: int, url: str | None = None) -> dict[str, Any]:
    """The figures of SQLite, and of PostgreSQL if its URL is given."""
    stores: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as directory:
        place = workspace.Workspace(None, directory, directory, os.path.join(directory, "tether"))

        def open_sqlite() -> port.Store:
            return sqlite.SqliteStore(place, wait_seconds=_WAIT_SECONDS)

        stores["sqlite"] = _measure(Setting(open_sqlite, place, rounds, processes))
        if url:
            stores["postgres"] = _measure(Setting(_postgres(url), place, rounds, processes))
    return {"rounds": rounds, "processes": processes, "agents": AGENTS, "stores": stores}


def _postgres(url: str) -> OpenStore:
    """A workspace of its own on this server, always the same one. It stays there."""
    from tether.store import postgres

    return lambda: postgres.PostgresStore(url, _WORKSPACE_ID, wait_seconds=_WAIT_SECONDS)


def _measure(setting: Setting) -> dict[str, Any]:
    spot = lookout.Lookout(host.here())
    with contextlib.closing(setting.open_store()) as store:
        _register(store, spot)
        alone = _single(setting, store, spot)
    crowd = _crowd(setting, spot)
    return _summary(setting, alone, crowd)


def _register(store: port.Store, spot: lookout.Lookout) -> None:
    """Everybody is here."""

    def work(transaction: port.Transaction) -> None:
        for number in range(AGENTS):
            session = registry.Session(
                ids.SessionId(_session(number)), ids.AgentName(f"agent-{number}")
            )
            registry.enter(transaction, spot, session)

    store.write("bench", work)


def _session(number: int) -> str:
    return f"session-{number}"


# One process


def _single(setting: Setting, store: port.Store, spot: lookout.Lookout) -> dict[str, list[float]]:
    """Milliseconds of each act, round by round, so that a busy machine slows all alike."""
    impatient = spot._replace(beat_ms=0)
    upkeep.write_stamp(setting.place, {})
    acts: dict[str, Callable[[int], object]] = {
        "durable write": lambda n: _write_one_row(store, n),
        "claim and close": lambda n: _claim_and_close(store, spot, 0, f"alone-{n}"),
        "heartbeat not due": lambda n: registry.beat(store, spot, _session(n % AGENTS)),
        "heartbeat written": lambda n: registry.beat(store, impatient, _session(n % AGENTS)),
        "sweep not due": lambda _: upkeep.is_sweep_due(setting.place.store_dir, _DAY_SECONDS),
    }
    costs: dict[str, list[float]] = {name: [] for name in acts}
    for number in range(setting.rounds + 1):
        for name, act in acts.items():
            cost = _timed(act, number)
            if number:  # the first round opens and prepares
                costs[name].append(cost)
    return costs


def _write_one_row(store: port.Store, number: int) -> None:
    def work(transaction: port.Transaction) -> None:
        transaction.rows(_STORE.set_meta, key="bench", value=str(number))

    store.write("bench", work)


def _claim_and_close(store: port.Store, spot: lookout.Lookout, number: int, task: str) -> None:
    key, session_id = ids.TaskKey.parse(task), _session(number)
    taken = claims.take(store, spot, session_id, key)
    if not isinstance(taken, claims.Claimed):
        raise RuntimeError(f"{task} was not free")
    claims.close(store, spot, session_id, key, taken.claim.epoch, claims.DONE)


def _timed(act: Callable[[int], object], number: int) -> float:
    start = time.perf_counter()
    act(number)
    return (time.perf_counter() - start) * 1000


# Many processes


class Crowd(NamedTuple):
    """What many processes needed at the same time."""

    costs: list[float]
    seconds: float


def _crowd(setting: Setting, spot: lookout.Lookout) -> Crowd:
    """Every process claims and closes tasks that nobody else wants: they share only the store."""
    fork = multiprocessing.get_context("fork")
    barrier, answers = fork.Barrier(setting.processes + 1), fork.SimpleQueue()

    def work(number: int) -> None:
        try:
            costs = list(_claiming(setting, spot, number, barrier.wait))
            answers.put((costs, ""))
        except BaseException:  # noqa: BLE001 (whatever it is, the parent must not wait for ever)
            barrier.abort()
            answers.put(([], traceback.format_exc()))

    crowd = [fork.Process(target=work, args=[n]) for n in range(setting.processes)]
    for process in crowd:
        process.start()
    with contextlib.suppress(Exception):  # whoever broke it says why
        barrier.wait()
    start = time.perf_counter()
    found = [answers.get() for _ in crowd]
    seconds = time.perf_counter() - start
    for process in crowd:
        process.join()
    for _, problem in found:
        if problem:
            raise RuntimeError(problem)
    return Crowd([cost for costs, _ in found for cost in costs], seconds)


def _claiming(
    setting: Setting, spot: lookout.Lookout, number: int, wait: Callable[[], object]
) -> Iterator[float]:
    with contextlib.closing(setting.open_store()) as store:
        _claim_and_close(store, spot, number, f"first-{number}")
        wait()
        for n in range(setting.rounds):
            yield _timed(lambda n: _claim_and_close(store, spot, number, f"crowd-{number}-{n}"), n)


# Telling


def _summary(setting: Setting, alone: dict[str, list[float]], crowd: Crowd) -> dict[str, Any]:
    medians = {name: statistics.median(costs) for name, costs in alone.items()}
    floor, single = medians["durable write"], medians["claim and close"]
    p50, p99 = statistics.median(crowd.costs), _p99(crowd.costs)
    return {
        "alone": {
            name: {
                "ratio": round(median / floor, 4),
                "ms": round(median, 4),
                "p99_ms": round(_p99(alone[name]), 4),
            }
            for name, median in medians.items()
        },
        "crowd": {
            "p50_ms": round(p50, 1),
            "p99_ms": round(p99, 1),
            "max_ms": round(max(crowd.costs), 1),
            "per_second": round(len(crowd.costs) / crowd.seconds),
            "p50_ratio": round(p50 / (setting.processes * single), 2),
            "p99_ratio": round(p99 / (setting.processes * single), 2),
        },
    }


def _p99(costs: list[float]) -> float:
    return sorted(costs)[int(len(costs) * 0.99)]
