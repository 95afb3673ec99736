"""`tether orient` and `tether next` where work was dropped: it is counted, and comes first."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import agency
from tests.acceptance.test_vacuum_cli import ago, drop, opened, rows, tick
from tests.conftest import Tether
from tests.scenes import BY_HAND, OTHER, PERSON, SESSION, TRACK, Git, Scene, agent
from tether import clock, ids
from tether.agents import claims, roll
from tether.vacuum import model, reports

OWN = "T20261115-abc123"
INBOX = f"work/inbox/{OWN}.yaml"
# The least urgent first, so that no order but the right one gives the right answer.
DROPPED = dict(
    zip(("H.1.1", "H.1.2", "H.1.3", "H.1.4", "H.1.5"), model.ORPHANED[::-1], strict=True)
)
Process = subprocess.Popen[bytes]


@pytest.fixture
def scene(repo: Path, environ: dict[str, str], git: Git, tether: Tether) -> Scene:
    """A track with six tasks, a task file, and a store."""
    scene = Scene(repo, environ, git, tether)
    scene.write(INBOX, f"id: {OWN}\ntitle: Own it\nagent: ''\nstatus: new\n")
    scene.plan(*(f"- [ ] H.1.{number} Task {number}" for number in range(1, 7)))
    scene.make_store()
    return scene


@pytest.fixture
def process() -> Iterator[Process]:
    """Lives until the end of the test, or until it is killed."""
    started = agency.sleeper()
    yield started
    agency.end(started)


def found(scene: Scene, types: dict[str, str] = DROPPED, percent: int = 90) -> None:
    """Let a sweep have found that these tasks of the track were dropped."""
    made = []
    at = clock.text(ago(9))
    for task, kind in types.items():
        reason = f"{task} is {kind}"
        finding = model.Finding(kind, model.SUSPECT, percent, (reason,), ("file:x",))
        evidence = {"reasons": [reason], "pointers": ["file:x"]}
        made.append(reports.Row(ids.TaskKey("track", task), finding, "H", at, "s-0", evidence))
    with opened(scene) as store:
        now = clock.text(ago(0))
        never = {"judged": lambda _: False}
        reports.record(store, model.STANDARD, made, now, "ada", "repo", **never)


def offered(scene: Scene, *words: str, who: dict[str, str] | None = None) -> list[str]:
    """What `next` names, best first."""
    value = scene.done("next", "--limit", "20", "--json", *words, who=who).json
    return [each["key"] for each in value["tasks"]]


def orient(scene: Scene, who: dict[str, str] | None = None) -> dict[str, Any]:
    value: dict[str, Any] = scene.done("orient", "--json", who=who).json["orient"]
    return value


def resolutions(scene: Scene) -> dict[str, str]:
    return {each["task_id"]: each["resolution"] for each in rows(scene) if each["resolution"]}


# Orient


def test_orient_counts_what_was_dropped_and_names_three(scene: Scene) -> None:
    found(scene)
    page = scene.done("orient").out.split("\n")
    begin = page.index("Orphaned Tasks: 5")
    assert page[begin + 1 : begin + 4] == [
        "  H.1.5 — dead claim, 9d ago: H.1.5 is dead_claim",
        "  H.1.4 — conflict abandoned, 9d ago: H.1.4 is conflict_abandoned",
        "  H.1.3 — context lost, 9d ago: H.1.3 is context_lost",
    ]
    assert page[begin + 4].startswith("  `tether vacuum` tells all, ")
    assert "H.1.2" not in "\n".join(page)
    assert "Next: H.1.5: Task 5" in page
    assert "  dead_claim: H.1.5 is dead_claim" in page
    assert max(map(len, page)) <= 120
    assert len(page) < 25, "one screen"


def test_orient_in_one_line(scene: Scene) -> None:
    assert scene.done("orient", "--compact").out == (
        f"ada: 0 held, 0 unread, 0 stalled, 0 orphans, next {OWN}\n"
    )
    found(scene, {"H.1.1": "dead_claim", "H.1.2": "dead_claim", "H.1.3": "stale_in_progress"})
    assert scene.done("orient", "--compact").out == (
        "ada: 0 held, 0 unread, 0 stalled, 3 orphans (2 dead_claim, 1 stale_in_progress),"
        " next H.1.1\n"
    )


def test_the_one_line_of_orient_fits_on_a_terminal(scene: Scene) -> None:
    found(scene)
    short = scene.on_a_terminal("orient", "--compact", columns=80)
    assert short == ("ada: 0 held, 0 unread, 0 stalled, 5 orphans (1 dead_claim, …), next H.1.5\n")
    short = scene.on_a_terminal("orient", "--compact", columns=60)
    assert short == "ada: 0 held, 0 unread, 0 stalled, 5 orphans, next H.1.5\n"
    assert scene.on_a_terminal("orient", "--compact", columns=200).count("1 ") == 5


def test_orient_counts_nobody_who_is_known_to_be_gone(scene: Scene, process: Process) -> None:
    scene.done("claim", "H.1.2", who=agent(SESSION, TETHER_PID=str(process.pid)))
    drop(scene)
    with opened(scene) as store:
        agency.begin(store, "s-8")
        agency.silence(store, "s-8", 100_000)
    assert orient(scene)["here"] == 1, "one was killed, and one is silent for long"
    assert "1 session here." in scene.done("orient").out
    with opened(scene) as store:
        assert len(roll.here(store.rows)) == 3, "no sweep has looked yet"


def test_orient_for_programs(scene: Scene) -> None:
    found(scene)
    value = orient(scene)
    assert set(value) >= {
        "session", "agent", "held", "claims", "next", "stalled", "failed", "lists", "unread",
        "here", "orphans", "run", "untrusted",
    }  # fmt: skip
    orphans = value["orphans"]
    assert (orphans["total"], orphans["counts"]) == (5, dict.fromkeys(model.ORPHANED, 1))
    assert [each["key"] for each in orphans["first"]] == [
        "track:H.1.5", "track:H.1.4", "track:H.1.3",
    ]  # fmt: skip
    assert set(orphans["first"][0]) == {
        "key", "type", "grade", "probability", "reason", "last_activity",
    }  # fmt: skip
    assert (value["next"]["key"], value["next"]["orphan"]) == ("track:H.1.5", "dead_claim")


def test_orient_finds_by_itself_who_died(scene: Scene) -> None:
    assert orient(scene)["orphans"]["total"] == 0
    drop(scene)
    value = orient(scene, agent(SESSION))
    [first] = value["orphans"]["first"]
    assert (first["key"], first["type"], first["grade"]) == ("track:H.1.1", "dead_claim", "certain")
    assert "there is no process" in first["reason"]
    assert [each["orphan_type"] for each in rows(scene)] == ["dead_claim"], "and writes it down"
    scene.done("claim", "H.1.1", who=agent(SESSION))
    assert orient(scene)["orphans"]["total"] == 0


def test_orient_does_not_count_what_is_less_probable(scene: Scene) -> None:
    found(scene, {"H.1.1": "stale_in_progress"}, percent=80)
    assert orient(scene)["orphans"]["total"] == 0
    assert "Orphaned" not in scene.done("orient").out


def test_a_task_that_is_wrong_in_two_ways_counts_once(scene: Scene) -> None:
    found(scene, {"H.1.1": "stale_in_progress"})
    found(scene, {"H.1.1": "partially_completed"})
    value = orient(scene)["orphans"]
    assert (value["total"], value["counts"]) == (1, {"stale_in_progress": 1})


def test_orient_does_not_count_what_somebody_has_again(scene: Scene, process: Process) -> None:
    found(scene, {"H.1.1": "stale_in_progress", "H.1.2": "context_lost"})
    scene.done("claim", "H.1.1", who=agent(TETHER_PID=str(process.pid)))
    assert orient(scene)["orphans"]["counts"] == {"context_lost": 1}


def test_orient_does_not_count_what_its_list_says_is_done(scene: Scene) -> None:
    found(scene, {"H.1.1": "stale_in_progress"})
    tick(scene, "H.1.1")
    assert orient(scene)["orphans"]["total"] == 0


# The order of next


def test_what_was_dropped_comes_first_and_the_most_urgent_before_all(scene: Scene) -> None:
    found(scene)
    assert offered(scene) == [
        "track:H.1.5", "track:H.1.4", "track:H.1.3", "track:H.1.2", "track:H.1.1",
        OWN, "track:H.1.6",
    ]  # fmt: skip


def test_what_one_has_comes_before_what_others_dropped(scene: Scene) -> None:
    found(scene)
    scene.done("claim", "H.1.6", who=agent(SESSION))
    assert offered(scene, who=agent(SESSION))[:2] == ["track:H.1.6", "track:H.1.5"]


def test_what_is_assigned_comes_after_what_others_dropped(scene: Scene) -> None:
    found(scene, {"H.1.1": "partially_completed"})
    (scene.repo / INBOX).unlink()
    mine = f"id: {OWN}\ntitle: Own it\nagent: ada\nstatus: assigned\n"
    scene.write(f"work/assigned/ada/{OWN}.yaml", mine)
    value = scene.done("next", "--limit", "2", "--json").json["tasks"]
    assert [(each["key"], each["why"]) for each in value] == [
        ("track:H.1.1", "partially_completed: H.1.1 is partially_completed"),
        (OWN, "assigned to you"),
    ]


def test_next_says_why(scene: Scene) -> None:
    found(scene, {"H.1.2": "stale_in_progress"})
    task = scene.done("next", "--json").json["task"]
    assert (task["orphan"], task["probability"]) == ("stale_in_progress", 0.9)
    assert task["why"] == "stale_in_progress: H.1.2 is stale_in_progress"
    assert scene.done("next").out == (
        f"H.1.2  new  Task 2\n    {TRACK}:4\n"
        "    why: stale_in_progress: H.1.2 is stale_in_progress\n"
    )
    new = scene.done("next", "--limit", "2", "--json").json["tasks"][1]
    assert (new["orphan"], new["why"]) == (None, "free, priority normal")


def test_a_file_that_was_dropped_is_offered(scene: Scene) -> None:
    drop(scene, OWN)
    task = scene.done("next", "--json").json["task"]
    assert (task["key"], task["orphan"], task["probability"]) == (OWN, "dead_claim", 1.0)


# To take it


def test_to_claim_an_orphan_is_to_adopt_it(scene: Scene) -> None:
    scene.done("agent", "register", "--session", "s-3", "--name", "bo")
    drop(scene)
    found(scene, {"H.1.1": "stale_in_progress"})
    taken = scene.done("next", "--claim", "--json", who=agent(SESSION)).json
    assert (taken["claim"]["key"], taken["claim"]["adopted"]) == ("track:H.1.1", True)
    assert (taken["orphan"], taken["why"].startswith("dead_claim: ")) == ("dead_claim", True)
    assert {each["resolution"] for each in rows(scene)} == {"adopted"}
    inbox = scene.done("inbox", "--json", who=agent("s-3")).json["messages"]
    bodies = [each["body"]["text"] for each in inbox]
    assert sum("has adopted track:H.1.1 (dead claim)." in body for body in bodies) == 1
    assert orient(scene)["orphans"]["total"] == 0


def test_who_adopts_is_told_where_to_read_more(scene: Scene) -> None:
    drop(scene)
    page = scene.done("next", "--claim").out
    assert "track:H.1.1 is yours, epoch " in page
    assert "It was dropped: dead_claim: other-6666 has it since " in page
    assert "`tether handoff track:H.1.1` tells more." in page


def test_to_claim_new_work_adopts_nothing(scene: Scene) -> None:
    taken = scene.done("next", "--claim", "--json").json
    assert (taken["claim"]["key"], taken["orphan"]) == (OWN, None)
    assert rows(scene) == []


def test_what_a_living_one_has_is_left_alone(scene: Scene, process: Process) -> None:
    found(scene)
    scene.done("claim", "H.1.5", who=agent(TETHER_PID=str(process.pid)))
    assert "track:H.1.5" not in offered(scene)
    assert scene.done("next", "--claim", "--json").json["claim"]["key"] == "track:H.1.4"
    assert resolutions(scene) == {"H.1.4": "adopted"}


def test_what_is_done_meanwhile_is_left_alone(scene: Scene) -> None:
    found(scene)
    tick(scene, "H.1.5")
    tick(scene, "H.1.4", "-")
    assert offered(scene)[0] == "track:H.1.3"
    drop(scene, OWN, OTHER)
    assert offered(scene)[0] == OWN
    scene.done("vacuum", "complete", OWN)
    assert OWN not in offered(scene)


def test_two_who_claim_get_two_tasks(scene: Scene) -> None:
    found(scene, {"H.1.1": "dead_claim", "H.1.2": "stale_in_progress"})
    keys = [
        scene.done("next", "--claim", "--json", who=agent(name)).json["claim"]["key"]
        for name in ("s-1", "s-2", "s-3")
    ]
    assert keys == ["track:H.1.1", "track:H.1.2", OWN]


# To wait


def waiting(scene: Scene, *words: str) -> subprocess.Popen[str]:
    """A call that waits, once it has begun to."""
    with opened(scene) as store:
        agency.begin(store, "s-9")
        agency.silence(store, "s-9", 100)
        before = agency.agent(store, "s-9").last_beat_at
        process = subprocess.Popen(
            [sys.executable, "-m", "tether", "next", "--wait", "--json", *words],
            cwd=scene.repo,
            env={**scene.environ, **BY_HAND, "TETHER_SESSION": "s-9"},
            stdout=subprocess.PIPE,
            text=True,
        )
        # Every call of an agent is a heartbeat.
        while agency.agent(store, "s-9").last_beat_at == before:
            assert process.poll() is None
    return process


def test_who_waits_wakes_up_when_there_is_a_task(scene: Scene) -> None:
    (scene.repo / INBOX).unlink()
    scene.write(TRACK, "- [x] H.1.1 Task 1\n")
    process = waiting(scene)
    assert process.poll() is None
    scene.done("task", "new", "Build it")
    out, _ = process.communicate()
    assert (process.returncode, json.loads(out)["task"]["title"]) == (0, "Build it")


def test_who_waits_wakes_up_when_a_list_has_a_task(scene: Scene) -> None:
    (scene.repo / INBOX).unlink()
    scene.write(TRACK, "- [x] H.1.1 Task 1\n")
    process = waiting(scene)
    scene.write(TRACK, "- [x] H.1.1 Task 1\n- [ ] H.1.2 Task 2\n")
    out, _ = process.communicate()
    assert (process.returncode, json.loads(out)["task"]["key"]) == (0, "track:H.1.2")


def test_who_waits_adopts_what_somebody_drops(scene: Scene, process: Process) -> None:
    (scene.repo / INBOX).unlink()
    scene.write(TRACK, "- [ ] H.1.1 Task 1\n")
    scene.done("claim", "H.1.1", who=agent(OTHER, TETHER_PID=str(process.pid)))
    waiter = waiting(scene, "--claim")
    agency.end(process)
    out, _ = waiter.communicate()
    assert (waiter.returncode, json.loads(out)["orphan"]) == (0, "dead_claim")
    with opened(scene) as store:
        held = claims.open_of(store.rows, ids.TaskKey("track", "H.1.1"))
    assert held is not None
    assert held.session_id == "s-9"


# Nothing to do, and what is not offered


def test_nothing_to_do_is_no_failure(scene: Scene) -> None:
    (scene.repo / INBOX).unlink()
    scene.write(TRACK, "- [x] H.1.1 Task 1\n")
    for words in ((), ("--claim",)):
        ended = scene.done("next", "--json", *words)
        assert (ended.json["ok"], ended.json["task"], ended.json["tasks"]) == (True, None, [])
        assert "Nothing to do" in scene.done("next", *words).out
    assert orient(scene)["next"] is None


def test_where_all_was_begun_and_nobody_is_at_work_the_vacuum_is_named(scene: Scene) -> None:
    (scene.repo / INBOX).unlink()
    scene.write(TRACK, "- [~] H.1.1 Task 1\n- [~] H.1.2 Task 2\n")
    hint = "`tether vacuum` shows what was begun and dropped, or parked."
    assert scene.done("next", "--json").json["not_free"] == {"begun": 2, "for_merge": 0}
    for words in (("next",), ("next", "--claim"), ("orient",)):
        page = scene.done(*words).out
        assert "2 open tasks" in page, words
        assert page.endswith(f"{hint}\n"), words


def test_a_file_that_somebody_began_elsewhere_is_a_case_for_the_vacuum(scene: Scene) -> None:
    (scene.repo / INBOX).unlink()
    scene.write(TRACK, "- [x] H.1.1 Task 1\n")
    scene.write(
        f"work/assigned/bo/{OWN}.yaml", f"id: {OWN}\ntitle: It\nagent: bo\nstatus: in_progress\n"
    )
    assert scene.done("next").out == (
        "Nothing to do: no task is free for you.\n"
        "`tether vacuum` shows what was begun and dropped, or parked.\n"
    )


def test_what_is_held_is_no_case_for_the_vacuum(scene: Scene, process: Process) -> None:
    (scene.repo / INBOX).unlink()
    scene.write(TRACK, "- [~] H.1.1 Task 1\n")
    scene.done("claim", "H.1.1", who=agent(SESSION, TETHER_PID=str(process.pid)))
    for verb in ("next", "orient"):
        assert "tether vacuum" not in scene.done(verb).out, verb


def test_where_a_sweep_found_a_parked_project_the_vacuum_is_named(scene: Scene) -> None:
    (scene.repo / INBOX).unlink()
    scene.write(TRACK, "- [ ] H.1.1 Task 1 *(deferred 2026-10-22)*\n")
    assert "tether vacuum" not in scene.done("next").out
    with opened(scene) as store:
        now = clock.text(ago(0))
        number = reports.begin(store, model.STANDARD, now, "ada", "repo")
        counts = {model.PARKED_PROJECT: 1}
        reports.end(store, number, model.STANDARD, now, "ada", 1, counts, reports.Recorded())
    assert "`tether vacuum` shows what was begun" in scene.done("next").out


def test_what_only_waits_for_a_merge_is_told(scene: Scene) -> None:
    """A task with a file and one of a list, done on another branch; then one that waits for it."""
    scene.plan("- [ ] H.1.1 Task 1")
    there = scene.repo.parent / "there"
    scene.git("worktree", "add", "-q", "-b", "side", str(there), cwd=scene.repo)
    for task in (OWN, "H.1.1"):
        scene.done("claim", task, who=agent(SESSION), cwd=there)
        scene.done("finish", task, who=agent(SESSION), cwd=there)
    assert scene.done("next", "--json").json["not_free"] == {"begun": 0, "for_merge": 2}
    assert scene.done("next").out.startswith("No task is free for you; 2 wait for a merge.\n")
    fields = f"title: Next\nagent: ''\nstatus: new\ndepends_on: [{OWN}]\n"
    scene.write("work/inbox/T-9.yaml", f"id: T-9\n{fields}")
    assert "No task is free for you; 3 wait for a merge." in scene.done("orient").out


@pytest.mark.parametrize("limit", ["0", "-1", "x"])
def test_no_number_of_tasks_is_a_mistake(scene: Scene, limit: str) -> None:
    ended = scene.run("next", f"--limit={limit}", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, "usage")


def test_a_task_of_a_list_that_has_time_is_not_offered(scene: Scene) -> None:
    scene.write(TRACK, "- [ ] H.1.1 Task 1 *(deferred 2026-10-22)*\n- [ ] H.1.2 A\n- [ ] H.1.3 B\n")
    assert offered(scene) == [OWN, "track:H.1.2", "track:H.1.3"]
    scene.done("vacuum", "defer", "H.1.2")
    assert offered(scene) == [OWN, "track:H.1.3"]
    scene.done("vacuum", "defer", "H", "--track")
    assert offered(scene) == [OWN]
    scene.done("vacuum", "defer", "H", "--track", "--end")
    scene.done("vacuum", "defer", "H.1.2", "--end")
    assert offered(scene) == [OWN, "track:H.1.2", "track:H.1.3"]


def test_a_task_with_a_file_that_has_time_is_not_offered(scene: Scene) -> None:
    scene.done("vacuum", "defer", OWN)
    assert OWN not in offered(scene)


def test_an_orphan_that_has_time_is_not_offered(scene: Scene) -> None:
    drop(scene)
    found(scene, {"H.1.2": "stale_in_progress"})
    assert offered(scene)[:2] == ["track:H.1.1", "track:H.1.2"]
    for task in ("H.1.1", "H.1.2"):
        scene.done("vacuum", "defer", task)
    assert offered(scene)[0] == OWN
    assert not {"track:H.1.1", "track:H.1.2"} & set(offered(scene))


def issue(number: str, status: str = "open", **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "title": f"Issue {number}",
        "status": status,
        "issue_type": "task",
        **more,
    }


def beads(scene: Scene, *issues: dict[str, Any]) -> None:
    scene.write(".beads/issues.jsonl", "".join(json.dumps(each) + "\n" for each in issues))


ONLY = {**PERSON, "TETHER_TASKS_SOURCES": "beads"}


def test_a_task_that_waits_for_another_is_not_offered(scene: Scene) -> None:
    (scene.repo / INBOX).unlink()
    waits = [{"depends_on_id": "shop-a", "type": "blocks"}]
    beads(scene, issue("shop-b", dependencies=waits), issue("shop-a"), issue("shop-c"))
    assert offered(scene, who=ONLY) == ["beads:shop-a", "beads:shop-c"]
    beads(scene, issue("shop-b", dependencies=waits), issue("shop-a", "closed"))
    assert offered(scene, who=ONLY) == ["beads:shop-b"]


def test_the_most_urgent_of_a_list_is_offered_first(scene: Scene) -> None:
    (scene.repo / INBOX).unlink()
    beads(scene, issue("shop-a", priority=3), issue("shop-b", priority=0), issue("shop-c"))
    assert offered(scene, who=ONLY) == ["beads:shop-b", "beads:shop-c", "beads:shop-a"]


def test_of_a_task_with_open_parts_a_part_is_offered(scene: Scene) -> None:
    (scene.repo / INBOX).unlink()
    beads(scene, issue("shop-a"), issue("shop-a.1"), issue("shop-a.2", "closed"))
    assert offered(scene, who=ONLY) == ["beads:shop-a.1"]
    beads(scene, issue("shop-a"), issue("shop-a.1", "closed"), issue("shop-a.2", "closed"))
    assert offered(scene, who=ONLY) == ["beads:shop-a"]


def test_what_somebody_has_or_has_done_is_not_offered(scene: Scene, process: Process) -> None:
    (scene.repo / INBOX).unlink()
    beads(scene, issue("shop-a"), issue("shop-b"), issue("shop-c"))
    who = agent(TETHER_PID=str(process.pid))
    scene.done("claim", "beads:shop-a", who=who)
    scene.done("claim", "beads:shop-b", who=who)
    scene.done("finish", "beads:shop-b", who=who)
    assert offered(scene, who=ONLY) == ["beads:shop-c"]


# New work of the lists


def test_waiting_makes_a_task_of_a_list_more_urgent(scene: Scene) -> None:
    """One priority per `tasks.ageing_days`, for lists that say when a task was written down."""
    task = "---\nid: task-{}\ntitle: Task\nstatus: To Do\ncreated_date: '{}'\npriority: {}\n---\n"
    days = [clock.text(ago(since))[:10] for since in (60, 1, 1)]
    for number, (day, priority) in enumerate(zip(days, ("low", "medium", "high"), strict=True)):
        name = f"backlog/tasks/task-{number} - Task.md"
        scene.write(name, task.format(number, day, priority))

    def order(ageing_days: int) -> list[str]:
        named = agent(SESSION, TETHER_TASKS_AGEING_DAYS=str(ageing_days))
        return [key for key in offered(scene, who=named) if key.startswith("backlog:")]

    assert order(0) == ["backlog:TASK-2", "backlog:TASK-1", "backlog:TASK-0"]
    assert order(40) == ["backlog:TASK-2", "backlog:TASK-0", "backlog:TASK-1"]
    assert order(15) == ["backlog:TASK-0", "backlog:TASK-2", "backlog:TASK-1"]

    def why(ageing_days: int) -> dict[str, str]:
        named = agent(SESSION, TETHER_TASKS_AGEING_DAYS=str(ageing_days))
        value = scene.done("next", "--limit", "20", "--json", who=named).json
        return {each["key"]: each["why"] for each in value["tasks"]}

    assert why(15)["backlog:TASK-0"] == "free, priority low, waiting for 60 days"
    assert why(15)["backlog:TASK-1"] == "free, priority normal"
    assert why(61)["backlog:TASK-0"] == "free, priority low", "that has lifted nothing"


def test_a_file_says_for_how_long_it_waits(scene: Scene) -> None:
    long_ago = clock.text(ago(40.5))
    fields = f"title: Old\nagent: ''\nstatus: new\npriority: low\ncreated_at: {long_ago}\n"
    scene.write("work/inbox/T-1.yaml", f"id: T-1\n{fields}")
    first = scene.done("next", "--json").json["task"]
    assert (first["key"], first["why"]) == ("T-1", "free, priority low, waiting for 40 days")
    assert "why: free, priority low, waiting for 40 days" in scene.done("next").out


# Who dropped it, and what is more urgent


def test_of_those_whose_owner_died_the_more_urgent_comes_first(scene: Scene) -> None:
    """A sweep of the list knows how urgent each is, and the store alone does not."""
    scene.plan("- [ ] H.1.1 One", "- [ ] H.1.2 Two (P0)", "- [ ] H.1.3 Three")
    for number, task in enumerate(("H.1.1", "H.1.2", "H.1.3")):
        drop(scene, task, f"s-{number}")
    page = scene.done("vacuum", "--json").json["vacuum"]["orphans"]
    assert page[0]["id"] == "H.1.2"
    assert offered(scene)[0] == "track:H.1.2"
    assert orient(scene)["orphans"]["first"][0]["key"] == "track:H.1.2"


def test_who_died_did_not_let_go(scene: Scene) -> None:
    drop(scene, OWN, OTHER)
    scene.done("sweep")
    said = scene.done("task", "list").out
    assert "had it and is gone" in said
    assert "let go" not in said
