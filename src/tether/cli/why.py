"""`tether why`: the biography of a piece of code."""

from __future__ import annotations

import sqlite3

import click

from tether import errors, git, text
from tether.cli import answers, cold, context
from tether.cli.lineage import chronicle
from tether.hints import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tether.lineage import chronicler
    from tether.lineage.biography import model
    from tether.lineage.closures import features

_MIN_BUDGET = 100


class _Told(NamedTuple):
    """A biography with what it stands on."""

    biography: model.Biography
    story: model.Story
    feature: features.Feature | None


@click.command()
@click.argument("selector")
@chronicle.as_of_option
@click.option(
    "--budget",
    default=2000,
    show_default=True,
    metavar="TOKENS",
    type=click.IntRange(_MIN_BUDGET, 200_000),
    help="At most about this much.",
)
@click.option("--sources", is_flag=True, help="Say behind each line where it is from.")
@click.option(
    "--min-confidence",
    default=0.7,
    show_default=True,
    metavar="SHARE",
    type=click.FloatRange(0, 1),
    help="What is less sure is left out, or told as uncertain.",
)
@cold.answering
@cold.pass_call
def why(
    call: context.Context,
    selector: str,
    as_of: str | None,
    budget: int,
    sources: bool,
    min_confidence: float,
) -> answers.Answer:
    """Say why a piece of code is the way it is: who made it what it is, and what for.

    SELECTOR is PATH:LINE, PATH#Class.name (or PATH::Class::name), Class.name alone, PATH for a file
    or a directory, or one of file:, dir:, symbol: and node: in front. Every line has its source.
    What is new since the last question is read first; the first index of a history is made by
    `tether lineage rebuild`.
    """
    with chronicle.of(call) as who:
        repository = git.Git(call.workspace.place)
        tip = repository.resolve("HEAD")
        root = call.workspace.root
        named = selector.removeprefix(f"{root}/") if root else selector
        if who.refresh(tip):
            wrong = who.wrong()
            told = who.ask(
                lambda connection: _told(
                    call, who, connection, tip, named, as_of or "", budget, min_confidence, wrong
                )
            )
        else:
            told = _unindexed(call, who, tip, named, as_of or "", budget, min_confidence)
        _count(call, "shown")
    return answers.Answer(
        "",
        _value(told),
        lambda: answers.told(
            "\n".join(_lines(told, sources)), source=f"why {selector}", for_agent=call.is_agent
        ),
        None if call.is_agent else lambda columns: _wrapped(told, sources, columns),
    )


def _told(
    call: context.Context,
    who: chronicler.Chronicler,
    connection: sqlite3.Connection,
    tip: git.Oid,
    selector: str,
    as_of: str,
    budget: int,
    min_confidence: float,
    wrong: frozenset[Any],
) -> _Told:
    from tether.lineage import kept, naming
    from tether.lineage.biography import gathering, telling
    from tether.lineage.closures import features

    at = chronicle.moment(who, connection, tip, as_of)
    below = chronicle.below(call.workspace.root)
    seen = chronicle.seen(who, connection, at, min(min_confidence, 0.5), wrong)
    line, is_there = kept.Line(kept.number_of(connection, at.commit) or 0), False
    try:
        with who.aimed(connection, tip, below) as aim:
            target = naming.code(connection, aim, selector)
            is_there = True
            story = gathering.story(seen, who.git, target, line, as_of=as_of)
    except errors.NotFound as problem:
        if at.commit == tip:
            raise
        try:
            # It may have been called so then.
            with who.aimed(connection, at.commit, below) as aim:
                target = naming.code(connection, aim, selector)
                story = gathering.story(seen, who.git, target, line, as_of=as_of)
        except errors.NotFound as other:
            if not is_there:
                raise problem from other
            from tether.cli.lineage import asking

            raise asking.not_yet(selector, at) from problem
    feature = features.feature(seen, target.nodes)
    biography = telling.tell(story, budget=budget, min_confidence=min_confidence)
    return _Told(biography, story, feature)


def _unindexed(
    call: context.Context,
    who: chronicler.Chronicler,
    tip: git.Oid,
    selector: str,
    as_of: str,
    budget: int,
    min_confidence: float,
) -> _Told:
    """From Git alone: for one symbol that is enough."""
    from tether.lineage import installed, sandbox
    from tether.lineage.biography import telling, unindexed

    if as_of or selector.startswith("node:"):
        from tether.cli.lineage import asking

        raise asking.unknown(who, tip)
    place = call.workspace
    repository = git.Git(place.place)
    finder = call.witness.finder
    below = chronicle.below(place.root)
    for prefix in ("file:", "dir:", "symbol:"):
        selector = selector.removeprefix(prefix)
    path = f"{below}/{selector}" if below else selector
    entry = next(iter(repository.tree(tip, paths=[path])), None)
    if entry is not None:
        is_directory = entry.path != path
        story = unindexed.of_path(
            repository, finder, selector, path, tip, is_directory=is_directory
        )
    else:
        installed.require()
        with sandbox.Sandbox(place.place, place.store_dir) as box:
            told = box.history(tip, selector, below)
        story = unindexed.of_symbol(repository, finder, selector, told.symbol, told.history)
    biography = telling.tell(story, budget=budget, min_confidence=min_confidence)
    return _Told(biography, story, None)


def _count(call: context.Context, what: str) -> None:
    """Count that a story was shown: what nobody reads is not worth keeping."""
    from tether.lineage import usage

    usage.count(call.store, what)


# For programs


def _value(told: _Told) -> dict[str, Any]:
    biography, story = told.biography, told.story
    return {
        "selector": text.clean(story.selector),
        "node": story.node or None,
        "prose": biography.prose,
        "lines": [
            {
                "text": each.text,
                "sources": [source._asdict() for source in each.sources],
            }
            for each in biography.lines
        ],
        "feature": _feature(told.feature),
        "truncated": biography.is_truncated,
        "dropped_count": biography.dropped_count,
        "untrusted": ["prose", "text"],
    }


def _feature(found: features.Feature | None) -> dict[str, Any]:
    from tether.cli.lineage import values

    return values.feature(found) if found else {"tasks": [], "edges": [], "truncated": False}


# For people


def _lines(told: _Told, with_sources: bool) -> list[str]:
    lines = []
    for each in told.biography.lines:
        lines.append(each.text)
        if with_sources:
            pointers = dict.fromkeys(source.pointer for source in each.sources)
            lines += [f"    {text.one_line(pointer, 200)}" for pointer in pointers]
    return lines


def _wrapped(told: _Told, with_sources: bool, columns: int) -> list[list[answers.Piece]]:
    from tether.cli.task import shown

    pieces: list[list[answers.Piece]] = []
    for number, each in enumerate(told.biography.lines):
        style = "bold" if number == 0 else ""
        rows = shown.wrapped(text.one_line(each.text, 5000), columns)
        pieces += [[answers.Piece(row, style)] for row in rows]
        if with_sources:
            pointers = dict.fromkeys(source.pointer for source in each.sources)
            pieces += [[answers.Piece(f"    {text.one_line(p, 200)}", "dim")] for p in pointers]
    return pieces
