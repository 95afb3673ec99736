"""What a call of a tool of Codex's shows, and what Codex tells of how it went."""

from __future__ import annotations

import json
import re

from tether.evidence import mentions, model
from tether.evidence.transcripts import codex_records, decoding, notes, plans
from tether.hints import Any
from tether.tasks.sources import patterns

_PATCHED = re.compile(
    r"^[ \t]{0,8}\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\r\n]{1,4096})", re.MULTILINE
)
_COMMENT = re.compile(r"\s{0,80}#[^\n]{0,400}")
# The calls whose patches are known: Codex tells of those changes again when they are made.
_MAX_PATCHES = 200
NEEDLES = (
    *(b"apply_patch", b'"patch_apply_end"', b'"FileChange"', b'"failed"', b'"exec_command_end"'),
    b'"commit',  # where a command is a list of words
)


def called(
    origin: notes.Origin,
    payload: codex_records.Payload,
    finder: patterns.Finder,
    state: dict[str, Any],
) -> list[model.Activity]:
    """What a tool was called for."""
    given = _arguments(payload)
    command = _command(given)
    found = _patched(origin, payload, given, command, state) + notes.committed(origin, command)
    if isinstance(given, dict):
        for name in ("justification", "description"):
            found += notes.led(origin, finder, given.get(name), "ran")
    comment = _COMMENT.match(command)
    if comment:
        found += notes.led(origin, finder, comment[0], "ran")
    if payload.name == "update_plan":
        found += plans.moved(origin, finder, state, _steps(given))
    return found + notes.named(origin, finder, notes.strings(given), "ran")


def _arguments(payload: codex_records.Payload) -> object:
    if payload.type == "local_shell_call":
        return payload.action
    if payload.type == "custom_tool_call" or not isinstance(payload.arguments, str):
        return payload.input if payload.arguments is None else payload.arguments
    try:
        return json.loads(payload.arguments)
    except (ValueError, RecursionError):
        return payload.arguments


def _command(given: object) -> str:
    """What a shell was given to run; empty if no shell was called."""
    if not isinstance(given, dict):
        return ""
    found = given.get("cmd") or given.get("command")
    if isinstance(found, list):
        words = [each for each in found if isinstance(each, str)]
        # `bash -lc SCRIPT`
        return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
    return found if isinstance(found, str) else ""


def _patched(
    origin: notes.Origin,
    payload: codex_records.Payload,
    given: object,
    command: str,
    state: dict[str, Any],
) -> list[model.Activity]:
    if payload.name == "apply_patch":
        patch = notes.strings(given)
    else:
        patch = command if "apply_patch" in command else ""
    files = list(dict.fromkeys(each.strip() for each in _PATCHED.findall(patch)))
    if not files:
        return []
    if name := decoding.name(payload.call_id):
        state["patches"] = [*state.get("patches", []), name][-_MAX_PATCHES:]
    return [_edited(origin, files)]


def _edited(origin: notes.Origin, files: list[str]) -> model.Activity:
    words = "apply_patch"
    return origin.shows(model.WORKED, "edited", words, files=files)


def _steps(given: object) -> list[tuple[object, object]]:
    steps = codex_records.at(given, "plan")
    return [
        (each.get("step"), each.get("status"))
        for each in (steps if isinstance(steps, list) else ())
        if isinstance(each, dict)
    ]


def ended(
    origin: notes.Origin, told: codex_records.Item | codex_records.Payload, state: dict[str, Any]
) -> list[model.Activity]:
    """What Codex tells of a command or a change of files when it has ended."""
    if told.type in ("FileChange", "patch_apply_end"):
        call = told.call_id if isinstance(told, codex_records.Payload) else told.id
        files = list(told.changes) if isinstance(told.changes, dict) else []
        if told.status not in ("failed", "declined"):
            is_known = not files or decoding.name(call) in state.get("patches", [])
            return [] if is_known else [_edited(origin, files)]
        return [_failed(origin, told)] if told.status == "failed" else []
    code = told.exit_code
    is_failed = told.status == "failed" or (isinstance(code, int) and code not in (0, False))
    return [_failed(origin, told)] if is_failed else []


def _failed(
    origin: notes.Origin, told: codex_records.Item | codex_records.Payload
) -> model.Activity:
    printed = told.aggregated_output or told.stderr
    words = printed if isinstance(printed, str) else ""
    if isinstance(told.exit_code, int):
        words = f"Exit code {told.exit_code}\n{words}"
    return origin.shows(model.WORKED, "failed", mentions.excerpt(words))
