"""The power fails at every moment of a claim and of what lets go of it: no task is torn or lost.

The model is that of `power`, for a tree: in each directory names that were not synced may be lost
from any one on, in order, whatever became of the other directories; data that was not synced may be
lost from some byte on; what was synced stays. The store's commits are whole by themselves; once the
one that closes a claim has been made, the file must say so for good.

`python -m tests.fault.test_task_power DIRECTORY PROTOCOL` prints how many states there were and
what was found broken.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import agency
from tests.fault import boundary
from tests.figures import Figures
from tether import clock, files, workspace
from tether.agents import claims
from tether.files import system
from tether.tasks import claiming, desk, document, editing, moves, splicing, workdir

# What is imported where it is needed must not be imported while calls are noted.
IMPORTED = (splicing,)
Names = dict[str, int]


class Event(NamedTuple):
    """Something that reached the system: new content or new names, a sync of either, a commit."""

    kind: str
    inode: int = 0
    content: bytes = b""
    names: Names | None = None


class Recorder:
    """Notes what happens to one tree while it is installed."""

    def __init__(self, top: str) -> None:
        self._top = top
        self.root = os.stat(top).st_ino
        self.events: list[Event] = []
        self.names = self._look()
        self.names_before = dict(self.names)
        self.contents = {os.stat(path).st_ino: Path(path).read_bytes() for path in self._paths(top)}

    def _paths(self, top: str) -> Iterator[str]:
        for directory, _, names in os.walk(top):
            yield from (os.path.join(directory, name) for name in names)

    def _look(self) -> dict[int, Names]:
        """The names in every directory."""
        return {
            os.stat(directory).st_ino: {
                entry.name: entry.inode() for entry in os.scandir(directory)
            }
            for directory, _, _ in os.walk(self._top)
        }

    def install(self) -> None:
        for call in ("open", "rename", "link", "unlink", "mkdir"):
            self._wrap(os, call, self._note_names)
        for call in ("write", "pwrite", "ftruncate"):
            self._wrap(os, call, self._note_content)
        self._wrap(os, "fsync", lambda fd, *_: self._note("sync", os.fstat(fd).st_ino))
        self._wrap(system, "rename_exclusive", self._note_names)
        connect, note = sqlite3.connect, self._note

        class Connection(sqlite3.Connection):
            def execute(self, statement: str, /, *args: Any) -> sqlite3.Cursor:
                done = super().execute(statement, *args)
                if statement == "COMMIT":
                    note("commit")
                return done

        setattr(  # noqa: B010 - a stand-in on purpose
            sqlite3, "connect", lambda *args, **more: connect(*args, **more, factory=Connection)
        )

    def _note(self, kind: str, inode: int = 0, content: bytes = b"") -> None:
        self.events.append(Event(kind, inode, content))

    def _wrap(self, module: object, name: str, note: Callable[..., None]) -> None:
        real = getattr(module, name)

        def call(*args: Any, **keywords: Any) -> Any:
            result = real(*args, **keywords)
            note(*args)
            if name == "open" and args[1] & os.O_TRUNC:
                self._note_content(result)
            return result

        setattr(module, name, call)

    def _note_names(self, *_: object) -> None:
        now = self._look()
        for inode, names in now.items():
            if names != self.names.get(inode):
                self.events.append(Event("names", inode, b"", names))
        self.names = now

    def _note_content(self, fd: int, *_: object) -> None:
        if stat.S_ISREG(os.fstat(fd).st_mode):
            with open(f"/dev/fd/{fd}", "rb") as file:
                self._note("content", os.fstat(fd).st_ino, file.read())


class Crash(NamedTuple):
    """What a disk may hold after the power came back, and whether it had to be the new state."""

    files: tuple[tuple[str, bytes], ...]
    was_promised: bool


def crashes(recorder: Recorder, promised_from: int) -> Iterator[Crash]:
    """Every state that a power failure may leave, once each."""
    seen = set()
    for end in range(len(recorder.events) + 1):
        names, contents = possible(recorder, end)
        for versions in itertools.product(*names.values()):
            paths = dict(reached(dict(zip(names, versions, strict=True)), recorder.root))
            choices = [contents.get(inode, [b""]) for inode in paths.values()]
            for picked in itertools.product(*choices):
                state = tuple(sorted(zip(paths, picked, strict=True)))
                crash = Crash(state, end >= promised_from)
                if crash not in seen:
                    seen.add(crash)
                    yield crash


def possible(recorder: Recorder, end: int) -> tuple[dict[int, list[Names]], dict[int, list[bytes]]]:
    """The names of each directory and the contents of each file that may be on the disk by now."""
    names = {inode: [found] for inode, found in recorder.names_before.items()}
    contents = {inode: [content] for inode, content in recorder.contents.items()}
    for event in recorder.events[:end]:
        match event.kind:
            case "names":
                names.setdefault(event.inode, [{}]).append(event.names or {})
            case "content":
                versions = contents.setdefault(event.inode, [b""])
                versions += pieces(versions[-1], event.content)
            case "sync":
                for found in (names.get(event.inode), contents.get(event.inode)):
                    if found is not None:
                        del found[:-1]
    return names, contents


def pieces(old: bytes, new: bytes) -> list[bytes]:
    """Some of what a write that was cut short leaves, and the whole of it."""
    if not new.startswith(old):
        return [new]
    ends = {len(old) + 1, (len(old) + len(new)) // 2, len(new) - 1, len(new)}
    return [new[:end] for end in sorted(ends) if end > len(old)]


def reached(names: dict[int, Names], inode: int, above: str = "") -> Iterator[tuple[str, int]]:
    """The files below a directory, by their path."""
    for name, child in names[inode].items():
        if child in names:
            yield from reached(names, child, f"{above}{name}/")
        else:
            yield above + name, child


# What is tried


def claim(at: desk.Desk) -> None:
    assert isinstance(claiming.claim(at, "T1"), claiming.Taken)


def finish(at: desk.Desk) -> None:
    assert isinstance(moves.finish(at, "T1", summary="It is there."), desk.Moved)


def give_back(at: desk.Desk) -> None:
    assert isinstance(moves.give_back(at, "T1"), desk.Moved)


def rename_only() -> None:
    """A move as `mv` does it."""

    def relink(root: files.Root, source: str, target: str) -> None:
        os.rename(os.path.join(root.path, source), os.path.join(root.path, target))

    setattr(files.Root, "relink", relink)  # noqa: B010 - broken on purpose


def write_without_sync() -> None:
    """Write beside and rename, and sync nothing."""

    def write_atomic(root: files.Root, name: str, data: bytes, *, replace: bool = True) -> None:
        path = os.path.join(root.path, name)
        beside = os.path.join(os.path.dirname(path), ".tmp-x")
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | (0 if replace else os.O_EXCL), 0o644)
        os.write(fd, data)
        os.close(fd)
        os.rename(beside, path)

    setattr(files.Root, "write_atomic", write_atomic)  # noqa: B010 - broken on purpose


class Protocol(NamedTuple):
    """A verb, whether its claim is open before, and how it is broken."""

    act: Callable[[desk.Desk], None]
    is_held: bool
    breaks: Callable[[], None] = lambda: None


PROTOCOLS = {
    "claim": Protocol(claim, is_held=False),
    "finish": Protocol(finish, is_held=True),
    "return": Protocol(give_back, is_held=True),
    "control: claim, a mere rename": Protocol(claim, False, rename_only),
    "control: finish, a mere rename": Protocol(finish, True, rename_only),
    "control: finish, written without a sync": Protocol(finish, True, write_without_sync),
}
CONTROLS = {
    "control: claim, a mere rename": "lost",
    "control: finish, a mere rename": "promised",
    "control: finish, written without a sync": "torn",
}


def prepared(directory: str, protocol: Protocol) -> desk.Desk:
    """A checkout with a task, and a session that has claimed it if it should."""
    subprocess.run(["git", "init", "-q", "-b", "main", "--template=", directory], check=True)
    place = workspace.find(directory)
    store = agency.sqlite_opener(Path(directory, ".git"))()
    caller = desk.Caller(agency.begin(store, "alice"), is_human=False)
    now = clock.now_text(clock.SystemClock())
    at = desk.Desk(place, workdir.Workdir(directory), store, agency.spot(), caller, now)
    editing.new(at, title="A thing", task_id="T1")
    if protocol.is_held:
        claim(at)
    return at


def complaint(work: workdir.Workdir, crash: Crash, old: bytes, new: bytes, target: str) -> str:
    """What the real code finds wrong on such a disk."""
    shutil.rmtree(os.path.join(work.top, work.root), ignore_errors=True)
    for path, content in crash.files:
        place = Path(work.top, work.root, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    found = {each.path: work.raw(each) for each in work.find("T1")}
    if not found:
        return "lost"
    if any(document.read(raw).problem or raw not in (old, new) for raw in found.values()):
        return "torn"
    if len(set(found.values())) > 1:
        return "two files that differ"
    if crash.was_promised and found != {target: new}:
        return "promised but not there"
    return ""


def explore(directory: str, name: str) -> dict[str, object]:
    protocol = PROTOCOLS[name]
    at = prepared(directory, protocol)
    [before] = at.work.find("T1")
    old = at.work.raw(before)
    recorder = Recorder(os.path.join(directory, at.work.root))
    protocol.breaks()
    at.store.close()  # so that it opens again with a connection whose commits are noted
    recorder.install()
    protocol.act(at)
    [after] = at.work.find("T1")
    new = at.work.raw(after)
    is_closed = claims.open_of(at.store.rows, agency.key("T1")) is None
    at.store.close()
    # A claim that is closed promises as much as an answer.
    commits = [n for n, event in enumerate(recorder.events, 1) if event.kind == "commit"]
    promised_from = commits[-1] if is_closed else len(recorder.events)
    states = list(crashes(recorder, promised_from))
    found = [complaint(at.work, crash, old, new, after.path) for crash in states]
    return {"states": len(states), "complaints": [line for line in found if line]}


# The tests


@pytest.mark.proof(room="tasks")
@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name not in CONTROLS])
def test_no_power_failure_tears_or_loses_the_task_of_a(
    tmp_path: Path, protocol: str, figures: Figures
) -> None:
    report = boundary.run_alone("test_task_power", str(tmp_path), protocol)
    found = report["complaints"]
    figures.add(
        f"power failures during `{protocol}`",
        states=report["states"],
        torn=found.count("torn"),
        lost=found.count("lost"),
        promised_but_not_there=found.count("promised but not there"),
    )
    assert found == []
    assert report["states"] > 5


@pytest.mark.proof(room="tasks")
@pytest.mark.parametrize("control", CONTROLS)
def test_the_check_catches(tmp_path: Path, control: str, figures: Figures) -> None:
    report = boundary.run_alone("test_task_power", str(tmp_path), control)
    caught = [line for line in report["complaints"] if CONTROLS[control] in line]
    figures.add(control, states=report["states"], caught=len(caught))
    assert caught


if __name__ == "__main__":
    print(json.dumps(explore(sys.argv[1], sys.argv[2])))
