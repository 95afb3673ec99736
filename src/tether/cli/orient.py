"""`tether orient`: where things stand, for the caller and for all."""

from __future__ import annotations

from tether import clock
from tether.brief import orientation
from tether.cli import answers, context, verbs
from tether.cli.task import shown
from tether.hints import Any


def _run(call: context.Context, _: verbs.Values) -> answers.Answer:
    now = clock.now_text(clock.SystemClock())
    found = orientation.look(
        call.workspace,
        call.work if call.workspace.root else None,
        call.store,
        call.viewer if call.workspace.root else None,
        call.session,
        now,
        call.settings,
    )
    value: dict[str, Any] = {
        "session": found.session_id,
        "agent": found.agent_name,
        "held": [shown.view_value(view) for view in found.held],
        "next": shown.view_value(found.next) if found.next else None,
        "stalled": [shown.task_value(task) for task in found.stalled],
        "failed": [shown.task_value(task) for task in found.failed],
        "unread": found.unread,
        "here": found.here,
        "untrusted": list(shown.UNTRUSTED),
    }
    return answers.Answer(
        "orient",
        value,
        lambda: answers.told(_text(found, now), source="tether", for_agent=call.is_agent),
    )


def _text(found: orientation.Orientation, now: str) -> str:
    now_ms = clock.parse(now)
    lines = [f"You are {found.agent_name}. {_count(found.here, 'session')} here."]
    lines += [f"You have {v.task.id}: {v.task.title}".rstrip(": ") for v in found.held]
    if found.unread:
        lines.append(f"{_count(found.unread, 'unread message')}: `tether inbox` shows them.")
    for task in found.stalled:
        for_long = shown.ago(task.started_at, now_ms)
        lines.append(f"Stalled: {task.id}, in progress for {for_long} ({task.owner or 'nobody'}).")
    lines += [
        f"Failed: {task.id} ({task.owner or 'nobody'}); a person can retry or cancel it."
        for task in found.failed[:10]
    ]
    if found.next is not None and not found.held:
        lines.append(f"Next: {found.next.task.id}: {found.next.task.title}".rstrip(": "))
    elif not found.held:
        lines.append("No task is free for you.")
    return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


VERB = verbs.Verb(
    name="orient",
    help="Say where things stand: what you have, what is stalled, what is next.",
    options=(),
    run=_run,
)
