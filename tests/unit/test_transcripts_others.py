"""Transcripts of Gemini CLI and Cursor, and the histories of SpecStory.

The records are written for these tests, in the shapes that public write-ups of real files show.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.evidence import model
from tether.evidence.transcripts import adapter, cursor, gemini, specstory
from tether.tasks.sources import patterns

FINDER = patterns.Finder(patterns.Kinds(("track",)))
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
SESSION = "d98cf9e7-0000-4000-8000-000000000001"
CHATS = "/home/me/.gemini/tmp/repo/chats"
GEMINI = f"{CHATS}/session-2026-05-22T14-59-d98cf9e7.jsonl"
CURSOR = f"/home/me/.cursor/projects/repo/agent-transcripts/{SESSION}/{SESSION}.jsonl"
Record = dict[str, Any]


def jsonl(*found: object) -> bytes:
    return b"".join(json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in found)


def lines(data: bytes) -> list[adapter.Line]:
    found, start = [], 0
    for raw in data.split(b"\n")[:-1]:
        found.append(adapter.Line(start, raw))
        start += len(raw) + 1
    return found


def mattering(chosen: adapter.Adapter, data: bytes) -> list[adapter.Line]:
    """Those lines that a reader gives to its adapter."""
    needles = re.compile(
        b"|".join(re.escape(n) if isinstance(n, bytes) else n.pattern for n in chosen.needles)
    )
    return [each for each in lines(data) if FINDER.may_hold(each.raw) or needles.search(each.raw)]


def read(
    chosen: adapter.Adapter, path: str, *found: object, state: Record | None = None
) -> adapter.Read:
    data = jsonl(*found)
    file = adapter.File(path, chosen.head(path, data).session)
    return chosen.read(file, mattering(chosen, data), FINDER, {} if state is None else state)


def told(found: list[model.Activity]) -> list[tuple[str, str, str]]:
    return [(each.task, each.kind, each.what) for each in found]


# Gemini


def header(**more: object) -> Record:
    start = "2026-05-22T14:59:00.000Z"
    return {"sessionId": SESSION, "projectHash": "h", "startTime": start, "kind": "main", **more}


def message(number: int, kind: str, content: object, *calls: Record, **more: object) -> Record:
    found = {"id": f"m-{number}", "type": kind, "timestamp": f"2026-05-22T15:{number:02}:00.000Z"}
    return {**found, "content": content, **({"toolCalls": list(calls)} if calls else {}), **more}


def call(name: str, status: str = "success", number: int = 1, **args: object) -> Record:
    at = "2026-05-22T15:30:00.000Z"
    return {"id": f"{name}-{number}", "name": name, "args": args, "status": status, "timestamp": at}


def from_gemini(*found: object) -> list[model.Activity]:
    return read(gemini.ADAPTER, GEMINI, header(), *found).activities


def test_gemini_what_was_said_and_asked_mentions_tasks() -> None:
    found = from_gemini(
        message(1, "user", [{"text": "do\nH.1.1"}]),
        message(2, "gemini", "H.1.2 comes first"),
        message(3, "info", "H.1.3 was cancelled"),
    )
    assert told(found) == [
        ("H.1.1", model.MENTIONED, "asked"),
        ("H.1.2", model.MENTIONED, "said"),
    ]
    assert found[0].at == "2026-05-22T15:01:00.000Z"
    assert found[0].session == SESSION
    begin, end = map(int, found[0].pointer.removeprefix(f"file:{GEMINI}#bytes=").split("-"))
    data = jsonl(header(), message(1, "user", [{"text": "do\nH.1.1"}]))
    assert json.loads(data[begin:end])["id"] == "m-1"


def test_gemini_a_tool_that_ran_for_a_task_is_work() -> None:
    shell = call("run_shell_command", command="cat H.1.2", description="H.1.1: run the tests")
    found = from_gemini(message(1, "gemini", "", shell))
    assert told(found) == [("H.1.1", model.WORKED, "ran"), ("H.1.2", model.MENTIONED, "ran")]
    assert found[0].at == "2026-05-22T15:30:00.000Z"


def test_gemini_an_edit_is_work_on_what_its_session_holds() -> None:
    found = from_gemini(message(1, "gemini", "", call("replace", file_path="/repo/a.py")))
    assert told(found) == [("", model.WORKED, "edited")]
    assert found[0].files == ("/repo/a.py",)


def test_gemini_a_commit_and_a_failure_are_work() -> None:
    commit = call("run_shell_command", command="git commit -m x")
    failure = call("run_shell_command", "error", 2, command="false")
    found = from_gemini(message(1, "gemini", "", commit, failure))
    assert [each.what for each in found] == ["committed", "failed"]


@pytest.mark.parametrize("status", ["cancelled", "executing", "awaiting_approval", None, []])
def test_gemini_what_did_not_run_is_no_work(status: object) -> None:
    shell = call("run_shell_command", description="H.1.1: run")
    assert from_gemini(message(1, "gemini", "", {**shell, "status": status})) == []


def test_gemini_a_message_that_is_written_anew_counts_once() -> None:
    shell = call("run_shell_command", description="H.1.1: run")
    first = message(1, "gemini", "on H.1.2", {**shell, "status": "executing"})
    second = message(1, "gemini", "on H.1.2", shell)
    patch = {"$set": {"messages": [second, message(2, "user", "H.1.3")]}}
    found = from_gemini(first, second, patch)
    assert sorted(told(found)) == [
        ("H.1.1", model.WORKED, "ran"),
        ("H.1.2", model.MENTIONED, "said"),
        ("H.1.3", model.MENTIONED, "asked"),
    ]


def test_gemini_what_was_rewound_has_happened() -> None:
    shell = call("run_shell_command", description="H.1.1: run")
    found = from_gemini(message(1, "gemini", "", shell), {"$rewindTo": "m-1"})
    assert told(found) == [("H.1.1", model.WORKED, "ran")]


def test_gemini_what_the_program_puts_in_front_is_listed() -> None:
    context = "<session_context>\n- **Workspace Directories:**\n  - /repo\nTRACK H.1.1\n"
    assert told(from_gemini(message(1, "user", context))) == [("H.1.1", model.LISTED, "asked")]


IN_FRONT = "<session_context>\nThis is the Gemini CLI.\n"


@pytest.mark.parametrize(
    "told_cwd",
    [
        message(0, "user", f"{IN_FRONT}I'm currently working in the directory: /repo\nmore"),
        message(0, "user", [{"text": f"{IN_FRONT}- **Workspace Directories:**\n  - /repo\n"}]),
        {"$set": {"messages": [message(0, "user", f"{IN_FRONT}working in the directory: /repo")]}},
        {"$set": {"directories": ["/repo", "/more"]}},
    ],
)
def test_gemini_the_head_tells_of_the_session(told_cwd: Record) -> None:
    data = jsonl(header(), told_cwd, {"$set": {"summary": "Login"}})
    found = gemini.head(GEMINI, data)
    assert (found.session, found.cwd, found.title) == (SESSION, "/repo", "Login")
    assert found.started_at == "2026-05-22T14:59:00.000Z"
    assert (found.parent, found.source) == ("", "gemini:session")


def test_gemini_without_a_head_the_name_has_to_do() -> None:
    assert gemini.head(GEMINI, b'{"sess').session == "d98cf9e7"
    child = gemini.head(f"{CHATS}/{SESSION}/0la501.jsonl", b"")
    assert (child.session, child.parent) == ("0la501", SESSION)


@pytest.mark.parametrize(
    ("found", "ending"),
    [
        ([message(1, "user", "x")], "mid_turn"),
        ([message(1, "user", "x"), message(2, "gemini", "done")], "at_rest"),
        ([message(1, "gemini", "", call("replace"))], "mid_turn"),
        ([message(1, "user", "x"), message(2, "error", "overloaded")], "at_rest"),
        ([message(1, "gemini", "done"), message(2, "user", "x"), {"$rewindTo": "m-2"}], "at_rest"),
        ([message(1, "gemini", "done"), message(2, "info", "bye")], "at_rest"),
        ([{"$set": {"messages": [message(1, "user", "x")]}}], "mid_turn"),
        ([header()], ""),
    ],
)
def test_gemini_the_tail_tells_how_it_ends(found: list[Record], ending: str) -> None:
    assert gemini.tail(jsonl(*found)).ending == ending


def test_gemini_the_tail_has_the_last_words() -> None:
    found = gemini.tail(jsonl(message(1, "gemini", f"all {SECRET} done"), message(2, "user", "x")))
    assert found.last_said.startswith("all [redacted:")
    assert found.last_at == "2026-05-22T15:02:00.000Z"


def test_gemini_an_older_conversation_is_read_whole() -> None:
    shell = call("run_shell_command", description="H.1.1: run")
    messages = [message(1, "user", "do H.1.2"), message(2, "gemini", "", shell)]
    path = GEMINI.removesuffix("l")
    text = json.dumps({**header(), "messages": messages}, indent=2)
    found = gemini.read_whole(path, text, FINDER)
    assert told(found.activities) == [
        ("H.1.2", model.MENTIONED, "asked"),
        ("H.1.1", model.WORKED, "ran"),
    ]
    assert found.activities[0].pointer == f"file:{path}#message=0"
    (session,) = found.sessions
    assert (session.session, session.ending) == (SESSION, "mid_turn")
    # Once it has become lines, nothing counts twice.
    names = {each.record for each in from_gemini(*messages)}
    assert {each.record for each in found.activities} == names


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "null", '{"messages": 7}', '{"messages": [[], 1]}']
)
def test_gemini_a_conversation_that_is_none_says_nothing(text: str) -> None:
    assert gemini.read_whole("/x.json", text, FINDER).activities == []


# Cursor


def turn(role: str, *content: object) -> Record:
    return {"role": role, "message": {"content": list(content)}}


def words(text: str) -> Record:
    return {"type": "text", "text": text}


def use(name: str, **given: object) -> Record:
    return {"type": "tool_use", "name": name, "input": given}


def asked(text: str, time: str = "Tuesday, Jul 21, 2026, 1:11 PM (UTC+3)") -> Record:
    stamp = f"<timestamp>{time}</timestamp>\n" if time else ""
    return turn("user", words(f"{stamp}<user_query>\n{text}\n</user_query>"))


def from_cursor(*found: object) -> list[model.Activity]:
    return read(cursor.ADAPTER, CURSOR, *found).activities


def test_cursor_what_follows_a_question_has_its_time() -> None:
    found = from_cursor(
        asked("do H.1.1"),
        turn("assistant", words("H.1.2 first"), use("Shell", command="x", description="H.1.1: x")),
        asked("thanks", "Wednesday, Jul 22, 2026, 12:05 AM (UTC-7)"),
        turn("assistant", words("H.1.3 is next")),
    )
    assert told(found) == [
        ("H.1.1", model.MENTIONED, "asked"),
        ("H.1.2", model.MENTIONED, "said"),
        ("H.1.1", model.WORKED, "ran"),
        ("H.1.3", model.MENTIONED, "said"),
    ]
    assert [each.at for each in found] == ["2026-07-21T10:11:00.000Z"] * 3 + [
        "2026-07-22T07:05:00.000Z"
    ]
    assert found[0].session == SESSION
    assert "timestamp" not in found[0].text


def test_cursor_without_any_time_it_stays_empty() -> None:
    found = from_cursor(asked("do H.1.1", ""), turn("assistant", use("Write", path="/repo/a.py")))
    assert [(each.at, each.what) for each in found] == [("", "asked"), ("", "edited")]
    assert found[1].files == ("/repo/a.py",)


def test_cursor_a_record_that_has_a_time_keeps_it() -> None:
    found = from_cursor({**turn("user", words("H.1.1")), "timestamp": "2026-07-01T00:00:00Z"})
    assert found[0].at == "2026-07-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("time", "at"),
    [
        ("Tuesday, Jul 21, 2026, 1:11 PM (UTC+5:30)", "2026-07-21T07:41:00.000Z"),
        ("Tuesday, July 21, 2026, 1:11 PM (UTC)", "2026-07-21T13:11:00.000Z"),
        ("Jul 21, 2026, 13:11", "2026-07-21T13:11:00.000Z"),
        ("Jul 21, 2026, 1:11\u202fPM (UTC+0)", "2026-07-21T13:11:00.000Z"),
        ("Xyz 21, 2026, 13:11", ""),
        ("Jul 41, 2026, 13:11", ""),
        ("yesterday", ""),
    ],
)
def test_cursor_times_as_people_read_them(time: str, at: str) -> None:
    assert from_cursor(asked("H.1.1", time))[0].at == at


def test_cursor_the_name_tells_of_the_session() -> None:
    found = cursor.head(CURSOR, jsonl(asked("x")))
    assert (found.session, found.parent) == (SESSION, "")
    assert found.started_at == "2026-07-21T10:11:00.000Z"
    folder = CURSOR.rpartition("/")[0]
    child = cursor.head(f"{folder}/subagents/abcd-1.jsonl", b"")
    assert (child.session, child.parent) == ("abcd-1", SESSION)


@pytest.mark.parametrize(
    ("found", "ending"),
    [
        ([asked("x")], "mid_turn"),
        ([asked("x"), turn("assistant", words("done"))], "at_rest"),
        ([turn("assistant", words("now"), use("Shell", command="x"))], "mid_turn"),
        ([turn("assistant", use("Shell")), {"type": "turn_ended", "status": "error"}], "at_rest"),
        ([{"type": "unknown"}], ""),
    ],
)
def test_cursor_the_tail_tells_how_it_ends(found: list[Record], ending: str) -> None:
    assert cursor.tail(jsonl(*found)).ending == ending


def test_cursor_the_tail_has_the_last_words() -> None:
    found = cursor.tail(
        jsonl(
            asked("x"), turn("assistant", words("all done")), turn("assistant", words("[REDACTED]"))
        )
    )
    assert found.last_said == "all done"
    assert found.last_at == "2026-07-21T10:11:00.000Z"


# Both

ADAPTERS = [(gemini.ADAPTER, GEMINI), (cursor.ADAPTER, CURSOR)]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(
        ["H.1.1", "H.1.1: x", SECRET, "success", "2026-01-01T00:00:00Z", "\ud800", ""]
    )
    | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *(
                        "id",
                        "type",
                        "role",
                        "content",
                        "message",
                        "toolCalls",
                        "args",
                        "status",
                        "$set",
                    ),
                    *("messages", "$rewindTo", "text", "input", "name", "description", "file_path"),
                    *("timestamp", "sessionId", "startTime", "directories", "command", "path"),
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
SHAPES = st.one_of(
    VALUES,
    st.builds(lambda c, k: message(1, "gemini", c, k), VALUES, VALUES),
    st.builds(lambda c: turn("assistant", c, {"type": "tool_use", "input": c}), VALUES),
)


@pytest.mark.parametrize(("chosen", "path"), ADAPTERS)
@given(found=st.lists(SHAPES, max_size=5))
def test_no_record_can_fail_the_reading(
    chosen: adapter.Adapter, path: str, found: list[Any]
) -> None:
    data = jsonl(*found)
    chosen.head(path, data)
    chosen.tail(data)
    result = chosen.read(adapter.File(path, "s"), lines(data), FINDER, {})
    for each in result.activities:
        assert each.kind in model.KINDS
        assert each.text == "" or SECRET not in each.text
        assert SECRET not in "".join(each.files)


@pytest.mark.parametrize(("chosen", "path"), ADAPTERS)
@given(raw=st.binary(max_size=60) | st.sampled_from([b"{" * 5000, b"[" * 100_000, b"nul", b'"x"']))
def test_a_line_that_is_no_record_is_told(chosen: adapter.Adapter, path: str, raw: bytes) -> None:
    raw = raw.replace(b"\n", b"") + b" H.1.1"
    result = chosen.read(adapter.File(path, "s"), [adapter.Line(7, raw)], FINDER, {})
    assert result.activities == []
    assert [each.where for each in result.problems] == ["byte 7"]
    chosen.head(path, raw + b"\n" + raw)
    chosen.tail(raw + b"\n")


STORY: dict[str, list[Record]] = {
    GEMINI: [
        header(),
        message(1, "user", "do H.1.1"),
        message(2, "gemini", "ok H.1.2", call("replace", file_path="/a", instruction="H.1.3")),
        message(2, "gemini", "ok H.1.2", call("replace", file_path="/a"), call("x", number=2)),
        {"$set": {"messages": [message(1, "user", "do H.1.1"), message(3, "user", "H.1.4")]}},
        message(4, "gemini", "", call("run_shell_command", description="H.1.1: x")),
    ],
    CURSOR: [
        asked("do H.1.1"),
        turn("assistant", words("H.1.2"), use("Write", path="/a"), use("StrReplace", path="/b")),
        {"type": "turn_ended"},
        asked("next", "Wednesday, Jul 22, 2026, 12:05 AM (UTC-7)"),
        turn("assistant", use("Shell", description="H.1.1: x", command="git commit")),
    ],
}


@pytest.mark.parametrize(("chosen", "path"), ADAPTERS)
def test_reading_piecemeal_is_reading_at_once(chosen: adapter.Adapter, path: str) -> None:
    data = jsonl(*STORY[path])
    file = adapter.File(path, SESSION)
    found = mattering(chosen, data)
    whole_state: Record = {}
    whole = chosen.read(file, found, FINDER, whole_state)
    assert len(whole.activities) > 4
    for cut in range(len(found) + 1):
        state: Record = {}
        first = chosen.read(file, found[:cut], FINDER, state)
        state = json.loads(json.dumps(state))
        second = chosen.read(file, found[cut:], FINDER, state)
        assert [*first.activities, *second.activities] == whole.activities
        assert state == whole_state
    # The lines that do not arrive would have said nothing.
    assert chosen.read(file, lines(data), FINDER, {}).activities == whole.activities


@pytest.mark.parametrize(("chosen", "path"), ADAPTERS)
def test_the_same_transcript_in_two_places_counts_once(chosen: adapter.Adapter, path: str) -> None:
    data = jsonl(*STORY[path])
    names = [
        [each.record for each in chosen.read(file, lines(data), FINDER, {}).activities]
        for file in (adapter.File(path, SESSION), adapter.File(f"/moved{path}", SESSION))
    ]
    assert names[0] == names[1]


# SpecStory

HISTORY = "/repo/.specstory/history/2026-02-20_22-41-47Z-fix-the-login.md"
STORIES = f"""<!-- Generated by SpecStory, Markdown v2.1.0 -->

# 2026-02-20 22:41:47Z

<!-- Claude Code Session {SESSION} (2026-02-20 22:41:47Z) -->

_**User (2026-02-20 22:41:47Z)**_

please do H.1.1

---

_**Agent (claude-opus-4-6 2026-02-20 22:41:50Z)**_

H.1.2 comes first.

_**Agent (claude-opus-4-6 2026-02-20 22:42:00Z)**_

<tool-use data-tool-type="shell" data-tool-name="Bash"><details>
<summary>Tool use: **Bash**</summary>
H.1.1: Run the suite

`pytest`

```text
_**User (2020-01-01 00:00:00Z)**_
H.7.7 failed
```
</details></tool-use>

_**Agent - sidechain (claude-haiku-4-5 2026-02-20 22:43:00Z)**_

<tool-use data-tool-type="write" data-tool-name="Edit"><details>
<summary>Tool use: **Edit**</summary>
 `./src/login.py`

```diff
+ # H.8.8
```
</details></tool-use>

All is done.
"""


def from_specstory(text: str, path: str = HISTORY) -> model.Logged:
    return specstory.read(path, text, FINDER)


def test_specstory_blocks_are_what_was_said_and_done() -> None:
    found = from_specstory(STORIES).activities
    assert told(found) == [
        ("H.1.1", model.MENTIONED, "asked"),
        ("H.1.2", model.MENTIONED, "said"),
        ("H.1.1", model.WORKED, "ran"),
        ("H.7.7", model.LISTED, "output"),
        ("", model.WORKED, "edited"),
        ("H.8.8", model.LISTED, "output"),
    ]
    assert [each.at[11:19] for each in found] == [
        *("22:41:47", "22:41:50", "22:42:00", "22:42:00", "22:43:00", "22:43:00")
    ]
    assert {each.session for each in found} == {SESSION}
    assert found[4].files == ("src/login.py",)
    line = int(found[2].pointer.removeprefix(f"file:{HISTORY}#line="))
    assert STORIES.split("\n")[line - 1].startswith("<tool-use")


def test_specstory_the_session_is_told_as_a_whole() -> None:
    (session,) = from_specstory(STORIES).sessions
    assert session.session == SESSION
    assert session.started_at == "2026-02-20T22:41:47.000Z"
    assert session.last_at == "2026-02-20T22:43:00.000Z"
    assert (session.ending, session.last_said) == ("at_rest", "All is done.")
    assert session.title == "fix-the-login"


def test_specstory_a_question_without_an_answer_is_an_open_turn() -> None:
    (session,) = from_specstory(f"{STORIES}\n---\n\n_**User**_\n\nand now?\n").sessions
    assert session.ending == "mid_turn"


@pytest.mark.parametrize(
    "noise",
    [
        "<local-command-stdout>Goodbye!</local-command-stdout>",
        "<command-name>/exit</command-name>",
        "[Request interrupted by user for tool use]",
    ],
)
def test_specstory_what_the_program_says_for_the_user_asks_nothing(noise: str) -> None:
    (session,) = from_specstory(f"{STORIES}\n---\n\n_**User**_\n\n{noise}\n").sessions
    assert session.ending == "at_rest"


@pytest.mark.parametrize(
    ("body", "file"),
    [
        ("</summary>\n `./src/a.py`\n", "src/a.py"),
        ("</summary>\nEdit file: `./src/a.py`\n", "src/a.py"),
        (" • Edit file: src/a.py</summary>\n", "src/a.py"),
        ("</summary>\n\n```text\nThe file /r/a.py has been updated successfully.\n```", "/r/a.py"),
        ("</summary>\n\n```text\nFile created successfully at: /r/a.py\n```", "/r/a.py"),
        ("</summary>\n\n```text\nFile has been unexpectedly modified.\n```", ""),
    ],
)
def test_specstory_an_edit_names_its_file(body: str, file: str) -> None:
    text = (
        f"<!-- Claude Code Session {SESSION} (2026-02-20 22:41:47Z) -->\n\n_**Agent**_\n\n"
        '<tool-use data-tool-type="write" data-tool-name="Edit"><details>\n'
        f"<summary>Tool use: **Edit**{body}\n</details></tool-use>\n"
    )
    assert [each.files for each in from_specstory(text).activities] == ([(file,)] if file else [])


def test_specstory_without_times_that_of_the_session_has_to_do() -> None:
    text = (
        f"# Login (2025-06-30 12:46:48Z)\n\n<!-- cursor Session {SESSION} (2025-06-30 12:46Z) -->\n"
        "\n_**User**_\n\nH.1.1\n\n_**Assistant**_\n\nH.1.2\n\n_**Agent (model x)**_\n\nH.1.3\n"
    )
    found = from_specstory(text)
    assert {each.at for each in found.activities} == {"2025-06-30T12:46:00.000Z"}
    assert [each.what for each in found.activities] == ["asked", "said", "said"]


def test_specstory_a_tool_call_without_an_end_is_none() -> None:
    text = STORIES.replace("</details></tool-use>", "")
    found = from_specstory(text).activities
    assert model.WORKED not in {each.kind for each in found}


def test_specstory_growing_and_moving_keep_names() -> None:
    whole = {each.record for each in from_specstory(STORIES).activities}
    for end in re.finditer(r"\n\n_\*\*", STORIES):
        part = {each.record for each in from_specstory(STORIES[: end.start()]).activities}
        assert part <= whole
    moved = from_specstory(f"\n{STORIES}", "/clone/.specstory/history/other.md").activities
    assert {each.record for each in moved} == whole


def test_specstory_secrets_are_not_kept() -> None:
    text = STORIES.replace("login", SECRET).replace("please", f"please {SECRET}")
    assert SECRET not in repr(from_specstory(text))


STORY_PIECES = st.sampled_from(
    [
        *("\n", "_**User**_", "_**Agent (m 2026-02-20 22:41:50Z)**_", "_**User (", ")**_", "H.1.1"),
        *("<tool-use data-tool-type='x'>", "</tool-use>", "</summary>", "<!-- X Session abcdefgh"),
        *(
            " (2026-01-01) -->",
            " -->",
            "`a`",
            "```",
            "# t",
            "---",
            "\r",
            "\0",
            "\ud800",
            f" {SECRET} ",
        ),
    ]
)


@given(st.lists(STORY_PIECES | st.text(max_size=4), max_size=50).map("".join))
def test_specstory_no_text_can_fail_the_reading(text: str) -> None:
    found = from_specstory(text)
    assert all(SECRET not in each.text for each in found.activities)
    count = text.count("\n") + 1
    assert all(0 < int(each.pointer.rpartition("=")[2]) <= count for each in found.activities)


@pytest.mark.parametrize(
    "parse",
    [lambda text: specstory.read("/x", text, FINDER), lambda text: list(specstory.blocks(text))],
)
def test_specstory_long_files_take_time_in_proportion(parse: Callable[[str], object]) -> None:
    """Not measured: a square of this would not end."""
    parse("<tool-use>\n" * 50_000 + "</tool-use>\n" * 50_000)
    parse("_**User**_\n" * 100_000)
