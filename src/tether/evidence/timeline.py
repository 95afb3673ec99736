"""A task's whole life, from all that shows it: files, Git, the store.

The index says what can be read here and now. The store adds what it kept of files that are gone or
on other machines, what was claimed and moved, and whose work it was that names no task.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator

from tether import clock, errors, git, host, ids, text
from tether.agents import claims as claiming
from tether.agents import model as agents
from tether.evidence import attribution, commits, ledger, model, readers
from tether.git import reflog
from tether.hints import NamedTuple
from tether.store import events, port, sql

_SQL = sql.Queries("evidence")
_MAX_EVENTS = 10_000
_NUMBER = re.compile(r"[0-9]{1,15}")
_OF_TASK = (
    "SELECT f.source, f.path, place, record, task_source, task, kind, what, at, a.session, text,"
    " a.files FROM activities AS a JOIN evidence_files AS f ON f.id = a.file"
    # That it is not empty is said for the index, which is over such ids only.
    " WHERE task = ? AND task <> '' AND task_source = ?"
)
_OF_SESSION = (
    "SELECT f.source, f.path, place, record, task_source, task, kind, what, at, a.session, text,"
    " a.files FROM activities AS a JOIN evidence_files AS f ON f.id = a.file"
    " WHERE (a.session = :session OR (a.session > :below AND a.session < :above))"
    " AND task = '' AND at BETWEEN :since AND :until"
)
_TASKS = "SELECT DISTINCT task_source, task FROM activities WHERE task = ? AND task <> ''"
_TRANSCRIPTS = (
    "SELECT 1 FROM evidence_files WHERE session = ? AND source <> 'specstory:history' LIMIT 1"
)
_FACTS = "SELECT facts FROM evidence_files WHERE session = ? AND facts <> '' AND is_ours = 1"
_EDITS = (
    "SELECT f.source, f.path, f.session, start, end, e.path, at"
    " FROM evidence_files AS f JOIN edits AS e ON e.file = f.id"
    " WHERE (f.session = :session OR (f.session > :below AND f.session < :above))"
    " AND at BETWEEN :since AND :until"
)
_COMMITS = (
    "SELECT f.source, f.path, place, record, task_source, task, kind, what, at, a.session, text,"
    " a.files FROM activities AS a JOIN evidence_files AS f ON f.id = a.file"
    " WHERE f.path = ? AND start BETWEEN ? AND ? AND task = ''"
)
# What the event log tells of a task, as kinds of evidence; the rest is chatter about it.
_STATED = {
    events.CLAIM_TAKEN.name: "claimed",
    events.CLAIM_ADOPTED.name: "adopted",
    events.TASK_EDITED.name: "edited its file",
    events.HANDOFF_LEFT.name: "handed off",
}
_TAKEN = (events.CLAIM_TAKEN.name, events.CLAIM_ADOPTED.name)


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
    git_dirs: dict[str, str],
    host_id: str = "",
    repository: git.Git | None = None,
) -> Timeline:
    """The timeline of a task that goes by these ids; `git_dirs` of checkouts, by their tops.

    The repository says which of several commits of one second was first.
    """
    names = tuple(names)
    # What can be opened here comes before what the store kept of it.
    found = [
        *sorted(_in_index(connection, key, names), key=_order),
        *sorted(_in_store(store, key, names), key=_order),
        *_in_log(store, key),
        *_under_claims(connection, store, key, git_dirs, host_id),
    ]
    once = list(_once(_direct(connection, found)))
    ranks = _ranks(repository, once) if repository is not None else {}
    ordered = sorted(once, key=lambda each: _order(each, ranks))
    sessions = _sessions(connection, store, {each.session for each in ordered if each.session})
    return Timeline(key, tuple(ordered), tuple(sessions))


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
    ranks = {}
    for at, oids in at_once.items():
        if len(oids) < 2:
            continue
        try:
            made = repository.parents_first(oids, clock.parse(at))
        except errors.GitError:
            continue  # a damaged commit, which the look has told of: then by their names
        ranks.update({f"commit:{oid}": f"{number:06}" for number, oid in enumerate(made)})
    return ranks


def _order(each: model.Activity, ranks: dict[str, str] | None = None) -> tuple[str, ...]:
    # Many records of a file bear the same time: byte 752 comes before byte 1127.
    path, _, place = each.pointer.partition("#")
    path = (ranks or {}).get(path, path)
    place = _NUMBER.sub(lambda number: number[0].zfill(15), place)
    return each.at or "0", each.source, path, place, each.kind, each.what, each.task


def _once(found: Iterable[model.Activity]) -> Iterator[model.Activity]:
    """Each record once, as it was found first."""
    seen = set()
    for each in found:
        name = (each.source, each.record, each.task_source, each.task, each.kind, each.what)
        if name not in seen:
            seen.add(name)
            yield each


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
            yield from_row(row)


def from_row(row: port.Row) -> model.Activity:
    """An activity as the store keeps it."""
    found = (
        *(row["place"], row["record"], row["task_source"], row["task"], row["kind"], row["what"]),
        *(row["at"] or "", row["session"], row["excerpt"], row["files"]),
    )
    return ledger.activity(row["source"], row["file"], found)


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
            text.one_line(f"{event.actor}: {event.data.get('note', '')}".rstrip(": "), 240),
        )


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


def _under_claims(
    connection: sqlite3.Connection,
    store: port.Store,
    key: ids.TaskKey,
    git_dirs: dict[str, str],
    host_id: str,
) -> Iterator[model.Activity]:
    """What was done by who held the task, and is nowhere said to be for it."""
    wanted = (key.source, key.id)
    for claim in claiming.history(store.rows, key):
        window = _window(claim)
        done = [
            ledger.activity(source, path, tuple(found))
            for source, path, *found in connection.execute(_OF_SESSION, window)
        ]
        done += _edits(connection, window)
        done += [from_row(row) for row in store.rows(_SQL.of_session, **window)]
        beside = _claims(store, host_id, session=claim.session_id)
        yield from attribution.attributed(done, beside, wanted)
        git_dir = git_dirs.get(claim.worktree or "")
        if git_dir:
            beside = _claims(store, host_id, worktree=claim.worktree or "")
            if claim not in beside:
                continue  # of another machine: the same path only
            made = reflog.made(git_dir)
            plain = _commits_in(connection, claim, {each.oid for each in made})
            yield from attribution.attributed(plain, beside, wanted)
            # A commit bears the second only: what was made at once stands upon what was there.
            second = clock.parse(claim.claimed_at) // 1000 * 1000
            at_once = reflog.upon(made, _head_at(store, claim), second)
            early = [
                each for each in plain if each.at < claim.claimed_at and each.record in at_once
            ]
            for each in early:
                yield each._replace(
                    task_source=claim.source, task=claim.task, session=claim.session_id
                )


def edits_beside(
    connection: sqlite3.Connection, store: port.Store, session: str, since: str, host_id: str
) -> list[model.Activity]:
    """What a session edited from a time on, and no claim of it says for which task."""
    claims = _claims(store, host_id, session=session)
    window = {**_of_session(session), "since": since, "until": "9"}
    found = sorted(_edits(connection, window), key=_order)
    return [each for each in found if attribution.held_at(claims, each.at) is None]


def _edits(connection: sqlite3.Connection, window: dict[str, str]) -> list[model.Activity]:
    return [
        ledger.edit(source, path, session, (start, end, edited, at))
        for source, path, session, start, end, edited, at in connection.execute(_EDITS, window)
    ]


def _head_at(store: port.Store, claim: agents.Claim) -> str:
    """What was checked out when a claim was taken; empty if nobody knows."""
    wanted = events.Filter(task=claim.task, source=claim.source, session=claim.session_id)
    for event in events.latest(store, _MAX_EVENTS, wanted):
        if event.data.get("epoch") == claim.epoch and event.type in _TAKEN:
            return str(event.data.get("head") or "")
    return ""


def _window(claim: agents.Claim) -> dict[str, str]:
    """The time of a claim, and its session with those that it started itself."""
    return {
        **_of_session(claim.session_id),
        "since": claim.claimed_at,
        "until": claim.closed_at or "9",
    }


def _of_session(session: str) -> dict[str, str]:
    return {"session": session, "below": f"{session}.", "above": f"{session}/"}


def _claims(
    store: port.Store, host_id: str, *, session: str = "", worktree: str = ""
) -> list[agents.Claim]:
    rows = store.rows(
        _SQL.claims_overlapping,
        session=session,
        worktree=worktree,
        host_id=host_id,
        host_name=host.name(),
    )
    return [agents.claim(row) for row in rows]


def _commits_in(
    connection: sqlite3.Connection, claim: agents.Claim, made: set[git.Oid]
) -> list[model.Activity]:
    begin = clock.parse(claim.claimed_at) // 1000 * 1000  # a commit bears the second only
    end = clock.parse(claim.closed_at) if claim.closed_at else 2**53
    rows = connection.execute(_COMMITS, (commits.COMMITS, begin, end)).fetchall()
    found = [ledger.activity(source, path, tuple(row)) for source, path, *row in rows]
    return [each for each in found if each.record in made]


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
