"""Tasks on the command line, as real processes: the story of a task, and every verb in it."""

from __future__ import annotations

import contextlib
import difflib
import json
import mmap
import os
import re
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import pytest

from tests import scale
from tests.conftest import Ended, Tether
from tether import workspace
from tether.index import parsed
from tether.tasks import listing, states, workdir

Git = Callable[..., str]
Run = Callable[..., Ended]

BUILDER = {"TETHER_SESSION": "s1", "TETHER_AGENT": "builder"}
HELPER = {"TETHER_SESSION": "s2", "TETHER_AGENT": "helper"}
ADA = {"TETHER_AGENT": "ada"}
LONG_AGO = "2020-01-02T03:04:05.000Z"


@pytest.fixture
def run(repo: Path, tether: Tether) -> Run:
    """The command line at the top of the repository; a person calls unless another is named."""

    def call(*words: str, who: dict[str, str] = ADA, **how: Any) -> Ended:
        return tether(*words, cwd=repo, env={**who, **how.pop("env", {})}, **how)

    return call


@pytest.fixture
def done(run: Run) -> Run:
    """The same for what must work."""

    def call(*words: str, **how: Any) -> Ended:
        ended = run(*words, **how)
        assert ended.code == 0, ended
        return ended

    return call


def written(repo: Path, path: str, text: str) -> Path:
    """A task file as somebody writes one by hand."""
    target = repo / "work" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    return target


def task_text(task_id: str, status: str, agent: str = "", **more: str) -> str:
    fields = {"id": task_id, "title": f"About {task_id}", "agent": agent or "''"}
    lines = {**fields, "status": status, "created_at": LONG_AGO, "artefacts": "[]", **more}
    return "".join(f"{name}: {value}\n" for name, value in lines.items())


def files_of(repo: Path) -> dict[str, bytes]:
    """The whole checkout, without Git's own directory."""
    return {
        str(path.relative_to(repo)): path.read_bytes()
        for path in sorted(repo.rglob("*"))
        if path.is_file() and path.relative_to(repo).parts[0] != ".git"
    }


def states_of(ended: Ended) -> dict[str, str]:
    return {task["id"]: task["state"] for task in ended.json["tasks"]}


def error_of(ended: Ended, exit_code: int, code: str) -> dict[str, Any]:
    assert (ended.code, ended.json["ok"], ended.json["error"]["code"]) == (exit_code, False, code)
    found: dict[str, Any] = ended.json["error"]
    assert found["message"]
    return found


def commit_all(repo: Path, git: Git, subject: str) -> None:
    git("add", "-A", cwd=repo)
    git("commit", "-qm", subject, cwd=repo)


# The story


def test_the_story_of_a_task(repo: Path, done: Run) -> None:
    made = done("task", "new", "Write the parser", "--id", "T-1", "--artefact", "parser.py")
    assert made.out == "T-1: new  work/inbox/T-1.yaml\n"
    listed = done("task", "list")
    assert re.search(r"^T-1 +new +normal +- +\w+ +Write the parser$", listed.out, re.MULTILINE)
    assert "T-1  new  Write the parser" in done("next", who=BUILDER).out
    done("claim", "T-1", who=BUILDER)
    assert (repo / "work/assigned/builder/T-1.yaml").exists()
    assert not (repo / "work/inbox/T-1.yaml").exists()
    (repo / "parser.py").write_text("")
    ended = done("finish", "T-1", "--summary", "It parses.", who=BUILDER)
    assert ended.out == "T-1: in_progress → done  work/done/T-1.yaml\n"
    assert done("task", "list").out.startswith("No open tasks.")
    assert states_of(done("task", "list", "--state", "done", "--json")) == {"T-1": "done"}
    assert "Nothing to do" in done("next", who=BUILDER).out


def test_every_answer_puts_the_task_under_its_noun(repo: Path, done: Run, git: Git) -> None:
    head = git("rev-parse", "HEAD", cwd=repo)

    def ask(*words: str, who: dict[str, str] = ADA, state: str = "") -> dict[str, Any]:
        ended = done(*words, "--json", who=who)
        assert ended.json["ok"] is True
        task: dict[str, Any] = ended.json["task"]
        assert task["id"] == "T-1"
        assert state in ("", task.get("state")), words
        return task

    ask("task", "new", "A task", "--id", "T-1", state="new")
    ask("task", "edit", "T-1", "--priority", "high", state="new")
    ask("task", "note", "T-1", "Mind the gap.", state="new")
    assert ask("task", "show", "T-1", state="new")["fields"]["history"][0]["note"]
    ask("task", "assign", "T-1", "builder", state="assigned")
    ask("task", "start", "T-1", who=BUILDER, state="in_progress")
    ask("task", "extend", "T-1", "--by", "3h", state="in_progress")
    ask("fail", "T-1", "--message", "It does not work.", who=BUILDER, state="error")
    ask("task", "retry", "T-1", state="assigned")
    ask("claim", "T-1", who=BUILDER, state="in_progress")
    ask("task", "return", "T-1", who=BUILDER, state="new")
    ask("task", "complete", "T-1", "--summary", "It was there.", "--evidence", head, state="done")
    ask("task", "reopen", "T-1", state="new")
    ask("task", "cancel", "T-1", "--why", "not wanted", state="archived")
    ask("task", "reopen", "T-1", state="new")
    ask("claim", "T-1", who=BUILDER, state="in_progress")
    ask("finish", "T-1", "--summary", "It works.", who=BUILDER, state="done")
    history = ask("task", "history", "T-1")["history"]
    verbs = [step["what"] for step in history if step["source"] == "log"]
    for verb in ("new", "edit", "assign", "extend", "fail", "retry", "return", "complete",
                 "reopen", "cancel", "finish"):  # fmt: skip
        assert verb in verbs
    (repo / "work/done/T-1.yaml").unlink()
    ask("task", "restore", "T-1")


def test_each_kind_of_refusal_has_its_exit_code(repo: Path, run: Run, done: Run) -> None:
    done("task", "new", "A task", "--id", "T-1")
    done("claim", "T-1", who=BUILDER)
    before = files_of(repo)
    error_of(run("task", "show", "../T-1", "--json"), 2, "invalid_id")
    error_of(run("finish", "T-1", "--missing", "x", "--json", who=BUILDER), 2, "usage")
    broken = error_of(run("task", "reopen", "T-1", "--json"), 3, "not_allowed")
    assert broken["rule"] == "`reopen` goes from done or archived, and this is in_progress"
    taken = error_of(run("finish", "T-1", "--json", who=HELPER), 4, "taken")
    assert taken["holder"]["agent_name"] == "builder"
    error_of(run("claim", "T-1", "--json", who=HELPER), 4, "taken")
    error_of(run("task", "show", "T-404", "--json"), 5, "not_found")
    assert run("validate", "--fail-on", "any").code == 0
    assert files_of(repo) == before


def test_json_is_one_line_also_for_errors(repo: Path, run: Run) -> None:
    for words, code in (
        (("task", "new", "Line one\nline two", "--id", "T-1"), 0),
        (("task", "list"), 0),
        (("task", "show", "T-1"), 0),
        (("next",), 0),
        (("orient",), 0),
        (("validate",), 0),
        (("task", "stalled"), 0),
        (("task", "archive", "--dry-run"), 0),
        (("task", "show", "T-404"), 5),
        (("task", "cancel", "T-1"), 2),
        (("task", "nonsense"), 2),
        (("finish", "T-1"), 5),
    ):
        ended = run(*words, "--json")
        assert ended.code == code, ended
        assert ended.out.count("\n") == 1
        assert json.loads(ended.out)["ok"] is (code == 0)


# What a file looks like afterwards

BY_HAND = """\
# Written by hand, on a Sunday.
id: "T-1"            # quoted, for no reason
title: 'It''s about quotes: and colons'
agent: ""
status: new   # nobody has it
priority: high

artefacts:
- src/a.py   # the parser
- 'src/b.py'

x-team: [red, "blue"]   # a field of our own
description: |
    Indented by four,
      and by two more.

    # not a comment
"""


def test_a_status_change_is_a_small_diff(repo: Path, done: Run) -> None:
    path = written(repo, "inbox/T-1.yaml", BY_HAND)
    done("claim", "T-1", who=BUILDER)
    path = repo / "work/assigned/builder/T-1.yaml"
    changed = list(difflib.ndiff(BY_HAND.splitlines(), path.read_text().splitlines()))
    gone = [line[2:] for line in changed if line.startswith("- ")]
    came = [line[2:] for line in changed if line.startswith("+ ")]
    assert gone == ['agent: ""', "status: new   # nobody has it"]
    assert len(came) == 4
    assert "status: in_progress   # nobody has it" in came
    assert {line.partition(":")[0] for line in came} == {
        "agent", "status", "assigned_at", "started_at",
    }  # fmt: skip
    done("finish", "T-1", "--summary", "Done.", "--artefact", "README.md", who=BUILDER)
    text = (repo / "work/done/T-1.yaml").read_text()
    kept = [line for line in BY_HAND.splitlines() if not line.startswith(("agent", "status"))]
    assert [line for line in text.splitlines() if line in kept] == kept
    assert "status: done   # nobody has it" in text


def test_crlf_and_a_missing_last_line_end_survive(repo: Path, done: Run) -> None:
    text = task_text("T-1", "new").rstrip("\n").replace("\n", "\r\n")
    path = written(repo, "inbox/T-1.yaml", "")
    path.write_bytes(text.encode())
    done("claim", "T-1", who=BUILDER)
    raw = (repo / "work/assigned/builder/T-1.yaml").read_bytes()
    assert raw.count(b"\r\n") == raw.count(b"\n")
    assert b"status: in_progress\r\n" in raw


def test_editing_and_noting(repo: Path, run: Run, done: Run) -> None:
    done("task", "new", "A task", "--id", "T-1")
    done("task", "new", "Another", "--id", "T-2")
    done("task", "edit", "T-1", "--title", "A better title", "--priority", "medium",
         "--artefact", "a.py", "--depends-on", "T-2", "--add", "external_refs=#12")  # fmt: skip
    fields = done("task", "show", "T-1", "--json").json["task"]["fields"]
    assert (fields["title"], fields["priority"]) == ("A better title", "normal")
    assert (fields["artefacts"], fields["depends_on"]) == (["a.py"], ["T-2"])
    assert fields["external_refs"] == ["#12"]
    done("task", "edit", "T-1", "--drop", "depends_on=T-2", "--drop", "artefacts=a.py")
    fields = done("task", "show", "T-1", "--json").json["task"]["fields"]
    assert (fields["artefacts"], fields["depends_on"]) == ([], [])
    done("task", "note", "T-1", "Two lines\nof remark", who=BUILDER)
    [entry] = done("task", "show", "T-1", "--json").json["task"]["fields"]["history"]
    assert (entry["what"], entry["by"]) == ("noted", "builder")
    assert entry["note"] == "Two lines\nof remark"
    before = files_of(repo)
    again = done("task", "edit", "T-1", "--title", "A better title", "--json")
    assert again.json["repeat"] is True
    assert run("task", "edit", "T-1").code == 2
    assert run("task", "edit", "T-1", "--priority", "soon").code == 2
    assert run("task", "edit", "T-1", "--add", "status=done").code == 2
    assert run("task", "edit", "T-1", "--depends-on", "T-1").code == 3
    assert run("task", "note", "T-1", "  ").code == 2
    assert files_of(repo) == before


# Commits


def head_paths(repo: Path, git: Git) -> set[str]:
    return set(git("ls-tree", "-r", "--name-only", "HEAD", cwd=repo).splitlines())


def test_only_with_commit_is_anything_committed(repo: Path, done: Run, git: Git) -> None:
    head = git("rev-parse", "HEAD", cwd=repo)
    done("task", "new", "A task", "--id", "T-1")
    done("claim", "T-1", who=BUILDER)
    done("finish", "T-1", "--summary", "Done.", who=BUILDER)
    done("task", "archive", "T-1")
    done("task", "reopen", "T-1")
    assert git("rev-parse", "HEAD", cwd=repo) == head
    assert git("diff", "--cached", "--name-only", cwd=repo) == ""


def test_a_commit_has_the_tasks_paths_and_nothing_else(repo: Path, done: Run, git: Git) -> None:
    for name in ("staged", "changed", "both"):
        (repo / name).write_text("before\n")
    commit_all(repo, git, "Files")
    (repo / "staged").write_text("staged\n")
    (repo / "both").write_text("staged\n")
    git("add", "staged", "both", cwd=repo)
    (repo / "both").write_text("changed again\n")
    (repo / "changed").write_text("changed\n")
    (repo / "untracked").write_text("new\n")

    def others() -> tuple[str, str]:
        return git("status", "--porcelain", cwd=repo), git("diff", "--cached", cwd=repo)

    before = others()
    ended = done("task", "new", "A task", "--id", "T-1", "--commit", "--json")
    assert ended.json["commit"] == git("rev-parse", "HEAD", cwd=repo)
    assert others() == before
    for words, who in (
        (("claim", "T-1"), BUILDER),
        (("task", "note", "T-1", "Going well."), BUILDER),
        (("finish", "T-1", "--partial", "--missing", "docs.md", "--why", "no time"), BUILDER),
        (("task", "reopen", "T-1"), ADA),
    ):
        parent = git("rev-parse", "HEAD", cwd=repo)
        done(*words, "--commit", who=who)
        assert git("rev-parse", "HEAD^", cwd=repo) == parent
        changed = git("diff", "--name-only", "--no-renames", "HEAD^", "HEAD", cwd=repo).split()
        assert changed
        assert all(re.fullmatch(r"work/(.+/)?(\.gitkeep|T-1(-1)?\.yaml)", path) for path in changed)
        assert others() == before
    assert git("branch", "--show-current", cwd=repo) == "main"
    tasks = {path for path in head_paths(repo, git) if path.endswith(".yaml")}
    assert tasks == {"work/inbox/T-1.yaml", "work/inbox/T-1-1.yaml"}
    assert "Task: T-1" in git("log", "-1", "--format=%B", cwd=repo)


def test_a_commit_leaves_no_second_file_of_a_task_whose_claim_was_not_committed(
    repo: Path, done: Run, git: Git
) -> None:
    done("task", "new", "A task", "--id", "T-1", "--commit")
    done("claim", "T-1", who=BUILDER)
    done("finish", "T-1", "--summary", "Done.", "--commit", who=BUILDER)
    tasks = {path for path in head_paths(repo, git) if path.endswith(".yaml")}
    assert tasks == {"work/done/T-1.yaml"}
    assert "T-1" not in git("status", "--porcelain", "-uall", cwd=repo)


@pytest.mark.parametrize(
    "words",
    [
        ("task", "new", "Another", "--id", "T-2"),
        ("claim", "T-1"),
        ("task", "note", "T-1", "A remark."),
        ("task", "cancel", "T-1", "--why", "not wanted"),
    ],
)
def test_a_detached_head_is_refused_before_anything_changes(
    repo: Path, run: Run, done: Run, git: Git, words: tuple[str, ...]
) -> None:
    done("task", "new", "A task", "--id", "T-1", "--commit")
    git("checkout", "-q", "--detach", cwd=repo)
    before = files_of(repo)
    error = error_of(run(*words, "--commit", "--json"), 3, "not_allowed")
    assert "detached" in error["message"]
    assert files_of(repo) == before
    assert run("claims", "--json").json["claims"] == []
    done(*words)
    assert files_of(repo) != before


# The archive


def test_what_was_done_long_ago_is_put_away_by_its_month(repo: Path, done: Run) -> None:
    for number, at in enumerate(("2020-01-31T23:59:59Z", "2020-02-01T00:00:00Z")):
        text = task_text(f"T-{number}", "done", "builder", completed_at=at)
        written(repo, f"done/T-{number}.yaml", text)
    inside = task_text("T-2", "done", "builder", result="{completed_at: 2020-03-05T00:00:00Z}")
    written(repo, "done/builder/T-2.yaml", inside)
    done("task", "new", "A task", "--id", "T-3")
    done("claim", "T-3", who=BUILDER)
    done("finish", "T-3", who=BUILDER)
    before = files_of(repo)
    dry = done("task", "archive", "--older-than", "30d", "--dry-run", "--json").json["archive"]
    assert dry["archived"] == ["T-0", "T-1", "T-2"]
    assert files_of(repo) == before
    real = done("task", "archive", "--older-than", "30d", "--json").json["archive"]
    assert (real["archived"], real["left"]) == (dry["archived"], [])
    for path in ("2020-01/T-0.yaml", "2020-02/T-1.yaml", "2020-03/T-2.yaml"):
        assert (repo / "work/archive" / path).exists()
    assert (repo / "work/done/T-3.yaml").exists()
    assert done("task", "archive", "--older-than", "30d").out == "Nothing is due.\n"


@pytest.fixture
def packed(repo: Path, done: Run) -> Path:
    """A repository with one month of the archive in a pack; none of it is in Git."""
    text = task_text("T-1", "done", "builder", completed_at="2020-01-31T00:00:00Z")
    written(repo, "done/T-1.yaml", text + "description: Its own words.\n")
    answer = done("task", "archive", "--compress", "--json").json["archive"]
    assert answer["packed"] == ["work/archive/2020-01.zip"]
    assert not (repo / "work/archive/2020-01/T-1.yaml").exists()
    return repo


def test_packed_tasks_are_still_shown(packed: Path, done: Run) -> None:
    shown = done("task", "show", "T-1", "--json").json["task"]
    assert (shown["state"], shown["fields"]["description"]) == ("archived", "Its own words.")
    assert "Its own words." in done("task", "show", "T-1").out
    history = done("task", "history", "T-1", "--json").json["task"]["history"]
    assert [step["what"] for step in history] == ["archive"]


def test_packing_again_changes_nothing(packed: Path, done: Run) -> None:
    before = files_of(packed)
    done("task", "archive", "--compress")
    assert files_of(packed) == before


def test_a_packed_task_still_meets_a_dependency(packed: Path, done: Run) -> None:
    written(packed, "inbox/T-2.yaml", task_text("T-2", "new", depends_on="[T-1]"))
    assert [task["id"] for task in done("next", "--json").json["tasks"]] == ["T-2"]
    done("claim", "T-2", who=BUILDER)
    found = done("validate", "--json").json["validate"]["findings"]
    assert [each for each in found if each["rule"] == "dependency"] == []


def test_the_id_of_a_packed_task_is_taken(packed: Path, run: Run) -> None:
    before = files_of(packed)
    error_of(run("task", "new", "Again", "--id", "T-1", "--json"), 1, "already_there")
    assert files_of(packed) == before


def test_a_packed_task_comes_back_with_its_own_words(packed: Path, run: Run, done: Run) -> None:
    # Either verb may be the way back, but what it brings is what was packed.
    if run("task", "reopen", "T-1").code != 0:
        done("task", "restore", "T-1")
    shown = done("task", "show", "T-1", "--json").json["task"]
    assert shown["path"].endswith("T-1.yaml")
    assert shown["fields"]["description"] == "Its own words."


def test_packs_go_to_a_cold_place(packed: Path, run: Run, done: Run, tmp_path: Path) -> None:
    pack = (packed / "work/archive/2020-01.zip").read_bytes()
    cold = tmp_path / "cold"
    answer = done("task", "archive", "--cold", str(cold), "--json").json["archive"]
    assert answer["moved_away"] == [str(cold / "2020-01.zip")]
    assert (cold / "2020-01.zip").read_bytes() == pack
    assert not (packed / "work/archive/2020-01.zip").exists()
    assert run("task", "show", "T-1").code in (0, 5)


def test_a_cold_place_that_has_another_pack_keeps_both(
    packed: Path, run: Run, tmp_path: Path
) -> None:
    cold = tmp_path / "cold"
    cold.mkdir()
    (cold / "2020-01.zip").write_bytes(b"of another repository")
    before = files_of(packed)
    error_of(run("task", "archive", "--cold", str(cold), "--json"), 1, "already_there")
    assert (cold / "2020-01.zip").read_bytes() == b"of another repository"
    assert files_of(packed) == before


def test_a_purge_asks_and_says_what_goes(packed: Path, run: Run, done: Run) -> None:
    path = written(packed, "archive/2021-01/T-9.yaml", task_text("T-9", "done", "builder"))
    recent = written(packed, "archive/2999-01/T-8.yaml", task_text("T-8", "done", "builder"))
    before = files_of(packed)
    words = ("task", "archive", "--purge-older-than", "1y")
    error = error_of(run(*words, "--json"), 3, "confirmation_needed")
    assert "2 archived files" in error["message"]
    assert "Nothing was purged" in error["message"]
    assert run(*words, "--yes", who=BUILDER).code == 3
    gone = ["work/archive/2020-01.zip", "work/archive/2021-01/T-9.yaml"]
    assert done(*words, "--dry-run", "--json").json["archive"]["purged"] == gone
    assert files_of(packed) == before
    assert done(*words, "--yes", "--json").json["archive"]["purged"] == gone
    assert not path.exists()
    assert recent.exists()


# Bringing back


def test_a_removed_file_comes_back_from_git(repo: Path, run: Run, done: Run, git: Git) -> None:
    path = written(repo, "inbox/T-1.yaml", BY_HAND)
    commit_all(repo, git, "A task")
    error_of(run("task", "restore", "T-1", "--json"), 1, "already_there")
    path.unlink()
    ended = done("task", "restore", "T-1")
    assert "commit" in ended.out
    assert path.read_text() == BY_HAND
    git("rm", "-q", "work/inbox/T-1.yaml", cwd=repo)
    git("commit", "-qm", "Gone", cwd=repo)
    done("task", "restore", "T-1")
    assert path.read_text() == BY_HAND


def test_a_task_that_only_another_branch_has_comes_back(repo: Path, done: Run, git: Git) -> None:
    git("checkout", "-qb", "topic", cwd=repo)
    written(repo, "inbox/T-1.yaml", BY_HAND)
    commit_all(repo, git, "A task")
    git("checkout", "-q", "main", cwd=repo)
    assert not (repo / "work/inbox/T-1.yaml").exists()
    done("task", "restore", "T-1")
    assert (repo / "work/inbox/T-1.yaml").read_text() == BY_HAND


def test_a_file_that_was_never_committed_comes_back_from_its_claim(
    repo: Path, run: Run, done: Run
) -> None:
    done("task", "new", "A task", "--id", "T-1")
    done("claim", "T-1", who=BUILDER)
    path = repo / "work/assigned/builder/T-1.yaml"
    path.unlink()
    found = done("validate", "--json").json["validate"]["findings"]
    assert [(each["rule"], each["task"]) for each in found] == [("no_file", "T-1")]
    ended = done("task", "restore", "T-1")
    assert "claims" in ended.out
    assert path.exists()
    done("finish", "T-1", "--summary", "Done.", who=BUILDER)
    assert run("task", "restore", "T-404").code == 5


# History


def test_history_tells_of_commits_and_events_in_order(
    repo: Path, run: Run, done: Run, environ: dict[str, str]
) -> None:
    def commit(at: str, place: str, status: str, old: str = "") -> None:
        if old:
            (repo / "work" / old).unlink()
        written(repo, place, task_text("T-1", status, "builder"))
        stamp = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        for words in (["add", "-A"], ["commit", "-qm", f"Now {status}"]):
            subprocess.run(["git", *words], cwd=repo, env={**environ, **stamp}, check=True)

    commit("2020-01-01T00:00:00Z", "inbox/T-1.yaml", "new")
    commit("2020-01-02T00:00:00Z", "assigned/builder/T-1.yaml", "error", "inbox/T-1.yaml")
    commit("2020-01-03T00:00:00Z", "done/T-1.yaml", "done", "assigned/builder/T-1.yaml")
    commit("2020-01-04T00:00:00Z", "assigned/builder/T-1.yaml", "assigned", "done/T-1.yaml")
    done("task", "note", "T-1", "A remark.")
    commit("2037-01-01T00:00:00Z", "assigned/builder/T-1.yaml", "in_progress")
    steps = done("task", "history", "T-1", "--json").json["task"]["history"]
    assert [step["at"] for step in steps] == sorted(step["at"] for step in steps)
    assert [(step["source"], step["state"], step["grade"]) for step in steps] == [
        ("git", "new", "legal"),
        ("git", "error", "skipped"),
        ("git", "done", "legal"),
        ("git", "assigned", "backwards"),
        ("log", None, None),
        ("git", "in_progress", "legal"),
    ]
    shown = done("task", "history", "T-1").out
    assert "[skipped]" in shown
    assert "[backwards]" in shown
    assert run("task", "history", "T-404").code == 5


def test_history_goes_by_the_name_of_the_file(repo: Path, done: Run, git: Git) -> None:
    # The same text under two names: similarity would make one the ancestor of the other.
    written(repo, "inbox/T-1.yaml", task_text("X", "new"))
    commit_all(repo, git, "One")
    (repo / "work/inbox/T-1.yaml").rename(repo / "work/inbox/T-2.yaml")
    commit_all(repo, git, "Two")
    steps = done("task", "history", "T-2", "--json").json["task"]["history"]
    assert [(step["what"], step["note"]) for step in steps] == [("file added", "Two")]


# What takes too long


def test_a_stalled_task_is_logged_once_for_each_start(repo: Path, done: Run) -> None:
    text = task_text("T-1", "in_progress", "builder", started_at=LONG_AGO)
    path = written(repo, "assigned/builder/T-1.yaml", text)
    assert "T-1" in done("task", "stalled").out
    log = repo / "work/WORKFLOW_LOG.md"
    assert not log.exists()
    for _ in range(2):
        done("task", "stalled", "--log")
    [line] = log.read_text().splitlines()
    assert re.match(r"\*\*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\*\* - T-1 is stalled", line)
    path.write_text(text.replace(LONG_AGO, "2021-01-02T03:04:05.000Z"))
    done("task", "stalled", "--log")
    first, _ = log.read_text().splitlines()
    assert first == line
    assert "stalled" in done("task", "list").out
    assert "Stalled: T-1" in done("orient").out
    assert [task["id"] for task in done("orient", "--json").json["orient"]["stalled"]] == ["T-1"]
    listed = done("task", "list", "--stalled", "--json").json["tasks"]
    assert [(task["id"], task["stalled"]) for task in listed] == [("T-1", True)]


def test_extending_ends_the_stall(repo: Path, run: Run, done: Run) -> None:
    text = task_text("T-1", "in_progress", "builder", started_at=LONG_AGO)
    written(repo, "assigned/builder/T-1.yaml", text)
    assert run("task", "extend", "T-1", "--by", "1h", who=HELPER).code == 3
    assert run("task", "extend", "T-1", "--until", LONG_AGO).code == 2
    assert run("task", "extend", "T-1", "--by", "soon").code == 2
    assert "T-1" in done("task", "stalled").out
    done("task", "extend", "T-1", "--by", "1h")
    assert done("task", "stalled").out == "Nothing is stalled.\n"
    assert done("orient", "--json").json["orient"]["stalled"] == []


def test_the_log_and_the_patience_are_settings(repo: Path, done: Run) -> None:
    (repo / "tether.toml").write_text(
        '[tasks]\nlog = "docs/LOG.md"\nstalled_seconds = 1000000000\n'
    )
    text = task_text("T-1", "in_progress", "builder", started_at=LONG_AGO)
    written(repo, "assigned/builder/T-1.yaml", text)
    assert done("task", "stalled").out == "Nothing is stalled.\n"
    (repo / "docs").mkdir()
    (repo / "docs/LOG.md").write_text("# Log\n")
    (repo / "tether.toml").write_text('[tasks]\nlog = "docs/LOG.md"\n')
    done("task", "stalled", "--log")
    assert (repo / "docs/LOG.md").read_text().startswith("# Log\n**")


# Validation


def test_findings_to_fail_on_end_with_six(repo: Path, run: Run, done: Run) -> None:
    done("task", "new", "A task", "--id", "T-0")
    written(repo, "inbox/T-1.yaml", task_text("T-1", "urgent"))
    written(repo, "done/T-2.yaml", task_text("T-2", "new", "builder"))
    done("validate")
    ended = run("validate", "--fail-on", "any")
    assert ended.code == 6
    assert "work/inbox/T-1.yaml: status_value" in ended.out
    for what, code in (("status_value", 6), ("unknown", 6), ("skipped", 6), ("parse", 0)):
        assert run("validate", "--fail-on", what).code == code
    counted = run("validate", "--fail-on", "any", "--json")
    assert counted.code == 6
    assert counted.json["validate"]["counts"]["directory_status"] == 2
    assert run("validate", "--fail-on", "nonsense").code == 2


def test_paths_narrow_the_findings(repo: Path, run: Run, done: Run, tether: Tether) -> None:
    done("task", "new", "A task", "--id", "T-0")
    for name in ("T-1", "T-2"):
        written(repo, f"inbox/{name}.yaml", task_text(name, "urgent"))
    value = done("validate", "work/inbox/T-2.yaml", "--json").json["validate"]
    assert {each["path"] for each in value["findings"]} == {"work/inbox/T-2.yaml"}
    assert run("validate", "work/inbox/T-0.yaml", "--fail-on", "any").code == 0
    below = tether("validate", "T-1.yaml", "--json", cwd=repo / "work/inbox")
    assert {each["task"] for each in below.json["validate"]["findings"]} == {"T-1"}


# What comes next


def days_ago(days: int) -> str:
    from tether import clock

    return clock.text(clock.SystemClock().now_ms() - days * 86_400_000)


def test_what_is_urgent_comes_first_and_waiting_counts(repo: Path, done: Run) -> None:
    for name, priority, days in (
        ("A-low-new", "low", 0),
        ("B-low-old", "low", 60),
        ("C-high", "high", 0),
        ("D-normal", "normal", 0),
        ("E-critical", "critical", 0),
    ):
        text = task_text(name, "new", priority=priority).replace(LONG_AGO, days_ago(days))
        written(repo, f"inbox/{name}.yaml", text)

    def order() -> list[str]:
        tasks = done("next", "--limit", "9", "--json", who=BUILDER).json["tasks"]
        return [task["id"][0] for task in tasks]

    assert order() == ["E", "B", "C", "D", "A"]
    (repo / "tether.toml").write_text("[tasks]\nageing_days = 0\n")
    assert order() == ["E", "C", "D", "B", "A"]
    done("claim", "A-low-new", who=BUILDER)
    written(repo, "assigned/builder/F-own.yaml", task_text("F-own", "assigned", "builder"))
    assert order() == ["A", "F", "E", "C", "D", "B"]


def test_what_waits_for_another_is_not_offered(repo: Path, done: Run) -> None:
    done("task", "new", "First", "--id", "T-1", "--priority", "low")
    done("task", "new", "Second", "--id", "T-2", "--priority", "critical", "--depends-on", "T-1")
    assert done("next", "--json").json["task"]["id"] == "T-1"
    assert "waits for T-1" in done("task", "list").out
    done("claim", "T-1", who=BUILDER)
    done("finish", "T-1", who=BUILDER)
    assert done("next", "--json").json["task"]["id"] == "T-2"


def test_everybody_who_asks_at_once_gets_another_task(repo: Path, run: Run, done: Run) -> None:
    crowd = 4
    for number in range(crowd):
        written(repo, f"inbox/T-{number}.yaml", task_text(f"T-{number}", "new"))
    done("validate", "--fix", "--yes")

    def ask(number: int) -> Ended:
        who = {"TETHER_SESSION": f"crowd-{number}", "TETHER_AGENT": f"agent-{number}"}
        return run("next", "--claim", "--json", who=who)

    with futures.ThreadPoolExecutor(crowd) as pool:
        ended = list(pool.map(ask, range(crowd)))
    assert [each.code for each in ended] == [0] * crowd
    got = [each.json["task"]["id"] for each in ended]
    assert sorted(got) == [f"T-{number}" for number in range(crowd)]
    late = done("next", "--claim", "--json", who=HELPER)
    assert late.json["task"] is None
    for number, task in enumerate(got):
        assert (repo / f"work/assigned/agent-{number}/{task}.yaml").exists()


# Mistakes


def test_typos_are_answered_with_what_was_meant(repo: Path, run: Run, done: Run) -> None:
    done("task", "new", "A task", "--id", "T-1234")
    ended = run("task", "shwo", "T-1234")
    assert (ended.code, ended.out) == (2, "")
    assert "tether task show" in ended.err
    error = error_of(run("task", "show", "T-1243", "--json"), 5, "not_found")
    assert "T-1234" in error["hint"]
    error = error_of(run("claim", "T-1243", "--json", who=BUILDER), 5, "not_found")
    assert "T-1234" in error["hint"]
    assert run("task", "show").code == 2
    assert run("task", "list", "--state", "undone").code == 2
    assert run("task", "list", "--limit", "many").code == 2
    assert done("task", "--help").out.startswith("Usage: ")
    assert "task list" in run("task", "show", "NOPE").err


def test_without_task_files_a_claim_is_a_claim(repo: Path, run: Run, done: Run) -> None:
    before = files_of(repo)
    claimed = done("claim", "H.13.9", "--json", who=BUILDER).json
    assert (claimed["claim"]["task"], claimed["task"]) == ("H.13.9", None)
    assert run("claim", "H.13.9", who=HELPER).code == 4
    done("release", "H.13.9", who=BUILDER)
    done("claim", "H.13.9", who=HELPER)
    done("claim", "jira:X-1", who=HELPER)
    assert files_of(repo) == before
    assert done("task", "list").out.startswith("No open tasks.")


def test_a_bare_repository_has_no_tasks(
    repo: Path, tether: Tether, tmp_path: Path, git: Git
) -> None:
    bare = tmp_path / "bare.git"
    git("clone", "-q", "--bare", str(repo), str(bare), cwd=tmp_path)
    for words in (
        ("task", "list"), ("task", "new", "A task"), ("task", "show", "T-1"), ("next",),
        ("finish", "T-1"), ("validate",), ("task", "history", "T-1"), ("task", "archive"),
    ):  # fmt: skip
        error = error_of(tether(*words, "--json", cwd=bare, env=ADA), 3, "not_allowed")
        assert "bare" in error["message"]
        assert "worktree" in error["hint"]


def test_another_root_and_places_that_are_left_out(repo: Path, done: Run) -> None:
    settings = '[tasks]\nroot = "work/collaboration"\nleave_out = "backups, fridge"\n'
    (repo / "tether.toml").write_text(settings)
    done("task", "new", "A task", "--id", "T-1")
    assert (repo / "work/collaboration/inbox/T-1.yaml").exists()
    for folder in ("backups", "fridge", "team"):
        text = task_text("T-1" if folder != "team" else "T-2", "new")
        name = "T-2" if folder == "team" else "T-1"
        written(repo, f"collaboration/inbox/{folder}/{name}.yaml", text)
    assert states_of(done("task", "list", "--json")) == {"T-1": "new", "T-2": "new"}
    found = done("validate", "--json").json["validate"]
    assert found["files"] == 2
    done("claim", "T-1", who=BUILDER)
    assert (repo / "work/collaboration/inbox/backups/T-1.yaml").exists()


@pytest.mark.parametrize("root", ["../outside", "/tmp", ".git", "a/../../b"])
def test_a_root_that_leads_elsewhere_is_refused(
    repo: Path, run: Run, tmp_path: Path, root: str
) -> None:
    (repo / "tether.toml").write_text(f'[tasks]\nroot = "{root}"\n')
    ended = run("task", "new", "A task", "--id", "T-1", "--json")
    assert ended.code != 0
    assert ended.json["ok"] is False
    assert not list(tmp_path.rglob("T-1.yaml"))


# The index


def stamp_of(path: Path) -> str:
    seen = path.stat()
    return f"{seen.st_size}/{seen.st_mtime_ns}/{seen.st_ctime_ns}/{seen.st_ino}"


@contextlib.contextmanager
def opened(index: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(index)) as connection, connection:
        yield connection


def let_rest(repo: Path, index: Path) -> int:
    """Make the index trust its rows, as it does once files were at rest; how many there are.

    Resting takes seconds, so the rows are made so.
    """
    with opened(index) as connection:
        paths = [path for (path,) in connection.execute("SELECT path FROM parsed_files")]
        connection.executemany(
            "UPDATE parsed_files SET stamp = ? WHERE path = ?",
            [(stamp_of(repo / path), path) for path in paths],
        )
    return len(paths)


def overwrite(index: Path, value: str) -> None:
    """Let every row that is trusted say something else."""
    with opened(index) as connection:
        columns = {row[1] for row in connection.execute("PRAGMA table_info(parsed_files)")}
        for column in columns - {"worktree", "path", "stamp", "hash", "parser"}:
            connection.execute(f"UPDATE parsed_files SET {column} = ?", (value,))  # noqa: S608


def execute(index: Path, statement: str) -> None:
    with opened(index) as connection:
        connection.execute(statement)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(os.urandom(20_000)),
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "version": lambda path: execute(path, "PRAGMA user_version = 99"),
    "shape": lambda path: execute(path, "ALTER TABLE parsed_files RENAME TO something_else"),
    "words": lambda path: overwrite(path, "nonsense"),
    "nothing": lambda path: overwrite(path, ""),
    "no fields": lambda path: overwrite(path, "[]"),
    "no list": lambda path: overwrite(path, "{}"),
}


def test_whatever_happens_to_the_index_the_answers_are_the_same(
    repo: Path, run: Run, done: Run
) -> None:
    done("task", "new", "The first", "--id", "T-00")  # who only reads makes no store
    for number in range(1, 30):
        text = task_text(f"T-{number:02}", "new", depends_on="[T-00]")
        written(repo, f"inbox/T-{number:02}.yaml", text)
    index = repo / ".git/tether/index.db"
    words = ("task", "list", "--all", "--json")
    wanted = done(*words)
    assert len(wanted.json["tasks"]) == 30
    wrong = []
    for name, damage in DAMAGES.items():
        index.unlink()
        assert done(*words) == wanted
        assert let_rest(repo, index) == 30, name
        damage(index)
        wrong += [name for _ in range(2) if run(*words) != wanted]
        index.touch()
    assert wrong == []


def test_control_an_index_that_lies_is_noticed_by_the_comparison(repo: Path, done: Run) -> None:
    done("task", "new", "About T-1", "--id", "T-1")
    done("task", "list")
    index = repo / ".git/tether/index.db"
    assert let_rest(repo, index) == 1
    with opened(index) as connection:
        lie = "UPDATE parsed_files SET record = replace(record, 'About T-1', 'A lie')"
        assert connection.execute(lie).rowcount == 1
    [task] = done("task", "list", "--json").json["tasks"]
    assert task["title"] == "A lie"


def test_after_a_checkout_the_list_tells_the_new_truth(repo: Path, done: Run, git: Git) -> None:
    done("task", "new", "About T-1", "--id", "T-1", "--commit")
    git("checkout", "-qb", "topic", cwd=repo)
    (repo / "work/inbox/T-1.yaml").unlink()
    written(repo, "done/T-1.yaml", task_text("T-1", "done", "builder"))
    written(repo, "inbox/T-2.yaml", task_text("T-2", "new"))
    commit_all(repo, git, "On the topic")
    on_topic, on_main = {"T-1": "done", "T-2": "new"}, {"T-1": "new"}
    for _ in range(2):
        assert states_of(done("task", "list", "--all", "--json")) == on_topic
        git("checkout", "-q", "main", cwd=repo)
        assert states_of(done("task", "list", "--all", "--json")) == on_main
        git("checkout", "-q", "topic", cwd=repo)


WANTED = (states.IN_PROGRESS, states.ASSIGNED, states.ERROR)


def padded(status: str) -> str:
    """Of one length, so that neither size nor, within a tick of the clock, any time differs."""
    return task_text("T-1", f"{status:<11}", "builder")


def test_a_file_changed_within_one_tick_is_never_shown_as_it_was(repo: Path, done: Run) -> None:
    path = written(repo, "assigned/builder/T-1.yaml", padded("assigned"))
    for number in range(scale.count(300, at_least=6)):
        status = WANTED[number % len(WANTED)]
        with path.open("r+") as file:  # in place: the same inode, the same size
            file.write(padded(status))
        assert states_of(done("task", "list", "--json")) == {"T-1": status}


@contextlib.contextmanager
def in_memory(path: Path) -> Iterator[mmap.mmap]:
    """A file as memory: what is written to a page that is dirty already changes none of its times.

    So a test has, again and again, what else needs two writes within one tick of the clock.
    """
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        yield memory


def watch_changes(repo: Path, times: int) -> tuple[int, int]:
    """Change a task again and again, and list it; how often that was wrong, or left no trace."""
    path = written(repo, "assigned/builder/T-1.yaml", padded("assigned"))
    here, work = workspace.find(str(repo)), workdir.Workdir(str(repo))
    wrong = traceless = 0
    before = ""
    with in_memory(path) as memory:
        for number in range(times):
            status = WANTED[number % len(WANTED)]
            memory[:] = padded(status).encode()
            traceless += stamp_of(path) == before
            before = stamp_of(path)
            found = {task.id: task.state for task in listing.tasks(here, work)}
            wrong += found != {"T-0": "new", "T-1": status}
            if number % 4 == 3:
                memory.flush()  # now the times tell of it; later than that no rule would help
    return wrong, traceless


def test_many_changes_in_a_row_are_all_seen(repo: Path, done: Run) -> None:
    done("task", "new", "Makes the store", "--id", "T-0")
    wrong, _ = watch_changes(repo, scale.count(10_000, at_least=200))
    assert wrong == 0


def test_control_a_reader_that_trusts_what_has_just_changed_is_noticed(
    repo: Path, done: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    done("task", "new", "Makes the store", "--id", "T-0")
    monkeypatch.setattr(parsed, "_RACY_NS", -(1 << 62))
    wrong, traceless = watch_changes(repo, 50)
    if not traceless:
        pytest.skip("needs a file system on which a change may leave no trace in the times")
    assert wrong > 0
