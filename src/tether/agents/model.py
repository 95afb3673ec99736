"""The nouns of this room, as plain values."""

from __future__ import annotations

from tether import host, ids, text
from tether.hints import Any, NamedTuple
from tether.store import port

KINDS = ("claude", "codex", "gemini", "cursor", "human", "other")
HUMAN = "human"
TETHER = "tether"
"""Who acts and writes where no session does."""
EVERYBODY = "all"
"""Whom a broadcast is for; so nobody can be called that."""
HERE = ("active", "idle")


class Place(NamedTuple):
    """Where somebody works."""

    worktree: str | None = None
    branch: str | None = None
    head: str | None = None

    @property
    def columns(self) -> dict[str, str | None]:
        """As every database takes it: a path need not be text."""
        return {k: text.storable(v) if v is not None else None for k, v in self._asdict().items()}


NOWHERE = Place()


class Agent(NamedTuple):
    """One session of an agent or a person, as the store has it."""

    session_id: str
    agent_name: str
    kind: str
    parent_id: str | None
    status: str
    host_name: str
    """Where it was last heard from, for people."""
    host_id: str | None
    boot_id: str | None
    pid_namespace: str | None
    pid: int | None
    start_ticks: int | None
    source: str | None
    task: str | None
    progress: str | None
    progress_at: str | None
    worktree: str | None
    branch: str | None
    head: str | None
    transcript: str | None
    started_at: str
    last_beat_at: str
    last_seen_at: str
    lease_until: str
    ended_at: str | None
    beat_boot_id: str
    beat_monotonic_ms: int
    inbox_from: int
    version: int
    read_at: str
    """When this row was read, by the store's own clock."""

    @property
    def process(self) -> host.Process | None:
        if self.pid is None:
            return None
        return host.Process(
            self.host_id or "",
            self.boot_id or "",
            self.pid_namespace or "",
            self.pid,
            self.start_ticks or 0,
        )

    @property
    def key(self) -> ids.TaskKey | None:
        """The task that it works on."""
        return _key(self.source, self.task)

    @property
    def place(self) -> Place:
        return Place(self.worktree, self.branch, self.head)

    @property
    def is_here(self) -> bool:
        return self.status in HERE


class Claim(NamedTuple):
    """Who has, or had, a task; and what is left of it once it is closed."""

    source: str
    task: str
    epoch: int
    session_id: str
    agent_name: str
    claimed_at: str
    lease_until: str
    closed_at: str | None
    outcome: str | None
    closed_by: str | None
    worktree: str | None
    branch: str | None
    head: str | None
    checkpoint: str | None
    checkpoint_at: str | None
    transcript: str | None

    @property
    def key(self) -> ids.TaskKey:
        return ids.TaskKey(self.source, self.task)


def agent(row: port.Row) -> Agent:
    """A row of `agents`; columns that a newer Tether added are left out."""
    return Agent(*(row[name] for name in Agent._fields))


def claim(row: port.Row) -> Claim:
    return Claim(*(row[name] for name in Claim._fields))


def described(value: Agent) -> dict[str, Any]:
    """What others may know of an agent: the columns that only serve the store are left out."""
    inner = {"beat_boot_id", "beat_monotonic_ms", "inbox_from", "version", "read_at"}
    return {name: item for name, item in value._asdict().items() if name not in inner}


def _key(source: str | None, task: str | None) -> ids.TaskKey | None:
    return ids.TaskKey(source, task) if source is not None and task is not None else None
