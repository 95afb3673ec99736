"""`tether lineage feedback`: somebody says of an edge that it is right, or that it is wrong."""

from __future__ import annotations

import click

from tether import git, text
from tether.cli import answers, cold, context
from tether.cli.lineage import asking, chronicle, edges, values, wording
from tether.cli.task import shown
from tether.hints import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from tether.lineage.edges import reading


class _Judged(NamedTuple):
    edge: reading.Edge
    others: tuple[reading.Edge, ...]
    """What other derivers say just so."""
    names: asking.Names


@click.command()
@click.argument("edge")
@click.argument("verdict", type=click.Choice(("right", "wrong")))
@click.option("--why", default="", metavar="TEXT", help="Why, for who mends the deriver.")
@cold.answering
@cold.pass_call
def feedback(
    call: context.Context, edge: str, verdict: Literal["right", "wrong"], why: str
) -> answers.Answer:
    """Say of an edge that it is right, or that it is wrong: no answer counts it from then on.

    EDGE is what `tether lineage edges` and `feature` call it. The last word counts, for all who
    share the store, and it outlives a rebuild. `tether lineage stats` counts verdicts by deriver.
    """
    from tether.lineage import feedback as room

    chronicle.require_store(call)
    call.store.ensure_writable()
    with chronicle.of(call) as who:
        tip = git.Git(call.workspace.place).resolve("HEAD")
        asking.require_known(who, tip)
        found = asking.ask_of(
            call,
            who,
            tip,
            asking.Narrowed("", 0.0, 1),
            lambda asked: _found(asked, edge),
            with_wrong=True,
        )
        wrong = who.wrong()
    room.judge(call.store, found.edge.content, verdict, call.actor, why)
    others = tuple(each for each in found.others if each.content not in wrong)
    value = {
        **values.edge(found.edge),
        "verdict": verdict,
        "why": text.clean(why) or None,
        "by": text.clean(call.actor),
        "still_said_by": [values.edge(each) for each in others],
        "nodes": values.nodes(found.names),
    }
    page = asking.Page(
        lambda width: _lines(found._replace(others=others), verdict, width), f"edge {edge}"
    )
    return asking.answer(call, value, page)


def _found(asked: asking.Asked, ref: str) -> _Judged:
    from tether.lineage.edges import reading

    edge = edges.require_edge(asked, ref)
    alike = reading.around(asked.seen, edge.subject, types=(edge.type,), limit=10_000).sides
    others = [
        each.edge
        for each in alike
        if each.edge.object == edge.object and each.edge.source != edge.source
    ]
    return _Judged(edge, tuple(others), asked.names([edge.subject, edge.object]))


def _lines(found: _Judged, verdict: str, width: int) -> list[str]:
    edge = found.edge
    said = wording.sentence(found.names, edge)(width)
    lines = shown.wrapped(f"Judged {verdict}: {said}, as {edge.source} says.", width)
    if verdict == "right":
        return [
            *lines,
            *shown.wrapped("It counts as before, and for the precision of that.", width),
        ]
    if found.others:
        who = ", ".join(
            f"{each.source} ({each.ref}, {each.confidence:.2f})" for each in found.others
        )
        lines += shown.wrapped(f"The same is said by {who}, and that still counts.", width)
    else:
        lines += shown.wrapped("No answer counts it from now on.", width)
    back = f"`tether lineage feedback {edge.ref} right` takes that back."
    return [*lines, *shown.wrapped(back, width)]
