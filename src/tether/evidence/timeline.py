"""A task's whole life, from all that shows it: files, Git, the store.

The index says what can be read here and now. The store adds what it kept of files that are gone or
on other machines, what was claimed and moved, and whose work it was that names no task.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator

from tether import clock, errors, git, ids, text
from tether.evidence import claimed, ledger, model, readers
from tether.evidence.history import commits_claimed, list_changes, naming
from tether.hints import NamedTuple
from tether.store import events, port, run_events, sql

_SQL = sql.Queries("evidence")
_MAX_EVENTS = 10_000
_NUMBER = re.compile(r"[0-9]{1,15}")
_OF_TASK = (
    "SELECT f.source, f.path, place, record, task_source, task, kind, what, at, a.session, text,"
    " a.files FROM activities AS a JOIN evidence_files AS f ON f.id = a.file"
    # That it is not empty is said for the index, which is over such ids only.
    " WHERE task = ? AND task <> '' AND task_source = ?"
)
_TASKS = "SELECT DISTINCT task_source, task FROM activities WHERE task = ? AND task <> ''"
_TRANSCRIPTS = (
    "SELECT 1 FROM evidence_files WHERE session = ? AND source <> 'specstory:history' LIMIT 1"
)
_FACTS = "SELECT facts FROM evidence_files WHERE session = ? AND facts <> '' AND is_ours = 1"
# What the event log tells of a task, as kinds of evidence; the rest is chatter about it.
_STATED = {
    events.CLAIM_TAKEN.name: "claimed",
    events.CLAIM_ADOPTED.name: "adopted",
    events.TASK_EDITED.name: "edited its file",
    events.HANDOFF_LEFT.name: "handed off",
    run_events.DEVELOPER_CHECKPOINT.name: "checkpoint",
    run_events.TASK_COMPLETE.name: "completed in a run",
}
# Where an event has words of somebody.
_WORDS = ("note", "checkpoint", "evidence_summary")


class Timeline(NamedTuple):
    """Everything that is known of a task, oldest first."""

    key: ids.TaskKey
    activities: tuple[model.Activity, ...]
    sessions: tuple[model.Session, ...]

    @property
    def last_worked_at(self) -> str:
        """When somebody last did or declared something; empty if nobody ever did."""
        return max((each.at for each in self.activities if each.kind in model.MOVING), default="")


def read(
    connection: sqlite3.Connection,
    store: port.Store,
    key: ids.TaskKey,
    names: Iterable[str],
    around: claimed.Around = claimed.NOTHING,
    also: Iterable[model.Activity] = (),
) -> Timeline:
    """The timeline of a task that goes by these ids; `also` is what was found of it otherwise."""
    names = tuple(names)
    # What can be opened here comes before what the store kept of it.
    indexed = list(_first(_in_index(connection, key, names)))
    found = [
        *indexed,
        *_first(_in_store(store, key, names)),
        *_in_log(store, key),
        *_naming(connection, key, names, around, indexed),
        *also,
        *claimed.done(connection, store, key, around),
        *commits_claimed.under_claims(connection, store, key, around),
    ]
    once = list(_once(_direct(connection, found)))
    ranks = _ranks(around.repository, once) if around.repository is not None else {}
    ordered = sorted(once, key=lambda each: _order(each, ranks))
    sessions = _sessions(connection, store, {each.session for each in ordered if each.session})
    return Timeline(key, tuple(ordered), tuple(sessions))


def _naming(
    connection: sqlite3.Connection,
    key: ids.TaskKey,
    names: tuple[str, ...],
    around: claimed.Around,
    indexed: list[model.Activity],
) -> Iterator[model.Activity]:
    """The commits that name a task as only who asks for it can tell."""
    if around.is_task(key.id):
        # To write a task down is no work on it.
        listed = {each.record for each in indexed if list_changes.is_new(each)}
        for each in naming.in_subjects(connection, key, names):
            is_listed = each.record in listed and each.kind == model.STATED
            yield each._replace(kind=model.LISTED) if is_listed else each
    # A number that only one feature has is one of its names.
    if around.repository is not None and key.id.rpartition(".")[2] not in names:
        yield from naming.of_feature(connection, around.repository, key)


def told_of(
    connection: sqlite3.Connection, store: port.Store, names: Iterable[str]
) -> list[ids.TaskKey]:
    """The tasks that go by one of these ids and of which anything is told, whatever their list."""
    found = set()
    for name in names:
        found |= {ids.TaskKey(*row) for row in connection.execute(_TASKS, (name,))}
        rows = store.rows(_SQL.tasks_called, task=name)
        found |= {ids.TaskKey(row["source"], row["task"]) for row in rows}
    return sorted(found)


def _direct(
    connection: sqlite3.Connection, found: list[model.Activity]
) -> Iterator[model.Activity]:
    """What SpecStory wrote down of a session does not count beside the session's transcript."""
    told: dict[str, bool] = {}
    for each in found:
        if each.source == "specstory:history" and each.session not in told:
            rows = connection.execute(_TRANSCRIPTS, (each.session,)).fetchall()
            told[each.session] = bool(rows)
        if each.source != "specstory:history" or not told[each.session]:
            yield each


def _ranks(repository: git.Git, found: Iterable[model.Activity]) -> dict[str, str]:
    """Names by which commits of one second stand in the order in which they were made."""
    at_once: dict[str, set[git.Oid]] = {}
    for each in found:
        scheme, _, oid = each.pointer.partition(":")
        if scheme == "commit" and each.at:
            at_once.setdefault(each.at, set()).add(git.Oid(oid))
    several = {at: oids for at, oids in at_once.items() if len(oids) > 1}
    if not several:
        return {}
    try:
        every = set().union(*several.values())
        made = repository.parents_first(every, clock.parse(min(several)))
    except errors.GitError:
        return {}  # a damaged commit, which the look has told of: then by their names
    return {f"commit:{oid}": f"{number:06}" for number, oid in enumerate(made)}


def _order(each: model.Activity, ranks: dict[str, str] | None = None) -> tuple[str, ...]:
    # Many records of a file bear the same time: byte 752 comes before byte 1127.
    path, _, place = each.pointer.partition("#")
    path = (ranks or {}).get(path, path)
    if place:
        place = _NUMBER.sub(lambda number: number[0].zfill(15), place)
    # What a commit says, and what it did to a list, stand together.
    origin = "git" if path != each.pointer.partition("#")[0] else each.source
    return each.at or "0", origin, path, place, each.source, each.kind, each.what, each.task


def _once(found: Iterable[model.Activity]) -> Iterator[model.Activity]:
    """Each record once, as it was found first."""
    seen = set()
    for each in found:
        name = _record(each)
        if name not in seen:
            seen.add(name)
            yield each


def _first(found: Iterable[model.Activity]) -> Iterable[model.Activity]:
    """Each record once, where it stands first, in whatever order they were found."""
    first: dict[tuple[str, ...], model.Activity] = {}
    for each in found:
        other = first.setdefault(_record(each), each)
        if other is not each and _order(each) < _order(other):
            first[_record(each)] = each
    return first.values()


def _record(each: model.Activity) -> tuple[str, ...]:
    return each.source, each.record, each.task_source, each.task, each.kind, each.what


def _in_index(
    connection: sqlite3.Connection, key: ids.TaskKey, names: Iterable[str]
) -> Iterator[model.Activity]:
    for name in names:
        for source, path, *found in connection.execute(_OF_TASK, (name, key.source)):
            yield ledger.activity(source, path, tuple(found))


def _in_store(
    store: port.Store, key: ids.TaskKey, names: Iterable[str]
) -> Iterator[model.Activity]:
    for name in names:
        for row in store.rows(_SQL.of_task, task=name, task_source=key.source):
            yield ledger.from_row(row)


def _in_log(store: port.Store, key: ids.TaskKey) -> Iterator[model.Activity]:
    wanted = events.Filter(task=key.id, source=key.source)
    for event in events.latest(store, _MAX_EVENTS, wanted):
        kind, what = _judged(event)
        pointer = f"event:{event.id}"
        yield model.Activity(
            "tether:event",
            pointer,
            pointer,
            event.at,
            kind,
            what,
            key.id,
            key.source,
            event.session or "",
            text.one_line(f"{event.actor}: {_words(event)}".rstrip(": "), 240),
        )


def _words(event: events.Event) -> str:
    return next((str(event.data[name]) for name in _WORDS if event.data.get(name)), "")


def _judged(event: events.Event) -> tuple[str, str]:
    """What kind of evidence an event is, and in a word."""
    data = event.data
    if event.type == events.MESSAGE_SENT.name:
        return model.MENTIONED, "message sent"
    if event.type == events.TASK_MOVED.name:
        # That a task is written down is no work on it.
        kind = model.LISTED if data.get("verb") == "new" else model.STATED
        return kind, f"{data.get('verb')}: {data.get('to')}"
    if event.type == events.CLAIM_CLOSED.name:
        # A sweep closes what the dead held: nobody did anything then.
        kind = model.STATED if data.get("by") else model.LISTED
        return kind, f"let go: {data.get('outcome')}"
    what = _STATED.get(event.type, "")
    return (model.STATED, what) if what else (model.LISTED, event.type.replace("_", " "))


def _sessions(
    connection: sqlite3.Connection, store: port.Store, wanted: set[str]
) -> Iterator[model.Session]:
    """What is known of the sessions: of one in several files the sum."""
    for session in sorted(wanted):
        rows = connection.execute(_FACTS, (session,))
        found = [readers.from_json(facts) for (facts,) in rows.fetchall()]
        if not found:
            kept = store.rows(_SQL.transcripts_of_session, session=session)
            found = [readers.from_json(row["facts"]) for row in kept if row["facts"] != "{}"]
        known = [each for each in found if each is not None]
        if known:
            yield merged(known)


def merged(parts: list[model.Session]) -> model.Session:
    """One session that is told of in several files: a resumed one, or one that was moved."""
    last = max(parts, key=lambda each: (each.last_at, each.pointer))
    started = [each.started_at for each in parts if each.started_at]
    limited = max(parts, key=lambda each: each.limited_at)
    return last._replace(
        started_at=min(started, default=""),
        compacted_at=max(each.compacted_at for each in parts),
        compactions=max(each.compactions for each in parts),
        limited_at=limited.limited_at,
        resets_at=limited.resets_at,
    )
