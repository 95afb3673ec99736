"""One repository: what it holds, and a commit that takes nothing from anybody.

Revisions are resolved first; after that only object ids and full ref names are arguments.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tether import errors
from tether.git import arguments, objects, process
from tether.git.objects import Oid

MAX_BLOB_BYTES = 8 * 1024 * 1024
# NUL is the one byte that no field can hold: git cuts a message or name that has one. So a message
# can imitate a record but never begin one.
_LOG_FORMAT = "%H%x00%P%x00%an%x00%ae%x00%at%x00%ct%x00%s%x00%b"
_LOG = (
    *("log", "--stdin", "-z", *arguments.RAW, f"--format=tformat:{_LOG_FORMAT}"),
    *("--no-color", "--no-mailmap", "--no-notes", "--no-follow", "--encoding=UTF-8"),
)


class Git:
    """One repository, seen from the top of a worktree or from a bare directory."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.runner = process.Runner(directory)

    @property
    def directory(self) -> Path:
        return self.runner.directory

    def resolve(self, revision: str) -> Oid:
        """The commit that a revision, as a person writes it, stands for."""
        if revision.startswith("-") or len(revision) > 256 or arguments.CONTROL.search(revision):
            raise errors.RevisionNotFound
        found = self._commit_named(revision)
        if found is None:
            raise errors.RevisionNotFound if self.head() else errors.NoCommits
        return found

    def head(self) -> Oid | None:
        """The commit that is checked out; None on an unborn branch."""
        return self._commit_named("HEAD")

    def branch(self) -> str | None:
        """The full name of the branch that is checked out; None when HEAD is detached."""
        answer = self.runner.ask("symbolic-ref", "--quiet", "HEAD")
        return objects.as_path(answer.stdout.rstrip(b"\n")) if answer.returncode == 0 else None

    def symbolic(self, ref: str) -> str | None:
        """The ref that this one stands for; None if it points to a commit itself, or nowhere."""
        answer = self.runner.ask("symbolic-ref", "--quiet", arguments.checked_ref(ref))
        return objects.as_path(answer.stdout.rstrip(b"\n")) if answer.returncode == 0 else None

    def tip(self, ref: str) -> Oid | None:
        """Where exactly this ref points; None if there is no such ref."""
        # Not rev-parse: it would also find the tag refs/tags/refs/heads/main.
        answer = self.runner.ask("show-ref", "--verify", "--hash", arguments.checked_ref(ref))
        return Oid(objects.as_line(answer.stdout)) if answer.returncode == 0 else None

    def refs(self, under: str = "refs/heads") -> list[tuple[str, Oid]]:
        """The refs below this one, with where they point."""
        listing = self.runner.call(
            "for-each-ref", "--format=%(refname)%00%(objectname)", arguments.checked_ref(under)
        )
        pairs = (line.split(b"\0") for line in listing.splitlines())
        return [(objects.as_path(name), Oid(objects.as_line(oid))) for name, oid in pairs]

    def shallow(self) -> frozenset[str]:
        """The commits at which a shallow clone ends: they move without any branch doing so."""
        try:
            with open(os.path.join(self.runner.facts.common_directory, b"shallow"), "rb") as file:
                return frozenset(objects.as_text(file.read()).split())
        except OSError:
            return frozenset()

    def log(
        self,
        tips: Iterable[Oid],
        *,
        exclude: Iterable[Oid] = (),
        paths: Iterable[str] = (),
        first_parent: bool = False,
        max_count: int | None = None,
        parents_first: bool = False,
        with_merges: bool = False,
    ) -> Iterator[objects.Commit]:
        """The commits that are reachable from the tips but not from the excluded, newest first.

        Or every one after its parents. A merge has no changes, unless only first parents are
        followed or it is asked what it changed against its first parent.
        """
        # By standard input, because a repository may have more tips than arguments fit.
        feed = [f"{Oid(tip)}\n" for tip in tips]
        if not feed:
            return
        feed += [f"^{Oid(oid)}\n" for oid in exclude]
        is_merge_told = first_parent or with_merges
        options = [f"--diff-merges={'first-parent' if is_merge_told else 'off'}"]
        options += ["--first-parent"] if first_parent else []
        options += ["--topo-order", "--reverse"] if parents_first else []
        options += [f"--max-count={max_count:d}"] if max_count is not None else []
        wanted = arguments.path_arguments(paths)
        # Otherwise git leaves out the side branches whose changes a merge dropped.
        options += ["--full-history"] if wanted else []
        held_back = None
        with self.runner.stream(*_LOG, *options, "--", *wanted, feed="".join(feed)) as output:
            for commit in objects.read_commits(objects.tokens(output)):
                if held_back:
                    yield held_back
                held_back = commit
        # If git had died in its midst, the last commit would lack changes.
        if held_back:
            yield held_back

    def commits(self, oids: Iterable[Oid]) -> list[objects.Commit]:
        """These commits, which must be here, in this order and without the paths they changed."""
        feed = "".join(f"{Oid(oid)}\n" for oid in oids)
        if not feed:
            return []
        words = (*_LOG, "--no-walk=unsorted", "--no-patch")
        with self.runner.stream(*words, "--", feed=feed) as output:
            return list(objects.read_commits(objects.tokens(output)))

    def parents_first(self, oids: Iterable[Oid], since_ms: int) -> list[Oid]:
        """These commits, each after its parents as far as those are not older than a time."""
        wanted = sorted({Oid(oid) for oid in oids})
        options = ("--topo-order", "--reverse", f"--since=@{since_ms // 1000:d}", "--stdin")
        feed = "".join(f"{oid}\n" for oid in wanted).encode()
        listing = self.runner.call("rev-list", *options, feed=feed)
        chosen = set(wanted)
        return [Oid(found) for found in objects.as_text(listing).split() if found in chosen]

    def blobs(
        self, oids: Iterable[Oid], *, max_bytes: int = MAX_BLOB_BYTES
    ) -> Iterator[objects.Blob]:
        """The content of each object, in this order; history order is the fastest to read."""
        wanted = [Oid(oid) for oid in oids]
        answered = 0
        # Git 2.39 dies at the first object that a partial clone does not have. What else may be
        # wrong shows again below.
        with contextlib.suppress(errors.GitError):
            for blob in self._blobs(wanted, max_bytes):
                answered += 1
                yield blob
        rest = wanted[answered:]
        if not rest:
            return
        here = self._local(set(rest))
        found = self._blobs([oid for oid in rest if oid in here], max_bytes)
        for oid in rest:
            yield next(found) if oid in here else objects.Blob(oid, None, "missing")

    def tree(self, oid: Oid, *, paths: Iterable[str] = ()) -> Iterator[objects.TreeEntry]:
        """The files, links and submodules of a commit or tree, all or those at and below paths."""
        wanted = arguments.path_arguments(paths)
        with self.runner.stream(
            "ls-tree", "-r", "-z", "--full-tree", Oid(oid), "--", *wanted
        ) as output:
            for token in objects.tokens(output):
                about, _, path = token.partition(b"\t")
                mode, kind, found = objects.as_line(about).split(" ")
                yield objects.TreeEntry(mode, kind, Oid(found), objects.as_path(path))

    def read_file(self, oid: Oid, path: str, *, max_bytes: int = MAX_BLOB_BYTES) -> bytes | None:
        """A regular file's content in a commit or tree; None if it is not there or too large."""
        entry = self.entries(oid, [path])[path]
        if entry is None or not entry.mode.startswith("100"):
            return None
        return next(self.blobs([entry.oid], max_bytes=max_bytes)).data

    def worktrees(self) -> list[objects.Worktree]:
        """All checkouts of this repository, the main one first."""
        listing = self.runner.call("worktree", "list", "--porcelain", "-z")
        records = listing.split(b"\0\0")
        return [objects.read_worktree(record.split(b"\0")) for record in records if record]

    def uncommitted(self, limit: int = 200) -> objects.Uncommitted:
        """What this checkout has that no commit has. Ignored files are left out."""
        from tether.git import worktree

        return worktree.uncommitted(self, limit)

    def staged(self, path: str) -> list[objects.TreeEntry]:
        """The files at and below a path as the next commit would have them."""
        from tether.git import worktree

        return worktree.staged(self, path)

    def stashes(self, limit: int = 50) -> list[objects.Stash]:
        """What is stashed, the last one first."""
        from tether.git import worktree

        return worktree.stashes(self, limit)

    def user_identity(self) -> objects.Identity | None:
        """The name that the user gave to git, in this repository or in general; None if none."""
        try:
            name, email = (
                "".join(process.user_config(["--get", key], self.directory)[-1:])
                for key in ("user.name", "user.email")
            )
        except errors.TetherError:
            return None
        return objects.Identity(name, email) if name else None

    def comment_mark(self) -> str:
        """What begins a comment in a commit message here."""
        found = self.user_setting("core.commentChar")
        return found if found and found != "auto" else "#"

    def hooks_path(self) -> str:
        """The directory of hooks that the configuration names, absolute; empty if it names none."""
        found = self.user_setting("core.hooksPath", "--type=path")
        return os.path.join(self.directory, found) if found else ""

    def user_setting(self, key: str, *options: str) -> str:
        """One value of the configuration as the user's own git sees it here; empty if none."""
        return "".join(process.user_config([*options, "--get", key], self.directory)[-1:])

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
        """Put these contents (None deletes) on top of a branch, whoever else commits to it.

        Neither the working tree nor anything that the user staged is touched; other worktrees that
        have the branch checked out are not told. Raises RefMoved if somebody else changed one of
        the paths since `base`, the commit that the edits were made from (the tip, if it is not
        given), or if the branch never held still.
        """
        from tether.git import commits

        return commits.Committer(self).commit_paths(
            ref, edits, message, identity, base=base, when_ms=when_ms, attempts=attempts
        )

    def entries(self, oid: Oid | None, paths: Iterable[str]) -> objects.Entries:
        """What a commit or tree has at exactly these paths; None for no file."""
        entries: objects.Entries = dict.fromkeys(paths)
        for found in self.tree(oid, paths=entries) if oid is not None and entries else ():
            if found.path in entries:
                entries[found.path] = objects.Entry(found.mode, found.oid)
        return entries

    def missing(self, oids: Iterable[Oid]) -> set[Oid]:
        """Those of the objects that are not here, or no longer."""
        wanted = [Oid(oid) for oid in oids]
        feed = "".join(f"{oid}\n" for oid in wanted).encode()
        answer = self.runner.ask("cat-file", "--batch-check", feed=feed)
        if answer.returncode:
            # As above: it dies at what a partial clone does not have.
            return set(wanted) - self._local(set(wanted))
        found = zip(wanted, answer.stdout.splitlines(), strict=True)
        return {oid for oid, line in found if line.endswith(b" missing")}

    def _commit_named(self, revision: str) -> Oid | None:
        wanted = objects.path_bytes(revision) + b"^{commit}"
        answer = self.runner.ask("rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
        found = objects.as_line(answer.stdout)
        # `^main` verifies too, and is answered with a caret.
        return Oid(found) if answer.returncode == 0 and Oid.is_valid(found) else None

    def _blobs(self, oids: list[Oid], max_bytes: int) -> Iterator[objects.Blob]:
        if not oids:
            return
        feed = "".join(f"{oid}\n" for oid in oids)
        with self.runner.stream("cat-file", "--batch", "--buffer", feed=feed) as output:
            for oid in oids:
                blob = objects.read_blob(oid, output, max_bytes)
                if blob is None:
                    break
                yield blob

    def _local(self, oids: set[Oid]) -> set[Oid]:
        """Those of the objects that are in this repository."""
        options = ("--batch-all-objects", "--batch-check=%(objectname)", "--unordered")
        with self.runner.stream("cat-file", *options) as output:
            return oids & {Oid(found) for found in map(objects.as_line, output) if found in oids}


def version() -> tuple[int, ...]:
    """The version of the git that is used, as in (2, 39, 5)."""
    answer = process.run(["version"], "/", process.environment_for())
    found = re.match(r"git version ([0-9]+(?:\.[0-9]+)*)", objects.as_text(answer.stdout))
    if not found:
        raise process.failure(answer.stderr)
    return tuple(int(part) for part in found[1].split("."))


def init(
    path: str | os.PathLike[str],
    *,
    branch: str = "main",
    bare: bool = False,
    is_sha256: bool = False,
) -> Git:
    """Make a repository without anybody's templates."""
    arguments.checked_ref(f"refs/heads/{branch}")
    target = os.path.abspath(path)
    options = [
        "--quiet",
        "--template=",
        f"--initial-branch={branch}",
        *(["--bare"] if bare else []),
        # What a Git does without being told changes with its version.
        f"--object-format={'sha256' if is_sha256 else 'sha1'}",
    ]
    answer = process.run(
        [*process.OPTIONS, "init", *options, "--", target], "/", process.environment_for()
    )
    if answer.returncode:
        raise process.failure(answer.stderr)
    return Git(target)
