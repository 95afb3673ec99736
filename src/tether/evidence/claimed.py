"""What a session did while it held a task, and is nowhere said to be for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

from tether import git, host, ids
from tether.agents import claims as claiming
from tether.agents import model as agents
from tether.evidence import attribution, ledger, model
from tether.hints import NamedTuple
from tether.store import port, sql

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
    """What sessions did while they held the task, and no record names one."""
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
