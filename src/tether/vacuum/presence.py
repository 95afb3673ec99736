"""Is a session alive? As far as can be told, of those that Tether knows and of other tools'.

A session that Tether knows is judged by `agents`. Of others, a registry may name the process: where
that process cannot be, or is a younger one, the session is over for certain. All else is unknown.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator

from tether import clock, host
from tether.agents import lookout, standing
from tether.evidence.coditect import messaging
from tether.hints import NamedTuple
from tether.store import port

_STATES = "SELECT state FROM evidence_files WHERE source = 'coditect:messaging' ORDER BY path"
_MAX_BYTES = 65_536
_MAX_FILES = 2_000
# Clocks, and what a program does before it writes down that it is there.
_SLACK_MS = 5 * 60_000


class Seen(NamedTuple):
    """What a look at a process showed."""

    outcome: str
    """`seen`, `gone`, `unreadable` (there, of another user), `unknown` (nobody can look)."""
    started_ms: int | None = None


Processes = Callable[[str, int], Seen]
"""The process of a pid on the host of this name; an empty name is this machine."""


class Verdict(NamedTuple):
    """How a session is."""

    state: str = ""
    """alive, suspect, expired, dead, ended; empty if nobody can tell."""
    reason: str = ""


UNKNOWN = Verdict()


class Registered(NamedTuple):
    """What a registry of another tool says of a session."""

    pid: int
    host: str
    started_ms: int


def of_this_machine(name: str, pid: int) -> Seen:
    """A process as this machine shows it; nothing is known of those of others."""
    if name and name != host.name():
        return Seen("unknown")
    found = host.observe(pid)
    if found.outcome == "gone" or found.state == "zombie":
        return Seen("gone")
    if found.outcome == "unreadable" or found.start_ticks is None:
        return Seen("unreadable")
    return Seen("seen", host.started_ms(found.start_ticks))


def judge(registered: Registered, processes: Processes) -> Verdict:
    """What follows from a registry and a look at the process that it names."""
    seen = processes(registered.host, registered.pid)
    pid = registered.pid
    if seen.outcome == "gone":
        # Who names no host may count its processes in a container of its own.
        if not registered.host:
            return Verdict("expired", f"no process {pid} is here")
        return Verdict("dead", f"there is no process {pid} any more")
    if seen.outcome == "unknown":
        return UNKNOWN
    began = registered.started_ms
    if seen.started_ms is not None and began and seen.started_ms > began + _SLACK_MS:
        return Verdict(
            "dead" if registered.host else "expired", f"process {pid} is another one now"
        )
    return Verdict("alive", f"process {pid} is there")


class Presence:
    """Tells how sessions are, each looked at once."""

    def __init__(
        self,
        store: port.Store,
        spot: lookout.Lookout,
        processes: Processes = of_this_machine,
    ) -> None:
        self._store = store
        self.spot = spot
        self._processes = processes
        self._known: dict[str, Verdict] = {}
        self._registered: dict[str, list[Registered]] = {}
        self.aliases: dict[str, str] = {}
        """The session that each name of another tool stands for."""
        self.foreign: dict[tuple[str, str], messaging.ForeignClaim] = {}
        """The claims of other tools that are open, by source and id of their task."""

    def learn(self, connection: sqlite3.Connection, claude_dirs: Iterable[str]) -> None:
        """Take in what the registries of other tools say."""
        for (state,) in connection.execute(_STATES).fetchall():
            self._learn_standing(messaging.remembered(state))
        for directory in claude_dirs:
            for session, registered in _own_words(directory):
                self._registered.setdefault(session, []).append(registered)

    def name(self, session: str) -> str:
        """The one name of a session that goes by several."""
        return self.aliases.get(session, session)

    def of(self, session: str) -> Verdict:
        """How a session is."""
        if session not in self._known:
            self._known[session] = self._judge(session)
        return self._known[session]

    def _judge(self, session: str) -> Verdict:
        own = Verdict(*standing.of_session(self._store.rows, self.spot, session))
        if own.state in ("alive", "dead", "ended"):
            return own
        seen = [judge(each, self._processes) for each in self._registered.get(session, ())]
        # Who was resumed in another process is alive there. That one is not seen says more than
        # nothing, but not more than what Tether itself knows.
        for state in ("alive",) if own.state else ("alive", "dead", "expired"):
            for verdict in seen:
                if verdict.state == state:
                    return verdict
        return own

    def _learn_standing(self, standing: messaging.Standing) -> None:
        self.aliases |= standing.aliases
        sessions = {each.session: each for each in standing.sessions}
        for claim in standing.claims:
            began = sessions.get(claim.session)
            started = clock.parse(began.started_at) if began and began.started_at else 0
            if claim.pid and claim.host:
                registered = Registered(claim.pid, claim.host, started)
                self._registered.setdefault(self.name(claim.session), []).append(registered)
            if not claim.released_at:
                self.foreign[claim.task_source, claim.task] = claim


def _own_words(directory: str) -> Iterator[tuple[str, Registered]]:
    """What Claude Code writes down of its own sessions while they run: `sessions/PID.json`."""
    place = os.path.join(directory, "sessions")
    try:
        names = sorted(name for name in os.listdir(place) if name.endswith(".json"))
    except OSError:
        return
    for name in names[:_MAX_FILES]:
        try:
            with open(os.path.join(place, name), "rb") as file:
                said = json.loads(file.read(_MAX_BYTES))
        except (OSError, ValueError, RecursionError):
            continue  # being written or removed right now; or none of theirs
        if not isinstance(said, dict):
            continue
        session, pid, began = said.get("sessionId"), said.get("pid"), said.get("startedAt")
        if isinstance(session, str) and type(pid) is int and 0 < pid < 1 << 22:
            started = began if type(began) is int and 0 < began < 1 << 53 else 0
            yield session, Registered(pid, "", started)
