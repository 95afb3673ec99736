"""Which symbol a person means: `PATH:LINE`, `PATH:FIRST-LAST`, `PATH#name`, or a name alone.

A name is whole (`Session.fetch`) or the end of one (`fetch`); `@2` takes the second of those that
are called the same in one file. `::` is as good as a dot and as the sign after a path, but names
that have it, as headings may, are taken as they are written first.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable

from tether import errors, text
from tether.git import Oid, TreeEntry, searching
from tether.hints import NamedTuple
from tether.lineage import installed, languages, library, sources, symbols

_LINES = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_WORDS = re.compile(r"\w(?:.*\w)?")
_AFTER_PATH = re.compile("#|::")
# Names that more files have are no names to find something by.
_MAX_FILES = 1000
_MAX_NAMED = 10
_MAX_NEAR, _NEAR = 3, 0.75
_LINK, _SUBMODULE, _DIRECTORY = "120000", "160000", "tree"
_TOP = "."
FORMS = "Name it as PATH:LINE, PATH#Class.name or Class.name."

_IN_FILE = "PATH:LINE or PATH#name."
_COMMITS = "`git log --follow -- PATH` shows its commits"
_INSTEAD: dict[library.WhyNot, str] = {
    "too large": f"{_COMMITS}; `tether lineage history --at` takes one in which it was smaller.",
    "minified": f"Name the file that it was made from. {_COMMITS}.",
    "binary": f"{_COMMITS}.",
    "missing": "`git fetch --refetch --no-filter` brings what a partial clone left out.",
    "quarantined": "`tether reindex` has it tried again.",
}


class Candidate(NamedTuple):
    """A symbol that may be meant."""

    source: sources.Source
    number: int

    @property
    def symbol(self) -> symbols.Symbol:
        return self.source.symbols[self.number]

    @property
    def selector(self) -> str:
        """What names this one and no other."""
        name = self.symbol.qualified
        alike = [n for n, each in enumerate(self.source.symbols) if each.qualified == name]
        count = f"@{alike.index(self.number) + 1}" if len(alike) > 1 else ""
        return f"{self.source.path}#{name}{count}"


class _Named(NamedTuple):
    """One that is called so, and how far its name is from what was said."""

    distance: int
    candidate: Candidate


class Finder:
    """Finds symbols in one commit, for somebody who stands in one of its directories."""

    def __init__(self, files: library.Library, commit: Oid, below: str = "") -> None:
        self._files = files
        self._commit = commit
        self._below = below
        self._entries: dict[str, TreeEntry | None] = {}

    def find(self, words: str) -> Candidate:
        """The symbol that these words mean."""
        path, _, after = words.rpartition(":")
        lines = _LINES.fullmatch(after) if path else None
        split = None if lines and self.entry(path) else self.split(words)
        if split is not None:
            return self._in_file(*split)
        if lines and (self.entry(path) or _is_path(path)):
            return self.at_lines(path, int(lines[1]), int(lines[2] or lines[1]))
        entry = self.entry(words)
        if entry is None:
            named = self._anywhere(words)
            if not named and _is_path(words):
                raise self._no_file(words)
            return self._one(named, words)
        # A symbol may be called like a directory.
        found = self._anywhere(words) if entry.kind == _DIRECTORY else []
        if found:
            return self._one(found, words)
        what, hint = _other_than_file(entry) or ("a whole file", f"Name a symbol in it: {_IN_FILE}")
        raise errors.UsageError(f"{_shown(words)} is {what}.", hint=hint)

    def at_lines(self, path: str, first: int, last: int) -> Candidate:
        """The smallest symbol that has all of these lines."""
        if not 0 < first <= last:
            raise errors.UsageError("Lines count from 1, the first one first.", hint=FORMS)
        source = self._source(path)
        number = symbols.innermost(source.outline, first, last)
        if number is None:
            which = f"line {first}" if first == last else f"lines {first} to {last}"
            raise errors.NotFound(
                f"No symbol of {_shown(source.path)} has {which} in commit {self._commit[:12]}.",
                hint="Name a line inside a function, a class, a constant or a section.",
            )
        return Candidate(source, number)

    def split(self, words: str) -> tuple[str, str] | None:
        """A path and the name after it; None if the words are a name alone, or lines."""
        # A path may have the signs, too: then a later one begins the name.
        signs = _AFTER_PATH.finditer(words)
        found = [(words[: sign.start()], sign[0], words[sign.end() :]) for sign in signs]
        for path, sign, name in found:
            entry = self.entry(path) if path else None
            if entry is not None and (sign == "#" or entry.kind != _DIRECTORY):
                return path, name
        # Of a file that is not there; names may have the signs, too.
        return next(((path, name) for path, _, name in found if _is_path(path)), None)

    def _in_file(self, path: str, name: str) -> Candidate:
        if not name.strip():
            raise errors.UsageError("This names no symbol of a file.", hint=FORMS)
        source = self._source(path)
        found = _named(source, name)
        hint = "" if found else _near(source, name)
        return self._one(found, name, f" in {_shown(source.path)}", hint)

    def _anywhere(self, name: str) -> list[_Named]:
        """The symbols of this name, whichever files have them."""
        word = _telling(_counted(_plain(name))[0])
        if not word:
            raise errors.UsageError("This names no symbol.", hint=FORMS)
        having = searching.files_with(self._files.git, self._commit, word)
        if not having and " " in word:  # a heading of two lines
            word = max(word.split(), key=len)
            having = searching.files_with(self._files.git, self._commit, word)
        paths = [path for path in having if languages.of_path(path)]
        if len(paths) > _MAX_FILES:
            raise errors.UsageError(
                f"{text.counted(len(paths), 'file')} have the word {_shown(word)}.",
                hint="Say which file: PATH#name.",
            )
        found: list[_Named] = []
        for path, entry in self._files.git.entries(self._commit, paths).items():
            source = self._files.source(path, entry.oid) if entry else None
            found += _named(source, name) if source else ()
        return found

    def _one(self, found: list[_Named], name: str, where: str = "", hint: str = "") -> Candidate:
        best = min((each.distance for each in found), default=0)
        chosen = [each.candidate for each in found if each.distance == best]
        if len(chosen) == 1:
            return chosen[0]
        if chosen:
            raise _several(name, chosen)
        raise errors.NotFound(
            f"No symbol{where} is called {_shown(name)} in commit {self._commit[:12]}.",
            hint=hint or FORMS,
        )

    def _source(self, path: str) -> sources.Source:
        """The file at a path, which must be one with symbols."""
        entry = self.entry(path)
        shown = _shown(path)
        if entry is None:
            raise self._no_file(path)
        if other := _other_than_file(entry):
            what, hint = other
            raise errors.NotFound(f"No symbols can be found in {shown}: it is {what}.", hint=hint)
        language = languages.of_path(entry.path)
        if language is None:
            raise errors.NotFound(
                f"No symbols are looked for in {shown}: files of its kind are not known.",
                hint=f"Known are {', '.join(languages.BY_NAME)}.",
            )
        source = self._files.source(entry.path, entry.oid)
        if source is not None:
            return source
        why = self._files.unknown.get(entry.path, "missing")
        if why == "no grammar":
            raise errors.ExtraMissing(
                f"The grammar of {language.name} is not installed.",
                hint=installed.HINT,
            )
        raise errors.NotFound(
            f"No symbols can be found in {shown}: {library.WHY[why]}.",
            hint=_INSTEAD[why],
            details={"why": why},
        )

    def _no_file(self, path: str) -> errors.NotFound:
        """What to say of a path that the commit does not have."""
        usual = "Name it as that commit has it, or see `tether lineage history --help`."
        return errors.NotFound(
            f"There is no file {_shown(path)} in commit {self._commit[:12]}.",
            hint=self.near_files(path) or usual,
        )

    def near_files(self, path: str) -> str:
        """What to ask somebody who named a file that is not there; nothing if none is near."""
        wanted = posixpath.normpath(posixpath.join(self._below, path))
        found = _near_paths(wanted, (entry.path for entry in self._files.git.tree(self._commit)))
        return f"Did you mean {' or '.join(map(typed, found))}?" if found else ""

    def entry(self, path: str) -> TreeEntry | None:
        """What the commit has at a path: seen from where the asker stands, or from the top."""
        if path not in self._entries:
            places = dict.fromkeys((posixpath.join(self._below, path), path)) if path else ()
            found = (self._at(posixpath.normpath(place)) for place in places)
            self._entries[path] = next((each for each in found if each is not None), None)
        return self._entries[path]

    def _at(self, wanted: str) -> TreeEntry | None:
        if wanted.startswith(("../", "/")) or wanted == ".." or "\0" in wanted:
            return None
        if wanted == _TOP:
            return TreeEntry("", _DIRECTORY, self._commit, _TOP)
        for found in self._files.git.tree(self._commit, paths=[wanted]):
            is_it = found.path == wanted
            return found if is_it else TreeEntry("", _DIRECTORY, self._commit, wanted)
        return None


def _other_than_file(entry: TreeEntry) -> tuple[str, str] | None:
    """What something is that has no symbols, and what to name instead; None for a file."""
    if entry.kind == _DIRECTORY:
        return "a directory", f"Name a symbol of a file in it: {_IN_FILE}"
    if entry.mode == _SUBMODULE:
        return "a submodule, which has a history of its own", "Ask in its own checkout."
    if entry.mode == _LINK:
        return "a symbolic link", "Name the file that it points to."
    return None


def _named(source: sources.Source, name: str) -> list[_Named]:
    """The symbols of a file that are called so: by their whole name, or else by its end."""
    found = _called(source, name)
    short, count = _counted(name.strip())
    if not found and count:
        found = _called(source, short)[count - 1 : count]
    return [_Named(distance, Candidate(source, number)) for distance, number in found]


def _called(source: sources.Source, name: str) -> list[tuple[int, int]]:
    """How far their names are from this one, and the numbers of those with the nearest."""
    plain = _plain(name)
    found = []
    for number, symbol in enumerate(source.symbols):
        whole = _plain(symbol.qualified)
        if symbol.qualified == name.strip():
            found.append((0, number))
        elif whole == plain:
            found.append((1, number))
        elif whole.endswith(f".{plain}"):
            found.append((2, number))
    nearest = min(found, default=(0, 0))[0]
    return [each for each in found if each[0] == nearest]


def _near(source: sources.Source, name: str) -> str:
    """What to ask somebody who named a symbol that a file does not have."""
    names: dict[str, int] = {}
    for number, symbol in enumerate(source.symbols):
        names.setdefault(_plain(symbol.qualified).casefold(), number)
        names.setdefault(_plain(symbol.name).casefold(), number)
    found = dict.fromkeys(Candidate(source, names[each]).selector for each in near(name, names))
    return f"Did you mean {' or '.join(map(typed, found))}?" if found else ""


def near(name: str, names: Iterable[str]) -> list[str]:
    """Those of some names that are nearly what somebody said."""
    import difflib

    return difflib.get_close_matches(_plain(name).casefold()[:100], list(names), _MAX_NEAR, _NEAR)


def _near_paths(path: str, paths: Iterable[str]) -> list[str]:
    """Files of its name elsewhere, or else those beside it with nearly that name."""
    import difflib

    directory, name = posixpath.split(path)
    namesakes, beside = [], []
    for each in paths:
        where, called = posixpath.split(each)
        if called == name:
            namesakes.append(each)
        elif where == directory:
            beside.append(each)
    likely = difflib.get_close_matches(path[:200], namesakes, _MAX_NEAR, 0)
    return likely or difflib.get_close_matches(path[:200], beside, _MAX_NEAR, _NEAR)


def _counted(name: str) -> tuple[str, int]:
    """`go` and 2 for `go@2`; 0 if it says no number."""
    short, _, count = name.rpartition("@")
    is_one = bool(short) and count.isascii() and count.isdigit() and len(count) < 7
    return (short, int(count)) if is_one else (name, 0)


def _plain(name: str) -> str:
    """A name as it can be compared, however it was shown or typed."""
    return text.one_line(name).replace("::", ".")


def _telling(name: str) -> str:
    """What a file must have that has a symbol of this name: its last part with words."""
    found = (_WORDS.search(part) for part in reversed(name.split(".")))
    return next((each[0] for each in found if each), name.strip(".# "))


def is_name(words: str) -> bool:
    """Whether words look like the name of a symbol or a section, and not like one of a file."""
    return not _is_path(words) and not _is_path(words.rpartition(":")[0])


def _is_path(words: str) -> bool:
    """Whether words look like a path, and not like the name of a symbol or a section."""
    return not re.search(r"\s", words) and ("/" in words or languages.of_path(words) is not None)


def _several(name: str, found: list[Candidate]) -> errors.UsageError:
    shown = [
        f"{_shown(each.selector)} (line {each.symbol.head_line})" for each in found[:_MAX_NAMED]
    ]
    more = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
    return errors.UsageError(
        f"Several symbols are called {_shown(name)}: {', '.join(shown)}{more}.",
        hint=f"Say which one, as in {typed(found[0].selector)}.",
        details={
            "candidates": [
                {
                    "selector": text.clean(each.selector),
                    "kind": each.symbol.kind,
                    "signature": each.symbol.signature,
                    "line": each.symbol.head_line,
                }
                for each in found[:100]
            ]
        },
    )


def typed(selector: str) -> str:
    """As a shell takes it: names may have blanks and signs of its own."""
    return shlex.quote(_shown(selector))


def _shown(words: str) -> str:
    return text.one_line(words, 200)
