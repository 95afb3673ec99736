"""A program as text in a language, laid out in its style, and where each symbol stands in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tests.programs import model
from tests.programs.model import Class, Constant, Function, Statement

LITERAL = '"0123456789'


class Spot(NamedTuple):
    """Where a symbol is printed, counted from line 1, and all that is printed of it."""

    path: str
    line: int
    end_line: int
    text: str


class Printed(NamedTuple):
    files: dict[str, bytes]
    spots: dict[int, Spot]


class Writer:
    """The text of one file, as it grows."""

    suffix = ""
    header: tuple[str, ...] = ()
    comment = "//"
    block_end = "}"

    def __init__(self, style: model.Style, names: dict[int, str]) -> None:
        self.style = style
        self._names = names
        self.lines: list[str] = [*self.header]
        self.spots: dict[int, tuple[int, int]] = {}

    def write(self, item: model.Item) -> None:
        self.lines += [""] * self.style.blank_lines
        if isinstance(item, Class):
            self.write_class(item)
        elif isinstance(item, Constant):
            first = self._here()
            self.constant(item)
            self._note(item.id, first)
        else:
            self.write_function(item, None)

    def write_class(self, item: Class) -> None:
        """With its methods inside; Go has them outside."""
        first = self._here()
        self.class_head(item)
        for method in item.methods:
            self.lines.append("")
            self.write_function(method, item)
        self.lines += [self.block_end] if self.block_end else []
        self._note(item.id, first)

    def write_function(self, item: Function, around: Class | None) -> None:
        first = self._here()
        self.function(item, around)
        self._note(item.id, first)

    def _here(self) -> int:
        return len(self.lines) + 1

    def _note(self, number: int, first: int) -> None:
        self.spots[number] = (first, len(self.lines))

    # What languages do in their own ways

    def constant(self, item: Constant) -> None:
        raise NotImplementedError

    def class_head(self, item: Class) -> None:
        raise NotImplementedError

    def function(self, item: Function, around: Class | None) -> None:
        raise NotImplementedError

    def guard(self, target: str) -> str:
        return f"if {target} {{"

    def word(self, word: str) -> str:
        """A name as people write it in this language."""
        first, *rest = word.split("_")
        return word if word.isupper() else first + "".join(map(str.title, rest))

    def statement(self, each: Statement) -> str:
        """What stands before the call."""
        return {"let": f"{self.word(each.target)} := ", "return": "return "}.get(each.kind, "")

    def field(self, name: str) -> str:
        return f"self.{name}"

    end = ""

    # What they have in common

    def body(self, statements: Iterable[Statement], depth: int) -> None:
        for each in statements:
            self.line(each, depth)

    def line(self, each: Statement, depth: int) -> None:
        if each.kind == model.NOTE:
            self.put(depth, f"{self.comment} {each.target}")
        elif each.kind == "get":
            self.put(depth, f"return {self.field(self.word(each.target))}{self.end}")
        elif each.kind == "guard":
            self.put(depth, self.guard(self.word(each.target)))
            self.call(each, depth + 1)
            if self.block_end:
                self.put(depth, self.block_end)
        else:
            self.call(each, depth)

    def call(self, each: Statement, depth: int) -> None:
        callee = self.word(self._names.get(each.calls, each.callee))
        arguments = [
            word if word[0] in '"0123456789' else self.word(word) for word in each.arguments
        ]
        self.listed(depth, f"{self.statement(each)}{callee}(", arguments, f"){self.end}")

    def listed(self, depth: int, opening: str, parts: list[str], closing: str) -> None:
        """On one line if there is room, or else each part on its own."""
        whole = f"{opening}{', '.join(parts)}{closing}"
        if not parts or len(whole) + depth * self.style.indent <= self.style.width:
            self.put(depth, whole)
            return
        self.put(depth, opening)
        for part in parts[:-1]:
            self.put(depth + 1, f"{part},")
        if self.style.has_trailing_commas:
            self.put(depth + 1, f"{parts[-1]},")
            self.put(depth, closing)
        else:
            self.put(depth + 1, f"{parts[-1]}{closing}")

    def put(self, depth: int, text: str) -> None:
        self.lines.append(" " * (self.style.indent * depth) + text)


class Python(Writer):
    suffix = ".py"
    header = ("import os",)
    comment = "#"
    block_end = ""

    def constant(self, item: Constant) -> None:
        if item.doc:
            self.put(0, f"# {item.doc}")
        self.listed(0, f"{item.name} = [", list(item.values), "]")

    def class_head(self, item: Class) -> None:
        for decorator in item.decorators:
            self.put(0, f"@{decorator}")
        self.put(0, f"class {item.name}:")
        if item.doc:
            self.put(1, f'"""{item.doc}"""')
        for field in item.fields:
            self.put(1, f"{field} = None")

    def function(self, item: Function, around: Class | None) -> None:
        depth = 1 if around else 0
        for decorator in item.decorators:
            self.put(depth, f"@{decorator}")
        parameters = [f"{each.name}: {each.type}" for each in item.parameters]
        parameters = ["self", *parameters] if around else parameters
        self.listed(depth, f"def {item.name}(", parameters, "):")
        if item.doc:
            self.put(depth + 1, f'"""{item.doc}"""')
        self.body(item.body, depth + 1)

    def guard(self, target: str) -> str:
        return f"if {target}:"

    def word(self, word: str) -> str:
        return word

    def statement(self, each: Statement) -> str:
        return {"let": f"{each.target} = ", "return": "return "}.get(each.kind, "")


class TypeScript(Writer):
    suffix = ".ts"
    header = ('import fs from "fs";',)
    end = ";"

    def constant(self, item: Constant) -> None:
        if item.doc:
            self.put(0, f"// {item.doc}")
        self.listed(0, f"export const {item.name} = [", list(item.values), "];")

    def class_head(self, item: Class) -> None:
        self._doc(item.doc, 0)
        self.put(0, f"export class {item.name} {{")
        for field in item.fields:
            self.put(1, f"{self.word(field)} = null;")

    def function(self, item: Function, around: Class | None) -> None:
        depth = 1 if around else 0
        self._doc(item.doc, depth)
        parameters = [f"{self.word(each.name)}: {each.type}" for each in item.parameters]
        opening = f"{'' if around else 'export function '}{self.word(item.name)}("
        self.listed(depth, opening, parameters, ") {")
        self.body(item.body, depth + 1)
        self.put(depth, "}")

    def _doc(self, doc: str, depth: int) -> None:
        if doc:
            for line in ("/**", f" * {doc}", " */"):
                self.put(depth, line)

    def guard(self, target: str) -> str:
        return f"if ({target}) {{"

    def statement(self, each: Statement) -> str:
        return {"let": f"const {self.word(each.target)} = ", "return": "return "}.get(each.kind, "")

    def field(self, name: str) -> str:
        return f"this.{name}"


class Go(Writer):
    suffix = ".go"
    header = ("package app", "", 'import "os"')

    def write_class(self, item: Class) -> None:
        first = self._here()
        self.class_head(item)
        self._note(item.id, first)
        for method in item.methods:
            self.lines.append("")
            self.write_function(method, item)

    def constant(self, item: Constant) -> None:
        if item.doc:
            self.put(0, f"// {item.doc}")
        self.listed(0, f"var {item.name} = []any{{", list(item.values), "}")

    def class_head(self, item: Class) -> None:
        self._doc(item.doc)
        self.put(0, f"type {item.name} struct {{")
        for field in item.fields:
            self.put(1, f"{self.word(field)} any")
        self.put(0, "}")

    def function(self, item: Function, around: Class | None) -> None:
        self._doc(item.doc)
        receiver = f"(self *{around.name}) " if around else ""
        parameters = [f"{self.word(each.name)} {each.type}" for each in item.parameters]
        self.listed(0, f"func {receiver}{self.word(item.name)}(", parameters, ") {")
        self.body(item.body, 1)
        self.put(0, "}")

    def _doc(self, doc: str) -> None:
        if doc:
            self.put(0, f"// {doc}")


LANGUAGES: dict[str, type[Writer]] = {"python": Python, "typescript": TypeScript, "go": Go}


def printed(program: model.Program, language: str) -> Printed:
    """The files of a program, by their paths, and the places of its symbols."""
    names = {each.id: each.name for each in program.symbols()}
    found = Printed({}, {})
    for file in program.files:
        writer = LANGUAGES[language](program.style, names)
        for item in file.items:
            writer.write(item)
        path = f"{file.path}{writer.suffix}"
        found.files[path] = "\n".join([*writer.lines, ""]).encode()
        for number, (first, last) in writer.spots.items():
            text = "\n".join(writer.lines[first - 1 : last]).strip()
            found.spots[number] = Spot(path, first, last, text)
    return found
