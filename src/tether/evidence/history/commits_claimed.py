"""Commits that name no task, made where and while somebody held one.

What is rebased or amended later is made again then, but counts for who held something when it was
written first: that is told by its date, its subject and Git's log of the checkout together.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterable, Iterator

from tether import clock, git, ids
from tether.agents import claims as claiming
from tether.agents import model as agents
from tether.agents import roll
from tether.evidence import attribution, claimed, ledger, model
from tether.evidence.history import commit_messages, commits, made
from tether.git import reflog
from tether.hints import NamedTuple
from tether.store import events, port

_COMMITS = (
    "SELECT f.source, f.path, place, record, task_source, task, kind, what, at, a.session, text,"
    " a.files FROM activities AS a JOIN evidence_files AS f ON f.id = a.file"
    " WHERE f.path = ? AND start BETWEEN ? AND ? AND task = ''"
)
_COMMITTED = (
    "SELECT 1 FROM activities WHERE session = ? AND task = '' AND what = 'committed'"
    " AND at BETWEEN ? AND ?"
)
_WRITTEN = "SELECT oid, authored_ms, committed_ms FROM authored WHERE authored_ms BETWEEN ? AND ?"
# Hooks may take their time between the command and the commit; an editor, more.
_COMMIT_MS = 60_000
_EDITOR_MS = 3_600_000
_MAX_COMMITS = 500
_MAX_EVENTS = 10_000
_TAKEN = (events.CLAIM_TAKEN.name, events.CLAIM_ADOPTED.name)


class _Checkout(NamedTuple):
    """Where a claim was taken."""

    claims: list[agents.Claim]
    entries: list[reflog.Made]


def under_claims(
    connection: sqlite3.Connection, store: port.Store, key: ids.TaskKey, around: claimed.Around
) -> Iterator[model.Activity]:
    """The commits that were made under claims of a task, and name none."""
    known: dict[tuple[str, str], _Checkout] = {}
    history = claiming.history(store.rows, key)
    heads = _heads(store, key) if history else {}
    for claim in history:
        holder = roll.get(store.rows, claim.session_id)
        host_id = (holder.host_id if holder else "") or around.host_id
        place = (host_id, claim.worktree or "")
        if place not in known:
            known[place] = _checkout(store, around, *place)
        checkout = known[place]
        if claim not in checkout.claims:
            continue
        is_gone = host_id == around.host_id and claim.worktree not in around.git_dirs
        if is_gone and not checkout.entries:
            entries = _by_heads(around, claim, heads.get(claim.epoch, ""))
            checkout = checkout._replace(entries=entries)
        for each in _committed(connection, store, claim, checkout, heads.get(claim.epoch, "")):
            about = commit_messages.labels(each.text)
            if not any(word != key.id and around.is_task(word) for word in about):
                yield each


def _checkout(store: port.Store, around: claimed.Around, host_id: str, worktree: str) -> _Checkout:
    if not worktree:
        return _Checkout([], [])
    entries = set(made.read(store, host_id, worktree))
    git_dir = around.git_dirs.get(worktree)
    if git_dir and host_id == around.host_id:
        entries |= set(map(made.stored, reflog.made(git_dir)))
    ordered = sorted(entries, key=lambda each: (each.at_ms, each.oid))
    return _Checkout(claimed.of_checkout(store, worktree, host_id), ordered)


def _by_heads(around: claimed.Around, claim: agents.Claim, head: str) -> list[reflog.Made]:
    """What leads from where a claim began to where it ended, if its checkout is gone with its log.

    But for what is seen to have been made in another checkout.
    """
    ends = (head, claim.head or "")
    repository = around.repository
    if repository is None or not all(git.Oid.is_valid(each) for each in ends):
        return []
    base, tip = map(git.Oid, ends)
    if repository.missing([base, tip]):
        return []
    elsewhere = {each.oid for path in around.git_dirs.values() for each in reflog.made(path)}
    found = repository.log([tip], exclude=[base], first_parent=True, max_count=_MAX_COMMITS)
    return [reflog.Made(c.oid, c.committed_ms) for c in found if c.oid not in elsewhere]


def _committed(
    connection: sqlite3.Connection,
    store: port.Store,
    claim: agents.Claim,
    checkout: _Checkout,
    head: str,
) -> Iterator[model.Activity]:
    begin = clock.parse(claim.claimed_at) // 1000 * 1000  # a commit bears the second only
    end = clock.parse(claim.closed_at) if claim.closed_at else 2**53
    at_once = reflog.upon(checkout.entries, head, begin)
    for each, first in _found(connection, checkout.entries, begin, end):
        at = clock.text(first.at_ms)
        if at < claim.claimed_at:
            if first.oid not in at_once:
                continue
            at = claim.claimed_at
        under = attribution.committed_under(
            attribution.open_at(checkout.claims, at),
            each.files,
            lambda other: claiming.reserved(store.rows, other),
            functools.partial(_committers, connection, at),
        )
        if under == claim:
            yield each._replace(task_source=claim.source, task=claim.task, session=claim.session_id)


def _found(
    connection: sqlite3.Connection, entries: list[reflog.Made], begin: int, end: int
) -> Iterator[tuple[model.Activity, reflog.Made]]:
    """The commits of some entries that were first made in a time, each with how that was."""
    older = {
        git.Oid(oid): (authored, committed)
        for oid, authored, committed in connection.execute(_WRITTEN, (begin - _EDITOR_MS, end))
    }
    direct = {
        entry.oid: entry
        for entry in entries
        # An amended one whose beginning is not known began with that.
        if entry.how == reflog.MADE or (entry.how == reflog.AMENDED and entry.oid not in older)
    }
    for each in _plain(connection, begin, end):
        if each.record in direct:
            yield each, direct[git.Oid(each.record)]
    firsts: dict[str, list[reflog.Made]] = {}
    for entry in entries:
        if entry.how != reflog.REWRITTEN:
            firsts.setdefault(entry.subject, []).append(entry)
    for oid, (authored, committed) in older.items():
        for each in _plain(connection, committed, committed) if oid not in direct else ():
            first = _first(firsts.get(each.text, []), authored) if each.record == oid else None
            if first is not None and begin <= first.at_ms <= end:
                yield each, first


def _first(entries: list[reflog.Made], authored: int) -> reflog.Made | None:
    """How a commit that was written at a time came to be, out of all that have its subject."""
    begin = authored // 1000 * 1000
    near = [each for each in entries if begin <= each.at_ms <= begin + _EDITOR_MS]
    return min(near, key=lambda each: each.at_ms, default=None)


def _plain(connection: sqlite3.Connection, begin: int, end: int) -> list[model.Activity]:
    rows = connection.execute(_COMMITS, (commits.COMMITS, begin, end)).fetchall()
    return [ledger.activity(source, path, tuple(row)) for source, path, *row in rows]


def _heads(store: port.Store, key: ids.TaskKey) -> dict[int, str]:
    """What was checked out when each claim of a task was taken, by epoch, as far as is known."""
    wanted = events.Filter(task=key.id, source=key.source)
    taken = [e for e in events.latest(store, _MAX_EVENTS, wanted) if e.type in _TAKEN]
    return {each.data["epoch"]: str(each.data.get("head") or "") for each in taken}


def _committers(connection: sqlite3.Connection, at: str, sessions: Iterable[str]) -> set[str]:
    """Those of the sessions that are seen to have run `git commit` about then."""
    around = [clock.text(clock.parse(at) + ms) for ms in (-_COMMIT_MS, _COMMIT_MS)]
    return {
        session
        for session in sessions
        if connection.execute(_COMMITTED, (session, *around)).fetchone()
    }
