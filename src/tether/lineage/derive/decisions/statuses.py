"""How a decision stands, in one word."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tether.lineage.derive.decisions import prose, saying

_WORDS = {
    "accepted": "accepted approved adopted agreed implemented active decided ratified final"
    " finalized complete completed done current enforced live shipped effective amended",
    "proposed": "proposed draft rfc pending wip open proposal review discussion",
    "rejected": "rejected declined withdrawn abandoned cancelled refused",
    "deprecated": "deprecated depreciated retired obsolete archived historical outdated removed"
    " inactive",
    "superseded": "superseded superceded superceeded supersceded replaced obsoleted",
}
KNOWN: dict[str, str] = {word: status for status, words in _WORDS.items() for word in words.split()}
_WORD = re.compile(r"[A-Za-z]+")
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~")
_CHOICE = re.compile(r"[|/]")
_MAX_WORDS = 3
_LETTERS = re.compile(r"[^A-Za-z]{0,20}")
_SEPARATOR = re.compile(r"[·|]")
_ARROW = re.compile(r"→|->|=>")


def of(values: Iterable[str]) -> str:
    """The status that a line says; empty if it says none, or only which ones there are."""
    value = " ".join(values)[:400]
    if _is_template(value):
        return ""
    bare = prose.linked(_STRUCK.sub(" ", value)).replace("{", " ").replace("}", " ").strip()
    if not bare:
        return ""
    head = _ARROW.split(re.split(r"[.;(·|\n]", bare, maxsplit=1)[0])[-1]
    words = [each.lower() for each in _WORD.findall(head)]
    if "not" in words[:2]:
        return "rejected" if "accepted" in words else "proposed"
    for at, word in enumerate(words[:4]):
        if word in KNOWN:
            is_partly = KNOWN[word] == "superseded" and {"partly", "partially"} & {*words[:at]}
            return "accepted" if is_partly else KNOWN[word]
    return " ".join(words[:_MAX_WORDS]) if len(words) <= _MAX_WORDS else ""


def _is_template(value: str) -> bool:
    """`Proposed | Accepted | Superseded by ADR-NNN`: all that there are, none chosen."""
    parts = [part.strip(" {}[]*_`").lower() for part in _CHOICE.split(_STRUCK.sub("", value))]
    known = {KNOWN[part.split(" ")[0]] for part in parts if part.split(" ")[0] in KNOWN}
    return len(known) >= 3


def pieces(line: str) -> list[str]:
    """The parts of a line that people put between dots and bars."""
    return _SEPARATOR.split(line[:400])


def ends(piece: str) -> bool:
    """Whether a part of a line speaks of the end of a decision: its day is that of the end."""
    words = {KNOWN.get(each.lower(), "") for each in _WORD.findall(prose.linked(piece))}
    return not words.isdisjoint(("superseded", "deprecated", "rejected"))


def begins_with_end(value: str) -> bool:
    """Whether a remark begins by saying that this is over: `RETIRED 2026-07-26 …`."""
    word = _first_word(value)
    return KNOWN.get(word) in ("superseded", "deprecated", "rejected") and word != "removed"


def begins_with_verb(value: str) -> bool:
    """Whether a line begins with what this does to another one, or the other way round."""
    start = _LETTERS.match(value)
    begin = start.end() if start else 0
    first = [pattern.search(value, begin, begin + 80) for _, pattern in saying.VERBS]
    near = [match.start() for match in first if match]
    between = value[begin : min(near)] if near else value
    words = [word.lower() for word in _WORD.findall(between)]
    allowed = {"status", "update", "note", "partially", "partly", "this", "is", "was", "now", "adr"}
    return bool(near) and all(word in allowed or word in KNOWN for word in words)


def _first_word(value: str) -> str:
    found = _WORD.search(value[:40])
    return found[0].lower() if found else ""
