"""Who refactors a program: by chance, with fresh words, and nothing twice in one commit.

A refactoring is a function that changes the program in place and tells what was split or united;
None if there is nothing in the program that it could be done to. It leaves those alone that another
one of the same commit has touched, because nobody could tell who is who after any number of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from tests.programs import making, model
from tests.programs.model import Class, Function
from tests.programs.truth import Link

T = TypeVar("T")
Links = list[Link]
Refactoring = Callable[["Hand"], Links | None]


class Hand:
    """A program that is being changed, by chance and with fresh words."""

    def __init__(self, program: model.Program, maker: making.Maker) -> None:
        self.program = program.copy()
        self.maker = maker
        self.words = maker.words
        self.chance = maker.chance
        self.touched: set[int] = set()

    def touch(self, *symbols: model.Item) -> None:
        for each in symbols:
            self.touched.add(each.id)
            if isinstance(each, Class):
                self.touch(*each.methods)

    def is_free(self, *symbols: model.Item) -> bool:
        inside = [m for each in symbols if isinstance(each, Class) for m in each.methods]
        return not any(each.id in self.touched for each in (*symbols, *inside))

    def pick(self, among: Iterable[T]) -> T | None:
        found = list(among)
        return self.chance.choice(found) if found else None

    def function(self, at_least: int = 0, is_top: bool = False) -> Function | None:
        """One that is not touched yet, with so many statements."""
        items = list(self.program.items())
        found = self.pick(
            each
            for each in self.program.functions()
            if self.is_free(each)
            and len(each.statements) >= at_least
            and (not is_top or any(item is each for item in items))
        )
        if found is not None:
            self.touch(found)
        return found

    def files(self, count: int) -> Sequence[model.File] | None:
        """So many files, of which nothing is touched."""
        free = [each for each in self.program.files if self.is_free(*each.items)]
        if len(free) < count:
            return None
        chosen = self.chance.sample(free, count)
        for file in chosen:
            self.touch(*file.items)
        return chosen

    def other_file(self, than: model.File, name: str) -> model.File | None:
        """Another one, in which nobody has that name."""
        return self.pick(
            each
            for each in self.program.files
            if each is not than and name not in model.names_in(each.items)
        )

    def new_name(self, name: str) -> str:
        is_kindred = self.chance.random() < 0.5
        return self.words.kindred_name(name) if is_kindred else self.words.function_name()


def place_after(program: model.Program, function: Function, new: Function) -> None:
    home = program.home_of(function)
    place = next(number for number, each in enumerate(home) if each is function)
    home.insert(place + 1, new)


def remove(home: list[Function] | list[model.Item], function: Function) -> None:
    place = next(number for number, each in enumerate(home) if each is function)
    del home[place]


def edit(hand: Hand, function: Function, count: int) -> None:
    """Replace so many statements by others."""
    places = [n for n, each in enumerate(function.body) if each.kind != model.NOTE]
    chosen = set(hand.chance.sample(places, count))
    function.body = tuple(
        hand.maker.statement() if number in chosen else each
        for number, each in enumerate(function.body)
    )
