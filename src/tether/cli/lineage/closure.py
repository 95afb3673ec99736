"""`tether lineage closure` and `diff`: the tasks around a task, and how that differs."""

from __future__ import annotations

import click

from tether import errors, git, text
from tether.cli import answers, cold, context
from tether.cli.lineage import asking, chronicle, values, wording
from tether.cli.task import shown
from tether.hints import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tether.lineage import moments
    from tether.lineage.closures import differences, related

_MAX_FILES = 10
_STOPS = {
    "exhausted": "nothing more is left",
    "depth": "it was to take no more steps",
    "diminishing": "the last step added next to nothing",
}
_depth = click.option(
    "--depth",
    default=3,
    show_default=True,
    metavar="N",
    type=click.IntRange(1, 6),
    help="At most so many steps from the task.",
)
_since = click.option(
    "--since", default="", metavar="DATE", help="Take no step that is known to be older."
)


class _Around(NamedTuple):
    """A closure, as of a time."""

    at: moments.Moment
    closure: related.Closure
    names: asking.Names


@click.command()
@click.argument("task")
@_depth
@_since
@asking.narrowing(limit=50)
@cold.answering
@cold.pass_call
def closure(
    call: context.Context,
    task: str,
    depth: int,
    since: str,
    as_of: str | None,
    min_confidence: float,
    limit: int,
) -> answers.Answer:
    """Show the tasks around a task, however remote, those that matter most first.

    Steps are edges between tasks and decisions, and code that few others changed. A way is as sure
    as its steps together, and each step further counts less.
    """
    since = asking.day_of(since)
    narrowed = asking.Narrowed(as_of or "", min_confidence, limit)
    found = asking.ask(
        call, narrowed, lambda asked: _around(call, asked, task, depth, since, limit)
    )
    from tether.lineage.closures import related

    value = {
        "task": text.clean(found.closure.seed),
        "as_of": asking.moment_value(found.at),
        "tasks": [_related_value(each) for each in found.closure.tasks],
        "files": [
            {"node": text.clean(each.node), "weight": round(each.weight, 4)}
            for each in related.files(found.closure)
        ],
        "stop": found.closure.stop,
        "truncated": found.closure.is_truncated,
        "nodes": values.nodes(found.names),
    }
    least = asking.at_least(min_confidence)
    page = asking.Page(lambda width: _closure_lines(found, least, width), f"closure {task}")
    return asking.answer(call, value, page)


def _around(
    call: context.Context, asked: asking.Asked, task: str, depth: int, since: str, limit: int
) -> _Around:
    from tether.lineage import naming
    from tether.lineage.closures import related

    key = naming.require_task(asked.connection, task)
    found = related.closure(asked.seen, key, depth, since or None, limit)
    keys = [key, *(each.task for each in found.tasks)]
    for each in found.tasks:
        keys += [end for step in each.path for end in (step.node, step.over) if end]
        keys += [file.node for file in each.files]
    names = asked.names(keys)
    tasks = (_without_task_files(each, names, f"{call.work.root}/") for each in found.tasks)
    return _Around(asked.at, found._replace(tasks=tuple(tasks)), names)


def _without_task_files(each: related.Related, names: asking.Names, root: str) -> related.Related:
    """That a task changed its own file tells nobody anything."""
    files = tuple(file for file in each.files if not names[file.node].label.startswith(root))
    return each._replace(files=files)


def _related_value(each: related.Related) -> dict[str, Any]:
    return {
        "task": text.clean(each.task),
        "score": round(each.score, 4),
        "path": [
            {"type": s.type, "over": text.clean(s.over) or None, "node": text.clean(s.node)}
            for s in each.path
        ],
        "files": [
            {"node": text.clean(file.node), "weight": round(file.weight, 4)} for file in each.files
        ],
    }


def _closure_lines(found: _Around, least: str, width: int) -> list[str]:
    closure_, names = found.closure, found.names
    count = text.counted(len(closure_.tasks), "task")
    lines = shown.wrapped(
        f"Around {wording.described(names, closure_.seed)}{asking.as_of(found.at)}: {count}.", width
    )
    if not closure_.tasks:
        said = f"No edge and no code that few others changed leads from it{least}."
        return [*lines, *shown.wrapped(said, width)]
    lines += ["", *wording.columns([_HEADING, *(_row(e, names) for e in closure_.tasks)], width)]
    from tether.lineage.closures import related

    if files := related.files(closure_):
        rows: list[wording.Row] = [((f"{e.weight:.2f}",), _place(names, e.node)) for e in files]
        lines += ["", "Their files:", *wording.columns(rows[:_MAX_FILES], width)]
        if left := len(files) - _MAX_FILES:
            lines += [f"and {left} more; --json has all"] if left > 0 else []
    ended = f"It ends there because {_STOPS[closure_.stop]}."
    more = " There is more: `--limit` shows more." if closure_.is_truncated else ""
    return [*lines, "", *shown.wrapped(ended + more, width, "")]


def _title(room: int) -> str:
    del room
    return "TASK, AND THE WAY THERE"


_HEADING: wording.Row = (("SCORE",), _title)


def _place(names: asking.Names, key: str) -> wording.Said:
    return lambda room: wording.short(wording.label(names, key), room)


def _row(each: related.Related, names: asking.Names) -> wording.Row:
    return (f"{each.score:.2f}",), lambda room: _way(each, names, room)


def _way(each: related.Related, names: asking.Names, room: int) -> str:
    """`T7 “Add it” extended_by T4, changed the same code as it: …/a.py#run`."""
    steps = []
    for number, step in enumerate(each.path):
        is_last = number == len(each.path) - 1
        to = "" if is_last else f" {wording.label(names, step.node)}"
        over = f" over {wording.short(wording.label(names, step.over), 40)}" if step.over else ""
        steps.append(f"{step.type}{to}{over}")
    return text.one_line(f"{wording.described(names, each.task)}: {', '.join(steps)}", room)


# What one has that another has not


@click.command()
@click.argument("task")
@click.argument("other", required=False)
@click.option("--and-as-of", metavar="DATE|COMMIT|TASK", help="The same of the second one.")
@_depth
@_since
@asking.narrowing(limit=50)
@cold.answering
@cold.pass_call
def diff(
    call: context.Context,
    task: str,
    other: str | None,
    and_as_of: str | None,
    depth: int,
    since: str,
    as_of: str | None,
    min_confidence: float,
    limit: int,
) -> answers.Answer:
    """Show what one closure has that another has not.

    That is the closure of TASK and that of OTHER, or that of TASK as of one time and as of another;
    --as-of is of the first one, and of both if OTHER is named. Without --and-as-of the second time
    is now.
    """
    if other is None and as_of is None and and_as_of is None:
        raise errors.UsageError(
            "One closure alone has no difference.",
            hint="Name another task, or a time with --as-of.",
        )
    since = asking.day_of(since)
    second = and_as_of or (as_of if other is not None else None)
    with chronicle.of(call) as who:
        tip = git.Git(call.workspace.place).resolve("HEAD")
        asking.require_known(who, tip)
        before, after = (
            asking.ask_of(
                call,
                who,
                tip,
                asking.Narrowed(when or "", min_confidence, limit),
                lambda asked, words=words: _around(  # type: ignore[misc]
                    call, asked, words, depth, since, limit
                ),
            )
            for words, when in ((task, as_of), (other or task, second))
        )
    from tether.lineage.closures import differences

    found = differences.diff(before.closure, after.closure)
    names = {**before.names, **after.names}
    value = {
        "before": _side_value(before),
        "after": _side_value(after),
        "gone": [_related_value(each) for each in found.gone],
        "new": [_related_value(each) for each in found.new],
        "changed": [
            {
                "task": text.clean(each.task),
                "before": _related_value(each.before),
                "after": _related_value(each.after),
            }
            for each in found.changed
        ],
        "truncated": found.is_truncated,
        "nodes": values.nodes(names),
    }
    page = asking.Page(
        lambda width: _diff_lines(before, after, found, asking.at_least(min_confidence), width),
        f"diff {task}",
    )
    return asking.answer(call, value, page)


def _side_value(side: _Around) -> dict[str, Any]:
    return {
        "task": text.clean(side.closure.seed),
        "as_of": asking.moment_value(side.at),
        "tasks": len(side.closure.tasks),
    }


def _diff_lines(
    before: _Around,
    after: _Around,
    found: differences.Difference,
    least: str,
    width: int,
) -> list[str]:
    heads = [
        f"{sign} {wording.described(side.names, side.closure.seed)}"
        f"{asking.as_of(side.at) or ', now'}: {text.counted(len(side.closure.tasks), 'task')}"
        f"{'' if side.closure.tasks else least}"
        for sign, side in (("-", before), ("+", after))
    ]
    lines = [part for head in heads for part in shown.wrapped(head, width)]
    rows: list[wording.Row] = []
    for sign, side, some in (("-", before, found.gone), ("+", after, found.new)):
        rows += [((sign, f"{e.score:.2f}"), _words(e, side.names)) for e in some]
    rows += [(("~", f"{e.after.score:.2f}"), _changed(e, after.names)) for e in found.changed]
    if rows:
        lines += ["", *wording.columns(rows, width)]
    else:
        lines += ["", "They have the same tasks, on the same ways."]
    if found.is_truncated:
        said = "One of them was cut: what seems to be gone or new may only have had no room."
        lines += ["", *shown.wrapped(said, width)]
    return lines


def _changed(each: differences.Changed, names: asking.Names) -> wording.Said:
    """What is otherwise with a task that both have."""
    before, after = each.before, each.after
    said = "other files"
    if before.path != after.path:
        said = "another way"
    elif f"{before.score:.2f}" != f"{after.score:.2f}":
        said = f"was {before.score:.2f}"
    return lambda room: f"({said}) {_way(after, names, room - len(said) - 3)}"


def _words(each: related.Related, names: asking.Names) -> wording.Said:
    return lambda room: _way(each, names, room)
