"""`tether lineage decision`: what a decision governs, and what became of it."""

from __future__ import annotations

import click

from tether import text
from tether.cli import answers, cold, context
from tether.cli.lineage import asking, values, wording
from tether.cli.task import shown
from tether.hints import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tether.lineage import moments
    from tether.lineage.closures import decisions
    from tether.lineage.derive.decisions import suspecting


class _Found(NamedTuple):
    at: moments.Moment
    decision: decisions.Decision
    suspected: tuple[suspecting.Suspected, ...]
    names: asking.Names


class _Listed(NamedTuple):
    at: moments.Moment
    keys: tuple[str, ...]
    suspected: tuple[suspecting.Suspected, ...]
    names: asking.Names
    is_truncated: bool


@click.command()
@click.argument("decision_id", metavar="[ID]", required=False)
@asking.narrowing(limit=200)
@cold.answering
@cold.pass_call
def decision(
    call: context.Context,
    decision_id: str | None,
    as_of: str | None,
    min_confidence: float,
    limit: int,
) -> answers.Answer:
    """Show what a decision governs, what it replaced, what replaced it, and which tasks it has.

    ID is its name, its id as people cite it, or its number. Without ID all decisions are listed,
    and those that a later one seems to replace though neither says so.
    """
    narrowed = asking.Narrowed(as_of or "", min_confidence, limit)
    if decision_id is None:
        listed = asking.ask(call, narrowed, lambda asked: _listed(call, asked, limit))
        page = asking.Page(lambda width: _list_lines(listed, width), "decisions")
        return asking.answer(call, _list_value(listed), page)
    words = decision_id
    found = asking.ask(call, narrowed, lambda asked: _found(call, asked, words, limit))
    least = asking.at_least(min_confidence)
    page = asking.Page(lambda width: _lines(found, least, width), f"decision {found.decision.key}")
    return asking.answer(call, _value(found), page)


def _found(call: context.Context, asked: asking.Asked, words: str, limit: int) -> _Found:
    from tether.lineage import naming
    from tether.lineage.closures import decisions
    from tether.lineage.edges import model

    key = naming.require_decision(asked.seen, words)
    found = decisions.decision(asked.seen, key, limit=limit)
    name = model.label(key)
    # Only what is in force can be replaced, or replace something.
    suspected = tuple(
        each for each in _suspected(call, asked) if name in (each.later, each.earlier)
    )
    keys = [key, *found.newer, *found.older, *(each.object for each in found.governed)]
    keys += [each.other for each in (*found.tasks, *found.decisions)]
    keys += [model.decision_key(n) for each in suspected for n in (each.later, each.earlier)]
    return _Found(asked.at, found, suspected, asked.names(keys))


def _listed(call: context.Context, asked: asking.Asked, limit: int) -> _Listed:
    from tether.lineage import naming
    from tether.lineage.edges import model

    known = naming.decisions(asked.seen, asked.aim.line)
    suspected = tuple(_suspected(call, asked))
    keys = [*known[:limit]]
    keys += [model.decision_key(n) for each in suspected for n in (each.later, each.earlier)]
    names = asked.names(keys)
    return _Listed(asked.at, tuple(known[:limit]), suspected, names, len(known) > limit)


def _suspected(call: context.Context, asked: asking.Asked) -> list[suspecting.Suspected]:
    """The pairs of those decisions that were there by then."""
    from tether.lineage import naming
    from tether.lineage.derive import suspicions
    from tether.lineage.edges import model

    known = set(naming.decisions(asked.seen, asked.aim.line))
    found = suspicions.suspected(asked.who.git, asked.at.commit, call.witness.finder.find)
    return [
        each
        for each in found
        if known.issuperset(map(model.decision_key, (each.later, each.earlier)))
    ]


# For programs


def _value(found: _Found) -> dict[str, Any]:
    it = found.decision
    return {
        "decision": text.clean(it.key),
        "as_of": asking.moment_value(found.at),
        "newer": [text.clean(each) for each in it.newer],
        "older": [text.clean(each) for each in it.older],
        "chain": [values.edge(each) for each in it.chain],
        "governs": [values.edge(each) for each in it.governed],
        "tasks": [_side_value(each) for each in it.tasks],
        "decisions": [_side_value(each) for each in it.decisions],
        "suspected": [_suspected_value(each) for each in found.suspected],
        "truncated": it.is_truncated,
        "nodes": values.nodes(found.names),
    }


def _side_value(side: Any) -> dict[str, Any]:
    return {**values.edge(side.edge), "reads": side.type, "other": text.clean(side.other)}


def _suspected_value(each: suspecting.Suspected) -> dict[str, Any]:
    return {
        "later": text.clean(f"decision:{each.later}"),
        "earlier": text.clean(f"decision:{each.earlier}"),
        "score": each.score,
        "reasons": [text.clean(reason) for reason in each.reasons],
    }


def _list_value(listed: _Listed) -> dict[str, Any]:
    return {
        "as_of": asking.moment_value(listed.at),
        "decisions": [text.clean(each) for each in listed.keys],
        "suspected": [_suspected_value(each) for each in listed.suspected],
        "truncated": listed.is_truncated,
        "nodes": values.nodes(listed.names),
    }


# For people


def _lines(found: _Found, least: str, width: int) -> list[str]:
    it, names = found.decision, found.names
    own = names[it.key]
    lines = shown.wrapped(f"{wording.described(names, it.key)}{asking.as_of(found.at)}", width)
    if own.place:
        lines.append(f"  {text.one_line(own.place, 200)}")
    chain = [*reversed(it.newer), it.key, *it.older]
    if len(chain) > 1:
        lines += ["", "The newest first:"]
        lines += [
            text.one_line(f"{'*' if key == it.key else ' '} {wording.described(names, key)}", width)
            for key in chain
        ]
    for title, sides in (("Tasks:", it.tasks), ("Other decisions:", it.decisions)):
        if sides:
            rows = [wording.row(e.edge, _side(names, e.type, e.other)) for e in sides]
            lines += ["", title, *wording.edges(rows, width)]
    if it.governed:
        rows = [wording.row(each, _side(names, "governs", each.object)) for each in it.governed]
        lines += ["", "Code:", *wording.edges(rows, width)]
    if len(chain) == 1 and not (it.tasks or it.decisions or it.governed):
        lines += ["", f"Nothing refers to it{least}, and it names no code that is known."]
    lines += _suspected_lines(found.suspected, names, width)
    if it.is_truncated:
        lines += ["", "There is more: `--limit` shows more."]
    return lines


def _side(names: asking.Names, type_name: str, other: str) -> wording.Said:
    return lambda room: wording.fitted(type_name, names, other, room)


def _suspected_lines(
    some: tuple[suspecting.Suspected, ...], names: asking.Names, width: int
) -> list[str]:
    if not some:
        return []
    lines = ["", "Perhaps replaced, though neither says so:"]
    for each in some:
        later, earlier = (names[f"decision:{n}"] for n in (each.later, each.earlier))
        said = f"{each.score:.2f}  {later.label} seems to replace {earlier.label}"
        lines += shown.wrapped(said, width, "      ")
        for reason in each.reasons:
            lines += shown.wrapped(f"      {text.one_line(reason, 300)}", width, "  ")
    said = "If so, write “Superseded by” into the earlier one, or declare it in work/lineage.yaml."
    return [*lines, *shown.wrapped(said, width, "")]


def _list_lines(listed: _Listed, width: int) -> list[str]:
    names = listed.names
    if not listed.keys:
        said = "No decisions are known: they are found in directories called adr or decisions."
        return shown.wrapped(f"{said}{asking.as_of(listed.at)}", width, "")
    count = text.counted(len(listed.keys), "decision")
    lines = [f"{count}{asking.as_of(listed.at)}.", ""]
    rows: list[wording.Row] = []
    for key in listed.keys:
        each = names[key]
        label = wording.short(text.one_line(each.label, 200), 40)
        # As of a time nobody knows how they stood.
        status = () if listed.at.words else (text.one_line(each.status, 20) or "-",)
        rows.append(((label, *status), _title(each.title)))
    lines += wording.columns(rows, width)
    if listed.is_truncated:
        lines += ["", "There are more: `--limit` shows more."]
    return [*lines, *_suspected_lines(listed.suspected, names, width)]


def _title(title: str) -> wording.Said:
    return lambda room: text.one_line(title, room)
