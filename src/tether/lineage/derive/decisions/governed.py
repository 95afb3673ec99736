"""The places in a repository that a text names: in code marks, as links, or in a list of paths.

Whether a place is there is decided against a tree (`trees`); here it only has to look like one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from tether.hints import NamedTuple
from tether.lineage.derive.decisions import prose, saying

MAX_CHARS = 300
_CODE = re.compile(r"`([^`\n]{1,300})`")
_PATH = re.compile(r"[\w.@+~*?{},\[\]/-]{1,300}")
_LINES = re.compile(r":[0-9]{1,6}(?:[-–:,][0-9]{1,6}){0,3}$")
_SYMBOL = re.compile(r"(?:::|#|:(?=[A-Za-z_]))")
_VERSION = re.compile(r"[v0-9.*x]{1,40}")
_SUFFIXES = frozenset(
    (
        "adoc", "bash", "bat", "bazel", "c", "cc", "cfg", "clj", "conf", "cpp", "cs", "css", "csv",
        "cxx", "dart", "ex", "exs", "fish", "gradle", "go", "graphql", "h", "hcl", "hpp", "hs",
        "html", "ini", "ipynb", "java", "jinja", "jl", "js", "json", "jsonl", "jsx", "kt", "kts",
        "less", "lock", "lua", "m", "md", "mdx", "mjs", "mk", "ml", "mm", "mts", "nix", "php", "pl",
        "proto", "ps1", "py", "pyi", "r", "rb", "rs", "rst", "sass", "scala", "scm", "scss", "sh",
        "sol", "sql", "svelte", "svg", "swift", "tex", "tf", "toml", "ts", "tsx", "txt", "vue",
        "xml", "yaml", "yml", "zig", "zsh",
    )
)  # fmt: skip
_WHOLE_NAMES = frozenset(
    (
        "Makefile", "Dockerfile", "Jenkinsfile", "Rakefile", "Gemfile", "Procfile", "CODEOWNERS",
        "Justfile", "BUILD",
    )
)  # fmt: skip
_DOCUMENTS = (".md", ".mdx", ".rst", ".txt", ".adoc", ".html", ".png", ".svg", ".jpg", ".pdf")


class Place(NamedTuple):
    """What a text names: a path or pattern, and perhaps a symbol there."""

    pattern: str
    name: str


def read(value: str, path: str, *, is_header: bool) -> Iterator[Place]:
    """The places that a paragraph names; in a header also those without marks around them."""
    for code in _CODE.finditer(value):
        if place := _place(code[1].strip()):
            yield place
    rest = _CODE.sub(" ", value)
    for link in prose.LINK.finditer(value):
        file = saying.target(path, link[2])[0]
        is_citation = not is_header and file.lower().endswith(_DOCUMENTS)
        if file and not is_citation and file != path and (place := _place(file)):
            yield place
    if is_header:
        for word in re.split(r"[\s,;]+", prose.LINK.sub(" ", rest)):
            place = _place(word.strip("()[].\"'"))
            if place and _is_plain_path(place.pattern):
                yield place


def _place(words: str) -> Place | None:
    """What words name if they look like a path; a line number behind it is left out."""
    if len(words) > MAX_CHARS or "://" in words or words.startswith(("/", "~", "-", "@", "$")):
        return None
    bare = _LINES.sub("", words.removeprefix("./"))
    symbol = _SYMBOL.search(bare)
    name = bare[symbol.end() :].strip() if symbol else ""
    pattern = bare[: symbol.start()] if symbol else bare
    if _PATH.fullmatch(pattern) is None or not _has_parts(pattern):
        return None
    if "/" not in pattern.rstrip("/") and not pattern.endswith("/"):
        return Place(pattern, name) if _is_file(pattern) else None
    if not any(char.isalnum() for char in pattern):
        return None
    return Place(pattern, name)


def _has_parts(pattern: str) -> bool:
    """Whether there is something between all slashes, and nothing leads up."""
    return all(part and part != ".." for part in pattern.removesuffix("/").split("/"))


def _is_file(word: str) -> bool:
    """Whether a word without a slash is the name of a file, and no version and no attribute."""
    stem, suffix = posixpath.splitext(word)
    if word in _WHOLE_NAMES:
        return True
    return bool(stem) and suffix[1:] in _SUFFIXES and _VERSION.fullmatch(word) is None


def _is_plain_path(pattern: str) -> bool:
    """Whether it is a path even without marks: `and/or` may be none."""
    is_clear = pattern.endswith("/") or "*" in pattern or pattern.count("/") > 1
    return is_clear or _is_file(posixpath.basename(pattern))
