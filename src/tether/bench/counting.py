"""What was said rightly, said wrongly and missed, and how far chance could change that."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from tether.hints import Any, NamedTuple

RESAMPLES = 1000
LEVEL = 0.9


class Count(NamedTuple):
    """How often something was said rightly, said wrongly, missed, and rightly not said."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0

    def plus(self, other: Count) -> Count:
        return Count(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    @property
    def precision(self) -> float:
        return share(self.tp, self.fp)

    @property
    def recall(self) -> float:
        return share(self.tp, self.fn)

    @property
    def f1(self) -> float:
        return share(2 * self.tp, self.fp + self.fn)


def share(part: int, rest: int) -> float:
    """How much of both the part is; nothing of nothing is nothing."""
    return part / (part + rest) if part + rest else 0.0


def total(counts: Iterable[Count]) -> Count:
    """All of them together."""
    found = Count()
    for each in counts:
        found = found.plus(each)
    return found


def intervals(
    counts: Sequence[Count], by: str, names: Sequence[str] = ("precision", "recall")
) -> dict[str, Any]:
    """Between what the figures lie if others of their kind had been drawn."""
    chance = random.Random(1)  # noqa: S311 (chance that can be repeated)
    drawn = [
        Count(*map(sum, zip(*chance.choices(counts, k=len(counts)), strict=True)))
        for _ in range(RESAMPLES if counts else 0)
    ]
    return {
        **{name: _middle([getattr(each, name) for each in drawn]) for name in names},
        "level": LEVEL,
        "by": by,
        "resamples": RESAMPLES,
    }


def _middle(values: list[float]) -> list[float]:
    if not values:
        return [0.0, 0.0]
    ordered = sorted(values)
    cut = round(len(ordered) * (1 - LEVEL) / 2)
    return [round(ordered[cut], 4), round(ordered[-cut - 1], 4)]
