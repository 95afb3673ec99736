"""What was committed in which checkout, by the logs that Git keeps of each HEAD.

A commit does not say where it was made; these logs do, for the 90 days that Git keeps them.
"""

from __future__ import annotations

import os
import re

from tether.git import objects
from tether.hints import NamedTuple

_MAX_BYTES = 16 * 1024 * 1024
# old new NAME <EMAIL> SECONDS ZONE TAB WORDS; only what makes a commit, not what moves to one.
_ENTRY = re.compile(
    rb"^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\n\t]{0,1000}> ([0-9]{1,12}) [+-][0-9]{4}\t"
    rb"(?:commit|cherry-pick|revert|am|(?:merge |pull|rebase)"
    rb"(?![^\n]{0,4000}: Fast-forward$)(?![^\n(]{0,100}(?:\(start\))?: checkout ))[^\n]{0,4000}$",
    re.MULTILINE,
)


class Made(NamedTuple):
    """A commit that came to be in a checkout."""

    oid: objects.Oid
    at_ms: int
    on: str
    """What was checked out before."""


def made(git_dir: str) -> list[Made]:
    """The commits that were made in the checkout of a git dir, oldest first."""
    try:
        with open(os.path.join(git_dir, "logs", "HEAD"), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - _MAX_BYTES))
            content = file.read(_MAX_BYTES)
    except OSError:
        return []  # never written, or refs that are kept in another format
    return [
        Made(objects.Oid(oid.decode()), int(seconds) * 1000, before.decode())
        for before, oid, seconds in _ENTRY.findall(content)
        if len(oid) in (40, 64)
    ]


def upon(entries: list[Made], head: str, second_ms: int) -> set[objects.Oid]:
    """The commits of one second that were made on top of a commit, one after the other."""
    tops: set[str] = {head}
    found = set()
    for each in entries:
        if each.at_ms == second_ms and each.on in tops:
            tops.add(each.oid)
            found.add(each.oid)
    return found
