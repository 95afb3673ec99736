"""`tether orient`: where things stand, for the caller and for all."""

from __future__ import annotations

from tether import clock, ids, text
from tether.brief import choosing, orientation
from tether.cli import answers, context, verbs
from tether.cli.task import remaining, shown
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
    has_nothing = not found.held and not found.claims
    left = remaining.look(call) if has_nothing and found.next is None else None
    value: dict[str, Any] = {
        "session": found.session_id,
        "agent": found.agent_name,
        "held": [shown.view_value(view) for view in found.held],
        "claims": [shown.claim_value(claim) for claim in found.claims],
        "next": shown.view_value(found.next) if found.next else None,
        "stalled": [shown.task_value(task) for task in found.stalled],
        "failed": [shown.task_value(task) for task in found.failed],
        "lists": None if left is None else remaining.value(left),
        "unread": found.unread,
        "here": found.here,
        "untrusted": list(shown.UNTRUSTED),
    }
    return answers.Answer(
        "orient",
        value,
        lambda: answers.told(
            _text(found, now, _titles(call, found), left), source="tether", for_agent=call.is_agent
        ),
    )


def _titles(call: context.Context, found: orientation.Orientation) -> dict[ids.TaskKey, str]:
    """What the team's lists say of the tasks that the caller has."""
    keys = [claim.key for claim in found.claims if claim.source in call.sources]
    return {key: call.lists.items[key].text for key in keys if key in call.lists.items}


def _text(
    found: orientation.Orientation,
    now: str,
    titles: dict[ids.TaskKey, str],
    left: dict[str, choosing.Open] | None,
) -> str:
    now_ms = clock.parse(now)
    lines = [f"You are {found.agent_name}. {text.counted(found.here, 'session')} here."]
    lines += [f"You have {v.task.id}: {v.task.title}".rstrip(": ") for v in found.held]
    lines += [
        f"You have {claim.key.label}: {text.one_line(titles.get(claim.key, ''), 100)}".rstrip(": ")
        for claim in found.claims
    ]
    if found.unread:
        lines.append(f"{text.counted(found.unread, 'unread message')}: `tether inbox` shows them.")
    for task in found.stalled:
        for_long = shown.ago(task.started_at, now_ms)
        lines.append(f"Stalled: {task.id}, in progress for {for_long} ({task.owner or 'nobody'}).")
    lines += [
        f"Failed: {task.id} ({task.owner or 'nobody'}); a person can retry or cancel it."
        for task in found.failed[:10]
    ]
    if found.held or found.claims:
        return "\n".join(lines)
    if found.next is not None:
        lines.append(f"Next: {found.next.task.id}: {found.next.task.title}".rstrip(": "))
    elif left:
        lines += ["No task file is free for you.", *remaining.told(left)]
    else:
        lines.append("No task is free for you.")
    return "\n".join(lines)


VERB = verbs.Verb(
    name="orient",
    help="Say where things stand: what you have, what is stalled, what is next.",
    options=(),
    run=_run,
)
