"""`tether agent`: who is here, and are they alive."""

from __future__ import annotations

import os
from collections import Counter

import click

from tether import errors, host, ids, text
from tether.agents import claims, conflicts, identity, liveness, lookout, model, registry, roll
from tether.cli import answers, cold, context
from tether.hints import Any

_STATUSES = ("active", "idle", "ended", "stale")
# No family is drawn deeper.
_MAX_DEPTH = 50
_WHY_OVER = {"ended": "by its own word", "stale": "found by a sweep"}


@click.group()
def agent() -> None:
    """Who is here, and are they alive?"""


@agent.command()
@click.option("--session", metavar="ID", help="The session; else the environment's.")
@click.option("--name", metavar="NAME", help="The agent's name, stable across its sessions.")
@click.option("--kind", type=click.Choice(model.KINDS), help="What the agent is.")
@click.option("--pid", metavar="PID", type=click.IntRange(1, 1 << 22), help="The agent's process.")
@click.option("--parent", metavar="ID", help="The session that started this one.")
@click.option("--transcript", metavar="PATH", type=click.Path(), help="Where it keeps its record.")
@cold.answering
@cold.pass_call
def register(
    call: context.Context,
    session: str | None,
    name: str | None,
    kind: str | None,
    pid: int | None,
    parent: str | None,
    transcript: str | None,
) -> answers.Answer:
    """Begin a session, or say that it goes on.

    Claude Code, Codex and Gemini CLI are known by their environment; others say who they are with
    --session and --name, and should name their process with --pid: without one a session is over
    once it is silent for agents.stale_seconds.
    """
    if parent is not None:
        roll.require(call.store.rows, ids.SessionId(parent))
    own = _session(call, session, name, kind)
    above = ids.SessionId(parent) if parent is not None else own.parent_id
    if parent is not None and roll.is_below(
        call.store.rows, roll.require(call.store.rows, parent), own.session_id
    ):
        raise errors.UsageError(
            "That parent was itself started by this session. Nothing was changed."
        )
    wanted = own._replace(
        parent_id=above,
        process=_process(pid) if pid is not None else own.process,
        transcript=os.path.abspath(transcript) if transcript is not None else None,
    )
    beat = registry.register(call.store, call.spot, wanted, call.place)
    if call.recovery is not None and call.recovery.agent.session_id == wanted.session_id:
        # It came back by calling, before this.
        beat = call.recovery._replace(agent=beat.agent)
    value = {
        **_value(call.spot, beat.agent),
        "recovered": beat.has_recovered,
        "lost": [key.label for key in beat.lost],
    }
    return answers.Answer("agent", value, lambda: _registered(beat))


def _session(
    call: context.Context, session: str | None, name: str | None, kind: str | None
) -> registry.Session:
    if session is not None:
        own = _other_session(call, ids.SessionId(session), kind)
    elif call.is_agent:
        own = call.session
        known = roll.get(call.store.rows, own.session_id)
        if known is not None and not call.environ.get("TETHER_AGENT"):
            own = own._replace(agent_name=ids.AgentName(known.agent_name))
    elif kind not in (None, model.HUMAN) or name is not None:
        raise errors.UsageError(
            "No agent's session is known here. Nothing was changed.",
            hint="Name it with --session ID, or set TETHER_SESSION.",
        )
    else:
        own = call.session
    if name is not None:
        own = own._replace(agent_name=ids.AgentName(name))
    return own._replace(kind=kind) if kind is not None else own


def _other_session(
    call: context.Context, session_id: ids.SessionId, kind: str | None
) -> registry.Session:
    """A session that a flag names: new, or one that goes on under the name that it has."""
    known = roll.get(call.store.rows, session_id)
    if known is not None:
        call.require_may_act_for(known)
        return registry.Session(session_id, ids.AgentName(known.agent_name), kind or known.kind)
    kind = kind or "other"
    name = ids.AgentName(identity.default_name(kind, session_id))
    # What an agent registers under another id, it has started.
    own = call.session.session_id if call.is_agent else None
    return registry.Session(session_id, name, kind, own if own != session_id else None)


def _process(pid: int) -> host.Process:
    process = host.identify(pid)
    if process is None:
        raise errors.NotFound(
            f"There is no process {pid} that can be seen from here. Nothing was changed.",
            hint="Name a process that runs, such as $$ of the shell that runs the agent.",
        )
    return process


def _registered(beat: registry.Beat) -> str:
    agent = beat.agent
    watched = f"process {agent.pid}" if agent.pid else "no process known"
    state = "is back" if beat.has_recovered else f"is {agent.status}"
    lines = [f"{agent.agent_name} {state}: session {agent.session_id}, {watched}."]
    if beat.lost:
        lost = ", ".join(key.label for key in beat.lost)
        lines.append(f"It had been taken for dead and no longer has {lost}.")
    return "\n".join(lines)


@agent.command("list")
@click.option("--all", "everyone", is_flag=True, help="Ended and stale sessions too.")
@click.option("--status", metavar="LIST", help="Only these: active,idle,ended,stale.")
@cold.answering
@cold.pass_call
def list_(call: context.Context, everyone: bool, status: str | None) -> answers.Answer:
    """List the sessions that are here, the last seen first."""
    wanted = set(status.split(",")) if status is not None else None
    if wanted is not None and not wanted <= set(_STATUSES):
        raise errors.UsageError(
            "There is no such status. Nothing was changed.",
            hint=f"Use {', '.join(_STATUSES)}, with commas between.",
        )
    found = roll.here(call.store.rows, everyone=everyone or wanted is not None)
    if wanted is not None:
        found = [each for each in found if each.status in wanted]
    values = [_value(call.spot, each) for each in found]
    return answers.Answer("agents", values, lambda: _table(call, found))


def _table(call: context.Context, found: list[model.Agent]) -> str:
    if not found:
        return "Nobody is here."
    held = Counter(claim.session_id for claim in claims.open_ones(call.store.rows))
    names = Counter(each.agent_name for each in found)
    rows = [("NAME", "KIND", "STATUS", "SILENT", "TASK")]
    for each in found:
        silent = _silent(call.spot, each)
        # Two sessions of one name are told apart by their ids.
        name = each.agent_name if names[each.agent_name] == 1 else each.session_id
        state = _state(call.spot, each)
        rows.append((text.one_line(name, 24), each.kind, state, silent, _tasks(each, held)))
    widths = [max(len(row[n]) for row in rows) for n in range(4)]
    lines = (
        "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=False)) for row in rows
    )
    return "\n".join(f"{line}  {row[4]}".rstrip() for line, row in zip(lines, rows, strict=True))


def _tasks(each: model.Agent, held: Counter[str]) -> str:
    """What it works on, and how much else it holds."""
    others = held[each.session_id] - (1 if each.key else 0)
    told = [each.key.label] if each.key else []
    return " ".join([*told, f"+{others}"] if others > 0 else told)


def _state(spot: lookout.Lookout, each: model.Agent) -> str:
    """Its status, or the verdict where that says more."""
    if not each.is_here:
        return each.status
    verdict = spot.shown_verdict(each)
    if verdict.state != "alive":
        return verdict.state
    return f"{each.status}, stopped" if verdict.reason.endswith("is stopped") else each.status


@agent.command()
@click.argument("who", required=False)
@cold.answering
@cold.pass_call
def show(call: context.Context, who: str | None) -> answers.Answer:
    """Show one session with its parents, its children and its claims.

    WHO is a session, or a name if only one session has it; without it, the caller.
    """
    rows = call.store.rows
    found = roll.find(rows, who if who is not None else call.session.session_id)
    value = {
        **_value(call.spot, found),
        "claims": [claim.key.label for claim in claims.open_ones(rows, found.session_id)],
        "conflicts": [
            {**c._asdict(), "detail": answers.untrusted(c.detail, "conflict")}
            for c in conflicts.open_ones(rows, found.session_id)
        ],
        "history": [
            {**row, "progress": answers.untrusted(row["progress"], "progress")}
            for row in roll.progress(rows, found.session_id, 10)
        ],
        "family": _tree(roll.family(rows, found.session_id)),
    }
    return answers.Answer("agent", value, lambda: _page(call, found, value))


def _tree(family: list[model.Agent]) -> list[dict[str, Any]]:
    """The family as nested lists: those whose parent is not here stand at the top."""
    known = {each.session_id for each in family}
    children: dict[str | None, list[model.Agent]] = {}
    for each in family:
        parent = each.parent_id if each.parent_id in known else None
        children.setdefault(parent, []).append(each)
    # Two sessions that call each other their parent have no top: begin anywhere.
    tops = children.get(None) or family[:1]
    seen: set[str] = set()

    def branch(each: model.Agent, depth: int) -> dict[str, Any]:
        seen.add(each.session_id)
        below = [c for c in children.get(each.session_id, []) if c.session_id not in seen]
        if depth == _MAX_DEPTH:
            below = []
        return {
            "session_id": each.session_id,
            "agent_name": each.agent_name,
            "status": each.status,
            "children": [branch(child, depth + 1) for child in below],
        }

    return [branch(each, 1) for each in tops]


def _page(call: context.Context, found: model.Agent, value: dict[str, Any]) -> str:
    facts = [
        ("session", found.session_id),
        ("kind", found.kind),
        ("status", _status(found, value)),
        ("process", str(found.pid) if found.pid else "not known"),
        ("host", found.host_name),
        ("started", found.started_at),
        ("last beat", found.last_beat_at),
        ("last seen", found.last_seen_at),
        ("task", found.key.label if found.key else ""),
        ("claims", ", ".join(value["claims"])),
        ("worktree", found.worktree or ""),
        ("branch", found.branch or ""),
        ("transcript", found.transcript or ""),
    ]
    lines = [found.agent_name]
    lines += [f"  {name:<10}  {text.one_line(fact)}" for name, fact in facts if fact]
    if found.progress:
        lines.append(f"  last word   at {found.progress_at}:")
        lines.append(answers.indented(found.progress))
    lines += [f"  conflict    {c['detail']['text']}" for c in value["conflicts"]]
    if len(value["family"]) > 1 or value["family"][0]["children"]:
        lines += ["  family", *_branches(value["family"], found.session_id, 2)]
    return answers.told("\n".join(lines), source="agents", for_agent=call.is_agent)


def _status(found: model.Agent, value: dict[str, Any]) -> str:
    if found.is_here:
        return f"{found.status} ({value['verdict']}: {value['reason']})"
    return f"{found.status} since {found.ended_at}, {value['reason']}"


def _branches(tree: list[dict[str, Any]], marked: str, depth: int) -> list[str]:
    lines = []
    for node in tree:
        mark = " <" if node["session_id"] == marked else ""
        lines.append(f"{'  ' * depth}{node['agent_name']}, {node['status']}{mark}")
        lines += _branches(node["children"], marked, depth + 1)
    return lines


@agent.command()
@click.option("--session", metavar="ID", help="Another session than the caller's.")
@cold.answering
@cold.pass_call
def idle(call: context.Context, session: str | None) -> answers.Answer:
    """Say that a session waits for work. It keeps its claims."""
    acting = call.acting(session)
    found = registry.rest(call.store, call.spot, acting.session_id)
    return answers.Answer("agent", _value(call.spot, found), lambda: f"{found.agent_name} is idle.")


@agent.command()
@click.option("--session", metavar="ID", help="Another session than the caller's.")
@cold.answering
@cold.pass_call
def end(call: context.Context, session: str | None) -> answers.Answer:
    """Say that a session is over. What it still held is free."""
    who = call.session.session_id if session is None else session
    acting = roll.find(call.store.rows, who)
    call.require_may_act_for(acting)
    session_id = acting.session_id
    is_own = session is None or session_id == call.session.session_id
    place = call.place if is_own else model.NOWHERE
    found, released = registry.end(call.store, session_id, place)
    labels = [claim.key.label for claim in released]
    value = {**_value(call.spot, found), "released": labels}
    freed = f" It let go of {', '.join(labels)}." if labels else ""
    return answers.Answer("agent", value, lambda: f"{found.agent_name} has ended.{freed}")


def _value(spot: lookout.Lookout, each: model.Agent) -> dict[str, Any]:
    """A session for programs."""
    told = {"verdict": each.status, "reason": _WHY_OVER.get(each.status, "")}
    if each.is_here:
        verdict = spot.shown_verdict(each)
        told = {"verdict": verdict.state, "reason": verdict.reason}
    return {
        **model.described(each),
        "progress": answers.untrusted(each.progress, "progress"),
        "key": each.key.label if each.key else None,
        "silent_seconds": _silent_seconds(spot, each),
        **told,
    }


def _silent_seconds(spot: lookout.Lookout, each: model.Agent) -> int | None:
    """None for a row whose times are damaged."""
    try:
        return spot.silent_ms(each) // 1000
    except ValueError:
        return None


def _silent(spot: lookout.Lookout, each: model.Agent) -> str:
    seconds = _silent_seconds(spot, each)
    return "?" if seconds is None else liveness.shown(seconds * 1000)
