"""`tether task list`: what there is, in which state, and who has it."""

from __future__ import annotations

from typing import NamedTuple

from tether import clock, errors
from tether.cli import answers, context, verbs
from tether.cli.task import shown
from tether.tasks import effective, listing, model, ordering, stalling, states, views

_ORDER = (
    states.IN_PROGRESS,
    states.ERROR,
    states.ASSIGNED,
    states.NEW,
    states.DONE,
    states.ARCHIVED,
)
_PLACES = {
    states.NEW: (states.INBOX, states.ASSIGNED),
    states.ASSIGNED: (states.ASSIGNED, states.INBOX),
    states.IN_PROGRESS: (states.ASSIGNED, states.INBOX),
    states.ERROR: (states.ASSIGNED, states.INBOX),
    states.DONE: (states.DONE, states.INBOX, states.ASSIGNED),
    states.ARCHIVED: (states.ARCHIVE, states.INBOX, states.ASSIGNED),
}


class Listed(NamedTuple):
    """The tasks that fit, those that are shown of them, and which are stalled."""

    views: list[views.View]
    total: int
    stalled: list[str]
    unreadable: int


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    now = clock.now_text(clock.SystemClock())
    found = _listed(call, values, now)
    tasks = [
        {**shown.view_value(view), "stalled": view.task.id in found.stalled} for view in found.views
    ]
    value = {"tasks": tasks, "total": found.total, "untrusted": list(shown.UNTRUSTED)}
    return answers.Answer(
        "",
        value,
        lambda: answers.told(_text(found, now), source="tasks", for_agent=call.is_agent),
    )


def _listed(call: context.Context, values: verbs.Values, now: str) -> Listed:
    wanted = _wanted(values)
    places = tuple(dict.fromkeys(place for state in wanted for place in _PLACES[state]))
    stalled_ms = call.settings.integer("tasks.stalled_seconds") * 1000
    groups: dict[str, list[model.Task]] = {state: [] for state in _ORDER}
    stalled, unreadable = [], 0
    is_narrowed = values["agent"] is not None or values["parent"] is not None
    held = call.viewer.open_claims
    for task in listing.tasks(call.workspace, call.work, places):
        if task.problem:
            # It may be anything, so it is always shown, and first.
            unreadable += 1
            groups[states.IN_PROGRESS].append(task)
            continue
        state = task.state
        if state == states.NEW and task.id in held:
            state = states.IN_PROGRESS
        if state not in wanted or (is_narrowed and not _is_wanted(task, values)):
            continue
        if state == states.IN_PROGRESS and stalling.is_stalled(task, now, stalled_ms):
            stalled.append(task.id)
        elif values["stalled"]:
            continue
        groups[state].append(task)
    now_ms, ageing_days = clock.parse(now), call.settings.integer("tasks.ageing_days")
    limit = values["limit"]
    picked: list[views.View] = []
    for state in _ORDER:
        for task in ordering.ordered(groups[state], now_ms, ageing_days):
            if len(picked) >= limit:
                break
            picked.append(call.viewer.view(task))
    return Listed(picked, sum(map(len, groups.values())), stalled, unreadable)


def _wanted(values: verbs.Values) -> tuple[str, ...]:
    if values["all"]:
        return _ORDER
    known = {"archive": states.ARCHIVED, **{state: state for state in _ORDER}}
    for name in values["state"]:
        if name not in known:
            raise errors.UsageError(
                "There is no such state. Nothing was changed.",
                hint=f"The states are {', '.join(_ORDER)}.",
            )
    return tuple(known[name] for name in values["state"]) or states.OPEN


def _is_wanted(task: model.Task, values: verbs.Values) -> bool:
    if values["agent"] is not None and task.owner != values["agent"]:
        return False
    return values["parent"] is None or task.parent == values["parent"]


def _text(found: Listed, now: str) -> str:
    if not found.views:
        return "No such tasks."
    now_ms = clock.parse(now)
    rows = [("ID", "STATE", "PRIORITY", "AGENT", "AGE", "TITLE")]
    for view in found.views:
        task = view.task
        # Who simply has it stands in a column of its own.
        said = [view.said] if view.said and view.effective.overlay != effective.HELD else []
        if task.id in found.stalled:
            said.append(f"stalled: in progress for {shown.ago(task.started_at, now_ms) or 'long'}")
        if task.problem:
            said = [
                f"cannot be read: {task.problem}" + (f", line {task.line}" if task.line else "")
            ]
        said += [f"waits for {each.id}" for each in view.waits_for if not each.is_met]
        agent = (
            view.claim.agent_name if view.effective.overlay in _HELD and view.claim else task.owner
        )
        title = " ".join([task.title, *(f"[{each}]" for each in said)]).strip()
        age = shown.ago(task.created_at, now_ms)
        rows.append((task.id, view.effective.state, task.priority, agent or "-", age or "-", title))
    lines = [shown.table(rows, shown.width())]
    if found.total > len(found.views):
        lines.append(f"{len(found.views)} of {found.total} tasks; --limit shows more.")
    if found.unreadable:
        lines.append(f"{found.unreadable} cannot be read; `tether validate` says why.")
    return "\n".join(lines)


_HELD = (effective.HELD, effective.HELD_BY_ME, effective.HELD_BY_SUSPECT, effective.HOLDER_GONE)


VERBS = {
    "list": verbs.Verb(
        name="list",
        help="Show tasks, who has them and what they wait for.",
        notes="Open ones, unless states are named; --state may be repeated.",
        options=(
            verbs.Option("--state", "Only tasks in this state.", "STATE", is_list=True),
            verbs.Option("--all", "Done and archived ones too."),
            verbs.Option("--agent", "Only those of this agent.", "NAME"),
            verbs.Option("--parent", "Only parts of this task.", "ID"),
            verbs.Option("--stalled", "Only those in progress for too long."),
            verbs.Option("--limit", "At most this many.", "N", 50, is_number=True),
        ),
        run=_run,
    )
}
