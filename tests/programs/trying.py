"""How properties of generated programs are tried: so many cases, and what is said if one fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis
from hypothesis import strategies as st

from tests import scale
from tests.programs import catalogue, hands, making, printing
from tests.programs.truth import Link, Version

LANGUAGES = sorted(printing.LANGUAGES)
Case = tuple[Version, Version, list[Link]]
# A program in which every refactoring finds something to do.
RICH = making.Shape(
    (making.FileShape(4, (3, 3), 2), making.FileShape(3, (2,), 1), making.FileShape(3))
)


def tried(
    check: Callable[..., None],
    *given: st.SearchStrategy[Any],
    full: int,
    at_least: int,
    shrinks: bool = True,
) -> int:
    """Check so many generated cases; how many."""
    phases = [*hypothesis.Phase] if shrinks else [hypothesis.Phase.generate]
    done: list[int] = []

    @hypothesis.settings(
        max_examples=scale.count(full, at_least),
        suppress_health_check=list(hypothesis.HealthCheck),
        deadline=None,
        derandomize=True,
        phases=phases,
    )
    @hypothesis.given(st.tuples(*given))
    def run(values: tuple[Any, ...]) -> None:
        check(*values)
        done.append(1)

    run()
    return len(done)


def case(shape: making.Shape, seed: int, names: list[str], language: str) -> Case:
    """A program before and after one commit, and what was split or united in that."""
    maker = making.Maker(seed)
    program = maker.program(shape)
    hand = hands.Hand(program, maker)
    links = [link for name in names for link in catalogue.REFACTORINGS[name](hand) or []]
    return Version(program, language), Version(hand.program, language), links


def assert_none(wrong: list[str]) -> None:
    assert not wrong, "\n".join(wrong)
