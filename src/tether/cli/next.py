"""`tether next`: what to do now."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tether import clock, errors, ids, text
from tether.agents import claims
from tether.brief import choosing
from tether.cli import adopting, answers, context, offering, verbs
from tether.cli.task import shown
from tether.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tether.tasks import views

_WAIT_SECONDS = 2.0


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    if values["limit"] < 1:
        raise errors.UsageError("--limit is a number from 1 on. Nothing was changed.")
    while True:
        passed: list[views.View] = []
        offers = offering.offers(call, passed=passed)
        answer = (
            _claimed(call, offers) if values["claim"] else _looked(call, offers, values["limit"])
        )
        if answer is not None:
            return answer
        if not values["wait"]:
            return _none(call, passed)
        call.pause(_WAIT_SECONDS)
        for name in ("viewer", "lists"):
            call.__dict__.pop(name, None)


def _looked(
    call: context.Context, offers: Iterator[choosing.Offer], limit: int
) -> answers.Answer | None:
    found = list(itertools.islice(offers, limit))
    if not found:
        return None
    values = [offering.value(offer) for offer in found]
    return answers.Answer(
        "",
        {"task": values[0], "tasks": values, "lists": None, "untrusted": _UNTRUSTED},
        lambda: answers.told(_text(found), source="tasks", for_agent=call.is_agent),
        None if call.is_agent else lambda columns: shown.pieces(_text(found).split("\n"), columns),
    )


_UNTRUSTED = [*shown.UNTRUSTED, "why", "section", "path"]


def _claimed(call: context.Context, offers: Iterator[choosing.Offer]) -> answers.Answer | None:
    """Take the first one that nobody else takes first; what was dropped is adopted."""
    from tether.cli import claim

    for offer in offers:
        try:
            # What was begun elsewhere goes on there; all else is taken up here.
            taken, elsewhere = adopting.take(call, offer.key, here=offer.orphan is None)
        except (errors.NotAllowed, errors.NotFound, errors.TaskError):
            continue  # done or gone since we looked, or a person must settle it first
        if isinstance(taken, claims.Refused):
            continue
        return _told(call, offer, claim.answer_of(call, taken), elsewhere)
    return None


def _told(
    call: context.Context, offer: choosing.Offer, answer: answers.Answer, elsewhere: str
) -> answers.Answer:
    """The answer of a claim, with why it was this task; what was dropped is adopted."""
    orphan = offer.orphan
    more = {
        "why": text.clean(offer.why),
        "orphan": orphan.type if orphan is not None else None,
        "go_on_in": elsewhere or None,
    }
    plain = answer.plain
    answer = answer._replace(value={**answer.value, **more})
    if orphan is None:
        return answer
    _adopted(call, offer.key, orphan.type)
    lines = [f"It was dropped: {offer.why}. `tether handoff {offer.key.label}` tells more."]
    if elsewhere:
        lines.append(f"It was begun in {elsewhere}: go on there.")
    hint = answers.told("\n".join(lines), source=offer.key.label, for_agent=call.is_agent)
    return answer._replace(plain=lambda: f"{plain()}\n{hint}")


def _adopted(call: context.Context, key: ids.TaskKey, kind: str) -> None:
    from tether.vacuum import resolve

    now = clock.now_text(clock.SystemClock())
    resolve.adopted(call.store, call.agent, key, now, f" ({kind.replace('_', ' ')})")


def _none(call: context.Context, passed: list[views.View]) -> answers.Answer:
    """Nothing is free."""
    from tether.cli.task import remaining

    mine = claims.open_ones(call.store.rows, call.session.session_id)
    left = remaining.rest(call, passed)
    value: dict[str, Any] = {
        "task": None,
        "tasks": [],
        "claims": [shown.claim_value(each) for each in mine],
        "lists": remaining.value(left.lists),
        "not_free": remaining.rest_value(left),
    }
    said = "No other task is free" if mine else "Nothing to do: no task is free for you"
    lines = [
        *(f"You have {each.key.label}." for each in mine),
        *remaining.rest_told(left, "No task is free for you" if left.lists else said),
    ]
    return answers.Answer("", value, lambda: "\n".join(lines), shown.fitted(lines))


def _text(found: list[choosing.Offer]) -> str:
    lines = []
    for offer in found:
        view, item = offer.view, offer.item
        if view is not None:
            said = f" ({view.said})" if view.said else ""
            state, title, path = f"{view.effective.state}{said}", view.task.title, view.task.path
        elif item is not None:
            state, title, path = item.state, item.text, f"{item.path}:{item.line}"
        else:
            continue
        lines.append(f"{offer.key.id}  {state}  {text.one_line(title, 100)}".rstrip())
        if path:
            lines.append(f"    {text.one_line(path)}")
        lines.append(f"    why: {text.one_line(offer.why, min(shown.width(), 160) - 9)}")
    return "\n".join(lines)


VERB = verbs.Verb(
    name="next",
    help="Say what to do now: the most urgent task that is free for you.",
    notes="What you hold comes first, then what others dropped (dead_claim, conflict_abandoned,"
    " context_lost, stale_in_progress, partially_completed), then what is assigned to you, then new"
    " work by priority and age. Tasks that wait for others are left out. With --claim a task that"
    " was dropped is adopted.",
    options=(
        verbs.Option("--claim", "Take it at once."),
        verbs.Option("--wait", "Wait until there is one."),
        verbs.Option("--limit", "Show this many.", "N", 1, is_number=True),
    ),
    run=_run,
)
