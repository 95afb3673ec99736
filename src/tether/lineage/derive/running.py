"""Runs the derivers one after another. Each is independent of the others and may run again.

What Git and the store say is of all checkouts; what task files and documents say is of the one that
asks.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable

from tether import index
from tether.git import Git
from tether.hints import NamedTuple
from tether.lineage import kept
from tether.lineage.derive import (
    attribution,
    checkout,
    flags,
    ground,
    messages,
    reversal,
    runs,
)
from tether.lineage.edges import ledger
from tether.store import port

Tell = Callable[[str], None]
_WAIT_SECONDS = 60.0


class Derived(NamedTuple):
    """What bringing the edges forward came to."""

    inputs: int
    """That said something new, or are gone."""
    problems: tuple[str, ...] = ()


def from_git(
    connection: sqlite3.Connection,
    git: Git,
    held: attribution.Claims | None,
    find: checkout.Find,
    derived_at: str,
    tell: Tell = lambda _: None,
) -> int:
    """What commits say, and what was done under claims."""
    count = attribution.derive(connection, held, derived_at, tell)
    tell("looking for what was undone")
    reversal.find(connection, git)
    count += reversal.derive(connection, derived_at)
    return count + messages.derive(connection, git, find, derived_at)


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
    tell: Tell = lambda _: None,
) -> Derived | None:
    """Bring all edges forward; None if the index cannot be written."""
    done = Derived(0)

    def work(connection: sqlite3.Connection) -> None:
        nonlocal done
        count = from_git(connection, here.git, held, here.find, derived_at, tell)
        count += from_store(connection, store, derived_at)
        ledger.forget_scope(connection, roots)
        standing = ground.Ground(connection, kept.number_of(connection, here.commit) or 0)
        said = checkout.derive(connection, here, standing, derived_at, tell)
        count += said.read
        if count:
            flags.derive(connection, here.scope)
        done = Derived(count, said.problems)

    return done if known.write(work, wait_seconds=_WAIT_SECONDS) else None

