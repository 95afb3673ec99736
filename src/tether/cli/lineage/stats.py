"""`tether lineage stats`: how much of the code has a story, how good it is, and who reads it."""

from __future__ import annotations

import os

import click

from tether import errors, git, index, text
from tether.cli import answers, cold, context
from tether.cli.lineage import asking, chronicle, wording
from tether.cli.task import shown
from tether.hints import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tether.lineage import statistics

_MAX_WEEKS = 12


class _Found(NamedTuple):
    standing: statistics.Standing
    derivers: tuple[statistics.Deriver, ...]
    weeks: tuple[statistics.Week, ...]
    counts: dict[str, int]
    index_bytes: int
    names: asking.Names


@click.command()
@click.option(
    "--limit",
    default=5,
    show_default=True,
    metavar="N",
    type=click.IntRange(1, 1000),
    help="At most so many files and symbols that many tasks changed.",
)
@cold.answering
@cold.pass_call
def stats(call: context.Context, limit: int) -> answers.Answer:
    """Show how much of the code has a story, how good its edges are, and whether anybody reads it.

    Code has a story if a task made or changed it, and that is sure to 0.7. The precision of a
    deriver is counted from `tether lineage feedback`.
    """
    found = _measured(call, limit)
    page = asking.Page(lambda width: _lines(found, width), "lineage stats")
    return asking.answer(call, {"stats": _value(found)}, page)


def _measured(call: context.Context, limit: int) -> _Found:
    from tether.lineage import feedback, statistics, usage
    from tether.lineage.edges import model

    with chronicle.of(call) as who:
        tip = git.Git(call.workspace.place).resolve("HEAD")
        asking.require_known(who, tip)

        def sure(asked: asking.Asked) -> tuple[statistics.Standing, asking.Names]:
            number = asked.aim.line.number
            standing = statistics.standing(asked.seen, number, limit=limit)
            return standing, asked.names(each.node for each in standing.hot)

        said = feedback.read(call.store)

        def everything(
            asked: asking.Asked,
        ) -> tuple[tuple[statistics.Deriver, ...], dict[str, int]]:
            return statistics.derivers(asked.seen, said), statistics.counts(asked.seen)

        narrowed = asking.Narrowed("", model.SURE, limit)
        standing, names = asking.ask_of(call, who, tip, narrowed, sure)
        derivers, counts = asking.ask_of(
            call, who, tip, narrowed._replace(min_confidence=0.0), everything, with_wrong=True
        )
    weeks = statistics.weeks(usage.read(call.store))
    return _Found(standing, derivers, weeks, counts, _size(call.workspace.store_dir), names)


def _size(store_dir: str) -> int:
    try:
        return os.path.getsize(os.path.join(store_dir, index.FILE_NAME))
    except OSError as problem:
        raise errors.FileError(f"The index cannot be seen: {problem.strerror}.") from problem


# For programs


def _value(found: _Found) -> dict[str, Any]:
    standing = found.standing
    return {
        "languages": [
            {
                **each._asdict(),
                "share": _share(each.told, each.symbols),
                "line_share": _share(each.told_lines, each.lines),
            }
            for each in standing.shares
        ],
        "total": {
            **_total(found)._asdict(),
            "share": _share(_total(found).told, _total(found).symbols),
            "line_share": _share(_total(found).told_lines, _total(found).lines),
        },
        "stories": standing.stories,
        "incomplete": standing.incomplete,
        "incomplete_share": _share(standing.incomplete, standing.stories),
        "derivers": [
            {
                "deriver": each.name,
                "type": each.type,
                "edges": each.edges,
                "right": each.right,
                "wrong": each.wrong,
                "precision": each.precision,
            }
            for each in found.derivers
        ],
        "hot": [
            {
                "node": each.node,
                "kind": "file" if each.is_file else "symbol",
                "name": text.clean(found.names[each.node].label),
                "place": text.clean(found.names[each.node].place),
                "tasks": each.tasks,
                "weight": round(each.weight, 4),
            }
            for each in standing.hot
        ],
        "weeks": [each._asdict() for each in found.weeks],
        "counts": found.counts,
        "index_bytes": found.index_bytes,
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _total(found: _Found) -> statistics.Share:
    from tether.lineage import statistics

    sums = [
        sum(column) for column in zip(*(each[1:] for each in found.standing.shares), strict=True)
    ]
    return statistics.Share("all", *(sums or [0, 0, 0, 0]))


# For people


def _lines(found: _Found, width: int) -> list[str]:
    total = _total(found)
    told, lines_told = _percent(total.told, total.symbols), _percent(total.told_lines, total.lines)
    lines = [f"{told} of the symbols have a story, {lines_told} of their lines."]
    for part in (_languages, _hot, _derivers, _weeks):
        lines += part(found, width)
    counts = found.counts
    edges = counts["task_edges"] + counts["code_edges"]
    size = f"{found.index_bytes / 1_000_000:.1f} MB"
    has = f"{text.counted(counts['commits'], 'commit')}, {text.counted(counts['nodes'], 'node')}"
    said = f"The index has {has}, {counts['events']} events and {edges} edges in {size}."
    return [*lines, "", *shown.wrapped(said, width, "")]


def _languages(found: _Found, width: int) -> list[str]:
    standing = found.standing
    if not standing.shares:
        return []
    rows = [
        _row(
            (each.language, str(each.symbols), _percent(each.told, each.symbols), str(each.lines)),
            _percent(each.told_lines, each.lines),
        )
        for each in standing.shares
    ]
    heading = _row(("LANGUAGE", "SYMBOLS", "WITH A STORY", "LINES"), "WITH A STORY")
    lines = ["", *wording.columns([heading, *rows], width)]
    if standing.stories:
        share = _percent(standing.incomplete, standing.stories)
        noun = "story" if standing.stories == 1 else "stories"
        lines += ["", f"{standing.stories} {noun}, {share} of them with a gap."]
    return lines


def _hot(found: _Found, width: int) -> list[str]:
    lines: list[str] = []
    for title, is_file in (("Files that many tasks changed:", True), ("Symbols:", False)):
        rows: list[wording.Row] = [
            ((f"{e.weight:.2f}", text.counted(e.tasks, "task")), _place(found.names, e.node))
            for e in found.standing.hot
            if e.is_file is is_file
        ]
        lines += ["", title, *wording.columns(rows, width)] if rows else []
    return lines


def _derivers(found: _Found, width: int) -> list[str]:
    if not found.derivers:
        return ["", "No edge was derived yet."]
    rows = [
        _row(
            (each.name, each.type, str(each.edges), str(each.right), str(each.wrong)),
            "-" if each.precision is None else f"{each.precision:.2f}",
        )
        for each in found.derivers
    ]
    heading = _row(("DERIVER", "TYPE", "EDGES", "RIGHT", "WRONG"), "PRECISION")
    return ["", *wording.columns([heading, *rows], width)]


def _weeks(found: _Found, width: int) -> list[str]:
    if not found.weeks:
        return ["", "No story was shown yet."]
    rows = [
        _row((each.monday, str(each.shown)), str(each.expanded))
        for each in found.weeks[-_MAX_WEEKS:]
    ]
    return ["", *wording.columns([_row(("WEEK OF", "SHOWN"), "OPENED"), *rows], width)]


def _row(cells: tuple[str, ...], last: str) -> wording.Row:
    return cells, lambda _: last


def _place(names: asking.Names, key: str) -> wording.Said:
    return lambda room: wording.short(wording.label(names, key), room)


def _percent(part: int, whole: int) -> str:
    """`94 %`; only all of it is 100 %."""
    if not part:
        return "none"
    return f"{max(1, 100 * part // whole)} %"
