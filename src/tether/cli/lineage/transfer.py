"""`tether lineage export` and `import`: a part of the graph, carried from clone to clone."""

from __future__ import annotations

import os
import re
import sys

import click

from tether import errors, files, git, text
from tether.cli import answers, cold, context
from tether.cli.lineage import asking, chronicle
from tether.cli.task import shown
from tether.hints import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tether.lineage import naming, portable, walking

_MOST_DRAWN, _MOST_NODES = 60, 5_000
_DIGEST = re.compile(r"[0-9a-f]{4,24}")


class _Part(NamedTuple):
    """What is to be written."""

    part: walking.Part
    document: portable.Document | None
    """None if it is to be drawn."""
    names: dict[str, naming.Name]


@click.command()
@click.argument("what", metavar="[SELECTOR|TASK]", required=False)
@click.option("--all", "everything", is_flag=True, help="All that has edges.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("json", "mermaid")),
    default="json",
    show_default=True,
    help="For `tether lineage import`, or to look at.",
)
@click.option(
    "--depth",
    default=1,
    show_default=True,
    metavar="N",
    type=click.IntRange(0, 6),
    help="So many edges far.",
)
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, 1_000_000),
    help=f"At most so many nodes.  [default: {_MOST_DRAWN} in a diagram, {_MOST_NODES} as JSON,"
    " which with --all has none]",
)
@click.option(
    "--min-confidence",
    metavar="SHARE",
    type=click.FloatRange(0, 1),
    help="What is less sure is left out.  [default: 0.5 in a diagram, as JSON 0]",
)
@chronicle.as_of_option
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Write to this new file.")
@cold.answering
@cold.pass_call
def export(
    call: context.Context,
    what: str | None,
    everything: bool,
    form: str,
    depth: int,
    limit: int | None,
    min_confidence: float | None,
    as_of: str | None,
    output: str | None,
) -> answers.Answer:
    """Write a part of the graph: some code or a task with all that it has edges to.

    As JSON another clone takes it up with `tether lineage import`; a diagram is drawn by Mermaid.
    """
    if (what is None) is not everything:
        raise errors.UsageError(
            "Name some code or a task, or say --all.", hint="See `tether lineage export --help`."
        )
    is_drawn = form == "mermaid"
    usual = _MOST_DRAWN if is_drawn else (10**9 if everything else _MOST_NODES)
    least = min_confidence if min_confidence is not None else (0.5 if is_drawn else 0.0)
    narrowed = asking.Narrowed(as_of or "", least, limit or usual)
    found = asking.ask(
        call, narrowed, lambda asked: _part(call, asked, what, depth, form, narrowed)
    )
    content = _diagram(found) if found.document is None else _document(found.document)
    value: dict[str, Any] = {
        "format": form,
        "nodes": len(found.part.keys),
        "edges": len(found.part.edges),
        "truncated": found.part.is_truncated,
    }
    if output is not None:
        value["path"] = _written(call, output, content)
        said = f"Exported {_counted(found)} to {text.one_line(output, 200)}."
        more = " There is more: `--limit` writes more." if found.part.is_truncated else ""
        return answers.Answer("export", value, lambda: said + more)
    if is_drawn:
        value = {"diagram": {**value, "mermaid": content}}
    else:
        import msgspec

        value = {"export": msgspec.to_builtins(found.document)}
    is_fenced = is_drawn and call.is_agent
    return answers.Answer(
        "",
        value,
        lambda: answers.told(content, source="lineage", for_agent=True) if is_fenced else content,
    )


def _part(
    call: context.Context,
    asked: asking.Asked,
    what: str | None,
    depth: int,
    form: str,
    narrowed: asking.Narrowed,
) -> _Part:
    from tether.lineage import walking

    if what is None:
        part = walking.everything(asked.seen, limit=narrowed.limit)
    else:
        start = _start(asked, asking.selector_of(call, what))
        part = walking.around(asked.seen, start, depth=depth, limit=narrowed.limit)
    names = asked.names(part.keys)
    if form == "mermaid":
        return _Part(part, None, names)
    workspace_id = call.settings.workspace_id
    own = str(workspace_id) if workspace_id else None
    document = walking.document(
        asked.seen, part, names, commit=str(asked.at.commit), workspace_id=own
    )
    return _Part(part, document, names)


def _start(asked: asking.Asked, words: str) -> tuple[int, ...]:
    """The nodes from which a part is drawn."""
    from tether.lineage import naming

    key = naming.task(asked.connection, words) or (
        naming.require_decision(asked.seen, words) if words.startswith("decision:") else None
    )
    if key is None:
        return asked.code(words).nodes
    number = asked.seen.number(key)
    return (number,) if number is not None else ()


def _diagram(found: _Part) -> str:
    from tether.lineage import mermaid

    cut = "more was left out, --limit draws more"
    notes = [_counted(found), *([cut] if found.part.is_truncated else [])]
    return mermaid.diagram(found.part.keys, found.part.edges, found.names, notes=notes)


def _document(document: portable.Document) -> str:
    from tether.lineage import portable

    return portable.encode(document).decode()


def _counted(found: _Part) -> str:
    nodes, edges = len(found.part.keys), len(found.part.edges)
    return f"{text.counted(nodes, 'node')} and {text.counted(edges, 'edge')}"


def _written(call: context.Context, output: str, content: str) -> str:
    """Write a new file; its path."""
    directory, name = os.path.split(os.path.abspath(output))
    if not os.path.isdir(directory) or not name:
        raise errors.NotFound("There is no such directory to export into. Nothing was written.")
    root = files.Root(directory, like=call.workspace.common_dir)
    root.write_atomic(name, content.encode(), replace=False)
    return os.path.join(directory, name)


# Taking up


@click.command("import")
@click.argument("file", metavar="[FILE]", type=click.Path(), required=False)
@click.option("--forget", metavar="DIGEST", help="Take an import back.")
@cold.answering
@cold.pass_call
def import_(call: context.Context, file: str | None, forget: str | None) -> answers.Answer:
    """Take up what another clone exported as JSON. FILE may be - for stdin.

    It is kept in the store directory, and counts from then on as what others say: its edges are
    those of the deriver `external`. What this clone knows from its own commits is not taken twice.
    Without FILE, what was imported is listed.
    """
    if file is not None and forget is not None:
        raise errors.UsageError(
            "FILE and --forget exclude each other. Nothing was changed.",
            hint="See `tether lineage import --help`.",
        )
    if file is None and forget is None:
        return _imports(call)
    chronicle.require_store(call)
    call.store.ensure_writable()
    return _forgotten(call, forget) if forget is not None else _taken(call, file or "-")


def _taken(call: context.Context, file: str) -> answers.Answer:
    from tether.lineage import imports, portable

    raw = _content(file)
    found = portable.decode(raw)
    _require_ours(call, found.document)
    is_new = imports.keep(call.workspace.store_dir, raw)
    digest = imports.digest_of(raw)
    problems = _derived(call)
    nodes, edges = len(found.document.nodes), len(found.document.edges)
    value = {
        "digest": digest,
        "new": is_new,
        "nodes": nodes,
        "edges": edges,
        "truncated": found.document.truncated,
        "problems": problems,
    }
    said = f"{text.counted(nodes, 'node')} and {text.counted(edges, 'edge')}"
    lines = [f"{'Imported' if is_new else 'Imported before:'} {said}, as {digest}."]
    if is_new:
        lines.append(f"`tether lineage import --forget {digest}` takes that back.")
    return answers.Answer("import", value, lambda: "\n".join([*lines, *problems]))


def _content(file: str) -> bytes:
    from tether.lineage import imports

    try:
        if file == "-":
            raw = sys.stdin.buffer.read(imports.MAX_BYTES + 1)
        else:
            with open(file, "rb") as source:
                raw = source.read(imports.MAX_BYTES + 1)
    except OSError as problem:
        raise errors.NotFound(
            f"The export cannot be opened: {problem.strerror}. Nothing was imported.",
            hint="Name a file that `tether lineage export` wrote.",
        ) from problem
    if len(raw) > imports.MAX_BYTES:
        raise errors.FileTooLarge(
            f"The export has more than {imports.MAX_BYTES // 1024 // 1024} MiB."
            " Nothing was imported.",
            hint="Export a part of it, or with --min-confidence.",
        )
    return raw


def _require_ours(call: context.Context, document: portable.Document) -> None:
    """What another repository says of its T1 is nothing about ours."""
    own = call.settings.workspace_id
    if own and document.workspace_id and document.workspace_id != str(own):
        raise errors.NotAllowed(
            "The export is of another workspace than this repository. Nothing was imported.",
            hint="Export it in a clone of this repository: tether.toml has the same workspace_id.",
        )


def _forgotten(call: context.Context, digest: str) -> answers.Answer:
    from tether.lineage import imports

    known = imports.there(call.workspace.store_dir)
    is_one = _DIGEST.fullmatch(digest) is not None
    found = [each for each in known if is_one and each.startswith(digest)]
    if len(found) != 1:
        raise errors.NotFound(
            f"{'Several imports begin' if found else 'No import begins'} with"
            f" {text.one_line(digest, 40)}. Nothing was changed.",
            hint="`tether lineage import` lists them.",
        )
    imports.forget(call.workspace.store_dir, found[0])
    problems = _derived(call)
    value = {"digest": found[0], "forgotten": True, "problems": problems}
    said = f"Forgotten: {found[0]}. Nothing of it counts any more."
    return answers.Answer("import", value, lambda: "\n".join([said, *problems]))


def _derived(call: context.Context) -> list[str]:
    """Have the index follow at once; what is in the way of that."""
    with chronicle.of(call) as who:
        try:
            is_known = who.refresh(git.Git(call.workspace.place).resolve("HEAD"))
        except errors.NoCommits:
            is_known = False
    return [] if is_known else ["The index follows with the next `tether lineage rebuild`."]


def _imports(call: context.Context) -> answers.Answer:
    """What was imported."""
    from tether.lineage import imports

    root = os.path.join(call.workspace.store_dir, imports.DIRECTORY)
    found = [
        {"digest": digest, "bytes": os.path.getsize(os.path.join(root, f"{digest}.json"))}
        for digest in imports.there(call.workspace.store_dir)
    ]
    rows = [("DIGEST", "BYTES"), *((str(e["digest"]), str(e["bytes"])) for e in found)]
    said = shown.table(rows, shown.width()) if found else "Nothing was imported."
    return answers.Answer("imports", found, lambda: said)
