"""Beads: a line of JSON for each issue."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tether.tasks.sources import beads, history, model

PATH = ".beads/issues.jsonl"


def parse(content: str) -> model.Listing:
    listing = beads.parse(content, PATH)
    found = {i.id: i.state for i in listing.items}
    assert history.states_in(PATH, content) == found
    reader = history.Reader()
    for version in (content, content + "\n", content):
        assert reader.states_in(PATH, version) == found
    return listing


def lines(*issues: dict[str, Any]) -> str:
    return "".join(json.dumps(issue, separators=(",", ":")) + "\n" for issue in issues)


REAL = {
    "id": "bd-a3f8.1",
    "title": "Fix login\u001b[31m",
    "description": "OAuth fails.",
    "status": "in_progress",
    "priority": 1,
    "issue_type": "bug",
    "assignee": "alice",
    "created_at": "2025-10-16T20:46:08.971822-07:00",
    "updated_at": "2025-10-17T00:09:18Z",
    "acceptance_criteria": "- [x] logs in\n- [ ] logs out\n\nstays in",
    "dependencies": [
        {"issue_id": "bd-a3f8.1", "depends_on_id": "bd-2", "type": "blocks"},
        {"issue_id": "bd-a3f8.1", "depends_on_id": "bd-3", "dep_type": "blocks"},
        {"issue_id": "bd-a3f8.1", "depends_on_id": "bd-9", "type": "related"},
        {"issue_id": "bd-a3f8.1", "depends_on_id": "bd-e", "type": "parent-child"},
        "odd",
    ],
}


def test_a_real_issue() -> None:
    [item] = parse(lines(REAL)).items
    assert item == model.Item(
        source="beads",
        id="bd-a3f8.1",
        path=PATH,
        line=1,
        state="in_progress",
        text="Fix login",
        owner="alice",
        priority="high",
        parent="bd-e",
        track="beads",
        depends_on=("bd-2", "bd-3"),
        created_at="2025-10-17T03:46:08.971Z",
        updated_at="2025-10-17T00:09:18.000Z",
        acceptance=((True, "logs in"), (False, "logs out"), (False, "stays in")),
        description="OAuth fails.",
        status="in_progress",
    )


def test_a_child_knows_its_parent_by_its_id() -> None:
    [item] = parse(lines({"id": "bd-a3f8.1", "status": "open"})).items
    assert item.parent == "bd-a3f8"


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("open", "new"),
        ("in_progress", "in_progress"),
        ("blocked", "new"),
        ("deferred", "new"),
        ("pinned", "new"),
        ("hooked", "in_progress"),
        ("closed", "done"),
        ("tombstone", "cancelled"),
        (None, "new"),
        ("", "new"),
    ],
)
def test_states(status: str | None, state: str) -> None:
    listing = parse(lines({"id": "bd-1", "status": status}))
    assert [i.state for i in listing.items] == [state]
    assert listing.problems == ()


@pytest.mark.parametrize(
    ("priority", "name"),
    [(0, "critical"), (1, "high"), (2, "normal"), (3, "low"), (4, "low"), (9, "normal"),
     ("high", "high"), (None, "normal"), ([], "normal")],
)  # fmt: skip
def test_priorities(priority: object, name: str) -> None:
    [item] = parse(lines({"id": "bd-1", "priority": priority})).items
    assert item.priority == name


def test_of_two_lines_of_an_issue_the_one_updated_last_counts() -> None:
    old = {"id": "bd-1", "status": "in_progress", "updated_at": "2026-01-01T00:00:00Z"}
    new = {"id": "bd-1", "status": "closed", "updated_at": "2026-01-01T01:00:00+00:30"}
    for content in (lines(old, new), lines(new, old)):
        [item] = parse(content).items
        assert item.state == "done"
    assert [i.line for i in parse(lines(old, old)).items] == [2]


@pytest.mark.parametrize(
    "bad",
    [
        "{",
        "[]",
        "12",
        '{"id": "bd-2"',
        "<<<<<<< HEAD",
        '{"status": "open"}',
        '{"id": "../x"}',
        '{"id": 7}',
        "[" * 100_000,
        "\x00",
    ],
)
def test_a_bad_line_is_a_problem_and_the_others_count(bad: str) -> None:
    listing = parse(f'{bad}\n\n{{"id": "bd-1", "status": "closed"}}')
    assert [(i.id, i.line) for i in listing.items] == [("bd-1", 3)]
    assert [p.line for p in listing.problems] == [1]


def test_records_that_are_no_issues_are_left_out() -> None:
    assert parse('{"_type":"memory","key":"a"}\n') == model.Listing(())


def test_an_unknown_status_is_open_and_a_problem() -> None:
    for status in ("zzz", 7, ["closed"]):
        listing = parse(lines({"id": "bd-1", "status": status}))
        assert [i.state for i in listing.items] == ["new"]
        assert len(listing.problems) == 1


def test_problems_are_bounded() -> None:
    assert len(parse("{\n" * 5000).problems) == beads.MAX_PROBLEMS


def test_line_ends_and_byte_order_marks_change_nothing() -> None:
    content = "\ufeff" + lines(REAL).replace("\n", "\r\n")
    assert parse(content).items == parse(lines(REAL)).items
