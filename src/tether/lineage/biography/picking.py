"""Which sentence of a task's record tells what it was, and which ones name a live risk. Pure.

What is picked is word for word; only its blanks are made one, and what is too long ends at a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tether import text
from tether.lineage.biography import prose
from tether.lineage.biography.prose import Block

MAX_CHARS = 240
MAX_NOTES = 3
_FIELDS = ("result.summary", "plan", "description")
_MAX_STEPS = 50

# Sentences that say nothing of their task: greetings, thanks, trailers, mere states.
_GREETING = re.compile(
    r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)|thanks|thank you|cheers"
    r"|(?:best |kind )?regards|please (?:find|see|review)|as (?:discussed|requested|agreed))\b",
    re.IGNORECASE,
)
_TRAILER = re.compile(r"[A-Z][a-z]{1,20}(?:-[A-Za-z]{1,20}){1,3}: |(?:https?|ftp)://\S{1,400}$")
_STATE = re.compile(
    r"(?:(?:all|everything|it(?:'s| is)?|this is|now) )?(?:done|ok|okay|finished|completed?|works"
    r"|fixed|see (?:above|below)|tbd|n/?a|none|nothing|wip|todo|yes|no|as (?:planned|described))"
    r"(?: now| here| so far)?\W{0,5}",
    re.IGNORECASE,
)
# What says why, and what says what was done.
_WHY = re.compile(
    r"\b(?:because|so that|in order to|to (?:avoid|prevent|keep|stop|let|make sure)|otherwise"
    r"|instead of|rather than|due to|reason|caused?|must|need(?:s|ed)?|cannot|can't|could not"
    r"|fail(?:s|ed)?|breaks?|broke|los(?:e|es|t)|wrong(?:ly)?"
    r"|too (?:slow|large|many|late|often))\b",
    re.IGNORECASE,
)
_DEED = re.compile(
    r"(?:(?:it|this|we|i|now|the \w{1,30}|`[^`]{1,60}`) )?(?:now )?"
    r"(?:add|allow|buil[dt]|call|chang|clean|creat|cut|delet|document|drop|extend|extract|fix"
    r"|implement|introduc|ke[ep]p|kept|ma[dk]e|mov|read|reject|remov|renam|replac|report|return"
    r"|revert|show|split|stop|support|switch|turn|und[io]|updat|us(?=e|ing\b)|writ|wrote)\w{0,4}\b",
    re.IGNORECASE,
)

# Words that name a risk as such, and words that may also tell of one that is settled.
_RISK = re.compile(
    r"\b(?:note|risks?|caveats?|warning|todo|fixme|known (?:issue|bug|problem|limitation|gap)s?"
    r"|limitations?|workaround|follow-?up):|(?<!was )(?<!were )(?<!had )(?<!did )\bnot yet\b"
    r"|\bstill (?:missing|open|broken|fails|failing|lacks|to be done)\b|\bfollow-?up (?:is )?"
    r"(?:needed|required)\b|\bneeds an? follow-?up\b",
    re.IGNORECASE,
)
_PERHAPS_RISK = re.compile(
    r"\b(?:known (?:issue|bug|problem|limitation|gap)s?|todos?|fixmes?|limitations?"
    r"|workarounds?)\b",
    re.IGNORECASE,
)
SETTLEMENT = re.compile(
    r"\b(?:no longer|fix(?:es|ed)|remov(?:es|ed)|resolv(?:es|ed)|solv(?:es|ed)|lift(?:s|ed)"
    r"|drop(?:s|ped)|clos(?:es|ed)|obsolete|gone|unneeded|instead of|replac(?:es|ed)|got rid of)\b",
    re.IGNORECASE,
)
"""What says of something that it is settled."""
_SETTLED = re.compile(
    rf"{SETTLEMENT.pattern}"
    r"|\b(?:no|without|not|never|any|was|were)(?: an?| the)?(?: \w{1,20})? (?:issue|bug|problem"
    r"|limitation|gap|todo|fixme|workaround)s?\b",
    re.IGNORECASE,
)
_NO_RISK = re.compile(
    r"\b(?:no|without|any) (?:\w{1,20} )?(?:follow-?up|todos?|risks?)\b", re.IGNORECASE
)
_RISKS = re.compile(
    r"(?:known |open |remaining )?(?:issues?|bugs?|problems?|limitations?|gaps?|risks?|caveats?"
    r"|to-?dos?|follow-?ups?|workarounds?)(?: needed| left)?"
    r"|still (?:open|missing)|not (?:done )?yet",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"(?:[\w -]{1,40}: {0,3})?\(?(?:there (?:is|are) )?(?:none|nothing|n/?a|no)\b"
    r"(?: \w{1,20}){0,3}\W{0,5}",
    re.IGNORECASE,
)


def sentence(fields: Mapping[str, object]) -> tuple[str, str]:
    """One sentence of a task word for word, and the field that it is from; empty if none tells.

    The first that says what was done or why is taken, else the first.
    """
    title = text.one_line(_words(fields.get("title")))
    for field in _FIELDS:
        found = _best(prose.blocks(_value(fields, field)), title.rstrip("."))
        if found:
            return clipped(found), field
    return "", ""


def notes(value: str) -> tuple[str, ...]:
    """The sentences of a text that name a risk which is still live, word for word."""
    found = (
        clipped(said)
        for block in prose.blocks(value)
        if block.box in ("", " ")
        for said in block.sentences
        if _is_live(said, block)
    )
    return tuple(dict.fromkeys(found))[:MAX_NOTES]


def clipped(value: str) -> str:
    """A sentence on one line, or as many words of it as there is room for."""
    line = text.one_line(value)
    if len(line) <= MAX_CHARS:
        return line
    head = line[:MAX_CHARS].rpartition(" ")[0]
    kept = head if len(head) > MAX_CHARS // 2 else line[: MAX_CHARS - 1]
    return f"{kept.rstrip(' ,;:–-')}…"


def _value(fields: Mapping[str, object], name: str) -> str:
    """The text of a field; `result.summary` is one inside of another, if that has any."""
    outer, _, inner = name.partition(".")
    value = fields.get(outer)
    return _words(value.get(inner) if inner and isinstance(value, Mapping) else value)


def _words(value: object) -> str:
    """A text, or the items of a list as one."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return "\n".join(f"- {each}" for each in value[:_MAX_STEPS] if isinstance(each, str))
    return ""


def _best(found: Iterable[Block], title: str) -> str:
    candidates = [
        (said, block.is_item)
        for block in found
        if not block.box
        for said in block.sentences
        if _is_telling(said) and said.rstrip(".") != title
    ]
    ranked = sorted(candidates, key=lambda each: (not _says_much(each[0]), each[1]))
    return ranked[0][0] if ranked else ""


def _is_telling(said: str) -> bool:
    """Whether it can stand for its task at all."""
    is_short = said.isascii() and len(said.split()) < 2
    is_empty = _STATE.fullmatch(said) or _GREETING.match(said) or _TRAILER.match(said)
    return not (is_short or is_empty)


def _says_much(said: str) -> bool:
    is_whole = not said.endswith((":", "?"))
    return is_whole and bool(_WHY.search(said) or _DEED.match(said))


def _is_live(said: str, block: Block) -> bool:
    if _NOTHING.fullmatch(said) or _NO_RISK.search(said):
        return False
    if _RISK.search(said):
        return True
    if _SETTLED.search(said) and _PERHAPS_RISK.search(said):
        return False
    return bool(_PERHAPS_RISK.search(said) or _RISKS.fullmatch(block.heading))
