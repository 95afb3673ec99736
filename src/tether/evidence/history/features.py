"""Which feature an id of spec-kit is of: every feature counts from `T001`. Pure.

Texts say `T012` alone. The branch that is checked out says of which feature it is, since spec-kit
calls it like the feature's directory; or the only such directory that a commit changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tether.evidence import model
from tether.tasks.sources import dialects

# As spec-kit numbers features, or dates them.
_FEATURE = re.compile(r"(?:[0-9]{3,4}|[0-9]{8}-[0-9]{6})-[A-Za-z0-9][A-Za-z0-9._-]{0,200}")
_DIRECTORY = re.compile(r"(?:\.specify/)?specs/([^/]{1,255})/.")
_MERGED = re.compile(r"[\s'/]((?:[0-9]{3,4}|[0-9]{8}-[0-9]{6})-[A-Za-z0-9][A-Za-z0-9._-]{0,200})")


def of_branch(branch: str) -> str:
    """The feature that a branch is for; empty if its name is none of a feature."""
    name = branch.rpartition("/")[2]
    return name if _FEATURE.fullmatch(name) else ""


def of_commit(subject: str, paths: Iterable[str], *, is_merge: bool) -> str:
    """The one feature whose directory a commit changes, or whose branch it merges."""
    found = {match[1] for path in paths if (match := _DIRECTORY.match(path))}
    if is_merge:
        found |= {match[1].rstrip("._-") for match in _MERGED.finditer(subject)}
    return found.pop() if len(found) == 1 else ""


def placed(source: str, task: str, feature: str) -> str:
    """The id of a task, whole if the feature is known."""
    is_short = source == dialects.SPECKIT and feature and "." not in task
    return f"{dialects.slug(feature)}.{task}" if is_short else task


def all_placed(found: list[model.Activity], branch: object) -> list[model.Activity]:
    """What shows work on tasks, with whole ids if the branch that was checked out tells them."""
    if not isinstance(branch, str) or not any(e.task_source == dialects.SPECKIT for e in found):
        return found
    feature = of_branch(branch)
    return [each._replace(task=placed(each.task_source, each.task, feature)) for each in found]
