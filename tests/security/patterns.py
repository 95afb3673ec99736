"""Texts that are written to keep a pattern busy, and whether one does.

A text of eight times the length should take about eight times as long, and not sixty-four times or
until the end of the world. Runs as a program, which may be killed: the module whose patterns are
tried, or the name of a control.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
import time
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import tether

Pattern = re.Pattern[str] | re.Pattern[bytes]
SHORT = 4_000
LONG = 8 * SHORT
# More than eight, for what else a machine does meanwhile, and far less than sixty-four.
MOST_TIMES = 30
# What takes less is not looked at more closely: a text of this length takes a tenth of it.
LEAST_SECONDS = 0.1
# Some kernels count CPU by ticks.
TICK_SECONDS = 0.004
CONTROLS: dict[str, Pattern] = {
    "catastrophic": re.compile(r"(?:a+)+b"),
    "square": re.compile(r"\s*x"),
    "square of a class": re.compile(rb"[ab]+c"),
}


def modules() -> Iterator[ModuleType]:
    yield tether
    for found in pkgutil.walk_packages(tether.__path__, "tether."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def patterns(some: Iterable[ModuleType] | None = None) -> dict[str, Pattern]:
    """Every pattern that a module or a class of ours holds, by its place."""
    found: dict[str, Pattern] = {}
    for module in modules() if some is None else some:
        holders: list[Any] = [module, *(v for v in vars(module).values() if isinstance(v, type))]
        for holder in holders:
            if getattr(holder, "__module__", module.__name__) != module.__name__:
                continue
            for name, value in vars(holder).items():
                for number, item in enumerate(_inside(value)):
                    place = f"{module.__name__}:{holder.__name__}.{name}"
                    found[f"{place}[{number}]"] = item
    return found


def _inside(value: Any) -> Iterator[Pattern]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _inside(part)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for part in value:
            yield from _inside(part)


# Texts


def example_of(parsed: Iterable[Any]) -> str:
    """A short text that nearly matches: one of everything that the pattern asks for."""
    return "".join(_one(str(kind), value) for kind, value in parsed)


def _one(kind: str, value: Any) -> str:
    if kind == "LITERAL":
        return chr(int(value))
    if kind == "IN":
        return _member(value)
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, _, inner = value
        return example_of(inner) * max(1, min(int(least), 64))
    if kind == "SUBPATTERN":
        return example_of(value[-1])
    if kind == "BRANCH":
        return example_of(value[1][0])
    return "" if kind in ("AT", "ASSERT", "ASSERT_NOT", "GROUPREF") else "x"


def _member(members: list[Any]) -> str:
    kind, value = members[0]
    if str(kind) == "RANGE":
        return chr(value[0])
    return chr(value) if str(kind) == "LITERAL" else "\x01"


def hostile_texts(pattern: Pattern, length: int) -> Iterator[str]:
    source = pattern.pattern
    text = source if isinstance(source, str) else source.decode("latin-1")
    # The parser of re itself, under the name that this Python gives it.
    parser: Any = importlib.import_module("re._parser")
    near = example_of(parser.parse(text, pattern.flags & ~re.UNICODE))
    parts = (near, near[:-1], near[1:], near[: len(near) // 2])
    for unit in dict.fromkeys((*parts, *near, "a", "0", " ", "\n", "-", ".")):
        if unit:
            yield unit * (length // len(unit))
            yield (unit * (length // len(unit)))[:-1] + "\0"
    for lead in range(1, len(near) + 1):
        for unit in sorted({near[lead - 1], near[-1], "a", " ", "\n"}):
            yield near[:lead] + unit * length + "\0"


def think(place: str) -> None:
    """Runs in a child: every text against each pattern of a module, or against a control."""
    control = CONTROLS.get(place)
    found = {place: control} if control else patterns([importlib.import_module(place)])
    for name, pattern in found.items():
        print(name, flush=True)
        _think(pattern)


def _think(pattern: Pattern) -> None:
    texts = zip(hostile_texts(pattern, SHORT), hostile_texts(pattern, LONG), strict=True)
    for short, long in texts:
        # What else a machine does makes both slower, and the quickest of several the least.
        if _is_busy(pattern, short, long, 1) and _is_busy(pattern, short, long, 3):
            sys.exit(f"{long[:100]!r} keeps it busy")


def _is_busy(pattern: Pattern, short: str, long: str, rounds: int) -> bool:
    took = [(_seconds(pattern, short), _seconds(pattern, long)) for _ in range(rounds)]
    least_short = max(TICK_SECONDS, min(short_seconds for short_seconds, _ in took))
    least_long = min(long_seconds for _, long_seconds in took)
    return least_long > LEAST_SECONDS and least_long > MOST_TIMES * least_short


def _seconds(pattern: Pattern, text: str) -> float:
    subject: Any = text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")
    match: Any = pattern
    begin = time.process_time()
    match.fullmatch(subject)
    match.search(subject)
    return time.process_time() - begin


if __name__ == "__main__":
    think(sys.argv[1])
    print("done")
