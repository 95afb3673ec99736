"""`tether init --git-hooks`, and what its hook does in real commits."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from tests.conftest import Tether
from tests.scenes import Git, Scene, agent
from tether.cli import git_hooks

THEIRS = '#!/bin/sh\necho "$# $2" >> "$(git rev-parse --git-common-dir)/called"\n'
KEEPS = pytest.mark.usefixtures("hooked")


@pytest.fixture
def scene(repo: Path, environ: dict[str, str], git: Git, tether: Tether) -> Scene:
    """A repository whose committer has `tether` on the path."""
    tools = repo.parent / "bin"
    tools.mkdir()
    (tools / "tether").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tether "$@"\n')
    (tools / "tether").chmod(0o755)
    environ["PATH"] = f"{tools}:{environ['PATH']}"
    environ.update(agent())
    return Scene(repo, environ, git, tether)


@pytest.fixture
def hooked(scene: Scene) -> Scene:
    """The same with the hook, a track, and a claim of H.1.1."""
    scene.plan()
    scene.done("init", "--yes", "--git-hooks")
    scene.done("claim", "track:H.1.1")
    return scene


def hook(scene: Scene) -> Path:
    return scene.repo / ".git" / "hooks" / git_hooks.NAME


def place_theirs(scene: Scene, text: str = THEIRS) -> Path:
    """A hook that the team has already."""
    hook(scene).parent.mkdir(exist_ok=True)
    hook(scene).write_text(text)
    hook(scene).chmod(0o755)
    return hook(scene)


def message(scene: Scene, revision: str = "HEAD", cwd: Path | None = None) -> str:
    return scene.git("log", "-1", "--format=%B", revision, cwd=cwd or scene.repo)


def commit(scene: Scene, text: str, *words: str, cwd: Path | None = None) -> str:
    """Commit nothing under a message; the message that came of it."""
    scene.git("commit", "-q", "--allow-empty", *words, "-m", text, cwd=cwd or scene.repo)
    return message(scene, cwd=cwd)


# Setting it up


def test_lists_are_detected_and_said(scene: Scene) -> None:
    scene.plan()
    scene.write("specs/001-login/tasks.md", "- [ ] T001 Sign in\n- [x] T002 Sign out\n")
    shown = scene.done("init", "--dry-run").out
    assert "Found task lists: track (2 tasks in 1 file), speckit (2 tasks in 1 file)." in shown
    found = scene.done("init", "--yes", "--json").json["init"]["found"]
    assert found["lists"] == "track (2 tasks in 1 file), speckit (2 tasks in 1 file)"
    assert scene.git("status", "--porcelain", cwd=scene.repo).splitlines() == [
        "?? specs/",
        "?? tether.toml",
    ], "lists stay as they are"


def test_without_lists_none_are_named(scene: Scene) -> None:
    assert "Found task lists" not in scene.done("init", "--yes").out


def test_no_hook_is_made_unless_it_is_asked_for(scene: Scene) -> None:
    scene.done("init", "--yes")
    assert not hook(scene).exists()
    planned = scene.done("init", "--git-hooks", "--dry-run").out
    assert str(hook(scene)) in planned
    assert not hook(scene).exists()
    assert scene.run("init", "--git-hooks").code == 3, "nobody said yes"


def test_a_second_time_there_is_nothing_to_do(scene: Scene) -> None:
    scene.done("init", "--yes", "--git-hooks")
    before = hook(scene).read_bytes()
    assert stat.S_IMODE(hook(scene).stat().st_mode) & 0o111
    again = scene.done("init", "--yes", "--git-hooks", "--json").json["init"]
    assert (again["steps"], again["applied"]) == ([], False)
    assert hook(scene).read_bytes() == before
    assert not hook(scene).with_name(git_hooks.BEFORE).exists()


def test_a_hook_that_is_there_is_still_called(scene: Scene) -> None:
    theirs = place_theirs(scene).read_bytes()
    shown = scene.done("init", "--yes", "--git-hooks").out
    assert "called first" in shown
    assert hook(scene).with_name(git_hooks.BEFORE).read_bytes() == theirs
    scene.done("claim", "track:H.1.1")
    assert commit(scene, "Go on") == "Go on\n\nTask: H.1.1"
    assert (scene.repo / ".git" / "called").read_text() == "2 message\n"
    scene.done("init", "--yes", "--git-hooks")
    assert hook(scene).with_name(git_hooks.BEFORE).read_bytes() == theirs


def test_a_hook_that_forbids_a_commit_still_does(scene: Scene) -> None:
    place_theirs(scene, "#!/bin/sh\nexit 7\n")
    scene.done("init", "--yes", "--git-hooks")
    before = scene.git("rev-parse", "HEAD", cwd=scene.repo)
    with pytest.raises(Exception, match="non-zero"):
        commit(scene, "Go on")
    assert scene.git("rev-parse", "HEAD", cwd=scene.repo) == before


def test_a_hook_that_was_switched_off_stays_off(scene: Scene) -> None:
    place_theirs(scene).chmod(0o644)
    scene.done("init", "--yes", "--git-hooks")
    scene.done("claim", "track:H.1.1")
    assert commit(scene, "Go on") == "Go on\n\nTask: H.1.1"
    assert not (scene.repo / ".git" / "called").exists()


def test_a_hook_that_another_tool_put_over_ours_is_not_lost(scene: Scene) -> None:
    first = place_theirs(scene).read_bytes()
    scene.done("init", "--yes", "--git-hooks")
    place_theirs(scene, "#!/bin/sh\n# newer\n")
    scene.run("init", "--yes", "--git-hooks")
    names = [path.read_bytes() for path in hook(scene).parent.iterdir()]
    assert first in names
    assert b"#!/bin/sh\n# newer\n" in names


def test_where_another_tool_keeps_the_hooks_nothing_is_touched(scene: Scene) -> None:
    scene.git("config", "core.hooksPath", ".husky", cwd=scene.repo)
    theirs = scene.write(".husky/prepare-commit-msg", THEIRS)
    ended = scene.done("init", "--yes", "--git-hooks")
    assert f'tether hook {git_hooks.NAME} "$1" "${{2:-}}" || :' in ended.out
    assert str(theirs) in ended.out
    assert theirs.read_text() == THEIRS
    assert not hook(scene).exists()
    assert [path.name for path in theirs.parent.iterdir()] == ["prepare-commit-msg"]


def test_the_line_to_add_by_hand_works(scene: Scene) -> None:
    scene.git("config", "core.hooksPath", ".husky", cwd=scene.repo)
    line = f'tether hook {git_hooks.NAME} "$1" "${{2:-}}" || :'
    scene.write(".husky/prepare-commit-msg", f"#!/bin/sh\n{line}\n").chmod(0o755)
    scene.done("claim", "track:H.1.1")
    assert commit(scene, "Go on") == "Go on\n\nTask: H.1.1"


def test_a_hooks_path_that_is_the_usual_one_is_no_other_tool(scene: Scene) -> None:
    scene.git("config", "core.hooksPath", ".git/hooks", cwd=scene.repo)
    scene.done("init", "--yes", "--git-hooks")
    assert hook(scene).read_text() == git_hooks.SCRIPT


def test_a_hook_that_is_a_link_is_left_alone(scene: Scene) -> None:
    kept = scene.write("tools/prepare-commit-msg", THEIRS)
    hook(scene).parent.mkdir(exist_ok=True)
    hook(scene).symlink_to(kept)
    ended = scene.done("init", "--yes", "--git-hooks")
    assert "Add this line" in ended.out
    assert hook(scene).is_symlink()
    assert kept.read_text() == THEIRS


# In commits


@KEEPS
def test_a_commit_names_the_held_task(scene: Scene) -> None:
    assert commit(scene, "Go on\n\nBecause.\n\nSigned-off-by: A <a@example.com>") == (
        "Go on\n\nBecause.\n\nSigned-off-by: A <a@example.com>\nTask: H.1.1"
    )
    scene.git("commit", "-q", "--allow-empty", "--amend", "--no-edit", cwd=scene.repo)
    assert message(scene).count("Task:") == 1, "amended"
    assert commit(scene, "Go on\n\nTask: H.1.1") == "Go on\n\nTask: H.1.1"
    oid = scene.git("rev-parse", "HEAD", cwd=scene.repo)
    pointers = [each["pointer"] for each in scene.told("track:H.1.1", "git:commit")]
    assert f"commit:{oid}" in pointers


@KEEPS
@pytest.mark.parametrize(
    "subject",
    ["[H.1.2] Other task", "feat(H.1.2): Other", "H.1.12 is another one", "H.1.2, H.1.3: Both"],
)
def test_a_subject_that_names_other_tasks_is_left_as_it_is(scene: Scene, subject: str) -> None:
    assert commit(scene, subject) == subject
    assert commit(scene, f"{subject}\n\nBecause of H.1.1.") == f"{subject}\n\nBecause of H.1.1."


@KEEPS
@pytest.mark.parametrize(
    "text",
    ["[H.1.1] Go on", "H.1.2 needs H.1.1", "Speak HTTP-2 and TLS 1.3", "Go on\n\nAs for H.1.2."],
)
def test_a_subject_that_names_the_held_task_or_none_gets_the_trailer(
    scene: Scene, text: str
) -> None:
    assert commit(scene, text) == f"{text}\n\nTask: H.1.1"


@KEEPS
def test_a_feature_that_goes_without_saying_is_the_held_one(scene: Scene) -> None:
    scene.write("specs/001-login/tasks.md", "- [ ] T012 Sign in\n- [ ] T013 Sign out\n")
    scene.done("claim", "T012")
    assert commit(scene, "T012: Go on") == "T012: Go on\n\nTask: speckit:001-login.T012"
    assert commit(scene, "T013: Go on") == "T013: Go on"


@KEEPS
def test_what_the_hook_writes_is_read_whatever_the_id(scene: Scene) -> None:
    scene.done("task", "new", "Write the parser", "--id", "T-1")
    scene.done("claim", "T-1")
    assert commit(scene, "Parse") == "Parse\n\nTask: T-1"
    oid = scene.git("rev-parse", "HEAD", cwd=scene.repo)
    pointers = [each["pointer"] for each in scene.told("T-1", "git:commit")]
    assert pointers == [f"commit:{oid}"]


@KEEPS
def test_without_a_claim_nothing_is_added(scene: Scene) -> None:
    scene.done("release", "track:H.1.1")
    assert commit(scene, "Go on") == "Go on"
    scene.done("claim", "track:H.1.2", who=agent("another"))
    assert commit(scene, "Go on") == "Go on", "somebody else's claim"


@KEEPS
def test_of_several_claims_the_last_one_here_counts(scene: Scene) -> None:
    linked = scene.repo.parent / "linked"
    scene.git("worktree", "add", "-q", "-b", "side", str(linked), cwd=scene.repo)
    scene.done("claim", "track:H.1.2", cwd=linked)
    assert commit(scene, "There", cwd=linked) == "There\n\nTask: H.1.2"
    assert commit(scene, "Here") == "Here\n\nTask: H.1.1"
    scene.done("claim", "kiro:login.1")
    assert commit(scene, "More") == "More\n\nTask: kiro:login.1"


@KEEPS
def test_a_merge_names_nothing(scene: Scene) -> None:
    scene.git("checkout", "-q", "-b", "side", cwd=scene.repo)
    commit(scene, "Aside")
    scene.git("checkout", "-q", "main", cwd=scene.repo)
    scene.git("merge", "-q", "--no-ff", "--no-edit", "side", cwd=scene.repo)
    assert message(scene) == "Merge branch 'side'"
    scene.git("merge", "-q", "--squash", "side", cwd=scene.repo)


@KEEPS
def test_old_commits_that_are_made_anew_keep_their_words(scene: Scene) -> None:
    scene.git("checkout", "-q", "-b", "side", cwd=scene.repo)
    scene.write("other.py", "")
    scene.git("add", "other.py", cwd=scene.repo)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(scene.environ, "TETHER_SESSION", "another")
        scene.git("commit", "-qm", "feat(H.9.9): Of another", cwd=scene.repo)
    scene.git("checkout", "-q", "main", cwd=scene.repo)
    commit(scene, "Go on")
    scene.git("cherry-pick", "side", cwd=scene.repo)
    assert message(scene) == "feat(H.9.9): Of another", "picked"
    scene.git("reset", "-q", "--hard", "HEAD~1", cwd=scene.repo)
    scene.git("rebase", "-q", "main", "side", cwd=scene.repo)
    assert message(scene) == "feat(H.9.9): Of another", "rebased"
    assert commit(scene, "Go on") == "Go on\n\nTask: H.1.1", "and then it goes on"


@KEEPS
def test_a_message_that_is_still_to_be_written_stays_empty(scene: Scene) -> None:
    script = scene.repo.parent / "editor"
    script.write_text('#!/bin/sh\ncp "$1" "$1.seen"\necho Subject > "$1"\n')
    script.chmod(0o755)
    scene.environ["GIT_EDITOR"] = str(script)
    scene.git("commit", "-q", "--allow-empty", cwd=scene.repo)
    seen = (scene.repo / ".git" / "COMMIT_EDITMSG.seen").read_text()
    assert "Task:" not in seen, "an empty message stays empty, so that one can give up"
    assert message(scene) == "Subject"


def break_settings(scene: Scene) -> None:
    scene.write("tether.toml", "this is = = no toml\n")


def break_store(scene: Scene) -> None:
    (scene.repo / ".git" / "tether" / "tether.db").write_bytes(b"no database" * 100)


def remove_store(scene: Scene) -> None:
    (scene.repo / ".git" / "tether" / "tether.db").unlink()


def hide_tether(scene: Scene) -> None:
    scene.environ["PATH"] = os.pathsep.join(
        place
        for place in scene.environ["PATH"].split(os.pathsep)
        if not (Path(place) / "tether").exists()
    )


def break_session(scene: Scene) -> None:
    scene.environ["TETHER_SESSION"] = "../../no session"


def break_tether(scene: Scene) -> None:
    (scene.repo.parent / "bin" / "tether").write_text("#!/bin/sh\nexit 3\n")


@KEEPS
@pytest.mark.parametrize(
    "broken",
    [break_settings, break_store, remove_store, hide_tether, break_session, break_tether],
)
def test_a_commit_is_made_whatever_is_broken(scene: Scene, broken: object) -> None:
    assert callable(broken)
    broken(scene)
    assert commit(scene, "Go on") == "Go on"


def test_the_command_behind_the_hook_ends_well(scene: Scene) -> None:
    scene.done("claim", "track:H.1.1")
    assert scene.run("hook", git_hooks.NAME, "/nonexistent/file", "message").code == 0
    assert scene.run("hook", git_hooks.NAME, "/etc", "").code == 0


def test_the_command_behind_the_hook_ends_well_whatever_is_passed(scene: Scene) -> None:
    for words in ((), ("a",), ("a", "commit", "HEAD"), ("--wrong", "x")):
        assert scene.run("hook", git_hooks.NAME, *words).code == 0, words
