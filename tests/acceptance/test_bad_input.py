"""Bad places and damaged things: a clear error or safe behaviour, nothing lost, no traceback.

The fixture `tether` fails on any traceback. Hostile ids and names have a file of their own in
`security/`, as have the details of hostile repositories.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import parts
from tests.conftest import Ended, Tether
from tether import errors, workspace
from tether.store import events
from tether.store import sqlite as sqlite_store

Git = Callable[..., str]
NOBODY = 65534


def store_of(repo: Path) -> Path:
    return repo / ".git" / "tether" / "tether.db"


def assert_error(ended: Ended, code: str, exit_code: int) -> None:
    assert ended.json["ok"] is False
    assert (ended.json["error"]["code"], ended.code) == (code, exit_code)
    assert ended.json["error"]["message"]


# Places


def test_outside_a_repository(tmp_path: Path, tether: Tether) -> None:
    for words in (["init", "--yes"], ["events"], ["export"], ["import", "-"]):
        ended = tether(*words, cwd=tmp_path)
        assert ended.code == 5
        assert "not inside a Git repository" in ended.err
    report = tether("doctor", "--json", cwd=tmp_path).json["doctor"]
    assert [c["grade"] for c in report["checks"] if c["name"] == "repository"] == ["fail"]
    assert report["versions"]["tether"]


def test_a_directory_that_is_gone(tmp_path: Path, environ: dict[str, str]) -> None:
    script = (
        "import os, sys; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')\n"
        "from tether.cli.main import main; sys.exit(main(['events']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path, env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 5
    assert "does not exist any more" in done.stderr


def test_a_bare_repository(tmp_path: Path, git: Git, tether: Tether) -> None:
    bare = tmp_path / "bare.git"
    git("init", "-q", "--bare", str(bare), cwd=tmp_path)
    assert tether("init", "--yes", cwd=bare).code == 0
    assert (bare / "tether" / "tether.db").exists()
    assert "workspace_id" in (bare / "tether" / "local.toml").read_text()
    assert tether("init", "--yes", cwd=bare).out.startswith("Nothing to do")
    assert len(tether("events", "--json", cwd=bare).json["events"]) == 1


def test_a_linked_worktree_shares_the_store(repo: Path, git: Git, tether: Tether) -> None:
    linked = repo.parent / "linked"
    git("worktree", "add", "-q", str(linked), cwd=repo)
    tether("init", "--yes", cwd=linked)
    assert store_of(repo).exists()
    assert (linked / "tether.toml").exists()
    seen = tether("events", "--json", cwd=repo).json["events"]
    assert seen == tether("events", "--json", cwd=linked).json["events"]
    tether("init", "--yes", cwd=repo)
    assert (repo / "tether.toml").read_text() == (linked / "tether.toml").read_text()


def test_a_worktree_of_a_bare_repository(tmp_path: Path, git: Git, tether: Tether) -> None:
    source = tmp_path / "source"
    source.mkdir()
    git("init", "-q", cwd=source)
    git("commit", "-q", "--allow-empty", "-m", "Begin", cwd=source)
    git("clone", "-q", "--bare", str(source), "bare.git", cwd=tmp_path)
    linked = tmp_path / "linked"
    git("worktree", "add", "-q", str(linked), cwd=tmp_path / "bare.git")
    assert tether("init", "--yes", cwd=linked).code == 0
    assert (tmp_path / "bare.git" / "tether" / "tether.db").exists()


def test_a_submodule_has_a_store_of_its_own(repo: Path, git: Git, tether: Tether) -> None:
    outer = repo.parent / "outer"
    outer.mkdir()
    git("init", "-q", cwd=outer)
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo), "inner")
    git(*add, cwd=outer)
    tether("init", "--yes", cwd=outer / "inner")
    assert (outer / ".git" / "modules" / "inner" / "tether" / "tether.db").exists()
    assert not (outer / ".git" / "tether").exists()


def test_a_worktree_whose_repository_is_gone(repo: Path, git: Git, tether: Tether) -> None:
    linked = repo.parent / "linked"
    git("worktree", "add", "-q", str(linked), cwd=repo)
    shutil.rmtree(repo)
    ended = tether("events", cwd=linked)
    assert ended.code == 5
    assert "git worktree repair" in ended.err


# What cannot be written


@pytest.fixture
def read_only(environ: dict[str, str]) -> Callable[..., Ended]:
    """Runs a command where a directory is read-only, as sandboxes show `.git` to their agents."""
    parts.need(can_mount(), "mount namespaces (unshare --mount)")

    def call(*words: str, cwd: Path, directory: Path) -> Ended:
        mount = f"mount --bind {directory} {directory} && mount -o remount,bind,ro {directory}"
        done = subprocess.run(
            ["unshare", "--mount", "bash", "-c", f'{mount} && exec "$@"', "bash",
             sys.executable, "-m", "tether", *words],
            cwd=cwd, env=environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return Ended(done.returncode, done.stdout, done.stderr)

    return call


def test_a_read_only_store_is_read_and_not_written(
    repo: Path, tether: Tether, read_only: Callable[..., Ended]
) -> None:
    tether("init", "--yes", cwd=repo)
    (repo / "tether.toml").write_text("")
    before = store_of(repo).read_bytes()
    seen = read_only("events", "--json", cwd=repo, directory=repo / ".git")
    assert len(seen.json["events"]) == 1
    ended = read_only("init", "--yes", "--json", cwd=repo, directory=repo / ".git")
    assert_error(ended, "store_read_only", 1)
    assert "TETHER_STORE_DIR" in ended.json["error"]["hint"]
    assert (repo / "tether.toml").read_text() == ""
    assert store_of(repo).read_bytes() == before
    report = read_only("doctor", "--json", cwd=repo, directory=repo / ".git").json["doctor"]
    assert [c["grade"] for c in report["checks"] if c["name"] == "store"] == ["warn"]


def test_a_read_only_repository_without_a_store_reads_as_empty(
    repo: Path, read_only: Callable[..., Ended]
) -> None:
    seen = read_only("events", "--json", cwd=repo, directory=repo / ".git")
    assert seen.json == {"ok": True, "events": []}
    ended = read_only("init", "--yes", "--json", cwd=repo, directory=repo / ".git")
    assert_error(ended, "store_read_only", 1)
    assert not (repo / "tether.toml").exists()


def test_a_read_only_working_tree_is_named(
    repo: Path, tmp_path: Path, environ: dict[str, str], read_only: Callable[..., Ended]
) -> None:
    environ["TETHER_STORE_DIR"] = str(tmp_path / "elsewhere")
    ended = read_only("init", "--yes", "--json", cwd=repo, directory=repo)
    assert_error(ended, "not_writable", 1)
    assert "tether.toml" in ended.json["error"]["message"]


def test_a_store_of_another_user_is_read_and_not_written(git: Git, tether: Tether) -> None:
    """A forked child becomes another user: the interpreter itself may not be theirs to start."""
    parts.need(os.geteuid() == 0, "root, to become another user")
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)  # noqa: S103 (another user must get in)
        git("init", "-q", cwd=Path(directory))
        tether("init", "--yes", cwd=Path(directory))
        pid = os.fork()
        if pid == 0:
            os._exit(_as_nobody(directory))
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _as_nobody(repo: str) -> int:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    store = sqlite_store.SqliteStore(workspace.find(repo), wait_seconds=1)
    if len(events.latest(store, 10)) != 1:
        return 1
    try:
        store.write("test", lambda _: None)
    except errors.StoreReadOnly:
        return 0
    return 2


def test_a_full_disk_loses_nothing(repo: Path, tmp_path: Path, environ: dict[str, str]) -> None:
    """On a real small disk, in a mount namespace of its own."""
    parts.need(can_mount(), "mount namespaces (unshare --mount)")
    small = tmp_path / "small"
    small.mkdir()
    script = f"""
set -e
mount -t tmpfs -o size=512k tmpfs {small}
export TETHER_STORE_DIR={small}/store
{sys.executable} -m tether init --yes > {tmp_path}/init.txt
{sys.executable} -m tether export > {tmp_path}/before.jsonl
dd if=/dev/zero of={small}/filler bs=1k count=1000 2>/dev/null || true
{sys.executable} - "$TETHER_STORE_DIR" > {tmp_path}/outcome.txt <<'PY'
{FILL}
PY
{sys.executable} -m tether events --json > {tmp_path}/events.json
{sys.executable} -m tether doctor --json > {tmp_path}/doctor.json
{sys.executable} -m tether export > {tmp_path}/after.jsonl
rm {small}/filler
{sys.executable} -m tether events > /dev/null
"""
    done = subprocess.run(
        ["unshare", "--mount", "bash", "-c", script],
        cwd=repo, env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "outcome.txt").read_text().split() == ["disk_full"]
    assert (tmp_path / "after.jsonl").read_text() == (tmp_path / "before.jsonl").read_text()
    assert '"integrity": "ok"' in (tmp_path / "doctor.json").read_text()


FILL = """
import sys
from tether import errors, workspace
from tether.store import events, sqlite

BIG = events.EventType("test_big", ("text",), "A large event.")
place = workspace.find(".", store_dir=sys.argv[1])
store = sqlite.SqliteStore(place, wait_seconds=1)
try:
    store.write("fill", lambda t: t.event(BIG, actor="a", data={"text": "x" * 100_000}))
    print("written")
except errors.TetherError as error:
    print(error.code)
"""


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    return tried.returncode == 0


# Damaged and foreign stores


@pytest.fixture
def set_up(repo: Path, tether: Tether) -> Path:
    tether("init", "--yes", cwd=repo)
    return repo


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"this is not a database at all, it is a text of some length\n" * 100, "store_corrupt"),
        (b"SQLite format 3\0" + b"\xff" * 8192, "store_corrupt"),
        (b"\0" * 4096, "store_corrupt"),
    ],
)
def test_a_corrupt_store_is_left_as_it_is(
    set_up: Path, tether: Tether, content: bytes, code: str
) -> None:
    store_of(set_up).write_bytes(content)
    for words in (["events"], ["export"], ["init", "--yes"]):
        ended = tether(*words, "--json", cwd=set_up) if words != ["export"] else None
        if ended is not None:
            assert_error(ended, code, 1)
        else:
            assert tether("export", cwd=set_up).code == 1
    assert store_of(set_up).read_bytes() == content
    report = tether("doctor", "--json", cwd=set_up).json["doctor"]
    assert [c["grade"] for c in report["checks"] if c["name"] == "store"] == ["fail"]


def test_a_truncated_store_is_noticed(set_up: Path, tether: Tether) -> None:
    whole = store_of(set_up).read_bytes()
    # Some forty places, in the middle of pages too.
    for size in range(1, len(whole), len(whole) // 40 | 1):
        store_of(set_up).write_bytes(whole[:size])
        ended = tether("events", "--json", cwd=set_up)
        assert_error(ended, "store_corrupt", 1)
        assert store_of(set_up).read_bytes() == whole[:size]


def test_a_damaged_store_is_set_aside_only_when_asked(set_up: Path, tether: Tether) -> None:
    assert "nothing was set aside" in tether("doctor", "--set-aside-store", cwd=set_up).out
    assert len(tether("events", "--json", cwd=set_up).json["events"]) == 1
    damaged = b"garbage" * 1000
    store_of(set_up).write_bytes(damaged)
    ended = tether("doctor", "--set-aside-store", cwd=set_up)
    assert "moved the damaged store" in ended.out
    [aside] = store_of(set_up).parent.glob("tether.db.damaged-????????")
    assert aside.read_bytes() == damaged
    assert tether("events", "--json", cwd=set_up).json["events"] == []
    assert tether("init", "--yes", cwd=set_up).code == 0
    assert len(tether("events", "--json", cwd=set_up).json["events"]) == 1


def test_a_foreign_database_is_left_as_it_is(set_up: Path, tether: Tether) -> None:
    store_of(set_up).unlink()
    foreign = sqlite3.connect(store_of(set_up))
    foreign.execute("CREATE TABLE recipes (name TEXT)")
    foreign.close()
    before = store_of(set_up).read_bytes()
    assert_error(tether("events", "--json", cwd=set_up), "store_foreign", 1)
    assert_error(tether("init", "--yes", "--json", cwd=set_up), "store_foreign", 1)
    assert store_of(set_up).read_bytes() == before


def test_odd_things_in_the_store_s_place(repo: Path, tether: Tether) -> None:
    store_of(repo).mkdir(parents=True)
    assert_error(tether("events", "--json", cwd=repo), "store_foreign", 1)
    assert tether("doctor", cwd=repo).code == 0
    shutil.rmtree(store_of(repo).parent)
    store_of(repo).parent.write_text("a file")
    assert_error(tether("events", "--json", cwd=repo), "store_foreign", 1)
    assert tether("doctor", cwd=repo).code == 0
    assert tether("init", "--yes", cwd=repo).code == 1
    assert store_of(repo).parent.read_text() == "a file"


@pytest.mark.parametrize("url", ["postgresql://%zz", "mysql://db", "sqlite:///x"])
def test_a_url_that_is_none(repo: Path, tether: Tether, url: str) -> None:
    there = {"TETHER_STORE_URL": url, "TETHER_WORKSPACE_ID": "0123456789"}
    assert_error(tether("events", "--json", cwd=repo, env=there), "config_invalid", 1)


def test_a_misspelt_variable_is_named(repo: Path, tether: Tether) -> None:
    ended = tether("events", "--json", cwd=repo, env={"TETHER_STORE_URLL": "x"})
    assert ended.json["ok"]
    assert "did you mean TETHER_STORE_URL?" in ended.err


def test_an_empty_file_is_a_store_that_is_not_there_yet(repo: Path, tether: Tether) -> None:
    store_of(repo).parent.mkdir()
    store_of(repo).touch()
    assert tether("events", "--json", cwd=repo).json["events"] == []
    assert tether("init", "--yes", cwd=repo).code == 0


def test_a_newer_schema_is_refused(set_up: Path, tether: Tether) -> None:
    database = sqlite3.connect(store_of(set_up))
    database.execute("UPDATE meta SET value = '99' WHERE key IN ('schema_version', 'min_reader')")
    database.commit()
    database.close()
    before = store_of(set_up).read_bytes()
    ended = tether("events", "--json", cwd=set_up)
    assert_error(ended, "store_too_new", 1)
    assert "Upgrade" in ended.json["error"]["hint"]
    assert store_of(set_up).read_bytes() == before


def test_a_link_in_place_of_the_store_is_not_written_through(
    repo: Path, tmp_path: Path, tether: Tether
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"")
    store_of(repo).parent.mkdir()
    store_of(repo).symlink_to(victim)
    assert_error(tether("init", "--yes", "--json", cwd=repo), "link_refused", 1)
    assert victim.read_bytes() == b""


# Locks


HOLD = """
import sys, time
from tether import files
with files.Lock(sys.argv[1], purpose="test holder", wait_seconds=1):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(set_up: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the store's lock."""
    lock = store_of(set_up).parent / "tether.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_stopped_holder_is_named(
    set_up: Path, tether: Tether, holder: subprocess.Popen[str]
) -> None:
    holder.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, holder.pid, os.WSTOPPED)
    (set_up / "tether.toml").write_text("")
    ended = tether("init", "--yes", "--json", cwd=set_up, env={"TETHER_STORE_WAIT_SECONDS": "1"})
    assert_error(ended, "store_busy", 1)
    assert ended.json["error"]["retryable"]
    assert f"process {holder.pid}" in ended.json["error"]["message"]
    assert "stopped" in ended.json["error"]["message"]
    assert "test holder" in ended.json["error"]["message"]
    assert tether("events", "--json", cwd=set_up).json["ok"]


def test_a_lock_ends_with_its_holder(
    set_up: Path, tether: Tether, holder: subprocess.Popen[str]
) -> None:
    holder.send_signal(signal.SIGSTOP)
    holder.kill()
    holder.wait()
    (set_up / "tether.toml").write_text("")
    assert tether("init", "--yes", cwd=set_up, env={"TETHER_STORE_WAIT_SECONDS": "1"}).code == 0


# Hostile repositories


def test_a_repository_that_tries_to_run_programs(
    repo: Path, tmp_path: Path, git: Git, tether: Tether
) -> None:
    canary = tmp_path / "canary"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {canary}\ncat 2>/dev/null\n")
    trap.chmod(0o755)
    for key in (
        "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "diff.external",
        "gpg.program", "diff.trap.textconv", "filter.trap.clean", "filter.trap.smudge",
    ):  # fmt: skip
        git("config", key, str(trap), cwd=repo)
    git("config", "core.hooksPath", str(tmp_path / "hooks"), cwd=repo)
    (tmp_path / "hooks").mkdir()
    for hook in ("pre-commit", "post-checkout", "reference-transaction", "post-index-change"):
        (tmp_path / "hooks" / hook).symlink_to(trap)
    (repo / ".gitattributes").write_text("* diff=trap filter=trap\n")
    # The control: git itself does run them here.
    subprocess.run(["git", "status"], cwd=repo, capture_output=True, check=False)
    assert canary.exists()
    canary.unlink()
    for words in (["init", "--yes"], ["events"], ["doctor"], ["export"]):
        assert tether(*words, cwd=repo).code == 0
    assert not canary.exists()


@pytest.mark.parametrize(
    "line",
    [
        '[store]\nurl = "postgresql://attacker.example/db"',
        '[run]\nworker = "touch canary"',
        '[anything]\ncommand = "touch canary"',
        'notify = "touch canary"',
    ],
)
def test_tracked_settings_neither_connect_nor_execute(
    repo: Path, tether: Tether, line: str
) -> None:
    (repo / "tether.toml").write_text(f'workspace_id = "0123456789"\n{line}\n')
    ended = tether("events", "--json", cwd=repo)
    assert_error(ended, "config_forbidden", 1)
    assert "attacker" not in ended.out + ended.err
    report = tether("doctor", "--json", cwd=repo).json["doctor"]
    assert [c["grade"] for c in report["checks"] if c["name"] == "settings"] == ["fail"]


def test_a_linked_settings_file_is_not_read(repo: Path, tmp_path: Path, tether: Tether) -> None:
    (tmp_path / "secret").write_text("password = 1\n")
    (repo / "tether.toml").symlink_to(tmp_path / "secret")
    ended = tether("events", "--json", cwd=repo)
    assert_error(ended, "link_refused", 1)
    assert "password" not in ended.out + ended.err
