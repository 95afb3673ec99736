"""What Git does to task files, and how it is settled: merges, conflicts, a plain `mv`, rebases.

Git is the real program, and the histories are those of real clones, each with a store of its own.
There are hundreds of commands, so most run in this process; nothing of ours is replaced. The last
part makes histories at random and checks what must hold of any; its controls break one and must be
caught.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest

from tests.conftest import Ended
from tests.figures import Figures
from tests.scale import count
from tether.cli import main
from tether.tasks import document, states, workdir

ADA = "ada"
"""The person; everybody else is an agent."""
AMY, BOB = "amy", "bob"
ROUNDS = 500
# Long enough for Git to see that a file was renamed, whatever a verb adds to it.
LONG = "\n".join(f"Line {n} of what is to be done, so that the file has a body." for n in range(30))
# What must not be left over once `--fix` has settled a merge or a `mv`.
UNSETTLED = ("parse", "duplicate_id", "directory_status", "ownership", "cancelled", "file_name")


class Checkout:
    """A checkout, and what people and agents do in it."""

    def __init__(self, path: Path, environ: dict[str, str]) -> None:
        self.path = path
        self.environ = environ

    def at(self, path: Path) -> Checkout:
        return Checkout(path, self.environ)

    # Tether

    def tether(self, who: str, *words: str) -> Ended:
        """One command, typed by somebody."""
        names = {"TETHER_AGENT": who, "TETHER_DEBUG": "1"}
        if who != ADA:
            names["TETHER_SESSION"] = f"session-of-{who}"
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(self.path),
            mock.patch.dict(os.environ, {**self.environ, **names}, clear=True),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = main.main([*words, "--json"])
        assert "Traceback" not in err.getvalue(), err.getvalue()
        return Ended(code, out.getvalue(), err.getvalue())

    def did(self, who: str, *words: str) -> Any:
        """A command that must work; its answer."""
        ended = self.tether(who, *words)
        assert ended.code == 0, (words, ended.out)
        return ended.json

    def new(self, task_id: str, description: str = LONG) -> None:
        self.did(ADA, "task", "new", f"About {task_id}", "--id", task_id, "--description",
                 description)  # fmt: skip

    def show(self, task_id: str, who: str = ADA) -> Any:
        return self.did(who, "task", "show", task_id)["task"]

    def rules(self) -> list[str]:
        return [each["rule"] for each in self.did(ADA, "validate")["validate"]["findings"]]

    def fix(self) -> Any:
        return self.did(ADA, "validate", "--fix", "--yes")["validate"]

    def events(self) -> list[Any]:
        return list(self.did(ADA, "events", "--limit", "10000")["events"])

    # Git

    def try_git(self, *words: str) -> int:
        done = subprocess.run(
            ["git", *words], cwd=self.path, env=self.environ, capture_output=True, check=False
        )
        return done.returncode

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.path, env=self.environ, capture_output=True, check=False
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout.decode().strip()

    def commit(self, message: str = "Work") -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", message, "--allow-empty")

    def clone(self, name: str) -> Checkout:
        path = self.path.parent / name
        self.git("clone", "-q", str(self.path), str(path))
        return self.at(path)

    def merge(self, other: Checkout, *options: str, style: str = "merge") -> bool:
        """Merge the branch of another clone; was Git content?"""
        self.git("fetch", "-q", str(other.path), "HEAD")
        words = ("-c", f"merge.conflictStyle={style}", "merge", "-q", "--no-edit", *options)
        return self.try_git(*words, "FETCH_HEAD") == 0

    def conclude(self) -> None:
        """Commit a merge, whether or not Git was content with it."""
        self.git("add", "-A")
        self.git("commit", "-qm", "Merge", "--allow-empty")
        assert not (self.path / ".git" / "MERGE_HEAD").exists()
        assert self.git("status", "--porcelain") == ""

    # Files

    def paths(self, task_id: str) -> list[str]:
        """Every file of a task, from the work directory."""
        work = self.path / "work"
        return sorted(str(each.relative_to(work)) for each in work.rglob(f"{task_id}.y*ml"))

    def path_of(self, task_id: str) -> Path:
        [path] = self.paths(task_id)
        return self.path / "work" / path

    def text(self, task_id: str) -> str:
        return self.path_of(task_id).read_bytes().decode()

    def fields(self, task_id: str) -> dict[str, Any]:
        read = document.read(self.path_of(task_id).read_bytes())
        assert not read.problem, (read.problem, read.line)
        return read.fields

    def move(self, task_id: str, directory: str) -> None:
        """A person's plain `mv`."""
        target = self.path / "work" / directory
        target.mkdir(parents=True, exist_ok=True)
        path = self.path_of(task_id)
        path.rename(target / path.name)

    def tree(self) -> dict[str, bytes]:
        work = self.path / "work"
        return {
            str(path.relative_to(work)): path.read_bytes()
            for path in work.rglob("*")
            if path.is_file()
        }


@pytest.fixture
def checkout(repo: Path, environ: dict[str, str]) -> Checkout:
    return Checkout(repo, environ)


def assert_settled(checkout: Checkout, but: tuple[str, ...] = ()) -> None:
    """Nothing is left for `--fix`, and doing it again changes nothing."""
    assert sorted({*checkout.rules()} & {*UNSETTLED}) == sorted(but)
    before = checkout.tree()
    again = checkout.fix()
    assert (again["fixed"], again["made"], again["left"]) == ([], [], [])
    assert checkout.tree() == before


# One side puts a task away and the other goes on with it


def put_away_and_claimed(checkout: Checkout) -> None:
    checkout.new("T1")
    checkout.commit()
    checkout.git("switch", "-qc", "side")
    checkout.move("T1", "archive/2026-01")
    checkout.commit()
    checkout.git("switch", "-q", "main")
    checkout.did(AMY, "claim", "T1")
    checkout.commit()


def put_away_and_reopened(checkout: Checkout) -> None:
    checkout.new("T1")
    checkout.did(ADA, "task", "complete", "T1", "--summary", "It is there.")
    checkout.commit()
    checkout.git("switch", "-qc", "side")
    checkout.did(ADA, "task", "archive", "T1")
    checkout.commit()
    checkout.git("switch", "-q", "main")
    checkout.did(ADA, "task", "reopen", "T1", "--why", "It is not.")
    checkout.commit()


@pytest.mark.parametrize(("here", "there"), [("main", "side"), ("side", "main")])
@pytest.mark.parametrize(
    ("diverge", "path"),
    [
        (put_away_and_claimed, "assigned/amy/T1.yaml"),
        (put_away_and_reopened, "inbox/T1.yaml"),
    ],
)
def test_what_somebody_goes_on_with_does_not_vanish_in_the_archive(
    checkout: Checkout, diverge: Callable[[Checkout], None], path: str, here: str, there: str
) -> None:
    diverge(checkout)
    checkout.git("switch", "-q", here)
    assert checkout.try_git("merge", "-q", "--no-edit", there) == 1
    assert len(checkout.paths("T1")) == 2
    checkout.fix()
    assert checkout.paths("T1") == [path]
    assert_settled(checkout)


# One side empties a directory and the other adds to it


def emptied_and_added(checkout: Checkout, *, keeps: bool) -> None:
    """On `main` all of the inbox is finished; on `more` a task is added to it."""

    def commit() -> None:
        if not keeps:
            (checkout.path / "work/inbox/.gitkeep").unlink(missing_ok=True)
        checkout.commit()

    checkout.new("T1")
    checkout.new("T2")
    commit()
    checkout.git("switch", "-qc", "more")
    checkout.new("T3")
    commit()
    checkout.git("switch", "-q", "main")
    for task_id in ("T1", "T2"):
        checkout.did(AMY, "claim", task_id)
        checkout.did(AMY, "finish", task_id, "--summary", "done")
    commit()


@pytest.mark.parametrize("renames", ["conflict", "true"])
@pytest.mark.parametrize(("here", "there"), [("main", "more"), ("more", "main")])
def test_a_merge_moves_no_unstarted_task(
    checkout: Checkout, here: str, there: str, renames: str
) -> None:
    emptied_and_added(checkout, keeps=True)
    checkout.git("switch", "-q", here)
    checkout.git("-c", f"merge.directoryRenames={renames}", "merge", "-q", "--no-edit", there)
    assert checkout.paths("T3") == ["inbox/T3.yaml"]
    assert checkout.paths("T1") == ["done/T1.yaml"]
    shown = checkout.show("T3", BOB)
    assert (shown["state"], shown["offered"]) == ("new", True)
    assert checkout.rules() == []


@pytest.mark.parametrize("renames", ["conflict", "true"])
@pytest.mark.parametrize(("here", "there"), [("main", "more"), ("more", "main")])
def test_without_the_kept_file_git_carries_an_unstarted_task_to_done(
    checkout: Checkout, here: str, there: str, renames: str
) -> None:
    """The control of the test above: it is the `.gitkeep` that prevents it."""
    emptied_and_added(checkout, keeps=False)
    checkout.git("switch", "-q", here)
    checkout.try_git("-c", f"merge.directoryRenames={renames}", "merge", "-q", "--no-edit", there)
    assert checkout.paths("T3") == ["done/T3.yaml"]


def test_validate_tells_of_a_missing_kept_file_before_a_merge(checkout: Checkout) -> None:
    checkout.new("T1")
    (checkout.path / "work/inbox/.gitkeep").unlink()
    found = checkout.did(ADA, "validate")["validate"]["findings"]
    assert [(each["rule"], each["path"], each["fixable"]) for each in found] == [
        ("gitkeep", "work/inbox/.gitkeep", True)
    ]
    assert checkout.fix()["made"] == ["work/inbox/.gitkeep"]
    assert checkout.rules() == []


def test_a_merge_carries_nothing_out_of_an_agents_emptied_directory(checkout: Checkout) -> None:
    for task_id in ("T1", "T2", "T3"):
        checkout.new(task_id)
    for task_id in ("T1", "T2"):
        checkout.did(ADA, "task", "assign", task_id, AMY)
    checkout.commit()
    checkout.git("switch", "-qc", "more")
    checkout.did(ADA, "task", "assign", "T3", AMY)
    checkout.commit()
    checkout.git("switch", "-q", "main")
    for task_id in ("T1", "T2"):
        checkout.did(AMY, "claim", task_id)
        checkout.did(AMY, "finish", task_id, "--summary", "done")
    checkout.commit()
    checkout.git("merge", "-q", "--no-edit", "more")
    assert checkout.paths("T3") == ["assigned/amy/T3.yaml"]
    assert checkout.rules() == []


# The same task moved on two branches


class Side(NamedTuple):
    """What one side did with the task."""

    steps: tuple[tuple[str, ...], ...]
    path: str
    """Where the file was then, with the month of a cancelled one left open."""


CLAIMED = Side(((AMY, "claim", "T1"),), "assigned/amy/T1.yaml")
CLAIMED_BY_BOB = Side(((BOB, "claim", "T1"),), "assigned/bob/T1.yaml")
ASSIGNED = Side(((ADA, "task", "assign", "T1", "cyd"),), "assigned/cyd/T1.yaml")
FINISHED = Side(
    (*CLAIMED_BY_BOB.steps, (BOB, "finish", "T1", "--summary", "Bob built it.")), "done/T1.yaml"
)
FAILED = Side(
    (*CLAIMED.steps, (AMY, "fail", "T1", "--message", "Amy gave up.")), "assigned/amy/T1.yaml"
)
CANCELLED = Side(((ADA, "task", "cancel", "T1", "--why", "Nobody wants it."),), "archive/")
NOTED = Side(((ADA, "task", "note", "T1", "Ada thinks so."),), "inbox/T1.yaml")
# The one that counts, and the other.
PAIRS = {
    "finished, claimed": (FINISHED, CLAIMED),
    "finished, claimed by the same": (FINISHED, CLAIMED_BY_BOB),
    "finished, failed": (FINISHED, FAILED),
    "finished, cancelled": (FINISHED, CANCELLED),
    "finished, assigned": (FINISHED, ASSIGNED),
    "failed, claimed by another": (FAILED, CLAIMED_BY_BOB),
    "claimed, assigned": (CLAIMED, ASSIGNED),
}
# Git pairs the two files and merges their lines, or it does not and leaves both as they are.
GITS = {
    "renames": "--strategy-option=find-renames",
    "no renames": "--strategy-option=find-renames=100%",
}


def sides_of(checkout: Checkout) -> tuple[Checkout, Checkout]:
    checkout.new("T1")
    checkout.commit()
    return checkout.clone("here"), checkout.clone("there")


def act(checkout: Checkout, side: Side) -> str:
    """Do what one side does; the text of the task then."""
    for who, *words in side.steps:
        checkout.did(who, *words)
    checkout.commit()
    return checkout.text("T1")


def assert_has_what_was_written(text: str, base: str, kept: str) -> None:
    """Every line that a side added is still there."""
    written = [line.strip() for line in text.splitlines() if line not in base.splitlines()]
    assert written
    assert [line for line in written if line not in kept] == []


@pytest.mark.parametrize(
    ("is_ours", "is_first"), [(True, True), (False, True), (True, False)],
    ids=["ours is earlier", "theirs is earlier", "ours is later"],
)  # fmt: skip
@pytest.mark.parametrize("seen", GITS)
@pytest.mark.parametrize("pair", PAIRS)
def test_the_further_state_counts_whoever_merges_and_whatever_came_first(
    checkout: Checkout, pair: str, seen: str, is_ours: bool, is_first: bool
) -> None:
    winner, loser = PAIRS[pair]
    here, there = sides_of(checkout)
    wins, loses = (here, there) if is_ours else (there, here)
    if is_first:
        won = act(wins, winner)
        lost = act(loses, loser)
    else:
        lost = act(loses, loser)
        won = act(wins, winner)
    here.merge(there, GITS[seen])
    here.fix()
    assert here.paths("T1") == [winner.path]
    fields = here.fields("T1")
    history = fields.pop("history")
    assert fields == document.read(won.encode()).fields
    merged = [each for each in history if each["what"] == "merged"]
    if seen == "no renames":
        assert [each["text"] for each in merged] == [lost]
    else:
        # What Git merged line by line is common to both by now; all that was written is there.
        kept = "\n".join([here.text("T1"), *(each["text"] for each in merged)])
        assert_has_what_was_written(lost, checkout.text("T1"), kept)
    assert_settled(here)
    here.conclude()


@pytest.mark.parametrize("is_ours", [True, False], ids=["ours is later", "theirs is later"])
@pytest.mark.parametrize("seen", GITS)
def test_of_two_claims_the_later_one_counts(checkout: Checkout, seen: str, is_ours: bool) -> None:
    here, there = sides_of(checkout)
    early, late = (there, here) if is_ours else (here, there)
    lost = act(early, CLAIMED)
    won = act(late, CLAIMED_BY_BOB)
    here.merge(there, GITS[seen])
    here.fix()
    assert here.paths("T1") == [CLAIMED_BY_BOB.path]
    fields = here.fields("T1")
    history = fields.pop("history")
    assert fields == document.read(won.encode()).fields
    assert [each["text"] for each in history] == [lost]
    assert_settled(here)
    here.conclude()


@pytest.mark.parametrize("seen", GITS)
def test_a_claim_on_one_side_and_a_cancel_on_the_other_leave_one_file_with_both_texts(
    checkout: Checkout, seen: str
) -> None:
    """Which one counts depends on how far it was when it was cancelled; nothing is lost."""
    here, there = sides_of(checkout)
    claimed = act(here, CLAIMED)
    cancelled = act(there, CANCELLED)
    here.merge(there, GITS[seen])
    here.fix()
    history = here.fields("T1").get("history", [])
    kept = "\n".join([here.text("T1"), *(each["text"] for each in history)])
    for text in (claimed, cancelled):
        assert_has_what_was_written(text, checkout.text("T1"), kept)
    assert_settled(here)
    here.conclude()


@pytest.mark.parametrize("seen", GITS)
def test_a_note_on_one_side_goes_along_with_a_finish_on_the_other(
    checkout: Checkout, seen: str
) -> None:
    here, there = sides_of(checkout)
    act(here, NOTED)
    act(there, FINISHED)
    here.merge(there, GITS[seen])
    here.fix()
    assert here.paths("T1") == [FINISHED.path]
    assert "Ada thinks so." in here.text("T1")
    assert here.fields("T1")["result"]["summary"] == "Bob built it."
    assert_settled(here)
    here.conclude()


def test_two_clones_that_give_one_id_to_two_tasks_keep_both_texts(checkout: Checkout) -> None:
    checkout.new("T1")
    checkout.commit()
    here, there = checkout.clone("here"), checkout.clone("there")
    for each, words in ((here, "Paint the fence."), (there, "Feed the cat.")):
        each.new("T2", words)
        each.commit()
    assert not here.merge(there)
    here.fix()
    assert here.paths("T2") == ["inbox/T2.yaml"]
    assert "Paint the fence." in here.text("T2")
    assert "Feed the cat." in here.text("T2")
    assert_settled(here)
    here.conclude()


def test_a_winner_that_belongs_where_the_loser_stands_takes_its_place(checkout: Checkout) -> None:
    """Somebody put an older copy where the file of a finished task belongs."""
    checkout.new("T1")
    older = checkout.text("T1")
    act(checkout, FINISHED)
    newer = checkout.text("T1")
    done, inbox = (checkout.path / "work" / name / "T1.yaml" for name in ("done", "inbox"))
    inbox.write_text(newer)
    done.write_text(older)
    checkout.fix()
    assert checkout.paths("T1") == ["done/T1.yaml"]
    fields = checkout.fields("T1")
    assert [each["text"] for each in fields.pop("history")] == [older]
    assert fields == document.read(newer.encode()).fields
    assert_settled(checkout)


def test_a_settlement_makes_no_file_that_is_too_large_to_be_read(checkout: Checkout) -> None:
    """Two large texts do not fit into one file: then both stay, and a person is told."""
    checkout.new("T1")
    body = "".join(f"  line {number} of a long list\n" for number in range(6000))
    path = checkout.path_of("T1")
    path.write_text(f"{checkout.text('T1')}long_list: |\n{body}")
    assert document.MAX_BYTES // 2 < path.stat().st_size < document.MAX_BYTES
    checkout.commit()
    here, there = checkout.clone("here"), checkout.clone("there")
    act(here, CLAIMED)
    act(there, FINISHED)
    here.merge(there, GITS["no renames"])
    here.fix()
    sizes = [(here.path / "work" / each).stat().st_size for each in here.paths("T1")]
    assert max(sizes) <= document.MAX_BYTES
    assert "duplicate_id" in here.rules()


def test_until_it_is_settled_every_verb_says_so_and_changes_nothing(checkout: Checkout) -> None:
    here, there = sides_of(checkout)
    here.new("T2")
    act(here, CLAIMED)
    act(there, FINISHED)
    here.merge(there, GITS["no renames"])
    before = here.tree()
    for who, *words in (
        (AMY, "claim", "T1"),
        (AMY, "finish", "T1", "--summary", "x"),
        (ADA, "task", "note", "T1", "x"),
    ):
        ended = here.tether(who, *words)
        assert ended.code == 1, words
        assert "validate --fix" in ended.json["error"]["hint"]
    # Looking is possible: the one that counts, and where the other is.
    shown = here.did(ADA, "task", "show", "T1")["task"]
    assert (shown["state"], len(shown["files"])) == ("done", 2)
    assert here.tree() == before
    assert here.did(BOB, "next")["task"]["id"] == "T2"
    assert here.rules().count("duplicate_id") == 2


# Conflict markers inside a file


STYLES = ("merge", "diff3", "zdiff3")
ENDS = {"unix": "\n", "dos": "\r\n"}


def conflicting(checkout: Checkout, style: str, end: str) -> Checkout:
    """A clone in which a merge has left its markers in T1; T2 is as it was."""
    checkout.new("T1")
    checkout.new("T2", "Another one.")
    path = checkout.path_of("T1")
    text = f"# A person wrote this.\n{checkout.text('T1')}house_rule: kept\n"
    path.write_bytes(text.replace("\n", end).encode())
    checkout.git("config", "core.autocrlf", "false")
    checkout.commit()
    here, there = checkout.clone("here"), checkout.clone("there")
    for each, words in ((here, "Ours is blue."), (there, "Theirs is red.")):
        each.git("config", "core.autocrlf", "false")
        each.did(ADA, "task", "edit", "T1", "--title", words, "--description", f"{words}\nAll.\n")
        each.commit()
    assert not here.merge(there, style=style)
    return here


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("style", STYLES)
def test_a_file_with_conflict_markers_is_named_and_the_rest_goes_on(
    checkout: Checkout, style: str, end: str
) -> None:
    here = conflicting(checkout, style, ENDS[end])
    lines = here.text("T1").splitlines()
    line = next(n for n, each in enumerate(lines, 1) if each.startswith("<<<<<<< "))
    said = ("it has the conflict markers of a merge", line)
    before = here.tree()
    listed = {each["id"]: each for each in here.did(BOB, "task", "list")["tasks"]}
    assert (listed["T1"]["state"], listed["T1"]["offered"]) == ("unreadable", False)
    assert (listed["T1"]["problem"], listed["T1"]["line"]) == said
    assert listed["T2"]["state"] == "new"
    shown = here.show("T1", BOB)
    assert (shown["state"], shown["problem"], shown["line"]) == ("unreadable", *said)
    assert here.did(BOB, "next")["task"]["id"] == "T2"
    refused = here.tether(BOB, "claim", "T1")
    assert (refused.code, refused.json["error"]["code"]) == (1, "task_unreadable")
    [finding] = here.did(ADA, "validate")["validate"]["findings"]
    assert (finding["rule"], finding["line"], finding["fixable"]) == ("parse", line, True)
    assert here.tree() == before


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("style", STYLES)
def test_fix_settles_conflict_markers_and_keeps_both_sides(
    checkout: Checkout, style: str, end: str
) -> None:
    here = conflicting(checkout, style, ENDS[end])
    ours = here.git("show", "HEAD:work/inbox/T1.yaml")
    theirs = here.git("show", "FETCH_HEAD:work/inbox/T1.yaml")
    here.fix()
    text, fields = here.text("T1"), here.fields("T1")
    assert text.startswith("# A person wrote this.")
    assert fields["house_rule"] == "kept"
    [entry] = fields["history"]
    texts = {_plain(text), _plain(entry["text"])}
    for side, words in ((ours, "Ours is blue."), (theirs, "Theirs is red.")):
        assert any(words in each for each in texts)
        assert any(set(_plain(side).splitlines()) <= set(each.splitlines()) for each in texts)
    assert not re.search(r"^(<{7}|\|{7}|={7}|>{7})", text, re.MULTILINE)
    if end == "dos":
        assert text.count("\n") == text.count("\r\n")
    assert_settled(here)
    here.conclude()
    assert here.show("T1", BOB)["offered"]


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def test_markers_that_do_not_match_up_are_left_to_a_person(checkout: Checkout) -> None:
    here = conflicting(checkout, "merge", "\n")
    path = here.path_of("T1")
    path.write_text(re.sub(r"^=======\n", "", here.text("T1"), flags=re.MULTILINE))
    before = here.tree()
    found = here.fix()
    assert found["fixed"] == []
    [finding] = found["findings"]
    assert (finding["rule"], finding["fixable"]) == ("parse", False)
    assert here.tree() == before


def test_a_line_of_equal_signs_in_a_text_is_no_marker(checkout: Checkout) -> None:
    checkout.new("T1", "Heading\n=======\nWords below it.\n")
    checkout.commit()
    assert checkout.fix()["fixed"] == []
    assert checkout.show("T1")["fields"]["description"] == "Heading\n=======\nWords below it.\n"


# A person's plain `mv`


class Mv(NamedTuple):
    """A file is carried somewhere by hand."""

    before: tuple[tuple[str, ...], ...]
    directory: str
    state: str
    """What `show` says at once."""
    path: str
    """Where `--fix` leaves it."""
    verb: tuple[str, ...]
    """What works on it next."""
    after: str
    """The state after that verb."""


CLAIM = (BOB, "claim", "T1")
REOPEN = (ADA, "task", "reopen", "T1")
FINISH = (AMY, "finish", "T1", "--summary", "x")
NOTE = (ADA, "task", "note", "T1", "x")
RETRY = (ADA, "task", "retry", "T1")
ASSIGN_AMY = (ADA, "task", "assign", "T1", AMY)
FINISHED_BY_AMY = (*CLAIMED.steps, FINISH)
ARCHIVED = (*FINISHED_BY_AMY, (ADA, "task", "archive", "T1"))
MVS = {
    # Out of the inbox the directory says what it is.
    "inbox to assigned": Mv((), "assigned/bob", "assigned", "assigned/bob", CLAIM, "in_progress"),
    "inbox to done": Mv((), "done", "done", "done", REOPEN, "new"),
    "inbox to archive": Mv((), "archive/2026-01", "archived", "archive/2026-01", REOPEN, "new"),
    # From one agent to another.
    "assigned to another": Mv(
        (ASSIGN_AMY,), "assigned/bob", "assigned", "assigned/bob", CLAIM, "in_progress"
    ),
    # Who has it is decided by its claim alone, which a `mv` does not change.
    "started to another": Mv(
        CLAIMED.steps, "assigned/bob", "in_progress", "assigned/amy", FINISH, "done"
    ),
    "failed to another": Mv(
        FAILED.steps, "assigned/bob", "error", "assigned/bob", RETRY, "assigned"
    ),
    # Forward, over states that were skipped.
    "assigned to done": Mv((ASSIGN_AMY,), "done", "done", "done", REOPEN, "new"),
    "started to done": Mv(CLAIMED.steps, "done", "done", "done", FINISH, "done"),
    "failed to done": Mv(FAILED.steps, "done", "done", "done", REOPEN, "new"),
    "assigned to archive": Mv(
        (ASSIGN_AMY,), "archive/2026-01", "archived", "archive/2026-01", REOPEN, "new"
    ),
    "failed to archive": Mv(
        FAILED.steps, "archive/2026-01", "archived", "archive/2026-01", REOPEN, "new"
    ),
    "done to archive": Mv(
        FINISHED_BY_AMY, "archive/2026-01", "archived", "archive/2026-01", REOPEN, "new"
    ),
    "done to a folder": Mv(FINISHED_BY_AMY, "done/amy", "done", "done/amy", REOPEN, "new"),
    "archive to another month": Mv(
        ARCHIVED, "archive/2025-12", "archived", "archive/2025-12", REOPEN, "new"
    ),
    "archive to done": Mv(ARCHIVED, "done", "done", "done", REOPEN, "new"),
    # Backward it looks like a move that died before its rename, so it is carried through again.
    "assigned to inbox": Mv(
        (ASSIGN_AMY,), "inbox", "assigned", "assigned/amy", (AMY, "claim", "T1"), "in_progress"
    ),
    "started to inbox": Mv(CLAIMED.steps, "inbox", "in_progress", "assigned/amy", FINISH, "done"),
    "failed to inbox": Mv(FAILED.steps, "inbox", "error", "assigned/amy", RETRY, "assigned"),
    "done to inbox": Mv(FINISHED_BY_AMY, "inbox", "done", "done", REOPEN, "new"),
    "done to assigned": Mv(FINISHED_BY_AMY, "assigned/bob", "done", "done", REOPEN, "new"),
    "archive to inbox": Mv(ARCHIVED, "inbox", "done", "done", REOPEN, "new"),
    "archive to assigned": Mv(ARCHIVED, "assigned/bob", "done", "done", REOPEN, "new"),
}  # fmt: skip


# Put away without a word why: done, or cancelled? That is for a person to say.
UNDECIDED = ("inbox to archive", "assigned to archive")


def carried_by_hand(checkout: Checkout, mv: Mv) -> str:
    """A task that was moved with `mv`; its text then."""
    checkout.new("T1")
    path = checkout.path_of("T1")
    path.write_text(f"# A person wrote this.\n{checkout.text('T1')}house_rule: kept  # so there\n")
    for who, *words in mv.before:
        checkout.did(who, *words)
    checkout.commit()
    checkout.move("T1", mv.directory)
    return checkout.text("T1")


def assert_nothing_lost(before: str, checkout: Checkout) -> None:
    """Every line is still there but those that say whose it is, how it stands, and when."""
    own = r"(agent|status|assigned_at|started_at|completed_at|timeout_at|history|result|error):"
    after = checkout.text("T1")
    lines = [line for line in before.splitlines() if not re.match(own, line)]
    assert [line for line in lines if line.strip() not in after] == []


@pytest.mark.parametrize("name", MVS)
def test_the_next_verb_works_on_what_was_moved_by_hand(checkout: Checkout, name: str) -> None:
    mv = MVS[name]
    before = carried_by_hand(checkout, mv)
    who, *words = mv.verb
    checkout.did(who, *words)
    assert checkout.show("T1", who)["state"] == mv.after
    assert len(checkout.paths("T1")) == 1
    assert_nothing_lost(before, checkout)
    assert not set(checkout.rules()) & set(UNSETTLED)


@pytest.mark.parametrize("name", MVS)
def test_show_says_what_a_plain_mv_means_and_fix_settles_it(checkout: Checkout, name: str) -> None:
    mv = MVS[name]
    before = carried_by_hand(checkout, mv)
    tree = checkout.tree()
    assert checkout.show("T1")["state"] == mv.state
    listed = checkout.did(ADA, "task", "list", "--all")["tasks"]
    assert [(each["id"], each["state"]) for each in listed] == [("T1", mv.state)]
    assert checkout.tree() == tree
    checkout.fix()
    assert checkout.paths("T1") == [f"{mv.path}/T1.yaml"]
    assert checkout.show("T1")["state"] == mv.state
    assert_nothing_lost(before, checkout)
    assert_settled(checkout, but=("directory_status",) if name in UNDECIDED else ())


def test_a_cancelled_task_that_is_carried_back_stays_cancelled(checkout: Checkout) -> None:
    """Only `reopen` undoes it: its file still says when, by whom and why it was cancelled."""
    before = carried_by_hand(checkout, Mv(CANCELLED.steps, "inbox", "", "", NOTE, ""))
    assert checkout.show("T1")["state"] == "archived"
    checkout.fix()
    assert checkout.paths("T1")[0].startswith("archive/")
    assert_nothing_lost(before, checkout)
    assert_settled(checkout)


# Rebase, cherry-pick, revert


def finish(checkout: Checkout, task_id: str) -> None:
    """Claimed and finished, a commit each."""
    for words in (("claim", task_id), ("finish", task_id, "--summary", f"Amy did {task_id}.")):
        checkout.did(AMY, *words)
        checkout.commit(" ".join(words[:2]))


def test_a_rebase_carries_a_finished_task_along(checkout: Checkout) -> None:
    for task_id in ("T1", "T2"):
        checkout.new(task_id)
    checkout.commit()
    checkout.git("switch", "-qc", "b")
    finish(checkout, "T1")
    checkout.git("switch", "-q", "main")
    finish(checkout, "T2")
    checkout.git("switch", "-q", "b")
    checkout.git("rebase", "-q", "main")
    assert (checkout.paths("T1"), checkout.paths("T2")) == (["done/T1.yaml"], ["done/T2.yaml"])
    assert checkout.show("T1")["state"] == "done"
    assert checkout.rules() == []


def go_on(checkout: Checkout, verb: str) -> int:
    """Settle what stops a rebase or a cherry-pick, as often as it stops; how often that was."""
    for stops in range(1, 10):
        checkout.fix()
        assert len(checkout.paths("T1")) == 1
        checkout.show("T1")
        checkout.git("add", "-A")
        is_empty = checkout.try_git("diff", "--cached", "--quiet", "HEAD") == 0
        step = "--skip" if is_empty else "--continue"
        if checkout.try_git("-c", "core.editor=true", verb, step) == 0:
            return stops
    raise AssertionError(f"{verb} does not end")


def test_a_rebase_over_a_cancelled_task_is_settled_step_by_step(checkout: Checkout) -> None:
    here, there = sides_of(checkout)
    finish(here, "T1")
    act(there, CANCELLED)
    here.git("fetch", "-q", str(there.path), "HEAD")
    assert here.try_git("rebase", "-q", "FETCH_HEAD") != 0
    assert go_on(here, "rebase") > 0
    assert here.git("rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert here.paths("T1") == ["done/T1.yaml"]
    assert here.fields("T1")["result"]["summary"] == "Amy did T1."
    assert "Nobody wants it." in here.text("T1")
    assert_settled(here)
    assert here.git("status", "--porcelain") == ""


def test_the_commit_that_finished_a_task_can_be_picked_alone(checkout: Checkout) -> None:
    here, there = sides_of(checkout)
    finish(there, "T1")
    here.git("fetch", "-q", str(there.path), "HEAD")
    if here.try_git("cherry-pick", "FETCH_HEAD") != 0:
        go_on(here, "cherry-pick")
    assert here.paths("T1") == ["done/T1.yaml"]
    assert here.show("T1")["state"] == "done"
    assert here.fields("T1")["result"]["summary"] == "Amy did T1."
    assert_settled(here)
    assert here.git("status", "--porcelain") == ""


def test_a_task_whose_work_was_reverted_is_to_do_again(checkout: Checkout) -> None:
    checkout.new("T1")
    checkout.commit()
    checkout.did(AMY, "claim", "T1")
    checkout.did(AMY, "finish", "T1", "--summary", "x")
    checkout.commit()
    checkout.git("revert", "--no-edit", "HEAD")
    assert checkout.paths("T1") == ["inbox/T1.yaml"]
    shown = checkout.show("T1", BOB)
    assert (shown["state"], shown["offered"]) == ("new", True)
    assert checkout.did(BOB, "next")["task"]["id"] == "T1"
    checkout.did(BOB, "claim", "T1")
    checkout.did(BOB, "finish", "T1", "--summary", "again")
    assert checkout.paths("T1") == ["done/T1.yaml"]
    assert checkout.rules() == []


def reverted_finish(checkout: Checkout) -> None:
    """The claim is committed, and so was the finish, until that was reverted."""
    checkout.new("T1")
    checkout.commit()
    finish(checkout, "T1")
    checkout.git("revert", "--no-edit", "HEAD")
    assert checkout.paths("T1") == ["assigned/amy/T1.yaml"]


def test_a_task_whose_finish_was_reverted_goes_on_with_its_owner(checkout: Checkout) -> None:
    reverted_finish(checkout)
    shown = checkout.show("T1", AMY)
    assert (shown["state"], shown["offered"]) == ("in_progress", True)
    checkout.did(AMY, "claim", "T1")
    checkout.did(AMY, "finish", "T1", "--summary", "again")
    assert checkout.paths("T1") == ["done/T1.yaml"]
    assert checkout.rules() == []


def test_a_task_whose_finish_was_reverted_is_offered_to_whom_it_would_be_given(
    checkout: Checkout,
) -> None:
    """Whatever is offered can be taken, and what can be taken is offered."""
    reverted_finish(checkout)
    is_offered = checkout.show("T1", BOB)["offered"]
    assert is_offered == (checkout.tether(BOB, "claim", "T1").code == 0)


def test_reverting_a_reverted_finish_is_done_again(checkout: Checkout) -> None:
    checkout.new("T1")
    checkout.commit()
    finish(checkout, "T1")
    checkout.git("revert", "--no-edit", "HEAD")
    checkout.git("revert", "--no-edit", "HEAD")
    shown = checkout.show("T1", BOB)
    assert (shown["state"], shown["offered"]) == ("done", False)
    assert checkout.rules() == []


# At random


Chooser = random.Random
IDS = ("T1", "T2", "T3", "T4")
# How a command may end: well, refused by a rule, lost, not found.
ENDINGS = (0, 3, 4, 5)
MARKER = re.compile(r"mark[0-9]+x")


class Texts(NamedTuple):
    """The sentences that were in a tree, as their marks, and the tasks that it had."""

    marks: frozenset[str]
    tasks: Mapping[str, tuple[str, str]]
    """Each task's path, and its state by its file."""


class Parted(NamedTuple):
    """Two histories that went apart, and what was true of them before they met."""

    here: Checkout
    there: Checkout
    base: Texts
    ours: Texts
    theirs: Texts
    events: list[Any]


class Writer:
    """Makes sentences that occur only once."""

    def __init__(self) -> None:
        self._number = 0

    def __call__(self) -> str:
        self._number += 1
        return f"mark{self._number}x"


def texts(checkout: Checkout) -> Texts:
    tree = checkout.tree()
    marks = [mark for raw in tree.values() for mark in MARKER.findall(raw.decode())]
    tasks = {}
    for path, raw in tree.items():
        found = workdir.located(f"work/{path}", "work")
        if found is not None:
            task = workdir.parsed(found, raw).task
            is_away = task.state == states.ARCHIVED
            tasks[found.task_id] = (path, task.status if is_away else task.state)
    return Texts(frozenset(marks), tasks)


# Who does what; `{}` stands for the task, `@` for a new sentence.
WORDS = (
    (AMY, "claim {}"), (BOB, "claim {}"), (AMY, "claim {} --no-start"), (BOB, "task start {}"),
    (AMY, "finish {} --summary @"), (BOB, "finish {} --summary @"),
    (AMY, "finish {} --summary @ --partial --missing rest.txt --why @"),
    (AMY, "fail {} --message @"), (BOB, "fail {} --message @"),
    (AMY, "task return {} --why @"), (ADA, "task return {} --why @"),
    (ADA, "task assign {} bob"), (ADA, "task assign {} cyd"), (ADA, "task retry {} --why @"),
    (ADA, "task retry {} --to bob"), (ADA, "task complete {} --summary @"),
    (ADA, "task cancel {} --why @"), (ADA, "task reopen {} --why @"), (ADA, "task archive {}"),
    (ADA, "task extend {} --by 3h"), (ADA, "task note {} @"), (AMY, "task note {} @"),
    (ADA, "task edit {} --description @"), (BOB, "task edit {} --acceptance @"),
    (ADA, "task edit {} --title @ --priority high"), (ADA, "task new @ --description @"),
    (ADA, "task new @ --id T9 --description @"),
)  # fmt: skip
DIRECTORIES = ("inbox", "assigned/amy", "assigned/bob", "done", "done/amy", "archive/2026-01")


def one_step(
    chooser: Chooser, checkout: Checkout, task_ids: tuple[str, ...], write: Writer
) -> None:
    """A verb, or a `mv`; mostly of the first task, so that both sides want the same."""
    task_id = chooser.choice((*task_ids, *task_ids[:1] * 4))
    if chooser.random() < 0.2:
        if len(checkout.paths(task_id)) == 1:
            checkout.move(task_id, chooser.choice(DIRECTORIES))
        return
    # Claims are what the rest needs, so they come more often.
    who, words = chooser.choice((*WORDS, *WORDS[:2] * 4, *WORDS[4:6] * 3))
    filled = [write() if word == "@" else word.replace("{}", task_id) for word in words.split()]
    ended = checkout.tether(who, *filled)
    is_there = ended.code == 1 and ended.json["error"]["code"] == "already_there"
    assert ended.code in ENDINGS or is_there, (who, filled, ended.out)


@contextlib.contextmanager
def parted(origin: Checkout, seed: int, *, one_store: bool) -> Iterator[Parted]:
    """Two clones, or two worktrees of one, in which different things happened."""
    chooser, write = random.Random(seed), Writer()  # noqa: S311 (no secret)
    shutil.rmtree(origin.path / "work", ignore_errors=True)
    base = origin.clone("base")
    task_ids = IDS[: chooser.randint(1, len(IDS))]
    for task_id in task_ids:
        body = LONG if chooser.random() < 0.5 else "Short."
        base.new(task_id, f"{write()}\n{body}\n")
    for _ in range(chooser.randint(0, 3)):
        one_step(chooser, base, task_ids, write)
    base.commit()
    before = texts(base)
    if one_store:
        here, there = base, base.at(base.path.parent / "there")
        base.git("worktree", "add", "-q", "-b", "other", str(there.path))
    else:
        here, there = base.clone("here"), base.clone("there")
    for side in chooser.sample([here, there], 2):
        for _ in range(chooser.randint(1, 4)):
            one_step(chooser, side, task_ids, write)
        side.commit()
    try:
        yield Parted(here, there, before, texts(here), texts(there), here.events())
    finally:
        for name in ("base", "here", "there"):
            shutil.rmtree(origin.path.parent / name, ignore_errors=True)


def meet(pair: Parted, seed: int) -> bool:
    """Merge, settle and commit; was Git content by itself?"""
    style = random.Random(seed).choice(STYLES)  # noqa: S311 (no secret)
    is_clean = pair.here.merge(pair.there, style=style)
    pair.here.fix()
    pair.here.conclude()
    return is_clean


def faults(pair: Parted) -> list[str]:
    """What is wrong with a merged checkout."""
    here = pair.here
    after = texts(here)
    found = []
    for task_id in sorted({*pair.ours.tasks, *pair.theirs.tasks}):
        paths = here.paths(task_id)
        if len(paths) != 1:
            found.append(f"{task_id} has {len(paths)} files: {paths}")
        elif not _is_far_enough(pair, task_id, after):
            states_ = [each.tasks[task_id] for each in (pair.base, pair.ours, pair.theirs, after)]
            found.append(f"{task_id} went back: {states_}")
    # What one side took out on purpose is gone; what any side wrote or both still had is not.
    removed = pair.base.marks - (pair.ours.marks & pair.theirs.marks)
    lost = (pair.ours.marks | pair.theirs.marks) - removed - after.marks
    found += [f"a text is lost: {mark}" for mark in sorted(lost)]
    if here.events()[: len(pair.events)] != pair.events:
        found.append("the log has changed")
    for finding in here.did(ADA, "validate")["validate"]["findings"]:
        rule, path = finding["rule"], finding["path"] or ""
        # What was put away undone, by hand, is for a person to decide.
        is_undecided = rule == "directory_status" and path.startswith("work/archive/")
        if rule in UNSETTLED and not is_undecided:
            found.append(f"a finding is left: {rule} {path} {finding['detail']}")
    before = here.tree()
    here.fix()
    if here.tree() != before:
        found.append("a second --fix changes something")
    return found


def _is_far_enough(pair: Parted, task_id: str, after: Texts) -> bool:
    """If both sides moved a task, each to another place, the further state must have won."""
    sides = [each.tasks.get(task_id) for each in (pair.base, pair.ours, pair.theirs)]
    if None in sides or len({each[0] for each in sides if each}) < 3:
        return True
    away = [each for each in sides[1:] if each and each[0].startswith("archive/")]
    if any(each[1] != states.DONE for each in away):
        return True  # cancelled: how far it was says nothing any more
    if away and sides[0] and sides[0][1] == states.DONE:
        return True  # it was only put away, and who reopened it may have won
    ranks = [states.RANK.get(each[1], 0) for each in sides[1:] if each]
    return states.RANK.get(after.tasks[task_id][1], 0) >= max(ranks)


@pytest.mark.proof(room="tasks")
@pytest.mark.parametrize("one_store", [False, True], ids=["clones", "worktrees"])
def test_no_merge_of_random_histories_loses_anything(
    checkout: Checkout, one_store: bool, figures: Figures
) -> None:
    number = count(ROUNDS // 2, at_least=6)
    found, conflicts = [], 0
    first = 10_000 if one_store else 0
    for seed in range(first, first + number):
        with parted(checkout, seed, one_store=one_store) as pair:
            conflicts += not meet(pair, seed)
            found += [f"round {seed}: {fault}" for fault in faults(pair)]
    # Without conflicts nothing would have been settled.
    assert conflicts
    figures.add(
        f"random histories merged, {'worktrees' if one_store else 'clones'}",
        rounds=number,
        conflicts=conflicts,
        faults=len(found),
    )
    assert not found, "\n".join(found)


# Controls: each breaks a merged checkout in one way, and returns what must be found.


def drop_the_losers_text(here: Checkout) -> str:
    path = here.path_of("T1")
    text = here.text("T1")
    path.write_text(text[: text.index("history:")])
    return "a text is lost"


def drop_a_task(here: Checkout) -> str:
    here.path_of("T1").unlink()
    return "T1 has 0 files"


def leave_two_files(here: Checkout) -> str:
    path = here.path_of("T1")
    shutil.copy(path, here.path / "work/inbox/T1.yaml")
    return "T1 has 2 files"


def let_the_earlier_state_win(here: Checkout) -> str:
    path = here.path_of("T1")
    path.write_text(path.read_text().replace("status: done", "status: new"))
    path.rename(here.path / "work/inbox/T1.yaml")
    return "T1 went back"


def forget_the_log(here: Checkout) -> str:
    shutil.rmtree(here.path / ".git/tether")
    return "the log has changed"


BREAKS = (
    drop_the_losers_text,
    drop_a_task,
    leave_two_files,
    let_the_earlier_state_win,
    forget_the_log,
)


@pytest.mark.parametrize("break_", BREAKS, ids=lambda each: str(each.__name__))
def test_the_check_catches_a_settlement_that_loses_something(
    checkout: Checkout, break_: Callable[[Checkout], str]
) -> None:
    checkout.new("T1", "mark1x")
    checkout.commit()
    base = texts(checkout)
    here, there = checkout.clone("here"), checkout.clone("there")
    here.did(AMY, "claim", "T1")
    here.did(AMY, "task", "note", "T1", "mark2x")
    there.did(BOB, "claim", "T1")
    there.did(BOB, "finish", "T1", "--summary", "mark3x")
    for each in (here, there):
        each.commit()
    pair = Parted(here, there, base, texts(here), texts(there), here.events())
    meet(pair, 0)
    assert faults(pair) == []
    expected = break_(here)
    assert any(fault.startswith(expected) for fault in faults(pair))
