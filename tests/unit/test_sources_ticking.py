"""One line of a list is changed, and every other byte stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tether import clock, errors, files
from tether.tasks.sources import finding, model, ticking

NOW = "2026-01-01T00:00:00.000Z"


def write(top: Path, path: str, content: bytes) -> None:
    (top / path).parent.mkdir(parents=True, exist_ok=True)
    (top / path).write_bytes(content)


def item_of(top: Path, source: str, task_id: str) -> model.Item:
    items = finding.read(str(top), [source]).items.values()
    return next(item for item in items if item.id == task_id)


def tick(top: Path, source: str, task_id: str, state: str) -> str:
    item = item_of(top, source, task_id)
    path = ticking.tick(str(top), item, state, clock.FakeClock(NOW))
    assert item_of(top, source, task_id).state == state
    return path


TRACK = (
    b"\xef\xbb\xbf---\r\ntrack: H\r\n---\r\n"
    b"- [ ] **H.1.1** caf\xe9  \r\n"
    b"\t* [X]\tH.1.2 [abc1234]\n"
    b"- [\xe2\x9c\x93] H.1.3 odd mark\n"
    b"- [] H.1.4 no mark\n"
    b"```\n- [ ] H.1.1 code\n```\n"
    b"1. [~] H.1.10 last, no newline"
)


@pytest.mark.parametrize(
    ("task_id", "old", "new"),
    [
        ("H.1.1", b"[ ] **H.1.1**", b"[%s] **H.1.1**"),
        ("H.1.2", b"[X]\tH.1.2", b"[%s]\tH.1.2"),
        ("H.1.3", b"[\xe2\x9c\x93] H.1.3", b"[%s] H.1.3"),
        ("H.1.4", b"[] H.1.4", b"[%s] H.1.4"),
        ("H.1.10", b"[~] H.1.10", b"[%s] H.1.10"),
    ],
)
@pytest.mark.parametrize(
    ("state", "mark"), [("new", b" "), ("done", b"x"), ("in_progress", b"~"), ("cancelled", b"-")]
)
def test_exactly_the_mark_is_changed(
    tmp_path: Path, task_id: str, old: bytes, new: bytes, state: str, mark: bytes
) -> None:
    write(tmp_path, "plans/TRACK-H.md", TRACK)
    before = item_of(tmp_path, "track", task_id).state
    assert tick(tmp_path, "track", task_id, state) == "plans/TRACK-H.md"
    expected = TRACK if before == state else TRACK.replace(old, new % mark)
    assert (tmp_path / "plans/TRACK-H.md").read_bytes() == expected


@pytest.mark.parametrize(
    ("source", "path", "content", "state", "expected"),
    [
        ("speckit", "specs/a/tasks.md", "- [ ] T001 x\n", "done", "- [x] T001 x\n"),
        ("kiro", ".kiro/specs/a/tasks.md", "- [ ]* 1. x\n", "in_progress", "- [-]* 1. x\n"),
        ("openspec", "openspec/changes/a/tasks.md", "- [x] 1.1 x\n", "new", "- [ ] 1.1 x\n"),
        ("conductor", "conductor/plan.md", "- [~] Task: x\n", "done", "- [x] Task: x\n"),
    ],
)
def test_every_dialect_can_be_ticked(
    tmp_path: Path, source: str, path: str, content: str, state: str, expected: str
) -> None:
    write(tmp_path, path, content.encode())
    [item] = finding.read(str(tmp_path), [source]).items.values()
    tick(tmp_path, source, item.id, state)
    assert (tmp_path / path).read_text() == expected


@pytest.mark.parametrize(
    ("source", "path", "content", "states"),
    [
        ("track", "TRACK-H.md", "- [ ] H.1.1 x\n", ["error", "nonsense"]),
        ("speckit", "specs/a/tasks.md", "- [ ] T001 x\n", ["in_progress", "cancelled", "error"]),
        ("kiro", ".kiro/specs/a/tasks.md", "- [ ] 1. x\n", ["cancelled"]),
        ("openspec", "openspec/changes/a/tasks.md", "- [ ] 1.1 x\n", ["in_progress", "cancelled"]),
        ("conductor", "conductor/plan.md", "- [ ] x\n", ["cancelled"]),
        ("backlog", "backlog/tasks/task-1.md", "---\nstatus: To Do\n---\n", ["cancelled", "error"]),
        ("beads", ".beads/issues.jsonl", '{"id":"bd-1"}\n', ["cancelled", "error"]),
    ],
)
def test_a_state_that_a_format_does_not_have_is_refused(
    tmp_path: Path, source: str, path: str, content: str, states: list[str]
) -> None:
    write(tmp_path, path, content.encode())
    [item] = finding.read(str(tmp_path), [source]).items.values()
    for state in states:
        with pytest.raises(errors.TaskUneditable):
            ticking.tick(str(tmp_path), item, state)
    assert (tmp_path / path).read_bytes() == content.encode()


def test_a_task_that_has_moved_is_found_again(tmp_path: Path) -> None:
    write(tmp_path, "TRACK-H.md", b"- [ ] H.1.1 a\n- [ ] H.1.2 b\n")
    item = item_of(tmp_path, "track", "H.1.1")
    write(tmp_path, "TRACK-H.md", b"# New\n\n- [ ] H.1.2 b\n- [ ] H.1.1 other words\n")
    ticking.tick(str(tmp_path), item, "done")
    assert (tmp_path / "TRACK-H.md").read_bytes() == (
        b"# New\n\n- [ ] H.1.2 b\n- [x] H.1.1 other words\n"
    )


def test_a_task_or_a_file_that_is_gone_is_not_found(tmp_path: Path) -> None:
    write(tmp_path, "TRACK-H.md", b"- [ ] H.1.1 a\n")
    item = item_of(tmp_path, "track", "H.1.1")
    write(tmp_path, "TRACK-H.md", b"```\n- [ ] H.1.1 a\n```\n- [ ] H.1.11 b\n")
    with pytest.raises(errors.NotFound):
        ticking.tick(str(tmp_path), item, "done")
    (tmp_path / "TRACK-H.md").unlink()
    with pytest.raises(errors.NotFound):
        ticking.tick(str(tmp_path), item, "done")


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path, "TRACK-H.md", b"- [ ] H.1.1 a\n")
    item = item_of(tmp_path, "track", "H.1.1")
    (tmp_path / "TRACK-H.md").rename(tmp_path / "real.md")
    (tmp_path / "TRACK-H.md").symlink_to(tmp_path / "real.md")
    with pytest.raises(errors.LinkRefused):
        ticking.tick(str(tmp_path), item, "done")
    assert (tmp_path / "real.md").read_bytes() == b"- [ ] H.1.1 a\n"


class Busy(files.Root):
    """A root in which somebody else changes the list between two reads, some times."""

    times = 0

    def read_bytes(self, name: str, max_bytes: int = files.root.MAX_READ_BYTES) -> bytes:
        content = super().read_bytes(name, max_bytes)
        if Busy.times > 0:
            Busy.times -= 1
            with open(f"{self.path}/{name}", "ab") as file:
                file.write(b"- [ ] another\n")
        return content


def test_what_somebody_else_writes_at_the_same_time_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "TRACK-H.md", b"- [ ] H.1.1 a\n")
    item = item_of(tmp_path, "track", "H.1.1")
    monkeypatch.setattr(files, "Root", Busy)
    Busy.times = 1
    ticking.tick(str(tmp_path), item, "done")
    assert (tmp_path / "TRACK-H.md").read_bytes() == b"- [x] H.1.1 a\n- [ ] another\n"
    Busy.times = 100
    before = (tmp_path / "TRACK-H.md").read_bytes()
    with pytest.raises(errors.Taken):
        ticking.tick(str(tmp_path), item, "new")
    Busy.times = 0
    assert (tmp_path / "TRACK-H.md").read_bytes().startswith(before)


# Backlog.md


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("status: To Do", "status: Done"),
        ("status: To Do  ", "status: Done  "),
        ("status:   To Do # why", "status:   Done # why"),
        ("status: 'To Do' # it's", "status: 'Done' # it's"),
        ('status: "To Do"\r', 'status: "Done"\r'),
        ("status: To Do\r", "status: Done\r"),
        ("status:", "status: Done"),
        ("status: # none", "status: Done # none"),
    ],
)
def test_the_line_of_the_status_is_changed(tmp_path: Path, before: str, after: str) -> None:
    content = "---\nid: task-1\ntitle: a\n{}\nupdated_date: 2026-01-01\n---\nstatus: To Do\n"
    path = "backlog/tasks/task-1 - A.md"
    write(tmp_path, path, content.format(before).encode())
    assert tick(tmp_path, "backlog", "TASK-1", "done") == path
    assert (tmp_path / path).read_bytes() == content.format(after).encode()


def test_a_status_is_changed_even_where_other_fields_are_not_quite_yaml(tmp_path: Path) -> None:
    path = "backlog/tasks/task-1 - A.md"
    write(tmp_path, path, b"---\nid: task-1\ntitle: Fix: \xff\nstatus: To Do\n---\n")
    tick(tmp_path, "backlog", "TASK-1", "in_progress")
    assert (tmp_path / path).read_bytes() == (
        b"---\nid: task-1\ntitle: Fix: \xff\nstatus: In Progress\n---\n"
    )


def test_the_words_of_the_team_are_used(tmp_path: Path) -> None:
    config = 'statuses: ["Icebox", "Ready", "Doing", "Review", "Merged", "Shipped", "Won\'t Do"]\n'
    write(tmp_path, "backlog/config.yml", config.encode())
    path = "backlog/tasks/task-1.md"
    for state, word in [
        ("in_progress", "Doing"),
        ("done", "Shipped"),
        ("new", "Icebox"),
        ("cancelled", '"Won\'t Do"'),
    ]:
        write(tmp_path, path, b"---\nstatus: Failed\n---\n")
        tick(tmp_path, "backlog", "TASK-1", state)
        assert (tmp_path / path).read_text() == f"---\nstatus: {word}\n---\n"


def test_a_task_without_a_status_or_in_the_archive_is_not_edited(tmp_path: Path) -> None:
    write(tmp_path, "backlog/tasks/task-1.md", b"---\ntitle: a\n---\n")
    write(tmp_path, "backlog/archive/tasks/task-2.md", b"---\nstatus: To Do\n---\n")
    for task_id, state in (("TASK-1", "done"), ("TASK-2", "new")):
        with pytest.raises(errors.TaskUneditable):
            ticking.tick(str(tmp_path), item_of(tmp_path, "backlog", task_id), state)


# Beads

LINE = (
    '{"id":"bd-1","content_hash":"a","title":"caf\\u00e9 \\/ {}","priority":1.0,"status":"open",'
    '"created_at":"2025-01-01T00:00:00-07:00","updated_at":"2025-01-01T00:00:00-07:00",'
    '"dependencies":[{"status":"open"}]}'
)


def test_one_line_of_beads_is_changed_and_keeps_its_shape(tmp_path: Path) -> None:
    other = '{"id":"bd-2", "status":"open"}'
    path = ".beads/issues.jsonl"
    write(tmp_path, path, f"{LINE}\r\n{other}\n".encode())
    tick(tmp_path, "beads", "bd-1", "done")
    changed = LINE.replace('"status":"open","created', '"status":"closed","created')
    changed = changed.replace('"updated_at":"2025-01-01T00:00:00-07:00"', f'"updated_at":"{NOW}"')
    changed = changed[:-1] + f',"closed_at":"{NOW}"}}'
    assert (tmp_path / path).read_bytes() == f"{changed}\r\n{other}\n".encode()
    tick(tmp_path, "beads", "bd-1", "new")
    reopened = changed.replace("closed", "open", 1).replace(f'"closed_at":"{NOW}"', "")
    content = (tmp_path / path).read_bytes()
    assert content == f'{reopened[:-1]}"closed_at":null}}\r\n{other}\n'.encode()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"id": "bd-1"}',
         '{"id": "bd-1", "status": "closed", "updated_at": "%s", "closed_at": "%s"}'),
        ('{"id":"bd-1","status":null,"updated_at":"","closed_at":null }',
         '{"id":"bd-1","status":"closed","updated_at":"%s","closed_at":"%s" }'),
        ('  { "status" : "open" , "id" : "bd-1" }  ',
         '  { "status" : "closed" , "id" : "bd-1" , "updated_at" : "%s" , "closed_at" : "%s" }  '),
        ('{"status":"closed","id":"bd-1","status":"open"}',
         '{"status":"closed","id":"bd-1","status":"closed","updated_at":"%s","closed_at":"%s"}'),
    ],
)  # fmt: skip
def test_beads_lines_of_every_shape(tmp_path: Path, line: str, expected: str) -> None:
    write(tmp_path, ".beads/issues.jsonl", line.encode())
    tick(tmp_path, "beads", "bd-1", "done")
    content = (tmp_path / ".beads/issues.jsonl").read_text()
    assert content == expected % (NOW, NOW)
    assert json.loads(content)["status"] == "closed"


def test_the_line_that_counts_is_changed_and_counts_afterwards(tmp_path: Path) -> None:
    later = "2030-01-01T00:00:00.000Z"
    lines = [
        {"id": "bd-1", "status": "open", "updated_at": later},
        {"id": "bd-1", "status": "in_progress", "updated_at": "2020-01-01T00:00:00Z"},
    ]
    content = "".join(json.dumps(line) + "\n" for line in lines)
    write(tmp_path, ".beads/issues.jsonl", content.encode())
    tick(tmp_path, "beads", "bd-1", "done")
    first, second = (tmp_path / ".beads/issues.jsonl").read_text().splitlines()
    assert json.loads(first)["updated_at"] == later
    assert json.loads(second) == lines[1]
