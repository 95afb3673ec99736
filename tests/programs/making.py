"""Makes a program of a given shape out of chance, so that the same seed gives the same program."""

from __future__ import annotations

import dataclasses
import random
from typing import NamedTuple

from tests.programs import model, words
from tests.programs.model import Class, Constant, Function, Parameter, Statement

FEWEST, MOST = 4, 12
"""How many statements a function has that is not tiny."""


class FileShape(NamedTuple):
    """How many symbols a file has; classes are given by how many methods each has."""

    functions: int = 0
    classes: tuple[int, ...] = ()
    constants: int = 0


class Shape(NamedTuple):
    files: tuple[FileShape, ...]
    tiny: float = 0.0
    """How many of the functions have one statement only."""
    style: model.Style = model.Style()


class Maker:
    """Makes programs and parts of programs."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - a test must be repeatable
        self.words = words.Words(self.chance)

    def program(self, shape: Shape) -> model.Program:
        folders = [self.words.folder() for _ in range(2)]
        files = []
        for each in shape.files:
            path = self.words.path(self.chance.choice(folders))
            files.append(model.File(path, self._items(each, shape.tiny)))
        program = model.Program(files, shape.style)
        self._connect(program)
        return program

    def _items(self, shape: FileShape, tiny: float) -> list[model.Item]:
        items: list[model.Item] = [self.constant() for _ in range(shape.constants)]
        items += [self.class_of(count, tiny) for count in shape.classes]
        items += [self.function(tiny) for _ in range(shape.functions)]
        return items

    def constant(self) -> Constant:
        values = tuple(self.words.text(2) for _ in range(self.chance.randint(4, 8)))
        return Constant(self.words.id(), self.words.constant_name(), values, self._doc())

    def class_of(self, methods: int, tiny: float = 0.0) -> Class:
        fields = tuple(dict.fromkeys(self.words.variable() for _ in range(3)))
        item = Class(self.words.id(), self.words.class_name(), fields, [], self._doc())
        for _ in range(methods):
            method = self.function(tiny, fields)
            common = self.chance.choice(words.COMMON_NAMES)
            if self.chance.random() < 0.3 and common not in model.names_in(item.methods):
                method.name = common
            item.methods.append(method)
        return item

    def function(self, tiny: float = 0.0, fields: tuple[str, ...] = ()) -> Function:
        found = Function(self.words.id(), self.words.function_name())
        if self.chance.random() < tiny:
            found.body = (Statement("get", self.chance.choice(fields or (self.words.variable(),))),)
            return found
        found.parameters = self.parameters()
        found.body = self.body(found.parameters)
        found.doc = self._doc()
        return found

    def parameters(self) -> tuple[Parameter, ...]:
        names = dict.fromkeys(self.words.variable() for _ in range(self.chance.randint(0, 4)))
        return tuple(self.parameter(name) for name in names)

    def parameter(self, name: str = "") -> Parameter:
        return Parameter(name or self.words.variable(), self.chance.choice(words.TYPES))

    def body(self, parameters: tuple[Parameter, ...] = ()) -> tuple[Statement, ...]:
        count = self.chance.randint(FEWEST, MOST)
        found = [self.statement(parameters) for _ in range(count - 1)]
        if self.chance.random() < 0.3:
            found.insert(self.chance.randrange(count), self.note())
        last = self.statement(parameters)
        return (*found, last._replace(kind="return") if self.chance.random() < 0.7 else last)

    def statement(self, parameters: tuple[Parameter, ...] = ()) -> Statement:
        kind = self.chance.choices(("let", "call", "guard"), (5, 3, 2))[0]
        arguments = [self.words.argument() for _ in range(self.chance.randint(1, 4))]
        if parameters and self.chance.random() < 0.3:
            arguments[0] = self.chance.choice(parameters).name
        return Statement(kind, self.words.variable(), self.words.callee(), tuple(arguments))

    def note(self) -> Statement:
        return Statement(model.NOTE, self.words.sentence(4))

    def decorator(self) -> str:
        return self.words.callee()

    def _doc(self) -> str:
        return self.words.sentence(6).capitalize() + "." if self.chance.random() < 0.6 else ""

    def _connect(self, program: model.Program) -> None:
        """Let some functions call one that no other one calls, and not each other in turn."""
        functions = [each for each in program.functions() if not each.is_tiny]
        self.chance.shuffle(functions)
        for caller, callee in zip(functions[::2], functions[1::2], strict=False):
            place = self.chance.randrange(len(caller.body))
            call = Statement("call", "", callee.name, (self.words.argument(),), callee.id)
            caller.body = (*caller.body[:place], call, *caller.body[place:])


def with_style(program: model.Program, style: model.Style) -> model.Program:
    return dataclasses.replace(program.copy(), style=style)
