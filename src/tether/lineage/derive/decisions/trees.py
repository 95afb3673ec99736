"""What a path, the end of one, or a pattern stands for among the files of a tree. Pure.

Nothing in a pattern can make this think for long: signs are matched from left to right, and a star
that swallowed too little takes one more.
"""

from __future__ import annotations

import bisect
import posixpath
from collections.abc import Collection, Iterable

from tether.hints import NamedTuple

_MAX_CHARS = 400
_MAX_PARTS = 40
_MAX_ALTERNATIVES = 20
_MAX_STARS = 24
_SIGNS = "*?{"


class Meant(NamedTuple):
    """What a name stands for."""

    paths: tuple[str, ...]
    """Files, sorted."""
    folder: str = ""
    """The directory that is meant; empty if it is not one directory."""


class Tree:
    """The paths of a tree, found by any of their ends."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._sorted = sorted(set(paths))
        self._files = frozenset(self._sorted)
        self._folders = frozenset(
            path[:at] for path in self._files for at, char in enumerate(path) if char == "/"
        )
        self._by_name: dict[str, list[str]] = {}
        for path in (*self._files, *self._folders):
            self._by_name.setdefault(posixpath.basename(path), []).append(path)

    def matching(self, pattern: str) -> list[str]:
        """The files that a name stands for."""
        return list(self.meant(pattern).paths)

    def meant(self, pattern: str) -> Meant:
        """What a name stands for; nothing if it could be several places or is no name at all."""
        bare, whole = _bare(pattern), _whole(pattern)
        parts = whole.split("/")
        if not whole or len(bare) > _MAX_CHARS or len(parts) > _MAX_PARTS or ".." in parts:
            return Meant(())
        if whole in self._files or whole in self._folders:
            return self._place(whole)
        if is_pattern(whole):
            return self._glob(parts)
        return self._by_end(whole, is_folder=bare.endswith("/"))

    def _place(self, path: str) -> Meant:
        if path in self._files:
            return Meant((path,))
        return Meant(tuple(self._below(path)), path)

    def _below(self, folder: str) -> list[str]:
        if not folder:
            return self._sorted
        first = bisect.bisect_left(self._sorted, f"{folder}/")
        return self._sorted[first : bisect.bisect_left(self._sorted, f"{folder}0")]

    def _by_end(self, whole: str, *, is_folder: bool) -> Meant:
        """The only place whose path ends so; a directory counts if nothing else does."""
        found = [
            path
            for path in self._by_name.get(posixpath.basename(whole), ())
            if path.endswith(f"/{whole}") and not (is_folder and path in self._files)
        ]
        files = [path for path in found if path in self._files]
        chosen = files or found
        return self._place(chosen[0]) if len(chosen) == 1 else Meant(())

    def _glob(self, parts: list[str]) -> Meant:
        plain = [part for part in parts if not is_pattern(part)]
        if sum(part.count("*") for part in parts) > _MAX_STARS:
            return Meant(())
        found = self._matched(parts, "")
        if not found and plain and plain[0] == parts[0]:
            # Written from somewhere below the top: from where, only one directory can tell.
            tops = [
                folder[: -len(parts[0])].rstrip("/")
                for folder in self._by_name.get(parts[0], ())
                if folder in self._folders
            ]
            tries = [each for top in tops if (each := self._matched(parts, top))]
            found = tries[0] if len(tries) == 1 else []
        folder = "/".join(parts[:-1]) if parts[-1] == "**" and len(plain) == len(parts) - 1 else ""
        return Meant(tuple(found), folder if folder in self._folders else "")

    def _matched(self, parts: list[str], top: str) -> list[str]:
        """The files below a directory that a pattern matches from there."""
        below = self._below(top)
        skip = len(top) + 1 if top else 0
        found: set[str] = set()
        for each in _alternatives("/".join(parts)):
            pattern = tuple(each.split("/"))
            fixed = _fixed(pattern)
            first = f"{top}/{fixed}" if top else fixed
            low = bisect.bisect_left(below, first)
            for path in below[low:]:
                if not path.startswith(first):
                    break
                if _matches(pattern, tuple(path[skip:].split("/"))):
                    found.add(path)
        return sorted(found)


def parts_of(pattern: str) -> frozenset[str]:
    """Parts of which every path has one that a name may stand for; an empty one, if any may."""
    whole = _whole(pattern)
    if not is_pattern(whole):
        return frozenset([posixpath.basename(whole)])
    found = set()
    for each in _alternatives(whole):
        plain = [part for part in each.split("/") if not is_pattern(part)]
        found.add(plain[-1] if plain else "")
    return frozenset(found)


def is_pattern(words: str) -> bool:
    """Whether a name may stand for several places that are called otherwise."""
    return any(sign in words for sign in _SIGNS)


def _bare(pattern: str) -> str:
    return pattern.strip().removeprefix("./").lstrip("/")


def _whole(pattern: str) -> str:
    return _bare(pattern).rstrip("/")


def matching(pattern: str, paths: Collection[str]) -> list[str]:
    """The files among these that a name stands for; who asks often makes one `Tree`."""
    return Tree(paths).matching(pattern)


def _fixed(pattern: tuple[str, ...]) -> str:
    """What every match begins with."""
    whole = "/".join(pattern)
    ends = [at for sign in "*?" if (at := whole.find(sign)) >= 0]
    return whole[: min(ends)] if ends else whole


def _alternatives(pattern: str) -> list[str]:
    """`src/{a,b}.py` as two patterns; only the first braces of a pattern are alternatives."""
    before, brace, rest = pattern.partition("{")
    inside, end, after = rest.partition("}")
    if not (brace and end and "," in inside):
        return [pattern]
    return [f"{before}{each}{after}" for each in inside.split(",")[:_MAX_ALTERNATIVES]]


def _matches(pattern: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    """Whether a path is meant: a pattern that ends with a directory means what is below it."""
    star = -1
    resume = at = 0
    here = 0
    while at < len(parts):
        if here < len(pattern) and pattern[here] == "**":
            star, resume = here, at
            here += 1
        elif here < len(pattern) and _part_matches(pattern[here], parts[at]):
            here += 1
            at += 1
        elif here == len(pattern) and at > 0 and pattern[-1] != "*":
            return True
        elif star >= 0:
            resume += 1
            here, at = star + 1, resume
        else:
            return False
    return all(part == "**" for part in pattern[here:])


def _part_matches(pattern: str, name: str) -> bool:
    """`*` any characters, `?` one; everything else is itself."""
    star = -1
    resume = at = here = 0
    while at < len(name):
        if here < len(pattern) and pattern[here] == "*":
            star, resume = here, at
            here += 1
        elif here < len(pattern) and pattern[here] in ("?", name[at]):
            here += 1
            at += 1
        elif star >= 0:
            resume += 1
            here, at = star + 1, resume
        else:
            return False
    return not pattern[here:].strip("*")
