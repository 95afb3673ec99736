"""What a process was doing when it died: a note in memory that outlives it.

Both sides map one file that has no name. To write takes no system call; to read is only worth it
when the other side is dead or stands still.
"""

from __future__ import annotations

import mmap
import os
import struct
import tempfile

from tether.hints import NamedTuple

_BEATS = struct.Struct("<Q")
_NOTE = struct.Struct("<Q?64s96s512s")


class Note(NamedTuple):
    """How far a process had come, and which file it was parsing, if any."""

    beats: int
    is_parsing: bool
    blob: str
    version: str
    path: str


class Recorder:
    """One side of the note."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, _NOTE.size)
        self._beats = 0

    def beat(self) -> None:
        """Say that there is progress."""
        self._beats += 1
        _BEATS.pack_into(self._memory, 0, self._beats)

    def begin(self, blob: str, version: str, path: str) -> None:
        """Say what is going to be parsed."""
        self._beats += 1
        place = path.encode("utf-8", "surrogateescape")
        _NOTE.pack_into(self._memory, 0, self._beats, True, blob.encode(), version.encode(), place)

    def end(self) -> None:
        """Say that it was parsed."""
        self._memory[_BEATS.size] = 0

    def read(self) -> Note:
        beats, is_parsing, *words = _NOTE.unpack_from(self._memory)
        blob, version, path = (word.rstrip(b"\0") for word in words)
        return Note(
            beats,
            is_parsing,
            blob.decode("ascii", "replace"),
            version.decode("utf-8", "replace"),
            path.decode("utf-8", "replace"),
        )

    def close(self) -> None:
        self._memory.close()


def make() -> tuple[Recorder, int]:
    """A note with nothing in it, and the file that another process can map."""
    with tempfile.TemporaryFile(buffering=0) as file:
        file.truncate(_NOTE.size)
        return Recorder(file.fileno()), os.dup(file.fileno())
