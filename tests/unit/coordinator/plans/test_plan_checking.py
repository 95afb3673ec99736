"""All that is wrong with a plan, at once, each with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tether.coordinator.plans import checking, model, overlaps, reading

HEAD = "# Plan\n\n"
CIRCLE = """\
## Task T0: a
## Task T1: a
Blocked By: T3
## Task T2: b
Blocked By: T1
## Task T3: c
Blocked By: T2
"""
DONE = "**Acceptance Criteria**: run: make\n"


def told(top: Path, content: str, *, errors: bool) -> list[tuple[int, str, str]]:
    plan, problems = reading.parse("plan.md", content.encode())
    found = reading.together(plan, problems, str(top))
    return [(e.line, e.task_id, e.message) for e in found if e.is_error is errors]


def warned(top: Path, *tasks: str) -> list[tuple[int, str, str]]:
    return told(top, HEAD + "\n".join(tasks), errors=False)


def refused(top: Path, content: str) -> list[tuple[int, str]]:
    return [(line, message) for line, _, message in told(top, content, errors=True)]


def task(name: str, *lines: str, files: str = "") -> str:
    own = [f"**Files**: {files or f'src/{name}.py'}", *lines]
    return "\n".join([f"## Task {name}: x", DONE.rstrip(), *own])


def test_a_plan_in_order_has_no_problems(tmp_path: Path) -> None:
    content = HEAD + task("T1") + "\n" + task("T2", "**Blocked By**: T1")
    assert told(tmp_path, content, errors=True) == told(tmp_path, content, errors=False) == []


@pytest.mark.parametrize(
    ("content", "line", "why"),
    [
        ("", 1, "no tasks"),
        ("# Plan\n\n## Notes\n", 1, "no tasks"),
        (f"## Task T1: a\n{DONE}## Task T1: b\n{DONE}", 3, "same id: line 1"),
        (f"## Task T1: a\n{DONE}## Task t1: b\n{DONE}", 3, "upper and lower case: line 1"),
        (f"## Task T1: a\n## Task T2: b\n{DONE}**Blocked By**: T9\n", 4, "T9, which is no task"),
        ("## Task T1: a\n## Task T2: b\n**Blocked By**: T2\n", 3, "blocked by itself"),
        (
            CIRCLE,
            3,
            "in a circle: T1 → T3 → T2 → T1",
        ),
        ("\xff", 1, "no tasks"),
    ],
)
def test_an_error_is_told_with_its_line(tmp_path: Path, content: str, line: int, why: str) -> None:
    [(found, message)] = refused(tmp_path, content)
    assert (found, why in message) == (line, True), message


def test_nobody_can_begin(tmp_path: Path) -> None:
    content = "## Task T1: a\nBlocked By: T2\n## Task T2: b\nBlocked By: T1\n"
    assert [line for line, _ in refused(tmp_path, content)] == [1, 2]


def test_all_errors_are_told_at_once(tmp_path: Path) -> None:
    content = (
        "## Task T1: a\n## Task T1: b\n## Task ö: c\n## Task T2: d\nBlocked By: T2, T9, x y\n"
        "## Task T3: e\n**Acceptance**: run:\nBlocked By: T4\n## Task T4: f\nBlocked By: T3\n"
    )
    lines = [line for line, _ in refused(tmp_path, content)]
    assert lines == [2, 3, 5, 5, 5, 7, 8]


def test_what_is_no_text_is_told_with_its_line(tmp_path: Path) -> None:
    plan, problems = reading.parse("plan.md", b"# P\n\xff\n")
    [problem] = reading.together(plan, problems, str(tmp_path))
    assert (problem.line, problem.message) == (2, "it is not UTF-8 text")


def test_a_plan_without_tasks_that_cannot_be_read_has_one_problem(tmp_path: Path) -> None:
    plan, problems = reading.parse("plan.yaml", b"tasks: [")
    assert len(reading.together(plan, problems, str(tmp_path))) == 1


def test_too_many_tasks_are_refused() -> None:
    some = tuple(model.PlanTask(f"T{n}") for n in range(checking.MAX_TASKS + 1))
    [problem] = checking.check(model.Plan("p.md", "", some), "/nonexistent")
    assert str(checking.MAX_TASKS) in problem.message


def test_ids_from_elsewhere_are_checked_and_not_repeated() -> None:
    bad = model.PlanTask("\x1b[31m", blocked_by=("\x1b]0;",), line=3)
    found = checking.check(model.Plan("p.md", "", (bad,)), "/nonexistent")
    assert {each.line for each in found if each.is_error} == {3}
    assert all("\x1b" not in each.message + each.task_id for each in found)


# Warnings


@pytest.mark.parametrize(
    ("lines", "line", "why"),
    [
        ("", 3, "no acceptance criteria"),
        ("**Acceptance**: it prints 3 lines", 3, "none of its criteria is a command"),
        ("**Acceptance**:\n- run: make\n- works correctly", 6, '"works correctly" cannot'),
        ("**Acceptance**:\n- run: make\n- Run: make all", 6, "this is no command"),
        (f"{DONE}**Required Reading**: docs/a.md", 3, "docs/a.md is not there"),
        (f"{DONE}**Required Reading**: ../a.md", 3, "../a.md lies outside"),
        (f"{DONE}**Required Reading**: /etc/passwd", 3, "lies outside"),
    ],
)
def test_a_warning_is_told_with_its_line(tmp_path: Path, lines: str, line: int, why: str) -> None:
    [(found, name, message)] = warned(tmp_path, f"## Task T1: x\n{lines}")
    assert (found, name, why in message) == (line, "T1", True), message


def test_reading_that_is_there_is_in_order(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("x")
    reading_ = "docs/a.md, ./docs/a.md, docs, docs/a.md#part, https://example.org/x, docs/*.md"
    assert warned(tmp_path, task("T1", f"**Required Reading**: {reading_}")) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/a.py", "src/a.py"),
        ("src/a.py", "SRC/A.py"),
        ("src", "src/a/b.py"),
        ("src/a/b.py", "src"),
        ("src/*.py", "src/a.py"),
        ("src/a.py", "src/**"),
        ("src/**/a.py", "src/x/*.py"),
    ],
)
def test_tasks_side_by_side_that_change_the_same_files(
    tmp_path: Path, one: str, other: str
) -> None:
    tasks = (task("T1", files=one), task("T2", files=other), task("T3", files="docs"))
    [(_, name, message)] = warned(tmp_path, *tasks)
    assert (name, "as T1 does" in message) == ("T2", True)
    after = task("T2", "**Blocked By**: T1", files=other)
    assert warned(tmp_path, task("T1", files=one), after) == []


def test_tasks_side_by_side_that_name_no_files(tmp_path: Path) -> None:
    bare = [f"## Task T{n}: x\n{DONE}" for n in range(1, 9)]
    assert warned(tmp_path, bare[0]) == []
    [(line, name, message)] = warned(tmp_path, bare[0], task("T2"))
    assert (line, name, "beside others" in message) == (3, "T1", True)
    [(_, _, message)] = warned(tmp_path, *bare)
    assert message.endswith("T1, T2, T3, T4, T5 and 3 more")


def test_wildcards_without_end_are_not_compared_without_end() -> None:
    wild = "**/a" * 90 + "/"
    level = [model.PlanTask(f"T{n}", files=(f"{wild}{n}",)) for n in range(500)]
    assert list(overlaps.overlaps([level])) is not None
