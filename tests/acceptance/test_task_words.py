"""Which task a word means: the same to every command, and kindly said where it means none."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Ended, Tether
from tests.scenes import PERSON, TRACK, Git, Scene, agent

SPECS = "specs/001-login/tasks.md"
BACKLOG = "backlog/tasks/task-7 - Count-it.md"
OTHER = "plans/TRACK-B-BARN.md"


@pytest.fixture
def scene(repo: Path, environ: dict[str, str], git: Git, tether: Tether) -> Scene:
    """A repository with three lists, committed, and a store; no tasks in files."""
    scene = Scene(repo, environ, git, tether)
    scene.write(TRACK, "# Track H\n\n- [ ] H.13.9.10 Build it\n- [x] H.2 Draw it\n")
    scene.write(OTHER, "# Track B\n\n## B.1 Walls\n\n- [ ] B.1.1 Paint it\n")
    scene.write(SPECS, "- [ ] T012 Sign in\n")
    scene.write(BACKLOG, "---\nid: task-7\ntitle: Count it\nstatus: To Do\n---\n\nCount.\n")
    scene.commit("Plan")
    scene.make_store()
    return scene


def hint(ended: Ended) -> str:
    """What an answer that something was not found proposes."""
    assert (ended.code, ended.json["error"]["code"]) == (5, "not_found"), ended
    return str(ended.json["error"]["hint"])


def keys(scene: Scene, *words: str) -> list[str]:
    return [each["key"] for each in scene.done("claims", *words, "--json").json["claims"]]


# Every command


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("H.13.9.10", "track:H.13.9.10"),
        ("T012", "speckit:001-login.T012"),
        ("task-7", "backlog:TASK-7"),
    ],
)
def test_each_command_knows_a_task_of_a_list_by_its_bare_id(
    scene: Scene, word: str, key: str
) -> None:
    scene.done("claim", word, who=agent("s-1"))
    assert keys(scene, "--task", word) == keys(scene, "--task", key) == [key]
    [taken] = scene.done("events", "--task", word, "--json").json["events"]
    assert (f"{taken['source']}:{taken['task']}", taken["type"]) == (key, "claim_taken")
    scene.done("send", "all", "Go on.", "--task", word, who=PERSON)
    [sent] = scene.done("inbox", "--json", who=agent("s-1")).json["messages"]
    assert sent["task"] == key.partition(":")[2]
    for who in (agent("s-1"), agent("s-2")):
        beat = scene.done("beat", "--task", word, "--json", who=who).json["beat"]
        assert beat["task"] == key, "whether it has it or not"
    scene.done("release", word, who=agent("s-1"))
    assert keys(scene, "--task", word) == [key], "what is over, too"


def test_a_task_that_nobody_had_has_no_claims(scene: Scene) -> None:
    assert scene.done("claims", "--task", "H.13.9.10").out == "No claims.\n"
    assert scene.done("events", "--task", "H.13.9.10").out == "No events.\n"


def test_a_task_that_is_not_there_is_said_to_be_not_there(scene: Scene) -> None:
    assert hint(scene.run("claims", "--task", "nobody", "--json")).startswith("See the tasks")
    assert "Did you mean H.13.9.10?" in hint(scene.run("claims", "--task", "h.13.9.10", "--json"))
    shown = scene.done("events", "--task", "h.13.9.10").out
    assert shown == (
        "No events. There is no task h.13.9.10 in this checkout, and nobody ever had one.\n"
        "Did you mean H.13.9.10?\n"
    )
    assert scene.done("events", "--task", "nobody", "--json").json["events"] == []
    shown = scene.done("send", "all", "Go on.", "--task", "nobody").out
    assert "No task nobody is known here" in shown
    assert "known here" not in scene.done("send", "all", "Go on.", "--task", "B.1.1").out
    assert scene.done("beat", "--task", "nobody", who=agent()).code == 0, "a beat is not refused"


# What is nearly an id


@pytest.mark.parametrize("word", ["h.13.9.10", "H.13.9.1O", "H13.9.10", "H.13.9.11"])
def test_what_is_nearly_an_id_is_asked_back(scene: Scene, word: str) -> None:
    before = scene.done("events", "--json").json["events"]
    for words in (("claim",), ("timeline",), ("task", "show"), ("handoff",)):
        assert "Did you mean H.13.9.10" in hint(scene.run(*words, word, "--json")), words
    assert "Did you mean H.13.9.10" in hint(scene.run("claim", f"track:{word}", "--json"))
    assert f"A mere name is written `work:{word}`." in hint(scene.run("claim", word, "--json"))
    assert scene.done("events", "--json").json["events"] == before
    page = scene.done("claim", f"work:{word}", who=agent("s-1")).out
    assert "only its name is held" in page
    assert scene.run("claim", word, who=agent("s-2")).code == 4, "who knows it means it"


def test_a_name_that_is_near_nothing_can_be_held(scene: Scene) -> None:
    for name in ("paint-the-barn", "X.1", "T-1"):
        assert "only its name is held" in scene.done("claim", name, who=agent()).out


def test_a_file_that_is_nearly_called_so_is_named_too(scene: Scene) -> None:
    scene.done("task", "new", "Write the parser", "--id", "parser-2")
    assert hint(scene.run("timeline", "parser-3", "--json")) == "Did you mean parser-2?"


# What is said of a task that is claimed


def test_a_claim_tells_of_the_task_as_its_list_has_it(scene: Scene) -> None:
    first, *rest = scene.done("claim", "H.13.9.10").out.splitlines()
    assert first.startswith("track:H.13.9.10 is yours, epoch ")
    assert rest == ["Build it", f"  new  {TRACK}:3"]
    _, *rest = scene.done("claim", "H.2").out.splitlines()
    assert rest == ["Its list says that it is done.", "Draw it", f"  done  {TRACK}:4"]
    task = scene.done("claim", "H.2", "--json").json["task"]
    assert (task["key"], task["state"], task["path"]) == ("track:H.2", "done", TRACK)
    fenced = scene.done("claim", "B.1.1", who=agent()).out.splitlines()
    assert "| Paint it" in fenced, "somebody else's words"


# Lists that are elsewhere


def leave_lists(scene: Scene) -> None:
    """Check out a branch that has none of the lists."""
    scene.git("checkout", "-q", "--orphan", "empty", cwd=scene.repo)
    scene.git("rm", "-rqf", ".", cwd=scene.repo)
    scene.commit("Begin again", "README.md")


def claim(scene: Scene, word: str, cwd: Path | None = None) -> tuple[str, str]:
    """The key that a word means to who claims it, and what else is said."""
    ended = scene.done("claim", word, who=agent("s-1"), cwd=cwd).out.splitlines()
    return ended[0].partition(" ")[0], "\n".join(ended[1:])


AWAY = "Its list is not in this checkout."


@pytest.mark.parametrize(("word", "key"), [("B.1.1", "track:B.1.1"), ("task-7", "backlog:TASK-7")])
def test_a_list_on_another_branch_is_known_by_the_index(scene: Scene, word: str, key: str) -> None:
    scene.timeline("H.13.9.10")
    leave_lists(scene)
    assert claim(scene, word) == (key, AWAY)
    assert scene.run("claim", word, who=agent("s-2")).code == 4


def test_a_list_in_another_worktree_is_known_where_it_was_read(scene: Scene) -> None:
    scene.done("task", "list", "--source", "all")
    away = scene.repo.parent / "away"
    scene.git("worktree", "add", "-q", "--detach", str(away), cwd=scene.repo)
    shutil.rmtree(away / "plans")
    assert claim(scene, "B.1.1", away) == ("track:B.1.1", AWAY)
    assert claim(scene, "T012", away)[0] == "speckit:001-login.T012", "which is there"


def test_a_list_that_is_elsewhere_is_known_by_a_claim(scene: Scene) -> None:
    scene.done("claim", "B.1.1", who=agent("s-2"))
    scene.done("release", "B.1.1", who=agent("s-2"))
    leave_lists(scene)
    assert claim(scene, "B.1.1")[0] == "track:B.1.1"
    assert keys(scene, "--task", "B.1.1") == ["track:B.1.1", "track:B.1.1"]
    error = scene.run("finish", "B.1.1", "--json", who=agent("s-1"))
    assert "tether timeline track:B.1.1" in hint(error)
    assert (
        scene.done("release", "B.1.1", who=agent("s-1")).out == "track:B.1.1 is free: released.\n"
    )


def test_one_of_several_lists_may_be_elsewhere(scene: Scene) -> None:
    scene.timeline("B.1.1")
    (scene.repo / OTHER).unlink()
    for word in ("B.1.1", "track:B.1.1"):
        said = "It is on no list of this checkout, only on another branch or in the past."
        key, told = claim(scene, word)
        assert (key, told.partition("\n")[0]) == ("track:B.1.1", said)
        scene.done("release", word, who=agent("s-1"))


def test_what_two_lists_had_is_asked_back(scene: Scene) -> None:
    for key in ("jira:P-1", "trello:P-1"):
        scene.done("claim", key, who=agent("s-2"))
    ended = scene.run("claim", "P-1", "--json", who=agent())
    assert (ended.code, ended.json["error"]["code"]) == (2, "usage")
    assert "jira:P-1, trello:P-1" in ended.json["error"]["message"]


def test_what_is_only_mentioned_is_not_on_a_list(scene: Scene) -> None:
    scene.talk().says("X.7.7 would be nice.")
    scene.timeline("H.13.9.10")
    assert claim(scene, "X.7.7")[0] == "X.7.7"


# Verbs of files


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (["task", "history", "B.1.1"], "tether timeline track:B.1.1"),
        (["task", "restore", "B.1.1"], "tether timeline track:B.1.1"),
        (["task", "note", "B.1.1", "Hm."], "tether handoff track:B.1.1 --note"),
        (["task", "start", "B.1.1"], "tether claim track:B.1.1"),
        (["task", "return", "B.1.1"], "tether release track:B.1.1"),
        (["task", "cancel", "B.1.1", "--why", "No."], "the list itself"),
    ],
    ids=lambda value: value[1] if isinstance(value, list) else "",
)
def test_what_only_files_have_is_said_to_be_so(
    scene: Scene, words: list[str], instead: str
) -> None:
    error: dict[str, Any] = scene.run(*words, "--json").json["error"]
    assert error["code"] == "not_allowed"
    assert error["message"].startswith("track:B.1.1 is a task of a list and has no file")
    assert instead in error["hint"]


def test_a_file_that_was_lost_comes_before_a_task_of_a_list(scene: Scene) -> None:
    path = scene.write("work/inbox/B.1.1.yaml", "id: B.1.1\ntitle: Own\nagent: ''\nstatus: new\n")
    scene.commit("Write it down")
    path.unlink()
    assert "file added" in scene.done("task", "history", "B.1.1").out
    assert scene.done("task", "restore", "B.1.1").out.startswith("B.1.1 is back from ")


def test_a_section_is_no_parent(scene: Scene) -> None:
    scene.write(
        TRACK, "- [ ] H.1 House\n  - [ ] H.1.1 Walls\n\n## H.2 Garden\n\n- [ ] H.2.1 Hedge\n"
    )
    shown = scene.done("task", "show", "H.1.1").out
    assert "  parent    H.1\n" in shown
    shown = scene.done("task", "show", "H.2.1").out
    assert "parent" not in shown
    assert "  section   H.2 Garden\n" in shown
