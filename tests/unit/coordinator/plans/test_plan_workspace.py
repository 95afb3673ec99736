"""The open tasks of a workspace as a plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from tether.coordinator.plans import model, reading, workspace
from tether.tasks import workdir
from tether.tasks.sources import finding
from tether.tasks.sources import model as lists_model

Read = tuple[dict[str, model.PlanTask], list[model.Problem]]


class Bench:
    """A checkout with tasks."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.work = workdir.Workdir(str(top))
        self.lists = finding.Lists()

    def file(self, place: str, name: str, **fields: str) -> None:
        path = self.top / "work" / place / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "".join(f"{key}: {value}\n" for key, value in {"id": name, **fields}.items())
        )

    def item(self, name: str, state: str = "new", **more: object) -> None:
        item = lists_model.Item("backlog", name, "backlog/x.md", 7, state, name.lower())
        made = item._replace(**more)  # type: ignore[arg-type]
        self.lists.add("backlog", lists_model.Listing((made,)))

    def read(self) -> Read:
        plan, problems = workspace.read(self.work, self.lists)
        assert plan.file == "work"
        return plan.by_id, reading.together(plan, problems, str(self.top))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_task_file_is_read_in_full(bench: Bench) -> None:
    bench.file(
        "inbox",
        "T1",
        title="One",
        status="new",
        priority="high",
        description="Do it.",
        plan="[first, then]",
        acceptance="['run: make', {run: make all}, it prints 3 lines]",
        context_files="[docs/a.md]",
        artefacts="[src/a.py, 'https://example.org']",
    )
    tasks, problems = bench.read()
    assert tasks["T1"] == model.PlanTask(
        "T1",
        "One",
        "Do it.\nfirst\nthen",
        (
            model.Criterion("run: make", "make"),
            model.Criterion("run: make all", "make all"),
            model.Criterion("it prints 3 lines"),
        ),
        reading=("docs/a.md",),
        files=("src/a.py", "https:/example.org"),
        priority="high",
        source="work",
    )
    assert [each.message for each in problems] == ["its reading docs/a.md is not there"]


def test_only_what_is_open_is_in_the_plan(bench: Bench) -> None:
    bench.file("inbox", "T1", status="new")
    bench.file("assigned/bo", "T2", status="assigned", agent="bo")
    bench.file("assigned/bo", "T3", status="in_progress", agent="bo")
    bench.file("assigned/bo", "T4", status="error", agent="bo")
    bench.file("inbox", "T5", status="new", cancelled="{by: me}")
    bench.file("done", "T6", status="done")
    bench.file("archive/2026-01", "T7", status="done")
    for state in ("new", "in_progress", "done", "error", "cancelled"):
        bench.item(f"B-{state}", state)
    assert sorted(bench.read()[0]) == ["B-in_progress", "B-new", "T1", "T2", "T3"]


def test_what_is_done_blocks_nobody(bench: Bench) -> None:
    bench.file("inbox", "T1", depends_on="[T2, T3, T4, B-1, B-2]")
    bench.file("inbox", "T2")
    bench.file("done", "T3", status="done")
    bench.file("archive/2026-01", "T4", status="done")
    bench.item("B-1", "done")
    bench.item("B-2", depends_on=("B-1", "B-3"))
    bench.item("B-3", acceptance=((True, "run: make"), (False, "b")), section="S", description="d")
    tasks, problems = bench.read()
    assert tasks["T1"].blocked_by == ("T2", "B-2")
    assert tasks["B-2"].blocked_by == ("B-3",)
    assert (tasks["B-3"].source, tasks["B-3"].phase, tasks["B-3"].work) == ("backlog", "S", "d")
    assert tasks["B-3"].commands == ("make",)
    assert [each for each in problems if each.is_error] == []


@pytest.mark.parametrize("state", ["unknown", "failed", "cancelled", "unreadable"])
def test_what_will_not_be_done_is_an_error(bench: Bench, state: str) -> None:
    bench.file("inbox", "T1", depends_on="[T2]")
    bench.file("inbox", "T9")
    if state == "failed":
        bench.file("assigned/bo", "T2", status="error", agent="bo")
    elif state == "cancelled":
        bench.file("archive/2026-01", "T2", status="new", cancelled="{by: me}")
    elif state == "unreadable":
        bench.file("inbox", "T2", title="[")
    [problem] = [each for each in bench.read()[1] if each.is_error]
    assert (problem.task_id, problem.message) == (
        "T1", "it is blocked by T2, which is no task of the plan",
    )  # fmt: skip


def test_a_file_that_cannot_be_read_is_told(bench: Bench) -> None:
    bench.file("inbox", "T1", title="[")
    bench.file("inbox", "T2", acceptance="[run: make]", artefacts="a")
    tasks, [problem] = bench.read()
    assert (list(tasks), problem.task_id, problem.is_error) == (["T2"], "T1", False)


def test_a_command_that_cannot_be_used_is_an_error(bench: Bench) -> None:
    bench.file("inbox", "T1", acceptance="['run:', 3]", artefacts="a")
    _, problems = bench.read()
    assert [(each.task_id, each.is_error) for each in problems[:2]] == [("T1", True), ("T1", False)]


def test_one_id_in_two_lists_is_an_error(bench: Bench) -> None:
    bench.file("inbox", "B-1")
    bench.item("B-1")
    assert any(each.is_error and "same id" in each.message for each in bench.read()[1])


def test_nothing_to_do_is_an_error(bench: Bench) -> None:
    _, [problem] = bench.read()
    assert (problem.message, problem.is_error) == ("there are no open tasks", True)


def test_tasks_stand_in_the_order_of_their_age(bench: Bench) -> None:
    bench.file("inbox", "A", created_at="2026-02-01T00:00:00Z")
    bench.file("inbox", "B", created_at="2026-01-01T00:00:00Z")
    bench.file("inbox", "C")
    assert list(bench.read()[0]) == ["B", "A", "C"]
