"""A trailer in a commit message that is being written. Pure.

Git's own `interpret-trailers` would run commands that a repository's configuration names.
"""

from __future__ import annotations

import re

_TRAILER = re.compile(r"[A-Za-z0-9-]{1,60}: .{1,2000}")
# What Git itself puts among trailers: a paragraph with one of these may hold other lines, too.
_OF_GIT = ("Signed-off-by: ", "(cherry picked from commit ")
_SCISSORS = " ------------------------ >8 ------------------------"


def has_trailer(message: str, name: str, comment: str = "#") -> bool:
    """Does a line of the message already begin like such a trailer?"""
    lines = message.split("\n")
    written = (line for line in lines[: _end(lines, comment)] if not line.startswith(comment))
    return any(line.lower().startswith(f"{name.lower()}: ") for line in written)


def subject(message: str, comment: str = "#") -> str:
    """The first line that says something."""
    lines = message.split("\n")
    written = (line for line in lines[: _end(lines, comment)] if not line.startswith(comment))
    return next((line.strip() for line in written if line.strip()), "")


def with_trailer(message: str, name: str, value: str, comment: str = "#") -> str:
    """The message with `name: value` at the end of its trailers; the same if it has that one.

    A message that is empty but for comments stays as it is: whoever gives up leaves it so.
    """
    lines = message.split("\n")
    end = _end(lines, comment)
    written = [line for line in lines[:end] if not line.startswith(comment)]
    if not any(line.strip() for line in written):
        return message
    trailer = f"{name}: {value}"
    if any(line.strip().lower() == trailer.lower() for line in written):
        return message
    last = end
    while last and (not lines[last - 1].strip() or lines[last - 1].startswith(comment)):
        last -= 1
    gap = [] if _ends_with_trailers(lines[:last], comment) else [""]
    return "\n".join([*lines[:last], *gap, trailer, *lines[last:]])


def _end(lines: list[str], comment: str) -> int:
    """Where the message ends: at the scissors, below which Git shows the change."""
    scissors = comment + _SCISSORS
    return next((n for n, line in enumerate(lines) if line.startswith(scissors)), len(lines))


def _ends_with_trailers(lines: list[str], comment: str) -> bool:
    """Is the last paragraph, which is not the subject, one of trailers?"""
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        if line.startswith(comment):
            continue
        if line.strip():
            paragraphs[-1].append(line)
        elif paragraphs[-1]:
            paragraphs.append([])
    last = paragraphs[-1] or (paragraphs[-2] if len(paragraphs) > 1 else [])
    is_subject = len([each for each in paragraphs if each]) < 2
    return not is_subject and _are_trailers(last)


def _are_trailers(lines: list[str]) -> bool:
    """As Git judges: all lines, or a quarter of them where one is its own. Values may be folded."""
    trailers = others = 0
    is_in_one = False
    for line in lines:
        if line.startswith(_OF_GIT) or _TRAILER.fullmatch(line):
            trailers += 1
            is_in_one = True
        elif not is_in_one or line[0] not in " \t":
            others += 1
            is_in_one = False
    has_of_git = any(line.startswith(_OF_GIT) for line in lines)
    return trailers > 0 and (not others or (has_of_git and trailers * 3 >= others))
