"""`tether handoff`, as real processes: nothing that it tells is another task's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import scenes
from tests.conftest import Tether
from tests.scenes import OTHER, SESSION, Git, Scene, Talk, agent
from tether import clock

MINUTE = 60_000
UNKNOWN = "not known for which task"
TICKED = "# Track H\n\n- [x] H.1.1 Build it\n- [ ] H.1.2 Test it\n"


@pytest.fixture
def scene(repo: Path, environ: dict[str, str], git: Git, tether: Tether) -> Scene:
    """A repository with a track, H, and a store."""
    scene = Scene(repo, environ, git, tether)
    scene.plan()
    scene.make_store()
    return scene


def words(lines: list[str]) -> list[str]:
    return [line.partition("Z ")[2] for line in lines]


def claim(scene: Scene, task: str, *more: str, session: str = SESSION) -> None:
    scene.done("claim", f"track:{task}", *more, who=agent(session))


def release(scene: Scene, task: str, session: str = SESSION) -> None:
    scene.done("release", f"track:{task}", who=agent(session))


def stash(scene: Scene, message: str, seconds: int = 0) -> None:
    """Stash what is there, so many seconds from now."""
    at = clock.SystemClock().now_ms() // 1000 + seconds
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(scene.environ, "GIT_COMMITTER_DATE", f"@{at} +0000")
        scene.git("stash", "push", "-qum", message, cwd=scene.repo)


# Words, failures, edits and ends of a session that went from task to task


class Told:
    """A session without any claim, a minute for each line, some hours ago."""

    def __init__(self, scene: Scene) -> None:
        self.talk: Talk = scene.talk()
        self.at_ms = clock.SystemClock().now_ms() - 300 * MINUTE
        self.repo = scene.repo

    def add(self, line: str) -> None:
        self.at_ms += MINUTE
        self.talk.add(line, self.at_ms)

    def says(self, *texts: str) -> None:
        for text in texts:
            self.add(self.talk.said(text))

    def works_on(self, task: str, file: str) -> None:
        self.add(self.talk.prompt(f"Please do {task}."))
        self.add(self.talk.tool("Edit", file_path=f"{self.repo}/{file}", old_string="a"))
        self.add(self.talk.tool("Bash", f"toolu_{task}", command=f"make {file}"))
        self.add(self.talk.result("Exit code 2\nno rule", f"toolu_{task}", is_error=True))
        self.says(f"No rule for {file}.")


def test_without_a_claim_the_stretch_of_another_task_is_not_told(scene: Scene) -> None:
    told = Told(scene)
    told.works_on("H.1.1", "one.py")
    told.works_on("H.1.2", "two.py")
    told.add(told.talk.compaction())
    told.add(told.talk.tool("Bash", command="make", description="Make"))
    first, second = scene.handoff("H.1.1"), scene.handoff("H.1.2")
    for found, file in ((first, "one.py"), (second, "two.py")):
        assert words(found["said"]) == [f"No rule for {file}."]
        assert words(found["failed"]) == [f"make {file}: Exit code 2 no rule"]
        [edited] = found["files"]
        assert edited.startswith(f"{scene.repo}/{file}, 1 edit, ")
    assert "stopped" not in first, "how it ended says nothing of the first"
    compacted, ended = second["stopped"]
    assert compacted.startswith("Its session was compacted once")
    assert "ends in the middle of a turn" in ended


def test_a_session_that_comes_back_to_a_task_is_told_without_what_is_between(scene: Scene) -> None:
    told = Told(scene)
    told.says("I begin with H.1.1.", "The walls stand.")
    told.says("Now H.1.2.", "Its tests fail.")
    told.says("Back to H.1.1.", "The roof is on.")
    assert words(scene.handoff("H.1.1")["said"]) == [
        *("The roof is on.", "Back to H.1.1.", "The walls stand.", "I begin with H.1.1."),
    ]
    assert words(scene.handoff("H.1.2")["said"]) == ["Its tests fail.", "Now H.1.2."]


def test_of_a_stretch_that_ended_early_a_stash_from_later_is_not_told(scene: Scene) -> None:
    told = Told(scene)
    told.works_on("H.1.1", "one.py")
    told.works_on("H.1.2", "two.py")
    scene.write("README.md", "half\n")
    stash(scene, "Half", -(clock.SystemClock().now_ms() - told.at_ms) // 1000 - 1)
    assert "left" not in scene.handoff("H.1.1")
    [left] = scene.handoff("H.1.2")["left"]
    assert left.endswith(f" on main, {UNKNOWN}: On main: Half")


def test_with_the_transcript_gone_no_words_of_the_next_task_are_told(scene: Scene) -> None:
    talk = scene.talk()
    claim(scene, "H.1.1")
    talk.says("The walls stand.")
    release(scene, "H.1.1")
    claim(scene, "H.1.2")
    talk.says("The tests fail.")
    talk.add(talk.tool("Bash", command="make", description="Make"))
    assert words(scene.handoff("H.1.1")["said"]) == ["The walls stand."]
    talk.path.unlink()
    first, second = scene.handoff("H.1.1"), scene.handoff("H.1.2")
    assert "said" not in first
    assert "middle of a turn" not in str(first["stopped"])
    assert second["said"] == ["The tests fail."]
    assert "ends in the middle of a turn" in str(second["stopped"])


def test_after_a_take_over_it_is_said_whose_session_it_was(scene: Scene) -> None:
    talk = scene.talk()
    scene.done("claim", "track:H.1.1", who=agent(TETHER_AGENT="builder"))
    talk.says("I build.")
    talk.add(talk.compaction())
    talk.says("I stop.")
    assert "Its session was compacted once" in str(scene.handoff("H.1.1")["stopped"])
    release(scene, "H.1.1")
    claim(scene, "H.1.1", session="s9")
    told = scene.handoff("H.1.1")
    assert "Its session" not in str(told["stopped"])
    assert "The session of builder, who had it before, was compacted once" in str(told["stopped"])
    assert words(told["said"]) == ["I stop.", "I build."]


# Files and stashes of a checkout that several tasks had


def test_what_comes_after_a_task_was_finished_is_not_its_own(scene: Scene) -> None:
    claim(scene, "H.1.1")
    scene.commit("feat(H.1.1): Build", "a.py")
    scene.write(scenes.TRACK, TICKED)
    scene.commit("Tick")
    release(scene, "H.1.1")
    claim(scene, "H.1.2")
    scene.write("c.py", "")
    stash(scene, "Half", 3)
    scene.write("b.py", "")
    first, second = scene.handoff("H.1.1"), scene.handoff("H.1.2")
    assert "contradictions" not in first
    assert first["left"] == [f"uncommitted in {scene.repo}, {UNKNOWN}: untracked b.py"]
    untracked, stashed = second["left"]
    assert untracked == f"untracked in {scene.repo} on main: b.py"
    assert stashed.endswith("Z: On main: Half")


def test_of_two_agents_in_a_checkout_each_has_its_own_files(scene: Scene) -> None:
    claim(scene, "H.1.1", "--path", "one.py")
    claim(scene, "H.1.2", "--path", "two.py", session=OTHER)
    scene.talk().edits(f"{scene.repo}/mine.py")
    scene.talk(OTHER).edits(f"{scene.repo}/yours.py")
    for name in ("one.py", "two.py", "mine.py", "yours.py", "neither.py"):
        scene.write(name, "")
    touched = f"untracked in {scene.repo} on main, of files that this task touched or reserved: "
    neither = f"also uncommitted in {scene.repo}, {UNKNOWN}: untracked neither.py"
    assert scene.handoff("H.1.1")["left"] == [f"{touched}mine.py, one.py", neither]
    assert scene.handoff("H.1.2")["left"] == [f"{touched}two.py, yours.py", neither]


def test_a_session_without_a_claim_in_the_same_checkout_may_have_changed_files(
    scene: Scene,
) -> None:
    claim(scene, "H.1.1")
    scene.write("house.py", "")
    own = [f"untracked in {scene.repo} on main: house.py"]
    assert scene.handoff("H.1.1")["left"] == own
    talk = scene.talk(OTHER)
    talk.says("What is going on?")
    unknown = [f"uncommitted in {scene.repo}, {UNKNOWN}: untracked house.py"]
    assert scene.handoff("H.1.1")["left"] == unknown
    asked = scene.done("handoff", "H.1.1", "--json", who=agent(OTHER)).json["handoff"]["sections"]
    assert [line["text"] for line in asked["left"]] == own, "who only asks has changed nothing"
    talk.edits(f"{scene.repo}/other.py")
    asked = scene.done("handoff", "H.1.1", "--json", who=agent(OTHER)).json["handoff"]["sections"]
    assert [line["text"] for line in asked["left"]] == unknown


def test_whoever_takes_a_task_over_has_what_was_left(scene: Scene) -> None:
    claim(scene, "H.1.1")
    scene.write("house.py", "")
    stash(scene, "Half")
    scene.write("roof.py", "")
    release(scene, "H.1.1")
    claim(scene, "H.1.1", session="s9")
    untracked, stashed = scene.handoff("H.1.1")["left"]
    assert untracked == f"untracked in {scene.repo} on main: roof.py"
    assert stashed.endswith("Z: On main: Half")


def test_task_lists_and_task_files_are_no_work(scene: Scene) -> None:
    claim(scene, "H.1.1")
    scene.commit("feat(H.1.1): Build", "a.py")
    scene.write(scenes.TRACK, TICKED)
    scene.write("work/inbox/T-1.yaml", "id: T-1\n")
    found = scene.handoff("H.1.1")
    assert "contradictions" not in found
    assert found["left"] == [f"Nothing is uncommitted, unmerged or stashed in {scene.repo}."]


def test_where_commits_were_made_the_files_of_the_task_are_looked_for(scene: Scene) -> None:
    names = [f"src/f{number:02}.py" for number in range(60)]
    scene.commit("feat(H.1.1): Many", *names)
    scene.write("src/f01.py", "changed\n")
    scene.write("src/f58.py", "changed\n")
    scene.write("other.py", "")
    [left] = scene.handoff("H.1.1")["left"]
    where = f"{scene.repo} on main, of files that this task touched"
    assert left == f"changed in {where}: src/f01.py, src/f58.py"
    assert "left" not in scene.handoff("H.1.2")


# Branches


def test_a_branch_in_lower_case_is_called_by_the_id(scene: Scene) -> None:
    scene.git("checkout", "-q", "-b", "feature/h.1.1-house", cwd=scene.repo)
    scene.commit("Build", "house.py")
    scene.git("checkout", "-q", "main", cwd=scene.repo)
    [left] = scene.handoff("H.1.1")["left"]
    assert left == "branch feature/h.1.1-house, not merged, 1 commit: Build"
    assert "left" not in scene.handoff("H.1.2")


def test_a_squashed_branch_is_no_contradiction(scene: Scene) -> None:
    scene.git("checkout", "-q", "-b", "feat/H.1.1", cwd=scene.repo)
    scene.commit("feat(H.1.1): Walls", "house.py")
    scene.commit("feat(H.1.1): Roof", "house.py")
    scene.git("checkout", "-q", "main", cwd=scene.repo)
    scene.write(scenes.TRACK, TICKED)
    scene.commit("Tick")
    assert len(scene.handoff("H.1.1")["contradictions"]) == 1
    scene.git("merge", "-q", "--squash", "feat/H.1.1", cwd=scene.repo)
    scene.commit("The house")
    found = scene.handoff("H.1.1")
    assert "contradictions" not in found
    assert "left" not in found


def test_where_the_main_branch_is_not_known_that_is_said(scene: Scene) -> None:
    scene.git("branch", "-q", "-m", "main", "stem", cwd=scene.repo)
    scene.git("branch", "-q", "other", cwd=scene.repo)
    claim(scene, "H.1.1")
    assert scene.handoff("H.1.1")["left"] == [
        "It is not known which branch is the main one, so nothing can be said of what is unmerged."
    ]
    scene.git("branch", "-q", "-m", "stem", "develop", cwd=scene.repo)
    assert scene.handoff("H.1.1")["left"] == [
        f"Nothing is uncommitted, unmerged or stashed in {scene.repo}."
    ]


# On a terminal


def test_on_a_terminal_long_lines_go_on_further_in(scene: Scene) -> None:
    claim(scene, "H.1.1")
    scene.done("handoff", "H.1.1", "--note", "Mind the roof, " * 20)
    shown = scene.on_a_terminal("handoff", "H.1.1", columns=60).splitlines()
    assert all(len(line) <= 60 for line in shown if "/" not in line)
    begin = shown.index("Notes for you:")
    assert shown[begin + 1].startswith("  20")
    assert shown[begin + 2].startswith("      ")
    piped = scene.done("handoff", "H.1.1").out.splitlines()
    assert max(map(len, piped)) > 200
