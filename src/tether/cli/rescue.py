"""`tether session rescue`: sessions that stopped in the middle, and how to go on."""

from __future__ import annotations

from collections import Counter

import click

from tether import clock, ids, text
from tether.agents import claims, identity, liveness
from tether.brief import fitting
from tether.brief import handoff as packets
from tether.brief import rescue as room
from tether.cli import answers, cold, context, gathering, handoff, lookup
from tether.cli.task import shown
from tether.hints import Any, NamedTuple
from tether.vacuum import presence

WIDTH = 80
_MIN_WIDTH = 40
LABEL_WIDTH = 9
_BUDGET = 2000


class Task(NamedTuple):
    """What a session was at."""

    key: ids.TaskKey
    title: str
    state: str
    """Empty if it is on no list here."""
    holder: str
    """Who has it now; empty if nobody has."""
    packet: fitting.Packet | None = None


Found = list[tuple[room.Case, list[Task]]]


@click.command()
@click.option(
    "--minutes",
    default=10,
    show_default=True,
    metavar="N",
    type=click.IntRange(0, 100_000),
    help="After this silence of its transcript a session counts as hung.",
)
@click.option(
    "--packets", "has_packets", is_flag=True, help="With the handoff packet of each task."
)
@cold.answering
@cold.pass_call
def rescue(call: context.Context, minutes: int, has_packets: bool) -> answers.Answer:
    """Find the sessions that stopped in the middle, and how to go on.

    Hung: its process is there, and its transcript has been silent for 10 minutes in the middle of a
    turn. Orphaned: its transcript of the last week ends in the middle or at a limit, and no process
    is known. Each with what it was at, its last words, and the command that continues it.
    """
    known = presence.Presence(call.store, call.spot)
    asking = identity.agent_of(call.environ)
    order = room.Order(
        clock.now_text(clock.SystemClock()),
        minutes * 60_000,
        asking.session_id if asking is not None else "",
        call.places.claude,
    )
    cases = call.witness.ask(
        lambda connection: room.find(connection, call.store.rows, known, order)
    )
    found = [
        (case, [_task(call, key, case, has_packets=has_packets) for key in case.tasks])
        for case in cases
    ]
    value = {"sessions": [_value(*each) for each in found], "untrusted": ["title", "text"]}
    return answers.Answer(
        "",
        value,
        lambda: answers.told(_page(found), source="session rescue", for_agent=call.is_agent),
    )


def fact(name: str, said: str) -> list[str]:
    """A fact about a session, on as many lines of a terminal as it needs."""
    import textwrap

    # A path, an id or a command is not torn: it is there to be copied.
    return textwrap.wrap(
        f"{name:<{LABEL_WIDTH}} {text.one_line(said)}",
        min(WIDTH, max(_MIN_WIDTH, shown.width())),
        initial_indent="  ",
        subsequent_indent=" " * (LABEL_WIDTH + 3),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _task(call: context.Context, key: ids.TaskKey, case: room.Case, *, has_packets: bool) -> Task:
    named = lookup.find(call, f"{key.source}:{key.id}")
    held = claims.open_of(call.store.rows, key)
    is_taken = held is not None and held.session_id != case.facts.session
    packet = None
    if has_packets:
        packet = packets.packet(gathering.gather(call, named), _BUDGET)
    return Task(
        key,
        text.one_line(named.title, 100),
        named.state,
        held.agent_name if held is not None and is_taken else "",
        packet,
    )


def _value(case: room.Case, tasks: list[Task]) -> dict[str, Any]:
    facts = case.facts
    return {
        "state": case.state,
        "session_id": facts.session,
        "kind": case.kind,
        "verdict": case.verdict.state or None,
        "reason": case.verdict.reason or None,
        "silent_seconds": case.silent_ms // 1000,
        "ending": facts.ending,
        "last_at": facts.last_at or None,
        "resets_at": facts.resets_at or None,
        "directory": text.clean(facts.cwd) or None,
        "branch": text.clean(facts.branch) or None,
        "transcript": text.clean(facts.pointer),
        "last_said": answers.untrusted(facts.last_said or None, f"session {facts.session}"),
        "command": case.command or None,
        "tasks": [
            {
                "key": each.key.label,
                "title": each.title or None,
                "state": each.state or None,
                "held_by": each.holder or None,
                "handoff": f"tether handoff {each.key.label}",
                "packet": None if each.packet is None else handoff.sections_value(each.packet),
            }
            for each in tasks
        ],
    }


def _page(found: Found) -> str:
    if not found:
        return "No session is hung or orphaned."
    lines = [line for each in found for line in _block(*each)]
    counts = Counter(case.state for case, _ in found)
    told = ", ".join(
        f"{counts[name]} {name}" for name in (room.HUNG, room.ORPHANED) if counts[name]
    )
    return "\n".join(
        [*lines, f"{text.counted(len(found), 'session')} stopped in the middle: {told}."]
    )


def _block(case: room.Case, tasks: list[Task]) -> list[str]:
    facts = case.facts
    lines = [f"{case.state}  {case.kind}  {text.one_line(facts.session, 64)}"]
    lines += fact("why", _why(case))
    if facts.cwd:
        branch = f" on {facts.branch}" if facts.branch else ""
        lines += fact("where", f"{facts.cwd}{branch}")
    for each in tasks:
        taken = f" ({each.holder} has it now)" if each.holder else ""
        lines += fact("was at", f"{each.key.label}{taken}  {each.title}")
    if facts.last_said:
        lines += fact("said", facts.last_said)
    if case.command and case.state == room.HUNG:
        lines += fact("first", "see that its process has ended: two must not go on with it")
    if case.command:
        # On one line however long it is: it is there to be copied.
        lines.append(f"  {'continue':<{LABEL_WIDTH}} {text.one_line(case.command)}")
    for each in tasks:
        lines.append(f"  {'handoff':<{LABEL_WIDTH}} tether handoff {each.key.label}")
        if each.packet is not None:
            packet = handoff.wrapped(each.packet, shown.width(), "    ")
            lines += ["".join(piece.text for piece in pieces) for pieces in packet]
    return lines


def _why(case: room.Case) -> str:
    silent = liveness.shown(case.silent_ms)
    if case.state == room.HUNG:
        return f"{case.verdict.reason}; its transcript is silent for {silent}"
    process = case.verdict.reason or "no process of it is known"
    if case.facts.ending == "limited":
        until = f" until {text.minute(case.facts.resets_at)}" if case.facts.resets_at else ""
        return f"it met a limit{until}; {process}; silent for {silent}"
    return f"{process}; silent for {silent} in the middle of a turn"
