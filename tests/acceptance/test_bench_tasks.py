"""`tether bench tasks`: a sample that is in order, every transition, and other programs by name."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from tests.conftest import Tether
from tether.bench import sample
from tether.tasks import states


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A PATH on which git is the only program, whatever is installed here."""
    directory = tmp_path / "programs"
    directory.mkdir()
    git = shutil.which("git")
    assert git is not None
    _write_program(directory / "git", f'exec {shlex.quote(git)} "$@"')
    return directory


def _write_program(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def test_every_transition_is_measured_beside_what_is_installed(
    tmp_path: Path, programs: Path, tether: Tether
) -> None:
    _write_program(programs / "tk", 'test "$1" != ready || { echo "no tickets" >&2; exit 7; }')
    ended = tether(
        "bench", "tasks", "--tasks", "60", "--rounds", "1", "--json",
        cwd=tmp_path, env={"PATH": str(programs)},
    )  # fmt: skip
    [size] = ended.json["tasks"]["sizes"]
    assert size["tasks"] == 60
    assert size["commands"]["floor"]["cpu_ratio"] == 1.0
    words = {word for name in size["commands"] for word in name.split()}
    assert set(states.VERBS) - words == {"adopt"}  # a claim, by another word
    assert all(cost["wall_ms"] > 0 for cost in size["commands"].values())
    others = size["others"]
    assert (others["bd"], others["backlog"]) == ("not installed", "not installed")
    assert others["tk"]["tk ls"]["wall_ms"] > 0
    assert others["tk"]["tk ready"] == {"error": "exit code 7: no tickets"}


def test_too_few_tasks_for_the_rounds_are_refused(tmp_path: Path, tether: Tether) -> None:
    ended = tether("bench", "tasks", "--tasks", "60", "--rounds", "50", cwd=tmp_path)
    assert ended.code == 2
    assert "60 tasks are too few for 50 rounds" in ended.err


@pytest.mark.parametrize("all_open", [False, True])
def test_the_sample_is_in_order(repo: Path, tether: Tether, all_open: bool) -> None:
    tether("init", "--yes", cwd=repo)
    sample.Sample(200, all_open=all_open).write(str(repo))
    assert tether("validate", "--fail-on", "any", cwd=repo).code == 0
    listed = tether("task", "list", "--json", cwd=repo).json
    assert listed["total"] == (200 if all_open else 60)
