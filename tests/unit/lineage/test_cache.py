"""Outlines from the index: the same as from the parser, or from the parser."""

from __future__ import annotations

import functools
import sqlite3
from pathlib import Path

import pytest

from tether.git import Oid
from tether.index import Index
from tether.lineage import cache, extracting, languages, symbols

BLOB = Oid("a" * 40)
OTHER = Oid("b" * 40)
PYTHON = languages.BY_NAME["python"]
SOURCE = b"# Why.\n@one\ndef f(a: int) -> int:\n    return 1\n\n\nclass C:\n    def m(self): ...\n"


class Counting:
    """Parses, and counts how often."""

    def __init__(self) -> None:
        self.parsed: list[Oid] = []

    def outline(
        self, oid: Oid, language: languages.Language, data: bytes
    ) -> symbols.Outline | None:
        self.parsed.append(oid)
        return extracting.extract(language, data)

    def part(self, oid: Oid, language: languages.Language, data: bytes) -> symbols.Outline | None:
        return self.outline(oid, language, data)


def look(
    store_dir: Path, blob: Oid = BLOB, language: languages.Language = PYTHON
) -> tuple[symbols.Outline | None, bool]:
    """What one command finds, and whether it had to parse."""
    parser = Counting()
    kept = cache.Cached(str(store_dir), parser)
    found = kept.outline(blob, language, SOURCE)
    kept.close()
    return found, bool(parser.parsed)


def test_what_was_parsed_once_is_not_parsed_again(tmp_path: Path) -> None:
    first, was_parsed = look(tmp_path)
    again, is_parsed = look(tmp_path)
    assert (was_parsed, is_parsed) == (True, False)
    assert again == first == extracting.extract(PYTHON, SOURCE)
    assert look(tmp_path, OTHER)[1]


def test_a_part_is_not_kept(tmp_path: Path) -> None:
    kept = cache.Cached(str(tmp_path), Counting())
    kept.part(BLOB, PYTHON, b"def g(): ...\n")
    kept.close()
    assert look(tmp_path)[1]


def test_another_version_of_the_extractor_parses_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(tmp_path)
    monkeypatch.setattr(languages, "EXTRACTOR_VERSION", languages.EXTRACTOR_VERSION + 1)
    languages.version_of.cache_clear()
    try:
        assert look(tmp_path)[1]
    finally:
        monkeypatch.undo()
        languages.version_of.cache_clear()


def test_another_grammar_parses_again(tmp_path: Path) -> None:
    """The same content under another name is another language."""
    look(tmp_path)
    assert look(tmp_path, language=languages.BY_NAME["ruby"])[1]


def test_damaged_rows_and_files_are_parsed_again(tmp_path: Path) -> None:
    first, _ = look(tmp_path)
    for damage in (b"", b"\xc1", b"\x93\x90\x90\xc2", 7, "text"):
        with sqlite3.connect(tmp_path / "index.db") as connection:
            connection.execute("UPDATE outlines SET outline = ?", (damage,))
        connection.close()
        found, _ = look(tmp_path)
        assert found is not None
        if damage != b"\x93\x90\x90\xc2":  # which is the outline of an empty file
            assert found == first
    (tmp_path / "index.db").write_bytes(b"no database")
    assert look(tmp_path) == (first, True)


def test_without_a_directory_it_works_all_the_same(tmp_path: Path) -> None:
    found, was_parsed = look(tmp_path / "nowhere")
    assert found is not None
    assert was_parsed
    assert not (tmp_path / "nowhere").exists()


def test_somebody_else_at_the_index_is_no_harm(tmp_path: Path) -> None:
    look(tmp_path)
    held = sqlite3.connect(tmp_path / "index.db", isolation_level=None)
    held.execute("BEGIN EXCLUSIVE")
    found, was_parsed = look(tmp_path)
    held.close()
    assert found is not None
    assert was_parsed


@pytest.mark.parametrize(("max_rows", "max_bytes"), [(100, 1 << 30), (1 << 30, 60_000)])
def test_the_oldest_are_dropped_when_there_are_too_many(
    tmp_path: Path, max_rows: int, max_bytes: int
) -> None:
    index = Index(str(tmp_path))
    for first in range(0, 300, 50):
        rows = [(Oid(f"{n:040x}"), "v", b"x" * 1000) for n in range(first, first + 50)]
        index.write(
            functools.partial(cache.keep, rows=rows, max_rows=max_rows, max_bytes=max_bytes)
        )
    kept = [int(blob, 16) for (blob,) in index.rows("SELECT blob FROM outlines")]
    index.close()
    assert len(kept) <= 100
    assert max(kept) == 299
    assert min(kept) > 100
