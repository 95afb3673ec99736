"""The store in PostgreSQL: for agents on several machines.

Each workspace has a schema of its own, so its statements are the same as SQLite's and its events
have a counter of their own. The database's clock is the only one that counts. A connection that
breaks is made again: work that was not yet committed runs again, and for a commit that got no
answer the database is asked what became of it.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

import psycopg
from psycopg import conninfo, rows
from psycopg import sql as composing

from tether import errors, ids, redaction, text
from tether.hints import Any, TypeVar
from tether.store import port, schema, sql, sqlite

T = TypeVar("T")
_Connection = psycopg.Connection[rows.DictRow]

_SQL = sql.Queries("store")
_CONNECT_SECONDS = 5
# A writer that hangs inside its transaction must not hold the event counter for ever.
_IDLE_IN_TRANSACTION_SECONDS = 60
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 1.0


# What a server says while it starts, stops or is overrun.
_PASSING_REFUSALS = ("starting up", "shutting down", "recovery", "too many", "remaining connection")


class _RolledBack(psycopg.OperationalError):
    """The connection broke during COMMIT and nothing was saved: the work may run again."""


_VICTIM = (
    _RolledBack,
    psycopg.errors.SerializationFailure,
    psycopg.errors.DeadlockDetected,
    # We slept for too long (a lid that was closed), and the server took the work back.
    psycopg.errors.IdleInTransactionSessionTimeout,
)


_REFUSALS = (
    psycopg.IntegrityError,
    psycopg.DataError,
    psycopg.errors.DatatypeMismatch,
    UnicodeEncodeError,
)


class PostgresStore:
    """A store in the schema `tether_<workspace_id>`."""

    kind = "postgres"

    def __init__(
        self,
        url: str,
        workspace_id: ids.WorkspaceId,
        *,
        wait_seconds: float,
        series: schema.Series = schema.OURS,
    ) -> None:
        self.schema_name = f"tether_{workspace_id}"
        self._url = url
        self.wait_seconds = self._usual_wait_seconds = wait_seconds
        self._series = series
        self._connection: _Connection | None = None
        self._is_prepared = False
        self._pid = os.getpid()

    # Reading

    def rows(self, query: sql.Query, **params: object) -> list[port.Row]:
        def read(connection: _Connection) -> list[port.Row]:
            if self._is_missing(connection):
                with contextlib.closing(sqlite.empty_store(self._series)) as empty:
                    return empty.rows(query, **params)
            return _execute(connection, query, params)

        return self._retrying(read, prepares=False)

    def snapshot(self, work: Callable[[port.Snapshot], T]) -> T:
        # Never again once it has begun: what `work` has passed on cannot be taken back.
        connection = self._retrying(_answering, prepares=False)
        if self._is_missing(connection):
            with contextlib.closing(sqlite.empty_store(self._series)) as empty:
                return empty.snapshot(work)
        try:
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                # Who reads what we pass on may take a long time, and we hold up nobody.
                connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                return work(_CursorSnapshot(connection))
        except psycopg.Error as problem:
            raise self._error(problem) from problem

    # Writing

    def write(self, purpose: str, work: Callable[[port.Transaction], T]) -> T:
        def attempt(connection: _Connection) -> T:
            if connection.info.parameter_status("application_name") != f"tether {purpose}":
                # Tells others, in pg_stat_activity, what the holder of a lock is doing.
                connection.execute(
                    "SELECT set_config('application_name', %s, false)", [f"tether {purpose}"]
                )
            return self._transact(connection, work)

        return self._retrying(attempt)

    @contextlib.contextmanager
    def exclusively(self, name: str) -> Iterator[None]:
        # A connection of its own: the other one may be made anew at any time, and the lock with it.
        try:
            connection = self._connect()
        except psycopg.Error as problem:
            raise self._error(problem) from problem
        with contextlib.closing(connection):
            row = connection.execute(
                "SELECT pg_try_advisory_lock(hashtextextended(%s, 0)) AS got",
                [f"{self.schema_name} {name}"],
            ).fetchone()
            if not row or not row["got"]:
                raise errors.LockBusy(
                    "It is held from another machine or by another process. Nothing was changed."
                )
            yield

    def exists(self) -> bool:
        return self._retrying(_version, prepares=False) is not None

    def ensure_writable(self) -> None:
        if not self._retrying(_is_writable):
            raise errors.StoreReadOnly

    def _transact(self, connection: _Connection, work: Callable[[port.Transaction], T]) -> T:
        connection.execute("BEGIN")
        try:
            if self.wait_seconds != self._usual_wait_seconds:
                wait_ms = str(int(self.wait_seconds * 1000))
                connection.execute("SELECT set_config('lock_timeout', %s, true)", [wait_ms])
            transaction = port.Transaction(
                lambda query, params: _execute(connection, query, params),
                lambda query, many: _execute_many(connection, query, many),
            )
            result = work(transaction)
            transaction.write_events()
            [[transaction_id]] = connection.cursor(row_factory=rows.tuple_row).execute(
                "SELECT pg_current_xact_id()::text"
            )
        except BaseException:
            if not connection.broken:
                connection.execute("ROLLBACK")
            raise
        try:
            connection.execute("COMMIT")
        except psycopg.OperationalError:
            if not connection.broken:
                raise
            try:
                was_committed = self._was_committed(transaction_id)
            except errors.StoreError as problem:
                # Whatever kept us from asking: "nothing was changed" may be untrue.
                raise errors.StoreUncertain from problem
            if not was_committed:
                raise _RolledBack from None
        return result

    def _was_committed(self, transaction_id: str) -> bool:
        """What became of a commit that got no answer."""

        def ask(connection: _Connection) -> bool:
            deadline = time.monotonic() + self.wait_seconds
            while True:
                row = connection.execute(
                    "SELECT pg_xact_status(%s::xid8) AS status", [transaction_id]
                ).fetchone()
                status = row["status"] if row else None
                if status in ("committed", "aborted"):
                    return bool(status == "committed")
                if status is None or time.monotonic() > deadline:
                    raise errors.StoreUncertain
                # The server has not noticed yet that its client is gone.
                time.sleep(_FIRST_PAUSE_SECONDS)

        return self._retrying(ask)

    # Connecting

    def _retrying(self, work: Callable[[_Connection], T], *, prepares: bool = True) -> T:
        """Run `work`, again if the connection was lost or the transaction was a victim.

        Unless it only looks, the schema is created or brought forward first.
        """
        deadline = time.monotonic() + self.wait_seconds
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                return work(self._open(prepares=prepares))
            except psycopg.Error as problem:
                if _is_of_interrupt(problem):
                    raise KeyboardInterrupt from problem
                if not self._is_passing(problem) or time.monotonic() + pause > deadline:
                    raise self._error(problem) from problem
            # Not all at once when the server comes back.
            time.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 (no secret)
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)

    def _is_passing(self, problem: psycopg.Error) -> bool:
        """May the same work succeed on a new connection or in a new transaction?"""
        if isinstance(problem, _VICTIM):
            return True
        if not isinstance(problem, psycopg.OperationalError):
            return False
        if self._connection is None:
            # Not connected at all: a refusal by a server that is up stays one.
            message = str(problem)
            return "FATAL" not in message or any(word in message for word in _PASSING_REFUSALS)
        return self._connection.broken or self._connection.closed

    def _open(self, *, prepares: bool) -> _Connection:
        if self._pid != os.getpid():
            # After a fork the connection is the parent's: closing it here would end it there.
            _LEFT_TO_PARENT.append(self._connection)
            self._connection, self._pid = None, os.getpid()
        connection = self._connection
        if connection is None or connection.closed or connection.broken:
            self.close()
            connection = self._connection = self._connect()
            self._is_prepared = False
        if prepares and not self._is_prepared:
            self._prepare_schema(connection)
            self._is_prepared = True
        return connection

    def _is_missing(self, connection: _Connection) -> bool:
        """Is there nothing to read yet? What is older than this code is brought forward."""
        if self._is_prepared:
            return False
        found = _version(connection)
        if found is not None:
            self._prepare_schema(connection)
            self._is_prepared = True
        return found is None

    def _connect(self) -> _Connection:
        wait_ms = int(self._usual_wait_seconds * 1000)
        return psycopg.connect(
            self._url,
            autocommit=True,
            row_factory=rows.dict_row,
            connect_timeout=_CONNECT_SECONDS,
            application_name="tether",
            client_encoding="utf8",
            options=(
                f"-c search_path={self.schema_name} -c lock_timeout={wait_ms}"
                f" -c idle_in_transaction_session_timeout={_IDLE_IN_TRANSACTION_SECONDS * 1000}"
            ),
        )

    def _prepare_schema(self, connection: _Connection) -> None:
        found = _version(connection)
        if found is not None and not self._series.needs_migration(found):
            return
        with connection.transaction():
            # One process at a time, whichever workspace it is for.
            connection.execute("SELECT pg_advisory_xact_lock(hashtext('tether schema'))")
            found = _version(connection)
            if found is None:
                self._create_schema(connection)
            elif self._series.needs_migration(found):
                _migrate(connection, found, self._series)

    def _create_schema(self, connection: _Connection) -> None:
        # It may be there, made for a role that may not make it; IF NOT EXISTS would ask for that
        # right all the same.
        found = connection.execute(
            "SELECT 1 FROM pg_namespace WHERE nspname = %s", [self.schema_name]
        ).fetchone()
        if found is None:
            name = composing.Identifier(self.schema_name)
            connection.execute(composing.SQL("CREATE SCHEMA {}").format(name))
        connection.execute(self._series.whole("postgres"))
        _set_version(connection, self._series.migrations("postgres")[-1])

    # Telling

    def describe(self) -> dict[str, Any]:
        """Server, schema and whether it can be written; never the password."""

        def look(connection: _Connection) -> dict[str, Any]:
            found = _version(connection)
            return {
                "exists": found is not None,
                "server_version": _server_version(connection.info.server_version),
                "schema_version": found.number if found else None,
                "min_reader": found.min_reader if found else None,
                "is_writable": _is_writable(connection, has_tables=found is not None),
            }

        facts = {"kind": self.kind, "url": shown_url(self._url), "schema": self.schema_name}
        return facts | self._retrying(look, prepares=False)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # Errors

    def _error(self, problem: psycopg.Error) -> BaseException:
        """What happened, in our words; a mistake in our own SQL stays what it is."""
        known = psycopg.errors
        if isinstance(problem, known.LockNotAvailable):
            return errors.StoreBusy(self._who_holds())
        if isinstance(problem, (known.ReadOnlySqlTransaction, known.InsufficientPrivilege)):
            return errors.StoreReadOnly()
        if isinstance(problem, known.DiskFull):
            return errors.DiskFull("The database has no room left. Nothing was changed.")
        if isinstance(problem, _VICTIM):
            return errors.StoreBusy()
        if isinstance(problem, psycopg.OperationalError):
            first = (str(problem).rpartition("FATAL:")[2].strip().splitlines() or [""])[0]
            reason = text.one_line(redaction.redact(first), 160)
            return errors.StoreUnreachable(
                f"The database at {shown_url(self._url)} does not answer as it should: {reason}."
                " Nothing was changed."
            )
        return self._lasting_error(problem)

    def _lasting_error(self, problem: psycopg.Error) -> BaseException:
        if self._connection is None and isinstance(problem, psycopg.ProgrammingError):
            return errors.ConfigError(
                "The store's URL is not one that PostgreSQL understands. Nothing was changed.",
                hint="Write it as postgresql://user@host/database.",
            )
        if isinstance(problem, psycopg.errors.UndefinedTable):
            return errors.StoreCorrupt(
                f"The schema {self.schema_name} is not whole. It was left as it is.",
                hint="Ask who looks after the database what became of it.",
            )
        return problem

    def _who_holds(self) -> str:
        """The oldest open transaction of ours: most likely the one that everybody waits for."""
        try:
            row = (
                self._open(prepares=False)
                .execute(
                    "SELECT application_name AS name, pid,"
                    " coalesce(client_addr::text, 'this host') AS host,"
                    " floor(extract(epoch FROM clock_timestamp() - xact_start))::int AS seconds"
                    " FROM pg_stat_activity WHERE application_name LIKE 'tether %'"
                    " AND xact_start IS NOT NULL AND pid <> pg_backend_pid()"
                    " ORDER BY xact_start LIMIT 1"
                )
                .fetchone()
            )
        except psycopg.Error:
            row = None
        if row is None:
            return ""
        return (
            f"Another process is writing to the store: `{row['name']}` from {row['host']} (server"
            f" process {row['pid']}), for {row['seconds']} s now. Nothing was changed."
        )


# Connections of a parent process, kept so that a child never closes them.
_LEFT_TO_PARENT: list[_Connection | None] = []


class _CursorSnapshot:
    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def stream(self, query: sql.Query) -> Iterator[port.Row]:
        with self._connection.cursor("tether_stream") as cursor:
            cursor.execute(query.pyformat)
            yield from cursor


def shown_url(url: str) -> str:
    """The URL without its password."""
    try:
        parts = conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        return "postgresql://(not a valid URL)"
    user = f"{parts['user']}@" if parts.get("user") else ""
    port_part = f":{parts['port']}" if parts.get("port") else ""
    return f"postgresql://{user}{parts.get('host', '')}{port_part}/{parts.get('dbname', '')}"


def _is_of_interrupt(problem: BaseException) -> bool:
    """Did it happen while Ctrl-C was being dealt with?

    The rollback fails if the connection is lost by then, or if it is what the server cancels.
    """
    earlier = problem.__context__
    return earlier is not None and (
        isinstance(earlier, KeyboardInterrupt) or _is_of_interrupt(earlier)
    )


def _execute(
    connection: _Connection, query: sql.Query, params: Mapping[str, object]
) -> list[port.Row]:
    try:
        cursor = connection.execute(query.pyformat, params)
    except _REFUSALS as problem:
        raise port.RowRefused from problem
    return cursor.fetchall() if cursor.description else []


def _execute_many(
    connection: _Connection, query: sql.Query, many: Iterable[Mapping[str, object]]
) -> None:
    try:
        # Sent without waiting for each answer.
        connection.cursor().executemany(query.pyformat, many)
    except _REFUSALS as problem:
        raise port.RowRefused from problem


def _version(connection: _Connection) -> schema.Version | None:
    # Not to_regclass(): it answers from a cache that does not hear of a schema that another process
    # made while we waited for our turn.
    found = connection.execute(
        "SELECT has_schema_privilege(pg_namespace.oid, 'USAGE') AS is_usable"
        " FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
        " WHERE nspname = current_setting('search_path') AND relname = 'meta'"
    ).fetchone()
    if found is None:
        return None
    if not found["is_usable"]:
        raise errors.StoreForbidden
    meta = {row["key"]: row["value"] for row in _execute(connection, _SQL.meta, {})}
    try:
        return schema.Version(int(meta["schema_version"]), int(meta["min_reader"]))
    except (KeyError, ValueError) as problem:
        raise errors.StoreCorrupt("The store does not say which schema it has.") from problem


def _answering(connection: _Connection) -> _Connection:
    """The connection, if it still is one."""
    connection.execute("SELECT 1")
    return connection


def _is_writable(connection: _Connection, *, has_tables: bool = True) -> bool:
    """Would the server take a write from this role? A standby takes none."""
    row = connection.execute(
        "SELECT current_setting('transaction_read_only') = 'off' AS takes_writes,"
        " CASE WHEN %s THEN has_table_privilege(current_user, to_regclass('events'), 'INSERT')"
        " ELSE has_database_privilege(current_database(), 'CREATE') END AS is_granted",
        [has_tables],
    ).fetchone()
    return row is not None and bool(row["takes_writes"] and row["is_granted"])


def _migrate(connection: _Connection, found: schema.Version, series: schema.Series) -> None:
    for migration in series.migrations("postgres"):
        if migration.number > found.number:
            connection.execute(migration.script)
            _set_version(connection, migration)


def _set_version(connection: _Connection, migration: schema.Migration) -> None:
    for key, value in (
        ("schema_version", migration.number),
        ("min_reader", migration.min_reader),
    ):
        _execute(connection, _SQL.set_meta, {"key": key, "value": str(value)})


def _server_version(number: int) -> str:
    return f"{number // 10000}.{number % 10000}"
