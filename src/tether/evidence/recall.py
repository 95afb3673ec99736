"""The last words of a session and what failed for it, read from its transcript when asked for.

A transcript holds far more than a timeline needs, so this looks into the file itself, near the
place where the task was last touched and at its end, for as long as the file is there.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator

from tether.evidence import mentions, model
from tether.hints import Any, NamedTuple

_WINDOW_BYTES = 1024 * 1024
_BYTES = re.compile(r"bytes=([0-9]{1,15})-[0-9]{1,15}")
_EXIT_CODE = re.compile(r"Process exited with code ([1-9][0-9]{0,5})\b")
_MAX_CHARS = 2000


class Said(NamedTuple):
    """What the agent itself said."""

    at: str
    text: str
    pointer: str


class Failed(NamedTuple):
    """A command that failed."""

    at: str
    command: str
    error: str
    pointer: str


class Recalled(NamedTuple):
    """What a transcript has of a stretch of time, oldest first."""

    said: list[Said]
    failed: list[Failed]


class _Line(NamedTuple):
    record: dict[str, Any]
    pointer: str


def recall(pointers: Iterable[str], path: str, since: str, until: str, *, at_end: bool) -> Recalled:
    """Look near each pointer into the file, and at its end if the session ended within the time."""
    places = (_BYTES.fullmatch(each.rpartition("#")[2]) for each in pointers)
    offsets = [int(place[1]) for place in places if place]
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return Recalled([], [])
    try:
        size = os.fstat(descriptor).st_size
        if at_end:
            offsets.append(size)
        said: dict[str, Said] = {}
        failed: dict[str, Failed] = {}
        for offset in offsets[-3:]:
            part = _read(list(_lines(descriptor, path, offset, size)), since, until)
            said |= {each.pointer + each.text: each for each in part.said}
            failed |= {each.pointer: each for each in part.failed}
    except OSError:
        return Recalled([], [])
    finally:
        os.close(descriptor)
    return Recalled(sorted(said.values()), sorted(failed.values()))


def _lines(descriptor: int, path: str, offset: int, size: int) -> Iterator[_Line]:
    """The records around a place in a file."""
    begin = max(0, offset - _WINDOW_BYTES)
    # A pointer may be to what stood there before the file was replaced by a shorter one.
    length = max(0, min(size, offset + _WINDOW_BYTES // 8) - begin)
    raw = os.pread(descriptor, length, begin)
    start = raw.find(b"\n") + 1 if begin else 0
    while (end := raw.find(b"\n", start)) >= 0:
        try:
            record = json.loads(raw[start:end])
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            yield _Line(record, f"file:{path}#bytes={begin + start}-{begin + end}")
        start = end + 1


def _read(lines: list[_Line], since: str, until: str) -> Recalled:
    said: list[Said] = []
    failed: list[Failed] = []
    commands: dict[str, str] = {}
    for record, pointer in lines:
        at = str(record.get("timestamp") or "")
        is_within = since <= at <= until
        for block in _blocks(record):
            kind = block.get("type")
            if kind in ("tool_use", "function_call", "custom_tool_call", "local_shell_call"):
                commands[str(block.get("id") or "")] = commands[
                    str(block.get("call_id") or block.get("id") or "")
                ] = _command(block)
            elif not is_within:
                continue
            elif kind in ("text", "output_text") and _is_assistant(record):
                said.append(Said(at, _short(block.get("text")), pointer))
            elif error := _error(block):
                call = str(block.get("tool_use_id") or block.get("call_id") or "")
                failed.append(Failed(at, _short(commands.get(call, "")), _short(error), pointer))
    return Recalled([each for each in said if each.text], failed)


def _blocks(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The parts of a record of Claude Code or Codex."""
    payload = record.get("payload")
    message = record.get("message")
    if isinstance(payload, dict):
        yield payload
        message = payload
    if isinstance(message, dict):
        content = message.get("content")
        if isinstance(content, str):
            yield {"type": "text", "text": content}
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict):
                yield block


def _is_assistant(record: dict[str, Any]) -> bool:
    payload, message = record.get("payload"), record.get("message")
    for part in (payload, message):
        if isinstance(part, dict) and part.get("role") == "assistant":
            return True
    return False


def _command(block: dict[str, Any]) -> str:
    """What a tool was asked to do, as far as one line can say."""
    asked = block.get("input", block.get("arguments"))
    if isinstance(asked, str):
        try:
            asked = json.loads(asked)
        except (ValueError, RecursionError):
            return asked
    if isinstance(asked, dict):
        for name in ("command", "cmd", "file_path", "path", "pattern", "description"):
            value = asked.get(name)
            if isinstance(value, str):
                return value
            if isinstance(value, list):
                return " ".join(map(str, value))
    return str(block.get("name") or "")


def _error(block: dict[str, Any]) -> str:
    """What went wrong, if a block says that something did."""
    if block.get("type") == "tool_result" and block.get("is_error") is True:
        return _text(block.get("content")) or "it failed"
    if block.get("type") == "function_call_output":
        output = _text(block.get("output"))
        return output if _EXIT_CODE.search(output[:500]) else ""
    return ""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def _short(value: Any) -> str:
    return mentions.excerpt(value[:_MAX_CHARS]) if isinstance(value, str) else ""


def files_of(activities: Iterable[model.Activity]) -> list[tuple[str, int, str]]:
    """Which files were edited, how often, and when last; the last one first."""
    found: dict[str, tuple[int, str]] = {}
    for each in activities:
        if each.kind == model.WORKED and each.what == "edited":
            for path in each.files:
                count, last = found.get(path, (0, ""))
                found[path] = (count + 1, max(last, each.at))
    ordered = sorted(found.items(), key=lambda item: (item[1][1], item[0]), reverse=True)
    return [(path, count, last) for path, (count, last) in ordered]
