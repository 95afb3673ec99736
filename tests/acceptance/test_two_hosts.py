"""Two hosts on one PostgreSQL: who is alive is decided by the database's clock and by whoever sees.

Host B cannot look at the processes of host A. It waits for leases and their grace, by the
database's clock and no other, until A says that somebody is dead. The hosts are two host ids with
boots and running times of their own.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests import agency, crowd
from tests.figures import Figures
from tests.scale import count
from tether import host
from tether.agents import claims, lookout, registry, sweep
from tether.store import events, port

LEASE_SECONDS = agency.LEASE_MS // 1000
GRACE_SECONDS = 900
TASKS = 500
EACH = 4
YEAR_NS = 365 * 86_400 * 10**9
ALL = sweep.Rules(stale_ms=0)


def host_a() -> lookout.Lookout:
    """This machine, whose processes are real."""
    return agency.spot()


def host_b(running_ms: Callable[[], int] = host.monotonic_ms) -> lookout.Lookout:
    """Another machine, with a boot and a running time of its own."""
    here = host.Here("host-b", "boot-of-b", host.here().pid_namespace)
    return agency.spot(here=here, monotonic_ms=running_ms)


WRONG_TIMES = (
    lambda: 0,
    lambda: -(10**12),
    lambda: 10**15,
    lambda: host.monotonic_ms() + 10**9,
)


@pytest.fixture
def opener(postgres_url: str) -> Iterator[agency.OpenStore]:
    yield from agency.closing(agency.postgres_opener(postgres_url))


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[bytes]]:
    """A process on host A."""
    process = agency.sleeper()
    yield process
    agency.end(process)


def begin_on_a(store: port.Store, worker: subprocess.Popen[bytes], session_id: str = "a") -> None:
    agency.begin(store, session_id, pid=worker.pid, at=host_a())


def begin_on_b(store: port.Store, session_id: str = "b", at: lookout.Lookout | None = None) -> None:
    """A session whose process, this one, is on host B."""
    process, spot = host.identify(os.getpid()), at or host_b()
    assert process is not None
    process = process._replace(host_id=spot.here.host_id, boot_id=spot.here.boot_id)
    agency.begin(store, session_id, process=process, at=spot)


def stale_sessions(store: port.Store) -> list[str | None]:
    return [e.session for e in events.after(store, 0, 10_000) if e.type == "agent_stale"]


@pytest.mark.parametrize(
    ("silent_seconds", "state"),
    [
        (0, "alive"),
        (LEASE_SECONDS - 10, "alive"),
        (LEASE_SECONDS + 1, "suspect"),
        (LEASE_SECONDS + GRACE_SECONDS - 10, "suspect"),
        (LEASE_SECONDS + GRACE_SECONDS + 1, "expired"),
    ],
)
def test_the_other_host_goes_by_the_lease(
    opener: agency.OpenStore, worker: subprocess.Popen[bytes], silent_seconds: int, state: str
) -> None:
    store = opener()
    begin_on_a(store, worker)
    agency.silence(store, "a", silent_seconds)
    for running_ms in WRONG_TIMES:
        assert host_b(running_ms).verdict(agency.agent(store, "a")).state == state
    assert host_a().verdict(agency.agent(store, "a")).state == "alive"


def test_a_suspect_keeps_its_task_and_an_expired_one_loses_it(
    opener: agency.OpenStore, worker: subprocess.Popen[bytes]
) -> None:
    store, key = opener(), agency.key("T1")
    begin_on_a(store, worker)
    begin_on_b(store)
    claims.take(store, host_a(), "a", key)
    agency.silence(store, "a", LEASE_SECONDS + 1)
    assert [one.session_id for one in sweep.sweep(store, host_b(), ALL).suspects] == ["a"]
    assert isinstance(claims.take(store, host_b(), "b", key), claims.Refused)
    agency.silence(store, "a", LEASE_SECONDS + GRACE_SECONDS + 1)
    swept = sweep.sweep(store, host_b(), ALL)
    assert [(one.session_id, one.released_items) for one in swept.stale_agents] == [("a", ("T1",))]
    assert isinstance(claims.take(store, host_b(), "b", key), claims.Claimed)


def test_a_death_that_its_own_host_saw_counts_everywhere_at_once(
    opener: agency.OpenStore, worker: subprocess.Popen[bytes]
) -> None:
    store, key = opener(), agency.key("T1")
    begin_on_a(store, worker)
    begin_on_b(store)
    claims.take(store, host_a(), "a", key)
    agency.end(worker)
    assert sweep.sweep(store, host_b(), ALL).stale_agents == ()
    assert isinstance(claims.take(store, host_b(), "b", key), claims.Refused)
    [stale] = sweep.sweep(store, host_a(), ALL).stale_agents
    assert (stale.session_id, stale.released_items) == ("a", ("T1",))
    assert agency.agent(store, "a").status == "stale"
    taken = claims.take(store, host_b(), "b", key)
    assert isinstance(taken, claims.Claimed)
    assert taken.previous is not None
    assert taken.previous.outcome == "released_stale"


def _with_clocks_off_by(years: int) -> None:
    """From now on this process has a wrong idea of the time."""
    real_time, real_running = time.time_ns, time.monotonic_ns
    time.time_ns = lambda: real_time() + years * YEAR_NS
    time.monotonic_ns = lambda: max(0, real_running() + years * YEAR_NS)


@pytest.mark.parametrize("years", [-30, 10])
def test_a_host_whose_clocks_are_wrong_marks_and_takes_nothing(
    opener: agency.OpenStore, worker: subprocess.Popen[bytes], years: int
) -> None:
    store, key = opener(), agency.key("T1")
    begin_on_a(store, worker)
    begin_on_b(store)
    claims.take(store, host_a(), "a", key)

    def on_b(_: int) -> tuple[int, bool, bool]:
        _with_clocks_off_by(years)
        mine = opener()
        swept = sweep.sweep(mine, host_b(), ALL)
        answer = claims.take(mine, host_b(), "b", key)
        mine.close()
        return len(swept.stale_agents), bool(swept.suspects), isinstance(answer, claims.Claimed)

    assert crowd.run(1, on_b) == [(0, False, False)]
    assert stale_sessions(store) == []
    # Nor does its own beat look old or new to A.
    assert host_a().verdict(agency.agent(store, "b")).state == "alive"


def test_the_check_catches_a_host_that_goes_by_its_own_clock(
    opener: agency.OpenStore, worker: subprocess.Popen[bytes]
) -> None:
    """The control: B compares A's running time with its own, as if they were one machine."""
    store = opener()
    begin_on_a(store, worker)
    naive = host_b(lambda: 10**15)
    naive = naive._replace(here=naive.here._replace(boot_id=host.here().boot_id))
    assert [one.session_id for one in sweep.sweep(store, naive, ALL).stale_agents] == ["a"]
    assert stale_sessions(store) == ["a"]


@pytest.mark.proof(room="agents")
def test_the_claims_of_two_hosts_exclude_each_other(
    opener: agency.OpenStore, figures: Figures
) -> None:
    tasks = count(TASKS, at_least=10)
    first = opener()
    far_ahead = host_b(lambda: host.monotonic_ms() + 10**12)
    spots = [host_a(), far_ahead] * EACH
    for number, spot in enumerate(spots):
        if number % 2:
            begin_on_b(first, f"s{number}", spot)
        else:
            agency.begin(first, f"s{number}", pid=os.getpid(), at=spot)
    first.close()

    def work(number: int) -> list[tuple[str, int, str]]:
        store, won = opener(), []
        for task in range(tasks):
            answer = claims.take(store, spots[number], f"s{number}", agency.key(f"T{task}"))
            if isinstance(answer, claims.Claimed):
                won.append((answer.claim.task, answer.claim.epoch, answer.claim.session_id))
            if task % 10 == number:
                registry.beat(store, spots[number], f"s{number}")
                sweep.sweep(store, spots[number], ALL)
        store.close()
        return won

    won = [one for answers in crowd.run(len(spots), work) for one in answers]
    store = opener()
    held = [(c.task, c.epoch, c.session_id) for c in claims.open_ones(store.rows)]
    winners = Counter(task for task, _, _ in won)
    figures.add(
        "claims of two hosts on postgres",
        processes=len(spots),
        tasks=tasks,
        won=len(won),
        taken_twice=sum(times > 1 for times in winners.values()),
        living_marked=len(stale_sessions(store)),
    )
    assert sorted(won) == sorted(held)
    assert set(winners.values()) == {1}
    assert len(winners) == tasks
    assert stale_sessions(store) == []
