"""Overlaps of reservations, compared with trying every path of a small world."""

from __future__ import annotations

import fnmatch
import functools
import itertools
import re
from collections.abc import Iterable

from hypothesis import example, given
from hypothesis import strategies as st

from tether import errors
from tether.agents import paths

# Files have an ending, and nothing below them; directories have none.
FILE = re.compile(r".+\.py", re.IGNORECASE)


def world(parts: Iterable[str], depth: int) -> list[tuple[str, ...]]:
    """Every path of these parts down to this depth."""
    names = list(parts)
    made = itertools.chain.from_iterable(
        itertools.product(names, repeat=length) for length in range(1, depth + 1)
    )
    return [path for path in made if not any(FILE.fullmatch(part) for part in path[:-1])]


FULL = world(["a", "b", "ab", "B", "a.py", "B.py", ".a"], 4)
PLAIN = world(["a", "b", "ab"], 6)


def patterns(parts: list[str], depth: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(parts), min_size=1, max_size=depth).map("/".join)


PLAIN_PARTS = ["**", "*", "?", "a", "b", "A", "ab", "a*", "*b", "?b", "*a*"]
CLASSES = ["[ab]", "[!a]", "[a-b]?", "[ab].py"]
FILES = ["*.py", "a.py", "b.PY", "?.p?", ".*", "**b"]
ANY = patterns([*PLAIN_PARTS, *CLASSES, *FILES], depth=4)
NO_CLASS_NO_FILE = patterns(PLAIN_PARTS, depth=3)


def names(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Does the pattern name this very path?"""
    if not pattern:
        return not path
    first, rest = pattern[0], pattern[1:]
    if first == "**":
        return names(rest, path) or (bool(path) and names(pattern, path[1:]))
    return (
        bool(path)
        and fnmatch.fnmatchcase(path[0].casefold(), first.casefold())
        and names(rest, path[1:])
    )


def covers(pattern: str, path: tuple[str, ...]) -> bool:
    """Does the pattern name this path or something above it?"""
    parts = tuple(pattern.split("/"))
    return any(names(parts, path[:length]) for length in range(1, len(path) + 1))


@functools.lru_cache(maxsize=4096)
def covered_in_full(pattern: str) -> frozenset[tuple[str, ...]]:
    return frozenset(path for path in FULL if covers(pattern, path))


@functools.lru_cache(maxsize=4096)
def covered_in_plain(pattern: str) -> frozenset[tuple[str, ...]]:
    return frozenset(path for path in PLAIN if covers(pattern, path))


@given(one=ANY, other=ANY)
@example(one="**/a.py", other="a.py")
@example(one="[!a]", other="b")
def test_two_reservations_with_a_common_path_overlap(one: str, other: str) -> None:
    if covered_in_full(one) & covered_in_full(other):
        assert paths.overlap(one, other)


@given(one=NO_CLASS_NO_FILE, other=NO_CLASS_NO_FILE)
def test_without_classes_and_files_they_overlap_only_with_a_common_path(
    one: str, other: str
) -> None:
    has_common = bool(covered_in_plain(one) & covered_in_plain(other))
    assert paths.overlap(one, other) == has_common


@given(one=ANY, other=ANY)
def test_an_overlap_goes_both_ways(one: str, other: str) -> None:
    assert paths.overlap(one, other) == paths.overlap(other, one)


@given(one=ANY)
def test_a_reservation_overlaps_itself_all_and_what_is_below_it(one: str) -> None:
    assert paths.overlap(one, one)
    assert paths.overlap(one, "**")
    assert paths.overlap(one, f"{one}/below")


@given(value=st.text(st.sampled_from("aB./*?[]!é \n\0"), max_size=20))
def test_a_text_is_a_reservation_in_one_form_or_refused(value: str) -> None:
    try:
        made = paths.parse(value)
    except errors.UsageError:
        return
    assert paths.parse(made) == made
    assert not made.startswith("/")
    assert not {"", ".", ".."} & set(made.split("/"))
    assert paths.overlap(made, made)
