"""The identity of every symbol, forwards through the whole history.

The same decisions as in `tracing`, made commit by commit for all files at once. What stands in a
file is a version of a node; a commit that changes it makes an event, which knows the event before
it. So the history of a symbol as it stands somewhere is the walk back from its last event.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tether.git import Change, Commit, Oid
from tether.hints import NamedTuple, Protocol
from tether.lineage import (
    births,
    changes,
    commits,
    cuts,
    graves,
    history,
    library,
    matching,
    merges,
    places,
    relating,
    sources,
    tracing,
)

# Commits whose files are read from git at once.
_AHEAD = 64


class Event(NamedTuple):
    """What a commit did to a node, after what."""

    node: str
    change: history.Change
    """Without kinds, if there is nothing to tell: a merge unites what its parents did, or what is
    unknown stands between this and what was before."""
    previous: tuple[int, ...]
    """The numbers of the events before it, the first parent's first; none at its birth."""
    unknown: tuple[str, ...] = ()
    """Why there may be more before it."""


class Events(Protocol):
    """Where events are written down; each gets the next number."""

    def add(self, event: Event) -> int: ...


class Version(NamedTuple):
    """A symbol as it stands in a file: which node it is, and what last happened to it."""

    node: str
    event: int


class File(NamedTuple):
    """A file that stands somewhere: its content, and the versions of its symbols."""

    oid: Oid
    versions: tuple[Version, ...]


Files = dict[str, File]


class Unknown(Exception):
    """A commit has a parent of which nothing is known."""


class State(NamedTuple):
    """What stands in the files of a commit, and what does not any more."""

    files: Files
    yards: graves.Yards


class Standing(NamedTuple):
    """Everything that is known at a commit."""

    commit: Oid
    state: State


class Forwards:
    """Follows all symbols to a tip, from the first commits or from where it was before."""

    def __init__(
        self, files: library.Library, events: Events, since: Standing | None = None
    ) -> None:
        self.files = files
        self.events = events
        self.commits = 0
        self._since = since
        self._states: dict[Oid, State] = {since.commit: since.state} if since else {}
        self._children: dict[Oid, int] = {}

    def run(self, tip: Oid) -> Standing:
        """Everything up to a commit; `Unknown` if that does not follow from what is known."""
        known = [self._since.commit] if self._since else []
        log = self.files.git.log([tip], exclude=known, parents_first=True, with_merges=True)
        every = list(log)
        here = {*known, *(commit.oid for commit in every)}
        for parent in (parent for commit in every for parent in commit.parents):
            self._children[parent] = self._children.get(parent, 0) + 1
            if known and parent not in here:
                raise Unknown
        for first in range(0, len(every), _AHEAD):
            some = every[first : first + _AHEAD]
            self.files.expect(_contents(some))
            for commit in some:
                self._states[commit.oid] = self._after(commit)
        self.commits = len(every)
        return Standing(tip, self._states[tip])

    def _after(self, commit: Commit) -> State:
        parents = [parent for parent in commit.parents if parent in self._states]
        states = [self._states[parent] for parent in parents]
        for parent in parents:
            self._children[parent] -= 1
            if not self._children[parent]:
                del self._states[parent]
        return _Step(self, commit, parents, states).run()


class _Step:
    """One commit: from the files before it to those after."""

    def __init__(
        self, engine: Forwards, commit: Commit, parents: list[Oid], states: list[State]
    ) -> None:
        self._engine = engine
        self._files = engine.files
        self._commit = commit
        self._parents = parents
        self._states = states
        self._links: relating.Links | None = None
        self._changes = {each.path: each for each in commits.code_files(list(commit.changes))}
        self._cuts: dict[str, tuple[str, ...]] = {}
        self._gone: dict[str, dict[bytes, tuple[str, int]]] = {}
        """Who was deleted from which path, by their lives."""
        message = f"{commit.subject}\n\n{commit.body}".encode("utf-8", "surrogateescape")
        self._is_revert = births.says_revert(message)

    def run(self) -> State:
        first = self._states[0] if self._states else State({}, {})
        changed = list(self._changes.values())
        if not changed:
            return first
        files, yards = dict(first.files), dict(first.yards)
        for path in self._changes:
            files.pop(path, None)
            yards.pop(path, None)
        if len(self._states) > 1:
            files.update(self._merged(changed))
            yards.update(self._yards_as_elsewhere(changed))
        else:
            files.update(self._matched(changed))
            yards.update(self._yards_after(first, changed))
        return State(files, yards)

    def _yards_after(
        self, first: State, changed: list[Change]
    ) -> Iterator[tuple[str, graves.Yard]]:
        for change in changed:
            yard, gone = first.yards.get(change.path), self._gone.get(change.path, {})
            if yard is not None or gone:
                yield change.path, (yard or graves.Yard()).after(gone)

    def _yards_as_elsewhere(self, changed: list[Change]) -> Iterator[tuple[str, graves.Yard]]:
        """Of those paths that are as in another parent, or as absent as there."""
        for change in changed:
            wanted = None if change.new_oid.is_null else change.new_oid
            for state in self._states[1:]:
                file = state.files.get(change.path)
                if (file.oid if file else None) == wanted:
                    if change.path in state.yards:
                        yield change.path, state.yards[change.path]
                    break

    def _matched(self, changed: list[Change]) -> Iterator[tuple[str, File]]:
        """The files that an ordinary commit changed."""
        parent = self._parents[0] if self._parents else None
        comparison = commits.Comparison(self._files, parent, self._commit.oid)
        matched = comparison.matched(changed)
        self._links = relating.Links(matched.matcher)
        for file, path in enumerate(matched.news):
            source = matched.matcher.after[file]
            versions = [
                self._version(matched, source, number, matched.matcher.by_after.get((file, number)))
                for number in range(len(source.symbols))
            ]
            yield path, File(self._changes[path].new_oid, tuple(versions))
        for file, number in matched.matcher.left_before():
            self._delete(matched.matcher.before[file], number)

    def _version(
        self,
        matched: commits.Matched,
        after: sources.Source,
        number: int,
        partners: matching.Partners | None,
    ) -> Version:
        if partners is None:
            return self._introduce(after, number)
        file, old = partners.before
        known = self._known(0, matched.olds[file], old)
        if known is None:
            return self._introduce(after, number)
        return self._change(known, matched.matcher.before[file], partners, after, number)

    def _known(self, parent: int, path: str, number: int) -> Version | None:
        file = self._states[parent].files.get(path) if self._states else None
        return file.versions[number] if file and number < len(file.versions) else None

    def _change(
        self,
        known: Version,
        before: sources.Source,
        partners: matching.Partners,
        after: sources.Source,
        number: int,
    ) -> Version:
        """The version that comes from one that is known."""
        old, keeps = partners.before[1], partners.keeps_container
        kinds = changes.kinds(before, old, after, number, keeps_container=keeps)
        if not kinds:
            return known
        change = history.Change(
            self._commit.oid,
            kinds,
            places.place(before, old),
            places.place(after, number),
            partners.confidence,
            partners.evidence,
        )
        return self._add(known.node, change, (known.event,))

    def _introduce(self, after: sources.Source, number: int) -> Version:
        here = places.place(after, number)
        kinds: tuple[history.ChangeKind, ...] = ("introduced",)
        if cut := self._cut(after.path):
            untold = history.Change(self._commit.oid, (), None, here, 1.0, tracing.NOT_THERE)
            return self._add(births.node_id(after, number), untold, (), cut)
        grave = None
        if self._is_revert and len(self._states) == 1:
            yard = self._states[0].yards.get(after.path)
            grave = yard.find(births.life(after, number).digest) if yard else None
        if grave is not None:
            told = history.Change(self._commit.oid, kinds, None, here, 0.95, tracing.BROUGHT_BACK)
            return self._add(grave.node, told, (grave.event,))
        told = history.Change(self._commit.oid, kinds, None, here, 1.0, tracing.NOT_THERE)
        return self._add(births.node_id(after, number), told, ())

    def _cut(self, path: str) -> tuple[str, ...]:
        """Why it is not known what was before in a file."""
        if path not in self._cuts:
            olds = self._olds(path)
            self._cuts[path] = cuts.before(self._files, self._commit.oid, path, olds)
        return self._cuts[path]

    def _olds(self, path: str) -> list[Oid]:
        """What the parents have at a path that was changed."""
        if len(self._parents) > 1:
            reader = self._files.reader
            blobs = (reader.at(each, path, library.MAX_BYTES) for each in self._parents)
            return [blob.oid for blob in blobs if blob]
        old = self._changes[path].old_oid
        return [] if old.is_null else [old]

    def _delete(self, before: sources.Source, number: int) -> None:
        known = self._known(0, before.path, number)
        if known is None:
            return
        there, why = places.place(before, number), tracing.NOT_THERE_ANY_MORE
        told = history.Change(self._commit.oid, ("deleted",), there, None, 1.0, why)
        change = self._changes[before.path]
        if not change.new_oid.is_null and not self._files.source(change.path, change.new_oid):
            unread = cuts.unread(self._files, before.path)
            self._add(known.node, told._replace(kinds=()), (known.event,), unread)
            return
        version = self._add(known.node, told, (known.event,))
        gone = self._gone.setdefault(before.path, {})
        gone.setdefault(births.life(before, number).digest, (version.node, version.event))

    def _add(
        self,
        node: str,
        change: history.Change,
        previous: tuple[int, ...],
        unknown: tuple[str, ...] = (),
    ) -> Version:
        if self._links is not None:
            change = change._replace(related=self._links.of(change.before, change.after))
        return Version(node, self._engine.events.add(Event(node, change, previous, unknown)))

    def _merged(self, changed: list[Change]) -> Iterator[tuple[str, File]]:
        """The files in which a merge differs from its first parent."""
        merge = merges.Merge(self._files, self._commit.oid, self._parents)
        for change in changed:
            if not change.new_mode.startswith("100"):
                continue
            taken = self._as_in_another_parent(change.path, change.new_oid)
            after = None if taken else self._files.source(change.path, change.new_oid)
            if taken is not None:
                yield change.path, taken
            elif after is not None:
                numbers = range(len(after.symbols))
                versions = [self._united(merge, after, number) for number in numbers]
                yield change.path, File(change.new_oid, tuple(versions))

    def _as_in_another_parent(self, path: str, oid: Oid) -> File | None:
        for state in self._states[1:]:
            if path in state.files and state.files[path].oid == oid:
                return state.files[path]
        return None

    def _united(self, merge: merges.Merge, after: sources.Source, number: int) -> Version:
        """A symbol of a file that is like in none of the parents."""
        ways = merge.ways(after, number)
        found = [
            known
            for way in ways
            if (known := self._known(way.parent, way.before.path, way.partners.before[1]))
        ]
        if not found:
            return self._introduce(after, number)
        changed = merges.own_change(ways)
        previous = tuple(dict.fromkeys(version.event for version in found))
        if changed is None and len(previous) == 1:
            return found[0]
        way = changed or ways[0]
        change = history.Change(
            self._commit.oid,
            changed.kinds if changed else (),
            places.place(way.before, way.partners.before[1]),
            places.place(after, number),
            way.partners.confidence,
            way.partners.evidence,
        )
        return self._add(found[0].node, change, previous)


def _contents(some: list[Commit]) -> list[tuple[str, Oid]]:
    """The files of some commits that symbols are looked for in."""
    changed = itertools.chain.from_iterable(each.changes for each in some)
    found = commits.code_files(list(changed))
    return [(each.path, each.new_oid) for each in found if each.new_mode.startswith("100")]
