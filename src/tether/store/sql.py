"""SQL lives in named blocks of `.sql` files, one set for both databases.

A block is `-- name: take`, one comment line of purpose, and a statement with `:name` parameters.
Statements use only what both databases share, and `tether_now(offset_ms)` for the time, which
each store provides from its own clock.
"""

from __future__ import annotations

import os
import re

from tether.hints import NamedTuple

_DIRECTORY = os.path.join(os.path.dirname(__file__), "sql")
_HEADER = re.compile(r"^-- name: ([a-z_]+)\n-- (.+)\n", re.MULTILINE)
_PARAMETER = re.compile(r":([a-z_]+)")


class Query(NamedTuple):
    """One statement."""

    name: str
    purpose: str
    text: str

    @property
    def pyformat(self) -> str:
        """The same statement with `%(name)s` parameters, as psycopg wants them."""
        return _PARAMETER.sub(r"%(\1)s", self.text.replace("%", "%%"))


class Queries:
    """The blocks of one file, as attributes: of the store, or of a room that says where it is."""

    def __init__(self, name: str, directory: str = _DIRECTORY) -> None:
        with open(os.path.join(directory, f"{name}.sql"), encoding="utf-8") as file:
            parts = _HEADER.split(file.read())
        # split() gives what stands before the first header, then name, purpose, body, name, …
        blocks = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
        self._queries = {
            block: Query(f"{name}.{block}", purpose, body.strip().rstrip(";"))
            for block, purpose, body in blocks
        }

    def __getattr__(self, name: str) -> Query:
        try:
            return self._queries[name]
        except KeyError:
            raise AttributeError(name) from None

    def all(self) -> list[Query]:
        return list(self._queries.values())
