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
from typing import Any, NamedTuple

from tether.index import database

# Coarser than the clock of any file system that Git is used on.
_RACY_NS = 2_000_000_000
_KNOWN = (
    "SELECT path, stamp, record FROM parsed_files"
    " WHERE worktree = ? AND parser = ? AND path >= ? AND path < ?"
)
_HASH = "SELECT hash FROM parsed_files WHERE worktree = ? AND path = ?"
_FORGET = "DELETE FROM parsed_files WHERE worktree = ? AND path = ?"
_KEEP = "INSERT OR REPLACE INTO parsed_files VALUES (?, ?, ?, ?, ?, ?)"


class Reader(NamedTuple):
    """How a file becomes a record."""

    version: str
    """Another one makes every file be parsed again."""
    fetch: Callable[[str], bytes | None]
    """The content of a file; None if it cannot be had now."""
    parse: Callable[[str, bytes | None], list[Any]]
    """Plain values, as JSON takes them."""


def stamp(seen: os.stat_result) -> str:
    """What the file system says of a file without opening it: as one text, for one comparison."""
    return f"{seen.st_size}/{seen.st_mtime_ns}/{seen.st_ctime_ns}/{seen.st_ino}"


def refreshed(
    index: database.Index,
    worktree: str,
    below: list[str],
    stamps: Mapping[str, str],
    reader: Reader,
) -> dict[str, list[Any]]:
    """The records of these files, which are all that there are below some directories."""
    looked_ns = time.time_ns()
    current: dict[str, str] = {}
    outdated: dict[str, str] = {}
    for directory in below:
        # Everything below a directory, by the order of text: `0` comes right after `/`.
        wanted = (worktree, reader.version, f"{directory}/", f"{directory}0")
        for path, known, record in index.rows(_KNOWN, wanted):
            if stamps.get(path) == known:
                current[path] = record
            else:
                outdated[path] = record
    found = _decoded(current)
    rows: list[tuple[str, ...]] = []
    if len(found) < len(stamps):
        old = {path: (_hash(index, worktree, path), outdated[path]) for path in outdated}
        rows = _read_again(stamps, found, old, reader, looked_ns)
    gone = [path for path in outdated if path not in stamps]
    if rows or gone:
        index.write(lambda connection: _keep(connection, worktree, rows, gone))
    return found


def _decoded(texts: dict[str, str]) -> dict[str, list[Any]]:
    # One call for all of them: several times as fast as one for each.
    try:
        return dict(zip(texts, json.loads(f"[{','.join(texts.values())}]"), strict=True))
    except ValueError:  # a damaged index: everything is read again
        return {}


def _hash(index: database.Index, worktree: str, path: str) -> str:
    found = index.rows(_HASH, (worktree, path))
    return str(found[0][0]) if found else ""


def _read_again(
    stamps: Mapping[str, str],
    found: dict[str, list[Any]],
    outdated: Mapping[str, tuple[str, str]],
    reader: Reader,
    looked_ns: int,
) -> list[tuple[str, ...]]:
    """Complete what was found; the rows to keep of it."""
    import hashlib

    rows: list[tuple[str, ...]] = []
    for path in [path for path in stamps if path not in found]:
        content = reader.fetch(path)
        if content is None:
            found[path] = reader.parse(path, None)
            continue
        digest = hashlib.blake2b(content, digest_size=16).hexdigest()
        before, record = outdated.get(path, ("", ""))
        known = _decoded({path: record}) if before == digest else {}
        found[path] = known.get(path) or reader.parse(path, content)
        changed_ns = int(stamps[path].split("/")[2])
        kept_stamp = stamps[path] if changed_ns < looked_ns - _RACY_NS else ""
        kept = json.dumps(found[path], separators=(",", ":"))
        rows.append((path, kept_stamp, digest, reader.version, kept))
    return rows


def _keep(
    connection: sqlite3.Connection, worktree: str, rows: list[tuple[str, ...]], gone: list[str]
) -> None:
    connection.executemany(_FORGET, [(worktree, path) for path in gone])
    connection.executemany(_KEEP, [(worktree, *row) for row in rows])
