"""Many processes ask for the same tasks, and many sweeps for the same dead: each has one winner.

Every process asks for every task, in an order of its own. In the end what the processes were told,
the table and the log must agree on one holder of each task. Sweeps race each other and the beats of
those who only seemed dead: each death is told once, and nobody is marked after a beat. The controls
look first and write later, unguarded: the same checks must catch them.
"""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import agency, crowd
from tests.figures import Figures
from tests.scale import count
from tether import host
from tether.agents import claims, liveness, lookout, model, registry, roll, sweep
from tether.store import events, port, sql

TASKS = 2000
ROUNDS = 300
MANY = 1_000_000


class Won(NamedTuple):
    """What a process was told: it has this task."""

    task: str
    epoch: int
    session_id: str


Ask = Callable[[port.Store, lookout.Lookout, int, str], Won | None]


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def opener(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[agency.OpenStore]:
    yield from agency.closing(agency.opener_of(kind, tmp_path, request))


# Claims


def session_of(worker: int) -> str:
    return f"worker-{worker}"


def guarded(store: port.Store, spot: lookout.Lookout, worker: int, task: str) -> Won | None:
    answer = claims.take(store, spot, session_of(worker), agency.key(task))
    if isinstance(answer, claims.Refused):
        return None
    return Won(task, answer.claim.epoch, answer.claim.session_id)


DROP_GUARD = sql.Query("drop_guard", "", "DROP INDEX claims_open")
INSERT = sql.Query(
    "insert",
    "",
    "INSERT INTO claims (source, task, epoch, session_id, agent_name, claimed_at, lease_until)"
    " VALUES (:source, :task, :epoch, :session_id, :session_id, tether_now(0), tether_now(60000))",
)


def unguarded(store: port.Store, spot: lookout.Lookout, worker: int, task: str) -> Won | None:
    key, session_id = agency.key(task), session_of(worker)
    if claims.open_of(store.rows, key):
        return None
    crowd.dawdle()
    # An epoch that nobody else gives, or the primary key would be a guard.
    epoch = host.monotonic_ms() * 100 + worker

    def work(transaction: port.Transaction) -> Won:
        transaction.rows(INSERT, source=key.source, task=key.id, epoch=epoch, session_id=session_id)
        transaction.event(
            events.CLAIM_TAKEN,
            actor=session_id,
            session=session_id,
            source=key.source,
            task=key.id,
            data={"epoch": epoch, "paths": [], "head": None},
        )
        return Won(task, epoch, session_id)

    return store.write("claim", work)


class Contest(NamedTuple):
    """What all the processes were told, and how long each answer took."""

    won: list[Won]
    seconds: list[float]


def contest(open_: agency.OpenStore, ask: Ask, processes: int, tasks: list[str]) -> Contest:
    """Every process asks for every task."""
    spot, first = agency.spot(), open_()
    for worker in range(processes):
        agency.begin(first, session_of(worker))
    first.close()

    def work(worker: int) -> tuple[list[Won], list[float]]:
        store, won, times = open_(), [], []
        # Two and two in the same order, so that they meet.
        order = random.Random(worker // 2).sample(tasks, len(tasks))  # noqa: S311 (no secret)
        for task in order:
            start = time.perf_counter()
            answer = ask(store, spot, worker, task)
            times.append(time.perf_counter() - start)
            won += [answer] if answer else []
        store.close()
        return won, times

    answers = crowd.run(processes, work)
    return Contest(
        won=[one for won, _ in answers for one in won],
        seconds=sorted(seconds for _, times in answers for seconds in times),
    )


def claim_faults(store: port.Store, won: list[Won], tasks: list[str]) -> list[str]:
    """What is lost or doubled, in words; empty if nothing is."""
    winners = Counter(one.task for one in won)
    held = Counter(
        Won(claim.task, claim.epoch, claim.session_id) for claim in claims.open_ones(store.rows)
    )
    logged = Counter(
        Won(event.task or "", event.data["epoch"], event.session or "")
        for event in events.after(store, 0, MANY)
        if event.type == events.CLAIM_TAKEN.name
    )
    of_epoch = Counter((one.task, one.epoch) for one in won)
    return _told(
        {
            "epochs with two winners": sum(n > 1 for n in of_epoch.values()),
            "tasks taken twice": sum(n > 1 for n in winners.values()),
            "tasks that nobody has": len(set(tasks) - set(winners)),
            "claims that are not what was told": len(held - Counter(won))
            + len(Counter(won) - held),
            "events that are not what was told": len(logged - Counter(won))
            + len(Counter(won) - logged),
        }
    )


def _told(found: dict[str, int]) -> list[str]:
    return [f"{number} {what}" for what, number in found.items() if number]


@pytest.mark.proof(room="agents")
@pytest.mark.parametrize("processes", [8, 32])
def test_every_task_has_one_winner(
    opener: agency.OpenStore, kind: str, processes: int, figures: Figures
) -> None:
    tasks = [f"T{number}" for number in range(count(TASKS, at_least=20))]
    start = time.perf_counter()
    result = contest(opener, guarded, processes, tasks)
    seconds = time.perf_counter() - start
    found = claim_faults(opener(), result.won, tasks)
    figures.add(
        f"claims by {processes} processes on {kind}",
        tasks=len(tasks),
        asked=len(result.seconds),
        won=len(result.won),
        faults=len(found),
        per_second=round(len(result.seconds) / seconds),
        p50_ms=_ms(result.seconds, 0.5),
        p99_ms=_ms(result.seconds, 0.99),
    )
    assert found == []
    assert len({one.session_id for one in result.won}) > 1


def _ms(ordered: list[float], part: float) -> float:
    return round(ordered[int(len(ordered) * part)] * 1000, 1)


@pytest.mark.proof(room="agents")
def test_the_check_catches_unguarded_claims(
    opener: agency.OpenStore, kind: str, figures: Figures
) -> None:
    processes, tasks = 8, [f"T{number}" for number in range(count(TASKS // 4, at_least=40))]
    opener().write("prepare", lambda transaction: transaction.rows(DROP_GUARD))
    result = contest(opener, unguarded, processes, tasks)
    found = claim_faults(opener(), result.won, tasks)
    figures.add(
        f"control: unguarded claims by {processes} processes on {kind}",
        tasks=len(tasks),
        caught="; ".join(found),
    )
    assert any("taken twice" in fault for fault in found)


# Sweeps

SILENCED = events.EventType("test_silenced", (), "From here on a session seems to be silent.")
SILENCE = sql.Query(
    "silence",
    "",
    "UPDATE agents SET last_beat_at = tether_now(-400000), last_seen_at = tether_now(-400000),"
    " beat_monotonic_ms = beat_monotonic_ms - 400000, version = version + 1"
    " WHERE status <> 'ended' RETURNING session_id",
)
MARK_UNGUARDED = sql.Query(
    "mark", "", "UPDATE agents SET status = 'stale' WHERE session_id = :session_id"
)
DEAD_EACH_ROUND = 2
BEATING = tuple(f"beating-{number}" for number in range(3))
WORKING = tuple(f"working-{number}" for number in range(3))

Sweep = Callable[[port.Store, lookout.Lookout], list[str]]


def guarded_sweep(store: port.Store, spot: lookout.Lookout) -> list[str]:
    swept = sweep.sweep(store, spot, sweep.Rules())
    assert not swept.problems
    return [stale.session_id for stale in swept.stale_agents]


def unguarded_sweep(store: port.Store, spot: lookout.Lookout) -> list[str]:
    found = sweep.look(store, spot, sweep.Rules())
    crowd.dawdle()
    over = [agent for agent in found if agent.verdict in liveness.OVER]
    for agent in over:
        store.write("sweep", functools.partial(_mark, agent))
    return [agent.session_id for agent in over]


def _mark(agent: sweep.Candidate, transaction: port.Transaction) -> None:
    transaction.rows(MARK_UNGUARDED, session_id=agent.session_id)
    seen = {"agent": agent.agent_name, "pid": agent.pid, "last_seen_at": agent.last_seen_at}
    transaction.event(
        events.AGENT_STALE,
        actor=model.TETHER,
        session=agent.session_id,
        data={**seen, "verdict": "expired", "reason": "seemed so"},
    )


def dead_process() -> host.Process:
    """One that was there and has ended."""
    child = agency.sleeper()
    process = host.identify(child.pid)
    agency.end(child)
    assert process is not None
    return process


def begin_dead(store: port.Store, process: host.Process, round_number: int) -> list[str]:
    """New sessions that took a task and whose process is no more."""
    found = []
    for number in range(DEAD_EACH_ROUND):
        session_id = f"dead-{round_number}-{number}"
        agency.begin(store, session_id, process=process)
        claims.take(store, agency.spot(), session_id, agency.key(session_id))
        found.append(session_id)
    return found


def let_all_fall_silent(store: port.Store) -> None:
    def work(transaction: port.Transaction) -> None:
        for row in transaction.rows(SILENCE):
            transaction.event(SILENCED, actor="test", session=row["session_id"], data={})

    store.write("test", work)


class Raced(NamedTuple):
    """What came out of all the rounds."""

    dead: list[str]
    marked: list[str]
    """Whom the sweeps say that they marked."""
    unheard: list[str]
    """Who was marked although its beat had been taken."""


def race(open_: agency.OpenStore, sweep_: Sweep, rounds: int) -> Raced:
    """Round after round: two sweeps and the beats of those who are there after all."""
    turn = multiprocessing.get_context("fork").Barrier(3)
    process, spot = dead_process(), agency.spot(beat_ms=0)
    first = open_()
    for session_id in BEATING:
        agency.begin(first, session_id)
    for session_id in WORKING:
        agency.begin(first, session_id, pid=multiprocessing.current_process().pid)
    first.close()

    def sweeping(store: port.Store) -> Raced:
        marked = []
        for _ in range(rounds):
            turn.wait()
            marked += sweep_(store, spot)
            turn.wait()
        return Raced([], marked, [])

    def beating(store: port.Store) -> Raced:
        dead, unheard = [], []
        for round_number in range(rounds):
            dead += begin_dead(store, process, round_number)
            let_all_fall_silent(store)
            turn.wait()
            for session_id in BEATING:
                registry.beat(store, spot, session_id, registry.News(progress="still here"))
            turn.wait()
            statuses = {name: agency.agent(store, name).status for name in BEATING}
            unheard += [name for name, status in statuses.items() if status != "active"]
        return Raced(dead, [], unheard)

    def work(worker: int) -> Raced:
        store = open_()
        try:
            return beating(store) if worker == 0 else sweeping(store)
        except BaseException:
            turn.abort()
            raise
        finally:
            store.close()

    answers = crowd.run(3, work)
    return Raced(*([*itertools.chain(*parts)] for parts in zip(*answers, strict=True)))


def sweep_faults(store: port.Store, raced: Raced) -> list[str]:
    """Deaths that were told twice or not at all, and the living that were marked."""
    log = events.after(store, 0, MANY)
    stale = Counter(e.session or "" for e in log if e.type == events.AGENT_STALE.name)
    freed = Counter(e.session or "" for e in log if e.type == events.STALE_LOCKS_RELEASED.name)
    closed = Counter(e.session or "" for e in log if e.type == events.CLAIM_CLOSED.name)
    told = Counter(raced.marked)
    once = dict.fromkeys(raced.dead, 1)
    return _told(
        {
            "deaths not told once": sum(stale[name] != 1 for name in once),
            "sweeps that marked what another one had": sum(told[name] != 1 for name in once),
            "claims of the dead not freed once": sum(
                not freed[name] == closed[name] == 1 for name in once
            ),
            "beats that did not count": len(raced.unheard),
            "marks after a beat": len(_marked_after_a_beat(log)),
            "living processes marked": sum(stale[name] for name in WORKING),
            "sessions left open": sum(agent.session_id in once for agent in roll.here(store.rows)),
        }
    )


def _marked_after_a_beat(log: Iterable[events.Event]) -> list[events.Event]:
    last: dict[str, str] = defaultdict(str)
    found = []
    for event in log:
        session = event.session or ""
        if event.type == events.AGENT_STALE.name and last[session] == "heartbeat_received":
            found.append(event)
        if event.type in (SILENCED.name, events.HEARTBEAT_RECEIVED.name):
            last[session] = event.type
    return found


@pytest.mark.proof(room="agents")
def test_two_sweeps_and_a_heartbeat_agree(
    opener: agency.OpenStore, kind: str, figures: Figures
) -> None:
    rounds = count(ROUNDS, at_least=6)
    raced = race(opener, guarded_sweep, rounds)
    store = opener()
    found = sweep_faults(store, raced)
    recovered = sum(
        event.type == events.AGENT_RECOVERED.name for event in events.after(store, 0, MANY)
    )
    figures.add(
        f"two sweeps and a heartbeat on {kind}",
        rounds=rounds,
        dead=len(raced.dead),
        beats=rounds * len(BEATING),
        beats_after_the_mark=recovered,
        faults=len(found),
    )
    assert found == []


@pytest.mark.proof(room="agents")
def test_the_check_catches_unguarded_marks(
    opener: agency.OpenStore, kind: str, figures: Figures
) -> None:
    rounds = count(ROUNDS // 10, at_least=6)
    found = sweep_faults(opener(), race(opener, unguarded_sweep, rounds))
    figures.add(f"control: unguarded marks on {kind}", rounds=rounds, caught="; ".join(found))
    assert any("not told once" in fault for fault in found)
    assert any("after a beat" in fault for fault in found)
