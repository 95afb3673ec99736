"""Where everything of a repository is, as Git itself sees it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.parts import need
from tether import errors, workspace
from tether.cli import context

Git = Callable[..., str]


def by_git(start: Path, environ: dict[str, str]) -> tuple[str | None, str, str]:
    """(root, git dir, common dir) as real git says."""

    def ask(*words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["git", "rev-parse", "--path-format=absolute", *words],
            cwd=start, env=environ, check=False, capture_output=True,
        )  # fmt: skip

    def place(*words: str) -> str:
        done = ask(*words)
        done.check_returncode()
        return os.path.realpath(os.fsdecode(done.stdout.removesuffix(b"\n")))

    has_root = ask("--show-toplevel").returncode == 0
    root = place("--show-toplevel") if has_root else None
    return root, place("--absolute-git-dir"), place("--git-common-dir")


def by_us(start: Path) -> tuple[str | None, str, str]:
    return workspace.find(str(start))[:3]


# Situations: each makes one and gives the directories from which it is looked at.


def normal(path: Path, git: Git) -> list[Path]:
    git("init", "-q", "-b", "main", "normal", cwd=path)
    top = path / "normal"
    (top / "src" / "deep").mkdir(parents=True)
    git("commit", "-q", "--allow-empty", "-m", "Begin", cwd=top)
    return [top, top / "src", top / "src" / "deep"]


def just_made(path: Path, git: Git) -> list[Path]:
    git("init", "-q", "empty", cwd=path)
    return [path / "empty"]


def detached(path: Path, git: Git) -> list[Path]:
    [top, *_] = normal(path, git)
    git("checkout", "-q", "--detach", cwd=top)
    return [top]


def packed(path: Path, git: Git) -> list[Path]:
    [top, *_] = normal(path, git)
    git("pack-refs", "--all", cwd=top)
    return [top]


def bare(path: Path, git: Git) -> list[Path]:
    git("init", "-q", "--bare", "bare.git", cwd=path)
    return [path / "bare.git", path / "bare.git" / "objects", path / "bare.git" / "refs" / "heads"]


def linked(path: Path, git: Git) -> list[Path]:
    [top, *_] = normal(path, git)
    git("worktree", "add", "-q", "../linked", cwd=top)
    (path / "linked" / "sub").mkdir()
    return [path / "linked", path / "linked" / "sub", top]


def linked_inside(path: Path, git: Git) -> list[Path]:
    [top, *_] = normal(path, git)
    git("worktree", "add", "-q", ".worktrees/one", cwd=top)
    return [top / ".worktrees" / "one", top / ".worktrees"]


def same_names(path: Path, git: Git) -> list[Path]:
    [top, *_] = normal(path, git)
    git("worktree", "add", "-q", "-b", "b1", "../a/same", cwd=top)
    git("worktree", "add", "-q", "-b", "b2", "../b/same", cwd=top)
    return [path / "a" / "same", path / "b" / "same"]


def linked_of_bare(path: Path, git: Git) -> list[Path]:
    [top, *_] = normal(path, git)
    git("clone", "-q", "--bare", str(top), "hub.git", cwd=path)
    git("worktree", "add", "-q", "../from-bare", "main", cwd=path / "hub.git")
    return [path / "from-bare", path / "hub.git"]


def moved(path: Path, git: Git) -> list[Path]:
    linked(path, git)
    (path / "linked").rename(path / "moved")
    return [path / "moved", path / "moved" / "sub"]


def moved_by_git(path: Path, git: Git) -> list[Path]:
    linked(path, git)
    git("worktree", "move", str(path / "linked"), str(path / "moved"), cwd=path / "normal")
    return [path / "moved"]


def submodule(path: Path, git: Git) -> list[Path]:
    [top, *_] = normal(path, git)
    git("init", "-q", "outer", cwd=path)
    git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(top), "lib/inner",
        cwd=path / "outer",
    )  # fmt: skip
    inner = path / "outer" / "lib" / "inner"
    (inner / "sub").mkdir()
    return [inner, inner / "sub", path / "outer", path / "outer" / "lib"]


def linked_of_submodule(path: Path, git: Git) -> list[Path]:
    [inner, *_] = submodule(path, git)
    git("worktree", "add", "-q", "-b", "side", str(path / "side"), cwd=inner)
    return [path / "side"]


def nested(path: Path, git: Git) -> list[Path]:
    [top, *_] = normal(path, git)
    git("init", "-q", "vendored", cwd=top)
    return [top / "vendored", top]


def through_a_link(path: Path, git: Git) -> list[Path]:
    [top, *_] = normal(path, git)
    (path / "alias").symlink_to(top)
    (path / "deep-alias").symlink_to(top / "src")
    return [path / "alias", path / "alias" / "src", path / "deep-alias"]


def git_dir_is_a_link(path: Path, git: Git) -> list[Path]:
    [top, *_] = normal(path, git)
    (top / ".git").rename(path / "real-git")
    (top / ".git").symlink_to(path / "real-git")
    return [top, top / "src"]


def git_file_is_a_link(path: Path, git: Git) -> list[Path]:
    linked(path, git)
    (path / "linked" / ".git").rename(path / "pointer")
    (path / "linked" / ".git").symlink_to(path / "pointer")
    return [path / "linked"]


def separate(path: Path, git: Git) -> list[Path]:
    git("init", "-q", "--separate-git-dir", "elsewhere", "work", cwd=path)
    return [path / "work"]


def relative_pointer(path: Path, git: Git) -> list[Path]:
    [separated] = separate(path, git)
    (separated / ".git").write_text("gitdir: ../elsewhere\n")
    return [separated]


def pointer_without_newline(path: Path, git: Git) -> list[Path]:
    [separated] = separate(path, git)
    (separated / ".git").write_text(f"gitdir: {path / 'elsewhere'}")
    return [separated]


def pointer_of_windows(path: Path, git: Git) -> list[Path]:
    [separated] = separate(path, git)
    (separated / ".git").write_bytes(b"gitdir: ../elsewhere\r\n")
    return [separated]


def strange_names(path: Path, git: Git) -> list[Path]:
    places = []
    for name in (
        "with space",
        " led",
        "ended ",
        "ümläut",
        "-dash",
        "quo'te\"",
        "tab\there",
        "a%b?c#d",
    ):
        (path / name).mkdir()
        [top, *_] = normal(path / name, git)
        git("worktree", "add", "-q", "../linked", cwd=top)
        places += [top, path / name / "linked"]
    return places


def a_git_dir_that_ends_with_a_blank(path: Path, git: Git) -> list[Path]:
    git("init", "-q", "--separate-git-dir", "elsewhere ", "work", cwd=path)
    return [path / "work"]


def a_name_that_is_not_utf_8(path: Path, git: Git) -> list[Path]:
    odd = Path(os.fsdecode(os.fsencode(path) + b"/\xff\xfe"))
    odd.mkdir()
    return linked(odd, git)


def bare_behind_a_file(path: Path, git: Git) -> list[Path]:
    """A common layout for many worktrees: the bare repository in `.bare`, and a pointer to it."""
    [top, *_] = normal(path, git)
    (path / "project").mkdir()
    git("clone", "-q", "--bare", str(top), "project/.bare", cwd=path)
    (path / "project" / ".git").write_text("gitdir: ./.bare\n")
    git("worktree", "add", "-q", "main", cwd=path / "project")
    return [path / "project" / "main", path / "project"]


def bare_called_dot_git(path: Path, git: Git) -> list[Path]:
    [top, *_] = normal(path, git)
    (path / "project").mkdir()
    git("clone", "-q", "--bare", str(top), "project/.git", cwd=path)
    git("worktree", "add", "-q", "main", cwd=path / "project")
    return [path / "project" / "main", path / "project"]


def an_empty_dot_git_on_the_way(path: Path, git: Git) -> list[Path]:
    [top, *_] = normal(path, git)
    (top / "src" / ".git").mkdir()
    return [top / "src", top / "src" / "deep"]


def a_dangling_dot_git_on_the_way(path: Path, git: Git) -> list[Path]:
    [top, *_] = normal(path, git)
    (top / "src" / ".git").symlink_to("nowhere")
    return [top / "src"]


def names_of_git_on_the_way(path: Path, git: Git) -> list[Path]:
    """Directories called as in a git dir, and a HEAD that is none."""
    [top, *_] = normal(path, git)
    for name in ("objects", "refs"):
        (top / "src" / name).mkdir()
    (top / "src" / "HEAD").write_text("of the department\n")
    return [top / "src", top / "src" / "refs"]


SITUATIONS = [
    normal, just_made, detached, packed, bare, linked, linked_inside, same_names, linked_of_bare,
    moved, moved_by_git, submodule, linked_of_submodule, nested, through_a_link, git_dir_is_a_link,
    git_file_is_a_link, separate, relative_pointer, pointer_without_newline, pointer_of_windows,
    strange_names, a_git_dir_that_ends_with_a_blank, a_name_that_is_not_utf_8, bare_behind_a_file,
    bare_called_dot_git, an_empty_dot_git_on_the_way, a_dangling_dot_git_on_the_way,
    names_of_git_on_the_way,
]  # fmt: skip


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda made: made.__name__)
def test_we_find_what_git_finds(
    situation: Callable[[Path, Git], list[Path]],
    tmp_path: Path,
    git: Git,
    environ: dict[str, str],
) -> None:
    path = tmp_path / "situation"
    path.mkdir()
    for start in situation(path, git):
        assert by_us(start) == by_git(start, environ), start


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda made: made.__name__)
def test_every_worktree_of_a_repository_has_the_same_store(
    situation: Callable[[Path, Git], list[Path]], tmp_path: Path, git: Git
) -> None:
    path = tmp_path / "situation"
    path.mkdir()
    for start in situation(path, git):
        place = workspace.find(str(start))
        assert place.store_dir == f"{place.common_dir}/tether"
        assert all(os.path.realpath(part) == part for part in place if part)


# Inside the git directory


@pytest.mark.parametrize("below", ["", "objects", "refs/heads", "hooks"])
def test_inside_dot_git_the_worktree_is_around_it(
    repo: Path, environ: dict[str, str], below: str
) -> None:
    """As hooks are run; Git itself then knows no worktree."""
    (repo / ".git" / "hooks").mkdir(exist_ok=True)
    start = repo / ".git" / below
    assert by_us(start) == (str(repo), str(repo / ".git"), str(repo / ".git"))
    assert by_us(start)[1:] == by_git(start, environ)[1:]


def test_inside_the_git_dir_of_a_linked_worktree_its_worktree_is_found(
    repo: Path, git: Git, environ: dict[str, str]
) -> None:
    git("worktree", "add", "-q", "../linked", cwd=repo)
    start = repo / ".git" / "worktrees" / "linked"
    root, *places = by_us(start)
    assert root == str(repo.parent / "linked")
    assert places == list(by_git(start, environ)[1:])


def test_inside_the_git_dir_of_a_worktree_that_is_gone_there_is_no_root(
    repo: Path, git: Git
) -> None:
    git("worktree", "add", "-q", "../linked", cwd=repo)
    shutil.rmtree(repo.parent / "linked")
    place = workspace.find(str(repo / ".git" / "worktrees" / "linked"))
    assert place.root is None
    assert place.place == place.git_dir


def test_inside_the_git_dir_of_a_submodule_the_places_are_its_own(
    tmp_path: Path, git: Git, environ: dict[str, str]
) -> None:
    submodule(tmp_path, git)
    start = tmp_path / "outer" / ".git" / "modules" / "lib" / "inner"
    assert by_us(start)[1:] == by_git(start, environ)[1:]


# Names


def test_a_workspace_says_what_it_is(repo: Path, git: Git, tmp_path: Path) -> None:
    git("worktree", "add", "-q", "../linked", cwd=repo)
    git("init", "-q", "--bare", "bare.git", cwd=tmp_path)
    main = workspace.find(str(repo))
    other = workspace.find(str(repo.parent / "linked"))
    lone = workspace.find(str(tmp_path / "bare.git"))
    assert (main.name, main.is_linked, main.place) == ("main", False, str(repo))
    assert (other.name, other.is_linked, other.place) == (
        "worktree-linked",
        True,
        str(repo.parent / "linked"),
    )
    assert (lone.name, lone.is_linked, lone.place) == ("main", False, lone.git_dir)
    assert main.store_dir == other.store_dir


def test_worktrees_of_the_same_name_have_names_of_their_own(tmp_path: Path, git: Git) -> None:
    one, other = (workspace.find(str(start)) for start in same_names(tmp_path, git))
    assert one.name != other.name


def test_the_store_may_be_elsewhere(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "alias").symlink_to(tmp_path / "stores")
    place = workspace.find(str(repo), store_dir=str(tmp_path / "alias" / "one"))
    assert place.store_dir == str(tmp_path / "stores" / "one")
    assert not os.path.exists(place.store_dir)
    monkeypatch.chdir(repo)
    call = context.Context({"TETHER_STORE_DIR": str(tmp_path / "stores")})
    assert call.workspace.store_dir == str(tmp_path / "stores")


def test_a_relative_store_dir_is_refused(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo)
    with pytest.raises(errors.ConfigError, match="absolute"):
        _ = context.Context({"TETHER_STORE_DIR": "here"}).workspace


def test_an_empty_store_dir_counts_as_none(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo)
    call = context.Context({"TETHER_STORE_DIR": ""})
    assert call.workspace.store_dir == str(repo / ".git" / "tether")


# No repository


def test_what_is_not_in_a_repository_is_said_to_be_so(tmp_path: Path) -> None:
    need(not os.path.exists("/.git"), "a root directory that is no repository")
    for start in (tmp_path, Path("/")):
        with pytest.raises(errors.NotARepository) as caught:
            workspace.find(str(start))
        assert caught.value.message == errors.NotARepository.__doc__


@pytest.mark.parametrize("start", ["missing", "missing/deep", "file", "file/below", "loop"])
def test_a_place_that_is_no_directory_is_not_a_repository(repo: Path, start: str) -> None:
    (repo / "file").write_text("")
    (repo / "loop").symlink_to("loop")
    with pytest.raises(errors.NotARepository, match="no such directory"):
        workspace.find(str(repo / start))


def test_a_path_that_no_system_takes_is_not_a_repository() -> None:
    for start in ("a\0b", "\ud800", "x" * 100_000):
        with pytest.raises(errors.NotARepository):
            workspace.find(start)


def test_a_current_directory_that_is_gone_is_said_to_be_so(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = repo / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(errors.NotARepository, match="does not exist any more"):
        _ = context.Context({}).workspace


# Damage


def test_a_pruned_worktree_names_the_way_back(repo: Path, git: Git) -> None:
    git("worktree", "add", "-q", "../linked", cwd=repo)
    shutil.rmtree(repo / ".git" / "worktrees" / "linked")
    with pytest.raises(errors.NotARepository, match="not there") as caught:
        workspace.find(str(repo.parent / "linked"))
    assert "git worktree repair" in caught.value.hint


def test_a_worktree_whose_repository_was_moved_is_found_again_after_repair(
    repo: Path, git: Git, environ: dict[str, str]
) -> None:
    git("worktree", "add", "-q", "../linked", cwd=repo)
    away = repo.rename(repo.parent / "away")
    with pytest.raises(errors.NotARepository):
        workspace.find(str(repo.parent / "linked"))
    git("worktree", "repair", str(repo.parent / "linked"), cwd=away)
    assert by_us(repo.parent / "linked") == by_git(repo.parent / "linked", environ)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\n", b"\0", b"gitdir: \0", b"gitdir:", b"gitdir: ", b"gitdir: \n", b"gitdir: .\n",
        b"gitdir: nowhere\n", b"gitdir: .git\n", b"gitdir: /\n", b"gitdir: a\nb\n",
        b"GITDIR: ../r\n", b"\xff\xfe\x00\x01", b"\x7fELF\x02\x01\x01\0", b"gitdir: \xff\xfe\n",
        b"x" * 1_000_000, b"gitdir: " + b"x" * 1_000_000, b"gitdir: " + b"x/" * 500_000,
        b"gitdir: " + b"../" * 300_000, b"\0" * 1_000_000, b"\n" * 1_000_000,
        b"ref: refs/heads/main\n",
    ],
    ids=lambda content: f"{content[:14]!r}-{len(content)}",
)  # fmt: skip
def test_a_damaged_git_file_is_no_repository_for_us_nor_for_git(
    repo: Path, environ: dict[str, str], content: bytes
) -> None:
    inner = repo / "inner"
    (inner / "deep").mkdir(parents=True)
    (inner / ".git").write_bytes(content)
    for start in (inner, inner / "deep"):
        with pytest.raises(subprocess.CalledProcessError):
            by_git(start, environ)
        with pytest.raises(errors.NotARepository) as caught:
            workspace.find(str(start))
        assert caught.value.message.isprintable()
        assert len(caught.value.message) < 120


@pytest.mark.parametrize("content", [b"\0", b"\xff\0\n", b"a\nb\n", b"x" * 1_000_000, b"nowhere\n"])
def test_a_damaged_common_dir_is_no_repository(repo: Path, git: Git, content: bytes) -> None:
    git("worktree", "add", "-q", "../linked", cwd=repo)
    (repo / ".git" / "worktrees" / "linked" / "commondir").write_bytes(content)
    with pytest.raises(errors.NotARepository):
        workspace.find(str(repo.parent / "linked"))


def test_a_git_file_that_is_a_pipe_does_not_block(repo: Path, environ: dict[str, str]) -> None:
    (repo / "inner").mkdir()
    os.mkfifo(repo / "inner" / ".git")
    assert by_us(repo / "inner") == by_git(repo / "inner", environ)


# File systems

MOUNTS = """\
22 28 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw
28 0 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
31 28 0:30 / /home rw shared:2 - btrfs /dev/sda1 rw
32 31 0:31 / /home/ann/share rw shared:3 - nfs4 server:/export rw
33 32 0:32 / /home/ann/share/local rw - xfs /dev/sdb1 rw
34 28 0:33 / /mnt/c rw,noatime - 9p C:\\134 rw
35 28 0:34 / /mnt/with\\040space rw - cifs //server/x rw
36 28 0:35 / /mnt/tab\\011and\\134back rw - tmpfs none rw
37 28 0:36 / /mnt/line\\012end rw - vfat none rw
38 28 0:37 / /mnt/literal\\134040 rw - zfs pool rw
39 28 0:38 / /over rw - ext4 /dev/sdc1 rw
40 39 0:39 / /over rw - fuse.sshfs host:/ rw
41 28 0:40 / /many rw master:1 propagate_from:2 unbindable - overlay overlay rw
42 28 0:41 / /none rw - tmpfs tmpfs rw
43 28 0:42 / /mnt/u\u2028v rw - lustre lustre rw
44 28 0:43 / /mnt/carriage\rreturn rw - ceph ceph rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "ext4"),
        ("/etc", "ext4"),
        ("/sys", "sysfs"),
        ("/system", "ext4"),
        ("/home", "btrfs"),
        ("/homes/ann", "ext4"),
        ("/home/ann", "btrfs"),
        ("/home/ann/share", "nfs4"),
        ("/home/ann/share/repo/.git/tether", "nfs4"),
        ("/home/ann/shared", "btrfs"),
        ("/home/ann/share/local/x", "xfs"),
        ("/mnt/c/Users", "9p"),
        ("/mnt/with space/repo", "cifs"),
        ("/mnt/with", "ext4"),
        ("/mnt/tab\tand\\back", "tmpfs"),
        ("/mnt/line\nend/x", "vfat"),
        ("/mnt/literal\\040/x", "zfs"),
        ("/mnt/literal /x", "ext4"),
        ("/over/x", "fuse.sshfs"),
        ("/many/x", "overlay"),
        ("/mnt/u\u2028v/x", "lustre"),
        ("/mnt/carriage\rreturn/x", "ceph"),
    ],
)
def test_the_nearest_mount_holds_a_path(path: str, kind: str) -> None:
    assert workspace.filesystem_of(path, MOUNTS) == kind


@pytest.mark.parametrize("text", ["", "\n", "garbage", "1 2 3", "1 2 3 / / rw\n", "- - - -", " - "])
def test_a_text_that_is_no_mountinfo_gives_nothing(text: str) -> None:
    assert workspace.filesystem_of("/home", text) == ""


@pytest.mark.parametrize(
    "kind",
    ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse", "fuse.sshfs", "fuseblk", "fuse.rclone",
             "ceph", "lustre", "glusterfs", "afs"],
)  # fmt: skip
def test_sqlite_does_not_live_on_the_network(kind: str) -> None:
    assert not workspace.is_safe_for_sqlite(kind)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "apfs", ""])
def test_sqlite_lives_on_a_disk_of_this_machine(kind: str) -> None:
    assert workspace.is_safe_for_sqlite(kind)


def test_the_real_mounts_are_understood(tmp_path: Path) -> None:
    need(os.path.exists("/proc/self/mountinfo"), "Linux's /proc/self/mountinfo")
    said = subprocess.run(
        ["stat", "-f", "-c", "%T", str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout.strip()
    names = {"ext2/ext3": "ext4", "overlayfs": "overlay"}
    assert workspace.filesystem("/proc/self") == "proc"
    assert workspace.filesystem(str(tmp_path)) == names.get(said, said)


def test_a_place_that_is_not_there_yet_is_on_the_disk_of_its_parent(tmp_path: Path) -> None:
    there = workspace.filesystem(str(tmp_path))
    assert workspace.filesystem(str(tmp_path / "not" / "yet" / "made")) == there


def test_a_bare_repository_that_another_one_tracks_is_not_used(repo: Path, git: Git) -> None:
    """Git tracks every name but `.git`, so its local.toml would come with a clone, and connect."""
    planted = repo / "docs" / "planted"
    for name in ("HEAD", "objects/keep", "refs/keep", "tether/local.toml"):
        (planted / name).parent.mkdir(parents=True, exist_ok=True)
        (planted / name).write_text("ref: refs/heads/main\n" if name == "HEAD" else "")
    git("add", ".", cwd=repo)
    with pytest.raises(errors.NotARepository, match="come with it"):
        workspace.find(str(planted / "refs"))
    assert workspace.find(str(repo / "docs")).root == str(repo)
