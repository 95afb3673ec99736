"""Lineage that is brought forward piece by piece says what one derivation from scratch says.

Branches are made, switched, merged, amended, rebased and moved by force; tasks, decisions and
documents are written, changed and dropped; claims are held. An index that looked after some of the
steps must have the same edges, evidence, records and stories as one that looks once.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from tests import chronicles, scale
from tests.chronicles import Said, task_id
from tests.figures import Figures
from tether.lineage.derive import hinges

WORDS = ("bell", "gong", "horn", "drum")
TASKS = 4
numbers = st.integers(0, 3)


def _steps(*names: str) -> st.SearchStrategy[tuple[str, int, int]]:
    return st.tuples(st.sampled_from(names), numbers, numbers)


OF_CODE = ("edit", "edit", "edit", "add", "drop", "move", "undo", "restore")
OF_BRANCHES = ("switch", "switch", "merge", "merge", "amend", "rebase", "reset", "force", "pick")
OF_TEXTS = ("task", "task", "finish", "drop_task", "declare", "decide", "drop_decision", "document")
OF_CLAIMS = ("claim", "claim", "let_go")
steps = st.one_of(
    _steps(*OF_CODE),
    _steps(*OF_CODE),
    _steps(*OF_BRANCHES),
    _steps(*OF_TEXTS),
    _steps(*OF_CLAIMS),
    _steps("look"),
)
Plan = list[tuple[str, int, int]]


class Life(chronicles.World):
    """What may happen to a repository."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self.count = 0
        self.held: set[int] = set()
        for number in range(2):
            self.write(f"{WORDS[number]}.py", self.function(WORDS[number]))
        self.commit("Begin with code")

    def take(self, step: str, one: int, other: int) -> None:
        getattr(self, f"do_{step}")(one, other)

    def function(self, name: str) -> str:
        """One that hardly looks like another, and no two of them are alike."""
        self.count += 1
        lines = "".join(
            f"    {name}_{line} = {name}.{WORDS[line]}({self.count})\n" for line in range(4)
        )
        return f"def {name}_{self.count}({name}):\n{lines}    return {name}_0\n"

    def message(self, kind: int, number: int) -> str:
        """How a commit names a task, or does not."""
        one, other = task_id(number), task_id((number + 1) % TASKS)
        return (
            "Change it",
            f"{one}: change it",
            f"Change it\n\nA follow-up to {other}.\n\nTask: {one}",
            f"[{one}, {other}] change it",
        )[kind]

    def modules(self) -> list[str]:
        return sorted(path.name for path in self.repo.glob("*.py"))

    def module(self, number: int) -> str:
        found = self.modules()
        return found[number % len(found)] if found else "bell.py"

    def do_edit(self, one: int, other: int) -> None:
        name = self.module(one)
        lines = self.read(name).split("\n")
        for number, line in enumerate(lines):
            if line.startswith("    return"):
                self.count += 1
                lines[number] = f"{line}  # {self.count}" if other == 3 else f"{line} + 1"
                break
        self.write(name, "\n".join(lines))
        self.commit(self.message(other, one))

    def do_add(self, one: int, other: int) -> None:
        name = f"{WORDS[other]}.py"
        self.write(name, f"{self.read(name)}\n\n{self.function(WORDS[one])}".lstrip())
        self.commit(self.message(one, other))

    def do_drop(self, one: int, other: int) -> None:
        name = self.module(one)
        parts = self.read(name).split("\n\n\n")
        if len(parts) > 1:
            self.write(name, "\n\n\n".join(parts[:-1]) + "\n")
        elif len(self.modules()) > 1:
            (self.repo / name).unlink()
        self.commit(self.message(other, one))

    def do_move(self, one: int, other: int) -> None:
        self.count += 1
        name = self.module(one)
        if self.read(name):
            (self.repo / name).rename(self.repo / f"{WORDS[other]}{self.count}.py")
        self.commit(self.message(other, one))

    def do_undo(self, _one: int, _other: int) -> None:
        """As `git revert` does."""
        self.seconds += 60
        if self.git("rev-list", "--count", "--no-merges", "-1", "HEAD^@", fails=True) == "1":
            self.git("revert", "--no-edit", "HEAD", fails=True)
            self.tidy()

    def do_restore(self, one: int, other: int) -> None:
        """A file as it was, by hand."""
        name = self.module(one)
        if self.git("cat-file", "-t", f"HEAD~2:{name}", fails=True):
            self.write(name, self.git("show", f"HEAD~2:{name}") + "\n")
        self.commit(self.message(other, one))

    def tidy(self) -> None:
        """Give up what could not be done."""
        for verb in ("revert", "cherry-pick", "rebase", "merge"):
            self.git(verb, "--abort", fails=True)
        self.git("reset", "-q", "--hard")

    def do_switch(self, one: int, _other: int) -> None:
        name = f"side-{one % 2}"
        self.git("add", "-A")
        self.git("reset", "-q", "--hard")
        if self.git("rev-parse", "-q", "--verify", name, fails=True):
            here = self.git("symbolic-ref", "--short", "HEAD")
            self.git("checkout", "-q", "main" if here == name else name)
        else:
            self.git("checkout", "-q", "-b", name)

    def do_merge(self, one: int, other: int) -> None:
        """Of a commit beside the last one, or of another branch."""
        self.seconds += 60
        subject = (
            f"Merge branch '{task_id(one)}-aside'",
            f"Merge pull request #7 from anna/{task_id(one)}",
            "Merge branch 'aside'",
            f"Merge branch 'aside'\n\nSeen with {task_id(one)}; it supersedes {task_id(other)}.",
        )[other]
        target = "side-0"
        if other < 2 or not self.git("rev-parse", "-q", "--verify", target, fails=True):
            here = self.git("symbolic-ref", "--short", "HEAD")
            self.count += 1
            target = f"aside-{self.count}"
            self.git("checkout", "-q", "-b", target)
            self.do_add(0, one)
            self.do_edit(one, 0)
            self.git("checkout", "-q", here)
        self.git("merge", "-q", "--no-ff", "-X", "ours", "-m", subject, target, fails=True)
        self.tidy()

    def do_amend(self, one: int, other: int) -> None:
        self.commit(self.message(one, other), "--amend")

    def do_rebase(self, _one: int, _other: int) -> None:
        """The last commit without the one before it."""
        self.seconds += 60
        if self.git("rev-parse", "-q", "--verify", "HEAD~2", fails=True):
            self.git("rebase", "-q", "-X", "theirs", "--onto", "HEAD~2", "HEAD~1", fails=True)
            self.tidy()

    def do_reset(self, one: int, _other: int) -> None:
        back = f"HEAD~{1 + one % 2}"
        if self.git("rev-parse", "-q", "--verify", back, fails=True):
            self.git("reset", "-q", "--hard", back)

    def do_force(self, one: int, _other: int) -> None:
        name = f"side-{one % 2}"
        if self.git("symbolic-ref", "--short", "HEAD") != name:
            self.git("branch", "-f", name)

    def do_pick(self, one: int, _other: int) -> None:
        self.seconds += 60
        name = f"side-{one % 2}"
        if self.git("rev-parse", "-q", "--verify", name, fails=True):
            self.git("cherry-pick", "-X", "theirs", name, fails=True)
            self.tidy()

    def do_task(self, one: int, other: int) -> None:
        verb = ("Follows up on", "Supersedes", "See", "Does not revert")[other]
        target = task_id((one + 1) % TASKS)
        self.count += 1
        self.task(
            one,
            description=f"{verb} {target}. Because of number {self.count} it must ring.",
            context_files=[self.module(other)],
            depends_on=[task_id((one + other) % TASKS)] if other else [],
        )
        self.commit(("Write a task", f"{task_id(one)}: plan")[other % 2])

    def do_finish(self, one: int, other: int) -> None:
        relations = [{"type": "contradicts", "task": task_id((one + 2) % TASKS)}]
        self.task(
            one,
            "done",
            completed_at="2026-11-01T08:00:00Z",
            result={"summary": f"Added a bell.\n\nKnown issue: it is number {other}."},
            relations=relations if other else [],
        )
        if other != 3:
            self.commit(self.message(other, one))

    def do_drop_task(self, one: int, _other: int) -> None:
        for path in self.repo.glob(f"work/*/{task_id(one)}.yaml"):
            path.unlink()
        self.commit("Drop a task")

    def do_declare(self, one: int, other: int) -> None:
        self.write(
            "work/lineage.yaml",
            "relations:\n"
            f"  - {{subject: {task_id(one)}, type: extends, object: {task_id(other)}}}\n",
        )
        self.commit("Declare")

    def do_decide(self, one: int, other: int) -> None:
        over = f"\nSupersedes: {(one + 1) % 4 + 1:04}\n" if other == 1 else ""
        self.write(
            f"docs/decisions/{one + 1:04}-ring.md",
            f"# {one + 1}. Ring {WORDS[other]}\n\nStatus: Accepted\n{over}\n## Decision\n\n"
            f"We ring it as in `{self.module(other)}`, because {task_id(one)} asked for it.\n",
        )
        self.commit("Decide")

    def do_drop_decision(self, one: int, _other: int) -> None:
        for path in self.repo.glob(f"docs/decisions/{one + 1:04}-*.md"):
            path.unlink()
        self.commit("Decide otherwise")

    def do_document(self, one: int, other: int) -> None:
        name = self.read(self.module(one)).partition("(")[0].removeprefix("def ")
        self.write("README.md", f"# Read\n\nFirst `{name}`.\n\n## See\n\n`{self.module(other)}`\n")
        self.commit("Document")

    def do_claim(self, one: int, _other: int) -> None:
        if one not in self.held:
            self.claim(one, f"bee-{one}")
            self.held.add(one)

    def do_let_go(self, _one: int, _other: int) -> None:
        if self.held:
            self.let_go(min(self.held))
            self.held.remove(min(self.held))

    def do_look(self, _one: int, _other: int) -> None:
        self.bring(self.index_dir("old"))


@contextlib.contextmanager
def lived(plan: Plan) -> Iterator[Life]:
    with tempfile.TemporaryDirectory(prefix="tether-lives-") as base:
        life = Life(Path(base).resolve())
        try:
            for step, one, other in plan:
                life.take(step, one, other)
            yield life
        finally:
            life.close()


def assert_same(piecemeal: Said, at_once: Said) -> None:
    assert piecemeal.keys() == at_once.keys()
    for name, rows in at_once.items():
        assert piecemeal[name] == rows, name


def check(plan: Plan) -> int:
    """How many edges there are in the end."""
    with lived(plan) as life:
        life.bring(old := life.index_dir("old"))
        life.bring_at_once(new := life.index_dir("new"), old)
        assert_same(life.said(old), life.said(new))
        assert_same(life.stories(old), life.stories(new))
        return len(life.said(new)["edges"]) + len(life.said(new)["code"])


@pytest.mark.proof(room="lineage")
def test_lineage_brought_forward_is_lineage_derived_at_once(figures: Figures) -> None:
    done: list[int] = []

    @hypothesis.settings(
        max_examples=scale.count(500, 10),
        suppress_health_check=list(hypothesis.HealthCheck),
        derandomize=True,
    )
    @hypothesis.given(st.lists(steps, min_size=5, max_size=30))
    def run(plan: Plan) -> None:
        done.append(check(plan))

    run()
    figures.add(
        "lineage brought forward and derived at once",
        histories=len(done),
        edges=sum(done),
        differences=0,
    )


# What went wrong once

DROPPED: Plan = [("edit", 0, 0), ("task", 0, 0), ("look", 0, 0), ("drop", 0, 0)]
FINISHED: Plan = [("finish", 3, 0), ("look", 0, 0), ("task", 3, 0)]
MOVED: Plan = [("document", 0, 1), ("task", 1, 1), ("look", 0, 0), ("move", 1, 2)]


@pytest.mark.parametrize("plan", [DROPPED, FINISHED, MOVED], ids=["dropped", "finished", "moved"])
def test_what_went_wrong_once_is_right(plan: Plan) -> None:
    assert check(plan) > 0


def test_a_text_that_should_have_been_read_again_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hinges, "stale", lambda *_: frozenset())
    with pytest.raises(AssertionError, match="code"):
        check(MOVED)
