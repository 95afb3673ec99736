"""The names that other parties choose, parsed once into types that cannot be wrong.

Every id is ASCII, bounded in length and a single path component, so it can name a file or a row
and can neither leave a directory nor read as an option. Patterns use `fullmatch`: `$` would accept
a trailing newline. What an id refers to is not known here.
"""

from __future__ import annotations

import os
import re

from tether import errors
from tether.hints import NamedTuple

# Windows cannot check out a file with one of these names, whatever its extension.
_DEVICE_NAMES = frozenset(
    ["aux", "con", "nul", "prn"] + [f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)]
)
# Crockford's base 32 in lower case: no letters that look like digits.
_BASE32 = "0123456789abcdefghjkmnpqrstvwxyz"

# The source of tasks that Tether itself keeps; its tasks are called by their id alone.
OWN_SOURCE = "work"
_WORD = re.compile(r"[a-z][a-z0-9_]{0,39}")


class _Id(str):
    """A string that matched its type's pattern."""

    __slots__ = ()
    noun = "id"
    pattern = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
    hint = errors.InvalidId.hint

    def __new__(cls, value: str) -> _Id:
        if type(value) is cls:
            return value
        if not cls.is_valid(value):
            # The value itself is untrusted and is not repeated.
            raise errors.InvalidId(
                f"This is not a valid {cls.noun}. Nothing was changed.", hint=cls.hint
            )
        return super().__new__(cls, value)

    @classmethod
    def is_valid(cls, value: str) -> bool:
        return (
            cls.pattern.fullmatch(value) is not None
            and not value.endswith(".")
            and value.partition(".")[0].lower() not in _DEVICE_NAMES
        )


class TaskId(_Id):
    """A task within one source."""

    __slots__ = ()
    noun = "task id"
    hint = (
        "A task id has 1 to 64 letters, digits, '.', '_' and '-', starts with a letter or digit"
        " and does not end with '.'."
    )


class TaskKey(NamedTuple):
    """A task among all sources. What people type and read is `id`, or `source:id`."""

    source: str
    id: str

    @classmethod
    def parse(cls, value: str) -> TaskKey:
        source, colon, task = value.rpartition(":")
        return cls(SourceName(source) if colon else OWN_SOURCE, TaskId(task))

    @property
    def label(self) -> str:
        return self.id if self.source == OWN_SOURCE else f"{self.source}:{self.id}"


class SourceName(_Id):
    """A task list that a team keeps."""

    __slots__ = ()
    noun = "name of a task source"


class AgentName(_Id):
    """An agent or a person, stable across sessions."""

    __slots__ = ()
    noun = "agent name"
    hint = (
        "An agent name has 1 to 64 letters, digits, '.', '_' and '-', starts with a letter or digit"
        " and does not end with '.'."
    )


class SessionId(_Id):
    """One session of an agent, as its own program names it."""

    __slots__ = ()
    noun = "session id"
    pattern = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
    hint = (
        "A session id has 1 to 128 letters, digits, '.', '_' and '-', starts with a letter or digit"
        " and does not end with '.'."
    )


class MessageType(_Id):
    """What a message is about; the known ones and any other word."""

    __slots__ = ()
    noun = "type of a message"
    pattern = _WORD
    hint = "A type has 1 to 40 small letters, digits and '_', and starts with a letter."


class Outcome(_Id):
    """What became of a claim; the known ones and any other word."""

    __slots__ = ()
    noun = "outcome"
    pattern = _WORD
    hint = "An outcome has 1 to 40 small letters, digits and '_', and starts with a letter."


class NodeId(_Id):
    """A code node: a hash of its birth."""

    __slots__ = ()
    noun = "node id"
    pattern = re.compile(r"[0-9a-f]{32}")
    hint = "A node id has 32 digits and letters from a to f."


class WorkspaceId(_Id):
    """The clones that belong together; part of a schema name in PostgreSQL."""

    __slots__ = ()
    noun = "workspace id"
    pattern = re.compile(r"[a-z0-9]{8,40}")
    hint = "A workspace id has 8 to 40 small letters and digits; `tether init` makes one."

    @classmethod
    def generate(cls) -> WorkspaceId:
        return cls(random_base32(16))


def random_base32(length: int) -> str:
    """`length` unpredictable characters that are safe in any id."""
    return "".join(_BASE32[byte & 31] for byte in os.urandom(length))
