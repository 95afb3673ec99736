"""What of a criterion is executed: what follows `run:`, if a person can see all of it."""

from __future__ import annotations

import pytest

from tether.coordinator.plans import criteria


@pytest.mark.parametrize(
    ("written", "command"),
    [
        ("run: pytest -q", "pytest -q"),
        ("run:pytest", "pytest"),
        ("  run:   make test  ", "make test"),
        ("run: `pytest -q`", "pytest -q"),
        ("run: `pytest -q` passes", "pytest -q"),
        ("`run: pytest -q`", "pytest -q"),
        ("`run: pytest -q`, all of it", "pytest -q"),
        ("``run: echo `date` ``", "echo `date`"),
        ("run: `make`\nwhich builds all", "make"),
        ("run: test $(cat a | wc -l) = 3 && true", "test $(cat a | wc -l) = 3 && true"),
    ],
)
def test_what_follows_run_is_the_command(written: str, command: str) -> None:
    criterion, problem = criteria.read(written, 7)
    assert (criterion.command, criterion.line, problem) == (command, 7, "")
    assert criterion.text == written.strip()


@pytest.mark.parametrize(
    "written",
    [
        "pytest -q",
        "`pytest -q` passes",
        "it must run: always",
        "Run: pytest",
        "RUN: pytest",
        "**run:** pytest",
        "rerun: pytest",
        "run pytest",
        "command: run: pytest",
        "> run: pytest",
        "\nTo check,\nrun: pytest",
        "",
    ],
)
def test_nothing_else_is_ever_a_command(written: str) -> None:
    assert criteria.read(written, 1)[0].command == ""


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("run:", "no command"),
        ("run: ``", "not closed"),
        ("run: `pytest", "not closed"),
        ("run: `a` and `b`", "only one command"),
        ("run: `which python` -m `x`", "only one command"),
        ("run: pytest \\\n  -q", "does not end on its line"),
        ("run: " + "x" * 1001, "more than 1000"),
        ("run: echo \x1b[8mhidden", "nobody can see"),
        ("run: echo a\u202eb", "nobody can see"),
        ("run: echo a\u200bb", "nobody can see"),
        ("run: echo a\tb", "nobody can see"),
        ("run: echo a\rrm", "nobody can see"),
        ("run: echo \0", "nobody can see"),
    ],
)
def test_a_command_that_is_not_plain_to_see_is_refused(written: str, why: str) -> None:
    criterion, problem = criteria.read(written, 3)
    assert criterion.command == ""
    assert why in problem


def test_a_field_of_its_own_names_a_command() -> None:
    assert criteria.from_command(" true\n", 4) == (("run: true", "true", 4), "")
    criterion, problem = criteria.from_command("a\nb", 4)
    assert (criterion.command, bool(problem)) == ("", True)


@pytest.mark.parametrize("written", ["Run: pytest", "**run:** pytest", "RUN : pytest"])
def test_what_people_would_take_for_a_command_is_noticed(written: str) -> None:
    assert criteria.is_almost_command(criteria.read(written, 1)[0])


@pytest.mark.parametrize("written", ["run: pytest", "it runs: often", "Running: yes"])
def test_other_words_are_not(written: str) -> None:
    assert not criteria.is_almost_command(criteria.read(written, 1)[0])
