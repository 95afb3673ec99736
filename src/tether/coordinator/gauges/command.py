"""A command of the user's that says how much is left, and what it may print.

    {"utilisation": 82, "remaining": 18, "resets_at": "2026-11-15T14:05:00Z"}

or the same as three lines, `utilisation: 82%`, `remaining: 18%`, `resets_at: …`. It gets our
environment and whatever credentials it can reach itself; we read none. Its output is never quoted:
it may hold a secret.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import IO

from tether import clock, errors
from tether.coordinator.gauges import model
from tether.hints import Any

SOURCE = "command"
TIMEOUT_SECONDS = 30.0
MAX_OUTPUT_BYTES = 64 * 1024
_LINE = re.compile(
    r"(utili[sz]ation|remaining|resets_at)[ \t]{0,8}:[ \t]{0,8}(.{0,80})", re.IGNORECASE | re.ASCII
)
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{0,20})?)[ \t]{0,8}%?")
# How programs say that there is no time.
_NO_TIME = ("", "-", "none", "null", "unknown", "n/a")
_FORMAT = (
    "a JSON object with `utilisation`, `remaining` and `resets_at`,"
    " or those as lines like `remaining: 18%`"
)


class UsageUnknown(errors.TetherError):
    """The usage command did not say how much is left."""

    code = "usage_unknown"
    retryable = True
    hint = "Run the usage command by hand and correct it, or the setting that names it."


def split(text: str) -> list[str]:
    """The words of a command line, as a shell would split them; no shell ever runs it."""
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise errors.ConfigError("The usage command has a quote that is not closed.") from problem
    if not words or not words[0]:
        raise errors.ConfigError("The usage command is empty.")
    return words


# Reading


def parse(output: str) -> model.Usage:
    """What a usage command has said."""
    if len(output) > MAX_OUTPUT_BYTES:
        raise UsageUnknown("The usage command printed more than 64 KiB, so nothing of it was used.")
    found = _fields(output)
    used, left = _percentage(found, "utilisation"), _percentage(found, "remaining")
    if used is None and left is None:
        raise UsageUnknown(f"The usage command did not say how much is left: expected {_FORMAT}.")
    if left is None:
        left = 100.0 - (used or 0.0)
    if used is None:
        used = 100.0 - left
    return model.Usage(left, used, _reset(found.get("resets_at")), SOURCE, None)


def _fields(output: str) -> dict[str, Any]:
    """The values by their names, whichever form they have."""
    stripped = output.strip()
    if not stripped.startswith("{"):
        lines = (_LINE.fullmatch(line.strip()) for line in stripped.splitlines())
        return {_named(line[1]): line[2] for line in lines if line}
    try:
        found = json.loads(stripped)
    except (ValueError, RecursionError) as problem:
        raise UsageUnknown(
            f"What the usage command printed is not valid JSON: expected {_FORMAT}."
        ) from problem
    return {_named(name): value for name, value in found.items()}


def _named(name: str) -> str:
    return name.lower().replace("utilization", "utilisation")


def _percentage(found: Mapping[str, Any], name: str) -> float | None:
    value = found.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        match = _PERCENT.fullmatch(value.strip())
        value = float(match[1]) if match else math.nan
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    # Compared before it becomes a float: JSON knows numbers that no float can hold.
    if not is_number or not 0 <= value <= 100:
        raise UsageUnknown(
            f"The usage command's `{name}` is not a percentage: expected a number from 0 to 100."
        )
    return float(value)


def _reset(value: object) -> str | None:
    if value is None or (isinstance(value, str) and value.strip().lower() in _NO_TIME):
        return None
    found = model.moment(value)
    if found is None:
        # Taken for none, a run would pause and not know until when.
        raise UsageUnknown(
            "The usage command's `resets_at` is not a time: expected RFC 3339,"
            " seconds since 1970, or null."
        )
    return found


# Running


def run(
    argv: Sequence[str], environ: Mapping[str, str], timeout_seconds: float = TIMEOUT_SECONDS
) -> model.Usage:
    """Ask a usage command."""
    try:
        process = subprocess.Popen(
            argv,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:  # ValueError: a NUL in a word
        reason = getattr(problem, "strerror", None) or "not a command"
        raise UsageUnknown(f"The usage command could not be started: {reason}.") from problem
    with process:
        try:
            output = _finished(process, time.monotonic() + timeout_seconds)
        except BaseException:
            _kill(process)
            raise
    at = clock.now_text(clock.SystemClock())
    return parse(output.decode("utf-8", "replace"))._replace(at=at)


def _finished(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    """The output of a process that ends well and in time."""
    assert process.stdout is not None  # noqa: S101 (for the type checker: it was asked for)
    try:
        output = _read(process.stdout, deadline)
        code = process.wait(max(0.0, deadline - time.monotonic()))
    except (TimeoutError, subprocess.TimeoutExpired):
        raise UsageUnknown("The usage command did not end in time and was stopped.") from None
    if code:
        how = f"with code {code}" if code > 0 else f"by signal {-code}"
        raise UsageUnknown(f"The usage command ended {how}.")
    return output


def _read(stream: IO[bytes], deadline: float) -> bytes:
    content = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while len(content) <= MAX_OUTPUT_BYTES:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise TimeoutError
            chunk = os.read(stream.fileno(), MAX_OUTPUT_BYTES + 1 - len(content))
            if not chunk:
                return content
            content += chunk
    raise UsageUnknown("The usage command printed more than 64 KiB and was stopped.")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a command and what it has started."""
    if process.returncode is None:
        # It was not waited for, so even if it has ended, nobody else can have its number.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
