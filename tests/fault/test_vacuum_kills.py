"""Sweeps are killed, at random moments and at each of their writes; then one goes on to its end.

Whatever happened before, that one leaves the rows that an undisturbed sweep leaves, and everything
was settled and told once. The controls plant a fault behind its back: the comparison must see it.
"""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest

from tests import agency, scale
from tests.conftest import Tether
from tests.figures import Figures
from tests.scenes import BY_HAND, PERSON, TRACK, Git, Scene, agent
from tether import clock, workspace
from tether.cli import main
from tether.store import events, port, sql, sqlite
from tether.vacuum import model, reports

T = TypeVar("T")
KILLS = 200
TASKS = 50
DONE = 20
MANY = 100_000
REPORTS = sql.Query("reports", "", "SELECT * FROM vacuum_reports ORDER BY id")
DEFERRALS = sql.Query("deferrals", "", "SELECT * FROM deferrals ORDER BY id")
COMES = sql.Query("comes", "", "UPDATE deferrals SET until = :until")
DELETE = sql.Query("delete", "", "DELETE FROM vacuum_reports WHERE id = :id")
# They differ from one sweep to the next.
TIMES = ("id", "created_at", "last_seen_at", "resolved_at")


class Left(NamedTuple):
    """What sweeps have left in a store."""

    reports: list[str]
    deferrals: list[str]
    told: Counter[str]
    """What the log says of findings and deferrals, and how often."""
    open: int
    settled: int


class Site(NamedTuple):
    """A repository of which the next sweep has much to write down, and a store as it was before."""

    scene: Scene
    before: Path

    def store_dir(self, name: str) -> Path:
        """Another store, as it was before."""
        place = self.before.parent / name
        shutil.copytree(self.before, place)
        return place

    def environ(self, own: Path) -> dict[str, str]:
        return {**self.scene.environ, **PERSON, **BY_HAND, "TETHER_STORE_DIR": str(own)}

    def store(self, own: Path) -> port.Store:
        here = workspace.find(str(self.scene.repo), store_dir=str(own))
        return sqlite.SqliteStore(here, wait_seconds=10)


def ago(days: float) -> int:
    return clock.SystemClock().now_ms() - round(days * model.DAY_MS)


@pytest.fixture
def site(
    repo: Path,
    environ: dict[str, str],
    git: Git,
    tether: Tether,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Site:
    """Fifty tasks were begun long ago, and a sweep found that; since then

    twenty were ticked, two others were dropped by somebody who died, and the day of a deferral has
    come.
    """
    monkeypatch.setattr(reports, "_BATCH", 8)  # several transactions for a few rows
    scene = Scene(repo, environ, git, tether)
    for box, days in ((" ", 25), ("~", 20)):
        lines = "".join(f"- [{box}] H.1.{number} Do it\n" for number in range(1, TASKS + 1))
        scene.write(TRACK, f"# Track H\n\n{lines}- [ ] H.2.1 Build it\n- [ ] H.2.2 Test it\n")
        scene.commit("Go on", at_ms=ago(days))
    for number, task in enumerate(("H.2.1", "H.2.2")):
        process = agency.sleeper()
        who = agent(f"dead-{number}", TETHER_PID=str(process.pid))
        scene.done("claim", task, who=who)
        agency.end(process)
    scene.done("vacuum", "defer", "H.1.1", "--until", "30d")
    scene.done("vacuum", TETHER_VACUUM_STALE_DAYS="8")
    path = repo / TRACK
    ticked = path.read_text()
    for number in range(TASKS - DONE + 1, TASKS + 1):
        ticked = ticked.replace(f"[~] H.1.{number} ", f"[x] H.1.{number} ")
    path.write_text(ticked)
    scene.commit("Tick", at_ms=ago(0.1))
    before = tmp_path / "stores" / "before"
    shutil.copytree(repo / ".git" / "tether", before)
    site = Site(scene, before)
    store = site.store(before)
    past = clock.text(ago(1))
    store.write("test", lambda transaction: transaction.rows(COMES, until=past))
    store.close()
    return site


Interfere = Callable[[], object]


def sweep(site: Site, own: Path, kind: str, interfere: Interfere = lambda: None) -> int:
    """Run `tether vacuum` in a process of its own; its pid."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.chdir(site.scene.repo)
        os.environ.clear()
        os.environ.update(site.environ(own))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        interfere()
        code = main.main(["vacuum", *(["--deep"] if kind == model.DEEP else []), "--json"])
    finally:
        os._exit(code)


def end(child: int) -> bool:
    """Wait for a sweep; whether it was killed. It must not end badly in another way."""
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def undisturbed(site: Site, own: Path, kind: str) -> Left:
    """What one sweep leaves that nobody disturbs."""
    assert not end(sweep(site, own, kind))
    return left(site, own)


def left(site: Site, own: Path) -> Left:
    store = site.store(own)
    try:
        found = store.rows(REPORTS)
        kept = [{k: v for k, v in row.items() if k not in TIMES} for row in found]
        put_off = [
            {k: v for k, v in row.items() if k != "ended_at"} for row in store.rows(DEFERRALS)
        ]
        names = (events.ORPHAN_RESOLVED.name, events.DEFERRAL_ENDED.name)
        told = Counter(
            json.dumps([each.type, each.source, each.task, each.data.get("type")])
            for each in events.after(store, 0, MANY)
            if each.type in names
        )
    finally:
        store.close()
    settled = sum(row["resolution"] is not None for row in found)
    return Left(
        sorted(json.dumps(row, sort_keys=True) for row in kept),
        sorted(json.dumps(row, sort_keys=True) for row in put_off),
        told,
        len(found) - settled,
        settled,
    )


def sweeps(site: Site, own: Path) -> list[reports.Sweep]:
    store = site.store(own)
    try:
        return reports.sweeps(store, MANY)
    finally:
        store.close()


def assert_worth_it(usual: Left) -> None:
    """Is there much that a kill could tear apart?"""
    assert usual.open > TASKS // 2
    assert usual.settled >= DONE
    assert len(usual.told) > DONE
    assert set(usual.told.values()) == {1}
    assert '"its day has come"' in usual.deferrals[0]


# At random moments


@pytest.mark.proof(room="vacuum")
@pytest.mark.parametrize("kind", [model.STANDARD, model.DEEP])
def test_sweeps_that_are_killed_leave_what_one_leaves(
    site: Site, kind: str, figures: Figures
) -> None:
    usual = undisturbed(site, site.store_dir("usual"), kind)
    assert_worth_it(usual)
    # How long it takes where everything was read already.
    begin = time.monotonic()
    undisturbed(site, site.before.parent / "usual", kind)
    length = time.monotonic() - begin
    dice = random.Random(14)  # noqa: S311 (the same moments in every run)
    kills = scale.count(KILLS, 5)
    own, fallen = site.store_dir("killed"), 0
    for _ in range(kills):
        child = sweep(site, own, kind)
        # The kill comes at a random moment: this is the experiment, not a wait for something.
        select.select([], [], [], dice.uniform(0, length))
        os.kill(child, signal.SIGKILL)
        fallen += end(child)
    assert undisturbed(site, own, kind) == usual
    assert fallen > 0
    figures.add(f"{kind} sweeps killed at random moments", kills=kills, in_the_midst=fallen)


# At each write


def die_at(number: int, *, is_written: bool) -> Interfere:
    """Be killed at a write to the store: before its commit, or right after it."""

    def interfere() -> None:
        real, writes = sqlite.SqliteStore.write, iter(range(1, MANY))

        def write(
            self: sqlite.SqliteStore, purpose: str, work: Callable[[port.Transaction], T]
        ) -> T:
            is_now = next(writes) == number

            def dying(transaction: port.Transaction) -> T:
                answer = work(transaction)
                if is_now and not is_written:
                    os.kill(os.getpid(), signal.SIGKILL)
                return answer

            answer = real(self, purpose, dying)
            if is_now:
                os.kill(os.getpid(), signal.SIGKILL)
            return answer

        setattr(sqlite.SqliteStore, "write", write)  # noqa: B010 (in a process that dies of it)

    return interfere


@pytest.mark.parametrize("is_written", [False, True], ids=["before the commit", "after it"])
def test_a_kill_at_any_write_leaves_nothing_wrong(site: Site, is_written: bool) -> None:
    """One store, so each sweep goes on where the last one fell."""
    usual = undisturbed(site, site.store_dir("usual"), model.STANDARD)
    own, fallen = site.store_dir("killed"), 0
    while end(sweep(site, own, model.STANDARD, die_at(fallen + 1, is_written=is_written))):
        fallen += 1
    assert fallen > 3
    assert left(site, own) == usual
    assert undisturbed(site, own, model.STANDARD) == usual


def test_a_sweep_that_was_interrupted_is_told(site: Site) -> None:
    own = site.store_dir("killed")
    assert end(sweep(site, own, model.STANDARD, die_at(2, is_written=True)))
    interrupted = sweeps(site, own)[0]
    assert interrupted.finished_at is None
    page = site.scene.done("vacuum", TETHER_STORE_DIR=str(own)).out
    assert ", when a sweep was interrupted." in page
    finished, before, *_ = sweeps(site, own)
    assert (finished.finished_at is not None, before) == (True, interrupted)


# Controls


def test_a_row_that_is_lost_is_seen(site: Site) -> None:
    own = site.store_dir("usual")
    usual = undisturbed(site, own, model.STANDARD)
    store = site.store(own)
    store.write(
        "test", lambda transaction: transaction.rows(DELETE, id=store.rows(REPORTS)[0]["id"])
    )
    store.close()
    assert left(site, own) != usual


def test_what_is_told_twice_is_seen(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever settles without asking whether it is settled tells it again after each kill."""
    usual = undisturbed(site, site.store_dir("usual"), model.STANDARD)
    careless = sql.Query(
        "settle",
        "",
        "UPDATE vacuum_reports SET resolution = :resolution, resolved_at = :now,"
        " resolved_by = :resolved_by WHERE id = :id RETURNING id",
    )
    monkeypatch.setattr(reports._SQL, "settle", careless)
    everything = sql.Query("open_reports", "", "SELECT * FROM vacuum_reports ORDER BY id")
    monkeypatch.setattr(reports._SQL, "open_reports", everything)
    own = site.store_dir("killed")
    undisturbed(site, own, model.STANDARD)
    assert undisturbed(site, own, model.STANDARD) != usual
    assert left(site, own).told != usual.told
