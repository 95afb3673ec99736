"""`tether doctor`: looks, and repairs only what it is asked to repair."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tether as package
from tests.conftest import Tether


@pytest.fixture
def set_up(repo: Path, tether: Tether) -> Path:
    tether("init", "--yes", cwd=repo)
    return repo


def grades(report: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["grade"] for check in report["checks"]}


def snapshot(directory: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        str(path): (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes())
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_it_tells_what_it_sees(set_up: Path, tether: Tether) -> None:
    report = tether("doctor", "--json", cwd=set_up).json["doctor"]
    assert report["journal_mode"] == "truncate"
    assert report["store"]["synchronous"] == "FULL"
    assert report["store"]["integrity"] == "ok"
    assert report["versions"]["tether"] == package.__version__
    assert report["versions"]["sqlite"]
    assert report["versions"]["git"]
    assert report["places"]["root"] == str(set_up)
    assert report["places"]["store_dir"] == str(set_up / ".git" / "tether")
    assert isinstance(report["bytecode_compiled"], bool)
    assert "fail" not in grades(report).values()


def test_it_only_looks(set_up: Path, tether: Tether) -> None:
    os.utime(set_up / "tether.toml", (0, 0))
    before = snapshot(set_up)
    tether("doctor", cwd=set_up)
    assert snapshot(set_up) == before


def test_looking_makes_no_store(repo: Path, tether: Tether) -> None:
    report = tether("doctor", "--json", cwd=repo).json["doctor"]
    assert report["journal_mode"] == "truncate"
    assert not report["store"]["exists"]
    assert not (repo / ".git" / "tether").exists()


def test_findings_fail_only_when_asked(set_up: Path, tether: Tether) -> None:
    (set_up / "tether.toml").write_text("nonsense = 1\n")
    assert tether("doctor", cwd=set_up).code == 0
    assert tether("doctor", "--fail-on", "fail", cwd=set_up).code == 0
    ended = tether("doctor", "--fail-on", "warn", "--json", cwd=set_up)
    assert (ended.code, ended.json["ok"]) == (6, True)


def test_wrong_modes_are_named_and_repaired(set_up: Path, tether: Tether) -> None:
    store = set_up / ".git" / "tether"
    (store / "tether.db").chmod(0o600)
    (set_up / ".git").chmod(0o755)
    assert grades(tether("doctor", "--json", cwd=set_up).json["doctor"])["modes"] == "warn"
    report = tether("doctor", "--fix-modes", "--json", cwd=set_up).json["doctor"]
    assert grades(report)["modes"] == "ok"
    assert stat.S_IMODE((store / "tether.db").stat().st_mode) == 0o644


def test_leftovers_are_named_and_removed(set_up: Path, tether: Tether) -> None:
    leftover = set_up / ".git" / "tether" / ".tmp-0123456789abcdef"
    leftover.write_text("half")
    os.utime(leftover, (0, 0))
    assert grades(tether("doctor", "--json", cwd=set_up).json["doctor"])["leftovers"] == "warn"
    report = tether("doctor", "--remove-leftovers", "--json", cwd=set_up).json["doctor"]
    assert "leftovers" not in grades(report)
    assert not leftover.exists()


def test_bytecode_is_named_and_compiled(
    set_up: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    """In a copy of the package, so that nobody else's bytecode is touched."""
    copy = tmp_path / "site" / "tether"
    source = Path(package.__file__).parent
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    env = {**environ, "PYTHONPATH": str(copy.parent), "PYTHONDONTWRITEBYTECODE": "1"}

    def compiled(*words: str) -> bool:
        script = "import sys; from tether.cli.main import main; sys.exit(main(sys.argv[1:]))"
        done = subprocess.run(
            [sys.executable, "-c", script, "doctor", "--json", *words],
            cwd=set_up, env=env, check=True, capture_output=True, text=True,
        )  # fmt: skip
        return '"bytecode_compiled": true' in done.stdout

    assert not compiled()
    assert compiled("--compile")
    assert compiled()
    (copy / "ids.py").write_text((copy / "ids.py").read_text() + "\n# changed\n")
    assert not compiled()


def test_it_tells_of_postgresql_without_the_password(
    repo: Path, tether: Tether, postgres_url: str
) -> None:
    there = {"TETHER_STORE_URL": postgres_url.replace("postgres:@", "postgres:hunter2pass@")}
    tether("init", "--yes", cwd=repo, env=there)
    ended = tether("doctor", "--json", cwd=repo, env=there)
    facts = ended.json["doctor"]["store"]
    assert facts["kind"] == "postgres"
    assert int(facts["server_version"].partition(".")[0]) >= 15
    assert "hunter2pass" not in ended.out + ended.err
