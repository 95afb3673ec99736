"""Who is who in generated programs after refactorings, against the truth that the programs carry.

The truth is relaxed for what has another name only (`truth.ambiguous`). A function of one statement
need not be recognised if it has another place, container, signature or body too, or if another one
with the same statement comes, goes or gets another name with the same commit; others need not if no
more than three quarters of them are left, or if they were moved and laid out otherwise as well.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.figures import Figures
from tests.programs import (
    catalogue,
    judging,
    making,
    model,
    printing,
    strategies,
)
from tests.programs.trying import LANGUAGES, RICH, Case, assert_none, case, tried
from tether.lineage import changes, matching

LAYOUTS = st.lists(st.sampled_from(catalogue.LAYOUT), min_size=1, max_size=3)
LINKING = ["extract", "inline", "split_function"]


def assert_true(found: Case, glass: judging.Glass = judging.PLAIN) -> None:
    """The engine knows who is who, what changed and what was split."""
    before, after, links = found
    assert_none(judging.printing_faults(before) + judging.printing_faults(after))
    told = judging.told(before, after, glass)
    assert_none(judging.disagreements(before, after, links, told))


# One commit


@pytest.mark.proof(room="lineage")
@pytest.mark.parametrize("language", LANGUAGES)
def test_layout_and_order_split_nobody(language: str, figures: Figures) -> None:
    def check(shape: making.Shape, seed: int, names: list[str]) -> None:
        before, after, _ = case(shape, seed, names, language)
        told = judging.told(before, after, judging.Glass(has_all=True))
        assert told.partners == {number: number for number in before.facts}
        assert not told.introduced | told.deleted
        assert not told.links
        wrong = {number: kinds for number, kinds in told.kinds.items() if kinds != {"formatting"}}
        assert {before.facts[number].name: kinds for number, kinds in wrong.items()} == {}

    given = (strategies.shapes, strategies.seeds, LAYOUTS)
    count = tried(check, *given, full=2000, at_least=15)
    figures.add(f"{language} programs laid out or ordered otherwise", programs=count, split=0)


@pytest.mark.proof(room="lineage")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", catalogue.NAMES)
def test_after_one_refactoring_the_truth_is_told(name: str, language: str) -> None:
    def check(shape: making.Shape, seed: int) -> None:
        assert_true(case(shape, seed, [name], language))

    tried(check, strategies.shapes, strategies.seeds, full=300, at_least=6)


@pytest.mark.proof(room="lineage")
@pytest.mark.parametrize("language", LANGUAGES)
def test_after_several_at_once_the_truth_is_told(language: str, figures: Figures) -> None:
    def check(shape: making.Shape, seed: int, names: list[str]) -> None:
        assert_true(case(shape, seed, names, language))

    given = (strategies.shapes, strategies.seeds, strategies.some(1, 4))
    count = tried(check, *given, full=3000, at_least=40)
    figures.add(
        f"{language} programs after one to four refactorings", programs=count, disagreements=0
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", LINKING)
def test_parts_are_told_with_both_ends(name: str, language: str) -> None:
    def check(shape: making.Shape, seed: int) -> None:
        before, after, links = case(shape, seed, [name], language)
        assert judging.told(before, after).links == set(links)

    tried(check, strategies.shapes, strategies.seeds, full=300, at_least=8)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_order_of_files_decides_nothing(language: str) -> None:
    def check(shape: making.Shape, seed: int, names: list[str]) -> None:
        before, after, _ = case(shape, seed, names, language)
        chance = random.Random(seed)  # noqa: S311 - repeatable
        glass = judging.Glass(arrange=lambda paths: chance.sample(paths, len(paths)))
        assert judging.told(before, after, glass) == judging.told(before, after)

    given = (strategies.shapes, strategies.seeds, strategies.some(1, 4))
    tried(check, *given, full=1000, at_least=20)


@pytest.mark.parametrize("language", LANGUAGES)
def test_where_nothing_changed_nothing_is_told(language: str) -> None:
    def check(shape: making.Shape, seed: int) -> None:
        before, after, _ = case(shape, seed, [], language)
        told = judging.told(before, after, judging.Glass(has_all=True))
        partners = {number: number for number in before.facts}
        assert told == judging.Told(partners, {}, set(), set(), set())

    tried(check, strategies.shapes, strategies.seeds, full=1000, at_least=15)


# Controls


# Only in Python a decorator is printed.
@pytest.mark.parametrize(
    ("name", "language"),
    [
        (name, language)
        for name in catalogue.NAMES
        for language in LANGUAGES
        if name != "decorate" or language == "python"
    ],
)
def test_control_every_refactoring_changes_a_program(name: str, language: str) -> None:
    before, after, links = case(RICH, 1, [name], language)
    assert before.printed.files != after.printed.files
    assert bool(links) == (name in LINKING)


class Mistaken(matching.Matcher):
    """Takes two functions for each other."""

    def run(self) -> None:
        super().run()
        one, other = [
            each
            for each in self.by_after.values()
            if self.after[each.after[0]].symbols[each.after[1]].kind == "function"
        ][:2]
        self.partner(one.before, other.after, 1.0, "planted")
        self.partner(other.before, one.after, 1.0, "planted")


def test_control_wrong_partners_are_found() -> None:
    with pytest.raises(AssertionError, match="and not src/"):
        assert_true(case(RICH, 1, ["reorder"], "python"), judging.Glass(match=Mistaken))


class Hasty(matching.Matcher):
    """Lets the first file have everything."""

    def run(self) -> None:
        super().run()
        for after in [each for each in self.by_after if each[0]]:
            del self.by_before[self.by_after.pop(after).before]


def test_control_an_order_that_decides_is_found() -> None:
    before, after, _ = case(RICH, 1, ["reorder"], "go")
    glass = judging.Glass(Hasty)
    backwards = judging.Glass(Hasty, lambda paths: sorted(paths, reverse=True))
    assert judging.told(before, after, glass) != judging.told(before, after, backwards)


@pytest.mark.parametrize("language", LANGUAGES)
def test_control_a_printer_that_loses_a_function_is_found(
    language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = printing.LANGUAGES[language]
    whole = writer.function

    def lossy(self: Any, item: model.Function, around: model.Class | None) -> None:
        if item.id % 5:
            whole(self, item, around)

    monkeypatch.setattr(writer, "function", lossy)
    with pytest.raises(AssertionError, match="is not what was printed"):
        assert_true(case(RICH, 1, ["edit_body"], language))


def test_control_a_kind_that_is_not_told_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = case(RICH, 1, ["edit_doc"], "python")
    assert_true(found)
    monkeypatch.setattr(changes, "_of_text", lambda *_: [])
    with pytest.raises(AssertionError, match="is told as"):
        assert_true(found)
