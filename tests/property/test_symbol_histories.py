"""Histories of symbols in real repositories of generated programs, one refactoring a commit."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tests import lineages
from tests.figures import Figures
from tests.programs import judging, making, pasts, strategies
from tests.programs.trying import LANGUAGES, RICH, assert_none, tried
from tether.lineage import history


def assert_same_histories(
    backward: Mapping[int, history.History], forward: Mapping[int, history.History]
) -> None:
    """Two engines tell the same of every symbol: commits, kinds and places, the newest first."""
    assert backward.keys() == forward.keys()
    for number, one in backward.items():
        both = [
            [(each.commit, set(each.kinds), each.before, each.after) for each in told.changes]
            for told in (one, forward[number])
        ]
        assert both[0] == both[1], number
        assert sorted(one.unknown) == sorted(forward[number].unknown), number


@pytest.mark.proof(room="lineage")
@pytest.mark.parametrize("language", LANGUAGES)
def test_both_engines_tell_the_same(language: str, figures: Figures) -> None:
    symbols: list[int] = []

    def check(shape: making.Shape, seed: int, names: list[str]) -> None:
        past = pasts.lived(shape, seed, names, language)
        with tempfile.TemporaryDirectory(prefix="tether-pasts-") as base:
            repository = pasts.written(past, Path(base) / "repo")
            backwards = lineages.all_backwards(repository.git, repository.commits[-1])
            forwards = lineages.all_forwards(repository.git, repository.commits[-1])
            lineages.assert_same(backwards, forwards)
            symbols.append(len(backwards))

    given = (strategies.small_shapes, strategies.seeds, strategies.some(5, 15))
    count = tried(check, *given, full=150, at_least=4, shrinks=False)
    figures.add(
        f"two engines in {language}", repositories=count, symbols=sum(symbols), differences=0
    )


@pytest.mark.proof(room="lineage")
@pytest.mark.parametrize("language", LANGUAGES)
def test_both_engines_tell_the_same_of_merges(language: str, figures: Figures) -> None:
    symbols: list[int] = []

    def check(shape: making.Shape, seed: int, ours: list[str], theirs: list[str]) -> None:
        sides = [pasts.lived(shape, seed, names, language) for names in (ours, theirs)]
        with tempfile.TemporaryDirectory(prefix="tether-pasts-") as base:
            made = pasts.merged(sides[0], sides[1], Path(base) / "repo")
            backwards = lineages.all_backwards(made.git, made.commits[-1])
            lineages.assert_same(backwards, lineages.all_forwards(made.git, made.commits[-1]))
            symbols.append(len(backwards))

    some = strategies.some(1, 5)
    given = (strategies.small_shapes, strategies.seeds, some, some)
    count = tried(check, *given, full=100, at_least=4, shrinks=False)
    figures.add(
        f"two engines and a merge in {language}",
        repositories=count,
        symbols=sum(symbols),
        differences=0,
    )


@pytest.mark.proof(room="lineage")
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_merge_of_moves_and_edits_has_both(language: str, figures: Figures) -> None:
    """Both engines tell of a symbol what happened to it on either branch, and not of the merge.

    What was moved comes into what was edited: the other way round the merge is the edit.
    """
    symbols: list[int] = []

    def check(shape: making.Shape, seed: int, moves: list[str], edits: list[str]) -> None:
        sides = [pasts.lived(shape, seed, names, language) for names in (edits, moves)]
        with tempfile.TemporaryDirectory(prefix="tether-pasts-") as base:
            made = pasts.merged(sides[0], sides[1], Path(base) / "repo")
            tip, ours, theirs = (made.git.resolve(f"main{which}") for which in ("", "^1", "^2"))
            if made.git.tree(tip) in (made.git.tree(ours), made.git.tree(theirs)):
                return  # git could not merge them, or there was nothing to merge
            told = lineages.all_backwards(made.git, tip)
            lineages.assert_same(told, lineages.all_forwards(made.git, tip))
            before = [lineages.all_backwards(made.git, side).values() for side in (ours, theirs)]
            for name, each in told.items():
                known = [one for side in before for one in side if one.node == each.node]
                assert lineages.said(each) == set().union(*map(lineages.said, known)), name
            symbols.append(len(told))

    moving = st.sampled_from(("rename_file", "rename_directory"))
    editing = st.sampled_from(("edit_body", "edit_doc", "edit_note", "change_signature"))
    branches = (st.lists(moving, min_size=1, max_size=2), st.lists(editing, min_size=1, max_size=4))
    given = (strategies.small_shapes, strategies.seeds, *branches)
    tried(check, *given, full=100, at_least=6, shrinks=False)
    assert symbols
    figures.add(
        f"merges of moves and edits in {language}",
        repositories=len(symbols),
        symbols=sum(symbols),
        differences=0,
    )


def test_control_an_engine_that_loses_a_commit_is_found(tmp_path: Path) -> None:
    past = pasts.lived(RICH, 1, ["edit_body", "rename_function", "move_function"], "python")
    repository = pasts.written(past, tmp_path / "repo")
    told = lineages.all_backwards(repository.git, repository.commits[-1])
    name = next(each for each in told if len(told[each].changes) > 1)
    short = told[name]._replace(changes=told[name].changes[1:])
    with pytest.raises(AssertionError):
        lineages.assert_same(told, {**told, name: short})


@pytest.mark.proof(room="lineage")
@pytest.mark.parametrize("language", LANGUAGES)
def test_histories_have_the_commits_that_changed_a_symbol(language: str, figures: Figures) -> None:
    symbols: list[int] = []

    def check(shape: making.Shape, seed: int, names: list[str]) -> None:
        past = pasts.lived(shape, seed, names, language)
        with tempfile.TemporaryDirectory(prefix="tether-pasts-") as base:
            repository = pasts.written(past, Path(base) / "repo")
            histories = repository.histories(past.last)
            assert_none(pasts.disagreements(past, repository, histories))
            symbols.append(len(histories))

    given = (strategies.small_shapes, strategies.seeds, strategies.some(5, 15))
    count = tried(check, *given, full=150, at_least=6, shrinks=False)
    figures.add(
        f"histories of symbols in {language}",
        repositories=count,
        symbols=sum(symbols),
        disagreements=0,
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_commit_is_told_as_its_two_versions_are(language: str) -> None:
    def check(shape: making.Shape, seed: int, names: list[str]) -> None:
        past = pasts.lived(shape, seed, names, language)
        with tempfile.TemporaryDirectory(prefix="tether-pasts-") as base:
            repository = pasts.written(past, Path(base) / "repo")
            pairs = itertools.pairwise(past.versions)
            for number, (before, after) in enumerate(pairs, start=1):
                told = judging.told(before, after)
                assert repository.heard(past, number) == told._replace(partners={})

    given = (strategies.small_shapes, strategies.seeds, strategies.some(3, 8))
    tried(check, *given, full=50, at_least=2, shrinks=False)


@pytest.mark.proof(room="lineage")
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_rebase_that_changes_nothing_keeps_every_history(language: str, figures: Figures) -> None:
    other = pasts.Scribe("Bernd", 1_600_000_000, 7, "Something else")

    def check(shape: making.Shape, seed: int, names: list[str]) -> None:
        past = pasts.lived(shape, seed, names, language)
        with tempfile.TemporaryDirectory(prefix="tether-pasts-") as base:
            sides = [
                pasts.written(past, Path(base) / scribe.name, scribe)
                for scribe in (pasts.ANNA, other)
            ]
            assert not set(sides[0].commits) & set(sides[1].commits)
            one, rebased = (side.histories(past.last) for side in sides)
            assert_same_histories(one, onto(sides[1], sides[0], rebased))

    given = (strategies.small_shapes, strategies.seeds, strategies.some(5, 8))
    count = tried(check, *given, full=50, at_least=2, shrinks=False)
    figures.add(f"rebases of {language} that change nothing", rebases=count, differences=0)


def onto(
    source: pasts.Repository, target: pasts.Repository, told: Mapping[int, history.History]
) -> dict[int, history.History]:
    """Histories with the commits of another repository in the places of their own."""
    commits = dict(zip(source.commits, target.commits, strict=True))
    return {
        number: each._replace(
            changes=tuple(one._replace(commit=commits[one.commit]) for one in each.changes)
        )
        for number, each in told.items()
    }


def test_control_a_history_that_lacks_a_commit_is_found(tmp_path: Path) -> None:
    past = pasts.lived(RICH, 1, ["edit_body", "rename_function", "move_function"], "python")
    repository = pasts.written(past, tmp_path / "repo")
    histories = repository.histories(past.last)
    assert_none(pasts.disagreements(past, repository, histories))
    number = next(each for each, told in histories.items() if len(told.changes) > 1)
    short = histories[number]._replace(changes=histories[number].changes[1:])
    assert pasts.disagreements(past, repository, {**histories, number: short})
    with pytest.raises(AssertionError):
        assert_same_histories(histories, {**histories, number: short})
