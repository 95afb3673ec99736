"""Whether two reservations name a common path."""

from __future__ import annotations

import pytest

from tether import errors
from tether.agents import paths


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("src", "src"),
        ("src/a.py", "src/a.py"),
        ("./src//a/./b/", "src/a/b"),
        ("**", "**"),
        ("src/**/*.py", "src/**/*.py"),
        ("a b/ü [1].md", "a b/ü [1].md"),
        ("...", "..."),
        ("a..b", "a..b"),
        ("x" * 400, "x" * 400),
    ],
)
def test_a_reservation_has_one_form(value: str, form: str) -> None:
    assert paths.parse(value) == form
    assert paths.parse(form) == form


@pytest.mark.parametrize(
    "value",
    [
        "",
        ".",
        "./",
        "/",
        "/etc/passwd",
        "//src",
        "..",
        "../other",
        "src/../..",
        "src/..",
        "src\n",
        "src\0",
        "src\x1b[2J",
        "src\u202e",
        "src\ud800",
        "x" * 401,
    ],
)
def test_what_is_no_path_below_the_top_is_refused(value: str) -> None:
    with pytest.raises(errors.UsageError):
        paths.parse(value)


OVERLAPPING = [
    # the same, and what is below it
    ("src", "src"),
    ("src", "src/a.py"),
    ("src", "src/deep/down/a.py"),
    ("src/a.py", "src/a.py"),
    # upper and lower case
    ("SRC", "src/a.py"),
    ("README.md", "readme.MD"),
    # within one part
    ("src/*", "src/a.py"),
    ("src/*", "src"),
    ("src/*", "src/deep/a.py"),
    ("*.py", "setup.py"),
    ("src/*.py", "src/test_*"),
    ("src/a*z.py", "src/*b*"),
    ("a?c", "abc"),
    ("a?c", "ab?"),
    ("*a", "b*"),
    ("*", "*"),
    ("a*", "a"),
    # classes count as any character
    ("[ab].py", "a.py"),
    ("[ab].py", "[cd].py"),
    ("[!a].py", "a.py"),
    ("src/[]].py", "src/].py"),
    ("[a-z]*", "module"),
    # any number of parts
    ("**", "src"),
    ("**", "src/a.py"),
    ("**", "**"),
    ("src/**", "src"),
    ("src/**", "src/a/b/c.py"),
    ("**/api.py", "api.py"),
    ("**/api.py", "src/api.py"),
    ("**/api.py", "src"),
    ("**/*.py", "src/**"),
    ("src/**/api.py", "src/a/**/api.py"),
    ("src/**/test/**", "src/a/b"),
    ("**/a/**/b", "**/b/**/a"),
    ("**/**/a.py", "a.py"),
    ("src/**/**", "src/a.py"),
    # what could be a directory has things below it
    ("**/x.py", "src/Makefile"),
    ("**/x.py", ".github"),
    ("**/x.py", "conf.d/*"),
    ("**/x.py", "src/*.d"),
    ("**/x.py", "src/a.py/below"),
]

APART = [
    ("src", "docs"),
    ("src", "src2"),
    ("src", "lib/src"),
    ("src/a.py", "src/b.py"),
    ("src/a", "src/ab"),
    ("src/*.py", "src/*.md"),
    ("src/*.py", "docs/a.py"),
    ("src/a*", "src/b*"),
    ("src/?", "src/ab"),
    ("src/*/a.py", "src/b.py/c"),
    ("a?", "a"),
    ("src/**", "docs/**"),
    ("src/**/a.py", "docs"),
    # a file has nothing below it
    ("**/x.py", "src/a.py"),
    ("src/**/x.py", "src/a.py"),
    ("**/x.py", "src/.eslintrc.json"),
    ("**/docs/*", "README.md"),
]


@pytest.mark.parametrize(("one", "other"), OVERLAPPING)
def test_paths_that_overlap_do_so_both_ways(one: str, other: str) -> None:
    assert paths.overlap(one, other)
    assert paths.overlap(other, one)


@pytest.mark.parametrize(("one", "other"), APART)
def test_paths_apart_are_so_both_ways(one: str, other: str) -> None:
    assert not paths.overlap(one, other)
    assert not paths.overlap(other, one)


@pytest.mark.parametrize("letter", ["ß", "ﬁ", "İ"])
def test_a_letter_that_is_two_in_lower_case_is_still_one(letter: str) -> None:
    assert paths.overlap("?", letter)
    assert paths.overlap(f"a{letter}*", f"a?b{letter}")


@pytest.mark.parametrize("part", ["a", "**", "*", "*a*"])
def test_the_longest_reservations_are_compared(part: str) -> None:
    room = 401 // (len(part) + 1)
    long = paths.parse("/".join([part] * room))
    assert paths.overlap(long, long)
    assert not paths.overlap(f"x/{long}"[:400].rstrip("/"), f"y/{long}"[:400].rstrip("/"))
    stars = "*a" * 200
    assert paths.overlap(stars, stars)
