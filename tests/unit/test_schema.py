"""The schema is one, whichever way and in whichever database it is made; SQL is never composed."""

from __future__ import annotations

import ast
import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tether
from tether import errors, ids
from tether.store import schema, sql

SOURCE = Path(tether.__file__).parent
DIALECTS: tuple[schema.Dialect, ...] = ("sqlite", "postgres")
SQL_FILES = sorted(path.stem for path in (SOURCE / "store" / "sql").glob("*.sql"))
BLOCKS = [query for name in SQL_FILES for query in sql.Queries(name).all()]


# Migrations


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_version_is_that_of_the_newest_migration(dialect: schema.Dialect) -> None:
    assert schema.OURS.migrations(dialect)[-1].number == schema.OURS.version


@pytest.mark.parametrize("dialect", DIALECTS)
def test_migrations_are_numbered_without_gaps(dialect: schema.Dialect) -> None:
    numbers = [migration.number for migration in schema.OURS.migrations(dialect)]
    assert numbers == list(range(1, schema.OURS.version + 1))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_migration_is_a_sql_file_with_a_number_and_a_name(dialect: schema.Dialect) -> None:
    for path in (SOURCE / "store" / "migrations" / dialect).iterdir():
        assert re.fullmatch(r"[0-9]{4}_[a-z_]+\.sql", path.name)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_migration_asks_for_a_newer_reader_than_itself(dialect: schema.Dialect) -> None:
    readers = [migration.min_reader for migration in schema.OURS.migrations(dialect)]
    assert all(1 <= reader <= n for n, reader in enumerate(readers, start=1))
    assert readers == sorted(readers)


def test_both_databases_have_the_same_migrations() -> None:
    def steps(dialect: schema.Dialect) -> list[tuple[int, int]]:
        return [(step.number, step.min_reader) for step in schema.OURS.migrations(dialect)]

    assert len({tuple(steps(dialect)) for dialect in DIALECTS}) == 1
    names = [
        sorted(path.name for path in (SOURCE / "store" / "migrations" / dialect).iterdir())
        for dialect in DIALECTS
    ]
    assert names[0] == names[1]


def test_a_migration_without_its_reader_is_refused(tmp_path: Path) -> None:
    for part in ("migrations", "schema"):
        shutil.copytree(Path(schema.OURS.directory) / part, tmp_path / part)
    (tmp_path / "migrations" / "sqlite" / "0002_more.sql").write_text("SELECT 1;\n")
    with pytest.raises(ValueError, match=r"0002_more\.sql"):
        schema.Series(str(tmp_path), 2).migrations("sqlite")


# What to do with a schema that is found


@pytest.mark.parametrize(
    ("number", "min_reader", "needs"), [(1, 1, True), (2, 1, True), (3, 1, False), (3, 3, False)]
)
def test_an_older_schema_is_brought_forward(number: int, min_reader: int, needs: bool) -> None:
    series = schema.OURS._replace(version=3)
    assert series.needs_migration(schema.Version(number, min_reader)) is needs


@pytest.mark.parametrize("min_reader", [1, 2, 3])
def test_a_newer_schema_that_we_can_read_is_left_as_it_is(min_reader: int) -> None:
    series = schema.OURS._replace(version=3)
    assert not series.needs_migration(schema.Version(9, min_reader))


def test_a_newer_schema_that_we_cannot_read_is_refused_with_both_numbers() -> None:
    with pytest.raises(errors.StoreTooNew, match=r"schema 9 .* schema 4; this one knows 3\b"):
        schema.OURS._replace(version=3).needs_migration(schema.Version(9, 4))


# One schema


def test_both_databases_have_the_same_tables_and_columns() -> None:
    assert schema.OURS.tables("sqlite") == schema.OURS.tables("postgres")


def scripts(dialect: schema.Dialect) -> dict[str, list[str]]:
    """The two ways to a schema."""
    steps = [migration.script for migration in schema.OURS.migrations(dialect)]
    return {"migrations": steps, "whole": [schema.OURS.whole(dialect)]}


def in_sqlite(steps: list[str]) -> dict[str, Any]:
    """What a database is after these scripts."""
    connection = sqlite3.connect(":memory:")
    try:
        for step in steps:
            connection.executescript(step)
        things = connection.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
        ).fetchall()
        tables = [name for kind, name, _, _ in things if kind == "table"]
        xinfo = "SELECT * FROM pragma_table_xinfo(?)"
        listed = "SELECT name, type, ncol, wr, strict FROM pragma_table_list ORDER BY name"
        counters = "SELECT name, value FROM counters ORDER BY name"
        return {
            "things": [(*rest, normalised(text or "")) for *rest, text in things],
            "columns": {name: connection.execute(xinfo, [name]).fetchall() for name in tables},
            "tables": connection.execute(listed).fetchall(),
            "counters": connection.execute(counters).fetchall(),
        }
    finally:
        connection.close()


def normalised(text: str) -> str:
    """One blank between words, none after brackets: how ALTER TABLE and people differ."""
    text = re.sub(r"--[^\n]*", " ", text)
    return re.sub(r"\s*([(),])\s*", r"\1", " ".join(text.split()))


def test_in_sqlite_the_migrations_add_up_to_the_whole_schema() -> None:
    ways = scripts("sqlite")
    assert in_sqlite(ways["migrations"]) == in_sqlite(ways["whole"])


def test_control_a_schema_that_differs_in_one_column_is_found() -> None:
    [whole] = scripts("sqlite")["whole"]
    base = in_sqlite([whole])
    for change in (("run TEXT,", "run TEXT NOT NULL,"), (" STRICT", ""), ("(type, id)", "(type)")):
        assert change[0] in whole
        assert in_sqlite([whole.replace(*change)]) != base


def test_the_tables_that_we_read_from_the_file_are_those_of_the_database() -> None:
    made = in_sqlite(scripts("sqlite")["whole"])["columns"]
    names = {table: [column[1] for column in columns] for table, columns in made.items()}
    assert names == schema.OURS.tables("sqlite")


def test_every_table_in_sqlite_is_strict() -> None:
    made = in_sqlite(scripts("sqlite")["whole"])["tables"]
    strict = {name: is_strict for name, kind, _, _, is_strict in made}
    assert all(strict[table] for table in schema.OURS.tables("sqlite"))


_CATALOG = {
    "columns": """
        SELECT c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod) AS type,
               a.attnotnull, coalesce(l.collname, '') AS collation, a.attidentity, a.attgenerated,
               coalesce(pg_get_expr(d.adbin, d.adrelid), '') AS default_value
        FROM pg_attribute a
        JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_collation l ON l.oid = a.attcollation
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE c.relnamespace = %(schema)s::regnamespace AND c.relkind = 'r' AND a.attnum > 0
          AND NOT a.attisdropped
        ORDER BY c.relname, a.attnum
    """,
    "indexes": """
        SELECT c.relname, pg_get_indexdef(i.indexrelid) AS definition, i.indisunique, i.indisprimary
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE c.relnamespace = %(schema)s::regnamespace ORDER BY c.relname
    """,
    "constraints": """
        SELECT conrelid::regclass::text AS relation, conname, contype,
               pg_get_constraintdef(oid) AS definition
        FROM pg_constraint WHERE connamespace = %(schema)s::regnamespace ORDER BY 1, 2
    """,
    "functions": """
        SELECT proname, pg_get_function_arguments(oid) AS arguments, provolatile, prosecdef,
               pg_get_function_result(oid) AS result, prosrc
        FROM pg_proc WHERE pronamespace = %(schema)s::regnamespace ORDER BY 1, 2
    """,
    "others": """
        SELECT relname, relkind::text FROM pg_class
        WHERE relnamespace = %(schema)s::regnamespace ORDER BY 1
    """,
    "triggers": """
        SELECT t.tgname, pg_get_triggerdef(t.oid) AS definition
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        WHERE c.relnamespace = %(schema)s::regnamespace AND NOT t.tgisinternal ORDER BY 1
    """,
}


def in_postgres(url: str, steps: list[str]) -> dict[str, Any]:
    """What a schema of its own is after these scripts, without the schema's name."""
    import psycopg
    from psycopg import rows
    from psycopg import sql as composing

    name = f"tether_{ids.WorkspaceId.generate()}"
    with psycopg.connect(url, row_factory=rows.dict_row) as connection:
        connection.execute(composing.SQL("CREATE SCHEMA {}").format(composing.Identifier(name)))
        connection.execute("SELECT set_config('search_path', %s, false)", [name])
        for step in steps:
            connection.execute(step)
        found: dict[str, Any] = {
            kind: connection.execute(query, {"schema": name}).fetchall()
            for kind, query in _CATALOG.items()
        }
        found["counters"] = connection.execute("SELECT * FROM counters ORDER BY name").fetchall()
        connection.rollback()
    return {
        kind: [
            {key: v.replace(name, "ours") if isinstance(v, str) else v for key, v in row.items()}
            for row in rows_
        ]
        for kind, rows_ in found.items()
    }


def test_in_postgresql_the_migrations_add_up_to_the_whole_schema(postgres_url: str) -> None:
    ways = scripts("postgres")
    one, other = (in_postgres(postgres_url, ways[way]) for way in ("migrations", "whole"))
    assert one == other
    assert all(one[kind] for kind in ("columns", "indexes", "constraints", "functions"))


def test_in_postgresql_text_sorts_as_in_sqlite_and_numbers_are_wide(postgres_url: str) -> None:
    made = in_postgres(postgres_url, scripts("postgres")["whole"])["columns"]
    assert {(column["type"], column["collation"]) for column in made} == {
        ("text", "C"),
        ("bigint", ""),
    }


def test_the_columns_of_postgresql_are_those_of_sqlite(postgres_url: str) -> None:
    theirs: dict[str, list[tuple[str, bool]]] = {}
    for column in in_postgres(postgres_url, scripts("postgres")["whole"])["columns"]:
        theirs.setdefault(column["relname"], []).append((column["attname"], column["attnotnull"]))
    ours = {
        table: [(column[1], bool(column[3])) for column in columns]
        for table, columns in in_sqlite(scripts("sqlite")["whole"])["columns"].items()
    }
    assert theirs == ours


def test_control_a_postgresql_schema_that_differs_is_found(postgres_url: str) -> None:
    [whole] = scripts("postgres")["whole"]
    base = in_postgres(postgres_url, [whole])
    changes = [
        ('session TEXT COLLATE "C"', "session TEXT"),
        ("value BIGINT", "value INTEGER"),
        (" WHERE run IS NOT NULL", ""),
        ("VOLATILE", "STABLE"),
        ("1 millisecond", "1 second"),
    ]
    for change in changes:
        assert change[0] in whole
        assert in_postgres(postgres_url, [whole.replace(*change)]) != base


# Named statements


def literals(statement: str) -> list[str]:
    return re.findall(r"'(?:[^']|'')*'", statement)


def test_there_are_statements() -> None:
    assert len(BLOCKS) >= 7


@pytest.mark.parametrize("name", SQL_FILES)
def test_every_block_of_a_file_is_found(name: str) -> None:
    content = (SOURCE / "store" / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    headers = re.findall(r"(?m)^-- name:\s*(\S+)", content)
    assert headers == [query.name.partition(".")[2] for query in sql.Queries(name).all()]
    assert len(headers) == len(set(headers))
    assert content.startswith("-- name: ")


@pytest.mark.parametrize("query", BLOCKS, ids=lambda query: query.name)
def test_every_block_has_a_line_of_purpose_and_one_statement(query: sql.Query) -> None:
    assert re.fullmatch(r"[A-Z].{8,100}\.", query.purpose)
    assert query.text
    assert ";" not in re.sub(r"'(?:[^']|'')*'", "", query.text)


@pytest.mark.parametrize("query", BLOCKS, ids=lambda query: query.name)
def test_parameters_are_named_and_stand_outside_of_literals(query: sql.Query) -> None:
    assert "?" not in query.text
    assert not [literal for literal in literals(query.text) if ":" in literal]
    # psycopg's casts would read as parameters.
    assert "::" not in query.text
    assert "%(" not in query.text


@pytest.mark.parametrize("query", BLOCKS, ids=lambda query: query.name)
def test_the_statement_for_postgresql_has_the_same_parameters(query: sql.Query) -> None:
    ours = re.findall(r":([a-z_]+)", query.text)
    theirs = re.findall(r"%\(([a-z_]+)\)s", query.pyformat)
    assert ours == theirs
    assert not re.search(r":[a-z]", query.pyformat)
    assert not re.search(r"%(?![(%])", query.pyformat.replace("%%", ""))


def test_a_percent_sign_is_escaped_for_postgresql_only() -> None:
    query = sql.Query("x", "", "SELECT 1 FROM events WHERE type LIKE 'a%' AND id % 2 = :rest")
    assert query.text.count("%") == 2
    assert query.pyformat == ("SELECT 1 FROM events WHERE type LIKE 'a%%' AND id %% 2 = %(rest)s")


def test_a_statement_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_block"):
        _ = sql.Queries("events").no_such_block


@pytest.mark.parametrize("query", BLOCKS, ids=lambda query: query.name)
def test_every_statement_is_understood_by_sqlite(query: sql.Query) -> None:
    connection = sqlite3.connect(":memory:")
    connection.create_function("tether_now", 1, lambda _: "2026-11-15T08:30:00.000Z")
    connection.create_function("tether_now_ms", 0, lambda: 1)
    connection.executescript(schema.OURS.whole("sqlite"))
    parameters = dict.fromkeys(re.findall(r":([a-z_]+)", query.text), 1)
    # Understood is enough: to run it, the parameters would have to make sense.
    connection.execute(f"EXPLAIN {query.text}", parameters).fetchall()
    connection.close()


# Composed SQL

_SQL_WORDS = re.compile(
    r"\b(?:SELECT|INSERT\s+(?:OR\s+\w+\s+)?INTO|UPDATE\s+\S+\s+SET|DELETE\s+FROM|REPLACE\s+INTO"
    r"|(?:CREATE|DROP|ALTER)\s+(?:UNIQUE\s+)?(?:TABLE|INDEX|SCHEMA|VIEW|FUNCTION|TRIGGER|DATABASE)"
    r"|PRAGMA|ATTACH|DETACH|VACUUM|TRUNCATE|ORDER\s+BY|WHERE|LIMIT|VALUES|RETURNING|SAVEPOINT"
    r"|ON\s+CONFLICT|SET\s+(?:LOCAL\s+)?\w+\s*(?:=|TO))\b"
)


def composed(source: str) -> Iterator[tuple[int, str]]:
    """(line, text) of every piece of SQL that is put together from parts."""
    for node in ast.walk(ast.parse(source)):
        text = ""
        if not isinstance(node, ast.expr):
            continue
        if isinstance(node, ast.JoinedStr):
            if any(isinstance(part, ast.FormattedValue) for part in node.values):
                text = _constants(node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.Add):
            if not (_is_constant(node.left) and _is_constant(node.right)):
                text = _constants(node)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("format", "format_map", "join", "replace", "substitute")
            # psycopg's own composition quotes what it is given.
            and not isinstance(node.func.value, ast.Call)
        ):
            text = _constants(node.func.value)
        if _SQL_WORDS.search(text):
            yield node.lineno, text


def _constants(node: ast.AST) -> str:
    parts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
    return " ".join(part for part in parts if isinstance(part, str))


def _is_constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant)


def is_allowed(path: str, line: str, text: str) -> bool:
    if path == "store/transfer.py":
        return "noqa: S608 (own names)" in line
    if path == "evidence/coditect/databases.py":
        # Databases of others: their tables and columns are named as they name them, in quotes.
        return "_quoted(" in line or text.startswith(("PRAGMA ", " WHERE rowid > ? "))
    return path.startswith("store/sqlite") and text.startswith("PRAGMA ")


def test_sql_is_not_composed_but_where_it_says_so() -> None:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name, source = path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8")
        lines = source.splitlines()
        found += [
            (name, number, text)
            for number, text in composed(source)
            if not is_allowed(name, lines[number - 1], text)
        ]
    assert found == []


@pytest.mark.parametrize(
    "planted",
    [
        'rows(f"SELECT * FROM {table}")',
        'rows("SELECT * FROM %s" % table)',
        'rows("SELECT * FROM {}".format(table))',
        'rows("DELETE FROM claims WHERE id = " + task)',
        'rows("SELECT 1 "\n  f"FROM events WHERE id = {n}")',
        'rows(f"UPDATE tasks SET x = {x}")',
        'rows(f"PRAGMA {x}")',
        'rows(" WHERE ".join(parts))',
        'rows(f"""\nINSERT INTO events VALUES ({x})""")',
        'rows(f"SET search_path TO {x}")',
    ],
)
def test_control_composed_sql_is_found(planted: str) -> None:
    assert list(composed(planted))


def test_control_the_allowed_places_are_really_seen() -> None:
    for name in ("store/transfer.py", "store/sqlite.py"):
        assert list(composed((SOURCE / name).read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "harmless",
    [
        'rows("SELECT * FROM events WHERE id = :id", id=x)',
        'f"Select the {thing} where it is."',
        'composing.SQL("CREATE SCHEMA {}").format(name)',
        'f"{count} rows were selected"',
    ],
)
def test_control_what_is_not_composed_sql_is_not_found(harmless: str) -> None:
    assert list(composed(harmless)) == []
