"""Outlines as the index has them, for those who parse nothing themselves."""

from __future__ import annotations

import sqlite3

from tether.git import Oid
from tether.lineage import cache, languages, symbols

_OUTLINE = "SELECT outline FROM outlines WHERE blob = ?"


class Missing:
    """Outlines that are not in the index any more: whoever asked makes them, and asks again."""

    def __init__(self) -> None:
        self.wanted: dict[Oid, str] = {}
        """By blobs, paths that say their language."""
        self._tried: set[Oid] = set()

    def note(self, oid: Oid, path: str) -> None:
        if oid not in self._tried:
            self.wanted[oid] = path

    def taken(self) -> list[tuple[Oid, str]]:
        """What is to be made; what is missing after that has none."""
        found = list(self.wanted.items())
        self._tried |= self.wanted.keys()
        self.wanted.clear()
        return found


class KeptOutlines:
    """Outlines from the index only."""

    def __init__(self, connection: sqlite3.Connection, missing: Missing) -> None:
        self._connection = connection
        self._missing = missing

    def outline(
        self, oid: Oid, language: languages.Language, data: bytes
    ) -> symbols.Outline | None:
        del data
        for (raw,) in self._connection.execute(_OUTLINE, (oid,)):
            found = cache.decoded(raw)
            if found is not None:
                return found
        self._missing.note(oid, f"any{language.suffixes[0]}")
        return None

    def part(self, oid: Oid, language: languages.Language, data: bytes) -> symbols.Outline | None:
        return self.outline(oid, language, data)
