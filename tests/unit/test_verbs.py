"""The parser by hand and click take the same words for the same thing."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tether import errors
from tether.cli import answers, claim, cold, context, events, main, verbs

VERB = events.VERB


def by_click(words: list[str], name: str = "events") -> dict[str, Any]:
    """What click makes of the same words; raises what click raises."""
    root = click.Context(cold.tether, info_name="tether")
    command = cold.tether.get_command(root, name)
    assert command is not None
    with command.make_context(name, list(words), parent=root) as made:
        return made.params


def agree(words: list[str]) -> verbs.Values | None:
    """What both say; None if it is click's to explain."""
    values = verbs.parse(VERB, words)
    if values is not None:
        assert by_click(words) == values
        return values
    with contextlib.suppress(click.UsageError, click.exceptions.Exit):
        by_click(words)
    return None


PLAIN = {
    "after": None, "limit": 50, "follow": False, "task": None, "session": None, "run": None,
    "json": False,
}  # fmt: skip
UNDERSTOOD: list[tuple[list[str], dict[str, Any]]] = [
    ([], {}),
    (["--json"], {"json": True}),
    (["--json", "--json"], {"json": True}),
    (["--limit", "3"], {"limit": 3}),
    (["--limit=3"], {"limit": 3}),
    (["--limit", "003"], {"limit": 3}),
    (["--limit", "0"], {"limit": 0}),
    (["--limit", "9" * 15], {"limit": 10**15 - 1}),
    (["--limit", "3", "--limit", "4"], {"limit": 4}),
    (["--limit=4", "--limit", "3"], {"limit": 3}),
    (["--after", "7", "--limit", "3", "--json"], {"after": 7, "limit": 3, "json": True}),
    (["--json", "--after=7"], {"after": 7, "json": True}),
    (["--task", "T-1", "--task", "T-2"], {"task": "T-2"}),
    (["--task=T-1"], {"task": "T-1"}),
    (["--task=a=b"], {"task": "a=b"}),
    (["--task==b"], {"task": "=b"}),
    (["--task="], {"task": ""}),
    (["--task", ""], {"task": ""}),
    (["--task", "--limit"], {"task": "--limit"}),
    (["--task", "--json"], {"task": "--json"}),
    (["--task", "--"], {"task": "--"}),
    (["--task", "-h"], {"task": "-h"}),
    (["--task", "--help"], {"task": "--help"}),
    (["--session", "a b"], {"session": "a b"}),
    (["--session", "\udcff"], {"session": "\udcff"}),
]
FOR_CLICK = [
    ["--help"], ["-h"], ["--limit", "3", "--help"], ["--limit"], ["--task"],
    ["--json", "--session"], ["--limit="], ["--limit", ""], ["--limit", "x"], ["--limit", "-1"],
    ["--limit=-1"], ["--limit", "1.5"], ["--limit", "1e3"], ["--limit", "1_0"], ["--limit", " 3"],
    ["--limit", "3\n"], ["--limit", "+3"], ["--limit", "\u0663"], ["--limit", "\u00b2"],
    ["--limit", "9" * 16], ["--limit", "9" * 5000], ["--limit", "--json"], ["--after", "--"],
    ["--json=1"], ["--json="], ["--json=true"], ["--unknown"], ["--unknown=3"], ["--lim", "3"],
    ["--LIMIT", "3"], ["-limit", "3"], ["-l", "3"], ["---limit", "3"], ["--limit:3"], ["extra"],
    ["--limit", "3", "extra"], ["extra", "--json"], ["a", "b"], [""], ["-"], ["--", "extra"],
    ["--", "--json"], ["--", "--limit", "3"], ["--json", "--", "x"], ["--no-json"], ["=", "3"],
    ["--=3"], ["-C", "/"],
]  # fmt: skip


@pytest.mark.parametrize(("words", "values"), UNDERSTOOD, ids=lambda value: ascii(value)[:40])
def test_both_understand_the_same(words: list[str], values: dict[str, Any]) -> None:
    assert agree(words) == {**PLAIN, **values}


def test_an_option_may_be_given_several_times() -> None:
    words = ["T1", "--path", "a", "--path=b"]
    values = verbs.parse(claim.VERB, words)
    assert values is not None
    assert values["path"] == ["a", "b"] == list(by_click(words, "claim")["path"])
    assert verbs.parse(claim.VERB, ["T1"]) == {**values, "path": []}


@pytest.mark.parametrize("words", FOR_CLICK, ids=lambda words: ascii(words)[:40])
def test_what_is_not_understood_at_once_is_clicks_to_explain(words: list[str]) -> None:
    assert verbs.parse(VERB, words) is None
    with pytest.raises((click.UsageError, click.exceptions.Exit)):
        by_click(words)


@pytest.mark.parametrize("words", [["--"], ["--json", "--"], ["--limit", "3", "--"]])
def test_two_dashes_at_the_end_are_clicks_and_mean_nothing(words: list[str]) -> None:
    assert verbs.parse(VERB, words) is None
    assert by_click(words) == {**PLAIN, **(verbs.parse(VERB, words[:-1]) or {})}


WORDS = st.one_of(
    st.sampled_from(
        ["--after", "--limit", "--task", "--session", "--json", "--help", "-h", "--", "-", "--x",
         "=", "--limit=3", "--after=0", "--task=T-1", "--session=s", "--task=", "--json=1", "3",
         "0", "-1", "T-1", "x", "", "--limi", "999999999999999", "1000000000000000"]
    ),
    st.text(max_size=6),
    st.builds("--{}={}".format, st.sampled_from(["limit", "task", "json"]), st.text(max_size=4)),
)  # fmt: skip


@settings(max_examples=400)
@given(words=st.lists(WORDS, max_size=7))
@example(words=["--task", "--json", "--json"])
@example(words=["--limit", "3", "--limit="])
def test_any_words_mean_the_same_to_both(words: list[str]) -> None:
    values = agree(words)
    if values is None:
        return
    assert set(values) == set(PLAIN)
    assert isinstance(values["limit"], int)


# Arguments


def nothing(call: context.Context, values: verbs.Values) -> answers.Answer:
    return answers.Answer("nothing", values, lambda: "")


SHOW = verbs.Verb(
    "show",
    "Show a thing.",
    (
        verbs.Option("--dry-run", "Only look."),
        verbs.Option("--max-lines", "How many.", "N", 5, True),
    ),
    nothing,
    (verbs.Argument("thing", "Which."),),
)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["x"], {}),
        (["x", "--dry-run"], {"dry_run": True}),
        (["--dry-run", "x"], {"dry_run": True}),
        (["--max-lines", "7", "x"], {"max_lines": 7}),
        (["x", "--max-lines=7"], {"max_lines": 7}),
    ],
)
def test_an_argument_may_stand_anywhere(words: list[str], values: dict[str, Any]) -> None:
    plain = {"thing": "x", "dry_run": False, "max_lines": 5, "json": False}
    assert verbs.parse(SHOW, words) == {**plain, **values}


@pytest.mark.parametrize("words", [[], ["x", "y"], ["--", "-x"], ["--max-lines", "x"], ["-x"]])
def test_a_missing_or_surplus_argument_is_clicks(words: list[str]) -> None:
    assert verbs.parse(SHOW, words) is None


@pytest.mark.parametrize(
    ("word", "value"),
    [("0", 0), ("7", 7), ("007", 7), ("9" * 15, 10**15 - 1), ("9" * 16, None), ("", None),
     ("-1", None), ("1.0", None), ("\u0667", None), ("\u00b2", None), ("0x1", None), (" 1", None),
     ("1" * 10**5, None)],
    ids=lambda value: ascii(value)[:20],
)  # fmt: skip
def test_a_number_is_whole_and_fits_every_database(word: str, value: int | None) -> None:
    assert verbs.number(word) == value


# Through the front door


@pytest.mark.parametrize(
    "words", [["--limit", "x"], ["--limit"], ["--unknown"], ["extra"], ["--json=1"], ["--", "x"]]
)
def test_a_mistake_ends_with_2_and_names_the_help(
    words: list[str], repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["-C", str(repo), "events", *words]) == errors.UsageError.exit_code
    said = capsys.readouterr()
    assert said.out == ""
    assert "tether events --help" in said.err


def test_help_is_clicks_and_shows_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["events", "--help"]) == 0
    said = capsys.readouterr().out
    assert all(option.flag in said and option.help[:20] in said for option in VERB.options)


def test_every_hot_command_is_in_the_list_of_commands_with_its_own_help() -> None:
    for name in main._HOT:
        if name.endswith(" --quick"):
            continue  # a flag that is hot by itself: its help is that of the whole command
        group: click.Group = cold.tether
        *above, last = name.split(" ")
        for each in above:
            inner = group.get_command(click.Context(group), each)
            assert isinstance(inner, click.Group)
            group = inner
        assert isinstance(group, cold.LazyGroup)
        command = group.get_command(click.Context(group), last)
        assert command is not None
        assert (command.help or "").split("\n")[0] == group.entries[last].help


@pytest.mark.parametrize("words", [["--json"], ["--json", "--"], ["--limit=3", "--json"]])
def test_both_ways_print_the_same(
    words: list[str], repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["-C", str(repo), "events", *words]) == 0
    assert capsys.readouterr().out == '{"ok": true, "events": []}\n'
