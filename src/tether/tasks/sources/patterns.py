"""How the ids of each kind of task list look in a text.

An id is matched exactly: `H.13.9` is neither part of `H.13.9.7` nor of `v2.1.0`, and one at the end
of a sentence is one. Teams add patterns of their own as templates, not as regular expressions: a
tracked setting must not be able to make a search think for hours.
"""

from __future__ import annotations

import re

from tether import errors
from tether.hints import NamedTuple

# Neither a letter, a digit nor a dot before it; after it neither a letter or digit, nor a dot with
# a digit, which would make it another id.
_BEFORE = r"(?<![A-Za-z0-9._])"
_AFTER = r"(?![A-Za-z0-9_])(?!\.[0-9])"
# A number that may have numbers below it.
_LEVELS = r"(?:\.[0-9]{1,4}){0,4}"
_TEMPLATE = re.compile(r"[A-Za-z0-9@#*_.-]{2,40}")
_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_PARTS = {"#": "[0-9]{1,9}", "@": "[A-Za-z]{1,8}", "*": "[A-Za-z0-9]{1,16}"}


class Pattern(NamedTuple):
    """The ids of one kind of list."""

    exact: str
    raw: str
    """Shorter, and found wherever an id is: also where JSON has put `\\n` in front of it."""


# Ids that are mere numbers (Kiro, OpenSpec) would match every version, and conductor's tasks have
# none. The ids of beads begin as its own list says.
BUILT_IN = {
    "work": Pattern(r"T[0-9]{8}-[0-9a-hjkmnp-tv-z]{6}(?:-[0-9]{1,4}){0,4}", r"T[0-9]{8}-"),
    "track": Pattern(r"[A-Z]{1,2}(?:\.[1-9][0-9]{0,5}){1,4}", r"[A-Z]\.[1-9]"),
    "speckit": Pattern(r"T[0-9]{3}", r"T[0-9]{3}"),
}
_BY_PREFIX = {
    "backlog": r"-[0-9]{1,6}" + _LEVELS,
    "beads": r"-[0-9a-z]{1,8}" + _LEVELS,
}


class Kinds(NamedTuple):
    """Which ids are looked for."""

    sources: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    """A team's own, like `PROJ-#`."""
    prefixes: tuple[tuple[str, str], ...] = ()
    """(source, prefix): how the ids of a list begin, by the list itself."""


class Found(NamedTuple):
    """An id in a text."""

    source: str
    id: str
    start: int


class Finder:
    """Finds the ids of some kinds of task lists."""

    def __init__(self, kinds: Kinds) -> None:
        # A team's own ids are those of its first list: `work`, if there is no other.
        own = next((name for name in kinds.sources if name != "work"), "work")
        patterns = [(own, _template(value)) for value in kinds.templates]
        patterns += [_prefixed(*pair) for pair in kinds.prefixes]
        patterns += [(name, BUILT_IN[name]) for name in kinds.sources if name in BUILT_IN]
        groups = "|".join(f"(?P<g{n}>{each.exact})" for n, (_, each) in enumerate(patterns))
        raw = "|".join(dict.fromkeys(each.raw for _, each in patterns))
        self._source_of = {f"g{n}": name for n, (name, _) in enumerate(patterns)}
        self._exact = re.compile(f"{_BEFORE}(?:{groups}){_AFTER}" if groups else r"(?!)")
        self.raw = re.compile(raw.encode() if raw else rb"(?!)")
        """Found in every line that holds an id, whatever its encoding, and in some others."""
        self.version = f"1:{kinds.sources}{kinds.templates}{kinds.prefixes}"
        """Another one makes everything be read again."""

    def find(self, text: str) -> list[Found]:
        """Every id, as often as it stands there."""
        found = []
        for match in self._exact.finditer(text):
            source = self._source_of[match.lastgroup or ""]
            found.append(Found(source, canonical(source, match[0]), match.start()))
        return found


def canonical(source: str, task_id: str) -> str:
    """An id as Tether writes it. Backlog.md itself takes `task-7` and `TASK-7` for one."""
    return task_id.upper() if source == "backlog" else task_id


def _prefixed(source: str, prefix: str) -> tuple[str, Pattern]:
    if not _PREFIX.fullmatch(prefix):
        return source, Pattern(r"(?!)", r"(?!)")
    exact = f"(?i:{re.escape(prefix)}){_BY_PREFIX[source]}"
    return source, Pattern(exact, f"(?i:{re.escape(prefix)}-[0-9a-z])")


def _template(value: str) -> Pattern:
    """`PROJ-#` as a linear pattern: `#` digits, `@` letters, `*` letters and digits."""
    if not _TEMPLATE.fullmatch(value) or not set(value) - set(_PARTS):
        raise errors.ConfigError(
            "evidence.ids has a template that is none.",
            hint="Use letters, digits, '.', '_' and '-', with '#' for a number, '@' for letters and"
            " '*' for letters and digits, as in PROJ-#.",
        )
    pattern = "".join(_PARTS.get(char) or re.escape(char) for char in value)
    return Pattern(pattern, pattern)
