"""Everything that is wrong with a plan, or that should be looked at before a run, at once.

An error means that the plan cannot be run as it is; a warning, that a run may not do what was
meant. Messages repeat no text of the plan but for ids, which are valid, and cleaned paths.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from tether import errors, files, ids, text
from tether.coordinator.plans import criteria, graph, model, overlaps, vague

# What waits for a task is counted with a bit for each task: so many take some fifty megabytes.
MAX_TASKS = 20_000
_MAX_PATH = 60
_MAX_NAMED = 5
# Each takes a few system calls; no plan has so much to read.
_MAX_LOOKS = 10_000


def check(plan: model.Plan, top: str) -> list[model.Problem]:
    """All problems, by line. Reading files are looked for in the checkout at `top`."""
    if not plan.tasks:
        said = "it has no tasks; a task begins with a heading `#### Task <id>: <title>`"
        return [model.Problem(1, "there are no open tasks" if plan.file == "work" else said)]
    if len(plan.tasks) > MAX_TASKS:
        return [model.Problem(1, f"it has {len(plan.tasks)} tasks, and may have {MAX_TASKS}")]
    found = graph.graph(plan.tasks)
    problems = [*_ids(plan.tasks), *_blockers(plan.tasks), *_cycles(plan.tasks, found)]
    for task in plan.tasks:
        problems += _criteria(task)
    problems += [*_reading(plan.tasks, top), *_side_by_side(plan.tasks, found)]
    return sorted(problems, key=_by_line)


def together(plan: model.Plan, told: Sequence[model.Problem], top: str) -> list[model.Problem]:
    """What a reader has told, and what `check` finds; that nothing could be read is said once."""
    is_unread = not plan.tasks and any(each.is_error for each in told)
    found = [*told, *(() if is_unread else check(plan, top))]
    return sorted(found, key=_by_line)


def _first_ones(tasks: Sequence[model.PlanTask]) -> dict[str, model.PlanTask]:
    """The tasks by id; of two with one id the first, as in the graph."""
    return {task.id: task for task in reversed(tasks)}


def _by_line(problem: model.Problem) -> tuple[int, bool]:
    return problem.line, not problem.is_error


def _about(
    task: model.PlanTask, message: str, *, line: int = 0, is_error: bool = True
) -> model.Problem:
    name = task.id if ids.TaskId.is_valid(task.id) else ""
    return model.Problem(line or task.line, message, name, is_error)


def _ids(tasks: Sequence[model.PlanTask]) -> Iterator[model.Problem]:
    for task in tasks:
        if not ids.TaskId.is_valid(task.id):
            yield _about(task, f"this is not a valid task id. {ids.TaskId.hint}")
    for task, known in graph.duplicates(tasks):
        where = f"line {known.line}" if known.line else f"the list {known.source or 'of tasks'}"
        case = "" if task.id == known.id else ", but for upper and lower case"
        yield _about(task, f"another task has the same id{case}: {where}")


# Who waits for whom


def _blockers(tasks: Sequence[model.PlanTask]) -> Iterator[model.Problem]:
    for task, name in graph.unknown(tasks):
        shown = name if ids.TaskId.is_valid(name) else "something"
        said = f"it is blocked by {shown}, which is no task of the plan"
        yield _about(task, said, line=task.blocked_by_line)
    for task in tasks:
        if task.id in task.blocked_by:
            yield _about(task, "it is blocked by itself", line=task.blocked_by_line)
    if all(task.blocked_by for task in tasks):
        yield model.Problem(tasks[0].line, "every task is blocked by another one: none can begin")


def _cycles(tasks: Sequence[model.PlanTask], found: graph.Graph) -> Iterator[model.Problem]:
    by_id = _first_ones(tasks)
    for trail in graph.cycles(found):
        if all(map(ids.TaskId.is_valid, trail)):
            task = by_id[trail[0]]
            said = f"it waits for itself, in a circle: {' → '.join(trail)}"
            yield _about(task, said, line=task.blocked_by_line)


# When is a task done?


def _criteria(task: model.PlanTask) -> Iterator[model.Problem]:
    if not task.criteria:
        yield _about(task, "it has no acceptance criteria", is_error=False)
    elif not task.commands:
        said = "none of its criteria is a command (`run: …`): only an audit can tell if it is done"
        yield _about(task, said, is_error=False)
    for each in task.criteria:
        if criteria.is_almost_command(each):
            said = "this is no command: only what begins with `run:`, so written, is executed"
            yield _about(task, said, line=each.line, is_error=False)
        elif not each.command and (found := vague.judge(each.text)) is not None:
            said = f'"{found.phrase}" cannot be tested: {found.reason}; {found.instead}'
            yield _about(task, said, line=each.line, is_error=False)


# Files


def _reading(tasks: Sequence[model.PlanTask], top: str) -> Iterator[model.Problem]:
    root = files.Root(top)
    known: dict[str, str] = {}
    for task in tasks:
        for path in task.reading:
            if path not in known and len(known) < _MAX_LOOKS:
                known[path] = _why_not(root, path)
            if known.get(path):
                said = f"its reading {text.one_line(path, _MAX_PATH)} {known[path]}"
                yield _about(task, said, is_error=False)


def _why_not(root: files.Root, path: str) -> str:
    """Why a worker cannot read a path; empty if it can, or if it is no path of one file."""
    if "://" in path or any(char in path for char in "*?["):
        return ""
    try:
        return "" if root.exists(posixpath.normpath(path.partition("#")[0])) else "is not there"
    except errors.OutsideRoot:
        return "lies outside of the checkout"
    except errors.TetherError:
        return "cannot be read"


def _side_by_side(tasks: Sequence[model.PlanTask], found: graph.Graph) -> Iterator[model.Problem]:
    by_id = _first_ones(tasks)
    levels = [[by_id[name] for name in level] for level in graph.levels(found)]
    for each in overlaps.overlaps(levels):
        path = text.one_line(each.path, _MAX_PATH)
        said = f"it changes {path}, as {each.other.id} does: they cannot run side by side"
        yield _about(each.task, said, is_error=False)
    silent = [task for level in levels if len(level) > 1 for task in level if not task.files]
    if len(silent) == 1:
        said = "it may run beside others and names no files: nobody can tell if they collide"
        yield _about(silent[0], said, is_error=False)
    elif silent:
        said = f"they may run side by side and name no files to change: {_named(silent)}"
        yield model.Problem(silent[0].line, said, is_error=False)


def _named(tasks: Sequence[model.PlanTask]) -> str:
    """Some ids, and how many more."""
    names = [task.id for task in tasks[:_MAX_NAMED] if ids.TaskId.is_valid(task.id)]
    more = len(tasks) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")
