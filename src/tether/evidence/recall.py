"""The last words of a session and what failed for it, read from its transcript when asked for.

A transcript holds far more than a timeline needs, so this looks into the file itself, near the
place where the task was last touched and at its end, for as long as the file is there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from tether.evidence import mentions, model, readers, stretches
from tether.evidence.transcripts import adapter
from tether.hints import NamedTuple

_WINDOW_BYTES = 1024 * 1024
# A conversation that is one piece of JSON is read whole, or not at all.
_MAX_WHOLE_BYTES = 16 * 1024 * 1024
_MAX_WINDOWS = 3
_BYTES = re.compile(r"bytes=([0-9]{1,15})-[0-9]{1,15}")
_MAX_CHARS = 2000


class Said(NamedTuple):
    """What the agent itself said."""

    at: str
    text: str
    pointer: str


class Failed(NamedTuple):
    """A command that failed."""

    at: str
    command: str
    error: str
    pointer: str


class Recalled(NamedTuple):
    """What a transcript has of a stretch of time, oldest first."""

    said: list[Said]
    failed: list[Failed]


class _Piece(NamedTuple):
    """Something that was told, and between which times."""

    told: adapter.Told
    pointer: str
    since: str
    """Its own time, or the last one that is known before it; empty if none is."""
    until: str
    """Its own time, or the first one that is known after it."""


def recall(
    source: str,
    pointers: Iterable[str],
    path: str,
    times: Iterable[stretches.Stretch],
    *,
    at_end: bool,
) -> Recalled:
    """Look near each pointer into the file, and at its end if the session ended within a time."""
    chosen = readers.adapter_of(source)
    if chosen is None:
        return Recalled([], [])
    places = (_BYTES.fullmatch(each.rpartition("#")[2]) for each in pointers)
    offsets = [int(place[1]) for place in places if place]
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return Recalled([], [])
    try:
        size = os.fstat(descriptor).st_size
        if path.endswith(".json"):
            windows = [list(_whole(descriptor, path, size))]
        else:
            offsets += [size] if at_end else []
            wanted = sorted(set(offsets[-_MAX_WINDOWS:]))
            windows = [list(_lines(descriptor, path, offset, size)) for offset in wanted]
    except OSError:
        return Recalled([], [])
    finally:
        os.close(descriptor)
    told = [[(each, at) for raw, at in window for each in chosen.tell(raw)] for window in windows]
    return _recalled([piece for each in told for piece in _timed(each)], tuple(times))


def _lines(descriptor: int, path: str, offset: int, size: int) -> Iterator[tuple[bytes, str]]:
    """The lines around a place in a file, with what opens them."""
    begin = max(0, offset - _WINDOW_BYTES)
    # A pointer may be to what stood there before the file was replaced by a shorter one.
    length = max(0, min(size, offset + _WINDOW_BYTES) - begin)
    raw = os.pread(descriptor, length, begin)
    start = raw.find(b"\n") + 1 if begin else 0
    while (end := raw.find(b"\n", start)) >= 0:
        yield raw[start:end], f"file:{path}#bytes={begin + start}-{begin + end}"
        start = end + 1


def _whole(descriptor: int, path: str, size: int) -> Iterator[tuple[bytes, str]]:
    if size <= _MAX_WHOLE_BYTES:
        yield os.pread(descriptor, size, 0), f"file:{path}"


def _timed(told: list[tuple[adapter.Told, str]]) -> Iterator[_Piece]:
    """What was told, with the times that it lies between: not every agent writes down each."""
    after = []
    later = "9"
    for each, _ in reversed(told):
        later = each.at or later
        after.append(later)
    before = ""
    for (each, pointer), until in zip(told, reversed(after), strict=True):
        before = each.at or before
        yield _Piece(each, pointer, before, until)


def _recalled(pieces: list[_Piece], times: tuple[stretches.Stretch, ...]) -> Recalled:
    """The words and failures within some times, each once: agents write many things twice."""
    commands = {each.told.name: each.told.text for each in pieces if each.told.what == "called"}
    said: dict[str, Said] = {}
    failed: dict[str, Failed] = {}
    last = ""
    for told, pointer, begin, end in pieces:
        words = _short(told.text)
        if all(end < time.since or begin > time.until for time in times):
            continue
        if told.what == "said" and words and words != last:
            said.setdefault(told.name or pointer + words, Said(begin, words, pointer))
            last = words
        elif told.what == "failed":
            command = _short(commands.get(told.name, "")) if told.name else ""
            found = Failed(begin, command, words or "it failed", pointer)
            failed.setdefault(told.name or pointer, found)
    return Recalled(
        sorted(said.values(), key=lambda each: each.at),
        sorted(failed.values(), key=lambda each: each.at),
    )


def _short(value: str) -> str:
    return mentions.excerpt(value[:_MAX_CHARS])


def files_of(activities: Iterable[model.Activity]) -> list[tuple[str, int, str]]:
    """Which files were edited, how often, and when last; the last one first."""
    found: dict[str, tuple[int, str]] = {}
    for each in activities:
        if each.kind == model.WORKED and each.what == "edited":
            for path in each.files:
                count, last = found.get(path, (0, ""))
                found[path] = (count + 1, max(last, each.at))
    ordered = sorted(found.items(), key=lambda item: (item[1][1], item[0]), reverse=True)
    return [(path, count, last) for path, (count, last) in ordered]
