"""The lines of Codex's rollouts: what is decoded of them, and how things stand after each.

Annotations here are evaluated by msgspec: `object` stands for what may be anything, and no name of
`tether.hints` for types can be used.
"""

from __future__ import annotations

import re

import msgspec

from tether.evidence.transcripts import decoding, notes
from tether.hints import Any

CALLS = ("function_call", "custom_tool_call", "local_shell_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
ITEMS = (*CALLS, *OUTPUTS, "message", "reasoning")
# What Codex writes in the name of the user. Newer versions also say so in each piece's kind.
_NOT_THE_USER = (
    *("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<INSTRUCTIONS>"),
    *("<turn_aborted>", "<subagent_notification>", "<user_shell_command>", "<skill>"),
    *("<hook_prompt", "<goal_context>", "<codex_internal_context", "<external_"),
)
# The values of `rate_limit_reached_type`, which stands as null in every count of tokens.
_REACHED = re.compile(r"rate_limit_reached|[a-z_]{1,64}_(?:usage_limit_reached|credits_depleted)")
LIMIT_NEEDLES = (b'limit_reached"', b'_credits_depleted"')


class Part(msgspec.Struct):
    """A piece of a message. The data of an image is not looked at."""

    type: object = None
    text: object = None


class Item(msgspec.Struct):
    """What a turn has done, as Codex itself sums it up."""

    type: object = None
    id: object = None
    content: str | list[Part] | None = None
    status: object = None
    command: object = None
    exit_code: object = None
    aggregated_output: object = None
    stderr: object = None
    changes: object = None
    summary_text: object = None


class Payload(msgspec.Struct):
    """Of any line."""

    type: object = None
    id: object = None
    call_id: object = None
    # Messages and thoughts.
    role: object = None
    content: str | list[Part] | None = None
    phase: object = None
    internal_chat_message_metadata_passthrough: object = None
    message: object = None
    text: object = None
    last_agent_message: object = None
    summary: object = None
    # Calls, and what came of them.
    name: object = None
    arguments: object = None
    input: object = None
    action: object = None
    output: object = None
    item: Item | None = None
    status: object = None
    command: object = None
    exit_code: object = None
    aggregated_output: object = None
    stderr: object = None
    changes: object = None
    rate_limits: object = None
    # The session.
    timestamp: object = None
    cwd: object = None
    git: object = None
    parent_thread_id: object = None
    source: object = None


class Record(msgspec.Struct):
    """Any line."""

    timestamp: object = None
    ordinal: object = None
    type: object = None
    payload: Payload | None = None
    metadata: object = None


_PARTS = {"payload": Payload, "item": Item, "content": [Part]}
_decoder = msgspec.json.Decoder(Record)
_bare_decoder = msgspec.json.Decoder(Payload)


def decode(raw: bytes) -> Record | str:
    """A record, or why the line is none."""
    record = decoding.decode(_decoder.decode, Record, _PARTS, raw)
    if isinstance(record, str) or record.payload is not None or record.type not in ITEMS:
        return record
    # The first versions wrote what is now a payload as a line.
    payload = decoding.decode(_bare_decoder.decode, Payload, _PARTS, raw)
    if isinstance(payload, str):
        return payload
    return Record(record.timestamp, record.ordinal, "response_item", payload)


def text_of(content: str | list[Part] | None) -> str:
    """The texts of a message or a result, without its images."""
    if isinstance(content, str):
        return content
    return "\n".join(each.text for each in content or () if isinstance(each.text, str))


def asked(payload: Payload) -> str:
    """The user's own words in a message that is written in the user's name."""
    if isinstance(payload.content, str):
        return "" if is_from_codex(payload.content) else payload.content
    kinds = at(payload.internal_chat_message_metadata_passthrough, "content_item_kinds")
    kinds = kinds if isinstance(kinds, list) else []
    own = []
    for number, each in enumerate(payload.content or ()):
        kind = kinds[number] if number < len(kinds) else None
        is_told = isinstance(kind, str) and kind != "unknown" and not kind.startswith("user.")
        if isinstance(each.text, str) and not is_told and not is_from_codex(each.text):
            own.append(each.text)
    return "\n".join(own)


def is_from_codex(text: str) -> bool:
    """Is this what Codex tells the model, in the user's name?"""
    return text[:80].lstrip().startswith(_NOT_THE_USER)


def is_summary(record: Record) -> bool:
    """Is this message the text that a compaction leaves, and nobody's words?"""
    return at(record.metadata, "compaction_output") is True


def speech(told: Payload | Item) -> str:
    """The words in an event."""
    if isinstance(told, Item):
        return text_of(told.content) or notes.strings(told.summary_text)
    found = told.message if told.message is not None else told.text
    return found if isinstance(found, str) else ""


def said(record: Record, payload: Payload) -> str:
    """The agent's words in a line."""
    if record.type == "response_item" and payload.role == "assistant":
        return "" if is_summary(record) else text_of(payload.content)
    if record.type != "event_msg":
        return ""
    if payload.type == "agent_message":
        return speech(payload)
    if payload.item is not None and payload.item.type == "AgentMessage":
        return speech(payload.item)
    last = payload.last_agent_message
    return last if payload.type == "task_complete" and isinstance(last, str) else ""


def output_of(payload: Payload) -> str:
    """What a tool has printed: a text, pieces of one, or either in an object."""
    found = payload.output
    if isinstance(found, dict):
        found = found.get("content")
    if isinstance(found, list):
        texts = [each.get("text") for each in found if isinstance(each, dict)]
        return "\n".join(each for each in texts if isinstance(each, str))
    return found if isinstance(found, str) else ""


def limit(payload: Payload) -> str | None:
    """When the usage limit ends that was reached, empty if unknown; None if none was."""
    reached = at(payload.rate_limits, "rate_limit_reached_type")
    is_reached = isinstance(reached, str) and _REACHED.fullmatch(reached)
    if payload.type != "token_count" or not is_reached:
        return None
    windows = [at(payload.rate_limits, name) for name in ("primary", "secondary")]
    used = [(_percent(each), decoding.moment(at(each, "resets_at"))) for each in windows]
    # Which of the windows is full is not said; when several are, the last one to end counts.
    full = [ends for percent, ends in used if percent >= 100]
    return max(full, default="") or max(used)[1]


def _percent(window: object) -> float:
    found = at(window, "used_percent")
    is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
    return float(max(0, min(found, 1000))) if is_number else 0.0


def at(value: Any, *names: str) -> Any:
    """What stands in objects in objects, None if it does not."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
