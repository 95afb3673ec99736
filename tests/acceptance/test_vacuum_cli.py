"""`tether vacuum`, as real processes in a repository where work was dropped in several ways."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import sys
import unicodedata
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import agency, parts, trails
from tests.acceptance.test_bad_input import can_mount
from tests.conftest import Tether
from tests.scenes import BY_HAND, OTHER, PERSON, SESSION, TRACK, Git, Scene, agent
from tether import clock, ids
from tether.agents import claims, registry
from tether.store import port, sql
from tether.vacuum import model, reports

OWN = "T20261101-abc123"
POOL = "plans/TRACK-P-POOL.md"
TITLES = ("Walls", "Roof", "Doors", "Cellar", "Windows", "Garden", "Chimney")
REPORTS = sql.Query("reports", "", "SELECT * FROM vacuum_reports ORDER BY id")
JUDGED = {
    "key", "source", "id", "title", "state", "track", "priority", "owner", "where",
    "last_activity", "last_session", "findings", "evidence",
}  # fmt: skip


def ago(days: float) -> int:
    """A time so many days ago, in milliseconds."""
    return clock.SystemClock().now_ms() - round(days * model.DAY_MS)


def own_task(scene: Scene, *, days: float = 12, priority: str = "high") -> None:
    """A task file that somebody began so long ago, as the commits of that time show."""
    head = f"id: {OWN}\ntitle: Own it\npriority: {priority}\n"
    new = scene.write(f"work/inbox/{OWN}.yaml", f"{head}agent: ''\nstatus: new\n")
    scene.commit("Write it down", at_ms=ago(days + 1))
    new.unlink()
    began = f"agent: bo\nstatus: in_progress\nstarted_at: {clock.text(ago(days))}\n"
    scene.write(f"work/assigned/bo/{OWN}.yaml", f"{head}{began}")
    scene.commit("Start it", at_ms=ago(days))


def work(scene: Scene, task: str, days: float, session: str = "", *, forgets: bool = False) -> None:
    """Have a session that worked on a task so long ago; it came to rest, or was compacted."""
    name = session or str(uuid.uuid5(uuid.NAMESPACE_OID, task))
    talk = scene.talk(name)
    lines = (
        talk.tool("Bash", command="make", description=f"{task}: Make it"),
        talk.result("made"),
        talk.compaction() if forgets else talk.said("The walls stand."),
    )
    for number, line in enumerate(lines):
        talk.add(line, ago(days) + number * 1000)


def drop(scene: Scene, task: str = "H.1.1", session: str = OTHER) -> None:
    """Have somebody claim a task, and be killed."""
    process = agency.sleeper()
    scene.done("claim", task, who=agent(session, TETHER_PID=str(process.pid)))
    agency.end(process)


def tick(scene: Scene, task: str, box: str = "x") -> None:
    path = scene.repo / TRACK
    path.write_text(path.read_text().replace(f"[ ] {task} ", f"[{box}] {task} "))


@contextlib.contextmanager
def opened(scene: Scene) -> Iterator[port.Store]:
    store = trails.store_of(scene.repo)
    try:
        yield store
    finally:
        store.close()


def rows(scene: Scene) -> list[port.Row]:
    """Every finding as the store has it."""
    with opened(scene) as store:
        return store.rows(REPORTS)


def open_types(scene: Scene, task: str) -> list[str]:
    """What the store says is wrong with a task of the track."""
    with opened(scene) as store:
        return [each.orphan_type for each in reports.open_of(store, ids.TaskKey("track", task))]


def told(scene: Scene, *words: str, **settings: str) -> Any:
    """What `tether vacuum` says for programs."""
    return scene.done("vacuum", *words, "--json", who={**PERSON, **settings}).json["vacuum"]


def names(found: list[dict[str, Any]]) -> list[str]:
    return [each["id"] for each in found]


@pytest.fixture
def scene(repo: Path, environ: dict[str, str], git: Git, tether: Tether) -> Scene:
    """Two tracks and a store.

    H.1.2 was begun 9 days ago and H.1.7 40 days ago, H.1.3 was forgotten by its session 2 days ago,
    H.1.4 was ticked without a trace of work, H.1.5 is done but for its mark. Nobody has begun the
    others. The track P is silent for 50 days.
    """
    scene = Scene(repo, environ, git, tether)
    scene.commits("--amend", "-qm", "Begin", at_ms=ago(70))
    lines = "".join(f"- [ ] H.1.{n} {title}\n" for n, title in enumerate(TITLES, 1))
    scene.write(TRACK, f"# Track H\n\n## H.1: House\n\n{lines}")
    scene.write(POOL, "# Track P\n\n- [ ] P.1.1 Dig\n- [ ] P.1.2 Fill\n")
    scene.commit("Plan", at_ms=ago(60))
    work(scene, "P.1.1", 50)
    work(scene, "H.1.7", 40)
    work(scene, "H.1.2", 9)
    scene.commit("feat(H.1.2): Begin", "a.py", at_ms=ago(9))
    tick(scene, "H.1.4")
    scene.commit("Go on", at_ms=ago(5))
    scene.commit("feat(H.1.5): done", "b.py", at_ms=ago(3))
    work(scene, "H.1.3", 2, SESSION, forgets=True)
    scene.make_store()
    return scene


@pytest.fixture
def small(repo: Path, environ: dict[str, str], git: Git, tether: Tether) -> Scene:
    """One track with two tasks that nobody has begun, and a store."""
    scene = Scene(repo, environ, git, tether)
    scene.plan()
    scene.make_store()
    return scene


# The page


def test_the_page_says_what_was_dropped_and_why(scene: Scene) -> None:
    drop(scene)
    page = scene.done("vacuum").out.split("\n")
    assert re.fullmatch(r"Context Vacuum Report — [0-9-]{10} \(standard\)", page[0])
    assert page[1] == "═" * len(page[0])
    heads = [line for line in page if line.endswith(":")]
    assert heads == [
        "ORPHANED TASKS (action required):",
        "DONE, NOT MARKED:",
        "PARKED PROJECTS (no activity >30 days):",
        "RECENTLY ACTIVE (no action needed):",
    ]
    tagged = [re.match(r"  \[([A-Z 0-9d]+)\] +(\S+)  (\w+) ", line) for line in page]
    assert [match.groups() for match in tagged if match] == [
        ("DEAD CLAIM", "H.1.1", "Walls"),
        ("CONTEXT LOST", "H.1.3", "Doors"),
        ("STALE 9d", "H.1.2", "Roof"),
        ("DONE", "H.1.5", "Windows"),
    ]
    whys = [line.strip() for line in page if re.match(r" +(certain|[0-9]+ %): ", line)]
    assert re.match(r"certain: other-6666 has it since .* there is no process [0-9]+", whys[0])
    assert whys[1].startswith(f"88 %: session {SESSION[:8]} compacted at ")
    assert re.match(r"[89][0-9] %: nothing of its own since .*, for 9 days", whys[2])
    assert any(line.startswith("  Track P (TRACK-P-POOL)  2 open tasks, 0% done") for line in page)
    assert any(re.match(r"  H\.1 +14% done +Last: ", line) for line in page)
    assert "Summary: 3 orphans, 1 parked track, 8 total unchecked, 2 never started" in page
    assert "2 tasks last touched more than 30 days ago; --deep looks at them too." in page
    assert "`tether vacuum adopt ID` takes one up, `defer ID` says that it has time." in page


def cells(line: str) -> int:
    """How wide a terminal shows a line."""
    return sum(1 + (unicodedata.east_asian_width(char) in "WF") for char in line)


def test_the_page_fits_on_a_terminal(scene: Scene) -> None:
    drop(scene)
    own_task(scene)
    for words in (("--all",), ("--deep",), ("--limit", "1")):
        page = scene.on_a_terminal("vacuum", *words, columns=80)
        assert "ORPHANED TASKS (action required):" in page
        assert [line for line in page.split("\n") if cells(line) > 80] == [], words


@pytest.mark.parametrize(
    ("task_id", "title"),
    [
        ("house-with-a-very-long-name-of-its-own-1234567", "Build it"),
        ("house-1", "Build " + "it and " * 60),
        ("house-1", "屋根を" * 40),
    ],
    ids=["long id", "long title", "wide title"],
)
def test_no_task_is_too_long_for_the_page(small: Scene, task_id: str, title: str) -> None:
    issue = {"id": task_id, "title": title, "status": "open", "issue_type": "task"}
    small.write(".beads/issues.jsonl", json.dumps(issue) + "\n")
    drop(small, f"beads:{task_id}")
    page = small.on_a_terminal("vacuum", columns=80)
    assert "[DEAD CLAIM]" in page
    assert [line for line in page.split("\n") if cells(line) > 80] == []


def test_the_quick_answer_fits_on_a_terminal(small: Scene) -> None:
    drop(small)
    page = small.on_a_terminal("vacuum", "--quick", columns=80)
    assert [line for line in page.split("\n") if cells(line) > 80] == []


def test_where_nothing_was_dropped_that_is_said(small: Scene) -> None:
    small.done("claim", "H.1.1")
    small.done("finish", "H.1.1")
    page = small.done("vacuum").out
    assert "ORPHANED" not in page
    assert "Summary: 0 orphans, 0 parked tracks, 1 total unchecked, 1 never started" in page


def test_one_line_is_enough(scene: Scene) -> None:
    drop(scene)
    said = "Orphaned Tasks: 3 (1 dead claim, 1 lost context, 1 stale)\n"
    assert scene.done("vacuum", "--compact").out == said
    assert scene.on_a_terminal("vacuum", "--compact") == said
    assert scene.done("vacuum", "--compact", "--type", "dead_claim").out == (
        "Orphaned Tasks: 1 (1 dead claim)\n"
    )


def test_it_goes_by_the_name_of_orphans_too(scene: Scene) -> None:
    assert scene.done("orphans", "--compact").out == scene.done("vacuum", "--compact").out
    assert names(scene.done("orphans", "--json").json["vacuum"]["orphans"]) == ["H.1.3", "H.1.2"]
    assert scene.run("orphans", "adopt", "track:H.9.9").code == 5


def test_an_agent_gets_the_page_inside_a_fence(scene: Scene) -> None:
    page = scene.done("vacuum", who=agent()).out.split("\n")
    assert re.match(
        r"<<tether-fence \w+ begin source=vacuum author=others trust=untrusted>>", page[0]
    )
    assert re.match(r"<<tether-fence \w+ end>>", page[-2])
    assert all(line.startswith("|") for line in page[2:-2])
    assert any("ORPHANED TASKS" in line for line in page)


def test_a_task_file_is_swept_as_well(scene: Scene) -> None:
    own_task(scene)
    [found] = [each for each in told(scene)["orphans"] if each["id"] == OWN]
    assert (found["key"], found["track"], found["priority"]) == (OWN, "work", "high")
    assert (found["owner"], found["state"]) == ("bo", "in_progress")
    assert found["findings"][0]["type"] == "stale_in_progress"


def test_who_had_a_task_is_named_also_when_it_was_freed(scene: Scene) -> None:
    drop(scene)
    wanted = r"\[DEAD CLAIM\] +H.1.1  Walls .* Last: [0-9-]{10} \(other-6666, dead\)\n"
    assert re.search(wanted, scene.done("vacuum").out)
    assert "freed track:H.1.1" in scene.done("session", "gc").out
    assert re.search(wanted, scene.done("vacuum").out)
    [found] = [each for each in told(scene)["orphans"] if each["id"] == "H.1.1"]
    assert (found["owner"], found["last_session"]) == ("other-6666", OTHER)


# For programs


def test_programs_get_all_of_it(scene: Scene) -> None:
    drop(scene)
    value = told(scene)
    assert list(value) == [
        "sweep", "at", "project", "orphans", "done_unmarked", "others", "parked", "active",
        "flags", "counts", "unchecked", "left_out", "older", "recorded", "why_not_recorded",
        "saved", "problems", "untrusted", "trend",
    ]  # fmt: skip
    assert (value["sweep"], value["project"], value["unchecked"]) == ("standard", "repo", 8)
    assert set(value["counts"]) == {*model.TYPES, "orphans", "deferred"}
    assert (value["counts"]["orphans"], value["counts"]["never_started"]) == (3, 2)
    for each in (*value["orphans"], *value["done_unmarked"]):
        assert set(each) == JUDGED
        assert set(each["evidence"]) == {"claim_at", "broadcast_at", "log_mention", "commit"}
        for finding in each["findings"]:
            assert set(finding) == {"type", "grade", "probability", "reasons", "pointers"}
            assert 0 < finding["probability"] <= 1
    dead, lost, stale = value["orphans"]
    assert (dead["key"], dead["findings"][0]["grade"]) == ("track:H.1.1", "certain")
    assert (dead["owner"], dead["last_session"]) == ("other-6666", OTHER)
    assert dead["evidence"]["claim_at"] is not None
    assert (lost["last_session"], lost["findings"][0]["type"]) == (SESSION, "context_lost")
    wanted = ("log", "-1", "--format=%H", "--grep", "H.1.2")
    assert stale["evidence"]["commit"] == scene.git(*wanted, cwd=scene.repo)
    [parked] = value["parked"]
    assert (parked["name"], parked["open"], parked["begun"]) == ("P", 2, 0)
    assert value["recorded"] == {"new": len(rows(scene)), "settled": 0}
    assert (value["saved"], value["problems"]) == (None, [])


def test_two_sweeps_of_the_same_say_the_same(scene: Scene) -> None:
    changing = ("at", "recorded", "trend")
    first, second = told(scene), told(scene)
    assert second["recorded"] == {"new": 0, "settled": 0}
    assert {k: v for k, v in first.items() if k not in changing} == {
        k: v for k, v in second.items() if k not in changing
    }


# Quick and deep


def test_a_quick_sweep_tells_what_the_store_knows(scene: Scene) -> None:
    drop(scene)
    head, row, rest, _ = scene.done("vacuum", "--quick").out.split("\n")
    assert head == "Orphaned Tasks: 1 (1 dead claim)"
    assert row.startswith("  H.1.1  dead claim: other-6666 has it since ")
    assert rest == "Run `tether vacuum` for the full analysis."
    assert scene.done("vacuum", "--quick", "--compact").out == head + "\n"
    value = told(scene, "--quick")
    assert list(value) == ["sweep", "at", "project", "orphans", "untrusted"]
    assert (value["sweep"], names(value["orphans"])) == ("quick", ["H.1.1"])
    assert [each["orphan_type"] for each in rows(scene)] == ["dead_claim"]
    with opened(scene) as store:
        [kept] = reports.sweeps(store, 10)
    assert (kept.sweep_type, (kept.finished_at or "") > kept.started_at) == ("quick", True)
    assert scene.done("vacuum", "--quick", who=agent()).out.startswith("<<tether-fence ")


def silent(scene: Scene, task: str, session: str = SESSION) -> None:
    """Have somebody without a process claim a task, and be silent for twenty minutes."""
    scene.done("claim", task, who=agent(session))
    with opened(scene) as store:
        agency.silence(store, session, 1200)


def test_a_quick_sweep_does_not_tell_what_is_less_probable(small: Scene) -> None:
    """It is written down; whose process is gone is told."""
    silent(small, "H.1.2")
    said = "Orphaned Tasks: 0\nRun `tether vacuum` for the full analysis.\n"
    assert small.done("vacuum", "--quick").out == said
    assert small.done("vacuum", "--quick", "--compact").out == "Orphaned Tasks: 0\n"
    assert told(small, "--quick", "--type", "dead_claim")["orphans"] == []
    for kind in ("dead_claim", "any"):
        assert small.run("vacuum", "--quick", "--fail-on", kind).code == 0
    assert open_types(small, "H.1.2") == ["dead_claim"]
    hasty = {"TETHER_VACUUM_ALERT_PERCENT": "1"}
    assert names(told(small, "--quick", **hasty)["orphans"]) == ["H.1.2"]
    ended = small.run("vacuum", "--quick", "--fail-on", "any", who={**PERSON, **hasty})
    assert ended.code == 6
    drop(small, "H.1.1")
    assert names(told(small, "--quick")["orphans"]) == ["H.1.1"]


def test_who_cleans_up_is_not_told_what_is_less_probable(small: Scene) -> None:
    silent(small, "H.1.2")
    page = small.done("session", "gc").out
    assert "No task is orphaned, as far as the store can tell." in page


def test_a_quick_sweep_counts_each_task_once(small: Scene) -> None:
    """H.1.1 has a dead claim and an abandoned conflict, and H.1.2 is only held for long."""
    key, spot = ids.TaskKey("track", "H.1.1"), agency.spot()
    first, second, alive = (agency.sleeper() for _ in range(3))
    back = sql.Query("back", "", "UPDATE claims SET claimed_at = :at WHERE task = 'H.1.2'")
    with opened(small) as store:
        for name, process in (("s1", first), ("s2", second), ("s3", alive)):
            agency.begin(store, name, pid=process.pid)
        claims.take(store, spot, "s1", key)
        registry.beat(store, spot, "s2", registry.News(key=key))
        claims.take(store, spot, "s3", ids.TaskKey("track", "H.1.2"))
        at = clock.text(ago(2))
        store.write("test", lambda transaction: transaction.rows(back, at=at))
    agency.end(first)
    agency.end(second)
    page = small.done("vacuum", "--quick").out.split("\n")
    agency.end(alive)
    assert page[0] == "Orphaned Tasks: 1 (1 dead claim)"
    assert page[1].startswith("  H.1.1  dead claim: agent-s1 has it since ")
    assert page[2] == "Also: 1 conflict, 1 long claim"
    assert page[3].startswith("  H.1.1  conflict abandoned: agent-s2 and agent-s1 both wanted it ")
    assert page[4].startswith("  H.1.2  long claim: agent-s3 has had it for 2 days")
    assert page[5:] == ["Run `tether vacuum` for the full analysis.", ""]


def test_a_quick_sweep_refuses_what_it_cannot_filter_by(scene: Scene) -> None:
    drop(scene)
    assert names(told(scene, "--quick", "--type", "dead_claim")["orphans"]) == ["H.1.1"]
    assert names(told(scene, "--quick", "--type", "long_claim")["orphans"]) == []
    for words in (("--track", "P"), ("--age", "2d"), ("--project", "other"), ("--save",)):
        ended = scene.run("vacuum", "--quick", *words)
        assert (ended.code, "Nothing was changed." in ended.err) == (2, True), words


def test_a_deep_sweep_looks_at_what_is_older(scene: Scene) -> None:
    assert names(told(scene)["orphans"]) == ["H.1.3", "H.1.2"]
    assert told(scene)["older"] == 2
    deep = told(scene, "--deep")
    assert names(deep["orphans"]) == ["H.1.3", "H.1.7", "H.1.2"]
    assert "(deep)" in scene.done("vacuum", "--deep").out


def test_only_a_deep_sweep_doubts_what_is_marked_as_done(scene: Scene) -> None:
    assert "H.1.4" not in names(told(scene, "--all")["others"])
    [found] = [each for each in told(scene, "--deep", "--all")["others"] if each["id"] == "H.1.4"]
    [finding] = found["findings"]
    assert (finding["type"], finding["grade"]) == ("done_unproven", "suspect")
    assert finding["reasons"][0].endswith("and nothing shows work on it")


def test_quick_and_deep_exclude_each_other(small: Scene) -> None:
    assert small.run("vacuum", "--quick", "--deep").code == 2
    ended = small.run("vacuum", "--adopt", "H.1.1", "--defer", "H.1.1")
    assert (ended.code, "exclude each other" in ended.err) == (2, True)


# Filters


def test_a_track_is_chosen_whatever_its_letters(scene: Scene) -> None:
    assert names(told(scene, "--track", "h")["orphans"]) == ["H.1.3", "H.1.2"]
    value = told(scene, "--track", "P")
    assert (value["orphans"], [each["name"] for each in value["parked"]]) == ([], ["P"])
    both = told(scene, "--track", "H", "--track", "P")
    assert (len(both["orphans"]), len(both["parked"])) == (2, 1)


def test_a_track_that_is_not_there_is_a_typo(scene: Scene) -> None:
    scene.write("specs/001-login/tasks.md", "- [ ] T012 Sign in\n")
    assert "001-login" in {each["name"] for each in told(scene)["parked"]}
    ended = scene.run("vacuum", "--track", "001-logni", "--json")
    assert (ended.code, ended.json["error"]["hint"]) == (5, "Did you mean 001-login?")
    ended = scene.run("vacuum", "--track", "zzzz")
    assert (ended.code, "tether task list" in ended.err) == (5, True)


def test_a_track_that_is_not_there_changes_nothing(scene: Scene) -> None:
    assert "Nothing was changed." in scene.run("vacuum", "--track", "Q").err
    assert rows(scene) == []


def test_the_project_is_known_by_its_name(scene: Scene) -> None:
    assert len(told(scene, "--project", "repo")["orphans"]) == 2
    ended = scene.run("vacuum", "--project", "other")
    assert (ended.code, "This is the project repo" in ended.err) == (5, True)


def test_types_priorities_and_ages_are_chosen(scene: Scene) -> None:
    own_task(scene)
    assert names(told(scene)["orphans"]) == ["H.1.3", OWN, "H.1.2"]
    assert names(told(scene, "--type", "context_lost")["orphans"]) == ["H.1.3"]
    two = ("--type", "context_lost", "--type", "done_unmarked")
    assert names(told(scene, *two)["orphans"]) == ["H.1.3"]
    assert "H.1.5" in names(told(scene, *two)["done_unmarked"])
    assert names(told(scene, "--priority", "high")["orphans"]) == [OWN]
    assert names(told(scene, "--age", "8d")["orphans"]) == [OWN, "H.1.2"]
    assert names(told(scene, "--age", "11d")["orphans"]) == [OWN]
    assert names(told(scene, "--age", "11d", "--priority", "normal")["orphans"]) == []
    assert scene.run("vacuum", "--age", "long").code == 2
    assert scene.run("vacuum", "--type", "lost").code == 2
    assert scene.run("vacuum", "--priority", "some").code == 2


def test_a_summary_is_of_what_was_asked_for(scene: Scene) -> None:
    head = "Summary of what was asked for: "
    page = scene.done("vacuum", "--track", "H").out
    assert f"{head}2 orphans, 0 parked tracks, 6 total unchecked\n" in page
    assert "1 task last touched more than 30 days ago" in page, "H.1.7"
    page = scene.done("vacuum", "--age", "3w").out
    assert f"{head}0 orphans, 1 parked track\n" in page, "P is silent for 50 days"
    page = scene.done("vacuum", "--type", "dead_claim").out
    assert "Nothing of what was asked for was found. Orphans without these filters: 2." in page
    assert "Nothing was dropped." not in page


def test_what_is_shown_with_all_is_of_what_was_asked_for(scene: Scene) -> None:
    """Of the parked track P one task was begun, and only a deep sweep looks at that."""
    assert told(scene, "--deep")["left_out"] > told(scene, "--deep", "--track", "P")["left_out"]
    for track in ("H", "P"):
        few, many = (told(scene, "--deep", "--track", track, *all_) for all_ in ((), ("--all",)))
        kinds = ("orphans", "done_unmarked", "others")
        counts = [sum(len(value[kind]) for kind in kinds) for value in (few, many)]
        assert counts[1] - counts[0] == few["left_out"], track


def test_what_is_less_probable_or_parked_is_shown_if_asked_for(scene: Scene) -> None:
    deep = told(scene, "--deep")
    assert deep["left_out"] > 0
    assert f"{deep['left_out']} less probable or of what is parked; --all shows them." in (
        scene.done("vacuum", "--deep").out
    )
    everything = told(scene, "--deep", "--all")
    assert everything["left_out"] == 0
    assert set(names(everything["orphans"])) == {"H.1.2", "H.1.3", "H.1.7", "P.1.1"}


def test_a_page_shows_so_many_and_programs_get_all(scene: Scene) -> None:
    page = scene.done("vacuum", "--limit", "1").out
    assert ("H.1.3" in page, "  1 more; --limit shows them." in page) == (True, True)
    assert not re.search(r"\[STALE", page)
    assert len(told(scene, "--limit", "1")["orphans"]) == 2
    assert scene.run("vacuum", "--limit", "0").code == 2


# To fail on


def test_a_call_fails_on_findings_of_a_type(scene: Scene) -> None:
    assert scene.run("vacuum", "--fail-on", "dead_claim").code == 0
    ended = scene.run("vacuum", "--fail-on", "stale_in_progress")
    assert (ended.code, "ORPHANED TASKS" in ended.out) == (6, True)
    assert "should fail on: stale_in_progress" in ended.err
    for kind in ("any", "context_lost", "done_unmarked", "parked_project"):
        assert scene.run("vacuum", "--fail-on", kind).code == 6, kind
    ended = scene.run("vacuum", "--fail-on", "dead_claim", "--fail-on", "any", "--json")
    assert (ended.code, ended.json["ok"]) == (6, True)
    assert scene.run("vacuum", "--fail-on", "any", "--type", "dead_claim").code == 0


def test_a_quick_call_fails_too(scene: Scene) -> None:
    assert scene.run("vacuum", "--quick", "--fail-on", "any").code == 0
    drop(scene)
    assert scene.run("vacuum", "--quick", "--fail-on", "dead_claim").code == 6


def test_to_fail_on_what_is_no_type_is_an_error(small: Scene) -> None:
    ended = small.run("vacuum", "--fail-on", "stale", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, "usage")
    assert "stale_in_progress" in ended.json["error"]["hint"]


# Documents


def test_a_report_is_saved_as_a_dated_document(scene: Scene) -> None:
    value = told(scene, "--save")
    name = f"vacuum-reports/{value['at'][:10]}-vacuum-standard.md"
    assert value["saved"] == name
    document = (scene.repo / name).read_text()
    assert document.startswith(f"# Context Vacuum Report — {value['at'][:10]}\n")
    heads = re.findall(r"^## (.*)$", document, re.MULTILINE)
    assert heads == [
        "Orphaned tasks (action required)", "Done, not marked", "Parked", "Recently active",
    ]  # fmt: skip
    assert "| `CONTEXT LOST` | `track:H.1.3` | `Doors` |" in document
    assert "track:H.1.2" in document
    assert "- Summary: 2 orphans, 1 parked track, 8 total unchecked, 3 never started\n" in document
    assert f"Saved as {name}." in scene.done("vacuum", "--save").out
    assert len(list((scene.repo / "vacuum-reports").iterdir())) == 1, "one a day"


def test_a_setting_saves_every_standard_and_deep_report(scene: Scene) -> None:
    scene.write("tether.toml", '[vacuum]\nsave_dir = "notes/orphans"\n')
    value = told(scene)
    assert value["saved"] == f"notes/orphans/{value['at'][:10]}-vacuum-standard.md"
    assert told(scene, "--deep", "--type", "dead_claim")["saved"].endswith("-vacuum-deep.md")
    scene.done("vacuum", "--quick")
    found = sorted((scene.repo / "notes/orphans").iterdir())
    assert len(found) == 2
    assert "H.1.7" in found[0].read_text(), "what is kept for later is whole"


def test_no_report_is_saved_outside_of_the_repository(small: Scene) -> None:
    for place in ("../out", "/tmp/out-of-it"):
        assert small.run("vacuum", "--save", TETHER_VACUUM_SAVE_DIR=place).code != 0, place
    assert not (small.repo.parent / "out").exists()


def test_no_title_breaks_a_document_or_a_terminal(small: Scene) -> None:
    title = (
        "Pay | `now` \x1b[31mred\x1b]0;owned\x07\n# Heading\n<script> [x](y) **b** \u202egpj.exe"
    )
    issue = {"id": "shop-1", "title": title, "status": "open", "issue_type": "task"}
    small.write(".beads/issues.jsonl", json.dumps(issue) + "\n")
    drop(small, "beads:shop-1")
    value = told(small, "--save")
    document = (small.repo / value["saved"]).read_text()
    assert [line for line in document.split("\n") if line.startswith("#")] == [
        f"# Context Vacuum Report — {value['at'][:10]}",
        "## Orphaned tasks (action required)",
        *re.findall("^## (?:Parked|Recently active)$", document, re.MULTILINE),
    ]
    [row] = [line for line in document.split("\n") if "beads:shop-1" in line]
    assert len(re.findall(r"(?<!\\)\|", row)) == 7, "six columns"
    outside = re.sub(r"`[^`]*`", "", row)
    assert re.fullmatch(r"[| ]+", outside), "what others wrote is code"
    for shown in (document, small.done("vacuum").out, json.dumps(value, ensure_ascii=False)):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown.replace("\n", ""))
    page = small.on_a_terminal("vacuum")
    assert "[DEAD CLAIM]  shop-1  Pay | `now`" in page
    assert "\x1b" not in page


# Without a store


def test_without_a_store_it_looks_and_makes_none(scene: Scene) -> None:
    shutil.rmtree(scene.repo / ".git" / "tether")
    ended = scene.done("vacuum")
    assert "[STALE 9d]" in ended.out
    assert "Not written down: there is no store yet; `tether init` makes one" in ended.out
    value = told(scene)
    assert (value["recorded"], len(value["orphans"])) == (None, 2)
    assert value["why_not_recorded"].startswith("there is no store yet")
    assert scene.done("vacuum", "--quick").out.startswith("Orphaned Tasks: 0\n")
    assert not list((scene.repo / ".git" / "tether").glob("*store*"))
    assert not list((scene.repo / ".git" / "tether").glob("tether.db*"))


def read_only(scene: Scene, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command where `.git` is read-only, as sandboxes show it to their agents."""
    place = scene.repo / ".git"
    mount = f"mount --bind {place} {place} && mount -o remount,bind,ro {place}"
    return subprocess.run(
        ["unshare", "--mount", "bash", "-c", f'{mount} && exec "$@"', "bash",
         sys.executable, "-m", "tether", *words],
        cwd=scene.repo, env={**scene.environ, **PERSON, **BY_HAND},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_store_that_cannot_be_written_does_not_hide_the_report(scene: Scene) -> None:
    parts.need(can_mount(), "mount namespaces (unshare --mount)")
    drop(scene)
    for words in ((), ("--deep",)):
        ended = read_only(scene, "vacuum", *words)
        assert ended.returncode == 0, ended.stderr
        assert "[DEAD CLAIM]" in ended.stdout
        assert "[STALE 9d]" in ended.stdout
        assert "Not written down: The store can be read but not written" in ended.stdout
    value = json.loads(read_only(scene, "vacuum", "--json").stdout)["vacuum"]
    assert (value["recorded"], bool(value["why_not_recorded"])) == (None, True)
    assert rows(scene) == []


def test_a_quick_sweep_tells_also_where_it_cannot_write(scene: Scene) -> None:
    parts.need(can_mount(), "mount namespaces (unshare --mount)")
    drop(scene)
    ended = read_only(scene, "vacuum", "--quick")
    assert (ended.returncode, "dead claim" in ended.stdout) == (0, True), ended.stderr
    ended = read_only(scene, "orient")
    assert (ended.returncode, "Orphaned Tasks: 1" in ended.stdout) == (0, True), ended.stderr


# Settings


def test_patience_is_a_setting(scene: Scene) -> None:
    assert "H.1.2" in names(told(scene)["orphans"])
    patient = told(scene, TETHER_VACUUM_STALE_DAYS="20")
    assert [each for each in patient["orphans"] if each["id"] == "H.1.2"] == []
    scene.write("tether.toml", "[vacuum]\nstale_days = 20\n")
    assert "H.1.2" not in names(told(scene)["orphans"])


def test_how_sure_a_report_must_be_is_a_setting(scene: Scene) -> None:
    assert names(told(scene, TETHER_VACUUM_ALERT_PERCENT="89")["orphans"]) == ["H.1.2"]
    assert names(told(scene, TETHER_VACUUM_ALERT_PERCENT="95")["orphans"]) == []


def test_when_a_track_is_parked_and_what_is_old_are_settings(scene: Scene) -> None:
    value = told(scene, TETHER_VACUUM_PARKED_DAYS="55", TETHER_VACUUM_WINDOW_DAYS="55")
    assert (value["parked"], value["older"]) == ([], 0)
    assert set(names(value["orphans"])) == {"H.1.2", "H.1.3", "H.1.7", "P.1.1"}
    page = scene.done("vacuum", TETHER_VACUUM_PARKED_DAYS="45").out
    assert "PARKED PROJECTS (no activity >45 days):" in page


def test_how_long_a_claim_may_be_is_a_setting(small: Scene) -> None:
    process = agency.sleeper()
    small.done("claim", "H.1.1", who=agent(TETHER_PID=str(process.pid)))
    back = sql.Query("back", "", "UPDATE claims SET claimed_at = :at")
    with opened(small) as store:
        at = clock.text(ago(3 / 24))
        store.write("test", lambda transaction: transaction.rows(back, at=at))
    assert told(small)["others"] == []
    hasty = {"TETHER_VACUUM_LONG_CLAIM_HOURS": "2"}
    [found] = told(small, **hasty)["others"]
    assert [each["type"] for each in found["findings"]] == ["long_claim"]
    assert "[LONG CLAIM]" in small.done("vacuum", who={**PERSON, **hasty}).out
    assert [each["id"] for each in told(small, "--quick", **hasty)["orphans"]] == ["H.1.1"]
    agency.end(process)


def name_of(scene: Scene, session: str = SESSION) -> str:
    with opened(scene) as store:
        return agency.agent(store, session).agent_name


def test_a_project_that_paused_is_one_thing_to_know(scene: Scene) -> None:
    """All of it was last touched 2 days ago: with less patience than that, everything is parked."""
    value = told(scene, TETHER_VACUUM_STALE_DAYS="1")
    assert value["orphans"] == []
    assert [(each["source"], each["name"]) for each in value["parked"]] == [("project", "repo")]
    page = scene.done("vacuum", TETHER_VACUUM_STALE_DAYS="1").out
    assert ("Project repo" in page, "0 orphans, the project is parked, 8 total" in page) == (
        True,
        True,
    )


# What is kept


def test_a_sweep_is_a_row_with_its_counts(scene: Scene) -> None:
    scene.done("vacuum")
    scene.done("vacuum", "--deep", who=agent())
    with opened(scene) as store:
        deep, standard = reports.sweeps(store, 10)
    assert (standard.sweep_type, standard.swept_by, standard.project) == ("standard", "ada", "repo")
    assert (standard.unchecked, standard.counts["orphans"]) == (8, 2)
    assert (deep.sweep_type, deep.counts["orphans"], deep.counts["done_unproven"]) == ("deep", 3, 1)
    for each in (standard, deep):
        assert each.finished_at is not None
        assert each.finished_at > each.started_at, "when it ended, and not when it began"
    assert set(deep.counts) == {*model.TYPES, "orphans", "deferred"}
    newest, before, *_ = told(scene)["trend"]
    assert (newest["sweep"], before["sweep"]) == ("standard", "deep")
    assert before["counts"] == deep.counts


def test_what_was_never_started_is_counted_and_not_kept(scene: Scene) -> None:
    value = told(scene, "--deep")
    assert value["counts"]["never_started"] == 3
    kept = {each["task_id"] for each in rows(scene)}
    assert kept.isdisjoint({"H.1.1", "H.1.6", "P.1.2"})
    assert "never_started" not in {each["orphan_type"] for each in rows(scene)}


def test_a_finding_that_is_seen_again_is_the_same_one(scene: Scene) -> None:
    first = told(scene)["at"]
    before = rows(scene)
    assert {(each["created_at"], each["last_seen_at"]) for each in before} == {(first, first)}
    second = told(scene)["at"]
    after = rows(scene)
    assert [each["id"] for each in after] == [each["id"] for each in before]
    assert {(each["created_at"], each["last_seen_at"]) for each in after} == {(first, second)}
    assert f"0 new, 0 settled since {second[:10]}" in scene.done("vacuum").out


def test_a_finding_of_what_is_done_now_is_completed(scene: Scene) -> None:
    scene.done("vacuum")
    tick(scene, "H.1.5")
    scene.commit("Mark it", at_ms=ago(0))
    assert told(scene)["recorded"] == {"new": 0, "settled": 1}
    [row] = [each for each in rows(scene) if each["task_id"] == "H.1.5"]
    assert (row["resolution"], row["resolved_by"]) == ("completed", "ada")


def test_a_finding_of_what_somebody_took_up_is_adopted(scene: Scene) -> None:
    drop(scene)
    scene.done("vacuum")
    process = agency.sleeper()
    who = agent(TETHER_PID=str(process.pid))
    scene.done("claim", "H.1.1", who=who)
    scene.done("claim", "H.1.2", who=who)
    settled = told(scene)["recorded"]["settled"]
    agency.end(process)
    found = {
        (each["task_id"], each["orphan_type"]): (each["resolution"], each["resolved_by"])
        for each in rows(scene)
        if each["resolution"]
    }
    assert {task for task, _ in found} == {"H.1.1", "H.1.2"}
    [(resolution, by)] = set(found.values())
    assert (resolution, by) == ("adopted", name_of(scene))
    assert found.keys() >= {("H.1.1", "dead_claim"), ("H.1.2", "stale_in_progress")}
    assert settled == len(found)
    assert open_types(scene, "H.1.2") == []


def test_a_standard_sweep_keeps_what_only_a_deep_one_sees(scene: Scene) -> None:
    scene.done("vacuum", "--deep")
    assert open_types(scene, "H.1.4") == ["done_unproven"]
    assert told(scene)["recorded"]["settled"] == 0
    assert open_types(scene, "H.1.4") == ["done_unproven"]
    assert "stale_in_progress" in open_types(scene, "H.1.7")


def test_the_seeds_columns_have_their_values(scene: Scene) -> None:
    scene.done("vacuum")
    [row] = [each for each in rows(scene) if each["orphan_type"] == "context_lost"]
    assert (row["sweep_type"], row["task_id"], row["track"]) == ("standard", "H.1.3", "H")
    assert (row["last_session_id"], row["project"], row["resolution"]) == (SESSION, "repo", None)
    evidence = json.loads(row["evidence"])
    assert {"claim_at", "broadcast_at", "log_mention", "commit"} <= set(evidence)
    assert evidence["log_mention"] is not None
    assert evidence["reasons"][0].startswith(f"session {SESSION} compacted")
