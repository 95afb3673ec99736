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
_BY_NAME = matching.Partners((0, 0), (0, 0), 1.0, matching.SAME_NAME)


class _Start(NamedTuple):
    """A symbol that is to be followed from a commit, and the steps of its file."""

    commit: Oid
    path: str
    glance: glances.Glance
    steps: PathHistory
    """Begun as soon as it is known which file comes next: git needs most of the time."""


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

    def trace(self, start: _Start) -> history.History:
        self._waiting = [start]
        seen: set[tuple[Oid, str, int]] = set()
        try:
            while self._waiting:
                start = self._waiting[0]
                key = (start.commit, start.path, start.glance.start)
                if key not in seen:
                    seen.add(key)
                    self._walk(start)
                self._waiting.pop(0).steps.close()
        finally:
            for each in self._waiting:
                each.steps.close()
        told = [f"{path}: {why}" for path, why in self._files.unknown.items()]
        return history.History(tuple(self._found.values()), (*self._unknown, *told))

    def _walk(self, start: _Start) -> None:
        """Follow the symbol through the commits of one path."""
        wanted = _Wanted([start.glance])
        for some in start.steps:
            self._prefetch(start.path, some)
            for step in some:
                for glance in wanted.pop(step.oid):
                    for parent, there in self._before(step, glance):
                        wanted.add(parent, there)
                if wanted.is_empty:
                    return

    def _prefetch(self, path: str, steps: list[Step]) -> None:
        olds = [step.change.old_oid for step in steps[:_AHEAD] if step.change is not None]
        self._files.prefetch((path, oid) for oid in olds if not oid.is_null)

    def _before(self, step: Step, glance: glances.Glance) -> list[tuple[Oid, glances.Glance]]:
        """Where the symbol was in the steps before this one, after writing down what changed."""
        if step.change is not None:
            there = self._at_commit(step.oid, step.change, glance)
            return [(step.parents[0], there)] if there is not None and step.parents else []
        after = self._files.at(step.oid, glance.source.path)
        number = _number(after, glance) if after else None
        return self._at_merge(step, after, number) if after and number is not None else []

    def _at_commit(
        self, commit: Oid, change: Change, glance: glances.Glance
    ) -> glances.Glance | None:
        """Where it was in its own file; None if it was not, or not in a way that is known."""
        if not change.old_oid.is_null:
            seen = self._by_name(glance, change.path, change.old_oid)
            if seen is not None:
                self._tell(commit, seen, glance)
                return seen
        parent = self._parent(commit)
        family = languages.family(change.path)
        comparison = commits.Comparison(self._files, parent, commit, family) if parent else None
        renamed = comparison.namesake(change.path) if comparison else None
        if renamed is not None and parent is not None:
            steps = PathHistory(self._files.git, parent, renamed[0])
            seen = self._by_name(glance, *renamed)
            if seen is not None:
                self._tell(commit, seen, glance)
                self._waiting.append(_Start(parent, renamed[0], seen, steps))
                return None
            steps.close()
        after = self._files.source(change.path, change.new_oid)
        number = _number(after, glance) if after else None
        if after is None or number is None:
            return None
        before = None if change.old_oid.is_null else self._files.source(change.path, change.old_oid)
        found = matching.in_file(before, after, number) if before else None
        if before is not None and found is not None:
            there = glances.at(before, found.before[1])
            self._tell(commit, there, glances.at(after, number), found)
            return there
        return self._elsewhere(commit, parent, comparison, glances.at(after, number))

    def _by_name(self, glance: glances.Glance, path: str, oid: Oid) -> glances.Glance | None:
        """The symbol in an earlier version of its file, if nothing but its name need be known."""
        data = self._files.data(path, oid)
        language = languages.of_path(path)
        if data is None or language is None:
            return None
        here = glance.in_file(path)
        seen = glances.before(here, data, language.nesting) or glances.changed(
            here, data, language.nesting, lambda part: self._files.part(path, oid, part)
        )
        if seen is not None:
            return seen
        before = self._files.source(path, oid)
        there = matching.unmistakable(before, glance.source, glance.number) if before else None
        return glances.at(before, there) if before and there is not None else None

    def _parent(self, commit: Oid) -> Oid | None:
        """The first parent, if it is here."""
        parents = self._files.reader.parents(commit) or ()
        if parents and self._files.reader.parents(parents[0]) is None:
            self._unknown.append(f"{commit[:12]}: the history ends here, because it is shallow")
            return None
        return parents[0] if parents else None

    def _elsewhere(
        self,
        commit: Oid,
        parent: Oid | None,
        comparison: commits.Comparison | None,
        glance: glances.Glance,
    ) -> glances.Glance | None:
        """Where a symbol was that its own file did not have under its name.

        In another place of that file; in another file, which is followed next; or nowhere.
        """
        origin = comparison.origin(glance.source, glance.number) if comparison else None
        before = self._files.source(origin.path, origin.oid) if origin else None
        if origin is None or before is None or parent is None:
            here = _place(glance)
            self._add(history.Change(commit, ("introduced",), None, here, 1.0, "not there before"))
            return None
        there = glances.at(before, origin.number)
        partners = matching.Partners((0, origin.number), (0, glance.number), *origin[3:])
        self._tell(commit, there, glance, partners)
        if origin.path == glance.source.path:
            return there
        steps = PathHistory(self._files.git, parent, origin.path)
        self._waiting.append(_Start(parent, origin.path, there, steps))
        return None

    def _at_merge(
        self, step: Step, after: sources.Source, number: int
    ) -> list[tuple[Oid, glances.Glance]]:
        """Follow the parent that has the same; if none has, the merge is a change of its own."""
        here = glances.at(after, number)
        found: list[tuple[matching.Partners, sources.Source]] = []
        for parent in self._files.reader.parents(step.oid) or ():
            before = self._files.at(parent, after.path)
            partners = matching.in_file(before, after, number) if before else None
            if before is None or partners is None:
                continue
            if not changes.kinds(before, partners.before[1], after, number):
                return self._onwards(step, before, partners)[:1]
            found.append((partners, before))
        if found:
            partners, before = found[0]
            self._tell(step.oid, glances.at(before, partners.before[1]), here, partners)
            pairs = [self._onwards(step, before, partners) for partners, before in found]
            return [each for pair in pairs for each in pair]
        parent = self._parent(step.oid)
        family = languages.family(after.path)
        comparison = commits.Comparison(self._files, parent, step.oid, family) if parent else None
        self._elsewhere(step.oid, parent, comparison, here)
        return []

    def _onwards(
        self, step: Step, before: sources.Source, partners: matching.Partners
    ) -> list[tuple[Oid, glances.Glance]]:
        """The steps before a merge that have this version of the file."""
        having = [each for each in step.parents if self._files.at(each, before.path) is before]
        return [(each, glances.at(before, partners.before[1])) for each in having]

    def _tell(
        self,
        commit: Oid,
        before: glances.Glance,
        after: glances.Glance,
        partners: matching.Partners = _BY_NAME,
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


def trace(git: Git, commit: Oid, path: str, first_line: int, last_line: int) -> history.History:
    """The history of the smallest symbol that has these lines in a commit."""
    files = library.Library(git, library.InThisProcess())
    steps = PathHistory(git, commit, path)
    try:
        source = files.at(commit, path)
        if source is None:
            return history.History((), (f"{path}: no symbols can be found in it",))
        number = symbols.innermost(source.outline, first_line, last_line)
        if number is None:
            return history.History((), (f"{path}: no symbol has these lines",))
        start = _Start(commit, path, glances.at(source, number), steps)
        return Tracer(files).trace(start)
    finally:
        steps.close()
        files.close()
