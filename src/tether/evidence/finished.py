"""Does a text say that a task is finished? Only what says so plainly counts. Pure.

Agents write "done" all day: of a part, of a function, of what is still to be done. So a sentence
must say it of the task as a whole, and one with any reservation says nothing.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

_SENTENCES = re.compile(r"(?<=[.!?])(?=\s|$)|[\n]+")
_CLAUSES = re.compile(r"[.!,;:)](?=\s|$)|\s[-–—]\s|\s\(|\s(?:but|and)\s", re.IGNORECASE)
# `feat(H.1.1)!: `, `[H.1.1] `, `H.1.1: `: the task is meant by what follows.
_LABEL = re.compile(r"\s{0,9}(?:[\w./-]{1,40}(?:\([^()\n]{0,60}\))?!?:\s|\[[^\]\n]{0,60}\]:?\s)")
_RESERVED = re.compile(
    r"\b(?:not|never|none|nothing|half|partly|partially|mostly|almost|nearly|remain\w*|rest|left"
    r"|to be|still|yet|until|before|once|when|whenever|if|after|cannot|will|shall|should|must"
    r"|needs?|todo|would|could|might|may|unless|except|wants?|going to|about to|as soon as|wip"
    r"|try|tries|prepares?|towards?|first|next|later|make sure|\w+n['’]t)\b",
    re.IGNORECASE,
)
# What makes a whole text say that there is more to do, wherever it stands.
_OPEN = re.compile(
    r"uncommitted|\b(?:not|nothing|never|\w+n['’]t)\b[^.!?\n]{0,40}\b(?:commit|done|finish|complet"
    r"|merg|push)|\bremain|\bstill (?:open|to|need|miss)|\bhalf\b|\bleft to do\b",
    re.IGNORECASE,
)
_ID_LIKE = re.compile(r"(?<![\w.])[A-Za-z]{1,10}[-.]?[0-9][\w.-]{0,40}")
_DONE = r"(?:done|finished|completed?|closed)"
_SHIPPED = r"(?:done|finished|completed?|closed|committed|pushed|merged)"
_SO = r"(?:now|all|fully|completely|finally|thus|just|also|successfully)"
_ENDING = r"(?:close[sd]?|complete[sd]?|finish(?:e[sd])?)"
_ENDED = r"(?:closed|completed|finished|committed|pushed|merged)"
# Nothing else is worth a closer look.
_ENDING_WORD = re.compile(r"done|finish|complet|clos|commit|push|merg", re.IGNORECASE)
# Stands where an id of the task stood: no text that people write has it.
_OWN = "\ue000"
# What stands for a task as a whole.
_TASK = rf"(?:(?:the |this )?(?:whole |entire )?(?:task|issue)(?: {_OWN})?|{_OWN})"
_EVERYTHING = r"(?:it|this|everything|all of (?:it|this)|all(?: the)?(?: work| changes)?)"
_WORK = r"(?:the|my|our) (?:work|changes)"
_WHOLE = rf"(?:{_TASK}|(?:{_EVERYTHING}|{_WORK})(?: (?:for|of|in|on) {_TASK})?)"
# Bounded, as everything here: a text may be written to keep a pattern busy.
_IS = rf"(?: is| are|['’]s){{0,2}}(?: {_SO}){{0,4}}"
_BEFORE = r"(?:.{0,300} )?"


@functools.cache
def _said() -> tuple[re.Pattern[str], ...]:
    """What says it in somebody's words. For clauses only, which are short."""
    is_ = r"(?: is| are| was| were|['’]s| has been| have been)"
    return _compiled(
        rf"{_BEFORE}{_WHOLE}{is_}(?: {_SO}){{0,4}} {_SHIPPED}",
        rf"(?:i |i have |i['’]ve |we |we have |we['’]ve )?(?:{_SO} ){{0,4}}{_ENDED}(?: {_WHOLE})",
        rf"(?:{_SO} ){{0,4}}{_SHIPPED}",
    )


@functools.cache
def _committed() -> tuple[re.Pattern[str], ...]:
    """What says it in the subject of a commit."""
    return _compiled(
        rf"{_BEFORE}{_ENDING} {_WHOLE}",
        rf"{_BEFORE}marks? {_WHOLE}(?: as)? {_DONE}",
        rf"{_WHOLE}{_IS} {_DONE}",
        rf"(?:{_SO} ){{0,4}}{_DONE}",
    )


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(each, re.IGNORECASE) for each in patterns)


def is_said(text: str, names: Iterable[str]) -> bool:
    """Do somebody's words say that a task of these ids is done, or that all of it is committed?"""
    if not _ENDING_WORD.search(text) or _OPEN.search(text):
        return False
    own = _masked(text, names)
    return any(_is_plain(each, _said()) for each in _SENTENCES.split(own))


def is_committed_as(subject: str, names: Iterable[str]) -> bool:
    """Does the subject of a commit say that a task of these ids ends with it?"""
    if not _ENDING_WORD.search(subject):
        return False
    own = _masked(subject, names)
    while label := _LABEL.match(own):
        own = own[label.end() :]
    return _is_plain(own, _committed())


def _masked(text: str, names: Iterable[str]) -> str:
    """A text with one sign in the place of each of the ids: `H.1.1` is not in `H.1.10`."""
    for name in sorted(names, key=len, reverse=True):
        begin = 0
        while name and (at := text.find(name, begin)) >= 0:
            before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 2]
            is_part = before.isalnum() or before in ("_", ".") or _goes_on(after)
            begin = at + len(name)
            if not is_part:
                text = f"{text[:at]}{_OWN}{text[begin:]}"
                begin = at + 1
    return text


def _goes_on(after: str) -> bool:
    """Does an id not end where another one of the same beginning would?"""
    first = after[:1]
    return first.isalnum() or first == "_" or (first in (".", "-") and after[1:].isalnum())


def _is_plain(sentence: str, patterns: Iterable[re.Pattern[str]]) -> bool:
    """Does a sentence without reservations, and without another task, match in one of its parts?"""
    if sentence.rstrip().endswith("?") or _RESERVED.search(sentence):
        return False
    if any("." in found[0].rstrip(".-") for found in _ID_LIKE.finditer(sentence)):
        return False
    clauses = [" ".join(each.split()).strip("*_`✅✔ ") for each in _CLAUSES.split(sentence)]
    return any(
        pattern.fullmatch(clause)
        for clause in clauses
        for pattern in patterns
        if len(clause) <= 300
    )
