"""What a worker or an auditor is told, in the format of seed 004. Pure.

The plan's words are the person's who started the run. What others wrote since (checkpoints, reasons
why something did not pass, answers) is data, inside a fence.
"""

from __future__ import annotations

from collections.abc import Iterable

from tether import text
from tether.coordinator.plans.model import PlanTask
from tether.coordinator.state import Checkpoint

_DEVELOPER = """\
How to work:
- Work on this task only, and in this directory only.{branch}
- Every {minutes} minutes say what is done and what is left, for whoever may have to take over:
  `tether run checkpoint --task {task} "TEXT"`{file}
- If only a person can decide something:
  `tether run ask --task {task} "QUESTION" --option A --option B`, then {stop}
- {end} The commands among them are run afterwards, as they stood in the plan
  when the run started."""
_BRANCH = " It has a branch of your own: commit your work there."
_FILE = "\n  or write it to the file in $TETHER_CHECKPOINT_FILE."
_OF_PROCESS = (
    "end with a status other than 0.",
    "End with status 0 when every criterion is met.",
)
_OF_HELPER = (
    "stop and say so.",
    "Stop and say so when every criterion is met.",
)
_AUDITOR = """\
How to audit:
- Another agent says that this task is done. Look at its work in this directory; change nothing.
- The commands among the criteria have been run already and succeeded.
- End with status 0 if every criterion is met. Otherwise print what is missing and end with
  another status: what you print last is what the next worker is told."""


def for_developer(
    task: PlanTask,
    *,
    checkpoint: Checkpoint | None,
    fixes: str,
    resumed: bool,
    has_branch: bool,
    checkpoint_minutes: int,
    guidance: str = "",
    is_process: bool = True,
) -> str:
    """The assignment of a task, to a process of ours or to the helper of an agent."""
    parts = [_head(task)]
    if resumed:
        said = _data(checkpoint.text, "checkpoint") if checkpoint else "none was left"
        parts.append(f"Resume Context: {said}")
        parts.append("Previous Progress: Review existing work before continuing.")
    if guidance:
        # A person's own words, who alone may answer: they are to be followed.
        parts.append(f"A person answered: {text.clean(guidance).strip()}")
    if fixes:
        parts.append(f"Required Fixes: {_data(fixes, 'review')}")
    parts += _reading(task.reading)
    stop, end = _OF_PROCESS if is_process else _OF_HELPER
    parts.append(
        _DEVELOPER.format(
            task=task.id,
            branch=_BRANCH if has_branch else "",
            file=_FILE if is_process else "",
            minutes=checkpoint_minutes,
            stop=stop,
            end=end,
        )
    )
    return "\n\n".join(parts) + "\n"


def for_auditor(task: PlanTask, *, branch: str) -> str:
    """What an auditor is asked."""
    parts = [_head(task)]
    if branch:
        parts.append(f"Branch: {branch}")
    parts += [*_reading(task.reading), _AUDITOR]
    return "\n\n".join(parts) + "\n"


def _head(task: PlanTask) -> str:
    title = f" {text.one_line(task.title)}" if task.title else ""
    criteria = "\n".join(f"- {text.one_line(each.text)}" for each in task.criteria) or "none"
    lines = [
        f"Task: {task.id}{title}",
        f"Work: {text.clean(task.work or task.title).strip()}",
        f"Acceptance Criteria:\n{criteria}",
        f"Blocked By: {', '.join(task.blocked_by) or 'none'}",
    ]
    if task.environment:
        lines.append(f"Environment: {text.one_line(task.environment)}")
    if task.files:
        lines.append(f"Files: {text.one_line(', '.join(task.files))}")
    return "\n".join(lines)


def _reading(paths: Iterable[str]) -> list[str]:
    listed = "\n".join(f"- {text.one_line(each)}" for each in paths)
    return [f"Required Reading:\n{listed}"] if listed else []


def _data(value: str, source: str) -> str:
    return "\n" + text.fence(value, source=source, author="others")
