"""`tether sweep`: find sessions that died, and free what they held."""

from __future__ import annotations

import click

from tether import errors, text
from tether.agents import sweep as room
from tether.agents import upkeep
from tether.cli import answers, cold, context


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what it would do.")
@click.option(
    "--threshold",
    metavar="SECONDS",
    type=click.IntRange(0, 10**9),
    help="Look at sessions silent for this long, instead of agents.stale_seconds; 0 means all.",
)
@cold.answering
@cold.pass_call
def sweep(call: context.Context, dry_run: bool, threshold: int | None) -> answers.Answer:
    """Find sessions that died, and free what they held.

    A session whose process is seen is never touched. Every command does this by the way when it is
    due; call it to see what it finds.
    """
    rules = upkeep.rules(call.settings)._replace(spared=_caller(call))
    if threshold is not None:
        rules = rules._replace(stale_ms=threshold * 1000)
    if dry_run:
        found = room.look(call.store, call.spot, rules)
        value = {"dry_run": True, "candidates": [candidate._asdict() for candidate in found]}
        return answers.Answer("", value, lambda: _would(call, found))
    swept = _swept(call, rules)
    return answers.Answer("", _value(swept), lambda: _did(call, swept))


def free(call: context.Context, *, at_once: bool = False) -> room.Swept:
    """Free what the dead hold; at once also of those who have not been silent for long."""
    spared = _caller(call)
    swept = _swept(call, upkeep.rules(call.settings)._replace(spared=spared))
    if not at_once or not call.store.exists():
        return swept
    more = room.retire_dead(call.store, call.spot, spared)
    return swept._replace(stale_agents=(*swept.stale_agents, *more))


def _swept(call: context.Context, rules: room.Rules) -> room.Swept:
    if not call.store.exists():
        return room.Swept((), (), (), (), 0, 0)
    swept = room.sweep(call.store, call.spot, rules)
    _stamp(call)
    return swept


def _caller(call: context.Context) -> str:
    """Whoever calls is here, however silent it was."""
    try:
        return call.session.session_id
    except errors.NotAllowed:
        return ""  # an agent that names no session


def _stamp(call: context.Context) -> None:
    try:
        upkeep.write_stamp(call.workspace, {})
    except errors.FileError:
        return  # the next command sweeps again, which does no harm


def _value(swept: room.Swept) -> dict[str, object]:
    return {
        "stale_agents": [stale._asdict() for stale in swept.stale_agents],
        "pids_verified": list(swept.pids_verified),
        "heartbeats_pruned": swept.heartbeats_pruned,
        "events_pruned": swept.events_pruned,
        "suspects": [suspect._asdict() for suspect in swept.suspects],
        "problems": [problem._asdict() for problem in swept.problems],
    }


def _did(call: context.Context, swept: room.Swept) -> str:
    lines = [
        f"{stale.agent_name} ({stale.session_id}) is over; {_freed(stale.released_items)}"
        for stale in swept.stale_agents
    ] or _nobody(call)
    lines += [f"suspect: {s.agent_name} ({s.session_id}): {s.reason}" for s in swept.suspects]
    lines += [f"skipped: {p.session_id}: {p.message}" for p in swept.problems]
    if swept.pids_verified:
        lines.append(f"{text.counted(len(swept.pids_verified), 'silent agent')} seen alive.")
    if swept.heartbeats_pruned or swept.events_pruned:
        lines.append(
            f"Forgot {text.counted(swept.heartbeats_pruned, 'old heartbeat')} and"
            f" {text.counted(swept.events_pruned, 'old chatter event')}."
        )
    return "\n".join(lines)


def _nobody(call: context.Context) -> list[str]:
    """Nobody was silent for long enough; but some may be known to be dead already."""
    lines = ["No stale agents detected."]
    lines += [
        f"{found.agent_name} is dead ({found.reason}), but not silent for long."
        for found in room.look(call.store, call.spot, room.Rules(stale_ms=0))
        if found.verdict == "dead"
    ]
    if len(lines) > 1:
        lines.append("A claim takes over from it at once; --threshold 0 looks at everybody.")
    return lines


def _would(call: context.Context, found: list[room.Candidate]) -> str:
    if not found:
        return "\n".join(_nobody(call))
    lines = []
    for candidate in found:
        line = f"{candidate.verdict:<8}{candidate.agent_name} ({candidate.session_id})"
        lines.append(f"{line}: {candidate.reason}")
        if candidate.would_release:
            lines.append(f"        would free {', '.join(candidate.would_release)}")
    return "\n".join([*lines, "Nothing was changed."])


def _freed(items: tuple[str, ...]) -> str:
    return f"freed {', '.join(items)}." if items else "it held nothing."
