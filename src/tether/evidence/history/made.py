"""Where commits were made: by Git's log of each checkout, written down before that is deleted.

A commit does not say in which checkout it was made. The log of the checkout does, until the
worktree is removed; so what was made there while somebody held a task goes into the store.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sqlite3

from tether import clock, git, index, text
from tether.agents import model as agents
from tether.evidence import attribution, claimed, mentions
from tether.git import reflog
from tether.store import port, sql

_SQL = sql.Queries("evidence")
SOURCE = "git:made"
_KNOWN = "SELECT stamp FROM reflogs WHERE path = ?"
_KEEP = "INSERT OR REPLACE INTO reflogs VALUES (?, ?)"


def read(store: port.Store, host_id: str, worktree: str) -> list[reflog.Made]:
    """What the store knows to have been made in a checkout of a machine, oldest first."""
    rows = store.rows(_SQL.made_in, host_id=host_id, worktree=worktree, source=SOURCE)
    return [
        reflog.Made(
            git.Oid(row["place"].removeprefix("commit:")),
            clock.parse(row["at"]),
            row["files"],
            row["what"],
            row["excerpt"],
        )
        for row in rows
    ]


def keep(
    connection: sqlite3.Connection, store: port.Store, host_id: str, git_dirs: dict[str, str]
) -> None:
    """Write down what was made in these checkouts under claims, and is not written down yet."""
    for worktree, git_dir in sorted(git_dirs.items()):
        if text.storable(worktree) != worktree:
            continue  # whoever works there has no claim that could say so
        path = os.path.join(git_dir, "logs", "HEAD")
        stamp = _stamp(path)
        known = connection.execute(_KNOWN, (worktree,)).fetchone()
        if not stamp or (known and known[0] == stamp):
            continue
        claims = claimed.of_checkout(store, worktree, host_id)
        entries = [each for each in reflog.made(git_dir) if _is_held(claims, each.at_ms)]
        there = set(read(store, host_id, worktree)) if entries else set()
        new = [each for each in map(stored, entries) if each not in there]
        if new:
            store.write("evidence", functools.partial(_write, host_id, worktree, new))
        connection.execute(_KEEP, (worktree, stamp))


def _write(
    host_id: str, worktree: str, entries: list[reflog.Made], transaction: port.Transaction
) -> None:
    transaction.many(_SQL.keep, [_row(each, host_id, worktree) for each in entries])


def _stamp(path: str) -> str:
    try:
        return index.stamp(os.stat(path))
    except OSError:
        return ""  # never written, or refs that are kept in another format


def _is_held(claims: list[agents.Claim], at_ms: int) -> bool:
    """Was something held, at least when the second of a commit was over?"""
    return any(attribution.open_at(claims, clock.text(at_ms + more)) for more in (0, 999))


def stored(entry: reflog.Made) -> reflog.Made:
    """An entry as the store has it."""
    return entry._replace(subject=mentions.excerpt(entry.subject))


def _row(entry: reflog.Made, host_id: str, worktree: str) -> dict[str, object]:
    where = hashlib.blake2b(f"{host_id}/{worktree}".encode(), digest_size=6).hexdigest()
    return {
        "source": SOURCE,
        "record": f"{entry.oid}@{where}",
        "task_source": "",
        "task": "",
        "kind": "worked",
        "what": entry.how,
        "at": clock.text(entry.at_ms),
        "session": "",
        "host_id": host_id,
        "file": worktree,
        "place": f"commit:{entry.oid}",
        "excerpt": entry.subject,
        "files": entry.on,
    }
