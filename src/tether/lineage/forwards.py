"""The identity of every symbol, forwards through the whole history.

The same decisions as in `tracing`, made commit by commit for all files at once. What stands in a
file is a version of a node; a commit that changes it makes an event, which knows the event before
it. So the history of a symbol as it stands somewhere is the walk back from its last event.
"""

from __future__ import annotations

from collections.abc import Iterator

from tether.git import Change, Commit, Oid
from tether.hints import NamedTuple
from tether.lineage import (
    births,
    changes,
    commits,
    history,
    languages,
    library,
    matching,
    places,
    sources,
    tracing,
)


class Event(NamedTuple):
    """What a commit did to a node, after what."""

    node: str
    change: history.Change
    previous: tuple[int, ...]
    """The numbers of the events before it, the first parent's first; none at its birth."""


class Version(NamedTuple):
    """A symbol as it stands in a file: which node it is, and what last happened to it."""

    node: str
    event: int


class File(NamedTuple):
    """A file that stands somewhere: its content, and the versions of its symbols."""

    oid: Oid
    versions: tuple[Version, ...]


class Forwards:
    """Follows all symbols from the first commits to a tip."""

    def __init__(self, files: library.Library) -> None:
        self.events: list[Event] = []
        self.files = files
        self.graves: dict[births.Life, int] = {}
        """What was deleted, and the event that did it: it may be brought back."""
        self._states: dict[Oid, dict[str, File]] = {}
        self._children: dict[Oid, int] = {}

    def run(self, tip: Oid) -> dict[str, File]:
        """Everything up to a commit; the files as they stand there."""
        every = list(self.files.git.log([tip], parents_first=True, with_merges=True))
        for commit in every:
            for parent in commit.parents:
                self._children[parent] = self._children.get(parent, 0) + 1
        for commit in every:
            self._states[commit.oid] = self._after(commit)
        return self._states[tip]

    def history(self, version: Version) -> history.History:
        """What happened to a symbol that stands somewhere."""
        seen: set[int] = set()
        waiting = [version.event]
        while waiting:
            number = waiting.pop()
            if number not in seen:
                seen.add(number)
                waiting += self.events[number].previous
        told = tuple(self.events[number].change for number in sorted(seen, reverse=True))
        return history.History(told, node=version.node)

    def _after(self, commit: Commit) -> dict[str, File]:
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
        self,
        engine: Forwards,
        commit: Commit,
        parents: list[Oid],
        states: list[dict[str, File]],
    ) -> None:
        self._engine = engine
        self._files = engine.files
        self._commit = commit
        self._parents = parents
        self._states = states
        self._is_revert = births.says_revert(f"{commit.subject}\n\n{commit.body}".encode())

    def run(self) -> dict[str, File]:
        state = dict(self._states[0]) if self._states else {}
        changed = commits.code_files(list(self._commit.changes))
        for change in changed:
            state.pop(change.path, None)
        found = self._merged(changed) if len(self._states) > 1 else self._matched(changed)
        state.update(found)
        return state

    def _matched(self, changed: list[Change]) -> Iterator[tuple[str, File]]:
        """The files that an ordinary commit changed."""
        parent = self._parents[0] if self._parents else None
        comparison = commits.Comparison(self._files, parent, self._commit.oid)
        matched = comparison.matched(changed)
        oids = {change.path: change.new_oid for change in changed}
        for file, (path, source) in enumerate(
            zip(matched.news, matched.matcher.after, strict=True)
        ):
            versions = []
            for number in range(len(source.symbols)):
                partners = matched.matcher.by_after.get((file, number))
                versions.append(self._version(matched, source, number, partners))
            yield path, File(oids[path], tuple(versions))
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
        return self._change([(known, matched.matcher.before[file], partners)], after, number)

    def _known(self, parent: int, path: str, number: int) -> Version | None:
        file = self._states[parent].get(path) if self._states else None
        return file.versions[number] if file and number < len(file.versions) else None

    def _change(
        self,
        found: list[tuple[Version, sources.Source, matching.Partners]],
        after: sources.Source,
        number: int,
    ) -> Version:
        """The version that comes from one that is known, or from several that a merge unites."""
        known, before, partners = found[0]
        kinds = changes.kinds(before, partners.before[1], after, number)
        if not kinds:
            return known
        change = history.Change(
            self._commit.oid,
            kinds,
            places.place(before, partners.before[1]),
            places.place(after, number),
            partners.confidence,
            partners.evidence,
        )
        return self._add(known.node, change, tuple(version.event for version, _, _ in found))

    def _introduce(self, after: sources.Source, number: int) -> Version:
        here = places.place(after, number)
        kinds: tuple[history.ChangeKind, ...] = ("introduced",)
        before = self._engine.graves.get(births.life(after, number)) if self._is_revert else None
        if before is not None:
            told = history.Change(self._commit.oid, kinds, None, here, 0.95, tracing.BROUGHT_BACK)
            return self._add(self._engine.events[before].node, told, (before,))
        told = history.Change(self._commit.oid, kinds, None, here, 1.0, tracing.NOT_THERE)
        return self._add(births.node_id(after, number), told, ())

    def _delete(self, before: sources.Source, number: int) -> None:
        known = self._known(0, before.path, number)
        if known is not None:
            there = places.place(before, number)
            told = history.Change(
                self._commit.oid, ("deleted",), there, None, 1.0, tracing.NOT_THERE_ANY_MORE
            )
            version = self._add(known.node, told, (known.event,))
            self._engine.graves[births.life(before, number)] = version.event

    def _add(self, node: str, change: history.Change, previous: tuple[int, ...]) -> Version:
        self._engine.events.append(Event(node, change, previous))
        return Version(node, len(self._engine.events) - 1)

    def _merged(self, changed: list[Change]) -> Iterator[tuple[str, File]]:
        """The files in which a merge differs from its first parent."""
        for change in changed:
            if not change.new_mode.startswith("100"):
                continue
            taken = self._as_in_another_parent(change.path, change.new_oid)
            after = None if taken else self._files.source(change.path, change.new_oid)
            if taken is not None:
                yield change.path, taken
            elif after is not None:
                versions = [self._united(after, number) for number in range(len(after.symbols))]
                yield change.path, File(change.new_oid, tuple(versions))

    def _as_in_another_parent(self, path: str, oid: Oid) -> File | None:
        for state in self._states[1:]:
            if path in state and state[path].oid == oid:
                return state[path]
        return None

    def _united(self, after: sources.Source, number: int) -> Version:
        """A symbol of a file that is like in none of the parents."""
        found = []
        for parent, state in enumerate(self._states):
            file = state.get(after.path)
            before = self._files.source(after.path, file.oid) if file else None
            partners = matching.in_file(before, after, number) if before else None
            known = self._known(parent, after.path, partners.before[1]) if partners else None
            if before is None or partners is None or known is None:
                continue
            if not changes.kinds(before, partners.before[1], after, number):
                return known
            found.append((known, before, partners))
        return self._change(found, after, number) if found else self._from_elsewhere(after, number)

    def _from_elsewhere(self, after: sources.Source, number: int) -> Version:
        family = languages.family(after.path)
        origin = commits.Comparison(self._files, self._parents[0], self._commit.oid, family).origin(
            after, number
        )
        before = self._files.source(origin.path, origin.oid) if origin else None
        known = self._known(0, origin.path, origin.number) if origin else None
        if origin is None or before is None or known is None:
            return self._introduce(after, number)
        partners = matching.Partners((0, origin.number), (0, number), *origin[3:])
        return self._change([(known, before, partners)], after, number)
