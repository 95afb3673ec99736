"""The last words of a session, and what failed for it, from the transcript itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import trails, transcripts
from tether.evidence import model, recall, stretches


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


@pytest.fixture
def talk(tmp_path: Path) -> trails.Transcript:
    return trails.Transcript(tmp_path)


def second(number: int) -> str:
    return f"2026-11-01T00:{number // 60:02}:{number % 60:02}.000Z"


def recalled(
    file: Path,
    *pointers: str,
    source: str = "claude:transcript",
    since: str = "",
    until: str = "9",
    at_end: bool = True,
) -> recall.Recalled:
    return recall.recall(
        source, pointers, str(file), [stretches.Stretch(since, until)], at_end=at_end
    )


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


# Codex


def codex(file: Path, *payloads: dict[str, Any], kind: str = "response_item") -> None:
    """A rollout of such items, or of what is no payload but a line, a second apart."""
    lines = [
        payload if "payload" in payload else {"type": kind, "payload": payload}
        for payload in payloads
    ]
    file.write_text(
        "".join(json.dumps({"timestamp": second(n), **line}) + "\n" for n, line in enumerate(lines))
    )


def event(**payload: Any) -> dict[str, Any]:
    return {"type": "event_msg", "payload": payload}


CALL = {
    "type": "function_call", "name": "shell", "call_id": "c1",
    "arguments": json.dumps({"command": ["bash", "-lc", "make check"]}),
}  # fmt: skip
OUTPUT = {"type": "function_call_output", "call_id": "c1"}
SPEECH = {
    "type": "message", "role": "assistant",
    "content": [{"type": "output_text", "text": "I begin."}],
}  # fmt: skip


@pytest.mark.parametrize(
    "output",
    [
        "Chunk ID: ce1685\nWall time: 0.0 seconds\nProcess exited with code 2\nOutput:\nno rule",
        "Exit code: 2\nWall time: 0.1 seconds\nOutput:\nno rule",
        json.dumps({"output": "no rule", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}),
    ],
)
def test_codex_every_form_of_a_failure_is_recalled(file: Path, output: str) -> None:
    codex(file, CALL, {**OUTPUT, "output": output})
    [failed] = recalled(file, source="codex:rollout").failed
    assert (failed.command, failed.error) == ("make check", "Exit code 2 no rule")
    assert (failed.at, opened(failed.pointer)["payload"]["call_id"]) == (second(1), "c1")


@pytest.mark.parametrize(
    "output",
    [
        "Process exited with code 0\nOutput:\nfine",
        "Exit code: 0\nOutput:\nfine",
        json.dumps({"output": "fine", "metadata": {"exit_code": 0}}),
        json.dumps({"output": "Exit code: 2", "metadata": {"exit_code": 0}}),
        "Process exited with code 0\nOutput:\n" + "x" * 300 + "\nProcess exited with code 2\n",
        "{broken",
        "[" * 5000,
        "{" * 5000,
        '{"metadata": {"exit_code": true, "a": 1}}'.replace("true", '"2"'),
        7,
        None,
        {"content": "fine", "success": True},
    ],
)
def test_codex_what_did_not_fail_is_not_told(file: Path, output: object) -> None:
    codex(file, CALL, {**OUTPUT, "output": output})
    assert recalled(file, source="codex:rollout").failed == []


def test_codex_a_failure_that_only_an_object_tells(file: Path) -> None:
    codex(file, CALL, {**OUTPUT, "output": {"content": "no such tool", "success": False}})
    [failed] = recalled(file, source="codex:rollout").failed
    assert failed.error == "no such tool"


def test_codex_events_tell_of_failures(file: Path) -> None:
    ended = event(
        type="exec_command_end", call_id="c1", command=["bash", "-lc", "make check"],
        exit_code=2, aggregated_output="no rule", status="failed",
    )  # fmt: skip
    item = {"type": "CommandExecution", "id": "c2", "exit_code": 1, "aggregated_output": "no"}
    fine = {**item, "id": "c3", "exit_code": 0}
    codex(
        file,
        ended,
        event(type="item_completed", item=item),
        event(type="item_completed", item=fine),
        event(type="patch_apply_end", call_id="c4", status="failed", stderr="no such file"),
    )
    found = recalled(file, source="codex:rollout").failed
    assert [(each.command, each.error) for each in found] == [
        ("make check", "Exit code 2 no rule"),
        ("", "Exit code 1 no"),
        ("", "no such file"),
    ]


def test_codex_what_is_written_twice_is_recalled_once(file: Path) -> None:
    ended = event(type="exec_command_end", call_id="c1", exit_code=2, stderr="no rule")
    output = {**OUTPUT, "output": "Process exited with code 2\nOutput:\nno rule"}
    theirs = {**SPEECH, "role": "user", "content": [{"type": "input_text", "text": "Go on."}]}
    spoken = event(type="agent_message", message="I begin.")
    last = event(type="task_complete", last_agent_message="I begin.")
    codex(file, theirs, spoken, SPEECH, CALL, ended, output, last)
    found = recalled(file, source="codex:rollout")
    assert words(found) == ["I begin."]
    [failed] = found.failed
    assert (failed.command, failed.at) == ("make check", second(4))


def test_codex_a_patch_is_told_by_its_files(file: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: house.py\n@@\n-a\n+b\n*** End Patch"
    call = {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c1", "input": patch}
    output = {"type": "custom_tool_call_output", "call_id": "c1", "output": "Exit code: 1\nno"}
    codex(file, call, output)
    [failed] = recalled(file, source="codex:rollout").failed
    assert failed.command == "apply_patch house.py"


def test_codex_the_first_versions_had_no_times(file: Path) -> None:
    lines = [SPEECH, CALL, {**OUTPUT, "output": json.dumps({"metadata": {"exit_code": 1}})}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = recalled(file, source="codex:rollout", since=second(5), until=second(9))
    assert words(found) == ["I begin."]
    assert [(each.at, each.command) for each in found.failed] == [("", "make check")]


def test_codex_real_records_are_recalled(file: Path) -> None:
    file.write_bytes(transcripts.corpus("codex_simple.jsonl"))
    found = recalled(file, source="codex:rollout")
    assert (words(found), found.failed) == (["Done pong"], [])
    file.write_bytes(transcripts.corpus("codex_compacted.jsonl"))
    assert recalled(file, source="codex:rollout") == ([], []), "what a compaction leaves is no word"


# Gemini


def message(number: int, kind: str, content: object, *calls: dict[str, Any]) -> dict[str, Any]:
    found = {"id": f"m-{number}", "timestamp": second(number), "type": kind, "content": content}
    return {**found, **({"toolCalls": list(calls)} if calls else {})}


def shell(number: int, status: str, **answer: Any) -> dict[str, Any]:
    response = {"functionResponse": {"id": "x", "name": "run_shell_command", "response": answer}}
    return {
        "id": f"call-{number}", "name": "run_shell_command", "args": {"command": "make check"},
        "status": status, "timestamp": second(number), "result": [response],
    }  # fmt: skip


GEMINI = [
    message(1, "user", [{"text": "Go on."}]),
    message(2, "gemini", "I begin.", shell(3, "executing")),
    message(2, "gemini", "I begin.", shell(3, "error", error="no such tool")),
    message(4, "gemini", "", shell(5, "success", output="Output: no rule\nExit Code: 2")),
    message(6, "gemini", "", shell(7, "success", output="Output: Exit Code: 2 is bad")),
    message(8, "gemini", "I end."),
]


def test_gemini_words_and_failures_are_recalled_once(file: Path) -> None:
    again = {"$set": {"messages": GEMINI}}
    file.write_text("".join(json.dumps(each) + "\n" for each in [*GEMINI, again]))
    found = recalled(file, source="gemini:session")
    assert words(found) == ["I begin.", "I end."]
    assert [(each.at, each.command, each.error) for each in found.failed] == [
        (second(3), "make check", "no such tool"),
        (second(5), "make check", "Exit code 2 Output: no rule Exit Code: 2"),
    ]
    assert opened(found.failed[0].pointer)["id"] == "m-2"


def test_gemini_the_older_file_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "session-2026.json"
    file.write_text(json.dumps({"sessionId": "s1", "messages": GEMINI}, indent=1))
    found = recalled(file, source="gemini:session", since=second(4))
    assert words(found) == ["I end."]
    assert [each.command for each in found.failed] == ["make check"]
    assert found.said[0].pointer == f"file:{file}"


# Cursor


def turn(role: str, text: str, *calls: dict[str, Any]) -> str:
    uses = [{"type": "tool_use", "name": "Shell", "input": each} for each in calls]
    content = [{"type": "text", "text": text}, *uses]
    return json.dumps({"role": role, "message": {"content": content}}) + "\n"


def ask(minute: int) -> str:
    time = f"<timestamp>Sunday, Nov 1, 2026, 12:{minute:02} AM (UTC+0)</timestamp>"
    return turn("user", f"{time}\n<user_query>\nGo on.\n</user_query>")


def test_cursor_words_are_recalled_with_the_time_of_their_turn(file: Path) -> None:
    file.write_text(
        ask(0) + turn("assistant", "I begin.", {"command": "make"})
        + ask(10) + turn("assistant", "[REDACTED]\nGoing on.") + turn("assistant", "At rest.")
        + ask(20) + turn("assistant", "Something else.")
    )  # fmt: skip
    found = recalled(file, source="cursor:transcript")
    assert words(found) == ["I begin.", "Going on.", "At rest.", "Something else."]
    assert [each.at for each in found.said] == [second(0), *[second(600)] * 2, second(1200)]
    assert found.failed == [], "it does not write down what failed"
    # A claim that is taken within a turn has the words of that turn.
    found = recalled(file, source="cursor:transcript", since=second(660), until=second(900))
    assert words(found) == ["Going on.", "At rest."]


def test_what_is_no_transcript_recalls_nothing(file: Path, talk: trails.Transcript) -> None:
    file.write_text(talk.said("I begin."))
    for source in ("specstory:history", "coditect:log", "git:commit", ""):
        assert recalled(file, source=source) == ([], [])


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
    for source in ("codex:rollout", "gemini:session", "cursor:transcript"):
        recalled(file, source=source)


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
