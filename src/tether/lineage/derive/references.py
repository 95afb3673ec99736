"""The words by which people name nodes and types of edges. Pure.

Which task a word means only its caller can say; code stays words, because a symbol is found in a
commit and not in a text.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from tether.hints import NamedTuple
from tether.lineage.edges.model import INVERSES, SYMMETRIC, TYPES, Key, decision_key

Resolve = Callable[[str], Key | None]
"""The key of the task or decision that a word names; None if there is none."""

_MAX_CHARS = 500
_ALIASES = {
    "supersede": "supersedes",
    "replaces": "supersedes",
    "replaced-by": "superseded_by",
    "obsoletes": "supersedes",
    "builds-on": "extends",
    "amends": "extends",
    "amended-by": "extended_by",
    "undoes": "reverts",
    "undone-by": "reverted_by",
    "depends-on": "blocked_by",
    "waits-for": "blocked_by",
    "follows": "follows-up",
    "follow-up-to": "follows-up",
    "follow-up-of": "follows-up",
    "causes": "motivates",
    "caused-by": "motivated_by",
    "conflicts-with": "contradicts",
    "relates-to": "references",
    "relates": "references",
    "related": "references",
    "related-to": "references",
    "mentions": "references",
}
_TYPES = {name.replace("_", "-"): name for name in (*TYPES, *INVERSES)} | _ALIASES
_LONGEST = max(name.count("-") for name in _TYPES) + 2
_JOINED = re.compile(r"#|::")
_LINES = re.compile(r":[0-9]{1,7}(?:-[0-9]{1,7})?$")
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")
_NODE = re.compile(r"node:[0-9a-f]{24}")
_BETWEEN = re.compile(r"[\s,;]+")


class Code(NamedTuple):
    """A place in the code, as it was written."""

    path: str
    """From the top of the repository."""
    name: str
    """Of a symbol or section there; empty if the whole file or directory is meant."""


class Word(NamedTuple):
    """A task or a decision, as it was written."""

    text: str


Reference = Code | Word | Key
"""A node of the index is its key already."""


class Statement(NamedTuple):
    """`superseded by T1, T2`, said of something."""

    type: str
    objects: tuple[str, ...]


def type_of(words: str) -> str | None:
    """The type of edge that words mean, from whichever end; None if they mean none.

    What is computed when it is asked for cannot be stated.
    """
    plain = "-".join(words[:_MAX_CHARS].lower().replace("_", " ").replace("-", " ").split())
    known = _TYPES.get(plain) or _TYPES.get(plain.removeprefix("is-"))
    return None if known in SYMMETRIC else known


def statement(words: str) -> Statement | None:
    """A type in front of what it is about; an id alone is mentioned. None if it is neither."""
    parts = [part for part in _BETWEEN.split(words[:_MAX_CHARS].strip()) if part]
    for size in range(min(_LONGEST, len(parts)), 0, -1):
        kind = type_of(" ".join(parts[:size]).rstrip(":"))
        if kind is not None:
            objects = [part for part in parts[size:] if part not in ("and", "&", ":")]
            return Statement(kind, tuple(objects)) if objects else None
    return Statement("references", tuple(parts)) if len(parts) == 1 else None


def reference(words: str) -> Reference | None:
    """What words name: code, a node of the index, or a task or decision; None if they cannot."""
    bare = words.strip()
    if not bare or len(bare) > _MAX_CHARS or not bare.isprintable():
        return None
    if bare.startswith("node:"):
        return bare if _NODE.fullmatch(bare) else None
    for prefix in ("path:", "file:", "dir:", "symbol:"):
        if bare.startswith(prefix):
            return code(bare.removeprefix(prefix))
    if bare.startswith(("task:", "decision:")):
        return Word(bare) if bare.partition(":")[2].strip() else None
    if "/" in bare or _JOINED.search(bare) or _SUFFIX.search(bare):
        return code(bare)
    return Word(bare)


def code(words: str) -> Code | None:
    """A place in the repository; None for what leads out of it. Lines move, so they go."""
    bare = words.strip()
    joint = _JOINED.search(bare)
    path = _LINES.sub("", bare[: joint.start()] if joint else bare)
    name = bare[joint.end() :].strip() if joint else ""
    is_out = path.startswith(("/", "~")) or "://" in path or "\\" in path
    whole = posixpath.normpath(path) if path else ""
    if is_out or whole.startswith("..") or whole in ("", ".") or not bare.isprintable():
        return None
    return Code(whole, name)


def key_of(word: Word, resolve: Resolve) -> Key | None:
    """The key of a task or decision; a decision may be named that nobody has written down yet."""
    found = resolve(word.text.removeprefix("task:"))
    if found is None and word.text.startswith("decision:"):
        return decision_key(word.text.partition(":")[2].strip())
    return found
