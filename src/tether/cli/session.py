"""`tether session`: all sessions at once, how one ends well, and what is left of the others."""

from __future__ import annotations

import sys
from collections import Counter

import click

from tether import ids, text
from tether.agents import claims, liveness, model, notes, registry, roll, sweep
from tether.brief import sessions
from tether.cli import answers, cold, context, lookup, rescue
from tether.cli import sweep as sweeping_agents
from tether.cli.task import shown
from tether.hints import Any
from tether.store import port
from tether.vacuum import quick

_MAX_TITLE = 100
_MAX_SAID = 200
# In the order in which people want to know.
_VERDICTS = ("alive", "suspect", "expired", "dead", "ended")

Titles = dict[ids.TaskKey, str]


@click.group()
def session() -> None:
    """See all sessions, end one well, clean up after the others."""


session.add_command(rescue.rescue)


# Status


@session.command()
@click.option("--all", "everyone", is_flag=True, help="Also those that went longer ago.")
@cold.answering
@cold.pass_call
def status(call: context.Context, everyone: bool) -> answers.Answer:
    """Show every session, what it has, and what wants a look.

    Is it alive, and what did it say last? Those that are here, and those that went within a day. An
    alert is an open conflict, a claim of somebody who is gone, a claim that is open for more than
    vacuum.long_claim_hours, or an unread message of high priority.
    """
    long_ms = call.settings.integer("vacuum.long_claim_hours") * 3_600_000
    found = sessions.look(call.store, call.spot, long_ms, everyone=everyone)
    keys = [held.key for each in found.standings for held in each.held]
    titles = _titles(call, keys)
    value = {
        "sessions": [_value(each, titles) for each in found.standings],
        "summary": _summary(found),
        "untrusted": ["title"],
    }

    def page() -> str:
        lines = [line for each in found.standings for line in _block(each, titles)]
        told = "\n".join([*lines, _summary_line(_summary(found))])
        return answers.told(told, source="sessions", for_agent=call.is_agent)

    return answers.Answer("", value, page)


def _answer(
    call: context.Context, value: dict[str, Any], lines: list[str], source: str
) -> answers.Answer:
    """An answer in lines: no wider than a terminal, and fenced for an agent."""
    return answers.Answer(
        "",
        value,
        lambda: answers.told("\n".join(lines), source=source, for_agent=call.is_agent),
        None if call.is_agent else shown.fitted(lines),
    )


def _titles(call: context.Context, keys: list[ids.TaskKey]) -> Titles:
    """What the files and lists of this checkout call these tasks, as far as they have them."""
    found = {}
    for key in keys:
        named = lookup.known(call, f"{key.source}:{key.id}")
        found[key] = text.one_line(named.title, _MAX_TITLE) if named is not None else ""
    return found


def _value(standing: sessions.Standing, titles: Titles) -> dict[str, Any]:
    agent, silent_ms = standing.agent, standing.silent_ms
    return {
        **model.described(agent),
        "progress": answers.untrusted(agent.progress, "progress"),
        "key": agent.key.label if agent.key else None,
        "verdict": standing.verdict,
        "reason": standing.reason,
        "silent_seconds": None if silent_ms is None else silent_ms // 1000,
        "claims": [
            {
                "key": each.key.label,
                "title": titles[each.key] or None,
                "epoch": each.epoch,
                "claimed_at": each.claimed_at,
                "held_seconds": each.held_ms // 1000,
                "paths": list(each.paths),
            }
            for each in standing.held
        ],
        "unread": standing.unread,
        "urgent": standing.urgent,
        "alerts": [
            {"kind": each.kind, "detail": answers.untrusted(each.text, "alert")}
            for each in standing.alerts
        ],
    }


def _block(standing: sessions.Standing, titles: Titles) -> list[str]:
    """One session for people."""
    agent = standing.agent
    heard = ""
    if agent.is_here and standing.silent_ms is not None:
        heard = f"; last beat {liveness.shown(standing.silent_ms)} ago"
    facts = [(standing.verdict, f"{standing.reason}{heard}")]
    for each in standing.held:
        title = f": {titles[each.key]}" if titles[each.key] else ""
        facts.append(("has", f"{each.key.label} for {liveness.shown(each.held_ms)}{title}"))
        facts += [("reserved", ", ".join(each.paths))] if each.paths else []
    if agent.progress:
        ago = f"({liveness.shown(standing.progress_ms)} ago)"
        facts.append(("said", f"{text.one_line(agent.progress, _MAX_SAID)} {ago}"))
    if standing.unread:
        urgent = f", {standing.urgent} of high priority" if standing.urgent else ""
        facts.append(("unread", f"{text.counted(standing.unread, 'message')}{urgent}"))
    facts += [("alert", each.text) for each in standing.alerts]
    head = f"{agent.agent_name}  {agent.kind}  {agent.session_id}"
    return [head, *(line for each in facts for line in rescue.fact(*each))]


def _summary(found: sessions.Overview) -> dict[str, Any]:
    return {
        "sessions": len(found.standings),
        "verdicts": dict(Counter(each.verdict for each in found.standings)),
        "claims": sum(len(each.held) for each in found.standings),
        "alerts": sum(len(each.alerts) for each in found.standings),
        "left_out": found.left_out,
    }


def _summary_line(summary: dict[str, Any]) -> str:
    verdicts = summary["verdicts"]
    states = ", ".join(f"{verdicts[name]} {name}" for name in _VERDICTS if name in verdicts)
    counted = text.counted(summary["sessions"], "session") + (f" ({states})" if states else "")
    more = f" {summary['left_out']} went earlier; --all shows them." if summary["left_out"] else ""
    return (
        f"{counted}, {text.counted(summary['claims'], 'open claim')},"
        f" {text.counted(summary['alerts'], 'alert')}.{more}"
    )


# The end


@session.command()
@click.argument("who", required=False, metavar="[SESSION]")
@click.option("--note", metavar="TEXT", help="Leave this for whoever takes up what is unfinished.")
@click.option(
    "--release/--keep",
    "releases",
    default=None,
    help="Free what it has, or let it rest and keep that. People are asked; else it is freed.",
)
@cold.answering
@cold.pass_call
def end(
    call: context.Context, who: str | None, note: str | None, releases: bool | None
) -> answers.Answer:
    """End a session: say what is unfinished, leave a note, let go.

    SESSION is a session or a name; without it, the caller. With --keep the session only rests: what
    it has stays its own until a sweep finds that it is gone, or it comes back and goes on.
    """
    acting = roll.find(call.store.rows, who if who is not None else call.session.session_id)
    call.require_may_act_for(acting)
    said = notes.checked(note) if note is not None else ""
    held = claims.open_ones(call.store.rows, acting.session_id)
    titles = _titles(call, [each.key for each in held])
    asks = releases is None and bool(held) and not call.is_agent and sys.stdin.isatty()
    if releases is None:
        # Without a terminal nothing is kept silently.
        releases = _asked(held, titles) if asks else True
    noted = _leave(call, acting, said) if said else []
    found, released, kept = _gone(call, acting, releases=releases or not held)
    value = {
        "session": model.described(found) | {"progress": answers.untrusted(found.progress, "end")},
        "unfinished": [
            {"key": each.key.label, "title": titles.get(each.key) or None} for each in held
        ],
        "released": [each.key.label for each in released],
        "kept": [each.key.label for each in kept],
        "noted": noted,
        "untrusted": ["title"],
    }
    # Who was asked on this terminal has seen what is unfinished.
    unseen = [] if asks and sys.stdout.isatty() else _unfinished(held, titles)
    lines = [*unseen, *_ended(call, found, value), *_told_of_note(said, value)]
    return _answer(call, value, lines, "session")


def _gone(
    call: context.Context, acting: model.Agent, *, releases: bool
) -> tuple[model.Agent, list[model.Claim], list[model.Claim]]:
    """The session as it is now, what it let go of, and what it keeps."""
    session_id = acting.session_id
    # Who was taken for dead has nothing left to keep, and resting would bring it back.
    if releases or not acting.is_here:
        is_own = session_id == call.session.session_id
        place = call.place if is_own else model.NOWHERE
        found, released = registry.end(call.store, session_id, place)
        return found, released, []
    found = registry.rest(call.store, call.spot, session_id)
    return found, [], claims.open_ones(call.store.rows, session_id)


def _asked(held: list[model.Claim], titles: Titles) -> bool:
    """Should what is unfinished be free?"""
    lines = (text.clean(each) for each in _unfinished(held, titles))
    wrapped = (part for line in lines for part in shown.wrapped(line, shown.width()))
    sys.stderr.write("\n".join(wrapped) + "\n")
    return click.confirm("Let go of it? Otherwise the session rests and keeps it.", True, err=True)


def _leave(call: context.Context, acting: model.Agent, said: str) -> list[str]:
    """Leave a note on everything that a session has; on what it was left."""

    def work(transaction: port.Transaction) -> list[str]:
        held = claims.open_ones(transaction.rows, acting.session_id)
        for each in held:
            notes.leave(transaction, each.key, said, call.actor, acting.session_id)
        return [each.key.label for each in held]

    return call.store.write("handoff", work)


def _unfinished(held: list[model.Claim], titles: Titles) -> list[str]:
    return [f"Unfinished: {each.key.label}  {titles.get(each.key, '')}".rstrip() for each in held]


def _ended(call: context.Context, found: model.Agent, value: dict[str, Any]) -> list[str]:
    if not value["kept"]:
        freed = f" It let go of {', '.join(value['released'])}." if value["released"] else ""
        return [f"{found.agent_name} has ended.{freed}"]
    patience = liveness.shown(call.spot.patience_ms(found))
    until = "its process has ended" if found.pid else f"it is silent for {patience}"
    return [
        f"{found.agent_name} rests and keeps {', '.join(value['kept'])}.",
        f"A sweep frees that once {until}; if the session comes back first, it goes on.",
    ]


def _told_of_note(said: str, value: dict[str, Any]) -> list[str]:
    if value["noted"]:
        return [f"The note is with {', '.join(value['noted'])}."]
    if said:
        return ["It had no task, so the note is nowhere: `tether handoff TASK --note` leaves one."]
    if value["unfinished"]:
        label = value["unfinished"][0]["key"]
        return [f"No note was left: `tether handoff {label} --note TEXT` leaves one."]
    return []


# Garbage


@session.command()
@cold.answering
@cold.pass_call
def gc(call: context.Context) -> answers.Answer:
    """Free what the dead hold, and say which tasks are orphaned now.

    A sweep, then the quick vacuum. Whose process is certainly gone is not waited for.
    """
    from tether.cli import sweeping
    from tether.vacuum import model as vacuum

    swept = sweeping_agents.free(call, at_once=True)
    order = sweeping.order_of(call, vacuum.QUICK)
    found = sweeping.quick_findings(call, order.now, order.limits)
    value = {
        "stale_agents": [each._asdict() for each in swept.stale_agents],
        "suspects": [each._asdict() for each in swept.suspects],
        "problems": [each._asdict() for each in swept.problems],
        "orphans": [
            {
                "key": each.key.label,
                "type": each.finding.type,
                "grade": each.finding.grade,
                "percent": each.finding.percent,
                "reasons": list(each.finding.reasons),
            }
            for each in found
        ],
        "untrusted": ["reasons"],
    }
    lines = [*_freed(swept), *_orphaned(found)]
    return _answer(call, value, lines, "session gc")


def _freed(swept: sweep.Swept) -> list[str]:
    lines = []
    for each in swept.stale_agents:
        items = ", ".join(each.released_items)
        held = f"freed {items}." if items else "it held nothing."
        lines.append(f"{each.agent_name} ({each.session_id}) is over; {held}")
    lines += [f"suspect: {s.agent_name} ({s.session_id}): {s.reason}" for s in swept.suspects]
    lines += [f"skipped: {p.session_id}: {p.message}" for p in swept.problems]
    return lines or ["Nobody is gone who was here."]


def _orphaned(found: list[quick.Found]) -> list[str]:
    if not found:
        return ["No task is orphaned, as far as the store can tell."]
    lines = [
        f"{each.finding.type}: {each.key.label}, {'; '.join(each.finding.reasons)}"
        for each in found
    ]
    return [*lines, "`tether vacuum` looks further, `tether vacuum adopt ID` takes one up."]
