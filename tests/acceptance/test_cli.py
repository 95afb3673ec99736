"""The frame of the command line: envelope, exit codes, streams, typos, completion."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Tether


def test_the_version_is_printed(tmp_path: Path, tether: Tether) -> None:
    ended = tether("--version", cwd=tmp_path)
    assert (ended.code, ended.out.split()[0]) == (0, "tether")


def test_no_words_print_the_help(tmp_path: Path, tether: Tether) -> None:
    ended = tether(cwd=tmp_path)
    assert ended.code == 0
    assert "Commands:" in ended.out


def test_a_typo_in_a_command_gets_a_suggestion(tmp_path: Path, tether: Tether) -> None:
    ended = tether("doctr", cwd=tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert "Did you mean `tether doctor`?" in ended.err


def test_a_hostile_command_name_is_not_repeated(tmp_path: Path, tether: Tether) -> None:
    ended = tether("ev\x1b[31mil", cwd=tmp_path)
    assert ended.code == 2
    assert "\x1b" not in ended.err


def test_a_typo_in_an_option_gets_a_suggestion(repo: Path, tether: Tether) -> None:
    ended = tether("doctor", "--jsn", cwd=repo)
    assert ended.code == 2
    assert "--json" in ended.err


def test_errors_come_in_the_envelope_too(tmp_path: Path, tether: Tether) -> None:
    ended = tether("events", "--json", cwd=tmp_path)
    assert ended.code == 5
    assert ended.json["ok"] is False
    assert set(ended.json["error"]) == {"code", "message", "hint", "retryable"}
    assert ended.json["error"]["code"] == "not_a_repository"
    assert ended.err == ""


def test_usage_errors_come_in_the_envelope_too(repo: Path, tether: Tether) -> None:
    ended = tether("events", "--nonsense", "--json", cwd=repo)
    assert (ended.code, ended.json["error"]["code"]) == (2, "usage")


def test_results_go_to_stdout_and_the_rest_to_stderr(repo: Path, tether: Tether) -> None:
    (repo / "tether.toml").write_text("nonsense = 1\n")
    ended = tether("events", "--json", cwd=repo)
    assert ended.json == {"ok": True, "events": []}
    assert "nonsense" in ended.err


def test_the_directory_can_be_given(repo: Path, tmp_path: Path, tether: Tether) -> None:
    assert tether("-C", str(repo), "events", "--json", cwd=tmp_path).json["ok"]
    ended = tether("-C", str(repo / "nowhere"), "events", cwd=tmp_path)
    assert ended.code == 5


def test_a_directory_given_too_late_is_refused(repo: Path, tether: Tether) -> None:
    assert tether("-C", ".", "-C", ".", "events", cwd=repo).code == 2


def test_a_reader_that_stops_reading_is_no_error(repo: Path, environ: dict[str, str]) -> None:
    command = f"{sys.executable} -m tether --help | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=repo, env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() in ("0", "141")
    assert done.stderr == ""


def test_a_terminal_that_knows_only_ascii_is_served(repo: Path, tether: Tether) -> None:
    (repo / "tether.toml").write_text('"gr\u00fc\u00df" = 1\n')
    ended = tether("events", cwd=repo, env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert ended.code == 0
    assert "\\xfc" in ended.err


def test_colours_are_only_for_terminals(
    repo: Path, tether: Tether, environ: dict[str, str]
) -> None:
    assert "\x1b[" not in tether("doctor", cwd=repo).out
    assert "\x1b[" in _on_a_terminal(["doctor"], repo, {**environ, "TERM": "xterm-256color"})
    plain = _on_a_terminal(["doctor"], repo, {**environ, "TERM": "xterm", "NO_COLOR": "1"})
    assert "\x1b[3" not in plain


def _on_a_terminal(words: list[str], cwd: Path, environ: dict[str, str]) -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tether", *words],
        cwd=cwd, env=environ, stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # how Linux says that the other end was closed
        pass
    finally:
        os.close(ours)
        process.wait()
    return shown.decode()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(tmp_path: Path, tether: Tether, shell: str) -> None:
    ended = tether("completion", shell, cwd=tmp_path)
    assert ended.code == 0
    assert "_TETHER_COMPLETE" in ended.out


def test_bash_completes_commands_and_options_of_hot_verbs(repo: Path, tether: Tether) -> None:
    complete = {"_TETHER_COMPLETE": "bash_complete"}
    commands = tether(cwd=repo, env={**complete, "COMP_WORDS": "tether do", "COMP_CWORD": "1"})
    options = tether(
        cwd=repo, env={**complete, "COMP_WORDS": "tether events --li", "COMP_CWORD": "2"}
    )
    assert "doctor" in commands.out
    assert "--limit" in options.out


def test_an_unexpected_error_shows_no_traceback(repo: Path, tether: Tether) -> None:
    """Planted: a store that divides by zero, which no code of ours foresees."""
    script = (
        "import sys; from tether.cli import context, main\n"
        "context.Context.store = property(lambda self: 1 / 0)\n"
        "sys.exit(main.main(['events', '--json']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=repo, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "failed"
    assert "Traceback" not in done.stderr


def test_the_store_travels_as_json_lines(repo: Path, tmp_path: Path, tether: Tether) -> None:
    tether("init", "--yes", cwd=repo)
    out = tmp_path / "export.jsonl"
    ended = tether("export", "-o", str(out), cwd=repo)
    assert (ended.code, ended.out) == (0, "Exported 8 rows.\n")
    lines = out.read_text()
    assert tether("export", cwd=repo).out == lines
    target = {"TETHER_STORE_DIR": str(tmp_path / "other")}
    assert tether("import", str(out), "--json", cwd=repo, env=target).json["import"]["rows"] > 0
    assert tether("export", cwd=repo, env=target).out == lines
    again = tether("import", "-", "--json", cwd=repo, env=target, stdin=lines)
    assert (again.code, again.json["error"]["code"]) == (1, "store_not_empty")


def test_an_export_does_not_replace_a_file(repo: Path, tmp_path: Path, tether: Tether) -> None:
    out = tmp_path / "precious"
    out.write_text("mine")
    ended = tether("export", "-o", str(out), "--json", cwd=repo)
    assert (ended.code, ended.json["error"]["code"]) == (1, "already_there")
    assert out.read_text() == "mine"


def test_sqlite_moves_to_postgresql(
    repo: Path, tmp_path: Path, tether: Tether, postgres_url: str
) -> None:
    tether("init", "--yes", cwd=repo)
    lines = tether("export", cwd=repo).out
    there = {"TETHER_STORE_URL": postgres_url}
    assert tether("import", "-", cwd=repo, env=there, stdin=lines).code == 0
    assert tether("export", cwd=repo, env=there).out == lines
    assert tether("events", "--json", cwd=repo, env=there).json["events"]


def test_the_demo_tells_its_story(tmp_path: Path, tether: Tether) -> None:
    ended = tether("demo", "--keep", str(tmp_path / "sample"), cwd=tmp_path)
    assert ended.code == 0
    for told in (
        "frost-alarm is held by ada",
        "Conflict: ada has reserved station.py",
        "ada (ada-1) is over; freed frost-alarm.",
        "|     The alarm rings, the test is missing.",
        "frost-alarm is held by cyd",
        "claim_taken frost-alarm cyd",
    ):
        assert told in ended.out
    assert "Did you mean" in ended.out
    assert (tmp_path / "sample" / "tether.toml").exists()
    assert tether("demo", "--keep", str(tmp_path / "sample"), cwd=tmp_path).code == 1


def test_the_startup_bench_measures_ratios(tmp_path: Path, tether: Tether) -> None:
    startup = tether("bench", "startup", "--rounds", "1", "--json", cwd=tmp_path).json["startup"]
    assert startup["commands"]["floor"]["cpu_ratio"] == 1.0
    assert startup["commands"]["events --json"]["cpu_ratio"] > 0


def run(script: str, cwd: Path, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A line of shell in which `tether` is ours."""
    tether = f'tether() {{ "{sys.executable}" -m tether "$@"; }}; '
    return subprocess.run(
        ["bash", "-c", tether + script],
        cwd=cwd, env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("tether events >&-", 0),
        ("tether events --json >&-", 0),
        ("tether nonsense >&-", 2),
        ("tether nonsense 2>&-", 2),
        ("tether init <&-", 3),
        ("tether import - <&-", 1),
        ("tether events --json > /dev/full", 1),
        ("tether nonsense --json > /dev/full", 1),
        ("tether nonsense --json | true; exit ${PIPESTATUS[0]}", 141),
    ],
)
def test_streams_that_are_closed_full_or_gone(
    repo: Path, environ: dict[str, str], script: str, code: int
) -> None:
    done = run(script, repo, environ)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert "did not expect" not in done.stderr


def test_an_export_comes_through_a_pipe_of_any_name(
    repo: Path, environ: dict[str, str], tether: Tether
) -> None:
    tether("init", "--yes", cwd=repo)
    script = "TETHER_STORE_DIR=$PWD/other tether import <(tether export)"
    done = run(script, repo, environ)
    assert (done.returncode, done.stdout) == (0, "Imported 8 rows.\n")


def test_paths_are_seen_from_the_directory_of_c(repo: Path, tether: Tether) -> None:
    above = repo.parent
    assert tether("-C", "repo", "export", "-o", "out.jsonl", cwd=above).code == 0
    assert (repo / "out.jsonl").exists()
    there = {"TETHER_STORE_DIR": str(repo / "elsewhere")}
    assert tether("-C", "repo", "import", "out.jsonl", cwd=above, env=there).code == 0
    assert (repo / "elsewhere" / "tether.db").exists()


def test_an_export_is_as_private_as_the_repository(
    repo: Path, tmp_path: Path, tether: Tether
) -> None:
    everybodys = tmp_path / "tmp"
    everybodys.mkdir()
    everybodys.chmod(0o1777)
    (repo / ".git").chmod(0o700)
    tether("export", "-o", str(everybodys / "out.jsonl"), cwd=repo)
    assert (everybodys / "out.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_file_in_the_demos_place_is_left_alone(tmp_path: Path, tether: Tether) -> None:
    (tmp_path / "mine").write_text("mine")
    ended = tether("demo", "--keep", "mine", cwd=tmp_path)
    assert ended.code == 1
    assert "did not expect" not in ended.err
    assert (tmp_path / "mine").read_text() == "mine"


def test_of_many_inits_one_sets_up(repo: Path, environ: dict[str, str], tether: Tether) -> None:
    done = run("for i in 1 2 3 4 5 6; do tether init --yes & done; wait", repo, environ)
    assert "did not expect" not in done.stderr
    assert (repo / "tether.toml").read_text().count("workspace_id") == 1
    [event] = tether("events", "--json", cwd=repo).json["events"]
    assert event["data"]["workspace_id"] in (repo / "tether.toml").read_text()


def test_an_empty_workspace_id_is_named_not_doubled(repo: Path, tether: Tether) -> None:
    (repo / "tether.toml").write_text('workspace_id = ""\n')
    ended = tether("init", "--yes", "--json", cwd=repo)
    assert (ended.code, ended.json["error"]["code"]) == (1, "config_invalid")
    assert (repo / "tether.toml").read_text() == 'workspace_id = ""\n'


def test_init_asks_without_the_escapes_of_a_path(repo: Path, environ: dict[str, str]) -> None:
    place = repo.rename(repo.parent / "re\x1b[31mpo")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tether", "init"],
        cwd=place, env=environ, stdin=theirs, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        os.write(ours, b"n\n")
        assert process.stderr
        shown = process.stderr.read()
    os.close(ours)
    os.close(theirs)
    assert b"Go on?" in shown
    assert b"\x1b" not in shown


def test_doctor_gives_the_journal_its_mode_too(repo: Path, tether: Tether) -> None:
    tether("init", "--yes", cwd=repo)
    (repo / ".git").chmod(0o770)
    tether("doctor", "--fix-modes", cwd=repo)
    journal = repo / ".git" / "tether" / "tether.db-journal"
    assert journal.stat().st_mode & 0o777 == 0o660


def test_doctor_tells_of_the_leftovers_that_it_would_remove(repo: Path, tether: Tether) -> None:
    tether("init", "--yes", cwd=repo)
    cache = repo / ".git" / "tether" / "cache"
    cache.mkdir(exist_ok=True)
    (cache / ".tmp-old").touch()
    os.utime(cache / ".tmp-old", (0, 0))
    (cache / ".tmp-in-use").touch()
    assert "1 file of writers that died" in tether("doctor", cwd=repo).out
    assert "removed 1 leftover" in tether("doctor", "--remove-leftovers", cwd=repo).out
    assert "writers that died" not in tether("doctor", cwd=repo).out
    assert (cache / ".tmp-in-use").exists()


def test_doctor_goes_on_with_a_git_that_does_not_start(
    repo: Path, tmp_path: Path, tether: Tether
) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text("#!/nonexistent/interpreter\n")
    program.chmod(0o755)
    report = tether("doctor", "--json", cwd=repo, env={"PATH": str(program.parent)}).json["doctor"]
    assert [c["grade"] for c in report["checks"] if c["name"] == "git"] == ["fail"]


def test_another_checkout_finds_the_id_after_an_import(
    repo: Path, git: Callable[..., str], tether: Tether
) -> None:
    tether("init", "--yes", cwd=repo)
    lines = tether("export", cwd=repo).out
    (repo / ".git" / "tether" / "tether.db").unlink()
    tether("import", "-", cwd=repo, stdin=lines)
    git("worktree", "add", "-q", "../linked", cwd=repo)
    tether("init", "--yes", cwd=repo.parent / "linked")
    linked = repo.parent / "linked" / "tether.toml"
    assert linked.read_text() == (repo / "tether.toml").read_text()
