"""What changed from one closure to another: of another time, another task, another depth."""

from __future__ import annotations

from tether.hints import NamedTuple
from tether.lineage.closures import related
from tether.lineage.edges import model


class Changed(NamedTuple):
    """A task that is in both, but not in the same way."""

    task: model.Key
    before: related.Related
    after: related.Related


class Difference(NamedTuple):
    """What is in one closure and not in the other."""

    gone: tuple[related.Related, ...]
    new: tuple[related.Related, ...]
    changed: tuple[Changed, ...]
    """Reached on another way, as sure or with other files."""
    is_truncated: bool
    """Whether one of them was: what seems gone or new may only have had no room."""


def diff(before: related.Closure, after: related.Closure) -> Difference:
    """What the later closure has otherwise; in the order of the closures."""
    old = {each.task: each for each in before.tasks}
    new = {each.task: each for each in after.tasks}
    return Difference(
        tuple(each for each in before.tasks if each.task not in new),
        tuple(each for each in after.tasks if each.task not in old),
        tuple(
            Changed(each.task, old[each.task], each)
            for each in after.tasks
            if each.task in old and _differs(old[each.task], each)
        ),
        before.is_truncated or after.is_truncated,
    )


def _differs(one: related.Related, other: related.Related) -> bool:
    # Sums of the same numbers in another order may differ in the last digits.
    is_as_sure = abs(one.score - other.score) < 1e-9
    return not is_as_sure or one.path != other.path or _files(one) != _files(other)


def _files(each: related.Related) -> set[model.Key]:
    return {file.node for file in each.files}
