"""Sweeps for orphans, as commands start them. Hot: `orient` and `next` ask the quick one."""

from __future__ import annotations

import os
import sys

from tether import clock, ids, text
from tether.cli import context
from tether.hints import TYPE_CHECKING
from tether.tasks import states
from tether.vacuum import model, quick

if TYPE_CHECKING:
    from tether.tasks import model as tasks
    from tether.vacuum import reports, subjects, sweeps

_OVER = (states.DONE, states.ARCHIVED, "cancelled")


def run_sweep(call: context.Context, sweep_type: str) -> sweeps.Swept:
    """A standard or deep sweep of this checkout, written down in the store."""
    from tether.cli import progress
    from tether.vacuum import presence, sweeps

    known = subjects_of(call)
    scene = sweeps.Scene(
        call.witness,
        call.store,
        presence.Presence(call.store, call.spot),
        known,
        call.places.claude,
        call.witness.around(),
        _Considered(call).state,
        progress.Progress(sys.stderr),
    )
    return sweeps.sweep(scene, order_of(call, sweep_type))


def order_of(call: context.Context, sweep_type: str) -> sweeps.Order:
    """A sweep as this caller wants it, now."""
    from tether.vacuum import sweeps

    now = clock.now_text(clock.SystemClock())
    limits = model.limits(call.settings)
    return sweeps.Order(sweep_type, now, call.actor, project_of(call), limits)


def project_of(call: context.Context) -> str:
    """What the project is called: as its directory is."""
    place = call.workspace.root or call.workspace.common_dir
    return text.one_line(os.path.basename(place.rstrip("/")), 64) or "project"


def subjects_of(call: context.Context) -> subjects.Subjects:
    """All tasks of this checkout."""
    from tether.tasks import listing
    from tether.vacuum import subjects

    places = (*listing.OPEN_PLACES, states.DONE)
    own = listing.tasks(call.workspace, call.work, places) if call.work.exists else []
    return subjects.read(own, call.lists)


class _Considered:
    """The states of tasks all things considered: what is done on another branch is done."""

    def __init__(self, call: context.Context) -> None:
        self._call = call
        self._tasks: dict[str, tasks.Task] | None = None

    def state(self, subject: model.Subject) -> str:
        if subject.key.source != ids.OWN_SOURCE or subject.state not in model.OPEN:
            return subject.state
        if self._tasks is None:
            from tether.tasks import listing

            found = listing.tasks(self._call.workspace, self._call.work)
            self._tasks = {each.id: each for each in found}
        task = self._tasks.get(subject.key.id)
        if task is None:
            return subject.state
        state = self._call.viewer.view(task).effective.state
        return state if state in states.RANK else subject.state


def quick_findings(call: context.Context, now: str, limits: model.Limits) -> list[quick.Found]:
    """What the store alone says is wrong; the few tasks that come up are looked up."""
    lookup = quick.Lookup(
        lambda key: is_over(call, key), lambda key: _track(call, key), project_of(call)
    )
    return quick.sweep(call.store, call.spot, now, limits, lookup)


def is_over(call: context.Context, key: ids.TaskKey) -> bool:
    """Does the file or the list of a task say that there is nothing to do any more?"""
    if call.workspace.root is None:
        return False
    if key.source != ids.OWN_SOURCE:
        item = call.lists.items.get(call.lists.resolve(key))
        return item is not None and item.state in _OVER
    if not ids.TaskId.is_valid(key.id):
        return False
    found = [call.work.read(each) for each in call.work.find(key.id)]
    return bool(found) and all(each.state in _OVER or each.is_cancelled for each in found)


def record_quick(call: context.Context, found: list[quick.Found], now: str) -> reports.Recorded:
    """Write down what a quick sweep found, if that is news."""
    from tether.vacuum import reports

    rows = [
        reports.Row(
            each.key,
            each.finding,
            _track(call, each.key),
            each.evidence.claimed_at,
            each.evidence.hold.session if each.evidence.hold is not None else "",
            reports.evidence_of(each.evidence, each.finding),
        )
        for each in found
    ]
    return reports.record(
        call.store,
        model.QUICK,
        rows,
        now,
        call.actor,
        project_of(call),
        is_done=lambda key: is_over(call, key),
    )


def note_quick(call: context.Context, found: list[quick.Found], now: str) -> None:
    """The same, if it is news: who only looks around writes nothing that is known."""
    if call.store.exists() and quick.known(call.store) != {each.name for each in found}:
        record_quick(call, found, now)


def _track(call: context.Context, key: ids.TaskKey) -> str:
    if key.source == ids.OWN_SOURCE or call.workspace.root is None:
        return ids.OWN_SOURCE if key.source == ids.OWN_SOURCE else ""
    item = call.lists.items.get(key)
    return item.track if item is not None else ""
