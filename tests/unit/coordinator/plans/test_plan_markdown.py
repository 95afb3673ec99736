"""Plans in Markdown, as people write them: what is a task, and what its parts say."""

from __future__ import annotations

import pytest

from tether.coordinator.plans import markdown, model

SEED = """\
# Frost alarm

Some words about it.

### Phase 1: Sensor

#### Task 1-1-1: Read the sensor

**Work**: Read it once a minute.

Not more often.

**Acceptance Criteria**:
- [ ] run: `pytest -q tests/test_sensor.py`
- [x] It returns degrees

**Blocked By**: None

**Required Reading**: docs/sensor.md, docs/bus.md

**Files**: src/sensor.py

**Environment**: Python 3.11

**Priority**: high

### Phase 2: Bell

#### Task 1-1-2: Ring

**Blocked By**: 1-1-1
"""


def read(content: str) -> tuple[model.PlanTask, ...]:
    """The tasks of a plan with which nothing is wrong."""
    _, tasks, problems = markdown.read(content)
    assert problems == []
    return tasks


def task_of(*lines: str) -> model.PlanTask:
    """One task with these lines below its heading."""
    [task] = read("\n".join(("## Task T1: One", *lines)))
    return task


def said(content: str) -> list[tuple[int, str, str]]:
    _, _, problems = markdown.read(content)
    return [(each.line, each.task_id, each.message) for each in problems]


def texts(task: model.PlanTask) -> list[str]:
    return [each.text for each in task.criteria]


def test_a_plan_as_the_seed_writes_it_is_read_in_full() -> None:
    title, tasks, problems = markdown.read(SEED)
    assert (title, problems) == ("Frost alarm", [])
    assert tasks[0] == model.PlanTask(
        id="1-1-1",
        title="Read the sensor",
        work="Read it once a minute.\n\nNot more often.",
        criteria=(
            model.Criterion(
                "run: `pytest -q tests/test_sensor.py`", "pytest -q tests/test_sensor.py", 14
            ),
            model.Criterion("It returns degrees", "", 15),
        ),
        reading=("docs/sensor.md", "docs/bus.md"),
        files=("src/sensor.py",),
        environment="Python 3.11",
        phase="Phase 1: Sensor",
        priority="high",
        line=7,
        blocked_by_line=17,
    )
    assert (tasks[1].blocked_by, tasks[1].phase, tasks[1].line) == (
        ("1-1-1",), "Phase 2: Bell", 29,
    )  # fmt: skip


# Headings


@pytest.mark.parametrize(
    ("heading", "task_id", "title"),
    [
        ("## Task T1: One", "T1", "One"),
        ("###### Task T1: One", "T1", "One"),
        ("### task T1: One", "T1", "One"),
        ("### TASK T1:One", "T1", "One"),
        ("### Task T1 - One", "T1", "One"),
        ("### Task T1 \u2014 One: two", "T1", "One: two"),
        ("### Task 1-2-3: One - two", "1-2-3", "One - two"),
        ("### **Task T1**: One", "T1", "One"),
        ("### Task `T1`: One", "T1", "One"),
        ("### Task T1", "T1", ""),
        ("### Task T1: One ###", "T1", "One"),
        ("### Task setup: One", "setup", "One"),
    ],
)
def test_a_heading_names_a_task(heading: str, task_id: str, title: str) -> None:
    [task] = read(heading)
    assert (task.id, task.title, task.line) == (task_id, title, 1)


@pytest.mark.parametrize(
    "heading",
    ["# Task T1: One", "## Tasks", "## Task list", "## T1: One", "Task T1: One", "#Task T1:"],
)
def test_other_headings_are_none(heading: str) -> None:
    assert read(heading) == ()


def test_a_heading_that_was_meant_as_a_task_is_not_lost() -> None:
    assert said("# P\n\n## Task T1 Build it")[0][:2] == (3, "T1")


@pytest.mark.parametrize("name", ["föö", "a b", "../x", "-x", "x" * 65, "con"])
def test_an_invalid_id_is_an_error_that_does_not_repeat_it(name: str) -> None:
    _, tasks, [problem] = markdown.read(f"\n## Task {name}: x")
    assert (tasks, problem.line, problem.task_id) == ((), 2, "")
    assert "not a valid task id" in problem.message
    assert name == "con" or name not in problem.message


def test_the_parts_of_an_invalid_task_are_not_given_to_the_one_before() -> None:
    _, [task], _ = markdown.read("## Task T1: x\n## Task ü: y\n**Files**: a.py\n")
    assert task.files == ()


def test_code_is_never_structure() -> None:
    work = "```md\n## Task T9: no\n**Blocked By**: X\n- run: rm\n```"
    task = task_of(work, "", "**Files**: a.py")
    assert task.work == work
    assert (task.blocked_by, task.criteria) == ((), ())


def test_code_in_a_criterion_belongs_to_it() -> None:
    task = task_of("**Acceptance Criteria**", "- it prints", "  ```", "  run: x", "  ```", "- b")
    assert texts(task) == ["it prints\n```\nrun: x\n```", "b"]
    assert task.commands == ()


def test_comments_are_not_part_of_the_plan() -> None:
    lines = ("a <!-- **Files**: x --> b", "<!--", "**Blocked By**: X", "```", "hidden", "-->", "c")
    task = task_of(*lines, "- [ ] d <!-- e", "f --> g", "h")
    assert task.work == "a  b\nc\n- [ ] d\nh"
    assert task.blocked_by == ()


def test_front_matter_and_windows_line_ends_are_read() -> None:
    content = "\ufeff---\ntitle: x\n---\n# P\n## Task T1: One\n**Work**: a\nb\n"
    title, [task], problems = markdown.read(content.replace("\n", "\r\n"))
    assert (title, task.line, task.work, problems) == ("P", 5, "a\nb", [])


def test_a_deeper_heading_is_part_of_the_task() -> None:
    task = task_of("### Acceptance Criteria", "- a", "### Why", "Because.", "### Files", "- a.py")
    assert (texts(task), task.work, task.files) == (["a"], "### Why\nBecause.", ("a.py",))


def test_a_section_ends_the_task() -> None:
    assert task_of("a", "## Notes", "**Files**: b").files == ()


def test_a_rule_ends_the_criteria() -> None:
    task = task_of("**Acceptance Criteria**:", "- a", "", "---", "* * *", "***")
    assert texts(task) == ["a"]


# Labels


@pytest.mark.parametrize(
    "line",
    [
        "**Blocked By**: T2, T3",
        "**Blocked By:** T2, T3",
        "**Blocked By**:T2,T3",
        "**Blocked By** T2, T3",
        "__Blocked By__: T2, T3",
        "*Blocked by*: T2, T3",
        "**Blocked By: T2, T3**",
        "Blocked By: T2, T3",
        "blocked by: T2; T3",
        "Blocked-By: T2 and T3",
        "- **Blocked By**: T2, T3",
        "- Blocked By: T2, T3",
        "* **Blocked By:** `T2`, `T3`",
        "1. **Blocked By**: Task T2, Task T3.",
        "**Depends On**: tasks T2, T3",
        "**Blocked By**\n- T2\n- T3",
        "**Blocked By**:\n\n- T2 (the parser, and more)\n- T3: the lexer",
        "**Blocked By**:\nT2 - the parser,\nT3",
        "### Blocked By\n\nT2, T3",
    ],
)
def test_blockers_are_read_in_many_spellings(line: str) -> None:
    assert task_of(line).blocked_by == ("T2", "T3")


@pytest.mark.parametrize("word", ["none", "None", "None.", "-", "\u2014", "N/A", "nothing"])
def test_nothing_blocks(word: str) -> None:
    assert task_of(f"**Blocked By**: {word}", "", "Some remark.").blocked_by == ()


@pytest.mark.parametrize("word", ["the others", "T2 T3", "ü", "../x", "T2, a b"])
def test_blockers_that_are_no_ids_are_errors_on_their_line(word: str) -> None:
    assert [(line, name) for line, name, _ in said(f"## Task T1: x\n\n**Blocked By**: {word}")] == [
        (3, "T1")
    ]


def test_parts_come_in_any_order() -> None:
    task = task_of("**Priority**: P0", "**Files**: a.py", "**Acceptance**: b", "**Work**: c", "d")
    assert (task.priority, task.files, texts(task), task.work) == (
        "critical", ("a.py",), ["b"], "c\nd",
    )  # fmt: skip


def test_text_without_a_label_is_work() -> None:
    assert task_of("", "Do it.", "", "- first this").work == "Do it.\n\n- first this"


def test_unknown_labels_are_part_of_the_work() -> None:
    task = task_of("**Files**: a.py", "**Notes**: keep it small", "- **Owner**: me")
    assert task.files == ("a.py",)
    assert task.work == "**Notes**: keep it small\n- **Owner**: me"


def test_a_paragraph_after_a_list_goes_on_about_the_work() -> None:
    task = task_of("**Files**: a.py", "", "That is all.")
    assert (task.files, task.work) == (("a.py",), "That is all.")


def test_an_unknown_priority_counts_as_normal_with_a_warning() -> None:
    _, [task], [problem] = markdown.read("## Task T1: x\n**Priority**: soon")
    assert (task.priority, problem.line, problem.is_error) == ("normal", 2, False)


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("**Files**: src/a.py, ./src//b/", ("src/a.py", "src/b")),
        ("**Files**:\n- `src/a.py` \u2014 the parser, mostly\n- src/b", ("src/a.py", "src/b")),
        ("**Files**: [a](src/a.py), src/b", ("src/a.py", "src/b")),
        ("**Files**: `src/a.py`, Makefile, none", ("src/a.py", "Makefile")),
        ("**Files**: none", ()),
    ],
)
def test_files_are_paths_to_reserve(line: str, paths: tuple[str, ...]) -> None:
    assert task_of(line).files == paths


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../b"])
def test_files_outside_of_the_repository_are_errors(path: str) -> None:
    [(line, name, message)] = said(f"## Task T1: x\n**Files**: {path}")
    assert (line, name) == (2, "T1")
    assert path not in message


# Criteria


@pytest.mark.parametrize(
    "lines",
    [
        "**Acceptance Criteria**:\n- [ ] a\n- [x] b",
        "**Acceptance Criteria**\n\n* a\n* b",
        "**Acceptance Criteria**:\n1. a\n2. b",
        "- **Acceptance Criteria**:\n  - [ ] a\n  - b",
        "- **Acceptance Criteria**: a\n  - b",
        "Acceptance Criteria: a\n- b",
        "### Acceptance criteria\n\na\n\nb",
        "**Acceptance Criteria**:\n- a\n\nb",
    ],
)
def test_criteria_are_read_in_many_spellings(lines: str) -> None:
    assert texts(task_of(lines)) == ["a", "b"]


def test_a_criterion_goes_on_over_lines() -> None:
    task = task_of("**Acceptance Criteria**:", "- a", "  goes on", "lazily", "", "  and on", "- b")
    assert texts(task) == ["a\ngoes on\nlazily\nand on", "b"]


def test_a_bullet_below_a_label_is_an_item_and_not_a_label() -> None:
    task = task_of("**Acceptance Criteria**:", "- Files: all are there", "- [ ] **Work**: done")
    assert texts(task) == ["Files: all are there", "**Work**: done"]
    nested = task_of("- **Acceptance Criteria**:", "  - **Files**: all there", "- **Files**: a.py")
    assert (texts(nested), nested.files) == (["**Files**: all there"], ("a.py",))


@pytest.mark.parametrize(
    "lines",
    [
        "**Acceptance Criteria**:\n**Automated**:\n- run: make\n\n*By hand*:\n- b\n**Files**: c",
        "### Acceptance Criteria\n#### Automated\n- run: make\n#### By hand\n- b\n### Files\n- c",
    ],
)
def test_groups_of_criteria_keep_their_criteria(lines: str) -> None:
    task = task_of(lines)
    assert (texts(task), task.commands, task.files) == (["run: make", "b"], ("make",), ("c",))


def test_only_criteria_have_commands() -> None:
    task = task_of("run: a", "- run: b", "**Work**: run: c", "**Files**: d", "", "run: e")
    assert (task.commands, task.criteria) == ((), ())


def test_a_refused_command_names_its_line() -> None:
    content = "## Task T1: x\n**Acceptance Criteria**:\n- fine\n- run:\n- run: `a` `b`\n"
    assert [(line, name) for line, name, _ in said(content)] == [(4, "T1"), (5, "T1")]


def test_a_line_that_the_scanner_would_cut_is_no_command() -> None:
    line = "- run: echo " + "a" * 5000
    content = f"## Task T1: x\n**Acceptance Criteria**:\n{line}\n"
    assert markdown.read(content)[1][0].commands == ()
    assert [line for line, _, _ in said(content)] == [3, 3]


def test_a_list_that_the_scanner_would_cut_is_an_error() -> None:
    names = ", ".join(f"T{n}" for n in range(2, 1500))
    assert [line for line, _, _ in said(f"## Task T1: x\n**Blocked By**: {names}")] == [2]
    assert said(f"## Task T1: x\n**Work**: {names}") == []


@pytest.mark.parametrize("label", ["Blocks", "Blocked", "Prerequisites", "Dependent tasks"])
def test_a_label_that_sounds_like_waiting_is_not_passed_over(label: str) -> None:
    _, [task], [problem] = markdown.read(f"## Task T1: x\n- **{label}**: T2\n")
    assert (task.blocked_by, problem.line, problem.is_error) == ((), 2, False)
