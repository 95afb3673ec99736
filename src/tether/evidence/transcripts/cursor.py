"""Transcripts of Cursor: `~/.cursor/projects/<slug>/agent-transcripts/<id>/<id>.jsonl`.

A line is a message, or says that a turn has ended. None has a time of its own; newer ones say in
front of what the user asks what time it was, to the minute. What follows has that time, as the turn
was not begun before; where there is none it stays empty. What tools gave back is not written down.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tether.evidence import mentions, model, records
from tether.evidence.transcripts import adapter, decoding, notes
from tether.hints import Any
from tether.tasks.sources import patterns

SOURCE = "cursor:transcript"
_EDITS = ("Write", "StrReplace", "EditNotebook", "Delete", "MultiEdit", "search_replace")
_EDITS_V1 = ("edit_file", "write", "delete_file", "edit_file_v2")
_NEEDLES: tuple[bytes | re.Pattern[bytes], ...] = (
    b"<timestamp>",
    *(f'"{name}"'.encode() for name in (*_EDITS, *_EDITS_V1)),
    notes.COMMIT_NEEDLE,
)
_PATHS = ("path", "file_path", "target_file", "target_notebook")
_TIME = re.compile(
    r"\s{0,8}<timestamp>[ \t]{0,4}(?:[A-Za-z]{3,9}, )?(?P<month>[A-Z][a-z]{2})[a-z]{0,6}"
    r" (?P<day>[0-9]{1,2}), (?P<year>[0-9]{4}), (?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})"
    r"(?:[\s\u202f](?P<half>[AP]M))?"
    r"(?: \(UTC(?P<sign>[+-])?(?P<hours>[0-9]{1,2})?(?::(?P<minutes>[0-9]{2}))?\))?"
    r"[ \t]{0,4}</timestamp>"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TAG = re.compile(r"</?user_query>|<timestamp>[^<]{0,80}</timestamp>")
# Stands where a thought of the model was.
_HIDDEN = "[REDACTED]"


def head(path: str, first: bytes) -> model.Session:
    """What the file's name and its first lines say of the session."""
    folders, _, file = path.rpartition("/")
    is_child = folders.endswith("/subagents")
    parent = folders.removesuffix("/subagents").rpartition("/")[2] if is_child else ""
    times = (_time(_said(records.decode(line))) for line in decoding.whole_lines(first))
    return model.Session(
        decoding.name(file.removesuffix(".jsonl")),
        SOURCE,
        f"file:{path}",
        decoding.name(parent),
        started_at=next((each for each in times if each), ""),
    )


def read(
    file: adapter.File,
    lines: Iterable[adapter.Line],
    finder: patterns.Finder,
    state: dict[str, Any],
) -> adapter.Read:
    """What lines show. The state has the time of the turn."""
    result = adapter.Read([], [], [])
    for line in lines:
        record = records.decode(line.raw)
        if not isinstance(record, dict):
            why = decoding.NOT_JSON if record is None else decoding.NOT_A_RECORD
            result.problems.append(model.Problem(file.path, f"byte {line.start}", why))
            continue
        at = decoding.moment(record.get("timestamp")) or _time(_said(record))
        if at:
            state["at"] = at
        at = records.plain(state.get("at"))
        # Lines have no names; they stay where they are.
        name = f"{file.session}:{line.start}"
        origin = notes.Origin(SOURCE, file.pointer(line), name, at, file.session)
        result.activities.extend(_shown(origin, record, finder))
    return result


def tail(last: bytes) -> model.Session:
    """How the session ends."""
    last_at = said = ending = ""
    for line in decoding.whole_lines(last):
        record = records.decode(line)
        if not isinstance(record, dict):
            continue
        words = _said(record)
        last_at = decoding.moment(record.get("timestamp")) or _time(words) or last_at
        if record.get("type") == "turn_ended":
            ending = "at_rest"
        elif record.get("role") == "user":
            ending = "mid_turn"
        elif record.get("role") == "assistant":
            ending = "mid_turn" if any(_calls(record)) else "at_rest"
            said = words.replace(_HIDDEN, "").strip() or said
    return model.Session(
        "", SOURCE, "", last_at=last_at, ending=ending, last_said=mentions.excerpt(said)
    )


def tell(raw: bytes) -> list[adapter.Told]:
    """What a line tells of words and commands; whether these worked is not written down."""
    record = records.decode(raw)
    if not isinstance(record, dict):
        return []
    words = _said(record)
    at = decoding.moment(record.get("timestamp")) or _time(words)
    if record.get("role") != "assistant":
        return [adapter.Told("asked", _TAG.sub("", words).strip(), at=at)]
    said = words.replace(_HIDDEN, "").strip()
    found = [adapter.Told("said", said, at=at)] if said else []
    calls = _calls(record)
    return found + [adapter.Told("called", notes.purpose(*call), at=at) for call in calls]


def _shown(
    origin: notes.Origin, record: dict[str, Any], finder: patterns.Finder
) -> list[model.Activity]:
    role = record.get("role")
    if role not in ("user", "assistant"):
        return []
    said = _TAG.sub("", _said(record))
    found = notes.named(origin, finder, said, "asked" if role == "user" else "said")
    for number, (name, given) in enumerate(_calls(record)):
        call = origin._replace(record=f"{origin.record}#{number}")
        found += notes.settled(_called(call, name, given, finder))
    return found


def _called(
    origin: notes.Origin, name: str, given: dict[str, Any], finder: patterns.Finder
) -> list[model.Activity]:
    """What a tool was called for. Whether it worked is not written down."""
    found = []
    files = records.paths(records.plain(given.get(key)) for key in _PATHS)
    if name in (*_EDITS, *_EDITS_V1) and files:
        words = mentions.excerpt(f"{name} {files[0]}")
        found.append(origin.shows(model.WORKED, "edited", words, files=files))
    else:
        files = ()
    command = given.get("command")
    if isinstance(command, str):
        found += notes.committed(origin, command)
    found += notes.led(origin, finder, given.get("description"), "ran", files)
    return found + notes.named(origin, finder, notes.strings(given), "ran")


def _blocks(record: Any) -> list[Any]:
    message = record.get("message") if isinstance(record, dict) else None
    content = message.get("content") if isinstance(message, dict) else message
    return content if isinstance(content, list) else [content]


def _said(record: Any) -> str:
    blocks = _blocks(record)
    texts = (each.get("text") if isinstance(each, dict) else each for each in blocks)
    return "\n".join(text for text in texts if isinstance(text, str))


def _calls(record: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for each in _blocks(record):
        if isinstance(each, dict) and each.get("type") == "tool_use":
            inside = each.get("input")
            yield records.plain(each.get("name")), inside if isinstance(inside, dict) else {}


def _time(said: str) -> str:
    """The time in front of what a user asks, as in `Tuesday, Jul 21, 2026, 1:11 PM (UTC+3)`."""
    match = _TIME.match(said)
    if match is None or match["month"] not in _MONTHS:
        return ""
    hour = int(match["hour"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"] == "PM" else 0)
    day = f"{match['year']}-{_MONTHS.index(match['month']) + 1:02}-{int(match['day']):02}"
    zone = f"{match['sign'] or '+'}{int(match['hours'] or 0):02}:{match['minutes'] or '00'}"
    return records.moment(f"{day}T{hour:02}:{match['minute']}:00{zone}")


ADAPTER = adapter.Adapter(SOURCE, "2", _NEEDLES, head, read, tail, tell)
