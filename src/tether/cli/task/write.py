"""`tether task new`, `edit` and `note`: what a task says."""

from __future__ import annotations

from collections.abc import Iterable

from tether import errors, workspace
from tether.cli import answers, context, verbs
from tether.cli.task import move, shown
from tether.tasks import editing

_FIELD = "FIELD=TEXT"
_EDITS = (
    verbs.Option("--priority", "critical, high, normal or low.", "WORD"),
    verbs.Option("--description", "What is to be done.", "TEXT"),
    verbs.Option("--plan", "How it is to be done.", "TEXT"),
    verbs.Option("--depends-on", "A task that must be done first.", "ID", is_list=True),
    verbs.Option("--artefact", "A file that will come out of it.", "PATH", is_list=True),
    verbs.Option("--acceptance", "How to see that it is done.", "TEXT", is_list=True),
    verbs.Option("--context", "A file to read first.", "PATH", is_list=True),
)
_LISTS = {
    "depends_on": "depends_on",
    "artefact": "artefacts",
    "acceptance": "acceptance",
    "context": "context_files",
}


def _new(call: context.Context, values: verbs.Values) -> answers.Answer:
    if values["commit"]:
        from tether.tasks import committing

        committing.require_branch(call.workspace)
    at = call.desk()
    edit = _edit_of(call.workspace, values)
    seed = {}
    if named := edit.added.get("context_files"):
        from tether.cli.task import suggesting

        seed = suggesting.seed(call, named)
    moved = editing.new(
        at,
        title=values["title"],
        task_id=values["id"],
        parent=values["parent"],
        edit=edit,
        seed=seed,
    )
    if seed:
        moved = moved._replace(notes=(*moved.notes, *suggesting.lines(seed)))
    return shown.answered(at, moved, commits=values["commit"])


def _edit(call: context.Context, values: verbs.Values) -> answers.Answer:
    wanted = _edit_of(call.workspace, values)
    if not any(wanted):
        raise errors.UsageError(
            "Nothing was said to change.", hint="See `tether task edit --help`."
        )
    return move.acting(lambda at, given: editing.edit(at, given["task"], wanted))(call, values)


def _edit_of(place: workspace.Workspace, values: verbs.Values) -> editing.Edit:
    texts = {name: values[name] for name in editing.TEXTS if values.get(name) is not None}
    if "title" in texts and "task" not in values:
        del texts["title"]  # of a new task, whose title is no change
    added = {field: list(values[name]) for name, field in _LISTS.items() if values[name]}
    for field in ("artefacts", "context_files"):
        if field in added:
            added[field] = [shown.from_top(place, path) for path in added[field]]
    for name, item in _pairs(values.get("add", ())):
        added.setdefault(name, []).append(item)
    dropped: dict[str, list[str]] = {}
    for name, item in _pairs(values.get("drop", ())):
        dropped.setdefault(name, []).append(item)
    return editing.Edit(
        texts,
        {name: tuple(items) for name, items in added.items()},
        {name: tuple(items) for name, items in dropped.items()},
    )


def _pairs(words: Iterable[str]) -> Iterable[tuple[str, str]]:
    for word in words:
        name, equals, item = word.partition("=")
        if not equals or name not in editing.LISTS:
            raise errors.UsageError(
                f"--add and --drop take {_FIELD}. Nothing was changed.",
                hint=f"The fields are {', '.join(editing.LISTS)}.",
            )
        yield name, item


VERBS = {
    "new": verbs.Verb(
        name="new",
        help="Write a task down.",
        notes="--depends-on, --artefact, --acceptance and --context may be repeated.",
        options=(
            verbs.Option("--id", "An id of your own.", "ID"),
            verbs.Option("--parent", "The task that it is a part of.", "ID"),
            *_EDITS,
            move.COMMIT,
        ),
        arguments=(verbs.Argument("title", "What it is about, in a line."),),
        run=_new,
    ),
    "edit": verbs.Verb(
        name="edit",
        help="Change what a task says.",
        notes="Lists gain what is named; --drop takes it away again. States, owners and times are"
        " changed by their own verbs.",
        options=(
            verbs.Option("--title", "Another title.", "TEXT"),
            *_EDITS,
            verbs.Option("--add", "Add to any list.", _FIELD, is_list=True),
            verbs.Option("--drop", "Take out of a list.", _FIELD, is_list=True),
            move.COMMIT,
            move.SESSION,
        ),
        arguments=(shown.TASK,),
        run=_edit,
    ),
    "note": verbs.Verb(
        name="note",
        help="Add a remark to a task's history.",
        options=(move.COMMIT, move.SESSION),
        arguments=(shown.TASK, verbs.Argument("text", "The remark.")),
        run=move.acting(lambda at, given: editing.note(at, given["task"], given["text"]), "note"),
    ),
}
