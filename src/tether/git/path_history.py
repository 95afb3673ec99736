"""The commits that gave a path another content, from one commit backwards.

As `git log -- path` has them: where a merge has the content of one of its parents, only that parent
is followed, the first one if there are several.

Git knows which step is before another one only when it has found that, for the first one when it
has gone through all of the history. On a single line nobody has to know; so git is asked for the
steps alone up to the first merge among them, and from there on for what is before each.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from typing import cast

from tether.git import arguments, objects, process
from tether.git.objects import Oid
from tether.hints import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import subprocess

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
    """The steps before it, not its parents in the whole history; on a single line `FOLLOWING`."""
    change: objects.Change | None
    """None for a merge: git would show more merges if it had to say what they changed."""
    is_merge: bool = False
    """Whether it names several parents: with the path in one alone, git shows a plain commit."""


class PathHistory:
    """The steps of one path; git works ahead while they are looked at, and ends with `close`."""

    def __init__(self, git: repository.Git, commit: Oid, path: str) -> None:
        self._git = git
        self._path = path
        self._process = self._start(commit)

    def __iter__(self) -> Iterator[list[Step]]:
        """The steps, as many at a time as git has ready."""
        for steps in self._read():
            line = list(itertools.takewhile(lambda step: not step.is_merge, steps))
            yield [step._replace(parents=(FOLLOWING,)) for step in line]
            if len(line) < len(steps):
                self.close()
                self._process = self._start(steps[len(line)].oid, "--parents")
                yield from self._read()
                return

    def close(self) -> None:
        process.end(self._process)

    def _start(self, commit: Oid, *options: str) -> subprocess.Popen[bytes]:
        wanted = arguments.path_arguments([self._path])
        with process.starting():
            return self._git.runner.start(*_LOG, *options, Oid(commit), "--", *wanted)

    def _read(self) -> Iterator[list[Step]]:
        output = cast(io.BufferedReader, self._process.stdout)
        rest = b""
        while chunk := output.read1(objects.CHUNK_BYTES):
            *words, rest = (rest + chunk).split(b"\0")
            steps, left = _steps(words)
            rest = b"\0".join([*left, rest])
            if steps:
                yield steps
        yield _steps(rest.split(b"\0"))[0]


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
