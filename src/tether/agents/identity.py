"""Who calls: an agent, by what its program puts into the environment, or else a person.

The process of an agent is what those variables name, never our own short-lived command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tether import errors, host, ids
from tether.agents import model, registry


class Program(NamedTuple):
    """How one kind of agent makes itself known."""

    kind: str
    session_variable: str
    pid_variable: str = ""


PROGRAMS = (
    Program("claude", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID"),
    Program("codex", "CODEX_SESSION_ID"),
    Program("gemini", "GEMINI_SESSION_ID"),
)

Identify = Callable[[int], host.Process | None]
Inherited = Callable[[int, str], str]


def agent_of(
    environ: Mapping[str, str],
    *,
    ancestors: Callable[[], list[int]] = host.ancestors,
    identify: Identify = host.identify,
    inherited: Inherited = host.environment_value,
) -> registry.Session | None:
    """The session of the agent that calls; None if no agent does."""
    around = [program for program in PROGRAMS if environ.get(program.session_variable)]
    inner = _innermost(around, environ, inherited)
    own = environ.get("TETHER_SESSION")
    if not own and inner is None:
        return None
    session_id = ids.SessionId(own or (environ[inner.session_variable] if inner else ""))
    kind = _kind(environ.get("TETHER_KIND"), inner)
    name = environ.get("TETHER_AGENT") or default_name(kind, session_id)
    return registry.Session(
        session_id,
        ids.AgentName(name),
        kind,
        _parent(environ, around, inner, session_id),
        _process(environ, inner, ancestors, identify),
    )


def person(name: str) -> registry.Session:
    """The session of a person: one for each name, on whatever terminal."""
    word = re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:64].strip("-._")
    agent_name = ids.AgentName(word if ids.AgentName.is_valid(word) else model.HUMAN)
    return registry.Session(ids.SessionId(f"{model.HUMAN}-{agent_name}"), agent_name, model.HUMAN)


def default_name(kind: str, session_id: str) -> str:
    """`claude-9f3c`: the end of a session's id, because some begin with the time."""
    tail = "".join(char for char in session_id if char.isalnum())[-4:]
    return f"{kind}-{tail}"


def _innermost(
    around: list[Program], environ: Mapping[str, str], inherited: Inherited
) -> Program | None:
    """Which of several programs calls: agents start each other, and a child inherits all.

    Only a program that names its process can be asked what it had inherited itself: whatever it
    had is further out. Without such an answer the one that names no process is inside.
    """
    if len(around) < 2:
        return around[0] if around else None
    for program in around:
        pid = environ.get(program.pid_variable, "") if program.pid_variable else ""
        if pid.isascii() and pid.isdigit():
            others = [other.session_variable for other in around if other != program]
            if all(inherited(int(pid), name) == environ[name] for name in others):
                return program
    return next((program for program in around if not program.pid_variable), around[0])


def _parent(
    environ: Mapping[str, str],
    around: list[Program],
    inner: Program | None,
    session_id: str,
) -> ids.SessionId | None:
    if named := environ.get("TETHER_PARENT"):
        return ids.SessionId(named)
    outside = [environ[program.session_variable] for program in around if program != inner]
    # With three or more it cannot be told who started whom.
    if len(outside) == 1 and outside[0] != session_id and ids.SessionId.is_valid(outside[0]):
        return ids.SessionId(outside[0])
    return None


def _process(
    environ: Mapping[str, str],
    inner: Program | None,
    ancestors: Callable[[], list[int]],
    identify: Identify,
) -> host.Process | None:
    if named := environ.get("TETHER_PID"):
        return identify(_pid(named))
    found = environ.get(inner.pid_variable, "") if inner and inner.pid_variable else ""
    if not (found.isascii() and found.isdigit()):
        return None
    pid = int(found)
    # In a sandbox with a pid namespace of its own the number would mean a stranger.
    return identify(pid) if pid in ancestors() else None


def _pid(word: str) -> int:
    if not (word.isascii() and word.isdigit() and 0 < len(word) < 9):
        raise errors.UsageError("TETHER_PID is not a process id. Nothing was changed.")
    return int(word)


def _kind(named: str | None, inner: Program | None) -> str:
    if not named:
        return inner.kind if inner else "other"
    if named not in model.KINDS or named == model.HUMAN:
        raise errors.UsageError(
            "TETHER_KIND is not a kind of agent. Nothing was changed.",
            hint=f"Use one of {', '.join(k for k in model.KINDS if k != model.HUMAN)}.",
        )
    return named
