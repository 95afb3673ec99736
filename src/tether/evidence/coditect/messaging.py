"""CODITECT's `messaging.db`: claims, messages between sessions, and the sessions themselves.

Two versions of its schema are about, and neither is published whole: tables and columns are taken
by their names. Its rows live for minutes: claims go ten minutes after their session has fallen
silent, and messages have a time to live. What is still there counts, expired or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tether.evidence import mentions, model, places, readers, records
from tether.evidence.coditect import broadcasts, catching_up, columns, databases
from tether.evidence.transcripts import notes
from tether.hints import Any, NamedTuple
from tether.tasks.sources import patterns

SOURCE = "coditect:messaging"
VERSION = "1"
# Rows are only ever added to these.
_MESSAGES = ("inter_session_messages", "session_messages")
_ENDED = ("ended", "closed", "terminated", "exited")
_RELEASED = ("released", "completed", "expired", "abandoned", "done", "stale")
_VENDORS = ("claude", "codex", "gemini", "kimi")


class ForeignClaim(NamedTuple):
    """A claim as another tool has written it down."""

    task: str
    task_source: str
    session: str
    claimed_at: str
    released_at: str
    """Empty while it is held."""
    pid: int
    """0 if nobody knows."""
    host: str
    pointer: str


class Messages(NamedTuple):
    """What the database says."""

    activities: list[model.Activity]
    """Of messages that were not read before."""
    standing: list[model.Activity]
    """Of claims and locks as they stand: the same ones each time, until their rows go."""
    sessions: list[model.Session]
    aliases: dict[str, str]
    """The session that each `vendor-pid` of theirs is for its own vendor."""
    claims: list[ForeignClaim]
    upto: dict[str, int]
    """How far the messages were read."""
    is_anew: bool
    """The database is not the one that was read before."""
    problems: list[model.Problem]
    was_read: bool = True


class Standing(NamedTuple):
    """What is remembered of the last reading."""

    claims: tuple[ForeignClaim, ...]
    sessions: tuple[model.Session, ...]
    aliases: dict[str, str]


class _Registered(NamedTuple):
    session: model.Session
    place: str
    """Its directory or its project; empty if nobody knows."""
    pid: int
    host: str


def read(
    path: str,
    finder: patterns.Finder,
    since: Mapping[str, int],
    is_ours: Callable[[str], bool] = lambda _: True,
) -> Messages:
    """What is new among the messages since the last reading, and all claims and sessions.

    `is_ours` is asked for a directory where a row or its session has one, else for a project.
    """

    def work(database: databases.Database) -> Messages:
        return _Reading(database, finder, is_ours).read(since)

    found, problems = databases.read(path, work)
    if found is None:
        return Messages([], [], [], {}, [], dict(since), False, problems, was_read=False)
    return found._replace(problems=problems)


def bring_forward(
    found: places.Found, known: readers.Known, aims: readers.Aims, sink: readers.Sink
) -> readers.Update:
    """Read what is new. What claims and sessions there are is remembered in the state."""
    state = catching_up.state_of(known)
    got = read(found.path, aims.finder, state.since, catching_up.ours(aims.roots))
    more = {"claims": got.claims, "sessions": got.sessions, "aliases": got.aliases}
    seen = (got.activities, got.standing, got.upto, got.is_anew, got.problems)
    news = catching_up.News(*seen, more, got.was_read)
    return catching_up.update(found, state, news, sink)


def remembered(state: str) -> Standing:
    """What `bring_forward` put into a state."""
    more = catching_up.more_of(state)
    return Standing(
        tuple(ForeignClaim(*each) for each in more.get("claims", ())),
        tuple(model.Session(*each) for each in more.get("sessions", ())),
        dict(more.get("aliases", {})),
    )


class _Reading:
    """One reading of one database."""

    def __init__(
        self,
        database: databases.Database,
        finder: patterns.Finder,
        is_ours: Callable[[str], bool],
    ) -> None:
        self._database = database
        self._finder = finder
        self._is_ours = is_ours
        self._registered: dict[str, _Registered] = {}
        self._aliases: dict[str, str] = {}

    def read(self, since: Mapping[str, int]) -> Messages:
        self._register()
        activities: list[model.Activity] = []
        upto: dict[str, int] = {}
        is_anew = False
        for name in _MESSAGES:
            if table := self._database.tables.get(name):
                after = self._database.after(table, columns.MESSAGE, since)
                is_anew = is_anew or after < since.get(name, 0)
                last = None
                for last in self._database.rows(table, columns.MESSAGE, after):
                    activities += self._message(name, last)
                upto |= databases.mark(table, after, last, since)
        claims = [
            claim for row in self._rows("task_claims", columns.CLAIM) for claim in self._claims(row)
        ]
        standing = [each for claim in claims for each in _of_claim(claim)]
        for row in self._rows("file_locks", columns.LOCK):
            standing += self._lock(row)
        sessions = [each.session for each in self._registered.values() if self._is_here(each.place)]
        return Messages(activities, standing, sessions, self._aliases, claims, upto, is_anew, [])

    def _rows(self, name: str, wanted: databases.Wanted) -> Iterator[databases.Row]:
        if table := self._database.tables.get(name):
            yield from self._database.rows(table, wanted)

    def _register(self) -> None:
        for row in self._rows("session_registry", columns.REGISTERED):
            name = records.label(row.text("session"))
            started, last = row.moment("started"), row.moment("last")
            known = self._registered.get(name)
            if not name or (known and known.session.last_at > last):
                continue
            ending = "ended" if row.text("status").lower() in _ENDED else ""
            session = model.Session(
                session=name,
                source=SOURCE,
                pointer=self._pointer("session_registry", row),
                cwd=records.label(row.text("cwd")),
                started_at=started,
                last_at=max(started, last),
                ending=ending,
                title=records.label(row.text("title")),
            )
            host = records.label(row.text("host"))
            place = row.text("cwd") or row.text("project")
            self._registered[name] = _Registered(session, place, _pid(row, name), host)
            if uuid := records.label(row.text("uuid")):
                self._aliases[name] = uuid

    def _is_here(self, place: str) -> bool:
        return not place or self._is_ours(place)

    def _counts(self, row: databases.Row, payload: Any = None) -> bool:
        """Is a row of this repository, as far as anybody can tell?"""
        place = row.text("cwd") or row.text("project")
        if not place and isinstance(payload, dict):
            told = (payload.get(name) for name in columns.PLACE)
            place = next((each for each in told if isinstance(each, str) and each), "")
        registered = self._registered.get(records.label(row.text("session")))
        # Process ids come again: what is older than the session is of another one.
        if not place and registered and row.moment("at") >= registered.session.started_at:
            place = registered.place
        return self._is_here(place)

    def _message(self, table: str, row: databases.Row) -> Iterator[model.Activity]:
        body = row.text("body")
        payload = records.decode(body) if body.lstrip()[:1] in ("{", "[") else None
        said = body if payload is None else notes.strings(payload)
        task = f"{row.text('task')}\n{broadcasts.named(payload)}"
        if not self._finder.find(f"{task}\n{said}") or not self._counts(row, payload):
            return
        what = broadcasts.kind_of(row.text("type"), row.text("channel"), payload)
        at, session = row.moment("at"), records.label(row.text("session"))
        stable = row.text("id") or records.digest(body)
        for each in broadcasts.judged(self._finder, what, task, said):
            yield model.Activity(
                source=SOURCE,
                pointer=self._pointer(table, row),
                record=_record(table, stable, at, session, each),
                at=at,
                kind=each.kind,
                what=broadcasts.word(what),
                task=each.id,
                task_source=each.source,
                session=session,
                text=notes.excerpt(said, each.start, each.id),
            )

    def _claims(self, row: databases.Row) -> Iterator[ForeignClaim]:
        session = records.label(row.text("session"))
        if not self._counts(row):
            return
        registered = self._registered.get(session)
        pid = _pid(row, session) or (registered.pid if registered else 0)
        host = records.label(row.text("host")) or (registered.host if registered else "")
        for source, task in _ids(self._finder, row.text("task")):
            yield ForeignClaim(
                task=task,
                task_source=source,
                session=session,
                claimed_at=row.moment("at"),
                released_at=_released_at(row),
                pid=pid,
                host=host,
                pointer=self._pointer("task_claims", row),
            )

    def _lock(self, row: databases.Row) -> Iterator[model.Activity]:
        """A lock says who is about to change a file; it counts where it says for which task."""
        if not self._counts(row):
            return
        at, session = row.moment("at"), records.label(row.text("session"))
        files = records.paths([row.text("file")])
        for source, task in _ids(self._finder, row.text("task")):
            named = mentions.Mention(source, task, model.STATED, 0)
            yield model.Activity(
                source=SOURCE,
                pointer=self._pointer("file_locks", row),
                record=_record("file_locks", records.digest(*files), at, session, named),
                at=at,
                kind=model.STATED,
                what="locked",
                task=task,
                task_source=source,
                session=session,
                files=files,
            )

    def _pointer(self, table: str, row: databases.Row) -> str:
        return f"row:{self._database.path}#{table}/{row.number}"


def _of_claim(claim: ForeignClaim) -> Iterator[model.Activity]:
    named = mentions.Mention(claim.task_source, claim.task, model.STATED, 0)
    for what, at in (("claimed", claim.claimed_at), ("released", claim.released_at)):
        if at or what == "claimed":
            yield model.Activity(
                source=SOURCE,
                pointer=claim.pointer,
                record=_record("task_claims", what, at, claim.session, named),
                at=at,
                kind=model.STATED,
                what=what,
                task=claim.task,
                task_source=claim.task_source,
                session=claim.session,
            )


def _record(table: str, stable: str, at: str, session: str, named: mentions.Mention) -> str:
    """The same row has the same name in every copy of the database."""
    return f"{table}:{records.digest(stable, at, session, named.source, named.id)}"


def _ids(finder: patterns.Finder, value: str) -> list[tuple[str, str]]:
    return list(dict.fromkeys((each.source, each.id) for each in finder.find(value)))


def _released_at(row: databases.Row) -> str:
    at = row.moment("released")
    if not at and row.text("status").lower() in _RELEASED:
        # When is not told: not later than its row was last changed.
        return row.moment("changed") or row.moment("at")
    return at


def _pid(row: databases.Row, session: str) -> int:
    """Its process: as the row says, or as the name of its session does."""
    vendor, _, number = session.rpartition("-")
    told = row.text("pid") or (number if vendor in _VENDORS else "")
    return int(told) if told.isascii() and told.isdigit() and len(told) <= 10 else 0
