"""A program that is refactored commit by commit, in a real repository, and what is told of it."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.programs import catalogue, hands, judging, making, truth
from tests.programs.truth import Version
from tether import git
from tether.git import importing
from tether.lineage import commits, history, tracing

Event = tuple[int, frozenset[str]]
"""The number of a commit and the kinds of change that it made."""


class Scribe(NamedTuple):
    """Who wrote the commits and when: all that a rebase changes."""

    name: str = "Anna"
    begin: int = 1_790_000_000
    step_seconds: int = 60
    words: str = "Change"


ANNA = Scribe()


class Past(NamedTuple):
    """The versions of a program, the oldest first."""

    versions: list[Version]
    done: list[str]

    @property
    def last(self) -> Version:
        return self.versions[-1]

    def events(self, number: int) -> list[Event]:
        """What happened to a symbol, the newest first, by the truth."""
        found: list[Event] = []
        previous: truth.Fact | None = None
        for index, version in enumerate(self.versions):
            fact = version.facts.get(number)
            if fact is not None:
                kinds = truth.kinds(previous, fact) if previous else {"introduced"}
                found += [(index, frozenset(kinds))] if kinds else []
            previous = fact
        return found[::-1]

    def ambiguous(self) -> set[int]:
        """Those of which nobody could tell in every commit that they are the same."""
        steps = map(truth.ambiguous, self.versions, self.versions[1:])
        return {number for step in steps for number in step}


def lived(shape: making.Shape, seed: int, steps: Iterable[str], language: str) -> Past:
    """A program after each of some refactorings, those left out that cannot be done to it."""
    maker = making.Maker(seed)
    program = maker.program(shape)
    past = Past([Version(program, language)], ["begin"])
    for name in steps:
        hand = hands.Hand(program, maker)
        if catalogue.REFACTORINGS[name](hand) is not None:
            program = hand.program
            past.versions.append(Version(program, language))
            past.done.append(name)
    return past


class Repository(NamedTuple):
    git: git.Git
    commits: list[git.Oid]

    def events(self, told: history.History) -> list[Event]:
        return [
            (self.commits.index(each.commit), frozenset(map(str, each.kinds)))
            for each in told.changes
        ]

    def heard(self, past: Past, number: int) -> judging.Told:
        """What is told of a commit that has a parent."""
        matches = commits.compare(self.git, self.commits[number], self.commits[number - 1])
        return judging.heard(past.versions[number - 1], past.versions[number], matches)

    def histories(self, version: Version) -> dict[int, history.History]:
        """The history of each symbol of the last commit, followed backwards."""
        found = {}
        for number, spot in version.printed.spots.items():
            last = spot.line if version.facts[number].sort == "class" else spot.end_line
            found[number] = tracing.trace(self.git, self.commits[-1], spot.path, spot.line, last)
        return found


def written(past: Past, directory: Path, scribe: Scribe = ANNA) -> Repository:
    """Each version is a commit of a new repository."""
    made = git.init(directory, bare=True)
    marks = importing.import_stream(directory, _stream(past.versions, scribe))
    return Repository(made, [marks[number] for number in sorted(marks)])


def merged(ours: Past, theirs: Past, directory: Path) -> Repository:
    """Two pasts that begin alike, on two branches, and a merge of both by real git.

    Where both changed the same lines, ours win; where git cannot merge at all, ours is taken whole.
    """
    made = git.init(directory)
    first = len(ours.versions)
    marks = importing.import_stream(
        directory,
        itertools.chain(
            _stream(ours.versions, ANNA),
            _stream(theirs.versions[1:], ANNA, "side", first, begins_at=1),
        ),
    )
    _git(directory, "reset", "-q", "--hard", "main")
    if _git(directory, "merge", "-q", "-X", "ours", "-m", "Merge", "side"):
        _git(directory, "reset", "-q", "--hard", "main")
        _git(directory, "merge", "-q", "-s", "ours", "-m", "Merge", "side")
    commits = [marks[number] for number in sorted(marks)]
    return Repository(made, [*commits, made.resolve("main")])


def _git(directory: Path, *words: str) -> int:
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    who = {
        f"GIT_{role}_{part}": "a@b"
        for role in ("AUTHOR", "COMMITTER")
        for part in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ["git", *words], cwd=directory, env={**own, **who}, check=False, capture_output=True
    )
    return done.returncode


def _stream(
    versions: Sequence[Version],
    scribe: Scribe,
    branch: str = "main",
    first: int = 0,
    begins_at: int = 0,
) -> Iterator[bytes]:
    """Commits with marks, on a branch that may begin at a mark."""
    for number, version in enumerate(versions, start=first):
        at = scribe.begin + number * scribe.step_seconds
        message = f"{scribe.words} {number}".encode()
        yield b"commit refs/heads/%s\nmark :%d\n" % (branch.encode(), number + 1)
        yield f"committer {scribe.name} <{scribe.name}@example.org> {at} +0000\n".encode()
        yield b"data %d\n%s\n" % (len(message), message)
        if begins_at and number == first:
            yield b"from :%d\n" % begins_at
        yield b"deleteall\n"
        for path, data in version.printed.files.items():
            yield b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data)


def disagreements(
    past: Past, repository: Repository, histories: Mapping[int, history.History]
) -> list[str]:
    """Where a history lacks a commit, has one too many, or tells another kind of change."""
    found = []
    for number in past.last.facts.keys() - past.ambiguous():
        told, true = repository.events(histories[number]), past.events(number)
        if not _is_told(true, told):
            fact = past.last.facts[number]
            found.append(
                f"{fact.container}.{fact.name}({number}) {_words(told)}, not {_words(true)}"
            )
    return found


def _is_told(true: list[Event], told: list[Event]) -> bool:
    """The same commits with the same kinds; what changed may have got another layout with that."""
    return len(true) == len(told) and all(
        one[0] == other[0] and one[1] <= other[1] <= one[1] | {"formatting"}
        for one, other in zip(true, told, strict=True)
    )


def _words(events: list[Event]) -> str:
    return " ".join(f"{index}:{'+'.join(sorted(kinds))}" for index, kinds in events) or "nothing"
