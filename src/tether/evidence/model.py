"""What shows work on a task, as plain values."""

from __future__ import annotations

# Made by the hundred thousand, and quicker so than those of `hints`.
from collections.abc import Callable
from typing import NamedTuple

# Doing and declaring move "last worked on"; talking and listing do not.
WORKED = "worked"
STATED = "stated"
MENTIONED = "mentioned"
LISTED = "listed"
KINDS = (WORKED, STATED, MENTIONED, LISTED)
MOVING = (WORKED, STATED)

EXCERPT_CHARS = 240

Tell = Callable[[str], None]
"""Takes how far a long reading has come, in words; nothing at its end."""


class Activity(NamedTuple):
    """One thing that shows work on a task, or talk of it."""

    source: str
    """Where it is from: `git:commit`, `claude:transcript`, …"""
    pointer: str
    """What opens it: `file:PATH#bytes=10-200`, `file:PATH#line=7`, `commit:OID`, `row:PATH#t/1`."""
    record: str
    """What the record is called wherever it stands: two with one name are one."""
    at: str
    """RFC 3339 in UTC; empty if nobody knows."""
    kind: str
    what: str
    """In a word: said, asked, ran, edited, failed, committed, ticked, claimed, …"""
    task: str = ""
    """The id; empty if only the claim that its session held can tell."""
    task_source: str = ""
    session: str = ""
    text: str = ""
    """An excerpt on one line, without secrets."""
    files: tuple[str, ...] = ()
    """Paths as they are written there."""


class Session(NamedTuple):
    """What a transcript or log tells of a session as a whole."""

    session: str
    source: str
    pointer: str
    """The file."""
    parent: str = ""
    """The session that started this one."""
    cwd: str = ""
    branch: str = ""
    started_at: str = ""
    last_at: str = ""
    compacted_at: str = ""
    """When its context was last compacted."""
    compactions: int = 0
    limited_at: str = ""
    resets_at: str = ""
    """When the usage limit that stopped it ends."""
    ending: str = ""
    """`at_rest`, `mid_turn` (it was doing something when its file ends), `limited`, `ended`."""
    last_said: str = ""
    """The last words of the agent: an excerpt without secrets."""
    title: str = ""


class Problem(NamedTuple):
    """What could not be read. Everything around it was."""

    path: str
    where: str
    """`line 7`, `byte 1024`, `row 3`; empty for the whole file."""
    message: str


class Logged(NamedTuple):
    """What a text that several sessions may have written says."""

    activities: list[Activity]
    sessions: list[Session]
    problems: list[Problem]
