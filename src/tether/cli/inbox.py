"""`tether inbox`: read what was written to you."""

from __future__ import annotations

import time
from typing import Any

import click

from tether import ids, text
from tether.agents import messages, model, roll
from tether.cli import answers, cold, context

_PRIORITIES = ("routine", "", "high", "critical")
_POLL_SECONDS = 1.0


@click.command()
@click.option("--follow", is_flag=True, help="Go on and show what comes, until Ctrl-C.")
@click.option("--peek", is_flag=True, help="Leave them unread.")
@click.option("--all", "everything", is_flag=True, help="Read and expired ones too.")
@click.option("--sent", is_flag=True, help="What you wrote, and whether it was read.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 10_000))
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@cold.pass_call
def inbox(
    call: context.Context,
    follow: bool,
    peek: bool,
    everything: bool,
    sent: bool,
    limit: int,
    as_json: bool,
) -> int:
    """Read what was written to you, urgent messages first.

    What is shown counts as read, unless --peek is given. With --follow it counts as delivered: it
    stays in the inbox until you ask for it.
    """
    if follow:
        _follow(call, call.agent, as_json=as_json)
    reader = roll.get(call.store.rows, call.session.session_id)
    if reader is None:
        # Nobody could write to somebody who was never here, and reading makes nobody be here.
        found = []
    elif sent:
        found = messages.sent(call.store, reader, limit)
    elif everything:
        found = messages.received(call.store, reader, limit)
    else:
        found = messages.unread(call.store, reader, limit)
    answer = answers.Answer(
        "messages",
        [_value(message) for message in found],
        lambda: _page(call, found, "Nothing was sent." if sent else "No messages."),
    )
    code = answers.show(answer, as_json=as_json)
    # Only after it was shown: who is killed in between reads it again.
    if reader is not None and not (peek or sent or everything):
        messages.mark(call.store, reader, found, as_read=True)
    return code


def _follow(call: context.Context, reader: model.Agent, *, as_json: bool) -> None:
    """Show unread messages as they come, each once."""
    shown: set[int] = set()
    while True:
        found = [
            message
            for message in messages.unread(call.store, reader, 1000)
            if message.id not in shown
        ]
        for message in found:
            answers.show_item("message", _value(message), _shown(call, message), as_json=as_json)
            shown.add(message.id)
        messages.mark(call.store, reader, found, as_read=False)
        time.sleep(_POLL_SECONDS)


def _value(message: messages.Message) -> dict[str, Any]:
    return {
        **message._asdict(),
        "body": answers.untrusted(message.body, f"message {message.id}"),
        "state": message.state,
    }


def _page(call: context.Context, found: list[messages.Message], nothing: str) -> str:
    return "\n".join(_shown(call, message) for message in found) if found else nothing


def _shown(call: context.Context, message: messages.Message) -> str:
    about = (
        ids.TaskKey(message.source, message.task).label if message.source and message.task else ""
    )
    to = message.to_session or message.to_name or "all"
    whom = "" if to in (call.session.session_id, call.session.agent_name) else f" to {to}"
    parts = [message.type, about, _PRIORITIES[message.priority], message.state]
    head = f"{message.id:>5}  {message.at[:10]} {message.at[11:16]}Z  {message.sender}{whom}"
    told = ", ".join(part for part in parts if part)
    body = answers.quoted(
        message.body,
        source=f"message {message.id}",
        author=message.sender,
        for_agent=call.is_agent,
    )
    return f"{text.one_line(f'{head} ({told})')}\n{body}"
