"""The store in one SQLite file: the default, for agents on one machine.

TRUNCATE journal and synchronous=FULL: a commit survives power loss, and the WAL-reset race of
SQLite before 3.51.3 cannot happen. A flock in front of every write keeps waiters in line, which
SQLite's own busy handler does not (it starves some for seconds at 32 processes). A store that
cannot be written can still be read, and one that is not there yet reads as empty.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping

from tether import clock, errors, files, ids, workspace
from tether.hints import Any, TypeVar
from tether.store import port, schema, sql, sqlite_file

T = TypeVar("T")

FILE_NAME = "tether.db"
LOCK_NAME = "tether.lock"
ASIDE_PREFIX = f"{FILE_NAME}.damaged-"
_JOURNAL_MODE = "truncate"
_SQL = sql.Queries("store")


class SqliteStore:
    """A store in `<store_dir>/tether.db`."""

    kind = "sqlite"

    def __init__(
        self,
        place: workspace.Workspace,
        *,
        wait_seconds: float,
        workspace_id: ids.WorkspaceId | None = None,
        time: clock.Clock | None = None,
        series: schema.Series = schema.OURS,
    ) -> None:
        self.path = os.path.join(place.store_dir, FILE_NAME)
        self._place = place
        self.wait_seconds = self._usual_wait_seconds = wait_seconds
        self._workspace_id = workspace_id
        self._series = series
        self._clock = time or clock.SystemClock()
        self._connection: sqlite3.Connection | None = None
        self._inode: int | None = None
        # For a copy in memory: what the file looked like when it was made.
        self._copied: tuple[int, int] | None = None
        self._is_checked = False
        self._pid = os.getpid()

    # Reading

    def rows(self, query: sql.Query, **params: object) -> list[port.Row]:
        with sqlite_file.Translated():
            return sqlite_file.execute(self._for_reading(), query, params)

    def snapshot(self, work: Callable[[port.Snapshot], T]) -> T:
        # A copy, because a reader in this journal mode would hold up every writer. The nameless
        # database is private and spills to disk by itself.
        copy = sqlite3.connect("", isolation_level=None)
        try:
            with sqlite_file.Translated():
                self._for_reading().backup(copy)
            return work(_CopySnapshot(copy))
        finally:
            copy.close()

    # Writing

    def write(self, purpose: str, work: Callable[[port.Transaction], T]) -> T:
        self._make_directory()
        lock = files.Lock(self._lock_path, purpose=purpose, wait_seconds=self.wait_seconds)
        try:
            return self._transact(self._locked(lock), work)
        finally:
            lock.release()

    def _locked(self, lock: files.Lock) -> sqlite3.Connection:
        # Only what the store itself meets is told as the store's: the errors of the work, which may
        # write files and take locks of its own, pass as they are.
        try:
            lock.acquire()
            with sqlite_file.Translated():
                return self._for_writing()
        except errors.LockBusy as busy:
            message = busy.message.replace("The lock", "The store", 1)
            raise errors.StoreBusy(message) from busy
        except errors.NotWritable as problem:
            raise errors.StoreReadOnly from problem

    def exclusively(self, name: str) -> contextlib.AbstractContextManager[None]:  # noqa: ARG002 (a file belongs to one machine)
        return contextlib.nullcontext()

    def exists(self) -> bool:
        with sqlite_file.Translated():
            return sqlite_file.has_content(self.path)

    def ensure_writable(self) -> None:
        self._make_directory()
        for path in (self._place.store_dir, self.path):
            if os.path.exists(path) and not os.access(path, os.W_OK):
                raise errors.StoreReadOnly
        # A sandbox may let access() say yes and open() fail: the lock file is opened for real.
        self.write("check", lambda _: None)

    def _transact(self, connection: sqlite3.Connection, work: Callable[[port.Transaction], T]) -> T:
        def execute(query: sql.Query, params: Mapping[str, object]) -> list[port.Row]:
            with sqlite_file.Translated():
                return sqlite_file.execute(connection, query, params)

        def execute_many(query: sql.Query, rows: Iterable[Mapping[str, object]]) -> None:
            with sqlite_file.Translated():
                sqlite_file.execute_many(connection, query, rows)

        with sqlite_file.Translated():
            connection.execute("BEGIN IMMEDIATE")
        try:
            transaction = port.Transaction(execute, execute_many)
            result = work(transaction)
            transaction.write_events()
            with sqlite_file.Translated():
                connection.execute("COMMIT")
        except BaseException:
            # A failed COMMIT (disk full) may have rolled back already.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return result

    # Opening

    @property
    def _lock_path(self) -> str:
        return os.path.join(self._place.store_dir, LOCK_NAME)

    def _make_directory(self) -> None:
        # Also one that is there already: it may have been made by hand, or with TETHER_STORE_DIR.
        if not self._is_checked:
            workspace.require_safe_for_sqlite(self._place.store_dir)
            self._is_checked = True
        if os.path.isdir(self._place.store_dir):
            return
        try:
            files.make_directory_like(self._place.store_dir, like=self._place.common_dir)
        except errors.NotWritable as problem:
            raise errors.StoreReadOnly from problem

    def _for_reading(self) -> sqlite3.Connection:
        """The open connection; an empty store in memory if there is no file yet."""
        connection = self._current()
        if connection is not None and self._copied in (None, sqlite_file.look(self.path)):
            return connection
        self.close()
        if not sqlite_file.has_content(self.path):
            return self._keep(self._empty_in_memory(), None)
        try:
            return self._open_for_reading()
        except sqlite3.OperationalError as problem:
            # Not all of them have a code: a text that is none has not.
            code = getattr(problem, "sqlite_errorcode", 0)
            if code != sqlite3.SQLITE_READONLY_ROLLBACK:
                raise
            return self._keep(*self._recovered_copy())

    def _open_for_reading(self) -> sqlite3.Connection:
        connection, inode = self._open_file()
        with sqlite_file.closing_on_error(connection):
            has_content = sqlite_file.has_content(self.path)
            if has_content and not self._needs_migration(connection):
                return self._keep(connection, inode)
        connection.close()
        if not has_content:
            # Its making was interrupted, and SQLite has just taken back the half of it.
            return self._keep(self._empty_in_memory(), None)
        try:
            self.write("migrate", lambda _: None)
        except errors.StoreReadOnly:
            copied = sqlite_file.look(self.path)
            return self._keep(self._migrated_copy(), inode, copied)
        return self._for_reading()

    def _for_writing(self) -> sqlite3.Connection:
        """The open connection to a file of this schema. The lock is held."""
        connection = self._current()
        if connection is not None and self._inode is not None and self._copied is None:
            return connection
        self.close()
        if not os.path.exists(self.path):
            files.Root(self._place.store_dir, like=self._place.common_dir).write_atomic(
                FILE_NAME, b"", replace=False
            )
        connection, inode = self._open_file()
        with sqlite_file.closing_on_error(connection):
            self._bring_forward(connection)
        return self._keep(connection, inode)

    def _bring_forward(self, connection: sqlite3.Connection) -> None:
        if not sqlite_file.has_content(self.path):
            self._transact(connection, lambda _: sqlite_file.create(connection, self._series))
        elif self._needs_migration(connection):
            self._transact(connection, lambda _: sqlite_file.migrate(connection, self._series))

    def _needs_migration(self, connection: sqlite3.Connection) -> bool:
        """Is the file older than this code? Refuses one that is not for this code or workspace."""
        meta = sqlite_file.meta(connection)
        owner = meta.get("workspace_id")
        if owner and self._workspace_id and owner != self._workspace_id:
            raise errors.StoreOfAnother
        return self._series.needs_migration(sqlite_file.version(meta))

    def _current(self) -> sqlite3.Connection | None:
        """The connection, unless the file was set aside or replaced since it was opened."""
        if self._pid != os.getpid():
            # SQLite's connections must not be carried over a fork, and not even be closed there:
            # closing would take back what the parent is writing.
            _LEFT_TO_PARENT.append(self._connection)
            self._connection, self._pid = None, os.getpid()
        if self._connection is None:
            return None
        try:
            inode: int | None = os.stat(self.path).st_ino
        except FileNotFoundError:
            inode = None
        if inode == self._inode:
            return self._connection
        self.close()
        return None

    def _keep(
        self,
        connection: sqlite3.Connection,
        inode: int | None,
        copied: tuple[int, int] | None = None,
    ) -> sqlite3.Connection:
        self._connection, self._inode, self._copied = connection, inode, copied
        return connection

    def _open_file(self) -> tuple[sqlite3.Connection, int]:
        inode = sqlite_file.check_file(self.path)
        escaped = self.path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        connection = self._connect(f"file:{escaped}?mode=rw")
        with sqlite_file.closing_on_error(connection):
            sqlite_file.check_ours(connection)
            sqlite_file.check_whole(connection, self.path)
        return connection, inode

    def _connect(self, target: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            target, uri=True, isolation_level=None, timeout=self._usual_wait_seconds
        )
        with sqlite_file.closing_on_error(connection):
            connection.create_function("tether_now", 1, self._now)
            connection.create_function("tether_now_ms", 0, self._clock.now_ms)
            for pragma in (
                f"journal_mode={_JOURNAL_MODE}",
                "synchronous=FULL",
                "foreign_keys=ON",
                # The file may have been written by somebody else: its schema runs no functions.
                "trusted_schema=OFF",
            ):
                connection.execute(f"PRAGMA {pragma}").fetchall()
        return connection

    def _empty_in_memory(self) -> sqlite3.Connection:
        connection = self._connect(":memory:")
        sqlite_file.create(connection, self._series)
        return connection

    def _migrated_copy(self) -> sqlite3.Connection:
        """An old store that cannot be written, brought forward in memory."""
        source, _ = self._open_file()
        with contextlib.closing(source):
            return self._copy_of(source)

    def _copy_of(self, source: sqlite3.Connection) -> sqlite3.Connection:
        """What is in a store, in memory and in this schema."""
        copy = self._connect(":memory:")
        with sqlite_file.closing_on_error(copy):
            source.backup(copy)
            if self._needs_migration(copy):
                self._transact(copy, lambda _: sqlite_file.migrate(copy, self._series))
        return copy

    def _recovered_copy(self) -> tuple[sqlite3.Connection, int, tuple[int, int] | None]:
        """A store whose last write was interrupted, and which we may not repair, as it was before.

        SQLite reads such a file only after it has played back the journal; here in a copy of both.
        """
        import shutil
        import tempfile

        before, inode = sqlite_file.look(self.path), sqlite_file.check_file(self.path)
        with tempfile.TemporaryDirectory(prefix="tether-") as directory:
            path = os.path.join(directory, FILE_NAME)
            shutil.copyfile(f"{self.path}-journal", f"{path}-journal")
            shutil.copyfile(self.path, path)
            if sqlite_file.look(self.path) != before:
                raise errors.StoreBusy
            with contextlib.closing(self._connect(f"file:{path}?mode=rw")) as source:
                sqlite_file.check_ours(source)
                has_content = sqlite_file.has_content(path)
                copy = self._copy_of(source) if has_content else self._empty_in_memory()
        return copy, inode, before

    def _now(self, offset_ms: int) -> str:
        return clock.text(self._clock.now_ms() + offset_ms)

    # Telling

    def describe(self) -> dict[str, Any]:
        """Place, size, schema, journal mode and whether the pages are whole."""
        facts: dict[str, Any] = {
            "kind": self.kind,
            "path": self.path,
            "exists": self.exists(),
            "journal_mode": _JOURNAL_MODE,
            "is_writable": self._is_writable(),
        }
        if not facts["exists"]:
            return facts
        with sqlite_file.Translated():
            facts["bytes"] = os.path.getsize(self.path)
            # A connection of its own: the usual way of reading would bring an old store forward.
            connection, _ = self._open_file()
            try:
                self._needs_migration(connection)
                version = sqlite_file.version(sqlite_file.meta(connection))
                synchronous = sqlite_file.pragma(connection, "synchronous")
                facts |= {
                    "schema_version": version.number,
                    "min_reader": version.min_reader,
                    "journal_mode": sqlite_file.pragma(connection, "journal_mode"),
                    "synchronous": _SYNCHRONOUS[synchronous],
                    "integrity": sqlite_file.pragma(connection, "integrity_check(1)"),
                }
            finally:
                connection.close()
        return facts

    def _is_writable(self) -> bool:
        """Could it be written, or made where it is not there yet?"""
        paths = [self.path, self._place.store_dir, self._place.common_dir]
        return all(os.access(path, os.W_OK) for path in paths[:2] if os.path.exists(path)) and (
            os.path.exists(self._place.store_dir) or os.access(paths[2], os.W_OK)
        )

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def empty_store(series: schema.Series = schema.OURS) -> SqliteStore:
    """A store with nothing in it, in memory: what one that was never written reads as."""
    nowhere = os.path.join(os.sep, "nonexistent")
    place = workspace.Workspace(None, nowhere, nowhere, os.path.join(nowhere, "tether"))
    return SqliteStore(place, wait_seconds=1, series=series)


def set_aside(place: workspace.Workspace) -> str | None:
    """Move a damaged store file away, with its journal; the new name, or None if it is whole."""
    root = files.Root(place.store_dir)
    aside = f"{ASIDE_PREFIX}{ids.random_base32(8)}"
    if not root.exists(FILE_NAME):
        return None
    with files.Lock(os.path.join(place.store_dir, LOCK_NAME), purpose="set aside"):
        # Under the lock: while we waited, somebody else may have repaired it and written anew.
        if not _is_damaged(place):
            return None
        # The journal first: left behind, it would be played back into the next store.
        if root.exists(f"{FILE_NAME}-journal"):
            root.rename_noreplace(f"{FILE_NAME}-journal", f"{aside}-journal")
        root.rename_noreplace(FILE_NAME, aside)
    return os.path.join(place.store_dir, aside)


def _is_damaged(place: workspace.Workspace) -> bool:
    try:
        return _has_damage(SqliteStore(place, wait_seconds=1))
    except (errors.StoreCorrupt, errors.StoreForeign):
        return True


def _has_damage(store: SqliteStore) -> bool:
    with sqlite_file.Translated():
        connection, _ = store._open_file()
        try:
            if not sqlite_file.has_content(store.path):
                return False
            sqlite_file.version(sqlite_file.meta(connection))
            return bool(sqlite_file.pragma(connection, "integrity_check(1)") != "ok")
        finally:
            connection.close()


# Connections of a parent process, kept so that a child never closes them.
_LEFT_TO_PARENT: list[sqlite3.Connection | None] = []

_SYNCHRONOUS = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}


class _CopySnapshot:
    def __init__(self, copy: sqlite3.Connection) -> None:
        self._copy = copy

    def stream(self, query: sql.Query) -> Iterator[port.Row]:
        with sqlite_file.Translated():
            cursor = self._copy.execute(query.text)
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True))
