"""A paused owner cannot finish, renew or take back a task that went to another one meanwhile.

A child takes a task and is stopped; another session adopts the task; the child is continued and
goes on as if nothing had happened. Its claims must read after that as they did before, and it must
have been told who holds the task. The control finishes by the task's state alone.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import agency
from tests.figures import Figures
from tests.scale import count
from tether import host, ids
from tether.agents import claims, liveness, lookout, model
from tether.store import port, sql

ROUNDS = 200
ADOPTER = "adopter"
ELSEWHERE = host.Here("another-host", "another-boot", "pid:[1]")

Finish = Callable[[port.Store, lookout.Lookout, model.Claim], str]


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def opener(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[agency.OpenStore]:
    yield from agency.closing(agency.opener_of(kind, tmp_path, request))


# What the owner does when it goes on: each says who it was told has the task; "" if it was let.


def finish(store: port.Store, spot: lookout.Lookout, mine: model.Claim) -> str:
    answer = claims.close(store, spot, mine.session_id, mine.key, mine.epoch, claims.DONE)
    return _holder(answer)


def renew(store: port.Store, spot: lookout.Lookout, mine: model.Claim) -> str:
    return _holder(claims.renew(store, spot, mine.session_id, mine.key, mine.epoch))


def take_again(store: port.Store, spot: lookout.Lookout, mine: model.Claim) -> str:
    return _holder(claims.take(store, spot, mine.session_id, mine.key))


def _holder(answer: object) -> str:
    if isinstance(answer, claims.Refused) and answer.holder and answer.is_held:
        return answer.holder.session_id
    return ""


FINISH_BY_STATE = sql.Query(
    "finish",
    "",
    "UPDATE claims SET closed_at = tether_now(0), outcome = 'done'"
    " WHERE source = :source AND task = :task AND closed_at IS NULL RETURNING session_id",
)


def finish_by_state(store: port.Store, spot: lookout.Lookout, mine: model.Claim) -> str:
    """The control."""
    found = store.write(
        "release",
        lambda transaction: transaction.rows(FINISH_BY_STATE, source=mine.source, task=mine.task),
    )
    return "" if found else "nobody"


GUARDED = (finish, renew, take_again)


# One round


class Owner:
    """A process that takes a task, waits to be told to go on, and does what it had in mind."""

    def __init__(self, open_: agency.OpenStore, key: ids.TaskKey, does: tuple[Finish, ...]) -> None:
        self.session_id = f"owner-of-{key.id}"
        self._told, telling = os.pipe()
        waiting, self._go = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            with contextlib.suppress(BaseException):  # the parent finds the pipe closed
                self._live(open_(), key, does, waiting, telling)
            os._exit(0)
        os.close(telling)
        os.close(waiting)
        self._answers = os.fdopen(self._told, "rb")

    def _live(
        self,
        store: port.Store,
        key: ids.TaskKey,
        does: tuple[Finish, ...],
        waiting: int,
        telling: int,
    ) -> None:
        spot = agency.spot(lease_ms=0)
        agency.begin(store, self.session_id, pid=os.getpid(), at=spot)
        taken = claims.take(store, spot, self.session_id, key)
        assert isinstance(taken, claims.Claimed)
        os.write(telling, pickle.dumps(taken.claim))
        os.read(waiting, 1)
        os.write(telling, pickle.dumps([do(store, spot, taken.claim) for do in does]))

    def hear(self) -> Any:
        return pickle.load(self._answers)  # noqa: S301 (our own child)

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)
        os.waitpid(self.pid, os.WUNTRACED)

    def go_on(self) -> None:
        os.write(self._go, b"!")
        os.kill(self.pid, signal.SIGCONT)

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._go)
        self._answers.close()


def adopt(store: port.Store, key: ids.TaskKey, *, from_elsewhere: bool) -> model.Claim:
    """Because a person says so, or because on another host the lease is seen to be over."""
    if from_elsewhere:
        spot = agency.spot(here=ELSEWHERE, limits=liveness.Limits(grace_ms=0))
    else:
        spot = agency.spot()
    answer = claims.take(store, spot, ADOPTER, key, takes_over=not from_elsewhere)
    assert isinstance(answer, claims.Claimed)
    assert answer.is_adopted
    return answer.claim


def one_round(open_: agency.OpenStore, number: int, does: tuple[Finish, ...]) -> list[str]:
    """What was found wrong."""
    key, store = agency.key(f"T{number}"), open_()
    agency.begin(store, ADOPTER)
    owner = Owner(open_, key, does)
    try:
        lost = owner.hear()
        owner.pause()
        adopted = adopt(store, key, from_elsewhere=number % 2 == 1)
        before = claims.history(store.rows, key)
        owner.go_on()
        told = owner.hear()
    finally:
        owner.close()
    found = faults(lost, adopted, before, claims.history(store.rows, key), told)
    ended = claims.close(store, agency.spot(), ADOPTER, key, adopted.epoch, claims.DONE)
    if isinstance(ended, claims.Refused):
        found.append("the new owner cannot finish")
    store.close()
    return found


def faults(
    lost: model.Claim,
    adopted: model.Claim,
    before: list[model.Claim],
    after: list[model.Claim],
    told: list[str],
) -> list[str]:
    found = []
    if adopted.epoch <= lost.epoch:
        found.append("the epoch did not rise")
    if after != before:
        found.append("a stale write was accepted")
    if set(told) != {ADOPTER}:
        found.append("the old owner was not told who has the task")
    return found


def rounds(open_: agency.OpenStore, number: int, does: tuple[Finish, ...]) -> list[str]:
    return [fault for n in range(number) for fault in one_round(open_, n, does)]


@pytest.mark.proof(room="agents")
def test_a_paused_owner_cannot_finish_an_adopted_task(
    opener: agency.OpenStore, kind: str, figures: Figures
) -> None:
    number = count(ROUNDS, at_least=5)
    found = rounds(opener, number, GUARDED)
    figures.add(
        f"owners paused and continued on {kind}",
        rounds=number,
        stale_writes_tried=number * len(GUARDED),
        faults=len(found),
    )
    assert found == []


@pytest.mark.proof(room="agents")
def test_the_check_catches_a_finish_by_state_alone(
    opener: agency.OpenStore, kind: str, figures: Figures
) -> None:
    number = count(ROUNDS // 10, at_least=2)
    found = rounds(opener, number, (finish_by_state,))
    accepted = found.count("a stale write was accepted")
    figures.add(f"control: finish by state alone on {kind}", rounds=number, stale_writes=accepted)
    assert accepted == number
