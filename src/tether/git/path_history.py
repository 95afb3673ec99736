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
    # Raw, because that has the parents that a commit names beside the steps before it.
    *("log", "-z", *arguments.RAW, "--format=raw", "--parents", "--no-color", "--no-decorate"),
    *("--no-mailmap", "--no-notes", "--no-follow", "--encoding=UTF-8", "--diff-merges=off"),
)


class Step(NamedTuple):
    """A commit that changed what is at the path."""

    oid: Oid
    parents: tuple[Oid, ...]
    """The steps before it, not its parents in the whole history."""
    change: objects.Change | None
    """None for a merge: git would show more merges if it had to say what they changed."""
    is_merge: bool = False
    """Whether it names several parents: with the path in one alone, git shows a plain commit."""


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
        yield _steps(rest.split(b"\0"))[0]

    def close(self) -> None:
        process.end(self._process)


def _steps(words: list[bytes]) -> tuple[list[Step], list[bytes]]:
    """The steps in some words, and the words of the last one, if its path is missing."""
    steps: list[Step] = []
    place = 0
    while place < len(words):
        # Messages are indented, so that no line of theirs looks like this.
        text, _, raw = words[place].partition(b"\n:")
        if raw and place + 1 == len(words):
            return steps, words[place:]
        change = objects.read_change(raw, words[place + 1]) if raw else None
        if text:
            steps.append(_step(text, change))
        place += 2 if raw else 1
    return steps, []


def _step(text: bytes, change: objects.Change | None) -> Step:
    """A commit by its headers, the first of which has the steps before it."""
    first, *headers = text.partition(b"\n\n")[0].split(b"\n")
    oid, *parents = objects.as_line(first).split()[1:]
    named = sum(header.startswith(b"parent ") for header in headers)
    return Step(Oid(oid), tuple(map(Oid, parents)), change, named > 1)
