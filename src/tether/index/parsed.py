"""Files of a checkout and what was read from them, current by the rule that Git uses.

A row counts while size, times and inode of its file are as they were, and only if the file was at
rest when it was read: one that had just changed may change again within the same tick of the clock,
so it is read again, until it has been at rest. A file that is read again and has the same content,
as after a checkout and back, is not parsed again.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Mapping

from tether.hints import Any, NamedTuple
from tether.index import database

# Coarser than the clock of any file system that Git is used on.
_RACY_NS = 2_000_000_000
_KNOWN = (
    "SELECT path, stamp, facts FROM parsed_files"
    " WHERE worktree = ? AND parser = ? AND path >= ? AND path < ?"
)
_CHOSEN = (
    "SELECT path, stamp FROM parsed_files"
    " WHERE worktree = ? AND parser = ? AND stamp <> '' AND instr(facts, ?) > 0"
)
_RECORD = "SELECT hash, facts, record FROM parsed_files WHERE worktree = ? AND path = ?"
_FORGET = "DELETE FROM parsed_files WHERE worktree = ? AND path = ?"
_KEEP = "INSERT OR REPLACE INTO parsed_files VALUES (?, ?, ?, ?, ?, ?, ?)"


class Record(NamedTuple):
    """What was read from a file."""

    facts: str
    """A few words to choose by: fetched for every file, so they are short."""
    values: list[Any]
    """Everything else, as JSON takes it: fetched for those that were chosen."""


class Reader(NamedTuple):
    """How a file becomes a record."""

    version: str
    """Another one makes every file be parsed again."""
    fetch: Callable[[str], bytes | None]
    """The content of a file; None if it cannot be had now."""
    parse: Callable[[str, bytes | None], Record]


class Parsed:
    """The files below some directories and what they say, current as of a look at them."""

    def __init__(
        self,
        index: database.Index,
        worktree: str,
        below: list[str],
        stamps: Mapping[str, str],
        reader: Reader,
    ) -> None:
        self._index = index
        self._worktree = worktree
        self._reader = reader
        self._fresh: dict[str, Record] = {}
        self.facts = self._known(below, stamps, time.time_ns())

    def values(self, path: str) -> list[Any]:
        """Everything that is known of one of the files."""
        fresh = self._fresh.get(path)
        if fresh is None:
            # Read again if the row has gone meanwhile, or is damaged: only time is lost.
            fresh = self._kept(path, "") or self.read(path)
            self._fresh[path] = fresh
        return fresh.values

    def read(self, path: str) -> Record:
        """What the file itself says, whatever is kept of it."""
        fresh = self._reader.parse(path, self._reader.fetch(path))
        self._fresh[path] = fresh
        return fresh

    def _known(self, below: list[str], stamps: Mapping[str, str], looked_ns: int) -> dict[str, str]:
        current: dict[str, str] = {}
        outdated: list[str] = []
        for directory in below:
            # Everything below a directory, by the order of text: `0` comes right after `/`.
            wanted = (self._worktree, self._reader.version, f"{directory}/", f"{directory}0")
            for path, stamp, facts in self._index.rows(_KNOWN, wanted):
                if stamps.get(path) == stamp:
                    current[path] = facts
                else:
                    outdated.append(path)
        rows: list[tuple[str, ...]] = []
        if len(current) < len(stamps):
            rows = self._read_again(current, set(outdated), stamps, looked_ns)
        gone = [path for path in outdated if path not in stamps]
        if rows or gone:
            self._index.write(lambda connection: _keep(connection, self._worktree, rows, gone))
        return current

    def _read_again(
        self,
        current: dict[str, str],
        outdated: set[str],
        stamps: Mapping[str, str],
        looked_ns: int,
    ) -> list[tuple[str, ...]]:
        """Complete what is known; the rows to keep of it."""
        import hashlib

        rows: list[tuple[str, ...]] = []
        for path in [path for path in stamps if path not in current]:
            content = self._reader.fetch(path)
            known = None
            digest = ""
            if content is not None:
                digest = hashlib.blake2b(content, digest_size=16).hexdigest()
                known = self._kept(path, digest) if path in outdated else None
            record = known or self._reader.parse(path, content)
            self._fresh[path] = record
            current[path] = record.facts
            if digest:
                changed_ns = int(stamps[path].split("/")[2])
                stamp = stamps[path] if changed_ns < looked_ns - _RACY_NS else ""
                values = json.dumps(record.values, separators=(",", ":"))
                rows.append((path, stamp, record.facts, digest, self._reader.version, values))
        return rows

    def _kept(self, path: str, digest: str) -> Record | None:
        """What the index has of a file, if it is of this content."""
        for known, facts, values in self._index.rows(_RECORD, (self._worktree, path)):
            if digest in ("", known):
                try:
                    return Record(facts, json.loads(values))
                except ValueError:  # a damaged index
                    return None
        return None


def choose(index: database.Index, worktree: str, version: str, fact: str) -> list[str]:
    """The records that have something among their facts; none if one of those files has changed."""
    found = []
    for path, known in index.rows(_CHOSEN, (worktree, version, fact)):
        try:
            seen = os.stat(os.path.join(worktree, path), follow_symlinks=False)
        except OSError:
            return []
        if stamp(seen) != known:
            return []
        found += [record for _, _, record in index.rows(_RECORD, (worktree, path))]
    return found


def stamp(seen: os.stat_result) -> str:
    """What the file system says of a file without opening it: as one text, for one comparison."""
    return f"{seen.st_size}/{seen.st_mtime_ns}/{seen.st_ctime_ns}/{seen.st_ino}"


def _keep(
    connection: sqlite3.Connection, worktree: str, rows: list[tuple[str, ...]], gone: list[str]
) -> None:
    connection.executemany(_FORGET, [(worktree, path) for path in gone])
    connection.executemany(_KEEP, [(worktree, *row) for row in rows])
