"""The identities of all symbols in the index: made by `forwards`, brought up to a commit, asked."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

import msgspec

from tether import index
from tether.git import Oid, objects
from tether.hints import Any, NamedTuple
from tether.lineage import encoding, forwards, history, languages, library

# Another number makes everybody follow all symbols anew, because they come out otherwise.
ENGINE_VERSION = 2
_CHANGE = msgspec.msgpack.Decoder(encoding.ChangeWire)
_VERSIONS = msgspec.msgpack.Decoder(list[tuple[str, int]])
_CURSOR = "SELECT commit_oid, engine FROM identity_cursor"
_FILES = "SELECT path, oid, versions FROM identity_files"
_GRAVES = "SELECT life, node, event FROM identity_graves"
_LAST = "SELECT max(number) FROM identity_events"
_EVENT = "SELECT change, previous FROM identity_events WHERE number = ?"
_OF_NODE = "SELECT max(number) FROM identity_events WHERE node = ?"
_ADD = "INSERT INTO identity_events VALUES (?, ?, ?, ?, ?)"
_CLEAR = (
    "DELETE FROM identity_cursor",
    "DELETE FROM identity_files",
    "DELETE FROM identity_graves",
    "DELETE FROM identity_events",
)


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


class _Sink:
    """Events on their way into the index, out of memory."""

    def __init__(self, first: int) -> None:
        self.connection = sqlite3.connect("", isolation_level=None)
        self.connection.execute(
            "CREATE TABLE events (number INTEGER, node TEXT, oid TEXT, change BLOB, previous BLOB)"
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
        row = (number, event.node, str(event.change.commit), change, previous)
        self.connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?)", row)
        return number

    def rows(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.connection.execute("SELECT * FROM events ORDER BY number"))


class Identities:
    """What one index knows of all symbols."""

    def __init__(self, store_dir: str) -> None:
        self._index = index.Index(store_dir)

    def commit(self) -> Oid | None:
        """Up to where everything is known; None if nothing is, or it was found in another way."""
        for oid, engine in self._index.rows(_CURSOR):
            return Oid(oid) if engine == _engine() else None
        return None

    def bring(self, files: library.Library, tip: Oid, *, anew: bool = False) -> Built:
        """Follow all symbols up to a commit, from where it was left or from the beginning."""
        since = None if anew else self._standing()
        if since is not None and since.commit == tip:
            return Built(tip, 0, 0, is_anew=False, is_kept=True)
        if since is not None:
            with contextlib.suppress(forwards.Unknown):
                return self._follow(files, tip, since)
        return self._follow(files, tip, None)

    def history(self, node: str) -> history.History | None:
        """What happened to a node, also if it is gone; None if there is no such node."""
        last = self._last_event(node)
        if last is None:
            return None
        seen: set[int] = set()
        waiting = [last]
        found: dict[int, history.Change] = {}
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            for change, previous in self._index.rows(_EVENT, (number,)):
                found[number] = encoding.change_in(_CHANGE.decode(change))
                waiting += msgspec.msgpack.decode(previous)
        told = tuple(found[number] for number in sorted(found, reverse=True))
        return history.History(told, node=node)

    def _last_event(self, node: str) -> int | None:
        """What last happened to a node: as it stands, or to the last one that stood."""
        for _, _, versions in self._index.rows(_FILES):
            for known, event in _VERSIONS.decode(versions):
                if known == node:
                    return event
        [(last,)] = self._index.rows(_OF_NODE, (node,)) or [(None,)]
        return None if last is None else int(last)

    def _standing(self) -> forwards.Standing | None:
        commit = self.commit()
        if commit is None:
            return None
        files = {
            objects.as_path(path): forwards.File(
                Oid(oid), tuple(forwards.Version(*each) for each in _VERSIONS.decode(versions))
            )
            for path, oid, versions in self._index.rows(_FILES)
        }
        graves = {
            life: forwards.Version(node, event) for life, node, event in self._index.rows(_GRAVES)
        }
        return forwards.Standing(commit, files, graves)

    def _follow(self, files: library.Library, tip: Oid, since: forwards.Standing | None) -> Built:
        last = self._index.rows(_LAST) if since else []
        sink = _Sink(int(last[0][0]) + 1 if last and last[0][0] is not None else 0)
        with contextlib.closing(sink.connection):
            engine = forwards.Forwards(files, sink, since)
            standing = engine.run(tip)
            is_kept = self._index.write(lambda into: _write(into, sink, standing, since))
            return Built(tip, engine.commits, sink.count, since is None, is_kept)


def _write(
    into: sqlite3.Connection,
    sink: _Sink,
    standing: forwards.Standing,
    since: forwards.Standing | None,
) -> None:
    """What is new; everything, if nothing was known."""
    was = since.files if since else {}
    if since is None:
        for statement in _CLEAR:
            into.execute(statement)
    into.executemany(_ADD, sink.rows())
    changed = {path: file for path, file in standing.files.items() if was.get(path) != file}
    gone = [(objects.path_bytes(path),) for path in {*was} - {*standing.files}]
    into.executemany("DELETE FROM identity_files WHERE path = ?", gone)
    into.executemany(
        "INSERT OR REPLACE INTO identity_files VALUES (?, ?, ?)",
        (
            (objects.path_bytes(path), str(file.oid), msgspec.msgpack.encode(file.versions))
            for path, file in changed.items()
        ),
    )
    known = since.graves if since else {}
    graves = (
        (life, *version) for life, version in standing.graves.items() if known.get(life) != version
    )
    into.executemany("INSERT OR REPLACE INTO identity_graves VALUES (?, ?, ?)", graves)
    into.execute("DELETE FROM identity_cursor")
    into.execute("INSERT INTO identity_cursor VALUES (?, ?)", (str(standing.commit), _engine()))


def _engine() -> str:
    """What the identities depend on beside the history."""
    grammars = ", ".join(languages.version_of(each) for each in languages.LANGUAGES)
    return f"{ENGINE_VERSION}: {grammars}"
