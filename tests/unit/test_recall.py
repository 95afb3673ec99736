"""The last words of a session, and what failed for it, from the transcript itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import trails
from tether.evidence import model, recall


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


@pytest.fixture
def talk(tmp_path: Path) -> trails.Transcript:
    return trails.Transcript(tmp_path)


def second(number: int) -> str:
    return f"2026-11-01T00:{number // 60:02}:{number % 60:02}.000Z"


def recalled(
    file: Path, *pointers: str, since: str = "", until: str = "9", at_end: bool = True
) -> recall.Recalled:
    return recall.recall(pointers, str(file), since, until, at_end=at_end)


def words(found: recall.Recalled) -> list[str]:
    return [each.text for each in found.said]


def opened(pointer: str) -> Any:
    """The record that a pointer opens."""
    path, _, span = pointer.removeprefix("file:").partition("#bytes=")
    begin, end = map(int, span.split("-"))
    return json.loads(Path(path).read_bytes()[begin:end])


def test_the_words_of_the_agent_are_recalled(file: Path, talk: trails.Transcript) -> None:
    file.write_text(
        talk.prompt("Go on.")
        + talk.said("I begin.")
        + talk.tool("Bash", command="make")
        + talk.result("fine")
        + talk.said("I end.")
    )
    found = recalled(file)
    assert words(found) == ["I begin.", "I end."]
    assert found.failed == []
    assert opened(found.said[0].pointer)["message"]["content"][0]["text"] == "I begin."
    assert found.said[0].at == second(1)


def test_only_words_within_the_time_are_recalled(file: Path, talk: trails.Transcript) -> None:
    file.write_text("".join(talk.said(f"Step {number}.") for number in range(5)))
    found = recalled(file, since=second(1), until=second(3))
    assert words(found) == ["Step 1.", "Step 2.", "Step 3."]


def test_what_failed_is_recalled_with_its_command(file: Path, talk: trails.Transcript) -> None:
    file.write_text(
        talk.tool("Bash", "toolu_1", command="make check", description="Check")
        + talk.tool("Read", "toolu_2", file_path="/missing.py")
        + talk.result("2 tests failed", "toolu_1", is_error=True)
        + talk.result("no such file", "toolu_2", is_error=True)
        + talk.result("orphan", "toolu_3", is_error=True)
        + talk.result("fine", "toolu_4")
    )
    failed = recalled(file).failed
    assert [(each.command, each.error) for each in failed] == [
        ("make check", "2 tests failed"),
        ("/missing.py", "no such file"),
        ("", "orphan"),
    ]
    assert opened(failed[0].pointer)["message"]["content"][0]["is_error"] is True


def test_a_command_before_the_time_explains_a_failure_within(
    file: Path, talk: trails.Transcript
) -> None:
    file.write_text(talk.tool("Bash", command="make") + talk.result("no rule", is_error=True))
    assert [each.command for each in recalled(file, since=second(1)).failed] == ["make"]


def test_failures_of_codex_are_recalled(file: Path) -> None:
    call = {
        "type": "function_call", "name": "shell", "call_id": "c1",
        "arguments": json.dumps({"command": ["make", "check"]}),
    }  # fmt: skip
    output = {
        "type": "function_call_output", "call_id": "c1",
        "output": "Process exited with code 2\nOutput:\nno rule",
    }  # fmt: skip
    fine = {**output, "output": "Process exited with code 0\nOutput:\nfine"}
    message = {
        "type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": "I begin."}],
    }  # fmt: skip
    theirs = {**message, "role": "user", "content": [{"type": "input_text", "text": "Go on."}]}
    payloads = [theirs, message, call, output, fine]
    file.write_text(
        "".join(
            json.dumps({"timestamp": second(n), "type": "response_item", "payload": payload}) + "\n"
            for n, payload in enumerate(payloads)
        )
    )
    found = recalled(file)
    assert words(found) == ["I begin."]
    [failed] = found.failed
    assert (failed.command, failed.at) == ("make check", second(3))
    assert failed.error.startswith("Process exited with code 2")


def test_only_near_the_pointers_is_looked_at(file: Path, talk: trails.Transcript) -> None:
    early = talk.said("Early.")
    far = "".join(talk.prompt("x" * 100_000) for _ in range(25))
    file.write_text(early + far + talk.said("Late."))
    begin = f"file:{file}#bytes=0-{len(early)}"
    assert words(recalled(file, begin)) == ["Early.", "Late."]
    assert words(recalled(file, begin, at_end=False)) == ["Early."]
    assert words(recalled(file)) == ["Late."]
    assert words(recalled(file, at_end=False)) == []


def test_a_pointer_behind_the_end_does_no_harm(file: Path, talk: trails.Transcript) -> None:
    file.write_text(talk.said("I begin."))
    behind = f"file:{file}#bytes=90000000-90000100"
    assert words(recalled(file, behind)) == ["I begin."]
    assert words(recalled(file, behind, at_end=False)) == []


def test_the_same_words_are_recalled_once(file: Path, talk: trails.Transcript) -> None:
    line = talk.said("I begin.")
    file.write_text(line)
    pointer = f"file:{file}#bytes=0-{len(line) - 1}"
    assert words(recalled(file, pointer, pointer)) == ["I begin."]


def test_a_file_that_is_gone_or_a_link_recalls_nothing(file: Path, tmp_path: Path) -> None:
    assert recalled(file) == ([], [])
    (tmp_path / "target").write_text("{}\n")
    file.symlink_to(tmp_path / "target")
    assert recalled(file) == ([], [])
    assert recalled(tmp_path) == ([], [])


@pytest.mark.parametrize(
    "line",
    [
        "",
        "not JSON",
        "[]",
        "7",
        "null",
        '{"message": 7}',
        '{"message": {"content": [7, null, {"type": 7}]}}',
        '{"message": {"role": "assistant", "content": [{"type": "text", "text": 7}]}}',
        '{"payload": []}',
        '{"payload": {"type": "function_call", "arguments": "{broken"}}',
        '{"message": {"content": [{"type": "tool_use", "input": {"command": 7}}]}}',
        '{"message": {"content": [{"type": "tool_use", "input": {"command": [1, null]}}]}}',
        "[" * 5000,
        '{"timestamp": {"a": 1}}',
    ],
)
def test_records_of_any_shape_do_no_harm(file: Path, talk: trails.Transcript, line: str) -> None:
    file.write_text(f"{line}\n{talk.said('I begin.')}{line}")
    assert words(recalled(file)) == ["I begin."]


def test_bytes_of_any_kind_do_no_harm(file: Path, talk: trails.Transcript) -> None:
    file.write_bytes(b"\xff\xfe\x00{\n" + talk.said("I begin.").encode() + b'{"torn": "')
    assert words(recalled(file)) == ["I begin."]


def test_secrets_and_long_words_are_cut(file: Path, talk: trails.Transcript) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    file.write_text(
        talk.said(f"Use {secret}.\nAnd more.") + talk.result(f"bad {secret}", is_error=True)
        + talk.said("y" * 5000)
    )  # fmt: skip
    found = recalled(file)
    assert secret not in repr(found)
    assert "\n" not in words(found)[0]
    assert len(words(found)[1]) <= model.EXCERPT_CHARS


# Files


def edit(path: str, at: str, what: str = "edited", kind: str = model.WORKED) -> model.Activity:
    return model.Activity("claude:transcript", "file:t", "r", at, kind, what, files=(path,))


def test_files_are_counted_the_last_one_first() -> None:
    activities = [
        edit("a.py", second(1)),
        edit("b.py", second(2)),
        edit("a.py", second(3)),
        edit("c.py", second(9), what="committed"),
        edit("d.py", second(9), kind=model.MENTIONED),
    ]
    assert recall.files_of(activities) == [("a.py", 2, second(3)), ("b.py", 1, second(2))]
    assert recall.files_of([]) == []
