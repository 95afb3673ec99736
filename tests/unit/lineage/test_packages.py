from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from tether.lineage import languages, packages


def test_versions_are_those_that_python_tells() -> None:
    names = ["tree-sitter", "msgspec", *(each.package for each in languages.LANGUAGES)]
    assert {name: packages.version(name) for name in names} == {
        name: metadata.version(name) for name in names
    }


def test_a_package_that_is_not_there_has_no_version() -> None:
    assert packages.version("tether-of-nobody") == ""


def test_the_first_place_counts_and_names_are_compared_as_installers_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, name in (("one", "Some_Thing-1.2"), ("two", "some.thing-9"), ("two", "-3")):
        (tmp_path / place / f"{name}.dist-info").mkdir(parents=True)
    places = [str(tmp_path / each) for each in ("none", "one", "two")]
    monkeypatch.setattr(sys, "path", places)
    packages.version.cache_clear()
    try:
        assert packages.version("some-thing") == "1.2"
    finally:
        packages.version.cache_clear()


def test_what_left_no_such_directory_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old_thing.egg-info").mkdir()
    (tmp_path / "old_thing.egg-info" / "PKG-INFO").write_text("Name: old-thing\nVersion: 0.7\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    packages.version.cache_clear()
    assert packages.version("old-thing") == "0.7"
