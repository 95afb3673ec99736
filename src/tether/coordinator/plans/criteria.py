"""A criterion as it is written: in words, or as a command. Pure.

One decision for every form of a plan: what follows `run:` at the beginning is executed, and nothing
else ever is. A person agrees to the commands that are shown, so a command is one line, and every
character of it can be seen.
"""

from __future__ import annotations

import re

from tether import text
from tether.coordinator.plans import model

MAX_COMMAND_CHARS = 1000
_PREFIX = "run:"
_TICKS = re.compile(r"`+")
_EMPTY = "there is no command behind `run:`"
_OPEN_TICK = "the backtick before the command is not closed on its line"
_SEVERAL = "only one command can follow `run:`; write the others as criteria of their own"
_TOO_LONG = f"the command has more than {MAX_COMMAND_CHARS} characters; put it into a script"
_LINES = "the command does not end on its line; put it into backticks, or into a script"
_UNSEEN = "the command has characters that nobody can see"


def read(written: str, line: int) -> tuple[model.Criterion, str]:
    """A criterion, and why its command cannot be used; empty if it can, or if there is none.

    A command stands on the first line: bare to its end, or in backticks with words behind it.
    """
    body = written.strip()
    criterion = model.Criterion(text.clean(body), "", line)
    first, _, more = body.partition("\n")
    command, problem, is_bare = _command(first)
    if command is None:
        return criterion, problem
    if is_bare and more.strip():
        problem = _LINES
    problem = problem or _refused(command)
    return (criterion if problem else criterion._replace(command=command)), problem


def from_command(command: str, line: int) -> tuple[model.Criterion, str]:
    """The same for a command that a field of its own names."""
    bare = command.strip()
    problem = _refused(bare)
    return model.Criterion(f"{_PREFIX} {text.clean(bare)}", "" if problem else bare, line), problem


def is_almost_command(criterion: model.Criterion) -> bool:
    """Would people take it for a command, though it is none?"""
    start = criterion.text[:20].lstrip("*_`> ").lower()
    return not criterion.command and start.replace(" ", "").startswith(_PREFIX)


def _command(first: str) -> tuple[str | None, str, bool]:
    """The command of a line, what is wrong with how it is set off, and whether it is bare.

    None if there is no command.
    """
    is_prefixed = first.startswith(_PREFIX)
    behind = first.removeprefix(_PREFIX).strip()
    if is_prefixed and not behind.startswith("`"):
        return behind, "", True
    span = _span(behind)
    if span is None:
        return None, _OPEN_TICK if is_prefixed else "", False
    inside, rest = span
    if not is_prefixed and not inside.startswith(_PREFIX):
        return None, "", False
    # Backticks of a shell look the same: what is meant by two of them cannot be told.
    command = inside if is_prefixed else inside.removeprefix(_PREFIX).strip()
    return command, _SEVERAL if "`" in rest else "", False


def _span(line: str) -> tuple[str, str] | None:
    """What stands in the backticks that a line begins with, and behind them."""
    ticks = len(line) - len(line.lstrip("`"))
    closing = (each for each in _TICKS.finditer(line, ticks) if len(each[0]) == ticks)
    end = next(closing, None) if ticks else None
    return None if end is None else (line[ticks : end.start()].strip(), line[end.end() :])


def _refused(command: str) -> str:
    """Why a command is not taken as it is; empty if it is."""
    if not command:
        return _EMPTY
    if len(command) > MAX_COMMAND_CHARS:
        return _TOO_LONG
    if "\n" in command:
        return _LINES
    return "" if text.clean(command) == command and "\t" not in command else _UNSEEN
