"""What a generated program is: files with constants, classes and functions that have truth ids.

A truth id stays with a symbol whatever becomes of its name, place and content. What a symbol is in
a language is for `printing`, what may be done to one for the refactorings.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

NOTE = "note"


class Statement(NamedTuple):
    """One line of a body: `let`, `call`, `guard`, `return`, `get` (a field) or a note."""

    kind: str
    target: str
    callee: str = ""
    arguments: tuple[str, ...] = ()
    calls: int = 0
    """The truth id of what is called, if it is a symbol of the program: its name may change."""


class Parameter(NamedTuple):
    name: str
    type: str


class Style(NamedTuple):
    """How a program is laid out; nothing of it says what the program does."""

    indent: int = 4
    width: int = 90
    blank_lines: int = 1
    has_trailing_commas: bool = True


@dataclasses.dataclass(slots=True)
class Constant:
    id: int
    name: str
    values: tuple[str, ...]
    doc: str = ""


@dataclasses.dataclass(slots=True)
class Function:
    """A function of a file, or a method of a class."""

    id: int
    name: str
    parameters: tuple[Parameter, ...] = ()
    body: tuple[Statement, ...] = ()
    doc: str = ""
    decorators: tuple[str, ...] = ()

    @property
    def is_tiny(self) -> bool:
        return len(self.statements) < 2

    @property
    def statements(self) -> list[Statement]:
        return [each for each in self.body if each.kind != NOTE]


@dataclasses.dataclass(slots=True)
class Class:
    id: int
    name: str
    fields: tuple[str, ...]
    methods: list[Function] = dataclasses.field(default_factory=list)
    doc: str = ""
    decorators: tuple[str, ...] = ()

    def copy(self) -> Class:
        return dataclasses.replace(self, methods=[dataclasses.replace(m) for m in self.methods])


Item = Constant | Class | Function


@dataclasses.dataclass(slots=True)
class File:
    """A file with a path that lacks the suffix of its language."""

    path: str
    items: list[Item]


@dataclasses.dataclass(slots=True)
class Program:
    files: list[File]
    style: Style

    def copy(self) -> Program:
        files = [File(each.path, list(map(_copy, each.items))) for each in self.files]
        return Program(files, self.style)

    def items(self) -> Iterator[Item]:
        for file in self.files:
            yield from file.items

    def symbols(self) -> Iterator[Item]:
        for item in self.items():
            yield item
            if isinstance(item, Class):
                yield from item.methods

    def functions(self) -> list[Function]:
        """Functions and methods."""
        return [each for each in self.symbols() if isinstance(each, Function)]

    def classes(self) -> list[Class]:
        return [each for each in self.items() if isinstance(each, Class)]

    def home_of(self, function: Function) -> list[Function] | list[Item]:
        """The list that a function stands in: of its class or of its file."""
        for item in self.classes():
            if any(each is function for each in item.methods):
                return item.methods
        return self.file_of(function).items

    def file_of(self, symbol: Item) -> File:
        return next(
            file
            for file in self.files
            for item in file.items
            if item is symbol or (isinstance(item, Class) and _has(item, symbol))
        )


def _copy(item: Item) -> Item:
    return item.copy() if isinstance(item, Class) else dataclasses.replace(item)


def _has(item: Class, symbol: Item) -> bool:
    return any(each is symbol for each in item.methods)


def names_in(items: list[Item] | list[Function]) -> set[str]:
    return {each.name for each in items}
