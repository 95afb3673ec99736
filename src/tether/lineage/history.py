"""What is told of a symbol: where it was, what a commit did to it, and its whole history."""

from __future__ import annotations

from tether.git import Oid
from tether.hints import Literal, NamedTuple

ChangeKind = Literal[
    "introduced",
    "body",
    "signature",
    "rename",
    "move",
    "container",
    "documentation",
    "comment",
    "formatting",
    "annotation",
    "deleted",
]
Relation = Literal["same", "split_from", "merged_into", "inlined_into"]


class Place(NamedTuple):
    """A symbol as it stood in a file."""

    path: str
    kind: str
    name: str
    """A part of the next one that cannot be cut from it: names of sections have dots, too."""
    qualified: str
    signature: str
    ordinal: int
    line: int
    end_line: int


class Match(NamedTuple):
    """One symbol before and after a commit: the same, or a part of it that went elsewhere."""

    before: Place | None
    after: Place | None
    relation: Relation
    kinds: tuple[ChangeKind, ...]
    confidence: float
    evidence: str


class Change(NamedTuple):
    """What one commit did to a symbol."""

    commit: Oid
    kinds: tuple[ChangeKind, ...]
    before: Place | None
    after: Place | None
    confidence: float
    evidence: str
    related: tuple[Match, ...] = ()
    """What was split from it or went into it with the same commit."""


class History(NamedTuple):
    """Everything that happened to a symbol, the newest first."""

    changes: tuple[Change, ...]
    unknown: tuple[str, ...] = ()
    """Why there may be more: a shallow clone, content that is missing or cannot be read."""
    node: str = ""
    """The id of the symbol: a hash of what it was when it was born."""
