"""`tether orient`: where things stand, for the caller and for all."""

from __future__ import annotations

from tether import clock, ids, text
from tether.brief import orientation, orphaned
from tether.cli import answers, context, offering, sweeping, verbs
from tether.cli.task import remaining, shown
from tether.hints import Any
from tether.tasks import views
from tether.vacuum import model

_MAX_SHOWN = 5
_MAX_ORPHANS = 3


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    now = clock.now_text(clock.SystemClock())
    swept = sweeping.quick_findings(call, now, model.limits(call.settings))
    found = orientation.look(
        call.workspace,
        call.work if call.workspace.root else None,
        call.store,
        call.spot,
        call.viewer if call.workspace.root else None,
        call.session,
        now,
        call.settings,
        swept,
    )
    passed: list[views.View] = []
    if call.workspace.root:
        stands = orphaned.standing(found.orphans, lambda key: sweeping.is_open(call, key))
        found = found._replace(orphans=stands)
        offers = offering.offers(call, swept, passed)
        found = found._replace(next=next((each for each in offers if not each.is_held), None))
    has_nothing = not found.held and not found.claims
    left = remaining.rest(call, passed) if has_nothing and found.next is None else None
    value = _value(found, left)
    if values["compact"]:
        return answers.Answer("orient", value, lambda: _compact(found, shown.width()))

    def page() -> str:
        return _text(found, now, _titles(call, found), left)

    return answers.Answer(
        "orient",
        value,
        lambda: answers.told(page(), source="tether", for_agent=call.is_agent),
        None if call.is_agent else lambda columns: shown.pieces(page().split("\n"), columns),
    )


def _value(found: orientation.Orientation, left: remaining.Rest | None) -> dict[str, Any]:
    """Where things stand, for programs."""
    return {
        "session": found.session_id,
        "agent": found.agent_name,
        "held": [shown.view_value(view) for view in found.held],
        "claims": [shown.claim_value(claim) for claim in found.claims],
        "next": offering.value(found.next) if found.next is not None else None,
        "stalled": [shown.task_value(task) for task in found.stalled],
        "failed": [shown.task_value(task) for task in found.failed],
        "lists": None if left is None else remaining.value(left.lists),
        "not_free": None if left is None else remaining.rest_value(left),
        "unread": found.unread,
        "here": found.here,
        "orphans": _orphans_value(found.orphans),
        "run": found.run._asdict() if found.run is not None else None,
        "untrusted": list(shown.UNTRUSTED),
    }


def _orphans_value(found: orphaned.Orphaned) -> dict[str, Any]:
    return {
        "total": found.total,
        "counts": found.counts,
        "first": [
            {
                "key": each.key.label,
                "type": each.type,
                "grade": each.grade,
                "probability": each.percent / 100,
                "reason": text.clean(each.reason),
                "last_activity": each.last_at or None,
            }
            for each in found.some[:_MAX_ORPHANS]
        ],
    }


def _compact(found: orientation.Orientation, columns: int) -> str:
    """Everything in one line; on a terminal with as many kinds of orphans as it has room for."""
    have = len(found.held) + len(found.claims)
    head = f"{found.agent_name}: {have} held, {found.unread} unread, {len(found.stalled)} stalled"
    orphans = text.counted(found.orphans.total, "orphan")
    after = f", next {found.next.key.id}" if found.next is not None else ""
    kinds = [f"{count} {kind}" for kind, count in found.orphans.counts.items()]
    lines = []
    for number in range(len(kinds), -1, -1):
        some = ", ".join(kinds[:number] + ["…"] * (number < len(kinds)))
        lines.append(f"{head}, {orphans}" + (f" ({some})" if number else "") + after)
    return next((each for each in lines if text.cells(each) <= columns), lines[-1])


def _titles(call: context.Context, found: orientation.Orientation) -> dict[ids.TaskKey, str]:
    """What the team's lists say of the tasks that the caller has."""
    if call.workspace.root is None:
        return {}
    keys = [claim.key for claim in found.claims if claim.source != ids.OWN_SOURCE]
    items = {key: call.list_item(key) for key in keys}
    return {key: item.text for key, item in items.items() if item is not None}


def _text(
    found: orientation.Orientation,
    now: str,
    titles: dict[ids.TaskKey, str],
    left: remaining.Rest | None,
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
    lines += _orphans(found.orphans, now_ms)
    if found.run is not None:
        ago = shown.ago(found.run.at, now_ms)
        lines.append(f"Run {found.run.run}: {found.run.type.replace('_', ' ')}, {ago} ago.")
    for task in found.stalled[:_MAX_SHOWN]:
        for_long = shown.ago(task.started_at, now_ms)
        lines.append(f"Stalled: {task.id}, in progress for {for_long} ({task.owner or 'nobody'}).")
    if len(found.stalled) > _MAX_SHOWN:
        more = len(found.stalled) - _MAX_SHOWN
        lines.append(f"{more} more are stalled; `tether task stalled` shows them.")
    lines += [
        f"Failed: {task.id} ({task.owner or 'nobody'}); a person can retry or cancel it."
        for task in found.failed[:_MAX_SHOWN]
    ]
    if found.held or found.claims:
        return "\n".join(lines)
    if found.next is not None:
        lines.append(
            f"Next: {found.next.key.id}: {text.one_line(found.next.title, 100)}".rstrip(": ")
        )
        lines.append(f"  {text.one_line(found.next.why, min(shown.width(), 122) - 2)}")
    elif left is not None:
        lines += remaining.rest_told(left, "No task is free for you")
    return "\n".join(lines)


def _orphans(found: orphaned.Orphaned, now_ms: int) -> list[str]:
    """How many tasks were dropped, and the most urgent of them."""
    if not found.total:
        return []
    lines = [f"Orphaned Tasks: {found.total}"]
    for each in found.some[:_MAX_ORPHANS]:
        ago = f", {shown.ago(each.last_at, now_ms)} ago" if each.last_at else ""
        head = f"  {each.key.id} — {each.type.replace('_', ' ')}{ago}: "
        room = max(24, min(shown.width(), 120) - len(head))
        lines.append(head + text.one_line(each.reason, room))
    lines.append("  `tether vacuum` tells all, `tether vacuum adopt ID` takes one up.")
    return lines


VERB = verbs.Verb(
    name="orient",
    help="Say where things stand: what you have, what was dropped, what is next.",
    options=(verbs.Option("--compact", "One line."),),
    run=_run,
)
