"""The stamp of the sweep by the way: is it due, and what kept the last one from working."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tether import errors, workspace
from tether.agents import upkeep


@pytest.fixture
def place(repo: Path) -> workspace.Workspace:
    return workspace.find(str(repo))


def stamp_of(place: workspace.Workspace) -> Path:
    return Path(place.store_dir) / upkeep.STAMP


def stamp(place: workspace.Workspace, age_seconds: float) -> None:
    """Leave a stamp that is this old."""
    upkeep.write_stamp(place, {})
    then = time.time() - age_seconds
    os.utime(stamp_of(place), (then, then))


def is_due(place: workspace.Workspace, interval_seconds: int = 60) -> bool:
    return upkeep.is_sweep_due(place.store_dir, interval_seconds)


# Is it due?


def test_without_a_stamp_it_is_due(place: workspace.Workspace) -> None:
    assert is_due(place)
    Path(place.store_dir).mkdir()
    assert is_due(place)


def test_a_fresh_stamp_says_that_it_is_not_due(place: workspace.Workspace) -> None:
    stamp(place, 0)
    assert not is_due(place)


def test_an_old_stamp_says_that_it_is_due(place: workspace.Workspace) -> None:
    stamp(place, 3600)
    assert is_due(place)
    assert not is_due(place, 7200)


def test_a_stamp_from_the_future_counts_as_none(place: workspace.Workspace) -> None:
    """A clock was set back: by it nobody would sweep for a long time."""
    stamp(place, -3600)
    assert is_due(place)


@pytest.mark.parametrize("age_seconds", [-3600, 0, 3600])
def test_an_interval_of_0_is_never_due(place: workspace.Workspace, age_seconds: int) -> None:
    assert not is_due(place, 0)
    stamp(place, age_seconds)
    assert not is_due(place, 0)


# What the stamp says


def test_a_stamp_makes_its_directory_as_others_there_are(place: workspace.Workspace) -> None:
    upkeep.write_stamp(place, {})
    assert stamp_of(place).read_bytes() == b"{}"
    made, model = os.stat(place.store_dir), os.stat(place.common_dir)
    assert (made.st_mode, made.st_uid) == (model.st_mode, model.st_uid)


def test_a_problem_is_told_until_the_next_sweep(place: workspace.Workspace) -> None:
    assert upkeep.last_problem(place) == ""
    upkeep.write_stamp(place, {"problem": "store_busy"})
    assert upkeep.last_problem(place) == "store_busy"
    upkeep.write_stamp(place, {})
    assert upkeep.last_problem(place) == ""


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"3", b"null", b'"problem"', b"\xff\xfe", b"{}" * 5000,
        b"[" * 5000,
    ],
    ids=lambda content: ascii(content[:4]),
)  # fmt: skip
def test_a_damaged_stamp_tells_nothing_and_is_replaced(
    place: workspace.Workspace, content: bytes
) -> None:
    Path(place.store_dir).mkdir()
    stamp_of(place).write_bytes(content)
    assert upkeep.last_problem(place) == ""
    assert not is_due(place), "its time still counts"
    upkeep.write_stamp(place, {"problem": "store_busy"})
    assert upkeep.last_problem(place) == "store_busy"


@pytest.mark.parametrize("plant", [Path.mkdir, lambda path: path.symlink_to("elsewhere")])
def test_what_is_no_file_is_left_alone(
    place: workspace.Workspace, plant: Callable[[Path], None]
) -> None:
    Path(place.store_dir).mkdir()
    plant(stamp_of(place))
    with pytest.raises(errors.FileError):
        upkeep.write_stamp(place, {})
    assert not stamp_of(place).is_file()
    assert not (Path(place.store_dir) / "elsewhere").exists()
