"""Which commits are told in one breath, and in which order. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tether.hints import NamedTuple
from tether.lineage.biography.model import Step

CREATED, CHANGED, REVERTED, SUPERSEDED, REMOVED = PHASES = (
    "created",
    "changed",
    "reverted",
    "superseded",
    "removed",
)
SLIGHT = {
    "formatting": "layout",
    "comment": "comments",
    "documentation": "documentation",
    "annotation": "annotations",
}
"""What changes nothing that runs, and what is said to have changed then."""
MANY_FILES = 100
"""A commit of that many files says little about each of them."""
_OF_TEXT = frozenset(("body", "signature", "heading", *SLIGHT))


class Chapter(NamedTuple):
    """What is told in one line."""

    phase: str
    tasks: tuple[str, ...]
    """Keys of those that explain it; none if only commits do."""
    steps: tuple[Step, ...]
    part: tuple[bool, int]
    """Whether it is of the code itself and not of what that was split from; and its which life."""
    number: int
    """Its place in time."""
    is_sum: bool = False
    """Commits of which each says too little for a line."""
    is_again: bool = False
    """Whether the same tasks changed it before."""


def told(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps that did something; merges mostly do not."""
    return tuple(each for each in steps if each.kinds)


def tasks(step: Step, min_confidence: float) -> tuple[str, ...]:
    """The tasks that a step was work on, as far as that is sure."""
    return tuple(dict.fromkeys(key for key, sure in step.tasks if sure >= min_confidence))


def chapters(
    steps: Iterable[Step],
    min_confidence: float,
    *,
    superseding: Collection[str] = (),
    undone: Collection[str] = (),
) -> tuple[Chapter, ...]:
    """The chapters of a story in the order in which they are told.

    `superseding` are tasks that replaced others of it, `undone` the commits taken back later.
    """
    replacing = frozenset(superseding)
    found: list[Chapter] = []
    seen: set[tuple[object, ...]] = set()
    for each in _runs(told(steps), min_confidence, undone):
        is_changed = each.phase == CHANGED and bool(each.tasks)
        phase = SUPERSEDED if is_changed and replacing.intersection(each.tasks) else each.phase
        key = (each.part, phase, frozenset(each.tasks))
        found.append(each._replace(phase=phase, is_again=is_changed and key in seen))
        seen.add(key)
    return tuple(sorted(found, key=lambda each: (each.part, PHASES.index(each.phase))))


def _runs(steps: Iterable[Step], min_confidence: float, undone: Collection[str]) -> list[Chapter]:
    """Steps of the same tasks that follow each other, and slight ones that do, oldest first.

    Slight ones in between do not part what belongs together.
    """
    runs: list[Chapter] = []
    last = slight = -1
    life, is_gone = 0, False
    for step in steps:
        life += is_gone and "introduced" in step.kinds
        is_gone = "deleted" in step.kinds
        chapter = Chapter(
            _phase(step), tasks(step, min_confidence), (step,), (not step.is_ancestor, life), 0
        )
        if not chapter.tasks and is_slight(step) and step.commit.oid not in undone:
            if slight < 0 or runs[slight].part != chapter.part:
                slight = len(runs)
                runs.append(chapter._replace(steps=(), is_sum=True))
            runs[slight] = _longer(runs[slight], step)
        elif last >= 0 and _continues(runs[last], chapter):
            runs[last] = _longer(runs[last], step)
        else:
            last, slight = len(runs), -1
            runs.append(chapter)
    return [each._replace(number=number) for number, each in enumerate(runs)]


def _longer(run: Chapter, step: Step) -> Chapter:
    return run._replace(steps=(*run.steps, step))


def _phase(step: Step) -> str:
    if "deleted" in step.kinds:
        return REMOVED
    if "introduced" in step.kinds:
        return CREATED
    return REVERTED if step.undoes else CHANGED


def _continues(run: Chapter, chapter: Chapter) -> bool:
    is_same = bool(run.tasks) and set(run.tasks) == set(chapter.tasks) and run.part == chapter.part
    return is_same and chapter.phase == CHANGED and run.phase in (CREATED, CHANGED)


def is_slight(step: Step) -> bool:
    """Whether it changed nothing that runs, or only as one of very many files."""
    if step.undoes or step.origin:
        return False
    kinds = frozenset(step.kinds)
    return kinds <= SLIGHT.keys() or (is_bulk(step) and kinds <= _OF_TEXT)


def is_bulk(step: Step) -> bool:
    return step.commit.files >= MANY_FILES
