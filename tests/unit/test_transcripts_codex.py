from __future__ import annotations

import json
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from tests import transcripts
from tests.transcripts import Record, in_two_readings, jsonl, rows
from tether import ids
from tether.evidence import mentions
from tether.evidence.transcripts import adapter, codex

SESSION = "01a1de0e-77d5-7192-9538-77395d4118cf"
AT = "2026-11-15T06:35:17.470Z"
ADAPTER = codex.ADAPTER
PATCH = """*** Begin Patch
*** Update File: src/a.py
*** Move to: src/b.py
@@
-x
+# H.1.2
*** Add File: docs/new file.md
+y
*** Delete File: old.py
*** End Patch"""


def line(kind: str, payload: object, number: int = 1, **more: object) -> Record:
    """In the shape of the real ones."""
    return {"timestamp": AT, "ordinal": number, "type": kind, "payload": payload, **more}


def item(kind: str, number: int = 1, /, **fields: object) -> Record:
    return line("response_item", {"type": kind, **fields}, number)


def event(kind: str, number: int = 1, /, **fields: object) -> Record:
    return line("event_msg", {"type": kind, **fields}, number)


def completed(kind: str, number: int = 1, /, **fields: object) -> Record:
    return event("item_completed", number, thread_id=SESSION, item={"type": kind, **fields})


def message(role: str, text: str, number: int = 1, **more: object) -> Record:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text}]
    return item("message", number, id=f"msg_{number:08}", role=role, content=content, **more)


def call(name: str, number: int = 1, /, **given: object) -> Record:
    arguments = json.dumps(given)
    return item("function_call", number, name=name, arguments=arguments, call_id=call_id(number))


def call_id(number: int) -> str:
    return f"call_{number:08x}"


def executed(number: int = 1, **fields: object) -> Record:
    return completed(
        *("CommandExecution", number),
        **{"id": call_id(number), "command": ["bash", "-lc", "x"], "status": "completed"} | fields,
    )


def changed(number: int = 1, **fields: object) -> Record:
    changes = {"/p/src/a.py": {"type": "update", "unified_diff": "H.1.2", "move_path": None}}
    return completed(
        "FileChange",
        number,
        **{"id": call_id(number), "changes": changes, "status": "completed"} | fields,
    )


def meta(**fields: object) -> Record:
    given = {"id": SESSION, "timestamp": AT, "cwd": "/home/dev/proj", "git": {"branch": "master"}}
    return line("session_meta", given | fields, 0)


def counted(reached: object, primary: object = None, secondary: object = None) -> Record:
    limits = {"primary": primary, "secondary": secondary, "rate_limit_reached_type": reached}
    return event("token_count", 40, info=None, rate_limits=limits)


def window(percent: object, resets_at: object) -> Record:
    return {"used_percent": percent, "window_minutes": 300, "resets_at": resets_at}


def read(*records: object, state: dict[str, Any] | None = None) -> adapter.Read:
    return transcripts.read(ADAPTER, jsonl(*records), state)


# Real records


def test_a_real_simple_session() -> None:
    data = transcripts.corpus("codex_simple.jsonl")
    assert transcripts.read(ADAPTER, data) == ([], [], [])
    head = ADAPTER.head("/p/x.jsonl", data)
    assert head.session == "01a1de0e-77d5-7192-9538-77395d4118cf"
    assert (head.cwd, head.branch, head.parent) == ("/home/dev/proj", "master", "")
    assert head.started_at == "2026-11-15T07:14:12.601Z"
    tail = ADAPTER.tail(data)
    assert (tail.ending, tail.last_said) == ("at_rest", "Done pong")
    assert tail.last_at == "2026-11-15T07:14:13.948Z"


def test_a_real_session_that_was_compacted_three_times() -> None:
    data = transcripts.corpus("codex_compacted.jsonl")
    result = transcripts.read(ADAPTER, data)
    # The prompt stands there twice, as an item and as an event.
    (asked,) = result.activities
    assert (asked.at, *asked[4:7]) == (
        *("2026-11-15T06:35:17.470Z", "mentioned", "asked", "PROBE-RUN"),
    )
    assert asked.record == "msg_01a1ddea-d65e-71a0-8f85-f7e392a25b41"
    assert asked.text == "PROBE-RUN please"
    assert result.marks == [
        ("compacted", "2026-11-15T06:35:17.976Z", ""),
        ("compacted", "2026-11-15T06:35:18.503Z", ""),
        ("compacted", "2026-11-15T06:35:18.983Z", ""),
    ]
    assert result.problems == []
    head = ADAPTER.head("/p/x.jsonl", data)
    assert head.session == "01a1ddea-d585-7ea1-857c-79cea205ac3f"
    assert (head.cwd, head.branch) == ("/home/dev/proj", "master")
    assert head.started_at == "2026-11-15T06:35:17.270Z"
    tail = ADAPTER.tail(data)
    # It ends in the middle of a fourth compaction; all that it said were summaries.
    assert (tail.ending, tail.last_said) == ("mid_turn", "")
    assert tail.last_at == "2026-11-15T06:35:19.566Z"


@pytest.mark.parametrize(
    ("after", "ending"),
    [
        (1, ""),
        (2, "mid_turn"),
        (7, "mid_turn"),
        (10, "mid_turn"),
        (12, "mid_turn"),
        (13, "at_rest"),
    ],
)
def test_a_real_session_as_it_stood_after_each_line(after: int, ending: str) -> None:
    data = transcripts.corpus("codex_simple.jsonl")
    tail = ADAPTER.tail(b"".join(each + b"\n" for each in data.split(b"\n")[:after]))
    assert tail.ending == ending


def test_a_real_command_that_fails() -> None:
    data = transcripts.corpus("codex_compacted.jsonl")
    assert data.count(b'"status": "completed", "aggregated_output"') == 4
    data = data.replace(
        b'"status": "completed", "aggregated_output"', b'"status": "failed", "aggregated_output"'
    )
    result = transcripts.read(ADAPTER, data)
    failed = [each for each in result.activities if each.what == "failed"]
    assert [(each.at, each.record, each.kind, each.task) for each in failed] == [
        ("2026-11-15T06:35:17.858Z", "call_f446513d", "worked", ""),
        ("2026-11-15T06:35:18.348Z", "call_370d6fcc", "worked", ""),
        ("2026-11-15T06:35:18.833Z", "call_f5638e79", "worked", ""),
        ("2026-11-15T06:35:19.374Z", "call_aa6af68e", "worked", ""),
    ]


# Where ids stand


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (message("user", "Do H.1.2"), ("mentioned", "asked", "H.1.2")),
        (item("message", role="user", content="Do H.1.2"), ("mentioned", "asked", "H.1.2")),
        (message("assistant", "H.1.2 is done"), ("mentioned", "said", "H.1.2")),
        (
            item("reasoning", summary=[{"type": "summary_text", "text": "H.1.2?"}], content=None),
            ("mentioned", "thought", "H.1.2"),
        ),
        (call("exec_command", cmd="grep H.1.2 a"), ("mentioned", "ran", "H.1.2")),
        (call("shell", command=["bash", "-lc", "grep H.1.2"]), ("mentioned", "ran", "H.1.2")),
        (call("exec_command", cmd="# H.1.2: look\nls"), ("worked", "ran", "H.1.2")),
        (call("shell", command=["bash", "-lc", "# H.1.2: a\nls"]), ("worked", "ran", "H.1.2")),
        (call("exec_command", cmd="ls", justification="H.1.2: see"), ("worked", "ran", "H.1.2")),
        (call("x", description="H.1.2: see"), ("worked", "ran", "H.1.2")),
        (call("exec_command", cmd="ls # H.1.2: look"), ("mentioned", "ran", "H.1.2")),
        (
            item("local_shell_call", action={"type": "exec", "command": ["grep", "H.1.2"]}),
            ("mentioned", "ran", "H.1.2"),
        ),
        (item("custom_tool_call", name="x", input="do H.1.2"), ("mentioned", "ran", "H.1.2")),
        (
            item("function_call", name="x", arguments="{not JSON H.1.2"),
            ("mentioned", "ran", "H.1.2"),
        ),
        (item("function_call", name="x", arguments={"a": "H.1.2"}), ("mentioned", "ran", "H.1.2")),
        (
            call("update_plan", plan=[{"step": "H.1.2 login", "status": "in_progress"}]),
            ("stated", "status in_progress", "H.1.2"),
        ),
        (item("function_call_output", output="H.1.2"), ("listed", "output", "H.1.2")),
        (
            item("function_call_output", output=[{"type": "input_text", "text": "H.1.2"}]),
            ("listed", "output", "H.1.2"),
        ),
        (
            item("custom_tool_call_output", output={"content": "H.1.2", "success": True}),
            ("listed", "output", "H.1.2"),
        ),
        # What older versions have, alone.
        (event("user_message", message="H.1.2"), ("mentioned", "asked", "H.1.2")),
        (event("agent_message", message="H.1.2"), ("mentioned", "said", "H.1.2")),
        (event("agent_reasoning", text="H.1.2"), ("mentioned", "thought", "H.1.2")),
        (
            completed("AgentMessage", id="m", content=[{"type": "Text", "text": "H.1.2"}]),
            ("mentioned", "said", "H.1.2"),
        ),
        (
            completed("Reasoning", id="m", summary_text=["H.1.2"]),
            ("mentioned", "thought", "H.1.2"),
        ),
    ],
)  # fmt: skip
def test_an_id_shows_what_its_place_says(record: Record, expected: tuple[str, str, str]) -> None:
    found = read(record)
    assert rows(found)[:1] == [expected]
    only = found.activities[0]
    assert (only.source, only.task_source, only.session) == (codex.SOURCE, "track", "s-1")
    assert only.at == AT
    assert only.pointer == f"file:/t/a.jsonl#bytes=0-{len(jsonl(record)) - 1}"
    assert only.text == "" if only.what == "output" else "H.1.2" in only.text
    marks = [row for row in rows(found) if row[2]]
    assert marks == [expected]


@pytest.mark.parametrize(
    "record",
    [
        message("user", "<environment_context>\n H.1.2"),
        message("user", "<user_instructions>H.1.2"),
        message("user", "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>H.1.2"),
        message("developer", "H.1.2"),
        message("system", "H.1.2"),
        message(
            *("user", "plain H.1.2"),
            internal_chat_message_metadata_passthrough={"content_item_kinds": ["hooks.context"]},
        ),
        message("assistant", "H.1.2") | {"metadata": {"compaction_output": True}},
        event("user_message", message="<environment_context>H.1.2", kind="environment_context"),
        completed("CommandExecution", status="completed", exit_code=0, aggregated_output="H.1.2"),
        event("exec_command_end", exit_code=0, aggregated_output="H.1.2"),
        completed("ContextCompaction", id="c"),
        event("turn_aborted", reason="interrupted H.1.2"),
        event("brand_new", message="H.1.2"),
        item("brand_new", content=[{"text": "H.1.2"}]),
        line("world_state", {"x": "H.1.2 git commit"}),
        line("turn_context", {"summary": "H.1.2", "cwd": "/p"}),
        line("brand_new", {"content": "H.1.2"}),
        meta(base_instructions={"text": "H.1.2 apply_patch"}),
        {"type": "response_item"},
        {},
        item("function_call_output", output=" ".join(f"H.1.{n}" for n in range(1, 60))),
        counted(None, window(100, 1794730453)),
    ],
)
def test_what_shows_nothing(record: Record) -> None:
    assert mentions.MAX_LISTED < 59
    assert read(record) == ([], [], [])


def test_a_compaction_is_one_however_often_it_is_told_of() -> None:
    history = [{"type": "message", "role": "user", "content": [{"text": "H.1.3"}]}]
    found = read(
        line("compacted", {"message": "So far H.1.2", "replacement_history": history}, 5),
        completed("ContextCompaction", 6, id="c"),
        event("context_compacted", 7),
    )
    assert found.marks == [("compacted", AT, "")]
    assert rows(found) == [("listed", "summary", "H.1.2")]


def test_a_message_counts_once_in_whatever_order_it_is_told() -> None:
    asked, said = message("user", "Do H.1.2", 1), message("assistant", "Did H.1.2", 4)
    asked_too = event("user_message", 2, message="Do H.1.2")
    said_too = event("agent_message", 3, message="Did H.1.2")
    found = read(asked, asked_too, said_too, said)
    assert rows(found) == [("mentioned", "asked", "H.1.2"), ("mentioned", "said", "H.1.2")]
    # Who asks twice has asked twice.
    again = read(
        asked,
        asked_too,
        message("user", "Do H.1.2", 5),
        event("user_message", 6, message="Do H.1.2"),
    )
    assert [each.record for each in again.activities] == ["msg_00000001", "msg_00000005"]


# Patches


@pytest.mark.parametrize(
    "record",
    [
        item("custom_tool_call", name="apply_patch", input=PATCH, call_id=call_id(1)),
        call("apply_patch", input=PATCH),
        call("shell", command=["apply_patch", PATCH]),
        call("shell", command=["bash", "-lc", f"cd x && apply_patch <<'EOF'\n{PATCH}\nEOF\n"]),
        call("exec_command", cmd=f"apply_patch <<'EOF'\n{PATCH}\nEOF"),
        item("local_shell_call", action={"command": ["apply_patch", PATCH]}, call_id=call_id(1)),
    ],
)
def test_a_patch_names_its_files_and_is_not_told_of_twice(record: Record) -> None:
    found = read(record, changed(1), event("patch_apply_end", 3, call_id=call_id(1), changes={}))
    edited, mentioned = found.activities
    assert edited[4:7] == ("worked", "edited", "")
    assert edited.files == ("src/a.py", "src/b.py", "docs/new file.md", "old.py")
    assert edited.text == "apply_patch"
    assert edited.record == call_id(1)
    assert mentioned[4:7] == ("mentioned", "ran", "H.1.2")


def test_changes_that_no_call_tells_of_count_when_they_are_made() -> None:
    old = {"b.py": {"add": {"content": "x"}}}
    found = read(
        changed(1),
        event("patch_apply_end", 2, call_id=call_id(2), changes=old, success=True),
        changed(3, status="declined"),
        changed(4, status="failed", stderr="no such file"),
        changed(5, changes={}),
    )
    assert [(each.what, each.files, each.text) for each in found.activities] == [
        ("edited", ("/p/src/a.py",), "apply_patch"),
        ("edited", ("b.py",), "apply_patch"),
        ("failed", (), "no such file"),
    ]


def test_a_patch_is_known_in_the_next_reading() -> None:
    state: dict[str, Any] = {}
    read(call("apply_patch", 9, input=PATCH), state=state)
    assert read(changed(9), state=json.loads(json.dumps(state))).activities == []


# Commands


def test_commits_and_failures() -> None:
    found = read(
        call("exec_command", 1, cmd="git add -A && git commit -m 'H.1.2: x'"),
        executed(1, exit_code=0),
        call("shell", 2, command=["git", "commit", "-m", "x"]),
        executed(2, exit_code=1, status="failed", aggregated_output="nothing to commit"),
        event("exec_command_end", 3, call_id=call_id(3), exit_code=2, stderr="bad"),
    )
    assert [(*each[4:7], each.text, each.record) for each in found.activities] == [
        (
            *("worked", "committed", "", "git add -A && git commit -m 'H.1.2: x'"),
            call_id(1),
        ),
        ("mentioned", "ran", "H.1.2", "git add -A && git commit -m 'H.1.2: x'", call_id(1)),
        ("worked", "committed", "", "git commit -m x", call_id(2)),
        ("worked", "failed", "", "Exit code 1 nothing to commit", call_id(2)),
        ("worked", "failed", "", "Exit code 2 bad", call_id(3)),
    ]


def test_only_steps_of_a_plan_that_moved_state_something() -> None:
    def plan(*pairs: tuple[str, str]) -> list[Record]:
        return [{"step": step, "status": status} for step, status in pairs]

    found = read(
        call("update_plan", 1, plan=plan(("H.1.2 a", "in_progress"), ("H.1.3 b", "pending"))),
        call("update_plan", 2, plan=plan(("H.1.2 a", "completed"), ("H.1.3 b", "pending"))),
    )
    assert rows(found) == [
        ("stated", "status in_progress", "H.1.2"),
        ("mentioned", "ran", "H.1.3"),
        ("stated", "status completed", "H.1.2"),
        ("mentioned", "ran", "H.1.3"),
    ]


# Limits

FIVE_HOURS, WEEK = 1794730453, 1795126853


@pytest.mark.parametrize(
    ("primary", "secondary", "resets_at"),
    [
        (window(100.0, FIVE_HOURS), window(12, WEEK), "2026-11-15T08:14:13.000Z"),
        (window(40, FIVE_HOURS), window(100, WEEK), "2026-11-19T22:20:53.000Z"),
        (window(100, FIVE_HOURS), window(100, WEEK), "2026-11-19T22:20:53.000Z"),
        (window(99, FIVE_HOURS), window(12, WEEK), "2026-11-15T08:14:13.000Z"),
        (None, window(12, "soon"), ""),
        (5, window(True, []), ""),
    ],
)
def test_a_limit_ends_with_its_window(primary: object, secondary: object, resets_at: str) -> None:
    for reached in ("rate_limit_reached", "workspace_member_usage_limit_reached"):
        found = read(counted(reached, primary, secondary))
        assert found.marks == [("limited", AT, resets_at)]


# Names


def test_what_a_record_is_called() -> None:
    found = read(
        message("user", "H.1.2", 1),
        item("message", 2, role="user", content="H.1.3"),
        item("function_call", 3, name="x", arguments="H.1.4", call_id="call_1", id="fc_1"),
        item("function_call", 4, name="x", arguments="H.1.5", call_id=call_id(4), id="fc_12345678"),
        item("message", role="user", content="H.1.6") | {"ordinal": None},
    )
    names = [each.record for each in found.activities]
    assert names[:4] == ["msg_00000001", "s-1#2", "s-1#3", call_id(4)]
    assert names[4] == found.activities[4].pointer


def test_lines_of_the_first_version_are_read() -> None:
    first = {"id": SESSION, "timestamp": AT, "instructions": "H.1.9"}
    found = read(first, {"type": "message", "role": "user", "content": [{"text": "H.1.2"}]})
    assert [(each.what, each.task, each.at) for each in found.activities] == [
        ("asked", "H.1.2", "")
    ]


# Sessions


def rollout(session: str) -> str:
    return f"/s/2026/11/15/rollout-2026-11-15T06-35-17-{session}.jsonl"


@pytest.mark.parametrize(
    ("path", "fields", "session", "parent"),
    [
        ("/s/x.jsonl", {}, SESSION, ""),
        (rollout(SESSION), {"id": None}, SESSION, ""),
        (rollout(SESSION), {"id": "no id"}, SESSION, ""),
        ("/s/x.jsonl", {"id": 5}, "", ""),
        (rollout("x"), {"parent_thread_id": "p-1"}, SESSION, "p-1"),
        (
            rollout("x"),
            {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p-2", "depth": 1}}}},
            SESSION,
            "p-2",
        ),
        (rollout("x"), {"source": "exec"}, SESSION, ""),
    ],
)
def test_who_wrote_a_file(path: str, fields: Record, session: str, parent: str) -> None:
    head = ADAPTER.head(path, jsonl(meta(**fields), meta(id="forked-from", cwd="/elsewhere")))
    assert (head.session, head.parent, head.pointer) == (session, parent, f"file:{path}")
    assert not session or ids.SessionId.is_valid(session)
    assert (head.cwd, head.branch, head.started_at) == ("/home/dev/proj", "master", AT)


def test_a_first_line_that_is_longer_than_a_head_tells_where_it_was_written() -> None:
    data = jsonl(meta(base_instructions="x" * adapter.HEAD_BYTES))[: adapter.HEAD_BYTES]
    head = ADAPTER.head(rollout(SESSION), data)
    assert (head.session, head.cwd, head.branch) == (SESSION, "/home/dev/proj", "")
    assert ADAPTER.head("/s/x.jsonl", b"").cwd == ""


# How it ends

STARTED, COMPLETE = event("task_started", 1), event("task_complete", 9, last_agent_message="Bye")


@pytest.mark.parametrize(
    ("records", "ending", "last_said"),
    [
        ([STARTED], "mid_turn", ""),
        ([STARTED, message("assistant", "Hi"), COMPLETE], "at_rest", "Bye"),
        ([STARTED, message("assistant", "Hi")], "mid_turn", "Hi"),
        ([message("assistant", "Hi")], "at_rest", "Hi"),
        ([message("assistant", "Hi", phase="commentary")], "mid_turn", "Hi"),
        ([message("assistant", "Hi"), message("user", "More")], "mid_turn", "Hi"),
        ([message("assistant", "Hi"), message("user", "<turn_aborted>")], "at_rest", "Hi"),
        ([COMPLETE, STARTED, call("exec_command", cmd="ls")], "mid_turn", "Bye"),
        ([call("x"), item("function_call_output", output="x")], "mid_turn", ""),
        ([item("reasoning", summary=[])], "mid_turn", ""),
        ([STARTED, call("x"), event("turn_aborted", reason="interrupted")], "at_rest", ""),
        ([event("agent_message", message="Hi")], "", "Hi"),
        ([completed("AgentMessage", content=[{"text": "Hi"}])], "", "Hi"),
        ([STARTED, counted("rate_limit_reached")], "limited", ""),
        ([STARTED, counted("rate_limit_reached"), event("task_complete")], "limited", ""),
        ([counted("rate_limit_reached"), COMPLETE, STARTED], "mid_turn", "Bye"),
        ([counted("rate_limit_reached"), message("assistant", "On")], "at_rest", "On"),
        ([meta()], "", ""),
    ],
)
def test_how_a_session_stands(records: list[Record], ending: str, last_said: str) -> None:
    tail = ADAPTER.tail(jsonl(*records))
    assert (tail.ending, tail.last_said, tail.last_at) == (ending, last_said, AT)


def test_pieces_of_lines_at_both_ends_are_passed_over() -> None:
    data = jsonl(message("assistant", "one"), message("assistant", "two"), COMPLETE)
    tail = ADAPTER.tail(data[30:-20])
    assert (tail.last_said, tail.ending) == ("two", "at_rest")
    assert ADAPTER.tail(b"").ending == ADAPTER.tail(b"torn").ending == ""


# What is wrong


@pytest.mark.parametrize("raw", [b'{"type":"response_item","H.1.2', b"H.1.2", b"\0H.1.2"])
def test_what_is_not_json_is_a_problem(raw: bytes) -> None:
    first = jsonl(message("user", "H.1.2"))
    found = transcripts.read(ADAPTER, first + raw + b"\n" + jsonl(message("user", "H.1.3", 2)))
    assert rows(found) == [("mentioned", "asked", "H.1.2"), ("mentioned", "asked", "H.1.3")]
    assert found.problems == [("/t/a.jsonl", f"byte {len(first)}", "line is not JSON")]


def test_halves_of_characters_do_not_hide_a_record() -> None:
    found = read(message("user", "H.1.2 \ud83d cut"))
    assert [each.text for each in found.activities] == ["H.1.2 \ufffd cut"]


SAMPLE: list[Record] = [
    meta(),
    STARTED,
    message("user", "Do H.1.2", 2),
    completed("UserMessage", 3, id="u", content=[{"type": "text", "text": "Do H.1.2"}]),
    message("assistant", "H.1.2 now", 4),
    item("reasoning", 5, summary=[{"type": "summary_text", "text": "H.1.2?"}]),
    call("exec_command", 6, cmd="# H.1.2: go\ngit commit -m 'H.1.3'", justification="H.1.4: x"),
    executed(6, status="failed", exit_code=1, aggregated_output="H.1.2"),
    item("function_call_output", 7, call_id=call_id(6), output="H.1.2"),
    item("custom_tool_call", 8, name="apply_patch", input=PATCH, call_id=call_id(8)),
    changed(8),
    changed(10),
    call("update_plan", 11, plan=[{"step": "H.1.5", "status": "completed"}]),
    line("compacted", {"message": "So far H.1.2", "replacement_history": []}, 12),
    counted("rate_limit_reached", window(100, FIVE_HOURS), window(12, WEEK)),
    event("agent_message", 13, message="H.1.2 done"),
    message("assistant", "H.1.2 done", 14),
    call("update_plan", 15, plan=[{"step": "H.1.5", "status": "completed"}]),
    COMPLETE,
]


def test_no_secret_is_kept_wherever_it_stands() -> None:
    assert len(transcripts.read(ADAPTER, jsonl(*SAMPLE)).activities) > 10
    for data in transcripts.with_secret(SAMPLE):
        assert transcripts.SECRET not in transcripts.stored(ADAPTER, data), data


def test_no_secret_is_kept_of_a_call() -> None:
    key = transcripts.SECRET
    data = jsonl(
        call("exec_command", 1, cmd=f"# H.1.2: {key}\ngit commit -m {key}", justification=key),
        call("exec_command", 2, cmd=f"x {key} H.1.2", justification=f"H.1.3: {key}"),
        call("update_plan", 3, plan=[{"step": f"H.1.2 {key}", "status": "completed"}]),
        call("apply_patch", 4, input=f"*** Add File: {key}\n+H.1.2"),
    )
    assert len(transcripts.read(ADAPTER, data).activities) == 7
    assert key not in transcripts.stored(ADAPTER, data)


@hypothesis.given(st.data())
def test_no_value_in_any_place_can_fail_the_reading(data: st.DataObject) -> None:
    way = data.draw(st.sampled_from(list(transcripts.places(SAMPLE))))
    new = data.draw(transcripts.json_values)
    raw = jsonl(*transcripts.replaced(SAMPLE, way, new))
    found = transcripts.read(ADAPTER, raw)
    assert all(each.at == "" or len(each.at) == 24 for each in found.activities)
    json.dumps([*found.activities, ADAPTER.head("/t/a.jsonl", raw), ADAPTER.tail(raw)])


@hypothesis.given(transcripts.json_values)
def test_no_arguments_of_a_call_can_fail_the_reading(given: object) -> None:
    for arguments in (given, json.dumps(given)):
        record = item("function_call", name="update_plan", arguments=arguments)
        assert transcripts.read(ADAPTER, jsonl(record)).problems == []


@hypothesis.given(st.permutations(SAMPLE), st.integers(0, len(SAMPLE)))
def test_two_readings_come_to_the_same_as_one(order: list[Record], at: int) -> None:
    raw = jsonl(*order)
    assert in_two_readings(ADAPTER, raw, at) == in_two_readings(ADAPTER, raw, len(order))


@hypothesis.given(st.integers(0, 2000), st.integers(0, 2000))
def test_any_piece_of_a_file_has_a_tail(begin: int, end: int) -> None:
    raw = jsonl(*SAMPLE)
    tail = ADAPTER.tail(raw[begin : len(raw) - end])
    assert tail.ending in ("", "at_rest", "mid_turn", "limited")


def test_the_spaces_of_json_do_not_matter() -> None:
    compact, wide = jsonl(*SAMPLE), jsonl(*SAMPLE, compact=False)
    assert rows(transcripts.read(ADAPTER, compact)) == rows(transcripts.read(ADAPTER, wide))
