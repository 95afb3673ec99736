"""Who else was at work where a task was: other claims, other sessions, and the files of each."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from tether import ids
from tether.agents import claims as claiming
from tether.agents import model as agents
from tether.evidence import attribution, claimed, readers
from tether.evidence.unfinished import reading
from tether.hints import NamedTuple
from tether.store import port

_FACTS = "SELECT facts FROM evidence_files WHERE facts <> '' AND is_ours = 1"
_EDITS = (
    "SELECT f.session, e.path, at FROM evidence_files AS f JOIN edits AS e ON e.file = f.id"
    " WHERE (f.session = :session OR (f.session > :below AND f.session < :above)) AND at >= :since"
)
# Of claims in the same checkout that were over before: whose files may still lie about.
_MAX_BEFORE = 50


class Own(NamedTuple):
    """What is the task's: its claims since it was last done, the newest first."""

    key: ids.TaskKey
    claims: tuple[agents.Claim, ...] = ()

    @property
    def checkout(self) -> str:
        """Where its last claim was."""
        return (self.claims[0].worktree or "") if self.claims else ""

    @property
    def since(self) -> str:
        """When it came there: whoever takes a task over goes on with what was left."""
        there = (each.claimed_at for each in self.claims if each.worktree == self.checkout)
        return min(there, default="")

    def is_of(self, session: str) -> bool:
        """Is a session one that held it, or was started by one?"""
        holders = {each.session_id for each in self.claims}
        return session in holders or any(session.startswith(f"{each}.") for each in holders)


class Others(NamedTuple):
    """Who was at work beside a task."""

    claims: tuple[agents.Claim, ...] = ()
    """Of other tasks: open in the task's checkout since it was claimed, or open anywhere now."""
    sessions: tuple[str, ...] = ()
    """That worked in its checkout since then."""
    edited: Mapping[str, str] = MappingProxyType({})
    """Absolute paths and when each was last edited for another task, in that checkout or now."""
    reserved: tuple[tuple[str, str], ...] = ()
    """(checkout, pattern) of those claims."""

    def are_in(self, checkout: str) -> bool:
        """Was anybody of them there?"""
        return any(each.worktree == checkout for each in self.claims)


def read(
    connection: sqlite3.Connection,
    store: port.Store,
    own: Own,
    roots: tuple[str, ...],
    host_id: str,
    asker: str = "",
) -> Others:
    """Look for them. Who asks counts only by what they have edited themselves."""
    other = [each for each in claiming.open_ones(store.rows) if each.key != own.key]
    there = claimed.of_checkout(store, own.checkout, host_id) if own.checkout else []
    there = [each for each in there if each.key != own.key]
    other += [each for each in there if each.closed_at is None or each.closed_at > own.since]
    other = list(dict.fromkeys(other))
    holders = {each.session_id for each in (*other, *there[-_MAX_BEFORE:])}
    edited: dict[str, str] = {}
    for session in sorted(holders):
        held = claimed.of_session(store, session, host_id)
        begin = min((each.claimed_at for each in held), default="")
        for path, at in _edits(connection, session, begin, _directories(connection, session)):
            under = attribution.held_at(held, at)
            if under is not None and under.key != own.key:
                edited[path] = max(at, edited.get(path, ""))

    def counts(session: str) -> bool:
        if own.is_of(session):
            return False
        return session != asker or bool(_edits(connection, session, own.since, {}))

    sessions = _sessions(connection, own, roots, counts) if own.checkout else []
    reserved = [
        (each.worktree or "", pattern)
        for each in other
        for pattern in claiming.reserved(store.rows, each)
    ]
    return Others(tuple(other), tuple(sessions), edited, tuple(reserved))


def _sessions(
    connection: sqlite3.Connection,
    own: Own,
    roots: tuple[str, ...],
    counts: Callable[[str], bool],
) -> list[str]:
    """The sessions that were at work in the task's checkout since it came there."""
    found = set()
    for (facts,) in connection.execute(_FACTS).fetchall():
        each = readers.from_json(facts)
        if each is None or each.last_at <= own.since or each.session in found:
            continue
        if reading.top_of(each.cwd, roots) == own.checkout and counts(each.session):
            found.add(each.session)
    return sorted(found)


def _edits(
    connection: sqlite3.Connection, session: str, since: str, directories: dict[str, str]
) -> list[tuple[str, str]]:
    """What a session and those that it started edited from a time on: absolute, and when."""
    where = {"session": session, "below": f"{session}.", "above": f"{session}/", "since": since}
    return [
        (os.path.normpath(os.path.join(directories.get(of, ""), path)), at)
        for of, path, at in connection.execute(_EDITS, where).fetchall()
    ]


def _directories(connection: sqlite3.Connection, session: str) -> dict[str, str]:
    """Where a session and those that it started worked."""
    rows: Iterable[tuple[str]] = connection.execute(
        f"{_FACTS} AND (session = ? OR (session > ? AND session < ?))",
        (session, f"{session}.", f"{session}/"),
    )
    found = [readers.from_json(facts) for (facts,) in rows]
    return {each.session: each.cwd for each in found if each is not None and each.cwd}
