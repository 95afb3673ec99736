"""The commits that gave a path another content, from one commit backwards.

As `git log -- path` has them: where a merge has the content of one of its parents, only that parent
is followed, the first one if there are several.

Git knows which step is before another one only when it has found that, for the first one when it
has gone through all of the history. So it says so only where that is asked for: up to the first
merge, the steps are one line.
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
    *("log", "-z", *arguments.RAW, "--format=raw", "--no-color", "--no-decorate", "--no-mailmap"),
    *("--no-notes", "--no-follow", "--encoding=UTF-8", "--diff-merges=off"),
)
FOLLOWING = Oid("0" * 40)
"""Stands for the step that comes next, if there is one."""


class Step(NamedTuple):
    """A commit that changed what is at the path."""

    oid: Oid
    parents: tuple[Oid, ...]
    """The steps before it, not its parents in the whole history; or `FOLLOWING`."""
    change: objects.Change | None
    """None for a merge: git would show more merges if it had to say what they changed."""
    is_merge: bool = False
    """Whether it names several parents: with the path in one alone, git shows a plain commit."""


class PathHistory:
    """The steps of one path; git works ahead while they are looked at, up to `close`."""

    def __init__(
        self, git: repository.Git, commit: Oid, path: str, *, has_parents: bool = False
    ) -> None:
        self.has_parents = has_parents
        """Whether it says what is before each step; else the next one, up to the first merge."""
        wanted = arguments.path_arguments([path])
        options = ("--parents",) if has_parents else ()
        with process.starting():
            self._process = git.runner.start(*_LOG, *options, Oid(commit), "--", *wanted)

    def __iter__(self) -> Iterator[list[Step]]:
        """The steps, as many at a time as git has ready."""
        output = cast(io.BufferedReader, self._process.stdout)
        rest = b""
        while chunk := output.read1(objects.CHUNK_BYTES):
            *words, rest = (rest + chunk).split(b"\0")
            steps, left = self._steps(words)
            rest = b"\0".join([*left, rest])
            if steps:
                yield steps
        yield self._steps(rest.split(b"\0"))[0]

    def stop(self) -> None:
        """No more steps are wanted: others need the processor."""
        self._process.kill()

    def close(self) -> None:
        process.end(self._process)

    def _steps(self, words: list[bytes]) -> tuple[list[Step], list[bytes]]:
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
                steps.append(self._step(text, change))
            place += 2 if raw else 1
        return steps, []

    def _step(self, text: bytes, change: objects.Change | None) -> Step:
        """A commit by its headers, the first of which has the steps before it."""
        first, *headers = text.partition(b"\n\n")[0].split(b"\n")
        oid, *parents = map(Oid, objects.as_line(first).split()[1:])
        named = sum(header.startswith(b"parent ") for header in headers)
        before = tuple(parents) if self.has_parents else (FOLLOWING,)
        return Step(oid, before, change, named > 1)
