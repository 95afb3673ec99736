"""The commits that gave a path another content, from one commit backwards.

As `git log -- path` has them: where a merge has the content of one of its parents, only that parent
is followed, the first one if there are several.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
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

    def __iter__(self) -> Iterator[Step]:
        tokens = objects.tokens(cast(io.BufferedReader, self._process.stdout))
        token = next(tokens, None)
        while token is not None:
            oid, parents = objects.as_line(token), objects.as_line(next(tokens, b""))
            change = None
            token = next(tokens, None)
            if token is not None and token.lstrip(b"\n").startswith(b":"):
                change = objects.read_change(token, next(tokens, b""))
                token = next(tokens, None)
            yield Step(Oid(oid), tuple(map(Oid, parents.split())), change)

    def close(self) -> None:
        self._process.kill()
        with contextlib.suppress(BrokenPipeError), self._process:
            pass
