"""What is true of two versions of a program, told from their models alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tests.programs import model, printing

# With another name and one of these, what has one statement looks like anything else.
_ELSE = {"move", "container", "body", "signature"}


class Link(NamedTuple):
    """What a new symbol was taken out of, or what one that is gone went into, by truth ids."""

    relation: str
    before: int
    after: int


class Fact(NamedTuple):
    """One symbol as a version of the program has it."""

    path: str
    sort: str
    name: str
    container: str
    inside: int
    """The class that it stands in, whatever its name."""
    head: object
    body: object
    decorators: tuple[str, ...]
    doc: str
    notes: tuple[str, ...]
    text: str
    is_tiny: bool


class Version:
    """A program as it is printed in a language, with the facts about each of its symbols."""

    def __init__(self, program: model.Program, language: str) -> None:
        self.program = program
        self.language = language
        self.printed = printing.printed(program, language)
        self.facts = {
            item.id: fact for file in program.files for item, fact in self._facts(file.items)
        }

    def _facts(
        self, items: Iterable[model.Item], around: model.Class | None = None
    ) -> Iterable[tuple[model.Item, Fact]]:
        for item in items:
            yield item, self._fact(item, around)
            if isinstance(item, model.Class):
                yield from self._facts(item.methods, item)

    def _fact(self, item: model.Item, around: model.Class | None) -> Fact:
        spot = self.printed.spots[item.id]
        sort, name = type(item).__name__.lower(), item.name
        if isinstance(item, model.Constant):
            body: object = item.values
            return Fact(spot.path, sort, name, "", 0, "", body, (), item.doc, (), spot.text, False)
        own = item.decorators if self.language == "python" else ()
        if isinstance(item, model.Class):
            return Fact(
                spot.path, sort, name, "", 0, "", item.fields, own, item.doc, (), "",
                not item.methods,
            )  # fmt: skip
        notes = tuple(each.target for each in item.body if each.kind == model.NOTE)
        container, inside = (around.name, around.id) if around else ("", 0)
        return Fact(
            spot.path, sort, name, container, inside, item.parameters, self._body(item), own,
            item.doc, notes, spot.text, item.is_tiny,
        )  # fmt: skip

    def _body(self, item: model.Function) -> tuple[model.Statement, ...]:
        """The statements as they read: with the names that those have now that are called."""
        names = {each.id: each.name for each in self.program.symbols()}
        return tuple(
            each._replace(callee=names.get(each.calls, each.callee), calls=0)
            for each in item.statements
        )


def kinds(before: Fact, after: Fact) -> set[str]:
    """What became different of one symbol; the words are those of the engine."""
    found = {
        kind
        for kind, was, now in (
            ("move", before.path, after.path),
            ("rename", before.name, after.name),
            ("container", before.inside, after.inside),
            ("signature", before.head, after.head),
            ("body", before.body, after.body),
            ("annotation", before.decorators, after.decorators),
            ("documentation", before.doc, after.doc),
            ("comment", before.notes, after.notes),
        )
        if was != now
    }
    is_laid_out = before.text != after.text and _bare(before.text) == _bare(after.text)
    return found or ({"formatting"} if is_laid_out else set())


def _bare(text: str) -> str:
    """A text without its layout: methods of Go have the name of their type, which may change."""
    return re.sub(r"[\s,]", "", text)


def ambiguous(before: Version, after: Version) -> set[int]:
    """Those of which nobody could tell that they are the same: only here the truth is relaxed.

    That is a function of one statement (or a class without methods) that has another name, and
    besides another place, container, signature or body; or whose statement is also that of another
    one that came, went or got another name at the same time. And who has another name, and no more
    than three quarters of its statements or methods, or another file and layout as well.
    """
    both = before.facts.keys() & after.facts.keys()
    changed = {number: kinds(before.facts[number], after.facts[number]) for number in both}
    named = {number for number in both if "rename" in changed[number]}
    loose = named | (before.facts.keys() ^ after.facts.keys())
    tiny = {
        number
        for number in named
        if before.facts[number].is_tiny
        and (
            changed[number] & _ELSE
            or any(_is_alike(each, number, before, after) for each in loose - {number})
        )
    }
    moved = {number for number in named if "move" in changed[number]}
    is_laid_out = before.program.style != after.program.style
    gone = {number for number in named if _is_rewritten(number, before, after)}
    return tiny | gone | (moved if is_laid_out else set())


def _is_rewritten(number: int, before: Version, after: Version) -> bool:
    was, now = (_parts(number, version) for version in (before, after))
    return 4 * (was & now).total() <= 3 * max(was.total(), now.total())


def _parts(number: int, version: Version) -> Counter[object]:
    """The statements of a function, the methods of a class."""
    fact = version.facts[number]
    if fact.sort == "class":
        return Counter(n for n, each in version.facts.items() if each.inside == number)
    return Counter(fact.body if isinstance(fact.body, tuple) else [fact.body])


def _is_alike(one: int, other: int, before: Version, after: Version) -> bool:
    fact = before.facts.get(one) or after.facts[one]
    return fact.body == before.facts[other].body
