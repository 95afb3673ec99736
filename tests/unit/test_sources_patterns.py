"""How ids look in texts: exactly, and never for long."""

from __future__ import annotations

import pytest

from tether import errors
from tether.tasks.sources import patterns

KINDS = patterns.Kinds(
    ("track", "speckit", "work"),
    ("PROJ-#", "@@-*"),
    (("beads", "bd"), ("beads", "my-app"), ("backlog", "task")),
)


def found(text: str, kinds: patterns.Kinds = KINDS) -> list[str]:
    return [each.id for each in patterns.Finder(kinds).find(text)]


TRACKS = patterns.Kinds(("track",))


@pytest.mark.parametrize(
    "text",
    ["v2.1.0", "version A2.1.0", "U.S. law", "the U.S.", "A.0.1", "A.01", "e.g. A. 1", "a.1.2",
     "ABC.1.2", "xA.1.2", "1.A.1.2", "A.1.2b", "A.1.2.3.4.5", "A", "A.",
     "file.A.1", "H.264x", "A.1.x1", "A.1234567"],
)  # fmt: skip
def test_what_is_no_id_of_a_track(text: str) -> None:
    ids = found(text, TRACKS)
    assert ids == (["A.1"] if text == "A.1.x1" else [])


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Done with H.13.9.", ["H.13.9"]),
        ("Done with H.13.9!", ["H.13.9"]),
        ("H.13.9: next", ["H.13.9"]),
        ("feat(H.13.9): x", ["H.13.9"]),
        ("[H.13.9]", ["H.13.9"]),
        ("**H.13.9**", ["H.13.9"]),
        ("`AA.3.2`", ["AA.3.2"]),
        ("H.1.1-H.1.3", ["H.1.1", "H.1.3"]),
        ("H.1.1–H.1.3", ["H.1.1", "H.1.3"]),
        ("H.1.1..H.1.3", ["H.1.1"]),
        ("H.1.1, H.1.2,H.1.3 and H.1.4", ["H.1.1", "H.1.2", "H.1.3", "H.1.4"]),
        ("H.1.1/H.1.2", ["H.1.1", "H.1.2"]),
        ("A.1.2.3.4", ["A.1.2.3.4"]),
        ("H.1.1 H.1.10 H.1.1.1", ["H.1.1", "H.1.10", "H.1.1.1"]),
        ("H.13", ["H.13"]),
        ("tool\nH.1.1: run", ["H.1.1"]),
    ],
)
def test_ids_of_tracks(text: str, ids: list[str]) -> None:
    assert found(text, TRACKS) == ids


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bd-1 and bd-a3f8.1.2.", [("beads", "bd-1"), ("beads", "bd-a3f8.1.2")]),
        ("my-app-x1", [("beads", "my-app-x1")]),
        ("other-1 abd-1 bd- bd-toolongforanid", []),
        ("task-7 and TASK-7.01", [("backlog", "TASK-7"), ("backlog", "TASK-7.01")]),
        ("multitask-7", []),
        ("T012 T01234 T01 T1001 T002a", [("speckit", each) for each in ("T012", "T1001", "T002a")]),
        ("T20260131-0a1b2c-2", [("work", "T20260131-0a1b2c-2")]),
    ],
)
def test_the_ids_of_other_lists(text: str, expected: list[tuple[str, str]]) -> None:
    kinds = KINDS._replace(templates=())
    assert [(e.source, e.id) for e in patterns.Finder(kinds).find(text)] == expected


def test_templates_of_a_team() -> None:
    kinds = patterns.Kinds(("track", "work"), ("PROJ-#", "@@x.*"))
    finder = patterns.Finder(kinds)
    assert [(e.source, e.id, e.start) for e in finder.find("PROJ-12, abx.1c; PROJ-x proj-1")] == [
        ("work", "PROJ-12", 0),
        ("work", "abx.1c", 9),
    ]


@pytest.mark.parametrize(
    ("template", "text", "ids"),
    [
        ("T#", "T20260101-aaaa01: a", ["T20260101-aaaa01"]),
        ("T#", "This supersedes T20260101-aaaa01.", ["T20260101-aaaa01"]),
        ("T#", "T20260101-aaaa01-2, T17 and T20260101", ["T20260101-aaaa01-2", "T17", "T20260101"]),
        ("T#", "T20260101-aaaa and T20260101-aaaa01b", ["T20260101", "T20260101"]),
        (
            "T########-@@@@",
            "T20260101-aaaa01 T20260101-aaaa",
            ["T20260101-aaaa01", "T20260101-aaaa"],
        ),
        ("T#-*", "T20260101-aaaa01-x", ["T20260101-aaaa01"]),
        ("fix-*", "fix-T20260101-aaaa01 fix-T2", ["T20260101-aaaa01", "fix-T2"]),
        ("*-*", "a-T20260101-aaaa01 b-2", ["T20260101-aaaa01", "b-2"]),
        ("a@@@##", "T20260101-aaaa01 aaaa01", ["T20260101-aaaa01", "aaaa01"]),
    ],
)
def test_a_template_leaves_our_own_ids_whole(template: str, text: str, ids: list[str]) -> None:
    kinds = patterns.Kinds(("work", "speckit"), (template,))
    assert found(text, kinds) == ids
    assert found(f"{text}\n{text}", kinds) == ids * 2


def test_a_prefix_leaves_our_own_ids_whole() -> None:
    kinds = patterns.Kinds(("work",), (), (("beads", "T20260101"),))
    [one] = patterns.Finder(kinds).find("T20260101-aaaa01")
    assert (one.source, one.id) == ("work", "T20260101-aaaa01")


def test_what_an_earlier_finder_read_is_read_again() -> None:
    # With `3:` a template took the beginning of our own ids.
    assert patterns.Finder(KINDS).version.startswith("4:")


@pytest.mark.parametrize(
    "template",
    ["", "#", "###", "@*#", "(a+)+b", "a|b", "PROJ-[0-9]", "a b", "x" * 41, "P\n#", ".*" + "\\d"],
)
def test_what_is_no_template_is_refused(template: str) -> None:
    with pytest.raises(errors.ConfigError):
        patterns.Finder(patterns.Kinds(("work",), (template,)))


@pytest.mark.parametrize(
    "template",
    [
        "A" + "*" * 39,
        "@" * 20 + "-" + "#" * 19,
        "*.*.*.*.*.*.*",
        "x-@#@#@#@#",
        "*a",
        "#-" * 20,
        "@v#",
        "T#",
        "*-*",
    ],
)
@pytest.mark.parametrize(
    "unit", ["a", "1", "a1", "a.", "1-", "av1", "T20260101-", "T20260101-aaaa01-"]
)
def test_no_template_makes_a_search_think_for_long(template: str, unit: str) -> None:
    finder = patterns.Finder(patterns.Kinds(("work",), (template,)))
    text = unit * (30_000 // len(unit))
    finder.find(text)
    finder.find(f" {unit * 9}" * 3000)
    finder.may_hold(text.encode() + b"\0")


@pytest.mark.parametrize("template", ["A" + "#*" * 19, "*a*a*a*a", "#1#1#1#1", "@x@x@x", "*@*@"])
def test_a_template_that_could_end_in_many_ways_is_refused(template: str) -> None:
    with pytest.raises(errors.ConfigError):
        patterns.Finder(patterns.Kinds(("work",), (template,)))


@pytest.mark.parametrize("prefix", ["", "1a", "a b", "a|b", "(a+)+", "x" * 33, "a."])
def test_a_prefix_that_is_none_finds_nothing(prefix: str) -> None:
    kinds = patterns.Kinds((), (), (("beads", prefix),))
    assert found("a-1 x-1 (a+)+-1", kinds) == []


def test_no_kinds_find_nothing() -> None:
    assert found("H.1.1 bd-1", patterns.Kinds()) == []
    assert not patterns.Finder(patterns.Kinds()).may_hold(b"H.1.1")


@pytest.mark.parametrize(
    "text", ["see H.1.1.", "bd-a3f8", "Task-7", "PROJ-3", "T012", "T20260131-0a1b2c", "ab-9"]
)
def test_raw_finds_every_line_that_holds_an_id(text: str) -> None:
    finder = patterns.Finder(KINDS)
    assert finder.find(text)
    assert finder.may_hold(text.encode())
    assert finder.may_hold(f'{{"t":"\\n{text}"}}'.encode())
