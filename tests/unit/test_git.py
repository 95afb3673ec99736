"""What git says, read and written by way of real repositories."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.parts import need
from tether import errors, git
from tether.git import commits

MAIN = "refs/heads/main"
ANNA = git.Identity("Anna", "anna@example.org")
PERSON = {
    "GIT_AUTHOR_NAME": "Anna",
    "GIT_AUTHOR_EMAIL": "anna@example.org",
    "GIT_COMMITTER_NAME": "Anna",
    "GIT_COMMITTER_EMAIL": "anna@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with no configuration."""
    directory = tmp_path / "home"
    directory.mkdir()
    monkeypatch.setenv("HOME", str(directory))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return directory


@pytest.fixture
def repo(tmp_path: Path) -> git.Git:
    """An empty repository on the unborn branch main."""
    return git.init(tmp_path / "repo")


def plain(directory: Path, *arguments: str | bytes, feed: bytes = b"") -> bytes:
    """Git as a user would run it."""
    return subprocess.run(
        ["git", *arguments],
        cwd=directory,
        env={**os.environ, **PERSON},
        input=feed,
        capture_output=True,
        check=True,
    ).stdout


def commit(repo: git.Git, files: Mapping[str, bytes | None], message: str = "change") -> git.Oid:
    """Change files in the worktree and commit them the way a user does."""
    for name, content in files.items():
        path = os.path.join(os.fsencode(repo.directory), os.fsencode(name))
        if content is None:
            os.unlink(path)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    plain(repo.directory, "add", "--all")
    plain(repo.directory, "commit", "--quiet", "--allow-empty", "--message", message)
    return repo.resolve("HEAD")


def raw_commit(repo: git.Git, body: bytes, *parents: str) -> git.Oid:
    """A commit object with exactly these bytes after its tree and parents."""
    tree = plain(repo.directory, "mktree").strip()
    head = b"tree " + tree + b"\n" + b"".join(b"parent %s\n" % p.encode() for p in parents)
    options = ("hash-object", "-t", "commit", "-w", "--literally", "--stdin")
    return git.Oid(plain(repo.directory, *options, feed=head + body).decode().strip())


def status(repo: git.Git) -> bytes:
    return plain(repo.directory, "status", "--porcelain")


# Object ids, refs and paths


@pytest.mark.parametrize("value", ["", "a" * 39, "a" * 41, "A" * 40, "g" * 40, "a" * 40 + "\n"])
def test_an_object_id_is_40_or_64_small_hexadecimal_digits(value: str) -> None:
    assert git.Oid("0" * 40).is_null
    assert not git.Oid("a" * 64).is_null
    with pytest.raises(errors.InvalidId):
        git.Oid(value)


@pytest.mark.parametrize(
    "ref",
    [
        *("main", "HEAD", "refs", "refs/", "/refs/heads/main", "refs/heads/", "refs//heads"),
        *("refs/heads/-evil", "refs/heads/.hidden", "refs/heads/a.lock", "refs/heads/a..b"),
        *("refs/heads/a b", "refs/heads/a\n", "refs/heads/a@{1}", "refs/heads/a~1"),
        *("refs/heads/a*", "refs/heads/a.", "refs/heads/a\\b", "--refs/heads/main", "\ud800"),
    ],
)
def test_only_full_and_well_formed_ref_names_are_taken(repo: git.Git, ref: str) -> None:
    with pytest.raises(errors.UsageError):
        repo.tip(ref)
    with pytest.raises(errors.UsageError):
        repo.commit_paths(ref, {"a": b""}, "no", ANNA)


@pytest.mark.parametrize(
    "path",
    [
        *("", "/etc/passwd", "../up", "a/../b", "a//b", "a/", "./a", "a/.", ".git/config"),
        *("a/.GIT/hooks/x", "a\nb", "a\0b", "a\x7fb", "\ud800"),
    ],
)
def test_only_paths_inside_the_worktree_can_be_committed(repo: git.Git, path: str) -> None:
    with pytest.raises(errors.UsageError):
        repo.commit_paths(MAIN, {path: b"x"}, "no", ANNA)
    assert repo.tip(MAIN) is None


# Where we are


def test_git_says_its_version() -> None:
    assert git.version() >= (2, 36)


def test_git_is_not_found_in_a_relative_directory_of_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "bin" / "git"
    planted.parent.mkdir()
    planted.write_text("#!/bin/sh\ntouch ran\n")
    planted.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "bin:.:")
    with pytest.raises(errors.GitMissing):
        git.version()
    assert not (tmp_path / "ran").exists()


def test_a_directory_without_a_repository_is_named_as_such(tmp_path: Path) -> None:
    for directory in (tmp_path, tmp_path / "missing"):
        with pytest.raises(errors.NotARepository):
            git.Git(directory).head()


def test_a_repository_further_up_is_not_taken_for_this_directory(repo: git.Git) -> None:
    inner = repo.directory / "inner"
    inner.mkdir()
    with pytest.raises(errors.NotARepository):
        git.Git(inner).head()


def test_an_unborn_branch_has_a_name_and_no_head(repo: git.Git) -> None:
    assert repo.head() is None
    assert repo.branch() == MAIN
    assert repo.tip(MAIN) is None
    assert repo.refs() == []
    with pytest.raises(errors.RevisionNotFound):
        repo.resolve("HEAD")


def test_a_detached_head_has_no_branch(repo: git.Git) -> None:
    first = commit(repo, {"a": b"1"})
    plain(repo.directory, "checkout", "--quiet", "--detach")
    assert repo.head() == first
    assert repo.branch() is None
    assert repo.tip(MAIN) == first


def test_revisions_resolve_to_commits(repo: git.Git) -> None:
    first = commit(repo, {"a": b"1"})
    second = commit(repo, {"a": b"2"})
    plain(repo.directory, "tag", "--annotate", "--message", "t", "v1", first)
    for revision in ("main~1", "v1", first, first[:10], "HEAD^"):
        assert repo.resolve(revision) == first
    assert repo.refs() == [(MAIN, second)]
    assert [name for name, _ in repo.refs("refs/tags")] == ["refs/tags/v1"]
    for revision in (
        "HEAD^{tree}",
        "HEAD:a",
        ":/change",
        "^main",
        "main..v1",
        "",
        "f" * 40,
        "x" * 257,
    ):
        with pytest.raises(errors.RevisionNotFound):
            repo.resolve(revision)


def test_a_tag_that_is_named_like_a_branch_is_not_its_tip(repo: git.Git) -> None:
    oid = commit(repo, {"a": b"1"})
    plain(repo.directory, "update-ref", "refs/tags/refs/heads/other", oid)
    assert repo.tip("refs/heads/other") is None


def test_an_environment_that_points_elsewhere_changes_nothing(
    repo: git.Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oid = commit(repo, {"a": b"1"})
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "none")
    assert git.Git(repo.directory).head() == oid


def test_a_home_in_the_repositorys_configuration_does_not_stop_git(
    repo: git.Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain(repo.directory, "config", "core.excludesFile", "~/ignored")
    monkeypatch.delenv("HOME")
    assert repo.head() is None


# History


def test_a_log_tells_of_commits_and_their_changes_newest_first(repo: git.Git) -> None:
    first = commit(repo, {"a": b"1", "dir/b": b"2"}, "add: two\n\nThe body.\n\nTask: T1")
    os.chmod(repo.directory / "a", 0o700)
    second = commit(repo, {"dir/b": None, "c": b"3"})
    empty = commit(repo, {}, "nothing")
    log = list(repo.log([empty]))
    assert [c.oid for c in log] == [empty, second, first]
    assert [c.parents for c in log] == [(second,), (first,), ()]
    assert log[0].changes == ()
    changes = [(c.status, c.path, c.old_mode, c.new_mode) for c in log[1].changes]
    assert changes == [
        ("M", "a", "100644", "100755"),
        ("A", "c", "000000", "100644"),
        ("D", "dir/b", "100644", "000000"),
    ]
    assert log[1].changes[1].old_oid.is_null
    assert [change.path for change in log[2].changes] == ["a", "dir/b"]
    assert (log[2].subject, log[2].body) == ("add: two", "The body.\n\nTask: T1\n")
    assert (log[2].author_name, log[2].author_email) == ANNA
    assert log[2].authored_ms == log[2].committed_ms > 1_600_000_000_000


def test_a_log_can_be_narrowed(repo: git.Git) -> None:
    oids = [commit(repo, {name: b"x"}) for name in ("a", "b", "*", "d")]
    assert [c.oid for c in repo.log([oids[3]], exclude=[oids[1]])] == [oids[3], oids[2]]
    assert [c.oid for c in repo.log([oids[3]], max_count=1)] == [oids[3]]
    assert [c.oid for c in repo.log([oids[3]], paths=["a", "d"])] == [oids[3], oids[0]]
    assert [c.oid for c in repo.log([oids[3]], paths=["*"])] == [oids[2]]
    assert list(repo.log([])) == []
    assert list(repo.log([oids[3]], paths=[":(glob)**", "--output=x"])) == []


def test_a_merge_has_changes_only_along_the_first_parent(repo: git.Git) -> None:
    base = commit(repo, {"a": b"1"})
    plain(repo.directory, "checkout", "--quiet", "-b", "side")
    side = commit(repo, {"b": b"2"})
    plain(repo.directory, "checkout", "--quiet", "main")
    ours = commit(repo, {"c": b"3"})
    plain(repo.directory, "merge", "--quiet", "--no-edit", "side")
    merge = repo.resolve("HEAD")
    whole = {c.oid: c for c in repo.log([merge])}
    assert set(whole) == {base, side, ours, merge}
    assert whole[merge].parents == (ours, side)
    assert whole[merge].changes == ()
    along = list(repo.log([merge], first_parent=True))
    assert [c.oid for c in along] == [merge, ours, base]
    assert [change.path for change in along[0].changes] == ["b"]


def test_a_path_whose_change_a_merge_dropped_keeps_its_history(repo: git.Git) -> None:
    commit(repo, {"a": b"1"})
    plain(repo.directory, "checkout", "--quiet", "-b", "side")
    dropped = commit(repo, {"a": b"2"})
    plain(repo.directory, "checkout", "--quiet", "main")
    commit(repo, {"b": b"1"})
    plain(repo.directory, "merge", "--quiet", "--strategy=ours", "--no-edit", "side")
    assert dropped in [c.oid for c in repo.log([repo.resolve("HEAD")], paths=["a"])]


def test_submodules_and_links_are_entries_of_their_own(repo: git.Git) -> None:
    (repo.directory / "link").symlink_to("/etc/passwd")
    submodule = f"160000,{'a' * 40},sub"
    plain(repo.directory, "update-index", "--add", "--cacheinfo", submodule)
    plain(repo.directory, "add", "link")
    plain(repo.directory, "commit", "--quiet", "--message", "both")
    oid = repo.resolve("HEAD")
    (found,) = repo.log([oid])
    assert [(c.path, c.new_mode) for c in found.changes] == [("link", "120000"), ("sub", "160000")]
    assert [(e.path, e.kind) for e in repo.tree(oid)] == [("link", "blob"), ("sub", "commit")]
    assert repo.read_file(oid, "link") is None
    assert repo.read_file(oid, "sub") is None


AUTHOR = b"author A <a@b> 1700000000 +0000\ncommitter A <a@b> 1700000001 +0000\n"
FAKE_CHANGE = b":100644 100644 " + b"a" * 40 + b" " + b"b" * 40 + b" M"


@pytest.mark.parametrize(
    "text",
    [
        FAKE_CHANGE,
        b"subject\n\n" + FAKE_CHANGE + b"\npath\n",
        b"subject\n\n\n:" + b"c" * 40,
        b"subject\n\n\x01" + b"d" * 40 + b"\x01\x02%x00%H\\0^@\\x00",
        b"subject\n\ncommit " + b"e" * 40 + b"\ntree x\n\n" + FAKE_CHANGE,
        b"subject\n\nbody\0" + b"f" * 40 + b"\0\0A\0a@b\0" + b"1\0" * 4 + FAKE_CHANGE + b"\0path",
        b"\0\0\0\0\0\0\0\0\0",
        b"\n" * 50 + FAKE_CHANGE,
        b"",
        b"subject\n\n" + b"x" * 3_000_000,
    ],
)
def test_a_message_cannot_forge_a_commit_or_a_change(repo: git.Git, text: bytes) -> None:
    first = raw_commit(repo, AUTHOR + b"\nfirst\n")
    hostile = raw_commit(repo, AUTHOR + b"\n" + text, first)
    last = raw_commit(repo, AUTHOR + b"\nlast\n", hostile)
    log = list(repo.log([last]))
    assert [c.oid for c in log] == [last, hostile, first]
    assert [c.changes for c in log] == [(), (), ()]
    assert [c.parents for c in log] == [(hostile,), (first,), ()]
    assert log[1].authored_ms == 1_700_000_000_000
    assert len(log[1].body) < 1_200_000


@pytest.mark.parametrize(
    "header",
    [
        b"author \0" + b"a" * 40 + b"\0\0 <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n",
        b"author nobody\ncommitter nobody\n",
        b"author A <a@b> 99999999999999999999999 +0000\ncommitter A <a@b> x +0000\n",
        # In UTF-7 this says NUL, line feed and colon.
        AUTHOR + b"encoding UTF-7\n\n+AAAACgA6-",
        AUTHOR + b"encoding UTF-16LE\n\n:\0:\0",
        AUTHOR + b"encoding no-such-thing\n",
    ],
)
def test_a_broken_header_cannot_forge_a_commit_or_a_change(repo: git.Git, header: bytes) -> None:
    first = raw_commit(repo, AUTHOR + b"\nfirst\n")
    hostile = raw_commit(repo, header + b"\nhostile\n", first)
    log = list(repo.log([raw_commit(repo, AUTHOR + b"\nlast\n", hostile)]))
    assert [c.oid for c in log][1:] == [hostile, first]
    assert {c.changes for c in log} == {()}


def test_settings_of_the_repository_do_not_bend_the_log(repo: git.Git) -> None:
    commit(repo, {"dir/a": b"same\n" * 50})
    plain(repo.directory, "mv", "dir/a", "dir/b")
    tip = commit(repo, {})
    expected = list(repo.log([tip]))
    hang = repo.directory / "pipe"
    os.mkfifo(hang)
    for key, value in {
        "diff.orderFile": str(hang),
        "diff.renames": "copies",
        "diff.relative": "true",
        "diff.noprefix": "true",
        "diff.ignoreSubmodules": "all",
        "log.follow": "true",
        "log.showRoot": "false",
        "log.diffMerges": "separate",
        "log.decorate": "full",
        "format.pretty": "raw",
        "color.ui": "always",
        "i18n.logOutputEncoding": "UTF-16",
        "core.quotePath": "true",
    }.items():
        plain(repo.directory, "config", key, value)
    assert list(git.Git(repo.directory).log([tip])) == expected
    assert len(list(repo.log([tip], paths=["dir/b"]))) == 1


def test_replacements_and_grafts_do_not_change_what_an_id_stands_for(repo: git.Git) -> None:
    first = commit(repo, {"a": b"1"}, "first")
    second = commit(repo, {"a": b"2"}, "second")
    expected = list(repo.log([second]))
    plain(repo.directory, "replace", "--graft", second)
    (repo.directory / ".git/info").mkdir(exist_ok=True)
    (repo.directory / ".git/info/grafts").write_text(f"{second}\n")
    assert list(repo.log([second])) == expected
    assert expected[0].parents == (first,)


def test_text_that_is_not_utf_8_is_kept_readable_and_paths_go_there_and_back(
    repo: git.Git,
) -> None:
    name = b"caf\xe9 \t\"'\\ \x01.txt".decode("utf-8", "surrogateescape")
    oid = commit(repo, {name: b"x", "ünï\u202e.txt": b"y"})
    (found,) = repo.log([oid], paths=[name])
    assert [change.path for change in found.changes] == [name]
    assert repo.read_file(oid, name) == b"x"
    assert {entry.path for entry in repo.tree(oid)} == {name, "ünï\u202e.txt"}
    author = b"author \xe9 <\xff@b> 1 +0000\ncommitter A <a@b> 1 +0000\n"
    (latin,) = repo.log([raw_commit(repo, author + b"\ncaf\xe9 \xff\n\n\xfe")])
    assert latin.author_name == "\ufffd"
    assert latin.subject == "caf\ufffd \ufffd"
    named = author + b"encoding ISO-8859-1\n\ncaf\xe9"
    (converted,) = repo.log([raw_commit(repo, named)])
    assert converted.subject == "café"


def test_a_reader_that_stops_early_leaves_no_process_behind(repo: git.Git) -> None:
    feed = b"".join(
        b"commit refs/heads/main\nmark :%d\ncommitter A <a@b> %d +0000\ndata 5\nhello\n"
        b"M 100644 inline f\ndata 5\n%05d\n" % (n, 1_700_000_000 + n, n)
        for n in range(1, 20_001)
    )
    plain(repo.directory, "fast-import", "--quiet", feed=feed)
    before = children()
    log = repo.log([repo.resolve("main")])
    assert next(log).changes[0].path == "f"
    child = children() - before
    log.close()  # type: ignore[attr-defined]
    assert len(child) == 1
    assert children() == before
    for _ in repo.log([repo.resolve("main")]):
        break
    gc.collect()
    assert children() == before


def children() -> set[str]:
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return set(file.read().split())


def test_a_log_that_breaks_off_is_an_error(repo: git.Git) -> None:
    first = commit(repo, {"a": b"1"})
    second = commit(repo, {"a": b"2"})
    loose = repo.directory / ".git/objects" / first[:2] / first[2:]
    loose.unlink()
    with pytest.raises(errors.GitError) as caught:
        list(repo.log([second]))
    assert caught.value.message.isascii()
    assert caught.value.message.isprintable()


# Content


def test_blobs_come_in_the_order_they_were_asked_for(repo: git.Git) -> None:
    tip = commit(repo, {"a": b"", "b": b"x\n\0\n", "c": b"y" * 100_000, "d": b"missing\n"})
    oid = {entry.path: entry.oid for entry in repo.tree(tip)}
    nowhere = git.Oid("f" * 40)
    wanted = [oid["c"], oid["a"], nowhere, oid["b"], tip, oid["a"], oid["d"]]
    assert list(repo.blobs(wanted, max_bytes=1000)) == [
        git.Blob(oid["c"], None, "too_large"),
        git.Blob(oid["a"], b""),
        git.Blob(nowhere, None, "missing"),
        git.Blob(oid["b"], b"x\n\0\n"),
        git.Blob(tip, None, "not_a_blob"),
        git.Blob(oid["a"], b""),
        git.Blob(oid["d"], b"missing\n"),
    ]
    assert next(repo.blobs([oid["c"]])).data == b"y" * 100_000
    assert list(repo.blobs([])) == []


def test_many_large_blobs_do_not_make_git_and_its_reader_wait_for_each_other(
    repo: git.Git,
) -> None:
    commit(repo, {"a": b"z" * 200_000})
    oid = next(repo.tree(repo.resolve("HEAD"))).oid
    sizes = [len(blob.data or b"") for blob in repo.blobs([oid] * 3000)]
    assert sizes == [200_000] * 3000


def test_a_partial_clone_without_its_origin_gives_what_it_has(tmp_path: Path) -> None:
    origin = git.init(tmp_path / "origin")
    commit(origin, {"old": b"old", "both": b"1"})
    commit(origin, {"old": None, "both": b"2", "new": b"3"})
    plain(origin.directory, "config", "uploadpack.allowFilter", "true")
    url = f"file://{origin.directory}"
    plain(tmp_path, "clone", "--quiet", "--filter=blob:none", url, "clone")
    shutil.rmtree(origin.directory)
    clone = git.Git(tmp_path / "clone")
    tip = clone.resolve("HEAD")
    oids = [change.new_oid for c in clone.log([tip]) for change in c.changes]
    found = [blob.data for blob in clone.blobs([oid for oid in oids if not oid.is_null])]
    assert found == [b"2", b"3", None, None]
    assert clone.read_file(tip, "new") == b"3"
    assert clone.read_file(clone.resolve("HEAD~1"), "old") is None
    done = clone.commit_paths(MAIN, {"more": b"4"}, "more", ANNA)
    assert clone.read_file(done.oid, "more") == b"4"


def test_a_damaged_object_never_gives_wrong_content(repo: git.Git) -> None:
    commit(repo, {"a": os.urandom(1000)})
    oid = next(repo.tree(repo.resolve("HEAD"))).oid
    loose = repo.directory / ".git/objects" / oid[:2] / oid[2:]
    loose.chmod(0o644)
    whole = loose.read_bytes()
    loose.write_bytes(whole[:500])
    with pytest.raises(errors.GitError):
        list(repo.blobs([oid]))
    loose.write_bytes(b"damage")
    assert list(repo.blobs([oid])) == [git.Blob(oid, None, "missing")]


def test_a_file_is_read_at_a_commit_and_never_from_the_worktree(repo: git.Git) -> None:
    first = commit(repo, {"dir/a": b"1", "[x]": b"brackets"})
    second = commit(repo, {"dir/a": b"2"})
    (repo.directory / "dir/a").write_bytes(b"3")
    assert repo.read_file(first, "dir/a") == b"1"
    assert repo.read_file(second, "dir/a") == b"2"
    assert repo.read_file(second, "[x]") == b"brackets"
    for path in ("dir", "nowhere", "-x", "*"):
        assert repo.read_file(second, path) is None
    assert [entry.path for entry in repo.tree(second, paths=["dir"])] == ["dir/a"]
    for path in ("", "a\0b", "\ud800"):
        with pytest.raises(errors.UsageError):
            repo.read_file(second, path)


# Worktrees and people


def test_worktrees_are_listed_with_their_state(repo: git.Git, tmp_path: Path) -> None:
    assert [(w.head, w.branch) for w in repo.worktrees()] == [(None, MAIN)]
    oid = commit(repo, {"a": b"1"})
    names = [tmp_path / "one two", tmp_path / "line\nfeed", tmp_path / "gone"]
    for n, path in enumerate(names):
        plain(repo.directory, "worktree", "add", "--quiet", "-b", f"b{n}", str(path))
    plain(names[0], "checkout", "--quiet", "--detach")
    plain(repo.directory, "worktree", "lock", "--reason", "x\ny", str(names[1]))
    shutil.rmtree(names[2])
    main, *linked = repo.worktrees()
    assert main == git.Worktree(str(repo.directory), oid, MAIN, False, False, False)
    assert set(linked) == {
        git.Worktree(str(names[0]), oid, None, False, False, False),
        git.Worktree(str(names[1]), oid, "refs/heads/b1", False, True, False),
        git.Worktree(str(names[2]), oid, "refs/heads/b2", False, False, True),
    }
    assert git.Git(names[1]).branch() == "refs/heads/b1"


def test_a_bare_repository_is_read_and_written(repo: git.Git, tmp_path: Path) -> None:
    bare = git.init(tmp_path / "bare", branch="trunk", bare=True)
    assert bare.branch() == "refs/heads/trunk"
    done = bare.commit_paths("refs/heads/trunk", {"a/b": b"1"}, "first", ANNA)
    assert done == git.Committed(done.oid, True, "not_checked_out")
    assert bare.head() == done.oid
    assert bare.read_file(done.oid, "a/b") == b"1"
    assert bare.worktrees()[0].is_bare


def test_a_new_repository_has_nobodys_hooks(repo: git.Git) -> None:
    assert not (repo.directory / ".git/hooks").exists()


def test_a_person_is_named_as_they_told_git(repo: git.Git, home: Path, tmp_path: Path) -> None:
    assert repo.user_identity() is None
    (home / ".gitconfig").write_text("[user]\n\tname = Bea  Ünal\n\temail = b@example.org\n")
    assert repo.user_identity() == ("Bea  Ünal", "b@example.org")
    plain(repo.directory, "config", "user.name", "Bea at work")
    assert repo.user_identity() == ("Bea at work", "b@example.org")
    assert git.Git(tmp_path / "missing").user_identity() is None
    (home / ".gitconfig").write_text("[broken")
    assert repo.user_identity() is None


@pytest.fixture
def foreign(repo: git.Git) -> git.Git:
    """A repository that belongs to another user."""
    need(os.geteuid() == 0, "root, to give a repository away")
    commit(repo, {"a": b"1"})
    for directory, _, files in os.walk(repo.directory):
        for name in (".", *files):
            os.chown(os.path.join(directory, name), 12345, 12345)
    return git.Git(repo.directory)


def test_another_users_repository_is_refused(foreign: git.Git) -> None:
    with pytest.raises(errors.GitRefusedOwner):
        foreign.head()
    with pytest.raises(errors.GitRefusedOwner):
        next(foreign.log([git.Oid("a" * 40)]))


@pytest.mark.parametrize(
    ("listed", "is_read"),
    [
        ("directory = {top}", True),
        ("directory = *", True),
        ("directory = {top.parent}/*", True),
        ("directory = {top}\n\tdirectory =", False),
        ("directory =\n\tdirectory = {top}", True),
        ("directory = {top.parent}", False),
        ("directory = {top}x", False),
        ("directory = .", False),
    ],
)
def test_another_users_repository_is_read_if_the_user_listed_it(
    foreign: git.Git, home: Path, listed: str, is_read: bool
) -> None:
    need(git.version() >= (2, 38), "a git that takes safe.directory from its command line")
    (home / ".gitconfig").write_text(f"[safe]\n\t{listed.format(top=foreign.directory)}\n")
    if is_read:
        assert len(list(foreign.log([foreign.resolve("main")]))) == 1
    else:
        with pytest.raises(errors.GitRefusedOwner):
            foreign.head()


# Committing


def test_the_first_commit_of_a_branch(repo: git.Git) -> None:
    done = repo.commit_paths(
        MAIN, {"work/a.yaml": b"a\r\n"}, "tasks: one\n\nBody ünï", ANNA, when_ms=1_700_000_000_999
    )
    assert done.is_new
    (found,) = repo.log([done.oid])
    assert (found.subject, found.body) == ("tasks: one", "Body ünï")
    assert (found.author_name, found.author_email) == ANNA
    assert (found.authored_ms, found.committed_ms) == (1_700_000_000_000, 1_700_000_000_000)
    assert repo.tip(MAIN) == done.oid
    assert repo.read_file(done.oid, "work/a.yaml") == b"a\r\n"


def test_a_commit_adds_changes_and_deletes_and_keeps_everything_else(repo: git.Git) -> None:
    commit(repo, {"run": b"1", "gone": b"2", "kept": b"3"})
    os.chmod(repo.directory / "run", 0o700)
    first = commit(repo, {})
    odd = b"odd \xff\"'.txt".decode("utf-8", "surrogateescape")
    edits = {"run": b"4", "gone": None, odd: b"5", "never": None}
    done = repo.commit_paths(MAIN, edits, "mixed", ANNA)
    assert next(repo.log([done.oid])).parents == (first,)
    files = {entry.path: (entry.mode, entry.oid) for entry in repo.tree(done.oid)}
    assert set(files) == {"run", "kept", odd}
    assert files["run"][0] == "100755"
    assert files[odd][0] == "100644"
    assert repo.read_file(done.oid, "run") == b"4"


def test_nothing_is_committed_when_nothing_changes(repo: git.Git) -> None:
    first = commit(repo, {"a": b"1"})
    same = repo.commit_paths(MAIN, {"a": b"1", "b": None}, "same", ANNA)
    assert same == git.Committed(first, False, "current")
    assert repo.commit_paths(MAIN, {}, "none", ANNA).oid == first
    with pytest.raises(errors.UsageError):
        repo.commit_paths("refs/heads/unborn", {"b": None}, "none", ANNA)


def test_the_index_follows_and_the_working_tree_does_not(repo: git.Git) -> None:
    commit(repo, {"a": b"1", "b": b"1"})
    (repo.directory / "a").write_bytes(b"2")
    (repo.directory / "b").unlink()
    done = repo.commit_paths(MAIN, {"a": b"2", "b": None, "dir/c": b"3"}, "follow", ANNA)
    assert done.index_state == "current"
    assert not (repo.directory / "dir").exists()
    assert status(repo) == b" D dir/c\n"
    (repo.directory / "dir").mkdir()
    (repo.directory / "dir/c").write_bytes(b"3")
    assert status(repo) == b""


def test_what_the_user_staged_stays_staged(repo: git.Git) -> None:
    commit(repo, {"a": b"1", "other": b"1"})
    for name in ("a", "other"):
        (repo.directory / name).write_bytes(b"staged")
    plain(repo.directory, "add", "a", "other")
    done = repo.commit_paths(MAIN, {"a": b"2", "new": b"3"}, "beside", ANNA)
    assert done.index_state == "staged_otherwise"
    assert plain(repo.directory, "show", ":a") == b"staged"
    assert plain(repo.directory, "show", ":new") == b"3"
    assert plain(repo.directory, "show", ":other") == b"staged"


def test_an_unmerged_path_stays_unmerged(repo: git.Git) -> None:
    commit(repo, {"a": b"1"})
    plain(repo.directory, "checkout", "--quiet", "-b", "side")
    commit(repo, {"a": b"2"})
    plain(repo.directory, "checkout", "--quiet", "main")
    commit(repo, {"a": b"3"})
    with pytest.raises(subprocess.CalledProcessError):
        plain(repo.directory, "merge", "side")
    done = repo.commit_paths(MAIN, {"a": b"4"}, "meanwhile", ANNA)
    assert done.index_state == "staged_otherwise"
    assert status(repo) == b"UU a\n"


def test_a_branch_that_is_not_checked_out_leaves_the_index_alone(repo: git.Git) -> None:
    first = commit(repo, {"a": b"1"})
    plain(repo.directory, "branch", "side")
    done = repo.commit_paths("refs/heads/side", {"a": b"2"}, "aside", ANNA)
    assert done.index_state == "not_checked_out"
    assert repo.head() == first
    assert status(repo) == b""


def test_a_linked_worktree_has_an_index_of_its_own(repo: git.Git, tmp_path: Path) -> None:
    commit(repo, {"a": b"1"})
    plain(repo.directory, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    linked = git.Git(tmp_path / "side")
    (linked.directory / "a").write_bytes(b"2")
    done = linked.commit_paths("refs/heads/side", {"a": b"2"}, "there", ANNA)
    assert done.index_state == "current"
    assert status(linked) == status(repo) == b""


def test_an_index_that_stays_locked_does_not_fail_the_commit(repo: git.Git) -> None:
    commit(repo, {"a": b"1"})
    lock = repo.directory / ".git/index.lock"
    lock.touch()
    done = repo.commit_paths(MAIN, {"a": b"2"}, "locked", ANNA)
    assert done.index_state == "not_written"
    assert repo.tip(MAIN) == done.oid
    assert lock.exists()


def test_a_ref_that_stays_locked_is_not_a_lost_race(repo: git.Git) -> None:
    first = commit(repo, {"a": b"1"})
    (repo.directory / ".git/refs/heads/main.lock").touch()
    with pytest.raises(errors.GitError):
        repo.commit_paths(MAIN, {"a": b"2"}, "locked", ANNA, attempts=2)
    assert repo.tip(MAIN) == first


class Rival(commits.Committer):
    """A repository in which somebody else commits just before each of our swaps."""

    rival_edits: tuple[dict[str, bytes | None], ...] = ()

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        yield  # the rival takes it

    def _swap(
        self, ref: str, new: git.Oid, old: git.Oid | None, person: Mapping[str, str]
    ) -> errors.GitError | None:
        if self.rival_edits:
            edits, *rest = self.rival_edits
            self.rival_edits = tuple(rest)
            self._git.commit_paths(ref, edits, "rival", ANNA)
        return super()._swap(ref, new, old, person)


def test_a_lost_race_is_run_again_on_top_of_the_winner(repo: git.Git) -> None:
    commit(repo, {"a": b"1"})
    mine = Rival(repo)
    mine.rival_edits = ({"b": b"rival"}, {"c": b"rival"})
    done = mine.commit_paths(MAIN, {"a": b"2"}, "mine", ANNA)
    files = {entry.path: repo.read_file(done.oid, entry.path) for entry in repo.tree(done.oid)}
    assert files == {"a": b"2", "b": b"rival", "c": b"rival"}
    assert done.index_state == "current"


def test_a_lost_race_for_the_first_commit_is_run_again(repo: git.Git) -> None:
    mine = Rival(repo)
    mine.rival_edits = ({"b": b"rival"},)
    done = mine.commit_paths(MAIN, {"a": b"2"}, "mine", ANNA)
    assert [entry.path for entry in repo.tree(done.oid)] == ["a", "b"]


@pytest.mark.parametrize("theirs", [b"rival", None, b"2"])
def test_somebody_elses_change_of_the_same_path_is_not_overwritten(
    repo: git.Git, theirs: bytes | None
) -> None:
    commit(repo, {"a": b"1"})
    mine = Rival(repo)
    mine.rival_edits = ({"a": theirs},)
    with pytest.raises(errors.RefMoved):
        mine.commit_paths(MAIN, {"a": b"2"}, "mine", ANNA)
    assert repo.read_file(repo.resolve("main"), "a") == theirs


def test_edits_of_an_outdated_file_are_refused_and_of_others_are_not(repo: git.Git) -> None:
    base = commit(repo, {"a": b"1", "b": b"1"})
    commit(repo, {"a": b"theirs"})
    for content in (b"mine", b"1"):
        with pytest.raises(errors.RefMoved):
            repo.commit_paths(MAIN, {"a": content}, "late", ANNA, base=base)
    assert repo.commit_paths(MAIN, {"b": b"2"}, "in time", ANNA, base=base).is_new
    assert repo.read_file(repo.resolve("main"), "a") == b"theirs"


def test_a_branch_that_never_holds_still_is_given_up(repo: git.Git) -> None:
    commit(repo, {"a": b"1"})
    mine = Rival(repo)
    mine.rival_edits = tuple({"b": b"%d" % n} for n in range(3))
    with pytest.raises(errors.RefMoved):
        mine.commit_paths(MAIN, {"a": b"2"}, "mine", ANNA, attempts=3)


@pytest.mark.parametrize("edits", [{"dir": b"x"}, {"a/b": b"x"}, {"n": b"x", "n/m": b"y"}])
def test_a_file_never_takes_the_place_of_a_directory(
    repo: git.Git, edits: dict[str, bytes | None]
) -> None:
    first = commit(repo, {"a": b"1", "dir/one": b"1", "dir/two": b"1"})
    with pytest.raises(errors.UsageError):
        repo.commit_paths(MAIN, edits, "no", ANNA)
    assert repo.tip(MAIN) == first


def test_a_file_makes_room_for_a_directory_when_asked(repo: git.Git) -> None:
    commit(repo, {"a": b"1"})
    done = repo.commit_paths(MAIN, {"a/b": b"2", "a": None}, "yes", ANNA)
    assert [entry.path for entry in repo.tree(done.oid)] == ["a/b"]
    assert done.index_state == "current"


def test_a_link_is_not_rewritten_as_if_it_were_a_file(repo: git.Git) -> None:
    (repo.directory / "link").symlink_to("target")
    commit(repo, {})
    with pytest.raises(errors.LinkRefused):
        repo.commit_paths(MAIN, {"link": b"/etc/passwd"}, "no", ANNA)
    done = repo.commit_paths(MAIN, {"link": None}, "away", ANNA)
    assert list(repo.tree(done.oid)) == []


@pytest.mark.parametrize("name", ["", "\n", "<>", "\0"])
def test_a_commit_needs_a_name(repo: git.Git, name: str) -> None:
    with pytest.raises(errors.UsageError):
        repo.commit_paths(MAIN, {"a": b""}, "no", git.Identity(name, ""))


def test_a_name_cannot_add_lines_to_a_commit(repo: git.Git) -> None:
    hostile = git.Identity("A\ncommitter <x>\ud800", "e\n\nfake")
    done = repo.commit_paths(MAIN, {"a": b""}, "m", hostile)
    (found,) = repo.log([done.oid])
    assert (found.author_name, found.author_email) == ("Acommitter x?", "efake")
    with pytest.raises(errors.UsageError):
        repo.commit_paths(MAIN, {"b": b""}, "a\0b", ANNA)


def test_a_commit_leaves_no_temporary_files(
    repo: git.Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    commit(repo, {"a": b"1"})
    plain(repo.directory, "config", "core.splitIndex", "true")
    before = {path.name for path in (repo.directory / ".git").iterdir()}
    repo.commit_paths("refs/heads/other", {"b": b"2"}, "m", ANNA)
    assert {path.name for path in (repo.directory / ".git").iterdir()} == before
    assert list(temporary.iterdir()) == []


def test_a_repository_that_cannot_be_written_is_an_error(repo: git.Git) -> None:
    first = commit(repo, {"a": b"1"})
    # The kernel says no even to root: the directory for the object's first two digits is a file.
    # Not one that the first commit's objects have made already: its id changes with the time.
    for number in range(2, 100):
        content = str(number).encode()
        blob = plain(repo.directory, "hash-object", "--stdin", feed=content).decode()
        in_the_way = repo.directory / ".git/objects" / blob[:2]
        if not in_the_way.exists():
            break
    in_the_way.write_bytes(b"")
    with pytest.raises(errors.GitError):
        repo.commit_paths(MAIN, {"a": content}, "no", ANNA)
    assert repo.tip(MAIN) == first


def test_a_commit_reaches_the_disk_before_it_is_reported(repo: git.Git, tmp_path: Path) -> None:
    need(shutil.which("strace") is not None, "strace")
    commit(repo, {"a": b"1"})
    trace = tmp_path / "trace"
    program = (
        "import sys; from tether import git\n"
        "git.Git(sys.argv[1]).commit_paths("
        "'refs/heads/main', {'a': b'2'}, 'm', git.Identity('A', ''))"
    )
    watch = ["strace", "-f", "-e", "trace=fsync,fdatasync", "-o", str(trace)]
    subprocess.run([*watch, sys.executable, "-c", program, str(repo.directory)], check=True)
    # A blob, a tree, a commit and the ref.
    assert trace.read_text().count("fsync(") >= 4


def test_a_sha256_repository_works_the_same(tmp_path: Path) -> None:
    options = ("--quiet", "--object-format=sha256", "--initial-branch=main")
    plain(tmp_path, "init", *options, "long")
    repo = git.Git(tmp_path / "long")
    assert repo.head() is None
    first = repo.commit_paths(MAIN, {"a": b"1", "b": b"2"}, "first", ANNA)
    second = repo.commit_paths(MAIN, {"a": None}, "second", ANNA)
    assert len(second.oid) == 64
    log = list(repo.log([second.oid]))
    assert [c.oid for c in log] == [second.oid, first.oid]
    assert [(c.status, c.path) for c in log[0].changes] == [("D", "a")]
    assert [blob.data for blob in repo.blobs([log[0].changes[0].old_oid])] == [b"1"]


def test_a_git_that_cannot_be_started_is_no_missing_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text("#!/nonexistent/interpreter\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    with pytest.raises(errors.GitMissing):
        git.version()
