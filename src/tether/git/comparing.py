"""What one commit changed after another, from one long-lived git."""

from __future__ import annotations

import contextlib
import io
from typing import cast

from tether import errors
from tether.git import arguments, objects, process
from tether.git.objects import Oid
from tether.hints import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

    from tether.git import repository

_DIFF = ("diff-tree", "--stdin", "-r", "-z", "--root", "--no-commit-id", *arguments.RAW)
# Git says again, and at once, what it does not understand: so its answer has an end.
_END = b"tether: end of answer\n"

Listing = list[tuple[bytes, bytes]]
"""A raw line and a path for each file, as git writes them: there may be thousands."""


class Comparer:
    """Compares commits of one repository until it is closed."""

    def __init__(self, git: repository.Git) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None

    def changes(self, parent: Oid | None, commit: Oid) -> Listing:
        """The files in which a commit differs from a parent, or all of a first commit."""
        return listing(self.raw(parent, commit))

    def raw(self, parent: Oid | None, commit: Oid) -> bytes:
        """The same as git says it."""
        question = f"{Oid(commit)} {Oid(parent)}\n" if parent else f"{Oid(commit)}\n"
        answer = self._ask(question.encode())
        if answer is None:
            raise errors.GitError("Git cannot compare two commits: something of them is missing.")
        return answer

    def close(self) -> None:
        if self._process is not None:
            process.end(self._process)
            self._process = None

    def _ask(self, question: bytes) -> bytes | None:
        """What git says up to the end of its answer; None if it dies before."""
        if self._process is None:
            with process.starting():
                self._process = self._git.runner.start(*_DIFF)
        stdin = cast(io.BufferedWriter, self._process.stdin)
        output = cast(io.BufferedReader, self._process.stdout)
        # If it dies at once, that shows below.
        with contextlib.suppress(BrokenPipeError):
            stdin.write(question + _END)
            stdin.flush()
        answer = bytearray()
        while not answer.endswith(_END):
            chunk = output.read1(objects.CHUNK_BYTES)
            if not chunk:
                self.close()
                return None
            answer += chunk
        return bytes(answer[: -len(_END)])


def listing(raw: bytes) -> Listing:
    words = raw.split(b"\0")[:-1]
    return list(zip(words[::2], words[1::2], strict=True))


def named(raw: bytes, name: bytes) -> Listing:
    """The files of a name in any directory, found without a look at the thousands of others."""
    found = []
    place = raw.find(name + b"\0")
    while place >= 0:
        path = raw.rfind(b"\0", 0, place) + 1
        about = raw.rfind(b"\0", 0, path - 1) + 1
        if raw[place - 1 : place] in (b"/", b"\0"):
            found.append((raw[about : path - 1], raw[path : place + len(name)]))
        place = raw.find(name + b"\0", place + 1)
    return found
