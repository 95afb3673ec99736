"""The only caller of git: hermetic, argument-safe, and never in anybody's working tree.

A repository is untrusted. Its configuration, hooks, attributes and messages must neither run a
program nor open a connection, so every call gets an environment made from scratch, options that
win over the repository's configuration, and only commands that leave files alone. Files are written
by `checkouts` only, and nothing that a commit does not have is overwritten. What a commit means is
not known here.
"""

from tether.git.objects import (
    Blob,
    Change,
    Commit,
    Committed,
    Identity,
    Oid,
    Stash,
    TreeEntry,
    Uncommitted,
    Worktree,
)
from tether.git.repository import Git, init, version

__all__ = [
    "Blob",
    "Change",
    "Commit",
    "Committed",
    "Git",
    "Identity",
    "Oid",
    "Stash",
    "TreeEntry",
    "Uncommitted",
    "Worktree",
    "init",
    "version",
]
