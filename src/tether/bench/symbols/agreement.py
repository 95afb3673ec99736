"""Is that the symbol which a row means? Pure.

A row gives the name with its class, package or module, mostly a file and a line, and parameters.
The line is that of the first overload, whichever is meant, so parameters decide before it does.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterable, Sequence

from tether.bench.symbols import oracle, said

MODULE = "__module__"
_WORD = re.compile(r"[^\W\d][\w$]*")
_CALLABLE = ("function", "method")
_RECEIVERS = ("self", "cls")


def spots_of(
    side: oracle.Side, spots: Iterable[said.Spot], language: str, *, is_class: bool
) -> set[said.Spot]:
    """Those of the symbols that a side of a row can mean."""
    found = {each for each in spots if agrees(side, each, language, is_class=is_class)}
    if side.signature:
        alike = {each for each in found if has_parameters(each.signature, side.signature)}
        # Where there are overloads, the parameters say more than the line does.
        found = alike if language == "java" else alike or found
    return {each for each in found if _has_line(side, each)} or found


def agrees(side: oracle.Side, spot: said.Spot, language: str, *, is_class: bool) -> bool:
    """Whether this can be the symbol, as far as its parameters are not looked at."""
    if spot.name != side.name.rpartition(".")[2]:
        return False
    # Some oracles call an object literal a class, and a function in a constant a method.
    if spot.kind in (_CALLABLE if is_class else ("class", "section")):
        return False
    if side.path and spot.path != side.path:
        return False
    if not side.container or (side.path and _has_line(side, spot)):
        return True
    own = [] if is_class else [spot.name]
    return is_named(side.container.split(".") + own, spot, language)


def _has_line(side: oracle.Side, spot: said.Spot) -> bool:
    return spot.line <= side.line <= spot.end_line


def is_named(wanted: list[str], spot: said.Spot, language: str) -> bool:
    """Whether a symbol has this full name, with the package or module before it."""
    own = _lower(spot.qualified.split("."))
    names = [each for each in _lower(wanted) if each != MODULE]
    modules = module_words(spot.path)
    if language == "java":
        folder = _lower(posixpath.dirname(spot.path).split("/"))
        package = names[: len(names) - len(own)]
        # A package stands in folders of its name, mostly: its last one has to be there.
        return _ends_with(names, own) and package[-1:] in ([], folder[-1:])
    if _ends_with(modules + own, names):
        return True
    # What functions in object literals stand in has no name that all agree on.
    is_in_file = any(_ends_with(modules, names[:length]) for length in range(1, len(names)))
    return language == "javascript" and names[-1] == own[-1] and is_in_file


def is_module(side: oracle.Side) -> bool:
    """Whether a row means a whole file."""
    return side.name.rpartition(".")[2] == MODULE


def is_file(side: oracle.Side, path: str) -> bool:
    """Whether that is the file which a row means."""
    if side.path:
        return side.path == path
    return _ends_with(module_words(path), _lower(side.name.split(".")[:-1]))


def module_words(path: str) -> list[str]:
    """The words of a path without its suffix: `src/core/core.scale.js` has `core` twice."""
    folders, name = posixpath.split(posixpath.splitext(path)[0])
    return _lower([each for each in [*folders.split("/"), *name.split(".")] if each])


def has_parameters(written: str, described: str) -> bool:
    """Whether parameters as the source has them are those of a row, as in `copy(array int[])`."""
    ours, theirs = _parameters(written), _parameters(described)
    if ours and ours[0].split(":")[0].strip() in _RECEIVERS and len(ours) == len(theirs) + 1:
        ours = ours[1:]
    return len(ours) == len(theirs) and all(map(_is_parameter, ours, theirs))


def _is_parameter(written: str, described: str) -> bool:
    words = set(_WORD.findall(described))
    is_array_alike = written.partition("=")[0].count("[]") == described.count("[]")
    return words <= set(_WORD.findall(written)) and is_array_alike


def _parameters(signature: str) -> list[str]:
    """What stands between the commas of the first parentheses."""
    begin = signature.find("(")
    depth, start, found = 0, begin + 1, []
    for at, character in itertools.islice(enumerate(signature), begin, None) if begin >= 0 else ():
        depth += (character in "([{<") - (character in ")]}>")
        if (character == "," and depth == 1) or not depth:
            found.append(signature[start:at].strip())
            start = at + 1
        if not depth:
            break
    return [each for each in found if each]


def _ends_with(words: Sequence[str], end: Sequence[str]) -> bool:
    return bool(end) and list(words[-len(end) :]) == list(end)


def _lower(words: Iterable[str]) -> list[str]:
    return [each.lower() for each in words]
