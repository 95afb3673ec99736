"""The identity of every file and symbol, forwards through the whole history.

The same decisions as in `tracing`, made commit by commit for all files at once. What stands in a
file is a version of a node, and so is the file itself; a commit that changes it makes an event,
which knows the event before it. So the history of a symbol as it stands somewhere is the walk back
from its last event.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator

from tether.git import Change, Commit, Oid
from tether.hints import NamedTuple, Protocol
from tether.lineage import (
    births,
    changes,
    commits,
    cuts,
    filesteps,
    graves,
    history,
    library,
    linecounts,
    matching,
    merges,
    places,
    relating,
    shelves,
    sources,
    tracing,
)

# Commits whose files are read from git at once.
_AHEAD = 64
_SAME_FILE = "the same file"


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
    lines: linecounts.Counts = linecounts.NONE
    digest: int | None = None
    """Of its text after that; None if it has none."""


class Events(Protocol):
    """Where events are written down; each gets the next number."""

    def add(self, event: Event) -> int: ...


class Version(NamedTuple):
    """A symbol as it stands in a file: which node it is, and what last happened to it."""

    node: str
    event: int


class File(NamedTuple):
    """A file that stands somewhere: its content, itself, and the versions of its symbols."""

    oid: Oid
    own: Version
    versions: tuple[Version, ...]


class State(NamedTuple):
    """What stands in the files of a commit, and what does not any more."""

    files: shelves.Shelf[File]
    yards: shelves.Shelf[graves.Yard]


class Step(NamedTuple):
    """What a commit made of one path."""

    path: str
    file: File | None
    """None if it is gone."""
    taken: int
    """Which parent a merge has it from; 0 if it is no merge, -1 if it is as in none."""
    gone: dict[bytes, int]
    """By their lives, the events that deleted what stood there."""


class Done(NamedTuple):
    """A commit that was followed."""

    commit: Commit
    parents: tuple[Oid, ...]
    """Those that are here."""
    steps: list[Step]
    files: int
    """How many it changed; one that it moved counts once."""


class Known(Protocol):
    """What was found out before, and is kept somewhere."""

    def state(self, commit: Oid) -> State | None:
        """What stands at a commit that was followed; None if it was not."""
        ...

    def former(self, node: str) -> Iterable[str]:
        """The paths that a file had before it was moved."""
        ...


class _Nothing:
    """Nothing was found out before."""

    def state(self, commit: Oid) -> State | None:
        del commit
        return None

    def former(self, node: str) -> Iterable[str]:
        del node
        return ()


class Forwards:
    """Follows all files and symbols to a tip, from the first commits or from what is known."""

    def __init__(self, files: library.Library, events: Events, known: Known | None = None) -> None:
        self.files = files
        self.events = events
        self.known: Known = known or _Nothing()
        self._states: dict[Oid, State] = {}
        self._children: dict[Oid, int] = {}
        self._former: dict[str, dict[str, None]] = {}

    def run(self, tip: Oid) -> State:
        """What stands at a commit, after everything before it was followed."""
        for _ in self.follow(self.files.git.log([tip], parents_first=True, with_merges=True)):
            pass
        return self._states[tip]

    def follow(self, new: Iterable[Commit]) -> Iterator[Done]:
        """Follow commits, each after its parents, which are known or among them."""
        every = list(new)
        last = every[-1].oid if every else None
        for parent in (parent for commit in every for parent in commit.parents):
            self._children[parent] = self._children.get(parent, 0) + 1
        for first in range(0, len(every), _AHEAD):
            some = every[first : first + _AHEAD]
            self.files.expect(_contents(some))
            for commit in some:
                yield self._after(commit, keeps=commit.oid == last)

    def moved(self, node: str, path: str) -> None:
        """Remember where a file was before it was moved."""
        self._former.setdefault(node, {})[path] = None

    def former(self, node: str) -> Iterable[str]:
        """Where a file was before it was moved."""
        return dict.fromkeys([*self._former.get(node, ()), *self.known.former(node)])

    def _after(self, commit: Commit, *, keeps: bool) -> Done:
        parents: list[Oid] = []
        states: list[State] = []
        is_last_child = True
        for parent in commit.parents:
            state = self._states.get(parent) or self.known.state(parent)
            self._children[parent] -= 1
            is_over = not self._children[parent]
            if is_over:
                self._states.pop(parent, None)
            elif state is not None:
                self._states[parent] = state
            if state is not None:
                is_last_child = is_over if not parents else is_last_child
                parents.append(parent)
                states.append(state)
        if not states:
            first = State(shelves.Shelf(), shelves.Shelf())
        elif is_last_child:
            first = states[0]
        else:
            first = State(states[0].files.copy(), states[0].yards.copy())
        step = _Step(self, commit, parents, states)
        steps, yards = step.run()
        first.files.put({step.path: step.file for step in steps})
        first.yards.put(yards)
        if keeps or self._children.get(commit.oid):
            self._states[commit.oid] = first
        return Done(commit, tuple(parents), steps, len(commit.changes) - step.moved)


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
        self._every = {each.path: each for each in commit.changes if filesteps.is_followed(each)}
        self._changes = {each.path: each for each in commits.code_files(list(commit.changes))}
        self._cuts: dict[str, tuple[str, ...]] = {}
        self._gone: dict[str, dict[bytes, tuple[str, int]]] = {}
        """Who was deleted from which path, by their lives."""
        self._taken: dict[str, int] = {}
        self._went_on: dict[str, str] = {}
        """By paths, the files in which no symbols are looked for that some were moved to."""
        self.moved = 0
        """How many files were moved."""
        message = f"{commit.subject}\n\n{commit.body}".encode("utf-8", "surrogateescape")
        self._is_revert = births.says_revert(message)

    def run(self) -> tuple[list[Step], dict[str, graves.Yard | None]]:
        """What it made of each path, and what of what lies buried there."""
        if not self._every and not self._changes:
            return [], {}
        paths = dict.fromkeys([*self._every, *self._changes])
        if len(self._states) > 1:
            files = dict(self._merged(list(paths)))
            yards = dict(self._yards_as_elsewhere(list(paths)))
        else:
            files = dict(self._matched())
            yards = dict(self._yards_after(list(paths)))
        steps = [
            Step(
                path,
                files.get(path),
                self._taken.get(path, -1 if len(self._states) > 1 else 0),
                {life: event for life, (_, event) in self._gone.get(path, {}).items()},
            )
            for path in paths
        ]
        return steps, yards

    def _yards_after(self, paths: list[str]) -> Iterator[tuple[str, graves.Yard]]:
        for path in paths:
            yard = self._states[0].yards.get(path) if self._states else None
            gone = self._gone.get(path, {})
            if yard is not None or gone:
                yield path, (yard or graves.Yard()).after(gone)

    def _yards_as_elsewhere(self, paths: list[str]) -> Iterator[tuple[str, graves.Yard | None]]:
        """Of those paths that are as in another parent, or as absent as there."""
        for path in paths:
            taken = self._taken.get(path)
            yield path, self._states[taken].yards.get(path) if taken else None

    def _matched(self) -> Iterator[tuple[str, File]]:
        """The files that an ordinary commit changed."""
        renamed = filesteps.renamed(list(self._every.values()), self._files.data)
        sides = _Sides({}, {})
        told: dict[str, tuple[Version, ...]] = {}
        if self._changes:
            parent = self._parents[0] if self._parents else None
            comparison = commits.Comparison(self._files, parent, self._commit.oid)
            matched = comparison.matched(list(self._changes.values()))
            renamed |= comparison.renamed()
            self._went_on = filesteps.went_on(self._every.values(), renamed, self._files.data)
            renamed |= self._went_on
            self._links = relating.Links(matched.matcher)
            for file, path in enumerate(matched.news):
                told[path] = self._versions(matched, file)
            for file, number in matched.matcher.left_before():
                self._delete(matched.matcher.before[file], number)
            sides = _sides(matched)
        was = {new: old for old, new in renamed.items()}
        self.moved = len(renamed)
        for path, change in self._every.items():
            counts = sides.counts(change, was.get(path, path))
            if filesteps.is_there(change.new_mode):
                own = self._own(change, was.get(path, path), counts)
                yield path, File(change.new_oid, own, told.get(path, ()))
            elif path not in renamed:
                self._delete_file(change, counts)

    def _own(self, change: Change, old_path: str, counts: linecounts.Counts) -> Version:
        """The file itself, after an ordinary commit."""
        old = self._states[0].files.get(old_path) if self._states else None
        here = filesteps.place(change.path)
        digest = filesteps.digest(change.new_oid)
        if old is None:
            return self._introduce_file(change, here, counts, digest)
        kinds = filesteps.kinds(change, old_path, old.oid)
        if not kinds:
            return old.own
        if old_path != change.path:
            self._engine.moved(old.own.node, old_path)
        there = filesteps.place(old_path)
        told = history.Change(self._commit.oid, kinds, there, here, 1.0, _SAME_FILE)
        return self._add(old.own.node, told, (old.own.event,), (), counts, digest)

    def _introduce_file(
        self, change: Change, here: history.Place, counts: linecounts.Counts, digest: int
    ) -> Version:
        node = births.file_id(change.path, change.new_oid)
        told = history.Change(self._commit.oid, ("introduced",), None, here, 1.0, tracing.NOT_THERE)
        if cut := cuts.before(self._files, self._commit.oid, change.path, ()):
            return self._add(node, told._replace(kinds=()), (), cut, counts, digest)
        life = births.file_life(change.path, change.new_oid).digest
        grave = self._grave(change.path, life)
        if grave is not None:
            told = told._replace(confidence=0.95, evidence=tracing.BROUGHT_BACK)
            return self._add(grave.node, told, (grave.event,), (), counts, digest)
        return self._add(node, told, (), (), counts, digest)

    def _delete_file(self, change: Change, counts: linecounts.Counts) -> None:
        old = self._states[0].files.get(change.path) if self._states else None
        if old is None:
            return
        there, why = filesteps.place(change.path), tracing.NOT_THERE_ANY_MORE
        told = history.Change(self._commit.oid, ("deleted",), there, None, 1.0, why)
        version = self._add(old.own.node, told, (old.own.event,), (), counts)
        gone = self._gone.setdefault(change.path, {})
        gone[births.file_life(change.path, change.old_oid).digest] = version

    def _versions(self, matched: commits.Matched, file: int) -> tuple[Version, ...]:
        source, partners = matched.matcher.after[file], matched.matcher.by_after
        return tuple(
            [
                self._version(matched, source, number, partners.get((file, number)))
                for number in range(len(source.symbols))
            ]
        )

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
        before = matched.matcher.before[file]
        if _is_untouched(before, old, after, number):
            return known
        return self._change(known, before, partners, after, number)

    def _known(self, parent: int, path: str, number: int) -> Version | None:
        file = self._states[parent].files.get(path) if self._states else None
        return file.versions[number] if file and number < len(file.versions) else None

    def _grave(self, path: str, life: bytes) -> graves.Grave | None:
        """Who may be brought back by this commit."""
        if not self._is_revert or len(self._states) != 1:
            return None
        yard = self._states[0].yards.get(path)
        return yard.find(life) if yard else None

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
        counts = linecounts.between(before.own_lines(old), after.own_lines(number))
        digest = _digest(after.own_text(number))
        return self._add(known.node, change, (known.event,), (), counts, digest)

    def _introduce(self, after: sources.Source, number: int) -> Version:
        here = places.place(after, number)
        kinds: tuple[history.ChangeKind, ...] = ("introduced",)
        counts = linecounts.between(b"", after.own_lines(number))
        digest = _digest(after.own_text(number))
        told = history.Change(self._commit.oid, kinds, None, here, 1.0, tracing.NOT_THERE)
        if cut := self._cut(after.path):
            untold = told._replace(kinds=())
            return self._add(births.node_id(after, number), untold, (), cut, counts, digest)
        grave = self._grave(after.path, births.life(after, number).digest)
        if grave is not None:
            told = told._replace(confidence=0.95, evidence=tracing.BROUGHT_BACK)
            return self._add(grave.node, told, (grave.event,), (), counts, digest)
        return self._add(births.node_id(after, number), told, (), (), counts, digest)

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
        went_on = self._went_on.get(before.path)
        if went_on or (
            not change.new_oid.is_null and not self._files.source(change.path, change.new_oid)
        ):
            unread = cuts.went_on(went_on) if went_on else cuts.unread(self._files, before.path)
            self._add(known.node, told._replace(kinds=()), (known.event,), unread)
            return
        counts = linecounts.between(before.own_lines(number), b"")
        version = self._add(known.node, told, (known.event,), (), counts)
        gone = self._gone.setdefault(before.path, {})
        gone.setdefault(births.life(before, number).digest, version)

    def _add(
        self,
        node: str,
        change: history.Change,
        previous: tuple[int, ...],
        unknown: tuple[str, ...] = (),
        lines: linecounts.Counts = linecounts.NONE,
        digest: int | None = None,
    ) -> Version:
        if self._links is not None:
            change = change._replace(related=self._links.of(change.before, change.after))
        event = Event(node, change, previous, unknown, lines, digest)
        return Version(node, self._engine.events.add(event))

    def _merged(self, paths: list[str]) -> Iterator[tuple[str, File]]:
        """The files in which a merge differs from its first parent."""
        merge = merges.Merge(self._files, self._commit.oid, self._parents)
        for path in paths:
            change = self._every.get(path) or self._changes[path]
            is_there = filesteps.is_there(change.new_mode)
            taken = self._parent_with(path, change.new_oid if is_there else None)
            if taken:
                self._taken[path] = taken
                file = self._states[taken].files.get(path)
                if file is not None:
                    yield path, file
            elif is_there:
                source = self._files.source(path, change.new_oid)
                numbers = range(len(source.symbols)) if source else ()
                versions = [self._united(merge, source, n) for n in numbers] if source else []
                own = self._united_file(change, source)
                yield path, File(change.new_oid, own, tuple(versions))

    def _parent_with(self, path: str, oid: Oid | None) -> int:
        """The first of the other parents that has a path so, or has none; 0 if there is none."""
        for number, state in enumerate(self._states):
            file = state.files.get(path) if number else None
            if number and (file.oid if file else None) == oid:
                return number
        return 0

    def _united_file(self, change: Change, source: sources.Source | None) -> Version:
        """A file that is like in none of the parents."""
        path = change.path
        found = [(path, file) for state in self._states if (file := state.files.get(path))]
        here = filesteps.place(path)
        digest = filesteps.digest(change.new_oid)
        if not found:
            counts = linecounts.between(b"", source.data) if source else linecounts.NONE
            return self._introduce_file(change, here, counts, digest)
        node = found[0][1].own.node
        # Where one branch moved it and another one changed it, that has it in its old place.
        for path in self._engine.former(node):
            for state in self._states:
                file = state.files.get(path)
                if file is not None and file.own.node == node:
                    found.append((path, file))
        previous = tuple(dict.fromkeys(file.own.event for _, file in found))
        own = self._own_lines(change, found)
        if own is None and len(previous) == 1:
            return found[0][1].own
        kinds: tuple[history.ChangeKind, ...] = ("body",) if own is not None else ()
        told = history.Change(self._commit.oid, kinds, here, here, 1.0, _SAME_FILE)
        return self._add(node, told, previous, (), own or linecounts.NONE, digest)

    def _own_lines(self, change: Change, found: list[tuple[str, File]]) -> linecounts.Counts | None:
        """What a merge itself changed in a file; None if it did not, or nobody can tell."""
        if any(file.oid == change.new_oid for _, file in found):
            return None
        after = self._files.data(change.path, change.new_oid)
        if after is None:
            # Git puts no two of those together.
            is_binary = self._files.unknown.get(change.path) == "binary"
            return linecounts.NONE if is_binary else None
        befores = [self._files.data(path, file.oid) for path, file in found]
        texts = [each for each in befores if each is not None]
        return linecounts.own(texts, after) if len(texts) == len(befores) else None

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
        olds = way.before.own_lines(way.partners.before[1])
        counts = linecounts.between(olds, after.own_lines(number))
        digest = _digest(after.own_text(number))
        return self._add(found[0].node, change, previous, (), counts, digest)


class _Sides(NamedTuple):
    """The texts of files with symbols before and after a commit, by their paths then."""

    befores: dict[str, bytes]
    afters: dict[str, bytes]

    def counts(self, change: Change, old_path: str) -> linecounts.Counts:
        """Of the lines of a file; none if one side of it was not read."""
        old, new = self.befores.get(old_path), self.afters.get(change.path)
        was_there = old_path != change.path or filesteps.is_there(change.old_mode)
        if (old is None and was_there) or (new is None and filesteps.is_there(change.new_mode)):
            return linecounts.NONE
        return linecounts.between(old or b"", new or b"")


def _sides(matched: commits.Matched) -> _Sides:
    befores, afters = matched.matcher.before, matched.matcher.after
    return _Sides(
        {path: source.data for path, source in zip(matched.olds, befores, strict=True)},
        {path: source.data for path, source in zip(matched.news, afters, strict=True)},
    )


def _is_untouched(before: sources.Source, old: int, after: sources.Source, new: int) -> bool:
    """Whether a symbol is as it was in all respects: most are."""
    was, now = before.symbols[old], after.symbols[new]
    return (
        was.name == now.name
        and was.container == now.container
        and before.path == after.path
        and before.text(old) == after.text(new)
    )


def _digest(text: bytes) -> int:
    """The same for the same text."""
    raw = hashlib.blake2b(text, digest_size=8).digest()
    return int.from_bytes(raw, "big", signed=True)


def _contents(some: list[Commit]) -> list[tuple[str, Oid]]:
    """The files of some commits that symbols are looked for in."""
    changed = itertools.chain.from_iterable(each.changes for each in some)
    found = commits.code_files(list(changed))
    return [(each.path, each.new_oid) for each in found if each.new_mode.startswith("100")]
