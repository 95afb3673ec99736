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
from tether.evidence.transcripts import adapter, claude

SESSION = "11111111-2222-4333-8444-555555555555"
AT = "2026-11-15T06:32:07.059Z"
ADAPTER = claude.ADAPTER


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


def record(kind: str, content: object, number: int = 1, **more: object) -> Record:
    """In the shape of the real ones."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": kind,
        "message": {"role": kind, "content": content},
        "uuid": uuid(number),
        "timestamp": AT,
        "cwd": "/home/dev/proj",
        "sessionId": SESSION,
        "version": "2.1.325",
        "gitBranch": "master",
        **more,
    }


def prompt(text: object, number: int = 1, **more: object) -> Record:
    return record("user", text, number, **more)


def said(text: str, number: int = 1, **more: object) -> Record:
    return record("assistant", [{"type": "text", "text": text}], number, **more)


def tool(name: str, number: int = 1, /, **given: object) -> Record:
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
    return record("assistant", [block], number)


def result(content: object, number: int = 1, *, is_error: bool = False, **more: object) -> Record:
    block: Record = {"tool_use_id": f"toolu_{number}", "type": "tool_result", "content": content}
    if is_error:
        block["is_error"] = True
    return record("user", [block], number, **more)


def boundary(trigger: object = "auto") -> Record:
    return {
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "timestamp": AT,
        "uuid": uuid(70),
        "compactMetadata": {"trigger": trigger, "preTokens": 5352},
        "sessionId": SESSION,
    }


def limited(**more: object) -> Record:
    return said(
        "You've hit your 5-hour limit · resets 8:15am (UTC)",
        80,
        apiError="usage_limit_reached",
        apiErrorParams={"rate_limit_info": {"status": "rejected", "resetsAt": 1794730555}},
        quotaLimits={"resetsAt": 1794730556},
        isApiErrorMessage=True,
        error="rate_limit",
        **more,
    )


def created(number: str, subject: str, line: int) -> Record:
    return result(
        f"Task #{number} created successfully: {subject}",
        line,
        toolUseResult={"task": {"id": number, "subject": subject, "description": "d"}},
    )


def read(*records: object, state: dict[str, Any] | None = None, path: str = "") -> adapter.Read:
    return transcripts.read(ADAPTER, jsonl(*records), state, path or "/t/a.jsonl")


# Real records


def test_a_real_session_with_tasks_a_subagent_a_compaction_and_a_resume() -> None:
    data = transcripts.corpus("claude_tasks_compact_resume.jsonl")
    result = transcripts.read(ADAPTER, data)
    assert [(each.at, *each[4:7], each.text, each.files) for each in result.activities] == [
        ("2026-11-15T06:32:06.874Z", "mentioned", "asked", "PROBE-RUN", "PROBE-RUN please", ()),
        (
            *("2026-11-15T06:32:07.275Z", "worked", "edited", "", "Write"),
            ("/home/dev/proj/b.py",),
        ),
        ("2026-11-15T06:32:08.245Z", "worked", "failed", "", "Exit code 3", ()),
        # The output of /compact; the same id in an attachment is a hook's.
        ("2026-11-15T06:32:09.518Z", "listed", "output", "T-1", "", ()),
        (
            *("2026-11-15T06:32:10.393Z", "mentioned", "asked", "T-9"),
            "<command-args>T-9</command-args>",
            (),
        ),
    ]
    assert [each.record for each in result.activities] == [
        "0e2e5eb8-0c98-4d7b-bdd3-15950ee1cca1",
        "663516ba-31fa-4b9b-8a38-cef771cfa12c",
        "20240ff7-7907-476f-b8f6-495c2bb710ad",
        "ab354768-ad4d-40ce-b242-537cb847fe3a",
        "8b3af95f-3047-430a-bf75-5a4f73d56b8e",
    ]
    assert result.marks == [("compacted", "2026-11-15T06:32:09.346Z", "manual")]
    assert result.problems == []
    head = ADAPTER.head("/p/x.jsonl", data[: adapter.HEAD_BYTES])
    assert head.session == "11111111-2222-4333-8444-666666666666"
    assert (head.cwd, head.branch, head.parent) == ("/home/dev/proj", "master", "")
    assert head.started_at == "2026-11-15T06:32:04.721Z"
    tail = ADAPTER.tail(data)
    assert tail.last_at == "2026-11-15T06:32:10.892Z"
    assert (tail.ending, tail.last_said) == ("at_rest", "Done, pong.")


def test_the_steps_of_a_real_session_are_followed_by_their_numbers() -> None:
    data = transcripts.corpus("claude_tasks_compact_resume.jsonl")
    data = data.replace(b"Fix login", b"H.1.2 login")
    state: dict[str, Any] = {}
    result = transcripts.read(ADAPTER, data, state)
    stated = [(each.at, each.what, each.task) for each in result.activities if each[4] == "stated"]
    assert stated == [
        ("2026-11-15T06:32:07.412Z", "planned", "H.1.2"),
        ("2026-11-15T06:32:07.535Z", "status in_progress", "H.1.2"),
        ("2026-11-15T06:32:07.633Z", "status completed", "H.1.2"),
    ]
    assert state["tasks"]["1"]["tasks"] == [["track", "H.1.2"]]


def test_a_real_session_that_was_killed_after_a_compaction() -> None:
    data = transcripts.corpus("claude_interactive_killed.jsonl")
    result = transcripts.read(ADAPTER, data)
    assert [(each.at, *each[4:7], each.files) for each in result.activities] == [
        ("2026-11-15T06:33:23.978Z", "mentioned", "asked", "PROBE-RUN", ()),
        ("2026-11-15T06:33:24.578Z", "worked", "edited", "", ("/home/dev/proj/b.py",)),
        ("2026-11-15T06:33:26.111Z", "worked", "failed", "", ()),
        ("2026-11-15T06:33:35.436Z", "listed", "output", "T-1", ()),
    ]
    assert result.marks == [("compacted", "2026-11-15T06:33:35.337Z", "manual")]
    head = ADAPTER.head("/p/x.jsonl", data)
    assert head.session == "bc6290c4-f05c-44ae-98e8-cec6d5703c45"
    assert (head.cwd, head.branch) == ("/home/dev/proj", "master")
    assert head.started_at == "2026-11-15T06:33:15.767Z"
    tail = ADAPTER.tail(data)
    # It had answered, and /compact was done.
    assert (tail.ending, tail.last_said) == ("at_rest", "Done, pong.")
    assert tail.last_at == "2026-11-15T06:33:35.436Z"


@pytest.mark.parametrize(
    ("after", "ending", "last_said"),
    [
        (5, "mid_turn", ""),  # the prompt
        (17, "mid_turn", ""),  # a call
        (18, "mid_turn", ""),  # its result
        (50, "mid_turn", ""),
        (56, "at_rest", "Done, pong."),
        (69, "at_rest", "Done, pong."),
        (81, "mid_turn", "Done, pong."),  # a command for the model
        (92, "at_rest", "Done, pong."),
    ],
)
def test_a_real_session_as_it_stood_after_each_line(
    after: int, ending: str, last_said: str
) -> None:
    data = transcripts.corpus("claude_tasks_compact_resume.jsonl")
    tail = ADAPTER.tail(b"".join(line + b"\n" for line in data.split(b"\n")[:after]))
    assert (tail.ending, tail.last_said) == (ending, last_said)


def test_a_real_session_that_a_usage_limit_ended() -> None:
    data = transcripts.corpus("claude_usage_limit.jsonl")
    result = transcripts.read(ADAPTER, data)
    assert result == ([], [("limited", "2026-11-15T07:15:55.370Z", "2026-11-15T08:15:55.000Z")], [])
    head = ADAPTER.head("/p/x.jsonl", data)
    assert head.session == "11111111-2222-4333-8444-777777777777"
    assert head.started_at == "2026-11-15T07:15:54.098Z"
    tail = ADAPTER.tail(data)
    assert (tail.ending, tail.last_said) == ("limited", "")
    assert tail.last_at == "2026-11-15T07:15:55.370Z"


# Where ids stand


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (prompt("Do H.1.2 please"), ("mentioned", "asked", "H.1.2")),
        (prompt([{"type": "text", "text": "Do H.1.2"}]), ("mentioned", "asked", "H.1.2")),
        (prompt("Look:\n```\nH.1.2\n```"), ("listed", "asked", "H.1.2")),
        (prompt("<bash-input>work on H.1.2</bash-input>"), ("mentioned", "asked", "H.1.2")),
        (prompt("<bash-stdout>H.1.2</bash-stdout>"), ("listed", "output", "H.1.2")),
        (prompt("<task-notification>H.1.2 done"), ("listed", "output", "H.1.2")),
        (prompt("So far: H.1.2", isCompactSummary=True), ("listed", "summary", "H.1.2")),
        (said("H.1.2 is done."), ("mentioned", "said", "H.1.2")),
        (record("assistant", "H.1.2 is done."), ("mentioned", "said", "H.1.2")),
        (
            record("assistant", [{"type": "thinking", "thinking": "H.1.2?", "signature": "x"}]),
            ("mentioned", "thought", "H.1.2"),
        ),
        (tool("Bash", command="ls", description="H.1.2: List"), ("worked", "ran", "H.1.2")),
        (tool("Bash", command="ls", description="[H.1.2] List"), ("worked", "ran", "H.1.2")),
        (tool("Bash", command="ls", description="List H.1.2"), ("mentioned", "ran", "H.1.2")),
        (tool("Bash", command="grep H.1.2 a"), ("mentioned", "ran", "H.1.2")),
        (tool("Read", file_path="docs/H.1.2.md"), ("mentioned", "ran", "H.1.2")),
        (tool("mcp__x__y", a=[{"b": ["H.1.2"]}]), ("mentioned", "ran", "H.1.2")),
        (tool("Agent", description="H.1.2: look", prompt="x"), ("worked", "delegated", "H.1.2")),
        (tool("Task", description="H.1.2: look", prompt="x"), ("worked", "delegated", "H.1.2")),
        (tool("Agent", description="look", prompt="at H.1.2"), ("mentioned", "ran", "H.1.2")),
        (tool("TaskCreate", subject="H.1.2 login"), ("stated", "planned", "H.1.2")),
        (
            tool("TaskCreate", subject="Login", description="for H.1.2"),
            ("stated", "planned", "H.1.2"),
        ),
        (
            tool("TodoWrite", todos=[{"content": "H.1.2 login", "status": "in_progress"}]),
            ("stated", "status in_progress", "H.1.2"),
        ),
        (
            tool("TodoWrite", todos=[{"content": "H.1.2 login", "status": "pending"}]),
            ("mentioned", "ran", "H.1.2"),
        ),
        (result("1 file: H.1.2"), ("listed", "output", "H.1.2")),
        (result([{"type": "text", "text": "H.1.2"}]), ("listed", "output", "H.1.2")),
    ],
)  # fmt: skip
def test_an_id_shows_what_its_place_says(line: Record, expected: tuple[str, str, str]) -> None:
    found = read(line)
    assert rows(found) == [expected]
    (only,) = found.activities
    assert (only.source, only.task_source, only.session) == (claude.SOURCE, "track", "s-1")
    assert (only.at, only.record) == (AT, uuid(1))
    assert only.pointer == f"file:/t/a.jsonl#bytes=0-{len(jsonl(line)) - 1}"
    assert only.text == "" if only.what == "output" else "H.1.2" in only.text


@pytest.mark.parametrize(
    "line",
    [
        prompt("H.1.2", isMeta=True),
        prompt("<system-reminder>H.1.2</system-reminder>"),
        record("attachment", "H.1.2", attachment={"type": "hook_success", "stdout": "H.1.2"}),
        {"type": "queue-operation", "content": "H.1.2", "timestamp": AT},
        {"type": "last-prompt", "lastPrompt": "H.1.2"},
        {"type": "summary", "summary": "H.1.2"},
        {"type": "api-request", "body": {"messages": ["H.1.2 git commit compact_boundary"]}},
        {"type": "tools-used", "tools": ["Edit", "Write", "TaskUpdate"]},
        {"type": "brand-new", "message": {"content": [{"type": "text", "text": "H.1.2"}]}},
        {"type": "system", "subtype": "microcompact_boundary", "content": "H.1.2"},
        {"no": "type"},
        {},
        record("assistant", [{"type": "image", "source": {"data": "H.1.2"}}]),
        result("ok", toolUseResult={"originalFile": "H.1.2"}),
        result(" ".join(f"H.1.{n}" for n in range(1, mentions.MAX_LISTED + 2))),
        prompt("v2.1.0 and 3.H.1.2"),
    ],
)
def test_what_shows_nothing(line: Record) -> None:
    assert read(line) == ([], [], [])


def test_a_list_of_many_tasks_says_nothing_of_each() -> None:
    text = " ".join(f"H.1.{n}" for n in range(1, 6))
    assert {row[:2] for row in rows(read(said(text)))} == {("listed", "said")}
    assert {row[:2] for row in rows(read(tool("TaskCreate", subject=text)))} == {("listed", "ran")}


def test_an_edit_counts_for_the_claim_and_mentions_what_it_writes() -> None:
    found = read(
        tool("Edit", 1, file_path="src/a.py", old_string="x", new_string="# H.1.2"),
        tool("Write", 2, file_path="b.py", content="x"),
        tool("MultiEdit", 3, file_path="c.py", edits=[{"old_string": "x", "new_string": "y"}]),
        tool("NotebookEdit", 4, notebook_path="d.ipynb", new_source="x"),
        tool("Edit", 5, file_path=7),
        tool("Read", 6, file_path="e.py"),
    )
    assert [(*each[4:7], each.text, each.files) for each in found.activities] == [
        ("worked", "edited", "", "Edit", ("src/a.py",)),
        ("mentioned", "ran", "H.1.2", "# H.1.2", ()),
        ("worked", "edited", "", "Write", ("b.py",)),
        ("worked", "edited", "", "MultiEdit", ("c.py",)),
        ("worked", "edited", "", "NotebookEdit", ("d.ipynb",)),
    ]


def test_work_named_in_a_description_has_its_file() -> None:
    found = read(tool("Edit", file_path="a.py", description="H.1.2: Fix", new_string="H.1.2 H.1.3"))
    assert rows(found) == [
        ("worked", "edited", ""),
        ("worked", "ran", "H.1.2"),
        ("mentioned", "ran", "H.1.3"),
    ]
    assert [each.files for each in found.activities] == [("a.py",), ("a.py",), ()]


@pytest.mark.parametrize(
    ("command", "is_commit"),
    [
        ("git commit -m 'x'", True),
        ("cd a && git add -A && git commit -qm x", True),
        ("git -C ../other commit -m x", True),
        ("git -c user.name=a -c user.email=b commit --amend", True),
        ("git commit", True),
        ("git commit-tree HEAD -m x", False),
        ("git log --grep commit -n 3", False),
        ("legit commit -m x", False),
    ],
)
def test_commits(command: str, is_commit: bool) -> None:
    found = read(tool("Bash", command=command))
    assert rows(found) == ([("worked", "committed", "")] if is_commit else [])
    assert not is_commit or command in found.activities[0].text


def test_a_commit_with_an_id_mentions_the_task_too() -> None:
    found = read(tool("Bash", command="git commit -m 'H.1.2: fix'"))
    assert rows(found) == [("worked", "committed", ""), ("mentioned", "ran", "H.1.2")]


def test_what_fails_is_work() -> None:
    found = read(result("Exit code 1\nH.1.2 failed", is_error=True))
    assert rows(found) == [("listed", "output", "H.1.2"), ("worked", "failed", "")]
    assert found.activities[1].text == "Exit code 1 H.1.2 failed"


# The agent's own list


def test_steps_are_followed_from_their_creation() -> None:
    state: dict[str, Any] = {}
    found = read(
        tool("TaskCreate", 1, subject="H.1.2 login", description="see H.1.3"),
        created("7", "H.1.2 login", 2),
        tool("TaskCreate", 3, subject="tests", description="x"),
        created("8", "tests", 4),
        tool("TaskUpdate", 5, taskId="7", status="in_progress"),
        tool("TaskUpdate", 6, taskId="8", status="in_progress"),
        tool("TaskUpdate", 7, taskId="7", status="in_progress"),
        tool("TaskUpdate", 8, taskId="7", addBlocks=["8"]),
        tool("TaskUpdate", 9, taskId="7", status="completed"),
        tool("TaskUpdate", 10, taskId="8", subject="H.1.4 tests", status="completed"),
        tool("TaskUpdate", 11, taskId="7", status="made up"),
        state=state,
    )
    assert [row for row in rows(found) if row[0] != "listed"] == [
        ("stated", "planned", "H.1.2"),
        ("stated", "planned", "H.1.3"),
        ("stated", "status in_progress", "H.1.2"),
        ("stated", "status completed", "H.1.2"),
        ("stated", "status completed", "H.1.4"),
    ]
    assert found.activities[-2].text == "H.1.2 login"
    # And in the next reading.
    later = read(tool("TaskUpdate", 12, taskId="7", status="pending"), state=state)
    assert rows(later) == [("stated", "status pending", "H.1.2")]


def test_a_step_may_name_its_task_in_front_of_its_description() -> None:
    step = {"id": "1", "subject": "Login", "description": "H.1.2: not H.1.3"}
    found = read(
        result("Task #1 created successfully: Login", 1, toolUseResult={"task": step}),
        tool("TaskUpdate", 2, taskId="1", status="completed"),
    )
    assert rows(found) == [("stated", "status completed", "H.1.2")]


def test_only_todos_that_moved_state_something() -> None:
    def todos(*pairs: tuple[str, str]) -> list[Record]:
        return [{"content": text, "status": status, "activeForm": "x"} for text, status in pairs]

    first = todos(("H.1.2 a", "in_progress"), ("H.1.3 b", "pending"), ("c", "pending"))
    second = todos(("H.1.2 a", "completed"), ("H.1.3 b", "in_progress"), ("c", "pending"))
    found = read(
        tool("TodoWrite", 1, todos=first),
        tool("TodoWrite", 2, todos=first),
        tool("TodoWrite", 3, todos=second),
    )
    assert rows(found) == [
        ("stated", "status in_progress", "H.1.2"),
        ("mentioned", "ran", "H.1.3"),
        ("mentioned", "ran", "H.1.2"),
        ("mentioned", "ran", "H.1.3"),
        ("stated", "status completed", "H.1.2"),
        ("stated", "status in_progress", "H.1.3"),
    ]


# Marks


@pytest.mark.parametrize(("trigger", "told"), [("auto", "auto"), ("x y", ""), ([1], "")])
def test_compactions(trigger: object, told: str) -> None:
    assert read(boundary(trigger)).marks == [("compacted", AT, told)]


def test_limits_with_and_without_a_time() -> None:
    old = said("Claude AI usage limit reached|1794730555", 2, isApiErrorMessage=True)
    unknown = limited() | {"apiErrorParams": None, "quotaLimits": {"resetsAt": "soon"}}
    other = limited() | {"apiErrorParams": [], "uuid": uuid(3)}
    found = read(limited(), old, unknown, other)
    ends = [more for _, _, more in found.marks]
    assert ends == ["2026-11-15T08:15:55.000Z"] * 2 + ["", "2026-11-15T08:15:56.000Z"]
    assert found.activities == []
    assert read(said("usage limit reached|1794730555 is what the log says")).marks == []


# Names


def test_several_blocks_of_one_record_have_names_of_their_own() -> None:
    blocks = [
        {"type": "text", "text": "H.1.2 now"},
        {"type": "tool_use", "name": "Edit", "input": {"file_path": "a.py"}},
        {"type": "tool_use", "name": "Edit", "input": {"file_path": "b.py"}},
    ]
    found = read(record("assistant", blocks))
    assert [each.record for each in found.activities] == [f"{uuid(1)}#{n}" for n in range(3)]


def test_a_record_has_one_name_in_two_files() -> None:
    first = read(prompt("H.1.2"), said("H.1.2", 2), path="/t/a.jsonl")
    second = read(boundary(), prompt("H.1.2"), said("H.1.2", 2), path="/t/b.jsonl")
    assert [each.record for each in first.activities] == [uuid(1), uuid(2)]
    assert [each.record for each in second.activities] == [uuid(1), uuid(2)]


def test_a_record_without_a_name_is_called_by_its_place() -> None:
    for name in (None, 5, "not a name", "x" * 200):
        (only,) = read(prompt("H.1.2") | {"uuid": name}).activities
        assert only.record == only.pointer


# Sessions


@pytest.mark.parametrize(
    ("path", "told", "session", "parent"),
    [
        (f"/p/s/{SESSION}.jsonl", [], SESSION, ""),
        ("/p/s/x.jsonl", [SESSION], SESSION, ""),
        (f"/p/s/{SESSION}.jsonl", ["forked-from", SESSION], SESSION, ""),
        ("/p/s/x.jsonl", ["bad id", 5, None], "x", ""),
        ("/p/s/bad id.jsonl", [], "", ""),
        (f"/p/{SESSION}/subagents/agent-a7.jsonl", [SESSION], f"{SESSION}.agent-a7", SESSION),
        (f"/p/{SESSION}/subagents/agent-a7.jsonl", [], f"{SESSION}.agent-a7", SESSION),
        ("/p/s/agent-a7.jsonl", [SESSION], f"{SESSION}.agent-a7", SESSION),
        ("/p/s/agent-a7.jsonl", [], "agent-a7", ""),
    ],
)
def test_who_wrote_a_file(path: str, told: list[object], session: str, parent: str) -> None:
    head = ADAPTER.head(path, jsonl(*({"type": "mode", "sessionId": each} for each in told)))
    assert (head.session, head.parent, head.pointer) == (session, parent, f"file:{path}")
    assert not session or ids.SessionId.is_valid(session)


def test_a_head_has_the_first_of_everything_and_the_title() -> None:
    data = jsonl(
        {"type": "summary", "summary": "Older title", "leafUuid": uuid(9)},
        {"type": "mode", "cwd": 5, "gitBranch": None, "timestamp": "yesterday"},
        prompt("x", timestamp="2026-11-15T07:32:07+01:00"),
        prompt("x", cwd="/elsewhere", gitBranch="b"),
        {"type": "custom-title", "customTitle": "The login", "sessionId": SESSION},
    )
    head = ADAPTER.head("/p/x.jsonl", data + b'{"type":"custom-title","customTitle":"torn')
    assert (head.cwd, head.branch) == ("/home/dev/proj", "master")
    assert (head.started_at, head.title) == ("2026-11-15T06:32:07.000Z", "The login")
    assert ADAPTER.head("/p/x.jsonl", b"").session == "x"


def test_a_sidechain_works_in_the_session_but_does_not_end_it() -> None:
    side = said("sub H.1.2", 2, isSidechain=True)
    assert rows(read(side)) == [("mentioned", "said", "H.1.2")]
    tail = ADAPTER.tail(jsonl(said("Done."), side, tool("Bash", 3) | {"isSidechain": True}))
    assert (tail.ending, tail.last_said) == ("at_rest", "Done.")
    # In the subagent's own file there is nothing else.
    assert ADAPTER.tail(jsonl(side)).last_said == "sub H.1.2"


# How it ends


@pytest.mark.parametrize(
    ("last", "ending"),
    [
        (prompt("Do it"), "mid_turn"),
        (tool("Bash", command="ls"), "mid_turn"),
        (result("ok"), "mid_turn"),
        (result("bad", is_error=True), "mid_turn"),
        (record("assistant", [{"type": "thinking", "thinking": "Hm"}]), "mid_turn"),
        (
            said("Let me see.") | {"message": {"content": "x", "stop_reason": "tool_use"}},
            "mid_turn",
        ),
        (said("Done."), "at_rest"),
        (prompt("[Request interrupted by user for tool use]"), "at_rest"),
        (said("API Error: 500", isApiErrorMessage=True), "at_rest"),
        (limited(), "limited"),
        # These are no turns: what was before them counts.
        (prompt("<command-name>/compact</command-name>"), "at_rest"),
        (prompt("<local-command-stdout>ok</local-command-stdout>"), "at_rest"),
        (prompt("x", isMeta=True), "at_rest"),
        (prompt("x", isCompactSummary=True), "at_rest"),
        (boundary(), "at_rest"),
        ({"type": "last-prompt", "lastPrompt": "x"}, "at_rest"),
    ],
)
def test_how_a_session_stands(last: Record, ending: str) -> None:
    assert ADAPTER.tail(jsonl(said("Earlier.", 5), last)).ending == ending


def test_the_last_words_are_the_agents_own() -> None:
    resumed = said("No response requested.") | {
        "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "No."}]}
    }
    tail = ADAPTER.tail(jsonl(said("H.1.2 is half done."), limited(), resumed))
    assert tail.last_said == "H.1.2 is half done."


def test_pieces_of_lines_at_both_ends_are_passed_over() -> None:
    data = jsonl(said("one"), said("two", 2, timestamp="2026-11-15T06:32:09.000Z"), prompt("three"))
    begin = data[30:]
    torn = begin[: begin.rfind(b"\n") - 20]
    tail = ADAPTER.tail(torn)
    assert (tail.last_said, tail.ending) == ("two", "at_rest")
    assert tail.last_at == "2026-11-15T06:32:09.000Z"
    assert ADAPTER.tail(b"")[3:] == ("",) * 5 + ("",) + (0,) + ("",) * 5
    assert ADAPTER.tail(b"torn").ending == ""


# What is wrong


@pytest.mark.parametrize(
    "raw",
    [
        b'{"type":"user","H.1.2',
        b"H.1.2",
        b'{"H.1.2":1}}',
        b"\0\0H.1.2\0",
        b"[" * 100_000 + b"H.1.2",
    ],
)
def test_what_is_not_json_is_a_problem(raw: bytes) -> None:
    data = jsonl(prompt("H.1.2")) + raw + b"\n" + jsonl(said("H.1.3", 2))
    found = transcripts.read(ADAPTER, data)
    assert rows(found) == [("mentioned", "asked", "H.1.2"), ("mentioned", "said", "H.1.3")]
    (problem,) = found.problems
    assert problem.path == "/t/a.jsonl"
    assert problem.where == f"byte {len(jsonl(prompt('H.1.2')))}"
    assert problem.message == "line is not JSON"


def test_json_that_is_no_record_is_a_problem_too() -> None:
    found = read(["H.1.2"], "H.1.2")
    assert [each.message for each in found.problems] == ["line is JSON, but not a record"] * 2


def test_halves_of_characters_and_odd_numbers_do_not_hide_a_record() -> None:
    odd = jsonl(prompt("H.1.2 \ud83d cut", usage=float("nan"), big=10**30))
    found = transcripts.read(ADAPTER, odd + jsonl(said("H.1.3")).replace(b"H.1.3", b"H.1.3 \xff"))
    assert [each.text for each in found.activities] == ["H.1.2 \ufffd cut", "H.1.3 \ufffd"]
    assert found.problems == []


def test_one_part_of_another_type_does_not_hide_the_others() -> None:
    blocks = ["text", {"type": "text", "text": "H.1.2"}, {"type": "text", "text": 5}]
    assert rows(read(record("assistant", blocks))) == [("mentioned", "said", "H.1.2")]
    nested = result([{"type": "text", "text": "H.1.2"}, 7, None])
    assert rows(read(nested)) == [("listed", "output", "H.1.2")]


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("2026-11-15T06:32:07Z", "2026-11-15T06:32:07.000Z"),
        ("2026-11-15T06:32:07.059123Z", "2026-11-15T06:32:07.059Z"),
        (1794724327059, "2026-11-15T06:32:07.059Z"),
        ("2026-99-99T06:32:07.059Z", ""),
        ("x" * 23 + "Z", ""),
        (None, ""),
        ({}, ""),
        (True, ""),
    ],
)
def test_times(time: object, expected: str) -> None:
    assert [each.at for each in read(prompt("H.1.2", timestamp=time)).activities] == [expected]


SAMPLE: list[Record] = [
    {"type": "custom-title", "customTitle": "Login", "sessionId": SESSION},
    prompt("Do H.1.2"),
    said("H.1.2 now", 2),
    record("assistant", [{"type": "thinking", "thinking": "H.1.2?"}], 3),
    tool("Bash", 4, command="git commit -m 'H.1.3'", description="H.1.2: Commit"),
    tool("Edit", 5, file_path="a.py", new_string="H.1.2"),
    tool("TaskCreate", 6, subject="H.1.2 login", description="d"),
    created("1", "H.1.2 login", 7),
    tool("TaskUpdate", 8, taskId="1", status="in_progress"),
    tool("TodoWrite", 9, todos=[{"content": "H.1.4", "status": "completed"}]),
    result("bad H.1.2", 10, is_error=True),
    result([{"type": "text", "text": "H.1.2"}], 11),
    boundary(),
    prompt("So far H.1.2", 12, isCompactSummary=True),
    tool("TodoWrite", 13, todos=[{"content": "H.1.4", "status": "completed"}]),
    tool("TaskUpdate", 14, taskId="1", status="completed"),
    limited(),
    said("H.1.2 done", 15),
]


def test_no_secret_is_kept_wherever_it_stands() -> None:
    assert transcripts.stored(ADAPTER, jsonl(*SAMPLE)) != "([], [], [], {})"
    for data in transcripts.with_secret(SAMPLE):
        assert transcripts.SECRET not in transcripts.stored(ADAPTER, data), data


def test_control_a_secret_in_a_path_is_seen() -> None:
    data = jsonl(tool("Edit", file_path=transcripts.SECRET))
    (only,) = transcripts.read(ADAPTER, data).activities
    assert only.files == (transcripts.SECRET,)
    assert transcripts.SECRET not in only.text


@hypothesis.given(st.data())
def test_no_value_in_any_place_can_fail_the_reading(data: st.DataObject) -> None:
    way = data.draw(st.sampled_from(list(transcripts.places(SAMPLE))))
    new = data.draw(transcripts.json_values)
    damaged = transcripts.replaced(SAMPLE, way, new)
    raw = jsonl(*damaged)
    found = transcripts.read(ADAPTER, raw)
    assert all(each.at == "" or len(each.at) == 24 for each in found.activities)
    head, tail = ADAPTER.head("/t/a.jsonl", raw), ADAPTER.tail(raw)
    json.dumps([*found.activities, head, tail])


@hypothesis.given(st.permutations(SAMPLE), st.integers(0, len(SAMPLE)))
def test_two_readings_come_to_the_same_as_one(order: list[Record], at: int) -> None:
    raw = jsonl(*order)
    assert in_two_readings(ADAPTER, raw, at) == in_two_readings(ADAPTER, raw, len(order))


@hypothesis.given(st.integers(0, 3000), st.integers(0, 3000))
def test_any_piece_of_a_file_has_a_tail(begin: int, end: int) -> None:
    raw = jsonl(*SAMPLE)
    tail = ADAPTER.tail(raw[begin : len(raw) - end])
    assert tail.ending in ("", "at_rest", "mid_turn", "limited")


def test_the_spaces_of_json_do_not_matter() -> None:
    compact, wide = jsonl(*SAMPLE), jsonl(*SAMPLE, compact=False)
    assert rows(transcripts.read(ADAPTER, compact)) == rows(transcripts.read(ADAPTER, wide))
