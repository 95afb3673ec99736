"""The languages that symbols are found in: a row here, a query beside it, and a fixture."""

from __future__ import annotations

import functools
import re

from tether.hints import Literal, NamedTuple
from tether.lineage import packages

# Another number makes every file be parsed again, because symbols come out otherwise.
EXTRACTOR_VERSION = 3


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
    nesting: Literal["braces", "indentation", "words"] = "braces"
    """What shows where a definition ends."""

    @property
    def module(self) -> str:
        return self.package.replace("-", "_")

    @property
    def family(self) -> str:
        """The same for languages between which code can move as it is."""
        return self.queries[0] if self.queries else self.name


LANGUAGES = (
    Language("python", (".py", ".pyi", ".pyw"), "tree-sitter-python", nesting="indentation"),
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
    Language(
        "ruby",
        (".rb", ".rake"),
        "tree-sitter-ruby",
        file_names=("Rakefile", "Gemfile"),
        nesting="words",
    ),
    Language("php", (".php",), "tree-sitter-php", "language_php"),
    Language("kotlin", (".kt", ".kts"), "tree-sitter-kotlin"),
    Language("bash", (".sh", ".bash"), "tree-sitter-bash", nesting="words"),
    Language("markdown", (".md", ".markdown"), "tree-sitter-markdown", nesting="words"),
)
BY_NAME = {language.name: language for language in LANGUAGES}
_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
_BY_FILE_NAME = {name: language for language in LANGUAGES for name in language.file_names}
# What no header of C has: some first words of lines, headers without `.h`, scopes, methods.
_CPLUSPLUS = re.compile(
    rb"^[ \t]*(?:class[ \t]+\w|enum[ \t]+class\b|(?:inline[ \t]+)?namespace\b|template[ \t]*<"
    rb"|(?:public|private|protected)[ \t]*:|using[ \t]+\w|virtual\b|#[ \t]*include[ \t]*<[a-z_]+>)"
    rb"|::|\boperator[ \t]*[^\w\s]|\)[ \t]*const[ \t]*[;{=]",
    re.MULTILINE,
)


def of_path(path: str) -> Language | None:
    """The language of a file, by its name; None if symbols are not looked for in it."""
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    return _BY_SUFFIX.get(name[dot:].lower()) if dot > 0 else _BY_FILE_NAME.get(name)


def of_file(path: str, data: bytes) -> Language | None:
    """The language of a file, also by its content: a header may be one of C or of C++."""
    language = of_path(path)
    is_header = language is not None and path[-2:].lower() == ".h"
    return BY_NAME["cpp"] if is_header and _CPLUSPLUS.search(data) else language


def family(path: str) -> str:
    """The same for files between which symbols can move; empty if there are none in it."""
    language = of_path(path)
    return language.family if language else ""


@functools.cache
def version_of(language: Language) -> str:
    """What a cached outline depends on beside the content; empty if the grammar is missing."""
    found = packages.version(language.package)
    return f"{language.name} {found} {EXTRACTOR_VERSION}" if found else ""
