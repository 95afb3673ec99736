"""The file of the index: opened, made anew when it is of another version or damaged."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable

from tether import errors, files
from tether.hints import Any, TypeVar

T = TypeVar("T")

FILE_NAME = "index.db"
LOCK_NAME = "index.lock"
# Another number, here and at the end of the schema, makes everybody derive everything again.
VERSION = 7
_SCHEMA = """
BEGIN;
CREATE TABLE parsed_files (
    worktree TEXT NOT NULL,
    path     TEXT NOT NULL,
    stamp    TEXT NOT NULL,     -- size/mtime/ctime/inode; empty if it may change without a new one
    facts    TEXT NOT NULL,     -- a few words of what was read, to choose by
    hash     TEXT NOT NULL,     -- of the content
    parser   TEXT NOT NULL,     -- the version of what read it
    record   TEXT NOT NULL,     -- what was read, as JSON
    PRIMARY KEY (worktree, path)
) WITHOUT ROWID;
-- With all that says what to fetch: a look at ten thousand files reads none of their records.
CREATE INDEX parsed_files_by_parser ON parsed_files (worktree, parser, path, stamp, facts);
CREATE TABLE evidence_files (
    id       INTEGER PRIMARY KEY,
    path     TEXT NOT NULL UNIQUE,
    source   TEXT NOT NULL,
    stamp    TEXT NOT NULL,     -- as above
    reader   TEXT NOT NULL,     -- the versions of what read it, and of what it looked for
    is_ours  INTEGER NOT NULL,  -- of this repository
    offset   INTEGER NOT NULL,  -- how far it was read
    anchor   TEXT NOT NULL,     -- what it looked like up to there
    state    TEXT NOT NULL,     -- what its reader remembers, as JSON
    facts    TEXT NOT NULL,     -- of the session as a whole, as JSON
    session  TEXT NOT NULL,
    problems TEXT NOT NULL      -- as JSON
);
CREATE INDEX evidence_files_by_session ON evidence_files (session);
CREATE TABLE activities (
    file        INTEGER NOT NULL,
    start       INTEGER NOT NULL,  -- of its record: a byte, a line, a row, a time
    place       TEXT NOT NULL,     -- of its record within the file, as in its pointer
    record      TEXT NOT NULL,
    task_source TEXT NOT NULL,
    task        TEXT NOT NULL,
    kind        TEXT NOT NULL,
    what        TEXT NOT NULL,
    at          TEXT NOT NULL,
    session     TEXT NOT NULL,
    text        TEXT NOT NULL,
    files       TEXT NOT NULL      -- paths, with line ends between them
);
CREATE TABLE edits (               -- activities too, so many that they are kept apart
    file  INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end   INTEGER NOT NULL,
    path  TEXT NOT NULL,
    at    TEXT NOT NULL,
    PRIMARY KEY (file, start, path)
) WITHOUT ROWID;
CREATE TABLE authored (            -- commits without a task that were written before they were made
    oid          TEXT PRIMARY KEY,
    authored_ms  INTEGER NOT NULL,
    committed_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE reflogs (             -- which of Git's logs were written down in the store
    path  TEXT PRIMARY KEY,
    stamp TEXT NOT NULL            -- as above
) WITHOUT ROWID;
CREATE TABLE checkouts (           -- which ids their task lists have
    path  TEXT PRIMARY KEY,
    kinds TEXT NOT NULL            -- as JSON
) WITHOUT ROWID;
CREATE TABLE outlines (            -- the symbols of files
    id      INTEGER PRIMARY KEY,   -- grows, so that the oldest can be dropped
    blob    TEXT NOT NULL,
    version TEXT NOT NULL,         -- of the grammar and of what asks it
    outline BLOB NOT NULL,         -- as MessagePack
    UNIQUE (blob, version)
);
CREATE TABLE quarantine (          -- files that a grammar hung or crashed at
    blob    TEXT NOT NULL,
    version TEXT NOT NULL,         -- as above
    path    TEXT NOT NULL,         -- where it was met
    why     TEXT NOT NULL,
    at      TEXT NOT NULL,
    PRIMARY KEY (blob, version)
) WITHOUT ROWID;
CREATE TABLE identity_cursor (     -- up to where all symbols were followed
    commit_oid TEXT NOT NULL,
    engine     TEXT NOT NULL,      -- the version of what followed them
    boundary   TEXT NOT NULL,      -- where a shallow clone ended then
    written    BLOB NOT NULL       -- another one each time: by it, it is known who was here since
);
CREATE TABLE identity_events (     -- what commits did to symbols
    number     INTEGER PRIMARY KEY,
    node       TEXT NOT NULL,
    commit_oid TEXT NOT NULL,
    change     BLOB NOT NULL,      -- as MessagePack
    previous   BLOB NOT NULL,      -- the numbers of the events before it, likewise
    unknown    BLOB NOT NULL       -- why there may be more before it, likewise
);
CREATE INDEX identity_events_by_node ON identity_events (node);
CREATE TABLE identity_files (      -- as they stand at the cursor
    path     BLOB PRIMARY KEY,
    oid      TEXT NOT NULL,
    versions BLOB NOT NULL         -- the node and the last event of each symbol, as MessagePack
) WITHOUT ROWID;
CREATE TABLE identity_graves (     -- what was deleted, if it should be brought back
    path  BLOB NOT NULL,
    life  BLOB NOT NULL,
    node  TEXT NOT NULL,
    event INTEGER NOT NULL,
    steps INTEGER NOT NULL,        -- how many commits changed the path since, itself not counted
    PRIMARY KEY (path, life)
) WITHOUT ROWID;
-- With all that says when a task was touched, and by whom: a sweep asks that of every task.
CREATE INDEX activities_by_task ON activities (task, task_source, kind, at, session)
    WHERE task <> '';
CREATE INDEX activities_by_session ON activities (session) WHERE task = '';
CREATE INDEX activities_by_file ON activities (file, start);
PRAGMA user_version = 7;
COMMIT;
"""


# What reading a damaged index may come to; a mistake of our own comes up again without the index.
_DAMAGED = (sqlite3.Error, ValueError, TypeError, KeyError, errors.InvalidId)


_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _is_busy(problem: BaseException) -> bool:
    return getattr(problem, "sqlite_errorcode", 0) & 0xFF in _BUSY


def _is_harmless(problem: sqlite3.Error) -> bool:
    """Whether the index is as it was: somebody else was at it, or was so before with the same."""
    return _is_busy(problem) or isinstance(problem, sqlite3.IntegrityError)


def _private() -> sqlite3.Connection:
    """A database that nobody else sees, in memory as far as that has room."""
    return sqlite3.connect("", isolation_level=None)


class Index:
    """The index of one store directory, or one in memory where that cannot be used."""

    def __init__(self, store_dir: str) -> None:
        self._store_dir = store_dir
        self._path = os.path.join(store_dir, FILE_NAME)
        self._connection: sqlite3.Connection | None = None

    def rows(self, statement: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Read; nothing if there is no index yet, or none that can be read."""
        try:
            connection = self._opened()
            return connection.execute(statement, parameters).fetchall() if connection else []
        except sqlite3.Error:
            self.close()
            return []

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Ask several things of the index as it is at one time; None if none can be read."""
        try:
            connection = self._opened()
            if connection is None:
                return None
            connection.execute("BEGIN")
            try:
                return work(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except sqlite3.Error:
            self.close()
            return None

    def write(self, work: Callable[[sqlite3.Connection], object]) -> bool:
        """Change the index, if nobody else is at it. False if it stays as it is: no harm done."""
        lock = files.Lock(os.path.join(self._store_dir, LOCK_NAME), "index", wait_seconds=0)
        try:
            lock.acquire()
        except (errors.FileError, errors.NotFound):
            return False
        try:
            return self._write(work)
        except sqlite3.Error as problem:
            if not _is_harmless(problem):
                # Damaged, or the disk is full: what is derived can be derived again.
                self.remove()
            return False
        except (errors.FileError, errors.NotFound):
            return False  # something stands in its place that is not ours to remove
        finally:
            lock.release()

    def derive(self, work: Callable[[sqlite3.Connection], T], *, wait_seconds: float) -> T:
        """Bring the index forward and ask it, as one piece of work that minds its transactions.

        Where the index cannot be written, or somebody else is at it for too long, the work is done
        on a copy in memory and the same answers cost more.
        """
        lock = files.Lock(os.path.join(self._store_dir, LOCK_NAME), "index", wait_seconds)
        try:
            lock.acquire()
        except (errors.FileError, errors.NotFound):
            return self._derive_in_memory(work)
        try:
            for _ in range(2):
                try:
                    return work(self._opened() or self._made())
                except _DAMAGED as problem:
                    if _is_busy(problem):
                        self.close()
                        break  # somebody reads it for long; nothing is wrong with it
                    self.remove()
                except errors.FileError:
                    break  # something stands in its place that is not ours to remove
            return self._derive_in_memory(work)
        finally:
            lock.release()

    def consider(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Do the same without changing anything; None if there is no index to begin from."""
        try:
            is_there = self._opened() is not None
        except sqlite3.Error:
            is_there = False
        return self._derive_in_memory(work) if is_there else None

    def remove(self) -> None:
        """Forget everything. The lock is held."""
        self.close()
        with contextlib.suppress(errors.FileError, errors.NotFound):
            root = files.Root(self._store_dir)
            root.remove(FILE_NAME)
            root.remove(f"{FILE_NAME}-journal")

    def _derive_in_memory(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with contextlib.suppress(*_DAMAGED), contextlib.closing(_private()) as copy:
            known = self._opened()
            if known is not None:
                known.backup(copy)
                return work(copy)
        with contextlib.closing(_private()) as empty:
            empty.executescript(_SCHEMA)
            return work(empty)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _write(self, work: Callable[[sqlite3.Connection], object]) -> bool:
        connection = self._opened() or self._made()
        connection.execute("BEGIN IMMEDIATE")
        try:
            work(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return True

    def _opened(self) -> sqlite3.Connection | None:
        """The connection to a file of our version; None if there is none."""
        if self._connection is not None:
            return self._connection
        if not os.path.isfile(self._path) or os.path.islink(self._path):
            return None
        connection = self._connect()
        [(version,)] = connection.execute("PRAGMA user_version").fetchall()
        if version != VERSION or not self._is_whole(connection):
            self.close()
            return None
        return connection

    def _is_whole(self, connection: sqlite3.Connection) -> bool:
        """Is the file as long as it says? SQLite itself takes what is cut off for zeros."""
        [(count,)] = connection.execute("PRAGMA page_count").fetchall()
        [(size,)] = connection.execute("PRAGMA page_size").fetchall()
        return os.path.getsize(self._path) >= int(count) * int(size)

    def _made(self) -> sqlite3.Connection:
        """A new file in the place of whatever is there. The lock is held."""
        root = files.Root(self._store_dir)
        root.remove(FILE_NAME)
        root.remove(f"{FILE_NAME}-journal")
        # Made by us, so that it has the owner and mode of the store directory.
        root.write_atomic(FILE_NAME, b"", replace=False)
        connection = self._connect()
        connection.executescript(_SCHEMA)
        return connection

    def _connect(self) -> sqlite3.Connection:
        # Kept before it is used: what turns out to be no database is closed, too.
        self._connection = connection = sqlite3.connect(
            self._path, isolation_level=None, timeout=0.2
        )
        connection.execute("PRAGMA synchronous = OFF")
        return connection
