"""`tether events`: the log of what happened."""

from __future__ import annotations

import sys

from tether import ids, text
from tether.cli import answers, context, verbs
from tether.store import events


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    chosen = _filter(call, values["task"], values["session"])._replace(run=values["run"])
    if values["follow"]:
        _follow(call, values, chosen)
    if values["after"] is not None:
        found = events.after(call.store, values["after"], values["limit"], chosen)
    else:
        found = events.latest(call.store, values["limit"], chosen)
    return answers.Answer(
        "events",
        [event._asdict() for event in found],
        lambda: _lines(call, found) if found else _none(call, values["task"]),
    )


def _filter(call: context.Context, task: str | None, session: str | None) -> events.Filter:
    key = ids.TaskKey.parse(task) if task is not None else None
    of_session = ids.SessionId(session) if session is not None else None
    chosen = events.Filter(
        task=key.id if key else None,
        # A bare id is meant in every source.
        source=key.source if key and ":" in str(task) else None,
    )
    if task is not None and not events.latest(call.store, 1, chosen):
        # Perhaps its list writes it in another way, or it is the end of an id.
        from tether.cli import lookup

        known = lookup.known(call, task)
        if known is not None:
            chosen = events.Filter(task=known.key.id, source=known.key.source)
    return chosen._replace(session=of_session)


def _none(call: context.Context, task: str | None) -> str:
    """Nothing happened; of a task that nobody knows that says little."""
    if task is None:
        return "No events."
    from tether.cli import lookup

    if lookup.known(call, task) is not None:
        return "No events."
    unknown = lookup.unclaimed(call, ids.TaskKey.parse(task))
    return f"No events. {unknown.message}\n{unknown.hint}"


def _follow(call: context.Context, values: verbs.Values, chosen: events.Filter) -> None:
    """Show what is there and then what comes, until Ctrl-C."""
    after = values["after"]
    if after is None:
        # Asked for first: whatever comes between the two questions is in the second answer.
        newest = events.latest(call.store, 1)
        shown = events.latest(call.store, values["limit"], chosen)
        _show(call, shown, as_json=values["json"])
        after = (shown or newest)[-1].id if shown or newest else 0
    for batch in events.follow(call.store, after, chosen, call.pause):
        _show(call, batch, as_json=values["json"])


def _show(call: context.Context, found: list[events.Event], *, as_json: bool) -> None:
    for event in found:
        line = _lines(call, [event])
        answers.show_item("event", event._asdict(), line, as_json=as_json)


def _lines(call: context.Context, found: list[events.Event]) -> str:
    width = _width()
    lines = "\n".join(_line(event, width) for event in found)
    # Progress texts and the like are the words of others.
    return answers.told(lines, source="events", for_agent=call.is_agent)


def _width() -> int:
    """A terminal's line is not broken; what does not fit is in the JSON."""
    if not sys.stdout.isatty():
        return 500
    import shutil

    return max(30, shutil.get_terminal_size().columns - 29)


def _line(event: events.Event, width: int) -> str:
    parts = [event.type, event.task, event.actor]
    parts += [f"{k}={_shown(v)}" for k, v in event.data.items() if v not in (None, [])]
    what = text.one_line(" ".join(part for part in parts if part), width)
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
        verbs.Option("--follow", "Go on and show what comes, until Ctrl-C."),
        verbs.Option("--task", "Only events of this task.", "ID"),
        verbs.Option("--session", "Only events of this agent session.", "ID"),
        verbs.Option("--run", "Only events of this run.", "NAME"),
    ),
    run=_run,
)
