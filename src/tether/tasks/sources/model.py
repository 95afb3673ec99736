"""What all task lists have in common: items with a key, a state and a line."""

from __future__ import annotations

from tether import ids
from tether.hints import NamedTuple
from tether.tasks import states

# `[-]`, a status `cancelled`, a tombstone: somebody decided against it.
CANCELLED = "cancelled"
STATES = (states.NEW, states.IN_PROGRESS, states.DONE, states.ERROR, CANCELLED)


class Item(NamedTuple):
    """One task of a list."""

    source: str
    """The kind of list: `track`, `speckit`, `backlog`, …"""
    id: str
    """Unique within its source in one checkout; valid as a `TaskId`."""
    path: str
    """The file, from the top of the checkout."""
    line: int
    """Where it stands, counted from 1."""
    state: str
    """new, in_progress, done, error or cancelled."""
    text: str
    """Its title, without id, marks and annotations."""
    owner: str = ""
    priority: str = "normal"
    parent: str = ""
    """The id of the item that it is a part of; empty at the top."""
    section: str = ""
    """The heading above it, as it is written."""
    track: str = ""
    """The list that it counts for: the file's own name or id (`H`, `001-login`)."""
    parts_done: int = 0
    parts_total: int = 0
    """Boxes below it that have no id of their own."""
    depends_on: tuple[str, ...] = ()
    created_at: str = ""
    updated_at: str = ""
    acceptance: tuple[tuple[bool, str], ...] = ()
    """Criteria of its own, each with whether it is met."""
    description: str = ""
    status: str = ""
    """What the list itself calls its state (`Blocked`, `deferred`); empty for a box."""

    @property
    def key(self) -> ids.TaskKey:
        return ids.TaskKey(self.source, self.id)


class Progress(NamedTuple):
    """How much of a section or a track is done. What is cancelled does not count."""

    source: str
    track: str
    section: str
    """Empty for the whole track."""
    path: str
    line: int
    done: int
    total: int
    stated_percent: int = -1
    """What the file itself says of the whole track; -1 if it says nothing."""


class Problem(NamedTuple):
    """What could not be read as it stands. The rest of the list counts all the same."""

    path: str
    line: int
    message: str


class Listing(NamedTuple):
    """What one file says."""

    items: tuple[Item, ...]
    progress: tuple[Progress, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    """(old id, new id): tasks that were consolidated or renumbered."""
    problems: tuple[Problem, ...] = ()
