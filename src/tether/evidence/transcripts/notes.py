"""What a record shows, as activities. Shared by all transcripts; knows none of their formats."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Made by the hundred thousand, and quicker so than those of `hints`.
from typing import NamedTuple

from tether import text
from tether.evidence import mentions, model
from tether.tasks.sources import patterns

# With options of git itself before the command, as in `git -C ../other commit`.
_COMMIT = re.compile(r"\bgit(?: -[cC] [^\s;&|]{1,200}){0,4} commit(?![\w-])")
COMMIT_NEEDLE = re.compile(rb"commit(?:(?<=git commit)| -(?<= commit -))")
# An id is at the start of a text also as `[H.1.2] …` or `# H.1.2: …`.
_BEFORE_ID = " \t\n#[(*"
_LEAD_CHARS = 200
_PURPOSES = ("command", "cmd", "file_path", "path", "pattern", "description")


class Origin(NamedTuple):
    """Where and when something was recorded."""

    source: str
    pointer: str
    record: str
    at: str
    session: str

    def shows(
        self,
        kind: str,
        what: str,
        words: str = "",
        *,
        task: tuple[str, str] = ("", ""),
        files: Iterable[str] = (),
    ) -> model.Activity:
        """An activity; `task` is (source, id), empty if only the claim of the session can tell."""
        source, task_id = task
        paths = tuple(map(text.storable, files))
        return model.Activity(
            *(self.source, self.pointer, self.record, self.at, kind, what),
            *(task_id, source, self.session, words, paths),
        )


def named(
    origin: Origin, finder: patterns.Finder, value: str, what: str, kind: str = ""
) -> list[model.Activity]:
    """The tasks that a text names: of a kind, or as the text says."""
    return [
        origin.shows(
            kind or each.kind,
            what,
            excerpt(value, each.start, each.id),
            task=(each.source, each.id),
        )
        for each in mentions.read(finder, value)
    ]


def output(origin: Origin, finder: patterns.Finder, value: str) -> list[model.Activity]:
    """The tasks that a tool has printed. The output itself is nobody's words and is not kept."""
    return [
        origin.shows(model.LISTED, "output", task=(each.source, each.id))
        for each in mentions.read(finder, value)
    ]


def excerpt(value: str, start: int, task_id: str) -> str:
    # As it is written there, which need not be as Tether writes it.
    return mentions.excerpt(value, start, value[start : start + len(task_id)])


def led(
    origin: Origin, finder: patterns.Finder, value: object, what: str, files: Iterable[str] = ()
) -> list[model.Activity]:
    """Work on the task whose id is in front of what a tool was called for: `H.1.2: Run …`."""
    if not isinstance(value, str):
        return []
    first = next(iter(finder.find(value[:_LEAD_CHARS])), None)
    if first is None or value[: first.start].strip(_BEFORE_ID):
        return []
    words = mentions.excerpt(value)
    return [origin.shows(model.WORKED, what, words, task=(first.source, first.id), files=files)]


def committed(origin: Origin, command: str) -> list[model.Activity]:
    """A commit, if a command makes one."""
    found = _COMMIT.search(command)
    if found is None:
        return []
    words = mentions.excerpt(command, found.start(), found[0])
    return [origin.shows(model.WORKED, "committed", words)]


def purpose(tool: object, given: object) -> str:
    """What a tool was asked to do, as far as one line can say."""
    if isinstance(given, str):
        return given
    told = given if isinstance(given, dict) else {}
    for name in _PURPOSES:
        value = told.get(name)
        if isinstance(value, list):
            value = " ".join(each for each in value if isinstance(each, str))
        if isinstance(value, str) and value:
            return value
    return tool if isinstance(tool, str) else ""


def strings(value: object) -> str:
    """Every string in a value, each on lines of its own."""
    found: list[str] = []
    rest = [value]
    while rest:
        each = rest.pop()
        if isinstance(each, str):
            found.append(each)
        elif isinstance(each, dict):
            rest.extend(reversed(each.values()))
        elif isinstance(each, list):
            rest.extend(reversed(each))
    return "\n".join(found)


def settled(found: list[model.Activity]) -> list[model.Activity]:
    """The activities of one record, each once; who works on a task need not mention it too."""
    if len(found) < 2:
        return found
    moved = {(each.task_source, each.task) for each in found if each.kind in model.MOVING}
    kept: dict[tuple[str, ...], model.Activity] = {}
    for each in found:
        if each.kind in model.MOVING or (each.task_source, each.task) not in moved:
            key = (each.record, each.task_source, each.task, each.what)
            kept.setdefault(key, each)
    return list(kept.values())
