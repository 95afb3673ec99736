"""Acts of the room `agents` that meet each other, and what they leave, on both stores."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests import agency
from tests.agency import begin, key, silence, spot
from tether import errors, host, ids
from tether.agents import claims, identity, messages, model, registry, sweep
from tether.store import port, schema, sql, transfer

TASK = key("T-1")
T = TypeVar("T")


@pytest.fixture(params=["sqlite", "postgres"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[agency.OpenStore]:
    yield from agency.closing(agency.opener_of(request.param, tmp_path, request))


@pytest.fixture
def postgres_opener(postgres_url: str) -> Iterator[agency.OpenStore]:
    yield from agency.closing(agency.postgres_opener(postgres_url))


class Watched:
    """A store that does something right before one statement of a write, once."""

    def __init__(self, store: port.Store, then: Callable[[], object], *names: str) -> None:
        self._store, self._names, self._then = store, names, then
        self._is_done = False
        self.runs = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def write(self, purpose: str, work: Callable[[port.Transaction], T]) -> T:
        def watched(transaction: port.Transaction) -> T:
            self.runs += 1
            inner = transaction._execute

            def execute(query: sql.Query, params: Any) -> list[port.Row]:
                if query.name in self._names and not self._is_done:
                    self._is_done = True
                    self._then()
                return inner(query, params)

            transaction._execute = execute
            return work(transaction)

        return self._store.write(purpose, watched)


def write(store: port.Store, text: str) -> None:
    store.write("test", lambda transaction: transaction.rows(sql.Query("test", "", text)))


def store_waits(store: port.Store) -> bool:
    """Does somebody who beats wait for a lock?"""
    text = (
        "SELECT 1 AS one FROM pg_stat_activity"
        " WHERE wait_event_type = 'Lock' AND application_name = 'tether beat'"
    )
    return bool(store.rows(sql.Query("waiting", "", text)))


def dead_process() -> host.Process:
    process = agency.sleeper()
    found = host.identify(process.pid)
    agency.end(process)
    assert found is not None
    return found


# A session that is heard from is not dead because of a process that it had


def test_a_session_that_beats_after_its_process_died_keeps_its_claims(
    opener: agency.OpenStore,
) -> None:
    store = opener()
    process = agency.sleeper()
    begin(store, "s1", pid=process.pid)
    begin(store, "s2")
    agency.end(process)
    # It goes on elsewhere, where its process cannot be named: in a sandbox, or without TETHER_PID.
    registry.register(
        store, spot(), registry.Session(ids.SessionId("s1"), ids.AgentName("agent-s1"))
    )
    assert isinstance(claims.take(store, spot(), "s1", TASK), claims.Claimed)
    answer = claims.take(store, spot(), "s2", TASK)
    assert isinstance(answer, claims.Refused), answer
    assert sweep.sweep(store, spot(), sweep.Rules(stale_ms=0)).stale_agents != ()  # by silence


@pytest.mark.parametrize("status", ["ended", "stale"])
def test_a_session_that_comes_back_without_a_process_is_not_dead(
    opener: agency.OpenStore, status: str
) -> None:
    store = opener()
    begin(store, "s1", process=dead_process())
    begin(store, "s2")
    if status == "ended":
        registry.end(store, "s1")
        begin(store, "s1")
    else:
        silence(store, "s1", 400)
        assert sweep.sweep(store, spot(), sweep.Rules()).stale_agents
        registry.beat(store, spot(), "s1")
    assert isinstance(claims.take(store, spot(), "s1", TASK), claims.Claimed)
    assert spot().verdict(agency.agent(store, "s1")).state == "alive"
    assert isinstance(claims.take(store, spot(), "s2", TASK), claims.Refused)


# Adoption and what comes in between


def test_a_beat_that_comes_in_between_keeps_a_task_from_being_adopted(
    postgres_opener: agency.OpenStore,
) -> None:
    store, other = postgres_opener(), postgres_opener()
    begin(store, "s1")
    begin(store, "s2")
    claims.take(store, spot(), "s1", TASK)
    silence(store, "s1", 400)
    watched = Watched(
        store, lambda: registry.beat(other, spot(), "s1"), "agents.hold", "claims.close"
    )
    answer = claims.take(watched, spot(), "s2", TASK)
    assert isinstance(answer, claims.Refused)


def test_an_adoption_and_a_beat_of_the_holder_do_not_wait_for_each_other(
    postgres_opener: agency.OpenStore,
) -> None:
    store, other = postgres_opener(), postgres_opener()
    begin(store, "s1")
    begin(store, "s2", kind="human")
    claims.take(store, spot(), "s1", TASK)
    write(store, "UPDATE claims SET lease_until = tether_now(0)")
    silence(store, "s1", 60)
    beating = Watched(other, lambda: None)
    thread = threading.Thread(target=lambda: registry.beat(beating, spot(), "s1"))

    def start_and_wait() -> None:
        thread.start()
        while not store_waits(looking):
            time.sleep(0.01)

    looking = postgres_opener()
    watched = Watched(store, start_and_wait, "agents.work_on", "messages.post")
    answer = claims.take(watched, spot(), "s2", TASK, takes_over=True)
    thread.join()
    assert isinstance(answer, claims.Claimed)
    assert (watched.runs, beating.runs) == (1, 1)


def test_asking_again_for_what_was_just_lost_is_no_claim(
    postgres_opener: agency.OpenStore,
) -> None:
    store, other = postgres_opener(), postgres_opener()
    begin(store, "s1")
    first = claims.take(store, spot(), "s1", TASK)
    assert isinstance(first, claims.Claimed)
    claims.take(store, spot(), "s1", key("T-2"))
    other.wait_seconds = 0.3

    def let_go() -> None:
        with contextlib.suppress(errors.StoreBusy):
            claims.close(other, spot(), "s1", TASK, first.claim.epoch, "released")

    watched = Watched(store, let_go, "claims.renew")
    answer = claims.take(watched, spot(), "s1", TASK)
    assert isinstance(answer, claims.Claimed)
    held = claims.open_of(store.rows, TASK)
    assert held is not None
    assert held.epoch == answer.claim.epoch


def test_asking_again_tells_the_lease_that_it_has_now(opener: agency.OpenStore) -> None:
    store = opener()
    begin(store, "s1")
    claims.take(store, spot(), "s1", TASK)
    answer = claims.take(store, spot(lease_ms=10_000_000), "s1", TASK)
    assert isinstance(answer, claims.Claimed)
    held = claims.open_of(store.rows, TASK)
    assert held is not None
    assert held.lease_until == answer.claim.lease_until


# Messages


def test_who_begins_again_gets_no_broadcast_of_the_time_between(
    opener: agency.OpenStore,
) -> None:
    store = opener()
    sender = begin(store, "s1")
    begin(store, "s2")
    registry.end(store, "s2")
    messages.send(store, sender, "all", messages.Draft("The build is red."))
    again = begin(store, "s2")
    assert messages.unread(store, again, 10) == []


# Names


def test_two_people_are_two_sessions() -> None:
    names = ["Jürgen", "Jörgen", "Zoë", "Zoé", "Ada Lovelace"]
    assert len({identity.person(name).session_id for name in names}) == len(names)


# What somebody left stays where it was left


@pytest.mark.parametrize("way", ["stale", "ended", "adopted"])
def test_each_claim_keeps_the_worktree_of_its_own(opener: agency.OpenStore, way: str) -> None:
    store = opener()
    begin(store, "s1")
    begin(store, "s2")
    first, second = model.Place("/tree/1", "one", "1" * 40), model.Place("/tree/2", "two", "2" * 40)
    claims.take(store, spot(), "s1", TASK, news=registry.News(place=first))
    claims.take(store, spot(), "s1", key("T-2"), news=registry.News(place=first))
    registry.beat(store, spot(beat_ms=0), "s1", registry.News(place=second))
    silence(store, "s1", 400)
    if way == "ended":
        registry.end(store, "s1")
    elif way == "stale":
        assert sweep.sweep(store, spot(), sweep.Rules()).stale_agents
    else:
        for task in (TASK, key("T-2")):
            assert isinstance(claims.take(store, spot(), "s2", task), claims.Claimed)
    closed = {c.task: c for c in claims.all_ones(store.rows, 10) if c.session_id == "s1"}
    assert (closed["T-1"].worktree, closed["T-1"].branch, (closed["T-1"].head or "")[:1]) == (
        "/tree/1", "one", "1",
    )  # fmt: skip
    assert (closed["T-2"].worktree, closed["T-2"].branch, (closed["T-2"].head or "")[:1]) == (
        "/tree/2", "two", "2",
    )  # fmt: skip


def test_old_reservations_are_not_read() -> None:
    text = sql.Queries("claims").reservations_of_others.text
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema.OURS.whole("sqlite"))
        plan = connection.execute(f"EXPLAIN QUERY PLAN {text}", {"session_id": "s"}).fetchall()
    assert not any("SCAN reservations" in row[3] for row in plan), plan


# What comes from outside


def test_a_time_that_is_none_is_not_imported(opener: agency.OpenStore, tmp_path: Path) -> None:
    lines: list[bytes] = []
    (tmp_path / "from").mkdir()
    source = agency.sqlite_opener(tmp_path / "from")()
    begin(source, "s1")
    write(source, "UPDATE agents SET lease_until = 'soon'")
    transfer.export(source, None, lines.append)
    source.close()
    with pytest.raises(errors.ExportInvalid):
        transfer.import_(opener(), lambda: lines)
