"""What a person is asked, and the answers that the coordinator itself understands. Pure."""

from __future__ import annotations

from typing import NamedTuple

from tether import text
from tether.coordinator import checkouts
from tether.coordinator.plans.model import PlanTask


class Asked(NamedTuple):
    """A task could not be given out, and a person is asked why."""

    question: str
    options: tuple[str, ...]
    context: str = ""


def _short(branch: str) -> str:
    return branch.removeprefix("refs/heads/")


def about_checkout(task: PlanTask, found: checkouts.Conflict | checkouts.Dirty) -> Asked:
    """What a person is asked when a task's checkout cannot be made ready."""
    shown = text.one_line(", ".join(found.paths[:5]), 300)
    if isinstance(found, checkouts.Dirty):
        context = "dirty_checkout"
        said = (
            f"The checkout of {task.id} stands on {text.one_line(_short(found.stands_on), 100)}"
            " instead of its own branch. Bring it back there"
            if found.stands_on
            else f"The checkout of {task.id} has uncommitted changes ({shown}), and what it depends"
            " on cannot be merged into it. Commit or move them"
        )
    else:
        context = "merge_conflict"
        branch = _short(found.branch)
        said = {
            "conflict": f"The branches that {task.id} depends on do not merge: {found.task_id}"
            f" conflicts{f' in {shown}' if shown else ''}. Merge the others into {branch}",
            "missing": f"{task.id} depends on {found.task_id}, whose branch {branch} is not there"
            " any more. Bring it back",
            "unrelated": f"{task.id} depends on {found.task_id}, whose branch {branch} has nothing"
            " in common with the others. Merge them there",
        }[found.why]
    return Asked(f"{said}, then answer.", ("retry", "skip"), context)
