"""The identities of all symbols in the index: made by `forwards`, brought up to a commit, asked."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterator

import msgspec

from tether import index
from tether.git import Oid, objects
from tether.hints import Any, NamedTuple
from tether.lineage import encoding, forwards, graves, history, languages, library

# Another number makes everybody follow all symbols anew, because they come out otherwise.
ENGINE_VERSION = 3
_CHANGE = msgspec.msgpack.Decoder(encoding.ChangeWire)
_VERSIONS = msgspec.msgpack.Decoder(list[tuple[str, int]])
_CURSOR = "SELECT commit_oid, engine, boundary, written FROM identity_cursor"
_FILES = "SELECT path, oid, versions FROM identity_files"
_GRAVES = "SELECT path, life, node, event, steps FROM identity_graves"
_LAST = "SELECT max(number) FROM identity_events"
_EVENT = "SELECT change, previous, unknown FROM identity_events WHERE number = ?"
_OF_NODE = "SELECT max(number) FROM identity_events WHERE node = ?"
_ADD = "INSERT INTO identity_events VALUES (?, ?, ?, ?, ?, ?)"
_CLEAR = (
    "DELETE FROM identity_cursor",
    "DELETE FROM identity_files",
    "DELETE FROM identity_graves",
    "DELETE FROM identity_events",
)

_Rows = list[tuple[Any, ...]]


class Built(NamedTuple):
    """What was done to bring the identities up to a commit."""

    commit: Oid
    commits: int
    """New ones that were looked at."""
    events: int
    is_anew: bool
    """Whether everything was followed from the beginning."""
    is_kept: bool
    """Whether the index has it now; not if somebody else was at it or it cannot be written."""


class _Overtaken(Exception):
    """Somebody else wrote identities since these were begun."""


class _Base(NamedTuple):
    """What is built upon, as it was at one time."""

    standing: forwards.Standing
    next_event: int
    written: bytes


class _Sink:
    """Events on their way into the index, out of memory."""

    def __init__(self, first: int) -> None:
        self.connection = sqlite3.connect("", isolation_level=None)
        self.connection.execute(
            "CREATE TABLE events"
            " (number INTEGER, node TEXT, oid TEXT, change BLOB, previous BLOB, unknown BLOB)"
        )
        self.connection.execute("BEGIN")
        self._next = self.first = first

    @property
    def count(self) -> int:
        return self._next - self.first

    def add(self, event: forwards.Event) -> int:
        number = self._next
        self._next += 1
        change = msgspec.msgpack.encode(encoding.change_out(event.change))
        previous = msgspec.msgpack.encode(event.previous)
        unknown = msgspec.msgpack.encode([encoding.path_out(each) for each in event.unknown])
        row = (number, event.node, str(event.change.commit), change, previous, unknown)
        self.connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row)
        return number

    def rows(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.connection.execute("SELECT * FROM events ORDER BY number"))


class Identities:
    """What one index knows of all symbols."""

    def __init__(self, store_dir: str) -> None:
        self._index = index.Index(store_dir)

    def commit(self) -> Oid | None:
        """Up to where everything is known; None if nothing is, or it was found in another way."""
        for oid, engine, *_ in self._index.rows(_CURSOR):
            return Oid(oid) if engine == _engine() else None
        return None

    def bring(self, files: library.Library, tip: Oid, *, anew: bool = False) -> Built:
        """Follow all symbols up to a commit, from where it was left or from the beginning."""
        base = None if anew else self._base(_boundary(files))
        if base is not None and base.standing.commit == tip:
            return Built(tip, 0, 0, is_anew=False, is_kept=True)
        if base is not None:
            with contextlib.suppress(forwards.Unknown):
                return self._follow(files, tip, base)
        return self._follow(files, tip, None)

    def history(self, node: str) -> history.History | None:
        """What happened to a node, also if it is gone; None if there is no such node."""
        return self._index.read(lambda connection: _history(connection, node))

    def _base(self, boundary: str) -> _Base | None:
        """What is known; None if nothing is, or it was found in another way or with less."""
        cursor, last, files, yards = self._index.read(_rows) or ([], [], [], [])
        for oid, engine, was, written in cursor:
            if (engine, was) == (_engine(), boundary):
                next_event = 0 if last[0][0] is None else int(last[0][0]) + 1
                state = forwards.State(_files(files), _yards(yards))
                return _Base(forwards.Standing(Oid(oid), state), next_event, written)
        return None

    def _follow(self, files: library.Library, tip: Oid, base: _Base | None) -> Built:
        since = base.standing if base else None
        sink = _Sink(base.next_event if base else 0)
        with contextlib.closing(sink.connection):
            engine = forwards.Forwards(files, sink, since)
            standing = engine.run(tip)
            cursor = (str(tip), _engine(), _boundary(files), os.urandom(16))
            try:
                is_kept = self._index.write(lambda into: _write(into, sink, standing, base, cursor))
            except _Overtaken:
                is_kept = False
            return Built(tip, engine.commits, sink.count, since is None, is_kept)


def _rows(connection: sqlite3.Connection) -> list[_Rows]:
    """All that is needed to go on; what it says is found out when others may write again."""
    return [connection.execute(each).fetchall() for each in (_CURSOR, _LAST, _FILES, _GRAVES)]


def _files(rows: _Rows) -> forwards.Files:
    return {
        objects.as_path(path): forwards.File(
            Oid(oid), tuple(forwards.Version(*each) for each in _VERSIONS.decode(versions))
        )
        for path, oid, versions in rows
    }


def _yards(rows: _Rows) -> graves.Yards:
    found: dict[str, dict[bytes, graves.Grave]] = {}
    for path, life, node, event, steps in rows:
        found.setdefault(objects.as_path(path), {})[life] = graves.Grave(node, event, -steps)
    return {path: graves.Yard(0, each) for path, each in found.items()}


def _history(connection: sqlite3.Connection, node: str) -> history.History | None:
    last = _last_event(connection, node)
    if last is None:
        return None
    seen: set[int] = set()
    waiting = [last]
    found: dict[int, history.Change] = {}
    unknown: dict[str, None] = {}
    while waiting:
        number = waiting.pop()
        if number in seen:
            continue
        seen.add(number)
        for change, previous, why in connection.execute(_EVENT, (number,)):
            found[number] = encoding.change_in(_CHANGE.decode(change))
            waiting += msgspec.msgpack.decode(previous)
            unknown |= dict.fromkeys(map(encoding.path_in, msgspec.msgpack.decode(why)))
    told = tuple(found[number] for number in sorted(found, reverse=True) if found[number].kinds)
    return history.History(told, tuple(unknown), node)


def _last_event(connection: sqlite3.Connection, node: str) -> int | None:
    """What last happened to a node: as it stands, or to the last one that stood."""
    for _, _, versions in connection.execute(_FILES):
        for known, event in _VERSIONS.decode(versions):
            if known == node:
                return event
    [(last,)] = connection.execute(_OF_NODE, (node,))
    return None if last is None else int(last)


def _write(
    into: sqlite3.Connection,
    sink: _Sink,
    standing: forwards.Standing,
    base: _Base | None,
    cursor: tuple[Any, ...],
) -> None:
    """What is new; everything, if nothing was known."""
    since = base.standing if base else None
    was, now = since.state.files if since else {}, standing.state.files
    if base is None:
        for statement in _CLEAR:
            into.execute(statement)
    elif [written for *_, written in into.execute(_CURSOR)] != [base.written]:
        # The numbers of events that these follow may be those of others now.
        raise _Overtaken
    into.executemany(_ADD, sink.rows())
    changed = {path: file for path, file in now.items() if was.get(path) != file}
    gone = [(objects.path_bytes(path),) for path in {*was} - {*now}]
    into.executemany("DELETE FROM identity_files WHERE path = ?", gone)
    into.executemany(
        "INSERT OR REPLACE INTO identity_files VALUES (?, ?, ?)",
        (
            (objects.path_bytes(path), str(file.oid), msgspec.msgpack.encode(file.versions))
            for path, file in changed.items()
        ),
    )
    _write_yards(into, since.state.yards if since else {}, standing.state.yards)
    into.execute("DELETE FROM identity_cursor")
    into.execute("INSERT INTO identity_cursor VALUES (?, ?, ?, ?)", cursor)


def _write_yards(into: sqlite3.Connection, was: graves.Yards, now: graves.Yards) -> None:
    changed = [path for path in {*was, *now} if was.get(path) != now.get(path)]
    olds = [(objects.path_bytes(path),) for path in changed]
    into.executemany("DELETE FROM identity_graves WHERE path = ?", olds)
    rows = (
        (objects.path_bytes(path), life, each.node, each.event, now[path].steps - each.step)
        for path in changed
        if path in now
        for life, each in now[path].graves.items()
    )
    into.executemany("INSERT INTO identity_graves VALUES (?, ?, ?, ?, ?)", rows)


def _boundary(files: library.Library) -> str:
    """Where the history ends that is here, in a few letters: nothing, if it is whole."""
    if not files.boundary:
        return ""
    return hashlib.blake2b(" ".join(sorted(files.boundary)).encode(), digest_size=12).hexdigest()


def _engine() -> str:
    """What the identities depend on beside the history."""
    grammars = ", ".join(languages.version_of(each) for each in languages.LANGUAGES)
    return f"{ENGINE_VERSION}: {grammars}"
