"""Runs the derivers one after another. Each is independent of the others and may run again.

What Git and the store say is of all checkouts; what task files and documents say is of the one that
asks.
"""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping

from tether import ids, index
from tether.hints import NamedTuple
from tether.lineage import kept
from tether.lineage.derive import (
    attribution,
    checkout,
    flags,
    ground,
    imported,
    messages,
    reversal,
    runs,
    written,
)
from tether.lineage.edges import ledger, view
from tether.store import port

Tell = Callable[[str], None]
_WAIT_SECONDS = 60.0
_MAX_ATTEMPTS = 4
# What checkouts told that are gone.
_FORGET_RECORDS = (
    "DELETE FROM lineage_records"
    " WHERE scope <> '' AND scope NOT IN (SELECT value FROM json_each(?))"
)
_FORGET_FLAGS = "DELETE FROM lineage_flags WHERE scope NOT IN (SELECT value FROM json_each(?))"


class Derived(NamedTuple):
    """What bringing the edges forward came to."""

    inputs: int
    """That said something new, or are gone."""
    problems: tuple[str, ...] = ()


def from_commits(
    known: index.Index,
    held: attribution.Claims | None,
    words: Mapping[str, ids.TaskKey],
    derived_at: str,
    tell: Tell,
) -> int | None:
    """What commits say, and what was done under claims; None if the index cannot be written.

    Piece by piece: who is killed goes on where it stood, and others can read meanwhile.
    """
    for _ in range(_MAX_ATTEMPTS):
        try:
            return _from_plan(known, held, words, derived_at, tell)
        except attribution.Overtaken:
            continue
    return None


def _from_plan(
    known: index.Index,
    held: attribution.Claims | None,
    words: Mapping[str, ids.TaskKey],
    derived_at: str,
    tell: Tell,
) -> int | None:
    plan = known.read(lambda connection: attribution.look(connection, held, words))
    if plan is None:
        return None
    done = 0
    for piece in attribution.pieces(plan):
        if piece.size and not known.write(
            functools.partial(attribution.write, plan=piece, derived_at=derived_at),
            wait_seconds=_WAIT_SECONDS,
        ):
            return None
        done += piece.size
        tell(f"attributing commits to tasks: {done} of {plan.size}")
    return plan.size


def from_git(
    connection: sqlite3.Connection, here: checkout.Here, derived_at: str, tell: Tell
) -> int:
    """What was undone, and what messages say."""
    tell("looking for what was undone")
    reversal.find(connection, here.git)
    count = reversal.derive(connection, derived_at)
    return count + messages.derive(connection, here.git, here.find, here.kinds, derived_at)


def from_store(connection: sqlite3.Connection, store: port.Store, derived_at: str) -> int:
    """What runs and sessions say."""
    found = {each.name: each for each in runs.said(store)}
    known = ledger.known(connection, runs.DERIVER, "")
    fresh = [each for name, each in found.items() if known.get(name) != each.stamp]
    gone = [name for name in known if name not in found]
    ledger.forget(connection, runs.DERIVER, "", gone)
    if fresh:
        ledger.replace_all(connection, runs.DERIVER, "", fresh, derived_at, {})
    return len(fresh) + len(gone)


def bring(
    known: index.Index,
    here: checkout.Here,
    store: port.Store,
    held: attribution.Claims | None,
    derived_at: str,
    *,
    roots: Iterable[str],
    store_dir: str,
    wrong: frozenset[view.Content] = frozenset(),
    tell: Tell = lambda _: None,
) -> Derived | None:
    """Bring all edges forward; None if the index cannot be written, or was begun anew meanwhile."""
    tasks = list(written.tasks_of(here.work, here.lists.items))
    counted = from_commits(known, held, written.words(tasks, here.find), derived_at, tell)
    if counted is None:
        return None
    done: Derived | None = None

    def work(connection: sqlite3.Connection) -> None:
        nonlocal done
        number = kept.number_of(connection, here.commit)
        if number is None:
            return
        count = counted + from_git(connection, here, derived_at, tell)
        count += from_store(connection, store, derived_at)
        scopes = list(roots)
        ledger.forget_scope(connection, scopes)
        for statement in (_FORGET_RECORDS, _FORGET_FLAGS):
            connection.execute(statement, (json.dumps(scopes),))
        standing = ground.Ground(connection, number)
        said = checkout.derive(connection, here, tasks, standing, derived_at, tell)
        # After all that is said here: of that, others need not tell.
        brought = imported.derive(connection, store_dir, derived_at)
        count += said.read + brought.read
        flags.derive(connection, here.scope, here.commit, wrong)
        done = Derived(count, (*said.problems, *brought.problems))

    return done if known.write(work, wait_seconds=_WAIT_SECONDS) else None
