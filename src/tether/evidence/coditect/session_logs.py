"""CODITECT's `SESSION-LOG-YYYY-MM-DD.md`: what sessions wrote down of a day. Pure.

An entry is about the tasks in its title or its focus; those in its text are mentioned. What stands
in a dashboard, in a table or in a list of what comes next is listed: nobody worked on that.

Times without a zone are UTC. An entry without a time has that of the entry around it, else the
start of its day: nothing is said to have happened later than it did.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from tether.evidence import mentions, model, records
from tether.evidence.coditect import log_lines
from tether.evidence.transcripts import notes
from tether.hints import NamedTuple
from tether.tasks.sources import patterns

SOURCE = "coditect:log"
VERSION = "1"
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FIELD = re.compile(
    r"[ \t]{0,16}(?:[-*+][ \t]{1,4})?\*\*(?P<name>[A-Za-z ]{2,24})(?::\*\*|\*\*:)"
    r"[ \t]{0,8}(?P<rest>.*)"
)
_QUOTED = re.compile(r"`([^`\n]{1,240})`")
_SESSION_NAMES = ("session id", "session")
_FILE_NAMES = ("files modified", "files changed", "files created", "files")


class Entry(NamedTuple):
    """A heading with a time, and what stands under it up to the next heading."""

    line: int
    level: int
    at: str
    title: str
    session: str
    focus: tuple[int, str]
    """The line that it stands in, and what it says."""
    files: tuple[str, ...]
    body: tuple[tuple[int, log_lines.Line], ...]
    is_listing: bool
    """A dashboard."""


def read(path: str, text: str, finder: patterns.Finder) -> model.Logged:
    """What a log says."""
    name = os.path.basename(path)
    day = _DAY.search(name)
    activities: dict[str, model.Activity] = {}
    sessions: dict[str, model.Session] = {}
    for entry in entries(text, day[0] if day else "", finder):
        _add_session(sessions, path, entry)
        for part, line, mention, said in _named(entry, finder):
            label = records.digest(entry.at[:10], entry.at, entry.title, part, *mention[:2])
            record = f"{name}:{entry.session}:{label}"
            activities.setdefault(
                record,
                model.Activity(
                    source=SOURCE,
                    pointer=f"file:{path}#line={line}",
                    record=record,
                    at=entry.at,
                    kind=mention.kind,
                    what="logged",
                    task=mention.id,
                    task_source=mention.source,
                    session=entry.session,
                    text=notes.excerpt(said, mention.start, mention.id),
                    files=entry.files if mention.kind == model.STATED else (),
                ),
            )
    return model.Logged(list(activities.values()), list(sessions.values()), [])


def _named(
    entry: Entry, finder: patterns.Finder
) -> Iterator[tuple[str, int, mentions.Mention, str]]:
    """The tasks that an entry names: in which part, on which line, how, and in what text."""
    for part, line, said in (("title", entry.line, entry.title), ("focus", *entry.focus)):
        for each in mentions.read(finder, said):
            is_about = each.kind == model.MENTIONED and not entry.is_listing
            is_about = is_about and not log_lines.is_of_plans(said)
            yield part, line, each._replace(kind=model.STATED if is_about else model.LISTED), said
    for part, is_listed in (("body", False), ("list", True)):
        lines = [
            line.text if (line.is_listed or entry.is_listing) == is_listed else ""
            for _, line in entry.body
        ]
        said = "\n".join(lines)
        for each in mentions.read(finder, said):
            number = entry.body[said.count("\n", 0, each.start)][0]
            yield part, number, each._replace(kind=model.LISTED) if is_listed else each, said


def _add_session(sessions: dict[str, model.Session], path: str, entry: Entry) -> None:
    if not entry.session:
        return
    known = sessions.get(entry.session)
    if known is None:
        known = model.Session(entry.session, SOURCE, f"file:{path}", started_at=entry.at)
    sessions[entry.session] = known._replace(
        started_at=min(known.started_at or entry.at, entry.at or known.started_at),
        last_at=max(known.last_at, entry.at),
        title=known.title or mentions.excerpt(entry.focus[1]),
    )


def entries(text: str, day: str, finder: patterns.Finder) -> Iterator[Entry]:
    """The entries of a log in order; `day` is that of the whole log."""
    around = outer = _Open(0, 0, log_lines.start_of(day), "", "", False)
    body: list[tuple[int, log_lines.Line]] = []
    for number, line in enumerate(log_lines.read(text), 1):
        heading = line.heading
        stamp = log_lines.stamp(heading.text, day) if heading else log_lines.Stamp(False)
        is_titled = heading is not None and heading.level <= 3 and not line.is_listed
        if heading is None or not (stamp.is_there or (is_titled and finder.find(stamp.rest))):
            body.append((number, line))
            continue
        entry = _closed(around, body)
        yield entry
        if around.level <= 2:
            outer = around._replace(session=entry.session)
        body = []
        day = stamp.day or day
        is_new = heading.level <= 2 and stamp.is_there
        inherited = _Open(0, 0, "", "", "", False) if is_new else outer
        at = stamp.at or inherited.at or log_lines.start_of(day)
        is_listing = log_lines.is_dashboard(stamp.rest)
        around = _Open(number, heading.level, at, stamp.rest, inherited.session, is_listing)
    yield _closed(around, body)


class _Open(NamedTuple):
    """An entry whose end has not come yet."""

    line: int
    level: int
    at: str
    title: str
    session: str
    is_listing: bool


def _closed(opened: _Open, body: list[tuple[int, log_lines.Line]]) -> Entry:
    session, focus = opened.session, (opened.line, "")
    files: list[str] = []
    in_files = False
    rest = []
    for number, line in body:
        field = None if line.is_code else _FIELD.fullmatch(line.text)
        name = field["name"].strip().lower() if field else ""
        is_more = not field and not line.heading and bool(line.text.strip())
        in_files = name in _FILE_NAMES or (in_files and is_more)
        if in_files:
            files += _QUOTED.findall(line.text)
        if field and name in _SESSION_NAMES:
            session = records.label(field["rest"].strip(" \t`"))
        elif field and name == "focus" and not line.is_listed:
            focus = (number, field["rest"])
        else:
            rest.append((number, line))
    return Entry(
        opened.line,
        opened.level,
        opened.at,
        opened.title,
        session,
        focus,
        records.paths(files),
        tuple(rest),
        opened.is_listing,
    )
