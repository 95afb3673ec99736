"""What is written into `work/lineage.yaml`: one more entry, and everything else as it was."""

from __future__ import annotations

import pytest

from tether import errors
from tether.lineage import declaring, targets
from tether.tasks import document

PATH = "work/lineage.yaml"
ENTRY = {"from": "old.py#beep", "to": "alarm.py#ring"}


def declared(
    raw: bytes, before: str = ENTRY["from"], after: str = ENTRY["to"], why: str = ""
) -> bytes:
    return declaring.same_as(raw, PATH, before, after, why)


def entries(raw: bytes) -> object:
    read = document.read(raw)
    assert not read.problem, read.problem
    return read.fields["same_as"]


@pytest.mark.parametrize(
    "raw", [b"", b"# Nothing yet.", b"\n\n# One\n# two\n", b"\xef\xbb\xbf# Begun\n"]
)
def test_a_file_without_anything_is_begun(raw: bytes) -> None:
    found = declared(raw)
    assert entries(found) == [ENTRY]
    assert found.startswith(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b"same_as:\n  - {from: a, to: b}\n",
        b"same_as:\n- from: a\n  to: b  # sure\n\n# The end.\n",
        b"same_as:\r\n  - {from: a, to: b}\r\nrelations: []\r\n",
        b"relations: []\nsame_as:\n  - from: a\n    to: b",
        "\ufeff# Größe\nsame_as:\n  - {from: a, to: b}\n".encode(),
    ],
)
def test_one_more_entry_leaves_every_byte_where_it_was(raw: bytes) -> None:
    found = declared(raw)
    assert entries(found) == [{"from": "a", "to": "b"}, ENTRY]
    kept = iter(found.splitlines())
    assert all(line in kept for line in raw.splitlines()), "in their order"


@pytest.mark.parametrize("raw", [b"relations: []", b"relations: []\nsame_as: []\n", b"same_as:\n"])
def test_an_empty_list_gives_way(raw: bytes) -> None:
    found = declared(raw)
    assert entries(found) == [ENTRY]
    assert (b"relations: []" in found) is (b"relations" in raw)


@pytest.mark.parametrize(
    "raw",
    [
        b"same_as: [{from: a, to: b}]\n",
        b"same_as: []  # none so far\n",
        b"same_as: nothing\n",
        b"{}\n",
        b"[]\n",
        b"same_as: {from: a}\n",
        b"same_as:\n  - [\n",
        b"\xff\xfe",
        b"a: 1\na: 2\n",
    ],
)
def test_what_cannot_be_edited_safely_is_refused(raw: bytes) -> None:
    with pytest.raises(errors.TaskUneditable) as caught:
        declared(raw)
    assert "Nothing was changed" in caught.value.message


@pytest.mark.parametrize(
    "words",
    [
        "a: b.py",
        "#x.py#run",
        "- a.py",
        "src/'it\"s'.py#A.b",
        "größe/日本.py",
        "true",
        "0012",
        "&a *b.py",
        "x" * 300,
    ],
)
def test_any_name_is_read_as_it_was_written(words: str) -> None:
    for raw in (b"", b"same_as:\n  - {from: a, to: b}\n"):
        found = entries(declared(raw, words, f"{words}2"))
        assert isinstance(found, list)
        assert found[-1] == {"from": words, "to": f"{words}2"}


@pytest.mark.parametrize(
    ("why", "read"),
    [
        ("rewritten", "rewritten"),
        ('he said: "no"\n# really\n', 'he said: "no"\n# really\n'),
        ("a\0b", "a\ufffdb"),
        ("half \udce9", "half ?"),
    ],
)
def test_reasons_are_kept_as_they_are_said(why: str, read: str) -> None:
    assert entries(declared(b"", why=why)) == [{**ENTRY, "why": read}]


def test_a_second_entry_follows_the_first() -> None:
    once = declared(b"# Ours\n", why="rewritten")
    twice = declared(once, "b.py", "c.py")
    assert entries(twice) == [{**ENTRY, "why": "rewritten"}, {"from": "b.py", "to": "c.py"}]
    assert twice.startswith(once)


def test_what_programs_are_told_has_no_controls() -> None:
    target = targets.Target(
        *("x", "symbol", "function ri\x1b[2Jng", "a\x1b.py:1", "a.py", 1), "node:x", (), ()
    )
    told = declaring.value(target, "a.py#ring")
    assert (told["name"], told["node"], told["gone"]) == ("function ring", "node:x", False)
    assert "\x1b" not in told["place"]
