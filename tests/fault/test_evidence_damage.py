"""Files that are damaged, hostile, or no files at all: each is told, and the rest still counts."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import parts, trails
from tests.conftest import Tether
from tests.fault import site as sites
from tests.fault.site import OTHER, Git, Site, Talk, Told
from tether.evidence import lines

NOBODY = 65534
MIB = 1024 * 1024
LOG = "## 2026-11-01T08:00:00Z - Session Entry\n**Session ID:** `s-1`\n**Focus:** H.1.3\n"


@pytest.fixture
def site(tmp_path: Path, git: Git) -> Site:
    return sites.make(tmp_path, git)


def log_file(site: Site, day: str = "2026-11-01") -> Path:
    path = site.home / ".coditect-data/session-logs/projects/REPO/machine"
    path.mkdir(parents=True, exist_ok=True)
    return path / f"SESSION-LOG-{day}.md"


def assert_settled(site: Site, told: Told) -> None:
    """Who looks again, and who looks for the first time, says the same."""
    assert site.look() == told
    assert site.fresh() == told


# Lines


def deep(inner: str) -> str:
    return "[" * 100_000 + inner + "]" * 100_000


# What stands for the text of a record, as it is written there.
COUNTED = {
    "bytes that are no text": b'"H.1.2 \xff\xfe\xc3("',
    "half a character": b'"H.1.2 \\ud83d"',
    "a character that hides": b'"H.1.2 \\u202e\\u0000\\u001b]0;x\\u0007"',
    "a number beyond floats": b'"H.1.2","n":1e999999',
    "a number without end": b'"H.1.2","n":1' + b"0" * 4000,
    "a million blanks": b'"H.1.2' + b" " * MIB + b'"',
}
REFUSED = {
    "a NUL": b'"H.1.2 \x00"',
    "a number too long to be read": b'"H.1.2","n":' + b"9" * 5000 + b"x",
    "nested too deep": b'"H.1.2","n":' + deep('"x"').encode(),
    "an end that is missing": b'"H.1.2',
    "no JSON": b"H.1.2}]}}{",
}


def with_text(talk: Talk, raw: bytes) -> bytes:
    return talk.said("@@").encode().replace(b'"@@"', raw)


@pytest.mark.parametrize("name", [*COUNTED, *REFUSED])
def test_a_hostile_line_costs_at_most_itself(site: Site, name: str) -> None:
    talk = site.talk()
    hostile = with_text(talk, COUNTED.get(name) or REFUSED[name])
    talk.add(talk.said("Before: H.1.1"), hostile, talk.said("After: H.1.3"))
    told = site.look()
    assert told.counts() == {"H.1.1": 1, "H.1.2": int(name in COUNTED), "H.1.3": 1}
    assert len(told.problems) == (name in REFUSED)
    assert_settled(site, told)


@pytest.mark.parametrize(
    "line",
    [
        b'["H.1.2"]',
        b'"H.1.2"',
        b'{"type":["user"],"message":"H.1.2"}',
        b'{"type":"user","message":{"content":{"H.1.2":"H.1.2"}}}',
        b'{"type":"user","message":{"content":[["H.1.2"],"H.1.2",7,null]}}',
        b'{"type":"user","uuid":{"H.1.2":1},"timestamp":[],"message":{"content":"x"}}',
        b'{"type":"assistant","message":{"content":[{"type":"tool_use","input":"H.1.2"}]}}',
        b"H.1.2",
        b"\x00" * 1000 + b"H.1.2" + b"\x00" * 1000,
    ],
)
def test_a_record_of_another_shape_costs_at_most_itself(site: Site, line: bytes) -> None:
    talk = site.talk()
    talk.add(talk.said("Before: H.1.1"), line + b"\n", talk.said("After: H.1.3"))
    told = site.look()
    assert (told.counts()["H.1.1"], told.counts()["H.1.3"]) == (1, 1)
    assert "worked" not in {each.kind for each in told.lives["H.1.2"].activities}
    assert_settled(site, told)


def add_hole(talk: Talk, size: int) -> None:
    """Let a line grow by nothing, which takes no room on the disk."""
    with talk.path.open("ab") as file:
        file.truncate(file.tell() + size)


def test_a_line_of_100_megabytes_takes_no_memory(site: Site) -> None:
    talk = site.talk()
    talk.add(talk.said("Before: H.1.1"))
    usual = site.look_elsewhere(site.own.parent / "usual")["memory_bytes"]
    talk.add(talk.said("Long: H.1.2")[:-10])
    add_hole(talk, 100 * MIB)
    talk.add('"}\n', talk.said("After: H.1.3"))
    found = site.look_elsewhere()
    assert found["counts"] == {"H.1.1": 1, "H.1.2": 0, "H.1.3": 1}
    [problem] = found["problems"]
    assert "was passed over" in problem
    assert found["memory_bytes"] - usual < 90 * MIB
    assert whole_file_memory(talk.path) - usual > 90 * MIB, "the control"


def test_a_last_line_of_100_megabytes_takes_neither_memory_nor_what_stands_before_it(
    site: Site,
) -> None:
    talk = site.talk()
    talk.add(talk.said("Begun: H.1.1"), talk.tool("Bash", command="x", description="H.1.1: Run"))
    usual = site.look_elsewhere(site.own.parent / "usual")["memory_bytes"]
    talk.add(talk.result("H.1.2")[:-10])
    add_hole(talk, 100 * MIB)
    talk.add('"}\n')
    assert site.look_elsewhere()["memory_bytes"] - usual < 90 * MIB
    told = site.look()
    [session] = told.lives["H.1.1"].sessions
    assert (session.last_said, session.ending) == ("Begun: H.1.1", "mid_turn")
    assert_settled(site, told)


def test_more_problems_than_are_kept_are_counted(site: Site) -> None:
    talk = site.talk()
    for number in range(12):
        talk.add(*(f"H.1.1 is no record {number} {each}\n" for each in range(10)))
        told = site.look()
    assert len(told.problems) == 51
    assert told.problems[-1].endswith(" : and 70 more problems")
    assert_settled(site, told)


def whole_file_memory(path: Path) -> int:
    """What a reader needs that reads line by line without a limit."""
    script = (
        "import sys\n"
        "from tests.fault import site\n"
        "for line in open(sys.argv[1], 'rb'): pass\n"
        "print(site.memory_bytes())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        cwd=sites.ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return int(done.stdout)


def test_a_line_that_grows_without_end_waits_for_it(site: Site) -> None:
    talk = site.talk()
    talk.add(talk.said("Before: H.1.1"), talk.said("Long: H.1.2")[:-10])
    for size in (1000, lines.CHUNK_BYTES, lines.MAX_LINE_BYTES, lines.CHUNK_BYTES):
        add_hole(talk, size)
        told = site.look()
        assert told.counts() == {"H.1.1": 1, "H.1.2": 0, "H.1.3": 0}
        assert told.problems == ()
    talk.add("\n", talk.said("After: H.1.3"))
    told = site.look()
    assert told.counts() == {"H.1.1": 1, "H.1.2": 0, "H.1.3": 1}
    assert len(told.problems) == 1
    assert_settled(site, told)


def test_a_text_is_read_whatever_its_bytes(site: Site) -> None:
    log_file(site).write_bytes(b"\xff\xfe\x00\r\n" + LOG.encode() + b"\x00\xc3(\n")
    told = site.look()
    assert told.counts("coditect:log")["H.1.3"] == 1
    assert_settled(site, told)


def test_a_text_without_end_is_read_as_far_as_it_makes_sense(site: Site) -> None:
    path = log_file(site)
    path.write_text(LOG)
    os.truncate(path, 40 * MIB)
    with path.open("ab") as file:
        file.write(b"\n## 2026-11-01T09:00:00Z - Session Entry\n**Focus:** H.1.2\n")
    found = site.look()
    assert found.counts("coditect:log") == {"H.1.1": 0, "H.1.2": 0, "H.1.3": 1}
    [problem] = found.problems
    assert "only the first" in problem


# Files that are none


def fifo(path: Path) -> None:
    os.mkfifo(path)


def directory(path: Path) -> None:
    path.mkdir()
    (path / "x.jsonl").mkdir()


def unix_socket(path: Path) -> None:
    # A name for a socket must be short.
    with socket.socket(socket.AF_UNIX) as made:
        beside = os.getcwd()
        os.chdir(path.parent)
        try:
            made.bind(path.name)
        finally:
            os.chdir(beside)


def loop(path: Path) -> None:
    path.symlink_to(path)


def link_to_nothing(path: Path) -> None:
    path.symlink_to("/nonexistent/H.1.2")


def link_to_somebody(path: Path) -> None:
    target = path.parents[4] / "elsewhere.jsonl"
    target.write_text(Talk(target.parent / "home", target.parent / "repo").said("H.1.2"))
    path.symlink_to(target)


def device(path: Path) -> None:
    parts.need(os.geteuid() == 0, "root, to make a device")
    os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # zeros without end


SPECIAL: list[Callable[[Path], None]] = [
    *(fifo, directory, unix_socket, loop, link_to_nothing, link_to_somebody, device)
]


@pytest.mark.parametrize("make", SPECIAL)
def test_what_is_no_file_is_told_and_nobody_waits_for_it(
    site: Site, make: Callable[[Path], None]
) -> None:
    talk = site.talk()
    talk.add(talk.said("H.1.1"))
    log_file(site).write_text(LOG)
    storage = site.home / ".coditect-data/context-storage"
    storage.mkdir()
    places = [
        talk.path.with_name(f"{OTHER}.jsonl"),
        log_file(site, "2026-11-02"),
        storage / "messaging.db",
    ]
    for place in places:
        make(place)
    found = site.look_elsewhere()
    assert found["counts"] == {"H.1.1": 1, "H.1.2": 0, "H.1.3": 0}
    for place in places:
        assert [each for each in found["problems"] if each.startswith(place.name)], place
    assert len(found["problems"]) == len(places)


@pytest.mark.parametrize("make", [fifo, unix_socket, loop, link_to_nothing])
def test_a_place_that_is_no_directory_is_empty(site: Site, make: Callable[[Path], None]) -> None:
    talk = site.talk()
    talk.add(talk.said("H.1.1"))
    make(site.home / ".codex")
    make(site.home / ".gemini")
    (talk.path.with_suffix("")).mkdir()
    make(talk.path.with_suffix("") / "subagents")
    assert site.look_elsewhere()["counts"]["H.1.1"] == 1


# Out of reach


@pytest.fixture
def open_site(git: Git) -> Iterator[Site]:
    """A site of somebody who is not root, where they can get at it."""
    parts.need(os.geteuid() == 0, "root, to become another user")
    with tempfile.TemporaryDirectory(prefix="tether-reach-") as name:
        base = Path(name)
        site = sites.make(base, git)
        talk = site.talk()
        talk.add(talk.said("H.1.1"))
        other = site.talk(OTHER)
        other.add(other.said("H.1.2"))
        log_file(site).write_text(LOG)
        yield site
        shutil.rmtree(base / "own", ignore_errors=True)


def give_away(site: Site) -> None:
    for each in [site.repo.parent, *site.repo.parent.rglob("*")]:
        os.chown(each, NOBODY, NOBODY, follow_symlinks=False)


def as_nobody(work: Callable[[], Any]) -> Any:
    """What a piece of work comes to that another user does."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writing, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said)


def test_a_file_that_may_not_be_read_is_told(open_site: Site) -> None:
    open_site.talk(OTHER).path.chmod(0)
    log_file(open_site).parent.chmod(0)
    give_away(open_site)
    counts, logged, problems = as_nobody(lambda: reach(open_site))
    assert counts == {"H.1.1": 1, "H.1.2": 0, "H.1.3": 0}
    assert logged["H.1.3"] == 0
    assert len(problems) == 2
    assert all("Permission denied" in each for each in problems)


def test_what_was_known_of_a_file_stays_while_it_may_not_be_read(open_site: Site) -> None:
    give_away(open_site)
    before = as_nobody(lambda: reach(open_site))
    assert before == [{"H.1.1": 1, "H.1.2": 1, "H.1.3": 0}, {**before[1]}, []]
    open_site.talk(OTHER).path.chmod(0)
    counts, _, problems = as_nobody(lambda: reach(open_site))
    assert counts == before[0]
    assert len(problems) == 1
    open_site.talk(OTHER).path.chmod(0o600)
    assert as_nobody(lambda: reach(open_site)) == before


def reach(site: Site) -> list[Any]:
    told = site.look()
    return [told.counts(), told.counts("coditect:log"), list(told.problems)]


def test_a_store_directory_that_may_not_be_written_gives_the_same_answers(open_site: Site) -> None:
    usual = open_site.look(open_site.own.parent / "usual").digest
    give_away(open_site)
    open_site.own.mkdir()
    assert as_nobody(lambda: open_site.look().digest) == usual
    assert list(open_site.own.iterdir()) == []
    # One with an index that is behind, too.
    talk = open_site.talk()
    open_site.look()
    there = {path.name: path.read_bytes() for path in open_site.own.iterdir()}
    for path in open_site.own.iterdir():
        path.chmod(0o444)
    talk.add(talk.said("More: H.1.3"))
    assert as_nobody(lambda: open_site.look().counts())["H.1.3"] == 1
    assert {path.name: path.read_bytes() for path in open_site.own.iterdir()} == there


# Changed under the reader


class Meddler:
    """Does something to a file the moment before the reader opens or reads it."""

    def __init__(self, patch: pytest.MonkeyPatch, path: Path) -> None:
        self._patch = patch
        self._path = str(path)
        self._descriptors: set[int] = set()
        self.reads = 0

    def before_open(self, act: Callable[[], object]) -> None:
        real = os.open

        def meddled(path: Any, *more: Any, **options: Any) -> int:
            if path == self._path:
                act()
            return real(path, *more, **options)

        self._patch.setattr(os, "open", meddled)

    def at_read(self, place: int, act: Callable[[], object]) -> None:
        real_open, real_read = os.open, os.pread

        def opened(path: Any, *more: Any, **options: Any) -> int:
            descriptor = real_open(path, *more, **options)
            self._descriptors.discard(descriptor)
            if path == self._path:
                self._descriptors.add(descriptor)
            return descriptor

        def read(descriptor: int, size: int, at: int) -> bytes:
            if descriptor in self._descriptors:
                self.reads += 1
                if at > place:
                    act()
            return real_read(descriptor, size, at)

        self._patch.setattr(os, "open", opened)
        self._patch.setattr(os, "pread", read)


def test_a_file_that_is_gone_before_it_is_read_is_no_error(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk, other = site.talk(), site.talk(OTHER)
    talk.add(talk.said("H.1.1"))
    other.add(other.said("H.1.2"))
    with monkeypatch.context() as patch:
        Meddler(patch, other.path).before_open(lambda: other.path.unlink(missing_ok=True))
        assert site.look().counts()["H.1.1"] == 1
        assert not other.path.exists()
    told = site.look()
    assert told.counts() == {"H.1.1": 1, "H.1.2": 0, "H.1.3": 0}
    assert_settled(site, told)


def test_a_file_that_becomes_a_pipe_before_it_is_read_is_told(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk, other = site.talk(), site.talk(OTHER)
    talk.add(talk.said("H.1.1"))
    other.add(other.said("H.1.2"))

    def swap() -> None:
        if other.path.is_file():
            other.path.unlink()
            os.mkfifo(other.path)

    with monkeypatch.context() as patch:
        Meddler(patch, other.path).before_open(swap)
        told = site.look()
    assert told.counts() == {"H.1.1": 1, "H.1.2": 0, "H.1.3": 0}
    assert len(told.problems) == 1


@pytest.mark.parametrize("left", [0, 10, 5000])
def test_a_file_that_is_cut_while_it_is_read_comes_right(
    site: Site, monkeypatch: pytest.MonkeyPatch, left: int
) -> None:
    talk = site.talk()
    talk.add(talk.said("Before: H.1.1"))
    if left == 5000:
        site.look()  # it has been read before
    talk.add(*(talk.said("More: H.1.2" + " " * 1000) for _ in range(100)))
    size = talk.path.stat().st_size
    with monkeypatch.context() as patch:
        meddler = Meddler(patch, talk.path)
        patch.setattr(lines, "CHUNK_BYTES", 10_000)
        meddler.at_read(size // 2, lambda: os.truncate(talk.path, left))
        site.look()
        assert meddler.reads > 5
    assert talk.path.stat().st_size == left
    talk.add("\n", talk.said("After: H.1.3"))
    told = site.look()
    assert told.counts()["H.1.3"] == 1
    assert_settled(site, told)


def fail(number: int) -> None:
    raise OSError(number, os.strerror(number))


@pytest.mark.parametrize("is_known", [False, True])
def test_a_disk_that_fails_within_a_file_is_told_until_it_works_again(
    site: Site, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    talk, other = site.talk(), site.talk(OTHER)
    other.add(other.said("H.1.1"))
    talk.add(talk.said("Before: H.1.2"))
    if is_known:
        site.look()
    talk.add(*(talk.said("More: H.1.3" + " " * 1000) for _ in range(3000)))
    size = talk.path.stat().st_size
    with monkeypatch.context() as patch:
        patch.setattr(lines, "CHUNK_BYTES", 100_000)
        Meddler(patch, talk.path).at_read(size * 9 // 10, lambda: fail(errno.EIO))
        told = site.look()
    assert told.counts()["H.1.1"] == 1
    assert told.counts()["H.1.2"] == int(is_known)
    assert len(told.problems) == 1
    assert "Input/output error" in told.problems[0]
    told = site.look()
    assert told.counts() == {"H.1.1": 1, "H.1.2": 1, "H.1.3": 3000}
    assert told.problems == ()
    assert_settled(site, told)


def test_a_file_that_is_replaced_by_another_counts_as_that(site: Site) -> None:
    talk = site.talk()
    talk.add(*(talk.said(f"Old: H.1.2 {number}") for number in range(50)))
    assert site.look().counts()["H.1.2"] == 50
    other = trails.Transcript(site.repo)
    for count in (1, 49, 50, 51, 200):
        beside = talk.path.with_suffix(".new")
        beside.write_text("".join(other.said(f"New: H.1.3 {n}") for n in range(count)))
        beside.rename(talk.path)
        told = site.look()
        assert told.counts() == {"H.1.1": 0, "H.1.2": 0, "H.1.3": count}
        assert site.fresh().counts() == told.counts()


# The command line


def test_doctor_and_reindex_name_what_cannot_be_read(site: Site, tether: Tether) -> None:
    talk = site.talk()
    talk.add(talk.said("H.1.1"), "H.1.2 is no JSON\n", with_text(talk, b'"H.1.2 \x00"'))
    os.mkfifo(talk.path.with_name(f"{OTHER}.jsonl"))
    storage = site.home / ".coditect-data/context-storage"
    storage.mkdir(parents=True)
    (storage / "messaging.db").write_bytes(b"SQLite format 3\x00 and then nothing" * 100)
    trails.store_of(site.repo).ensure_writable()
    found = tether("timeline", "H.1.1", "--json", cwd=site.repo).json
    assert len(found["problems"]) == 4
    assert len(found["activities"]) == 3
    checks = tether("doctor", "--json", cwd=site.repo).json["doctor"]["checks"]
    [check] = [each for each in checks if each["name"] == "evidence"]
    assert check["grade"] == "warn"
    assert check["message"].startswith("4 problems; the first: ")
    said = tether("reindex", cwd=site.repo).out
    assert said.count("Problem: ") == 4
    for name in (talk.path.name, OTHER, "messaging.db"):
        assert name in said
