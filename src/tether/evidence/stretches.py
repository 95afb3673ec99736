"""When a session was at work on a task: under its claims, or else from naming it to naming another.

A session goes from task to task. What it says and does in between names none, and counts for the
one that it named last.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from tether import clock, ids
from tether.agents import model as agents
from tether.evidence import attribution, model
from tether.hints import NamedTuple
from tether.store import port, sql

_SQL = sql.Queries("evidence")
_NAMING = (
    "SELECT at, task_source, task FROM evidence_files AS f JOIN activities AS a ON a.file = f.id"
    " WHERE f.session = ? AND task <> '' AND kind <> 'listed' AND at <> ''"
)
_END = "9"


class Stretch(NamedTuple):
    """A time, its first and its last moment included."""

    since: str
    until: str = _END
    """Later than any time if nothing ended it."""


def has(found: Iterable[Stretch], at: str) -> bool:
    """Does a moment lie in one of the stretches?"""
    return any(each.since <= at <= each.until for each in found)


def of_claims(claims: Iterable[agents.Claim], session: str) -> tuple[Stretch, ...]:
    """When a session, or the one that started it, held some claims."""
    return tuple(
        Stretch(each.claimed_at, each.closed_at or _END)
        for each in claims
        if session == each.session_id or session.startswith(f"{each.session_id}.")
    )


def between(own: Iterable[str], others: Iterable[str]) -> tuple[Stretch, ...]:
    """From each time at which a task is named to the next at which only others are."""
    mine = set(own)
    named = sorted((at, at in mine) for at in mine | set(others))
    found: list[Stretch] = []
    begin = ""
    for at, is_own in named:
        if is_own:
            begin = begin or at
        elif begin:
            found.append(Stretch(begin, clock.text(clock.parse(at) - 1)))
            begin = ""
    return (*found, Stretch(begin)) if begin else tuple(found)


def read(
    connection: sqlite3.Connection,
    store: port.Store,
    key: ids.TaskKey,
    activities: Iterable[model.Activity],
    session: str,
    claims: Iterable[agents.Claim],
) -> tuple[Stretch, ...]:
    """When a session without a claim of a task was at work on it.

    `activities` are the task's, `claims` all of the session's.
    """
    claims = list(claims)
    told = [e for e in activities if e.session == session and e.kind != model.LISTED and e.at]
    # What is said of a task while another one is held is said for the other one.
    own = [e.at for e in told if attribution.held_at(claims, e.at) is None]
    rows = connection.execute(_NAMING, (session,)).fetchall()
    if not rows:
        kept = store.rows(_SQL.named_in, session=session)
        rows = [(row["at"], row["task_source"], row["task"]) for row in kept]
    mine = {key.id, *(each.task for each in told)}
    others = [at for at, source, task in rows if source != key.source or task not in mine]
    others += [each.claimed_at for each in claims if each.key != key]
    return between(own, others)
