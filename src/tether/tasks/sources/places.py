"""Where in a checkout the files of its task lists are. Links are not followed."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

from tether.tasks.sources import dialects

# A checkout of any size is looked through for tracks in a fraction of a second: what is near the
# top is found first, and no team keeps its plans behind thousands of directories.
MAX_DIRECTORIES = 4000


def found(top: str, name: str) -> Iterator[str]:
    """The files of a list, the first place first."""
    if name == dialects.TRACK:
        yield from sorted(_tracks(top))
        return
    for place in dialects.PLACES[name]:
        some = sorted(
            path for path in _expanded(top, "", place) if dialects.dialect_of(path) == name
        )
        yield from some
        # Beads has changed the name of its export; where both are, the old one is left over.
        if some and name == dialects.BEADS:
            return


def _expanded(top: str, above: str, place: str) -> Iterator[str]:
    """The files that a place with `*` in it means."""
    part, _, rest = place.partition("/")
    names = [part] if "*" not in part else _names(top, above, part.removeprefix("*"), bool(rest))
    for name in names:
        path = f"{above}/{name}" if above else name
        here = seen(top, path)
        if here is None:
            continue
        if rest and stat.S_ISDIR(here.st_mode):
            yield from _expanded(top, path, rest)
        elif not rest and stat.S_ISREG(here.st_mode):
            yield path


def _names(top: str, directory: str, suffix: str, is_directory: bool) -> list[str]:
    with _opened(os.path.join(top, directory)) as entries:
        return [
            entry.name
            for entry in entries
            if entry.name.endswith(suffix) and is_directory == entry.is_dir(follow_symlinks=False)
        ]


def _tracks(top: str) -> Iterator[str]:
    """The files of tracks, breadth first."""
    level = [""]
    looked = 0
    for _ in range(dialects.MAX_DEPTH + 1):
        below: list[str] = []
        for directory in level:
            looked += 1
            if looked > MAX_DIRECTORIES:
                return
            yield from _tracks_in(top, directory, below)
        level = below


def _tracks_in(top: str, directory: str, below: list[str]) -> Iterator[str]:
    """The tracks in a directory; the directories in it that are looked into are added to a list."""
    prefix = f"{directory}/" if directory else ""
    inner: list[str] = []
    tracks: list[str] = []
    with _opened(os.path.join(top, directory)) as entries:
        for entry in entries:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                if dialects.is_read(name):
                    inner.append(prefix + name)
            elif dialects.is_track(name) and entry.is_file(follow_symlinks=False):
                tracks.append(prefix + name)
            if name == ".git" and directory:
                # Another checkout: a submodule, a linked worktree. Its lists are its own.
                return
    below += sorted(inner)
    yield from tracks


@contextlib.contextmanager
def _opened(path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """What is in a directory; nothing if it cannot be listed."""
    try:
        entries = os.scandir(path)
    except OSError:
        yield iter(())
        return
    with entries:
        yield entries


def seen(top: str, path: str) -> os.stat_result | None:
    """What the file system says of a file, itself and not what a link leads to."""
    try:
        return os.stat(os.path.join(top, path), follow_symlinks=False)
    except OSError:
        return None
