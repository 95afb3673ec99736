"""A plan from the tasks of a workspace: those with files, and those of its lists.

Open are those that are neither done nor failed, cancelled or put away. What is done already blocks
nobody. Their texts stand in many files, so problems name a task and no line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tether import ids, text
from tether.coordinator.plans import criteria, drafts, model
from tether.tasks import claiming, listing, states, workdir
from tether.tasks import model as tasks_model
from tether.tasks.sources import finding
from tether.tasks.sources import model as lists_model

FILE = "work"
_OPEN = (states.NEW, states.ASSIGNED, states.IN_PROGRESS)


def read(work: workdir.Workdir, lists: finding.Lists) -> tuple[model.Plan, list[model.Problem]]:
    """The open tasks, and what is wrong with how they are written; `check` says the rest."""
    problems: list[model.Problem] = []
    read = [*_own(work, lists, problems), *_listed(lists)]
    tasks, found = drafts.finished(read)
    return model.Plan(FILE, "", tasks), [*problems, *found]


# Tasks with files


def _own(
    work: workdir.Workdir, lists: finding.Lists, problems: list[model.Problem]
) -> Iterator[drafts.Draft]:
    loaded = sorted((work.load(found) for found in work.scan(listing.OPEN_PLACES)), key=_age)
    unmet = _Unmet(work, lists, [each.task for each in loaded])
    for task, document in loaded:
        if task.problem:
            name = task.id if ids.TaskId.is_valid(task.id) else ""
            said = f"its file cannot be read, so it is no part of the plan: {task.problem}"
            problems.append(model.Problem(0, text.one_line(said, 200), name, is_error=False))
        elif task.state in _OPEN:
            draft = _of_file(task, document.fields)
            for each in unmet.among(task.depends_on):
                draft.add_blockers(each, 0)
            yield draft


class _Unmet:
    """What has still to be done before others."""

    def __init__(
        self, work: workdir.Workdir, lists: finding.Lists, tasks: list[tasks_model.Task]
    ) -> None:
        self._work = work
        self._open = {task.id for task in tasks if not task.problem and task.state in _OPEN}
        self._done = {key.id for key, item in lists.items.items() if item.state == states.DONE}

    def among(self, names: tuple[str, ...]) -> Iterator[str]:
        """Those that are not done: also what failed, was cancelled or is nowhere to be found."""
        for name in names:
            # To look a file up by its id takes longer than all the rest.
            if name in self._open or not self._is_met(name):
                yield name

    def _is_met(self, name: str) -> bool:
        [found] = claiming.look_at(self._work, (name,))
        return found.is_met or (found.state == states.NONE and name in self._done)


def _age(loaded: workdir.Loaded) -> tuple[str, str, str]:
    task = loaded.task
    return task.created_at or listing.UNDATED, task.id, task.path


def _of_file(task: tasks_model.Task, fields: dict[str, Any]) -> drafts.Draft:
    draft = drafts.Draft(task.id, 0, source=ids.OWN_SOURCE)
    draft.title = task.title
    for name in ("description", "plan"):
        for each in tasks_model.words(fields.get(name)):
            draft.add(drafts.WORK, each, 0)
    for each in _listed_values(fields.get("acceptance")):
        if isinstance(each, dict) and isinstance(command := each.get("run"), str):
            draft.add_criterion(criteria.from_command(command, 0))
        elif isinstance(each, str):
            draft.add_criterion(criteria.read(each, 0))
        else:
            draft.say(0, "one of its criteria is neither a text nor a command", is_error=False)
    draft.add_reading(tasks_model.words(fields.get("context_files")))
    # An artefact may be something else than a file of the repository.
    draft.add_files(task.artefacts, 0, is_error=False)
    draft.add(drafts.PRIORITY, task.priority, 0)
    return draft


def _listed_values(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


# Tasks of lists


def _listed(lists: finding.Lists) -> Iterator[drafts.Draft]:
    for item in sorted(lists.items.values(), key=lambda each: (each.source, each.path, each.line)):
        if item.state in _OPEN:
            yield _of_item(lists, item)


def _of_item(lists: finding.Lists, item: lists_model.Item) -> drafts.Draft:
    draft = drafts.Draft(item.id, 0, source=item.source)
    draft.title, draft.phase = item.text, item.section
    draft.add(drafts.WORK, item.description, 0)
    draft.add(drafts.PRIORITY, item.priority, 0)
    for _, said in item.acceptance:
        draft.add_criterion(criteria.read(said, 0))
    for name in item.depends_on:
        needed = lists.items.get(lists.resolve(ids.TaskKey(item.source, name)))
        if needed is None or needed.state != states.DONE:
            draft.add_blockers(needed.id if needed else name, 0)
    return draft
