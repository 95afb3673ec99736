"""The text of a task file: what it says, or what is wrong with it and where. Never an exception."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tether.tasks import document


def said(content: str | bytes) -> tuple[str, int]:
    """What is wrong with a text, and the line."""
    raw = content if isinstance(content, bytes) else content.encode()
    found = document.read(raw)
    assert found.problem, f"read as {str(found.fields)[:80]}"
    assert found.fields == {}
    return found.problem, found.line


def fields(content: str | bytes) -> dict[str, Any]:
    raw = content if isinstance(content, bytes) else content.encode()
    found = document.read(raw)
    assert (found.problem, found.line) == ("", 0)
    return found.fields


# What is no text


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"\xff", 1),
        (b"id: a\ntitle: caf\xe9\n", 2),
        (b"id: a\nb: c\n\xc3", 3),
        ("id: a\n".encode("utf-16"), 1),
        (b"id: \xed\xa0\x80\n", 1),
    ],
)
def test_bytes_that_are_not_utf8_are_told_with_their_line(raw: bytes, line: int) -> None:
    assert said(raw) == ("it is not UTF-8 text", line)


@pytest.mark.parametrize("content", ["id: a\nb: c\0d\n", 'id: a\nb: "c\0d"\n', "id: a\n# \0\n"])
def test_a_nul_is_told_with_its_line(content: str) -> None:
    problem, line = said(content)
    assert "control characters" in problem
    assert line == 2


@pytest.mark.parametrize("content", ["", "\n", "   \n\n", "# only a comment\n", "---\n", "null\n"])
def test_an_empty_file_says_so(content: str) -> None:
    assert said(content) == ("it is empty", 1)


@pytest.mark.parametrize("content", ["- a\n- b\n", "hello\n", "12\n", "[]\n", '"id: a"\n'])
def test_what_has_no_fields_at_its_top_is_refused(content: str) -> None:
    problem, line = said(content)
    assert "not a list of fields" in problem
    assert line == 1


# What a person or a merge left behind


@pytest.mark.parametrize(
    ("content", "name", "line"),
    [
        ("id: a\ntitle: b\nid: c\n", "id", 3),
        ("\"id\": a\n'id': c\n", "id", 2),
        ("id: a\nresult:\n  summary: x\n  summary: y\n", "summary", 4),
        ("history:\n  - at: a\n    by: b\n    at: c\n", "at", 4),
        # The same name elsewhere is not the one that is there twice.
        ("result:\n  id: x\nid: a\ntitle: b\nid: c\n", "id", 5),
        ("description: |\n  id: in a text\n  id: and again\nid: a\nid: c\n", "id", 5),
        ("# id: in a comment\nid: a\nid: b\n", "id", 3),
        ("history:\n  - at: a\n  - at: b\n    by: c\n    at: d\n", "at", 5),
    ],
)
def test_a_field_that_is_there_twice_is_told_with_its_second_line(
    content: str, name: str, line: int
) -> None:
    assert said(content) == (f"the field '{name}' is there twice", line)


@pytest.mark.parametrize("content", ["a: {b: 1, b: 2}\n", "1: a\n1: b\n", "~: a\nnull: b\n"])
def test_no_kind_of_field_may_be_there_twice(content: str) -> None:
    said(content)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("id: a\n---\n**bold**\n", 2),
        ("---\nid: a\nb: c\n---\nbody\n", 4),
        ("id: a\r\n---\r\nbody\r\n", 2),
        ("id: a\n---\nid: b\n", 2),
        ("---\nid: a\n---\n", 3),
    ],
)
def test_a_second_document_is_told_with_the_line_of_its_marker(content: str, line: int) -> None:
    assert said(content) == ("a second `---` begins another document", line)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("<<<<<<< HEAD\nid: a\n=======\nid: b\n>>>>>>> b\n", 1),
        ("id: a\n<<<<<<< HEAD\nstatus: new\n=======\nstatus: done\n>>>>>>> b\n", 2),
        ("id: a\r\ntitle: b\r\n<<<<<<< HEAD\r\nstatus: new\r\n", 3),
    ],
)
def test_conflict_markers_are_told_with_the_line_of_the_first(content: str, line: int) -> None:
    assert said(content) == ("it has the conflict markers of a merge", line)


def test_markers_that_only_a_text_speaks_of_are_none() -> None:
    content = "id: a\ndescription: |\n  Look for\n  <<<<<<< HEAD\n"
    assert fields(content)["description"] == "Look for\n<<<<<<< HEAD\n"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("id:\n\ta: b\n", 2),
        ("id: a\n\tb: c\n", 2),
        ("id: a\ntitle: a: b\n", 2),
        ("id: a\nnote: **bold**\n", 2),
        ("id: a\n  b: c\n", 2),
        ("id: a\nb: 'it's'\n", 2),
        ("a: *nobody\n", 1),
    ],
)
def test_a_mistake_is_told_with_its_line_and_a_reason(content: str, line: int) -> None:
    problem, found = said(content)
    assert found == line
    assert "\n" not in problem
    assert len(problem) <= 120


# What somebody made to hurt

LEVELS = "abcdefghijklmnop"
ALIAS_BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{here}: &{here} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, here in itertools.pairwise(LEVELS)
)
MERGE_BOMB = "a: &a {x: 1}\n" + "".join(
    f"{here}: &{here}\n  <<: [{', '.join([f'*{before}'] * 9)}]\n"
    for before, here in itertools.pairwise(LEVELS)
)
BIG = document.MAX_BYTES


@pytest.mark.parametrize(
    "content",
    [
        ALIAS_BOMB,
        MERGE_BOMB,
        "a: &x [*x]\n",
        "[" * 200_000,
        "{" * 200_000,
        "a: " + "{a: " * (BIG // 4),
        "a: " + "[a: " * (BIG // 4),
        "a: " + "[" * 100_000 + "]" * 100_000,
        "- " * (BIG // 2),
        "? " * (BIG // 2),
        "".join(" " * depth + "a:\n" for depth in range(700)),
        '"' * (BIG - 1),
        "*" * BIG,
        "&a " * (BIG // 3),
        ":" * BIG,
        "a: [" + "," * BIG,
        "a: !!int x\n",
        "a: [\n",
        "? [a]\n: b\n",
    ],
    ids=lambda content: f"{content[:12]!r} {len(content)}",
)
def test_what_was_made_to_hurt_is_a_problem_and_nothing_else(content: str) -> None:
    problem, _ = said(content)
    assert len(problem) <= 120


@pytest.mark.parametrize(
    "content",
    ["a: !foo bar\n", "a: !!binary aGk=\n", "a: !!set {b, c}\n", "a: &x {b: 1}\nc: *x\n",
     "a: !!python/object/apply:os.system ['false']\n", "a: !!python/name:os.system\n",
     "!!python/object:os.PathLike {id: a}\n", "base: &b {x: 1}\nc:\n  <<: *b\n",
     "%YAML 1.1\n---\na: b\n", f"a: {'9' * 5000}\n", "a: 1e999\n"],
)  # fmt: skip
def test_tags_and_anchors_give_plain_values(content: str) -> None:
    """Nothing is ever made or called because a file names it."""
    plain = (dict, list, str, int, float, bool, type(None))
    waiting: list[Any] = [fields(content)]
    while waiting:
        value = waiting.pop()
        assert type(value) in plain
        if isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            waiting += value


def test_an_anchor_stands_for_its_value() -> None:
    assert fields("a: &x hello\nb: *x\n") == {"a": "hello", "b": "hello"}


@pytest.mark.parametrize("quote", ["", '"'])
def test_one_text_may_be_as_large_as_a_file(quote: str) -> None:
    value = "x" * (BIG - 10)
    assert fields(f"a: {quote}{value}{quote}\n") == {"a": value}


@pytest.mark.parametrize(
    "content", ["a: |\n  {}\n", 'a: "{}"\n', "a: b # {}\n", "# {}\na: b\n"]
)  # fmt: skip
def test_brackets_in_a_text_are_no_nesting(content: str) -> None:
    """Half-open intervals, or a log that was cut off: nothing in them is a list."""
    intervals = " ".join(["[0, 1)"] * 200)
    assert document.read(content.format(intervals).encode()).problem == ""


# What YAML 1.1 would have made of it


@pytest.mark.parametrize(
    "word",
    ["no", "yes", "on", "off", "y", "n", "No", "OFF", "12:30", "1:2:3", "010", "1_000",
     "2026-01-01", "2026-01-01T10:00:00Z", "=", "1.2.3", "0755abc"],
)  # fmt: skip
def test_a_word_that_yaml_1_1_takes_for_something_else_is_a_text(word: str) -> None:
    assert fields(f"a: {word}\n") == {"a": word}


@pytest.mark.parametrize(
    ("written", "value"),
    [("true", True), ("False", False), ("~", None), ("null", None), ("", None), ("12", 12),
     ("-3", -3), ("1.5", 1.5), ("0x10", 16), ("0o10", 8), ("[]", []), ("{}", {})],
)  # fmt: skip
def test_what_is_no_text_in_yaml_1_2_is_none(written: str, value: object) -> None:
    found = fields(f"a: {written}\n")["a"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "raw",
    [b"\xef\xbb\xbfid: a\nb: c\n", b"id: a\r\nb: c\r\n", b"---\nid: a\nb: c\n...\n",
     b"id: a\nb: c", b"id:   a   # why\n\n\nb: c\n", b"{id: a, b: c}\n"],
)  # fmt: skip
def test_the_same_fields_may_be_written_in_many_ways(raw: bytes) -> None:
    assert fields(raw) == {"id": "a", "b": "c"}
    assert document.read(raw).text.encode() == raw


# Writing a new file


def test_a_new_file_has_its_fields_in_the_usual_order_and_the_others_behind() -> None:
    given = {"zebra": 1, "status": "new", "apple": 2, "id": "T1", "title": "Do it"}
    raw = document.compose(given)
    assert list(fields(raw)) == ["id", "title", "status", "zebra", "apple"]
    assert fields(raw) == given


def test_a_new_file_is_plain_to_read() -> None:
    raw = document.compose(
        {
            "id": "T1",
            "title": "Say no",
            "agent": "",
            "created_at": "2026-01-01T00:00:00.000Z",
            "depends_on": [],
            "artefacts": ["src/a.py", "no"],
            "description": "One line.\n\nAnother.\n",
        }
    )
    assert raw.decode() == (
        "id: T1\n"
        "title: Say no\n"
        'agent: ""\n'
        'created_at: "2026-01-01T00:00:00.000Z"\n'
        "depends_on: []\n"
        "artefacts:\n"
        "  - src/a.py\n"
        '  - "no"\n'
        "description: |\n"
        "  One line.\n"
        "\n"
        "  Another.\n"
    )
