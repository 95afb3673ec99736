"""Files of the repository with their outlines, read when they are asked for.

What cannot be read is no candidate for anything, and is said at the end: too large, binary, made by
a machine for machines, missing in this clone, or something that a grammar choked on.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable

from tether.git import Blob, Git, Oid
from tether.git.comparing import Comparer
from tether.git.reading import Reader
from tether.hints import Literal, Protocol
from tether.lineage import languages, sources, symbols

MAX_BYTES = 1024 * 1024
# Nobody writes lines of this length by hand; the mean of many.
_MINIFIED_LINE_BYTES = 400
_MINIFIED_FROM_BYTES = 10_000
# How much is kept at a time.
_MAX_KEPT_BYTES = 64 * 1024 * 1024
# How many files git reads ahead: all of them are read before anything else is answered.
_ASKED = 12

WhyNot = Literal["too large", "minified", "binary", "missing", "no grammar", "quarantined"]

WHY: dict[WhyNot, str] = {
    "too large": "it has more than 1 MB",
    "minified": "its lines are too long for people, so a machine made it",
    "binary": "it is binary, whatever its name says",
    "missing": "its content is not in this clone",
    "no grammar": "the grammar of its language is not installed",
    "quarantined": "its grammar hung or crashed at it; `tether doctor` says more",
}
"""For people."""


class Outlines(Protocol):
    """Gives the outline of a blob, from a cache or a parser; None if there is none to be had."""

    def outline(
        self, oid: Oid, language: languages.Language, data: bytes
    ) -> symbols.Outline | None: ...

    def part(self, oid: Oid, language: languages.Language, data: bytes) -> symbols.Outline | None:
        """The same of a part of it, which is not worth keeping."""
        ...


class Library:
    """Reads the files of one repository."""

    def __init__(self, git: Git, outlines: Outlines) -> None:
        self.git = git
        self.reader = Reader(git)
        self.comparer = Comparer(git)
        self.unknown: dict[str, WhyNot] = {}
        """Why a path could not be read in some version."""
        self._outlines = outlines
        self._data: dict[Oid, bytes | None] = {}
        self._why_not: dict[Oid, WhyNot] = {}
        self._sources: dict[tuple[str, Oid], sources.Source] = {}
        self._kept_bytes = 0
        self._expected: dict[Oid, str] = {}
        self._asked: dict[Oid, str] = {}
        """What git is reading."""

    @functools.cached_property
    def boundary(self) -> frozenset[str]:
        """The commits at which a shallow clone ends: what they come from counts as not here."""
        return self.git.shallow()

    def parents(self, commit: Oid) -> list[Oid]:
        """The parents of a commit that are here."""
        named = () if commit in self.boundary else self.reader.parents(commit) or ()
        return [parent for parent in named if self.reader.parents(parent) is not None]

    def close(self) -> None:
        self.reader.close()
        self.comparer.close()

    def data(self, path: str, oid: Oid) -> bytes | None:
        """The content of a file; None if it is not one that people write code in."""
        if oid in self._data:
            return self._known(path, oid)
        while oid in self._asked or oid in self._expected:
            self._ask_ahead()
            blob = self.reader.receive()
            self._take(self._asked.pop(blob.oid), blob)
            if blob.oid == oid:
                return self._known(path, oid)
        return self._take(path, self.reader.blob(oid, MAX_BYTES))

    def expect(self, files: Iterable[tuple[str, Oid]]) -> None:
        """Let git read some files that will be asked for in this order; no others from now on."""
        self._expected = {
            oid: path for path, oid in files if oid not in self._data and oid not in self._asked
        }
        self._ask_ahead()

    def _ask_ahead(self) -> None:
        if len(self._asked) > _ASKED // 2:
            return
        some = dict(itertools.islice(self._expected.items(), _ASKED - len(self._asked)))
        if some:
            self.reader.ask_ahead(list(some), MAX_BYTES)
            self._asked |= some
            for oid in some:
                del self._expected[oid]

    def _take(self, path: str, blob: Blob) -> bytes | None:
        why = _why_not(blob.data) if blob.data is not None else _WHY_MISSING[blob.why_missing]
        if why:
            self._why_not[blob.oid] = why
        # Line ends are a habit of machines: a commit that only changes them changes no symbol.
        plain = (blob.data or b"").replace(b"\r\n", b"\n")
        self._keep(blob.oid, None if why else plain)
        return self._known(path, blob.oid)

    def _known(self, path: str, oid: Oid) -> bytes | None:
        """What was read before; why not is said again, because whoever asks may not know it."""
        if oid in self._why_not:
            self.unknown[path] = self._why_not[oid]
        return self._data[oid]

    def source(self, path: str, oid: Oid) -> sources.Source | None:
        """A file with its outline; None if symbols cannot be found in it."""
        found = self._sources.get((path, oid))
        if found is None:
            found = self._read(path, oid)
            if found is not None:
                self._sources[path, oid] = found
        return found

    def at(self, commit: Oid, path: str) -> sources.Source | None:
        """A file of a commit with its outline; None if it has none, or no symbols can be found."""
        oid = self._oid_at(commit, path)
        return self.source(path, oid) if oid else None

    def data_at(self, commit: Oid, path: str) -> bytes | None:
        """The content of a file of a commit, if it has one that people write code in."""
        oid = self._oid_at(commit, path)
        return self.data(path, oid) if oid else None

    def _oid_at(self, commit: Oid, path: str) -> Oid | None:
        """What a commit has at a path, of which the content comes with the answer."""
        blob = self.reader.at(commit, path, MAX_BYTES)
        if blob is not None and blob.data is not None and blob.oid not in self._data:
            self._take(path, blob)
        return blob.oid if blob else None

    def part(self, path: str, oid: Oid, data: bytes) -> symbols.Outline | None:
        """The outline of a part of a file."""
        # The whole says which language it is: its parts may look otherwise.
        language = languages.of_file(path, self.data(path, oid) or data)
        return self._outlines.part(oid, language, data) if language else None

    def _read(self, path: str, oid: Oid) -> sources.Source | None:
        if languages.of_path(path) is None:
            return None
        data = self.data(path, oid)
        language = languages.of_file(path, data) if data is not None else None
        if data is None or language is None:
            return None
        if not languages.version_of(language):
            self.unknown[path] = "no grammar"
            return None
        outline = self._outlines.outline(oid, language, data)
        if outline is None:
            self.unknown[path] = "quarantined"
            return None
        return sources.Source(path, data, outline)

    def _keep(self, oid: Oid, data: bytes | None) -> None:
        self._kept_bytes += len(data or b"")
        if self._kept_bytes > _MAX_KEPT_BYTES:
            self._data.clear()
            self._sources.clear()
            self._kept_bytes = len(data or b"")
        self._data[oid] = data


_WHY_MISSING: dict[str, WhyNot] = {
    "missing": "missing",
    "too_large": "too large",
    "not_a_blob": "missing",
}


def _why_not(data: bytes) -> WhyNot | None:
    if b"\0" in data[:8000]:
        return "binary"
    if len(data) > _MINIFIED_FROM_BYTES:
        lines = data.count(b"\n") + 1
        if len(data) / lines > _MINIFIED_LINE_BYTES:
            return "minified"
    return None


class InThisProcess:
    """Parses right here: for trusted input, and inside a process that may die."""

    def __init__(self, announce: Callable[[Oid], None] | None = None) -> None:
        self._announce = announce

    def outline(
        self, oid: Oid, language: languages.Language, data: bytes
    ) -> symbols.Outline | None:
        from tether.lineage import extracting

        if self._announce is not None:
            self._announce(oid)
        return extracting.extract(language, data)

    def part(self, oid: Oid, language: languages.Language, data: bytes) -> symbols.Outline | None:
        return self.outline(oid, language, data)
