"""What one commit did to the symbols of its files, and where one of them was before."""

from __future__ import annotations

import functools
import re
from collections import Counter

from tether.git import Change, Git, Oid, comparing, objects
from tether.hints import NamedTuple
from tether.lineage import (
    candidates,
    history,
    languages,
    library,
    matching,
    parting,
    renames,
    sources,
    symbols,
)

_CLASS_WORDS = (
    rb"\b(?:class|interface|enum|struct|union|trait|record|object|type|typedef|module|protocol)\b"
    rb"[^\n;{]{0,200}?\b"
)

# Of so few bytes nothing can be told.
_SAYS_NOTHING = 5


class Origin(NamedTuple):
    """Where a symbol was before a commit."""

    path: str
    oid: Oid
    number: int
    confidence: float
    evidence: str
    keeps_container: bool


class Matched(NamedTuple):
    """A matcher that has run, with the paths of its files before and after."""

    matcher: matching.Matcher
    olds: list[str]
    news: list[str]


class Comparison:
    """A commit against one of its parents."""

    def __init__(
        self, files: library.Library, parent: Oid | None, commit: Oid, family: str = ""
    ) -> None:
        """Of the files of one family of languages, or of all."""
        self._files = files
        self._family = family
        self._commits = (parent, commit)

    @functools.cached_property
    def _raw(self) -> bytes:
        return self._files.comparer.raw(*self._commits)

    @functools.cached_property
    def _changes(self) -> list[Change]:
        return code_files(
            [objects.read_change(*pair) for pair in comparing.listing(self._raw)], self._family
        )

    @functools.cached_property
    def _renames(self) -> renames.Renames:
        return renames.Renames(self._changes, self._files.data)

    @functools.cached_property
    def _old(self) -> dict[str, Oid]:
        return {c.path: c.old_oid for c in self._changes if _is_file(c.old_mode)}

    @functools.cached_property
    def _new(self) -> dict[str, Oid]:
        return {c.path: c.new_oid for c in self._changes if _is_file(c.new_mode)}

    def origin(self, after: sources.Source, number: int) -> Origin | None:
        """Where a symbol was that was not found in its own file under its name."""
        path = after.path
        if not self._old:
            return None
        found = self._in_renamed_file(path, after, number)
        if found is not None:
            return found
        wanted = {path, self._renames.before(path) or path}
        wanted |= self._concerning(self._old, path, after, _kin(after, number))
        wanted |= self._owning(self._new, after.symbols[number])
        found = self._search(wanted, path, number)
        if found is None or wanted >= {*self._old, *self._new}:
            return found
        # Somebody else may have a better claim to it.
        before = self._files.source(found.path, found.oid)
        if before is not None:
            kin = _kin(before, found.number)
            rivals = self._concerning(self._new, found.path, before, kin)
            rivals |= self._owning(self._old, before.symbols[found.number])
            found = self._search(wanted | rivals, path, number)
        return found

    def _search(self, wanted: set[str], path: str, number: int) -> Origin | None:
        """Match the symbols of some files, and see who is the partner of one."""
        matcher, olds, news = self._matcher(wanted)
        matcher.run()
        partners = matcher.by_after.get((news.index(path), number))
        return None if partners is None else self._origin(olds, partners)

    @property
    def size(self) -> int:
        """How many files were changed in which symbols are looked for."""
        return len(self._changes)

    def matched(self, changes: list[Change] | None = None) -> Matched:
        """All symbols of the files that were changed; by these changes, if they are known."""
        if changes is not None:
            self._changes = code_files(changes, self._family)
        matcher, olds, news = self._matcher(None)
        matcher.run()
        return Matched(matcher, olds, news)

    def renamed(self) -> dict[str, str]:
        """What deleted files became; of those in which symbols are looked for."""
        return self._renames.pairs()

    def namesake(self, path: str) -> tuple[str, Oid] | None:
        """What an added file surely was before: a deleted one of the same name or content.

        What is said by all changes is said by those of these files: thousands of files move at
        once when a directory is renamed.
        """
        name = objects.path_bytes(path[path.rfind("/") + 1 :])
        group = comparing.named(self._raw, name)
        if len(group) < 2:
            return None
        oids = Counter(word for meta, _ in group for word in meta.split()[2:4] if word.strip(b"0"))
        if any(self._raw.count(oid) > count for oid, count in oids.items()):
            # Files with another name have the same content, and may have a better claim to it.
            group = [
                pair
                for pair in comparing.listing(self._raw)
                if pair in group or not oids.keys().isdisjoint(pair[0].split()[2:4])
            ]
        few = [objects.read_change(*pair) for pair in group]
        is_added = any(each.path == path and each.status == "A" for each in few)
        found = renames.by_name(few, self._files.data, path) if is_added else None
        olds = {each.path: each.old_oid for each in few}
        return (found, olds[found]) if found is not None else None

    def _in_renamed_file(self, path: str, after: sources.Source, number: int) -> Origin | None:
        """By its name in the file that its file was before."""
        if path in self._old:
            return None
        self._files.expect(self._renames.asking())
        old_path = self._renames.before(path)
        if old_path is None:
            return None
        return self._by_name(old_path, self._old[old_path], after, number)

    def _by_name(
        self, old_path: str, oid: Oid, after: sources.Source, number: int
    ) -> Origin | None:
        before = self._files.source(old_path, oid)
        partners = matching.in_file(before, after, number) if before else None
        if partners is None:
            return None
        return Origin(old_path, oid, partners.before[1], *partners[2:])

    def _origin(self, olds: list[str], partners: matching.Partners) -> Origin:
        path = olds[partners.before[0]]
        place = self._old[path]
        return Origin(path, place, partners.before[1], *partners[2:])

    def _matcher(self, only: set[str] | None) -> tuple[matching.Matcher, list[str], list[str]]:
        olds, before = self._read(self._old, only)
        news, after = self._read(self._new, only)
        pairs = {(path, path) for path in olds if path in self._new}
        pairs |= set(self._renames.pairs().items()) if only is None else self._few_pairs(news)
        was = {path: number for number, path in enumerate(olds)}
        now = {path: number for number, path in enumerate(news)}
        numbers = sorted((was[old], now[new]) for old, new in pairs if old in was and new in now)
        return matching.Matcher(before, after, numbers), olds, news

    def _few_pairs(self, news: list[str]) -> set[tuple[str, str]]:
        pairs = ((self._renames.before(new), new) for new in news if new not in self._old)
        return {(old, new) for old, new in pairs if old is not None}

    def _read(
        self, files: dict[str, Oid], only: set[str] | None
    ) -> tuple[list[str], list[sources.Source]]:
        paths = sorted(path for path in files if only is None or path in only)
        found = [(path, self._files.source(path, files[path])) for path in paths]
        kept = [(path, source) for path, source in found if source is not None]
        return [path for path, _ in kept], [source for _, source in kept]

    def _concerning(
        self, side: dict[str, Oid], path: str, source: sources.Source, numbers: list[int]
    ) -> set[str]:
        """The files on one side of the commit that may have partners of some symbols."""
        found = set()
        self._files.expect(side.items())
        names = [_definition(source, number) for number in numbers]
        pages = [_page(source, number) for number in numbers]
        for each, oid in side.items():
            if each == path:
                continue
            data = self._files.data(each, oid) or b""
            if any(
                name in data and definition.search(data) and self._is_moved(definition, each)
                for name, definition in names
            ) or any(_is_shared(page, data) for page in pages):
                found.add(each)
        return self._with_former(found)

    def _owning(self, side: dict[str, Oid], symbol: symbols.Symbol) -> set[str]:
        """The files on one side that define what a symbol belongs to but does not stand in."""
        if symbol.parent >= 0 or not symbol.container:
            return set()
        names = set(re.findall(rb"\w+", symbol.container.encode()))
        classes = [(name, re.compile(_CLASS_WORDS + name + rb"\b")) for name in names]
        found = set()
        for each, oid in side.items():
            data = self._files.data(each, oid) or b""
            if any(
                name in data and definition.search(data) and self._is_moved(definition, each)
                for name, definition in classes
            ):
                found.add(each)
        return self._with_former(found)

    def _with_former(self, paths: set[str]) -> set[str]:
        """Paths, and those that they had before."""
        pairs = self._few_pairs([each for each in paths if each in self._new])
        return {*paths, *(old for old, _ in pairs)}

    def _is_moved(self, name: re.Pattern[bytes], path: str) -> bool:
        """Whether the definitions of a name in a file may not be the same before and after."""
        if path not in self._old or path not in self._new:
            return True
        sides = [self._files.data(path, side[path]) or b"" for side in (self._old, self._new)]
        lines = [[_line(data, found.start()) for found in name.finditer(data)] for data in sides]
        return lines[0] != lines[1]


def _kin(source: sources.Source, number: int) -> list[int]:
    """A symbol and those that it stands in."""
    kin = [number]
    while source.symbols[kin[-1]].parent >= 0:
        kin.append(source.symbols[kin[-1]].parent)
    return kin


def compare(git: Git, commit: Oid, parent: Oid | None) -> list[history.Match]:
    """What a commit did to the symbols of the files that it changed."""
    files = library.Library(git, library.InThisProcess())
    try:
        matched = Comparison(files, parent, commit).matched()
        return parting.matches(matched.matcher)
    finally:
        files.close()


def code_files(changes: list[Change], family: str = "") -> list[Change]:
    """Those in which symbols are looked for, of one family of languages or of all."""
    if family:
        return [each for each in changes if languages.family(each.path) == family]
    return [each for each in changes if languages.of_path(each.path)]


def _definition(source: sources.Source, number: int) -> tuple[bytes, re.Pattern[bytes]]:
    """A name and what its definition may look like: more than that, but few other places."""
    symbol = source.symbols[number]
    name = symbol.name.encode()
    word = re.escape(name)
    if symbol.kind == "class":
        return name, re.compile(_CLASS_WORDS + word + rb"\b")
    # A name after a dot is used and not defined, but for languages that assign to it.
    dot = rb"" if languages.family(source.path) == "ecmascript" else rb"\."
    return name, re.compile(rb"(?<![\w" + dot + rb"])" + word + rb"\b")


def _page(source: sources.Source, number: int) -> list[bytes]:
    """The lines of a symbol without its name, the longest first: they stand in the fewest places.

    What is one line long may have no other one but that.
    """
    name = re.compile(rb"\b" + re.escape(source.symbols[number].name.encode()) + rb"\b")
    pieces = (piece.strip() for line in source.lines(number) for piece in name.split(line))
    return sorted({piece for piece in pieces if len(piece) > _SAYS_NOTHING}, key=len, reverse=True)


def _is_shared(page: list[bytes], data: bytes) -> bool:
    """Whether enough of some lines stand in a file."""
    needed = candidates.enough_lines(len(page))
    left = len(page)
    for line in page:
        if left < needed:
            break
        left -= 1
        if line in data:
            needed -= 1
            if not needed:
                return True
    return False


def _line(data: bytes, place: int) -> bytes:
    end = data.find(b"\n", place)
    return data[data.rfind(b"\n", 0, place) + 1 : end if end >= 0 else None].strip()


def _is_file(mode: str) -> bool:
    """Not a link, not a submodule, and there at all."""
    return mode.startswith("100")
