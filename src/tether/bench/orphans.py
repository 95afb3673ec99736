"""How well silence tells an orphan: the rules of `vacuum`, on real histories with labels.

A history is replayed: at each time that has a label the product's own functions judge what was
known by then. Labels, and what came later, are looked at only to count afterwards. An alert is the
first judgement that reports a task between two touches of it; people see no more than that.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterable

from tether import clock, ids
from tether.bench import counting, histories
from tether.bench.counting import Count
from tether.hints import Any, NamedTuple
from tether.tasks import states
from tether.vacuum import deferring, model, moments, rules

_DECLARED = ("status", "assign")
_TOUCHES = (*_DECLARED, "commit", "content", "subcheck", "comment")
_PLANNED = ("open", "new", "draft", "todo", "to_do", "backlog", "ready", "planned", "triage")
_PUT_OFF = ("deferred", "postponed", "on_hold", "parked", "someday", "icebox")
_OVER = ("closed", "done", "completed", "resolved", "cancelled", "tombstone", "archived")
# As a tracker shows them: somebody began these, and they are not done.
_BEGUN = ("claimed", "started_open")
_ORPHAN, _NEVER_STARTED = "orphan", "never_started"
# What has another label was never decided, and is left out.
_DECIDED = (_ORPHAN, "active", _NEVER_STARTED, "deferred")
SILENCES = {"silent_24h": 24, "silent_72h": 72, "silent_7d": 168}


class Told(NamedTuple):
    """What was said of a task at a time, by the rules and by plain silence."""

    row: histories.Row
    is_alert: bool
    is_alert_by_parts: bool
    """The same if the rules are also shown how many of its parts are ticked."""
    touched_ms: int
    """When it was last touched; 0 if never."""

    @property
    def silent_hours(self) -> float:
        return (self.row.at_ms - self.touched_ms) / model.HOUR_MS if self.touched_ms else 0.0


class Spell(NamedTuple):
    """A task between two touches, and whether it was rightly reported."""

    task: str
    touched_ms: int
    alerts: Count


def measure(pairs: Iterable[tuple[str, str]], limits: model.Limits | None = None) -> dict[str, Any]:
    """The figures of histories, each a file of timelines and one of labels, alone and together."""
    told: dict[str, list[Told]] = {}
    for timeline, labels in pairs:
        project = histories.read(timeline, labels)
        told[_free_name(project.name, told)] = judged(project, limits or model.Limits())

    def alerts(is_said: Callable[[Told], bool]) -> dict[str, Any]:
        found = (_spells(each, is_said) for each in told.values())
        return {
            "alert": _alert_figures(
                counting.total(spell.alerts for spell in itertools.chain(*found))
            )
        }

    spells = [(name, spell) for name, found in told.items() for spell in _spells(found, _by_rules)]
    return {
        **alerts(_by_rules),
        "instance": _instance_figures(itertools.chain(*told.values())),
        "projects": {
            name: {
                "alert": _alert_figures(
                    counting.total(each.alerts for own, each in spells if own == name)
                ),
                "instance": _instance_figures(found),
            }
            for name, found in told.items()
        },
        "baselines": {name: alerts(_silent_for(hours)) for name, hours in SILENCES.items()},
        "with_parts": alerts(_by_parts),
        "intervals": counting.intervals(_grouped(spells, lambda each: each.task), "task"),
        "batches": _batches(_grouped(spells, lambda each: each.touched_ms // model.HOUR_MS)),
    }


# Judging


def judged(project: histories.Project, limits: model.Limits) -> list[Told]:
    """What the rules say of every row, from what was known at its time."""
    touches = sorted(
        moments.Touch(each.at_ms, _key(name), "", each.kind not in _DECLARED)
        for name, task in project.tasks.items()
        for each in task.events
        if each.kind in _TOUCHES
    )
    times = [each.at_ms for each in touches]
    found = []
    rows = sorted(project.rows, key=lambda row: row.at_ms)
    for at_ms, together in itertools.groupby(rows, key=lambda row: row.at_ms):
        # As a sweep reads it: nothing of what comes later is there at all.
        known = moments.Moments(touches[: bisect.bisect_right(times, at_ms)])
        for row in together:
            task = project.tasks[row.task]
            evidence = gathered(row.task, task, known, at_ms)
            by_parts = with_parts(evidence, task, at_ms)
            found.append(
                Told(
                    row,
                    is_alert(evidence, limits),
                    is_alert(by_parts, limits),
                    known.last_at.get(_key(row.task), 0),
                )
            )
    return found


def gathered(name: str, task: histories.Task, known: moments.Moments, at_ms: int) -> model.Evidence:
    """A task as the rules get to see it: its state and its silence, as of this time."""
    events = task.until(at_ms)
    status = next((each.status for each in reversed(events) if each.status), "open")
    subject = model.Subject(
        _key(name),
        "",
        _state(status),
        created_at=clock.text(task.created_ms),
        put_off=status if status in _PUT_OFF else "",
    )
    now = clock.text(at_ms)
    touches = [each for each in events if each.kind in _TOUCHES]
    if not touches:
        return model.Evidence(subject, now)
    last = model.Sign(clock.text(touches[-1].at_ms), touches[-1].kind, "")
    quiet = known.quiet(subject.key, at_ms, task.created_ms)
    # Edited, assigned while open or opened again, but never taken up: a plan.
    begun = any(map(_is_beginning, events))
    return model.Evidence(subject, now, last=last, quiet=quiet, begun=begun)


def with_parts(known: model.Evidence, task: histories.Task, at_ms: int) -> model.Evidence:
    """The same, with the parts that are ticked."""
    parts = next(
        (each for each in reversed(task.until(at_ms)) if each.parts), histories.Event(0, "")
    )
    subject = known.subject._replace(parts_done=parts.ticked, parts_total=parts.parts)
    return known._replace(subject=subject)


def is_alert(known: model.Evidence, limits: model.Limits) -> bool:
    """Would a report call this task orphaned?"""
    if deferring.is_put_off(known.subject, known.last_at):
        return False
    return any(
        each.type in model.ORPHANED and each.percent >= limits.alert_percent
        for each in rules.judge(known, limits)
    )


def _key(name: str) -> ids.TaskKey:
    return ids.TaskKey("history", name)


def _state(status: str) -> str:
    if status in _OVER:
        return states.DONE
    if status in _PLANNED or status in _PUT_OFF:
        return states.NEW
    return states.ASSIGNED if status == states.ASSIGNED else states.IN_PROGRESS


def _is_beginning(event: histories.Event) -> bool:
    """Does it show that somebody took the task up: a claim, a commit, a part that is done?"""
    claims = (states.ASSIGNED, states.IN_PROGRESS)
    is_claimed = bool(event.status) and _state(event.status) in claims
    return is_claimed or event.kind == "commit" or event.ticked > 0


# Counting


def _by_rules(told: Told) -> bool:
    return told.is_alert


def _by_parts(told: Told) -> bool:
    return told.is_alert_by_parts


def _silent_for(hours: int) -> Callable[[Told], bool]:
    return lambda told: told.silent_hours > hours


def _spells(found: Iterable[Told], is_said: Callable[[Told], bool]) -> list[Spell]:
    """The times between two touches of tasks that were begun, and what was said in them."""
    rows: dict[tuple[str, int], list[Told]] = {}
    for each in found:
        if each.row.population in _BEGUN:
            rows.setdefault((each.row.task, each.touched_ms), []).append(each)
    return [Spell(*key, _spell(spell, is_said)) for key, spell in rows.items()]


def _spell(spell: Iterable[Told], is_said: Callable[[Told], bool]) -> Count:
    ordered = sorted(spell, key=lambda each: each.row.at_ms)
    first = next(filter(is_said, ordered), None)
    if first is None:
        return Count(fn=int(any(each.row.label == _ORPHAN for each in ordered)))
    is_right = first.row.label == _ORPHAN
    return Count(tp=int(is_right), fp=int(not is_right and first.row.label in _DECIDED))


def _grouped(spells: Iterable[tuple[str, Spell]], key: Callable[[Spell], object]) -> list[Count]:
    """The alerts of what belongs together: of a task, or of a batch."""
    counts: dict[tuple[str, object], Count] = {}
    for project, each in spells:
        name = (project, key(each))
        counts[name] = counts.get(name, Count()).plus(each.alerts)
    return list(counts.values())


def _alert_figures(count: Count) -> dict[str, Any]:
    return {
        "tp": count.tp,
        "fp": count.fp,
        "fn": count.fn,
        "precision": round(count.precision, 4),
        "recall": round(count.recall, 4),
        "fdr": round(counting.share(count.fp, count.tp), 4),
    }


def _instance_figures(found: Iterable[Told]) -> dict[str, Any]:
    """Every row for itself."""
    kinds = dict.fromkeys(("tp", "fp", "fn", "tn"), 0)
    never_started = 0
    for each in found:
        if each.row.label not in _DECIDED:
            continue
        is_right = each.is_alert == (each.row.label == _ORPHAN)
        kinds[f"{'t' if is_right else 'f'}{'p' if each.is_alert else 'n'}"] += 1
        never_started += each.is_alert and _NEVER_STARTED in (each.row.label, each.row.population)
    count = Count(**kinds)
    return {
        **kinds,
        "precision": round(count.precision, 4),
        "recall": round(count.recall, 4),
        "fpr": round(counting.share(count.fp, count.tn), 4),
        "never_started_flagged": never_started,
    }


def _batches(counts: list[Count]) -> dict[str, Any]:
    """Tasks that were last touched in one hour are not independent: how much hangs on that."""
    largest = max(counts, key=lambda each: each.tp + each.fp + each.fn, default=Count())
    rest = [each for each in counts if each is not largest]
    return {
        "intervals": counting.intervals(counts, "batch"),
        "largest": {"alert": _alert_figures(largest)},
        "without_largest": {"alert": _alert_figures(counting.total(rest))},
    }


def _free_name(name: str, taken: Iterable[str]) -> str:
    names = itertools.chain([name], (f"{name} ({number})" for number in itertools.count(2)))
    return next(each for each in names if each not in taken)
