"""Ids that were given up for others, as a list's log of them says."""

from __future__ import annotations

import re

from tether.tasks.sources import patterns

_FINDER = patterns.Finder(patterns.Kinds(("track",)))
_ARROW = re.compile(
    r"\u2192|\u21d2|\u27f6|\u279c|->|=>"
    r"|(?<![A-Za-z])(?:in)?to(?![A-Za-z])"
)


def read(line: str) -> list[tuple[str, str]]:
    """(old id, new id) of each task that a line or a row of a table says was given up."""
    arrow = _ARROW.search(line)
    if arrow:
        old, new = _ids(line[: arrow.start()]), _ids(line[arrow.end() :])
    else:
        cells = [found for cell in line.split("|") if (found := _ids(cell))]
        old, new = (cells[0], cells[1]) if len(cells) > 1 and "|" in line else ([], [])
    # Where it names several new ones, the first is where to look.
    return [(each, new[0]) for each in old if new and each != new[0]]


def _ids(text: str) -> list[str]:
    return list(dict.fromkeys(found.id for found in _FINDER.find(text)))
