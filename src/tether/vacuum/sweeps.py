"""Sweeps: gather what is known of every task that somebody began, judge it, write down the result.

`standard` looks at what happened within the window (30 days), `deep` at everything, also at what is
marked done. The quick sweep, which only asks the store, is `quick`. All of it can be interrupted:
what was read stays in the index, and what was written down is written again next time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator

from tether import clock, errors, ids, text
from tether.evidence import claimed, witness
from tether.evidence.history import naming
from tether.hints import NamedTuple
from tether.store import port
from tether.tasks import model as tasks
from tether.tasks import states
from tether.vacuum import (
    deferrals,
    deferring,
    flags,
    gathering,
    model,
    moments,
    parking,
    presence,
    quick,
    reports,
    rules,
    subjects,
    tracks,
)

_TELL_EVERY = 50


class Order(NamedTuple):
    """Which sweep is wanted, by whom, and with which patience."""

    sweep_type: str
    now: str
    by: str
    project: str
    limits: model.Limits = model.Limits()
    host_id: str = ""


class Swept(NamedTuple):
    """What a sweep came to."""

    order: Order
    judged: tuple[model.Judged, ...]
    """Tasks with something to say of them, the most urgent first."""
    folded: tuple[model.Judged, ...]
    """What would be said of tasks whose track or project is parked."""
    parked: tuple[parking.Track, ...]
    active: tuple[tracks.Active, ...]
    counts: dict[str, int]
    unchecked: int
    taken: dict[ids.TaskKey, str]
    """When each task was last worked on or claimed, of those that ever were."""
    seen: dict[ids.TaskKey, str]
    """The tasks that were judged, with when each was last touched."""
    tracks: tuple[str, ...] = ()
    """The names of all tracks."""
    older: frozenset[ids.TaskKey] = frozenset()
    """Those that were last touched before the window of a standard sweep."""
    before: reports.Sweep | None = None
    """The sweep before this one of the same kind; one without an end was interrupted."""
    recorded: reports.Recorded | None = None
    """What changed since the sweep before; None if there is no store that can be written to."""
    why_not: str = ""
    total: int = 0
    """How many tasks there are at all."""
    deferred: tuple[str, ...] = ()
    """What has time as a whole: tracks, or the project."""
    problems: tuple[str, ...] = ()
    flags: tuple[flags.Flag, ...] = ()
    """What other tasks say against open ones, as far as lineage was derived."""


class Scene(NamedTuple):
    """Where a sweep looks."""

    witness: witness.Witness
    store: port.Store
    known: presence.Presence
    subjects: subjects.Subjects
    claude_dirs: tuple[str, ...] = ()
    around: claimed.Around = claimed.NOTHING
    state_of: Callable[[model.Subject], str] = lambda subject: subject.state
    """The state of a task all things considered: done on another branch is done."""
    tell: Callable[[str], None] = lambda _: None


def sweep(scene: Scene, order: Order) -> Swept:
    """Look for orphans, and write down what there is."""
    has_store = scene.store.exists()
    number, why_not = 0, "" if has_store else "there is no store yet; `tether init` makes one"
    before = None
    try:
        if has_store:
            before = reports.last_sweep(scene.store, order.sweep_type)
            named = (order.sweep_type, order.now, order.by, order.project, order.host_id)
            number = reports.begin(scene.store, *named)
    except (errors.StoreError, errors.FileError) as problem:
        why_not = problem.message
    swept = scene.witness.ask(lambda connection: _look(connection, scene, order))
    looked = scene.witness.looked
    problems = tuple(f"{each.path}: {each.message}" for each in looked.problems)
    swept = swept._replace(why_not=why_not, before=before, problems=problems)
    return _record(scene, swept, number) if number else swept


def _look(connection: sqlite3.Connection, scene: Scene, order: Order) -> Swept:
    scene.known.learn(connection, scene.claude_dirs)
    named = naming.of_all(connection, {key.id: key for key in scene.subjects.tasks})
    also = [each for found in named.values() for each in found]
    ground = gathering.Ground(
        connection,
        scene.store,
        scene.around,
        moments.read(connection, scene.store, order.now, scene.subjects.names, also),
        scene.known,
        gathering.claims(scene.store),
        gathering.conflicts(scene.store),
        moments.ticked_together(connection),
        order.now,
        named,
    )
    found = dict(_candidates(scene, order, ground))
    older = {key for key, is_recent in found.items() if not is_recent}
    wanted = [key for key in found if order.sweep_type == model.DEEP or key not in older]
    judged = []
    for number, key in enumerate(wanted):
        if number % _TELL_EVERY == 0:
            scene.tell(f"judging tasks: {number} of {len(wanted)}")
        judged.append(_judge(scene, order, ground, key))
    scene.tell("")
    judged += _unlisted(scene, order)
    told = flags.read(connection, scene.witness.root, scene.subjects.tasks)
    found_out = _sorted_out(scene, order, ground, judged)
    return found_out._replace(older=frozenset(older), flags=told)


def _unlisted(scene: Scene, order: Order) -> Iterator[model.Judged]:
    """What the store tells of tasks that this checkout does not have: names, or other branches."""
    if not scene.store.exists():
        return
    listed = {*scene.subjects.tasks, *scene.subjects.names}
    found: dict[ids.TaskKey, list[quick.Found]] = {}
    for each in quick.sweep(scene.store, scene.known.spot, order.now, order.limits):
        if each.key not in listed:
            found.setdefault(each.key, []).append(each)
    for some in found.values():
        known = some[0].evidence
        subject = known.subject._replace(title="on no list of this checkout")
        findings = tuple(each.finding for each in some)
        yield model.Judged(known._replace(subject=subject), findings)


def _candidates(
    scene: Scene, order: Order, ground: gathering.Ground
) -> Iterator[tuple[ids.TaskKey, bool]]:
    """Every task that somebody may have begun, and whether that was within the window."""
    window = clock.parse(order.now) - order.limits.window_ms
    is_deep = order.sweep_type == model.DEEP
    families = scene.subjects.families
    for key, subject in scene.subjects.tasks.items():
        own_ms = ground.last_touch(key)
        parts_ms = max((ground.last_touch(each) for each in families.get(key, ())), default=0)
        claim = ground.claims.get(key)
        is_held = key in scene.known.foreign or (claim is not None and claim.closed_at is None)
        has_begun = own_ms or claim is not None or is_held or key in ground.conflicts
        if subject.state in model.OPEN:
            is_half = 0 < subject.parts_done < subject.parts_total and parts_ms
            is_marked = subject.state in (states.ASSIGNED, states.IN_PROGRESS)
            if has_begun or is_half or is_marked:
                closed = clock.parse(claim.closed_at) if claim and claim.closed_at else 0
                is_recent = max(own_ms, parts_ms, closed) >= window or is_held or is_marked
                yield key, is_recent
        elif (
            is_deep and subject.state == states.DONE and own_ms and not ground.moments.has_work(key)
        ):
            yield key, True


def _judge(scene: Scene, order: Order, ground: gathering.Ground, key: ids.TaskKey) -> model.Judged:
    subject = scene.subjects.tasks[key]
    subject = subject._replace(state=scene.state_of(subject))
    known = gathering.gather(ground, subject, scene.subjects.families.get(key, ()))
    return model.Judged(known, rules.judge(known, order.limits))


def _sorted_out(
    scene: Scene,
    order: Order,
    ground: gathering.Ground,
    judged: list[model.Judged],
) -> Swept:
    """Set aside what has time and what is parked, and count the rest."""
    put_off = quick.deferrals(scene.store) if scene.store.exists() else []
    every = list(tracks.all_of(scene.subjects, ground, judged))
    has_live = any(track.has_live_claim for track in every)
    project_at = clock.text(ground.moments.project_ms) if ground.moments.project_ms else ""
    is_paused = parking.is_paused(project_at, order.now, order.limits, has_live_claim=has_live)
    parked = [each for each in every if parking.is_parked(each, order.now, order.limits)]
    names = {(each.source, each.name) for each in parked}
    timely: list[model.Judged] = []
    off: list[model.Judged] = []
    for each in judged:
        (off if _has_time(ground, order, put_off, each) else timely).append(each)
    kept, folded = _folded(timely, None if is_paused else names)
    if is_paused and scene.subjects.unchecked:
        parked = [tracks.whole(scene.subjects, order.project, project_at, judged)]
    shown = [each for each in parked if not _is_deferred(put_off, each, order)]
    counts = _counts(scene, ground, judged, kept, order.limits.alert_percent)
    counts["deferred"] = sum(bool(each.findings) for each in off)
    counts[model.PARKED_PROJECT] = len(shown)
    return Swept(
        order,
        tuple(sorted(kept, key=_urgency)),
        tuple(sorted(folded, key=_urgency)),
        tuple(shown),
        tuple(tracks.active(scene.subjects, ground, order.limits)),
        counts,
        scene.subjects.unchecked,
        {key: clock.text(at) for key, at in ground.moments.taken_at.items()},
        {each.subject.key: each.evidence.last_at for each in judged},
        tuple(dict.fromkeys(each.name for each in scene.subjects.tracks)),
        total=len(scene.subjects.tasks),
        deferred=tuple(_said(each) for each in put_off if each.scope != deferring.TASK),
    )


def _has_time(
    ground: gathering.Ground, order: Order, put_off: list[model.Deferral], judged: model.Judged
) -> bool:
    """Did somebody put it off, here or on its list, and nobody took it up since?"""
    subject = judged.subject
    taken_ms = ground.moments.taken_at.get(subject.key, 0)
    taken_at = clock.text(taken_ms) if taken_ms else ""
    applying = deferring.applying(put_off, subject, taken_at, order.now)
    return deferring.is_put_off(subject, taken_at) or applying is not None


def _folded(
    judged: list[model.Judged], parked: set[tuple[str, str]] | None
) -> tuple[list[model.Judged], list[model.Judged]]:
    """What is said of each task, and what is not because its track or project is parked.

    `parked` are the tracks that are; None if the whole project is.
    """
    kept, folded = [], []
    for each in judged:
        rest = each.findings
        if parked is None or (each.subject.key.source, each.subject.track) in parked:
            rest = parking.folded(rest)
            if len(rest) < len(each.findings):
                folded.append(each)
        if rest:
            kept.append(each._replace(findings=rest))
    return kept, folded


def _said(deferral: model.Deferral) -> str:
    """What has time as a whole, in words."""
    until = f" until {deferral.until[:10]}" if deferral.until else ""
    return f"{deferral.scope} {deferral.name}{until}"


def _urgency(judged: model.Judged) -> tuple[object, ...]:
    """By type, how sure it is, and priority; of equals the one whose trace is freshest."""
    first, at = judged.findings[0], judged.evidence.last_at
    rank = tasks.rank(judged.subject.priority)
    return (*first.rank, rank, -clock.parse(at) if at else 0, judged.subject.key)


def _is_deferred(active: list[model.Deferral], track: parking.Track, order: Order) -> bool:
    return any(
        each.scope == deferring.PROJECT
        or (each.scope, each.source, each.name) == (deferring.TRACK, track.source, track.name)
        for each in active
        if not deferring.why_ended(each, track.last_at, order.now)
    )


def _counts(
    scene: Scene,
    ground: gathering.Ground,
    judged: list[model.Judged],
    kept: list[model.Judged],
    least: int,
) -> dict[str, int]:
    # Edited, or spoken of, and never taken up.
    planned = {e.subject.key for e in judged if not e.evidence.begun and e.evidence.hold is None}
    counts = dict.fromkeys((*model.TYPES, "orphans", "deferred"), 0)
    for each in kept:
        for finding in each.findings:
            counts[finding.type] += 1
        counts["orphans"] += any(
            finding.type in model.ORPHANED and finding.percent >= least for finding in each.findings
        )
    counts[model.NEVER_STARTED] = sum(
        subject.state == states.NEW
        and (not ground.last_touch(key) or key in planned)
        and not subject.parts_done
        and key not in ground.claims
        and key not in scene.known.foreign
        for key, subject in scene.subjects.tasks.items()
    )
    return counts


class _Ending:
    """Says which of the open findings a sweep may close."""

    def __init__(self, scene: Scene, swept: Swept) -> None:
        self._scene = scene
        self._swept = swept
        self._tasks = scene.subjects.tasks
        self._found = {each.subject.key for each in (*swept.judged, *swept.folded)}

    def is_done(self, key: ids.TaskKey) -> bool:
        subject = self._tasks.get(key)
        if subject is None or key in self._found:
            return False
        return self._scene.state_of(subject) == states.DONE

    def is_judged(self, report: reports.Report) -> bool:
        """Was it looked at here, by who knows at least as much as who found it?

        Other checkouts have tasks that this one does not, and other machines other traces.
        """
        swept, order = self._swept, self._swept.order
        key, last_at = report.key, report.last_activity or ""
        if report.orphan_type == model.PARKED_PROJECT:
            return key.source == deferring.PROJECT or key.id in swept.tracks
        if key in self._tasks:
            is_off = self._tasks[key].state not in model.OPEN
            return is_off or (key in swept.seen and swept.seen[key] >= last_at)
        gone_ms = clock.parse(order.now) - clock.parse(report.last_seen_at)
        return order.sweep_type == model.DEEP and gone_ms > order.limits.parked_ms


def _record(scene: Scene, swept: Swept, number: int) -> Swept:
    """Write down what was found, settle what ended, and close the sweep."""
    order, ending = swept.order, _Ending(scene, swept)
    how, now, by = order.sweep_type, order.now, order.by
    rows = [*reports.rows_of(swept.judged), *_parked_rows(swept)]
    store, judged, is_done = scene.store, ending.is_judged, ending.is_done
    try:
        recorded = reports.record(
            store, how, rows, now, by, order.project, judged=judged, is_done=is_done
        )
        deferrals.end_over(store, scene.subjects, swept.taken, now, by)
        left = [each for each in quick.deferrals(store) if each.scope != deferring.TASK]
        swept = swept._replace(deferred=tuple(map(_said, left)))
        ended_at = reports.ending(now, clock.SystemClock())
        reports.end(store, number, how, ended_at, by, swept.unchecked, swept.counts, recorded)
        if swept.before is not None:
            # With what quick sweeps, adopters and others have written meanwhile.
            recorded = reports.since(store, swept.before.started_at)
    except (errors.StoreError, errors.FileError) as problem:
        return swept._replace(why_not=problem.message)
    return swept._replace(recorded=recorded)


def _parked_rows(swept: Swept) -> Iterable[reports.Row]:
    for track in swept.parked:
        last = (
            f"silent since {text.minute(track.last_at)}"
            if track.last_at
            else "nobody ever began it"
        )
        reason = f"{track.open} open tasks, {track.percent} % done, {last}"
        finding = model.Finding(model.PARKED_PROJECT, model.CERTAIN, 100, (reason,), ())
        evidence = {
            **dict.fromkeys(("claim_at", "broadcast_at", "log_mention", "commit")),
            "reasons": [reason],
            "pointers": [],
        }
        yield reports.Row(
            ids.TaskKey(track.source, track.name), finding, track.name, track.last_at, "", evidence
        )
