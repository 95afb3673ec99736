"""Is a session alive: what registries of other tools say, and what a look at the process shows."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import agency, foreign_databases, trails
from tether import clock, host
from tether.agents import registry, sweep
from tether.store import port
from tether.vacuum import presence

SESSION = "0b5a1d9e-1111-4222-8333-444455556666"
NEVER_A_PID = 4_194_304
MINUTE = 60_000
BEGAN = clock.parse("2026-11-30T12:00:00.000Z")
REGISTERED = presence.Registered(77, "here", BEGAN)


def judge(seen: presence.Seen, registered: presence.Registered = REGISTERED) -> presence.Verdict:
    return presence.judge(registered, lambda _name, _pid: seen)


def own_start_ms(pid: int) -> int:
    ticks = host.observe(pid).start_ticks
    assert ticks is not None
    started = host.started_ms(ticks)
    assert started is not None
    return started


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = agency.sleeper()
    yield process
    agency.end(process)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[port.Store]:
    store = agency.sqlite_opener(tmp_path)()
    store.ensure_writable()
    yield store
    store.close()


# What follows from a look


def test_a_process_that_is_gone_makes_its_session_dead() -> None:
    verdict = judge(presence.Seen("gone"))
    assert verdict == ("dead", "there is no process 77 any more")


def test_a_process_on_another_host_tells_nothing() -> None:
    assert judge(presence.Seen("unknown")) == presence.UNKNOWN == ("", "")


def test_a_process_that_is_there_keeps_its_session_alive() -> None:
    assert judge(presence.Seen("seen", BEGAN)) == ("alive", "process 77 is there")


def test_a_process_of_another_user_is_there() -> None:
    """EPERM: nobody may look into it, so somebody has the pid."""
    assert judge(presence.Seen("unreadable")).state == "alive"


def test_a_process_that_started_later_is_another_one() -> None:
    later = presence.Seen("seen", BEGAN + 5 * MINUTE + 1)
    assert judge(later) == ("dead", "process 77 is another one now")


def test_clocks_and_slow_starts_are_borne() -> None:
    assert judge(presence.Seen("seen", BEGAN + 5 * MINUTE)).state == "alive"
    assert judge(presence.Seen("seen", BEGAN - 300 * MINUTE)).state == "alive"


def test_without_a_time_nobody_can_tell_two_processes_apart() -> None:
    assert judge(presence.Seen("seen", BEGAN), REGISTERED._replace(started_ms=0)).state == "alive"
    assert judge(presence.Seen("seen", None)).state == "alive"


def test_the_registry_says_where_to_look() -> None:
    asked: list[tuple[str, int]] = []

    def look(name: str, pid: int) -> presence.Seen:
        asked.append((name, pid))
        return presence.Seen("gone")

    presence.judge(REGISTERED, look)
    assert asked == [("here", 77)]


# A look at this machine


@pytest.mark.parametrize("name", ["", host.name()])
def test_a_process_of_this_machine_is_seen_with_its_start(name: str) -> None:
    outcome, started_ms = presence.of_this_machine(name, os.getpid())
    assert (outcome, started_ms) == ("seen", own_start_ms(os.getpid()))
    assert started_ms is not None
    assert 0 <= time.time() * 1000 - started_ms < 24 * 60 * MINUTE


def test_of_another_machine_nothing_is_seen() -> None:
    assert presence.of_this_machine(f"not-{host.name()}", os.getpid()) == ("unknown", None)


def test_a_process_that_has_ended_is_gone(sleeper: subprocess.Popen[bytes]) -> None:
    assert presence.of_this_machine("", sleeper.pid).outcome == "seen"
    agency.end(sleeper)
    assert presence.of_this_machine("", sleeper.pid).outcome == "gone"


def test_a_zombie_is_gone(sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert host.observe(sleeper.pid).state == "zombie"
    assert presence.of_this_machine("", sleeper.pid).outcome == "gone"


@pytest.mark.parametrize("pid", [0, -1, 1 << 40])
def test_a_number_that_is_no_pid_is_nobody(pid: int) -> None:
    assert presence.of_this_machine("", pid).outcome == "gone"


# Sessions that Tether knows

Ask = Callable[[str], presence.Verdict]


@pytest.fixture
def ask(store: port.Store) -> Ask:
    """How a session is, looked at anew."""
    return lambda session: presence.Presence(store, agency.spot()).of(session)


def test_nobody_knows_a_session_that_nobody_registered(ask: Ask) -> None:
    assert ask("nobody") == presence.UNKNOWN
    assert ask("") == presence.UNKNOWN


def test_a_registered_session_is_as_its_process_is(
    store: port.Store, ask: Ask, sleeper: subprocess.Popen[bytes]
) -> None:
    agency.begin(store, "a", pid=sleeper.pid)
    agency.silence(store, "a", 86_400)
    assert ask("a").state == "alive"
    agency.end(sleeper)
    assert ask("a") == ("dead", f"there is no process {sleeper.pid} any more")


def test_a_session_that_a_sweep_retired_is_as_the_sweep_saw_it(store: port.Store, ask: Ask) -> None:
    agency.begin(store, "gone", process=host.Process(*host.here(), NEVER_A_PID, 1))
    agency.begin(store, "silent")
    for session in ("gone", "silent"):
        agency.silence(store, session, 600)
    sweep.sweep(store, agency.spot(), sweep.Rules())
    assert ask("gone") == ("dead", f"there is no process {NEVER_A_PID} any more")
    assert ask("silent").state == "expired"


def test_a_session_that_ended_has_ended(store: port.Store, ask: Ask) -> None:
    agency.begin(store, "a", pid=os.getpid())
    registry.end(store, "a")
    assert ask("a") == ("ended", "it has ended")


def test_each_session_is_looked_at_once(
    store: port.Store, sleeper: subprocess.Popen[bytes]
) -> None:
    agency.begin(store, "a", pid=sleeper.pid)
    known = presence.Presence(store, agency.spot())
    before = known.of("a")
    agency.end(sleeper)
    assert known.of("a") == before, "one sweep says one thing"


# What Claude Code writes down of its own sessions

Learn = Callable[..., presence.Presence]


@pytest.fixture
def claude(environ: dict[str, str]) -> Path:
    place = Path(environ["HOME"]) / ".claude"
    (place / "sessions").mkdir(parents=True)
    return place


@pytest.fixture
def learn(repo: Path, store: port.Store, claude: Path) -> Learn:
    """What is known of presence after the registries of a home were read."""

    def call() -> presence.Presence:
        known = presence.Presence(store, agency.spot())
        found = trails.witness_of(repo, claude.parent, store)
        found.ask(lambda connection: known.learn(connection, [str(claude)]))
        return known

    return call


def write(claude: Path, pid: int, name: str = "", **changes: object) -> Path:
    said = {"pid": pid, "sessionId": SESSION, "cwd": "/repo", "startedAt": int(time.time() * 1000)}
    path = claude / "sessions" / (name or f"{pid}.json")
    path.write_text(json.dumps(said | changes))
    return path


def test_a_session_of_claude_whose_process_runs_is_alive(claude: Path, learn: Learn) -> None:
    write(claude, os.getpid())
    assert learn().of(SESSION) == ("alive", f"process {os.getpid()} is there")


def test_a_session_of_claude_whose_process_is_not_seen_may_be_in_a_container(
    claude: Path, learn: Learn, sleeper: subprocess.Popen[bytes]
) -> None:
    write(claude, sleeper.pid)
    agency.end(sleeper)
    assert learn().of(SESSION) == ("expired", f"no process {sleeper.pid} is here")


def test_a_pid_that_came_back_is_another_process(claude: Path, learn: Learn) -> None:
    write(claude, os.getpid(), startedAt=own_start_ms(os.getpid()) - 6 * MINUTE)
    assert learn().of(SESSION) == ("expired", f"process {os.getpid()} is another one now")


def test_a_process_that_is_a_little_younger_than_it_says_is_itself(
    claude: Path, learn: Learn
) -> None:
    write(claude, os.getpid(), startedAt=own_start_ms(os.getpid()) - 4 * MINUTE)
    assert learn().of(SESSION).state == "alive"


@pytest.mark.parametrize("began", [0, -5, 1 << 60, "yesterday", 1.5, None, True])
def test_a_start_that_is_none_is_not_believed(claude: Path, learn: Learn, began: object) -> None:
    write(claude, os.getpid(), startedAt=began)
    assert learn().of(SESSION).state == "alive"


@pytest.mark.parametrize("pid", [0, -1, 1 << 22, 1 << 80, "77", None, True, 7.5, [7]])
def test_a_pid_that_is_none_tells_nothing(claude: Path, learn: Learn, pid: object) -> None:
    path = write(claude, 77)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"pid": pid}))
    assert learn().of(SESSION) == presence.UNKNOWN


@pytest.mark.parametrize("session", [None, 5, [], {}])
def test_a_session_that_is_no_name_is_left_out(claude: Path, learn: Learn, session: object) -> None:
    write(claude, os.getpid(), sessionId=session)
    assert learn().of(SESSION) == presence.UNKNOWN


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"77", b"\xff\xfe", b"[" * 60_000, b'{"pid": 77}', b" " * 70_000],
)
def test_files_that_are_broken_do_no_harm(claude: Path, learn: Learn, content: bytes) -> None:
    (claude / "sessions" / "1.json").write_bytes(content)
    write(claude, os.getpid())
    assert learn().of(SESSION).state == "alive"


def test_other_files_are_none_of_theirs(claude: Path, learn: Learn) -> None:
    write(claude, NEVER_A_PID - 1, "notes.txt")
    write(claude, NEVER_A_PID - 1, "77.json.tmp")
    (claude / "sessions" / "dir.json").mkdir()
    (claude / "sessions" / "link.json").symlink_to("nowhere.json")
    assert learn().of(SESSION) == presence.UNKNOWN


def test_a_home_without_sessions_tells_nothing(claude: Path, learn: Learn) -> None:
    (claude / "sessions").rmdir()
    assert learn().of(SESSION) == presence.UNKNOWN


@pytest.mark.parametrize("name", ["0.json", "99999999.json"])
def test_a_session_that_was_resumed_in_another_process_is_alive(
    claude: Path, learn: Learn, sleeper: subprocess.Popen[bytes], name: str
) -> None:
    """A killed process leaves its file behind, and `--resume` goes on with the same session."""
    write(claude, sleeper.pid, name, startedAt=int(time.time() * 1000) - 1000)
    agency.end(sleeper)
    write(claude, os.getpid())
    assert learn().of(SESSION).state == "alive"


def test_what_tether_itself_knows_counts_more(
    store: port.Store, claude: Path, learn: Learn
) -> None:
    agency.begin(store, SESSION, pid=os.getpid())
    registry.end(store, SESSION)
    write(claude, os.getpid())
    assert learn().of(SESSION).state == "ended"


def test_a_process_that_is_seen_says_more_than_a_silence(
    store: port.Store, claude: Path, learn: Learn, sleeper: subprocess.Popen[bytes]
) -> None:
    agency.begin(store, SESSION)
    agency.silence(store, SESSION, 600)
    assert learn().of(SESSION).state == "expired"
    write(claude, sleeper.pid)
    assert learn().of(SESSION).state == "alive"
    agency.end(sleeper)
    assert learn().of(SESSION).state == "expired", "as Tether itself knows"


# What a messaging database says


@pytest.fixture
def foreign(environ: dict[str, str], repo: Path) -> Callable[..., None]:
    """A registry of another tool with one session, and its claim of a task."""

    def make(pid: int, machine: str, started_ms: int, status: str = "active") -> None:
        place = Path(environ["HOME"]) / ".coditect-data" / "context-storage"
        place.mkdir(parents=True)
        began = clock.text(started_ms)
        foreign_databases.make(
            place / "messaging.db",
            "CREATE TABLE session_registry (session_id TEXT, llm_vendor TEXT, pid INTEGER,"
            " hostname TEXT, session_uuid TEXT, cwd TEXT, registered_at TEXT)",
            "CREATE TABLE task_claims"
            " (task_id TEXT, session_id TEXT, claimed_at TEXT, status TEXT)",
            f"INSERT INTO session_registry VALUES"  # noqa: S608 (own values)
            f" ('claude-{pid}', 'claude', {pid}, '{machine}', '{SESSION}', '{repo}', '{began}')",
            f"INSERT INTO task_claims VALUES"  # noqa: S608 (own values)
            f" ('H.1.1', 'claude-{pid}', '{began}', '{status}')",
        )

    return make


@pytest.mark.parametrize(
    ("is_running", "is_here", "state"),
    [(True, True, "alive"), (False, True, "dead"), (True, False, ""), (False, False, "")],
)
def test_a_claim_of_another_tool_is_as_its_process_is(
    foreign: Callable[..., None], learn: Learn, *, is_running: bool, is_here: bool, state: str
) -> None:
    pid = os.getpid() if is_running else NEVER_A_PID - 1
    foreign(pid, host.name() if is_here else "another-machine", own_start_ms(os.getpid()))
    known = learn()
    claim = known.foreign["track", "H.1.1"]
    assert known.name(claim.session) == SESSION
    assert known.of(known.name(claim.session)).state == state


def test_a_pid_of_another_tool_that_came_back_is_another_process(
    foreign: Callable[..., None], learn: Learn
) -> None:
    foreign(os.getpid(), host.name(), own_start_ms(os.getpid()) - 60 * MINUTE)
    assert learn().of(SESSION).state == "dead"


def test_a_claim_that_another_tool_has_let_go_is_not_open(
    foreign: Callable[..., None], learn: Learn
) -> None:
    foreign(os.getpid(), host.name(), own_start_ms(os.getpid()), "released")
    assert learn().foreign == {}


def test_an_index_that_knows_no_registry_tells_nothing(store: port.Store) -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE evidence_files (path TEXT, source TEXT, state TEXT)")
        known = presence.Presence(store, agency.spot())
        known.learn(connection, [])
    assert (known.aliases, known.foreign) == ({}, {})
    assert known.name("claude-77") == "claude-77"
