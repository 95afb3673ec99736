"""How a run was started: kept beside its state, so that whoever takes it over goes on as before.

Commands never come from a tracked file: they are given as flags, in the environment, or in the
settings of the user and of the store directory.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tether import errors, files

_FILE = "options.json"
_MAX_BYTES = 256 * 1024
PROMPT_FILE = "{prompt_file}"
PROMPT = "{prompt}"


class Options(NamedTuple):
    """What a run works with."""

    worker: str = ""
    """Empty for a run whose coordinator is an agent itself."""
    auditor: str = ""
    usage: str = ""
    slots: int = 0
    """0 for what the settings say."""


def save(root: files.Root, options: Options) -> None:
    root.write_atomic(_FILE, json.dumps(options._asdict(), indent=2).encode() + b"\n")


def load(root: files.Root) -> Options | None:
    """What was kept; None if that is lost."""
    try:
        found = json.loads(root.read_bytes(_FILE, _MAX_BYTES))
        kinds = {name: type(value) for name, value in Options()._asdict().items()}
        known = {n: v for n, v in found.items() if n in kinds and type(v) is kinds[n]}
        return Options(**known)
    except (errors.TetherError, ValueError, TypeError, AttributeError):
        return None


def kind_of(worker: str) -> str:
    """Which agent a command starts, as far as its words tell."""
    found = [word.rpartition("/")[2] for word in worker.split()]
    return next((kind for kind in ("claude", "codex") if kind in found), "")


def words(command: str, replaced: Mapping[str, str]) -> tuple[str, ...]:
    """A command as a list of words, with the names in braces replaced; no shell is involved."""
    try:
        found = shlex.split(command)
    except ValueError as problem:
        raise errors.UsageError(
            "The command has a quote that does not end. Nothing was changed."
        ) from problem
    if not found:
        raise errors.UsageError("The command is empty. Nothing was changed.")
    return tuple(_filled(word, replaced.items()) for word in found)


def _filled(word: str, replaced: Iterable[tuple[str, str]]) -> str:
    # Whole words only once: what is put in may itself have braces.
    for name, value in replaced:
        before, found, after = word.partition(name)
        if found:
            return before + value + after
    return word
