"""What stands beside a task's text: who is to do it, how urgent it is, the commit that did it."""

from __future__ import annotations

import re

from tether import text
from tether.tasks import model

PRIORITIES = {"P0": "critical", "P1": "high", "P2": "normal", "P3": "low"}
MAX_TITLE_CHARS = 1000
# What stands at the end of a line is looked for in its last characters only.
_TAIL_CHARS = 90

# At the beginning, in brackets or set off: a text about a user agent names none.
_SET_OFF = r"(?:^|[(\[*|\u2013\u2014\u00b7,;]|- )[ \t]{0,4}\*{0,2}"
_LABEL_END = r"\*{0,2}:\*{0,2}[ \t]{0,4}"
_AGENT = re.compile(
    rf"{_SET_OFF}(?:Agent|Assignee|Assigned|Owner){_LABEL_END}"
    r"[`@*]{0,3}([A-Za-z][A-Za-z0-9_.-]{0,63})[`*]{0,3}[)\]]?"
)
_AT = re.compile(r"(?:^|[ \t(\[])@([A-Za-z][A-Za-z0-9_.-]{0,63})[)\]]?$")
_PRIORITY = re.compile(
    rf"{_SET_OFF}Priority{_LABEL_END}[`*]{{0,3}}(P[0-3]|[A-Za-z]{{3,8}})\b[`*]{{0,3}}[)\]]?"
)
# Quick to look for, and there wherever one of the patterns matches.
_AGENT_WORD = re.compile(r"Agent|Assigne|Owner")
_LEVEL_WORD = re.compile(r"P(?:[0-3]\b|riority)")
_LEVEL = re.compile(
    r"[(\[*`]{1,3}(P[0-3])[)\]*`]{1,3}"
    r"|^(P[0-3])(?=[ :\u2013\u2014-])[ :\u2013\u2014-]{0,3}"
    r"|[ \t\u2013\u2014|-](P[0-3])$"
)
_SHA = re.compile(r"[ \t]{0,4}[\[(](?:checkpoint|commit)?:?[ \t]{0,2}`?[0-9a-f]{7,40}`?[\])]$")
_BARE_SHA = re.compile(r"[ \t](?=[0-9a-f]{0,39}[0-9])(?=[0-9]{0,39}[a-f])[0-9a-f]{7,40}$")


def read(value: str) -> tuple[str, str, str]:
    """A text without its annotations, and what they say: the owner and the priority."""
    owner = priority = ""
    value = without_commit(value)
    if _AGENT_WORD.search(value) and (found := _AGENT.search(value)):
        owner, value = found[1], _without(value, found)
    if found := _level(value):
        priority = _known(found)
        if priority:
            value = without_commit(_without(value, found))
    if not owner and "@" in value[-_TAIL_CHARS:]:
        tail = value[-_TAIL_CHARS:]
        if found := _AT.search(tail):
            owner, value = found[1], value[: len(value) - len(tail) + found.start()]
    return value, owner.rstrip(".-_"), priority


def _level(value: str) -> re.Match[str] | None:
    word = _LEVEL_WORD.search(value)
    if word is None:
        return None
    labelled = _PRIORITY.search(value) if "Priority" in value else None
    # No mark in front of it is longer.
    return labelled or _LEVEL.search(value, max(0, word.start() - 3))


def labelled(value: str) -> tuple[str, str]:
    """The owner and the priority on a line of their own, where only a label tells them."""
    agent = _AGENT.search(value) if _AGENT_WORD.search(value) else None
    priority = _PRIORITY.search(value) if "Priority" in value else None
    return agent[1].rstrip(".-_") if agent else "", _known(priority) if priority else ""


def _known(found: re.Match[str]) -> str:
    written = next(group for group in found.groups() if group)
    return PRIORITIES.get(written) or model.known_priority(written) or ""


def without_commit(value: str, *, is_bare: bool = False) -> str:
    """A text without the commit at its end: in brackets, or also where it stands bare."""
    value = value.rstrip()
    if value.endswith(("]", ")")):
        found = _SHA.match(value, max(value.rfind("["), value.rfind("(")))
    else:
        start = max(0, len(value) - _TAIL_CHARS)
        found = _BARE_SHA.search(value, start) if is_bare else None
    return value[: found.start()].rstrip() if found else value


def title(value: str) -> str:
    """A text on one line, as it is shown."""
    return text.one_line(value[:MAX_TITLE_CHARS]).strip(" \u2013\u2014|")


def _without(value: str, found: re.Match[str]) -> str:
    before, after = value[: found.start()].rstrip(), value[found.end() :].lstrip(" \t,;")
    return f"{before} {after}" if before and after else before or after
