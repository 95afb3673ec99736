"""Does a text say that a task is finished? Only what says so plainly counts. Pure.

Agents write "done" all day: of a part, of a function, of what is still to be done. So a sentence
must say it of the task as a whole, and one with any reservation says nothing.
"""

from __future__ import annotations

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


def is_said(text: str, names: Iterable[str]) -> bool:
    """Do somebody's words say that a task of these ids is done, or that all of it is committed?"""
    names = tuple(names)
    whole = _whole(names)
    patterns = [
        rf"(?:.* )?{whole}(?: is| are| was| were|['’]s| has been| have been)(?: {_SO})* {_SHIPPED}",
        rf"(?:i |i have |i['’]ve |we |we have |we['’]ve )?(?:{_SO} )*{_ENDED}(?: {whole})",
        rf"(?:{_SO} )*{_SHIPPED}",
    ]
    if _OPEN.search(text):
        return False
    return any(_is_plain(each, names, patterns) for each in _SENTENCES.split(text))


def is_committed_as(subject: str, names: Iterable[str]) -> bool:
    """Does the subject of a commit say that a task of these ids ends with it?"""
    names = tuple(names)
    whole = _whole(names)
    is_ = rf"(?: is| are| now|['’]s)*(?: {_SO})*"
    patterns = [
        rf"(?:.* )?{_ENDING} {whole}",
        rf"(?:.* )?marks? {whole}(?: as)? {_DONE}",
        rf"{whole}{is_} {_DONE}",
        rf"(?:{_SO} )*{_DONE}",
    ]
    while label := _LABEL.match(subject):
        subject = subject[label.end() :]
    return _is_plain(subject, names, patterns)


def _whole(names: Iterable[str]) -> str:
    """What stands for a task as a whole, in a pattern."""
    ids = "|".join(re.escape(each) for each in names) or r"(?!)"
    task = rf"(?:(?:the |this )?(?:whole |entire )?(?:task|issue)(?: (?:{ids}))?|{ids})"
    everything = r"(?:it|this|everything|all of (?:it|this)|all(?: the)?(?: work| changes)?)"
    work = r"(?:the|my|our) (?:work|changes)"
    return rf"(?:{task}|(?:{everything}|{work})(?: (?:for|of|in|on) {task})?)"


def _is_plain(sentence: str, names: tuple[str, ...], patterns: list[str]) -> bool:
    """Does a sentence without reservations, and without another task, match in one of its parts?"""
    others = (found[0].rstrip(".-") for found in _ID_LIKE.finditer(sentence))
    if sentence.rstrip().endswith("?") or _RESERVED.search(sentence):
        return False
    if any(each not in names and "." in each for each in others):
        return False
    clauses = [" ".join(each.split()).strip("*_`✅✔ ") for each in _CLAUSES.split(sentence)]
    return any(
        re.fullmatch(pattern, clause, re.IGNORECASE)
        for clause in clauses
        for pattern in patterns
        if len(clause) <= 300
    )
