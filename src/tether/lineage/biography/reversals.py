"""Which change took back which other one, and which of them were made again. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from tether.hints import NamedTuple
from tether.lineage.biography import wording
from tether.lineage.biography.model import Step

_Key = tuple[str, bool]
Whose = Callable[[Step], str]
"""The tasks of a step by their names; empty if it has none."""

_MOST = 4


class Fate(NamedTuple):
    """What became of a change later."""

    is_again: bool
    """Whether it was applied again; if not, it was undone."""
    by: Step


class Target(NamedTuple):
    """What a step took back, or applied again by taking back its reversal."""

    is_again: bool
    oid: str
    step: Step | None
    """None if the story does not have it."""


class Reversals:
    """The reversals among the steps of a story, oldest first."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._places = {_key(step): place for place, step in enumerate(steps)}
        self._targets: dict[_Key, tuple[Target, ...]] = {}
        self._fates: dict[_Key, list[Fate]] = defaultdict(list)
        for step in steps:
            if step.undoes:
                self._targets[_key(step)] = tuple(self._follow(step))

    @property
    def undone(self) -> frozenset[str]:
        """The commits whose change was taken back at some time."""
        return frozenset(oid for oid, _ in self._fates)

    def targets(self, step: Step) -> tuple[Target, ...]:
        """The changes that a step undid or applied again: no reversals, unless nothing is known."""
        return self._targets.get(_key(step), ())

    def fates(self, step: Step) -> tuple[Fate, ...]:
        """What became of the change of a step, oldest first."""
        return tuple(self._fates.get(_key(step), ()))

    def _follow(self, by: Step) -> Iterable[Target]:
        """From a reversal to what it reverses, to what that reversed, and so on."""
        waiting = [(oid, by, False) for oid in by.undoes]
        seen: set[tuple[str, bool]] = set()
        while waiting:
            oid, later, is_again = waiting.pop(0)
            if (oid, is_again) in seen:
                continue
            seen.add((oid, is_again))
            target = self._before(oid, later)
            if target is not None:
                self._fates[_key(target)].append(Fate(is_again, by))
            if target is not None and target.undoes:
                waiting += [(each, target, not is_again) for each in target.undoes]
            else:
                yield Target(is_again, oid, target)

    def _before(self, oid: str, later: Step) -> Step | None:
        """A step of the story that was before another one: a circle would have no end."""
        for is_ancestor in (later.is_ancestor, True):
            place = self._places.get((oid, is_ancestor))
            if place is not None and place < self._places[_key(later)]:
                return self._steps[place]
        return None


def _key(step: Step) -> _Key:
    """A commit may have done something to the code and to what that was split from."""
    return step.commit.oid, step.is_ancestor


def deeds(targets: Iterable[Target], own: str, whose: Whose) -> list[str]:
    """`undid T1's change of 2026-01-02`, `applied commit abc1234 again`."""
    groups: dict[tuple[bool, str], list[Target]] = {}
    for each in targets:
        names = whose(each.step) if each.step else ""
        groups.setdefault((each.is_again, names), []).append(each)
    said = []
    for (is_again, names), group in groups.items():
        what = _changes(group, "its own" if names == own else f"{names}'s") if names else ""
        said.append(_done(what or _commits(group), is_again))
    return said


def _done(what: str, is_again: bool) -> str:
    return f"applied {what} again" if is_again else f"undid {what}"


def _changes(group: Sequence[Target], whose: str) -> str:
    """`T1's changes of 2026-01-02 and 2026-01-05`."""
    noun = "change" if len(group) == 1 else "changes"
    days = sorted({wording.day(each.step.commit.at) for each in group if each.step} - {""})
    when = wording.listed(days) if len(days) <= _MOST else f"{days[0]} to {days[-1]}"
    return f"{whose} {noun}{f' of {when}' if when else ''}"


def _commits(group: Sequence[Target]) -> str:
    """`commit abc1234 of 2026-01-02`."""
    if len(group) > 1:
        return wording.some([wording.commit(each.oid) for each in group], _MOST)
    [target] = group
    day = wording.day(target.step.commit.at) if target.step else ""
    return f"{wording.commit(target.oid)}{f' of {day}' if day else ''}"


def later(steps: Sequence[Step], reversals: Reversals, whose: Whose) -> list[str]:
    """Sentences that say what became of changes: `This was undone by T3 on 2026-02-01.`"""
    groups: dict[tuple[Fate, ...], list[Step]] = {}
    for step in steps:
        fates = reversals.fates(step)
        if fates:
            groups.setdefault(fates, []).append(step)
    return [
        f"{_subject(group, len(steps))} {_events(fates, whose)}." for fates, group in groups.items()
    ]


def _subject(group: Sequence[Step], number: int) -> str:
    if len(group) == number:
        return "This was" if number == 1 else "All of this was"
    if len(group) > 1:
        return f"{len(group):,} of these changes were"
    day = wording.day(group[0].commit.at)
    when = f" of {day}" if day else ""
    return f"The change{when} ({wording.commit(group[0].commit.oid)}) was"


def _events(fates: Sequence[Fate], whose: Whose) -> str:
    """`undone by T3 on 2026-02-01 and applied again by T4 on 2026-03-01`."""
    said = []
    for number, fate in enumerate(fates):
        is_repeated = fate.is_again or number > 0
        verb = "applied" if fate.is_again else "undone"
        by = whose(fate.by) or wording.commit(fate.by.commit.oid)
        day = wording.day(fate.by.commit.at)
        said.append(f"{verb}{' again' * is_repeated} by {by}{f' on {day}' if day else ''}")
    return wording.some(said, _MOST)
