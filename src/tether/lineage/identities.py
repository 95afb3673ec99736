"""The identities of all files and symbols in the index: brought up to a commit, and asked.

Commits are followed once, whichever branches they are on, and what each made of a path is kept as a
step. So what stood somewhere at a commit is the last step on the way of first parents to it, and
following may go on from any commit that is known: another branch, a rebase, a reading that was
killed. What no branch has any more stays, and nobody comes by it.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
from collections.abc import Iterator

from tether import index
from tether.git import Git, Oid, objects
from tether.hints import Any, NamedTuple
from tether.lineage import forwards, history, kept, languages, library, resuming

# So much is written down together: who is killed loses no more.
_BATCH_EVENTS = 4000
_WAIT_SECONDS = 20.0
_MAX_ATTEMPTS = 4
_STATE = "SELECT engine, boundary, written FROM identity_state"
_NUMBER = "SELECT number FROM identity_commits WHERE oid = ?"
_LAST = (
    "SELECT coalesce((SELECT max(number) FROM identity_commits), 0),"
    " coalesce((SELECT max(number) FROM identity_events), 0)"
)
_TIPS = "SELECT oid FROM identity_commits WHERE number NOT IN (SELECT parent FROM identity_parents)"
_EVERY = "SELECT number, oid FROM identity_commits"
_PARENTS = "SELECT child, parent FROM identity_parents"
_CLEAR = (
    "DELETE FROM identity_state",
    "DELETE FROM identity_commits",
    "DELETE FROM identity_parents",
    "DELETE FROM identity_events",
    "DELETE FROM identity_joins",
    "DELETE FROM identity_steps",
    "DELETE FROM identity_graves",
    "DELETE FROM commit_tasks",
    "DELETE FROM commit_undone",
    "DELETE FROM derivation_cursors",
    # What was derived from commits has their numbers.
    "DELETE FROM lineage_inputs WHERE scope = ''",
    "DELETE FROM task_evidence WHERE input NOT IN (SELECT id FROM lineage_inputs)",
    "DELETE FROM code_evidence WHERE input NOT IN (SELECT id FROM lineage_inputs)",
    "DELETE FROM task_edges WHERE id NOT IN (SELECT edge FROM task_evidence)",
    "DELETE FROM task_code_edges WHERE id NOT IN (SELECT edge FROM code_evidence)",
)
_ADD_COMMIT = "INSERT INTO identity_commits VALUES (?, ?, ?, ?)"
_ADD_PARENT = "INSERT INTO identity_parents VALUES (?, ?, ?)"
_ADD_EVENT = (
    "INSERT INTO identity_events VALUES"
    " (?, (SELECT id FROM lineage_nodes WHERE key = ?), ?, ?, ?, ?, ?, ?, ?, ?)"
)
_ADD_JOIN = "INSERT OR IGNORE INTO identity_joins VALUES (?, ?)"
_ADD_STEP = "INSERT INTO identity_steps VALUES (?, ?, ?, ?, ?, ?)"
_ADD_GRAVE = "INSERT OR IGNORE INTO identity_graves VALUES (?, ?, ?, ?)"
_ADD_NODE = "INSERT OR IGNORE INTO lineage_nodes (key, kind) VALUES (?, ?)"


class Built(NamedTuple):
    """What was done to bring the identities up to a commit."""

    commit: Oid
    commits: int
    """New ones that were looked at."""
    events: int
    is_anew: bool
    """Whether everything was followed from the beginning."""
    is_kept: bool
    """Whether the index has it now; not if it cannot be written."""
    is_whole: bool = True
    """Whether the commit was reached; not if only so many were wanted."""


class _Overtaken(Exception):
    """Somebody else wrote identities since these were begun."""


class _Unwritable(Exception):
    """The index cannot be written."""


class _Batch:
    """Commits on their way into the index, with their events."""

    def __init__(self, last_commit: int, last_event: int) -> None:
        self.numbers: dict[Oid, int] = {}
        """Of the commits that are written down or in here, as far as they were needed."""
        self.next_commit, self.next_event = last_commit + 1, last_event + 1
        self.rows: dict[str, list[tuple[Any, ...]]] = {}
        self.events: list[tuple[int, forwards.Event]] = []
        self.empty()

    def empty(self) -> None:
        self.events = []
        statements = (_ADD_NODE, _ADD_COMMIT, _ADD_PARENT, _ADD_JOIN, _ADD_STEP, _ADD_GRAVE)
        self.rows = {statement: [] for statement in statements}

    def add(self, event: forwards.Event) -> int:
        number = self.next_event
        self.next_event += 1
        self.events.append((number, event))
        return number

    def done(self, done: forwards.Done, parents: list[int]) -> None:
        """A commit was followed, and what it did was added."""
        commit, number = done.commit, self.next_commit
        self.next_commit += 1
        self.numbers[commit.oid] = number
        rows = self.rows
        rows[_ADD_COMMIT].append((number, commit.oid, commit.committed_ms, done.files))
        rows[_ADD_PARENT] += [(number, place, parent) for place, parent in enumerate(parents)]
        for step in done.steps:
            path = objects.path_bytes(step.path)
            rows[_ADD_STEP].append((path, number, *resuming.step_out(step)))
            rows[_ADD_GRAVE] += [(path, number, life, e) for life, e in step.gone.items()]

    def event_rows(self) -> Iterator[tuple[Any, ...]]:
        for number, event in self.events:
            change = event.change
            place = change.after or change.before
            kind = place.kind if place else ""
            kind = kind if kind in ("file", "section") else "symbol"
            self.rows[_ADD_NODE].append((event.node, kind))
            previous = event.previous
            self.rows[_ADD_JOIN] += [(number, each) for each in previous[1:]]
            yield (
                *(number, event.node, self.numbers[change.commit], " ".join(change.kinds)),
                *(event.lines.added, event.lines.removed, event.digest),
                *(previous[0] if previous else None, kept.change_out(change, event.unknown)),
                _new_name(change),
            )


def _new_name(change: history.Change) -> str | None:
    """What a symbol is called from then on, if that is new."""
    before, after = change.before, change.after
    if after is None or after.kind in ("file", "section"):
        return None
    return after.name if before is None or before.name != after.name else None


class Identities:
    """What one index knows of all files and symbols."""

    def __init__(self, store_dir: str) -> None:
        self._index = index.Index(store_dir)

    def close(self) -> None:
        self._index.close()

    def knows(self, commit: Oid, boundary: str | None = None) -> bool:
        """Whether everything is known up to a commit, as this engine finds it."""
        for engine, was, _ in self._index.rows(_STATE):
            if engine == _engine() and boundary in (None, was):
                return bool(self._index.rows(_NUMBER, (commit,)))
        return False

    def tips(self) -> list[Oid]:
        """The last commits that are known; none if they were followed by another engine."""
        if not any(engine == _engine() for engine, *_ in self._index.rows(_STATE)):
            return []
        return [Oid(oid) for (oid,) in self._index.rows(_TIPS)]

    def frontier(self, git: Git) -> list[Oid]:
        """The last commits that are known and that Git still has.

        What a rebase or a forced push left behind is cleared away some day; what it was made upon
        is not.
        """
        tips = set(self.tips())
        if not tips or not git.missing(tips):
            return sorted(tips)
        known = {number: Oid(oid) for number, oid in self._index.rows(_EVERY)}
        gone = git.missing(known.values())
        here = {number for number, oid in known.items() if oid not in gone}
        followed = {parent for child, parent in self._index.rows(_PARENTS) if child in here}
        return sorted(known[number] for number in here - followed)

    def bring(
        self, files: library.Library, tip: Oid, *, anew: bool = False, at_most: int | None = None
    ) -> Built:
        """Follow all symbols up to a commit, from what is known; of new commits only so many."""
        boundary = kept.boundary_of(files.boundary)
        commits, events, is_anew, is_whole = 0, 0, False, False
        for _ in range(_MAX_ATTEMPTS):
            try:
                if anew or not self._is_ours(boundary):
                    self._begin(boundary)
                    is_anew, anew = True, False
                for done in self._follow(files, tip, at_most):
                    commits, events = commits + done[0], events + done[1]
                    is_whole = done[2]
                return Built(tip, commits, events, is_anew, is_kept=True, is_whole=is_whole)
            except _Overtaken:
                continue
            except _Unwritable:
                break
        return Built(tip, commits, events, is_anew, is_kept=False)

    def history(self, node: str) -> history.History | None:
        """What happened to a node, also if it is gone; None if there is no such node."""
        return self._index.read(lambda connection: kept.history_of_node(connection, node))

    def _is_ours(self, boundary: str) -> bool:
        return any(
            (engine, was) == (_engine(), boundary) for engine, was, _ in self._index.rows(_STATE)
        )

    def _begin(self, boundary: str) -> None:
        def work(into: sqlite3.Connection) -> None:
            for statement in _CLEAR:
                into.execute(statement)
            into.execute(
                "INSERT INTO identity_state VALUES (?, ?, ?)",
                (_engine(), boundary, os.urandom(16)),
            )

        if not self._index.write(work, wait_seconds=_WAIT_SECONDS):
            raise _Unwritable

    def _follow(
        self, files: library.Library, tip: Oid, at_most: int | None
    ) -> Iterator[tuple[int, int, bool]]:
        """What is written down piece by piece: commits, events, and whether that was all."""
        found = self._index.read(lambda c: _look(c, tip))
        if found is None:
            raise _Unwritable
        token, is_known, last_commit, last_event = found
        if is_known:
            yield 0, 0, True
            return
        batch = _Batch(last_commit, last_event)
        known = resuming.Kept(self._index)
        here = self.frontier(files.git)
        log = files.git.log([tip], exclude=here, parents_first=True, with_merges=True)
        new = list(itertools.islice(log, at_most))
        engine = forwards.Forwards(files, batch, known)
        count = 0
        for done in engine.follow(new):
            count += 1
            parents = [self._number(batch, parent) for parent in done.parents]
            batch.done(done, parents)
            if len(batch.events) >= _BATCH_EVENTS:
                token = self._write(batch, token)
                yield count, len(batch.events), False
                count = 0
                batch.empty()
        if count:
            self._write(batch, token)
        yield count, len(batch.events), bool(new) and new[-1].oid == tip

    def _number(self, batch: _Batch, oid: Oid) -> int:
        if oid not in batch.numbers:
            [(number,)] = self._index.rows(_NUMBER, (oid,))
            batch.numbers[oid] = number
        return batch.numbers[oid]

    def _write(self, batch: _Batch, token: bytes) -> bytes:
        following = os.urandom(16)
        events = list(batch.event_rows())

        def work(into: sqlite3.Connection) -> None:
            # The numbers that these follow may be those of others now.
            if [written for *_, written in into.execute(_STATE)] != [token]:
                raise _Overtaken
            into.executemany(_ADD_NODE, dict.fromkeys(batch.rows[_ADD_NODE]))
            into.executemany(_ADD_EVENT, events)
            for statement, rows in batch.rows.items():
                if statement != _ADD_NODE:
                    into.executemany(statement, rows)
            into.execute("UPDATE identity_state SET written = ?", (following,))

        if not self._index.write(work, wait_seconds=_WAIT_SECONDS):
            raise _Unwritable
        return following


def _look(connection: sqlite3.Connection, tip: Oid) -> tuple[bytes, bool, int, int]:
    """What has to be known to go on."""
    [(_, _, token)] = connection.execute(_STATE).fetchall()
    is_known = connection.execute(_NUMBER, (tip,)).fetchone() is not None
    [(commit, event)] = connection.execute(_LAST).fetchall()
    return token, is_known, commit, event


def _engine() -> str:
    """What the identities depend on beside the history."""
    grammars = ", ".join(languages.version_of(each) for each in languages.LANGUAGES)
    return f"{kept.ENGINE_VERSION}: {grammars}"
