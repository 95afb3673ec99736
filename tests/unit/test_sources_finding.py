"""The task lists of a checkout: detected, read together, kept in the index."""

from __future__ import annotations

import functools
import os
import sqlite3
from pathlib import Path

import pytest

from tether import ids, index
from tether.tasks.sources import finding, model, places, reading

TRACK = "# Track H\n\n- [x] H.1.1 a\n- [ ] H.1.2 b\n"
ISSUE = '{"id":"bd-1","title":"t","status":"open"}\n'
TASK = "---\nid: task-1\ntitle: t\nstatus: To Do\n---\n"
FILES = {
    "internal/project/plans/pilot-tracks/TRACK-H-FRAMEWORK.md": TRACK,
    "plans/tracks/track-aa-legal.md": "- [ ] **AA.1.1** Sign\n",
    "plans/tracks/MASTER-TRACK-INDEX.md": "- [ ] H.9.9 index\n",
    "specs/001-login/tasks.md": "- [ ] T001 a\n",
    ".kiro/specs/auth/tasks.md": "- [x] 1. a\n",
    "openspec/changes/add/tasks.md": "- [ ] 1.1 a\n",
    "openspec/changes/archive/2026-01-01-old/tasks.md": "- [x] 1.1 a\n",
    "conductor/tracks/auth/plan.md": "- [ ] Task: a\n",
    "backlog/tasks/task-1 - A.md": TASK,
    "backlog/drafts/draft-1 - A.md": TASK,
    ".beads/issues.jsonl": ISSUE,
}
ALL = ("track", "speckit", "kiro", "openspec", "conductor", "backlog", "beads")


def write(top: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())


def keys(lists: finding.Lists) -> list[str]:
    return [key.label for key in lists.items]


def test_every_list_of_a_checkout_is_detected(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    found = finding.detect(str(tmp_path))
    assert tuple(each.name for each in found) == ALL
    assert found[0].files == (
        "internal/project/plans/pilot-tracks/TRACK-H-FRAMEWORK.md",
        "plans/tracks/track-aa-legal.md",
    )
    assert found[3].files == (
        "openspec/changes/add/tasks.md",
        "openspec/changes/archive/2026-01-01-old/tasks.md",
    )


def test_an_empty_checkout_and_one_that_is_not_there_have_none(tmp_path: Path) -> None:
    assert finding.detect(str(tmp_path)) == ()
    assert finding.detect(str(tmp_path / "nowhere")) == ()


def test_files_that_are_only_called_like_tracks_are_no_list(tmp_path: Path) -> None:
    write(tmp_path, {"docs/track-a-preservation.md": "# Notes\n- [ ] read\n"})
    assert finding.detect(str(tmp_path)) == ()
    write(tmp_path, {"docs/track-b.md": "- [ ] B.1.1 a\n"})
    assert [each.name for each in finding.detect(str(tmp_path))] == ["track"]


def test_everything_is_read_together(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    lists = finding.read(str(tmp_path), ALL)
    assert sorted(keys(lists)) == [
        "backlog:TASK-1",
        "beads:bd-1",
        "conductor:auth.ca234c55",
        "kiro:auth.1",
        "openspec:add.1.1",
        "openspec:old.1.1",
        "speckit:001-login.T001",
        "track:AA.1.1",
        "track:H.1.1",
        "track:H.1.2",
    ]
    assert lists.problems == []
    assert {p.track for p in lists.progress if not p.section} == {
        "H", "AA", "001-login", "auth", "add", "old"
    }  # fmt: skip
    assert lists.prefixes() == (("backlog", "task"), ("beads", "bd"))


def test_only_the_lists_that_are_asked_for_are_read(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    assert keys(finding.read(str(tmp_path), ["beads", "work", "nonsense"])) == ["beads:bd-1"]


def test_of_two_files_with_one_id_the_first_counts(tmp_path: Path) -> None:
    write(tmp_path, {"b/TRACK-H.md": "- [ ] H.1.1 b\n", "a/TRACK-H.md": "\n- [x] H.1.1 a\n"})
    lists = finding.read(str(tmp_path), ["track"])
    assert [(i.text, i.line) for i in lists.items.values()] == [("a", 2)]
    [problem] = lists.problems
    assert (problem.path, problem.line) == ("b/TRACK-H.md", 1)
    assert "a/TRACK-H.md, line 2" in problem.message


def test_a_task_counts_before_its_archived_namesake(tmp_path: Path) -> None:
    write(tmp_path, {"backlog/archive/tasks/task-1 - B.md": TASK, "backlog/tasks/task-1.md": TASK})
    lists = finding.read(str(tmp_path), ["backlog"])
    assert [i.state for i in lists.items.values()] == ["new"]


def test_the_old_export_of_beads_is_read_where_there_is_no_new_one(tmp_path: Path) -> None:
    write(tmp_path, {".beads/beads.jsonl": ISSUE})
    assert keys(finding.read(str(tmp_path), ["beads"])) == ["beads:bd-1"]
    write(tmp_path, {".beads/issues.jsonl": ISSUE.replace("bd-1", "bd-2")})
    assert keys(finding.read(str(tmp_path), ["beads"])) == ["beads:bd-2"]


def test_consolidated_ids_lead_to_what_is_there(tmp_path: Path) -> None:
    log = "- [ ] A.11 a\n## Task Consolidation Log\nA.7 → A.8\nA.8 → A.11\nA.1 → A.2\nA.2 → A.1\n"
    write(tmp_path, {"TRACK-A.md": log})
    lists = finding.read(str(tmp_path), ["track"])
    assert lists.resolve(ids.TaskKey("track", "A.7")).id == "A.11"
    assert lists.resolve(ids.TaskKey("track", "A.11")).id == "A.11"
    assert lists.resolve(ids.TaskKey("track", "A.99")).id == "A.99"
    assert lists.resolve(ids.TaskKey("track", "A.1")).id in ("A.1", "A.2")


# What is not looked at


@pytest.mark.parametrize(
    "directory", [".git", "node_modules/x", ".venv", ".hidden", "a/b/c/d/e/f/g/h/i", "vendor"]
)
def test_some_directories_are_not_looked_into(tmp_path: Path, directory: str) -> None:
    write(tmp_path, {f"{directory}/TRACK-H.md": TRACK})
    assert keys(finding.read(str(tmp_path), ["track"])) == []


def test_another_checkout_inside_is_not_looked_into(tmp_path: Path) -> None:
    write(tmp_path, {"TRACK-H.md": TRACK, "sub/TRACK-S.md": "- [ ] S.1.1 a\n", "sub/.git": "x"})
    write(tmp_path, {".git/HEAD": "x"})
    assert keys(finding.read(str(tmp_path), ["track"])) == ["track:H.1.1", "track:H.1.2"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    top, outside = tmp_path / "top", tmp_path / "outside"
    write(outside, {"TRACK-H.md": TRACK, "a/tasks.md": "- [ ] T001 a\n", "issues.jsonl": ISSUE})
    write(top, {"x": ""})
    (top / "plans").symlink_to(outside)
    (top / "specs").symlink_to(outside)
    (top / ".beads").mkdir()
    (top / ".beads" / "issues.jsonl").symlink_to(outside / "issues.jsonl")
    (top / "TRACK-H.md").symlink_to(outside / "TRACK-H.md")
    lists = finding.read(str(top), ALL)
    assert (lists.items, lists.problems) == ({}, [])


def test_a_pipe_in_the_place_of_a_list_does_not_block(tmp_path: Path) -> None:
    (tmp_path / ".beads").mkdir()
    os.mkfifo(tmp_path / ".beads" / "issues.jsonl")
    assert finding.read(str(tmp_path), ["beads"]).items == {}


def test_a_large_tree_is_looked_through_from_the_top(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {f"d{n}/e/x": "" for n in range(30)})
    write(tmp_path, {"d9/TRACK-H.md": TRACK, "d9/e/TRACK-I.md": "- [ ] I.1.1 a\n"})
    monkeypatch.setattr(places, "MAX_DIRECTORIES", 31)
    assert keys(finding.read(str(tmp_path), ["track"])) == ["track:H.1.1", "track:H.1.2"]


def test_a_file_that_is_too_large_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, {".beads/issues.jsonl": "", "TRACK-H.md": TRACK})
    with open(tmp_path / ".beads" / "issues.jsonl", "wb") as file:
        file.truncate(finding.MAX_BYTES + 1)
    lists = finding.read(str(tmp_path), ALL)
    assert keys(lists) == ["track:H.1.1", "track:H.1.2"]
    assert lists.problems == [model.Problem(".beads/issues.jsonl", 0, "it has more than 8 MiB")]


def test_what_is_no_utf8_is_read_as_far_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "TRACK-H.md").write_bytes(b"- [ ] H.1.1 caf\xe9\n\xff\xfe\n- [x] H.1.2 b\n")
    lists = finding.read(str(tmp_path), ["track"])
    assert [i.text for i in lists.items.values()] == ["caf\ufffd", "b"]


# The index


def of(lists: finding.Lists) -> tuple[object, ...]:
    return lists.items, lists.progress, lists.aliases, lists.problems


def settle(top: Path) -> None:
    """Let the files be at rest: what has just changed is not trusted."""
    for path in top.rglob("*"):
        if path.is_file():
            os.utime(path, (1_700_000_000, 1_700_000_000))


def test_the_index_gives_the_same_answer(tmp_path: Path) -> None:
    top, store = tmp_path / "top", tmp_path / "store"
    store.mkdir()
    write(top, FILES)
    write(top, {"TRACK-A.md": "- [ ] A.1 a\n- [!] A.1 b\n## Consolidation Log\nA.7 → A.11\n"})
    write(top, {"backlog/tasks/task-2 - B.md": TASK.replace("1", "2") + "## Acceptance\n- [x] a\n"})
    settle(top)
    fresh = finding.read(str(top), ALL)
    kept = index.Index(str(store))
    for _ in range(3):
        assert of(finding.read(str(top), ALL, kept)) == of(fresh)
    kept.close()
    again = index.Index(str(store))
    assert of(finding.read(str(top), ALL, again)) == of(fresh)
    again.close()


def test_the_index_is_used_and_follows_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top, store = tmp_path / "top", tmp_path / "store"
    store.mkdir()
    write(top, {"plans/TRACK-H.md": TRACK, "plans/TRACK-I.md": "- [ ] I.1.1 a\n"})
    settle(top)
    kept = index.Index(str(store))
    parsed: list[str] = []
    parse = reading.parse

    def noting(source: str, path: str, content: bytes) -> model.Listing:
        parsed.append(path)
        return parse(source, path, content)

    monkeypatch.setattr(reading, "parse", noting)
    for _ in range(3):
        finding.read(str(top), ["track"], kept)
    assert len(parsed) == 2
    write(top, {"plans/TRACK-H.md": TRACK.replace("[ ]", "[x]")})
    lists = finding.read(str(top), ["track"], kept)
    assert {i.id: i.state for i in lists.items.values()} == {
        "H.1.1": "done", "H.1.2": "done", "I.1.1": "new"
    }  # fmt: skip
    assert parsed[2:] == ["plans/TRACK-H.md"]
    os.remove(top / "plans/TRACK-H.md")
    assert keys(finding.read(str(top), ["track"], kept)) == ["track:I.1.1"]
    kept.close()


def _damage(record: str, connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE parsed_files SET record = ?", (record,))


def test_a_damaged_row_is_read_again(tmp_path: Path) -> None:
    top, store = tmp_path / "top", tmp_path / "store"
    store.mkdir()
    write(top, {"plans/TRACK-H.md": TRACK})
    settle(top)
    kept = index.Index(str(store))
    fresh = of(finding.read(str(top), ["track"], kept))
    for record in ("[]", "[1,2,3,4]", '[[["a"]],[],[],[]]', "{", "null"):
        kept.write(functools.partial(_damage, record))
        assert of(finding.read(str(top), ["track"], kept)) == fresh
    kept.close()
