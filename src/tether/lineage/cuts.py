"""Where it is not known what was before: a shallow clone ends, or content cannot be read."""

from __future__ import annotations

from collections.abc import Iterable

from tether.git import Oid
from tether.lineage import library


def before(files: library.Library, commit: Oid, path: str, olds: Iterable[Oid]) -> tuple[str, ...]:
    """Why it is not known what a file's symbols were before a commit; nothing if it is.

    The file had these contents in the parents of the commit, or none.
    """
    if commit in files.boundary:
        return (f"{commit[:12]}: the history ends here, because it is shallow",)
    if any(files.source(path, oid) is None for oid in olds):
        return unread(files, path)
    return ()


def unread(files: library.Library, path: str) -> tuple[str, ...]:
    """Why a version of a file has no symbols that are known."""
    return (told(path, files.unknown.get(path, "missing")),)


def told(path: str, why: library.WhyNot) -> str:
    """That a version of a file says nothing, and what can be done about that."""
    way = "; `git fetch --refetch --no-filter` brings it" if why == "missing" else ""
    return f"{path}: a version was not read: {library.WHY[why]}{way}"


def went_on(path: str) -> tuple[str, ...]:
    """Where something may have gone that nobody can look into."""
    return (f"it went on in {path}, in which no symbols are looked for",)
