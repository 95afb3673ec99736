"""`tether next`: what to do now."""

from __future__ import annotations

from collections.abc import Iterator

from tether import clock, errors
from tether.agents import claims
from tether.brief import choosing
from tether.cli import answers, context, verbs
from tether.cli.task import shown
from tether.hints import Any
from tether.tasks import claiming, listing, views

_WAIT_SECONDS = 2.0


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    while True:
        answer = _claimed(call) if values["claim"] else _looked(call, values["limit"])
        if answer is not None:
            return answer
        if not values["wait"]:
            return _none(call)
        call.pause(_WAIT_SECONDS)
        call.__dict__.pop("viewer", None)


def _offered(call: context.Context) -> Iterator[views.View]:
    listed = listing.Listing(call.workspace, call.work)
    try:
        yield from choosing.offered(
            listed,
            call.viewer,
            call.session.agent_name,
            clock.now_text(clock.SystemClock()),
            call.settings.integer("tasks.ageing_days"),
        )
    finally:
        listed.close()


def _looked(call: context.Context, limit: int) -> answers.Answer | None:
    found: list[views.View] = []
    for view in _offered(call):
        found.append(view)
        if len(found) >= max(1, limit):
            break
    if not found:
        return None
    values = [shown.view_value(view) for view in found]
    return answers.Answer(
        "",
        {"task": values[0], "tasks": values, "lists": None, "untrusted": list(shown.UNTRUSTED)},
        lambda: answers.told(_text(found), source="tasks", for_agent=call.is_agent),
    )


def _claimed(call: context.Context) -> answers.Answer | None:
    """Take the first one that nobody else takes first."""
    from tether.cli import claim

    at = call.desk()
    for view in _offered(call):
        try:
            taken = claiming.claim(at, view.task.id, news=call.news(at.caller.agent))
        except (errors.NotAllowed, errors.NotFound, errors.TaskError):
            continue  # done or gone since we looked, or a person must settle it first
        if not isinstance(taken, claims.Refused):
            return claim.answer_of(call, taken)
    return None


def _none(call: context.Context) -> answers.Answer:
    """No task file is free. The lists that the team keeps, which take longer to read, may help."""
    from tether.cli.task import remaining

    mine = claims.open_ones(call.store.rows, call.session.session_id)
    left = remaining.look(call)
    value: dict[str, Any] = {
        "task": None,
        "tasks": [],
        "claims": [shown.claim_value(each) for each in mine],
        "lists": remaining.value(left),
    }
    lines = [f"You have {each.key.label}." for each in mine]
    if left:
        lines += ["No task file is free for you.", *remaining.told(left)]
    else:
        lines.append(
            "No other task is free." if mine else "Nothing to do: no task is free for you."
        )
    return answers.Answer("", value, lambda: "\n".join(lines))


def _text(found: list[views.View]) -> str:
    lines = []
    for view in found:
        said = f" ({view.said})" if view.said else ""
        lines.append(f"{view.task.id}  {view.effective.state}{said}  {view.task.title}".rstrip())
        if view.task.path:
            lines.append(f"    {view.task.path}")
    return "\n".join(lines)


VERB = verbs.Verb(
    name="next",
    help="Say what to do now: the most urgent task that is free for you.",
    notes="What you hold comes first, then what is assigned to you, then by priority and age."
    " Tasks that wait for others are left out. Those of the lists that the team keeps are only"
    " counted, where nothing else is free.",
    options=(
        verbs.Option("--claim", "Take it at once."),
        verbs.Option("--wait", "Wait until there is one."),
        verbs.Option("--limit", "Show this many.", "N", 1, is_number=True),
    ),
    run=_run,
)
