"""What acceptance tests of lineage share: a repository with a past, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import forking, greenhouse
from tests.conftest import OWN_ENVIRON
from tests.greenhouse import Greenhouse


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory, forking_server: forking.Server) -> Greenhouse:
    """For tests that only ask."""
    base = tmp_path_factory.mktemp("greenhouse")
    (base / "home").mkdir()
    environ = {**OWN_ENVIRON, "HOME": str(base / "home")}
    made = Greenhouse(base / "house", environ, forking_server)
    greenhouse.build(made)
    return made


@pytest.fixture
def own_house(house: Greenhouse, tmp_path: Path) -> Greenhouse:
    """The same for one test, which may change it."""
    return house.copy(tmp_path / "house")


@pytest.fixture
def empty(tmp_path: Path, forking_server: forking.Server) -> Greenhouse:
    """A repository without commits, on a branch called main."""
    (tmp_path / "home").mkdir()
    environ = {**OWN_ENVIRON, "HOME": str(tmp_path / "home")}
    made = Greenhouse(tmp_path / "yard", environ, forking_server)
    made.path.mkdir()
    made.git("init", "-q", "-b", "main")
    made.do("init", "--yes")
    return made
