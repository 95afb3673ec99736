"""What a call of a tool of Codex's shows, and what Codex tells of how it went."""

from __future__ import annotations

import json
import re

from tether.evidence import mentions, model
from tether.evidence.transcripts import adapter, codex_records, decoding, notes, plans
from tether.hints import Any
from tether.tasks.sources import patterns

_PATCHED = re.compile(
    r"^[ \t]{0,8}\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\r\n]{1,4096})", re.MULTILINE
)
_COMMENT = re.compile(r"\s{0,80}#[^\n]{0,400}")
# The calls whose patches are known: Codex tells of those changes again when they are made.
_MAX_PATCHES = 200
_EXIT_CODE = re.compile(
    r"^(?:Process exited with code|Exit code:) ([1-9][0-9]{0,5})$", re.MULTILINE
)
# What Codex itself writes in front of what a command has printed is not longer than this.
_HEADER_CHARS = 300
ENDS = ("CommandExecution", "exec_command_end", "FileChange", "patch_apply_end")
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
    files = _files(payload, given, command)
    if not files:
        return []
    if name := decoding.name(payload.call_id):
        state["patches"] = [*state.get("patches", []), name][-_MAX_PATCHES:]
    return [_edited(origin, files)]


def _files(payload: codex_records.Payload, given: object, command: str) -> list[str]:
    """The files that a call patches."""
    if payload.name == "apply_patch":
        patch = notes.strings(given)
    else:
        patch = command if "apply_patch" in command else ""
    return list(dict.fromkeys(each.strip() for each in _PATCHED.findall(patch)))


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


def told(payload: codex_records.Payload) -> list[adapter.Told]:
    """What an item tells of a command: that it was called, or how it failed."""
    name = payload.call_id or payload.id
    name = name if isinstance(name, str) else ""
    if payload.type in codex_records.CALLS:
        given = _arguments(payload)
        command = _command(given)
        files = _files(payload, given, command)
        asked = f"apply_patch {' '.join(files)}" if files else command
        return [adapter.Told("called", asked or notes.purpose(payload.name, given), name)]
    complaint = _complaint(payload) if payload.type in codex_records.OUTPUTS else ""
    return [adapter.Told("failed", complaint, name)] if complaint else []


def _complaint(payload: codex_records.Payload) -> str:
    """How a command failed, by its output; empty if it did not.

    The code stands in front of the text, or, in older versions, beside it in an object.
    """
    printed = codex_records.output_of(payload)
    found = _EXIT_CODE.search(printed[:_HEADER_CHARS])
    if found:
        _, mark, rest = printed.partition("Output:\n")
        return f"Exit code {found[1]}\n{rest if mark else printed}"
    if codex_records.at(payload.output, "success") is False:
        return printed or "it failed"
    try:
        beside = json.loads(printed) if printed.startswith("{") else None
    except (ValueError, RecursionError):
        return ""
    code = codex_records.at(beside, "metadata", "exit_code")
    words = codex_records.at(beside, "output")
    return _with_code(code, words) if _is_failure(code) else ""


def told_at_end(told: codex_records.Item | codex_records.Payload) -> list[adapter.Told]:
    """What an event tells of a command that has failed."""
    if told.type not in ENDS or not _has_failed(told):
        return []
    name = told.call_id if isinstance(told, codex_records.Payload) else told.id
    name = name if isinstance(name, str) else ""
    command = _command({"command": told.command})
    called = [adapter.Told("called", command, name)] if command else []
    return [*called, adapter.Told("failed", _words(told), name)]


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
    if not _has_failed(told):
        return []
    return [origin.shows(model.WORKED, "failed", mentions.excerpt(_words(told)))]


def _has_failed(told: codex_records.Item | codex_records.Payload) -> bool:
    is_command = told.type in ("CommandExecution", "exec_command_end")
    return told.status == "failed" or (is_command and _is_failure(told.exit_code))


def _is_failure(code: object) -> bool:
    return isinstance(code, int) and code not in (0, False)


def _words(told: codex_records.Item | codex_records.Payload) -> str:
    return _with_code(told.exit_code, told.aggregated_output or told.stderr)


def _with_code(code: object, printed: object) -> str:
    words = printed if isinstance(printed, str) else ""
    return f"Exit code {code}\n{words}" if isinstance(code, int) else words
