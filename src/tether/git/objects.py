"""What git's objects are here, and how its output becomes them.

Paths and names may hold any byte: paths come back as they went in, other text is readable at least.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator

from tether import errors
from tether.hints import Literal, NamedTuple

IndexState = Literal["current", "not_checked_out", "staged_otherwise", "not_written"]
WhyMissing = Literal["", "missing", "too_large", "not_a_blob"]
LOG_FIELDS = 8
# Messages and paths beyond this are cut: memory stays bounded whatever a repository holds.
_MAX_TOKEN_BYTES = 1024 * 1024
CHUNK_BYTES = 64 * 1024


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

    @classmethod
    def from_git(cls, value: str) -> Oid:
        """One that git wrote, which need not be checked: there may be a hundred thousand."""
        return str.__new__(cls, value)

    @property
    def is_null(self) -> bool:
        """Whether this stands for "no object", as in the old side of an added file."""
        return not self.strip("0")


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


class Uncommitted(NamedTuple):
    """What a checkout has that no commit has: paths, each list at most `limit` long."""

    staged: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]
    untracked: tuple[str, ...]


class Stash(NamedTuple):
    """One entry of the stash, which all worktrees share."""

    oid: Oid
    at_ms: int
    branch: str
    """Where it was made; empty if its text does not say."""
    text: str


class Committed(NamedTuple):
    """The branch's tip after `commit_paths`, and whether this worktree's index follows it."""

    oid: Oid
    is_new: bool
    index_state: IndexState


class Entry(NamedTuple):
    mode: str
    oid: Oid


Entries = dict[str, Entry | None]


def entry_or_none(mode: str, oid: Oid) -> Entry | None:
    return None if oid.is_null else Entry(mode, oid)


def tokens(output: io.BufferedReader) -> Iterator[bytes]:
    """What stands before each NUL."""
    rest = b""
    while chunk := output.read1(CHUNK_BYTES):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
        rest = rest[:_MAX_TOKEN_BYTES]


def read_commits(tokens: Iterator[bytes]) -> Iterator[Commit]:
    """Commits from git's log: fixed fields, then pairs of a raw line and a path."""
    token = next(tokens, None)
    while token is not None:
        fields = [token, *itertools.islice(tokens, LOG_FIELDS - 1)]
        changes = []
        # Git puts a line feed between a message and its changes.
        while (token := next(tokens, None)) is not None and token.lstrip(b"\n").startswith(b":"):
            changes.append(read_change(token, next(tokens, b"")))
        if len(fields) == LOG_FIELDS:
            yield _commit(fields, tuple(changes))


def _commit(fields: list[bytes], changes: tuple[Change, ...]) -> Commit:
    oid, parents, name, email, authored, committed, subject, body = map(as_text, fields)
    return Commit(
        Oid(oid),
        tuple(Oid(parent) for parent in parents.split()),
        name,
        email,
        milliseconds(authored),
        milliseconds(committed),
        subject,
        body,
        changes,
    )


def read_change(token: bytes, path: bytes) -> Change:
    old_mode, new_mode, old_oid, new_oid, status = as_text(token).lstrip("\n:").split(" ")
    return Change(
        status, as_path(path), old_mode, new_mode, Oid.from_git(old_oid), Oid.from_git(new_oid)
    )


def milliseconds(seconds: str) -> int:
    """0 for the commits of broken tools, whose time git cannot read."""
    return int(seconds) * 1000 if re.fullmatch(r"-?[0-9]{1,20}", seconds) else 0


def read_blob(oid: Oid, output: io.BufferedReader, max_bytes: int) -> Blob | None:
    """One answer of `cat-file --batch`; None if git died in its midst."""
    header = output.readline()
    if not header.endswith(b"\n"):
        return None
    words = header.split()
    if len(words) != 3:
        return Blob(oid, None, "missing")
    return read_content(oid, words[1], int(words[2]), output, max_bytes)


def read_content(
    oid: Oid, kind: bytes, size: int, output: io.BufferedReader, max_bytes: int
) -> Blob | None:
    """What follows the first line of such an answer."""
    if kind == b"blob" and size <= max_bytes:
        data = output.read(size + 1)
        return Blob(oid, data[:-1]) if len(data) == size + 1 else None
    left = size + 1
    while left and (skipped := output.read(min(left, CHUNK_BYTES))):
        left -= len(skipped)
    return Blob(oid, None, "too_large" if kind == b"blob" else "not_a_blob")


def read_tree(data: bytes, oid_bytes: int) -> dict[bytes, Oid]:
    """The names in one directory and what they stand for."""
    found = {}
    place = 0
    while (end := data.find(b"\0", place)) >= 0:
        name = data[place:end].partition(b" ")[2]
        place = end + 1 + oid_bytes
        found[name] = Oid(data[end + 1 : place].hex())
    return found


def read_worktree(lines: list[bytes]) -> Worktree:
    said = {key: value for key, _, value in (as_path(line).partition(" ") for line in lines)}
    head = Oid(said["HEAD"]) if "HEAD" in said else None
    return Worktree(
        path=said["worktree"],
        head=None if head is None or head.is_null else head,
        branch=said.get("branch"),
        is_bare="bare" in said,
        is_locked="locked" in said,
        is_prunable="prunable" in said,
    )


def as_text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def as_line(raw: bytes) -> str:
    return raw.decode("ascii", "replace").rstrip("\n")


def as_path(raw: bytes) -> str:
    """A path as git has it; bytes that are not UTF-8 survive the way there and back."""
    return raw.decode("utf-8", "surrogateescape")


def path_bytes(path: str) -> bytes:
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise errors.UsageError("This text holds half a character.") from None
