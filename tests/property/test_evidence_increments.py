"""Reading what is new comes to the same as reading everything, whatever happens to the files.

Transcripts grow, tear, are replaced, copied and deleted; commits are made, amended, thrown away. A
witness that looks after some of the steps must say byte for byte what one says that looks once.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from tests import scale, trails
from tests.figures import Figures
from tether import git, ids
from tether.evidence import model
from tether.evidence.history import commits, list_changes

TASKS = ("H.1", "H.1.1", "H.1.10", "H.1.1.1", "AA.2")
TRACK = "plans/TRACK-H-HOUSE.md"
SESSIONS = ("0b5a1d9e-1111-4222-8333-444455556666", "1c6b2e0f-1111-4222-8333-444455556666")

tasks = st.sampled_from(TASKS)
sessions = st.integers(0, len(SESSIONS) - 1)
steps = st.one_of(
    st.tuples(st.just("say"), sessions, tasks),
    st.tuples(st.just("run"), sessions, tasks),
    st.tuples(st.just("edit"), sessions, tasks),
    st.tuples(st.just("list"), sessions, tasks),
    st.tuples(st.just("compact"), sessions, tasks),
    st.tuples(st.just("chat"), sessions, tasks),
    st.tuples(st.just("print"), sessions, tasks),
    st.tuples(st.just("look_up"), sessions, tasks),
    st.tuples(st.just("garble"), sessions, tasks),
    st.tuples(st.just("tear"), sessions, tasks),
    st.tuples(st.just("replace"), sessions, tasks),
    st.tuples(st.just("copy"), sessions, tasks),
    st.tuples(st.just("delete"), sessions, tasks),
    st.tuples(st.just("commit"), sessions, tasks),
    st.tuples(st.just("tick"), sessions, tasks),
    st.tuples(st.just("amend"), sessions, tasks),
    st.tuples(st.just("reset"), sessions, tasks),
    st.tuples(st.just("branch"), sessions, tasks),
    st.tuples(st.just("merge"), sessions, tasks),
    st.tuples(st.just("interrupt"), sessions, tasks),
    st.tuples(st.just("look"), sessions, tasks),
)


class World:
    """A repository with a home of agents, and what may happen to them."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.repo = base / "repo"
        self.home = base / "home"
        self._environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            **{
                f"GIT_{role}_{part}": value
                for role in ("AUTHOR", "COMMITTER")
                for part, value in (("NAME", "T"), ("EMAIL", "t@example.com"))
            },
        }
        self.repo.mkdir()
        self.home.mkdir()
        self.clock = 1_793_000_000
        self.git("init", "-q", "-b", "main")
        (self.repo / "plans").mkdir()
        boxes = "".join(f"- [ ] {task} something\n" for task in TASKS)
        (self.repo / TRACK).write_text(f"# Track\n\n{boxes}")
        self.commit("Begin")
        self.writers = [trails.Transcript(self.repo, session) for session in SESSIONS]
        self.torn = ["" for _ in SESSIONS]
        self.store = trails.store_of(self.repo)
        self.store.ensure_writable()

    def git(self, *words: str) -> str:
        self.clock += 1
        environ = {
            **self._environ,
            "GIT_AUTHOR_DATE": f"@{self.clock} +0000",
            "GIT_COMMITTER_DATE": f"@{self.clock} +0000",
        }
        done = subprocess.run(
            ["git", *words], cwd=self.repo, env=environ, check=True, capture_output=True, text=True
        )
        return done.stdout

    def commit(self, message: str, *options: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", *options, "-m", message)

    def file(self, number: int) -> Path:
        return trails.claude_file(self.home, self.repo, SESSIONS[number])

    def append(self, number: int, line: str) -> None:
        path = self.file(number)
        with path.open("a") as file:
            file.write(self.torn[number] + line)
        self.torn[number] = ""

    def take(self, step: str, number: int, task: str) -> None:
        getattr(self, f"do_{step}")(number, task)

    def do_say(self, number: int, task: str) -> None:
        self.append(number, self.writers[number].said(f"Now {task}, not {task}.77."))

    def do_run(self, number: int, task: str) -> None:
        self.append(
            number, self.writers[number].tool("Bash", command="make", description=f"{task}: Make")
        )

    def do_edit(self, number: int, task: str) -> None:
        self.append(
            number, self.writers[number].tool("Edit", file_path=f"/x/{task}.py", old_string="a")
        )

    def do_list(self, number: int, _task: str) -> None:
        self.append(number, self.writers[number].said("Next: " + ", ".join(TASKS)))

    def do_compact(self, number: int, _task: str) -> None:
        self.append(number, self.writers[number].compaction())

    def do_chat(self, number: int, _task: str) -> None:
        self.append(number, self.writers[number].said("Nothing of note in version 2.1.325."))

    def do_print(self, number: int, task: str) -> None:
        """One record that is longer than the end of a file that is usually looked at."""
        self.append(number, self.writers[number].result(f"{task} {'x' * 600_000}"))

    def do_look_up(self, number: int, task: str) -> None:
        """Many that are longer than it together."""
        writer = self.writers[number]
        for place in range(40):
            self.append(number, writer.tool("Read", f"toolu_{place}", file_path=f"/x/{task}"))
            self.append(number, writer.result("x" * 2000, f"toolu_{place}"))

    def do_garble(self, number: int, task: str) -> None:
        for _ in range(30):
            self.append(number, f"{task} is no record\n")

    def do_tear(self, number: int, task: str) -> None:
        line = self.writers[number].said(f"Half of {task}")
        cut = len(line) // 2
        self.append(number, line[:cut])
        self.torn[number] = line[cut:]

    def do_replace(self, number: int, task: str) -> None:
        self.torn[number] = ""
        other = self.file(number).with_suffix(".new")
        other.write_text(self.writers[number].said(f"Another file, about {task}"))
        other.rename(self.file(number))

    def do_copy(self, number: int, _task: str) -> None:
        path = self.file(number)
        if path.exists():
            shutil.copy(path, path.with_name(f"{SESSIONS[number][:8]}-9999-4222-8333-4444.jsonl"))

    def do_delete(self, number: int, _task: str) -> None:
        self.torn[number] = ""
        self.file(number).unlink(missing_ok=True)

    def do_commit(self, _number: int, task: str) -> None:
        with (self.repo / "code.py").open("a") as file:
            file.write(f"# {self.clock}\n")
        self.commit(f"feat({task}): more")

    def do_tick(self, _number: int, task: str) -> None:
        text = (self.repo / TRACK).read_text()
        (self.repo / TRACK).write_text(text.replace(f"[ ] {task} ", f"[x] {task} "))
        self.commit("Tick")

    def do_amend(self, _number: int, task: str) -> None:
        self.commit(f"fix({task}): amended", "--amend")

    def do_reset(self, _number: int, _task: str) -> None:
        if self.git("rev-list", "--count", "HEAD").strip() != "1":
            self.git("reset", "-q", "--hard", "HEAD~1")

    def do_branch(self, number: int, _task: str) -> None:
        self.git("branch", "-f", f"side-{number}")

    def do_merge(self, number: int, task: str) -> None:
        """Of a commit beside the last one, which changes nothing that others do."""
        aside = f"aside{self.clock}.py"
        self.git("checkout", "-q", "-b", f"aside-{self.clock}")
        name = self.git("symbolic-ref", "--short", "HEAD").strip()
        (self.repo / aside).write_text(f"{number}\n")
        self.commit(f"feat({task}): aside")
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--no-ff", "-m", f"Merge branch '{name}'", name)

    def do_look(self, _number: int, _task: str) -> None:
        self.said(self.base / "old")

    def do_interrupt(self, number: int, _task: str) -> None:
        """Look, and be interrupted when some steps of Git's history are written down."""
        written = 0
        read = list_changes.Lists.read

        def few(lists: list_changes.Lists, found: list[git.Commit]) -> Iterator[model.Activity]:
            nonlocal written
            written += 1
            if written > number + 1:
                raise KeyboardInterrupt
            return read(lists, found)

        with pytest.MonkeyPatch.context() as planted, contextlib.suppress(KeyboardInterrupt):
            planted.setattr(list_changes.Lists, "read", few)
            self.said(self.base / "old")

    def said(self, store_dir: Path, *, is_fresh: bool = False) -> dict[str, Any]:
        """Everything that a witness with the index in this directory says."""
        if is_fresh:
            shutil.rmtree(store_dir, ignore_errors=True)
        store_dir.mkdir(exist_ok=True)
        witness = trails.witness_of(self.repo, self.home, self.store, store_dir=store_dir)
        timelines = {task: repr(witness.timeline(ids.TaskKey("track", task))) for task in TASKS}
        return {"timelines": timelines, "index": witness.ask(dump)}


def dump(connection: sqlite3.Connection) -> str:
    """What the index has, in an order that does not depend on when it was written."""
    rows = connection.execute(
        "SELECT path, a.start, place, record, task_source, task, kind, what, at, a.session, text,"
        " a.files FROM activities AS a JOIN evidence_files AS f ON f.id = a.file"
    )
    known = connection.execute(
        "SELECT path, source, reader, is_ours, offset, anchor, state, facts, session, problems"
        " FROM evidence_files"
    )
    edits = connection.execute(
        "SELECT f.path, start, end, e.path, at FROM edits AS e JOIN evidence_files AS f"
        " ON f.id = e.file"
    )
    tables = (rows, known, edits)
    return json.dumps([sorted(each.fetchall()) for each in tables], indent=0)


def check(plan: list[tuple[str, int, str]]) -> int:
    with tempfile.TemporaryDirectory(prefix="tether-trails-") as base:
        world = World(Path(base))
        for step, number, task in plan:
            world.take(step, number, task)
        world.said(world.base / "old")
        # Once more each: what the store keeps is written by the first look at something.
        piecemeal = world.said(world.base / "old")
        at_once = world.said(world.base / "new", is_fresh=True)
        assert piecemeal == at_once
        return len(plan)


@pytest.mark.proof(room="evidence")
def test_reading_what_is_new_equals_reading_everything(
    figures: Figures, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small steps, so that there is something between them.
    monkeypatch.setattr(commits, "_BATCH", 2)
    examples = scale.count(500, 10)
    done: list[int] = []

    @hypothesis.settings(
        max_examples=examples,
        suppress_health_check=list(hypothesis.HealthCheck),
        derandomize=True,
    )
    @hypothesis.given(st.lists(steps, min_size=4, max_size=30))
    def run(plan: list[tuple[str, int, str]]) -> None:
        done.append(check(plan))

    run()
    figures.add(
        "files and commits read piecemeal and at once",
        histories=len(done),
        steps=sum(done),
        differences=0,
    )


def test_a_reader_that_forgets_to_look_for_replaced_files_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tether.evidence import lines

    monkeypatch.setattr(lines, "anchor", lambda *_: "the same")
    plan = [("say", 0, "H.1"), ("look", 0, "H.1"), ("replace", 0, "AA.2"), ("say", 0, "H.1.1")]
    with pytest.raises(AssertionError):
        check(plan)


@pytest.mark.parametrize("step", ["print", "look_up"])
def test_a_reader_that_keeps_what_the_end_of_a_file_no_longer_shows_is_caught(
    monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    from tether.evidence import lines, readers

    plan = [("say", 0, "H.1"), ("look", 0, "H.1"), (step, 0, "H.1")]
    check(plan)
    grown = lines.tails
    monkeypatch.setattr(lines, "tails", lambda *each: list(grown(*each))[:1])

    def merged(facts: model.Session, tail: model.Session) -> model.Session:
        return facts._replace(
            last_at=tail.last_at or facts.last_at,
            ending=tail.ending or facts.ending,
            last_said=tail.last_said or facts.last_said,
        )

    names = ("last_at", "ending", "last_said")
    monkeypatch.setattr(readers, "_with_tail", merged)
    monkeypatch.setattr(readers, "_FROM_REST", (*readers._FROM_REST, *names))
    with pytest.raises(AssertionError):
        check(plan)


def test_a_history_that_keeps_what_was_thrown_away_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(commits.History, "_take_back", lambda *_: [])
    with pytest.raises(AssertionError):
        check([("commit", 0, "H.1"), ("look", 0, "H.1"), ("reset", 0, "H.1")])
