"""Several worktrees of one repository: what one of them says of a task that another one has.

Each worktree has its own copy of the task files on its own branch, and all share one store. Real
`git worktree`, real processes; agents that live and die are processes too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import agency, parts
from tests.acceptance.test_bad_input import can_mount
from tests.conftest import Ended, Tether

Git = Callable[..., str]
AMY = {"TETHER_SESSION": "s-amy", "TETHER_AGENT": "amy"}
BOB = {"TETHER_SESSION": "s-bob", "TETHER_AGENT": "bob"}
ADA = {"TETHER_AGENT": "ada"}
"""A person."""


class Trees(NamedTuple):
    """The main checkout, and a worktree on branch `b`."""

    main: Path
    b: Path


@pytest.fixture
def trees(repo: Path, tmp_path: Path, git: Git, tether: Tether) -> Trees:
    for task_id in ("T1", "T2"):
        tether("task", "new", f"About {task_id}", "--id", task_id, cwd=repo, env=ADA)
    git("add", "-A", cwd=repo)
    git("commit", "-qm", "Two tasks", cwd=repo)
    git("worktree", "add", "-q", "-b", "b", str(tmp_path / "b"), cwd=repo)
    return Trees(repo, tmp_path / "b")


@pytest.fixture
def living() -> Iterator[subprocess.Popen[bytes]]:
    """The process of an agent."""
    process = agency.sleeper()
    yield process
    if process.poll() is None:
        agency.end(process)


def answer(ended: Ended) -> Any:
    assert ended.code == 0, ended
    return ended.json


def shown(tether: Tether, cwd: Path, task_id: str = "T1", env: dict[str, str] = BOB) -> Any:
    """The task by `show`, which must be what `list` says too, if that names it."""
    task = answer(tether("task", "show", task_id, "--json", cwd=cwd, env=env))["task"]
    listed = answer(tether("task", "list", "--all", "--json", cwd=cwd, env=env))["tasks"]
    for each in listed:
        if each["id"] == task_id:
            same = ("state", "overlay", "offered", "note", "held_by", "path")
            assert {name: each[name] for name in same} == {name: task[name] for name in same}
    return task


def offers(tether: Tether, cwd: Path, env: dict[str, str] = BOB) -> list[str]:
    """What `next` names."""
    found = answer(tether("next", "--limit", "9", "--json", cwd=cwd, env=env))
    return [each["id"] for each in found["tasks"]]


def finish(tether: Tether, cwd: Path, task_id: str = "T1", env: dict[str, str] = AMY) -> None:
    answer(tether("claim", task_id, "--json", cwd=cwd, env=env))
    answer(tether("finish", task_id, "--summary", "x", "--json", cwd=cwd, env=env))


def commit(git: Git, cwd: Path) -> None:
    git("add", "-A", cwd=cwd)
    git("commit", "-qm", "Work", cwd=cwd)


def assert_waits_for_merge(tether: Tether, cwd: Path) -> None:
    task = shown(tether, cwd)
    assert (task["state"], task["overlay"], task["offered"]) == ("done", "waiting_for_merge", False)
    assert task["note"] == "done on b, waiting for a merge"
    assert task["path"] == "work/inbox/T1.yaml"
    assert offers(tether, cwd) == ["T2"]
    refused = tether("claim", "T1", "--json", cwd=cwd, env=BOB)
    assert (refused.code, refused.json["error"]["code"]) == (3, "not_allowed")
    assert (cwd / "work/inbox/T1.yaml").exists()


def assert_offered_as_lost(tether: Tether, cwd: Path) -> None:
    task = shown(tether, cwd)
    assert (task["state"], task["overlay"], task["offered"]) == ("new", "lost", True)
    assert "lost" in task["note"]
    assert offers(tether, cwd) == ["T1", "T2"]
    answer(tether("claim", "T1", "--json", cwd=cwd, env=BOB))


# Done elsewhere


def test_what_is_done_in_another_worktree_waits_for_a_merge_before_it_is_committed(
    trees: Trees, tether: Tether
) -> None:
    finish(tether, trees.b)
    assert_waits_for_merge(tether, trees.main)
    there = shown(tether, trees.b)
    assert (there["state"], there["overlay"]) == ("done", None)


def test_what_is_committed_on_another_branch_waits_until_it_is_merged(
    trees: Trees, git: Git, tether: Tether
) -> None:
    finish(tether, trees.b)
    commit(git, trees.b)
    assert_waits_for_merge(tether, trees.main)
    git("worktree", "remove", str(trees.b), cwd=trees.main)
    assert_waits_for_merge(tether, trees.main)
    git("merge", "-q", "--no-edit", "b", cwd=trees.main)
    task = shown(tether, trees.main)
    assert (task["state"], task["overlay"], task["offered"]) == ("done", None, False)
    assert task["path"] == "work/done/T1.yaml"
    assert offers(tether, trees.main) == ["T2"]


def test_what_was_done_on_a_branch_that_is_deleted_is_lost_and_offered_again(
    trees: Trees, git: Git, tether: Tether
) -> None:
    finish(tether, trees.b)
    commit(git, trees.b)
    git("worktree", "remove", str(trees.b), cwd=trees.main)
    git("branch", "-qD", "b", cwd=trees.main)
    assert_offered_as_lost(tether, trees.main)


def test_what_was_done_on_a_branch_that_is_reset_is_lost_and_offered_again(
    trees: Trees, git: Git, tether: Tether
) -> None:
    finish(tether, trees.b)
    commit(git, trees.b)
    git("reset", "-q", "--hard", "main", cwd=trees.b)
    assert_offered_as_lost(tether, trees.main)


def test_what_was_never_committed_is_lost_with_its_worktree(
    trees: Trees, git: Git, tether: Tether
) -> None:
    finish(tether, trees.b)
    git("worktree", "remove", "--force", str(trees.b), cwd=trees.main)
    assert_offered_as_lost(tether, trees.main)


def test_a_branch_that_is_checked_out_elsewhere_by_now_still_counts(
    trees: Trees, git: Git, tether: Tether
) -> None:
    """The worktree has gone on to another branch; the tip of `b` has the work."""
    finish(tether, trees.b)
    commit(git, trees.b)
    git("switch", "-qc", "c", "main", cwd=trees.b)
    assert_waits_for_merge(tether, trees.main)


def test_a_person_may_take_what_waits_for_a_merge(trees: Trees, tether: Tether) -> None:
    finish(tether, trees.b)
    taken = answer(tether("claim", "T1", "--take-over", "--json", cwd=trees.main, env=ADA))
    assert taken["task"]["path"] == "work/assigned/ada/T1.yaml"


def test_what_failed_elsewhere_is_not_offered(trees: Trees, git: Git, tether: Tether) -> None:
    answer(tether("claim", "T1", "--json", cwd=trees.b, env=AMY))
    answer(tether("fail", "T1", "--message", "no", "--json", cwd=trees.b, env=AMY))
    for _ in range(2):
        task = shown(tether, trees.main)
        state = (task["state"], task["overlay"], task["offered"])
        assert state == ("error", "waiting_for_merge", False)
        assert offers(tether, trees.main) == ["T2"]
        if not git("log", "--oneline", "main..b", cwd=trees.b):
            commit(git, trees.b)


# Held elsewhere


def test_what_somebody_alive_has_in_another_worktree_is_theirs(
    trees: Trees, tether: Tether, living: subprocess.Popen[bytes]
) -> None:
    amy = {**AMY, "TETHER_PID": str(living.pid)}
    answer(tether("claim", "T1", "--json", cwd=trees.b, env=amy))
    task = shown(tether, trees.main)
    assert (task["state"], task["overlay"], task["offered"]) == ("in_progress", "held", False)
    holder = task["held_by"]
    assert (holder["agent_name"], holder["verdict"]) == ("amy", "alive")
    assert (holder["worktree"], holder["branch"]) == (str(trees.b), "b")
    assert offers(tether, trees.main) == ["T2"]
    refused = tether("claim", "T1", "--json", cwd=trees.main, env=BOB)
    assert (refused.code, refused.json["error"]["code"]) == (4, "taken")
    assert (trees.main / "work/inbox/T1.yaml").exists()


def test_what_a_dead_agent_had_in_another_worktree_can_be_adopted(
    trees: Trees, tether: Tether, living: subprocess.Popen[bytes]
) -> None:
    amy = {**AMY, "TETHER_PID": str(living.pid)}
    answer(tether("claim", "T1", "--json", cwd=trees.b, env=amy))
    agency.end(living)
    task = shown(tether, trees.main)
    assert (task["overlay"], task["offered"]) == ("holder_gone", True)
    assert offers(tether, trees.main) == ["T1", "T2"]
    taken = answer(tether("claim", "T1", "--json", cwd=trees.main, env=BOB))
    assert (taken["claim"]["adopted"], taken["claim"]["previous"]["agent_name"]) == (True, "amy")
    assert taken["task"]["path"] == "work/assigned/bob/T1.yaml"
    # Her own copy stays as she left it: only its holder's verbs touch a checkout.
    assert (trees.b / "work/assigned/amy/T1.yaml").exists()
    task = shown(tether, trees.b, env=AMY)
    assert (task["held_by"]["agent_name"], task["offered"]) == ("bob", False)


def test_somebody_who_has_lost_a_task_cannot_finish_it_in_their_own_worktree(
    trees: Trees, tether: Tether
) -> None:
    answer(tether("claim", "T1", "--json", cwd=trees.b, env=AMY))
    answer(tether("claim", "T1", "--take-over", "--json", cwd=trees.main, env=ADA))
    before = (trees.b / "work/assigned/amy/T1.yaml").read_bytes()
    lost = tether("finish", "T1", "--summary", "x", "--json", cwd=trees.b, env=AMY)
    assert (lost.code, lost.json["error"]["code"]) == (4, "taken")
    assert (trees.b / "work/assigned/amy/T1.yaml").read_bytes() == before


def test_what_was_given_back_elsewhere_is_free_here(trees: Trees, tether: Tether) -> None:
    answer(tether("claim", "T1", "--json", cwd=trees.b, env=AMY))
    answer(tether("task", "return", "T1", "--json", cwd=trees.b, env=AMY))
    task = shown(tether, trees.main)
    assert (task["state"], task["offered"]) == ("new", True)
    answer(tether("claim", "T1", "--json", cwd=trees.main, env=BOB))


# Dependencies


def test_a_dependency_that_is_done_elsewhere_is_not_met_here(
    trees: Trees, git: Git, tether: Tether
) -> None:
    answer(tether("task", "edit", "T2", "--depends-on", "T1", "--json", cwd=trees.main, env=ADA))
    finish(tether, trees.b)
    for _ in range(2):
        [needed] = shown(tether, trees.main, "T2")["waits_for"]
        assert (needed["id"], needed["met"]) == ("T1", False)
        assert needed["note"] == "waiting for merge of b"
        assert offers(tether, trees.main) == []
        refused = tether("claim", "T2", "--json", cwd=trees.main, env=BOB)
        assert refused.code == 3
        if not git("log", "--oneline", "main..b", cwd=trees.b):
            commit(git, trees.b)
    commit(git, trees.main)
    git("merge", "-q", "--no-edit", "b", cwd=trees.main)
    [needed] = shown(tether, trees.main, "T2")["waits_for"]
    assert (needed["met"], needed["note"]) == (True, None)
    assert offers(tether, trees.main) == ["T2"]


# Files that only one of them has


def test_a_task_that_was_made_on_another_branch_is_known_by_its_claim(
    trees: Trees, git: Git, tether: Tether
) -> None:
    answer(tether("task", "new", "There", "--id", "T7", "--json", cwd=trees.b, env=AMY))
    assert tether("task", "show", "T7", "--json", cwd=trees.main, env=BOB).code == 5
    answer(tether("claim", "T7", "--json", cwd=trees.b, env=AMY))
    task = shown(tether, trees.main, "T7")
    assert (task["path"], task["overlay"], task["offered"]) == (None, "held", False)
    assert (task["held_by"]["agent_name"], task["held_by"]["branch"]) == ("amy", "b")
    assert tether("claim", "T7", "--json", cwd=trees.main, env=BOB).code == 4
    answer(tether("finish", "T7", "--summary", "x", "--json", cwd=trees.b, env=AMY))
    for _ in range(2):
        task = shown(tether, trees.main, "T7")
        assert (task["state"], task["overlay"]) == ("done", "waiting_for_merge")
        if not git("log", "--oneline", "main..b", cwd=trees.b):
            commit(git, trees.b)
    git("merge", "-q", "--no-edit", "b", cwd=trees.main)
    assert (shown(tether, trees.main, "T7")["state"], offers(tether, trees.main)) == (
        "done",
        ["T1", "T2"],
    )


# A detached HEAD


def test_work_at_a_detached_head_counts_while_its_worktree_is_there(
    trees: Trees, tmp_path: Path, git: Git, tether: Tether
) -> None:
    detached = tmp_path / "detached"
    git("worktree", "add", "-q", "--detach", str(detached), cwd=trees.main)
    assert shown(tether, detached)["state"] == "new"
    finish(tether, detached)
    task = shown(tether, trees.main)
    assert (task["state"], task["overlay"], task["offered"]) == ("done", "waiting_for_merge", False)
    assert task["note"] == "done on a detached HEAD, waiting for a merge"
    assert tether("claim", "T1", "--json", cwd=trees.main, env=BOB).code == 3
    git("worktree", "remove", "--force", str(detached), cwd=trees.main)
    assert_offered_as_lost(tether, trees.main)


def test_a_detached_checkout_sees_what_waits_for_a_merge(
    trees: Trees, git: Git, tether: Tether
) -> None:
    finish(tether, trees.b)
    commit(git, trees.b)
    git("switch", "-q", "--detach", cwd=trees.main)
    assert_waits_for_merge(tether, trees.main)
    # At the commit that did it, it is simply done.
    git("switch", "-q", "--detach", "b", cwd=trees.main)
    task = shown(tether, trees.main)
    assert (task["state"], task["overlay"]) == ("done", None)


# Reading


READING = (
    ("task", "list", "--all"), ("task", "list"), ("task", "show", "T1"), ("task", "show", "T2"),
    ("next",), ("orient",), ("validate",), ("task", "history", "T1"), ("task", "stalled"),
)  # fmt: skip


def mixed(trees: Trees, git: Git, tether: Tether, living: subprocess.Popen[bytes]) -> None:
    """Something of everything: done there, held there, half-moved and conflicting here."""
    for task_id in ("T3", "T4"):
        answer(tether("task", "new", "More", "--id", task_id, "--json", cwd=trees.main, env=ADA))
    inbox = trees.main / "work/inbox"
    (inbox / "T3.yaml").rename(trees.main / "work/done/T3.yaml")
    (inbox / "T4.yaml").write_text("<<<<<<< ours\nid: T4\n=======\nid: T5\n>>>>>>> theirs\n")
    (inbox / ".gitkeep").unlink()
    finish(tether, trees.b)
    amy = {**AMY, "TETHER_PID": str(living.pid)}
    answer(tether("claim", "T2", "--json", cwd=trees.b, env=amy))


def snapshot(tree: Path, git: Git) -> list[Any]:
    """Everything that a reader could have changed: Git's view, its index, every file's time."""
    index = Path(git("rev-parse", "--path-format=absolute", "--git-path", "index", cwd=tree))
    seen = [
        (str(path.relative_to(tree)), path.stat().st_mtime_ns, path.stat().st_ino)
        for path in sorted(tree.rglob("*"))
        if ".git" not in path.relative_to(tree).parts
    ]
    # Asking for the status may refresh the index itself, so it is not allowed to.
    status = git("--no-optional-locks", "status", "--porcelain", "-uall", cwd=tree)
    return [index.read_bytes(), index.stat().st_mtime_ns, status, seen]


def test_reading_changes_no_file_and_no_index(
    trees: Trees, git: Git, tether: Tether, living: subprocess.Popen[bytes]
) -> None:
    mixed(trees, git, tether, living)
    before = [snapshot(tree, git) for tree in trees]
    for words in READING:
        answer(tether(*words, "--json", cwd=trees.main, env=BOB))
    for words in READING[:5]:
        answer(tether(*words, "--json", cwd=trees.b, env=ADA))
    assert [snapshot(tree, git) for tree in trees] == before


def test_the_snapshot_sees_a_verb(trees: Trees, git: Git, tether: Tether) -> None:
    """The control of the test above."""
    before = snapshot(trees.main, git)
    answer(tether("task", "note", "T1", "x", "--json", cwd=trees.main, env=BOB))
    assert snapshot(trees.main, git) != before


def test_without_the_index_every_answer_is_the_same(
    trees: Trees, git: Git, tether: Tether, living: subprocess.Popen[bytes]
) -> None:
    mixed(trees, git, tether, living)
    index = trees.main / ".git/tether/index.db"
    asked = [
        (tree, words)
        for tree in trees
        for words in (("task", "list", "--all"), ("next", "--limit", "9"), ("orient",))
    ]
    answers = [tether(*words, "--json", cwd=tree, env=BOB).out for tree, words in asked]
    assert index.exists()
    for (tree, words), before in zip(asked, answers, strict=True):
        index.unlink()
        assert tether(*words, "--json", cwd=tree, env=BOB).out == before, words
        assert index.exists()
    index.write_bytes(b"not a database")
    tree, words = asked[0]
    assert tether(*words, "--json", cwd=tree, env=BOB).out == answers[0]


# Where the store may only be read


@pytest.fixture
def read_only(environ: dict[str, str]) -> Callable[..., Ended]:
    """Runs a command where a directory is read-only, as sandboxes show `.git` to their agents."""
    parts.need(can_mount(), "mount namespaces (unshare --mount)")

    def call(*words: str, cwd: Path, directory: Path, env: dict[str, str]) -> Ended:
        mount = f"mount --bind {directory} {directory} && mount -o remount,bind,ro {directory}"
        done = subprocess.run(
            ["unshare", "--mount", "bash", "-c", f'{mount} && exec "$@"', "bash",
             sys.executable, "-m", "tether", *words, "--json"],
            cwd=cwd, env={**environ, **env}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return Ended(done.returncode, done.stdout, done.stderr)

    return call


def test_a_read_only_store_is_looked_at(
    trees: Trees, git: Git, tether: Tether, read_only: Callable[..., Ended],
    living: subprocess.Popen[bytes],
) -> None:  # fmt: skip
    mixed(trees, git, tether, living)
    place = {"cwd": trees.main, "directory": trees.main / ".git", "env": BOB}
    for words in (*READING[:1], *READING[2:3], *READING[4:]):
        seen = answer(read_only(*words, **place))
        # The log of `history` grows with every beat that can be written.
        if "history" not in words:
            assert seen == answer(tether(*words, "--json", cwd=trees.main, env=BOB)), words


@pytest.mark.parametrize("has_index", [True, False], ids=["with an index", "without"])
def test_a_read_only_store_stops_a_verb_before_it_touches_a_file(
    trees: Trees, git: Git, tether: Tether, read_only: Callable[..., Ended], has_index: bool
) -> None:
    answer(tether("claim", "T2", "--json", cwd=trees.main, env=BOB))
    if has_index:
        answer(tether("task", "list", "--json", cwd=trees.main, env=BOB))
    before = snapshot(trees.main, git)
    place = {"cwd": trees.main, "directory": trees.main / ".git"}
    for env, *words in (
        (BOB, "claim", "T1"),
        (BOB, "next", "--claim"),
        (BOB, "finish", "T2", "--summary", "x"),
        (BOB, "fail", "T2", "--message", "x"),
        (BOB, "task", "new", "Another"),
        (BOB, "task", "new", "Another", "--id", "T9"),
        (BOB, "task", "note", "T1", "x"),
        (BOB, "task", "return", "T2"),
        (ADA, "task", "cancel", "T1", "--why", "x"),
        (ADA, "task", "assign", "T1", "amy"),
        (ADA, "task", "complete", "T1", "--summary", "x"),
    ):
        ended = read_only(*words, env=env, **place)
        assert (ended.code, ended.json["error"]["code"]) == (1, "store_read_only"), words
        assert "TETHER_STORE_DIR" in ended.json["error"]["hint"]
    assert snapshot(trees.main, git) == before


def test_a_read_only_store_stops_a_repair_before_it_touches_a_file(
    trees: Trees, git: Git, tether: Tether, read_only: Callable[..., Ended]
) -> None:
    os.rename(trees.main / "work/inbox/T1.yaml", trees.main / "work/done/T1.yaml")
    (trees.main / "work/inbox/.gitkeep").unlink()
    before = snapshot(trees.main, git)
    place = {"cwd": trees.main, "directory": trees.main / ".git", "env": ADA}
    ended = read_only("validate", "--fix", "--yes", **place)
    assert (ended.code, ended.json["error"]["code"]) == (1, "store_read_only")
    assert snapshot(trees.main, git) == before
