"""A repository that keeps several task lists at once: each is read, and its tasks have a life."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Tether
from tests.scenes import PERSON, TRACK, Git, Scene, agent

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
    expected = {"track": "started", "speckit": "ticked", "backlog": "started", "beads": "ticked"}
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
