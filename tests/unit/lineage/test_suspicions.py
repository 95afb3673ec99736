"""Decisions that seem to be replaced: read from a commit, whatever else is in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tether.git import Git
from tether.lineage.derive import suspicions
from tether.tasks.sources import patterns

OLD = "# {}. Ring by bell\n\nDate: 2026-01-05\n\nStatus: Accepted\n\n## Decision\n\nWe ring.\n"
NEW = (
    "# 2. Ring by horn\n\nDate: 2026-02-05\n\nStatus: Accepted\n\n## Context\n\n"
    "This replaces ADR-0001, which nobody heard.\n\n## Decision\n\nWe blow.\n"
)


class Log:
    """A repository with decisions."""

    def __init__(self, path: Path, git: Callable[..., str]) -> None:
        self.path, self._git = path, git

    def write(self, name: str, content: bytes | str) -> None:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)

    def suspected(self) -> list[tuple[str, str]]:
        """What is suspected in what is there, as numbers: the later one, and the earlier."""
        self._git("add", "-A", cwd=self.path)
        self._git("commit", "-qm", "Decide", cwd=self.path)
        git = Git(self.path)
        finder = patterns.Finder(patterns.Kinds(("work",), (), ()))
        found = suspicions.suspected(git, git.resolve("HEAD"), finder.find)
        return [(each.later[-4:], each.earlier[-4:]) for each in found]


@pytest.fixture
def log(repo: Path, git: Callable[..., str]) -> Log:
    made = Log(repo, git)
    made.write("docs/adr/0001-bell.md", OLD.format(1))
    return made


def test_a_later_decision_that_speaks_of_replacing_is_suspected(log: Log) -> None:
    assert log.suspected() == []
    log.write("docs/adr/0002-horn.md", NEW)
    assert log.suspected() == [("0002", "0001")]


def test_who_says_so_is_not_suspected(log: Log) -> None:
    log.write("docs/adr/0002-horn.md", NEW.replace("Accepted", "Accepted, supersedes ADR-0001"))
    assert log.suspected() == []


def test_the_commit_counts_and_not_what_lies_there(log: Log) -> None:
    log.write("docs/adr/0002-horn.md", NEW)
    log.suspected()
    log.write("docs/adr/0002-horn.md", OLD.format(2))
    git = Git(log.path)
    finder = patterns.Finder(patterns.Kinds(("work",), (), ()))
    assert suspicions.suspected(git, git.resolve("HEAD"), finder.find)


def test_what_is_no_text_no_file_or_too_large_is_left_out(log: Log) -> None:
    log.write("docs/adr/0002-horn.md", NEW)
    log.write("docs/adr/0003-zero.md", NEW.replace("# 2", "# 3").encode() + b"\0")
    log.write("docs/adr/0004-large.md", NEW.replace("# 2", "# 4") + "x" * (1024 * 1024))
    (log.path / "docs/adr/0005-link.md").symlink_to("0002-horn.md")
    log.write("docs/0006-elsewhere.md", NEW.replace("# 2", "# 6"))
    assert log.suspected() == [("0002", "0001")]


def test_files_of_the_same_content_are_each_read(log: Log) -> None:
    log.write("docs/adr/0002-horn.md", NEW)
    log.write("api/adr/0001-bell.md", OLD.format(1))
    log.write("api/adr/0002-horn.md", NEW)
    assert log.suspected() == [("0002", "0001"), ("0002", "0001")]


def test_bytes_that_are_no_utf8_spoil_nothing(log: Log) -> None:
    log.write("docs/adr/0002-horn.md", NEW.encode() + b"caf\xe9\n")
    assert log.suspected() == [("0002", "0001")]
