"""The history of one symbol, backwards from a commit, without any index.

Git says which commits changed the symbol's file. Where the symbol is not in the version before, the
whole commit is looked at, and if it was in another file, that file's commits are next.
"""

from __future__ import annotations

from collections.abc import Sequence

from tether.git import Change, Git, Oid, path_history
from tether.git.path_history import PathHistory, Step
from tether.hints import NamedTuple
from tether.lineage import (
    births,
    changes,
    commits,
    cuts,
    expecting,
    glances,
    history,
    languages,
    library,
    matching,
    merges,
    namesakes,
    places,
    sources,
    symbols,
)

# Greater than the number of any parent: what is born on the way is born after its turnings.
_LAST = 1 << 16
# From then on git says what is before each step: with many merges, that is cheaper.
_MAX_TURNS = 16
NOT_THERE = "not there before"
NOT_THERE_ANY_MORE = "not there any more"
BROUGHT_BACK = "brought back as it was when it was deleted"
_BY_NAME = matching.Partners((0, 0), (0, 0), 1.0, matching.SAME_NAME, keeps_container=True)


class _Start(NamedTuple):
    """A symbol that is to be followed from a commit, and the steps of its file."""

    commit: Oid
    path: str
    sight: expecting.Sight
    steps: PathHistory
    """Begun as soon as it is known which file comes next: git needs most of the time."""


class Tracer:
    """Follows one symbol."""

    def __init__(self, files: library.Library) -> None:
        self._files = files
        self._found: dict[tuple[Oid, str, str], history.Change] = {}
        self._births: dict[tuple[int, ...], str] = {}
        self._waiting: list[_Start] = []
        self._over: list[_Start] = []
        self._turns = 0
        """How often another git was started where lines part or come together."""
        self._unknown: list[str] = []

    def trace(self, start: _Start) -> history.History:
        self._waiting = [start]
        seen: set[tuple[Oid, str, int, bool]] = set()
        try:
            while self._waiting:
                start = self._waiting[0]
                place = start.sight.glance.start
                key = (start.commit, start.path, place, start.steps.has_parents)
                if key not in seen:
                    seen.add(key)
                    self._walk(start)
                start.steps.stop()
                self._over.append(self._waiting.pop(0))
        finally:
            # To wait for a git that ends takes as long as many a step.
            for each in (*self._over, *self._waiting):
                each.steps.close()
        told = [cuts.told(path, why) for path, why in self._files.unknown.items()]
        unknown = tuple(dict.fromkeys((*self._unknown, *told)))
        node = self._births[min(self._births)] if self._births else ""
        return history.History(tuple(self._found.values()), unknown, node)

    def _walk(self, start: _Start) -> None:
        """Follow the symbol through the commits of one path."""
        wanted = expecting.Wanted(start.sight)
        last = start.commit
        for some in start.steps:
            self._expect(start.path, some)
            for step in some:
                last = step.oid
                for each, expected in wanted.in_step(step):
                    for parent, there in self._before(each, expected):
                        wanted.add(parent, there)
                if start.steps.has_parents and (line := wanted.line) and self._may_turn:
                    start.steps.stop()
                    self._go_on(line[0], start.path, line[1])
                    return
                if wanted.is_empty:
                    return
        if wanted.has_sight:  # git ends where it cannot read on
            self._unknown.append(f"{start.path}: what was before {last[:12]} could not be read")

    def _go_on(
        self, commit: Oid, path: str, sight: expecting.Sight, *, has_parents: bool = False
    ) -> None:
        """Follow the symbol from a commit in the same path, before anything else is followed."""
        self._turns += 1
        self._stop_line()
        steps = PathHistory(self._files.git, commit, path, has_parents=has_parents)
        self._waiting.insert(1, _Start(commit, path, sight, steps))

    def _go_to(self, commit: Oid, path: str, sight: expecting.Sight) -> None:
        """Follow the symbol from a commit in another path, which ends a line of this one."""
        self._stop_line()
        steps = PathHistory(self._files.git, commit, path)
        self._waiting.append(_Start(commit, path, sight, steps))

    def _stop_line(self) -> None:
        """Read no more steps of this path, unless there may be other lines of them."""
        if not self._waiting[0].steps.has_parents:
            self._waiting[0].steps.stop()

    @property
    def _may_turn(self) -> bool:
        return self._turns < _MAX_TURNS

    def _expect(self, path: str, steps: list[Step]) -> None:
        olds = [step.change.old_oid for step in steps if step.change is not None]
        self._files.expect((path, oid) for oid in olds if not oid.is_null)

    def _before(
        self, step: Step, expected: expecting.Expected
    ) -> list[tuple[Oid, expecting.Expected]]:
        """Where the symbol was in the steps before this one, after writing down what changed."""
        if isinstance(expected, expecting.Lost):
            there = self._before_loss(step, expected)
            return [(parent, there) for parent in step.parents[:1]] if there else []
        seen = self._in_step(step.change, expected.glance) if step.change else None
        if step.change is not None and not self._is_merged(step, seen, expected.glance):
            there = self._at_commit(step.oid, step.change, expected, seen)
            return [(parent, there) for parent in step.parents[:1]] if there else []
        if path_history.FOLLOWING in step.parents and not self._may_turn:
            self._go_on(step.oid, expected.glance.source.path, expected, has_parents=True)
            return []
        untouched = self._in_a_parent(step, expected)
        if untouched is not None:
            return self._at_parent(step, *untouched)
        after = self._files.at(step.oid, expected.glance.source.path)
        number = _number(after, expected.glance) if after else None
        if after is None or number is None:
            path = expected.glance.source.path
            self._unknown.append(f"{step.oid[:12]}: {path} could not be read as before")
            return []
        return self._at_merge(step, expecting.Sight(glances.at(after, number), expected.rank))

    def _in_step(self, change: Change, glance: glances.Glance) -> glances.Glance | None:
        """The symbol in the version of its file before a step, by its name."""
        old = change.old_oid
        return None if old.is_null else self._by_name(glance, change.path, old)

    @staticmethod
    def _is_merged(step: Step, seen: glances.Glance | None, glance: glances.Glance) -> bool:
        """Whether a merge changed it that git shows as a commit: one parent alone has the path."""
        return step.is_merge and (seen is None or bool(_kinds(seen, glance, _BY_NAME)))

    def _at_commit(
        self, commit: Oid, change: Change, sight: expecting.Sight, seen: glances.Glance | None
    ) -> expecting.Expected | None:
        """Where it was in its own file; None if it was not, or not in a way that is known."""
        glance = sight.glance
        if seen is not None:
            self._tell(commit, seen, glance)
            return sight._replace(glance=seen)
        parent = self._parent(commit)
        family = languages.family(change.path)
        comparison = commits.Comparison(self._files, parent, commit, family) if parent else None
        if change.old_oid.is_null and self._in_namesake(commit, parent, comparison, sight):
            return None
        after = self._files.source(change.path, change.new_oid)
        number = _number(after, glance) if after else None
        if after is None or number is None:
            self._unknown.append(f"{commit[:12]}: {change.path} could not be read as before")
            return None
        here = sight._replace(glance=glances.at(after, number))
        before = None if change.old_oid.is_null else self._files.source(change.path, change.old_oid)
        found = matching.in_file(before, after, number) if before else None
        if before is not None and found is not None:
            there = glances.at(before, found.before[1])
            self._tell(commit, there, here.glance, found)
            return sight._replace(glance=there)
        return self._elsewhere(commit, parent, comparison, here)

    def _in_namesake(
        self,
        commit: Oid,
        parent: Oid | None,
        comparison: commits.Comparison | None,
        sight: expecting.Sight,
    ) -> bool:
        """Whether it was in a file that was renamed as a whole, which is followed next."""
        renamed = comparison.namesake(sight.glance.source.path) if comparison else None
        if renamed is None or parent is None:
            return False
        seen = self._by_name(sight.glance, *renamed)
        if seen is None:
            return False
        self._go_to(parent, renamed[0], sight._replace(glance=seen))
        self._tell(commit, seen, sight.glance)
        return True

    def _by_name(self, glance: glances.Glance, path: str, oid: Oid) -> glances.Glance | None:
        """The symbol in an earlier version of its file, if nothing but its name need be known."""
        data = self._files.data(path, oid)
        language = languages.of_path(path)
        if data is None or language is None:
            return None
        here = glance.in_file(path)
        untouched = glances.before(here, data, language.nesting)
        if untouched is not None:
            return untouched
        seen = glances.changed(
            here, data, language.nesting, lambda part: self._files.part(path, oid, part)
        )
        if seen is not None and not _is_left(seen, here):
            return seen
        before = self._files.source(path, oid)
        where = (glance.source, glance.number, glance.rest)
        there = namesakes.unmistakable(before, *where) if before else None
        return glances.at(before, there) if before and there is not None else None

    def _parent(self, commit: Oid) -> Oid | None:
        """The first parent, if it is here."""
        return next(iter(self._files.parents(commit)), None)

    def _elsewhere(
        self,
        commit: Oid,
        parent: Oid | None,
        comparison: commits.Comparison | None,
        sight: expecting.Sight,
    ) -> expecting.Expected | None:
        """Where a symbol was that its own file did not have under its name.

        In another place of that file; in another file, which is followed next; or nowhere.
        """
        glance = sight.glance
        origin = comparison.origin(glance.source, glance.number) if comparison else None
        before = self._files.source(origin.path, origin.oid) if origin else None
        if origin is None or before is None or parent is None:
            return self._introduce(commit, sight)
        there = glances.at(before, origin.number)
        partners = matching.Partners((0, origin.number), (0, glance.number), *origin[3:])
        self._tell(commit, there, glance, partners)
        if origin.path == glance.source.path:
            return sight._replace(glance=there)
        self._go_to(parent, origin.path, sight._replace(glance=there))
        return None

    def _introduce(self, commit: Oid, sight: expecting.Sight) -> expecting.Lost | None:
        """The end, unless the commit says that it brings something back."""
        source, number = sight.glance.source, sight.glance.number
        self._births.setdefault((*sight.rank, _LAST), births.node_id(source, number))
        if self._is_cut(commit, source.path):
            return None
        here = _place(sight.glance)
        self._add(history.Change(commit, ("introduced",), None, here, 1.0, NOT_THERE))
        if births.says_revert(self._files.reader.message(commit)):
            return expecting.Lost(births.life(source, number), sight.rank, commit)
        return None

    def _is_cut(self, commit: Oid, path: str) -> bool:
        """Whether it is not known what was before, which is written down."""
        every = self._files.parents(commit)
        blobs = [self._files.reader.at(parent, path, library.MAX_BYTES) for parent in every]
        olds = [blob.oid for blob in blobs if blob]
        why = cuts.before(self._files, commit, path, olds)
        self._unknown += why
        return bool(why)

    def _before_loss(self, step: Step, lost: expecting.Lost) -> expecting.Expected | None:
        """The symbol in the version that the step before its deletion had, or further back."""
        if step.change is None or step.is_merge:
            return None  # on which side of a merge it was deleted is not looked for
        path, old = step.change.path, step.change.old_oid
        data = None if old.is_null else self._files.data(path, old)
        source = self._files.source(path, old) if data and lost.life.text in data else None
        numbers = range(len(source.symbols)) if source else ()
        same = [each for each in numbers if source and births.life(source, each) == lost.life]
        if source is not None and same:
            for number in self._deleted(step.oid, step.change, same):
                return self._bring_back(step, source, number, lost)
        is_far = lost.steps_left <= 1
        return None if is_far else lost._replace(steps_left=lost.steps_left - 1)

    def _deleted(self, commit: Oid, change: Change, numbers: list[int]) -> list[int]:
        """Those symbols of a file that a commit deleted: they neither stayed nor went elsewhere."""
        parent = self._parent(commit)
        is_unread = not change.new_oid.is_null and not self._files.source(
            change.path, change.new_oid
        )
        if parent is None or is_unread:
            return []
        family = languages.family(change.path)
        matched = commits.Comparison(self._files, parent, commit, family).matched()
        file = matched.olds.index(change.path)
        return [each for each in numbers if (file, each) not in matched.matcher.by_before]

    def _bring_back(
        self, step: Step, source: sources.Source, number: int, lost: expecting.Lost
    ) -> expecting.Sight:
        there = glances.at(source, number)
        gone = history.Change(step.oid, ("deleted",), _place(there), None, 1.0, NOT_THERE_ANY_MORE)
        self._add(gone)
        key = (lost.brought_back, source.path, lost.life.qualified)
        self._found[key] = self._found[key]._replace(confidence=0.95, evidence=BROUGHT_BACK)
        self._births.pop((*lost.rank, _LAST), None)
        return expecting.Sight(there, lost.rank)

    def _in_a_parent(
        self, step: Step, sight: expecting.Sight
    ) -> tuple[Oid, expecting.Sight] | None:
        """The first parent of a merge that has the symbol, if it is untouched there at a glance."""
        path = sight.glance.source.path
        language = languages.of_path(path)
        symbol = sight.glance.source.symbols[sight.glance.number]
        is_outside = symbol.parent < 0 and symbol.container
        if language is None or symbol.kind in ("class", "section") or is_outside:
            return None  # these may be untouched with another text
        text = sight.glance.source.text(sight.glance.number)
        for parent in self._files.parents(step.oid):
            data = self._files.data_at(parent, path)
            if data is not None and text in data:
                seen = glances.before(sight.glance, data, language.nesting)
                return (parent, expecting.Sight(seen, (*sight.rank, 0))) if seen else None
        return None

    def _at_merge(self, step: Step, sight: expecting.Sight) -> list[tuple[Oid, expecting.Expected]]:
        """Follow the parent that has the same; if none has, all that have it in some way."""
        glance = sight.glance
        path = glance.source.path
        here = self._files.parents(step.oid)
        ways = merges.Merge(self._files, step.oid, here).ways(glance.source, glance.number)
        if path_history.FOLLOWING in step.parents and len(ways) > 1:
            self._go_on(step.oid, path, sight, has_parents=True)
            return []
        changed = merges.own_change(ways)
        if changed is not None:
            there = glances.at(changed.before, changed.partners.before[1])
            self._tell(step.oid, there, glance, changed.partners)
        if not ways:
            self._introduce(step.oid, sight)
        found: list[tuple[Oid, expecting.Expected]] = []
        for turn, way in enumerate(ways):
            there = glances.at(way.before, way.partners.before[1])
            seen = expecting.Sight(there, (*sight.rank, turn))
            if way.before.path == path:
                taken = [oid for oid, _ in found]
                found += self._at_parent(step, here[way.parent], seen, taken)
            else:
                self._go_to(here[way.parent], way.before.path, seen)
        return found

    def _at_parent(
        self, step: Step, parent: Oid, sight: expecting.Sight, taken: Sequence[Oid] = ()
    ) -> list[tuple[Oid, expecting.Expected]]:
        """The step before a merge that has what a parent has, rather one that is not yet taken.

        If none is known, the parent is where to go on.
        """
        path, data = sight.glance.source.path, sight.glance.data
        steps = [each for each in step.parents if each != path_history.FOLLOWING]
        having = [each for each in steps if self._files.data_at(each, path) == data]
        if having:
            return [(min(having, key=lambda each: each in taken), sight)]
        self._go_on(parent, path, sight)
        return []

    def _tell(
        self,
        commit: Oid,
        before: glances.Glance,
        after: glances.Glance,
        partners: matching.Partners = _BY_NAME,
    ) -> None:
        if kinds := _kinds(before, after, partners):
            there, here = _place(before), _place(after)
            self._add(
                history.Change(commit, kinds, there, here, partners.confidence, partners.evidence)
            )

    def _add(self, change: history.Change) -> None:
        place = change.after or change.before
        assert place is not None  # noqa: S101 - a change has at least one side
        self._found.setdefault((change.commit, place.path, place.qualified), change)


def _is_left(before: glances.Glance, after: glances.Glance) -> bool:
    """Whether somebody else may have what it was: the whole file has to say."""
    was, now = (before.source, before.number), (after.source, after.number)
    return namesakes.is_left(*was, *now, after.rest)


def _kinds(
    before: glances.Glance, after: glances.Glance, partners: matching.Partners
) -> tuple[history.ChangeKind, ...]:
    was, now = (before.source, before.number), (after.source, after.number)
    return changes.kinds(*was, *now, keeps_container=partners.keeps_container)


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


def follow(
    files: library.Library, commit: Oid, source: sources.Source, number: int
) -> history.History:
    """The history of a symbol of a file as it is in a commit."""
    steps = PathHistory(files.git, commit, source.path)
    start = _Start(commit, source.path, expecting.Sight(glances.at(source, number)), steps)
    return Tracer(files).trace(start)


def trace(git: Git, commit: Oid, path: str, first_line: int, last_line: int) -> history.History:
    """The history of the smallest symbol that has these lines in a commit."""
    files = library.Library(git, library.InThisProcess())
    # Begun before the file is parsed: git needs most of the time.
    steps = PathHistory(git, commit, path)
    try:
        source = files.at(commit, path)
        if source is None:
            return history.History((), (f"{path}: no symbols can be found in it",))
        number = symbols.innermost(source.outline, first_line, last_line)
        if number is None:
            return history.History((), (f"{path}: no symbol has these lines",))
        start = _Start(commit, path, expecting.Sight(glances.at(source, number)), steps)
        return Tracer(files).trace(start)
    finally:
        steps.close()
        files.close()
