"""What a new task is told of the files that it names, if there is an index of lineage."""

from __future__ import annotations

from tether import clock, text, workspace
from tether.cli import context
from tether.hints import Any

_FIELD = "lineage_seed"


def seed(call: context.Context, paths: tuple[str, ...]) -> dict[str, Any]:
    """The suggestions for some files, as the task records them; empty if there are none."""
    from tether import git, index
    from tether.cli.lineage import chronicle
    from tether.lineage import authoring, kept
    from tether.lineage.edges import model

    head = workspace.head(call.workspace).commit
    if not paths or not head:
        return {}
    chronicle.bring_forward(call)
    known = index.Index(call.workspace.store_dir)
    try:
        number = known.read(lambda c: kept.number_of(c, git.Oid(head)))
        if number is None:
            return {}
        scopes = ("", call.workspace.root or "")
        found = known.read(lambda c: authoring.suggest(c, kept.Line(number), paths, scopes))
    finally:
        known.close()
    if found is None or not (found.files or found.tasks):
        return {}
    return {
        "at": clock.now_text(clock.SystemClock()),
        "commit": str(head),
        "from": list(paths),
        "context_files": [each.path for each in found.files],
        "tasks": [model.label(each.key) for each in found.tasks],
    }


def lines(found: dict[str, Any]) -> list[str]:
    """The same for people."""
    said = []
    if found.get("context_files"):
        some = ", ".join(text.one_line(path, 100) for path in found["context_files"])
        said.append(f"Often changed together with these files: {some}")
    if found.get("tasks"):
        said.append(f"Worked on them before: {', '.join(found['tasks'])}")
    return said
