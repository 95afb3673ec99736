"""What a command answers, and how that reaches people and programs.

Results go to stdout, everything else to stderr. JSON is one line in one envelope. Text for people
is cleaned on its way out, in this one place: whatever a repository contains, no escape sequence
of it reaches a terminal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from tether import errors, text
from tether.hints import Any, NamedTuple

# How a terminal is told: bold, faint, and the colours that are readable on any background.
_STYLES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}


class Piece(NamedTuple):
    """Some words of a line, in a style or in none."""

    text: str
    style: str = ""


class Answer(NamedTuple):
    """A result in every form that it can be asked for."""

    noun: str
    """The key that the value has in JSON; with none, the value's own keys are used."""
    value: Any
    plain: Callable[[], str]
    styled: Callable[[int], list[list[Piece]]] | None = None
    """The lines for a terminal of a width, where that is more than plain text."""
    failure: errors.TetherError | None = None
    """Shown after the answer, and the program ends with its code: findings to fail on."""


def show(answer: Answer, *, as_json: bool) -> int:
    """Print an answer; the exit code."""
    if as_json:
        found = {answer.noun: answer.value} if answer.noun else answer.value
        _write_json({"ok": True, **found})
    elif answer.styled is not None and sys.stdout.isatty():
        _show_styled(answer.styled)
    elif shown := text.clean(answer.plain()):
        sys.stdout.write(shown.rstrip("\n") + "\n")
    if answer.failure is not None:
        if not as_json:
            _write_error(answer.failure)
        return answer.failure.exit_code
    return 0


def _show_styled(styled: Callable[[int], list[list[Piece]]]) -> None:
    import os
    import shutil

    has_styles = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    for line in styled(max(40, shutil.get_terminal_size().columns)):
        for piece in line:
            shown = text.clean(piece.text).replace("\n", " ")
            code = _STYLES.get(piece.style) if has_styles else None
            sys.stdout.write(f"\x1b[{code}m{shown}\x1b[0m" if code else shown)
        sys.stdout.write("\n")


def show_item(noun: str, value: Any, line: str, *, as_json: bool) -> None:
    """Print one of many answers that come one after another, at once."""
    if as_json:
        _write_json({"ok": True, noun: value})
    else:
        sys.stdout.write(text.clean(line).rstrip("\n") + "\n")
    sys.stdout.flush()


def untrusted(value: str | None, source: str) -> dict[str, str] | None:
    """Somebody else's text as a field of JSON."""
    return None if value is None else text.mark(value, source=source)


def indented(value: str) -> str:
    """Somebody else's text, set off from ours."""
    return "\n".join(f"    {line}" for line in text.clean(value).strip().split("\n"))


def told(value: str, *, source: str, for_agent: bool) -> str:
    """A text with words of others in it: inside a fence for an agent, as it is for a person."""
    return text.fence(value, source=source, author="others") if for_agent else value


def show_error(error: errors.TetherError, *, as_json: bool) -> int:
    """Print an error in the form that the caller reads; the exit code."""
    if as_json:
        details = {
            "code": error.code,
            "message": error.message,
            "hint": error.hint,
            "retryable": error.retryable,
            **error.details,
        }
        _write_json({"ok": False, "error": details})
    else:
        _write_error(error)
    return error.exit_code


def _write_json(envelope: dict[str, Any]) -> None:
    # ASCII: safe in every encoding, and lone surrogates of odd file names stay legal JSON.
    sys.stdout.write(json.dumps(envelope) + "\n")


def _write_error(error: errors.TetherError) -> None:
    sys.stdout.flush()
    sys.stderr.write(_wrapped(f"tether: {error.message}", ""))
    if error.hint:
        sys.stderr.write(_wrapped(error.hint, "  "))


def _wrapped(line: str, indent: str) -> str:
    """A line for stderr; on a terminal it breaks between words."""
    line = text.clean(line)
    if not sys.stderr.isatty():
        return f"{indent}{line}\n"
    import shutil
    import textwrap

    width = max(40, shutil.get_terminal_size().columns)
    filled = textwrap.fill(
        line, width, initial_indent=indent, subsequent_indent="  ", break_on_hyphens=False
    )
    return filled + "\n"
