"""The copy of a plan that a run keeps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tether import errors
from tether.coordinator.plans import encoding, model

TASK = model.PlanTask(
    "T1", "One", "Do it.", (model.Criterion("run: make", "make", 4),), ("T0",), line=3
)
PLAN = model.Plan("plan.md", "Plan", (TASK, model.PlanTask("T0", line=9)))


def test_a_copy_says_the_same() -> None:
    assert encoding.decode(encoding.encode(PLAN)) == PLAN


def test_any_text_can_be_kept() -> None:
    odd = PLAN._replace(title="\0\ud800\u2028 é")
    assert encoding.decode(encoding.encode(odd)) == odd


def test_lines_do_not_count_for_the_digest_and_everything_else_does() -> None:
    criterion = TASK.criteria[0]
    moved = TASK._replace(line=30, blocked_by_line=31, criteria=(criterion._replace(line=32),))
    assert encoding.digest(PLAN._replace(tasks=(moved, PLAN.tasks[1]))) == encoding.digest(PLAN)
    changed: dict[str, Any] = {
        "title": "x", "work": "x", "criteria": (), "blocked_by": (), "reading": ("x",),
        "files": ("x",), "environment": "x", "phase": "x", "priority": "low", "source": "x",
    }  # fmt: skip
    tasks = [TASK._replace(**{name: value}) for name, value in changed.items()]
    others = [PLAN._replace(tasks=(task, PLAN.tasks[1])) for task in tasks]
    others += [PLAN._replace(title="x"), PLAN._replace(tasks=PLAN.tasks[::-1])]
    digests = {encoding.digest(each) for each in (PLAN, *others)}
    assert len(digests) == len(others) + 1


def test_the_digest_stays_the_same_over_versions() -> None:
    """A run that was started by an older Tether must not find its plan changed."""
    known = "ce5303d34bcb851cc53245d3839873744a314b57cb30dd139f715df84933a909"
    assert encoding.digest(PLAN) == known


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff",
        b"[" * 100_000,
        b'{"version":2,"file":"a","title":"","tasks":[]}',
        b'{"version":1,"file":"a","title":""}',
        b'{"version":1,"file":"a","title":"","tasks":{}}',
        b'{"version":1,"file":"a","title":"","tasks":[[]]}',
        b'{"version":1,"file":"a","title":"","tasks":[{}]}',
        b'{"version":1,"file":"a","title":"","tasks":[{"id":1}]}',
        b'{"version":1,"file":"a","title":"","tasks":[{"id":"../x"}]}',
        b'{"version":1,"file":"a","title":"","tasks":[{"id":"T1","blocked_by":["/"]}]}',
        b'{"version":1,"file":"a","title":"","tasks":[{"id":"T1","line":"3"}]}',
        b'{"version":1,"file":"a","title":"","tasks":[{"id":"T1","criteria":["x"]}]}',
        b'{"version":1,"file":"a","title":"","tasks":[{"id":"T1","more":1}]}',
        b'{"version":1,"file":1,"title":"","tasks":[]}',
    ],
)
def test_what_is_no_copy_is_refused(raw: bytes) -> None:
    with pytest.raises(errors.FileError):
        encoding.decode(raw)


def test_every_torn_copy_is_refused() -> None:
    whole = encoding.encode(PLAN)
    for end in range(len(whole)):
        with pytest.raises(errors.FileError):
            encoding.decode(whole[:end])


def test_a_copy_is_one_line_of_sorted_json() -> None:
    raw = encoding.encode(PLAN)
    assert raw == json.dumps(json.loads(raw), sort_keys=True, separators=(",", ":")).encode()
