"""Many at once, and whoever dies in the midst: nothing is lost, nothing counts twice.

Real processes write transcripts while others read them, several read into one index, and readers
are killed at random moments. Whatever happened, the next look says what a first one would.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import parts, scale
from tests.fault import site as sites
from tests.fault.site import OTHER, Git, Site
from tests.fault.test_files_disk_full import may_mount, on_small_disk
from tests.figures import Figures
from tether import index
from tether.evidence import ledger
from tether.evidence.history import commits

# For each byte that it is sent, appends some lines in pieces of any length; now and then it puts
# the file aside under another name, and begins a new one.
WRITER = r"""
import os, random, sys
from pathlib import Path
from tests import trails
home, repo, rotates = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "rotates"
talk = trails.Transcript(repo)
path = trails.claude_file(home, repo)
dice = random.Random(3)
file = open(path, "ab", buffering=0)
number = 0
while sys.stdin.buffer.read(1):
    for _ in range(200):
        number += 1
        line = talk.said(f"Number {number}: H.1.{1 + number % 3}").encode()
        while line:
            cut = dice.randrange(1, len(line) + 1)
            file.write(line[:cut])
            line = line[cut:]
    if rotates and dice.random() < 0.3:
        file.close()
        path.rename(path.with_name(f"{number:08}-9999-4222-8333-444455556666.jsonl"))
        file = open(path, "ab", buffering=0)
print(number)
"""


@pytest.fixture
def site(tmp_path: Path, git: Git) -> Site:
    return sites.make(tmp_path, git)


@pytest.mark.parametrize("habit", ["appends", "rotates"])
def test_a_reader_among_writers_loses_nothing_and_doubles_nothing(site: Site, habit: str) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(site.home), str(site.repo), habit],
        cwd=sites.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert writer.stdin is not None
    assert writer.stdout is not None
    seen = []
    with writer:
        for _ in range(scale.count(500, 8)):
            writer.stdin.write(b".")
            writer.stdin.flush()
            seen.append(sum(site.look().counts().values()))
        writer.stdin.close()
        written = int(writer.stdout.read())
    assert len(set(seen)) > 2, "it was read while it was written"
    if habit == "appends":
        assert seen == sorted(seen)
    told = site.look()
    assert sum(told.counts().values()) == written
    assert told == site.fresh()


def test_several_first_readers_of_one_index_agree(site: Site) -> None:
    fill(site, 400)
    usual = site.fresh().digest
    readers = [
        subprocess.Popen(site.command(), cwd=sites.ROOT, stdout=subprocess.PIPE) for _ in range(4)
    ]
    said = [json.loads(each.communicate()[0])["digest"] for each in readers]
    assert said == [usual] * 4
    assert site.look() == site.fresh()


def fill(site: Site, lines: int) -> None:
    """Several transcripts, a log, and what belongs to them."""
    talks = [site.talk(), site.talk(OTHER)]
    for number in range(lines):
        talk = talks[number % 2]
        task = f"H.1.{1 + number % 3}"
        talk.add(
            talk.said(f"Number {number}: {task}"),
            talk.tool("Bash", command="make", description=f"{task}: Make it"),
            talk.tool("Edit", file_path=f"/x/{number}.py", old_string="a"),
        )


# Killed in the midst


def look_and_die(site: Site, own: Path, seconds: float) -> bool:
    """Kill a reader after a while; whether it was still reading."""
    child = os.fork()
    if not child:
        try:
            site.look(own)
        finally:
            os._exit(0)
    # The kill comes at a random moment: this is the experiment, not a wait for something.
    select.select([], [], [], seconds)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.proof(room="evidence")
def test_a_reader_that_is_killed_leaves_nothing_wrong(
    site: Site, figures: Figures, monkeypatch: pytest.MonkeyPatch
) -> None:
    kills = scale.count(1000, 15)
    # Small steps: it is killed between two of them, too.
    monkeypatch.setattr(ledger, "_COMMIT_BYTES", 20_000)
    monkeypatch.setattr(commits, "_BATCH", 1)
    fill(site, 150)
    begin = time.monotonic()
    usual = site.fresh()
    length = time.monotonic() - begin
    dice = random.Random(11)  # noqa: S311 (the same moments in every run)
    fallen = 0
    for number in range(kills):
        own = site.own.parent / f"killed{number}"
        # Once, and once more while it takes up where the first one died.
        fallen += look_and_die(site, own, dice.uniform(0, 1.5 * length))
        fallen += look_and_die(site, own, dice.uniform(0, 1.5 * length))
        assert site.look(own) == usual
    assert fallen > kills // 2
    figures.add(
        "readers killed at random moments", kills=2 * kills, in_the_midst=fallen, differences=0
    )


@pytest.mark.proof(room="evidence")
def test_readers_that_are_killed_while_files_grow_leave_nothing_wrong(
    site: Site, figures: Figures
) -> None:
    kills = scale.count(1000, 20)
    dice = random.Random(12)  # noqa: S311 (the same moments in every run)
    site.look()
    begin = time.monotonic()
    site.look()
    length = time.monotonic() - begin
    fallen = 0
    for _ in range(kills):
        fill(site, 6)
        fallen += look_and_die(site, site.own, dice.uniform(0, 1.5 * length))
    assert fallen > kills // 4
    assert site.look() == site.fresh()
    figures.add(
        "readers of growing files killed at random moments",
        kills=kills,
        in_the_midst=fallen,
        differences=0,
    )


def die_before_keeping(site: Site) -> None:
    """Be killed when activities are in the index, and how far was read is not."""
    child = os.fork()
    if not child:
        ledger.Ledger._keep = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign]
        site.look()
        os._exit(0)
    os.waitpid(child, 0)


def test_a_kill_at_the_worst_moment_leaves_nothing_wrong(site: Site) -> None:
    fill(site, 20)
    site.look()
    fill(site, 20)
    die_before_keeping(site)
    assert site.look() == site.fresh()


def test_a_ledger_without_transactions_is_caught(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control."""
    monkeypatch.setattr(ledger.transaction, "__enter__", lambda self: self)
    fill(site, 20)
    site.look()
    fill(site, 20)
    die_before_keeping(site)
    assert site.look().held != site.fresh().held


# The index itself


def flip_header(content: bytearray, dice: random.Random) -> None:
    content[dice.randrange(100)] ^= 1 << dice.randrange(8)


def flip_pages(content: bytearray, dice: random.Random) -> None:
    """What begins a page tells where everything on it is."""
    for page in range(4096, len(content), 4096):
        for at in range(8):
            content[page + at] ^= dice.randrange(256)


def cut(content: bytearray, dice: random.Random) -> None:
    del content[dice.randrange(len(content) - 4096) :]


def empty(content: bytearray, _: random.Random) -> None:
    content.clear()


def text(content: bytearray, _: random.Random) -> None:
    content[:] = b"This is no database. H.1.2\n" * 1000


def zeros(content: bytearray, dice: random.Random) -> None:
    begin = dice.randrange(len(content) // 4096) * 4096
    content[begin : begin + 8192] = bytes(len(content[begin : begin + 8192]))


Damage = Callable[[bytearray, random.Random], None]


@pytest.mark.parametrize("damage", [flip_header, flip_pages, cut, empty, text])
def test_a_damaged_index_gives_the_same_answers(site: Site, damage: Damage) -> None:
    fill(site, 30)
    usual = site.look()
    path = site.own / index.FILE_NAME
    whole = path.read_bytes()
    dice = random.Random(13)  # noqa: S311 (the same damage in every run)
    for _ in range(scale.count(200, 4)):
        content = bytearray(whole)
        damage(content, dice)
        path.write_bytes(content)
        assert site.look().lives == usual.lives
        assert site.look() == usual


def test_no_page_of_zeros_ends_a_look(site: Site) -> None:
    """What stood there may be missing unseen; to start over helps against that."""
    fill(site, 30)
    usual = site.look()
    path = site.own / index.FILE_NAME
    whole = path.read_bytes()
    dice = random.Random(14)  # noqa: S311 (the same damage in every run)
    for _ in range(scale.count(1000, 12)):
        content = bytearray(whole)
        zeros(content, dice)
        path.write_bytes(content)
        site.look()
    site.witness().start_over()
    assert site.look() == usual


def test_an_index_that_is_cut_in_its_last_page_gives_the_same_answers(site: Site) -> None:
    fill(site, 30)
    usual = site.look()
    path = site.own / index.FILE_NAME
    os.truncate(path, path.stat().st_size - 1000)
    assert site.look() == usual


def test_a_damaged_value_in_the_index_gives_the_same_answers(site: Site) -> None:
    fill(site, 30)
    usual = site.look()
    path = site.own / index.FILE_NAME
    path.write_bytes(path.read_bytes().replace(b'"cwd": ', b'"cwd"; '))
    assert site.look() == usual


def test_an_index_that_is_a_link_gives_the_same_answers(site: Site) -> None:
    fill(site, 30)
    usual = site.look()
    path = site.own / index.FILE_NAME
    other = site.own.parent / "somebody's"
    other.write_bytes(b"mine")
    path.unlink()
    path.symlink_to(other)
    assert site.look().lives == usual.lives
    assert other.read_bytes() == b"mine"


def test_an_index_that_is_a_directory_gives_the_same_answers(site: Site) -> None:
    fill(site, 30)
    usual = site.look()
    path = site.own / index.FILE_NAME
    path.unlink()
    path.mkdir()
    assert site.look().lives == usual.lives


def test_an_index_that_is_a_pipe_gives_the_same_answers(site: Site) -> None:
    fill(site, 30)
    usual = site.look()
    path = site.own / index.FILE_NAME
    path.unlink()
    os.mkfifo(path)
    assert site.look_elsewhere()["digest"] == usual.digest


ON_SMALL_DISK = f"""
import sys
sys.path.insert(0, {str(sites.ROOT)!r})
from tests.fault import site
site.main(*sys.argv[2:], sys.argv[1])
"""


@pytest.mark.parametrize("size", ["8k", "64k", "128k", "256k"])
def test_a_full_disk_gives_the_same_answers(site: Site, tmp_path: Path, size: str) -> None:
    small = tmp_path / "small"
    small.mkdir()
    parts.need(may_mount(small), "the right to mount a small disk")
    fill(site, 500)
    usual = site.fresh()
    said = on_small_disk(small, f"size={size}", ON_SMALL_DISK, str(site.repo), str(site.home))
    assert json.loads(said)["digest"] == usual.digest


def test_a_small_disk_is_too_small(site: Site) -> None:
    """The control: what is derived does not fit there."""
    fill(site, 500)
    site.look()
    assert (site.own / index.FILE_NAME).stat().st_size > 256 * 1024


def test_a_store_that_is_full_is_told(site: Site, tmp_path: Path) -> None:
    """The timeline is complete, and says that nothing could be kept."""
    small = tmp_path / "small"
    small.mkdir()
    parts.need(may_mount(small), "the right to mount a small disk")
    fill(site, 500)
    script = ON_SMALL_DISK.replace(
        "site.main(",
        "from pathlib import Path\n"
        "made = site.Site(*map(Path, (*sys.argv[2:], sys.argv[1]))).witness()\n"
        "made._store.ensure_writable()\n"
        "try: open(sys.argv[1] + '/filler', 'wb').write(bytes(2**20))\n"
        "except OSError: pass\n"
        "site.main(",
    )
    said = json.loads(on_small_disk(small, "size=1m", script, str(site.repo), str(site.home)))
    assert said["digest"] == site.fresh().digest
    assert len(said["problems"]) == 1
    assert "the store" in said["problems"][0]
