"""Writing a file so that what it held before has another name from then on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tether import errors, files


@pytest.fixture
def root(tmp_path: Path) -> files.Root:
    (tmp_path / "root").mkdir()
    return files.Root(str(tmp_path / "root"))


def contents(root: files.Root) -> dict[str, bytes]:
    return {name: Path(root.path, name).read_bytes() for name in os.listdir(root.path)}


def test_the_first_content_leaves_nothing_to_keep(root: files.Root) -> None:
    root.write_atomic("state", b"one", keeps="before")
    assert contents(root) == {"state": b"one"}


def test_the_content_before_is_kept_and_only_that(root: files.Root) -> None:
    for data in (b"one", b"two", b"three"):
        root.write_atomic("state", data, keeps="before")
    assert contents(root) == {"state": b"three", "before": b"two"}


def test_what_is_kept_is_another_file(root: files.Root) -> None:
    for data in (b"one", b"two"):
        root.write_atomic("state", data, keeps="before")
    Path(root.path, "state").write_bytes(b"scribbled over")
    assert contents(root)["before"] == b"one"


def test_both_are_in_the_directory_of_the_file(root: files.Root) -> None:
    root.make_directories("a")
    for data in (b"one", b"two"):
        root.write_atomic("a/state", data, keeps="before")
    assert root.read_bytes("a/before") == b"one"


def test_the_mode_is_kept(root: files.Root) -> None:
    root.write_atomic("state", b"one")
    Path(root.path, "state").chmod(0o640)
    root.write_atomic("state", b"two", keeps="before")
    modes = [Path(root.path, name).stat().st_mode & 0o777 for name in ("state", "before")]
    assert modes == [0o640, 0o640]


@pytest.mark.parametrize("name", ["../before", "a/before", "", ".."])
def test_a_name_elsewhere_is_refused_and_nothing_changes(root: files.Root, name: str) -> None:
    root.write_atomic("state", b"one")
    if not name:
        root.write_atomic("state", b"two", keeps=name)  # which keeps nothing
        assert contents(root) == {"state": b"two"}
        return
    with pytest.raises((errors.TetherError, ValueError)):
        root.write_atomic("state", b"two", keeps=name)
    assert contents(root) == {"state": b"one"}


def test_a_link_in_its_place_is_refused(root: files.Root, tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"theirs")
    os.symlink(tmp_path / "outside", Path(root.path, "state"))
    with pytest.raises(errors.LinkRefused):
        root.write_atomic("state", b"two", keeps="before")
    assert (tmp_path / "outside").read_bytes() == b"theirs"
    assert os.listdir(root.path) == ["state"]


def test_a_link_in_the_place_of_what_is_kept_is_replaced(root: files.Root, tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"theirs")
    os.symlink(tmp_path / "outside", Path(root.path, "before"))
    for data in (b"one", b"two"):
        root.write_atomic("state", data, keeps="before")
    assert contents(root) == {"state": b"two", "before": b"one"}
    assert (tmp_path / "outside").read_bytes() == b"theirs"
