"""What is worked out of a story before its first line is told. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from tether.hints import NamedTuple
from tether.lineage.biography import deeds, phases, ties, wording
from tether.lineage.biography.model import Relation, Step, Story
from tether.lineage.biography.naming import Names
from tether.lineage.biography.phases import Chapter
from tether.lineage.biography.reversals import Reversals


class Outline(NamedTuple):
    """A story in chapters."""

    story: Story
    steps: tuple[Step, ...]
    """Those that did something, oldest first."""
    tasks: dict[str, Chapter]
    """Those that explain something, each with the chapter that introduces it."""
    relations: dict[str, list[Relation]]
    """Those that are sure enough, by the task whose line tells them."""
    governing: tuple[Relation, ...]
    """By which decisions the code stands."""
    names: Names
    reversals: Reversals
    chapters: tuple[Chapter, ...]
    """In the order in which they are told."""
    kept: frozenset[int]
    """The numbers of those that are told at any budget."""
    ancestors: dict[int, str]
    """What the code was called, by the numbers of chapters of what it was split from."""
    least: float
    """How sure a task must be to be told as what explains a step."""

    @property
    def is_unrecorded(self) -> bool:
        """Whether none of several tasks has a record: that is said once."""
        is_any = any(map(self.names.record, self.tasks))
        return self.story.knows_records and len(self.tasks) > 1 and not is_any

    @property
    def is_absence_told(self) -> bool:
        """Whether it is said of each task that has no record."""
        return self.story.knows_records and not self.is_unrecorded

    @property
    def is_gone(self) -> bool:
        """Whether the code is not there any more."""
        own = [each for each in self.steps if not each.is_ancestor]
        return bool(own) and "deleted" in own[-1].kinds

    def whose(self, step: Step) -> str:
        """The tasks of a step by their names; empty if none is sure."""
        keys = phases.tasks(step, self.least)
        return wording.listed([self.names.bare(key) for key in keys])


def outline(story: Story, min_confidence: float) -> Outline:
    steps = phases.told(story.steps)
    told = dict.fromkeys(key for step in steps for key in phases.tasks(step, min_confidence))
    every = dict.fromkeys((*story.relations, *story.governed))
    relations = tuple(each for each in every if each.confidence >= min_confidence)
    reversals = Reversals(steps)
    chapters = phases.chapters(
        steps,
        min_confidence,
        superseding=ties.superseding(relations, told),
        undone=reversals.undone,
    )
    introduced: dict[str, Chapter] = {}
    for chapter in chapters:
        for key in chapter.tasks:
            introduced.setdefault(key, chapter)
    tied = ties.by_task(relations, told, _undone(steps, reversals, min_confidence))
    return Outline(
        story,
        steps,
        introduced,
        tied,
        tuple(each for each in relations if each.type == "governs" and not _is_of(each, told)),
        Names(story.records, told, relations),
        reversals,
        chapters,
        _kept(chapters, steps, introduced, tied),
        _ancestors(chapters, steps),
        min_confidence,
    )


def _is_of(relation: Relation, told: Collection[str]) -> bool:
    return relation.subject in told or relation.object in told


def _undone(
    steps: Iterable[Step], reversals: Reversals, min_confidence: float
) -> frozenset[tuple[str, str]]:
    """Pairs of tasks of which one undid a change of the other."""
    return frozenset(
        (newer, older)
        for step in steps
        for target in reversals.targets(step)
        if target.step and not target.is_again
        for newer in phases.tasks(step, min_confidence)
        for older in phases.tasks(target.step, min_confidence)
    )


def _kept(
    chapters: Sequence[Chapter],
    steps: Sequence[Step],
    introduced: Mapping[str, Chapter],
    tied: Mapping[str, Sequence[Relation]],
) -> frozenset[int]:
    """The creation, the last change, the last one that says something, and every reversal."""
    own = [each for each in chapters if each.part[0]]
    last = next((step for step in reversed(steps) if not step.is_ancestor), None)
    speaking = max((each.number for each in own if not each.is_sum), default=-1)
    turns = {
        each.number
        for each in own
        if each.phase in (phases.CREATED, phases.REMOVED)
        or any(step is last for step in each.steps)
    }
    reversing = {each.number for each in chapters if any(step.undoes for step in each.steps)}
    reversing |= {introduced[key].number for key, some in tied.items() if ties.is_turn(some)}
    return frozenset((*turns, *reversing, speaking))


def _ancestors(chapters: Sequence[Chapter], steps: Sequence[Step]) -> dict[int, str]:
    """Names, from the one that it had last back through its moves and renames."""
    first = next((each for each in steps if not each.is_ancestor), None)
    name = _split_from(first) if first else ""
    found: dict[int, str] = {}
    before = [each for each in chapters if not each.part[0]]
    for chapter in sorted(before, key=lambda each: -each.number):
        for number, step in enumerate(reversed(chapter.steps)):
            name = step.after or name
            if not number:
                found[chapter.number] = name
            name = step.before or name
    return found


def _split_from(step: Step) -> str:
    """`a.py#run` of `split from a.py#run`."""
    for verb, names in deeds.origins(step).items():
        if verb.endswith(" from"):
            return names[0]
    return step.before
