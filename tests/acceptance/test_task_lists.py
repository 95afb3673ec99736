"""A repository that keeps several task lists at once: each is read, and its tasks have a life."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.conftest import Tether
from tests.scenes import PERSON, SESSION, TRACK, Git, Scene, agent

OWN = "T20261115-abc123"
TASKS = {
    "work": OWN,
    "track": "H.1.1",
    "speckit": "001-login.T012",
    "backlog": "TASK-7",
    "beads": "shop-a1b2",
}
# How people name them in texts and commits.
SPOKEN = {**TASKS, "speckit": "T012", "backlog": "task-7"}
ISSUE = {
    "id": "shop-a1b2",
    "title": "Sell it",
    "status": "open",
    "priority": 1,
    "issue_type": "task",
    "created_at": "2026-10-01T00:00:00Z",
    "updated_at": "2026-10-01T00:00:00Z",
}
BACKLOG = "backlog/tasks/task-7 - Count-it.md"


@pytest.fixture
def scene(repo: Path, environ: dict[str, str], git: Git, tether: Tether) -> Scene:
    """A repository with five lists, committed, and a store."""
    scene = Scene(repo, environ, git, tether)
    scene.write(TRACK, "# Track H\n\n- [ ] H.1.1 Build it\n- [ ] H.1.2 Test it\n")
    scene.write("specs/001-login/tasks.md", "## Phase 1\n\n- [ ] T012 [P] [US1] Sign in\n")
    scene.write("specs/002-cart/tasks.md", "## Phase 1\n\n- [ ] T013 Fill it\n- [ ] T014 Pay\n")
    scene.write(BACKLOG, "---\nid: task-7\ntitle: Count it\nstatus: To Do\n---\n\nCount.\n")
    scene.write(".beads/issues.jsonl", json.dumps(ISSUE) + "\n")
    scene.write(f"work/inbox/{OWN}.yaml", f"id: {OWN}\ntitle: Own it\nagent: ''\nstatus: new\n")
    scene.commit("Plan")
    scene.make_store()
    return scene


def test_all_of_them_are_detected(scene: Scene) -> None:
    found = scene.done("init", "--dry-run", "--json").json["init"]["found"]["lists"]
    assert found == (
        "track (2 tasks in 1 file), speckit (3 tasks in 2 files), backlog (1 task in 1 file),"
        " beads (1 task in 1 file)"
    )


def test_each_task_is_found_by_its_word(scene: Scene) -> None:
    login = "specs/001-login/tasks.md:3"
    for word, source, title, where in (
        (OWN, "work", "Own it", f"work/inbox/{OWN}.yaml"),
        ("H.1.1", "track", "Build it", f"{TRACK}:3"),
        ("track:H.1.1", "track", "Build it", f"{TRACK}:3"),
        ("001-login.T012", "speckit", "Sign in", login),
        ("T012", "speckit", "Sign in", login),
        ("TASK-7", "backlog", "Count it", f"{BACKLOG}:4"),
        ("task-7", "backlog", "Count it", f"{BACKLOG}:4"),
        ("backlog:task-7", "backlog", "Count it", f"{BACKLOG}:4"),
        ("shop-a1b2", "beads", "Sell it", ".beads/issues.jsonl:1"),
    ):
        task = scene.timeline(word)["task"]
        found = (task["source"], task["title"], task["state"], task["where"])
        assert found == (source, title, "new", where), word
    for task_id in TASKS.values():
        assert task_id in scene.handoff(task_id)["task"][0]


def test_each_task_has_its_own_life(scene: Scene) -> None:
    talk = scene.talk()
    oids = {}
    for source, word in SPOKEN.items():
        talk.says(f"Now {word} is next.")
        oids[source] = scene.commit(f"feat({word}): Do it", f"{source}.py")
    for source, task in TASKS.items():
        found = scene.timeline(f"{source}:{task}")["activities"]
        told = {(e["source"], e["kind"], e["what"]) for e in found}
        assert told == {
            ("git:list", "listed", "listed as new"),
            ("git:commit", "worked", "committed"),
            ("claude:transcript", "mentioned", "said"),
        }, source
        [commit] = [e for e in found if e["source"] == "git:commit"]
        assert commit["pointer"] == f"commit:{oids[source]}"


def test_what_a_list_says_over_time_is_told(scene: Scene) -> None:
    scene.write(TRACK, "# Track H\n\n- [~] H.1.1 Build it\n- [ ] H.1.2 Test it\n")
    scene.write("specs/001-login/tasks.md", "## Phase 1\n\n- [x] T012 [P] [US1] Sign in\n")
    scene.write(BACKLOG, "---\nid: task-7\ntitle: Count it\nstatus: In Progress\n---\n\nCount.\n")
    closed = {**ISSUE, "status": "closed", "updated_at": "2026-10-02T00:00:00Z"}
    scene.write(".beads/issues.jsonl", json.dumps(closed) + "\n")
    oid = scene.commit("Go on")
    expected = {"track": "started", "speckit": "ticked", "backlog": "started"}
    expected |= {"beads": "marked done"}
    for source, what in expected.items():
        found = scene.told(f"{source}:{TASKS[source]}", "git:list")
        assert [each["what"] for each in found] == ["listed as new", what], source
        assert (found[1]["kind"], found[1]["pointer"]) == ("stated", f"commit:{oid}")
    assert scene.timeline(TASKS["speckit"])["task"]["state"] == "done"


def test_a_task_of_any_list_can_be_claimed_and_worked_on(scene: Scene) -> None:
    talk = scene.talk()
    for source, task in TASKS.items():
        key = f"{source}:{task}"
        scene.done("claim", key, who=agent())
        talk.edits(f"/{source}.py")
        words = ("task", "return", task) if source == "work" else ("release", key)
        scene.done(*words, who=agent())
    for source, task in TASKS.items():
        found = scene.told(f"{source}:{task}", "claude:transcript")
        assert [each["files"] for each in found] == [[f"/{source}.py"]], source


def test_a_task_of_two_features_is_asked_back(scene: Scene) -> None:
    scene.write("specs/003-again/tasks.md", "- [ ] T012 Sign in again\n")
    ended = scene.run("timeline", "T012", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, "usage")
    assert "speckit:001-login.T012" in ended.json["error"]["message"]
    assert "speckit:003-again.T012" in ended.json["error"]["message"]
    assert scene.timeline("003-again.T012")["task"]["title"] == "Sign in again"
    assert scene.timeline("001-login.T012")["task"]["aliases"] == [], "texts do not tell which"


def test_settings_say_which_lists_count(scene: Scene) -> None:
    only = {**PERSON, "TETHER_TASKS_SOURCES": "track"}
    assert scene.done("timeline", "H.1.1", who=only).code == 0
    unread = scene.done("timeline", "speckit:001-login.T012", "--json", who=only).json
    assert unread["task"]["title"] is None, "only its history is known"
    ended = scene.run("timeline", "H.1.1", "--json", TETHER_TASKS_SOURCES="jira")
    assert (ended.code, ended.json["error"]["code"]) == (1, "config_invalid")


def test_one_task_has_one_holder_however_it_is_written(scene: Scene) -> None:
    scene.done("claim", "task-7", who=agent("s-1"))
    for word in ("TASK-7", "Task-7", "backlog:task-7", "backlog:TASK-7"):
        assert scene.run("claim", word, who=agent("s-2")).code == 4, word


def test_a_task_that_a_list_here_does_not_have_cannot_be_claimed(scene: Scene) -> None:
    assert scene.run("claim", "track:H.9.9", who=agent()).code == 5
    assert scene.run("claim", "elsewhere:H.9.9", who=agent()).code == 0


def test_who_was_replaced_ticks_nothing(scene: Scene) -> None:
    scene.done("claim", "H.1.1", who=agent("s-1"))
    scene.done("claim", "H.1.1", "--take-over", who=PERSON)
    assert scene.run("finish", "H.1.1", who=agent("s-1")).code == 4
    assert scene.git("diff", cwd=scene.repo) == ""
    scene.done("finish", "H.1.1", who=PERSON)
    assert "+- [x] H.1.1 Build it" in scene.git("diff", cwd=scene.repo)


# What is said of them


def test_where_no_file_is_free_a_task_of_the_lists_is_offered(scene: Scene) -> None:
    scene.done("claim", OWN, who=agent("s-1"))
    scene.done("claim", "H.1.1", who=agent("s-1"))
    ended = scene.done("next", "--limit", "20", "--json").json
    offered = [each["key"] for each in ended["tasks"]]
    assert ended["task"]["priority"] == "high", "the most urgent first"
    assert ended["task"]["key"].startswith("beads:")
    assert ended["task"]["why"] == "free, priority high"
    assert "track:H.1.2" in offered
    assert "track:H.1.1" not in offered, "somebody has it"
    page = scene.done("next").out
    assert "why: free, priority high" in page
    orient = scene.done("orient", "--json").json["orient"]
    assert orient["next"]["key"] == ended["task"]["key"]
    assert f"Next: {ended['task']['id']}: Sell it" in scene.done("orient").out


def test_a_task_of_a_list_is_taken_by_next(scene: Scene) -> None:
    scene.done("claim", OWN, who=agent("s-1"))
    taken = scene.done("next", "--claim", "--json", who=agent("s-2")).json
    assert taken["claim"]["key"].startswith("beads:")
    again = scene.done("next", "--json", who=agent("s-2")).json["task"]
    assert (again["key"], again["why"]) == (taken["claim"]["key"], "you have it")
    other = scene.done("next", "--claim", "--json", who=agent("s-3")).json
    assert other["claim"]["key"] != taken["claim"]["key"]


def test_where_all_is_held_the_open_tasks_of_the_lists_are_counted(scene: Scene) -> None:
    only = {**PERSON, "TETHER_TASKS_SOURCES": "track"}
    for task in (OWN, "H.1.1", "H.1.2"):
        scene.done("claim", task, who=agent("s-1"))
    ended = scene.done("next", "--json", who=only).json
    assert (ended["task"], ended["tasks"], ended["claims"]) == (None, [], [])
    assert ended["lists"] == {"track": {"open": 2, "held": 2, "total": 2}}
    assert scene.done("orient", "--json", who=only).json["orient"]["lists"] == ended["lists"]
    for verb in ("next", "orient", "next --claim"):
        page = scene.done(*verb.split(), who=only).out
        assert "2 open tasks, all held: track 2." in page, verb
        assert "`tether task list --source track` shows them, `tether claim ID` takes one." in page


def test_a_file_that_is_free_comes_before_the_lists(scene: Scene) -> None:
    ended = scene.done("next", "--json").json
    assert (ended["task"]["id"], ended["lists"]) == (OWN, None), "nobody looked there"
    assert scene.done("orient", "--json").json["orient"]["lists"] is None


def test_a_list_that_is_done_is_not_named(scene: Scene) -> None:
    only = {**PERSON, "TETHER_TASKS_SOURCES": "track"}
    scene.done("claim", OWN, who=agent())
    assert scene.done("next", who=only).out.startswith("H.1.1  new  Build it\n")
    scene.write(TRACK, "- [x] H.1.1 Build it\n- [-] H.1.2 Test it\n")
    assert scene.done("next", who=only).out == "Nothing to do: no task is free for you.\n"
    assert scene.done("next", "--json", who=only).json["lists"] == {}


def test_what_one_has_of_a_list_is_told(scene: Scene) -> None:
    scene.done("claim", OWN, who=agent("s-1"))
    scene.done("claim", "H.1.1", who=agent("s-2"))
    orient = scene.done("orient", who=agent("s-2")).out
    assert "You have track:H.1.1: Build it" in orient
    assert "free for you" not in orient
    [claim] = scene.done("orient", "--json", who=agent("s-2")).json["orient"]["claims"]
    assert claim["key"] == "track:H.1.1"
    task = scene.done("next", "--json", who=agent("s-2")).json["task"]
    assert (task["key"], task["why"]) == ("track:H.1.1", "you have it")


def test_an_empty_list_of_files_names_the_lists(scene: Scene) -> None:
    (scene.repo / f"work/inbox/{OWN}.yaml").unlink()
    assert "7 open tasks: track 2" in scene.done("task", "list").out
    assert scene.done("task", "list", "--json").json["lists"]["beads"]["open"] == 1
    assert "lists" not in scene.done("task", "list", "--agent", "ada").out


def test_a_task_that_is_held_says_by_whom(scene: Scene) -> None:
    scene.done("claim", "H.1.1", who=PERSON)
    assert "Build it  (new, held by ada)" in scene.done("timeline", "H.1.1").out
    assert scene.timeline("H.1.1")["held_by"]["agent_name"] == "ada"
    assert scene.timeline("H.1.2")["held_by"] is None
    rows = scene.done("task", "list", "--source", "track").out.split("\n")
    assert rows[1].split() == ["track:H.1.1", "new", "(held)", "normal", "ada", "Build", "it"]
    assert rows[2].split() == ["track:H.1.2", "new", "normal", "-", "Test", "it"]
    words = ("task", "list", "--source", "track", "--agent", "ada", "--json")
    [task] = scene.done(*words).json["tasks"]
    assert (task["id"], task["state"], task["held_by"]["agent_name"]) == ("H.1.1", "new", "ada")


def test_a_list_that_is_not_there_is_answered_with_those_that_are(scene: Scene) -> None:
    ended = scene.run("task", "list", "--source", "trak", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, "usage")
    assert ended.json["error"]["hint"].startswith("It has track, speckit, backlog, beads;")
    assert OWN in scene.done("task", "list", "--source", "work").out
    ended = scene.run("task", "list", "--source", "track", "--state", "dne")
    assert ended.code == 2
    assert "cancelled" in ended.err


def test_without_lists_that_is_said(repo: Path, tether: Tether) -> None:
    said = "No task lists were found in this checkout."
    assert tether("task", "list", "--source", "all", cwd=repo).out == f"{said}\n"
    assert said in tether("task", "list", "--source", "track", cwd=repo).err
    assert tether("next", cwd=repo).out == "Nothing to do: no task is free for you.\n"


def test_a_second_init_names_the_lists_again(scene: Scene) -> None:
    scene.done("init", "--yes")
    page = scene.done("init").out
    assert page.startswith("Nothing to do")
    assert "Found task lists: track (2 tasks in 1 file), " in page
    page = scene.done("init", TETHER_TASKS_SOURCES="track").out
    assert "Of these tasks.sources chooses: track." in page


def test_one_problem_is_one_problem(scene: Scene) -> None:
    scene.write(TRACK, "- [ ] H.1.1 Build it\n- [ ] H.1.1 Build it\n")
    page = scene.done("task", "list", "--source", "track").out
    assert "\n1 problem in the lists" in page
    life = scene.done("timeline", "H.1.2").out
    assert "Not shown: 1 listing; `--kind listed` shows them." in life


def test_a_name_that_no_list_has_is_held_as_a_name_only(scene: Scene) -> None:
    assert "on no list" not in scene.done("claim", OWN, who=agent()).out
    assert scene.run("claim", "X.1", who=agent()).code == 5, "where tasks have files, one must be"
    without_files(scene)
    assert "on no list" in scene.done("claim", "X.1", who=agent()).out
    assert "on no list" not in scene.done("claim", "H.1.1", who=agent()).out


def test_where_nothing_fits_that_comes_first(scene: Scene) -> None:
    scene.write(TRACK, "- [ ] H.1.1 Build it\n- [ ] H.1.1 Build it\n")
    words = ("task", "list", "--state", "in_progress", "--source")
    page = scene.done(*words, "track").out
    assert page == (
        "No such tasks in the lists.\ntrack H: 0 of 1 done\n"
        "1 problem in the lists; --json has more.\n"
    )
    assert scene.done(*words, "backlog").out == "No such tasks in the lists.\n", "its own problems"
    assert scene.done(*words, "all", "--json").json["problems"]


def test_of_many_tracks_those_that_are_complete_are_counted(scene: Scene) -> None:
    for number in range(20, 40):
        box = " " if number < 23 else "x"
        scene.write(f"specs/0{number}-a/tasks.md", f"- [x] T001 Begin\n- [{box}] T002 End\n")
    words = ("task", "list", "--source", "speckit")
    *_, fifth, fourth, third, second, last = scene.done(*words).out.splitlines()
    assert fifth == "speckit 002-cart: 0 of 2 done"
    assert (fourth, second) == ("speckit 020-a: 1 of 2 done", "speckit 022-a: 1 of 2 done")
    assert third == "speckit 021-a: 1 of 2 done"
    assert last == "17 others are complete."
    assert len(scene.done(*words, "--json").json["progress"]) == 22


# Words that mean them


def without_files(scene: Scene) -> None:
    """Have no tasks in files: then a name alone can be held."""
    shutil.rmtree(scene.repo / "work")


def test_a_part_of_an_id_is_enough_only_where_a_file_gives_the_rest(scene: Scene) -> None:
    scene.write(
        ".kiro/specs/login/tasks.md", "- [ ] 1. A\n- [ ] 1.2 B\n- [ ] 2.1.2 C\n- [ ] 3. D\n"
    )
    for word, key in (("1.2", "kiro:login.1.2"), ("3", "kiro:login.3"), ("T013", "002-cart.T013")):
        assert scene.done("claim", word, "--json", who=agent()).json["claim"]["key"].endswith(key)
        assert scene.timeline(word)["task"]["key"].endswith(key)
    assert scene.run("claim", "1.1", who=agent()).code == 5, "not H.1.1"


def test_who_acts_means_a_file_first_and_who_reads_is_asked(scene: Scene) -> None:
    scene.write("work/inbox/H.1.1.yaml", "id: H.1.1\ntitle: Own\nagent: ''\nstatus: new\n")
    assert scene.done("claim", "H.1.1", "--json", who=agent()).json["claim"]["key"] == "H.1.1"
    assert scene.run("timeline", "H.1.1").code == 2
    assert scene.done("claim", "track:H.1.1", who=agent()).code == 0


def test_an_old_id_means_the_task_that_it_became(scene: Scene) -> None:
    log = "\n## Consolidation Log\n\nX.1.1 → H.1.1\n"
    scene.write(TRACK, f"# Track H\n\n- [ ] H.1.1 Build it\n{log}")
    assert scene.timeline("X.1.1")["task"]["key"] == "track:H.1.1"
    for word in ("X.1.1", "track:X.1.1"):
        claim = scene.done("claim", word, "--json", who=agent()).json["claim"]
        assert claim["key"] == "track:H.1.1", word


def test_a_name_that_was_held_once_does_not_hide_the_task_of_a_list(scene: Scene) -> None:
    without_files(scene)
    for verb in ("claim", "release"):
        scene.done(verb, "H.1.3", who=agent("s-1"))
    scene.write(TRACK, "- [ ] H.1.3 Paint it\n")
    claim = scene.done("claim", "H.1.3", "--json", who=agent("s-2")).json["claim"]
    assert claim["key"] == "track:H.1.3"


def test_who_holds_a_name_holds_it_also_where_a_list_has_it(scene: Scene) -> None:
    without_files(scene)
    scene.done("claim", "H.1.3", who=agent("s-1"))
    scene.write(TRACK, "- [ ] H.1.3 Paint it\n")
    assert scene.run("claim", "H.1.3", who=agent("s-2")).code == 4
    assert scene.done("release", "H.1.3", who=agent("s-1")).code == 0


def test_an_id_is_written_one_way_also_where_its_list_is_not(repo: Path, tether: Tether) -> None:
    tether("claim", "backlog:task-7", cwd=repo, env=agent("s-1"))
    assert tether("claim", "backlog:TASK-7", cwd=repo, env=agent("s-2")).code == 4


# Lists that are on another branch


def test_a_task_of_a_list_that_is_not_here_is_known_by_its_past(scene: Scene) -> None:
    scene.git("checkout", "-q", "--orphan", "empty", cwd=scene.repo)
    scene.git("rm", "-rqf", ".", cwd=scene.repo)
    scene.commit("Begin again", "README.md")
    for word, key in (
        ("shop-a1b2", "beads:shop-a1b2"),
        ("task-7", "backlog:TASK-7"),
        ("H.1.1", "track:H.1.1"),
        ("001-login.T012", "speckit:001-login.T012"),
    ):
        found = scene.timeline(word)
        assert (found["task"]["key"], found["task"]["title"]) == (key, None)
        assert [each["what"] for each in found["activities"]] == ["listed as new"]
    assert scene.run("timeline", "shop-zzzz").code == 5


def test_a_task_that_two_lists_had_is_asked_back(scene: Scene) -> None:
    beads = {**ISSUE, "id": "TASK-7"}
    scene.write(".beads/issues.jsonl", json.dumps(beads) + "\n")
    scene.commit("Two of a name")
    scene.git("checkout", "-q", "--orphan", "empty", cwd=scene.repo)
    scene.git("rm", "-rqf", ".", cwd=scene.repo)
    scene.commit("Begin again", "README.md")
    ended = scene.run("timeline", "TASK-7", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, "usage")
    assert "backlog:TASK-7, beads:TASK-7" in ended.json["error"]["message"]
    assert scene.timeline("beads:TASK-7")["activities"]


def test_a_task_that_was_only_claimed_is_known_by_its_claim(repo: Path, tether: Tether) -> None:
    tether("claim", "jira:P-1", cwd=repo, env=agent())
    found = tether("timeline", "P-1", "--json", cwd=repo).json
    assert found["task"]["key"] == "jira:P-1"
    assert "claimed" in [each["what"] for each in found["activities"]]


def test_sessions_have_short_names_in_a_column(scene: Scene) -> None:
    for who in (PERSON, agent(), agent("a-session-with-a-long-name")):
        scene.done("claim", "H.1.1", who=who)
        scene.done("release", "H.1.1", who=who)
    page = scene.done("timeline", "H.1.1").out
    names = [re.split(r" {2,}", row)[3] for row in page.split("\n") if "claimed" in row]
    assert names == ["ada", SESSION[:8], "a-session-with-…"]
