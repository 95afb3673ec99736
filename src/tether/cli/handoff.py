"""`tether handoff`: everything that the next owner of a task should know; or a note for them."""

from __future__ import annotations

import click

from tether import redaction, text
from tether.agents import claims, notes
from tether.brief import fitting
from tether.brief import handoff as room
from tether.cli import answers, cold, context, gathering, lookup
from tether.cli.task import shown
from tether.hints import Any
from tether.store import port

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
    type=click.IntRange(fitting.MIN_BUDGET, 200_000),
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
    found = gathering.gather(call, named)
    if not named.is_known and not found.line.activities and found.last is None:
        raise named.missing()
    # The fence and the headings are read, too.
    packet = room.packet(found, budget - 80 if call.is_agent else budget)
    value: dict[str, Any] = {
        "task": named.value(),
        "sections": sections_value(packet),
        "left_out": packet.left_out,
        "budget": budget,
        "untrusted": ["text"],
    }
    return answers.Answer(
        "handoff",
        value,
        lambda: answers.told(
            "\n".join(lines_of(packet)),
            source=f"handoff {named.key.label}",
            for_agent=call.is_agent,
        ),
        None if call.is_agent else lambda columns: wrapped(packet, columns),
    )


def _leave(call: context.Context, named: lookup.Named, note: str) -> answers.Answer:
    said = notes.checked(note)
    if not named.is_known and claims.last_of(call.store.rows, named.key) is None:
        raise named.missing()
    key, session = named.key, call.agent.session_id

    def work(transaction: port.Transaction) -> None:
        notes.leave(transaction, key, said, call.actor, session)

    call.store.write("handoff", work)
    value = {"task": named.value(), "note": text.mark(said, source=f"handoff {key.label}")}
    return answers.Answer("handoff", value, lambda: f"Noted for whoever takes up {key.label}.")


def sections_value(packet: fitting.Packet) -> dict[str, Any]:
    """The sections of a packet for programs."""
    return {
        section.name: [
            {"text": text.clean(redaction.redact(line.text)), "source": line.source or None}
            for line in section.lines
        ]
        for section in packet.sections
    }


def lines_of(packet: fitting.Packet) -> list[str]:
    """A packet for people, each line on its own."""
    return [f"{said}  {source}" if source else said for said, source in _rows(packet)]


def _rows(packet: fitting.Packet) -> list[tuple[str, str]]:
    """The lines of a packet, each with where it is from."""
    rows: list[tuple[str, str]] = []
    for section in packet.sections:
        rows += [("", "")] if rows else []
        rows.append((f"{_HEADINGS[section.name]}:", ""))
        for line in section.lines:
            source = f"[{text.one_line(line.short_source)}]" if line.source else ""
            rows.append((f"  {text.one_line(redaction.redact(line.text))}", source))
    if packet.left_out:
        many = text.counted(packet.left_out, "more line")
        rows += [("", ""), (f"{many} did not fit; --budget makes room.", "")]
    return rows


def wrapped(packet: fitting.Packet, columns: int, indent: str = "") -> list[list[answers.Piece]]:
    """For a terminal: what is longer than a line goes on below it, further in."""
    pieces = []
    for said, source in _rows(packet):
        style = "bold" if said.endswith(":") and not said.startswith(" ") else ""
        lines = shown.wrapped(f"{indent}{said}", columns, "    ", source)
        pieces += [[answers.Piece(each.rstrip(), style)] for each in lines]
    return pieces
