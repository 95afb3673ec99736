"""Transcripts of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`.

A line is a message, written anew with every tool call that it gets, or a patch. `$set` may bring
all messages once more. `$rewindTo` takes them back; what was done in them was done.
The older `session-*.json` is one such conversation as a whole, and is written anew each time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from tether.evidence import mentions, model, records
from tether.evidence.transcripts import adapter, decoding, notes
from tether.hints import Any
from tether.tasks.sources import patterns

SOURCE = "gemini:session"
_NEEDLES = (
    b'"write_file"',
    b'"replace"',
    re.compile(rb'"status": ?"error"'),
    notes.COMMIT_NEEDLE,
)
_EDITS = ("write_file", "replace", "edit")
# Written by the CLI itself, in front of what the user says.
_CONTEXT = "<session_context>"
_CWD = re.compile(
    r"(?:Workspace Directories:\*\*\n {0,8}- |working in the directory: )([^\n]{1,400})"
)
_EXIT_CODE = re.compile(r"^Exit Code: ([1-9][0-9]{0,5})$", re.MULTILINE)
_WHAT = {"user": "asked", "gemini": "said"}


def head(path: str, first: bytes) -> model.Session:
    """What the first lines say of the session."""
    found = _by_name(path)
    for line in decoding.whole_lines(first):
        found = _with(found, records.decode(line))
    return found


def read(
    file: adapter.File,
    lines: Iterable[adapter.Line],
    finder: patterns.Finder,
    state: dict[str, Any],
) -> adapter.Read:
    """What lines show, each thing once. The state has what was shown before."""
    result = adapter.Read([], [], [])
    shown = dict.fromkeys(state.get("shown", ()))
    for line in lines:
        record = records.decode(line.raw)
        if not isinstance(record, dict):
            why = decoding.NOT_JSON if record is None else decoding.NOT_A_RECORD
            result.problems.append(model.Problem(file.path, f"byte {line.start}", why))
            continue
        for message in _messages(record):
            for each in _shown(file.session, file.pointer(line), message, finder):
                name = records.digest(each.record, each.task_source, each.task, each.what)
                if name not in shown:
                    shown[name] = None
                    result.activities.append(each)
    state["shown"] = list(shown)
    return result


def tail(last: bytes) -> model.Session:
    """How the session ends."""
    messages: dict[str, dict[str, Any]] = {}
    for line in decoding.whole_lines(last):
        record = records.decode(line)
        if isinstance(record, dict):
            _apply(messages, record)
    return _ending(list(messages.values()))


def tell(raw: bytes | str) -> list[adapter.Told]:
    """What a line, or an older file as a whole, tells of words and commands."""
    record = records.decode(raw)
    if not isinstance(record, dict):
        return []
    if isinstance(record.get("messages"), list):
        record = {"$set": record}
    return [each for message in _messages(record) for each in _told(message)]


def _told(message: dict[str, Any]) -> Iterator[adapter.Told]:
    what = _WHAT.get(records.plain(message["type"]))
    at = decoding.moment(message.get("timestamp"))
    said = _text(message.get("content"))
    if what and said.strip():
        yield adapter.Told(what, said, message["id"], at)
    calls = message.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, dict):
            continue
        name = f"{message['id']}#{records.plain(call.get('id'))}"
        when = decoding.moment(call.get("timestamp")) or at
        yield adapter.Told("called", notes.purpose(call.get("name"), call.get("args")), name, when)
        if complaint := _complaint(call):
            yield adapter.Told("failed", complaint, name, when)


def _complaint(call: dict[str, Any]) -> str:
    """How a call failed; empty if it did not. To the CLI a command that fails has succeeded."""
    given = call.get("result")
    answers = [
        each for part in (given if isinstance(given, list) else ()) for each in _answer(part)
    ]
    printed = "\n".join(answers)
    code = _EXIT_CODE.search(printed)
    shown = records.plain(call.get("resultDisplay")) or printed
    if call.get("status") == "error":
        return shown.strip() or "it failed"
    return f"Exit code {code[1]}\n{shown}" if call.get("status") == "success" and code else ""


def _answer(part: Any) -> list[str]:
    """What a tool gave back to the model."""
    for name in ("functionResponse", "response"):
        part = part.get(name) if isinstance(part, dict) else None
    return (
        [records.plain(part.get(name)) for name in ("error", "output")]
        if isinstance(part, dict)
        else []
    )


def read_whole(path: str, text: str, finder: patterns.Finder) -> model.Logged:
    """What an older `session-*.json` says."""
    record = records.decode(text)
    if not isinstance(record, dict):
        return model.Logged([], [], [model.Problem(path, "", "it is not a conversation")])
    session = _with(_by_name(path), record)
    messages = list(_messages({"$set": record}))
    for message in messages[:1]:
        session = _with(session, message)
    activities = [
        each
        for number, message in enumerate(messages)
        for each in _shown(session.session, f"file:{path}#message={number}", message, finder)
    ]
    end = _ending(messages)
    session = session._replace(last_at=end.last_at, ending=end.ending, last_said=end.last_said)
    return model.Logged(activities, [session], [])


def _by_name(path: str) -> model.Session:
    name = os.path.basename(path).partition(".")[0]
    is_main = name.startswith("session-")
    folder = os.path.basename(os.path.dirname(path))
    # A session that another one started stands in a directory of that one's name.
    parent = "" if is_main or folder == "chats" else folder
    session = name.rpartition("-")[2] if is_main else name
    return model.Session(records.label(session), SOURCE, f"file:{path}", records.label(parent))


def _with(found: model.Session, record: Any) -> model.Session:
    """A session with what a record tells of it as a whole."""
    if not isinstance(record, dict):
        return found
    told = record["$set"] if isinstance(record.get("$set"), dict) else record
    session, cwd = told.get("sessionId"), found.cwd
    folders = told.get("directories")
    if not cwd and isinstance(folders, list) and folders and isinstance(folders[0], str):
        cwd = records.label(folders[0])
    for message in _messages(record):
        said = _text(message.get("content"))
        if not cwd and said.startswith(_CONTEXT) and (match := _CWD.search(said)):
            cwd = records.label(match[1].strip())
    return found._replace(
        session=records.label(session) if isinstance(session, str) and session else found.session,
        cwd=cwd,
        started_at=found.started_at or records.moment(told.get("startTime")),
        title=records.label(records.plain(told.get("summary"))) or found.title,
    )


def _messages(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    patch = record.get("$set")
    among = patch.get("messages") if isinstance(patch, dict) else [record]
    for each in among if isinstance(among, list) else ():
        if isinstance(each, dict) and isinstance(each.get("id"), str) and "type" in each:
            yield each


def _shown(
    session: str, pointer: str, message: dict[str, Any], finder: patterns.Finder
) -> list[model.Activity]:
    """What a message shows. It is called by its id wherever it stands, and so are its calls."""
    what = _WHAT.get(records.plain(message["type"]))
    if what is None:
        return []
    name = decoding.name(message["id"]) or records.digest(message["id"])
    at = decoding.moment(message.get("timestamp"))
    origin = notes.Origin(SOURCE, pointer, name, at, session)
    said = _text(message.get("content"))
    kind = model.LISTED if said.startswith(_CONTEXT) else ""
    found = notes.named(origin, finder, said, what, kind)
    calls = message.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        # Only what is over, and what somebody let run.
        if isinstance(call, dict) and call.get("status") in ("success", "error"):
            found += notes.settled(_called(origin, call, finder))
    return found


def _called(
    origin: notes.Origin, call: dict[str, Any], finder: patterns.Finder
) -> list[model.Activity]:
    """What a tool was called for."""
    name = decoding.name(call.get("id")) or records.digest(call.get("id"))
    at = decoding.moment(call.get("timestamp")) or origin.at
    origin = origin._replace(record=f"{origin.record}#{name}", at=at)
    given = call["args"] if isinstance(call.get("args"), dict) else {}
    path, command, description = (given.get(key) for key in ("file_path", "command", "description"))
    if call["status"] == "error":
        found = notes.led(origin, finder, description, "failed")
        return found or [origin.shows(model.WORKED, "failed")]
    found = []
    files = records.paths([records.plain(path)])
    if call.get("name") in _EDITS and files:
        words = mentions.excerpt(f"{call['name']} {path}")
        found.append(origin.shows(model.WORKED, "edited", words, files=files))
    if isinstance(command, str):
        found += notes.committed(origin, command)
    found += notes.led(origin, finder, description, "ran", files)
    return found + notes.named(origin, finder, notes.strings(given), "ran")


def _text(content: Any) -> str:
    """The text of a message; what tools gave back is none."""
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))


def _apply(messages: dict[str, dict[str, Any]], record: dict[str, Any]) -> None:
    """Bring a conversation, by the ids of its messages, forward by one record."""
    if (target := record.get("$rewindTo")) is not None:
        # To before all of it, if the message is not in it.
        while messages and messages.popitem()[0] != target:
            pass
        return
    found = {each["id"]: each for each in _messages(record)}
    if isinstance(record.get("$set"), dict) and found:
        messages.clear()
    messages.update(found)


def _ending(messages: list[dict[str, Any]]) -> model.Session:
    said = [each for each in messages if each.get("type") in ("user", "gemini", "error")]
    if not said:
        return model.Session("", SOURCE, "")
    last = said[-1]
    # Tools were called, and what came of it was not yet answered.
    is_working = last.get("type") == "user" or bool(last.get("toolCalls"))
    words = (_text(each.get("content")) for each in reversed(said) if each["type"] == "gemini")
    return model.Session(
        "",
        SOURCE,
        "",
        last_at=max(records.moment(each.get("timestamp")) for each in messages),
        ending="mid_turn" if is_working else "at_rest",
        last_said=mentions.excerpt(next((each for each in words if each.strip()), "")),
    )


ADAPTER = adapter.Adapter(SOURCE, "2", _NEEDLES, head, read, tail, tell)
