"""`tether lineage history`: what became of a symbol, from Git alone."""

from __future__ import annotations

import os

import click

from tether import clock, errors, git, text
from tether.cli import answers, cold, context
from tether.cli.task import shown
from tether.hints import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tether.lineage import history as model
    from tether.lineage import sandbox

_SHORT = 10
_INDENT = " " * 4
# Seen from the part, and from the whole.
_RELATIONS = {
    "split_from": ("split from", "split off:"),
    "merged_into": ("merged into", "took in"),
    "inlined_into": ("inlined into", "took in"),
}


@click.command()
@click.argument("selector")
@click.option("--at", "revision", metavar="COMMIT", help="Where to begin.  [default: HEAD]")
@click.option(
    "--limit",
    default=50,
    show_default=True,
    metavar="N",
    type=click.IntRange(1, 100_000),
    help="On a terminal or in a text: at most the newest N. JSON has all.",
)
@click.option(
    "--related",
    is_flag=True,
    help="Look at every change for what was split from it and what went into it: takes longer."
    " The index always has that.",
)
@cold.answering
@cold.pass_call
def history(
    call: context.Context, selector: str, revision: str | None, limit: int, related: bool
) -> answers.Answer:
    """Show what became of a function, a class or a section, through renames and moves.

    SELECTOR is PATH:LINE, PATH:FIRST-LAST, PATH#Class.name (or PATH::Class::name), or Class.name
    alone, which is looked for in all files. The end of a name is enough if there is only one; `@2`
    takes the second of those that are called the same in a file. `node:ID` is looked for in the
    index, up to where `tether lineage rebuild` brought it.
    """
    from tether.lineage import installed, sandbox

    installed.require()
    place = call.workspace
    repository = git.Git(place.place)
    if selector.startswith("node:"):
        if revision is not None:
            raise errors.UsageError(
                "--at does not go with node:ID: the index tells all that it knows of a node.",
                hint="Leave --at out, or name the symbol as that commit has it: PATH#name.",
            )
        commit, told = _of_node(place.store_dir, selector)
    else:
        commit = repository.resolve(revision or "HEAD")
        named = selector.removeprefix(f"{place.root}/") if place.root else selector
        with sandbox.Sandbox(place.place, place.store_dir) as box:
            told = box.history(commit, named, _below(place.root), everywhere=related)
    found = list(dict.fromkeys(each.commit for each in told.history.changes))
    commits = {each.oid: each for each in repository.commits(found)}
    page = _Page(told, commits, commit, limit)
    return answers.Answer(
        "history",
        _value(told, commits, commit),
        lambda: answers.told(
            "\n".join(page.lines(shown.width())),
            source=f"symbol {told.symbol.qualified}",
            for_agent=call.is_agent,
        ),
        lambda width: [[answers.Piece(line)] for line in page.lines(width)],
    )


def _of_node(store_dir: str, node: str) -> tuple[git.Oid, sandbox.Told]:
    """The history of a node that the index knows, also if it is gone."""
    from tether.lineage import identities, sandbox

    known = identities.Identities(store_dir)
    told = known.history(node)
    known.close()
    last = told.changes[0] if told and told.changes else None
    symbol = (last.after or last.before) if last else None
    if told is None or last is None or symbol is None:
        raise errors.NotFound(
            "The index has no such node.", hint="Bring it up to date with `tether lineage rebuild`."
        )
    return last.commit, sandbox.Told(symbol, told)


def _below(root: str | None) -> str:
    """The current directory, from the top of the checkout."""
    if root is None:
        return ""
    found = os.path.relpath(os.path.realpath(os.getcwd()), root)
    return "" if found.startswith("..") or found == "." else found


# For programs


def _value(told: sandbox.Told, commits: dict[git.Oid, git.Commit], at: git.Oid) -> dict[str, Any]:
    return {
        "symbol": {**_place_value(told.symbol), "commit": at, "node": told.history.node},
        "changes": [_change_value(each, commits.get(each.commit)) for each in told.history.changes],
        "unknown": [text.clean(each) for each in told.history.unknown],
        "untrusted": ["author", "subject", "path", "qualified", "name", "signature", "unknown"],
    }


def _change_value(each: model.Change, commit: git.Commit | None) -> dict[str, Any]:
    return {
        "commit": each.commit,
        "at": clock.text(commit.authored_ms) if commit else None,
        "author": text.clean(commit.author_name) if commit else None,
        "subject": text.clean(commit.subject) if commit else None,
        "kinds": list(each.kinds),
        "before": _place_value(each.before) if each.before else None,
        "after": _place_value(each.after) if each.after else None,
        "confidence": each.confidence,
        "evidence": text.clean(each.evidence),
        "related": [_match_value(match) for match in each.related],
    }


def _match_value(match: model.Match) -> dict[str, Any]:
    return {
        "relation": match.relation,
        "before": _place_value(match.before) if match.before else None,
        "after": _place_value(match.after) if match.after else None,
        "kinds": list(match.kinds),
        "confidence": match.confidence,
        "evidence": text.clean(match.evidence),
    }


def _place_value(place: model.Place) -> dict[str, Any]:
    value = place._asdict()
    return {name: text.clean(v) if isinstance(v, str) else v for name, v in value.items()}


# For people


class _Page(NamedTuple):
    """A history as people read it, the newest first."""

    told: sandbox.Told
    commits: dict[git.Oid, git.Commit]
    at: git.Oid
    limit: int

    def lines(self, width: int) -> list[str]:
        symbol = self.told.symbol
        where = f"{symbol.path}:{symbol.line}-{symbol.end_line}"
        heading = f"{symbol.kind} {symbol.qualified}, {where}, at {self.at[:_SHORT]}"
        changes = self.told.history.changes[: self.limit]
        lines = [*shown.wrapped(text.one_line(heading), width), ""]
        if changes:
            rows = shown.table(map(self._row, changes), width).split("\n")
            for row, each in zip(rows, changes, strict=True):
                lines.append(row)
                for note in _notes(each):
                    lines += shown.wrapped(_INDENT + text.one_line(note), width)
        else:
            lines.append("No commit is known that changed it.")
        if left := len(self.told.history.changes) - len(changes):
            lines += ["", f"Not shown: {left} earlier; `--limit` shows more."]
        if unknown := self.told.history.unknown:
            lines += ["", "Not known:"]
            for why in unknown:
                lines += shown.wrapped(f"  {text.one_line(why)}", width)
        return lines

    def _row(self, each: model.Change) -> tuple[str, ...]:
        commit = self.commits.get(each.commit)
        day = clock.text(commit.authored_ms)[:10] if commit else "-"
        kinds = ", ".join(each.kinds)
        return day, each.commit[:_SHORT], kinds, commit.subject if commit else ""


def _notes(each: model.Change) -> list[str]:
    """Where it was, and what else became of it."""
    notes = []
    before, after = each.before, each.after
    if before and after and (before.path, before.qualified) != (after.path, after.qualified):
        moved = before.path != after.path
        names = (f"{p.path}#{p.qualified}" if moved else p.qualified for p in (before, after))
        notes.append(" → ".join(names))
    for match in each.related:
        is_ours = match.after == after if match.relation == "split_from" else match.before == before
        other = match.before if match.after == after else match.after
        if other:
            told = _RELATIONS[match.relation][0 if is_ours else 1]
            notes.append(f"{told} {other.path}#{other.qualified}")
    return notes
