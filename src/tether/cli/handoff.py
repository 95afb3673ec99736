"""`tether handoff`: everything that the next owner of a task should know; or a note for them."""

from __future__ import annotations

import os

import click

from tether import config, errors, ids, redaction, text
from tether.agents import claims, leftovers, roll
from tether.agents import model as agents
from tether.brief import handoff as room
from tether.brief import traces
from tether.cli import answers, cold, context, lookup
from tether.evidence import lost, model, recall, timeline, unfinished
from tether.hints import Any
from tether.store import events, port
from tether.tasks import states, workdir

_MAX_NOTE_CHARS = 4000
_MAX_NOTES = 50
_MAX_EVENTS = 10_000
_HEADINGS = {
    "task": "Task",
    "stopped": "Where it stopped",
    "contradictions": "Said and shown do not agree",
    "notes": "Notes for you",
    "unmet": "Not met yet",
    "left": "Work that is not merged or committed",
    "said": "Last words, newest first",
    "failed": "Commands that failed, newest first",
    "files": "Files that were edited, newest first",
    "done": "What was done, newest first",
}


@click.command()
@click.argument("task")
@click.option("--note", metavar="TEXT", help="Leave a note for the next owner instead.")
@click.option(
    "--budget",
    default=2000,
    show_default=True,
    metavar="TOKENS",
    type=click.IntRange(room.MIN_BUDGET, 200_000),
    help="At most about this much.",
)
@cold.answering
@cold.pass_call
def handoff(call: context.Context, task: str, note: str | None, budget: int) -> answers.Answer:
    """Print the resume packet of a task: what to know before taking it up again.

    Its text, where its last owner stopped and what was said and failed last, work that is neither
    committed nor merged, criteria that are not met, and where words and Git disagree. It is data
    from many hands, and is marked as such for an agent.
    """
    named = lookup.find(call, task)
    if note is not None:
        return _leave(call, named, note)
    found = gather(call, named)
    if not named.is_known and not found.line.activities and found.last is None:
        raise named.missing()
    # The fence and the headings are read, too.
    packet = room.packet(found, budget - 80 if call.is_agent else budget)
    value: dict[str, Any] = {
        "task": named.value(),
        "sections": {
            section.name: [
                {"text": text.clean(redaction.redact(line.text)), "source": line.source or None}
                for line in section.lines
            ]
            for section in packet.sections
        },
        "left_out": packet.left_out,
        "budget": budget,
        "untrusted": ["text"],
    }
    return answers.Answer(
        "handoff",
        value,
        lambda: answers.told(
            _plain(packet), source=f"handoff {named.key.label}", for_agent=call.is_agent
        ),
    )


def gather(call: context.Context, named: lookup.Named) -> room.Evidence:
    """Everything that is known of a task, from all rooms."""
    line = call.witness.timeline(named.key, named.aliases)
    last = claims.last_of(call.store.rows, named.key)
    session = _session(line, last)
    why_not = leftovers.why_not(call.workspace, last) if last is not None else ""
    left, lost_ones = _unfinished(call, named, line, last, is_there=not why_not)
    return room.Evidence(
        _subject(named),
        line,
        last,
        _verdict(call, last),
        session,
        _recalled(line, last, session),
        left,
        why_not,
        lost_ones,
        tuple(_notes(call, named.key)),
        tuple(_beside(call, line, session)) if last is None else (),
    )


def _beside(
    call: context.Context, line: timeline.Timeline, session: model.Session | None
) -> list[model.Activity]:
    """What its last session edited after it came to the task: without a claim nobody knows more."""
    if session is None:
        return []
    begin = [e.at for e in line.activities if e.session == session.session and e.at]
    return call.witness.edits_beside(session.session, min(begin)) if begin else []


def _unfinished(
    call: context.Context,
    named: lookup.Named,
    line: timeline.Timeline,
    claim: agents.Claim | None,
    *,
    is_there: bool,
) -> tuple[unfinished.Unfinished, tuple[lost.Lost, ...]]:
    """What is not where it should be in the end, and what is nowhere. Git is asked now."""
    root = call.settings.text("tasks.root")

    def is_bookkeeping(path: str) -> bool:
        return path == config.TRACKED_FILE or workdir.is_ours(path, root)

    is_named = traces.naming(call.witness.finder, named.key, named.aliases)
    wanted = traces.wanted(line, claim, is_named, is_bookkeeping, is_there=is_there)
    left = unfinished.read(call.workspace, wanted)
    # What was edited on another machine is not expected here.
    here = [each for each in line.activities if each.what != "edited" or _opens(each.pointer)]
    edits = lost.edits(here, traces.directories(line), call.witness.roots())
    found = lost.candidates(edits, left, is_bookkeeping)
    return left, tuple(lost.read(call.workspace.place, found, left))


def _opens(pointer: str) -> bool:
    return os.path.isfile(_file(pointer))


def _file(pointer: str) -> str:
    return pointer.removeprefix("file:").partition("#")[0]


def _subject(named: lookup.Named) -> room.Subject:
    paragraphs: list[tuple[str, str]] = []
    unmet: list[str] = []
    if named.loaded is not None:
        fields = named.loaded.document.fields
        paragraphs = [
            (name, _told(fields[name]))
            for name in ("description", "plan", "error", "result")
            if fields.get(name)
        ]
        if named.state not in (states.DONE, states.ARCHIVED):
            unmet = [each for each in map(_told, _listed(fields.get("acceptance"))) if each]
    elif named.item is not None:
        item = named.item
        paragraphs = [("section", item.section)] if item.section else []
        paragraphs += [("description", item.description)] if item.description else []
        unmet = [said for is_met, said in item.acceptance if not is_met]
        if item.parts_total:
            paragraphs.append(("parts", f"{item.parts_done} of {item.parts_total} done"))
    state = named.state or "on no list"
    return room.Subject(
        named.key,
        text.one_line(named.title, 200),
        state,
        named.where,
        tuple(paragraphs),
        tuple(text.one_line(each, 300) for each in unmet),
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_told(item)}" for name, item in value.items())
    if isinstance(value, list):
        return "\n".join(map(_told, value))
    return str(value) if value is not None else ""


def _verdict(call: context.Context, last: agents.Claim | None) -> str:
    if last is None or last.closed_at is not None:
        return ""
    holder = roll.get(call.store.rows, last.session_id)
    if holder is None:
        return ""
    verdict = call.spot.shown_verdict(holder)
    return f"{verdict.state}: {verdict.reason}"


def _session(line: timeline.Timeline, last: agents.Claim | None) -> model.Session | None:
    """The session that had the task last, or else worked on it last, or else talked of it."""
    known = {each.session: each for each in line.sessions}
    if last is not None and last.session_id in known:
        return known[last.session_id]
    for kinds in (model.MOVING, (model.MENTIONED,)):
        told = [each for each in line.activities if each.kind in kinds and each.session in known]
        if told:
            return known[told[-1].session]
    return None


def _recalled(
    line: timeline.Timeline, last: agents.Claim | None, session: model.Session | None
) -> recall.Recalled:
    if session is None:
        return recall.Recalled([], [])
    path = _file(session.pointer)
    is_of_claim = last is not None and last.session_id == session.session
    since = last.claimed_at if last is not None and is_of_claim else ""
    until = (last.closed_at or "9") if last is not None and is_of_claim else "9"
    of_session = [each for each in line.activities if each.session == session.session]
    near = [each.pointer for each in of_session]
    # How a session ended that only talked of the task says nothing about it.
    has_worked = any(each.kind in model.MOVING for each in of_session)
    at_end = session.last_at <= until and (is_of_claim or has_worked)
    return recall.recall(session.source, near, path, since, until, at_end=at_end)


def _notes(call: context.Context, key: ids.TaskKey) -> list[room.Note]:
    wanted = events.Filter(task=key.id, source=key.source)
    latest = events.latest(call.store, _MAX_EVENTS, wanted)
    found = [each for each in latest if each.type == events.HANDOFF_LEFT.name]
    return [
        room.Note(
            each.at, each.actor, text.one_line(str(each.data["note"]), 400), f"event:{each.id}"
        )
        for each in reversed(found[-_MAX_NOTES:])
    ]


def _leave(call: context.Context, named: lookup.Named, note: str) -> answers.Answer:
    said = redaction.redact(text.clean(note)).strip()
    if not said or len(said) > _MAX_NOTE_CHARS:
        raise errors.UsageError(
            f"A note has 1 to {_MAX_NOTE_CHARS} characters. Nothing was changed."
        )
    if not named.is_known and claims.last_of(call.store.rows, named.key) is None:
        raise named.missing()
    key, session = named.key, call.agent.session_id

    def work(transaction: port.Transaction) -> None:
        transaction.event(
            events.HANDOFF_LEFT,
            actor=call.actor,
            session=session,
            source=key.source,
            task=key.id,
            data={"note": said},
        )

    call.store.write("handoff", work)
    value = {"task": named.value(), "note": text.mark(said, source=f"handoff {key.label}")}
    return answers.Answer("handoff", value, lambda: f"Noted for whoever takes up {key.label}.")


def _plain(packet: room.Packet) -> str:
    lines: list[str] = []
    for section in packet.sections:
        lines += ["", f"{_HEADINGS[section.name]}:"] if lines else [f"{_HEADINGS[section.name]}:"]
        for line in section.lines:
            source = f"  [{text.one_line(line.short_source)}]" if line.source else ""
            lines.append(f"  {text.one_line(redaction.redact(line.text))}{source}")
    if packet.left_out:
        lines += [
            "",
            f"{text.counted(packet.left_out, 'more line')} did not fit; --budget makes room.",
        ]
    return "\n".join(lines)
