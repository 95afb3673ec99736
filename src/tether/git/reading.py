"""One object after another from one long-lived git, where one question leads to the next."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Sequence
from typing import cast

from tether import errors
from tether.git import objects, process
from tether.git.objects import Oid
from tether.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from tether.git import repository

_ATTEMPTS = 2
# As many questions as fit into a pipe without waiting for answers.
_AT_ONCE = 256


class Reader:
    """Reads objects of one repository until it is closed."""

    def __init__(self, git: repository.Git) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None

    def blob(self, oid: Oid, max_bytes: int) -> objects.Blob:
        """A file's content, or why it cannot be had."""
        return self._ask(Oid(oid), oid, max_bytes)

    def blobs(self, oids: Sequence[Oid], max_bytes: int) -> list[objects.Blob]:
        """Several at once, which takes git less time than one after the other."""
        found: list[objects.Blob] = []
        for first in range(0, len(oids), _AT_ONCE):
            some = oids[first : first + _AT_ONCE]
            output = self._put("\n".join(map(Oid, some)))
            for oid in some:
                blob = objects.read_blob(oid, output, max_bytes)
                if blob is None:  # it died, see below
                    self.close()
                    break
                found.append(blob)
            found += [self.blob(oid, max_bytes) for oid in oids[len(found) : first + len(some)]]
        return found

    def at(self, commit: Oid, path: str, max_bytes: int) -> objects.Blob | None:
        """What a commit has at a path; None if it has nothing there."""
        if "\n" in path:  # questions are lines
            entry = self._git.entries(commit, [path])[path]
            return self.blob(entry.oid, max_bytes) if entry else None
        found = self._ask(f"{Oid(commit)}:{path}", None, max_bytes)
        return None if found.why_missing == "missing" else found

    def parents(self, commit: Oid) -> tuple[Oid, ...] | None:
        """The parents that a commit names; None if it is not here."""
        data = self._ask_any(Oid(commit))
        if data is None:
            return None
        head = data.partition(b"\n\n")[0].split(b"\n")
        words = [line.split() for line in head if line.startswith(b"parent ")]
        return tuple(Oid(objects.as_line(word[1])) for word in words)

    def message(self, commit: Oid) -> bytes:
        """What a commit says; nothing if it is not here."""
        return (self._ask_any(Oid(commit)) or b"").partition(b"\n\n")[2]

    def close(self) -> None:
        if self._process is not None:
            process.end(self._process)
            self._process = None

    def _ask(self, question: str, oid: Oid | None, max_bytes: int) -> objects.Blob:
        for _ in range(_ATTEMPTS):
            output = self._put(question)
            header = output.readline()
            words = header.split()
            if len(words) == 3 and header.endswith(b"\n"):
                found = oid or Oid(objects.as_line(words[0]))
                blob = objects.read_content(found, words[1], int(words[2]), output, max_bytes)
                if blob is not None:
                    return blob
            elif header.endswith(b" missing\n"):
                break
            # It dies at an object that a partial clone does not have.
            self.close()
        return objects.Blob(oid or self._git.runner.facts.null, None, "missing")

    def _ask_any(self, oid: Oid) -> bytes | None:
        output = self._put(oid)
        header = output.readline()
        if not header:  # it died, see above
            self.close()
        words = header.split()
        if len(words) != 3:
            return None
        data = output.read(int(words[2]) + 1)[:-1]
        return data if words[1] == b"commit" else None

    def _put(self, question: str) -> io.BufferedReader:
        if self._process is None:
            with process.starting():
                self._process = self._git.runner.start("cat-file", "--batch")
        stdin = cast(io.BufferedWriter, self._process.stdin)
        try:
            stdin.write(objects.path_bytes(question) + b"\n")
            stdin.flush()
        except BrokenPipeError:
            self.close()
            raise errors.GitError("Git ended while it was asked for objects.") from None
        return cast(io.BufferedReader, self._process.stdout)
