"""How the ids of each kind of task list look in a text.

An id is matched exactly: `H.13.9` is neither part of `H.13.9.7` nor of `v2.1.0`, and one at the end
of a sentence is one. Teams add patterns of their own as templates, not as regular expressions: a
tracked setting must not be able to make a search think for hours.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import string

# Made by the hundred thousand, and quicker so than those of `hints`.
from typing import NamedTuple

from tether import errors, ids

# Neither a letter, a digit nor a dot before it; after it neither a letter or digit, nor a dot with
# a digit, which would make it another id.
_BEFORE = r"(?<![A-Za-z0-9.])"
_AFTER = r"(?![A-Za-z0-9])(?!\.[0-9])"
# A number that may have numbers below it.
_LEVELS = r"(?:\.[0-9]{1,4}){0,4}"
_TEMPLATE = re.compile(r"[A-Za-z0-9@#*_.-]{2,40}")
_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_RUNS = re.compile(r"#{1,40}|@{1,40}|\*{1,40}|[A-Za-z0-9_.-]")
# What a sign in a template stands for, and how much of it at most.
_PARTS = {"#": ("0-9", 9), "@": ("A-Za-z", 8), "*": ("A-Za-z0-9", 16)}


class Pattern(NamedTuple):
    """The ids of one kind of list."""

    exact: str
    raw: tuple[str, ...]
    """Shorter, and one of them is found wherever an id is: also where JSON has put `\\n` in front.

    Each begins with a fixed character, which is looked for twenty times as fast as a set of them.
    """
    back: tuple[int, ...] = (0,)
    """How many characters before it the id may begin."""


# Ids that are mere numbers (Kiro, OpenSpec) would match every version, and conductor's tasks have
# none. The ids of beads begin as its own list says.
BUILT_IN = {
    ids.OWN_SOURCE: Pattern(
        r"T[0-9]{8}-[0-9a-hjkmnp-tv-z]{6}(?:-[0-9]{1,4}){0,4}", (r"T[0-9]{8}-",)
    ),
    "track": Pattern(r"[A-Z]{1,2}(?:\.[1-9][0-9]{0,5}){1,4}", (r"\.(?<=[A-Z]\.)[1-9]",), (2, 1)),
    "speckit": Pattern(r"T[0-9]{3,4}[a-z]?", (r"T[0-9]{3}",)),
}
_OWN = BUILT_IN[ids.OWN_SOURCE]
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
        # Lists have ids of their own kinds, so what a team adds is of no list.
        # The longest first: `T#-#` is another task than `T#`. Before them all stand our own ids, of
        # which `T#` would take a part.
        templates = sorted(kinds.templates, key=len, reverse=True)
        own = [ids.OWN_SOURCE] if ids.OWN_SOURCE in kinds.sources else []
        patterns = [(name, BUILT_IN[name]) for name in own]
        patterns += [(ids.OWN_SOURCE, _template(value)) for value in templates]
        patterns += [_prefixed(*pair) for pair in kinds.prefixes]
        others = (name for name in kinds.sources if name in BUILT_IN and name not in own)
        patterns += [(name, BUILT_IN[name]) for name in others]
        groups = "|".join(f"(?P<g{n}>{each.exact})" for n, (_, each) in enumerate(patterns))
        raw = dict.fromkeys((one, each.back) for _, each in patterns for one in each.raw)
        self._places = [(re.compile(one), back) for one, back in raw]
        self._source_of = {f"g{n}": name for n, (name, _) in enumerate(patterns)}
        self._exact = re.compile(f"{_BEFORE}(?:{groups}){_AFTER}" if groups else r"(?!)")
        # Only what a team names itself reaches into one of our own ids: `fix-T#`, behind `fix-`.
        is_near = bool(own and templates)
        self._own = re.compile(f"{_BEFORE}{_OWN.exact}{_AFTER}") if is_near else None
        self.raw = tuple(re.compile(one.encode()) for one, _ in raw)
        """One of them is found in every line that holds an id, and in some others."""
        self.version = f"4:{kinds.sources}{kinds.templates}{kinds.prefixes}"
        """Another one makes everything be read again."""
        self.stamp = hashlib.blake2b(self.version.encode(), digest_size=6).hexdigest()
        """The same in few letters."""

    def may_hold(self, line: bytes) -> bool:
        """Can there be an id in it?"""
        return any(each.search(line) for each in self.raw)

    def find(self, text: str) -> list[Found]:
        """Every id, as often as it stands there."""
        found = []
        end = 0
        starts = self._starts(text)
        limits = self._limits(text, starts)
        for start in starts:
            while limits[-1] <= start:
                limits.pop()
            match = self._exact.match(text, start, limits[-1]) if start >= end else None
            if match:
                source = self._source_of[match.lastgroup or ""]
                found.append(Found(source, canonical(source, match[0]), start))
                end = match.end()
        return found

    def _limits(self, text: str, starts: list[int]) -> list[int]:
        """Where the others must have ended: where each of our own ids begins, the last first."""
        limits = [len(text) + 1]
        if self._own and len(starts) > 1:
            limits += [start for start in reversed(starts) if self._own.match(text, start)]
        return limits

    def _starts(self, text: str) -> list[int]:
        """Where an id may begin: found many times as fast as by trying everywhere."""
        starts = [
            match.start() - back
            for place, steps in self._places
            for match in place.finditer(text)
            for back in steps
            if match.start() >= back
        ]
        return sorted(set(starts)) if len(starts) > 1 else starts


def canonical(source: str, task_id: str) -> str:
    """An id as Tether writes it. Backlog.md itself takes `task-7` and `TASK-7` for one."""
    return task_id.upper() if source == "backlog" else task_id


def _prefixed(source: str, prefix: str) -> tuple[str, Pattern]:
    if not _PREFIX.fullmatch(prefix):
        return source, Pattern(r"(?!)", ())
    spellings: tuple[str, ...] = (prefix,)
    if source == "backlog":
        spellings = (prefix.lower(), prefix.upper(), prefix.capitalize())
    either = "|".join(map(re.escape, dict.fromkeys(spellings)))
    raw = tuple(f"{re.escape(each)}-[0-9a-z]" for each in dict.fromkeys(spellings))
    return source, Pattern(f"(?:{either}){_BY_PREFIX[source]}", raw)


def _template(value: str) -> Pattern:
    """`PROJ-#` as a linear pattern: `#` digits, `@` letters, `*` letters and digits."""
    if not _TEMPLATE.fullmatch(value) or not set(value) - set(_PARTS) or _joints(value) > 1:
        raise errors.ConfigError(
            "evidence.ids has a template that is none.",
            hint="Use letters, digits, '.', '_' and '-', with '#' for a number, '@' for letters and"
            " '*' for letters and digits, as in PROJ-#, and '.', '_' or '-' between those.",
        )
    pattern = "".join(_part(run[0]) for run in _RUNS.finditer(value))
    return Pattern(pattern, (pattern,))


def _part(run: str) -> str:
    """A letter as it is; a sign, or the same one again and again, as one repeat."""
    if run[0] not in _PARTS:
        return re.escape(run)
    characters, longest = _PARTS[run[0]]
    return f"[{characters}]{{{len(run)},{longest * len(run)}}}"


def _joints(value: str) -> int:
    """Where a sign could end in several ways: each such place multiplies the work of a search."""
    runs = [run[0] for run in _RUNS.finditer(value)]
    return sum(
        run[0] in _PARTS and not _characters(run[0]).isdisjoint(_characters(after[0]))
        for run, after in itertools.pairwise(runs)
    )


def _characters(sign: str) -> set[str]:
    if sign not in _PARTS:
        return {sign}
    return {each for each in string.printable if re.fullmatch(f"[{_PARTS[sign][0]}]", each)}
