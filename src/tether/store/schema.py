"""The schema's versions: which there are, and what to do with one that is found.

Migrations are additive and numbered. Each says in its first line the oldest version whose code can
still work with the result (`min_reader`), so a store that a newer Tether migrated stays usable for
an older one unless that is really impossible.
"""

from __future__ import annotations

import os
import re

from tether import errors
from tether.hints import Literal, NamedTuple

_HEADER = re.compile(r"-- min_reader: ([0-9]+)\n")
_TABLE = re.compile(r"^CREATE TABLE ([a-z_]+) \(\n(.*?)^\)", re.MULTILINE | re.DOTALL)
_COLUMN = re.compile(r"^    ([a-z_]+) ", re.MULTILINE)

Dialect = Literal["sqlite", "postgres"]


class Migration(NamedTuple):
    """One step forward."""

    number: int
    min_reader: int
    script: str


class Version(NamedTuple):
    """What a store says of its own schema."""

    number: int
    min_reader: int


class Series(NamedTuple):
    """The migrations in a directory, and the whole schema that they add up to."""

    directory: str
    version: int
    """The newest: a number here, so that opening a store reads no files."""

    def migrations(self, dialect: Dialect) -> list[Migration]:
        """All migrations in order."""
        place = os.path.join(self.directory, "migrations", dialect)
        return [_migration(place, name) for name in sorted(os.listdir(place))]

    def whole(self, dialect: Dialect) -> str:
        """The schema as a new store gets it at once."""
        return _read(os.path.join(self.directory, "schema", f"{dialect}.sql"))

    def tables(self, dialect: Dialect) -> dict[str, list[str]]:
        """Tables and their columns, in the order of creation, so that references come later."""
        return {name: _COLUMN.findall(body) for name, body in _TABLE.findall(self.whole(dialect))}

    def needs_migration(self, found: Version) -> bool:
        """Must a store be brought forward? Refuses one that this code cannot work with."""
        if found.number > self.version and found.min_reader > self.version:
            raise errors.StoreTooNew(
                f"The store has schema {found.number} and needs a Tether that knows at least"
                f" schema {found.min_reader}; this one knows {self.version}."
                " The store was left as it is."
            )
        return found.number < self.version


OURS = Series(os.path.dirname(__file__), version=5)


def _migration(place: str, name: str) -> Migration:
    script = _read(os.path.join(place, name))
    header = _HEADER.match(script)
    if header is None:
        raise ValueError(f"{name} does not begin with its min_reader")
    return Migration(int(name[:4]), int(header[1]), script)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
