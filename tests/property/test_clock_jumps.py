"""Whatever is done to the clock, who lives is not swept, and who is silent is swept in time.

Each script is a random mix of time that passes, clocks that are set (by up to ten years, forward
and back) or stand still, beats and sweeps, on a real store. What must be true is known from the
running time alone. The control sees only the wall clock: the same check must catch it.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import agency
from tests.figures import Figures
from tests.scale import count
from tether import clock, host, workspace
from tether.agents import claims, lookout, registry, sweep
from tether.store import sqlite

SECOND = 1000
LIMIT_MS = 300 * SECOND
STEPS = 16
# A beat comes at the latest after this, and one step takes at most LONGEST_STEP_MS: with the 15 s
# between two beats that are written, no silence of a session that beats reaches the limit.
BEAT_AFTER_MS = 150 * SECOND
LONGEST_STEP_MS = 100 * SECOND
JUMPS_SECONDS = (0.001, 1, 59, 60, 61, 299, 300, 301, 3600, 86_400, 31_536_000, 315_360_000)

KILLED = "a live session was marked"
KEPT = "a silent session was not marked in time"
EARLY = "a silent session was marked too early"
REVIVED = "a session that was over came back"
LOST = "a live session lost its claim"


class Play:
    """One script and its sessions: three that live, each in its own way, and one that is silent."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self.stage = stage
        self.dice = random.Random(seed)  # noqa: S311 (the same script in every run)
        self.faults: list[str] = []
        self.runs, self.beats, self.next_door, self.silent = (
            f"{name}-{seed}" for name in ("runs", "beats", "next-door", "silent")
        )
        self.heard_ms: dict[str, int] = {}
        self.is_marked = False

    @property
    def living(self) -> tuple[str, ...]:
        return self.runs, self.beats, self.next_door

    def play(self) -> list[str]:
        """What went wrong, in words."""
        mine = host.identify(os.getpid())
        assert mine is not None
        self._begin(self.runs, mine)
        self._begin(self.next_door, mine._replace(pid_namespace="pid:[1234567890]"))
        self._begin(self.beats, None)
        self._begin(self.silent, None)
        for _ in range(STEPS):
            self._step()
        self._pass_up_to_the_limit()
        for session_id in self.living:
            registry.end(self.stage.store, session_id)
        return self.faults

    def _begin(self, session_id: str, process: host.Process | None) -> None:
        stage = self.stage
        agency.begin(stage.store, session_id, process=process, at=stage.spot)
        claims.take(stage.store, stage.spot, session_id, agency.key(f"issues:of-{session_id}"))
        self.heard_ms[session_id] = stage.running_ms

    def _step(self) -> None:
        act = self.dice.choice((self._pass, self._pass, self._jump, self._freeze, self._wobble))
        act()
        for session_id in (self.beats, self.next_door):
            silent_ms = self.stage.running_ms - self.heard_ms[session_id]
            if silent_ms >= BEAT_AFTER_MS or self.dice.random() < 0.2:
                registry.beat(self.stage.store, self.stage.spot, session_id)
                self.heard_ms[session_id] = self.stage.running_ms
        if self.dice.random() < 0.6:
            self._sweep()

    def _pass(self) -> None:
        self.stage.pass_ms(self.dice.randint(1, LONGEST_STEP_MS))

    def _jump(self) -> None:
        self.stage.wall.advance(self.dice.choice((1, -1)) * self.dice.choice(JUMPS_SECONDS))

    def _freeze(self) -> None:
        """The wall clock stands still for a while."""
        self.stage.running_ms += self.dice.randint(1, LONGEST_STEP_MS)

    def _wobble(self) -> None:
        """Somebody sets the clock, and soon sets it right again."""
        seconds = self.dice.choice((1, -1)) * self.dice.choice(JUMPS_SECONDS)
        self.stage.wall.advance(seconds)
        self._sweep()
        self.stage.wall.advance(-seconds)

    def _pass_up_to_the_limit(self) -> None:
        """The silent one is alive up to the last millisecond, and then it is not."""
        left_ms = LIMIT_MS - (self.stage.running_ms - self.heard_ms[self.silent])
        for ms in (left_ms - 1, 1) if left_ms > 1 else (max(0, left_ms),):
            self.stage.pass_ms(ms)
            for session_id in (self.beats, self.next_door):
                registry.beat(self.stage.store, self.stage.spot, session_id)
                self.heard_ms[session_id] = self.stage.running_ms
            self._sweep()

    def _sweep(self) -> None:
        stage = self.stage
        swept = sweep.sweep(stage.store, stage.spot, sweep.Rules())
        assert swept.problems == ()
        is_due = stage.running_ms - self.heard_ms[self.silent] >= LIMIT_MS
        status = agency.agent(stage.store, self.silent).status
        if is_due and status != "stale":
            self.faults.append(KEPT)
        if not is_due and status == "stale":
            self.faults.append(EARLY)
        holders = {claim.session_id for claim in claims.open_ones(stage.store.rows)}
        if self.is_marked and (status != "stale" or self.silent in holders):
            self.faults.append(REVIVED)
        self.is_marked = self.is_marked or status == "stale"
        for session_id in self.living:
            if agency.agent(stage.store, session_id).status != "active":
                self.faults.append(KILLED)
                registry.beat(stage.store, stage.spot, session_id)
            elif session_id not in holders:
                self.faults.append(LOST)
                claims.take(
                    stage.store, stage.spot, session_id, agency.key(f"issues:of-{session_id}")
                )


class Stage:
    """A store whose clock is moved by hand, and a running time that only goes on."""

    def __init__(self, path: Path, spot: lookout.Lookout) -> None:
        self.wall = clock.FakeClock()
        self.running_ms = 5_000_000
        place = workspace.Workspace(None, str(path), str(path), str(path / "tether"))
        self.store = sqlite.SqliteStore(place, wait_seconds=60, time=self.wall)
        self.spot = spot._replace(monotonic_ms=lambda: self.running_ms)

    def pass_ms(self, ms: int) -> None:
        self.wall.advance(ms / 1000)
        self.running_ms += ms

    def play(self, scripts: int) -> dict[int, list[str]]:
        """The scripts in which something went wrong, by their seed, and what."""
        found = {}
        for seed in range(scripts):
            self.wall.advance((clock.FakeClock().now_ms() - self.wall.now_ms()) / 1000)
            if faults := Play(self, seed).play():
                found[seed] = faults
        return found


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path, agency.spot())
    yield stage
    stage.store.close()


@pytest.fixture
def by_wall_alone(tmp_path: Path) -> Iterator[Stage]:
    """The control: a lookout that does not know its boot has only the wall clock."""
    spot = agency.spot()
    stage = Stage(tmp_path, spot._replace(here=spot.here._replace(boot_id="")))
    yield stage
    stage.store.close()


def counted(found: dict[int, list[str]]) -> Counter[str]:
    return Counter(fault for faults in found.values() for fault in faults)


@pytest.mark.proof(room="agents")
def test_no_script_of_clock_jumps_ends_the_living_or_keeps_the_silent(
    stage: Stage, figures: Figures
) -> None:
    scripts = count(1000, at_least=30)

    found = stage.play(scripts)

    faults = counted(found)
    figures.add(
        "clock jumps",
        scripts=scripts,
        steps=STEPS,
        live_ones_marked=faults[KILLED],
        silent_ones_kept=faults[KEPT],
        marked_too_early=faults[EARLY],
        revived=faults[REVIVED],
        claims_lost=faults[LOST],
    )
    assert found == {}


@pytest.mark.proof(room="agents")
def test_the_check_catches_a_judge_that_has_only_the_wall_clock(
    by_wall_alone: Stage, figures: Figures
) -> None:
    scripts = count(200, at_least=10)

    faults = counted(by_wall_alone.play(scripts))

    figures.add(
        "control: clock jumps by the wall clock alone",
        scripts=scripts,
        live_ones_marked=faults[KILLED],
        silent_ones_kept=faults[KEPT],
    )
    assert faults[KILLED] > 0
    assert faults[KEPT] > 0
