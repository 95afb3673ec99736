"""Session logs: entries, what they are about, and what they only list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.evidence import model
from tether.evidence.coditect import session_logs
from tether.tasks.sources import patterns

FINDER = patterns.Finder(patterns.Kinds(("track", "work")))
PATH = "/logs/projects/P/m1/SESSION-LOG-2025-12-31.md"
SESSION = "abc12345-0000-4000-8000-000000000001"
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
LOG = f"""---
created: 2025-12-31
moe_confidence: 0.9
---
# Session Log 2025-12-31

## 2025-12-31T22:00:00Z - Session Entry

**Session ID:** `{SESSION}`
**Focus:** H.2.1 login

### 2025-12-31T22:45:00Z - H.2.2: Fix the token check
- **Issue:** tokens of A.1.1 were lost
- **Fix:** kept
- **Files Modified:** `src/login.py`, `tests/test_login.py`
- **Deployed:** `v2.1.0`
- **Next:** H.2.3, then H.2.4

### 2025-12-31T23:10:00Z - Notes
Looked at A.1.1.

```bash
# H.9.9 is only pasted
```
"""


def read(text: str, path: str = PATH) -> model.Logged:
    return session_logs.read(path, text, FINDER)


def told(text: str, path: str = PATH) -> dict[str, tuple[str, str]]:
    """The last word on each task: kind and time."""
    return {each.task: (each.kind, each.at) for each in read(text, path).activities}


def kinds(text: str) -> dict[str, str]:
    return {task: kind for task, (kind, _) in told(text).items()}


def entry(title: str, *lines: str, time: str = "2025-12-31T10:00:00Z") -> str:
    return f"### {time} - {title}\n" + "\n".join(lines) + "\n"


def test_an_entry_states_what_its_title_names_and_mentions_what_its_text_does() -> None:
    found = {(each.task, each.kind): each for each in read(LOG).activities}
    stated = found["H.2.2", model.STATED]
    assert stated.at == "2025-12-31T22:45:00.000Z"
    assert stated.session == SESSION
    assert stated.what == "logged"
    assert stated.source == "coditect:log"
    assert stated.files == ("src/login.py", "tests/test_login.py")
    line = int(stated.pointer.removeprefix(f"file:{PATH}#line="))
    assert LOG.split("\n")[line - 1].startswith("### 2025-12-31T22:45:00Z")
    mentioned = [each for each in read(LOG).activities if each.task == "A.1.1"]
    assert [each.kind for each in mentioned] == [model.MENTIONED, model.MENTIONED]
    assert all(not each.files for each in mentioned)


def test_the_focus_of_a_session_is_stated_at_its_time() -> None:
    (focus,) = [each for each in read(LOG).activities if each.task == "H.2.1"]
    assert (focus.kind, focus.at) == (model.STATED, "2025-12-31T22:00:00.000Z")
    assert focus.pointer.endswith("#line=10")


def test_a_list_of_what_comes_next_is_listed() -> None:
    assert kinds(LOG)["H.2.3"] == kinds(LOG)["H.2.4"] == model.LISTED


def test_an_id_in_fenced_code_is_listed() -> None:
    assert kinds(LOG)["H.9.9"] == model.LISTED


def test_a_version_is_no_task() -> None:
    assert "v2.1.0" not in kinds(LOG)
    assert not [task for task in kinds(LOG) if task.startswith("2")]


def test_the_session_is_told_as_a_whole() -> None:
    (session,) = read(LOG).sessions
    assert session.session == SESSION
    assert session.started_at == "2025-12-31T22:00:00.000Z"
    assert session.last_at == "2025-12-31T23:10:00.000Z"
    assert session.title == "H.2.1 login"


def test_a_section_that_is_mentioned_is_not_its_tasks() -> None:
    assert set(told(entry("H.13.9: plan the section", "see H.13"))) == {"H.13.9", "H.13"}


DASHBOARDS = [
    "### 2025-12-31T10:00:00Z - Session Status\n- H.1.1 claimed by claude-29583\n",
    "## Session Status Dashboard\n\n### Active Sessions\n\nclaude-29583 on H.1.1\n",
    "### Active Sessions (3)\n\nclaude-1 H.1.1\n\nand codex-2\n",
    "#### Task Claims\n* H.1.1\n",
    "### /session-status\nH.1.1\n",
    "| Session | Task |\n|---|---|\n| claude-29583 | H.1.1 |\n",
    "### 📊 Session Status: H.1.1\n",
]


@pytest.mark.parametrize("dashboard", DASHBOARDS)
def test_a_dashboard_only_lists(dashboard: str) -> None:
    assert kinds(entry("Work") + dashboard) == {"H.1.1": model.LISTED}


@pytest.mark.parametrize("dashboard", DASHBOARDS)
def test_what_follows_a_dashboard_counts_again(dashboard: str) -> None:
    text = dashboard + entry("H.2.2: done", "about A.1.1", time="2025-12-31T11:00:00Z")
    assert kinds(text)["H.2.2"] == model.STATED
    assert kinds(text)["A.1.1"] == model.MENTIONED


def test_work_on_a_dashboard_is_work() -> None:
    text = entry("H.2.2: fix the Session Status page", "see A.1.1")
    assert kinds(text) == {"H.2.2": model.STATED, "A.1.1": model.MENTIONED}


PLANS = [
    "Next: H.1.1",
    "- **Next steps:** H.1.1",
    "- Next:\n- H.1.1",
    "**Next Steps**:\n\n1. H.1.1\n2. more",
    "TODO:\n  - H.1.1",
    "#### Next Steps\n\nH.1.1 comes first\n\nthen others",
    "#### Remaining\n- [ ] H.1.1",
    "Remaining work: this and\nH.1.1",
    "- **Next:** much\n  - H.1.1\n  - others",
    "To-do: H.1.1",
]


@pytest.mark.parametrize("plan", PLANS)
def test_plans_only_list(plan: str) -> None:
    assert kinds(entry("Work", plan)) == {"H.1.1": model.LISTED}


@pytest.mark.parametrize("plan", PLANS)
def test_what_follows_plans_counts_again(plan: str) -> None:
    text = entry("Work", plan, "- **Fix:** A.1.1")
    if "####" not in plan:
        assert kinds(text)["A.1.1"] == model.MENTIONED
    text = entry("Work", plan) + entry("Z.1.1: more", time="2025-12-31T12:00:00Z")
    assert kinds(text)["Z.1.1"] == model.STATED


def test_a_title_of_plans_states_nothing() -> None:
    assert kinds(entry("Next: H.1.1", "and A.1.1")) == {
        "H.1.1": model.LISTED,
        "A.1.1": model.LISTED,
    }


def test_a_focus_on_everything_is_a_list() -> None:
    text = "## 2025-12-31T10:00:00Z - Session Entry\n**Focus:** A.1.1 A.1.2 A.1.3 A.1.4 A.1.5\n"
    assert set(kinds(text).values()) == {model.LISTED}


@pytest.mark.parametrize(
    ("heading", "at"),
    [
        ("### 2025-12-31T10:00:00Z - H.1.1", "2025-12-31T10:00:00.000Z"),
        ("### 2025-12-31 10:00:00 - H.1.1", "2025-12-31T10:00:00.000Z"),
        ("### 2025-12-31T10:00:00+02:00 - H.1.1", "2025-12-31T08:00:00.000Z"),
        ("### 2025-12-31 10:00 UTC - H.1.1", "2025-12-31T10:00:00.000Z"),
        ("### 10:00 - H.1.1", "2025-12-31T10:00:00.000Z"),
        ("### 10:00Z — H.1.1", "2025-12-31T10:00:00.000Z"),
        ("### [10:00] H.1.1", "2025-12-31T10:00:00.000Z"),
        ("### 2:30 PM - H.1.1", "2025-12-31T14:30:00.000Z"),
        ("### 12:05 am UTC: H.1.1", "2025-12-31T00:05:00.000Z"),
        ("## 2026-01-01\n### 10:00 - H.1.1", "2026-01-01T10:00:00.000Z"),
        ("## 2026-01-01T09:00:00Z - Session Entry\n### H.1.1: x", "2026-01-01T09:00:00.000Z"),
        # Without any time it was not before its day.
        ("### H.1.1: no time", "2025-12-31T00:00:00.000Z"),
        ("### 25:99 - H.1.1", "2025-12-31T00:00:00.000Z"),
    ],
)
def test_times_are_utc_unless_they_say_otherwise(heading: str, at: str) -> None:
    assert told(f"{heading}\n") == {"H.1.1": (model.STATED, at)}


def test_without_a_date_anywhere_the_time_is_unknown() -> None:
    assert told("### 10:00 - H.1.1\n", "/logs/notes.md") == {"H.1.1": (model.STATED, "")}


def test_each_session_has_its_own_entries() -> None:
    text = (
        "## 2025-12-31T10:00:00Z - Session Entry\n**Session ID:** `one`\n"
        "### 2025-12-31T10:01:00Z - H.1.1\n"
        "## 2025-12-31T11:00:00Z - Session Entry\n"
        "### 2025-12-31T11:01:00Z - H.1.2\n"
        "### 2025-12-31T11:02:00Z - H.1.3\n- **Session ID:** `three`\n"
        "### 2025-12-31T11:03:00Z - H.1.4\n"
    )
    sessions = {each.task: each.session for each in read(text).activities}
    assert sessions == {"H.1.1": "one", "H.1.2": "", "H.1.3": "three", "H.1.4": ""}


def test_a_heading_in_a_code_block_is_no_entry() -> None:
    text = entry("Work", "```", "### 2025-12-31T11:00:00Z - H.1.1", "```", "then A.1.1")
    assert told(text) == {
        "H.1.1": (model.LISTED, "2025-12-31T10:00:00.000Z"),
        "A.1.1": (model.MENTIONED, "2025-12-31T10:00:00.000Z"),
    }


def test_a_code_block_that_is_never_closed_ends_with_its_entry() -> None:
    text = entry("Work", "```bash", "make") + entry("H.1.1", time="2025-12-31T11:00:00Z")
    assert told(text)["H.1.1"] == (model.STATED, "2025-12-31T11:00:00.000Z")


def test_appending_keeps_the_names_of_what_was_there() -> None:
    lines = LOG.splitlines(keepends=True)
    whole = {each.record: each for each in read(LOG).activities}
    entries = [n for n, line in enumerate(lines) if line.startswith("###")]
    for end in [*entries, len(lines)]:
        part = {each.record: each for each in read("".join(lines[:end])).activities}
        assert part.items() <= whole.items()


def test_what_is_inserted_above_changes_no_name() -> None:
    names = {each.record for each in read(LOG).activities}
    text = LOG.replace("# Session Log", "\nMore text\n\n# Session Log")
    assert {each.record for each in read(text).activities} == names


def test_the_same_log_in_two_places_counts_once() -> None:
    old = read(LOG, "/logs/m1/SESSION-LOG-2025-12-31.md").activities
    assert [each.record for each in old] == [each.record for each in read(LOG).activities]


def test_entries_that_differ_have_names_that_differ() -> None:
    text = entry("H.1.1", "H.1.1") + entry("H.1.1", time="2025-12-31T11:00:00Z")
    names = [each.record for each in read(text).activities]
    assert len(names) == len(set(names)) == 3


def test_secrets_and_control_characters_are_not_kept() -> None:
    text = (
        f"## 2025-12-31T10:00:00Z - Session Entry\n**Session ID:** `{SECRET}`\n"
        f"### 2025-12-31T10:01:00Z - H.1.1 with {SECRET} \x1b[31mred\n"
        f"- **Files Modified:** `{SECRET}/x.py`\nA.1.1 {SECRET}\n"
    )
    logged = read(text)
    assert SECRET not in repr(logged)
    assert "\\x1b" not in repr([each.text for each in logged.activities])


def test_damaged_text_is_read_as_far_as_it_goes() -> None:
    damaged = LOG.encode()[:700].decode("utf-8", "replace")
    assert kinds(damaged)["H.2.2"] == model.STATED
    assert read("") == model.Logged([], [], [])


PIECES = st.sampled_from(
    [
        *(
            "# ",
            "## ",
            "### ",
            "#### ",
            "\n",
            "\n\n",
            "- ",
            "  - ",
            "| ",
            "```",
            "~~~\n",
            "**",
            ":",
        ),
        *(
            "2025-12-31T10:00:00Z - ",
            "10:00 - ",
            "99:99 ",
            "Session Status",
            "Next:",
            "TODO",
            "`x`",
        ),
        *("**Session ID:** ", "**Focus:** ", "**Files Modified:** ", "H.1.1", "AA.2", "\r", "\0"),
        *("\x0c", "\u2028", "\ud800", f" {SECRET} ", "\x1b]0;", "Remaining"),
    ]
)


@given(st.lists(PIECES | st.text(max_size=5), max_size=60).map("".join))
def test_no_text_can_fail_the_reading(text: str) -> None:
    logged = read(text)
    count = text.count("\n") + 1
    for each in logged.activities:
        assert each.kind in model.KINDS
        assert each.task in ("H.1.1", "AA.2") or FINDER.find(each.task)
        assert 0 <= int(each.pointer.rpartition("=")[2]) <= count
        assert "\n" not in each.text
        assert SECRET not in each.text
    records = [each.record for each in logged.activities]
    assert len(records) == len(set(records))


@given(st.lists(PIECES, max_size=40).map("".join), st.lists(PIECES, max_size=40).map("".join))
def test_entries_that_are_appended_change_no_name(first: str, more: str) -> None:
    # A code block that the appended text closes would be another one.
    first = first.replace("```", "").replace("~~~", "")
    begin = f"### 2025-12-31T10:00:00Z - H.3.3\n{first}\n"
    before = {each.record for each in read(begin).activities}
    after = read(f"{begin}### 2025-12-31T23:00:00Z - The end\n{more}").activities
    assert before <= {each.record for each in after}
