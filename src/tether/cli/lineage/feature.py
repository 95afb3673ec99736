"""`tether lineage feature`: who worked on some code, and how that hangs together."""

from __future__ import annotations

import click

from tether import text
from tether.cli import answers, cold, context
from tether.cli.lineage import asking, values, wording
from tether.cli.task import shown
from tether.hints import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tether.lineage import moments, targets
    from tether.lineage.closures import features

_MAX_ROWS = 10


class _Found(NamedTuple):
    target: targets.Target
    at: moments.Moment
    feature: features.Feature
    names: asking.Names
    commits: asking.Commits


@click.command()
@click.argument("selector")
@asking.narrowing(limit=200)
@cold.answering
@cold.pass_call
def feature(
    call: context.Context, selector: str, as_of: str | None, min_confidence: float, limit: int
) -> answers.Answer:
    """Show the tasks of some code, the first one first, and the edges among them.

    SELECTOR is that of `tether why`, which tells the same as a story. Of too many tasks those that
    made the code are kept, and the newest.
    """
    from tether.lineage.closures import features

    narrowed = asking.Narrowed(as_of or "", min_confidence, limit)

    def question(asked: asking.Asked) -> _Found:
        words = asking.selector_of(call, selector)
        target = asked.code(words)
        found = features.feature(asked.seen, target.nodes, limit=limit)
        keys = [each.key for each in found.tasks]
        keys += [one.edge.object for each in found.tasks for one in each.attributions]
        proofs = [e.pointer for t in found.tasks for one in t.attributions for e in one.evidence]
        return _Found(target, asked.at, found, asked.names(keys), asked.commits(proofs))

    found = asking.ask(call, narrowed, question)
    value = {
        **values.target(found.target),
        "as_of": asking.moment_value(found.at),
        **values.feature(found.feature),
        "nodes": values.nodes(found.names),
        "commits": values.commits(found.commits),
    }
    least = asking.at_least(min_confidence)
    page = asking.Page(lambda width: _lines(found, least, width), f"feature {found.target.place}")
    return asking.answer(call, value, page)


def _lines(found: _Found, least: str, width: int) -> list[str]:
    target, tasks, names = found.target, found.feature.tasks, found.names
    count = text.counted(len(tasks), "task") if tasks else f"no task is known{least}"
    gone = ", which is gone" if target.is_gone else ""
    head = wording.code(target.name, target.place)
    heading = f"{head}{gone}{asking.as_of(found.at)}: {count}."
    lines = shown.wrapped(heading, width)
    if target.fallback:
        lines += shown.wrapped(f"It is the file's, not the symbol's: {target.fallback}.", width)
    for task in tasks:
        head = f"{wording.day(task.at)}  {wording.described(names, task.key)}"
        lines += ["", *shown.wrapped(head, width)]
        rows = [_row(each, found) for each in task.attributions[:_MAX_ROWS]]
        lines += [f"  {line}" for line in wording.columns(rows, width - 2)]
        if left := len(task.attributions) - len(rows):
            lines.append(f"  and {left} more; --json has all")
    if found.feature.edges:
        rows = [wording.row(e, wording.sentence(names, e)) for e in found.feature.edges]
        lines += ["", *wording.table(rows, "AMONG THEM", width)]
    if found.feature.is_truncated:
        lines += ["", "There is more: `--limit` shows more."]
    if not tasks:
        lines.append("`tether why` tells of its commits.")
    return lines


def _row(each: features.Attribution, found: _Found) -> wording.Row:
    """`c12  0.95  created  kg-attribution  +12 lines, commit 1f2e3d4a5b`."""
    edge = each.edge
    first = each.evidence[0] if each.evidence else None
    said = []
    if first is not None:
        said += [wording.detail(first.detail), wording.pointer(first.pointer)]
    more = each.evidence_count - 1
    said += [f"and {more} more"] if more > 0 else []
    proof = ", ".join(filter(None, said))
    cells = (edge.ref, f"{edge.confidence:.2f}", edge.type, edge.source)
    if found.target.kind != "dir":
        return cells, lambda _: proof
    return (
        cells,
        lambda room: f"{wording.fitted('', found.names, edge.object, room * 2 // 3)}, {proof}",
    )
