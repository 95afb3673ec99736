"""The parent's side: jobs given to a child, and what is done when it hangs or dies."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import cast

import msgspec

import tether
from tether import errors, text
from tether.git import Oid
from tether.hints import NamedTuple
from tether.lineage import cache, encoding, identities, installed, library, quarantine, symbols
from tether.lineage import history as model
from tether.lineage.sandbox import jobs, recorder, wire

# Where this Tether is. Beside it and the interpreter's own places nothing is imported from: not
# from the current directory, and not from what the environment names.
PLACES = (os.path.dirname(os.path.dirname(os.path.abspath(tether.__file__))),)
_START = (
    "import sys\n"
    "sys.path[:0] = [each for each in sys.argv[3:] if each not in sys.path]\n"
    "from tether.lineage.sandbox import child\n"
    "child.main(int(sys.argv[1]), int(sys.argv[2]))"
)
_LOOK_SECONDS = 0.25
# A grammar may also wait for something, or the machine be busy, while no processor time is used.
_WAITING = 12
# Who sends these means the process, not the file that it is at.
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

_ANSWER = msgspec.msgpack.Decoder(wire.Answer)
_HISTORY = msgspec.msgpack.Decoder(encoding.HistoryWire)
_TOLD = msgspec.msgpack.Decoder(tuple[encoding.PlaceWire, encoding.HistoryWire])
_MATCHES = msgspec.msgpack.Decoder(list[list[encoding.MatchWire]])
_BUILT = msgspec.msgpack.Decoder(tuple[str, int, int, bool, bool, bool])
_COUNT = msgspec.msgpack.Decoder(int)
_OUTLINES = msgspec.msgpack.Decoder(list[tuple[bytes, str]])


class _Ended(NamedTuple):
    """How a child ended that gave no answer, and what it was at."""

    code: int
    note: recorder.Note
    is_stalled: bool = False


class Sandbox:
    """Does jobs for one repository, one after another."""

    def __init__(
        self,
        directory: str,
        store_dir: str = "",
        limits: jobs.Limits | None = None,
        places: Sequence[str] = PLACES,
    ) -> None:
        """Without a store directory nothing is kept. Modules are looked for in `places` first."""
        self._directory = directory
        self._store_dir = store_dir
        self._limits = limits or jobs.Limits()
        self._places = places
        self._child: _Child | None = None
        self.quarantine = quarantine.Quarantine(store_dir)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> None:
        """Have the process ready when the first job comes: it takes a while to begin."""
        installed.require()
        self._child = self._child or _Child(self._places)

    def history(
        self, commit: Oid, selector: str, below: str = "", *, everywhere: bool = False
    ) -> jobs.Told:
        """The symbol that a person names, in a directory of a commit, and its history.

        What was split from it and went into it is looked for at its introduction, or everywhere.
        """
        words = (encoding.path_out(selector), encoding.path_out(below))
        asked = jobs.Select(str(commit), *words, everywhere)
        symbol, told = _TOLD.decode(self._run("history", asked))
        return jobs.Told(encoding.place_in(symbol), encoding.history_in(told))

    def trace(self, commit: Oid, path: str, first_line: int, last_line: int) -> model.History:
        """The history of the smallest symbol that has these lines in a commit."""
        asked = jobs.Trace(str(commit), encoding.path_out(path), first_line, last_line)
        return encoding.history_in(_HISTORY.decode(self._run("trace", asked)))

    def compare(self, pairs: Iterable[tuple[Oid, Oid | None]]) -> list[list[model.Match]]:
        """What each commit did to symbols, against one of its parents or none."""
        asked = jobs.Compare(
            [(str(each), str(parent) if parent else None) for each, parent in pairs]
        )
        found = _MATCHES.decode(self._run("compare", asked))
        return [[encoding.match_in(match) for match in matches] for matches in found]

    def outlines(self, blobs: Iterable[tuple[Oid, str]]) -> list[symbols.Outline | library.WhyNot]:
        """The outline of each blob, at a path that says its language, or why there is none."""
        asked = jobs.Outlines([(str(oid), encoding.path_out(path)) for oid, path in blobs])
        found = _OUTLINES.decode(self._run("outlines", asked))
        return [_outline(*each) for each in found]

    def prepare(self, blobs: Iterable[tuple[Oid, str]]) -> int:
        """Keep the outline of each blob in the index; of how many there is one."""
        asked = jobs.Outlines([(str(oid), encoding.path_out(path)) for oid, path in blobs])
        return _COUNT.decode(self._run("prepare", asked))

    def identify(
        self, tip: Oid, *, anew: bool = False, at_most: int | None = None
    ) -> identities.Built:
        """Follow all files and symbols up to a commit, and keep that in the index."""
        asked = jobs.Identify(str(tip), encoding.path_out(self._store_dir), anew, at_most)
        oid, count, events, *flags = _BUILT.decode(self._run("identify", asked))
        is_anew, is_kept, is_whole = flags
        return identities.Built(
            Oid(oid), count, events, bool(is_anew), bool(is_kept), bool(is_whole)
        )

    def close(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None

    def _run(self, job: str, arguments: msgspec.Struct) -> bytes:
        """The result of a job; files at which the child dies are left out in the next attempt."""
        installed.require()
        blamed: list[str] = []
        while len(blamed) <= self._limits.max_blamed:
            answer = self._ask(job, msgspec.msgpack.encode(arguments))
            if isinstance(answer, _Ended):
                culprit = _culprit(answer, self._limits)
                blamed.append(culprit.blob)
                self.quarantine.add(culprit)
                continue
            for blob, version, path, why in answer.failed:
                blamed.append(blob)
                where = text.one_line(encoding.path_in(path), 200)
                self.quarantine.add(quarantine.Blamed(blob, version, where, why))
            if answer.problem is not None:
                wire.raise_problem(answer.problem)
            return answer.result
        raise errors.LineageError(
            f"Grammars failed at more than {self._limits.max_blamed} files of one question.",
            hint="See which with `tether doctor`; the next attempt leaves them out.",
        )

    def _ask(self, job: str, arguments: bytes) -> wire.Answer | _Ended:
        request = jobs.Request(
            job,
            arguments,
            encoding.path_out(self._directory),
            encoding.path_out(self._store_dir),
            {(each.blob, each.version) for each in self.quarantine.all()},
            self._limits,
        )
        child = self._child = self._child or _Child(self._places)
        try:
            found = child.do(msgspec.msgpack.encode(request), self._limits)
        except BaseException:
            self.close()
            raise
        if isinstance(found, _Ended):
            self.close()
            return found
        return _ANSWER.decode(found)


class _Child:
    """A process and the ways to it."""

    def __init__(self, places: Sequence[str]) -> None:
        self._note, described = recorder.make()
        self._answers, given = os.pipe()
        os.set_blocking(self._answers, False)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _START, str(described), str(given), *places],
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(described, given),
                process_group=0,
            )
        except OSError as problem:
            self._close()
            raise errors.LineageError(
                f"The process that parses could not be started: {problem.strerror}."
            ) from None
        finally:
            os.close(described)
            os.close(given)

    def do(self, request: bytes, limits: jobs.Limits) -> bytes | _Ended:
        """The answer to a request, or how the child ended instead."""
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 - it is a pipe
        with contextlib.suppress(BrokenPipeError):
            wire.send(stdin.write, request)
            stdin.flush()
        watch = _Watch(limits)
        content = b""
        size: int | None = None
        while size is None or len(content) < size:
            if select.select([self._answers], [], [], _LOOK_SECONDS)[0]:
                chunk = os.read(self._answers, 1 << 20)
                if not chunk:
                    return _Ended(self._process.wait(), self._note.read())
                content += chunk
                if size is None and len(content) >= 8:
                    size, content = int.from_bytes(content[:8], "big"), content[8:]
            elif watch.is_stalled(self._note.read()):
                note = self._note.read()
                self._kill()
                return _Ended(self._process.wait(), note, is_stalled=True)
        return content

    def end(self) -> None:
        self._kill()
        with contextlib.suppress(BrokenPipeError):
            self._process.__exit__(None, None, None)
        self._close()

    def _kill(self) -> None:
        """With the gits that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _close(self) -> None:
        os.close(self._answers)
        self._note.close()


class _Watch:
    """Whether a child stands still."""

    def __init__(self, limits: jobs.Limits) -> None:
        self._limits = limits
        self._beats = -1
        self._since = time.monotonic()

    def is_stalled(self, note: recorder.Note) -> bool:
        now = time.monotonic()
        if note.beats != self._beats:
            self._beats, self._since = note.beats, now
        seconds = self._limits.stall_seconds
        if note.is_parsing and self._limits.parse_seconds:
            seconds = self._limits.parse_seconds * _WAITING
        return bool(seconds) and now - self._since > seconds


def _culprit(ended: _Ended, limits: jobs.Limits) -> quarantine.Blamed:
    """The file that a child died of; an error if it was at none, or did not die by itself."""
    number = -ended.code
    is_timed_out = number == signal.SIGPROF or (ended.is_stalled and limits.parse_seconds > 0)
    if ended.note.is_parsing and (is_timed_out or number not in _FROM_OUTSIDE):
        why = f"took more than {limits.parse_seconds:g} s" if is_timed_out else _crashed(ended.code)
        return quarantine.Blamed(*ended.note[2:], why)
    if ended.is_stalled:
        raise errors.LineageError(
            f"The process that parses did nothing for {limits.stall_seconds:g} seconds, and was"
            " ended.",
            hint="Try again; if it comes to that again, name a smaller part of the history.",
        )
    raise errors.LineageError(
        f"The process that parses {_crashed(ended.code)}, and not because of a file.",
        hint="Try again, and report it if it comes to that again.",
    )


def _crashed(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    try:
        return f"crashed ({signal.Signals(-code).name})"
    except ValueError:
        return f"crashed (signal {-code})"


def _outline(raw: bytes, why_not: str) -> symbols.Outline | library.WhyNot:
    if why_not:
        return cast("library.WhyNot", why_not)
    found = cache.decoded(raw)
    if found is None:
        raise RuntimeError("the process that parses sent no outline")
    return found
