"""Two commits made one beside the working tree, and branches that are made and moved."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tether import errors, git
from tether.git import merging

MAIN = "refs/heads/main"
SIDE = "refs/heads/side"
ANNA = git.Identity("Anna", "anna@example.org")
LINES = b"".join(b"line %d\n" % n for n in range(1, 21))
Edits = Mapping[str, bytes | None]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user with no configuration."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture
def repo(tmp_path: Path) -> git.Git:
    repo = git.init(tmp_path / "repo")
    commit(repo, MAIN, {"file": LINES, "other": b"other\n"})
    return repo


def commit(repo: git.Git, ref: str, edits: Edits) -> git.Oid:
    return repo.commit_paths(ref, edits, "change", ANNA).oid


def parted(repo: git.Git, ours: Edits, theirs: Edits) -> tuple[git.Oid, git.Oid]:
    """Two branches that left main with these changes."""
    start = repo.resolve("main")
    merging.create_branch(repo, SIDE, start, ANNA)
    return commit(repo, MAIN, ours), commit(repo, SIDE, theirs)


def content(repo: git.Git, oid: git.Oid) -> dict[str, bytes | None]:
    return {entry.path: repo.read_file(oid, entry.path) for entry in repo.tree(oid)}


def tree(merged: merging.Merged) -> git.Oid:
    assert merged.outcome == "merged"
    assert merged.tree is not None
    return merged.tree


# What comes of a merge


def test_changes_in_different_places_of_a_file_are_merged(repo: git.Git) -> None:
    ours, theirs = parted(
        repo,
        {"file": LINES.replace(b"line 1\n", b"first\n")},
        {"file": LINES.replace(b"line 20\n", b"last\n"), "new dir/nëw": b"new\n"},
    )
    merged = merging.merge(repo, ours, theirs)
    both = LINES.replace(b"line 1\n", b"first\n").replace(b"line 20\n", b"last\n")
    assert content(repo, tree(merged)) == {
        "file": both,
        "other": b"other\n",
        "new dir/nëw": b"new\n",
    }
    assert (repo.resolve("main"), repo.resolve("side")) == (ours, theirs)


def test_a_change_follows_its_file_to_a_new_name(repo: git.Git) -> None:
    changed = LINES.replace(b"line 7\n", b"seven\n")
    ours, theirs = parted(repo, {"file": None, "moved": LINES}, {"file": changed})
    merged = merging.merge(repo, ours, theirs)
    assert content(repo, tree(merged)) == {"moved": changed, "other": b"other\n"}


@pytest.mark.parametrize(
    ("ours", "theirs", "paths"),
    [
        ({"file": b"ours\n"}, {"file": b"theirs\n"}, {"file"}),
        ({"sp ace/néw": b"ours\n"}, {"sp ace/néw": b"theirs\n"}, {"sp ace/néw"}),
        ({"new": b"ours\n"}, {"new": b"theirs\n"}, {"new"}),
        ({"file": None}, {"file": b"changed " + LINES}, {"file"}),
        ({"file": b"changed " + LINES}, {"file": None}, {"file"}),
        ({"file": None, "one": LINES}, {"file": None, "two": LINES}, {"file", "one", "two"}),
        ({"dir/x": b"1"}, {"dir": b"2"}, None),
    ],
    ids=[
        *("content", "odd name", "add/add", "delete/modify", "modify/delete", "rename/rename"),
        "directory/file",
    ],
)
def test_what_needs_a_decision_is_a_conflict(
    repo: git.Git, ours: Edits, theirs: Edits, paths: set[str] | None
) -> None:
    merged = merging.merge(repo, *parted(repo, ours, theirs))
    assert merged.outcome == "conflict"
    assert merged.tree is None
    assert merged.conflicts
    assert paths is None or set(merged.conflicts) == paths


def test_what_is_contained_already_changes_nothing(repo: git.Git) -> None:
    older = repo.resolve("main")
    newer = commit(repo, MAIN, {"file": b"new\n"})
    for theirs in (older, newer):
        merged = merging.merge(repo, newer, theirs)
        assert merged.is_contained
        assert merged.tree == merging.tree_of(repo, newer)


def test_what_is_only_ahead_is_a_fast_forward(repo: git.Git) -> None:
    older = repo.resolve("main")
    newer = commit(repo, MAIN, {"file": b"new\n"})
    merged = merging.merge(repo, older, newer)
    assert merged.is_fast_forward
    assert merged.tree == merging.tree_of(repo, newer)


def test_histories_without_a_common_commit_are_not_merged(repo: git.Git) -> None:
    alien = commit(repo, "refs/heads/alien", {"alien": b"x"})
    assert merging.merge(repo, repo.resolve("main"), alien) == ("unrelated", None, ())


def test_the_same_is_true_of_a_repository_with_longer_ids(tmp_path: Path) -> None:
    repo = git.init(tmp_path / "sha256", is_sha256=True)
    commit(repo, MAIN, {"file": LINES})
    ours, theirs = parted(repo, {"ours": b"1"}, {"theirs": b"2"})
    assert len(ours) == 64
    merged = merging.merge(repo, ours, theirs)
    new = merging.commit_tree(repo, tree(merged), (ours, theirs), "merge", ANNA)
    assert content(repo, new) == {"file": LINES, "ours": b"1", "theirs": b"2"}
    clash = commit(repo, "refs/heads/side", {"ours": b"3"})
    assert merging.merge(repo, ours, clash).conflicts == ("ours",)


def test_attributes_of_our_commit_say_how_a_file_is_merged(repo: git.Git) -> None:
    """In any directory; a driver that is not known is left to the merge of texts."""
    lists = {"CHANGES": LINES, "deep/list": LINES, "lock": LINES, "code": LINES}
    attributes = {
        ".gitattributes": b"CHANGES merge=union\nlock -merge\ncode merge=unknown\n",
        "deep/.gitattributes": b"list merge=union\n",
    }
    commit(repo, MAIN, {**lists, **attributes})
    first = dict.fromkeys(lists, b"ours\n" + LINES)
    top = dict.fromkeys(("CHANGES", "deep/list"), b"theirs\n" + LINES)
    end = dict.fromkeys(("lock", "code"), LINES + b"theirs\n")
    merged = merging.merge(repo, *parted(repo, first, {**top, **end}))
    assert merged.conflicts == ("lock",)


def test_a_checkout_has_no_say_in_a_merge(repo: git.Git) -> None:
    """Not by what is changed in it, and not by what is staged."""
    (repo.directory / ".gitattributes").write_bytes(b"* -merge\n")
    (repo.directory / "file").write_bytes(b"uncommitted\n")
    before = sorted(os.listdir(repo.directory))
    ours, theirs = parted(repo, {"file": b"ours\n" + LINES}, {"file": LINES + b"theirs\n"})
    assert merging.merge(repo, ours, theirs).outcome == "merged"
    assert sorted(os.listdir(repo.directory)) == before


def test_the_end_of_a_shallow_clone_is_known(repo: git.Git, tmp_path: Path) -> None:
    for n in range(3):
        commit(repo, MAIN, {"n": b"%d" % n})
    url = f"file://{repo.directory}"
    subprocess.run(["git", "clone", "-q", "--depth=1", url, tmp_path / "shallow"], check=True)
    shallow = git.Git(tmp_path / "shallow")
    ours, theirs = parted(shallow, {"ours": b"1"}, {"theirs": b"2"})
    assert merging.merge(shallow, ours, theirs).outcome == "merged"


def test_others_who_share_the_repository_can_read_what_is_added(repo: git.Git) -> None:
    subprocess.run(
        ["git", "config", "core.sharedRepository", "0664"], cwd=repo.directory, check=True
    )
    ours, theirs = parted(repo, {"ours": b"1"}, {"theirs": b"2"})
    oid = tree(merging.merge(repo, ours, theirs))
    mode = (repo.directory / ".git/objects" / oid[:2] / oid[2:]).stat().st_mode
    assert stat.S_IMODE(mode) & 0o444 == 0o444


def test_an_object_that_is_not_there_is_an_error(repo: git.Git) -> None:
    ours, theirs = parted(repo, {"file": b"ours\n" + LINES}, {"file": LINES + b"theirs\n"})
    blob = repo.entries(theirs, ["file"])["file"]
    assert blob is not None
    (repo.directory / ".git/objects" / blob.oid[:2] / blob.oid[2:]).unlink()
    with pytest.raises(errors.GitError):
        merging.merge(repo, ours, theirs)
    with pytest.raises(errors.GitError):
        merging.merge(repo, ours, git.Oid("a" * 40))


def test_an_old_git_is_told_apart(
    repo: git.Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = parted(repo, {"ours": b"1"}, {"theirs": b"2"})
    old = tmp_path / "old"
    old.mkdir()
    (old / "git").write_text(
        '#!/bin/sh\nfor word; do [ "$word" = merge-tree ] && exit 129; done\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    (old / "git").chmod(0o700)
    monkeypatch.setenv("PATH", str(old), prepend=os.pathsep)
    with pytest.raises(errors.GitError) as caught:
        merging.merge(repo, ours, theirs)
    assert "2.38" in caught.value.hint


# Commits and branches


def test_a_commit_has_its_parents_its_author_and_its_time(repo: git.Git) -> None:
    ours, theirs = parted(repo, {"ours": b"1"}, {"theirs": b"2"})
    merged = tree(merging.merge(repo, ours, theirs))
    oid = merging.commit_tree(
        repo, merged, (ours, theirs), "Merge it\n\nAll of it.\n", ANNA, 1_700_000_000_000
    )
    [found] = repo.log([oid], max_count=1)
    assert found.parents == (ours, theirs)
    assert (found.author_name, found.author_email) == ANNA
    assert (found.subject, found.body) == ("Merge it", "All of it.\n")
    assert found.committed_ms == 1_700_000_000_000


def test_a_branch_is_made_once(repo: git.Git) -> None:
    first = repo.resolve("main")
    second = commit(repo, MAIN, {"file": b"new\n"})
    merging.create_branch(repo, SIDE, first, ANNA)
    merging.create_branch(repo, SIDE, first, ANNA)  # a second try after a kill
    with pytest.raises(errors.RefMoved):
        merging.create_branch(repo, SIDE, second, ANNA)
    assert repo.tip(SIDE) == first


def test_a_branch_moves_only_from_where_it_was_seen(repo: git.Git) -> None:
    first = repo.resolve("main")
    second = commit(repo, MAIN, {"file": b"new\n"})
    third = commit(repo, MAIN, {"file": b"newer\n"})
    merging.create_branch(repo, SIDE, first, ANNA)
    merging.move_branch(repo, SIDE, second, first, ANNA)
    with pytest.raises(errors.RefMoved):
        merging.move_branch(repo, SIDE, third, first, ANNA)
    assert repo.tip(SIDE) == second
    log = (repo.directory / ".git/logs" / SIDE).read_text().splitlines()
    assert [line.split("\t")[1] for line in log] == ["branch: Created (tether)", "merge (tether)"]
    assert all("Anna <anna@example.org>" in line for line in log)


def test_a_name_that_another_branch_stands_in_the_way_of_is_no_lost_race(repo: git.Git) -> None:
    with pytest.raises(errors.GitError):
        merging.create_branch(repo, f"{MAIN}/below", repo.resolve("main"), ANNA)


@pytest.mark.parametrize("text", ["--output=x", "HEAD", "main", "", "a" * 39])
def test_only_object_ids_are_arguments(repo: git.Git, text: str) -> None:
    oid = repo.resolve("main")
    smuggled: git.Oid = text  # type: ignore[assignment]
    for call in (
        lambda: merging.merge(repo, oid, smuggled),
        lambda: merging.merge(repo, smuggled, oid),
        lambda: merging.commit_tree(repo, smuggled, [], "x", ANNA),
        lambda: merging.commit_tree(repo, oid, [smuggled], "x", ANNA),
        lambda: merging.create_branch(repo, SIDE, smuggled, ANNA),
        lambda: merging.move_branch(repo, MAIN, oid, smuggled, ANNA),
        lambda: merging.is_ancestor(repo, smuggled, oid),
    ):
        with pytest.raises(errors.UsageError):
            call()


def test_which_commit_leads_to_which(repo: git.Git) -> None:
    first = repo.resolve("main")
    second = commit(repo, MAIN, {"file": b"new\n"})
    assert merging.is_ancestor(repo, first, second)
    assert merging.is_ancestor(repo, first, first)
    assert not merging.is_ancestor(repo, second, first)
    assert not merging.is_ancestor(repo, git.Oid("a" * 40), first)
