"""Code of HEAD to ask about, drawn by chance that can be repeated."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator

from tether.git import Git, Oid
from tether.hints import NamedTuple
from tether.lineage import cache, library, sources

_NUMBER = re.compile(rb"(?<![\w.])[0-9](?![\w.])")
_FUNCTIONS = frozenset(("function", "method"))
_MAX_FILES = 400


class Sample(NamedTuple):
    """What is asked about."""

    symbols: tuple[str, ...]
    """Selectors: by name, or by line where a file has several of that name."""
    files: tuple[str, ...]


class Edit(NamedTuple):
    """A file that is to be changed within one function."""

    path: str
    content: bytes


def draw(place: str, store_dir: str, symbols: int, files: int, seed: int) -> Sample:
    """Symbols and files of HEAD; fewer, if it has fewer."""
    chance = random.Random(seed)  # noqa: S311 (chance that can be repeated)
    git = Git(place)
    tip = git.resolve("HEAD")
    paths = sorted(each.path for each in git.tree(tip) if each.mode.startswith("100"))
    paths = [path for path in paths if path.isprintable()]
    some = chance.sample(paths, min(files, len(paths)))
    return Sample(tuple(_symbols(git, store_dir, tip, chance, symbols)), tuple(some))


def _symbols(git: Git, store_dir: str, tip: Oid, chance: random.Random, count: int) -> list[str]:
    every = [
        selector for source in _sources(git, store_dir, tip, chance) for selector in _names(source)
    ]
    return chance.sample(every, min(count, len(every)))


def _names(source: sources.Source) -> Iterator[str]:
    names = Counter(each.qualified for each in source.symbols)
    for each in source.symbols:
        plain = each.kind != "section" and names[each.qualified] == 1 and each.qualified.isascii()
        yield f"{source.path}{f'#{each.qualified}' if plain else f':{each.line}'}"


def edits(place: str, store_dir: str, seed: int) -> Iterator[Edit]:
    """Files of HEAD, each with another number in one of its functions, as long as there are any."""
    chance = random.Random(seed)  # noqa: S311 (chance that can be repeated)
    git = Git(place)
    for source in _sources(git, store_dir, git.resolve("HEAD"), chance):
        functions = [
            each
            for each in source.symbols
            if each.kind in _FUNCTIONS and _NUMBER.search(source.data, each.head, each.end)
        ]
        if functions:
            each = chance.choice(functions)
            yield Edit(source.path, changed(source.data, each.head, each.end))


def changed(data: bytes, start: int, end: int) -> bytes:
    """A text with another number between two places, if there is one: it parses as before."""
    found = _NUMBER.search(data, start, end)
    if found is None:
        return data
    other = b"%d" % ((int(found[0]) + 1) % 10)
    return data[: found.start()] + other + data[found.end() :]


def _sources(git: Git, store_dir: str, tip: Oid, chance: random.Random) -> Iterator[sources.Source]:
    """Files with symbols, in an order that chance makes; of very many only some."""
    kept = cache.Cached(store_dir, library.InThisProcess())
    files = library.Library(git, kept)
    try:
        entries = sorted(each for each in git.tree(tip) if each.mode.startswith("100"))
        chance.shuffle(entries)
        count = 0
        for entry in entries:
            source = files.source(entry.path, entry.oid) if entry.path.isprintable() else None
            if source is not None and source.symbols:
                count += 1
                yield source
            if count >= _MAX_FILES:
                return
    finally:
        files.close()
        kept.close()
