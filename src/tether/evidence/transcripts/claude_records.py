"""The records of Claude Code's transcripts: what is decoded of them, and what kind of turn each is.

Annotations here are evaluated by msgspec: `object` stands for what may be anything, and no name of
`tether.hints` for types can be used.
"""

from __future__ import annotations

import re

import msgspec

from tether.evidence.transcripts import decoding
from tether.hints import Any

_OLD_LIMIT = re.compile(r"usage limit reached\|([0-9]{9,13})")
# What Claude Code writes in the name of the user, in front of its own words.
_OUTPUTS = ("<local-command-std", "<bash-std", "<task-notification>")
_REMINDER = "<system-reminder>"
# Commands that Claude Code answers itself. `<command-message>` in front is for the model.
_LOCAL = ("<command-name>", "<local-command-", "<bash-")
_INTERRUPTED = "[Request interrupted by user"


class Block(msgspec.Struct):
    """A piece of a message. An image's data and a thought's signature are not looked at."""

    type: object = None
    id: object = None
    tool_use_id: object = None
    text: object = None
    thinking: object = None
    name: object = None
    input: object = None
    content: str | list[Block] | None = None
    is_error: object = None


class Message(msgspec.Struct):
    content: str | list[Block] | None = None
    stop_reason: object = None
    model: object = None


class Record(msgspec.Struct, rename="camel"):
    """Any line."""

    type: object = None
    subtype: object = None
    uuid: object = None
    timestamp: object = None
    session_id: object = None
    cwd: object = None
    git_branch: object = None
    is_meta: object = None
    is_sidechain: object = None
    is_compact_summary: object = None
    is_api_error_message: object = None
    api_error: object = None
    api_error_params: object = None
    quota_limits: object = None
    compact_metadata: object = None
    message: Message | None = None
    custom_title: object = None
    ai_title: object = None
    summary: object = None


_PARTS = {"message": Message, "content": [Block]}
_decoder = msgspec.json.Decoder(Record)


class _Step(msgspec.Struct):
    id: object = None
    subject: object = None
    description: object = None


class _Result(msgspec.Struct):
    task: _Step | None = None


class _Answer(msgspec.Struct, rename="camel"):
    tool_use_result: _Result | None = None


_answer_decoder = msgspec.json.Decoder(_Answer)


def decode(raw: bytes) -> Record | str:
    """A record, or why the line is none."""
    return decoding.decode(_decoder.decode, Record, _PARTS, raw)


def step(raw: bytes) -> _Step | None:
    """The step of the agent's own list that a line tells of in its structured result."""
    try:
        result = _answer_decoder.decode(raw).tool_use_result
    except (ValueError, RecursionError):
        return None
    return result.task if result else None


def blocks(record: Record) -> list[Block]:
    """The pieces of a record's message; a bare text is one."""
    content = record.message.content if record.message else None
    if isinstance(content, str):
        return [Block(type="text", text=content)]
    return content or []


def text_of(content: str | list[Block] | None) -> str:
    """The texts of a tool's result, without its images."""
    if isinstance(content, str):
        return content
    return "\n".join(each.text for each in content or () if isinstance(each.text, str))


def voice(text: str) -> str:
    """Who speaks in a text of the user's: `asked`, `output`, or nobody."""
    start = text[:80].lstrip()
    if start.startswith(_OUTPUTS):
        return "output"
    return "" if start.startswith(_REMINDER) else "asked"


def limit(record: Record) -> str | None:
    """When the usage limit ends that a record tells of, empty if unknown; None if it tells none."""
    if record.api_error == "usage_limit_reached":
        params, quota = record.api_error_params, record.quota_limits
        found = decoding.moment(_at(params, "rate_limit_info", "resetsAt"))
        return found or decoding.moment(_at(quota, "resetsAt"))
    if record.is_api_error_message is True:
        old = _OLD_LIMIT.search(text_of(record.message.content if record.message else None))
        return decoding.moment(int(old[1])) if old else None
    return None


def trigger(record: Record) -> str:
    """What started a compaction."""
    found = _at(record.compact_metadata, "trigger")
    return found if found in ("auto", "manual") else ""


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def said(record: Record) -> str:
    """The agent's words in a record; what Claude Code writes in its place is none."""
    is_synthetic = record.message is not None and record.message.model == "<synthetic>"
    if record.type != "assistant" or record.is_api_error_message is True or is_synthetic:
        return ""
    texts = [each.text for each in blocks(record) if each.type == "text"]
    return "\n".join(each for each in texts if isinstance(each, str))


def ending(record: Record) -> str:
    """How things stand after a record; empty if it is no part of the conversation."""
    if record.type == "assistant":
        return _after_agent(record)
    if record.type != "user" or record.is_meta is True or record.is_compact_summary is True:
        return ""
    text = text_of(record.message.content if record.message else None)[:80].lstrip()
    if text.startswith(_INTERRUPTED):
        return "at_rest"
    return "" if text.startswith(_LOCAL) else "mid_turn"


def _after_agent(record: Record) -> str:
    if limit(record) is not None:
        return "limited"
    found = blocks(record)
    reason = record.message.stop_reason if record.message else None
    # The pieces of one message are records of their own: after a text its tool may still follow.
    is_more_to_come = any(each.type == "tool_use" for each in found) or reason == "tool_use"
    is_only_thought = bool(found) and all(
        each.type in ("thinking", "redacted_thinking") for each in found
    )
    return "mid_turn" if is_more_to_come or is_only_thought else "at_rest"
