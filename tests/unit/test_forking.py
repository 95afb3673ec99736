"""The server that forks for commands: a command in it is a process like any other."""

from __future__ import annotations

import os
from concurrent import futures
from pathlib import Path

import pytest

from tests import forking
from tests.conftest import Tether


@pytest.mark.parametrize(
    "words",
    [
        ("--version",),
        ("--help",),
        ("orient", "--json", "--compact"),
        ("events", "--lmit", "3"),
        ("task", "show", "T-nothing"),
        ("nothing",),
        (),
    ],
    ids=" ".join,
)
def test_it_ends_as_one_with_its_own_interpreter(
    repo: Path, environ: dict[str, str], tether: Tether, words: tuple[str, ...]
) -> None:
    assert tether(*words, cwd=repo) == forking.spawned(words, str(repo), environ, "")


def test_each_is_a_process_of_its_own(repo: Path, tether: Tether) -> None:
    tether("init", "--yes", cwd=repo)
    with futures.ThreadPoolExecutor(8) as threads:
        sessions = [f"s-{number}" for number in range(16)]
        ended = list(
            threads.map(
                lambda each: tether(
                    "orient", "--json", cwd=repo, env={"TETHER_SESSION": each, "TETHER_AGENT": each}
                ),
                sessions,
            )
        )
    assert [each.code for each in ended] == [0] * 16
    assert [each.json["orient"]["session"] for each in ended] == sessions
    assert len({each.json["orient"]["agent"] for each in ended}) == 16


def test_its_input_is_what_was_given(repo: Path, tether: Tether) -> None:
    tether("init", "--yes", cwd=repo)
    exported = tether("export", cwd=repo).out
    other = {"TETHER_STORE_DIR": str(repo.parent / "other")}
    assert tether("import", "-", cwd=repo, env=other, stdin="no JSON\n").code == 1
    assert tether("import", "-", cwd=repo, env=other, stdin=exported).code == 0
    assert tether("export", cwd=repo, env=other).out == exported
    # More than a pipe holds, for a command that does not read it.
    assert tether("--version", cwd=repo, stdin="x" * 1_000_000).code == 0


def test_what_an_interpreter_reads_at_its_start_wants_a_new_one(environ: dict[str, str]) -> None:
    assert forking.can_run(environ)
    for name, value in {"LC_ALL": "C", "PYTHONUTF8": "0", "TZ": "Asia/Tokyo"}.items():
        assert not forking.can_run({**environ, name: value})
    assert not forking.can_run({"PATH": os.environ["PATH"]})


def test_a_failure_looks_like_one(
    repo: Path, environ: dict[str, str], forking_server: forking.Server
) -> None:
    """The control: what does not do its work does not end like what does."""
    assert forking_server.run(("--version",), str(repo), environ, "")[0] == 0
    code, _, err = forking_server.run(("--version",), "/nonexistent", environ, "")
    assert code == 1
    assert "FileNotFoundError" in err
