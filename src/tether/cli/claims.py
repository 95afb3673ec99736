"""`tether claims`: who has which task."""

from __future__ import annotations

import click

from tether import text
from tether.agents import claims as room
from tether.agents import model, roll
from tether.cli import answers, cold, context, lookup
from tether.cli.task import shown


@click.command()
@click.option("--session", metavar="ID", help="Only those of this session; 'me' is the caller.")
@click.option("--task", metavar="ID", help="Every claim that this task ever had.")
@click.option("--all", "everything", is_flag=True, help="Closed ones too, newest first.")
@cold.limited
@cold.answering
@cold.pass_call
def claims(
    call: context.Context, session: str | None, task: str | None, everything: bool, limit: int
) -> answers.Answer:
    """Show who has which task."""
    rows = call.store.rows
    session_id = call.session.session_id if session == "me" else session
    if session_id is not None:
        session_id = roll.find(rows, session_id).session_id
    if task is not None:
        found = [c for c in _of_task(call, task) if session_id in (None, c.session_id)][:limit]
    elif everything:
        found = room.all_ones(rows, limit, session_id)
    else:
        found = room.open_ones(rows, session_id)[:limit]
    paths = [room.reserved(rows, each) for each in found]
    value = [{**shown.claim_value(c), "paths": p} for c, p in zip(found, paths, strict=True)]
    return answers.Answer(
        "claims",
        value,
        lambda: answers.told(_lines(found, paths), source="claims", for_agent=call.is_agent),
    )


def _of_task(call: context.Context, word: str) -> list[model.Claim]:
    """Every claim of a task; NotFound if there is neither a claim nor such a task."""
    key = shown.key_of(call, word)
    found = room.history(call.store.rows, key)
    if not found and lookup.known(call, word) is None:
        raise lookup.unclaimed(call, key)
    return found


def _lines(found: list[model.Claim], paths: list[list[str]]) -> str:
    if not found:
        return "No claims."
    rows = [("TASK", "AGENT", "SINCE", "STATE", "PATHS")]
    for each, reserved in zip(found, paths, strict=True):
        row = (each.key.label, each.agent_name, text.minute(each.claimed_at), _state(each))
        rows.append((*row, " ".join(reserved)))
    widths = [max(len(row[n]) for row in rows) for n in range(4)]
    return "\n".join(
        "  ".join([*(f"{row[n]:<{widths[n]}}" for n in range(4)), row[4]]).rstrip() for row in rows
    )


def _state(claim: model.Claim) -> str:
    if claim.closed_at is None:
        return "open"
    # A column has room for a word or two.
    said = "holder gone" if claim.outcome == "released_stale" else room.in_words(claim.outcome)
    return f"{said} {text.minute(claim.closed_at)}"
