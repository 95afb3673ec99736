"""The last lines of a file that another program is writing."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PIECE_BYTES = 512 * 1024


def last_lines(path: str, max_bytes: int) -> Iterator[bytes]:
    """The whole lines of a file, the last one first, as far back as so many bytes.

    No more is read than is asked for. What cannot be read has no lines: it is another program's
    file, and may vanish or be cut at any moment.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return
    try:
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode):
            yield from _backwards(descriptor, found.st_size, max_bytes)
    except OSError:
        return
    finally:
        os.close(descriptor)


def _backwards(descriptor: int, end: int, max_bytes: int) -> Iterator[bytes]:
    floor = max(0, end - max_bytes)
    rest = b""
    # What follows the last line end is still being written.
    is_torn = True
    while end > floor:
        begin = max(floor, end - _PIECE_BYTES)
        piece = os.pread(descriptor, end - begin, begin)
        if len(piece) < end - begin:
            return  # cut off meanwhile
        rest, *whole = (piece + rest).split(b"\n")
        if is_torn and whole:
            whole.pop()
            is_torn = False
        yield from reversed(whole)
        end = begin
    if end == 0 and not is_torn:
        yield rest
