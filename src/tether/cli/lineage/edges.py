"""`tether lineage edges`: the edges of a node, all there are, and what one of them stands on."""

from __future__ import annotations

from collections.abc import Mapping

import click

from tether import errors, git, text
from tether.cli import answers, cold, context
from tether.cli.lineage import asking, chronicle, values, wording
from tether.cli.task import shown
from tether.hints import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tether.lineage import feedback as judging
    from tether.lineage import moments
    from tether.lineage.closures import shared
    from tether.lineage.edges import model, reading, view


class _Row(NamedTuple):
    """An edge, and how it reads from the node that was asked for."""

    edge: reading.Edge
    type: str
    other: model.Key


class _Found(NamedTuple):
    node: model.Key
    """Empty if it is all edges that are asked for."""
    at: moments.Moment
    rows: tuple[_Row, ...]
    shared: tuple[shared.CoTouch, ...]
    is_truncated: bool
    names: asking.Names


@click.command()
@click.argument("node", required=False)
@click.option(
    "--type",
    "types",
    multiple=True,
    metavar="TYPE",
    help="Only edges of this type, as it reads from NODE: supersedes, touched_by, …",
)
@click.option("--source", default="", metavar="DERIVER", help="Only what this deriver says.")
@click.option("--evidence", metavar="EDGE", help="Everything that one edge stands on.")
@asking.narrowing(limit=50)
@cold.answering
@cold.pass_call
def edges(
    call: context.Context,
    node: str | None,
    types: tuple[str, ...],
    source: str,
    evidence: str | None,
    as_of: str | None,
    min_confidence: float,
    limit: int,
) -> answers.Answer:
    """Show what a task, a decision or code has to do with others; without NODE, all edges.

    NODE is the id of a task, decision:ID, or a selector as `tether why` takes it. An edge reads as
    subject, type, object; --type co-touches and co-touches-symbol are computed for a task. EDGE is
    what the first column calls it.
    """
    narrowed = asking.Narrowed(as_of or "", min_confidence, limit)
    if evidence is not None:
        if node or types or source:
            raise errors.UsageError(
                "--evidence is about one edge: NODE, --type and --source do not go with it.",
                hint="Name the edge alone, as in `tether lineage edges --evidence t12`.",
            )
        return _opened(call, evidence, narrowed)
    wanted = [_type(each) for each in types]
    _require_deriver(source)
    found = _listed(call, node or "", wanted, source, narrowed)
    least = asking.at_least(min_confidence)
    return asking.answer(
        call,
        _value(found),
        asking.Page(lambda width: _lines(found, least, width), f"edges {node or 'all'}"),
    )


def _type(words: str) -> str:
    """A type of edges that somebody names, from either end."""
    from tether.lineage.derive import references
    from tether.lineage.edges import model

    known = {*model.TYPES, *model.INVERSES}
    exact = words if words in known else words.replace("_", "-")
    found = exact if exact in known else references.type_of(words)
    if found is None:
        names = ", ".join(sorted(model.TYPES))
        raise errors.UsageError(
            f"There is no type of edges '{text.one_line(words, 40)}'.",
            hint=f"There are {names}, and their inverses, as superseded_by.",
        )
    return found


def _require_deriver(source: str) -> None:
    from tether.lineage.edges import model

    if source and source not in model.DERIVERS:
        raise errors.UsageError(
            f"There is no deriver '{text.one_line(source, 40)}'.",
            hint=f"There are {', '.join(model.DERIVERS)}.",
        )


def _listed(
    call: context.Context, node: str, types: list[str], source: str, narrowed: asking.Narrowed
) -> _Found:
    from tether.lineage.closures import shared
    from tether.lineage.edges import model, reading

    computed = [each for each in types if each in model.SYMMETRIC]
    stored = [each for each in types if each not in model.SYMMETRIC]
    limit = narrowed.limit

    def question(asked: asking.Asked) -> _Found:
        if not node:
            if computed:
                raise errors.UsageError(
                    f"{computed[0]} is computed for one task.", hint="Name the task."
                )
            page = reading.raw(asked.seen, types=stored, source=source, limit=limit)
            rows = tuple(_Row(each, each.type, each.object) for each in page.edges)
            keys = [key for e in page.edges for key in (e.subject, e.object)]
            return _Found("", asked.at, rows, (), page.is_truncated, asked.names(keys))
        key = asked.node(asking.selector_of(call, node))
        rows, is_cut = (), False
        if stored or not types:
            sides = reading.around(asked.seen, key, types=stored, source=source, limit=limit)
            rows = tuple(_Row(each.edge, each.type, each.other) for each in sides.sides)
            is_cut = sides.is_truncated
        touches: tuple[shared.CoTouch, ...] = ()
        if computed:
            if not model.task_of(key):
                raise errors.UsageError(f"{computed[0]} is computed for tasks.")
            both = shared.co_touches(asked.seen, key, types=computed, limit=limit)
            touches, is_cut = both.found, is_cut or both.is_truncated
        keys = [key, *(each.other for each in rows), *(each.task for each in touches)]
        keys += [code for each in touches for code in each.nodes]
        return _Found(key, asked.at, rows, touches, is_cut, asked.names(keys))

    return asking.ask(call, narrowed, question)


def _value(found: _Found) -> dict[str, Any]:
    return {
        "node": text.clean(found.node) or None,
        "as_of": asking.moment_value(found.at),
        "edges": [
            {**values.edge(each.edge), "reads": each.type, "other": text.clean(each.other)}
            for each in found.rows
        ],
        "shared": [
            {
                "type": each.type,
                "task": text.clean(each.task),
                "weight": round(each.weight, 4),
                "shared": each.shared,
                "nodes": [text.clean(node) for node in each.nodes],
            }
            for each in found.shared
        ],
        "truncated": found.is_truncated,
        "nodes": values.nodes(found.names),
    }


def _lines(found: _Found, least: str, width: int) -> list[str]:
    names = found.names
    edge_count = len(found.rows) + len(found.shared)
    count = f"{text.counted(edge_count, 'edge')}{'' if edge_count else least}"
    whose = f"{wording.described(names, found.node)}: " if found.node else ""
    lines = shown.wrapped(f"{whose}{count}{asking.as_of(found.at)}.", width)
    if found.rows:
        lines += ["", *wording.table([_row(each, found) for each in found.rows], "SAYS", width)]
    if found.shared:
        heading = (("WEIGHT", "SHARED", "TYPE"), lambda _: "TASK")
        table = [_shared(names, each) for each in found.shared]
        lines += ["", *wording.columns([heading, *table], width)]
    if found.is_truncated:
        lines += ["", "There is more: `--limit` shows more."]
    return lines


def _row(each: _Row, found: _Found) -> wording.Row:
    if not found.node:
        return wording.row(each.edge, wording.sentence(found.names, each.edge))
    return wording.row(
        each.edge, lambda room: wording.fitted(each.type, found.names, each.other, room)
    )


def _shared(names: asking.Names, each: shared.CoTouch) -> wording.Row:
    """A task that shares code, with what weighs most of that."""
    task = wording.described(names, each.task)
    more = f" and {each.shared - 1} more" if each.shared > 1 else ""
    cells = (f"{each.weight:.2f}", str(each.shared), each.type)
    return (
        cells,
        lambda room: f"{wording.fitted(task, names, each.nodes[0], room - len(more))}{more}",
    )


# One edge


class _Opened(NamedTuple):
    edge: reading.Edge
    verdict: judging.Verdict | None
    proofs: reading.Proofs
    names: asking.Names
    commits: asking.Commits


def _opened(call: context.Context, ref: str, narrowed: asking.Narrowed) -> answers.Answer:
    """An edge with everything that it stands on."""
    from tether.lineage import feedback as judging
    from tether.lineage import usage

    said = {each.content: each for each in judging.read(call.store)}
    with chronicle.of(call) as who:
        tip = git.Git(call.workspace.place).resolve("HEAD")
        asking.require_known(who, tip)
        # Also of one that is judged wrong: whoever opens it wants to see why.
        everything = narrowed._replace(min_confidence=0.0)
        found = asking.ask_of(
            call,
            who,
            tip,
            everything,
            lambda asked: _open(asked, ref, narrowed.limit, said),
            with_wrong=True,
        )
    usage.count(call.store, usage.EXPANDED)
    value = {
        **values.edge(found.edge),
        "verdict": values.verdict(found.verdict) if found.verdict else None,
        "evidence": [values.evidence(each) for each in found.proofs.evidence],
        "truncated": found.proofs.is_truncated,
        "nodes": values.nodes(found.names),
        "commits": values.commits(found.commits),
    }
    return asking.answer(
        call, value, asking.Page(lambda width: _proof_lines(found, width), f"edge {ref}")
    )


def require_edge(asked: asking.Asked, ref: str) -> reading.Edge:
    """The edge of that name."""
    from tether.lineage.edges import reading

    edge = reading.edge(asked.seen, ref)
    if edge is None:
        raise errors.NotFound(
            f"No edge is called {text.one_line(ref, 40)} here.",
            hint="Edges are called t12 or c7; `tether lineage edges` lists them. A rebuild with"
            " --force names them anew.",
        )
    return edge


def _open(
    asked: asking.Asked, ref: str, limit: int, said: Mapping[view.Content, judging.Verdict]
) -> _Opened:
    from tether.lineage.edges import reading

    edge = require_edge(asked, ref)
    proofs = reading.evidence(asked.seen, ref, limit=limit)
    names = asked.names([edge.subject, edge.object])
    commits = asked.commits(each.pointer for each in proofs.evidence)
    return _Opened(edge, said.get(edge.content), proofs, names, commits)


def _proof_lines(found: _Opened, width: int) -> list[str]:
    edge, names = found.edge, found.names
    subject, target = (wording.described(names, key) for key in (edge.subject, edge.object))
    since = f", since {edge.at[:10]}" if edge.at else ""
    head = f"{edge.ref}: {subject} {edge.type} {target}. {edge.confidence:.2f}, by {edge.source}"
    lines = shown.wrapped(f"{head}{since}.", width)
    if found.verdict is not None:
        lines += shown.wrapped(wording.verdict(found.verdict), width)
    for each in found.proofs.evidence:
        where = wording.pointer(each.pointer, found.commits)
        lines += [
            "",
            *shown.wrapped(f"{each.confidence:.2f}  {wording.day(each.at)}  {where}", width),
        ]
        if said := wording.detail(each.detail):
            lines += shown.wrapped(f"      {said}", width, "      ")
    if found.proofs.is_truncated:
        lines += ["", "There is more: `--limit` shows more."]
    return lines
