"""Where what was said of a task and what Git shows do not agree. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from tether import text
from tether.evidence import finished, model
from tether.evidence.unfinished import lost
from tether.hints import NamedTuple

_MAX_NAMED = 3


class Facts(NamedTuple):
    """What is said, and what is shown."""

    is_done: bool
    activities: tuple[model.Activity, ...] = ()
    last_words: str = ""
    dirty: tuple[str, ...] = ()
    """Files of the task that no commit has."""
    branches: tuple[str, ...] = ()
    """Those of the task that are not merged."""
    lost: tuple[lost.Lost, ...] = ()
    names: tuple[str, ...] = ()
    """The ids that the task goes by."""
    is_branched: bool = False
    """Is there a branch called by one of them?"""


def find(facts: Facts) -> list[str]:
    """One sentence for each contradiction."""
    commits = [each for each in facts.activities if each.source == "git:commit"]
    worked = [each for each in commits if each.kind == model.WORKED]
    said = []
    if facts.is_done and not _shows_work(facts):
        said.append("It is marked done, but nothing shows that anybody worked on it.")
    if facts.is_done and facts.dirty:
        said.append(f"It is marked done, but not committed: {_some(facts.dirty)}.")
    if facts.is_done and facts.branches:
        verb = "is" if len(facts.branches) == 1 else "are"
        said.append(f"It is marked done, but {_some(facts.branches)} {verb} not merged.")
    if not facts.is_done and _is_ended(worked, facts.names):
        said.append("A commit says that it is finished, but it is not marked done.")
    if facts.dirty and finished.is_said(facts.last_words, facts.names):
        said.append(f"The last words sound finished, but not committed is: {_some(facts.dirty)}.")
    return said + _lost(facts.lost)


def _shows_work(facts: Facts) -> bool:
    """A commit that declares something counts as well: whoever made it was at it."""
    is_shown = any(
        each.kind == model.WORKED or (each.kind == model.STATED and each.source == "git:commit")
        for each in facts.activities
    )
    return is_shown or facts.is_branched or bool(facts.branches or facts.dirty)


def _is_ended(commits: Iterable[model.Activity], names: tuple[str, ...]) -> bool:
    return any(finished.is_committed_as(each.text, names) for each in commits)


def _lost(found: Iterable[lost.Lost]) -> list[str]:
    """What became of edits: of files that are as before, and of files that are gone."""
    found = list(found)
    said = []
    for is_there in (True, False):
        some = [each for each in found if each.is_there == is_there]
        if not some:
            continue
        last = max(each.at for each in some)
        at = f"{'last ' if len(some) > 1 else ''}at {text.minute(last)}"
        was, is_, edits = ("was", "is", "edit") if len(some) == 1 else ("were", "are", "edits")
        names = _some([each.path for each in some])
        if is_there:
            said.append(
                f"{names} {was} edited {at} and {is_} in no commit since, nor uncommitted:"
                f" the {edits} may be lost."
            )
        else:
            said.append(
                f"{names} {was} edited {at}, but {is_} neither there nor in a commit since:"
                " removed, or lost."
            )
    return said


def _some(names: Iterable[str]) -> str:
    """The first few of many."""
    every = list(dict.fromkeys(names))
    more = f" and {len(every) - _MAX_NAMED} more" if len(every) > _MAX_NAMED else ""
    return ", ".join(every[:_MAX_NAMED]) + more
