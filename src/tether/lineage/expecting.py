"""Where a symbol that is followed backwards is expected: in which steps, and how it looks there."""

from __future__ import annotations

from collections.abc import Iterator

from tether.git import Oid, path_history
from tether.hints import NamedTuple
from tether.lineage import births, glances, graves


class Sight(NamedTuple):
    """The symbol as it is expected in a step."""

    glance: glances.Glance
    rank: tuple[int, ...] = ()
    """Through which parents of merges it is reached: the least is the way of the first ones."""

    def is_same(self, other: Sight | Lost) -> bool:
        return isinstance(other, Sight) and self.glance.start == other.glance.start


class Lost(NamedTuple):
    """A symbol that was brought back, and is expected in a step that deleted it."""

    life: births.Life
    rank: tuple[int, ...]
    brought_back: Oid
    """The commit that did."""
    steps_left: int = graves.MAX_STEPS

    def is_same(self, other: Sight | Lost) -> bool:
        return isinstance(other, Lost) and self.life == other.life


Expected = Sight | Lost


class Wanted:
    """What is expected in steps that are still to come."""

    def __init__(self, first: Sight) -> None:
        self._by_step: dict[Oid, list[Expected]] = {path_history.FOLLOWING: [first]}
        self._passed: dict[Oid, path_history.Step] = {}
        self._done: dict[Oid, list[Expected]] = {}

    @property
    def is_empty(self) -> bool:
        return not self._by_step

    @property
    def has_sight(self) -> bool:
        """Whether a symbol was seen in a version that no step has brought."""
        return any(isinstance(each, Sight) for some in self._by_step.values() for each in some)

    @property
    def line(self) -> tuple[Oid, Sight] | None:
        """The step that is expected and the symbol there, where that is the only one."""
        if len(self._by_step) == 1:
            [(step, some)] = self._by_step.items()
            if len(some) == 1 and isinstance(some[0], Sight):
                return step, some[0]
        return None

    def in_step(self, step: path_history.Step) -> Iterator[tuple[path_history.Step, Expected]]:
        """What is expected in the step that came, and in those that came too early.

        A commit may be younger than those that are made upon it: git shows it first then.
        """
        self._passed[step.oid] = step
        if path_history.FOLLOWING in self._by_step:
            self._by_step[step.oid] = self._by_step.pop(path_history.FOLLOWING)
        waiting = [step.oid]
        while waiting:
            oid = waiting.pop()
            for expected in self._by_step.pop(oid, ()):
                self._done.setdefault(oid, []).append(expected)
                yield self._passed[oid], expected
            waiting += [each for each in self._by_step if each in self._passed]

    def add(self, step: Oid, expected: Expected) -> None:
        if any(each.is_same(expected) for each in self._done.get(step, ())):
            return
        known = self._by_step.setdefault(step, [])
        for number, each in enumerate(known):
            if each.is_same(expected):
                known[number] = min(each, expected, key=lambda one: one.rank)
                return
        known.append(expected)
