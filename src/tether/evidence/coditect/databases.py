"""SQLite files that others keep: read so that nothing about them changes.

A reader of a database in WAL mode makes files beside it where there are none. So such a database is
opened as one that cannot change, unless its writers are there, and looked at again afterwards.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping

from tether.evidence import model, records
from tether.hints import NamedTuple, TypeVar

T = TypeVar("T")
Wanted = Mapping[str, tuple[str, ...]]
"""What is wanted of a row, each under all the names that its column may have."""

_BUSY_SECONDS = 0.25
_ATTEMPTS = 3
_BATCH = 1000
# A longer value is no text of an agent, and hostile ones would fill the memory.
_MAX_VALUE_BYTES = 32 * 1024 * 1024
_MAX_PASSED_OVER = 100
# Where SQLite keeps the locks of those who read, in the file itself.
_SHARED_FIRST, _SHARED_BYTES = 0x40000002, 510
_MAGIC = b"SQLite format 3\0"
# Python cannot always decode what SQLite has to say of a damaged file.
_FAILURES = (sqlite3.Error, UnicodeError, OverflowError)
_MESSAGES = {
    sqlite3.SQLITE_BUSY: "another process has it locked",
    sqlite3.SQLITE_LOCKED: "another process has it locked",
    sqlite3.SQLITE_NOTADB: "it is not a database",
    sqlite3.SQLITE_CORRUPT: "it is damaged",
    sqlite3.SQLITE_TOOBIG: "a value is too long to be read",
}


class Row(NamedTuple):
    """What was wanted of a row; None for a column that its table does not have."""

    number: int
    values: dict[str, object]

    def text(self, name: str) -> str:
        return records.plain(self.values.get(name))

    def moment(self, name: str) -> str:
        return records.moment(self.values.get(name))

    @property
    def check(self) -> int:
        """Another row with the same number has another one."""
        return zlib.crc32(repr(sorted(self.values.items())).encode())


class Table(NamedTuple):
    """A table as it is there."""

    name: str
    columns: dict[str, str]
    """Names as they are written, by their names in small letters."""
    has_numbers: bool
    is_counting: bool
    """It never gives the same number to two rows."""


class Database:
    """An open database."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection = connection
        self.path = path
        self.problems: list[model.Problem] = []
        self.tables = {table.name.lower(): table for table in _tables(connection)}

    def rows(self, table: Table, wanted: Wanted, after: int = 0) -> Iterator[Row]:
        """The rows after a number, in order; up to where the file is damaged."""
        chosen = {
            key: column
            for key, names in wanted.items()
            if (column := next((table.columns[n] for n in names if n in table.columns), None))
        }
        passed_over, size = 0, _BATCH
        while True:
            count = 0
            try:
                for row in self._batch(table, chosen, after, size):
                    count += 1
                    after = row.number
                    yield row
            except _FAILURES as error:
                if size > 1 and table.has_numbers and _code(error) != sqlite3.SQLITE_BUSY:
                    # Python looks one row ahead, and so has lost the one before the damage.
                    size = 1
                    continue
                self._tell(f"{table.name}, after row {after}", error)
                passed_over += 1
                after = self._number_after(table, after) if _is_too_big(error) else 0
                if not after or passed_over > _MAX_PASSED_OVER:
                    return
                continue
            if count < size or not table.has_numbers:
                return
            size = _BATCH

    def after(self, table: Table, wanted: Wanted, since: Mapping[str, int]) -> int:
        """Where to go on: at the start, if the row that was read last is another one now."""
        number = since.get(table.name.lower(), 0)
        if not number or not table.has_numbers:
            return 0
        row = next(self.rows(table, wanted, number - 1), None)
        if row is not None and row.number == number:
            return number if row.check == since.get(f"{table.name.lower()}:check") else 0
        # It is gone. Only a table that counts does not use its number again.
        return number if table.is_counting and self._count(table) >= number else 0

    def _batch(self, table: Table, chosen: dict[str, str], after: int, size: int) -> Iterator[Row]:
        columns = ", ".join(["rowid" if table.has_numbers else "0", *map(_quoted, chosen.values())])
        statement = f"SELECT {columns} FROM {_quoted(table.name)}"  # noqa: S608 (quoted names)
        if table.has_numbers:
            statement += f" WHERE rowid > ? ORDER BY rowid LIMIT {size}"
        cursor = self._connection.execute(statement, (after,) if table.has_numbers else ())
        with contextlib.closing(cursor):
            for place, (number, *values) in enumerate(cursor):
                yield Row(number or place, dict(zip(chosen, values, strict=True)))

    def _number_after(self, table: Table, number: int) -> int:
        statement = f"SELECT min(rowid) FROM {_quoted(table.name)} WHERE rowid > ?"  # noqa: S608
        return self._one(statement, (number,)) if table.has_numbers else 0

    def _count(self, table: Table) -> int:
        return self._one("SELECT seq FROM sqlite_sequence WHERE name = ?", (table.name,))

    def _one(self, statement: str, parameters: tuple[int | str]) -> int:
        with contextlib.suppress(*_FAILURES):
            row = self._connection.execute(statement, parameters).fetchone()
            return row[0] if row and isinstance(row[0], int) else 0
        return 0

    def _tell(self, where: str, error: Exception) -> None:
        self.problems.append(model.Problem(self.path, where, _message(error)))


def mark(table: Table, after: int, last: Row | None, since: Mapping[str, int]) -> dict[str, int]:
    """How far a table was read, for the next time."""
    name = table.name.lower()
    if last is not None:
        return {name: last.number, f"{name}:check": last.check}
    return {name: after, f"{name}:check": since.get(f"{name}:check", 0)}


def read(path: str, work: Callable[[Database], T]) -> tuple[T | None, list[model.Problem]]:
    """What a piece of work makes of a database, and what could not be read.

    The work is done again from the start if the database has changed under it.
    """
    try:
        real = os.path.realpath(path)
        descriptor = _open(real)
    except (OSError, ValueError):
        return None, [model.Problem(path, "", "it cannot be opened")]
    try:
        header = os.pread(descriptor, 100, 0)
        if not header:
            return None, []
        if not header.startswith(_MAGIC):
            return None, [model.Problem(path, "", "it is not a database")]
        return _try(path, _Place(real, descriptor), work)
    except OSError:
        return None, [model.Problem(path, "", "it cannot be read")]
    finally:
        # Only now: closing any descriptor of a file gives up all locks that this process has on it.
        os.close(descriptor)


def _open(real: str) -> int:
    """Open a database for its header and, as a reader, keep its writers from removing their files.

    The last writer removes the files beside a database when it goes. Were that to happen between
    our look at them and SQLite's, SQLite would make them anew.
    """
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a file")
        with contextlib.suppress(OSError):
            mode = fcntl.LOCK_SH | fcntl.LOCK_NB
            fcntl.lockf(descriptor, mode, _SHARED_BYTES, _SHARED_FIRST)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _try(
    path: str, place: _Place, work: Callable[[Database], T]
) -> tuple[T | None, list[model.Problem]]:
    problem = model.Problem(path, "", "it kept changing while it was read")
    is_frozen = False
    for _ in range(_ATTEMPTS):
        is_frozen = is_frozen or place.must_freeze()
        told = []
        if is_frozen and place.log_bytes() > 0:
            message = f"what is in {os.path.basename(place.real)}-wal was not read"
            told.append(model.Problem(path, "", message))
        before = place.stamp()
        try:
            with contextlib.closing(_connect(place.real, is_frozen)) as connection:
                database = Database(connection, path)
                result = work(database)
        except _FAILURES as error:
            problem = model.Problem(path, "", _message(error))
            # Files of writers that we may not use leave the database itself.
            is_frozen = not is_frozen and _is_out_of_reach(error) and place.uses_log()
            if not is_frozen:
                break
            continue
        if not is_frozen or before == place.stamp():
            return result, [*told, *database.problems]
        is_frozen = False
    return None, [problem]


class _Place(NamedTuple):
    """A database and the files beside it."""

    real: str
    descriptor: int

    def stamp(self) -> tuple[int, int, int]:
        found = os.stat(self.real)
        return found.st_size, found.st_mtime_ns, found.st_ino

    def log_bytes(self) -> int:
        """Of the write-ahead log; -1 if there is none."""
        try:
            return os.stat(f"{self.real}-wal").st_size
        except OSError:
            return -1

    def uses_log(self) -> bool:
        return 2 in os.pread(self.descriptor, 2, 18) or self.log_bytes() >= 0

    def must_freeze(self) -> bool:
        """Would a reader make files beside it?"""
        has_both = self.log_bytes() >= 0 and os.path.exists(f"{self.real}-shm")
        return self.uses_log() and not has_both


def _connect(real: str, is_frozen: bool) -> sqlite3.Connection:
    from urllib.parse import quote

    uri = f"file:{quote(os.fsencode(real))}?mode=ro{'&immutable=1' if is_frozen else ''}"
    connection = sqlite3.connect(uri, timeout=_BUSY_SECONDS, isolation_level=None, uri=True)
    try:
        connection.text_factory = bytes
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
        # Mapped into memory, a file that somebody cuts off would end this process.
        for pragma in ("query_only=1", "mmap_size=0", "trusted_schema=0", "cell_size_check=1"):
            connection.execute(f"PRAGMA {pragma}").close()
    except BaseException:
        connection.close()
        raise
    return connection


def _tables(connection: sqlite3.Connection) -> Iterator[Table]:
    """Real tables only: a view or a virtual table can make a reader compute for hours."""
    listed = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
    for name, sql in connection.execute(listed).fetchall():
        table, definition = records.plain(name), records.plain(sql).upper()
        rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
        columns = [records.plain(row[0]) for row in rows]
        names = {column.lower(): column for column in columns}
        has_numbers = "WITHOUT ROWID" not in definition and "rowid" not in names
        yield Table(table, names, has_numbers, "AUTOINCREMENT" in definition)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _code(error: Exception) -> int:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def _is_too_big(error: Exception) -> bool:
    return _code(error) == sqlite3.SQLITE_TOOBIG


def _is_out_of_reach(error: Exception) -> bool:
    return _code(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM)


def _message(error: Exception) -> str:
    # SQLite's own words may quote what stands in the file.
    return _MESSAGES.get(_code(error), "it cannot be read")
