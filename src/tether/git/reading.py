"""One object after another from one long-lived git, where one question leads to the next."""

from __future__ import annotations

import contextlib
import io
import subprocess
from collections import deque
from collections.abc import Sequence
from typing import cast

from tether import errors
from tether.git import objects, process
from tether.git.objects import Oid
from tether.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from tether.git import repository

_ATTEMPTS = 2


class Reader:
    """Reads objects of one repository until it is closed."""

    def __init__(self, git: repository.Git) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None
        self._asked: deque[tuple[Oid, int]] = deque()
        """What git was asked for ahead and has not been read yet, with its largest size."""
        self._early: deque[objects.Blob] = deque()
        """What was read before it was wanted, because another answer came behind it."""

    def blob(self, oid: Oid, max_bytes: int) -> objects.Blob:
        """A file's content, or why it cannot be had."""
        return self._ask(Oid(oid), oid, max_bytes)

    def ask_ahead(self, oids: Sequence[Oid], max_bytes: int) -> None:
        """Let git read some files while something else is done; `receive` gives them in turn."""
        self._asked += [(oid, max_bytes) for oid in oids]
        # If git has died, that shows when its answers are read.
        with contextlib.suppress(BrokenPipeError):
            self._write("\n".join(map(Oid, oids)))

    def receive(self) -> objects.Blob:
        """The next one of what was asked for ahead."""
        if not self._early:
            self._receive()
        return self._early.popleft()

    def _receive(self) -> None:
        oid, max_bytes = self._asked.popleft()
        blob = objects.read_blob(oid, self._output, max_bytes)
        if blob is not None:
            self._early.append(blob)
            return
        # It dies at an object that a partial clone does not have: now one after another.
        again = [(oid, max_bytes), *self._asked]
        self.close()
        self._early += [self.blob(*each) for each in again]

    def at(self, commit: Oid, path: str, max_bytes: int) -> objects.Blob | None:
        """What a commit has at a path; None if it has nothing there.

        What it has and this clone has not is missing, without its id if that is not known either.
        """
        if "\n" in path:  # questions are lines
            entry = self._git.entries(commit, [path])[path]
            return self.blob(entry.oid, max_bytes) if entry else None
        found = self._ask(f"{Oid(commit)}:{path}", None, max_bytes)
        if found.why_missing != "missing":
            return found
        # Git says the same of a path that is not there and of content that is not here.
        oid = self._named(commit, path)
        return objects.Blob(oid, None, "missing") if oid else None

    def _named(self, commit: Oid, path: str) -> Oid | None:
        """What a commit says is at a path, whether it is here or not; None for nothing."""
        above, _, name = path.rpartition("/")
        tree = self._ask_any(f"{Oid(commit)}:{above}", b"tree")
        if tree is not None:
            return objects.read_tree(tree, len(commit) // 2).get(objects.path_bytes(name))
        is_unknown = not above or self._named(commit, above) is not None
        return self._git.runner.facts.null if is_unknown else None

    def parents(self, commit: Oid) -> tuple[Oid, ...] | None:
        """The parents that a commit names; None if it is not here."""
        data = self._ask_any(Oid(commit), b"commit")
        if data is None:
            return None
        head = data.partition(b"\n\n")[0].split(b"\n")
        words = [line.split() for line in head if line.startswith(b"parent ")]
        return tuple(Oid(objects.as_line(word[1])) for word in words)

    def message(self, commit: Oid) -> bytes:
        """What a commit says; nothing if it is not here."""
        return (self._ask_any(Oid(commit), b"commit") or b"").partition(b"\n\n")[2]

    def close(self) -> None:
        self._asked.clear()
        if self._process is not None:
            process.end(self._process)
            self._process = None

    def _ask(self, question: str, oid: Oid | None, max_bytes: int) -> objects.Blob:
        for _ in range(_ATTEMPTS):
            output = self._put(question)
            header = output.readline()
            if header.endswith(b" missing\n"):
                break
            words = header.split()
            if len(words) == 3 and header.endswith(b"\n"):
                found = oid or Oid(objects.as_line(words[0]))
                blob = objects.read_content(found, words[1], int(words[2]), output, max_bytes)
                if blob is not None:
                    return blob
            # It dies at an object that a partial clone does not have.
            self.close()
        return objects.Blob(oid or self._git.runner.facts.null, None, "missing")

    def _ask_any(self, question: str, kind: bytes) -> bytes | None:
        """An object of a kind as it is; None if there is none of that kind."""
        output = self._put(question)
        header = output.readline()
        if not header:  # it died, see above
            self.close()
        words = header.split()
        if len(words) != 3 or header.endswith(b" missing\n"):
            return None
        data = output.read(int(words[2]) + 1)[:-1]
        return data if words[1] == kind else None

    def _put(self, question: str) -> io.BufferedReader:
        """Where the answer to a question comes; what was asked before it has been read."""
        while self._asked:
            self._receive()
        try:
            self._write(question)
        except BrokenPipeError:
            self.close()
            raise errors.GitError("Git ended while it was asked for objects.") from None
        return self._output

    def _write(self, question: str) -> None:
        if self._process is None:
            with process.starting():
                self._process = self._git.runner.start("cat-file", "--batch")
            process.widen(self._output)
        stdin = cast(io.BufferedWriter, self._process.stdin)
        stdin.write(objects.path_bytes(question) + b"\n")
        stdin.flush()

    @property
    def _output(self) -> io.BufferedReader:
        assert self._process is not None  # noqa: S101 - it was asked something
        return cast(io.BufferedReader, self._process.stdout)
