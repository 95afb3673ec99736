"""Every type of edge is made by something that people and agents do."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Tether
from tether import ids, index
from tether.lineage.closures import shared
from tether.lineage.edges import model, reading, view

GitCall = Callable[..., str]
ONE, TWO, THREE = "T20260101-aaaaa1", "T20260102-aaaaa2", "T20260103-aaaaa3"
FOUR, FIVE = "T20260104-aaaaa4", "T20260105-aaaaa5"
DECISION = """# 0001: one threshold

Status: Accepted 2026-01-04
Governs: `src/alarm.py`

## Decision

There is one threshold for all sensors.
"""
LATER = """# 0002: a threshold for each sensor

Status: Accepted 2026-01-05, supersedes 0001

## Decision

Each sensor has its own threshold.
"""


class Scene:
    """A repository in which everything happens once."""

    def __init__(self, path: Path, git: GitCall, tether: Tether) -> None:
        self.path, self._git, self._tether = path, git, tether

    def do(self, *words: str, **env: str) -> None:
        ended = self._tether(*words, "--json", cwd=self.path, env=env)
        assert ended.code == 0, ended.out + ended.err

    def write(self, name: str, content: str) -> None:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)

    def commit(self, message: str) -> None:
        self._git("add", "-A", cwd=self.path)
        self._git("commit", "-qm", message, cwd=self.path)

    def task(self, task: str, title: str, description: str, *words: str) -> None:
        self.do("task", "new", title, "--id", task, "--description", description, *words)


@pytest.fixture
def told(repo: Path, git: GitCall, tether: Tether) -> set[tuple[str, str]]:
    """The types of all edges, each with what it was derived by."""
    scene = Scene(repo, git, tether)
    scene.do("init", "--yes")
    alarm = "def ring(at):\n    limit = 0\n    return at < limit and 'ring'\n"
    scene.write("src/alarm.py", alarm)
    scene.write("src/old.py", "def beep(times):\n    return 'beep' * times\n")
    scene.commit(f"Ring and beep [{ONE}]")
    scene.write("src/alarm.py", alarm.replace("limit = 0", "limit = 2"))
    (repo / "src/old.py").unlink()
    scene.commit(f"Ring earlier [{TWO}]")
    scene.write("src/alarm.py", alarm)
    scene.write("docs/decisions/0001-one.md", DECISION)
    scene.write("docs/decisions/0002-each.md", LATER)
    scene.write("README.md", "# Weather\n\n`ring()` tells when it freezes.\n")
    scene.commit(f"Ring at zero again [{THREE}]")
    scene.task(ONE, "Ring", "It rings.", "--context", "src/alarm.py")
    scene.task(TWO, "Ring earlier", f"Builds on {ONE}. See {FIVE}.", "--depends-on", ONE)
    scene.task(THREE, "Ring at zero", f"This was motivated by {TWO}. It contradicts {FIVE}.")
    scene.task(FOUR, "Ring as before", f"This supersedes {TWO}.", "--parent", THREE)
    scene.task(FIVE, "Ring for ever", "It never stops.")
    scene.do("task", "note", FOUR, f"Review: the same mistake as in {ONE}.")
    relations = (
        "same_as:\n  - {from: 'src/old.py#beep', to: 'src/alarm.py#ring', why: 'rewritten'}\n"
    )
    scene.write("work/lineage.yaml", relations)
    links = {"links": [{"subject": ONE, "type": "references", "object": FOUR}]}
    scene.write("links.json", json.dumps(links))
    settings = (repo / "tether.toml").read_text()
    scene.write("tether.toml", settings + '\n[lineage]\nlinks = "links.json"\n')
    scene.do("agent", "register", "--session", "s1", "--name", "anna")
    scene.do("agent", "register", "--session", "s2", "--name", "ben", "--parent", "s1")
    scene.do("claim", THREE, TETHER_SESSION="s1", TETHER_AGENT="anna")
    scene.do("claim", FIVE, TETHER_SESSION="s2", TETHER_AGENT="ben")
    scene.do("lineage", "rebuild")
    path = repo / ".git/tether" / index.FILE_NAME
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return _all(view.View(connection, scopes=("", str(repo)), min_confidence=0.0))


def _all(seen: view.View) -> set[tuple[str, str]]:
    found = {(each.type, each.source) for each in reading.raw(seen, limit=2000).edges}
    one = model.task_key(shared_key(ONE))
    return found | {(each.type, "") for each in shared.co_touches(seen, one).found}


def shared_key(task: str) -> ids.TaskKey:
    return ids.TaskKey(ids.OWN_SOURCE, task)


def test_every_type_is_made_by_something(told: set[tuple[str, str]]) -> None:
    assert {kind for kind, _ in told} == set(model.TYPES)


def test_every_deriver_makes_something(told: set[tuple[str, str]]) -> None:
    assert {source for _, source in told} - {""} == set(model.DERIVERS)


@pytest.mark.parametrize(
    "wanted",
    [
        ("created", "commit-grep"),
        ("touched", "kg-attribution"),
        ("deleted", "kg-attribution"),
        ("reverts", "diff-reversal"),
        ("extends", "task-text"),
        ("motivates", "task-text"),
        ("supersedes", "task-text"),
        ("contradicts", "task-text"),
        ("supersedes", "adr-text"),
        ("governs", "adr-text"),
        ("blocks", "declared"),
        ("declared", "declared"),
        ("same_as", "declared"),
        ("follows-up", "runtime-link"),
        ("runtime-parent", "runtime-link"),
        ("cited-in-review", "review-cite"),
        ("describes", "doc-mention"),
        ("references", "external"),
    ],
)
def test_each_is_made_by_the_deriver_that_it_belongs_to(
    told: set[tuple[str, str]], wanted: tuple[str, str]
) -> None:
    assert wanted in told
