"""Do two reservations name a common path? Pure.

A reservation is a path below the top of the repository, `/` between its parts; it stands for the
file or directory of that name and everything below it. `*`, `?` and `[…]` match within one part,
`**` any number of parts. Upper and lower case count as the same, as they do on many disks. A class
`[…]` counts as any character: two classes that exclude each other are reported all the same.
"""

from __future__ import annotations

import functools
import re

from tether import errors

_MAX_CHARS = 400
_CLASS = re.compile(r"\[[!^]?\]?[^\]]{0,50}\]")


def parse(value: str) -> str:
    """A reservation in its one form; UsageError for what is none."""
    parts = [part for part in value.split("/") if part not in ("", ".")]
    is_bad = (
        not value.isprintable()
        or len(value) > _MAX_CHARS
        or value.startswith("/")
        or ".." in parts
        or not parts
    )
    if is_bad:
        raise errors.UsageError(
            "A path to reserve lies in the repository, below its top, and has at most"
            f" {_MAX_CHARS} characters. Nothing was changed.",
            hint="For everything use '**'.",
        )
    return "/".join(parts)


def overlap(one: str, other: str) -> bool:
    """Could some path belong to both?"""
    return _parts_meet(_parts(one), _parts(other))


def _parts(pattern: str) -> tuple[str, ...]:
    return tuple(_lower(_CLASS.sub("?", part)) for part in pattern.split("/"))


def _lower(part: str) -> str:
    """In lower case, but for the few letters that would become two: `?` stands for one."""
    return "".join(low if len(low := char.lower()) == 1 else char for char in part)


def _parts_meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two lists of parts, each with all that is below it, can match the same path."""

    @functools.cache
    def meet(i: int, j: int) -> bool:
        if i == len(one) or j == len(other):
            return True
        if one[i] == "**":
            return meet(i + 1, j) or (_may_swallow(one, i, other, j) and meet(i, j + 1))
        if other[j] == "**":
            return meet(i, j + 1) or (_may_swallow(other, j, one, i) and meet(i + 1, j))
        return _segments_meet(one[i], other[j]) and meet(i + 1, j + 1)

    return meet(0, 0)


def _may_swallow(one: tuple[str, ...], stars: int, other: tuple[str, ...], part: int) -> bool:
    """May `**` stand for this part of the other? Not for a file, if more must follow below it."""
    more_follows = any(follower != "**" for follower in one[stars + 1 :])
    is_last = part == len(other) - 1
    return not (more_follows and is_last and _is_file(other[part]))


def _is_file(part: str) -> bool:
    """A name with an ending is taken for a file, which has nothing below it."""
    stem, _, ending = part.rpartition(".")
    is_glob = "*" in part or "?" in part
    return bool(stem) and not is_glob and ending.isalnum() and len(ending) <= 10


def _segments_meet(one: str, other: str) -> bool:
    """Whether two patterns of one part can match the same name."""
    if not any(char in "*?" for char in one + other):
        return one == other
    # reached[j]: some text is matched by one[:i] and by other[:j].
    reached = [True] + [False] * len(other)
    for j, char in enumerate(other):
        reached[j + 1] = reached[j] and char == "*"
    for mine in one:
        before, reached = reached, [reached[0] and mine == "*"] + [False] * len(other)
        for j, theirs in enumerate(other):
            reached[j + 1] = (
                (mine == "*" and (before[j + 1] or reached[j]))
                or (theirs == "*" and (reached[j] or before[j + 1]))
                or (before[j] and (mine in (theirs, "?") or theirs == "?"))
            )
    return reached[-1]
