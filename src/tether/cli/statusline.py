"""`tether statusline`: what Claude Code calls to draw its status line.

It never spoils that line: whatever happens, something is shown and the code is 0, or that of the
command that draws the line.
"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime

import click

from tether import clock, errors, workspace
from tether.cli import cold, context
from tether.coordinator.gauges import model
from tether.coordinator.gauges import statusline as records

_MAX_INPUT_BYTES = 1024 * 1024
_NOTHING = "ctx –"
_SHORT = {"five_hour": "5h", "seven_day": "7d"}
_DAY_MS = 86_400_000


@click.command(
    # What follows the first word is the other command's, options and all.
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@cold.pass_call
def statusline(call: context.Context, command: tuple[str, ...]) -> int:
    """Record what Claude Code's status line knows, and show it.

    Set it as `statusLine` in Claude Code's settings. If you have a status line already, put it
    after `--`: it gets the same input, and what it prints is shown.
    """
    raw = _input()
    shown = _recorded(call, raw)
    code = _passed_on(command, raw) if command else None
    if code is None:
        sys.stdout.write(f"{shown}\n")
    return code or 0


def _input() -> bytes:
    # Called by hand there is nobody who says anything.
    return b"" if sys.stdin.isatty() else sys.stdin.buffer.read(_MAX_INPUT_BYTES)


def _recorded(call: context.Context, raw: bytes) -> str:
    """Write down what is told; the line to show."""
    shown = _NOTHING
    try:
        now_ms = clock.SystemClock().now_ms()
        seen = records.read(raw, now_ms)
        if seen is not None:
            shown = line(seen.record, now_ms)
            # Ours is wherever Claude Code was started; the session may have gone elsewhere.
            if os.path.isabs(seen.directory):
                records.keep(_store_dir(call, seen.directory), seen.record)
    except Exception as problem:  # noqa: BLE001 (a status line must not fail because of a record)
        if call.environ.get("TETHER_DEBUG"):
            sys.stderr.write(f"tether: note: nothing was recorded: {problem}\n")
    return shown


def _store_dir(call: context.Context, directory: str) -> str:
    named = call.environ.get("TETHER_STORE_DIR")
    if named and not os.path.isabs(named):
        raise errors.ConfigError("TETHER_STORE_DIR must be an absolute path.")
    return workspace.find(directory, store_dir=named).store_dir


def line(record: records.Record, now_ms: int) -> str:
    """`ctx 42% left · 5h 18% left, resets 14:05`"""
    left = record.context_remaining
    parts = [_NOTHING if left is None else f"ctx {left:.0f}% left"]
    for name, window in record.windows.items():
        short = _SHORT.get(name, name)
        if model.has_ended(window, record.at, now_ms):
            parts.append(f"{short} 100% left")
        else:
            parts.append(f"{short} {100 - window.used:.0f}% left{_resets(window, now_ms)}")
    return " · ".join(parts)


def _resets(window: model.Window, now_ms: int) -> str:
    """When a window ends, as the clock on the wall shows it; with the day if it is not near."""
    if window.resets_at is None:
        return ""
    ms = clock.parse(window.resets_at)
    wait_ms = ms - now_ms
    if wait_ms > 30 * _DAY_MS:
        return ""  # no window is that long
    form = "%H:%M" if wait_ms < _DAY_MS else "%a %H:%M"
    return f", resets {datetime.fromtimestamp(ms / 1000, UTC).astimezone():{form}}"


def _passed_on(command: tuple[str, ...], raw: bytes) -> int | None:
    """Let another command draw the line, on our own output; None if it cannot be started."""
    sys.stdout.flush()
    try:
        code = subprocess.run(command, input=raw, check=False).returncode
    except (OSError, ValueError):
        return None
    return code if code >= 0 else 128 - code
