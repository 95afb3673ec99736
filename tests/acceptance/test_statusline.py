"""`tether statusline`, called as Claude Code calls it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests import transcripts
from tests.conftest import Ended, Tether

SESSION = "bc6290c4-f05c-44ae-98e8-cec6d5703c45"
# Times are shown as the clock on the wall does.
UTC = {"TZ": "UTC"}


@pytest.fixture
def begun(repo: Path, tether: Tether) -> Path:
    """A repository that Tether watches over."""
    assert tether("init", "--yes", cwd=repo).code == 0
    return repo


def told(directory: Path, **more: Any) -> str:
    """A record of a session that works in a directory."""
    return json.dumps(
        {
            "session_id": SESSION,
            "cwd": "/nowhere",
            "workspace": {"current_dir": str(directory)},
            "context_window": {"remaining_percentage": 42},
            **more,
        }
    )


def limits(used: float, resets_at: float) -> dict[str, Any]:
    return {"five_hour": {"used_percentage": used, "resets_at": int(resets_at)}}


def record(repo: Path) -> Path:
    return repo / ".git" / "tether" / "statusline" / f"{SESSION}.json"


def shown(ended: Ended) -> str:
    assert (ended.code, ended.err) == (0, "")
    return ended.out


def test_a_real_record_is_kept_and_shown(begun: Path, tether: Tether) -> None:
    real = json.loads(transcripts.corpus("claude_statusline.jsonl").splitlines()[1])
    real["workspace"]["current_dir"] = str(begun)
    real["rate_limits"] = limits(82, time.time() + 3600)
    line = shown(tether("statusline", cwd=begun, stdin=json.dumps(real), env=UTC))
    clock = time.strftime("%H:%M", time.gmtime(real["rate_limits"]["five_hour"]["resets_at"]))
    assert line == f"ctx 99% left · 5h 18% left, resets {clock}\n"
    kept = json.loads(record(begun).read_bytes())
    assert kept["context_remaining"] == 99
    assert kept["windows"]["five_hour"]["used"] == 82


def test_a_far_reset_is_shown_with_its_day(begun: Path, tether: Tether) -> None:
    week = {"seven_day": {"used_percentage": 11, "resets_at": int(time.time()) + 3 * 86_400}}
    line = shown(tether("statusline", cwd=begun, stdin=told(begun, rate_limits=week), env=UTC))
    day = time.strftime("%a %H:%M", time.gmtime(week["seven_day"]["resets_at"]))
    assert line == f"ctx 42% left · 7d 89% left, resets {day}\n"


def test_a_window_that_has_ended_is_shown_as_unused(begun: Path, tether: Tether) -> None:
    over = told(begun, rate_limits=limits(82, time.time() - 1))
    assert shown(tether("statusline", cwd=begun, stdin=over)) == "ctx 42% left · 5h 100% left\n"


@pytest.mark.parametrize("resets_at", [90_000_000_000, "9999-12-31T23:59:59Z", None, "soon"])
def test_a_reset_that_cannot_be_is_left_out(resets_at: object, begun: Path, tether: Tether) -> None:
    strange = {"five_hour": {"used_percentage": 50, "resets_at": resets_at}}
    line = shown(tether("statusline", cwd=begun, stdin=told(begun, rate_limits=strange)))
    assert line == "ctx 42% left · 5h 50% left\n"


def test_the_session_says_where_it_works_and_not_our_directory(
    begun: Path, tether: Tether, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shown(tether("statusline", cwd=elsewhere, stdin=told(begun)))
    assert record(begun).exists()
    record(begun).unlink()
    shown(tether("statusline", cwd=begun, stdin=told(elsewhere)))
    assert not record(begun).exists()


def test_a_worktree_records_where_the_repository_does(
    begun: Path, tether: Tether, git: Any
) -> None:
    git("worktree", "add", "-q", "../linked", cwd=begun)
    shown(tether("statusline", cwd=begun, stdin=told(begun.parent / "linked")))
    assert record(begun).exists()


@pytest.mark.parametrize(
    "stdin", ["", "null", "no json", '{"session_id": "../x"}', "[" * 100_000, "x" * 2_000_000]
)
def test_bad_input_spoils_nothing(stdin: str, begun: Path, tether: Tether) -> None:
    assert shown(tether("statusline", cwd=begun, stdin=stdin)) == "ctx –\n"
    assert not record(begun).parent.exists()


def test_before_the_first_response_little_is_known(begun: Path, tether: Tether) -> None:
    early = told(begun, context_window={"remaining_percentage": None})
    assert shown(tether("statusline", cwd=begun, stdin=early)) == "ctx –\n"


@pytest.mark.parametrize("directory", ["", "relative", "/nonexistent", "/", "/nul\0"])
def test_outside_a_repository_nothing_is_recorded(
    directory: str, begun: Path, tether: Tether
) -> None:
    raw = json.dumps({**json.loads(told(begun)), "workspace": {"current_dir": directory}})
    assert shown(tether("statusline", cwd=begun, stdin=raw)) == "ctx 42% left\n"
    assert not record(begun).parent.exists()


def test_a_repository_without_tether_is_left_alone(repo: Path, tether: Tether) -> None:
    assert shown(tether("statusline", cwd=repo, stdin=told(repo))) == "ctx 42% left\n"
    assert not (repo / ".git" / "tether").exists()


def test_a_store_that_cannot_be_written_spoils_nothing(begun: Path, tether: Tether) -> None:
    (begun / ".git" / "tether" / "statusline").write_text("in the way")
    assert shown(tether("statusline", cwd=begun, stdin=told(begun))) == "ctx 42% left\n"
    note = tether("statusline", cwd=begun, stdin=told(begun), env={"TETHER_DEBUG": "1"})
    assert (note.code, note.out) == (0, "ctx 42% left\n")
    assert "nothing was recorded" in note.err


def test_settings_that_are_broken_spoil_nothing(begun: Path, tether: Tether) -> None:
    (begun / "tether.toml").write_text("not toml")
    ended = tether("statusline", cwd=begun, stdin=told(begun), env={"TETHER_STORE_DIR": "here"})
    assert shown(ended) == "ctx 42% left\n"


# The status line that was there before


def test_another_status_line_draws_with_the_same_input(begun: Path, tether: Tether) -> None:
    raw = told(begun)
    assert shown(tether("statusline", "--", "cat", cwd=begun, stdin=raw)) == raw
    assert record(begun).exists()


def test_what_another_status_line_prints_is_passed_on_as_it_is(begun: Path, tether: Tether) -> None:
    coloured = tether("statusline", "--", "printf", r"\033[31mred\033[0m", cwd=begun, stdin="{}")
    assert shown(coloured) == "\x1b[31mred\x1b[0m"


def test_options_of_another_status_line_are_its_own(begun: Path, tether: Tether) -> None:
    for words in (["--", "echo", "--json", "-h"], ["echo", "--json", "-h"]):
        assert shown(tether("statusline", *words, cwd=begun, stdin=told(begun))) == "--json -h\n"


def test_no_shell_reads_the_words_of_another_status_line(begun: Path, tether: Tether) -> None:
    line = shown(tether("statusline", "--", "echo", "$HOME; id", cwd=begun, stdin=told(begun)))
    assert line == "$HOME; id\n"


def test_another_status_line_that_reads_nothing_still_draws(begun: Path, tether: Tether) -> None:
    raw = told(begun, padding="x" * 500_000)
    assert shown(tether("statusline", "--", "echo", "mine", cwd=begun, stdin=raw)) == "mine\n"


def test_a_status_line_that_is_not_there_is_replaced_by_ours(begun: Path, tether: Tether) -> None:
    for word in ("/nonexistent", "/", "--unknown"):
        ended = tether("statusline", "--", word, cwd=begun, stdin=told(begun))
        assert shown(ended) == "ctx 42% left\n"


def test_how_another_status_line_ends_is_its_own(begun: Path, tether: Tether) -> None:
    for script, code in (("exit 3", 3), ("kill -TERM $$", 143)):
        ended = tether("statusline", "--", "sh", "-c", script, cwd=begun, stdin=told(begun))
        assert ended.code == code
