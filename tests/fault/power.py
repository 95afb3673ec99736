"""The power fails at every moment of an operation, in every way that the model allows.

The model: data that was not synced may be lost from any byte on; names that were not synced may be
lost from any one on, in order; what was synced stays. Every state that this allows is built on a
real disk and read by the real code. `python -m tests.fault.power DIRECTORY PROTOCOL` prints how
many states there were and what was found broken.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.fault import nth_call
from tether import files
from tether.files import system

Names = dict[str, int]


class Event(NamedTuple):
    """Something that reached the system: new content, new names, or a sync of either."""

    kind: str
    inode: int
    content: bytes
    names: Names


class Recorder:
    """Notes what happens to one directory while it is installed."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._inode = os.stat(directory).st_ino
        self.events: list[Event] = []
        self.contents: dict[int, bytes] = {}
        for name, inode in self.names().items():
            with open(os.path.join(directory, name), "rb") as file:
                self.contents[inode] = file.read()

    def names(self) -> Names:
        return {entry.name: entry.inode() for entry in os.scandir(self._directory)}

    def install(self) -> None:
        for call in ("open", "rename", "link", "unlink"):
            self._wrap(os, call, self._note_names)
        for call in ("write", "pwrite", "ftruncate"):
            self._wrap(os, call, self._note_content)
        self._wrap(os, "fsync", self._note_sync)
        self._wrap(system, "rename_exclusive", self._note_names)

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
        names = self.names()
        known = next((e.names for e in reversed(self.events) if e.kind == "names"), None)
        if names != known:
            self.events.append(Event("names", 0, b"", names))

    def _note_content(self, fd: int, *_: object) -> None:
        with open(f"/dev/fd/{fd}", "rb") as file:
            self.events.append(Event("content", os.fstat(fd).st_ino, file.read(), {}))

    def _note_sync(self, fd: int) -> None:
        inode = os.fstat(fd).st_ino
        kind = "sync names" if inode == self._inode else "sync content"
        self.events.append(Event(kind, inode, b"", {}))


class Crash(NamedTuple):
    """What a disk may hold after the power came back, and whether success was reported before."""

    files: tuple[tuple[str, bytes], ...]
    was_acknowledged: bool


def crashes(recorder: Recorder, names_before: Names) -> Iterator[Crash]:
    """Every state that a power failure may leave, once each."""
    seen = set()
    for end in range(len(recorder.events) + 1):
        names, contents = possible(recorder.events[:end], names_before, recorder.contents)
        for chosen in names:
            choices = [contents.get(inode, [b""]) for inode in chosen.values()]
            for picked in itertools.product(*choices):
                state = tuple(sorted(zip(chosen, picked, strict=True)))
                crash = Crash(state, end == len(recorder.events))
                if crash not in seen:
                    seen.add(crash)
                    yield crash


def possible(
    events: list[Event], names_before: Names, contents_before: dict[int, bytes]
) -> tuple[list[Names], dict[int, list[bytes]]]:
    """The names, and the contents of each inode, that may have reached the disk by now."""
    names = [names_before]
    contents = {inode: [content] for inode, content in contents_before.items()}
    for event in events:
        versions = contents.setdefault(event.inode, [b""])
        match event.kind:
            case "names":
                names.append(event.names)
            case "sync names":
                names = names[-1:]
            case "content":
                versions += pieces(versions[-1], event.content)
            case "sync content":
                del versions[:-1]
    return names, contents


def pieces(old: bytes, new: bytes) -> list[bytes]:
    """What a write that was cut short leaves, and the whole of it."""
    if new.startswith(old):
        return [new[:end] for end in range(len(old) + 1, len(new) + 1)]
    return [new]


# What is tried


def write_without_sync(root: files.Root) -> None:
    _write_beside(root, sync_data=False, sync_name=True)


def write_without_name_sync(root: files.Root) -> None:
    _write_beside(root, sync_data=True, sync_name=False)


def _write_beside(root: files.Root, *, sync_data: bool, sync_name: bool) -> None:
    beside, place = (os.path.join(root.path, name) for name in (".tmp-x", "task"))
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(fd, nth_call.NEW)
    if sync_data:
        os.fsync(fd)
    os.close(fd)
    os.rename(beside, place)
    directory = os.open(root.path, os.O_RDONLY)
    if sync_name:
        os.fsync(directory)
    os.close(directory)


def append_without_sync(root: files.Root) -> None:
    fd = os.open(os.path.join(root.path, "log"), os.O_WRONLY | os.O_APPEND)
    os.write(fd, b"two\n")
    os.close(fd)


def _broken(name: str, act: Callable[[files.Root], None]) -> nth_call.Scenario:
    return nth_call.SCENARIOS[name]._replace(act=act)


PROTOCOLS = {
    name: nth_call.SCENARIOS[name]
    for name in (
        *("write over", "write first", "write exclusively"),
        *("append", "append first", "append after a torn line"),
    )
} | {
    "control: rename without sync": _broken("write over", write_without_sync),
    "control: no sync of the name": _broken("write over", write_without_name_sync),
    "control: write in place": nth_call.SCENARIOS["control: write in place"],
    "control: append without sync": _broken("append", append_without_sync),
}


def record(protocol: nth_call.Scenario, directory: str) -> tuple[list[Crash], object, object]:
    """The crashes of one run, and what the real code read before and after it."""
    root = files.Root(tempfile.mkdtemp(dir=directory))
    protocol.prepare(root)
    old = protocol.read(root)
    recorder = Recorder(root.path)
    names_before = recorder.names()
    recorder.install()
    protocol.act(root)
    return list(crashes(recorder, names_before)), old, protocol.read(root)


def complaint(
    protocol: nth_call.Scenario, crash: Crash, old: object, new: object, directory: str
) -> str:
    root = files.Root(tempfile.mkdtemp(dir=directory))
    for name, content in crash.files:
        with open(os.path.join(root.path, name), "wb") as file:
            file.write(content)
    found = protocol.read(root)
    if found not in (old, new):
        return "torn"
    if crash.was_acknowledged and found != new:
        return "acknowledged but lost"
    try:
        protocol.go_on(root)
    except AssertionError as problem:
        return f"no way on: {problem}"
    return ""


def explore(name: str, directory: str) -> dict[str, object]:
    protocol = PROTOCOLS[name]
    states, old, new = record(protocol, directory)
    found = [complaint(protocol, crash, old, new, directory) for crash in states]
    return {"states": len(states), "complaints": [line for line in found if line]}


if __name__ == "__main__":
    print(json.dumps(explore(sys.argv[2], sys.argv[1])))
