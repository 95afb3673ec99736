"""The id of a node: what it was when it was born. And what it takes to be born again."""

from __future__ import annotations

import hashlib
import re

from tether.git import Oid
from tether.hints import NamedTuple
from tether.lineage import sources

_PREFIX = "node:"
# A commit that says one of these may bring back what another one deleted.
_REVERTING = re.compile(
    rb"\b(?:revert|re-?appl|restor|reinstat|re-?add|re-?introduc|bring\w* back|put\w* back"
    rb"|undo|undelet|roll\w*[ -]?back|back\w*[ -]?out)",
    re.IGNORECASE,
)


class Life(NamedTuple):
    """What must be the same for a symbol that comes back to be the one that was deleted."""

    path: str
    kind: str
    qualified: str
    text: bytes

    @property
    def digest(self) -> bytes:
        """The same in a few bytes."""
        names = f"{self.path}\0{self.kind}\0{self.qualified}\0"
        whole = names.encode("utf-8", "surrogateescape") + self.text
        return hashlib.blake2b(whole, digest_size=16).digest()


def node_id(source: sources.Source, number: int) -> str:
    """The same in every clone, and after a rebase that changes nothing."""
    symbol = source.symbols[number]
    digest = hashlib.blake2b(digest_size=12)
    for part in (source.path, symbol.kind, symbol.qualified, str(symbol.ordinal)):
        encoded = part.encode("utf-8", "surrogateescape")
        digest.update(b"%d " % len(encoded) + encoded)
    digest.update(source.text(number))
    return f"{_PREFIX}{digest.hexdigest()}"


def file_id(path: str, oid: Oid) -> str:
    """The same of a file: what it had in it when it was born is told by the id of its content."""
    digest = hashlib.blake2b(digest_size=12)
    for part in (path, "file", oid):
        encoded = part.encode("utf-8", "surrogateescape")
        digest.update(b"%d " % len(encoded) + encoded)
    return f"{_PREFIX}{digest.hexdigest()}"


def file_life(path: str, oid: Oid) -> Life:
    return Life(path, "file", path, oid.encode())


def life(source: sources.Source, number: int) -> Life:
    symbol = source.symbols[number]
    return Life(source.path, symbol.kind, symbol.qualified, source.text(number))


def says_revert(message: bytes) -> bool:
    """Whether a commit says that it takes something back."""
    return _REVERTING.search(message) is not None
