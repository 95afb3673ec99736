"""Files of lines that grow while they are read: only what is new, and of that only what matters.

Whole stretches are searched at once for what a line must hold to matter, so most lines are never
looked at one by one. A last line without an end is still being written and waits for the next time.
A file that is no longer the one that was read (cut, replaced) is told by the bytes right before the
place where reading stopped.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator

from tether.evidence import model
from tether.evidence.transcripts import adapter

CHUNK_BYTES = 4 * 1024 * 1024
# No record that means anything is longer; one that is gets reported and passed over.
MAX_LINE_BYTES = 32 * 1024 * 1024
# How much of its end may be needed to tell how a session ends: mostly the first 64 KiB have it all,
# but tools may have printed megabytes since the agent last said something.
MAX_TAIL_BYTES = 8 * 1024 * 1024
_TAIL_GROWTH = 7
# How far back it is looked for, over lines that are left out.
_MAX_SEARCHED_BYTES = 256 * 1024 * 1024
_ANCHOR_BYTES = 1024


class Lines:
    """The lines of an open file from an offset to the last line end, as of now."""

    def __init__(self, descriptor: int, path: str, offset: int, size: int) -> None:
        self._descriptor = descriptor
        self._path = path
        self.offset = offset
        """The end of the last whole line that was read."""
        self._size = size
        self.problems: list[model.Problem] = []

    def mattering(self, wanted: tuple[bytes | re.Pattern[bytes], ...]) -> Iterator[adapter.Line]:
        """The whole lines that hold something of what is wanted, in order."""
        for start, block in self._blocks():
            for begin, end in _spans(block, wanted):
                yield adapter.Line(start + begin, block[begin:end])

    def _blocks(self) -> Iterator[tuple[int, bytes]]:
        """Stretches of whole lines, each with its offset."""
        position = self.offset
        rest = b""
        while position < self._size:
            chunk = os.pread(self._descriptor, min(CHUNK_BYTES, self._size - position), position)
            if not chunk:
                break  # cut off meanwhile; the next look starts anew
            position += len(chunk)
            # Only the line that began in another chunk can be too long.
            first = chunk.find(b"\n") + 1
            if first and len(rest) + first - 1 > MAX_LINE_BYTES:
                self._pass(len(rest) + first)
                chunk, rest = chunk[first:], b""
            end = chunk.rfind(b"\n") + 1
            if not end:
                rest += chunk
                if len(rest) > MAX_LINE_BYTES:
                    position, rest = self._find_end(position), b""
                continue
            block = rest + chunk[:end] if rest else chunk[:end]
            start, rest = self.offset, chunk[end:]
            self.offset += len(block)
            yield start, block

    def _find_end(self, position: int) -> int:
        """Skip a line that is too long; where the next one begins."""
        while position < self._size:
            chunk = os.pread(self._descriptor, min(CHUNK_BYTES, self._size - position), position)
            if not chunk:
                break
            end = chunk.find(b"\n") + 1
            if end:
                self._pass(position + end - self.offset)
                return self.offset
            position += len(chunk)
        # Its end is not written yet: it stays in front of us, and costs no memory.
        return self._size

    def _pass(self, length: int) -> None:
        message = f"a line of {length} bytes was passed over"
        self.problems.append(model.Problem(self._path, f"byte {self.offset}", message))
        self.offset += length


def _spans(block: bytes, wanted: tuple[bytes | re.Pattern[bytes], ...]) -> list[tuple[int, int]]:
    """Where the lines are that hold something of what is wanted."""
    spans: dict[int, int] = {}
    for each in wanted:
        at = _next(block, each, 0)
        while at >= 0:
            end = block.find(b"\n", at)
            spans[block.rfind(b"\n", 0, at) + 1] = end
            at = _next(block, each, end)
    return sorted(spans.items())


def _next(block: bytes, wanted: bytes | re.Pattern[bytes], begin: int) -> int:
    if isinstance(wanted, bytes):
        return block.find(wanted, begin)
    found = wanted.search(block, begin)
    return found.start() if found else -1


def anchor(descriptor: int, offset: int) -> str:
    """What tells a file that has grown from another one: its first bytes, and those before here."""
    first = os.pread(descriptor, min(_ANCHOR_BYTES, offset), 0)
    begin = max(0, offset - _ANCHOR_BYTES)
    last = os.pread(descriptor, offset - begin, begin)
    return hashlib.blake2b(first + b"\0" + last, digest_size=12).hexdigest()


def head(descriptor: int) -> bytes:
    """The first bytes; the last line of them may be cut."""
    return os.pread(descriptor, adapter.HEAD_BYTES, 0)


def tails(descriptor: int, end: int) -> Iterator[bytes]:
    """The last whole lines before an offset that is the end of one: few, then ever more.

    Which ones depends on nothing but the bytes before the offset. A line that is too long for a
    tail is left out, with those before and after it side by side.
    """
    kept: list[bytes] = []
    rest = b""
    begin, amount = end, adapter.TAIL_BYTES
    is_long = False
    while begin and sum(map(len, kept)) < MAX_TAIL_BYTES and end - begin < _MAX_SEARCHED_BYTES:
        amount = min(amount, begin)
        begin -= amount
        piece = os.pread(descriptor, amount, begin)
        if len(piece) < amount:
            return  # cut off meanwhile; the next look starts anew
        # What stands before the first line end is the rest of a line that begins before the piece,
        # what stands behind the last one the beginning of the line that the last rest is of.
        first = piece.find(b"\n") + 1 if begin else 0
        last = piece.rfind(b"\n") + 1
        line = b"" if is_long else piece[last:] + rest
        is_long = is_long or len(line) > MAX_TAIL_BYTES
        if begin and not last:
            rest = b"" if is_long else line
        else:
            kept.insert(0, piece[first:last] + (b"" if is_long else line))
            rest, is_long = piece[:first], False
            yield b"".join(kept)
        amount = min(_TAIL_GROWTH * (end - begin), CHUNK_BYTES)
