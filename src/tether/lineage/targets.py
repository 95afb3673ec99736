"""What a selector names: files, directories and symbols that were followed, at a commit.

Asked of the index alone as far as it goes: outlines are kept there, so nothing is parsed. What is
gone is found too, by what deleted it.
"""

from __future__ import annotations

import re
import sqlite3

from tether import errors, text
from tether.git import Git, Oid
from tether.hints import Literal, NamedTuple
from tether.lineage import (
    history,
    kept,
    keptoutlines,
    library,
    selecting,
    symbols,
    whereabouts,
)

FORMS = (
    "Name it as PATH, PATH:LINE, PATH#Class.name, Class.name, or with file:, dir:, symbol: or"
    " node: in front."
)
_EVENTS_OF = (
    "SELECT n.id, n.kind, e.number, e.commit_no FROM lineage_nodes AS n"
    " JOIN identity_events AS e ON e.node = n.id WHERE n.key = ? ORDER BY e.number DESC"
)
_NODE = "SELECT node FROM identity_events WHERE number = ?"
_CALLED = (
    "SELECT number, node, commit_no, kinds, change FROM identity_events WHERE name = ?"
    " ORDER BY number DESC LIMIT 5000"
)
_EVENTS_BACK = (
    "SELECT commit_no, kinds, change FROM identity_events WHERE node = ? ORDER BY number DESC"
)
_NAMED: tuple[Literal["file", "dir", "symbol"], ...] = ("file", "dir", "symbol")
_NODE_ID = re.compile(r"node:[0-9a-f]{24}")

Kind = Literal["file", "dir", "symbol"]


class NobodyCalledSo(errors.NotFound):
    """Nothing has this name, which may be one of something else than code."""


class Target(NamedTuple):
    """A piece of code, and what last happened to it."""

    selector: str
    kind: Kind
    name: str
    """`function run`, `file src/a.py`, `directory src`."""
    place: str
    """`src/a.py:10-40`."""
    path: str
    line: int
    """0 for a file or directory."""
    key: str
    """Of the node; empty for a directory."""
    events: tuple[int, ...]
    nodes: tuple[int, ...]
    """Their numbers in the index; of a file its symbols are not among them."""
    fallback: str = ""
    """Why it is the file's that was meant to be the symbol's."""
    is_gone: bool = False


class _Former(NamedTuple):
    """A living symbol by a name that it had."""

    target: Target
    since: int
    """The event that gave it this name."""


class Aim:
    """Finds what selectors name, at one commit that was followed."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        git: Git,
        commit: Oid,
        number: int,
        below: str = "",
        missing: keptoutlines.Missing | None = None,
    ) -> None:
        self._connection = connection
        self._git = git
        self._commit = commit
        self.line = kept.Line(number)
        self._files = library.Library(
            git, keptoutlines.KeptOutlines(connection, missing or keptoutlines.Missing())
        )
        self._finder = selecting.Finder(self._files, commit, below)
        self._paths = whereabouts.Whereabouts(connection, self.line, commit)

    def close(self) -> None:
        self._files.close()

    def find(self, selector: str) -> Target:
        """What a selector names."""
        if selector.startswith("node:"):
            return self._node(selector)
        prefix, colon, rest = selector.partition(":")
        kind = prefix if colon and prefix in _NAMED else ""
        words = rest if kind else selector
        if not words.strip():
            raise errors.UsageError("This names no code.", hint=FORMS)
        if kind == "symbol":
            return self._symbol(selector, words)
        entry = self._finder.entry(words)
        is_dir = entry is not None and entry.kind == "tree"
        if kind == "file" and is_dir and self._paths.step(words) is not None:
            return self._gone_file(selector, words)
        if entry is not None and kind not in ("", "dir" if is_dir else "file"):
            raise _other_kind(words, is_dir=is_dir)
        if kind == "dir" or is_dir:
            return self._directory(selector, entry.path if entry else words)
        if entry is not None:
            return self._file(selector, entry.path)
        return self._gone_file(selector, words) if kind else self._other(selector, words)

    def _other(self, selector: str, words: str) -> Target:
        """What is no path of the commit: a symbol, or a file that is gone."""
        try:
            return self._symbol(selector, words)
        except errors.NotFound as problem:
            if self._paths.step(words) is not None:
                return self._gone_file(selector, words)
            if left := self._paths.left(words.rstrip("/")):
                raise left from problem
            if not selecting.is_name(words):
                raise
            raise NobodyCalledSo(
                problem.message, hint=problem.hint, details=problem.details
            ) from problem

    def _node(self, key: str) -> Target:
        if not _NODE_ID.fullmatch(key):
            raise errors.NotFound(
                f"{text.one_line(key, 80)} is no node: the id of one is 24 digits and letters from"
                " a to f.",
                hint=FORMS,
            )
        rows = self._connection.execute(_EVENTS_OF, (key,)).fetchall()
        if not rows:
            raise errors.NotFound(
                "The index has no such node.",
                hint="Name the code as PATH or PATH#Class.name.",
            )
        past = kept.past(self._connection, self.line.number)
        for number, kind, event, commit_no in rows:
            if commit_no in past:
                return self._of_event(key, "file" if kind == "file" else "symbol", event, number)
        raise errors.NotFound(
            f"This code was not there yet in commit {self._commit[:12]}, or is on another branch.",
            hint="Ask without --as-of, or where the branch is checked out.",
        )

    def _file(self, selector: str, path: str, fallback: str = "") -> Target:
        placed = self.line.placed(self._connection, path)
        if placed is None:
            raise errors.NotFound(
                f"The index does not know the file {text.one_line(path, 200)}.",
                hint="Submodules have a history of their own; of other files, bring it up to date"
                " with `tether lineage rebuild`.",
            )
        found = self._of_event(selector, "file", placed.file)
        return found._replace(fallback=fallback, place=path, path=path)

    def _gone_file(self, selector: str, path: str) -> Target:
        went = self._paths.went(path)
        path = went.path
        if self._paths.step(path) is None:
            raise errors.NotFound(
                f"There is no file {text.one_line(path, 200)} in commit {self._commit[:12]}, and"
                " there was none.",
                hint=self._finder.near_files(path) or FORMS,
            )
        if self._paths.standing(went):
            return self._file(selector, path)
        for event, change in kept.buried(self._connection, self.line, path):
            is_file = change.before is not None and change.before.kind == "file"
            if is_file and self._paths.is_of(went, event):
                return self._of_event(selector, "file", event)
        raise errors.NotFound(
            f"What became of the file {text.one_line(path, 200)} is not known.", hint=FORMS
        )

    def _directory(self, selector: str, path: str) -> Target:
        path = path.rstrip("/")
        events, nodes = [], []
        for each in self._paths.below(path):
            placed = self.line.placed(self._connection, each)
            if placed is not None and placed.file:
                events.append(placed.file)
        if not events:
            raise self._paths.left(path) or errors.NotFound(
                f"There is no directory {text.one_line(path, 200)} with files in commit"
                f" {self._commit[:12]}, and there was none.",
                hint=FORMS,
            )
        known = kept.node_numbers(self._connection, events)
        nodes = [known[each] for each in events]
        name = f"directory {path or '.'}"
        return Target(selector, "dir", name, path, path, 0, "", tuple(events), tuple(nodes))

    def _symbol(self, selector: str, words: str) -> Target:
        try:
            found = self._finder.find(words)
        except errors.NotFound as problem:
            gone = self._gone_symbol(selector, words)
            if gone is None and (missed := self._never(words)):
                raise missed from None
            gone = gone or self._whole(selector, words, problem)
            if gone is None:
                raise
            return gone
        path, number = found.source.path, found.number
        placed = self.line.placed(self._connection, path)
        if placed is None or number >= len(placed.versions):
            return self._file(selector, path, "its symbols were not followed")
        target = self._of_event(selector, "symbol", placed.versions[number])
        return _standing(target, path, found.symbol)

    def _whole(self, selector: str, words: str, problem: errors.NotFound) -> Target | None:
        """The file, where a line stands in no symbol, or no symbol of it can be read."""
        split = self._finder.split(words)
        path, _, lines = words.rpartition(":") if split is None else (split[0], "", "")
        entry = self._finder.entry(path) if path else None
        if entry is None or entry.kind != "blob":
            return None
        is_lines = split is None and lines[:1].isdigit()
        if not is_lines and self._files.source(entry.path, entry.oid) is not None:
            return None
        why = problem.message.rstrip(".")
        return self._file(selector, entry.path, f"{why[:1].lower()}{why[1:]}")

    def _gone_symbol(self, selector: str, words: str) -> Target | None:
        """A symbol that a file had once, by its name."""
        split = self._finder.split(words)
        if split is None:
            former = self._former(selector, words)
            return former.target if former else None
        path, name = split
        moved = self._paths.went(path).path
        if moved != path:
            entry = self._finder.entry(moved)
            if entry is not None:
                return self._symbol(selector, f"{moved}#{name}")
            path = moved
        former = self._former(selector, name, path)
        for event, change in kept.buried(self._connection, self.line, path):
            before = change.before
            if before and before.kind != "file" and kept.is_called(before, name):
                if former is not None and former.since > event:
                    break
                return self._of_event(selector, "symbol", event)
        return former.target if former else None

    def _former(self, selector: str, name: str, path: str = "") -> _Former | None:
        """The only living symbol that was called so once; with a path, in that file or before."""
        connection = self._connection
        past = kept.past(connection, self.line.number)
        found: dict[int, _Former] = {}
        seen = set()
        last_part = name.replace("::", ".").rpartition(".")[2]
        for number, node, commit_no, kinds, raw in connection.execute(_CALLED, (last_part,)):
            if node in seen or commit_no not in past:
                continue
            seen.add(node)
            change, _ = kept.change_in(self._commit, kinds, raw)
            was = change.after
            living = self._living(node, past, selector)
            if was is None or living is None or path not in ("", was.path, living.path):
                continue
            if kept.is_called(was, name):
                found[node] = _Former(living, number)
        return next(iter(found.values())) if len(found) == 1 else None

    def _living(self, node: int, past: frozenset[int], selector: str) -> Target | None:
        """A symbol as it stands; None if it is gone."""
        rows = self._connection.execute(_EVENTS_BACK, (node,))
        kinds, raw = next((each[1:] for each in rows if each[0] in past), ("", b""))
        last = kept.change_in(self._commit, kinds, raw)[0].after if raw else None
        placed = self.line.placed(self._connection, last.path) if last else None
        if last is None or placed is None:
            return None
        known = kept.node_numbers(self._connection, placed.versions)
        nodes = [known[each] for each in placed.versions]
        source = self._files.source(last.path, placed.oid)
        if node not in nodes or source is None:
            return None
        number = nodes.index(node)
        target = self._of_event(selector, "symbol", placed.versions[number])
        return _standing(target, last.path, source.symbols[number])

    def _never(self, words: str) -> errors.NotFound | None:
        """What to say of a symbol that a file never had which is gone; None if it is there."""
        split = self._finder.split(words)
        step = self._paths.step(split[0]) if split else None
        if split is None or step is None or step.oid:
            return None
        path, name = split
        places = (change.before for _, change in kept.buried(self._connection, self.line, path))
        had = {each.qualified: None for each in places if each and each.kind != "file"}
        near = selecting.near(name, had)
        found = [selecting.typed(f"{path}#{each}") for each in near]
        return errors.NotFound(
            f"{text.one_line(path, 200)} is gone, and had no symbol that was called"
            f" {text.one_line(name, 100)}.",
            hint=f"Did you mean {' or '.join(found)}?" if found else FORMS,
        )

    def _of_event(self, selector: str, kind: Kind, event: int, node: int | None = None) -> Target:
        [(number,)] = self._connection.execute(_NODE, (event,)).fetchall()
        change = kept.change_of(self._connection, event)
        place = change.after or change.before
        key = kept.nodes_of(self._connection, [event])[event]
        assert place is not None  # noqa: S101 - no change is of nothing
        name, where = _described(place)
        return Target(
            selector,
            kind,
            name,
            where,
            place.path,
            0 if place.kind == "file" else place.line,
            key,
            (event,),
            (node or number,),
            is_gone=change.after is None,
        )


def _standing(target: Target, path: str, symbol: symbols.Symbol) -> Target:
    """A symbol where it stands in the file that the commit has."""
    return target._replace(
        name=f"{symbol.kind} {symbol.qualified}",
        place=_where(path, symbol.line, symbol.end_line),
        path=path,
        line=symbol.line,
    )


def _other_kind(words: str, *, is_dir: bool) -> errors.NotFound:
    """What to say of a directory that is named as a file, or the other way round."""
    called = text.one_line(words, 200)
    what, prefix = ("a directory, no file", "dir:") if is_dir else ("a file, no directory", "file:")
    return errors.NotFound(
        f"{called} is {what}.", hint=f"Name it as {selecting.typed(prefix + words)}."
    )


def named(target: Target, place: history.Place) -> Target:
    """A target as it was called and stood somewhere else."""
    name, where = _described(place)
    line = 0 if place.kind == "file" else place.line
    return target._replace(name=name, place=where, path=place.path, line=line)


def _described(place: history.Place) -> tuple[str, str]:
    if place.kind == "file":
        return f"file {place.path}", place.path
    return f"{place.kind} {place.qualified}", _where(place.path, place.line, place.end_line)


def _where(path: str, first: int, last: int) -> str:
    return f"{path}:{first}" if first == last else f"{path}:{first}-{last}"
