"""What documents name of the code: symbols and paths in backticks and links. Pure.

A plain word is no name: only what is set as code counts, and of that only what looks like a name
that few things have.
"""

from __future__ import annotations

import posixpath
import re

from tether.hints import NamedTuple

_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
_CODE = re.compile(r"`([^`\n]{2,200})`")
_LINK = re.compile(r"\]\(([^()\s]{1,300})\)")
_SYMBOL = re.compile(r"[A-Za-z_$][\w$]{0,100}(?:(?:\.|::|#)[A-Za-z_$][\w$]{0,100}){0,5}")
_PATH = re.compile(r"(?:[\w.@+-]{1,100}/){0,20}[\w.@+-]{1,100}\.[A-Za-z][A-Za-z0-9]{0,7}")
_MAX_NAMES = 5000
_SHORT = 5
SURE, LESS_SURE = 0.9, 0.7


class Name(NamedTuple):
    """Something that a document names."""

    words: str
    """`src/a.py`, `src/a.py#run`, `Bell.ring`."""
    line: int
    is_path: bool
    confidence: float
    is_link: bool = False
    """Whether it leads there from where the document stands, and not from the top."""


def names(text: str) -> list[Name]:
    """The names in a document, each where it stands first."""
    found: dict[tuple[str, bool], Name] = {}
    is_fenced = False
    for number, line in enumerate(text.split("\n"), start=1):
        if _FENCE.match(line):
            is_fenced = not is_fenced
        elif not is_fenced:
            for each in _in_line(line, number):
                found.setdefault((each.words, each.is_link), each)
        if len(found) >= _MAX_NAMES:
            break
    return list(found.values())


def target(link: str, path: str) -> str:
    """The path that a link of a document leads to; empty if that is outside."""
    if link.startswith("/"):
        return posixpath.normpath(link.lstrip("/"))
    found = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
    return "" if found.startswith("..") else found


def _in_line(line: str, number: int) -> list[Name]:
    found = []
    for match in _CODE.finditer(line):
        words = match[1].strip()
        path, _, name = words.partition("#")
        if _PATH.fullmatch(path) and ("/" in path or not _is_method(path)):
            called = name.removesuffix("()")
            said = f"{path}#{called}" if _SYMBOL.fullmatch(called) else path
            found.append(Name(said, number, is_path=True, confidence=SURE))
            continue
        called = words.removesuffix("()")
        if "#" not in called and _SYMBOL.fullmatch(called) and _tells(called, words):
            sure = SURE if _is_telling(called) else LESS_SURE
            found.append(Name(called, number, is_path=False, confidence=sure))
    for match in _LINK.finditer(line):
        target = match[1].partition("#")[0]
        if _PATH.fullmatch(target.removeprefix("/")):
            found.append(Name(target, number, is_path=True, confidence=SURE, is_link=True))
    return found


def _is_method(words: str) -> bool:
    """Whether `Session.fetch` is no file: what ends in no kind of file that there is."""
    return words.rpartition(".")[2].casefold() not in _ENDINGS


def _is_telling(name: str) -> bool:
    """Whether hardly two things are called so: several words, or with what they belong to."""
    short = re.split(r"\.|::", name)[-1]
    has_humps = re.search(r"[a-z][A-Z]", short) is not None
    return "_" in short.strip("_") or has_humps or short != name


def _tells(name: str, written: str) -> bool:
    """Whether a word can be a name at all, and not `true` or `main`."""
    return _is_telling(name) or written.endswith("()") or len(name) > _SHORT


_ENDINGS = frozenset(
    (
        *("py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "java", "kt", "kts", "go", "rs"),
        *("c", "h", "cc", "cpp", "hpp", "cs", "rb", "php", "sh", "bash", "swift", "scala", "lua"),
        *("md", "rst", "txt", "toml", "yaml", "yml", "json", "xml", "sql", "scm", "proto"),
        *("html", "css", "scss", "vue", "cfg", "ini", "lock", "mk"),
    )
)
