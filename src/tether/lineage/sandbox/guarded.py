"""How the child parses: with a note of the file, a limit of time and a limit of memory.

The limits are the kernel's, because Python does not get a word in while a grammar runs.
"""

from __future__ import annotations

import contextlib
import resource
import signal

from tether.git import Git, Oid
from tether.hints import TYPE_CHECKING, NamedTuple
from tether.lineage import languages, library, sources, symbols
from tether.lineage.sandbox import recorder

if TYPE_CHECKING:
    from tether.lineage import reading


class Failure(NamedTuple):
    """A file that could not be parsed, though the process survived that."""

    blob: str
    version: str
    path: str
    why: str


class Guarded:
    """Outlines by parsing, unless a file is in quarantine."""

    def __init__(
        self,
        note: recorder.Recorder,
        quarantined: set[tuple[str, str]],
        seconds: float,
        memory_bytes: int,
    ) -> None:
        self.path = ""
        """Of the file that comes next."""
        self.failed: list[Failure] = []
        self._note = note
        self._quarantined = quarantined
        self._seconds = seconds
        self._memory_bytes = memory_bytes
        self._usual = resource.getrlimit(resource.RLIMIT_AS)
        self._reader: reading.Reader | None = None

    def outline(
        self, oid: Oid, language: languages.Language, data: bytes
    ) -> symbols.Outline | None:
        from tether.lineage import extracting, reading

        version = languages.version_of(language)
        if (oid, version) in self._quarantined:
            return None
        try:
            self._begin(oid, version)
            self._reader = self._reader or reading.Reader()
            return extracting.extract(language, data, self._reader.read(language, data))
        except ImportError:
            raise  # no fault of this file
        except Exception as problem:  # noqa: BLE001 - one file must not cost the whole answer
            self.failed.append(Failure(str(oid), version, self.path, _said(problem)))
            self._quarantined.add((oid, version))
            return None
        finally:
            self._usual_limits()
            self._note.end()

    def part(self, oid: Oid, language: languages.Language, data: bytes) -> symbols.Outline | None:
        return self.outline(oid, language, data)

    def _begin(self, oid: Oid, version: str) -> None:
        self._note.begin(oid, version, self.path)
        # Only here: git maps whole packs, and would inherit the limit. The timer counts the time
        # that this process has the processor, and its signal ends it: a busy machine is no hang.
        _limit_memory(self._memory_bytes, self._usual)
        signal.setitimer(signal.ITIMER_PROF, self._seconds)

    def _usual_limits(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        _limit_memory(self._usual[0], self._usual)


class WatchedLibrary(library.Library):
    """A library that shows progress and says which file is parsed."""

    def __init__(
        self, git: Git, outlines: library.Outlines, guarded: Guarded, note: recorder.Recorder
    ) -> None:
        super().__init__(git, outlines)
        self._guarded = guarded
        self._note = note

    def data(self, path: str, oid: Oid) -> bytes | None:
        self._note.beat()
        return super().data(path, oid)

    def source(self, path: str, oid: Oid) -> sources.Source | None:
        self._guarded.path = path
        return super().source(path, oid)

    def part(self, path: str, oid: Oid, data: bytes) -> symbols.Outline | None:
        self._guarded.path = path
        return super().part(path, oid, data)


def _limit_memory(size: int, usual: tuple[int, int]) -> None:
    hard = usual[1]
    if hard != resource.RLIM_INFINITY and (size == resource.RLIM_INFINITY or size > hard):
        size = hard
    with contextlib.suppress(OSError, ValueError):  # macOS has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (size, hard))


def _said(problem: Exception) -> str:
    if isinstance(problem, MemoryError):
        return "needs too much memory"
    return f"{type(problem).__name__} while its symbols were looked for"
