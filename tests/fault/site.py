"""What the fault tests of the room `evidence` share: a repository, a home of agents, a witness.

`python -m tests.fault.site REPO HOME OWN` looks once, in a process of its own, and prints what it
saw as JSON: a digest of all lives, the problems, and how much memory that took.
"""

from __future__ import annotations

import hashlib
import json
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests import trails
from tether import ids, workspace
from tether.evidence import timeline, witness
from tether.store import sqlite

ROOT = Path(__file__).parents[2]
TASKS = ("H.1.1", "H.1.2", "H.1.3")
OTHER = "1c6b2e0f-1111-4222-8333-444455556666"
TRACK = "plans/TRACK-H-HOUSE.md"
Git = Callable[..., str]


class Told(NamedTuple):
    """What a witness says."""

    lives: dict[str, timeline.Timeline]
    problems: tuple[str, ...]
    held: str
    """Everything in the index, in an order that does not depend on when it was written."""

    def whats(self, task: str) -> list[str]:
        return [each.what for each in self.lives[task].activities]

    def counts(self, source: str = "claude:transcript") -> dict[str, int]:
        """How many activities each task has from a source."""
        return {
            task: sum(each.source == source for each in life.activities)
            for task, life in self.lives.items()
        }

    @property
    def digest(self) -> str:
        return hashlib.sha256(repr(self.lives).encode("utf-8", "backslashreplace")).hexdigest()


class Talk(trails.Transcript):
    """A transcript with its file."""

    def __init__(self, home: Path, repo: Path, session: str = trails.SESSION) -> None:
        super().__init__(repo, session)
        self.path = trails.claude_file(home, repo, session)

    def add(self, *lines: str | bytes) -> None:
        with self.path.open("ab") as file:
            for line in lines:
                file.write(line.encode() if isinstance(line, str) else line)


class Site:
    """A repository in which agents work; what a witness finds is kept in directories of ours."""

    def __init__(self, repo: Path, home: Path, own: Path) -> None:
        self.repo = repo
        self.home = home
        self.own = own

    def talk(self, session: str = trails.SESSION) -> Talk:
        return Talk(self.home, self.repo, session)

    def witness(self, own: Path | None = None) -> witness.Witness:
        place = own or self.own
        place.mkdir(parents=True, exist_ok=True)
        here = workspace.find(str(self.repo), store_dir=str(place))
        store = sqlite.SqliteStore(here, wait_seconds=10)
        return trails.witness_of(self.repo, self.home, store, store_dir=place)

    def look(self, own: Path | None = None, tasks: tuple[str, ...] = TASKS) -> Told:
        watching = self.witness(own)

        def read(connection: sqlite3.Connection) -> tuple[dict[str, timeline.Timeline], str]:
            keys = [ids.TaskKey("track", task) for task in tasks]
            store = watching._store  # the witness has no list of tasks to ask for at once
            lives = {key.id: timeline.read(connection, store, key, (key.id,)) for key in keys}
            return lives, dump(connection)

        lives, found = watching.ask(read)
        told = [
            f"{Path(each.path).name} {each.where}: {each.message}"
            for each in watching.looked.problems
        ]
        return Told(lives, tuple(told), found)

    def fresh(self, tasks: tuple[str, ...] = TASKS) -> Told:
        """What somebody sees who has never looked before."""
        number = sum(1 for each in self.own.parent.iterdir() if each.name.startswith("fresh"))
        return self.look(self.own.parent / f"fresh{number}", tasks)

    def command(self, own: Path | None = None) -> list[str]:
        """A look in a process of its own."""
        words = (str(self.repo), str(self.home), str(own or self.own))
        return [sys.executable, "-m", "tests.fault.site", *words]

    def look_elsewhere(self, own: Path | None = None, *, seconds: float = 60) -> dict[str, Any]:
        """What such a process prints. If it hangs, that is an error."""
        done = subprocess.run(
            self.command(own), cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=True
        )
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def make(base: Path, git: Git) -> Site:
    """A site with a track and one commit for a task of it."""
    repo, home = base / "repo", base / "home"
    repo.mkdir()
    home.mkdir(exist_ok=True)
    git("init", "-q", "-b", "main", cwd=repo)
    (repo / "plans").mkdir()
    (repo / TRACK).write_text("# Track H\n\n" + "".join(f"- [ ] {task} It\n" for task in TASKS))
    git("add", "-A", cwd=repo)
    git("commit", "-qm", "Plan", cwd=repo)
    (repo / "code.py").write_text("1\n")
    git("add", "-A", cwd=repo)
    git("commit", "-qm", "feat(H.1.1): Begin", cwd=repo)
    return Site(repo, home, base / "own")


def dump(connection: sqlite3.Connection) -> str:
    rows = connection.execute(
        "SELECT path, a.start, place, record, task_source, task, kind, what, at, a.session, text,"
        " a.files FROM activities AS a JOIN evidence_files AS f ON f.id = a.file"
    )
    edits = connection.execute(
        "SELECT f.path, start, end, e.path, at FROM edits AS e"
        " JOIN evidence_files AS f ON f.id = e.file"
    )
    known = connection.execute(
        "SELECT path, source, is_ours, offset, anchor, state, facts, session, problems"
        " FROM evidence_files"
    )
    return json.dumps([sorted(each.fetchall()) for each in (rows, edits, known)], indent=0)


def memory_bytes() -> int:
    """The most that this process ever had. What `resource` says begins with that of its parent."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def main(repo: str, home: str, own: str) -> None:
    told = Site(Path(repo), Path(home), Path(own)).look()
    report = {
        "digest": told.digest,
        "counts": told.counts(),
        "commits": told.counts("git:commit"),
        "problems": told.problems,
        "memory_bytes": memory_bytes(),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
