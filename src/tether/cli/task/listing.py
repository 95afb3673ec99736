"""`tether task list`: what there is, in which state, and who has it."""

from __future__ import annotations

import itertools

from tether import clock, errors, ids
from tether.agents import model as agents
from tether.cli import answers, context, verbs
from tether.cli.task import shown
from tether.hints import Any, NamedTuple
from tether.tasks import effective, listing, model, ordering, stalling, states, views

_ORDER = (
    states.UNREADABLE,
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
    stalled: set[str]
    unreadable: int
    is_narrowed: bool


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    if values["source"] not in (None, ids.OWN_SOURCE):
        from tether.cli.task import lists

        return lists.listed(call, values["source"], values)
    now = clock.now_text(clock.SystemClock())
    found = _listed(call, values, now)
    tasks = [
        {**shown.view_value(view), "stalled": view.task.id in found.stalled} for view in found.views
    ]
    value = {"tasks": tasks, "total": found.total, "untrusted": list(shown.UNTRUSTED)}
    if not found.is_narrowed:
        return _none(call, value)
    return answers.Answer(
        "",
        value,
        lambda: answers.told(_text(found, now), source="tasks", for_agent=call.is_agent),
    )


def _none(call: context.Context, value: dict[str, Any]) -> answers.Answer:
    """There is no open task; the lists that the team keeps may have some."""
    from tether.cli.task import remaining

    left = remaining.look(call)
    lines = ["No open tasks. `tether task new` writes one down.", *remaining.told(left)]
    return answers.Answer("", {**value, "lists": remaining.value(left)}, lambda: "\n".join(lines))


def _listed(call: context.Context, values: verbs.Values, now: str) -> Listed:
    places = dict.fromkeys(place for state in _wanted(values) for place in _PLACES[state])
    listed = listing.Listing(call.workspace, call.work, places)
    chosen, stalled = _chosen(call, listed, values, now)
    now_ms, ageing_days = clock.parse(now), call.settings.integer("tasks.ageing_days")
    shown_ones = itertools.islice(
        itertools.chain.from_iterable(
            ordering.ordered(chosen[state], now_ms, ageing_days) for state in _ORDER
        ),
        values["limit"],
    )
    picked = [call.viewer.view(listed.task(path)) for *_, path in shown_ones]
    listed.close()
    unreadable = len(chosen[states.UNREADABLE])
    total = sum(map(len, chosen.values()))
    is_narrowed = any(values[name] for name in ("state", "all", "agent", "parent", "stalled"))
    return Listed(picked, total, stalled, unreadable, is_narrowed or bool(total))


def _chosen(
    call: context.Context, listed: listing.Listing, values: verbs.Values, now: str
) -> tuple[dict[str, list[listing.Item]], set[str]]:
    """The tasks that fit, by state, and which of them are stalled."""
    stalled_ms = call.settings.integer("tasks.stalled_seconds") * 1000
    is_narrowed = values["agent"] is not None or values["parent"] is not None
    wanted = set(_wanted(values))
    if not values["state"]:
        # What cannot be read may be anything, so it is shown unless a state is named.
        wanted.add(states.UNREADABLE)
    held = call.viewer.open_claims
    chosen: dict[str, list[listing.Item]] = {state: [] for state in _ORDER}
    stalled: set[str] = set()
    for item in listed.items():
        state, _, _, task_id, path = item
        if state == states.NEW and task_id in held:
            state = states.IN_PROGRESS
        if state not in wanted or (
            is_narrowed and not _is_wanted(listed.task(path), held.get(task_id), values)
        ):
            continue
        if state == states.IN_PROGRESS and stalling.is_stalled(listed.task(path), now, stalled_ms):
            stalled.add(task_id)
        elif values["stalled"]:
            continue
        chosen[state].append(item)
    return chosen, stalled


def _wanted(values: verbs.Values) -> tuple[str, ...]:
    named = _ORDER[1:]
    if values["all"]:
        return named
    known = {"archive": states.ARCHIVED, **{state: state for state in named}}
    for name in values["state"]:
        if name not in known:
            raise errors.UsageError(
                "There is no such state. Nothing was changed.",
                hint=f"The states are {', '.join(named)}.",
            )
    return tuple(known[name] for name in values["state"]) or states.OPEN


def _is_wanted(task: model.Task, held: agents.Claim | None, values: verbs.Values) -> bool:
    owner = held.agent_name if held else task.owner
    is_theirs = values["agent"] is None or owner == values["agent"]
    return is_theirs and (values["parent"] is None or task.parent == values["parent"])


def _text(found: Listed, now: str) -> str:
    if not found.total:
        return "No such tasks."
    now_ms = clock.parse(now)
    rows = [("ID", "STATE", "PRIORITY", "AGENT", "AGE", "TITLE")]
    for view in found.views:
        task = view.task
        said = [view.said] if view.said and view.effective.overlay not in _IN_COLUMN else []
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
    lines = [shown.table(rows, shown.width())] if found.views else []
    if found.total > len(found.views):
        lines.append(f"{len(found.views)} of {found.total} tasks; --limit shows more.")
    if found.unreadable:
        lines.append(f"{found.unreadable} cannot be read; `tether validate` says why.")
    return "\n".join(lines)


# Who simply has it, or is to have it, stands in a column of its own.
_IN_COLUMN = (effective.HELD, effective.ASSIGNED_TO_OTHER)
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
            verbs.Option("--source", "Of a list that the team keeps, or of `all`.", "NAME"),
            verbs.Option("--limit", "At most this many.", "N", 50, is_number=True),
        ),
        run=_run,
    )
}
