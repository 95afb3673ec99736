"""The whole store as JSON lines, out and in: a backup, and the way from SQLite to PostgreSQL.

The first line says what follows, then one line for each row in a fixed order, and the last line
has their number and hash. So equal stores give equal files, whichever database they are in, and a
file that was cut off or changed is recognised before anything of it counts.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator

from tether import clock, errors, ids
from tether.hints import Any
from tether.store import events, port, remember_workspace_id, schema, sql

FORMAT = 1
# `meta` tells of the store itself, not of what happened in it.
_LEFT_OUT = frozenset(["meta"])
_STORE = sql.Queries("store")
# Columns that hold a time.
_TIMES = re.compile(r"at|[a-z_]{1,40}_(?:at|until)")


def export(
    store: port.Store, workspace_id: ids.WorkspaceId | None, emit: Callable[[bytes], object]
) -> int:
    """Emit the store line by line, as of one moment; the number of rows."""

    def work(snapshot: port.Snapshot) -> int:
        digest, count = hashlib.sha256(), 0
        header = {
            "tether_export": FORMAT,
            "schema_version": schema.OURS.version,
            "workspace_id": workspace_id,
        }
        line = _line(header)
        digest.update(line)
        emit(line)
        for table, columns in _tables().items():
            for row in snapshot.stream(_select(table, columns)):
                line = _line({"table": table, "row": row})
                digest.update(line)
                emit(line)
                count += 1
        emit(_line({"end": {"rows": count, "sha256": digest.hexdigest()}}))
        return count

    return store.snapshot(work)


def import_(
    store: port.Store,
    read: Callable[[], Iterable[bytes]],
    workspace_id: ids.WorkspaceId | None = None,
) -> int:
    """Fill an empty store from an export, all or nothing; the number of rows.

    `read` gives the lines from the start, each time it is called. `workspace_id` is whose store it
    becomes: other checkouts will ask it.
    """

    def work(transaction: port.Transaction) -> int:
        _require_empty(transaction)
        count = 0
        for table, row in _rows(read()):
            try:
                transaction.rows(_insert(table, list(row)), **row)
            except port.RowRefused as problem:
                raise errors.ExportInvalid(
                    f"Line {count + 2} has a row that does not fit into a store."
                    " Nothing was imported."
                ) from problem
            count += 1
        if transaction.rows(_STORE.uncounted):
            raise errors.ExportInvalid(
                "This export has rows that their counter has not reached. Nothing was imported."
            )
        if workspace_id is not None:
            remember_workspace_id(transaction, workspace_id)
        return count

    return store.write("import", work)


def _tables() -> dict[str, list[str]]:
    # Both databases have the same tables and columns; a test says so.
    tables = schema.OURS.tables("sqlite")
    return {name: columns for name, columns in tables.items() if name not in _LEFT_OUT}


def _require_empty(transaction: port.Transaction) -> None:
    for table in _tables():
        if table != "counters" and transaction.rows(_any(table)):
            raise errors.StoreNotEmpty


def _rows(lines: Iterable[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of an export, checked against its own header and end."""
    tables = _tables()
    digest, count = hashlib.sha256(), 0
    numbered = enumerate(lines, start=1)
    header = next(numbered, (1, b""))[1]
    _check_header(header)
    digest.update(header)
    for number, line in numbered:
        record = _record(line, number)
        if "end" in record:
            _check_end(record["end"], count, digest.hexdigest())
            if next(numbered, None) is not None:
                raise errors.ExportInvalid("There is more after the end of this export.")
            return
        table, row = _checked(record, number, tables)
        digest.update(line)
        count += 1
        yield table, row
    raise errors.ExportInvalid(
        f"The export ends after {count} rows without its last line: it was cut off."
        " Nothing was imported."
    )


def _checked(
    record: dict[str, Any], number: int, tables: dict[str, list[str]]
) -> tuple[str, dict[str, Any]]:
    """The table and the row of a record; ExportInvalid if a store could not hold or read it."""
    table, row = record.get("table"), record.get("row")
    if table not in tables or not isinstance(row, dict) or not set(row) <= set(tables[table]):
        raise errors.ExportInvalid(
            f"Line {number} has a table or a column that this Tether does not know."
            " Nothing was imported.",
            hint="Use the Tether that made the export, or a newer one.",
        )
    if not all(type(value) in (str, int, type(None)) for value in row.values()):
        raise errors.ExportInvalid(
            f"Line {number} has a value that no column holds. Nothing was imported."
        )
    if table == "events" and not events.is_readable(row):
        raise errors.ExportInvalid(
            f"Line {number} is not an event that could be read again. Nothing was imported."
        )
    if not all(map(_is_time, (row[name] for name in row if _TIMES.fullmatch(name)))):
        raise errors.ExportInvalid(f"Line {number} has a time that is none. Nothing was imported.")
    return table, row


def _is_time(value: object) -> bool:
    if value is None:
        return True
    try:
        clock.parse(str(value))
    except ValueError:
        return False
    return True


def _check_header(line: bytes) -> None:
    header = _record(line, 1)
    if header.get("tether_export") != FORMAT:
        raise errors.ExportInvalid
    version = header.get("schema_version")
    if type(version) is not int or version > schema.OURS.version:
        raise errors.ExportInvalid(
            "This export was made by a newer Tether. Nothing was imported.",
            hint="Upgrade Tether on this machine.",
        )


def _check_end(end: object, count: int, digest: str) -> None:
    if end != {"rows": count, "sha256": digest}:
        raise errors.ExportInvalid(
            "The rows of this export are not those that were exported. Nothing was imported."
        )


def _record(line: bytes, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise errors.ExportInvalid(
            f"Line {number} of this export is not JSON. Nothing was imported."
        ) from problem
    if not isinstance(record, dict):
        raise errors.ExportInvalid(f"Line {number} of this export is not a record.")
    return record


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, sort_keys=True, separators=(",", ":")).encode() + b"\n"


# The only composed SQL: every name is one of our own schema's.


def _select(table: str, columns: list[str]) -> sql.Query:
    order = ", ".join(f"{column} NULLS FIRST" for column in columns)
    text = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"  # noqa: S608 (own names)
    return sql.Query(f"export.{table}", "All rows in a fixed order.", text)


def _insert(table: str, columns: list[str]) -> sql.Query:
    names, values = ", ".join(columns), ", ".join(f":{column}" for column in columns)
    text = f"INSERT INTO {table} ({names}) VALUES ({values})"  # noqa: S608 (own names)
    if table == "counters":
        # A new store has its counters already.
        text += " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    return sql.Query(f"import.{table}", "One row.", text)


def _any(table: str) -> sql.Query:
    return sql.Query(f"any.{table}", "Is there a row?", f"SELECT 1 AS one FROM {table} LIMIT 1")  # noqa: S608 (own names)
