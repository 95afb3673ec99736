"""Which criteria leave open when they are met."""

from __future__ import annotations

import pytest

from tether.coordinator.plans import vague


@pytest.mark.parametrize(
    ("criterion", "kind"),
    [
        ("The parser works correctly", "works"),
        ("login is working", "works"),
        ("It behaves as expected", "expected"),
        ("Input is validated properly", "expected"),
        ("The code is of good quality", "quality"),
        ("Best practices are followed", "quality"),
        ("well-tested", "quality"),
        ("The page is user-friendly", "friendly"),
        ("Easy to use", "friendly"),
        ("It is fast enough", "speed"),
        ("The query is EFFICIENT", "speed"),
        ("Supports CSV, JSON etc.", "open_end"),
        ("Handles errors", "errors"),
        ("fails gracefully", "errors"),
        ("It looks right", "looks"),
        ("The API is fully implemented", "finished"),
        ("Everything is done", "finished"),
        ("the `Parser` works as intended", "works"),
        ("handles errors and/or warnings", "errors"),
        ("returns correctly", "expected"),
        ("works \x1b[1mproperly", "works"),
    ],
)
def test_a_vague_phrase_is_found(criterion: str, kind: str) -> None:
    found = vague.judge(criterion)
    assert found is not None
    assert found.kind == kind
    assert found.reason
    assert found.instead
    assert found.phrase in criterion.lower().replace("\x1b[1m", "")


@pytest.mark.parametrize(
    "criterion",
    [
        "`pytest -q` works",
        "Answers fast: under 200 ms",
        "Handles errors with exit code 2",
        "Handles errors: returns 404 for an unknown user",
        'It works: prints "frost" below zero',
        "docs/format.md is complete and properly linked",
        "GET /login works",
        "handles errors listed in errors.py",
        "Coverage is good quality: 95 %",
        "it rejects an empty name properly",
        "The table has three columns",
        "",
    ],
)
def test_what_can_be_tested_is_not_vague(criterion: str) -> None:
    assert vague.judge(criterion) is None


def test_there_are_nine_kinds_and_seven_signs_as_in_the_seed() -> None:
    assert len({kind.name for kind in vague.KINDS}) == 9
    assert len(vague.SIGNS) == 7
