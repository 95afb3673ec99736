"""The languages that symbols are found in: a row here, a query beside it, and a fixture."""

from __future__ import annotations

import functools
import os
from importlib import metadata

from tether.hints import NamedTuple

# Another number makes every file be parsed again, because symbols come out otherwise.
EXTRACTOR_VERSION = 1


class Language(NamedTuple):
    """How files of one language are known and parsed."""

    name: str
    suffixes: tuple[str, ...]
    package: str
    """The distribution that has the grammar, as in `tree-sitter-java`."""
    function: str = "language"
    """What of its module gives the grammar."""
    queries: tuple[str, ...] = ()
    """The files of its query, if it is not the one named like the language."""
    file_names: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        return self.package.replace("-", "_")


LANGUAGES = (
    Language("python", (".py", ".pyi", ".pyw"), "tree-sitter-python"),
    Language("java", (".java",), "tree-sitter-java"),
    Language(
        "typescript",
        (".ts", ".mts", ".cts"),
        "tree-sitter-typescript",
        "language_typescript",
        ("ecmascript", "typescript"),
    ),
    Language(
        "tsx", (".tsx",), "tree-sitter-typescript", "language_tsx", ("ecmascript", "typescript")
    ),
    Language(
        "javascript",
        (".js", ".jsx", ".mjs", ".cjs"),
        "tree-sitter-javascript",
        queries=("ecmascript", "javascript"),
    ),
    Language("go", (".go",), "tree-sitter-go"),
    Language("rust", (".rs",), "tree-sitter-rust"),
    Language("c", (".c", ".h"), "tree-sitter-c"),
    Language(
        "cpp",
        (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx"),
        "tree-sitter-cpp",
        queries=("c", "cpp"),
    ),
    Language("c_sharp", (".cs",), "tree-sitter-c-sharp"),
    Language("ruby", (".rb", ".rake"), "tree-sitter-ruby", file_names=("Rakefile", "Gemfile")),
    Language("php", (".php",), "tree-sitter-php", "language_php"),
    Language("kotlin", (".kt", ".kts"), "tree-sitter-kotlin"),
    Language("bash", (".sh", ".bash"), "tree-sitter-bash"),
    Language("markdown", (".md", ".markdown"), "tree-sitter-markdown"),
)
BY_NAME = {language.name: language for language in LANGUAGES}
_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
_BY_FILE_NAME = {name: language for language in LANGUAGES for name in language.file_names}


def of_path(path: str) -> Language | None:
    """The language of a file, by its name; None if symbols are not looked for in it."""
    name = os.path.basename(path)
    return _BY_FILE_NAME.get(name) or _BY_SUFFIX.get(os.path.splitext(name)[1].lower())


@functools.cache
def version_of(language: Language) -> str:
    """What a cached outline depends on beside the content; empty if the grammar is missing."""
    try:
        return f"{language.name} {metadata.version(language.package)} {EXTRACTOR_VERSION}"
    except metadata.PackageNotFoundError:
        return ""
