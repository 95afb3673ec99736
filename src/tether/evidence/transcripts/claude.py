"""Claude Code: `<projects>/<slug>/<session>.jsonl`, and what its subagents write beside it.

A subagent writes `<session>/subagents/agent-<id>.jsonl` (formerly `agent-<id>.jsonl`) with records
that name the session that started it. It is a session of its own here, `<session>.agent-<id>`.

A record keeps its `uuid` wherever it is copied to when a session is resumed or forked, so that is
what it is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tether.evidence import mentions, model
from tether.evidence.history import features
from tether.evidence.transcripts import adapter, claude_records, claude_tools, decoding, notes
from tether.hints import Any
from tether.tasks.sources import patterns

SOURCE = "claude:transcript"
_NEEDLES = (
    claude_tools.NEEDLE,
    notes.COMMIT_NEEDLE,
    re.compile(rb'"is_error": ?true'),
    b"compact_boundary",
    b"usage_limit_reached",
    b"usage limit reached|",
)
_EDITED = re.compile(
    rb'"name": ?"(Edit|Write|MultiEdit|NotebookEdit)", ?"input": ?\{'
    rb'(?:"replace_all": ?(?:true|false), ?)?"(?:file_path|notebook_path)": ?"([^"]{1,4096})"'
)
_TOLD = re.compile(
    rb'"(uuid|timestamp)": ?"'
    rb'([0-9a-f]{8}-[0-9a-f-]{27}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z)"'
)


def head(path: str, first: bytes) -> model.Session:
    """What the first records tell of the session."""
    records = _records(first)
    session, parent = _names(path, [decoding.name(each.session_id) for each in records])
    return model.Session(
        *(session, SOURCE, f"file:{path}", parent),
        cwd=_first(decoding.path(each.cwd) for each in records),
        branch=_first(decoding.words(each.git_branch) for each in records),
        started_at=_first(decoding.moment(each.timestamp) for each in records),
        title=_title(records),
    )


def _names(path: str, named: list[str]) -> tuple[str, str]:
    """The session and the one that started it, by the records or else by the path."""
    folders, _, file = path.rpartition("/")
    stem = decoding.name(file.removesuffix(".jsonl"))
    # A fork begins with records of the session that it was forked from.
    told = stem if stem in named else _first(named)
    if not stem.startswith("agent-"):
        return told or stem, ""
    folder = folders.removesuffix("/subagents").rpartition("/")[2]
    parent = told or (decoding.name(folder) if folders.endswith("/subagents") else "")
    return decoding.name(f"{parent}.{stem}") if parent else stem, parent


def _title(records: list[claude_records.Record]) -> str:
    """As the user calls it, or else as Claude Code does."""
    for name in ("custom_title", "ai_title", "summary"):
        kind = name.replace("_", "-")
        titles = [getattr(each, name) for each in records if each.type == kind]
        if titles and decoding.words(titles[-1]):
            return decoding.words(titles[-1])
    return ""


def read(
    file: adapter.File,
    lines: Iterable[adapter.Line],
    finder: patterns.Finder,
    state: dict[str, Any],
) -> adapter.Read:
    """What lines show. `state` has the steps of the agent's own list that are about tasks."""
    result = adapter.Read([], [], [])
    for line in lines:
        if not finder.may_hold(line.raw) and (edit := _edit(file, line)):
            result.activities.append(edit)
            continue
        record = claude_records.decode(line.raw)
        if isinstance(record, str):
            result.problems.append(model.Problem(file.path, f"byte {line.start}", record))
        elif record.type in ("user", "assistant"):
            shown = notes.settled(_shown(file, line, record, finder, state))
            result.activities.extend(features.all_placed(list(shown), record.git_branch))
            resets_at = claude_records.limit(record)
            if resets_at is not None:
                result.marks.append(("limited", decoding.moment(record.timestamp), resets_at))
        elif record.type == "system" and record.subtype == "compact_boundary":
            at = decoding.moment(record.timestamp)
            result.marks.append(("compacted", at, claude_records.trigger(record)))
    return result


def _edit(file: adapter.File, line: adapter.Line) -> model.Activity | None:
    """The edit in a record that is nothing else: most records that matter, so not even decoded.

    A quotation mark in a text is escaped, so a name with one on both sides is a field's.
    """
    if line.raw.count(b'"input":') != 1:
        return None
    path = _EDITED.search(line.raw)
    told = dict(_TOLD.findall(line.raw))
    if path is None or len(told) != 2 or b"\\" in path[2] or not path[2].isascii():
        return None
    name, at = told[b"uuid"].decode(), told[b"timestamp"].decode()
    return model.Activity(
        *(SOURCE, file.pointer(line), name, at, model.WORKED, "edited", "", "", file.session),
        *(path[1].decode(), (path[2].decode(),)),
    )


def _shown(
    file: adapter.File,
    line: adapter.Line,
    record: claude_records.Record,
    finder: patterns.Finder,
    state: dict[str, Any],
) -> list[model.Activity]:
    if record.is_meta is True or record.is_api_error_message is True:
        return []
    pointer = file.pointer(line)
    name = decoding.name(record.uuid) or pointer
    whole = notes.Origin(SOURCE, pointer, name, decoding.moment(record.timestamp), file.session)
    if b'"task"' in line.raw:
        claude_tools.answered(line.raw, finder, state)
    found: list[model.Activity] = []
    blocks = claude_records.blocks(record)
    for number, block in enumerate(blocks):
        origin = whole if len(blocks) == 1 else whole._replace(record=f"{name}#{number}")
        if block.type == "tool_use":
            found += claude_tools.used(origin, block, finder, state)
        elif block.type == "tool_result":
            found += _result(origin, block, finder)
        else:
            found += _words(origin, record, block, finder)
    return found


def _result(
    origin: notes.Origin, block: claude_records.Block, finder: patterns.Finder
) -> list[model.Activity]:
    text = claude_records.text_of(block.content)
    found = notes.output(origin, finder, text)
    if block.is_error is True:
        found.append(origin.shows(model.WORKED, "failed", mentions.excerpt(text)))
    return found


def _words(
    origin: notes.Origin,
    record: claude_records.Record,
    block: claude_records.Block,
    finder: patterns.Finder,
) -> list[model.Activity]:
    """What a text or a thought names."""
    if block.type == "thinking" and isinstance(block.thinking, str):
        return notes.named(origin, finder, block.thinking, "thought")
    if block.type != "text" or not isinstance(block.text, str):
        return []
    if record.is_compact_summary is True:
        return notes.named(origin, finder, block.text, "summary", model.LISTED)
    if record.type == "assistant":
        return notes.named(origin, finder, block.text, "said")
    voice = claude_records.voice(block.text)
    if voice == "output":
        return notes.output(origin, finder, block.text)
    return notes.named(origin, finder, block.text, voice) if voice else []


def tail(last: bytes) -> model.Session:
    """How the session stands by its last records."""
    records = _records(last)
    last_at = max((decoding.moment(each.timestamp) for each in records), default="")
    # What a subagent says in the same file is not the session's own; in its own file it is.
    own = [each for each in records if each.is_sidechain is not True and _is_turn(each)]
    turns = own or [each for each in records if _is_turn(each)]
    said = [words for each in turns if (words := claude_records.said(each))]
    return model.Session(
        *("", SOURCE, ""),
        last_at=last_at,
        ending=claude_records.ending(turns[-1]) if turns else "",
        last_said=mentions.excerpt(said[-1]) if said else "",
    )


def tell(raw: bytes) -> list[adapter.Told]:
    """What a line tells of words and commands."""
    record = claude_records.decode(raw)
    if isinstance(record, str):
        return []
    at = decoding.moment(record.timestamp)
    words = claude_records.said(record)
    found = [adapter.Told("said", words, at=at)] if words else []
    for block in claude_records.blocks(record):
        if block.type == "tool_use":
            asked = notes.purpose(block.name, block.input)
            found.append(adapter.Told("called", asked, _call(block.id), at))
        elif block.type == "tool_result" and block.is_error is True:
            complaint = claude_records.text_of(block.content)
            found.append(adapter.Told("failed", complaint, _call(block.tool_use_id), at))
    return found


def _call(value: object) -> str:
    return value if isinstance(value, str) else ""


def _is_turn(record: claude_records.Record) -> bool:
    return bool(claude_records.ending(record))


def _records(piece: bytes) -> list[claude_records.Record]:
    found = [claude_records.decode(line) for line in decoding.whole_lines(piece)]
    return [each for each in found if not isinstance(each, str)]


def _first(values: Iterable[str]) -> str:
    return next((each for each in values if each), "")


ADAPTER = adapter.Adapter(SOURCE, "2", _NEEDLES, head, read, tail, tell)
