"""What a commit did to files as such, whatever is in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from tether.git import Change, Oid
from tether.lineage import history, languages, renames

# Regular files and links; a submodule has a history of its own.
_FILES = ("100", "120")


def is_there(mode: str) -> bool:
    """Whether a mode is a file's or a link's."""
    return mode.startswith(_FILES)


def is_followed(change: Change) -> bool:
    """Whether it changes a file or a link."""
    return is_there(change.old_mode) or is_there(change.new_mode)


def renamed(
    changes: Sequence[Change], content: Callable[[str, Oid], bytes | None]
) -> dict[str, str]:
    """What deleted files became that have no symbols; those with symbols are compared by them."""
    others = [
        each
        for each in changes
        if each.status in ("A", "D") and languages.of_path(each.path) is None
    ]
    if len({each.status for each in others}) < 2:
        return {}
    return renames.Renames(others, content).pairs()


def went_on(
    changes: Iterable[Change],
    renamed: Mapping[str, str],
    content: Callable[[str, Oid], bytes | None],
) -> dict[str, str]:
    """What deleted files with symbols became that have none, as `a.h` and `a.h.in`.

    `renamed` has those that became something else.
    """
    known = {*renamed, *renamed.values()}
    left = [
        each
        for each in changes
        if each.path not in known
        and each.status == ("D" if languages.of_path(each.path) is not None else "A")
    ]
    if len({each.status for each in left}) < 2:
        return {}
    return renames.Renames(left, content).pairs()


def kinds(change: Change, old_path: str, old_oid: Oid) -> tuple[history.ChangeKind, ...]:
    """What differs between a file before and after."""
    found: list[history.ChangeKind] = []
    if change.path != old_path:
        found.append("move")
    if change.new_oid != old_oid:
        found.append("body")
    return tuple(found)


def place(path: str) -> history.Place:
    """A file as a place."""
    return history.Place(path, "file", os.path.basename(path), path, "", 1, 1, 0)


def digest(oid: Oid) -> int:
    """The same for the same content."""
    return int.from_bytes(bytes.fromhex(oid[:16]), "big", signed=True)
