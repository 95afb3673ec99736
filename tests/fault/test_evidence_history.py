"""Repositories that lack things, are damaged, or say hostile things: told, and the rest counts."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.fault import site as sites
from tests.fault.site import TRACK, Git, Site
from tether import git as gits
from tether.evidence import model
from tether.evidence.history import commits, list_changes

AUTHOR = "T <t@example.com>"


@pytest.fixture
def site(tmp_path: Path, git: Git) -> Site:
    """With a box ticked in a commit of its own, and a transcript."""
    site = sites.make(tmp_path, git)
    tick(site, git, "H.1.2")
    talk = site.talk()
    talk.add(talk.said("H.1.3"))
    return site


def tick(site: Site, git: Git, task: str) -> str:
    path = site.repo / TRACK
    path.write_text(path.read_text().replace(f"[ ] {task}", f"[x] {task}"))
    git("commit", "-qam", f"docs: tick {task}", cwd=site.repo)
    return git("rev-parse", "HEAD", cwd=site.repo)


def of(site: Site, repo: Path) -> Site:
    """The same home, seen from another repository."""
    return Site(repo, site.home, site.own.parent / f"own of {repo.name}")


def clone(site: Site, git: Git, name: str, *options: str) -> Site:
    git("config", "uploadpack.allowFilter", "true", cwd=site.repo)
    git("config", "uploadpack.allowAnySHA1InWant", "true", cwd=site.repo)
    place = site.repo.parent / name
    git("clone", "-q", *options, f"file://{site.repo}", str(place), cwd=site.repo.parent)
    return of(site, place)


# What is not there


def test_a_whole_clone_says_the_same(site: Site, git: Git) -> None:
    told = clone(site, git, "whole").look()
    assert told.problems == ()
    assert told.counts("git:commit") == {"H.1.1": 1, "H.1.2": 1, "H.1.3": 0}
    assert sorted(told.whats("H.1.2")) == ["committed", "listed as new", "ticked"]


def test_a_clone_without_contents_says_what_it_lacks(site: Site, git: Git) -> None:
    """Nothing is fetched either: reading opens no connection."""
    partial = clone(site, git, "partial", "--filter=blob:none", "--no-checkout")
    told = partial.look()
    assert told.counts("git:commit") == {"H.1.1": 1, "H.1.2": 1, "H.1.3": 0}
    assert told.counts("git:list") == {"H.1.1": 0, "H.1.2": 0, "H.1.3": 0}
    assert len(told.problems) == 2  # the versions of the list
    assert all(TRACK.rpartition("/")[2] in each and "missing" in each for each in told.problems)
    assert partial.look() == told
    missing = git("rev-list", "--objects", "--all", "--missing=print", cwd=partial.repo)
    assert missing.count("\n?") == 3


def test_contents_that_were_fetched_later_count(site: Site, git: Git) -> None:
    partial = clone(site, git, "partial", "--filter=blob:none", "--no-checkout")
    assert partial.look().problems
    git("log", "-p", "--all", cwd=partial.repo)
    assert partial.look() == partial.fresh()


def test_a_shallow_clone_says_what_it_has(site: Site, git: Git) -> None:
    shallow = clone(site, git, "shallow", "--depth=1")
    told = shallow.look()
    assert told.problems == ()
    assert told.counts("git:commit") == {"H.1.1": 0, "H.1.2": 1, "H.1.3": 0}
    # Its first commit brings everything, so what it changed is not known.
    assert sorted(told.whats("H.1.2")) == ["committed"]
    git("fetch", "-q", "--unshallow", cwd=shallow.repo)
    assert shallow.look().counts("git:commit") == {"H.1.1": 1, "H.1.2": 1, "H.1.3": 0}
    assert shallow.look() == shallow.fresh()


def test_a_repository_without_commits_has_transcripts(site: Site, git: Git) -> None:
    empty = of(site, site.repo.parent / "empty")
    empty.repo.mkdir()
    git("init", "-q", "-b", "main", cwd=empty.repo)
    talk = empty.talk()
    talk.add(talk.said("H.1.3"))
    told = empty.look()
    assert told.counts() == {"H.1.1": 0, "H.1.2": 0, "H.1.3": 1}
    assert told.problems == ()
    (empty.repo / "x").write_text("x")
    git("add", "-A", cwd=empty.repo)
    git("commit", "-qm", "feat(H.1.1): at last", cwd=empty.repo)
    assert empty.look().counts("git:commit")["H.1.1"] == 1


def test_a_bare_repository_has_commits(site: Site, git: Git) -> None:
    bare = clone(site, git, "bare", "--bare")
    told = bare.look()
    assert told.counts("git:commit") == {"H.1.1": 1, "H.1.2": 1, "H.1.3": 0}
    assert told.problems == ()
    assert bare.fresh() == told


# Damaged objects


def damage(site: Site, oid: str) -> None:
    """Make an object into something that is none."""
    path = site.repo / ".git/objects" / oid[:2] / oid[2:]
    path.chmod(0o644)
    path.write_bytes(b"\x00\xff not an object" * 10)


def test_a_damaged_list_costs_only_itself(site: Site, git: Git) -> None:
    oid = git("rev-parse", f"HEAD:{TRACK}", cwd=site.repo)
    damage(site, oid)
    told = site.look()
    assert told.counts()["H.1.3"] == 1
    assert told.counts("git:commit") == {"H.1.1": 1, "H.1.2": 1, "H.1.3": 0}
    assert len(told.problems) == 1


def test_a_damaged_commit_is_told_and_other_evidence_counts(site: Site, git: Git) -> None:
    damage(site, git("rev-parse", "HEAD~1", cwd=site.repo))
    told = site.look()
    assert told.counts()["H.1.3"] == 1
    assert len(told.problems) == 1
    assert site.look() == told


def test_what_was_known_before_a_commit_was_damaged_still_counts(site: Site, git: Git) -> None:
    before = site.look()
    damage(site, git("rev-parse", "HEAD~1", cwd=site.repo))
    assert site.look() == before
    tick(site, git, "H.1.3")
    told = site.look()
    assert told.counts("git:commit")["H.1.1"] == 1


def test_a_head_that_leads_nowhere_is_told(site: Site) -> None:
    (site.repo / ".git/HEAD").write_text("ref: refs/heads/../../x\n")
    told = site.look()
    assert told.counts()["H.1.3"] == 1


# Hostile words


def commit(site: Site, git: Git, message: bytes, *, when: str = "1793000000 +0000") -> str:
    """A commit with any bytes and any time, on top of the branch."""
    parent = git("rev-parse", "HEAD", cwd=site.repo)
    (site.repo / "code.py").write_text(parent)
    git("add", "-A", cwd=site.repo)
    tree = git("write-tree", cwd=site.repo)
    head = f"tree {tree}\nparent {parent}\nauthor {AUTHOR} {when}\ncommitter {AUTHOR} {when}\n\n"
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--literally", "--stdin"],
        cwd=site.repo, input=head.encode() + message, capture_output=True, check=True,
    ).stdout.decode().strip()  # fmt: skip
    git("update-ref", "refs/heads/main", made, cwd=site.repo)
    return made


HOSTILE = {
    "escape sequences": b"feat(H.1.3): \x1b[2J\x1b]0;owned\x07\x9b31m\xe2\x80\xae\n",
    "a subject of a megabyte": b"feat(H.1.3): " + b"x" * 1024 * 1024 + b"\n",
    "a body of four megabytes": b"feat(H.1.3): long\n\n" + b"word " * 800_000,
    "bytes that are no text": b"feat(H.1.3): \xff\xfe\xc3(\n",
    "a record of ours": b"feat(H.1.3): x\n\n" + b"0" * 40 + b"\n\nfeat(H.1.1): fake\n",
    "false trailers": b"feat(H.1.3): x\n\nTask: ../../x\nTask: track:../../../etc/passwd\n"
    b"Task: work:--help\nTask: :\nTask: a:b:c:d\nFixes: " + b"track:" * 100 + b"\n",
    "a hundred thousand trailers": b"feat(H.1.3): x\n\n" + b"Task: nothing\n" * 100_000,
    "line ends of all kinds": b"feat(H.1.3): x\r\n\r\x0b\x0c\xc2\x85\xe2\x80\xa8Task: H.9.9\r\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_message_is_one_commit(site: Site, git: Git, name: str) -> None:
    oid = commit(site, git, HOSTILE[name])
    told = site.look()
    [made] = [each for each in told.lives["H.1.3"].activities if each.source == "git:commit"]
    assert (made.pointer, made.kind) == (f"commit:{oid}", "worked")
    assert len(made.text) <= 241
    assert made.text.isprintable()
    begun = [each for each in told.lives["H.1.1"].activities if each.kind == "worked"]
    assert [each.text for each in begun] == ["feat(H.1.1): Begin"]
    assert told.problems == ()
    assert site.fresh() == told


def test_false_trailers_name_no_task(site: Site, git: Git) -> None:
    commit(site, git, HOSTILE["false trailers"])
    site.look()
    tasks = site.witness().ask(
        lambda connection: connection.execute("SELECT DISTINCT task FROM activities").fetchall()
    )
    assert {task for (task,) in tasks} <= {"", *sites.TASKS}


@pytest.mark.parametrize(
    "when",
    ["0 +0000", "-1 +0000", "99999999999999999 +0000", "9223372036854775807 +9999", "x", ""],
)
def test_a_commit_of_any_time_counts(site: Site, git: Git, when: str) -> None:
    commit(site, git, b"feat(H.1.3): when?\n", when=when)
    told = site.look()
    assert told.counts("git:commit")["H.1.3"] == 1
    assert told.counts("git:commit")["H.1.1"] == 1
    assert site.fresh() == told


# Hostile lists

LISTS = {
    "too long": b"- [x] H.1.3 It\n" * 700_000,
    "bytes that are no text": b"- [x] H.1.3 It \xff\xfe\x00\n\x00- [x] H.1.1\n",
    "line ends of all kinds": b"\r\r\n- [x] H.1.3 It\r\n\x0b- [ ] H.1.1\x0c",
    "nested too deep": b"".join(b" " * n + b"- [x] H.1.3 It\n" for n in range(2000)),
    "a fence without end": b"- [x] H.1.3 It\n```\n" + b"- [ ] H.1.2 It\n" * 1000,
    "front matter without end": b"---\n" + b"a: [\n" * 10_000,
    "one long line": b"- [x] H.1.3 " + b"**[x](" * 100_000,
    "nothing": b"",
}


@pytest.mark.parametrize("name", LISTS)
def test_a_hostile_list_ends_no_look(site: Site, git: Git, name: str) -> None:
    before = site.look()
    (site.repo / TRACK).write_bytes(LISTS[name])
    git("commit", "-qam", "docs: other lists", cwd=site.repo)
    told = site.look()
    assert told.counts("git:commit") == before.counts("git:commit")
    assert (len(told.problems) == 1) == (name == "too long")
    assert site.fresh() == told
    (site.repo / TRACK).unlink()
    os.symlink("/etc/passwd", site.repo / TRACK)
    git("commit", "-qam", "docs: a link", cwd=site.repo)
    assert site.look().lives == site.fresh().lives


# Interrupted


@pytest.fixture
def woven(site: Site, git: Git, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A history of many branches, read in small steps."""
    monkeypatch.setattr(commits, "_BATCH", 3)
    for number in range(4):
        git("checkout", "-qb", f"side-{number}", f"main~{number % 2}", cwd=site.repo)
        for each in range(3):
            write(site, git, f"side{number}{each}.py", f"fix(H.1.{1 + number % 3}): Side")
        git("checkout", "-q", "main", cwd=site.repo)
        write(site, git, f"main{number}.py", "fix(H.1.1): Main")
        if number < 3:
            git("merge", "-q", "--no-edit", f"side-{number}", cwd=site.repo)
    return site


def write(site: Site, git: Git, name: str, message: str) -> None:
    (site.repo / name).write_text("1\n")
    git("add", "-A", cwd=site.repo)
    git("commit", "-qm", message, cwd=site.repo)


def interrupt(site: Site, monkeypatch: pytest.MonkeyPatch, *, after: int) -> int:
    """Read, but for the last commits; how many had been read before that."""
    batches: list[int] = []
    read = list_changes.Lists.read

    def counting(
        self: list_changes.Lists, found: Iterable[gits.Commit]
    ) -> Iterator[model.Activity]:
        found = list(found)
        if len(batches) == after:
            raise KeyboardInterrupt
        batches.append(len(found))
        return read(self, found)

    with monkeypatch.context() as planted:
        planted.setattr(list_changes.Lists, "read", counting)
        with pytest.raises(KeyboardInterrupt):
            site.look()
    return sum(batches)


@pytest.mark.parametrize("after", range(1, 7))
def test_a_reading_that_is_interrupted_goes_on_where_it_stopped(
    woven: Site, git: Git, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    total = int(git("rev-list", "--all", "--count", cwd=woven.repo))
    read = interrupt(woven, monkeypatch, after=after)
    assert 0 < read < total
    watching = woven.witness()
    watching.ask(lambda _: None)
    assert watching.looked.commits == total - read
    assert woven.look() == woven.fresh()


def test_a_reading_that_is_killed_at_its_very_end_is_brought_to_it(
    woven: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as planted:
        planted.setattr(commits.History, "_kinds", die)
        with pytest.raises(KeyboardInterrupt):
            woven.look()
    assert woven.look() == woven.fresh()


def test_a_reader_that_takes_too_much_for_read_is_caught(
    woven: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control."""
    tips = {gits.Oid(each) for _, each in gits.Git(woven.repo).refs("refs/heads")}
    with monkeypatch.context() as planted:
        planted.setattr(commits, "_frontier", lambda *_: tips)
        interrupt(woven, monkeypatch, after=2)
    assert woven.look() != woven.fresh()
