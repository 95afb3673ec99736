"""Whether a sentence says that a risk is settled which an earlier one named. Pure.

In doubt it does not: a risk that is told once too often costs a line.
"""

from __future__ import annotations

import re

from tether.lineage.biography import picking

_MIN_COMMON = 2
_HANDLED = re.compile(
    r"\b(?:handl(?:es|ed)|settl(?:es|ed)|address(?:es|ed)|cover(?:s|ed))\b", re.IGNORECASE
)
# What makes a settlement less than one: a denial, a part, a wish, a question.
_DOUBT = re.compile(
    r"\b(?:not|never|cannot|nobody|nothing|none|yet|still|only|part(?:s|ly|ially)?|half|almost"
    r"|some|most(?:ly)?|except|unless|but|without|until|if|later|must|should|shall|will|would"
    r"|could|may|might|need(?:s|ed)?|wants?|tr(?:y|ies|ied)|to be)\b|n['’]t\b|\?",
    re.IGNORECASE,
)
_RISK = re.compile(
    r"\b(?:risk|caveat|limitation|issue|bug|problem|gap|todo|fixme|workaround|warning)s?\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_][\w-]{2,}")
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|e|s)$")
# Words that a risk is not about.
_EMPTY = re.compile(
    r"the|and|for|are|was|were|has|had|have|been|its|this|that|these|those|with|when|from|into"
    r"|they|them|then|than|there|here|which|while|where|what|who|how|why|very|too|now|not|but|yet"
    r"|any|all|can|cannot|does|did|still|only|also|more|most|some|such|because|before|after|known"
    r"|(?:risk|caveat|limitation|issue|bug|problem|gap|todo|fixme|workaround|warning|note)s?"
    r"|follow-?ups?|needed|missing"
)


def settles(said: str, note: str) -> bool:
    """Whether a sentence says that what a note is about is settled."""
    about = _content(note)
    common = about & _content(said)
    return _is_settlement(said) and len(common) >= _MIN_COMMON and len(common) * 2 >= len(about)


def settles_risk_of(said: str, task_id: str) -> bool:
    """Whether a sentence says that the risk which a task named is settled."""
    named = rf"(?<![\w-]){re.escape(task_id)}(?![\w-])"
    return bool(task_id and _is_settlement(said) and _RISK.search(said) and re.search(named, said))


def _is_settlement(said: str) -> bool:
    is_said = picking.SETTLEMENT.search(said) or _HANDLED.search(said)
    return bool(is_said) and not _DOUBT.search(said)


def _content(said: str) -> frozenset[str]:
    """The words that say what a sentence is about, without their endings."""
    words = (each.casefold() for each in _WORD.findall(said))
    return frozenset(_ENDING.sub("", each) for each in words if not _EMPTY.fullmatch(each))
