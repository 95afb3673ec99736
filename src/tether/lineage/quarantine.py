"""Files that a grammar hung or crashed at: skipped from then on, until somebody says otherwise."""

from __future__ import annotations

from tether import clock, index
from tether.hints import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3

_ALL = "SELECT blob, version, path, why, at FROM quarantine ORDER BY at, blob"
_ADD = "INSERT OR REPLACE INTO quarantine (blob, version, path, why, at) VALUES (?, ?, ?, ?, ?)"


class Blamed(NamedTuple):
    """A file that its grammar could not cope with."""

    blob: str
    version: str
    """Of grammar and extractor: another one may cope."""
    path: str
    """Where it was met; it may have more places, and one that is long is cut."""
    why: str
    at: str = ""

    @property
    def language(self) -> str:
        return self.version.partition(" ")[0]


class Quarantine:
    """What is skipped in one repository; without an index, only for as long as this lives."""

    def __init__(self, store_dir: str = "") -> None:
        self._index = index.Index(store_dir) if store_dir else None
        self._own: dict[tuple[str, str], Blamed] = {}

    def all(self) -> list[Blamed]:
        rows = self._index.rows(_ALL) if self._index else []
        self.close()
        kept = {(blob, version): Blamed(blob, version, *rest) for blob, version, *rest in rows}
        return list((self._own | kept).values())

    def add(self, blamed: Blamed) -> None:
        new = blamed._replace(at=clock.now_text(clock.SystemClock()))
        self._own[new.blob, new.version] = new
        if self._index:
            self._index.write(lambda connection: connection.execute(_ADD, _storable(new)))
            self.close()

    def close(self) -> None:
        if self._index:
            self._index.close()


def forget(connection: sqlite3.Connection) -> None:
    """Give every file another chance."""
    connection.execute("DELETE FROM quarantine")


def _storable(blamed: Blamed) -> tuple[str, ...]:
    """Without halves of characters, as in odd file names: no database takes them."""
    return tuple(each.encode("utf-8", "replace").decode() for each in blamed)
