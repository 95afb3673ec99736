"""Gits that are talked to: one object after another, one comparison after another, one path."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tether import errors
from tether.git import Git, Oid
from tether.git.comparing import Comparer
from tether.git.path_history import FOLLOWING, PathHistory, Step
from tether.git.reading import Reader

GitCall = Callable[..., str]
MANY = 600
LARGE = 1_000_000


@pytest.fixture
def reader(repo: Path) -> Iterator[Reader]:
    with contextlib.closing(Reader(Git(repo))) as made:
        yield made


def _write(repo: Path, git: GitCall, content: bytes) -> Oid:
    (repo / "content").write_bytes(content)
    return Oid(git("hash-object", "-w", "content", cwd=repo))


def _commit(repo: Path, git: GitCall, message: str, **files: str | None) -> Oid:
    for name, content in files.items():
        if content is None:
            (repo / name).unlink()
        else:
            (repo / name).write_text(content)
    git("add", "-A", cwd=repo)
    git("commit", "-qm", message, cwd=repo)
    return Oid(git("rev-parse", "HEAD", cwd=repo))


def _steps(repo: Path, commit: Oid, path: str, *, has_parents: bool = False) -> list[Step]:
    history = PathHistory(Git(repo), commit, path, has_parents=has_parents)
    with contextlib.closing(history):
        return [step for some in history for step in some]


def test_blobs_come_one_after_another(repo: Path, git: GitCall, reader: Reader) -> None:
    oids = [_write(repo, git, content) for content in (b"one", b"", b"three\n\n")]
    assert [reader.blob(oid, LARGE).data for oid in oids] == [b"one", b"", b"three\n\n"]


def test_more_blobs_than_fit_into_a_pipe_come_at_once(
    repo: Path, git: GitCall, reader: Reader
) -> None:
    contents = [b"%d" % number for number in range(3)] * (MANY // 3)
    oids = {content: _write(repo, git, content) for content in set(contents)}
    reader.ask_ahead([oids[content] for content in contents], LARGE)
    assert [reader.receive().data for _ in contents] == contents


def test_what_is_missing_or_too_large_is_said(repo: Path, git: GitCall, reader: Reader) -> None:
    large = _write(repo, git, b"x" * 100)
    small = _write(repo, git, b"x")
    absent = Oid("1" * 40)
    assert reader.blob(absent, 10).why_missing == "missing"
    assert reader.blob(large, 10).why_missing == "too_large"
    reader.ask_ahead([large, absent, small], 10)
    assert [reader.receive().why_missing for _ in range(3)] == ["too_large", "missing", ""]


def test_another_answer_does_not_mix_with_what_was_asked_ahead(
    repo: Path, git: GitCall, reader: Reader
) -> None:
    oids = [_write(repo, git, b"%d" % number * 50_000) for number in range(4)]
    other = _write(repo, git, b"other")
    reader.ask_ahead(oids[:3], LARGE)
    assert reader.receive().data == b"0" * 50_000
    assert reader.blob(other, LARGE).data == b"other"
    reader.ask_ahead(oids[3:], LARGE)
    assert [reader.receive().oid for _ in range(3)] == oids[1:]


def test_what_was_asked_ahead_of_a_git_that_died_is_asked_again(
    repo: Path, git: GitCall, reader: Reader
) -> None:
    oids = [_write(repo, git, b"%d" % number) for number in range(3)]
    reader.ask_ahead(oids[:2], LARGE)
    assert reader._process is not None
    reader._process.kill()
    reader._process.wait()
    reader.ask_ahead(oids[2:], LARGE)
    assert [reader.receive().data for _ in oids] == [b"0", b"1", b"2"]


def test_a_file_of_a_commit_is_found_by_its_path(repo: Path, git: GitCall, reader: Reader) -> None:
    commit = _commit(repo, git, "Two", one="1", two="2")
    found = reader.at(commit, "two", LARGE)
    assert found is not None
    assert found.data == b"2"
    assert reader.at(commit, "three", LARGE) is None
    assert reader.at(commit, "odd\nname", LARGE) is None


def test_a_commit_names_its_parents_and_says_something(
    repo: Path, git: GitCall, reader: Reader
) -> None:
    first = Oid(git("rev-parse", "HEAD", cwd=repo))
    second = _commit(repo, git, "Second\n\nWith a body", one="1")
    assert reader.parents(second) == (first,)
    assert reader.parents(first) == ()
    assert reader.parents(Oid("1" * 40)) is None
    assert reader.message(second) == b"Second\n\nWith a body\n"


def test_a_git_that_died_is_started_again(repo: Path, git: GitCall, reader: Reader) -> None:
    oid = _write(repo, git, b"here")
    assert reader.blob(oid, LARGE).data == b"here"
    reader.close()
    assert reader.blob(oid, LARGE).data == b"here"


def test_commits_are_compared_one_after_another(repo: Path, git: GitCall) -> None:
    first = Oid(git("rev-parse", "HEAD", cwd=repo))
    second = _commit(repo, git, "Second", one="1")
    third = _commit(repo, git, "Third", one="2", two="2")
    with contextlib.closing(Comparer(Git(repo))) as comparer:
        assert [path for _, path in comparer.changes(second, third)] == [b"one", b"two"]
        assert [path for _, path in comparer.changes(first, second)] == [b"one"]
        assert comparer.changes(third, third) == []
        assert [path for _, path in comparer.changes(None, first)] == [b"README.md"]


def test_what_cannot_be_compared_is_an_error_and_the_next_one_works(
    repo: Path, git: GitCall
) -> None:
    first = Oid(git("rev-parse", "HEAD", cwd=repo))
    with contextlib.closing(Comparer(Git(repo))) as comparer:
        with pytest.raises(errors.GitError):
            comparer.changes(Oid("1" * 40), first)
        assert comparer.changes(first, first) == []


def test_a_path_has_the_steps_that_changed_it(repo: Path, git: GitCall) -> None:
    born = _commit(repo, git, "Born", one="1")
    _commit(repo, git, "Another file", two="2")
    edited = _commit(repo, git, "Edited", one="2")
    gone = _commit(repo, git, "Gone", one=None)
    steps = _steps(repo, gone, "one")
    assert [step.oid for step in steps] == [gone, edited, born]
    assert [step.parents for step in steps] == [(FOLLOWING,)] * 3
    assert [step.change.status for step in steps if step.change] == ["D", "M", "A"]


def test_a_merge_is_a_step_where_it_is_like_no_parent(repo: Path, git: GitCall) -> None:
    lines = "".join(f"{number}\n" for number in range(20))
    born = _commit(repo, git, "Born", one=lines)
    git("checkout", "-qb", "side", cwd=repo)
    side = _commit(repo, git, "Side", one=lines.replace("1\n", "one\n", 1))
    git("checkout", "-q", "-", cwd=repo)
    main = _commit(repo, git, "Main", one=lines.replace("19\n", "nineteen\n"))
    git("merge", "-q", "--no-edit", "side", cwd=repo)
    merge = Oid(git("rev-parse", "HEAD", cwd=repo))
    later = _commit(repo, git, "Later", one=lines)
    [first, second, *_] = _steps(repo, later, "one")
    assert (first.oid, first.is_merge, first.parents) == (later, False, (FOLLOWING,))
    assert (second.oid, second.is_merge, second.change) == (merge, True, None)
    told = {step.oid: step.parents for step in _steps(repo, merge, "one", has_parents=True)}
    assert set(told.pop(merge)) == {main, side}
    assert told == {main: (born,), side: (born,), born: ()}


def test_many_steps_come_whole(repo: Path, git: GitCall) -> None:
    for number in range(30):
        tip = _commit(repo, git, f"Number {number}", one=f"{number}")
    assert len(_steps(repo, tip, "one")) == 30
    assert _steps(repo, tip, "none") == []


def _lose(repo: Path, oid: str) -> None:
    """As if a clone had never got it."""
    (repo / ".git" / "objects" / oid[:2] / oid[2:]).unlink()


@pytest.mark.parametrize("path", ["deep/er/file name.py", "file.py"])
def test_content_that_is_not_here_is_told_from_no_content(
    repo: Path, git: GitCall, path: str
) -> None:
    (repo / "deep" / "er").mkdir(parents=True)
    (repo / path).write_text("content of its own\n")
    git("add", "-A", cwd=repo)
    git("commit", "-qm", "Add", cwd=repo)
    commit = Oid(git("rev-parse", "HEAD", cwd=repo))
    oid = git("rev-parse", f"HEAD:{path}", cwd=repo)
    _lose(repo, oid)
    with contextlib.closing(Reader(Git(repo))) as reader:
        found = reader.at(commit, path, LARGE)
        assert found is not None
        assert (found.oid, found.data, found.why_missing) == (oid, None, "missing")
        for absent in ("nothing here.py", "deep/er/nothing", "no/such place/file.py"):
            assert reader.at(commit, absent, LARGE) is None


def test_a_directory_that_is_not_here_may_have_had_anything(repo: Path, git: GitCall) -> None:
    (repo / "deep" / "er").mkdir(parents=True)
    (repo / "deep" / "er" / "file.py").write_text("content\n")
    git("add", "-A", cwd=repo)
    git("commit", "-qm", "Add", cwd=repo)
    commit = Oid(git("rev-parse", "HEAD", cwd=repo))
    _lose(repo, git("rev-parse", "HEAD:deep", cwd=repo))
    with contextlib.closing(Reader(Git(repo))) as reader:
        found = reader.at(commit, "deep/er/file.py", LARGE)
        assert found is not None
        assert found.oid.is_null
        assert reader.at(commit, "shallow/file.py", LARGE) is None


def test_a_partial_clone_says_what_it_does_not_have(
    repo: Path, git: GitCall, tmp_path: Path
) -> None:
    _commit(repo, git, "Add", one="1\n")
    commit = _commit(repo, git, "Change", one="2\n")
    git("config", "uploadpack.allowFilter", "true", cwd=repo)
    clone = tmp_path / "partial"
    git("clone", "-q", "--filter=blob:none", repo.as_uri(), str(clone), cwd=tmp_path)
    git("remote", "set-url", "origin", "file:///nowhere", cwd=clone)
    with contextlib.closing(Reader(Git(clone))) as reader:
        [parent] = reader.parents(commit) or ()
        found = reader.at(parent, "one", LARGE)
        assert found is not None
        assert found.why_missing == "missing"
        assert reader.at(parent, "two", LARGE) is None
        assert (reader.at(commit, "one", LARGE) or found).data == b"2\n"
