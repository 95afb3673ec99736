"""`tether lineage reversal`: what undid, replaced or contradicts what."""

from __future__ import annotations

import click

from tether import text
from tether.cli import answers, cold, context
from tether.cli.lineage import asking, values, wording
from tether.cli.task import shown
from tether.hints import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tether.lineage import moments
    from tether.lineage.closures import reversals


class _Found(NamedTuple):
    of: str
    at: moments.Moment
    reversal: reversals.Reversal
    names: asking.Names
    commits: asking.Commits


@click.command()
@click.argument("what", metavar="SELECTOR|TASK")
@asking.narrowing(limit=200)
@cold.answering
@cold.pass_call
def reversal(
    call: context.Context, what: str, as_of: str | None, min_confidence: float, limit: int
) -> answers.Answer:
    """Show what undid, replaced or contradicts what, around some code or around a task."""
    narrowed = asking.Narrowed(as_of or "", min_confidence, limit)
    found = asking.ask(call, narrowed, lambda asked: _found(call, asked, what, limit))
    value = {
        "of": text.clean(found.of),
        "as_of": asking.moment_value(found.at),
        "chains": [
            {
                "nodes": [text.clean(node) for node in each.nodes],
                "edges": [values.edge(edge) for edge in each.edges],
            }
            for each in found.reversal.chains
        ],
        "commits": [values.undone(each) for each in found.reversal.commits],
        "truncated": found.reversal.is_truncated,
        "nodes": values.nodes(found.names),
    }
    least = asking.at_least(min_confidence)
    page = asking.Page(lambda width: _lines(found, least, width), f"reversal {what}")
    return asking.answer(call, value, page)


def _found(call: context.Context, asked: asking.Asked, what: str, limit: int) -> _Found:
    from tether.lineage import naming
    from tether.lineage.closures import reversals

    of, nodes = naming.task(asked.connection, what), ()
    if of is None:
        words = asking.selector_of(call, what)
        target = asked.code(words)
        found = reversals.reversal(asked.seen, target.nodes, limit=limit)
        of = target.key or f"path:{target.path}"
    else:
        found = reversals.reversal(asked.seen, nodes, of, limit=limit)
    keys = [of, *(node for chain in found.chains for node in chain.nodes)]
    commits = asked.commits(f"commit:{each.of}" for each in found.commits)
    return _Found(of, asked.at, found, asked.names(keys), commits)


def _lines(found: _Found, least: str, width: int) -> list[str]:
    names, chains = found.names, found.reversal.chains
    whose = wording.described(names, found.of)
    commits = found.reversal.commits
    if not chains and not commits:
        said = f"{whose}: nothing is known{least} to undo, replace or contradict it"
        return shown.wrapped(f"{said}{asking.as_of(found.at)}.", width)
    counts = [f"{text.counted(len(chains), 'chain')} of reversals"] if chains else []
    counts += [f"{text.counted(len(commits), 'commit')} taken back"] if commits else []
    lines = shown.wrapped(f"{whose}: {', '.join(counts)}{asking.as_of(found.at)}.", width)
    for chain in chains:
        lines += ["", *(_told(names, node, width) for node in chain.nodes)]
        rows = [wording.row(edge, wording.sentence(names, edge)) for edge in chain.edges]
        lines += [f"  {line}" for line in wording.edges(rows, width - 2)]
    if commits:
        lines += ["", "Commits:", *wording.undone(commits, found.commits, width)]
    if found.reversal.is_truncated:
        lines += ["", "There is more: `--limit` shows more."]
    return lines


def _told(names: asking.Names, node: str, width: int) -> str:
    return text.one_line(wording.described(names, node), width)
