"""How alerts are counted on histories with labels: every rule of it, on histories made by hand."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Tether
from tether import clock, errors, ids
from tether.bench import histories, orphans
from tether.vacuum import model, moments

START = clock.parse("2026-03-01T00:00:00Z")
Events = list[dict[str, Any]]
Rows = list[dict[str, Any]]


def at(day: float) -> str:
    """A time so many days after the first."""
    return clock.text(START + round(day * model.DAY_MS))


def event(day: float, kind: str, status: str = "", **more: Any) -> dict[str, Any]:
    return {"t": at(day), "kind": kind, **({"status": status} if status else {}), **more}


def claimed(day: float) -> dict[str, Any]:
    return event(day, "status", "in_progress")


def row(task: str, day: float, label: str, population: str = "claimed") -> dict[str, Any]:
    return {"task": task, "T": at(day), "population": population, "label": label}


def write(path: Path, lines: Iterable[dict[str, Any]]) -> str:
    content = "".join(json.dumps(line) + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return str(path)


class Desk:
    """Writes histories down, and has them measured."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def files(self, tasks: dict[str, Events], rows: Rows, name: str = "one") -> tuple[str, str]:
        timeline = [
            {"task": task, "corpus": name, "created": at(0), "events": events}
            for task, events in tasks.items()
        ]
        return (
            write(self.place / f"timeline_{name}.jsonl", timeline),
            write(self.place / f"labels_{name}.jsonl", rows),
        )

    def measure(self, tasks: dict[str, Events], rows: Rows) -> dict[str, Any]:
        return orphans.measure([self.files(tasks, rows)])

    def alerts(self, tasks: dict[str, Events], rows: Rows) -> tuple[int, int, int]:
        """Those that are right, those that are wrong, and those that are missing."""
        found = self.measure(tasks, rows)["alert"]
        return found["tp"], found["fp"], found["fn"]

    def alerted(self, events: Events, *days: float) -> list[bool]:
        """Is a task reported on each of these days? It says that it is open at first."""
        tasks = {"a": [event(0, "created", "open"), *events]}
        rows = [row("a", day, "active") for day in days]
        project = histories.read(*self.files(tasks, rows))
        return [each.is_alert for each in orphans.judged(project, model.Limits())]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


WORKED = [claimed(1), event(1.5, "commit")]


# Alerts


def test_only_the_first_report_of_a_spell_counts(desk: Desk) -> None:
    rows = [row("a", 10, "orphan"), row("a", 11, "active"), row("a", 12, "active")]
    found = desk.measure({"a": WORKED}, rows)
    assert (found["alert"]["tp"], found["alert"]["fp"], found["alert"]["fn"]) == (1, 0, 0)
    assert (found["instance"]["tp"], found["instance"]["fp"]) == (1, 2)
    late = [row("a", 10, "active"), row("a", 11, "orphan")]
    assert desk.alerts({"a": WORKED}, late) == (0, 1, 0)


def test_a_touch_begins_another_spell(desk: Desk) -> None:
    events = [*WORKED, event(12, "comment")]
    rows = [row("a", 10, "orphan"), row("a", 15, "active"), row("a", 21, "orphan")]
    assert desk.alerts({"a": events}, rows) == (2, 0, 0)
    # The control: without the touch it is one spell.
    assert desk.alerts({"a": WORKED}, rows) == (1, 0, 0)


def test_a_spell_with_an_orphan_that_nobody_reports_is_missed(desk: Desk) -> None:
    rows = [row("a", 2, "orphan"), row("a", 3, "orphan"), row("a", 4, "active")]
    assert desk.alerts({"a": WORKED}, rows) == (0, 0, 1)
    assert desk.alerts({"a": WORKED}, [row("a", 2, "active")]) == (0, 0, 0)


@pytest.mark.parametrize("label", ["ambiguous", "censored"])
def test_what_nobody_decided_counts_neither_way(desk: Desk, label: str) -> None:
    rows = [row("a", 3, "orphan"), row("a", 10, label), row("a", 11, "orphan")]
    found = desk.measure({"a": WORKED}, rows)
    assert found["alert"] == {
        "tp": 0, "fp": 0, "fn": 0, "precision": 0.0, "recall": 0.0, "fdr": 0.0,
    }  # fmt: skip
    instance = found["instance"]
    assert instance["tp"] + instance["fp"] + instance["fn"] + instance["tn"] == 2


def test_rates_are_what_their_names_say(desk: Desk) -> None:
    tasks = dict.fromkeys("abcd", WORKED)
    rows = [
        row("a", 10, "orphan"),
        row("b", 10, "active"),
        row("c", 10, "orphan"),
        row("d", 3, "orphan"),
        row("e", 3, "never_started", "never_started"),
        row("f", 3, "deferred", "deferred"),
    ]
    tasks |= {"e": [event(0, "created", "open")], "f": [event(0, "created", "deferred")]}
    found = desk.measure(tasks, rows)
    assert found["alert"] == {
        "tp": 2, "fp": 1, "fn": 1, "precision": 0.6667, "recall": 0.6667, "fdr": 0.3333,
    }  # fmt: skip
    assert found["instance"] == {
        "tp": 2, "fp": 1, "fn": 1, "tn": 2, "precision": 0.6667, "recall": 0.6667,
        "fpr": 0.3333, "never_started_flagged": 0,
    }  # fmt: skip
    assert found["projects"] == {"one": {"alert": found["alert"], "instance": found["instance"]}}


def test_a_task_that_never_started_and_is_reported_is_counted(desk: Desk) -> None:
    """The labels may be of another mind than the timeline."""
    found = desk.measure({"a": WORKED}, [row("a", 10, "never_started", "never_started")])
    assert found["instance"]["never_started_flagged"] == 1
    assert found["instance"]["fpr"] == 1.0
    assert found["alert"]["fp"] == 0  # alerts are of tasks that the tracker shows as begun


def test_projects_are_pooled(desk: Desk) -> None:
    first = desk.files({"a": WORKED}, [row("a", 10, "orphan")])
    second = desk.files({"a": WORKED}, [row("a", 10, "active")], "two")
    found = orphans.measure([first, second, first])
    assert list(found["projects"]) == ["one", "two", "one (2)"]
    assert [each["alert"]["tp"] for each in found["projects"].values()] == [1, 0, 1]
    assert (found["alert"]["tp"], found["alert"]["fp"]) == (2, 1)


def test_plain_silence_is_counted_beside_it(desk: Desk) -> None:
    days = (2, 3, 4, 5, 6, 9)
    rows = [row("a", day, "orphan" if day == 9 else "active") for day in days]
    found = desk.measure({"a": WORKED}, rows)["baselines"]
    told = {name: (each["alert"]["tp"], each["alert"]["fp"]) for name, each in found.items()}
    assert told == {"silent_24h": (0, 1), "silent_72h": (0, 1), "silent_7d": (1, 0)}


def test_intervals_are_by_task_and_can_be_repeated(desk: Desk) -> None:
    tasks = {f"t{number}": WORKED for number in range(20)}
    rows = [
        row(name, 10, "orphan" if number % 5 else "active") for number, name in enumerate(tasks)
    ]
    found = desk.measure(tasks, rows)
    intervals = found["intervals"]
    assert (intervals["level"], intervals["by"]) == (0.9, "task")
    low, high = intervals["precision"]
    assert low < found["alert"]["precision"] == 0.8 < high
    assert intervals["recall"] == [1.0, 1.0]
    assert desk.measure(tasks, rows) == found
    # Many spells of one task are one draw: they cannot narrow anything down.
    touches = [event(10 * number + 1, "commit") for number in range(20)]
    rows = [
        row("a", 10 * number + 10, "orphan" if number % 5 else "active") for number in range(20)
    ]
    alone = desk.measure({"a": touches}, rows)
    assert alone["alert"]["precision"] == 0.8
    assert alone["intervals"]["precision"] == [0.8, 0.8]


def test_what_hangs_on_one_batch_is_told(desk: Desk) -> None:
    """Tasks last touched in the same hour are one batch."""
    tasks = {f"t{number}": WORKED for number in range(9)}
    tasks |= {"alone": [claimed(1), event(3, "commit")]}
    rows = [row(name, 12, "active" if name == "alone" else "orphan") for name in tasks]
    found = desk.measure(tasks, rows)
    assert found["alert"]["precision"] == 0.9
    batches = found["batches"]
    assert (batches["largest"]["alert"]["tp"], batches["largest"]["alert"]["fp"]) == (9, 0)
    assert batches["without_largest"]["alert"]["precision"] == 0.0
    assert batches["intervals"]["by"] == "batch"
    # Two draws say less than ten.
    low, by_task = batches["intervals"]["precision"][0], found["intervals"]["precision"][0]
    assert low < by_task


# What the rules get to see


def test_a_plan_is_never_reported(desk: Desk) -> None:
    edited = [event(1, "content"), event(2, "assign", "open"), event(3, "comment")]
    reopened = [event(1, "status", "closed"), event(2, "status", "open")]
    for events in (edited, reopened, [event(1, "subcheck", checked=0, total=3)]):
        assert desk.alerted(events, 30, 90) == [False, False]


@pytest.mark.parametrize(
    "beginning",
    [
        event(0.5, "status", "in_progress"),
        event(0.5, "status", "hooked"),
        event(0.5, "admin", "assigned"),
        event(0.5, "commit"),
        event(0.5, "subcheck", checked=1, total=3),
    ],
    ids=["claim", "a claim of another name", "a claim by the way", "commit", "ticked part"],
)
def test_what_was_begun_is_reported(desk: Desk, beginning: dict[str, Any]) -> None:
    events = [beginning, event(1, "content"), event(1.1, "status", "open")]
    assert desk.alerted(events, 3, 30) == [False, True]
    # Before that it was a plan.
    late = {**beginning, "t": at(50)}
    assert desk.alerted([event(1, "content"), late], 40) == [False]


@pytest.mark.parametrize("kind", ["admin", "tracker_commit", "created"])
def test_bookkeeping_is_no_touch(desk: Desk, kind: str) -> None:
    assert desk.alerted([*WORKED, event(9, kind)], 10) == [True]
    assert desk.alerted([*WORKED, event(9, "content")], 10) == [False]


@pytest.mark.parametrize("kind", ["commit", "content", "comment", "subcheck"])
def test_a_claim_without_work_has_less_time(desk: Desk, kind: str) -> None:
    work = event(1, kind, checked=1, total=9)
    assert desk.alerted([claimed(1)], 5, 6) == [False, True]
    assert desk.alerted([claimed(1), work], 5, 6, 8.1) == [False, False, True]
    # To be given to somebody is no work.
    assert desk.alerted([claimed(1), event(1, "assign")], 5, 6) == [False, True]


def test_a_change_of_many_tasks_is_about_none_of_them(desk: Desk) -> None:
    tasks = {f"t{number}": [*WORKED, claimed(9)] for number in range(6)}
    found = desk.measure(tasks, [row("t0", 10, "orphan")])
    assert found["alert"]["tp"] == 1
    few = {name: tasks[name] for name in list(tasks)[:5]}
    assert desk.alerts(few, [row("t0", 10, "orphan")]) == (0, 0, 1)


def test_what_is_put_off_or_over_is_not_reported(desk: Desk) -> None:
    for status in ("deferred", "closed", "done", "cancelled", "tombstone"):
        assert desk.alerted([*WORKED, event(2, "status", status)], 60) == [False]
    # Taken back it is.
    again = [*WORKED, event(2, "status", "deferred"), event(3, "status", "in_progress")]
    assert desk.alerted(again, 60) == [True]


def test_the_parts_that_are_ticked_are_shown_beside_it(desk: Desk) -> None:
    ticked = [*WORKED, event(2, "subcheck", checked=1, total=3)]
    later = event(5, "subcheck", checked=3, total=3)
    tasks = {"a": [*ticked, later]}
    project = histories.read(*desk.files(tasks, [row("a", 4, "orphan")]))
    [task], at_ms = project.tasks.values(), project.rows[0].at_ms
    known = orphans.gathered("a", task, moments.Moments([]), at_ms)
    assert (known.subject.parts_done, known.subject.parts_total) == (0, 0)
    shown = orphans.with_parts(known, task, at_ms).subject
    assert (shown.parts_done, shown.parts_total) == (1, 3)
    found = desk.measure({"a": ticked}, [row("a", 20, "orphan")])
    assert found["with_parts"]["alert"] == found["alert"]


# Nothing of the future


def many(seed: int) -> tuple[dict[str, Events], Rows]:
    chance = random.Random(seed)  # noqa: S311 (chance that can be repeated)
    kinds = ("status", "assign", "commit", "content", "subcheck", "comment", "admin")
    tasks: dict[str, Events] = {}
    for number in range(30):
        days = sorted(chance.uniform(0, 40) for _ in range(chance.randrange(1, 12)))
        # Many of them in the hour after a sweep, where it matters.
        days = [round(day) + 0.02 if chance.random() < 0.3 else day for day in days]
        tasks[f"t{number}"] = [
            event(
                day,
                chance.choice(kinds),
                chance.choice(("open", "in_progress", "closed", "deferred", "")),
                checked=chance.randrange(4),
                total=4,
            )
            for day in sorted(days)
        ]
    rows = [row(name, day, "active") for name in tasks for day in range(1, 41)]
    return tasks, rows


@pytest.mark.parametrize("seed", range(5))
def test_cutting_a_timeline_at_a_time_changes_nothing_that_is_said_then(
    desk: Desk, seed: int
) -> None:
    tasks, rows = many(seed)
    project = histories.read(*desk.files(tasks, rows))
    whole = {
        (each.row.task, each.row.at_ms): each for each in orphans.judged(project, model.Limits())
    }
    assert {each.is_alert for each in whole.values()} == {True, False}
    for day in (3, 11, 20, 33, 40):
        at_ms = clock.parse(at(day))
        cut = project._replace(
            tasks={name: t._replace(events=t.until(at_ms)) for name, t in project.tasks.items()},
            rows=tuple(each for each in project.rows if each.at_ms == at_ms),
        )
        for each in orphans.judged(cut, model.Limits()):
            assert each == whole[each.row.task, at_ms]


def test_to_look_at_the_hour_after_would_be_seen() -> None:
    """The control: touches right after a sweep would make its project a busy one."""
    key, now = ids.TaskKey("history", "a"), START + 10 * model.DAY_MS
    before = [moments.Touch(START, key, "", True)]
    after = [moments.Touch(now + 60_000, ids.TaskKey("history", f"t{n}")) for n in range(200)]
    assert moments.Moments(before).quiet(key, now) != moments.Moments([*before, *after]).quiet(
        key, now
    )


def test_a_busy_hour_after_a_sweep_does_not_count(desk: Desk) -> None:
    others = {f"t{number}": [event(6.01, "commit")] for number in range(200)}
    tasks = {"a": [claimed(1), event(1, "commit")]}
    assert desk.alerts({**tasks, **others}, [row("a", 6, "orphan")]) == (0, 0, 1)
    before = {f"t{number}": [event(5.9, "commit")] for number in range(200)}
    assert desk.alerts({**tasks, **before}, [row("a", 6, "orphan")]) == (1, 0, 0)


def test_nothing_of_the_labels_is_used_to_decide(desk: Desk) -> None:
    tasks, rows = many(9)
    plain = orphans.judged(histories.read(*desk.files(tasks, rows)), model.Limits())
    chance = random.Random(3)  # noqa: S311 (chance that can be repeated)
    told = [
        {
            **each,
            "label": chance.choice(("orphan", "active", "ambiguous")),
            "known": {"silence_h": chance.random()},
            "future": {"next_touch_h": chance.random()},
        }
        for each in rows
    ]
    other = orphans.judged(histories.read(*desk.files(tasks, told)), model.Limits())
    assert [each.is_alert for each in other] == [each.is_alert for each in plain]


# Files


def test_packed_files_say_the_same(desk: Desk, tmp_path: Path) -> None:
    timeline, labels = desk.files({"a": WORKED}, [row("a", 10, "orphan")])
    packed = [f"{path}.gz" for path in (timeline, labels)]
    for path, to in zip((timeline, labels), packed, strict=True):
        Path(to).write_bytes(gzip.compress(Path(path).read_bytes()))
    assert orphans.measure([(packed[0], packed[1])]) == orphans.measure([(timeline, labels)])


def test_a_history_without_a_name_is_called_as_its_file(tmp_path: Path) -> None:
    task = {"task": "a", "created": at(0), "events": WORKED}
    timeline = write(tmp_path / "timeline_hut.jsonl.gz", [task])
    labels = write(tmp_path / "labels_hut.jsonl", [row("a", 10, "orphan")])
    assert list(orphans.measure([(timeline, labels)])["projects"]) == ["hut"]


TASK = {"task": "a", "created": at(0), "events": WORKED}
ROW = row("a", 10, "orphan")


def without(line: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != field}


@pytest.mark.parametrize(
    ("task", "label", "said"),
    [
        (without(TASK, "task"), ROW, "Line 2 of timeline.jsonl has no `task`"),
        (without(TASK, "created"), ROW, "Line 2 of timeline.jsonl has no `created`"),
        (without(TASK, "events"), ROW, "Line 2 of timeline.jsonl has no list of `events`"),
        ({**TASK, "events": [7]}, ROW, "Line 2 of timeline.jsonl has no list of `events`"),
        ({**TASK, "events": [{"kind": "commit"}]}, ROW, "Line 2 of timeline.jsonl has no `t`"),
        ({**TASK, "events": [{"t": at(1)}]}, ROW, "Line 2 of timeline.jsonl has no `kind`"),
        ({**TASK, "created": "soon"}, ROW, "has a time in `created` that is none"),
        (TASK, without(ROW, "task"), "Line 2 of labels.jsonl has no `task`"),
        (TASK, without(ROW, "T"), "Line 2 of labels.jsonl has no `T`"),
        (TASK, {**ROW, "T": 12}, "Line 2 of labels.jsonl has no `T`"),
        (TASK, {**ROW, "T": "noon"}, "has a time in `T` that is none"),
        (TASK, without(ROW, "population"), "has no `population`"),
        (TASK, without(ROW, "label"), "has no `label`"),
        (TASK, {**ROW, "task": "b"}, "is about a task that is not in its timeline"),
    ],
)
def test_a_line_that_lacks_something_is_named(
    tmp_path: Path, task: dict[str, Any], label: dict[str, Any], said: str
) -> None:
    timeline = write(tmp_path / "timeline.jsonl", [TASK, task])
    labels = write(tmp_path / "labels.jsonl", [ROW, label])
    with pytest.raises(errors.FileError) as caught:
        orphans.measure([(timeline, labels)])
    assert said in caught.value.message
    assert "tether bench orphans --help" in caught.value.hint


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "Line 1 of labels.jsonl is not JSON"),
        (b"\xff\n", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]\n", "is not a JSON object"),
        (b"\n\n", "There is nothing in labels.jsonl"),
        (b"", "There is nothing in labels.jsonl"),
    ],
    ids=["cut off", "bytes", "too deep", "a list", "empty lines", "empty"],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    timeline = write(tmp_path / "timeline.jsonl", [TASK])
    labels = tmp_path / "labels.jsonl"
    labels.write_bytes(content)
    with pytest.raises(errors.FileError) as caught:
        orphans.measure([(timeline, str(labels))])
    assert said in caught.value.message


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(b"{}\n" * 999, mtime=0)[:20]],
    ids=["another file", "cut off"],
)
def test_a_damaged_packed_file_is_refused(tmp_path: Path, content: bytes) -> None:
    timeline = tmp_path / "timeline.jsonl.gz"
    timeline.write_bytes(content)
    with pytest.raises(errors.FileError, match="cannot be read"):
        histories.read(str(timeline), str(timeline))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(errors.FileError, match=r"gone\.jsonl cannot be read: No such file"):
        histories.read(str(tmp_path / "gone.jsonl"), str(tmp_path / "gone.jsonl"))


# The command


def test_the_command_answers_people_and_programs(desk: Desk, tether: Tether) -> None:
    first = desk.files({"a": WORKED}, [row("a", 10, "orphan")])
    second = desk.files({"a": WORKED}, [row("a", 10, "active")], "a" * 50)
    words = ["bench", "orphans"]
    for timeline, labels in (first, second):
        words += ["--timeline", timeline, "--labels", labels]
    answer = tether(*words, "--json", cwd=desk.place).json
    assert answer == {"ok": True, **orphans.measure([first, second])}
    shown = tether(*words, cwd=desk.place)
    assert shown.code == 0
    assert max(map(len, shown.out.splitlines())) <= 80
    assert "0.500" in shown.out


def test_the_command_says_what_is_wrong(desk: Desk, tether: Tether) -> None:
    timeline, labels = desk.files({"a": WORKED}, [row("a", 10, "orphan")])
    uneven = ["bench", "orphans", "--timeline", timeline, "--timeline", timeline]
    ended = tether(*uneven, "--labels", labels, cwd=desk.place)
    assert ended.code == 2
    assert "2 timelines and 1 files of labels" in ended.err
    broken = ["bench", "orphans", "--timeline", __file__, "--labels", labels, "--json"]
    ended = tether(*broken, cwd=desk.place)
    assert ended.code == 1
    assert ended.json["error"]["code"] == "file_failed"
