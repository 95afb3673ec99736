"""What tests of derived lineage share: a repository with tasks, and what an index says of it.

Everything runs in this process. What an index says is told by keys, because its numbers are its
own.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

from tests import agency, trails
from tether import clock, config, git, ids, index, workspace
from tether.agents import claims, model, registry
from tether.git import Oid
from tether.lineage import cache, chronicler, identities, kept, library, targets
from tether.lineage.biography import gathering, telling
from tether.lineage.biography import model as story
from tether.lineage.derive import attribution, checkout
from tether.lineage.edges import view
from tether.store import sqlite
from tether.tasks import workdir
from tether.tasks.sources import finding

BEGUN = 1_793_000_000
Said = dict[str, list[str]]

_WHO = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "Anna"), ("EMAIL", "anna@example.com"))
}
# Commits that no branch has any more stay, and nobody comes by them.
_EVIDENCE = """
SELECT e.scope, s.key, e.edge_type, o.key, e.source, e.confidence, e.at, i.deriver, i.scope,
       i.name, v.confidence, v.at, v.pointer, json_remove(v.detail, '$.event'), c.oid
FROM {edges} AS e
JOIN lineage_nodes AS s ON s.id = e.from_id JOIN lineage_nodes AS o ON o.id = e.{to}
LEFT JOIN {evidence} AS v ON v.edge = e.id LEFT JOIN lineage_inputs AS i ON i.id = v.input
LEFT JOIN identity_commits AS c ON c.number = v.commit_no
"""
_TABLES = {
    "edges": _EVIDENCE.format(edges="task_edges", to="to_id", evidence="task_evidence"),
    "code": _EVIDENCE.format(edges="task_code_edges", to="node_id", evidence="code_evidence"),
    "evidence of nothing": (
        "SELECT edge, pointer FROM task_evidence WHERE edge NOT IN (SELECT id FROM task_edges)"
        " UNION SELECT edge, pointer FROM code_evidence"
        " WHERE edge NOT IN (SELECT id FROM task_code_edges)"
    ),
    "inputs": "SELECT deriver, scope, name FROM lineage_inputs",
    "records": (
        "SELECT r.scope, n.key, r.record FROM lineage_records AS r"
        " JOIN lineage_nodes AS n ON n.id = r.node"
    ),
    "credits": (
        "SELECT DISTINCT c.oid, n.key, t.confidence, t.how FROM commit_tasks AS t"
        " JOIN identity_commits AS c ON c.number = t.commit_no"
        " JOIN lineage_nodes AS n ON n.id = t.task"
    ),
    "undone": (
        "SELECT c.oid, o.oid, u.confidence, u.symbols FROM commit_undone AS u"
        " JOIN identity_commits AS c ON c.number = u.commit_no"
        " JOIN identity_commits AS o ON o.number = u.of_no"
        " WHERE c.oid IN (SELECT value FROM json_each(:here))"
    ),
    "flags": "SELECT scope, task, flag, other, confidence, at FROM lineage_flags",
}


def task_id(number: int) -> str:
    return f"T20261101-task{number:02}"


class World:
    """A repository whose clock goes on by a minute with every commit."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.repo = base / "repo"
        self.home = base / "home"
        self.seconds = BEGUN
        self.repo.mkdir(parents=True)
        self.home.mkdir()
        self.git("init", "-q", "-b", "main")
        self.write(".gitignore", "ignored/\n")
        self.commit("Begin")
        self.store = sqlite.SqliteStore(workspace.find(str(self.repo)), wait_seconds=10, time=self)
        self.store.ensure_writable()
        self._held: dict[int, model.Claim] = {}

    def now_ms(self) -> int:
        return self.seconds * 1000

    def close(self) -> None:
        self.store.close()

    # Git

    def git(self, *words: str, cwd: Path | None = None, fails: bool = False) -> str:
        at = f"@{self.seconds} +0000"
        environ = {
            **_WHO,
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": at,
            "GIT_COMMITTER_DATE": at,
        }
        done = subprocess.run(
            ["git", *words],
            cwd=cwd or self.repo,
            env=environ,
            check=not fails,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip() if not done.returncode else ""

    def write(self, name: str, content: str) -> None:
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    def read(self, name: str) -> str:
        path = self.repo / name
        return path.read_text() if path.is_file() else ""

    def commit(self, message: str, *options: str) -> Oid:
        self.seconds += 60
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", *options, "-m", message)
        return self.tip

    def change(self, message: str, **files: str) -> Oid:
        """Write modules and commit them."""
        for name, content in files.items():
            self.write(f"{name}.py", content)
        return self.commit(message)

    @property
    def tip(self) -> Oid:
        return Oid(self.git("rev-parse", "HEAD"))

    # Tasks

    def task(self, number: int, place: str = "inbox", **fields: Any) -> str:
        """A file of a task; its path."""
        found = {
            "id": task_id(number),
            "title": f"Task {number}",
            "status": "done" if place == "done" else "new",
            "created_at": clock.text(self.seconds * 1000),
            **fields,
        }
        for other in ("inbox", "done"):
            (self.repo / f"work/{other}/{task_id(number)}.yaml").unlink(missing_ok=True)
        path = f"work/{place}/{task_id(number)}.yaml"
        self.write(path, json.dumps(found, indent=1))
        return path

    def claim(self, number: int, session: str = "bee") -> None:
        """Somebody who works in this checkout takes a task."""
        self.seconds += 1
        who = registry.Session(ids.SessionId(session), ids.AgentName(session), "other", None, None)
        place = model.Place(str(self.repo), "main", str(self.tip))
        registry.register(self.store, agency.spot(), who, place)
        taken = claims.take(self.store, agency.spot(), session, _key(number))
        assert isinstance(taken, claims.Claimed), taken
        self._held[number] = taken.claim

    def let_go(self, number: int) -> None:
        """Who has a task is done with it."""
        self.seconds += 1
        held = self._held.pop(number)
        closed = claims.close(
            self.store, agency.spot(), held.session_id, held.key, held.epoch, claims.DONE
        )
        assert isinstance(closed, model.Claim), closed

    # Lineage

    def index_dir(self, name: str = "index", *, is_fresh: bool = False) -> Path:
        found = self.base / name
        if is_fresh:
            shutil.rmtree(found, ignore_errors=True)
        found.mkdir(exist_ok=True)
        return found

    def sources(self, store_dir: Path, root: Path | None = None) -> chronicler.Sources:
        top = root or self.repo
        here = workspace.find(str(top), store_dir=str(store_dir))
        witness = trails.witness_of(
            top, self.home, self.store, sources=("work", "track"), store_dir=store_dir
        )
        repository = git.Git(top)
        known = index.Index(str(store_dir))
        settings = config.load(here, {}, may_cache=False)

        def at(commit: Oid) -> checkout.Here:
            lists = finding.read(str(top), [e.name for e in finding.detect(str(top))], known)
            known.close()
            work = workdir.of(str(top), settings)
            return checkout.Here(
                str(top),
                repository,
                commit,
                work,
                lists,
                witness.finder.find,
                witness.finder.stamp,
                ("links.json",),
            )

        return chronicler.Sources(
            str(top),
            str(store_dir),
            str(top),
            "work",
            self.store,
            at,
            lambda: attribution.Claims(self.store, witness.around()),
            lambda: witness.ask_history(lambda _: None),
            witness.roots,
        )

    def follow(self, store_dir: Path, *tips: Oid, root: Path | None = None) -> None:
        """Follow all code up to some commits."""
        outlines = cache.Cached(str(store_dir), library.InThisProcess())
        files = library.Library(git.Git(root or self.repo), outlines)
        known = identities.Identities(str(store_dir))
        try:
            for tip in tips:
                assert known.bring(files, tip).is_kept
        finally:
            known.close()
            files.close()
            outlines.close()

    def bring(self, store_dir: Path, root: Path | None = None) -> None:
        """Follow what is new, and bring the edges forward, as a question does."""
        tip = Oid(self.git("rev-parse", "HEAD", cwd=root or self.repo))
        self.follow(store_dir, tip, root=root)
        room = chronicler.Chronicler(self.sources(store_dir, root), clock.SystemClock())
        assert room.refresh(tip)
        room.close()

    def bring_at_once(self, store_dir: Path, like: Path) -> None:
        """From nothing, all commits that another index knows and that a branch still has."""
        here = set(self.git("rev-list", "--all", "HEAD").split())
        connection = self.connection(like)
        newest = "SELECT oid FROM identity_commits ORDER BY number DESC"
        known = [Oid(oid) for (oid,) in connection.execute(newest) if oid in here]
        connection.close()
        self.follow(store_dir, *known)
        self.bring(store_dir)

    def connection(self, store_dir: Path) -> sqlite3.Connection:
        return sqlite3.connect(store_dir / index.database.FILE_NAME)

    def said(self, store_dir: Path) -> Said:
        """Everything that was derived, by keys."""
        here = json.dumps(self.git("rev-list", "--all", "HEAD").split())
        connection = self.connection(store_dir)
        try:
            return {
                name: sorted(repr(row) for row in connection.execute(query, _bound(query, here)))
                for name, query in _TABLES.items()
            }
        finally:
            connection.close()

    def stories(self, store_dir: Path, root: Path | None = None) -> Said:
        """The biographies of everything that stands in the checkout's commit."""
        top = root or self.repo
        connection = self.connection(store_dir)
        repository = git.Git(top)
        tip = repository.resolve("HEAD")
        number = kept.number_of(connection, tip)
        assert number is not None
        seen = view.View(connection, scopes=("", str(top)), min_confidence=0.5)
        aim = targets.Aim(connection, repository, tip, number)
        found: Said = {}
        try:
            for entry in repository.tree(tip):
                for selector in _selectors(entry.path, self.git("show", f"HEAD:{entry.path}")):
                    told = telling.tell(told_of(seen, repository, aim, selector))
                    found[selector] = [repr(_without_numbers(line)) for line in told.lines]
        finally:
            aim.close()
            connection.close()
        return found


def told_of(seen: view.View, repository: git.Git, aim: targets.Aim, selector: str) -> story.Story:
    return gathering.story(seen, repository, aim.find(selector), aim.line)


def _key(number: int) -> ids.TaskKey:
    return ids.TaskKey("work", task_id(number))


def _bound(query: str, here: str) -> dict[str, str]:
    return {"here": here} if ":here" in query else {}


def _selectors(path: str, content: str) -> list[str]:
    if not path.endswith(".py"):
        return [path]
    names = [
        line.removeprefix("def ").partition("(")[0]
        for line in content.split("\n")
        if line.startswith("def ")
    ]
    return [path, *(f"{path}#{name}" for name in dict.fromkeys(names) if names.count(name) == 1)]


def _without_numbers(line: story.Line) -> tuple[str, list[str]]:
    """A line without what edges are called in this index."""
    return line.text, [s.pointer for s in line.sources if s.pointer[:6] not in ("edge:t", "edge:c")]
