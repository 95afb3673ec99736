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
            end = chunk.rfind(b"\n") + 1
            if not end:
                rest += chunk
                if len(rest) > MAX_LINE_BYTES:
                    position, rest = self._pass_over(position), b""
                continue
            block = rest + chunk[:end] if rest else chunk[:end]
            start, rest = self.offset, chunk[end:]
            self.offset += len(block)
            yield start, block

    def _pass_over(self, position: int) -> int:
        """Skip a line that is too long; where the next one begins."""
        begin = self.offset
        while position < self._size:
            chunk = os.pread(self._descriptor, min(CHUNK_BYTES, self._size - position), position)
            if not chunk:
                break
            end = chunk.find(b"\n") + 1
            if end:
                self.offset = position + end
                message = f"a line of {self.offset - begin} bytes was passed over"
                self.problems.append(model.Problem(self._path, f"byte {begin}", message))
                return self.offset
            position += len(chunk)
        # Its end is not written yet: it stays in front of us, and costs no memory.
        return self._size


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


def tail(descriptor: int, end: int) -> bytes:
    """The last bytes before an offset that is the end of a line; from the start of a line."""
    begin = max(0, end - adapter.TAIL_BYTES)
    piece = os.pread(descriptor, end - begin, begin)
    return piece if not begin else piece[piece.find(b"\n") + 1 :]
