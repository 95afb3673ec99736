"""Whatever agents do in whatever order, the store is what a dictionary says.

The model knows who is here, who has which task with which epoch, and how long each has been silent.
After every step the store and a replay of its event log must say the same.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

import hypothesis
import pytest
from hypothesis import stateful
from hypothesis import strategies as st

from tests import agency
from tests.figures import Figures
from tests.scale import count
from tether import clock, errors, ids, workspace
from tether.agents import claims, registry, roll, sweep
from tether.store import events, port, sql, sqlite

SESSIONS = ("a", "b", "c")
TASKS = ("T1", "T2")
STALE_SECONDS = 300

sessions = st.sampled_from(SESSIONS)
tasks = st.sampled_from(TASKS)


class Held(NamedTuple):
    """Who has a task, in the model."""

    session: str
    epoch: int


class Agents(stateful.RuleBasedStateMachine):
    """The rules, and what must hold after each."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.clock = clock.FakeClock()
        self.running_ms = 10_000_000
        self.spot = agency.spot(monotonic_ms=lambda: self.running_ms)
        self.store = self.open()
        self.status: dict[str, str] = {}
        self.silent: dict[str, int] = {}
        self.held: dict[str, Held] = {}
        self.last_epoch: dict[str, int] = {}
        self.old: list[tuple[str, Held]] = []

    def open(self) -> port.Store:
        path = str(self.directory)
        place = workspace.Workspace(None, path, path, f"{path}/tether")
        return sqlite.SqliteStore(place, wait_seconds=5, time=self.clock)

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.directory)

    @stateful.initialize()
    def begin(self) -> None:
        for session in SESSIONS[:2]:
            self.register(session)

    # What agents do

    @stateful.rule(session=sessions)
    def register(self, session: str) -> None:
        agency.begin(self.store, session, at=self.spot)
        self._heard(session)

    @stateful.rule(session=sessions)
    def beat(self, session: str) -> None:
        try:
            registry.beat(self.store, self.spot, session)
        except errors.NotFound:
            assert session not in self.status
        except errors.NotAllowed:
            assert self.status[session] == "ended"
        else:
            assert self.status[session] != "ended"
            # Within 15 seconds nothing is written, so the silence goes on.
            if self.status[session] != "active" or self.silent[session] >= 15:
                self._heard(session)

    @stateful.rule(session=sessions)
    def rest(self, session: str) -> None:
        try:
            registry.rest(self.store, self.spot, session)
        except (errors.NotFound, errors.NotAllowed):
            assert self.status.get(session) in (None, "ended")
        else:
            self._heard(session)
            self.status[session] = "idle"

    @stateful.rule(session=sessions)
    def end(self, session: str) -> None:
        try:
            _, released = registry.end(self.store, session)
        except errors.NotFound:
            assert session not in self.status
            return
        expected = [task for task, held in self.held.items() if held.session == session]
        assert sorted(claim.task for claim in released) == sorted(expected)
        self._let_go(session)
        self.status[session] = "ended"

    @stateful.rule(session=sessions, task=tasks, takes_over=st.booleans())
    def take(self, session: str, task: str, takes_over: bool) -> None:
        try:
            answer = claims.take(
                self.store, self.spot, session, ids.TaskKey("work", task), takes_over=takes_over
            )
        except errors.NotFound:
            assert session not in self.status
            return
        except errors.NotAllowed:
            assert self.status[session] in ("stale", "ended")
            return
        assert self.status[session] in ("active", "idle")
        self._heard(session)
        before = self.held.get(task)
        is_free = before is None or self.silent[before.session] >= STALE_SECONDS or takes_over
        if before is not None and before.session == session:
            assert isinstance(answer, claims.Claimed)
            assert (answer.is_new, answer.claim.epoch) == (False, before.epoch)
        elif is_free:
            assert isinstance(answer, claims.Claimed)
            epoch = answer.claim.epoch
            if task in self.last_epoch:
                assert epoch == self.last_epoch[task] + 1
            if before is not None:
                self.old.append((task, before))
            self.held[task] = Held(session, epoch)
            self.last_epoch[task] = epoch
        else:
            assert isinstance(answer, claims.Refused)
            assert answer.last is not None
            assert before is not None
            assert (answer.last.session_id, answer.last.epoch) == before

    @stateful.rule(task=tasks, outcome=st.sampled_from(["done", "failed", "released"]))
    def close(self, task: str, outcome: str) -> None:
        held = self.held.get(task)
        if held is None:
            return
        closed = claims.close(
            self.store, self.spot, held.session, ids.TaskKey("work", task), held.epoch, outcome
        )
        assert not isinstance(closed, claims.Refused)
        self.old.append((task, self.held.pop(task)))

    @stateful.precondition(lambda self: self.old)
    @stateful.rule(data=st.data())
    def write_with_an_old_epoch(self, data: st.DataObject) -> None:
        self.refuse_old(*data.draw(st.sampled_from(self.old)))

    def refuse_old(self, task: str, old: Held) -> None:
        key = ids.TaskKey("work", task)
        for answer in (
            claims.renew(self.store, self.spot, old.session, key, old.epoch),
            claims.close(self.store, self.spot, old.session, key, old.epoch, "done"),
        ):
            assert isinstance(answer, claims.Refused)
            assert answer.is_held == (task in self.held)

    # What happens to them

    @stateful.rule(seconds=st.sampled_from([1, 14, 15, 100, 299, 300, 301, 5000]))
    def pass_time(self, seconds: int) -> None:
        self.clock.advance(seconds)
        self.running_ms += seconds * 1000
        for session in self.silent:
            self.silent[session] += seconds

    @stateful.rule(session=sessions)
    def fall_silent(self, session: str) -> None:
        """What random steps alone do too rarely: one dies, the others live on."""
        self.pass_time(STALE_SECONDS)
        for other in SESSIONS:
            if other != session:
                self.beat(other)
        self.sweep()

    @stateful.precondition(lambda self: self.old)
    @stateful.rule(data=st.data())
    def take_again_what_was_lost(self, data: st.DataObject) -> None:
        """The same session with a new epoch: the old one must not count for it."""
        task, old = data.draw(st.sampled_from(self.old))
        self.register(old.session)
        self.take(old.session, task, takes_over=True)
        self.refuse_old(task, old)

    @stateful.rule(seconds=st.sampled_from([-86_400, -59, 59, 86_400]))
    def set_the_clock(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @stateful.rule()
    def sweep(self) -> None:
        swept = sweep.sweep(self.store, self.spot, sweep.Rules())
        over = [
            session
            for session, status in self.status.items()
            if status in ("active", "idle") and self.silent[session] >= STALE_SECONDS
        ]
        assert sorted(stale.session_id for stale in swept.stale_agents) == sorted(over)
        for session in over:
            self._let_go(session)
            self.status[session] = "stale"

    @stateful.rule()
    def open_again(self) -> None:
        self.store.close()
        self.store = self.open()

    # What must hold

    @stateful.invariant()
    def the_store_is_the_model(self) -> None:
        found = {
            claim.task: Held(claim.session_id, claim.epoch)
            for claim in claims.open_ones(self.store.rows)
        }
        assert found == self.held
        known = roll.here(self.store.rows, everyone=True)
        assert {agent.session_id: agent.status for agent in known} == self.status

    @stateful.invariant()
    def the_log_tells_the_same(self) -> None:
        found: dict[str, Held] = {}
        log = events.after(self.store, 0, 100_000)
        assert [event.id for event in log] == list(range(1, len(log) + 1))
        for event in log:
            task, session = str(event.task), str(event.session)
            if event.type in ("claim_taken", "claim_adopted"):
                assert task not in found
                found[task] = Held(session, event.data["epoch"])
            elif event.type == "claim_closed":
                assert found.pop(task) == Held(session, event.data["epoch"])
        assert found == self.held

    def _heard(self, session: str) -> None:
        self.status[session] = "active"
        self.silent[session] = 0

    def _let_go(self, session: str) -> None:
        for task, held in list(self.held.items()):
            if held.session == session:
                self.old.append((task, self.held.pop(task)))


class Forgetful(Agents):
    """The control: a sweep that frees claims and tells nobody."""

    @stateful.rule()
    def sweep(self) -> None:
        forget = sql.Query("forget", "", "UPDATE claims SET closed_at = tether_now(0)")
        self.store.write("test", lambda transaction: transaction.rows(forget))


def run(machine: type[Agents], examples: int, *, shrinks: bool = True) -> None:
    stateful.run_state_machine_as_test(
        machine,
        settings=hypothesis.settings(
            max_examples=examples,
            stateful_step_count=50,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[hypothesis.Phase.generate, *([hypothesis.Phase.shrink] if shrinks else [])],
            suppress_health_check=list(hypothesis.HealthCheck),
        ),
    )


@pytest.mark.proof(room="agents")
def test_the_store_is_what_the_model_says(figures: Figures) -> None:
    examples = count(1000, at_least=40)
    run(Agents, examples)
    figures.add("random histories against a model", examples=examples, steps=50, differences=0)


@pytest.mark.proof(room="agents")
def test_the_check_catches_a_sweep_that_tells_nobody(figures: Figures) -> None:
    with pytest.raises(AssertionError):
        run(Forgetful, 200, shrinks=False)
    figures.add("control: a sweep that tells nobody", caught=True)
