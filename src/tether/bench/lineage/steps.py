"""What is measured of a first index, each step in a process of its own.

The floors read and parse the same contents in the same order as the index does, each once: bare, by
the parser alone, and with the outline that is made of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable

from tether import index, text
from tether.bench import processes
from tether.bench.lineage import costs, scene
from tether.git import Git, Oid
from tether.hints import Any
from tether.lineage import (
    chronicler,
    commits,
    extracting,
    following,
    grammars,
    languages,
    library,
    symbols,
)

# Everything that a question may ask for, by names that are the same in every index.
_SAID = (
    """
    SELECT c.oid, n.key, e.kinds, e.added, e.removed, e.digest FROM identity_events AS e
    JOIN identity_commits AS c ON c.number = e.commit_no JOIN lineage_nodes AS n ON n.id = e.node
    ORDER BY 1, 2, 3, 4, 5, 6
    """,
    """
    SELECT s.path, c.oid, s.oid, s.taken, n.key FROM identity_steps AS s
    JOIN identity_commits AS c ON c.number = s.commit_no
    LEFT JOIN identity_events AS e ON e.number = s.file
    LEFT JOIN lineage_nodes AS n ON n.id = e.node ORDER BY 1, 2
    """,
    """
    SELECT c.oid, p.place, o.oid FROM identity_parents AS p
    JOIN identity_commits AS c ON c.number = p.child
    JOIN identity_commits AS o ON o.number = p.parent ORDER BY 1, 2
    """,
)
_NO_OUTLINE = symbols.Outline()


class _Bare:
    """Parses and leaves it at that."""

    def __init__(self) -> None:
        self.count = self.bytes = 0

    def outline(
        self, oid: Oid, language: languages.Language, data: bytes
    ) -> symbols.Outline | None:
        del oid
        self.count, self.bytes = self.count + 1, self.bytes + len(data)
        self._do(language, data)
        return _NO_OUTLINE

    def part(self, oid: Oid, language: languages.Language, data: bytes) -> symbols.Outline | None:
        return self.outline(oid, language, data)

    def _do(self, language: languages.Language, data: bytes) -> None:
        grammars.load(language).parser.parse(data)


class _Reading(_Bare):
    def _do(self, language: languages.Language, data: bytes) -> None:
        pass


class _Outlining(_Bare):
    def _do(self, language: languages.Language, data: bytes) -> None:
        extracting.extract(language, data)


def contents(git: Git, tip: Oid) -> dict[Oid, str]:
    """All contents of a history that symbols are looked for in, each with the first of its paths.

    In their order, as the index parses them.
    """
    found: dict[Oid, str] = {}
    for commit in git.log([tip], parents_first=True, with_merges=True):
        for change in commit.changes:
            if change.new_mode.startswith("100") and commits.code_files([change]):
                found.setdefault(change.new_oid, change.path)
    return found


def _floor(kind: type[_Bare]) -> Callable[[str, str], dict[str, Any]]:
    def work(place: str, store_dir: str) -> dict[str, Any]:
        del store_dir
        git, parser = Git(place), kind()
        wanted = list(contents(git, git.resolve("HEAD")).items())
        files = library.Library(git, parser)

        def read() -> None:
            files.expect((path, oid) for oid, path in wanted)
            for oid, path in wanted:
                files.source(path, oid)

        try:
            _, cost = costs.of(read)
        finally:
            files.close()
        return {
            **cost._asdict(),
            "contents": len(wanted),
            "blobs": parser.count,
            "bytes": parser.bytes,
        }

    return work


def _identities(place: str, store_dir: str) -> dict[str, Any]:
    built, cost = costs.of(lambda: following.bring(place, store_dir, Git(place).resolve("HEAD")))
    return {**cost._asdict(), "commits": built.commits, "events": built.events}


def _edges(place: str, store_dir: str) -> dict[str, Any]:
    """What remains when the identities are there: first what Git tells of tasks, then the edges."""
    with scene.opened(place, os.environ, store_dir) as opened:
        who = opened.who
        tip = who.git.resolve("HEAD")

        def work() -> tuple[costs.Cost, chronicler.Brought]:
            _, looked = costs.of(who.sources.look)
            return looked, who.rebuild(tip)

        (looked, brought), cost = costs.of(work)
    if brought.derived is None:
        raise processes.Failed("the edges could not be written")
    return {
        **cost._asdict(),
        "inputs": brought.derived.inputs,
        "history_cpu_seconds": looked.cpu_seconds,
    }


def _digest(place: str, store_dir: str) -> dict[str, Any]:
    """What an index knows of identities, in a few letters: the same however it was made."""
    del place
    path = os.path.join(store_dir, index.FILE_NAME)
    digest = hashlib.blake2b(digest_size=16)
    count = 0
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for statement in _SAID:
            for row in connection.execute(statement):
                digest.update(repr(row).encode())
                count += 1
    return {"rows": count, "digest": digest.hexdigest()}


STEPS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "read": _floor(_Reading),
    "parse": _floor(_Bare),
    "outline": _floor(_Outlining),
    "identities": _identities,
    "edges": _edges,
    "digest": _digest,
}


def run(ground: processes.Ground, name: str, store_dir: str) -> dict[str, Any]:
    """Have a step done by another process; its figures."""
    done = subprocess.run(
        words(name, ground.place, store_dir),
        env=dict(ground.environ),
        check=False,
        capture_output=True,
    )
    if done.returncode:
        why = text.one_line(done.stderr.decode("utf-8", "replace")[-300:], 300)
        raise processes.Failed(f"{name}: exit code {done.returncode}: {why}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def words(name: str, place: str, store_dir: str) -> list[str]:
    """What starts a step."""
    return [sys.executable, "-m", "tether.bench.lineage.steps", name, place, store_dir]


def main() -> None:
    """One step of one repository, with its figures as JSON."""
    name, place, store_dir = sys.argv[1:]
    json.dump(STEPS[name](place, store_dir), sys.stdout)


if __name__ == "__main__":
    main()
