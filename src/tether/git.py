"""The only caller of git: hermetic, argument-safe, and never in the working tree.

A repository is untrusted. Its configuration, hooks, attributes and messages must neither run a
program nor open a connection, so every call gets an environment made from scratch, options that
win over the repository's configuration, and only commands that leave files alone. Revisions are
resolved first; after that only object ids and full ref names are arguments. What a commit means is
not known here.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import io
import itertools
import os
import random
import re
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple, cast

from tether import errors

TIMEOUT_SECONDS = 60.0
MAX_BLOB_BYTES = 8 * 1024 * 1024
_INDEX_PATIENCE_SECONDS = 2.0
_TURN_PATIENCE_SECONDS = 10.0
# Messages and paths beyond this are cut: memory stays bounded whatever a repository holds.
_MAX_TOKEN_BYTES = 1024 * 1024
_CHUNK_BYTES = 64 * 1024

_ENVIRONMENT = {
    "LC_ALL": "C",  # the few messages that are told apart stay English
    "GIT_ALLOW_PROTOCOL": "none",  # protocol.allow=never loses to a repository's protocol.ext.allow
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    # Facts are kept by object id, so an id must stand for the object that it is the hash of:
    # neither replacement objects nor grafts are looked at.
    "GIT_GRAFT_FILE": "/dev/null/none",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}
_SETTINGS = (
    "advice.graftFileDeprecated=false",
    "core.fsmonitor=false",  # even diff-tree and update-index would run it
    "core.hooksPath=/dev/null",
    "core.untrackedCache=keep",  # `false` would drop the user's cache when their index is written
    "credential.helper=",
    "gc.auto=0",
    "i18n.commitEncoding=UTF-8",
    "log.showRoot=true",
    "log.showSignature=false",
    "maintenance.auto=false",
    "protocol.allow=never",
)
_DURABLE = ("-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync")
# NUL is the one byte that no field can hold: git cuts a message or name that has one. So a message
# can imitate a record but never begin one.
_LOG_FORMAT = "%H%x00%P%x00%an%x00%ae%x00%at%x00%ct%x00%s%x00%b"
_LOG_FIELDS = 8
# Each option answers a setting with which a repository could change the shape of the output; its
# order file could even be a pipe that never ends.
_RAW = (
    *("--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-relative"),
    *("--ignore-submodules=none", "-O/dev/null"),
)
_LOG = (
    *("log", "--stdin", "-z", *_RAW, f"--format=tformat:{_LOG_FORMAT}"),
    *("--no-color", "--no-mailmap", "--no-notes", "--no-follow", "--encoding=UTF-8"),
)
_REF = re.compile(
    r"refs(?:/(?![-.])(?:(?!\.\.|@\{)[^\x00-\x20\x7f~^:?*\[\\/\ud800-\udfff])+(?<!\.lock)(?<!\.))+"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

_OPTIONS = tuple(word for setting in _SETTINGS for word in ("-c", setting))

_Argument = str | bytes
_Answer = subprocess.CompletedProcess[bytes]
_Env = Mapping[str, str]
_NO_ENV: _Env = {}
IndexState = Literal["current", "not_checked_out", "staged_otherwise", "not_written"]
WhyMissing = Literal["", "missing", "too_large", "not_a_blob"]


class Oid(str):
    """An object id: 40 or 64 small hexadecimal digits."""

    __slots__ = ()
    _pattern = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

    def __new__(cls, value: str) -> Oid:
        if type(value) is cls:
            return value
        if not cls.is_valid(value):
            raise errors.InvalidId("This is not an object id.", hint="Resolve the revision first.")
        return super().__new__(cls, value)

    @classmethod
    def is_valid(cls, value: str) -> bool:
        return cls._pattern.fullmatch(value) is not None

    @property
    def is_null(self) -> bool:
        """Whether this stands for "no object", as in the old side of an added file."""
        return not self.strip("0")


# Git knows these two without their being written.
_EMPTY_TREE = {
    40: Oid("4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
    64: Oid("6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"),
}


class Identity(NamedTuple):
    """Who a commit is by."""

    name: str
    email: str


class Change(NamedTuple):
    """One path that a commit added, modified, deleted or gave another type."""

    status: str
    path: str
    old_mode: str
    new_mode: str
    old_oid: Oid
    new_oid: Oid


class Commit(NamedTuple):
    """One commit and the paths that it changed."""

    oid: Oid
    parents: tuple[Oid, ...]
    author_name: str
    author_email: str
    authored_ms: int
    committed_ms: int
    subject: str
    body: str
    changes: tuple[Change, ...]


class TreeEntry(NamedTuple):
    """One file, link or submodule of a tree."""

    mode: str
    kind: str
    oid: Oid
    path: str


class Blob(NamedTuple):
    """A file's content, or why it cannot be had."""

    oid: Oid
    data: bytes | None
    why_missing: WhyMissing = ""


class Worktree(NamedTuple):
    """One checkout of the repository; `head` is None on an unborn branch."""

    path: str
    head: Oid | None
    branch: str | None
    is_bare: bool
    is_locked: bool
    is_prunable: bool


class Committed(NamedTuple):
    """The branch's tip after `commit_paths`, and whether this worktree's index follows it."""

    oid: Oid
    is_new: bool
    index_state: IndexState


class _Entry(NamedTuple):
    mode: str
    oid: Oid


class _Repository(NamedTuple):
    options: tuple[str, ...]
    is_bare: bool
    null: Oid
    common_directory: bytes


_Entries = dict[str, _Entry | None]


class Git:
    """One repository, seen from the top of a worktree or from a bare directory."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(os.path.realpath(directory))

    # Reading

    def resolve(self, revision: str) -> Oid:
        """The commit that a revision, as a person writes it, stands for."""
        if revision.startswith("-") or len(revision) > 256 or _CONTROL.search(revision):
            raise errors.RevisionNotFound
        found = self._commit_named(revision)
        if found is None:
            raise errors.RevisionNotFound
        return found

    def head(self) -> Oid | None:
        """The commit that is checked out; None on an unborn branch."""
        return self._commit_named("HEAD")

    def branch(self) -> str | None:
        """The full name of the branch that is checked out; None when HEAD is detached."""
        answer = self._ask("symbolic-ref", "--quiet", "HEAD")
        return _path(answer.stdout.rstrip(b"\n")) if answer.returncode == 0 else None

    def tip(self, ref: str) -> Oid | None:
        """Where exactly this ref points; None if there is no such ref."""
        # Not rev-parse: it would also find the tag refs/tags/refs/heads/main.
        answer = self._ask("show-ref", "--verify", "--hash", _checked_ref(ref))
        return Oid(_line(answer.stdout)) if answer.returncode == 0 else None

    def refs(self, under: str = "refs/heads") -> list[tuple[str, Oid]]:
        """The refs below this one, with where they point."""
        listing = self._call(
            "for-each-ref", "--format=%(refname)%00%(objectname)", _checked_ref(under)
        )
        pairs = (line.split(b"\0") for line in listing.splitlines())
        return [(_path(name), Oid(_line(oid))) for name, oid in pairs]

    def log(
        self,
        tips: Iterable[Oid],
        *,
        exclude: Iterable[Oid] = (),
        paths: Iterable[str] = (),
        first_parent: bool = False,
        max_count: int | None = None,
    ) -> Iterator[Commit]:
        """The commits that are reachable from the tips but not from the excluded, newest first.

        A merge has no changes, unless only first parents are followed.
        """
        # By standard input, because a repository may have more tips than arguments fit.
        feed = [f"{Oid(tip)}\n" for tip in tips]
        if not feed:
            return
        feed += [f"^{Oid(oid)}\n" for oid in exclude]
        options = [f"--diff-merges={'first-parent' if first_parent else 'off'}"]
        options += ["--first-parent"] if first_parent else []
        options += [f"--max-count={max_count:d}"] if max_count is not None else []
        wanted = _path_arguments(paths)
        # Otherwise git leaves out the side branches whose changes a merge dropped.
        options += ["--full-history"] if wanted else []
        held_back = None
        with self._stream(*_LOG, *options, "--", *wanted, feed="".join(feed)) as output:
            for commit in _commits(_tokens(output)):
                if held_back:
                    yield held_back
                held_back = commit
        # If git had died in its midst, the last commit would lack changes.
        if held_back:
            yield held_back

    def blobs(self, oids: Iterable[Oid], *, max_bytes: int = MAX_BLOB_BYTES) -> Iterator[Blob]:
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
            yield next(found) if oid in here else Blob(oid, None, "missing")

    def tree(self, oid: Oid, *, paths: Iterable[str] = ()) -> Iterator[TreeEntry]:
        """The files, links and submodules of a commit or tree, all or those at and below paths."""
        wanted = _path_arguments(paths)
        with self._stream("ls-tree", "-r", "-z", "--full-tree", Oid(oid), "--", *wanted) as output:
            for token in _tokens(output):
                about, _, path = token.partition(b"\t")
                mode, kind, found = _line(about).split(" ")
                yield TreeEntry(mode, kind, Oid(found), _path(path))

    def read_file(self, oid: Oid, path: str, *, max_bytes: int = MAX_BLOB_BYTES) -> bytes | None:
        """A regular file's content in a commit or tree; None if it is not there or too large."""
        entry = self._entries(oid, [path])[path]
        if entry is None or not entry.mode.startswith("100"):
            return None
        return next(self.blobs([entry.oid], max_bytes=max_bytes)).data

    def worktrees(self) -> list[Worktree]:
        """All checkouts of this repository, the main one first."""
        listing = self._call("worktree", "list", "--porcelain", "-z")
        records = listing.split(b"\0\0")
        return [_worktree(record.split(b"\0")) for record in records if record]

    def user_identity(self) -> Identity | None:
        """The name that the user gave to git, in this repository or in general; None if none."""
        try:
            name, email = (
                "".join(_user_config(["--get", key], self.directory)[-1:])
                for key in ("user.name", "user.email")
            )
        except errors.TetherError:
            return None
        return Identity(name, email) if name else None

    # Writing

    def commit_paths(
        self,
        ref: str,
        edits: Mapping[str, bytes | None],
        message: str,
        identity: Identity,
        *,
        base: Oid | None = None,
        when_ms: int | None = None,
        attempts: int = 20,
    ) -> Committed:
        """Put these contents (None deletes) on top of a branch, whoever else commits to it.

        Neither the working tree nor anything that the user staged is touched; other worktrees that
        have the branch checked out are not told. Raises RefMoved if somebody else changed one of
        the paths since `base`, the commit that the edits were made from (the tip, if it is not
        given), or if the branch never held still.
        """
        if "\0" in message:
            raise errors.UsageError("A commit message cannot hold a NUL character.")
        person = _person(identity, when_ms)
        base = base or self.tip(_checked_ref(ref))
        before = self._entries(base, _checked_edits(edits))
        after = self._write_blobs(edits, before)
        failure: errors.GitError | None = None
        with self._turn():
            for attempt in range(attempts):
                tip = self.tip(ref)
                tree = self._write_tree(tip, after)
                if not self._check_changes(tip, tree, before, after):
                    return Committed(_born(tip), False, self._bring_index_along(ref, before))
                new = self._write_commit(tip, tree, message, person)
                failure = self._swap(ref, new, tip, person)
                if failure is None:
                    return Committed(new, True, self._bring_index_along(ref, before))
                _wait_apart(attempt)
                if self.tip(ref) != tip:
                    failure = None
        # A lock that nobody releases, or a directory that is read-only, is not a lost race.
        raise failure or errors.RefMoved()

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Let those who commit through here take turns, on one machine.

        A courtesy, not a guarantee: the swap alone keeps commits from being lost, but among eight
        busy processes on two cores 2 of 400 commits lost twenty swaps in a row.
        """
        descriptor = os.open(self._repository.common_directory, os.O_RDONLY | os.O_DIRECTORY)
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

    def _write_blobs(self, edits: Mapping[str, bytes | None], before: _Entries) -> _Entries:
        after: _Entries = {}
        for path, content in edits.items():
            after[path] = None
            if content is not None:
                mode = _mode_to_write(before[path])
                write = (*_DURABLE, "hash-object", "-w", "--no-filters", "--stdin")
                oid = self._call(*write, feed=content)
                after[path] = _Entry(mode, Oid(_line(oid)))
        return after

    def _write_tree(self, tip: Oid | None, after: _Entries) -> Oid:
        """The tip's tree with these entries, made in an index that nobody else sees."""
        with tempfile.TemporaryDirectory(prefix="tether-") as private:
            # A split index would leave its shared half in the repository.
            whole = ("-c", "core.splitIndex=false")
            index = {"GIT_INDEX_FILE": os.path.join(private, "index")}
            self._call(*whole, "read-tree", tip or "--empty", environment=index)
            self._write_index(after, whole, index)
            # Objects that a partial clone lacks are the tip's, not ours to check.
            write = (*_DURABLE, *whole, "write-tree", "--missing-ok")
            return Oid(_line(self._call(*write, environment=index)))

    def _check_changes(self, tip: Oid | None, tree: Oid, before: _Entries, after: _Entries) -> bool:
        """Whether the tree changes anything; refuse one that changes more or less than it should.

        More, if a file took the place of a directory or the reverse; less, if somebody else
        changed one of the paths since.
        """
        old = tip or _EMPTY_TREE[len(tree)]
        listing = self._call("diff-tree", "-r", "-z", *_RAW, old, tree).split(b"\0")[:-1]
        changes = [_change(*pair) for pair in zip(listing[::2], listing[1::2], strict=True)]
        was = {c.path: _entry(c.old_mode, c.old_oid) for c in changes}
        if not was.keys() <= after.keys():
            raise _both_file_and_directory()
        if was != {path: entry for path, entry in before.items() if entry != after[path]}:
            raise errors.RefMoved
        return bool(changes)

    def _write_commit(self, tip: Oid | None, tree: Oid, message: str, person: _Env) -> Oid:
        """A commit on top of the tip, which no ref names yet."""
        parent = ("-p", tip) if tip else ()
        write = (*_DURABLE, "commit-tree", "--no-gpg-sign", *parent, "-F", "-", tree)
        text = message.encode("utf-8", "replace")
        return Oid(_line(self._call(*write, feed=text, environment=person)))

    def _swap(self, ref: str, new: Oid, old: Oid | None, person: _Env) -> errors.GitError | None:
        """Let the ref point to the new commit if it still points to the old one."""
        update = ("update-ref", "-m", "commit (tether)", ref, new, old or self._repository.null)
        answer = self._ask(*_DURABLE, *update, environment=person)  # the reflog names them too
        # A git that was killed may have done it all the same.
        if answer.returncode == 0 or self.tip(ref) == new:
            return None
        return _failure(answer.stderr)

    def _bring_index_along(self, ref: str, before: _Entries) -> IndexState:
        """Let the index of this worktree follow the branch where the user staged nothing else.

        Never fails: by now the commit is made.
        """
        try:
            if self._repository.is_bare or self.branch() != ref:
                return "not_checked_out"
            return self._follow(ref, before)
        except errors.GitError:
            return "not_written"

    def _follow(self, ref: str, known: _Entries) -> IndexState:
        # The branch may move on while the index is written, and its mover then finds an index that
        # it does not know and leaves it. So whoever writes looks again until it fits.
        give_up_at = time.monotonic() + _INDEX_PATIENCE_SECONDS
        for attempt in itertools.count():
            if time.monotonic() > give_up_at:
                break
            now = self._entries(self.tip(ref), known)
            staged = self._staged(known)
            behind = {p: now[p] for p in known if staged[p] == known[p] != now[p]}
            if not behind:
                return "current" if staged == now else "staged_otherwise"
            try:
                self._write_index(behind, environment=self._without_filters())
                known = {**known, **behind}
            except errors.GitError:  # somebody else holds index.lock
                _wait_apart(min(attempt, 2))
        return "not_written"

    def _write_index(
        self,
        entries: _Entries,
        options: Iterable[_Argument] = (),
        environment: _Env = _NO_ENV,
    ) -> None:
        # Deletions first, so that a file can make room for a directory of its name.
        nothing = _Entry("0", self._repository.null)
        ordered = sorted(entries.items(), key=lambda item: (item[1] is not None, item[0]))
        feed = b"".join(
            b"%s %s\t%s\0" % (mode.encode(), oid.encode(), _path_bytes(path))
            for path, (mode, oid) in ((path, entry or nothing) for path, entry in ordered)
        )
        update = ("update-index", "-z", "--index-info")
        self._call(*options, *update, feed=feed, environment=environment)

    def _without_filters(self) -> dict[str, str]:
        """Settings that leave the repository's filters without their programs.

        Who writes an index must hash again the files that changed in the second of its last
        writing, and git does so through their filters (met with `update-index`, Git 2.39).
        Unfiltered they look changed, and the user's next `git status` looks closer.
        """
        keys = self._ask("config", "-z", "--name-only", "--get-regexp", r"^filter\.").stdout
        filters = {_path(key).rpartition(".")[0] for key in keys.split(b"\0")[:-1]}
        parts = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
        settings = {f"{name}.{part}": value for name in filters for part, value in parts}
        environment = {"GIT_CONFIG_COUNT": str(len(settings))}
        for n, (key, value) in enumerate(settings.items()):
            environment |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
        return environment

    # Asking git

    def _commit_named(self, revision: str) -> Oid | None:
        wanted = _path_bytes(revision) + b"^{commit}"
        answer = self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
        found = _line(answer.stdout)
        # `^main` verifies too, and is answered with a caret.
        return Oid(found) if answer.returncode == 0 and Oid.is_valid(found) else None

    def _entries(self, oid: Oid | None, paths: Iterable[str]) -> _Entries:
        """What a commit or tree has at exactly these paths; None for no file."""
        entries: _Entries = dict.fromkeys(paths)
        for found in self.tree(oid, paths=entries) if oid is not None and entries else ():
            if found.path in entries:
                entries[found.path] = _Entry(found.mode, found.oid)
        return entries

    def _staged(self, paths: Iterable[str]) -> _Entries:
        """What the index has at exactly these paths."""
        entries: _Entries = dict.fromkeys(paths)
        listing = self._call("ls-files", "--stage", "-z", "--", *_path_arguments(entries))
        for token in listing.split(b"\0")[:-1]:
            about, _, raw_path = token.partition(b"\t")
            mode, oid, stage = _line(about).split(" ")
            if _path(raw_path) in entries:
                entries[_path(raw_path)] = _Entry(
                    mode if stage == "0" else f"unmerged {mode}", Oid(oid)
                )
        return entries

    def _blobs(self, oids: list[Oid], max_bytes: int) -> Iterator[Blob]:
        if not oids:
            return
        feed = "".join(f"{oid}\n" for oid in oids)
        with self._stream("cat-file", "--batch", "--buffer", feed=feed) as output:
            for oid in oids:
                blob = _blob(oid, output, max_bytes)
                if blob is None:
                    break
                yield blob

    def _local(self, oids: set[Oid]) -> set[Oid]:
        """Those of the objects that are in this repository."""
        options = ("--batch-all-objects", "--batch-check=%(objectname)", "--unordered")
        with self._stream("cat-file", *options) as output:
            return oids & {Oid(found) for found in map(_line, output) if found in oids}

    def _call(self, *arguments: _Argument, feed: bytes = b"", environment: _Env = _NO_ENV) -> bytes:
        """What git prints; raises GitError if it fails."""
        answer = self._ask(*arguments, feed=feed, environment=environment)
        if answer.returncode:
            raise _failure(answer.stderr)
        return answer.stdout

    def _ask(
        self, *arguments: _Argument, feed: bytes = b"", environment: _Env = _NO_ENV
    ) -> _Answer:
        everything = [*self._repository.options, *arguments]
        return _run(
            everything, self.directory, {**_environment(self.directory), **environment}, feed
        )

    @contextlib.contextmanager
    def _stream(self, *arguments: _Argument, feed: str = "") -> Iterator[io.BufferedReader]:
        """Git's output while it is being made; git ends when its reader does."""
        # Files, because git and its reader could wait for each other on full pipes.
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
            stdin.write(feed.encode())
            stdin.seek(0)
            with _starting():
                process = subprocess.Popen(
                    [_binary(), *self._repository.options, *arguments],
                    cwd=self.directory,
                    env=_environment(self.directory),
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                )
            with process:
                try:
                    yield cast(io.BufferedReader, process.stdout)
                except BaseException:
                    process.kill()
                    raise
            if process.returncode:
                stderr.seek(0)
                raise _failure(stderr.read(_CHUNK_BYTES))

    @functools.cached_property
    def _repository(self) -> _Repository:
        """What git says of the directory, asked once before anything else."""
        question = (
            *("rev-parse", "--is-bare-repository", "--show-object-format"),
            *("--path-format=absolute", "--git-common-dir"),
        )
        options: tuple[str, ...] = _OPTIONS
        answer = _run([*options, *question], self.directory, _environment(self.directory))
        if _is_owner_refused(answer) and self._is_listed_as_safe():
            options = (*_OPTIONS, "-c", f"safe.directory={self.directory}")
            answer = _run([*options, *question], self.directory, _environment(self.directory))
        if _is_owner_refused(answer):
            raise errors.GitRefusedOwner
        if b"not a git repository" in answer.stderr:
            raise errors.NotARepository
        if answer.returncode:
            raise _failure(answer.stderr)
        is_bare, object_format, directory = answer.stdout.split(b"\n", 2)
        null = Oid("0" * (64 if object_format == b"sha256" else 40))
        return _Repository(options, is_bare == b"true", null, directory.removesuffix(b"\n"))

    def _is_listed_as_safe(self) -> bool:
        """Whether the user told git to trust this directory; our environment hides that from it."""
        is_listed = False
        # No repository has a say in this.
        nowhere = {"GIT_DIR": "/dev/null/none"}
        for entry in _user_config(["--type=path", "--get-all", "safe.directory"], "/", nowhere):
            if not entry:
                is_listed = False  # as in git: an empty value forgets those before it
            elif entry == "*" or (os.path.isabs(entry) and _covers(entry, str(self.directory))):
                is_listed = True
        return is_listed


def version() -> tuple[int, ...]:
    """The version of the git that is used, as in (2, 39, 5)."""
    answer = _run(["version"], "/", _environment())
    found = re.match(r"git version ([0-9]+(?:\.[0-9]+)*)", _text(answer.stdout))
    if not found:
        raise _failure(answer.stderr)
    return tuple(int(part) for part in found[1].split("."))


def init(path: str | os.PathLike[str], *, branch: str = "main", bare: bool = False) -> Git:
    """Make a repository without anybody's templates."""
    _checked_ref(f"refs/heads/{branch}")
    target = os.path.abspath(path)
    options = [
        "--quiet",
        "--template=",
        f"--initial-branch={branch}",
        *(["--bare"] if bare else []),
    ]
    answer = _run([*_OPTIONS, "init", *options, "--", target], "/", _environment())
    if answer.returncode:
        raise _failure(answer.stderr)
    return Git(target)


# Running git


def _environment(directory: Path | None = None) -> dict[str, str]:
    """Everything that git gets to know: nothing that begins with GIT_ is inherited."""
    environment = {
        **_ENVIRONMENT,
        "PATH": os.pathsep.join(_search_path()),
        # Without a home git dies at a `~` in the repository's configuration.
        "HOME": os.environ.get("HOME", "/nonexistent"),
    }
    if "TMPDIR" in os.environ:
        environment["TMPDIR"] = os.environ["TMPDIR"]
    if directory:
        # This directory or none: never a repository further up.
        environment["GIT_CEILING_DIRECTORIES"] = str(directory.parent)
    return environment


def _search_path() -> list[str]:
    """The absolute directories of the PATH: in a relative one a repository could plant a git."""
    path = os.environ.get("PATH", os.defpath)
    return [entry for entry in path.split(os.pathsep) if os.path.isabs(entry)]


def _binary() -> str:
    for directory in _search_path():
        candidate = os.path.join(directory, "git")
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    raise errors.GitMissing


def _run(
    arguments: Iterable[_Argument], directory: Path | str, environment: _Env, feed: bytes = b""
) -> _Answer:
    with _starting():
        return subprocess.run(
            [_binary(), *arguments],
            cwd=directory,
            env=environment,
            input=feed,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )


@contextlib.contextmanager
def _starting() -> Iterator[None]:
    """Turn what can go wrong between us and git into our errors."""
    try:
        yield
    except subprocess.TimeoutExpired:
        raise errors.GitError(f"Git did not answer within {TIMEOUT_SECONDS:.0f} seconds.") from None
    except (FileNotFoundError, NotADirectoryError):
        raise errors.NotARepository from None
    except OSError as error:
        raise errors.GitError(f"Git could not be started: {error.strerror}.") from None


def _failure(stderr: bytes) -> errors.GitError:
    """An error that quotes git's complaint only in so far as it is short and printable ASCII."""
    lines = stderr.splitlines()
    first = next((line for line in lines if line.startswith((b"fatal:", b"error:"))), b"")
    shown = "".join(chr(byte) if 32 <= byte < 127 else "?" for byte in first[:200])
    return errors.GitError(f"Git ended with an error. It says: {shown}" if shown else "")


def _is_owner_refused(answer: _Answer) -> bool:
    complaints = (b"dubious ownership", b"unsafe repository")  # the second until Git 2.37
    return answer.returncode != 0 and any(words in answer.stderr for words in complaints)


def _covers(entry: str, directory: str) -> bool:
    if entry.endswith("/*"):
        return directory.startswith(entry[:-1])
    return os.path.realpath(entry) == directory


def _user_config(
    arguments: Iterable[str], directory: Path | str, more: _Env = _NO_ENV
) -> list[str]:
    """Values from git's configuration as the user sees it; none if there are none."""
    environment = {**_environment(), **more}
    del environment["GIT_CONFIG_GLOBAL"], environment["GIT_CONFIG_NOSYSTEM"]
    if "XDG_CONFIG_HOME" in os.environ:
        environment["XDG_CONFIG_HOME"] = os.environ["XDG_CONFIG_HOME"]
    answer = _run(["config", "-z", *arguments], directory, environment)
    return _text(answer.stdout).split("\0")[:-1]


def _wait_apart(attempt: int) -> None:
    """Wait so that rivals do not meet again, the longer the more often they met."""
    longest_seconds = min(1.0, 0.02 * 2**attempt)
    time.sleep(random.uniform(0.001, longest_seconds))  # noqa: S311 - a pause is no secret


# Checking what goes in


def _checked_ref(ref: str) -> str:
    # Stricter than git, which lets a component begin with a dash.
    if len(ref) > 1024 or not _REF.fullmatch(ref):
        raise errors.UsageError(
            "This is not a full ref name.", hint="Use one like refs/heads/main."
        )
    return ref


def _checked_path(path: str) -> str:
    """A path that names a file inside any worktree, on any platform that shares the repository."""
    parts = path.split("/")
    if _CONTROL.search(path) or any(p in ("", ".", "..") or p.lower() == ".git" for p in parts):
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


def _path_arguments(paths: Iterable[str]) -> list[bytes]:
    arguments = [_path_bytes(path) for path in paths]
    if not all(arguments) or any(b"\0" in argument for argument in arguments):
        raise errors.UsageError("This is not a path.")
    return arguments


def _born(tip: Oid | None) -> Oid:
    if tip is None:
        raise errors.UsageError("The branch has no commits, so there is nothing to delete.")
    return tip


def _mode_to_write(old: _Entry | None) -> str:
    if old is None:
        return "100644"
    if not old.mode.startswith("100"):
        raise errors.LinkRefused(
            "A link or a submodule stands where a file was expected. Nothing was committed."
        )
    return old.mode


def _person(identity: Identity, when_ms: int | None) -> dict[str, str]:
    """Author and committer, as git takes them from its environment."""
    name, email = (
        _text(re.sub(r"[\x00-\x1f\x7f<>]", "", part).encode("utf-8", "replace")).strip()
        for part in identity
    )
    if not name:
        raise errors.UsageError("A commit needs the name of its author.")
    person: dict[str, str] = {}
    for role in ("AUTHOR", "COMMITTER"):
        person |= {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": email}
        if when_ms is not None:
            person[f"GIT_{role}_DATE"] = f"@{when_ms // 1000} +0000"
    return person


# Reading what comes out


def _tokens(output: io.BufferedReader) -> Iterator[bytes]:
    """What stands before each NUL."""
    rest = b""
    while chunk := output.read1(_CHUNK_BYTES):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
        rest = rest[:_MAX_TOKEN_BYTES]


def _commits(tokens: Iterator[bytes]) -> Iterator[Commit]:
    """Commits from git's log: fixed fields, then pairs of a raw line and a path."""
    token = next(tokens, None)
    while token is not None:
        fields = [token, *itertools.islice(tokens, _LOG_FIELDS - 1)]
        changes = []
        # Git puts a line feed between a message and its changes.
        while (token := next(tokens, None)) is not None and token.lstrip(b"\n").startswith(b":"):
            changes.append(_change(token, next(tokens, b"")))
        if len(fields) == _LOG_FIELDS:
            yield _commit(fields, tuple(changes))


def _commit(fields: list[bytes], changes: tuple[Change, ...]) -> Commit:
    oid, parents, name, email, authored, committed, subject, body = map(_text, fields)
    return Commit(
        Oid(oid),
        tuple(Oid(parent) for parent in parents.split()),
        name,
        email,
        _milliseconds(authored),
        _milliseconds(committed),
        subject,
        body,
        changes,
    )


def _change(token: bytes, path: bytes) -> Change:
    old_mode, new_mode, old_oid, new_oid, status = _text(token).lstrip("\n:").split(" ")
    return Change(status, _path(path), old_mode, new_mode, Oid(old_oid), Oid(new_oid))


def _entry(mode: str, oid: Oid) -> _Entry | None:
    return None if oid.is_null else _Entry(mode, oid)


def _milliseconds(seconds: str) -> int:
    """0 for the commits of broken tools, whose time git cannot read."""
    return int(seconds) * 1000 if re.fullmatch(r"-?[0-9]{1,20}", seconds) else 0


def _blob(oid: Oid, output: io.BufferedReader, max_bytes: int) -> Blob | None:
    """One answer of `cat-file --batch`; None if git died in its midst."""
    header = output.readline()
    if not header.endswith(b"\n"):
        return None
    words = header.split()
    if len(words) != 3:
        return Blob(oid, None, "missing")
    size = int(words[2])
    if words[1] == b"blob" and size <= max_bytes:
        data = output.read(size + 1)
        return Blob(oid, data[:-1]) if len(data) == size + 1 else None
    left = size + 1
    while left and (skipped := output.read(min(left, _CHUNK_BYTES))):
        left -= len(skipped)
    return Blob(oid, None, "too_large" if words[1] == b"blob" else "not_a_blob")


def _worktree(lines: list[bytes]) -> Worktree:
    said = {key: value for key, _, value in (_path(line).partition(" ") for line in lines)}
    head = Oid(said["HEAD"]) if "HEAD" in said else None
    return Worktree(
        path=said["worktree"],
        head=None if head is None or head.is_null else head,
        branch=said.get("branch"),
        is_bare="bare" in said,
        is_locked="locked" in said,
        is_prunable="prunable" in said,
    )


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _line(raw: bytes) -> str:
    return raw.decode("ascii", "replace").rstrip("\n")


def _path(raw: bytes) -> str:
    """A path as git has it; bytes that are not UTF-8 survive the way there and back."""
    return raw.decode("utf-8", "surrogateescape")


def _path_bytes(path: str) -> bytes:
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise errors.UsageError("This text holds half a character.") from None
