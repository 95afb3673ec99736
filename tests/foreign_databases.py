"""Databases that other tools keep, made for tests: real files, open writers, damaged ones."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tests import parts

_WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
print("open", flush=True)
for line in sys.stdin:
    connection.execute(line)
    print("done", flush=True)
"""


def make(path: Path, *statements: str, journal: str = "wal") -> Path:
    """A database whose writers have all gone."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute(f"PRAGMA journal_mode={journal}")
        for statement in statements:
            connection.execute(statement)
    return path


class Writer:
    """A process that has a database open."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._hear()

    def run(self, *statements: str) -> None:
        assert self._process.stdin
        for statement in statements:
            self._process.stdin.write(statement.replace("\n", " ") + "\n")
            self._process.stdin.flush()
            self._hear()

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def end(self) -> None:
        self._process.communicate()

    def _hear(self) -> None:
        assert self._process.stdout
        assert self._process.stdout.readline()


@contextlib.contextmanager
def writer(path: Path) -> Iterator[Writer]:
    started = Writer(path)
    try:
        yield started
    finally:
        started.kill()


def beside(path: Path) -> dict[str, str]:
    """Every file in the directory of a database. What readers share changes with each of them."""
    return {
        each.name: ""
        if each.name.endswith("-shm")
        else hashlib.sha256(each.read_bytes()).hexdigest()
        for each in sorted(path.parent.iterdir())
    }


def as_somebody_else(work: Callable[[], bool]) -> bool:
    """Do something as a user who may write nowhere."""
    parts.need(os.geteuid() == 0, "root, to become another user")
    child = os.fork()
    if not child:
        code = 2
        try:
            os.setgid(65534)
            os.setuid(65534)
            code = 0 if work() else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
