"""Many adopt the same orphan and many sweep at the same moment, on SQLite and on PostgreSQL.

Of adopters exactly one wins, and the findings are settled once. Of sweeps one open row is left for
each task and type. The controls look first and write later: the same checks must catch them.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import agency, crowd
from tests.conftest import Tether
from tests.scenes import BY_HAND, Git, Scene, agent
from tether import clock, ids, workspace
from tether.agents import claims
from tether.store import events, port, postgres, sql, sqlite
from tether.vacuum import model, reports, resolve

ADOPTERS = 8
SWEEPS = 4
TASKS = 40
KEY = ids.TaskKey("track", "H.1.1")
TYPES = (model.DEAD_CLAIM, model.CONTEXT_LOST, model.STALE_IN_PROGRESS)
MANY = 100_000
REPORTS = sql.Query("reports", "", "SELECT * FROM vacuum_reports ORDER BY id")
MESSAGES = sql.Query("messages", "", "SELECT id FROM messages WHERE type = 'task_adopted'")


class Won(NamedTuple):
    """What an adopter was told: it has the task, and so many findings are settled."""

    session: str
    settled: int


Adopt = Callable[[port.Store, str], Won | None]


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def opener(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[agency.OpenStore]:
    yield from agency.closing(agency.opener_of(kind, tmp_path, request))


def now() -> str:
    return clock.now_text(clock.SystemClock())


def row(key: ids.TaskKey, kind: str) -> reports.Row:
    finding = model.Finding(kind, model.SUSPECT, 90, ("it is so",), ("file:x",))
    evidence = {"reasons": ["it is so"], "pointers": ["file:x"]}
    return reports.Row(key, finding, "H", "2026-11-01T12:00:00.000Z", "s-0", evidence)


def note(store: port.Store, *rows: reports.Row, how: str = model.STANDARD) -> reports.Recorded:
    return reports.record(store, how, rows, now(), "ada", "house")


def told(store: port.Store, kind: events.EventType) -> list[events.Event]:
    return [each for each in events.after(store, 0, MANY) if each.type == kind.name]


# Adopters


def drop(store: port.Store) -> None:
    """Have a task whose owner was killed, with several findings."""
    process = agency.sleeper()
    agency.begin(store, "dead", pid=process.pid)
    taken = claims.take(store, agency.spot(), "dead", KEY)
    assert isinstance(taken, claims.Claimed)
    agency.end(process)
    note(store, *(row(KEY, each) for each in TYPES))


def adopt(store: port.Store, session: str) -> Won | None:
    """As `tether vacuum adopt` does."""
    taken = claims.take(store, agency.spot(), session, KEY)
    if isinstance(taken, claims.Refused):
        return None
    adopter = agency.agent(store, session)
    return Won(session, len(resolve.adopted(store, adopter, KEY, now(), "")))


def adopt_carelessly(store: port.Store, session: str) -> Won | None:
    """The control: look whether it is an orphan, and say later that it is ours."""
    found = reports.open_of(store, KEY)
    crowd.dawdle()
    if not found:
        return None
    resolve.adopted(store, agency.agent(store, session), KEY, now(), "")
    return Won(session, len(found))


def contest(open_: agency.OpenStore, ask: Adopt) -> list[Won]:
    """All adopt at the same moment; those who were told that they have it."""

    def work(number: int) -> Won | None:
        store, session = open_(), f"adopter-{number}"
        # No process is named: who has asked ends at once, and would be dead for the next one.
        agency.begin(store, session)
        won = ask(store, session)
        store.close()
        return won

    return [each for each in crowd.run(ADOPTERS, work) if each is not None]


def adoption_faults(store: port.Store, won: list[Won]) -> list[str]:
    """What went wrong, in words; empty if nothing did."""
    held = [each.session_id for each in claims.open_ones(store.rows)]
    resolved = told(store, events.ORPHAN_RESOLVED)
    found = {
        "winners": abs(len(won) - 1),
        "claims that are not the winner's": held != [each.session for each in won],
        "findings not settled once": abs(sum(each.settled for each in won) - len(TYPES)),
        "settlements not told once": len(resolved) != len(TYPES),
        "findings still open": len(reports.open_ones(store)),
        "adoptions not told once": len(store.rows(MESSAGES)) != 1,
        "epochs not given once": len(told(store, events.CLAIM_ADOPTED)) != 1,
    }
    return [what for what, is_wrong in found.items() if is_wrong]


def test_of_many_adopters_exactly_one_wins(opener: agency.OpenStore) -> None:
    store = opener()
    drop(store)
    won = contest(opener, adopt)
    assert adoption_faults(store, won) == []
    [winner] = won
    [settled] = {each["resolved_by"] for each in store.rows(REPORTS)}
    assert settled == f"agent-{winner.session}"


def test_the_check_catches_adopters_who_look_first(opener: agency.OpenStore) -> None:
    store = opener()
    drop(store)
    found = adoption_faults(store, contest(opener, adopt_carelessly))
    assert {"winners", "findings not settled once", "adoptions not told once"} <= set(found)


# Sweeps


def rows() -> list[reports.Row]:
    keys = [ids.TaskKey("track", f"H.1.{number}") for number in range(TASKS)]
    return [row(key, kind) for key in keys for kind in TYPES]


def open_faults(store: port.Store) -> list[str]:
    """Tasks and types that do not have exactly one open row."""
    counts = Counter(
        (each["task_id"], each["orphan_type"])
        for each in store.rows(REPORTS)
        if each["resolution"] is None
    )
    wanted = {(each.key.id, each.finding.type) for each in rows()}
    return sorted(str(name) for name in counts.keys() | wanted if counts[name] != 1)


def run_sweeps(open_: agency.OpenStore, see: Callable[[port.Store], object]) -> None:
    def work(_: int) -> None:
        store = open_()
        see(store)
        store.close()

    crowd.run(SWEEPS, work)


def test_sweeps_at_once_leave_one_open_row_for_each_task_and_type(
    opener: agency.OpenStore,
) -> None:
    store = opener()
    store.ensure_writable()
    run_sweeps(opener, lambda own: note(own, *rows()))
    assert open_faults(store) == []
    numbers = [each["id"] for each in store.rows(REPORTS)]
    assert len(numbers) == len(set(numbers)) == len(rows())
    run_sweeps(opener, note)
    assert reports.open_ones(store) == []
    assert len(told(store, events.ORPHAN_RESOLVED)) == len(rows()), "each is settled once"


DROP_GUARD = sql.Query("drop_guard", "", "DROP INDEX vacuum_reports_open")
INSERT = sql.Query(
    "insert",
    "",
    "INSERT INTO vacuum_reports (id, sweep_type, created_at, last_seen_at, source, task_id,"
    " orphan_type, grade, percent, project, evidence) VALUES (:id, 'standard', :now, :now,"
    " :source, :task_id, :type, 'suspect', 90, 'house', '{}')",
)


def note_carelessly(store: port.Store) -> None:
    """The control: look what is known, and write the rest down later."""
    known = {(each.key, each.orphan_type) for each in reports.open_ones(store)}
    crowd.dawdle()

    def work(transaction: port.Transaction) -> None:
        for number, each in enumerate(rows()):
            if (each.key, each.finding.type) not in known:
                own = {"source": each.key.source, "task_id": each.key.id, "type": each.finding.type}
                transaction.rows(INSERT, id=os.getpid() * 1000 + number, now=now(), **own)

    store.write("test", work)


def test_the_check_catches_sweeps_that_look_first(opener: agency.OpenStore) -> None:
    store = opener()
    store.write("test", lambda transaction: transaction.rows(DROP_GUARD))
    run_sweeps(opener, note_carelessly)
    assert open_faults(store)


# The same with real commands


@pytest.fixture
def scene(
    kind: str,
    repo: Path,
    environ: dict[str, str],
    git: Git,
    tether: Tether,
    request: pytest.FixtureRequest,
) -> Scene:
    """A repository with a track, and a store of this kind."""
    if kind == "postgres":
        environ["TETHER_STORE_URL"] = request.getfixturevalue("postgres_url")
        environ["TETHER_WORKSPACE_ID"] = str(ids.WorkspaceId.generate())
    scene = Scene(repo, environ, git, tether)
    scene.plan()
    scene.done("init", "--yes")
    return scene


@contextlib.contextmanager
def opened(scene: Scene) -> Iterator[port.Store]:
    store: port.Store
    if url := scene.environ.get("TETHER_STORE_URL"):
        name = ids.WorkspaceId(scene.environ["TETHER_WORKSPACE_ID"])
        store = postgres.PostgresStore(url, name, wait_seconds=60)
    else:
        store = sqlite.SqliteStore(workspace.find(str(scene.repo)), wait_seconds=60)
    with contextlib.closing(store):
        yield store


# Each waits for a pipe to be closed before it begins.
WAITING = """
import os, runpy, sys
os.read(int(sys.argv.pop(1)), 1)
runpy.run_module("tether", run_name="__main__", alter_sys=True)
"""


def at_once(scene: Scene, *calls: tuple[dict[str, str], tuple[str, ...]]) -> list[tuple[int, str]]:
    """Run commands at the same moment; the exit code and the answer of each."""
    reading, writing = os.pipe()
    begun = [
        subprocess.Popen(
            [sys.executable, "-c", WAITING, str(reading), *words],
            cwd=scene.repo,
            env={**scene.environ, **BY_HAND, **who},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=(reading,),
        )
        for who, words in calls
    ]
    os.close(reading)
    os.close(writing)
    ended = []
    for process in begun:
        out, err = process.communicate()
        assert "Traceback" not in err, err
        ended.append((process.returncode, out))
    return ended


def test_of_many_commands_that_adopt_exactly_one_wins(scene: Scene) -> None:
    process = agency.sleeper()
    scene.done("claim", "H.1.1", who=agent("dead", TETHER_PID=str(process.pid)))
    agency.end(process)
    scene.done("vacuum", "--quick")
    words = ("vacuum", "adopt", "H.1.1", "--json")
    ended = at_once(scene, *((agent(f"s-{number}"), words) for number in range(ADOPTERS)))
    assert sorted(code for code, _ in ended) == [0, *[4] * (ADOPTERS - 1)]
    [won] = [json.loads(out)["adopt"] for code, out in ended if code == 0]
    assert won["settled"] == ["dead_claim"]
    for code, out in ended:
        if code == 4:
            error = json.loads(out)["error"]
            assert (error["code"], error["holder"]["epoch"]) == ("taken", won["claim"]["epoch"])
    with opened(scene) as store:
        [held] = claims.open_ones(store.rows)
        [report] = store.rows(REPORTS)
        assert len(told(store, events.ORPHAN_RESOLVED)) == len(store.rows(MESSAGES)) == 1
    assert (held.session_id, held.epoch) == (won["claim"]["session_id"], won["claim"]["epoch"])
    assert (report["resolution"], report["resolved_by"]) == ("adopted", held.agent_name)


def test_commands_that_sweep_at_once_agree(scene: Scene) -> None:
    for number, task in enumerate(("H.1.1", "H.1.2")):
        process = agency.sleeper()
        scene.done("claim", task, who=agent(f"dead-{number}", TETHER_PID=str(process.pid)))
        agency.end(process)
    who = {"TETHER_AGENT": "ada"}
    kinds = (("--deep",), (), ("--quick",), ())
    ended = at_once(scene, *((who, ("vacuum", *kind, "--json")) for kind in kinds))
    assert [code for code, _ in ended] == [0] * len(kinds)
    for _, out in ended:
        orphans = json.loads(out)["vacuum"]["orphans"]
        assert {each["id"] for each in orphans} == {"H.1.1", "H.1.2"}
    with opened(scene) as store:
        found = store.rows(REPORTS)
        swept = reports.sweeps(store, 10)
    dead = [each for each in found if each["orphan_type"] == "dead_claim"]
    assert sorted(each["task_id"] for each in dead) == ["H.1.1", "H.1.2"]
    assert all(each["resolution"] is None for each in dead)
    assert sum(each.sweep_type != model.QUICK for each in swept) == 3
    assert all(each.finished_at for each in swept)
