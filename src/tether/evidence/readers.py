"""Which reader reads which kind of file, and how each goes on where it stopped."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterable

from tether.evidence import lines, model, places
from tether.evidence.history import features
from tether.evidence.transcripts import adapter
from tether.hints import Any, NamedTuple, Protocol
from tether.tasks.sources import patterns

_MAX_TEXT_BYTES = 32 * 1024 * 1024
# How many lines are read before what they said is handed on.
_BATCH = 2000
MAX_PROBLEMS = 50
_TRANSCRIPTS = ("claude:transcript", "codex:rollout", "gemini:session", "cursor:transcript")


class Known(NamedTuple):
    """A file as the index has it."""

    id: int = 0
    stamp: str = ""
    reader: str = ""
    is_ours: bool = True
    offset: int = 0
    anchor: str = ""
    state: str = "{}"
    facts: model.Session | None = None
    problems: tuple[model.Problem, ...] = ()


class Update(NamedTuple):
    """What a look at a file came to."""

    is_ours: bool = True
    offset: int = 0
    anchor: str = ""
    state: str = "{}"
    facts: model.Session | None = None
    problems: tuple[model.Problem, ...] = ()
    read_bytes: int = 0
    more_problems: int = 0
    """How many there are besides."""


class Sink(Protocol):
    """Where the activities of a file go."""

    def forget(self) -> None:
        """What was known of the file counts no more: it is read from the start."""

    def add(self, activities: Iterable[model.Activity]) -> None: ...


class Aims(NamedTuple):
    """What is looked for."""

    finder: patterns.Finder
    roots: tuple[str, ...]
    """The checkouts."""
    has_file: Callable[[str], bool] = lambda _: False
    """Is a file among those that are read anyway?"""


class Reader(NamedTuple):
    """How one kind of file is read."""

    version: str
    """Another one makes every file be read again."""
    read: Callable[[places.Found, Known, Aims, Sink], Update]


def of(source: str) -> Reader:
    """The reader of a kind of file."""
    if source in ("coditect:log", "specstory:history", "gemini:whole"):
        from tether.evidence.coditect import session_logs
        from tether.evidence.transcripts import gemini, specstory

        version, read = {
            "coditect:log": (session_logs.VERSION, session_logs.read),
            "specstory:history": (specstory.VERSION, specstory.read),
            "gemini:whole": (gemini.ADAPTER.version, gemini.read_whole),
        }[source]
        return Reader(version, lambda *each: _read_text(read, *each))
    if source in ("coditect:messaging", "coditect:sessions"):
        from tether.evidence.coditect import messaging, sessions_db

        database = messaging if source == "coditect:messaging" else sessions_db
        return Reader(database.VERSION, database.bring_forward)
    chosen = _adapter(source)
    return Reader(chosen.version, lambda *each: _read_lines(chosen, *each))


def adapter_of(source: str) -> adapter.Adapter | None:
    """The adapter of an agent's transcripts; None for what is no transcript."""
    return _adapter(source) if source in _TRANSCRIPTS else None


def _adapter(source: str) -> adapter.Adapter:
    """The adapter of an agent's transcripts: imported only where there are some."""
    if source == "claude:transcript":
        from tether.evidence.transcripts import claude

        return claude.ADAPTER
    if source == "codex:rollout":
        from tether.evidence.transcripts import codex

        return codex.ADAPTER
    if source == "gemini:session":
        from tether.evidence.transcripts import gemini

        return gemini.ADAPTER
    from tether.evidence.transcripts import cursor

    return cursor.ADAPTER


def _read_lines(
    chosen: adapter.Adapter, found: places.Found, known: Known, aims: Aims, sink: Sink
) -> Update:
    with _opened(found.path) as descriptor:
        size = os.fstat(descriptor).st_size
        is_same = known.offset <= size and lines.anchor(descriptor, known.offset) == known.anchor
        if not is_same or not known.reader:
            known = Known(id=known.id)
            sink.forget()
        facts = known.facts
        if known.offset < adapter.HEAD_BYTES:
            facts = _with_head(chosen.head(found.path, lines.head(descriptor)), known.facts)
        if facts is None or not _is_ours(facts, found, aims.roots):
            # Its head is all that is read of somebody else's, and nothing of it is kept.
            sink.forget()
            return Update(is_ours=False, anchor=lines.anchor(descriptor, 0))
        source = lines.Lines(descriptor, found.path, known.offset, size)
        state = json.loads(known.state)
        problems = _Problems(known, state)
        file = adapter.File(found.path, facts.session)
        # Claude Code says with every record on which branch it is.
        branch = facts.branch if chosen.source != "claude:transcript" else ""
        mattering = source.mattering((*aims.finder.raw, *chosen.needles))
        while batch := list(itertools.islice(mattering, _BATCH)):
            read = chosen.read(file, batch, aims.finder, state)
            sink.add(features.all_placed(read.activities, branch))
            problems.add(read.problems)
            facts = _with_marks(facts, read.marks)
        problems.add(source.problems)
        facts = _with_tail(facts, _tail(chosen, descriptor, source.offset))
        return Update(
            True,
            source.offset,
            lines.anchor(descriptor, source.offset),
            json.dumps(state, sort_keys=True),
            facts,
            tuple(problems.first),
            source.offset - known.offset,
            problems.more,
        )


def _tail(chosen: adapter.Adapter, descriptor: int, end: int) -> model.Session:
    """How a session stands at the end of a line, by as many of the last lines as tell all of it."""
    found = chosen.tail(b"")
    for last in lines.tails(descriptor, end):
        found = chosen.tail(last)
        if found.last_at and found.ending and found.last_said:
            break
    return found


class _Problems:
    """The first problems of a file of lines, by where they are, and how many more there are.

    All that are known stand before all that are new, so it does not matter how often it was read.
    """

    def __init__(self, known: Known, state: dict[str, Any]) -> None:
        self._state = state
        self.first = [each for each in known.problems if each.where]

    @property
    def more(self) -> int:
        return int(self._state.get("problems", 0))

    def add(self, found: list[model.Problem]) -> None:
        if found:
            ordered = sorted((*self.first, *found), key=_place)
            self.first = ordered[:MAX_PROBLEMS]
            self._state["problems"] = self.more + len(ordered) - len(self.first)


def _place(problem: model.Problem) -> int:
    return int(problem.where.removeprefix("byte "))


def _read_text(
    read: Callable[[str, str, patterns.Finder], model.Logged],
    found: places.Found,
    _: Known,
    aims: Aims,
    sink: Sink,
) -> Update:
    """A text that is small enough to be read whole, whenever it has changed."""
    with _opened(found.path) as descriptor:
        raw = _all(descriptor, _MAX_TEXT_BYTES + 1)
    sink.forget()
    problems: list[model.Problem] = []
    if len(raw) > _MAX_TEXT_BYTES:
        problems.append(
            model.Problem(found.path, "", f"only the first {_MAX_TEXT_BYTES} bytes were read")
        )
        raw = raw[:_MAX_TEXT_BYTES]
    logged = read(found.path, raw.decode("utf-8", "replace"), aims.finder)
    sink.add(logged.activities)
    # Several sessions write one log: each is told by what it logged.
    facts = logged.sessions[0] if len(logged.sessions) == 1 else None
    return Update(True, len(raw), "", "{}", facts, (*problems, *logged.problems), len(raw))


class _opened:  # noqa: N801 (used like a function)
    """A file opened for reading, by its own name and never through a link at its end."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> int:
        self._descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def _all(descriptor: int, limit: int) -> bytes:
    pieces = []
    position = 0
    while position < limit and (piece := os.pread(descriptor, limit - position, position)):
        pieces.append(piece)
        position += len(piece)
    return b"".join(pieces)


def _is_ours(facts: model.Session, found: places.Found, roots: tuple[str, ...]) -> bool:
    if facts.cwd:
        return places.is_inside(facts.cwd, roots)
    # Without a word of where it was written, the name of its directory has to do.
    folder = os.path.basename(os.path.dirname(found.path))
    return found.source in ("gemini:session", "cursor:transcript") or folder in map(
        places.slug, roots
    )


def _with_head(head: model.Session, known: model.Session | None) -> model.Session:
    if known is None:
        return head
    return head._replace(**{name: getattr(known, name) for name in _FROM_REST})


_FROM_REST = ("compacted_at", "compactions", "limited_at", "resets_at")


def _with_marks(facts: model.Session, marks: Iterable[tuple[str, str, str]]) -> model.Session:
    for name, at, more in marks:
        if name == "compacted":
            facts = facts._replace(
                compactions=facts.compactions + 1, compacted_at=max(facts.compacted_at, at)
            )
        elif name == "limited" and at >= facts.limited_at:
            facts = facts._replace(limited_at=at, resets_at=more)
    return facts


def _with_tail(facts: model.Session, tail: model.Session) -> model.Session:
    # Also in place of what was known where it tells nothing: what is known is by the bytes alone.
    return facts._replace(last_at=tail.last_at, ending=tail.ending, last_said=tail.last_said)


def as_json(facts: model.Session | None) -> str:
    return json.dumps(facts._asdict(), sort_keys=True) if facts else ""


def from_json(value: str) -> model.Session | None:
    if not value:
        return None
    found: dict[str, Any] = json.loads(value)
    return model.Session(**found)
