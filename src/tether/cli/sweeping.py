"""Sweeps for orphans, as commands start them. Hot: `orient` and `next` ask the quick one."""

from __future__ import annotations

import contextlib
import os
import sys

from tether import clock, errors, ids, text
from tether.cli import context
from tether.hints import TYPE_CHECKING
from tether.tasks import states
from tether.vacuum import model, quick

if TYPE_CHECKING:
    from tether.tasks import model as tasks
    from tether.vacuum import subjects, sweeps

_OVER = (states.DONE, states.ARCHIVED, "cancelled")


def run_sweep(
    call: context.Context, sweep_type: str, known: subjects.Subjects | None = None
) -> sweeps.Swept:
    """A standard or deep sweep of this checkout, written down in the store."""
    from tether.cli import progress
    from tether.vacuum import presence, sweeps

    known = known or subjects_of(call)
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
    by, project = call.actor, project_of(call)
    return sweeps.Order(sweep_type, now, by, project, limits, call.spot.here.host_id)


def project_of(call: context.Context) -> str:
    """What the project is called: as the directory is that its repository is in."""
    place = call.workspace.common_dir.rstrip("/")
    if os.path.basename(place) == ".git":
        place = os.path.dirname(place)
    return text.one_line(os.path.basename(place).removesuffix(".git"), 64) or "project"


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
    """What the store alone says is wrong, written down if it is news.

    Those that are probable enough to be told, and that still stand in this checkout: the few tasks
    that come up are looked up.
    """

    def lookup(key: ids.TaskKey) -> model.Subject | None:
        return subject_of(call, key)

    found = quick.sweep(call.store, call.spot, now, limits, lookup)
    here = quick.standing_here(found, lookup)
    # Where nothing can be written nothing is lost: the next sweep finds it again.
    with contextlib.suppress(errors.StoreError, errors.FileError):
        if call.store.exists():
            known = quick.known(call.store)
            wanted = quick.to_be_open(found, here, known)
            if known != {each.name for each in wanted}:
                _record_quick(call, wanted, known, now)
    return quick.alerting(here, limits)


def subject_of(call: context.Context, key: ids.TaskKey) -> model.Subject | None:
    """A task as its file or list in this checkout has it."""
    if call.workspace.root is None:
        return None
    if key.source != ids.OWN_SOURCE:
        from tether.vacuum import subjects

        item = call.list_item(key)
        return subjects.of_item(item) if item is not None else None
    if not ids.TaskId.is_valid(key.id):
        return None
    found = [call.work.read(each) for each in call.work.find(key.id)]
    open_ones = [each for each in found if each.state not in _OVER and not each.is_cancelled]
    if not found:
        return None
    state = open_ones[0].state if open_ones else states.DONE
    return model.Subject(key, found[0].title, state, ids.OWN_SOURCE)


def is_open(call: context.Context, key: ids.TaskKey) -> bool:
    """Has it still to be done, as far as this checkout can tell?"""
    subject = subject_of(call, key)
    return subject is None or subject.state in model.OPEN


def _record_quick(
    call: context.Context, found: list[quick.Found], known: set[tuple[str, str, str]], now: str
) -> None:
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
    named = (now, call.actor, project_of(call))
    number = reports.begin(call.store, model.QUICK, *named, call.spot.here.host_id)
    done = _done(call, known - {each.name for each in found})
    recorded = reports.record(call.store, model.QUICK, rows, *named, is_done=done.__contains__)
    counts: dict[str, int] = {}
    for each in found:
        counts[each.finding.type] = counts.get(each.finding.type, 0) + 1
    alerts = quick.alerting(found, model.limits(call.settings))
    counts["orphans"] = len({e.key for e in alerts if e.finding.type in model.ORPHANED})
    ended_at = reports.ending(now, clock.SystemClock())
    reports.end(call.store, number, model.QUICK, ended_at, call.actor, 0, counts, recorded)


def _done(call: context.Context, names: set[tuple[str, str, str]]) -> set[ids.TaskKey]:
    """Which of the tasks are done, as this checkout has them."""
    keys = {ids.TaskKey(source, task) for source, task, _ in names}
    found = {key: subject_of(call, key) for key in keys}
    return {key for key, each in found.items() if each is not None and each.state == states.DONE}


def _track(call: context.Context, key: ids.TaskKey) -> str:
    if key.source == ids.OWN_SOURCE or call.workspace.root is None:
        return ids.OWN_SOURCE if key.source == ids.OWN_SOURCE else ""
    item = call.list_item(key)
    return item.track if item is not None else ""
