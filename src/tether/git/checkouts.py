"""Checkouts of branches: made, brought to their end, and moved on.

Nothing that only a checkout has is ever overwritten, removed or unregistered; what stands in the
way is told. A checkout without an index is one that was never finished: the index is put in its
place last, so that whoever was killed before can simply begin again.
"""

from __future__ import annotations

import contextlib
import glob
import os
import time
from collections.abc import Iterable
from pathlib import PurePosixPath

from tether import errors, files, ids
from tether.git import arguments, objects, process, reach, repository
from tether.git.objects import Oid
from tether.hints import NamedTuple

# A git that outlived whoever started it may still be writing the same files.
_PATIENCE_SECONDS = 2.0
_HEADS = "refs/heads/"
# A split index would leave its shared half behind.
_WHOLE = ("-c", "core.splitIndex=false")
_TOUCHED = ("ls-files", "-z", "-t", "--modified", "--deleted")
_STAGED = ("diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-ext-diff")


class Placed(NamedTuple):
    """What became of the wish for a checkout."""

    is_new: bool
    """Was it finished by this call?"""
    in_the_way: tuple[str, ...] = ()
    """Paths that hold something else than the branch: it is not finished."""
    stands_on: str = ""
    """The branch or commit that it has instead; empty if it has the right one."""


def find(git: repository.Git, branch: str) -> str | None:
    """Where this branch is checked out; None if it is not, or if the directory is gone."""
    return next((w.path for w in git.worktrees() if w.branch == branch and _is_linked(w)), None)


def add_worktree(git: repository.Git, path: str, branch: str) -> Placed:
    """A checkout of a branch at a path that is empty, or was meant for it before.

    One whose directory was removed is brought back with what had been staged in it: to register it
    anew would lose that, and commits on no branch.
    """
    here = next((w for w in git.worktrees() if _is_same(w.path, path)), None)
    if here is None:
        _register(git, path, branch)
    elif here.branch is None and here.head is None:  # killed before it had a HEAD
        _relink(git, path)
        process.Runner(path).call("symbolic-ref", "HEAD", arguments.checked_ref(branch))
    elif here.branch != branch:
        return Placed(False, stands_on=here.branch or here.head or "")
    elif not _is_linked(here):
        _relink(git, path)
    return _finish(git, path, branch)


def advance_worktree(git: repository.Git, old: Oid, new: Oid) -> tuple[str, ...]:
    """Bring this checkout's index and files from one commit to another; its HEAD is left alone.

    Does nothing and tells the paths in the way if that would lose something. Again is as good as
    once.
    """
    in_the_way = _touched(git) | (_staged(git, old) & _staged(git, new))
    in_the_way |= _covered(git, old, new)
    if not in_the_way:
        words = (_work_tree(git), *_WHOLE, "read-tree", "-m", "-u", Oid(old), Oid(new))
        git.runner.call(*words, environment=git.runner.without_filters())
    return tuple(sorted(in_the_way))


def _is_linked(found: objects.Worktree) -> bool:
    return os.path.lexists(os.path.join(found.path, ".git"))


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _register(git: repository.Git, path: str, branch: str) -> None:
    if os.path.lexists(path) and not (os.path.isdir(path) and not os.listdir(path)):
        raise errors.AlreadyThere(
            "There is something where a checkout is to be made. It was left alone.",
            hint="If the repository was moved, run `git worktree repair` with the path of the"
            " checkout; otherwise move it away.",
        )
    # Git takes only a short name for a branch, and a full one for a commit. It must be forced where
    # a directory that is gone has the branch; one that is locked may come back.
    name = arguments.checked_ref(branch).removeprefix(_HEADS)
    stale = [w for w in git.worktrees() if w.branch == branch and not w.is_locked]
    force = ["--force"] if stale and not any(map(_is_linked, stale)) else []
    words = ("worktree", "add", "--quiet", "--no-checkout", *force, "--")
    git.runner.call(*words, os.fsencode(path), name)


def _relink(git: repository.Git, path: str) -> None:
    """Bring back a directory that Git still knows: first the files, and last what makes it one."""
    if os.path.lexists(os.path.join(path, ".git")):
        return
    git_dir = _registered_at(git, path)
    os.makedirs(path, exist_ok=True)
    if os.path.exists(os.path.join(git_dir, "index")):
        there = git.runner.without_filters({"GIT_DIR": git_dir, "GIT_WORK_TREE": path})
        # It ends with an error if there is a file already, which stays.
        git.runner.ask("checkout-index", "--all", "--quiet", environment=there)
    files.Root(path).write_atomic(".git", b"gitdir: %s\n" % os.fsencode(git_dir), replace=False)


def _registered_at(git: repository.Git, path: str) -> str:
    """The directory in which Git keeps what it knows of a checkout."""
    common = os.path.realpath(_common_directory(git.runner))
    for pointer in glob.glob(os.path.join(glob.escape(common), "worktrees", "*", "gitdir")):
        if not os.path.isfile(pointer):  # a pipe would block
            continue
        with open(pointer, "rb") as file:
            target = os.fsdecode(file.read(objects.CHUNK_BYTES).rstrip(b"\r\n"))
        git_dir = os.path.dirname(pointer)
        if _is_same(os.path.dirname(os.path.join(git_dir, target)), path):
            return git_dir
    raise errors.GitError("Git no longer knows this checkout. Nothing was changed.")


def _common_directory(runner: process.Runner) -> str:
    return os.fsdecode(runner.facts.common_directory)


def _finish(git: repository.Git, path: str, branch: str) -> Placed:
    """Fill a checkout that has no index yet."""
    there = process.Runner(path)
    if not _is_same(_common_directory(there), _common_directory(git.runner)):
        raise errors.GitError("Another repository stands where a checkout was. It was left alone.")
    git_dir = os.fsdecode(there.call("rev-parse", "--absolute-git-dir").removesuffix(b"\n"))
    if os.path.exists(os.path.join(git_dir, "index")):
        return Placed(False)
    give_up_at = time.monotonic() + _PATIENCE_SECONDS
    while (differing := _fill(git, path, git_dir, branch)) and time.monotonic() < give_up_at:
        time.sleep(0.1)
    return Placed(not differing, in_the_way=tuple(sorted(differing)))


def _fill(git: repository.Git, path: str, git_dir: str, branch: str) -> set[str]:
    """Write the files of a branch that are not there, then the index; or tell which differ."""
    private = f"tether-{ids.random_base32(16)}"
    index = os.path.join(git_dir, private)
    there = {"GIT_DIR": git_dir, "GIT_WORK_TREE": path, "GIT_INDEX_FILE": index}
    try:
        differing = _write_missing(git, git.runner.without_filters(there), branch)
        # Whoever finished it meanwhile did the same.
        with contextlib.suppress(errors.AlreadyThere):
            if not differing:
                files.Root(git_dir).rename_noreplace(private, "index")
        return differing
    finally:
        files.Root(git_dir).remove(private)


def _write_missing(git: repository.Git, there: process.Environment, branch: str) -> set[str]:
    tip = git.tip(branch)
    if tip is None:
        raise errors.RevisionNotFound
    git.runner.call(*_WHOLE, "read-tree", tip, environment=there)
    # Only this looks at which files a sparse checkout leaves out.
    git.runner.call(*_WHOLE, "read-tree", "-m", "-u", tip, environment=there)
    # It overwrites nothing, and is quiet about what was there already.
    fill = ("checkout-index", "--all", "--index", "--quiet")
    answer = git.runner.ask(*_WHOLE, *fill, environment=there)
    changed, missing = _listed(git.runner.call(*_TOUCHED, environment=there))
    blocked = {path for path in missing if _is_blocked(there["GIT_WORK_TREE"], path)}
    if answer.returncode and answer.stderr and not blocked:  # for want of an object, or of room
        raise process.failure(answer.stderr)
    return changed | missing


def _is_blocked(top: str, path: str) -> bool:
    """Does something that is no directory stand above a path?"""
    above = (os.path.join(top, parent) for parent in _above([path]))
    return any(os.path.lexists(p) and (os.path.islink(p) or not os.path.isdir(p)) for p in above)


def _work_tree(git: repository.Git) -> bytes:
    # The repository's own core.worktree could point at somebody's home.
    return b"--work-tree=" + os.fsencode(git.directory)


def _touched(git: repository.Git) -> set[str]:
    """Tracked files that are not as the index has them."""
    unfiltered = git.runner.without_filters()
    changed, missing = _listed(git.runner.call(_work_tree(git), *_TOUCHED, environment=unfiltered))
    return changed | missing


def _listed(listing: bytes) -> tuple[set[str], set[str]]:
    """The files that differ from the index, and those that are not there."""
    pairs = [token.partition(b" ") for token in listing.split(b"\0")[:-1]]
    missing = {objects.as_path(path) for tag, _, path in pairs if tag == b"R"}
    return {objects.as_path(path) for _, _, path in pairs} - missing, missing


def _staged(git: repository.Git, oid: Oid) -> set[str]:
    """Where the index differs from a commit."""
    listing = git.runner.call(_work_tree(git), *_STAGED, Oid(oid), "--").split(b"\0")[:-1]
    return {objects.as_path(path) for path in listing[1::2]}


def _covered(git: repository.Git, old: Oid, new: Oid) -> set[str]:
    """Files of nobody's that the new commit has something else for.

    Git itself would overwrite those that it is told to ignore (met with `read-tree`, 2.39).
    """
    added = {path for path, before in reach.differing(git, new, old).items() if before is None}
    if not added:
        return set()
    listing = git.runner.call(_work_tree(git), "ls-files", "-z", "--others").split(b"\0")[:-1]
    others = {objects.as_path(path).rstrip("/") for path in listing}
    above = _above(added)
    return {o for o in others if o in added or o in above or not added.isdisjoint(_above([o]))}


def _above(paths: Iterable[str]) -> set[str]:
    return {str(parent) for path in paths for parent in PurePosixPath(path).parents}
