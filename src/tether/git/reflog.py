"""What was committed in which checkout, by the logs that Git keeps of each HEAD.

A commit does not say where it was made; these logs do, for the 90 days that Git keeps them.
"""

from __future__ import annotations

import os
import re

from tether.git import objects
from tether.hints import NamedTuple

_MAX_BYTES = 16 * 1024 * 1024
# old new NAME <EMAIL> SECONDS ZONE TAB WORDS: SUBJECT; WORDS are of who wrote it, as in
# `commit (amend)`, `rebase -i (pick)`, `pull --rebase origin main (finish)`.
_ENTRY = re.compile(
    rb"^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\n\t]{0,1000}> ([0-9]{1,12}) [+-][0-9]{4}\t"
    rb"(commit|cherry-pick|revert|am|merge |pull|rebase)[^\n:(]{0,1000}(?:\(([^\n():]{1,40})\))?"
    rb"(?:: ([^\n]{0,4000}))?$",
    re.MULTILINE,
)
# What only moves to a commit, or leads to others.
_MOVES = (b"start", b"finish", b"abort")
MADE = "made"
AMENDED = "amended"
REWRITTEN = "rewritten"


class Made(NamedTuple):
    """A commit that came to be in a checkout."""

    oid: objects.Oid
    at_ms: int
    on: str = ""
    """What was checked out before."""
    how: str = MADE
    """`made`, or from another one: `amended`, `rewritten` by a rebase."""
    subject: str = ""


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
        Made(
            objects.Oid(oid.decode()),
            int(seconds) * 1000,
            before.decode(),
            _how(verb, step),
            objects.as_text(subject),
        )
        for before, oid, seconds, verb, step, subject in _ENTRY.findall(content)
        if len(oid) in (40, 64) and not _only_moves(verb, step, subject)
    ]


def _only_moves(verb: bytes, step: bytes, subject: bytes) -> bool:
    if step in _MOVES or (subject.endswith(b"Fast-forward") and verb in (b"merge ", b"pull")):
        return True
    return verb in (b"pull", b"rebase") and subject.startswith(b"checkout ")


def _how(verb: bytes, step: bytes) -> str:
    if step == b"amend":
        return AMENDED
    # A pull that rebases writes its steps as a rebase does; one that merges has none.
    return REWRITTEN if verb == b"rebase" or (verb == b"pull" and step) else MADE


def upon(entries: list[Made], head: str, second_ms: int) -> set[objects.Oid]:
    """The commits of one second that were made on top of a commit, one after the other."""
    made_on: dict[str, list[objects.Oid]] = {}
    for each in entries:
        if each.at_ms == second_ms:
            made_on.setdefault(each.on, []).append(each.oid)
    found: set[objects.Oid] = set()
    tops = [head]
    while tops:
        new = [oid for oid in made_on.get(tops.pop(), []) if oid not in found]
        found.update(new)
        tops += new
    return found
