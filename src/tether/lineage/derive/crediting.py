"""Which tasks a commit is work on, and how sure that is. Pure.

What a subject or a trailer names was worked on, and what a body says is done with it. Else a body
tells a story, in which other tasks occur. Who names many at once says little of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tether.evidence import model as evidence
from tether.evidence.history import commit_messages
from tether.hints import NamedTuple
from tether.lineage.edges import model

NAMED, BY_BODY = 0.95, 0.8
TOLD_OF, BY_THE_WAY, LISTED = 0.6, 0.5, 0.5
DONE = "done"
_RANK = {evidence.WORKED: 3, evidence.STATED: 3, DONE: 2, evidence.MENTIONED: 1}
BROUGHT, CLAIMED = 0.8, 0.9
# So many in one subject share what it did: each of them less surely did each of it.
_FEW, _SHARED = 3, 0.75
_FEW_COMMITS = 30
# A commit of more files says less of each; nobody reads a thousand of them one by one.
_BULK_FILES = 30
_FLOOR = 0.5
_SLIGHT = frozenset(("formatting", "comment", "annotation"))
_SLIGHT_FACTOR = 0.65
_MERGED = re.compile(
    r"Merge (?:(?:remote-tracking )?branch(?:es)?|tags?|commits?)"
    r" (?P<ours>'[^']{1,200}'(?:(?:, | and )'[^']{1,200}'){0,50})"
    r"|Merge pull request #\d{1,9} from (?P<other>\S{1,200})"
)
_QUOTED = re.compile(r"'([^']+)'")


class Said(NamedTuple):
    """What one commit says of one task."""

    task: model.Key
    kind: str
    """worked, stated, done (as a body says), mentioned, listed or reverted."""


def said(task: model.Key, kind: str, what: str) -> Said:
    """The same from what `evidence` found. What is only taken back was work of other commits."""
    if what == commit_messages.REVERTED:
        return Said(task, what)
    is_done = kind == evidence.MENTIONED and what != commit_messages.NAMED
    return Said(task, DONE if is_done else kind)


class Credit(NamedTuple):
    """A task that a commit is work on."""

    task: model.Key
    confidence: float
    how: str
    """named, body, listed, merge or claim."""


def of_commit(said: Iterable[Said]) -> list[Credit]:
    """The tasks that a commit itself says it is work on."""
    kinds: dict[model.Key, str] = {}
    for each in said:
        if _RANK.get(each.kind, 0) >= _RANK.get(kinds.get(each.task, ""), -1):
            kinds[each.task] = each.kind
    named = [task for task, kind in kinds.items() if kind in evidence.MOVING]
    done = [task for task, kind in kinds.items() if kind == DONE]
    mentioned = [task for task, kind in kinds.items() if kind == evidence.MENTIONED]
    listed = [task for task, kind in kinds.items() if kind == evidence.LISTED]
    sure = NAMED if len(named) <= _FEW else _SHARED
    found = [Credit(task, sure, "named") for task in named]
    found += [Credit(task, BY_BODY, "body") for task in done]
    told = BY_THE_WAY if named or done else TOLD_OF
    found += [Credit(task, told, "body") for task in mentioned]
    return [*found, *(Credit(task, LISTED, "listed") for task in listed)]


def best(found: Iterable[Credit]) -> list[Credit]:
    """The surest of what is said of each task."""
    kept: dict[model.Key, Credit] = {}
    for each in found:
        if each.task not in kept or kept[each.task].confidence < each.confidence:
            kept[each.task] = each
    return list(kept.values())


def sureness(credit: Credit, kinds: Iterable[str], files: int, *, is_symbol: bool) -> float:
    """How sure it is that a task meant what its commit did to a file or symbol."""
    sure = credit.confidence * (0.95 if is_symbol else 1.0)
    done = set(kinds)
    if not done & {"introduced", "deleted"} and files > _BULK_FILES:
        sure = max(min(sure, _FLOOR), sure * (_BULK_FILES / files) ** 0.5)
    if done and done <= _SLIGHT:
        sure = max(min(sure, _FLOOR), sure * _SLIGHT_FACTOR)
    return round(sure, 3)


def edge_type(kinds: Iterable[str]) -> str:
    """What a task did to a file or symbol, by the kinds of a change."""
    done = set(kinds)
    if "introduced" in done:
        return "created"
    return "deleted" if "deleted" in done else "touched"


def branches_of_merge(subject: str) -> tuple[str, ...]:
    """What a merge brought in, by its subject: not into what. Nothing if that is not said."""
    found = _MERGED.match(subject)
    if found is None:
        return ()
    return (found["other"],) if found["other"] else tuple(_QUOTED.findall(found["ours"]))


def of_merge(branch: str, subject: str, said: Iterable[Credit]) -> list[Credit]:
    """What the commits of a branch that was merged are work on, if they name nothing themselves.

    The branch says so, or a trailer; else what the merge's body names, as far as that is sure. What
    only the rest of the subject names is where it went.
    """
    every = list(said)
    named = [e for e in every if e.how == "named"]
    chosen = [e for e in named if _has(branch, e.task) or not _has(subject, e.task)]
    chosen = chosen or [each for each in every if each.how == "body"]
    return [Credit(each.task, min(BROUGHT, each.confidence), "merge") for each in chosen]


def of_branch(
    branch: str, meant: Iterable[Credit], others: Iterable[model.Key], commits: int
) -> list[Credit]:
    """Of what a merge says, what counts for so many commits of which some are of other tasks.

    A branch that is called after a task is of that task. Another one may be a line on which
    everybody works: if it has work on other tasks, or is long, one task says nothing of the rest.
    """
    inside = set(others)
    return [
        each
        for each in meant
        if _has(branch, each.task) or (commits <= _FEW_COMMITS and inside <= {each.task})
    ]


def _has(words: str, task: model.Key) -> bool:
    """Whether words have the id of a task, and not only one that begins or ends so."""
    named = re.escape(model.label(task))
    whole = rf"(?<![0-9A-Za-z.]){named}(?![0-9A-Za-z]|\.[0-9A-Za-z])"
    return re.search(whole, words, re.IGNORECASE) is not None
