"""A repository and a revision written by an enemy: nothing runs, nothing is written elsewhere."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tether import errors, git
from tether.git import process

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
# Hooks that the commands here could reach, and their neighbours.
HOOKS = (
    *("reference-transaction", "post-index-change", "post-commit", "pre-commit", "commit-msg"),
    *("prepare-commit-msg", "post-checkout", "post-rewrite", "pre-auto-gc", "update"),
    *("fsmonitor-watchman", "post-update", "pre-push", "sendemail-validate", "applypatch-msg"),
)


def plain(directory: Path, *arguments: str, feed: bytes = b"", check: bool = True) -> bytes:
    """Git as a user would run it, with all that the repository asks for."""
    return subprocess.run(
        ["git", *arguments],
        cwd=directory,
        env={**os.environ, **PERSON},
        input=feed,
        capture_output=True,
        check=check,
    ).stdout


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user with no configuration."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def canaries(tmp_path: Path) -> Path:
    """Where every program that the enemy gets to run leaves its name."""
    directory = tmp_path / "canaries"
    directory.mkdir()
    return directory


@pytest.fixture
def hostile(tmp_path: Path, canaries: Path) -> git.Git:
    """A repository whose settings, attributes, hooks and signatures all name a canary."""
    repo = git.init(tmp_path / "hostile")
    top = repo.directory
    (top / "a.txt").write_text("one\n")
    (top / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    plain(top, "add", "--all")
    plain(top, "commit", "--quiet", "--message", "one")
    (top / "a.txt").write_text("two\n")
    plain(top, "commit", "--quiet", "--all", "--message", "two")
    plant_signed_commit(top)
    plant_hooks(top / ".git/hooks", canaries)
    plant_settings(top, tmp_path, canaries)
    return repo


def canary(canaries: Path, name: str, then: str = "cat") -> str:
    """A program that leaves its name, then passes its input through as a filter does."""
    program = canaries.parent / "programs" / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\ntouch '{canaries / name}'\n{then}\n")
    program.chmod(0o700)
    return str(program)


def plant_signed_commit(top: Path) -> None:
    head = plain(top, "rev-parse", "HEAD", "HEAD^{tree}").decode().split()
    body = (
        f"tree {head[1]}\nparent {head[0]}\nauthor A <a@b> 1700000000 +0000\n"
        "committer A <a@b> 1700000000 +0000\n"
        "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n"
    )
    options = ("hash-object", "-t", "commit", "-w", "--stdin")
    oid = plain(top, *options, feed=body.encode()).decode().strip()
    plain(top, "update-ref", MAIN, oid)


def plant_hooks(directory: Path, canaries: Path) -> None:
    directory.mkdir(exist_ok=True)
    for name in HOOKS:
        (directory / name).symlink_to(canary(canaries, f"hook-{name}"))


def plant_settings(top: Path, outside: Path, canaries: Path) -> None:
    programs = {
        key: canary(canaries, key)
        for key in (
            *("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass"),
            *("core.alternateRefsCommand", "core.gitProxy", "sequence.editor", "gpg.program"),
            *("gpg.openpgp.program", "gpg.ssh.program", "gpg.x509.program", "diff.external"),
            *("diff.evil.textconv", "diff.evil.command", "filter.evil.clean", "merge.evil.driver"),
            *("filter.evil.smudge", "filter.evil.process", "pager.log", "pager.config"),
            *("credential.helper", "uploadpack.packObjectsHook", "interactive.diffFilter"),
        )
    }
    for verb in ("log", "rev-parse", "cat-file", "ls-tree", "update-ref", "commit-tree", "config"):
        programs[f"alias.{verb}"] = "!" + canary(canaries, f"alias.{verb}")
    settings = {
        **programs,
        "core.hooksPath": str(top / ".git/hooks"),
        "core.untrackedCache": "true",
        "log.showSignature": "true",
        "commit.gpgSign": "true",
        "tag.gpgSign": "true",
        "gc.auto": "1",
        "maintenance.auto": "true",
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "submodule.recurse": "true",
        "core.worktree": str(top),
        "include.path": str(outside / "included"),
    }
    (outside / "included").write_text(
        f"[core]\n\tfsmonitor = {canary(canaries, 'included')}\n\thooksPath = {top}/.git/hooks\n"
    )
    for key, value in settings.items():
        # Written as text: `git config` itself would already ask the hooks.
        section, _, name = key.rpartition(".")
        first, _, rest = section.partition(".")
        header = f'[{first} "{rest}"]' if rest else f"[{first}]"
        with (top / ".git/config").open("a") as file:
            file.write(f'{header}\n\t{name} = "{value}"\n')


def names(canaries: Path) -> set[str]:
    return {path.name for path in canaries.iterdir()}


# Each ability of Git, as a sentence of what it does to a repository.
def read_everything(repo: git.Git) -> None:
    tip = repo.resolve("HEAD")
    repo.head()
    repo.branch()
    repo.tip(MAIN)
    repo.refs()
    repo.worktrees()
    repo.user_identity()
    git.version()
    commits = [*repo.log([tip]), *repo.log([tip], paths=["a.txt"], first_parent=True)]
    assert len(commits) == 5
    oids = [change.new_oid for c in commits for change in c.changes]
    assert all(blob.data for blob in repo.blobs(oids))
    assert len(list(repo.tree(tip))) == 2
    assert repo.read_file(tip, "a.txt") == b"two\n"


def write_everything(repo: git.Git) -> None:
    done = repo.commit_paths(MAIN, {"a.txt": b"three\n", "new": b"x", "z": None}, "three", ANNA)
    assert done.index_state == "current"
    repo.commit_paths("refs/heads/other", {"a": b"1"}, "first", ANNA)
    repo.commit_paths(MAIN, {"a.txt": None}, "away", ANNA)


def stop_early(repo: git.Git) -> None:
    next(repo.log([repo.resolve("HEAD")]))
    next(repo.tree(repo.resolve("HEAD")))


@pytest.mark.parametrize("act", [read_everything, write_everything, stop_early])
def test_nothing_that_a_repository_names_is_run(
    hostile: git.Git, canaries: Path, act: Callable[[git.Git], None]
) -> None:
    act(hostile)
    assert names(canaries) == set()


def test_plain_git_runs_what_the_same_repository_names(hostile: git.Git, canaries: Path) -> None:
    """The control: these canaries sing when they are heard."""
    plain(hostile.directory, "status", check=False)
    plain(hostile.directory, "log", "-p", check=False)
    plain(hostile.directory, "update-ref", "refs/heads/other", "HEAD", check=False)
    plain(hostile.directory, "update-index", "--refresh", check=False)
    sung = names(canaries)
    assert "gpg.program" in sung or "gpg.openpgp.program" in sung
    assert "hook-reference-transaction" in sung
    assert "included" in sung
    assert {"filter.evil.process", "filter.evil.clean"} & sung
    assert {"diff.external", "diff.evil.command", "diff.evil.textconv"} & sung


@pytest.fixture
def starved(tmp_path: Path, canaries: Path) -> git.Git:
    """A partial clone that fetches what it lacks from a remote that is a program."""
    origin = git.init(tmp_path / "origin")
    origin.commit_paths(MAIN, {"a": b"1"}, "one", ANNA)
    origin.commit_paths(MAIN, {"a": b"2"}, "two", ANNA)
    plain(origin.directory, "config", "uploadpack.allowFilter", "true")
    url = f"file://{origin.directory}"
    plain(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", url, "starved")
    starved = tmp_path / "starved"
    program = canary(canaries, "remote", then="exit 1").replace(" ", "% ")
    plain(starved, "config", "remote.origin.url", f"ext::{program}")
    plain(starved, "config", "protocol.ext.allow", "always")
    return git.Git(starved)


def test_a_missing_object_is_not_fetched_by_a_program(starved: git.Git, canaries: Path) -> None:
    (first, second) = starved.log([starved.resolve("HEAD")])
    oids = [first.changes[0].new_oid, second.changes[0].new_oid]
    assert [blob.why_missing for blob in starved.blobs(oids)] == ["missing", "missing"]
    assert starved.read_file(first.oid, "a") is None
    assert starved.commit_paths(MAIN, {"b": b"1"}, "three", ANNA).is_new
    assert names(canaries) == set()


def test_plain_git_fetches_a_missing_object_by_a_program(starved: git.Git, canaries: Path) -> None:
    """The control, which also shows that protocol.allow=never alone is not enough."""
    plain(starved.directory, "-c", "protocol.allow=never", "cat-file", "-p", "HEAD:a", check=False)
    assert names(canaries) == {"remote"}


def hostile_revisions(target: Path) -> Iterator[str]:
    options = (
        *("--output", "--upload-pack", "--exec", "--git-dir", "--work-tree", "--exec-path"),
        *("-O", "-o", "--config-env", "--namespace", "--super-prefix", "--receive-pack"),
        *("--open-files-in-pager", "--textconv", "--ext-diff", "--show-signature", "--all"),
        *("--stdin", "--batch", "--help", "--version", "--paginate", "--branches", "--glob"),
        *("--git-path", "--parseopt", "--sq-quote", "--resolve-git-dir", "--local-env-vars"),
    )
    for option in options:
        yield option
        yield f"{option}={target}"
        yield f"{option} {target}"
        yield f"--end-of-options {option}={target}"
    yield from ("-", "--", "---", "-p", "-c", "-C", "-h", "-1", "-x\n", "@{", "@{-99}", "^", "~")
    yield from (f";touch {target}", f"$(touch {target})", f"`touch {target}`", f"|touch {target}")
    yield from (f"HEAD;touch {target}", f"HEAD\ntouch {target}", f"HEAD --output={target}")
    yield from ("HEAD\0", "\0", "HEAD\n", "\nHEAD", "HEAD\r", "\x1b[31mHEAD", "HEAD\x7f", "\ud800")
    yield from ("HEAD..", "..HEAD", "HEAD...HEAD", "^HEAD", "HEAD^@", "HEAD^!", "HEAD^-", "", " ")
    yield from (":(glob)**", ":!a", ":/", ":0:a.txt", "HEAD:a.txt", "HEAD:../../etc/passwd")
    yield from ("refs/heads/../../config", "../config", ".git/config", str(target), "a" * 300)
    yield from ("HEAD^{/(a+)+$}x", "HEAD^{/[}", "%00", "%H", "ｍａｉｎ", "main\u202e", "HEAD\udcff")


def test_hostile_revisions_are_not_found_and_write_nothing(
    hostile: git.Git, canaries: Path, tmp_path: Path
) -> None:
    target = tmp_path / "written"
    revisions = list(hostile_revisions(target))
    assert len(revisions) > 100
    before = {path.name for path in hostile.directory.iterdir()}
    for revision in revisions:
        with pytest.raises((errors.RevisionNotFound, errors.UsageError)):
            hostile.resolve(revision)
    assert not target.exists()
    assert {path.name for path in hostile.directory.iterdir()} == before
    assert names(canaries) == set()


def test_a_hostile_revision_makes_plain_git_write_a_file(tmp_path: Path) -> None:
    """The control: what resolving first keeps out."""
    repo = git.init(tmp_path / "repo")
    repo.commit_paths(MAIN, {"a": b"1"}, "one", ANNA)
    plain(repo.directory, "log", f"--output={tmp_path / 'written'}", "--")
    assert (tmp_path / "written").exists()


def test_a_text_where_an_object_id_belongs_is_refused(hostile: git.Git, tmp_path: Path) -> None:
    target = tmp_path / "written"
    for text in hostile_revisions(target):
        smuggled: git.Oid = text  # type: ignore[assignment]
        for call in (
            lambda oid: list(hostile.log([oid])),
            lambda oid: list(hostile.log([git.Oid("a" * 40)], exclude=[oid])),
            lambda oid: list(hostile.blobs([oid])),
            lambda oid: list(hostile.tree(oid)),
            lambda oid: hostile.read_file(oid, "a.txt"),
        ):
            with pytest.raises(errors.UsageError):
                call(smuggled)
    assert not target.exists()


def test_hostile_paths_name_files_and_nothing_else(hostile: git.Git, tmp_path: Path) -> None:
    target = tmp_path / "written"
    tip = hostile.resolve("HEAD")
    for path in (f"--output={target}", "--", "-r", ":(glob)**", ":!a.txt", ":/", "*", "a.tx?"):
        assert list(hostile.log([tip], paths=[path])) == []
        assert list(hostile.tree(tip, paths=[path])) == []
        assert hostile.read_file(tip, path) is None
    done = hostile.commit_paths(MAIN, {f"--output={target.name}": b"x"}, "odd name", ANNA)
    assert done.index_state == "current"
    assert not target.exists()


def test_what_git_complains_about_is_shown_clean_and_short(tmp_path: Path) -> None:
    repo = git.init(tmp_path / "repo")
    with (repo.directory / ".git/config").open("a") as file:
        file.write('[core]\n\trepositoryFormatVersion = "\x1b]0;pwned\x07' + "x" * 5000 + '"\n')
    with pytest.raises(errors.GitError) as caught:
        repo.head()
    assert caught.value.message.isascii()
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 300


def test_a_repository_that_never_answers_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = git.init(tmp_path / "repo")
    os.mkfifo(tmp_path / "pipe")
    with (repo.directory / ".git/config").open("a") as file:
        file.write(f"[include]\n\tpath = {tmp_path / 'pipe'}\n")
    monkeypatch.setattr(process, "TIMEOUT_SECONDS", 0.3)
    with pytest.raises(errors.GitError):
        repo.head()
