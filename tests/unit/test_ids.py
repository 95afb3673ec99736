"""What each type of id takes and refuses, by example."""

from __future__ import annotations

import copy
import json
import pickle
import re

import pytest

from tether import errors, ids

NAMES = [ids.TaskId, ids.AgentName, ids.SessionId]
TYPES = [*NAMES, ids.NodeId, ids.WorkspaceId]
LONGEST = {ids.TaskId: 64, ids.AgentName: 64, ids.SessionId: 128}
A_VALID_ONE = {
    ids.TaskId: "T20261115-a1b2c3",
    ids.AgentName: "claude-1f3a",
    ids.SessionId: "0199a213-81c0-7800-8aa1-bbab2a035a53",
    ids.NodeId: "0123456789abcdef0123456789abcdef",
    ids.WorkspaceId: "k3v9x2m4q8w7z1t5",
}
DEVICES = [
    "con", "CON", "Con", "prn", "aux", "nul", "NUL", "com1", "COM9", "lpt1", "LPT9",
    "nul.txt", "con.yaml", "AUX.tar.gz", "com1.", "lpt5.a.b",
]  # fmt: skip
NOT_IDS = [
    "", ".", "..", "...", ".hidden", "-", "--", "-rf", "--help", "_x", "a/b", "/", "/a", "a/",
    "../a", "a\\b", "a b", " a", "a ", "a\n", "\na", "a\r", "a\r\n", "a\t", "a\0", "\0", "a\x7f",
    "a\x1b[31m", "a.", "a..", "a:b", "C:", "a*", "a?", "a|b", "a;b", "a&b", "a$b", "a`b", "a'b",
    'a"b', "a%2e", "~", "~root", "a~", "@", "a@b", "a#b", "a+b", "a,b", "a=b", "(a)", "{a}", "[a]",
    "<a>", "!a", "^a",
]  # fmt: skip
LOOK_ALIKES = [
    "\u00e9", "\u00e41", "\u0430dmin", "\u03a4-1", "T\u20101", "T\u20111", "T\u22121", "a\u2024b",
    "a\uff0eb", "\uff41", "\uff11", "\u0661\u0662", "\u0967", "1\u0662", "\u00b2", "a\u00b2",
    "\u2460", "\U0001d7d9", "\u3007", "\u2167", "\u01c0", "a\u200b", "a\u200d", "a\u202e",
    "a\u00ad", "\ufeffa", "a\u0301", "a\u2028", "a\u2029", "a\x85", "a\u00a0", "a\ud800", "\udcff",
    "\u017f", "\u212a", "\u0130", "\u0131",
]  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
def test_an_id_is_the_text_that_it_was_made_of(kind: type[ids.TaskId]) -> None:
    value = A_VALID_ONE[kind]
    made = kind(value)
    assert type(made) is kind
    assert made == value
    assert str(made) == value
    assert f"{made}" == value
    assert hash(made) == hash(value)


@pytest.mark.parametrize("kind", TYPES)
def test_an_id_of_its_own_type_is_taken_as_it_is(kind: type[ids.TaskId]) -> None:
    made = kind(A_VALID_ONE[kind])
    assert kind(made) is made


def test_an_id_of_another_type_is_looked_at_again() -> None:
    with pytest.raises(errors.InvalidId):
        ids.TaskId(ids.SessionId("a" * 65))
    assert type(ids.TaskId(ids.SessionId("a"))) is ids.TaskId


@pytest.mark.parametrize("kind", TYPES)
def test_an_id_survives_copies_and_files(kind: type[ids.TaskId]) -> None:
    made = kind(A_VALID_ONE[kind])
    for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):  # noqa: S301 (our own)
        assert type(again) is kind
        assert again == made
    assert kind(json.loads(json.dumps(made))) == made


@pytest.mark.parametrize("kind", TYPES)
def test_an_id_has_no_place_for_more(kind: type[ids.TaskId]) -> None:
    with pytest.raises(AttributeError):
        kind(A_VALID_ONE[kind]).note = "x"  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize(
    "value",
    ["a", "Z", "0", "9", "a.b", "a_b", "a-b", "a-", "a_", "H.13.9", "T20261115-a1b2c3", "1..2",
     "a--b", "console", "con-1", "auxiliary", "com10", "com", "nul_", "x.nul", "lpt0"],
)  # fmt: skip
def test_a_name_may_have_letters_digits_and_three_signs(kind: type[ids.TaskId], value: str) -> None:
    assert kind(value) == value


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("value", [*NOT_IDS, *LOOK_ALIKES], ids=ascii)
def test_what_is_not_an_id_is_refused_and_not_repeated(kind: type[ids.TaskId], value: str) -> None:
    assert not kind.is_valid(value)
    with pytest.raises(errors.InvalidId) as caught:
        kind(value)
    assert caught.value.message == f"This is not a valid {kind.noun}. Nothing was changed."
    assert caught.value.hint == kind.hint


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("value", DEVICES)
def test_the_name_of_a_device_is_refused(kind: type[ids.TaskId], value: str) -> None:
    with pytest.raises(errors.InvalidId):
        kind(value)


@pytest.mark.parametrize("kind", NAMES)
def test_a_name_may_have_its_longest_length_and_not_one_more(kind: type[ids.TaskId]) -> None:
    longest = LONGEST[kind]
    assert kind("a" * longest)
    for length in (longest + 1, longest * 2, 100_000):
        with pytest.raises(errors.InvalidId):
            kind("a" * length)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\0", " ", "\u2028", "\x85"], ids=ascii)
def test_what_follows_a_valid_id_makes_it_invalid(kind: type[ids.TaskId], end: str) -> None:
    for value in (A_VALID_ONE[kind] + end, end + A_VALID_ONE[kind]):
        with pytest.raises(errors.InvalidId):
            kind(value)


def test_a_node_id_is_32_hexadecimal_digits() -> None:
    assert ids.NodeId("f" * 32)
    for value in ("f" * 31, "f" * 33, "F" * 32, "g" * 32, "0x" + "f" * 30, "\u0661" * 32):
        with pytest.raises(errors.InvalidId):
            ids.NodeId(value)


@pytest.mark.parametrize("length", [8, 16, 40])
def test_a_workspace_id_has_8_to_40_characters(length: int) -> None:
    assert ids.WorkspaceId("a" * length)


@pytest.mark.parametrize(
    "value", ["a" * 7, "a" * 41, "ABCDEFGH", "abcd-efgh", "abcd_efgh", "abcd.efgh", '"abcdefgh"']
)
def test_a_workspace_id_is_only_small_letters_and_digits(value: str) -> None:
    with pytest.raises(errors.InvalidId):
        ids.WorkspaceId(value)


def test_generated_workspace_ids_are_valid_and_differ() -> None:
    made = [ids.WorkspaceId.generate() for _ in range(500)]
    assert all(type(each) is ids.WorkspaceId and len(each) == 16 for each in made)
    assert len(set(made)) == len(made)


def test_generated_characters_are_never_look_alikes_and_use_the_whole_alphabet() -> None:
    many = ids.random_base32(20_000)
    assert set(many) == set("0123456789abcdefghjkmnpqrstvwxyz")
    assert ids.random_base32(0) == ""


@pytest.mark.parametrize("length", [1, 8, 16, 64])
def test_generated_characters_are_safe_in_a_task_id(length: int) -> None:
    assert ids.TaskId(ids.random_base32(length)) or length == 0


@pytest.mark.parametrize("kind", NAMES)
def test_the_hint_names_the_longest_length(kind: type[ids.TaskId]) -> None:
    assert re.search(rf"\b{LONGEST[kind]}\b", kind.hint)


@pytest.mark.parametrize("kind", NAMES)
def test_the_hint_says_everything_that_is_asked(kind: type[ids.TaskId]) -> None:
    assert not kind.is_valid("a.")
    assert "does not end with '.'" in kind.hint
