"""The history of one symbol, backwards from a commit, without any index.

Git says which commits changed the symbol's file. Where the symbol is not in the version before, the
whole commit is looked at, and if it was in another file, that file's commits are next.
"""

from __future__ import annotations

from tether.git import Change, Git, Oid
from tether.git.path_history import PathHistory, Step
from tether.hints import NamedTuple
from tether.lineage import (
    changes,
    commits,
    glances,
    history,
    languages,
    library,
    matching,
    places,
    sources,
    symbols,
)


# How many versions of a file are read before it is known whether they are needed.
_AHEAD = 24


class _Start(NamedTuple):
    """A symbol that is to be followed from a commit."""

    commit: Oid
    path: str
    number: int


class _Wanted:
    """The symbol as it is expected in steps that are still to come."""

    def __init__(self, first: list[glances.Glance]) -> None:
        self._first = first
        self._by_step: dict[Oid, list[glances.Glance]] = {}

    @property
    def is_empty(self) -> bool:
        return not self._first and not self._by_step

    def pop(self, step: Oid) -> list[glances.Glance]:
        """What is expected in a step; the first one that comes is where it begins."""
        found = self._first or self._by_step.pop(step, [])
        self._first = []
        return found

    def add(self, step: Oid, glance: glances.Glance) -> None:
        known = self._by_step.setdefault(step, [])
        if all((each.start, each.end) != (glance.start, glance.end) for each in known):
            known.append(glance)


class Tracer:
    """Follows one symbol."""

    def __init__(self, files: library.Library) -> None:
        self._files = files
        self._found: dict[tuple[Oid, str, str], history.Change] = {}
        self._waiting: list[_Start] = []
        self._unknown: list[str] = []

    def trace(self, commit: Oid, path: str, number: int) -> history.History:
        self._waiting = [_Start(commit, path, number)]
        seen: set[_Start] = set()
        while self._waiting:
            start = self._waiting.pop(0)
            if start not in seen:
                seen.add(start)
                self._walk(start)
        told = [f"{path}: {why}" for path, why in self._files.unknown.items()]
        return history.History(tuple(self._found.values()), (*self._unknown, *told))

    def _walk(self, start: _Start) -> None:
        """Follow the symbol through the commits of one path."""
        source = self._at(start.commit, start.path)
        if source is None:
            return
        steps = PathHistory(self._files.git, start.commit, start.path)
        wanted = _Wanted([glances.at(source, start.number)])
        try:
            for some in steps:
                self._prefetch(start.path, some)
                for step in some:
                    for glance in wanted.pop(step.oid):
                        for parent, there in self._before(start.path, step, glance):
                            wanted.add(parent, there)
                    if wanted.is_empty:
                        return
        finally:
            steps.close()

    def _prefetch(self, path: str, steps: list[Step]) -> None:
        olds = [step.change.old_oid for step in steps[:_AHEAD] if step.change is not None]
        self._files.prefetch((path, oid) for oid in olds if not oid.is_null)

    def _before(
        self, path: str, step: Step, glance: glances.Glance
    ) -> list[tuple[Oid, glances.Glance]]:
        """Where the symbol was in the steps before this one, after writing down what changed."""
        if step.change is not None:
            there = self._at_commit(path, step.oid, step.change, glance)
            return [(step.parents[0], there)] if there is not None and step.parents else []
        after = self._at(step.oid, path)
        number = _number(after, glance) if after else None
        return self._at_merge(path, step, after, number) if after and number is not None else []

    def _at_commit(
        self, path: str, commit: Oid, change: Change, glance: glances.Glance
    ) -> glances.Glance | None:
        old = change.old_oid
        data = None if old.is_null else self._files.data(path, old)
        language = languages.of_path(path)
        if data is None or language is None:
            return self._at_first(path, commit, change, glance)
        untouched = glances.before(glance, data, language.nesting)
        if untouched is not None:
            return untouched
        seen = glances.changed(
            glance, data, language.nesting, lambda part: self._files.part(path, old, part)
        )
        if seen is not None:
            found = matching.Partners((0, seen.number), (0, glance.number), 1.0, matching.SAME_NAME)
            self._tell(commit, seen, glance, found)
            return seen
        before = self._files.source(path, old)
        there = matching.unmistakable(before, glance.source, glance.number) if before else None
        if before is None or there is None:
            return self._at_first(path, commit, change, glance)
        found = matching.Partners((0, there), (0, glance.number), 1.0, matching.SAME_NAME)
        self._tell(commit, glances.at(before, there), glance, found)
        return glances.at(before, there)

    def _at_first(
        self, path: str, commit: Oid, change: Change, glance: glances.Glance
    ) -> glances.Glance | None:
        """Where it was, if it is not simply there under its name."""
        after = self._files.source(path, change.new_oid)
        before = None if change.old_oid.is_null else self._files.source(path, change.old_oid)
        number = _number(after, glance) if after else None
        if after is None or number is None:
            return None
        found = matching.in_file(before, after, number) if before else None
        if before is None or found is None:
            origin = self._elsewhere(commit, 0, path, number)
            if origin is None or origin.path != path or before is None:
                return None
            found = matching.Partners((0, origin.number), (0, number), *origin[3:])
        there = glances.at(before, found.before[1])
        self._tell(commit, there, glances.at(after, number), found)
        return there

    def _elsewhere(
        self, commit: Oid, parent_number: int, path: str, number: int
    ) -> commits.Origin | None:
        """Where a symbol was that its own file did not have; what it finds is written down."""
        parents = self._files.reader.parents(commit) or ()
        parent = parents[parent_number] if parents else None
        if parent is not None and self._files.reader.parents(parent) is None:
            self._unknown.append(f"{commit[:12]}: the history ends here, because it is shallow")
            parent = None
        comparison = commits.Comparison(
            self._files, parent, commit, languages.family(path)
        )
        origin = comparison.origin(path, number) if parent else None
        new_oid = comparison.new_oid(path)
        after = self._files.source(path, new_oid) if new_oid else None
        if after is None:
            return origin
        if origin is None:
            here = places.place(after, number)
            self._add(history.Change(commit, ("introduced",), None, here, 1.0, "not there before"))
        elif origin.path != path and parent is not None:
            before = self._files.source(origin.path, origin.oid)
            if before is not None:
                partners = matching.Partners((0, origin.number), (0, number), *origin[3:])
                there = glances.at(before, origin.number)
                self._tell(commit, there, glances.at(after, number), partners)
                self._waiting.append(_Start(parent, origin.path, origin.number))
        return origin

    def _at_merge(
        self, path: str, step: Step, after: sources.Source, number: int
    ) -> list[tuple[Oid, glances.Glance]]:
        """Follow the parent that has the same; if none has, the merge is a change of its own."""
        found: list[tuple[matching.Partners, sources.Source]] = []
        for parent in self._files.reader.parents(step.oid) or ():
            before = self._at(parent, path)
            partners = matching.in_file(before, after, number) if before else None
            if before is None or partners is None:
                continue
            if not changes.kinds(before, partners.before[1], after, number):
                return self._onwards(path, step, before, partners)[:1]
            found.append((partners, before))
        if not found:
            self._elsewhere(step.oid, 0, path, number)
            return []
        there = glances.at(found[0][1], found[0][0].before[1])
        self._tell(step.oid, there, glances.at(after, number), found[0][0])
        pairs = [self._onwards(path, step, before, partners) for partners, before in found]
        return [each for pair in pairs for each in pair]

    def _onwards(
        self, path: str, step: Step, before: sources.Source, partners: matching.Partners
    ) -> list[tuple[Oid, glances.Glance]]:
        """The steps before a merge that have this version of the file."""
        having = [each for each in step.parents if self._at(each, path) is before]
        return [(each, glances.at(before, partners.before[1])) for each in having]

    def _at(self, commit: Oid, path: str) -> sources.Source | None:
        blob = self._files.reader.at(commit, path, library.MAX_BYTES)
        return self._files.source(path, blob.oid) if blob else None

    def _tell(
        self,
        commit: Oid,
        before: glances.Glance,
        after: glances.Glance,
        partners: matching.Partners,
    ) -> None:
        kinds = changes.kinds(before.source, before.number, after.source, after.number)
        if kinds:
            there, here = _place(before), _place(after)
            self._add(
                history.Change(commit, kinds, there, here, partners.confidence, partners.evidence)
            )

    def _add(self, change: history.Change) -> None:
        place = change.after or change.before
        assert place is not None  # noqa: S101 - a change has at least one side
        self._found.setdefault((change.commit, place.path, place.qualified), change)


def _place(glance: glances.Glance) -> history.Place:
    place = places.place(glance.source, glance.number)
    line = glance.data.count(b"\n", 0, glance.start) + 1
    return place._replace(line=line, end_line=place.end_line + line - place.line)


def _number(source: sources.Source, glance: glances.Glance) -> int | None:
    """The symbol of a glance among those of a file that has it untouched."""
    name = glance.source.symbols[glance.number].name
    for number, symbol in enumerate(source.symbols):
        if (symbol.start, symbol.end, symbol.name) == (glance.start, glance.end, name):
            return number
    found = matching.in_file(source, glance.source, glance.number)
    return found.before[1] if found else None


def trace(
    git: Git, commit: Oid, path: str, first_line: int, last_line: int
) -> history.History:
    """The history of the smallest symbol that has these lines in a commit."""
    files = library.Library(git, library.InThisProcess())
    try:
        blob = files.reader.at(commit, path, library.MAX_BYTES)
        source = files.source(path, blob.oid) if blob else None
        if source is None:
            return history.History((), (f"{path}: no symbols can be found in it",))
        number = symbols.innermost(source.outline, first_line, last_line)
        if number is None:
            return history.History((), (f"{path}: no symbol has these lines",))
        return Tracer(files).trace(commit, path, number)
    finally:
        files.close()
