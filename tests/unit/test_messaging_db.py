"""CODITECT's messaging.db: both schemas, live and dead, and never changed by reading."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import foreign_databases as foreign
from tether.evidence import model, places, readers
from tether.evidence.coditect import catching_up, databases, messaging
from tether.tasks.sources import patterns

FINDER = patterns.Finder(patterns.Kinds(("track",)))
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
UUID = "11111111-2222-4333-8444-555555555555"

OLD = """CREATE TABLE inter_session_messages (id INTEGER PRIMARY KEY AUTOINCREMENT,
 sender_id TEXT NOT NULL, channel TEXT NOT NULL, payload TEXT NOT NULL,
 created_at TEXT NOT NULL DEFAULT (datetime('now')), ttl_seconds INTEGER DEFAULT 300)"""
NEW = """CREATE TABLE session_messages (id INTEGER PRIMARY KEY AUTOINCREMENT,
 sender_id TEXT NOT NULL, recipient_id TEXT, channel TEXT, message_type TEXT, payload TEXT,
 status TEXT DEFAULT 'pending', priority INTEGER DEFAULT 0, project_id TEXT, created_at TEXT,
 ttl_seconds INTEGER DEFAULT 300)"""
CLAIMS = "CREATE TABLE task_claims (task_id TEXT PRIMARY KEY, session_id TEXT, claimed_at TEXT)"
REGISTRY = """CREATE TABLE session_registry (session_id TEXT PRIMARY KEY, llm_vendor TEXT,
 project_id TEXT, pid INTEGER, cwd TEXT, hostname TEXT, session_uuid TEXT, started_at TEXT,
 last_heartbeat TEXT, status TEXT, task_id TEXT)"""
LOCKS = "CREATE TABLE file_locks (file_path TEXT, session_id TEXT, locked_at TEXT, task_id TEXT)"
SCHEMA = (OLD, NEW, CLAIMS, REGISTRY, LOCKS)


def quoted(value: object) -> str:
    if value is None or isinstance(value, int):
        return "NULL" if value is None else str(value)
    text = value if isinstance(value, str) else json.dumps(value)
    return "'" + text.replace("'", "''") + "'"


def insert(table: str, **values: object) -> str:
    return (
        f"INSERT INTO {table} ({', '.join(values)})"  # noqa: S608 (fixed names)
        f" VALUES ({', '.join(map(quoted, values.values()))})"
    )


def old(channel: str, payload: object, at: str = "2026-02-06 10:00:00", **more: object) -> str:
    values = {"sender_id": "claude-29583", "channel": channel, "payload": payload}
    return insert("inter_session_messages", **values, created_at=at, **more)


def new(
    message_type: str, payload: object, at: str = "2026-02-10T10:00:00Z", **more: object
) -> str:
    values = {"sender_id": "codex-41200", "message_type": message_type, "payload": payload}
    return insert("session_messages", **{**values, "created_at": at, **more})


def claim(task: str, session: str = "claude-29583", at: str = "2026-02-06 10:00:00") -> str:
    return insert("task_claims", task_id=task, session_id=session, claimed_at=at)


def registered(session: str = "claude-29583", **more: object) -> str:
    values: dict[str, object] = {"started_at": "2026-02-06 09:00:00", "cwd": "/repo", **more}
    return insert("session_registry", session_id=session, **values)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "context-storage"
    place.mkdir()
    return place / "messaging.db"


def read(
    path: Path, since: dict[str, int] | None = None, is_ours: Callable[[str], bool] | None = None
) -> messaging.Messages:
    return messaging.read(str(path), FINDER, since or {}, is_ours or (lambda _: True))


def told(found: messaging.Messages) -> list[tuple[str, str, str, str]]:
    everything = [*found.activities, *found.standing]
    return [(each.task, each.kind, each.what, each.at) for each in everything]


# What rows say


def test_a_broadcast_of_the_old_schema_is_stated(path: Path) -> None:
    foreign.make(path, *SCHEMA, old("task_broadcast", {"task_id": "H.1.1", "event": "started"}))
    found = read(path)
    (each,) = found.activities
    assert (each.task, each.kind, each.what) == ("H.1.1", model.STATED, "started")
    assert each.at == "2026-02-06T10:00:00.000Z"
    assert each.session == "claude-29583"
    assert each.source == "coditect:messaging"
    assert each.pointer == f"row:{path}#inter_session_messages/1"
    assert found.problems == []


@pytest.mark.parametrize("kind", ["started", "completed", "error"])
def test_a_message_of_the_new_schema_is_stated_by_its_type(path: Path, kind: str) -> None:
    foreign.make(path, *SCHEMA, new(kind, {"task_id": "H.1.1", "note": "after A.1.1"}))
    assert told(read(path)) == [
        ("H.1.1", model.STATED, kind, "2026-02-10T10:00:00.000Z"),
        ("A.1.1", model.MENTIONED, kind, "2026-02-10T10:00:00.000Z"),
    ]


@pytest.mark.parametrize(
    ("row", "kind", "what"),
    [
        (old("task_broadcast", "plain words on H.1.1"), model.STATED, "task_broadcast"),
        (old("task_broadcast", {"message": "working on\nH.1.1"}), model.STATED, "task_broadcast"),
        (old("coordination", {"message": "who has H.1.1?"}), model.MENTIONED, "messaged"),
        (old("file_conflict", {"task_id": "H.1.1"}), model.MENTIONED, "messaged"),
        (old("heartbeat", {"task_id": "H.1.1"}), model.LISTED, "heartbeat"),
        (old("state", {"tasks": ["H.1.1"]}), model.LISTED, "state"),
        (new("task_conflict", {"task_id": "H.1.1"}), model.STATED, "conflict"),
        (new("request", {"task_id": "H.1.1"}), model.MENTIONED, "messaged"),
        (
            new("started", {"task_id": "H.1.1"}, channel="session_lifecycle"),
            "mentioned",
            "messaged",
        ),
        (new("session_lifecycle", {"task_id": "H.1.1"}), model.MENTIONED, "messaged"),
        (new("started", "A.1 A.2 A.3 A.4 H.1.1"), model.LISTED, "started"),
        (new("started", '{"task_id": "H.1.1", "cut'), model.STATED, "started"),
    ],
)
def test_what_a_message_says_of_a_task(path: Path, row: str, kind: str, what: str) -> None:
    foreign.make(path, *SCHEMA, row)
    found = {each.task: (each.kind, each.what) for each in read(path).activities}
    assert found["H.1.1"] == (kind, what)


def test_a_broadcast_whose_time_to_live_is_over_counts_all_the_same(path: Path) -> None:
    rows = (
        old("task_broadcast", {"task_id": "H.1.1"}, "2020-01-01 00:00:00", ttl_seconds=1),
        new("completed", {"task_id": "H.1.2"}, "2020-01-01T00:00:00Z", status="expired"),
    )
    foreign.make(path, *SCHEMA, *rows)
    assert {each.task for each in read(path).activities} == {"H.1.1", "H.1.2"}


def test_naive_times_and_those_with_a_zone_are_one_clock(path: Path) -> None:
    at = ("2026-02-06 10:00:00", "2026-02-06T10:00:00Z", "2026-02-06T12:00:00+02:00", "1770372000")
    rows = [new("started", {"task_id": "H.1.1"}, each) for each in at]
    foreign.make(path, *SCHEMA, *rows)
    assert {each.at for each in read(path).activities} == {"2026-02-06T10:00:00.000Z"}


def test_a_claim_is_stated_with_who_holds_it(path: Path) -> None:
    rows = registered(pid=29583, hostname="mac", session_uuid=UUID), claim("H.1.1")
    foreign.make(path, *SCHEMA, *rows)
    found = read(path)
    at = "2026-02-06T10:00:00.000Z"
    assert told(found) == [("H.1.1", model.STATED, "claimed", at)]
    pointer = f"row:{path}#task_claims/1"
    held = messaging.ForeignClaim("H.1.1", "track", "claude-29583", at, "", 29583, "mac", pointer)
    assert found.claims == [held]
    assert found.aliases == {"claude-29583": UUID}


def test_a_claim_without_its_session_has_the_process_that_its_name_tells(path: Path) -> None:
    foreign.make(path, *SCHEMA, claim("H.1.1"), claim("H.1.2", "my-laptop-17"))
    assert [each.pid for each in read(path).claims] == [29583, 0]


def test_a_claim_that_was_let_go_says_so(path: Path) -> None:
    table = CLAIMS.replace("claimed_at TEXT", "claimed_at TEXT, released_at TEXT, status TEXT")
    rows = [
        claim("H.1.1"),
        claim("H.1.2"),
        "UPDATE task_claims SET released_at = '2026-02-06 11:00:00' WHERE task_id = 'H.1.1'",
        "UPDATE task_claims SET status = 'released' WHERE task_id = 'H.1.2'",
    ]
    foreign.make(path, table, *rows)
    found = read(path)
    assert [each.released_at for each in found.claims] == [
        "2026-02-06T11:00:00.000Z",
        "2026-02-06T10:00:00.000Z",
    ]
    assert ("H.1.1", model.STATED, "released", "2026-02-06T11:00:00.000Z") in told(found)


def test_claims_that_the_cleanup_has_deleted_leave_their_broadcasts(path: Path) -> None:
    foreign.make(path, *SCHEMA, claim("H.1.1"), new("started", {"task_id": "H.1.1"}))
    with foreign.writer(path) as writer:
        writer.run("DELETE FROM task_claims", "DELETE FROM session_registry")
        found = read(path)
    assert found.claims == []
    assert [each[:3] for each in told(found)] == [("H.1.1", model.STATED, "started")]


def test_a_lock_counts_where_it_says_for_which_task(path: Path) -> None:
    rows = [
        insert("file_locks", file_path="src/a.py", session_id="claude-1", task_id="H.1.1"),
        insert("file_locks", file_path="src/b.py", session_id="claude-1"),
    ]
    foreign.make(path, *SCHEMA, *rows)
    (each,) = read(path).standing
    assert (each.task, each.what, each.files) == ("H.1.1", "locked", ("src/a.py",))


def test_sessions_are_told_by_the_registry(path: Path) -> None:
    rows = (
        registered(last_heartbeat="2026-02-06 09:30:00", status="active", task_id="H.1.1"),
        registered("codex-41200", status="ended"),
    )
    foreign.make(path, *SCHEMA, *rows)
    first, second = read(path).sessions
    assert (first.session, first.cwd, first.title) == ("claude-29583", "/repo", "H.1.1")
    assert first.started_at == "2026-02-06T09:00:00.000Z"
    assert first.last_at == "2026-02-06T09:30:00.000Z"
    assert (first.ending, second.ending) == ("", "ended")


# Whose rows they are


def test_the_same_id_in_two_projects_is_two_tasks(path: Path) -> None:
    rows = (
        registered("claude-1", cwd="/repo"),
        registered("claude-2", cwd="/other"),
        claim("H.1.1", "claude-1"),
        claim("H.1.2", "claude-2"),
        new("started", {"task_id": "H.2.1"}, sender_id="claude-1"),
        new("started", {"task_id": "H.2.2"}, sender_id="claude-2"),
        new("started", {"task_id": "H.2.3", "cwd": "/other"}, sender_id="claude-1"),
        new("started", {"task_id": "H.2.4"}, sender_id="claude-1", project_id="/other"),
        new("started", {"task_id": "H.2.5"}, sender_id="unknown-9"),
    )
    foreign.make(path, *SCHEMA, *rows)
    found = read(path, is_ours="/repo".__eq__)
    assert [each.task for each in found.claims] == ["H.1.1"]
    assert {each.task for each in found.activities} == {"H.2.1", "H.2.5"}
    assert [each.session for each in found.sessions] == ["claude-1"]


def test_a_process_id_that_came_again_speaks_for_its_own_time_only(path: Path) -> None:
    rows = (
        registered("claude-1", cwd="/other", started_at="2026-03-01 00:00:00"),
        new("started", {"task_id": "H.1.1"}, "2026-02-01 00:00:00", sender_id="claude-1"),
        new("started", {"task_id": "H.1.2"}, "2026-03-02 00:00:00", sender_id="claude-1"),
    )
    foreign.make(path, *SCHEMA, *rows)
    assert {each.task for each in read(path, is_ours="/repo".__eq__).activities} == {"H.1.1"}


@pytest.mark.parametrize(
    ("place", "is_ours"),
    [
        ("/code/Repo", True),
        ("/code/Repo/src", True),
        ("/code/other", False),
        ("repo", True),
        ("other", False),
        ("0f7c-99", True),  # which project that is, nobody can tell
    ],
)
def test_a_project_is_ours_by_its_directory_or_its_name(place: str, is_ours: bool) -> None:
    assert catching_up.ours(("/code/Repo",))(place) is is_ours


# Other schemas


def test_columns_go_by_several_names(path: Path) -> None:
    foreign.make(
        path,
        "CREATE TABLE Session_Messages (uuid TEXT, Sender TEXT, type TEXT, body TEXT, ts REAL)",
        "INSERT INTO Session_Messages VALUES ('u', 'kimi-7', 'started', 'H.1.1', 1770372000.5)",
        'CREATE TABLE task_claims ("task" TEXT, claimed_by TEXT, acquired_at TEXT, extra BLOB)',
        "INSERT INTO task_claims VALUES ('H.1.2', 'kimi-7', '2026-02-06', x'ff')",
        "CREATE TABLE something_else (task_id TEXT)",
        "INSERT INTO something_else VALUES ('H.9.9')",
    )
    found = read(path)
    assert {(each[0], each[2]) for each in told(found)} == {
        ("H.1.1", "started"),
        ("H.1.2", "claimed"),
    }
    assert found.claims[0].pid == 7


def test_a_table_without_row_numbers_is_read_whole_each_time(path: Path) -> None:
    table = f"{NEW.replace('AUTOINCREMENT', '')} WITHOUT ROWID"
    rows = [new("started", {"task_id": f"H.1.{n}"}, id=n) for n in (1, 2)]
    foreign.make(path, table, f"{CLAIMS} WITHOUT ROWID", *rows, claim("H.3.1"))
    found = read(path)
    assert len(found.activities) == 2
    assert len(found.claims) == 1
    assert told(read(path, found.upto)) == told(found)


def test_views_and_virtual_tables_are_not_asked(path: Path) -> None:
    endless = (
        "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a FROM n) SELECT a AS task_id FROM n"
    )
    foreign.make(
        path,
        f"CREATE VIEW task_claims AS {endless}",
        "CREATE VIRTUAL TABLE session_messages USING fts5(message_type, payload)",
        "INSERT INTO session_messages VALUES ('started', 'H.1.1')",
    )
    assert told(read(path)) == []


def test_a_database_without_any_of_its_tables_says_nothing(path: Path) -> None:
    assert told(read(foreign.make(path, "CREATE TABLE t (a)"))) == []
    path.write_bytes(b"")
    assert read(path).problems == []


# Nothing about it changes


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_reading_leaves_no_trace(path: Path, journal: str) -> None:
    foreign.make(path, *SCHEMA, claim("H.1.1"), journal=journal)
    before, stamp = foreign.beside(path), path.stat().st_mtime_ns
    assert len(read(path).claims) == 1
    assert foreign.beside(path) == before
    assert path.stat().st_mtime_ns == stamp
    assert os.listdir(path.parent) == ["messaging.db"]


def test_what_an_open_writer_has_committed_is_read(path: Path) -> None:
    foreign.make(path, *SCHEMA)
    with foreign.writer(path) as writer:
        writer.run(claim("H.1.1"), "BEGIN IMMEDIATE", claim("H.1.2"))
        before = foreign.beside(path)
        assert len(before) == 3
        assert [each.task for each in read(path).claims] == ["H.1.1"]
        assert foreign.beside(path) == before
        writer.run("COMMIT")
        assert [each.task for each in read(path).claims] == ["H.1.1", "H.1.2"]
        writer.end()
        assert os.listdir(path.parent) == ["messaging.db"]


def test_what_a_killed_writer_has_committed_is_read(path: Path) -> None:
    foreign.make(path, *SCHEMA)
    with foreign.writer(path) as writer:
        writer.run(claim("H.1.1"), "BEGIN", claim("H.1.2"))
        writer.kill()
    before = foreign.beside(path)
    assert [each.task for each in read(path).claims] == ["H.1.1"]
    assert foreign.beside(path) == before


def test_a_log_that_cannot_be_read_without_making_files_is_told(path: Path) -> None:
    foreign.make(path, *SCHEMA, claim("H.1.1"))
    with foreign.writer(path) as writer:
        writer.run(claim("H.1.2"))
        writer.kill()
    path.with_name("messaging.db-shm").unlink()
    before = foreign.beside(path)
    found = read(path)
    assert [each.task for each in found.claims] == ["H.1.1"]
    assert [each.message for each in found.problems] == ["what is in messaging.db-wal was not read"]
    assert foreign.beside(path) == before


@pytest.mark.parametrize("state", ["closed", "killed", "open", "hidden log"])
def test_who_may_not_write_reads_all_the_same(state: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = foreign.make(Path(directory, "messaging.db"), *SCHEMA, claim("H.1.1"))
        os.chmod(directory, 0o755)  # noqa: S103 (another user must get in)
        with foreign.writer(path) as writer:
            if state != "closed":
                writer.run(claim("H.1.2"))
            else:
                writer.end()
            if state == "killed":
                writer.kill()
            if state == "hidden log":
                path.with_name("messaging.db-wal").chmod(0o600)
            before = foreign.beside(path)
            expected = 2 if state in ("killed", "open") else 1
            count = lambda: len(read(path).claims) == expected  # noqa: E731
            assert foreign.as_somebody_else(count)
            assert foreign.beside(path) == before


def test_a_name_that_looks_like_a_query_is_a_name(tmp_path: Path) -> None:
    place = tmp_path / "a?mode=rwc#%41 ü"
    place.mkdir()
    path = foreign.make(place / "messaging.db", *SCHEMA, claim("H.1.1"))
    assert len(read(path).claims) == 1
    assert os.listdir(place) == ["messaging.db"]
    assert os.listdir(tmp_path) == [place.name]


def test_a_link_is_followed_to_where_its_log_is(path: Path, tmp_path: Path) -> None:
    foreign.make(path, *SCHEMA)
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with foreign.writer(path) as writer:
        writer.run(claim("H.1.1"))
        assert len(read(link).claims) == 1
    assert "link.db-wal" not in os.listdir(tmp_path)


def test_a_database_that_changes_under_its_reader_is_read_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign.make(path, *SCHEMA, claim("H.1.1"))
    seen = []

    def work(database: databases.Database) -> int:
        rows = list(database.rows(database.tables["task_claims"], {"task": ("task_id",)}))
        seen.append(len(rows))
        if len(seen) == 1:
            # A writer comes, writes into the file itself, and goes.
            child = foreign.Writer(path)
            child.run(claim("H.1.2"), "PRAGMA wal_checkpoint(TRUNCATE)")
            child.end()
        return len(rows)

    found, problems = databases.read(str(path), work)
    assert (found, problems, seen) == (2, [], [1, 2])


def test_a_database_that_never_rests_is_told(path: Path) -> None:
    foreign.make(path, *SCHEMA)

    def work(database: databases.Database) -> int:
        path.touch()
        os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
        return 1

    found, problems = databases.read(str(path), work)
    assert found is None
    assert [each.message for each in problems] == ["it kept changing while it was read"]


# Damage


def damaged(path: Path, state: str) -> None:
    foreign.make(path, *SCHEMA, *(claim(f"H.1.{n}") for n in range(1, 400)), journal="delete")
    raw = path.read_bytes()
    if state == "text":
        path.write_text("H.1.1 " * 100)
    elif state == "cut":
        path.write_bytes(raw[: len(raw) // 2])
    elif state == "header only":
        path.write_bytes(raw[:100])
    elif state == "holes":
        path.write_bytes(raw[: 5 * 4096] + b"\xff" * (len(raw) - 5 * 4096))
    elif state == "directory":
        path.unlink()
        path.mkdir()
    elif state == "pipe":
        path.unlink()
        os.mkfifo(path)
    elif state == "missing":
        path.unlink()


@pytest.mark.parametrize(
    "state", ["text", "cut", "header only", "holes", "directory", "pipe", "missing"]
)
def test_damage_is_told_and_changes_nothing(path: Path, state: str) -> None:
    damaged(path, state)
    before = path.read_bytes() if path.is_file() else b""
    found = read(path, {"session_messages": 7})
    assert found.problems
    assert found.upto.get("session_messages", 7) in (0, 7)
    assert all("H.1" not in each.message for each in found.problems)
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_name_that_no_file_can_have_is_told() -> None:
    assert messaging.read("/tmp/a\0b", FINDER, {}).problems


def test_a_locked_database_is_told_at_once(path: Path) -> None:
    foreign.make(path, *SCHEMA, claim("H.1.1"), journal="delete")
    with foreign.writer(path) as writer:
        writer.run("BEGIN EXCLUSIVE")
        found = read(path)
    assert [each.message for each in found.problems] == ["another process has it locked"]


def test_a_write_that_was_cut_off_is_not_read_half(path: Path) -> None:
    foreign.make(path, *SCHEMA, claim("H.1.1"), journal="delete")
    with foreign.writer(path) as writer:
        writer.run("PRAGMA cache_size=1", "BEGIN")
        writer.run(
            "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n LIMIT 4000)"
            " INSERT INTO task_claims SELECT hex(randomblob(99)), a, 0 FROM n"
        )
        writer.kill()
    before = foreign.beside(path)
    assert len(before) == 2
    found = read(path)
    assert found.claims == []
    assert [each.message for each in found.problems] == ["it cannot be read"]
    assert foreign.beside(path) == before


def test_a_value_that_fills_the_memory_is_passed_over(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "_MAX_VALUE_BYTES", 100_000)
    rows = [new("started", {"task_id": f"H.1.{n}"}) for n in (1, 2, 3)]
    big = "UPDATE session_messages SET payload = zeroblob(200000) WHERE id = 2"
    foreign.make(path, *SCHEMA, *rows, big)
    found = read(path)
    assert {each.task for each in found.activities} == {"H.1.1", "H.1.3"}
    assert [each.message for each in found.problems] == ["a value is too long to be read"]


def test_values_of_any_type_are_taken_as_they_come(path: Path) -> None:
    odd = ("NULL", "x'ff00'", "1.5", "9223372036854775807", "'\ufffd'", "CAST(x'80c3' AS TEXT)")
    loose = "CREATE TABLE {} ({})"
    statements = [
        loose.format("session_messages", "id, sender_id, message_type, payload, created_at")
    ]
    statements += [loose.format("task_claims", "task_id, session_id, claimed_at, pid")]
    statements += [loose.format("session_registry", "session_id, cwd, pid, started_at")]
    for value in odd:
        statements += [
            f"INSERT INTO session_messages VALUES ({', '.join([value] * 5)})",  # noqa: S608
            f"INSERT INTO session_messages VALUES (1, {value}, {value}, 'H.1.1', {value})",  # noqa: S608
            f"INSERT INTO task_claims VALUES ('H.1.1', {value}, {value}, {value})",  # noqa: S608
            f"INSERT INTO session_registry VALUES ({', '.join([value] * 4)})",  # noqa: S608
        ]
    foreign.make(path, *statements)
    found = read(path)
    assert found.problems == []
    assert len(found.claims) == len(odd)


def test_secrets_are_not_kept(path: Path) -> None:
    rows = (
        new("started", {"task_id": "H.1.1", "message": f"with {SECRET}"}, sender_id=SECRET),
        claim("H.1.1", SECRET),
        registered(SECRET, cwd=f"/{SECRET}", hostname=SECRET, session_uuid=SECRET, task_id=SECRET),
        insert("file_locks", file_path=SECRET, session_id=SECRET, task_id="H.1.1"),
    )
    foreign.make(path, *SCHEMA, *rows)
    assert SECRET not in repr(read(path))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(data=st.data())
def test_no_damage_can_fail_the_reading(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "fuzz.db"
    for name in os.listdir(tmp_path):
        (tmp_path / name).unlink()
    rows = (claim("H.1.1"), registered(), *(new("started", {"task_id": "H.1.2"}),) * 20)
    foreign.make(path, *SCHEMA, *rows, journal=data.draw(st.sampled_from(["wal", "delete"])))
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        raw[data.draw(st.integers(16, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(
        raw[: data.draw(st.integers(0, len(raw)))] if data.draw(st.booleans()) else raw
    )
    before = foreign.beside(path)
    found = read(path)
    assert isinstance(found, messaging.Messages)
    assert foreign.beside(path) == before


# What was read before


def records(found: messaging.Messages) -> set[str]:
    return {each.record for each in found.activities}


def test_only_new_messages_are_read_the_next_time(path: Path) -> None:
    foreign.make(path, *SCHEMA, new("started", {"task_id": "H.1.1"}), claim("H.1.1"))
    first = read(path)
    with foreign.writer(path) as writer:
        writer.run(new("completed", {"task_id": "H.1.1"}))
        second = read(path, first.upto)
    assert [each.what for each in second.activities] == ["completed"]
    assert [each.what for each in second.standing] == ["claimed"]
    assert read(path, second.upto).activities == []
    assert not second.is_anew


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.data())
def test_reading_piecemeal_is_reading_at_once(
    tmp_path: Path, numbers: list[int], data: st.DataObject
) -> None:
    path = tmp_path / "pieces.db"
    for name in os.listdir(tmp_path):
        (tmp_path / name).unlink()
    foreign.make(path, *SCHEMA)
    found: list[model.Activity] = []
    upto: dict[str, int] = {}
    for number in numbers:
        message = {"task_id": f"H.1.{number}"}
        is_old = data.draw(st.booleans())
        row = old("task_broadcast", message) if is_old else new("started", message)
        foreign.make(path, row)
        if data.draw(st.booleans()):
            part = read(path, upto)
            found += part.activities
            upto = part.upto
    found += read(path, upto).activities
    whole = read(path)
    assert sorted(found) == sorted(whole.activities)
    assert len(records(whole)) == len(numbers)


def test_messages_that_were_deleted_are_not_missed_and_not_read_twice(path: Path) -> None:
    foreign.make(path, *SCHEMA, *(new("started", {"task_id": f"H.1.{n}"}) for n in (1, 2, 3)))
    first = read(path)
    foreign.make(path, "DELETE FROM session_messages", new("started", {"task_id": "H.1.4"}))
    second = read(path, first.upto)
    assert [each.task for each in second.activities] == ["H.1.4"]
    assert not second.is_anew
    foreign.make(path, "DELETE FROM session_messages")
    third = read(path, second.upto)
    assert (third.activities, third.is_anew) == ([], False)


def test_another_database_in_its_place_is_read_from_the_start(path: Path) -> None:
    foreign.make(path, *SCHEMA, *(new("started", {"task_id": f"H.1.{n}"}) for n in (1, 2, 3)))
    upto = read(path).upto
    path.unlink()
    foreign.make(path, *SCHEMA, *(new("started", {"task_id": f"H.2.{n}"}) for n in (1, 2, 3, 4)))
    found = read(path, upto)
    assert len(found.activities) == 4
    assert found.is_anew


def test_the_same_row_has_the_same_name_in_every_copy(path: Path, tmp_path: Path) -> None:
    rows = new("started", {"task_id": "H.1.1"}), claim("H.1.1")
    first = read(foreign.make(path, *SCHEMA, *rows))
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    second = read(copy)
    assert records(first) == records(second)
    assert first.standing[0].record == second.standing[0].record


# In the index


class Sink:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.kept: list[model.Activity] = []

    def forget(self) -> None:
        self.kept.clear()

    def add(self, activities: Iterable[model.Activity]) -> None:
        self.kept += activities


def forward(path: Path, known: readers.Known, sink: Sink) -> readers.Known:
    aims = readers.Aims(FINDER, ("/repo",))
    found = places.Found(messaging.SOURCE, str(path), path.stat())
    update = messaging.bring_forward(found, known, aims, sink)
    return readers.Known(1, "", "1", *update[:6])


def test_claims_count_once_and_stay_after_their_rows_are_gone(path: Path) -> None:
    foreign.make(path, *SCHEMA, registered(), claim("H.1.1"), new("started", {"task_id": "H.1.1"}))
    sink = Sink()
    known = forward(path, readers.Known(), sink)
    assert [each.what for each in sink.kept] == ["started", "claimed"]
    known = forward(path, known, sink)
    assert len(sink.kept) == 2
    assert len(messaging.remembered(known.state).claims) == 1
    foreign.make(path, "DELETE FROM task_claims", claim("H.1.2"))
    known = forward(path, known, sink)
    assert [each.task for each in sink.kept] == ["H.1.1", "H.1.1", "H.1.2"]
    standing = messaging.remembered(known.state)
    assert [each.task for each in standing.claims] == ["H.1.2"]
    assert [each.cwd for each in standing.sessions] == ["/repo"]


def test_a_database_that_cannot_be_read_now_changes_nothing(path: Path) -> None:
    foreign.make(path, *SCHEMA, claim("H.1.1"), new("started", {"task_id": "H.1.1"}))
    sink = Sink()
    known = forward(path, readers.Known(), sink)
    raw = path.read_bytes()
    path.write_bytes(b"nothing")
    after = forward(path, known, sink)
    assert after.state == known.state
    assert after.problems
    assert len(sink.kept) == 2
    path.write_bytes(raw)
    after = forward(path, after, sink)
    assert len(sink.kept) == 2
    assert not after.problems


def test_control_sqlite_itself_would_have_left_files(path: Path) -> None:
    """What these tests look for can be found: an ordinary reader leaves its traces."""
    foreign.make(path, *SCHEMA)
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.execute("SELECT * FROM task_claims").fetchall()
    connection.close()
    assert len(os.listdir(path.parent)) > 1
