"""`tether finish` on tasks of every kind of list: one line is changed, and the claim is closed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Tether
from tests.scenes import TRACK, Git, Scene, agent

ISSUES = [
    {"id": "shop-1", "title": "Sell it", "status": "open", "priority": 1, "labels": ["a", "ü"]},
    {"id": "shop-2", "title": "Ship it", "status": "closed", "priority": 2},
]
EXPORT = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in ISSUES)
KIRO = (
    "# Plan\r\n\r\n- [ ] 1. Set up\r\n  - [x] 1.1 Begin\r\n  - [ ]* 1.2 Test\r\n  _Needs: 1.1_\r\n"
)
PLAN = "# Plan\n\n## Phase 1\n- [x] Task: Draw it [abc1234]\n- [~] Task: Build it\n  - [ ] Walls\n"
CHANGE = "## 1. Sign in\n- [x] 1.1 Form\n- [ ] 1.2 Check\n\n```\n- [ ] 1.2 Check\n```\n"
COUNT = "---\nid: task-7\ntitle: Count it\nstatus: To Do # soon\n---\n\n- [ ] #1 All\n"
COUNT_FILE = "backlog/tasks/task-7 - Count-it.md"


class List:
    """A list with a task that is to be done, and how that task's line ends up."""

    def __init__(self, source: str, path: str, content: str, title: str, line: str) -> None:
        self.source = source
        self.path = path
        self.content = content
        self.title = title
        self.line = line


LISTS = [
    List("track", TRACK, "# Track H\n\n- [ ] **H.1.1** Build it\n", "Build it", "- [x] **H.1.1**"),
    List("speckit", "specs/a/tasks.md", "- [ ] T001 [P] Do it\n", "Do it", "- [x] T001 [P] Do it"),
    List("kiro", ".kiro/specs/login/tasks.md", KIRO, "Test", "  - [x]* 1.2 Test"),
    List("openspec", "openspec/changes/login/tasks.md", CHANGE, "Check", "- [x] 1.2 Check"),
    List("conductor", "conductor/tracks/house/plan.md", PLAN, "Build it", "- [x] Task: Build it"),
    List("backlog", COUNT_FILE, COUNT, "Count it", "status: Done # soon"),
    List("beads", ".beads/issues.jsonl", EXPORT, "Sell it", '{"id": "shop-1"'),
    List("beads", ".beads/beads.jsonl", EXPORT, "Sell it", '{"id": "shop-1"'),
]


@pytest.fixture
def scene(repo: Path, environ: dict[str, str], git: Git, tether: Tether) -> Scene:
    scene = Scene(repo, environ, git, tether)
    scene.make_store()
    return scene


def tasks(scene: Scene, source: str) -> dict[str, dict[str, Any]]:
    """The tasks of a list, by title."""
    found = scene.done("task", "list", "--source", source, "--all", "--json").json["tasks"]
    return {each["title"]: each for each in found}


def changed(scene: Scene) -> list[str]:
    """The lines that were taken away and that came, byte for byte."""
    diff = scene.git("diff", "--no-color", "-U0", cwd=scene.repo).split("\n")
    return [line for line in diff if line[:1] in ("+", "-") and line[:3] not in ("+++", "---")]


def write(scene: Scene, path: str, content: str) -> None:
    scene.write(path, "").write_bytes(content.encode())
    scene.commit("Plan")


@pytest.mark.parametrize("each", LISTS, ids=lambda each: each.path)
def test_one_line_is_changed_and_the_claim_is_closed(scene: Scene, each: List) -> None:
    write(scene, each.path, each.content)
    known = tasks(scene, each.source)
    before = {title: task["state"] for title, task in known.items()}
    task = known[each.title]
    scene.done("claim", task["key"], who=agent())
    ended = scene.done("finish", task["id"], "--json", who=agent()).json
    assert (ended["task"]["key"], ended["task"]["state"]) == (task["key"], "done")
    assert (ended["from"], ended["claim"]["outcome"]) == (task["state"], "done")
    removed, added = changed(scene)
    assert removed[:1] + added[:1] == "-+"
    assert added[1:].startswith(each.line)
    after = {title: task["state"] for title, task in tasks(scene, each.source).items()}
    assert after == before | {each.title: "done"}
    assert scene.done("claims", "--json").json["claims"] == []
    assert scene.run("finish", task["id"], who=agent()).code == 4, "it is over"


def test_what_is_open_of_a_finished_task_is_told(scene: Scene) -> None:
    write(
        scene,
        TRACK,
        "- [ ] H.1 House\n  - [x] H.1.1 Walls\n  - [ ] H.1.2 Roof\n  - [ ] H.1.3 Door\n"
        "- [ ] H.2 Barn\n  - [x] Walls\n  - [ ] Roof\n",
    )
    write(scene, COUNT_FILE, COUNT.replace("All\n", "All\n- [x] #2 Some\n"))
    for word, said in (
        ("H.1", "Not done: 2 of 3 tasks below it."),
        ("H.2", "Not done: 1 of 2 parts."),
        ("H.1.1", None),
    ):
        scene.done("claim", word, who=agent())
        first, *rest = scene.done("finish", word, who=agent()).out.splitlines()
        assert first.endswith(f"→ done {TRACK}")
        commit = f"Commit {TRACK} when you are ready."
        assert rest == ([said, commit] if said else [commit])
    scene.done("claim", "task-7", who=agent())
    notes = scene.done("finish", "task-7", "--json", who=agent()).json["notes"]
    assert notes[-1] == f"Commit {COUNT_FILE} when you are ready."
    scene.done("claim", "H.1.2", who=agent())
    ended = scene.done("fail", "H.1.2", "--message", "No wood.", "--json", who=agent()).json
    assert ended["notes"] == [], "nothing was written"


def test_an_issue_of_beads_keeps_everything_else(scene: Scene) -> None:
    write(scene, ".beads/issues.jsonl", EXPORT)
    scene.done("claim", "shop-1", who=agent())
    scene.done("finish", "shop-1", who=agent())
    first, second = (scene.repo / ".beads/issues.jsonl").read_text().splitlines(keepends=True)
    issue = json.loads(first)
    assert (issue.pop("closed_at"), issue.pop("status")) == (issue.pop("updated_at"), "closed")
    assert issue == {name: value for name, value in ISSUES[0].items() if name != "status"}
    assert "ü" in first
    assert second == EXPORT.splitlines(keepends=True)[1]


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({COUNT_FILE: "---\nid: task-7\ntitle: Count it\n---\n"}, "no line for the status"),
        (
            {COUNT_FILE: COUNT, "backlog/config.yml": "statuses: [To Do, Doing]\n"},
            "no word for what is done",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_format_cannot_say_is_refused_and_the_claim_stays(
    scene: Scene, files: dict[str, str], why: str
) -> None:
    for path, content in files.items():
        write(scene, path, content)
    scene.done("claim", "task-7", who=agent())
    ended = scene.run("finish", "task-7", "--json", who=agent())
    error = ended.json["error"]
    assert (ended.code, error["code"]) == (1, "task_uneditable"), why
    assert "Nothing was changed" in error["message"]
    assert error["hint"]
    assert changed(scene) == []
    [held] = scene.done("claims", "--json").json["claims"]
    assert held["key"] == "backlog:TASK-7"
    assert tasks(scene, "backlog")["Count it"]["state"] == "new"
    scene.done("release", "task-7", "--outcome", "done", who=agent())


def test_what_only_a_file_can_keep_is_refused(scene: Scene) -> None:
    write(scene, TRACK, "- [ ] H.1.1 Build it\n")
    scene.done("claim", "H.1.1", who=agent())
    for words in (["--commit"], ["--artefact", "x"], ["--partial", "--missing", "x"]):
        ended = scene.run("finish", "H.1.1", *words, "--json", who=agent())
        assert (ended.code, ended.json["error"]["code"]) == (2, "usage"), words
    assert changed(scene) == []
    assert len(scene.done("claims", "--json").json["claims"]) == 1


@pytest.mark.parametrize(("verb", "option"), [("finish", "--summary"), ("fail", "--message")])
def test_last_words_are_there_for_whoever_asks_next(scene: Scene, verb: str, option: str) -> None:
    write(scene, TRACK, "- [ ] H.1.1 Build it\n")
    scene.done("claim", "H.1.1", who=agent())
    scene.done(verb, "H.1.1", option, "The wall is crooked.", who=agent())
    told = scene.told("H.1.1", "tether:event")
    assert "The wall is crooked." in told[-1]["text"]


def test_a_task_that_was_closed_as_done_and_is_still_open_says_so(scene: Scene) -> None:
    write(scene, TRACK, "- [ ] H.1.1 Build it\n- [ ] H.1.2 Test it\n")
    scene.done("claim", "H.1.1", who=agent())
    scene.done("release", "H.1.1", "--outcome", "done", who=agent())
    shown = scene.done("task", "show", "H.1.1").out
    assert "closed as done by " in shown
    assert "the list still says new" in shown
    task = scene.done("task", "show", "H.1.1", "--json").json["task"]
    assert (task["last_claim"]["outcome"], task["held_by"]) == ("done", None)
    assert "the list still says new" in task["note"]
    scene.write(TRACK, "- [x] H.1.1 Build it\n- [ ] H.1.2 Test it\n")
    assert "still says" not in scene.done("task", "show", "H.1.1").out
    assert scene.done("task", "show", "H.1.2", "--json").json["task"]["note"] is None
