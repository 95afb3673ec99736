"""Which version of a package is installed, by the name of the directory that its installer left.

`importlib.metadata` says the same, and is asked where that name says nothing; to import it and have
it read what it reads takes a third as long as all else that a question needs.
"""

from __future__ import annotations

import functools
import os
import re
import sys

_INSTALLED = ".dist-info"
_SEPARATORS = re.compile(r"[-_.]+")


@functools.cache
def version(package: str) -> str:
    """The version of a package; empty if it is not installed."""
    found = _found(tuple(sys.path)).get(_plain(package), "")
    return found or _told(package)


@functools.lru_cache(maxsize=1)
def _found(places: tuple[str, ...]) -> dict[str, str]:
    """All packages with their versions; the first place that has one counts."""
    found: dict[str, str] = {}
    for place in places:
        try:
            names = os.listdir(place or ".")
        except OSError:
            continue
        for name in sorted(names):
            package, _, number = name.removesuffix(_INSTALLED).rpartition("-")
            if name.endswith(_INSTALLED) and package:
                found.setdefault(_plain(package), number)
    return found


def _plain(package: str) -> str:
    return _SEPARATORS.sub("-", package).lower()


def _told(package: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
