"""Backlog.md: a file for each task."""

from __future__ import annotations

import pytest

from tether.tasks.sources import backlog, history, model, statuses

PATH = "backlog/tasks/task-12.1 - Add-search.md"
REAL = """\
---
id: task-12.1
title: 'Add search (bug, feature)'
status: In Progress
assignee:
  - '@codex'
  - '@ann'
created_date: '2026-01-01 23:37'
updated_date: '2026-07-04 17:50'
labels: [core]
dependencies: [task-3, TASK-4]
priority: medium
parent_task_id: task-12
milestone: m-2
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
Find a task by its text.
- quickly
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [x] #1 It finds titles
- [ ] #2 It finds notes
<!-- AC:END -->

```
- [ ] #3 not this one
```

## Definition of Done
- [x] #1 tests pass
- [ ] #2 linted
"""


def parse(content: str, path: str = PATH) -> model.Listing:
    listing = backlog.parse(content, path)
    assert history.states_in(path, content) == {i.id: i.state for i in listing.items}
    return listing


def item_of(content: str, path: str = PATH) -> model.Item:
    [item] = parse(content, path).items
    return item


def test_a_real_task() -> None:
    item = item_of(REAL)
    assert item == model.Item(
        source="backlog",
        id="TASK-12.1",
        path=PATH,
        line=4,
        state="in_progress",
        text="Add search (bug, feature)",
        owner="codex",
        priority="normal",
        parent="TASK-12",
        track="m-2",
        parts_done=1,
        parts_total=2,
        depends_on=("TASK-3", "TASK-4"),
        created_at="2026-01-01T23:37:00.000Z",
        updated_at="2026-07-04T17:50:00.000Z",
        acceptance=((True, "It finds titles"), (False, "It finds notes")),
        description="Find a task by its text.\n- quickly",
        status="In Progress",
    )


def test_a_description_keeps_its_headings_and_paragraphs() -> None:
    body = "## Description\n\n### Problem\n\nIt is slow.\n\n- one\n- two\n\n## Plan\n\nNo.\n"
    item = item_of(f"---\nid: TASK-1\nstatus: To Do\n---\n\n{body}")
    assert item.description == "### Problem\n\nIt is slow.\n\n- one\n- two"


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("To Do", "new"),
        ("to do", "new"),
        ("TODO", "new"),
        ("Backlog", "new"),
        ("Blocked", "new"),
        ("Not Started", "new"),
        ("On Hold", "new"),
        ("Waiting for review", "new"),
        ("In Progress", "in_progress"),
        ("in-progress", "in_progress"),
        ("In Review", "in_progress"),
        ("Ready for review", "in_progress"),
        ("Testing", "in_progress"),
        ("Done", "done"),
        ("\u2714 Done", "done"),
        ("Completed", "done"),
        ("Released", "done"),
        ("Won't Do", "cancelled"),
        ("Won\u2019t fix", "cancelled"),
        ("Cancelled", "cancelled"),
        ("Duplicate", "cancelled"),
        ("Failed", "error"),
    ],
)
def test_a_status_is_read_by_its_words(status: str, state: str) -> None:
    assert statuses.state_of(status) == state
    item = item_of(f'---\nid: task-1\nstatus: "{status}"\n---\n')
    assert (item.state, item.status) == (state, status)


def test_an_unknown_status_is_open_and_a_problem() -> None:
    listing = parse("---\nid: task-1\nstatus: Zzz\n---\n")
    assert [i.state for i in listing.items] == ["new"]
    assert [p.line for p in listing.problems] == [3]


@pytest.mark.parametrize(
    ("place", "status", "state"),
    [
        ("backlog/tasks", "To Do", "new"),
        ("backlog/completed", "Done", "done"),
        ("backlog/archive/tasks", "To Do", "cancelled"),
        ("backlog/archive/tasks", "In Progress", "cancelled"),
        ("backlog/archive/tasks", "Done", "done"),
        (".backlog/archive/tasks", "To Do", "cancelled"),
    ],
)
def test_what_was_archived_undone_is_cancelled(place: str, status: str, state: str) -> None:
    path = f"{place}/task-1 - A.md"
    assert item_of(f"---\nid: task-1\nstatus: {status}\n---\n", path).state == state


def test_names_with_an_at_sign_are_no_problem() -> None:
    for written in ("assignee: @codex", "assignee: [@codex]", "assignee:\n  - @codex"):
        listing = parse(f"---\nid: task-1\nstatus: Done\n{written}\n---\n")
        assert listing.problems == ()
        assert listing.items[0].owner == "codex"


def test_fields_that_are_not_quite_yaml_are_read_line_by_line() -> None:
    listing = parse("---\nid: task-7\ntitle: Fix: the thing\nstatus: 'Done'\n---\n")
    assert [(i.id, i.text, i.state) for i in listing.items] == [
        ("TASK-7", "Fix: the thing", "done")
    ]
    assert [p.line for p in listing.problems] == [3]


def test_what_the_fields_do_not_tell_the_name_does() -> None:
    item = item_of("# no fields\n", "backlog/tasks/back-355.01 - Core-Add-type.md")
    assert (item.id, item.text, item.parent) == ("BACK-355.01", "Core Add type", "BACK-355")
    assert (item.state, item.line) == ("new", 1)


def test_a_file_that_is_no_task_says_nothing() -> None:
    assert parse("# Tasks\n\nHow to.\n", "backlog/tasks/readme.md") == model.Listing(())


def test_a_task_without_an_id_is_a_problem() -> None:
    listing = parse("---\ntitle: a\n---\n", "backlog/tasks/notes.md")
    assert listing.items == ()
    assert len(listing.problems) == 1


def test_line_ends_and_byte_order_marks_change_nothing() -> None:
    item = item_of("\ufeff" + REAL.replace("\n", "\r\n"))
    assert item == item_of(REAL)
