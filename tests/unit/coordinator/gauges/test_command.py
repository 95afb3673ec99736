"""What a usage command may print, and how it is run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether import errors
from tether.coordinator.gauges import command, model

RESET = "2026-11-15T14:05:00.000Z"
EXPECTED = model.Usage(18.0, 82.0, RESET, "command", None)
SECRET = "sk-ant-" + "a1B2c3D4" * 5
ENVIRON = {"PATH": os.environ["PATH"]}


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


def refused(output: str) -> errors.TetherError:
    with pytest.raises(command.UsageUnknown) as caught:
        command.parse(output)
    return caught.value


# What it prints


@pytest.mark.parametrize(
    "output",
    [
        '{"utilisation": 82, "remaining": 18, "resets_at": "2026-11-15T14:05:00Z"}',
        '{"utilization": 82.0, "resets_at": 1794751500}',
        '{"REMAINING": "18%", "resets_at": "2026-11-15T15:05:00+01:00", "plan": {"name": "x"}}',
        "utilisation: 82%\nremaining: 18%\nresets_at: 2026-11-15T14:05:00Z\n",
        "resets_at: 1794751500\r\nRemaining: 18\r\n",
        "Claude usage\n\n  Utilization : 82.0 %\nnote: whatever\nresets_at:2026-11-15 14:05 UTC",
    ],
)
def test_both_forms_say_the_same(output: str) -> None:
    assert command.parse(output) == EXPECTED


def test_what_remains_counts_if_the_two_do_not_add_up() -> None:
    found = command.parse('{"utilisation": 10, "remaining": 5}')
    assert (found.remaining, found.utilisation) == (5.0, 10.0)


@pytest.mark.parametrize("given", ["null", '""', '"none"', '"unknown"', '"-"'])
def test_a_reset_may_be_unknown(given: str) -> None:
    assert command.parse(f'{{"remaining": 18, "resets_at": {given}}}').resets_at is None
    assert command.parse(f"remaining: 18\nresets_at: {json.loads(given)}").resets_at is None


@pytest.mark.parametrize(
    "output",
    [
        "",
        "Error: no token",
        "[]",
        "18",
        "{}",
        '{"remaining": null}',
        '{"remaining": 18',
        '{"used": 18}',
        "[" * 50_000,
        '{"a":' * 10_000,
    ],
)
def test_what_says_nothing_is_refused_with_what_was_expected(output: str) -> None:
    assert "expected a JSON object with `utilisation`" in refused(output).message


@pytest.mark.parametrize(
    "value",
    ["-1", "100.5", "NaN", "Infinity", "1e999", "9" * 4000, "true", "[]", '"18 of 100"', '"-3%"'],
)
def test_numbers_that_are_no_percentage_are_refused(value: str) -> None:
    message = refused(f'{{"remaining": {value}}}').message
    assert "`remaining` is not a percentage" in message


@pytest.mark.parametrize("value", ["soon", "2026-13-01T00:00:00Z", "true", "14:05"])
def test_a_reset_that_is_no_time_is_refused(value: str) -> None:
    """Taken for none, a run would not know how long to wait."""
    assert "`resets_at` is not a time" in refused(f"remaining: 1\nresets_at: {value}").message


def test_too_much_is_refused() -> None:
    assert "64 KiB" in refused("remaining: 18\n" * 10_000).message


@pytest.mark.parametrize(
    "output", [SECRET, f'{{"remaining": "{SECRET}"}}', f"remaining: 1\nresets_at: {SECRET}"]
)
def test_no_error_repeats_what_was_printed(output: str) -> None:
    error = refused(output)
    assert SECRET[:10] not in f"{error.message} {error.hint}"


@given(
    st.text()
    | st.from_regex(r"(remaining|utilisation|resets_at|RESETS_AT) ?: ?.{0,40}\n?")
    | st.dictionaries(
        st.sampled_from(["remaining", "utilisation", "utilization", "resets_at"]),
        st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.lists(st.text()),
    ).map(json.dumps)
)
def test_any_output_is_either_understood_or_refused(output: str) -> None:
    try:
        found = command.parse(output)
    except errors.TetherError:
        return
    assert 0 <= found.remaining <= 100
    assert found.utilisation is not None
    assert 0 <= found.utilisation <= 100


# How it is called


def test_a_command_line_is_split_as_a_shell_does() -> None:
    assert command.split("my-usage --plan 'max 20x' \"$HOME\"") == [
        *("my-usage", "--plan", "max 20x", "$HOME"),
    ]


@pytest.mark.parametrize("text", ["", "  ", "''", "usage 'open"])
def test_a_command_line_that_names_nothing_is_a_wrong_setting(text: str) -> None:
    with pytest.raises(errors.ConfigError):
        command.split(text)


def test_a_command_is_asked_and_the_time_is_noted() -> None:
    found = command.run(shell("echo remaining: 18%; echo resets_at: 1794751500"), ENVIRON)
    assert found._replace(at=None) == EXPECTED
    assert found.at is not None


def test_a_command_gets_the_environment_and_no_input() -> None:
    found = command.run(shell('cat; echo "remaining: $LEFT"'), {**ENVIRON, "LEFT": "7"})
    assert found.remaining == 7


def test_no_shell_reads_the_words(tmp_path: Path) -> None:
    words = command.split(f"echo remaining: 5 ; touch {tmp_path}/made")
    with pytest.raises(command.UsageUnknown):
        command.run(words, ENVIRON)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["/nonexistent/usage"], "could not be started"),
        (["/"], "could not be started"),
        (["usage\0"], "could not be started"),
        (shell("echo remaining: 5; exit 3"), "with code 3"),
        (shell("kill -TERM $$"), "by signal 15"),
        (shell("yes"), "64 KiB and was stopped"),
    ],
)
def test_a_command_that_fails_says_nothing(words: list[str], said: str) -> None:
    with pytest.raises(command.UsageUnknown, match=said):
        command.run(words, ENVIRON)


@pytest.mark.parametrize(
    "script",
    [
        "sleep 600 & echo $! > {pid}; wait",
        "sleep 600 & echo $! > {pid}; echo remaining: 5",  # ended, but its child has the pipe
        "sleep 600 >/dev/null & echo $! > {pid}; exec >&-; wait",
    ],
)
def test_what_takes_too_long_is_ended_with_all_that_it_started(script: str, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with pytest.raises(command.UsageUnknown, match="in time"):
        command.run(shell(script.format(pid=pid_file)), ENVIRON, timeout_seconds=1)
    assert _is_gone(int(pid_file.read_text()))


# Goes on only when somebody reads what it prints: a pipe of one page does not hold two.
BEING_READ = """
import fcntl, os, sys, time
fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 4096)
os.write(1, b" " * 8192)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(os.getpid()))
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs pipes whose size can be set")
def test_an_interrupted_question_leaves_nothing_behind(tmp_path: Path) -> None:
    """Ctrl-C in the coordinator, while the command runs."""
    words = [sys.executable, "-c", BEING_READ, str(tmp_path / "pid")]
    ask = f"""
import os
from tether.coordinator.gauges import command
command.run({words!r}, os.environ)
"""
    asking = subprocess.Popen([sys.executable, "-c", ask], stderr=subprocess.DEVNULL)
    while not (tmp_path / "pid").exists():
        assert asking.poll() is None
        time.sleep(0.01)
    asking.send_signal(signal.SIGINT)
    assert asking.wait(30) != 0
    assert _is_gone(int((tmp_path / "pid").read_text()))


def _is_gone(pid: int) -> bool:
    """It was killed: gone, or waiting for whoever took it over to notice."""
    for _ in range(1000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False
