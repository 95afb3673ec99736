"""No pattern of ours can be made to think for long.

`text.py` compiles its patterns when they are needed and has a test of its own.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import pytest

import tether

LENGTH = 100_000
LIMIT_SECONDS = 20
CATASTROPHIC = re.compile(r"(?:a+)+b")
Pattern = re.Pattern[str] | re.Pattern[bytes]


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


def hostile_texts(pattern: Pattern) -> Iterator[str]:
    source = pattern.pattern
    text = source if isinstance(source, str) else source.decode("latin-1")
    # The parser of re itself, under the name that this Python gives it.
    parser: Any = importlib.import_module("re._parser")
    near = example_of(parser.parse(text, pattern.flags & ~re.UNICODE))
    for unit in {
        near,
        near[:-1],
        near[1:],
        near[: len(near) // 2],
        *near,
        "a",
        "0",
        " ",
        "\n",
        "-",
        ".",
    }:
        if unit:
            yield unit * (LENGTH // len(unit))
            yield (unit * (LENGTH // len(unit)))[:-1] + "\0"
    for lead in range(1, len(near) + 1):
        for unit in sorted({near[lead - 1], near[-1], "a", " ", "\n"}):
            yield near[:lead] + unit * LENGTH + "\0"


def think(place: str) -> None:
    """Runs in a child: every text against each pattern of a module, or against the control."""
    found: dict[str, Pattern] = {"control": CATASTROPHIC}
    if place != "control":
        found = patterns([importlib.import_module(place)])
    for name, pattern in found.items():
        print(name, flush=True)
        _think(pattern)


def _think(pattern: Pattern) -> None:
    for text in hostile_texts(pattern):
        subject: Any = (
            text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")
        )
        match: Any = pattern
        match.fullmatch(subject)
        match.search(subject)


_CHILD = """
import sys
sys.path[:0] = {path!r}
from tests.security import test_regexes
test_regexes.think({name!r})
print("done")
"""


def run(name: str, limit_seconds: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _CHILD.format(path=sys.path, name=name)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit_seconds, limit_seconds)),
        capture_output=True,
        text=True,
        check=False,
    )


def test_patterns_are_found_in_modules_and_classes() -> None:
    places = {name.partition("[")[0] for name in patterns()}
    assert places >= {
        "tether.clock:tether.clock._STAMP",
        "tether.ids:_Id.pattern",
        "tether.ids:SessionId.pattern",
        "tether.store.schema:tether.store.schema._TABLE",
    }
    assert len(places) >= 12


PLACES = Counter(name.partition(":")[0] for name in patterns())


@pytest.mark.parametrize("place", sorted(PLACES))
def test_no_text_keeps_a_pattern_busy(place: str) -> None:
    # All patterns of a module in one child: to start one for each took half of the test run.
    done = run(place, LIMIT_SECONDS * PLACES[place])
    named = done.stdout.splitlines()
    assert done.returncode == 0, f"{named[-1:]} {done.stderr}"
    assert named[-1] == "done"
    assert len(named) == PLACES[place] + 1


def test_control_a_catastrophic_pattern_is_stopped() -> None:
    done = run("control", 2)
    assert done.returncode < 0
    assert done.stdout == "control\n"
