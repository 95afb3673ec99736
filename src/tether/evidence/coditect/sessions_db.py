"""CODITECT's `sessions.db`: what was said in sessions, and what its second task list says.

It is made from transcripts and exports. Rows from a transcript that is read itself are left out, so
that nothing counts twice.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping

from tether.evidence import mentions, model, places, readers, records
from tether.evidence.coditect import catching_up, columns, databases
from tether.evidence.transcripts import notes
from tether.hints import Any, NamedTuple
from tether.tasks.sources import patterns

SOURCE = "coditect:sessions"
VERSION = "1"
_WHAT = {"user": "asked", "tool_use": "ran"}
_STATUS = re.compile(r"[a-z][a-z _-]{0,19}")
# Nobody has begun: such a row shows that there is a list, however often it is written anew.
_NOT_BEGUN = ("backlog", "planned", "pending", "todo", "new", "open", "ready")


class Said(NamedTuple):
    """What the database says."""

    activities: list[model.Activity]
    """Of messages that were not read before."""
    standing: list[model.Activity]
    """Of tasks as they stand: the same ones each time, until their rows change."""
    upto: dict[str, int]
    """How far the messages were read."""
    is_anew: bool
    """The database is not the one that was read before."""
    problems: list[model.Problem]
    was_read: bool = True


def read(
    path: str,
    finder: patterns.Finder,
    since: Mapping[str, int],
    has_file: Callable[[str], bool] = lambda _: False,
    is_ours: Callable[[str], bool] = lambda _: True,
) -> Said:
    """What is new among the messages since the last reading, and all tasks.

    `has_file` says whether a transcript is read itself; `is_ours` is asked for a directory or a
    project, where a row has one.
    """

    def work(database: databases.Database) -> Said:
        return _Reading(database, finder, has_file, is_ours).read(since)

    found, problems = databases.read(path, work)
    if found is None:
        return Said([], [], dict(since), False, problems, was_read=False)
    return found._replace(problems=problems)


def bring_forward(
    found: places.Found, known: readers.Known, aims: readers.Aims, sink: readers.Sink
) -> readers.Update:
    """Read what is new."""
    state = catching_up.state_of(known)
    ours = catching_up.ours(aims.roots)
    got = read(found.path, aims.finder, state.since, aims.has_file, ours)
    news = catching_up.News(
        got.activities, got.standing, got.upto, got.is_anew, got.problems, was_read=got.was_read
    )
    return catching_up.update(found, state, news, sink)


class _Reading:
    """One reading of one database."""

    def __init__(
        self,
        database: databases.Database,
        finder: patterns.Finder,
        has_file: Callable[[str], bool],
        is_ours: Callable[[str], bool],
    ) -> None:
        self._database = database
        self._finder = finder
        self._has_file = has_file
        self._is_ours = is_ours
        self._places: dict[str, str] = {}

    def read(self, since: Mapping[str, int]) -> Said:
        activities: list[model.Activity] = []
        upto: dict[str, int] = {}
        after = 0
        if sessions := self._database.tables.get("sessions"):
            for row in self._database.rows(sessions, columns.REGISTERED):
                self._places[row.text("session")] = row.text("cwd") or row.text("project")
        if table := self._database.tables.get("messages"):
            after = self._database.after(table, columns.SAID, since)
            last = None
            for last in self._database.rows(table, columns.SAID, after):
                activities += self._message(last)
            upto = databases.mark(table, after, last, since)
        standing: list[model.Activity] = []
        if tasks := self._database.tables.get("task_tracking"):
            for row in self._database.rows(tasks, columns.TRACKED):
                standing += self._task(row)
        return Said(activities, standing, upto, after < since.get("messages", 0), [])

    def _counts(self, row: databases.Row) -> bool:
        place = row.text("cwd") or row.text("project")
        place = place or self._places.get(row.text("session"), "")
        file = row.text("file")
        return (not place or self._is_ours(place)) and not (file and self._has_file(file))

    def _message(self, row: databases.Row) -> Iterator[model.Activity]:
        content = row.values.get("content")
        raw = content if isinstance(content, bytes) else records.plain(content).encode()
        # Half a million rows, and few of them name a task.
        if not self._finder.may_hold(raw) or not self._counts(row):
            return
        text = records.plain(content)
        payload = records.decode(text) if text.lstrip()[:1] in ("{", "[") else None
        said = text if payload is None else notes.strings(payload)
        at = row.moment("at")
        origin = notes.Origin(
            SOURCE,
            f"row:{self._database.path}#messages/{row.number}",
            f"messages:{records.digest(row.text('id') or text, at)}",
            at,
            records.label(row.text("session") or _stem(row.text("file"))),
        )
        yield from notes.settled(self._shown(origin, row.text("role").lower(), payload, said))

    def _shown(
        self, origin: notes.Origin, role: str, payload: Any, said: str
    ) -> list[model.Activity]:
        if role == "tool_result":
            return notes.output(origin, self._finder, said)
        found = []
        for call in (payload if isinstance(payload, list) else [payload]) * (role == "tool_use"):
            for description in _descriptions(call):
                found += notes.led(origin, self._finder, description, "ran")
        return found + notes.named(origin, self._finder, said, _WHAT.get(role, "said"))

    def _task(self, row: databases.Row) -> Iterator[model.Activity]:
        if not self._counts(row):
            return
        status = row.text("status").strip().lower()
        word = status if _STATUS.fullmatch(status) else ""
        at = row.moment("at")
        for each in dict.fromkeys((e.source, e.id) for e in self._finder.find(row.text("task"))):
            yield model.Activity(
                source=SOURCE,
                pointer=f"row:{self._database.path}#task_tracking/{row.number}",
                record=f"task_tracking:{records.digest(*each, status, at)}",
                at=at,
                kind=model.LISTED if not word or word in _NOT_BEGUN else model.STATED,
                what=f"status {word}".strip(),
                task=each[1],
                task_source=each[0],
                session=records.label(row.text("session")),
                text=mentions.excerpt(row.text("title")),
            )


def _descriptions(call: Any) -> Iterator[object]:
    """What a call of a tool was for, in its input or beside it."""
    if isinstance(call, dict):
        inside = call.get("input")
        yield inside.get("description") if isinstance(inside, dict) else None
        yield call.get("description")


def _stem(path: str) -> str:
    """A transcript is named after its session."""
    name, ending = os.path.splitext(os.path.basename(path))
    return name if ending == ".jsonl" else ""
