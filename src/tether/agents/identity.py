"""Who calls: an agent, by what its program puts into the environment, or else a person.

The process of an agent is what those variables name, never our own short-lived command.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping

from tether import errors, host, ids
from tether.agents import model, registry
from tether.hints import NamedTuple


class Program(NamedTuple):
    """How one kind of agent makes itself known."""

    kind: str
    session_variable: str
    pid_variable: str = ""


PROGRAMS = (
    Program("claude", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID"),
    Program("codex", "CODEX_SESSION_ID"),
    Program("codex", "CODEX_THREAD_ID"),
    Program("gemini", "GEMINI_SESSION_ID"),
)

# What agents set for the commands that they run, also where they name no session.
MARKERS = ("CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "CURSOR_AGENT")

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
    around = _around(environ)
    inner = _innermost(around, environ, inherited)
    if environ.get("TETHER_SESSION"):
        # Somebody else than the programs around it, which then have started it.
        return _named(environ, inner, identify)
    if inner is None:
        return None
    session_id = _session_id(environ, inner.session_variable)
    return registry.Session(
        session_id,
        _name(environ, inner.kind, session_id),
        inner.kind,
        _parent(environ, [program for program in around if program != inner], session_id),
        _process(environ, inner, ancestors, identify),
    )


def marker_of(environ: Mapping[str, str]) -> str | None:
    """The variable that says that an agent calls, if it names no session."""
    return next((name for name in MARKERS if environ.get(name)), None)


def _around(environ: Mapping[str, str]) -> list[Program]:
    """The programs whose sessions the environment names, each kind once."""
    found: dict[str, Program] = {}
    for program in PROGRAMS:
        if environ.get(program.session_variable):
            found.setdefault(program.kind, program)
    return list(found.values())


def _named(
    environ: Mapping[str, str], outside: Program | None, identify: Identify
) -> registry.Session:
    """An agent that Tether does not know, and that says who it is."""
    session_id = _session_id(environ, "TETHER_SESSION")
    kind = environ.get("TETHER_KIND") or "other"
    if kind not in model.KINDS or kind == model.HUMAN:
        raise errors.UsageError(
            "TETHER_KIND is not a kind of agent. Nothing was changed.",
            hint=f"Use one of {', '.join(k for k in model.KINDS if k != model.HUMAN)}.",
        )
    return registry.Session(
        session_id,
        _name(environ, kind, session_id),
        kind,
        _parent(environ, [outside] if outside else [], session_id),
        _named_process(environ, identify),
    )


def person(name: str) -> registry.Session:
    """The session of a person: one for each name, on whatever terminal."""
    word = re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:48].strip("-._")
    if name.strip() and not (name.isascii() and ids.AgentName.is_valid(word)):
        # Letters that no id can have were lost; it must still be that person's own.
        checksum = f"{zlib.crc32(name.encode('utf-8', 'replace')):08x}"
        word = f"{word}-{checksum}" if ids.AgentName.is_valid(word) else f"human-{checksum}"
    agent_name = ids.AgentName(word or model.HUMAN)
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
        pid = _pid(environ.get(program.pid_variable, "")) if program.pid_variable else None
        others = [other.session_variable for other in around if other != program]
        if pid is not None and all(inherited(pid, name) == environ[name] for name in others):
            return program
    return next((program for program in around if not program.pid_variable), around[0])


def _session_id(environ: Mapping[str, str], variable: str) -> ids.SessionId:
    value = environ[variable]
    if not ids.SessionId.is_valid(value):
        raise errors.InvalidId(
            f"{variable} is not a valid session id. Nothing was changed.", hint=ids.SessionId.hint
        )
    return ids.SessionId(value)


def _name(environ: Mapping[str, str], kind: str, session_id: str) -> ids.AgentName:
    named = environ.get("TETHER_AGENT")
    if named and not ids.AgentName.is_valid(named):
        raise errors.InvalidId(
            "TETHER_AGENT is not a valid agent name. Nothing was changed.", hint=ids.AgentName.hint
        )
    return ids.AgentName(named or default_name(kind, session_id))


def _parent(
    environ: Mapping[str, str], outside: list[Program], session_id: str
) -> ids.SessionId | None:
    if environ.get("TETHER_PARENT"):
        return _session_id(environ, "TETHER_PARENT")
    # With two or more outside it cannot be told who started whom.
    sessions = [environ[program.session_variable] for program in outside]
    if len(sessions) == 1 and sessions[0] != session_id and ids.SessionId.is_valid(sessions[0]):
        return ids.SessionId(sessions[0])
    return None


def _process(
    environ: Mapping[str, str],
    program: Program,
    ancestors: Callable[[], list[int]],
    identify: Identify,
) -> host.Process | None:
    if not program.pid_variable:
        return _named_process(environ, identify)
    pid = _pid(environ.get(program.pid_variable, ""))
    # In a sandbox with a pid namespace of its own the number would mean a stranger.
    return identify(pid) if pid is not None and pid in ancestors() else None


def _named_process(environ: Mapping[str, str], identify: Identify) -> host.Process | None:
    named = environ.get("TETHER_PID")
    pid = _pid(named or "")
    if named and pid is None:
        raise errors.UsageError(
            "TETHER_PID is not a process id. Nothing was changed.",
            hint="Set it to the pid of the process that is the agent, such as $$ in its script.",
        )
    return identify(pid) if pid is not None else None


def _pid(word: str) -> int | None:
    """A process id, or None for what is none."""
    is_number = word.isascii() and word.isdigit() and len(word) < 9
    return int(word) if is_number and int(word) > 0 else None
