"""Commits made beside the working tree: a private index, and a compare-and-swap of the branch.

Whoever else commits meanwhile keeps their commit, and whatever the user has staged stays staged.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import random
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from tether import errors
from tether.git import arguments, durable, objects, process
from tether.git.objects import Oid
from tether.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from tether.git import repository

_INDEX_PATIENCE_SECONDS = 2.0
_TURN_PATIENCE_SECONDS = 10.0
# Git knows these two without their being written.
_EMPTY_TREE = {
    40: Oid("4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
    64: Oid("6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"),
}


class Committer:
    """Makes commits in one repository."""

    def __init__(self, git: repository.Git) -> None:
        self._git = git

    def commit_paths(
        self,
        ref: str,
        edits: Mapping[str, bytes | None],
        message: str,
        identity: objects.Identity,
        *,
        base: Oid | None = None,
        when_ms: int | None = None,
        attempts: int = 20,
    ) -> objects.Committed:
        """What `Git.commit_paths` promises."""
        if "\0" in message:
            raise errors.UsageError("A commit message cannot hold a NUL character.")
        person = durable.person(identity, when_ms)
        base = base or self._git.tip(arguments.checked_ref(ref))
        before = self._git.entries(base, _checked_edits(edits))
        after = self._write_blobs(edits, before)
        failure: errors.GitError | None = None
        with self._turn():
            for attempt in range(attempts):
                tip = self._git.tip(ref)
                tree = self._write_tree(tip, after)
                if not self._check_changes(tip, tree, before, after):
                    return objects.Committed(
                        _born(tip), False, self._bring_index_along(ref, before)
                    )
                new = durable.commit(self._git, tree, [tip] if tip else [], message, person)
                failure = self._swap(ref, new, tip, person)
                if failure is None:
                    return objects.Committed(new, True, self._bring_index_along(ref, before))
                _wait_apart(attempt)
                if self._git.tip(ref) != tip:
                    failure = None
        # A lock that nobody releases, or a directory that is read-only, is not a lost race.
        raise failure or errors.RefMoved()

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Let those who commit through here take turns, on one machine.

        A courtesy, not a guarantee: the swap alone keeps commits from being lost, but among eight
        busy processes on two cores 2 of 400 commits lost twenty swaps in a row.
        """
        descriptor = os.open(self._git.runner.facts.common_directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            give_up_at = time.monotonic() + _TURN_PATIENCE_SECONDS
            while time.monotonic() < give_up_at:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError:
                    _wait_apart(0)
            yield
        finally:
            os.close(descriptor)

    def _write_blobs(
        self, edits: Mapping[str, bytes | None], before: objects.Entries
    ) -> objects.Entries:
        after: objects.Entries = {}
        for path, content in edits.items():
            after[path] = None
            if content is not None:
                mode = _mode_to_write(before[path])
                write = (*durable.OPTIONS, "hash-object", "-w", "--no-filters", "--stdin")
                oid = self._git.runner.call(*write, feed=content)
                after[path] = objects.Entry(mode, Oid(objects.as_line(oid)))
        return after

    def _write_tree(self, tip: Oid | None, after: objects.Entries) -> Oid:
        """The tip's tree with these entries, made in an index that nobody else sees."""
        with tempfile.TemporaryDirectory(prefix="tether-") as private:
            # A split index would leave its shared half in the repository.
            whole = ("-c", "core.splitIndex=false")
            index = {"GIT_INDEX_FILE": os.path.join(private, "index")}
            self._git.runner.call(*whole, "read-tree", tip or "--empty", environment=index)
            self._write_index(after, whole, index)
            # Objects that a partial clone lacks are the tip's, not ours to check.
            write = (*durable.OPTIONS, *whole, "write-tree", "--missing-ok")
            return Oid(objects.as_line(self._git.runner.call(*write, environment=index)))

    def _check_changes(
        self,
        tip: Oid | None,
        tree: Oid,
        before: objects.Entries,
        after: objects.Entries,
    ) -> bool:
        """Whether the tree changes anything; refuse one that changes more or less than it should.

        More, if a file took the place of a directory or the reverse; less, if somebody else
        changed one of the paths since.
        """
        old = tip or _EMPTY_TREE[len(tree)]
        listing = self._git.runner.call("diff-tree", "-r", "-z", *arguments.RAW, old, tree).split(
            b"\0"
        )[:-1]
        changes = [
            objects.read_change(*pair) for pair in zip(listing[::2], listing[1::2], strict=True)
        ]
        was = {c.path: objects.entry_or_none(c.old_mode, c.old_oid) for c in changes}
        if not was.keys() <= after.keys():
            raise _both_file_and_directory()
        if was != {path: entry for path, entry in before.items() if entry != after[path]}:
            raise errors.RefMoved
        return bool(changes)

    def _swap(
        self,
        ref: str,
        new: Oid,
        old: Oid | None,
        person: process.Environment,
    ) -> errors.GitError | None:
        """Let the ref point to the new commit if it still points to the old one."""
        return durable.swap(self._git, ref, new, old, person, "commit (tether)")

    def _bring_index_along(self, ref: str, before: objects.Entries) -> objects.IndexState:
        """Let the index of this worktree follow the branch where the user staged nothing else.

        Never fails: by now the commit is made.
        """
        try:
            if self._git.runner.facts.is_bare or self._git.branch() != ref:
                return "not_checked_out"
            return self._follow(ref, before)
        except errors.GitError:
            return "not_written"

    def _follow(self, ref: str, known: objects.Entries) -> objects.IndexState:
        # The branch may move on while the index is written, and its mover then finds an index that
        # it does not know and leaves it. So whoever writes looks again until it fits.
        give_up_at = time.monotonic() + _INDEX_PATIENCE_SECONDS
        for attempt in itertools.count():
            if time.monotonic() > give_up_at:
                break
            now = self._git.entries(self._git.tip(ref), known)
            staged = self._staged(known)
            behind = {p: now[p] for p in known if staged[p] == known[p] != now[p]}
            if not behind:
                return "current" if staged == now else "staged_otherwise"
            try:
                self._write_index(behind, environment=self._git.runner.without_filters())
                known = {**known, **behind}
            except errors.GitError:  # somebody else holds index.lock
                _wait_apart(min(attempt, 2))
        return "not_written"

    def _staged(self, paths: Iterable[str]) -> objects.Entries:
        """What the index has at exactly these paths."""
        entries: objects.Entries = dict.fromkeys(paths)
        listing = self._git.runner.call(
            "ls-files", "--stage", "-z", "--", *arguments.path_arguments(entries)
        )
        for token in listing.split(b"\0")[:-1]:
            about, _, raw_path = token.partition(b"\t")
            mode, oid, stage = objects.as_line(about).split(" ")
            if objects.as_path(raw_path) in entries:
                entries[objects.as_path(raw_path)] = objects.Entry(
                    mode if stage == "0" else f"unmerged {mode}", Oid(oid)
                )
        return entries

    def _write_index(
        self,
        entries: objects.Entries,
        options: Iterable[process.Argument] = (),
        environment: process.Environment = process.NO_ENVIRONMENT,
    ) -> None:
        # Deletions first, so that a file can make room for a directory of its name.
        nothing = objects.Entry("0", self._git.runner.facts.null)
        ordered = sorted(entries.items(), key=lambda item: (item[1] is not None, item[0]))
        feed = b"".join(
            b"%s %s\t%s\0" % (mode.encode(), oid.encode(), objects.path_bytes(path))
            for path, (mode, oid) in ((path, entry or nothing) for path, entry in ordered)
        )
        update = ("update-index", "-z", "--index-info")
        self._git.runner.call(*options, *update, feed=feed, environment=environment)


def _wait_apart(attempt: int) -> None:
    """Wait so that rivals do not meet again, the longer the more often they met."""
    longest_seconds = min(1.0, 0.02 * 2**attempt)
    time.sleep(random.uniform(0.001, longest_seconds))  # noqa: S311 - a pause is no secret


def _checked_path(path: str) -> str:
    """A path that names a file inside any worktree, on any platform that shares the repository."""
    parts = path.split("/")
    if arguments.CONTROL.search(path) or any(
        p in ("", ".", "..") or p.lower() == ".git" for p in parts
    ):
        raise errors.UsageError(
            "This path cannot be committed.", hint="Name a file relative to the repository's top."
        )
    return path


def _checked_edits(edits: Mapping[str, bytes | None]) -> list[str]:
    written = {_checked_path(path) for path, content in edits.items() if content is not None}
    for path in written:
        if any(str(parent) in written for parent in PurePosixPath(path).parents):
            raise _both_file_and_directory()
    return [_checked_path(path) for path in edits]


def _both_file_and_directory() -> errors.UsageError:
    return errors.UsageError(
        "A file and a directory cannot have the same path. Nothing was committed."
    )


def _born(tip: Oid | None) -> Oid:
    if tip is None:
        raise errors.UsageError("The branch has no commits, so there is nothing to delete.")
    return tip


def _mode_to_write(old: objects.Entry | None) -> str:
    if old is None:
        return "100644"
    if not old.mode.startswith("100"):
        raise errors.LinkRefused(
            "A link or a submodule stands where a file was expected. Nothing was committed."
        )
    return old.mode
