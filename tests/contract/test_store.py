"""What every store promises: one suite, run on SQLite and on PostgreSQL."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import parts
from tether import clock, errors, ids, workspace
from tether.store import events, port, postgres, schema, sql, sqlite, transfer, workspace_id_of

HAPPENED = events.EventType("test_happened", ("n",), "Something happened in a test.")
NOW = sql.Queries("store").now
COUNTERS = 7
META = sql.Queries("store").meta
SET_META = sql.Queries("store").set_meta
_NEXT_MIGRATION = """\
-- min_reader: 1

ALTER TABLE events ADD COLUMN extra TEXT;
"""

OpenStore = Callable[..., port.Store]


def say(store: port.Store, *numbers: int) -> None:
    """Log some events in one transaction."""

    def work(transaction: port.Transaction) -> None:
        for n in numbers:
            transaction.event(HAPPENED, actor="tester", data={"n": n})

    store.write("test", work)


def heard(store: port.Store) -> list[tuple[int, int]]:
    return [(event.id, event.data["n"]) for event in events.after(store, 0, 10_000)]


def exported(store: port.Store) -> list[bytes]:
    lines: list[bytes] = []
    transfer.export(store, None, lines.append)
    return lines


@pytest.fixture(scope="session")
def newer(tmp_path_factory: pytest.TempPathFactory) -> schema.Series:
    """The schema of a Tether to come: ours and one more migration."""
    place = tmp_path_factory.mktemp("schema")
    for part in ("migrations", "schema"):
        shutil.copytree(Path(schema.OURS.directory) / part, place / part)
    number = schema.OURS.version + 1
    for dialect in ("sqlite", "postgres"):
        (place / "migrations" / dialect / f"{number:04}_more.sql").write_text(_NEXT_MIGRATION)
        with (place / "schema" / f"{dialect}.sql").open("a") as whole:
            whole.write(_NEXT_MIGRATION)
    return schema.Series(str(place), number)


class StoreContract:
    """The promises. Subclasses say how a store is opened, each time on the same data."""

    @pytest.fixture
    def opened(self) -> Iterator[OpenStore]:
        raise NotImplementedError

    @pytest.fixture
    def another(self) -> Iterator[OpenStore]:
        """Opens a second store, on other data."""
        raise NotImplementedError

    def test_a_store_that_was_never_written_reads_as_empty(self, opened: OpenStore) -> None:
        store = opened()
        assert not store.exists()
        assert events.latest(store, 10) == []
        assert len(exported(store)) == COUNTERS + 2
        assert not store.exists(), "reading has made something"

    def test_what_one_wrote_the_other_reads(self, opened: OpenStore) -> None:
        one, other = opened(), opened()
        say(one, 7)
        assert heard(other) == [(1, 7)]
        assert other.exists()

    def test_ids_count_up_from_one_without_gaps(self, opened: OpenStore) -> None:
        store = opened()
        say(store, 10, 11)
        say(store, 12)
        assert heard(store) == [(1, 10), (2, 11), (3, 12)]

    def test_work_that_fails_leaves_nothing_and_no_gap(self, opened: OpenStore) -> None:
        store = opened()
        say(store, 1)

        def work(transaction: port.Transaction) -> None:
            transaction.event(HAPPENED, actor="tester", data={"n": 2})
            transaction.rows(SET_META, key="half", value="done")
            raise errors.NotAllowed

        with pytest.raises(errors.NotAllowed):
            store.write("test", work)
        say(store, 3)
        assert heard(store) == [(1, 1), (2, 3)]
        assert "half" not in [row["key"] for row in store.rows(META)]

    def test_the_result_of_the_work_is_returned(self, opened: OpenStore) -> None:
        assert opened().write("test", lambda _: 42) == 42

    def test_an_event_has_exactly_the_fields_of_its_type(self, opened: OpenStore) -> None:
        def work(transaction: port.Transaction) -> None:
            transaction.event(HAPPENED, actor="tester", data={"m": 1})

        with pytest.raises(ValueError, match="test_happened"):
            opened().write("test", work)

    def test_events_are_found_by_task_and_by_session(self, opened: OpenStore) -> None:
        store = opened()

        def work(transaction: port.Transaction) -> None:
            for n, task, session in ((1, "T-1", "s1"), (2, "T-2", "s1"), (3, "T-1", "s2")):
                transaction.event(
                    HAPPENED, actor="a", session=session, source="work", task=task, data={"n": n}
                )

        store.write("test", work)
        by_task = events.after(store, 0, 10, events.Filter(task="T-1"))
        by_session = events.latest(store, 10, events.Filter(session="s1"))
        assert [event.data["n"] for event in by_task] == [1, 3]
        assert [event.data["n"] for event in by_session] == [1, 2]

    def test_the_latest_events_come_oldest_first(self, opened: OpenStore) -> None:
        store = opened()
        say(store, *range(5))
        assert [event.data["n"] for event in events.latest(store, 2)] == [3, 4]

    def test_text_that_looks_like_sql_is_only_text(self, opened: OpenStore) -> None:
        store = opened()
        hostile = "'); DROP TABLE events; -- %s :task \u202e\x1b[2J"
        kind = events.EventType("test_text", ("text",), "Hostile text.")

        def work(transaction: port.Transaction) -> None:
            transaction.event(kind, actor="a", task=hostile[:40], data={"text": hostile + "\0"})

        store.write("test", work)
        [event] = events.latest(store, 1)
        assert (event.task, event.data["text"]) == (hostile[:40], hostile + "\0")

    def test_time_is_rfc_3339_in_utc_with_milliseconds(self, opened: OpenStore) -> None:
        store = opened()
        say(store, 1)
        [event] = events.latest(store, 1)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event.at)
        assert clock.text(clock.parse(event.at)) == event.at

    def test_an_offset_in_milliseconds_moves_the_time(self, opened: OpenStore) -> None:
        query = sql.Query("later", "", "SELECT tether_now(0) AS now, tether_now(90000) AS later")
        [row] = opened().rows(query)
        moved_ms = clock.parse(row["later"]) - clock.parse(row["now"])
        assert 90_000 <= moved_ms < 91_000

    def test_a_store_describes_itself(self, opened: OpenStore) -> None:
        store = opened()
        say(store, 1)
        facts = store.describe()
        assert facts["exists"]
        assert facts["is_writable"]
        assert facts["schema_version"] == schema.OURS.version

    def test_a_snapshot_shows_one_moment_while_others_write(self, opened: OpenStore) -> None:
        store, writer = opened(), opened()
        say(store, 1)
        count = sql.Query("count", "", "SELECT count(*) AS n FROM events")

        def work(snapshot: port.Snapshot) -> list[int]:
            before = [row["n"] for row in snapshot.stream(count)]
            say(writer, 2)
            return before + [row["n"] for row in snapshot.stream(count)]

        assert store.snapshot(work) == [1, 1]
        assert len(heard(store)) == 2

    # Schema

    def test_a_store_of_an_older_schema_is_brought_forward(
        self, opened: OpenStore, newer: schema.Series
    ) -> None:
        say(opened(), 1)
        store = opened(series=newer)
        assert store.describe()["schema_version"] == schema.OURS.version, "looking has changed it"
        assert heard(store) == [(1, 1)]
        say(store, 2)
        assert store.describe()["schema_version"] == newer.version
        assert heard(store) == [(1, 1), (2, 2)]
        assert store.rows(sql.Query("extra", "", "SELECT extra FROM events WHERE id = 1")) == [
            {"extra": None}
        ]

    def test_older_code_goes_on_with_a_newer_store_that_allows_it(
        self, opened: OpenStore, newer: schema.Series
    ) -> None:
        say(opened(series=newer), 1)
        older = opened()
        say(older, 2)
        assert heard(older) == [(1, 1), (2, 2)]
        assert older.describe()["schema_version"] == newer.version

    def test_older_code_refuses_a_store_that_needs_newer(
        self, opened: OpenStore, newer: schema.Series
    ) -> None:
        store = opened(series=newer)
        say(store, 1)
        needed = str(newer.version)
        store.write("test", lambda t: t.rows(SET_META, key="min_reader", value=needed))
        older = opened()
        with pytest.raises(errors.StoreTooNew):
            say(older, 2)
        with pytest.raises(errors.StoreTooNew):
            events.latest(older, 1)
        assert heard(store) == [(1, 1)]

    # Export and import

    def test_an_import_gives_the_same_export(self, opened: OpenStore, another: OpenStore) -> None:
        say(opened(), 1, 2, 3)
        lines = exported(opened())
        copy = another()
        assert transfer.import_(copy, lambda: lines) == len(lines) - 2
        assert exported(copy) == lines
        say(copy, 4)
        assert heard(copy)[-1] == (4, 4)

    def test_a_store_with_content_is_not_imported_into(
        self, opened: OpenStore, another: OpenStore
    ) -> None:
        say(opened(), 1)
        target = another()
        say(target, 9)
        with pytest.raises(errors.StoreNotEmpty):
            transfer.import_(target, lambda: exported(opened()))
        assert heard(target) == [(1, 9)]

    @pytest.mark.parametrize("keep", [0, 1, 2, -1])
    def test_an_export_that_was_cut_off_changes_nothing(
        self, opened: OpenStore, another: OpenStore, keep: int
    ) -> None:
        say(opened(), 1, 2)
        lines = exported(opened())[:keep]
        target = another()
        with pytest.raises(errors.ExportInvalid):
            transfer.import_(target, lambda: lines)
        assert heard(target) == []

    @pytest.mark.parametrize(
        "damage",
        [
            b'{"table":"events","row":{"id":1,"surprise":2}}\n',
            b'{"table":"meta","row":{"key":"schema_version","value":"9"}}\n',
            b'{"table":"events; DROP TABLE events","row":{}}\n',
            b'{"table":"events","row":{"id":[1]}}\n',
            b"[1, 2]\n",
            b"\xff\xfe\n",
            b"[" * 100_000 + b"\n",
        ],
    )
    def test_a_damaged_export_changes_nothing(
        self, opened: OpenStore, another: OpenStore, damage: bytes
    ) -> None:
        say(opened(), 1, 2)
        lines = exported(opened())
        lines.insert(2, damage)
        target = another()
        with pytest.raises(errors.ExportInvalid):
            transfer.import_(target, lambda: lines)
        assert heard(target) == []

    def test_a_changed_row_is_noticed(self, opened: OpenStore, another: OpenStore) -> None:
        say(opened(), 1, 2)
        lines = [line.replace(b"tester", b"forger") for line in exported(opened())]
        with pytest.raises(errors.ExportInvalid):
            transfer.import_(another(), lambda: lines)

    @pytest.mark.parametrize(
        "change",
        [
            {"id": 2**63},
            {"id": "one"},
            {"id": True},
            {"id": 1.5},
            {"actor": None},
            {"actor": "\ud800"},
            {"id": 7},
        ],
        ids=["overflow", "text", "bool", "float", "null", "surrogate", "uncounted"],
    )
    def test_a_row_that_does_not_fit_is_refused(
        self, opened: OpenStore, another: OpenStore, change: dict[str, object]
    ) -> None:
        """Signed anew, so that only the row itself is wrong."""
        say(opened(), 1)
        header, *rows, _ = (json.loads(line) for line in exported(opened()))
        target = another()
        with pytest.raises(errors.ExportInvalid):
            transfer.import_(target, lambda: sealed(header, [*rows, rows[-1]]))
        rows[-1]["row"] |= change
        with pytest.raises(errors.ExportInvalid):
            transfer.import_(target, lambda: sealed(header, rows))
        assert heard(target) == []

    def test_whatever_a_store_holds_can_be_imported_again(
        self, opened: OpenStore, another: OpenStore
    ) -> None:
        kind = events.EventType("test_big", ("text",), "A large event.")
        big = {"text": "x" * (17 << 20)}
        opened().write("test", lambda t: t.event(kind, actor="a", data=big))
        lines = exported(opened())
        assert transfer.import_(another(), lambda: lines) == COUNTERS + 1

    @pytest.mark.parametrize(
        ("header", "changes"),
        [
            ({"tether_export": 1, "schema_version": 99}, {}),
            ({"tether_export": 1, "schema_version": "1"}, {}),
            ({"tether_export": 2, "schema_version": 1}, {}),
            (None, {"data": "not json"}),
            (None, {"data": "[1]"}),
            (None, {"at": "yesterday"}),
            (None, {"id": 2**63}),
            (None, {"id": None}),
        ],
    )
    def test_an_export_that_could_not_be_read_again_is_refused(
        self,
        opened: OpenStore,
        another: OpenStore,
        header: dict[str, Any] | None,
        changes: dict[str, Any],
    ) -> None:
        """The hash is right: somebody made such a file on purpose, or with another program."""
        say(opened(), 1)
        own, *rows, _ = (json.loads(line) for line in exported(opened()))
        rows[-1]["row"].update(changes)
        target = another()
        with pytest.raises(errors.ExportInvalid):
            transfer.import_(target, lambda: sealed(header or own, rows))
        assert heard(target) == []

    def test_an_import_remembers_whose_store_it_is(self, opened: OpenStore) -> None:
        store, workspace_id = opened(), ids.WorkspaceId.generate()
        transfer.import_(store, lambda: sealed(HEADER, []), workspace_id)
        assert workspace_id_of(store) == workspace_id

    def test_errors_of_the_work_pass_as_they_are(self, opened: OpenStore) -> None:
        store = opened()
        for error in (errors.NotWritable("a file"), errors.LockBusy("a lock of a task")):

            def work(_: port.Transaction, error: errors.TetherError = error) -> None:
                raise error

            with pytest.raises(type(error)) as caught:
                store.write("test", work)
            assert caught.value is error

    def test_a_forked_child_opens_for_itself(self, opened: OpenStore) -> None:
        store = opened()
        say(store, 0)
        children = []
        for n in range(1, 4):
            pid = os.fork()
            if pid == 0:
                try:
                    say(store, n)
                    os._exit(0)
                finally:
                    os._exit(1)
            children.append(pid)
        say(store, 4)
        assert [os.waitpid(pid, 0)[1] for pid in children] == [0, 0, 0]
        assert sorted(n for _, n in heard(store)) == [0, 1, 2, 3, 4]


HEADER = {"tether_export": 1, "schema_version": schema.OURS.version}


def sealed(header: dict[str, Any], rows: list[dict[str, Any]]) -> list[bytes]:
    """An export of these rows, whatever they are."""
    lines = [json.dumps(part).encode() + b"\n" for part in (header, *rows)]
    end = {"rows": len(rows), "sha256": hashlib.sha256(b"".join(lines)).hexdigest()}
    return [*lines, json.dumps({"end": end}).encode() + b"\n"]


class TestSqlite(StoreContract):
    @staticmethod
    def _place(path: Path) -> workspace.Workspace:
        path.mkdir(exist_ok=True)
        return workspace.Workspace(None, str(path), str(path), str(path / "tether"))

    @pytest.fixture
    def opened(self, tmp_path: Path) -> Iterator[OpenStore]:
        yield from _closing(self._opener(tmp_path / "one"))

    @pytest.fixture
    def another(self, tmp_path: Path) -> Iterator[OpenStore]:
        yield from _closing(self._opener(tmp_path / "two"))

    def _opener(self, path: Path) -> OpenStore:
        def open_(**options: schema.Series) -> port.Store:
            series = options.get("series", schema.OURS)
            return sqlite.SqliteStore(self._place(path), wait_seconds=5, series=series)

        return open_

    # What only SQLite can do to a store

    def test_opening_a_second_store_keeps_the_locks_of_the_first(self, opened: OpenStore) -> None:
        """POSIX drops a process's locks on a file when it closes any descriptor of that file."""
        store = opened()
        say(store, 1)

        def work(transaction: port.Transaction) -> None:
            transaction.rows(SET_META, key="half", value="done")
            opened().rows(META)
            assert not _may_write_meanwhile(store)

        store.write("test", work)

    def test_a_store_that_became_writable_is_written(
        self, opened: OpenStore, newer: schema.Series, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An older schema was brought forward in a copy; a write goes to the file all the same."""
        say(opened(), 1)
        store = opened(series=newer)
        assert isinstance(store, sqlite.SqliteStore)

        def refuse(*_: object) -> None:
            raise errors.StoreReadOnly

        with monkeypatch.context() as patch:
            patch.setattr(store, "write", refuse)
            assert heard(store) == [(1, 1)]
            say(opened(), 2)
            assert heard(store) == [(1, 1), (2, 2)]
        say(store, 3)
        assert heard(opened()) == [(1, 1), (2, 2), (3, 3)]

    def test_a_store_whose_making_was_interrupted_reads_as_empty(
        self, opened: OpenStore, tmp_path: Path
    ) -> None:
        """Killed in its first commit: pages in the file, without the first, and a hot journal."""
        (tmp_path / "one" / "tether").mkdir(parents=True)
        path = tmp_path / "one" / "tether" / "tether.db"
        path.touch()
        pid = os.fork()
        if pid == 0:
            database = sqlite3.connect(path, isolation_level=None)
            database.execute("PRAGMA cache_size=1")
            database.execute("BEGIN")
            database.execute("CREATE TABLE t (a)")
            for _ in range(2000):
                database.execute("INSERT INTO t VALUES (?)", ["x" * 500])
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(pid, 0)
        assert path.stat().st_size > 0
        assert heard(opened()) == []
        say(opened(), 1)

    def test_an_interrupted_write_does_not_keep_a_reader_out(self) -> None:
        """A writer was killed in its commit; one who may only read sees what was there before."""
        parts.need(os.geteuid() == 0, "root, to become another user")
        with tempfile.TemporaryDirectory() as directory:
            os.chmod(directory, 0o755)  # noqa: S103 (another user must get in)
            store = sqlite.SqliteStore(self._place(Path(directory)), wait_seconds=1)
            say(store, 1)
            path = store.path
            store.close()
            pid = os.fork()
            if pid == 0:
                _be_killed_in_a_write(path)
            os.waitpid(pid, 0)
            before = Path(path).read_bytes()
            pid = os.fork()
            if pid == 0:
                os.setgid(65534)
                os.setuid(65534)
                os._exit(0 if heard(store) == [(1, 1)] else 1)
            assert os.waitpid(pid, 0)[1] == 0
            assert Path(path).read_bytes() == before
            assert heard(store) == [(1, 1)]
            store.close()

    def test_a_row_that_cannot_be_read_keeps_no_writer_out(self, opened: OpenStore) -> None:
        store = opened()
        say(store, 1)
        damage = sql.Query("damage", "", "UPDATE events SET data = CAST(x'ff' AS TEXT)")
        store.write("test", lambda t: t.rows(damage))
        with pytest.raises(errors.StoreCorrupt) as kept:
            heard(store)
        say(opened(), 2)
        assert kept.value

    def test_a_store_that_was_repaired_meanwhile_is_not_set_aside(
        self, opened: OpenStore, tmp_path: Path
    ) -> None:
        say(opened(), 1)
        assert sqlite.set_aside(self._place(tmp_path / "one")) is None
        assert heard(opened()) == [(1, 1)]

    @pytest.mark.parametrize("kind", ["pipe", "directory"])
    def test_what_is_no_file_is_refused(self, opened: OpenStore, tmp_path: Path, kind: str) -> None:
        path = tmp_path / "one" / "tether" / "tether.db"
        path.parent.mkdir(parents=True)
        os.mkfifo(path) if kind == "pipe" else path.mkdir()
        with pytest.raises(errors.StoreForeign):
            say(opened(), 1)

    def test_a_directory_on_a_network_disk_is_refused_also_if_it_is_there(
        self, opened: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "one" / "tether").mkdir(parents=True)
        monkeypatch.setattr(workspace, "filesystem", lambda _: "nfs4")
        with pytest.raises(errors.PlatformUnsupported):
            say(opened(), 1)


def _be_killed_in_a_write(path: str) -> None:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA cache_size=1")
    database.execute("BEGIN")
    for n in range(2000):
        row = [1000 + n, "x" * 500]
        database.execute(
            "INSERT INTO events (id, at, type, actor, data) VALUES (?, '', '', '', ?)", row
        )
    os.kill(os.getpid(), signal.SIGKILL)


def _may_write_meanwhile(store: port.Store) -> bool:
    """Asked by a process of its own."""
    script = (
        "import sqlite3, sys\n"
        "database = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)\n"
        "database.execute('BEGIN IMMEDIATE')"
    )
    path = store.describe()["path"]
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, check=False)
    return done.returncode == 0


class TestPostgres(StoreContract):
    @pytest.fixture
    def opened(self, postgres_url: str) -> Iterator[OpenStore]:
        yield from _closing(self._opener(postgres_url))

    @pytest.fixture
    def another(self, postgres_url: str) -> Iterator[OpenStore]:
        yield from _closing(self._opener(postgres_url))

    def _opener(self, url: str) -> OpenStore:
        workspace_id = ids.WorkspaceId.generate()

        def open_(**options: schema.Series) -> port.Store:
            series = options.get("series", schema.OURS)
            return postgres.PostgresStore(url, workspace_id, wait_seconds=5, series=series)

        return open_


def _closing(open_: OpenStore) -> Iterator[OpenStore]:
    opened: list[port.Store] = []

    def opener(**options: schema.Series) -> port.Store:
        opened.append(open_(**options))
        return opened[-1]

    yield opener
    for store in opened:
        store.close()
