"""Plans in YAML: the same tasks, and every mistake with its line."""

from __future__ import annotations

import pytest

from tether.coordinator.plans import document, model

PLAN = """\
title: Frost alarm
tasks:
  - id: T1
    title: Read the sensor
    work: |
      Read it.
      acceptance: this is text
    acceptance:
      - run: pytest -q
      - It returns degrees
      - "run: `make`"
    required_reading: [docs/a.md, docs/b.md]
    files:
      - src/sensor.py
    environment: Python 3.11
    phase: 1
    priority: high
  # a remark
  - id: 2
    blocked_by: [T1]
    acceptance: it rings
"""


def said(content: str) -> list[tuple[int, str]]:
    _, _, problems = document.read(content.encode())
    assert all(each.is_error for each in problems)
    return [(each.line, each.message) for each in problems]


def test_a_plan_is_read_in_full() -> None:
    title, tasks, problems = document.read(PLAN.encode())
    assert (title, problems) == ("Frost alarm", [])
    assert tasks == (
        model.PlanTask(
            id="T1",
            title="Read the sensor",
            work="Read it.\nacceptance: this is text",
            criteria=(
                model.Criterion("run: pytest -q", "pytest -q", 9),
                model.Criterion("It returns degrees", "", 10),
                model.Criterion("run: `make`", "make", 11),
            ),
            reading=("docs/a.md", "docs/b.md"),
            files=("src/sensor.py",),
            environment="Python 3.11",
            phase="1",
            priority="high",
            line=3,
        ),
        model.PlanTask(
            id="2",
            criteria=(model.Criterion("it rings", "", 21),),
            blocked_by=("T1",),
            line=19,
            blocked_by_line=20,
        ),
    )


@pytest.mark.parametrize(
    "content",
    [
        "tasks:\n- id: T1\n  blocked_by: [T2, T3]\n",
        "tasks:\n- id: T1\n  blocked_by: T2, T3\n",
        "tasks:\n- id: T1\n  depends-on:\n  - T2\n  - T3\n",
        "tasks: [{id: T1, blocked_by: [T2, T3]}]\n",
        '{"tasks": [{"id": "T1", "Blocked By": ["T2", "T3"]}]}',
    ],
)
def test_blockers_are_read_in_many_spellings(content: str) -> None:
    _, [task], problems = document.read(content.encode())
    assert (task.blocked_by, problems) == (("T2", "T3"), [])


@pytest.mark.parametrize(
    ("content", "line", "why"),
    [
        ("", 1, "it is empty"),
        ("- a", 1, "not a list of fields"),
        ("tasks:\n  - id: T1\n  - id: 'x", 3, "cannot be read"),
        ("tasks: 3", 1, "no list"),
        ("title: [a]\ntasks: []", 1, "title is no text"),
        ("title: x\nstuff: 1\ntasks: []", 2, "no field 'stuff'"),
        ("tasks:\n  - T1\n", 2, "mapping"),
        ("tasks:\n  - title: x\n", 2, "not a valid task id"),
        ("tasks:\n  - id: 1.10\n", 2, "not a valid task id"),
        ("tasks:\n  - id: true\n", 2, "not a valid task id"),
        ("tasks:\n  - id: T1\n    blockedby: T2\n", 3, "no field 'blockedby'"),
        ("tasks:\n  - id: T1\n    7: T2\n", 2, "is no text"),
        ("tasks:\n  - id: T1\n    blocked_by: [1.10]\n", 3, "quotes"),
        ("tasks:\n  - id: T1\n    blocked_by: the others\n", 3, "no list of task ids"),
        ("tasks:\n  - id: T1\n    title: {a: b}\n", 3, "neither a text"),
        ("tasks:\n  - id: T1\n    files: ../x\n", 3, "below the top"),
        ("tasks:\n  - id: T1\n    acceptance:\n      - fine\n      - 3\n", 5, "a criterion is"),
        ("tasks:\n  - id: T1\n    acceptance:\n      - run: true\n", 4, "quotes"),
        ("tasks:\n  - id: T1\n    acceptance:\n      - run: a\n        x: b\n", 4, "beside"),
        (
            "tasks:\n  - id: T1\n    acceptance:\n      - run: |\n          a\n          b\n",
            4,
            "line",
        ),
        ("tasks:\n  - id: T1\n    acceptance: [run: '']\n", 3, "no command"),
        ("tasks:\n  - id: T1\n    title: a\n    title: b\n", 4, "twice"),
    ],
)
def test_a_mistake_is_told_with_its_line(content: str, line: int, why: str) -> None:
    [(found, message)] = said(content)
    assert (found, why in message) == (line, True), message


def test_all_mistakes_are_told_at_once() -> None:
    content = "x: 1\ntasks:\n  - 1\n  - id: T1\n    y: 1\n    z: 2\n"
    assert [line for line, _ in said(content)] == [1, 3, 5, 6]


@pytest.mark.parametrize(
    "content",
    [
        "a: &a [x, x]\nb: &b [*a, *a]\n" + "c: [" + "*b, " * 100 + "]",
        "tasks: " + "[" * 2000,
        "a:\n" + "".join(" " * n + "b:\n" for n in range(1, 300)),
        "- " * 5000,
        "tasks: !!python/object:os.system [x]",
        "\x00",
    ],
)
def test_hostile_texts_are_refused_in_words(content: str) -> None:
    assert said(content)


def test_untrusted_names_are_shown_cleaned_and_short() -> None:
    [(_, message)] = said('"\\e[31m' + "x" * 500 + '": 1\ntasks: []')
    assert "\x1b" not in message
    assert len(message) < 100
