"""The rules of task files one by one, what a merge left, and repairs that lose nothing."""

from __future__ import annotations

import itertools
import random
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import scale
from tests.conftest import Tether
from tether.tasks import checking, document, fixing, merging, states, validate, workdir

NOW = "2026-06-01T00:00:00.000Z"
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"


def subject(path: str, problem: str = "", line: int = 0, **fields: Any) -> validate.Subject:
    """A file that keeps every rule, but for what a test says; None leaves a field out."""
    found = located(path)
    agent = found.folder if found.place == "assigned" else "nobody"
    status = {"inbox": "new"}.get(found.place, found.place)
    given: dict[str, Any] = {
        "id": found.task_id,
        "agent": "" if found.place == "inbox" else agent,
        "status": "done" if status == "archive" else status,
        "artefacts": [],
        "completed_at": LATE if found.place in ("done", "archive") else None,
        **fields,
    }
    return validate.Subject(
        found.task_id,
        found.path,
        found.place,
        found.folder,
        {name: value for name, value in given.items() if value is not None},
        problem,
        line,
    )


def located(path: str) -> workdir.Found:
    found = workdir.located(f"work/{path}", "work")
    assert found is not None
    return found


def broken(each: validate.Subject, reading: str = "tether") -> list[str]:
    return sorted(found.rule for found in validate.judge(each, validate.READINGS[reading]))


# Each rule: a file that breaks it and no other, and one that is as near as can be and keeps it

INBOX, MINE, DONE, AWAY = "inbox/T1.yaml", "assigned/a/T1.yaml", "done/T1.yaml", "archive/x/T1.yaml"
CANCELLED = {"at": LATE, "by": "eve", "why": "no need"}
ALONE = [
    (
        "parse",
        subject(INBOX, problem="a second `---` begins another document", line=3),
        subject(INBOX),
    ),
    ("directory_status", subject(DONE, status="new"), subject(DONE, status="done")),
    ("directory_status", subject(INBOX, status="assigned"), subject(INBOX)),
    ("directory_status", subject(MINE, status="new"), subject(MINE, status="error")),
    ("directory_status", subject(AWAY, status="new"), subject(AWAY, status="error")),
    ("directory_status", subject(AWAY, status="new"), subject(AWAY, status="new",
                                                              cancelled=CANCELLED)),
    ("required_fields", subject(INBOX, id=None), subject(INBOX)),
    ("required_fields", subject(INBOX, artefacts=None), subject(INBOX, artefacts=["a"])),
    ("required_fields", subject(INBOX, artefacts=None, artifacts=["a"]), subject(INBOX)),
    ("required_fields", subject(DONE, agent=None), subject(DONE, agent="a")),
    ("required_fields", subject(DONE, agent=""), subject(INBOX, agent="")),
    ("status_value", subject(AWAY, status="blocked", cancelled=CANCELLED), subject(AWAY)),
    ("timestamps", subject(MINE, status="in_progress"),
     subject(MINE, status="in_progress", started_at=EARLY)),
    ("timestamps", subject(DONE, completed_at=None),
     subject(DONE, completed_at=None, result={"completed_at": LATE})),
    ("timestamps", subject(INBOX, created_at="yesterday"), subject(INBOX, created_at=EARLY)),
    ("timestamps", subject(INBOX, timeout_at=["x"]), subject(INBOX, timeout_at=LATE)),
    ("ownership", subject(MINE, agent="b"), subject(MINE, agent="a")),
    ("ownership", subject("assigned/T1.yaml", agent="a"), subject("assigned/a/b/T1.yaml",
                                                                  agent="a")),
    ("timestamp_order", subject(DONE, created_at=LATE, completed_at=EARLY),
     subject(DONE, created_at=EARLY, completed_at=LATE)),
    ("timestamp_order", subject(MINE, created_at=LATE, assigned_at=EARLY),
     subject(MINE, created_at=LATE, assigned_at=LATE)),
    ("timestamp_order",
     subject(DONE, started_at=LATE, completed_at=None, result={"completed_at": EARLY}),
     subject(DONE, started_at=EARLY, completed_at=None, result={"completed_at": LATE})),
    ("id", subject(INBOX, id="T2"), subject(INBOX, id="T1")),
    ("id", subject(INBOX, task_id="T1"), subject(INBOX)),
    ("priority", subject(INBOX, priority="HIGH"), subject(INBOX, priority="high")),
    ("priority", subject(INBOX, priority="whatever"), subject(INBOX, priority=None)),
    ("priority", subject(INBOX, priority=["high"]), subject(INBOX, priority="low")),
    ("file_name", subject("inbox/T1.yml"), subject("inbox/T1.yaml")),
    ("file_name", subject("inbox/T 1.yaml"), subject("inbox/T-1.yaml")),
    ("cancelled", subject(INBOX, cancelled=CANCELLED), subject(AWAY, cancelled=CANCELLED)),
    ("cancelled", subject(AWAY, cancelled={"at": LATE, "by": "eve"}), subject(AWAY)),
    ("cancelled", subject(AWAY, cancelled=True), subject(AWAY, cancelled=CANCELLED)),
]  # fmt: skip
TOGETHER = [
    (
        "duplicate_id",
        [subject(INBOX), subject("inbox/sub/T1.yaml")],
        [subject(INBOX), subject("inbox/T2.yaml")],
    ),
    (
        "id_case",
        [subject(INBOX), subject("inbox/t1.yaml")],
        [subject(INBOX), subject("inbox/t2.yaml")],
    ),
    ("dependency", [subject(INBOX, depends_on=["T9"])], [subject(INBOX, depends_on=[])]),
    (
        "dependency",
        [subject(INBOX, parent="T9")],
        [subject(INBOX, parent="T9"), subject("done/T9.yaml")],
    ),
    (
        "dependency",
        [subject(INBOX, depends_on=["T2"]), subject("inbox/T2.yaml", depends_on=["T1"])],
        [subject(INBOX, depends_on=["T2", "T2"]), subject("inbox/T2.yaml")],
    ),
    ("dependency", [subject(INBOX, depends_on="T1")], [subject(INBOX)]),
]
ON_DISK = ("no_file", "gitkeep", "link", "place")


def test_every_rule_is_broken_somewhere_here() -> None:
    tried = {rule for rule, *_ in (*ALONE, *TOGETHER)}
    assert tried | set(ON_DISK) == set(validate.RULES)


@pytest.mark.parametrize(("rule", "bad", "good"), ALONE)
def test_a_file_breaks_exactly_this_rule_or_none(
    rule: str, bad: validate.Subject, good: validate.Subject
) -> None:
    assert broken(bad) == [rule]
    assert broken(good) == []


@pytest.mark.parametrize(("rule", "bad", "good"), TOGETHER)
def test_files_break_exactly_this_rule_together_or_none(
    rule: str, bad: list[validate.Subject], good: list[validate.Subject]
) -> None:
    assert {found.rule for found in validate.judge_together(bad)} == {rule}
    assert validate.judge_together(good) == []
    for each in (*bad, *good):
        assert broken(each) == []


def test_a_status_that_is_none_breaks_both_rules_about_it() -> None:
    assert broken(subject(INBOX, status="blocked")) == ["directory_status", "status_value"]


def test_a_file_that_cannot_be_read_is_told_with_its_line_and_nothing_else() -> None:
    [found] = validate.judge(subject(INBOX, problem="it is empty", line=1, status="nonsense"))
    assert (found.rule, found.detail, found.line) == ("parse", "it is empty", 1)


@pytest.mark.parametrize(
    ("path", "status", "grade"),
    [
        (DONE, "assigned", "skipped"),
        (MINE, "new", "skipped"),
        (MINE, "done", "backwards"),
        (INBOX, "in_progress", "backwards"),
        (INBOX, "blocked", "unknown"),
    ],
)
def test_a_wrong_directory_has_its_grade(path: str, status: str, grade: str) -> None:
    each = subject(path, status=status, completed_at=LATE, started_at=EARLY)
    [found] = [f for f in validate.judge(each) if f.rule == "directory_status"]
    assert found.grade == grade


@pytest.mark.parametrize("value", [None, 12, 1.5, True, [], ["x"], {}, {"a": 1}, "", "x", "2026"])
def test_no_value_of_any_field_is_too_odd_to_judge(value: object) -> None:
    names = ("id", "agent", "status", "artefacts", "priority", "created_at", "completed_at",
             "depends_on", "parent", "result", "error", "cancelled", "history")  # fmt: skip
    for name, path, reading in itertools.product(names, (INBOX, MINE, DONE, AWAY),
                                                 validate.READINGS):  # fmt: skip
        each = subject(path)._replace(fields={**subject(path).fields, name: value})
        validate.judge(each, validate.READINGS[reading])
        validate.judge_together([each])


# Readings


@pytest.mark.parametrize(
    ("each", "literal", "full", "lenient"),
    [
        (subject(INBOX, status="assigned"), [], ["directory_status"], ["directory_status"]),
        (subject(DONE, status="new"), [], ["directory_status"], ["directory_status"]),
        (subject(MINE, status="done", completed_at=LATE),
         ["directory_status"], ["directory_status"], ["directory_status"]),
        # As rule 1 is written, what failed has no place.
        (subject(MINE, status="error"), ["directory_status"], [], []),
        (subject(AWAY, status="new"), [], ["directory_status"], ["directory_status"]),
        (subject(INBOX, artefacts=None, artifacts=[]),
         ["required_fields"], ["required_fields"], []),
        (subject(INBOX, artefacts=None),
         ["required_fields"], ["required_fields"], ["required_fields"]),
        (subject(DONE, completed_at=None, result={"completed_at": LATE}),
         ["timestamps"], ["timestamps"], []),
        (subject(DONE, completed_at=None), ["timestamps"], ["timestamps"], ["timestamps"]),
        (subject(MINE, status="in_progress"), ["timestamps"], ["timestamps"], ["timestamps"]),
        (subject(INBOX, status="inbox"), ["status_value"],
         ["directory_status", "status_value"], ["directory_status"]),
        (subject(INBOX, status="pending"), ["status_value"],
         ["directory_status", "status_value"], ["directory_status", "status_value"]),
        (subject(MINE, agent="b"), ["ownership"], ["ownership"], ["ownership"]),
        # An empty name is there, and only a missing one is missing.
        (subject(DONE, agent=""), [], [], []),
        (subject(INBOX, agent=None),
         ["required_fields"], ["required_fields"], ["required_fields"]),
        # What the seed does not speak of.
        (subject("inbox/T 1.yml", id="x", priority="HIGH", cancelled=True, created_at="x"),
         [], [], []),
        (subject(DONE, created_at=LATE, completed_at=EARLY), [], [], []),
    ],
)  # fmt: skip
def test_a_reading_finds_what_it_is_for(
    each: validate.Subject, literal: list[str], full: list[str], lenient: list[str]
) -> None:
    assert broken(each, "literal") == literal
    assert broken(each, "full") == full
    assert broken(each, "lenient") == lenient


def test_a_file_outside_the_lifecycle_has_no_directory_to_disagree_with() -> None:
    each = subject(INBOX)._replace(place="fridge")
    for reading in ("literal", "full", "lenient"):
        assert broken(each, reading) == []


# Rules about the disk


def test_a_missing_gitkeep_and_a_linked_directory_are_found(tmp_path: Path) -> None:
    for place in ("inbox", "assigned/a", "done", "archive"):
        (tmp_path / "work" / place).mkdir(parents=True)
    work = workdir.Workdir(str(tmp_path))
    work.prepare()
    work.make_place("assigned", "a")
    assert checking.check(work).findings == []
    (tmp_path / "work/assigned/a/.gitkeep").unlink()
    [found] = checking.check(work).findings
    assert (found.rule, found.path) == ("gitkeep", "work/assigned/a/.gitkeep")
    assert found.can_be_fixed
    work.make_place("assigned", "a")
    (tmp_path / "work/done/.gitkeep").unlink()
    (tmp_path / "work/done").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/.gitkeep").touch()
    (tmp_path / "work/done").symlink_to(tmp_path / "elsewhere")
    [found] = checking.check(work).findings
    assert (found.rule, found.path) == ("link", "work/done")


def test_a_task_that_is_held_here_and_has_no_file_is_found(repo: Path, tether: Tether) -> None:
    made = tether("task", "new", "Do it", "--json", cwd=repo).json["task"]
    assert tether("claim", made["id"], cwd=repo).code == 0
    assert tether("validate", "--json", cwd=repo).json["validate"]["findings"] == []
    [file] = (repo / "work").rglob(f"{made['id']}.yaml")
    file.unlink()
    [found] = tether("validate", "--json", cwd=repo).json["validate"]["findings"]
    assert (found["rule"], found["task"]) == ("no_file", made["id"])


# What a merge left

BASE = "id: T1\nstatus: new\ntitle: x\n"
OURS = "id: T1\nstatus: assigned\ntitle: x\n"
THEIRS = "id: T1\nstatus: done\ntitle: x\n"


def conflicted(ours: str, theirs: str, *, base: bool = False, newline: str = "\n") -> str:
    middle = f"||||||| base\n{BASE}" if base else ""
    whole = f"<<<<<<< HEAD\n{ours}{middle}=======\n{theirs}>>>>>>> b\n"
    return whole.replace("\n", newline)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("base", [False, True])
def test_both_sides_of_a_conflict_are_found(base: bool, newline: str) -> None:
    around = f"# before{newline}", f"# behind{newline}"
    content = around[0] + conflicted(OURS, THEIRS, base=base, newline=newline) + around[1]
    ours, theirs = (side.replace("\n", newline) for side in (OURS, THEIRS))
    assert texts_of(content) == (
        around[0] + ours + around[1],
        around[0] + theirs + around[1],
    )


def texts_of(content: str) -> tuple[str, str] | None:
    both = merging.sides(content)
    return (both.ours, both.theirs) if both else None


def test_several_conflicts_are_one_choice() -> None:
    content = conflicted("a: 1\n", "a: 2\n") + "b: 1\n" + conflicted("c: 1\n", "")
    assert texts_of(content) == ("a: 1\nb: 1\nc: 1\n", "a: 2\nb: 1\n")


def test_a_text_without_markers_is_its_own_two_sides() -> None:
    assert texts_of(BASE) == (BASE, BASE)
    indented = "text: |\n  <<<<<<< HEAD\n  =======\n  >>>>>>> b\n"
    assert texts_of(indented) == (indented, indented)


@pytest.mark.parametrize(
    "content",
    [
        "<<<<<<< HEAD\na: 1\n",
        "<<<<<<< HEAD\na: 1\n=======\na: 2\n",
        "a: 1\n=======\na: 2\n>>>>>>> b\n",
        ">>>>>>> b\n",
        "<<<<<<< HEAD\na: 1\n>>>>>>> b\n",
        "<<<<<<< HEAD\n<<<<<<< HEAD\n=======\n>>>>>>> b\n>>>>>>> b\n",
        "<<<<<<< HEAD\na: 1\n=======\n||||||| base\n>>>>>>> b\n",
    ],
)
def test_markers_that_do_not_match_up_are_left_to_a_person(content: str) -> None:
    assert merging.sides(content) is None


@pytest.mark.parametrize("style", ["--diff3", "--zdiff3", "-q"])
def test_what_git_itself_writes_is_taken_apart_again(tmp_path: Path, style: str) -> None:
    texts = {"ours": OURS, "base": BASE, "theirs": THEIRS}
    for name, content in texts.items():
        (tmp_path / name).write_text(content)
    merged = subprocess.run(
        ["git", "merge-file", "-p", style, "ours", "base", "theirs"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert texts_of(merged.stdout) == (OURS, THEIRS)


def version(path: str, **fields: Any) -> merging.Version:
    raw = document.compose({"id": "T1", "agent": "a", **fields})
    loaded = workdir.parsed(located(path), raw)
    return merging.Version(raw.decode(), loaded.document, loaded.task)


FURTHER = [
    version(INBOX, status="new"),
    version(MINE, status="assigned"),
    version(MINE, status="in_progress"),
    version(MINE, status="error"),
    version(DONE, status="done"),
    version(AWAY, status="done"),
]


@pytest.mark.parametrize(("less", "more"), [*itertools.combinations(range(6), 2)])
def test_the_further_state_wins_whatever_the_order(less: int, more: int) -> None:
    pair = [FURTHER[less], FURTHER[more]]
    assert merging.settle(pair) == (FURTHER[more], [FURTHER[less]])
    assert merging.settle(pair[::-1]) == (FURTHER[more], [FURTHER[less]])


@pytest.mark.parametrize("less", range(4))
def test_of_one_text_in_two_places_the_one_that_fits_wins_over_the_archive(less: int) -> None:
    fitting = FURTHER[less]
    away = version(AWAY, **fitting.document.fields)
    assert away.text == fitting.text
    assert merging.settle([away, fitting])[0] == merging.settle([fitting, away])[0] == fitting


@pytest.mark.parametrize("status", ["assigned", "in_progress"])
def test_what_is_cancelled_belongs_in_the_archive(status: str) -> None:
    cancelled = {"at": EARLY, "by": "eve", "why": "No."}
    begun = version(MINE, status=status, cancelled=cancelled)
    away = version(AWAY, status=status, cancelled=cancelled)
    for pair in ([away, begun], [begun, away]):
        assert merging.settle(pair)[0].task.standing().state == states.ARCHIVED
    goes_on = version(MINE, status=status)
    assert merging.settle([away, goes_on])[0] == merging.settle([goes_on, away])[0] == away


def test_among_equals_the_later_time_wins() -> None:
    early = version(DONE, status="done", completed_at=EARLY)
    late = version("done/a/T1.yaml", status="done", completed_at=LATE)
    assert merging.settle([early, late])[0] == late
    assert merging.settle([late, early])[0] == late


def test_a_further_state_wins_over_a_later_time() -> None:
    done = version(DONE, status="done", completed_at=EARLY)
    new = version(INBOX, status="new", created_at=LATE)
    assert merging.settle([new, done])[0] == done


def test_the_losers_text_goes_into_the_history_whole() -> None:
    done, new = version(DONE, status="done"), version(INBOX, status="new", title="other")
    [entry] = merging.entries(done, [new], NOW, "eve")
    assert entry["text"] == new.text
    assert (entry["at"], entry["by"], entry["path"]) == (NOW, "eve", f"work/{INBOX}")
    assert merging.entries(done, [done], NOW, "eve") == []


# Repairs of texts


def planned(files: dict[str, str], claimed: Mapping[str, str] | None = None) -> list[fixing.Repair]:
    given = [(located(path), content) for path, content in files.items()]
    return fixing.plan(given, "work", claimed=claimed, now=NOW, by="eve")


def after(files: dict[str, str], claimed: Mapping[str, str] | None = None) -> dict[str, str]:
    """The texts as they would be afterwards, by path."""
    left = {f"work/{path}": content for path, content in files.items()}
    repairs = planned(files, claimed)
    for repair in repairs:
        assert left.pop(repair.path) == repair.before
        assert repair.reasons
    for repair in repairs:
        if repair.after is not None:
            assert repair.target not in left
            left[repair.target] = repair.after
    return {path.removeprefix("work/"): content for path, content in left.items()}


class Case(NamedTuple):
    """A text, and what becomes of it."""

    path: str
    before: str
    target: str
    after: str


NEW = 'id: T1\nagent: ""\nstatus: new  # yet\nartefacts: []\n'
REPAIRED = [
    Case(INBOX, NEW.replace("new", "NEW"), INBOX, NEW),
    Case(INBOX, NEW.replace("new", "'TODO'"), INBOX, NEW.replace("new", "'new'")),
    Case(INBOX, NEW.replace("new", "pending"), INBOX, NEW),
    Case(INBOX, NEW + "priority: HIGH\n", INBOX, NEW + "priority: high\n"),
    Case(INBOX, NEW.replace("artefacts", "artifacts"), INBOX, NEW),
    Case(INBOX, NEW.replace("id:", "task_id:"), INBOX, NEW),
    Case("inbox/T1.yml", NEW, INBOX, NEW),
    Case(INBOX, NEW.replace("\n", "\r\n").replace("new", "New"), INBOX, NEW.replace("\n", "\r\n")),
    Case(INBOX, NEW + "---\n", INBOX, NEW),
    # The file was moved by hand, or a move died half-way.
    Case(DONE, NEW, DONE, NEW.replace("new", "done")),
    Case(DONE, NEW.replace("new", "Completed"), DONE, NEW.replace("new", "done")),
    Case(INBOX, NEW.replace("new", "done"), DONE, NEW.replace("new", "done")),
    Case(INBOX, NEW.replace("new", "wip").replace('""', "a"), MINE,
         NEW.replace("new", "in_progress").replace('""', "a")),
    Case(MINE, NEW.replace("new", "assigned").replace('""', "b"), MINE,
         NEW.replace("new", "assigned").replace('""', "a")),
    Case(INBOX, NEW + f'cancelled: {{at: "{LATE}", by: eve, why: x}}\n', "archive/2026-02/T1.yaml",
         NEW + f'cancelled: {{at: "{LATE}", by: eve, why: x}}\n'),
]  # fmt: skip


@pytest.mark.parametrize("case", REPAIRED)
def test_what_is_unambiguous_is_repaired_and_nothing_beside_it(case: Case) -> None:
    assert after({case.path: case.before}) == {case.target: case.after}
    assert planned({case.target: case.after}) == []


@pytest.mark.parametrize(
    "before",
    [
        NEW,
        NEW.replace("new", "blocked"),
        NEW.replace("new", "7"),
        NEW + "artifacts: [other]\n",
        NEW + "task_id: T9\n",
        NEW + "priority: whatever\n",
        NEW + "priority: [high]\n",
        NEW + "priority: {a: b}\n",
        NEW.replace("new", "[new]"),
        NEW + "title: a: b\n",
        NEW + NEW,
        "- a\n",
        "<<<<<<< HEAD\n" + NEW,
        NEW + "--- not alone\n",
    ],
)
def test_what_a_person_must_decide_is_left_alone(before: str) -> None:
    assert planned({INBOX: before}) == []


def test_another_word_for_a_priority_is_left_as_it_is() -> None:
    assert planned({INBOX: NEW + "priority: medium\n"}) == []


@pytest.mark.parametrize(
    ("taken", "name"),
    [
        ("", "description"),
        ("description: a\n", "notes"),
        ("description: a\nnotes: b\n", "body"),
        ("description: a\nnotes: b\nbody: c\n", "text"),
    ],
)
def test_what_stands_behind_a_second_marker_becomes_a_field(taken: str, name: str) -> None:
    body = "\n**Bold**: see [this\n---\n\n- and: that  \n\tx"
    [(path, content)] = after({INBOX: f"---\n{NEW}{taken}---\n{body}"}).items()
    found = document.read(content.encode())
    assert path == INBOX
    assert found.problem == ""
    assert found.fields[name] == body


def test_a_text_for_which_no_field_is_free_is_left_alone() -> None:
    taken = "description: a\nnotes: b\nbody: c\ntext: d\n"
    assert planned({INBOX: f"{NEW}{taken}---\nbody\n"}) == []


def test_the_sides_of_a_merge_are_settled_and_the_loser_is_kept() -> None:
    ours, theirs = NEW.replace("new", "assigned").replace('""', "a"), NEW.replace("new", "done")
    for content in (conflicted(ours, theirs), conflicted(theirs, ours, base=True)):
        [(path, settled)] = after({INBOX: content}).items()
        found = document.read(settled.encode())
        assert (path, found.problem, found.fields["status"]) == (DONE, "", "done")
        assert [entry["text"] for entry in found.fields["history"]] == [ours]


def test_sides_that_cannot_be_read_are_left_to_a_person() -> None:
    assert planned({INBOX: conflicted("status: [\n", "status: new\n")}) == []


def test_two_files_of_a_task_become_one_that_has_both_texts() -> None:
    old, done = NEW + "title: only here\n", NEW.replace("new", "done")
    files = {INBOX: old, DONE: done}
    [(path, content)] = after(files).items()
    assert path == DONE
    assert [entry["text"] for entry in document.read(content.encode()).fields["history"]] == [old]


def test_a_winner_may_belong_where_the_loser_is() -> None:
    newer = NEW.replace("new", "done") + f'completed_at: "{LATE}"\n'
    older = NEW.replace("new", "done") + f'completed_at: "{EARLY}"\n'
    [(path, content)] = after({INBOX: newer, DONE: older}).items()
    found = document.read(content.encode()).fields
    assert (path, found["completed_at"]) == (DONE, LATE)
    assert [entry["text"] for entry in found["history"]] == [older]


@pytest.mark.parametrize("loser", ["inbox/T1.yml", DONE])
def test_the_winner_is_there_after_it_took_the_losers_place(
    repo: Path, tether: Tether, loser: str
) -> None:
    """On the disk too: what makes room for the winner must not take it along."""
    status = "new" if loser != DONE else "done"
    winner = "inbox/T1.yaml"
    if loser == DONE:
        texts = {winner: LATE, loser: EARLY}
    else:
        # The other suffix has the later text, and belongs under the name of the first.
        winner, loser = loser, winner
        texts = {winner: LATE, loser: EARLY}
    for path, at in texts.items():
        file = repo / "work" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        content = NEW.replace("new", status) + f'created_at: "{at}"\ncompleted_at: "{at}"\n'
        file.write_text(content)
    assert tether("validate", "--fix", "--yes", cwd=repo).code == 0
    left = [file for file in (repo / "work").rglob("T1.*") if file.is_file()]
    assert [str(file.relative_to(repo / "work")) for file in left] == [
        DONE if status == "done" else INBOX
    ]
    fields = document.read(left[0].read_bytes()).fields
    assert fields["created_at"] == LATE
    assert EARLY in fields["history"][0]["text"]


def test_beside_a_file_that_cannot_be_read_nothing_goes() -> None:
    files = {INBOX: NEW + "title: a: b\n", DONE: NEW.replace("new", "done")}
    assert planned(files) == []


def test_a_return_that_died_is_told_from_a_mv_by_its_claim() -> None:
    files = {MINE: NEW}
    assert [*after(files, claimed={"T1": "bob"})] == [INBOX]
    assert after(files) == {MINE: NEW.replace("new", "assigned").replace('""', "a")}


def test_a_target_that_another_file_has_is_not_overwritten() -> None:
    """The ids differ in case only; on some disks that is one file."""
    files = {"inbox/T1.yml": NEW, INBOX: NEW}
    assert [*after(files)] == [INBOX]


# Nothing is lost

REPAIRED_KEYS = ("status", "priority", "artifacts", "task_id", "agent")
MARKER = re.compile(r"(<{7}|\|{7}|={7}|>{7})( |$)|---\s*$")


def said(value: Any) -> Iterator[str]:
    """Every line of every text within a value, and within texts that are files themselves."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from (str(key), *said(each))
    elif isinstance(value, list):
        for each in value:
            yield from said(each)
    elif isinstance(value, str):
        yield from (line.strip() for line in value.splitlines())
        # The history keeps whole files, whose history keeps whole files.
        if "\n" in value:
            yield from said(document.read(value.encode()).fields)


def lost(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """The lines that are nowhere any more: as lines, or as lines of a text in a field."""
    kept = {"", *(line for content in now.values() for line in said(content))}
    return [
        line
        for content in before.values()
        for line in content.splitlines()
        if line.strip() not in kept
        and not MARKER.match(line)
        and line.partition(":")[0].strip("\"' ") not in REPAIRED_KEYS
    ]


PARTS = (
    "# why it is so {n}",
    "title: 'Do {n}'",
    "title: un: readable {n}",
    "x_team: {{a: {n}, b: [c]}}",
    "odd key {n}: x",
    "tab:\t{n}",
    "estimate: {n}  # hours",
    "",
    "notes: |\n  status: {n}\n  ---\n  last {n}",
    'description: "a {n}\\n\\tb"',
    "depends_on:\n- T{n}\n# within {n}\n- T9",
    "history:\n  - at: '{n}'\n    what: noted",
    "result:\n  summary: s {n}\n  metrics: {{a: {n}}}",
    'created_at: "2026-01-0{d}T00:00:00Z"',
    "cancelled: {{at: \"2026-01-0{d}\", by: eve, why: 'w {n}'}}",
    "priority: High",
    "priority: {n}",
    "artifacts: [f{n}]",
    "artefacts: [g{n}]",
)
STATUSES = ("new", "NEW", "assigned", "In Progress", "done", "completed", "error", "blocked", "5")
PLACES = (INBOX, "inbox/T1.yml", MINE, "assigned/b/T1.yaml", DONE, "done/a/T1.yaml", AWAY)


def made(chance: random.Random) -> str:
    parts = chance.sample(PARTS, chance.randrange(6))
    lines = [
        chance.choice(["id: T1", "task_id: T1", "id: T1  # the id", ""]),
        f"status: {chance.choice(STATUSES)}",
        chance.choice(["agent: a", "agent: ''", "agent: b", ""]),
        *(part.format(n=chance.randrange(10**6), d=chance.randrange(1, 9)) for part in parts),
    ]
    chance.shuffle(lines)
    content = "".join(f"{line}\n" for line in lines)
    if chance.random() < 0.2:
        content += f"---\n\n# Heading {chance.randrange(999)}\n\n**bold** [text]\n"
    if chance.random() < 0.2:
        content = content.replace("\n", "\r\n")
    return content


def made_files(seed: int) -> dict[str, str]:
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    files = {}
    for path in chance.sample(PLACES, chance.choice([1, 1, 2, 3])):
        content = made(chance)
        if chance.random() < 0.3:
            content = conflicted(content, made(chance).replace("\r\n", "\n"))
        files[path] = content
    return files


@pytest.mark.parametrize("block", range(10))
def test_no_line_that_was_not_understood_is_lost(block: int) -> None:
    each = scale.count(20_000, at_least=600) // 10
    for seed in range(block * each, (block + 1) * each):
        files = made_files(seed)
        claimed = {"T1": "bob"} if seed % 3 == 0 else {}
        now = after(files, claimed)
        assert lost(files, now) == [], (seed, files, now)


def test_a_second_plan_finds_nothing_more_to_do() -> None:
    for seed in range(scale.count(5_000, at_least=300)):
        files = made_files(seed)
        claimed = {"T1": "bob"} if seed % 3 == 0 else {}
        now = after(files, claimed)
        assert planned(now, claimed) == [], (seed, files, now)


def test_most_made_files_are_repaired() -> None:
    """Else there would be nothing to lose."""
    assert sum(bool(planned(made_files(seed))) for seed in range(100)) > 50


Fault = Callable[[dict[str, str]], dict[str, str]]


@pytest.mark.parametrize(
    "fault",
    [
        lambda files: dict(list(files.items())[:1]),
        lambda files: {path: content.rpartition("\n---")[0] for path, content in files.items()},
        lambda files: {path: re.sub("#.*", "", content) for path, content in files.items()},
        lambda files: dict.fromkeys(files, NEW),
    ],
)
def test_a_repair_that_loses_something_is_caught(fault: Fault) -> None:
    """The control."""
    files = {INBOX: NEW + "# why\n---\nbody\n", DONE: NEW.replace("T1", "T1  # the id")}
    assert lost(files, files) == []
    assert lost(files, fault(files)) != []
