"""What was done by who held a task, and is nowhere said to be for it."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Iterable, Iterator

from tether import clock, git, host, ids
from tether.agents import claims as claiming
from tether.agents import model as agents
from tether.evidence import attribution, commit_messages, commits, ledger, model
from tether.git import reflog
from tether.hints import NamedTuple
from tether.store import events, port, sql

_SQL = sql.Queries("evidence")
_MAX_EVENTS = 10_000
_OF_SESSION = (
    "SELECT f.source, f.path, place, record, task_source, task, kind, what, at, a.session, text,"
    " a.files FROM activities AS a JOIN evidence_files AS f ON f.id = a.file"
    " WHERE (a.session = :session OR (a.session > :below AND a.session < :above))"
    " AND task = '' AND at BETWEEN :since AND :until"
)
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
_COMMITTED = (
    "SELECT 1 FROM activities WHERE session = ? AND task = '' AND what = 'committed'"
    " AND at BETWEEN ? AND ?"
)
# Hooks may take their time between the command and the commit.
_COMMIT_MS = 60_000
_TAKEN = (events.CLAIM_TAKEN.name, events.CLAIM_ADOPTED.name)


class Around(NamedTuple):
    """What a timeline is told from besides: this machine, its checkouts, Git as it is now."""

    git_dirs: dict[str, str]
    """Of checkouts, by their tops."""
    host_id: str = ""
    repository: git.Git | None = None
    is_task: Callable[[str], bool] = lambda _: False
    """Is a word the id of some task?"""


NOTHING = Around({})


def done(
    connection: sqlite3.Connection, store: port.Store, key: ids.TaskKey, around: Around
) -> Iterator[model.Activity]:
    """What was done by who held the task, and is nowhere said to be for it."""
    wanted = (key.source, key.id)
    for claim in claiming.history(store.rows, key):
        window = _window(claim)
        found = [
            ledger.activity(source, path, tuple(row))
            for source, path, *row in connection.execute(_OF_SESSION, window)
        ]
        found += _edits(connection, window)
        found += [ledger.from_row(row) for row in store.rows(_SQL.of_session, **window)]
        beside = of_session(store, claim.session_id, around.host_id)
        yield from attribution.attributed(found, beside, wanted)
        git_dir = around.git_dirs.get(claim.worktree or "")
        if git_dir:
            beside = of_checkout(store, claim.worktree or "", around.host_id)
            if claim not in beside:
                continue  # of another machine: the same path only
            for each in _committed(connection, store, claim, beside, git_dir):
                about = commit_messages.labels(each.text)
                if not any(word != key.id and around.is_task(word) for word in about):
                    yield each


def _committed(
    connection: sqlite3.Connection,
    store: port.Store,
    claim: agents.Claim,
    beside: list[agents.Claim],
    git_dir: str,
) -> Iterator[model.Activity]:
    """The commits under a claim that name no task; `beside` are all claims of its checkout."""
    made = reflog.made(git_dir)
    # A commit bears the second only: what was made at once stands upon what was there.
    second = clock.parse(claim.claimed_at) // 1000 * 1000
    at_once = reflog.upon(made, _head_at(store, claim), second)
    for each in _commits_in(connection, claim, {entry.oid for entry in made}):
        is_early = each.at < claim.claimed_at
        if is_early and each.record not in at_once:
            continue
        under = attribution.committed_under(
            attribution.open_at(beside, claim.claimed_at if is_early else each.at),
            each.files,
            lambda other: claiming.reserved(store.rows, other),
            functools.partial(_committers, connection, each.at),
        )
        if under == claim:
            yield each._replace(task_source=claim.source, task=claim.task, session=claim.session_id)


def _committers(connection: sqlite3.Connection, at: str, sessions: Iterable[str]) -> set[str]:
    """Those of the sessions that are seen to have run `git commit` about then."""
    around = [clock.text(clock.parse(at) + ms) for ms in (-_COMMIT_MS, _COMMIT_MS)]
    return {
        session
        for session in sessions
        if connection.execute(_COMMITTED, (session, *around)).fetchone()
    }


def edits_beside(
    connection: sqlite3.Connection, store: port.Store, session: str, since: str, host_id: str
) -> list[model.Activity]:
    """What a session edited from a time on, and no claim of it says for which task."""
    claims = of_session(store, session, host_id)
    window = {**_of_session(session), "since": since, "until": "9"}
    found = sorted(_edits(connection, window), key=lambda each: each.at)
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


def of_session(store: port.Store, session: str, host_id: str) -> list[agents.Claim]:
    """Every claim of a session, oldest first."""
    return _claims(store, session, "", host_id)


def of_checkout(store: port.Store, worktree: str, host_id: str) -> list[agents.Claim]:
    """Every claim that was taken in a checkout of this machine, oldest first."""
    return _claims(store, "", worktree, host_id)


def _claims(store: port.Store, session: str, worktree: str, host_id: str) -> list[agents.Claim]:
    where = {"session": session, "worktree": worktree}
    rows = store.rows(_SQL.claims_overlapping, **where, host_id=host_id, host_name=host.name())
    return [agents.claim(row) for row in rows]


def _commits_in(
    connection: sqlite3.Connection, claim: agents.Claim, made: set[git.Oid]
) -> list[model.Activity]:
    begin = clock.parse(claim.claimed_at) // 1000 * 1000  # a commit bears the second only
    end = clock.parse(claim.closed_at) if claim.closed_at else 2**53
    rows = connection.execute(_COMMITS, (commits.COMMITS, begin, end)).fetchall()
    found = [ledger.activity(source, path, tuple(row)) for source, path, *row in rows]
    return [each for each in found if each.record in made]
