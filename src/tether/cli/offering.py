"""What somebody may take up now, for `next` and `orient`: each task with why it comes then."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tether import clock, ids, text
from tether.agents import claims, liveness
from tether.brief import choosing, orphaned
from tether.cli import context, sweeping
from tether.cli.task import shown
from tether.hints import Any
from tether.tasks import listing, views
from tether.vacuum import deferring, model, quick


def offers(
    call: context.Context,
    swept: list[quick.Found] | None = None,
    passed: list[views.View] | None = None,
) -> Iterator[choosing.Offer]:
    """What one holds, what others dropped, what is assigned, then new work; found when asked.

    `swept` is what a quick sweep has found, for who has made one already. `passed` gets the tasks
    with a file that are not offered.
    """
    own = _in_files(call, passed)
    orphans = _orphans(call, swept)
    seen: set[ids.TaskKey] = set()
    # What the caller holds already comes before everything, and only that.
    first = next(own, None)
    while first is not None and first.is_held:
        seen.add(first.key)
        yield first
        first = next(own, None)
    rest = itertools.chain([first] if first is not None else [], own)
    put_off = _PutOff(call)
    for offer in itertools.chain(_held_of_lists(call), orphans, rest, _in_lists(call)):
        if offer.key not in seen and not put_off.has(offer):
            seen.add(offer.key)
            yield offer


def _in_files(call: context.Context, passed: list[views.View] | None) -> Iterator[choosing.Offer]:
    listed = listing.Listing(call.workspace, call.work)
    try:
        yield from choosing.in_files(
            listed,
            call.viewer,
            call.session.agent_name,
            *_ageing(call),
            passed,
        )
    finally:
        listed.close()


def _ageing(call: context.Context) -> tuple[str, int]:
    """What time it is, and in how many days waiting lifts a task by one priority."""
    return clock.now_text(clock.SystemClock()), call.settings.integer("tasks.ageing_days")


def _held_of_lists(call: context.Context) -> Iterator[choosing.Offer]:
    for claim in claims.open_ones(call.store.rows, call.session.session_id):
        if claim.source != ids.OWN_SOURCE:
            item = call.list_item(claim.key)
            if item is not None and item.state in choosing.OPEN_IN_LISTS:
                yield choosing.Offer(item.key, choosing.HELD, item=item, is_held=True)


def _orphans(call: context.Context, swept: list[quick.Found] | None) -> Iterator[choosing.Offer]:
    """What others dropped, the most urgent first, as far as it still has to be done."""
    limits = model.limits(call.settings)
    if swept is None:
        swept = sweeping.quick_findings(call, clock.now_text(clock.SystemClock()), limits)
    for orphan in orphaned.look(call.store, swept, limits).some:
        why = f"{orphan.type}: {orphan.reason}"
        if orphan.key.source == ids.OWN_SOURCE:
            found = [call.viewer.view(call.work.read(e)) for e in call.work.find(orphan.key.id)]
            if len(found) == 1 and found[0].is_offered:
                yield choosing.Offer(orphan.key, why, found[0], orphan=orphan)
        elif _is_free(call, orphan.key):
            item = call.lists.items.get(call.lists.resolve(orphan.key))
            if item is not None and choosing.may_begin(call.lists, item):
                yield choosing.Offer(item.key, why, item=item, orphan=orphan)


def _is_free(call: context.Context, key: ids.TaskKey) -> bool:
    """May it be taken: does nobody have it who may be alive?"""
    answer = claims.refused(call.store.rows, call.spot, key)
    return not answer.is_held or answer.verdict in liveness.OVER


def _in_lists(call: context.Context) -> Iterator[choosing.Offer]:
    """New work of the lists that the team keeps; they take longer to read, so they come last."""
    if not call.sources:
        return
    from tether.vacuum import gathering

    last = gathering.claims(call.store) if call.store.exists() else {}
    taken = {key for key, each in last.items() if each.closed_at is None or each.outcome == "done"}
    yield from choosing.in_lists(call.lists, taken, *_ageing(call))


class _PutOff:
    """Which tasks are nobody's next: put off, or done. Asked of few, and the store once."""

    def __init__(self, call: context.Context) -> None:
        self._call = call
        self._now = clock.now_text(clock.SystemClock())
        self._deferrals = quick.deferrals(call.store)
        self._unmarked = quick.unmarked(call.store, model.limits(call.settings))

    def has(self, offer: choosing.Offer) -> bool:
        if offer.is_held or offer.orphan is not None:
            return False  # of these that was asked already
        if offer.key in self._unmarked:
            return True  # it wants a mark, and nobody who does it again
        if offer.item is None and not self._deferrals:
            return False
        subject = sweeping.subject_of(self._call, offer.key)
        if subject is None:
            return False
        applying = deferring.applying(self._deferrals, subject, "", self._now)
        return bool(subject.put_off) or applying is not None


def value(offer: choosing.Offer) -> dict[str, Any]:
    """An offer for programs: the task, and why it is offered."""
    value: dict[str, Any] = {}
    if offer.view is not None:
        value = shown.view_value(offer.view)
    elif offer.item is not None:
        from tether.cli.task import lists

        value = lists.item_value(offer.item, None)
    orphan = offer.orphan
    return {
        "key": offer.key.label,
        **value,
        "why": text.clean(offer.why),
        "orphan": orphan.type if orphan is not None else None,
        "probability": orphan.percent / 100 if orphan is not None else None,
    }
