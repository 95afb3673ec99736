"""What will be deleted by its owner is written down in the store, before that happens.

Agents delete their transcripts after some weeks, and another machine never sees them. So what they
show goes into the store: where it stood, and an excerpt unless the settings say otherwise.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator

from tether import text
from tether.evidence import ledger, lines, model, readers
from tether.hints import Any, NamedTuple
from tether.store import port, sql

PERISHABLE = (
    "claude:transcript",
    "codex:rollout",
    "gemini:session",
    "gemini:whole",
    "cursor:transcript",
    "coditect:messaging",
)
_SQL = sql.Queries("evidence")
# In one transaction: others may want to write in between.
_ROWS = 10_000
# How a reader is called that keeps no texts.
_WITHOUT = " without texts"
# An index of PostgreSQL takes no longer key.
_MAX_PATH_CHARS = 1000
_FILES = (
    "SELECT id, path, source, session, reader, anchor, offset, facts FROM evidence_files"
    " WHERE is_ours = 1 AND source IN (?, ?, ?, ?, ?, ?) ORDER BY path"
)
# What is only listed is not kept, nor what no claim can ever tell the task of.
_ACTIVITIES = (
    "SELECT place, record, task_source, task, kind, what, at, session, text, files"
    " FROM activities WHERE file = ? AND start >= ? AND kind <> 'listed' AND (task <> '' OR ?)"
)
_EDITS = "SELECT start, end, path, at FROM edits WHERE file = ? AND start >= ?"


class File(NamedTuple):
    """A file in the index."""

    id: int
    path: str
    source: str
    session: str
    reader: str
    anchor: str
    offset: int
    facts: str


class Copy(NamedTuple):
    """What the store has of a file."""

    reader: str
    anchor: str
    read_to: int


def keep(
    connection: sqlite3.Connection,
    store: port.Store,
    host_id: str,
    *,
    with_excerpts: bool,
    sources: Iterable[str | None] = (None,),
) -> int:
    """Write down what the store does not have yet; how many files that was about.

    `sources` are the task lists whose ids were looked for; None stands for all.
    """
    sources = tuple(sources)
    rows = store.rows(_SQL.transcripts_of_host, host_id=host_id)
    copies = {row["file"]: Copy(row["reader"], row["anchor"], row["read_to"]) for row in rows}
    if not with_excerpts:
        _drop_excerpts(store, host_id, copies)
    changed = list(_changed(connection, copies, with_excerpts=with_excerpts))
    claimers = {row["session_id"] for row in store.rows(_SQL.claimers)}
    batch = _Batch(store, host_id)
    for file, copy in changed:
        begin, outdated = _from(file, copy, sources)
        batch.outdated += outdated
        has_claims = file.session.partition(".")[0] in claimers
        for each in _found(connection, file, begin, has_claims=has_claims):
            batch.rows.append(_row(each, host_id, file, with_excerpts=with_excerpts))
            if len(batch.rows) == _ROWS:
                batch.write()
        batch.read.append(_transcript(host_id, file, with_excerpts=with_excerpts))
    batch.write()
    return len(changed)


def _changed(
    connection: sqlite3.Connection, copies: dict[str, Copy], *, with_excerpts: bool
) -> Iterator[tuple[File, Copy | None]]:
    """The files of which the store does not have everything, with what it has."""
    for found in connection.execute(_FILES, PERISHABLE).fetchall():
        file = File(*found)
        file = file._replace(reader=file.reader + ("" if with_excerpts else _WITHOUT))
        copy = copies.get(file.path)
        is_kept = copy == Copy(file.reader, file.anchor, file.offset)
        if not is_kept and len(file.path) <= _MAX_PATH_CHARS:
            yield file, copy


def _from(
    file: File, copy: Copy | None, sources: tuple[str | None, ...]
) -> tuple[int, list[tuple[str, str | None]]]:
    """From where on a file is new to the store, and what of it, by list, counts no more."""
    if copy is None or not _has_grown(file, copy):
        return 0, []
    if copy.reader == file.reader:
        return copy.read_to, []
    # Another version of the adapter says everything anew. Who only looks for other ids says
    # something of those lists alone: another checkout may have others.
    is_same = _adapter(copy.reader) == _adapter(file.reader)
    return 0, [(file.path, each) for each in (sources if is_same else (None,))]


def _adapter(reader: str) -> tuple[str, bool]:
    """The version of the adapter in the name of a reader, and whether it kept texts."""
    return reader.partition(" ")[0], reader.endswith(_WITHOUT)


def _drop_excerpts(store: port.Store, host_id: str, copies: dict[str, Copy]) -> None:
    """Take back the texts that were kept before somebody decided against it."""
    older = [path for path, copy in copies.items() if not copy.reader.endswith(_WITHOUT)]
    if not older:
        return

    def work(transaction: port.Transaction) -> None:
        transaction.rows(_SQL.drop_excerpts, host_id=host_id)
        transaction.many(
            _SQL.drop_words,
            [{"host_id": host_id, "file": path, "reader": _WITHOUT} for path in older],
        )

    store.write("evidence", work)


class _Batch:
    """What goes into the store at once: rows of several files, or a part of one."""

    def __init__(self, store: port.Store, host_id: str) -> None:
        self._store = store
        self._host_id = host_id
        self.outdated: list[tuple[str, str | None]] = []
        """Files, and lists, of another reader: forgotten before anything new is written."""
        self.rows: list[dict[str, object]] = []
        self.read: list[dict[str, Any]] = []
        """Files that are complete with these rows."""

    def write(self) -> None:
        if self.rows or self.read:
            self._store.write("evidence", self._work)
        self.outdated, self.rows, self.read = [], [], []

    def _work(self, transaction: port.Transaction) -> None:
        for path, source in self.outdated:
            transaction.rows(_SQL.forget_file, host_id=self._host_id, file=path, task_source=source)
        transaction.many(_SQL.keep, self.rows)
        transaction.many(_SQL.keep_transcript, self.read)


def _has_grown(file: File, copy: Copy) -> bool:
    """Does the file still begin with what was written down of it?"""
    if copy.read_to > file.offset or not copy.anchor:
        return False
    try:
        descriptor = os.open(file.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return lines.anchor(descriptor, copy.read_to) == copy.anchor
    finally:
        os.close(descriptor)


def _found(
    connection: sqlite3.Connection, file: File, begin: int, *, has_claims: bool
) -> Iterator[model.Activity]:
    """What of a file is worth keeping, from a place in it on."""
    for found in connection.execute(_ACTIVITIES, (file.id, begin, has_claims)):
        yield ledger.activity(file.source, file.path, found)
    if has_claims:
        for edit in connection.execute(_EDITS, (file.id, begin)):
            yield ledger.edit(file.source, file.path, file.session, edit)


def _row(
    each: model.Activity, host_id: str, file: File, *, with_excerpts: bool
) -> dict[str, object]:
    return {
        "source": file.source,
        "record": each.record,
        "task_source": each.task_source,
        "task": each.task,
        "kind": each.kind,
        "what": each.what,
        "at": each.at or None,
        "session": each.session,
        "host_id": host_id,
        "file": file.path,
        "place": each.pointer.replace(file.path, "", 1),
        "excerpt": text.storable(each.text) if with_excerpts else "",
        "files": "\n".join(each.files),
    }


def _transcript(host_id: str, file: File, *, with_excerpts: bool) -> dict[str, Any]:
    facts = readers.from_json(file.facts)
    if facts is not None and not with_excerpts:
        facts = facts._replace(last_said="", title="")
    return {
        "host_id": host_id,
        "file": file.path,
        "source": file.source,
        "session": file.session,
        "reader": file.reader,
        "anchor": file.anchor,
        "read_to": file.offset,
        "facts": json.dumps(facts._asdict() if facts else {}, sort_keys=True),
    }
