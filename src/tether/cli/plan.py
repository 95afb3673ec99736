"""`tether plan`: what a run would do, and what is wrong with its plan, before it begins."""

from __future__ import annotations

import os

import click

from tether import errors, text
from tether.cli import answers, cold, context
from tether.cli.task import shown
from tether.coordinator.plans import graph, model, reading, vague, workspace
from tether.hints import Any, NamedTuple

_WORK = "work"
_UNTRUSTED = ("title", "text", "command", "files", "reading")
_COLUMNS = 80
_MAX_GRAPH_LINES = 24
_MAX_WARNINGS = 20


class Checked(NamedTuple):
    """A plan with all that is known of it."""

    plan: model.Plan
    graph: graph.Graph
    problems: list[model.Problem]

    @property
    def errors(self) -> list[model.Problem]:
        return [each for each in self.problems if each.is_error]

    @property
    def warnings(self) -> list[model.Problem]:
        return [each for each in self.problems if not each.is_error]


@click.group()
def plan() -> None:
    """Check a plan before a run."""


@plan.command()
@click.argument("path", required=False, metavar="[PLAN]")
@click.option(
    "--from", "origin", type=click.Choice([_WORK]), help="Take the open tasks of this workspace."
)
@cold.answering
@cold.pass_call
def check(call: context.Context, path: str | None, origin: str | None) -> answers.Answer:
    """Show what a run of a plan would do, and what is wrong with it.

    PLAN is a file in Markdown or YAML. Shown are the tasks in the order in which they can be done,
    the longest chain of them, every command that a run would execute, criteria that cannot be
    tested, and what makes the plan impossible to run; then the exit code is 1.
    """
    checked = look(call, path, origin)
    failure = _failure(checked)
    value: dict[str, Any] = {"plan": value_of(checked)}
    if failure is not None:
        named = {name: getattr(failure, name) for name in ("code", "message", "hint", "retryable")}
        value |= {"ok": False, "error": named}
    lines = _page(checked)
    return answers.Answer(
        "",
        value,
        lambda: answers.told("\n".join(lines), source="plan", for_agent=call.is_agent),
        None if call.is_agent else shown.fitted(lines, "    "),
        failure,
    )


def look(call: context.Context, path: str | None, origin: str | None) -> Checked:
    """The plan that is meant, checked."""
    if (path is None) == (origin is None):
        raise errors.UsageError(
            "Name the file of a plan, or --from work: one of them. Nothing was changed.",
            hint="See `tether plan check --help`.",
        )
    top = call.work.top
    if path is None:
        found, told = workspace.read(call.work, call.lists)
    else:
        found, told = reading.read(top, _named(top, path))
    problems = reading.together(found, told, top)
    return Checked(found, graph.graph(found.tasks), problems)


def _named(top: str, path: str) -> str:
    """A path as typed; only a full one may lead out of the checkout."""
    if os.path.isabs(path):
        return path
    named = os.path.relpath(os.path.join(os.getcwd(), path), top)
    if named.split(os.sep)[0] == os.pardir:
        raise errors.OutsideRoot(
            "The plan lies outside of this checkout. Nothing was read.",
            hint="Name it by its full path.",
        )
    return named


def _failure(checked: Checked) -> errors.TetherError | None:
    number = len(checked.errors)
    if not number:
        return None
    return errors.TetherError(
        f"The plan has {text.counted(number, 'error')} and cannot be run as it is.",
        hint="Correct what is named above, and check it again.",
    )


# For programs


def value_of(checked: Checked) -> dict[str, Any]:
    """Everything, with what others wrote cleaned and named."""
    found, links = checked.plan, checked.graph
    level_of = graph.level_of(links)
    return {
        "file": text.clean(found.file),
        "title": text.clean(found.title),
        "digest": reading.digest(found),
        "tasks": [_task_value(task, level_of.get(task.id)) for task in found.tasks],
        "critical_path": list(graph.critical_path(links)),
        "levels": [list(level) for level in graph.levels(links)],
        "width": graph.width(links),
        "problems": [
            {
                "line": each.line or None,
                "task": each.task_id or None,
                "message": text.one_line(each.message),
                "is_error": each.is_error,
            }
            for each in checked.problems
        ],
        "untrusted": list(_UNTRUSTED),
    }


def _task_value(task: model.PlanTask, level: int | None) -> dict[str, Any]:
    return {
        "id": task.id,
        "title": text.clean(task.title),
        "source": task.source or None,
        "priority": task.priority,
        "blocked_by": list(task.blocked_by),
        "criteria": [
            {
                "text": text.clean(each.text),
                "command": each.command or None,
                "line": each.line or None,
                "is_vague": not each.command and vague.judge(each.text) is not None,
            }
            for each in task.criteria
        ],
        "files": [text.clean(each) for each in task.files],
        "reading": [text.clean(each) for each in task.reading],
        "level": level,
        "line": task.line or None,
    }


# For people


def _page(checked: Checked) -> list[str]:
    found = checked.plan
    title = f": {found.title}" if found.title else ""
    lines = [text.one_line(f"{found.file}{title}", _COLUMNS)]
    if found.tasks:
        lines += [_count(checked), "", *_graph(checked), "", *_chain(checked.graph)]
        lines += ["", *_commands(found)]
    for name, problems, most in (
        ("Warnings", checked.warnings, _MAX_WARNINGS),
        ("Errors", checked.errors, len(checked.errors)),
    ):
        if problems:
            lines += ["", f"{name}:", *(f"  {_said(found, each)}" for each in problems[:most])]
        if len(problems) > most:
            lines.append(f"  and {len(problems) - most} more; --json has all")
    return lines


def _count(checked: Checked) -> str:
    levels = len(graph.levels(checked.graph))
    tasks = text.counted(len(checked.plan.tasks), "task")
    return f"{tasks} in {text.counted(levels, 'step')}, up to {graph.width(checked.graph)} at once"


def _graph(checked: Checked) -> list[str]:
    """The tasks by step: a line for each, or for each step where there are too many."""
    levels = graph.levels(checked.graph)
    if len(checked.graph.ids) <= _MAX_GRAPH_LINES:
        by_id = {task.id: task for task in reversed(checked.plan.tasks)}
        return [
            _row(f"{n}" if name == level[0] else "", by_id[name])
            for n, level in enumerate(levels, 1)
            for name in level
        ]
    lines = [
        f"{n:>3}  {_shortened(level, ', ', _COLUMNS - 5)}"
        for n, level in enumerate(levels[:_MAX_GRAPH_LINES], 1)
    ]
    more = len(levels) - len(lines)
    return [*lines, f"     and {text.counted(more, 'more step')}"] if more else lines


def _row(step: str, task: model.PlanTask) -> str:
    after = f"  (after {_shortened(task.blocked_by, ', ', 30)})" if task.blocked_by else ""
    head = f"{step:>3}  {task.id}"
    room = max(0, _COLUMNS - len(head) - len(after) - 2)
    return f"{head}  {text.one_line(task.title, room)}".rstrip() + after


def _chain(links: graph.Graph) -> list[str]:
    path = graph.critical_path(links)
    head = f"Longest chain ({len(path)}): "
    return [head + _shortened(path, " → ", _COLUMNS - len(head))] if path else []


def _commands(found: model.Plan) -> list[str]:
    """All of them, as they are: this is what a person agrees to."""
    told = [f"  {task.id}  {command}" for task in found.tasks for command in task.commands]
    if not told:
        return ["A run would execute no commands."]
    return [f"A run would execute {text.counted(len(told), 'command')}:", *told]


def _said(found: model.Plan, problem: model.Problem) -> str:
    line = f":{problem.line}" if problem.line else ""
    about = f"{problem.task_id}: " if problem.task_id else ""
    return f"{text.one_line(found.file)}{line}: {about}{text.one_line(problem.message)}"


def _shortened(names: tuple[str, ...], between: str, room: int) -> str:
    """Names on one line; those that do not fit are counted."""
    line, kept = "", 0
    for name in names:
        longer = f"{line}{between}{name}" if kept else name
        more = len(names) - kept - 1
        if kept and len(longer) + (len(f" and {more} more") if more else 0) > room:
            break
        line, kept = longer, kept + 1
    return line + (f" and {len(names) - kept} more" if kept < len(names) else "")
