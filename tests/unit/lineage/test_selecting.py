"""Whom words mean in a commit: what is printed can be typed back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tether import errors, text
from tether.git import Git
from tether.lineage import languages, library, selecting, sources

FIXTURES = Path(__file__).parent / "fixtures"
NAMES = [language.name for language in languages.LANGUAGES]
HARD = {
    "lib.rs": "impl fmt::Display for Point {\n    fn fmt(&self) {}\n}\n",
    "notes.md": "# std::vector notes\n\n# std.vector notes\n\n# At 10:30\n\n# C# and #5\n\n"
    "# twice\n\n# twice\n\n# mail@2\n\n#  Red \x1b[31m  one\n\n# e\u200bnd\n",
    "a.ts": "class A {\n  #priv(x: number) {}\n  get v() { return 1 }\n  set v(x) {}\n}\n",
    "a::b.py": "def odd(): ...\n",
    "c#d.py": "def odder(): ...\n",
}


class Shelf:
    """A commit with some files."""

    def __init__(self, path: Path, git: Callable[..., str], content: dict[str, str]) -> None:
        for name, written in content.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(written)
        git("add", ".", cwd=path)
        git("commit", "-qm", "Files", cwd=path)
        repository = Git(path)
        self.commit = repository.resolve("HEAD")
        self.files = library.Library(repository, library.InThisProcess())

    def find(self, words: str) -> str:
        return self.found(words).selector

    def found(self, words: str) -> selecting.Candidate:
        return self.finder().find(words)

    def finder(self, below: str = "") -> selecting.Finder:
        """Somebody who stands in a directory."""
        return selecting.Finder(self.files, self.commit, below)

    def source(self, path: str) -> sources.Source:
        source = self.files.at(self.commit, path)
        assert source is not None
        return source

    def meant(self, words: str) -> list[tuple[str, int]]:
        """The places that words may mean."""
        try:
            one = self.found(words)
        except errors.UsageError as problem:
            found: Any = problem.details["candidates"]
            return [(each["selector"], each["line"]) for each in found]
        return [(text.clean(one.selector), one.symbol.head_line)]


@pytest.fixture
def shelf(repo: Path, git: Callable[..., str]) -> Iterator[Callable[[dict[str, str]], Shelf]]:
    made: list[Shelf] = []

    def make(content: dict[str, str]) -> Shelf:
        made.append(Shelf(repo, git, content))
        return made[-1]

    yield make
    for each in made:
        each.files.close()


Shelves = Callable[[dict[str, str]], Shelf]


def assert_all_can_be_typed_back(there: Shelf, paths: list[str]) -> None:
    for path in paths:
        source = there.source(path)
        assert source.symbols
        for number, symbol in enumerate(source.symbols):
            one = selecting.Candidate(source, number)
            assert there.found(one.selector) == one
            wanted = (text.clean(one.selector), symbol.head_line)
            assert wanted in there.meant(f"{path}#{symbol.qualified}"), symbol
            if symbol.qualified == text.clean(symbol.qualified):
                assert wanted in there.meant(symbol.qualified), symbol


def test_every_symbol_of_every_fixture_can_be_typed_back(shelf: Shelves) -> None:
    paths = [f"sample{languages.BY_NAME[name].suffixes[0]}" for name in NAMES]
    texts = [(FIXTURES / f"{path}.txt").read_text("utf-8") for path in paths]
    assert_all_can_be_typed_back(shelf(dict(zip(paths, texts, strict=True))), paths)


def test_names_with_the_signs_of_selectors_can_be_typed_back(shelf: Shelves) -> None:
    assert_all_can_be_typed_back(shelf(HARD), list(HARD))


def test_a_name_is_taken_as_it_is_written_first(shelf: Shelves) -> None:
    there = shelf(HARD)
    assert there.find("notes.md#std::vector notes") == "notes.md#std::vector notes"
    assert there.find("notes.md#std.vector notes") == "notes.md#std.vector notes"
    assert there.find("lib.rs#<Point as fmt::Display>.fmt").endswith("fmt::Display>.fmt")
    assert there.find("<Point as fmt.Display>.fmt").startswith("lib.rs#")


def test_a_path_and_names_may_have_two_colons_between_them(shelf: Shelves) -> None:
    code = "def f(): ...\n\n\nclass Shop:\n    def add(self): ...\n"
    there = shelf({"src/a.py": code, "f/b.py": "def only(): ...\n"})
    assert there.find("src/a.py::f") == "src/a.py#f"
    assert there.find("src/a.py::Shop::add") == "src/a.py#Shop.add"
    assert there.find("src/a.py#Shop::add") == "src/a.py#Shop.add"
    assert there.find("Shop::add") == "src/a.py#Shop.add"
    with pytest.raises(errors.NotFound, match=r"no file src/c.py "):
        there.find("src/c.py::f")
    with pytest.raises(errors.NotFound, match="is called f::nobody"):
        there.find("f::nobody")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("a.py#Shop.ad", "Did you mean 'a.py#Shop.add'?"),
        ("a.py#shop.ADD", "Did you mean 'a.py#Shop.add'?"),
        ("a.py#remvoe", "Did you mean 'a.py#Shop.remove'?"),
        ("a.py#twise", "Did you mean 'a.py#twice@1'?"),
        ("lib.rs#frmt", "Did you mean 'lib.rs#<Point as fmt::Display>.fmt'?"),
        ("a.py#unlike", selecting.FORMS),
    ],
)
def test_a_slip_is_asked_back(shelf: Shelves, words: str, hint: str) -> None:
    code = "class Shop:\n    def add(self): ...\n    def remove(self): ...\n\n\n"
    there = shelf({**HARD, "a.py": code + "def twice(): ...\n\n\ndef twice(): ...\n"})
    with pytest.raises(errors.NotFound) as caught:
        there.find(words)
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("words", "below", "hint"),
    [
        ("lib/bel.py", "", "Did you mean lib/bell.py?"),
        ("bel.py", "lib", "Did you mean lib/bell.py?"),
        ("lib/bel.py:1", "", "Did you mean lib/bell.py?"),
        ("lib/bel.py#ring", "", "Did you mean lib/bell.py?"),
        ("libs/bell.py", "", "Did you mean lib/bell.py or old/bell.py?"),
        ("lib/clock.py", "", "Name it as that commit has it"),
    ],
)
def test_a_slip_in_a_path_is_one_of_a_file(
    shelf: Shelves, words: str, below: str, hint: str
) -> None:
    code = "def ring(): ...\n"
    there = shelf({"lib/bell.py": code, "old/bell.py": code, "notes.md": "# Bells\n"})
    with pytest.raises(errors.NotFound, match="There is no file ") as caught:
        there.finder(below).find(words)
    assert caught.value.hint.startswith(hint)


def test_a_heading_that_looks_like_a_path_is_found(shelf: Shelves) -> None:
    assert shelf({"notes.md": "# lib/bel.py\n"}).find("lib/bel.py") == "notes.md#lib/bel.py"


@pytest.mark.parametrize(
    ("words", "below", "path"),
    [(".", "", "."), ("./", "", "."), (".", "lib", "lib"), ("..", "lib", "."), ("..", "", None)],
)
def test_a_dot_is_the_directory_where_one_stands(
    shelf: Shelves, words: str, below: str, path: str | None
) -> None:
    entry = shelf({"lib/bell.py": "def ring(): ...\n"}).finder(below).entry(words)
    assert (entry.path if entry else None) == path
