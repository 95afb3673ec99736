"""Which decisions of a commit seem to be replaced by a later one: read from its files when asked.

Suggestions are for people. They are no edges, so nothing is derived from them.
"""

from __future__ import annotations

from tether.git import Git, Oid
from tether.lineage.derive import decisions
from tether.lineage.derive.checkout import Find

_MAX_BYTES = 1024 * 1024


def suspected(git: Git, commit: Oid, find: Find) -> list[decisions.Suspected]:
    """Pairs of decisions in force of which the later seems to replace the earlier, best first."""
    return decisions.suspected(decisions.named(_read(git, commit, find)))


def _read(git: Git, commit: Oid, find: Find) -> list[decisions.Decision]:
    wanted = {
        entry.path: entry.oid
        for entry in git.tree(commit)
        if decisions.is_decision_file(entry.path) and entry.mode.startswith("100")
    }
    found: list[decisions.Decision] = []
    blobs = git.blobs(wanted.values(), max_bytes=_MAX_BYTES)
    for path, blob in zip(wanted, blobs, strict=True):
        if blob.data is not None and b"\0" not in blob.data[:8000]:
            found += decisions.read(path, blob.data.decode("utf-8", "replace"), find)
    return found
