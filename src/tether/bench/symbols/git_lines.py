"""What Git itself says of the history of lines: `git log -L`, in the same run."""

from __future__ import annotations

import time

from tether import errors
from tether.bench.symbols import oracle, said
from tether.git import Git
from tether.hints import NamedTuple


class Lines(NamedTuple):
    """Git's answer."""

    changes: tuple[said.Change, ...] = ()
    """Without merges, which Git lists where a side brings the change: it is better without them."""
    merges: tuple[said.Change, ...] = ()
    seconds: float = 0.0
    error: str = ""


def log(repository: str, question: oracle.Question) -> Lines:
    """The commits that changed these lines."""
    runner = Git(repository).runner
    # What is asked once for a repository is no part of the question.
    runner.call("rev-parse", "--git-dir")
    where = f"-L{question.first_line},{question.last_line}:{question.path}"
    words = ("log", where, "--format=%H %P", "-s", "--end-of-options", question.commit)
    printed: list[bytes] = []
    error = ""
    start = time.perf_counter()
    try:
        with runner.stream(*words) as output:
            printed.extend(output)
    except errors.GitError as problem:
        # What it said before it met content that is missing counts.
        error = problem.message
    seconds = time.perf_counter() - start
    return read(printed)._replace(seconds=seconds, error=error)


def read(printed: list[bytes]) -> Lines:
    """Commits with their parents, one a line, the newest first."""
    rows = [words for line in printed if (words := line.decode("ascii").split())]
    changes = [said.Change(words[0]) for words in rows if len(words) <= 2]
    merges = [said.Change(words[0]) for words in rows if len(words) > 2]
    return Lines(tuple(changes), tuple(merges))
