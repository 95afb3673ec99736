"""`tether claims`: who has which task."""

from __future__ import annotations

import click

from tether import ids
from tether.agents import claims as room
from tether.agents import model, roll
from tether.cli import answers, claim, cold, context


@click.command()
@click.option("--session", metavar="ID", help="Only those of this session; 'me' is the caller.")
@click.option("--task", metavar="ID", help="Every claim that this task ever had.")
@click.option("--all", "everything", is_flag=True, help="Closed ones too, newest first.")
@click.option(
    "--limit",
    default=50,
    show_default=True,
    metavar="N",
    type=click.IntRange(1, 10_000),
    help="At most this many.",
)
@cold.answering
@cold.pass_call
def claims(
    call: context.Context, session: str | None, task: str | None, everything: bool, limit: int
) -> answers.Answer:
    """Show who has which task."""
    rows = call.store.rows
    session_id = call.session.session_id if session == "me" else session
    if session_id is not None:
        session_id = roll.require(rows, ids.SessionId(session_id)).session_id
    if task is not None:
        found = room.history(rows, ids.TaskKey.parse(task))[:limit]
        found = [c for c in found if session_id in (None, c.session_id)]
    elif everything:
        found = room.all_ones(rows, limit, session_id)
    else:
        found = room.open_ones(rows, session_id)[:limit]
    value = [{**claim.shown(c), "paths": room.reserved(rows, c)} for c in found]
    return answers.Answer("claims", value, lambda: _lines(found))


def _lines(found: list[model.Claim]) -> str:
    if not found:
        return "No claims."
    width = max(len(claim.key.label) for claim in found)
    names = max(len(claim.agent_name) for claim in found)
    return "\n".join(
        f"{c.key.label:<{width}}  {c.agent_name:<{names}}  {_when(c.claimed_at)}  {_state(c)}"
        for c in found
    )


def _when(at: str) -> str:
    return f"{at[:10]} {at[11:16]}Z"


def _state(claim: model.Claim) -> str:
    if claim.closed_at is None:
        return "open"
    return f"{claim.outcome} {_when(claim.closed_at)}"
