"""Small words: quotations, names, dates and numbers as a biography has them. Pure.

What records, commits and documents say is somebody else's: it stands in `“…”` and cannot end that
itself, or it is one plain word. So nothing of it can be taken for what the biography says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tether import text

TITLE, SENTENCE, NAME = 100, 240, 240
_ID, _PERSON = 64, 40
# Whatever looks like one of ours becomes the inner one of its kind.
_INNER = str.maketrans(dict.fromkeys("“„‟❝〝", "‘") | dict.fromkeys("”❞〞〟", "’"))
_PLAIN = re.compile(r"[\w./\\#:@+$~*=&!?%^|<>()\[\]{},;'-]+")
_PERSONS_WORD = re.compile(r"(?:\w[\w.'’-]*)?\w(?:\[bot\])?|\w\.")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_OID = re.compile(r"[0-9a-f]{7,64}")
_WORDS = re.compile(r"[a-z]+(?:[ _-][a-z]+)?")
_ENDS = (".", "!", "?", "…", ".”", "!”", "?”", "…”", ".’”", "!’”", "?’”", "…’”")


def quoted(value: str, width: int) -> str:
    """Somebody else's words, on one line."""
    return f"“{plain(value, width)}”"


def plain(value: str, width: int) -> str:
    """One line without the quotes that are ours."""
    return text.one_line(text.one_line(value).translate(_INNER), width)


def name(value: str, width: int = NAME) -> str:
    """What something is called: as it is if that is one plain word, in quotes if it could speak."""
    line = text.one_line(value)
    if _PLAIN.fullmatch(line) and len(line) <= width:
        return line
    return quoted(line, width) if line else "(no name)"


def task_id(value: str) -> str:
    return name(value, _ID)


def person(value: str) -> str:
    """Who did something; empty if nobody is named."""
    line = text.one_line(value)
    words = line.split()
    is_plain = len(words) <= 4 and len(line) <= _PERSON
    if is_plain and all(map(_PERSONS_WORD.fullmatch, words)):
        return line
    return quoted(line, _PERSON)


def word(value: str) -> str:
    """A status or the name of a field."""
    line = text.one_line(value)
    return line.replace("_", " ") if _WORDS.fullmatch(line) and len(line) <= 24 else name(line, 24)


def day(at: str) -> str:
    """`2026-03-01`; empty if nobody knows."""
    found = _DAY.match(at)
    return found[0] if found else ""


def days(ats: Iterable[str]) -> tuple[str, str]:
    """The first and the last day."""
    known = [each for each in map(day, ats) if each]
    return (min(known), max(known)) if known else ("", "")


def commit(oid: str) -> str:
    return f"commit {oid[:7]}" if _OID.fullmatch(oid) else f"commit {name(oid, 16)}"


def lines(added: int, removed: int) -> str:
    """`+40 lines`, with those that were removed behind; empty if there is none."""
    numbers = [f"{sign}{number:,}" for sign, number in (("+", added), ("−", removed)) if number]
    noun = "line" if added + removed == 1 else "lines"
    return f"{' '.join(numbers)} {noun}" if numbers else ""


def listed(each: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(each[:-1]), *each[-1:])))


def some(each: Sequence[str], most: int) -> str:
    """The first few of many."""
    rest = len(each) - most
    return listed([*each[:most], f"{rest} more"]) if rest > 0 else listed(each)


def sentence(words: str) -> str:
    """With a full stop, if it has none."""
    return words if words.endswith(_ENDS) else f"{words}."


def behind(known: str, words: str) -> str:
    """What stands behind a name that words begin with: `ring` of `[T1] ring`."""
    found = re.match(
        rf"[\[(]?{re.escape(known)}[\])]?[:.,;-]*\s+(?:[-–—:]\s+)?(?=\S)", words, re.IGNORECASE
    )
    return words[found.end() :] if found else words


def capital(words: str) -> str:
    return words[:1].upper() + words[1:]
