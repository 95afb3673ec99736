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
VERSION = 9
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
CREATE TABLE lineage_nodes (       -- what edges run between, each by a small number
    id   INTEGER PRIMARY KEY,
    key  TEXT NOT NULL UNIQUE,     -- task:work:T1, decision:0021, node:ab12..., path:src/a.py
    kind TEXT NOT NULL             -- task, decision, file, symbol, section, path
);
CREATE TABLE identity_state (      -- of everything below
    engine   TEXT NOT NULL,        -- the version of what followed the symbols
    boundary TEXT NOT NULL,        -- where a shallow clone ended then
    written  BLOB NOT NULL         -- another one each time: by it, it is known who was here since
);
CREATE TABLE identity_commits (    -- those whose files and symbols were followed, parents first
    number INTEGER PRIMARY KEY,
    oid    TEXT NOT NULL UNIQUE,
    at     INTEGER NOT NULL,       -- when it was made, in milliseconds
    files  INTEGER NOT NULL        -- how many it changed
);
CREATE TABLE identity_parents (
    child  INTEGER NOT NULL,
    place  INTEGER NOT NULL,       -- 0 is the first parent
    parent INTEGER NOT NULL,
    PRIMARY KEY (child, place)
) WITHOUT ROWID;
CREATE INDEX identity_parents_by_parent ON identity_parents (parent);
CREATE TABLE identity_events (     -- what commits did to files and symbols
    number    INTEGER PRIMARY KEY,
    node      INTEGER NOT NULL,
    commit_no INTEGER NOT NULL,
    kinds     TEXT NOT NULL,       -- `move body`; empty if there is nothing to tell
    added     INTEGER NOT NULL,    -- lines
    removed   INTEGER NOT NULL,
    digest    INTEGER,             -- of its text after that; NULL if it has none any more
    previous  INTEGER,             -- the event before it; those of a merge's other parents below
    change    BLOB NOT NULL,       -- places, confidence and more, as MessagePack
    name      TEXT                 -- of a symbol that is called so from then on
);
CREATE INDEX identity_events_by_name ON identity_events (name) WHERE name IS NOT NULL;
CREATE INDEX identity_events_by_node ON identity_events (node, digest);
CREATE INDEX identity_events_by_commit ON identity_events (commit_no);
CREATE TABLE identity_joins (      -- further events before an event
    event    INTEGER NOT NULL,
    previous INTEGER NOT NULL,
    PRIMARY KEY (event, previous)
) WITHOUT ROWID;
CREATE TABLE identity_steps (      -- what a commit made of a path: it counts until the next step
    path      BLOB NOT NULL,
    commit_no INTEGER NOT NULL,
    oid       TEXT NOT NULL,       -- empty if it was deleted
    taken     INTEGER NOT NULL,    -- which parent a merge has it from, 0 if it is no such merge
    file      INTEGER,             -- the last event of the file
    versions  BLOB NOT NULL,       -- the last events of its symbols, as MessagePack
    PRIMARY KEY (path, commit_no)
) WITHOUT ROWID;
CREATE INDEX identity_steps_by_commit ON identity_steps (commit_no);
CREATE TABLE identity_graves (     -- what was deleted, if it should be brought back
    path      BLOB NOT NULL,
    commit_no INTEGER NOT NULL,
    life      BLOB NOT NULL,
    event     INTEGER NOT NULL,
    PRIMARY KEY (path, commit_no, life)
) WITHOUT ROWID;
CREATE TABLE lineage_inputs (      -- what edges were derived from, so that they can be taken back
    id      INTEGER PRIMARY KEY,
    deriver TEXT NOT NULL,
    scope   TEXT NOT NULL,         -- the checkout that says so; empty if it is of Git or the store
    name    TEXT NOT NULL,         -- a commit, a task, a file
    stamp   TEXT NOT NULL,         -- another one if it says something else now
    UNIQUE (deriver, scope, name)
);
CREATE TABLE lineage_hinges (      -- words: when one means something else, so does the input
    input INTEGER NOT NULL,
    word  TEXT NOT NULL,           -- path:src/a.py, part:src, name:run, task:T1
    PRIMARY KEY (word, input)
) WITHOUT ROWID;
CREATE INDEX lineage_hinges_by_input ON lineage_hinges (input);
CREATE TABLE task_edges (          -- between tasks and decisions; subject, verb, object
    id         INTEGER PRIMARY KEY,
    scope      TEXT NOT NULL,
    from_id    INTEGER NOT NULL,
    to_id      INTEGER NOT NULL,
    edge_type  TEXT NOT NULL,
    source     TEXT NOT NULL,      -- the deriver
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    at         TEXT NOT NULL,      -- when it first happened; empty if nobody knows
    derived_at TEXT NOT NULL,
    UNIQUE (scope, from_id, to_id, edge_type, source)
);
CREATE INDEX task_edges_from ON task_edges (from_id, edge_type);
CREATE INDEX task_edges_to ON task_edges (to_id, edge_type);
CREATE TABLE task_code_edges (     -- from tasks, decisions and documents to files and symbols
    id         INTEGER PRIMARY KEY,
    scope      TEXT NOT NULL,
    from_id    INTEGER NOT NULL,
    node_id    INTEGER NOT NULL,
    node_kind  TEXT NOT NULL,
    edge_type  TEXT NOT NULL,
    source     TEXT NOT NULL,
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    at         TEXT NOT NULL,
    derived_at TEXT NOT NULL,
    UNIQUE (scope, from_id, node_id, edge_type, source)
);
CREATE INDEX task_code_edges_from ON task_code_edges (from_id, edge_type);
-- With all that says how many tasks share some code: a closure asks that of hundreds of nodes.
CREATE INDEX task_code_edges_node
    ON task_code_edges (node_id, edge_type, from_id, confidence, scope, at);
CREATE TABLE task_evidence (       -- what an edge of task_edges stands on
    edge       INTEGER NOT NULL,
    input      INTEGER NOT NULL,
    confidence REAL NOT NULL,
    at         TEXT NOT NULL,
    pointer    TEXT NOT NULL,
    detail     TEXT NOT NULL,      -- as JSON
    commit_no  INTEGER             -- the commit that shows it; NULL if it is a text that does
);
CREATE INDEX task_evidence_by_edge ON task_evidence (edge);
CREATE INDEX task_evidence_by_input ON task_evidence (input);
CREATE TABLE code_evidence (       -- the same of task_code_edges
    edge       INTEGER NOT NULL,
    input      INTEGER NOT NULL,
    confidence REAL NOT NULL,
    at         TEXT NOT NULL,
    pointer    TEXT NOT NULL,
    detail     TEXT NOT NULL,
    commit_no  INTEGER
);
-- With all that says whether it counts: a question as of a commit asks that of thousands.
CREATE INDEX code_evidence_by_edge ON code_evidence (edge, commit_no, confidence, at);
CREATE INDEX code_evidence_by_input ON code_evidence (input);
CREATE TABLE commit_tasks (        -- which commits are work on which tasks
    commit_no  INTEGER NOT NULL,
    task       INTEGER NOT NULL,   -- of lineage_nodes
    confidence REAL NOT NULL,
    how        TEXT NOT NULL,      -- named, body, listed, merge, claim
    input      INTEGER NOT NULL,   -- of lineage_inputs: what says so
    PRIMARY KEY (commit_no, task, input)
) WITHOUT ROWID;
CREATE INDEX commit_tasks_by_task ON commit_tasks (task);
CREATE INDEX commit_tasks_by_input ON commit_tasks (input);
CREATE TABLE commit_undone (       -- which commits took back what others did
    commit_no  INTEGER NOT NULL,
    of_no      INTEGER NOT NULL,
    confidence REAL NOT NULL,
    symbols    INTEGER NOT NULL,   -- of how many; 0 if only its message says so
    PRIMARY KEY (commit_no, of_no)
) WITHOUT ROWID;
CREATE TABLE derivation_cursors (  -- how far a deriver has come
    deriver TEXT PRIMARY KEY,
    cursor  TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE lineage_flags (       -- what edges say against tasks; the vacuum reads it
    scope      TEXT NOT NULL,
    task       TEXT NOT NULL,      -- the key of its node
    flag       TEXT NOT NULL,      -- superseded, contradicted
    other      TEXT NOT NULL,      -- by what
    confidence REAL NOT NULL,
    at         TEXT NOT NULL,
    PRIMARY KEY (scope, task, flag, other)
) WITHOUT ROWID;
CREATE TABLE lineage_records (     -- what is told of tasks and decisions: stored strings
    scope  TEXT NOT NULL,
    node   INTEGER NOT NULL,       -- of lineage_nodes
    record TEXT NOT NULL,          -- as JSON
    PRIMARY KEY (scope, node)
) WITHOUT ROWID;
-- With all that says when a task was touched, and by whom: a sweep asks that of every task.
CREATE INDEX activities_by_task ON activities (task, task_source, kind, at, session)
    WHERE task <> '';
CREATE INDEX activities_by_session ON activities (session) WHERE task = '';
CREATE INDEX activities_by_file ON activities (file, start);
PRAGMA user_version = 9;
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

    def write(
        self, work: Callable[[sqlite3.Connection], object], *, wait_seconds: float = 0
    ) -> bool:
        """Change the index, if nobody else is at it. False if it stays as it is: no harm done."""
        lock = files.Lock(os.path.join(self._store_dir, LOCK_NAME), "index", wait_seconds)
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
        # Who writes much keeps others from reading only while it is written out at the end.
        connection.execute("PRAGMA cache_spill = OFF")
        return connection
