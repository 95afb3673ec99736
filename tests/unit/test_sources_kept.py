"""Single tasks of the lists, as the index has kept them: right, or not at all."""

from __future__ import annotations

import functools
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tether import ids, index
from tether.tasks.sources import finding, kept, model

TRACK = '- [ ] H.1.1 One ["track","H.1.2", told\n- [x] H.1.10 Ten\n- [ ] H.1.2 Two\n'
BEADS = '{"id": "bd-7", "title": "Seven", "status": "open", "priority": 0}\n'
FILES = {"plans/TRACK-H.md": TRACK, ".beads/issues.jsonl": BEADS}
SOURCES = ("track", "beads")


def write(top: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    write(tmp_path / "top", FILES)
    return tmp_path / "top"


@pytest.fixture
def known(tmp_path: Path) -> Iterator[index.Index]:
    store = tmp_path / "store"
    store.mkdir()
    opened = index.Index(str(store))
    yield opened
    opened.close()


def read(top: Path, known: index.Index, *, at_rest: bool = True) -> finding.Lists:
    """What the lists say; the index trusts the files as if they had been at rest for long."""
    found = finding.read(str(top), SOURCES, known)
    if at_rest:
        known.write(functools.partial(_trust, top))
    return found


def _trust(top: Path, connection: sqlite3.Connection) -> None:
    for (path,) in connection.execute("SELECT path FROM parsed_files").fetchall():
        stamp = index.stamp(os.stat(top / path))
        connection.execute("UPDATE parsed_files SET stamp = ? WHERE path = ?", (stamp, path))


def look_up(top: Path, known: index.Index, task: str, source: str = "track") -> model.Item | None:
    return kept.look_up(str(top), known, ids.TaskKey(source, task))


def test_a_task_is_what_its_list_says(top: Path, known: index.Index) -> None:
    every = read(top, known).items
    assert len(every) == 4
    for key, item in every.items():
        assert kept.look_up(str(top), known, key) == item


@pytest.mark.parametrize("task", ["H.1", "H.1.3", "1.1", "H.1.1\nH.1.10", "", "%", 'H.1.1"'])
def test_what_is_on_no_list_is_not_found(top: Path, known: index.Index, task: str) -> None:
    read(top, known)
    assert look_up(top, known, task) is None


def test_another_kind_of_list_has_other_tasks(top: Path, known: index.Index) -> None:
    read(top, known)
    assert look_up(top, known, "H.1.1", "beads") is None
    assert look_up(top, known, "bd-7", "track") is None


def test_without_an_index_nobody_knows(top: Path, known: index.Index) -> None:
    assert look_up(top, known, "H.1.1") is None


def test_a_list_that_has_changed_is_not_trusted(top: Path, known: index.Index) -> None:
    read(top, known)
    write(top, {"plans/TRACK-H.md": TRACK.replace("[ ]", "[x]")})
    assert look_up(top, known, "H.1.1") is None
    assert look_up(top, known, "bd-7", "beads") is not None
    read(top, known)
    found = look_up(top, known, "H.1.1")
    assert found is not None
    assert found.state == "done"


@pytest.mark.parametrize("has_directory", [False, True])
def test_a_list_that_is_gone_is_not_trusted(
    top: Path, known: index.Index, has_directory: bool
) -> None:
    read(top, known)
    (top / "plans/TRACK-H.md").unlink()
    if has_directory:
        (top / "plans/TRACK-H.md").mkdir()
    assert look_up(top, known, "H.1.1") is None


def test_a_list_that_has_just_changed_is_not_trusted(top: Path, known: index.Index) -> None:
    read(top, known, at_rest=False)
    assert look_up(top, known, "H.1.1") is None


def test_which_of_two_counts_only_the_lists_say(top: Path, known: index.Index) -> None:
    write(top, {"plans/TRACK-I.md": "- [x] H.1.1 Another one\n- [ ] I.1.1 This\n"})
    read(top, known)
    assert look_up(top, known, "H.1.1") is None
    assert look_up(top, known, "I.1.1") is not None


def test_of_two_in_one_list_the_first_counts(top: Path, known: index.Index) -> None:
    write(top, {"plans/TRACK-H.md": f"{TRACK}- [x] H.1.1 Again\n"})
    counting = read(top, known).items[ids.TaskKey("track", "H.1.1")]
    assert look_up(top, known, "H.1.1") == counting
    assert counting.state == "new"


@pytest.mark.parametrize(
    "record", ["", "null", "{", '[[["track","H.1.1",', '[[["track","H.1.1",1]],[],[],[]]']
)
def test_a_damaged_row_says_nothing(top: Path, known: index.Index, record: str) -> None:
    read(top, known)
    known.write(functools.partial(_damage, record))
    assert look_up(top, known, "H.1.1") is None


def _damage(record: str, connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE parsed_files SET record = ?", (record,))
