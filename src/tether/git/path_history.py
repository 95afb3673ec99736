"""The commits that gave a path another content, from one commit backwards.

As `git log -- path` has them: where a merge has the content of one of its parents, only that parent
is followed, the first one if there are several.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import cast

from tether.git import arguments, objects, process
from tether.git.objects import Oid
from tether.hints import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tether.git import repository

_LOG = (
    *("log", "-z", *arguments.RAW, "--format=tformat:%H%x00%P", "--parents", "--no-color"),
    *("--no-mailmap", "--no-notes", "--no-follow", "--encoding=UTF-8", "--diff-merges=off"),
)


class Step(NamedTuple):
    """A commit that changed what is at the path."""

    oid: Oid
    parents: tuple[Oid, ...]
    """The steps before it, not its parents in the whole history."""
    change: objects.Change | None
    """None for a merge: git would show more merges if it had to say what they changed."""


class PathHistory:
    """The steps of one path; git works ahead while they are looked at, and ends with `close`."""

    def __init__(self, git: repository.Git, commit: Oid, path: str) -> None:
        wanted = arguments.path_arguments([path])
        with process.starting():
            self._process = git.runner.start(*_LOG, Oid(commit), "--", *wanted)

    def __iter__(self) -> Iterator[list[Step]]:
        """The steps, as many at a time as git has ready."""
        output = cast(io.BufferedReader, self._process.stdout)
        rest = b""
        while chunk := output.read1(objects.CHUNK_BYTES):
            *words, rest = (rest + chunk).split(b"\0")
            steps, left = _steps(words)
            rest = b"\0".join([*left, rest])
            if steps:
                yield steps
        yield _steps([*rest.split(b"\0"), b"", b""])[0]

    def close(self) -> None:
        process.end(self._process)


def _steps(words: list[bytes]) -> tuple[list[Step], list[bytes]]:
    """The steps in some words, but for the last one, to which more may belong."""
    steps: list[Step] = []
    place = begun = 0
    while place + 2 < len(words) and words[place]:
        begun = place
        oid, parents = objects.as_line(words[place]), objects.as_line(words[place + 1])
        change = None
        place += 2
        if words[place].lstrip(b"\n").startswith(b":"):
            if place + 1 >= len(words):
                return steps, words[begun:]
            change = objects.read_change(words[place], words[place + 1])
            place += 2
        steps.append(Step(Oid(oid), tuple(map(Oid, parents.split())), change))
    return steps, words[place:]
