"""`tether init`: looks, says what it would change, and changes it only after a yes."""

from __future__ import annotations

import os
import pty
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Tether
from tether import ids

Git = Callable[..., str]


def contents(repo: Path) -> set[str]:
    return {str(p.relative_to(repo)) for p in repo.rglob("*") if ".git/" not in str(p)}


def test_a_dry_run_changes_nothing(repo: Path, tether: Tether) -> None:
    before = contents(repo)
    ended = tether("init", "--dry-run", cwd=repo)
    assert ended.code == 0
    assert "tether.toml" in ended.out
    assert contents(repo) == before
    assert not (repo / ".git" / "tether").exists()


def test_without_a_terminal_it_needs_yes(repo: Path, tether: Tether) -> None:
    ended = tether("init", "--json", cwd=repo)
    assert (ended.code, ended.json["error"]["code"]) == (3, "confirmation_needed")
    assert not (repo / "tether.toml").exists()
    assert not (repo / ".git" / "tether").exists()


@pytest.mark.parametrize(("answer", "is_made"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_it_asks_on_a_terminal(
    repo: Path, environ: dict[str, str], answer: str, is_made: bool
) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tether", "init"],
        cwd=repo, env=environ, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.write(ours, answer.encode())
    _, shown = process.communicate()
    os.close(ours)
    os.close(theirs)
    assert b"Go on?" in shown
    assert process.returncode == (0 if is_made else 3)
    assert (repo / "tether.toml").exists() == is_made


def test_a_second_run_has_nothing_to_do(repo: Path, tether: Tether) -> None:
    tether("init", "--yes", cwd=repo)
    before = (repo / "tether.toml").read_bytes()
    ended = tether("init", "--yes", "--json", cwd=repo)
    assert ended.json["init"]["steps"] == []
    assert not ended.json["init"]["applied"]
    assert (repo / "tether.toml").read_bytes() == before
    assert len(tether("events", "--json", cwd=repo).json["events"]) == 1


@pytest.mark.parametrize(
    "old",
    [
        "",
        "# only a comment",
        "[store]\nwait_seconds = 5\n",
        "# first\n\n[store]\n# kept\nwait_seconds = 5\n",
        "\n\n[store]\nwait_seconds = 5",
    ],
)
def test_an_existing_file_keeps_everything(repo: Path, tether: Tether, old: str) -> None:
    (repo / "tether.toml").write_text(old)
    ended = tether("init", "--yes", "--json", cwd=repo)
    new = (repo / "tether.toml").read_text()
    parsed = tomllib.loads(new)
    assert parsed.pop("workspace_id") == ended.json["init"]["workspace_id"]
    assert parsed == tomllib.loads(old)
    kept = [line for line in new.splitlines() if not line.startswith("workspace_id")]
    assert [line for line in kept if line] == [line for line in old.splitlines() if line]


def test_a_shared_repository_gets_a_shared_store(repo: Path, environ: dict[str, str]) -> None:
    (repo / ".git").chmod(0o2775)
    script = (
        "import os, sys; os.umask(0o077)\n"
        "from tether.cli.main import main; sys.exit(main(['init', '--yes']))"
    )
    subprocess.run([sys.executable, "-c", script], cwd=repo, env=environ, check=True)
    store = repo / ".git" / "tether"
    assert stat.S_IMODE(store.stat().st_mode) == 0o2775
    assert stat.S_IMODE((store / "tether.db").stat().st_mode) == 0o664
    assert stat.S_IMODE((store / "tether.lock").stat().st_mode) == 0o664


def test_a_private_repository_gets_a_private_store(repo: Path, tether: Tether) -> None:
    (repo / ".git").chmod(0o700)
    tether("init", "--yes", cwd=repo)
    store = repo / ".git" / "tether"
    assert stat.S_IMODE(store.stat().st_mode) == 0o700
    assert stat.S_IMODE((store / "tether.db").stat().st_mode) == 0o600


def test_the_agent_in_the_environment_is_named(repo: Path, tether: Tether) -> None:
    tether("init", "--yes", cwd=repo, env={"TETHER_AGENT": "claude-1a2b"})
    [event] = tether("events", "--json", cwd=repo).json["events"]
    assert event["actor"] == "claude-1a2b"


def test_with_postgresql_the_schema_is_made(repo: Path, tether: Tether, postgres_url: str) -> None:
    there = {"TETHER_STORE_URL": postgres_url}
    planned = tether("init", "--dry-run", "--json", cwd=repo, env=there).json["init"]
    assert [step["path"] for step in planned["steps"]][1] == "PostgreSQL"
    assert tether("init", "--yes", cwd=repo, env=there).code == 0
    assert len(tether("events", "--json", cwd=repo, env=there).json["events"]) == 1
    assert not (repo / ".git" / "tether" / "tether.db").exists()
    assert tether("init", "--yes", cwd=repo, env=there).out.startswith("Nothing to do")


def init_many_times(repo: Path, environ: dict[str, str]) -> None:
    """Six at once; all must end well."""
    command = [sys.executable, "-m", "tether", "init", "--yes"]
    started = [
        subprocess.Popen(command, cwd=repo, env=environ, stdout=subprocess.PIPE) for _ in range(6)
    ]
    for process in started:
        process.communicate()
        assert process.returncode == 0


def test_many_at_once_agree(repo: Path, environ: dict[str, str]) -> None:
    init_many_times(repo, environ)
    text = (repo / "tether.toml").read_text()
    assert text.count("workspace_id =") == 1
    tomllib.loads(text)


def test_many_at_once_agree_on_postgresql(
    repo: Path, environ: dict[str, str], tether: Tether, postgres_url: str
) -> None:
    environ["TETHER_STORE_URL"] = postgres_url
    (repo / "tether.toml").write_text(f'workspace_id = "{ids.WorkspaceId.generate()}"\n')
    init_many_times(repo, environ)
    assert len(tether("events", "--json", cwd=repo).json["events"]) == 1


def test_a_store_of_another_repository_is_not_taken_over(
    repo: Path, tmp_path: Path, git: Git, tether: Tether
) -> None:
    shared = {"TETHER_STORE_DIR": str(tmp_path / "shared")}
    tether("init", "--yes", cwd=repo, env=shared)
    other = tmp_path / "other"
    other.mkdir()
    git("init", "-q", cwd=other)
    ended = tether("init", "--yes", "--json", cwd=other, env=shared)
    assert (ended.code, ended.json["error"]["code"]) == (1, "store_of_another")
    assert not (other / "tether.toml").exists()
    (other / "tether.toml").write_text('workspace_id = "0123456789"\n')
    for words in (["init", "--yes"], ["events"]):
        ended = tether(*words, "--json", cwd=other, env=shared)
        assert (ended.code, ended.json["error"]["code"]) == (1, "store_of_another")
    report = tether("doctor", "--json", cwd=other, env=shared).json["doctor"]
    assert [c["grade"] for c in report["checks"] if c["name"] == "store"] == ["fail"]
    assert len(tether("events", "--json", cwd=repo, env=shared).json["events"]) == 1


@pytest.mark.parametrize("content", ['workspace_id = ""\n', "  [store]\n", "x = [\n[1]\n]\n"])
def test_a_file_that_is_written_stays_valid_or_is_left(
    repo: Path, tether: Tether, content: str
) -> None:
    (repo / "tether.toml").write_text(content)
    ended = tether("init", "--yes", cwd=repo)
    now = (repo / "tether.toml").read_text()
    if ended.code:
        assert now == content
    else:
        assert tomllib.loads(now).get("workspace_id")
        assert tether("init", "--yes", cwd=repo).out.startswith("Nothing to do")
