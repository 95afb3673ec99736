"""The task lists of a checkout: where they are, and everything that they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from tether import errors, files, ids, index, text
from tether.hints import NamedTuple
from tether.tasks.sources import dialects, history, kept, model, places, reading

MAX_BYTES = 8 * 1024 * 1024
# A copy of a file has all of its tasks twice: some are enough to see that.
_MAX_PROBLEMS = 100
_MAX_LOOKS = 20
_MAX_PREFIXES = 20


class Detected(NamedTuple):
    """A task list that a checkout has."""

    name: str
    files: tuple[str, ...]
    """From the top of the checkout."""


def detect(top: str) -> tuple[Detected, ...]:
    """The task lists that a checkout has."""
    found = []
    for name in dialects.NAMES:
        paths = tuple(places.found(top, name))
        if paths and (name != dialects.TRACK or _has_tracks(top, paths)):
            found.append(Detected(name, paths))
    return tuple(found)


def _has_tracks(top: str, paths: tuple[str, ...]) -> bool:
    """Is one of them the plan of a team? Others call files `track-…`, too."""
    root = files.Root(top)
    for path in paths[:_MAX_LOOKS]:
        try:
            content = root.read_bytes(path, MAX_BYTES).decode("utf-8", "replace")
        except (errors.FileError, errors.NotFound):
            continue
        if history.states_in(path, content):
            return True
    return False


class Lists:
    """What the task lists of a checkout say together."""

    def __init__(self) -> None:
        self.items: dict[ids.TaskKey, model.Item] = {}
        self.progress: list[model.Progress] = []
        self.aliases: dict[ids.TaskKey, ids.TaskKey] = {}
        """Tasks that were consolidated or renumbered, and where to."""
        self.problems: list[model.Problem] = []

    def add(self, source: str, listing: model.Listing) -> None:
        """Take in what one file says. Of two tasks with one id the first one counts."""
        self.progress += listing.progress
        self.problems += listing.problems
        for old, new in listing.aliases:
            self.aliases.setdefault(ids.TaskKey(source, old), ids.TaskKey(source, new))
        twice = []
        for item in listing.items:
            known = self.items.setdefault(item.key, item)
            if known is not item:
                where = f"{text.one_line(known.path, 100)}, line {known.line}"
                message = f"{item.id} is also in {where}, and that one counts"
                twice.append(model.Problem(item.path, item.line, message))
        self.problems += twice[:_MAX_PROBLEMS]

    def resolve(self, key: ids.TaskKey) -> ids.TaskKey:
        """The task that an id means today, through all that it was consolidated into."""
        seen = {key}
        while key not in self.items and key in self.aliases and self.aliases[key] not in seen:
            key = self.aliases[key]
            seen.add(key)
        return key

    def short_names(self) -> dict[ids.TaskKey, str]:
        """Texts say `T012`, whichever feature it is of: that is clear if only one has it."""
        found: dict[str, list[ids.TaskKey]] = {}
        for key in self.items:
            if key.source == dialects.SPECKIT:
                found.setdefault(key.id.rpartition(".")[2], []).append(key)
        return {keys[0]: name for name, keys in found.items() if len(keys) == 1}

    def prefixes(self) -> tuple[tuple[str, str], ...]:
        """How the ids of lists that choose their own begin, the commonest first."""
        return prefixes(self.items.values())


def choosing(sources: Iterable[str]) -> tuple[str, ...]:
    """Those of the lists whose teams choose how ids begin."""
    return tuple(name for name in sources if name in (dialects.BACKLOG, dialects.BEADS))


def prefixes(items: Iterable[model.Item]) -> tuple[tuple[str, str], ...]:
    """(source, prefix) of the ids of Backlog.md and beads, as `patterns.Kinds` takes them."""
    return prefixes_of((item.source, item.id) for item in items)


def prefixes_of(tasks: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The same from pairs of source and id."""
    found: Counter[tuple[str, str]] = Counter()
    for source, task_id in tasks:
        prefix = task_id.rpartition("-")[0]
        if prefix and choosing((source,)):
            found[source, prefix.lower() if source == dialects.BACKLOG else prefix] += 1
    # In an order that counts do not change: another one would make everything be read again.
    return tuple(sorted(pair for pair, _ in found.most_common(_MAX_PREFIXES)))


def read(top: str, sources: Iterable[str], known: index.Index | None = None) -> Lists:
    """What these lists of a checkout say; with an index, only files that changed are parsed."""
    lists = Lists()
    for source in sources:
        if source in dialects.PLACES:
            for listing in _Source(top, source).listings(known):
                lists.add(source, listing)
    return lists


class _Source:
    """The files of one kind of list."""

    def __init__(self, top: str, name: str) -> None:
        self._top = top
        self._name = name
        self._root = files.Root(top)
        self._refused: dict[str, str] = {}

    def listings(self, known: index.Index | None) -> Iterator[model.Listing]:
        paths = list(places.found(self._top, self._name))
        parsed = self._parsed(known, paths) if known is not None else None
        for path in paths:
            listing = None
            if parsed is not None and path in parsed.facts:
                listing = kept.restored(parsed.values(path))
            yield listing or self._listing(path, self._fetch(path))

    def _parsed(self, known: index.Index, paths: list[str]) -> index.Parsed:
        stamps = {}
        for path in paths:
            seen = places.seen(self._top, path)
            # The index asks by directory, so it cannot keep what stands at the top; and what is no
            # text cannot be a row.
            if seen is not None and "/" in path and text.storable(path) == path:
                stamps[path] = index.stamp(seen)
        below = {path.partition("/")[0] for path in stamps}
        below |= {place.partition("/")[0] for place in dialects.PLACES[self._name]}
        reader = index.Reader(kept.version(self._name), self._fetch, self._record)
        return index.Parsed(known, self._top, sorted(below), stamps, reader)

    def _fetch(self, path: str) -> bytes | None:
        try:
            return self._root.read_bytes(path, MAX_BYTES)
        except errors.NotFound:
            self._refused[path] = "it has just vanished"
        except errors.FileTooLarge:
            self._refused[path] = f"it has more than {MAX_BYTES // 1024 // 1024} MiB"
        except errors.LinkRefused:
            self._refused[path] = "it is a link, or stands behind one"
        except errors.FileError as problem:
            self._refused[path] = f"it cannot be read ({problem.code})"
        return None

    def _listing(self, path: str, content: bytes | None) -> model.Listing:
        if content is None:
            problem = model.Problem(path, 0, self._refused.get(path, "it cannot be read"))
            return model.Listing((), problems=(problem,))
        return reading.parse(self._name, path, content)

    def _record(self, path: str, content: bytes | None) -> index.Record:
        return kept.record(self._listing(path, content))
