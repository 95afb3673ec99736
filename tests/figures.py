"""The figures that harnesses find, kept for `docs/proofs/`."""

from __future__ import annotations

import os
import platform
import sqlite3
import subprocess
from pathlib import Path
from typing import NamedTuple


class Figure(NamedTuple):
    """One row of a proof."""

    room: str
    name: str
    values: dict[str, object]


class Figures:
    """Collects what one test found."""

    def __init__(self, room: str, kept: list[Figure]) -> None:
        self._room = room
        self._kept = kept

    def add(self, name: str, **values: object) -> None:
        self._kept.append(Figure(self._room, name, values))


def write(directory: Path, kept: list[Figure]) -> None:
    """One page for each room: what was run, on which commit, and what came out."""
    directory.mkdir(parents=True, exist_ok=True)
    commit = _commit()  # before the first page makes the tree differ from it
    for room in sorted({figure.room for figure in kept}):
        where = f"{os.cpu_count()} cores, Python {platform.python_version()}"
        run = f"`make proof ROOM={room}` at commit {commit}, {where}"
        lines = [f"# Proof of `{room}`", "", f"{run}, SQLite {sqlite3.sqlite_version}.", ""]
        for figure in kept:
            if figure.room == room:
                values = ", ".join(f"{_words(key)} {value}" for key, value in figure.values.items())
                lines.append(f"- **{figure.name}**: {values}")
        (directory / f"{room}.md").write_text("\n".join(lines) + "\n")


def _words(key: str) -> str:
    return key.replace("_", " ")


def _commit() -> str:
    describe = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    return subprocess.run(describe, capture_output=True, text=True, check=True).stdout.strip()
