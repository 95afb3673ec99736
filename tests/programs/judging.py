"""What the engine says of two versions of a program, and where that is not the truth."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from tests.programs import truth
from tests.programs.truth import Link, Version
from tether.git import Change, Oid
from tether.lineage import extracting, history, languages, matching, parting, renames, sources

NOWHERE = Oid("0" * 40)
Key = tuple[str, int]
"""A path and the line in which a symbol begins."""
Files = list[sources.Source]
Matching = Callable[[Files, Files, list[tuple[int, int]]], matching.Matcher]


class Told(NamedTuple):
    """What the engine says, by truth ids; 0 is a symbol that nobody printed."""

    partners: dict[int, int]
    """After to before."""
    kinds: dict[int, set[str]]
    """Of those that are the same, by what they are after."""
    introduced: set[int]
    deleted: set[int]
    links: set[Link]


class Glass(NamedTuple):
    """How two versions are looked at."""

    match: Matching = matching.Matcher
    arrange: Callable[[list[str]], list[str]] = sorted
    """In which order the files come, which must decide nothing."""
    has_all: bool = False
    """Whether files that do not differ are matched too, as is never done for a commit."""


PLAIN = Glass()


def told(before: Version, after: Version, glass: Glass = PLAIN) -> Told:
    """Match the files that differ, as is done for a commit."""
    olds, news = before.printed.files, after.printed.files
    changes = list(_changes(olds, news))
    contents = {_oid(data): data for data in (*olds.values(), *news.values())}
    pairs = renames.Renames(changes, lambda _, oid: contents.get(oid)).pairs()
    chosen = {*olds, *news} if glass.has_all else {each.path for each in changes}
    old_paths = glass.arrange([path for path in olds if path in chosen])
    new_paths = glass.arrange([path for path in news if path in chosen])
    matcher = glass.match(
        [source(path, olds[path]) for path in old_paths],
        [source(path, news[path]) for path in new_paths],
        [
            (number, new_paths.index(pairs.get(path, path)))
            for number, path in enumerate(old_paths)
            if pairs.get(path, path) in new_paths
        ],
    )
    matcher.run()
    return _told(before, after, matcher, [path for path in news if path not in chosen])


def _changes(olds: Mapping[str, bytes], news: Mapping[str, bytes]) -> Iterable[Change]:
    for path in dict.fromkeys((*olds, *news)):
        old, new = olds.get(path), news.get(path)
        if old != new:
            status = "A" if old is None else "D" if new is None else "M"
            was, now = ("000000" if data is None else "100644" for data in (old, new))
            yield Change(status, path, was, now, _oid(old), _oid(new))


def _oid(data: bytes | None) -> Oid:
    return NOWHERE if data is None else Oid(hashlib.sha1(data, usedforsecurity=False).hexdigest())


def source(path: str, data: bytes) -> sources.Source:
    language = languages.of_path(path)
    assert language is not None
    return sources.Source(path, data, extracting.extract(language, data))


def keys(version: Version) -> dict[Key, int]:
    return {(spot.path, spot.line): number for number, spot in version.printed.spots.items()}


def _told(before: Version, after: Version, matcher: matching.Matcher, untouched: list[str]) -> Told:
    olds, news = keys(before), keys(after)
    found = heard(before, after, parting.matches(matcher))
    for each in matcher.by_after.values():
        old = _id(olds, matcher.before, each.before)
        found.partners[_id(news, matcher.after, each.after)] = old
    found.partners.update({n: olds[key] for key, n in news.items() if key[0] in untouched})
    return found


def _id(known: dict[Key, int], files: Sequence[sources.Source], ref: matching.Ref) -> int:
    source = files[ref[0]]
    return known.get((source.path, source.symbols[ref[1]].line), 0)


def heard(before: Version, after: Version, matches: Iterable[history.Match]) -> Told:
    """What is told of a commit, without who is whose partner."""
    olds, news = keys(before), keys(after)
    found = Told({}, {}, set(), set(), set())
    for each in matches:
        old = olds.get((each.before.path, each.before.line), 0) if each.before else 0
        new = news.get((each.after.path, each.after.line), 0) if each.after else 0
        if each.relation != "same":
            found.links.add(Link(each.relation, old, new))
        elif each.before is None:
            found.introduced.add(new)
        elif each.after is None:
            found.deleted.add(old)
        else:
            found.kinds[new] = set(each.kinds)
    return found


def printing_faults(version: Version) -> list[str]:
    """Where what is found in the files is not what was printed: then nothing else counts."""
    found = []
    for path, data in version.printed.files.items():
        outline = source(path, data).outline
        lines = sorted((each.line, each.end_line, each.name.lower()) for each in outline.symbols)
        expected = sorted(
            (spot.line, spot.end_line, version.facts[number].name.lower().replace("_", ""))
            for number, spot in version.printed.spots.items()
            if spot.path == path
        )
        plain = [(line, end, name.replace("_", "")) for line, end, name in lines]
        if plain != expected or outline.is_broken:
            found.append(f"{path}: {plain} is not what was printed: {expected}")
    return found


def disagreements(before: Version, after: Version, links: Iterable[Link], told: Told) -> list[str]:
    """Every way in which the engine is wrong about who is who, what changed and what was split."""
    both = before.facts.keys() & after.facts.keys()
    unsure = truth.ambiguous(before, after)
    found = [
        f"{_name(after, number)} was {_name(before, told.partners.get(number))}"
        f" and not {_name(before, number if number in both else None)}"
        for number in after.facts.keys() - unsure
        if told.partners.get(number) != (number if number in both else None)
        and not (number not in both and told.partners.get(number) in unsure)
    ]
    if found:
        return found
    for number in both - unsure:
        was, now = before.facts[number], after.facts[number]
        found += _wrong_kinds(_name(after, number), was, now, told.kinds.get(number, set()))
    return found + _wrong_ends(before, after, unsure, told) + _wrong_links(links, told)


def _wrong_kinds(name: str, was: truth.Fact, now: truth.Fact, found: set[str]) -> list[str]:
    """The right kinds, and no others; but what was moved may be laid out otherwise too."""
    expected = truth.kinds(was, now)
    allowed = expected | ({"formatting"} if was.text != now.text else set())
    if expected <= found <= allowed:
        return []
    return [f"{name} is told as {sorted(found)} and not as {sorted(expected)}"]


def _wrong_ends(before: Version, after: Version, unsure: set[int], told: Told) -> list[str]:
    born, gone = after.facts.keys() - before.facts.keys(), before.facts.keys() - after.facts.keys()
    found = []
    if told.introduced - unsure != born - told.partners.keys():
        found.append(f"introduced: {told.introduced} and not {born}")
    if told.deleted - unsure != gone - set(told.partners.values()):
        found.append(f"deleted: {told.deleted} and not {gone}")
    return found


def _wrong_links(links: Iterable[Link], told: Told) -> list[str]:
    expected = set(links)
    return [] if told.links == expected else [f"links: {told.links} and not {expected}"]


def _name(version: Version, number: int | None) -> str:
    fact = version.facts.get(number or 0)
    if number is None or fact is None:
        return "nothing" if number is None else f"somebody ({number})"
    return f"{fact.path} {fact.container}.{fact.name}({number})"
