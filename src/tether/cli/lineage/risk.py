"""`tether lineage risk`: what to look at before some code is changed."""

from __future__ import annotations

import click

from tether import ids, text
from tether.cli import answers, cold, context
from tether.cli.lineage import asking, values, wording
from tether.cli.task import shown
from tether.hints import TYPE_CHECKING, NamedTuple
from tether.store import sql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tether.lineage import moments, targets
    from tether.lineage.closures import risks

_SQL = sql.Queries("lineage")


class _Found(NamedTuple):
    target: targets.Target
    at: moments.Moment
    risk: risks.Risk
    names: asking.Names
    commits: asking.Commits


@click.command()
@click.argument("selector")
@asking.narrowing(limit=20)
@cold.answering
@cold.pass_call
def risk(
    call: context.Context, selector: str, as_of: str | None, min_confidence: float, limit: int
) -> answers.Answer:
    """Show what may go wrong with a change of some code, as far as its past tells.

    That is the code that changes with it, work on it or on that which was undone, dropped tasks
    that have to do with it, and documents that describe it.
    """
    narrowed = asking.Narrowed(as_of or "", min_confidence, limit)
    orphans = _orphans(call)
    found = asking.ask(call, narrowed, lambda asked: _found(call, asked, selector, orphans, limit))
    it = found.risk
    value = {
        **values.target(found.target),
        "as_of": asking.moment_value(found.at),
        "co_changed": [
            {
                "node": text.clean(each.node),
                "weight": round(each.weight, 4),
                "times": each.times,
                "changes": each.changes,
                "pointer": each.pointer,
            }
            for each in it.co_changed
        ],
        "undone": [{"node": text.clean(e.node), **values.edge(e.edge)} for e in it.undone],
        "commits": [values.undone(each) for each in it.commits],
        "dropped": [
            {
                "task": text.clean(each.task),
                "node": text.clean(each.node),
                "type": each.type,
                "finding": each.finding,
            }
            for each in it.dropped
        ],
        "described": [values.edge(each) for each in it.described],
        "truncated": it.is_truncated,
        "nodes": values.nodes(found.names),
    }
    least = asking.at_least(min_confidence)
    page = asking.Page(lambda width: _lines(found, least, width), f"risk {found.target.place}")
    return asking.answer(call, value, page)


def _orphans(call: context.Context) -> dict[str, str]:
    """Tasks with an open finding of the vacuum, each with the most probable one."""
    from tether.lineage.edges import model

    if not call.store.exists():
        return {}
    return {
        model.task_key(ids.TaskKey(row["source"], row["task_id"])): row["orphan_type"]
        for row in call.store.rows(_SQL.open_orphans)
    }


def _found(
    call: context.Context,
    asked: asking.Asked,
    selector: str,
    orphans: dict[str, str],
    limit: int,
) -> _Found:
    from tether.lineage import parts
    from tether.lineage.closures import risks

    words = asking.selector_of(call, selector)
    target = asked.code(words)
    code = parts.whole(asked.connection, asked.aim.line, target)
    found = risks.risk(asked.seen, code, orphans, limit=limit)
    keys = [each.node for each in found.co_changed]
    keys += [key for e in found.undone for key in (e.node, e.edge.subject, e.edge.object)]
    keys += [key for each in found.dropped for key in (each.task, each.node)]
    keys += [key for e in found.described for key in (e.subject, e.object)]
    commits = asked.commits(f"commit:{each.of}" for each in found.commits)
    return _Found(target, asked.at, found, asked.names(keys), commits)


def _lines(found: _Found, least: str, width: int) -> list[str]:
    it, target = found.risk, found.target
    parts = [
        part for table in (_changed, _reverted, _dropped, _described) if (part := table(found))
    ]
    is_risky = bool(parts or it.commits)
    said = "before it is changed, look at:" if is_risky else f"its past tells of no risk{least}."
    gone = ", which is gone" if target.is_gone else ""
    head = wording.code(target.name, target.place)
    lines = shown.wrapped(f"{head}{gone}{asking.as_of(found.at)}: {said}", width)
    for title, rows, arranged in parts:
        lines += ["", title, *arranged(rows, width)]
    if it.commits:
        lines += ["", "Commits taken back:", *wording.undone(it.commits, found.commits, width)]
    if it.is_truncated:
        lines += ["", "There is more: `--limit` shows more."]
    return lines


_Table = tuple[str, list["wording.Row"], "Callable[[Iterable[wording.Row], int], list[str]]"]


def _changed(found: _Found) -> _Table | None:
    rows: list[wording.Row] = [
        (
            (f"{e.weight:.2f}", f"{e.times} of {e.changes}", wording.pointer(e.pointer)),
            _place(found.names, e.node),
        )
        for e in found.risk.co_changed
    ]
    heading: wording.Row = (("WEIGHT", "TIMES", "LAST"), lambda _: "CODE")
    return ("What changes with it:", [heading, *rows], wording.columns) if rows else None


def _reverted(found: _Found) -> _Table | None:
    rows = [wording.row(each.edge, _undone(found.names, each)) for each in found.risk.undone]
    return ("What was undone:", rows, wording.edges) if rows else None


def _dropped(found: _Found) -> _Table | None:
    rows: list[wording.Row] = [
        (
            (each.finding.replace("_", " "), wording.described(found.names, each.task), each.type),
            _place(found.names, each.node),
        )
        for each in found.risk.dropped
    ]
    return ("What was dropped:", rows, wording.columns) if rows else None


def _described(found: _Found) -> _Table | None:
    rows = [wording.row(e, wording.sentence(found.names, e)) for e in found.risk.described]
    return ("What is written of it:", rows, wording.edges) if rows else None


def _place(names: asking.Names, key: str) -> wording.Said:
    return lambda room: wording.short(wording.label(names, key), room)


def _undone(names: asking.Names, each: risks.Undone) -> wording.Said:
    """`T9 reverts T4, of src/a.py#run`."""
    edge = each.edge
    front = f"{wording.label(names, edge.subject)} {edge.type} {wording.label(names, edge.object)}"
    return lambda room: (
        f"{front}: {wording.shortened(names, each.node, room - text.cells(front) - 2)}"
    )
