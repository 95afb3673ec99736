"""Which sentence of a record tells what a task was, and which ones name or settle a risk."""

from __future__ import annotations

import pytest

from tether.lineage.biography import prose, settling
from tether.lineage.biography.picking import MAX_CHARS, notes, sentence

REPORT = """Hi team,

## Summary

Done. The bell was out of order, e.g. at 5 a.m. when nobody was there. Replaced the wire in
`src/bell.py` so that it rings at once! See the log.

- [x] Ring twice, because one ring is missed.
- [ ] TODO: ring at night
- The wire has no cover.

```python
# Known issue: code is no prose.
```

Known issues:
- The night bell is too quiet.
- None.
"""


def of(value: object) -> str:
    return sentence({"description": value})[0]


def test_the_first_sentence_that_says_what_was_done_or_why_is_picked() -> None:
    assert sentence({"result": {"summary": REPORT}}) == (
        "Replaced the wire in `src/bell.py` so that it rings at once!",
        "result.summary",
    )


def test_without_such_a_sentence_it_is_the_first() -> None:
    assert of("The bell is red. The box is blue.") == "The bell is red."


def test_the_result_is_asked_before_the_plan_and_that_before_the_description() -> None:
    task = {"result": {"summary": "It rings now."}, "plan": "Wire it.", "description": "No bell."}
    assert sentence(task) == ("It rings now.", "result.summary")
    assert sentence({**task, "result": {"artefacts": []}}) == ("Wire it.", "plan")
    assert sentence({**task, "result": None, "plan": ""}) == ("No bell.", "description")
    assert sentence({"result": "It rings now."}) == ("It rings now.", "result.summary")
    assert sentence({}) == ("", "")


def test_a_result_that_only_says_done_tells_nothing() -> None:
    for said in ("Done.", "All done!", "OK", "It works now.", "TBD", "Completed", "n/a"):
        assert sentence({"result": {"summary": said}, "plan": "Wire the bell."})[1] == "plan"


@pytest.mark.parametrize(
    "value",
    [
        "# Ring the bell\n\nWire it up.",
        "Ring the bell\n=============\nWire it up.",
        "**Ring the bell**\nWire it up.",
        "Steps to take:\n\nWire it up.",
        "```\nring the bell\n```\nWire it up.",
        "~~~\n```\nring the bell\n~~~\nWire it up.",
        "Hello Bo,\nWire it up.",
        "Hi all!\n\nWire it up.",
        "Thanks for the report. Wire it up.",
        "- [x] ring the bell\n- [ ] wire the box\n\nWire it up.",
        "| a bell | b |\n|---|---|\n\nWire it up.",
        "> Ring the bell.\n\nWire it up.",
        "<!-- ring\nthe bell -->\nWire it up.",
        "    ring the bell\n\nWire it up.",
        "Co-authored-by: Ann <ann@example.com>\n\nWire it up.",
        "https://example.com/ring\n\nWire it up.",
        "* * *\n\nWire it up.",
    ],
)
def test_what_is_no_prose_is_passed_over(value: str) -> None:
    assert of(value) == "Wire it up."


def test_the_title_is_not_said_twice() -> None:
    assert sentence({"title": "Ring the bell", "plan": "Ring the bell.\nIt is loud."})[0] != (
        "Ring the bell."
    )
    assert sentence({"title": "Ring the bell", "plan": "Ring the bell. It is loud."})[0] == (
        "It is loud."
    )


def test_items_are_read_where_there_is_no_prose() -> None:
    assert of("1. Wire the bell\n2. Ring it") == "Wire the bell"
    assert of(["Look at the bell", "Replace its wire"]) == "Replace its wire"
    assert of("The bell is red.\n\n- The box is blue.") == "The bell is red."


def test_lines_of_a_paragraph_are_one_text() -> None:
    assert of("Ring the\nbell   and\twait.\nThen go.") == "Ring the bell and wait."


@pytest.mark.parametrize(
    ("value", "first"),
    [
        ("It rings, e.g. at 5 a.m. Then it stops.", "It rings, e.g. at 5 a.m."),
        ("It rings in src/bell.py. Then it stops.", "It rings in src/bell.py."),
        ("Version 1.2 rings. Then it stops.", "Version 1.2 rings."),
        ("It rings (twice.) Then it stops.", "It rings (twice.)"),
        ("Does it ring? Yes.", "Does it ring?"),
        ("It rings at Dr. Li's door. Then it stops.", "It rings at Dr. Li's door."),
        ("It rings... Then it stops.", "It rings..."),
        ("It rings. then it stops.", "It rings. then it stops."),
        ("它响了。然后停。", "它响了。"),
        ("Es läutet. Über Nacht nicht.", "Es läutet."),
    ],
)
def test_a_sentence_ends_where_one_would_stop(value: str, first: str) -> None:
    [block] = prose.blocks(value)
    assert block.sentences[0] == first


def test_a_long_sentence_is_cut_at_a_word() -> None:
    found = of("Ring " + "the bell " * 60)
    assert found.endswith("bell…")
    assert len(found) <= MAX_CHARS
    assert len(of("x" * 1_000 + " y")) == MAX_CHARS


def test_control_characters_are_gone() -> None:
    assert of("Ring \x1b[31mthe\u202e bell.") == "Ring the bell."


# Notes.


def test_risks_that_are_live_are_noted() -> None:
    assert notes(REPORT) == ("TODO: ring at night", "The night bell is too quiet.")


@pytest.mark.parametrize(
    "said",
    [
        "Note: the wire is hot.",
        "Known issue: it rings twice.",
        "Risk: the wire melts.",
        "The cover is still missing.",
        "The night bell is not yet heard.",
        "TODO: a cover.",
        "Follow-up needed for the cover.",
        "A known limitation is that it does not ring at night.",
        "As a workaround the door stays open.",
    ],
)
def test_every_sign_of_a_risk_counts(said: str) -> None:
    assert notes(f"It rings now. {said} It is red.") == (said,)


@pytest.mark.parametrize(
    "said",
    [
        "It rings now.",
        "Removed the workaround for the door.",
        "There was a limitation of two bells.",
        "This lifts the limitation of two bells.",
        "There are no known issues.",
        "Known issues: none.",
        "Risk: none.",
        "No follow-up needed.",
        "It did not yet ring before this.",
        "It rings without any workaround.",
        "- [x] TODO: a cover",
        "```\nTODO: a cover\n```",
        "The risk of ice is well known.",
    ],
)
def test_what_is_settled_is_no_risk(said: str) -> None:
    assert notes(said) == ()


def test_at_most_three_are_noted_and_none_twice() -> None:
    value = "\n".join(f"- TODO: bell {number // 2}" for number in range(20))
    assert notes(value) == ("TODO: bell 0", "TODO: bell 1", "TODO: bell 2")


def test_what_stands_under_limitations_is_one() -> None:
    assert notes("## Limitations\n\nOnly one bell rings.\n\n## Tests\n\nAll pass.") == (
        "Only one bell rings.",
    )


# What settles a risk.

OVERFLOW = "Risk: overflow is not handled for very large rows."


@pytest.mark.parametrize(
    ("note", "said"),
    [
        (OVERFLOW, "Overflow of very large rows is handled."),
        (OVERFLOW, "This fixes the overflow of large rows."),
        (OVERFLOW, "Got rid of overflows in a large row."),
        ("The night bell is too quiet.", "The bell is no longer quiet."),
        ("Known limitation: keys are case-sensitive.", "Keys are no longer case-sensitive."),
        ("TODO: test with empty rows.", "Resolved: the test with empty rows is there."),
    ],
)
def test_who_names_a_risk_and_says_that_it_is_settled_settles_it(note: str, said: str) -> None:
    assert settling.settles(said, note)


@pytest.mark.parametrize(
    "said",
    [
        "Overflow is fixed.",
        "Overflow of large rows is logged.",
        "Overflow of large rows is not handled.",
        "Overflow of large rows isn't fixed.",
        "Overflow of large rows must be handled.",
        "Overflow of large rows is fixed only for integers.",
        "Overflow of large rows is partly fixed.",
        "Is the overflow of large rows fixed?",
        "Fixed the colour of the bell.",
        "Fixed all known risks.",
        "",
    ],
)
def test_in_doubt_a_risk_is_not_settled(said: str) -> None:
    assert not settling.settles(said, OVERFLOW)


def test_a_risk_of_one_word_is_not_settled_by_it() -> None:
    assert not settling.settles("Fixed the cover.", "TODO: a cover.")


def test_a_risk_can_be_named_by_the_task_that_named_it() -> None:
    assert settling.settles_risk_of("It fixes the risk that T1 named.", "T1")
    for said in (
        "It fixes the risk that T12 named.",
        "It fixes the risk that my-T1 named.",
        "It fixes the bell of T1.",
        "It may have fixed the risk that T1 named.",
        "It names the risk of T1.",
    ):
        assert not settling.settles_risk_of(said, "T1")
    assert not settling.settles_risk_of("It fixes the risk.", "")
