"""CODITECT's sessions.db: what was said, for which task tools ran, what its task list says."""

from __future__ import annotations

import json
import os
import random
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import foreign_databases as foreign
from tether.evidence import model, places, readers
from tether.evidence.coditect import databases, sessions_db
from tether.tasks.sources import patterns

FINDER = patterns.Finder(patterns.Kinds(("track",)))
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
SESSION = "11111111-2222-4333-8444-555555555555"
MESSAGES = """CREATE TABLE messages (id INTEGER PRIMARY KEY, hash TEXT UNIQUE, content TEXT,
 role TEXT, source_type TEXT, source_file TEXT, session_id TEXT, timestamp TEXT,
 project_path TEXT)"""
TASKS = """CREATE TABLE task_tracking (id INTEGER PRIMARY KEY, task_id TEXT, status TEXT,
 title TEXT, session_id TEXT, updated_at TEXT, project_path TEXT)"""
SEARCH = "CREATE VIRTUAL TABLE messages_fts USING fts5(content)"
SCHEMA = (MESSAGES, TASKS, SEARCH)


def insert(table: str, **values: object) -> str:
    texts = ("'" + str(value).replace("'", "''") + "'" for value in values.values())
    return f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join(texts)})"  # noqa: S608


def said(
    content: object, role: str = "assistant", at: str = "2026-01-05 10:00:00", **more: object
) -> str:
    text = content if isinstance(content, str) else json.dumps(content)
    values = {"content": text, "role": role, "timestamp": at, "session_id": SESSION, **more}
    return insert("messages", **values)


def task(task_id: str, status: str, at: str = "2026-01-05T10:00:00Z", **more: object) -> str:
    return insert("task_tracking", task_id=task_id, status=status, updated_at=at, **more)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


def read(
    path: Path,
    since: dict[str, int] | None = None,
    has_file: Callable[[str], bool] = lambda _: False,
    is_ours: Callable[[str], bool] = lambda _: True,
) -> sessions_db.Said:
    return sessions_db.read(str(path), FINDER, since or {}, has_file, is_ours)


def told(found: Iterable[model.Activity]) -> dict[str, tuple[str, str]]:
    return {each.task: (each.kind, each.what) for each in found}


def test_what_was_said_mentions_tasks(path: Path) -> None:
    rows = said("on with H.1.1"), said("do H.1.2", "user", hash="h2")
    found = read(foreign.make(path, *SCHEMA, *rows))
    assert told(found.activities) == {
        "H.1.1": (model.MENTIONED, "said"),
        "H.1.2": (model.MENTIONED, "asked"),
    }
    first = found.activities[0]
    assert first.at == "2026-01-05T10:00:00.000Z"
    assert first.session == SESSION
    assert first.pointer == f"row:{path}#messages/1"
    assert first.source == "coditect:sessions"
    assert found.problems == []


@pytest.mark.parametrize(
    "call",
    [
        {"name": "Bash", "input": {"description": "A.9.1.3: Run migrate", "command": "cat H.1.1"}},
        {"description": "A.9.1.3: Run migrate", "command": "cat H.1.1"},
        [{"type": "tool_use", "input": {"description": "A.9.1.3: Run\nmigrate", "x": ["H.1.1"]}}],
    ],
)
def test_a_tool_that_ran_for_a_task_is_work(path: Path, call: object) -> None:
    foreign.make(path, *SCHEMA, said(call, "tool_use"))
    assert told(read(path).activities) == {
        "A.9.1.3": (model.WORKED, "ran"),
        "H.1.1": (model.MENTIONED, "ran"),
    }


def test_a_tool_that_names_a_task_in_passing_is_no_work(path: Path) -> None:
    call = {"input": {"description": "Search for A.9.1.3"}}
    foreign.make(path, *SCHEMA, said(call, "tool_use"), said(call, "assistant"))
    assert {each.kind for each in read(path).activities} == {model.MENTIONED}


def test_what_a_tool_printed_was_said_by_nobody(path: Path) -> None:
    foreign.make(path, *SCHEMA, said("- [ ] H.1.1 login", "tool_result"))
    assert told(read(path).activities) == {"H.1.1": (model.LISTED, "output")}


def test_lists_and_pasted_code_are_listed(path: Path) -> None:
    rows = said("A.1 A.2 A.3 A.4 A.5"), said("```\nH.1.1\n```")
    foreign.make(path, *SCHEMA, *rows)
    assert {each.kind for each in read(path).activities} == {model.LISTED}


def test_rows_of_a_transcript_that_is_read_itself_are_left_out(path: Path) -> None:
    rows = (
        said("H.1.1", source_type="jsonl", source_file=f"/t/{SESSION}.jsonl"),
        said("H.1.2", source_type="jsonl", source_file="/t/gone.jsonl"),
        said("H.1.3", source_type="export", source_file="/t/export.txt"),
        said("H.1.4"),
    )
    foreign.make(path, *SCHEMA, *rows)
    found = read(path, has_file=f"/t/{SESSION}.jsonl".__eq__)
    assert set(told(found.activities)) == {"H.1.2", "H.1.3", "H.1.4"}
    assert found.upto["messages"] == 4


def test_the_session_is_told_by_the_transcript_if_by_nothing_else(path: Path) -> None:
    foreign.make(
        path,
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, content TEXT, role TEXT, source_file TEXT)",
        f"INSERT INTO messages VALUES (7, 'H.1.1', 'user', '/t/{SESSION}.jsonl')",  # noqa: S608
    )
    (each,) = read(path).activities
    assert (each.session, each.at) == (SESSION, "")


def test_the_same_id_in_two_projects_is_two_tasks(path: Path) -> None:
    rows = (
        said("H.1.1", project_path="/repo"),
        said("H.1.2", project_path="/other"),
        task("H.1.3", "in_progress", project_path="/other"),
    )
    foreign.make(path, *SCHEMA, *rows)
    found = read(path, is_ours="/repo".__eq__)
    assert set(told([*found.activities, *found.standing])) == {"H.1.1"}


def test_a_status_is_stated_once_somebody_has_begun(path: Path) -> None:
    rows = (
        task("H.1.1", "in_progress", title="login", session_id=SESSION),
        task("H.1.2", "Completed"),
        task("H.1.3", "backlog"),
        task("H.1.4", "pending"),
        task("H.1.5", f"{SECRET}\n"),
        task("E001-T042", "completed"),
    )
    found = read(foreign.make(path, *SCHEMA, *rows))
    assert told(found.standing) == {
        "H.1.1": (model.STATED, "status in_progress"),
        "H.1.2": (model.STATED, "status completed"),
        "H.1.3": (model.LISTED, "status backlog"),
        "H.1.4": (model.LISTED, "status pending"),
        "H.1.5": (model.LISTED, "status"),
    }
    first = found.standing[0]
    assert (first.text, first.session) == ("login", SESSION)
    assert first.at == "2026-01-05T10:00:00.000Z"
    assert SECRET not in repr(found)


def test_the_other_ids_of_coditect_are_found_by_a_template(path: Path) -> None:
    finder = patterns.Finder(patterns.Kinds(("track",), ("E#-T#",)))
    foreign.make(path, *SCHEMA, task("E001-T042", "review"), said("on E001-T042"))
    found = sessions_db.read(str(path), finder, {})
    assert told([*found.activities, *found.standing])["E001-T042"][0] == model.STATED


def test_reading_leaves_no_trace(path: Path) -> None:
    foreign.make(path, *SCHEMA, said("H.1.1"))
    before = foreign.beside(path)
    assert len(read(path).activities) == 1
    assert foreign.beside(path) == before


def test_what_an_open_writer_has_committed_is_read(path: Path) -> None:
    foreign.make(path, *SCHEMA)
    with foreign.writer(path) as writer:
        writer.run(said("H.1.1"), "BEGIN IMMEDIATE", said("H.1.2"))
        before = foreign.beside(path)
        assert set(told(read(path).activities)) == {"H.1.1"}
        assert foreign.beside(path) == before


def test_damage_leaves_what_was_before_it(path: Path) -> None:
    filler = "x" * 3000
    rows = [said(f"H.1.{n} {filler}") for n in range(1, 100)]
    foreign.make(path, MESSAGES.replace("hash TEXT UNIQUE", "hash TEXT"), *rows, journal="delete")
    raw = path.read_bytes()
    half = len(raw) // 2 // 4096 * 4096
    path.write_bytes(raw[:half] + b"\xee" * (len(raw) - half))
    found = read(path)
    assert found.problems
    tasks = [each.task for each in found.activities]
    assert 0 < len(tasks) < 99
    assert tasks == [f"H.1.{n}" for n in range(1, len(tasks) + 1)]
    assert found.upto["messages"] == len(tasks)
    # Once it is whole again, the rest follows.
    path.write_bytes(raw)
    rest = read(path, found.upto)
    assert [each.task for each in rest.activities] == [
        f"H.1.{n}" for n in range(len(tasks) + 1, 100)
    ]


def test_a_file_that_is_none_is_told(path: Path) -> None:
    path.write_bytes(os.urandom(5000))
    found = read(path, {"messages": 3})
    assert [each.message for each in found.problems] == ["it is not a database"]
    assert found.upto == {"messages": 3}


def test_a_database_that_was_made_anew_is_read_from_the_start(path: Path) -> None:
    foreign.make(path, *SCHEMA, *(said(f"H.1.{n}") for n in range(1, 9)))
    upto = read(path).upto
    path.unlink()
    foreign.make(path, *SCHEMA, *(said(f"H.2.{n}") for n in range(1, 20)))
    found = read(path, upto)
    assert len(found.activities) == 19
    assert found.is_anew


def test_a_message_has_its_name_in_every_copy_of_it(path: Path) -> None:
    foreign.make(path, *SCHEMA, said("H.1.1", hash="abc"))
    (first,) = read(path).activities
    path.unlink()
    foreign.make(path, *SCHEMA, said("other"), said("H.1.1", hash="abc"))
    (second,) = read(path).activities
    assert first.record == second.record
    assert first.pointer != second.pointer


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.lists(st.integers(0, 9), max_size=12), st.integers(0, 12))
def test_reading_piecemeal_is_reading_at_once(tmp_path: Path, numbers: list[int], cut: int) -> None:
    path = tmp_path / "pieces.db"
    for name in os.listdir(tmp_path):
        (tmp_path / name).unlink()
    rows = [said(f"H.1.{number}") for number in numbers]
    foreign.make(path, *SCHEMA, *rows[:cut])
    first = read(path)
    foreign.make(path, *rows[cut:])
    second = read(path, first.upto)
    whole = read(path)
    assert [*first.activities, *second.activities] == whole.activities
    assert second.upto == whole.upto


def test_many_rows_are_read_in_batches(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "_BATCH", 7)
    foreign.make(path, *SCHEMA, *(said(f"H.1.{n}") for n in range(1, 100)))
    assert [each.task for each in read(path).activities] == [f"H.1.{n}" for n in range(1, 100)]


def test_memory_does_not_grow_with_the_database(path: Path) -> None:
    numbers = "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n LIMIT 3000)"
    foreign.make(
        path,
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, content TEXT, role TEXT)",
        f"INSERT INTO messages {numbers} SELECT a, hex(randomblob(5000)), 'user' FROM n",  # noqa: S608
    )
    assert path.stat().st_size > 30_000_000
    tracemalloc.start()
    try:
        assert read(path).activities == []
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.text(max_size=20)
            | st.sampled_from(["H.1.1", '{"description": "H.1.1"}', "[[[", "{"]),
            st.sampled_from(["user", "assistant", "system", "tool_use", "tool_result", ""])
            | st.text(max_size=5),
            st.sampled_from(["2026-01-01 00:00:00", "", "9" * 30, "nan"]) | st.text(max_size=5),
        ),
        max_size=6,
    )
)
def test_no_row_can_fail_the_reading(tmp_path: Path, rows: list[tuple[str, str, str]]) -> None:
    path = tmp_path / "rows.db"
    path.unlink(missing_ok=True)
    clean = [[value.replace("\0", "") for value in row] for row in rows]
    storable = [[v.encode("utf-8", "replace").decode() for v in row] for row in clean]
    foreign.make(path, *SCHEMA, *(said(*row) for row in storable))
    assert read(path).problems == []


def test_pages_at_random_do_not_fail_the_reading(path: Path) -> None:
    foreign.make(path, *SCHEMA, *(said(f"H.1.{n} {'x' * 900}") for n in range(1, 40)))
    raw = path.read_bytes()
    dice = random.Random(7)  # noqa: S311 (not for secrets)
    for _ in range(150):
        page = dice.randrange(len(raw) // 4096) * 4096
        junk = bytearray(raw)
        junk[page + 100 : page + 4096] = dice.randbytes(3996)
        path.write_bytes(junk)
        assert isinstance(read(path), sessions_db.Said)
        assert os.listdir(path.parent) == [path.name]


class Sink:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.kept: list[model.Activity] = []

    def forget(self) -> None:
        self.kept.clear()

    def add(self, activities: Iterable[model.Activity]) -> None:
        self.kept += activities


def test_a_status_counts_once_and_stays_when_it_changes(path: Path) -> None:
    foreign.make(path, *SCHEMA, task("H.1.1", "in_progress"), said("H.1.2"))
    sink = Sink()
    known = readers.Known()
    aims = readers.Aims(FINDER, ("/repo",))
    change = "UPDATE task_tracking SET status = 'completed', updated_at = '2026-01-06 10:00:00'"
    for statement in ("SELECT 1", "SELECT 1", change, said("H.1.3")):
        foreign.make(path, statement)
        found = places.Found(sessions_db.SOURCE, str(path), path.stat())
        update = sessions_db.bring_forward(found, known, aims, sink)
        known = readers.Known(1, "", "1", *update[:6])
    assert [(each.task, each.what) for each in sink.kept] == [
        ("H.1.2", "said"),
        ("H.1.1", "status in_progress"),
        ("H.1.1", "status completed"),
        ("H.1.3", "said"),
    ]
