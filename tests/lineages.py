"""Both engines on one repository: every symbol of a commit, followed backwards and forwards."""

from __future__ import annotations

from tether.git import Git, Oid
from tether.lineage import forwards, history, library, symbols, tracing

Told = dict[str, history.History]
"""Histories by path, name and ordinal."""


class Listed:
    """Events in a list."""

    def __init__(self) -> None:
        self.events: list[forwards.Event] = []

    def add(self, event: forwards.Event) -> int:
        self.events.append(event)
        return len(self.events) - 1

    def history(self, version: forwards.Version) -> history.History:
        seen: set[int] = set()
        waiting = [version.event]
        while waiting:
            number = waiting.pop()
            if number not in seen:
                seen.add(number)
                waiting += self.events[number].previous
        every = [self.events[number] for number in sorted(seen, reverse=True)]
        told = tuple(each.change for each in every if each.change.kinds)
        unknown = tuple(why for each in every for why in each.unknown)
        return history.History(told, unknown, version.node)


def all_forwards(git: Git, tip: Oid) -> Told:
    files = library.Library(git, library.InThisProcess())
    events = Listed()
    try:
        state = forwards.Forwards(files, events).run(tip)
        found: Told = {}
        for path in state.files.paths():
            file = state.files.get(path)
            source = files.source(path, file.oid) if file and file.versions else None
            for number, version in enumerate(file.versions if file and source else ()):
                assert source is not None
                found[_name(path, source.symbols[number])] = events.history(version)
        return found
    finally:
        files.close()


def all_backwards(git: Git, tip: Oid) -> Told:
    files = library.Library(git, library.InThisProcess())
    try:
        found: Told = {}
        for entry in git.tree(tip):
            source = files.at(tip, entry.path) if entry.kind == "blob" else None
            for number, symbol in enumerate(source.symbols if source else ()):
                assert source is not None
                name = _name(entry.path, symbol)
                found[name] = tracing.follow(files, tip, source, number)
        return found
    finally:
        files.close()


def assert_same(one: Told, other: Told) -> None:
    """The same symbols with the same ids, and for each the same commits did the same."""
    assert one.keys() == other.keys()
    for name in one:
        assert said(one[name]) == said(other[name]), name
        assert one[name].node == other[name].node, name


def said(told: history.History) -> set[tuple[str, tuple[str, ...]]]:
    return {(str(change.commit), change.kinds) for change in told.changes}


def _name(path: str, symbol: symbols.Symbol) -> str:
    return f"{path}#{symbol.qualified}@{symbol.ordinal}"
