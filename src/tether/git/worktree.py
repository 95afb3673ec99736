"""What a checkout has that no commit has, read without running anything of the repository's.

A file whose stat differs from the index is hashed again, as `git status` does, but without its
filters: one that only a filter makes equal shows as changed.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable

from tether.git import arguments, objects, process, repository

# Tags of `ls-files -t`: C is changed, R removed, ? not tracked, M unmerged.
_LISTING = ("ls-files", "-z", "-t", "--modified", "--deleted", "--others", "--exclude-standard")
_STAGED = ("diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-ext-diff")
_STASHES = ("log", "-g", "-z", "--no-color", "--no-notes", "--encoding=UTF-8")
_STASH_FORMAT = "--format=tformat:%H%x09%ct%x09%gs"
_MADE_ON = re.compile(r"(?:WIP on|On) ([^:\n]{1,250}): ")


def uncommitted(git: repository.Git, limit: int) -> objects.Uncommitted:
    """Staged, changed, deleted and untracked paths."""
    # The repository's own core.worktree could point at somebody's home.
    here = (b"--work-tree=" + os.fsencode(git.directory),)
    environment = git.runner.without_filters()
    found: dict[bytes, set[str]] = defaultdict(set)
    for token in git.runner.call(*here, *_LISTING, environment=environment).split(b"\0")[:-1]:
        tag, _, path = token.partition(b" ")
        found[tag].add(objects.as_path(path))
    deleted = found[b"R"]
    return objects.Uncommitted(
        staged=_some(_staged(git, here), limit),
        changed=_some((found[b"C"] | found[b"M"]) - deleted, limit),
        deleted=_some(deleted, limit),
        untracked=_some(found[b"?"], limit),
    )


def staged(git: repository.Git, path: str) -> list[objects.TreeEntry]:
    """The entries of the index, but for those of an unfinished merge."""
    [wanted] = arguments.path_arguments([path])
    found = []
    for token in git.runner.call("ls-files", "-z", "--stage", "--", wanted).split(b"\0")[:-1]:
        about, _, name = token.partition(b"\t")
        mode, oid, stage = objects.as_line(about).split(" ")
        if stage == "0":
            entry = objects.TreeEntry(mode, "blob", objects.Oid(oid), objects.as_path(name))
            found.append(entry)
    return found


def ignored(git: repository.Git, paths: Iterable[str]) -> set[str]:
    """Those of the paths that Git is told to leave out here, whether it has them or not."""
    # It knows no literal paths: behind a dot nothing is magic, and only the index is globbed.
    feed = b"\0".join(b"./" + path for path in arguments.path_arguments(paths))
    here = b"--work-tree=" + os.fsencode(git.directory)
    words = (here, "check-ignore", "-z", "--no-index", "--stdin")
    answer = git.runner.ask(*words, feed=feed, environment={"GIT_LITERAL_PATHSPECS": "0"})
    if answer.returncode not in (0, 1):
        raise process.failure(answer.stderr)
    return {objects.as_path(token[2:]) for token in answer.stdout.split(b"\0")[:-1]}


def stashes(git: repository.Git, limit: int) -> list[objects.Stash]:
    """The entries of the stash, newest first."""
    if git.tip("refs/stash") is None:
        return []
    listing = git.runner.call(
        *_STASHES, f"--max-count={limit:d}", _STASH_FORMAT, "refs/stash", "--"
    )
    return [_stash(token) for token in listing.split(b"\0") if token]


def _staged(git: repository.Git, here: tuple[bytes, ...]) -> set[str]:
    head = git.head()
    if head is None:
        # On an unborn branch everything in the index is new.
        tokens = git.runner.call("ls-files", "-z", "--cached").split(b"\0")[:-1]
        return {objects.as_path(token) for token in tokens}
    listing = git.runner.call(*here, *_STAGED, head, "--").split(b"\0")[:-1]
    return {objects.as_path(path) for path in listing[1::2]}


def _stash(token: bytes) -> objects.Stash:
    oid, seconds, text = objects.as_text(token).split("\t", 2)
    made_on = _MADE_ON.match(text)
    return objects.Stash(
        objects.Oid(oid), objects.milliseconds(seconds), made_on[1] if made_on else "", text
    )


def _some(paths: set[str], limit: int) -> tuple[str, ...]:
    return tuple(sorted(paths)[:limit])
