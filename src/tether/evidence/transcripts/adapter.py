"""What an adapter does: three pure functions over pieces of a file of lines.

Which pieces it gets does not depend on how often the file was read while it grew, so reading it
piecemeal and reading it at once come to the same: `head` gets the first bytes, `tail` the last ones
and more of them until it can tell all that it is asked for, and `read` every line that holds an id
or one of the adapter's needles, each exactly once, in order.
A fourth, `tell`, is for who asks for the last words of a session and looks into its file itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

# Lines and activities are made by the hundred thousand, and quicker so than those of `hints`.
from typing import NamedTuple

from tether.evidence import model
from tether.hints import Any
from tether.tasks.sources import patterns

HEAD_BYTES = 64 * 1024
# The least that a tail has, if the file has as much.
TAIL_BYTES = 64 * 1024


class Line(NamedTuple):
    """One whole line of a file, without its end."""

    start: int
    """The offset of its first byte."""
    raw: bytes


class File(NamedTuple):
    """The file that lines are from."""

    path: str
    session: str
    """By its head, or by its name if the head does not tell."""

    def pointer(self, line: Line) -> str:
        return f"file:{self.path}#bytes={line.start}-{line.start + len(line.raw)}"


class Read(NamedTuple):
    """What lines say."""

    activities: list[model.Activity]
    marks: list[tuple[str, str, str]]
    """What happened to the session as a whole: (`compacted` | `limited`, when, more)."""
    problems: list[model.Problem]


class Told(NamedTuple):
    """What a line tells of words and of commands, as it is written there."""

    what: str
    """`asked`, `said`, `called` (a tool, with what it was asked to do), `failed` (how)."""
    text: str = ""
    name: str = ""
    """Of the message, or of the call; empty if it has none."""
    at: str = ""
    """Empty if the line has no time of its own."""


class Adapter(NamedTuple):
    """How one agent's transcripts are read."""

    source: str
    version: str
    """Another one makes every file be read again."""
    needles: tuple[bytes | re.Pattern[bytes], ...]
    """A line with one of these matters even without an id.

    Few, because each is looked for in everything. Long fixed ones are quickest; a pattern that
    begins with fixed characters is half as quick, one that does not a tenth.
    """
    head: Callable[[str, bytes], model.Session]
    """From a path and the first bytes: session, parent, cwd, branch, started_at, title."""
    read: Callable[[File, Iterable[Line], patterns.Finder, dict[str, Any]], Read]
    """The last argument is kept from one reading to the next, as JSON, and may be changed."""
    tail: Callable[[bytes], model.Session]
    """From the last lines, whole ones: last_at, ending, last_said."""
    tell: Callable[[bytes], list[Told]]
    """From one line."""
