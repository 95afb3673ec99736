"""Codex: `<sessions>/YYYY/MM/DD/rollout-<time>-<uuid>.jsonl`.

Codex writes most things twice: as items of the conversation (`response_item`), and as events. One
of them counts. Messages and thoughts count where they come first, since which of the two is there
depends on the version; calls and outputs count as items, failures as events, a compaction as
`compacted`, and a patch as the call, or as the event if no call that we can read made it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from tether.evidence import mentions, model
from tether.evidence.transcripts import adapter, codex_calls, codex_records, decoding, notes
from tether.hints import Any
from tether.tasks.sources import patterns

SOURCE = "codex:rollout"
_NEEDLES = (
    *codex_calls.NEEDLES,
    notes.COMMIT_NEEDLE,
    b'"compacted"',
    *codex_records.LIMIT_NEEDLES,
)
_NAME = re.compile(r"rollout-.{10,40}?-([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\.jsonl")
_CWD = re.compile(rb'"cwd": ?"((?:[^"\\]|\\.){1,4096})"')
# Local models number their calls anew in every session: `call_1` is no name.
_MIN_NAME_CHARS = 10
# How many texts may stand between a message and the event that repeats it.
_MAX_APART = 16
_TURN_STARTS = ("task_started", "turn_started")
_TURN_ENDS = ("task_complete", "turn_complete", "turn_aborted")
_SPEECH = {
    "user_message": "asked",
    "agent_message": "said",
    "agent_reasoning": "thought",
    "UserMessage": "asked",
    "AgentMessage": "said",
    "Reasoning": "thought",
}


def head(path: str, first: bytes) -> model.Session:
    """What the first lines tell of the session."""
    found = [codex_records.decode(line) for line in decoding.whole_lines(first)]
    records = [each for each in found if not isinstance(each, str)]
    metas = [each.payload for each in records if each.type == "session_meta" and each.payload]
    # A fork goes on with the first line of the session that it was forked from.
    meta = metas[0] if metas else codex_records.Payload()
    in_name = _NAME.fullmatch(path.rpartition("/")[2])
    times = [meta.timestamp, *(each.timestamp for each in records)]
    spawned = codex_records.at(meta.source, "subagent", "thread_spawn", "parent_thread_id")
    return model.Session(
        decoding.name(meta.id) or (in_name[1] if in_name else ""),
        SOURCE,
        f"file:{path}",
        decoding.name(meta.parent_thread_id) or decoding.name(spawned),
        cwd=decoding.path(meta.cwd) or _torn_cwd(first),
        branch=decoding.words(codex_records.at(meta.git, "branch")),
        started_at=next(filter(None, map(decoding.moment, times)), ""),
    )


def _torn_cwd(first: bytes) -> str:
    """From a first line that is longer than what is read of it: it also has all instructions."""
    found = None if b"\n" in first else _CWD.search(first)
    return decoding.path(found[1].decode("utf-8", "replace")) if found else ""


def read(
    file: adapter.File,
    lines: Iterable[adapter.Line],
    finder: patterns.Finder,
    state: dict[str, Any],
) -> adapter.Read:
    """What lines show. `state` has the texts, patches and steps that may be told of again."""
    result = adapter.Read([], [], [])
    for line in lines:
        record = codex_records.decode(line.raw)
        if isinstance(record, str):
            result.problems.append(model.Problem(file.path, f"byte {line.start}", record))
        elif record.payload is not None:
            found = _shown(file, line, record, record.payload, finder, state)
            result.activities.extend(notes.settled(found))
            result.marks.extend(_marks(record, record.payload))
    return result


def _marks(
    record: codex_records.Record, payload: codex_records.Payload
) -> list[tuple[str, str, str]]:
    if record.type == "compacted":
        return [("compacted", decoding.moment(record.timestamp), "")]
    resets_at = codex_records.limit(payload) if record.type == "event_msg" else None
    if resets_at is None:
        return []
    return [("limited", decoding.moment(record.timestamp), resets_at)]


def _shown(
    file: adapter.File,
    line: adapter.Line,
    record: codex_records.Record,
    payload: codex_records.Payload,
    finder: patterns.Finder,
    state: dict[str, Any],
) -> list[model.Activity]:
    pointer = file.pointer(line)
    origin = notes.Origin(
        SOURCE,
        pointer,
        _name(file, record, payload) or pointer,
        decoding.moment(record.timestamp),
        file.session,
    )
    if record.type == "response_item":
        if payload.type in codex_records.CALLS:
            return codex_calls.called(origin, payload, finder, state)
        return _item(origin, record, payload, finder, state)
    if record.type == "event_msg":
        return _event(origin, payload, finder, state)
    if record.type == "compacted" and isinstance(payload.message, str):
        return notes.named(origin, finder, payload.message, "summary", model.LISTED)
    return []


def _name(file: adapter.File, record: codex_records.Record, payload: codex_records.Payload) -> str:
    item = payload.item.id if payload.item else None
    for given in (payload.call_id, payload.id, item):
        name = decoding.name(given)
        if len(name) >= _MIN_NAME_CHARS:
            return name
    number = record.ordinal
    is_number = type(number) is int and 0 <= number < 2**63
    return f"{file.session}#{number}" if is_number and file.session else ""


def _item(
    origin: notes.Origin,
    record: codex_records.Record,
    payload: codex_records.Payload,
    finder: patterns.Finder,
    state: dict[str, Any],
) -> list[model.Activity]:
    """What a message, a thought or an output names."""
    if payload.type in codex_records.OUTPUTS:
        return notes.output(origin, finder, codex_records.output_of(payload))
    what = value = ""
    if payload.type == "reasoning":
        what, value = "thought", notes.strings(_texts(payload.summary))
    elif payload.type == "message" and payload.role == "user":
        what, value = "asked", codex_records.asked(payload)
    elif payload.type == "message" and payload.role == "assistant":
        is_summary = codex_records.is_summary(record)
        what, value = "said", "" if is_summary else codex_records.text_of(payload.content)
    return _spoken(origin, finder, state, "item", what, value)


def _texts(pieces: object) -> list[object]:
    found = pieces if isinstance(pieces, list) else []
    return [each.get("text") for each in found if isinstance(each, dict)]


def _event(
    origin: notes.Origin,
    payload: codex_records.Payload,
    finder: patterns.Finder,
    state: dict[str, Any],
) -> list[model.Activity]:
    told: codex_records.Payload | codex_records.Item = payload
    if payload.type == "item_completed":
        if payload.item is None:
            return []
        told = payload.item
    if told.type in codex_calls.ENDS:
        return codex_calls.ended(origin, told, state)
    what = _SPEECH.get(told.type) if isinstance(told.type, str) else None
    if what is None:
        return []
    value = codex_records.speech(told)
    if what == "asked" and codex_records.is_from_codex(value):
        return []
    return _spoken(origin, finder, state, "event", what, value)


def _spoken(
    origin: notes.Origin,
    finder: patterns.Finder,
    state: dict[str, Any],
    channel: str,
    what: str,
    value: str,
) -> list[model.Activity]:
    """What a text names, unless the other channel has said the same already."""
    found = notes.named(origin, finder, value, what) if what and value else []
    if not found:
        return []
    digest = hashlib.blake2b(value.encode("utf-8", "replace"), digest_size=8).hexdigest()
    spoken: list[list[str]] = state.setdefault("spoken", [])
    other = [what, digest, "item" if channel == "event" else "event"]
    if other in spoken:
        spoken.remove(other)
        return []
    spoken.append([what, digest, channel])
    del spoken[:-_MAX_APART]
    return found


def tail(last: bytes) -> model.Session:
    """How the session stands by its last lines."""
    last_at = said = ending = ""
    is_open = is_limited = False
    for line in decoding.whole_lines(last):
        record = codex_records.decode(line)
        if isinstance(record, str):
            continue
        last_at = max(last_at, decoding.moment(record.timestamp))
        if record.payload is None:
            continue
        payload = record.payload
        said = codex_records.said(record, payload) or said
        is_open = _is_open(payload, is_open)
        if now := _ending(record, payload, is_open=is_open):
            ending = now
            # A turn that the limit has stopped still ends.
            is_limited = is_limited and (record.type, now) == ("event_msg", "at_rest")
        is_limited = is_limited or codex_records.limit(payload) is not None
    return model.Session(
        *("", SOURCE, ""),
        last_at=last_at,
        ending="limited" if is_limited else ending,
        last_said=mentions.excerpt(said),
    )


def _is_open(payload: codex_records.Payload, before: bool) -> bool:
    """Is a turn under way?"""
    return payload.type not in _TURN_ENDS and (before or payload.type in _TURN_STARTS)


def _ending(record: codex_records.Record, payload: codex_records.Payload, *, is_open: bool) -> str:
    """How things stand after a line; empty if it does not tell."""
    if record.type == "event_msg":
        if payload.type in _TURN_ENDS:
            return "at_rest"
        return "mid_turn" if payload.type in _TURN_STARTS else ""
    if record.type != "response_item" or payload.type not in codex_records.ITEMS:
        return ""
    if payload.type == "message" and payload.role != "assistant":
        is_asked = payload.role == "user" and codex_records.asked(payload)
        return "mid_turn" if is_asked else ""
    # Older versions do not write when a turn ends: there an answer is the end of it.
    is_more_to_come = (
        is_open
        or payload.type != "message"
        or payload.phase == "commentary"
        or codex_records.is_summary(record)
    )
    return "mid_turn" if is_more_to_come else "at_rest"


def tell(raw: bytes) -> list[adapter.Told]:
    """What a line tells of words and commands."""
    record = codex_records.decode(raw)
    if isinstance(record, str) or record.payload is None:
        return []
    at = decoding.moment(record.timestamp)
    said = codex_records.said(record, record.payload)
    found = [adapter.Told("said", said)] if said else []
    if record.type == "response_item":
        found += codex_calls.told(record.payload)
    elif record.type == "event_msg":
        found += codex_calls.told_at_end(record.payload.item or record.payload)
    return [each._replace(at=at) for each in found]


ADAPTER = adapter.Adapter(SOURCE, "2", _NEEDLES, head, read, tail, tell)
