"""Every file that holds evidence, how far it was read, and what it said: kept current in the index.

What the index has of a file is a function of what the file says now, however often it was looked at
while it grew. Nothing here fails because of a file: what cannot be read is a problem of that file.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator

from tether import redaction, text
from tether.evidence import model, places, readers
from tether.hints import NamedTuple
from tether.store import port
from tether.tasks.sources import patterns

# What is read between two commits to the index: who interrupts the first reading loses no more.
_COMMIT_BYTES = 256 * 1024 * 1024
# A file changed this recently may change again without a new stamp.
_RACY_NS = 2_000_000_000
_KNOWN = (
    "SELECT id, stamp, reader, is_ours, offset, anchor, state, facts, problems"
    " FROM evidence_files WHERE path = ?"
)
_KEEP = (
    "UPDATE evidence_files SET stamp = ?, reader = ?, is_ours = ?, offset = ?, anchor = ?,"
    " state = ?, facts = ?, session = ?, problems = ? WHERE id = ?"
)
_NEW = (
    "INSERT INTO evidence_files (path, source, stamp, reader, is_ours, offset, anchor, state,"
    " facts, session, problems) VALUES (?, ?, '', '', 1, 0, '', '{}', '', '', '[]')"
)
_ADD = "INSERT INTO activities VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ADD_EDIT = "INSERT OR IGNORE INTO edits VALUES (?, ?, ?, ?, ?)"
_FORGET = ("DELETE FROM activities WHERE file = ?", "DELETE FROM edits WHERE file = ?")
EDITED = "edited"


class Looked(NamedTuple):
    """What a look at everything came to."""

    files: int
    read: int
    """Those that had to be read."""
    read_bytes: int
    problems: tuple[model.Problem, ...]


class Ledger:
    """The evidence of one repository, in an index that may be changed."""

    def __init__(
        self, connection: sqlite3.Connection, finder: patterns.Finder, roots: tuple[str, ...]
    ) -> None:
        self._connection = connection
        self._aims = readers.Aims(finder, roots, self._has_file)
        self._names: set[str] = set()
        self._refused: list[model.Problem] = []

    def look(self, search: places.Search, tell: model.Tell = lambda _: None) -> Looked:
        """Bring everything forward to what the files say now."""
        seen: set[str] = set()
        amounts: list[int] = []
        uncommitted = 0
        with transaction(self._connection) as begun:
            for found in search.files():
                seen.add(found.path)
                amount = self._bring_forward(found)
                if amount is not None:
                    amounts.append(amount)
                    uncommitted += amount
                    tell(f"reading transcripts and logs: {len(amounts)} files")
                if uncommitted > _COMMIT_BYTES:
                    begun.step()
                    uncommitted = 0
            self._forget_all_but(seen)
        problems = (*search.problems, *self._refused, *self.problems())
        return Looked(len(seen), len(amounts), sum(amounts), problems)

    def problems(self) -> Iterator[model.Problem]:
        """What could not be read, of all files."""
        rows = self._connection.execute(
            "SELECT problems FROM evidence_files WHERE problems <> '[]' ORDER BY path"
        )
        for (problems,) in rows.fetchall():
            yield from (model.Problem(*each) for each in json.loads(problems))

    def _bring_forward(self, found: places.Found) -> int | None:
        """Read what is new in a file; how many bytes that was, None if nothing is new."""
        reader = readers.of(found.source)
        version = f"{reader.version} {self._aims.finder.version}"
        known = self._known(found.path)
        stamp = found.marks
        if known.reader == version and known.stamp == stamp:
            return None
        if known.reader != version:
            known = readers.Known(id=known.id)
        file_id = known.id or self._new(found)
        sink = _Sink(self._connection, file_id, found.path)
        self._connection.execute("SAVEPOINT file")
        try:
            update = reader.read(found, known, self._aims, sink)
        except OSError as problem:
            # What it said before still counts: it may be out of reach for a while only.
            self._connection.execute("ROLLBACK TO file")
            self._connection.execute("RELEASE file")
            message = f"it cannot be read: {problem.strerror}"
            self._refused.append(model.Problem(found.path, "", message))
            return None
        self._connection.execute("RELEASE file")
        if found.stamp.st_ctime_ns > time.time_ns() - _RACY_NS:
            stamp = ""
        self._keep(file_id, version, stamp, update)
        return update.read_bytes

    def _known(self, path: str) -> readers.Known:
        row = self._connection.execute(_KNOWN, (path,)).fetchone()
        if row is None:
            return readers.Known()
        number, stamp, reader, is_ours, offset, anchor, state, facts, problems = row
        told = tuple(model.Problem(*each) for each in json.loads(problems))
        known = (number, stamp, reader, bool(is_ours), offset, anchor, state)
        return readers.Known(*known, readers.from_json(facts), told)

    def _new(self, found: places.Found) -> int:
        return self._connection.execute(_NEW, (found.path, found.source)).lastrowid or 0

    def _keep(self, file_id: int, version: str, stamp: str, update: readers.Update) -> None:
        facts = update.facts
        values = (
            *(stamp, version, update.is_ours, update.offset, update.anchor, update.state),
            *(
                readers.as_json(facts),
                _stored(facts.session) if facts else "",
                json.dumps(_told(update)),
            ),
        )
        self._connection.execute(_KEEP, (*values, file_id))

    def _forget_all_but(self, seen: set[str]) -> None:
        rows = self._connection.execute(
            "SELECT id, path FROM evidence_files WHERE source NOT LIKE 'git:%'"
        )
        for file_id, path in rows.fetchall():
            if path not in seen:
                forget(self._connection, file_id)
                self._connection.execute("DELETE FROM evidence_files WHERE id = ?", (file_id,))

    def _has_file(self, path: str) -> bool:
        # By its name, which no two sessions share: who copied it may have had it elsewhere.
        if not self._names:
            rows = self._connection.execute("SELECT path FROM evidence_files")
            self._names = {os.path.basename(known) for (known,) in rows}
        return path.endswith(".jsonl") and os.path.basename(path) in self._names


class transaction:  # noqa: N801 (used like a function)
    """All of it, or what was committed on the way."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> transaction:
        self._connection.execute("BEGIN IMMEDIATE")
        return self

    def step(self) -> None:
        """What was done so far stays, whatever comes."""
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")
            self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK" if kind else "COMMIT")


class _Sink:
    """Puts the activities of one file into the index."""

    def __init__(self, connection: sqlite3.Connection, file_id: int, path: str) -> None:
        self._connection = connection
        self._file_id = file_id
        self._path = path

    def forget(self) -> None:
        forget(self._connection, self._file_id)

    def add(self, activities: Iterable[model.Activity]) -> None:
        rows, edits = [], []
        for each in activities:
            if each.what == EDITED and not each.task:
                start, _, end = each.pointer.rpartition("=")[2].partition("-")
                edits += [(self._file_id, start, end, _path(p), each.at) for p in each.files]
            else:
                rows.append(row(self._file_id, self._path, each))
        self._connection.executemany(_ADD, rows)
        self._connection.executemany(_ADD_EDIT, edits)


def forget(connection: sqlite3.Connection, file_id: int) -> None:
    """Drop what a file said."""
    for statement in _FORGET:
        connection.execute(statement, (file_id,))


def row(file_id: int, path: str, each: model.Activity) -> tuple[int | str, ...]:
    """An activity as a row; the path of its file stands only once, in the row of the file."""
    place = each.pointer.replace(path, "", 1) if path else each.pointer
    files = "\n".join(map(_path, each.files))
    return (
        *(file_id, _start(place), place, _stored(each.record), each.task_source, each.task),
        *(each.kind, each.what, each.at, _stored(each.session), _stored(each.text)),
        files,
    )


def _told(update: readers.Update) -> list[model.Problem]:
    """The first problems of a file, and how many more it has."""
    problems = list(dict.fromkeys(update.problems))
    told = problems[: readers.MAX_PROBLEMS]
    more = update.more_problems + len(problems) - len(told)
    return [*told, model.Problem(told[0].path, "", f"and {more} more problems")] if more else told


def _stored(value: str) -> str:
    # What is read from JSON may hold halves of characters.
    return value if value.isascii() else text.storable(value)


@functools.lru_cache(maxsize=4096)
def _path(value: str) -> str:
    """As it is written, but for secrets."""
    return redaction.redact(_stored(value))


def activity(source: str, path: str, found: tuple[str, ...]) -> model.Activity:
    """The activity of a row, without its first two columns."""
    place, record, task_source, task, kind, what, at, session, said, files = found
    pointer = place.replace(":#", f":{path}#", 1)
    paths = tuple(files.split("\n")) if files else ()
    return model.Activity(
        source, pointer, record, at, kind, what, task, task_source, session, said, paths
    )


def from_row(row: port.Row) -> model.Activity:
    """An activity as the store keeps it."""
    found = (
        *(row["place"], row["record"], row["task_source"], row["task"], row["kind"], row["what"]),
        *(row["at"] or "", row["session"], row["excerpt"], row["files"]),
    )
    return activity(row["source"], row["file"], found)


def edit(source: str, file: str, session: str, found: tuple[int, int, str, str]) -> model.Activity:
    """The activity of a row of `edits`, without its first column."""
    start, end, path, at = found
    # The same edit in a copy of its file has the same name.
    name = hashlib.blake2b(f"{session}/{at}/{path}".encode(), digest_size=12).hexdigest()
    pointer = f"file:{file}#bytes={start}-{end}"
    return model.Activity(
        source, pointer, f"edit:{name}", at, model.WORKED, EDITED, session=session, files=(path,)
    )


def _start(place: str) -> int:
    """The number in `file:#bytes=10-200`, `file:#line=7` or `row:#table/12`."""
    digits = place.partition("=")[2].partition("-")[0] or place.rpartition("/")[2]
    return int(digits) if digits.isdecimal() and len(digits) < 16 else 0
