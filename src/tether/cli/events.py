"""`tether events`: the log of what happened."""

from __future__ import annotations

from tether import ids, text
from tether.cli import answers, context, verbs
from tether.store import events


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    chosen = events.Filter(
        task=ids.TaskId(values["task"]) if values["task"] is not None else None,
        session=ids.SessionId(values["session"]) if values["session"] is not None else None,
    )
    if values["after"] is not None:
        found = events.after(call.store, values["after"], values["limit"], chosen)
    else:
        found = events.latest(call.store, values["limit"], chosen)
    return answers.Answer("events", [event._asdict() for event in found], lambda: _lines(found))


def _lines(found: list[events.Event]) -> str:
    if not found:
        return "No events."
    return "\n".join(_line(event) for event in found)


def _line(event: events.Event) -> str:
    parts = [event.type, event.task, event.actor]
    parts += [f"{key}={_shown(value)}" for key, value in event.data.items()]
    what = text.one_line(" ".join(part for part in parts if part), 500)
    return f"{event.id:>5}  {event.at[:10]} {event.at[11:19]}Z  {what}"


def _shown(value: object) -> str:
    return ",".join(str(item) for item in value) if isinstance(value, list) else str(value)


VERB = verbs.Verb(
    name="events",
    help="Show what happened, oldest first.",
    options=(
        verbs.Option("--after", "Only events that came after this id.", "ID", is_number=True),
        verbs.Option(
            "--limit", "At most this many; the newest unless --after is given.", "N", 50, True
        ),
        verbs.Option("--task", "Only events of this task.", "ID"),
        verbs.Option("--session", "Only events of this agent session.", "ID"),
    ),
    run=_run,
)
