"""What is said about symbols, as plain values: by Tether's lineage, or by who stands in for it.

The engine is asked in a process of its own for every question, so nothing is kept from one to the
next, and what it needed of time and memory is its own.
"""

from __future__ import annotations

import functools
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence

from tether import errors
from tether.bench.symbols import oracle
from tether.git import Git, Oid
from tether.hints import Any, NamedTuple


class Spot(NamedTuple):
    """A symbol in a file."""

    path: str
    kind: str
    qualified: str
    signature: str = ""
    line: int = 0
    end_line: int = 0

    @property
    def name(self) -> str:
        return self.qualified.rpartition(".")[2]

    @property
    def container(self) -> str:
        return self.qualified.rpartition(".")[0]


class Change(NamedTuple):
    """A commit that is said to have changed a symbol; without kinds it is not said how."""

    commit: str
    kinds: frozenset[str] = frozenset()
    before: Spot | None = None
    after: Spot | None = None


class Match(NamedTuple):
    """Two symbols that are said to have to do with each other."""

    before: Spot | None
    after: Spot | None
    relation: str
    kinds: frozenset[str] = frozenset()


class Engine(NamedTuple):
    """Who is asked."""

    trace: Callable[[str, oracle.Question], list[Change]]
    compare: Callable[[str, Oid, Oid | None], list[Match]]
    prepare: Callable[[str, str], None] = lambda *_: None
    """What is done once for a repository and a kind of file, and is no part of a question."""


class Cost(NamedTuple):
    """What an answer took."""

    seconds: float
    peak_mb: float = 0.0
    children_peak_mb: float = 0.0


class Told(NamedTuple):
    """An answer, or why there is none."""

    changes: tuple[Change, ...] = ()
    matches: tuple[Match, ...] = ()
    cost: Cost = Cost(0.0)
    error: str = ""


def tether() -> Engine:
    """Tether itself."""
    from tether.lineage import commits, grammars, languages, tracing

    repository_at = functools.cache(Git)

    def trace(repository: str, question: oracle.Question) -> list[Change]:
        found = tracing.trace(
            repository_at(repository),
            question.commit,
            question.path,
            question.first_line,
            question.last_line,
        )
        return [
            Change(each.commit, frozenset(each.kinds), _spot(each.before), _spot(each.after))
            for each in found.changes
        ]

    def compare(repository: str, commit: Oid, parent: Oid | None) -> list[Match]:
        return [
            Match(_spot(each.before), _spot(each.after), each.relation, frozenset(each.kinds))
            for each in commits.compare(repository_at(repository), commit, parent)
        ]

    def prepare(repository: str, path: str) -> None:
        # The same is done for Git in `git_lines`.
        repository_at(repository).runner.call("rev-parse", "--git-dir")
        language = languages.of_path(path)
        if language is not None:
            grammars.load(language)

    return Engine(trace, compare, prepare)


def traced(engine: Engine, repository: str, question: oracle.Question) -> Told:
    """What the engine says of a symbol's history."""
    engine.prepare(repository, question.path)
    rows, cost, error = _alone(lambda: engine.trace(repository, question))
    changes = [
        Change(commit, frozenset(kinds), _read_spot(before), _read_spot(after))
        for commit, kinds, before, after in rows
    ]
    return Told(changes=tuple(changes), cost=cost, error=error)


def compared(engine: Engine, repository: str, commit: Oid, parent: Oid | None) -> Told:
    """What the engine says of a commit."""
    rows, cost, error = _alone(lambda: engine.compare(repository, commit, parent))
    matches = [
        Match(_read_spot(before), _read_spot(after), relation, frozenset(kinds))
        for before, after, relation, kinds in rows
    ]
    return Told(matches=tuple(matches), cost=cost, error=error)


def _spot(place: Any) -> Spot | None:
    if place is None:
        return None
    return Spot(
        place.path, place.kind, place.qualified, place.signature, place.line, place.end_line
    )


def _read_spot(row: list[Any] | None) -> Spot | None:
    return None if row is None else Spot(*row)


def _alone(work: Callable[[], Sequence[Any]]) -> tuple[list[Any], Cost, str]:
    """What a function gives in a process of its own, which takes with it what it learnt.

    Raises RuntimeError if that process dies.
    """
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        _answer(writing, work)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        told = file.read()
    _, status = os.waitpid(child, 0)
    if status or not told:
        raise RuntimeError(f"The engine died with status {status}: what it says is above.")
    rows, cost, error = json.loads(told)
    return rows, Cost(*cost), error


def _answer(writing: int, work: Callable[[], Sequence[Any]]) -> None:
    """Work, write down what came of it, and end; never return."""
    code = 1
    try:
        rows: Sequence[Any] = ()
        error = ""
        start = time.perf_counter()
        try:
            rows = work()
        except errors.TetherError as problem:
            error = problem.message
        seconds = time.perf_counter() - start
        whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        cost = Cost(seconds, *(_megabytes(resource.getrusage(who).ru_maxrss) for who in whose))
        with os.fdopen(writing, "wb") as file:
            file.write(json.dumps([rows, cost, error], default=sorted).encode("ascii"))
        code = 0
    except BaseException:  # noqa: BLE001 (shown, and the parent fails)
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)


def _megabytes(peak: int) -> float:
    """Linux counts in kilobytes, macOS in bytes."""
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)
