"""Lists of checkboxes as CODITECT writes its tracks: what counts, and what it says."""

from __future__ import annotations

import pytest

from tether.tasks.sources import checkboxes, dialects, model, steps

TRACK = dialects.CHECKBOXES["track"]
PATH = "internal/project/plans/pilot-tracks/TRACK-H-FRAMEWORK.md"


def parse(content: str, path: str = PATH) -> model.Listing:
    listing = checkboxes.parse(content, TRACK, path)
    assert steps.states_in(content, TRACK, path) == {i.id: i.state for i in listing.items}
    return listing


def states_of(content: str) -> dict[str, str]:
    return {item.id: item.state for item in parse(content).items}


def item_of(content: str) -> model.Item:
    [item] = parse(content).items
    return item


REAL = """\
---
title: "Track H: Framework"
track: H
priority: P1
progress: 45%
agent: senior-architect
---

# Track H: Framework Autonomy

**Agent:** `devops-engineer` | **Priority:** P0

## H.1 Message bus (P2)

- [x] **H.1.1** Write the schema [abc1234]
  - [x] tables
  - [ ] indexes
    - [-] the one nobody needs
- [X] **H.1.10**: Replay (Agent: backend-expert)
* [~] **H.1.1.1:** Sub-step of the first @bob
1. [ ] `H.1.2` — Retry with back-off (P0)
+ [-] H.1.3: Broadcast to all

### H.1.6: Delivery

**Agent:** testing-specialist

- [ ] H.1.6.1 At least once
- [x] H.1.6.2.1 Exactly once
- [ ] a box without an id

## H.2 Empty
"""


def test_a_real_track_is_read_in_full() -> None:
    listing = parse(REAL)
    assert [(i.id, i.line, i.state, i.text) for i in listing.items] == [
        ("H.1.1", 15, "done", "Write the schema"),
        ("H.1.10", 19, "done", "Replay"),
        ("H.1.1.1", 20, "in_progress", "Sub-step of the first"),
        ("H.1.2", 21, "new", "Retry with back-off"),
        ("H.1.3", 22, "cancelled", "Broadcast to all"),
        ("H.1.6.1", 28, "new", "At least once"),
        ("H.1.6.2.1", 29, "done", "Exactly once"),
    ]
    assert listing.problems == ()
    assert {i.track for i in listing.items} == {"H"}
    assert {i.path for i in listing.items} == {PATH}


def test_owners_come_from_the_item_then_the_section_then_the_front() -> None:
    owners = {i.id: i.owner for i in parse(REAL).items}
    assert owners["H.1.10"] == "backend-expert"
    assert owners["H.1.1.1"] == "bob"
    assert owners["H.1.1"] == "devops-engineer"
    assert owners["H.1.6.1"] == "testing-specialist"
    assert item_of("---\nagent: senior-architect\n---\n- [ ] H.1.1 a\n").owner == "senior-architect"


def test_priorities_come_from_the_item_then_the_section_then_the_front() -> None:
    priorities = {i.id: i.priority for i in parse(REAL).items}
    assert priorities["H.1.2"] == "critical"
    assert priorities["H.1.1"] == "normal"
    assert item_of("---\npriority: P1\n---\n- [ ] H.1.1 a\n").priority == "high"
    assert item_of("- [ ] H.1.1 a\n").priority == "normal"


def test_progress_is_cumulative_and_leaves_out_what_is_cancelled() -> None:
    progress = {p.section: (p.done, p.total) for p in parse(REAL).progress}
    assert progress == {
        "": (3, 7),
        "H.1 Message bus (P2)": (3, 7),
        "H.1.6: Delivery": (1, 3),
    }
    whole = parse(REAL).progress[0]
    assert (whole.track, whole.line, whole.stated_percent) == ("H", 1, 45)


def test_boxes_below_a_task_are_its_parts() -> None:
    parts = {i.id: (i.parts_done, i.parts_total) for i in parse(REAL).items}
    assert parts["H.1.1"] == (1, 2)
    assert parts["H.1.10"] == (0, 0)


def test_parents_are_found_by_indentation_and_then_by_the_id() -> None:
    parents = {i.id: i.parent for i in parse(REAL).items}
    assert parents == {
        "H.1.1": "H.1",
        "H.1.10": "H.1",
        "H.1.1.1": "H.1.1",
        "H.1.2": "H.1",
        "H.1.3": "H.1",
        "H.1.6.1": "H.1.6",
        "H.1.6.2.1": "H.1.6",
    }
    indented = "- [ ] H.5.1 a\n  - [ ] H.9.9 b\n"
    assert {i.id: i.parent for i in parse(indented).items} == {"H.5.1": "", "H.9.9": "H.5.1"}


# Seed 000, traps that are about lists


def test_h_1_1_and_h_1_10_and_h_1_1_1_are_three_tasks() -> None:
    content = "- [x] H.1.1 a\n- [ ] H.1.10 b\n- [~] H.1.1.1 c\n"
    assert states_of(content) == {"H.1.1": "done", "H.1.10": "new", "H.1.1.1": "in_progress"}


def test_two_letters_and_lower_case_files() -> None:
    path = "plans/tracks/track-aa-legal.md"
    [item] = parse("- [ ] **AA.3.2** Sign\n", path).items
    assert (item.id, item.track) == ("AA.3.2", "AA")


@pytest.mark.parametrize(
    ("mark", "state"),
    [(" ", "new"), ("x", "done"), ("X", "done"), ("~", "in_progress"), ("-", "cancelled")],
)
@pytest.mark.parametrize("bullet", ["-", "*", "+", "1.", "12)"])
def test_every_mark_with_every_bullet(mark: str, state: str, bullet: str) -> None:
    assert states_of(f"{bullet} [{mark}] A.1.1 text\n") == {"A.1.1": state}


@pytest.mark.parametrize("mark", ["/", "!", ">", "?", "\u2713", ""])
def test_an_unknown_mark_is_open_and_a_problem(mark: str) -> None:
    listing = parse(f"# T\n- [{mark}] A.1.1 text\n")
    assert [i.state for i in listing.items] == ["new"]
    assert [p.line for p in listing.problems] == [2]


@pytest.mark.parametrize("line", ["- [a] A reference", "- [1] Another", "- [x](url) A.1.1 a link"])
def test_a_letter_in_brackets_is_no_box(line: str) -> None:
    listing = parse(line + "\n")
    assert (listing.items, listing.progress, listing.problems) == ((), (), ())


@pytest.mark.parametrize(
    "written",
    [
        "**A.1.1** text",
        "**A.1.1**: text",
        "**A.1.1:** text",
        "A.1.1 — text",
        "A.1.1 – text",
        "A.1.1 - text",
        "A.1.1: text",
        "A.1.1. text",
        "A.1.1) text",
        "A.1.1 text",
        "`A.1.1` text",
        "`A.1.1`: text",
        "[A.1.1] text",
        "**[A.1.1]** text",
        "_A.1.1_ text",
        "__A.1.1__ text",
        "**A.1.1 text**",
        "**A.1.1 — text**",
        "**A.1.1: text**",
        "**Task A.1.1:** text",
        "Task A.1.1: text",
        "A.1.1 | text",
        "A.1.1 text [abc1234]",
        "A.1.1 text [0123456789abcdef0123456789abcdef01234567]",
        "A.1.1 text (abc1234)",
        "A.1.1 text (commit: `abc1234`)",
        "A.1.1 text [checkpoint: abc1234]",
        "A.1.1 text <!-- a remark -->",
        "A.1.1 text (P0)",
        "A.1.1 [P1] text",
        "A.1.1 **P2** text",
        "A.1.1 P3: text",
        "A.1.1 text P0",
        "A.1.1 text — P1",
        "A.1.1 text (Priority: P0)",
        "A.1.1 text (Agent: x)",
        "A.1.1 text **Agent:** x",
        "A.1.1 text — Agent: `x`",
        "A.1.1 text @x",
        "A.1.1 text (@x)",
        "A.1.1 text (P0) (Agent: x) [abc1234]",
    ],
)
def test_an_id_is_found_however_it_is_set_and_the_text_is_bare(written: str) -> None:
    item = item_of(f"- [ ] {written}\n")
    assert (item.id, item.text) == ("A.1.1", "text")


@pytest.mark.parametrize(
    ("text", "owner", "priority"),
    [
        ("Parse the User-Agent: header", "", "normal"),
        ("Publish @types/node", "", "normal"),
        ("Mail to bob@example.com", "", "normal"),
        ("Fix the P0 incidents of May", "", "normal"),
        ("Fix it (P0)", "", "critical"),
        ("Review P2P code", "", "normal"),
        ("Do it [Agent: a-b.c]", "a-b.c", "normal"),
        ("Do it **Owner:** @ann", "ann", "normal"),
    ],
)
def test_annotations_are_told_from_text(text: str, owner: str, priority: str) -> None:
    item = item_of(f"- [ ] A.1.1 {text}\n")
    assert (item.owner, item.priority) == (owner, priority)
    if not owner and priority == "normal":
        assert item.text == text


def test_an_agent_on_a_line_of_its_own_belongs_to_the_task_above_it() -> None:
    content = "- [ ] A.1.1 a\n  - **Agent:** x\n  - **Priority:** High\n- [ ] A.1.2 b\n"
    assert [(i.owner, i.priority) for i in parse(content).items] == [("x", "high"), ("", "normal")]


def test_five_levels_are_an_id_and_six_are_not() -> None:
    listing = parse("- [ ] A.1.2.3.4 five\n- [ ] A.1.2.3.4.5 six\n- [ ] A.0.1 zero\n")
    assert [i.id for i in listing.items] == ["A.1.2.3.4"]
    assert [p.line for p in listing.problems] == [2, 3]
    assert (listing.progress[0].done, listing.progress[0].total) == (0, 3)


def test_consolidated_ids_are_aliases_and_no_tasks() -> None:
    content = """\
- [ ] A.11 new one

## Task Consolidation Log

| Old | New | Why |
|-----|-----|-----|
| A.7 | A.11 | the same |
| `A.6.1` | **A.11.2** (see A.12) | |

- A.8 → A.10.3
- [x] A.9 -> A.12
* A.1.1, A.1.2 => A.2
- A.5 was merged into A.11
- A.11 → A.11
- nothing to see in A.3

### Details

A.4 → A.10

## Later

A.20 → A.21
- [ ] A.30 a task
"""
    listing = parse(content)
    assert [i.id for i in listing.items] == ["A.11", "A.30"]
    assert dict(listing.aliases) == {
        "A.7": "A.11",
        "A.6.1": "A.11.2",
        "A.8": "A.10.3",
        "A.9": "A.12",
        "A.1.1": "A.2",
        "A.1.2": "A.2",
        "A.5": "A.11",
        "A.4": "A.10",
    }


# What does not count


@pytest.mark.parametrize(
    "hidden",
    [
        "```\n{}\n```",
        "~~~\n{}\n~~~",
        "````md\n```\n{}\n```\n````",
        "   ```python\n{}\n   ```",
        "- item\n  ```\n  {}\n  ```",
        "1. item\n   ~~~\n   {}\n   ~~~",
        "- ```\n  {}\n  ```",
        "- a\n  - b\n    ```\n    {}\n    ```",
        "<!-- {} -->",
        "<!--\n{}\n-->",
        "<!-- a --> {}",
        "text <!-- begins\n{}\nends -->",
        "<!-- one\n--> <!-- two\n{}\n-->",
        "> {}",
    ],
)
def test_code_and_comments_do_not_count(hidden: str) -> None:
    content = hidden.format("- [ ] A.9.9 hidden") + "\n\n- [x] A.1.1 seen\n"
    assert states_of(content) == {"A.1.1": "done"}


@pytest.mark.parametrize(
    "before",
    [
        "Write `<!--` to begin a comment.",
        "It begins with <!-- and never ends.",
        "Use ``` in a line of text.",
        "```inline``` code",
        "\\`\\`\\`",
        "a paragraph\n\n        ```",
        "- item\n  ```\n  code without an end\n\nThe item has ended.\n",
        "~~struck~~",
    ],
)
def test_what_only_looks_like_code_or_a_comment_hides_nothing(before: str) -> None:
    assert states_of(f"{before}\n\n- [x] A.1.1 seen\n") == {"A.1.1": "done"}


def test_a_code_block_without_an_end_goes_on_to_the_end() -> None:
    assert states_of("- [x] A.1.1 a\n\n```\n- [ ] A.1.2 b\n") == {"A.1.1": "done"}


def test_a_comment_without_an_end_goes_on_to_the_end() -> None:
    assert states_of("- [x] A.1.1 a\n<!--\n- [ ] A.1.2 b\n") == {"A.1.1": "done"}


# Where boxes belong


def test_a_plain_bullet_ends_the_task_before_it() -> None:
    content = "- [x] A.1.1 a\n- Notes\n  - [ ] later\n"
    listing = parse(content)
    assert (listing.items[0].parts_total, listing.progress[0].total) == (0, 2)


def test_parts_are_found_through_plain_bullets_and_tabs() -> None:
    content = "- [ ] A.1.1 a\n\t- step\n\t\t- [x] one\n\t- [ ] two\n"
    item = item_of(content)
    assert (item.parts_done, item.parts_total) == (1, 2)


def test_a_heading_ends_every_task() -> None:
    listing = parse("- [ ] A.1.1 a\n## Next\n  - [x] box\n")
    assert listing.items[0].parts_total == 0
    assert [(p.section, p.done, p.total) for p in listing.progress] == [("", 1, 2), ("Next", 1, 1)]


def test_sections_with_an_id_have_progress_even_if_only_those_below_have_boxes() -> None:
    content = "# Title\n## A.1 Above\n### Below\n- [x] A.1.1 a\n### Other\n- [ ] box\n## Empty\n"
    progress = [(p.section, p.line, p.done, p.total) for p in parse(content).progress]
    assert progress == [
        ("", 1, 1, 2),
        ("A.1 Above", 2, 1, 2),
        ("Below", 3, 1, 1),
        ("Other", 5, 0, 1),
    ]


def test_the_first_of_two_with_one_id_counts() -> None:
    listing = parse("- [x] A.1.1 a\n- [ ] A.1.1 b\n  - [x] part\n")
    assert [(i.text, i.state, i.parts_total) for i in listing.items] == [("a", "done", 1)]
    [problem] = listing.problems
    assert problem.line == 2
    assert "A.1.1" in problem.message
    assert "line 1" in problem.message
    assert listing.progress[0].total == 1


# Whatever the bytes


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", ["", "end"])
def test_line_ends_and_byte_order_marks_change_nothing(end: str, mark: str, last: str) -> None:
    content = mark + REAL.replace("\n", end) + (last or "")
    assert parse(content)[:2] == parse(REAL)[:2]
    assert states_of(mark + "- [x] A.1.1 a" + end) == {"A.1.1": "done"}


def test_front_matter_that_cannot_be_read_is_a_problem_and_the_rest_counts() -> None:
    listing = parse("---\ntitle: a: b\ntrack: H\n---\n- [ ] H.1.1 a\n")
    assert [p.line for p in listing.problems] == [2]
    assert [(i.id, i.track, i.line) for i in listing.items] == [("H.1.1", "H", 5)]


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert states_of("---\n\n- [ ] H.1.1 a\n") == {"H.1.1": "new"}


def test_a_line_of_ten_megabytes_is_read() -> None:
    long = "x" * 10_000_000
    listing = parse(f"- [ ] A.1.1 {long}\n- [x] A.1.2 b\n{long}\n<!-- {long}\n{'`' * 1_000_000}\n")
    assert [i.id for i in listing.items] == ["A.1.1", "A.1.2"]
    assert len(listing.items[0].text) <= 1000


@pytest.mark.parametrize("unit", ["<!-- ", "`<!-- ", "<!-- --> ", "- [ ] ", "[", "**", "\t", "# "])
def test_no_line_takes_long(unit: str) -> None:
    line = unit * (1_000_000 // len(unit))
    assert states_of(f"a {line}\n- [ ] {line}\n{line}\n") == {}


def test_control_characters_do_not_reach_the_text() -> None:
    item = item_of("- [ ] A.1.1 a\x1b[31mred\u202e\n")
    assert item.text == "ared"


def test_problems_are_bounded() -> None:
    content = "- [!] box\n" * 5000
    assert len(parse(content).problems) == checkboxes.MAX_PROBLEMS
