"""Every call by which a verb changes the disk fails once, in every way; then the verb goes on.

A verb runs as a command in a fork of a fresh checkout, and its nth call that changes something, a
commit of the store among them, kills the process or fails. Whatever happens, each task's file is a
whole old or new one, what is taken is claimed, what is let go of is written, and what was said to
be done is done. The same verb again then brings the task where it was wanted, with or without
`validate --fix` in between; once more changes nothing.

`python -m tests.fault.test_task_nth_call DIRECTORY VERB` prints how many points were tried and what
was found broken.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import agency
from tests.fault import boundary
from tests.figures import Figures
from tests.scale import SCALE, count
from tether import errors, files
from tether.agents import claims, identity, upkeep
from tether.cli import cold, context, main, validate, verbs
from tether.cli import next as next_command
from tether.cli.task import group, keeping, move, write
from tether.store import events, port
from tether.tasks import desk, document, elsewhere, packs, splicing, workdir

# What a command imports where it needs it, so that its forks need not do so again.
IMPORTED = [
    *(cold, context, elsewhere, group, identity, keeping, move, next_command, splicing),
    *(upkeep, validate, verbs, write),
]

MODES = tuple(mode for mode in boundary.MODES if mode != "EINTR")
OFTEN = ("kill before", "kill after", "EIO")
SAID = "what was said is not so:"
MANY = 1_000_000
PERSON = {"TETHER_AGENT": "pat"}
ALICE = {"TETHER_SESSION": "s-alice", "TETHER_AGENT": "alice"}
BOB = {"TETHER_SESSION": "s-bob", "TETHER_AGENT": "bob"}
Who = dict[str, str]
Words = tuple[str, ...]


# What is disturbed


class Stand(boundary.Boundary):
    """Only the calls that change a disk, and the commits of databases among them."""

    def install(self) -> None:
        really_open = os.open
        super().install()
        disturbed_open, connect = os.open, sqlite3.connect

        def open_(path: Any, flags: int, *args: Any, **keywords: Any) -> int:
            changes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            chosen = disturbed_open if changes else really_open
            return chosen(path, flags, *args, **keywords)

        commit = self._disturbed("commit", lambda real: real("COMMIT"))

        class Connection(sqlite3.Connection):
            def execute(self, statement: str, /, *args: Any) -> sqlite3.Cursor:
                if statement != "COMMIT":
                    return super().execute(statement, *args)
                try:
                    done: sqlite3.Cursor = commit(super().execute)
                except OSError as problem:
                    raise _of_database(problem) from problem
                return done

        setattr(os, "open", open_)  # noqa: B010 - a stand-in on purpose
        setattr(  # noqa: B010 - as above
            sqlite3, "connect", lambda *args, **more: connect(*args, **more, factory=Connection)
        )


def _of_database(problem: OSError) -> sqlite3.OperationalError:
    """What SQLite says of a disk that failed or is full."""
    is_full = problem.errno == boundary.ERRORS["ENOSPC"]
    error = sqlite3.OperationalError("database or disk is full" if is_full else "disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL if is_full else sqlite3.SQLITE_IOERR
    return error


class Ended(Exception):
    """A command ended with another code than 0."""


class Checkout:
    """A repository at one path, brought back to the same state before every try."""

    def __init__(self, directory: str) -> None:
        self.path = os.path.join(directory, "repo")
        self._kept = os.path.join(directory, "kept")
        self._directory = directory
        self._work = workdir.Workdir(self.path)
        self._twins: list[tuple[str, str]] = []
        os.mkdir(self.path)
        self.git("init", "-q", "-b", "main", "--template=")
        self.git("commit", "-q", "--allow-empty", "-m", "Begin")

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.path, env=self._environ({}), check=True)

    def keep(self) -> None:
        shutil.copytree(self.path, self._kept)

    def bring_back(self) -> None:
        shutil.rmtree(self.path)
        shutil.copytree(self._kept, self.path)
        for path, other in self._twins:
            os.unlink(other)
            os.link(path, other)

    def write(self, path: str, text: str) -> None:
        target = Path(self.path, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def link(self, path: str, other: str) -> None:
        """Give a file a second name, which a copy of the tree would not keep."""
        self._twins.append((os.path.join(self.path, path), os.path.join(self.path, other)))
        os.link(*self._twins[-1])

    def _environ(self, who: Who) -> dict[str, str]:
        own = {
            "PATH": os.environ["PATH"],
            "HOME": self._directory,
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            # Nothing happens by the way, so that every try makes the same calls.
            "TETHER_SWEEP_INTERVAL_SECONDS": "0",
        }
        for role in ("AUTHOR", "COMMITTER"):
            own |= {f"GIT_{role}_NAME": "Test", f"GIT_{role}_EMAIL": "test@example.com"}
        if "TETHER_SESSION" in who:
            # The harness, which lives as long as the agents of its forks.
            own["TETHER_PID"] = str(os.getppid())
        return own | who

    def command(self, who: Who, words: Words) -> None:
        """Run a command in this process, which is a fork."""
        environ = self._environ(who)
        os.environ.clear()
        os.environ.update(environ)
        os.chdir(self.path)
        sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
        code = main.main([*words, "--json"])
        said = sys.stdout.getvalue()
        if code != 0:
            raise Ended(f"{code} {said}")
        assert json.loads(said)["ok"], said

    def run(self, who: Who, *words: str) -> None:
        outcome = boundary.in_child(lambda: self.command(who, words))
        assert outcome.word == "ok", (words, outcome)

    def look(self) -> Look:
        return Look(dict(self._files()), *self._told())

    def _files(self) -> Iterator[tuple[str, str]]:
        """The text of every task, by its path; times are all the same."""
        for found in self._work.scan():
            yield _timeless(found.path), _text(self._work.raw(found))
        for pack in packs.names(self._work):
            for found, raw in packs.members(self._work, pack):
                yield _timeless(f"{pack}/{found.name}"), _text(raw)

    def _told(self) -> tuple[dict[str, list[tuple[str, str]]], Counter[str]]:
        store = agency.sqlite_opener(Path(self.path, ".git"))()
        held: dict[str, list[tuple[str, str]]] = {}
        for claim in claims.all_ones(store.rows, MANY):
            held.setdefault(claim.task, []).insert(0, (claim.session_id, claim.outcome or "open"))
        log = Counter(_event(event) for event in events.after(store, 0, MANY) if event.task)
        store.close()
        return held, log


class Look(NamedTuple):
    """All that there is to see of the tasks."""

    files: dict[str, str]
    claims: dict[str, list[tuple[str, str]]]
    """The session and outcome of every claim of a task, oldest first."""
    log: Counter[str]

    def of(self, task: str) -> dict[str, str]:
        return {path: text for path, text in self.files.items() if _task(path) == task}

    def last(self, task: str) -> tuple[str, str]:
        return self.claims.get(task, [("", "")])[-1]


def _text(raw: bytes) -> str:
    problem = document.read(raw).problem
    return f"unreadable: {problem}" if problem else _timeless(raw.decode())


def _timeless(text: str) -> str:
    text = re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "TIME", text)
    return re.sub(r"archive/\d{4}-\d\d\b", "archive/MONTH", text)


def _task(path: str) -> str:
    return os.path.basename(path).partition(".")[0]


def _event(event: events.Event) -> str:
    return f"{event.type} {event.task} {event.data.get('verb', '')}"


# What is tried

TAKES, LETS_GO, KEEPS = "takes", "lets go", "keeps"


class Verb(NamedTuple):
    """A command, what comes before it, and what its claim must be like whenever it dies."""

    words: Words
    who: Who = PERSON
    before: tuple[tuple[Who, Words], ...] = ()
    kind: str = KEEPS
    prepare: Callable[[Checkout], None] = lambda _: None
    between: tuple[str, ...] = ()
    """Paths on the way."""
    adds: bool = False
    """Does it add something each time?"""


NEW = (PERSON, ("task", "new", "A thing", "--id", "T1", "--artefact", "report.md"))
HERE = (ALICE, ("agent", "register"))
CLAIM = (ALICE, ("claim", "T1"))
FINISH = (ALICE, ("finish", "T1", "--summary", "It is there."))
FAIL = (ALICE, ("fail", "T1", "--message", "It broke."))
OLD_DONE = """\
id: {0}
title: Old  # long ago
agent: alice
status: done
created_at: "2025-01-01T00:00:00.000Z"
assigned_at: "2025-01-02T00:00:00.000Z"
started_at: "2025-01-03T00:00:00.000Z"
completed_at: "2025-01-04T00:00:00.000Z"
artefacts: []
result:
  summary: It is there.
  artefacts: []
  completed_at: "2025-01-04T00:00:00.000Z"
"""


def write_old_ones(at: Checkout) -> None:
    for task in ("T1", "T2"):
        at.write(f"work/done/{task}.yaml", OLD_DONE.format(task))


def write_wrong_ones(at: Checkout) -> None:
    """An alias in a file of another suffix, a forgotten move, and two files of one task.

    Of the two one may stand where the other belongs, or both may be names of the same file.
    """
    done = OLD_DONE.format("T1").replace("status: done", "status: Completed")
    at.write("work/done/T1.yml", done.replace("id: T1", "task_id: T1"))
    at.write("work/inbox/T2.yaml", OLD_DONE.format("T2"))
    at.write("work/done/T3.yaml", OLD_DONE.format("T3"))
    at.write("work/inbox/T3.yaml", "id: T3\ntitle: Old\nstatus: new\nagent: ''\nartefacts: []\n")
    begun = OLD_DONE.format("T4").partition("completed_at")[0] + "artefacts: []\n"
    at.write("work/inbox/T4.yaml", begun.replace("done", "in_progress"))
    at.write("work/assigned/alice/T4.yaml", begun.replace("done", "assigned"))
    at.write("work/done/T5.yaml", OLD_DONE.format("T5"))
    at.link("work/done/T5.yaml", "work/assigned/alice/T5.yaml")


def let_it_stall(at: Checkout) -> None:
    path = "work/assigned/alice/T1.yaml"
    text = Path(at.path, path).read_text()
    at.write(path, re.sub('started_at: "....', 'started_at: "2025', text))


def lose_a_committed_one(at: Checkout) -> None:
    at.write("work/done/T1.yaml", OLD_DONE.format("T1"))
    at.git("add", "work/done/T1.yaml")
    at.git("commit", "-qm", "T1")
    os.unlink(os.path.join(at.path, "work/done/T1.yaml"))


VERBS = {
    "new": Verb(NEW[1]),
    "edit": Verb(("task", "edit", "T1", "--priority", "high", "--plan", "Do it."), before=(NEW,)),
    "note": Verb(("task", "note", "T1", "Mind the gap."), before=(NEW,), adds=True),
    "assign": Verb(("task", "assign", "T1", "alice"), before=(NEW, HERE), kind=TAKES),
    "claim": Verb(CLAIM[1], ALICE, (NEW, HERE), TAKES),
    "next --claim": Verb(("next", "--claim"), ALICE, (NEW, HERE), TAKES),
    "start": Verb(
        ("task", "start", "T1"), ALICE, (NEW, HERE, (ALICE, ("claim", "T1", "--no-start")))
    ),
    "finish": Verb(FINISH[1], ALICE, (NEW, CLAIM), LETS_GO),
    "finish --partial": Verb(
        (*FINISH[1], "--partial", "--missing", "report.md", "--why", "No time."),
        ALICE,
        (NEW, CLAIM),
        LETS_GO,
    ),
    "fail": Verb(FAIL[1], ALICE, (NEW, CLAIM), LETS_GO),
    "return": Verb(("task", "return", "T1", "--why", "Not mine."), ALICE, (NEW, CLAIM), LETS_GO),
    "return by a person": Verb(("task", "return", "T1"), PERSON, (NEW, CLAIM), LETS_GO),
    "complete": Verb(
        ("task", "complete", "T1", "--summary", "Seen."), PERSON, (NEW, CLAIM), LETS_GO
    ),
    "cancel": Verb(("task", "cancel", "T1", "--why", "No need."), PERSON, (NEW, CLAIM), LETS_GO),
    "retry": Verb(("task", "retry", "T1"), PERSON, (NEW, CLAIM, FAIL), TAKES),
    "retry of a stalled one": Verb(
        ("task", "retry", "T1"), PERSON, (NEW, CLAIM), TAKES, let_it_stall
    ),
    "extend": Verb(("task", "extend", "T1", "--by", "3h"), PERSON, (NEW, CLAIM)),
    "archive": Verb(("task", "archive", "T1"), PERSON, (NEW, CLAIM, FINISH)),
    "archive --compress": Verb(
        ("task", "archive", "--compress"),
        prepare=write_old_ones,
        between=("work/archive/MONTH/T1.yaml", "work/archive/MONTH/T2.yaml"),
    ),
    "reopen": Verb(("task", "reopen", "T1"), PERSON, (NEW, CLAIM, FINISH)),
    "restore": Verb(("task", "restore", "T1"), prepare=lose_a_committed_one),
    "validate --fix": Verb(("validate", "--fix", "--yes"), prepare=write_wrong_ones),
}
FIX: Words = ("validate", "--fix", "--yes")


# What is broken on purpose


def write_in_place() -> None:
    """What `open(..., "w")` does."""

    def write_atomic(root: files.Root, name: str, data: bytes, *, replace: bool = True) -> None:
        mode = os.O_TRUNC if replace else os.O_EXCL
        fd = os.open(os.path.join(root.path, name), os.O_WRONLY | os.O_CREAT | mode, 0o644)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(fd, rest) :]
        os.close(fd)

    setattr(files.Root, "write_atomic", write_atomic)  # noqa: B010 - broken on purpose


def close_the_claim_first() -> None:
    """Let go in the store before the file says so."""
    real = desk.rewrite

    def rewrite(at: desk.Desk, case: desk.Case, changes: Any, *place: Any) -> desk.Case:
        held = case.claim
        if changes and held is not None:

            def close(transaction: port.Transaction) -> object:
                return claims.close_one(
                    transaction, held.session_id, case.key, held.epoch, claims.DONE
                )

            at.store.write("close", close)
        return real(at, case, changes, *place)

    setattr(desk, "rewrite", rewrite)  # noqa: B010 - broken on purpose


def forgive_failed_moves() -> None:
    """Go on as if the file had been moved."""
    real = files.Root.relink

    def relink(root: files.Root, source: str, target: str) -> None:
        try:
            real(root, source, target)
        except errors.TetherError:
            return

    setattr(files.Root, "relink", relink)  # noqa: B010 - broken on purpose


class Control(NamedTuple):
    """How a verb is broken, and what must be found then."""

    verb: str
    breaks: Callable[[], None]
    mode: str
    expected: str


CONTROLS = {
    "control: written in place": Control("finish", write_in_place, "kill before", "torn"),
    "control: the claim is closed first": Control(
        "finish", close_the_claim_first, "kill before", "let go of"
    ),
    "control: failed moves are forgiven": Control(
        "claim", forgive_failed_moves, "EIO", "acknowledged"
    ),
}


# The check


def complaints_of_files(verb: Verb, old: Look, new: Look, found: Look) -> list[str]:
    """Torn or vanished tasks, and those that the verb is not about."""
    problems = []
    paths = {*old.files, *new.files, *verb.between}
    for task in {_task(path) for path in paths}:
        was, is_, may = old.of(task), found.of(task), new.of(task)
        if was and not is_:
            problems.append(f"lost: {task}")
        if set(is_.values()) - {*was.values(), *may.values()}:
            problems.append(f"torn: {is_}")
        if len(was) < 2 and len(set(is_.values())) > 1:
            problems.append(f"torn: two files of {task} differ")
        if was == may and is_ != was:
            problems.append(f"touched: {task}")
    if strange := set(found.files) - paths:
        problems.append(f"strange files: {strange}")
    return problems


def complaints_of_claims(verb: Verb, old: Look, new: Look, found: Look) -> list[str]:
    """A claim is opened before the file follows, and closed after it."""
    problems = []
    if found.claims.get("T0") != old.claims.get("T0"):
        problems.append("the claim of another task changed")
    if any(sum(o == "open" for _, o in rows) > 1 for rows in found.claims.values()):
        problems.append("two open claims")
    is_open = found.last("T1")[1] == "open"
    follows = {text for text in new.files.values() if text not in old.files.values()}
    has_followed = any(text in follows for text in found.of("T1").values())
    if verb.kind == TAKES and has_followed and not is_open:
        problems.append("taken in the file without a claim")
    if verb.kind == LETS_GO and not is_open and found.files != new.files:
        problems.append("let go of before the file says so")
    if verb.kind == KEEPS and found.claims != old.claims:
        problems.append("a claim changed")
    return problems


def complaints_of_words(
    fault: boundary.Fault, outcome: boundary.Outcome, old: Look, new: Look, found: Look
) -> list[str]:
    """What was said and is not so."""
    if outcome.word == "killed":
        return [] if fault.mode.startswith("kill") else ["killed by something else"]
    if outcome.word == "ok":
        return [] if found == new else [f"acknowledged but not done: {_differing(new, found)}"]
    if outcome.word != "Ended" or "did not expect" in outcome.message:
        return [f"ended with {outcome.word}: {outcome.message}"]
    said = f"{SAID} {outcome.message.strip()}, but {_differing(old, found)}"
    if "Nothing was changed" in outcome.message and found[:2] != old[:2]:
        return [said]
    # This is about the file that it names.
    named = {path for path in old.files if f"'{path}'" in _timeless(outcome.message)}
    if any(found.files.get(path, old.files[path]) != old.files[path] for path in named):
        return [said] if "content is unchanged" in outcome.message else []
    return []


def _differing(one: Look, other: Look) -> str:
    """Where the second is not as the first, in short."""
    a, b = one.files, other.files
    said = [f"{path} is missing" for path in a.keys() - b.keys()]
    said += [f"{path} is there" for path in b.keys() - a.keys()]
    said += [f"{path} differs" for path in a.keys() & b.keys() if a[path] != b[path]]
    said += [] if one.claims == other.claims else [f"claims {one.claims} → {other.claims}"]
    said += [] if one.log == other.log else [f"log -{one.log - other.log} +{other.log - one.log}"]
    return ", ".join(said)


def complaints_of_going_on(at: Checkout, verb: Verb, new: Look, *, fixes: bool) -> list[str]:
    """The way from here to what was wanted."""
    problems = []

    def ask(who: Who, words: Words) -> tuple[boundary.Outcome, Look]:
        return boundary.in_child(lambda: at.command(who, words)), at.look()

    if fixes:
        fixed, once = ask(PERSON, FIX)
        _, twice = ask(PERSON, FIX)
        if fixed.word != "ok" or once != twice:
            problems.append(
                f"a second fix is not the first: {_how(fixed)} {_differing(once, twice)}"
            )
    again, once = ask(verb.who, verb.words)
    # It may say that there is nothing to do any more, if there is not.
    _, twice = ask(verb.who, verb.words)
    if set(once.files) != set(new.files) or (not verb.adds and once.files != new.files):
        problems.append(f"not carried through: {_how(again)} {_differing(new, once)}")
    if once.last("T1") != new.last("T1"):
        problems.append(f"claims not carried through: {_how(again)} {_differing(new, once)}")
    if not verb.adds and (once.files, once.claims) != (twice.files, twice.claims):
        problems.append(f"twice is not once: {_differing(once, twice)}")
    return problems


def _how(outcome: boundary.Outcome) -> str:
    return f"{outcome.word} {outcome.message.strip()}".strip()


class Trial(NamedTuple):
    """One verb, its checkout, and how it goes when nothing fails."""

    at: Checkout
    verb: Verb
    old: Look
    new: Look
    act: Callable[[], None]

    goes_on: bool

    def complaints(self, number: int, fault: boundary.Fault) -> list[str]:
        self.at.bring_back()
        outcome = boundary.in_child(self.act, fault, Stand)
        try:
            found = self.at.look()
            problems = [
                *complaints_of_files(self.verb, self.old, self.new, found),
                *complaints_of_claims(self.verb, self.old, self.new, found),
                *complaints_of_words(fault, outcome, self.old, self.new, found),
            ]
            if self.goes_on:
                fixes = number % 4 == 1
                problems += complaints_of_going_on(self.at, self.verb, self.new, fixes=fixes)
        except errors.TetherError as problem:
            problems = [f"torn: {problem.message}"]
        return [f"{fault.mode} at {fault.at}: {problem}" for problem in problems]


def prepared(directory: str, verb: Verb, breaks: Callable[[], None] | None) -> tuple[Trial, Words]:
    """The trial, and the calls that the verb makes."""
    at = Checkout(directory)
    at.run(PERSON, "task", "new", "Another thing", "--id", "T0")
    at.run(BOB, "claim", "T0")
    for who, words in verb.before:
        at.run(who, *words)
    verb.prepare(at)
    at.keep()
    old = at.look()
    outcome = boundary.in_child(lambda: at.command(verb.who, verb.words), None, Stand)
    assert outcome.word == "ok", outcome
    new = at.look()
    assert old.files != new.files

    def act() -> None:
        if breaks is not None:
            breaks()
        at.command(verb.who, verb.words)

    if breaks is not None:
        at.bring_back()
        outcome = boundary.in_child(act, None, Stand)
    return Trial(at, verb, old, new, act, goes_on=breaks is None), tuple(outcome.calls)


def chosen(name: str, calls: Words) -> list[boundary.Fault]:
    """All points, or for a small scale some of each mode, others for each verb."""
    if name in CONTROLS:
        return [boundary.Fault(at, CONTROLS[name].mode) for at in range(len(calls))]
    found = []
    for mode in MODES:
        ats = [at for at, call in enumerate(calls) if mode != "short" or call == "write"]
        wanted = min(len(ats), count(len(ats), at_least=2 if mode in OFTEN else 1))
        if SCALE < 1 and ats:
            phase = zlib.crc32(f"{name} {mode}".encode()) % len(ats)
            ats = sorted({ats[(phase + n * len(ats) // wanted) % len(ats)] for n in range(wanted)})
        found += [boundary.Fault(at, mode) for at in ats]
    return found


def sweep(directory: str, name: str) -> dict[str, object]:
    control = CONTROLS.get(name)
    verb = VERBS[control.verb if control else name]
    trial, calls = prepared(directory, verb, control.breaks if control else None)
    tasks = {_task(path) for path in trial.old.files} - {_task(path) for path in trial.new.files}
    found = [f"lost without any fault: {task}" for task in sorted(tasks)]
    points = 0
    for fault in chosen(name, calls):
        found += trial.complaints(points, fault)
        points += 1
        # A control is caught or not: once is enough.
        if control and any(control.expected in line for line in found):
            break
    return {"calls": calls, "points": points, "complaints": found}


# The tests


@pytest.mark.proof(room="tasks")
@pytest.mark.parametrize("verb", VERBS)
def test_no_failing_call_tears_loses_or_breaks_the_promise_of(
    tmp_path: Path, verb: str, figures: Figures
) -> None:
    report = boundary.run_alone("test_task_nth_call", str(tmp_path), verb)
    found = report["complaints"]
    figures.add(
        f"every call of `{verb}` killed or failed",
        calls=len(report["calls"]),
        points=report["points"],
        torn=sum("torn" in line for line in found),
        lost=sum("lost" in line for line in found),
        not_carried_through=sum("not carried" in line for line in found),
        complaints=len(found),
    )
    assert [line for line in found if SAID not in line] == []
    assert found == []
    assert {"fsync", "commit"} & set(report["calls"])
    assert report["points"] >= 3 * len(OFTEN)


@pytest.mark.proof(room="tasks")
@pytest.mark.parametrize("control", CONTROLS)
def test_the_check_catches(tmp_path: Path, control: str, figures: Figures) -> None:
    report = boundary.run_alone("test_task_nth_call", str(tmp_path), control)
    caught = [line for line in report["complaints"] if CONTROLS[control].expected in line]
    figures.add(control, points=report["points"], caught=len(caught))
    assert caught


if __name__ == "__main__":
    print(json.dumps(sweep(sys.argv[1], sys.argv[2])))
