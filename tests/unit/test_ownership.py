"""Whose an uncommitted file is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tether.evidence.unfinished import ownership

ALL: dict[str, Any] = {"is_all_own": True}


def at(minute: int) -> str:
    return f"2026-11-01T00:{minute:02}:00.000Z"


@pytest.mark.parametrize(
    ("files", "changed_at", "expected"),
    [
        ({}, at(5), False),
        (ALL, at(5), True),
        (ALL, "", True),
        ({"touched": frozenset({"a.py"})}, at(5), True),
        ({"reserved": ("*.py",)}, at(5), True),
        ({"reserved": ("src",)}, at(5), False),
        # Of others, whoever else was there.
        ({**ALL, "theirs": {"a.py": at(4)}}, at(5), None),
        ({**ALL, "their_reserved": ("a.*",)}, at(5), None),
        ({"theirs": {"a.py": at(4)}, "touched": frozenset({"a.py"})}, at(5), False),
        ({"theirs": {"a.py": at(4)}, "reserved": ("a.py",)}, at(5), False),
        ({"their_reserved": ("a.py",), "touched": frozenset({"a.py"})}, at(5), True),
        ({"their_reserved": ("a.py",), "reserved": ("a.py",)}, at(5), False),
        # Before the claim it was edited for another task, and is as it was left or is not.
        ({**ALL, "since": at(5), "theirs": {"a.py": at(3)}}, at(3), None),
        ({**ALL, "since": at(5), "theirs": {"a.py": at(3)}}, at(6), True),
        ({**ALL, "since": at(5), "theirs": {"a.py": at(3)}}, "", True),
        # From before and after the claim.
        ({**ALL, "since": at(5)}, at(4), False),
        ({"touched": frozenset({"a.py"}), "since": at(5)}, at(4), True),
        ({**ALL, "until": at(5)}, at(6), False),
        ({"touched": frozenset({"a.py"}), "until": at(5)}, at(6), False),
        ({**ALL, "since": at(5), "until": at(5)}, at(5), True),
    ],
)
def test_whose_a_file_is(files: dict[str, Any], changed_at: str, expected: bool | None) -> None:
    assert ownership.is_own("a.py", changed_at, ownership.Files(**files)) is expected


def test_a_file_that_is_gone_was_changed_at_no_time(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    assert ownership.changed_at(str(tmp_path / "a")).startswith("20")
    assert ownership.changed_at(str(tmp_path / "b")) == ""
    assert ownership.changed_at("a\0b") == ""
