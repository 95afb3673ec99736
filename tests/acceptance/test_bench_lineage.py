"""`tether bench lineage` and `attributions`: whole runs on a repository with three commits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Tether

IDS = ("--ids", "PROJ-#")
CODE = "def ring(times):\n    return times + 1\n"


@pytest.fixture
def place(repo: Path, git: Callable[..., str]) -> Path:
    """A file that a task made, and another one after its rename."""

    def commit(message: str) -> None:
        git("add", "-A", cwd=repo)
        git("commit", "-qm", message, cwd=repo)

    (repo / "old.py").write_text(CODE)
    commit("PROJ-1: ring")
    git("mv", "old.py", "new.py", cwd=repo)
    (repo / "other.py").write_text(CODE.replace("ring", "blow"))
    commit("Move and blow")
    (repo / "new.py").write_text(CODE.replace("times + 1", "times + 3"))
    commit("PROJ-2: ring more often")
    return repo


def test_what_lineage_costs_is_measured(place: Path, tether: Tether) -> None:
    words = ("--rounds", "3", "--edges", "0", *IDS)
    ended = tether("bench", "lineage", *words, "--json", cwd=place)
    assert ended.code == 0, ended.err
    [found] = ended.json["lineage"]["repositories"]
    assert (found["name"], found["counts"]["commits"], found["blobs"]) == ("repo", 4, 4)
    assert found["counts"]["code_edges"] > 3
    assert found["kill"]["is_same"] is True
    assert found["why"]["symbols"] == 2
    # Both files have a number to change; the first commit only fills the caches.
    assert (found["new_commit"]["commits"], found["new_commit"]["names_a_task"]) == (1, True)
    assert found["crowded"] is None
    assert str(place) not in ended.out
    assert not (place / "tether.toml").exists()


def test_attributions_are_counted_and_read_aloud(place: Path, tether: Tether) -> None:
    ended = tether("bench", "attributions", *IDS, "--examples", "3", "--json", cwd=place)
    assert ended.code == 0, ended.err
    [found] = ended.json["attributions"]["repositories"]
    assert found["all"] == {"found": 2, "of": 2, "share": 1.0}
    assert found["beyond a rename"]["found"] == found["beyond a rename"]["of"] == 1
    assert found["examples"] == {"missed": [], "more": []}
    told = tether("bench", "attributions", "--repo", str(place), *IDS, cwd=place.parent)
    assert "repo: 3 files, 2 tasks, 2 commits that name one" in told.out
    assert "missed: none" in told.out
    assert max(map(len, told.out.splitlines())) <= 80


def test_where_there_is_no_checkout_nothing_is_measured(
    tmp_path: Path, git: Callable[..., str], tether: Tether
) -> None:
    git("init", "-q", "--bare", ".", cwd=tmp_path)
    for command in ("lineage", "attributions"):
        ended = tether("bench", command, cwd=tmp_path)
        assert ended.code == 2
        assert "Nothing was measured" in ended.err
        assert "--repo" in ended.err
