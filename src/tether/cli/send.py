"""`tether send`: write to a session, to an agent or to all."""

from __future__ import annotations

import sys

import click

from tether import ids
from tether.agents import claims, messages, roll
from tether.cli import answers, cold, context, lookup
from tether.cli.task import shown

_MAX_STDIN_CHARS = 100_000


@click.command()
@click.argument("to")
@click.argument("message")
@click.option(
    "--type",
    "kind",
    default="note",
    show_default=True,
    metavar="WORD",
    help=f"{', '.join(messages.TYPES)}, or a word of your own.",
)
@click.option(
    "--priority",
    default=messages.NORMAL,
    show_default=True,
    type=click.IntRange(0, 3),
    help="0 routine, 1 normal, 2 high, 3 critical.",
)
@click.option("--task", metavar="ID", help="The task that it is about.")
@click.option(
    "--ttl",
    metavar="SECONDS",
    type=click.IntRange(1, 10**9),
    help="After this it leaves the inbox, not the log.",
)
@cold.answering
@cold.pass_call
def send(
    call: context.Context,
    to: str,
    message: str,
    kind: str,
    priority: int,
    task: str | None,
    ttl: int | None,
) -> answers.Answer:
    """Write to a session, to an agent by name, or to `all`.

    A MESSAGE of `-` is read from stdin.
    """
    key = shown.key_of(call, task) if task is not None else None
    body = sys.stdin.read(_MAX_STDIN_CHARS) if message == "-" else message
    draft = messages.Draft(
        body,
        kind,
        priority,
        key,
        ttl * 1000 if ttl is not None else None,
    )
    # First, so that a mistake leaves nothing behind: the sender may not be registered yet.
    messages.check(draft)
    found = messages.find(call.store.rows, to)
    sent = messages.send(call.store, call.agent, to, draft)
    value = {"id": sent.id, "to": to, "type": sent.type, "priority": sent.priority, "at": sent.at}
    return answers.Answer("message", value, lambda: _line(call, found, sent) + _unknown(call, key))


def _unknown(call: context.Context, key: ids.TaskKey | None) -> str:
    """A task that neither a file, a list nor a claim knows may be a slip."""
    if key is None or call.workspace.root is None or lookup.known(call, key.label) is not None:
        return ""
    if claims.last_of(call.store.rows, key) is not None:
        return ""
    return f"\nNo task {key.label} is known here; the message names it all the same."


def _line(call: context.Context, to: messages.To, sent: messages.Message) -> str:
    line = f"Sent to {to.label}, message {sent.id}."
    if to == messages.ALL:
        return line
    rows = call.store.rows
    known = roll.by_name(rows, to.name) if to.name else [roll.require(rows, to.label)]
    here = sum(agent.is_here for agent in known)
    if not here:
        line += " Nobody of that name is here now; it waits in the inbox."
    elif here > 1:
        line += f" {here} sessions have that name; the first to read it has it."
    return line
