"""One SQLite file that is a store: is it ours, is it whole, which schema has it, what went wrong.

Never opens the file itself: when a process closes any descriptor of a file, POSIX drops all the
locks that it holds on it, and SQLite's are among them.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping

from tether import errors
from tether.hints import Any
from tether.store import port, schema, sql

_SQL = sql.Queries("store")
# "TETH": tells our file from any other SQLite database.
APPLICATION_ID = 0x54455448


@contextlib.contextmanager
def closing_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    """A connection that is not kept is closed: left open it would keep its locks."""
    try:
        yield
    except BaseException:
        connection.close()
        raise


def execute(
    connection: sqlite3.Connection, query: sql.Query, params: Mapping[str, object]
) -> list[port.Row]:
    try:
        cursor = connection.execute(query.text, params)
    except (sqlite3.IntegrityError, OverflowError, UnicodeEncodeError) as problem:
        raise port.RowRefused from problem
    # Closed also after an error: a row that cannot be read would keep its lock on the file, and
    # writers out, until the last trace of the error is collected.
    with contextlib.closing(cursor):
        if cursor.description is None:
            return []
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def execute_many(
    connection: sqlite3.Connection, query: sql.Query, rows: Iterable[Mapping[str, object]]
) -> None:
    try:
        connection.executemany(query.text, rows).close()
    except (sqlite3.IntegrityError, OverflowError, UnicodeEncodeError) as problem:
        raise port.RowRefused from problem


def pragma(connection: sqlite3.Connection, name: str) -> Any:
    with contextlib.closing(connection.execute(f"PRAGMA {name}")) as cursor:
        return cursor.fetchone()[0]


def has_content(path: str) -> bool:
    # A crash right after creation leaves a file of no bytes: a store that is not there yet.
    try:
        return os.path.getsize(path) > 0
    except FileNotFoundError:
        return False


def look(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns


def check_file(path: str) -> int:
    """Refuse what cannot be a database; the file's inode.

    By a look and never by opening it: closing any descriptor of the file would drop the locks that
    another connection of this process holds on it. What is in the file SQLite checks itself, after
    it has played back the journal of an interrupted write.
    """
    try:
        found = os.lstat(path)
    except OSError as problem:
        raise errors.StoreBusy("The store was just moved away. Nothing was changed.") from problem
    if stat.S_ISLNK(found.st_mode):
        raise errors.LinkRefused("The store's file is a link. It was not followed.")
    if not stat.S_ISREG(found.st_mode):
        raise errors.StoreForeign
    if not os.access(path, os.R_OK):
        raise errors.StoreForbidden
    return found.st_ino


def check_whole(connection: sqlite3.Connection, path: str) -> None:
    """Refuse a file that was cut off: SQLite itself would answer from the pages that are left."""
    # Inside a read transaction, because a commit in progress also looks short from outside.
    connection.execute("BEGIN")
    try:
        pages, page_bytes = pragma(connection, "page_count"), pragma(connection, "page_size")
        if os.path.getsize(path) < pages * page_bytes:
            raise errors.StoreCorrupt("The store's file was cut off. It was left as it is.")
    finally:
        connection.execute("COMMIT")


def check_ours(connection: sqlite3.Connection) -> None:
    if pragma(connection, "application_id") != APPLICATION_ID and pragma(
        connection, "schema_version"
    ):
        raise errors.StoreForeign


def meta(connection: sqlite3.Connection) -> dict[str, str]:
    return {row["key"]: row["value"] for row in execute(connection, _SQL.meta, {})}


def version(meta: Mapping[str, str]) -> schema.Version:
    try:
        return schema.Version(int(meta["schema_version"]), int(meta["min_reader"]))
    except (KeyError, ValueError, TypeError) as problem:
        raise errors.StoreCorrupt from problem


def create(connection: sqlite3.Connection, series: schema.Series) -> None:
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    _run_script(connection, series.whole("sqlite"))
    _set_version(connection, series.migrations("sqlite")[-1])


def migrate(connection: sqlite3.Connection, series: schema.Series) -> None:
    found = version(meta(connection))
    for migration in series.migrations("sqlite"):
        if migration.number > found.number:
            _run_script(connection, migration.script)
            _set_version(connection, migration)


def _set_version(connection: sqlite3.Connection, migration: schema.Migration) -> None:
    for key, value in (
        ("schema_version", migration.number),
        ("min_reader", migration.min_reader),
    ):
        execute(connection, _SQL.set_meta, {"key": key, "value": str(value)})


def _run_script(connection: sqlite3.Connection, script: str) -> None:
    # executescript() would commit first; statement by statement keeps the one transaction.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


class Translated:
    """Turns SQLite's errors into ours."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        if isinstance(problem, UnicodeDecodeError):
            # SQLite quotes the damaged part of a schema in its message.
            raise errors.StoreCorrupt from problem
        if isinstance(problem, sqlite3.Error) and (error := _error(problem)):
            raise error from problem
        if isinstance(problem, PermissionError):
            raise errors.StoreForbidden from problem
        if isinstance(problem, (NotADirectoryError, IsADirectoryError)):
            raise errors.StoreForeign from problem


def _error(problem: sqlite3.Error) -> errors.TetherError | None:
    """What happened, in our words; None for a mistake in our own SQL."""
    # Told apart by their words: they share a code with mistakes in our own SQL.
    if str(problem).startswith(("no such table", "no such column", "Could not decode")):
        return errors.StoreCorrupt("The store's file is not whole. It was left as it is.")
    # The low byte is the primary code, the rest says more of the same.
    code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
    make = _ERRORS.get(code)
    return make() if make else None


def _no_room() -> errors.TetherError:
    return errors.DiskFull("There is no room left for the store. Nothing was changed.")


def _bad_disk() -> errors.TetherError:
    return errors.StoreError(
        "The disk under the store reported an error. Nothing was changed.",
        hint="Check the disk and its free space, then repeat the command.",
    )


_ERRORS: dict[int, Callable[[], errors.TetherError]] = {
    sqlite3.SQLITE_BUSY: errors.StoreBusy,
    sqlite3.SQLITE_LOCKED: errors.StoreBusy,
    sqlite3.SQLITE_READONLY: errors.StoreReadOnly,
    sqlite3.SQLITE_PERM: errors.StoreReadOnly,
    # The journal cannot be made: the directory may not be written.
    sqlite3.SQLITE_CANTOPEN: errors.StoreReadOnly,
    sqlite3.SQLITE_CORRUPT: errors.StoreCorrupt,
    sqlite3.SQLITE_NOTADB: errors.StoreCorrupt,
    sqlite3.SQLITE_FULL: _no_room,
    sqlite3.SQLITE_IOERR: _bad_disk,
}
