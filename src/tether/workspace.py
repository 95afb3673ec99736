"""Where everything of a repository is: worktree, Git directories, store directory.

Found by reading `.git` and `commondir` as Git itself does, because starting git would double the
cost of a hot command. Knows nothing of what is in the store or in the settings.
"""

from __future__ import annotations

import os

from tether import errors
from tether.hints import NamedTuple

# A `.git` file is one line with a path; anything longer is not Git's.
_MAX_POINTER_BYTES = 8192
# SQLite's locks are not reliable on these, so its file must not live there.
_UNSAFE_FILESYSTEMS = frozenset(
    ["9p", "afs", "ceph", "cifs", "glusterfs", "lustre", "nfs", "nfs4", "smb2", "smb3", "smbfs"]
)
_MAX_CONFIG_BYTES = 64 * 1024
STORE_NAME = "tether"


class Workspace(NamedTuple):
    """One checkout of one repository. Paths are absolute and have no links in them."""

    root: str | None
    """Top of this worktree; None in a bare repository."""
    git_dir: str
    """What Git calls the git dir: differs for every linked worktree."""
    common_dir: str
    """The git dir that all worktrees of the repository share."""
    store_dir: str
    """Where Tether keeps its store for all worktrees of this repository."""

    @property
    def place(self) -> str:
        """The directory to run git in."""
        return self.root or self.git_dir

    @property
    def is_linked(self) -> bool:
        """Is this a linked worktree?"""
        return self.git_dir != self.common_dir

    @property
    def owns_store(self) -> bool:
        """Is the store directory this repository's own, and not one that was named to it?"""
        return self.store_dir == f"{self.common_dir}/{STORE_NAME}"

    @property
    def name(self) -> str:
        """`main`, or Git's own name of a linked worktree: unique within the repository."""
        return f"worktree-{os.path.basename(self.git_dir)}" if self.is_linked else "main"


def find(start: str, *, store_dir: str | None = None) -> Workspace:
    """The workspace that `start` is in; `store_dir` replaces the place in the common dir."""
    try:
        here = os.path.realpath(start)
    except ValueError:  # a NUL, or half a character: no system has such a path
        here = ""
    if not os.path.isdir(here):
        raise errors.NotARepository("There is no such directory.")
    while True:
        found = _at(here)
        if found:
            root, git_dir, common_dir = found
            if root is None and _came_with_another(git_dir):
                raise errors.NotARepository(
                    "A bare repository in the working tree of another one may have come with it,"
                    " settings and all. It was not used.",
                    hint="Move it out of that working tree.",
                )
            place = os.path.realpath(store_dir) if store_dir else f"{common_dir}/{STORE_NAME}"
            return Workspace(root, git_dir, common_dir, place)
        parent = os.path.dirname(here)
        if parent == here:
            raise errors.NotARepository
        here = parent


def _at(directory: str) -> tuple[str | None, str, str] | None:
    """(root, git dir, common dir) if `directory` is the top of a worktree or a git dir itself."""
    dot_git = os.path.join(directory, ".git")
    if os.path.isdir(dot_git):
        git_dir = os.path.realpath(dot_git)
        return _with_root(directory, git_dir) if _is_git_dir(git_dir) else None
    if os.path.isfile(dot_git):
        git_dir = _follow(dot_git, directory)
        if not _is_git_dir(git_dir):
            raise errors.NotARepository(
                "The .git file here points to a Git directory that is not there.",
                hint="If the repository was moved, run `git worktree repair` in its main checkout.",
            )
        return _with_root(directory, git_dir)
    if _is_git_dir(directory):
        return _from_inside(directory)
    return None


def _came_with_another(git_dir: str) -> bool:
    """Could this bare repository be tracked by another? Git tracks all names but `.git`."""
    here = git_dir
    while (parent := os.path.dirname(here)) != here:
        here = parent
        try:
            found = _at(here)
        except errors.TetherError:
            continue
        if found and found[0] is not None:
            return not f"{git_dir}/".startswith((f"{found[1]}/", f"{found[2]}/"))
    return False


def _with_root(directory: str, git_dir: str) -> tuple[str | None, str, str]:
    # A linked worktree of a bare repository is one; the place of the bare repository is not.
    common_dir = _common_dir(git_dir)
    is_bare = git_dir == common_dir and _is_bare(git_dir)
    return (None if is_bare else directory), git_dir, common_dir


def _is_bare(git_dir: str) -> bool:
    """Does `core.bare` say so? Only the plain form that Git itself writes."""
    try:
        with open(os.path.join(git_dir, "config"), "rb") as file:
            content = file.read(_MAX_CONFIG_BYTES)
    except OSError:
        return False
    section = content.lower().partition(b"[core]")[2].partition(b"\n[")[0]
    return any(line.split() == [b"bare", b"=", b"true"] for line in section.split(b"\n"))


def _from_inside(git_dir: str) -> tuple[str | None, str, str]:
    # Inside `.git` itself the worktree is around it, as hooks are run; a bare repository has none.
    common_dir = _common_dir(git_dir)
    if os.path.basename(git_dir) == ".git":
        return os.path.dirname(git_dir), git_dir, common_dir
    pointer = _read_pointer(os.path.join(git_dir, "gitdir"))
    if common_dir != git_dir and pointer:
        root = os.path.dirname(os.path.realpath(os.path.join(git_dir, pointer)))
        return (root if os.path.isdir(root) else None), git_dir, common_dir
    return None, git_dir, common_dir


def _is_git_dir(path: str) -> bool:
    # Git's own test: a HEAD, and objects and refs here or in the common dir.
    if not _is_head(os.path.join(path, "HEAD")):
        return False
    common_dir = _common_dir(path)
    return os.path.isdir(os.path.join(common_dir, "objects")) and os.path.isdir(
        os.path.join(common_dir, "refs")
    )


def _is_head(path: str) -> bool:
    if os.path.islink(path):
        return os.readlink(path).startswith("refs/")
    if not os.path.isfile(path):  # a pipe would block
        return False
    try:
        with open(path, "rb") as file:
            content = file.read(256)
    except OSError:
        return False
    if content.startswith(b"ref:"):
        return content[4:].lstrip().startswith(b"refs/")
    head = content.split(maxsplit=1)[:1]
    return bool(head) and len(head[0]) in (40, 64) and not head[0].strip(b"0123456789abcdef")


def _common_dir(git_dir: str) -> str:
    pointer = _read_pointer(os.path.join(git_dir, "commondir"))
    return os.path.realpath(os.path.join(git_dir, pointer)) if pointer else git_dir


def _follow(dot_git: str, directory: str) -> str:
    line = _read_pointer(dot_git)
    if not line.startswith("gitdir:"):
        raise errors.NotARepository("The .git file here is not one that Git wrote.")
    return os.path.realpath(os.path.join(directory, line.removeprefix("gitdir:").lstrip(" ")))


def _read_pointer(path: str) -> str:
    """The path in a one-line file of Git's; empty if there is none."""
    if not os.path.isfile(path):  # a pipe would block
        return ""
    try:
        with open(path, "rb") as file:
            content = file.read(_MAX_POINTER_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as problem:
        raise errors.FileError(
            f"Git's file {os.path.basename(path)} cannot be read: {problem.strerror}."
        ) from problem
    line = os.fsdecode(content).rstrip("\r\n")
    if "\0" in line or "\n" in line:
        raise errors.NotARepository(f"Git's file {os.path.basename(path)} is damaged.")
    return line


class Head(NamedTuple):
    """What a checkout stands on; a part that cannot be read cheaply is None."""

    branch: str | None
    commit: str | None


def head(place: Workspace) -> Head:
    """The branch and commit of this checkout, without starting git."""
    content = first_line(os.path.join(place.git_dir, "HEAD"))
    if not content.startswith("ref:"):
        return Head(None, content if _is_object_id(content) else None)
    ref = content[4:].strip()
    # `refs/heads/.invalid` says that refs are kept in another format (reftable).
    if not ref.startswith("refs/heads/") or ref == "refs/heads/.invalid" or ".." in ref:
        return Head(None, None)
    commit = first_line(os.path.join(place.common_dir, ref))
    if not _is_object_id(commit):
        commit = _packed(os.path.join(place.common_dir, "packed-refs"), ref)
    return Head(ref.removeprefix("refs/heads/"), commit or None)


def _packed(path: str, ref: str) -> str:
    """The commit of a ref in Git's list of refs that have no file of their own."""
    wanted = b" " + os.fsencode(ref) + b"\n"
    try:
        with open(path, "rb") as file:
            for line in file:
                if line.endswith(wanted):
                    commit = os.fsdecode(line[: -len(wanted)])
                    return commit if _is_object_id(commit) else ""
    except OSError:
        return ""
    return ""


def first_line(path: str) -> str:
    """The first line of a small file of Git's; empty if it cannot be read."""
    if not os.path.isfile(path):  # a pipe would block
        return ""
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.readline(_MAX_POINTER_BYTES)).strip()
    except OSError:
        return ""


def _is_object_id(value: str) -> bool:
    return len(value) in (40, 64) and not value.strip("0123456789abcdef")


def filesystem_of(path: str, mountinfo: str) -> str:
    """The type of the file system that holds `path`, by the text of /proc/self/mountinfo."""
    best, kind = "", ""
    for line in mountinfo.split("\n"):
        fields, _, after = line.partition(" - ")
        columns = fields.split(" ")
        if len(columns) < 5 or not after:
            continue
        mount = _unescape(columns[4])
        inside = path == mount or path.startswith(mount.rstrip("/") + "/")
        # Of two mounts on one point the later one hides the earlier.
        if inside and len(mount) >= len(best):
            best, kind = mount, after.split(" ")[0]
    return kind


def _unescape(path: str) -> str:
    for escape, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        path = path.replace(escape, character)
    return path


def is_safe_for_sqlite(filesystem: str) -> bool:
    """Does this type of file system keep SQLite's promises?"""
    return filesystem not in _UNSAFE_FILESYSTEMS and not filesystem.startswith("fuse")


def require_safe_for_sqlite(path: str) -> str:
    """The type of the file system under `path`; refuses one that SQLite must not be used on."""
    kind = filesystem(path)
    if not is_safe_for_sqlite(kind):
        raise errors.PlatformUnsupported(
            f"The store directory is on {kind}, where SQLite's locks are not reliable."
            " Nothing was changed.",
            hint="Set TETHER_STORE_DIR to a local disk, or TETHER_STORE_URL to PostgreSQL.",
        )
    return kind


def filesystem(path: str) -> str:
    """The type of the file system under `path`, or of its nearest parent that exists."""
    path = os.path.abspath(path)
    while not os.path.exists(path):
        path = os.path.dirname(path)
    try:
        with open(
            "/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape", newline="\n"
        ) as file:
            return filesystem_of(os.path.realpath(path), file.read())
    except OSError:
        return ""  # no /proc: macOS, where network disks are rare; doctor says "unknown"
