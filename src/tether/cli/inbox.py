"""`tether inbox`: read what was written to you."""

from __future__ import annotations

import contextlib
import sys

import click

from tether import errors, ids, text
from tether.agents import messages, model, roll
from tether.cli import answers, cold, context
from tether.hints import Any

_PRIORITIES = ("routine", "", "high", "critical")
_POLL_SECONDS = 1.0


@click.command()
@click.option("--follow", is_flag=True, help="Go on and show what comes, until Ctrl-C.")
@click.option("--peek", is_flag=True, help="Leave them unread.")
@click.option("--all", "everything", is_flag=True, help="Read and expired ones too.")
@click.option("--sent", is_flag=True, help="What you wrote, and whether it was read.")
@cold.limited
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
    if follow and (peek or everything or sent):
        raise errors.UsageError(
            "--follow shows what is unread, so it goes with none of --peek, --all and --sent."
        )
    if follow:
        _follow(call, call.agent, as_json=as_json)
    # Reading makes nobody be here.
    reader = roll.get(call.store.rows, call.session.session_id) or messages.Stranger(
        call.session.session_id, call.session.agent_name
    )
    if sent:
        found = messages.sent(call.store, reader, limit)
    elif everything:
        found = messages.received(call.store, reader, limit)
    else:
        found = messages.unread(call.store, reader, limit)
    answer = answers.Answer(
        "messages",
        [_value(message) for message in found],
        lambda: _page(call, found, told=sent or everything),
    )
    code = answers.show(answer, as_json=as_json)
    sys.stdout.flush()
    # Only after it was shown: who is killed in between reads it again.
    if not (peek or sent or everything):
        _mark(call, reader, found, as_read=True)
    return code


def _mark(
    call: context.Context,
    reader: messages.Reader,
    found: list[messages.Message],
    *,
    as_read: bool,
) -> None:
    try:
        messages.mark(call.store, reader, found, as_read=as_read)
    except errors.StoreReadOnly:
        sys.stderr.write("tether: note: the store cannot be written, so they stay unread.\n")


def _follow(call: context.Context, reader: model.Agent, *, as_json: bool) -> None:
    """Show unread messages as they come, each once."""
    last = 0
    unmarked: list[messages.Message] = []
    while True:
        newest = messages.newest(call.store)
        found = messages.unread_after(call.store, reader, last, 500)
        for message in found:
            line = _for_caller(call, _shown(call, message, told=False))
            answers.show_item("message", _value(message), line, as_json=as_json)
            last = message.id
        unmarked += found
        # A store that others keep busy is no reason to stop: they are marked with the next ones.
        with contextlib.suppress(errors.StoreBusy):
            _mark(call, reader, unmarked, as_read=False)
            unmarked.clear()
        if len(found) < 500:
            last = max(last, newest)
            call.pause(_POLL_SECONDS)


def _value(message: messages.Message) -> dict[str, Any]:
    return {
        **message._asdict(),
        "body": answers.untrusted(message.body, f"message {message.id}"),
        "state": message.state,
    }


def _page(call: context.Context, found: list[messages.Message], *, told: bool) -> str:
    if not found:
        return "No messages."
    page = "\n".join(_shown(call, message, told=told) for message in found)
    return _for_caller(call, page)


def _for_caller(call: context.Context, page: str) -> str:
    """One fence around all: whoever wrote, these are words of others."""
    return answers.told(page, source="inbox", for_agent=call.is_agent)


def _shown(call: context.Context, message: messages.Message, *, told: bool) -> str:
    """A message for people; `told` says how far it is too."""
    key = ids.TaskKey(message.source, message.task) if message.source and message.task else None
    to = message.to_session or message.to_name or model.EVERYBODY
    whom = "" if to in (call.session.session_id, call.session.agent_name) else f" to {to}"
    parts = [
        message.type,
        key.label if key else "",
        _PRIORITIES[message.priority],
        message.state if told else "",
    ]
    about = ", ".join(part for part in parts if part)
    head = text.one_line(
        f"{message.at[:10]} {message.at[11:16]}Z  {message.sender}{whom} ({about})"
    )
    body = answers.indented(message.body)
    return f"{message.id:>5}  {head}\n{body}"
