"""`tether bench symbols`: a real repository, an oracle of it, and a harness that sees mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Tether

OLD, NEW = "src/Sum.java", "src/math/Sum.java"
BEFORE = """\
class Sum {
    int zero() {
        return 0;
    }

    int add(int a, int b) {
        int sum = 0;
        sum += a;
        return sum;
    }
}
"""


class Story(dict[str, str]):
    """Commits by what they did, with where the method ends up."""


@pytest.fixture
def story(tmp_path: Path, git: Callable[..., str]) -> Story:
    """A method that was changed twice, in a file that was renamed in between."""
    work = tmp_path / "work"
    work.mkdir()
    git("init", "-q", "-b", "main", cwd=work)
    found = Story()

    def commit(what: str, path: str, text: str) -> None:
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text)
        git("add", "-A", cwd=work)
        git("commit", "-qm", what, cwd=work)
        found[what] = git("rev-parse", "HEAD", cwd=work)

    commit("introduced", OLD, BEFORE)
    second = BEFORE.replace("sum += a;", "sum += a;\n        sum += b;")
    commit("body", OLD, second)
    commit("elsewhere", OLD, second.replace("return 0;", "return 0 + 0;"))
    (work / OLD).unlink()
    commit("file_move", NEW, second.replace("return 0;", "return 0 + 0;"))
    last = second.replace("return 0;", "return 0 + 0;").replace("int sum = 0;", "int sum = a - a;")
    commit("again", NEW, last)
    place = tmp_path / "repos" / "some+one" / "repo"
    place.parent.mkdir(parents=True)
    git("clone", "-q", "--bare", str(work), str(place), cwd=tmp_path)
    return found


def question(story: Story, expected: dict[str, list[str]], **more: Any) -> dict[str, Any]:
    return {
        "id": "sum/add",
        "repo": "some/one",
        "kind": "method",
        "start_commit": story["again"],
        "file": NEW,
        "start_line": 6,
        "end_line": 11,
        "expected": [
            {"commit": commit, "change_types": types} for commit, types in expected.items()
        ],
        **more,
    }


def truth(story: Story) -> dict[str, list[str]]:
    kinds = {"introduced": "introduced", "body": "body", "file_move": "file_move", "again": "body"}
    return {story[what]: [kind] for what, kind in kinds.items()}


def measured(tether: Tether, place: Path, *rows: dict[str, Any]) -> Any:
    path = place / "oracle.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("--oracle", str(path), "--repos", str(place / "repos"))
    ended = tether("bench", "symbols", *words, "--json", cwd=place)
    assert ended.code == 0, ended.err
    return ended.json


def test_a_history_is_found_whole(tmp_path: Path, tether: Tether, story: Story) -> None:
    row = question(story, truth(story))
    moved = row["expected"][2]
    moved |= {"file_before": OLD, "file_after": NEW, "name_before": "add", "name_after": "add"}
    found = measured(tether, tmp_path, row)
    assert found["ok"] is True
    strict = found["strict"]
    assert (strict["tp"], strict["fp"], strict["fn"], strict["exact"]) == (4, 0, 0, 1)
    assert found["origin"] == {"found": 1, "of": 1, "share": 1.0}
    assert found["moves"]["with_places"] == {"found": 1, "of": 1, "share": 1.0}
    # Git follows the lines over the rename, but the commit that only renames changes none.
    assert (found["git"]["strict"]["tp"], found["git"]["strict"]["fn"]) == (3, 1)
    assert found["seconds"]["ratio_median"] > 0
    assert found["questions"][0]["missed"] == found["questions"][0]["wrong"] == []


def test_the_control_a_mistake_is_seen(tmp_path: Path, tether: Tether, story: Story) -> None:
    planted = truth(story)
    del planted[story["body"]]
    planted[story["elsewhere"]] = ["body"]
    [told] = measured(tether, tmp_path, question(story, planted))["questions"]
    assert (told["tp"], told["fp"], told["fn"]) == (3, 1, 1)
    assert told["missed"] == [{"commit": story["elsewhere"], "types": ["body"]}]
    assert told["wrong"] == [{"commit": story["body"], "kinds": ["body"]}]


def test_a_pair_is_found(tmp_path: Path, tether: Tether, story: Story) -> None:
    signature = "package add(a int, b int) : int"
    row = {
        "repo": "some/one", "commit": story["file_move"], "language": "java", "type": "Move Method",
        "name_before": "add", "class_before": "Sum", "sig_before": signature,
        "name_after": "add", "class_after": "Sum", "sig_after": signature,
        "file_before": OLD, "file_after": NEW, "line_before": 6, "line_after": 6,
    }  # fmt: skip
    found = measured(tether, tmp_path, row, {**row, "name_after": "zero", "validation": "FP"})
    assert (found["strict"]["tp"], found["strict"]["fp"], found["strict"]["fn"]) == (1, 0, 0)


def test_people_get_a_table(tmp_path: Path, tether: Tether, story: Story) -> None:
    path = tmp_path / "oracle.jsonl"
    missing = question(story, truth(story), repo="not/here")
    path.write_text(
        "".join(f"{json.dumps(row)}\n" for row in (question(story, truth(story)), missing))
    )
    words = ("--oracle", str(path), "--repos", str(tmp_path / "repos"), "--core")
    shown = tether("bench", "symbols", *words, cwd=tmp_path)
    assert shown.code == 0
    assert "Tether, core" in shown.out
    assert "skipped, not there: not/here (1)" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80


def test_a_bad_line_is_named(tmp_path: Path, tether: Tether) -> None:
    path = tmp_path / "oracle.jsonl"
    path.write_text('{"repo": "some/one"}\n')
    ended = tether(
        "bench", "symbols", "--oracle", str(path), "--repos", str(tmp_path), cwd=tmp_path
    )
    assert ended.code == 1
    assert "Line 1 of oracle.jsonl has no `commit`" in ended.err
