"""What the workload is made of, as plain values: tasks, sessions and what they did."""

from __future__ import annotations

import dataclasses

from tether import clock
from tether.hints import NamedTuple

NOW = clock.parse("2026-11-15T00:00:00Z")
SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
DAYS = 45
LOG_DAYS = 60
START = NOW - DAYS * DAY

MAIN = "repo"
SECOND_PROJECT = "repo-two"

# What a session does with a task.
CLAIMED = "claimed"
WORKED = "worked"
FINISHED = "finished"
LEFT = "left"
CONFLICTED = "conflicted"
COMPACTED = "compacted"
ADOPTED = "adopted"
DEFERRED = "deferred"
CANCELLED = "cancelled"
ROLLED_BACK = "rolled_back"

# How the session ends.
AT_REST = "at_rest"
KILLED = "killed"
LIMITED = "limited"
LIVE = "live"

CLAUDE, CODEX, GEMINI = "claude", "codex", "gemini"

# What became of a task. The first six are orphans.
DEAD_CLAIM = "dead_claim"
STALE = "stale"
CONFLICT_ABANDONED = "conflict_abandoned"
CONTEXT_LOST = "context_lost"
PARTIAL = "partial"
DONE_UNMARKED = "done_unmarked"
ORPHANS = (DEAD_CLAIM, STALE, CONFLICT_ABANDONED, CONTEXT_LOST, PARTIAL, DONE_UNMARKED)
DONE = "done"
DONE_BEFORE = "done_before"
BULK_CLOSED = "bulk_closed"
ROLLBACK = "rollback"
RESURRECTED = "resurrected"
FATE_ADOPTED = "adopted"
FATE_DEFERRED = "deferred"
DEFERRED_TOUCHED = "deferred_then_touched"
FATE_CANCELLED = "cancelled"
ACTIVE = "active"
PARKED = "parked"
NEVER_STARTED = "never_started"
DONE_LIKE = (DONE, ROLLBACK, RESURRECTED, FATE_ADOPTED)

OPEN_BOX, DONE_BOX, STARTED_BOX, CANCELLED_BOX = " ", "x", "~", "-"


@dataclasses.dataclass(slots=True, eq=False)
class Task:
    """One box of a list, and what became of it."""

    id: str
    track: str
    title: str
    project: str = MAIN
    parent: str = ""
    is_done: bool = False
    """How its box ends."""
    fate: str = ""
    at: int = 0
    """When that came to be."""
    was_open: bool = False
    """At the beginning of the history, although it ends done."""
    is_reserved: bool = False
    """A trap needs it as it is."""
    odd_box: str = ""
    """The mark of its box from the beginning, if it is no usual one."""


class Claim(NamedTuple):
    """One session's time with a task."""

    task: str
    project: str
    session: int
    start: int
    end: int
    outcome: str


class Act(NamedTuple):
    """One thing that a session did with a task."""

    at: int
    what: str
    task: str
    weight: int = 1
    """How much of the session it took."""


class Extra(NamedTuple):
    """A line that a trap puts into a transcript."""

    at: int
    form: str
    """`text`, `output` or `agent`."""
    text: str
    found: tuple[tuple[str, str], ...]
    """(id, kind): the evidence that it is."""
    trap: str


@dataclasses.dataclass(slots=True, eq=False)
class Session:
    """One run of an agent."""

    number: int
    uuid: str
    vendor: str
    machine: int
    pid: int
    start: int
    end: int
    messages: int
    project: str = MAIN
    ending: str = AT_REST
    tag: str = ""
    """What kind of open end it may hold, so that no task gets two."""
    is_reserved: bool = False
    skew_ms: int = 0
    resumes: int = -1
    """The session whose records it begins with."""
    acts: list[Act] = dataclasses.field(default_factory=list)
    extras: list[Extra] = dataclasses.field(default_factory=list)

    @property
    def name(self) -> str:
        """As the registry of the workload's tools writes it."""
        return f"{self.vendor}-{self.pid}"


class Size(NamedTuple):
    """How much of everything."""

    scale: float

    def of(self, count: float, least: int = 1) -> int:
        return max(least, round(count * self.scale))

    @property
    def files(self) -> int:
        """How many source files the main project has."""
        return self.of(300, 40)


def iso(ms: int) -> str:
    """`2026-10-01T08:30:00Z`, as tools without milliseconds write it."""
    return clock.text(ms)[:19] + "Z"


def naive(ms: int) -> str:
    """`2026-10-01 08:30:00`, as SQLite's datetime() writes UTC."""
    return clock.text(ms)[:19].replace("T", " ")
