"""A history made up elsewhere, put into a new repository at once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator

from tether.git import process
from tether.git.objects import Oid


def import_stream(directory: str | os.PathLike[str], chunks: Iterable[bytes]) -> dict[int, Oid]:
    """Feed `git fast-import` with a stream; the commits by the marks that the stream gives them.

    Neither the working tree nor the index is touched.
    """
    with tempfile.TemporaryDirectory() as place:
        marks = os.path.join(place, "marks")
        process.Runner(directory).feed(
            # A log of the branches would say when this was done, and differ from run to run.
            *("-c", "core.logAllRefUpdates=false"),
            *("fast-import", "--quiet", "--done", f"--export-marks={marks}"),
            chunks=_ended(chunks),
        )
        with open(marks, encoding="ascii") as file:
            pairs = (line.split() for line in file)
            return {int(mark[1:]): Oid(oid) for mark, oid in pairs}


def _ended(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """A stream that breaks off must not pass for a whole one."""
    yield from chunks
    yield b"done\n"
