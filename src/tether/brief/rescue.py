"""Sessions that stopped in the middle: hung ones, whose process is there, and orphaned ones.

| the transcript ends | the process | silent | so it is |
|---|---|---|---|
| in the middle of a turn | is there | for some minutes | hung |
| in the middle, or at a limit | is gone | however long | orphaned |
| in the middle, or at a limit | nobody knows one | for some minutes | orphaned |
| at rest, or as it should | any | | fine |

A process that is there and waits for a limit to end is no case, and one that may be on another
host neither. What a subagent writes counts for who started it.
"""

from __future__ import annotations

import os
import shlex
import sqlite3

from tether import clock, ids, text
from tether.agents import claims, roll
from tether.evidence import conversations, model
from tether.hints import NamedTuple
from tether.vacuum import presence

HUNG = "hung"
ORPHANED = "orphaned"
# What stopped longer ago is a matter for `vacuum`.
WINDOW_MS = 7 * 86_400_000
_MAX_TASKS = 3
_OVER = ("dead", "expired", "ended")
# How each agent takes up a conversation again; of the others none is known.
_RESUMED_BY = {"claude": "claude --resume {}", "codex": "codex resume {}"}


class Case(NamedTuple):
    """A session that stopped in the middle."""

    state: str
    facts: model.Session
    silent_ms: int
    verdict: presence.Verdict
    tasks: tuple[ids.TaskKey, ...] = ()
    """What it was at."""

    @property
    def kind(self) -> str:
        """claude, codex, gemini or cursor."""
        return self.facts.source.partition(":")[0]

    @property
    def command(self) -> str:
        """What continues it; empty if nobody knows."""
        return command(self.kind, self.facts.session, self.facts.cwd)


class Order(NamedTuple):
    """What is looked for."""

    now: str
    silent_ms: int
    asker: str = ""
    """The session that asks: it is at work."""
    claude_dirs: tuple[str, ...] = ()


def judge(ending: str, verdict: str, silent_ms: int, is_recent: bool, limit_ms: int) -> str:
    """The table above; empty if all is well."""
    is_silent = silent_ms >= limit_ms
    if verdict == "alive":
        return HUNG if ending == "mid_turn" and is_silent else ""
    if ending not in ("mid_turn", "limited") or not is_recent:
        return ""
    # Without a word of a process only silence tells; a suspect one may be alive elsewhere.
    is_over = verdict in _OVER or (not verdict and is_silent)
    return ORPHANED if is_over else ""


def command(kind: str, session: str, directory: str) -> str:
    """What takes up a conversation again, where it was: agents know only those of a directory."""
    # Both are from a file that anybody may have written, and the command is there to be pasted.
    if kind not in _RESUMED_BY or not ids.SessionId.is_valid(session):
        return ""
    resumed = _RESUMED_BY[kind].format(session)
    is_plain = os.path.isabs(directory) and text.one_line(directory) == directory
    return f"cd {shlex.quote(directory)} && {resumed}" if is_plain else resumed


def find(
    connection: sqlite3.Connection, rows: roll.Rows, known: presence.Presence, order: Order
) -> list[Case]:
    """Every session that stopped in the middle: the hung ones first, then by when they stopped."""
    known.learn(connection, order.claude_dirs)
    now_ms = clock.parse(order.now)
    found = []
    for trace in conversations.traces(connection):
        facts = trace.facts
        if facts.session == order.asker:
            continue
        verdict = known.of(facts.session)
        heard_ms = clock.parse(trace.heard_at) if trace.heard_at else 0
        silent_ms = max(0, now_ms - heard_ms)
        is_recent = now_ms - _last_ms(facts, heard_ms) < WINDOW_MS
        state = judge(facts.ending, verdict.state, silent_ms, is_recent, order.silent_ms)
        if state:
            tasks = tasks_of(rows, facts.session, conversations.told(connection, trace.files))
            found.append(Case(state, facts, silent_ms, verdict, tasks))
    return sorted(found, key=lambda each: (each.state, each.silent_ms, each.facts.session))


def _last_ms(facts: model.Session, heard_ms: int) -> int:
    """When it last said something: a copied file is written anew, and its words are old."""
    return clock.parse(facts.last_at) if facts.last_at else heard_ms


def tasks_of(
    rows: roll.Rows, session: str, named: tuple[ids.TaskKey, ...]
) -> tuple[ids.TaskKey, ...]:
    """What a session was at: what it holds, or lost when it went, or else what it last named."""
    if held := claims.open_ones(rows, session):
        return tuple(each.key for each in held)
    lost = [
        each.key
        for each in claims.all_ones(rows, _MAX_TASKS, session)
        if each.outcome in (claims.STALE, "released_end") and claims.last_of(rows, each.key) == each
    ]
    return tuple(lost) or named
