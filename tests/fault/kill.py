"""A process that appends is killed at random moments; then the next one appends.

Every other kill is aimed into a record: left to chance nearly all of them fall into the sync.
`python -m tests.fault.kill DIRECTORY RECORD_BYTES KILLS real|careless` prints how many kills tore a
line and what was found broken.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import select
import signal
import sys
import tempfile
import zlib
from collections.abc import Callable

from tether import files

Append = Callable[[files.Root, bytes], None]
# A fresh log now and then keeps the reading short.
KILLS_PER_LOG = 25


def make_record(number: int, record_bytes: int) -> bytes:
    """A line that shows whether it is whole."""
    body = b"%08d:" % number + bytes([97 + number % 26]) * (record_bytes - 18)
    return body + b"%08x\n" % zlib.crc32(body)


def read_numbers(root: files.Root) -> list[int]:
    """The numbers of the whole lines in the log, -1 for one that is damaged."""
    content = root.read_bytes("log") if root.exists("log") else b""
    numbers = []
    for line in content.split(b"\n")[:-1]:
        is_whole = line[-8:] == b"%08x" % zlib.crc32(line[:-8])
        numbers.append(int(line[:8]) if is_whole else -1)
    return numbers


def append_well(root: files.Root, record: bytes) -> None:
    root.append("log", record)


def append_carelessly(root: files.Root, record: bytes) -> None:
    """The control: no repair of what the last one left."""
    fd = os.open(os.path.join(root.path, "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    rest = memoryview(record)
    while rest:
        rest = rest[os.write(fd, rest) :]
    os.close(fd)


def die_at_piece(pieces: int, piece_bytes: int) -> None:
    """Let the system take little at a time, as it may, and be killed between two pieces."""
    real, taken = os.write, itertools.count(1)

    def write(fd: int, data: bytes) -> int:
        if next(taken) > pieces:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(fd, data[:piece_bytes])

    setattr(os, "write", write)  # noqa: B010 - the system's side of the boundary


def append_until_killed(
    root: files.Root, append: Append, first: int, record_bytes: int, dice: random.Random
) -> int:
    """The number of the last record that was acknowledged before the kill, or `first` - 1."""
    read, write = os.pipe()
    is_aimed, pieces, delay_seconds = (
        dice.random() < 0.5,
        dice.randrange(80),
        dice.uniform(0, 0.006),
    )
    child = os.fork()
    if child == 0:
        if is_aimed:
            die_at_piece(pieces, record_bytes // 16)
        for number in itertools.count(first):
            append(root, make_record(number, record_bytes))
            # Not os.write, which may take a piece only.
            os.writev(write, [b"%08d" % number])
    os.close(write)
    if not is_aimed:
        # The kill comes at a random moment: this is the experiment, not a wait for something.
        select.select([], [], [], delay_seconds)
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with open(read, "rb") as pipe:
        acknowledged = pipe.read()
    return int(acknowledged[-8:]) if acknowledged else first - 1


def one_kill(
    root: files.Root, append: Append, record_bytes: int, dice: random.Random
) -> tuple[bool, list[str]]:
    """Whether a line was torn, and what is wrong after the next record."""
    before = read_numbers(root)
    first = len(before)
    last = append_until_killed(root, append, first, record_bytes, dice)
    problems = []
    content = root.read_bytes("log") if root.exists("log") else b""
    was_torn = not content.endswith(b"\n") and content != b""
    found = read_numbers(root)
    if found[: last + 1] != list(range(last + 1)) or not last + 1 <= len(found) <= last + 2:
        problems.append(f"acknowledged up to {last}, found {found[-3:]}")
    append(root, make_record(len(found), record_bytes))
    if read_numbers(root) != [*found, len(found)]:
        problems.append("the next record did not follow whole lines")
    return was_torn, problems


def run(directory: str, record_bytes: int, kills: int, kind: str) -> dict[str, object]:
    append = {"real": append_well, "careless": append_carelessly}[kind]
    dice = random.Random(record_bytes)  # noqa: S311 - the same kills again when one finds something
    root = files.Root(directory)
    torn, complaints = 0, []
    for number in range(kills):
        if number % KILLS_PER_LOG == 0:
            root = files.Root(tempfile.mkdtemp(dir=directory))
        was_torn, problems = one_kill(root, append, record_bytes, dice)
        torn += was_torn
        complaints += problems
    return {"kills": kills, "torn": torn, "complaints": complaints}


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])))
