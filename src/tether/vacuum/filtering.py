"""What of a sweep somebody wants to see, by what is to be done about it. Pure."""

from __future__ import annotations

from tether import clock, ids
from tether.hints import TYPE_CHECKING, NamedTuple
from tether.vacuum import deferring, flags, model, parking, sweeps

if TYPE_CHECKING:
    from tether.vacuum import subjects


class Filter(NamedTuple):
    """Which findings are wanted."""

    tracks: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    min_age_ms: int = 0
    everything: bool = False
    """Also what is less probable, and what is parked."""

    @property
    def is_part(self) -> bool:
        """Is less wanted than all of a project?"""
        return bool(self.tracks or self.types or self.priorities or self.min_age_ms)

    def has_track(self, name: str) -> bool:
        return not self.tracks or name.lower() in {each.lower() for each in self.tracks}

    def has(self, subject: model.Subject) -> bool:
        """Is a task wanted, as far as its list tells?"""
        is_urgent = not self.priorities or subject.priority in self.priorities
        return is_urgent and self.has_track(subject.track)


class Chosen(NamedTuple):
    """The findings of a sweep that are wanted, by what is to be done about them."""

    swept: sweeps.Swept
    orphans: tuple[model.Judged, ...]
    """To be taken up again."""
    unmarked: tuple[model.Judged, ...]
    """Done, and to be marked."""
    others: tuple[model.Judged, ...]
    """Worth a look."""
    parked: tuple[parking.Track, ...]
    left_out: int
    """Less probable ones, and those of what is parked, as far as they were asked for."""
    wanted: Filter
    older: int
    """Those that only a deep sweep looks at."""
    unchecked: int | None = None
    """How many tasks are open; None if that cannot be told of what was asked for."""
    never_started: int | None = None

    @property
    def flags(self) -> tuple[flags.Flag, ...]:
        """What other tasks say against those that are asked for."""
        if self.wanted.types:
            return ()
        return tuple(each for each in self.swept.flags if self.wanted.has(each.subject))

    @property
    def alerts(self) -> tuple[model.Judged, ...]:
        """Those of the orphans that are probable enough to be counted."""
        least = self.swept.order.limits.alert_percent
        return tuple(each for each in self.orphans if each.findings[0].percent >= least)

    @property
    def all(self) -> tuple[model.Judged, ...]:
        return (*self.orphans, *self.unmarked, *self.others)


def choose(swept: sweeps.Swept, wanted: Filter, known: subjects.Subjects | None = None) -> Chosen:
    """What of a sweep somebody wants to see; `known` are the tasks, to count some of them."""
    found = _by_kind(swept, wanted)
    whole = _by_kind(swept, wanted._replace(everything=True))
    parked = tuple(each for each in swept.parked if _is_wanted_track(each, swept, wanted))
    older = len(swept.older)
    if known is not None:
        older = sum(key in known.tasks and wanted.has(known.tasks[key]) for key in swept.older)
    return Chosen(
        swept,
        *found,
        parked,
        len(_keys(whole) - _keys(found)),
        wanted,
        older,
        _unchecked(swept, wanted, known),
        None if wanted.is_part else swept.counts.get(model.NEVER_STARTED, 0),
    )


_Kinds = tuple[tuple[model.Judged, ...], tuple[model.Judged, ...], tuple[model.Judged, ...]]


def _by_kind(swept: sweeps.Swept, wanted: Filter) -> _Kinds:
    """What is wanted: to be taken up again, to be marked, and worth a look."""
    least = swept.order.limits.alert_percent
    orphans, unmarked, others = [], [], []
    found = list(swept.judged)
    if wanted.everything:
        seen = {each.subject.key for each in swept.folded}
        found = [e for e in swept.judged if e.subject.key not in seen] + list(swept.folded)
    for each in found:
        if not _is_wanted(each, swept, wanted):
            continue
        chosen = _chosen(each.findings, wanted, least)
        first, judged = chosen[0], each._replace(findings=chosen)
        is_alert = first.percent >= least or wanted.everything
        if first.type in model.ORPHANED and is_alert:
            orphans.append(judged)
        elif first.type == model.DONE_UNMARKED and is_alert:
            unmarked.append(judged)
        elif is_alert or first.type == model.LONG_CLAIM or wanted.types:
            others.append(judged)
    # Of equals the order is that of the sweep.
    for some in (orphans, unmarked, others):
        some.sort(key=lambda each: each.findings[0].rank)
    return tuple(orphans), tuple(unmarked), tuple(others)


def _chosen(
    findings: tuple[model.Finding, ...], wanted: Filter, least: int
) -> tuple[model.Finding, ...]:
    """The findings of the wanted types; what is too improbable to be told comes last."""
    chosen = [each for each in findings if not wanted.types or each.type in wanted.types]
    if not wanted.everything:
        chosen.sort(key=lambda each: each.percent < least and each.type != model.LONG_CLAIM)
    return tuple(chosen)


def _keys(found: _Kinds) -> set[ids.TaskKey]:
    return {each.subject.key for some in found for each in some}


def _unchecked(swept: sweeps.Swept, wanted: Filter, known: subjects.Subjects | None) -> int | None:
    """How many tasks are open of what was asked for, if a task alone can tell whether it is."""
    if not wanted.is_part:
        return swept.unchecked
    if known is None or wanted.types or wanted.min_age_ms:
        return None
    return sum(each.state in model.OPEN and wanted.has(each) for each in known.tasks.values())


def _is_wanted(each: model.Judged, swept: sweeps.Swept, wanted: Filter) -> bool:
    if wanted.projects and swept.order.project not in wanted.projects:
        return False
    if wanted.types and not any(f.type in wanted.types for f in each.findings):
        return False
    return wanted.has(each.subject) and _age_ms(each, swept) >= wanted.min_age_ms


def _is_wanted_track(track: parking.Track, swept: sweeps.Swept, wanted: Filter) -> bool:
    is_here = not wanted.projects or swept.order.project in wanted.projects
    is_type = not wanted.types or model.PARKED_PROJECT in wanted.types
    # Every track is parked where the project is.
    is_named = track.source == deferring.PROJECT or wanted.has_track(track.name)
    if not (is_here and is_type and is_named) or wanted.priorities:
        return False
    # What nobody ever touched, and nobody knows since when it is there, was always silent.
    at = max(track.last_at, track.born_at)
    return not at or _since_ms(at, swept) >= wanted.min_age_ms


def age_days(each: model.Judged, swept: sweeps.Swept) -> int:
    """For how many days nobody has done anything about it."""
    return _age_ms(each, swept) // model.DAY_MS


def _age_ms(each: model.Judged, swept: sweeps.Swept) -> int:
    at = each.evidence.touched_at
    return _since_ms(at, swept) if at else 0


def _since_ms(at: str, swept: sweeps.Swept) -> int:
    return max(0, clock.parse(swept.order.now) - clock.parse(at))
